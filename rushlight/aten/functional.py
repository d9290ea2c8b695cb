"""Functions and methods of `rl` that are written in Python and call operators. In PyTorch: `torch/functional.py`,
`torch/_tensor.py`, and for `to` `torch/csrc/autograd/python_variable_methods.cpp`."""

from __future__ import annotations

from rushlight.aten.generated import functions
from rushlight.aten.strided import Tensor
from rushlight.c10.dtypes import Scalar, as_dtype, dtype
from rushlight.c10.schema import NUMBERS
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
    is_dtype = isinstance(first, dtype | type)
    start = ["other"] if isinstance(first, Tensor) else ["dtype"] if is_dtype else ["device", "dtype"]
    names = [*start, "non_blocking", "copy"]
    options = dict(zip(names, args)) | kwargs
    unknown = kwargs.keys() - {"device", "dtype", "non_blocking", "copy", "memory_format"}
    if options.get("dtype") is not None:
        options["dtype"] = as_dtype(options["dtype"])
    wrong = not all(isinstance(options.get(name, False), bool) for name in ("non_blocking", "copy"))
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


def format_tensor(self: Tensor, format_spec: str) -> str:
    """`f"{loss:.2f}"`: a tensor without dimensions has the format of its number."""
    if self.dim() == 0 and not self.is_meta and type(self) is Tensor:
        return format(self.item(), format_spec)
    return object.__format__(self, format_spec)


def reverse(self: Tensor) -> Tensor:
    """`reversed(x)`: the tensor flipped along its first dimension."""
    return self.flip(0) if self.dim() else self


def contains(self: Tensor, element: Tensor | Scalar) -> bool:
    """`element in x`: whether an element of the tensor is equal, after broadcasting."""
    if isinstance(element, (Tensor, *NUMBERS)):
        return bool((element == self).any().item())
    raise RuntimeError(f"Tensor.__contains__ only supports Tensor or scalar, but you passed in a {type(element)}.")


Tensor.to = to
Tensor.__format__, Tensor.__reversed__, Tensor.__contains__ = format_tensor, reverse, contains
