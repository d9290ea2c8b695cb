"""Cases of a student for `accumulate`."""

from __future__ import annotations

from ...engine.check import program
from ..cases import breaking, no_cases
from ..shared_04 import grad_mode

BREAKS, BODIES = "course.breaks.breaks_accumulate", "04b.accumulate"
STRIDES = {"rows": (3, 1), "columns": (1, 2), "rows with gaps": (6, 2), "columns with gaps": (2, 4)}
LONGEST = 4  # steps


@program(f"{BREAKS}.half", cases=no_cases, edges=[{}], examine=breaking(BODIES, "1/2"))
def breaks_half(xp):
    return xp.breaks.breaks_accumulate()


@program(f"{BREAKS}.most", cases=no_cases, edges=[{}], examine=breaking(BODIES, "3/4"))
def breaks_most(xp):
    return xp.breaks.breaks_accumulate()


@program(BREAKS, cases=no_cases, edges=[{}], examine=breaking(BODIES, "1"))
def breaks_accumulate(xp, **case):
    """The cases, or the gradient of the leaf of one of them."""
    if not case:
        return xp.breaks.breaks_accumulate()
    assert not _problem(case["steps"])
    return _gradient_after(xp, xp.graph.accumulate, **case)


@breaks_accumulate.oracle
def _(torch, leaf, steps):
    if problem := _problem(steps):
        raise ValueError(problem)

    def add(x, grad):
        with grad_mode(torch, True):
            node = x.view_as(x).grad_fn.next_functions[0][0]
        node(grad)

    return _gradient_after(torch, add, leaf, steps)


def _problem(steps):
    """Why these steps are no case, or nothing."""
    if len(steps) > LONGEST:
        return f"it has more than {LONGEST} steps"
    return "" if any(not step.startswith("grad mode") for step in steps) else "no gradient arrives"


def _matrix(xp, layout):
    return xp.empty_strided((2, 3), STRIDES[layout], dtype=xp.float64).fill_(1)


def _gradient_after(xp, add, leaf, steps):
    """The field `grad` after the last gradient, and what the last gradient changed."""
    x, given, enabled, before, version = _matrix(xp, leaf).requires_grad_(), [], False, None, 0
    for step in steps:
        if step.startswith("grad mode"):
            enabled = step == "grad mode on"
            continue
        layout, _, history = step.partition(" with ")
        given.append(_matrix(xp, layout).requires_grad_(history == "history"))
        before, version = x.grad, 0 if x.grad is None else x.grad._version
        with grad_mode(xp, enabled):
            add(x, given[-1])
    grad = x.grad
    return {
        "values": grad.tolist(),
        "strides": list(grad.stride()),
        "requires_grad": grad.requires_grad,
        "memory of a given gradient": any(grad.data_ptr() == other.data_ptr() for other in given),
        "same tensor": grad is before,
        "versions": grad._version - version if grad is before else 0,
        "edges": [node is not None for node, _ in grad.grad_fn.next_functions] if grad.grad_fn else [],
    }
