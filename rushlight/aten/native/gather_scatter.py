"""Kernels that copy elements: selected by indices and masks, concatenated, repeated or moved.

In PyTorch: `aten/src/ATen/native/TensorShape.cpp` (`cat`, `repeat`), `TensorAdvancedIndexing.cpp` (`gather`, `scatter`,
`index`, `index_put_`, `masked_fill`), `TensorTransformations.cpp` (`flip`, `roll`), `TriangularOps.cpp`, `Embedding.cpp`,
`Onehot.cpp`. An index counts from 0 and must be within the size. Only `index` and `index_put_` accept negative indices.
Left out: all reductions of `scatter` but "add" and "multiply".
"""

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from functools import lru_cache, partial

import numpy as np

from rushlight.aten import strided
from rushlight.aten.generated import functions
from rushlight.aten.iterator import (
    assert_no_internal_overlap,
    assert_no_partial_overlap,
    checked_convert,
    output_strides,
    refuse_overlap,
)
from rushlight.aten.native.conversions import to_copy
from rushlight.aten.native.creation import from_numpy
from rushlight.aten.native.pointwise import fits_fast_path
from rushlight.aten.strided import META, Tensor, infer_size, strides_for, wrap_contiguous, wrap_dim, wrap_like
from rushlight.aten.structured import Output, Structured, allocate, resize_output
from rushlight.c10 import dispatch
from rushlight.c10.context import context
from rushlight.c10.dispatch import local
from rushlight.c10.dtypes import REDUCED_FLOATING, Scalar, bool_, can_cast, common_dtype, int32, int64, intp, uint8
from rushlight.c10.exception import warn
from rushlight.c10.fast_paths import fast_form_of
from rushlight.c10.memory_formats import channels_last, channels_last_strides, contiguous_format, suggest_memory_format
from rushlight.library import is_overridden

# Concatenation -------------------------------------------------------------------------------------------------------


def cat_meta(tensors: Sequence[Tensor], dim: int) -> Output:
    """The geometry of `cat`: the sizes add up along `dim`, and the dtype is common. Tensors of the size (0,) are
    skipped. Source: `aten/src/ATen/native/TensorShape.cpp`, `TORCH_META_FUNC(cat)`."""
    if not tensors:
        raise ValueError("torch.cat(): expected a non-empty list of Tensors")
    for position, tensor in enumerate(tensors):
        if tensor.dim() == 0:
            raise RuntimeError(f"zero-dimensional tensor (at position {position}) cannot be concatenated")
    dtype, kept = common_dtype(*tensors), _not_skipped(tensors)
    if not kept:
        return Output((0,), None, dtype)
    first = kept[0]
    dim = wrap_dim(dim, first.dim())
    for position, tensor in enumerate(kept):
        if tensor._sizes == first._sizes:
            continue
        if tensor.dim() != first.dim():
            raise RuntimeError(f"Tensors must have same number of dimensions: got {first.dim()} and {tensor.dim()}")
        for d, (expected, size) in enumerate(zip(first.shape, tensor.shape)):
            if d != dim and size != expected:
                got = f"Expected size {expected} but got size {size} for tensor number {position} in the list."
                raise RuntimeError(f"Sizes of tensors must match except in dimension {dim}. {got}")
    sizes = [*first.shape]
    sizes[dim] = sum(tensor.size(dim) for tensor in kept)
    formats = {suggest_memory_format(*layout) for layout in {(tensor._sizes, tensor._strides) for tensor in tensors}}
    return Output(sizes, channels_last_strides(sizes) if formats == {channels_last} else None, dtype)


def _not_skipped(tensors: Sequence[Tensor]) -> list[Tensor]:
    """The tensors without those of shape (0,), which `cat` skips next to tensors of any shape, for old programs.
    Source: `aten/src/ATen/native/TensorShape.h`, `cat_should_skip_tensor`."""
    return [tensor for tensor in tensors if tensor.shape != (0,)]


@partial(Structured, cat_meta, casts=True)
def cat(tensors: Sequence[Tensor], dim: int, out: Tensor) -> None:
    if kept := _not_skipped(tensors):
        np.concatenate([tensor._array for tensor in kept], dim, out._array, casting="unsafe")


@fast_form_of(cat.functional)
def cat_contiguous(tensors: Sequence[Tensor], dim: int = 0) -> Tensor:
    """`cat` of contiguous tensors of one dtype and as many dimensions."""
    ndim = len(tensors[0]._sizes) if tensors else 0
    in_range = tensors and ndim > 0 and -ndim <= dim < ndim and are_contiguous(tensors)
    if not in_range or any(len(tensor._sizes) != ndim or tensor._sizes == (0,) for tensor in tensors):
        return cat.functional(tensors, dim)
    try:
        return wrap_contiguous(np.concatenate([tensor._array for tensor in tensors], dim), tensors[0].dtype)
    except ValueError:
        return cat.functional(tensors, dim)  # raises PyTorch's error


def are_contiguous(tensors: Sequence[Tensor]) -> bool:
    """Whether the tensors have one dtype and key set, and numpy makes a contiguous result of them."""
    dtype, key_set = tensors[0].dtype, tensors[0]._key_set
    for tensor in tensors:
        if tensor.dtype is not dtype or tensor._key_set != key_set or not tensor._has_plain_strides:
            return False
    return not (tensors[0].is_meta or local.modes)


def _assert_no_overlap(out: Tensor, *others: Tensor | Scalar | None) -> None:
    """Like `assert_no_partial_overlap`, but refuses the same view too, because elements would be read after they are written."""
    for other in others:
        if not isinstance(other, Tensor) or other._storage is not out._storage:
            continue
        assert_no_partial_overlap(out, other)
        is_like = out.shape == other.shape and out.stride() == other.stride() and out.numel()
        if is_like and out.storage_offset() == other.storage_offset():
            refuse_overlap("the input tensor is the written-to tensor")


def copy_to(out: Tensor, self: Tensor, *others: Tensor | Scalar) -> None:
    """Begin a write to `out`, which must not overlap with the other arguments, with the elements of `self`."""
    _assert_no_overlap(out, *others)
    if out is not self:
        out._array[...] = self._array


def refuse_out_of_bounds(indices: np.ndarray, dim: int, size: int, least: int = 0, error: type = IndexError) -> None:
    """Raise `error` for the first index below `least` or not below `size`."""
    wrong = indices[(indices < least) | (indices >= size)]
    if wrong.size:
        raise error(f"index {wrong[0]} is out of bounds for dimension {dim} with size {size}")


