"""Affine quantisation: parameters, values, channels, and two values in a byte.

The numbers are multiples of half a step, and their neighbours in float32: there a product with the reciprocal of the scale and a
quotient may round to different integers.
"""

from __future__ import annotations

import math
import warnings

import numpy as np

from ...engine.check import program
from ...engine.observe import is_error
from ..cases import defaults, drawing, drawn, field, first_apart
from ..listing import literal

SCALES = [0.1, 0.25, 1 / 3, 0.00732421875, 0.7, 3.7, 0.015, 1.0]


def near_middles(scale: float, halves: list[int], nudge: int, dtype: str = "float32") -> np.ndarray:
    """Multiples of half a step in a dtype, or their neighbours above (`nudge` 1) or below (-1)."""
    exact = np.array([half * scale / 2 for half in halves], dtype)
    return exact if nudge == 0 else np.nextafter(exact, exact.dtype.type(nudge * np.inf))


def _apart(scales: list[float], other) -> list[list]:
    """The triples [scale, half, nudge] that another rule rounds to another integer than the product with 1 / scale."""
    triples = []
    for scale in scales:
        for nudge in (-1, 0, 1):
            halves = [*range(-251, 252, 2)]
            x = near_middles(scale, halves, nudge)
            wrong = np.flatnonzero(np.rint(x * np.float32(1 / scale)) != np.rint(other(x, scale)))
            triples += [[scale, halves[i], nudge] for i in wrong[:2]]
    return triples


QUOTIENTS = _apart([0.1, 0.7, 0.3, 0.015, 0.11, 0.013, 3.7, 1 / 3, 0.9, 0.21], lambda x, s: x / np.float32(s))[:25]
RECIPROCALS = _apart([i / 1000 for i in range(3, 90)], lambda x, s: x * (np.float32(1) / np.float32(s)))[:6]

# Parameters ----------------------------------------------------------------------------------------------------------

RANGES = {
    "uint8": [(0, 255), (0, 127), (0, 15), (0, 4)],
    "int8": [(-128, 127), (-8, 7), (-127, 127), (0, 15), (-100, 20)],
}
SCHEMES = ["per_tensor_affine", "per_tensor_symmetric", "per_channel_affine", "per_channel_symmetric"]
_ranged = defaults(
    low=[-1.0], high=[3.0], kind="uint8", quant=[0, 255], eps=2.0**-23, custom=False, scheme="per_tensor_affine"
)


@drawing
def _parameters(draw, st):
    scheme, dtype = draw(st.sampled_from(SCHEMES)), draw(st.sampled_from(["uint8", "int8"]))
    number = st.one_of(st.integers(-40, 40).map(lambda i: i / 4), st.sampled_from([0.0, 1e-8, -1e-8, 1e30, -0.0, 0.1]))
    pairs = draw(st.lists(st.tuples(number, number), min_size=1, max_size=4 if "channel" in scheme else 1))
    low, high = [min(pair) for pair in pairs], [max(pair) for pair in pairs]
    eps = draw(st.sampled_from([2.0**-23, 2.0**-23, 0.5]))
    return _ranged(low, high, dtype, list(draw(st.sampled_from(RANGES[dtype]))), eps, draw(st.booleans()), scheme)


def _about_parameters(case, mine, theirs):
    wrong, symmetric = first_apart(mine, theirs), "symmetric" in case["scheme"]
    if wrong == "kinds":
        return "the results are a float32 scale and an int64 zero point, each with one dimension"
    if wrong == "scale":
        pairs = zip(*(map(np.float32, field(tree, wrong)) for tree in (mine, theirs)))
        if any(yours != wanted == np.float32(case["eps"]) for yours, wanted in pairs):
            return "the scale is not below eps"
        if _nearly(field(mine, wrong), field(theirs, wrong)):
            return "divide, with tensors of float32: a reciprocal or Python's numbers give another last digit"
        if symmetric:
            return (
                "with a symmetric scheme the scale is the larger distance from 0.0, over half of quant_max - quant_min"
            )
        return (
            "the scale is the length of the range over quant_max - quant_min, and the range contains 0.0, even if no value is "
            "near it"
        )
    if wrong == "arguments afterwards":
        return "the arguments do not change: an observer still needs its range"
    if symmetric:
        return (
            "with a symmetric scheme the zero point is 0. For rl.uint8 it is the middle: 128, or (quant_min + quant_max) // 2 if "
            "has_customized_qrange"
        )
    yours, (least, most) = field(mine, wrong), case["quant"]
    if not all(least <= point <= most for point in yours):
        return "the zero point is limited to quant_min ... quant_max"
    if any(abs(point - other) > 1 for point, other in zip(yours, field(theirs, wrong))):
        return "the zero point is quant_min minus the quotient min / scale, with the scale that is not below eps"
    return "round the quotient min / scale, half to even, and subtract the result from quant_min: a tie shows the order"


