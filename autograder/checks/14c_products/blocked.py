"""Lab 14c, products by blocks in registers, with a bias and relu."""

from __future__ import annotations

from ...engine.check import program
from ..cases import drawn, numbers, rows
from ..shared_14 import arrays_of, inputs_of, on_board, wanted
from .needed import about_products, grid_of, of_blocked, ran_with

LAYOUTS = [[False, False], [True, False], [False, True], [True, True]]  # whether `a` and `b` are transposed


def operand_of(height, width, transposed, gap):
    """The leading dimension of a matrix, whether it is transposed, and where it begins, and the elements of its memory."""
    lines, length = (width, height) if transposed else (height, width)
    ld = length + gap
    return (ld, transposed, 0), max(0, (lines - 1) * ld + length) if lines * length else 0


@program(
    "aten.native.cuda.blas.product_blocked_source",
    cases=drawn(m=(1, 70), n=(1, 70), k=(0, 20), transposed=LAYOUTS, gaps=[[0, 0], [3, 0], [0, 5]], relu=(0, 1), seed=(0, 3)),
    edges=rows(
        "m n k transposed gaps relu seed",
        (64, 64, 64, [False, False], [0, 0], 0, 0), (64, 64, 128, [True, True], [0, 0], 0, 1),
        (64, 64, 16, [False, False], [0, 0], 1, 0), (20, 17, 34, [False, False], [0, 0], 0, 0),
        (20, 17, 34, [True, True], [3, 5], 1, 2),
        (70, 5, 9, [False, True], [0, 2], 0, 0), (5, 70, 9, [False, False], [1, 0], 1, 3), (65, 66, 7, [True, False], [0, 0], 0, 0),
        (3, 5, 1, [False, False], [0, 0], 0, 0), (5, 3, 0, [False, False], [0, 0], 1, 0), (7, 9, 4, [False, True], [0, 0], 2, 1),
        (128, 64, 8, [False, False], [0, 0], 0, 0),
        (64, 128, 12, [False, True], [4, 4], 1, 0),
    ),
    is_text=True,
    hint=about_products,
    draws=4,
)  # fmt: skip
def products_in_registers(rl, m, n, k, transposed, gaps, relu, seed):
    (a, of_a), (b, of_b) = operands_of(m, n, k, transposed, gaps)
    *inputs, out = arrays_of(rl, of_a, of_b, m * n)
    bias = numbers(rl, [n], 2, "float32").numpy().copy()
    matrices = [(array, ld, int(is_transposed)) for array, (ld, is_transposed, _) in zip(inputs, (a, b), strict=True)]
    needed = of_blocked(m, n, k, a, b)
    arguments = [*matrices, bias, out, m, n, k, relu]
    text = rl.aten.native.cuda.blas.product_blocked_source()
    return ran_with(rl, text, "product_blocked", grid_of(n, m, 64), (16, 16), arguments, 3, seed, needed)


def operands_of(m, n, k, transposed, gaps):
    return operand_of(m, k, transposed[0], gaps[0]), operand_of(k, n, transposed[1], gaps[1])


@products_in_registers.counted()
def _(rl):
    """Two matrices of (64, 64)."""
    a, b, bias, out = arrays_of(rl, 4096, 4096, 64, 4096)
    text = rl.aten.native.cuda.blas.product_blocked_source()
    return on_board(text, "product_blocked", 1, (16, 16), (a, 64, 0), (b, 64, 0), bias, out, 64, 64, 64, 0)


@products_in_registers.oracle
def _(torch, m, n, k, transposed, gaps, relu, seed):
    operands = operands_of(m, n, k, transposed, gaps)
    memory = inputs_of(torch, *(count for _, count in operands))
    a, b = (
        x.as_strided(sizes, (1, ld) if is_transposed else (ld, 1))
        for x, sizes, ((ld, is_transposed, _), _) in zip(memory, ((m, k), (k, n)), operands, strict=True)
    )
    result = (a.unsqueeze(2) * b).sum(1) + numbers(torch, [n], 2, "float32")
    needed = of_blocked(m, n, k, operands[0][0], operands[1][0])
    return wanted((result.relu() if relu else result).reshape(-1), needed)