def cat_out(tensors: Sequence[Tensor], dim: int, out: Tensor) -> Tensor:
    """`cat` with `out`. A dtype that cannot be cast raises a `TypeError`, as PyTorch does here and nowhere else."""
    sizes, strides, dtype = cat_meta(tensors, dim)
    if not can_cast(dtype, out.dtype):  # a TypeError here, a RuntimeError everywhere else: as in PyTorch
        raise TypeError(f"torch.cat(): input types can't be cast to the desired output type {out.dtype.type_name}")
    resize_output(out, sizes, strides)
    _assert_no_overlap(out, *tensors)
    return Structured.out(cat, tensors, dim, out)


cat.out = cat_out


def stack(tensors: Sequence[Tensor], dim: int = 0) -> Tensor:
    """The tensors, all of the same sizes, along a new dimension."""
    sizes = _stacked_sizes(tensors, dim)
    if wrap_dim(dim, len(sizes)) < tensors[0].dim():
        return strided.view(functions.cat(tensors, wrap_dim(dim, len(sizes))), sizes)  # not a view for autograd
    return functions.cat([functions.unsqueeze(tensor, dim) for tensor in tensors], dim)


@fast_form_of(stack)
def stack_contiguous(tensors: Sequence[Tensor], dim: int = 0) -> Tensor:
    """`stack` of contiguous tensors of one dtype."""
    sizes = _stacked_sizes(tensors, dim)
    if not are_contiguous(tensors):
        return stack(tensors, dim)
    arrays = [tensor._array for tensor in tensors]
    whole = np.stack(arrays, dim) if dim or not arrays[0].ndim else np.concatenate(arrays).reshape(sizes)
    return wrap_contiguous(whole, tensors[0].dtype)


def stack_out(tensors: Sequence[Tensor], dim: int, out: Tensor) -> Tensor:
    resize_output(out, _stacked_sizes(tensors, dim))
    return cat_out([functions.unsqueeze(tensor, dim) for tensor in tensors], wrap_dim(dim, tensors[0].dim() + 1), out)


def _stacked_sizes(tensors: Sequence[Tensor], dim: int) -> list[int]:
    if not tensors:
        raise RuntimeError("stack expects a non-empty TensorList")
    for entry, tensor in enumerate(tensors):
        if tensor._sizes != tensors[0]._sizes:
            got = f"{list(tensors[0].shape)} at entry 0 and {list(tensor.shape)} at entry {entry}"
            raise RuntimeError(f"stack expects each tensor to be equal size, but got {got}")
    sizes = [*tensors[0].shape]
    sizes.insert(wrap_dim(dim, len(sizes) + 1), len(tensors))
    return sizes


# Selection by index --------------------------------------------------------------------------------------------------


def _check_index_dtype(name: str, index: Tensor) -> None:
    if index.dtype not in (int32, int64):
        raise RuntimeError(f"{name}(): Expected dtype int32/int64 for index, but got {index.dtype.name}")


def plain_rows(self: Tensor, index: Tensor) -> np.ndarray | None:
    """The indices of rows of a tensor, if numpy can read or write these rows without a check or a copy, else None. A negative index
    is out of range too, because it is a large unsigned number."""
    is_plain = self._has_plain_strides and index._has_plain_strides and self._sizes and index.dtype is intp
    if not is_plain or (self._key_set | index._key_set) & META:
        return None
    rows = index._array
    return rows if np.maximum.reduce(rows.view(np.uintp), None, initial=0) < len(self) else None


def index_select_meta(self: Tensor, dim: int, index: Tensor) -> Output:
    """The geometry of `index_select`: the sizes of `self`, with the number of indices at `dim`.
    Source: `aten/src/ATen/native/TensorAdvancedIndexing.cpp`, `index_select_out_cpu_`."""
    dim = wrap_dim(dim, self.dim())
    if index.dim() > 1:
        raise IndexError("index_select(): Index is supposed to be a vector")
    _check_index_dtype("index_select", index)
    if self.dim() == 0 and index.numel() != 1:
        raise RuntimeError(f"index_select(): Index to scalar can have only 1 value, got {index.numel()} value(s)")
    if self.dim() > 1 and self.size(dim) == 0 and index.numel():
        raise RuntimeError("index_select(): self indexing axis dim should be positive")
    sizes = [*self.shape]
    if sizes:
        sizes[dim] = index.numel()
    return Output(sizes, None, self.dtype)


@partial(Structured, index_select_meta)
def index_select(self: Tensor, dim: int, index: Tensor, out: Tensor) -> None:
    _assert_no_overlap(out, self, index)
    array, indices = _at_least_1d(self), index._array.reshape(-1)
    wrong = indices[(indices < 0) | (indices >= array.shape[dim])]
    if wrong.size:
        if self.dim() > 1 and (self.numel() == 0 or wrap_dim(dim, self.dim()) == 1 and out.is_contiguous()):
            # PyTorch's kernels for no elements and for dim 1
            raise RuntimeError(f"INDICES element is out of DATA bounds, id={wrong[0]} axis_dim={array.shape[dim]}")
        raise IndexError("index out of range in self")
    out._array[...] = np.take(array, indices.astype(np.intp, copy=False), dim).reshape(out.shape)


@fast_form_of(index_select.functional)
def index_select_rows(self: Tensor, dim: int, index: Tensor) -> Tensor:
    """The fast form of `index_select`: rows of a contiguous tensor, by `ndarray.take`. Other cases call the kernel."""
    rows = plain_rows(self, index) if dim == 0 and len(index._sizes) == 1 else None
    if rows is None:
        return index_select.functional(self, dim, index)
    return wrap_contiguous(self._array.take(rows, 0), self.dtype)


