"""From a graph to the source of a function, and the names that the source needs.

Every value is given up right after its last use (`;  x = None`), so that its memory can be used again. In PyTorch: `CodeGen`
of `torch/fx/graph.py`. Left out: colours, markers for the profiler, pytrees.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable
from dataclasses import dataclass
from math import inf, nan
from typing import TYPE_CHECKING, Any

from rushlight.aten.strided import Tensor
from rushlight.c10.storage import device
from rushlight.fx.node import DTYPE_ABBREVIATIONS, Node, home, qualified_name, type_repr
from rushlight.library import OpOverload

if TYPE_CHECKING:
    from rushlight.fx.graph import Graph, _Namespace

__all__ = ["PythonCode"]

REFLECTABLE = {
    "add": "{} + {}", "sub": "{} - {}", "mul": "{} * {}", "floordiv": "{} // {}", "truediv": "{} / {}", "div": "{} / {}",
    "mod": "{} % {}", "pow": "{} ** {}", "lshift": "{} << {}", "rshift": "{} >> {}", "and_": "{} & {}", "or_": "{} | {}",
    "xor": "{} ^ {}", "getitem": "{}[{}]", "matmul": "{} @ {}",
}  # fmt: skip
FORMATS = {
    "eq": "{} == {}", "ne": "{} != {}", "lt": "{} < {}", "gt": "{} > {}", "le": "{} <= {}", "ge": "{} >= {}", "pos": "+{}",
    "neg": "-{}", "invert": "~{}", **REFLECTABLE,
}  # fmt: skip
IN_PLACE = {
    "iadd": "{} += {}", "iand": "{} &= {}", "ifloordiv": "{} //= {}", "ilshift": "{} <<= {}", "imod": "{} %= {}",
    "imul": "{} *= {}", "imatmul": "{} @= {}", "ior": "{} |= {}", "ipow": "{} **= {}", "irshift": "{} >>= {}",
    "isub": "{} -= {}", "itruediv": "{} /= {}", "ixor": "{} ^= {}", "setitem": "{}[{}] = {}",
}  # fmt: skip


@dataclass
class PythonCode:
    """The source of a function, and its globals."""

    src: str
    globals: dict[str, Any]


class Scope:
    """The names of one piece of generated code, and those among them that are its globals."""

    def __init__(self, namespace: _Namespace) -> None:
        import rushlight

        self.namespace, self.globals = namespace, {}
        known = {"inf": inf, "nan": nan, "NoneType": type(None), "rushlight": rushlight, "device": device}
        for name, obj in known.items():
            self.add_global(name, obj)

    def add_global(self, hint: str, obj: Any) -> str:
        """How the code can name `obj`: of rushlight's own by way of the global `rushlight`, else by a global of its own."""
        if home(obj) is not None and obj is not device:
            return qualified_name(obj)
        name = self.namespace.create_name(hint, obj)
        self.globals[name] = obj
        return name


# ------------------------------------------------------------------------------------------------------------
# Expressions


def expression(arg: Any, scope: Scope) -> str:
    """An argument as Python source.

    Source: `torch/fx/graph.py`, `_get_repr` of `CodeGen._gen_python_code`.
    """
    match arg:
        case Node():
            return repr(arg)
        case tuple() if hasattr(arg, "_fields"):
            return f"{scope.add_global(qualified_name(type(arg)), type(arg))}{tuple(arg)!r}"
        case OpOverload():
            return scope.add_global(qualified_name(arg), arg)
        case enum.Enum():
            return f"{scope.add_global(type(arg).__name__, type(arg))}.{arg.name}"
        case Tensor():
            return f"rushlight.Tensor(size={list(arg.shape)}, dtype={arg.dtype.name})"
        case tuple() if len(arg) == 1:
            return f"({expression(arg[0], scope)},)"
        case tuple():
            return f"({', '.join(expression(item, scope) for item in arg)})"
        case list():
            return f"[{', '.join(expression(item, scope) for item in arg)}]"
        case slice():
            return f"slice({', '.join(expression(item, scope) for item in (arg.start, arg.stop, arg.step))})"
        case _:
            return repr(arg)


