"""`make_fx`: record a program as a graph of operators by running it once.

A mode at the key `Python`, below autograd, intercepts every call. It runs the operator, on tensors without data if only metadata
is needed, and adds a node to an `fx.Graph`. The mode's `tracker` has the node of each tensor. Python code between the calls is
not recorded: loops are unrolled, one side of a branch is recorded, and functions are inlined. If the program runs a backward
pass, its operators are recorded like all others.

In PyTorch: `torch/fx/experimental/proxy_tensor.py`. Left out: symbolic sizes, nested arguments, higher-order operators, and fake
tensors with a device: here they are on the device `meta`.
"""

from __future__ import annotations

import inspect
import operator
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from rushlight.aten import strided
from rushlight.aten.generated import functions
from rushlight.aten.native import views
from rushlight.aten.strided import Tensor
from rushlight.c10.dispatch import PYTHON, DispatchKey, DispatchMode, Operator, excluding, local, replacing
from rushlight.c10.schema import bind
from rushlight.c10.storage import device
from rushlight.fx import Graph, GraphModule, Node
from rushlight.fx.node import map_aggregate

Args = Sequence[Any]
Decompositions = Mapping[Operator, Callable] | None

# The mode ------------------------------------------------------------------------------------------------------------


class ProxyTorchDispatchMode(DispatchMode):
    """Records calls in `graph`. Source: `torch/fx/experimental/proxy_tensor.py`, `ProxyTorchDispatchMode`."""

    def __init__(self, graph: Graph, decompositions: Decompositions = None) -> None:
        self.graph, self.decompositions = graph, decompositions or {}
        self.tracker: dict[int, tuple[Tensor, Node]] = {}  # by id; the reference keeps the id from being used again
        self.constants: dict[str, Tensor] = {}
        self.meta: dict[str, Any] = {}  # added to the `meta` of each new node

    def __torch_dispatch__(self, func: Operator, types: Sequence[type], args: tuple = (), kwargs: dict | None = None):
        kwargs = kwargs or {}
        simpler = self.decompositions.get(func) or composite(func)
        if simpler is not None:
            with self:
                return simpler(*args, **kwargs)
        return record_call(self, func, args, kwargs)

    def create_node(self, target: Callable, args: tuple, kwargs: dict[str, Any], name: str) -> Node:
        """A new node at the end that calls `target`, named after `name`."""
        args, kwargs = map_aggregate((args, kwargs), recorded_value)
        node = self.graph.create_node("call_function", target, args, kwargs, name)
        node.meta |= self.meta
        return node

    def track(self, tensor: Any, node: Node) -> None:
        """Record that the node computes this tensor. The alias keeps its metadata, which may change in place."""
        node.meta["val"] = tensor
        if not isinstance(tensor, Tensor):  # an operator of a program may return None or a number
            return
        node.meta["val"] = views.alias(tensor)
        self.tracker[id(tensor)] = tensor, node

    def node_of(self, tensor: Tensor) -> Node:
        """The node that computes a tensor. A tensor from outside is a constant, with a `get_attr` node for each use."""
        if id(tensor) in self.tracker:
            return self.tracker[id(tensor)][1]
        known = (name for name, constant in self.constants.items() if constant is tensor)
        name = next(known, f"_tensor_constant{len(self.constants)}")
        self.constants[name] = tensor
        node = self.graph.create_node("get_attr", name)
        node.meta["val"] = tensor
        return node


def record_call(mode: ProxyTorchDispatchMode, func: Operator, args: tuple, kwargs: dict[str, Any]) -> Any:
    """Run an operator and record the call as a node of a graph.

    `args` is a tuple and `kwargs` a dict. The node's target is the operator, and its name is that of the operator,
    `func.schema.name`. It has the args and kwargs of the call, with the node of each tensor, `mode.node_of(tensor)`, in place of
    the tensor, also in lists and tuples. A list or tuple among them becomes a list. Make the node with
    `mode.create_node(target, args, kwargs, name)`.

    Then run the operator on the tensors: `run_meta(func, args, kwargs)`. `mode.track(tensor, node)` records that the node computes
    its result. If the result is a list or tuple, it is the node's `meta["val"]`. Each tensor in it, in order, has a node of its
    own, even if it is not used. This node calls `operator.getitem` with the first node and the index of the tensor, and is named
    "getitem".

    An operator that writes to its first argument in place (its name ends in one underscore) returns that argument. From then on
    this node computes the argument.

    Returns:
        the result of the operator.

    >>> graph = rl.aot.make_fx(lambda x: x.split(2)[0] + 1)(rl.ones(4)).graph
    >>> [(node.name, node.args) for node in graph.nodes if node.op == "call_function"]
    [('split', (x_1, 2)), ('getitem', (split, 0)), ('getitem_1', (split, 1)), ('add', (getitem, 1))]

    Source: `torch/fx/experimental/proxy_tensor.py`, `proxy_call` and `track_tensor_tree`.
    """

    def seen(value: Any) -> Any:
        if isinstance(value, Tensor):
            return mode.node_of(value)
        return [seen(item) for item in value] if isinstance(value, (list, tuple)) else value

    node_args, node_kwargs = tuple(map(seen, args)), {name: seen(value) for name, value in kwargs.items()}
    node = mode.create_node(func, node_args, node_kwargs, func.schema.name)
    result = run_meta(func, args, kwargs)
    if isinstance(result, (list, tuple)):
        node.meta["val"] = result
        for i, tensor in enumerate(result):
            mode.track(tensor, mode.create_node(operator.getitem, (node, i), {}, "getitem"))
    else:
        mode.track(result, node)
    return result


