"""Pictures of quantised numbers: rounding as a staircase, histograms with ranges, sizes and scores of a model."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure

from rushlight.course.draw.paper import FAINT, INK, MARK, OURS, TORCH, charts

Range = tuple[str, float, float]


def histogram(counts: Sequence[float], low: float, high: float, ranges: Sequence[Range]) -> Figure:
    """A histogram of equal bins between two ends, its counts on a logarithmic axis, and below it a line for each range: its
    name, its least and its greatest value."""
    figure, grid = charts(8, 3.2 + 0.25 * len(ranges), 2, sharex=True, height_ratios=(3, 0.35 * len(ranges) + 0.2))
    upper, lower = grid[:, 0]
    edges = np.linspace(low, high, len(counts) + 1)
    upper.stairs(counts, edges, fill=True, color="0.75")
    upper.set(yscale="log", ylabel="values", ylim=(0.7, None))
    lower.set(ylim=(len(ranges) - 0.4, -0.6), xlabel="value")
    lower.set_yticks(range(len(ranges)), [name for name, *_ in ranges])
    for row, (_, first, last) in enumerate(ranges):
        lower.plot([first, last], [row, row], color=MARK, linewidth=2, marker="|", markersize=9, solid_capstyle="butt")
    return figure


def sizes_and_scores(rows: Sequence[tuple[str, float, float]]) -> Figure:
    """For each model a line: its name, its size in bytes as a bar, and its score between 0 and 1 as a dot."""
    figure, grid = charts(8, 0.9 + 0.3 * len(rows), 1, 2, sharey=True)
    left, right = grid[0]
    names, sizes, scores = zip(*rows)
    at = range(len(rows))
    left.barh(at, [size / 1000 for size in sizes], color="0.75", height=0.6)
    for row, size in enumerate(sizes):
        left.text(size / 1000 + 2, row, f"{size / 1000:.0f}", va="center", size=10, color=INK)
    left.set(xlabel="kilobytes", xlim=(0, 1.15 * max(sizes) / 1000))
    left.set_yticks(at, names)
    left.invert_yaxis()
    right.hlines(at, 0, scores, color="0.85", linewidth=1)
    right.plot(scores, at, "o", color=OURS, markersize=7)
    for row, score in enumerate(scores):
        right.text(score + 0.03, row, f"{score:.0%}", va="center", size=10, color=INK)
    right.set(xlabel="right answers", xlim=(0, 1.2))
    return figure


def steps(x: Sequence[float], lines: Sequence[tuple[str, Sequence[float]]], marks: Sequence[float] = ()) -> Figure:
    """Functions of x as staircases, and dotted vertical lines at some x."""
    figure, grid = charts(7, 3)
    axes = grid[0, 0]
    for (name, y), (color, width, style) in zip(lines, ((FAINT, 1, "--"), (OURS, 2.4, "-"), (TORCH, 1.4, (0, (4, 2))))):
        axes.plot(x, y, color=color, linewidth=width, linestyle=style, label=name)
    for mark in marks:
        axes.axvline(mark, color=MARK, linewidth=0.8, linestyle=":")
    axes.set_xlabel("x")
    axes.legend(frameon=False, fontsize=10)
    return figure
