"""Lab 14d, reductions of rows: programs that the student's pieces compile, in one block for a row and in a loop over blocks."""

from __future__ import annotations

import math

from ...engine.check import program
from ..cases import beyond_single, drawing, first_apart, numbers
from .kernels import about_kernels, compiled

LENGTHS = [2, 3, 5, 8, 30, 64, 100, 600, 1000, 1024, 1025, 1100, 1500, 2048]

# Programs of a matrix x, each with how often it goes through a row that is longer than a block
VALUES = {
    "(x + 5).sum(1)": 1,
    "(x - 20).amax(1)": 1,
    "(x + 20).amin(1)": 1,
    "xp.where(x > 2, x * 0 - 1, x * 0 + 1).prod(1)": 1,
    "[(x > 5).any(1), ~(x > 6).any(1)]": 1,
    "[(x > -5).all(1), ~(x > -4).all(1)]": 1,
    "x - x.amax(1, True)": 2,
    "(x - 9).softmax(1)": 3,
    "x.log_softmax(1)": 3,
    "xp.nn.functional.layer_norm(x, x.shape[-1:])": 3,
    "(x + 5).sum()": 1,
    "[(x + 5).sum(0), (x - 20).amax(0)]": 1,
    "x.softmax(0)": 3,
}
OTHER_TYPES = {
    ("[x.sum(1), (x - 20).amax(1), (x + 20).amin(1), (x + 1073741824).amax(1)]", "int32"): 1,
    ("[x.amin(1), x.amax(1), x.sum(1)]", "uint8"): 1,
    ("x.amin(0)", "uint8"): 1,
    ("[(x - 3000000000).amax(1), (x + 3000000000).amin(1)]", "int64"): 1,
    ("[(x / 3).sum(1), (x / 3 - 9).amax(1)]", "float64"): 1,
}
REDUCED = {(text, "float32"): passes for text, passes in VALUES.items()} | OTHER_TYPES


def positions(kind):
    """Programs that ask for the position of the largest or smallest element."""
    found = {
        f"(x - 20).arg{kind}(1)": 1, f"(x + 20).arg{kind}(1)": 1, f"(x.round() % 3).arg{kind}(1)": 1, f"(x * 0).arg{kind}(1)": 1,
        f"xp.where(x > 3, xp.nan, x).arg{kind}(1)": 1, f"(x * 0 + xp.inf).arg{kind}(1)": 1, f"(x * 0 - xp.inf).arg{kind}(1)": 1,
        f"x.arg{kind}(0)": 1, f"(x - x.amax(1, True)).arg{kind}(1)": 2,
    }  # fmt: skip
    other = {(f"(x - 20).arg{kind}(1)", "int32"): 1, (f"(x + 1073741824).arg{kind}(1)", "int32"): 1}
    other |= {(f"({text}).arg{kind}(1)", "uint8"): 1 for text in ("x - x", "x + 0", "20 - x")}
    return {(text, "float32"): passes for text, passes in found.items()} | other


LOCATED = positions("max") | positions("min")


def input_of(xp, sizes, dtype):
    """Whole numbers from -4 to 6; as bytes from 3 to 13."""
    x = numbers(xp, sizes, 1, "float32") * 4
    return (x + 7 if dtype == "uint8" else x).to(getattr(xp, dtype))


def results_of(xp, text, x):
    results = eval(text, {"xp": xp, "x": x})
    return results if isinstance(results, list) else [results]


def is_of_columns(text):
    return "(0)" in text


def is_looped(text, sizes):
    """Whether a row is longer than a block. `argmax` and `argmin` go along memory, or not: a block is as long."""
    if is_of_columns(text):
        return sizes[0] > (1024 if "arg" in text else 64)
    return (math.prod(sizes) if text.endswith("()") else sizes[1]) > 1024


