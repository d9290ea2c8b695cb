"""Lab 14d, softmax: a row for each instance."""

from __future__ import annotations

import numpy as np

from ...engine.check import program
from ...engine.observe import values
from ..cases import drawn, field, first_apart, rows
from .launched import UNWRITTEN, about_triton, inputs_of, memory_of, needs, on_board, ran, wanted


def of_softmax(height, columns, row_stride, column_stride):
    j = np.arange(columns)
    loads = [i * row_stride + j * column_stride for i in range(height)]
    return needs(x=("loaded of", loads), out=("stored in", [i * columns + j for i in range(height)]))


def _about_softmax(case, mine, theirs):
    if first_apart(mine, theirs) == "out":
        out, around = values(field(mine, "out")), case["around"]
        sums = out.reshape(-1, case["columns"]).sum(1)
        if np.any(out == UNWRITTEN):
            return about_triton(case, mine, theirs)
        if around and np.isnan(sums).any():
            return f"the elements are around {around} here: `tl.exp` must get the distance from the row's own maximum"
        if not np.isnan(sums).any() and not np.allclose(sums, 1, atol=1e-5):
            return (
                f"the results of a row add up to {sums[np.abs(sums - 1).argmax()]:.4g}, not to 1: what is in the sum?"
            )
        if not np.isnan(sums).any():
            return "the results of a row add up to 1: are they powers of e, and of the elements of this row?"
    return about_triton(case, mine, theirs)


@program(
    "inductor.triton_templates.softmax_source",
    cases=drawn(height=(1, 4), columns=(1, 70), transposed=bool, gap=(0, 2), around=[0, 200, -200]),
    edges=rows(
        "height columns transposed gap around",
        (2, 16, False, 0, 0), (3, 30, False, 0, 0), (3, 30, False, 3, 0), (2, 16, False, 0, 200), (4, 5, True, 1, 0),
        (2, 20, False, 0, -200), (1, 1, False, 0, 0), (5, 33, True, 0, 0), (2, 64, False, 1, 0), (2, 1500, False, 4, 0),
        (9, 3, False, 0, 0), (2, 20, False, 0, -20000),
    ),
    is_text=True,
    hint=_about_softmax,
    draws=4,
)  # fmt: skip
def softmaxes_of_rows(rl, height, columns, transposed, gap, around):
    strides, size = strides_of(height, columns, transposed, gap)
    x, out = memory_of(rl, size, height * columns)
    arguments = {
        "x": x + np.float32(around),
        "out": out,
        "columns": columns,
        "row_stride": strides[0],
        "column_stride": strides[1],
    }
    block, needed = 1 << (columns - 1).bit_length(), of_softmax(height, columns, *strides)
    text = rl.inductor.triton_templates.softmax_source()
    return ran(rl, text, "softmax", height, arguments, needed, BLOCK=block)


def strides_of(height, columns, transposed, gap):
    """The strides of a matrix, and the elements of its memory. Rows, or columns if it is transposed, have a gap between them."""
    strides = (1, height + gap) if transposed else (columns + gap, 1)
    return strides, 1 + (height - 1) * strides[0] + (columns - 1) * strides[1]


@softmaxes_of_rows.counted(bytes=2 * 4 * 4 * 600, sectors=2 * 4 * 75)
def _(rl):
    """Four rows of 600."""
    x, out = memory_of(rl, 2400, 2400)
    arguments = {"x": x, "out": out, "columns": 600, "row_stride": 600, "column_stride": 1}
    return on_board(rl.inductor.triton_templates.softmax_source(), "softmax", 4, arguments, BLOCK=1024)


@softmaxes_of_rows.oracle
def _(torch, height, columns, transposed, gap, around):
    strides, size = strides_of(height, columns, transposed, gap)
    (memory,) = inputs_of(torch, size)
    out = (memory + around).as_strided((height, columns), strides).softmax(1).reshape(-1)
    return wanted(of_softmax(height, columns, *strides), out=out)
