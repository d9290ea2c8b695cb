"""Lab 14b, sums of blocks: by a tree in shared memory, and by shuffles."""

from __future__ import annotations

import numpy as np

from ...engine.check import program
from ..cases import drawn, explained, first_of, rows
from ..shared_14 import (
    UNWRITTEN,
    about_kernels,
    about_together,
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


def of_tree(n, grid, block):
    """What is needed for a tree in which each step adds the second half of the elements to the first half."""
    warps = [
        -(-(block >> step) // 32) for step in range(block.bit_length())
    ]  # that take part: in the first stores, in each step
    loads = [4 * threads[threads < n] for threads in threads_of(grid, block)]
    needed = needs(asked(loads), asked(4 * np.arange(number, number + 1) for number in range(grid)))
    of_loads = 2 * sum(warps[1:]) + 1
    return needed | {
        "wavefronts of shared stores": f"{grid * sum(warps)}",
        "wavefronts of shared loads": f"{grid * of_loads}",
        "atomic operations": "0",
    }


@program(
    "aten.native.cuda.reduce.block_sum_source",
    cases=drawn(n=(0, 1200), block=[1, 2, 4, 8, 16, 32, 64, 128, 256, 1024], spare=(0, 1), seed=(0, 3)),
    edges=rows(
        "n block spare seed",
        (16, 8, 0, 0), (13, 8, 0, 1), (5, 1, 0, 0), (7, 2, 1, 0), (64, 64, 0, 0), (100, 64, 0, 2), (0, 32, 0, 0), (256, 128, 0, 1),
        (700, 256, 1, 3), (2000, 1024, 0, 1),
    ),
    is_text=True,
    hint=first_of(about_together, about_kernels),
    draws=4,
)  # fmt: skip
def sums_by_a_tree(rl, n, block, spare, seed):
    text, grid = rl.aten.native.cuda.reduce.block_sum_source(), grid_of(n, block, spare)
    return ran(rl, text, "block_sums", grid, block, [*arrays_of(rl, n, grid), n], 1, seed, of_tree(n, grid, block))


@sums_by_a_tree.counted(requests=36, sectors=132)
def _(rl):
    """1,024 elements in four blocks."""
    text = rl.aten.native.cuda.reduce.block_sum_source()
    return on_board(text, "block_sums", 4, 256, *arrays_of(rl, 1024, 4), 1024)


@sums_by_a_tree.oracle
def _(torch, n, block, spare, seed):
    (a,), grid = inputs_of(torch, n), grid_of(n, block, spare)
    sums = torch.nn.functional.pad(a, (0, grid * block - n)).view(grid, block).sum(1)
    return wanted(sums, of_tree(n, grid, block))


def of_shuffles(n, grid, block):
    """What is needed for `sum_and_maximum`, which reduces twice."""
    threads, warps = threads_of(grid, block), block // 32
    needed = needs(asked(4 * of[of < n] for of in threads), asked((8 * of for of in threads), 8))
    wavefronts = f"{2 * grid * (warps + 1)}"
    return needed | {
        "bytes of shared memory": "128",
        "wavefronts of shared stores": wavefronts,
        "wavefronts of shared loads": wavefronts,
        "barriers": f"{6 * grid}",
    }


@program(
    "aten.native.cuda.reduce.block_reduce_source",
    cases=drawn(n=(0, 1200), block=[32, 64, 96, 128, 256, 480, 1024], seed=(0, 3)),
    edges=rows(
        "n block seed",
        (32, 32, 0), (64, 64, 0), (192, 96, 1), (100, 64, 2), (10, 32, 0), (300, 128, 3), (1000, 480, 1), (0, 64, 0),
        (1500, 1024, 2),
    ),
    is_text=True,
    hint=first_of(
        about_together,
        explained(threads_unlike_the_first_of_their_block="the threads of a block do not all get the same result"),
        about_kernels,
    ),
    draws=4,
)  # fmt: skip
def results_in_each_thread(rl, n, block, seed):
    reduce, grid = rl.aten.native.cuda.reduce, grid_of(n, block, 0)
    text, (a,) = reduce.block_reduce_source(), inputs_of(rl, n)
    if isinstance(text, str):
        text += reduce.SUM_AND_MAXIMUM
    arguments = [(a - 4).numpy().copy(), np.full(2 * grid * block, UNWRITTEN, np.float32), n]
    shown = ran(rl, text, "sum_and_maximum", grid, block, arguments, 1, seed, of_shuffles(n, grid, block))
    if "out" not in shown:
        return shown
    of_threads = shown.pop("out").numpy().reshape(grid, block, 2)
    first, unlike = of_threads[:, 0].copy(), (of_threads != of_threads[:, :1]).any(2)
    values = {"out": rl.from_numpy(first), "threads unlike the first of their block": int(unlike.sum())}
    return {name: shown.pop(name) for name in list(shown)[:2]} | values | shown


@results_in_each_thread.counted()
def _(rl):
    """A sum and a maximum of 512 elements."""
    reduce = rl.aten.native.cuda.reduce
    text = reduce.block_reduce_source() + reduce.SUM_AND_MAXIMUM
    return on_board(text, "sum_and_maximum", 1, 512, *arrays_of(rl, 512, 1024), 512)


@results_in_each_thread.oracle
def _(torch, n, block, seed):
    (a,), grid = inputs_of(torch, n), grid_of(n, block, 0)
    padded = [
        torch.nn.functional.pad(a - 4, (0, grid * block - n), value=value).view(grid, block)
        for value in (0.0, -torch.inf)
    ]
    out = torch.stack([padded[0].sum(1), padded[1].amax(1)], 1)
    return wanted(out, {"threads unlike the first of their block": 0} | of_shuffles(n, grid, block))
