"""A student's review of changes to `adamw_step`."""

from __future__ import annotations

from ...engine.check import program
from ..cases import no_cases, reviewing

REVIEW, CHANGES = "course.reviews.review_adamw_step", "09c.review_adamw_step"
OPTIONS = {"lr": 0.1, "betas": (0.5, 0.75), "eps": 0.1, "weight_decay": 0.5}


@program(f"{REVIEW}.four", cases=no_cases, edges=[{}], examine=reviewing(CHANGES, 4))
def review_four(xp):
    return xp.course.reviews.review_adamw_step()


def after_steps(torch, grads, make):
    """The parameters after a step for each list of gradients, and which of them have a state. All parameters are 2 at first.
    `make(parameters)` returns a function that makes a step, and the states."""
    parameters = [torch.full((1,), 2.0, dtype=torch.float64, requires_grad=True) for _ in grads[0]]
    step, states = make(parameters)
    for row in grads:
        for parameter, grad in zip(parameters, row, strict=True):
            parameter.grad = None if grad is None else torch.full((1,), float(grad), dtype=torch.float64)
        step()
    values = [parameter.detach().clone() for parameter in parameters]
    return {"parameters": values, "have a state": [parameter in states for parameter in parameters]}


@program(REVIEW, cases=no_cases, edges=[{}], examine=reviewing(CHANGES, 5))
def review_all(xp, **case):
    """The decisions, or the parameters after the steps of a case."""
    if not case:
        return xp.course.reviews.review_adamw_step()
    import torch

    def make(parameters):
        states = {}
        return lambda: xp.distributed.fsdp.adamw_step(parameters, states, **OPTIONS), states

    return after_steps(torch, case["grads"], make)


@review_all.oracle
def _(torch, grads):
    def make(parameters):
        optimizer = torch.optim.AdamW(parameters, **OPTIONS)
        return optimizer.step, optimizer.state

    return after_steps(torch, grads, make)
