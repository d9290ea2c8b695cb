"""The sum of a gradient over broadcast dimensions."""

from __future__ import annotations

from functools import partial

from ...engine.check import program
from ..cases import drawing, explained, lists_too, sizes, tensor


@drawing
def sums(draw, st):
    to = draw(sizes(st, (1, 4)))
    new = draw(st.integers(0, len(to)))
    shape = [1 if draw(st.integers(0, 2)) == 0 else size for size in to[new:]]
    order = draw(st.permutations(range(len(to))))
    strides, step = [0] * len(to), 1
    for d in order:
        strides[d] = step if draw(st.integers(0, 5)) else 0
        step *= max(to[d], 1)
    return {
        "grad": tensor(to, strides, draw(st.integers(0, 2)), "float64"),
        "sizes": shape,
        "recorded": draw(st.booleans()),
    }


@program(
    "autograd.engine.sum_to",
    cases=sums,
    edges=[
        {"grad": tensor(to, strides, 0, "float64"), "sizes": shape, "recorded": recorded}
        for recorded in (False, True)
        for to, strides, shape in (
            ([3], None, [3]), ([2, 3], None, [2, 3]), ([2, 3], None, [3]), ([2, 3], None, [2, 1]),
            ([2, 3], None, [1, 3]), ([2, 3], None, [1]), ([2, 3], None, []), ([2, 3], None, [1, 1]),
            ([1, 3], None, [3]), ([1, 1], None, [1]), ([32, 6], None, [6]), ([4, 1, 3], None, [1, 1]),
            ([4, 2, 3], [1, 12, 4], [3]), ([4, 2, 3], [1, 12, 4], [2, 1]), ([4, 2, 3], [0, 0, 1], [2, 3]),
            ([4, 5, 2, 3], None, [2, 3]), ([4, 5, 2, 3], None, [5, 1, 3]), ([0, 3], None, [3]), ([2, 0], None, [2, 1]),
            ([2, 0], None, [0]), ([0], None, [1]), ([2, 3], [1, 2], [2, 3]), ([1], [0], [1]), ([2, 1], [5, 4], [2, 1]),
            ([4, 1, 3], None, [1, 3]), ([], None, []),
        )
    ],
    hint=explained(
        result="a dimension that broadcasting put in front disappears; one that it stretched stays, with size 1",
        is_the_argument_itself="a gradient that has these sizes is returned itself. If `sizes` is empty, the result is new",
        leads_to_the_gradient="in a backward pass with create_graph, the sum is recorded: its history leads to `grad`",
    ),
)  # fmt: skip
def summed(xp, grad, sizes, recorded):
    grad.requires_grad_(recorded)
    result = lists_too(partial(xp.engine.sum_to, grad), sizes)
    return _shown(result, grad)


@summed.oracle
def _(torch, grad, sizes, recorded):
    grad.requires_grad_(recorded)
    return _shown(grad.sum_to_size(sizes), grad)


def _shown(result, grad):
    """The result, and whether its history leads to the gradient: a leaf, or the gradient itself."""
    waiting, leads = [result.grad_fn], result is grad
    for node in waiting:
        leads = leads or getattr(node, "variable", None) is grad
        waiting += [following for following, _ in node.next_functions] if node else []
    return {"result": result.detach(), "is the argument itself": result is grad, "leads to the gradient": leads}
