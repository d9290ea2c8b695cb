"""Checks of lab 03: one loop for operands of many sizes, strides and dtypes.

These exercises are arithmetic. Torch shows its own answers in the results of its operators.
"""

from contextlib import suppress
from itertools import groupby

import numpy as np

from ...engine.check import program
from ..cases import DTYPES, breaking, drawing, drawn, lists_too, no_cases, rows, tensor, when
from ..shared_03 import b8, dense, f16, f64, i32, i64, u8


def _operands(st):
    dimensioned = st.builds(lambda dtype, size: tensor([size], dtype=dtype), st.sampled_from(DTYPES), st.integers(0, 2))
    zero_dim = st.builds(lambda dtype: tensor([], dtype=dtype), st.sampled_from(DTYPES))
    number = st.sampled_from([True, False, 3, -1, 2.5, -0.5])
    return st.lists(st.one_of(dimensioned, zero_dim, number), min_size=1, max_size=4)


def _is_operand(value):
    is_one = isinstance(value, dict) and ("tensor" in value or not isinstance(value.get("numpy"), list))
    return is_one or isinstance(value, (int, float))


def _refused(case):
    if not case["operands"]:
        return "there is at least one operand"
    if len(case["operands"]) != 2 and not all(map(_is_operand, case["operands"])):
        return "torch.result_type takes two operands: where there are one or three, each is a tensor or a number"
    return None


@program(
    "c10.dtypes.result_type",
    cases=drawn(operands=_operands),
    edges=[{"operands": operands} for operands in (
        [i32([2])], [u8([])], [True], [3], [2.5], [i32([2]), 1], [i32([2]), 1.5], [i32([2]), True], [b8([2]), True],
        [b8([2]), 1], [f16([2]), 2.5], [f64([2]), 2.5], [u8([2]), i64([])], [i64([]), u8([2])], [f16([2]), f64([])],
        [u8([2]), f64([])], [i32([2]), f16([]), 2.5], [i32([2]), b8([]), 2.5], [b8([2]), u8([]), 3], [f16([]), 2.5],
        [u8([]), 3], [u8([]), 3.5], [b8([]), 3], [b8([]), False], [u8([]), i32([])], [i32([]), b8([2])],
        [f16([2]), f64([2])], [f64([2]), f16([2])], [i64([2]), f16([2]), i32([2])], [i64([2]), i32([]), f64([])],
        [3, 2.5, True], [2.5, 3], [True, 3, b8([])], [i32([0]), i64([])], [u8([0]), i32([2]), i64([]), 7],
        [2.5, f64([]), u8([2])], [2.5, i64([]), u8([2])], [i32([2]), "a"], ["a", i32([2])], [i32([2]), None],
        [i32([2]), {"numpy": 2.5}], [{"numpy": 3}, f16([])], [{"numpy": 3}, b8([2])], [1, {"numpy": [2.5]}],
        [{"numpy": [3]}, i32([2])], [i32([]), {"numpy": 1}],
    )],
    asked=[{"operands": operands} for operands in (
        [i32([2])], [2.5], [i32([2]), 1.5], [b8([2]), 1], [f16([2]), f64([])], [u8([2]), i64([])], [i64([2]), f16([2]), i32([2])],
        [3, 2.5, True], [i32([2]), "a"], [i32([2]), {"numpy": 2.5}], [1, {"numpy": [2.5]}],
    )],
    refuses=_refused,
    hint=when(
        lambda case: len(case["operands"]) > 1,
        "a 0-dimensional tensor or a number counts only if its category is higher",
    ),
)  # fmt: skip
def common_type(xp, operands):
    return xp.dtypes.result_type(*_operands_of(operands))


def _operands_of(case):
    """The operands in a case. Some numbers are numpy's, and an array of numpy is no operand."""
    return [np.asarray(value["numpy"])[()] if isinstance(value, dict) else value for value in case]


