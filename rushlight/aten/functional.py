"""Functions and methods of `rl` that are written in Python and call operators. In PyTorch: `torch/functional.py`,
`torch/_tensor.py`, and for `to` `tools/autograd/templates/python_variable_methods.cpp`."""

import string
from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

from rushlight.aten.generated import functions
from rushlight.aten.strided import Tensor, add_attributes
from rushlight.c10.dtypes import Scalar, as_dtype, dtype
from rushlight.c10.schema import NUMBERS
from rushlight.library import OpOverload, invoke, through_table

__all__ = [
    "_assert", "atleast_1d", "atleast_2d", "atleast_3d", "broadcast_tensors", "cdist", "einsum",
    "is_complex", "is_floating_point", "is_tensor", "meshgrid", "nonzero", "norm", "numel", "tensordot", "typename", "unique",
    "unique_consecutive",
]  # fmt: skip


def _assert(condition: Any, message: str) -> None:
    """`assert`, as a call that a trace records. Source: `torch/__init__.py`, `_assert`."""
    if hasattr(condition, "__torch_function__") and not isinstance(condition, Tensor):
        return condition.__torch_function__(_assert, (type(condition),), (condition, message))
    assert condition, message


_assert.__module__ = "rushlight"  # where generated code finds it


def typename(obj: Any, /) -> str:
    """The name of an object, or of its class, with its module. Source: `torch/__init__.py`, `typename`."""
    if isinstance(obj, Tensor):
        return str(obj.type())
    if isinstance(obj, OpOverload):
        return f"{Tensor.__module__.partition('.')[0]}._ops.{obj.schema.namespace}.{obj.full_name}"
    named = obj if hasattr(obj, "__qualname__") or hasattr(obj, "__name__") else type(obj)
    module, name = getattr(named, "__module__", None) or "", getattr(named, "__qualname__", None) or named.__name__
    return name if module in ("", "builtins") else f"{module}.{name}"


def is_tensor(obj: Any, /) -> bool:
    """Return whether an object is a tensor. Source: `torch/__init__.py`, `is_tensor`."""
    return isinstance(obj, Tensor)


def is_floating_point(input: Tensor) -> bool:
    """Whether the dtype of the tensor is a floating-point dtype."""
    return input.dtype.is_floating_point


def is_complex(input: Tensor) -> bool:
    """Always False: rushlight leaves out complex numbers."""
    return input.dtype.is_complex


def tensordot(a: Tensor, b: Tensor, dims: int | Sequence = 2, out: Tensor | None = None) -> Tensor:
    """The product, summed over the last `dims` dimensions of `a` and the first ones of `b`, or over two lists of dimensions."""
    given = (list(range(-dims, 0)), list(range(dims))) if isinstance(dims, int) else dims
    return functions.tensordot(a, b, *([dim] if isinstance(dim, int) else list(dim) for dim in given), out=out)


def numel(input: Tensor) -> int:
    """The number of elements."""
    return input.numel()


def broadcast_tensors(*tensors: Tensor) -> tuple[Tensor, ...]:
    """The tensors, expanded to the sizes to which they broadcast."""
    if len(tensors) == 1 and isinstance(tensors[0], (list, tuple)):
        tensors = tensors[0]
    return functions.broadcast_tensors(tensors)


def einsum(*args: Any) -> Tensor:
    """`einsum("ij,jk->ik", a, b)`, or with a list of numbers for each operand: `einsum(a, [0, 1], b, [1, 2], [0, 2])`. Operands are
    multiplied from left to right. Source: `torch/functional.py`, `einsum`."""
    if len(args) < 2:
        needed = "the equation string and at least one operand, or at least one operand and its subscripts list"
        raise ValueError(f"einsum(): must specify {needed}")
    if isinstance(args[0], Tensor):
        equation = ",".join(map(_subscripts, args[1::2]))
        if len(args) % 2:
            return einsum(f"{equation}->{_subscripts(args[-1])}", *args[:-1:2])
        return einsum(equation, *args[::2])
    equation, *operands = args
    if len(operands) == 1 and isinstance(operands[0], (list, tuple)):
        return einsum(equation, *operands[0])
    return functions.einsum(equation, operands)


