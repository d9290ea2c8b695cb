"""Cases of a student for `recording`."""

from __future__ import annotations

from ...engine.check import program
from ..cases import breaking, no_cases

BREAKS, BODIES = "course.breaks.breaks_recording", "04c.recording"
MODES = ["no_grad", "enable_grad", "inference_mode"]
ENDS = {
    "end": None,
    "end of the first": None,
    "end by KeyError": KeyError,
    "end by KeyboardInterrupt": KeyboardInterrupt,
}
LONGEST = 4  # steps


@program(f"{BREAKS}.half", cases=no_cases, edges=[{}], examine=breaking(BODIES, "1/2"))
def breaks_half(xp):
    return xp.breaks.breaks_recording()


@program(BREAKS, cases=no_cases, edges=[{}], examine=breaking(BODIES, "1"))
def breaks_recording(xp, **case):
    """The cases, or grad mode after the steps of one of them."""
    if not case:
        return xp.breaks.breaks_recording()
    assert not _problem(**case)
    return _mode_after(xp, **case)


@breaks_recording.oracle
def _(torch, steps):
    if problem := _problem(steps):
        raise ValueError(problem)
    return _mode_after(torch, steps)


def _problem(steps):
    """Why these steps are no program, or nothing."""
    if len(steps) > LONGEST:
        return f"it has more than {LONGEST} steps"
    open_blocks = 0
    for step in steps:
        open_blocks += (step in MODES) - (step in ENDS)
        if open_blocks < 0:
            return "no block is left that could end"
    return ""


def _mode_after(xp, steps):
    blocks = []  # that have begun, and have not ended
    with xp.inference_mode(False):  # grad mode is on at first, and afterwards all is as it was before
        for step in steps:
            if step in MODES:
                blocks.append(getattr(xp, step)())
                blocks[-1].__enter__()
            elif step in ENDS:
                kind = ENDS[step]
                blocks.pop(0 if step == "end of the first" else -1).__exit__(kind, kind and kind(), None)
            else:
                xp.set_grad_enabled(step == "set_grad_enabled(True)")
        mode = xp.is_grad_enabled()
        for block in reversed(blocks):
            block.__exit__(None, None, None)
    return mode
