"""The language that the course speaks with a student.

All that is kept, sent or compared is English: verdicts, records, JSON. `speak` looks a text up when it is shown, in the catalogues
`verdicts` and `hints` of `translations/`. So one judge and one class serve students of several languages. A sentence of a verdict
has its values in it by then, and is found by its pattern, such as "yours raises {raised}, {name} raises {other}".
"""

from __future__ import annotations

import json
import os
import re
import string
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from pathlib import Path
from typing import Any

from .course import COURSE

FOLDER = COURSE / "translations"
SPOKEN = ("verdicts", "hints")  # the catalogues of what the code says
ENGLISH = "en"
LONGEST = 4_000  # characters of a text that is looked up
DEEPEST = 6  # values in values
WORDS = 2  # of a sentence, apart from its values, that are not of another one
_VARIABLES = ("LANGUAGE", "LC_ALL", "LC_MESSAGES", "LANG")  # gettext's, the first that is set counts
_CODE = re.compile(r"[a-z]{2,3}(?:_[A-Z]{2})?")
_WORD = re.compile(r"[^\W\d_]{2,}")
_PROSE = re.compile(r"\b[a-z]{2,} [a-z]{2,}")
_STEP = re.compile(r"(\.|\[\d+\])")  # between the parts of where a result differs
_PLACE = re.compile(r"\{(\w*)\}")
_ENTRY = re.compile(r'^((?:#[^~].*\n|#\n)*)msgid (".*"(?:\n".*")*)\nmsgstr (".*"(?:\n".*")*)', re.MULTILINE)

_speaking: ContextVar[str] = ContextVar("speaking", default="")


@contextmanager
def speaking(language: str) -> Iterator[None]:
    """Within: the language is this one. If it is empty, it is still that of the environment."""
    token = _speaking.set(language)
    try:
        yield
    finally:
        _speaking.reset(token)


def language() -> str:
    """The language that is spoken here: of the notebook that is dealt with, or else the first that the environment asks for and the
    course has, or else English."""
    return _speaking.get() or _asked_for(next(filter(None, map(os.environ.get, _VARIABLES)), ""))


@cache
def _asked_for(setting: str) -> str:
    """The first language of a setting such as `es_MX.UTF-8` or `fr:es` that the course has."""
    for each in setting.split(":"):
        name = each.partition(".")[0]
        for code in (name, name.partition("_")[0]):
            if code == ENGLISH or _catalogue(code):
                return code
    return ENGLISH


def language_of(notebook: Mapping) -> str:
    """The language of a notebook of the course, as its metadata say."""
    try:
        language = notebook["metadata"]["rushlight"]["language"]
        return language if isinstance(language, str) else ENGLISH
    except (LookupError, TypeError):  # in a student's notebook anything may be there
        return ENGLISH


def phrase(text: str) -> str:
    """The text itself, a constant or an f-string: data that `speak` knows in other languages when it is shown. (gettext's `N_`)"""
    return text


def speak(text: str, *values: Any, **named: Any) -> str:
    """A text in the language that is spoken here: gettext's `_`. Values are put in the places of their names or of `{}`.

    A text without a translation stays English. Without values, a text may be a `phrase` that has its values already.
    """
    spoken = language()
    if values or named:
        return _Numbers(spoken).format(_catalogue(spoken).get(text, text), *values, **named)
    return text if spoken == ENGLISH or len(text) > LONGEST else _spoken(text, spoken, DEEPEST) or text


class _Numbers(string.Formatter):
    """Puts values in their places. A number with a format is written as in the language: 0.5 is 0,5, and 12,000 is 12 000."""

    def __init__(self, language: str):
        self.is_english = language == ENGLISH

    def format_field(self, value: Any, format_spec: str) -> str:
        text = super().format_field(value, format_spec)
        if self.is_english or not format_spec or not isinstance(value, int | float):
            return text
        return text.replace(",", "\N{NARROW NO-BREAK SPACE}" if abs(value) >= 10_000 else "").replace(".", ",")


