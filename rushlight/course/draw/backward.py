"""Pictures of backward graphs of rushlight and of torch.

The root is at the top. Arrows have the direction of the gradients: along `next_functions`, down to the leaves. A box is a
node; below its name are its saved tensors. An arrow has the sizes of its gradient and, if known, the name of the gradient's
tensor. If a node takes several gradients, they are numbered. The boxes of leaves are grey.

A node's row is the length of the longest path from the root. The order in a row follows the mean position of the neighbours
above and below, in several sweeps down and up (Sugiyama, Tagawa and Toda, 1981). Labels of arrows have rows of their own
between the rows of boxes, and positions like boxes, so labels never overlap.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch, PathPatch
from matplotlib.path import Path

from rushlight.course.draw.paper import CHARACTER, FAINT, INK, MARGIN, MONO, ink_on, sheet

TEXT, LINE = 7.5, 0.44  # points; cells from line to line
APART, ROW_GAP = 0.5, 0.42  # cells between neighbours in a row, and between rows
NODE, LEAF = "white", "0.88"


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

    def __post_init__(self) -> None:
        self.wide = self.wide or max((len(line) for line in self.lines), default=0) * TEXT * CHARACTER + 0.4

    @property
    def tall(self) -> float:
        return LINE * len(self.lines) + (0.3 if self.fill else 0)


# Reading a graph -----------------------------------------------------------------------------------------------------


def _name(node: Any) -> str:
    return node.name().rpartition("::")[2]


def _sizes(tensor: Any) -> str:
    return str(tuple(getattr(tensor, "shape", ())))  # () for a number


def _input_sizes(node: Any) -> list[str]:
    """The sizes of each gradient that a node takes."""
    if hasattr(node, "_input_metadata"):
        return [_sizes(each) for each in node._input_metadata]
    return ["" if sizes is None else str(tuple(sizes)) for sizes, _ in node.input_metadata]


def _saved(node: Any) -> list[str]:
    """A line for each tensor that a node saves: its name and sizes."""
    found = {}
    try:
        for i, tensor in enumerate(getattr(node, "saved_tensors", None) or ()):
            found[str(i)] = tensor
        for attribute in dir(node):
            if attribute.startswith("_saved_"):  # torch
                value = getattr(node, attribute)
                tensors = isinstance(value, (list, tuple)) and any(hasattr(each, "shape") for each in value)
                found |= {attribute[7:]: value} if hasattr(value, "shape") or tensors else {}
            elif attribute.startswith("saved_") and attribute not in ("saved_tensors", "saved_variables"):
                found[attribute[6:]] = _unpack(getattr(node, attribute))
    except RuntimeError:
        return ["(freed)"]
    if getattr(node, "released", False):
        return ["(freed)"]
    lines = []
    for name, value in sorted(found.items()):
        parts = (
            {f"{name}[{i}]": each for i, each in enumerate(value)}
            if isinstance(value, (list, tuple))
            else {name: value}
        )
        lines += [f"{part} {_sizes(each)}" for part, each in parts.items() if each is not None]
    return lines


def _unpack(saved: Any) -> Any:
    """The tensor in a `SavedTensor`, or in each of a list."""
    if isinstance(saved, (list, tuple)):
        return [_unpack(each) for each in saved]
    return saved if saved is None else getattr(saved, "tensor", saved)


def _reachable(root: Any) -> dict[Any, int]:
    """The nodes of a graph, each with its row: the length of the longest path from the root."""
    rows, waiting, pending = {root: 0}, [root], {}
    seen = {root}
    while waiting:
        for node, _ in waiting.pop().next_functions:
            if node is not None:
                pending[node] = pending.get(node, 0) + 1
                if node not in seen:
                    seen.add(node)
                    waiting.append(node)
    ready = [root]
    while ready:  # a node gets its row after all its predecessors
        node = ready.pop()
        for other, _ in node.next_functions:
            if other is not None:
                rows[other] = max(rows.get(other, 0), rows[node] + 1)
                pending[other] -= 1
                if pending[other] == 0:
                    ready.append(other)
    return rows


def _edges(node: Any) -> list[tuple[Any, int]]:
    return [(other, i) for other, i in node.next_functions if other is not None]


def _names_by_id(names: Mapping[str, Any] | None) -> tuple[dict[int, str], dict[tuple[int, int], str]]:
    """The names of leaves by their id, and the names of results by their node's id and output number."""
    leaves, results = {}, {}
    for name, tensor in (names or {}).items():
        if tensor.grad_fn is None:
            leaves[id(tensor)] = name
        else:
            results[id(tensor.grad_fn), tensor.output_nr] = name
    return leaves, results


