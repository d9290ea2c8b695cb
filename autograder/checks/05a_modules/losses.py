"""Layer normalisation and dropout."""

from __future__ import annotations

import itertools
import math

from ...engine.check import program
from ...engine.observe import show, values
from ..cases import defaults, drawing, drawn, field, first_apart, numbers, tensor, tensors
from ..shared_05 import elements, gradients_of, plain

# Layers --------------------------------------------------------------------------------------------------------------


_FLOATING = ("float64", "float64", "float32", "float16")


@drawing
def _normalisations(draw, st):
    x = draw(tensors(st, (1, 4), 4, _FLOATING * 4 + ("int64",)))
    sizes, kind = x["tensor"]["sizes"], x["tensor"]["dtype"]
    shape = sizes[-draw(st.integers(1, min(2, len(sizes)))) :]
    fault = draw(st.sampled_from(["", "", "", "", "", "", "", "shape", "weight", "mixed"]))
    if fault == "shape":
        shape = draw(st.sampled_from([[], [*shape, 1], [shape[0] + 1, *shape[1:]], [*sizes, 2]]))
    weight = bias = kind
    if fault == "mixed":
        weight = draw(st.sampled_from(["float32", "float64", "float16"]))
        bias = draw(st.sampled_from([weight, "float32", "float64", "float16"]))
    weight, bias = draw(st.sampled_from([None, weight])), draw(st.sampled_from([None, bias]))
    eps = draw(st.sampled_from([1e-5, 1e-5, 0.5, 2.0] if kind == "float64" else [0.5, 2.0]))
    return _normal(x, shape, weight, bias, eps, fault == "weight")


def _normal(x, shape, weight=None, bias=None, eps=0.5, wrong=False, far=0):
    return {"x": x, "shape": shape, "weight": weight, "bias": bias, "wrong": wrong, "eps": eps, "far": far}


def _doubles(sizes, *rest, **others):
    return _normal(tensor(sizes, dtype="float64"), *rest, **others)


def _is_centred(result):
    """Whether the elements of each sample of one dimension have about the sum 0. NaN shows nothing."""
    return not (abs(values(result).sum(-1)) > 0.001).any()


def _about_normalisation(case, mine, theirs):
    if "error" in theirs:
        if "error" in mine:
            if case["x"]["tensor"]["dtype"] in _FLOATING:
                return None
            return (
                "a dtype that is not floating-point raises NotImplementedError, after shapes and dtypes were compared"
            )
        return "the contract says which shapes and dtypes go together; no helper compares the dtypes"
    about_eps = "eps is added to the variance, before the root; and the variance is divided by n, not by n - 1"
    match first_apart(mine, theirs):
        case "contiguous":
            return "the result is contiguous, whatever the strides of the input"
        case "grads" if math.prod(case["shape"]) == 1 and "nan" in show(field(mine, "grads")):
            return about_eps  # the root of 0 has an infinite slope
        case "grads":
            return "the result is right, its gradient is not: does autograd see every step?"
        case "result" if case["far"]:
            return "subtract the mean first: the mean of the squares minus the square of the mean loses the digits of large numbers"
        case "result" if case["x"]["tensor"]["dtype"] in ("float16", "bfloat16"):
            return None  # the difference may be its rounding
        case "result" if len(case["shape"]) > 1:
            return "a sample is all of the last dimensions, as many as normalized_shape has"
        case "result" if case["weight"] is case["bias"] is None and not _is_centred(field(mine, "result")):
            return (
                "each sample has its own mean, which is subtracted: the elements of a normalised sample have the sum 0"
            )
        case "result" if case["weight"] is case["bias"] is None:
            return about_eps
    return None


