"""Kernels that combine many elements: sums, extremes, softmax.

A reduction removes some dimensions, or keeps them with size 1 (`keepdim`). numpy runs the loop. This module decides the sizes
and the dtype of the result, the dtype of the accumulation, and the result of empty reductions. In PyTorch:
`aten/src/ATen/native/ReduceOps.cpp`, `TensorCompare.cpp`, `SoftMax.cpp`. Left out: sums with compensation for rounding.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextvars import Context
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import product
from typing import Any

import numpy as np

from rushlight.aten.generated import functions
from rushlight.aten.native.creation import from_numpy
from rushlight.aten.native.pointwise import SIMPLE_DTYPES, fits_fast_path, to_floating
from rushlight.aten.strided import Tensor, wrap_contiguous, wrap_dim
from rushlight.aten.structured import Output, Structured, allocate, check_out, planned_by_value, resize_output
from rushlight.c10.dispatch import local
from rushlight.c10.dtypes import (
    FLOATING,
    INTEGRAL,
    REDUCED_FLOATING,
    Scalar,
    bfloat16,
    bool_,
    dtype,
    float32,
    float64,
    int64,
    intp,
    uint8,
)
from rushlight.c10.exception import warn
from rushlight.c10.fast_paths import fast_form_of

Dims = Sequence[int] | None  # None, and mostly (), for all dimensions

# Sizes and dtypes ----------------------------------------------------------------------------------------------------


def reduced_sizes(sizes: Sequence[int], dims: Sequence[int] | None, keepdim: bool) -> tuple[int, ...]:
    """The sizes of the result when `dims` are reduced.

    Args:
        sizes: of the tensor, a tuple or a list.
        dims: the dimensions to reduce, in any order, a tuple or a list; negative ones count from the end (`wrap_dim`). None
            or an empty one for all of them. A tensor without dimensions accepts 0 and -1, and its result has no dimensions either.
        keepdim: whether a reduced dimension stays, with size 1, or is removed. The others keep their sizes and order.

    Returns:
        a tuple or a list.

    Raises:
        IndexError: a dimension is out of range (checked first, for all dimensions).
        RuntimeError: a dimension appears twice, also if once as a negative number.

    >>> reduced_sizes((8, 5, 600), (0, -1), True)
    (1, 5, 1)

    Source: `aten/src/ATen/native/ReduceOpsUtils.h`, `make_dim_mask` and `shape_from_dim_mask`.
    """
    reduced, left = [wrap_dim(dim, len(sizes)) for dim in dims or ()], []
    for dim in reduced:
        if reduced.count(dim) > 1:
            raise RuntimeError(f"dim {dim} appears multiple times in the list of dims")
    for dim, size in enumerate(sizes):
        if dims and dim not in reduced:
            left.append(size)
        elif keepdim:
            left.append(1)
    return tuple(left)


def axes(self: Tensor, dims: Dims) -> tuple[int, ...] | None:
    """Convert dimensions that `reduced_sizes` has accepted to numpy's axes."""
    if not dims:
        return None
    return tuple(wrap_dim(dim, self.dim()) for dim in dims) if self.dim() else ()


def sum_dtype(self: Tensor) -> dtype:
    """The dtype of a sum or a product: int64 for integers and bools."""
    return self.dtype if self.dtype.category == FLOATING else int64


def floating_dtype(self: Tensor) -> dtype:
    """The tensor's own dtype if it is a floating-point dtype, and otherwise the default dtype."""
    return to_floating(self)[1]


def accumulate_dtype(dtype: dtype) -> np.dtype:
    """The dtype in which numpy accumulates. Half precision is accumulated in single and rounded once, at the end.
    Source: `aten/src/ATen/AccumulateType.h`, `aten/src/ATen/OpMathType.h`."""
    return np.dtype(np.float32) if dtype in REDUCED_FLOATING else dtype.numpy


def reduce_into(function: np.ufunc, self: Tensor, dims: Dims, keepdim: bool, out: Tensor, divisor=None) -> None:
    """Reduce `dims` with `function` into `out`, and divide by `divisor`. Elements are first cast to the dtype of `out`."""
    array = self._array.astype(out.dtype.numpy, copy=False)
    if out.dtype in REDUCED_FLOATING and function is np.add:  # PyTorch rounds each step of a product
        reduced = array.sum(axes(self, dims), np.float32, keepdims=keepdim)
        out._array[...] = reduced if divisor is None else np.true_divide(reduced, divisor)
        return
    function.reduce(array, axes(self, dims), out.dtype.numpy, out._array, keepdims=keepdim)
    if divisor is not None:
        np.true_divide(out._array, divisor, out._array)


@dataclass
class ToDtype(Structured):
    """A structured kernel whose last argument is `dtype`. Its default is the dtype of the tensor that is written to.
    Source: `aten/src/ATen/native/ReduceOps.cpp`, `infer_dtype_from_optional`."""

    def out(self, *args):
        *args, dtype, out = args
        return super().out(*args, dtype or out.dtype, out)

    def inplace(self, *args):
        *args, dtype = args
        return super().inplace(*args, dtype or args[0].dtype)


# Sum, product, mean, variance ----------------------------------------------------------------------------------------


