"""Lab 14c, a product with a thread for each element: its values, findings, and what it asks of memory."""

from __future__ import annotations

from ...engine.check import program
from ..cases import drawn, rows
from ..shared_14 import arrays_of, inputs_of, wanted
from .needed import about_products, of_product, ran_with

BLOCKS = [[16, 16], [32, 4], [8, 8], [64, 1], [12, 5]]


def grid_of(m, n, block, spare):
    return -(-n // block[0]) + spare[0], -(-m // block[1]) + spare[1]


@program(
    "aten.native.cuda.blas.product_source",
    cases=drawn(m=(1, 24), n=(1, 40), k=(0, 24), block=BLOCKS, spare=[[0, 0], [1, 0], [0, 1]], seed=(0, 3)),
    edges=rows(
        "m n k block spare seed",
        (16, 32, 16, [16, 16], [0, 0], 0), (32, 16, 8, [16, 16], [0, 0], 1), (20, 17, 34, [16, 16], [0, 0], 0),
        (20, 17, 34, [32, 4], [1, 1], 2), (3, 5, 1, [8, 8], [0, 0], 0), (1, 40, 9, [64, 1], [0, 2], 0),
        (5, 3, 0, [8, 8], [0, 0], 0),
        (9, 26, 12, [12, 5], [0, 0], 3), (1, 1, 1, [16, 16], [0, 0], 0), (24, 1, 20, [8, 8], [0, 0], 0),
        (8, 64, 5, [32, 4], [0, 0], 0),
    ),
    is_text=True,
    hint=about_products,
    draws=4,
)  # fmt: skip
def products_of_matrices(rl, m, n, k, block, spare, seed):
    text, grid = rl.aten.native.cuda.blas.product_source(), grid_of(m, n, block, spare)
    arguments = [*arrays_of(rl, m * k, k * n, m * n), m, n, k]
    return ran_with(rl, text, "product", grid, tuple(block), arguments, 2, seed, of_product(m, n, k, tuple(block)))


@products_of_matrices.oracle
def _(torch, m, n, k, block, spare, seed):
    return wanted(product_of(torch, m, n, k), of_product(m, n, k, tuple(block)))


def product_of(torch, m, n, k):
    """All products, and their sums: no order of additions rounds them."""
    a, b = inputs_of(torch, m * k, k * n)
    return (a.reshape(m, k, 1) * b.reshape(k, n)).sum(1).reshape(-1)
