"""A graph: nodes in the order in which they run, names that are unique, and what passes do to both.

In PyTorch: `torch/fx/graph.py`. Left out: pytrees (an argument that holds several inputs), other ways to call the generated
code, transformers of its text, hooks on creating and erasing, symbolic sizes.
"""

from __future__ import annotations

import builtins
import copy
import inspect
import keyword
import re
import warnings
from collections.abc import Callable, Iterator
from math import inf, nan
from typing import TYPE_CHECKING, Any

from rushlight.c10.storage import device
from rushlight.fx.codegen import PythonCode, python_code
from rushlight.fx.node import OPS, Node, immutable_dict, map_arg, name_of, pretty_target
from rushlight.nn.modules.module import Module

if TYPE_CHECKING:
    from rushlight.fx.graph_module import GraphModule

__all__ = ["Graph"]

# ------------------------------------------------------------------------------------------------------------
# Names


class _Namespace:
    """Names that are given, each to one object at most: the nodes of a graph, or all that a piece of generated code names."""

    def __init__(self) -> None:
        self._obj_to_name: dict[Any, str] = {}
        self._used_names: set[str] = set()
        self._base_count: dict[str, int] = {}

    def create_name(self, candidate: str, obj: Any) -> str:
        return create_name(self, candidate, obj)

    def associate_name_with_obj(self, name: str, obj: Any) -> None:
        assert self._obj_to_name.setdefault(obj, name) is name, "obj is already associated"

    def _rename_object(self, obj: Any, name: str) -> None:
        self._obj_to_name[obj] = name
        self._used_names.add(name)


def reserved_names() -> dict[str, Any]:
    """Names that mean something in generated code, and what: only that object may have them."""
    import rushlight

    known = {word: object() for word in keyword.kwlist} | vars(builtins)
    return known | {"inf": inf, "nan": nan, "NoneType": type(None), "rushlight": rushlight, "device": device}


def is_reserved(name: str, obj: Any) -> bool:
    """Whether `name` is Python's own, or a global of all generated code, and `obj` is not what it stands for."""
    if not _reserved:
        _reserved.update(reserved_names())
    return _reserved.get(name, obj) is not obj


_reserved: dict[str, Any] = {}