add_reduce: Callable[..., np.ndarray] = np.add.reduce  # numpy's types know `keepdims` only as a literal


def meta_sum(self: Tensor, dims: Dims, keepdim: bool, dtype: dtype | None) -> Output:
    """The geometry of `sum` and `prod`: integers and bool give int64, unless `dtype` says otherwise."""
    return Output(reduced_sizes(self.shape, dims, keepdim), None, dtype or sum_dtype(self))


def set_up_sum(self: Tensor, dims: Dims, keepdim: bool, dtype: dtype | None) -> Callable[[np.ndarray], np.ndarray]:
    """The function that sums an array like that of `self`. A BLAS sums short rows, and the columns of a matrix."""
    array, last = self._array, self.dim() - 1
    if dtype is None and self.dtype in SIMPLE_DTYPES and dims and len(dims) == 1 and self.dim():
        dim, sizes = wrap_dim(dims[0], self.dim()), reduced_sizes(self.shape, dims, keepdim)
        if dim == last and fits_row_sums(array):
            return lambda array: line_sums(array, last).reshape(sizes)
        if dim == 0 and self.dim() == 2 and not keepdim and self._has_plain_strides and len(array) <= 1024:
            ones = _ones(len(array), array.dtype)
            return lambda array: np.dot(ones, array)
    wanted, over = dtype or sum_dtype(self), axes(self, dims)
    accumulated = accumulate_dtype(wanted)
    if accumulated == array.dtype:
        return lambda array: add_reduce(array, over, keepdims=keepdim)
    return lambda array: add_reduce(array.astype(wanted.numpy, copy=False), over, accumulated, keepdims=keepdim)


@partial(planned_by_value, set_up=set_up_sum)
@partial(ToDtype, meta_sum)
def sum_dim(self: Tensor, dims: Dims, keepdim: bool, dtype: dtype | None, out: Tensor) -> None:
    reduce_into(np.add, self, dims, keepdim, out)


def nansum(self: Tensor, dim: Dims, keepdim: bool, dtype: dtype | None, out: Tensor | None = None) -> Tensor:
    """The sum of the elements that are not NaN. Source: `aten/src/ATen/native/ReduceOps.cpp`, `nansum_out`."""
    if self.dtype.category == FLOATING:
        if out is not None and dtype is None and out.dtype.category != FLOATING:
            raise NotImplementedError(f"\"nansum_cpu\" not implemented for '{out.dtype.type_name}'")
        self = functions.where(self.isnan(), 0, self)
    return functions.sum(self, dim, keepdim, dtype=dtype, **({} if out is None else {"out": out}))


prod_dim = ToDtype(
    lambda self, dim, *options: meta_sum(self, None if dim is None else (dim,), *options),
    lambda self, dim, keepdim, dtype, out: reduce_into(np.multiply, self, dim if dim is None else (dim,), keepdim, out),
)


def meta_mean(self: Tensor, dims: Dims, keepdim: bool, dtype: dtype | None) -> Output:
    """The geometry of `mean`. A dtype that is not a floating-point dtype raises a `RuntimeError`."""
    result_dtype = dtype or self.dtype
    if result_dtype.category != FLOATING:
        which = "Input" if dtype is None else "Optional"
        rule = f"{which} dtype must be either a floating point or complex dtype. Got: {result_dtype.type_name}"
        raise RuntimeError(f"mean(): could not infer output dtype. {rule}")
    return Output(reduced_sizes(self.shape, dims, keepdim), None, result_dtype)


def count(self: Tensor, dims: Dims) -> int:
    """How many elements are reduced to one."""
    return math.prod(self.size(dim) for dim in dims) if dims and self.dim() else self.numel()


def set_up_mean(self: Tensor, dims: Dims, keepdim: bool, dtype: dtype | None) -> Callable[[np.ndarray], np.ndarray]:
    """The loop of `mean`: the sum over `dims`, divided by the number of elements that were added."""
    total, divisor = set_up_sum(self, dims, keepdim, dtype), count(self, dims)
    return lambda array: np.true_divide(total(array), divisor)


@partial(planned_by_value, set_up=set_up_mean)
@partial(ToDtype, meta_mean)
def mean_dim(self: Tensor, dims: Dims, keepdim: bool, dtype: dtype | None, out: Tensor) -> None:
    reduce_into(np.add, self, dims, keepdim, out, divisor=count(self, dims))


def meta_var(self: Tensor, dims: Dims, correction: Scalar | None, keepdim: bool) -> Output:
    """The geometry of `var` and `std`. A dtype that is not a floating-point dtype raises a `RuntimeError`."""
    if self.dtype.category != FLOATING:
        raise RuntimeError("std and var only support floating point and complex dtypes")
    return Output(reduced_sizes(self.shape, dims, keepdim), None, self.dtype)


def variance(self: Tensor, dims: Dims, correction: Scalar | None, keepdim: bool, name: str = "var") -> np.ndarray:
    """The sum of the squared distances from the mean, in double precision, divided by the number of elements minus `correction`
    (by default 1)."""
    array = self._array.astype(np.float64, copy=False)
    freedom = count(self, dims) - (1 if correction is None else correction)
    if freedom <= 0:
        problem = "degrees of freedom is <= 0. Correction should be strictly less than the reduction factor"
        warn(f"{name}(): {problem} (input numel divided by output numel).")
    with np.errstate(divide="ignore", invalid="ignore"):
        distances = array - np.true_divide(array.sum(axes(self, dims), keepdims=True), count(self, dims))
        squares = (distances * distances).sum(axes(self, dims), keepdims=keepdim)
        return np.true_divide(squares, max(freedom, 0))


