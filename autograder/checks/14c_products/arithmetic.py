"""Lab 14c, what is computed about a kernel before it runs: bytes of a product, occupancy, and the elements of a fragment."""

from __future__ import annotations

import numpy as np

from ...engine.check import program
from ..cases import drawn, first_of, rows, when

_size = (1, 70)


@program(
    "aten.native.cuda.blas.bytes_of_product",
    cases=drawn(m=_size, n=_size, k=_size, tile_m=(1, 32), tile_n=(1, 32)),
    edges=rows(
        "m n k tile_m tile_n",
        (64, 64, 64, 1, 1), (64, 64, 64, 16, 16), (64, 32, 128, 16, 16), (64, 64, 64, 16, 32), (64, 64, 64, 64, 64),
        (20, 17, 33, 16, 16), (20, 17, 33, 32, 8), (17, 20, 5, 16, 4), (1, 50, 70, 16, 16), (50, 1, 3, 16, 16), (1, 1, 1, 1, 1),
        (3, 5, 7, 1, 1), (4096, 4096, 4096, 64, 128),
    ),
    hint=first_of(
        when(
            lambda case: case["m"] % case["tile_m"] or case["n"] % case["tile_n"],
            "the tiles at the edges are smaller: how many blocks load row 0 of `a`? The last one, which is smaller, too",
        ),
        when(lambda case: len({case["m"], case["n"], case["k"]}) > 1, "`a` has m * k elements, `b` has k * n, the output m * n"),
        lambda *_: "the loads of `a`, those of `b` and the stores, 4 bytes each, and 2 * m * n * k operations by their sum",
    ),
)  # fmt: skip
def bytes_and_operations(rl, m, n, k, tile_m, tile_n):
    nbytes, operations = rl.aten.native.cuda.blas.bytes_of_product(m, n, k, tile_m, tile_n)
    return {"bytes": nbytes, "operations for each byte": operations}


@bytes_and_operations.oracle
def _(torch, m, n, k, tile_m, tile_n):
    """Add up what each block loads and stores."""
    elements = 0
    for row in range(0, m, tile_m):
        for column in range(0, n, tile_n):
            height, width = min(tile_m, m - row), min(tile_n, n - column)
            elements += height * k + k * width + height * width
    return {"bytes": 4 * elements, "operations for each byte": 2 * m * n * k / (4 * elements)}


# Occupancy -----------------------------------------------------------------------------------------------------------


@program(
    "aten.native.cuda.blas.occupancy",
    cases=drawn(
        threads=lambda st: st.one_of(st.integers(1, 1024), st.integers(1, 32).map(lambda warps: 32 * warps)),
        registers=(16, 255),
        shared_bytes=lambda st: st.one_of(st.just(0), st.integers(0, 227 << 10), st.integers(0, 20000)),
    ),
    edges=rows(
        "threads registers shared_bytes",
        (256, 32, 2048), (256, 63, 8192), (1024, 32, 8192), (256, 18, 0), (128, 18, 0), (32, 32, 0), (64, 16, 0),
        (1024, 64, 0), (1024, 65, 0), (1024, 255, 0), (33, 16, 0), (1, 16, 0), (96, 33, 0), (96, 33, 1024), (160, 40, 0),
        (160, 16, 0), (700, 40, 0), (256, 32, 227 << 10), (256, 32, 113 << 10), (256, 32, (113 << 10) + 1),
        (128, 32, 13568), (128, 32, 13569), (128, 32, 14464), (128, 32, 14465), (128, 32, 13696), (64, 16, 6272),
        (64, 16, 6273), (64, 16, 6144), (256, 64, 0), (256, 255, 100), (544, 32, 0), (992, 24, 0), (96, 41, 0),
        (32, 16, 8000), (224, 73, 0), (288, 56, 30000),
    ),
    hint=first_of(
        when(
            lambda case: _limit(case) == "registers",
            "registers are the least limit here. A warp gets 32 times `registers`, rounded up to a multiple of 256, and a "
            "partition has room for a whole number of warps",
        ),
        when(
            lambda case: _limit(case) == "shared",
            "shared memory is the least limit here: a block gets 1 KiB more than it asks for, and the sum is rounded up to a "
            "multiple of 128",
        ),
        when(
            lambda case: _limit(case) == "warps",
            "warps are the least limit here: there is room for 64, and a block has a whole number of them",
        ),
        lambda *_: "the number of blocks is the least limit here: 32, however small they are. How many warps has a block?",
    ),
)  # fmt: skip
def blocks_and_warps(rl, threads, registers, shared_bytes):
    blocks, warps = rl.aten.native.cuda.blas.occupancy(threads, registers, shared_bytes)
    return {"blocks": blocks, "warps": warps}


@blocks_and_warps.oracle
def _(torch, threads, registers, shared_bytes):
    """Let one block after the other begin, until something is used up. A warp goes to the partition with most registers left."""
    partitions, shared, blocks = [[1 << 14, 0] for _ in range(4)], 228 * 1024, 0
    while blocks < 32:
        shared -= (shared_bytes + 1024 + 127) // 128 * 128
        for _ in range((threads + 31) // 32):
            place = max(partitions)
            place[0] -= (registers * 32 + 255) // 256 * 256
            place[1] += 1
        if shared < 0 or any(left < 0 for left, _ in partitions) or sum(warps for _, warps in partitions) > 64:
            break
        blocks += 1
    return {"blocks": blocks, "warps": blocks * ((threads + 31) // 32)}


def _limit(case):
    """The limit that allows the fewest blocks, in the order of the hints."""
    warps, of_warp = -(-case["threads"] // 32), -(-case["registers"] // 8) * 256
    limits = {
        "registers": 16384 // of_warp * 4 // warps,
        "shared": 233472 // (-(-case["shared_bytes"] // 128) * 128 + 1024),
        "warps": 64 // warps,
        "blocks": 32,
    }
    return min(limits, key=limits.get)


# Fragments -----------------------------------------------------------------------------------------------------------


@program(
    "aten.native.cuda.blas.fragment_position",
    cases=drawn(lane=(0, 31), register=(0, 7)),
    edges=rows(
        "lane register",
        (0, 0), (0, 1), (5, 0), (0, 2), (0, 4), (0, 6), (4, 3), (3, 5), (31, 7), (31, 0), (17, 2), (12, 1), (13, 6), (30, 4),
        (1, 7), (28, 3),
    ),
    hint=first_of(
        when(lambda case: case["register"] < 2, "four lanes have the first eight elements of a row, two each"),
        when(lambda case: case["register"] < 4, "`a2` and `a3` are in the same columns as `a0` and `a1`, in a row further below"),
        lambda *_: "`a4` to `a7` are like `a0` to `a3`, in columns further right",
    ),
)  # fmt: skip
def positions_in_a_fragment(rl, lane, register):
    return list(rl.aten.native.cuda.blas.fragment_position(lane, register))


@positions_in_a_fragment.oracle
def _(torch, lane, register):
    """Number the elements by lane and register, and reorder the dimensions as in the matrix."""
    numbered = torch.arange(256).reshape(
        8, 4, 2, 2, 2
    )  # group of lanes, lane in it, right half, lower half, one of a pair
    matrix = numbered.permute(3, 0, 2, 1, 4).reshape(16, 16)
    return np.argwhere(matrix.numpy() == 8 * lane + register)[0].tolist()
