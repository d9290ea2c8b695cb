"""Catalogues of translations, kept up to date with the texts.

`rushlight translate es labs/01a_views` begins a catalogue. From then on `rushlight build` keeps it in step: a message that is new
has no translation, and one that has changed is *fuzzy*, gettext's word for a translation that a person must look at. Neither is
shown.
What occurs in three texts or more, such as *Hint 1*, is translated once, in `common.po`.
"""

from __future__ import annotations

import ast
import io
import json
import re
import tomllib
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, BinaryIO

import nbformat
from babel.messages import Catalog
from babel.messages.extract import extract_from_file
from babel.messages.pofile import read_po, write_po
from jinja2.ext import babel_extract

from .. import translation
from ..course import COURSE, READINGS, RELEASED

COMMON = "common"
IN_COMMON = 3  # texts that have a message, at least
CODE = {  # catalogues of what code says, and the files that say it
    "verdicts": [
        *("autograder/*.py", "autograder/engine/*.py", "autograder/notebook/*.py", "autograder/jupyter/**/*.j2"),
        *(
            f"autograder/classroom/{name}.py"
            for name in ("feedback", "report", "items", "grade", "late", "join", "restore")
        ),
        "autograder/exam/*.py",
        *(f"autograder/cli/{name}.py" for name in ("exam", "review", "students")),
    ],
    "hints": ["autograder/checks/**/*.py", "autograder/patients/*/*.py"],
    "site": [
        *("docs/programs/hooks/*.py", "docs/programs/browser/*.toml", "docs/theme/404.html", "mkdocs.yml"),
        *("phases/*/reading.ipynb", "labs/*/*.ipynb"),
    ],
    "figures": ["docs/figures/*.js", "docs/programs/figures/*.py", "docs/browser/*.js", "docs/javascripts/*.js"],
    "pictures": [
        *(f"docs/images/{name}.svg" for name in ("alike", "idea", "map")),
        *("phases/*/reading.ipynb", "labs/0[0-8]*/*.ipynb", "labs/12d_*/*.ipynb", "labs/14*/*.ipynb"),
    ],
}
# what says something: functions, with the position of their text, and arguments
FUNCTIONS = {
    "speak": 0,
    "phrase": 0,
    "words": 0,
    "_says": 1,
    "_invalid": 1,
    "Difference": 1,
    "CheckFailed": 0,
    "LookupError": 0,
}
FUNCTIONS |= {
    "ValueError": 0,
    "SubjectDied": 0,
    "SubjectTimedOut": 0,
    "NotRecorded": 0,
    "NotAttempted": 0,
    "StateLeft": 0,
}
ARGUMENTS = ("hint", "message", "problem", "refuses")
WORDS = 3  # of an argument's text, at least: a shorter one is a name
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
    found["class/readme"] = COURSE / "autograder/classroom/readme.md"
    found |= {f"labs/{path.stem}": path for path in RELEASED.glob("[0-9]*/*.ipynb") if path.stem == path.parent.name}
    return dict(sorted(found.items()))


@cache
def messages(name: str) -> dict[str, str]:
    """The messages of a text, in order, each with where it first occurs: its heading, and what it is. Those of code, each with its
    file."""
    if name in CODE:
        said = dict[str, str]()
        for message, where in _said(name):
            said.setdefault(message, where)
        return said
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


def _said(name: str) -> Iterator[tuple[str, str]]:
    for path in (path for pattern in CODE[name] for path in sorted(COURSE.glob(pattern))):
        for message in said_in(path, name):
            yield message, str(path.relative_to(COURSE))


