"""Methods and attributes of a tensor: what its fake knows is a constant, the rest is a node.

Sizes, strides and dtypes hold for every tensor that passes the guards, so Python may compute with them. Data are not known: what
asks for them, `item` or `tolist`, breaks the graph. In PyTorch: `torch/_dynamo/variables/tensor.py`, `TensorVariable`.
"""

from __future__ import annotations

import operator
from typing import Any

import rushlight as rl
from rushlight.aten.strided import Tensor
from rushlight.dynamo import training
from rushlight.dynamo.bytecode import OPERATORS, UNARY
from rushlight.dynamo.values import call_in_graph, raised
from rushlight.dynamo.variables import (
    Constant,
    MethodVariable,
    TensorVariable,
    TupleVariable,
    Unsupported,
    Variable,
    constant_of,
)

KNOWN_METHODS = {
    "size", "dim", "ndimension", "numel", "nelement", "element_size", "stride", "is_contiguous", "is_floating_point",
    "is_complex", "storage_offset", "__len__",
}  # fmt: skip
KNOWN_ATTRIBUTES = {"shape", "dtype", "ndim", "requires_grad", "layout", "itemsize", "nbytes", "is_leaf"}
LEFT_TO_PYTHON = {
    "item", "tolist", "numpy", "data_ptr", "untyped_storage", "register_hook", "retain_grad", "__bool__", "__int__", "__float__",
    "__index__", "__array__", "__iter__", "requires_grad_", "share_memory_", "cpu", "is_inference", "_is_view", "set_",
}  # fmt: skip

OPERATOR_METHODS = {
    f"__{function.__name__.strip('_')}__": function for function in (*OPERATORS.values(), *UNARY.values())
}
OPERATOR_METHODS |= {"__setitem__": operator.setitem, "__abs__": operator.abs}
OPERATOR_METHODS.pop("__not___", None)


def call_tensor_method(
    frame: Any, tensor: TensorVariable, name: str, args: list[Variable], kwargs: dict[str, Variable]
) -> Variable:
    """A constant, a break, or a node that calls the method."""
    if name in KNOWN_METHODS:
        values = [constant_of(frame.output.realize(arg)) for arg in args]
        named = {key: constant_of(frame.output.realize(arg)) for key, arg in kwargs.items()}
        try:
            return sized(getattr(tensor.fake, name)(*values, **named))
        except (IndexError, TypeError) as error:
            raise raised(type(error), *error.args) from None
    if name == "backward":
        return training.backward(frame, tensor, *[frame.output.realize(arg) for arg in args], **kwargs)
    if name in LEFT_TO_PYTHON:
        raise Unsupported(f"Unsupported Tensor.{name}() call")
    if name in OPERATOR_METHODS:
        return call_in_graph(frame, OPERATOR_METHODS[name], [tensor, *args], kwargs)
    return call_in_graph(frame, name, [tensor, *args], kwargs, op="call_method")


def tensor_attribute(frame: Any, tensor: TensorVariable, name: str) -> Variable:
    if name in KNOWN_ATTRIBUTES and not (name == "is_leaf" and tensor.real is not None):
        return sized(getattr(tensor.fake, name))
    if name == "is_leaf":
        return Constant(tensor.real.is_leaf)
    if name == "device":
        return Constant(rl.device("cpu"))
    if name == "is_meta":
        return Constant(False)
    if name == "grad":
        return training.grad_of(frame, tensor)
    if name in ("T", "mT"):
        return call_in_graph(frame, getattr, [tensor, Constant(name)], {})
    if name == "data":
        return call_in_graph(frame, "detach", [tensor], {}, op="call_method")
    found = getattr(Tensor, name, None)
    if name == "__class__":
        return Constant(tensor.kind)
    if found is None:
        raise raised(AttributeError, f"'{tensor.kind.__name__}' object has no attribute '{name}'")
    if callable(found):
        return MethodVariable(name, tensor)
    raise Unsupported(f"the attribute {name} of a tensor")


def sized(value: Any) -> Variable:
    """A size as a tuple of constants that stays a `Size`."""
    if isinstance(value, tuple):
        return TupleVariable([Constant(item) for item in value], cls=type(value))
    return Constant(value)
