"""Cases of a student for `is_contiguous`."""

from __future__ import annotations

from ...engine.check import program
from ..cases import breaking, lists_too, no_cases

BREAKS, BODIES = "course.breaks.breaks_is_contiguous", "01a.is_contiguous"
LARGEST = 2**62  # bytes, of a tensor without memory


@program(f"{BREAKS}.half", cases=no_cases, edges=[{}], examine=breaking(BODIES, "1/2"))
def breaks_half(xp):
    return xp.breaks.breaks_is_contiguous()


@program(f"{BREAKS}.most", cases=no_cases, edges=[{}], examine=breaking(BODIES, "3/4"))
def breaks_most(xp):
    return xp.breaks.breaks_is_contiguous()


@program(BREAKS, cases=no_cases, edges=[{}], examine=breaking(BODIES, "1"))
def breaks_is_contiguous(xp, **case):
    """The cases, or what `is_contiguous` gives on one of them."""
    if not case:
        return xp.breaks.breaks_is_contiguous()
    return lists_too(xp.strided.is_contiguous, case["sizes"], case["strides"])


@breaks_is_contiguous.oracle
def _(torch, sizes, strides):
    return torch.empty(LARGEST, dtype=torch.uint8, device="meta").as_strided(sizes, strides).is_contiguous()
