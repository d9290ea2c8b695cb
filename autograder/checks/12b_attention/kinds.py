"""Lab 12b, further: positions as angles, and heads that share keys."""

from __future__ import annotations

from ...engine.check import program
from ..cases import copied, drawn, explained, listed, numbers, rows, several
from .tiles import Elements, gradients_of

_HALVES = ["float16", "bfloat16"]


@program(
    "course.attention.rotate",
    cases=drawn(
        lead=lambda st: st.lists(st.integers(1, 3), max_size=2), positions=several((0, 40), 1, 5), pairs=(1, 4),
        base=[None, None, 100.0, 2.0], of=["float64", "float64", "float32"], start=(0, 9),
    ),
    edges=rows(
        "lead positions pairs base of start",
        ([], [0], 1, None, "float64", 1), ([], [1], 1, None, "float64", 1), ([], [0, 1, 2], 2, None, "float64", 2),
        ([2, 2], [7, 3], 3, 100.0, "float64", 3), ([2], [5, 5, 0, 1], 4, None, "float32", 4), ([], [11, 40], 2, 2.0, "float64", 5),
        *(([], [1], 1, None, half, 1) for half in _HALVES),
    ),
    hint=explained(
        turned="pair i has the elements 2i and 2i + 1; its angle is position * base ** (-2i / size), in the dtype of x; the first "
        "element turns towards the second",
    ),
)  # fmt: skip
def rotated(rl, lead, positions, pairs, base, of, start):
    x, given = numbers(rl, [*lead, len(positions), 2 * pairs], start, of), {} if base is None else {"base": base}
    turned = rl.course.attention.rotate(x.requires_grad_(), rl.tensor(positions), **given)
    if of in _HALVES:
        return {"dtype": str(turned.dtype).rpartition(".")[2]}
    shown = {"turned": copied(turned), "a new tensor": turned is not x, "x": x.detach()}
    return shown | {"gradient": gradients_of(rl, turned, [x])}


@rotated.oracle
def _(torch, lead, positions, pairs, base, of, start):
    """With complex numbers: a pair is one, and is multiplied by one of length 1."""
    if of in _HALVES:
        return {"dtype": of}
    x = numbers(torch, [*lead, len(positions), 2 * pairs], start, of).requires_grad_()
    rates = (base or 10000.0) ** (-torch.arange(pairs, dtype=x.dtype) / pairs)
    angles = torch.outer(torch.tensor(positions, dtype=x.dtype), rates)
    turned = torch.view_as_complex(x.unflatten(-1, (pairs, 2))) * torch.polar(torch.ones_like(angles), angles)
    turned = torch.view_as_real(turned).flatten(-2)
    gradient = gradients_of(torch, turned, [x])
    return {"turned": copied(turned), "a new tensor": True, "x": x.detach(), "gradient": gradient}


@program(
    "course.attention.grouped_attention",
    cases=drawn(
        batch=(1, 2), shared=(1, 3), times=(1, 3), sizes=listed((1, 4), (1, 4), (1, 4), (1, 3)),
        masked=[False, True, "pattern", "numbers", "nothing"], start=(0, 9),
    ),
    edges=rows(
        "batch shared times sizes masked start",
        (1, 1, 1, [1, 1, 1, 1], False, 0), (2, 2, 2, [3, 4, 2, 3], False, 1), (1, 2, 3, [2, 3, 4, 2], True, 2),
        (2, 3, 1, [4, 4, 2, 2], True, 3), (1, 1, 3, [2, 4, 3, 1], False, 4), (1, 2, 2, [3, 4, 2, 2], "pattern", 1),
        (2, 2, 2, [3, 4, 2, 2], "numbers", 2), (1, 2, 2, [3, 3, 2, 1], "nothing", 3),
    ),
    hint=explained(result="heads that are neighbours share a head of keys: the first `heads / shared` of them the first one"),
)  # fmt: skip
def grouped(rl, batch, shared, times, sizes, masked, start):
    operands = _grouped(rl, batch, shared, times, sizes, masked, start)
    query, key, value, mask = operands
    inputs = [tensor.requires_grad_() for tensor in (query, key, value)]
    call = rl.course.attention.grouped_attention
    with Elements() as elements:
        result = call(query, key, value) if mask is None else call(query, key, value, mask)
    shown = {"beyond": sorted(elements.beyond), "result": copied(result), "gradients": gradients_of(rl, result, inputs)}
    return shown | {"the arguments": [*map(copied, inputs), mask]}


@grouped.oracle
def _(torch, batch, shared, times, sizes, masked, start):
    *inputs, mask = _grouped(torch, batch, shared, times, sizes, masked, start)
    query, key, value = (tensor.requires_grad_() for tensor in inputs)
    attention = torch.nn.functional.scaled_dot_product_attention
    result = attention(query, key, value, attn_mask=mask, enable_gqa=True)
    shown = {"beyond": [], "result": copied(result), "gradients": gradients_of(torch, result, inputs)}
    return shown | {"the arguments": [*map(copied, inputs), mask]}


def _grouped(xp, batch, shared, times, sizes, masked, start):
    queries, keys, size, width = sizes
    shapes = ([shared * times, queries, size], [shared, keys, size], [shared, keys, width])
    operands = [numbers(xp, [batch, *shape], start + i) for i, shape in enumerate(shapes)]
    pattern = numbers(xp, [queries, keys], 5)
    masks = {
        False: None,
        True: xp.arange(queries)[:, None] >= xp.arange(keys) - 1,
        "pattern": pattern > -0.5,
        "numbers": pattern,
        "nothing": (pattern > -0.5) & (xp.arange(queries)[:, None] > 0),  # for the first query
    }
    return [*operands, masks[masked]]