@common_type.oracle
def _(torch, operands):
    operands = _operands_of(operands)
    if len(operands) == 2:
        return torch.result_type(*operands)
    from torch._prims_common import ELEMENTWISE_TYPE_PROMOTION_KIND, elementwise_dtypes

    return elementwise_dtypes(*operands, type_promotion_kind=ELEMENTWISE_TYPE_PROMOTION_KIND.DEFAULT)[1]


@drawing
def _loops(draw, st):
    """Sizes without 0, and one or two operands' strides: those of some order of the dimensions, or any."""
    shape = draw(st.lists(st.sampled_from([1, 2, 2, 3]), max_size=5))
    operands = []
    for _ in range(draw(st.integers(1, 2))):
        if draw(st.booleans()):
            strides = dense(shape, draw(st.permutations(range(len(shape)))))
            strides = [0 if draw(st.integers(0, 4)) == 0 else stride for stride in strides]
        else:
            strides = [draw(st.sampled_from([0, 1, 2, 3, 4, 6])) for _ in shape]
        operands.append(strides)
    return {"sizes": shape, "operand_strides": operands}


def _about_order(case, mine, theirs):
    if len(case["sizes"]) > 2:
        return (
            "each dimension swaps with every slower one on its way; one that no operand can tell apart from it is passed over,"
            " and stays in its position"
        )
    if any(0 in strides for strides in case["operand_strides"]):
        return "an operand that has stride 0 in one of two dimensions does not decide their order"
    if any(len({*strides}) < len(strides) for strides in case["operand_strides"]):
        return "with equal strides, the larger size is slower only if it comes first in the order; otherwise ask the next operand"
    return None


@program(
    "c10.memory_formats.reorder_dimensions",
    cases=_loops,
    edges=rows(
        "sizes operand_strides",
        ([], [[]]), ([3], [[1]]), ([2, 3], [[3, 1]]), ([2, 3], [[1, 2]]), ([2, 3, 4], [[12, 4, 1]]),
        ([2, 3, 4], [[1, 2, 6]]), ([2, 3, 4], [[4, 8, 1]]), ([2, 3, 4], [[3, 1, 6]]), ([2, 3, 4], [[12, 1, 3]]),
        ([2, 3], [[0, 1]]), ([2, 3], [[1, 0]]), ([2, 3], [[0, 0]]), ([2, 3], [[0, 1], [1, 2]]),
        ([2, 3], [[1, 2], [3, 1]]), ([2, 3], [[3, 1], [1, 2]]), ([2, 3], [[0, 0], [1, 2]]), ([2, 3], [[1, 0], [1, 2]]),
        ([3, 2], [[1, 1]]), ([2, 3], [[1, 1]]), ([3, 2], [[1, 1], [1, 5]]), ([3, 2], [[1, 1], [5, 1]]),
        ([2, 2], [[1, 1], [1, 5]]), ([2, 2], [[1, 1], [5, 1]]), ([2, 1, 3], [[1, 1, 2]]), ([2, 1, 3], [[1, 7, 2]]),
        ([2, 3, 4], [[1, 0, 2]]), ([2, 3, 4], [[2, 0, 1]]), ([2, 3, 4], [[1, 0, 2], [0, 1, 0]]),
        ([2, 3, 4], [[1, 0, 2], [4, 8, 1]]), ([2, 3, 4], [[0, 1, 2], [1, 0, 0]]), ([2, 3, 4], [[0, 2, 1], [2, 0, 1]]),
        ([2, 3, 2, 3], [[18, 1, 9, 3]]), ([2, 3, 2, 3], [[1, 2, 6, 12]]), ([2, 3, 2, 3], [[1, 0, 0, 2]]),
        ([2, 3, 2, 3], [[1, 0, 6, 0], [0, 1, 0, 3]]), ([2, 2, 3, 1, 2], [[1, 2, 4, 5, 12]]),
        ([2, 2, 3, 2, 2], [[8, 1, 0, 4, 2], [0, 0, 1, 0, 3]]), ([3, 2, 3], [[2, 2, 1], [0, 3, 0]]),
        ([3, 2, 2], [[1, 0, 1], [3, 1, 3]]), ([1, 1, 2, 2, 1], [[2, 1, 2, 1, 0], [1, 2, 1, 6, 1]]),
        ([1, 1, 1, 2, 3], [[1, 0, 2, 1, 2], [1, 3, 0, 3, 2]]), ([2, 2, 2, 2, 2], [[0, 0, 16, 8, 1], [3, 3, 1, 4, 1]]),
        ([2, 2], [[300, 300]]),
    ),
    hint=_about_order,
)  # fmt: skip
def strides_of_a_result(xp, sizes, operand_strides):
    order = lists_too(xp.memory_formats.reorder_dimensions, sizes, operand_strides)
    return {"order": _ones_in_any_order(sizes, order), "strides of a result": dense(sizes, order)}


