"""A proxy represents a value during a trace: each operation on it is recorded as a node, and returns a new proxy.

A branch or a loop that depends on the value cannot be recorded, and raises. In PyTorch: `torch/fx/proxy.py`. Left out:
recorded assertions, dataclasses in arguments.
"""

from __future__ import annotations

import dis
import enum
import operator
import sys
import traceback
import weakref
from collections import OrderedDict
from collections.abc import Callable, Iterator
from pathlib import Path
from types import EllipsisType, NoneType
from typing import TYPE_CHECKING, Any

import rushlight
from rushlight.aten.strided import Size, Tensor
from rushlight.c10.dtypes import dtype
from rushlight.c10.memory_formats import memory_format
from rushlight.c10.storage import device, layout
from rushlight.fx.codegen import FORMATS, REFLECTABLE
from rushlight.fx.graph import Graph, target_name
from rushlight.fx.node import Kwargs, Node, Target, map_aggregate, map_arg
from rushlight.fx.operator_schemas import check_for_mutable_operation
from rushlight.fx.overrides import method_name, start_recording, stop_recording
from rushlight.library import OpOverload
from rushlight.nn.parameter import Parameter

HERE = str(Path(rushlight.__file__).parent)


class TraceError(ValueError):
    """The program needs a value that is not known during the trace."""


# Arguments of a node -------------------------------------------------------------------------------------------------

BASE_TYPES = (
    str, int, float, bool, complex, NoneType, EllipsisType, enum.Enum, dtype, device, layout, memory_format, Tensor, OpOverload,
)  # fmt: skip


def create_arg(tracer: TracerBase, a: Any) -> Any:
    """The argument of a node for the argument `a` of a recorded call.

    - For a Proxy it is the proxy's node. For an object with a method `__fx_create_arg__`, it is the result of this method, which
      takes the tracer. (If a list, tuple or dict has this method, the result of the method and the result of the rules below are
      both right.)
    - For a tuple, list, slice or range it is a new object of the same kind, with `tracer.create_arg(item)` for each item, or for
      start, stop and step. A subclass may override `create_arg`. A named tuple (a tuple with `_fields`) keeps its type. A
      tuple of another derived class keeps it too, or becomes a plain tuple. A list of a derived class becomes a plain list.
    - For a dict it is a new plain dict, also if `a` is of a derived class. Keys that are strings do not change. Other keys become
      `dict_key(tracer, key)`, which refuses nodes. The values become `tracer.create_arg(value)`.
    - For a constant (an instance of one of `BASE_TYPES`) it is the constant itself.

    Raises:
        NotImplementedError: `a` is of another type: `argument of type: <class 'set'>`.

    >>> graph = rl.fx.Graph()
    >>> tracer = rl.fx.proxy.GraphAppendingTracer(graph)
    >>> x = tracer.proxy(graph.placeholder("x"))
    >>> create_arg(tracer, ([x, 2], slice(x, None)))
    ([x, 2], slice(x, None, None))

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
    """The key of a dict in the arguments of a node. RuntimeError if it has a node, because the value of a key must be known."""

    def refuse(node: Node) -> None:
        raise RuntimeError(f"Keys for dictionaries used as an argument cannot contain a Node. Got key: {node}")

    key = tracer.create_arg(key)
    map_arg(key, refuse)
    return key


class TracerBase:
    """Creates nodes in `graph` for proxies. A subclass may override what happens to arguments, branches and loops."""

    graph: Graph
    module_stack: OrderedDict[str, tuple[str, Any]]
    check_mutable_operations = False  # whether a function that writes to an argument is refused
    record_stack_traces = False  # whether nodes get the lines of the program, from the first `forward` on

    def create_node(
        self, kind: str, target: Target, args: tuple, kwargs: Kwargs, name: str | None = None, type_expr: Any = None
    ) -> Node:
        if kind == "call_function" and self.check_mutable_operations:
            check_for_mutable_operation(target, args, kwargs)
        node = self.graph.create_node(kind, target, args, kwargs, name, type_expr)
        if self.record_stack_traces:
            frames = traceback.extract_stack()
            first = next((i for i, frame in enumerate(frames) if frame.name == "forward"), len(frames))
            theirs = [frame for frame in frames[first:] if not frame.filename.startswith(HERE)]
            if theirs:
                node.stack_trace = "".join(traceback.format_list(theirs)).strip()
        if getattr(self, "module_stack", None):
            node.meta["nn_module_stack"] = OrderedDict(self.module_stack)
        return node

    def proxy(self, node: Node) -> Proxy:
        return Proxy(node, self)

    def create_proxy(
        self, kind: str, target: Target, args: tuple, kwargs: Kwargs, name: str | None = None, type_expr: Any = None
    ) -> Proxy:
        """Record one step: a node with arguments from `create_arg`, and a proxy for its result."""
        args, kwargs = self.create_arg(args), self.create_arg(kwargs)
        return self.proxy(self.create_node(kind, target, args, kwargs, name, type_expr))

    def create_arg(self, a: Any) -> Any:
        return create_arg(self, a)

    def to_bool(self, obj: Proxy) -> bool:
        """The result of `if proxy:`. TraceError, because the value is not known."""
        raise TraceError("symbolically traced variables cannot be used as inputs to control flow")

    def iter(self, obj: Proxy) -> Iterator[Proxy]:
        """The result of `for x in proxy:` and `f(*proxy)`. TraceError, because the length is not known."""
        why = "as in a loop or as a *args or **kwargs function argument: its values are not known during the trace"
        raise TraceError(f"Proxy object cannot be iterated, {why}")

    def keys(self, obj: Proxy) -> Any:
        """The result of `f(**proxy)`."""
        return Attribute(obj, "keys")()


class GraphAppendingTracer(TracerBase):
    """For proxies that are created from nodes by hand, to extend a graph. While it exists, functions check for proxies."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.module_stack = OrderedDict()
        start_recording()
        weakref.finalize(self, stop_recording)