def _root(tensor: Any) -> Any:
    if tensor.grad_fn is None:
        raise ValueError(
            "draw.graph needs a tensor with a grad_fn; this one is a leaf, or was computed without recording"
        )
    return tensor.grad_fn


def nodes(tensor: Any, names: Mapping[str, Any] | None = None) -> list[str]:
    """The graph as text, a line for each node: its gradients, its saved tensors, its next nodes. The same for rushlight and
    torch."""
    leaves, _ = _names_by_id(names)
    order = sorted(_reachable(root := _root(tensor)).items(), key=lambda each: each[1])
    numbers = {node: i for i, node in enumerate(dict.fromkeys(_depth_first(root)))}
    lines = []
    for node, _ in sorted(order, key=lambda each: numbers[each[0]]):
        leaf = leaves.get(id(getattr(node, "variable", None)), "")
        parts = [f"{numbers[node]} {_name(node)}", leaf, f"takes {', '.join(_input_sizes(node))}"]
        parts += [f"keeps {', '.join(saved)}"] if (saved := _saved(node)) else []
        leads = [f"{numbers[other]}" + (f"[{i}]" if i else "") for other, i in _edges(node)]
        parts += [f"leads to {', '.join(leads)}"] if leads else []
        lines.append("  ".join(filter(None, parts)))
    return lines


def _depth_first(root: Any) -> list[Any]:
    """The nodes in depth-first order, with the edges from first to last."""
    found, waiting = [], [root]
    while waiting:
        node = waiting.pop()
        found.append(node)
        waiting += [other for other, _ in reversed(_edges(node)) if other not in found]
    return found


# Layout --------------------------------------------------------------------------------------------------------------


def _layout(
    tensor: Any, names: Mapping[str, Any] | None, saved: bool, sizes: bool, marks: Mapping | None
) -> list[list[Box]]:
    """The rows of a picture, each from left to right, with the x of every box."""
    leaves, results = _names_by_id(names)
    root = _root(tensor)
    rows = _reachable(root)
    boxes: dict[Any, Box] = {}
    for node in dict.fromkeys(_depth_first(root)):
        variable = getattr(node, "variable", None)
        lines = [_name(node)]
        if variable is not None and (name := leaves.get(id(variable), "")):
            lines.append(f"{name} {_sizes(variable)}" if sizes else name)
        lines += _saved(node) if saved else []
        fill = LEAF if variable is not None else NODE
        if marks is not None:
            text, fill = marks[node]
            lines.append(text)
        boxes[node] = Box(lines, 2 * rows[node] + 1 if sizes else rows[node], fill)
    start = boxes[root]
    if sizes:
        start = Box([results.get((id(root), tensor.output_nr), "root") + f" {_sizes(tensor)}"])
        _connect(start, boxes[root], [])
    for node, box in boxes.items():
        for other, i in _edges(node):
            inputs = _input_sizes(other)
            text = f"{results.get((id(other), i), '')} {inputs[i] if i < len(inputs) else ''}".strip()
            text = f"{i}: {text}" if len(inputs) > 1 else text
            _connect(box, boxes[other], [text] if sizes and text else [])
    drawn = list(_reachable_boxes(start))
    ordered = [[box for box in drawn if box.row == row] for row in range(max(box.row for box in drawn) + 1)]
    for sweep in range(12):
        for row in ordered if sweep % 2 else reversed(ordered):
            _sort_row(
                row, "above" if sweep % 2 else "below", {box: i for line in ordered for i, box in enumerate(line)}
            )
    _set_positions(ordered)
    return ordered


def _connect(above: Box, below: Box, text: list[str]) -> None:
    """Connect two boxes by an arrow: a box for its label in the first free row, and bends in the rows after it."""
    for row in range(above.row + 1, below.row):
        bend = Box(text, row) if text else Box([], row, wide=0.3)
        text = []
        above.below.append(bend)
        bend.above.append(above)
        above = bend
    above.below.append(below)
    below.above.append(above)