@partial(Structured, meta_var, casts=True)
def var_correction(self: Tensor, dims: Dims, correction: Scalar | None, keepdim: bool, out: Tensor) -> None:
    out._array[...] = variance(self, dims, correction, keepdim)


@partial(Structured, meta_var, casts=True)
def std_correction(self: Tensor, dims: Dims, correction: Scalar | None, keepdim: bool, out: Tensor) -> None:
    out._array[...] = np.sqrt(variance(self, dims, correction, keepdim, "std"))


def spread_and_mean(function: Callable, self: Tensor, dim: Dims, correction, keepdim: bool) -> tuple[Tensor, Tensor]:
    """`function` of the variance, and the mean. Source: `aten/src/ATen/native/ReduceOps.cpp`, `std_var_mean_out`."""
    spread, mean = (allocate(meta_var(self, dim, correction, keepdim), self.device.type) for _ in range(2))
    if not self.is_meta:
        name = "std_mean" if function is np.sqrt else "var_mean"
        spread._array[...] = function(variance(self, dim, correction, keepdim, name))
        array = self._array.astype(np.float64, copy=False)
        with np.errstate(invalid="ignore"):
            mean._array[...] = array.sum(axes(self, dim), keepdims=keepdim) / np.float64(count(self, dim))
    return spread, mean


# Extremes, which need at least one element ---------------------------------------------------------------------------


def assert_not_empty(name: str, self: Tensor, dims: Dims, error: type[Exception]) -> None:
    """Raise an error for a reduction without an identity, such as `max`, over no elements: an IndexError for a dimension of size 0,
    and `error` if there are no `dims` and no elements. Source: `aten/src/ATen/native/ReduceOpsUtils.h`, `zero_numel_check_dims`."""
    if self.numel():
        return
    if not dims:
        hint = "" if name.startswith("arg") else " Specify the reduction dim with the 'dim' argument."
        raise error(f"{name}(): Expected reduction dim to be specified for input.numel() == 0.{hint}")
    for dim in dims:
        if self.dim() and self.size(dim) == 0:
            raise IndexError(f"{name}(): Expected reduction dim {dim} to have non-zero size.")


def extreme(name: str, function: np.ufunc, casts: bool = False) -> Structured:
    """The structured kernel of amax or amin, and of `max(self)` or `min(self)`, which also cast. NaN wins over any number."""

    def meta(self: Tensor, dims: Dims = None, keepdim: bool = False) -> Output:
        assert_not_empty(name, self, dims, RuntimeError)
        return Output(reduced_sizes(self.shape, dims, keepdim), None, self.dtype)

    def impl(self: Tensor, *args) -> None:
        *given, out = args
        dims, keepdim = given or (None, False)
        out._array[...] = function.reduce(self._array, axes(self, dims), keepdims=keepdim)

    return Structured(meta, impl, casts)


def index_of_extreme(name: str, function: Callable) -> Structured:
    """The structured kernel of argmax or argmin: the index of the first extreme. Without `dim`, the index is in row-major order."""

    def meta(self: Tensor, dim: int | None, keepdim: bool) -> Output:
        dims = None if dim is None else (dim,)
        if self.dtype is bool_:
            raise RuntimeError(f"{name}(): does not support bool input")
        assert_not_empty(name, self, dims, IndexError)
        return Output(reduced_sizes(self.shape, dims, keepdim), None, int64)

    def impl(self: Tensor, dim: int | None, keepdim: bool, out: Tensor) -> None:
        out._array[...] = set_up(self, dim, keepdim)(self._array)

    def set_up(self: Tensor, dim: int | None, keepdim: bool) -> Callable[[np.ndarray], np.ndarray]:
        axis = wrap_dim(dim, self.dim()) if dim is not None and self.dim() else None
        return lambda array: function(array, axis, keepdims=keepdim)

    return planned_by_value(Structured(meta, impl), set_up)


def at_indices(array: np.ndarray, indices: np.ndarray, dim: int) -> np.ndarray:
    """`np.take_along_axis` with a fast path for rows."""
    if dim not in (-1, array.ndim - 1) or not array.size:
        return np.take_along_axis(array, indices, dim)
    starts = np.arange(0, array.size, array.shape[dim]).reshape(*array.shape[:-1], 1)
    return array.reshape(-1).take(indices + starts)


amax, amin = extreme("amax", np.maximum), extreme("amin", np.minimum)
max_all, min_all = extreme("max", np.maximum, casts=True), extreme("min", np.minimum, casts=True)
argmax, argmin = index_of_extreme("argmax", np.argmax), index_of_extreme("argmin", np.argmin)