def index_add_meta(self: Tensor, dim: int, index: Tensor, source: Tensor, alpha: Scalar) -> Output:
    """Check the arguments of `index_add`: the index is a vector, and `source` has the dtype and the other sizes of
    `self`. Source: `aten/src/ATen/native/TensorAdvancedIndexing.cpp`, `index_func_meta_impl`."""
    dim = wrap_dim(dim, self.dim())
    if index.dim() > 1:
        raise IndexError("index_add_(): Index is supposed to be a vector")
    _check_index_dtype("index_add_", index)
    if source.dtype is not self.dtype:
        raise RuntimeError("index_add_(): self and source expected to have the same dtype")
    if dim and dim >= source.dim():
        raise RuntimeError(f"index_add_(): Indexing dim {dim} is out of bounds of the source")
    if index.numel() != (source.size(dim) if source.dim() else 1):
        raise RuntimeError(f"index_add_(): Number of indices ({index.numel()}) should be equal to source.size(dim)")
    left_out = dim if source.dim() and self.dim() else None
    rest = [[size for d, size in enumerate(tensor.shape) if d != left_out] for tensor in (self, source)]
    if rest[0] != rest[1]:
        raise RuntimeError("source tensor shape must match self tensor shape, excluding the specified dimension")
    return Output(self.shape, None, self.dtype)


@partial(Structured, index_add_meta)
def index_add(self: Tensor, dim: int, index: Tensor, source: Tensor, alpha: Scalar, out: Tensor) -> None:
    """Add `alpha` times each slice of `source` to the slice that `index` names."""
    copy_to(out, self, index, source)
    array, slices, indices = _at_least_1d(out), _at_least_1d(source), index._array.reshape(-1)
    dim = wrap_dim(dim, array.ndim)
    is_outer = dim in (0, array.ndim - 1) and out.dim() > 1  # PyTorch calls its `scatter_add` kernel
    is_scatter = is_outer and alpha == 1 and index.dtype is int64
    if out.dim() > 1 and out.numel() == 0:
        return
    if is_scatter:
        refuse_out_of_bounds(indices, dim, array.shape[dim], error=RuntimeError)
    elif indices.size and (indices.min() < 0 or indices.max() >= array.shape[dim]):
        raise IndexError("index out of range in self")
    slices = slices if alpha == 1 else slices * checked_convert(alpha, self.dtype)
    if dim:
        array, slices = np.moveaxis(array, dim, 0), np.moveaxis(slices, dim, 0)
    with in_opmath(array) if is_scatter else nullcontext(array) as sums:
        add_rows(sums, indices, slices)


@contextmanager
def in_opmath(array: np.ndarray) -> Iterator[np.ndarray]:
    """The array, or for float16 and bfloat16 a copy in float32, in which sums are computed and rounded once, at the end.
    Source: `aten/src/ATen/native/cpu/ScatterGatherKernel.cpp`, `create_acc_buffer`."""
    is_reduced = array.dtype == np.float16 or array.dtype.kind == "V"
    wide = array.astype(np.float32) if is_reduced else array
    yield wide
    if is_reduced:
        array[...] = wide


def rows_to_add(self: Tensor, dim: int, index: Tensor, source: Tensor, alpha: Scalar) -> np.ndarray | None:
    """The indices of the rows to which `index_add` adds those of `source`, if `add_rows` can add them, else None."""
    rows = plain_rows(self, index) if dim == 0 and alpha == 1 and len(index._sizes) == 1 else None
    fits = source._sizes == (*index._sizes, *self._sizes[1:]) and source.dtype is self.dtype
    if not fits or self.dtype in REDUCED_FLOATING or source._key_set & META:
        return None
    return None if self._storage in (source._storage, index._storage) else rows


@fast_form_of(index_add.functional)
def index_add_rows(self: Tensor, dim: int, index: Tensor, source: Tensor, alpha: Scalar) -> Tensor:
    """The fast form of `index_add`: rows added to a copy of a contiguous tensor. Other cases call the kernel."""
    rows = rows_to_add(self, dim, index, source, alpha)
    if rows is None:
        return index_add.functional(self, dim, index, source, alpha)
    out = wrap_like(self._array.copy(), self)
    add_rows(out._array, rows, source._array)
    return out


@fast_form_of(index_add.inplace)
def index_add_rows_(self: Tensor, dim: int, index: Tensor, source: Tensor, alpha: Scalar) -> Tensor:
    """The fast form of `index_add_`: rows added to a contiguous tensor. Other cases call the kernel."""
    rows = rows_to_add(self, dim, index, source, alpha)
    if rows is None:
        return index_add.inplace(self, dim, index, source, alpha)
    add_rows(self._array, rows, source._array)
    return self


def add_rows(array: np.ndarray, indices: np.ndarray, rows: np.ndarray) -> None:
    """Add each of the rows to the row of the array that its index names. `np.add.at` is fastest in one dimension."""
    if array.ndim == 2 and array.shape[1] <= 8:
        for column, values in zip(array.T, rows.T):
            np.add.at(column, indices, values)
    elif array.flags.c_contiguous and rows.size:
        width = rows[0].size
        positions = indices if width == 1 else (indices[:, None] * width + np.arange(width)).reshape(-1)
        np.add.at(array.reshape(-1), positions, rows.reshape(-1))
    else:
        np.add.at(array, indices, rows)


def gather_meta(self: Tensor, dim: int, index: Tensor, sparse_grad: bool) -> Output:
    """The geometry of `gather`: the sizes of the index, and the dtype of `self`.
    Source: `aten/src/ATen/native/TensorAdvancedIndexing.cpp`, `TORCH_META_FUNC(gather)`."""
    dim = wrap_dim(dim, self.dim())
    if index.numel():
        _check_index_dtype("gather", index)
        _check_index_sizes(self, dim, index)
    return Output(index.shape, None, self.dtype)


def _check_index_sizes(self: Tensor, dim: int, index: Tensor, src: Tensor | None = None) -> None:
    """Refuse an index that is larger than `self` in a dimension other than `dim`, or larger than `src` in any dimension."""
    sizes = [tensor.shape or (1,) for tensor in (index, self, *([] if src is None else [src]))]
    if any(len(shape) != len(sizes[0]) for shape in sizes):
        other = "input" if len(sizes[0]) != len(sizes[1]) else "src"
        raise RuntimeError(f"Index tensor must have the same number of dimensions as {other} tensor")
    too_large = any(i > s for d, (i, s) in enumerate(zip(sizes[0], sizes[1])) if d != dim)
    if too_large or src is not None and any(i > s for i, s in zip(sizes[0], sizes[2])):
        limits = f"self {list(self.shape)} apart from dimension {dim}"
        limits += "" if src is None else f" and to be no larger size than src {list(src.shape)}"
        raise RuntimeError(f"Expected index {list(index.shape)} to be no larger than {limits}")