def _reachable_boxes(start: Box) -> dict[Box, None]:
    found, waiting = {}, [start]
    while waiting:
        box = waiting.pop()
        if box not in found:
            found[box] = None
            waiting += reversed(box.below)
    return found


def _sort_row(row: list[Box], near: str, positions: Mapping[Box, int]) -> None:
    """Sort the boxes that have neighbours above, or below, by the mean position of these neighbours. The others do not move."""
    movable = [i for i, box in enumerate(row) if getattr(box, near)]
    boxes = sorted(
        (row[i] for i in movable), key=lambda box: _mean([positions[each] for each in getattr(box, near)], 0)
    )
    for i, box in zip(movable, boxes):
        row[i] = box


def _mean(values: Sequence[float], otherwise: float) -> float:
    return sum(values) / len(values) if values else otherwise


def _set_positions(rows: list[list[Box]]) -> None:
    """Give each box its x, as near to its neighbours above and below as the other boxes of the row allow."""
    for row in rows:
        _spread(row, [0.0] * len(row))
    for sweep in range(24):
        for row in rows if sweep % 2 else reversed(rows):
            near = "above" if sweep % 2 else "below"
            _spread(row, [_mean([each.x for each in getattr(box, near)], box.x) for box in row])
    for row in rows:
        _spread(row, [_mean([each.x for each in box.above + box.below], box.x) for box in row])
    least = min(box.x - box.wide / 2 for row in rows for box in row)
    for box in (box for row in rows for box in row):
        box.x -= least


def _spread(row: list[Box], wanted: list[float]) -> None:
    """Move a row's boxes to the x values in `wanted`. Boxes that would overlap form a group, which is moved as one."""
    groups: list[tuple[list[int], float]] = []  # boxes, and the x of the first
    for i, x in enumerate(wanted):
        group, at = [i], x
        while groups:
            before, start = groups[-1]
            if start + _distance(row, before, group[0]) <= at:
                break
            groups.pop()
            group = before + group
            at = sum(wanted[j] - _distance(row, group[:k], j) for k, j in enumerate(group)) / len(group)
        groups.append((group, at))
    for group, at in groups:
        for k, j in enumerate(group):
            row[j].x = at + _distance(row, group[:k], j)


def _distance(row: list[Box], before: Sequence[int], box: int) -> float:
    """The distance of a box from the first of those before it, middle to middle."""
    order = [*before, box]
    return sum((row[a].wide + row[b].wide) / 2 + APART for a, b in zip(order, order[1:]))


# Pictures ------------------------------------------------------------------------------------------------------------


def graph(tensor: Any, names: Mapping[str, Any] | None = None, saved: bool = True, sizes: bool = True) -> Figure:
    """The backward graph of a tensor, of rushlight or of torch.

    Args:
        names: tensors by their names; a leaf's name is in its box, the name of another tensor is on the arrow to its
            `grad_fn`.
        saved: whether to list the tensors that each node saves.
        sizes: whether to write the sizes of gradients on the arrows.
    """
    return graphs([("", tensor, names)], saved, sizes)


def graphs(panels: Sequence[tuple], saved: bool = True, sizes: bool = True) -> Figure:
    """Backward graphs side by side: for each a title, the tensor, and the names of tensors."""
    return _draw_panels([(title, _layout(tensor, names, saved, sizes, None)) for title, tensor, names in panels])


def engine(tensor: Any, order: Sequence[Any], names: Mapping[str, Any] | None = None, columns: int = 3) -> Figure:
    """A backward pass step by step, a panel for each step, with the number of gradients that each node still waits for.

    The running node is black, ready nodes are grey, and nodes that have run have no number.

    Args:
        order: the nodes in the order in which they ran, as hooks have recorded it.
        columns: the number of panels side by side.
    """
    panels = []
    for step, running in enumerate(order):
        done, marks = set(order[:step]), {}
        pending: dict[Any, int] = {}
        for node in order:
            for other, _ in _edges(node) if node not in done else ():
                pending[other] = pending.get(other, 0) + 1
        for node in order:
            left = pending.get(node, 0)
            ready = ("ready", "0.8") if left == 0 else (f"waits for {left}", "white")
            marks[node] = ("runs", "0.25") if node is running else ("done", "white") if node in done else ready
        panels.append((f"step {step + 1}", _layout(tensor, names, False, False, marks)))
    return _draw_panels(panels, columns)


