"""Kernels in Triton that are written by hand: softmax, a product with an epilogue, and attention by blocks.

Inductor writes most kernels itself (`triton_kernel`). For products and for attention it fills in templates, texts that people have
written. In PyTorch: `torch/_inductor/kernel/mm.py` with `torch/_inductor/kernel/templates/triton_mm.py.jinja`, and
`torch/_inductor/kernel/flex/`. Left out: autotuning, dtypes other than float32, batches.
"""

from __future__ import annotations

# Softmax -------------------------------------------------------------------------------------------------------------


def softmax_source() -> str:
    """The text of a kernel that computes the softmax of each row of a matrix, a row for each instance:

        @triton.jit
        def softmax(x, out, columns, row_stride, column_stride, BLOCK: tl.constexpr)

    `x` points to the first element. The element of row i and column j is `i * row_stride + j * column_stride` elements further.
    `out` is contiguous. The grid has an instance for each row. `BLOCK` is the smallest power of two that is not below `columns`.
    `columns` is at least 1. No exponential overflows, and no element beyond the matrices is read or written.

    The budget: each element of `x` is loaded once, and each element of `out` is stored once.

    Source: Triton's tutorial "Fused Softmax"; `torch/_inductor/codegen/triton.py`, a persistent reduction.
    """
    return r"""
import triton
import triton.language as tl


@triton.jit
def softmax(x, out, columns, row_stride, column_stride, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    column = tl.arange(0, BLOCK)
    inside = column < columns
    values = tl.load(x + row * row_stride + column * column_stride, mask=inside, other=-float("inf"))
    powers = tl.exp(values - tl.max(values, 0))
    tl.store(out + row * columns + column, powers / tl.sum(powers, 0), mask=inside)
"""
