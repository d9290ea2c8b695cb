"""A verdict as HTML for a notebook: inline styles only, no script, and only tags and styles that notebooks keep.

JupyterLab removes `svg`, `aria-*` and `var()` from a notebook that it does not trust, so the card is made of `div`, `b`, `pre`
and `details`. It must be readable on a light and on a dark page, and no colour of text is readable on both. So text has the
page's own colour on a translucent ground, or its own colour on a solid one. Every colour comes with a mark or a word. All text
from the student's process is escaped.
"""

from __future__ import annotations

import html
import math
import re
from collections.abc import Iterator, Sequence
from itertools import groupby, product

from ..language import speak
from .limits import IN_BROWSER
from .verdict import DISAGREED, LONG, NOT_ATTEMPTED, UNDECIDED, Verdict, abridged, marked_lines

GREEN, GREY, RED = "#1a7f37", "#656d76", "#c93c37"  # grounds of white text
PALE_GREEN, PALE_GREY, PALE_RED = (
    "rgba(46,160,67,0.9)",
    "rgba(128,128,128,0.9)",
    "rgba(229,83,75,0.9)",
)  # lines and bars
TINT, FILL, LINE = "rgba(229,83,75,0.3)", "rgba(128,128,128,0.2)", "rgba(128,128,128,0.6)"
LINE_OF_A_RESULT = 100  # characters: shorter results are one above the other
LONG_CASE = 30  # lines of a case, such as a program: a longer one is folded
WIDE = 1500  # characters of a result: a longer one is folded
AROUND = 120  # characters that are shown on each side of a difference in a folded result
MAX_CELLS, MAX_ELEMENTS = 32, 64  # of a storage that is drawn

Marks = Sequence[list[int]]


def card(verdict: Verdict, worth: float | None = None, tally: str = "") -> str:
    """The verdict's mark, headline and bar of cases, both results with what differs tinted, and what explains them.

    `worth` is the check's points in its lab, and `tally` a line about the lab.
    """
    solid, line = GREY, PALE_GREY
    if verdict.outcome not in (NOT_ATTEMPTED, *UNDECIDED):
        solid, line = (GREEN, PALE_GREEN) if verdict.passed else (RED, PALE_RED)
    body = f"<div>{chip(verdict.mark, solid)} {html.escape(verdict.headline())}</div>"
    worth_chip = "" if worth is None else chip(points_of(worth * verdict.passed, worth), solid)
    figures = "".join(
        filter(None, [worth_chip, _bar(verdict, line), f"<div>{html.escape(tally)}</div>" if tally else ""])
    )
    style = "display:flex;flex-wrap:wrap;align-items:center;column-gap:12px;margin:4px 0;font-size:90%"
    body += f'<div style="{style}">{figures}</div>' if figures else ""
    rows = dict(verdict.rows())
    body += "".join(_block(name, rows[name]) for name in ("why", "case") if name in rows)
    body += _results(verdict, rows)
    body += _block("differs", rows["differs"]) if "differs" in rows and not _is_in_the_results(verdict) else ""
    body += "".join(_block(*row) for row in verdict.rows() if row[0] == "note")
    rows |= {"program": verdict.program} if "program" in rows else {}  # folded, so all of it
    rows |= {"in torch": verdict.oracle} if "in torch" in rows else {}
    folded = ["hint", "program", "in torch"]  # a hint as the lab's own hints, which a student may not want yet
    folded += [] if IN_BROWSER else ["replay"]  # a page has no empty cell for it
    body += "".join(_folded(name, rows[name]) for name in folded if name in rows)
    return f'<div style="border-left:4px solid {line};padding:2px 12px;margin:4px 0">{body}</div>'


def points_of(earned: float, worth: float) -> str:
    if worth == 1:
        return speak("{earned:g} of 1 point", earned=earned)
    return speak("{earned:g} of {worth:g} points", earned=earned, worth=worth)


def _results(verdict: Verdict, rows: dict[str, str]) -> str:
    """Both results, the storages that they use, and the student's lines that raised."""
    if "yours" not in rows:
        return ""
    answer = "expected" if verdict.exact else "torch's"
    own, others = verdict.results()
    results = [("yours", *own)]
    results += [(answer, *others)] if verdict.theirs else []
    if all("\n" not in text and len(text) < LINE_OF_A_RESULT for _, text, _ in results):
        body = f'<div style="margin:4px 0">{"".join(_line(*result) for result in results)}</div>'
    else:
        marked = [marked_lines(text, marks) for _, text, marks in results]
        pair = "".join(
            f'<div style="flex:1 1 240px;min-width:0">{_result(*result, beside)}</div>'
            for result, beside in zip(results, [*marked[1:], *marked[:1]])
        )
        body = f'<div style="display:flex;flex-wrap:wrap;column-gap:24px">{pair}</div>'
    body += _drawing(verdict.layouts, answer) if verdict.outcome == DISAGREED else ""
    body += _block("raised", speak(verdict.raised)) if verdict.raised else ""
    return body + _frames(verdict.frames)


