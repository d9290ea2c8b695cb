"""Lab 12b: which keys a query sees, the weights that it gives to them, and what torch's masks do."""

from __future__ import annotations

import math
from importlib import import_module
from types import ModuleType

import numpy as np

from rushlight.course.predictions import MASKED

from ...engine.check import program
from ...engine.observe import values
from ..cases import beyond_single, copied, drawn, field, first_apart, listed, numbers, predicted, rows
from .tiles import Elements


class _Module(ModuleType):
    """Another module with the same functions, which notes that one of them was used."""

    def __init__(self, module):
        super().__init__(module.__name__)
        self.module, self.called = module, False

    def __getattr__(self, name):
        attribute = getattr(self.module, name)
        if callable(attribute):
            self.called = True
        return attribute


def _about_masks(case, mine, theirs):
    if first_apart(mine, theirs) == "made by xp":
        return "`xp` may be torch or rushlight, and it makes the mask: `rl` of the notebook is always rushlight"
    mask, wanted = (field(tree, "mask")["tensor"] for tree in (mine, theirs))
    if [mask["dtype"], mask["shape"]] != [wanted["dtype"], wanted["shape"]]:
        return "the mask is of dtype bool and of the sizes (queries, keys)"
    keys, more, window = case["queries"] + case["more"], case["more"], case["window"] or math.inf
    distances = [i - j for i in range(case["queries"]) for j in range(keys)]
    if more and [*mask["data"]] == [0 <= distance < window for distance in distances]:
        return "the last query is at the position of the last key"
    apart = [
        distance + more for distance, pair in zip(distances, zip(mask["data"], wanted["data"])) if pair[0] != pair[1]
    ]
    if case["window"] and min(apart) >= 0:
        return "with a window, a query sees the last `window` keys up to itself, itself included"
    return "a query sees itself and the keys before it"


@program(
    "course.attention.causal_mask",
    cases=drawn(queries=(1, 8), more=(0, 6), window=lambda st: st.one_of(st.none(), st.integers(1, 16))),
    edges=rows(
        "queries more window",
        (1, 0, None), (4, 0, None), (2, 3, None), (1, 4, None), (4, 0, 1), (4, 0, 2), (3, 2, 3), (1, 4, 2), (5, 1, 20), (2, 3, 4),
    ),
    hint=_about_masks,
)  # fmt: skip
def masked(rl, queries, more, window):
    names = rl.course.attention
    xp = _Module(rl)
    mask = names.causal_mask(xp, queries, queries + more, **({} if window is None else {"window": window}))
    return {"mask": copied(mask), "made by xp": xp.called}


@masked.oracle
def _(torch, queries, more, window):
    """From a rule for one query and one key."""
    create_mask = import_module("torch.nn.attention.flex_attention").create_mask

    def sees(batch, head, query, key):
        distance = query + more - key
        return (distance >= 0) & (distance < (window or 1000))

    mask = create_mask(sees, None, None, queries, queries + more, device="cpu")[0, 0]
    return {"mask": mask, "made by xp": True}


# Weights -------------------------------------------------------------------------------------------------------------

KINDS = ["none", "none", "bool", "numbers", "minus infinity", "one row", "a key for all", "for each"]


def _mask(xp, kind, queries, keys, of, lead):
    if kind == "none":
        return None
    if kind == "for each":
        return numbers(xp, [*lead, queries, keys], 5, of) > -0.5
    pattern = numbers(xp, [queries, keys], 5, of)
    if kind == "bool":
        return pattern > -0.5
    if kind == "one row":
        return pattern[:1] > 0
    if kind == "a key for all":
        return (xp.arange(keys) == keys - 1).expand(queries, keys)
    if kind == "minus infinity":
        return pattern.masked_fill(pattern > 0, -math.inf).masked_fill(xp.arange(queries)[:, None] == 0, -math.inf)
    return pattern


def _about_weights(case, mine, theirs):
    wrong = first_apart(mine, theirs)
    if wrong == "digits":
        return "only the last digits differ: no step computes in a narrower dtype than the query's"
    if wrong == "gradients":
        return (
            "a gradient reaches both, and is not NaN where a query sees no key: replace its scores before the softmax"
        )
    if wrong != "weights" or field(mine, wrong) is None:
        return None
    yours, wanted = (values(field(tree, wrong)) for tree in (mine, theirs))
    if yours.shape != wanted.shape:
        return "the first dimensions of the query and the key are broadcast"
    apart = ~np.isclose(yours, wanted, equal_nan=True)
    if (apart.any(-1) <= (wanted == 0).all(-1)).all():
        return "softmax of a row of minus infinity is NaN: minus infinity minus minus infinity. The weights there are 0"
    if np.isnan(yours).any():
        return "a large score overflows exp: subtract the largest score of the row first, as softmax does"
    if case["scale"] == 0:
        return "0 is a scale, too"
    return "mask the scores before the softmax: the weights of the keys that a query sees add up to 1"


