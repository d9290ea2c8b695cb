"""Pictures: of strided tensors, of loops over them, and, at the end, of the dispatcher. Those of graphs are in `draw_graph.py`.

A strided tensor is drawn as the grid that a program sees, above the memory that is there. A cell shows its element and,
small, the place of the element in the storage. The shade is that of the place, from light to dark along the memory, so
that a transposed grid looks transposed, and a place that is seen twice looks the same twice. Arrows carry the strides: so
far does one step move in the row below. Places that no view reaches are hatched.
"""

from __future__ import annotations

import io
import itertools
import math
import operator
import re
from collections.abc import Mapping, Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.ticker import LogLocator

from rushlight.dispatch import (
    BACKENDS,
    FALLTHROUGH,
    FUNCTIONALITIES,
    MISSING,
    RUNTIME_KEYS,
    DispatchKey,
    Operator,
    bits,
    highest_priority_key,
)
from rushlight.strided import Tensor

# Lengths are in cells, and y grows downwards.
CELL = 0.46  # inches
PER_LINE = 24  # places of the storage in one line
MARGIN, HEADER, GAP, ARROW = 0.4, 2.4, 1.1, 0.9
LIGHT, DARK = (0.95, 0.95, 0.91), (0.45, 0.63, 0.71)  # dark text is legible on all shades between these
INK, FAINT = "#22282c", "#6b757c"
MONO = {"family": "monospace", "va": "center", "color": INK}
CHARACTER = 0.0086 / CELL  # width of a monospace character, per point of its size


class Picture(Figure):
    """A figure that notebooks show, whether pyplot was imported or not."""

    def _repr_png_(self) -> bytes:
        png = io.BytesIO()
        self.savefig(png, format="png", dpi=144)
        return png.getvalue()


def strides(x: Tensor, name: str = "x") -> Figure:
    """A tensor of up to three dimensions, and the storage below it."""
    return compare([(name, x)])


def compare(views: Sequence[tuple[str, Tensor]]) -> Figure:
    """Several views of one storage, each with its name, side by side above that storage."""
    tensors = [x for _, x in views]
    first = tensors[0]
    if any(x.untyped_storage() is not first.untyped_storage() or x.dtype is not first.dtype for x in tensors):
        raise ValueError("draw.compare shows views of one storage and dtype; draw the others by themselves")
    if any(x.dim() > 3 for x in tensors):
        raise ValueError("draw shows tensors of up to 3 dimensions; select() one index of the others")
    total = first.untyped_storage().nbytes() // first.itemsize
    sizes = [_panel_size(name, x) for name, x in views]
    storage_top = MARGIN + max(height for _, height in sizes) + GAP
    bars = [(name, set(_places(x).values())) for name, x in views] if len(views) > 1 else []
    label_width = max((len(name) for name, _ in bars), default=0) * 8 * CHARACTER + 0.3 if bars else 0
    line_height = 1.7 + 0.35 * len(bars)
    width = 2 * MARGIN + max(sum(w for w, _ in sizes) + GAP * (len(sizes) - 1), label_width + min(total, PER_LINE))
    height = storage_top + 0.7 + line_height * math.ceil(total / PER_LINE) + MARGIN / 2

    figure = Picture(figsize=(width * CELL, height * CELL), facecolor="white")
    axes = figure.add_axes((0, 0, 1, 1), xlim=(0, width), ylim=(height, 0))
    axes.set_axis_off()
    left = MARGIN
    for (name, x), (panel_width, _) in zip(views, sizes):
        _draw_panel(axes, name, x, left, MARGIN, total)
        left += panel_width + GAP
    _draw_storage(axes, first, set().union(*(_places(x).values() for x in tensors)), bars, label_width, storage_top)
    return figure


def _places(x: Tensor) -> dict[tuple[int, ...], int]:
    """The place in the storage, in elements, of every index."""
    indices = itertools.product(*map(range, x.shape))
    return {index: x.storage_offset() + sum(map(operator.mul, index, x.stride())) for index in indices}