def _subscripts(numbers: Sequence) -> str:
    """The letters of the dimensions 0 to 51 of a subscript list, in which Ellipsis may be."""
    letters = string.ascii_uppercase + string.ascii_lowercase
    if any(n is not Ellipsis and not 0 <= n < len(letters) for n in numbers):
        raise ValueError("einsum(): subscript in subscript list is not within the valid range [0, 52)")
    return "".join("..." if n is Ellipsis else letters[n] for n in numbers)


def _of_one_or_several(function: Callable) -> Callable[..., Tensor | tuple[Tensor, ...]]:
    """A function of one tensor, several, or a list of them."""
    return wraps(function)(lambda *tensors: function(tensors[0] if len(tensors) == 1 else tensors))


atleast_1d, atleast_2d = _of_one_or_several(functions.atleast_1d), _of_one_or_several(functions.atleast_2d)
"""The operator of the same name for one tensor. Several tensors, or a list of them, give a tuple.
Source: `torch/functional.py`."""
atleast_3d = _of_one_or_several(functions.atleast_3d)
"""The operator of the same name for one tensor. Several tensors, or a list of them, give a tuple.
Source: `torch/functional.py`, `atleast_3d`."""


def meshgrid(*tensors: Tensor, indexing: str | None = None) -> tuple[Tensor, ...]:
    """For each vector, a view of the sizes of all of them. Source: `torch/functional.py`, `meshgrid`."""
    if len(tensors) == 1 and isinstance(tensors[0], (list, tuple)):
        tensors = tensors[0]
    return functions.meshgrid(tensors, **({} if indexing is None else {"indexing": indexing}))


def nonzero(input: Tensor, *, out: Tensor | None = None, as_tuple: bool = False) -> Tensor | tuple[Tensor, ...]:
    """The indices of the elements that are not 0, (elements, dimensions), or a vector for each dimension."""
    if as_tuple.__class__ is not bool:
        raise TypeError(f"nonzero(): argument 'as_tuple' must be bool, not {type(as_tuple).__name__}")
    if as_tuple and out is not None:
        if not isinstance(out, Tensor):
            raise TypeError(f"nonzero(): argument 'out' must be Tensor, not {type(out).__name__}")
        raise RuntimeError("nonzero does not support the out kwarg when as_tuple is True")
    return functions.nonzero_numpy(input) if as_tuple else functions.nonzero(input, out=out)


def tensor_nonzero(self: Tensor, *, as_tuple: bool = False) -> Tensor | tuple[Tensor, ...]:
    """The indices of the elements that are not 0: one row for each, of shape (count, dim), or with `as_tuple` one index
    tensor for each dimension, as `x[indices]` takes them."""
    return nonzero(self, as_tuple=as_tuple)


Results = Tensor | tuple[Tensor, ...]
Order = Scalar | str | None
Dims = int | Sequence[int] | None


def norm(input: Tensor, p: Order = "fro", dim: Dims = None, keepdim: bool = False, out=None, dtype=None) -> Tensor:
    """The vector norm of order `p` over all elements or some dimensions; "fro" is 2. Source: `torch/functional.py`, `norm`."""
    dim = [dim] if isinstance(dim, int) else dim
    if p == "fro" and (dim is None or len(dim) <= 2):
        p = 2
    if isinstance(p, str):
        dim = list(range(input.dim())) if dim is None else dim
        options = {} if out is None else {"out": out}
        return functions.linalg_matrix_norm(input, p, dim, keepdim, dtype=dtype, **options)
    return functions.linalg_vector_norm(input, 2.0 if p is None else p, dim, keepdim, dtype=dtype, out=out)


