"""Kernels that select by a mask, or write to indices: `nonzero`, `masked_select`, `index_copy`, `scatter_reduce`.

`gather_scatter.py` has the others. The sizes of `nonzero` and `masked_select` depend on the elements, so these have no kernel for
the device meta. In PyTorch: `aten/src/ATen/native/TensorAdvancedIndexing.cpp`.
"""

import math
from collections.abc import Sequence
from functools import partial

import numpy as np

from rushlight.aten import strided
from rushlight.aten.generated import functions
from rushlight.aten.iterator import assert_no_internal_overlap, assert_no_partial_overlap, checked_convert
from rushlight.aten.native import gather_scatter
from rushlight.aten.native.gather_scatter import _assert_no_overlap, _at_least_1d, _positions, copy_to, in_opmath
from rushlight.aten.native.views import CPU_TENSOR, CreationMeta, as_view
from rushlight.aten.strided import Tensor, infer_size, plain_alias, size_of, wrap_contiguous, wrap_dim
from rushlight.aten.structured import Output, Structured, resize_output
from rushlight.c10 import dispatch
from rushlight.c10.dispatch import local
from rushlight.c10.dtypes import INTEGRAL, Scalar, bool_, int32, int64
from rushlight.c10.fast_paths import fast_form_of
from rushlight.library import is_overridden

# Elements that are not 0 ---------------------------------------------------------------------------------------------


def nonzero(self: Tensor) -> Tensor:
    """The indices of the elements that are not 0, in row-major order: (elements, dimensions), the dimensions not contiguous.
    Source: `aten/src/ATen/native/TensorAdvancedIndexing.cpp`, `nonzero_out_cpu`."""
    positions = np.atleast_1d(self._array).nonzero()
    count = len(positions[0])
    columns = wrap_contiguous(np.array(positions[: self.dim()], np.int64), int64)
    return plain_alias(columns, size_of((count, self.dim())), (1, count), 0)


def nonzero_numpy(self: Tensor) -> tuple[Tensor, ...]:
    """The columns of `nonzero`: the indices for each dimension. Source: `TensorAdvancedIndexing.cpp`, `nonzero_numpy`."""
    return functions.nonzero(self if self.dim() else self.unsqueeze(0)).unbind(1)


@fast_form_of(nonzero_numpy)
def nonzero_columns(self: Tensor) -> tuple[Tensor, ...]:
    """`nonzero_numpy` without calls of operators if nothing would see the calls."""
    is_seen = local.modes or dispatch.observer is not None or is_overridden("aten::nonzero", "aten::unbind.int")
    if is_seen or not self._sizes or self._key_set != CPU_TENSOR or self.requires_grad:
        return nonzero_numpy(self)
    rows = nonzero(self)
    count, sizes = rows._sizes[0], size_of(rows._sizes[:1])
    columns = [plain_alias(rows, sizes, (1,), dim * count) for dim in range(len(self._sizes))]
    return tuple([as_view(rows, column, CreationMeta.MULTI_OUTPUT_NODE) for column in columns])


def nonzero_out(self: Tensor, out: Tensor) -> Tensor:
    if out.dtype is not int64:
        got = f"but got scalar type {out.dtype.type_name}"
        raise RuntimeError(f"nonzero: Expected out tensor to have scalar type Long {got}")
    _assert_no_overlap(out, self)
    result = nonzero(self)
    resize_output(out, result.shape, result.stride())
    return out.copy_(result)


# Elements of a mask --------------------------------------------------------------------------------------------------


def masked_select(self: Tensor, mask: Tensor) -> Tensor:
    """The elements where `mask` is true, in row-major order, in one dimension. Both tensors broadcast.
    Source: `aten/src/ATen/native/TensorAdvancedIndexing.cpp`, `masked_select_out_impl_cpu`."""
    if mask.dtype is not bool_:
        raise RuntimeError("masked_select: expected BoolTensor for mask")
    sizes = infer_size(self.shape, mask.shape)
    array, where = (np.atleast_1d(strided.expand(tensor, sizes)._array) for tensor in (self, mask))
    return wrap_contiguous(array[where], self.dtype)


