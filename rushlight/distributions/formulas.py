"""Distributions of numbers, by their formulas: each element of a batch has its own parameters.

A row has the constraints on the parameters, the support, and formulas of the distribution `d`: `draw` is a sample that has a
gradient. In PyTorch: the modules of `torch/distributions/` with the names of the classes. Left out: the gradients of samples of
`Gamma` and `Beta`, whose numbers PyTorch draws one after the other until one is accepted.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from rushlight.aten.generated import functions
from rushlight.aten.native import creation
from rushlight.aten.native.random import default_generator, normal_distribution, uniform_real
from rushlight.aten.strided import Tensor
from rushlight.autograd.grad_mode import is_grad_enabled
from rushlight.c10.type_info import finfo
from rushlight.distributions.constraints import dependent, interval, nonnegative, positive, real, unit_interval
from rushlight.distributions.distribution import Distribution, Sizes, broadcast_all

LOG_ROOT = math.log(math.sqrt(2 * math.pi))
LOCATED = {"loc": real, "scale": positive}


class Elementwise(Distribution):
    """The parameters are the names in `arg_constraints`."""

    has_rsample = True

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        names = [*self.arg_constraints]
        given = {"validate_args": None, **dict(zip((*names, "validate_args"), args)), **kwargs}
        validate_args = given.pop("validate_args")
        if set(given) != set(names):
            raise TypeError(f"{type(self).__name__} takes the parameters {', '.join(names)}, not {', '.join(given)}")
        tensors = broadcast_all(*(given[name] for name in names))
        self.__dict__.update(zip(names, tensors))
        super().__init__(tensors[0].shape, validate_args=validate_args)

    def rsample(self, sample_shape: Sizes = ()) -> Tensor:
        return self._draw(self._extended_shape(sample_shape))


METHODS = {"draw": "_draw", "log_prob": "_log_prob", "cdf": "_cdf"}
METHODS |= {name: name for name in ("icdf", "entropy", "__repr__")}


def define(name: str, arg_constraints: dict, support: Any, **formulas: Callable) -> type[Elementwise]:
    """A class with these formulas. Those that are not in `METHODS` are properties."""
    members = {
        METHODS.get(key, key): formula if key in METHODS else property(formula) for key, formula in formulas.items()
    }
    for key in {*METHODS} & {*formulas}:
        formulas[key].__name__ = METHODS[key]
    members |= {"arg_constraints": arg_constraints, "__module__": __name__}
    members["support"] = property(support) if callable(support) else support
    return type(name, (Elementwise,), members)


Normal = define(
    "Normal", LOCATED, real,
    mean=lambda d: d.loc, mode=lambda d: d.loc, stddev=lambda d: d.scale,
    draw=lambda d, shape: d.loc + functions.empty(shape, dtype=d.loc.dtype).normal_() * d.scale,
    log_prob=lambda d, x: -((x - d.loc) ** 2) / (2 * d.scale**2) - d.scale.log() - LOG_ROOT,
    cdf=lambda d, x: 0.5 * (1 + functions.erf((x - d.loc) * d.scale.reciprocal() / math.sqrt(2))),
    icdf=lambda d, value: d.loc + d.scale * functions.erfinv(2 * value - 1) * math.sqrt(2),
    entropy=lambda d: 0.5 + 0.5 * math.log(2 * math.pi) + d.scale.log(),
)  # fmt: skip
"""The normal distribution with the mean `loc` and the standard deviation `scale`."""


def _draw_laplace(d: Distribution, shape: Sizes) -> Tensor:
    u = functions.empty(shape, dtype=d.loc.dtype).uniform_(finfo(d.loc.dtype).eps - 1, 1)
    return d.loc - d.scale * u.sign() * (-u.abs()).log1p()


Laplace = define(
    "Laplace", LOCATED, real, draw=_draw_laplace,
    mean=lambda d: d.loc, mode=lambda d: d.loc, variance=lambda d: 2 * d.scale.pow(2), stddev=lambda d: 2**0.5 * d.scale,
    log_prob=lambda d, x: -(2 * d.scale).log() - (x - d.loc).abs() / d.scale,
    cdf=lambda d, x: 0.5 - 0.5 * (x - d.loc).sign() * (-(x - d.loc).abs() / d.scale).expm1(),
    icdf=lambda d, value: d.loc - d.scale * (value - 0.5).sign() * (-2 * (value - 0.5).abs()).log1p(),
    entropy=lambda d: 1 + (2 * d.scale).log(),
)  # fmt: skip
"""The Laplace distribution with the mean `loc`: its density falls with `exp(-abs(x - loc) / scale)`."""


Exponential = define(
    "Exponential", {"rate": positive}, nonnegative,
    mean=lambda d: d.rate.reciprocal(), stddev=lambda d: d.rate.reciprocal(), variance=lambda d: d.rate.pow(-2),
    mode=lambda d: functions.zeros_like(d.rate),
    draw=lambda d, shape: functions.empty(shape, dtype=d.rate.dtype).exponential_() / d.rate,
    log_prob=lambda d, x: d.rate.log() - d.rate * x,
    cdf=lambda d, x: 1 - (-d.rate * x).exp(), icdf=lambda d, value: -(-value).log1p() / d.rate,
    entropy=lambda d: 1 - d.rate.log(),
)  # fmt: skip
"""The exponential distribution with the mean `1 / rate`."""


class Uniform(
    define(
        "Uniform",
        {"low": dependent, "high": dependent},
        lambda d: interval(d.low, d.high),
        mean=lambda d: (d.high + d.low) / 2,
        mode=lambda d: math.nan * d.high,
        stddev=lambda d: (d.high - d.low) / 12**0.5,
        variance=lambda d: (d.high - d.low).pow(2) / 12,
        draw=lambda d, shape: d.low + functions.rand(shape, dtype=d.low.dtype) * (d.high - d.low),
        log_prob=lambda d, x: ((d.low <= x) & (d.high > x)).to(d.low.dtype).log() - (d.high - d.low).log(),
        cdf=lambda d, x: ((x - d.low) / (d.high - d.low)).clamp(min=0, max=1),
        icdf=lambda d, value: value * (d.high - d.low) + d.low,
        entropy=lambda d: (d.high - d.low).log(),
    )  # fmt: skip
):
    """All numbers from `low` to `high` have the same density."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self._validate_args and not (self.low < self.high).all():
            raise ValueError("Uniform is not defined when low>= high")