def recorded_value(value: Any) -> Any:
    """A value that is not a tensor, as a graph has it: numbers are Python's, and the device of tensors that have no data only
    during the trace is the CPU."""
    if isinstance(value, device):
        return device("cpu") if local.on_meta and value.type == "meta" else value
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return value
    return int(value) if isinstance(value, int) else float(value)


def run_meta(func: Operator, args: tuple, kwargs: dict[str, Any]) -> Any:
    """Run an operator. A factory function makes a tensor without data if the program runs on such tensors."""
    schema = func.schema
    has_device = any(argument.name == "device" for argument in schema.arguments)
    if has_device and local.on_meta and not any(argument.base == "Tensor" for argument in schema.arguments):
        kwargs = kwargs | {"device": "meta"}
    if local.on_meta and local.fakes_constants and schema.name == "lift_fresh_copy":
        return fake_like(*args)
    return func(*args, **kwargs)


def on_meta(enabled: bool) -> AbstractContextManager:
    """A context in which new tensors have no data, or have them."""
    return replacing(local, on_meta=enabled)


def composite(func: Operator) -> Callable | None:
    """An operator that is only defined by calls of other operators, as a function. These calls are recorded instead of it.
    A new tensor of Python data is a constant of the graph, and the program works on a copy. Source: `torch/_ops.py`,
    `OpOverload.decompose`."""
    if func.full_name == "aten::lift_fresh":
        return functions.lift_fresh_copy
    kernel = func.kernels.get(DispatchKey.CompositeImplicitAutograd)
    if kernel is None or kernel.pythonic or kernel.boxed:
        return None
    return lambda *args, **kwargs: kernel.function(*bind(func.schema, args, kwargs))


# make_fx -------------------------------------------------------------------------------------------------------------


def fake_like(tensor: Tensor) -> Tensor:
    """A tensor without data that has the same sizes, strides, offset, dtype, `requires_grad` and `is_leaf`.
    Source: `torch/_subclasses/fake_tensor.py`, `FakeTensorMode`."""
    sizes, strides, offset = tensor.shape, tensor.stride(), tensor.storage_offset()
    reach = 1 + offset + sum(max(size - 1, 0) * stride for size, stride in zip(sizes, strides))
    with disable_modes():
        memory = functions.empty((reach,), dtype=tensor.dtype, device="meta")
        fake = strided.as_strided(memory, sizes, strides, offset)  # the kernel itself, so that autograd sees no view
        if not tensor.requires_grad:
            return fake
        fake.requires_grad_()
        return fake if tensor.is_leaf else functions._unsafe_view(fake, sizes)


def trace(function: Callable, args: Args, names: Sequence[str], decompositions: Decompositions = None) -> GraphModule:
    """The graph of the calls of `function(mode, *args)`, with a placeholder for each argument, which has the name given."""
    graph = Graph()
    mode = ProxyTorchDispatchMode(graph, decompositions)
    for name, arg in zip(names, args):
        node = graph.placeholder(name)
        if isinstance(arg, Tensor):
            mode.track(arg, node)
    with on_meta(any(isinstance(arg, Tensor) and arg.is_meta for arg in args)), mode:
        results = function(mode, *args)
    graph.output(map_aggregate(results, lambda x: mode.node_of(x) if isinstance(x, Tensor) else x))
    return GraphModule(mode.constants, graph)


def make_fx(f: Callable, decomposition_table: Decompositions = None, tracing_mode: str = "real") -> Callable:
    """A function that takes the arguments of `f`, and returns the graph of the operators that `f` calls.

    `tracing_mode` is "real" or "fake". With "fake", `f` runs on tensors without data. Operators in `decomposition_table` are
    replaced by the operators that the functions there call.

    Source: `torch/fx/experimental/proxy_tensor.py`, `make_fx`.
    """
    if tracing_mode not in ("real", "fake"):
        raise ValueError(f"tracing_mode is 'real' or 'fake', not {tracing_mode!r}; symbolic sizes are left out")

    def traced(*args: Any) -> GraphModule:
        given = [fake_like(x) if tracing_mode == "fake" and isinstance(x, Tensor) else x for x in args]
        return trace(lambda mode, *inputs: f(*inputs), given, _names(f, len(args)), decomposition_table)

    return traced


def _names(f: Callable, count: int) -> list[str]:
    try:
        parameters = inspect.signature(f).parameters.values()
    except (TypeError, ValueError):
        parameters = []
    names = [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)][:count]
    return [f"{name}_1" for name in names] + [f"arg{i}_1" for i in range(len(names), count)]


def disable_modes():
    """A context in which modes do not intercept calls. Source: `torch/utils/_python_dispatch.py`, `_disable_current_modes`."""
    return excluding(PYTHON) if local.modes else nullcontext()
