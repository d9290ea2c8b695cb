"""Fake quantisation, forward and backward."""

from __future__ import annotations

import numpy as np

from ...engine.check import program
from ..cases import defaults, drawing, field, first_apart
from ..listing import literal
from .affine import QUOTIENTS, SCALES, changed, lists_of, near_middles

_faked = defaults(
    scales=[0.5], halves=[-20, -9, -8, 0, 1, 3, 14, 15, 40], nudge=0, zero_points=[0], quant=[-4, 7], extra=[], of="float32",
    sizes=None,
)  # fmt: skip


@drawing
def _cases(draw, st):
    channels = draw(st.sampled_from([1, 1, 2, 3]))
    halves = draw(st.lists(st.integers(-40, 40), min_size=0, max_size=6))
    low, high = draw(st.sampled_from([(-8, 7), (0, 15), (-128, 127), (-2, 2), (0, 0)]))
    scales = [draw(st.sampled_from(SCALES)) for _ in range(channels)]
    zero_points = [draw(st.integers(max(low, -9), min(high, 9))) for _ in range(channels)]
    extra = draw(st.sampled_from([[], [], ["inf", "-inf", "nan"]])) if channels == 1 else []
    return _faked(scales, halves, draw(st.integers(-1, 1)), zero_points, [low, high], extra)


def _about_fakes(case, mine, theirs):
    wrong = first_apart(mine, theirs)
    if wrong == "arguments afterwards":
        return "the input does not change"
    if wrong == "kinds":
        return "the values have the dtype of the input, the mask is bool, and both have the sizes of the input"
    if wrong not in ("values", "mask"):
        return None
    yours, wanted = (field(tree, wrong) for tree in (mine, theirs))
    if case["extra"] and yours[: len(case["halves"])] == wanted[: len(case["halves"])]:
        return "a nan becomes quant_min, and its mask is false; an infinity saturates"
    if wrong == "mask":
        return (
            "the mask compares the rounded numbers with quant_min and quant_max before they are saturated, and the ends "
            "belong to it"
        )
    if np.allclose([*map(float, yours)], [*map(float, wanted)], rtol=1e-5, equal_nan=True):
        return "at the end, multiply by the scale"
    x = np.stack([near_middles(scale, case["halves"], case["nudge"], case["of"]) for scale in case["scales"]])
    scales = np.array(case["scales"], np.float32).reshape(-1, 1)
    if case["of"] == "float64" or case["extra"]:
        return _OF_STEPS
    i = next(i for i, pair in enumerate(zip(yours, wanted)) if pair[0] != pair[1])
    number = f"{np.ravel(x * (np.float32(1) / scales))[i]:.9g}"
    return f"value {i} is {number} steps: round this, half to even, before you add the zero point"


_OF_STEPS = "the number of steps is a product with inverse_of(scale). It is rounded before the zero point is added"


def _shown_fakes(torch, scales, halves, nudge, zero_points, quant, extra, of, sizes):
    x, scale, zero_point = fake_arguments(torch, scales, halves, nudge, zero_points, extra, of, sizes)
    made = [f"scale, zero_point = {scales[0]!r}, {zero_points[0]}"]
    if len(scales) > 1:
        made = [f"scale = {literal(scale.reshape(-1, 1))}", f"zero_point = {literal(zero_point.reshape(-1, 1))}"]
    return "\n".join([f"x = {literal(x)}", *made, f"quant_min, quant_max = {quant[0]}, {quant[1]}"])