@program(
    "aten.native.normalisation.layer_norm",
    cases=_normalisations,
    edges=[
        *[_normal(tensor([2, 3], dtype=kind), [3], eps=eps)
          for kind in ("float64", "float32", "float16") for eps in (1e-5, 2.0)],
        _doubles([2, 3], [2, 3]), _doubles([2, 3, 4], [4], "float64", "float64"),
        _doubles([2, 3, 4], [3, 4], "float64", "float64", 1e-5), _doubles([2, 3, 4], [2, 3, 4], "float64"),
        _doubles([2, 3, 4], [4], None, "float64"), _doubles([2, 3], [3], "float64", far=1e6),
        _normal(tensor([2, 3], [1, 2], 1, "float64"), [3], "float64", "float64"),
        _normal(tensor([2, 3, 2], [1, 2, 7], 1, "float64"), [3, 2], None, None),
        _normal(tensor([2, 3], [1, 0], 1, "float64"), [3]),
        _normal(tensor([2, 3], [0, 1], 1, "float64"), [3], "float64"), _doubles([3], [3], "float64", "float64"),
        _doubles([1], [1], "float64", "float64"), _doubles([2, 1], [1], "float64", "float64"),
        _doubles([0, 3], [3], "float64", "float64"), _doubles([2, 0], [0], "float64", "float64"),
        _normal(tensor([3, 9], dtype="float16"), [9], "float16", "float16"),
        _normal(tensor([3, 4], offset=900, dtype="float16"), [4], None, None, 1e-5),
        _normal(tensor([2, 4], dtype="float16"), [4], "float32", "float32"),
        *[_normal(tensor([2, 4], dtype="bfloat16"), [4], kind, kind) for kind in ("float32", "bfloat16", "float16")],
        _normal(tensor([2, 4], dtype="float16"), [4], "float32", None),
        _normal(tensor([2, 4], dtype="float16"), [4], None, "float32"),
        _normal(tensor([2, 4], dtype="float16"), [4], "float16", "float32"),
        _normal(tensor([2, 4], dtype="float16"), [4], "float32", "float16"),
        _normal(tensor([2, 4], dtype="float32"), [4], "float32", "float16"),
        _normal(tensor([2, 4], dtype="float32"), [4], "float64", "float32"),
        *[_normal(tensor([2, 4], dtype="float32"), [4], weight, bias)
          for weight in ("float64", None) for bias in ("float64", None)],
        _doubles([2, 4], [4], "float32", None), _doubles([2, 4], [4], None, "float16"),
        *[_doubles([2, 3], shape, "float64") for shape in ([], [2], [3, 1], [1, 3], [1, 2, 3], [6])],
        *[_doubles([2, 3], [3], w, b, wrong=True) for w in ("float64", None) for b in ("float64", None)],
        _doubles([3, 2, 2], [2], "float64", None, wrong=True), _doubles([3, 2, 2], [2], None, "float64", wrong=True),
        _normal(tensor([], [], 2, "float64"), []), _normal(tensor([], [], 2, "float64"), [1]),
        _normal(tensor([2, 3], dtype="int64"), [3]), _normal(tensor([2, 3], dtype="int64"), [2]),
        _normal(tensor([2, 3], dtype="int64"), [3], "int64", "int64"),
        _normal(tensor([2, 3], dtype="int64"), [3], "float64"), _normal(tensor([2, 3], dtype="bool"), [3]),
    ],
    hint=_about_normalisation,
)  # fmt: skip
def normalised(xp, x, shape, weight, bias, wrong, eps, far):
    wide = x.dtype in (xp.float32, xp.float64)
    x = x.remainder(11) + far if wide else x  # small numbers, so that gradients are exact enough
    x = (x * 0.25).requires_grad_() if x.dtype.is_floating_point else x
    size = [*shape, 2] if wrong else list(shape)
    parameters = [None if kind is None else numbers(xp, size, i, kind) for i, kind in enumerate((weight, bias), 1)]
    if wide:
        parameters = [None if p is None else p.requires_grad_(p.dtype.is_floating_point) for p in parameters]
    result = xp.layer_norm(x, (tuple if weight is None else list)(shape), *parameters, eps, bias is not None)
    shown = {"result": elements(xp, result), "contiguous": result.is_contiguous()}
    return shown | {"grads": gradients_of(xp, result, x, *parameters) if wide else None}


MANY = 1200
_drop = defaults(p=0.5, train=True, sizes=[MANY], kind="float64", turned=False, seed=7, scale=1)


_LIKE = "the result has the sizes, the dtype and the layout of the input; empty_like gives a tensor for the mask"


def _about_dropout(case, mine, theirs):
    if "error" in theirs and "error" not in mine:
        return "p is checked first, also in evaluation" if not 0 <= case["p"] <= 1 else _LIKE
    wrong = first_apart(mine, theirs)
    if case["p"] == 1 and case["train"] and wrong in (None, "factors", "kept"):
        return "if p is 1 no element is kept, and a division by 1 - p is not possible"
    if math.isinf(case["scale"]) and wrong == "factors":
        return "an infinite element that is dropped is multiplied by 0, which gives NaN"
    return {
        "kept": "an element is kept with probability 1 - p",
        "elements unlike the mask": (
            "`bernoulli_(1 - p)` fills an `empty_like` of the input: filled in another way, the same seed keeps other elements"
        ),
        "factors": "a kept element is divided by 1 - p, so that the mean stays; evaluation changes nothing",
        "like": _LIKE,
        "in a row": "each element is dropped or kept by itself",
        "itself": "with p = 0, in evaluation and without elements the result is the input itself, no copy",
        "gradients unlike the mask": "the gradient goes through the same mask",
        "drawn next": "the generator is asked only for the mask: with p 0 or 1 and in evaluation nothing is drawn",
    }.get(wrong)


