"""Pictures of custom operators in real torch: captured graphs, a table of outcomes, rows in eight bits, a device's trace.

Colours have the same meaning in all pictures: white is ordinary, purple is custom or wrong. Greys between have a label too.
"""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from rushlight.course.draw import paper
from rushlight.course.draw.boxes import LEAF, NODE, THIN, Box, draw_panels
from rushlight.course.draw.capture import INPUTS, node_rows, nodes_of, sizes_of
from rushlight.course.draw.paper import CHARACTER, INK, LETTER, MARGIN, MONO, charts, rectangle, sheet

OWN = paper.MARK


def captured(panels: Sequence[tuple[str, Any]], own: Collection[str] = ()) -> paper.Picture:
    """Captured graphs side by side, from their inputs at the top to their results at the bottom. `panels`: for each a title
    and a `torch.fx.Graph`, or an object with the attribute `graph`. `own`: the namespaces whose operators are drawn purple."""
    return draw_panels([(title, _rows(nodes_of(graph), own)) for title, graph in panels], columns=3)


def _rows(nodes: Iterable[Any], own: Collection[str]) -> list:
    boxes: dict[Any, Box] = {}
    for node in nodes:
        if node.op == "output" or node.users or any(operand in boxes for operand in node.all_input_nodes):
            boxes[node] = Box([_operator(node)], fill=_shade(node, own))
    return node_rows(boxes, lambda start, end: (sizes_of(start), THIN), last_first=False)


def _operator(node: Any) -> str:
    """The operator that a node calls: `aten.mm`, `mine.fused_linear`; an input by its name."""
    if node.op in INPUTS:
        return str(node.target).strip("_")
    if node.op == "output":
        return "result"
    schema = getattr(_called(node), "_schema", None)
    if schema is None:
        return getattr(node.target, "__name__", str(node.target))
    name = schema.name.removeprefix("aten::").replace("::", ".")
    return name if _called(node) is node.target else f"{str(node.target).rpartition('.')[2]}: {name}"


def _called(node: Any) -> Any:
    """The target of a node; the operator that `auto_functionalized` calls is its first argument."""
    return node.args[0] if "auto_functionalized" in str(node.target) else node.target


def _shade(node: Any, own: Collection[str]) -> str:
    schema = getattr(_called(node), "_schema", None)
    if schema is not None and schema.name.partition("::")[0] in own:
        return OWN
    return LEAF if node.op in (*INPUTS, "output") else NODE


def outcomes(rows: Mapping[str, Mapping[str, str]], columns: Sequence[str]) -> paper.Picture:
    """A table of outcomes: "right" is white, "wrong" purple, anything else, the name of an error, grey."""
    label = max(len(row) for row in rows) * 8 * CHARACTER + 0.5
    wide = max(max(len(cell) for row in rows.values() for cell in row.values()), max(map(len, columns)))
    wide, tall = wide * LETTER + 0.5, 0.9
    figure, axes = sheet(2 * MARGIN + label + wide * len(columns), 2 * MARGIN + 0.6 + tall * len(rows))
    for j, column in enumerate(columns):
        left = MARGIN + label + j * wide
        axes.text(left + wide / 2, MARGIN + 0.15, column, size=7.5, ha="center", **MONO)
        for i, row in enumerate(rows.values()):
            fill = {"right": "white", "wrong": OWN}.get(row[column], "0.85")
            paper.cell(axes, left, MARGIN + 0.6 + i * tall, wide, tall, fill, row[column], size=7.5)
    for i, row in enumerate(rows):
        axes.text(MARGIN, MARGIN + 0.6 + (i + 0.5) * tall, row, size=8, **MONO)
    return figure


def quantised(rows: Any, data: Any, scale: Any) -> paper.Picture:
    """A matrix, its int8 values, and the scale of each row; all as arrays or tensors on the CPU."""
    rows, data, scale = (np.asarray(tensor) for tensor in (rows, data, scale))
    figure, grid = charts(8.4, 0.9 + 0.26 * len(rows), 1, 3, sharey=True, width_ratios=(3, 3, 1.4))
    left, middle, right = grid[0]
    for axes, values, end, title in (
        (left, rows, np.abs(rows).max() or 1, "as it was"),
        (middle, data, 127, "int8, from -127 to 127"),
    ):
        axes.imshow(values, cmap="Greys", vmin=-end, vmax=end, aspect="auto", interpolation="nearest")
        axes.set_title(title, size=9, loc="left")
        axes.set_xlabel("column")
        axes.spines[:].set_visible(True)
    right.barh(range(len(rows)), scale, color="0.7", edgecolor=INK, linewidth=0.7)
    right.set_title("scale", size=9, loc="left")
    left.set_ylabel("row")
    left.set_yticks(range(len(rows)))
    return figure


KINDS = {  # of calls: their grey, and their label
    "kernel": (OWN, "a kernel of its own"),
    "memory": ("white", "memory and views"),
    "copy": ("0.85", "a copy"),
    "fallback": (None, "the fallback, on the CPU"),
}


def device_trace(panels: Sequence[tuple[str, Sequence[str]]]) -> paper.Picture:
    """The calls that reached a device, from top to bottom, a box for each call. A panel is a title and lines. A line is one
    of `rushlight.on_torch.backend.trace()`: two spaces for each enclosing call, the operator, its arguments."""
    calls = [(title, [_parsed(line) for line in lines]) for title, lines in panels]
    tall, indent, head = 0.72, 0.8, 1.0
    names = [max((d * indent + len(n) * LETTER + 0.6 for d, n, _ in rows), default=0) for _, rows in calls]
    wide = [max(name, len(title) * 9 * CHARACTER) for name, (title, _) in zip(names, calls)]
    most = max(len(rows) for _, rows in calls)
    width = max(sum(wide) + 0.8 * (len(calls) - 1), sum(len(words) * LETTER + 1.3 for _, words in KINDS.values()))
    figure, axes = sheet(2 * MARGIN + width, 2 * MARGIN + head + tall * most + 1.1)
    left = MARGIN
    for (title, rows), room in zip(calls, wide):
        axes.text(left, MARGIN + 0.2, title, size=9, weight="bold", **MONO)
        for i, (depth, name, kind) in enumerate(rows):
            at, top = left + depth * indent, MARGIN + head + i * tall
            _call(axes, at, top, len(name) * LETTER + 0.5, tall - 0.1, KINDS[kind][0], name)
        left += room + 0.8
    left, top = MARGIN, MARGIN + head + tall * most + 0.35
    for fill, words in KINDS.values():
        _call(axes, left, top, 0.6, tall - 0.1, fill, "")
        axes.text(left + 0.75, top + (tall - 0.1) / 2, words, size=7.5, **MONO)
        left += len(words) * LETTER + 1.3
    return figure


def _parsed(line: str) -> tuple[int, str, str]:
    """The depth of a call, its operator, and its kind."""
    spaces, name = re.match(r"( *)(?:aten::)?([\w:.]+)", line).groups()
    if "on the CPU" in line:
        kind = "fallback"
    elif name.startswith("_copy_from"):
        kind = "copy"
    else:
        kind = "memory" if name.partition(".")[0] in ("empty", "empty_strided", "as_strided", "view") else "kernel"
    return len(spaces) // 2, name, kind


def _call(axes: Any, left: float, top: float, wide: float, tall: float, fill: str | None, text: str) -> None:
    rectangle(axes, left, top, wide, tall, fill, edge=INK)
    paper.write(axes, left + 0.25, top + tall / 2, text, fill=fill)
