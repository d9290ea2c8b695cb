"""Lab 14d, what a load of a block asks for, and lines of kernels with a mask that is wrong or missing."""

from __future__ import annotations

import re
from types import SimpleNamespace

import numpy as np

from rushlight.course import draws
from rushlight.course.predictions import BLOCK_KERNELS

from ...engine.check import program
from ..cases import PARTS, predicted, predicting

SECTOR = 32  # bytes

LINES = {  # of access outside, of another element than `other` should be, of what is not 0 where it is masked off, of a second load
    "outside": {"example": 4, "stored": 5, "one too many": 4},
    "other": {"a maximum": 4, "added": 4},
    "not 0": {"a variance": 6, "ones": 5},
    "again": {"again": 6},
}


for part in PARTS:

    @program(f"course.predictions.block_load{part}", **predicting("block_load", part))
    def block_load(rl, number=0):
        return rl.course.predictions.block_load()


@block_load.oracle
def bytes_and_sectors(torch, number=0):
    return loads_of(draws.program("block_load", number))


def loads_of(text):
    """The bytes and the sectors of each load of a program, which runs with numpy in the place of `tl`. A pointer is an array of
    bytes' addresses. (A test compares the results with those of Triton's interpreter.)"""
    found = []

    def load(pointer, mask=True):
        elements = pointer.elements[np.broadcast_to(mask, pointer.elements.shape)]
        found.extend([elements.size * pointer.itemsize, len(np.unique(elements * pointer.itemsize // SECTOR))])

    of_x, of_y, instance = re.match(r"# x: (\w+), y: (\w+), instance: (\d+)\n", text).groups()
    tl = SimpleNamespace(program_id=lambda axis: int(instance), arange=np.arange, load=load)
    exec(text, {"tl": tl, "x": Pointer(of_x), "y": Pointer(of_y)})
    return found


class Pointer:
    """A pointer to an array that begins with a sector, or a block of pointers to its elements."""

    def __init__(self, dtype, elements=0):
        self.dtype, self.itemsize, self.elements = dtype, np.dtype(dtype).itemsize, np.asarray(elements)

    def __add__(self, positions):
        return Pointer(self.dtype, self.elements + positions)

    def __sub__(self, positions):
        return self + -positions


@program("course.predictions.masked_line", **predicted(BLOCK_KERNELS, draws=len(BLOCK_KERNELS)))
def masked_line(rl, program):
    return rl.course.predictions.masked_line(program)


@masked_line.oracle
def _(torch, program):
    return next((lines[program] for lines in LINES.values() if program in lines), None)