def create_name(namespace: _Namespace, candidate: str, obj: Any) -> str:
    """A name that nothing else in the namespace has, as close to `candidate` as can be. It is `obj`'s from now on.

    1. If `obj` is not None and has a name (`namespace._obj_to_name`, by object), that is the answer, and nothing changes.
    2. Each run of characters other than ASCII letters, digits and `_` becomes one `_`. If nothing is there, the candidate
       is `_unnamed`; if it begins with a digit, a `_` goes in front.
    3. The candidate consists of a base and a number: `relu_12` of `relu` and 12. The number is all the digits behind the last
       `_`; where there are none, or nothing is before that `_`, the whole is the base, and there is no number.
    4. If there is a number, and no one has the candidate (`namespace._used_names`, a set), counting starts with it.
       Otherwise it starts with the number given last for this base (`namespace._base_count`, by base; 0 if there is none),
       and if the candidate is reserved (`is_reserved(candidate, obj)`), it becomes base, `_`, and the number plus one.
    5. As long as somebody has the candidate, it becomes base, `_`, and the next number.

    The answer is then used, the number that was reached is the base's last, and `obj`, if it is not None, has the name.

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


def target_name(target: Callable | str) -> str:
    """What a node that calls this is named after: `__getitem__` and `getitem` give `getitem`, `TwoWords` gives `two_words`."""
    name = target if isinstance(target, str) else name_of(target)
    if isinstance(target, str) and name.startswith("__") and name.endswith("__"):
        name = name[2:-2]
    return re.sub("(?<=[a-z])([A-Z])", r"_\1", name).lower()


# ------------------------------------------------------------------------------------------------------------
# The nodes as a list


class NodeList:
    """The nodes of a graph in order. One may be erased, moved or added while somebody walks over them."""

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
    """Where new nodes go, until the `with` block ends."""

    def __init__(self, graph: Graph, insert: Callable[[Node], None]) -> None:
        self.graph, self.before = graph, graph._insert
        graph._insert = insert

    def __enter__(self) -> None:
        pass

    def __exit__(self, *error) -> None:
        self.graph._insert = self.before


# ------------------------------------------------------------------------------------------------------------
# The graph


class Graph:
    """What a program does, as a list of nodes."""

    def __init__(self, owning_module: GraphModule | None = None, tracer_cls: type | None = None) -> None:
        self._len = 0
        self._graph_namespace = _Namespace()
        self._root = Node(self, "", "root", "", (), {})
        self._insert = self._root.prepend
        self.owning_module = owning_module
        self._tracer_cls = tracer_cls

    @property
    def nodes(self) -> NodeList:
        return NodeList(self)

    def output_node(self) -> Node:
        node = next(reversed(self.nodes))
        assert node.op == "output", f"the last node is no output: {node.op}"
        return node

    def find_nodes(self, *, op: str, target: Callable | str | None = None, sort: bool = True) -> list[Node]:
        """All nodes of a kind, in order; those that call `target`, which must be given for `call_function`."""
        assert op != "call_function" or target is not None, "find_nodes(op='call_function') needs a target"
        return [node for node in self.nodes if node.op == op and (target is None or node.target == target)]

    # Making nodes

    def create_node(
        self,
        op: str,
        target: Callable | str,
        args: tuple | None = None,
        kwargs: dict[str, Any] | None = None,
        name: str | None = None,
        type_expr: Any = None,
    ) -> Node:
        """A new node at the insert point, which is the end unless `inserting_before` or `inserting_after` set another."""
        assert args is None or isinstance(args, tuple), f"args must be a tuple, got {type(args)}"
        assert kwargs is None or isinstance(kwargs, dict), f"kwargs must be a dict, got {type(kwargs)}"
        name = create_name(self._graph_namespace, target_name(target) if name is None else name, None)
        node = Node(self, name, op, target, args or (), kwargs or immutable_dict(), type_expr)
        self._graph_namespace.associate_name_with_obj(name, node)
        self._insert(node)
        self._len += 1
        return node

    def placeholder(self, name: str, type_expr: Any = None, default_value: Any = inspect.Signature.empty) -> Node:
        args = () if default_value is inspect.Signature.empty else (default_value,)
        return self.create_node("placeholder", name, args, type_expr=type_expr)

    def get_attr(self, qualified_name: str, type_expr: Any = None) -> Node:
        if self.owning_module is not None and not _has(self.owning_module, qualified_name):
            warnings.warn(
                f"get_attr('{qualified_name}'): the owning GraphModule has no such attribute; add it with add_submodule, "
                f"register_parameter or register_buffer",
                stacklevel=2,
            )
        return self.create_node("get_attr", qualified_name, type_expr=type_expr)

    def call_module(
        self, module_name: str, args: tuple | None = None, kwargs: dict[str, Any] | None = None, type_expr: Any = None
    ) -> Node:
        if self.owning_module is not None:
            self.owning_module.get_submodule(module_name)
        return self.create_node("call_module", module_name, args, kwargs, type_expr=type_expr)

    def call_method(
        self, method_name: str, args: tuple | None = None, kwargs: dict[str, Any] | None = None, type_expr: Any = None
    ) -> Node:
        return self.create_node("call_method", method_name, args, kwargs, type_expr=type_expr)

    def call_function(
        self,
        the_function: Callable,
        args: tuple | None = None,
        kwargs: dict[str, Any] | None = None,
        type_expr: Any = None,
        name: str | None = None,
    ) -> Node:
        return self.create_node("call_function", the_function, args, kwargs, name, type_expr)

    def output(self, result: Any, type_expr: Any = None) -> Node:
        return self.create_node("output", "output", (result,), type_expr=type_expr)

    def node_copy(self, node: Node, arg_transform: Callable[[Node], Any] = lambda x: x) -> Node:
        """A copy of another graph's node; `arg_transform` gives for each node that it uses what stands for it here."""
        args, kwargs = map_arg(node.args, arg_transform), map_arg(node.kwargs, arg_transform)
        result = self.create_node(node.op, node.target, args, kwargs, node.name, node.type)
        result.meta = copy.copy(node.meta)
        return result

    def graph_copy(self, g: Graph, val_map: dict[Node, Node], return_output_node: bool = False) -> Any:
        """Copy all nodes but the output; `val_map` says what stands for which, and may know some before. Returns what the
        output would return here, with the old output node beside it if asked."""
        for node in g.nodes:
            if node in val_map:
                continue
            if node.op == "output":
                result = map_arg(node.args[0], val_map.__getitem__)
                return (result, node) if return_output_node else result
            val_map[node] = self.node_copy(node, val_map.__getitem__)
        return None

    def __deepcopy__(self, memo: dict | None = None) -> Graph:
        memo = {} if memo is None else memo
        new = Graph(tracer_cls=self._tracer_cls)
        result = new.graph_copy(self, memo, return_output_node=True)
        if result is not None:
            value, old_output = result
            new.output(value, old_output.type).meta = copy.copy(old_output.meta)
        return new

    # Where new nodes go

    def inserting_before(self, n: Node | None = None) -> InsertPoint:
        """New nodes go before `n`, in order; with None, before all."""
        if n is None:
            return self.inserting_after(self._root)
        assert n.graph is self, "Node to insert before is not in graph."
        return InsertPoint(self, n.prepend)

    def inserting_after(self, n: Node | None = None) -> InsertPoint:
        """New nodes go right after `n`, so that the last made comes first; with None, at the end."""
        if n is None:
            return self.inserting_before(self._root)
        assert n.graph is self, "Node to insert after is not in graph."
        return InsertPoint(self, n.append)

    # Taking nodes away

    def erase_node(self, to_erase: Node) -> None:
        """Take a node out. RuntimeError if somebody uses it, or it is another graph's."""
        if to_erase.users:
            raise RuntimeError(
                f"Tried to erase Node {to_erase} but it still had {len(to_erase.users)} users in the graph: {to_erase.users}!"
            )
        if to_erase.graph is not self:
            raise RuntimeError(f"Attempting to remove {to_erase} from wrong graph!")
        if to_erase._erased:
            warnings.warn(f"erase_node({to_erase}) on an already erased node", stacklevel=2)
            return
        to_erase._remove_from_list()
        to_erase._erased = True  # somebody who walks over the nodes may be standing on it
        self._len -= 1
        # what it used must not count it as a user any more
        to_erase.args, to_erase.kwargs = (
            map_arg(to_erase.args, lambda n: None),
            map_arg(to_erase.kwargs, lambda n: None),
        )

    def eliminate_dead_code(self, is_impure_node: Callable[[Node], bool] | None = None) -> bool:
        """Erase what nobody uses; returns whether there was something. See `passes.eliminate_dead_code`."""
        from rushlight.fx import passes

        return passes.eliminate_dead_code(self, is_impure_node)

    # Checking and showing

    def lint(self) -> None:
        """RuntimeError where the graph is not well formed: a node is used before it is defined or comes from another graph,
        a name is given twice, or the owning module lacks what is looked up in it."""
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
                    raise RuntimeError(
                        f"Argument '{used}' of Node '{node}' was used before it has been defined!\n{self}"
                    )
            seen.add(node)
            if node.name in names:
                raise RuntimeError(f"Node redefined name {node.name}!")
            names.add(node.name)
            if self.owning_module is not None:
                _check_target(self.owning_module, node)

    def python_code(self, root_module: str, *, verbose: bool = False, **options: Any) -> PythonCode:
        """The graph as the source of a function; attributes are looked up in the variable `root_module`."""
        return python_code(self, root_module, verbose=verbose, **options)

    def __str__(self) -> str:
        placeholders: list[str] = []
        lines = [node.format_node(placeholders) for node in self.nodes]
        return "\n    ".join([f"graph({', '.join(placeholders)}):", *filter(None, lines)])

    def print_tabular(self) -> None:
        """Print the nodes as a table."""
        rows = [["opcode", "name", "target", "args", "kwargs"]]
        rows += [[str(each) for each in (n.op, n.name, pretty_target(n.target), n.args, n.kwargs)] for n in self.nodes]
        widths = [max(map(len, column)) for column in zip(*rows)]
        rows.insert(1, ["-" * width for width in widths])
        for row in rows:
            print("  ".join(text.ljust(width) for text, width in zip(row, widths)).rstrip())


def _has(module: Module, qualified_name: str) -> bool:
    for atom in qualified_name.split("."):
        if not hasattr(module, atom):
            return False
        module = getattr(module, atom)
    return True


def _check_target(owner: Module, node: Node) -> None:
    wanted = Callable if node.op == "call_function" else str
    if not isinstance(node.target, wanted):
        raise ValueError(
            f"Node {node} target {node.target} is a {type(node.target)} but a {wanted.__name__} is expected"
        )
    if node.op not in ("get_attr", "call_module"):
        return
    found, path = owner, []
    for atom in node.target.split("."):
        found = getattr(found, atom, None)
        if found is None:
            raise RuntimeError(
                f"Node {node} target {node.target} references nonexistent attribute {atom} of {'.'.join(path)}"
            )
        if node.op == "call_module" and not isinstance(found, Module):
            raise RuntimeError(f"Node {node} target {node.target} {atom} of {'.'.join(path)} is no Module")
        path.append(atom)
