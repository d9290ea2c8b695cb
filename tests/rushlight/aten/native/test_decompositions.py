"""Determinants, solutions, Cholesky's factors and covariances agree with torch: values, strides, gradients, errors."""

import math

import numpy as np
import pytest
import torch
from both import agree
from sweep import in_one_test

import rushlight as rl


def matrices(xp, *batch):
    x = xp.arange(math.prod(batch) * 9, dtype=xp.float64).view(*batch, 3, 3).sin()
    return x @ x.mT + 2 * xp.eye(3, dtype=xp.float64)


def ones(xp, *sizes):
    return xp.ones(sizes, dtype=xp.float64)


def told(xp, program):
    try:
        result = program(xp)
    except RuntimeError as error:
        return type(error).__name__, str(error)
    return result.round(decimals=4), result.stride()


PROGRAMS = {
    "det": lambda xp: xp.linalg.det(matrices(xp, 2)),
    "det of no rows": lambda xp: xp.det(xp.ones(0, 0)),
    "det of integers": lambda xp: xp.det(xp.ones(2, 2, dtype=xp.int32)),
    "det of a vector": lambda xp: xp.det(xp.ones(3)),
    "det that is not square": lambda xp: xp.ones(2, 3).det(),
    "solve for a vector": lambda xp: xp.linalg.solve(matrices(xp), ones(xp, 3)),
    "solve for vectors": lambda xp: xp.linalg.solve(matrices(xp, 2), ones(xp, 2, 3)),
    "solve for a matrix": lambda xp: xp.linalg.solve(matrices(xp, 2), ones(xp, 3, 5)),
    "solve from the right": lambda xp: xp.linalg.solve(matrices(xp, 2), ones(xp, 5, 3), left=False),
    "solve for nothing": lambda xp: xp.linalg.solve(xp.ones(3, 0, 0), xp.ones(3, 0, 2)),
    "solve a singular one": lambda xp: xp.linalg.solve(xp.zeros(2, 2), xp.ones(2)),
    "solve other sizes": lambda xp: xp.linalg.solve(xp.eye(2), xp.ones(3)),
    "solve other sizes from the right": lambda xp: xp.linalg.solve(xp.eye(2), xp.ones(3, 3), left=False),
    "cholesky": lambda xp: xp.linalg.cholesky(matrices(xp, 2)),
    "cholesky, upper": lambda xp: xp.linalg.cholesky(matrices(xp), upper=True),
    "cholesky of a negative one": lambda xp: xp.linalg.cholesky(-xp.eye(2)),
    "cholesky of a second one": lambda xp: xp.linalg.cholesky(xp.stack([xp.eye(3), -xp.eye(3)])),
    "cholesky of a second minor": lambda xp: xp.linalg.cholesky(xp.tensor([[1.0, 2.0], [2.0, 1.0]])),
    "cov": lambda xp: xp.cov(matrices(xp)),
    "cov of a vector": lambda xp: xp.cov(matrices(xp)[0], correction=0),
    "cov with weights": lambda xp: xp.cov(matrices(xp), fweights=xp.tensor([1, 2, 3]), aweights=ones(xp, 3) / 3),
    "cov of a batch": lambda xp: xp.cov(matrices(xp, 2)),
    "corrcoef": lambda xp: xp.corrcoef(matrices(xp)),
    "corrcoef of a vector": lambda xp: xp.corrcoef(matrices(xp)[0]),
}


@in_one_test
@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)
def test_a_result_is_torchs(program):
    agree(lambda xp: told(xp, program))


DERIVED = {
    "det": (lambda xp, a: xp.linalg.det(a), (2, 3, 3)),
    "solve, matrices": (lambda xp, a, b: xp.linalg.solve(a, b), (2, 3, 3), (3, 2)),
    "solve, vectors": (lambda xp, a, b: xp.linalg.solve(a, b), (2, 3, 3), (2, 3)),
    "solve from the right": (lambda xp, a, b: xp.linalg.solve(a, b, left=False), (2, 3, 3), (2, 4, 3)),
    "cholesky": (lambda xp, a: xp.linalg.cholesky(a), (2, 3, 3)),
    "cholesky, upper": (lambda xp, a: xp.linalg.cholesky(a, upper=True), (3, 3)),
    "corrcoef": (lambda xp, a: xp.corrcoef(a), (3, 3)),
}


@pytest.mark.parametrize(("function", "first", "others"), [(f, a, b) for f, a, *b in DERIVED.values()], ids=DERIVED)
def test_two_derivatives_are_torchs(function, first, others):
    def grads(xp):
        given = [matrices(xp, *first[:-2]), *(ones(xp, *sizes) for sizes in others)]
        for x in given:
            x.requires_grad_()
        y = function(xp, *given)
        (grad,) = xp.autograd.grad((y * y.detach().cos()).sum(), given[:1], create_graph=True)
        (grad * grad).sum().backward()
        return [*(x.grad.tolist() for x in given), grad.tolist()]

    for mine, theirs in zip(grads(rl), grads(torch), strict=True):
        np.testing.assert_allclose(mine, theirs, 1e-8, 1e-10)


def test_a_singular_matrix_has_no_gradient_of_its_determinant():
    def grad(xp):
        a = xp.tensor([[1.0, 2.0], [2.0, 4.0]], requires_grad=True)
        a.det().backward()
        return a.grad.abs()

    agree(grad)