def masked_select_out(self: Tensor, mask: Tensor, out: Tensor) -> Tensor:
    if out.dtype is not self.dtype:
        raise RuntimeError("masked_select(): self and result must have the same scalar type")
    _assert_no_overlap(out, self, mask)
    result = masked_select(self, mask)
    resize_output(out, result.shape)
    return out.copy_(result)


def masked_scatter_(self: Tensor, mask: Tensor, source: Tensor) -> Tensor:
    """Write the elements of `source`, one after another, to the positions where the mask is true, in place.
    Source: `aten/src/ATen/native/TensorAdvancedIndexing.cpp`, `masked_scatter__cpu`."""
    if self.dtype is not source.dtype:
        dtypes = f"{self.dtype.type_name} and {source.dtype.type_name}"
        raise RuntimeError(f"masked_scatter_: expected self and source to have same dtypes but got {dtypes}")
    if mask.dtype is not bool_:
        raise RuntimeError(f"masked_scatter_ only supports boolean masks, but got mask with dtype {mask.dtype.name}")
    where = strided.expand(mask, self.shape)
    assert_no_internal_overlap(self)
    assert_no_partial_overlap(self, source)
    if not self.is_meta:
        count = np.count_nonzero(where._array)
        if count > source.numel():
            raise RuntimeError("Number of elements of source < number of ones in mask")
        self._array[where._array] = source._array.reshape(-1)[:count]
    return self


def masked_scatter_backward(grad_output: Tensor, mask: Tensor, sizes: Sequence[int]) -> Tensor:
    """The gradient of `source`: 0 for the elements that were not used.
    Source: `aten/src/ATen/native/TensorAdvancedIndexing.cpp`, `masked_scatter_backward_symint`."""
    used = grad_output.masked_select(mask)
    unused = math.prod(sizes) - used.numel()
    if unused > 0:
        used = functions.cat([used, used.new_zeros(unused)], 0)
    return used.view(sizes)


# Writing to the indices of one dimension -----------------------------------------------------------------------------


def index_copy_meta(self: Tensor, dim: int, index: Tensor, source: Tensor) -> Output:
    """Check the arguments of `index_copy`, and return the geometry of its result, that of `self`.
    Source: `aten/src/ATen/native/TensorAdvancedIndexing.cpp`, `TORCH_PRECOMPUTE_META_FUNC(index_copy)`."""
    dim = wrap_dim(dim, self.dim())
    if index.dim() > 1:
        raise IndexError(f"index_copy_(): Index should have dimension 1 or 0 (got {index.dim()})")
    count = index.numel()
    if source.dim() == 0 and count != 1:
        raise IndexError(f"index_copy_(): When source is scalar, index should have one element (got {count})")
    if source.dim() and self.dim() and source.dim() != self.dim():
        dims = f"Source dimensionality ({source.dim()}), destination dimensionality ({self.dim()})"
        raise IndexError(f"index_copy_(): their dimensionality must match if neither is a scalar. {dims}")
    if index.dtype is not int64:
        raise RuntimeError("index_copy_(): Expected a long tensor for index")
    if source.dtype is not self.dtype:
        dtypes = f"(self) {self.dtype.type_name} and (source) {source.dtype.type_name}"
        raise RuntimeError(f"index_copy_(): self and source expected to have the same dtype, but got {dtypes}")
    slices = [[size for d, size in enumerate(tensor.shape) if d != dim] for tensor in (self, source)]
    if slices[0] != slices[1]:
        shapes = f"{slices[1]} cannot be copied to slices of shape {slices[0]}"
        raise RuntimeError(f"index_copy_(): slices of shape {shapes}")
    if source.dim() and source.size(dim) != count:
        raise IndexError(f"index_copy_(): Number of indices ({count}) should be equal to source.size(dim)")
    return Output(self.shape, None, self.dtype)


