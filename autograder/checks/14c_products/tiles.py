"""Lab 14c, tiles in shared memory: a matrix is transposed, and matrices are multiplied."""

from __future__ import annotations

from ...engine.check import program
from ..cases import drawn, rows
from ..shared_14 import arrays_of, inputs_of, on_board, wanted
from .naive import product_of
from .needed import about_products, grid_of, of_tiles, of_transpose, ran_with


@program(
    "aten.native.cuda.blas.transpose_source",
    cases=drawn(height=(1, 50), width=(1, 50), seed=(0, 3)),
    edges=rows(
        "height width seed",
        (32, 32, 0), (32, 64, 1), (64, 32, 0), (20, 45, 0), (45, 20, 2), (1, 40, 0), (40, 1, 0), (1, 1, 0), (33, 31, 1),
        (31, 34, 3),
        (8, 9, 0),
    ),
    is_text=True,
    hint=about_products,
    draws=4,
)  # fmt: skip
def transposed_matrices(rl, height, width, seed):
    text, needed = rl.aten.native.cuda.blas.transpose_source(), of_transpose(height, width)
    arguments = [*arrays_of(rl, height * width, height * width), height, width]
    return ran_with(rl, text, "transpose", grid_of(width, height, 32), (32, 8), arguments, 1, seed, needed)


@transposed_matrices.counted(requests=256, sectors=1024, wavefronts=256)
def _(rl):
    """A matrix of (64, 64)."""
    text = rl.aten.native.cuda.blas.transpose_source()
    return on_board(text, "transpose", (2, 2), (32, 8), *arrays_of(rl, 4096, 4096), 64, 64)


@transposed_matrices.oracle
def _(torch, height, width, seed):
    (a,) = inputs_of(torch, height * width)
    return wanted(a.reshape(height, width).t().reshape(-1), of_transpose(height, width))


@program(
    "aten.native.cuda.blas.product_tiled_source",
    cases=drawn(m=(1, 34), n=(1, 34), k=(0, 34), seed=(0, 3)),
    edges=rows(
        "m n k seed",
        (16, 16, 16, 0), (16, 16, 32, 0), (32, 16, 48, 1), (16, 32, 32, 2), (20, 17, 34, 0), (17, 20, 35, 3), (3, 5, 1, 0),
        (5, 34, 7, 0), (34, 5, 20, 1), (5, 3, 0, 0), (1, 1, 40, 0), (16, 17, 15, 0), (17, 16, 17, 2),
    ),
    is_text=True,
    hint=about_products,
    draws=4,
)  # fmt: skip
def products_by_tiles(rl, m, n, k, seed):
    text, needed = rl.aten.native.cuda.blas.product_tiled_source(), of_tiles(m, n, k)
    arguments = [*arrays_of(rl, m * k, k * n, m * n), m, n, k]
    return ran_with(rl, text, "product_tiled", grid_of(n, m, 16), (16, 16), arguments, 2, seed, needed)


@products_by_tiles.counted()
def _(rl):
    """Two matrices of (32, 32)."""
    text = rl.aten.native.cuda.blas.product_tiled_source()
    return on_board(text, "product_tiled", (2, 2), (16, 16), *arrays_of(rl, *3 * [1024]), 32, 32, 32)


@products_by_tiles.oracle
def _(torch, m, n, k, seed):
    return wanted(product_of(torch, m, n, k), of_tiles(m, n, k))
