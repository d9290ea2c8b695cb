"""What the scripts of a page say, in the language of the site.

A script says `words("copy link")` (`docs/javascripts/words.js`), and a page in another language has the messages of its scripts as
JSON. A moving figure also says sentences of its data. In its program they are phrases with places for values, such as
`phrase(f"reuses {name}")`. Here the values are known, so the page has whole sentences.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.pages import Page

from autograder import translation
from autograder.author import translate
from docs.programs import DOCS, FIGURES
from docs.programs.hooks.languages import LANGUAGE, grouped

PROGRAMS = DOCS / "programs" / "figures"
CATALOGUE = "figures"
SCRIPT = re.compile(r'<script src="[^"]*?((?:browser|figures|javascripts)/\w+)\.js"')
WORDS = re.compile(r'<script src="[^"]*javascripts/words\.js"')
LABEL = re.compile(r"(<(text|tspan)\b[^>]*>)([^<]+)")  # of a figure, or a part of one
PLACE = re.compile(r"\{\w*\}")
VALUE = r"((?:(?!\. ).)+?)"  # within a sentence


def on_post_page(output: str, page: Page, config: MkDocsConfig) -> str:
    messages: dict[str, str] = {}
    for script in sorted({*SCRIPT.findall(output)}) if LANGUAGE else ():
        messages |= of_script(script)
    if not messages:
        return output
    text = json.dumps(messages, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
    tag = f'<script type="application/json" id="words">{text}</script>'
    return WORDS.sub(lambda match: f"{tag}{match[0]}", output, count=1)


@cache
def of_script(name: str) -> dict[str, str]:
    """The messages that a script such as `figures/strides` says, and their translations."""
    own = translated(DOCS / f"{name}.js")
    data = DOCS / f"{name}.json"
    return own | of_data(data) if data.exists() else own


def translated(path: Path) -> dict[str, str]:
    """The messages of a file of code that have a translation."""
    known = translation.catalogue(LANGUAGE, CATALOGUE)
    return {message: known[message] for message in translate.said_in(path, CATALOGUE) if message in known}


def of_data(path: Path) -> dict[str, str]:
    """The texts in the data of a figure, as the phrases of its module translate them."""
    said = with_values(translated(PROGRAMS / f"{path.stem}.py"))
    texts = dict.fromkeys(_texts(json.loads(path.read_text(encoding="utf-8"))))
    return {text: other for text in texts if (other := said(text) or grouped(text)) != text}


def drawing(picture: str, name: str) -> str:
    """The picture of a figure as a file, with the labels that its script would write."""
    if not LANGUAGE:
        return picture
    paths = [PROGRAMS / f"{name}.py", *(FIGURES / f"{script}.js" for script in ("shapes", name))]
    said = with_values({text: other for path in paths for text, other in translated(path).items()})

    def label(match: re.Match) -> str:
        parts = re.split("(▶ |, (?=number))", html.unescape(match[3]))
        known = "".join(
            part.replace(part.strip(), said(part.strip())) if said(part.strip()) else part for part in parts
        )
        return match[1] + html.escape(grouped(known), quote=False)

    return LABEL.sub(label, picture)


def with_values(known: dict[str, str]) -> Callable[[str], str]:
    """What translates texts that have values in them already, by messages with places for values."""
    patterns = [
        (re.compile(VALUE.join(map(re.escape, PLACE.split(text)))), text, said)
        for text, said in sorted(known.items(), key=lambda item: -len(PLACE.sub("", item[0])))
        if PLACE.search(text)
    ]

    def said(text: str) -> str:
        """A sentence with its values, or several sentences. Empty if one of them is not known."""
        if text in known or not translation.has_words(text):
            return known.get(text, "")
        for pattern, english, other in patterns:
            if match := pattern.fullmatch(text):
                return filled(other, dict(zip(PLACE.findall(english), match.groups())))
        for stop in reversed([*re.finditer(r"\. ", text)]):
            first, rest = said(text[: stop.start() + 1]), said(text[stop.end() :])
            if first and rest:
                return f"{first} {rest}"
        return ""

    def filled(other: str, values: dict[str, str]) -> str:
        return PLACE.sub(lambda place: said(values[place[0]]) or grouped(values[place[0]]), other)

    return said


def _texts(data: Any) -> Iterator[str]:
    """The texts of JSON, names of fields too: they are choices of a menu."""
    if isinstance(data, str):
        yield data
    elif isinstance(data, dict | list):
        for each in data:
            yield from _texts(each)
        for each in data.values() if isinstance(data, dict) else ():
            yield from _texts(each)
