"""Lab 14d, products: the order of the tiles, and a product with a bias and relu."""

from __future__ import annotations

from functools import partial

import numpy as np

from ...engine.check import program
from ..cases import drawing, drawn, explained, first_apart, rows, type_name
from .launched import about_triton, inputs_of, memory_of, needs, on_board, ran, wanted

# The order of the tiles ----------------------------------------------------------------------------------------------


def order_of(tiles_m, tiles_n, group):
    """All tiles, by lists of the rows of each group."""
    every = [*range(tiles_m)]
    groups = [every[first : first + group] for first in range(0, tiles_m, group)]
    return [[row, column] for members in groups for column in range(tiles_n) for row in members]


@program(
    "inductor.triton_templates.grouped",
    cases=drawn(tiles_m=(1, 7), tiles_n=(1, 6), group=(1, 8)),
    edges=rows(
        "tiles_m tiles_n group",
        (1, 1, 1), (3, 4, 1), (4, 3, 2), (5, 3, 2), (5, 3, 3), (5, 4, 3), (4, 2, 4), (3, 4, 8), (7, 1, 3), (1, 5, 2),
    ),
    hint=explained(
        types="a tuple of two integers: the row and the column",
        tiles="column by column within a group; a last group with fewer rows has shorter columns",
    ),
)  # fmt: skip
def order_of_tiles(rl, tiles_m, tiles_n, group):
    grouped = rl.inductor.triton_templates.grouped
    tiles = [grouped(instance, tiles_m, tiles_n, group) for instance in range(tiles_m * tiles_n)]
    return {"types": [*map(type_name, (tiles[0], *tiles[0]))], "tiles": [[*tile] for tile in tiles]}


@order_of_tiles.oracle
def _(torch, tiles_m, tiles_n, group):
    return {"types": ["sequence", "int", "int"], "tiles": order_of(tiles_m, tiles_n, group)}


@drawing
def _strips(draw, st):
    tiles_m, tiles_n, group = (draw(st.integers(1, most)) for most in (7, 6, 8))
    instances = draw(st.integers(1, tiles_m * tiles_n))
    return {"instances": instances, "tiles_m": tiles_m, "tiles_n": tiles_n, "group": group}


@program(
    "inductor.triton_templates.strips_loaded",
    cases=_strips,
    edges=rows(
        "instances tiles_m tiles_n group",
        (1, 4, 4, 1), (4, 4, 4, 1), (4, 4, 4, 2), (4, 4, 4, 4), (9, 6, 6, 1), (9, 6, 6, 3), (16, 8, 8, 4), (5, 3, 2, 2), 
        (8, 4, 5, 5), (7, 5, 3, 3), (20, 5, 4, 8), (3, 1, 6, 2), (5, 6, 1, 4),
    ),
    hint="an instance loads one strip of `a`, beside its tile's row, and one of `b`, above its column; each counts once",
)  # fmt: skip
def strips(rl, instances, tiles_m, tiles_n, group):
    return rl.inductor.triton_templates.strips_loaded(instances, tiles_m, tiles_n, group)


@strips.oracle
def _(torch, instances, tiles_m, tiles_n, group):
    first = order_of(tiles_m, tiles_n, group)[:instances]
    return sum(len({tile[side] for tile in first}) for side in (0, 1))


# The product ---------------------------------------------------------------------------------------------------------

TRANSPOSED = [[False, False], [True, False], [False, True], [True, True]]


def operand_of(height, width, is_transposed, gap):
    """The strides of a matrix, and the elements of its memory."""
    row, column = (1, height + gap) if is_transposed else (width + gap, 1)
    return (row, column), 1 + (height - 1) * row + (width - 1) * column if height * width else 1


