"""The basis of all pictures: figures, colours and boxes. Lengths are in cells, and y grows downwards."""

from __future__ import annotations

import io

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

CELL = 0.46  # inches
MARGIN = 0.4
INK, FAINT = "#22282c", "#6b757c"
MONO = {"family": "monospace", "va": "center", "color": INK}
CHARACTER = 0.0086 / CELL  # width of a monospace character, per point of its size


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


def rectangle(axes: Axes, left: float, top: float, width: float, height: float, fill: str | tuple | None) -> None:
    style = {"facecolor": "white", "hatch": "////", "edgecolor": "#d5d9dc", "linewidth": 0}
    axes.add_patch(Rectangle((left, top), width, height, **(style if fill is None else {"facecolor": fill})))
    axes.add_patch(Rectangle((left, top), width, height, fill=False, edgecolor=FAINT, linewidth=0.7))


def ink_on(fill: str | None) -> str:
    return "white" if fill is not None and fill != "white" and float(fill) < 0.5 else INK
