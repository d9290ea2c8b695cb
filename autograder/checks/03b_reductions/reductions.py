"""Checks of lab 03: reductions."""

import re

import numpy as np

from ...engine import observe
from ...engine.check import program
from ...engine.observe import show
from ..cases import beyond_single, breaking, dim, drawing, first_apart, is_torch, no_cases, tensors, when
from ..shared_03 import FLOATING


def _dims(draw, st, ndim):
    """Some dimensions, each once, from either end."""
    n = max(ndim, 1)
    chosen = list(draw(st.permutations(range(n))))[: draw(st.integers(0, n))]
    return [d - n if draw(st.booleans()) else d for d in chosen]


BREAKS, BODIES = "course.breaks.breaks_reduced_sizes", "03b.reduced_sizes"


@program(f"{BREAKS}.half", cases=no_cases, edges=[{}], examine=breaking(BODIES, "1/2"))
def breaks_half(xp):
    return xp.breaks.breaks_reduced_sizes()


@program(BREAKS, cases=no_cases, edges=[{}], examine=breaking(BODIES, "1"))
def breaks_reduced_sizes(xp, **case):
    """The cases, or what `reduced_sizes` gives on one of them."""
    return xp.reductions.reduced_sizes(**case) if case else xp.breaks.breaks_reduced_sizes()


@breaks_reduced_sizes.oracle
def _(torch, sizes, dims, keepdim):
    try:
        x = torch.empty(sizes, device="meta")
    except RuntimeError as error:  # the class of an error of the function
        raise ValueError(error) from None
    return x.sum(dims, keepdim).shape


_NUMBERS = (0, 1, -2.5, 0.125, 3, 88.75, -90, 1000, -1000, 5e4, -5e4)
_SPECIAL = ("inf", "-inf", "nan")  # as strings, so that a student can type a case again


def _tensor_of_numbers(draw, st, dtypes):
    """Numbers of all magnitudes, in some tensors also infinities and NaN, and the sizes, strides and offset of a view."""
    x = draw(tensors(st, (0, 3), 3))["tensor"]
    pool = st.sampled_from(_NUMBERS) if draw(st.booleans()) else st.floats(-8, 8, width=16)
    if draw(st.integers(0, 2)) == 0:
        pool = st.one_of(pool, st.sampled_from(_SPECIAL))
    values = draw(st.lists(pool, min_size=x["storage"], max_size=x["storage"]))
    kind = {"dtype": draw(st.sampled_from(dtypes))}
    return {"values": values, "kind": kind, "view": [x["sizes"], x["strides"], x["offset"]]}


def _numbers(xp, values, kind, view):
    return xp.tensor([float(value) for value in values], dtype=kind).as_strided(*view)


def _as_code(torch, values, kind, view, **others):
    """A case as code: the tensor of its numbers, with `as_strided` if it is not a new one, and the other values."""
    x = _numbers(torch, values, torch.float64, view)
    is_new = x.is_contiguous() and x.numel() and not x.storage_offset()
    numbers = re.sub(r"\b(inf|nan)\b", r"torch.\1", f"{x.tolist() if is_new else [*map(float, values)]}")
    made = f"torch.tensor({numbers}, dtype=torch.{kind['dtype']})"
    made += "" if is_new else f".as_strided({', '.join(map(repr, view))})"
    return "\n".join([f"x = {made}", *(f"{name} = {value!r}" for name, value in others.items())])


@drawing
def _softmaxes(draw, st):
    case = _tensor_of_numbers(draw, st, FLOATING)
    return case | {"dim": draw(dim(st, max(len(case["view"][0]), 1), draw(st.integers(0, 1))))}


_LINES = [
    ([1, 2, 3], "float32"), ([0.5, -0.25, 3], "float64"), ([1000, 999, 0], "float32"),
    ([-1000, -999, -2000], "float32"), ([1000, 990, 0], "float64"), (["inf", 1, 2], "float32"),
    (["-inf", 1, 2], "float32"), (["-inf", "-inf", "-inf"], "float32"), (["inf", "inf", "-inf"], "float64"),
    (["nan", 1, "inf"], "float32"), ([1, "nan", "-inf"], "float64"),
]  # fmt: skip
_VALUES = [1, -2, 3, 0.5, 0, 2, -1, 4, 1.5, -3, 2.5, 1, 0.25, 5, -4, 6]
_LARGE = [1000, 999, 998, -1000, -1001, -999]
_MATRIX, _TRANSPOSED, _CUBE = [[2, 3], [3, 1], 0], [[2, 3], [1, 2], 1], [[2, 2, 3], [1, 6, 2], 0]
_EMPTY, _NO_ROWS, _NO_COLUMNS = [[0], [1], 0], [[0, 3], [1, 1], 0], [[2, 0], [1, 1], 0]


def _case(values, dtype, view):
    return {"values": values, "kind": {"dtype": dtype}, "view": view}


def _about_softmax(case, mine, theirs):
    if "dict" not in mine or "dict" not in theirs:
        return None
    (ours, after), (real, before) = (
        [observe.values(tree) for name, tree in side["dict"] if name in ("softmax", "x afterwards")]
        for side in (mine, theirs)
    )
    if not np.array_equal(after, before, equal_nan=True):
        return "x itself has changed: return a new array"
    if ours.shape != real.shape or ours.dtype != real.dtype:
        return None
    if (np.isnan(ours) & ~np.isnan(real) | (ours == 0) & (real > 0.001)).any():
        return "subtract the largest element of each line before exp"
    if first_apart(mine, theirs) in ("logarithm", "weights of -inf that are 0"):
        return "a small weight stays small, and the weight of minus infinity is 0"
    if np.allclose(ours, real, rtol=0.01, atol=1e-4, equal_nan=True):
        return f"only the last digits differ: in which dtype is a softmax of {real.dtype} computed?"
    return None