def _positions(array: np.ndarray, dim: int, index: Tensor) -> tuple[np.ndarray, ...]:
    """For every element of `index`, the position in `array` to which it points: its own position, except in `dim`. One array
    per dimension."""
    indices, size = _at_least_1d(index), array.shape[dim]
    refuse_out_of_bounds(indices, dim, size, error=RuntimeError)
    positions = [*_own_positions(indices.shape)]
    positions[dim] = indices
    return tuple(positions)


@lru_cache(64)
def _own_positions(sizes: tuple[int, ...]) -> tuple[np.ndarray, ...]:
    return tuple(np.ogrid[tuple(map(slice, sizes))])


def _at_least_1d(self: Tensor) -> np.ndarray:
    """The array of a tensor, with one dimension if the tensor has none. The memory is shared."""
    return self._array if self.dim() else self._array.reshape(1)


@partial(Structured, gather_meta)
def gather(self: Tensor, dim: int, index: Tensor, sparse_grad: bool, out: Tensor) -> None:
    _assert_no_overlap(out, self)
    assert_no_partial_overlap(out, index)
    if index.numel():
        array = _at_least_1d(self)
        out._array[...] = array[_positions(array, dim, index)].reshape(out.shape)


REDUCTIONS = {"add": np.add, "multiply": np.multiply}


def scatter_meta(self: Tensor, dim: int, index: Tensor, src: Tensor | Scalar, reduce: str | None = None) -> Output:
    """The geometry of `scatter`: that of `self`. A `src` of another dtype, and an index that does not fit, raise a
    `RuntimeError`. Source: `aten/src/ATen/native/TensorAdvancedIndexing.cpp`, `scatter_meta_impl`."""
    dim = wrap_dim(dim, self.dim())
    if isinstance(src, Tensor) and src.dtype is not self.dtype:
        raise RuntimeError("scatter(): Expected self.dtype to be equal to src.dtype")
    if index.numel():
        _check_index_dtype("scatter", index)
        _check_index_sizes(self, dim, index, src if isinstance(src, Tensor) else None)
    if reduce is not None and reduce not in REDUCTIONS:
        raise RuntimeError("reduce argument must be either add or multiply.")
    return Output(self.shape, None, self.dtype)


@partial(Structured, scatter_meta)  # the kernel of the overloads with `reduce` too
def scatter(self: Tensor, dim: int, index: Tensor, src: Tensor | Scalar, *args) -> None:
    """Write, add or multiply `src` to the positions in `index`. If several elements have the same position, a reduction uses
    all of them. Without a reduction, the last one wins. In PyTorch the order is undefined. The last arguments are `reduce`, if
    there is one, and `out`."""
    *reduce, out = args
    copy_to(out, self, index, src)
    if not index.numel():
        return
    array = _at_least_1d(out)
    positions = _positions(array, dim, index)
    part = tuple(map(slice, index.shape or (1,)))
    values = _at_least_1d(src)[part] if isinstance(src, Tensor) else checked_convert(src, self.dtype)
    if reduce:
        with in_opmath(array) as results:
            REDUCTIONS[reduce[0]].at(results, positions, values)
    else:
        array[positions] = values


scatter_add = Structured(scatter_meta, lambda *args: scatter.impl(*args[:-1], "add", args[-1]))


# Advanced indexing: index tensors for some of the dimensions ---------------------------------------------------------


@dataclass
class AdvancedIndex:
    """The prepared arguments of `index` and `index_put_`.

    The index tensors have been broadcast. They index dimensions of `src` that are adjacent: if the indexed dimensions of
    the tensor are not, `src` is a view with these dimensions first. In the result, the sizes of the indices replace the
    indexed dimensions.

    Source: `aten/src/ATen/native/IndexingUtils.h`, `AdvancedIndex`.
    """

    src: Tensor
    before: int  # number of dimensions of `src` before the indexed ones
    indices: list[Tensor]  # all of the same sizes

    @property
    def sizes(self) -> tuple[int, ...]:
        """The sizes of the result."""
        return self._replace_indexed(self.src.shape, self.indices[0].shape)

    @property
    def strides(self) -> tuple[int, ...]:
        """The strides of a new result of a loop over the tensor, with stride 0 in indexed dimensions, and every index."""
        sizes, index_sizes = self.sizes, self.indices[0].shape
        ones = (1,) * self.before, (1,) * (len(sizes) - self.before - len(index_sizes))
        indices = [strided.view(index, (*ones[0], *index_sizes, *ones[1])) for index in self.indices]
        operands = [(sizes, self._replace_indexed(self.src.stride(), (0,) * len(index_sizes)))]
        operands += [(tuple(index.shape), index.stride()) for index in indices]
        return output_strides(sizes, tuple(operands))

    def _replace_indexed(self, of: Sequence[int], new: Sequence[int]) -> tuple[int, ...]:
        return (*of[: self.before], *new, *of[self.before + len(self.indices) :])

    def key(self) -> tuple:
        """The key for numpy's indexing. Raises IndexError for an index out of range."""
        arrays = [index._array for index in self.indices]
        for dim, indices in enumerate(arrays, self.before):
            refuse_out_of_bounds(indices, dim, self.src.size(dim), least=-self.src.size(dim))
        return (slice(None),) * self.before + tuple(arrays)


def advanced_index(self: Tensor, indices: Sequence[Tensor | None]) -> AdvancedIndex:
    """Prepare an indexing with tensors: masks become indices, the indices are broadcast, and the result's sizes are
    computed. Source: `aten/src/ATen/native/TensorAdvancedIndexingUtils.h`, `make_info`."""
    if len(indices) > self.dim():
        raise IndexError(f"too many indices for tensor of dimension {self.dim()} (got {len(indices)})")
    indices = _expand_masks(self, indices)
    dims = [dim for dim, index in enumerate(indices) if index is not None]
    if not dims:
        raise (RuntimeError if indices else IndexError)("at least one index must be provided")
    if dims[-1] >= self.dim():
        raise IndexError(f"too many indices for tensor of dimension {self.dim()} (got {len(indices)})")
    given = [index for index in indices if index is not None]
    sizes: tuple[int, ...] = ()
    for index in given:
        try:
            sizes = infer_size(sizes, index.shape)
        except RuntimeError:
            shapes = ", ".join(str(list(index.shape)) for index in given)
            message = "shape mismatch: indexing tensors could not be broadcast together with shapes"
            raise IndexError(f"{message} {shapes}") from None
    if 0 not in sizes and any(self.size(dim) == 0 for dim in dims):
        raise IndexError("index is out of bounds for dimension with size 0")
    if dims[-1] - dims[0] >= len(dims):
        self, dims = strided.permute(self, [*dims, *(dim for dim in range(self.dim()) if dim not in dims)]), [0]
    expanded = [strided.expand(index, sizes) for index in given]
    return AdvancedIndex(self, dims[0], [x if x.dtype is int64 else to_copy(x, int64) for x in expanded])


