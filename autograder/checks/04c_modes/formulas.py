"""Formulas of derivatives: the two factors of a matrix product, and `logsumexp`."""

from __future__ import annotations

from ...engine.check import program
from ..cases import drawn, rows
from ..shared_04 import plain

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
    factor, other = factors[number], factors[1 - number].requires_grad_()
    result = backward(grad.requires_grad_(), other, factor.shape, factor.stride(), alpha)
    return gradient_shown(result, grad, other)


def gradient_shown(result, grad, other):
    """The strides of an empty tensor, and of dimensions of size 1, matter to no kernel: they are not shown. The gradient may be
    differentiated again, by `grad` and by the other factor: its graph is read and not run, because it would run both pieces."""
    strides = [stride for size, stride in zip(result.shape, result.stride()) if size > 1 and result.numel()]
    leaves = [*leaves_of(result.grad_fn)]
    return plain(result), strides, [any(leaf is tensor for leaf in leaves) for tensor in (grad, other)]


def leaves_of(node):
    """The tensors in which a graph ends."""
    if node is not None:
        yield from [node.variable] if hasattr(node, "variable") else []
        for following, _ in node.next_functions:
            yield from leaves_of(following)


def torch_gradient(torch, number, n, k, m, mat1, mat2, grad, alpha):
    mat1, mat2, grad = product(torch, n, k, m, mat1, mat2, grad)
    result = torch.zeros((n, m), dtype=torch.float64).addmm(mat1.requires_grad_(), mat2.requires_grad_(), alpha=alpha)
    return gradient_shown(result.grad_fn(grad.requires_grad_())[1 + number], grad, (mat2, mat1)[number])


@program("autograd.derivatives.mm_backward_mat1", cases=products, edges=PRODUCTS)
def gradient_of_the_first_factor(xp, **case):
    return gradient_of_factor(xp, xp.derivatives.mm_backward_mat1, 0, **case)


@gradient_of_the_first_factor.oracle
def _(torch, **case):
    return torch_gradient(torch, 0, **case)


@program("autograd.derivatives.mm_backward_mat2", cases=products, edges=PRODUCTS)
def gradient_of_the_second_factor(xp, **case):
    return gradient_of_factor(xp, xp.derivatives.mm_backward_mat2, 1, **case)


@gradient_of_the_second_factor.oracle
def _(torch, **case):
    return torch_gradient(torch, 1, **case)
