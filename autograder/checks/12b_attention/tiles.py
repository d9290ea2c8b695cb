"""Lab 12b: attention in tiles, forward and backward, and the bytes that it saves."""

from __future__ import annotations

import math
import tracemalloc
from importlib import import_module

import numpy as np

from rushlight.c10.dispatch import DispatchMode

from ...engine.check import program
from ...engine.observe import values
from ...engine.recorder import called
from ..cases import (
    beyond_single,
    copied,
    drawn,
    explained,
    field,
    first_apart,
    listed,
    numbers,
    rows,
    several,
    type_name,
)

# Two softmaxes become one --------------------------------------------------------------------------------------------

SCORES = [0.0, 1.5, -2.0, 3.0, 1000.0, -1000.0, 1e30, -1e30, "-inf"]


def _scores(least, most):
    return several(several(SCORES, 2, 2), least, most)  # of two queries, for each key


_PARTS = explained(
    largest="the largest score of all keys is the larger one of the two",
    total="each sum is relative to its own largest score; multiply it by exp(its largest - the new largest)",
    mixed="the sum of the values is scaled like the sum of the weights",
)


def _is_nan(name, mine, theirs):
    """Where an entry that differs has a nan on the student's side only."""
    if first_apart(mine, theirs) != name:
        return np.array(False)
    yours, wanted = (np.isnan(values(field(tree, name))) for tree in (mine, theirs))
    return yours & ~wanted if yours.shape == wanted.shape else np.array(False)


def _about_merging(case, mine, theirs):
    nan = _is_nan("total", mine, theirs)
    if nan.any():
        keys = case["first"] + case["second"]
        seen = [any(key[query] != "-inf" for key in keys) for query in (0, 1)]
        if not (nan.ravel() & seen).any():
            return "here both parts have seen no key for a query: minus infinity minus minus infinity is NaN"
        return "no exp may overflow: exp gets a largest score minus the new one, which is never above 0"
    return _PARTS(case, mine, theirs)


@program(
    "course.attention.merge_partials",
    cases=drawn(
        first=_scores(1, 3), second=_scores(1, 3), third=_scores(0, 2), width=(1, 3), lead=bool, of=["float64", "float32"]
    ),
    edges=[row | {"of": of} for of in ("float64", "float32") for row in rows(
        "first second third width lead",
        ([[0.0, 0.0]], [[0.0, 0.0]], [], 1, False), ([[0.0, 3.0]], [[1.5, -2.0]], [], 2, False),
        ([[0.0, 1000.0]], [[1000.0, 0.0]], [], 1, False), ([["-inf", 0.0]], [[1.5, "-inf"]], [], 2, True),
        ([["-inf", "-inf"]], [["-inf", 0.0]], [], 1, False), ([["-inf", "-inf"]], [["-inf", "-inf"]], [[1.5, "-inf"]], 1, False),
        ([[1e30, -1e30], [0.0, -1e30]], [[1e30, 3.0]], [], 3, True),
        ([[-1000.0, 1.5]] * 2, [[-1000.0, 3.0]], [[0.0, 3.0]], 2, True), ([[-1e30, 0.0]], [[-1e30, 1.5]], [], 1, False),
    )],
    hint=_about_merging,
)  # fmt: skip
def merged(rl, first, second, third, width, lead, of):
    names = rl.course.attention
    parts = [
        names.Partial(*_partial(rl, scores, i, width, lead, of))
        for i, scores in enumerate((first, second, third))
        if scores
    ]
    before = [copied(tensor) for part in parts for tensor in part]
    known = names.merge_partials(parts[0], parts[1])
    if third:
        known = names.merge_partials(parts[2], known)
    shown = {"type": type(known).__name__} | {name: copied(tensor) for name, tensor in known._asdict().items()}
    return shown | {
        "the parts are as before": all(rl.equal(a, b) for a, b in zip(before, [x for p in parts for x in p]))
    }


def _partial(xp, scores, which, width, lead, of):
    scores = xp.tensor([[float(number) for number in key] for key in scores], dtype=getattr(xp, of)).mT
    value = numbers(xp, [scores.shape[1], width], which, of)
    if lead:
        scores, value = scores[None], value[None]
    largest = scores.amax(-1, keepdim=True)
    weights = (scores - largest.masked_fill(largest == -math.inf, 0.0)).exp()
    return largest, weights.sum(-1, keepdim=True), weights @ value


