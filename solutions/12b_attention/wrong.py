"""Wrong answers to lab 12b that a student might well give and that no mutant of the reference is: each fails on an edge.

A function's name is its exercise's, two underscores, and what is wrong.
"""

import math

import numpy as np

import rushlight as rl
from rushlight.aten.generated import functions
from rushlight.course import attention, gpt, predictions, stream
from rushlight.course.attention import Partial
from rushlight.nn.functional import gelu

from ..shared import copied, edited

# Profiles


attention_weights, attended = edited(attention.attention_weights), edited(predictions.attended)


attention_traffic, split_heads_right = edited(attention.attention_traffic), edited(gpt.split_heads)


tiled, backward = edited(attention.tiled_attention), edited(attention.tiled_attention_backward)

# Attention


def causal_mask__upper_left(xp, queries, keys, window=None):
    mask = xp.ones(queries, keys, dtype=xp.bool).tril()
    return mask if window is None else mask.triu(1 - window)


def causal_mask__window_without_itself(xp, queries, keys, window=None):
    mask = xp.ones(queries, keys, dtype=xp.bool).tril(keys - queries)
    return mask if window is None else mask.triu(keys - queries - window)


def causal_mask__numbers(xp, queries, keys, window=None):
    mask = xp.ones(queries, keys).tril(keys - queries)
    return mask if window is None else mask.triu(keys - queries - window + 1)


def attention_weights__nan(query, key, mask=None, scale=None):
    scores = query @ key.mT * (1 / math.sqrt(query.shape[-1]) if scale is None else scale)
    if mask is not None:
        scores = scores + mask if mask.is_floating_point() else scores.masked_fill(~mask, -math.inf)
    return scores.softmax(-1)


def attention_weights__equal_weights(query, key, mask=None, scale=None):
    """With a large number in the place of minus infinity, a query without keys gets a mean of all."""
    scores = query @ key.mT * (1 / math.sqrt(query.shape[-1]) if scale is None else scale)
    if mask is not None:
        scores = scores + mask.clamp(min=-1e9) if mask.is_floating_point() else scores.masked_fill(~mask, -1e9)
    return scores.softmax(-1)


def attention_weights__scale_or(query, key, mask=None, scale=None):
    """0 is a scale, too."""
    return attention_weights(query, key, mask, scale or 1 / math.sqrt(query.shape[-1]))


def attention_weights__masked_after(query, key, mask=None, scale=None):
    """The weights of the other keys must add up to 1."""
    weights = attention_weights(query, key, None, scale)
    if mask is None:
        return weights
    return attention_weights(query, key, mask, scale) if mask.is_floating_point() else weights * mask


def attention_weights__overflow(query, key, mask=None, scale=None):
    """Without the largest score, exp overflows."""
    scores = query @ key.mT * (1 / math.sqrt(query.shape[-1]) if scale is None else scale)
    if mask is not None:
        scores = scores + mask if mask.is_floating_point() else scores.masked_fill(~mask, -math.inf)
    weights = scores.exp()
    total = weights.sum(-1, keepdim=True)
    return weights / total.masked_fill(total == 0, 1)


def merge_partials__added(first, second):
    return Partial(first.largest.maximum(second.largest), first.total + second.total, first.mixed + second.mixed)


def merge_partials__only_the_first(first, second):
    """The second one may have the smaller scores."""
    largest = first.largest.maximum(second.largest)
    factor = (first.largest - largest).exp()
    return Partial(largest, first.total * factor + second.total, first.mixed * factor + second.mixed)


def merge_partials__nan(first, second):
    largest = first.largest.maximum(second.largest)
    a, b = (first.largest - largest).exp(), (second.largest - largest).exp()
    return Partial(largest, first.total * a + second.total * b, first.mixed * a + second.mixed * b)


def merge_partials__overflow(first, second):
    largest = first.largest.maximum(second.largest)
    a, b = first.largest.exp(), second.largest.exp()
    total = (first.total * a + second.total * b) / largest.exp()
    return Partial(largest, total, (first.mixed * a + second.mixed * b) / largest.exp())


