"""Cases of a student for `may_recompute`."""

from __future__ import annotations

from ...engine.check import program
from ..cases import breaking, no_cases
from .joint import may_be_computed_again, may_be_computed_again_in_torch

BREAKS, BODIES = "course.breaks.breaks_may_recompute", "07d.may_recompute"


@program(f"{BREAKS}.half", cases=no_cases, edges=[{}], examine=breaking(BODIES, "1/2"))
def breaks_half(xp):
    return xp.breaks.breaks_may_recompute()


@program(f"{BREAKS}.most", cases=no_cases, edges=[{}], examine=breaking(BODIES, "3/4"))
def breaks_most(xp):
    return xp.breaks.breaks_may_recompute()


@program(BREAKS, cases=no_cases, edges=[{}], examine=breaking(BODIES, "1"))
def breaks_may_recompute(xp, **case):
    """The cases, or which nodes of one of them `may_recompute` allows."""
    if not case:
        return xp.breaks.breaks_may_recompute()
    assert not _problem(**case)
    return may_be_computed_again(xp, **_described(**case))


@breaks_may_recompute.oracle
def _(torch, columns, steps):
    if problem := _problem(columns, steps):
        raise ValueError(problem)
    return may_be_computed_again_in_torch(torch, **_described(columns, steps))


def _described(columns, steps):
    """The program as the other checks describe one. Each step begins with the last value. The first two are x and w."""
    sizes = [int(columns), int(columns)]
    words = [step.split() for step in steps if step != "noise"]
    statements = [[word[0], i and -1, int("w" in word)] for i, word in enumerate(words)]  # the first one is of x
    return {
        "inputs": [[sizes, True], [sizes, False]],
        "statements": statements,
        "outputs": [0],
        "noise": "uniform" if "noise" in steps else None,
    }


def _problem(columns, steps):
    """Why these steps are no program, or nothing."""
    if "noise" in steps[1:]:
        return "noise is not the first step"
    size = int(columns)
    rows, count = size, size
    for step in steps:
        if step in ("mm x", "mm w") and count != size:
            return "the sizes of a product do not fit"
        if step in ("mul x", "masked") and not {rows, count} <= {1, size}:
            return "the sizes of an operator do not fit"
        match step:
            case "t":
                rows, count = count, rows
            case "rows" | "amax":
                count = 1
            case "split":
                rows = 1
            case "cat":
                rows *= 2
            case "mm x" | "mm w":
                count = size
            case "mul x" | "masked":
                rows, count = size, size
    return ""
