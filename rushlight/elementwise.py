"""Arithmetic and assignment, element by element.

Just enough of it to see what the metadata do: operands are expanded to common sizes and brought to a common
type, the result gets its strides from theirs, and writing in place is refused where one place would be
written twice. In PyTorch all of this is `TensorIterator` (`aten/src/ATen/TensorIterator.cpp`). Left out:
`out=`, `alpha=`, every other operation.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partialmethod

import numpy as np

from rushlight.dtypes import ALL, INTEGRAL, Scalar, bool_, can_cast, dtype, result_type, scalar_type
from rushlight.strided import (
    Tensor,
    channels_last,
    channels_last_strides,
    contiguous_strides,
    dense_strides,
    empty_strided,
    expand,
    has_internal_overlap,
    infer_size,
    non_overlapping_and_dense,
    preserve_format,
    strides_for,
)

__all__ = ["add", "sub", "mul", "eq", "ne", "equal"]


def convert(value: Scalar, dtype: dtype) -> np.ndarray:
    """A number in this dtype; refused if it does not fit. A negative int fits an unsigned type and wraps, as
    in C.

    Source: `c10/util/TypeCast.h`, `checked_convert`; `c10/util/overflows.h`.
    """
    if dtype.category == INTEGRAL:
        limits = np.iinfo(dtype.numpy)
        smallest = -limits.max if isinstance(value, int) and not dtype.is_signed else limits.min
        if not smallest <= value <= limits.max:
            raise RuntimeError(f"value cannot be converted to type {dtype.name} without overflow")
    return np.asarray(value).astype(dtype.numpy)


# ------------------------------------------------------------------------------------------------------------
# May this be written in place?


def assert_no_internal_overlap(self: Tensor) -> None:
    if has_internal_overlap(self.shape, self.stride()):
        raise RuntimeError(
            "unsupported operation: more than one element of the written-to tensor refers to a single memory "
            "location. Please clone() the tensor before performing the operation."
        )


def assert_no_partial_overlap(self: Tensor, other: Tensor) -> None:
    """`other` may be read while `self` is written if it is the very same view, or lies elsewhere. As in
    PyTorch, this is only known, and only checked, for tensors without holes.

    Source: `aten/src/ATen/MemoryOverlap.cpp`, `get_overlap_status`.
    """
    same_storage = self.untyped_storage() is other.untyped_storage()
    if self is other or not same_storage or 0 in (self.numel(), other.numel()):
        return
    if not all(non_overlapping_and_dense(each.shape, each.stride()) for each in (self, other)):
        return
    start, other_start = self.data_ptr(), other.data_ptr()
    apart = start + self.nbytes <= other_start or other_start + other.nbytes <= start
    same = (start, self.nbytes, self.stride()) == (other_start, other.nbytes, other.stride())
    if not apart and not same:
        raise RuntimeError(
            "unsupported operation: some elements of the input tensor and the written-to tensor refer to a "
            "single memory location. Please clone() the tensor before performing the operation."
        )


# ------------------------------------------------------------------------------------------------------------
# Assignment


def copy_(self: Tensor, src: Tensor | Scalar) -> Tensor:
    """`src`, broadcast to the sizes of `self` and cast to its dtype, written into `self`."""
    if src is self:
        return self
    assert_no_internal_overlap(self)
    if isinstance(src, Tensor):
        assert_no_partial_overlap(self, src)
    else:
        src = _cast(src, scalar_type(src))
    with np.errstate(all="ignore"):
        self._array[...] = _expanded(src, self.shape)
    return self


def fill_(self: Tensor, value: Tensor | Scalar) -> Tensor:
    """Every element set to `value`, a number or a 0-dim tensor. Overlap is no obstacle: it is one value."""
    if isinstance(value, Tensor):
        if value.dim() != 0:
            raise RuntimeError(
                f"fill_ only supports 0-dimension value tensor but got one with {value.dim()} dimensions."
            )
        value = value.item()
    scalar_type(value)
    self._array[...] = convert(value, self.dtype)
    return self


def zero_(self: Tensor) -> Tensor:
    return fill_(self, 0)


def to(self: Tensor, dtype: dtype) -> Tensor:
    """The tensor in another dtype, in the same order in memory; itself if it has this dtype already."""
    if dtype is self.dtype:
        return self
    return copy_(empty_strided(self.shape, strides_for(self, preserve_format), dtype), self)


# ------------------------------------------------------------------------------------------------------------
# Arithmetic


def _compute(kernel: Callable, self: Tensor | Scalar, other: Tensor | Scalar, out_dtype: dtype | None = None) -> Tensor:
    """`kernel` applied to two operands, broadcast and promoted, into a new tensor."""
    common = result_type(self, other)
    self, other = _cast(self, common), _cast(other, common)
    sizes = tuple(infer_size(_sizes(self), _sizes(other)))
    out = empty_strided(sizes, _output_strides(sizes, self, other), out_dtype or common)
    with np.errstate(all="ignore"):
        kernel(_expanded(self, sizes), _expanded(other, sizes), out=out._array)
    return out


def _compute_(kernel: Callable, self: Tensor, other: Tensor | Scalar) -> Tensor:
    """`kernel` applied to two operands, the result written over the first, whose sizes and dtype stay."""
    common = result_type(self, other)
    assert_no_internal_overlap(self)
    if isinstance(other, Tensor):
        assert_no_partial_overlap(self, other)
    sizes = tuple(infer_size(self.shape, _sizes(other)))
    if sizes != self.shape:
        raise RuntimeError(f"output with shape {list(self.shape)} doesn't match the broadcast shape {list(sizes)}")
    if not can_cast(common, self.dtype):
        raise RuntimeError(
            f"result type {common.type_name} can't be cast to the desired output type {self.dtype.type_name}"
        )
    with np.errstate(all="ignore"):
        kernel(
            _cast(self, common)._array,
            _expanded(_cast(other, common), sizes),
            out=self._array,
            casting="unsafe",
        )
    return self


def _sizes(operand: Tensor | Scalar) -> tuple[int, ...]:
    return operand.shape if isinstance(operand, Tensor) else ()


def _cast(operand: Tensor | Scalar, dtype: dtype) -> Tensor | np.ndarray:
    return to(operand, dtype) if isinstance(operand, Tensor) else np.asarray(operand).astype(dtype.numpy)


def _expanded(operand: Tensor | np.ndarray, sizes: tuple[int, ...]) -> np.ndarray:
    return expand(operand, sizes)._array if isinstance(operand, Tensor) else operand


def _output_strides(sizes: tuple[int, ...], *operands: Tensor | Scalar) -> tuple[int, ...]:
    """The strides of a result: as all operands have them, if they agree, else dense in the order of theirs.

    Source: `aten/src/ATen/TensorIterator.cpp`, `fast_set_up` and `reorder_dimensions`.
    """
    tensors = [operand for operand in operands if isinstance(operand, Tensor)]
    if len(tensors) == len(operands) and all(tensor.shape == sizes for tensor in tensors):
        if all(tensor.is_contiguous() for tensor in tensors):
            return contiguous_strides(sizes)
        if all(tensor.is_contiguous(channels_last) for tensor in tensors):
            return channels_last_strides(sizes)
        strides = tensors[0].stride()
        agree = all(tensor.stride() == strides for tensor in tensors)
        if agree and non_overlapping_and_dense(sizes, strides):
            return strides
    return dense_strides(sizes, *[_strides_in(tensor, sizes) for tensor in tensors])


def _strides_in(tensor: Tensor, sizes: tuple[int, ...]) -> tuple[int, ...]:
    """The strides of a broadcast tensor. Its new dimensions tell no order: stride 0, even if of size 1."""
    new_dims = len(sizes) - tensor.dim()
    return (0,) * new_dims + expand(tensor, sizes).stride()[new_dims:]


def add(self: Tensor | Scalar, other: Tensor | Scalar) -> Tensor:
    return _compute(np.add, self, other)


def sub(self: Tensor | Scalar, other: Tensor | Scalar) -> Tensor:
    _refuse_bool(self, other)
    return _compute(np.subtract, self, other)


def mul(self: Tensor | Scalar, other: Tensor | Scalar) -> Tensor:
    return _compute(np.multiply, self, other)


def eq(self: Tensor, other: Tensor | Scalar) -> Tensor:
    return _compute(np.equal, self, other, bool_)


def ne(self: Tensor, other: Tensor | Scalar) -> Tensor:
    return _compute(np.not_equal, self, other, bool_)


def add_(self: Tensor, other: Tensor | Scalar) -> Tensor:
    return _compute_(np.add, self, other)


def sub_(self: Tensor, other: Tensor | Scalar) -> Tensor:
    _refuse_bool(self, other)
    return _compute_(np.subtract, self, other)


def mul_(self: Tensor, other: Tensor | Scalar) -> Tensor:
    return _compute_(np.multiply, self, other)


def _refuse_bool(*operands: Tensor | Scalar) -> None:
    if any((operand.dtype if isinstance(operand, Tensor) else scalar_type(operand)) is bool_ for operand in operands):
        raise RuntimeError("Subtraction with a bool tensor is not supported. To compare two masks, use `ne`.")


def equal(self: Tensor, other: Tensor) -> bool:
    """Whether two tensors have the same sizes and equal elements."""
    return self.shape == other.shape and bool(np.all(self._array == other._array))


# ------------------------------------------------------------------------------------------------------------
# Operators


def _operator(function: Callable) -> Callable:
    """`function` as an operator, which leaves operands that are no tensor or number to somebody else."""

    def operator(self, other):
        return function(self, other) if isinstance(other, (Tensor, bool, int, float, np.generic)) else NotImplemented

    return operator


def _reflected(function: Callable) -> Callable:
    return lambda self, other: function(other, self)


for _name, _function, _inplace in ("add", add, add_), ("sub", sub, sub_), ("mul", mul, mul_):
    setattr(Tensor, f"__{_name}__", _operator(_function))
    setattr(Tensor, f"__r{_name}__", _operator(_reflected(_function)))
    setattr(Tensor, f"__i{_name}__", _operator(_inplace))
Tensor.__eq__, Tensor.__ne__, Tensor.__hash__ = _operator(eq), _operator(ne), object.__hash__

for _dtype in ALL:  # x.long() and its like
    setattr(Tensor, _dtype.type_name.lower(), partialmethod(to, _dtype))

for _method in copy_, fill_, zero_, to, add, sub, mul, eq, ne, add_, sub_, mul_, equal:
    setattr(Tensor, _method.__name__, _method)