def values_and_indices(meta: Callable[..., Output], dim: int) -> Callable[[Callable], tuple[Callable, Callable]]:
    """Decorator: the functional and the out= kernel of an operator that returns chosen elements and their indices along a
    dimension.

    The function gets the array, with at least one dimension, the dimension, and the other arguments. It returns indices, with
    the dimension kept. `meta` returns the metadata of the values; `dim` is the position of that argument in the schema.
    """

    def kernels(choose: Callable[..., np.ndarray]) -> tuple[Callable, Callable]:
        def fill(args: Sequence, values: Tensor, indices: Tensor) -> tuple[Tensor, Tensor]:
            self = args[0]
            if not (self.is_meta or values.is_meta):
                array, axis = np.atleast_1d(self._array), wrap_dim(args[dim], self.dim())
                chosen = choose(comparable(array), axis, *args[1:dim], *args[dim + 1 :])
                indices._array[...] = chosen.reshape(indices.shape)
                values._array[...] = at_indices(array, chosen, axis).reshape(values.shape)
            return values, indices

        def kernel(*args) -> tuple[Tensor, Tensor]:
            output, device = meta(*args), args[0]._storage.device_type
            return fill(args, allocate(output, device), allocate(Output(*output[:2], int64), device))

        def kernel_out(*args) -> tuple[Tensor, Tensor]:
            *args, values, indices = args
            output = meta(*args)
            for out, wanted in ((values, output.dtype), (indices, int64)):
                check_out(out, wanted, args[:1])
            for out in (values, indices):
                resize_output(out, output.sizes, output.strides)
            return fill(args, values, indices)

        return kernel, kernel_out

    return kernels


def comparable(array: np.ndarray) -> np.ndarray:
    """The array, or float32 in place of bfloat16: numpy sorts NaN last only in its own types."""
    return array.astype(np.float32) if array.dtype.kind == "V" else array


def one_of_each_line(name: str) -> Callable[..., Output]:
    """The `meta` of an operator that chooses one element of each line along a dimension."""

    def meta(self: Tensor, dim: int, keepdim: bool) -> Output:
        sizes = reduced_sizes(self.shape, (dim,), keepdim)
        assert_not_empty(name, self, (dim,), IndexError)
        return Output(sizes, None, self.dtype)

    return meta


def extreme_and_index(name: str, function: Callable) -> tuple[Callable, Callable]:
    """The kernels for the extremes along one dimension and their indices. Source: `aten/src/ATen/native/TensorCompare.cpp`."""

    @values_and_indices(one_of_each_line(name), dim=1)
    def kernels(array: np.ndarray, dim: int, keepdim: bool) -> np.ndarray:
        return function(array, dim, keepdims=True)

    @fast_form_of(kernels[0])
    def of_contiguous(self: Tensor, dim: int, keepdim: bool) -> tuple[Tensor, Tensor]:
        if intp is not int64 or self.is_meta or not fits_fast_path(self):
            return kernels[0](self, dim, keepdim)
        if not self._array.size or not -self.dim() <= dim < self.dim():
            return kernels[0](self, dim, keepdim)
        indices = function(self._array, dim, keepdims=True)
        both = at_indices(self._array, indices, dim), indices
        values, indices = both if keepdim else (array.squeeze(dim) for array in both)
        return wrap_contiguous(values, self.dtype), wrap_contiguous(indices, int64)

    return kernels


max_dim, max_dim_out = extreme_and_index("max", np.argmax)
min_dim, min_dim_out = extreme_and_index("min", np.argmin)


# All and any ---------------------------------------------------------------------------------------------------------


def logical(function: np.ufunc) -> Structured:
    """The structured kernel of all overloads of `all` or `any`: over one dimension, over some, over all. Unlike in other
    reductions, () means no dimension. The result is bool, or uint8 for uint8.
    Source: `aten/src/ATen/native/ReduceOps.cpp`, `allany_meta`."""

    def meta(self: Tensor, dims: int | Dims = None, keepdim: bool = False) -> Output:
        dims = (dims,) if isinstance(dims, int) else dims
        sizes = self.shape if dims in ((), []) else reduced_sizes(self.shape, dims, keepdim)
        return Output(sizes, None, uint8 if self.dtype is uint8 else bool_)

    def impl(self: Tensor, *args) -> None:
        *given, out = args
        dims, keepdim = given or (None, False)
        axis = () if dims in ((), []) else axes(self, (dims,) if isinstance(dims, int) else dims)
        out._array[...] = function.reduce(self._array.astype(np.bool_, copy=False), axis, keepdims=keepdim)

    return Structured(meta, impl)


all_, any_ = logical(np.logical_and), logical(np.logical_or)


# Softmax and related functions ---------------------------------------------------------------------------------------


def softmax(array: np.ndarray, dim: int) -> np.ndarray:
    """exp(x) / sum of exp(x) along one dimension, for elements of any size.

    exp overflows above 88 in single precision, so the largest element along `dim` is subtracted first. This changes the
    numerator and the denominator by the same factor. An element of minus infinity gives 0. A line along `dim` that has
    infinity or NaN in it, or only minus infinity, is NaN throughout.

    Args:
        array: float16, float32 or float64, with at least one dimension and one element, any strides; it is not changed.
            float16 is computed in float32 and rounded at the end.
        dim: counted from the front.

    Returns:
        a new array of the same shape and dtype, with any strides.

    >>> softmax(np.float64([0, 1000, 1000]), 0).tolist()
    [0.0, 0.5, 0.5]

    Source: `aten/src/ATen/native/cpu/SoftMaxKernel.cpp`, `vec_softmax`; `aten/src/ATen/native/SoftMax.cpp`, `host_softmax`.
    """
    x = array.astype(np.float32) if array.dtype == np.float16 else array
    weights = np.exp(x - x.max(axis=dim, keepdims=True))
    weights /= weights.sum(axis=dim, keepdims=True)
    return weights.astype(array.dtype)


