"""Pictures of backward graphs of rushlight and of torch.

The root is at the top. Arrows have the direction of the gradients: along `next_functions`, down to the leaves. A box is a
node; below its name are its saved tensors. An arrow has the sizes of its gradient and, if known, the name of the gradient's
tensor. If a node takes several gradients, they are numbered. The boxes of leaves are grey. A node's row is the length of the
longest path from the root.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from rushlight.course.draw.boxes import LEAF, NODE, THIN, Box, arrange, draw_panels, in_order
from rushlight.course.draw.paper import MARK, Picture

# Reading a graph -----------------------------------------------------------------------------------------------------


def _name(node: Any) -> str:
    return node.name().rpartition("::")[2]


def _sizes(tensor: Any) -> str:
    return str(tuple(getattr(tensor, "shape", ())))  # () for a number


def _input_sizes(node: Any) -> list[str]:
    """The sizes of each gradient that a node takes."""
    if hasattr(node, "_input_metadata"):
        return [_sizes(metadata) for metadata in node._input_metadata]
    return ["" if sizes is None else str(tuple(sizes)) for sizes, _ in node.input_metadata]


def _saved(node: Any) -> list[str]:
    """A line for each tensor that a node saves: its name and sizes."""
    try:
        saved = {str(i): tensor for i, tensor in enumerate(getattr(node, "saved_tensors", None) or ())}
        for attribute in dir(node):
            if attribute.startswith("_saved_"):  # torch
                value = getattr(node, attribute)
                tensors = isinstance(value, (list, tuple)) and any(hasattr(item, "shape") for item in value)
                saved |= {attribute[7:]: value} if hasattr(value, "shape") or tensors else {}
            elif attribute.startswith("saved_") and attribute not in ("saved_tensors", "saved_variables"):
                saved[attribute[6:]] = _unpack(getattr(node, attribute))
    except RuntimeError:
        return ["(freed)"]
    if getattr(node, "released", False):
        return ["(freed)"]
    lines = []
    for name, value in sorted(saved.items()):
        listed = isinstance(value, (list, tuple))
        parts = enumerate(value if listed else [value])
        lines += [f"{name}{f'[{i}]' * listed} {_sizes(part)}" for i, part in parts if part is not None]
    return lines


def _unpack(saved: Any) -> Any:
    """The tensor in a `SavedTensor`, or in each of a list."""
    if isinstance(saved, (list, tuple)):
        return [_unpack(item) for item in saved]
    return saved if saved is None else getattr(saved, "tensor", saved)


def _edges(node: Any) -> list[tuple[Any, int]]:
    return [(other, i) for other, i in node.next_functions if other is not None]


def _walk(root: Any) -> tuple[dict[Any, int], list[tuple[Any, Any, int]]]:
    """The nodes and the edges of a graph, depth first. Each node has its row: the length of the longest path from the root."""
    rows, edges = {root: 0}, []
    waiting = [(root, *edge) for edge in reversed(_edges(root))]
    while waiting:
        edges.append(waiting.pop())
        node = edges[-1][1]
        if node not in rows:
            rows[node] = 0
            waiting += [(node, *edge) for edge in reversed(_edges(node))]
    for node in in_order([edge[:2] for edge in edges]):
        for other, _ in _edges(node):
            rows[other] = max(rows[other], rows[node] + 1)
    return rows, edges


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
        raise ValueError("draw.graph needs a tensor with a grad_fn: this one is a leaf, or was not recorded")
    return tensor.grad_fn


def nodes(tensor: Any, names: Mapping[str, Any] | None = None) -> list[str]:
    """The graph as text, a line for each node: its gradients, saved tensors and next nodes. The same for rushlight and torch."""
    leaves, _ = _names_by_id(names)
    numbers = {node: i for i, node in enumerate(_walk(_root(tensor))[0])}
    lines = []
    for node in numbers:
        leaf = leaves.get(id(getattr(node, "variable", None)), "")
        parts = [f"{numbers[node]} {_name(node)}", leaf, f"takes {', '.join(_input_sizes(node))}"]
        parts += [f"keeps {', '.join(saved)}"] if (saved := _saved(node)) else []
        leads = [f"{numbers[other]}" + (f"[{i}]" if i else "") for other, i in _edges(node)]
        parts += [f"leads to {', '.join(leads)}"] if leads else []
        lines.append("  ".join(filter(None, parts)))
    return lines


# Pictures ------------------------------------------------------------------------------------------------------------


def _layout(tensor: Any, names: Mapping | None, saved: bool, sizes: bool, marks: Mapping | None) -> list[list[Box]]:
    """The rows of a picture, each from left to right, with the x of every box."""
    leaves, results = _names_by_id(names)
    root = _root(tensor)
    rows, edges = _walk(root)
    boxes: dict[Any, Box] = {}
    for node, row in rows.items():
        variable = getattr(node, "variable", None)
        lines = [_name(node)]
        if variable is not None and (name := leaves.get(id(variable), "")):
            lines.append(f"{name} {_sizes(variable)}" if sizes else name)
        lines += _saved(node) if saved else []
        fill = LEAF if variable is not None else NODE
        if marks is not None:
            text, fill = marks[node]
            lines.append(text)
        boxes[node] = Box(lines, 2 * row + 1 if sizes else row, fill)
    links = []
    for node, other, i in edges:
        inputs = _input_sizes(other)
        text = f"{results.get((id(other), i), '')} {inputs[i] if i < len(inputs) else ''}".strip()
        text = f"{i}: {text}" if len(inputs) > 1 else text
        links.append((node, other, text if sizes else "", THIN))
    if sizes:
        boxes[None] = Box([results.get((id(root), tensor.output_nr), "root") + f" {_sizes(tensor)}"])
        links.append((None, root, "", THIN))
    return arrange(boxes, links)


def graph(tensor: Any, names: Mapping[str, Any] | None = None, saved: bool = True, sizes: bool = True) -> Picture:
    """The backward graph of a tensor, of rushlight or of torch.

    Args:
        names: tensors by their names; a leaf's name is in its box, the name of another tensor is on the arrow to its
            `grad_fn`.
        saved: whether to list the tensors that each node saves.
        sizes: whether to write the sizes of gradients on the arrows.
    """
    return graphs([("", tensor, names)], saved, sizes)


def graphs(panels: Sequence[tuple], saved: bool = True, sizes: bool = True) -> Picture:
    """Backward graphs side by side: for each a title, the tensor, and the names of tensors."""
    drawn = [(title, _layout(tensor, names, saved, sizes, None)) for title, tensor, names in panels]
    return draw_panels(drawn, columns=3)


def engine(tensor: Any, order: Sequence[Any], names: Mapping[str, Any] | None = None, columns: int = 3) -> Picture:
    """A backward pass step by step, a panel for each step, with the number of gradients that each node still waits for. The
    running node is purple, ready nodes are grey, and nodes that have run have no number. `order`: the nodes in the order in
    which they ran, as hooks have recorded it. `columns`: the number of panels side by side."""
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
            marks[node] = ("runs", MARK) if node is running else ("done", "white") if node in done else ready
        panels.append((f"step {step + 1}", _layout(tensor, names, False, False, marks)))
    return draw_panels(panels, columns)
