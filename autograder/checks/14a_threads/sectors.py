"""Lab 14a, what a warp asks of memory: sectors by arithmetic, and the lines of kernels that ask for too many."""

from __future__ import annotations

import numpy as np

from rushlight.course.predictions import COALESCING

from ...engine.check import program
from ..cases import drawn, first_of, predicted, rows, when
from ..shared_14 import asked


@program(
    "aten.native.cuda.loops.sectors_per_request",
    cases=drawn(itemsize=[1, 2, 4, 8, 16], stride=(-40, 40), offset=(0, 40)),
    edges=rows(
        "itemsize stride offset",
        (4, 1, 0), (4, 1, 1), (4, 1, 8), (4, 2, 0), (4, 3, 1), (4, 8, 0), (4, 9, 3), (4, 0, 5), (4, -1, 31), (4, -1, 30),
        (4, -1, 0), (4, -3, 7), (1, 1, 0), (1, 1, 1), (1, 40, 0), (1, 31, 0), (1, 33, 0), (2, 1, 0), (2, 1, 1), (2, 15, 1),
        (8, 1, 0), (8, 3, 1), (16, 1, 0), (16, 1, 1), (16, 0, 0), (16, 2, 1), (2, -17, 4), (8, -1, 2),
    ),
    hint=first_of(
        when(lambda case: case["offset"] + 31 * case["stride"] < 0, "in which sector is byte -1, if byte 0 is in sector 0?"),
        when(
            lambda case: (case["itemsize"] * case["offset"]) % 32,
            "the first element need not be at the beginning of a sector, so a sector may be shared otherwise than you expect",
        ),
        lambda *_: "how many different sectors have the elements of lane 0 to lane 31?",
    ),
)  # fmt: skip
def sectors_of_a_request(rl, itemsize, stride, offset):
    return rl.aten.native.cuda.loops.sectors_per_request(itemsize, stride, offset)


@sectors_of_a_request.oracle
def _(torch, itemsize, stride, offset):
    """Mark each byte that is asked for, and count the sectors with a mark."""
    first = 32 * 32 * itemsize * 64
    marked = np.zeros(2 * first, bool)
    for lane in range(32):
        at = first + itemsize * (offset + lane * stride)
        marked[at : at + itemsize] = True
    return int(marked.reshape(-1, 32).any(axis=1).sum())


# Lines that are not coalesced: what a lane of the first warp accesses in each line, by its number, in elements of 4 bytes ----

ACCESSES = {
    "example": {3: lambda i: 2 * i, 4: lambda i: i},
    "sums of rows": {4: lambda i: 64 * i, 5: lambda i: i},
    "sums of columns": {4: lambda i: i, 5: lambda i: i},
    "transposed": {3: lambda i: i, 4: lambda i: 1024 * i},
    "one further": {3: lambda i: i + 1, 4: lambda i: i},
    "one for each block": {3: lambda i: 0 * i, 4: lambda i: i},
    "four in a row": {5: lambda i: 4 * i},
    "four apart": {5: lambda i: i},
    "neighbours": {3: lambda i: i ^ 1, 4: lambda i: i},
    "colours": {3: lambda i: 3 * i, 4: lambda i: i},
}


@program("course.predictions.uncoalesced_line", **predicted(COALESCING, draws=len(COALESCING)))
def uncoalesced_line(rl, program):
    return rl.course.predictions.uncoalesced_line(program)


@uncoalesced_line.oracle
def _(torch, program):
    return next((line for line, index in ACCESSES[program].items() if not _is_coalesced(index)), None)


def _is_coalesced(index):
    addresses = 4 * index(np.arange(32))
    filled = -(-4 * len(np.unique(addresses)) // 32)
    return asked([addresses])[2] <= filled + 1
