"""The basis of all pictures: figures, colours, letters and shapes. Lengths are in cells, and y grows downwards."""

from __future__ import annotations

import io
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

CELL = 0.46  # inches
MARGIN = 0.4
INK, FAINT = "#22282c", "#6b757c"
MONO = {"family": "monospace", "va": "center", "color": INK}
CHARACTER = 0.0086 / CELL  # width of a monospace character, per point of its size
LETTER = 7.5 * CHARACTER  # of the text in most boxes
PLATE = {"facecolor": "white", "edgecolor": "none"}  # behind a text on hatching, with a `pad` around the text

Point = tuple[float, float]
Fill = str | tuple[float, ...] | None  # a grey, a colour, or hatching


class Picture(Figure):
    """A figure that a notebook displays, even if pyplot was not imported."""

    def _repr_png_(self) -> bytes:
        png = io.BytesIO()
        self.savefig(png, format="png", dpi=144)
        return png.getvalue()


def sheet(width: float, height: float) -> tuple[Figure, Axes]:
    """A figure with axes in cells, y downwards, without margins."""
    figure = Picture(figsize=(width * CELL, height * CELL), facecolor="white")
    axes = figure.add_axes((0, 0, 1, 1), xlim=(0, width), ylim=(height, 0))
    axes.set_axis_off()
    return figure, axes


def charts(width: float, height: float, rows: int = 1, columns: int = 1, **shape: Any) -> tuple[Figure, Any]:
    """A figure, in inches, and an array (rows, columns) of axes with scales, open above and on the right."""
    figure = Picture(figsize=(width, height), facecolor="white", layout="constrained")
    grid = figure.subplots(rows, columns, squeeze=False, **shape)
    for axes in grid.flat:
        axes.spines[["top", "right"]].set_visible(False)
    return figure, grid


# Shapes, in the units of the axes ------------------------------------------------------------------------------------


def hide_spines(axes: Axes, *kept: str) -> None:
    """Hide the ticks on the left and all edges of the axes except those that are `kept`."""
    axes.tick_params(left=False)
    axes.spines[[side for side in ("top", "right", "left", "bottom") if side not in kept]].set_visible(False)


def rectangle(axes: Axes, left: float, top: float, width: float, height: float, fill: Fill, edge: str = FAINT) -> None:
    """A box, hatched if `fill` is None."""
    style = {"facecolor": "white", "hatch": "////", "edgecolor": "#d5d9dc", "linewidth": 0}
    axes.add_patch(Rectangle((left, top), width, height, **(style if fill is None else {"facecolor": fill})))
    axes.add_patch(Rectangle((left, top), width, height, fill=False, edgecolor=edge, linewidth=0.7))


def cell(axes: Axes, left: float, top: float, width: float, height: float, fill: Fill, text: Any, **style: Any) -> None:
    """A box with a text in its middle."""
    rectangle(axes, left, top, width, height, fill)
    style = {**MONO, "size": 8, "color": ink_on(fill)} | style
    axes.text(left + width / 2, top + height / 2, text, ha="center", **style)


def ink_on(fill: str | None) -> str:
    return "white" if fill is not None and fill != "white" and float(fill) < 0.5 else INK


def arrow(axes: Axes, start: Point, end: Point, zorder: float = 3, **style: Any) -> None:
    style = {"arrowstyle": "->", "color": INK, "linewidth": 1, "shrinkA": 0, "shrinkB": 0} | style
    axes.annotate("", end, start, arrowprops=style, zorder=zorder)
