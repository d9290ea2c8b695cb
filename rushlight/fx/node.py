"""A node of a graph: a recorded call, and the users of its result.

There are six kinds (`op`): `placeholder`, an input; `get_attr`, an attribute of the module; `call_function`, `call_method` and
`call_module`; `output`, the result of the graph. The nodes of a graph are a doubly linked list, so that passes may insert and
erase nodes during an iteration. A node uses the nodes in its arguments, at any depth, and each node has a record of its users.
In PyTorch: `torch/fx/node.py`, `torch/csrc/fx/node.cpp`, `torch/fx/immutable_collections.py`. Left out: hooks on replacing.
"""

from __future__ import annotations

import builtins
import inspect
import operator
from collections.abc import Callable
from functools import total_ordering
from types import FunctionType, GenericAlias
from typing import TYPE_CHECKING, Any, cast

import rushlight
from rushlight.aten.strided import Tensor
from rushlight.library import OpOverload, OpOverloadPacket
from rushlight.utils._pytree import _register_dict, _register_sequence

if TYPE_CHECKING:
    from rushlight.fx.graph import Graph

# Arguments of nodes, nested as in the program ------------------------------------------------------------------------


def _no_mutation(self, *args, **kwargs):
    raise TypeError(
        f"{type(self).__name__!r} object does not support mutation. If you are attempting to modify the kwargs or args of a "
        "torch.fx.Node object,\ninstead create a new copy of it and assign the copy to the node:\n\n"
        "    new_args = ...  # copy and mutate args\n    node.args = new_args"
    )


class immutable_list(list):
    """A list in a node's arguments."""

    __delitem__ = __iadd__ = __imul__ = __setitem__ = append = clear = extend = insert = _no_mutation
    pop = remove = reverse = sort = _no_mutation

    def __hash__(self) -> int:  # type: ignore[override]  # other lists have none
        return hash(tuple(self))

    def __reduce__(self):
        return type(self), (tuple(self),)


class immutable_dict(dict):
    """A dict in a node's arguments."""

    __delitem__ = __ior__ = __setitem__ = clear = pop = popitem = setdefault = update = _no_mutation

    def __hash__(self) -> int:  # type: ignore[override]  # other dicts have none
        return hash(frozenset(self.items()))

    def __reduce__(self):
        return type(self), (tuple(self.items()),)


_register_sequence(immutable_list)
_register_dict(immutable_dict)


def map_aggregate(a: Any, fn: Callable[[Any], Any]) -> Any:
    """`a` with `fn` applied to each value in it that is not an aggregate, from left to right.

    Aggregates are tuples (a named tuple stays one), lists, dicts (their values), slices (start, stop and step). Lists and
    dicts come back as `immutable_list` and `immutable_dict`.

    Source: `torch/fx/node.py`, `map_aggregate`; `torch/csrc/fx/node.cpp`, `py_map_aggregate`.
    """
    if isinstance(a, tuple):
        items = [map_aggregate(item, fn) for item in a]
        return type(a)(*items) if hasattr(a, "_fields") else tuple(items)
    if isinstance(a, list):
        return immutable_list([map_aggregate(item, fn) for item in a])
    if isinstance(a, dict):
        return immutable_dict({key: map_aggregate(item, fn) for key, item in a.items()})
    if isinstance(a, slice):
        return slice(map_aggregate(a.start, fn), map_aggregate(a.stop, fn), map_aggregate(a.step, fn))
    return fn(a)


def map_arg(a: Any, fn: Callable[[Node], Any]) -> Any:
    """`a` with `fn` applied to each Node in it, as `map_aggregate` does. Source: `torch/fx/node.py`, `map_arg`."""
    assert callable(fn), "map_arg(a, fn): fn must be a callable"
    return map_aggregate(a, lambda x: fn(x) if isinstance(x, Node) else x)


def update_args_kwargs(node: Node, args: tuple, kwargs: dict[str, Any]) -> None:
    """Set the arguments of a node, as `node.args = ...`, `node.kwargs = ...` and the creation of a node do.

    `args` is a tuple and `kwargs` a dict. They may have nodes anywhere in tuples, lists, dicts (in the values) and slices.
    `map_arg(a, fn)` returns `a` with each node in it replaced by `fn(node)`, in order, and with lists and dicts made immutable.

    - `node._args` and `node._kwargs` become the arguments, made immutable in this way.
    - `node._input_nodes` becomes a dict that is used as an ordered set of the nodes in the arguments: each node is a key once, in
      order, with those of `args` first. All values are None.
    - `users` of a node is a dict of the same kind. First, remove `node` from the users of all nodes that it used before. Then add
      it to the users of each node that it uses now. So if it uses a node before and after, it becomes the last of its users.

    >>> graph = rl.fx.Graph()
    >>> x, y = graph.placeholder("x"), graph.placeholder("y")
    >>> node = graph.call_function(rl.cat, ([x, x],))
    >>> update_args_kwargs(node, ([y, x, y],), {"dim": 0})
    >>> list(node._input_nodes), list(x.users), list(y.users)
    ([y, x], [cat], [cat])

    Source: `torch/csrc/fx/node.cpp`, `NodeBase__update_args_kwargs`.
    """
    for used in node._input_nodes:
        del used.users[node]
    inputs = {}

    def note(used: Node) -> Node:
        inputs[used] = used.users[node] = None
        return used

    node._args, node._kwargs = map_arg(args, note), map_arg(kwargs, note)
    node._input_nodes = inputs


