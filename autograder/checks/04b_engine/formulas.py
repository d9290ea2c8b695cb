"""The sum of a gradient over broadcast dimensions."""

from __future__ import annotations

from functools import partial

from ...engine.check import program
from ..cases import drawing, explained, field, first_of, lists_too, sizes, tensor, when


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


def _is_no_sum(case, mine, theirs):
    """Whether the result has torch's sizes and dtype, and other elements."""
    result, real = (field(tree, "result") or {} for tree in (mine, theirs))
    if not {"tensor"} == result.keys() == real.keys():
        return False
    alike = (result["tensor"][name] == real["tensor"][name] for name in ("shape", "dtype"))
    return all(alike) and result["tensor"]["data"] != real["tensor"]["data"]


def _is_a_view(case, mine, theirs):
    """Whether the result has torch's sizes and elements, and other strides, where a dimension of size 1 leads."""
    result, real = (field(tree, "result") or {} for tree in (mine, theirs))
    if case["grad"]["tensor"]["sizes"][:1] != [1] or not {"tensor"} == result.keys() == real.keys():
        return False
    return result["tensor"] != real["tensor"] == result["tensor"] | {"stride": real["tensor"]["stride"]}


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
            ([1, 3], [6, 2], [3]), ([1, 2, 3], [6, 1, 2], [2, 3]), ([1, 1, 3], [6, 1, 2], [1, 3]),  # copied, not viewed
        )
    ],
    asked=[
        {"grad": tensor(to, strides, 0, "float64"), "sizes": shape, "recorded": recorded}
        for to, strides, shape, recorded in (
            ([3], None, [3], False), ([2, 3], None, [3], False), ([2, 3], None, [2, 1], False), ([2, 3], None, [], False),
            ([], None, [], False), ([1, 3], [6, 2], [3], False), ([4, 1, 3], None, [1, 1], False),
            ([2, 3], [1, 2], [2, 3], False), ([0, 3], None, [3], False), ([2, 3], None, [3], True),
        )
    ],
    hint=first_of(
        when(_is_no_sum, "each element is the sum over all its copies in `grad`"),
        when(_is_a_view, "a leading dimension of size 1 is summed, too: the result is new and contiguous, not a view of `grad`"),
        explained(
            result="a dimension that broadcasting put in front disappears; one that it stretched stays, with size 1",
            is_grad_itself="a gradient that has these sizes is returned itself. If `sizes` is empty, the result is new",
            grad_is_in_its_history="in a backward pass with create_graph, the sum is recorded: its history leads to `grad`",
        ),
    ),
)  # fmt: skip
def summed(xp, grad, sizes, recorded=False):
    grad.requires_grad_(recorded)
    result = lists_too(partial(xp.engine.sum_to, grad), sizes)
    return _shown(result, grad)


@summed.oracle
def _(torch, grad, sizes, recorded):
    grad.requires_grad_(recorded)
    return _shown(grad.sum_to_size(sizes), grad)


def _shown(result, grad):
    """The result, whether it is the gradient, and whether autograd has recorded how it was made of the gradient, a leaf."""
    waiting, leads = [result.grad_fn], False
    for node in waiting:
        leads = leads or getattr(node, "variable", None) is grad
        waiting += [following for following, _ in node.next_functions] if node else []
    return {"result": result.detach(), "is grad itself": result is grad, "grad is in its history": leads}
