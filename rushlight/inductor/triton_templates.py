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
    `out` is contiguous. The grid has an instance for each row. `columns` is at least 1, and `BLOCK` is the smallest power of two
    that is not below it. No exponential overflows, and no element beyond the rows is read or written.

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


# Products ------------------------------------------------------------------------------------------------------------


def grouped(instance: int, tiles_m: int, tiles_n: int, group: int) -> tuple[int, int]:
    """The tile of an output that an instance computes, in grouped order.

    The output has `tiles_m` x `tiles_n` tiles. Their rows are divided into groups of `group` rows. The last group may have fewer.
    The instances compute one group after the other. Within a group they go column by column, from the first column, and in a column
    from the first row of the group to its last row.

    >>> [grouped(instance, 3, 2, 2) for instance in range(6)]
    [(0, 0), (1, 0), (0, 1), (1, 1), (2, 0), (2, 1)]

    Args:
        instance: 0 or more, below `tiles_m * tiles_n`.
        tiles_m, tiles_n, group: at least 1. There may be fewer rows than `group`.

    Returns:
        the row and the column of the tile.

    Source: Triton's tutorial "Matrix Multiplication", "L2 Cache Optimizations". In the template of PyTorch,
    `torch/_inductor/kernel/templates/triton_mm.py.jinja`, the columns of a last group with fewer rows may begin at another row.
    """
    number, within = divmod(instance, group * tiles_n)
    rows = min(group, tiles_m - number * group)
    return number * group + within % rows, within // rows


def strips_loaded(instances: int, tiles_m: int, tiles_n: int, group: int) -> int:
    """The number of different strips of both operands that the first `instances` instances load, in grouped order.

    The instance of a tile loads the strip of `a` that is beside its row of tiles, and the strip of `b` that is above its column.
    A strip that several of the instances load counts once, because these instances run at the same time, and the cache has it.

    >>> [strips_loaded(16, 8, 8, group) for group in (1, 4, 8)]
    [10, 8, 10]

    Args:
        instances: 1 or more, at most `tiles_m * tiles_n`.
        tiles_m, tiles_n, group: as for `grouped`.

    Source: Triton's tutorial "Matrix Multiplication", "L2 Cache Optimizations".
    """
    rows, columns = zip(*(grouped(instance, tiles_m, tiles_n, group) for instance in range(instances)))
    return len({*rows}) + len({*columns})


def product_source() -> str:
    """The text of a kernel that multiplies two matrices, adds a bias and applies relu, a tile of the output for each instance:

        @triton.jit
        def product(a, b, bias, out, m, n, k, a_row, a_column, b_row, b_column, RELU: tl.constexpr, GROUP: tl.constexpr,
                    TILE_M: tl.constexpr, TILE_N: tl.constexpr, TILE_K: tl.constexpr)

    `a` is (m, k) and `b` is (k, n). The element of row i and column j of `a` is `i * a_row + j * a_column` elements behind its
    first one, and for `b` the strides are `b_row` and `b_column`. `out` is (m, n) and contiguous. `bias[j]` is added to each
    element of column j. If `RELU` is true, negative elements of the result become 0. `k` may be 0.

    A tile has `TILE_M` x `TILE_N` elements. The grid has one dimension and an instance for each tile, in grouped order (`grouped`).
    Along `k` the kernel goes in steps of `TILE_K`. Sizes of tiles are powers of two, and at least 16. Sums are float32, and the
    products are not rounded to TF32: `input_precision="ieee"`. No element beyond the matrices is read or written.

    The budget: an instance loads each element of `a`, `b` and `bias` that it needs once, and stores its tile once.

    Source: `torch/_inductor/kernel/templates/triton_mm.py.jinja`; Triton's tutorial "Matrix Multiplication".
    """
    return r"""
import triton
import triton.language as tl


@triton.jit
def product(
    a, b, bias, out, m, n, k, a_row, a_column, b_row, b_column,
    RELU: tl.constexpr, GROUP: tl.constexpr, TILE_M: tl.constexpr, TILE_N: tl.constexpr, TILE_K: tl.constexpr,
):
    tiles_m, tiles_n = tl.cdiv(m, TILE_M), tl.cdiv(n, TILE_N)
    instance = tl.program_id(0)
    number, within = instance // (GROUP * tiles_n), instance % (GROUP * tiles_n)
    rows = tl.minimum(GROUP, tiles_m - number * GROUP)
    i = (number * GROUP + within % rows) * TILE_M + tl.arange(0, TILE_M)[:, None]
    j = within // rows * TILE_N + tl.arange(0, TILE_N)[None, :]
    total = tl.zeros((TILE_M, TILE_N), tl.float32)
    for first in range(0, k, TILE_K):
        of_a, of_b = first + tl.arange(0, TILE_K)[None, :], first + tl.arange(0, TILE_K)[:, None]
        x = tl.load(a + i * a_row + of_a * a_column, mask=(i < m) & (of_a < k), other=0.0)
        y = tl.load(b + of_b * b_row + j * b_column, mask=(of_b < k) & (j < n), other=0.0)
        total = tl.dot(x, y, total, input_precision="ieee")
    total += tl.load(bias + j, mask=j < n, other=0.0)
    if RELU:
        total = tl.maximum(total, 0.0)
    tl.store(out + i * n + j, total, mask=(i < m) & (j < n))
"""