@program(
    "aten.native.quantized.fake_quantize",
    cases=_cases,
    edges=[
        _faked(), _faked(zero_points=[3]), _faked(zero_points=[-4]), _faked(quant=[0, 0]), _faked(quant=[-2, 5], zero_points=[1]),
        _faked(halves=[]), _faked(extra=["nan"]), _faked(extra=["inf", "-inf"]), _faked(zero_points=[2], extra=["nan", "inf"]),
        *[_faked([scale], [half, half + 2], nudge, [0], [-128, 127]) for scale, half, nudge in QUOTIENTS[:12]],
        *[_faked([scale], [half, half + 2], nudge, [5], [-128, 127]) for scale, half, nudge in QUOTIENTS[:4]],
        _faked([0.5, 2.0], zero_points=[0, 3]), _faked([0.1, 0.7, 3.7], zero_points=[-4, 7, 1]), _faked([0.5], [15, 16, 14, 13], 1),
        _faked([0.5], [-8, -9, -10], -1), _faked([0.1, 0.7], [77, 31, 3], 1, [0, 0], [-128, 127]),
        _faked([1 / 3], [9, 21, 27], 0, [1]), _faked(of="float64"), _faked(zero_points=[3], of="float64"),
        _faked(halves=[1, 5, -3], nudge=1, of="float64"),
        _faked(sizes=[3, 3, 1]), _faked(halves=[], sizes=[0, 2]),
        _faked([0.1], [46, 14, 6, -6], 0, [0], [-128, 127]), _faked([0.7], [46, 14, 6, -6], 0, [2], [-128, 127]),
    ],
    hint=_about_fakes,
    show=_shown_fakes,
)  # fmt: skip
def faked(rl, scales, halves, nudge, zero_points, quant, extra, of, sizes):
    x, scale, zero_point = fake_arguments(rl, scales, halves, nudge, zero_points, extra, of, sizes)
    before, wide = lists_of(x), len(scales) > 1
    given = (scale.reshape(-1, 1), zero_point.reshape(-1, 1)) if wide else (scales[0], zero_points[0])
    values, mask = rl.aten.native.quantized.fake_quantize(
        x, *(tensor if wide else _rounded(tensor) for tensor in given), *quant
    )
    leaf = x.clone().requires_grad_()
    if wide:
        result = rl.fake_quantize_per_channel_affine(leaf, scale, zero_point, 0, *quant)
    else:
        result = rl.fake_quantize_per_tensor_affine(leaf, scales[0], zero_points[0], *quant)
    result.backward(rl.ones_like(result) * 2)
    return _shown(values, mask, leaf.grad) | changed(before, x)


def _shown(values, mask, grad):
    """The values as texts: nine digits tell any two numbers of float32 apart."""
    kinds = [values.dtype, mask.dtype, list(values.shape), list(mask.shape)]
    digits = [f"{number:.9g}" for number in values.reshape(-1).tolist()]
    return {"kinds": kinds, "values": digits, "mask": mask.reshape(-1).tolist(), "gradient": grad.reshape(-1).tolist()}


def _rounded(number):
    """A scale as PyTorch holds it, in float32."""
    return float(np.float32(number)) if isinstance(number, float) else number


def fake_arguments(xp, scales, halves, nudge, zero_points, extra, of, sizes):
    rows = [
        np.concatenate([near_middles(s, halves, nudge, of), np.array([float(number) for number in extra], of)])
        for s in scales
    ]
    x = np.stack(rows)
    x = x if sizes is None else x.reshape(sizes)
    return xp.from_numpy(x), xp.tensor(scales), xp.tensor(zero_points, dtype=xp.int32)


@faked.oracle
def faked_by_torch(torch, scales, halves, nudge, zero_points, quant, extra, of, sizes):
    x, scale, zero_point = fake_arguments(torch, scales, halves, nudge, zero_points, extra, of, sizes)
    leaf = x.clone().requires_grad_()
    if len(scales) > 1:
        given = (scale, zero_point, 0, *quant)
        values, mask = torch.ops.aten.fake_quantize_per_channel_affine_cachemask(x, *given)
        result = torch.fake_quantize_per_channel_affine(leaf, *given)
    else:
        given = (scales[0], zero_points[0], *quant)
        values, mask = torch.ops.aten.fake_quantize_per_tensor_affine_cachemask(x, *given)
        result = torch.fake_quantize_per_tensor_affine(leaf, *given)
    result.backward(torch.ones_like(result) * 2)
    return _shown(values, mask, leaf.grad) | {"arguments afterwards": None}