def arguments(args: Iterable[Any], kwargs: dict[str, Any], scope: Scope) -> str:
    """What stands between the parentheses of a call: `x, 2, dim = 1`."""
    given = [expression(arg, scope) for arg in args]
    return ", ".join(given + [f"{name} = {expression(arg, scope)}" for name, arg in kwargs.items()])


def attribute_of(base: str, path: str) -> str:
    """The expression for an attribute of an attribute; names that are no identifiers go through `getattr`."""
    for name in path.split("."):
        base = f"{base}.{name}" if name.isidentifier() else f'getattr({base}, "{name}")'
    return base


def annotation(kind: Any, scope: Scope) -> str:
    """A type as the code names it."""
    origin = getattr(kind, "__origin__", None)
    if origin is None:
        return "()" if kind == () else scope.add_global(type_repr(kind), kind)
    name = scope.add_global(type_repr(origin), origin)
    inner = [annotation(each, scope) for each in kind.__args__]
    return f"{name}[{','.join(inner)}]" if inner else name


# ------------------------------------------------------------------------------------------------------------
# Statements


def last_uses(nodes: Iterable[Node]) -> dict[Node, list[Node]]:
    """For each node that is the last to use others: these, as generated code gives them up after it.

    The nodes are gone through from the last to the first, and what each uses in the order of its arguments.
    """
    found, uses = set(), {}
    for user in reversed(nodes):
        for used in user._input_nodes:
            if used not in found:
                found.add(used)
                uses.setdefault(user, []).append(used)
    return uses


def statement(node: Node, root: str, scope: Scope, note: str = "") -> str:
    """The line of generated code for a node that is no placeholder, without the end of the line.

    Written with these: `repr(node)`, the variable of a node; `expression(arg, scope)`, an argument; `arguments(args, kwargs,
    scope)`, what stands between the parentheses of a call; `attribute_of(base, path)`, an attribute of an expression by its
    qualified name. `note` comes right behind the variable that is assigned. By `node.op`:

    - `output`: `return x`, x being the first argument;
    - `get_attr`: `v = self.linear.weight`, the target looked up in `root`;
    - `call_module`: `v = self.linear(x, y = 1)`, the same, called with the arguments;
    - `call_method`: `v = x.sum(dim = 1)`: the target, looked up in the first argument and called with the others;
    - `call_function`, by its target:
      - a function of Python's module `operator` (its `__module__` is `_operator`) whose `__name__` is in `FORMATS`:
        `v = x + y`. `FORMATS` has a format for each, `{} + {}`;
      - one whose name is in `IN_PLACE`, likewise: `x += y;  v = x`, with two spaces;
      - `getattr` with two arguments, the second being a string that is an identifier: `v = x.shape`;
      - any other: `v = rushlight.relu(x)`. `scope.add_global(qualified_name(target), target)` gives the name.

    Source: `torch/fx/graph.py`, `emit_node` within `CodeGen._gen_python_code`.
    """
    match node.op:
        case "output":
            return f"return {expression(node.args[0], scope)}"
        case "get_attr":
            return f"{node!r}{note} = {attribute_of(root, node.target)}"
        case "call_module":
            return f"{node!r}{note} = {attribute_of(root, node.target)}({arguments(node.args, node.kwargs, scope)})"
        case "call_method":
            first, *rest = node.args
            return f"{node!r}{note} = {attribute_of(expression(first, scope), node.target)}({arguments(rest, node.kwargs, scope)})"
    if node.target.__module__ == "_operator":
        name, operands = node.target.__name__, [expression(arg, scope) for arg in node.args]
        if name in FORMATS:
            return f"{node!r}{note} = {FORMATS[name].format(*operands)}"
        if name in IN_PLACE:
            return f"{IN_PLACE[name].format(*operands)};  {node!r}{note} = {operands[0]}"
    match node.args:
        case (first, str(name)) if node.target is getattr and name.isidentifier():
            return f"{node!r}{note} = {attribute_of(expression(first, scope), name)}"
    function = scope.add_global(qualified_name(node.target), node.target)
    return f"{node!r}{note} = {function}({arguments(node.args, node.kwargs, scope)})"


