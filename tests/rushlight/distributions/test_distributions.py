"""Distributions draw torch's numbers, and give torch's probabilities, moments, divergences, texts and errors."""

import numpy as np
import pytest
import torch
from both import agree
from sweep import in_one_test

import rushlight as rl
import rushlight.distributions


@pytest.fixture(autouse=True, scope="module")
def torch_validates():
    torch.distributions.Distribution.set_default_validate_args(True)  # torch.compile turns it off for the whole process


DISTRIBUTIONS = [
    lambda D, t: D.Normal(0.5, 2.0),
    lambda D, t: D.Normal(t([[0.0], [1.0]]), t([1.0, 0.5])),
    lambda D, t: D.Laplace(t([0.0, 1.0, 2.0]), t([1.0, 0.5, 2.0])),
    lambda D, t: D.Uniform(-1, t([0.0, 1.5])),
    lambda D, t: D.Exponential(rate=t([0.5, 2.0])),
    lambda D, t: D.Gamma(t([0.5, 2.0, 7.0]), t([1.0, 0.5, 2.0])),
    lambda D, t: D.Beta(t([0.5, 1.1, 3.0]), t([1.0, 2.0, 0.5])),
    lambda D, t: D.Bernoulli(t([0.5, 0.1, 0.9])),
    lambda D, t: D.Bernoulli(logits=t([0.5, -2.0])),
    lambda D, t: D.Categorical(t([0.5, 0.1, 0.9])),
    lambda D, t: D.Categorical(logits=t([[0.5, -2.0, 0.0], [1.0, 2.0, 3.0]])),
    lambda D, t: D.MultivariateNormal(t([0.0, 1.0]), t([[2.0, 0.5], [0.5, 1.0]])),
    lambda D, t: D.MultivariateNormal(t([[0.0, 1.0], [2.0, 3.0]]), precision_matrix=t([[2.0, 0.5], [0.5, 1.0]])),
    lambda D, t: D.MultivariateNormal(t([0.0, 1.0]), scale_tril=t([[[2.0, 0.0], [0.5, 1.0]]] * 3)),
    lambda D, t: D.Independent(D.Normal(t([[0.0, 1.0], [2.0, 3.0]]), 1.0), 1),
]


def attempt(call):
    try:
        result = call()
    except Exception as error:
        return type(error)
    if isinstance(result, rl.Tensor | torch.Tensor):
        return np.array(result.tolist(), float)
    return repr(result).replace("rushlight.", "torch.")


def observe(xp, make):
    D = xp.distributions
    xp.manual_seed(5)
    d = make(D, xp.tensor)
    seen = {"repr": repr(d).replace("rushlight.", "torch.")}
    sample = d.sample((4,))
    calls = {
        "sample": lambda: d.sample((4,)),
        "one sample": d.sample,
        "rsample": lambda: d.rsample((2,)),
        "log_prob": lambda: d.log_prob(sample),
        "icdf": lambda: d.icdf(xp.tensor(0.3)),
        "kl": lambda: D.kl_divergence(d, make(D, lambda x: xp.tensor(x) * 0.9 + 0.05)),
        "expand": lambda: d.expand((5, *d.batch_shape)).sample(),
        "log_prob of expand": lambda: d.expand((5, *d.batch_shape)).log_prob(sample[0]),
        "a value that is not possible": lambda: d.log_prob(xp.full(d.batch_shape + d.event_shape, -3.5)),
        "random numbers afterwards": lambda: xp.rand(2),
        "repr afterwards": lambda: d,
    }
    if not isinstance(d, D.Gamma):  # rushlight leaves out its cdf
        calls["cdf"] = lambda: d.cdf(sample)
    if not isinstance(d, D.Beta):  # and its mode
        calls["mode"] = lambda: d.mode
    for name in ("mean", "variance", "stddev", "batch_shape", "event_shape", "has_rsample", "support"):
        calls[name] = lambda name=name: getattr(d, name)
    for name in ("entropy", "perplexity", "enumerate_support"):
        calls[name] = lambda name=name: getattr(d, name)()
    return seen | {name: attempt(call) for name, call in calls.items()}