# Nodes ---------------------------------------------------------------------------------------------------------------

Target = Callable | str
Kwargs = dict[str, Any]
OPS = ("placeholder", "get_attr", "call_function", "call_method", "call_module", "output")


def target_type(op: str) -> str:
    """What the target of a node must be: "Callable" for `call_function`, and "str" for the others. It stands in an
    error."""
    return "Callable" if op == "call_function" else "str"


def is_target(op: str, target: Any) -> bool:
    """Return whether a target is of the type that nodes of this kind need."""
    return callable(target) if op == "call_function" else isinstance(target, str)


@total_ordering
class Node:
    """One step of a graph.

    `name` is unique in the graph, and the variable in generated code. `target` is a callable for `call_function`, and a name for
    all other kinds. `meta` is a dict for data of passes.
    """

    def __init__(
        self, graph: Graph, name: str, op: str, target: Target, args: tuple, kwargs: Kwargs, return_type: Any = None
    ) -> None:
        assert op in OPS or op == "root", f"op '{op}' is not one of {OPS}"
        if not is_target(op, target):
            what = f"target {target!r} is a {type(target)}, but a {target_type(op)} is expected"
            raise ValueError(f"Node [name = '{name}'] {what}")
        self.graph, self.name, self.op, self.type = graph, name, op, return_type
        self.target: Any = target  # whose type depends on `op`
        self.users: dict[Node, None] = {}
        self.meta: dict[str, Any] = {}
        self._args, self._kwargs = (), immutable_dict()
        self._input_nodes: dict[Node, None] = {}
        self._prev = self._next = self
        self._sort_key: tuple[int, ...] = ()
        self._erased = False
        self._repr_fn: Callable[[Node], str] | None = None
        update_args_kwargs(self, args, kwargs)

    # Arguments

    # A type checker does not know what a `property(...)` without a decorator returns, which is faster.
    args = cast(
        tuple, property(operator.attrgetter("_args"), lambda self, new: update_args_kwargs(self, new, self._kwargs))
    )
    kwargs = cast(
        Kwargs, property(operator.attrgetter("_kwargs"), lambda self, new: update_args_kwargs(self, self._args, new))
    )

    @property
    def all_input_nodes(self) -> list[Node]:
        """The nodes among the arguments, each once."""
        return list(self._input_nodes)

    def update_arg(self, idx: int, arg: Any) -> None:
        args = list(self.args)
        args[idx] = arg
        self.args = tuple(args)

    def insert_arg(self, idx: int, arg: Any) -> None:
        assert 0 <= idx <= len(self.args), f"insert_arg: index must be between 0 and {len(self.args)}, got {idx}"

        def note(used: Node) -> Node:  # a new input becomes the last one, as in PyTorch
            self._input_nodes.setdefault(used)
            used.users.setdefault(self)
            return used

        self._args = (*self.args[:idx], map_arg(arg, note), *self.args[idx:])

    def update_kwarg(self, key: str, arg: Any) -> None:
        self.kwargs = {**self.kwargs, key: arg}

    def replace_input_with(self, old_input: Node, new_input: Node) -> None:
        """Replace `old_input` in the arguments by another node."""

        def replaced(used: Node) -> Node:
            return new_input if used is old_input else used

        update_args_kwargs(self, map_arg(self._args, replaced), map_arg(self._kwargs, replaced))

    def replace_all_uses_with(
        self, replace_with: Node, delete_user_cb: Callable[[Node], bool] | None = None, *, propagate_meta: bool = False
    ) -> list[Node]:
        """Replace this node by `replace_with` in all users, or only in each user where `delete_user_cb(user)` is true. Return these
        users."""
        if propagate_meta:
            assert not replace_with.meta, "replace_all_uses_with(propagate_meta=True): the new node has meta of its own"
            replace_with.meta.update(self.meta)
        changed = list(filter(delete_user_cb, self.users))
        for user in changed:
            user.replace_input_with(self, replace_with)
        return changed

    normalized_arguments: Callable[..., Any]  # of `operator_schemas.py`

    # Position

    next = cast("Node", property(operator.attrgetter("_next")))
    prev = cast("Node", property(operator.attrgetter("_prev")))

    def prepend(self, x: Node) -> None:
        """Move `x`, of the same graph, to right before this node."""
        assert self.graph is x.graph, "Attempting to move a Node into a different Graph"
        if self is x:
            return
        x._remove_from_list()
        x._prev, x._next = self._prev, self
        x._prev._next = x._next._prev = x
        x._sort_key = _between(x._prev._sort_key, x._next._sort_key)

    def append(self, x: Node) -> None:
        """Move `x`, of the same graph, to right after this node."""
        self._next.prepend(x)

    def _remove_from_list(self) -> None:
        self._prev._next, self._next._prev = self._next, self._prev

    def __lt__(self, other: Node) -> bool:
        return self._sort_key < other._sort_key

    # Effects

    def is_impure(self, impure_random: bool = True) -> bool:
        """Return whether the node has effects besides its result. Then a pass must not erase it, even if it has no users."""
        if self.op in ("placeholder", "output"):
            return True
        if self.op == "call_module":
            owner = self.graph.owning_module
            assert owner is not None, "is_impure of a call_module node needs the owning module, and the graph has none"
            return getattr(owner.get_submodule(self.target), "_is_impure", False)
        return self.op == "call_function" and is_impure_function(self.target, impure_random)

    # Text

    @property
    def stack_trace(self) -> str | None:
        return self.meta.get("stack_trace")

    @stack_trace.setter
    def stack_trace(self, trace: str | None) -> None:
        self.meta["stack_trace"] = trace

    def __repr__(self) -> str:
        return self._repr_fn(self) if self._repr_fn else self.name

    def _rename(self, candidate: str) -> None:
        if candidate != self.name:
            namespace = self.graph._graph_namespace
            self.name = namespace._obj_to_name[self] = namespace.create_name(candidate, None)

    def format_node(
        self,
        placeholder_names: list[str] | None = None,
        maybe_return_typename: list[str] | None = None,
        *,
        include_tensor_metadata: bool = False,
    ) -> str | None:
        """The line of this node in `print(graph)`. If there is a non-empty list of names of placeholders, a placeholder is added to
        this list instead."""
        kind = f"{type_repr(self.type)} " if self.type else ""
        users = f"[num_users={len(self.users)}]"
        match self.op:
            case "placeholder":
                if placeholder_names:
                    annotated = f"{self.target}: {type_repr(self.type)}" if self.type else ""  # as in PyTorch
                    placeholder_names.append(self.target + annotated)
                    return None
                default = f"(default={self.args[0]})" if self.args else ""
                return f"%{self.name} : {kind}{users} = placeholder[target={self.target}]{default}"
            case "get_attr":
                return f"%{self.name} : {kind}{users} = get_attr[target={self.target}]"
            case "output":
                if self.type and maybe_return_typename:
                    maybe_return_typename[0] = f" -> {type_repr(self.type)}"
                return f"return {self.args[0]}"
        value = self.meta.get("val", self.meta.get("example_value"))
        if include_tensor_metadata and isinstance(value, Tensor):
            sizes, strides = list(value.shape), list(value.stride())
            kind = f'Tensor "{DTYPE_ABBREVIATIONS[value.dtype.name]}{sizes}{strides}{value.device}"'
        return (
            f"%{self.name} : {kind}{users} = {self.op}[target={pretty_target(self.target)}]"
            f"(args = {_format_arg(self.args)}, kwargs = {_format_arg(self.kwargs)})"
        )