@partial(Structured, index_copy_meta)
def index_copy(self: Tensor, dim: int, index: Tensor, source: Tensor, out: Tensor) -> None:
    """Write the i-th slice of `source` to the slice that `index[i]` names."""
    copy_to(out, self, index, source)
    array, dim = _at_least_1d(out), wrap_dim(dim, self.dim())
    rows, indices = np.moveaxis(array, dim, 0), index._array.reshape(-1)
    wrong = indices[(indices < 0) | (indices >= len(rows))]
    if wrong.size:
        raise IndexError(f"index_copy_(): index {wrong[0]} is out of bounds for dimension {dim} with size {len(rows)}")
    rows[indices] = np.moveaxis(_at_least_1d(source), dim if source.dim() else 0, 0)


def index_fill_(self: Tensor, dim: int, index: Tensor, value: Tensor | Scalar) -> Tensor:
    """Fill the slices that `index` names, also with negative indices.
    Source: `aten/src/ATen/native/TensorAdvancedIndexing.cpp`, `index_fill_`."""
    if isinstance(value, Tensor):
        if value.dim():
            got = f"but got {value.dim()} dimension(s)."
            raise RuntimeError(f"index_fill_ only supports a 0-dimensional value tensor, {got}")
        value = 0 if value.is_meta else value.item()
    if index.dtype not in (int32, int64):
        raise IndexError("index_fill_(): Expected dtype int64 for index.")
    gather_scatter.warn_if_expanded("index_fill_", self)
    _assert_no_overlap(self, index)
    dim = wrap_dim(dim, self.dim())
    if index.dim() > 1:
        raise RuntimeError("Index has to be a vector/scalar")
    value = checked_convert(value, self.dtype)
    if not self.is_meta:
        rows, indices = np.moveaxis(_at_least_1d(self), dim, 0), index._array.reshape(-1)
        gather_scatter.refuse_out_of_bounds(indices, dim, len(rows), least=-len(rows))
        rows[indices] = value
    return self


# Scatter with a reduction --------------------------------------------------------------------------------------------

REDUCTIONS = {"sum": np.add, "prod": np.multiply, "mean": np.add, "amax": np.maximum, "amin": np.minimum}


def scatter_reduce_meta(self: Tensor, dim: int, index: Tensor, src: Tensor, reduce: str, include_self: bool) -> Output:
    """The geometry of `scatter_reduce`: that of `scatter`. A `reduce` that is not in `REDUCTIONS` raises a
    `RuntimeError`."""
    output = gather_scatter.scatter_meta(self, dim, index, src)
    if reduce not in REDUCTIONS:
        raise RuntimeError(f"reduce argument must be either sum, prod, mean, amax or amin, got {reduce}")
    return output


@partial(Structured, scatter_reduce_meta)
def scatter_reduce(self: Tensor, dim: int, index: Tensor, src: Tensor, reduce: str, include_self, out: Tensor) -> None:
    """Reduce all elements of `src` with the same position, and, with `include_self`, the element of `self` there. Positions that
    `index` does not name keep their element.
    Source: `aten/src/ATen/native/TensorAdvancedIndexing.cpp`, `TORCH_IMPL_FUNC(scatter_reduce_two)`."""
    copy_to(out, self, index, src)
    if not index.numel():
        return
    array = _at_least_1d(out)
    positions = _positions(array, wrap_dim(dim, self.dim()), index)
    if not include_self:
        array[positions] = identity(reduce, array.dtype)
    with in_opmath(array) as results:
        REDUCTIONS[reduce].at(results, positions, _at_least_1d(src)[tuple(map(slice, index.shape or (1,)))])
    if reduce == "mean":
        counts = np.full(array.shape, int(include_self))
        np.add.at(counts, positions, 1)
        divide = np.floor_divide if out.dtype.category <= INTEGRAL else np.true_divide
        array[...] = divide(array, np.maximum(counts, 1).astype(array.dtype))


def identity(reduce: str, dtype: np.dtype) -> Scalar:
    """The element that does not change the result of a reduction."""
    known, smallest = REDUCTIONS[reduce].identity, reduce == "amax"
    if known is not None:
        return known
    if dtype == np.bool_:
        return not smallest
    if dtype.kind in "fV":
        return -np.inf if smallest else np.inf
    return np.iinfo(dtype).min if smallest else np.iinfo(dtype).max
