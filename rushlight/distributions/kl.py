"""The Kullback-Leibler divergence of two distributions, by a table of formulas. In PyTorch: `torch/distributions/kl.py`.

Left out: divergences between different classes, and those of exponential families by automatic differentiation.
"""

import math
from collections.abc import Callable

from rushlight.aten.generated import functions
from rushlight.aten.strided import Tensor
from rushlight.distributions import discrete, formulas, independent, multivariate
from rushlight.distributions.distribution import Distribution, sum_rightmost
from rushlight.nn import functional as F

KL: dict[tuple[type, type], Callable[..., Tensor]] = {}


def register_kl(type_p: type, type_q: type) -> Callable[[Callable], Callable]:
    """Register a function for the divergence of two kinds of distributions."""
    return lambda function: KL.setdefault((type_p, type_q), function)


def kl_divergence(p: Distribution, q: Distribution) -> Tensor:
    """The formula of the nearest base classes is used."""
    for type_p in type(p).__mro__:
        for type_q in type(q).__mro__:
            if (type_p, type_q) in KL:
                return KL[type_p, type_q](p, q)
    name = f"p type {type(p).__name__} and q type {type(q).__name__}"
    raise NotImplementedError(f"No KL(p || q) is implemented for {name}")


def _bernoulli(p, q):
    one = p.probs * (F.softplus(-q.logits) - F.softplus(-p.logits))
    one = one.masked_fill(q.probs == 0, math.inf).masked_fill(p.probs == 0, 0)
    zero = (1 - p.probs) * (F.softplus(q.logits) - F.softplus(p.logits))
    return one + zero.masked_fill(q.probs == 1, math.inf).masked_fill(p.probs == 1, 0)


def _categorical(p, q):
    terms = p.probs * (p.logits - q.logits)
    return terms.masked_fill(q.probs == 0, math.inf).masked_fill(p.probs == 0, 0).sum(-1)


def _gamma(p, q):
    a, b = p.concentration, q.concentration
    gammas = b.lgamma() - a.lgamma() + (a - b) * a.digamma()
    return b * (p.rate / q.rate).log() + gammas + (q.rate - p.rate) * (a / p.rate)


def _beta(p, q):
    a, b = formulas.concentrations(p), formulas.concentrations(q)
    gammas = a.sum(-1).lgamma() - b.sum(-1).lgamma() - (a.lgamma() - b.lgamma()).sum(-1)
    return gammas + ((a - b) * (a.digamma() - a.sum(-1).digamma().unsqueeze(-1))).sum(-1)


def _independent(p, q):
    if p.reinterpreted_batch_ndims != q.reinterpreted_batch_ndims:
        raise NotImplementedError
    return sum_rightmost(kl_divergence(p.base_dist, q.base_dist), p.reinterpreted_batch_ndims)


def _multivariate_normal(p, q):
    if p.event_shape != q.event_shape:
        raise ValueError(
            "KL-divergence between two Multivariate Normals with different event shapes cannot be computed"
        )
    mine, theirs = p.scale_tril, q.scale_tril
    logs = (theirs.diagonal(dim1=-2, dim2=-1).log() - mine.diagonal(dim1=-2, dim2=-1).log()).sum(-1)
    spread = functions.linalg_solve(theirs, mine).pow(2).sum((-2, -1))
    distance = functions.linalg_solve(theirs, (q.loc - p.loc).unsqueeze(-1)).pow(2).sum((-2, -1))
    return logs + 0.5 * (spread + distance - p.event_shape[0])


FORMULAS: dict[type, Callable[..., Tensor]] = {
    discrete.Bernoulli: _bernoulli,
    discrete.Categorical: _categorical,
    formulas.Beta: _beta,
    formulas.Exponential: lambda p, q: -(q.rate / p.rate).log() + q.rate / p.rate - 1,
    formulas.Gamma: _gamma,
    formulas.Laplace: lambda p, q: -(p.scale / q.scale).log() + (p.loc - q.loc).abs() / q.scale
    + p.scale / q.scale * (-(p.loc - q.loc).abs() / p.scale).exp() - 1,
    formulas.Normal: lambda p, q: 0.5 * ((p.scale / q.scale).pow(2) + ((p.loc - q.loc) / q.scale).pow(2) - 1
    - (p.scale / q.scale).pow(2).log()),
    formulas.Uniform: lambda p, q: ((q.high - q.low) / (p.high - p.low)).log().masked_fill(
        (q.low > p.low) | (q.high < p.high), math.inf),
    independent.Independent: _independent,
    multivariate.MultivariateNormal: _multivariate_normal,
}  # fmt: skip
KL.update({(kind, kind): formula for kind, formula in FORMULAS.items()})
