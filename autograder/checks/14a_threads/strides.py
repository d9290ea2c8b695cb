"""Lab 14a, operands of any strides: whether 32-bit integers can index them, and a kernel that adds them."""

from __future__ import annotations

import math

import numpy as np

from ...engine.check import program
from ..cases import drawing, first_of, lists_too, rows, when
from ..shared_14 import (
    BLOCKS,
    UNWRITTEN,
    about_kernels,
    arrays_of,
    asked,
    grid_of,
    inputs_of,
    needs,
    ran,
    threads_of,
    wanted,
)


@drawing
def _large_loops(draw, st):
    sizes = [1 << draw(st.integers(0, 16)) for _ in range(draw(st.integers(1, 3)))]
    strides = st.lists(
        st.sampled_from([0, 1, 2, 4, 2**10, 2**15 - 1, 2**20, 2**31]), min_size=len(sizes), max_size=len(sizes)
    )
    return {"sizes": sizes, "operand_strides": draw(st.lists(strides, min_size=1, max_size=3))}


@program(
    "aten.native.cuda.loops.can_use_32bit_indexing",
    cases=_large_loops,
    edges=rows(
        "sizes operand_strides",
        ([8], [[4]]), ([2**31 - 1], [[0]]), ([2**31], [[0]]), ([2**16, 2**15], [[0, 0]]), ([2**16, 2**15], []),
        ([2**31 - 1], [[1]]), ([2], [[2**31 - 2]]), ([2], [[2**31 - 1]]), ([2**29], [[4]]), ([2**29 - 1], [[4]]),
        ([3, 2], [[2**29, 2**30 - 2]]), ([3, 2], [[2**29, 2**30 - 1]]), ([2], [[4], [2**31]]), ([2], [[2**31], [4]]),
        ([1], [[2**40]]), ([], [[], []]), ([2**10, 2**10], [[4, 2**12], [2**20, 0], [0, 2**22]]), ([1, 2], [[2**33, 4]]),
        ([2**20], [[2**11]]), ([2, 2], [[2**30, 2**30 - 1], [4, 8]]), ([2**28], [[4], [4], [4]]),
    ),
    hint=first_of(
        when(lambda case: math.prod(case["sizes"]) >= 2**31, "the number of elements counts too, wherever they are in memory"),
        when(
            lambda case: math.prod(case["sizes"]) == 2**31 - 1,
            "the largest 32-bit integer is 2 ** 31 - 1, and so many elements are allowed",
        ),
        when(
            lambda case: [0 <= reach_of(case["sizes"], of) - 2**31 <= 1 for of in case["operand_strides"]] == [True],
            "the largest 32-bit integer is 2 ** 31 - 1, and one more than the distance must not be above it",
        ),
        when(
            lambda case: any(reach_of(case["sizes"], of) >= 2**31 for of in case["operand_strides"]),
            "the distance from the first element to the last one is the sum of (size - 1) * stride, for each operand",
        ),
        lambda *_: "this loop is small: an operand's distance is the sum of (size - 1) * stride, and each one counts alone",
    ),
)  # fmt: skip
def indexing_by_32_bits(rl, sizes, operand_strides):
    return lists_too(rl.aten.native.cuda.loops.can_use_32bit_indexing, tuple(sizes), tuple(map(tuple, operand_strides)))


@indexing_by_32_bits.oracle
def _(torch, sizes, operand_strides):
    """A tensor of bytes has as many bytes in its storage as it is from the first byte of the operand to behind the first one of its
    last element."""
    views = [torch.empty_strided(sizes, of, dtype=torch.uint8, device="meta") for of in operand_strides]
    most = torch.iinfo(torch.int32).max
    is_small = torch.Size(sizes).numel() <= most
    return is_small and all(view.untyped_storage().nbytes() <= most for view in views)