def programs(table):
    @drawing
    def draw_case(draw, st):
        text, dtype = draw(st.sampled_from([*table]))
        sizes = [draw(st.integers(2, 6)), draw(st.sampled_from(LENGTHS))]
        if is_of_columns(text):
            sizes = [draw(st.sampled_from([2, 5, 33, 64, 65, 70, 100])), draw(st.integers(2, 20))]
        return {"text": text, "dtype": dtype, "sizes": sizes}

    return draw_case


def edges(table, more=()):
    cases = []
    for text, dtype in table:
        for sizes in ([5, 7], [70, 5]) if is_of_columns(text) else ([3, 5], [2, 1100]):
            cases.append({"text": text, "dtype": dtype, "sizes": sizes})
    return cases + [{"text": text, "dtype": "float32", "sizes": sizes} for text, sizes in more]


def shown(rl, text, dtype, sizes):
    found = compiled(rl, lambda x: results_of(rl, text, x), [input_of(rl, sizes, dtype)])
    if dtype == "float64" and "results" in found:
        found["results"] = [beyond_single(rl, x) for x in found["results"]]
    return found


def expected(torch, text, dtype, sizes, passes):
    x = input_of(torch, sizes, dtype)
    results = results_of(torch, text, x)
    if dtype == "float64":
        results = [beyond_single(torch, x) for x in results]
    nbytes = x.numel() * x.element_size() * (passes if is_looped(text, sizes) else 1)
    return {"stopped": "", "results": results, "reduced in a loop": [], "loaded": [nbytes]}


def about_values(case, mine, theirs):
    if hint := about_kernels(case, mine, theirs):
        return hint
    if first_apart(mine, theirs) != "results":
        return None
    if is_looped(case["text"], case["sizes"]):
        return (
            "these rows go through a loop over blocks. Compare each step: before the loop the totals get the initial value, "
            "and the type of the block. In it each block changes them, but positions beyond the end of a row keep theirs. "
            "After it each row is reduced along dimension 1, by the function of its kind"
        )
    return (
        "a row here is one block. Compare each step: the positions beyond the end of a row, if there are any, get the "
        "initial value of this type. Then each row is reduced along dimension 1, by the function of its kind"
    )


def about_positions(case, mine, theirs):
    if hint := about_kernels(case, mine, theirs):
        return hint
    if first_apart(mine, theirs) != "results":
        return None
    if is_looped(case["text"], case["sizes"]):
        return (
            "these rows go through a loop over blocks. Compare each step: the totals are values and positions in the whole "
            "row, and begin with the initial value and the largest int32. Both keep what they have beyond the end of a row. "
            "After the loop the pairs are reduced along dimension 1, and the position is the result"
        )
    return (
        "a row here is one block. Compare each step: the values beyond the end of a row, if there are any, are the "
        "initial value of this type. Then the pairs are reduced along dimension 1, and the position is the result"
    )


@program(
    "inductor.triton_kernel.reduce_values",
    cases=programs(REDUCED),
    edges=lambda: edges(REDUCED, _MORE),
    hint=about_values,
    draws=5,
)
def reduced_rows(rl, text, dtype, sizes):
    return shown(rl, text, dtype, sizes)


_MORE = [
    ("(x + 5).sum()", [2, 1024]),
    ("(x + 5).sum(1)", [2, 8]),
    ("(x - 20).amax(1)", [5, 2048]),
    ("(x - 9).softmax(1)", [6, 1024]),
]


@reduced_rows.oracle
def _(torch, text, dtype, sizes):
    return expected(torch, text, dtype, sizes, REDUCED[text, dtype])


# The last block of a row has three elements, and the first result is mostly behind these
_FEW_LEFT = [("(x - 20).argmax(1)", [4, 1027]), ("(x + 20).argmin(1)", [4, 1027])]


@program(
    "inductor.triton_kernel.reduce_indices",
    cases=programs(LOCATED),
    edges=lambda: edges(LOCATED, _FEW_LEFT),
    hint=about_positions,
    draws=5,
)
def found_positions(rl, text, dtype, sizes):
    return shown(rl, text, dtype, sizes)


@found_positions.oracle
def _(torch, text, dtype, sizes):
    return expected(torch, text, dtype, sizes, LOCATED[text, dtype])