def _between(before: tuple[int, ...], after: tuple[int, ...]) -> tuple[int, ...]:
    """A sort key between those of two neighbours, so that an insertion does not renumber all nodes. The root's is empty."""
    if len(before) > len(after):
        return (*before[: len(after)], before[len(after)] + 1)
    if len(before) < len(after):
        return (*after[: len(before)], after[len(before)] - 1)
    return (*before, 0)


# Functions with effects ----------------------------------------------------------------------------------------------

_side_effectful_functions: set[Callable] = {operator.setitem, rushlight._assert}


def has_side_effect(fn: Callable) -> Callable:
    """Decorator: calls of this function are not erased, even if their result has no users."""
    _side_effectful_functions.add(fn)
    return fn


def is_impure_function(target: Callable, impure_random: bool = True) -> bool:
    """Return whether a call writes to its arguments, draws random numbers, or is declared to have an effect. Of the functions that
    are not operators, only random functions and those of `has_side_effect` are known.
    Source: `torch/_library/utils.py`, `is_impure`."""
    if target in _side_effectful_functions:
        return True
    if isinstance(target, OpOverloadPacket):
        target = getattr(target, "default", target)
    if isinstance(target, OpOverload):
        return target.schema.is_mutable or (impure_random and target.schema.name in RANDOM_OPERATORS)
    return getattr(target, "__name__", None) in RANDOM_FUNCTIONS and public_namespace(target) == "rushlight"