def _expand_masks(self: Tensor, indices: Sequence[Tensor | None]) -> list[Tensor | None]:
    """Replace each mask by one index tensor for each of its dimensions: the positions where it is true.
    Source: `aten/src/ATen/native/IndexingUtils.h`, `expandTensors`."""
    result = []
    for index in indices:
        if index is not None and index.dtype not in (int32, int64, uint8, bool_):
            raise IndexError("tensors used as indices must be long, int, byte or bool tensors")
        if index is None or index.dtype in (int32, int64):
            result.append(index)
            continue
        if index.dtype is uint8:
            warn("a mask of dtype uint8 is deprecated; use bool")
        _check_mask(self, index, len(result))
        if index.is_meta:
            raise NotImplementedError("the number of true elements of a mask on the device meta is unknown")
        positions = from_numpy(np.ascontiguousarray(np.argwhere(index._array)))  # (true elements, dimensions)
        result += [strided.select(positions, 1, dim) for dim in range(index.dim())]
    return result


def _check_mask(self: Tensor, mask: Tensor, dim: int) -> None:
    for d, size in enumerate(mask.shape):
        if size != self.size(dim + d):
            tensor = f"the shape of the indexed tensor {list(self.shape)} at index {dim + d}"
            raise IndexError(f"The shape of the mask {list(mask.shape)} at index {d} does not match {tensor}")


def index(self: Tensor, indices: Sequence[Tensor | None]) -> Tensor:
    """The elements at the index tensors, which broadcast. There is one for each dimension, or None for the whole dimension.
    Negative indices count from the end.
    Source: `aten/src/ATen/native/TensorAdvancedIndexing.cpp`, `TORCH_META_FUNC2(index, Tensor)`."""
    info = advanced_index(self, indices)
    on_meta = self.is_meta or any(tensor.is_meta for tensor in info.indices)
    out = allocate(Output(info.sizes, info.strides, self.dtype), "meta" if on_meta else "cpu")
    if not on_meta and out.numel():
        out._array[...] = info.src._array[info.key()]
    return out


def plain_keys(self: Tensor, indices: Sequence[Tensor | None]) -> list[np.ndarray] | None:
    """The arrays of index tensors of the same sizes for the first dimensions of a contiguous tensor, or of a mask of these, else
    None."""
    if not self._has_plain_strides or self._key_set & META:
        return None
    keys: list[np.ndarray] = []
    for key in indices:
        if key is None or not key._sizes or key._key_set & META:
            return None
        if key.dtype is bool_:
            if len(indices) > 1 or self._sizes[: len(key._sizes)] != key._sizes:
                return None
        elif key.dtype is not intp or not key._has_plain_strides or keys and key._sizes != keys[0].shape:
            return None
        keys.append(key._array)
    return keys or None


@fast_form_of(index)
def index_contiguous(self: Tensor, indices: Sequence[Tensor | None]) -> Tensor:
    """The fast form of `index`, for a contiguous tensor: numpy indexes it directly. Other cases, and errors, go to the
    kernel."""
    keys = plain_keys(self, indices)
    if keys is None:
        return index(self, indices)
    try:
        if len(keys) > 1 or keys[0].dtype == np.bool_:
            return wrap_contiguous(self._array[tuple(keys)], self.dtype)
        return wrap_contiguous(self._array.take(keys[0], 0), self.dtype)
    except (IndexError, NotImplementedError):
        return index(self, indices)  # raises PyTorch's error


def index_put_(self: Tensor, indices: Sequence, values: Tensor, accumulate: bool, unsafe: bool = False) -> Tensor:
    """Write `values`, broadcast, to the elements that `index` would return, or add them (`accumulate`). Repeated indices add
    all values. Without `accumulate`, the last one wins. In PyTorch the order is undefined. `unsafe` (do not check the indices)
    is an argument of `_index_put_impl_`, which the derivative of `index` calls. It is ignored.
    Source: `aten/src/ATen/native/TensorAdvancedIndexing.cpp`, `_index_put_impl_`."""
    if len(indices) > self.dim():
        raise IndexError(f"too many indices for tensor of dimension {self.dim()} (got {len(indices)})")
    if not indices:
        raise RuntimeError("at least one index must be provided")
    warn_if_expanded("index_put_", self)
    mask = None if accumulate else _mask_to_fill(self, indices, values)
    if mask is not None:
        return masked_fill_(self, mask, values.item())
    _assert_no_overlap(self, values, *indices)
    info = advanced_index(self, indices)
    sizes = info.sizes
    try:
        fits = values._sizes == sizes or tuple(infer_size(values.shape, sizes)) == tuple(sizes)
    except RuntimeError:
        fits = False
    if not fits:
        shapes = f"{list(values.shape)} cannot be broadcast to indexing result of shape {list(sizes)}"
        raise RuntimeError(f"shape mismatch: value tensor of shape {shapes}")
    if values.dtype is not self.dtype:
        dtypes = f"{self.dtype.type_name} for the destination and {values.dtype.type_name} for the source."
        raise RuntimeError(f"Index put requires the source and destination dtypes match, got {dtypes}")
    if 0 in sizes or any(tensor.is_meta for tensor in (self, values, *info.indices)):
        return self
    if accumulate and len(info.indices) == 1 and info.before == 0:
        (positions,) = info.key()
        rows = values._array if values._sizes == sizes else np.broadcast_to(values._array, sizes)
        rows = rows.reshape(positions.size, *info.src._sizes[1:])
        add_rows(info.src._array, positions.reshape(-1) % info.src.size(0), rows)
    elif accumulate:
        np.add.at(info.src._array, info.key(), values._array)
    else:
        info.src._array[info.key()] = values._array
    return self


