"""Text that students and others have written, made safe or short to show, and the names that are similar to a mistyped one."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable

from .language import phrase


def printable(text: str) -> str:
    """Text to be shown in a line on a terminal, in a log or on a page: what would not appear as itself appears as its number.

    So do line ends, escape codes of a terminal, letters that reverse the order of others, and bytes of a name that are no UTF-8.
    """
    return "".join(letter if letter.isprintable() else f"\\u{ord(letter):04x}" for letter in text)


def neutral(text: str) -> str:
    """Text for a cell of a spreadsheet. What would be a formula begins with an apostrophe.

    A program that splits a line at `;`, as in countries with a decimal comma, finds cells inside this one, quotes or not.
    """
    return _FORMULA.sub("'", printable(text))


_FORMULA = re.compile(r"""(?:^|(?<=;))(?=[\s"']*[=+\-@＝＋－＠])""")


def in_one_line(text: str, longest: int) -> str:
    """The lines of a text in one line, with commas between them. A longer one is cut, and ends with `…`."""
    line = ", ".join(" ".join(part.split()) for part in text.splitlines())
    return line if len(line) <= longest else f"{line[:longest]} …"


def did_you_mean(wanted: str, names: Iterable[str]) -> str:
    """A question with the names that are similar to a mistyped one; empty if none is."""
    known = {name.lower(): name for name in names}
    return question(known[name] for name in difflib.get_close_matches(wanted.lower(), known, n=3, cutoff=0.65))


def question(names: Iterable[str]) -> str:
    """A question with these names; empty if there is none."""
    unique = dict.fromkeys(names)
    names = " or ".join(unique)
    return phrase(f"did you mean {names}?") if unique else ""
