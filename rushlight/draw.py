"""Pictures of strided tensors: the grid that a program sees, above the memory that is there.

A cell shows its element and, small, the place of the element in the storage. The shade is that of the place,
from light to dark along the memory, so that a transposed grid looks transposed, and a place that is seen
twice looks the same twice. Arrows carry the strides: so far does one step move in the row below. Places that
no view reaches are hatched.
"""

from __future__ import annotations

import io
import itertools
import math
import operator
from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

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
