"""Attention, written with tensor methods: it runs on rushlight and on torch.

`attention_weights` has the weights of all queries and keys at once. `tiled_attention` and its backward pass compute the same
results from blocks of keys, as `rushlight/aten/native/flash_attention.cpp` does. In PyTorch:
`aten/src/ATen/native/transformers/attention.cpp`, `aten/src/ATen/native/cpu/FlashAttentionKernel.cpp`. L is the number of queries,
S the number of keys, E the size of both, and Ev the size of a value.
"""

from __future__ import annotations

import math
from types import ModuleType
from typing import Any, NamedTuple

Tensor = Any
"""Of rushlight or of torch."""


# All weights at once -------------------------------------------------------------------------------------------------


def causal_mask(xp: ModuleType, queries: int, keys: int, window: int | None = None) -> Tensor:
    """Which key each query may see: itself, and the keys before it.

    The queries are the last tokens of a text, and the keys are all its tokens. So the last query is at the position of the last
    key, also if there are fewer queries than keys. With a `window`, a query sees only the last `window` of these keys, itself
    included.

    >>> causal_mask(rl, 2, 4).int().tolist()
    [[1, 1, 1, 0], [1, 1, 1, 1]]
    >>> causal_mask(rl, 3, 3, window=2).int().tolist()
    [[1, 0, 0], [1, 1, 0], [0, 1, 1]]

    Args:
        xp: the module whose tensor is returned: rushlight or torch.
        queries: at least 1.
        keys: at least `queries`.
        window: at least 1, or None.

    Returns:
        a bool tensor (queries, keys), True where a query sees a key.

    Source: `torch/nn/attention/bias.py`, `causal_lower_right`. With `is_causal=True`, `F.scaled_dot_product_attention` aligns the
    first query with the first key instead.
    """
    before = keys - queries
    mask = xp.ones(queries, keys, dtype=xp.bool).tril(before)
    return mask if window is None else mask.triu(before - window + 1)


def attention_weights(query: Tensor, key: Tensor, mask: Tensor | None = None, scale: float | None = None) -> Tensor:
    """The weight that each query gives to each key: softmax(query @ keyᵀ · scale) along the keys.

    With a mask of bool, the keys where it is False get weight 0. A mask of numbers is added to the scores. A query that sees no
    key, because all its scores are minus infinity, gets weight 0 for each of them, not NaN. If the query and the key are finite, no
    gradient is NaN either. The body calls no operator of attention, and not `_safe_softmax`.

    >>> query, key = rl.zeros(2, 3), rl.ones(4, 3)
    >>> attention_weights(query, key, rl.tensor([[True, True, False, False], [False] * 4])).tolist()
    [[0.5, 0.5, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0]]

    Args:
        query: (\\*, L, E), floating.
        key: (\\*, S, E), of the same dtype. The first dimensions are broadcast.
        mask: None, or a tensor that is broadcast to (\\*, L, S), of bool or of the dtype of the query.
        scale: a number. None is 1 / sqrt(E).

    Returns:
        a new tensor (\\*, L, S). A gradient of it reaches the query and the key. No argument changes, and no step computes in a
            narrower dtype than the query's.

    Source: `aten/src/ATen/native/transformers/attention.cpp`, `_scaled_dot_product_attention_math`, `_safe_softmax`.
    """
    scale = 1 / math.sqrt(query.shape[-1]) if scale is None else scale
    scores = query @ key.mT * scale
    if mask is not None:
        scores = scores + mask if mask.is_floating_point() else scores.masked_fill(mask.logical_not(), -math.inf)
    sees_nothing = (scores == -math.inf).all(-1, keepdim=True)
    return scores.masked_fill(sees_nothing, 0.0).softmax(-1).masked_fill(sees_nothing, 0.0)


# In tiles ------------------------------------------------------------------------------------------------------------


class Partial(NamedTuple):
    """The state of the queries after some of the keys. The values are not divided by `total` yet."""

    largest: Tensor
    """(\\*, L, 1): the largest score of each query, or minus infinity if it has seen no key."""
    total: Tensor
    """(\\*, L, 1): the sum of exp(score - largest) over these keys."""
    mixed: Tensor
    """(\\*, L, Ev): the sum of exp(score - largest) · value."""


def partial_attention(scores: Tensor, value: Tensor) -> Partial:
    """The `Partial` of a block of keys, from its scores (\\*, L, block) and its values (\\*, block, Ev)."""
    largest = scores.amax(-1, keepdim=True)
    weights = (scores - largest.masked_fill(largest == -math.inf, 0.0)).exp()
    return Partial(largest, weights.sum(-1, keepdim=True), weights @ value)