def logsumexp(array: np.ndarray, dims: Sequence[int], keepdim: bool) -> np.ndarray:
    """log(sum of exp(x)) over some dimensions, for elements of any size.

    The largest element m is subtracted: m + log(sum of exp(x - m)). If m is infinite, 0 is subtracted instead of m. So
    elements that are all minus infinity give minus infinity, and infinity among numbers gives infinity. NaN gives NaN. An
    empty sum is 0, and its logarithm is minus infinity.

    Args:
        array: float32 or float64, any sizes (also 0) and strides; it is not changed.
        dims: a tuple, each dimension once, counted from the front; `()` for an array without dimensions.
        keepdim: whether the reduced dimensions stay, with size 1.

    Returns:
        an array of the same dtype, or, if no dimensions are left, possibly a numpy number.

    >>> round(float(logsumexp(np.float64([1000, 1000]), (0,), False)), 3)
    1000.693

    Source: `aten/src/ATen/native/ReduceOps.cpp`, `logsumexp_out_impl`.
    """
    largest = array.max(axis=dims, keepdims=True, initial=-np.inf)
    largest = np.where(np.isinf(largest), 0, largest)
    total = np.log(np.exp(array - largest).sum(axis=dims, keepdims=True)) + largest
    return total if keepdim else total.squeeze(axis=dims)


def log_softmax(array: np.ndarray, dim: int) -> np.ndarray:
    """The logarithm of `softmax`, exact also where `softmax` rounds to 0. Arguments and result are those of `softmax`.

    Half precision is computed in single. But along the last dimension PyTorch keeps the sum of each row, and its logarithm, in
    half.
    """
    half = array.itemsize == 2
    x = array.astype(np.float32) if half else array
    shifted = x - line_maxima(x, dim)
    total = line_sums(np.exp(shifted), dim)
    if half and dim in (-1, array.ndim - 1):
        shifted -= np.log(total.astype(array.dtype).astype(np.float32)).astype(array.dtype)
    else:
        shifted -= np.log(total, total)
    return shifted.astype(array.dtype, copy=False)


def fast_softmax(array: np.ndarray, dim: int) -> np.ndarray:
    """`softmax` of a contiguous array of float32 or float64, along its last dimension faster."""
    weights = array - line_maxima(array, dim)
    np.exp(weights, weights)
    weights /= line_sums(weights, dim)
    return weights


def line_maxima(array: np.ndarray, dim: int) -> np.ndarray:
    """The largest elements along a dimension, which stays with size 1. numpy takes long for many short rows, so they become
    columns."""
    width = array.shape[-1]
    if dim in (-1, array.ndim - 1) and width <= 64 and width * width <= array.size and fits_row_sums(array):
        is_matrix = array.ndim == 2
        maxima = np.maximum.reduce((array if is_matrix else array.reshape(-1, width)).T.copy(), 0)
        return maxima[:, None] if is_matrix else maxima.reshape(*array.shape[:-1], 1)
    return np.maximum.reduce(array, dim, keepdims=True)


def line_sums(array: np.ndarray, dim: int) -> np.ndarray:
    """The sums along a dimension, which stays with size 1. A BLAS sums short rows by a product with ones."""
    if array.ndim == 2 and dim == 1 and fits_row_sums(array):
        return array.dot(_ones(array.shape[1], array.dtype))[:, None]
    if dim in (-1, array.ndim - 1) and fits_row_sums(array):
        rows = array.reshape(-1, array.shape[-1])
        return np.dot(rows, _ones(array.shape[-1], array.dtype)).reshape(*array.shape[:-1], 1)
    return np.add.reduce(array, dim, keepdims=True)


def channel_sums(array: np.ndarray) -> np.ndarray:
    """The sum over all images and all places of each channel of (images, channels, places)."""
    of_images = array[:, :, 0] if array.shape[2] == 1 else line_sums(array, 2)[:, :, 0]
    return np.add.reduce(of_images, 0)


def fits_row_sums(array: np.ndarray) -> bool:
    """Whether the rows are in memory one after the other, and so short that the order of a BLAS's additions does not matter."""
    return array.ndim > 1 and 0 < array.shape[-1] <= 1024 and array.flags.c_contiguous and array.itemsize >= 4


@lru_cache(64)
def _ones(count: int, dtype: np.dtype) -> np.ndarray:
    return np.ones(count, dtype)


