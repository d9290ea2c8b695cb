"""A proxy stands for a value that is not there yet: whatever is done with it is recorded as a node, and gives a new proxy.

What must know the value, a branch or a loop, cannot be recorded and raises. In PyTorch: `torch/fx/proxy.py`. Left out:
stack traces of nodes, recorded assertions, dataclasses among the arguments.
"""

from __future__ import annotations

import dis
import enum
import operator
import sys
import weakref
from collections import OrderedDict
from collections.abc import Callable, Iterator
from types import EllipsisType, NoneType
from typing import Any

from rushlight.aten.strided import Tensor
from rushlight.c10.dtypes import dtype
from rushlight.c10.memory_formats import memory_format
from rushlight.c10.storage import device
from rushlight.fx.codegen import FORMATS, REFLECTABLE
from rushlight.fx.graph import Graph, target_name
from rushlight.fx.node import Node, map_aggregate, map_arg
from rushlight.fx.overrides import method_name, start_recording, stop_recording
from rushlight.library import OpOverload

__all__ = ["Attribute", "GraphAppendingTracer", "Proxy", "TraceError", "TracerBase"]


class TraceError(ValueError):
    """The program wants to know what is not known while it is traced."""


# ------------------------------------------------------------------------------------------------------------
# What a node can be called with

BASE_TYPES = (
    str, int, float, bool, complex, NoneType, EllipsisType, enum.Enum, dtype, device, memory_format, Tensor, OpOverload,
)  # fmt: skip


def create_arg(tracer: TracerBase, a: Any) -> Any:
    """What a node holds for an argument `a` of a call that is recorded.

    - for a Proxy its node; for an object that has a method `__fx_create_arg__` what this gives, called with the tracer;
    - for a tuple, list, slice or range the same kind of thing, made of what the tracer makes of each item, or of start,
      stop and step. Ask `tracer.create_arg(item)`, which a subclass may have overridden. A named tuple stays one;
    - for a dict a dict: keys that are strings stay as they are, for others `dict_key(tracer, key)` is taken, which refuses
      nodes; the values are what the tracer makes of them;
    - for a constant (an instance of one of `BASE_TYPES`) itself.

    Raises:
        NotImplementedError: it is something else: `argument of type: <class 'set'>`.

    Source: `torch/fx/proxy.py`, `TracerBase.create_arg`.
    """
    if isinstance(a, Proxy):
        return a.node
    if hasattr(a, "__fx_create_arg__"):
        return a.__fx_create_arg__(tracer)
    if isinstance(a, tuple):
        items = [tracer.create_arg(item) for item in a]
        return type(a)(*items) if hasattr(a, "_fields") else type(a)(items)
    if isinstance(a, list):
        return [tracer.create_arg(item) for item in a]
    if isinstance(a, dict):
        return {
            key if isinstance(key, str) else dict_key(tracer, key): tracer.create_arg(item) for key, item in a.items()
        }
    if isinstance(a, (slice, range)):
        return type(a)(tracer.create_arg(a.start), tracer.create_arg(a.stop), tracer.create_arg(a.step))
    if isinstance(a, BASE_TYPES):
        return a
    raise NotImplementedError(f"argument of type: {type(a)}")


def dict_key(tracer: TracerBase, key: Any) -> Any:
    """What a node holds for a key of a dict. RuntimeError if there is a node in it: its value would have to be known."""

    def refuse(node: Node) -> None:
        raise RuntimeError(f"Keys for dictionaries used as an argument cannot contain a Node. Got key: {node}")

    key = tracer.create_arg(key)
    map_arg(key, refuse)
    return key


class TracerBase:
    """Makes nodes in `graph` for what proxies record. A subclass may say what becomes of arguments, branches and loops."""

    graph: Graph
    module_stack: OrderedDict[str, tuple[str, Any]]

    def create_node(
        self,
        kind: str,
        target: Callable | str,
        args: tuple,
        kwargs: dict[str, Any],
        name: str | None = None,
        type_expr: Any = None,
    ) -> Node:
        node = self.graph.create_node(kind, target, args, kwargs, name, type_expr)
        if getattr(self, "module_stack", None):
            node.meta["nn_module_stack"] = OrderedDict(self.module_stack)
        return node

    def proxy(self, node: Node) -> Proxy:
        return Proxy(node, self)

    def create_proxy(
        self,
        kind: str,
        target: Callable | str,
        args: tuple,
        kwargs: dict[str, Any],
        name: str | None = None,
        type_expr: Any = None,
        proxy_factory_fn: Callable[[Node], Proxy] | None = None,
    ) -> Proxy:
        """Record one step: a node whose arguments are what `create_arg` makes of these, and a proxy for its result."""
        args, kwargs = self.create_arg(args), self.create_arg(kwargs)
        node = self.create_node(kind, target, args, kwargs, name, type_expr)
        return self.proxy(node) if proxy_factory_fn is None else proxy_factory_fn(node)

    def create_arg(self, a: Any) -> Any:
        return create_arg(self, a)

    def to_bool(self, obj: Proxy) -> bool:
        """What `if proxy:` asks. TraceError: the value is not known."""
        raise TraceError("symbolically traced variables cannot be used as inputs to control flow")

    def iter(self, obj: Proxy) -> Iterator[Proxy]:
        """What `for x in proxy:` and `f(*proxy)` ask. TraceError: how many there are is not known."""
        raise TraceError(
            "Proxy object cannot be iterated, as in a loop or as a *args or **kwargs function argument: what it holds is not "
            "known while the function is traced"
        )

    def keys(self, obj: Proxy) -> Any:
        """What `f(**proxy)` asks."""
        return Attribute(obj, "keys")()