def _grid(x: Tensor) -> tuple[int, int, int]:
    """Slices, rows and columns of the picture."""
    slices, rows, columns = (1,) * (3 - x.dim()) + tuple(x.shape)
    return slices, rows, columns


def _facts(x: Tensor) -> str:
    return f"sizes {tuple(x.shape)}  strides {x.stride()}  offset {x.storage_offset()}"


def _panel_size(name: str, x: Tensor) -> tuple[float, float]:
    slices, rows, columns = _grid(x)
    text = max(len(name) * 11, len(_facts(x)) * 8) * CHARACTER
    return max(ARROW + slices * columns + (slices - 1) * ARROW, text), HEADER + rows


def _draw_panel(axes: Axes, name: str, x: Tensor, left: float, top: float, total: int) -> None:
    axes.text(left, top + 0.3, name, size=11, weight="bold", **MONO)
    axes.text(left, top + 0.95, _facts(x), size=8, **MONO)
    slices, rows, columns = _grid(x)
    left, top = left + ARROW, top + HEADER
    steps = (0,) * (3 - x.dim()) + x.stride()
    if columns > 1:  # an arrow is one step long, from the middle of a cell to the middle of the next
        _arrow(axes, (left + 0.5, top - 0.25), (left + 1.5, top - 0.25), f"+{steps[2]}", (0, -0.35))
    if rows > 1:
        _arrow(axes, (left - 0.25, top + 0.5), (left - 0.25, top + 1.5), f"+{steps[1]}", (-0.4, 0))
    for index, place in _places(x).items():
        i, row, column = (0,) * (3 - x.dim()) + index
        corner = left + i * (columns + ARROW) + column, top + row
        _draw_cell(axes, corner, _element(x, place), _shade(place, total), place)
    for i in range(1, slices):
        edge = left + i * (columns + ARROW)
        _arrow(
            axes,
            (edge - ARROW + 0.1, top + rows / 2),
            (edge - 0.1, top + rows / 2),
            f"+{steps[0]}",
            (0, -0.3),
        )


def _draw_storage(axes: Axes, x: Tensor, seen: set[int], bars: list, label_width: float, top: float) -> None:
    total = x.untyped_storage().nbytes() // x.itemsize
    text = f"storage: {total} × {x.dtype.name}, {total * x.itemsize} bytes"
    axes.text(MARGIN, top, text, size=8, **MONO)
    left, line_height = MARGIN + label_width, 1.7 + 0.35 * len(bars)
    for place in range(total):
        line, column = divmod(place, PER_LINE)
        corner = left + column, top + 0.5 + line * line_height
        _draw_cell(axes, corner, _element(x, place), _shade(place, total) if place in seen else None)
        axes.text(corner[0] + 0.5, corner[1] + 1.2, place, size=6, ha="center", **{**MONO, "color": FAINT})
        for i, (_, places) in enumerate(bars):
            if place in places:
                bar = corner[0] + 0.06, corner[1] + 1.45 + 0.35 * i
                axes.add_patch(Rectangle(bar, 0.88, 0.16, facecolor=INK, edgecolor="none"))
    for line, (i, (name, _)) in itertools.product(range(math.ceil(total / PER_LINE)), enumerate(bars)):
        axes.text(MARGIN, top + 2.03 + line * line_height + 0.35 * i, name, size=8, **MONO)


def _draw_cell(axes: Axes, corner: tuple[float, float], text: str, shade, place: int | None = None) -> None:
    hatch = {"facecolor": "white", "hatch": "////", "edgecolor": "#d5d9dc", "linewidth": 0}
    axes.add_patch(Rectangle(corner, 1, 1, **(hatch if shade is None else {"facecolor": shade})))
    axes.add_patch(Rectangle(corner, 1, 1, fill=False, edgecolor=FAINT, linewidth=0.7))
    middle = 0.5 if place is None else 0.6
    style = {**MONO, "color": FAINT if shade is None else INK}
    axes.text(corner[0] + 0.5, corner[1] + middle, text, size=9 if len(text) < 4 else 7, ha="center", **style)
    if place is not None:
        axes.text(corner[0] + 0.08, corner[1] + 0.19, place, size=5, ha="left", **{**MONO, "color": INK})


