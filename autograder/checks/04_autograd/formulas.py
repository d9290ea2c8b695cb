"""Formulas of derivatives: sums over broadcast dimensions, the two factors of a matrix product, and `logsumexp`."""

from __future__ import annotations

from functools import partial

from ...engine.check import program
from ..cases import drawing, drawn, explained, lists_too, rows, sizes, tensor
from .graphs import plain


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
    return {"grad": tensor(to, strides, draw(st.integers(0, 2)), "float64"), "sizes": shape}


@program(
    "engine.sum_to",
    cases=sums,
    edges=[
        {"grad": tensor(to, strides, 0, "float64"), "sizes": shape}
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
    ),
)  # fmt: skip
def summed(xp, grad, sizes):
    result = lists_too(partial(xp.engine.sum_to, grad), sizes)
    return {"result": result, "is the argument itself": result is grad}


@summed.oracle
def _(torch, grad, sizes):
    result = grad.sum_to_size(sizes)
    return {"result": result, "is the argument itself": result is grad}


LAYOUTS = [
    "rows", "columns", "rows with gaps", "columns with gaps", "columns apart", "one row", "one row apart", "one column",
]  # fmt: skip


def strided_matrix(xp, rows, columns, layout, first):
    """A matrix with the values first, first + 1/4, ... row by row, in one of the layouts, or with one number everywhere."""
    if layout == "one number":
        return (xp.ones((), dtype=xp.float64) * first).expand(rows, columns)
    if layout.startswith("one "):
        values = xp.arange(max(rows * columns, 1), dtype=xp.float64) + first
        strides = {"one row": (0, 1), "one row apart": (0, rows), "one column": (1, 0)}[layout]
        return values.as_strided((rows, columns), strides)
    gap = 2 if layout.endswith("gaps") else 1
    strides = (columns * gap, gap) if layout.startswith("rows") else (gap, rows * gap)
    strides = (1, rows + 2) if layout == "columns apart" else strides
    values = xp.zeros((rows + 2) * (columns + 2) * gap, dtype=xp.float64).as_strided((rows, columns), strides)
    return values.copy_(xp.arange(rows * columns, dtype=xp.float64).reshape(rows, columns) * 0.25 + first)


products = drawn(
    n=(0, 4), k=(1, 4), m=(0, 4), mat1=LAYOUTS, mat2=LAYOUTS, grad=[*LAYOUTS, "one number"], alpha=[1, 1, 2, -0.5, 0]
)
PRODUCTS = rows(
    "n k m mat1 mat2 grad alpha",
    (2, 3, 4, "rows", "rows", "rows", 1), (2, 3, 4, "columns", "columns", "rows", 1),
    (2, 3, 4, "rows", "columns", "rows", 1), (2, 3, 4, "columns", "rows", "columns", 1),
    (2, 3, 4, "rows", "rows", "columns", 2), (2, 3, 4, "columns", "columns", "rows", -0.5),
    (2, 3, 4, "rows with gaps", "rows with gaps", "rows", 1),
    (2, 3, 4, "columns with gaps", "columns with gaps", "rows with gaps", 1), (3, 3, 3, "rows", "rows", "rows", 0),
    (3, 3, 3, "columns", "columns", "rows", 0), (2, 1, 3, "rows", "rows", "rows", 1),
    (2, 1, 3, "columns", "columns", "rows", 1), (1, 3, 1, "rows", "rows", "rows", 1),
    (1, 3, 1, "columns", "columns", "rows", 1), (1, 1, 1, "rows", "rows", "rows", 1),
    (1, 3, 2, "rows with gaps", "columns with gaps", "rows", 1), (0, 3, 2, "rows", "columns", "rows", 1),
    (2, 3, 0, "columns", "rows", "rows", 1), (2, 3, 4, "rows", "columns", "one number", 1),
    (2, 3, 4, "columns", "rows", "one number", 2), (2, 3, 4, "columns apart", "columns apart", "rows", 1),
    (1, 3, 4, "one row", "rows", "rows", 1), (2, 1, 4, "rows", "one row", "rows", 1),
    (2, 3, 4, "one row", "one row", "rows", 1), (2, 3, 4, "one row apart", "one row apart", "rows", 1),
    (2, 3, 4, "one column", "one column", "rows", 1), (3, 2, 4, "rows with gaps", "rows with gaps", "rows", 1),
    (8, 64, 600, "rows", "columns", "rows", 1),
    (300, 2, 2, "columns", "rows", "rows", 1), (2, 300, 2, "rows", "columns", "rows", 1),
    # the factor's gradient has the numbers of `grad`
    (1, 1, 1, "rows", "rows", "rows", 2), (1, 1, 1, "rows", "rows", "rows", -1),
    (2, 1, 1, "rows", "rows", "rows", 2), (1, 1, 2, "rows", "rows", "rows", -1),
)  # fmt: skip


def product(xp, n, k, m, mat1, mat2, grad):
    """The factors of a product of n × k by k × m, and the gradient of the result."""
    return strided_matrix(xp, n, k, mat1, -1), strided_matrix(xp, k, m, mat2, 0.5), strided_matrix(xp, n, m, grad, -0.5)


def gradient_of_factor(xp, backward, number, n, k, m, mat1, mat2, grad, alpha):
    """The gradient of factor 0 or 1, by the student's function `backward`. It gets the other factor."""
    *factors, grad = product(xp, n, k, m, mat1, mat2, grad)
    factor = factors[number]
    result = backward(grad.requires_grad_(), factors[1 - number], factor.shape, factor.stride(), alpha)
    return gradient_shown(result)


def gradient_shown(result):
    """The strides of an empty tensor, and of dimensions of size 1, matter to no kernel: they are not shown."""
    strides = [stride for size, stride in zip(result.shape, result.stride()) if size > 1 and result.numel()]
    return plain(result), strides, result.grad_fn is not None


def torch_gradient(torch, number, n, k, m, mat1, mat2, grad, alpha):
    mat1, mat2, grad = product(torch, n, k, m, mat1, mat2, grad)
    result = torch.zeros((n, m), dtype=torch.float64).addmm(mat1.requires_grad_(), mat2.requires_grad_(), alpha=alpha)
    return gradient_shown(result.grad_fn(grad.requires_grad_())[1 + number])


@program("derivatives.mm_backward_mat1", cases=products, edges=PRODUCTS)
def gradient_of_the_first_factor(xp, **case):
    return gradient_of_factor(xp, xp.derivatives.mm_backward_mat1, 0, **case)


@gradient_of_the_first_factor.oracle
def _(torch, **case):
    return torch_gradient(torch, 0, **case)


@program("derivatives.mm_backward_mat2", cases=products, edges=PRODUCTS)
def gradient_of_the_second_factor(xp, **case):
    return gradient_of_factor(xp, xp.derivatives.mm_backward_mat2, 1, **case)


@gradient_of_the_second_factor.oracle
def _(torch, **case):
    return torch_gradient(torch, 1, **case)