def tensor_norm(self: Tensor, p: Order = "fro", dim: Dims = None, keepdim: bool = False, dtype=None) -> Tensor:
    """`rushlight.norm` as a method, with the argument `dtype`. Source: `torch/_tensor.py`, `Tensor.norm`."""
    return norm(self, p, dim, keepdim, dtype=dtype)


def cdist(x1: Tensor, x2: Tensor, p: float = 2.0, compute_mode: str = "use_mm_for_euclid_dist_if_necessary") -> Tensor:
    """The distance of each row of `x1` from each row of `x2`. Source: `torch/functional.py`, `cdist`."""
    if not compute_mode.endswith("use_mm_for_euclid_dist") and not compute_mode.endswith("if_necessary"):
        raise ValueError(f"{compute_mode} is not a valid value for compute_mode")
    return functions.cdist(x1, x2, p, None)


def unique(input: Tensor, sorted=True, return_inverse: bool = False, return_counts: bool = False, dim=None) -> Results:
    """The different elements, or slices along `dim`, in order; if requested, the index of each element among them, and how
    often each occurs. Source: `torch/functional.py`, `_unique_impl`."""
    if dim is None:
        results = functions._unique2(input, sorted, return_inverse, return_counts)
    else:
        results = functions.unique_dim(input, dim, sorted, return_inverse, return_counts)
    return _requested(results, return_inverse, return_counts)


def unique_consecutive(input: Tensor, return_inverse: bool = False, return_counts: bool = False, dim=None) -> Results:
    """The elements, or slices along `dim`, that differ from the one before. The other results are those of `unique`."""
    results = functions.unique_consecutive(input, return_inverse, return_counts, dim)
    return _requested(results, return_inverse, return_counts)


def _requested(outputs: tuple[Tensor, ...], return_inverse: bool, return_counts: bool) -> Results:
    values, inverse, counts = outputs
    results = (values, *([inverse] if return_inverse else []), *([counts] if return_counts else []))
    return results if len(results) > 1 else values


def to(self: Tensor, *args, **kwargs) -> Tensor:
    """`x.to(dtype)`, `x.to(device)`, `x.to(device, dtype)` or `x.to(other)`, each with optional `non_blocking` and `copy`, and
    `memory_format` by keyword."""
    first = args[0] if args else None
    if first.__class__ is dtype and len(args) == 1 and not kwargs:  # a short cut
        return through_table(functions.to_dtype_op, (self, first, False, False, None))
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
        return bool((element == self).any().item())  # type: ignore[union-attr]  # a number leaves it to the tensor
    raise RuntimeError(f"Tensor.__contains__ only supports Tensor or scalar, but you passed in a {type(element)}.")


def cuda(self: Tensor, device: Any = None, non_blocking: bool = False) -> Tensor:
    """Raises the error of PyTorch's build for CPUs."""
    return self.to("cuda" if device is None else device)


def pin_memory(self: Tensor) -> Tensor:
    """A copy in page-locked memory. There is no accelerator here, so this is an error."""
    raise RuntimeError("Cannot access accelerator device when none is available.")


add_attributes(
    **dict.fromkeys(
        ("is_cuda", "is_mps", "is_nested", "is_quantized", "is_sparse", "is_xpu"), property(lambda self: False)
    ),
    __contains__=contains,
    __format__=format_tensor,
    __reversed__=reverse,
    cuda=cuda,
    get_device=lambda self: -1,
    is_complex=is_complex,
    is_cpu=property(lambda self: not self.is_meta),
    is_floating_point=is_floating_point,
    is_pinned=lambda self: False,
    pin_memory=pin_memory,
    ndimension=Tensor.dim,
    nelement=Tensor.numel,
    nonzero=tensor_nonzero,
    norm=tensor_norm,
    to=to,
    unique=unique,
    unique_consecutive=unique_consecutive,
)
