"""Pictures of distributed training: timelines of ranks, the steps of a ring, shards, pipelines, and costs.

Greys have the same meaning in all pictures: light for forward, or a rank's own data; darker for backward, or sums over more
ranks; purple for data that is sent; hatched for nothing, a bubble or padding. Labels say the same as the greys.
"""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes

from rushlight.course.draw import paper
from rushlight.course.draw.paper import CHARACTER, INK, MARGIN, MONO, Picture, arrow, charts, rectangle, sheet

FORWARD, BACKWARD, SENT = "0.88", "0.62", paper.MARK


def rank_timeline(ranks: Sequence[Sequence[tuple[str, str, float, float]]], x: str = "ms") -> Picture:
    """The work of ranks over time: for each rank a row of its computations, and below it a row of its communication.

    Events that overlap within a row are on several lines. A name is written if there is room for it.

    Args:
        ranks: for each rank its events: a kind ("send" for communication; "forward", "backward" or another word for
            computation), a name, the start, and the end.
        x: the unit of the times.
    """
    rows, top = [], 0.0
    for rank, events in enumerate(ranks):
        for name, sent in (f"rank {rank}", False), ("sends", True):
            lines = _assign_lines([event for event in events if (event[0] == "send") == sent])
            rows.append((name, lines, sent, top))
            top += max(len(lines), 1) * 0.8 + (0.45 if sent else 0.05)
    ends = [end for events in ranks for *_, end in events]
    begin, last = min(start for events in ranks for _, _, start, _ in events), max(ends)
    figure, [[axes]] = charts(9, 0.6 + 0.3 * top)
    axes.set(xlim=(begin, last + (last - begin) / 200), ylim=(top - 0.2, -0.2), xlabel=x)  # the last box has its edge
    for _, lines, _, at in rows:
        for level, line in enumerate(lines):
            for kind, text, start, end in line:
                fill = {"send": SENT, "forward": FORWARD, "backward": BACKWARD}.get(kind, "white")
                paper.bar(axes, (start, at + 0.8 * level, end - start, 0.72), fill, text, 8 / (last - begin))
    ticks = [(at + 0.36, name) for name, lines, sent, at in rows if lines or not sent]
    axes.set_yticks(*zip(*ticks), size=8.5)
    paper.hide_spines(axes, "bottom")
    return figure


def _assign_lines(events: Sequence[tuple]) -> list[list[tuple]]:
    """The events on as few lines as possible."""
    lines: list[list[tuple]] = []
    for event in sorted(events, key=lambda event: event[2]):
        line = next((line for line in lines if line[-1][3] <= event[2]), None)
        if line is None:
            lines.append(line := [])
        line.append(event)
    return lines


def ring_steps(ranks: int) -> Picture:
    """An all-reduce in a ring, step by step: the reduce-scatter above, the all-gather below. In each panel a row is a rank's
    tensor, cut into as many parts as there are ranks. The number in a part is the number of ranks that it sums, and the grey
    says the same. In the all-gather a part that has not arrived is hatched. A part that a step sends has a thick frame, and
    an arrow to the next rank; from the last rank the arrow leaves below and enters above."""
    size, head = 0.8, 1.5
    gap = max(0.9, len("reduce-scatter, step 1") * 7.5 * CHARACTER + 0.4 - ranks * size)  # titles are side by side
    steps = ranks - 1
    wide, tall = ranks * size + gap, ranks * size + head + 0.5
    label = 6 * 8 * CHARACTER + 0.3
    figure, axes = sheet(MARGIN + label + wide * ranks, MARGIN + 2 * tall)
    held = [[1] * ranks for _ in range(ranks)]
    for half, name in enumerate(("reduce-scatter", "all-gather")):
        for step in range(steps + 1):
            left, top = MARGIN + label + wide * step, MARGIN + tall * half
            title = f"{name}, step {step + 1}" if step < steps else "reduced" if half == 0 else "gathered"
            axes.text(left, top + 0.3, title, size=7.5, weight="bold", **MONO)
            sent = [(rank - step - (1 - half)) % ranks if step < steps else None for rank in range(ranks)]
            for rank in range(ranks):
                y = top + head - 0.5 + size * rank
                if step == 0:
                    axes.text(MARGIN, y + size / 2, f"rank {rank}", size=8, **MONO)
                for part in range(ranks):
                    count = held[rank][part]
                    fill = f"{1 - 0.6 * (count - 1) / max(ranks - 1, 1):.2f}" if count else None
                    paper.cell(axes, left + size * part, y, size, size, fill, str(count or ""))
            before = [list(row) for row in held]
            for rank, part in enumerate(sent):
                if part is not None:
                    _draw_message(axes, left + size * part, top + head - 0.5, size, rank, ranks)
                    other = (rank + 1) % ranks
                    held[other][part] = before[rank][part] + (before[other][part] if half == 0 else 0)
        held = [[ranks if part == rank else 0 for part in range(ranks)] for rank in range(ranks)]
    return figure


