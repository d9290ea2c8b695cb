"""Correct answers to lab 01a in other styles than the reference's: every check must accept them.

A function's name is its exercise's, two underscores, and the style.
"""

import builtins
import itertools
import math
import operator

import numpy as np

from rushlight.aten.strided import Tensor, alias, contiguous_strides, storage_size, wrap_dim

from ..shared import OwnRuntimeError


class OutOfRange(IndexError):
    """An error of one's own, of the right type."""


# Arithmetic on sizes and strides


def contiguous_strides__by_recursion(sizes):
    if not sizes:
        return ()
    head, *tail = sizes
    if not tail:
        return (1,)
    rest = contiguous_strides__by_recursion(tail)
    return (rest[0] * (tail[0] or 1), *rest)


def contiguous_strides__with_itertools(sizes):
    steps = itertools.accumulate((size or 1 for size in reversed(sizes)), operator.mul, initial=1)
    return list(itertools.islice(steps, len(sizes)))[::-1]


def contiguous_strides__as_products_in_numpy(sizes):
    sizes = np.maximum(np.asarray(sizes, dtype=np.int64), 1)
    return tuple(np.prod(sizes[i + 1 :], dtype=np.int64) for i in range(len(sizes)))


def contiguous_strides__in_a_list_that_is_changed(sizes):
    strides = [1] * len(sizes)
    for i in range(len(sizes) - 2, -1, -1):
        strides[i] = strides[i + 1] * (sizes[i + 1] if sizes[i + 1] else 1)
    return strides


def element_offset__as_a_sum(index, strides, storage_offset):
    return storage_offset + sum(map(operator.mul, index, strides))


def element_offset__as_a_numpy_number(index, strides, storage_offset):
    return np.int64(storage_offset) + np.dot(np.array(index, dtype=np.int64), np.array(strides, dtype=np.int64))


def element_offset__by_recursion(index, strides, storage_offset):
    if len(index) == 0:
        return storage_offset
    return element_offset__by_recursion(index[1:], strides[1:], storage_offset + index[0] * strides[0])


def is_contiguous__against_new_strides(sizes, strides):
    if math.prod(sizes) == 0:
        return True
    return all(size == 1 or a == b for size, a, b in zip(sizes, strides, contiguous_strides(sizes)))


def is_contiguous__without_the_ones(sizes, strides):
    kept = [(size, stride) for size, stride in zip(sizes, strides) if size != 1]
    wanted = contiguous_strides([size for size, _ in kept])
    return 0 in sizes or [stride for _, stride in kept] == list(wanted)


def is_contiguous__by_walking(sizes, strides):
    places = [sum(map(operator.mul, at, strides)) for at in itertools.product(*map(range, sizes))]
    return np.array_equal(places, range(len(places)))


# Views


def transpose__by_an_order(self, dim0, dim1):
    order = list(range(max(self.dim(), 1)))
    a, b = wrap_dim(dim0, self.dim()), wrap_dim(dim1, self.dim())
    order[a], order[b] = b, a
    pick = operator.itemgetter
    if self.dim() == 0:
        return alias(self, (), (), self.storage_offset())
    shape = [pick(d)(self.shape) for d in order]
    return alias(self, shape, [pick(d)(self.stride()) for d in order], self.storage_offset())


def transpose__by_modulo_and_its_own_error(self, dim0, dim1):
    n = self.dim() or 1
    for dim in (dim0, dim1):
        if dim not in range(-n, n):
            raise OutOfRange(dim)
    if not self.shape:
        return alias(self, (), (), self.storage_offset())
    other = {dim0 % n: dim1 % n, dim1 % n: dim0 % n}
    dims = [(self.size(d), self.stride(d)) for d in (other.get(d, d) for d in range(n))]
    sizes, strides = zip(*dims)
    return alias(self, sizes, strides, self.storage_offset())


def permute__with_a_dict(self, dims):
    if len(dims) != self.dim():
        raise OwnRuntimeError("one for each dimension")
    picked = {}
    for dim in (wrap_dim(dim, self.dim()) for dim in dims):
        if dim in picked:
            raise OwnRuntimeError("one is there twice")
        picked[dim] = self.shape[dim], self.stride()[dim]
    sizes, strides = zip(*picked.values()) if picked else ((), ())
    return alias(self, sizes, strides, self.storage_offset())


