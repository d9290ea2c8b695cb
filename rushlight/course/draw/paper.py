"""The basis of all pictures: figures, colours, letters and shapes. Lengths are in cells, and y grows downwards.

All pictures of the course use one palette: orange for rushlight (the student's code), blue for torch, and purple for a difference
or a mark. The three differ in lightness too, so a print without colour shows them. In the site's dark mode the lightness of a
picture is inverted and its hues stay, so a caption names hues and greys, never black or white. A picture with a photograph stays
as it is.
"""

import io
import re
from collections.abc import Sequence
from typing import Any

from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from rushlight.course.draw.slim import slim_png, slim_svg

CELL = 0.46  # inches
SCALE, WIDEST = 1.2, 1000  # a text of 7.5 points, the smallest, becomes 12 pixels high; pixels
INCHES = WIDEST / SCALE / 96  # the greatest width of a figure
ROOM = INCHES / CELL  # the same in cells
MARGIN = 0.4
INK, FAINT = "#22282c", "#6b757c"
OURS, TORCH, MARK = "#e08a1e", "#3d6ea8", "#6d2f7d"  # lightness 65, 45, 29
MONO = {"family": "monospace", "va": "center", "color": INK}
CHARACTER = 0.0086 / CELL  # width of a monospace character, per point of its size
LETTER = 7.5 * CHARACTER  # of the text in most boxes
PLATE = {"facecolor": "white", "edgecolor": "none"}  # behind a text on hatching, with a `pad` around the text
NOTHING = {"facecolor": "white", "hatch": "////", "edgecolor": "0.8", "linewidth": 0}  # in a timeline: no work
CHARACTER_INCHES = 0.075  # of size 8.5

MONO_FONTS = "'DejaVu Sans Mono', Menlo, Consolas, 'Liberation Mono', monospace"
SANS_FONTS = "'DejaVu Sans', Verdana, sans-serif"

Point = tuple[float, float]
Fill = str | tuple[float, ...] | None  # a grey, a colour, or hatching


class Picture(Figure):
    """A figure that a notebook displays, even if pyplot was not imported: as SVG, and as PNG where SVG is not trusted."""

    def _repr_svg_(self) -> str:
        """The figure as SVG with text as text, and the same for the same figure."""
        svg = io.StringIO()
        with rc_context({"svg.fonttype": "none", "svg.hashsalt": "rushlight"}):
            self.savefig(svg, format="svg", metadata={"Date": None})
        text = svg.getvalue()
        text = re.sub(r"<metadata>.*?</metadata>|<!--.*?-->", "", text[text.index("<svg") :], flags=re.DOTALL)
        text = text.replace("<svg", '<svg xml:space="preserve"', 1)  # the indentation of code
        for fonts in MONO_FONTS, SANS_FONTS:
            text = re.sub(rf"font-family: {fonts.partition(',')[0]},[^;\"]*", f"font-family: {fonts}", text)
        text = re.sub(
            r'(width|height)="([\d.]+)pt"', lambda m: f'{m[1]}="{float(m[2]) * self._scale():.2f}pt"', text, count=2
        )
        return slim_svg(re.sub(r"\n\s*", "\n", text))

    def _repr_png_(self) -> bytes:
        png = io.BytesIO()
        self.savefig(png, format="png", dpi=96 * self._scale())
        return slim_png(png.getvalue())

    def _scale(self) -> float:
        return min(SCALE, WIDEST / (96 * self.get_size_inches()[0]))


def show(figure: Picture, alt: str) -> None:
    """Display a figure in a notebook, with a text for readers who do not see it."""
    from IPython.display import display

    display(figure, metadata={kind: {"alt": alt} for kind in ("image/svg+xml", "image/png")})


def sheet(width: float, height: float) -> tuple[Picture, Axes]:
    """A figure with axes in cells, y downwards, without margins."""
    figure = Picture(figsize=(width * CELL, height * CELL), facecolor="white")
    axes = figure.add_axes((0, 0, 1, 1), xlim=(0, width), ylim=(height, 0))
    axes.set_axis_off()
    return figure, axes


def charts(width: float, height: float, rows: int = 1, columns: int = 1, **shape: Any) -> tuple[Picture, Any]:
    """A figure, in inches, and an array (rows, columns) of axes with scales, open above and on the right."""
    figure = Picture(figsize=(min(width, INCHES), height), facecolor="white", layout="constrained")
    grid = figure.subplots(rows, columns, squeeze=False, **shape)
    for axes in grid.flat:
        axes.spines[["top", "right"]].set_visible(False)
        axes.tick_params(labelsize=10.8)  # an exponent is 0.7 as high
    return figure, grid


