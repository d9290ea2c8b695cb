"""Lab 12c: how the next token is chosen."""

from __future__ import annotations

import math

from ...engine.check import program
from ...engine.observe import is_error
from ..cases import drawing, drawn, rows, when


@drawing
def _weights(draw, st):
    """Weights that all differ, and a `p` that is half-way through one of them: rounding cannot decide which token is the last."""
    weights = draw(st.lists(st.integers(1, 60), min_size=1, max_size=9, unique=True))
    ordered = sorted(weights, reverse=True)
    last = draw(st.integers(0, len(ordered) - 1))
    p = (sum(ordered[:last]) + ordered[last] / 2) / sum(ordered)
    return {"weights": weights, "p": p, "kind": draw(st.sampled_from(["float32", "float64"]))}


def _scores(xp, weights, kind):
    """Scores with these weights as probabilities; minus infinity for the weight 0."""
    return xp.tensor([math.log(weight) if weight else -math.inf for weight in weights], dtype=getattr(xp, kind))


_ALL = list(range(1, 40))


@program(
    "course.sampling.keep_top_p",
    cases=_weights,
    edges=rows(
        "weights p kind",
        ([1, 5, 2], 0.7, "float32"), ([1, 5, 2], 0.0, "float64"), ([1, 5, 2], 1.0, "float32"), ([7], 0.5, "float32"),
        ([3, 0, 9, 0, 1], 0.8, "float64"), ([3, 0, 9, 0, 1], 1.0, "float32"), ([1, 2, 4, 8, 16], 0.9, "float32"),
        (_ALL, 1.0, "float32"), ([1e30, 1e-30, 1.0], 1.0, "float32"), ([1e30, 1e-30, 1.0], 0.5, "float32"),
        ([4, 4, 0], 0.5, "float64"), ([1e50, 1e60, 1.0], 0.5, "float32"),
        ([2, 1, 4, 3], 0.999, "float64"), ([1 + 4e-9, 1], 0.5000000015, "float64"),
    ),
    hint=lambda case, mine, theirs: None if is_error(mine)
    else "with p = 1 all tokens stay, also those whose probability is rounded away" if case["p"] == 1
    else "the token with which the sum reaches p is in the nucleus",
)  # fmt: skip
def nucleus(rl, weights, p, kind):
    scores = _scores(rl, weights, kind)
    before = scores.clone()
    kept = rl.course.sampling.keep_top_p(scores, p)
    assert rl.equal(scores, before), "the scores that were given have changed"
    shown = kept.clone()
    kept.fill_(0.0)
    assert rl.equal(scores, before), "the result shares the memory of the scores that were given"
    if len({*weights}) < len(weights) and 0 < p < 1:  # which of equal scores stays is undefined
        shown = shown.sort().values
    return shown


@nucleus.oracle
def _(torch, weights, p, kind):
    """The tokens one by one, the heaviest first."""
    scores, reached = _scores(torch, weights, kind), 0.0
    kept = torch.full_like(scores, -math.inf)
    for token in sorted(range(len(weights)), key=lambda each: -weights[each]):
        if reached < p or p == 0 == reached or p == 1:
            kept[token] = scores[token]
        reached += weights[token] / sum(weights)
    return kept.sort().values if len({*weights}) < len(weights) and 0 < p < 1 else kept


@program(
    "course.sampling.choose",
    cases=drawn(
        weights=lambda st: st.lists(st.integers(1, 60), min_size=2, max_size=8, unique=True),
        temperature=[0, 0.5, 1.0, 2.0], top_k=[None, 1, 2, 3, 9], top_p=[0.0, 1.0], seed=(0, 1000),
    ),
    edges=rows(
        "weights temperature top_k top_p seed",
        ([1, 5, 2], 0, None, 1.0, 1), ([5, 1, 2], 0, 2, 0.5, 1), ([1, 5, 2], 1.0, None, 1.0, 2), ([1, 5, 2, 7], 2.0, None, 1.0, 3),
        ([1, 5, 2, 7], 0.5, None, 1.0, 4), ([1, 5, 2, 7], 1.0, 2, 1.0, 5), ([1, 5, 2, 7], 1.0, 9, 1.0, 6),
        ([9, 10, 8], 1.0, None, 0.0, 7),
        # where the order of the three matters: 16 of 31 at temperature 1, 4 of 11.7 at temperature 2; 8 of 8 + 4 of two
        ([1, 2, 4, 8, 16], 2.0, None, 0.45, 8), ([1, 2, 4, 8, 16], 0.5, None, 0.7, 9), ([4, 8, 3, 2, 1], 1.0, 2, 0.6, 10),
        ([1, 2, 4, 8, 16], 2.0, 3, 0.72, 11), ([0.5, 1.0], 1e-4, None, 1.0, 12), ([3, 0, 9, 1], 0.5, 2, 1.0, 13),
        ([4, 4, 1, 2], 1.0, 1, 1.0, 14), ([5, 2, 9, 5], 2.0, 2, 1.0, 15),  # scores that are equal to the last one stay
        ([1, 5, 2, 7], 1.0, 1, 1.0, 16), ([3, 24, 46, 7], 1.0, 3, 1.0, 691), ([1e200, 3e200, 2e200], 0.5, None, 1.0, 17),
    ),
    draws=40,
    hint=when(lambda case: case["temperature"] == 0, "with temperature 0 nothing is drawn, and the generator stays as it is"),
)  # fmt: skip
def chosen(rl, weights, temperature, top_k, top_p, seed):
    scores, generator, choose = (
        _scores(rl, weights, "float64"),
        rl.Generator().manual_seed(seed),
        rl.course.sampling.choose,
    )
    options = {"temperature": temperature, "top_k": top_k, "top_p": top_p}
    tokens = [choose(scores, **options, generator=generator) for _ in range(20)]
    rl.manual_seed(seed)
    by_default = [*(choose(scores) for _ in range(20)), choose(scores, temperature)]
    return [
        tokens,
        rl.rand(2, generator=generator),
        by_default,
        rl.rand(2),
    ]


@chosen.oracle
def _(torch, weights, temperature, top_k, top_p, seed):
    """From the weights: a temperature is a power, and what is cut has weight 0."""

    def weigh(temperature, top_k, top_p):
        warm = [(weight / max(weights)) ** (1 / temperature) for weight in weights]
        order = sorted(range(len(warm)), key=lambda token: -warm[token])
        order = [token for token in order if weights[token] >= weights[order[: top_k or None][-1]]]
        total, reached, kept = sum(warm[token] for token in order), 0.0, [0.0] * len(warm)
        for token in order:
            if reached < top_p or reached == 0:
                kept[token] = warm[token]
            reached += warm[token] / total
        return torch.tensor(kept, dtype=torch.float64)

    def draw(temperature, top_k, top_p, generator):
        if temperature == 0:
            return weights.index(max(weights))
        kept = weigh(temperature, top_k, top_p)
        return (kept / kept.sum()).multinomial(1, generator=generator).item()

    generator = torch.Generator().manual_seed(seed)
    tokens = [draw(temperature, top_k, top_p, generator) for _ in range(20)]
    torch.manual_seed(seed)
    by_default = [draw(chance, None, 1.0, None) for chance in [1.0] * 20 + [temperature]]
    return [tokens, torch.rand(2, generator=generator), by_default, torch.rand(2)]