@fast_form_of(index_put_)
def add_rows_at(self: Tensor, indices: Sequence, values: Tensor, accumulate: bool, unsafe: bool = False) -> Tensor:
    """`index_put_` that adds to rows of a contiguous tensor, as the derivative of `index` does."""
    keys = plain_keys(self, indices) if accumulate and values.dtype is self.dtype else None
    if keys is None or keys[0].dtype == np.bool_ or not values._sizes or values._key_set & META:
        return index_put_(self, indices, values, accumulate)
    sizes, rest = self._sizes[: len(keys)], self._sizes[len(keys) :]
    if values._sizes != (*keys[0].shape, *rest) or self._storage in [x._storage for x in (values, *indices)]:
        return index_put_(self, indices, values, accumulate)
    try:
        rows = np.ravel_multi_index(tuple(keys), sizes).reshape(-1)
    except ValueError:  # an index is negative, or out of range
        return index_put_(self, indices, values, accumulate)
    add_rows(self._array.reshape(math.prod(sizes), *rest), rows, values._array.reshape(rows.size, *rest))
    return self


def _mask_to_fill(self: Tensor, indices: Sequence[Tensor | None], values: Tensor) -> Tensor | None:
    """The mask for `masked_fill_`, if a single value is written to the elements of a single mask, else None.
    Source: `aten/src/ATen/native/TensorAdvancedIndexingUtils.h`, `canDispatchToMaskedFill`."""
    given = [(dim, index) for dim, index in enumerate(indices) if index is not None]
    if values.numel() != 1 or values.is_meta or len(given) != 1 or given[0][1].dtype not in (uint8, bool_):
        return None
    ((dim, mask),) = given
    if mask.is_meta is not self.is_meta:
        return None
    _check_mask(self, mask, dim)
    for _ in range(dim + mask.dim(), self.dim()):
        mask = strided.unsqueeze(mask, -1)
    return mask


# Embedding: rows of a table ------------------------------------------------------------------------------------------


def embedding(weight: Tensor, indices: Tensor, padding_idx=-1, scale_grad_by_freq=False, sparse=False) -> Tensor:
    """The row of `weight`, (rows, columns), for each index: (\\*indices, columns). The other arguments affect only the
    gradient.
    Source: `aten/src/ATen/native/Embedding.cpp`, `embedding_symint`."""
    if weight.dim() != 2:
        raise RuntimeError("'weight' must be 2-D")
    _check_table_index(1, indices)
    rows = functions.index_select(weight, 0, indices.reshape(-1))
    return strided.view(rows, (*indices.shape, weight.size(1)))  # not a view for autograd


@fast_form_of(embedding)
def embedding_contiguous(weight: Tensor, indices: Tensor, *options) -> Tensor:
    """`embedding` of a contiguous table, without a call of `index_select` if nothing would see the call."""
    is_seen = dispatch.observer is not None or local.modes or is_overridden("aten::index_select")
    rows = None if is_seen or len(weight._sizes) != 2 else plain_rows(weight, indices)
    if rows is None:
        return embedding(weight, indices, *options)
    return wrap_contiguous(weight._array.take(rows, 0), weight.dtype)


def _check_table_index(position: int, indices: Tensor) -> None:
    if indices.dtype not in (int32, int64):
        types = f"have one of the scalar types Long, Int; got {indices.dtype.name}"
        raise RuntimeError(f"Expected tensor for argument #{position} 'indices' to {types}")


def embedding_backward(grad, indices, num_weights, padding_idx, scale_grad_by_freq, sparse) -> Tensor:
    """The gradient of `embedding` with respect to the weights: the rows of `grad`, added at their indices.
    Source: `aten/src/ATen/native/Embedding.cpp`, `embedding_backward_symint`."""
    if sparse and scale_grad_by_freq:
        raise RuntimeError("embedding_backward: scale_grad_by_freq not supported with sparse gradients")
    if sparse:
        raise NotImplementedError("embedding: rushlight leaves out sparse gradients (sparse=True)")
    return functions.embedding_dense_backward(grad, indices, num_weights, padding_idx, scale_grad_by_freq)


def embedding_dense_backward(grad_output, indices, num_weights, padding_idx, scale_grad_by_freq) -> Tensor:
    """The gradient of each row: the sum over all positions that looked it up. The row of the padding index gets 0. With
    `scale_grad_by_freq` the sum is divided by the number of these positions.
    Source: `aten/src/ATen/native/Embedding.cpp`, `embedding_dense_backward_cpu`."""
    _check_table_index(2, indices)
    width = grad_output.size(-1)
    out = allocate(Output((num_weights, width), None, grad_output.dtype), grad_output.device.type)
    if out.is_meta:
        return out
    array, rows, targets = out._array, grad_output._array.reshape(indices.numel(), width), indices._array.reshape(-1)
    array.fill(0)
    if padding_idx >= 0:
        kept = targets != padding_idx
        rows, targets = rows[kept], targets[kept]
    if scale_grad_by_freq:
        rows = rows / np.bincount(targets.astype(np.intp), minlength=num_weights)[targets, None].astype(rows.dtype)
    add_rows(array, targets, rows)
    return out


def embedding_renorm_(self: Tensor, indices: Tensor, max_norm: float, norm_type: float) -> Tensor:
    """Scale down the rows in `indices` whose norm is larger than `max_norm`: in place, each row once.
    Source: `aten/src/ATen/native/Embedding.cpp`, `embedding_renorm_cpu_`."""
    if self.dim() != 2:
        raise RuntimeError("'self' must be 2-D")
    if not self.is_meta:
        rows = np.unique(indices._array)
        norms = np.linalg.norm(self._array[rows], norm_type, axis=1)
        scale = np.where(norms > max_norm, max_norm / (norms + 1e-7), 1).astype(self.dtype.numpy)
        self._array[rows] *= scale[:, None]
    return self


def one_hot(self: Tensor, num_classes: int = -1) -> Tensor:
    """A new last dimension that is 1 at the class, 0 elsewhere. Source: `aten/src/ATen/native/Onehot.cpp`."""
    if self.dtype is not int64:
        raise RuntimeError("one_hot is only applicable to index tensor of type LongTensor.")
    if self.numel() == 0:
        if num_classes <= 0:
            raise RuntimeError("Can not infer total number of classes from empty tensor.")
        return functions.zeros((*self.shape, num_classes), dtype=int64, device=self.device)
    if not self.is_meta or num_classes == -1:
        if int(functions.min(self).item()) < 0:
            raise RuntimeError("Class values must be non-negative.")
        largest = int(functions.max(self).item())
        if num_classes == -1:
            num_classes = largest + 1
        elif largest >= num_classes:
            raise RuntimeError("Class values must be smaller than num_classes.")
    out = functions.zeros((*self.shape, num_classes), dtype=int64, device=self.device)
    out._storage.version += 1  # PyTorch calls `zero_`
    return out.scatter_(-1, self.unsqueeze(-1), 1)


