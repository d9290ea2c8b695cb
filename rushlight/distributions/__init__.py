"""Probability distributions: samples, the logarithm of the probability of a value, entropy, and divergence.

    constraints     what parameters and values must satisfy
    distribution    the base class
    formulas        distributions of numbers, in a table
    discrete        distributions whose parameter is a probability
    independent     batches that are taken for events
    multivariate    normal vectors
    kl              the Kullback-Leibler divergence

In PyTorch: `torch/distributions/`, where each class has its own module. Left out: distributions and transforms that are not here.
"""

import sys

from rushlight.distributions import constraints
from rushlight.distributions.discrete import Bernoulli, Categorical
from rushlight.distributions.distribution import Distribution
from rushlight.distributions.formulas import Beta, Exponential, Gamma, Laplace, Normal, Uniform
from rushlight.distributions.independent import Independent
from rushlight.distributions.kl import kl_divergence, register_kl
from rushlight.distributions.multivariate import MultivariateNormal

__all__ = [
    "Bernoulli", "Beta", "Categorical", "Distribution", "Exponential", "Gamma", "Independent", "Laplace",
    "MultivariateNormal", "Normal", "Uniform", "constraints", "kl_divergence", "register_kl",
]  # fmt: skip

for _name in (
    "bernoulli",
    "beta",
    "categorical",
    "exponential",
    "gamma",
    "laplace",
    "multivariate_normal",
    "normal",
    "uniform",
):
    sys.modules[f"{__name__}.{_name}"] = globals()[_name] = sys.modules[__name__]  # PyTorch's modules of one class
