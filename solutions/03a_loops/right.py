"""Correct answers to lab 03a in other styles than the reference's: every check must accept them.

A function's name is its exercise's, two underscores, and the style.
"""

import functools
import math
from functools import reduce

import numpy as np

from rushlight.aten.iterator import assert_no_internal_overlap, assert_no_partial_overlap
from rushlight.aten.strided import Tensor, contiguous_strides
from rushlight.aten.structured import check_writable, resize_, resize_output, warn_resized
from rushlight.c10.dtypes import can_cast, promote_types, scalar_type
from rushlight.course import predictions

from ..shared import OwnRuntimeError, copied

# One loop for operands of many shapes


def result_type__with_lists_for_the_ranks(*operands):
    many = [x.dtype for x in operands if isinstance(x, Tensor) and x.dim() > 0]
    one = [x.dtype for x in operands if isinstance(x, Tensor) and x.dim() == 0]
    numbers = [scalar_type(x) for x in operands if not isinstance(x, Tensor)]
    found = [functools.reduce(promote_types, rank) for rank in (many, one, numbers) if rank]
    highest = max(each.category for each in found)
    return next(each for each in found if each.category == highest)


def result_type__by_sorting(*operands):
    def key(x):
        tensor = hasattr(x, "dim")
        dtype = x.dtype if tensor else scalar_type(x)
        return dtype.category, (2 if x.dim() else 1) if tensor else 0, dtype.itemsize

    best = max(operands, key=key)
    return best.dtype if hasattr(best, "dim") else scalar_type(best)


def reorder_dimensions__in_a_list_of_its_own(sizes, operand_strides):
    def slower(a, b):
        for strides in operand_strides:
            if 0 in (strides[a], strides[b]):
                continue
            if strides[a] < strides[b]:
                return False
            if strides[a] > strides[b] or sizes[a] > sizes[b]:
                return True
        return None

    order = []
    for dim in range(len(sizes) - 1, -1, -1):
        order.append(dim)
        at = len(order) - 1
        for place in range(at - 1, -1, -1):
            verdict = slower(order[place], order[at])
            if verdict is False:
                break
            if verdict:
                order[place], order[at] = order[at], order[place]
                at = place
    return order


def reorder_dimensions__with_numpys_signs(sizes, operand_strides):
    table = np.array(operand_strides, np.int64).reshape(len(operand_strides), len(sizes))
    order = np.arange(len(sizes))[::-1].copy()
    for i in range(1, len(order)):
        moving = i
        for other in range(i - 1, -1, -1):
            a, b = table[:, order[other]], table[:, order[moving]]
            signs = np.where((a == 0) | (b == 0), 0, np.sign(a - b))
            ties = (a == b) & (a != 0) & (sizes[order[other]] > sizes[order[moving]])
            signs = np.where(ties, 1, signs)
            telling = signs[signs != 0]
            if len(telling) and telling[0] < 0:
                break
            if len(telling):
                order[[other, moving]] = order[[moving, other]]
                moving = other
    return tuple(int(d) for d in order)


def coalesce_dimensions__in_columns(sizes, operand_strides):
    loops = []
    for size, *strides in zip(sizes, *operand_strides):
        if loops:
            before, *walked = loops[-1]
            if before == 1:
                loops[-1] = [size, *strides]
                continue
            if size == 1 or all(t == before * s for s, t in zip(walked, strides)):
                loops[-1][0] *= size
                continue
        loops.append([size, *strides])
    columns = list(zip(*loops)) if loops else [()] * (1 + len(operand_strides))
    return columns[0], columns[1:]


def coalesce_dimensions__without_the_ones_first(sizes, operand_strides):
    kept = [d for d, size in enumerate(sizes) if size != 1]
    if sizes and not kept:
        return [1], [[strides[0]] for strides in operand_strides]
    new_sizes, new_strides = [], [[] for _ in operand_strides]
    for d in kept:
        joins = new_sizes and all(s[d] == new_sizes[-1] * n[-1] for s, n in zip(operand_strides, new_strides))
        if joins:
            new_sizes[-1] = new_sizes[-1] * sizes[d]
        else:
            new_sizes.append(sizes[d])
            for strides, new in zip(operand_strides, new_strides):
                new.append(strides[d])
    return new_sizes, new_strides


# The forms of an operator


def resize_output__with_the_other_branch_first(out, sizes, strides=None):
    changes = list(out.shape) != list(sizes)
    if changes:
        if 0 not in out.shape:
            warn_resized(out, sizes)
        resize_(out, tuple(sizes), contiguous_strides(sizes) if strides is None else tuple(strides))
    return changes


