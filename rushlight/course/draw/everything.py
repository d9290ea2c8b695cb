"""Pictures of the finished model: what it would say after each block, the shares of its parts, and what became slow."""

from collections.abc import Sequence

import numpy as np

from rushlight.course.draw import paper
from rushlight.course.draw.paper import INCHES, INK, LETTER, MARGIN, MARK, MONO, ROOM, Picture, cell, charts, sheet

GREYS = ("0.45", "0.92", "0.65", "0.8", "0.3")


def lens(words: Sequence[str], rows: Sequence[tuple[str, Sequence[tuple[str, float]]]]) -> Picture:
    """The likeliest next token after each block. The darker a box is, the more probable is its token.

    Args:
        words: the input, a token for each column.
        rows: for each block its name, and for each column a token and its probability. The first one is drawn lowest.
    """
    left = MARGIN + max(len(name) for name, _ in rows) * LETTER * 8 / 7.5 + 0.3
    columns = [[word, *(cells[j][0] for _, cells in rows)] for j, word in enumerate(words)]
    widths = np.array([max(map(len, column)) * LETTER + 0.45 for column in columns])
    widths *= min(1, (ROOM - left - MARGIN) / widths.sum())
    edges = left + np.cumsum(widths) - widths
    figure, axes = sheet(left + widths.sum() + MARGIN, 1.1 * len(rows) + 1.9)
    for i, (name, cells) in enumerate(reversed(rows)):
        top = 0.4 + 1.1 * i
        axes.text(MARGIN, top + 0.45, name, size=8, **MONO)
        for x, wide, (token, probability) in zip(edges, widths, cells):
            shade = 1 - 0.75 * probability
            shade = min(shade, 0.46) if shade < 0.51 else max(shade, 0.56)  # no text can be read on a grey between
            cell(axes, x, top, wide - 0.12, 0.9, f"{shade:.2f}", token, size=7.5)
    for x, wide, word in zip(edges, widths, words):
        axes.text(x + (wide - 0.12) / 2, 1.1 * len(rows) + 0.75, word, size=7.5, ha="center", weight="bold", **MONO)
    axes.text(MARGIN, 1.1 * len(rows) + 0.75, "input", size=8, weight="bold", **MONO)
    return figure


def part_shares(rows: Sequence[tuple[str, Sequence[tuple[str, float]]]]) -> Picture:
    """For each row a bar of parts, each as wide as its share. `rows`: a name, and its parts with their sizes."""
    figure, [[axes]] = charts(INCHES, 0.9 + 0.5 * len(rows))
    names = list(dict.fromkeys(name for _, parts in rows for name, _ in parts))
    for i, (_, parts) in enumerate(rows):
        total, start = sum(size for _, size in parts), 0.0
        for name, size in parts:
            fill = GREYS[names.index(name) % len(GREYS)]
            share = 100 * size / total
            label = None if name in axes.get_legend_handles_labels()[1] else name
            axes.barh(i, share, 0.7, start, color=fill, edgecolor=INK, linewidth=0.6, label=label)
            if share > 6:
                ink = "white" if float(fill) < 0.6 else INK
                axes.text(start + share / 2, i, f"{share:.0f}", size=8.5, ha="center", va="center", color=ink)
            start += share
    axes.set(xlim=(0, 100), xlabel="percent")
    axes.set_yticks(range(len(rows)), [name for name, _ in rows])
    axes.invert_yaxis()
    axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=len(names), frameon=False, fontsize=10.8)
    return figure


def slower(panels: Sequence[tuple[str, Sequence[tuple[str, float, int]]]], unit: str = "ms") -> Picture:
    """For each panel bars of the paths that take longer, with how many more calls they have. The longest is marked."""
    figure, grid = paper.panels([title for title, _ in panels], 2, paper.INCHES / 2, 1.9)
    for axes, (_, rows) in zip(grid.flat, panels):
        for i, (_, time, calls) in enumerate(rows):
            axes.barh(i, time, 0.7, color=MARK if i == 0 else "0.75")
            axes.text(time, i, f"  {calls:+d} calls" if calls else "", size=8.5, va="center", color=INK)
        paths = [path if len(path) < 27 else "…" + path[-25:] for path, *_ in rows]
        axes.set_yticks(range(len(rows)), paths, fontsize=9)
        axes.set_xlim(0, 1.35 * max(time for _, time, _ in rows))
        axes.set_xlabel(unit, fontsize=10.8)
        axes.invert_yaxis()
    return figure
