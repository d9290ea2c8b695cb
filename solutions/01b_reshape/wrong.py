"""Wrong answers to lab 01b that a student might well give and that no mutant of the reference is: each fails on an edge.

A function's name is its exercise's, two underscores, and what is wrong.
"""

import itertools
import math

import numpy as np

import rushlight
from rushlight.aten import dlpack, strided
from rushlight.aten.dlpack import DTYPES
from rushlight.aten.strided import (
    alias,
    compute_stride,
    contiguous_strides,
    empty_strided,
    infer_view_size,
    is_contiguous,
)
from rushlight.c10.dtypes import float16, float32, int64, uint8
from rushlight.course import breaks, predictions

from ..shared import changed, copied, edited

# Broadcasting


def infer_size__takes_the_larger(a, b):
    pairs = list(itertools.zip_longest(reversed(a), reversed(b), fillvalue=1))
    if any(x != y and 1 not in (x, y) for x, y in pairs):
        raise RuntimeError
    return tuple(max(pair) for pair in reversed(pairs))


def infer_size__lines_up_at_the_front(a, b):
    pairs = list(itertools.zip_longest(a, b, fillvalue=1))
    if any(x != y and 1 not in (x, y) for x, y in pairs):
        raise RuntimeError
    return tuple(y if x == 1 else x for x, y in pairs)


def infer_size__lets_zero_win(a, b):
    pairs = list(itertools.zip_longest(reversed(a), reversed(b), fillvalue=1))
    if any(x != y and min(x, y) > 1 for x, y in pairs):
        raise RuntimeError
    return tuple(x * y if min(x, y) <= 1 else x for x, y in reversed(pairs))


def infer_size__with_the_error_of_numpy(a, b):
    return np.broadcast_shapes(tuple(a), tuple(b))


def infer_size__of_three_dimensions_at_most(a, b):
    ndim = min(max(len(a), len(b)), 3)
    a, b = ([1, 1, 1, *sizes][3 + len(sizes) - ndim :] for sizes in (a, b))
    if any(x != y and 1 not in (x, y) for x, y in zip(a, b)):
        raise RuntimeError
    return tuple(y if x == 1 else x for x, y in zip(a, b))


def _expand(self, sizes, stride_of, keep=lambda size, old: size == old):
    front = len(sizes) - self.dim()
    if front < 0:
        raise RuntimeError
    new = []
    for i in reversed(range(len(sizes))):
        old, stride = (self.size(i - front), self.stride(i - front)) if i >= front else (1, stride_of(new))
        size = old if sizes[i] == -1 and i >= front else sizes[i]
        if size < 0 or old not in (1, size):
            raise RuntimeError
        new.insert(0, (size, stride if keep(size, old) else 0))
    return changed(self, [size for size, _ in new], [stride for _, stride in new])


def expand__gives_every_new_dimension_zero(self, sizes):
    return _expand(self, sizes, lambda new: 0)


def expand__gives_a_new_one_at_the_end_one(self, sizes):
    return _expand(self, sizes, lambda new: new[0][0] * new[0][1] if new else 1)


def expand__takes_the_number_of_elements(self, sizes):
    return _expand(self, sizes, lambda new: math.prod(size for size, _ in new))


def expand__looks_past_repeated_dimensions(self, sizes):
    return _expand(self, sizes, lambda new: max((size * stride for size, stride in new), default=0))


def expand__never_multiplies_by_zero(self, sizes):
    return _expand(self, sizes, lambda new: max(new[0][0], 1) * new[0][1] if new else 0)


def expand__repeats_every_one(self, sizes):
    return _expand(self, sizes, lambda new: new[0][0] * new[0][1] if new else 0, lambda s, old: s == old != 1)


def expand__of_three_dimensions_at_most(self, sizes):
    if len(sizes) > 3:
        return self
    return _expand(self, sizes, lambda new: new[0][0] * new[0][1] if new else 0)


def expand__takes_the_stride_before_it_is_repeated(self, sizes):
    first = self.size(0) * self.stride(0) if self.dim() else 0
    return _expand(self, sizes, lambda new: first if len(new) == self.dim() else new[0][0] * new[0][1])


def expand__to_nothing_from_anything(self, sizes):
    if 0 in sizes and len(sizes) == self.dim():
        return changed(self, sizes, [0] * len(sizes))
    return _expand(self, sizes, lambda new: new[0][0] * new[0][1] if new else 0)


# Other sizes for the same elements


