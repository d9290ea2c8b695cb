"""Stacks, grids, masks, indices, norms and distances, where torch's sample inputs say nothing: errors, aliases, warnings."""

import warnings

import pytest
from both import agree
from sweep import in_one_test

NAN, INF = float("nan"), float("inf")


def x(xp):
    return xp.arange(12, dtype=xp.float32).view(3, 4)


def mask(xp):
    return x(xp) % 3 == 1


def rows(xp, *numbers):
    return xp.tensor(numbers)


def warned(function):
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        function()
    return [each.category.__name__ for each in seen]


def differentiated_product(xp, second, twice):
    src = xp.tensor([0.0, second], requires_grad=True)
    product = xp.ones(1).scatter_reduce(0, rows(xp, 0, 0), src, "prod")
    (grad,) = xp.autograd.grad(product.exp().sum(), src, create_graph=True)
    return xp.autograd.grad(grad.sum(), src)[0] if twice else grad.detach()


PROGRAMS = {
    "hstack of nothing": lambda xp: xp.hstack([]),
    "vstack of nothing": lambda xp: xp.vstack([]),
    "hstack of numbers": lambda xp: xp.hstack([xp.tensor(1), xp.tensor(2)]),
    "hstack, other sizes": lambda xp: xp.hstack([x(xp), xp.ones(2, 4)]),
    "vstack of vectors": lambda xp: xp.vstack((xp.ones(2), xp.zeros(2))),
    "hstack, out=": lambda xp: xp.hstack([xp.ones(2), xp.ones(1)], out=xp.empty(0)),
    "atleast_1d": lambda xp: list(xp.atleast_1d(xp.tensor(1), xp.ones(2))),
    "atleast_2d, a list": lambda xp: list(xp.atleast_2d([xp.tensor(1), xp.ones(2)])),
    "atleast_3d": lambda xp: xp.atleast_3d(xp.ones(2, 3)),
    "meshgrid": lambda xp: list(xp.meshgrid(xp.arange(2), xp.arange(3), indexing="xy")),
    "meshgrid of a list": lambda xp: list(xp.meshgrid([xp.arange(2), xp.tensor(3)], indexing="ij")),
    "meshgrid, warned": lambda xp: warned(lambda: xp.meshgrid(xp.arange(2), xp.arange(3)))[:1],
    "meshgrid, a wrong indexing": lambda xp: xp.meshgrid(xp.arange(2), indexing="yx"),
    "meshgrid of matrices": lambda xp: xp.meshgrid(xp.ones(2, 2), indexing="ij"),
    "meshgrid of several dtypes": lambda xp: xp.meshgrid(xp.ones(2), xp.arange(2), indexing="ij"),
    "meshgrid of nothing": lambda xp: xp.meshgrid(indexing="ij"),
    "meshgrid, a view": lambda xp: (lambda a: (xp.meshgrid(a, a, indexing="ij")[0][0].fill_(5), a))(xp.ones(2)),
    "repeat_interleave, its indices": lambda xp: xp.repeat_interleave(rows(xp, 1, 0, 2)),
    "repeat_interleave, negative": lambda xp: xp.repeat_interleave(rows(xp, 1, -1)),
    "repeat_interleave of floats": lambda xp: xp.repeat_interleave(xp.ones(2)),
    "repeat_interleave, another size": lambda xp: x(xp).repeat_interleave(rows(xp, 1, 2), dim=0),
    "repeat_interleave, a wrong output_size": lambda xp: x(xp).repeat_interleave(2, dim=0, output_size=5),
    "repeat_interleave, an output_size": lambda xp: x(xp).repeat_interleave(rows(xp, 1, 0, 2), 0, output_size=3),
    "repeat_interleave, no times": lambda xp: x(xp).repeat_interleave(0, 1),
    "nonzero": lambda xp: (x(xp).nonzero(), list(x(xp).nonzero(as_tuple=True)), list(xp.where(mask(xp)))),
    "nonzero of numbers": lambda xp: (
        xp.tensor(3).nonzero(),
        xp.tensor(0).nonzero(),
        list(xp.nonzero(xp.tensor(3), as_tuple=True)),
    ),
    "nonzero of NaN": lambda xp: xp.tensor([NAN, -0.0, INF]).nonzero(),
    "nonzero, a wrong out": lambda xp: xp.nonzero(x(xp), out=xp.empty(0)),
    "nonzero of a leaf": lambda xp: x(xp).requires_grad_().nonzero().requires_grad,
    "masked_select, broadcast": lambda xp: x(xp).masked_select(rows(xp, 1, 0, 0, 1).bool()),
    "masked_select, another dtype": lambda xp: x(xp).masked_select(rows(xp, 1, 0, 0, 1)),
    "masked_select, other sizes": lambda xp: x(xp).masked_select(rows(xp, 1, 0).bool()),
    "masked_scatter": lambda xp: x(xp).masked_scatter(mask(xp), -xp.arange(9.0)),
    "masked_scatter_, too few": lambda xp: x(xp).masked_scatter_(mask(xp), xp.ones(2)),
    "masked_scatter_, another dtype": lambda xp: x(xp).masked_scatter_(mask(xp), rows(xp, 1, 2, 3, 4)),
    "masked_scatter_, expanded": lambda xp: xp.ones(1).expand(4).masked_scatter_(xp.ones(4).bool(), xp.ones(4)),
    "index_copy": lambda xp: x(xp).index_copy(0, rows(xp, 2, 0), -x(xp)[:2]),
    "index_copy_, out of range": lambda xp: x(xp).index_copy_(0, rows(xp, 3), x(xp)[:1]),
    "index_copy_, negative": lambda xp: x(xp).index_copy_(0, rows(xp, -1), x(xp)[:1]),
    "index_copy_, another count": lambda xp: x(xp).index_copy_(0, rows(xp, 0, 1), x(xp)[:1]),
    "index_copy_, other slices": lambda xp: x(xp).index_copy_(0, rows(xp, 0), xp.ones(1, 3)),
    "index_copy_, another dtype": lambda xp: x(xp).index_copy_(0, rows(xp, 0), x(xp)[:1].double()),
    "index_copy_, a wrong index": lambda xp: x(xp).index_copy_(0, xp.ones(1), x(xp)[:1]),
    "index_fill, negative": lambda xp: x(xp).index_fill(0, rows(xp, -1), 5),
    "index_fill_, a tensor": lambda xp: x(xp).index_fill_(1, rows(xp, 0, 2), xp.tensor(7.0)),
    "index_fill_, a vector": lambda xp: x(xp).index_fill_(1, rows(xp, 0, 2), xp.ones(2)),
    "index_fill_, out of range": lambda xp: x(xp).index_fill_(1, rows(xp, 4), 5),
    "index_fill_, a wrong index": lambda xp: x(xp).index_fill_(1, xp.ones(1), 5),
    "index_fill_, too many dimensions": lambda xp: x(xp).index_fill_(1, xp.zeros(1, 1).long(), 5),
    "scatter_reduce, mean of integers": lambda xp: rows(xp, 7, -7).scatter_reduce(
        0, rows(xp, 0, 1, 1), rows(xp, 2, 2, 3), "mean"
    ),
    "scatter_reduce, without self": lambda xp: [
        rows(xp, 7, -7, 1).scatter_reduce(0, rows(xp, 0, 1, 1), rows(xp, 2, 2, 3), reduce, include_self=False)
        for reduce in ("sum", "prod", "mean", "amax", "amin")
    ],
    "scatter_reduce, a wrong name": lambda xp: rows(xp, 1).scatter_reduce(0, rows(xp, 0), rows(xp, 2), "add"),
    "scatter_reduce, out of range": lambda xp: rows(xp, 1).scatter_reduce(0, rows(xp, 1), rows(xp, 2), "sum"),
    "scatter_reduce, zeros differentiated": lambda xp: differentiated_product(xp, 0.0, twice=False),
    "scatter_reduce, one zero differentiated twice": lambda xp: differentiated_product(xp, 2.0, twice=True),
    "scatter_reduce, two zeros differentiated twice": lambda xp: differentiated_product(xp, 0.0, twice=True),
    "eye": lambda xp: (xp.eye(2), xp.eye(2, 3, dtype=xp.bool), xp.eye(2, requires_grad=True).requires_grad),
    "eye, negative": lambda xp: xp.eye(-1),
    "linspace": lambda xp: (xp.linspace(0, 1, 5), xp.linspace(3, 4, 1), xp.linspace(0, 10, 4, dtype=xp.int64)),
    "linspace of none": lambda xp: xp.linspace(0, 1, 0),
    "linspace, negative": lambda xp: xp.linspace(0, 1, -1),
    "linspace of tensors": lambda xp: xp.linspace(xp.tensor(0.0), 1, steps=3),
    "linspace of vectors": lambda xp: xp.linspace(xp.ones(2), 1, 3),
    "isclose": lambda xp: xp.isclose(xp.tensor([1.0, INF, NAN, -INF]), xp.tensor([1.000001, INF, NAN, INF])),
    "isclose, NaN": lambda xp: xp.isclose(xp.tensor([NAN]), xp.tensor([NAN]), equal_nan=True),
    "isclose of several dtypes": lambda xp: xp.isclose(xp.ones(2), xp.ones(2).double()),
    "isclose, negative": lambda xp: xp.isclose(xp.ones(2), xp.ones(2), rtol=-1),
    "isclose of integers": lambda xp: xp.isclose(rows(xp, 1, 100), rows(xp, 2, 101), rtol=0.1),
    "allclose": lambda xp: (xp.allclose(x(xp), x(xp) + 1e-7), x(xp).allclose(x(xp) + 1)),
    "norm": lambda xp: [x(xp).norm(p).sqrt().round(decimals=4) for p in (None, 0, 1, 2, 3.5, INF, -INF, "fro")],
    "norm along dimensions": lambda xp: (xp.norm(x(xp), 2, 1), xp.norm(x(xp), dim=(0, 1), keepdim=True)),
    "norm, half": lambda xp: (xp.ones(1000).half() * 10).norm(),
    "norm, another dtype": lambda xp: x(xp).norm(dtype=xp.float64).dtype,
    "norm, a narrower dtype": lambda xp: x(xp).double().norm(dtype=xp.float32),
    "norm of integers": lambda xp: rows(xp, 1, 2).norm(),
    "norm of nothing": lambda xp: (xp.empty(0).norm(), xp.empty(2, 0).norm(dim=1)),
    "norm of nothing, largest": lambda xp: xp.empty(0).norm(INF),
    "norm, an unknown name": lambda xp: x(xp).norm("max"),
    "matrix norms": lambda xp: [xp.linalg.norm(x(xp), p) for p in ("fro", 1, -1, INF, -INF)],
    "linalg.vector_norm": lambda xp: xp.linalg.vector_norm(x(xp), 3, (0, 1), keepdim=True),
    "linalg.norm of a cube": lambda xp: xp.linalg.norm(xp.ones(2, 2, 2), 2),
    "var_mean": lambda xp: [each.round(decimals=4) for each in xp.var_mean(x(xp), 1, correction=2)],
    "std_mean of integers": lambda xp: xp.std_mean(rows(xp, 1, 2)),
}


@in_one_test
@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)
def test_arranging_selecting_and_measuring_are_torchs(program):
    agree(program)
