"""Pictures of modules and of training, for rushlight and torch.

A module is drawn as nested boxes, because a module holds parameters, buffers and other modules. The other pictures are
curves: losses, learning rates, paths through a landscape, activations from layer to layer, and timelines.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib.ticker import MaxNLocator

from rushlight.course.draw import paper
from rushlight.course.draw.paper import CHARACTER, FAINT, INK, MARGIN, MARK, MONO, cell, charts, hide_spines, sheet

# Styles of the lines in one panel, without colour: the first is broad and pale, so the others are visible on top of it.
STYLES = (
    {"color": "0.7", "linewidth": 4},
    {"color": INK, "linewidth": 1.2},
    {"color": INK, "linewidth": 1.2, "linestyle": (0, (5, 2))},
    {"color": INK, "linewidth": 1.2, "linestyle": (0, (1, 1.5))},
)


# Modules -------------------------------------------------------------------------------------------------------------


# in cells: from line to line, below the content of a module, and from the edge of a box to the boxes in it
ROW, PAD, STEP = 0.74, 0.2, 0.7


def module_tree(module: Any, name: str = "model") -> paper.Picture:
    """A module as nested boxes, and on the right the names of its parameters and buffers. A parameter is grey, a buffer
    white; a buffer with a dashed edge is not saved. A tensor that is held twice has its first name."""
    boxes: list[_Box] = []
    height = _append_boxes(boxes, module, name, "", 0, MARGIN)
    inner = max(box.depth * STEP * 2 + len(box.text) * 8 * CHARACTER for box in boxes) + 0.6
    names = max(len(box.name) for box in boxes) * 8 * CHARACTER
    figure, axes = sheet(MARGIN + inner + 0.7 + names + 1.2, height + MARGIN)
    first: dict[int, str] = {}
    for box in boxes:
        left, width = MARGIN + box.depth * STEP, inner - 2 * box.depth * STEP
        fill, line = "0.85" if box.kind == "parameter" else "white", "--" if box.kind == "lost" else "-"
        edge = INK if box.kind == "module" else FAINT
        paper.rectangle(axes, left, box.top, width, box.bottom - box.top, fill, edge, linestyle=line)
        weight = "bold" if box.kind == "module" else "normal"
        middle = box.top + ROW / 2 - 0.05
        axes.text(left + 0.2, middle, box.text, size=8, weight=weight, **MONO)
        if box.kind == "module":
            continue
        again = first.setdefault(id(box.tensor), box.name) != box.name
        label = f"is {first[id(box.tensor)]}" if again else box.name
        axes.text(MARGIN + inner + 0.7, middle, label, size=8, **MONO | ({"color": FAINT} if again else {}))
    return figure


class _Box(NamedTuple):
    """A box: a module, a parameter, a buffer, or a buffer that is lost when the module is saved."""

    kind: str
    text: str
    name: str
    depth: int
    top: float
    bottom: float
    tensor: Any = None


def _append_boxes(boxes: list[_Box], module: Any, name: str, prefix: str, depth: int, top: float) -> float:
    """Append the box of a module and then the boxes in it. Return the top of the next box."""
    index, y = len(boxes), top + ROW
    for key, tensor in (*module._parameters.items(), *module._buffers.items()):
        if tensor is None:
            continue
        lost = "lost" if key in module._non_persistent_buffers_set else "buffer"
        kind = "parameter" if key in module._parameters else lost
        boxes.append(_Box(kind, f"{key} {tuple(tensor.shape)}", prefix + key, depth + 1, y, y + ROW - 0.1, tensor))
        y += ROW
    for key, child in module._modules.items():
        if child is not None:
            y = _append_boxes(boxes, child, key, f"{prefix}{key}.", depth + 1, y)
    bottom = y + PAD - 0.1 if y > top + ROW else y - 0.1
    boxes.insert(index, _Box("module", f"{name}: {type(module).__name__}", "", depth, top, bottom))
    return bottom + 0.1


# Curves --------------------------------------------------------------------------------------------------------------


def lockstep(curves: Sequence[tuple[str, Sequence[float]]], y: str = "loss") -> paper.Picture:
    """Two curves in one panel, and below their difference, on a logarithmic axis, with a point where they are not equal."""
    (first, ours), (second, theirs) = curves
    figure, grid = charts(7, 4.2, 2, sharex=True, height_ratios=(2.2, 1))
    upper, lower = grid[:, 0]
    for (name, values), style in zip(curves, STYLES):
        upper.plot(range(len(values)), values, label=name, **style | {"color": paper.colour_of(name, style["color"])})
    upper.set(ylabel=y, ylim=(0, None))
    upper.legend(frameon=False)
    apart = np.abs(np.subtract(ours, theirs, dtype=np.float64))
    steps = np.flatnonzero(apart)
    lower.plot(steps, apart[steps], "o", color=MARK, markersize=2)
    lower.set(yscale="log", xlabel="step", ylabel="difference")
    lower.yaxis.set_major_formatter("{x:g}")  # the exponents of 10^-7 would be too small to read
    lower.minorticks_off()
    if not steps.size:
        lower.set_ylim(1e-9, 1e-5)
        lower.text(0.5, 0.5, "equal at every step", transform=lower.transAxes, ha="center", color=INK)
    return figure


Line = tuple[str, Sequence[float], Sequence[float]]


def panels(
    drawn: Sequence[tuple[str, Sequence[Line]]], x: str, y: str, columns: int = 3, log: bool = False
) -> paper.Picture:
    """Panels on the same axes, each with a title and up to four lines: the name of the line, its x and its y. `log`: whether
    the vertical axis is logarithmic."""
    columns = min(columns, len(drawn))
    room = (6.4, 3.3) if len(drawn) == 1 else (2.9 + 0.4 / columns, 2.2)  # also for the names of the axes
    figure, grid = paper.panels([title for title, _ in drawn], columns, *room, sharex=True, sharey=True)
    for axes, (_, lines) in zip(grid.flat, drawn):
        if all(float(value).is_integer() for _, at, _ in lines for value in at):
            axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        for (name, at, values), style in zip(lines, STYLES if len(lines) > 1 else STYLES[1:]):
            axes.plot(at, values, label=name, **style)
        if log:
            axes.set_yscale("log")
        if any(name for name, *_ in lines):
            axes.legend(frameon=False, fontsize=8)
    for row in grid:
        row[0].set_ylabel(y)
    for column in range(columns):
        last = max(row for row in range(len(grid)) if row * columns + column < len(drawn))
        grid[last, column].set_xlabel(x)
        grid[last, column].tick_params(labelbottom=True)
    return figure


Landscape = Callable[[np.ndarray, np.ndarray], np.ndarray]


def paths(walked: Sequence[tuple[str, Landscape, Sequence[Sequence[float]]]], bounds: Sequence[float]) -> paper.Picture:
    """Paths through two-dimensional landscapes, one panel each, with contour lines, from a circle to a cross. `walked`: for
    each a name, the height at x and y (for arrays), and the points of the path. `bounds`: the smallest and largest x, the
    smallest and largest y."""
    left, right, bottom, top = bounds
    x, y = np.meshgrid(np.linspace(left, right, 200), np.linspace(bottom, top, 200))
    names = [name for name, *_ in walked]
    figure, grid = paper.panels(names, min(len(walked), 3), 3.0, 2.2, sharex=True, sharey=True)
    for axes, (_, landscape, points) in zip(grid.flat, walked):
        heights = landscape(x, y)
        axes.contour(x, y, heights, heights.max() * np.geomspace(1e-3, 1, 10), colors="0.8", linewidths=0.7)
        path = np.asarray(points, dtype=np.float64)
        axes.plot(path[:, 0], path[:, 1], color=INK, linewidth=0.9, marker="o", markersize=2.2)
        axes.plot(*path[0], marker="o", markersize=6, markerfacecolor="white", color=INK)
        axes.plot(*path[-1], marker="x", markersize=8, markeredgewidth=2, color=INK)
        axes.set(xlim=(left, right), ylim=(bottom, top))
    return figure


def spreads(networks: Sequence[tuple[str, Sequence[np.ndarray]]], low: float, high: float, y: str) -> paper.Picture:
    """The distribution of numbers from layer to layer: for each network a panel, for each layer a column of grey, darker
    where more of its numbers are. Below each column is the standard deviation."""
    figure, grid = paper.panels([name for name, _ in networks], len(networks), 3.2, 2.9, sharey=True)
    edges = np.linspace(low, high, 42)
    for axes, (_, layers) in zip(grid[0], networks):
        axes.spines[:].set_visible(True)
        counts = np.stack([np.histogram(np.clip(layer, low, high), edges)[0] for layer in layers], 1).astype(float)
        shade = (counts / counts.max(0)) ** 0.5  # the root makes small counts visible
        extent = (0.5, len(layers) + 0.5, low, high)
        axes.imshow(shade, cmap="Greys", aspect="auto", origin="lower", extent=extent, vmin=0)
        marks = range(1, len(layers) + 1, max(1, len(layers) // 3))
        axes.set_xticks(marks, [f"{layer}\n{np.std(layers[layer - 1]):.2g}" for layer in marks], size=8)
        axes.set_xlabel("layer, and below it the deviation", size=8)
    grid[0, 0].set_ylabel(y)
    return figure


# Timelines and amounts -----------------------------------------------------------------------------------------------


def timeline(rows: Sequence[tuple[str, Sequence[tuple[str, float, float]]]], x: str = "seconds") -> paper.Picture:
    """For each row a name and its bars: a text, start, and end."""
    figure, [[axes]] = charts(8.4, 0.8 + 0.5 * len(rows))
    for row, (_, bars) in enumerate(rows):
        for i, (text, begin, end) in enumerate(bars):
            style = {"color": "0.88" if i % 2 else "0.72", "edgecolor": INK, "linewidth": 0.7}
            axes.barh(row, end - begin, left=begin, height=0.66, **style)
            axes.text((begin + end) / 2, row, text, ha="center", va="center", size=8, clip_on=True)
    paper.name_rows(axes, [name for name, _ in rows], 10.8, 0)
    axes.set(xlabel=x, xlim=(0, None))
    axes.invert_yaxis()
    return figure


def stacks(rows: Sequence[tuple[str, Sequence[float]]], parts: Sequence[str], x: str) -> paper.Picture:
    """Stacked amounts, one row for each state: its name, and the amount of each of the parts."""
    fills = ({"color": "0.35"}, {"color": "0.65"}, {"color": "0.88"}, {"color": "white", "hatch": "////"})
    figure, [[axes]] = charts(8, 1.1 + 0.36 * len(rows))
    begun = np.zeros(len(rows))
    for i, (part, fill) in enumerate(zip(parts, fills)):
        amounts = np.array([values[i] for _, values in rows], dtype=np.float64)
        axes.barh(range(len(rows)), amounts, left=begun, height=0.66, edgecolor=INK, linewidth=0.7, label=part, **fill)
        begun += amounts
    axes.set_yticks(range(len(rows)), [name for name, _ in rows], family="monospace", size=9)
    axes.set_xlabel(x)
    axes.invert_yaxis()
    hide_spines(axes, "bottom")
    axes.legend(frameon=False, ncols=len(parts), loc="lower left", bbox_to_anchor=(0, 1), fontsize=9)
    return figure


# The path of a step ---------------------------------------------------------------------------------------------------


YOURS = "#1a7f37"
"""The student's pieces: the green of a check that passes."""