def shown_parameters(torch, low, high, kind, quant, eps, custom, scheme):
    low, high = (literal(_bound(torch, bound, scheme)) for bound in (low, high))
    lines = [f"min_val, max_val = {low}, {high}", *_quantisation(quant, kind), f"eps = {literal(torch.tensor([eps]))}"]
    return "\n".join([*lines, f"has_customized_qrange, scheme = {custom}, torch.{scheme}"])


def _nearly(mine, theirs):
    """Whether two lists of numbers, as texts, differ in their last digits only."""
    return isinstance(mine, list) and np.allclose([*map(float, mine)], [*map(float, theirs)], rtol=1e-6, atol=0)


@program(
    "ao.quantization.affine.determine_qparams",
    cases=_parameters,
    edges=[
        _ranged(), _ranged([1.0], [3.0]), _ranged([-3.0], [-1.0]), _ranged([0.0], [0.0]), _ranged([-1e-8], [1e-8]),
        _ranged([-0.5], [14.5], quant=[0, 15]), _ranged([-1.5], [13.5], quant=[0, 15]), _ranged([-2.5], [12.5], quant=[0, 15]),
        _ranged([-126.5], [127.5], "int8", [-127, 127]), _ranged([-1.5], [1.5], "int8", [-1, 2]),
        *[_ranged([low], [high]) for low, high in ((-0.01, 0.01), (-0.07, 0.35), (-0.54, 1.26), (-0.14, 0.14), (-0.01, 0.21))],
        _ranged([-0.42], [3.78], quant=[0, 15]), _ranged([-0.49], [1.47], "int8", [-127, 127]),
        *[_ranged([low], [high], "int8", [-128, 127], scheme=scheme)
          for scheme in SCHEMES[1::2] for low, high in ((-0.7, 0.3), (-0.21, 0.49))],
        _ranged([-1000.0], [0.0], "int32", [-(2**24), 2**24 - 1], custom=True),
        *[_ranged([-3.0], [1.0], "int32", [-8, 5], custom=custom, scheme="per_tensor_symmetric") for custom in (True, False)],
        _ranged([-1.0], [3.0], "int8", [-128, 127]), _ranged([-3.0], [1.0], "int8", [-8, 7]), _ranged(eps=0.5),
        _ranged([-7.0], [0.5], "int8", [-8, 7], eps=3.0), _ranged([1e30], [1e30]), _ranged([-100.0], [-99.0], quant=[0, 4]),
        *[_ranged(low, high, dtype, quant, eps, custom, scheme)
          for scheme in SCHEMES[1::2] for dtype, quant in (("uint8", [0, 255]), ("uint8", [0, 14]), ("int8", [-8, 7]))
          for custom in (True, False) for low, high, eps in (([-3.0], [1.0], 2.0**-23), ([2.0], [5.0], 0.5), ([0.0], [0.1], 1.0))],
        _ranged([-3.0], [1.0], "uint8", [-8, 5], custom=True, scheme="per_tensor_symmetric"),
        *[_ranged([-1.0, 0.5, -2.0], [0.25, 2.0, -1.0], dtype, quant, 2.0**-23, False, scheme)
          for scheme in SCHEMES[2:] for dtype, quant in (("uint8", [0, 255]), ("int8", [-128, 127]))],
        _ranged([-1.0, 0.5], [0.25, 2.0], "int8", [-100, 20], scheme="per_channel_symmetric"),
        *[_ranged([-1.0, 0.5], [0.25, 2.0], scheme=scheme) for scheme in SCHEMES[:2]],
    ],
    show=shown_parameters,
    hint=_about_parameters,
)  # fmt: skip
def parameters(rl, low, high, kind, quant, eps, custom, scheme):
    low, high = (_bound(rl, bound, scheme) for bound in (low, high))
    eps = rl.tensor([eps])
    before = lists_of(low, high, eps)
    scale, zero_point = rl.ao.quantization.affine.determine_qparams(
        low, high, *quant, getattr(rl, kind), eps, custom, getattr(rl, scheme)
    )
    return _parameters_shown(scale, zero_point) | changed(before, low, high, eps)