def permute__with_numpy(self, dims):
    n = self.dim()
    if n != len(dims):
        raise RuntimeError
    for i, dim in enumerate(dims):
        if dim < -n or dim >= n:
            raise OutOfRange(dim)
        if dim % n in {other % n for other in dims[:i]}:
            raise OwnRuntimeError("twice")
    dims = np.array(dims, dtype=np.int64)
    sizes, strides = np.array(self.shape, dtype=np.int64), np.array(self.stride(), dtype=np.int64)
    return alias(self, sizes[dims], strides[dims], self.storage_offset())


def select__with_lists_cut_in_two(self, dim, index):
    size = self.size(dim)
    if index >= size or index < -size:
        raise OutOfRange(index)
    dim %= self.dim()
    sizes, strides = self.shape[:dim] + self.shape[dim + 1 :], self.stride()[:dim] + self.stride()[dim + 1 :]
    return alias(self, sizes, strides, self.storage_offset() + self.stride(dim) * (index + size * (index < 0)))


def select__by_looking_it_up_in_a_range(self, dim, index):
    place = range(self.storage_offset(), self.storage_offset() + self.size(dim))[index] - self.storage_offset()
    left = [d for d in range(self.dim()) if d != dim and d != dim + self.dim()]
    offset = self.storage_offset() + place * self.stride(dim)
    return alias(self, [self.size(d) for d in left], [self.stride(d) for d in left], offset)


def slice__with_pythons_own(self, dim=0, start=None, end=None, step=1):
    indices = range(self.size(dim))
    if step < 1:
        raise RuntimeError("slice step must be positive")
    taken = indices[start:end:step]
    sizes, strides = list(self.shape), list(self.stride())
    sizes[dim], strides[dim] = len(taken), strides[dim] * step
    return alias(self, sizes, strides, self.storage_offset() + taken.start * self.stride(dim))


def slice__with_numpy_and_a_helper(self, dim=0, start=None, end=None, step=1):
    def border(place, otherwise, low):
        place = otherwise if place is None else place
        return np.clip(place + size if place < 0 else place, low, size)

    if not self.dim():
        raise IndexError("a number cannot be sliced")
    dim = wrap_dim(dim, self.dim())
    size = self.shape[dim]
    start = border(start, 0, 0)
    end = border(end, size, start)
    if step <= 0:
        raise RuntimeError("step")
    sizes, strides = np.array(self.shape), np.array(self.stride())
    sizes[dim] = math.ceil((end - start) / step)
    offset = self.storage_offset() + start * strides[dim]
    strides[dim] *= step
    return alias(self, sizes, strides, offset)


def as_strided__by_walking(self, sizes, strides, storage_offset=None):
    offset = self.storage_offset() if storage_offset is None else storage_offset
    if len(sizes) != len(strides) or offset < 0 or any(number < 0 for number in (*sizes, *strides)):
        raise OwnRuntimeError("not sizes and strides")
    there = self.untyped_storage().nbytes() // self.element_size()
    corners = itertools.product(*(range(size) for size in sizes))
    if any(offset + sum(i * stride for i, stride in zip(at, strides)) >= there for at in corners):
        raise OwnRuntimeError("beyond the storage")
    return alias(self, sizes, strides, offset)


def as_strided__as_a_tensor_of_its_own(self, sizes, strides, storage_offset=None):
    sizes, strides = np.array(sizes, dtype=np.int64), np.array(strides, dtype=np.int64)
    if storage_offset is None:
        storage_offset = self.storage_offset()
    try:
        last = ((sizes - 1) * strides).sum() + storage_offset if sizes.all() else -1
    except ValueError:
        raise RuntimeError("as many strides as sizes") from None
    if sizes.shape != strides.shape or min(*sizes, *strides, storage_offset, 0) < 0:
        raise RuntimeError("negative, or not as many")
    if (last + 1) * self.itemsize > self.untyped_storage().nbytes():
        raise RuntimeError("too small")
    return Tensor(self.untyped_storage(), tuple(sizes), tuple(strides), storage_offset, self.dtype)


# The answers of somebody who had not seen the reference, where they differ from it


def contiguous_strides__of_a_first_student(sizes):
    strides = []
    step = 1
    for size in reversed(sizes):
        strides.insert(0, step)
        step *= max(size, 1)
    return tuple(strides)


def is_contiguous__of_a_first_student(sizes, strides):
    if 0 in sizes:
        return True
    expected = contiguous_strides(sizes)
    return all(size == 1 or stride == e for size, stride, e in zip(sizes, strides, expected))