def draw_gamma(concentration: Tensor, shape: Sizes) -> np.ndarray:
    """Gamma variables in float64, one after the other, by the method of Marsaglia and Tsang.
    Source: `aten/src/ATen/native/Distributions.h`, `sample_gamma`."""
    if concentration.requires_grad and is_grad_enabled():
        raise NotImplementedError("rushlight leaves out gradients of samples of gamma variables: use sample()")
    drawn = []
    for alpha in np.broadcast_to(concentration._array, shape).ravel().tolist():
        scale = 1.0
        if alpha < 1:
            scale, alpha = (1 - uniform_real(default_generator, 1, np.float64)[0]) ** (1 / alpha), alpha + 1
        d = alpha - float(np.float32(1 / 3))
        v = u = x = 0.0
        while v <= 0 or np.log(u) >= 0.5 * x * x + d * (1 - v + np.log(v)):
            x = normal_distribution(default_generator, 1)[0]
            v = (1 + x / np.sqrt(9 * d)) ** 3
            u = 1 - uniform_real(default_generator, 1, np.float64)[0] if v > 0 else 1.0
        drawn.append(scale * d * v)
    return np.array(drawn).reshape(shape)


def _draw_gamma(d: Distribution, shape: Sizes) -> Tensor:
    tiny, drawn = finfo(d.rate.dtype).tiny, creation.from_numpy(draw_gamma(d.concentration, shape)).to(d.rate.dtype)
    return (drawn.clamp(min=tiny) / d.rate.expand(shape)).clamp(min=tiny)


def _log_gamma(d: Distribution, x: Tensor) -> Tensor:
    a, rate = d.concentration, d.rate
    return functions.xlogy(a, rate) + functions.xlogy(a - 1, x) - rate * x - functions.lgamma(a)


Gamma = define(
    "Gamma", {"concentration": positive, "rate": positive}, nonnegative, draw=_draw_gamma, log_prob=_log_gamma,
    mean=lambda d: d.concentration / d.rate, mode=lambda d: ((d.concentration - 1) / d.rate).clamp(min=0),
    variance=lambda d: d.concentration / d.rate.pow(2),
    entropy=lambda d: d.concentration - d.rate.log() + functions.lgamma(d.concentration)
    + (1.0 - d.concentration) * functions.digamma(d.concentration),
)  # fmt: skip
"""The gamma distribution with the mean `concentration / rate`. Its samples have no gradient here."""


def concentrations(d: Distribution) -> Tensor:
    """Both parameters of a `Beta` in the last dimension."""
    return functions.stack([d.concentration1, d.concentration0], -1)


def _draw_beta(d: Distribution, shape: Sizes) -> Tensor:
    """The first of two gamma variables, divided by their sum.
    Source: `aten/src/ATen/native/Distributions.cpp`, `_s_dirichlet_cpu`."""
    dtype, drawn = d.concentration1.dtype, draw_gamma(concentrations(d), (*shape, 2))
    largest = np.nextafter(np.float32(1), np.float32(0))
    return creation.from_numpy(np.clip(drawn[..., 0] / drawn.sum(-1), finfo(dtype).tiny, largest)).to(dtype)


def _log_beta(d: Distribution, x: Tensor) -> Tensor:
    a = concentrations(d)
    return functions.xlogy(a - 1, functions.stack([x, 1.0 - x], -1)).sum(-1) + a.sum(-1).lgamma() - a.lgamma().sum(-1)


def _entropy_of_beta(d: Distribution) -> Tensor:
    a, total = concentrations(d), d.concentration1 + d.concentration0
    return a.lgamma().sum(-1) - total.lgamma() - (2 - total) * total.digamma() - ((a - 1.0) * a.digamma()).sum(-1)


Beta = define(
    "Beta", {"concentration1": positive, "concentration0": positive}, unit_interval, __repr__=lambda d: "Beta()",
    draw=_draw_beta, log_prob=_log_beta, entropy=_entropy_of_beta,
    mean=lambda d: d.concentration1 / (d.concentration1 + d.concentration0),
    variance=lambda d: d.mean * (1 - d.mean) / (d.concentration1 + d.concentration0 + 1),
)  # fmt: skip
"""The beta distribution on 0 to 1, with the density proportional to `x ** (concentration1 - 1) * (1 - x) **
(concentration0 - 1)`. Its samples have no gradient here."""
