"""Lab 10b: a linear layer on integers, and a batch norm folded into the layer before it."""

from __future__ import annotations

import warnings

import numpy as np

from rushlight.c10.dispatch import DispatchMode, tensors_in

from ...engine.check import program
from ...engine.observe import is_error, values
from ..cases import drawn, entries, field, first_apart, rows, several
from ..listing import literal

# Integers ------------------------------------------------------------------------------------------------------------

LAYOUTS = ["plain", "columns first", "every second", "repeated"]


def integers(xp, sizes, start, kind, layout="plain", most=None):
    """A matrix of integers by rule, over all of the range of its dtype."""
    values = _by_rule(sizes, start, kind, most)
    x = xp.tensor(values, dtype=getattr(xp, kind)).reshape(sizes)
    if layout == "columns first":
        return xp.tensor(x.t().tolist() or [], dtype=x.dtype).reshape(sizes[1], sizes[0]).t()
    if layout == "every second":
        return xp.stack([x, x], 2).reshape(sizes[0], 2 * sizes[1])[:, ::2]
    return x[:1].expand(sizes[0], sizes[1]) if layout == "repeated" and sizes[0] else x


def _by_rule(sizes, start, kind, most=None):
    count, step = sizes[0] * sizes[1], {"uint8": 37, "int8": 53}[kind]
    if kind == "int8":
        return [((step * (i + start)) % 256) - 128 for i in range(count)]
    return [(step * (i + start)) % ((most or 255) + 1) for i in range(count)]


def plain(x):
    """A tensor as a list, with its dtype and sizes. Its strides are free."""
    return {"dtype": str(x.dtype).partition(".")[2], "sizes": list(x.shape), "numbers": x.tolist()}


def zero_points(xp, count, start):
    return xp.tensor([_zero_point(i, start) for i in range(count)], dtype=xp.int32)


def _zero_point(i, start):
    return (91 * (i + start)) % 256 - 128


class Sums(DispatchMode):
    """The operators that multiply matrices, and those that add up floating-point numbers."""

    def __init__(self):
        self.products, self.of_floats = set(), set()

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        name = func.schema.name
        if name in ("mm", "addmm", "bmm", "baddbmm", "dot", "mv"):
            self.products.add(name)
        if name in (*self.products, "sum", "mean", "cumsum") and any(
            x.dtype.is_floating_point for x in tensors_in(args)
        ):
            self.of_floats.add(name)
        return func(*args, **(kwargs or {}))


_MISSING = (
    "one term is missing: the product of the zero points, for each of the K columns",
    "one term is missing: the sums of the rows of x, times b",
    "one term is missing: the sums of the rows of weight, times a",
)
_OTHER_SIGN = (
    "one term has the wrong sign: the product of the zero points",
    "one term has the wrong sign: the sums of the rows of x, times b",
    "one term has the wrong sign: the sums of the rows of weight, times a",
)
_OF_ONE_COLUMN = "a b is in the sum once for each of the K columns, and yours has it for one"


def _terms(shape, start, zero_point, of_weight, layouts):
    """The three terms of the corrections, (rows, out) each: of both zero points, of the rows of x, and of those of the weight."""
    x, weight = (
        np.reshape(_by_rule([n, shape[1]], begin, kind), [n, shape[1]]).astype(np.int64)
        for n, begin, kind in ((shape[0], start, "uint8"), (shape[2], start + 3, "int8"))
    )
    x, weight = (np.repeat(m[:1], len(m), 0) if kind == "repeated" else m for m, kind in zip((x, weight), layouts))
    points = np.array([_zero_point(i, of_weight) for i in range(shape[2])], np.int64)
    sums = x.sum(1, keepdims=True), weight.sum(1)
    return [shape[1] * zero_point * points + 0 * sums[0], -sums[0] * points, -sums[1] * zero_point + 0 * sums[0]]