def compute_stride__of_contiguous_tensors_only(old_sizes, old_strides, new_sizes):
    if list(old_sizes) == list(new_sizes):
        return old_strides
    return contiguous_strides(new_sizes) if is_contiguous(old_sizes, old_strides) else None


def compute_stride__of_one_even_walk_only(old_sizes, old_strides, new_sizes):
    if 0 in old_sizes or not old_sizes:
        return REFERENCE(old_sizes, old_strides, new_sizes)
    return REFERENCE([math.prod(old_sizes)], [old_strides[-1]], new_sizes)


def compute_stride__puts_ones_with_the_chunk_before(old_sizes, old_strides, new_sizes):
    strides = REFERENCE(old_sizes, old_strides, new_sizes)
    if strides is None or 0 in old_sizes:
        return strides
    strides = list(strides)
    for i in range(1, len(new_sizes)):
        if new_sizes[i] == 1:
            strides[i] = strides[i - 1]
    return strides


def compute_stride__starts_a_chunk_at_a_one(old_sizes, old_strides, new_sizes):
    if 0 in old_sizes or 1 not in old_sizes:
        return REFERENCE(old_sizes, old_strides, new_sizes)
    odd = [stride if size != 1 else -1 for size, stride in zip(old_sizes, old_strides)]
    cut = len(old_sizes) - 1 - old_sizes[::-1].index(1)
    back = REFERENCE(old_sizes[cut:], odd[cut:], old_sizes[cut:])
    return REFERENCE(old_sizes, old_strides, new_sizes) if list(back) == list(old_strides[cut:]) else None


def compute_stride__drops_the_ones_first(old_sizes, old_strides, new_sizes):
    if 0 in old_sizes:
        return REFERENCE(old_sizes, old_strides, new_sizes)
    kept = [(size, stride) for size, stride in zip(old_sizes, old_strides) if size != 1]
    return REFERENCE([size for size, _ in kept], [stride for _, stride in kept], new_sizes)


def compute_stride__always_new_strides_for_nothing(old_sizes, old_strides, new_sizes):
    return contiguous_strides(new_sizes) if 0 in old_sizes else REFERENCE(old_sizes, old_strides, new_sizes)


def compute_stride__forgets_ones_at_the_front(old_sizes, old_strides, new_sizes):
    ones = next((i for i, size in enumerate(new_sizes) if size != 1), 0)
    return _compute_stride(old_sizes, old_strides, new_sizes[ones:])


_compute_stride = copied(strided.compute_stride)


def compute_stride__compares_a_tuple_with_a_list(old_sizes, old_strides, new_sizes):
    if 0 in old_sizes:
        return old_strides if old_sizes == new_sizes else contiguous_strides(new_sizes)
    return REFERENCE(old_sizes, old_strides, new_sizes)


def compute_stride__as_any_other_for_nothing(old_sizes, old_strides, new_sizes):
    if 0 in old_sizes:
        return list(old_strides[: len(new_sizes)]) + [1] * (len(new_sizes) - len(old_sizes))
    return REFERENCE(old_sizes, old_strides, new_sizes)


def compute_stride__keeps_equal_sizes(old_sizes, old_strides, new_sizes):
    if list(old_sizes) == list(new_sizes):
        return old_strides
    return REFERENCE(old_sizes, old_strides, new_sizes)


def compute_stride__of_two_chunks_at_most(old_sizes, old_strides, new_sizes):
    breaks = [i for i in range(1, len(old_sizes)) if old_strides[i - 1] != old_strides[i] * old_sizes[i]]
    return REFERENCE(old_sizes, old_strides, new_sizes) if len(breaks) < 2 or 0 in old_sizes else None


def compute_stride__asks_numpy(old_sizes, old_strides, new_sizes):
    if 0 in old_sizes:
        return REFERENCE(old_sizes, old_strides, new_sizes)
    array = np.lib.stride_tricks.as_strided(np.zeros(1, np.int8), old_sizes, old_strides)
    try:
        array.shape = tuple(new_sizes)
    except AttributeError:
        return None
    return array.strides


REFERENCE = copied(compute_stride)  # what some wrong answers are right about


def reshape__copies_what_is_not_contiguous(self, shape):
    sizes = infer_view_size(shape, self.numel())
    if self.is_contiguous():
        return alias(self, sizes, contiguous_strides(sizes), self.storage_offset())
    return rushlight.clone(self, memory_format=rushlight.contiguous_format).view(sizes)


def reshape__copies_always(self, shape):
    return rushlight.clone(self, memory_format=rushlight.contiguous_format).view(shape)