def _arrow(axes: Axes, start: tuple[float, float], end: tuple[float, float], text: str, shift) -> None:
    style = {"arrowstyle": "->", "color": FAINT, "linewidth": 0.8, "shrinkA": 0, "shrinkB": 0}
    axes.annotate("", end, start, arrowprops=style)
    middle = (start[0] + end[0]) / 2 + shift[0], (start[1] + end[1]) / 2 + shift[1]
    axes.text(*middle, text, size=7, ha="center", **MONO)


def _shade(place: int, total: int) -> tuple[float, ...]:
    part = place / max(total - 1, 1)
    return tuple(light + part * (dark - light) for light, dark in zip(LIGHT, DARK))


def _element(x: Tensor, place: int) -> str:
    value = Tensor(x.untyped_storage(), (), (), place, x.dtype).item()
    return f"{value:.3g}" if isinstance(value, float) else str(value)


# Loops ---------------------------------------------------------------------------------------------------------------


def walks(loops: Sequence[tuple[str, Sequence[int], Sequence[int]]], line: int = 0) -> Figure:
    """How loops move through memory: which place each step reads, one panel a loop.

    Args:
        loops: for each a name, its sizes, and the strides of one operand, in elements; the last dimension is the innermost.
        line: how many elements a cache line holds; every second line is shaded. 0 for no shading.
    """
    walked = [[sum(map(operator.mul, at, by)) for at in itertools.product(*map(range, to))] for _, to, by in loops]
    last, steps = max(map(max, walked)), max(map(len, walked))
    figure = Picture(figsize=(3.3 * len(loops), 3.3), facecolor="white", layout="constrained")
    panels = figure.subplots(1, len(loops), sharex=True, sharey=True, squeeze=False)[0]
    for axes, places, (name, sizes, by) in zip(panels, walked, loops):
        for start in range(0, last + 1, 2 * line) if line else ():
            axes.axvspan(start - 0.5, start + line - 0.5, color="0.92", linewidth=0)
        axes.plot(places, range(len(places)), color=FAINT, linewidth=0.8, marker="o", markersize=4, markerfacecolor=INK)
        axes.set_title(f"{name}\nsizes {tuple(sizes)}, strides {tuple(by)}", size=9, family="monospace", loc="left")
        axes.set(xlabel="place in memory", xlim=(-0.8, last + 0.8), ylim=(steps - 0.4, -0.6))
        axes.spines[["top", "right"]].set_visible(False)
    panels[0].set_ylabel("step of the loop")
    return figure


def loop_nests(
    stages: Sequence[tuple[str, Sequence[int], Sequence[Sequence[int]]]], names: Sequence[str], note: str = ""
) -> Figure:
    """The same loop in several stages, one below the other: a box a dimension, the outermost at the left.

    Args:
        stages: for each a name, the sizes of the loop, and for each operand its strides.
        names: of the operands.
    """
    rows, columns = len(stages), max(len(sizes) for _, sizes, _ in stages)
    tall, wide = 0.75 + 0.42 * len(names), 4.6
    label = max(len(name) for name, _, _ in stages) * 9 * CHARACTER + 0.5
    width, height = MARGIN + label + wide * columns + MARGIN, MARGIN + rows * (tall + 0.35) + (0.8 if note else 0)
    figure = Picture(figsize=(width * CELL, height * CELL), facecolor="white")
    axes = figure.add_axes((0, 0, 1, 1), xlim=(0, width), ylim=(height, 0))
    axes.set_axis_off()
    for row, (stage, sizes, operand_strides) in enumerate(stages):
        top = MARGIN + row * (tall + 0.35)
        axes.text(MARGIN, top + tall / 2, stage, size=9, **MONO)
        for dim, size in enumerate(sizes):
            left = MARGIN + label + wide * (columns - len(sizes) + dim)  # innermost loops stand below one another
            shade = "0.88" if dim == len(sizes) - 1 else "white"
            box = Rectangle((left, top), wide - 0.3, tall, facecolor=shade, edgecolor=FAINT, linewidth=0.8)
            axes.add_patch(box)
            axes.text(left + 0.2, top + 0.35, f"for {size}", size=9, weight="bold", **MONO)
            for i, (name, strides) in enumerate(zip(names, operand_strides)):
                axes.text(left + 0.2, top + 0.85 + 0.42 * i, f"{name} +{strides[dim]}", size=8, **MONO)
    if note:
        axes.text(MARGIN, height - 0.45, note, size=8, **{**MONO, "color": FAINT})
    return figure