def _bound(xp, bound, scheme):
    """One end of each range. A single one of a scheme for tensors has no dimension."""
    return xp.tensor(bound if "channel" in scheme or len(bound) > 1 else bound[0])


def lists_of(*tensors):
    return [tensor.tolist() for tensor in tensors]


def changed(before, *tensors):
    """An entry of a result: tensors whose `lists_of` are others than before. None, which is not shown, if they are the same."""
    after = lists_of(*tensors)
    return {"arguments afterwards": None if repr(after) == repr(before) else after}  # nan is the same as nan


def _parameters_shown(scale, zero_point):
    """The numbers of float32 as texts: nine digits tell any two of them apart. A result of another kind is shown as it is."""
    results = [scale, zero_point]
    if not all(hasattr(result, "tolist") for result in results):
        return {"kinds": results}
    kinds = [kind for result in results for kind in (result.dtype, list(result.shape))]
    digits = [f"{number:.9g}" for number in scale.reshape(-1).tolist()]
    return {"kinds": kinds, "scale": digits, "zero point": zero_point.tolist()}


@parameters.oracle
def parameters_of_torch(torch, low, high, kind, quant, eps, custom, scheme):
    from torch.ao.quantization.utils import determine_qparams

    low, high = (_bound(torch, bound, scheme) for bound in (low, high))
    scale, zero_point = determine_qparams(
        low, high, *quant, getattr(torch, kind), torch.tensor([eps]), custom, getattr(torch, scheme)
    )
    shown = _parameters_shown(scale.float(), zero_point)  # this function of torch's returns float64
    return shown | {"arguments afterwards": None}


# Values --------------------------------------------------------------------------------------------------------------

_values = defaults(
    scale=0.5, halves=[-3, 0, 1, 3, 5], nudge=0, zero_point=0, quant=[-128, 127], kind="int8", of="float32", sizes=None
)  # fmt: skip


def _about_values(case, mine, theirs):
    if is_error(theirs):
        return (
            None if is_error(mine) else "as_float32 and _check_bounds raise for a case that the contract does not allow"
        )
    wrong = first_apart(mine, theirs)
    if wrong != "values":
        return _OF_QUANTIZED.get(wrong)
    yours, wanted = (np.ravel(field(tree, wrong)).astype(np.int64) for tree in (mine, theirs))
    if case["quant"][1] > 255:
        return "the zero point is added in float32"
    if isinstance(next(iter(case["halves"]), 0), str):
        return _SATURATE
    x = _in_float32(near_middles(case["scale"], case["halves"], case["nudge"]), case["of"])
    one, scale = np.float32(1), np.float32(case["scale"])
    steps = {"": x * np.float32(1 / case["scale"]), "quotient": x / scale, "reciprocal in float32": x * (one / scale)}
    if case["of"] != "float32" and _rule_of(yours, steps, case["zero_point"], case["quant"]) is None:
        return "as_float32 converts the input first"
    if _rule_of(yours, steps, case["zero_point"], case["quant"]) == "reciprocal in float32":
        return "1.0 / scale is computed in Python's numbers, and the product in float32"
    return _about_steps(yours, wanted, steps, case["zero_point"], case["quant"])


_SATURATE = "saturate the sum, while it is float32: it is the sum that must fit quant_min ... quant_max"
_OTHER_RULES = {
    "forgotten": "the integer is the number of steps plus the zero point",
    "added before": "round, and then add the zero point: a value in the middle goes to the even number of steps, whatever the "
    "zero point is",
    "quotient": "multiply by the reciprocal of the scale: a quotient may round to another integer",
    "half up": "a value in the middle goes to the even number of steps: `round` does this",
}  # fmt: skip