def _correction_hint(case, mine, theirs):
    """Which of the terms is missing, or has the wrong sign, or that a sum of integers of 8 bits has wrapped around."""
    shown = entries(mine, theirs)
    if shown and shown[0]["products of matrices"]:
        return "the sums of the rows are enough: no product of the two matrices is needed"
    wrong = first_apart(mine, theirs)
    if wrong == "dtype":
        return "the result is int32, and so is all that is added"
    if wrong == "arguments afterwards":
        return "no argument changes: a method that ends in _ writes to its tensor"
    if wrong != "numbers":
        return None
    off = np.array(field(mine, wrong), np.int64) - np.array(field(theirs, wrong), np.int64)
    terms, columns = _terms(**case), case["shape"][1]
    known = dict(zip(_MISSING, [-term for term in terms])) | dict(zip(_OTHER_SIGN, [-2 * term for term in terms]))
    if columns != 1:
        of_one = _terms(**case | {"shape": [case["shape"][0], 1, case["shape"][2]]})[0]
        known |= dict([(_OF_ONE_COLUMN, (1 - columns) * of_one)])
    fitting = [hint for hint, difference in known.items() if (off == difference).all()]
    if len(fitting) == 1:
        return fitting[0]
    if (off % 256 == 0).all():
        return "convert to int32 before anything is added: a sum of uint8 or int8 wraps around"
    if np.abs(terms).max() > 2**24 and np.abs(off).max() < 2**10:
        return "add up integers of int32: float32 does not have all whole numbers beyond 2 ** 24"
    return None


def _shown_corrections(torch, shape, start, zero_point, of_weight, layouts):
    if shape[1] > 20:
        raise ValueError("too long to read")
    x = integers(torch, [shape[0], shape[1]], start, "uint8", layouts[0])
    weight = integers(torch, [shape[2], shape[1]], start + 3, "int8", layouts[1])
    given = f"x_zero_point = {zero_point}\nweight_zero_points = {literal(zero_points(torch, shape[2], of_weight))}"
    return f"x = {_with_strides(x)}\nweight = {_with_strides(weight)}\n{given}"


def _with_strides(x):
    return literal(x) + ("" if x.is_contiguous() else f"  # stride {x.stride()}")


@program(
    "ao.nn.quantized.functional.zero_point_corrections",
    cases=drawn(
        shape=lambda st: st.tuples(st.integers(0, 4), st.integers(0, 9), st.integers(0, 4)).map(list), start=(0, 255),
        zero_point=lambda st: st.one_of(st.integers(0, 255), st.sampled_from([0, 128, 255])), of_weight=(0, 255),
        layouts=several(LAYOUTS, 2, 2),
    ),
    edges=rows("shape start zero_point of_weight layouts", *(
        ([1, 1, 1], 1, 0, 1, ["plain"] * 2), ([1, 2, 1], 3, 5, 9, ["plain"] * 2), ([2, 3, 4], 0, 255, 7, ["plain"] * 2),
        ([2, 9, 3], 7, 128, 0, ["columns first", "every second"]), ([3, 9, 2], 5, 100, 3, ["repeated", "columns first"]),
        ([0, 3, 2], 0, 3, 3, ["plain"] * 2), ([2, 0, 2], 0, 3, 3, ["plain"] * 2), ([2, 3, 0], 0, 3, 3, ["plain"] * 2),
        ([2, 600, 2], 1, 255, 200, ["plain"] * 2), ([3, 3, 3], 2, 17, 77, ["every second", "plain"]),
        ([2, 1501, 3], 4, 201, 45, ["plain"] * 2), ([2, 40001, 2], 1, 255, 77, ["plain"] * 2),
    )),
    show=_shown_corrections,
    hint=_correction_hint,
)  # fmt: skip
def corrections(xp, shape, start, zero_point, of_weight, layouts):
    x = integers(xp, [shape[0], shape[1]], start, "uint8", layouts[0])
    weight = integers(xp, [shape[2], shape[1]], start + 3, "int8", layouts[1])
    of_weight = zero_points(xp, shape[2], of_weight)
    before = x.tolist(), weight.tolist(), of_weight.tolist()
    with Sums() as called:
        result = xp.ao.nn.quantized.functional.zero_point_corrections(x, weight, zero_point, of_weight)
    after = x.tolist(), weight.tolist(), of_weight.tolist()
    shown = {"arguments afterwards": None if after == before else after}
    return plain(result) | shown | {"products of matrices": sorted(called.products) or None}


