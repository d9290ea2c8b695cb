"""Lab 12b: heads as views, the block, and the MiniGPT with the student's own attention."""

from __future__ import annotations

from rushlight.course.gpt import gpt

from ...engine.check import program
from ..cases import copied, drawn, explained, numbers, rows, type_name, when
from .tiles import flows, gradients_of


def _counted(xp, sizes, layout):
    """0, 1, 2, ... in these sizes: contiguous, with gaps between the elements, or with the first two dimensions exchanged."""
    count = 1
    for size in sizes:
        count *= size
    x = xp.arange(count, dtype=xp.float64)
    if layout == "gaps":
        return xp.arange(2 * count, dtype=xp.float64).reshape([*sizes, 2])[..., 1]
    if layout == "exchanged":
        return x.reshape([sizes[1], sizes[0], *sizes[2:]]).transpose(0, 1)
    return x.reshape(sizes)


@program(
    "course.gpt.split_heads",
    cases=drawn(batch=(1, 3), n=(1, 4), heads=(1, 4), size=(1, 3), layout=["contiguous", "gaps", "exchanged"]),
    edges=rows(
        "batch n heads size layout",
        (1, 1, 1, 1, "contiguous"), (2, 3, 2, 2, "contiguous"), (2, 3, 3, 2, "gaps"), (2, 3, 2, 1, "exchanged"),
        (1, 4, 4, 3, "contiguous"), (3, 1, 1, 3, "gaps"), (2, 2, 3, 3, "exchanged"),
    ),
    hint=explained(parts="queries come first, then keys, then values; within each, a head has numbers that are neighbours"),
)  # fmt: skip
def split(rl, batch, n, heads, size, layout):
    x = _counted(rl, [batch, n, 3 * heads * size], layout).requires_grad_()
    parts = rl.course.gpt.split_heads(x, heads)
    shown = {"type": type_name(parts), "parts": [copied(part) for part in parts], "gradient": flows(rl, parts, [x])}
    views = [part.detach() for part in parts]
    x.detach().zero_()
    return shown | {"after x is set to 0": [view.sum().item() for view in views]}


@split.oracle
def _(torch, batch, n, heads, size, layout):
    x = _counted(torch, [batch, n, 3 * heads * size], layout)
    parts = x.unflatten(2, (3, heads, size)).permute(2, 0, 3, 1, 4).unbind()
    shown = {"type": "sequence", "parts": [copied(part) for part in parts], "gradient": [True]}
    return shown | {"after x is set to 0": [0.0, 0.0, 0.0]}


@program(
    "course.gpt.merge_heads",
    cases=drawn(batch=(1, 3), n=(1, 4), heads=(1, 4), size=(1, 3), layout=["heads", "positions", "gaps"]),
    edges=rows(
        "batch n heads size layout",
        (1, 1, 1, 1, "heads"), (2, 3, 2, 2, "heads"), (2, 3, 2, 2, "positions"), (2, 3, 3, 2, "gaps"), (2, 3, 1, 2, "heads"),
        (1, 4, 4, 3, "positions"), (2, 1, 3, 2, "heads"), (1, 2, 3, 1, "positions"),
        (2, 3, 1, 2, "gaps"),
    ),
    hint=when(lambda case: case["layout"] == "positions", "here the heads of a token are next to each other: no copy is needed"),
)  # fmt: skip
def merged(rl, batch, n, heads, size, layout):
    x = _of_heads(rl, batch, n, heads, size, layout).requires_grad_()
    result = rl.course.gpt.merge_heads(x)
    shown = {"numbers": copied(result), "x": copied(x), "gradient": flows(rl, [result], [x])}
    x.detach().zero_()
    return shown | {"is a view": result.sum().item() == 0}


@merged.oracle
def _(torch, batch, n, heads, size, layout):
    x = _of_heads(torch, batch, n, heads, size, layout)
    result = torch.cat(x.unbind(1), 2)
    shown = {"numbers": copied(result), "x": copied(x), "gradient": [True]}
    try:
        x.transpose(1, 2).view(batch, n, heads * size)
    except RuntimeError:
        return shown | {"is a view": False}
    return shown | {"is a view": True}


def _of_heads(xp, batch, n, heads, size, layout):
    """1, 2, 3, ... as (batch, heads, n, size)."""
    if layout == "positions":
        return (_counted(xp, [batch, n, heads, size], "contiguous") + 1).transpose(1, 2)
    x = _counted(xp, [batch, heads, n, size], "contiguous") + 1
    return xp.stack([x, x], -1)[..., 0] if layout == "gaps" else x


# The block -----------------------------------------------------------------------------------------------------------


def model(xp, heads, layers=1, **others):
    """A small model whose parameters are given by rule. None of its norms and biases is trivial."""
    made = gpt(xp, vocabulary=11, width=12, heads=heads, layers=layers, length=8, **others).double()
    with xp.no_grad():
        for number, parameter in enumerate(made.parameters()):
            parameter.copy_(numbers(xp, list(parameter.shape), number) / 2)
    return made


def _attend(xp, kind, calls):
    def attend(query, key, value):
        calls.append([list(tensor.shape) for tensor in (query, key, value)])
        if kind == "values":
            return value
        if kind == "sums":
            return query - 2 * key + 3 * value
        return xp.nn.functional.scaled_dot_product_attention(query, key, value, is_causal=True)

    return attend