merge_partials__a_small_sentinel = edited(
    attention.merge_partials, ("largest.masked_fill(largest == -math.inf, 0.0)", "largest.clamp(min=-1e9)")
)


merge_partials__the_largest_of_the_first = edited(
    attention.merge_partials, ("return Partial(largest,", "return Partial(first.largest,")
)
merge_partials__mixed_as_they_are = edited(
    attention.merge_partials, ("first.mixed * a + second.mixed * b", "first.mixed + second.mixed")
)


def _from(begin, query, key, value, block, is_causal, scale):
    """Tiles in which the largest score begins with a number."""
    largest = query.new_full([*query.shape[:-1], 1], begin)
    total, mixed = largest.new_zeros(largest.shape), query.new_zeros([*query.shape[:-1], value.shape[-1]])
    for first in range(0, key.shape[-2], block):
        scores = attention.block_scores(query, key, first, first + block, is_causal, scale)
        now = largest.maximum(scores.amax(-1, keepdim=True))
        weights, factor = (scores - now).exp(), (largest - now).exp()
        total, mixed = total * factor + weights.sum(-1, keepdim=True), mixed * factor
        mixed, largest = mixed + weights @ value[..., first : first + block, :], now
    return mixed / total, (largest + total.log()).squeeze(-1)


def tiled_attention__largest_begins_at_0(query, key, value, block, is_causal=False, scale=None):
    return _from(0.0, query, key, value, block, is_causal, scale)


def tiled_attention__no_largest(query, key, value, block, is_causal=False, scale=None):
    total = mixed = 0
    for first in range(0, key.shape[-2], block):
        weights = attention.block_scores(query, key, first, first + block, is_causal, scale).exp()
        total, mixed = total + weights.sum(-1, keepdim=True), mixed + weights @ value[..., first : first + block, :]
    return mixed / total, total.log().squeeze(-1)


def tiled_attention__fused(query, key, value, block, is_causal=False, scale=None):
    if query.shape[-1] != value.shape[-1] or is_causal and scale == 0:
        return tiled(query, key, value, block, is_causal, scale)
    lead = query.shape[:-2]
    four = (each.reshape(1, -1, *each.shape[-2:]) for each in (query, key, value))
    fused = rl.ops.aten._scaled_dot_product_flash_attention_for_cpu
    out, logsumexp = fused(*four, 0.0, is_causal, scale=scale)
    return out.reshape(*lead, *out.shape[-2:]), logsumexp.reshape(*lead, logsumexp.shape[-1])


def tiled_attention_backward__changes_out(grad, query, key, value, out, logsumexp, *others, **more):
    found = backward(grad, query, key, value, out, logsumexp, *others, **more)
    out.zero_()
    return found


def causal_mask__of_the_notebook(xp, queries, keys, window=None):
    mask = rl.ones(queries, keys, dtype=rl.bool).tril(keys - queries)
    return mask if window is None else mask.triu(keys - queries - window + 1)


def grouped_attention__only_bool(query, key, value, mask=None):
    groups, shared = query.unflatten(1, (key.shape[1], -1)), (key.unsqueeze(2), value.unsqueeze(2))
    given = mask if mask is None or not mask.is_floating_point() else None
    return (attention_weights(groups, shared[0], given) @ shared[1]).flatten(1, 2)


def grouped_attention__fused(query, key, value, mask=None):
    return rl.nn.functional.scaled_dot_product_attention(query, key, value, attn_mask=mask, enable_gqa=True)


def attention_weights__safe_softmax(query, key, mask=None, scale=None):
    scores = query @ key.mT * (1 / math.sqrt(query.shape[-1]) if scale is None else scale)
    if mask is not None:
        scores = scores + mask if mask.is_floating_point() else scores.masked_fill(~mask, -math.inf)
    return rl.ops.aten._safe_softmax(scores, -1)


