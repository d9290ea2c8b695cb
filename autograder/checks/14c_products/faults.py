"""Lab 14c, lines of kernels with tiles that race, that have a bank conflict, or that are not coalesced."""

from __future__ import annotations

import numpy as np

from rushlight.course.predictions import TILES

from ...engine.check import program
from ..cases import predicted
from .needed import requests_of

# What a thread accesses in each line, in elements of 4 bytes: of global memory, and of shared memory. And lines that race. `n` is
# 64, and in a loop `first` and `i` are 0.
_TRANSPOSED = {4: [lambda x, y: 32 * y + x], 6: [lambda x, y: 32 * y + x]}
_PRODUCT = {6: [lambda x, y: 64 * y + x], 7: [lambda x, y: 32 * y + x], 12: [lambda x, y: 32 * y + x]}
GLOBAL = {
    "example": _TRANSPOSED,
    "padded": _TRANSPOSED,
    "padded by two": _TRANSPOSED,
    "stored by columns": _TRANSPOSED,
    "straight out": _TRANSPOSED | {6: [lambda x, y: 32 * x + y]},
    "rotated": _TRANSPOSED,
    "a product": _PRODUCT,
    "one barrier": {6: [lambda x, y: 64 * y + x], 8: [lambda x, y: x], 10: [lambda x, y: 32 * y + x]},
    "too early": {6: [lambda x, y: 64 * y + x], 7: [lambda x, y: x], 10: [lambda x, y: 32 * y + x]},
    "rows of b": _PRODUCT | {7: [lambda x, y: 64 * x + y]},
    "columns of b": _PRODUCT | {7: [lambda x, y: 64 * y + x]},
    "two buffers": {7: [lambda x, y: 64 * y + x], 9: [lambda x, y: x], 11: [lambda x, y: 32 * y + x]},
}
_STORED = {6: [lambda x, y: 32 * y + x], 7: [lambda x, y: 32 * y + x], 9: [lambda x, y: 32 * y, lambda x, y: x]}
SHARED = {
    "example": {4: [lambda x, y: 32 * y + x], 6: [lambda x, y: 32 * x + y]},
    "padded": {4: [lambda x, y: 33 * y + x], 6: [lambda x, y: 33 * x + y]},
    "padded by two": {4: [lambda x, y: 34 * y + x], 6: [lambda x, y: 34 * x + y]},
    "stored by columns": {4: [lambda x, y: 32 * x + y], 6: [lambda x, y: 32 * y + x]},
    "straight out": {4: [lambda x, y: 33 * y + x], 6: [lambda x, y: 33 * y + x]},
    "rotated": {4: [lambda x, y: 32 * y + (x + y) % 32], 6: [lambda x, y: 32 * x + (x + y) % 32]},
    "a product": _STORED,
    "one barrier": {6: [lambda x, y: 32 * y + x], 8: [lambda x, y: 32 * y]},
    "too early": {6: [lambda x, y: 33 * x + y], 7: [lambda x, y: y]},
    "rows of b": _STORED | {7: [lambda x, y: 33 * y + x]},
    "columns of b": _STORED | {9: [lambda x, y: 32 * y, lambda x, y: 32 * x]},
    "two buffers": {7: [lambda x, y: 32 * y + x], 9: [lambda x, y: 32 * y]},
}
RACES = {"one barrier": 8, "too early": 7}


@program("course.predictions.faulty_line", **predicted(TILES, draws=len(TILES)))
def faulty_line(rl, program):
    return rl.course.predictions.faulty_line(program)


@faulty_line.oracle
def _(torch, program):
    slow = [line for line, of in GLOBAL[program].items() for index in of if not _is_coalesced(index)]
    slow += [line for line, of in SHARED[program].items() for index in of if _has_conflict(index)]
    return next(iter([*slow, RACES.get(program)]))


def _warps(index):
    return [index(np.arange(32), np.full(32, y)) for y in range(32)]


def _is_coalesced(index):
    return all(requests_of(4 * of[None])[2] <= -(-len(np.unique(of)) // 8) + 1 for of in _warps(index))


def _has_conflict(index):
    return any(np.bincount(np.unique(of) % 32).max() > 1 for of in _warps(index))