def resize_output__with_a_warning_of_its_own(out, sizes, strides=None):
    import warnings

    if len(out.shape) == len(sizes) and all(a == b for a, b in zip(out.shape, sizes)):
        return False
    if math.prod(out.shape) > 0:
        warnings.warn("it had elements", UserWarning, stacklevel=2)
    resize_(out, sizes, strides)
    return True


def call_inplace__with_its_own_refusals(kernel, args):
    self, *others = args
    sizes, _, dtype = kernel.meta(*args)
    if list(sizes) != list(self.shape):
        raise OwnRuntimeError("shape")
    if dtype is not self.dtype and not (kernel.casts and can_cast(dtype, self.dtype)):
        raise OwnRuntimeError("dtype")
    assert_no_internal_overlap(self)
    for other in others:
        if isinstance(other, Tensor):
            assert_no_partial_overlap(self, other)
    if self.is_meta:
        return self
    kernel.impl(*args, self)
    return self


def call_inplace__checked_first_and_measured_later(kernel, args):
    output = kernel.meta(*args)
    check_writable(kernel, args[1:], args[0], output)
    if args[0].shape != tuple(output.sizes):
        raise OwnRuntimeError("it does not fit")
    if args[0].device.type == "cpu":
        kernel.impl(*args, args[0])
    return args[0]


def call_out__in_one_breath(kernel, args, out):
    result = kernel.meta(*args)
    check_writable(kernel, args, out, result)
    resize_output(out, result.sizes, result.strides)
    return out if out.is_meta else (kernel.impl(*args, out), out)[1]


def call_out__with_resize_itself(kernel, args, out):
    sizes, strides, dtype = wanted = kernel.meta(*args)
    check_writable(kernel, list(args), out, wanted)
    if tuple(out.shape) != tuple(sizes):
        if out.numel():
            warn_resized(out, sizes)
        resize_(out, sizes, strides)
    if out.device.type == "cpu":
        kernel.impl(*args, out)
    return out


# In C++


def reorder_dimensions__recursion(sizes, operand_strides):
    columns = list(zip(*operand_strides)) or [()] * len(sizes)

    def slower(before, after):
        for a, b in zip(columns[before], columns[after]):
            if a * b != 0 and a != b:
                return 1 if a > b else -1
            if a * b != 0 and sizes[before] > sizes[after]:
                return 1
        return 0

    def settle(order, at, other):
        if other < 0:
            return order
        found = slower(order[other], order[at])
        if found < 0:
            return order
        if found > 0:
            order[at], order[other] = order[other], order[at]
            at = other
        return settle(order, at, other - 1)

    dims = [len(sizes) - 1 - i for i in range(len(sizes))]
    return reduce(lambda order, i: settle(order, i, i - 1), range(1, len(dims)), dims)


# Cases


def breaks_coalesce_dimensions__one_thing_at_a_time():
    loops = {
        (): [()],
        (1, 2): [(5, 1), (5, 2)],
        (2, 1): [(1, 5)],
        (2, 2, 1, 2): [(1, 2, 9, 4), (0, 0, 9, 0)],
        (2, 2): [(1, 0), (1, 2)],
    }
    return [{"sizes": sizes, "operand_strides": strides} for sizes, strides in loops.items()]


def breaks_coalesce_dimensions__as_a_text():
    text = "; 3 2 1 / 1 0 5, 1 3 5; 1 3 4 / 9 2 6, 9 0 0; 4 1 2 / 3 7 12; 2 1 2 1 2 / 0 8 0 8 0, 1 0 0 0 2"
    cases = []
    for row in text.split(";"):
        sizes, _, operands = row.partition("/")
        strides = [[*map(int, operand.split())] for operand in operands.split(",")]
        cases.append({"operand_strides": strides, "sizes": [*map(int, sizes.split())]})
    return tuple(cases)


# Predictions

_metadata_of_results = copied(predictions.metadata_of_results)


def metadata_of_results__with_a_second_draw():
    return _metadata_of_results() | {
        "e": ["bool", [4, 3], [3, 1]],
        "f": ["float16", [3, 2], [2, 1]],
        "g": ["float32", [3, 4, 2], [1, 3, 12]],
        "h": ["float16", [2, 3, 4], [12, 4, 1]],
    }


def metadata_of_results__in_tuples():
    right = _metadata_of_results()
    return {"name": "Ada"} | {key: tuple(map(_tupled, right[key])) for key in "dcba"}


def _tupled(part):
    return tuple(part) if isinstance(part, list) else part
