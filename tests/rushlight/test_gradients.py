"""On torch's own sample inputs gradients and graphs are torch's: the first samples here, all of them in bench/gradients.py."""

import sys
from pathlib import Path

import numpy as np
import pytest
import torch

import rushlight as rl
from rushlight.aten.generated import functions

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


OPERATORS = [  # of two tensors of one shape: name, the arguments behind them
    ("tanh_backward", ()),
    ("sigmoid_backward", ()),
    ("threshold_backward", (0.5,)),
    ("gelu_backward", {"approximate": "none"}),
    ("gelu_backward", {"approximate": "tanh"}),
    ("silu_backward", ()),
    ("leaky_relu_backward", (0.1, False)),
    ("leaky_relu_backward", (-0.1, True)),
    ("softplus_backward", (2.5, 1)),
    ("hardtanh_backward", (-0.5, 0.25)),
    ("elu_backward", (1.5, 1.2, 0.7, False)),
    ("elu_backward", (1.5, 1.2, 0.7, True)),
    ("elu_backward", (-1.0, 1.0, 1.0, True)),
    ("_softmax_backward_data", (1, "dtype")),
    ("_log_softmax_backward_data", (0, "dtype")),
]


def two_tensors(xp, dtype, layout, nan):
    random = np.random.default_rng(0)
    arrays = [(2 * random.standard_normal((3, 4))).astype(dtype) for _ in range(2)]
    arrays[1][0, :3] = 0.0, 0.25, nan
    tensors = [xp.from_numpy(array) for array in arrays]
    for place in layout:  # whose dimensions lie in memory the other way round
        tensors[place] = tensors[place].t().contiguous().t()
    return tensors


@pytest.mark.parametrize("layout", [(), (0,), (1,), (0, 1)])
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("operator, rest", OPERATORS)
def test_a_derivative_that_is_an_operator_gives_what_torch_gives(operator, rest, dtype, layout):
    outcomes = []
    for xp, namespace in (rl, functions), (torch, torch.ops.aten):
        nan = (
            0.0 if operator == "hardtanh_backward" else np.nan
        )  # torch's vectors and its single elements disagree on it
        grad, x = two_tensors(xp, dtype, layout, nan)
        named = rest if isinstance(rest, dict) else {}
        others = () if named else [getattr(xp, dtype) if each == "dtype" else each for each in rest]
        args = (grad, *others, x) if operator == "elu_backward" else (grad, x, *others)
        outcomes.append(gradients.attempt(lambda: getattr(namespace, operator)(*args, **named)))
    ours, theirs = outcomes
    if isinstance(theirs, Exception):
        assert type(ours) is type(theirs)
        return
    assert ours.stride() == theirs.stride()
    torch.testing.assert_close(torch.from_numpy(ours.numpy().copy()), theirs, equal_nan=True)