def _draw_panels(panels: list[tuple[str, list[list[Box]]]], columns: int = 3) -> Figure:
    """The panels on one figure."""
    lines = [panels[i : i + columns] for i in range(0, len(panels), columns)]
    wide = [
        max(max(box.x + box.wide / 2 for row in rows for box in row), len(title) * 10 * CHARACTER)
        for title, rows in panels
    ]
    head = 0.9 if any(title for title, _ in panels) else 0.2
    high = [head + max(sum(_row_height(row) + ROW_GAP for row in rows) for _, rows in line) for line in lines]
    width = max(sum(wide[i * columns : (i + 1) * columns]) + 0.9 * (len(line) - 1) for i, line in enumerate(lines))
    figure, axes = sheet(2 * MARGIN + width, sum(high) + 0.35 * len(lines))
    top = 0.0
    for i, line in enumerate(lines):
        left = MARGIN
        for j, (title, rows) in enumerate(line):
            axes.text(left, top + 0.5, title, size=10, weight="bold", **MONO)
            _draw_rows(axes, rows, left, top + head)
            left += wide[i * columns + j] + 0.9
        top += high[i] + 0.35
    return figure


def _row_height(row: list[Box]) -> float:
    return max(box.tall for box in row)


def _draw_rows(axes: Axes, rows: list[list[Box]], left: float, top: float) -> None:
    tops = [top]
    for row in rows:
        tops.append(tops[-1] + _row_height(row) + ROW_GAP)
    for row, here in zip(rows, tops):
        ends = {id(to): iter(_ports(to, to.above)) for box in row for to in box.below}
        for box in sorted(row, key=lambda each: each.x):
            for port, to in zip(_ports(box, box.below), sorted(box.below, key=lambda each: each.x)):
                _arrow(axes, box, to, left + port, left + next(ends[id(to)]), here, tops)
    for row, here in zip(rows, tops):
        for box in row:
            _draw_box(axes, box, left + box.x, here)


def _ports(box: Box, others: Sequence[Box]) -> list[float]:
    """The x values at which the arrows of a box begin or end: spread around its middle, from left to right."""
    step = min(0.55, 0.7 * box.wide / max(len(others), 1))
    return [box.x + step * (i - (len(others) - 1) / 2) for i in range(len(others))]


def _arrow(axes: Axes, box: Box, to: Box, x: float, end: float, top: float, tops: list[float]) -> None:
    """Draw an arrow to a box in the next row. Within a row arrows go straight down, so they cross no other box."""
    y, down = top + box.tall, tops[to.row]
    bottom = tops[box.row + 1] - ROW_GAP  # of this row, which may have taller boxes
    bend = (down - bottom) / 2
    points = [(x, y), (x, bottom), (x, bottom + bend), (end, down - bend), (end, down)]
    codes = [Path.MOVETO, Path.LINETO, Path.CURVE4, Path.CURVE4, Path.CURVE4]
    axes.add_patch(PathPatch(Path(points, codes), fill=False, edgecolor=FAINT, linewidth=0.9))
    if not to.fill and to.lines == []:  # the arrow continues through the row
        axes.plot([end, end], [down, tops[to.row + 1] - ROW_GAP], color=FAINT, linewidth=0.9)
    if to.fill:
        style = {"arrowstyle": "-|>", "color": FAINT, "linewidth": 0.9, "shrinkA": 0, "shrinkB": 0, "mutation_scale": 7}
        axes.annotate("", (end, down), (end, down - 0.05), arrowprops=style)


def _draw_box(axes: Axes, box: Box, x: float, top: float) -> None:
    ink = {"color": ink_on(box.fill)}
    if box.fill:
        corner, style = (x - box.wide / 2, top), "round,pad=0,rounding_size=0.12"
        axes.add_patch(
            FancyBboxPatch(corner, box.wide, box.tall, style, facecolor=box.fill, edgecolor=INK, linewidth=0.9)
        )
    for i, line in enumerate(box.lines):
        middle = top + (0.15 if box.fill else 0) + LINE * (i + 0.5)
        bold = {"weight": "bold"} if box.fill and i == 0 else {}
        axes.text(x, middle, line, size=TEXT, ha="center", **MONO | ink | bold)