@cache
def said_in(path: Path, name: str) -> list[str]:
    """The messages of a file of code, which is one of those of a catalogue."""
    methods: dict[str, Any] = {".py": _python, ".js": "javascript", ".j2": babel_extract, ".html": babel_extract}
    methods |= {".yml": _labels, ".toml": _reasons, ".ipynb": _drawn if name == "pictures" else _title, ".svg": _drawn}
    functions = dict.fromkeys(FUNCTIONS if name != "hints" else ())  # a check's `words` are names
    options = {"parse_template_string": True} if path.suffix == ".js" else {}
    found = extract_from_file(methods[path.suffix], path, functions, options=options)
    return [str(message) for _, message, *_ in found if translation.has_words(str(message))]


def _python(file: BinaryIO, keywords: Collection[str], tags: Any, options: Any) -> Iterator[tuple]:
    """What Python says, for Babel, whose own method reads no f-string with values. The names that a hint uses are read, too."""
    tree = ast.parse(file.read())
    defined = {name: node for node in tree.body for name in _bound(node)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and (name := getattr(node.func, "id", "")) in keywords:
            at = FUNCTIONS[name]
            yield from ((node.lineno, None, text, []) for part in node.args[at : at + 1] for text in _constants(part))
        elif isinstance(node, ast.keyword) and node.arg in ARGUMENTS:
            found = _constants(node.value, defined if node.arg in ("hint", "refuses") else None)
            yield from ((node.value.lineno, None, text, []) for text in found if len(text.split()) >= WORDS)
        elif (
            isinstance(node, ast.FunctionDef) and node.name.startswith("about_") and not keywords
        ):  # for checks elsewhere
            found = _constants(node, dict(defined))
            yield from ((node.lineno, None, text, []) for text in found if len(text.split()) >= WORDS)
        elif isinstance(node, ast.Assign) and _bound(node) == ["WRONG"] and "CASE" in defined and not keywords:
            bodies = ast.literal_eval(node.value)  # of "Break it": what each is wrong about
            yield from ((node.lineno, None, about, []) for about in bodies)
        elif isinstance(node, ast.Assert) and node.msg and not keywords:  # of a check, which a verdict quotes
            yield from ((node.lineno, None, text, []) for text in _constants(node.msg))
    yield from ((1, None, name, []) for name in ([] if keywords else _entries(tree)) if " " in name and "{" not in name)


def _entries(tree: ast.Module) -> Iterator[str]:
    """The names of entries of a check's results: the keys of the dicts that its functions make. A dict of functions, or one that is
    looked up at once, is no result."""
    nodes = [node for function in tree.body if isinstance(function, ast.FunctionDef) for node in ast.walk(function)]
    tables = [node.value for node in nodes if isinstance(node, ast.Subscript | ast.Attribute)]
    for node in nodes:
        if (
            isinstance(node, ast.Dict)
            and node not in tables
            and not any(isinstance(v, ast.Lambda) for v in node.values)
        ):
            yield from (key.value for key in node.keys if isinstance(key, ast.Constant) and isinstance(key.value, str))
        elif isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
            yield from _constants(node.slice)


def _title(file: BinaryIO, keywords: Collection[str], tags: Any, options: Any) -> Iterator[tuple]:
    """The title of a notebook, which the navigation shows before the notebook itself is translated, for Babel."""
    text = "".join(json.load(file)["cells"][0]["source"])
    yield 1, None, text.partition("\n")[0].removeprefix("# "), []


def _drawn(file: BinaryIO, keywords: Collection[str], tags: Any, options: Any) -> Iterator[tuple]:
    """The labels of a drawing, or of those that the cells of a notebook show, for Babel."""
    text, said = file.read().decode(), list[str]()
    outputs = [each for cell in json.loads(text)["cells"] for each in cell.get("outputs", [])] if text[0] == "{" else []
    drawings = ["".join(each.get("data", {}).get("image/svg+xml", "")) for each in outputs] or [text]
    for drawing in drawings:
        translation.drawing(drawing, lambda label, kind: said.append(label))
    yield from ((1, None, label, []) for label in said)


def _labels(file: BinaryIO, keywords: Collection[str], tags: Any, options: Any) -> Iterator[tuple]:
    """What the site says of itself, its buttons, and the labels of its navigation, for Babel."""
    text = file.read().decode()
    nav = re.search(r"^nav:\n(?:(?:  .*)?\n)+", text, re.MULTILINE)
    assert nav is not None
    said = re.findall(r"^(?:site_description|copyright| +name| +permalink_title): (.+)", text, re.MULTILINE)
    for label in [*(each for each in said if " " in each), *re.findall(r"- (.+?):", nav[0])]:
        yield 1, None, label, []


def _reasons(file: BinaryIO, keywords: Collection[str], tags: Any, options: Any) -> Iterator[tuple]:
    """Why a check does not run in a page, for Babel."""
    for entry in tomllib.load(file).values():
        if "reason" in entry:
            yield 1, None, entry["reason"], []


def _bound(node: ast.stmt) -> list[str]:
    if isinstance(node, ast.Assign):
        return [target.id for target in node.targets if isinstance(target, ast.Name)]
    return [node.name] if isinstance(node, ast.FunctionDef) else []


def _constants(node: ast.AST, defined: dict[str, ast.stmt] | None = None) -> Iterator[str]:
    """The texts to which an expression may evaluate, with `{name}` for each value of an f-string. A name that is `defined` is
    followed once, and so is the table of which a function returns an item."""
    match node:
        case ast.Constant(str(text)) if text:
            yield text
        case ast.JoinedStr(parts):
            yield "".join(_part(part, number) for number, part in enumerate(parts))
        case ast.Return(ast.Subscript(value=ast.Name() as table)):
            yield from _constants(table, defined)
        case ast.Compare() | ast.Subscript() | ast.Expr(ast.Constant()) | ast.Call(ast.Name("field")):  # a part's name
            return
        case ast.Name(name) if defined and name in defined:
            yield from _constants(defined.pop(name), defined)
        case _:
            for child in node.values if isinstance(node, ast.Dict) else ast.iter_child_nodes(node):
                yield from _constants(child, defined)


def _part(part: ast.expr, number: int) -> str:
    """A part of an f-string: its text, or a value by its name, or by the part's number."""
    match part:
        case ast.Constant(text):
            return str(text)
        case ast.FormattedValue(ast.Name(name) | ast.Attribute(attr=name), -1, None):
            return f"{{{name}}}"
    return f"{{{number}}}"


@cache
def common() -> dict[str, str]:
    """The messages that several texts have."""
    counts = Counter(message for name in texts() for message in messages(name))
    return {message: f"in {count} texts" for message, count in sorted(counts.items()) if count >= IN_COMMON}


def own(name: str) -> dict[str, str]:
    """The messages of a text that its own catalogue has."""
    if name == COMMON:
        return common()
    return {text: where for text, where in messages(name).items() if name in CODE or text not in common()}


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
        if name != COMMON and name not in texts() and name not in CODE:
            raise LookupError(f"there is no text {name!r}: they are named like {', '.join([*texts()][::30])}")
    for name in sorted({*names(language), *more, COMMON}):
        path, text = translation.FOLDER / language / f"{name}.po", renewed(language, name)
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8", newline="\n")
            yield path


def status(language: str) -> dict[str, Counts]:
    """For each text, for what several texts have, and for what code says, the counts of its messages."""
    counts = {}
    for name in [COMMON, *CODE, *texts()]:
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
    "placeholders": lambda text: re.findall(r"\{\w*(?::\w+)?\}", re.sub(r"`[^`]*`", "", text)),
    "numbers": lambda text: [re.sub(r"\D", "", each) for each in re.findall(NUMBER, text)],
}


def broken(message: str, translated: str) -> list[str]:
    """What a translation has lost or added of what every language has alike: names in code, links, formulas, tags, emphasis, the
    cells of a row, places of values, numbers. One line for each kind."""
    if re.match(r"(?:names|asked|on|not): ", message):
        kept = [re.findall(r"(?:^|; )((?:names|asked|not):|on: [^;]*)", each) for each in (message, translated)]
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