@program(
    "aten.native.random.dropout",
    cases=drawn(
        p=[0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0, 0, 1, -0.5, 1.5], train=bool,
        sizes=[[MANY], [40, 30], [MANY], [0], [2, 0]], kind=["float32", "float64", "float64", "float16"], turned=bool,
        seed=(0, 1000), scale=[1, 1, 1, 0],
    ),
    edges=[
        *[_drop(p, train) for p in (0.0, 0, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0, 1, -0.5, 1.5) for train in (True, False)],
        *[_drop(p, train, [0]) for p in (0.5, 0.0, 1.0, 1.5) for train in (True, False)],
        *[_drop(p, True, [40, 30], kind, True) for p in (0.5, 1.0) for kind in ("float64", "float32", "float16")],
        *[_drop(p, train, kind="int64") for p in (0.5, 0.0) for train in (True, False)], _drop(math.nan),
        *[_drop(1.0, kind=kind) for kind in ("int64", "bool")],
        *[_drop(p, train, kind="float32") for p, train in ((1.0, True), (0.5, False), (0.0, True))],
        _drop(math.nan, False), *[_drop(p, scale=scale) for p in (0.5, 1.0) for scale in (0, math.inf)],
    ],
    hint=_about_dropout,
)  # fmt: skip
def dropped(xp, p, train, sizes, kind, turned, seed, scale):
    """All that does not depend on chance: the factors of the elements, roughly the share that is kept, and whether the
    framework's own `bernoulli_` draws this mask."""
    xp.manual_seed(seed)
    data = [scale * (1.0 + i % 7) for i in range(math.prod(sizes))]
    x = xp.tensor(data, dtype=getattr(xp, kind)).reshape(sizes)
    x = x.t() if turned and len(sizes) == 2 else x
    x = x.requires_grad_() if x.dtype.is_floating_point else x
    result, drawn_next = xp.dropout(x, p, train), xp.rand(2)
    before, after = (tensor.detach().double().flatten() for tensor in (x, result))
    given = 1 if math.isinf(scale) else before + (before == 0)  # a quotient of infinities is NaN, whatever the factor
    ratios = [ratio if ratio == ratio else math.nan for ratio in (after / given).tolist()]  # one NaN, which is itself
    kept = sum(map(_is_kept, ratios)) / max(len(ratios), 1)
    expected, longest = (
        1.0 if not train else 1 - p,
        max((len([*same]) for _, same in itertools.groupby(ratios)), default=0),
    )
    may_be_chance = longest < _too_long(p) or len(set(ratios)) == 1
    digits = 3 if kind == "float16" else 6
    shown = {
        "itself": result is x,
        "like": [str(result.dtype).partition(".")[2], list(result.shape), list(result.stride()), result.requires_grad],
        "factors": sorted({round(ratio, digits) for ratio in ratios if ratio == ratio})
        + [math.nan] * (math.nan in ratios),
        "in a row": "few equal elements" if may_be_chance else f"{longest} equal elements",
        "kept": round(expected if abs(kept - expected) < 0.08 or not ratios else kept, 3),
        "elements unlike the mask": _unlike_drawn(xp, x, p, seed, ratios),
        "gradients unlike the mask": 0,
        "input": plain(x),
        "drawn next": drawn_next if kind == "float32" else None,
    }
    if kind in ("float32", "float64") and result is not x and not math.isinf(scale):
        result.sum().backward()
        unlike = ~((x.grad * x.detach() - result.detach()).abs() < 1e-5)
        shown["gradients unlike the mask"] = int(unlike.sum())
    return shown


def _unlike_drawn(xp, x, p, seed, ratios):
    """How many elements are 0 and kept by `bernoulli_` after this seed, or the reverse. 0 if all elements have one factor."""
    xp.manual_seed(seed)
    mask = xp.empty_like(x.detach()).bernoulli_(1 - p).flatten().tolist() if 0 < p < 1 else []
    return sum(_is_kept(ratio) != kept for ratio, kept in zip(ratios, mask)) if len(set(ratios)) > 1 else 0


def _is_kept(ratio):
    return ratio != 0 and not math.isnan(ratio)


def _too_long(p):
    """The length of a run of equal neighbours that chance gives once in a hundred thousand times."""
    return math.log(1e-5 / MANY) / math.log(max(p, 1 - p)) if 0 < p < 1 else math.inf
