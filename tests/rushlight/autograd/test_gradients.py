"""On torch's own sample inputs gradients and graphs are torch's: the first samples here, all of them in bench/gradients.py.

`make test` takes one operator in 30.
"""

import numpy as np
import pytest
import torch
from sweep import hold_each, in_one_test, sweep

import rushlight as rl
from bench import gradients
from rushlight.aten.generated import functions

COUNT = 5  # samples of each entry
PARTS = 30  # of the operators, of which `make test` takes the first


def names(apart):
    return [(name, name) for name in gradients.compared_names() if name not in apart]


@pytest.mark.usefixtures("database")
@pytest.mark.parametrize("part", sweep(range(PARTS), every=PARTS))
def test_gradients_first_and_second_and_their_graphs_agree_with_torch(part, seeded):
    def hold(name):
        tally = gradients.gradients(name, COUNT)
        differ = tally.differ + tally.graphs_differ
        assert not differ, "\n".join(differ)

    hold_each(hold, names(gradients.APART)[part::PARTS], seeded)


@pytest.mark.usefixtures("database")
@pytest.mark.parametrize("part", sweep(range(3 * PARTS), every=3 * PARTS))
def test_gradcheck_and_gradgradcheck_say_what_torch_says(part, seeded):
    def hold(name):
        for check, (ours, theirs) in gradients.gradchecks(name, at_most=30).items():
            assert ours == theirs, check

    hold_each(hold, names({*gradients.APART, *gradients.BY_CHANCE})[part :: 3 * PARTS], seeded)


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


# Of a NaN in x, torch's vectorised kernels of these return something else than its scalar ones, which take what is left
# over when a row of memory is cut into vectors. Which elements these are depends on the CPU. On them rushlight must agree
# with one of the two kernels; everywhere else torch has one answer.
TWO_ANSWERS_FOR_NAN = ("elu_backward", "hardtanh_backward")
ENOUGH_FOR_VECTORS = 256  # elements: more than two of the longest vectors, which the vectorised kernels take at a time


def two_tensors(xp, dtype, layout):
    random = np.random.default_rng(0)
    arrays = [(2 * random.standard_normal((3, 4))).astype(dtype) for _ in range(2)]
    arrays[1][0, :3] = 0.0, 0.25, np.nan
    tensors = [xp.from_numpy(array) for array in arrays]
    for place in layout:  # whose dimensions lie in memory the other way round
        tensors[place] = tensors[place].t().contiguous().t()
    return tensors


def derivative(xp, operator, rest, dtype, grad, x):
    namespace = functions if xp is rl else torch.ops.aten
    named = rest if isinstance(rest, dict) else {}
    others = () if named else [getattr(xp, dtype) if each == "dtype" else each for each in rest]
    args = (grad, *others, x) if operator == "elu_backward" else (grad, x, *others)
    return gradients.attempt(lambda: getattr(namespace, operator)(*args, **named))


@in_one_test
@pytest.mark.parametrize("layout", [(), (0,), (1,), (0, 1)])
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("operator, rest", OPERATORS)
def test_a_derivative_that_is_an_operator_gives_what_torch_gives(operator, rest, dtype, layout):
    ours, theirs = (derivative(xp, operator, rest, dtype, *two_tensors(xp, dtype, layout)) for xp in (rl, torch))
    if isinstance(theirs, Exception):
        assert type(ours) is type(theirs)
        return
    assert ours.stride() == theirs.stride()
    ours = torch.from_numpy(ours.numpy().copy())
    if operator in TWO_ANSWERS_FOR_NAN:
        grad, x = (tensor[0, 2] for tensor in two_tensors(torch, dtype, layout))
        answers = [
            derivative(torch, operator, rest, dtype, grad.repeat(count), x.repeat(count))[0]
            for count in (1, ENOUGH_FOR_VECTORS)
        ]
        assert any(ours[0, 2].equal(each) or ours[0, 2].isnan() and each.isnan() for each in answers)
        ours[0, 2] = theirs[0, 2]
    torch.testing.assert_close(ours, theirs, equal_nan=True)