def _draw_message(axes: Axes, left: float, top: float, size: float, rank: int, ranks: int) -> None:
    """The frame around a part that a rank sends, and its arrow to the next rank."""
    y = top + size * rank
    rectangle(axes, left, y, size, size, "none", INK, linewidth=2.2, zorder=3)
    x = left + size * 0.82
    arrows = [(y + size * 0.8, y + size * 1.35)]
    if rank == ranks - 1:
        arrows = [(y + size * 0.8, y + size + 0.35), (top - 0.35, top + size * 0.35)]
    for start, end in arrows:
        arrow(axes, (x, start), (x, end), zorder=4, arrowstyle="-|>", linewidth=1.2, mutation_scale=9)


def shards(parameters: Mapping[str, Sequence[int]], ranks: int, dim: int = 0) -> Picture:
    """How parameters are cut over ranks, in parts of equal size, rounded up: the rows of each rank; padding is hatched.

    Args:
        parameters: their sizes, by name.
        ranks: the number of ranks.
        dim: the dimension that is cut.
    """
    label = max(len(f"{name} {tuple(sizes)}") for name, sizes in parameters.items()) * 8 * CHARACTER + 0.6
    wide, tall, head = 3.6, 0.8, 0.9
    figure, axes = sheet(MARGIN + label + ranks * (wide + 0.25) + MARGIN, MARGIN + head + len(parameters) * 1.15)
    for rank in range(ranks):
        axes.text(MARGIN + label + rank * (wide + 0.25), MARGIN + 0.3, f"rank {rank}", size=8.5, weight="bold", **MONO)
    for row, (name, sizes) in enumerate(parameters.items()):
        top = MARGIN + head + 1.15 * row
        axes.text(MARGIN, top + tall / 2, f"{name} {tuple(sizes)}", size=8, **MONO)
        chunk_size = -(-sizes[dim] // ranks)
        for rank in range(ranks):
            left = MARGIN + label + rank * (wide + 0.25)
            first, end = min(rank * chunk_size, sizes[dim]), min((rank + 1) * chunk_size, sizes[dim])
            filled = wide * (end - first) / chunk_size if chunk_size else 0
            rectangle(axes, left, top, wide, tall, None)
            if filled:
                rectangle(axes, left, top, filled, tall, "0.82")
            text = f"{first}:{end}" if end > first else "nothing"
            paper.write(axes, left + 0.2, top + tall / 2, text, 8, None if filled < wide * 0.6 else "0.82")
    return figure


Panel = tuple[str, Sequence[Sequence[tuple[str, int]]], Sequence[Sequence[float]]]


def pipeline(panels: Sequence[Panel], forward: Sequence[float], backward: Sequence[float]) -> Picture:
    """The work of the stages of a pipeline over time, one panel below another, on one scale. The bubble is hatched.

    Args:
        panels: for each a title, the stages' orders, and the times at which their actions start (`start_times`).
        forward: the duration of a forward, for each stage.
        backward: the duration of a backward.
    """
    drawn = []
    for title, orders, starts in panels:
        boxes = [
            (stage, kind, i, start, (forward if kind == "F" else backward)[stage])
            for stage, (order, times) in enumerate(zip(orders, starts))
            for (kind, i), start in zip(order, times)
        ]
        drawn.append((title, len(orders), boxes, max(start + time for *_, start, time in boxes)))
    last = max(end for *_, end in drawn)
    heights = [0.75 + 0.36 * stages for _, stages, _, _ in drawn]
    figure, grid = charts(9, sum(heights), len(drawn), height_ratios=heights)
    for axes, (title, stages, boxes, end) in zip(grid[:, 0], drawn):
        for stage in range(stages):
            paper.bar(axes, (0, stage, end, 0.86), None)
        for stage, kind, i, start, time in boxes:
            paper.bar(axes, (start, stage, time, 0.86), FORWARD if kind == "F" else BACKWARD, f"{kind}{i}", 8 / last)
        axes.set(xlim=(0, 1.003 * last), ylim=(stages, -0.1))
        paper.name_rows(axes, [f"stage {i}" for i in range(stages)], 8.5, 0.43)
        axes.set_title(title, size=9, loc="left")
    grid[-1, 0].set_xlabel("time")
    return figure


MARKERS = (("o", "white"), ("s", "0.55"), ("^", INK), ("D", "0.8"))


def cost(
    measured: Mapping[str, Sequence[tuple[float, float]]],
    model: Mapping[str, Callable[[float], float]],
    until: float | None = None,
    x: str = "bytes",
    y: str = "seconds",
) -> Picture:
    """Measurements as points, and a model that was fitted to them, as a line; both axes are logarithmic.

    The line is solid where there are measurements. Beyond them it is a projection, which is dashed and labelled so.

    Args:
        measured: (x, y) by name; a name that has a model may have no measurements.
        model: y of x, for each name.
        until: the end of the projection, in x.
        x, y: the labels of the axes.
    """
    figure, [[axes]] = charts(7.6, 3.6)
    axes.set(xscale="log", yscale="log", xlabel=x, ylabel=y)
    known = [at for points in measured.values() for at, _ in points]
    first, last = min(known), max(known)
    for (name, predicted), (marker, fill) in zip(model.items(), MARKERS * len(model)):
        points = [*measured.get(name, ())]
        start, end = first, until or last
        if points:
            inside = np.geomspace(min(at for at, _ in points), max(at for at, _ in points), 60)
            axes.plot(inside, [predicted(at) for at in inside], color=INK, linewidth=1.2)
            look = {"s": 30, "facecolor": fill, "edgecolor": INK, "linewidth": 0.9, "zorder": 3}
            axes.scatter(*zip(*points), marker=marker, label=name, **look)
            start = inside[-1]
        if end > start:
            beyond = np.geomspace(start, end, 60)
            axes.plot(beyond, [predicted(at) for at in beyond], color=INK, linewidth=1.2, linestyle=(0, (4, 3)))
            style = {"textcoords": "offset points", "va": "bottom", "size": 8}
            axes.annotate("" if points else name, (start, predicted(start)), (0, 4), **style)
    if until is not None and until > last:
        axes.axvspan(last, until, color="0.95", linewidth=0, zorder=0)
        style = {"transform": axes.get_xaxis_transform(), "size": 8.5, "style": "italic", "color": INK}
        axes.text((last * until) ** 0.5, 0.04, "projected", ha="center", **style)
        axes.text((first * last) ** 0.5, 0.04, "measured", ha="center", **style)
    axes.margins(y=0.14)  # room for the labels below the lines
    axes.legend(frameon=False, fontsize=8.5, loc="upper left")
    return figure
