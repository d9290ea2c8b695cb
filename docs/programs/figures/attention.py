"""A block of attention in Triton: what one instance loads, block of keys by block, and what it keeps of each query meanwhile.

The kernels run in Triton's interpreter, which counts. An instance is run again for each number of blocks of keys, and writes its
running maximum, its running sum and its sums of values then. Beside it are three kernels that write scores and weights to memory.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import torch

from rushlight.on_torch import triton_on_host

PHASE, SIZE = "14", (652, 438)
N, WIDTH = 128, 16  # queries and keys, and numbers of each
BLOCKS = 16, 32, 64
SCALE = WIDTH**-0.5
TEXT = """
import triton
import triton.language as tl


@triton.jit
def attention(q, k, v, out, tops, totals, at, end, scale, CAUSAL: tl.constexpr, BLOCK: tl.constexpr, WIDTH: tl.constexpr):
    at += tl.program_id(0)
    row, width = at * BLOCK + tl.arange(0, BLOCK), tl.arange(0, WIDTH)[None, :]
    queries = tl.load(q + row[:, None] * WIDTH + width)
    top, total = tl.full((BLOCK,), -float("inf"), tl.float32), tl.zeros((BLOCK,), tl.float32)
    sums = tl.zeros((BLOCK, WIDTH), tl.float32)
    if CAUSAL:
        end = min(end, (at + 1) * BLOCK)
    for first in range(0, end, BLOCK):
        column = first + tl.arange(0, BLOCK)
        keys = tl.load(k + column[:, None] * WIDTH + width)
        values = tl.load(v + column[:, None] * WIDTH + width)
        scores = tl.dot(queries, tl.trans(keys), input_precision="ieee", out_dtype=tl.float32) * scale
        if CAUSAL:
            scores = tl.where(column[None, :] <= row[:, None], scores, -float("inf"))
        higher = tl.maximum(top, tl.max(scores, 1))
        weights, factor = tl.exp(scores - higher[:, None]), tl.exp(top - higher)
        total = total * factor + tl.sum(weights, 1)
        sums = tl.dot(weights, values, sums * factor[:, None], input_precision="ieee", out_dtype=tl.float32)
        top = higher
    tl.store(tops + row, top)
    tl.store(totals + row, total)
    tl.store(out + row[:, None] * WIDTH + width, sums / total[:, None])


@triton.jit
def product(a, b, out, inner, b_row, b_column, scale, BLOCK: tl.constexpr, COLUMNS: tl.constexpr, STEP: tl.constexpr):
    row, column = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK), tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS)
    sums = tl.zeros((BLOCK, COLUMNS), tl.float32)
    for first in range(0, inner, STEP):
        k = first + tl.arange(0, STEP)
        left = tl.load(a + row[:, None] * inner + k[None, :])
        right = tl.load(b + k[:, None] * b_row + column[None, :] * b_column)
        sums = tl.dot(left, right, sums, input_precision="ieee", out_dtype=tl.float32)
    columns = tl.num_programs(1) * COLUMNS
    tl.store(out + row[:, None] * columns + column[None, :], sums * scale)


@triton.jit
def softmax(x, out, columns, BLOCK: tl.constexpr, COLUMNS: tl.constexpr):
    row, column = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK), tl.arange(0, COLUMNS)[None, :]
    at, inside = row[:, None] * columns + column, column < columns
    values = tl.load(x + at, mask=inside, other=-float("inf"))
    powers = tl.exp(values - tl.max(values, 1)[:, None])
    tl.store(out + at, powers / tl.sum(powers, 1)[:, None], mask=inside)