def softmax_kernel(name: str, kernel: Callable[..., np.ndarray], fast: Callable | None = None) -> Structured:
    """The structured kernel of `_softmax` or `_log_softmax`. `fast` replaces `kernel` on the fast path.

    If the largest element of a row is infinite, numpy warns of infinity minus infinity. PyTorch gives NaN without a word.
    """

    def meta(self: Tensor, dim: int, half_to_float: bool) -> Output:
        wrap_dim(dim, self.dim())
        if half_to_float and not self.is_meta:
            raise RuntimeError(f"{name} with half to float conversion is not supported on CPU")
        return Output(self.shape, None, float32 if half_to_float else self.dtype)

    def impl(self: Tensor, dim: int, half_to_float: bool, out: Tensor) -> None:
        if self.numel() == 0:
            return
        if self.dtype.category != FLOATING:
            raise NotImplementedError(f'"{name}" not implemented for {self.dtype.type_name!r}; give it a dtype=')
        array = np.atleast_1d(self._array)
        if self.dtype is bfloat16 and kernel is softmax:
            array = array.astype(np.float32)
        with np.errstate(invalid="ignore"):
            out._array[...] = kernel(array, wrap_dim(dim, self.dim())).reshape(self.shape)

    def set_up(self: Tensor, dim: int, half_to_float: bool) -> Callable[[np.ndarray], np.ndarray] | None:
        if not (self.dim() and fits_fast_path(self)):
            return None
        function, axis = fast or kernel, dim % self.dim()
        return lambda array: without_warning(function, array, axis)

    return planned_by_value(Structured(meta, impl), set_up)


_quiet = Context()
_quiet.run(np.seterr, invalid="ignore")  # to run a function in a copy of a context takes a tenth of `np.errstate`


def without_warning(function: Callable, array: np.ndarray, dim: int) -> np.ndarray:
    """Call `function(array, dim)` without numpy's warnings about overflow and invalid values."""
    return _quiet.copy().run(function, array, dim)


softmax_along = softmax_kernel("softmax", softmax, fast_softmax)
log_softmax_along = softmax_kernel("log_softmax", log_softmax)


def softmax_backward_kernel(name: str, kernel: Callable[[np.ndarray, np.ndarray, int], np.ndarray]) -> Structured:
    """The structured kernel of `_softmax_backward_data` or `_log_softmax_backward_data`. They take the gradient of the result and
    the result."""

    def meta(grad_output: Tensor, output: Tensor, dim: int, input_dtype: dtype) -> Output:
        wrap_dim(dim, grad_output.dim())
        if grad_output.shape != output.shape:
            raise RuntimeError(f"{name}: sizes {list(grad_output.shape)} and {list(output.shape)} are not the same")
        return Output(grad_output.shape, None, input_dtype)

    def impl(grad_output: Tensor, output: Tensor, dim: int, input_dtype: dtype, out: Tensor) -> None:
        if output.numel():
            arrays = (x._array.astype(accumulate_dtype(x.dtype), copy=False) for x in (grad_output, output))
            grad, result = map(np.atleast_1d, arrays)
            slope = kernel(grad, result, wrap_dim(dim, output.dim()))
            out._array[...] = slope.reshape(output.shape)

    def set_up(grad_output: Tensor, output: Tensor, dim: int, input_dtype: dtype) -> Callable | None:
        is_alike = output.dtype is grad_output.dtype is input_dtype and output.dim()
        if is_alike and fits_fast_path(output) and grad_output._has_plain_strides:
            return lambda grad, array: kernel(grad, array, dim)
        return None

    return planned_by_value(Structured(meta, impl), set_up, tensors=2)


def softmax_slope(grad: np.ndarray, y: np.ndarray, dim: int) -> np.ndarray:
    """The loop of `_softmax_backward_data`, from the result `y`: `y * (grad - (grad * y).sum(dim))`.
    Source: `aten/src/ATen/native/cpu/SoftMaxKernel.cpp`, `vec_softmax_backward_kernel`."""
    slope = grad * y
    np.subtract(grad, line_sums(slope, dim), slope)
    slope *= y
    return slope


def log_softmax_slope(grad: np.ndarray, y: np.ndarray, dim: int) -> np.ndarray:
    """The loop of `_log_softmax_backward_data`, from the result `y`: `grad - exp(y) * grad.sum(dim)`."""
    slope = np.exp(y)
    slope *= line_sums(grad, dim)
    return np.subtract(grad, slope, slope)


softmax_backward = softmax_backward_kernel("softmax_backward", softmax_slope)
log_softmax_backward = softmax_backward_kernel("log_softmax_backward", log_softmax_slope)


def value_selecting_reduction_backward(grad: Tensor, dim: int, indices: Tensor, sizes, keepdim: bool) -> Tensor:
    """The gradient at the index of an extreme, 0 elsewhere. Source: `aten/src/ATen/native/ReduceOps.cpp`."""
    if not keepdim and len(sizes):
        grad, indices = grad.unsqueeze(dim), indices.unsqueeze(dim)
    zeros = grad.new_zeros(sizes)
    write = zeros.scatter if local.modes else zeros.scatter_  # a captured graph must not write in place
    return write(dim, indices, grad)


def to_dtype(self: Tensor, dtype: dtype | None) -> Tensor:
    """The tensor converted to a dtype. None leaves it as it is."""
    return self if dtype in (None, self.dtype) else self.to(dtype)


def meta_logsumexp(self: Tensor, dims: Sequence[int], keepdim: bool) -> Output:
    """The geometry of `logsumexp`. Integers give the default dtype."""
    return Output(reduced_sizes(self.shape, dims, keepdim), None, floating_dtype(self))


