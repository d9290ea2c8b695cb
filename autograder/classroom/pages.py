"""The parts that the pages for instructors and students share: colours that fit both schemes, marks of verdicts, a page's frame."""

from __future__ import annotations

import html
import re
from pathlib import Path

from ..course import replacing
from ..engine.verdict import DISAGREED, NOT_ATTEMPTED, PASSED
from ..language import ENGLISH
from ..text import printable

# text and background of each kind of result, in a light and in a dark scheme
COLOURS = {
    "page": ("#1b1f23", "#ffffff", "#e6e9eb", "#14181b"),
    "muted": ("#4f5860", "#ffffff", "#b3bcc3", "#14181b"),
    "link": ("#0b57d0", "#ffffff", "#8ab8ff", "#14181b"),
    "pass": ("#0b4a24", "#d7f0df", "#a6e6bc", "#12391f"),
    "fail": ("#7d1a10", "#fbdcd8", "#ffc4bc", "#4a1713"),
    "none": ("#454c52", "#eceff1", "#b9c1c7", "#262c31"),
    "other": ("#5c3b00", "#fdebc3", "#ffdf9b", "#43310a"),
    "code": ("#1b1f23", "#f4f6f7", "#e6e9eb", "#1e2429"),
}
# lines and bars on the page, in both schemes
LINES = {"line": ("#868e95", "#717b83"), "bar": ("#0b57d0", "#8ab8ff")}

MARKS = {PASSED: ("pass", "✓"), DISAGREED: ("fail", "✗"), NOT_ATTEMPTED: ("none", "–")}
OTHER, UNGRADED = ("other", "!"), ("none", "○")


def variables(scheme: int) -> str:
    """The colours as CSS variables, of the light scheme (0) or of the dark one (1): `--pass` on `--pass-b`."""
    pairs = "".join(
        f"--{name}:{colours[2 * scheme]};--{name}-b:{colours[2 * scheme + 1]};" for name, colours in COLOURS.items()
    )
    return pairs + "".join(f"--{name}:{colours[scheme]};" for name, colours in LINES.items())


SCHEMES = f"""
:root {{ color-scheme: light dark; {variables(0)} }}
@media (prefers-color-scheme: dark) {{ :root {{ {variables(1)} }} }}
@media print {{ :root {{ color-scheme: light; {variables(0)} }} details::details-content {{ content-visibility: visible; }} }}
"""


def write_page(path: Path, title: str, style: str, body: str, refresh: int = 0, language: str = ENGLISH) -> None:
    """Write an HTML page, which is renamed when it is complete. A browser loads it again every `refresh` seconds, if not 0."""
    again = f'<meta http-equiv="refresh" content="{refresh}">' if refresh else ""
    head = (
        f'<!doctype html><html lang="{language}"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"{again}<title>{title}</title><style>{style}</style></head>"
    )
    with replacing(path) as part:
        part.write_text(f"{head}<body>{body}</body></html>\n", encoding="utf-8")


def escaped(text: str) -> str:
    """Text of a submission for a page: no markup, and nothing that would not appear as itself."""
    return html.escape("\n".join(map(printable, text.splitlines())))


def breakable(name: str) -> str:
    """A name for a page, which may be broken after its dots and underscores."""
    return re.sub(r"([._])", r"\1<wbr>", escaped(name))