class GraphAppendingTracer(TracerBase):
    """For proxies that somebody makes of nodes by hand, to write at a graph. As long as it lives functions look for
    proxies."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.module_stack = OrderedDict()
        start_recording()
        weakref.finalize(self, stop_recording)


# ------------------------------------------------------------------------------------------------------------
# Proxies


class Proxy:
    """The value of `node`, before there is one."""

    def __init__(self, node: Node, tracer: TracerBase | None = None) -> None:
        self.tracer = GraphAppendingTracer(node.graph) if tracer is None else tracer
        self.node = node

    def __repr__(self) -> str:
        return f"Proxy({self.node.name})"

    def __getattr__(self, k: str) -> Attribute:
        if k in ("_key_set", "__deepcopy__"):  # the dispatcher, or copy, asks whether this is something else
            raise AttributeError(k)
        return Attribute(self, k)

    def __call__(self, *args: Any, **kwargs: Any) -> Proxy:
        return self.tracer.create_proxy("call_method", "__call__", (self, *args), kwargs)

    def __iter__(self) -> Iterator[Proxy]:
        caller = sys._getframe(1)
        asked = next(each for each in dis.get_instructions(caller.f_code) if each.offset == caller.f_lasti)
        if asked.opname == "UNPACK_SEQUENCE":  # `a, b = x` says itself how many there are
            return (self[i] for i in range(asked.argval))
        return self.tracer.iter(self)

    def __abs__(self) -> Proxy:
        return self.tracer.create_proxy("call_function", operator.abs, (self,), {})

    def __bool__(self) -> bool:
        return self.tracer.to_bool(self)

    def keys(self) -> Any:
        return self.tracer.keys(self)

    def __len__(self) -> int:
        raise RuntimeError(
            "'len' is not supported in symbolic tracing by default. If you want this call to be recorded, please call "
            "rushlight.fx.wrap('len') at module scope"
        )

    @classmethod
    def __torch_function__(
        cls, orig_method: Callable, types: tuple[type, ...], args: tuple = (), kwargs: dict[str, Any] | None = None
    ) -> Proxy:
        """Record a call of a function of rushlight that has a proxy among its arguments."""
        tracers = {}
        map_aggregate((args, kwargs or {}), lambda a: tracers.setdefault(a.tracer) if isinstance(a, cls) else None)
        if len(tracers) > 1:
            raise RuntimeError(
                f"Found multiple different tracers {list(tracers)} while trying to trace operations {orig_method}"
            )
        tracer = next(iter(tracers))
        method = method_name(orig_method)
        if method is not None:
            return tracer.create_proxy("call_method", method, args, kwargs or {})
        return tracer.create_proxy("call_function", orig_method, args, kwargs or {}, target_name(orig_method.__name__))


class Attribute(Proxy):
    """`x.name`, which most often is called: only then, or when it is used otherwise, it becomes a node."""

    def __init__(self, root: Proxy, attr: str) -> None:
        self.root, self.attr, self.tracer = root, attr, root.tracer
        self._node: Node | None = None

    @property
    def node(self) -> Node:
        if self._node is None:
            self._node = self.tracer.create_proxy("call_function", getattr, (self.root, self.attr), {}).node
        return self._node

    def __call__(self, *args: Any, **kwargs: Any) -> Proxy:
        return self.tracer.create_proxy("call_method", self.attr, (self.root, *args), kwargs)


def _operator_of(name: str) -> Callable[..., Proxy]:
    function = getattr(operator, name)

    def record(self: Proxy, *args: Any) -> Proxy:
        return self.tracer.create_proxy("call_function", function, (self, *args), {})

    return record


def _reflected(name: str) -> Callable[[Proxy, Any], Proxy]:
    function = getattr(operator, name)

    def record(self: Proxy, other: Any) -> Proxy:
        return self.tracer.create_proxy("call_function", function, (other, self), {})

    return record


for _name in FORMATS:
    if hasattr(operator, _name):  # `div` is Python 2's
        setattr(Proxy, f"__{_name.strip('_')}__", _operator_of(_name))
for _name in REFLECTABLE:
    if hasattr(operator, _name):
        setattr(Proxy, f"__r{_name.strip('_')}__", _reflected(_name))