def _spoken(text: str, language: str, deep: int) -> str:
    """A phrase in another language, with its values, as far as these are phrases. So are two phrases with a semicolon between them.
    Empty if it is none. What is before a colon is the name of a check, or where a result differs, which may name entries."""
    if not deep:
        return ""
    if known := _catalogue(language).get(text):
        return known
    before, _, last = text.rpartition("; ")
    if (first := before and _spoken(before, language, deep - 1)) and (second := _spoken(last, language, deep - 1)):
        return f"{first}; {second}"
    before, _, last = text.rpartition(". ")
    if before and (second := _catalogue(language).get(last)):  # what is advised after a finding
        return f"{_spoken(before, language, deep - 1) or before}. {second}"
    where, _, rest = text.partition(": ")
    for literals, names, said in _patterns(language):
        if (values := _values(literals, text)) is not None:
            known = [value if value.isdigit() else _spoken(value, language, deep - 1) for value in values]
            is_short = len(_WORD.findall(" ".join(literals))) < WORDS
            has_name = rest and ": " not in "".join(literals)
            if is_short and (not any(known) or has_name and _spoken(rest, language, deep - 1)):
                continue  # another sentence with these few words, or a name with them
            is_open = not literals[0] and not literals[-1]
            if is_open and any(_PROSE.search(value) for said, value in zip(known, values) if not said):
                continue  # a sentence of others, such as an error of torch
            spoken = dict(zip(names, (said or value for said, value in zip(known, values))))
            return "".join(spoken[part] if at % 2 else part for at, part in enumerate(_PLACE.split(said)))
    said = rest and _spoken(rest, language, deep - 1)
    return said and f"{''.join(map(spoken_entry, _STEP.split(where)))}: {said}"


def spoken_entry(name: str) -> str:
    """The name of an entry of a result in the language that is spoken here. A single word stays: it is a name of code."""
    return _catalogue(language()).get(name, name) if " " in name else name


def _values(literals: list[str], text: str) -> list[str] | None:
    """The texts between these literals, if a text consists of them in this order. In linear time: a student's text may be in it."""
    first, *middle, last = literals
    if not text.startswith(first) or not text.endswith(last):
        return None
    values, at, end = [], len(first), len(text) - len(last)
    for literal in middle:
        if (found := text.find(literal, at, end)) < 0:
            return None
        values.append(text[at:found])
        at = found + len(literal)
    return [*values, text[at:end]] if at <= end else None


@cache
def _catalogue(language: str) -> dict[str, str]:
    """What the code says, in English and in another language. Empty if the course does not have the language."""
    paths = [FOLDER / language / f"{name}.po" for name in SPOKEN] if _CODE.fullmatch(language) else []
    return {english: said for path in paths for english, said in messages(path).items()}


@cache
def _patterns(language: str) -> list[tuple[list[str], list[str], str]]:
    """The messages with values, those that say the most first: the texts around the values, the values' names, the translation."""
    split = [(_PLACE.split(english), said) for english, said in _catalogue(language).items() if "{}" not in english]
    return sorted(
        ((parts[::2], parts[1::2], said) for parts, said in split if parts[1:]),
        key=lambda each: (-len(_WORD.findall(" ".join(each[0]))), -sum(map(len, each[0]))),
    )


def messages(path: Path) -> dict[str, str]:
    """The messages of a catalogue that are translated and up to date. Empty if there is no such file."""
    entries = _ENTRY.findall(path.read_text(encoding="utf-8")) if path.exists() else []
    texts = [[_unquoted(msgid), _unquoted(msgstr)] for flags, msgid, msgstr in entries if "#, fuzzy" not in flags]
    return {english: said for english, said in texts if english and said}


def _unquoted(lines: str) -> str:
    return "".join(map(json.loads, lines.splitlines()))