@partial(Structured, meta_logsumexp, casts=True)
def logsumexp_dim(self: Tensor, dims: Sequence[int], keepdim: bool, out: Tensor) -> None:
    result_dtype = floating_dtype(self)
    array = self._array.astype(np.float32 if result_dtype is bfloat16 else result_dtype.numpy, copy=False)
    out._array[...] = logsumexp(array, axes(self, dims) or tuple(range(self.dim())), keepdim)


def meta_cumsum(self: Tensor, dim: int, dtype: dtype | None) -> Output:
    """The geometry of `cumsum` and `cumprod`: the sizes of `self`. Integers and bool give int64, unless `dtype` says
    otherwise."""
    wrap_dim(dim, self.dim())
    return Output(self.shape, None, dtype or sum_dtype(self))


def cumulative(function: np.ufunc) -> ToDtype:
    """The kernel that accumulates along a dimension. Source: `aten/src/ATen/native/ReduceOps.cpp`, `cumsum`."""

    def accumulate(self: Tensor, dim: int, dtype: dtype | None, out: Tensor) -> None:
        if out.dtype is bool_ and self.dim() and out.numel():
            raise NotImplementedError("\"cumsum\" not implemented for 'Bool'")
        array = np.atleast_1d(self._array).astype(out.dtype.numpy, copy=False)
        wide = np.dtype(np.float64) if out.dtype is float32 else accumulate_dtype(out.dtype)  # `acc_type` of a CPU
        results = function.accumulate(array, wrap_dim(dim, self.dim()), wide)
        out._array[...] = results.reshape(self.shape)

    return ToDtype(meta_cumsum, accumulate)


cumsum, cumprod = cumulative(np.add), cumulative(np.multiply)


def accumulated(self: Tensor, dim: int, function: np.ufunc) -> Tensor:
    """The results of a ufunc accumulated along a dimension, as a contiguous tensor. A tensor without dimensions counts
    as one of size 1."""
    array = function.accumulate(np.atleast_1d(self._array), wrap_dim(dim, self.dim()))
    return wrap_contiguous(np.array(array.reshape(self.shape), self.dtype.numpy, order="C"), self.dtype)


def logcumsumexp(self: Tensor, dim: int) -> Tensor:
    if not self.dtype.is_floating_point:
        raise NotImplementedError(f"\"logcumsumexp_out_cpu\" not implemented for '{self.dtype.type_name}'")
    return accumulated(self, dim, np.logaddexp)


def running(self: Tensor, dim: int, function: np.ufunc) -> tuple[Tensor, Tensor]:
    """The largest or the smallest element so far, and the last index of it. Source: `ReduceOps.cpp`, `cummax_helper_cpu`."""
    if not self.dim() and dim not in (-1, 0):
        name = "cummax" if function is np.maximum else "cummin"
        raise IndexError(f"{name}(): Expected reduction dim -1 or 0 for scalar but got {dim}")
    values = accumulated(self, dim, function)
    sizes = [-1] + [1] * max(self.dim() - 1 - wrap_dim(dim, self.dim()), 0)
    positions = functions.arange(self.size(dim) if self.dim() else 1).view(sizes)
    chosen = functions.where((self == values) | (self != self), positions, 0).view(self.shape)
    return values, accumulated(chosen, dim, np.maximum)


# Counts and statistics -----------------------------------------------------------------------------------------------


def bincount(self: Tensor, weights: Tensor | None, minlength: int) -> Tensor:
    """How often each number from 0 occurs. Source: `aten/src/ATen/native/SummaryOps.cpp`."""
    if self.dtype.category != INTEGRAL:
        raise NotImplementedError(f"\"bincount_cpu\" not implemented for '{self.dtype.type_name}'")
    if minlength < 0:
        raise RuntimeError("minlength should be >= 0")
    if self.dim() != 1 or (self < 0).any():
        raise RuntimeError("bincount only supports 1-d non-negative integral inputs.")
    if weights is not None and weights.shape != self.shape:
        raise RuntimeError("weights should be 1-d and have the same length as input")
    if weights is None or not self.numel():
        return from_numpy(np.bincount(self._array, minlength=minlength).astype(np.int64))
    counts = np.bincount(self._array, weights._array, minlength)
    return from_numpy(counts.astype(np.float32 if weights.dtype is float32 else np.float64))


def nanmean(self: Tensor, dim: Dims, keepdim: bool, dtype: dtype | None) -> Tensor:
    if self.dtype.category != FLOATING:
        got = f"expected input to have floating point or complex dtype but got {self.dtype.type_name}"
        raise RuntimeError(f"nanmean(): {got}")
    total = functions.nansum(self, dim, keepdim, dtype=dtype)
    return total / functions.sum(self.isnan().logical_not(), dim, keepdim)