@in_one_test
@pytest.mark.parametrize("make", DISTRIBUTIONS)
def test_a_distribution_is_torchs(make):
    ours, theirs = observe(rl, make), observe(torch, make)
    for name, expected in theirs.items():
        if isinstance(expected, np.ndarray):
            assert isinstance(ours[name], np.ndarray), f"{name}: {ours[name]}"
            np.testing.assert_allclose(ours[name], expected, rtol=2e-5, atol=2e-6, err_msg=name)
        else:
            assert ours[name] == expected, name


@in_one_test
@pytest.mark.parametrize(
    "loss",
    [
        lambda D, t, a, b: D.Normal(a, b).rsample((3,)).square().sum() + D.Normal(a, b).log_prob(t(0.3)).sum(),
        lambda D, t, a, b: D.Categorical(logits=a).log_prob(t([1, 0])).sum() + D.Categorical(logits=b).entropy(),
        lambda D, t, a, b: (
            D.Bernoulli(logits=a).log_prob(t([1.0, 0.0, 1.0])).sum() + D.Bernoulli(b / 9).entropy().sum()
        ),
        lambda D, t, a, b: D.Beta(a, b).log_prob(t(0.3)).sum() + D.Gamma(a, b).entropy().sum(),
        lambda D, t, a, b: D.Laplace(a, b).rsample().sum() + D.Uniform(-b, a + 9).rsample().sum(),
        lambda D, t, a, b: D.kl_divergence(D.Normal(a, b), D.Normal(0, 1)).sum(),
        lambda D, t, a, b: D.kl_divergence(D.Beta(a, b), D.Beta(b, a)).sum(),
    ],
)
def test_gradients_are_torchs(loss):
    grads = []
    for xp in (rl, torch):
        xp.manual_seed(0)
        a, b = (xp.tensor(values, requires_grad=True) for values in ([0.5, 1.0, 2.0], [1.0, 0.7, 3.0]))
        loss(xp.distributions, xp.tensor, a, b).backward()
        grads.append([x.grad.tolist() for x in (a, b) if x.grad is not None])
    np.testing.assert_allclose(*grads, rtol=1e-5, atol=1e-6)


@in_one_test
@pytest.mark.parametrize(
    "program",
    [
        lambda xp, D: D.Normal(0.0, -1.0),
        lambda xp, D: D.Normal(0.0, -1.0, validate_args=False).scale,
        lambda xp, D: D.Normal(xp.tensor([0.0, float("nan")]), 1.0),
        lambda xp, D: D.Normal(0.0),
        lambda xp, D: D.Normal(xp.zeros(3), 1.0).log_prob(xp.zeros(2)),
        lambda xp, D: D.Normal(0.0, 1.0).log_prob(3.0),
        lambda xp, D: D.Uniform(2, 1),
        lambda xp, D: D.Bernoulli(),
        lambda xp, D: D.Bernoulli(probs=0.5, logits=0.1),
        lambda xp, D: D.Bernoulli(probs=1.5),
        lambda xp, D: D.Categorical(xp.tensor([-1.0, 2.0])),
        lambda xp, D: D.Categorical(xp.tensor(0.5)),
        lambda xp, D: D.Categorical(xp.tensor([0.5, 0.5])).log_prob(xp.tensor(3)),
        lambda xp, D: D.Categorical(xp.tensor([0.5, 0.5])).param_shape,
        lambda xp, D: D.Independent(D.Normal(0.0, 1.0), 1),
        lambda xp, D: D.kl_divergence(D.Normal(0.0, 1.0), D.Bernoulli(0.5)),
        lambda xp, D: D.Normal(0.0, 1.0).enumerate_support(),
        lambda xp, D: D.categorical.Categorical is D.Categorical and D.normal.Normal is D.Normal,
    ],
)
def test_what_is_refused_is_what_torch_refuses(program):
    agree(lambda xp: program(xp, xp.distributions))


def test_a_gradient_of_a_gamma_variable_is_refused():
    rate = rl.ones(2, requires_grad=True)
    assert rl.distributions.Gamma(rate, 1.0).sample().shape == (2,)
    with pytest.raises(NotImplementedError, match="leaves out gradients"):
        rl.distributions.Gamma(rate, 1.0).rsample()
