"""Lab 14d, attention by blocks of queries and keys."""

from __future__ import annotations

import numpy as np

from ...engine.check import program
from ...engine.observe import values
from ..cases import drawn, field, first_apart, rows
from .launched import about_triton, inputs_of, is_written, memory_of, needs, on_board, ran, wanted

SIZE = 16


def of_attention(heads, queries, keys, causal, block_q, block_k):
    """What an instance needs, in the order of the instances."""
    query, key, logsumexp, d = [], [], [], np.arange(SIZE)
    for first in range(0, queries, block_q):
        end = min(keys, first + block_q) if causal else keys
        for head in range(heads):
            i = head * queries + np.arange(first, min(queries, first + block_q))
            query.append((i[:, None] * SIZE + d).reshape(-1))
            logsumexp.append(i)
            for begin in range(0, end, block_k):
                j = head * keys + np.arange(begin, min(keys, begin + block_k))
                key.append((j[:, None] * SIZE + d).reshape(-1))
    loads = {"query": query, "key": key, "value": key}
    stores = {"out": query, "logsumexp": logsumexp}
    of_loads = {name: ("loaded of", blocks) for name, blocks in loads.items()}
    return needs(**of_loads, **{name: ("stored in", blocks) for name, blocks in stores.items()})


def _about_attention(case, mine, theirs):
    """What the case has, and which of the two outputs is right."""
    name = first_apart(mine, theirs)
    if name == "out" and case["scale"] > 100 and np.isnan(values(field(mine, name))).any():
        return "the scores are in the thousands here: `tl.exp` must get the distance from the largest one so far"
    if name in ("out", "logsumexp") and case["away"]:
        return (
            "all scores are far below 0 here, and have more bits than a float16: what is the largest score before the first "
            "block, and that of a key that is not seen?"
        )
    if name not in ("out", "logsumexp") or not all(
        is_written(values(field(mine, each))) for each in ("out", "logsumexp")
    ):
        return about_triton(case, mine, theirs)
    if name == "logsumexp":
        return "`out` is right, and `logsumexp` is not: it is the largest score plus the natural logarithm of the sum"
    if np.allclose(*(values(field(tree, "logsumexp")) for tree in (mine, theirs)), rtol=1e-5):
        return "`logsumexp` is right, and `out` is not: is `mixed` scaled as the sum is, and divided by it?"
    (_, block), keys = case["blocks"], case["keys"]
    here = ["a query sees only the keys up to its own position"] * case["causal"]
    here += ["the keys are in several blocks"] * (keys > block) + ["the last block has fewer keys"] * (keys % block > 0)
    here += ["there are two heads"] * (case["heads"] > 1)
    return f"in this case {', and '.join(here) or 'one block has all keys'}. Is each score right, and scaled as the contract says?"


@program(
    "inductor.triton_templates.attention_source",
    cases=drawn(heads=(1, 2), queries=(1, 40), keys=(1, 40), causal=bool, blocks=[[16, 16], [32, 16], [16, 32]],
        scale=[0.25, 1.0], away=[0]),
    edges=rows(
        "heads queries keys causal blocks scale away",
        (1, 16, 16, False, [16, 16], 0.25, 0), (1, 16, 48, False, [16, 16], 0.25, 0), (1, 48, 48, True, [16, 16], 0.25, 0),
        (2, 20, 35, False, [16, 16], 0.25, 0), (2, 37, 37, True, [16, 16], 0.25, 0), (1, 40, 40, True, [32, 16], 1.0, 0),
        (1, 40, 40, True, [16, 32], 0.25, 0), (1, 5, 40, True, [16, 16], 0.25, 0), (1, 40, 5, True, [16, 16], 0.25, 0),
        (1, 1, 1, False, [16, 16], 0.25, 0), (1, 20, 40, False, [16, 16], 1024.0, 0), (1, 33, 33, True, [16, 16], 1024.0, 0),
        (1, 20, 40, False, [16, 16], 1.0, 1), (1, 33, 33, True, [16, 16], 1.0, 1),
    ),
    is_text=True,
    hint=_about_attention,
    draws=3,
)  # fmt: skip
def attentions(rl, heads, queries, keys, causal, blocks, scale, away):
    block_q, block_k = blocks
    constexprs = {"CAUSAL": causal, "SIZE": SIZE, "BLOCK_Q": block_q, "BLOCK_K": block_k}
    arguments = arguments_of(rl, heads, queries, keys, scale, away)
    needed, grid = of_attention(heads, queries, keys, causal, block_q, block_k), (-(-queries // block_q), heads)
    text = rl.inductor.triton_templates.attention_source()
    return ran(rl, text, "attention", grid, arguments, needed, **constexprs)


def arguments_of(rl, heads, queries, keys, scale, away=0):
    sizes = [heads * queries * SIZE, *2 * [heads * keys * SIZE]]
    query, key, value, out = memory_of(rl, *sizes, heads * queries * SIZE)
    key *= growing(heads, keys)
    turn(query, key, away)
    logsumexp = memory_of(rl, heads * queries)[0]
    arrays = {"query": query, "key": key, "value": value, "out": out, "logsumexp": logsumexp}
    return arrays | {"queries": queries, "keys": keys, "scale": scale}


def growing(heads, keys):
    """Factors of the keys' elements, so that later blocks have larger scores."""
    return np.tile(1 + np.arange(keys * SIZE, dtype=np.float32) // (8 * SIZE), heads)


def turn(query, key, away):
    """Change the first number of each query and key, so that all scores are far below 0. It has more bits than a float16."""
    if away:
        query[::SIZE], key[::SIZE] = 16, -16.0078125


@attentions.counted()
def _(rl):
    """Two heads, 64 queries and keys, blocks of 32, causal."""
    constexprs = {"CAUSAL": True, "SIZE": SIZE, "BLOCK_Q": 32, "BLOCK_K": 32}
    text = rl.inductor.triton_templates.attention_source()
    return on_board(text, "attention", (2, 2), arguments_of(rl, 2, 64, 64, 0.25), **constexprs)


@attentions.oracle
def _(torch, heads, queries, keys, causal, blocks, scale, away):
    sizes = [heads * queries * SIZE, *2 * [heads * keys * SIZE]]
    query, key, value = inputs_of(torch, *sizes)
    key *= torch.from_numpy(growing(heads, keys))
    turn(query, key, away)
    query, key, value = (x.reshape(heads, -1, SIZE) for x in (query, key, value))
    attention = torch.nn.functional.scaled_dot_product_attention
    out = attention(query, key, value, is_causal=causal, scale=scale)
    scores = query @ key.mT * scale
    if causal:
        scores = scores.masked_fill(torch.ones(queries, keys).triu(1).bool(), -float("inf"))
    outputs = {"out": out.reshape(-1), "logsumexp": scores.logsumexp(-1).reshape(-1)}
    return wanted(of_attention(heads, queries, keys, causal, *blocks), **outputs)