def _is_in_the_results(verdict: Verdict) -> bool:
    """Whether the words on what differs only repeat two values that are tinted in the results."""
    said = re.fullmatch(r"(?:.*: )?yours (.+), (?:torch's|expected) (.+)", verdict.message)
    results = (verdict.mine, verdict.mine_marks), (verdict.theirs, verdict.theirs_marks)
    return said is not None and all(
        marks and value in text and len(text) < LINE_OF_A_RESULT for value, (text, marks) in zip(said.groups(), results)
    )


def chip(text: str, ground: str) -> str:
    style = f"background-color:{ground};color:#ffffff;padding:0 6px;border-radius:4px;white-space:nowrap"
    return f'<b style="{style}">{html.escape(text)}</b>'


def _bar(verdict: Verdict, line: str) -> str:
    """A thin bar: the part of the cases that agree, and none if no result of the student's is right."""
    if verdict.cases < 2:
        return ""
    part = 0 if verdict.agrees_by_errors else 100 * verdict.agreed // verdict.cases
    agreed = f'<div style="height:4px;width:{part}%;background-color:{PALE_GREEN}"></div>' if part else ""
    others = f'<div style="height:4px;width:{100 - part}%;background-color:{line}"></div>' if part < 100 else ""
    return f'<div style="display:flex;flex:0 1 240px">{agreed}{others}</div>'


# Texts ---------------------------------------------------------------------------------------------------------------


def _block(name: str, text: str) -> str:
    """A text below its name. A long one is folded. A case may be longer, because the rest of the card is about it."""
    most = LONG_CASE if name == "case" else LONG
    return _folded(name, text) if text.count("\n") >= most else _named(name, _preformatted(text))


def _result(name: str, text: str, marks: Marks, beside: Sequence[int] = ()) -> str:
    """A result. If it is long, the lines around its differences are shown, or around the first one, and all of it is folded.
    `beside` are the lines in which the other result differs."""
    if marks == [[0, len(text)]] and "\n" in text:  # all of it differs, and a tint says no more
        marks = []
    if text.count("\n") < LONG and len(text) < WIDE:
        return _named(name, _preformatted(text, marks))
    short, near = abridged(text, marks, beside=beside)
    if short.count("\n") >= 2 * LONG or len(short) >= WIDE:
        short, near = _around_the_first(short, near)
    size = speak("all of it ({count} characters)", count=len(text))
    size = speak("all of it ({count} lines)", count=text.count("\n") + 1) if "\n" in text else size
    return _named(name, _preformatted(short, near) + _folded(size, text, marks))


def _line(name: str, text: str, marks: Marks) -> str:
    """A short result beside its name, so that two results are one above the other."""
    head = f'<b style="flex:0 0 72px;font-weight:600">{html.escape(speak(name))}</b>'
    return f'<div style="display:flex;align-items:baseline;column-gap:8px">{head}{_preformatted(text, marks)}</div>'


def _around_the_first(text: str, marks: Marks) -> tuple[str, Marks]:
    """The surroundings of the first difference, and the marked parts in them."""
    start, end = marks[0] if marks else (0, 0)
    first = max(text.rfind("\n", 0, start) + 1, start - AROUND)
    last = min(len(text), end + AROUND, start + 2 * AROUND)
    last = end + len(text[end:last].partition("\n")[0]) if end < last else last
    before, after = "… " * (first > 0), " …" * (last < len(text))
    shift = len(before) - first
    return before + text[first:last] + after, [[a + shift, min(b, last) + shift] for a, b in marks if first <= a < last]


def _named(name: str, content: str) -> str:
    return f'<div style="margin:4px 0"><b style="font-weight:600">{html.escape(speak(name))}</b>{content}</div>'


def _folded(name: str, text: str, marks: Marks = ()) -> str:
    return f"<details><summary>{html.escape(speak(name))}</summary>{_preformatted(text, marks)}</details>"