attention_weights__looks_at_masked_rows_only = edited(
    attention.attention_weights,
    ("    sees_nothing =", "    if mask is None:\n        return scores.softmax(-1)\n    sees_nothing ="),
)
attention_weights__gradients_of_nan = edited(
    attention.attention_weights, ("masked_fill(sees_nothing, 0.0).softmax", "softmax")
)
attention_weights__replaces_every_nan = edited(
    attention.attention_weights,
    ("masked_fill(sees_nothing, 0.0).softmax", "softmax"),
    ("sees_nothing = (scores == -math.inf).all(-1, keepdim=True)", "sees_nothing = scores.softmax(-1).isnan()"),
)


def attention_weights__sizes_of_the_query(query, key, mask=None, scale=None):
    found = attention_weights(query, key, mask, scale)
    return found[(0,) * (found.dim() - query.dim())] if found.shape[:-2] == query.shape[:-2] else found[:1]


def tied_gradient__autograd(tokens, of_embedded, hidden, of_scores):
    weight = rl.zeros(of_scores.shape[-1], hidden.shape[-1], dtype=hidden.dtype, requires_grad=True)
    return rl.autograd.grad([weight[tokens], hidden @ weight.mT], [weight], [of_embedded, of_scores])[0]


def rms_norm__of_the_framework(x, weight, eps=1e-5):
    return rl.nn.functional.rms_norm(x, weight.shape, weight, eps)


def tiled_attention__all_scores_as_an_array(query, key, value, block, is_causal=False, scale=None):
    """Numpy's arrays are no tensors, but they take memory, too."""
    q, k, v = (each.numpy() for each in (query, key, value))
    scores = q @ k.swapaxes(-1, -2)
    scores *= q.shape[-1] ** -0.5 if scale is None else scale
    if is_causal:
        scores[..., ~np.tril(np.ones(scores.shape[-2:], bool))] = -np.inf
    largest = scores.max(-1, keepdims=True)
    scores -= largest
    np.exp(scores, out=scores)
    total = scores.sum(-1, keepdims=True)
    return rl.from_numpy(scores @ v / total), rl.from_numpy((largest + np.log(total))[..., 0])


def tiled_attention__all_scores(query, key, value, block, is_causal=False, scale=None):
    scores = attention.block_scores(query, key, 0, key.shape[-2], is_causal, scale)
    return scores.softmax(-1) @ value, scores.logsumexp(-1)


attention_weights__in_single_precision = edited(
    attention.attention_weights, (".softmax(-1)", ".float().softmax(-1).to(scores.dtype)")
)
tiled_attention__in_single_precision = edited(
    attention.tiled_attention,
    ("known.mixed / known.total,", "(known.mixed.float() / known.total.float()).to(query.dtype),"),
)
tiled_attention__without_the_largest = edited(
    attention.tiled_attention, ("(known.largest + known.total.log())", "known.total.log()")
)
tiled_attention__a_mean_of_means = edited(attention.tiled_attention, ("known.mixed / known.total,", "known.mixed,"))


tiled_attention__the_last_block_left_out = edited(
    attention.tiled_attention, ("range(0, key.shape[-2], block)", "range(0, max(1, key.shape[-2] - block + 1), block)")
)
tiled_attention_backward__masks_the_weights = edited(
    attention.tiled_attention_backward,
    ("begin, end, is_causal, scale)", "begin, end, False, scale)"),
    (
        "unsqueeze(-1)).exp()",
        "unsqueeze(-1)).exp() * (block_scores(query, key, begin, end, is_causal, scale) > -math.inf)",
    ),
)
tiled_attention_backward__without_delta = edited(attention.tiled_attention_backward, (".mT - delta)", ".mT)"))


tiled_attention_backward__without_scale = edited(attention.tiled_attention_backward, (" * factor\n", "\n"))
tiled_attention_backward__only_the_last = edited(
    attention.tiled_attention_backward, ("of_query += of_scores", "of_query[...] = of_scores")
)