@program(
    "aten.native.reductions.softmax",
    cases=_softmaxes,
    show=_as_code,
    edges=[_case(*line, [[3], [1], 0]) | {"dim": 0} for line in (
        ([0.7, -1.6, -2.3], "float16"), ([1000.1, 1000.7, 999.3], "float64"), ([12, 11.5, -3], "float16"),
        ([5e4, 4e4, 1], "float16"), ([10, 10.5, 9], "float16"), (["-inf", 1, 2], "float16"),
        ([0, -100, -90], "float64"), *_LINES,
        *((values, "float16") for values in ([3, 0, 0.7], [0.8, -2.2, -1.5], [1.5, -2.6, -1.7], [3, -1.1, -0.6])),
    )]
    + [_case(_VALUES, "float32", view) | {"dim": dim} for view, dim in (
        (_MATRIX, 0), (_MATRIX, 1), (_TRANSPOSED, -1), (_TRANSPOSED, -2), ([[2, 3], [0, 1], 2], 0), (_CUBE, 1),
        (_MATRIX, 2), (_MATRIX, -3), ([[], [], 3], 0), ([[], [], 3], -1), (_EMPTY, 0), (_NO_COLUMNS, 0),
        (_NO_COLUMNS, 1), (_NO_ROWS, 0), ([[3, 1], [1, 1], 0], 1),
    )]
    + [_case(_LARGE, "float32", _MATRIX) | {"dim": 1}],
    hint=_about_softmax,
)  # fmt: skip
def softmax(xp, values, kind, view, dim):
    x = _numbers(xp, values, kind, view)
    result = xp.softmax(x, dim)
    dtype = result.numpy().dtype.name
    if not is_torch(xp) and x.dim() and x.numel():  # the operator converts the array to its own dtype
        dtype = xp.reductions.softmax(x.numpy(), dim % x.dim()).dtype.name
    shown = {"softmax": result, "beyond single": beyond_single(xp, result), "x afterwards": x, "dtype": dtype}
    shown["logarithm"] = result.log() if result.dtype == xp.float64 else None  # also shows small weights
    lowest = np.isneginf(x.numpy())
    return shown | {"weights of -inf that are 0": int(((result.numpy() == 0) & lowest).sum()) if lowest.any() else None}


@drawing
def _logsumexps(draw, st):
    case = _tensor_of_numbers(draw, st, FLOATING[1:])
    ndim = len(case["view"][0])
    dims = [d % ndim for d in _dims(draw, st, ndim) or [0]] if ndim else []
    return case | {"dims": dims, "keepdim": draw(st.booleans())}


_INFINITE = ["inf", 1, 2, 3, "-inf", 3, "-inf", "-inf", 5, 6, 7, 8]


@program(
    "aten.native.reductions.logsumexp",
    cases=_logsumexps,
    show=_as_code,
    edges=[_case(*line, [[3], [1], 0]) | {"dims": [0], "keepdim": False} for line in (
        *_LINES, ([-3e38, -3e38, -2e38], "float32"), ([-1e308, -1e308, -1.5e308], "float64"),
    )]
    + [_case(_VALUES, "float32", view) | {"dims": dims, "keepdim": keepdim} for view, dims, keepdim in (
        (_MATRIX, [0], False), (_MATRIX, [1], True), (_TRANSPOSED, [1], False), (_TRANSPOSED, [1, 0], False),
        (_TRANSPOSED, [1, 0], True), (_CUBE, [0, 2], False), (_CUBE, [0, 2], True), (_CUBE, [1], True),
        ([[1, 3], [1, 1], 0], [0], False), ([[3, 1, 2], [1, 1, 3], 0], [0], False),
        ([[3, 2, 1], [1, 3, 1], 0], [0], False), ([[], [], 3], [], False), ([[], [], 3], [], True),
        (_EMPTY, [0], False), (_NO_ROWS, [0], False), (_NO_ROWS, [0], True), (_NO_ROWS, [1], False),
        (_NO_COLUMNS, [0, 1], False),
    )]
    + [_case(_LARGE, "float32", _MATRIX) | {"dims": [1], "keepdim": False}]
    + [_case(_INFINITE, "float64", [[4, 3], [3, 1], 0]) | {"dims": [1], "keepdim": True}]
    + [_case([a, b, 1000, 1000], "float64", [[2, 2], [2, 1], 0]) | {"dims": [1], "keepdim": False} for a, b in (
        ("inf", 0), ("-inf", "-inf"), ("nan", 0),
    )],
    hint=when(
        lambda case, mine, theirs: show(mine).count("nan") > show(theirs).count("nan"),
        "an infinite largest element must not be subtracted: infinity less infinity is NaN",
    ),
)  # fmt: skip
def logsumexp(xp, values, kind, view, dims, keepdim):
    x = _numbers(xp, values, kind, view)
    result = np.asarray(xp.reductions.logsumexp(x.numpy(), dims, keepdim))
    out = xp.empty(result.shape, dtype=kind)
    out.numpy()[...] = result
    return {"logsumexp": out, "dtype": result.dtype.name, "beyond single": beyond_single(xp, out), "x afterwards": x}


@logsumexp.oracle
def _(torch, values, kind, view, dims, keepdim):
    x = _numbers(torch, values, kind, view)
    out = torch.logsumexp(x, dims or (0,), keepdim)
    return {
        "logsumexp": out,
        "dtype": out.numpy().dtype.name,
        "beyond single": beyond_single(torch, out),
        "x afterwards": x,
    }
