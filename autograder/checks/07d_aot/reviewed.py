"""A student's review of changes to the decomposition of `_softmax`."""

from __future__ import annotations

from ...engine.check import program
from ..cases import no_cases, reviewing

REVIEW, CHANGES = "course.reviews.review_softmax", "07d.review_softmax"


@program(f"{REVIEW}.four", cases=no_cases, edges=[{}], examine=reviewing(CHANGES, 4))
def review_four(xp):
    return xp.reviews.review_softmax()


def tensor_of(xp, values, sizes, dtype):
    return xp.tensor(values, dtype=getattr(xp, dtype)).reshape(sizes)


@program(REVIEW, cases=no_cases, edges=[{}], examine=reviewing(CHANGES, 5))
def review_all(xp, **case):
    """The decisions, or the softmax of the tensor of a case."""
    if not case:
        return xp.reviews.review_softmax()
    x = tensor_of(xp, case["values"], case["sizes"], case["dtype"])
    return xp.aot.decompositions.softmax(x, case["dim"], False)


@review_all.oracle
def _(torch, values, sizes, dim, dtype):
    return torch.softmax(tensor_of(torch, values, sizes, dtype), dim)