def permute__of_a_first_student(self, dims):
    ndim = self.ndim
    if len(dims) != ndim:
        raise RuntimeError("permute: wrong number of dims")
    sizes, strides, seen = [], [], set()
    for d in dims:
        d = wrap_dim(d, ndim)
        if d in seen:
            raise RuntimeError("permute: repeated dim")
        seen.add(d)
        sizes.append(self.shape[d])
        strides.append(self.stride()[d])
    return alias(self, sizes, strides, self.storage_offset())


def select__of_a_first_student(self, dim, index):
    if self.ndim == 0:
        raise IndexError("select() cannot be applied to a 0-dim tensor.")
    dim = wrap_dim(dim, self.ndim)
    size = self.shape[dim]
    if not -size <= index < size:
        raise IndexError(f"index {index} is out of range for dimension {dim} with size {size}")
    if index < 0:
        index += size
    sizes, strides = self.shape, self.stride()
    return alias(
        self,
        sizes[:dim] + sizes[dim + 1 :],
        strides[:dim] + strides[dim + 1 :],
        self.storage_offset() + index * strides[dim],
    )


def slice__of_a_first_student(self, dim=0, start=None, end=None, step=1):
    dim = wrap_dim(dim, self.ndim)
    size = self.shape[dim]  # a 0-dim tensor has no shape[0]: IndexError
    if step <= 0:
        raise RuntimeError("slice step must be positive")
    if start is None:
        start = 0
    if end is None:
        end = size
    if start < 0:
        start += size
    if end < 0:
        end += size
    start = min(max(start, 0), size)
    end = min(max(end, start), size)
    sizes, strides = list(self.shape), list(self.stride())
    offset = self.storage_offset() + start * strides[dim]
    sizes[dim] = (end - start + step - 1) // step
    strides[dim] *= step
    return alias(self, sizes, strides, offset)


def as_strided__of_a_first_student(self, sizes, strides, storage_offset=None):
    if storage_offset is None:
        storage_offset = self.storage_offset()
    if len(sizes) != len(strides):
        raise RuntimeError("as_strided: sizes and strides differ in length")
    if storage_offset < 0 or any(n < 0 for n in sizes) or any(n < 0 for n in strides):
        raise RuntimeError("as_strided: negative")
    if storage_size(sizes, strides, storage_offset) * self.itemsize > self.untyped_storage().nbytes():
        raise RuntimeError("as_strided: out of bounds")
    return alias(self, sizes, strides, storage_offset)


def select__range(self, dim, index):
    if not self.shape:
        raise IndexError("select() needs at least one dimension")
    dim = wrap_dim(dim, self.dim())
    steps = range(0, self.size(dim) * max(self.stride(dim), 1), max(self.stride(dim), 1))
    skipped = steps[index] if self.stride(dim) else 0 * steps[index]
    sizes, strides = ([*each[:dim], *each[dim + 1 :]] for each in (tuple(self.shape), self.stride()))
    return alias(self, sizes, strides, self.storage_offset() + skipped)


def slice__indices_of_python(self, dim=0, start=None, end=None, step=1):
    if self.dim() == 0:
        raise IndexError("slice() needs at least one dimension")
    dim = wrap_dim(dim, self.dim())
    if step < 1:
        raise RuntimeError(f"slice step must be positive, not {step}")
    chosen = range(self.size(dim))[builtins.slice(start, end, step)]
    stride = self.stride(dim)
    sizes = [len(chosen) if each == dim else size for each, size in enumerate(self.shape)]
    strides = [stride * step if each == dim else old for each, old in enumerate(self.stride())]
    first = builtins.slice(start, end, step).indices(self.size(dim))[0]
    return alias(self, sizes, strides, self.storage_offset() + first * stride)


# Cases


def breaks_is_contiguous__of_three_dimensions_at_least():
    shapes = {
        (): (),
        (3, 0, 2): (1, 5, 9),
        (2, 1, 3): (9, 2, 1),
        (2, 2, 2, 2): (0, 4, 2, 1),
        (3, 2, 1, 4): (8, 4, 0, 1),
    }
    return [dict(sizes=sizes, strides=strides) for sizes, strides in shapes.items()]


def breaks_is_contiguous__as_numpy_numbers():
    ones = {"sizes": np.array([2, 1, 2, 2]).tolist(), "strides": np.array([4, 0, 2, 1])[:].tolist()}
    return [
        ones,
        {"strides": (2, 5), "sizes": (1, 0)},
        {"sizes": np.ones(0).tolist(), "strides": []},
        {"sizes": (np.int64(3), 2), "strides": (np.int64(3), 1)},
        {"sizes": [3, 2, 2], "strides": [0, 2, 1]},
    ]