def merge_partials(first: Partial, second: Partial) -> Partial:
    """The `Partial` of the keys of both, as if all these keys had been one block.

    The sums of `first` and `second` are relative to different largest scores, so at least one of them must be scaled. No exp may
    overflow: scores may be as large as 1e30. For some queries a part may have seen no key, or both parts. Then its `largest` is
    minus infinity there, and its sums are 0. No result is NaN. All tensors have the same dtype, float32 or float64.

    >>> first = partial_attention(rl.tensor([[0.0, 2.0]]), rl.tensor([[1.0], [2.0]]))
    >>> second = partial_attention(rl.tensor([[1000.0]]), rl.tensor([[5.0]]))
    >>> [part.tolist() for part in merge_partials(first, second)]
    [[[1000.0]], [[1.0]], [[5.0]]]

    Returns:
        a new `Partial`. The tensors of both arguments do not change.

    Source: `aten/src/ATen/native/cpu/FlashAttentionKernel.cpp`, `cpu_flash_attention`; M. Milakov and N. Gimelshein, "Online
    normalizer calculation for softmax".
    """
    largest = first.largest.maximum(second.largest)
    shift = largest.masked_fill(largest == -math.inf, 0.0)  # minus infinity from itself is NaN
    a, b = (first.largest - shift).exp(), (second.largest - shift).exp()
    return Partial(largest, first.total * a + second.total * b, first.mixed * a + second.mixed * b)


def block_scores(query: Tensor, key: Tensor, begin: int, end: int, is_causal: bool, scale: float | None) -> Tensor:
    """The scores of the keys from `begin` to `end`, or to the last one: for each query a row, with a number for each of these keys.
    With `is_causal`, query i sees the keys up to i."""
    scale = 1 / math.sqrt(query.shape[-1]) if scale is None else scale
    scores = query @ key[..., begin:end, :].mT * scale
    if is_causal:
        later = scores.new_ones(scores.shape[-2:]).triu(1 - begin)
        scores = scores.masked_fill(later.bool(), -math.inf)
    return scores


def tiled_attention(
    query: Tensor, key: Tensor, value: Tensor, block: int, is_causal: bool = False, scale: float | None = None
) -> tuple[Tensor, Tensor]:
    """softmax(query @ keyᵀ · scale) @ value, from the scores of one block of keys at a time.

    The largest tensor that it makes has L · block elements in each head, or the size of an argument or of the result. The scores
    of all keys are never in memory at once, also not as arrays of numpy. With `is_causal`, query i sees the keys up to i. No exp
    may overflow. The body calls no operator of attention.

    >>> x = rl.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    >>> out, logsumexp = tiled_attention(x, x, x, block=2, is_causal=True)
    >>> out[0].tolist(), round(logsumexp[0].item(), 4)
    ([1.0, 0.0], 0.7071)

    Args:
        query: (\\*, L, E), floating, L at least 1.
        key: (\\*, S, E), S at least 1.
        value: (\\*, S, Ev).
        block: at least 1. It may be larger than S.
        scale: a number, 0 or more. None is 1 / sqrt(E).

    Returns:
        a tuple of two new tensors: the result (\\*, L, Ev), and the logarithm (\\*, L) of each query's sum of exp(score). No
            step computes in a narrower dtype than the query's.

    Source: `aten/src/ATen/native/cpu/FlashAttentionKernel.cpp`, `cpu_flash_attention`.
    """
    known = None
    for begin in range(0, key.shape[-2], block):
        end = begin + block
        part = partial_attention(block_scores(query, key, begin, end, is_causal, scale), value[..., begin:end, :])
        known = part if known is None else merge_partials(known, part)
    return known.mixed / known.total, (known.largest + known.total.log()).squeeze(-1)