def _rule_of(yours, steps, zero_point, quant):
    """The wrong rule that gives these integers, "" if several do, or None. The right numbers of steps are `steps[""]`."""
    right = steps[""]
    totals = {rule: np.rint(wrong) + zero_point for rule, wrong in steps.items() if rule}
    totals |= {"added before": np.rint(right + np.float32(zero_point)), "forgotten": np.rint(right)}
    totals |= {"half up": np.floor(right + np.float32(0.5)) + zero_point, "down": np.floor(right) + zero_point}
    fitting = [
        rule for rule, total in totals.items() if (np.clip(total, *quant).astype(np.int64).ravel() == yours).all()
    ]
    return (fitting[0] if len(fitting) == 1 else "") if fitting else None


def _about_steps(yours, wanted, steps, zero_point, quant):
    """A hint for wrong integers: the rule that gives them, if it is the only one that is known, or else what torch rounds."""
    sums = np.broadcast_to(np.rint(steps[""]) + zero_point, steps[""].shape).ravel()
    i = int(np.flatnonzero(yours != wanted)[0])
    if hint := _OTHER_RULES.get(_rule_of(yours, steps, zero_point, quant)):
        return hint
    if wanted[i] in quant and not quant[0] <= sums[i] <= quant[1]:
        return _SATURATE
    number = f"{np.ravel(steps[''])[i]:.9g}"
    return (
        f"the first value that differs is {number} steps, which is its product with the reciprocal of the scale, in float32 "
        "(its quotient by the scale may be another number): round this, half to even, and then add the zero point"
    )


def _in_float32(x: np.ndarray, kind: str) -> np.ndarray:
    """Numbers of float32, rounded to the numbers of a dtype."""
    if kind != "bfloat16":
        return x.astype(kind).astype(np.float32)
    bits = x.view(np.uint32)
    return (bits + 0x7FFF + (bits >> 16 & 1) >> 16 << 16).astype(np.uint32).view(np.float32)


_OF_QUANTIZED = {
    "type": "the result has the dtype that is given", "shape": "the result has the sizes of the input",
    "arguments afterwards": "the input does not change",
}  # fmt: skip


def _quantisation(quant, kind) -> list[str]:
    return [f"quant_min, quant_max = {quant[0]}, {quant[1]}", f"dtype = torch.{kind}"]


def shown_values(torch, scale, halves, nudge, zero_point, quant, kind, of, sizes):
    x = numbers_of(torch, scale, halves, nudge, sizes).to(getattr(torch, of))
    lines = [f"input = {literal(x)}", f"scale, zero_point = {scale!r}, {zero_point}", *_quantisation(quant, kind)]
    return "\n".join(lines)