def tiled_attention_backward__all_weights(grad, query, key, value, out, logsumexp, block, is_causal=False, scale=None):
    return backward(grad, query, key, value, out, logsumexp, key.shape[-2], is_causal, scale)


tiled_attention_backward__weights_of_a_block = edited(
    attention.tiled_attention_backward, ("(scores - logsumexp.unsqueeze(-1)).exp()", "scores.softmax(-1)")
)


def attention_traffic__scores_once(batch, heads, queries, keys, size, tile, itemsize=4):
    unfused, fused = attention_traffic(batch, heads, queries, keys, size, tile, itemsize)
    return unfused - 2 * batch * heads * queries * keys * itemsize, fused


def attention_traffic__keys_once(batch, heads, queries, keys, size, tile, itemsize=4):
    unfused, _ = attention_traffic(batch, heads, queries, keys, size, tile, itemsize)
    return unfused, 2 * batch * heads * size * (queries + keys) * itemsize


def attention_traffic__no_last_tile(batch, heads, queries, keys, size, tile, itemsize=4):
    unfused, _ = attention_traffic(batch, heads, queries, keys, size, tile, itemsize)
    return unfused, 2 * batch * heads * size * (queries + max(1, queries // tile) * keys) * itemsize


def rotate__halves(x, positions, base=10000.0):
    """The other convention: element i and element i + size / 2 are a pair."""
    half = x.shape[-1] // 2
    rates = base ** (functions.arange(half).to(x.dtype) / -half)
    angles = positions[:, None] * rates
    a, b = x[..., :half], x[..., half:]
    return functions.cat([a * angles.cos() - b * angles.sin(), a * angles.sin() + b * angles.cos()], -1)


rotate__other_way = edited(
    attention.rotate, ("a * cos - b * sin, a * sin + b * cos", "a * cos + b * sin, b * cos - a * sin")
)
rotate__a_part_without_a_gradient = edited(attention.rotate, ("b * sin,", "(b * sin).detach(),"))
rotate__of_halves_in_float32 = edited(
    attention.rotate, ("    return turned\n", "    return turned if x.dtype.itemsize > 2 else turned.float()\n")
)
rotate__one_rate = edited(attention.rotate, ("base ** (-i / size)", "base ** 0.0"))


def grouped_attention__in_turn(query, key, value, mask=None):
    """Heads 0 and 2 share, not 0 and 1."""
    times = query.shape[1] // key.shape[1]
    key, value = (each.repeat(1, times, 1, 1) for each in (key, value))
    return attention_weights(query, key, mask) @ value


def grouped_attention__copied_heads(query, key, value, mask=None):
    """New tensors, which no gradient leaves."""
    times = query.shape[1] // key.shape[1]
    key, value = (rl.tensor(each.tolist(), dtype=each.dtype).repeat_interleave(times, 1) for each in (key, value))
    return attention_weights(query, key, mask) @ value


def grouped_attention__without_a_mask(query, key, value, mask=None):
    times = query.shape[1] // key.shape[1]
    key, value = (each.repeat_interleave(times, 1) for each in (key, value))
    return attention_weights(query, key) @ value


# The model


def split_heads__reshaped(x, heads):
    """The numbers of a head are no neighbours."""
    batch, n, width = x.shape
    parts = x.reshape(batch, n, 3, width // 3 // heads, heads).permute(2, 0, 4, 1, 3)
    return tuple(parts.unbind(0))


def split_heads__copies(x, heads):
    return tuple(each.contiguous() for each in split_heads_right(x, heads))


def split_heads__heads_first(x, heads):
    """Query, key and value of a head next to each other, as some libraries pack them."""
    return tuple(x.unflatten(2, (heads, 3, -1)).permute(3, 0, 2, 1, 4).unbind(0))


def merge_heads__not_transposed(x):
    return x.reshape(x.shape[0], x.shape[2], -1)


def merge_heads__always_a_copy(x):
    return x.transpose(1, 2).contiguous().flatten(2).clone()


forward_block__norm_after = edited(
    gpt.forward_block,
    ("block.attention(block.norm_1(x))", "block.attention(x)"),
    ("x = x + block.projection(merge_heads(attend(query, key, value)))",
     "x = block.norm_1(x + block.projection(merge_heads(attend(query, key, value))))"),
)  # fmt: skip


forward_block__stream_replaced = edited(gpt.forward_block, ("x = x + block.projection", "x = block.projection"))
forward_block__without_activation = edited(
    gpt.forward_block, ("block.activation(block.up(block.norm_2(x)))", "block.up(block.norm_2(x))")
)


def forward_block__always_gelu(block, x, heads, attend):
    query, key, value = gpt.split_heads(block.attention(block.norm_1(x)), heads)
    x = x + block.projection(gpt.merge_heads(attend(query, key, value)))
    return x + block.down(gelu(block.up(block.norm_2(x)), approximate="tanh"))


forward_block__first_norm_twice = edited(gpt.forward_block, ("block.norm_2(x)", "block.norm_1(x)"))


forward_block__attends_twice = edited(
    gpt.forward_block, ("attend(query, key, value)", "(attend(query, key, value) + attend(query, key, value)) / 2")
)


forward_block__a_detached_stream = edited(gpt.forward_block, ("return x + block", "return x.detach() + block"))
forward_block__of_detached_x = edited(
    gpt.forward_block, ("block.norm_1(x)", "block.norm_1(x.detach())"), ("x = x + block", "x = x.detach() + block")
)


tied_gradient__last_wins = edited(
    stream.tied_gradient,
    ("of_head.index_add(", "of_head.index_copy("),
)  # fmt: skip


def tied_gradient__only_the_head(tokens, of_embedded, hidden, of_scores):
    return of_scores.flatten(0, 1).mT @ hidden.flatten(0, 1)


def rms_norm__layer_norm(x, weight, eps=1e-5):
    return rms_norm__no_half(x - x.mean(-1, keepdim=True), weight, eps)


def rms_norm__no_half(x, weight, eps=1e-5):
    return x * (x.square().mean(-1, keepdim=True) + eps).rsqrt() * weight


rms_norm__eps_outside = edited(
    stream.rms_norm,
    (
        "(wide.square().mean(-1, keepdim=True) + eps).rsqrt()",
        "(1 / (wide.square().mean(-1, keepdim=True).sqrt() + eps))",
    ),
)


_RMS_NORM = copied(stream.rms_norm)


def rms_norm__scale_without_history(x, weight, eps=1e-5):
    wide = x.float() if x.dtype.itemsize < 4 else x
    with rl.no_grad():
        scale = (wide.square().mean(-1, keepdim=True) + eps).rsqrt()
    return (wide * scale * weight.to(wide.dtype)).to(x.dtype)


def rms_norm__weight_as_data(x, weight, eps=1e-5):
    return _RMS_NORM(x, weight.data, eps)


rms_norm__in_float32 = edited(stream.rms_norm, ("scaled.to(x.dtype)", "scaled"))


# Predictions


def attended__lower_right(program):
    return [8.0, 12.0] if program == "causal, two queries" else attended(program)


def attended__zeros_mask(program):
    return [0.0] * 4 if program == "a mask of zeros" else attended(program)


def attended__nan_too(program):
    return [None] * 4 if program == "a mask of False" else attended(program)


# What each hint is for

causal_mask__without_itself = edited(attention.causal_mask, ("tril(before)", "tril(before - 1)"))


def merge_partials__relative_to_0(first, second):
    """exp of a score overflows."""
    largest = first.largest.maximum(second.largest)
    back = largest.masked_fill(largest == -math.inf, 0.0).exp()
    a, b = (part.largest.exp() / back for part in (first, second))
    return Partial(largest, first.total * a + second.total * b, first.mixed * a + second.mixed * b)


def attention_weights__without_gradients(query, key, mask=None, scale=None):
    return attention_weights_right(query.detach(), key.detach(), mask, scale)


attention_weights_right = copied(attention.attention_weights)
