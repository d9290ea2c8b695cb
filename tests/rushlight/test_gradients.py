"""On torch's own sample inputs gradients and graphs are torch's: the first samples here, all of them in bench/gradients.py."""

import sys
from pathlib import Path

import pytest
import torch

import rushlight as rl

sys.path.append(str(Path(__file__).parents[2] / "bench"))  # behind tests/, where a name may be the same
import gradients  # noqa: E402

COUNT = 5  # samples of each entry
NAMES = [name for name in gradients.compared_names() if name not in gradients.APART]


@pytest.mark.parametrize("name", NAMES)
def test_gradients_first_and_second_and_their_graphs_agree_with_torch(name):
    tally = gradients.gradients(name, COUNT)
    differ = tally.differ + tally.graphs_differ
    assert not differ, "\n".join(differ)


@pytest.mark.parametrize("name", [name for name in NAMES if name not in gradients.BY_CHANCE])
def test_gradcheck_and_gradgradcheck_say_what_torch_says(name):
    for check, (ours, theirs) in gradients.gradchecks(name, at_most=30).items():
        assert ours == theirs, check


@pytest.mark.parametrize("xp", [rl, torch])
def test_gradgradcheck_finds_a_second_derivative_that_is_wrong(xp):
    class Cube(xp.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x**3

        @staticmethod
        def backward(ctx, grad):
            (x,) = ctx.saved_tensors
            return grad * 3 * x.detach() ** 2

    x = xp.rand(3, dtype=xp.float64).requires_grad_()
    assert xp.autograd.gradcheck(Cube.apply, x)
    with pytest.raises(RuntimeError, match="Jacobian mismatch"):
        xp.autograd.gradgradcheck(Cube.apply, x)
    assert not xp.autograd.gradgradcheck(Cube.apply, x, raise_exception=False)
    assert xp.autograd.gradgradcheck(lambda x: x**3, x, xp.ones(3, dtype=xp.float64))
