"""Correct answers to lab 01b in other styles than the reference's: every check must accept them.

A function's name is its exercise's, two underscores, and the style.
"""

import itertools
import math
from collections import deque

import numpy as np

from rushlight.aten.dlpack import DTYPES
from rushlight.aten.strided import (
    Tensor,
    alias,
    clone,
    compute_stride,
    contiguous_format,
    contiguous_strides,
    infer_view_size,
)
from rushlight.course import predictions

from ..shared import OwnRuntimeError, copied

# Broadcasting


def infer_size__with_zip_longest(a, b):
    def one(x, y):
        if 1 in (x, y):
            return x * y
        if x != y:
            raise OwnRuntimeError(f"{x} and {y}")
        return x

    return [one(x, y) for x, y in itertools.zip_longest(a[::-1], b[::-1], fillvalue=1)][::-1]


def infer_size__with_numpy(a, b):
    try:
        return np.broadcast_shapes(tuple(a), tuple(b))
    except ValueError as error:
        raise RuntimeError(str(error)) from None


def infer_size__by_recursion(a, b):
    if len(a) < len(b):
        a, b = b, a
    if not b:
        return tuple(a)
    *front_a, x = a
    *front_b, y = b
    if x == 1 or y == 1 or x == y:
        return infer_size__by_recursion(front_a, front_b) + (y if x == 1 else x,)
    raise RuntimeError


def expand__from_the_back(self, sizes):
    wanted = deque(sizes)
    have = list(zip(self.shape, self.stride()))
    new_sizes, new_strides = deque(), deque()
    while have:
        if not wanted:
            raise OwnRuntimeError("too few sizes")
        size, (old_size, old_stride) = wanted.pop(), have.pop()
        if size in (-1, old_size):
            size, stride = old_size, old_stride
        elif old_size == 1 and size >= 0:
            stride = 0
        else:
            raise OwnRuntimeError(f"{old_size} does not expand to {size}")
        new_sizes.appendleft(size)
        new_strides.appendleft(stride)
    while wanted:
        size = wanted.pop()
        if size < 0:
            raise OwnRuntimeError("a new dimension needs a size")
        stride = new_sizes[0] * new_strides[0] if size == 1 and new_sizes else 0
        new_sizes.appendleft(size)
        new_strides.appendleft(stride)
    return alias(self, new_sizes, new_strides, self.storage_offset())


def expand__by_unsqueezing_first(self, sizes):
    front = len(sizes) - self.dim()
    if front < 0 or -1 in sizes[:front]:
        raise RuntimeError("sizes")
    olds = [(1, None)] * front + list(zip(self.shape, self.stride()))
    news = []
    for size, (old, stride) in reversed(list(zip(sizes, olds))):
        size = old if size == -1 else size
        if size < 0 or (size != old and old != 1):
            raise RuntimeError("size")
        if stride is None:
            stride = news[-1][0] * news[-1][1] if news else 0
        news += [(size, stride * (size == old))]
    news.reverse()
    return alias(self, [size for size, _ in news], [stride for _, stride in news], self.storage_offset())


# Other sizes for the same elements


def compute_stride__as_pytorch_does_it(old_sizes, old_strides, new_sizes):
    if math.prod(old_sizes) == 0:
        return old_strides if tuple(old_sizes) == tuple(new_sizes) else contiguous_strides(new_sizes)
    if len(old_sizes) == 0:
        return (1,) * len(new_sizes)
    new_strides = [None] * len(new_sizes)
    view_d, base, tensor_numel, view_numel = len(new_sizes) - 1, old_strides[-1], 1, 1
    for d in range(len(old_sizes) - 1, -1, -1):
        tensor_numel *= old_sizes[d]
        if d == 0 or (old_sizes[d - 1] != 1 and old_strides[d - 1] != tensor_numel * base):
            while view_d >= 0 and (view_numel < tensor_numel or new_sizes[view_d] == 1):
                new_strides[view_d] = view_numel * base
                view_numel *= new_sizes[view_d]
                view_d -= 1
            if view_numel != tensor_numel:
                return None
            if d > 0:
                base, tensor_numel, view_numel = old_strides[d - 1], 1, 1
    return None if view_d != -1 else new_strides


def compute_stride__by_recursion(old_sizes, old_strides, new_sizes):
    def chunks(dims):
        if not dims:
            return []
        (size, stride), *rest = dims
        count = size
        while rest and (rest[0][0] == 1 or rest[0][1] == count * stride):
            count *= rest.pop(0)[0]
        return [(count, stride), *chunks(rest)]

    def deal(chunks, sizes, filled):
        if not chunks:
            return []
        (count, stride), *others = chunks
        if sizes and (filled < count or sizes[0] == 1):
            rest = deal(chunks, sizes[1:], filled * sizes[0])
            return None if rest is None else [filled * stride, *rest]
        return deal(others, sizes, 1) if filled == count else None

    if 0 in old_sizes:
        return old_strides if list(old_sizes) == list(new_sizes) else contiguous_strides(new_sizes)
    olds = list(zip(old_sizes, old_strides))[::-1] or [(1, 1)]
    strides = deal(chunks(olds), list(new_sizes)[::-1], 1)
    return None if strides is None else strides[::-1]


def reshape__by_trying_the_view(self, shape):
    try:
        return self.view(*infer_view_size(shape, self.numel()) or [()])
    except RuntimeError as error:
        if "not compatible" not in str(error):
            raise
    return self.contiguous().view(shape)


def reshape__through_numpy(self, shape):
    sizes = infer_view_size(tuple(shape), self.numel())
    strides = compute_stride(self.shape, self.stride(), sizes)
    if strides is None:
        self = clone(self, memory_format=contiguous_format)
        strides = contiguous_strides(sizes)
    return Tensor(self.untyped_storage(), sizes, strides, self.storage_offset(), self.dtype)