@program(
    "course.gpt.forward_block",
    cases=drawn(batch=(1, 2), n=(1, 4), heads=[1, 2, 3], kind=["values", "sums", "causal"], start=(0, 9),
        relu=bool),
    edges=rows(
        "batch n heads kind start relu",
        (1, 1, 1, "values", 0, False), (2, 3, 2, "values", 1, False), (2, 3, 2, "sums", 2, False), (1, 4, 3, "causal", 3, False),
        (2, 2, 1, "causal", 5, False), (1, 3, 2, "sums", 4, True),
    ),
    draws=20,
    hint=explained(
        calls="`attend` is called once, with the queries, the keys and the values of `split_heads`",
        stream="each half reads the stream through its own norm and adds to the stream itself; the activation is "
        "between `up` and `down`",
        gradients="a gradient reaches x and each parameter of the block",
    ),
)  # fmt: skip
def run(rl, batch, n, heads, kind, start, relu):
    block, x, calls = model(rl, heads).blocks[0], numbers(rl, [batch, n, 12], start), []
    if relu:
        block.activation = rl.nn.ReLU()
    stream = rl.course.gpt.forward_block(block, x.requires_grad_(), heads, _attend(rl, kind, calls))
    gradients = gradients_of(rl, stream, [x, *block.parameters()])
    return {"calls": calls, "stream": copied(stream), "x": x.detach(), "gradients": gradients}


@run.oracle
def _(torch, batch, n, heads, kind, start, relu):
    """With torch's own functions, on the block's parameters."""
    block, x, calls, F = model(torch, heads).blocks[0], numbers(torch, [batch, n, 12], start), [], torch.nn.functional
    of = dict(block.named_parameters())
    x.requires_grad_()
    normed = F.layer_norm(x, [12], of["norm_1.weight"], of["norm_1.bias"])
    packed = F.linear(normed, of["attention.weight"], of["attention.bias"])
    parts = packed.reshape(batch, n, 3, heads, 12 // heads).permute(2, 0, 3, 1, 4)
    mixed = _attend(torch, kind, calls)(*parts).permute(0, 2, 1, 3).reshape(batch, n, 12)
    middle = x + F.linear(mixed, of["projection.weight"], of["projection.bias"])
    normed = F.layer_norm(middle, [12], of["norm_2.weight"], of["norm_2.bias"])
    inner = F.linear(normed, of["up.weight"], of["up.bias"])
    inner = inner.relu() if relu else F.gelu(inner, approximate="tanh")
    stream = middle + F.linear(inner, of["down.weight"], of["down.bias"])
    gradients = gradients_of(torch, stream, [x, *of.values()])
    return {"calls": calls, "stream": copied(stream), "x": x.detach(), "gradients": gradients}


# All together --------------------------------------------------------------------------------------------------------


@program(
    "together.attention",
    cases=drawn(batch=(1, 2), n=(2, 8), heads=[1, 2, 3], block=(1, 4), start=(0, 9)),
    edges=rows("batch n heads block start", (1, 2, 1, 1, 0), (2, 5, 2, 2, 1), (2, 8, 3, 3, 2), (1, 7, 2, 8, 4)),
    draws=8,
    hint=explained(
        with_all_weights="the model with `attention_weights` and `causal_mask` in the place of the fused operator",
        in_tiles="the model with `tiled_attention` in the place of the fused operator",
        gradients="the gradients of a head's queries, keys and values, from `tiled_attention_backward`",
        of_the_tied_weight="the gradient of the weight that embeds the tokens and is the head's",
    ),
)
def in_the_model(rl, batch, n, heads, block, start):
    names = rl.course.attention
    tokens = (rl.arange(batch * n) * (start + 1) % 11).reshape(batch, n)

    def at_once(query, key, value):
        return names.attention_weights(query, key, names.causal_mask(rl, query.shape[2], key.shape[2])) @ value

    def in_tiles(query, key, value):
        return names.tiled_attention(query, key, value, block, is_causal=True)[0]

    whole, tiled = (model(rl, heads, layers=2, attend=attend) for attend in (at_once, in_tiles))
    loss = rl.nn.functional.cross_entropy(whole(tokens).flatten(0, 1), tokens.flatten())
    loss.backward()
    q, k, v = (numbers(rl, [batch, heads, n, 4], start + i) for i in range(3))
    out, logsumexp = names.tiled_attention(q, k, v, block, is_causal=True)
    grads = names.tiled_attention_backward(out, q, k, v, out, logsumexp, block, is_causal=True)
    with rl.no_grad():
        scores = whole(tokens), tiled(tokens)
    return {
        "with all weights": copied(scores[0]),
        "in tiles": copied(scores[1]),
        "gradients": [copied(grad) for grad in grads],
        "of the tied weight": copied(whole.head.weight.grad),
    }


@in_the_model.oracle
def _(torch, batch, n, heads, block, start):
    """The model with torch's fused operator, and autograd."""
    tokens = (torch.arange(batch * n) * (start + 1) % 11).reshape(batch, n)
    whole, F = model(torch, heads, layers=2), torch.nn.functional
    scores = whole(tokens)
    F.cross_entropy(scores.flatten(0, 1), tokens.flatten()).backward()
    parts = [numbers(torch, [batch, heads, n, 4], start + i).requires_grad_() for i in range(3)]
    out = F.scaled_dot_product_attention(*parts, is_causal=True)
    grads = torch.autograd.grad(out, parts, out.detach())
    return {
        "with all weights": copied(scores),
        "in tiles": copied(scores),
        "gradients": [copied(grad) for grad in grads],
        "of the tied weight": copied(whole.head.weight.grad),
    }
