"""A student's review of changes to `quotient`."""

from __future__ import annotations

import itertools

from ...engine.check import program
from ..cases import no_cases, reviewing
from ..shared_08 import divisions, numbers, symbols

REVIEW, CHANGES = "course.reviews.review_quotient", "08b.review_quotient"


@program(f"{REVIEW}.three", cases=no_cases, edges=[{}], examine=reviewing(CHANGES, 3))
def review_three(xp):
    return xp.reviews.review_quotient()


@program(f"{REVIEW}.four", cases=no_cases, edges=[{}], examine=reviewing(CHANGES, 4))
def review_four(xp):
    return xp.reviews.review_quotient()


@program(REVIEW, cases=no_cases, edges=[{}], examine=reviewing(CHANGES, 5))
def review_all(xp, **case):
    """The decisions, or the values of `quotient` for the index of a case, and whether it has a division that is not needed."""
    if not case:
        return xp.reviews.review_quotient()
    Index, divisor = xp.inductor.index.Index, case["divisor"]
    index, variables = Index.of(case["offset"]), symbols(xp, case["sizes"])
    terms = [*zip(variables, case["coefficients"], strict=True)]
    for variable, coefficient in terms:
        index = index + Index.of(variable) * coefficient
    result = xp.inductor.index.quotient(index, divisor)
    left = [range(variable.size) if coefficient % divisor else [0] for variable, coefficient in terms]
    rests = (
        case["offset"] % divisor + sum(coefficient * i for (_, coefficient), i in zip(terms, point))
        for point in itertools.product(*left)
    )
    needless = divisions(xp, result) > 0 and all(0 <= rest < divisor for rest in rests)
    return {"values": numbers(xp, result, variables), "has a needless division": needless}


@review_all.oracle
def _(torch, sizes, coefficients, offset, divisor):
    total = torch.tensor(offset)
    for size, coefficient in zip(sizes, coefficients, strict=True):
        total = total.unsqueeze(-1) + torch.arange(size) * coefficient
    values = torch.div(total, divisor, rounding_mode="floor")
    return {"values": values.reshape(-1).tolist(), "has a needless division": False}