@corrections.oracle
def _(torch, shape, start, zero_point, of_weight, layouts):
    x = integers(torch, [shape[0], shape[1]], start, "uint8", layouts[0])
    weight = integers(torch, [shape[2], shape[1]], start + 3, "int8", layouts[1])
    wanted = _corrections(x, weight, zero_point, zero_points(torch, shape[2], of_weight))
    return plain(wanted) | {"arguments afterwards": None, "products of matrices": None}


def _corrections(x, weight, zero_point, of_weight):
    x, weight = x.long(), weight.long()
    return ((x - zero_point) @ (weight - of_weight.long()[:, None]).t() - x @ weight.t()).int()


def _linear(st):
    return drawn(
        shape=lambda st: st.tuples(st.integers(1, 3), st.integers(1, 8), st.integers(1, 4)).map(list), start=(0, 255),
        zero_point=(0, 127), of_weight=lambda st: st.one_of(st.just(None), st.integers(0, 255)),
        bias=lambda st: st.one_of(st.none(), st.integers(-9, 9)), scales=several((0, 7), 3, 3), result=(0, 255), relu=bool,
    )(st)  # fmt: skip


def _linear_hint(case, mine, theirs):
    shown = entries(mine, theirs)
    if shown is None:
        return None
    if shown[0]["sums of floats"]:
        return "the sums of the products are integers: no operator adds up floating-point numbers"
    if field(mine, "its corrections") != field(theirs, "its corrections"):
        return "zero_point_corrections gives wrong corrections: first let its own check pass"
    numbers = [number for row in field(mine, "numbers") for number in row]
    if case["relu"] and min(numbers, default=255) < case["result"]:
        return "with relu, no number is below the zero point of the result, which is 0.0"
    return None


@program(
    "ao.nn.quantized.functional.linear",
    cases=_linear,
    edges=rows("shape start zero_point of_weight bias scales result relu", *(
        ([1, 1, 1], 1, 0, None, None, [4, 4, 2], 0, False), ([1, 2, 1], 3, 5, 9, 2, [4, 5, 3], 100, False),
        ([2, 8, 4], 0, 127, 7, -5, [4, 7, 2], 128, False), ([2, 8, 4], 9, 64, None, 3, [4, 7, 2], 128, True),
        ([3, 5, 3], 11, 3, 60, 7, [3, 6, 5], 40, True), ([3, 5, 3], 11, 3, 60, None, [3, 6, 5], 255, False),
        ([2, 7, 4], 30, 90, None, -9, [5, 7, 4], 0, True), ([3, 8, 4], 5, 77, None, 1, [7, 7, 3], 17, False),
        ([3, 8, 4], 6, 76, None, 4, [6, 6, 4], 111, False), ([3, 3, 4], 8, 10, 3, None, [2, 2, 7], 128, False),
        ([3, 3, 4], 8, 10, None, 9, [7, 5, 3], 250, True), ([1, 1, 1], 154, 0, None, None, [2, 2, 4], 0, False),
        ([1, 1, 1], 154, 0, None, None, [2, 2, 2], 0, False), ([1, 1, 1], 154, 0, None, None, [2, 2, 2], 1, False),
        ([1, 1, 1], 154, 65, None, 2, [0, 0, 2], 100, False), ([2, 3, 3], 5, 60, 9, 1, [1, 0, 4], 90, False),
        ([2, 600, 3], 229, 3, None, 5, [7, 7, 5], 150, False), ([1, 1, 3], 154, 65, None, -1, [0, 0, 3], 100, True),
    )),
    hint=_linear_hint,
)  # fmt: skip
def int8_linear(rl, shape, start, zero_point, of_weight, bias, scales, result, relu):
    x, weight, offsets, scales, of_weight = _operands(rl, shape, start, of_weight, bias, scales)
    functional = rl.ao.nn.quantized.functional
    weight_qparams, qparams = (scales[1], of_weight), (scales[2], result)
    with Sums() as called:
        new = functional.linear(x, weight, offsets, (scales[0], zero_point), weight_qparams, qparams, relu)
    corrections = functional.zero_point_corrections(x, weight, zero_point, of_weight)
    return (
        {"its corrections": corrections.tolist()}
        | plain(new)
        | {
            "a new tensor": new is not x,
            "sums of floats": sorted(called.of_floats),
        }
    )