RANDOM_OPERATORS = {
    "bernoulli", "bernoulli_", "dropout", "exponential_", "multinomial", "native_dropout", "normal", "normal_", "rand",
    "rand_like", "randint", "randint_like", "randn", "randn_like", "random_", "randperm", "uniform_",
}  # fmt: skip
RANDOM_FUNCTIONS = {name for name in RANDOM_OPERATORS if not name.endswith(("_", "dropout"))}


# Names of functions and types ----------------------------------------------------------------------------------------


def package_name() -> str:
    """`rushlight`, or `torch` in a program for PyTorch."""
    return Tensor.__module__.partition(".")[0]


def public_namespace(obj: Any) -> str | None:
    """Return the public namespace of a function of rushlight: `rushlight`, `rushlight.nn.functional`, `rushlight._C._nn` (as in
    PyTorch for operators of networks), or the module that defines it. None for functions from elsewhere.
    """
    module, name = getattr(obj, "__module__", None), getattr(obj, "__name__", None)
    packages = "rushlight.", f"{package_name()}."
    if name is None or not isinstance(module, str) or not f"{module}.".startswith(packages):
        return None
    if module == rushlight.nn.functional.__name__:
        return module
    if module == rushlight.functional.__name__:  # one of the modules of aten that users find at the top, as in PyTorch
        return "rushlight.functional"
    if vars(rushlight).get(name) is obj:
        return "rushlight"
    if vars(rushlight.nn.functional).get(name) is obj:
        return "rushlight._C._nn"
    return module


def name_of(function: Callable) -> str:
    """The name of a function. A method of Tensor has its name in this class."""
    short = function.__name__.removeprefix("tensor_")
    return short if vars(Tensor).get(short) is function else function.__name__


def qualified_name(function: Callable) -> str:
    """The name of a function in generated code. Source: `torch/fx/node.py`, `_get_qualified_name`."""
    package, name = package_name(), name_of(function)
    if getattr(builtins, name, None) is function:
        return name
    if isinstance(function, (OpOverload, OpOverloadPacket)):
        return f"{package}.ops.{function}"
    if vars(Tensor).get(name) is function:
        return f"{package}.Tensor.{name}"
    if name == "<lambda>":
        try:
            name = inspect.getsource(function).split("=")[0].strip()
        except (OSError, TypeError) as problem:
            raise RuntimeError("Unable to represent lambda") from problem
    if function.__module__ is None:
        raise RuntimeError(f"cannot find module for {function}")
    space = public_namespace(function)
    return f"{space.replace('rushlight', package, 1) if space else function.__module__}.{name}"


def pretty_target(target: Callable | str) -> str:
    """A target as `print(graph)` shows it: builtins and operators have their module."""
    if isinstance(target, str):
        return target
    module = {"builtins": "builtins", "_operator": "operator"}.get(getattr(target, "__module__", ""))
    return f"{module}.{target.__name__}" if module else qualified_name(target)


def type_repr(kind: Any) -> str:
    """A type in an annotation."""
    if isinstance(kind, type) and not isinstance(kind, GenericAlias):
        if kind.__module__ == "builtins":
            return kind.__qualname__
        return f"{public_namespace(kind) or kind.__module__}.{kind.__qualname__}"
    if kind is ...:
        return "..."
    return kind.__name__ if isinstance(kind, FunctionType) else repr(kind)


def _format_arg(arg: Any) -> str:
    """An argument as `print(graph)` shows it: nodes with a `%`, strings without quotes."""
    match arg:
        case list():
            return f"[{', '.join(map(_format_arg, arg))}]"
        case tuple() if hasattr(arg, "_custom_fx_repr_fn"):
            return arg._custom_fx_repr_fn()
        case tuple():
            return f"({', '.join(map(_format_arg, arg))}{',' if len(arg) == 1 else ''})"
        case dict():
            return f"{{{', '.join(f'{key}: {_format_arg(value)}' for key, value in arg.items())}}}"
        case Node():
            return f"%{arg}"
        case _:
            return str(arg)


DTYPE_ABBREVIATIONS = {
    "float64": "f64", "float32": "f32", "float16": "f16", "int64": "i64", "int32": "i32", "int16": "i16", "int8": "i8",
    "uint8": "u8", "bool": "b8",
}  # fmt: skip