def tiled_attention_backward(
    grad: Tensor,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    out: Tensor,
    logsumexp: Tensor,
    block: int,
    is_causal: bool = False,
    scale: float | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """The gradients of the query, the key and the value, from the gradient of `tiled_attention`'s result.

    No weights were saved. They are computed again, a block of keys at a time. The limits of memory are those of
    `tiled_attention`. The body calls no operator of attention, and not autograd.

    >>> x = rl.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    >>> out, logsumexp = tiled_attention(x, x, x, 2)
    >>> grads = tiled_attention_backward(rl.ones(3, 2), x, x, x, out, logsumexp, 2)
    >>> round(grads[2].sum().item(), 4)
    6.0

    Args:
        grad: (\\*, L, Ev), the gradient of `out`.
        query: as the other arguments, what `tiled_attention` got and returned.

    Returns:
        a tuple of three new tensors, with the sizes of query, key and value. No argument changes.

    Source: `aten/src/ATen/native/cpu/FlashAttentionKernel.cpp`, `cpu_flash_attention_backward`.
    """
    factor = 1 / math.sqrt(query.shape[-1]) if scale is None else scale
    delta = (grad * out).sum(-1, keepdim=True)
    of_query, of_key, of_value = (tensor.new_zeros(tensor.shape) for tensor in (query, key, value))
    for begin in range(0, key.shape[-2], block):
        end = begin + block
        scores = block_scores(query, key, begin, end, is_causal, scale)
        weights = (scores - logsumexp.unsqueeze(-1)).exp()
        of_scores = weights * (grad @ value[..., begin:end, :].mT - delta) * factor
        of_query += of_scores @ key[..., begin:end, :]
        of_key[..., begin:end, :] = of_scores.mT @ query
        of_value[..., begin:end, :] = weights.mT @ grad
    return of_query, of_key, of_value


def attention_traffic(
    batch: int, heads: int, queries: int, keys: int, size: int, tile: int, itemsize: int = 4
) -> tuple[int, int]:
    """The bytes that attention reads from memory and writes to it, unfused and fused. The size of a value is that of a key.

    Unfused, there are three operators: the scores from queries and keys, their softmax, and the result from weights and values.
    Each reads its inputs and writes its result, once. (The scale is part of the first one, and there is no mask.)

    Fused, there is one operator. It takes `tile` queries of a head at a time, and the rest as the last tile. For each tile it
    reads these queries, all keys and all values of the head, and writes these rows of the result. All else stays in the cache.

    >>> attention_traffic(1, 1, 2, 3, 1, tile=2, itemsize=1)
    (34, 10)

    Returns:
        a tuple of two ints: the bytes unfused, and fused.

    Source: T. Dao et al., "FlashAttention: Fast and Memory-Efficient Exact Attention with IO-Awareness", section 3.2.
    """
    pairs, weights = batch * heads, queries * keys
    unfused = 2 * queries * size + 2 * keys * size + 4 * weights
    fused = 2 * queries * size + -(-queries // tile) * 2 * keys * size
    return pairs * unfused * itemsize, pairs * fused * itemsize


# Other kinds ---------------------------------------------------------------------------------------------------------


def rotate(x: Tensor, positions: Tensor, base: float = 10000.0) -> Tensor:
    """Rotary embedding: each pair of numbers of a token, turned by an angle that its position gives.

    Pair i has the elements 2i and 2i + 1. At position p it is turned by the angle p · base^(-2i / size): (a, b) becomes
    (a cos - b sin, a sin + b cos). The angles have the dtype of `x`, or a wider one. So the product of a query and a key that were
    turned depends on their distance, not on their positions.

    >>> x = rl.tensor([[1.0, 0.0], [1.0, 0.0]])
    >>> [[round(number, 4) for number in row] for row in rotate(x, rl.tensor([0, 1])).tolist()]
    [[1.0, 0.0], [0.5403, 0.8415]]

    Args:
        x: (\\*, n, size), floating. `size` is even.
        positions: (n,), int64, in any order.

    Returns:
        a new tensor of the sizes and the dtype of `x`, which does not change. A gradient of it reaches `x`.

    Source: none in PyTorch; J. Su et al., "RoFormer". torchtune, `RotaryPositionalEmbeddings`.
    """
    size = x.shape[-1]
    rates = x.new_tensor([base ** (-i / size) for i in range(0, size, 2)])
    angles = positions.unsqueeze(-1) * rates
    cos, sin, a, b = angles.cos(), angles.sin(), x[..., ::2], x[..., 1::2]
    turned = x.clone()
    turned[..., ::2], turned[..., 1::2] = a * cos - b * sin, a * sin + b * cos
    return turned


def grouped_attention(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> Tensor:
    """Attention in which several heads of queries share a head of keys and values. A cache of keys is smaller by this factor.

    With 6 heads of queries and 2 heads of keys, the heads 0, 1 and 2 use the first head of keys and values, and 3, 4 and 5 the
    second. The body calls no operator of attention, but it may call `attention_weights`.

    >>> query, value = rl.zeros(1, 4, 1, 2), rl.tensor([[[[1.0]], [[2.0]]]])
    >>> grouped_attention(query, rl.zeros(1, 2, 1, 2), value).flatten().tolist()
    [1.0, 1.0, 2.0, 2.0]

    Args:
        query: (batch, heads, L, E), floating.
        key: (batch, shared, S, E), where `heads` is a multiple of `shared`.
        value: (batch, shared, S, Ev).
        mask: None, or what `attention_weights` takes, of sizes (L, S).

    Returns:
        a tensor (batch, heads, L, Ev). A gradient of it reaches the query, the key and the value. No argument changes.

    Source: `torch.nn.functional.scaled_dot_product_attention`, `enable_gqa`;
    `aten/src/ATen/native/transformers/attention.cpp`, `pre_process_group_query_attention_input`.
    """
    groups = query.unflatten(1, (key.shape[1], -1))
    weights = attention_weights(groups, key.unsqueeze(2), mask)
    return (weights @ value.unsqueeze(2)).flatten(1, 2)
