"""Pictures of captured programs: graphs of nodes, bytecode with its stack, guards, graph breaks, the minimum cut.

They accept graphs of rushlight and of torch. A graph runs from its inputs at the top to its output at the bottom. Greys have
the same meaning in all pictures: light for inputs and outputs, white for forward, grey for backward, black for marked nodes,
whose labels say why. A thick arrow is a tensor that is saved.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import PathPatch
from matplotlib.path import Path

from rushlight.course.draw.backward import (
    LEAF,
    NODE,
    ROW_GAP,
    Box,
    _draw_box,
    _ports,
    _row_height,
    _set_positions,
    _sort_row,
)
from rushlight.course.draw.paper import CHARACTER, FAINT, INK, MARGIN, MONO, ink_on, rectangle, sheet

BACKWARD, MARKED = "0.72", "0.25"
LETTER = 7.5 * CHARACTER  # of the text in boxes, in cells
THIN, THICK = {"edgecolor": FAINT, "linewidth": 0.9}, {"edgecolor": INK, "linewidth": 2.6}

# ------------------------------------------------------------------------------------------------------------
# A graph as text


def fx_nodes(graph: Any) -> list[str]:
    """The graph as text, a line for each node: its name, its target and its arguments. The same for rushlight and torch."""
    lines = []
    for node in _graph(graph).nodes:
        args = [_format_argument(each) for each in node.args]
        args += [f"{key}={_format_argument(value)}" for key, value in node.kwargs.items()]
        lines.append(f"{node.name} = {_target(node)}({', '.join(args)})" if node.op != "placeholder" else node.name)
    return lines


def _graph(graph: Any) -> Any:
    return getattr(graph, "graph", graph)


def _target(node: Any) -> str:
    """The target of a node, as short as it is clear: `aten.mm`, `relu`, `.sum`, `module lin`."""
    if hasattr(node.target, "_schema"):
        return str(node.target).removesuffix(".default")
    if node.op in ("call_method", "call_module", "get_attr"):
        return {"call_method": ".", "call_module": "module ", "get_attr": "attribute "}[node.op] + str(node.target)
    return getattr(node.target, "__name__", str(node.target))


def _format_argument(value: Any, hole: str = "") -> str:
    """An argument in the form of program text. A node is its name, or the `hole` that its arrow fills."""
    if hasattr(value, "all_input_nodes"):
        return hole or value.name
    if isinstance(value, (list, tuple)):
        inside = ", ".join(_format_argument(each, hole) for each in value)
        return f"[{inside}]" if isinstance(value, list) else f"({inside},)" if len(value) == 1 else f"({inside})"
    return value if hole and value is ... else str(value).removeprefix("torch.").removeprefix("rushlight.")


# ------------------------------------------------------------------------------------------------------------
# Graphs


def fx_graph(
    graph: Any,
    marks: Mapping[str, str] | None = None,
    saved: Collection[str] = (),
    sizes: bool = True,
    backward: Collection[str] | None = None,
) -> Figure:
    """A captured graph as a picture, from its inputs to its output: a `Graph` of rushlight or torch, or an object that has
    one.

    Args:
        marks: labels for the nodes of these names, whose boxes are black.
        saved: the names of nodes whose results are saved for backward; their arrows into backward are thick, with the bytes.
        sizes: whether to write the sizes on the arrows, if they are known.
        backward: the names of the nodes that belong to backward; by default those that need a tangent.
    """
    return fx_graphs([("", graph)], marks, saved, sizes, backward)


def fx_graphs(
    panels: Sequence[tuple[str, Any]],
    marks: Mapping[str, str] | None = None,
    saved: Collection[str] = (),
    sizes: bool = True,
    backward: Collection[str] | None = None,
    columns: int = 4,
) -> Figure:
    """Captured graphs side by side, for each a title and the graph; see `fx_graph`."""
    drawn = [(title, *_graph_rows(_graph(graph), marks or {}, saved, sizes, backward)) for title, graph in panels]
    return _panels(drawn, columns)


def _graph_rows(graph: Any, marks: Mapping, saved: Collection, sizes: bool, backward: Collection | None) -> tuple:
    late = _backward(graph) if backward is None else backward
    boxes = {}
    for node in graph.nodes:
        called = _call(node) if node.op not in ("placeholder", "output") else ""
        lines = [node.name] if called in ("", node.name) else [node.name, called]
        fill = LEAF if node.op in ("placeholder", "get_attr", "output") else BACKWARD if node.name in late else NODE
        if node.name in marks:
            lines, fill = [*lines, marks[node.name]], MARKED
        boxes[node] = Box(lines, fill=fill)
    links = []
    for node in graph.nodes:
        for other in dict.fromkeys(node.all_input_nodes):
            kept = other.name in saved and node.name in late
            text = f"{_sizes(other)}  {_bytes(other)}".strip() if kept else _sizes(other) if sizes else ""
            links.append((other, node, text, THICK if kept else THIN))
    first = [node for node in graph.nodes if node.op in ("placeholder", "get_attr")]
    last = [node for node in graph.nodes if node.op == "output"]
    return _arrange_rows(boxes, links, first, last, [node for node in graph.nodes if node.name in late])


def _backward(graph: Any) -> set[str]:
    """The nodes that cannot run before a tangent is known."""
    late: set[str] = set()
    for node in graph.nodes:
        tangent = node.op == "placeholder" and str(node.target).startswith("tangents")
        if node.op != "output" and (tangent or any(each.name in late for each in node.all_input_nodes)):
            late.add(node.name)
    return late


def _call(node: Any) -> str:
    target = _target(node)
    if node.op == "get_attr":
        return target
    constant = [each for each in (*node.args, *node.kwargs.values()) if not hasattr(each, "all_input_nodes")]
    if not constant:
        return target
    args = [_format_argument(each, "·") for each in node.args]
    args += [f"{key}={_format_argument(value, '·')}" for key, value in node.kwargs.items()]
    return f"{target}({', '.join(args)})"


def _value(node: Any) -> Any:
    return node.meta.get("val", node.meta.get("example_value"))


def _sizes(node: Any) -> str:
    value = _value(node)
    if isinstance(value, (list, tuple)) or not hasattr(value, "shape"):
        return ""
    return f"({', '.join(str(size) for size in value.shape)})"


def _bytes(node: Any) -> str:
    value = _value(node)
    if isinstance(value, (list, tuple)) or not hasattr(value, "shape"):
        return ""
    number = value.dtype.itemsize
    for size in value.shape:
        number *= size
    return f"{number} B"


# ------------------------------------------------------------------------------------------------------------
# Rows of boxes


def _arrange_rows(
    boxes: Mapping, links: Sequence[tuple], first: Collection = (), last: Collection = (), late: Collection = ()
) -> tuple:
    """The rows of a picture, with a position for every box, and the styles of the arrows.

    Args:
        boxes: by any key, in an order in which each comes after its predecessors.
        links: for each the start, the end, the label of the arrow, and its style.
        first: boxes right above the first box that reads them; the others are as high as possible.
        last: boxes below everything else.
        late: boxes below all that are neither late nor last, if there are any.
    """
    _assign_rows(boxes, links, first, last, late)
    looks: dict[tuple[Box, Box], dict] = {}
    for start, end, text, look in links:
        _connect(boxes[start], boxes[end], text, look, looks)
    drawn, waiting = dict.fromkeys(boxes.values()), list(boxes.values())
    while waiting:  # the labels and bends between the boxes
        for box in waiting.pop().below:
            if box not in drawn:
                drawn[box] = None
                waiting.append(box)
    rows = [[box for box in drawn if box.row == row] for row in range(max(box.row for box in drawn) + 1)]
    rows = [row for row in rows if row]
    for sweep in range(16):
        for row in rows if sweep % 2 else reversed(rows):
            _sort_row(row, "above" if sweep % 2 else "below", {box: i for line in rows for i, box in enumerate(line)})
    _set_positions(rows)
    for i, row in enumerate(rows):
        for box in row:
            box.row = i
    return rows, looks


def _assign_rows(boxes: Mapping, links: Sequence[tuple], first: Collection, last: Collection, late: Collection) -> None:
    """Give each box its row: even numbers, so that labels of arrows have rows between. For the arguments see `_arrange_rows`."""
    above: dict[Any, list] = {key: [] for key in boxes}
    below: dict[Any, list] = {key: [] for key in boxes}
    for start, end, *_ in links:
        above[end].append(start)
        below[start].append(end)
    late = set(late)
    for key in boxes:  # boxes that need a late box are late too
        if key not in last and any(each in late for each in above[key]):
            late.add(key)
    early = [key for key in boxes if key not in late and key not in last and key not in first]
    border = 0
    for key in [*(key for key in boxes if key not in late), *(key for key in boxes if key in late)]:
        box = boxes[key]
        box.row = max(2 * (max((boxes[each].row // 2 for each in above[key]), default=-1) + 1), border * (key in late))
        if key in early and late:
            border = max(border, box.row + 2)
    for key in last:
        boxes[key].row = max(2 + max((b.row for k, b in boxes.items() if k not in last), default=-2), boxes[key].row)
    for key in first:
        if below[key]:
            boxes[key].row = min(boxes[each].row for each in below[key]) - 2


def _connect(above: Box, below: Box, text: str, look: dict, looks: dict) -> None:
    """Connect two boxes by an arrow: a box for its label in the first free row, and bends in the rows after it."""
    for row in range(above.row + 1, below.row):
        bend = Box([text], row) if text else Box([], row, wide=0.3)
        text = ""
        above.below.append(bend)
        bend.above.append(above)
        looks[above, bend] = look
        above = bend
    above.below.append(below)
    below.above.append(above)
    looks[above, below] = look


def _panels(panels: Sequence[tuple], columns: int = 4) -> Figure:
    """Titles and rows of boxes, side by side on one figure."""
    lines = [panels[i : i + columns] for i in range(0, len(panels), columns)]
    head = 0.9 if any(title for title, *_ in panels) else 0.2
    wide = [
        [
            max(max(box.x + box.wide / 2 for row in rows for box in row), len(title) * 10 * CHARACTER)
            for title, rows, _ in line
        ]
        for line in lines
    ]
    high = [head + max(sum(_row_height(row) + ROW_GAP for row in rows) for _, rows, _ in line) for line in lines]
    width = max(sum(each) + 0.9 * (len(each) - 1) for each in wide)
    figure, axes = sheet(2 * MARGIN + width, sum(high) + 0.35 * len(lines))
    top = 0.0
    for line, each, tall in zip(lines, wide, high):
        left = MARGIN
        for (title, rows, looks), room in zip(line, each):
            axes.text(left, top + 0.5, title, size=10, weight="bold", **MONO)
            _draw_rows(axes, rows, looks, left, top + head)
            left += room + 0.9
        top += tall + 0.35
    return figure


def _draw_rows(axes: Axes, rows: list[list[Box]], looks: Mapping, left: float, top: float) -> None:
    tops = [top]
    for row in rows:
        tops.append(tops[-1] + _row_height(row) + ROW_GAP)
    for row, here in zip(rows, tops):
        ends = {to: iter(_ports(to, to.above)) for box in row for to in box.below}
        for box in sorted(row, key=lambda each: each.x):
            for port, to in zip(_ports(box, box.below), sorted(box.below, key=lambda each: each.x)):
                _arrow(axes, box, to, left + port, left + next(ends[to]), here, tops, looks[box, to])
    for row, here in zip(rows, tops):
        for box in row:
            _draw_box(axes, box, left + box.x, here)


def _arrow(axes: Axes, box: Box, to: Box, x: float, end: float, top: float, tops: list[float], look: dict) -> None:
    """Draw an arrow to a box in the next row, straight down as far as the boxes of this row reach."""
    y, down = top + box.tall, tops[to.row]
    bottom = max(tops[box.row + 1] - ROW_GAP, y)
    bend = (down - bottom) / 2
    points = [(x, y), (x, bottom), (x, bottom + bend), (end, down - bend), (end, down)]
    codes = [Path.MOVETO, Path.LINETO, Path.CURVE4, Path.CURVE4, Path.CURVE4]
    if not to.fill and not to.lines:  # the arrow continues through the row
        points, codes = [*points, (end, tops[to.row + 1] - ROW_GAP)], [*codes, Path.LINETO]
    axes.add_patch(PathPatch(Path(points, codes), fill=False, capstyle="butt", **look))
    if to.fill:
        style = {"arrowstyle": "-|>", "color": look["edgecolor"], "linewidth": 0.9, "shrinkA": 0, "shrinkB": 0}
        axes.annotate(
            "", (end, down), (end, down - 0.05), arrowprops=style | {"mutation_scale": 5 + look["linewidth"] * 2}
        )


# ------------------------------------------------------------------------------------------------------------
# The cut


def flow(
    edges: Sequence[tuple[str, str, float]],
    cut: Collection[tuple[str, str]] = (),
    unit: str = "",
    source: str = "source",
    sink: str = "sink",
) -> Figure:
    """A flow network from its source, at the top, to its sink: each arrow with its capacity, the arrows of the cut thick.

    Nodes and arrows on no path from source to sink are left out.

    Args:
        edges: start, end, and capacity; an infinite capacity is an arrow without a number.
        cut: the pairs that are cut. The nodes that can still be reached from the source are white, the rest grey.
        unit: the unit after a capacity.
    """
    pairs = [(start, end) for start, end, _ in edges]
    there = _reached(pairs, source) & _reached([(end, start) for start, end in pairs], sink)
    edges = [edge for edge in edges if there.issuperset(edge[:2])]
    white = _reached([pair for pair in pairs if pair not in set(cut)], source)
    names = _in_order([(start, end) for start, end, _ in edges])
    boxes = {name: Box([name], fill=NODE if name in white else BACKWARD) for name in names}
    links = []
    for start, end, capacity in edges:
        text = "" if capacity == float("inf") else f"{capacity:.10g} {unit}".strip()
        links.append((start, end, text, THICK if (start, end) in cut else THIN))
    return _panels([("", *_arrange_rows(boxes, links))])


def _reached(pairs: Sequence[tuple[str, str]], start: str) -> set[str]:
    found, waiting = {start}, [start]
    while waiting:
        at = waiting.pop()
        new = {end for begin, end in pairs if begin == at} - found
        found |= new
        waiting += new
    return found


def _in_order(pairs: Sequence[tuple[str, str]]) -> list[str]:
    """The names, each after all its predecessors."""
    waits = {name: 0 for pair in pairs for name in pair}
    for _, end in pairs:
        waits[end] += 1
    order = [name for name, count in waits.items() if not count]
    for name in order:
        for start, end in pairs:
            if start == name:
                waits[end] -= 1
                if not waits[end]:
                    order.append(end)
    if len(order) < len(waits):
        raise ValueError("draw.flow shows networks without cycles")
    return order


# ------------------------------------------------------------------------------------------------------------
# Bytecode


def bytecode(rows: Sequence[tuple[str, Sequence[str], str]], symbols: Collection[str] = ()) -> Figure:
    """Instructions from top to bottom, each with the stack after it and the nodes that it added to the graph.

    Args:
        rows: for each instruction its text, the stack after it, the lowest entry first, and a note.
        symbols: the stack entries that represent a tensor, which are grey.
    """
    text = max(len(row[0]) for row in rows) * LETTER + 0.9
    slot = max((len(each) for _, stack, _ in rows for each in stack), default=1) * LETTER + 0.5
    deepest = max(max(len(stack) for _, stack, _ in rows), 3)
    note = max(max(len(row[2]) for row in rows), 25) * LETTER
    head, tall = 1.3, 0.82
    middle, right = MARGIN + text, MARGIN + text + deepest * slot + 0.7
    figure, axes = sheet(right + note + MARGIN, head + tall * len(rows) + 0.3)
    for left, title in (MARGIN, "instruction"), (middle, "the stack after it"), (right, "written into the graph"):
        axes.text(left, 0.6, title, size=8.5, weight="bold", **MONO)
    for i, (instruction, stack, written) in enumerate(rows):
        top = head + tall * i
        axes.plot([MARGIN, right + note], [top - 0.05] * 2, color="0.88", linewidth=0.6)
        axes.text(MARGIN, top + tall / 2 - 0.05, instruction, size=7.5, **MONO)
        for j, each in enumerate(stack):
            left = middle + j * slot
            rectangle(axes, left, top + 0.03, slot - 0.1, tall - 0.18, BACKWARD if each in symbols else "white")
            axes.text(left + slot / 2 - 0.05, top + tall / 2 - 0.05, each, size=7.5, ha="center", **MONO)
        axes.text(right, top + tall / 2 - 0.05, written, size=7.5, **MONO)
    return figure


# ------------------------------------------------------------------------------------------------------------
# Guards


def guards(entries: Sequence[tuple[str, Sequence[tuple[str, bool | None]]]], otherwise: str = "compile") -> Figure:
    """A cache as a list of decisions: the entries from left to right, in each its guards from top to bottom.

    A guard that held is white. The one that failed is black and leads to the next entry. Guards that were not checked are
    hatched.

    Args:
        entries: for each the name of its code, and its guards: a text, and whether it held; None if it was not checked.
        otherwise: the action if no entry's guards all hold.
    """
    tall, head = 0.95, 1.0
    outcomes = [[held for _, held in each] for _, each in entries]
    taken = next((i for i, each in enumerate(outcomes) if all(held is True for held in each)), None)
    wide = [max([len(name) + 4, 9, *(len(text) for text, _ in each)]) * LETTER + 0.7 for name, each in entries]
    most = max(len(each) for _, each in entries)
    last = len(otherwise) * LETTER + 0.7
    width = 2 * MARGIN + sum(wide) + 1.1 * (len(wide) - 1) + (1.1 + last if taken is None else 0)
    figure, axes = sheet(width, head + tall * (most + 1) + 0.7)
    arrow = {"arrowstyle": "-|>", "color": INK, "linewidth": 1, "shrinkA": 0, "shrinkB": 0, "mutation_scale": 8}
    left, previous = MARGIN, None
    for i, ((name, each), room) in enumerate(zip(entries, wide)):
        axes.text(left, 0.5, f"entry {i}", size=8.5, weight="bold", **MONO)
        if previous is not None:
            axes.annotate("", (left, head + 0.35), previous, arrowprops=arrow | {"connectionstyle": "arc3,rad=0"})
        previous = None
        for j, (text, held) in enumerate(each):
            top, fill = head + tall * j, {True: "white", False: MARKED, None: None}[held]
            rectangle(axes, left, top, room, tall - 0.25, fill)
            plate = {"bbox": {"facecolor": "white", "edgecolor": "none", "pad": 0.8}} if fill is None else {}
            axes.text(left + 0.3, top + (tall - 0.25) / 2, text, size=7.5, **MONO | {"color": ink_on(fill)}, **plate)
            if held:
                axes.annotate("", (left + 0.6, top + tall), (left + 0.6, top + tall - 0.25), arrowprops=arrow)
            if held is False:
                previous = left + room, top + (tall - 0.25) / 2
        top, runs = head + tall * len(each), i == taken
        rectangle(axes, left, top, room, tall - 0.25, LEAF if runs else None)
        plate = {} if runs else {"bbox": {"facecolor": "white", "edgecolor": "none", "pad": 0.8}}
        bold = {"weight": "bold"} if runs else {}
        axes.text(left + 0.3, top + (tall - 0.25) / 2, f"run {name}", size=7.5, **MONO, **plate, **bold)
        left += room + 1.1
    if taken is None:
        if previous is not None:
            axes.annotate("", (left, head + 0.35), previous, arrowprops=arrow)
        rectangle(axes, left, head, last, tall - 0.25, LEAF)
        axes.text(left + 0.3, head + (tall - 0.25) / 2, otherwise, size=7.5, weight="bold", **MONO)
    return figure


# ------------------------------------------------------------------------------------------------------------
# Graph breaks


def breaks(lines: Sequence[tuple[str, str]], inside: Mapping[str, Sequence[str]] | None = None) -> Figure:
    """A function split into graphs by graph breaks: its lines from top to bottom in time, with the graph or code that runs
    each.

    Args:
        lines: of the source, each with its owner: a name that begins with "graph" is a graph, drawn grey; anything else is
            Python's own code, hatched.
        inside: lines to write to the right of each of these names.
    """
    inside = inside or {}
    parts: list[tuple[str, list[str]]] = []
    for line, owner in lines:
        if not parts or parts[-1][0] != owner:
            parts.append((owner, []))
        parts[-1][1].append(line)
    tall, gap = 0.62, 0.4
    text = max(len(line) for line, _ in lines) * LETTER + 0.8
    name = max(len(owner) for owner, _ in parts) * LETTER + 0.6
    note = max((len(each) for said in inside.values() for each in said), default=0) * LETTER + 0.5
    heights = [tall * max(len(each), len(inside.get(owner, ())), 1) + 0.2 for owner, each in parts]
    start = MARGIN + 0.7
    figure, axes = sheet(start + text + name + note + MARGIN, 2 * MARGIN + sum(heights) + gap * (len(parts) - 1))
    top = MARGIN
    arrow = {"arrowstyle": "-|>", "color": FAINT, "linewidth": 1, "shrinkA": 0, "shrinkB": 0, "mutation_scale": 9}
    axes.annotate(
        "", (MARGIN + 0.15, MARGIN + sum(heights) + gap * (len(parts) - 1)), (MARGIN + 0.15, MARGIN), arrowprops=arrow
    )
    plate = {"bbox": {"facecolor": "white", "edgecolor": "none", "pad": 1}}
    for (owner, each), height in zip(parts, heights):
        captured = owner.startswith("graph")
        rectangle(axes, start, top, text, height, LEAF if captured else None)
        for i, line in enumerate(each):
            at = top + 0.1 + tall * (i + 0.5)
            axes.text(start + 0.3, at, line, size=7.5, **MONO, **({} if captured else plate))
        axes.text(start + text + 0.35, top + 0.1 + tall / 2, owner, size=7.5, weight="bold", **MONO)
        for i, line in enumerate(inside.get(owner, ())):
            axes.text(start + text + name + 0.35, top + 0.1 + tall * (i + 0.5), line, size=7.5, **MONO)
        top += height + gap
    return figure
