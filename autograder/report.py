"""The class report: the results of a class in one lab, as an HTML page for its instructor.

It shows the points, the outcomes of the checks, the minimal cases that many students share, and the time that grading took.
The page needs no other file: figures are SVG inside it. All text from a submission is escaped.
"""

from __future__ import annotations

import html
import io
from collections import Counter
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from .check import PASSED
from .course import classroom, points, printable
from .grade import Row

_COLOURS = {
    PASSED: "#1f6f8b",
    "disagreed": "#e0a458",
    "not attempted": "#d9d9d9",
    "timed out": "#8c510a",
    "died": "#40004b",
}
_STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; color: #22282c; }
table { border-collapse: collapse; width: 100%; } th, td { text-align: left; padding: .25rem .75rem .25rem 0; vertical-align: top; }
tr { border-bottom: 1px solid #e3e6e8; } td.number, th.number { text-align: right; } pre { margin: 0; white-space: pre-wrap; }
figure { margin: 1.5rem 0; } figcaption { font-style: italic; } svg { max-width: 100%; height: auto; }
"""


def write_report(lab: str, rows: list[Row]) -> Path:
    """Write `classroom/report-LAB.html`, which is renamed when it is complete. Returns its path."""
    worth = points(lab)
    graded = [row for row in rows if row.verdicts]
    body = [
        f"<h1>Lab {lab}</h1>",
        f"<p>{len(rows)} submissions, {len(graded)} graded; {sum(worth.values()):g} points by checks, written answers apart.</p>",
    ]
    if graded:
        body += [
            _figure(_totals(graded, sum(worth.values())), "How many students have how many points."),
            _figure(_outcomes(graded, list(worth)), "What each check came to, in the order of the lab."),
            "<h2>Cases that many share</h2>",
            "<p>The smallest case on which a student's answer and torch differ, where at least two students have the same one.</p>",
            _table(["check", "case", "what differs", "students"], _common_cases(graded)),
            "<h2>Time</h2>",
            _figure(_times(graded), "Seconds that deciding a submission's checks took, one dot a student."),
        ]
    body += [
        "<h2>Students</h2>",
        _table(["student", "points", "remark"], [(r.student, r.total, r.remark()) for r in rows]),
    ]
    path = classroom() / f"report-{lab}.html"
    part = path.with_suffix(".part")
    title = f"<title>Lab {lab}: class report</title>"
    head = f'<!doctype html><html lang="en"><head><meta charset="utf-8">{title}<style>{_STYLE}</style></head>'
    part.write_text(f"{head}<body>{''.join(body)}</body></html>\n", encoding="utf-8")
    part.replace(path)
    return path


def _common_cases(rows: list[Row]) -> list[tuple]:
    shared = Counter(
        (check, verdict["case"], verdict["message"])
        for row in rows
        for check, verdict in row.verdicts.items()
        if "case" in verdict
    )
    return [(*key, count) for key, count in shared.most_common(20) if count > 1]


# Figures -------------------------------------------------------------------------------------------------------------


def _totals(rows: list[Row], maximum: float) -> Figure:
    figure, axes = _axes(2.4)
    axes.hist([row.total for row in rows], bins=20, range=(0, maximum), color=_COLOURS[PASSED], edgecolor="white")
    axes.set(xlabel="points", ylabel="students", xlim=(0, maximum))
    axes.yaxis.get_major_locator().set_params(integer=True)
    return figure


def _outcomes(rows: list[Row], checks: list[str]) -> Figure:
    """A bar for each check, divided by outcome; the legend has only the outcomes that occur."""
    figure, axes = _axes(0.8 + 0.28 * len(checks))
    left = [0] * len(checks)
    found = {row.outcome(check) for row in rows for check in checks}
    for outcome in [*filter(found.__contains__, _COLOURS), *sorted(found - set(_COLOURS))]:
        counts = [sum(row.outcome(check) == outcome for row in rows) for check in checks]
        bars = axes.barh(
            checks, counts, left=left, color=_COLOURS.get(outcome, "#888888"), edgecolor="white", label=outcome
        )
        axes.bar_label(bars, [count or "" for count in counts], label_type="center", size=8)
        left = [start + count for start, count in zip(left, counts)]
    axes.invert_yaxis()
    axes.set(xlabel="students", xlim=(0, len(rows)))
    axes.legend(frameon=False, loc="lower center", bbox_to_anchor=(0.4, 1.0), ncols=5)
    return figure


def _times(rows: list[Row]) -> Figure:
    figure, axes = _axes(1.3)
    seconds = [sum(verdict.get("seconds", 0) for verdict in row.verdicts.values()) for row in rows]
    axes.plot(seconds, [0] * len(seconds), "o", color=_COLOURS[PASSED], alpha=0.4)
    axes.set(xlabel="seconds", yticks=[], xlim=(0, None))
    return figure


def _axes(height: float) -> tuple[Figure, Axes]:
    figure = Figure(figsize=(8, height), layout="constrained")
    axes = figure.add_subplot()
    axes.spines[["top", "right"]].set_visible(False)
    return figure, axes


# HTML ----------------------------------------------------------------------------------------------------------------


def _figure(figure: Figure, caption: str) -> str:
    svg = io.StringIO()
    figure.savefig(svg, format="svg", metadata={"Date": None})
    drawing = svg.getvalue()[svg.getvalue().index("<svg") :]
    label = f'<svg role="img" aria-label="{html.escape(caption)}"'
    return f"<figure>{drawing.replace('<svg', label, 1)}<figcaption>{html.escape(caption)}</figcaption></figure>"


def _table(headings: list[str], rows: list[tuple]) -> str:
    if not rows:
        return "<p>None.</p>"
    head = "".join(f"<th scope='col'>{html.escape(heading)}</th>" for heading in headings)
    return f"<table><tr>{head}</tr>{''.join(map(_table_row, rows))}</table>"


def _table_row(row: tuple) -> str:
    cells = (
        f"<td class='number'>{v:g}</td>" if isinstance(v, int | float) else f"<td><pre>{_escaped(v)}</pre></td>"
        for v in row
    )
    return f"<tr>{''.join(cells)}</tr>"


def _escaped(text: str) -> str:
    return html.escape("\n".join(map(printable, text.splitlines())))
