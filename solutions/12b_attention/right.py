"""Correct answers to lab 12b in other styles than the reference's: every check must accept them.

A function's name is its exercise's, two underscores, and the style.
"""

import math

from rushlight.aten.generated import functions
from rushlight.course import attention, gpt
from rushlight.course.attention import Partial, block_scores
from rushlight.course.gpt import merge_heads, split_heads

from ..shared import edited

# Attention


def causal_mask__compare(xp, queries, keys, window=None):
    distance = xp.arange(keys - queries, keys)[:, None] - xp.arange(keys)[None, :]
    mask = distance >= 0
    if window is not None:
        mask = mask & (distance < window)
    return mask


def causal_mask__lists(xp, queries, keys, window=None):
    window = keys if window is None else window
    rows = []
    for i in range(keys - queries, keys):
        rows.append([i - window < j <= i for j in range(keys)])
    return xp.tensor(rows)


def attention_weights__by_hand(query, key, mask=None, scale=None):
    if scale is None:
        scale = query.shape[-1] ** -0.5
    scores = (query * scale).matmul(key.transpose(-2, -1))
    if mask is not None and not mask.is_floating_point():
        mask = scores.new_zeros(mask.shape).masked_fill(~mask, float("-inf"))
    if mask is not None:
        scores = scores + mask
    largest = scores.amax(-1, keepdim=True)
    weights = (scores - largest.masked_fill(largest == float("-inf"), 0)).exp()
    total = weights.sum(-1, keepdim=True)
    return weights / total.masked_fill(total == 0, 1)


def attention_weights__where(query, key, mask=None, scale=None):
    scores = query @ key.mT * (1 / math.sqrt(query.shape[-1]) if scale is None else scale)
    if mask is not None and "bool" in str(mask.dtype):
        scores = functions.where(mask, scores, scores.new_full((), -math.inf))
    elif mask is not None:
        scores = mask + scores
    nothing = scores.amax(-1, keepdim=True) == -math.inf
    weights = functions.where(nothing, scores.new_zeros(()), scores).softmax(-1)
    return functions.where(nothing, weights.new_zeros(()), weights)


def merge_partials__factors(first, second):
    first_is_larger = first.largest >= second.largest
    largest = functions.where(first_is_larger, first.largest, second.largest)
    gap = -(first.largest - second.largest).abs()
    gap = gap.masked_fill(gap.isnan(), 0.0)
    small = gap.exp()
    one = small.new_ones(small.shape)
    a = functions.where(first_is_larger, one, small)
    b = functions.where(first_is_larger, small, one)
    return Partial(largest, a * first.total + b * second.total, a * first.mixed + b * second.mixed)


def merge_partials__nan_is_nothing(first, second):
    largest = functions.maximum(first.largest, second.largest)

    def factor(part):
        distance = part.largest - largest
        return functions.where(distance.isnan(), 0.0, distance.exp())

    a, b = factor(first), factor(second)
    return Partial(largest, *(x * a + y * b for x, y in zip(first[1:], second[1:])))


def merge_partials__stacked(first, second):
    largest = functions.stack([first.largest, second.largest])
    top = largest.amax(0)
    factors = (largest - top.clamp(min=-1e35)).exp()
    total = (functions.stack([first.total, second.total]) * factors).sum(0)
    mixed = (functions.stack([first.mixed, second.mixed]) * factors).sum(0)
    return Partial(largest=top, total=total, mixed=mixed)


def tiled_attention__running(query, key, value, block, is_causal=False, scale=None):
    shape = query.shape[:-1]
    largest, total = query.new_full([*shape, 1], -math.inf), query.new_zeros([*shape, 1])
    mixed = query.new_zeros([*shape, value.shape[-1]])
    begin = 0
    while begin < key.shape[-2]:
        end = min(begin + block, key.shape[-2])
        scores = block_scores(query, key, begin, end, is_causal, scale)
        now = functions.maximum(largest, scores.amax(-1, keepdim=True))
        weights, factor = (scores - now).exp(), (largest - now).exp()
        total = total * factor + weights.sum(-1, keepdim=True)
        mixed = mixed * factor + weights @ value[..., begin:end, :]
        largest, begin = now, end
    return mixed / total, (largest + total.log())[..., 0]


def tiled_attention__two_passes(query, key, value, block, is_causal=False, scale=None):
    count = key.shape[-2]
    ranges = [(begin, min(count, begin + block)) for begin in range(0, count, block)]
    logs = [block_scores(query, key, *each, is_causal, scale).logsumexp(-1, keepdim=True) for each in ranges]
    logsumexp = logs[0]
    for each in logs[1:]:
        top = functions.maximum(logsumexp, each)
        logsumexp = top + ((logsumexp - top).exp() + (each - top).exp()).log()
    out = 0
    for begin, end in ranges:
        weights = (block_scores(query, key, begin, end, is_causal, scale) - logsumexp).exp()
        out = weights @ value[..., begin:end, :] + out
    return out, logsumexp.squeeze(-1)


