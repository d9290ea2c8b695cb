"""Gradients in float16 and bfloat16 are as accurate as torch's, which computes many formulas in float32 and rounds once."""

import pytest
import torch
from sweep import in_one_test

import rushlight as rl

DTYPES = "bfloat16", "float16"
SIZES = (12, 40)


def drawn(xp, dtype, seed, low=-4.0, high=4.0):
    """The same numbers in both frameworks: float64, or exactly those of a reduced dtype."""
    numbers = torch.empty(SIZES, dtype=torch.float64).uniform_(low, high, generator=torch.Generator().manual_seed(seed))
    numbers = numbers.to(getattr(torch, dtype)).double().tolist()
    return xp.tensor(numbers, dtype=xp.float64)


FORMULAS = {
    "glu": lambda xp, x, y: xp.nn.functional.glu(x),
    "logsigmoid": lambda xp, x, y: xp.nn.functional.logsigmoid(x),
    "hardswish": lambda xp, x, y: xp.nn.functional.hardswish(x),
    "mish": lambda xp, x, y: xp.nn.functional.mish(x),
    "silu": lambda xp, x, y: xp.nn.functional.silu(x),
    "gelu": lambda xp, x, y: xp.nn.functional.gelu(x),
    "softplus": lambda xp, x, y: xp.nn.functional.softplus(x),
    "hypot": lambda xp, x, y: xp.hypot(x, y),
    "mvlgamma": lambda xp, x, y: xp.mvlgamma(x.abs() + 1, 2),
    "renorm": lambda xp, x, y: xp.renorm(x, 2, 0, 1.0),
    "renorm of order 1": lambda xp, x, y: xp.renorm(x, 1, 1, 20.0),
    "softmax": lambda xp, x, y: xp.softmax(x, 1),
    "log_softmax": lambda xp, x, y: xp.log_softmax(x, 1),
    "unfold": lambda xp, x, y: x.unfold(1, 8, 3),
}


def gradient(xp, formula, dtype, computed):
    """The gradient of numbers of `dtype`, by a computation in the dtype `computed`."""
    x, y = (drawn(xp, dtype, seed).to(getattr(xp, computed)) for seed in (0, 1))
    result = FORMULAS[formula](xp, x.requires_grad_(), y)
    weights = drawn(xp, dtype, 2, 0.5, 1.5).reshape(-1)[torch.arange(result.numel()).remainder(480).tolist()]
    (grad,) = xp.autograd.grad(result, x, weights.to(result.dtype).reshape(result.shape))
    return torch.tensor(grad.double().tolist(), dtype=torch.float64)


@in_one_test
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("formula", FORMULAS)
def test_a_gradient_is_as_accurate_as_torchs(formula, dtype):
    ours, theirs = (gradient(xp, formula, dtype, dtype) for xp in (rl, torch))
    exact, info = gradient(torch, formula, dtype, "float64"), torch.finfo(getattr(torch, dtype))
    ulp = torch.exp2(exact.abs().clamp(min=info.tiny).log2().floor()) * info.eps
    assert not ((ours - exact).abs() > (theirs - exact).abs() + ulp).any()
    differ = int((ours != theirs).sum())
    assert differ <= 0.02 * ours.numel(), f"{differ} of {ours.numel()} differ"


SUMS = {
    "scatter_add": lambda xp, x, s, i: x.scatter_add(0, i, s),
    "scatter": lambda xp, x, s, i: x.scatter(0, i, s, reduce="add"),
    "scatter_reduce": lambda xp, x, s, i: x.scatter_reduce(0, i, s, "sum"),
    "amax": lambda xp, x, s, i: x.scatter_reduce(0, i, s, "amax", include_self=False),
    "amin": lambda xp, x, s, i: x.scatter_reduce(0, i, s, "amin", include_self=False),
    "index_add": lambda xp, x, s, i: x.index_add(0, i[:, 0], s),
    "index_add of the last dimension": lambda xp, x, s, i: x.t().index_add(1, i[:, 0], s.t()),
    "index_add in place": lambda xp, x, s, i: x.index_add_(0, i[:, 0], s),
    "gather": lambda xp, x, s, i: xp.autograd.grad(x.requires_grad_().gather(0, i), x, s)[0],
    "index_select": lambda xp, x, s, i: xp.autograd.grad(x.requires_grad_().index_select(0, i[:, 0]), x, s)[0],
}


@in_one_test
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", SUMS)
@pytest.mark.filterwarnings("ignore:The reduce argument")
def test_a_sum_at_an_index_is_rounded_once_as_in_torch(name, dtype):
    """In float32 these sums are exact, in any order. Sums of bfloat16 would stop growing at 256."""

    def program(xp):
        sources = xp.tensor([[1.0, 0.75], [1.25, 1.0], [0.5, 1.5]]).repeat(200, 1).to(getattr(xp, dtype))
        index = (xp.arange(600) % 2).unsqueeze(1).expand(600, 2)
        return SUMS[name](xp, xp.zeros(2, 2, dtype=sources.dtype), sources, index).tolist()

    assert program(rl) == program(torch)


WITH_NUMBERS = {
    "add": lambda xp, x: x + 0.3,
    "sub": lambda xp, x: x - 0.3,
    "rsub": lambda xp, x: 0.3 - x,
    "add in place": lambda xp, x: x.clone().add_(0.3),
    "add of a tensor without dimensions": lambda xp, x: x + xp.tensor(0.3, dtype=xp.float64),
    "mul": lambda xp, x: x * 0.3,
    "div": lambda xp, x: x / 0.3,
    "pow": lambda xp, x: x.abs() ** 0.3,
    "pow of a number": lambda xp, x: 0.3**x,
    "cube": lambda xp, x: x**3,
    "one over the square": lambda xp, x: x**-2,
    "one over the root": lambda xp, x: x.abs() ** -0.5,
    "margin": lambda xp, x: xp.nn.functional.margin_ranking_loss(x, x * 0.5, x.sign(), 0.3, reduction="none"),
}


@in_one_test
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", WITH_NUMBERS)
def test_a_number_is_rounded_where_torch_rounds_it(name, dtype):
    """To the dtype in sums and powers, and not in products and quotients."""
    ours, theirs = (WITH_NUMBERS[name](xp, drawn(xp, dtype, 3).to(getattr(xp, dtype))) for xp in (rl, torch))
    differ = int((torch.tensor(ours.double().tolist()) != torch.tensor(theirs.double().tolist())).sum())
    assert differ <= 0.02 * ours.numel(), f"{differ} of {ours.numel()} differ"