@program(
    "course.attention.attention_weights",
    cases=drawn(
        lead=lambda st: st.lists(st.integers(1, 3), max_size=2), sizes=listed((1, 4), (1, 5), (1, 5)), mask=KINDS,
        scale=[None, None, 0.5, 0.0, -0.3, 100.0], shared=[False, True, "query"],
        of=["float64", "float64", "float32"], start=(0, 9),
    ),
    edges=rows(
        "lead sizes mask scale shared of start",
        ([], [1, 1, 1], "none", None, False, "float64", 0), ([], [1, 1, 1], "none", None, False, "float64", 10),
        ([], [2, 3, 4], "none", None, False, "float64", 1), ([], [3, 3, 1], "minus infinity", 100.0, False, "float64", 1),
        ([1], [3, 5, 1], "minus infinity", None, True, "float64", 1),
        ([2, 3], [3, 4, 2], "none", None, False, "float32", 2), ([2], [3, 4, 2], "bool", None, False, "float64", 3),
        ([2, 2], [4, 5, 3], "minus infinity", None, False, "float64", 4), ([], [3, 5, 4], "numbers", 0.5, False, "float64", 5),
        ([2], [3, 4, 5], "one row", None, False, "float64", 6), ([], [2, 3, 2], "none", 0.0, False, "float64", 7),
        ([], [2, 3, 2], "none", -0.3, False, "float64", 8), ([2, 3], [2, 3, 3], "numbers", 100.0, True, "float64", 1),
        ([3], [4, 5, 2], "bool", 0.5, True, "float32", 2), ([2], [4, 3, 2], "a key for all", None, False, "float64", 2),
        ([2, 3], [3, 4, 2], "for each", None, False, "float64", 3), ([2], [3, 4, 3], "none", 1e4, False, "float64", 1),
        ([2, 3], [3, 4, 2], "none", None, "query", "float64", 2), ([2], [4, 5, 3], "for each", None, "query", "float64", 3),
    ) + [
        {"lead": [], "sizes": [1, 1, 1], "mask": "none", "scale": None, "shared": False, "of": "float64", "start": 1, "fill": fill}
        for fill in ("-inf", "nan")
    ],
    hint=_about_weights,
)  # fmt: skip
def weighed(rl, lead, sizes, mask, scale, shared, of, start, fill=None):
    query, key, mask = _operands(rl, lead, sizes, mask, shared, of, start, fill)
    query.requires_grad_(), key.requires_grad_()
    given = {} if mask is None else {"mask": mask}
    given |= {} if scale is None else {"scale": scale}
    with Elements() as elements:
        weights = rl.course.attention.attention_weights(query, key, **given)
    is_new = weights is not query and weights is not key
    return {
        "beyond": sorted(elements.beyond),
        "weights": copied(weights),
        "digits": beyond_single(rl, copied(weights)),
        "a new tensor": is_new,
        "gradients": _numbers_reach(rl, weights, query, key),
        "the arguments": [query.detach(), key.detach(), mask],
    }


@weighed.oracle
def _(torch, lead, sizes, mask, scale, shared, of, start, fill=None):
    query, key, mask = _operands(torch, lead, sizes, mask, shared, of, start, fill)
    query.requires_grad_(), key.requires_grad_()
    query_of_all, all_keys = (tensor.expand(*lead, *tensor.shape[-2:]) for tensor in (query, key))
    added = mask
    if mask is not None and mask.dtype is torch.bool:
        added = torch.zeros(mask.shape, dtype=query.dtype).masked_fill(~mask, -math.inf)
    math_attention = torch.ops.aten._scaled_dot_product_attention_math
    weights = math_attention(query_of_all, all_keys, all_keys, added, 0.0, False, None, scale=scale)[1]
    shown = {
        "beyond": [],
        "weights": copied(weights),
        "digits": beyond_single(torch, copied(weights)),
        "a new tensor": True,
        "gradients": _numbers_reach(torch, weights, query, key),
    }
    return shown | {"the arguments": [query.detach(), key.detach(), mask]}


def _numbers_reach(xp, weights, query, key):
    """Whether a gradient of the weights reaches the query and the key, without a NaN if the query is finite."""
    if not weights.requires_grad:
        return [False, False]
    gradients = xp.autograd.grad(weights, [query, key], xp.ones_like(weights), allow_unused=True)
    may_be_nan = not query.isfinite().all()
    return [gradient is not None and bool(may_be_nan or not gradient.isnan().any()) for gradient in gradients]


def _operands(xp, lead, sizes, mask, shared, of, start, fill):
    """`shared`: one set of keys, or of queries, for all, which is broadcast. `fill`: the number that all queries have."""
    queries, keys, size = sizes
    one = [1] * len(lead)
    query = numbers(xp, [*(one if shared == "query" else lead), queries, size], start, of)
    query = query if fill is None else xp.full_like(query, float(fill))
    key = numbers(xp, [*(one if shared is True else lead), keys, size], start + 1, of)
    return query, key, _mask(xp, mask, queries, keys, of, lead)


# Predictions ---------------------------------------------------------------------------------------------------------


@program("course.predictions.attended", **predicted(MASKED, draws=len(MASKED)))
def attended(rl, program):
    return [None if number is None else round(float(number), 3) for number in rl.course.predictions.attended(program)]


@attended.oracle
def attended_on_torch(torch, program):
    loud = torch.zeros(1, 1, 4, 2)
    loud[0, 0, 1] = 1000.0
    given = {
        "xp": torch,
        "F": torch.nn.functional,
        "q": torch.ones(1, 1, 4, 2),
        "k": torch.zeros(1, 1, 4, 2),
        "loud": loud,
    }
    found = eval(MASKED[program], given | {"v": torch.tensor([4.0, 8.0, 12.0, 24.0]).view(1, 1, 4, 1)})
    return [None if math.isnan(number) else round(number, 3) for number in found.flatten().tolist()]