@fast_form_of(one_hot)
def one_hot_by_comparison(self: Tensor, num_classes: int = -1) -> Tensor:
    """`one_hot` of a given number of classes, without calls of operators if nothing would see the calls."""
    is_seen = dispatch.observer is not None or local.modes or self._key_set & META or self.dtype is not intp
    if (
        is_seen
        or num_classes < 1
        or 0 in self._sizes
        or is_overridden("aten::min", "aten::max", "aten::zeros", "aten::scatter_.value")
    ):
        return one_hot(self, num_classes)
    if np.maximum.reduce(self._array.view(np.uintp), None, initial=0) >= num_classes:
        return one_hot(self, num_classes)  # raises PyTorch's error
    out = wrap_contiguous((self._array[..., None] == np.arange(num_classes)).astype(np.int64), int64)
    out._storage.version += 2  # those of `zero_` and `scatter_`
    return out


# Selection by mask ---------------------------------------------------------------------------------------------------


def warn_if_expanded(name: str, self: Tensor) -> None:
    """Warn that the tensor to write to has several elements at one position in memory."""
    if 0 in self.stride() and strided.has_internal_overlap(self.shape, self.stride()):
        warn(f"Use of {name} on expanded tensors is deprecated. Please clone() the tensor before.")


def broadcast_copy(self: Tensor, mask: Tensor) -> Tensor:
    """A copy of `self`, contiguous and of the sizes that it has in common with `mask`."""
    sizes = infer_size(self.shape, mask.shape)
    whole = self if tuple(sizes) == self._sizes else functions.broadcast_to(self, sizes)
    return functions.clone(whole, memory_format=contiguous_format)


def masked_fill_(self: Tensor, mask: Tensor, value: Tensor | Scalar) -> Tensor:
    """Write a number to the elements where the mask is true, in place.
    Source: `aten/src/ATen/native/TensorAdvancedIndexing.cpp`, `masked_fill__cpu`."""
    warn_if_expanded("masked_fill_", self)
    if isinstance(value, Tensor) and value.dim():
        raise RuntimeError(f"masked_fill_ only supports a 0-dimensional value tensor, not one with {value.dim()}.")
    if mask.dtype is not bool_:
        raise RuntimeError(f"masked_fill_ only supports boolean masks, but got mask with dtype {mask.dtype.name}")
    if tuple(infer_size(self.shape, mask.shape)) != self.shape:
        raise RuntimeError(f"the mask of shape {list(mask.shape)} does not broadcast to {list(self.shape)}")
    assert_no_partial_overlap(self, mask)
    if not self.is_meta:
        value = value.item() if isinstance(value, Tensor) else value
        np.copyto(self._array, checked_convert(value, self.dtype), where=strided.expand(mask, self.shape)._array)
    return self


def masked_fill(self: Tensor, mask: Tensor, value: Tensor | Scalar) -> Tensor:
    return masked_fill_(broadcast_copy(self, mask), mask, value)


@fast_form_of(masked_fill)
def masked_fill_contiguous(self: Tensor, mask: Tensor, value: Tensor | Scalar) -> Tensor:
    """`masked_fill` of a contiguous tensor with a number, without a call of `clone` if nothing would see the call."""
    is_seen = dispatch.observer is not None or local.modes or is_overridden("aten::clone")
    if is_seen or value.__class__ not in (int, float) or not fits_fast_path(self) or mask.dtype is not bool_:
        return masked_fill(self, mask, value)
    is_smaller = mask._sizes != self._sizes and tuple(infer_size(self._sizes, mask._sizes)) != self._sizes
    if is_smaller or (self._key_set | mask._key_set) & META or len(self._sizes) == 0:
        return masked_fill(self, mask, value)
    array = self._array.copy()
    np.copyto(array, value, where=mask._array)
    return wrap_like(array, self)


def _triangular(name: str, keep: Callable) -> Structured:
    """The kernel that keeps the elements with `keep(column - row, diagonal)` in the matrices of the last two dimensions, and sets
    the others to 0."""

    def meta(self: Tensor, diagonal: int) -> Output:
        if self.dim() < 2:
            raise RuntimeError(f"{name}: input tensor must have at least 2 dimensions")
        return Output(self.shape, None, self.dtype)

    def impl(self: Tensor, diagonal: int, out: Tensor) -> None:
        rows, columns = np.ogrid[: self.size(-2), : self.size(-1)]
        out._array[...] = np.where(keep(columns - rows, diagonal), self._array, self.dtype.numpy.type(0))

    return Structured(meta, impl)


tril, triu = _triangular("tril", np.less_equal), _triangular("triu", np.greater_equal)


# Moving and repeating ------------------------------------------------------------------------------------------------


def flip(self: Tensor, dims: Sequence[int]) -> Tensor:
    """The indices of each of `dims` in reverse order. A copy: PyTorch has no negative strides."""
    axes = []
    for dim in dims:
        axes.append(wrap_dim(dim, self.dim()))
        if axes.count(axes[-1]) > 1:
            raise RuntimeError(f"dim {axes[-1]} appears multiple times in the list of dims")
    out = allocate(Output(self.shape, strides_for(self, None), self.dtype), self.device.type)
    if not self.is_meta:
        out._array[...] = np.flip(self._array, tuple(axes) if self.dim() else ())
    return out


def fliplr(self: Tensor) -> Tensor:
    if self.dim() < 2:
        raise RuntimeError("Input must be >= 2-d.")
    return self.flip([1])


def flipud(self: Tensor) -> Tensor:
    if self.dim() < 1:
        raise RuntimeError("Input must be >= 1-d.")
    return self.flip([0])


def rot90(self: Tensor, k: int, dims: Sequence[int]) -> Tensor:
    """Rotate a tensor by 90 degrees, `k` times, in the plane of two dimensions.

    Source: `aten/src/ATen/native/TensorTransformations.cpp`, `rot90`.
    """
    if len(dims) != 2:
        raise RuntimeError(f"expected total rotation dims == 2, but got dims = {len(dims)}")
    if self.dim() < 2:
        raise RuntimeError(f"expected total dims >= 2, but got total dims = {self.dim()}")
    first, second = dims
    if wrap_dim(first, self.dim()) == wrap_dim(second, self.dim()):
        raise RuntimeError(f"expected rotation dims to be different, but got dim0 = {first} and dim1 = {second}")
    if k % 4 == 2:
        return self.flip(dims)
    return self.flip([second if k % 4 == 1 else first]).transpose(first, second) if k % 4 else self.clone()