# Attention -----------------------------------------------------------------------------------------------------------


def attention_source() -> str:
    """The text of a kernel that computes attention, a block of queries of one head for each instance:

        @triton.jit
        def attention(query, key, value, out, logsumexp, queries, keys, scale, CAUSAL: tl.constexpr, SIZE: tl.constexpr,
                      BLOCK_Q: tl.constexpr, BLOCK_K: tl.constexpr)

    `query` and `out` are (heads, queries, SIZE), `key` and `value` are (heads, keys, SIZE), and `logsumexp` is (heads, queries).
    All are contiguous. A query's scores are its products with the keys, times `scale`. The query's row of `out` is the sum of the
    values, weighted by the softmax of the scores. `logsumexp` is the logarithm of the sum of exp(score). If `CAUSAL` is true, query
    i sees the keys up to i. There are one query and one key at least.

    The grid is (blocks of `BLOCK_Q` queries, heads). An instance goes along the keys in blocks of `BLOCK_K`, with the largest score
    and the sum so far (`merge_partials` of lab 12b). All three sizes are powers of two, and at least 16. Scores are never in
    memory. No exponential overflows. The products are not rounded to TF32: `input_precision="ieee"`. No element beyond the arrays
    is read or written.

    The budget: an instance loads each of its queries once, and each key and value once. If `CAUSAL` is true, it loads no block of
    keys that is beyond the last query of its block, where the block has `BLOCK_Q` queries, also if there are fewer. Each element of
    `out` and `logsumexp` is stored once.

    Source: `torch/_inductor/kernel/flex/templates/flex_attention.py.jinja`; Triton's tutorial "Fused Attention"; T. Dao,
    "FlashAttention-2".
    """
    return r"""
import triton
import triton.language as tl


@triton.jit
def attention(
    query, key, value, out, logsumexp, queries, keys, scale,
    CAUSAL: tl.constexpr, SIZE: tl.constexpr, BLOCK_Q: tl.constexpr, BLOCK_K: tl.constexpr,
):
    block, head = tl.program_id(0), tl.program_id(1)
    i, d = block * BLOCK_Q + tl.arange(0, BLOCK_Q), tl.arange(0, SIZE)
    at = (head * queries + i)[:, None] * SIZE + d[None, :]
    q = tl.load(query + at, mask=i[:, None] < queries, other=0.0)
    largest = tl.full((BLOCK_Q,), -float("inf"), tl.float32)
    total = tl.zeros((BLOCK_Q,), tl.float32)
    mixed = tl.zeros((BLOCK_Q, SIZE), tl.float32)
    end = keys
    if CAUSAL:
        end = tl.minimum(keys, (block + 1) * BLOCK_Q)
    for first in range(0, end, BLOCK_K):
        j = first + tl.arange(0, BLOCK_K)
        of_key = (head * keys + j)[:, None] * SIZE + d[None, :]
        k = tl.load(key + of_key, mask=j[:, None] < keys, other=0.0)
        v = tl.load(value + of_key, mask=j[:, None] < keys, other=0.0)
        scores = tl.dot(q, tl.trans(k), input_precision="ieee") * scale
        sees = j[None, :] < keys
        if CAUSAL:
            sees = sees & (j[None, :] <= i[:, None])
        scores = tl.where(sees, scores, -float("inf"))
        larger = tl.maximum(largest, tl.max(scores, 1))
        powers, factor = tl.exp(scores - larger[:, None]), tl.exp(largest - larger)
        total = total * factor + tl.sum(powers, 1)
        mixed = mixed * factor[:, None] + tl.dot(powers, v, input_precision="ieee")
        largest = larger
    tl.store(out + at, mixed / total[:, None], mask=i[:, None] < queries)
    tl.store(logsumexp + head * queries + i, largest + tl.log(total), mask=i < queries)
"""
