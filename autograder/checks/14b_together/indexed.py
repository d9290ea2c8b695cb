"""Lab 14b, sums of indexed rows by atomic operations."""

from __future__ import annotations

from ...engine.check import program
from ..cases import drawn, explained, first_of, numbers, rows
from ..shared_14 import BLOCKS, about_kernels, about_together, asked, grid_of, needs, ran, threads_of, wanted


def _inputs(xp, rows, columns, outs):
    index = xp.tensor([(5 * row + row * row) % outs for row in range(rows)], dtype=xp.int64)
    return numbers(xp, [outs, columns], 0, "float32"), index, numbers(xp, [rows, columns], 1, "float32")


def of_atomics(rows, columns, block, spare):
    n = rows * columns
    warps = [of[of < n] for of in threads_of(grid_of(n, block, spare), block)]
    loads = asked(4 * warp for warp in warps) + asked((8 * (warp // max(columns, 1)) for warp in warps), 8)
    return needs(loads, asked([])) | {"atomic operations": f"{n}"}


@program(
    "aten.native.cuda.reduce.index_add_source",
    cases=drawn(rows=(0, 20), columns=(1, 60), outs=(1, 9), block=BLOCKS, spare=(0, 1), seed=(0, 3)),
    edges=rows(
        "rows columns outs block spare seed",
        (2, 16, 2, 32, 0, 0), (4, 16, 3, 64, 0, 1), (5, 7, 2, 32, 0, 0), (3, 33, 4, 48, 1, 2), (6, 40, 1, 128, 0, 3),
        (0, 5, 2, 32, 0, 0), (9, 1, 5, 32, 1, 0), (12, 20, 7, 96, 0, 1),
    ),
    is_text=True,
    hint=first_of(
        explained(bytes_of_loads="a thread loads one element of `source` and one index of 8 bytes, and nothing of `out`"),
        about_together,
        about_kernels,
    ),
    draws=4,
)  # fmt: skip
def sums_of_indexed_rows(rl, rows, columns, outs, block, spare, seed):
    text = rl.aten.native.cuda.reduce.index_add_source()
    arguments = [*(x.numpy().copy() for x in _inputs(rl, rows, columns, outs)), rows, columns]
    grid, needed = grid_of(rows * columns, block, spare), of_atomics(rows, columns, block, spare)
    return ran(rl, text, "index_add", grid, block, arguments, 0, seed, needed)


@sums_of_indexed_rows.oracle
def _(torch, rows, columns, outs, block, spare, seed):
    out, index, source = _inputs(torch, rows, columns, outs)
    return wanted(out.index_add(0, index, source), of_atomics(rows, columns, block, spare))