def roll(self: Tensor, shifts: Sequence[int], dims: Sequence[int] = ()) -> Tensor:
    """The elements moved by `shifts` along `dims`, cyclically. Without `dims`, along the flattened tensor.
    Source: `aten/src/ATen/native/TensorTransformations.cpp`, `roll`."""
    if not shifts:
        raise RuntimeError("`shifts` required")
    if len(dims) != len(shifts) and (dims or len(shifts) != 1):
        raise RuntimeError(f"shifts and dimensions must align. shifts: {len(shifts)}, dims:{len(dims)}")
    if dims and self.numel() == 0:  # before the dims are checked
        return functions.clone(self)
    for dim in dims:
        self.size(dim)  # raises for a dim out of range, also if the tensor has no dimensions
    axes = [wrap_dim(dim, self.dim()) for dim in dims]
    out = allocate(Output(self.shape, None, self.dtype), self.device.type)
    if not self.is_meta:
        out._array[...] = np.roll(self._array, tuple(shifts), axes) if axes else np.roll(self._array, shifts[0])
    return out


def repeat(self: Tensor, repeats: Sequence[int]) -> Tensor:
    """A copy in which dimension `i` is repeated `repeats[i]` times. The last of `repeats` belongs to the last dimension."""
    new_dims = len(repeats) - self.dim()
    if new_dims < 0:
        raise RuntimeError("Number of dimensions of repeat dims can not be smaller than number of dimensions of tensor")
    sizes = [size * times for size, times in zip((1,) * new_dims + self.shape, repeats)]
    out = allocate(Output(sizes, None, self.dtype), self.device.type)
    if not self.is_meta:
        out._array[...] = np.tile(self._array, tuple(repeats))
    return out


def take_along_dim(self: Tensor, indices: Tensor, dim: int | None) -> Tensor:
    """`gather` with indices that are broadcast in all other dimensions. Without `dim`, from all elements.
    Source: `aten/src/ATen/native/TensorAdvancedIndexing.cpp`, `take_along_dim`."""
    if indices.dtype is not int64:
        raise RuntimeError(f"torch.take_along_dim(): dtype of indices should be Long but got {indices.dtype.type_name}")
    if dim is None:
        return self.reshape(-1).gather(0, indices.reshape(-1))
    if self.dim() != indices.dim():
        raise RuntimeError(
            "torch.take_along_dim(): input and indices should have the same number of dimensions, "
            f"but got {self.dim()} dimensions for input, and {indices.dim()} dimensions for indices"
        )
    dim = wrap_dim(dim, self.dim())
    others = [[1 if i == dim else size for i, size in enumerate(x.shape)] for x in (self, indices)]
    sizes = infer_size(*others)
    indices = functions.where(indices < 0, indices + self.shape[dim], indices)
    wide = [x.expand([*sizes[:dim], x.shape[dim], *sizes[dim + 1 :]]) for x in (self, indices)]
    return wide[0].gather(dim, wide[1])


def alert_not_deterministic(name: str) -> None:
    """Refuse an operator, or warn of it, if algorithms must be deterministic. Source: `aten/src/ATen/Context.cpp`,
    `Context::alertNotDeterministic`."""
    if context.deterministic_algorithms:
        problem = f"{name} does not have a deterministic implementation, but you set 'torch.use_deterministic_algorithms(True)"
        if not context.deterministic_algorithms_warn_only:
            raise RuntimeError(f"{problem}'. Use `warn_only=True` to get a warning instead.")
        warn(f"{problem}, warn_only=True)'.")


def put_(self: Tensor, index: Tensor, source: Tensor, accumulate: bool = False) -> Tensor:
    """Write the elements of `source` to the positions `index` of the flattened tensor.
    Source: `aten/src/ATen/native/TensorAdvancedIndexing.cpp`, `put_`."""
    assert_no_internal_overlap(self)
    _assert_no_overlap(self, index, source)
    if not accumulate:
        alert_not_deterministic("put_")
    if index.numel() != source.numel():
        raise RuntimeError(
            "put_(): Expected source and index to have the same number of elements, but got source.numel() = "
            f"{source.numel()}, index.numel() = {index.numel()}"
        )
    if index.dtype is not int64:
        raise RuntimeError(f"put_(): Expected a long tensor for index, but got {index.dtype.type_name}")
    if source.dtype is not self.dtype:
        problem = "put_(): self and source expected to have the same dtype, but got"
        raise RuntimeError(f"{problem} self.dtype = {self.dtype.type_name} and source.dtype = {source.dtype.type_name}")
    flat = index.reshape(-1)
    outside = flat[(flat < -self.numel()) | (flat >= self.numel())]
    if outside.numel():
        where = f"index {outside[0].item()} on a tensor of {self.numel()} elements."
        raise IndexError(f"out of range: tried to access {where}")
    flat, positions = flat % max(self.numel(), 1), list[Tensor]()
    for size in reversed(self.shape):
        positions.insert(0, flat % max(size, 1))
        flat = flat.div(max(size, 1), rounding_mode="floor")
    target = self if self.dim() else self.unsqueeze(0)
    target.index_put_(positions or [flat], source.reshape(-1), accumulate)
    return self


def expanded_index(self: Tensor, dim: int, index: Tensor, source: Tensor, reduce: str) -> Tensor:
    """The index of `index_reduce` as that of `scatter_reduce`.
    Source: `aten/src/ATen/native/TensorAdvancedIndexing.cpp`, `index_reduce_func_impl`."""
    if reduce not in ("prod", "mean", "amax", "amin"):
        raise RuntimeError(f"index_reduce(): Expected reduce to be one of prod, mean, amax or amin but got {reduce}.")
    dim = wrap_dim(dim, self.dim())
    if index.dim() > 1 or index.numel() != (source.size(dim) if source.dim() else 1):
        raise RuntimeError(
            "index_reduce_(): Number of indices should be equal to self.size(dim)"
            if index.dim() < 2
            else "index_reduce_(): Index is supposed to be a vector"
        )
    if not index.is_meta and ((index < 0) | (index >= (self.size(dim) if self.dim() else 1))).any():
        raise IndexError("index out of range in self")
    return index.reshape([-1 if d == dim else 1 for d in range(source.dim())]).expand(source.shape)
