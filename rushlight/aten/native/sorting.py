"""Kernels that order elements: `sort`, `topk`, `median`, `unique`.

NaN is larger than every number. Equal elements keep their order, also in a sort that is not stable. Which of several equal
elements `topk` chooses is arbitrary, as in PyTorch.
In PyTorch: `aten/src/ATen/native/Sorting.cpp`, `TopKImpl.h`, `Unique.cpp`.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from rushlight.aten.generated import functions
from rushlight.aten.native.reductions import assert_not_empty, comparable, one_of_each_line, values_and_indices
from rushlight.aten.strided import Tensor, strides_for, wrap_contiguous, wrap_dim
from rushlight.aten.structured import Output, allocate
from rushlight.c10.dtypes import float32, float64, int32, int64
from rushlight.c10.exception import warn_once
from rushlight.c10.memory_formats import contiguous_format

# Sorted elements ------------------------------------------------------------------------------------------------------


def stable_order(array: np.ndarray, dim: int, descending: bool) -> np.ndarray:
    """The indices that sort an array along a dimension. Equal elements keep their order; NaN is the largest element."""
    if not descending:
        return np.argsort(array, dim, kind="stable")
    backwards = (slice(None),) * dim + (slice(None, None, -1),)
    return array.shape[dim] - 1 - np.argsort(array[backwards], dim, kind="stable")[backwards]


def sort_meta(self: Tensor, stable: bool | None, dim: int, descending: bool) -> Output:
    """The geometry of both results of `sort`: the values like `self`, and the indices as int64.
    Source: `aten/src/ATen/native/Sorting.cpp`, `TORCH_META_FUNC2(sort, stable)`."""
    wrap_dim(dim, self.dim())
    return Output(self.shape, strides_for(self, None), self.dtype)


ordered = values_and_indices(sort_meta, dim=2)
sort_stable, sort_stable_out = ordered(lambda array, dim, stable, descending: stable_order(array, dim, descending))


def topk_meta(self: Tensor, k: int, dim: int, largest: bool, sorted: bool) -> Output:
    """The geometry of both results of `topk`: the sizes of `self` with `k` at `dim`. A `k` outside of the dimension
    raises a `RuntimeError`. Source: `aten/src/ATen/native/Sorting.cpp`, `TORCH_META_FUNC(topk)`."""
    dim = wrap_dim(dim, self.dim())
    if not 0 <= k <= (self.size(dim) if self.dim() else 1):
        raise RuntimeError("selected index k out of range")
    return Output([k if d == dim else size for d, size in enumerate(self.shape)], None, self.dtype)


@values_and_indices(topk_meta, dim=2)
def topk_kernels(array: np.ndarray, dim: int, k: int, largest: bool, sorted: bool) -> np.ndarray:
    """The first k elements in sorted order, also if `sorted` is false."""
    if array.dtype == np.bool_:
        raise RuntimeError("topk(): does not support bool tensors; convert to a number first")
    size = array.shape[dim]
    if not 0 < k < size or size <= 64:  # numpy sorts short lines faster than it parts them
        return stable_order(array, dim, descending=largest)[(slice(None),) * dim + (slice(k),)]
    parted = np.argpartition(array, size - k if largest else k - 1, dim)  # NaN is last
    chosen = np.sort(np.take(parted, np.arange(size - k, size) if largest else np.arange(k), dim), dim)
    order = stable_order(np.take_along_axis(array, chosen, dim), dim, descending=largest)
    return np.take_along_axis(chosen, order, dim)


topk, topk_out = topk_kernels

# Median: the lower of the two in the middle --------------------------------------------------------------------------


@values_and_indices(one_of_each_line("median"), dim=1)
def median_kernels(array: np.ndarray, dim: int, keepdim: bool) -> np.ndarray:
    """The index of the median; of the first NaN if there is one.
    Source: `aten/src/ATen/native/Sorting.cpp`, `median_with_indices_impl`."""
    refuse_bool_median(array)
    middle = np.take(stable_order(array, dim, descending=False), [(array.shape[dim] - 1) // 2], dim)
    unknown = np.isnan(array)
    return np.where(unknown.any(dim, keepdims=True), unknown.argmax(dim, keepdims=True), middle)


median_dim, median_dim_out = median_kernels


def median(self: Tensor) -> Tensor:
    """The median of all elements; NaN if there is a NaN or no element.
    Source: `aten/src/ATen/native/Sorting.cpp`, `median_impl`."""
    out = allocate(Output((), None, self.dtype), self.device.type)
    if self.is_meta:
        return out
    refuse_bool_median(self._array)
    if not self.numel():
        return out.fill_(float("nan"))
    flat = np.sort(comparable(self._array), axis=None)  # NaN is last
    out._array[...] = flat[-1] if np.isnan(flat[-1]) else flat[(flat.size - 1) // 2]
    return out


@values_and_indices(one_of_each_line("median"), dim=1)
def nanmedian_kernels(array: np.ndarray, dim: int, keepdim: bool) -> np.ndarray:
    """The index of the median of the elements that are not NaN."""
    refuse_bool_median(array)
    count = array.shape[dim] - np.isnan(array).sum(dim, keepdims=True)
    return np.take_along_axis(stable_order(array, dim, descending=False), np.maximum(count - 1, 0) // 2, dim)


nanmedian_dim, nanmedian_dim_out = nanmedian_kernels


def nanmedian(self: Tensor) -> Tensor:
    """The median of all elements that are not NaN."""
    if self.is_meta or not self.numel():
        return median(self)
    return nanmedian_dim(self.reshape(self.numel()), 0, False)[0]


INTERPOLATIONS = "linear", "lower", "higher", "midpoint", "nearest"


def quantile_of(self: Tensor, q: float, name: str) -> Tensor:
    """The number `q` as a tensor of the dtype and device of `self`. Outside of 0 to 1 it raises a `RuntimeError`."""
    if not 0 <= q <= 1:
        raise RuntimeError(f"{name}() q must be in the range [0, 1] but got {q:g}")
    return functions.scalar_tensor(q, dtype=self.dtype, device=self.device)


def quantile(self: Tensor, q: Tensor, dim: int | None, keepdim: bool, interpolation: str, name: str) -> Tensor:
    """The value below which the share `q` of a line is, between the two elements next to it. A line with NaN is NaN, or, for
    `nanquantile`, its NaN elements are left out. Several shares are the first dimension of the result.
    Source: `aten/src/ATen/native/Sorting.cpp`, `quantile_impl`."""
    if not self.numel():
        raise RuntimeError(f"{name}() input tensor must be non-empty")
    if q.dim() > 1:
        raise RuntimeError(f"{name}() q must be a scalar or 1D tensor")
    if self.dtype not in (float32, float64):
        raise RuntimeError(f"{name}() input tensor must be either float or double dtype")
    if self.dtype is not q.dtype:
        raise RuntimeError(f"{name}() q tensor must be same dtype as the input tensor")
    if interpolation not in INTERPOLATIONS:
        allowed = f"one of {', '.join(INTERPOLATIONS[:-1])} or {INTERPOLATIONS[-1]}"
        raise RuntimeError(f"{name}() interpolation must be {allowed}, but got {interpolation}")
    if not self.is_meta and not ((q >= 0) & (q <= 1)).all():
        raise RuntimeError(f"{name}() q values must be in the range [0, 1]")
    wrapped = None if dim is None or not self.dim() else wrap_dim(dim, self.dim())
    lines = self.flatten().unsqueeze(0) if wrapped is None else self.unsqueeze(-1).transpose(wrapped, -1)
    ordered = lines.sort().values  # NaN is last
    unknown = ordered.isnan()
    if name == "quantile":
        rank = q * (ordered.shape[-1] - 1)
        rank = functions.where(unknown.any(-1, True), functions.full_like(rank, ordered.shape[-1] - 1), rank)
    else:
        rank = (q * ((~unknown).sum(-1, True) - 1)).clamp(min=0)
    rank = rank.round() if interpolation == "nearest" else rank.ceil() if interpolation == "higher" else rank
    rank = rank.floor() if interpolation == "lower" else rank
    below = rank.long()
    values = ordered.gather(-1, below)
    if interpolation in ("linear", "midpoint"):
        weight = functions.full_like(rank, 0.5) if interpolation == "midpoint" else rank - below
        values = functions.lerp(values, ordered.gather(-1, rank.ceil().long()), weight)
    values = values.movedim(-1, 0)  # the shares come first
    if wrapped is None:
        values = values.reshape([q.numel(), *([1] * self.dim() if keepdim else [])])
    elif not keepdim:
        values = values.squeeze(wrapped + 1)
    return values if q.dim() else values.squeeze(0)


def refuse_bool_median(array: np.ndarray) -> None:
    """Raise a `NotImplementedError` for the dtype bool."""
    if array.dtype == np.bool_:
        raise NotImplementedError("\"median_out_impl\" not implemented for 'Bool'")


# Unique elements -----------------------------------------------------------------------------------------------------


def unique2(self: Tensor, sorted: bool, return_inverse: bool, return_counts: bool) -> tuple[Tensor, ...]:
    """The different elements, in order also if `sorted` is false; the index of each element among them; how often each occurs.
    Results that are not requested have no elements. Every NaN differs from every other.
    Source: `aten/src/ATen/native/Unique.cpp`, `_unique2_cpu`."""
    results = np.unique(comparable(self._array), return_inverse=True, return_counts=True, equal_nan=False)
    return _unique_results(self, results, self.shape, return_inverse, return_counts)


def unique_dim(self: Tensor, dim: int, sorted: bool, return_inverse: bool, return_counts: bool) -> tuple[Tensor, ...]:
    """The different slices along a dimension, in lexicographic order. Source: `aten/src/ATen/native/Unique.cpp`."""
    dim = wrap_dim(dim, self.dim())
    if self.numel() == 0:
        return _unique_of_none(self, dim)
    slices = np.moveaxis(comparable(self._array), dim, 0)
    results = np.unique(slices, return_inverse=True, return_counts=True, axis=0, equal_nan=False)
    results = _unique_results(self, results, (self.size(dim),), return_inverse, return_counts)
    return functions.movedim(results[0], 0, dim), *results[1:]


def unique_consecutive(self: Tensor, return_inverse: bool, return_counts: bool, dim: int | None) -> tuple[Tensor, ...]:
    """The elements, or slices along a dimension, that differ from the one before.
    Source: `aten/src/ATen/native/Unique.cpp`, `unique_consecutive_cpu`."""
    if dim is not None and self.numel() == 0:
        return _unique_of_none(self, dim)
    array = self._array.reshape(-1) if dim is None else np.moveaxis(self._array, wrap_dim(dim, self.dim()), 0)
    rows = array.reshape(len(array), math.prod(array.shape[1:]))
    starts = np.flatnonzero(np.append(True, (rows[1:] != rows[:-1]).any(1))[: len(rows)])
    inverse = np.searchsorted(starts, np.arange(len(rows)), side="right") - 1
    counts = np.diff(starts, append=len(rows))
    sizes = self.shape if dim is None else (self.size(dim),)
    results = _unique_results(self, (array[starts], inverse, counts), sizes, return_inverse, return_counts)
    return results if dim is None else (functions.movedim(results[0], 0, dim), *results[1:])


def _unique_of_none(self: Tensor, dim: int) -> tuple[Tensor, ...]:
    """The results for a tensor without elements, which must have no slices."""
    if self.size(dim) != 0:
        raise RuntimeError("There are 0 sized dimensions, and they aren't selected, so unique cannot be applied")
    if self.shape.count(0) > 1:
        raise RuntimeError("Number of zero sized dimensions is more than one, so unique cannot be applied ")
    return functions.empty(self.shape, dtype=self.dtype), *(functions.empty(0, dtype=int64) for _ in range(2))


def _unique_results(self: Tensor, results: tuple, sizes: Sequence[int], return_inverse, return_counts) -> tuple:
    values, inverse, counts = results
    kept = inverse.reshape(sizes) if return_inverse else np.empty(0), counts if return_counts else np.empty(0)
    indices = (wrap_contiguous(np.ascontiguousarray(array, np.int64).reshape(array.shape), int64) for array in kept)
    return wrap_contiguous(np.array(values, self.dtype.numpy, order="C"), self.dtype), *indices


# Order statistics ----------------------------------------------------------------------------------------------------


def kthvalue(self: Tensor, k: int, dim: int, keepdim: bool) -> tuple[Tensor, ...]:
    """The k-th smallest element, from 1, and its index."""
    assert_not_empty("kthvalue", self, (wrap_dim(dim, self.dim()),), IndexError)
    if self.dim() and not 1 <= k <= self.size(dim):
        raise RuntimeError("selected number k out of range for dimension")
    if not self.dim():
        return tuple(self.sort(dim))
    selected = (x.narrow(dim, k - 1, 1) for x in self.sort(dim))
    return tuple((x if keepdim else x.squeeze(dim)).clone(memory_format=contiguous_format) for x in selected)


def mode(self: Tensor, dim: int, keepdim: bool) -> tuple[Tensor, ...]:
    """The element that occurs most often, the smallest of several, and its last index.
    Source: `aten/src/ATen/native/ReduceOps.cpp`, `mode`."""
    dim = wrap_dim(dim, self.dim())
    assert_not_empty("mode", self, (dim,), IndexError)
    if not self.dim():
        return self.clone(), functions.zeros((), dtype=int64)
    if not self.numel():
        values = (self.narrow(dim, 0, 1) if keepdim else self.select(dim, 0)).clone(memory_format=contiguous_format)
        return values, functions.zeros_like(values, dtype=int64)
    rows = np.moveaxis(self._array, dim, -1)
    counts = (rows[..., None] == rows[..., None, :]).sum(-1)
    largest = counts == counts.max(-1, keepdims=True)
    values = np.where(largest, rows, rows.max(-1, keepdims=True)).min(-1, keepdims=True)
    last = rows.shape[-1] - 1 - (rows == values)[..., ::-1].argmax(-1, keepdims=True)
    found = (np.ascontiguousarray(np.moveaxis(x, -1, dim)) for x in (values, last))
    results = map(wrap_contiguous, found, (self.dtype, int64))
    return tuple(x if keepdim else x.squeeze(dim) for x in results)


def check_searchsorted(edges: Tensor, self: Tensor, right: bool, side: str | None, sorter: Tensor | None) -> None:
    """Check the arguments of `searchsorted`: shapes, dtypes, and that `side` and `right` agree.
    Source: `aten/src/ATen/native/BucketizationUtils.h`, `searchsorted_pre_check`."""
    problem = ""
    if side not in (None, "left", "right"):
        problem = f"side can only be 'left' or 'right' but got {side}"
    elif side == "left" and right:
        problem = "side and right can't be set to opposites, got side of left while right was True"
    elif sorter is not None and sorter.shape != edges.shape:
        got = f"boundary tensor {list(edges.shape)}and got sorter tensor {list(sorter.shape)}"
        problem = f"boundary and sorter must have the same size, but got {got}"
    elif sorter is not None and sorter.dtype is not int64:
        problem = f"sorter must be a tensor of long dtype but got dtype {sorter.dtype.type_name}"
    elif sorter is not None and sorter.numel() and not ((sorter >= 0) & (sorter < sorter.shape[-1])).all():
        problem = "sorter index out of range"
    elif not self.dim() and edges.dim() > 1:
        got = f"boundaries tensor dim({edges.dim()}) and input value's dim(0) numel(1)"
        problem = f"input value can be a scalar only when boundaries tensor dimension is 1, but we got {got}"
    elif not edges.dim():
        problem = "boundaries tensor should have positive dimension, but got 0 dimension"
    elif edges.dim() != 1 and edges.shape[:-1] != self.shape[:-1]:
        got = f"boundaries tensor {list(edges.shape)} and input value tensor {list(self.shape)}"
        rule = "1 dimension or the first N-1 dimensions of boundaries tensor and input value tensor must match"
        problem = f"boundaries tensor should be {rule}, but we got {got}"
    if problem:
        raise RuntimeError(f"torch.searchsorted(): {problem}")


def bucketize(edges: Tensor, self: Tensor, out_int32: bool, right: bool) -> Tensor:
    """`searchsorted` with the arguments in another order, for boundaries of one dimension.
    Source: `aten/src/ATen/native/Bucketization.cpp`."""
    if edges.dim() != 1:
        raise RuntimeError(f"boundaries tensor must be 1 dimension, but got dim({edges.dim()})")
    return searchsorted(edges, self, out_int32, right, None, None)


def searchsorted(
    edges: Tensor, self: Tensor, out_int32: bool, right: bool, sorter: Tensor | None, side: str | None
) -> Tensor:
    """Where each element belongs in the sorted rows of `edges`, before equal ones or, if `right` or `side` say so, after them."""
    check_searchsorted(edges, self, right, side, sorter)
    right = right or side == "right"
    for name, tensor in (("input value", self), ("boundary", edges), ("sorter", sorter)):
        if not (tensor is None or tensor.is_contiguous()):
            warn_once(
                f"torch.searchsorted(): {name} tensor is non-contiguous, this will lower the performance due to extra data copy "
                f"when converting non-contiguous tensor to contiguous, please use contiguous {name} tensor if possible. "
                "This message will only appear once per program."
            )
    edges = edges if sorter is None else edges.gather(-1, sorter)
    where: Any = "right" if right else "left"
    rows, values = edges._array, self._array
    if edges.dim() == 1:
        found = np.searchsorted(rows, values, where)
    else:
        count = math.prod(rows.shape[:-1])
        pairs = zip(rows.reshape(count, rows.shape[-1]), values.reshape(count, values.shape[-1]))
        found = np.array([np.searchsorted(row, wanted, where) for row, wanted in pairs]).reshape(values.shape)
    kind = int32 if out_int32 else int64
    return wrap_contiguous(np.asarray(found, kind.numpy), kind)
