"""Pictures of captured programs: graphs of nodes, bytecode with its stack, guards, graph breaks, the minimum cut.

They accept graphs of rushlight and of torch. A graph runs from its inputs at the top to its output at the bottom. Greys have
the same meaning in all pictures: light for inputs and outputs, white for forward, grey for backward, purple for marked nodes,
whose labels say why. A thick arrow is a tensor that is saved.
"""

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import groupby
from typing import Any

from matplotlib.figure import Figure

from rushlight.course.draw.boxes import LEAF, NODE, THICK, THIN, Box, arrange, assign_rows, draw_panels, in_order
from rushlight.course.draw.paper import FAINT, LETTER, MARGIN, MARK, MONO, arrow, rectangle, sheet, write

BACKWARD, MARKED = "0.72", MARK
INPUTS = ("placeholder", "get_attr")


def fx_nodes(graph: Any) -> list[str]:
    """The graph as text, a line for each node: its name, its target and its arguments. The same for rushlight and torch."""
    nodes = nodes_of(graph)
    return [node.name if node.op == "placeholder" else f"{node.name} = {_call_text(node)}" for node in nodes]


def nodes_of(graph: Any) -> Iterable[Any]:
    """The nodes of a `Graph` of rushlight or torch, or of an object that has one."""
    return getattr(graph, "graph", graph).nodes


def _call_text(node: Any, hole: str = "") -> str:
    args = [_format_argument(argument, hole) for argument in node.args]
    args += [f"{key}={_format_argument(value, hole)}" for key, value in node.kwargs.items()]
    return f"{_target(node)}({', '.join(args)})"


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
        inside = ", ".join(_format_argument(item, hole) for item in value)
        return f"[{inside}]" if isinstance(value, list) else f"({inside},)" if len(value) == 1 else f"({inside})"
    return value if hole and value is ... else str(value).removeprefix("torch.").removeprefix("rushlight.")


def fx_graph(graph: Any, **options: Any) -> Figure:
    """A captured graph as a picture, from its inputs to its output. For the options see `fx_graphs`."""
    return fx_graphs([("", graph)], **options)


def fx_graphs(
    panels: Sequence[tuple[str, Any]],
    marks: Mapping[str, str] | None = None,
    saved: Collection[str] = (),
    sizes: bool = True,
    backward: Collection[str] | None = None,
    columns: int = 4,
) -> Figure:
    """Captured graphs side by side.

    Args:
        panels: for each a title and a `Graph` of rushlight or torch, or an object that has one.
        marks: labels for the nodes of these names, whose boxes are purple.
        saved: the names of nodes whose results are saved for backward; their arrows into backward are thick, with the bytes.
        sizes: whether to write the sizes on the arrows, if they are known.
        backward: the names of the nodes that belong to backward; by default those that need a tangent.
    """
    drawn = [(title, _graph_rows(nodes_of(graph), marks or {}, saved, sizes, backward)) for title, graph in panels]
    return draw_panels(drawn, columns)


def _graph_rows(nodes: Iterable, marks: Mapping, saved: Collection, sizes: bool, late: Collection | None) -> list:
    late = _backward(nodes) if late is None else late
    boxes = {}
    for node in nodes:
        called = call_of(node) if node.op not in ("placeholder", "output") else ""
        lines = [node.name] if called in ("", node.name) else [node.name, called]
        fill = LEAF if node.op in (*INPUTS, "output") else BACKWARD if node.name in late else NODE
        if node.name in marks:
            lines, fill = [*lines, marks[node.name]], MARKED
        boxes[node] = Box(lines, fill=fill)

    def link(start: Any, end: Any) -> tuple[str, dict]:
        if start.name not in saved or end.name not in late:
            return sizes_of(start) if sizes else "", THIN
        return sizes_of(start, with_bytes=True), THICK

    return node_rows(boxes, link, [node for node in nodes if node.name in late])


Link = Callable[[Any, Any], tuple[str, dict]]


