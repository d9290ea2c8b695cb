"""A verdict as HTML for a notebook: inline styles only, no script, and only tags and styles that JupyterLab's sanitizer keeps.

That sanitizer removes `svg`, `aria-*`, `currentColor`, `color-mix` and `var`, so the card is made of `div`, `b`, `pre` and
`details`, and text has the page's own colour. All text from the student's process is escaped.
"""

from __future__ import annotations

import html

from .check import NOT_ATTEMPTED, Verdict

GREEN, GREY, RED = "#2da44e", "#8b949e", "#e5534b"
LONG = 12  # lines of a case or a result: a longer one is folded
FOLDED = ("program", "in torch", "replay")


def card(verdict: Verdict) -> str:
    """The verdict's mark, headline, bar of cases, both results side by side, and what explains them."""
    colour = GREEN if verdict.passed else GREY if verdict.outcome == NOT_ATTEMPTED else RED
    head = f'<div><b style="color:{colour}">{verdict.mark}</b> {html.escape(verdict.headline())}</div>'
    rows = verdict.rows()
    results = [row for row in rows if row[0] in ("yours", "torch's", "expected")]
    others = [row for row in rows if row not in results]
    before = [row for row in others if row[0] in ("why", "note", "case")]
    after = sorted((row for row in others if row not in before), key=lambda row: row[0] in FOLDED)
    pair = "".join(f'<div style="flex:1 1 200px;min-width:0">{_block(*row)}</div>' for row in results)
    body = "".join(_block(*row) for row in before)
    body += f'<div style="display:flex;flex-wrap:wrap;column-gap:24px">{pair}</div>' if pair else ""
    body += "".join(_block(*row) for row in after)
    style = f"border-left:4px solid {colour};padding:2px 12px;margin:4px 0"
    return f'<div style="{style}">{head}{_bar(verdict, colour)}{body}</div>'


def _bar(verdict: Verdict, colour: str) -> str:
    """A thin bar: the part of the cases that agree."""
    if verdict.cases < 2:
        return ""
    part = f'<div style="height:4px;width:{100 * verdict.agreed // verdict.cases}%;background:{GREEN}"></div>'
    track = GREEN if verdict.passed else colour
    return f'<div style="height:4px;max-width:240px;margin:4px 0;background:{track}">{part}</div>'


def _block(name: str, text: str) -> str:
    """A text below its name. A program, a replay and a long case are folded."""
    if name in FOLDED or name == "case" and text.count("\n") >= LONG:
        return f"<details><summary>{html.escape(name)}</summary>{_preformatted(text)}</details>"
    return f'<div style="margin:4px 0"><b style="font-weight:600">{html.escape(name)}</b>{_preformatted(text)}</div>'


def _preformatted(text: str) -> str:
    style = "margin:0;white-space:pre-wrap;overflow-wrap:break-word;background:transparent;font-family:monospace"
    return f'<pre style="{style}">{html.escape(text)}</pre>'
