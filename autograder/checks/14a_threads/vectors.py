"""Lab 14a, four elements at once: the width that addresses allow, and a kernel that adds vectors."""

from __future__ import annotations

import numpy as np

from ...engine.check import program
from ..cases import drawing, drawn, field, first_apart, first_of, lists_too, rows, several, when
from ..shared_14 import (
    BLOCKS,
    UNWRITTEN,
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


@program(
    "aten.native.cuda.loops.can_vectorize_up_to",
    cases=drawn(itemsize=[1, 2, 4, 8], addresses=several(lambda st: st.integers(0, 64).map(lambda i: 4 * i), 1, 3)),
    edges=rows(
        "itemsize addresses",
        (4, [256]), (4, [8]), (4, [4]), (4, [24]), (4, [256, 48, 16]), (4, [256, 8]), (4, [8, 256]), (4, [256, 4]),
        (4, [4, 8, 16]), (4, [16, 8, 4]), (1, [4]), (1, [2]), (1, [3, 4]), (2, [8]), (2, [4]), (2, [6]), (8, [32]), (8, [16]),
        (8, [8]), (8, [32, 48]), (4, [0, 0]), (4, [2**40 + 16]), (4, [2**40 + 8, 32]), (8, [64, 96, 40]),
    ),
    hint=first_of(
        when(lambda case: len(case["addresses"]) > 1, "a kernel has one width for all operands"),
        when(lambda case: case["itemsize"] != 4, "how many bytes do 4 elements of this size have, and how many do 2?"),
        lambda *_: "4, if the address is a multiple of the size of 4 elements, else 2 in the same way, else 1",
    ),
)  # fmt: skip
def width_of_vectors(rl, itemsize, addresses):
    return lists_too(rl.aten.native.cuda.loops.can_vectorize_up_to, itemsize, tuple(addresses))


@width_of_vectors.oracle
def _(torch, itemsize, addresses):
    """The lowest bit of all addresses is their common alignment."""
    bits = int(np.bitwise_or.reduce(np.array(addresses, np.int64))) or 256
    return max(1, min(4, (bits & -bits) // itemsize))


def of_vectors(n, offsets, grid, block):
    """What is needed with `float4`: one request for the head, one for the tail, and one for each warp of vectors."""
    head = min(n, -offsets[0] % 4)
    vectors = (n - head) // 4
    ends = [np.arange(head), np.arange(head + 4 * vectors, n)]
    warps = [head + 4 * threads[threads < vectors] for threads in threads_of(grid, block)]

    a, b, out = (
        asked(4 * (offset + end) for end in ends) + asked((4 * (offset + warp) for warp in warps), 16)
        for offset in offsets
    )
    return needs(a + b, out)


def _about_fields(case, mine, theirs):
    """A hint for a vector that is accessed field by field."""
    name = str(first_apart(mine, theirs))
    if not name.startswith("requests of ") or case["n"] < 4 * case["block"]:
        return None
    count, _, line = str(field(mine, name)).partition(", ")
    is_apart = int(count) >= 3 * int(field(theirs, name))
    return is_apart and (
        f"{count} {name}, {line}, and {field(theirs, name)} are needed: a `float4` is accessed as a whole if it is copied,"
        " as in `float4 x = …;`. By a reference or a pointer, each of its fields is a request of its own"
    )


@drawing
def _vectors(draw, st):
    offset = draw(st.integers(0, 3))
    offsets = [offset + 4 * draw(st.integers(0, 2)) for _ in range(3)]
    sizes = {"n": st.integers(0, 600), "block": st.sampled_from(BLOCKS), "spare": st.integers(0, 2)}
    return {name: draw(of) for name, of in sizes.items()} | {"offsets": offsets, "seed": draw(st.integers(0, 3))}


@program(
    "aten.native.cuda.loops.add_vectorised_source",
    cases=_vectors,
    edges=rows(
        "n block spare offsets seed",
        (128, 32, 0, [0, 0, 0], 0), (256, 64, 0, [0, 0, 0], 1), (130, 32, 1, [0, 0, 0], 0), (131, 32, 0, [0, 4, 8], 2),
        (128, 32, 0, [1, 1, 1], 0), (129, 32, 0, [2, 2, 6], 0), (133, 48, 1, [3, 7, 3], 1), (3, 32, 0, [0, 0, 0], 0),
        (2, 32, 0, [1, 1, 1], 0), (1, 32, 0, [3, 3, 3], 3), (0, 32, 0, [0, 0, 0], 0), (5, 32, 1, [2, 2, 2], 0),
        (600, 96, 0, [1, 5, 9], 0), (0, 32, 0, [1, 1, 1], 0),
    ),
    is_text=True,
    hint=first_of(_about_fields, about_kernels),
    draws=5,
)  # fmt: skip
def sums_of_vectors(rl, n, block, spare, offsets, seed):
    text, grid = rl.aten.native.cuda.loops.add_vectorised_source(), grid_of(n // 4, block, spare)
    arrays = arrays_of(rl, *(offset + n for offset in offsets))
    arguments = [*(array[offset:] for array, offset in zip(arrays, offsets, strict=True)), n]
    return ran(rl, text, "add_vectorised", grid, block, arguments, 2, seed, of_vectors(n, offsets, grid, block))


@sums_of_vectors.counted(requests=24, sectors=384)
def _(rl):
    """1,024 elements."""
    text = rl.aten.native.cuda.loops.add_vectorised_source()
    return on_board(text, "add_vectorised", 2, 128, *arrays_of(rl, *3 * [1024]), 1024)


@sums_of_vectors.oracle
def _(torch, n, block, spare, offsets, seed):
    a, b = inputs_of(torch, offsets[0] + n, offsets[1] + n)
    out = torch.full((offsets[2] + n,), UNWRITTEN)
    out[offsets[2] :] = a[offsets[0] :] + b[offsets[1] :]
    return wanted(out, of_vectors(n, offsets, grid_of(n // 4, block, spare), block))