def panels(titles: Sequence[str], columns: int, wide: float, tall: float, **shape: Any) -> tuple[Picture, Any]:
    """Charts with titles, `columns` in a line, and an array of their axes. Each is so many inches wide and tall."""
    rows = -(-len(titles) // columns)
    figure, grid = charts(wide * columns, tall * rows, rows, columns, **shape)
    for axes, title in zip(grid.flat, titles):
        axes.set_title(title, size=9, loc="left")
    for axes in grid.flat[len(titles) :]:
        axes.set_axis_off()
    return figure, grid


def in_lines(widths: Sequence[float], gap: float, most: int = 100) -> list[range]:
    """Panels in lines: the indices of those that fit beside each other on a figure, at most `most` in a line."""
    lines, end = [range(0, 0)], -gap
    for i, width in enumerate(widths):
        end += gap + width
        if lines[-1] and (len(lines[-1]) == most or end > ROOM - 2 * MARGIN):
            lines.append(range(i, i))
            end = width
        lines[-1] = range(lines[-1].start, i + 1)
    return lines


# Shapes, in the units of the axes ------------------------------------------------------------------------------------


def hide_spines(axes: Axes, *kept: str) -> None:
    """Hide the ticks on the left and all edges of the axes except those that are `kept`."""
    axes.tick_params(left=False)
    axes.spines[[side for side in ("top", "right", "left", "bottom") if side not in kept]].set_visible(False)


def rectangle(
    axes: Axes, left: float, top: float, width: float, height: float, fill: Fill, edge: str = FAINT, **style: Any
) -> None:
    """A box, hatched if `fill` is None."""
    if fill is None:
        axes.add_patch(Rectangle((left, top), width, height, **NOTHING | {"edgecolor": "#d5d9dc"}))
    style = {"facecolor": "none" if fill is None else fill, "edgecolor": edge, "linewidth": 0.7} | style
    axes.add_patch(Rectangle((left, top), width, height, **style))


Box = tuple[float, float, float, float]


def bar(axes: Axes, box: Box, fill: str | None, text: Any = "", inches: float = 0.0, least: int = 99) -> None:
    """A part of a timeline, hatched if `fill` is None, with a text in its middle.

    Args:
        box: left, top, width and height.
        inches: of a unit of width. A text that is longer than the box is cut, or left out if fewer than `least` characters fit.
    """
    left, top, width, height = box
    look = {"facecolor": fill, "edgecolor": INK, "linewidth": 0.6} if fill else NOTHING
    axes.add_patch(Rectangle((left, top), width, height, **look))
    text, room = str(text), int(width * inches / CHARACTER_INCHES - 0.6)
    if text and room >= min(len(text), least):
        text = text if len(text) <= room else text[: room - 1] + "…"
        write(axes, left + width / 2, top + height / 2, text, fill=fill, ha="center")


def name_rows(axes: Axes, names: Sequence[str], size: float, middle: float = 0.5) -> None:
    """Name the rows of a timeline on the left. A row is one unit high."""
    axes.set_yticks([row + middle for row in range(len(names))], names, size=size)
    hide_spines(axes, "bottom")


def cell(axes: Axes, left: float, top: float, width: float, height: float, fill: Fill, text: Any, **style: Any) -> None:
    """A box with a text in its middle."""
    rectangle(axes, left, top, width, height, fill)
    style = {**MONO, "size": 8, "color": ink_on(fill)} | style
    axes.text(left + width / 2, top + height / 2, text, ha="center", **style)


def ink_on(fill: str | None) -> str:
    """The colour of a text on a fill."""
    if fill is None:
        return INK
    red, green, blue = to_rgb(fill)
    return "white" if 0.3 * red + 0.59 * green + 0.11 * blue < 0.5 else INK


def write(axes: Axes, x: float, y: float, text: Any, size: float = 7.5, fill: Fill = "white", **style: Any) -> None:
    """A text on a fill, in the ink that is legible there. On hatching it has a plate."""
    plate = PLATE | {"pad": 1} if fill is None else None
    axes.text(x, y, text, size=size, bbox=plate, **MONO | {"color": ink_on(fill)} | style)


def write_title(axes: Axes, left: float, middle: float, text: str, size: float) -> None:
    """The title of a panel in a sheet. A bar below it says whether the panel is rushlight's or torch's."""
    axes.text(left, middle, text, size=size, weight="bold", **MONO)
    if text and (fill := colour_of(text, "")):
        axes.add_patch(Rectangle((left, middle + 0.22), len(text) * size * CHARACTER, 0.12, facecolor=fill))


def colour_of(name: str, otherwise: str = "0.8") -> str:
    """The fill for something of rushlight or of torch, by the first word of its name."""
    if re.match(r"(rushlight|rl|yours?|mine)\b", name):
        return OURS
    return TORCH if re.match(r"torch\b", name) else otherwise


def arrow(axes: Axes, start: Point, end: Point, zorder: float = 3, **style: Any) -> None:
    """Draw an arrow from one point to another, in the ink of the page."""
    style = {"arrowstyle": "->", "color": INK, "linewidth": 1, "shrinkA": 0, "shrinkB": 0} | style
    axes.annotate("", end, start, arrowprops=style, zorder=zorder)
