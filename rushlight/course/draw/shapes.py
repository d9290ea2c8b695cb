"""The shapes in pictures: boxes, boxes with a text, and arrows, all in the units of the axes."""

from __future__ import annotations

from typing import Any

from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from rushlight.course.draw.paper import FAINT, INK, MONO

PLATE = {"facecolor": "white", "edgecolor": "none"}  # behind a text on hatching, with a `pad` around the text

Point = tuple[float, float]
Fill = str | tuple[float, ...] | None  # a grey, a colour, or hatching


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