"""


@dataclass
class Attention:
    """The kernels of this text, for these queries, keys and values."""

    text: str
    q: np.ndarray
    k: np.ndarray
    v: np.ndarray

    def __post_init__(self) -> None:
        self.module = triton_on_host.Module(self.text)

    def zeros(self, *sizes: int) -> np.ndarray:
        return np.zeros(sizes, self.q.dtype)

    def scores(self, block: int, queries: int, keys: int) -> tuple[triton_on_host.Result, np.ndarray]:
        """The scores of the first queries and keys."""
        scores, sizes = self.zeros(queries, keys), {"BLOCK": block, "COLUMNS": block, "STEP": WIDTH}
        given = self.q, self.k, scores, WIDTH, 1, WIDTH, SCALE
        return self.module.launch("product", (queries // block, keys // block), *given, **sizes), scores

    def fused(
        self, block: int, first: int, count: int, end: int, causal: bool = False
    ) -> tuple[tuple[int, int], list[np.ndarray]]:
        """The bytes that `count` instances load and store for the keys before `end`; the running maxima and sums, and results."""
        kept = tops, totals, out = self.zeros(N), self.zeros(N), self.zeros(N, WIDTH)
        given = self.q, self.k, self.v, out, tops, totals, first, end, SCALE
        result = self.module.launch("attention", count, *given, CAUSAL=causal, BLOCK=block, WIDTH=WIDTH)
        return (result.bytes("load"), result.bytes("store", "out")), [*kept]

    def naive(self, block: int, queries: int, keys: int) -> list[int]:
        """The bytes that three kernels load and store for so many queries and keys: scores, softmax, product with the values.
        The last one stores its result when all keys are done."""
        if keys == 0:
            return [0, 0, 0]
        first, scores = self.scores(block, queries, keys)
        weights, out, blocks = self.zeros(queries, keys), self.zeros(N, WIDTH), queries // block
        columns = 1 << (keys - 1).bit_length()
        second = self.module.launch("softmax", blocks, scores, weights, keys, BLOCK=block, COLUMNS=columns)
        sizes = {"BLOCK": block, "COLUMNS": WIDTH, "STEP": block}
        third = self.module.launch("product", (blocks, 1), weights, self.v, out, keys, WIDTH, 1, 1.0, **sizes)
        if keys == N:
            np.testing.assert_allclose(out[:queries], self.by_torch(False)[:queries], rtol=1e-4, atol=1e-5)
        stored = third.bytes("store") if keys == N else 0
        return [*(each.bytes("load") + each.bytes("store") for each in (first, second)), third.bytes("load") + stored]

    def by_torch(self, causal: bool) -> np.ndarray:
        tensors = (torch.from_numpy(each)[None] for each in (self.q, self.k, self.v))
        return torch.nn.functional.scaled_dot_product_attention(*tensors, is_causal=causal)[0].numpy()


def data() -> dict:
    """For each size of blocks: bytes of an instance and of three kernels after 0, 1, ... blocks of keys, and what is kept.

    Bytes are those of float32. Numbers are computed in float64, so that their rounded digits are those of every processor."""
    numbers = 1.2 * np.random.default_rng(46).standard_normal((3, N, WIDTH))
    attention = Attention(TEXT, *numbers.astype("float32"))
    exact = Attention(TEXT.replace("float32", "float64"), *numbers)
    _, scores = exact.scores(BLOCKS[1], N, N)
    shown = range(BLOCKS[0] - 1, N, BLOCKS[0])  # the last query of each block
    blocks = {block: of_blocks(attention, exact, block) for block in BLOCKS}
    return {"n": N, "width": WIDTH, "scores": {row: rounded(scores[row]) for row in shown}, "blocks": blocks}


def of_blocks(attention: Attention, exact: Attention, block: int) -> dict:
    """All that is shown of blocks of this size."""
    count, rows, moved = N // block, [], []
    for at in range(count):
        last, ends = (at + 1) * block - 1, [keys * block for keys in range(count + 1)]
        moved.append([attention.fused(block, at, 1, end)[0] for end in ends])
        # a causal instance ends after its own block, and its last query sees all keys until then
        assert [attention.fused(block, at, 1, end, True)[0] for end in ends] == [
            moved[at][min(keys, at + 1)] for keys in range(count + 1)
        ]
        kept = [exact.fused(block, at, 1, end)[1] for end in ends[1:]]
        for (_, _, out), causal in ((kept[-1], False), (kept[at], True)):
            np.testing.assert_allclose(out[last], exact.by_torch(causal)[last])
        rows.append(
            [[*rounded([tops[last], totals[last]]), rounded(out[last] * totals[last])] for tops, totals, out in kept]
        )
    assert all(each == moved[0] for each in moved)
    return {
        "loaded": [loaded for loaded, _ in moved[0]],
        "stored": moved[0][0][1],
        "naive": [attention.naive(block, block, keys * block) for keys in range(count + 1)],
        "whole": [sum(attention.fused(block, 0, count, N, causal)[0]) for causal in (False, True)],
        "whole naive": sum(attention.naive(block, N, N)),
        "rows": rows,
    }


def rounded(values: Iterable[float]) -> list[float]:
    return [round(float(value), 3) for value in values]