@merged.oracle
def _(torch, first, second, third, width, lead, of):
    """All keys at once."""
    numbers_of = [numbers(torch, [len(scores), width], i, of) for i, scores in enumerate((first, second, third))]
    listed_scores = [[float(number) for number in key] for key in first + second + third]
    scores = torch.tensor(listed_scores, dtype=getattr(torch, of)).mT
    value = torch.cat(numbers_of)
    largest = scores.max(-1, keepdim=True).values
    weights = torch.exp(scores - torch.where(largest == -math.inf, 0.0, largest))
    partial = largest, weights.sum(-1, keepdim=True), weights @ value
    shown = zip(("largest", "total", "mixed"), (tensor[None] if lead else tensor for tensor in partial))
    return {"type": "Partial"} | dict(shown) | {"the parts are as before": True}


# Tiles ---------------------------------------------------------------------------------------------------------------


def flows(xp, results, inputs):
    """For each input, whether a gradient of the results reaches it."""
    ends = [result for result in results if result.requires_grad]
    if not ends:
        return [False] * len(inputs)
    gradients = xp.autograd.grad(ends, inputs, [xp.ones_like(end) for end in ends], allow_unused=True)
    return [gradient is not None for gradient in gradients]


def gradients_of(xp, result, inputs):
    """For each input, its gradient, from a gradient of the result whose numbers differ. None if it does not reach the input."""
    if not result.requires_grad:
        return [None] * len(inputs)
    of_result = numbers(xp, [*result.shape], 7).to(result.dtype)
    return [*map(copied, xp.autograd.grad(result, inputs, of_result, allow_unused=True))]


