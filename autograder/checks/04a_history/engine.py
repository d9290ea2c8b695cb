"""The gradient of a written view."""

from __future__ import annotations

from ...engine.check import program
from .. import shared_04
from ..cases import drawn, explained, several
from ..listing import Listing, expression
from ..shared_04 import VIEWS, dense, plain

# A write to a view ---------------------------------------------------------------------------------------------------


FORMULAS = {  # from the gradient of the written values to those of the old values and of another operand
    "same": lambda grad: (grad, None), "double": lambda grad: (grad * 2, grad), "tensor": lambda grad: grad * 3,
    "drop": lambda grad: (None, grad), "zeros": lambda grad: (grad * 0, grad * 2),
    "both": lambda grad: (grad * grad, grad * grad), "list": lambda grad: [grad * 2, grad * 3],
    "and None at the end": lambda grad: (grad * 2, grad * 3, None),
}  # fmt: skip
SOME_VIEWS = ["t", "first", "slice", "unsqueeze", "view"]


def base_of(xp, layout, shape, offset):
    """A base of zeros, which may begin inside a storage."""
    count = 2 * xp.ones(shape).numel()
    strides = [1, shape[0]] if layout == "columns" and len(shape) == 2 else xp.ones(shape).stride()
    strides = [2 * stride for stride in strides] if layout == "gaps" else strides
    return xp.zeros(offset + count, dtype=xp.float64).as_strided(shape, strides, offset).detach()


def follow(xp, x, views):
    for name in views:
        x = VIEWS[name](xp, x)
    return x


def as_code(torch, layout, shape, views, formula, history, offset):
    """A case as code: the base, the view that is written to, and the arguments of `copy_slices`."""
    page, base = Listing(torch, shared_04.__name__), base_of(torch, layout, shape, offset)
    zeros = f"torch.zeros({shape}, dtype=torch.float64)"
    if offset or base.stride() != torch.ones(shape).stride():
        storage = offset + 2 * base.numel()
        zeros = f"torch.zeros({storage}, dtype=torch.float64).as_strided({shape}, {[*base.stride()]}, {offset})"
    page.add(zeros, base)
    for name in views:
        page.add(page.operation(name, -1, -1), VIEWS[name](torch, page.values[-1]))
    part = page.name(-1)
    page.lines += [
        f"grad = torch.arange({base.numel()}, dtype=torch.float64).reshape({shape}) + 1",
        *["grad = grad * torch.inf"] * (layout == "infinite"),
        *[f"grad = {zeros}.copy_(grad)"] * (layout == "gaps" or offset > 0),
        *["grad.requires_grad_()"] * history,
        f"function = lambda grad: {expression(__name__, 'FORMULAS', formula)}",
        "of_base = a.shape, a.stride(), a.storage_offset()",
        f"of_view = {part}.shape, {part}.stride(), {part}.storage_offset() - a.storage_offset()",
        "copy_slices(function, grad, of_base, of_view)",
    ]
    return page.text()