# Predictions

_view_or_copy = copied(predictions.view_or_copy)


def view_or_copy__with_a_second_draw():
    return _view_or_copy() | {
        "e": [[2, 2], [0, 2], 2, "view"],
        "f": [[3], [6], 7, "view"],
        "g": [[4], [4], 1, "copy"],
        "h": [[2, 2, 2], [8, 4, 2], 1, "copy"],
    }


def view_or_copy__in_tuples():
    right = _view_or_copy()
    return {"name": "Ada"} | {key: tuple(map(_tupled, right[key])) for key in "dcba"}


def _tupled(part):
    return tuple(part) if isinstance(part, list) else part


# Other people's memory


def layout__with_slices_of_pointers(dl_tensor):
    kind = dl_tensor.dtype
    try:
        dtype = {key + (1,): each for key, each in DTYPES.items()}[kind.code, kind.bits, kind.lanes]
    except KeyError:
        raise BufferError("no such type") from None
    sizes = dl_tensor.shape[: dl_tensor.ndim]
    strides = dl_tensor.strides[: dl_tensor.ndim] if dl_tensor.strides else contiguous_strides(sizes)
    return [sizes, strides, dl_tensor.byte_offset * 8 // kind.bits, dtype]


def layout__with_a_generator(dl_tensor):
    def ints(pointer):
        for i in range(dl_tensor.ndim):
            yield pointer[i]

    dtype = DTYPES.get((dl_tensor.dtype.code, dl_tensor.dtype.bits))
    if dtype is None or dl_tensor.dtype.lanes != 1:
        raise BufferError
    offset, rest = divmod(dl_tensor.byte_offset, dtype.itemsize)
    assert rest == 0
    sizes = tuple(ints(dl_tensor.shape))
    return sizes, tuple(ints(dl_tensor.strides)) if dl_tensor.strides else contiguous_strides(sizes), offset, dtype


# The answers of somebody who had not seen the reference, where they differ from it


def infer_size__of_a_first_student(a, b):
    result = []
    for s, t in itertools.zip_longest(reversed(a), reversed(b), fillvalue=1):
        if s != t and s != 1 and t != 1:
            raise RuntimeError(f"sizes {s} and {t} do not match")
        result.append(t if s == 1 else s)
    return tuple(reversed(result))


def expand__of_a_first_student(self, sizes):
    new = len(sizes) - self.ndim
    if new < 0:
        raise RuntimeError("expand: fewer sizes than dimensions")
    out_sizes, out_strides = [], []
    for i in reversed(range(len(sizes))):
        size = sizes[i]
        if i >= new:
            old_size, old_stride = self.shape[i - new], self.stride()[i - new]
            if size == -1:
                size = old_size
            if size == old_size:
                stride = old_stride
            elif old_size == 1:
                stride = 0
            else:
                raise RuntimeError(f"expand: {size} does not match the size {old_size}")
        elif size == 1:
            stride = out_sizes[0] * out_strides[0] if out_sizes else 0
        else:
            stride = 0
        if size < 0:
            raise RuntimeError(f"expand: negative size {size}")
        out_sizes.insert(0, size)
        out_strides.insert(0, stride)
    return alias(self, out_sizes, out_strides, self.storage_offset())


def compute_stride__of_a_first_student(old_sizes, old_strides, new_sizes):
    if 0 in old_sizes:
        if tuple(new_sizes) == tuple(old_sizes):
            return tuple(old_strides)
        return contiguous_strides(new_sizes)
    if len(old_sizes) == 0:
        return (1,) * len(new_sizes)
    chunks = []  # [elements, stride], the last dimension's first
    for size, stride in zip(reversed(old_sizes), reversed(old_strides)):
        if chunks and (size == 1 or stride == chunks[-1][0] * chunks[-1][1]):
            chunks[-1][0] *= size
        else:
            chunks.append([size, stride])
    result = []
    chunk, filled = 0, 1
    for size in reversed(new_sizes):
        elements, step = chunks[chunk]
        if filled == elements and size != 1:
            chunk, filled = chunk + 1, 1
            elements, step = chunks[chunk]
        result.append(filled * step)
        filled *= size
        if elements % filled != 0:
            return None
    return tuple(reversed(result))


def layout__of_a_first_student(dl_tensor):
    sizes = tuple(dl_tensor.shape[i] for i in range(dl_tensor.ndim))
    strides = (
        tuple(dl_tensor.strides[i] for i in range(dl_tensor.ndim)) if dl_tensor.strides else contiguous_strides(sizes)
    )
    key = (dl_tensor.dtype.code, dl_tensor.dtype.bits)
    if key not in DTYPES or dl_tensor.dtype.lanes != 1:
        raise BufferError("no such dtype")
    dtype = DTYPES[key]
    return sizes, strides, dl_tensor.byte_offset // dtype.itemsize, dtype


# Cases


def breaks_has_internal_overlap__as_a_table():
    table = """
        0 4     | 1 0
        3 1     | 5 0
        2       | 3
        1 2 2   | 1 0 0
        9 2 1 2 | 0 6 2 2
    """
    rows = [[[*map(int, half.split())] for half in row.split("|")] for row in table.strip().splitlines()]
    return [{"sizes": sizes, "strides": strides} for sizes, strides in rows]


def breaks_has_internal_overlap__of_five_dimensions():
    shapes = {(3, 0, 2): (0, 1, 0), (1, 1, 4): (0, 0, 3), (2, 3, 2): (9, 3, 2), (3, 2, 2, 1, 2): (4, 0, 0, 9, 2)}
    return tuple({"sizes": sizes, "strides": strides} for sizes, strides in shapes.items())