# Proxies -------------------------------------------------------------------------------------------------------------


class Proxy:
    """Represents the value of `node`."""

    def __init__(self, node: Node, tracer: TracerBase | None = None) -> None:
        self.tracer = GraphAppendingTracer(node.graph) if tracer is None else tracer
        self.node = node

    if TYPE_CHECKING:  # one of the operators below

        def __getitem__(self, key: Any) -> Proxy: ...

    def __repr__(self) -> str:
        return f"Proxy({self.node.name})"

    def __getattr__(self, k: str) -> Attribute:
        if k in ("_key_set", "__deepcopy__", "__setstate__"):  # checks by the dispatcher and by copy
            raise AttributeError(k)
        return Attribute(self, k)

    def __call__(self, *args: Any, **kwargs: Any) -> Proxy:
        return self.tracer.create_proxy("call_method", "__call__", (self, *args), kwargs)

    def __iter__(self) -> Iterator[Proxy]:
        caller = sys._getframe(1)
        instruction = next(step for step in dis.get_instructions(caller.f_code) if step.offset == caller.f_lasti)
        if instruction.opname == "UNPACK_SEQUENCE":  # the instruction of `a, b = x` has the length
            return (self[i] for i in range(instruction.argval))
        return self.tracer.iter(self)

    def __bool__(self) -> bool:
        return self.tracer.to_bool(self)

    def keys(self) -> Any:
        return self.tracer.keys(self)

    def __len__(self) -> int:
        hint = "If you want this call to be recorded, please call torch.fx.wrap('len') at module scope"
        raise RuntimeError(f"'len' is not supported in symbolic tracing by default. {hint}")

    @classmethod
    def __torch_function__(
        cls, orig_method: Callable, types: tuple[type, ...], args: tuple = (), kwargs: dict[str, Any] | None = None
    ) -> Proxy:
        """Record a call of a function of rushlight with a proxy in its arguments."""
        tracers: dict[TracerBase, None] = {}
        kwargs = kwargs or {}
        map_aggregate((args, kwargs), lambda a: tracers.setdefault(a.tracer) if isinstance(a, cls) else None)
        if len(tracers) > 1:
            what = f"multiple different tracers {list(tracers)} while trying to trace operations {orig_method}"
            raise RuntimeError(f"Found {what}")
        (tracer,), method = tracers, method_name(orig_method)
        if method is not None:
            return tracer.create_proxy("call_method", method, args, kwargs)
        return tracer.create_proxy("call_function", orig_method, args, kwargs, target_name(orig_method.__name__))


class ParameterProxy(Proxy):
    """The proxy of a parameter whose sizes are known during the trace."""

    def __init__(self, tracer: TracerBase, node: Node, name: str, param: Parameter) -> None:
        super().__init__(node, tracer)
        self.param, self.name = param, name

    def __repr__(self) -> str:
        return f"ParameterProxy({self.name})"

    shape = property(lambda self: self.param.shape)
    ndim = property(lambda self: self.param.ndim)

    def size(self) -> Size:
        return self.param.size()

    def dim(self) -> int:
        return self.param.dim()

    def numel(self) -> int:
        return self.param.numel()

    nelement = numel


class Attribute(Proxy):
    """`x.name`. It becomes a node when it is used, because most attributes are methods that are called."""

    def __init__(self, root: Proxy, attr: str) -> None:
        self.root, self.attr, self.tracer = root, attr, root.tracer
        self._node: Node | None = None

    @property
    def node(self) -> Node:  # type: ignore[override]  # of a plain proxy it can be assigned
        if self._node is None:
            self._node = self.tracer.create_proxy("call_function", getattr, (self.root, self.attr), {}).node
        return self._node

    def __call__(self, *args: Any, **kwargs: Any) -> Proxy:
        return self.tracer.create_proxy("call_method", self.attr, (self.root, *args), kwargs)


def _operator(function: Callable, reflected: bool = False) -> Callable[..., Proxy]:
    def record(self: Proxy, *others: Any) -> Proxy:
        operands = (*others, self) if reflected else (self, *others)
        return self.tracer.create_proxy("call_function", function, operands, {})

    return record


for _name in {*FORMATS, "abs"} - {"div"}:  # `div` is Python 2's
    setattr(Proxy, f"__{_name.strip('_')}__", _operator(getattr(operator, _name)))
    if _name in REFLECTABLE:
        setattr(Proxy, f"__r{_name.strip('_')}__", _operator(getattr(operator, _name), reflected=True))
