"""Catalogues of translations, kept up to date with the texts.

`rushlight translate es labs/01a_views` begins a catalogue. From then on `rushlight build` keeps it in step: a message that is new
has no translation, and one that has changed is *fuzzy*, gettext's word for a translation that a person must look at. Neither is
shown.
What occurs in three texts or more, such as *Hint 1*, is translated once, in `common.po`.
"""

from __future__ import annotations

import io
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import nbformat
from babel.messages import Catalog
from babel.messages.pofile import read_po, write_po

from .. import translation
from ..course import COURSE, READINGS, RELEASED

COMMON = "common"
IN_COMMON = 3  # texts that have a message, at least
HEADER = """\
# {language}: {name}. `rushlight translate` renews the messages, and whoever reads both languages writes msgstr.
msgid ""
msgstr ""
"Language: {language}\\n"
"Content-Type: text/plain; charset=utf-8\\n"
"Content-Transfer-Encoding: 8bit\\n"

"""


@dataclass(frozen=True)
class Counts:
    """The messages of one text: how many are translated, how many have changed since, and how many are missing."""

    translated: int
    fuzzy: int
    missing: int


# The texts -----------------------------------------------------------------------------------------------------------


def texts() -> dict[str, Path]:
    """All texts that can be translated, by the names of their catalogues."""
    docs = COURSE / "docs"
    found = {
        f"docs/{path.relative_to(docs).with_suffix('')}": path
        for path in [*docs.glob("*.md"), *docs.glob("figures/*.md")]
    }
    found |= {f"phases/{path.parent.name}": path for path in READINGS.glob("[0-9]*/reading.ipynb")}
    found |= {f"labs/{path.stem}": path for path in RELEASED.glob("[0-9]*/*.ipynb") if path.stem == path.parent.name}
    return dict(sorted(found.items()))


@cache
def messages(name: str) -> dict[str, str]:
    """The messages of a text, in order, each with where it first occurs: its heading, and what it is."""
    path, found, heading = texts()[name], dict[str, str](), ""

    def say(message: str, kind: str) -> None:
        nonlocal heading
        heading = message if kind == "heading" else heading
        found.setdefault(message, kind if kind == "heading" else f"{heading} · {kind}")

    if path.suffix == ".ipynb":
        translation.notebook(nbformat.read(path, as_version=4), say)
    else:
        translation.markdown(path.read_text(encoding="utf-8"), say)
    return found


@cache
def common() -> dict[str, str]:
    """The messages that several texts have."""
    counts = Counter(message for name in texts() for message in messages(name))
    return {message: f"in {count} texts" for message, count in sorted(counts.items()) if count >= IN_COMMON}


def own(name: str) -> dict[str, str]:
    """The messages of a text that its own catalogue has."""
    return (
        common() if name == COMMON else {text: where for text, where in messages(name).items() if text not in common()}
    )


# Catalogues ----------------------------------------------------------------------------------------------------------


def names(language: str) -> list[str]:
    """The catalogues that a language has."""
    folder = translation.FOLDER / language
    return sorted(str(path.relative_to(folder).with_suffix("")) for path in folder.rglob("*.po"))


def renewed(language: str, name: str) -> str:
    """The text of a catalogue, in step with the text that it translates."""
    path = translation.FOLDER / language / f"{name}.po"
    catalogue = _read(path, language)
    template = Catalog()
    for message, where in own(name).items():
        template.add(message, auto_comments=[where])
    catalogue.update(template, update_creation_date=False)
    written = io.BytesIO()
    write_po(written, catalogue, width=0, omit_header=True, no_location=True, ignore_obsolete=True)
    return HEADER.format(language=language, name=name) + written.getvalue().decode()


def _read(path: Path, language: str) -> Catalog:
    return read_po(io.BytesIO(path.read_bytes() if path.exists() else b""), locale=language)


def stale(language: str) -> list[Path]:
    """The catalogues that differ from what `renew` would write."""
    paths = {name: translation.FOLDER / language / f"{name}.po" for name in names(language)}
    return [path for name, path in paths.items() if path.read_text(encoding="utf-8") != renewed(language, name)]


def renew(language: str, more: Sequence[str] = ()) -> Iterator[Path]:
    """Bring the catalogues of a language in step, and begin those that are named. Yields those that changed. Raises LookupError
    for a name of no text."""
    for name in more:
        if name != COMMON and name not in texts():
            raise LookupError(f"there is no text {name!r}: they are named like {', '.join([*texts()][::30])}")
    for name in sorted({*names(language), *more, COMMON}):
        path, text = translation.FOLDER / language / f"{name}.po", renewed(language, name)
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8", newline="\n")
            yield path


def status(language: str) -> dict[str, Counts]:
    """For each text, and for what several texts have, the counts of its messages."""
    counts = {}
    for name in [COMMON, *texts()]:
        catalogue = _read(translation.FOLDER / language / f"{name}.po", language)
        found = [catalogue.get(message) for message in own(name)]
        fuzzy = sum(bool(message and message.string and message.fuzzy) for message in found)
        done = sum(bool(message and message.string and not message.fuzzy) for message in found)
        counts[name] = Counts(done, fuzzy, len(found) - done - fuzzy)
    return counts


# What a translation must keep ----------------------------------------------------------------------------------------

NUMBER = r"\d+(?:[.,]\d+|[ \u00a0\u202f]\d{3}(?!\d))*"  # 38,400 or 38 400
KEPT: dict[str, Callable[[str], list[str]]] = {
    "code": lambda text: re.findall(r"`[^`]+`|<code>.*?</code>", text),
    "links": lambda text: re.findall(r"\]\(([^)]*)\)", text),
    "formulas": lambda text: re.findall(r"\$[^$]+\$", text),
    "tags": lambda text: re.findall(r"</?[a-z]+[^>]*>", text),
    "emphasis": lambda text: re.findall(
        r"\*\*|(?<![*\w])\*(?=\S)|(?<=\S)\*(?![*\w])", re.sub(r"`[^`]*`|\\\*", "", text)
    ),
    "cells": lambda text: re.findall(r"^\||(?<!\\)\|(?=.)|\|$", text) if text.startswith("|") else [],
    "numbers": lambda text: [re.sub(r"\D", "", each) for each in re.findall(NUMBER, text)],
}


def broken(message: str, translated: str) -> list[str]:
    """What a translation has lost or added of what every language has alike: names in code, links, formulas, tags, emphasis, the
    cells of a row, numbers. One line for each kind."""
    if re.match(r"(?:names|asked|on|not): ", message):
        kept = [re.findall(r"(?:^|; )((?:names|asked):|(?:on|not): [^;]*)", each) for each in (message, translated)]
        return [] if kept[0] == kept[1] else ["the keys of a comment differ"]
    lines = []
    for kind, find in KEPT.items():
        before, after = Counter(find(message)), Counter(find(translated))
        if before != after:
            lost, added = [*(before - after).elements()], [*(after - before).elements()]
            lines.append(f"{kind}: lost {lost}, added {added}")
    return lines


def all_broken(language: str) -> Iterator[str]:
    """A line for each translation that is broken, with its catalogue and its message."""
    for name in names(language):
        for message in _read(translation.FOLDER / language / f"{name}.po", language):
            if message.id and message.string and not message.fuzzy:
                for line in broken(str(message.id), str(message.string)):
                    yield f"{name}: {line}, in {message.string[:60]!r}"