@program(
    "autograd.history.copy_slices",
    show=as_code,
    cases=drawn(
        layout=["rows", "columns", "gaps", "infinite"], shape=[[3, 3], [3, 3], [2, 4], [3], [1, 3], []],
        views=several(SOME_VIEWS, 1, 3),
        formula=list(FORMULAS), history=bool, offset=[0, 0, 1, 4],
    ),
    edges=[
        {"layout": layout, "shape": [3, 3], "views": views, "formula": formula, "history": history, "offset": 0}
        for formula in FORMULAS
        for layout, views, history in (
            ("rows", ["first"], True), ("columns", ["slice", "t"], False), ("rows", ["t", "slice"], False),
            ("gaps", ["slice"], True), ("infinite", ["slice"], False),
        )
    ]
    + [
        {"layout": "rows", "shape": shape, "views": views, "formula": "double", "history": True, "offset": offset}
        for shape, views, offset in (
            ([3], ["view"], 0), ([], ["unsqueeze"], 0), ([2, 4], ["t", "first", "slice"], 0),
            ([2, 4], ["slice", "first"], 0), ([2, 4], ["t"], 0), ([3], ["slice"], 2), ([3, 3], ["first"], 3),
            ([3, 3], ["slice", "first"], 4),
        )
    ],
    hint=explained(
        of_the_base="the overwritten elements get the operator's gradient, all others the gradient that arrived",
        strides="the gradient of the base has the strides of the base",
        of_the_other="`function` gets the gradient of the written region. What it returns for the others is passed on as it is",
        **{"the_other's_is_contiguous": "`function` gets a contiguous copy, and its other results are passed on as they are"},
        share_memory_with_grad="the gradient that arrived belongs to other code: `function` and the base get other memory",
        differentiated_again="every step is an operator that autograd can record",
        grad_afterwards="the gradient that arrived does not change",
    ),
)  # fmt: skip
def through_a_write(xp, layout, shape, views, formula, history, offset):
    base = base_of(xp, layout, shape, offset)
    part = follow(xp, base, views)
    grad = gradient_of_base(xp, base, layout, history, offset)
    of_base = base.shape, base.stride(), base.storage_offset()
    of_view = part.shape, part.stride(), part.storage_offset() - base.storage_offset()
    returned = []

    def function(grad):
        returned.append(FORMULAS[formula](grad))
        return returned[0]

    gradients = xp.history.copy_slices(function, grad, of_base, of_view)
    others = [] if isinstance(returned[0], xp.Tensor) else returned[0][1:]
    assert all(mine is other for mine, other in zip(gradients[1:], others, strict=True)), (
        "another gradient is not as returned"
    )
    return gradients_of_a_write(xp, gradients, grad)


def gradient_of_base(xp, base, layout, history, offset):
    grad = xp.arange(base.numel(), dtype=xp.float64).reshape(base.shape).add(1)
    grad = grad.mul(float("inf")) if layout == "infinite" else grad
    grad = base_of(xp, layout, base.shape, offset).copy_(grad) if layout == "gaps" or offset else grad
    return grad.requires_grad_(history)


def gradients_of_a_write(xp, found, grad):
    found = [*found, None][:2]
    twice = [x for x in found if x is not None and x.requires_grad]
    second = xp.autograd.grad(twice, grad, [xp.ones_like(x) for x in twice]) if twice else []
    return {
        "strides": found[0] is not None and found[0].stride(),
        "of the other": plain(found[1]),
        "the other's is contiguous": found[1] is not None and found[1].is_contiguous(),
        "of the base": dense(found[0]),
        "share memory with grad": [None if x is None else x.data_ptr() == grad.data_ptr() for x in found],
        "grad afterwards": plain(grad),
        "differentiated again": [*map(plain, second)],
    }


@through_a_write.oracle
def _(torch, layout, shape, views, formula, history, offset):
    class Write(torch.autograd.Function):
        """A write with this formula."""

        @staticmethod
        def forward(ctx, x, y):
            ctx.mark_dirty(x)
            return x.fill_(1)

        @staticmethod
        def backward(ctx, grad):
            found = FORMULAS[formula](grad)
            found = (found, None) if isinstance(found, torch.Tensor) else tuple(found)
            return found[0], *(None if other is None else other.clone() for other in found[1:])

    before, base = torch.zeros(shape, dtype=torch.float64).requires_grad_(), base_of(torch, layout, shape, offset)
    base.copy_(before)
    other = torch.zeros_like(follow(torch, base.detach(), views)).requires_grad_()
    Write.apply(follow(torch, base, views), other)
    grad = gradient_of_base(torch, base, layout, history, offset)
    found = torch.autograd.grad(base, [before, other], grad, create_graph=True, allow_unused=True)
    return gradients_of_a_write(torch, found, grad)
