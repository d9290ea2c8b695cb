"""A graph: nodes in the order in which they run, with unique names, and operations for passes.

In PyTorch: `torch/fx/graph.py`. Left out: pytrees (an argument that holds several inputs), other calling conventions, transforms
of the generated code, hooks on creating and erasing nodes, symbolic sizes.
"""

from __future__ import annotations

import builtins
import copy
import inspect
import keyword
import operator
import re
from collections.abc import Callable, Iterator
from typing import Any, cast

from rushlight.c10.exception import warn
from rushlight.fx.codegen import CUSTOM_BUILTINS, CodeGen, PythonCode, gen_python_code
from rushlight.fx.node import (
    OPS,
    Node,
    Target,
    immutable_dict,
    is_target,
    map_arg,
    name_of,
    pretty_target,
    target_type,
    update_args_kwargs,
)
from rushlight.nn.modules.module import Module

Args = tuple | None
Named = dict[str, Any] | None  # arguments by name
Name = str | None

# Names ---------------------------------------------------------------------------------------------------------------


class _Namespace:
    """Unique names of objects: the nodes of a graph, or the variables and globals of one piece of generated code."""

    def __init__(self) -> None:
        self._obj_to_name: dict[Any, str] = {}
        self._used_names: set[str] = set()
        self._base_count: dict[str, int] = {}

    def create_name(self, candidate: str, obj: Any) -> str:
        return create_name(self, candidate, obj)


# Names with a meaning in generated code: only this object may have the name.
_RESERVED = {word: object() for word in keyword.kwlist} | vars(builtins) | CUSTOM_BUILTINS


def is_reserved(name: str, obj: Any) -> bool:
    """Return whether Python or all generated code uses `name`, and `obj` is not the object of this name."""
    return _RESERVED.get(name, obj) is not obj


def create_name(namespace: _Namespace, candidate: str, obj: Any) -> str:
    """A unique name in the namespace, which becomes the name of `obj`. It is the name that torch gives.

    An object that has a name in `_obj_to_name` already gets this name again, for any candidate, and nothing changes. Any other name
    is a new one. A new name has only ASCII letters, digits and `_` (one for several other characters in a row), and does not begin
    with a digit. It was not given before, and it is not reserved (`is_reserved(name, obj)`). Apart from this, the candidate is kept
    if possible. Otherwise the name is the candidate's base and a number, with `_` between them. In `relu_12` the base is `relu`,
    and the number is all the digits after the last `_`. A candidate without digits there, or with nothing before this `_`, is a
    base as a whole.

    The namespace has what torch's has, with the same content after each call: `_used_names`, the set of names; `_base_count`, a
    dict from each base to the number of its last name with a number, or to 0 if it has none yet; and `_obj_to_name`, a dict from an
    object to its name, for all objects except None.

    >>> namespace = rl.fx.graph._Namespace()
    >>> [create_name(namespace, name, None) for name in ("relu", "relu", "relu_7", "relu", "sum", "a.b")]
    ['relu', 'relu_1', 'relu_7', 'relu_8', 'sum_1', 'a_b']

    Source: `torch/fx/graph.py`, `_Namespace.create_name`.
    """
    if obj in namespace._obj_to_name:
        return namespace._obj_to_name[obj]
    candidate = re.sub("[^0-9a-zA-Z_]+", "_", candidate) or "_unnamed"
    if candidate[0].isdigit():
        candidate = f"_{candidate}"
    base, digits = re.fullmatch(r"(.+?)(?:_(\d+))?", candidate).groups()
    if digits is not None and candidate not in namespace._used_names:
        number = int(digits)
    else:
        number = namespace._base_count.get(base, 0)
        if is_reserved(candidate, obj):
            number += 1
            candidate = f"{base}_{number}"
    while candidate in namespace._used_names:
        number += 1
        candidate = f"{base}_{number}"
    namespace._used_names.add(candidate)
    namespace._base_count[base] = number
    if obj is not None:
        namespace._obj_to_name[obj] = candidate
    return candidate


