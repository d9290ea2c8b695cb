"""From a graph to the source of a function, and the globals of this source.

Each value is deleted right after its last use (`;  x = None`), so that its memory can be used again. In PyTorch: `CodeGen` of
`torch/fx/graph.py`. Left out: colours, markers for the profiler, pytrees.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable, Reversible
from dataclasses import dataclass
from keyword import iskeyword
from math import inf, nan
from typing import TYPE_CHECKING, Any

import rushlight
from rushlight.aten.strided import Tensor
from rushlight.c10.storage import device
from rushlight.fx.node import DTYPE_ABBREVIATIONS, Node, public_namespace, qualified_name, type_repr
from rushlight.library import OpOverload

if TYPE_CHECKING:
    from rushlight.fx.graph import _Namespace

# Globals of all generated code
CUSTOM_BUILTINS = {
    "inf": inf,
    "nan": nan,
    "NoneType": type(None),
    "rushlight": rushlight,
    "torch": rushlight,
    "device": device,
}

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
    """The names of one piece of generated code, and its globals."""

    def __init__(self, namespace: _Namespace) -> None:
        self.namespace = namespace
        self.globals: dict[str, Any] = {**CUSTOM_BUILTINS}
        for name, obj in CUSTOM_BUILTINS.items():
            self.add_global(name, obj)

    def add_global(self, hint: str, obj: Any) -> str:
        """The name of `obj` in the code: an attribute of `rushlight` for rushlight's objects, else a global of its own."""
        is_keyword = iskeyword(hint.rpartition(".")[2])  # as in `random.from`
        if public_namespace(obj) is not None and obj is not device and not is_keyword:
            return qualified_name(obj)
        name = self.namespace.create_name(hint, obj)
        self.globals[name] = obj
        return name


# Expressions ---------------------------------------------------------------------------------------------------------


def expression(arg: Any, scope: Scope) -> str:
    """An argument as Python source. Source: `torch/fx/graph.py`, `_get_repr` of `CodeGen._gen_python_code`."""
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
    """The arguments of a call as source: `x, 2, dim = 1`."""
    given = [expression(arg, scope) for arg in args]
    return ", ".join(given + [f"{name} = {expression(arg, scope)}" for name, arg in kwargs.items()])


def attribute_of(base: str, path: str) -> str:
    """The expression for an attribute by its qualified name, with `getattr` for names that are not identifiers."""
    for name in path.split("."):
        base = f"{base}.{name}" if name.isidentifier() else f'getattr({base}, "{name}")'
    return base


def annotation(kind: Any, scope: Scope) -> str:
    """A type as source."""
    origin = getattr(kind, "__origin__", None)
    if origin is None:
        return "()" if kind == () else scope.add_global(type_repr(kind), kind)
    name = scope.add_global(type_repr(origin), origin)
    inner = [annotation(argument, scope) for argument in kind.__args__]
    return f"{name}[{','.join(inner)}]" if inner else name


# Statements ----------------------------------------------------------------------------------------------------------


def last_uses(nodes: Reversible[Node]) -> dict[Node, list[Node]]:
    """For each node: the nodes that it is the last to use, in the order in which generated code deletes them after it.

    This goes through the nodes from last to first, and through the arguments of each node in order.
    """
    deleted: set[Node] = set()
    uses: dict[Node, list[Node]] = {}
    for user in reversed(nodes):
        for used in user._input_nodes:
            if used not in deleted:
                deleted.add(used)
                uses.setdefault(user, []).append(used)
    return uses