def _ones_in_any_order(sizes, order):
    """An order of dimensions. Those of size 1 that follow each other are a list, because a result has the same strides for any
    order of these."""
    groups = groupby(enumerate(order), lambda pair: pair[0] if sizes[pair[1]] > 1 else "size 1")
    dims = [sorted(d for _, d in group) for _, group in groups]
    return [group if len(group) > 1 else group[0] for group in dims]


@strides_of_a_result.oracle
def _(torch, sizes, operand_strides):
    # a new result has the dimensions in the order of the loop; the numbers keep torch from its fast path
    number = torch.zeros(())
    operands = [torch.empty_strided(sizes, strides) for strides in operand_strides]
    strides = torch.addcmul(*[*operands, number, number][:3]).stride()
    order = sorted(range(len(sizes)), key=lambda d: (strides[d], sizes[d] > 1))
    return {"order": _ones_in_any_order(sizes, order), "strides of a result": strides}


@drawing
def _even_loops(draw, st):
    """Sizes and strides of a loop, the innermost first. Many a dimension continues where the one before it ends."""
    shape = draw(st.lists(st.sampled_from([1, 2, 2, 3, 4]), max_size=5))
    even = [draw(st.integers(0, 3)) > 0 for _ in shape]  # for all operands, or they would hardly ever agree
    operands = []
    for _ in range(draw(st.integers(0, 3))):
        strides = [draw(st.integers(0, 3)) for _ in shape]
        for d in range(1, len(shape)):
            if even[d] and draw(st.integers(0, 5)):
                strides[d] = strides[d - 1] * shape[d - 1]
            elif draw(st.integers(0, 1)):
                strides[d] = draw(st.integers(0, 30))
        operands.append(strides)
    return {"sizes": shape, "operand_strides": operands}


def _loop(sizes, operand_strides):
    """The sizes, and the strides with "any" for a dimension of size 1: its stride is never used, and so is not compared."""
    in_use = [["any" if size == 1 else stride for size, stride in zip(sizes, strides)] for strides in operand_strides]
    return {"sizes": sizes, "strides, 'any' for a size of 1": in_use}


