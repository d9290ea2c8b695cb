"""Lab 14a, an element at a time: two kernels that add, their values, findings, and what they ask of memory."""

from __future__ import annotations

from ...engine.check import program
from ..cases import drawn, first_of, rows, when
from ..shared_14 import (
    BLOCKS,
    about_kernels,
    arrays_of,
    asked,
    grid_of,
    inputs_of,
    needs,
    on_board,
    ran,
    threads_of,
    wanted,
)

STEPS_OF_ONE_ELEMENT = 200  # basic blocks: it needs three
PRESENT = 100  # elements of the arrays, if the range is too long to be computed


def of_range(n, grid, block):
    """What is needed for the sum of two contiguous arrays: in each step of the grid a warp accesses neighbouring elements."""
    threads = threads_of(grid, block)
    steps = range(max(1, -(-n // (grid * block))))
    requests = [4 * (of + step * grid * block)[of + step * grid * block < n] for step in steps for of in threads]
    return needs(2 * asked(requests), asked(requests))


@program(
    "aten.native.cuda.loops.add_source",
    cases=drawn(n=(0, 300), block=BLOCKS, spare=(0, 2), seed=(0, 3)),
    edges=rows(
        "n block spare seed",
        (32, 32, 0, 0),
        (33, 32, 0, 0),
        (31, 32, 0, 1),
        (1, 32, 0, 0),
        (0, 64, 0, 0),
        (100, 48, 1, 2),
        (256, 128, 0, 1),
        (257, 128, 1, 3),
        (33000, 128, 0, 0),  # too many for a short
    ),
    is_text=True,
    hint=about_kernels,
    draws=4,
)
def sums_of_arrays(rl, n, block, spare, seed):
    text, grid = rl.aten.native.cuda.loops.add_source(), grid_of(n, block, spare)
    arguments = [*arrays_of(rl, n, n, n), n]
    return ran(rl, text, "add", grid, block, arguments, 2, seed, of_range(n, grid, block), STEPS_OF_ONE_ELEMENT)


@sums_of_arrays.oracle
def _(torch, n, block, spare, seed):
    a, b = inputs_of(torch, n, n)
    return wanted(a + b, of_range(n, grid_of(n, block, spare), block))


@sums_of_arrays.counted(sectors=384)
def _(rl):
    """1,024 elements."""
    return on_board(rl.aten.native.cuda.loops.add_source(), "add", 8, 128, *arrays_of(rl, *3 * [1024]), 1024)


@program(
    "aten.native.cuda.loops.add_range_source",
    cases=drawn(begin=[0, 7, 2**31 - 50, 2**32 - 9, 2**40], count=(0, 300), grid=(1, 4), block=BLOCKS, seed=(0, 3)),
    edges=rows(
        "begin count grid block seed",
        (0, 32, 1, 32, 0), (0, 33, 1, 32, 0), (0, 100, 1, 32, 1), (5, 100, 2, 32, 0), (0, 0, 2, 64, 0), (3, 1, 3, 32, 2),
        (0, 300, 2, 48, 1), (2**31 - 40, 100, 1, 32, 0), (2**32 - 40, 100, 2, 32, 3), (2**40, 70, 1, 64, 0),
        (2**31 - 100, 100, 1, 32, 0), (2**32 - 70, 70, 1, 64, 0), (0, 2**32 + 9, 1, 32, 0), (8, 2**31 + 9, 1, 64, 0),
    ),
    is_text=True,
    hint=first_of(
        when(
            lambda case: case["begin"] + case["count"] > 2**30,
            "the index does not fit in 32 bits here: which type does each part of it have, and the number of elements?",
        ),
        about_kernels,
    ),
    draws=4,
)  # fmt: skip
def sums_of_ranges(rl, begin, count, grid, block, seed):
    from rushlight.on_torch.cuda_on_host import shifted

    text = rl.aten.native.cuda.loops.add_range_source()
    present = _present(count)
    arrays = [shifted(array, begin) for array in arrays_of(rl, present, present, present)]
    arguments = [*arrays, begin, begin + count]
    shown = ran(rl, text, "add_range", grid, block, arguments, 2, seed, of_range(present, grid, block))
    if present == count or "out" not in shown:
        return shown
    return {"out": shown["out"]}  # a thread ends at its first element that is not there


@sums_of_ranges.oracle
def _(torch, begin, count, grid, block, seed):
    present = _present(count)
    a, b = inputs_of(torch, present, present)
    return wanted(a + b, of_range(count, grid, block)) if present == count else {"out": a + b}


def _present(count):
    return count if count < 2**31 else PRESENT
