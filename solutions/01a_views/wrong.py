"""Wrong answers to lab 01a that a student might well give and that no mutant of the reference is: each fails on an edge.

A function's name is its exercise's, two underscores, and what is wrong.
"""

import itertools
import math

import numpy as np

import rushlight as rl
from rushlight.aten import strided
from rushlight.aten.strided import alias, contiguous_strides, empty_strided, storage_size, wrap_dim
from rushlight.course import breaks

from ..shared import changed, copied

# Arithmetic on sizes and strides


def contiguous_strides__guards_the_product_and_not_its_factors(sizes):
    return tuple(max(math.prod(sizes[i + 1 :]), 1) for i in range(len(sizes)))


def contiguous_strides__of_the_bytes_of_numpy(sizes):
    return tuple(stride // 8 for stride in np.empty(sizes, np.int64).strides)


def contiguous_strides__in_32_bits(sizes):
    with np.errstate(all="ignore"):
        steps = np.cumprod(np.maximum([1, *reversed(sizes)], 1).astype(np.int32), dtype=np.int32)
    return steps[:-1][::-1]


def contiguous_strides__of_four_dimensions_at_most(sizes):
    n, h, w = [1] * (3 - len(sizes[1:])) + [max(size, 1) for size in sizes[1:]][:3]
    return ((n * h * w, h * w, w, 1) + (0,) * len(sizes[4:]))[max(4 - len(sizes), 0) :]


def contiguous_strides__gives_empty_tensors_strides_of_one(sizes):
    return (1,) * len(sizes) if 0 in sizes else strided_of(sizes)


def strided_of(sizes):
    return [math.prod(sizes[i + 1 :]) for i in range(len(sizes))]


def element_offset__of_two_dimensions_at_most(index, strides, storage_offset):
    (i, s), (j, t) = [*zip(index, strides), (0, 0), (0, 0)][:2]
    return storage_offset + i * s + j * t


def element_offset__takes_the_strides_of_a_new_tensor(index, strides, storage_offset):
    return storage_offset + sum(i * s for i, s in zip(index, sorted(strides, reverse=True)))


def is_contiguous__forgives_ones_at_the_ends_only(sizes, strides):
    dims = list(zip(sizes, strides))
    while dims and dims[-1][0] == 1:
        dims.pop()
    while dims and dims[0][0] == 1:
        dims.pop(0)
    return 0 in sizes or tuple(t for _, t in dims) == contiguous_strides([s for s, _ in dims])


def is_contiguous__compares_with_new_strides(sizes, strides):
    return 0 in sizes or tuple(strides) == contiguous_strides(sizes)


def is_contiguous__asks_for_falling_strides_without_holes(sizes, strides):
    kept = [(size, stride) for size, stride in zip(sizes, strides) if size != 1]
    falling = all(a[1] >= b[1] for a, b in itertools.pairwise(kept))
    return 0 in sizes or falling and storage_size(sizes, strides) == math.prod(sizes)


def is_contiguous__looks_at_the_last_two_dimensions(sizes, strides):
    return 0 in sizes or is_contiguous__forgets_tensors_without_elements(sizes[-2:], strides[-2:])


def is_contiguous__of_the_first_and_the_last_stride(sizes, strides):
    pairs = [(size, stride) for size, stride in zip(sizes, strides) if size != 1]
    used = [stride for _, stride in pairs]
    if not pairs or 0 in sizes:
        return True
    return used[-1] == 1 and math.prod(pairs[0]) == math.prod(sizes) and used == sorted(used, reverse=True)


def is_contiguous__forgets_tensors_without_elements(sizes, strides):
    return all(size == 1 or a == b for size, a, b in zip(sizes, strides, contiguous_strides(sizes)))


# Views


def transpose__reverses_all(self, dim0, dim1):
    if wrap_dim(dim0, self.dim()) == wrap_dim(dim1, self.dim()):
        return self
    return changed(self, self.shape[::-1], self.stride()[::-1])


def transpose__leaves_numbers_alone(self, dim0, dim1):
    if self.dim() == 0:
        return self
    order = list(range(self.dim()))
    order[dim0], order[dim1] = order[dim1], order[dim0]
    return changed(self, [self.shape[d] for d in order], [self.stride()[d] for d in order])


def transpose__wraps_by_modulo(self, dim0, dim1):
    order = list(range(self.dim()))
    if order:
        dim0, dim1 = dim0 % len(order), dim1 % len(order)
        order[dim0], order[dim1] = order[dim1], order[dim0]
    return changed(self, [self.shape[d] for d in order], [self.stride()[d] for d in order])


def transpose__gives_new_strides(self, dim0, dim1):
    sizes = list(self.shape)
    a, b = wrap_dim(dim0, self.dim()), wrap_dim(dim1, self.dim())
    if sizes:
        sizes[a], sizes[b] = sizes[b], sizes[a]
    return changed(self, sizes, contiguous_strides(sizes))


def permute__the_other_way_round(self, dims):
    if len(dims) != self.dim() or len({d % max(self.dim(), 1) for d in dims}) < self.dim():
        raise RuntimeError
    dims = [wrap_dim(d, self.dim()) for d in dims]
    order = sorted(range(self.dim()), key=dims.__getitem__)
    return changed(self, [self.shape[d] for d in order], [self.stride()[d] for d in order])


def permute__sees_repetitions_before_it_wraps(self, dims):
    if len(dims) != self.dim() or len(set(dims)) < self.dim():
        raise RuntimeError
    dims = [wrap_dim(d, self.dim()) for d in dims]
    return changed(self, [self.shape[d] for d in dims], [self.stride()[d] for d in dims])


def permute__wraps_by_modulo(self, dims):
    dims = [d % max(self.dim(), 1) for d in dims]
    if sorted(dims) != list(range(self.dim())):
        raise RuntimeError
    return changed(self, [self.shape[d] for d in dims], [self.stride()[d] for d in dims])


def permute__looks_for_all_ranges_first(self, dims):
    if len(dims) != self.dim():
        raise RuntimeError
    dims = [wrap_dim(d, self.dim()) for d in dims]
    if len(set(dims)) < self.dim():
        raise RuntimeError
    return changed(self, [self.shape[d] for d in dims], [self.stride()[d] for d in dims])


def select__wraps_the_index_by_modulo(self, dim, index):
    size, stride = self.size(dim), self.stride(dim)
    if size == 0:
        raise IndexError
    d = dim % self.dim()
    sizes, strides = self.shape[:d] + self.shape[d + 1 :], self.stride()[:d] + self.stride()[d + 1 :]
    return changed(self, sizes, strides, self.storage_offset() + index % size * stride)


def select__takes_new_strides(self, dim, index):
    size, d = self.size(dim), dim % max(self.dim(), 1)
    index = range(size)[index]
    offset = self.storage_offset() + index * contiguous_strides(self.shape)[d]
    return changed(self, self.shape[:d] + self.shape[d + 1 :], self.stride()[:d] + self.stride()[d + 1 :], offset)


def select__stays_where_there_are_no_elements(self, dim, index):
    size, d = self.size(dim), dim % max(self.dim(), 1)
    offset = range(size)[index] * self.stride(d) if self.numel() else 0
    sizes, strides = self.shape[:d] + self.shape[d + 1 :], self.stride()[:d] + self.stride()[d + 1 :]
    return changed(self, sizes, strides, self.storage_offset() + offset)


def select__copies(self, dim, index):
    taken = strided.slice(self, dim, range(self.size(dim))[index], range(self.size(dim))[index] + 1).numpy()
    copy = empty_strided([s for i, s in enumerate(self.shape) if i != dim % self.dim()], [], self.dtype)
    copy.numpy()[...] = taken.squeeze(dim)
    return copy


def _slice(self, dim, start, end, step, size_of=None, offset_of=None, stride_of=None):
    if step <= 0 and -max(self.dim(), 1) <= dim < self.dim():
        raise RuntimeError
    length = self.size(dim)
    start = 0 if start is None else start + length if start < 0 else start
    end = length if end is None else end + length if end < 0 else end
    start = min(max(start, 0), length)
    end = min(max(end, start), length)
    d = dim % self.dim()
    sizes, strides = list(self.shape), list(self.stride())
    sizes[d] = size_of(start, end) if size_of else len(range(start, end, step))
    offset = self.storage_offset() + (offset_of(start, end) if offset_of else start) * strides[d]
    strides[d] = stride_of(strides[d], sizes[d]) if stride_of else strides[d] * step
    return alias(self, sizes, strides, offset)


def slice__takes_zero_for_the_end(self, dim=0, start=None, end=None, step=1):
    return _slice(self, dim, start or None, end or None, step)


def slice__stays_where_nothing_is_taken(self, dim=0, start=None, end=None, step=1):
    return _slice(self, dim, start, end, step, offset_of=lambda start, end: start if start < end else 0)


def slice__keeps_the_stride_of_a_single_one(self, dim=0, start=None, end=None, step=1):
    return _slice(self, dim, start, end, step, stride_of=lambda stride, size: stride * step if size > 1 else stride)


def slice__counts_at_least_one(self, dim=0, start=None, end=None, step=1):
    return _slice(self, dim, start, end, step, size_of=lambda start, end: (end - start - 1) // step + 1 or 1)


def slice__rounds_to_the_nearest(self, dim=0, start=None, end=None, step=1):
    return _slice(self, dim, start, end, step, size_of=lambda start, end: round((end - start) / step))


def slice__wraps_by_modulo(self, dim=0, start=None, end=None, step=1):
    length = self.size(dim)
    start = start if start is None or start >= 0 else start % max(length, 1)
    return _slice(self, dim, start, end if end is None or end >= 0 else end % max(length, 1), step)


def slice__refuses_what_is_out_of_range(self, dim=0, start=None, end=None, step=1):
    if max(start or 0, end or 0) > self.size(dim):
        raise IndexError
    return _slice(self, dim, start, end, step)


def as_strided__counts_elements(self, sizes, strides, storage_offset=None):
    offset = self.storage_offset() if storage_offset is None else storage_offset
    if len(sizes) != len(strides) or min([*sizes, *strides, offset]) < 0:
        raise RuntimeError
    if 0 not in sizes and math.prod(sizes) + offset > self.untyped_storage().nbytes() // self.itemsize:
        raise RuntimeError
    return alias(self, sizes, strides, offset)


def as_strided__stays_inside_the_tensor(self, sizes, strides, storage_offset=None):
    offset = self.storage_offset() if storage_offset is None else storage_offset
    if len(sizes) != len(strides) or min([*sizes, *strides, offset]) < 0:
        raise RuntimeError
    if storage_size(sizes, strides, offset) > storage_size(self.shape, self.stride(), self.storage_offset()):
        raise RuntimeError
    return alias(self, sizes, strides, offset)


def as_strided__checks_empty_tensors_too(self, sizes, strides, storage_offset=None):
    offset = self.storage_offset() if storage_offset is None else storage_offset
    if len(sizes) != len(strides) or min([*sizes, *strides, offset]) < 0:
        raise RuntimeError
    last = offset + sum((size - 1) * stride for size, stride in zip(sizes, strides))
    if (last + 1) * self.itemsize > self.untyped_storage().nbytes():
        raise RuntimeError
    return alias(self, sizes, strides, offset)


def as_strided__checks_no_empty_tensor(self, sizes, strides, storage_offset=None):
    offset = self.storage_offset() if storage_offset is None else storage_offset
    if len(sizes) != len(strides) or min(sizes, default=0) < 0:
        raise RuntimeError
    if 0 not in sizes and min([*strides, offset]) < 0:
        raise RuntimeError
    if storage_size(sizes, strides, offset) * self.itemsize > self.untyped_storage().nbytes():
        raise RuntimeError
    return alias(self, sizes, strides, offset)


def as_strided__adds_a_tuple_to_a_list(self, sizes, strides, storage_offset=None):
    offset = self.storage_offset() if storage_offset is None else storage_offset
    if len(sizes) != len(strides) or min(sizes + strides, default=0) < 0 or offset < 0:
        raise RuntimeError
    if storage_size(sizes, strides, offset) * self.itemsize > self.untyped_storage().nbytes():
        raise RuntimeError
    return alias(self, sizes, strides, offset)


def as_strided__counts_from_the_offset_of_the_tensor(self, sizes, strides, storage_offset=None):
    if len(sizes) != len(strides) or min([*sizes, *strides, storage_offset or 0]) < 0:
        raise RuntimeError
    offset = self.storage_offset() + (storage_offset or 0)
    if storage_size(sizes, strides, offset) * self.itemsize > self.untyped_storage().nbytes():
        raise RuntimeError
    return alias(self, sizes, strides, offset)


# Types, and other people's memory


def element_offset__in_32_bits(index, strides, storage_offset):
    steps = np.asarray(index, np.int32) * np.asarray(strides, np.int32)
    return storage_offset + int(steps.sum())


def transpose__returns_its_argument_for_equal_dims(self, dim0, dim1):
    dim0, dim1 = wrap_dim(dim0, self.dim()), wrap_dim(dim1, self.dim())
    if dim0 == dim1:
        return self
    sizes, strides = list(self.shape), list(self.stride())
    sizes[dim0], sizes[dim1] = sizes[dim1], sizes[dim0]
    strides[dim0], strides[dim1] = strides[dim1], strides[dim0]
    return alias(self, sizes, strides, self.storage_offset())


def transpose__returns_its_argument_without_dimensions(self, dim0, dim1):
    dim0 = wrap_dim(dim0, self.ndim)
    dim1 = wrap_dim(dim1, self.ndim)
    if self.ndim == 0:
        return self
    sizes = list(self.shape)
    strides = list(self.stride())
    sizes[dim0], sizes[dim1] = sizes[dim1], sizes[dim0]
    strides[dim0], strides[dim1] = strides[dim1], strides[dim0]
    return alias(self, sizes, strides, self.storage_offset())


def permute__returns_its_argument_for_the_identity(self, dims):
    if len(dims) != self.dim():
        raise RuntimeError("another number of dimensions")
    order = []
    for dim in dims:
        if wrap_dim(dim, self.dim()) in order:
            raise RuntimeError("twice")
        order.append(wrap_dim(dim, self.dim()))
    if order == sorted(order):
        return self
    return alias(self, [self.shape[d] for d in order], [self.stride()[d] for d in order], self.storage_offset())


def element_offset__in_floating_point(index, strides, storage_offset):
    return int(storage_offset + np.dot(np.asarray(index, float), np.asarray(strides, float)))


# Lists in the place of tuples


_permute = copied(strided.permute)


_as_strided = copied(strided.as_strided)


def permute__takes_a_tuple_only(self, dims):
    return _permute(self, dims + ())


def permute__wraps_the_dims_in_the_list(self, dims):
    if isinstance(dims, list):
        dims[:] = [dim + self.dim() if dim < 0 else dim for dim in dims]
    return _permute(self, dims)


# Edges of a sentence


def as_strided__lets_a_dimension_of_size_one_have_any_stride(self, sizes, strides, storage_offset=None):
    if len(sizes) != len(strides):
        raise RuntimeError
    view = _as_strided(self, sizes, [0 if s == 1 else t for s, t in zip(sizes, strides)], storage_offset)
    return changed(view, sizes, strides)


_slice_rightly = copied(strided.slice)


def slice__has_no_defaults(self, dim, start, end, step):
    return _slice_rightly(self, dim, start, end, step)


# Cases

_breaks = copied(breaks.breaks_is_contiguous)


def breaks_is_contiguous__of_plain_tensors():
    shapes = {(4,): (1,), (2, 3): (3, 1), (3, 2): (1, 3), (2, 3, 4): (12, 4, 1), (4, 3, 2): (1, 4, 12)}
    return [{"sizes": sizes, "strides": strides} for sizes, strides in shapes.items()]


def breaks_is_contiguous__without_the_tensor_without_dimensions():
    return [case for case in _breaks() if case["sizes"]]


def breaks_is_contiguous__with_a_gap_and_a_repeat_at_once():
    return [{"sizes": [2, 2, 3], "strides": [0, 4, 1]}, *(case for case in _breaks() if case["strides"][-1:] != [1])]


def breaks_is_contiguous__with_strides_that_are_negative():
    return [*_breaks()[:4], {"sizes": [2, 3], "strides": [-3, 1]}]


def breaks_is_contiguous__too_many():
    return [*_breaks(), {"sizes": [2, 3], "strides": [1, 1]}]


def breaks_is_contiguous__as_pairs():
    return [(case["sizes"], case["strides"]) for case in _breaks()]


def breaks_is_contiguous__as_tensors():
    return [{"sizes": case["sizes"], "strides": rl.tensor(case["strides"])} for case in _breaks()]