def target_name(target: Target) -> str:
    """The name for a node that calls this: `getitem` for `__getitem__` and `getitem`, `two_words` for `TwoWords`."""
    name = target if isinstance(target, str) else name_of(target)
    if isinstance(target, str) and name.startswith("__") and name.endswith("__"):
        name = name[2:-2]
    return re.sub("(?<=[a-z])([A-Z])", r"_\1", name).lower()


# The nodes as a list -------------------------------------------------------------------------------------------------


class NodeList:
    """The nodes of a graph in order. Nodes may be erased, moved or added during an iteration."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph

    def __len__(self) -> int:
        return self.graph._len

    def __iter__(self) -> Iterator[Node]:
        return _walk(self.graph._root, "_next")

    def __reversed__(self) -> Iterator[Node]:
        return _walk(self.graph._root, "_prev")


def _walk(root: Node, step: str) -> Iterator[Node]:
    node = getattr(root, step)
    while node is not root:
        if not node._erased:
            yield node
        node = getattr(node, step)


class InsertPoint:
    """The insert point of a graph, until the `with` block ends."""

    def __init__(self, graph: Graph, insert: Callable[[Node], None]) -> None:
        self.graph, self.before = graph, graph._insert
        graph._insert = insert

    def __enter__(self) -> None:
        pass

    def __exit__(self, *error) -> None:
        self.graph._insert = self.before


# The graph -----------------------------------------------------------------------------------------------------------


class Graph:
    """A program as a list of nodes. `passes.py` adds the method `eliminate_dead_code`."""

    def __init__(self, owning_module: Module | None = None, tracer_cls: type | None = None) -> None:
        self._len = 0
        self._graph_namespace = _Namespace()
        self._root = Node(self, "", "root", "", (), {})
        self._insert: Callable[[Node], None] = self._root.prepend
        self.owning_module = owning_module
        self._tracer_cls = tracer_cls
        self._codegen = CodeGen()
        self._co_fields: dict[str, Any] = {}  # of the function that was traced: its name, file and first line

    eliminate_dead_code: Callable[..., bool]
    nodes = cast(NodeList, property(NodeList))  # a type checker does not know what it returns

    def output_node(self) -> Node:
        node = next(reversed(self.nodes))
        assert node.op == "output", f"the last node is no output: {node.op}"
        return node

    def find_nodes(self, *, op: str, target: Target | None = None, sort: bool = True) -> list[Node]:
        """All nodes with this `op` and `target`, in order. `call_function` needs a target."""
        assert op != "call_function" or target is not None, "find_nodes(op='call_function') needs a target"
        return [node for node in self.nodes if node.op == op and (target is None or node.target == target)]

    # Making nodes

    def create_node(
        self, op: str, target: Target, args: Args = None, kwargs: Named = None, name: Name = None, type_expr: Any = None
    ) -> Node:
        """A new node at the insert point, which is the end unless `inserting_before` or `inserting_after` set another."""
        assert args is None or isinstance(args, tuple), f"args must be a tuple, got {type(args)}"
        assert kwargs is None or isinstance(kwargs, dict), f"kwargs must be a dict, got {type(kwargs)}"
        name = create_name(self._graph_namespace, target_name(target) if name is None else name, None)
        node = Node(self, name, op, target, args or (), kwargs or immutable_dict(), type_expr)
        self._graph_namespace._obj_to_name[node] = name
        self._insert(node)
        self._len += 1
        return node

    def placeholder(self, name: str, type_expr: Any = None, default_value: Any = inspect.Signature.empty) -> Node:
        args = () if default_value is inspect.Signature.empty else (default_value,)
        return self.create_node("placeholder", name, args, type_expr=type_expr)

    def get_attr(self, qualified_name: str, type_expr: Any = None) -> Node:
        try:
            if self.owning_module is not None:
                operator.attrgetter(qualified_name)(self.owning_module)
        except AttributeError:
            warn(
                "Attempted to insert a get_attr Node with no underlying reference in the owning GraphModule! "
                "Call GraphModule.add_submodule to add the necessary submodule, GraphModule.add_parameter to add the necessary "
                "Parameter, or nn.Module.register_buffer to add the necessary buffer"
            )
        return self.create_node("get_attr", qualified_name, type_expr=type_expr)

    def call_module(self, module_name: str, args: Args = None, kwargs: Named = None, type_expr: Any = None) -> Node:
        if self.owning_module is not None:
            self.owning_module.get_submodule(module_name)
        return self.create_node("call_module", module_name, args, kwargs, type_expr=type_expr)

    def call_method(self, method_name: str, args: Args = None, kwargs: Named = None, type_expr: Any = None) -> Node:
        return self.create_node("call_method", method_name, args, kwargs, type_expr=type_expr)

    def call_function(
        self, the_function: Callable, args: Args = None, kwargs: Named = None, type_expr: Any = None, name: Name = None
    ) -> Node:
        return self.create_node("call_function", the_function, args, kwargs, name, type_expr)

    def output(self, result: Any, type_expr: Any = None) -> Node:
        return self.create_node("output", "output", (result,), type_expr=type_expr)

    def node_copy(self, node: Node, arg_transform: Callable[[Node], Any] = lambda x: x) -> Node:
        """A copy of another graph's node. `arg_transform` maps each node that it uses to a node of this graph."""
        args, kwargs = map_arg(node.args, arg_transform), map_arg(node.kwargs, arg_transform)
        result = self.create_node(node.op, node.target, args, kwargs, node.name, node.type)
        result.meta = copy.copy(node.meta)
        return result

    def graph_copy(self, g: Graph, val_map: dict[Node, Node], return_output_node: bool = False) -> Any:
        """Copy all nodes but the output. `val_map` maps nodes to their copies, and may have some before. Returns the output's value
        in this graph, with `return_output_node` also the old output node."""
        for node in g.nodes:
            if node in val_map:
                continue
            if node.op == "output":
                result = map_arg(node.args[0], val_map.__getitem__)
                return (result, node) if return_output_node else result
            val_map[node] = self.node_copy(node, val_map.__getitem__)
        return None

    def __deepcopy__(self, memo: dict | None = None) -> Graph:
        new = Graph(tracer_cls=self._tracer_cls)
        new._codegen = copy.deepcopy(self._codegen)
        result = new.graph_copy(self, {} if memo is None else memo, return_output_node=True)
        if result is not None:
            value, old_output = result
            new.output(value, old_output.type).meta = copy.copy(old_output.meta)
        return new

    # Insert points

    def inserting_before(self, n: Node | None = None) -> InsertPoint:
        """Insert new nodes before `n`, in order; with None, before all nodes."""
        if n is None:
            return self.inserting_after(self._root)
        assert n.graph is self, "Node to insert before is not in graph."
        return InsertPoint(self, n.prepend)

    def inserting_after(self, n: Node | None = None) -> InsertPoint:
        """Insert new nodes right after `n`, so that the last one comes first; with None, at the end."""
        if n is None:
            return self.inserting_before(self._root)
        assert n.graph is self, "Node to insert after is not in graph."
        return InsertPoint(self, n.append)

    # Erasing

    def erase_node(self, to_erase: Node) -> None:
        """Remove a node. RuntimeError if it has users, or belongs to another graph."""
        users = to_erase.users
        if users:
            what = f"it still had {len(users)} users in the graph: {users}!"
            raise RuntimeError(f"Tried to erase Node {to_erase} but {what}")
        if to_erase.graph is not self:
            raise RuntimeError(f"Attempting to remove {to_erase} from wrong graph!")
        if to_erase._erased:
            warn(f"erase_node({to_erase}) on an already erased node")
            return
        to_erase._remove_from_list()
        to_erase._erased = True  # an iteration over the nodes may be at this node
        self._len -= 1
        update_args_kwargs(to_erase, *map_arg((to_erase.args, to_erase.kwargs), lambda used: None))

    # Checking and showing

    def lint(self) -> None:
        """RuntimeError if the graph is not well formed: a node is used before it is defined or comes from another graph, two nodes
        have the same name, or the owning module lacks the target of a node."""
        names, seen = set(), set()
        for node in self.nodes:
            if node.op not in OPS:
                raise RuntimeError(f"Node {node} had unknown opcode {node.op}!")
            if node.graph is not self:
                raise RuntimeError(f"Node '{node}' does not belong to this Graph!")
            for used in node._input_nodes:
                if used.graph is not self:
                    raise RuntimeError(f"Argument '{used}' of Node '{node}' does not belong to this Graph\n{self}")
                if used not in seen:
                    what = "was used before it has been defined!"
                    raise RuntimeError(f"Argument '{used}' of Node '{node}' {what}\n{self}")
            seen.add(node)
            if node.name in names:
                raise RuntimeError(f"Node redefined name {node.name}!")
            names.add(node.name)
            if self.owning_module is not None:
                _check_target(self.owning_module, node)

    def python_code(self, root_module: str, **options: Any) -> PythonCode:
        """The graph as the source of a function `forward`; attributes are looked up in the variable `root_module`. Options:
        `verbose`, `include_stride`, `include_device`. Source: `torch/fx/graph.py`, `Graph.python_code`."""
        # Variables and globals must differ, so all their names are of one namespace.
        nodes, namespace = list(self.nodes), _Namespace()
        before = [node._repr_fn for node in nodes]
        for node in nodes:
            node._repr_fn = lambda n: namespace.create_name(n.name, n)
        try:
            return gen_python_code(nodes, root_module, namespace, self._codegen, **options)
        finally:
            for node, repr_fn in zip(nodes, before):
                node._repr_fn = repr_fn

    def set_codegen(self, codegen: CodeGen) -> None:
        self._codegen = codegen

    def process_inputs(self, *args: Any) -> Any:
        return self._codegen.process_inputs(*args)

    def process_outputs(self, out: Any) -> Any:
        return self._codegen.process_outputs(out)

    def __str__(self) -> str:
        placeholders: list[str] = []
        lines = [node.format_node(placeholders) for node in self.nodes]
        return "\n    ".join([f"graph({', '.join(placeholders)}):", *filter(None, lines)])

    def print_tabular(self) -> None:
        """Print the nodes as the package tabulate does, in which a column is two characters wider than its head."""
        rows = [["opcode", "name", "target", "args", "kwargs"]]
        rows += [[str(cell) for cell in (n.op, n.name, pretty_target(n.target), n.args, n.kwargs)] for n in self.nodes]
        widths = [max(len(head) + 2, *map(len, column)) for head, *column in zip(*rows)]
        rows.insert(1, ["-" * width for width in widths])
        for row in rows:
            print("  ".join(text.ljust(width) for text, width in zip(row, widths)).rstrip())


def _check_target(owner: Module, node: Node) -> None:
    here = f"Node {node} target {node.target}"
    if not is_target(node.op, node.target):
        raise ValueError(f"{here} is a {type(node.target)} but a {target_type(node.op)} is expected")
    if node.op not in ("get_attr", "call_module"):
        return
    target: Any = owner
    path: list[str] = []
    for atom in node.target.split("."):
        target = getattr(target, atom, None)
        if target is None:
            raise RuntimeError(f"{here} references nonexistent attribute {atom} of {'.'.join(path)}")
        if node.op == "call_module" and not isinstance(target, Module):
            raise RuntimeError(f"{here} {atom} of {'.'.join(path)} is no Module")
        path.append(atom)
