"""`gradcheck` accepts what torch's accepts, and names the same defect."""

import re
from itertools import count

import pytest
import torch
from both import agree
from sweep import in_one_test

import rushlight as rl


def function(xp, forward, backward, materialize=True):
    def run(ctx, x):
        ctx.set_materialize_grads(materialize)
        return forward(x)

    return type("F", (xp.autograd.Function,), {"forward": staticmethod(run), "backward": staticmethod(backward)}).apply


def twice(xp, backward, materialize=True):
    return function(xp, lambda x: x * 2, backward, materialize)


def growing(step, function):
    """The function, with a last argument that grows by `step` with each call."""
    calls = count(1)
    return lambda *args: function(*args, 1 + step * next(calls))


def sum_of(*pairs):
    return sum(factor * grad for factor, grad in pairs if grad is not None)


FUNCTIONS = {
    "right": lambda xp: lambda x: x * x,
    "a detached factor": lambda xp: lambda x: x * x.detach(),
    "a detached output": lambda xp: lambda x: (x * x, (x * 3).detach()),
    "only a detached output": lambda xp: lambda x: (x * 3).detach(),
    "a constant": lambda xp: lambda x: (x * 0).detach(),
    "an integer": lambda xp: lambda x: x.argmax(),
    "another forward each time": lambda xp: growing(1, lambda x, factor: x * factor),
    "another backward each time": lambda xp: twice(xp, growing(1e-6, lambda ctx, g, factor: g * 2 * factor)),
    "no gradient for none": lambda xp: twice(xp, lambda ctx, g: g if g is None else g * 2, False),
    "an error for none": lambda xp: twice(xp, lambda ctx, g: defined(g) * 2, False),
    "ones for none": lambda xp: twice(xp, lambda ctx, g: xp.ones(2).double() if g is None else g * 2, False),
    "two outputs": lambda xp: function(xp, lambda x: (x * 2, x * 3), lambda ctx, g, h: sum_of((2, g), (3, h)), False),
    "two outputs that need each other": lambda xp: function(
        xp, lambda x: (x * 2, x * 3), lambda ctx, g, h: defined(g) * 2 + sum_of((3, h)), False
    ),
    "a shift in backward": lambda xp: twice(xp, lambda ctx, g: g * 2 + 1e-7),
    "a missing gradient": lambda xp: twice(xp, lambda ctx, g: None),
    "a wrong gradient": lambda xp: twice(xp, lambda ctx, g: g * 3),
}


def defined(grad):
    if grad is None:
        raise RuntimeError("no gradient")
    return grad


def verdict(xp, name, **options):
    """The answer, or the kind of the error and its beginning."""
    x = xp.tensor([1.0, 2.0], dtype=xp.float64).requires_grad_()
    try:
        return xp.autograd.gradcheck(FUNCTIONS[name](xp), (x,), **options)
    except RuntimeError as error:
        return type(error).__name__, re.split("[.,:]| although", str(error))[0]


@in_one_test
@pytest.mark.parametrize("name", FUNCTIONS)
def test_gradcheck_says_what_torch_says(name):
    agree(verdict, name)
    for options in ({"raise_exception": False}, {"nondet_tol": 1e-3}, {"check_undefined_grad": False}):
        assert verdict(rl, name, **options) == verdict(torch, name, **options), options


@pytest.mark.parametrize("xp", [rl, torch])
def test_inputs_that_cannot_be_checked_are_refused(xp):
    with pytest.raises(RuntimeError, match="The 0th input has a dimension with stride 0"):
        xp.autograd.gradcheck(lambda x: x * 2, xp.ones(1, dtype=xp.float64).expand(2).requires_grad_())
    with pytest.raises(ValueError, match="at least one input tensor"):
        xp.autograd.gradcheck(lambda x: x * 2, xp.ones(2))
    with pytest.warns(UserWarning, match="Input #1 requires gradient"):
        xp.autograd.gradcheck(lambda n, x: x * n, (2, xp.ones(2).requires_grad_()), raise_exception=False)
