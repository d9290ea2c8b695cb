"""Graphs as rows of boxes, with arrows from row to row.

The order in a row follows the mean position of the neighbours above and below, in several sweeps down and up (Sugiyama, Tagawa
and Toda, 1981). Labels of arrows have rows of their own between the rows of boxes, and positions like boxes, so labels never
overlap.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from graphlib import CycleError, TopologicalSorter
from itertools import accumulate

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch, PathPatch, Polygon
from matplotlib.path import Path

from rushlight.course.draw.paper import CHARACTER, FAINT, INK, MARGIN, MONO, in_lines, ink_on, sheet, write_title

TEXT, LINE = 7.5, 0.44  # points; cells from line to line
APART, ROW_GAP = 0.5, 0.42  # cells between neighbours in a row, and between rows
NODE, LEAF = "white", "0.88"
THIN, THICK = {"edgecolor": FAINT, "linewidth": 0.9}, {"edgecolor": INK, "linewidth": 2.6}  # arrows


@dataclass(eq=False)
class Box:
    """An entry of a row: a node, the label of an arrow, or a bend of a long arrow, which has no text."""

    lines: list[str]
    row: int = 0
    fill: str | None = None
    wide: float = 0.0
    x: float = 0.0  # of its middle
    above: list[Box] = field(default_factory=list)
    below: list[Box] = field(default_factory=list)
    looks: dict[Box, dict] = field(default_factory=dict)  # of the arrows to boxes below

    def __post_init__(self) -> None:
        self.wide = self.wide or max((len(line) for line in self.lines), default=0) * TEXT * CHARACTER + 0.4

    @property
    def tall(self) -> float:
        return LINE * len(self.lines) + (0.3 if self.fill else 0)


# Rows ----------------------------------------------------------------------------------------------------------------


def in_order(pairs: Sequence[tuple[Hashable, Hashable]]) -> list:
    """The boxes' keys, each after all its predecessors. A pair is the start and the end of an arrow."""
    sorter = TopologicalSorter()
    for start, end in pairs:
        sorter.add(start)
        sorter.add(end, start)
    try:
        return [*sorter.static_order()]
    except CycleError:
        raise ValueError("draw.flow shows networks without cycles") from None