def node_rows(boxes: Mapping[Any, Box], link: Link, late: Collection = (), last_first: bool = True) -> list:
    """The rows of a graph of nodes. Arrows run from a node's inputs to it, with the label and look of `link(start, end)`."""
    links = [(a, b, *link(a, b)) for b in boxes for a in dict.fromkeys(b.all_input_nodes) if a in boxes]
    first = [node for node in boxes if node.op in INPUTS]
    assign_rows(boxes, links, first, [node for node in boxes if node.op == "output"], late)
    return arrange(boxes, by_start(boxes, links, last_first))


def by_start(boxes: Mapping[Any, Box], links: Sequence[tuple], last_first: bool = True) -> list[tuple]:
    """The links in the order of the boxes where they start."""
    number = {key: i for i, key in enumerate(boxes)}
    return sorted(links, key=lambda link: number[link[0]], reverse=last_first)


def _backward(nodes: Iterable) -> set[str]:
    """The nodes that cannot run before a tangent is known."""
    late: set[str] = set()
    for node in nodes:
        tangent = node.op == "placeholder" and str(node.target).startswith("tangents")
        if node.op != "output" and (tangent or any(operand.name in late for operand in node.all_input_nodes)):
            late.add(node.name)
    return late


def call_of(node: Any) -> str:
    """The target of a node, with its arguments if some are constants."""
    constant = any(not hasattr(argument, "all_input_nodes") for argument in (*node.args, *node.kwargs.values()))
    return _call_text(node, "·") if constant and node.op != "get_attr" else _target(node)


def sizes_of(node: Any, with_bytes: bool = False) -> str:
    """The sizes of the tensor that a node computes; "" if they are not known."""
    value = node.meta.get("val", node.meta.get("example_value"))
    if not hasattr(value, "shape"):
        return ""
    sizes = f"({', '.join(map(str, value.shape))})"
    return f"{sizes}  {value.dtype.itemsize * math.prod(value.shape)} B" if with_bytes else sizes


Pair = tuple[str, str]


