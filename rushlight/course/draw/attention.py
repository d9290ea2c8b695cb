"""Pictures of attention: who looks at whom, the tiles of the scores, two softmaxes that become one, and the residual stream."""

import math
from collections.abc import Sequence
from itertools import product

from matplotlib.axes import Axes

from rushlight.course.draw import paper
from rushlight.course.draw.paper import CHARACTER, FAINT, INK, MARGIN, MARK, MONO, OURS, arrow, cell, rectangle, sheet

SIZE = 8.5  # of a text, in points
CELL = 0.62


def attention_map(
    tokens: Sequence[str], maps: Sequence[tuple[str, Sequence[Sequence[float]]]], row: int | None = None
) -> paper.Picture:
    """The weights of a text's tokens, a panel for each head: its name, and for each query a row of weights.

    A darker cell is a larger weight. The largest weight of a row has a purple edge. Of the row `row`, the three largest weights
    are written below the panel.
    """
    label = max(len(token) for token in tokens) * SIZE * CHARACTER + 0.3
    side, count = CELL, len(tokens)
    wide, tall = label + side * count, label + side * count + 0.8 + (0.9 if row is not None else 0)
    columns = max(1, min(len(maps), int((paper.ROOM - MARGIN) // (wide + 0.8))))
    lines = -(-len(maps) // columns)
    figure, axes = sheet(2 * MARGIN + columns * (wide + 0.8) - 0.8, 2 * MARGIN + lines * (tall + 0.6) - 0.6)
    for number, (name, weights) in enumerate(maps):
        left = MARGIN + number % columns * (wide + 0.8)
        top = MARGIN + number // columns * (tall + 0.6)
        axes.text(left, top + 0.2, name, size=10, weight="bold", **MONO)
        _draw_map(axes, tokens, weights, (left + label, top + 0.7 + label), label)
        if row is not None:
            seen = sorted(((weight, j) for j, weight in enumerate(weights[row]) if weight >= 0.1), reverse=True)[:3]
            text = "  ".join(f"{tokens[j]} {weight:.2f}" for weight, j in seen)
            axes.text(left, top + 1.2 + label + side * count, f"{tokens[row]}: {text}", size=SIZE, **MONO)
    return figure


def _draw_map(
    axes: Axes, tokens: Sequence[str], weights: Sequence[Sequence[float]], corner: tuple, label: float
) -> None:
    left, top = corner
    for i, token in enumerate(tokens):
        axes.text(left - 0.15, top + (i + 0.5) * CELL, token, size=SIZE, ha="right", **MONO)
        paper.write(axes, left + (i + 0.5) * CELL, top - 0.12, token, SIZE, ha="center", va="bottom", rotation=90)
        largest = max(range(len(tokens)), key=lambda j: weights[i][j])  # noqa: B023
        for j, weight in enumerate(weights[i]):
            if j > i and weight == 0:
                rectangle(axes, left + j * CELL, top + i * CELL, CELL, CELL, None)
                continue
            rectangle(axes, left + j * CELL, top + i * CELL, CELL, CELL, str(round(1 - 0.85 * weight, 3)))
        rectangle(axes, left + largest * CELL, top + i * CELL, CELL, CELL, "none", MARK, linewidth=1.6)


def score_tiles(
    queries: int, keys: int, tile: tuple[int, int], is_causal: bool = True, at: tuple[int, int] | None = None
) -> paper.Picture:
    """The scores of all queries and keys in tiles of (queries, keys). Each is a small square. Grey tiles are computed as a
    whole, lighter ones have scores that no query may see, and hatched ones are skipped. The tile `at` is orange, and so are the
    blocks of queries and keys that it needs."""
    unit = min(0.4, (paper.ROOM - 2 * MARGIN - 4) / keys)
    left, top = MARGIN + 2.6, MARGIN + 1.5
    figure, axes = sheet(left + keys * unit + MARGIN + 0.2, top + queries * unit + MARGIN + 0.2)
    for begin in range(0, queries, tile[0]):
        for first in range(0, keys, tile[1]):
            end, last = min(begin + tile[0], queries), min(first + tile[1], keys)
            skipped, whole = is_causal and first >= end, not is_causal or last <= begin + 1
            here = at == (begin // tile[0], first // tile[1])
            for i, j in product(range(begin, end), range(first, last)):
                hidden = is_causal and j > i
                fill = None if skipped else "white" if hidden else OURS if here else "0.75" if whole else "0.88"
                rectangle(axes, left + j * unit, top + i * unit, unit, unit, fill, "#c4c9cd")
            corner, sides = (left + first * unit, top + begin * unit), ((last - first) * unit, (end - begin) * unit)
            rectangle(axes, *corner, *sides, "none", INK, linewidth=1.2)
    used = at or (-1, -1)
    for name, count, size, block, across in (
        ("keys", keys, tile[1], used[1], True),
        ("queries", queries, tile[0], used[0], False),
    ):
        for first in range(0, count, size):
            length, fill = (min(first + size, count) - first) * unit, OURS if first // size == block else "0.9"
            box = (
                (left + first * unit, top - 0.6, length, 0.4)
                if across
                else (left - 0.6, top + first * unit, 0.4, length)
            )
            rectangle(axes, *box, fill, INK)
        where = (left, top - 0.95) if across else (left - 0.8, top + 0.3)
        axes.text(*where, name, size=10, ha="left" if across else "right", **MONO)
    return figure


def online_softmax(blocks: Sequence[Sequence[float]]) -> paper.Picture:
    """The scores of one query in blocks, and what is known after each: the largest score, the sum, and the factor by which the old
    sum was scaled. A bar is exp(score - largest) at this time. Bars of earlier blocks become lower when a larger score comes."""
    count = sum(map(len, blocks))
    unit, tall, left = 0.9, 2.2, MARGIN
    text = left + count * unit + 0.8
    figure, axes = sheet(text + 7.5, 2 * MARGIN + len(blocks) * (tall + 1.3) - 0.2)
    largest, total, seen = -math.inf, 0.0, []
    for step, block in enumerate(blocks):
        base = MARGIN + step * (tall + 1.3) + tall
        now = max(largest, *block)
        factor = math.exp(largest - now)
        new = sum(math.exp(score - now) for score in block)
        sums = f"{total:.3f} · {factor:.3f} + {new:.3f} = {total * factor + new:.3f}" if seen else f"{new:.3f}"
        lines = [f"after block {step + 1}", f"largest  {now:g}", f"total    {sums}"]
        for number, score in enumerate([*seen, *block]):
            height = max(tall * math.exp(score - now), 0.02)
            x = left + number * unit
            rectangle(axes, x + 0.08, base - height, unit - 0.16, height, "0.75" if number < len(seen) else OURS)
            if number < len(seen) and factor < 0.999:  # how high it was
                old = tall * math.exp(score - largest)
                axes.plot([x + 0.08, x + unit - 0.08], [base - old] * 2, color=MARK, linestyle=":", linewidth=1.4)
            axes.text(x + unit / 2, base + 0.35, f"{score:g}", size=SIZE, ha="center", **MONO)
        axes.plot([left, left + count * unit], [base, base], color=FAINT, linewidth=0.8)
        for line, words in enumerate(lines):
            weight = "normal" if line else "bold"
            axes.text(text, base - tall + 0.4 + 0.65 * line, words, size=9, weight=weight, **MONO)
        largest, total, seen = now, total * factor + new, [*seen, *block]
    return figure


def residual_stream(norms: Sequence[tuple[str, float, float]], reading: int = 1) -> paper.Picture:
    """The stream from left to right. Each part, with its name, reads it and adds to it: the length of what it adds, and the length
    of the stream after it. The parts before `reading` only add."""
    step, middle = max(len(name) for name, *_ in norms) * SIZE * CHARACTER + 0.4, MARGIN + 1.2
    start = MARGIN + 0.4
    figure, axes = sheet(start + step * len(norms) + 0.4 + MARGIN, middle + 3.4)
    most = max(length for *_, length in norms)
    before = norms[0][2]
    for number, (name, added, length) in enumerate(norms):
        left = start + number * step
        thick = 0.12 + 0.5 * before / most
        ends = [left if number else left - 0.4, left + step]
        axes.plot(ends, [middle] * 2, color="0.75", linewidth=thick * 14, zorder=1)
        axes.text(left + step / 2, middle - 0.75, f"{length:.1f}", size=9, ha="center", **MONO)
        box = left + 0.1, middle + 1.5, step - 0.2, 0.8
        cell(axes, *box, "0.93", name, size=SIZE)
        if number >= reading:
            arrow(axes, (left + 0.4, middle), (left + 0.4, box[1]))
        arrow(axes, (left + step - 0.4, box[1]), (left + step - 0.4, middle + 0.05), color=OURS)
        axes.text(left + step / 2, box[1] + 1.2, f"+ {added:.1f}", size=9, ha="center", **{**MONO, "color": INK})
        before = length
    return figure
