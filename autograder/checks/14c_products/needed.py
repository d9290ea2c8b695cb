"""What the kernels of lab 14c need, computed from addresses, and hints about it."""

from __future__ import annotations

from functools import cache

import numpy as np

from ..cases import field, first_apart
from ..shared_14 import about_count, about_kernels, about_together, needs, ran

STEP = 8  # of `k`, in a product by blocks in registers


def grid_of(columns, rows, tile):
    return max(1, -(-columns // tile)), max(1, -(-rows // tile))


def requests_of(addresses, nbytes=4):
    """The bytes, requests and sectors of requests: for each a row with the addresses of the lanes that take part."""
    if not addresses.size:
        return np.zeros(3, int)
    sectors = np.sort(addresses // 32, axis=1)
    return np.array(
        [addresses.size * nbytes, len(addresses), len(addresses) + np.count_nonzero(np.diff(sectors, axis=1))]
    )


def warps_of(columns, rows):
    """The positions x and y of the threads of a block, for each of its warps."""
    threads = np.arange(columns * rows)
    return [(of % columns, of // columns) for of in np.split(threads, range(32, len(threads), 32))]


def blocks_of(m, n, tile_m, tile_n):
    """The first row and column of each tile of an output."""
    return [(row, column) for row in range(0, m, tile_m) for column in range(0, n, tile_n)]


def at_most(counts):
    """Counts of what threads do together, as `together` shows them."""
    return {name: f"{count}" for name, count in counts.items()}


@cache
def of_product(m, n, k, block):
    """A thread for each element, which loads a row of `a` and a column of `b`."""
    loads, stores, i = np.zeros(3, int), np.zeros(3, int), np.arange(k)[:, None]
    for first_row, first_column in blocks_of(m, n, block[1], block[0]):
        for x, y in warps_of(*block):
            row, column = first_row + y, first_column + x
            row, column = (of[(row < m) & (column < n)] for of in (row, column))
            loads = loads + requests_of(4 * (row * k + i)) + requests_of(4 * (i * n + column))
            stores = stores + requests_of(4 * (row * n + column)[None])
    return needs(loads, stores)


@cache
def of_tiles(m, n, k):
    """Tiles of 16 x 16 elements, a thread for each."""
    loads, stores = np.zeros(3, int), np.zeros(3, int)
    blocks, steps = blocks_of(m, n, 16, 16), range(0, k, 16)
    for first_row, first_column in blocks:
        for x, y in warps_of(16, 16):
            row, column = first_row + y, first_column + x
            for first in steps:
                of_a, of_b = (row < m) & (first + x < k), (first + y < k) & (column < n)
                loads = loads + requests_of(4 * (row * k + first + x)[of_a][None])
                loads = loads + requests_of(4 * ((first + y) * n + column)[of_b][None])
            stores = stores + requests_of(4 * (row * n + column)[(row < m) & (column < n)][None])
    times = len(blocks) * len(steps)
    return needs(loads, stores) | at_most(
        {
            "bank conflicts": 0,
            "bytes of shared memory": 4 * 2 * 16 * 16,
            "wavefronts of shared stores": 8 * 2 * times,
            "wavefronts of shared loads": 8 * 2 * 16 * times,
            "barriers": 2 * times,
        }
    )


@cache
def of_transpose(rows, columns):
    """Tiles of 32 x 32 elements, which 32 x 8 threads load and store."""
    loads, stores, x = np.zeros(3, int), np.zeros(3, int), np.arange(32)
    blocks = blocks_of(rows, columns, 32, 32)
    for row, column in blocks:
        for y in range(32):
            if row + y < rows:
                loads = loads + requests_of(4 * ((row + y) * columns + column + x)[column + x < columns][None])
            if column + y < columns:
                stores = stores + requests_of(4 * ((column + y) * rows + row + x)[row + x < rows][None])
    return needs(loads, stores) | at_most(
        {
            "bank conflicts": 0,
            "bytes of shared memory": 4 * 32 * 33,
            "wavefronts of shared stores": 32 * len(blocks),
            "wavefronts of shared loads": 32 * len(blocks),
            "barriers": len(blocks),
        }
    )


@cache
def of_blocked(m, n, k, a, b):
    """Tiles of 64 x 64 elements, 16 for each of 16 x 16 threads. An operand is its leading dimension, whether it is transposed, and
    the position of its first element in its memory."""
    loads, stores, blocks = np.zeros(3, int), np.zeros(3, int), blocks_of(m, n, 64, 64)
    for row, column in blocks:
        for first in range(0, k, STEP):
            loads = loads + _of_tile(a, a[1], m, k, row, first) + _of_tile(b, not b[1], n, k, column, first)
        loads = loads + _of_bias(min(64, n - column))
        stores = stores + _of_output(n, row, column, min(64, m - row), min(64, n - column))
    times = len(blocks) * -(-k // STEP)
    return needs(loads, stores) | at_most(
        {
            "bank conflicts": 0,
            "bytes of shared memory": 4 * 2 * STEP * 68,
            "wavefronts of shared stores": 8 * 4 * times,
            "wavefronts of shared loads": 8 * STEP * 8 * times,
            "barriers": 2 * times,
        }
    )


def _of_tile(operand, along_size, size, k, first, first_k):
    ld, _, begin = operand
    e = np.arange(64 * STEP).reshape(-1, 32)
    i, j = (e % 64, e // 64) if along_size else (e // STEP, e % STEP)
    i, j = first + i, first_k + j
    addresses = 4 * (begin + (j * ld + i if along_size else i * ld + j))
    inside = (i < size) & (j < k)
    return sum(
        (requests_of(of[taking_part][None]) for of, taking_part in zip(addresses, inside, strict=True)),
        np.zeros(3, int),
    )


# If a block's output is not full, its threads access different numbers of elements. Then it is not fixed which of their accesses
# are one request, so any number of sectors is right. A block that is full shows the pattern.


def _of_bias(width):
    """Loads of the bias by a block, one at most for each of a thread's 16 elements."""
    return np.array([4 * 64 * width, 16 * 8, 16 * 8 * 8 if width == 64 else 64 * width])


def _of_output(n, row, column, height, width):
    """Stores of a block. The columns of neighbouring lanes are 1 or 4 apart, and the rows of a warp are two."""
    sectors = height * width
    if sectors == 64 * 64:
        sectors = 0
        for x, y in warps_of(16, 16):
            for p, q in np.ndindex(4, 4):
                layouts = [
                    (row + (y + 16 * p if apart else 4 * y + p)) * n + column + (4 * x + q if by_four else x + 16 * q)
                    for apart in (True, False)
                    for by_four in (True, False)
                ]
                sectors += max(requests_of(4 * of[None])[2] for of in layouts)
    return np.array([4 * height * width, 16 * 8, sectors])


# What is shown, and hints --------------------------------------------------------------------------------------------


def ran_with(rl, text, kernel, grid, block, arguments, out, seed, needed):
    """What a launch shows. Fewer bytes of loads than needed are right too: a register or shared memory has kept the element."""
    shown = ran(rl, text, kernel, grid, block, arguments, out, seed, needed)
    return fewer_bytes(shown, needed)


def fewer_bytes(shown, needed):
    loaded = shown.get("bytes of loads")
    return shown | {"bytes of loads": max(loaded, needed["bytes of loads"])} if loaded is not None else shown


_NEIGHBOURS = (
    "does each thread access each of its elements once, and are those of neighbouring threads neighbours in a row?"
)
_ADVICE = {
    "bytes of loads": "which elements are loaded twice, or loaded and not needed?",
    "requests of loads": _NEIGHBOURS,
    "sectors of loads": _NEIGHBOURS,
    "bytes of stores": "each element of the output is stored once",
    "requests of stores": _NEIGHBOURS,
    "sectors of stores": _NEIGHBOURS,
    "bank conflicts": "lanes that access different words of one bank take turns. By how many words are neighbouring lanes apart?",
    "bytes of shared memory": "the contract says how large the tiles are",
    "wavefronts of shared stores": "each element of a tile is stored once",
    "wavefronts of shared loads": "how often does a thread load the same element? A register keeps it",
    "barriers": "which accesses of shared memory does each of them order?",
}


def about_products(case, mine, theirs):
    """A hint for a count of a kernel with tiles, or for what the other hints about kernels know."""
    name = first_apart(mine, theirs)
    if advice := _ADVICE.get(name):
        return about_count(name, field(mine, name), field(theirs, name), advice)
    if name == "findings":
        found = [each for each in field(mine, name) if isinstance(each, str)]
        has_race = any(each.startswith("race") and " of the shared array " in each for each in found)
        of_arrays = found and found[0].startswith(("outside", "race")) and " of the shared array " not in found[0]
        if of_arrays and not has_race:
            return about_kernels(case, mine, theirs)
    return about_together(case, mine, theirs) or about_kernels(case, mine, theirs)