def flow(
    edges: Sequence[tuple], cut: Collection[Pair] = (), unit: str = "", source: str = "source", sink: str = "sink"
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
    names = in_order([(start, end) for start, end, _ in edges])
    boxes = {name: Box([name], fill=NODE if name in white else BACKWARD) for name in names}
    links = []
    for start, end, capacity in edges:
        text = "" if capacity == float("inf") else f"{capacity:.10g} {unit}".strip()
        links.append((start, end, text, THICK if (start, end) in cut else THIN))
    assign_rows(boxes, links)
    return draw_panels([("", arrange(boxes, by_start(boxes, links)))])


def _reached(pairs: Sequence[Pair], start: str) -> set[str]:
    reached, waiting = {start}, [start]
    while waiting:
        at = waiting.pop()
        new = {end for begin, end in pairs if begin == at} - reached
        reached |= new
        waiting += new
    return reached


def bytecode(rows: Sequence[tuple[str, Sequence[str], str]], symbols: Collection[str] = ()) -> Figure:
    """Instructions from top to bottom, each with the stack after it and the nodes that it added to the graph. `rows`: for
    each instruction its text, the stack after it, the lowest entry first, and a note. `symbols`: the stack entries that
    represent a tensor, which are grey."""
    text = max(len(row[0]) for row in rows) * LETTER + 0.9
    slot = max((len(item) for _, stack, _ in rows for item in stack), default=1) * LETTER + 0.5
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
        for j, item in enumerate(stack):
            left = middle + j * slot
            rectangle(axes, left, top + 0.03, slot - 0.1, tall - 0.18, BACKWARD if item in symbols else "white")
            axes.text(left + slot / 2 - 0.05, top + tall / 2 - 0.05, item, size=7.5, ha="center", **MONO)
        axes.text(right, top + tall / 2 - 0.05, written, size=7.5, **MONO)
    return figure


def guards(entries: Sequence[tuple[str, Sequence[tuple[str, bool | None]]]], otherwise: str = "compile") -> Figure:
    """A cache as a list of decisions: the entries from left to right, in each its guards from top to bottom.

    A guard that held is white. The one that failed is purple and leads to the next entry. Unchecked guards are hatched.

    Args:
        entries: for each the name of its code, and its guards: a text, and whether it held; None if it was not checked.
        otherwise: the action if no entry's guards all hold.
    """
    tall, head, high = 0.95, 1.0, 0.7  # from row to row, above the first, and of a box
    taken = next((i for i, (_, checks) in enumerate(entries) if all(held is True for _, held in checks)), None)
    wide = [max([len(name) + 4, 9, *(len(text) for text, _ in checks)]) * LETTER + 0.7 for name, checks in entries]
    most = max(len(checks) for _, checks in entries)
    last = len(otherwise) * LETTER + 0.7
    width = 2 * MARGIN + sum(wide) + 1.1 * (len(wide) - 1) + (1.1 + last if taken is None else 0)
    figure, axes = sheet(width, head + tall * (most + 1) + 0.7)
    look = {"arrowstyle": "-|>", "mutation_scale": 8}

    def draw_box(left: float, top: float, room: float, fill: str | None, text: str, **style: Any) -> None:
        rectangle(axes, left, top, room, high, fill)
        write(axes, left + 0.3, top + high / 2, text, fill=fill, **style)

    left, previous = MARGIN, None
    for i, ((name, checks), room) in enumerate(zip(entries, wide)):
        axes.text(left, 0.5, f"entry {i}", size=8.5, weight="bold", **MONO)
        if previous is not None:
            arrow(axes, previous, (left, head + 0.35), **look)
        previous = None
        for j, (text, held) in enumerate(checks):
            top = head + tall * j
            draw_box(left, top, room, {True: "white", False: MARKED, None: None}[held], text)
            if held:
                arrow(axes, (left + 0.6, top + high), (left + 0.6, top + tall), **look)
            if held is False:
                previous = left + room, top + high / 2
        bold = {"weight": "bold"} if i == taken else {}
        draw_box(left, head + tall * len(checks), room, LEAF if i == taken else None, f"run {name}", **bold)
        left += room + 1.1
    if taken is None:
        if previous is not None:
            arrow(axes, previous, (left, head + 0.35), **look)
        draw_box(left, head, last, LEAF, otherwise, weight="bold")
    return figure


def breaks(lines: Sequence[tuple[str, str]], inside: Mapping[str, Sequence[str]] | None = None) -> Figure:
    """A function split into graphs by graph breaks: its lines from top to bottom in time, with the graph or code that runs
    each. `lines`: of the source, each with its owner: a name that begins with "graph" is a graph, drawn grey; anything else
    is Python's own code, hatched. `inside`: lines to write to the right of each of these names."""
    inside = inside or {}
    parts = [(owner, [line for line, _ in run]) for owner, run in groupby(lines, key=lambda line: line[1])]
    tall, gap = 0.62, 0.4
    text = max(len(line) for line, _ in lines) * LETTER + 0.8
    name = max(len(owner) for owner, _ in parts) * LETTER + 0.6
    note = max((len(line) for said in inside.values() for line in said), default=0) * LETTER + 0.5
    heights = [tall * max(len(texts), len(inside.get(owner, ())), 1) + 0.2 for owner, texts in parts]
    start, end = MARGIN + 0.7, MARGIN + sum(heights) + gap * (len(parts) - 1)
    figure, axes = sheet(start + text + name + note + MARGIN, end + MARGIN)
    look = {"arrowstyle": "-|>", "color": FAINT, "mutation_scale": 9}
    arrow(axes, (MARGIN + 0.15, MARGIN), (MARGIN + 0.15, end), **look)
    top = MARGIN
    for (owner, texts), height in zip(parts, heights):
        fill = LEAF if owner.startswith("graph") else None
        rectangle(axes, start, top, text, height, fill)
        for i, line in enumerate(texts):
            write(axes, start + 0.3, top + 0.1 + tall * (i + 0.5), line, fill=fill)
        axes.text(start + text + 0.35, top + 0.1 + tall / 2, owner, size=7.5, weight="bold", **MONO)
        for i, line in enumerate(inside.get(owner, ())):
            axes.text(start + text + name + 0.35, top + 0.1 + tall * (i + 0.5), line, size=7.5, **MONO)
        top += height + gap
    return figure