class Elements(DispatchMode):
    """The elements of the largest memory that an operator returns, and the operators of attention that are called."""

    def __init__(self):
        self.most, self.beyond = 0, set()

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        name = func.name().partition(".")[0].removeprefix("aten::")
        if name == "_safe_softmax" or "scaled_dot_product" in name:
            self.beyond.add(name)
        result = func(*args, **(kwargs or {}))
        for tensor in result if isinstance(result, (tuple, list)) else [result]:
            if hasattr(tensor, "untyped_storage"):
                self.most = max(self.most, tensor.untyped_storage().nbytes() // tensor.dtype.itemsize)
        return result


def _tiles(**others):
    return drawn(
        lead=lambda st: st.lists(st.integers(1, 2), max_size=2), sizes=listed((1, 7), (1, 9), (1, 4), (1, 4)), block=(1, 10),
        causal=bool, scale=[None, None, 0.5, 2.0, 0.0], of=["float64", "float64", "float32"], start=(0, 9), **others,
    )  # fmt: skip


_EDGES = rows(
    "lead sizes block causal scale of start",
    ([], [1, 1, 1, 1], 1, False, None, "float64", 0), ([2, 2], [5, 5, 3, 3], 2, False, None, "float64", 1),
    ([2, 2], [5, 5, 3, 3], 2, True, None, "float64", 2), ([2], [4, 7, 2, 3], 3, False, 0.5, "float64", 3),
    ([], [7, 4, 3, 2], 2, True, 2.0, "float64", 4), ([], [3, 9, 2, 2], 2, True, None, "float64", 5),
    ([1, 2], [5, 6, 4, 4], 10, True, None, "float32", 6), ([], [6, 6, 2, 1], 6, False, None, "float32", 7),
    ([], [40, 40, 2, 3], 4, True, None, "float64", 8), ([], [30, 50, 3, 2], 5, False, None, "float64", 9),
    ([2], [3, 4, 2, 2], 3, False, 0.0, "float64", 3), ([1, 2], [3, 4, 2, 2], 3, True, 0.0, "float64", 3),
    ([], [256, 256, 2, 2], 8, False, None, "float64", 4),
)  # fmt: skip

_LARGE = rows(
    "lead sizes block causal scale of start",
    ([2], [5, 7, 2, 2], 2, False, 1e4, "float64", 1), ([], [4, 4, 1, 1], 1, True, 1e4, "float64", 1),
)  # fmt: skip


def _operands(xp, lead, sizes, of, start):
    queries, keys, size, width = sizes
    shapes = ([queries, size], [keys, size], [keys, width])
    return [numbers(xp, [*lead, *shape], start + i, of) for i, shape in enumerate(shapes)]


def _allowed(lead, sizes, block):
    """The elements that the largest tensor may have."""
    queries, keys, size, width = sizes
    return math.prod(lead) * max(queries * min(block, keys), max(queries, keys) * max(size, width))


def _at_once(xp, query, key, value, causal, scale):
    """The result and the logarithms, from the scores of all keys."""
    scores = query @ key.mT * (query.shape[-1] ** -0.5 if scale is None else scale)
    if causal:
        scores = scores.masked_fill(xp.ones(scores.shape[-2:]).triu(1) > 0, -math.inf)
    return scores.softmax(-1) @ value, scores.logsumexp(-1)


def _given(block, causal, scale):
    return ({"is_causal": True} if causal else {}) | ({} if scale is None else {"scale": scale})


def _fused_is_nan(causal, scale):
    """torch's fused kernel masks the products, and then multiplies minus infinity by the scale."""
    return causal and scale == 0


def _about_tiles(case, mine, theirs):
    if first_apart(mine, theirs) == "digits":
        return "only the last digits differ: no step computes in a narrower dtype than the query's"
    if _is_nan("out", mine, theirs).any():
        return "the scores are very large or very small here: exp must get the distance from the largest score so far"
    return _TILES(case, mine, theirs)


_TOO_LARGE = "a tensor, or an array, has the scores of more than one block of keys"
_TILES = explained(
    logsumexp="logsumexp is the largest score plus the logarithm of the sum",
    a_tensor_is_too_large=_TOO_LARGE, too_much_at_once=_TOO_LARGE,
)  # fmt: skip


def _needs_too_much(sizes, call, *args, **given):
    """Whether a call, numpy's arrays included, needs as much memory as the scores of all keys, or nearly so.

    Small cases are not measured: in those, Python's objects take more. Neither is a first call, which may import modules. What
    other threads allocate counts, too, so a call that seems to need too much is measured again.
    """
    queries, keys, *_ = sizes
    if queries * keys < 256 * 256:
        return False
    return all(_peak(call, *args, **given) > queries * keys * 8 * 3 / 4 for _ in range(3))


def _peak(call, *args, **given):
    tracemalloc.start()
    try:
        call(*args, **given)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@program("course.attention.tiled_attention", cases=_tiles(), edges=_EDGES + _LARGE, draws=30, hint=_about_tiles)
def tiled(rl, lead, sizes, block, causal, scale, of, start):
    operands, tiled_attention = _operands(rl, lead, sizes, of, start), rl.course.attention.tiled_attention
    with Elements() as elements:
        result = tiled_attention(*operands, block, **_given(block, causal, scale))
    out, logsumexp = result
    return {
        "beyond": sorted(elements.beyond),
        "type": type_name(result),
        "out": copied(out),
        "logsumexp": copied(logsumexp),
        "digits": [beyond_single(rl, copied(x)) for x in (out, logsumexp)],
        "a tensor is too large": elements.most > _allowed(lead, sizes, block),
        "too much at once": _needs_too_much(sizes, tiled_attention, *operands, block, **_given(block, causal, scale)),
        "the arguments": operands,
    }


@tiled.oracle
def _(torch, lead, sizes, block, causal, scale, of, start):
    """torch's fused kernel, if the values are as wide as the keys."""
    operands = query, key, value = _operands(torch, lead, sizes, of, start)
    if sizes[2] == sizes[3] and not _fused_is_nan(causal, scale):
        four = [tensor.reshape(1, -1, *tensor.shape[-2:]) for tensor in operands]
        fused = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu
        result = fused(*four, 0.0, causal, scale=scale)
        out, logsumexp = result[0].reshape(*lead, *result[0].shape[-2:]), result[1].reshape(*lead, sizes[0])
    else:
        out, logsumexp = _at_once(torch, query, key, value, causal, scale)
    shown = {"beyond": [], "type": "sequence", "out": copied(out), "logsumexp": copied(logsumexp)}
    shown["digits"] = [beyond_single(torch, copied(x)) for x in (out, logsumexp)]
    return shown | {"a tensor is too large": False, "too much at once": False, "the arguments": operands}


_GRADIENTS = explained(
    of_the_value="the weights are exp(scores - logsumexp); the gradient of the values is their transpose times `grad`",
    of_the_query="the gradient of the query is a sum over all blocks of keys",
    of_the_key="the gradient of a score is weight * (gradient of the weight - delta); delta is the sum of grad * out, "
    "over all keys",
    a_tensor_is_too_large=_TOO_LARGE, too_much_at_once=_TOO_LARGE,
)  # fmt: skip


def _about_gradients(case, mine, theirs):
    wrong = first_apart(mine, theirs)
    if wrong is not None and wrong.endswith("key"):
        yours, wanted = (values(field(tree, wrong)) for tree in (mine, theirs))
        factor = case["sizes"][2] ** -0.5 if case["scale"] is None else case["scale"]
        if yours.shape == wanted.shape and np.allclose(yours * factor, wanted, rtol=1e-3):
            return "the scores are query @ keyᵀ · scale, so the scale is a factor of this gradient too"
    return _GRADIENTS(case, mine, theirs)


@program(
    "course.attention.tiled_attention_backward",
    cases=_tiles(),
    edges=_EDGES + _LARGE,
    draws=30,
    hint=_about_gradients,
)
def backward(rl, lead, sizes, block, causal, scale, of, start):
    query, key, value = operands = _operands(rl, lead, sizes, of, start)
    grad = numbers(rl, [*lead, sizes[0], sizes[3]], start + 3, of)
    out, logsumexp = _at_once(rl, *operands, causal, scale)
    given, tiled_attention_backward = _given(block, causal, scale), rl.course.attention.tiled_attention_backward
    before = copied(out), copied(logsumexp)
    with Elements() as elements, called(["rushlight.autograd.engine._run"]) as by_autograd:
        grads = tiled_attention_backward(grad, query, key, value, out, logsumexp, block, **given)
    names = ("of the query", "of the key", "of the value")
    return {
        "beyond": sorted(elements.beyond) + ["autograd"] * len(by_autograd),
        "type": type_name(grads),
        **{name: copied(tensor) for name, tensor in zip(names[::-1], [*grads][::-1])},
        "a tensor is too large": elements.most > _allowed(lead, sizes, block),
        "too much at once": _needs_too_much(
            sizes, tiled_attention_backward, grad, *operands, out, logsumexp, block, **given
        ),
        "the arguments": [grad, *operands],
        "out and logsumexp are as before": rl.equal(before[0], out) and rl.equal(before[1], logsumexp),
    }


@backward.oracle
def _(torch, lead, sizes, block, causal, scale, of, start):
    operands = [tensor.requires_grad_() for tensor in _operands(torch, lead, sizes, of, start)]
    grad = numbers(torch, [*lead, sizes[0], sizes[3]], start + 3, of)
    if _fused_is_nan(causal, scale):
        out = _at_once(torch, *operands, causal, scale)[0]
    else:
        out = torch.nn.functional.scaled_dot_product_attention(*operands, is_causal=causal, scale=scale)
    grads = torch.autograd.grad(out, operands, grad)
    names = ("of the query", "of the key", "of the value")
    return {
        "beyond": [],
        "type": "sequence",
        **{name: copied(tensor) for name, tensor in zip(names[::-1], [*grads][::-1])},
        "a tensor is too large": False,
        "too much at once": False,
        "the arguments": [grad, *(tensor.detach() for tensor in operands)],
        "out and logsumexp are as before": True,
    }


# Bytes ---------------------------------------------------------------------------------------------------------------


@program(
    "course.attention.attention_traffic",
    cases=drawn(batch=(1, 3), heads=(1, 4), sizes=listed((1, 300), (1, 300), (1, 64)), tile=(1, 128), itemsize=[None, 2, 8]),
    edges=rows(
        "batch heads sizes tile itemsize",
        (1, 1, [2, 3, 1], 2, None), (1, 1, [1, 1, 1], 1, 2), (2, 3, [5, 7, 4], 2, 8), (16, 4, [40, 40, 16], 16, None),
        (1, 2, [128, 64, 16], 64, 2), (1, 1, [10, 3, 2], 100, None), (1, 1, [9, 3, 2], 3, None),
    ),
    hint=explained(
        unfused="an operator reads what another one wrote: the scores, and then the weights, go to memory and back",
        fused="the keys and the values are read once for each tile of queries; the last tile may be smaller",
    ),
)  # fmt: skip
def moved(rl, batch, heads, sizes, tile, itemsize):
    given = {} if itemsize is None else {"itemsize": itemsize}
    traffic = rl.course.attention.attention_traffic(batch, heads, *sizes, tile, **given)
    return {
        "types": [*map(type_name, (traffic, *traffic))],
        "unfused": traffic[0],
        "fused": traffic[1],
    }


@moved.oracle
def _(torch, batch, heads, sizes, tile, itemsize):
    """The bytes of the tensors that torch's operators get and return, on the device meta."""
    mode = import_module("torch.utils._python_dispatch").TorchDispatchMode
    dtype = {None: torch.float32, 2: torch.float16, 8: torch.float64}[itemsize]
    queries, keys, size = sizes
    query, key, value = (torch.empty(batch * heads, n, size, dtype=dtype, device="meta") for n in (queries, keys, keys))
    seen = []

    class Count(mode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            result = func(*args, **(kwargs or {}))
            if func in (torch.ops.aten.bmm.default, torch.ops.aten._softmax.default):
                seen.extend(tensor.nbytes for tensor in (*args, result) if isinstance(tensor, torch.Tensor))
            return result

    with Count():
        torch.bmm(torch.softmax(torch.bmm(query, key.mT), -1), value)
    fused = sum(2 * part.nbytes + key.nbytes + value.nbytes for part in query.split(tile, 1))
    return {"types": ["sequence", "int", "int"], "unfused": sum(seen), "fused": fused}