def path(
    stages: Sequence[tuple[str, Sequence[tuple[str, str]]]], yours: Sequence[str], broken: Sequence[str] = ()
) -> paper.Picture:
    """The pieces that a training step runs, in rows by stage: those that are `yours` are green, the others grey, and a `broken` one
    is purple. A stage has pairs: the exercise, `module.function`, and the number of its lab. A piece is in the row of the first
    stage that calls it; the number on the right counts those of the rows above that the stage calls again."""
    label, wide, tall, gap = 2.6, paper.ROOM - 2 * MARGIN - 2.6 - 1.7, 0.62, 0.14
    boxes, rows, seen, top = [], [], set(), MARGIN
    for stage, pieces in stages:
        left, start = 0.0, top
        for piece, lab in pieces:
            if piece in seen:
                continue
            text = f"{lab} {piece.rpartition('.')[2]}"
            width = len(text) * 7.5 * CHARACTER + 0.3
            if left + width > wide:
                left, top = 0.0, top + tall + gap
            boxes.append((left, top, width, text, piece))
            left += width + gap
        again = sum(piece in seen for piece, _ in pieces)
        seen |= {piece for piece, _ in pieces}
        rows.append((stage, start, again))
        top += tall + 0.45
    figure, axes = sheet(paper.ROOM, top + 0.75)
    for stage, start, again in rows:
        axes.text(MARGIN, start + tall / 2, stage, size=9, weight="bold", **MONO)
        if again:
            paper.write(axes, paper.ROOM - MARGIN, start + tall / 2, f"+ {again}", 8, color=FAINT, ha="right")
    for left, high, width, text, piece in boxes:
        fill = MARK if piece in broken else YOURS if piece in yours else "0.88"
        cell(axes, MARGIN + label + left, high, width, tall, fill, text, size=7.5)
    left = MARGIN + label
    for fill, text in ((YOURS, "yours"), ("0.88", "the reference's"), (MARK, "breaks the step"))[: 3 if broken else 2]:
        cell(axes, left, top, 0.5, 0.5, fill, "")
        axes.text(left + 0.7, top + 0.25, text, size=8, **MONO)
        left += 1.5 + len(text) * 8 * CHARACTER
    return figure
