"""Values that are known, and nodes for those that are not: what all rules of a capture end in.

`fold` lets Python compute what is known, and `literal` makes a variable of the result; `call_in_graph` makes a node, and finds out
with the fakes what it gives. An exception that Python would raise is one of the captured function: `raised`. In PyTorch:
`torch/_dynamo/variables/base.py` (`as_proxy`, `as_python_constant`), `variables/builder.py` (`SourcelessBuilder`,
`wrap_fx_proxy`), `variables/torch.py`.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from rushlight import fx
from rushlight.aten.strided import Tensor
from rushlight.dynamo.guards import CONSTANTS
from rushlight.dynamo.variables import (
    Constant,
    DictVariable,
    ExceptionVariable,
    ListVariable,
    Raised,
    SetVariable,
    TensorVariable,
    TupleVariable,
    Unsupported,
    Variable,
    constant_of,
)


def raised(cls: type, *args: Any) -> Raised:
    """To be raised: an exception that the captured function may catch."""
    return Raised(ExceptionVariable(cls, [Constant(arg) for arg in args]))


def literal(value: Any) -> Variable:
    """A new value that is known."""
    kind = type(value)
    if kind is list:
        return ListVariable([literal(item) for item in value])
    if kind is tuple:
        return TupleVariable([literal(item) for item in value])
    if kind in (dict, OrderedDict):
        return DictVariable({key: literal(item) for key, item in value.items()}, cls=kind)
    if kind in (set, frozenset):
        return SetVariable(set(value), cls=kind)
    if isinstance(value, Tensor):
        raise Unsupported("a tensor that was made while the graph was captured")
    return Constant(value)


def fold(frame: Any, function: Callable, args: list[Variable], kwargs: dict[str, Variable] | None = None) -> Variable:
    """Let Python compute what is known. An exception becomes one of the captured function."""
    values = [known_all_through(frame, arg) for arg in args]
    named = {key: known_all_through(frame, arg) for key, arg in (kwargs or {}).items()}
    try:
        result = function(*values, **named)
    except Exception as error:
        if all(type(arg) in CONSTANTS for arg in error.args):
            raise raised(type(error), *error.args) from None
        raise Unsupported(f"{type(error).__name__} from {function}") from None
    return literal(result)


def known_all_through(frame: Any, variable: Variable) -> Any:
    """The value of a variable, all of whose parts are looked at."""
    variable = frame.output.realize(variable)
    if isinstance(variable, (ListVariable, TupleVariable, DictVariable)):
        for item in variable.items.values() if isinstance(variable, DictVariable) else variable.items:
            known_all_through(frame, item)
    return constant_of(variable)


# ------------------------------------------------------------------------------------------------------------
# Nodes


def as_proxy(frame: Any, variable: Variable) -> Any:
    """A variable as an argument of a node: nodes for tensors."""
    variable = frame.output.realize(variable)
    match variable:
        case TensorVariable(node=node):
            return node
        case ListVariable(items=items):
            return [as_proxy(frame, item) for item in items]
        case TupleVariable(items=items, cls=cls):
            values = [as_proxy(frame, item) for item in items]
            return (
                tuple(values) if cls is tuple or any(isinstance(v, fx.Node) for v in values) else constant_of(variable)
            )
        case DictVariable(items=items):
            return {key: as_proxy(frame, item) for key, item in items.items()}
    return constant_of(variable)


def fakes(value: Any) -> Any:
    """Arguments of a node with the fakes of its nodes."""
    return fx.node.map_arg(value, lambda node: node.meta["example_value"])


CREATIONS = {
    "zeros", "ones", "empty", "full", "arange", "eye", "linspace", "rand", "randn", "randint", "randperm", "tensor", "logspace",
    "empty_strided", "as_tensor", "scalar_tensor",
}  # fmt: skip


def call_in_graph(
    frame: Any, target: Any, args: list[Variable], kwargs: dict[str, Variable], op: str = "call_function"
) -> Variable:
    """A node for an operation. What it gives is found out with the fakes."""
    node_args = tuple(as_proxy(frame, arg) for arg in args)
    node_kwargs = {key: as_proxy(frame, arg) for key, arg in kwargs.items()}
    function = target if op == "call_function" else getattr(Tensor, target)
    fake_args, fake_kwargs = fakes(node_args), fakes(node_kwargs)
    if getattr(function, "__name__", "") in CREATIONS and "device" not in fake_kwargs or "device" in fake_kwargs:
        fake_kwargs = {**fake_kwargs, "device": "meta"}
    try:
        fake = function(*fake_args, **fake_kwargs)
    except Exception as error:  # the operation itself will say it better
        raise Unsupported(f"{getattr(function, '__name__', function)} on fake tensors: {error}") from error
    if isinstance(fake, Tensor) and not fake.is_meta:
        raise Unsupported(f"{function.__name__} gives data that are known only later")
    return frame.output.emit(op, target, node_args, node_kwargs, fake)