def statement(node: Node, root: str, scope: Scope, note: str = "") -> str:
    """The line of generated code for a node that is not a placeholder, without the end of the line.

    These functions return its parts: `repr(node)`, the variable of a node; `expression(arg, scope)`, an argument; `arguments(args,
    kwargs, scope)`, the arguments of a call; `attribute_of(base, path)`, an attribute of an expression by its qualified name.
    `note` comes right after the variable that is assigned. The line depends on `node.op`:

    - `output`: `return x`, with the first argument;
    - `get_attr`: `v = self.linear.weight`, the target as an attribute of `root`;
    - `call_module`: `v = self.linear(x, y = 1)`, the same attribute, called with the arguments;
    - `call_method`: `v = x.sum(dim = 1)`, the target as an attribute of the first argument, called with the other arguments;
    - `call_function`, by its target:
      - a function of Python's module `operator` (its `__module__` is `_operator`) whose `__name__` is in `FORMATS`:
        `v = x + y`. `FORMATS` has a format for each, `{} + {}`;
      - a function of `operator` whose name is in `IN_PLACE`: `x += y;  v = x`, with two spaces. `IN_PLACE` has the format of the
        first statement, `{} += {}`, or, for `setitem`, which has three operands, `{}[{}] = {}`;
      - `getattr` with two arguments, if the second is a string that is an identifier: `v = x.shape`;
      - any other function: `v = rushlight.relu(x)`. Its name is `scope.add_global(qualified_name(target), target)`.

    >>> graph = rl.fx.Graph()
    >>> scope = rl.fx.codegen.Scope(rl.fx.graph._Namespace())
    >>> statement(graph.call_function(rl.relu, (graph.placeholder("x"),)), "self", scope)
    'relu = rushlight.relu(x)'

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


# The function --------------------------------------------------------------------------------------------------------


class CodeGen:
    """How generated code takes its inputs and returns its results. A subclass may take the inputs in another form.

    `process_inputs` turns the inputs of the generated function into those of the graph, and `process_outputs` the results of the
    graph into those of the function. Source: `torch/fx/graph.py`, `CodeGen`.
    """

    def gen_fn_def(self, free_vars: list[str], maybe_return_annotation: str) -> str:
        """The first line of the function for these parameters."""
        free_vars = free_vars if free_vars[:1] == ["self"] else ["self", *free_vars]
        return f"def forward({', '.join(free_vars)}){maybe_return_annotation}:"

    def generate_output(self, output_args: Any) -> str:
        return f"return {output_args!r}"

    def process_inputs(self, *args: Any) -> Any:
        return args

    def process_outputs(self, outputs: Any) -> Any:
        return outputs

    def additional_globals(self) -> list[tuple[str, Any]]:
        """The names that the code uses, and their values."""
        return []


def gen_python_code(
    nodes: list[Node], root: str, namespace: _Namespace, codegen: CodeGen, verbose: bool = False, **options: bool
) -> PythonCode:
    """The nodes as a function `forward`. `repr(node)` is the node's variable, a name of `namespace`. `verbose` adds the sizes
    and dtypes that `node.meta` has, and the lines that nodes were traced from. Source: `torch/fx/graph.py`,
    `CodeGen._gen_python_code`."""
    scope, uses = Scope(namespace), last_uses(nodes)
    parameters, body, wrapped, returns, trace = [], [], {}, "", None
    own_output = type(codegen).generate_output is not CodeGen.generate_output
    for name, value in codegen.additional_globals():
        scope.add_global(name, value)
    for node in nodes:
        note = "" if node.type is None else f" : {annotation(node.type, scope)}"
        if verbose:
            note = shape_note(node, **options) or note
            if node.op not in ("placeholder", "output") and (here := origin_line(node)) != trace:
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
            line = codegen.generate_output(node.args[0]) if own_output else statement(node, root, scope)
            body.append(line + "\n")
            continue
        freed = uses.get(node, []) + ([] if node.users else [node])
        ending = f";  {' = '.join(map(repr, freed))} = None\n" if freed else "\n"
        body.append(statement(node, root, scope, note) + ending)
        if node.op == "call_function" and node.meta.get("is_wrapped"):
            wrapped[scope.add_global(qualified_name(node.target), node.target)] = None
    code = "\n".join("    " + line for line in "".join(body or ["pass\n"]).lstrip("\n").split("\n"))
    wraps = "\n".join(f'{scope.add_global("wrap", rushlight.fx.wrap)}("{name}")' for name in wrapped)
    return PythonCode(f"\n{wraps}\n\n{codegen.gen_fn_def(parameters, returns)}\n{code}", scope.globals)


def shape_note(node: Node, include_stride: bool = False, include_device: bool = False) -> str:
    """`: "f32[2, 3]"`, if `node.meta` has an example of the tensor."""
    value = node.meta.get("val", node.meta.get("example_value"))
    if not isinstance(value, Tensor):
        return ""
    stride = str(list(value.stride())) if include_stride else ""
    device_note = str(value.device) if include_device else ""
    return f': "{DTYPE_ABBREVIATIONS[value.dtype.name]}{list(value.shape)}{stride}{device_note}"'


def origin_line(node: Node) -> str:
    """The line of the program that a node comes from, if its stack trace was recorded."""
    lines = (node.stack_trace or "").strip().split("\n")
    for i in range(len(lines) - 2, -1, -1):
        if (line := lines[i].strip()).startswith('File "'):
            file, number, name = line.removeprefix('File "').replace('", line ', ", in ").split(", in ")
            return f"File: {file}:{number} in {name}, code: {lines[i + 1].strip()}"
    return "No stacktrace found for following nodes"
