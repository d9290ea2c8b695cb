"""Lab 14b, layer norm: moments of two groups by Welford's rule, and the kernel."""

from __future__ import annotations

import numpy as np

from ...engine.check import program
from ...engine.observe import values
from ..cases import drawing, drawn, explained, first_apart, first_of, numbers, rows, several, when
from ..shared_14 import UNWRITTEN, about_kernels, about_together, arrays_of, asked, needs, on_board, ran, wanted

_group = several((-9, 9), 0, 6)


def _m2_alone_is_wrong(mine, theirs):
    return [*np.isclose(values(mine), values(theirs))] == [True, True, False]


@program(
    "aten.native.cuda.reduce.welford_combine",
    cases=drawn(left=_group, right=_group, offset=[0, 0, 1000, 2**20]),
    edges=rows(
        "left right offset",
        ([1, 2], [4], 0), ([1], [1], 0), ([3], [-3], 0), ([1, 2, 3, 4], [5, 6], 0), ([], [5], 0), ([5], [], 0), ([], [], 0),
        ([], [2, 4, 9], 2**20), ([2, 4, 9], [], 2**20), ([1, 2, 6], [3, 8], 2**20), ([0, 0], [0, 0, 0], 0), ([9, 8], [-7], 1000),
        ([-1, 1], [-2, 2, 5, 5], 0), ([7], [1, 2, 3, 4, 9], 0), ([0, 1], [0], 2**20), ([0, 1, 5], [4, 0, 0, 2], 2**20),
    ),
    hint=first_of(
        when(
            lambda case, mine, theirs: not (case["left"] and case["right"]) and "tensor" not in mine,
            "a group is empty here: what is divided by its count?",
        ),
        when(
            lambda case, mine, theirs: case["offset"] and "tensor" in mine and _m2_alone_is_wrong(mine, theirs),
            "the mean is large here: is a difference of its squares computed? It has few digits of `m2`",
        ),
    ),
)  # fmt: skip
def moments_of_both(rl, left, right, offset):
    reduce = rl.aten.native.cuda.reduce
    groups = [reduce.Moments(*_moments(np.array(group, np.float64) + offset)) for group in (left, right)]
    return rl.tensor([float(value) for value in reduce.welford_combine(*groups)], dtype=rl.float64)


def _moments(x):
    mean = x.mean() if len(x) else 0.0
    return len(x), float(mean), float(((x - mean) ** 2).sum())


@moments_of_both.oracle
def _(torch, left, right, offset):
    x = torch.tensor(left + right, dtype=torch.float64)
    if not len(x):
        return torch.zeros(3, dtype=torch.float64)
    variance, mean = torch.var_mean(x, correction=0)
    return torch.stack([torch.tensor(float(len(x))).double(), mean + offset, variance * len(x)])


# The kernel ----------------------------------------------------------------------------------------------------------


def of_rows(rows, columns, block):
    """The requests of a pass of the blocks over their rows, and of the same pass over one row."""
    steps = [
        np.arange(first, min(first + 32, begin + block, columns))
        for begin in range(0, columns, block)
        for first in range(begin, min(begin + block, columns), 32)
    ]
    return asked(4 * (row * columns + step) for row in range(rows) for step in steps), rows * asked(
        4 * step for step in steps
    )


def of_layer_norm(rows, columns, block):
    of_matrix, of_vector = of_rows(rows, columns, block)
    return needs(2 * of_matrix + 2 * of_vector, of_matrix) | {"bytes of shared memory": "512"}


def _inputs(xp, rows, columns, offset):
    """The rows are whole numbers of 11 sizes, so their deviation is about 3."""
    x = 4 * numbers(xp, [rows, columns], 1, "float32") + offset
    return x, numbers(xp, [columns], 2, "float32") + 1.5, numbers(xp, [columns], 3, "float32")


@drawing
def _rows(draw, st):
    block = draw(st.sampled_from([32, 64, 96, 128, 256, 1024]))
    columns = draw(st.integers(1, min(8 * block, 1100)))
    others = {"offset": st.sampled_from([0, 10000]), "eps": st.sampled_from([1e-5, 0.5]), "seed": st.integers(0, 3)}
    return {"rows": draw(st.integers(1, 3)), "columns": columns, "block": block} | {
        name: draw(of) for name, of in others.items()
    }


@program(
    "aten.native.cuda.reduce.layer_norm_source",
    cases=_rows,
    edges=rows(
        "rows columns block offset eps seed",
        (1, 32, 32, 0, 1e-5, 0), (2, 64, 64, 0, 0.5, 0), (2, 33, 32, 0, 1e-5, 1), (3, 7, 64, 0, 0.5, 0), (1, 1, 32, 0, 1e-5, 0),
        (2, 100, 32, 10000, 1e-5, 2), (2, 100, 256, 0, 1e-5, 3), (1, 600, 128, 10000, 1e-5, 0), (2, 300, 96, 0, 1e-5, 1),
        (1, 1024, 1024, 10000, 1e-5, 1), (1, 1, 64, 10000, 0.5, 0),
    ),
    is_text=True,
    hint=first_of(
        explained(bytes_of_loads="a block loads its row at most twice, and `weight` and `bias` once"),
        when(
            lambda case, mine, theirs: case["offset"] and first_apart(mine, theirs) == "out",
            "the mean is 10,000 here, and float32 has seven digits: is a difference of two squares or of two sums computed?",
        ),
        about_together,
        about_kernels,
    ),
    draws=4,
)  # fmt: skip
def normalised_rows(rl, rows, columns, block, offset, eps, seed):
    text, needed = rl.aten.native.cuda.reduce.layer_norm_source(), of_layer_norm(rows, columns, block)
    inputs = [x.numpy().copy() for x in _inputs(rl, rows, columns, offset)]
    arguments = [*inputs, np.full((rows, columns), UNWRITTEN, np.float32), columns, eps]
    shown = ran(rl, text, "layer_norm", rows, block, arguments, 3, seed, needed)
    if "out" not in shown:
        return shown
    x, weight, bias = (of.astype(np.float64) for of in inputs)
    exact = (x - x.mean(1, keepdims=True)) / np.sqrt(x.var(1, keepdims=True) + np.float32(eps)) * weight + bias
    out = shown["out"].numpy()
    # as exact as float32 allows: at 10,000 its numbers are 0.001 apart
    out = np.where(np.abs(out - exact) <= (0.02 if offset else 1e-4), exact.astype(np.float32), out)
    if shown["bytes of loads"] == needed["bytes of loads"] - 4 * rows * columns:  # the row stays in registers
        shown["bytes of loads"] = needed["bytes of loads"]
    return shown | {"out": rl.from_numpy(out)}


@normalised_rows.counted()
def _(rl):
    """4 rows of 600 elements."""
    text = rl.aten.native.cuda.reduce.layer_norm_source()
    return on_board(text, "layer_norm", 4, 256, *arrays_of(rl, 2400, 600, 600, 2400), 600, 1e-5)


@normalised_rows.oracle
def _(torch, rows, columns, block, offset, eps, seed):
    x, weight, bias = (of.double() for of in _inputs(torch, rows, columns, offset))
    out = torch.nn.functional.layer_norm(x, (columns,), weight, bias, float(np.float32(eps)))
    return wanted(out.float(), of_layer_norm(rows, columns, block))
