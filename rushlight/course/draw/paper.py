"""The basis of all pictures: figures, colours and letters. Lengths are in cells, and y grows downwards."""

from __future__ import annotations

import io
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

CELL = 0.46  # inches
MARGIN = 0.4
INK, FAINT = "#22282c", "#6b757c"
MONO = {"family": "monospace", "va": "center", "color": INK}
CHARACTER = 0.0086 / CELL  # width of a monospace character, per point of its size
LETTER = 7.5 * CHARACTER  # of the text in most boxes


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