@program(
    "ao.quantization.affine.quantize_per_tensor",
    cases=drawn(
        scale=SCALES, halves=lambda st: st.lists(st.integers(-300, 300), min_size=0, max_size=6), nudge=(-1, 1),
        zero_point=(-9, 9), quant=[[-128, 127], [-8, 7], [0, 127]], kind=["int8", "int8", "int32"],
        of=["float32", "float32", "float32", "float16", "bfloat16"], sizes=[None],
    ),
    edges=[
        _values(), _values(zero_point=1), _values(zero_point=-3), _values(quant=[-2, 1]), _values(0.5, [], 0),
        _values(kind="uint8", quant=[0, 255], zero_point=2), _values(kind="uint8", quant=[0, 3], zero_point=2),
        _values(kind="int32", quant=[-3, 3]), _values(0.25, [1000, -1000, 900]), _values(0.5, [9], 0, 5, [-4, 4]),
        *[_values(scale, [half, half + 8, -half], nudge) for scale, half, nudge in QUOTIENTS + RECIPROCALS],
        *[_values(scale, [half], nudge, 8) for scale, half, nudge in QUOTIENTS[:3]],
        _values(0.5, [1], 0, 2), _values(0.5, [3, 5], 0, 1),  # of the other rules one gives this: half up, added before
        _values(0.5, [4, 1, 3], of="float16"), _values(0.3, [5, 1, 3, 77], of="float16"), _values(of="bfloat16", zero_point=1),
        _values(of="float64"), _values(of="int64"), _values(quant=[-129, 0]), _values(quant=[0, 128]),
        _values(quant=[-1, 9], kind="uint8"), _values(quant=[0, 256], kind="uint8"), _values(0.5, ["inf", "-inf"], 0, 3),
        _values(0.5, [400, -400], kind="uint8", quant=[0, 255]), _values(0.5, [2, 3], kind="int64", quant=[0, 9]),
        _values(halves=[1, 3, 5, 7, 9, 11], sizes=[2, 3]), _values(halves=[], sizes=[0, 3]),
        _values(1.0, [2**26], 0, 1, [0, 2**30], "int32"), _values(0.5, [-600, -599], 0, 300),
    ],
    hint=_about_values,
    show=shown_values,
)  # fmt: skip
def values(rl, scale, halves, nudge, zero_point, quant, kind, of, sizes):
    x = numbers_of(rl, scale, halves, nudge, sizes).to(getattr(rl, of))
    before = lists_of(x)
    q = rl.ao.quantization.affine.quantize_per_tensor(x, scale, zero_point, *quant, getattr(rl, kind))
    return {"type": q.dtype, "shape": list(q.shape), "values": q.tolist()} | changed(before, x)


def numbers_of(xp, scale, halves, nudge, sizes):
    if halves and isinstance(halves[0], str):
        return xp.tensor([float(number) for number in halves])
    return xp.from_numpy(near_middles(scale, halves, nudge).reshape(len(halves) if sizes is None else sizes))


@values.oracle
def values_of_torch(torch, scale, halves, nudge, zero_point, quant, kind, of, sizes):
    import torch.ao.quantization.fx._decomposed as decomposed

    x = numbers_of(torch, scale, halves, nudge, sizes).to(getattr(torch, of))
    q = decomposed.quantize_per_tensor(x, scale, zero_point, *quant, getattr(torch, kind))
    return {"type": q.dtype, "shape": list(q.shape), "values": q.tolist(), "arguments afterwards": None}


_channels = defaults(
    sizes=[2, 3], axis=0, scales=[0.5, 2.0, 0.1], halves=[1, 3, -5, 7], nudge=0, zero_points=[0, 1, -2], quant=[-128, 127],
    kind="int8", of="float32", turned=False, narrow=False,
)  # fmt: skip


def _about_channels(case, mine, theirs):
    if is_error(theirs):
        return "as_float32 and _check_bounds raise for a case that the contract does not allow, and an axis that is too large"
    wrong = first_apart(mine, theirs)
    if wrong == "arguments afterwards":
        return "the arguments do not change"
    if wrong == "shape" or is_error(mine) and "must match" in mine["message"]:
        return _ALONG_AXIS
    if wrong != "values":
        return None
    is_far = max(map(abs, case["halves"])) > 2**31
    if is_far or max(map(abs, case["zero_points"])) > 127 or case["quant"][1] > 255:
        return "a zero point is any integer: it is added in float32, and the sum is saturated before the conversion"
    yours, wanted = (np.array(field(tree, wrong), np.int64) for tree in (mine, theirs))
    x, axis = _in_float32(_channel_values(**case), case["of"]), case["axis"]
    count, along = x.shape[axis], [1 if d != axis % x.ndim else -1 for d in range(x.ndim)]
    scale, zero_point = (np.resize(case[name], count).reshape(along) for name in ("scales", "zero_points"))
    scale = scale.astype(np.float32)
    steps = {"": x * (np.float32(1) / scale), "quotient": x / scale}
    if (
        count > 1
        and abs(yours - wanted).max() > 1
        and _rule_of(yours.ravel(), steps, zero_point, case["quant"]) is None
    ):
        return _ALONG_AXIS
    return _about_steps(yours.ravel(), wanted.ravel(), steps, zero_point, case["quant"])


_ALONG_AXIS = "give the scales and the zero points size 1 in all dimensions but axis, so that they broadcast along it"


