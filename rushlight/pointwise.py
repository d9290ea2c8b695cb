"""Kernels that compute element by element: arithmetic, comparison, elementary functions.

Each is a numpy function and a rule for dtypes; `iterator.py` does the rest. In PyTorch: `aten/src/ATen/native/BinaryOps.cpp`,
`UnaryOps.cpp`, and the loops in `aten/src/ATen/native/cpu/BinaryOpsKernel.cpp`.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from rushlight import dispatch
from rushlight.dtypes import FLOATING, INTEGRAL, Scalar, bool_, dtype, get_default_dtype, result_type, scalar_type
from rushlight.iterator import (
    Operand,
    assert_no_internal_overlap,
    assert_no_partial_overlap,
    common_sizes,
    for_each,
    geometry,
    output_strides,
)
from rushlight.strided import Tensor, empty_strided, fresh, infer_size, strides_for
from rushlight.structured import Output, Structured

# ------------------------------------------------------------------------------------------------------------
# Rules for dtypes: in which one is computed, and which one the result has


def arithmetic(*operands: Operand) -> tuple[dtype, dtype]:
    """The common type of all operands, for both. Source: `build_borrowing_binary_op`."""
    common = result_type(*operands)
    return common, common


def comparison(*operands: Operand) -> tuple[dtype, dtype]:
    """Computed in the common type; the result is bool. Source: `build_comparison_op`."""
    return result_type(*operands), bool_


def to_floating(*operands: Operand) -> tuple[dtype, dtype]:
    """As `arithmetic`, but integers become the default floating type. Source: `build_borrowing_unary_float_op`."""
    common = result_type(*operands)
    common = common if common.category == FLOATING else get_default_dtype()
    return common, common


def pointwise(function: Callable, dtypes: Callable = arithmetic, check: Callable | None = None) -> Structured:
    """The structured kernel of `function(*arrays)`, numpy arrays of one dtype; `check(*operands)` may refuse them first."""

    def meta(*operands: Operand) -> Output:
        if check is not None:
            check(*operands)
        return output_of(dtypes(*operands)[1], *operands)

    def impl(*operands: Operand) -> None:
        *inputs, out = operands
        for_each(function, out, inputs, dtypes(*inputs)[0])

    return Structured(meta, impl, casts=True)


def output_of(dtype: dtype, *operands: Operand) -> Output:
    """The result of a loop over these operands."""
    sizes = common_sizes(*operands)
    return Output(sizes, output_strides(sizes, tuple(map(geometry, operands))), dtype)


# ------------------------------------------------------------------------------------------------------------
# Arithmetic


def with_alpha(function: np.ufunc, check: Callable | None = None) -> Structured:
    """The structured kernel of `function(self, alpha * other)`: add and sub."""

    def meta(self: Operand, other: Operand, alpha: Scalar) -> Output:
        if check is not None:
            check(self, other)
        common = result_type(self, other)
        check_alpha(common, alpha)
        return output_of(common, self, other)

    def impl(self: Operand, other: Operand, alpha: Scalar, out: Tensor) -> None:
        common = result_type(self, other)
        scaled = function if alpha == 1 else lambda a, b: function(a, b * np.asarray(alpha).astype(b.dtype))
        for_each(scaled, out, (self, other), common)

    return Structured(meta, impl, casts=True)


def check_alpha(common: dtype, alpha: Scalar) -> None:
    """Source: `aten/src/ATen/native/BinaryOps.h`, `alpha_check`."""
    if isinstance(alpha, bool) and common is not bool_:
        raise RuntimeError("Boolean alpha only supported for Boolean results.")
    if isinstance(alpha, float) and common.category != FLOATING:
        raise RuntimeError("For integral input tensors, argument alpha must not be a floating point number.")


def refuse_bool(*operands: Operand) -> None:
    if any((operand.dtype if isinstance(operand, Tensor) else scalar_type(operand)) is bool_ for operand in operands):
        raise RuntimeError("Subtraction with a bool tensor is not supported. To compare two masks, use `ne`.")


def with_short_way(kernel: Structured, function: np.ufunc) -> Structured:
    """The same kernel, its functional form with a short way for the commonest operands: two contiguous tensors of one
    shape and dtype, for which nothing has to be brought together."""
    long_way = kernel.functional

    def functional(self: Tensor, other: Operand, *alpha: Scalar) -> Tensor:
        if (
            other.__class__ is Tensor is self.__class__
            and self.dtype is other.dtype is not bool_
            and self._sizes == other._sizes
            and self._sizes  # numpy gives a number, not an array, where there are no dimensions
            and self._has_plain_strides
            and other._has_plain_strides
            and (not alpha or alpha[0] == 1)
            and not dispatch.aside
        ):
            return fresh(function(self._array, other._array), self)
        return long_way(self, other, *alpha)

    kernel.functional = functional
    return kernel


add = with_short_way(with_alpha(np.add), np.add)
sub = with_short_way(with_alpha(np.subtract, refuse_bool), np.subtract)
mul = with_short_way(pointwise(np.multiply), np.multiply)
eq = pointwise(np.equal, comparison)
ne = pointwise(np.not_equal, comparison)


# ------------------------------------------------------------------------------------------------------------
# Assignment


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


def copy_(self: Tensor, src: Tensor | Scalar, non_blocking: bool = False) -> Tensor:
    """`src`, broadcast to the sizes of `self` and cast to its dtype, written into `self`.

    Source: `aten/src/ATen/native/Copy.cpp`, `copy_`.
    """
    if src is self:
        return self
    assert_no_internal_overlap(self)
    if isinstance(src, Tensor):
        assert_no_partial_overlap(self, src)
        if tuple(infer_size(self.shape, src.shape)) != self.shape:
            raise RuntimeError(f"The size of the source {list(src.shape)} does not broadcast to {list(self.shape)}")
    if not self.is_meta:
        for_each(lambda array: array, self, [src], src.dtype if isinstance(src, Tensor) else scalar_type(src))
    return self


def fill_(self: Tensor, value: Tensor | Scalar) -> Tensor:
    """Every element set to `value`, a number or a 0-dim tensor. Overlap is no obstacle: it is one value.

    Source: `aten/src/ATen/native/Fill.cpp`, `fill_`.
    """
    if isinstance(value, Tensor):
        if value.dim() != 0:
            raise RuntimeError(
                f"fill_ only supports 0-dimension value tensor but got one with {value.dim()} dimensions."
            )
        value = value.item()
    scalar_type(value)
    if not self.is_meta:
        self._array[...] = convert(value, self.dtype)
    return self


def zero_(self: Tensor) -> Tensor:
    return fill_(self, 0)


def to_dtype(self: Tensor, dtype: dtype, non_blocking: bool = False, copy: bool = False, memory_format=None) -> Tensor:
    """The tensor in another dtype, in the same order in memory; itself if it has this dtype already.

    Source: `aten/src/ATen/native/TensorConversions.cpp`, `to`.
    """
    if dtype is self.dtype and not copy and (memory_format is None or self.is_contiguous(memory_format)):
        return self
    out = empty_strided(self.shape, strides_for(self, memory_format), dtype, self.device.type)
    return copy_(out, self)


def equal(self: Tensor, other: Tensor) -> bool:
    """Whether two tensors have the same sizes and equal elements. Source: `aten/src/ATen/native/ReduceOps.cpp`,
    `cpu_equal`."""
    return self.shape == other.shape and bool(np.all(self._array == other._array))