def reshape__copies_through_lists(self, shape):
    try:
        return self.view(shape)
    except RuntimeError:
        sizes = infer_view_size(shape, self.numel())
        return rushlight.tensor(self.numpy().reshape(sizes).tolist())


def reshape__copies_in_the_order_of_memory(self, shape):
    try:
        return self.view(shape)
    except RuntimeError:
        sizes = infer_view_size(shape, self.numel())
        return alias(rushlight.clone(self), sizes, contiguous_strides(sizes), 0)


def reshape__returns_itself_for_equal_sizes(self, shape):
    sizes = infer_view_size(shape, self.numel())
    if sizes == self.shape:
        return self
    strides = compute_stride(self.shape, self.stride(), sizes)
    if strides is None:
        return rushlight.clone(self, memory_format=rushlight.contiguous_format).view(sizes)
    return changed(self, sizes, strides)


def reshape__keeps_the_offset_of_a_copy(self, shape):
    sizes = infer_view_size(shape, self.numel())
    strides = compute_stride(self.shape, self.stride(), sizes)
    if strides is not None:
        return changed(self, sizes, strides)
    copy = empty_strided([self.numel() + self.storage_offset()], [1], self.dtype)
    copy = alias(copy, sizes, contiguous_strides(sizes), self.storage_offset())
    copy.numpy()[...] = self.numpy().reshape(sizes)
    return copy


# Predictions

_view_or_copy = copied(predictions.view_or_copy)

view_or_copy__offset_of_the_tensor_that_was_copied = edited(
    predictions.view_or_copy, ('[1, 2, 4], 4, "copy"', '[1, 2, 4], 8, "copy"')
)
view_or_copy__never_a_copy = edited(predictions.view_or_copy, ('[[3], [4], 1, "copy"]', '[[3], [4], 1, "view"]'))
view_or_copy__for_another_name = edited(predictions.view_or_copy, ('"Ada"', '"Bob"'))


def view_or_copy__without_the_words():
    return {key: value if key == "name" else value[:3] for key, value in _view_or_copy().items()}


# Other people's memory


def layout__takes_the_offset_as_it_is(dl_tensor):
    sizes, strides, _, dtype = _layout(dl_tensor)
    return sizes, strides, dl_tensor.byte_offset, dtype


def layout__looks_at_bits_only(dl_tensor):
    sizes, strides, offset, _ = _layout(dl_tensor)
    by_bits = {8: uint8, 16: float16, 32: float32, 64: int64}
    return sizes, strides, offset, by_bits[dl_tensor.dtype.bits]


def layout__takes_one_size_of_number(dl_tensor):
    sizes, strides, _, dtype = _layout(dl_tensor)
    return sizes, strides, dl_tensor.byte_offset // 8, dtype


def layout__gives_strides_in_bytes(dl_tensor):
    sizes, strides, offset, dtype = _layout(dl_tensor)
    return sizes, [stride * dtype.itemsize for stride in strides], offset, dtype


def layout__finds_contiguous_strides_itself(dl_tensor):
    sizes, strides, offset, dtype = _layout(dl_tensor)
    if not dl_tensor.strides:
        strides = [math.prod(sizes[i + 1 :]) for i in range(len(sizes))]
    return sizes, strides, offset, dtype


def layout__asks_whether_the_pointer_is_none(dl_tensor):
    sizes, strides, offset, dtype = _layout(dl_tensor)
    if dl_tensor.strides is None:
        return sizes, strides, offset, dtype
    return sizes, dl_tensor.strides[: dl_tensor.ndim], offset, dtype


def layout__fails_where_the_type_is_looked_up(dl_tensor):
    key = dl_tensor.dtype.code, dl_tensor.dtype.bits
    return _layout(dl_tensor) if DTYPES[key] else None


def layout__takes_several_numbers_for_one(dl_tensor):
    dl_tensor.dtype.lanes = 1
    return _layout(dl_tensor)


_layout = copied(dlpack.layout)


def infer_size__changes_a_list_in_place(a, b):
    a, b = (each if isinstance(each, list) else list(each) for each in (a, b))
    while len(a) != len(b):
        min(a, b, key=len).insert(0, 1)
    if any(x != y and 1 not in (x, y) for x, y in zip(a, b)):
        raise RuntimeError("the sizes do not fit")
    return tuple(y if x == 1 else x for x, y in zip(a, b))


# Lists in the place of tuples


_expand_rightly = copied(strided.expand)
_reshape = copied(strided.reshape)