def of_product(m, n, k, of_a, of_b, tiles, group):
    """What an instance needs of each tile, in the order of the instances."""
    tile_m, tile_n, tile_k = tiles
    a, b, bias, out = [], [], [], []
    for row, column in order_of(-(-m // tile_m), -(-n // tile_n), group):
        i, j = (
            np.arange(at * tile, min(size, (at + 1) * tile))
            for at, tile, size in ((row, tile_m, m), (column, tile_n, n))
        )
        for first in range(0, k, tile_k):
            step = np.arange(first, min(k, first + tile_k))
            a.append((i[:, None] * of_a[0] + step * of_a[1]).reshape(-1))
            b.append((step[:, None] * of_b[0] + j * of_b[1]).reshape(-1))
        bias.append(j)
        out.append((i[:, None] * n + j).reshape(-1))
    return needs(a=("loaded of", a), b=("loaded of", b), bias=("loaded of", bias), out=("stored in", out))


def _about_products(case, mine, theirs):
    if case["large"] and first_apart(mine, theirs) == "out":
        return f"`{case['large']}` has numbers around 2048.5 here, which float16 rounds: is each block in `tl.dot` float32?"
    return about_triton(case, mine, theirs)


@program(
    "inductor.triton_templates.product_source",
    cases=drawn(m=(1, 40), n=(1, 40), k=(0, 40), transposed=TRANSPOSED, gap=(0, 3), relu=bool, group=(1, 3), large=[""]),
    edges=rows(
        "m n k transposed gap relu group large",
        (16, 16, 16, [False, False], 0, False, 1, ""), (32, 48, 16, [False, False], 0, False, 2, ""),
        (20, 17, 34, [False, False], 0, True, 1, ""), (20, 37, 5, [True, True], 3, False, 1, ""),
        (40, 33, 18, [True, False], 0, True, 2, ""), (70, 20, 16, [False, True], 1, False, 2, ""),
        (5, 3, 0, [False, False], 0, True, 1, ""), (1, 1, 40, [False, True], 0, False, 3, ""),
        (70, 10, 7, [False, False], 0, False, 3, ""),
        (20, 17, 18, [False, False], 0, False, 1, "a"), (20, 17, 18, [False, False], 0, False, 1, "b"),
    ),
    is_text=True,
    hint=_about_products,
    draws=3,
)  # fmt: skip
def products(rl, m, n, k, transposed, gap, relu, group, large):
    (of_a, size_a), (of_b, size_b) = operand_of(m, k, transposed[0], gap), operand_of(k, n, transposed[1], gap)
    a, b, bias, out = memory_of(rl, size_a, size_b, n, m * n)
    enlarge(a, b, large)
    arguments = {"a": a, "b": b, "bias": bias, "out": out, "m": m, "n": n, "k": k}
    arguments |= {"a_row": of_a[0], "a_column": of_a[1], "b_row": of_b[0], "b_column": of_b[1]}
    constexprs = {"RELU": relu, "GROUP": group, "TILE_M": 16, "TILE_N": 16, "TILE_K": 16}
    needed, grid = of_product(m, n, k, of_a, of_b, (16, 16, 16), group), -(-m // 16) * -(-n // 16)
    text = rl.inductor.triton_templates.product_source()
    order = partial(tiles_of, n)
    return ran(rl, text, "product", grid, arguments, needed, order, **constexprs)


def enlarge(a, b, large):
    """Give the elements of an operand more bits than a float16 has."""
    if large:
        {"a": a, "b": b}[large] += 2048.5


def tiles_of(n, first):
    """The tiles that begin with these elements."""
    return [[int(element) // n // 16, int(element) % n // 16] for element in first]


@products.counted()
def _(rl):
    """Two matrices of (64, 64), by tiles of 32 x 32."""
    a, b, bias, out = memory_of(rl, 4096, 4096, 64, 4096)
    arguments = {"a": a, "b": b, "bias": bias, "out": out, "m": 64, "n": 64, "k": 64}
    arguments |= {"a_row": 64, "a_column": 1, "b_row": 64, "b_column": 1}
    constexprs = {"RELU": False, "GROUP": 1, "TILE_M": 32, "TILE_N": 32, "TILE_K": 32}
    return on_board(rl.inductor.triton_templates.product_source(), "product", 4, arguments, **constexprs)


@products.oracle
def _(torch, m, n, k, transposed, gap, relu, group, large):
    operands = operand_of(m, k, transposed[0], gap), operand_of(k, n, transposed[1], gap)
    *memory, bias = inputs_of(torch, *(size for _, size in operands), n)
    enlarge(*memory, large)
    a, b = (x.as_strided(sizes, of) for x, sizes, (of, _) in zip(memory, ((m, k), (k, n)), operands, strict=True))
    out = torch.addmm(bias, a, b)
    needed = of_product(m, n, k, operands[0][0], operands[1][0], (16, 16, 16), group)
    shown = wanted({}, out=(out.relu() if relu else out).reshape(-1))
    return shown | {"order of instances": order_of(-(-m // 16), -(-n // 16), group)} | needed
