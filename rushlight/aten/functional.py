"""Functions and methods of `rl` that are written in Python and call operators. In PyTorch: `torch/functional.py`, and for `to`
`torch/csrc/autograd/python_variable_methods.cpp`."""

from __future__ import annotations

from rushlight.aten.generated import functions
from rushlight.aten.strided import Tensor
from rushlight.c10.dtypes import dtype
from rushlight.library import invoke

__all__ = ["broadcast_tensors"]


def broadcast_tensors(*tensors: Tensor) -> tuple[Tensor, ...]:
    """The tensors, expanded to the sizes to which they broadcast."""
    if len(tensors) == 1 and isinstance(tensors[0], (list, tuple)):
        tensors = tensors[0]
    return functions.broadcast_tensors(tensors)


def to(self: Tensor, *args, **kwargs) -> Tensor:
    """`x.to(dtype)`, `x.to(device)`, `x.to(device, dtype)` or `x.to(other)`, each with optional `non_blocking` and `copy`, and
    `memory_format` by keyword."""
    first = args[0] if args else None
    start = ["other"] if isinstance(first, Tensor) else ["dtype"] if isinstance(first, dtype) else ["device", "dtype"]
    names = [*start, "non_blocking", "copy"]
    options = dict(zip(names, args)) | kwargs
    unknown = kwargs.keys() - {"device", "dtype", "non_blocking", "copy", "memory_format"}
    wrong = not isinstance(options.get("dtype"), dtype | None)
    wrong |= not all(isinstance(options.get(name, False), bool) for name in ("non_blocking", "copy"))
    if wrong or unknown or len(args) > len(names) or len(options) < len(args) + len(kwargs):
        raise TypeError(f"to() received an invalid combination of arguments: {args}, {kwargs}")
    get = options.get
    rest = bool(get("non_blocking")), bool(get("copy")), get("memory_format")
    if get("other") is not None:
        return invoke(functions.to_other_op, self, get("other"), *rest)
    if get("device") is None and get("dtype") is not None:
        return invoke(functions.to_dtype_op, self, get("dtype"), *rest)
    if get("dtype") is not None:
        return invoke(functions.to_device_op, self, get("device"), get("dtype"), *rest)
    return invoke(functions.to_dtype_layout_op, self, None, None, get("device"), None, *rest)


Tensor.to = to