# ------------------------------------------------------------------------------------------------------------
# The function


def python_code(
    graph: Graph, root: str, *, verbose: bool = False, include_stride: bool = False, include_device: bool = False
) -> PythonCode:
    """A graph as a function `forward`. `verbose` shows the tensors that `node.meta` tells of.

    Source: `torch/fx/graph.py`, `Graph.python_code` and `CodeGen._gen_python_code`.
    """
    from rushlight.fx.graph import _Namespace

    nodes, before = list(graph.nodes), {node: node._repr_fn for node in graph.nodes}
    scope = Scope(_Namespace())
    # Names of values and of globals must not meet, so all come from one namespace, and nodes show themselves by it.
    for node in nodes:
        node._repr_fn = lambda n: scope.namespace.create_name(n.name, n)
    try:
        return _function(nodes, root, scope, verbose, include_stride, include_device)
    finally:
        for node, show in before.items():
            node._repr_fn = show


def _function(
    nodes: list[Node], root: str, scope: Scope, verbose: bool, include_stride: bool, include_device: bool
) -> PythonCode:
    parameters, body, wrapped, returns, trace = ["self"], [], {}, "", None
    uses = last_uses(nodes)
    for node in nodes:
        note = "" if node.type is None else f" : {annotation(node.type, scope)}"
        if verbose:
            note = shape_note(node, include_stride, include_device) or note
            if node.op not in ("placeholder", "output") and (here := where_from(node)) != trace:
                body.append(f"\n# {here}\n")
                trace = here
        if node.op == "placeholder":
            default = f" = {expression(node.args[0], scope)}" if node.args else ""
            parameters.append(f"{node.target}{note}{default}")
            if node.target.replace("*", "") != repr(node):
                body.append(f"{node!r} = {node.target.replace('*', '')}\n")
            continue
        if node.op == "output":
            returns = "" if node.type is None else f" -> {annotation(node.type, scope)}"
            body.append(statement(node, root, scope) + "\n")
            continue
        freed = uses.get(node, []) + ([] if node.users else [node])
        ending = f";  {' = '.join(map(repr, freed))} = None\n" if freed else "\n"
        body.append(statement(node, root, scope, note) + ending)
        if node.meta.get("is_wrapped"):
            wrapped[scope.add_global(qualified_name(node.target), node.target)] = None
    lines = "".join(body or ["pass\n"]).split("\n")
    code = "\n".join("    " + line for line in "\n".join(lines).lstrip("\n").split("\n"))
    wraps = ""
    if wrapped:
        from rushlight.fx import wrap

        wraps = "\n".join(f'{scope.add_global("wrap", wrap)}("{name}")' for name in wrapped)
    return PythonCode(f"\n{wraps}\n\ndef forward({', '.join(parameters)}){returns}:\n{code}", scope.globals)


def shape_note(node: Node, include_stride: bool, include_device: bool) -> str:
    """`: "f32[2, 3]"`, where `node.meta` says what the tensor is like."""
    value = node.meta.get("val", node.meta.get("example_value"))
    if not isinstance(value, Tensor):
        return ""
    stride = str(list(value.stride())) if include_stride else ""
    place = str(value.device) if include_device else ""
    return f': "{DTYPE_ABBREVIATIONS[value.dtype.name]}{list(value.shape)}{stride}{place}"'


def where_from(node: Node) -> str:
    """The line of the program that a node comes from, if its trace was recorded."""
    lines = (node.stack_trace or "").strip().split("\n")
    for i in range(len(lines) - 2, -1, -1):
        if (line := lines[i].strip()).startswith('File "'):
            file, number, name = line.removeprefix('File "').replace('", line ', ", in ").split(", in ")
            return f"File: {file}:{number} in {name}, code: {lines[i + 1].strip()}"
    return "No stacktrace found for following nodes"