def expand__takes_a_tuple_only(self, sizes):
    return _expand_rightly(self, () + sizes)


def expand__replaces_minus_one_in_the_list(self, sizes):
    for i in range(-1, -min(len(sizes), self.dim()) - 1, -1) if isinstance(sizes, list) else ():
        sizes[i] = self.size(i) if sizes[i] == -1 else sizes[i]
    return _expand_rightly(self, sizes)


def reshape__replaces_minus_one_in_the_list(self, shape):
    if isinstance(shape, list):
        shape[:] = infer_view_size(shape, self.numel())
    return _reshape(self, shape)


# Edges of a sentence


def expand__drops_dimensions_of_size_one_at_the_front(self, sizes):
    while len(sizes) < self.dim() and self.size(0) == 1:
        self = changed(self, self.shape[1:], self.stride()[1:])
    return _expand_rightly(self, sizes)


def expand__refuses_minus_one_for_a_dimension_without_elements(self, sizes):
    if any(size == -1 and old == 0 for size, old in zip(reversed(sizes), reversed(self.shape))):
        raise RuntimeError("-1")
    return _expand_rightly(self, sizes)


def layout__counts_from_the_address_zero(dl_tensor):
    sizes, strides, offset, dtype = _layout(dl_tensor)
    return sizes, strides, (dl_tensor.data or 0) // dtype.itemsize + offset, dtype


# What each hint is for

_RESULT = "alias(self, new_sizes, new_strides, self.storage_offset())"
expand__from_the_start_of_the_memory = edited(strided.expand, ("self.storage_offset())", "0)"))
expand__in_new_memory = edited(strided.expand, (_RESULT, f"{_RESULT}.contiguous()"))
expand__of_a_copy = edited(
    strided.expand,
    (
        _RESULT,
        "alias(alias(self, [self.storage_offset() + storage_size(self.shape, self.stride())], [1], 0).clone(), "
        "new_sizes, new_strides, self.storage_offset())",
    ),
)
expand__repeats_ones_that_stay = edited(
    strided.expand,
    ("if new_sizes[i] == old_size else", "if new_sizes[i] == old_size and (i < new_dims or old_size > 1) else"),
)
expand__checks_no_negative_size = edited(
    strided.expand, ("if new_sizes[i] < 0 or old_size not in", "if old_size not in")
)
compute_stride__gives_a_0_dim_tensor_stride_0 = edited(
    strided.compute_stride, ("chunks = [] if old_sizes else [(1, 1)]", "chunks = [] if old_sizes else [(1, 0)]")
)
compute_stride__gives_the_strides_of_the_chunks = edited(strided.compute_stride, ("filled * stride", "stride"))
compute_stride__drops_a_last_one = edited(
    strided.compute_stride,
    ("chunks = [] if old_sizes else [(1, 1)]", "chunks = [(1, 1)] if 1 in [1, *old_sizes][-1:] else []"),
)
compute_stride__joins_no_one_of_stride_0 = edited(
    strided.compute_stride, ("if chunks and (size == 1 or", "if chunks and (size == 1 and stride or")
)
layout__multiplies_the_bits_by_the_lanes = edited(
    dlpack.layout, ("if lanes != 1 or (code, bits)", "bits *= lanes\n    if (code, bits)")
)


# Cases

_breaks = copied(breaks.breaks_has_internal_overlap)


def breaks_has_internal_overlap__of_the_table():
    sizes, strides = [(3, 2), (2, 3), (2, 3), (4, 3)], [(1, 3), (0, 1), (4, 1), (1, 1)]
    return [{"sizes": a, "strides": b} for a, b in zip(sizes, strides)]


def breaks_has_internal_overlap__with_a_dense_stride_of_zero():
    return [{"sizes": [1, 3], "strides": [0, 1]} if case["sizes"] == [1, 3] else case for case in _breaks()]


def breaks_has_internal_overlap__with_negative_strides():
    return [{"sizes": case["sizes"], "strides": [-stride for stride in case["strides"]]} for case in _breaks()]


def breaks_has_internal_overlap__of_large_sizes():
    return [{"sizes": [2**40 * size for size in case["sizes"]], "strides": case["strides"]} for case in _breaks()]


def breaks_has_internal_overlap__in_one_dict():
    return {"sizes": [case["sizes"] for case in _breaks()], "strides": [case["strides"] for case in _breaks()]}


def breaks_has_internal_overlap__six_of_them():
    return [*_breaks(), {"sizes": [2], "strides": [0]}]