def _operands(xp, shape, start, of_weight, bias, scales):
    """Numbers whose sums and quotients are exact in float32, so that no order of the steps matters. `x` has 7 bits, because on
    a processor without VNNI torch adds two products in 16 bits."""
    x = integers(xp, [shape[0], shape[1]], start, "uint8", most=127)
    weight = integers(xp, [shape[2], shape[1]], start + 3, "int8")
    offsets = None if bias is None else xp.arange(shape[2]).to(xp.float32) * 0.375 + bias * 0.25
    of_rows = 2.0 ** -(xp.arange(shape[2]) % 3).to(xp.float32) * 2.0 ** -scales[1]
    shifts = xp.zeros(shape[2], dtype=xp.int32) if of_weight is None else zero_points(xp, shape[2], of_weight)
    return x, weight, offsets, (2.0 ** -scales[0], of_rows, 2.0 ** -scales[2]), shifts


@int8_linear.oracle
def _(torch, shape, start, zero_point, of_weight, bias, scales, result, relu):
    x, weight, offsets, scales, of_weight = _operands(torch, shape, start, of_weight, bias, scales)
    new, corrections = (
        {"a new tensor": True, "sums of floats": []},
        {"its corrections": _corrections(x, weight, zero_point, of_weight).tolist()},
    )
    if "fbgemm" not in torch.backends.quantized.supported_engines:
        sums = (x.double() - zero_point) @ (weight.double() - of_weight[:, None]).t() * (scales[0] * scales[1])
        values = torch.round((sums if bias is None else sums + offsets) / scales[2]) + result
        return corrections | plain(values.clamp(result if relu else 0, 255).to(torch.uint8)) | new
    warnings.filterwarnings("ignore")
    engine, torch.backends.quantized.engine = torch.backends.quantized.engine, "fbgemm"
    try:
        x = torch._make_per_tensor_quantized_tensor(x, scales[0], zero_point)
        weight = torch._make_per_channel_quantized_tensor(weight, scales[1].double(), of_weight.long(), 0)
        packed = torch.ops.quantized.linear_prepack(weight, offsets)
        run = torch.ops.quantized.linear_relu if relu else torch.ops.quantized.linear
        return corrections | plain(run(x, packed, scales[2], result).int_repr()) | new
    finally:
        torch.backends.quantized.engine = engine


# Batch norm ----------------------------------------------------------------------------------------------------------


def _shown_folding(torch, **case):
    def line(x):
        if not hasattr(x, "tolist"):
            return repr(x)
        return literal(x) + ".requires_grad_()" * x.requires_grad

    return "\n".join(f"{name} = {line(x)}" for name, x in _fold_arguments(torch, **case).items())


def _about_folding(case, mine, theirs):
    wrong = first_apart(mine, theirs)
    if wrong in ("weight", "bias"):
        yours, wanted = (field(tree, wrong) for tree in (mine, theirs))
        if yours["tensor"]["dtype"] != wanted["tensor"]["dtype"]:
            return (
                "the new weight has the dtype of conv_w, and the new bias that of conv_b, or of conv_w without a conv_b"
            )
        if np.allclose(values(yours), values(wanted), rtol=0.01) or not np.isfinite(values(yours)).all():
            return "convert at the end: the dtype of conv_w may have too few digits, or too small a range, for a factor"
    if wrong == "bias" and not case["given"][0]:
        return "the weight is right. Without a conv_b, what does the batch norm make of y = 0?"
    if is_error(mine) and "must match" in mine["message"]:
        wrong = "weight"
    return {
        "weight": "each channel of conv_w, its first dimension, is multiplied by the factor of the batch norm for this channel",
        "bias": "the weight is right. What does the batch norm make of y = conv_b?",
        "requires grad": "the weight requires gradients if conv_w does, and the bias if there is a conv_b that does",
        "classes": "both are new Parameters", "leaves": "a Parameter is made of data: it has no history",
        "arguments afterwards": "an argument has changed: compute new tensors",
    }.get(wrong)  # fmt: skip


