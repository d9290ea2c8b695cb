"""Lab 14d, what a load of a block asks for, and lines of kernels with a mask that is wrong or missing."""

from __future__ import annotations

import numpy as np

from rushlight.course.predictions import BLOCK_KERNELS, BLOCK_LOADS

from ...engine.check import program
from ..cases import predicted

# The elements that an instance loads: those of instance 1
ELEMENTS = {
    "example": range(256, 300),
    "one number": [1],
    "end of a row": range(1500 + 1024, 3000),
    "every second column": range(1500, 1500 + 2 * 256, 2),
    "a column": range(1, 50 * 1500, 1500),
    "a tile": [i * 1500 + 32 + j for i in range(32) for j in range(32)],
    "a tile of 16 rows": [i * 1500 + j for i in range(10) for j in range(48)],
    "one row for all": [*range(32)] * 16,
    "beyond the end": [],
    "a block pointer": range(1024, 1500),
}
LINES = {  # of access outside, of another element than `other` should be, of what is not 0 where it is masked off, of a second load
    "outside": {"example": 4, "stored": 5, "one too many": 4},
    "other": {"a maximum": 4, "added": 4},
    "not 0": {"a variance": 6, "ones": 5},
    "again": {"again": 6},
}


@program("course.predictions.block_load", **predicted(BLOCK_LOADS, draws=len(BLOCK_LOADS)))
def bytes_and_sectors(rl, program):
    return rl.course.predictions.block_load(program)


@bytes_and_sectors.oracle
def _(torch, program):
    elements = np.array([*ELEMENTS[program]], int)
    return 4 * len(elements), len(np.unique(elements // 8))


@program("course.predictions.masked_line", **predicted(BLOCK_KERNELS, draws=len(BLOCK_KERNELS)))
def masked_line(rl, program):
    return rl.course.predictions.masked_line(program)


@masked_line.oracle
def _(torch, program):
    return next((lines[program] for lines in LINES.values() if program in lines), None)