def _preformatted(text: str, marks: Marks = ()) -> str:
    return _pre(_tinted(text, marks))


def _pre(content: str) -> str:
    style = "margin:0;white-space:pre-wrap;word-break:normal;overflow-wrap:break-word"  # a word stays whole
    style += ";background-color:transparent;font-family:monospace"
    return f'<pre style="{style}">{content}</pre>'


def _tinted(text: str, marks: Marks) -> str:
    """A text, escaped, with its marked parts tinted and underlined."""
    parts, end = [], 0
    for start, stop in marks:
        parts += [html.escape(text[end:start]), _differing(text[start:stop])]
        end = stop
    return "".join(parts) + html.escape(text[end:])


def _differing(text: str) -> str:
    style = f"background-color:{TINT};text-decoration:underline"
    return f'<b style="{style}">{html.escape(text)}</b>'


def _frames(frames: list[list]) -> str:
    """The student's own lines that were running when the exception was raised, the innermost last and with a mark."""
    if not frames:
        return ""
    lines = []
    frames = [frame for frame, _ in groupby(frames)]  # one that calls itself
    for number, (function, line, text) in enumerate(frames, start=1):
        place = speak("{function}, line {line}", function=function, line=line)
        lines += [f"{'→' if number == len(frames) else ' '} {place}"] + [f"      {text}"] * bool(text)
    return _named(speak("your cell"), _preformatted("\n".join(lines)))


# The storage of a tensor ---------------------------------------------------------------------------------------------


def _drawing(layouts: list, answer: str) -> str:
    """The storages of two tensors, one above the other: in each cell the index of its element. Empty if one is too large."""
    drawn = [cells for cells in map(_cells, layouts) if cells is not None]
    if not drawn or len(drawn) < len(layouts) or not any(drawn):
        return ""
    mine, theirs = drawn
    cells = range(max([*mine, *theirs]) + 1)
    width = 8 * max(map(len, [*mine.values(), *theirs.values(), "00"])) + 12
    rows = _row(speak("cell"), [(str(cell), False, False) for cell in cells], width, "transparent")
    for name, own in (("yours", mine), (answer, theirs)):
        row = [(own.get(cell, "·"), cell in own, mine.get(cell) != theirs.get(cell)) for cell in cells]
        rows += _row(name, row, width, LINE)
    style = "overflow-x:auto;font-family:monospace;font-size:90%;line-height:22px;text-align:center"
    return _named(speak("storage, and the index of the element in each cell"), f'<div style="{style}">{rows}</div>')


def _row(name: str, cells: list[tuple[str, bool, bool]], width: int, line: str) -> str:
    """Cells of a storage: the text of each, whether an element is there, and whether the other row differs.

    They are `span`s with a space between them, because a page without styles shows these in a line.
    """
    drawn = [f'<span style="flex:0 0 72px;text-align:left">{html.escape(speak(name))}</span>']
    for text, is_filled, is_apart in cells:
        ground = TINT if is_apart else FILL if is_filled else "transparent"
        style = f"flex:0 0 {width}px;height:22px;border:1px solid {line};background-color:{ground}"
        drawn.append(f'<span style="{style}">{_differing(text) if is_apart else html.escape(text)}</span>')
    return f'<div style="display:flex;column-gap:2px;margin-bottom:2px">{" ".join(drawn)}</div>'


def _cells(layout: list) -> dict[int, str] | None:
    """The index of the element, or of the first of several, in each cell of a storage. None for a large one."""
    sizes, strides, offset = layout
    if 0 in sizes:
        return {}
    reach = [(size - 1) * stride for size, stride in zip(sizes, strides)]
    ends = (offset + sum(step for step in reach if step < 0), offset + sum(step for step in reach if step > 0))
    if len(sizes) != len(strides) or math.prod(sizes) > MAX_ELEMENTS or not 0 <= ends[0] <= ends[1] < MAX_CELLS:
        return None
    labels: dict[int, list[str]] = {}
    for index, cell in _elements(sizes, strides, offset):
        labels.setdefault(cell, []).append(",".join(map(str, index)) or "()")
    return {cell: f"{names[0]} +{len(names) - 1}" if names[1:] else names[0] for cell, names in labels.items()}


def _elements(sizes: list[int], strides: list[int], offset: int) -> Iterator[tuple[tuple[int, ...], int]]:
    """Each index of a tensor, and the cell of its element."""
    for index in product(*map(range, sizes)):
        yield index, offset + sum(i * stride for i, stride in zip(index, strides))