@drawing
def _channel_cases(draw, st):
    sizes = draw(st.lists(st.integers(1, 3), min_size=1, max_size=3))
    axis = draw(st.sampled_from([*range(-len(sizes), len(sizes)), *range(len(sizes)), len(sizes)]))
    halves = draw(st.lists(st.integers(-300, 300), min_size=1, max_size=7))
    quant = draw(st.sampled_from([[-128, 127], [-8, 7], [0, 100]]))
    scales = [draw(st.sampled_from(SCALES)) for _ in range(3)]
    zero_points = [draw(st.integers(-9, 9)) for _ in range(3)]
    return _channels(
        sizes, axis, scales, halves, draw(st.integers(-1, 1)), zero_points, quant, turned=draw(st.booleans())
    )


def shown_channels(torch, sizes, axis, scales, halves, nudge, zero_points, quant, kind, of, turned, narrow):
    x, scale, zero_point = channel_arguments(torch, sizes, axis, scales, halves, nudge, zero_points, of, turned, narrow)
    turn = f"  # stride {x.stride()}" if turned and not x.is_contiguous() else ""
    made = [f"input = {literal(x)}{turn}", f"scales = {literal(scale)}", f"zero_points = {literal(zero_point)}"]
    return "\n".join([*made, f"axis = {axis}", *_quantisation(quant, kind)])


@program(
    "ao.quantization.affine.quantize_per_channel",
    cases=_channel_cases,
    edges=[
        _channels(), _channels(axis=1), _channels(axis=-1), _channels(axis=-2), _channels(sizes=[3]),
        _channels(sizes=[3, 3], axis=1),
        _channels(sizes=[2, 3, 2], axis=1), _channels(sizes=[2, 2, 3], axis=-1), _channels(sizes=[0, 3]), _channels(sizes=[3, 0]),
        _channels(quant=[-2, 1]), _channels(axis=2), _channels(axis=3), _channels(of="float64"), _channels(of="float16"),
        _channels(quant=[-129, 1]), _channels(kind="uint8", quant=[0, 256]), _channels(kind="uint8", quant=[0, 255]),
        _channels(sizes=[3, 2], turned=True), _channels(sizes=[3, 2], axis=1, turned=True), _channels(narrow=True),
        _channels(sizes=[2, 2], zero_points=[5, -5, 0]),
        _channels([3], halves=[0], zero_points=[0, 1, 2], kind="int32", narrow=True), _channels([2, 2, 3, 2]),
        _channels([1, 1], 0, [1.0], [2**26], zero_points=[1], quant=[0, 2**30], kind="int32"),
        _channels([3, 1], 0, [0.5], [-600], zero_points=[300, 310, 290]), _channels([1, 2], 0, [1.0], [2**40, -(2**40)]),
        *[_channels([1, 3], 0, [scale], [half, half + 1, -half], nudge, [2]) for scale, half, nudge in QUOTIENTS[:12]],
        _channels([1, 1], 0, [0.5], [1], zero_points=[2]), _channels([1, 2], 0, [0.5], [3, 5], zero_points=[1]),
        _channels([1, 2], 0, [0.5], [400, -400], zero_points=[0]),
    ],
    hint=_about_channels,
    show=shown_channels,
)  # fmt: skip
def channels(rl, sizes, axis, scales, halves, nudge, zero_points, quant, kind, of, turned, narrow):
    x, *qparams = channel_arguments(rl, sizes, axis, scales, halves, nudge, zero_points, of, turned, narrow)
    before = lists_of(x, *qparams)
    q = rl.ao.quantization.affine.quantize_per_channel(x, *qparams, axis, *quant, getattr(rl, kind))
    shown = {"type": q.dtype, "shape": list(q.shape), "values": q.tolist()}
    q.fill_(77)
    return shown | changed(before, x, *qparams)


def _channel_values(sizes, scales, halves, nudge, **_):
    made = [near_middles(scales[i % len(scales)], halves, nudge) for i in range(sizes[0] if sizes else 1)]
    rest = int(np.prod(sizes[1:]))
    numbers = [[row[(i + j) % len(row)] for j in range(rest)] for i, row in enumerate(made)]
    return np.array(numbers, np.float32).reshape(sizes)