def assign_rows(
    boxes: Mapping, links: Sequence[tuple], first: Collection = (), last: Collection = (), late: Collection = ()
) -> None:
    """Give each box its row: even numbers, so that labels of arrows have rows between.

    Args:
        boxes: by any key, in an order in which each comes after its predecessors.
        links: for each the keys of its start and its end, the label of the arrow, and its look.
        first: boxes right above the first box that reads them; the others are as high as possible.
        last: boxes below everything else.
        late: boxes below all that are neither late nor last, if there are any.
    """
    above: dict[Hashable, list] = {key: [] for key in boxes}
    below: dict[Hashable, list] = {key: [] for key in boxes}
    for start, end, *_ in links:
        above[end].append(start)
        below[start].append(end)
    late = set(late)
    for key in boxes:  # boxes that need a late box are late too
        if key not in last and any(source in late for source in above[key]):
            late.add(key)
    early = [key for key in boxes if key not in late and key not in last and key not in first]
    border = 0
    for key in sorted(boxes, key=late.__contains__):
        box = boxes[key]
        deepest = max((boxes[source].row // 2 for source in above[key]), default=-1)
        box.row = max(2 * (deepest + 1), border * (key in late))
        if key in early and late:
            border = max(border, box.row + 2)
    for key in last:
        boxes[key].row = max(2 + max((b.row for k, b in boxes.items() if k not in last), default=-2), boxes[key].row)
    for key in first:
        if below[key]:
            boxes[key].row = min(boxes[reader].row for reader in below[key]) - 2


def arrange(boxes: Mapping[Hashable, Box], links: Sequence[tuple]) -> list[list[Box]]:
    """The rows of a picture, with a position for every box. The boxes have their rows already. `links`: as in `assign_rows`.
    Where nothing else decides, the labels and bends of earlier links are further left."""
    drawn = list(boxes.values())
    for start, end, text, look in links:
        drawn += connect(boxes[start], boxes[end], text, look)
    rows = [[box for box in drawn if box.row == row] for row in range(max(box.row for box in drawn) + 1)]
    rows = [row for row in rows if row]
    for sweep in range(16):
        for row in rows if sweep % 2 else reversed(rows):
            sort_row(row, "above" if sweep % 2 else "below", {box: i for line in rows for i, box in enumerate(line)})
    set_positions(rows)
    for i, row in enumerate(rows):
        for box in row:
            box.row = i
    return rows


def connect(above: Box, below: Box, text: str, look: dict) -> list[Box]:
    """Connect two boxes by an arrow. Return new boxes: its label in the first free row, and bends in the rows after it."""
    bends = [Box([], row, wide=0.3) for row in range(above.row + 1, below.row)]
    if text and bends:
        bends[0] = Box([text], above.row + 1)
    path = [above, *bends, below]
    for start, end in zip(path, path[1:]):
        start.below.append(end)
        end.above.append(start)
        start.looks[end] = look
    return bends


def sort_row(row: list[Box], near: str, positions: Mapping[Box, int]) -> None:
    """Sort the boxes that have neighbours above, or below, by the mean position of these neighbours. The others do not move."""
    movable = [i for i, box in enumerate(row) if getattr(box, near)]
    middles = {row[i]: mean([positions[neighbour] for neighbour in getattr(row[i], near)], 0) for i in movable}
    boxes = sorted(middles, key=middles.__getitem__)
    for i, box in zip(movable, boxes):
        row[i] = box


def mean(values: Sequence[float], otherwise: float) -> float:
    """The mean of the values. Without values, it is `otherwise`."""
    return sum(values) / len(values) if values else otherwise


def set_positions(rows: list[list[Box]]) -> None:
    """Give each box its x, as near to its neighbours above and below as the other boxes of the row allow."""
    for row in rows:
        spread(row, [0.0] * len(row))
    for sweep in range(24):
        for row in rows if sweep % 2 else reversed(rows):
            near = "above" if sweep % 2 else "below"
            spread(row, [mean([neighbour.x for neighbour in getattr(box, near)], box.x) for box in row])
    for row in rows:
        spread(row, [mean([neighbour.x for neighbour in box.above + box.below], box.x) for box in row])
    least = min(box.x - box.wide / 2 for row in rows for box in row)
    for box in (box for row in rows for box in row):
        box.x -= least


def spread(row: list[Box], wanted: list[float]) -> None:
    """Move a row's boxes to the x values in `wanted`. Boxes that would overlap form a group, which is moved as one."""
    groups: list[tuple[list[int], float]] = []  # boxes, and the x of the first
    for i, x in enumerate(wanted):
        group, at = [i], x
        while groups:
            before, start = groups[-1]
            if start + distance(row, before, group[0]) <= at:
                break
            groups.pop()
            group = before + group
            at = sum(wanted[j] - distance(row, group[:k], j) for k, j in enumerate(group)) / len(group)
        groups.append((group, at))
    for group, at in groups:
        for k, j in enumerate(group):
            row[j].x = at + distance(row, group[:k], j)


def distance(row: list[Box], before: Sequence[int], box: int) -> float:
    """The distance of a box from the first of those before it, middle to middle."""
    order = [*before, box]
    return sum((row[a].wide + row[b].wide) / 2 + APART for a, b in zip(order, order[1:]))


# Drawing -------------------------------------------------------------------------------------------------------------


def draw_panels(panels: Sequence[tuple[str, list[list[Box]]]], columns: int = 4) -> Figure:
    """Titles and rows of boxes, side by side on one figure, in several lines if need be."""

    def width_of(title: str, rows: list[list[Box]]) -> float:
        return max(max(box.x + box.wide / 2 for row in rows for box in row), len(title) * 10 * CHARACTER)

    widths = [width_of(*panel) for panel in panels]
    indices = in_lines(widths, 0.9, columns)
    lines = [[panels[i] for i in line] for line in indices]
    head = 0.9 if any(title for title, _ in panels) else 0.2
    wide = [[widths[i] for i in line] for line in indices]
    high = [head + max(sum(map(row_height, rows)) for _, rows in line) for line in lines]
    width = max(sum(line) + 0.9 * (len(line) - 1) for line in wide)
    figure, axes = sheet(2 * MARGIN + width, sum(high) + 0.35 * len(lines))
    top = 0.0
    for line, rooms, tall in zip(lines, wide, high):
        left = MARGIN
        for (title, rows), room in zip(line, rooms):
            write_title(axes, left, top + 0.4, title, 10)
            draw_rows(axes, rows, left, top + head)
            left += room + 0.9
        top += tall + 0.35
    return figure


def row_height(row: list[Box]) -> float:
    """The height of the tallest box of a row, and the gap below the row."""
    return max(box.tall for box in row) + ROW_GAP


def draw_rows(axes: Axes, rows: list[list[Box]], left: float, top: float) -> None:
    """Draw rows of boxes from the top down, with an arrow from each box to each box that reads from it."""
    tops = list(accumulate(map(row_height, rows), initial=top))
    for row, here in zip(rows, tops):
        ends = {to: iter(ports(to, to.above)) for box in row for to in box.below}
        for box in sorted(row, key=lambda box: box.x):
            for port, to in zip(ports(box, box.below), sorted(box.below, key=lambda reader: reader.x)):
                draw_arrow(axes, box, to, left + port, left + next(ends[to]), here, tops)
    for row, here in zip(rows, tops):
        for box in row:
            draw_box(axes, box, left + box.x, here)


def ports(box: Box, others: Sequence[Box]) -> list[float]:
    """The x values at which the arrows of a box begin or end: spread around its middle, from left to right."""
    step = min(0.55, 0.7 * box.wide / max(len(others), 1))
    return [box.x + step * (i - (len(others) - 1) / 2) for i in range(len(others))]


def draw_arrow(axes: Axes, box: Box, to: Box, x: float, end: float, top: float, tops: list[float]) -> None:
    """Draw an arrow to a box in the next row. Within a row arrows go straight down, so they cross no other box."""
    look, y, down = box.looks[to], top + box.tall, tops[to.row]
    bottom = max(tops[box.row + 1] - ROW_GAP, y)  # of this row, which may have taller boxes
    bend = (down - bottom) / 2
    points = [(x, y), (x, bottom), (x, bottom + bend), (end, down - bend), (end, down)]
    codes = [Path.MOVETO, Path.LINETO, Path.CURVE4, Path.CURVE4, Path.CURVE4]
    if not to.fill and not to.lines:  # the arrow continues through the row
        points, codes = [*points, (end, tops[to.row + 1] - ROW_GAP)], [*codes, Path.LINETO]
    axes.add_patch(PathPatch(Path(points, codes), fill=False, capstyle="butt", **look))
    if to.fill:
        half, tip = 0.03 + 0.012 * look["linewidth"], down - 0.02
        head = [(end - half, tip - 2 * half), (end, tip), (end + half, tip - 2 * half)]
        axes.add_patch(Polygon(head, color=look["edgecolor"], linewidth=0.9, joinstyle="round", zorder=3))


def draw_box(axes: Axes, box: Box, x: float, top: float) -> None:
    """Draw a box and its lines of text. The first line is bold if the box has a fill."""
    if box.fill:
        style = {"boxstyle": "round,pad=0,rounding_size=0.12", "edgecolor": INK, "linewidth": 0.9}
        axes.add_patch(FancyBboxPatch((x - box.wide / 2, top), box.wide, box.tall, facecolor=box.fill, **style))
    for i, line in enumerate(box.lines):
        middle = top + (0.15 if box.fill else 0) + LINE * (i + 0.5)
        weight = "bold" if box.fill and i == 0 else "normal"
        axes.text(x, middle, line, size=TEXT, ha="center", weight=weight, **MONO | {"color": ink_on(box.fill)})