@drawing
def _loops(draw, st):
    sizes = draw(st.lists(st.integers(1, 6), min_size=1, max_size=4))
    order = draw(st.permutations(range(len(sizes))))
    gap = draw(st.integers(1, 2))

    def dense(dims, step):
        strides = [0] * len(sizes)
        for dim in dims:
            strides[dim], step = step, step * sizes[dim]
        return strides

    of_b = [0 if draw(st.booleans()) else stride for stride in dense(range(len(sizes)), 1)]
    strides = [dense(range(len(sizes)), 1), dense(order, gap), of_b]
    return {"sizes": sizes, "strides": strides, "block": draw(st.sampled_from(BLOCKS)), "seed": draw(st.integers(0, 3))}


def reach_of(sizes, strides):
    return 1 + sum((size - 1) * stride for size, stride in zip(sizes, strides, strict=True))


def of_strides(sizes, strides, block, begins=(0, 0, 0)):
    """What is needed for a loop: thread `i` computes element `i`. Strides are in elements, and so is where each operand begins."""
    n = math.prod(sizes)
    index = (
        np.unravel_index(np.arange(n), sizes[::-1])[::-1] if sizes else ()
    )  # the last dimension of numpy's is the fastest
    offsets = [
        sum((i * stride for i, stride in zip(index, of, strict=True)), np.full(n, begin))
        for of, begin in zip(strides, begins, strict=True)
    ]
    warps = [threads[threads < n] for threads in threads_of(grid_of(n, block, 0), block)]
    stores, *loads = (asked(4 * of[warp] for warp in warps) for of in offsets)
    return needs(sum(loads), stores)


@program(
    "aten.native.cuda.loops.add_strided_source",
    cases=_loops,
    edges=rows(
        "sizes strides block seed",
        ([40], [[1], [1], [1]], 32, 0), ([40], [[1], [2], [0]], 64, 1), ([], [[], [], []], 32, 0),
        ([32, 3], [[1, 32], [1, 0], [0, 1]], 32, 0), ([8, 6], [[1, 8], [1, 8], [6, 1]], 64, 0),
        ([5, 4], [[2, 12], [3, 15], [1, 0]], 32, 2), ([4, 3, 5], [[1, 4, 12], [15, 5, 1], [0, 1, 0]], 32, 0),
        ([2, 3, 2, 3], [[1, 2, 6, 12], [18, 6, 3, 1], [0, 1, 0, 3]], 128, 1), ([1], [[5], [7], [0]], 32, 0),
        ([2, *[1] * 22, 3, 4], [[1, *[9] * 22, 2, 6], [12, *[0] * 22, 4, 1], [3, *[5] * 22, 0, 6]], 32, 3),
        ([64, 5], [[1, 64], [1, 0], [0, 3]], 128, 0), ([3, 2], [[1, 3], [9000, 1], [1, 3]], 32, 0),
    ),
    is_text=True,
    hint=about_kernels,
    draws=5,
)  # fmt: skip
def sums_of_strides(rl, sizes, strides, block, seed):
    loops, n = rl.aten.native.cuda.loops, math.prod(sizes)
    of_out, *of_inputs = [reach_of(sizes, of) for of in strides]
    *inputs, out = arrays_of(rl, *of_inputs, of_out)
    in_bytes = [[4 * stride for stride in of] for of in strides]
    loop = loops.Operands(n, tuple(sizes), in_bytes, (), ()).loop()
    text, grid = loops.add_strided_source(), grid_of(n, block, 0)
    needed = of_strides(sizes, strides, block)
    return ran(rl, text, "add_strided", grid, block, [out, *inputs, n, loop], 0, seed, needed)


@sums_of_strides.oracle
def _(torch, sizes, strides, block, seed):
    counts = [reach_of(sizes, of) for of in strides]
    out, (a, b) = torch.full((counts[0],), UNWRITTEN), inputs_of(torch, *counts[1:])
    views = [memory.as_strided(sizes, of) for memory, of in zip((out, a, b), strides, strict=True)]
    torch.add(*views[1:], out=views[0])
    return wanted(out, of_strides(sizes, strides, block))