def channel_arguments(xp, sizes, axis, scales, halves, nudge, zero_points, of, turned, narrow):
    count = sizes[axis] if axis < len(sizes) else 1
    x = _channel_values(sizes, scales, halves, nudge)
    if turned:
        x = x.T.copy().T
    scale = xp.tensor([scales[i % len(scales)] for i in range(count)])
    zero_point = xp.tensor([zero_points[i % len(zero_points)] for i in range(count)])
    zero_point = zero_point.to(xp.int32) if narrow else zero_point.to(xp.int64)
    return xp.from_numpy(x).to(getattr(xp, of)), scale, zero_point


@channels.oracle
def channels_of_torch(torch, sizes, axis, scales, halves, nudge, zero_points, quant, kind, of, turned, narrow):
    import torch.ao.quantization.fx._decomposed as decomposed

    x, *qparams = channel_arguments(torch, sizes, axis, scales, halves, nudge, zero_points, of, turned, narrow)
    q = decomposed.quantize_per_channel(x, *qparams, axis, *quant, getattr(torch, kind))
    return {"type": q.dtype, "shape": list(q.shape), "values": q.tolist(), "arguments afterwards": None}


# Two values in a byte ------------------------------------------------------------------------------------------------

_packed = defaults(sizes=[4], start=1, turned=False)


def _about_bytes(case, mine, theirs):
    yours, wanted, count = field(mine, "bytes"), field(theirs, "bytes"), math.prod(case["sizes"])
    if not isinstance(yours, list):
        return None
    if yours == wanted:
        return "the result is a new tensor of uint8, and the values do not change"
    if len(yours) != len(wanted) and len(yours) in (count, count // 2):
        return "a byte has two values, so that the result has half as many bytes, rounded up"
    is_turned = [(byte & 15) << 4 | byte >> 4 for byte in yours] == wanted
    if not is_turned and count % 2 and yours[:-1] == wanted[:-1]:
        return "the last byte of an odd number of values has 0 in its upper 4 bits"
    return "in the order of the indices, the first of two in the lower 4 bits"


def shown_four_bits(torch, sizes, start, turned):
    values = four_bits(torch, sizes, start, turned)
    if values.is_contiguous() or not values.numel():
        return f"pack_int4({literal(values)})"
    order = tuple(reversed(range(len(sizes))))
    return f"pack_int4({literal(values.permute(order))}.permute({order}))"


@program(
    "ao.quantization.affine.pack_int4",
    cases=drawn(sizes=lambda st: st.lists(st.integers(0, 4), min_size=0, max_size=3), start=(0, 15), turned=bool),
    edges=[
        _packed(), _packed([5]), _packed([1]), _packed([0]), _packed([]), _packed([2, 3]), _packed([3, 3], 7),
        _packed([2, 3], 5, True), _packed([3, 3], 2, True), _packed([16], 0), _packed([16], 3), _packed([2, 0]), _packed([1], 15),
    ],
    show=shown_four_bits,
    hint=_about_bytes,
)  # fmt: skip
def packed(rl, sizes, start, turned):
    values = four_bits(rl, sizes, start, turned)
    before = lists_of(values)
    packed = rl.ao.quantization.affine.pack_int4(values)
    shown = {"bytes": packed.tolist(), "dtype": packed.dtype}
    packed.fill_(77)  # it shares no memory with the values
    return shown | changed(before, values)


def four_bits(xp, sizes, start, turned):
    count = int(np.prod(sizes))
    values = xp.tensor([(start + 7 * i) % 16 for i in range(count)], dtype=xp.uint8).reshape(sizes)
    return values.permute(*reversed(range(len(sizes)))) if turned and sizes else values


@packed.oracle
def packed_by_torch(torch, sizes, start, turned):
    values = four_bits(torch, sizes, start, turned).reshape(-1).float()
    if values.numel() == 0:
        return {"bytes": [], "dtype": torch.uint8, "arguments afterwards": None}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # quantised tensors are deprecated
        packed = torch.quantize_per_tensor(values, 1.0, 0, torch.quint4x2).int_repr()
    return {"bytes": packed.tolist(), "dtype": packed.dtype, "arguments afterwards": None}