def blocks(rows: int, inner: int, columns: int, block: int, at: tuple[int, int, int] = (0, 0, 0)) -> Figure:
    """A matrix product in blocks: `out` (rows, columns) = `a` (rows, inner) times `b` (inner, columns).

    Shaded are the three blocks in use at the block indices `at`, in the order row, column, inner; hatched are those that the
    block of `out` needs in turn.
    """
    i, j, k = at
    unit = max(rows, inner, columns) / 12  # of the margins and of the room for names
    width, height = inner + columns + 4 * unit, rows + inner + 4.5 * unit
    scale = 0.22 / unit  # inches
    figure = Picture(figsize=(width * scale, height * scale), facecolor="white")
    axes = figure.add_axes((0, 0, 1, 1), xlim=(0, width), ylim=(height, 0), aspect="equal")
    axes.set_axis_off()
    left, right, upper, lower = unit, inner + 3 * unit, 1.5 * unit, inner + 3.5 * unit
    matrices = [  # name, corner, sizes, and the block in use; None for a whole row or column of blocks
        ("a", (left, lower), (rows, inner), (i, k), (i, None)),
        ("b", (right, upper), (inner, columns), (k, j), (None, j)),
        ("out", (right, lower), (rows, columns), (i, j), (i, j)),
    ]
    for name, (x, y), (tall, wide), used, strip in matrices:
        for row, column in itertools.product(range(0, tall, block), range(0, wide, block)):
            sides = min(block, wide - column), min(block, tall - row)
            here = (row // block, column // block)
            corner = (x + column, y + row)
            if here == used:
                axes.add_patch(Rectangle(corner, *sides, facecolor="0.55"))
            elif all(want in (None, index) for index, want in zip(here, strip)):
                axes.add_patch(Rectangle(corner, *sides, facecolor="white", hatch="////", edgecolor="0.7", linewidth=0))
            axes.add_patch(Rectangle(corner, *sides, fill=False, edgecolor=FAINT, linewidth=0.7))
        axes.text(x, y - 0.6 * unit, f"{name} ({tall}, {wide})", size=9, **MONO)
    return figure


def ratios(measured: Sequence[tuple[str, Sequence[float]]], than: str) -> Figure:
    """Measured ratios as bars, on a logarithmic axis: the median of each, and a line from the smallest to the largest.

    Args:
        measured: for each a name, and the ratios of several runs.
        than: what was divided by; a dashed line stands at 1.
    """
    medians = [sorted(values)[len(values) // 2] for _, values in measured]
    figure = Picture(figsize=(7, 0.7 + 0.42 * len(measured)), facecolor="white", layout="constrained")
    axes = figure.subplots()
    lengths = [median - 1 for median in medians]  # on a logarithmic axis 1 is the natural place to begin
    axes.barh([name for name, _ in measured], lengths, left=1, color="0.75", edgecolor=INK, linewidth=0.8, height=0.6)
    for row, ((_, values), median) in enumerate(zip(measured, medians)):
        axes.plot([min(values), max(values)], [row, row], color=INK, linewidth=1.5)
        text = f"{median:.2g}" if median < 100 else f"{median:.0f}"
        axes.annotate(text, (max(max(values), 1), row), (6, 0), textcoords="offset points", va="center", size=9)
    axes.axvline(1, color=INK, linewidth=1, linestyle=(0, (4, 2)))
    axes.set(xscale="log", xlabel=f"time, in times of {than}")
    axes.margins(x=0.15)
    axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.xaxis.set_major_formatter("{x:g}")
    axes.xaxis.set_minor_formatter("")
    axes.invert_yaxis()
    axes.spines[["top", "right"]].set_visible(False)
    return figure


# ------------------------------------------------------------------------------------------------------------
# The dispatcher: key sets as bits, the way of a call down the keys, tables of kernels, traces

# A table's reasons, each with the letter and the grey that stand for it; a fallthrough and a missing kernel have none.
REASONS = {
    "kernel": ("K", "0.35"),
    "autograd kernel": ("A", "0.46"),
    "math kernel": ("M", "0.68"),
    "default backend kernel": ("D", "0.80"),
    "backend fallback": ("F", "0.92"),
    "fallthrough": ("\u2193", "white"),
    "missing": ("", None),
}


def _sheet(width: float, height: float) -> tuple[Figure, Axes]:
    """A figure whose axes are in cells, y downwards, from corner to corner."""
    figure = Picture(figsize=(width * CELL, height * CELL), facecolor="white")
    axes = figure.add_axes((0, 0, 1, 1), xlim=(0, width), ylim=(height, 0))
    axes.set_axis_off()
    return figure, axes


def _box(axes: Axes, left: float, top: float, width: float, height: float, fill: str | tuple | None) -> None:
    style = {"facecolor": "white", "hatch": "////", "edgecolor": "#d5d9dc", "linewidth": 0}
    axes.add_patch(Rectangle((left, top), width, height, **(style if fill is None else {"facecolor": fill})))
    axes.add_patch(Rectangle((left, top), width, height, fill=False, edgecolor=FAINT, linewidth=0.7))


def _ink(fill: str | None) -> str:
    return "white" if fill is not None and fill != "white" and float(fill) < 0.5 else INK


def key_sets(rows: Sequence[tuple[str, int]]) -> Figure:
    """Key sets as rows of bits, the highest on the left, each under its name. A bar marks the highest functionality."""
    names = [*reversed(FUNCTIONALITIES), *reversed(BACKENDS)]
    label = max(len(text) for text, _ in rows) * 8 * CHARACTER + 0.4
    head, gap, slant = 3.3, 0.6, 0.2
    width = MARGIN + label + len(names) + gap + slant + MARGIN
    figure, axes = _sheet(width, head + 1.25 * len(rows) + 0.9)
    lefts = [MARGIN + label + i + (gap if i >= len(FUNCTIONALITIES) else 0) for i in range(len(names))]
    for left, name in zip(lefts, names):
        style = {**MONO, "va": "bottom", "ha": "left"}
        axes.text(left + 0.45, head - 0.15, name, size=8, rotation=60, rotation_mode="anchor", **style)
    for row, (text, key_set) in enumerate(rows):
        top = head + 1.25 * row
        axes.text(MARGIN, top + 0.5, text, size=8, **MONO)
        for i, left in enumerate(lefts):
            is_set = key_set >> len(names) - 1 - i & 1
            _box(axes, left, top, 1, 1, "0.45" if is_set else "white")
            axes.text(
                left + 0.5, top + 0.5, is_set, size=8, ha="center", **MONO | {"color": "white" if is_set else FAINT}
            )
        highest = (key_set >> len(BACKENDS)).bit_length()
        if highest:
            bar = lefts[len(FUNCTIONALITIES) - highest], top + 1.05
            axes.add_patch(Rectangle(bar, 1, 0.13, facecolor=INK, edgecolor="none"))
    under = head + 1.25 * len(rows) + 0.4
    middles = lefts[0] + len(FUNCTIONALITIES) / 2, lefts[len(FUNCTIONALITIES)] + len(BACKENDS) / 2
    for middle, text in zip(middles, ("functionalities", "backends")):
        axes.text(middle, under, text, size=7, ha="center", **MONO | {"color": FAINT})
    return figure


def ladder(calls: Sequence[tuple[Operator, int]]) -> Figure:
    """The way of each call down the keys, highest first, calls side by side.

    A filled rung is a key whose kernel runs, one with an arrow down a key in the set that falls through, a hatched one a key
    without a kernel; in faint letters are keys that are not in the set. A call ends at a kernel for a backend, or at a
    composite one, which calls other operators.
    """
    names = [*reversed(FUNCTIONALITIES)]
    rung, step, head = 6.4, 1.4, 1.3
    figure, axes = _sheet(MARGIN + len(calls) * (rung + 1.6) - 0.8, head + step * len(names) + 0.2)
    for column, (op, key_set) in enumerate(calls):
        left = MARGIN + column * (rung + 1.6)
        axes.text(left, 0.6, op.full_name, size=10, weight="bold", **MONO)
        way, ended = [], False
        for row, name in enumerate(names):
            bit = bits(DispatchKey[name])
            key = highest_priority_key(key_set & (bit | (1 << len(BACKENDS)) - 1))
            there = bool(key_set & bit)
            kernel, reason = op.entry(key) if there else (None, "not in the set")
            runs = there and kernel is not FALLTHROUGH and kernel is not MISSING and not ended
            top = head + step * row
            fill = REASONS[reason][1] if runs else None if kernel is MISSING and not ended else "white"
            _box(axes, left, top, rung, 1.15, fill)
            ink = _ink(fill) if runs else INK if there else FAINT
            said = "not reached" if there and ended else reason
            if kernel is FALLTHROUGH:  # such a key is out of the set before anything runs, also below the end
                said = f"{REASONS['fallthrough'][0]} fallthrough"
            plate = {"facecolor": "white", "edgecolor": "none", "pad": 1} if fill is None else None
            axes.text(left + 0.25, top + 0.38, key.name if there else name, size=8, bbox=plate, **MONO | {"color": ink})
            axes.text(left + 0.25, top + 0.84, said, size=6.5, bbox=plate, **MONO | {"color": ink})
            if runs:
                way.append(top)
                ended = reason in ("math kernel", "default backend kernel") or name == "Dense"
        x = left + rung + 0.35
        for i, top in enumerate(way if len(way) > 1 else ()):
            axes.plot([left + rung, x], [top + 0.57] * 2, color=INK, linewidth=1)
            if i:
                style = {"arrowstyle": "->", "color": INK, "linewidth": 1, "shrinkA": 0, "shrinkB": 0}
                axes.annotate("", (x, top + 0.57), (x, way[i - 1] + 0.57), arrowprops=style)
    return figure


def tables(panels: Sequence[tuple[str, Mapping[str, Mapping[str, str]]]], keys: Sequence[str]) -> Figure:
    """Operators' tables side by side: for each operator (row) and key (column) the reason for what the table holds.

    A panel is a name and, by operator, the reasons by key, in the words of `REASONS`; a key that an operator has nothing for
    may be absent.
    """
    label = max(len(op) for _, rows in panels for op in rows) * 7.5 * CHARACTER + 0.4
    count = max(len(rows) for _, rows in panels)
    used = [
        r for r in REASONS if any(rows[op].get(k, "missing") == r for _, rows in panels for op in rows for k in keys)
    ]
    head, slant, per_line = 3.9, 0.3, 4 if len(panels) == 1 else 7
    lines = math.ceil(len(used) / per_line)
    width = MARGIN + label + len(panels) * (len(keys) + 0.8) + slant
    if len(panels) == 1:  # few keys may leave too little room for the words below
        width = max(width, 2 * MARGIN + min(per_line, len(used)) * (max(map(len, used)) * 7 * CHARACTER + 1.3))
    figure, axes = _sheet(width, head + count + 0.7 + 0.95 * lines + 0.2)
    for i, (title, rows) in enumerate(panels):
        left = MARGIN + label + i * (len(keys) + 0.8)
        axes.text(left, 0.5, title, size=10, weight="bold", **MONO)
        for column, key in enumerate(keys):
            style = {"rotation": 60, "rotation_mode": "anchor", "ha": "left", **MONO, "va": "bottom"}
            axes.text(left + column + 0.45, head - 0.15, key, size=7.5, **style)
        for row, (op, reasons) in enumerate(rows.items()):
            if not i:
                axes.text(MARGIN, head + row + 0.5, op, size=7.5, **MONO)
            for column, key in enumerate(keys):
                letter, fill = REASONS[reasons.get(key, "missing")]
                _box(axes, left + column, head + row, 1, 1, fill)
                middle = left + column + 0.5, head + row + 0.5
                axes.text(*middle, letter, size=8, ha="center", **MONO | {"color": _ink(fill)})
    for i, reason in enumerate(used):
        line, place = divmod(i, per_line)
        letter, fill = REASONS[reason]
        left = MARGIN + place * (width - 2 * MARGIN) / min(per_line, len(used))
        top = head + count + 0.7 + 0.95 * line
        _box(axes, left, top, 0.7, 0.7, fill)
        axes.text(left + 0.35, top + 0.35, letter, size=6.5, ha="center", **MONO | {"color": _ink(fill)})
        axes.text(left + 0.9, top + 0.35, reason, size=7, **MONO)
    return figure


def trace(lines: Sequence[str]) -> Figure:
    """The lines of a dispatch trace as nested boxes, one a call, from top to bottom as they came; a redispatch is dashed.

    The grey is that of the key: the higher its functionality, the darker.
    """
    parts = [re.match(r"( *)\[(\w+)\] op=\[(.*)\], key=\[(.*)\]$", line).groups() for line in lines]
    calls = [(len(spaces), how, op.removeprefix("aten::"), key) for spaces, how, op, key in parts]
    deepest = max(depth for depth, *_ in calls)
    text = max(len(op) for _, _, op, _ in calls) * 8 * CHARACTER + 0.6
    indent, height = 1.1, 0.86
    right = MARGIN + deepest * indent + text
    name = max(len(key) for *_, key in calls) * 8 * CHARACTER
    figure, axes = _sheet(right + 0.5 + name + MARGIN, 2 * MARGIN + height * len(calls))
    ranks = {key.name: (bits(key) >> len(BACKENDS)).bit_length() for key in RUNTIME_KEYS}
    for row, (depth, how, op, key) in enumerate(calls):
        inside = next((i for i, call in enumerate(calls[row + 1 :]) if call[0] <= depth), len(calls) - row - 1)
        left, top = MARGIN + depth * indent, MARGIN + row * height
        grey = f"{1 - 0.5 * ranks.get(key, 0) / len(FUNCTIONALITIES):.2f}"
        edge = {"fill": False, "edgecolor": INK, "linewidth": 0.8, "linestyle": "--" if how == "redispatch" else "-"}
        axes.add_patch(
            Rectangle((left, top), right - left, height * (inside + 1) - 0.08, facecolor=grey, edgecolor="none")
        )
        axes.add_patch(Rectangle((left, top), right - left, height * (inside + 1) - 0.08, **edge))
        axes.text(left + 0.25, top + height / 2, op, size=8, **MONO | {"color": _ink(grey)})
        axes.text(right + 0.4, top + height / 2, key, size=8, **MONO)
    return figure


def __getattr__(name: str):
    if name in ("graph", "graphs", "engine", "nodes"):  # draw_graph stands on this module
        from rushlight import draw_graph

        return getattr(draw_graph, name)
    if name in ("lockstep", "module_tree", "panels", "paths", "spreads", "stacks", "timeline"):  # and so does this one
        from rushlight import draw_training

        return getattr(draw_training, name)
    if name in ("captured", "device_trace", "outcomes", "quantised"):
        from rushlight import draw_custom_ops

        return getattr(draw_custom_ops, name)
    if name in ("breaks", "bytecode", "flow", "fx_graph", "fx_graphs", "fx_nodes", "guards"):
        from rushlight import draw_capture

        return getattr(draw_capture, name)
    if name in ("beside", "fused", "lifetimes", "loops_in", "nests", "times"):
        from rushlight import draw_inductor

        return getattr(draw_inductor, name)
    raise AttributeError(f"module 'rushlight.draw' has no {name!r}")