@program(
    "nn.utils.fusion.fuse_conv_bn_weights",
    cases=drawn(
        sizes=lambda st: st.lists(st.integers(1, 3), min_size=2, max_size=5), start=(0, 10), given=several(bool, 3, 3),
        eps=[0.0, 1e-5, 0.5], kinds=several(["float32", "float64"], 3, 3), wanted=several(bool, 2, 2),
    ),
    edges=[
        {"sizes": sizes, "start": start, "given": given, "eps": 0.5, "kinds": kinds, "wanted": wanted}
        for sizes, start in (([2, 3], 1), ([3, 2, 2, 2], 4))
        for given, kinds, wanted in (
            ([True] * 3, ["float32"] * 3, [True] * 2), ([False, True, True], ["float64"] * 3, [True] * 2),
            ([True, False, True], ["float64"] * 3, [False] * 2), ([True, True, False], ["float64"] * 3, [True, False]),
            ([False] * 3, ["float32", "float32", "float64"], [False, True]),
            ([True] * 3, ["float64", "float32", "float64"], [False, True]),
        )
    ] + [
        {"sizes": sizes, "start": 2, "given": [True] * 3, "eps": 0.0, "kinds": kinds, "wanted": [True] * 2}
        for sizes, kinds in (
            ([1, 3], ["float64"] * 3), ([2, 1, 1, 2, 1], ["float64"] * 3), ([2, 3], ["float16", "float32", "float32"]),
        )
    ] + [  # a factor beyond float16, and a weight of 0
        {"sizes": [1, 1], "start": 5, "given": [True] * 3, "eps": 1e-12, "wanted": [True] * 2}
        | {"kinds": ["float16", "float32", "float32"]}
    ],
    show=_shown_folding,
    hint=_about_folding,
)  # fmt: skip
def folded(xp, sizes, start, given, eps, kinds, wanted):
    from importlib import import_module

    arguments = _fold_arguments(xp, sizes, start, given, eps, kinds, wanted)
    before = [plain(x) for x in arguments.values() if hasattr(x, "tolist")]
    new = import_module(f"{xp.__name__}.nn.utils.fusion").fuse_conv_bn_weights(**arguments)
    after = [plain(x) for x in arguments.values() if hasattr(x, "tolist")]
    return {
        "sizes": [list(tensor.shape) for tensor in new],
        "weight": new[0].detach().reshape(-1),
        "bias": new[1].detach().reshape(-1),
        "requires grad": [tensor.requires_grad for tensor in new],
        "classes": [type(tensor).__name__ for tensor in new],
        "leaves": [tensor.is_leaf for tensor in new],
        "arguments afterwards": None if after == before else after,
    }


def _fold_arguments(xp, sizes, start, given, eps, kinds, wanted):
    def values(shape, begin, kind, positive=False):
        count = 1
        for size in shape:
            count *= size
        numbers = [((7 * i + 3 * (start + begin)) % 11) * 0.25 - (0 if positive else 1) for i in range(count)]
        return xp.tensor([number + 0.5 * positive for number in numbers], dtype=getattr(xp, kind)).reshape(shape)

    channels = sizes[:1]
    w = values(sizes, 0, kinds[0]).requires_grad_(wanted[0])
    b = values(channels, 1, kinds[1]).requires_grad_(wanted[1]) if given[0] else None
    mean, var = values(channels, 2, kinds[2]), values(channels, 3, kinds[2], True) * (eps != 1e-12)
    bn_w, bn_b = (
        values(channels, 4 + i, kinds[2]).requires_grad_() if present else None for i, present in enumerate(given[1:])
    )
    return {"conv_w": w, "conv_b": b, "bn_rm": mean, "bn_rv": var, "bn_eps": eps, "bn_w": bn_w, "bn_b": bn_b}
