"""Lab 14b, shared memory: wavefronts by arithmetic, and the lines of kernels whose threads are not synchronised."""

from __future__ import annotations

import numpy as np

from rushlight.course.predictions import SYNCHRONISATION

from ...engine.check import program
from ..cases import drawn, predicted, rows


@program(
    "aten.native.cuda.reduce.wavefronts",
    cases=drawn(itemsize=[1, 2, 4, 8, 16], stride=(-40, 40), offset=(0, 40)),
    edges=rows(
        "itemsize stride offset",
        (4, 1, 0), (4, 1, 7), (4, 2, 0), (4, 3, 1), (4, 4, 0), (4, 32, 0), (4, 33, 0), (4, 0, 5), (4, -1, 31), (4, -1, 0),
        (4, -2, 9), (1, 1, 0), (1, 4, 0), (1, 8, 3), (1, 33, 1), (2, 1, 0), (2, 1, 1), (2, 2, 0), (2, 32, 0), (2, 3, 1), (8, 1, 0),
        (8, 2, 0), (8, 16, 1), (8, 17, 0), (8, 0, 3), (16, 1, 0), (16, 2, 0), (16, 9, 1), (16, 8, 0), (16, 0, 0), (8, -3, 2),
        (1, 0, 3), (2, -17, 4), (1, 31, 0), (2, -38, 7), (2, 31, 27),
    ),
    hint=lambda case, mine, theirs: _about_wavefronts(mine, **case),
)  # fmt: skip
def wavefronts_of_a_load(rl, itemsize, stride, offset):
    return rl.aten.native.cuda.reduce.wavefronts(itemsize, stride, offset)


@wavefronts_of_a_load.oracle
def _(torch, itemsize, stride, offset):
    together = min(32, 128 // itemsize * (2 if stride == 0 else 1))
    return _counted(itemsize, stride, offset, together)


def _counted(itemsize, stride, offset, together):
    """The wavefronts if so many lanes are served together. The bytes that a group asks for are marked in a table with 128 bytes in
    a row, and the marked words of each column are counted."""
    at, total = itemsize * (40 * 32 + offset + stride * np.arange(32)), 0
    for group in at.reshape(-1, together):
        marked = np.zeros(128 * 1200, bool)
        marked[group[:, None] + np.arange(itemsize)] = True
        total += int(marked.reshape(-1, 32, 4).any(axis=2).sum(axis=0).max())
    return total


def _about_wavefronts(mine, itemsize, stride, offset):
    """A hint for a count that a known mistake gives."""
    words = itemsize * (offset + stride * np.arange(32)) // 4
    if itemsize <= 4 and 4 <= np.bincount(words % 32).max() == mine:
        return "lanes that ask for the same word are served together"
    if itemsize > 4 and stride == 0 and mine == itemsize // 4:
        return "all lanes ask for one element here, so two groups of lanes are served at once"
    if itemsize > 4 and mine == _counted(itemsize, stride, offset, 32):
        return "wide elements are served in groups of lanes, one group after the other: 16 lanes for 8 bytes, 8 lanes for 16"
    return None


# What the threads of a block do in each line, in order. A thread loads, stores or adds to the element that a function names, or to
# none. A barrier has the threads that reach it, and a shuffle its mask and the lanes that call it ---------------------------------

ALL = range(128)


def _own(t):
    return t


def _only(condition, element):
    return lambda t: element(t) if condition(t) else None


def _tree(line, steps, barrier):
    for k in steps:
        yield "load", line, _only(lambda t, k=k: t < k, lambda t, k=k: t + k)
        yield "store", line, _only(lambda t, k=k: t < k, _own)
        yield from barrier(k)


EVENTS = {
    "example": [("store", 3, _own), ("load", 4, lambda t: 127 - t)],
    "neighbours": [("store", 4, _own), ("load", 5, lambda t: t ^ 1)],
    "own element": [("store", 4, _own), *3 * [("load", 5, _own), ("store", 5, _own)], ("load", 6, _own)],
    "a tree": [
        ("store", 4, _own),
        ("barrier", 5, ALL),
        *_tree(8, [64, 32, 16, 8, 4, 2, 1], lambda k: [("barrier", 9, range(k))]),
    ],
    "the last warp": [
        ("store", 4, _own),
        ("barrier", 6, ALL),
        *_tree(7, [64, 32, 16, 8, 4, 2, 1], lambda k: [("barrier", 6, ALL)] if k == 64 else []),
        ("load", 9, _only(lambda t: t == 0, _own)),
    ],
    "a tail": [("store", 5, _only(lambda t: t < 100, _own)), ("barrier", 6, range(100))],
    "used again": [
        ("store", 4, _own),
        ("barrier", 5, ALL),
        ("load", 6, lambda t: t ^ 32),
        ("store", 7, _own),
        ("barrier", 8, ALL),
        ("load", 9, lambda t: t ^ 64),
    ],
    "half a warp": [("shuffle", 5, 0xFFFFFFFF, range(16)), ("barrier", 6, ALL)],
    "half a mask": [("shuffle", 5, 0x0000FFFF, range(16)), ("barrier", 6, ALL)],
    "a whole warp": [("shuffle", 4, 0x0000FFFF, range(32))],
    "one total": [
        ("store", 4, _own),
        ("barrier", 5, ALL),
        ("store", 6, _only(lambda t: t == 0, lambda t: "total")),
        *(("load", 7, _only(lambda t: t == 0, lambda t, k=k: k)) for k in ALL),
        ("store", 7, _only(lambda t: t == 0, lambda t: "total")),
        ("load", 8, _own),
        ("load", 8, lambda t: "total"),
    ],
    "counts": [
        ("store", 4, _only(lambda t: t < 8, _own)),
        ("barrier", 5, ALL),
        ("add", 6, lambda t: t % 8),
        ("barrier", 7, ALL),
        ("load", 8, _only(lambda t: t < 8, _own)),
    ],
}


@program("course.predictions.unsynchronised_line", **predicted(SYNCHRONISATION, draws=len(SYNCHRONISATION)))
def unsynchronised_line(rl, program):
    return rl.course.predictions.unsynchronised_line(program)


@unsynchronised_line.oracle
def _(torch, program):
    accesses = {}  # since the last barrier: the thread, the kind and the line of each, by element
    for kind, line, *rest in EVENTS[program]:
        if kind == "shuffle":
            mask, lanes = rest
            if mask != sum(1 << lane for lane in lanes):
                return line
        elif kind == "barrier":
            if len(rest[0]) < len(ALL):
                return line
            accesses.clear()
        else:
            for thread in ALL:
                if (element := rest[0](thread)) is None:
                    continue
                before = accesses.setdefault(element, set())
                for other, other_kind, other_line in before:
                    if other != thread and "store" in (kind, other_kind):
                        return line if kind == "load" else other_line
                before.add((thread, kind, line))
    return None