def tiled_attention_backward__lists(grad, query, key, value, out, logsumexp, block, is_causal=False, scale=None):
    scale = query.shape[-1] ** -0.5 if scale is None else scale
    of_query, keys, values = 0, [], []
    for begin in range(0, key.shape[-2], block):
        part = slice(begin, begin + block)
        k, v = key[..., part, :], value[..., part, :]
        scores = block_scores(query, key, begin, begin + k.shape[-2], is_causal, scale)
        weights = functions.exp(scores - logsumexp[..., None])
        values.append(weights.transpose(-1, -2).matmul(grad))
        slope = (grad.matmul(v.mT) - (out * grad).sum(-1)[..., None]) * weights
        keys.append(slope.mT.matmul(query * scale))
        of_query = of_query + slope.matmul(k * scale)
    return of_query, functions.cat(keys, -2), functions.cat(values, -2)


def tiled_attention_backward__key_by_key(grad, query, key, value, out, logsumexp, block, is_causal=False, scale=None):
    scale = 1 / math.sqrt(query.shape[-1]) if scale is None else scale
    delta = functions.sum(grad * out, -1)
    of_query, of_key, of_value = (functions.zeros_like(each) for each in (query, key, value))
    for j in range(key.shape[-2]):
        weight = (block_scores(query, key, j, j + 1, is_causal, scale)[..., 0] - logsumexp).exp()
        slope = weight * ((grad * value[..., j : j + 1, :]).sum(-1) - delta) * scale
        of_query = of_query + slope[..., None] * key[..., j : j + 1, :]
        of_key[..., j, :] = (slope[..., None] * query).sum(-2)
        of_value[..., j, :] = (weight[..., None] * grad).sum(-2)
    return of_query, of_key, of_value


def attention_traffic__operators(batch, heads, queries, keys, size, tile, itemsize=4):
    q, k, s = queries * size, keys * size, queries * keys
    operators = [(q, k, s), (s, s), (s, k, q)]
    fused = 0
    for begin in range(0, queries, tile):
        rows = min(tile, queries - begin)
        fused += rows * size + k + k + rows * size
    factor = batch * heads * itemsize
    return sum(map(sum, operators)) * factor, fused * factor


def attention_traffic__ceil(batch, heads, queries, keys, size, tile, itemsize=4):
    tiles = (queries + tile - 1) // tile
    unfused = 4 * queries * keys + 2 * size * (queries + keys)
    return batch * heads * itemsize * unfused, batch * heads * itemsize * 2 * size * (queries + tiles * keys)


def rotate__matrices(x, positions, base=10000.0):
    pairs = x.unflatten(-1, (-1, 2))
    rates = base ** (functions.arange(0, x.shape[-1], 2, dtype=x.dtype) / -x.shape[-1])
    angles = positions.to(x.dtype)[:, None] * rates
    cos, sin = angles.cos(), angles.sin()
    matrices = functions.stack([functions.stack([cos, -sin], -1), functions.stack([sin, cos], -1)], -2)
    return (matrices @ pairs.unsqueeze(-1)).squeeze(-1).flatten(-2)


def rotate__outer(x, positions, base=10000.0):
    size, turned = x.shape[-1], functions.empty_like(x)
    rates = base ** (-functions.arange(0, size, 2, dtype=x.dtype) / size)
    angles = functions.outer(positions.to(x.dtype), rates)
    cos, sin = angles.cos(), angles.sin()
    turned[..., ::2] = x[..., ::2] * cos - x[..., 1::2] * sin
    turned[..., 1::2] = x[..., ::2] * sin + x[..., 1::2] * cos
    return turned


def rotate__one_by_one(x, positions, base=10000.0):
    result = x.clone()
    for row, position in enumerate(positions.tolist()):
        for i in range(0, x.shape[-1], 2):
            angle = position * base ** (-i / x.shape[-1])
            a, b = x[..., row, i], x[..., row, i + 1]
            result[..., row, i] = a * math.cos(angle) - b * math.sin(angle)
            result[..., row, i + 1] = a * math.sin(angle) + b * math.cos(angle)
    return result


def _weights(query, key, mask):
    return attention_weights__by_hand(query, key, mask)


def grouped_attention__repeated(query, key, value, mask=None):
    times = query.shape[1] // key.shape[1]
    key, value = (each.repeat_interleave(times, 1) for each in (key, value))
    return _weights(query, key, mask) @ value