@program(
    "aten.iterator.coalesce_dimensions",
    cases=_even_loops,
    edges=rows(
        "sizes operand_strides",
        ([], []), ([], [[]]), ([3], [[2]]), ([3], []), ([3, 2], [[1, 3]]), ([3, 2], [[1, 4]]), ([3, 2], [[2, 6]]),
        ([3, 2], [[2, 3]]), ([3, 2], [[2, 1]]), ([3, 2], [[0, 0]]), ([3, 2], [[0, 1]]), ([3, 2], [[1, 0]]),
        ([3, 2], [[1, 3], [2, 6]]), ([3, 2], [[1, 3], [2, 5]]), ([3, 2], [[1, 4], [2, 6]]),
        ([3, 2], [[1, 3], [0, 0], [3, 9]]), ([3, 2], [[1, 3], [0, 1], [3, 9]]), ([3, 2], []), ([3, 2, 4], [[1, 3, 6]]),
        ([3, 2, 4], [[1, 3, 7]]), ([3, 2, 4], [[1, 4, 8]]), ([3, 2, 4], [[1, 4, 9]]),
        ([3, 2, 4], [[1, 3, 6], [5, 15, 31]]), ([3, 2, 4], [[1, 3, 6], [5, 16, 32]]), ([1, 3], [[7, 2]]),
        ([3, 1], [[2, 7]]), ([1, 3, 2], [[7, 2, 6], [9, 1, 3]]), ([3, 1, 2], [[2, 7, 6]]), ([3, 1, 2], [[2, 7, 5]]),
        ([1, 1, 3], [[7, 8, 2]]), ([1, 1], [[7, 8]]), ([2, 3, 1], [[1, 5, 9]]),
        ([2, 3, 1, 4], [[1, 5, 9, 15], [0, 2, 9, 6]]), ([2, 3, 4, 2, 3], [[1, 2, 7, 28, 57], [3, 6, 19, 76, 1]]),
        ([2, 1, 2, 1, 2], [[1, 9, 2, 9, 4], [4, 9, 8, 9, 16]]), ([2, 4, 2], [[1, 2, 4]]), ([2, 2, 2], [[1, 3, 6]]),
        ([300, 2], [[1, 300]]),
    ),
    asked=rows(
        "sizes operand_strides",
        ([], []), ([3], [[2]]), ([3, 2], [[1, 3]]), ([3, 2], [[1, 4]]), ([3, 2], [[0, 0]]), ([3, 2], [[1, 3], [2, 5]]),
        ([3, 2, 4], [[1, 3, 6]]), ([1, 3], [[7, 2]]), ([3, 1, 2], [[2, 7, 6]]), ([3, 1, 2], [[2, 7, 5]]),
    ),
    hint=lambda case, mine, theirs: (
        "a dimension of size 1 joins whatever its stride is, and leaves its stride to the next one that joins"
        if 1 in case["sizes"]
        else "every operand must continue, or two dimensions stay apart" if len(case["operand_strides"]) > 1 else None
    ),
)  # fmt: skip
def joined(xp, sizes, operand_strides):
    sizes, strides = lists_too(xp.iterator.coalesce_dimensions, sizes, operand_strides)
    return _loop(sizes, strides)


@joined.oracle
def _(torch, sizes, operand_strides):
    return _joined_in_torch(torch, sizes, operand_strides)


def _joined_in_torch(torch, sizes, operand_strides, device="cpu"):
    # two dimensions are one if torch has a view of every operand with the two flattened; in torch the innermost is last
    views = [torch.empty_strided(sizes[::-1], strides[::-1], device=device) for strides in operand_strides]
    sizes = list(sizes[::-1])
    for d in reversed(range(1, len(sizes))):
        flat = [*sizes[: d - 1], sizes[d - 1] * sizes[d], *sizes[d + 1 :]]
        with suppress(RuntimeError):
            views, sizes = [view.view(flat) for view in views], flat
    sizes, strides = sizes[::-1], [view.stride()[::-1] for view in views]
    return _loop(sizes, strides)


# Cases of a student --------------------------------------------------------------------------------------------------

BREAKS, BODIES = "course.breaks.breaks_coalesce_dimensions", "03a.coalesce_dimensions"


@program(f"{BREAKS}.half", cases=no_cases, edges=[{}], examine=breaking(BODIES, "1/2"))
def breaks_half(xp):
    return xp.breaks.breaks_coalesce_dimensions()


@program(BREAKS, cases=no_cases, edges=[{}], examine=breaking(BODIES, "1"))
def breaks_coalesce_dimensions(xp, **case):
    """The cases, or the loop that `coalesce_dimensions` makes of one of them."""
    if not case:
        return xp.breaks.breaks_coalesce_dimensions()
    sizes, strides = lists_too(xp.iterator.coalesce_dimensions, case["sizes"], case["operand_strides"])
    return _loop(sizes, strides)


@breaks_coalesce_dimensions.oracle
def _(torch, sizes, operand_strides):
    if not operand_strides or 0 in sizes:
        raise ValueError("a loop has an operand, and no size of 0")
    return _joined_in_torch(torch, sizes, operand_strides, "meta")