def histc(self: Tensor, bins: int, min: Scalar, max: Scalar) -> Tensor:
    """Count the elements in each of `bins` intervals of equal width.

    Source: `aten/src/ATen/native/cpu/HistogramKernel.cpp`.
    """
    if self.dtype.category != FLOATING:
        name = "linspace_cpu" if self.dtype is bool_ else "histogram_cpu"
        raise NotImplementedError(f"\"{name}\" not implemented for '{self.dtype.type_name}'")
    check_bins(bins)
    if min == max and self.numel():
        min, max = self.min().item(), self.max().item()
    min, max = (min - 1, max + 1) if min == max else (min, max)
    if not (math.isfinite(min) and math.isfinite(max)):
        raise RuntimeError(f"torch.histc: range of [{min:g}, {max:g}] is not finite")
    if min > max:
        raise RuntimeError("torch.histc: max must be larger than min")
    array, number = self._array.reshape(-1), self.dtype.numpy.type
    first, last = number(min), number(max)
    with np.errstate(invalid="ignore", over="ignore"):  # the difference of two edges may be 0
        places = (array[(array >= first) & (array <= last)] - first) * number(bins) / (last - first)
    counts = np.bincount(np.minimum(np.nan_to_num(places).astype(np.int64), bins - 1), minlength=bins)
    return from_numpy(counts).to(self.dtype)


def check_bins(bins: int) -> None:
    """Raise a `RuntimeError` if the number of bins is not positive."""
    if bins <= 0:
        raise RuntimeError(f"torch.histogram(): bins must be > 0, but got {bins} for dimension 0")


def edges_of(bins: Tensor, self: Tensor) -> np.ndarray:
    """The array of a tensor that gives the edges of the bins. It must have one dimension, at least one element, and the
    dtype of `self`."""
    if bins.dtype is not self.dtype:
        problem = (
            f"input tensor and bins tensors should have the same dtype, but got input with dtype {self.dtype.name}"
        )
        raise RuntimeError(f"torch.histogramdd: {problem} and bins for dimension 0 with dtype {bins.dtype.name}")
    if bins.dim() != 1 or not bins.numel():
        wanted = "one dimension" if bins.dim() != 1 else "at least 1 element"
        got = f"{bins.dim()} dimensions" if bins.dim() != 1 else "0 elements"
        problem = f"bins tensor should have {wanted}, but got {got} in the bins tensor for dimension 0"
        raise RuntimeError(f"torch.histogramdd: {problem}")
    return bins._array


def histogram(self: Tensor, bins, range: Any, weight: Tensor | None, density: bool) -> tuple:
    """The values of the histogram and the edges of its bins, both in the dtype of `self`. `bins` is a number of bins,
    or an array of edges. Source: `aten/src/ATen/native/Histogram.cpp`."""
    if self.dtype not in (float32, float64):
        raise NotImplementedError(f"\"histogramdd\" not implemented for '{self.dtype.type_name}'")
    if weight is not None and weight.dtype is not self.dtype:
        problem = "if weight tensor is provided, input tensor and weight tensor should have the same dtype"
        raise RuntimeError(f"torch.histogramdd: {problem}, but got {self.dtype.name} and {weight.dtype.name}")
    if weight is not None and weight.shape != self.shape:
        problem = f"it should have the same shape as the input tensor, but got {weight.shape} and {self.shape}"
        raise RuntimeError(f"torch.histogramdd: if weight tensor is provided {problem}")
    array, weights = self._array.reshape(-1), None if weight is None else weight._array.reshape(-1)
    if isinstance(bins, int):  # PyTorch computes the edges in the dtype of the tensor
        check_bins(bins)
        if range and len(range) != 2:
            problem = f"for a 1-dimensional histogram range should have 2 elements, but got {len(range)}"
            raise RuntimeError(f"torch.histogramdd: {problem}")
        low, high = range or ((array.min(), array.max()) if array.size else (0, 1))
        if not (math.isfinite(low) and math.isfinite(high)):
            raise RuntimeError(f"torch.histogramdd: range [{low:g}, {high:g}] for dimension 0 is not finite")
        if low > high:
            bounds = f"min {low:g} max {high:g} for dimension 0"
            raise RuntimeError(f"torch.histogramdd: min should not exceed max, but got {bounds}")
        low, high = (low - 0.5, high + 0.5) if low == high else (low, high)
        bins = functions.linspace(float(low), float(high), bins + 1, dtype=self.dtype)._array
    counts, edges = np.histogram(array, bins, density=density, weights=weights)
    return tuple(from_numpy(result.astype(self.dtype.numpy)) for result in (counts, edges))


def diff(self: Tensor, n: int, dim: int, prepend: Tensor | None, append: Tensor | None) -> Tensor:
    if self.dim() == 0:
        raise RuntimeError("diff expects input to be at least one-dimensional")
    if n == 0:
        return self.clone()
    parts = [x for x in (prepend, self, append) if x is not None]
    if any(x.dim() != self.dim() for x in parts):
        raise RuntimeError("diff expects prepend or append to be the same dimension as input")
    for x, i in product(parts, range(self.dim())):
        if x.size(i) != self.size(i) and i != wrap_dim(dim, self.dim()):
            problem = "diff expects the shape of tensor to prepend or append to match that of input except along the"
            sizes = f"input.size({i}) = {self.size(i)}, but got tensor.size({i}) = {x.size(i)}"
            raise RuntimeError(f"{problem} differencing dimension; {sizes}")
    result = functions.cat(parts, dim) if len(parts) > 1 else self
    for _ in range(min(n, result.size(dim))):
        later, earlier = (result.narrow(dim, start, result.size(dim) - 1) for start in (1, 0))
        result = later ^ earlier if result.dtype is bool_ else later - earlier
    return result