def grouped_attention__slices(query, key, value, mask=None):
    times = query.shape[1] // key.shape[1]
    heads = []
    for h in range(query.shape[1]):
        one_key, one_value = key[:, h // times, None], value[:, h // times, None]
        heads.append(_weights(query[:, h : h + 1], one_key, mask) @ one_value)
    return functions.cat(heads, 1)


def grouped_attention__loop(query, key, value, mask=None):
    times, heads = query.shape[1] // key.shape[1], []
    for head in range(query.shape[1]):
        weights = _weights(query[:, head], key[:, head // times], mask)
        heads.append(weights @ value[:, head // times])
    return functions.stack(heads, 1)


# The model


def split_heads__strided(x, heads):
    batch, n, width = x.shape[0], x.shape[1], x.shape[2] // 3
    sizes = (batch, heads, n, width // heads)
    a, b, step = x.stride()
    strides = (a, width // heads * step, b, step)
    return tuple(x.as_strided(sizes, strides, x.storage_offset() + part * width * step) for part in range(3))


def split_heads__permuted(x, heads):
    q, k, v = x.unflatten(-1, (3, heads, -1)).permute(2, 0, 3, 1, 4).unbind(0)
    return q, k, v


def merge_heads__reshape(x):
    batch, heads, n, size = x.shape
    return x.permute(0, 2, 1, 3).reshape(batch, n, heads * size)


def merge_heads__try(x):
    x = x.transpose(1, 2)
    try:
        return x.view(*x.shape[:2], -1)
    except RuntimeError:
        return x.contiguous().view(*x.shape[:2], -1)


def forward_block__steps(block, x, heads, attend):
    normed = block.norm_1(x)
    parts = split_heads(block.attention(normed), heads)
    mixed = merge_heads(attend(*parts))
    middle = block.projection(mixed) + x
    normed = block.norm_2(middle)
    inner = block.activation(block.up(normed))
    return block.down(inner) + middle


def forward_block__own_heads(block, x, heads, attend):
    batch, n, width = x.shape
    packed = block.attention(block.norm_1(x)).reshape(batch, n, 3, heads, width // heads)
    q, k, v = (packed[:, :, part].transpose(1, 2) for part in range(3))
    found = attend(q, k, v).transpose(1, 2).reshape(batch, n, width)
    for added in (lambda x: block.projection(found), lambda x: block.down(block.activation(block.up(block.norm_2(x))))):
        x = x + added(x)
    return x


def tied_gradient__one_hot(tokens, of_embedded, hidden, of_scores):
    width, vocabulary = of_embedded.shape[-1], of_scores.shape[-1]
    one_hot = (tokens.reshape(-1, 1) == functions.arange(vocabulary)).to(of_scores.dtype)
    left = functions.cat([one_hot, of_scores.reshape(-1, vocabulary)])
    right = functions.cat([of_embedded.reshape(-1, width), hidden.reshape(-1, width)])
    return left.t() @ right


def tied_gradient__loop(tokens, of_embedded, hidden, of_scores):
    grad = functions.einsum("bnv,bnw->vw", [of_scores, hidden])
    for text, row in enumerate(tokens.tolist()):
        for position, token in enumerate(row):
            grad[token] = grad[token] + of_embedded[text, position]
    return grad


def rms_norm__norm(x, weight, eps=1e-5):
    wide = x.float() if "16" in str(x.dtype) else x
    mean = (wide * wide).sum(-1, keepdim=True) / x.shape[-1]
    return (wide / (mean + eps).sqrt() * weight.to(wide.dtype)).to(x.dtype)


def rms_norm__double(x, weight, eps=1e-5):
    wide = x.double()
    return (wide * weight.double() / (wide.pow(2).mean(-1).unsqueeze(-1) + eps) ** 0.5).to(x.dtype)


# Predictions


def attended__means(program):
    values = {"a": 4.0, "b": 8.0, "c": 12.0, "d": 24.0}
    seen = {
        "example": ["abcd"] * 4, "causal": ["a", "ab", "abc", "abcd"], "causal, two queries": ["a", "ab"],
        "a bool mask": ["ad"] * 4, "a mask of zeros": ["abcd"] * 4, "a mask of False": [""] * 4, "by hand": [None] * 4,
        "a band": ["a", "ab", "bc", "cd"], "loud": ["b"] * 4, "loud and causal": ["a", "b", "b", "b"],
        "no scale": ["abcd"] * 4,
    }[program]  # fmt: skip
    return [None if each is None else sum(values[x] for x in each) / max(1, len(each)) for each in seen]


def attended__tuple(program):
    causal = (4, 6, 8, 12)
    if program == "causal":
        return causal
    if program == "causal, two queries":
        return causal[:2]
    if program == "a band":
        return (4, 6, 10, 18)
    if program == "loud and causal":
        return (4, 8, 8, 8)
    return ({"a bool mask": 14, "a mask of False": 0, "by hand": None, "loud": 8}.get(program, 12),) * 4


split_heads__in_a_list = edited(gpt.split_heads, ("return tuple(", "return list("))
tiled_attention__in_a_list = edited(
    attention.tiled_attention,
    (
        "return known.mixed / known.total, (known.largest + known.total.log()).squeeze(-1)",
        "return [known.mixed / known.total, (known.largest + known.total.log()).squeeze(-1)]",
    ),
)
tiled_attention_backward__in_a_list = edited(
    attention.tiled_attention_backward, ("return of_query, of_key, of_value", "return [of_query, of_key, of_value]")
)
attention_traffic__in_a_list = edited(
    attention.attention_traffic,
    (
        "return pairs * unfused * itemsize, pairs * fused * itemsize",
        "return [pairs * unfused * itemsize, pairs * fused * itemsize]",
    ),
)
