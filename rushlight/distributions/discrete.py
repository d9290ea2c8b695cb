"""Distributions whose parameter is a probability, or its logit.

In PyTorch: the modules of `torch/distributions/` with the names of the classes.
"""

import math
from typing import Any

from rushlight.aten.generated import functions
from rushlight.aten.native import creation
from rushlight.aten.strided import Tensor
from rushlight.autograd.grad_mode import enable_grad, no_grad
from rushlight.c10.type_info import finfo
from rushlight.distributions.constraints import _Integers, boolean, interval, real, real_vector, simplex, unit_interval
from rushlight.distributions.distribution import Distribution, Sizes, broadcast_all
from rushlight.nn import functional as F


class Logits(Distribution):
    """The one of `probs` and `logits` that is not given is computed when it is first read."""

    arg_constraints = {"probs": unit_interval, "logits": real}

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        if (probs is None) == (logits is None):
            raise ValueError("Either `probs` or `logits` must be specified, but not both.")
        name, value = ("logits", logits) if probs is None else ("probs", probs)
        setattr(self, name, self._prepare(name, *broadcast_all(value)))
        super().__init__(*self._shapes(self.__dict__[name].shape), validate_args)

    def _prepare(self, name: str, value: Tensor) -> Tensor:
        return value

    def _shapes(self, shape: Sizes) -> tuple[Sizes, Sizes]:
        return shape, ()

    _param: Tensor = property(lambda self: self.__dict__["probs"] if "probs" in self.__dict__ else self.logits)  # noqa: SIM401
    param_shape: Sizes = property(lambda self: self._param.shape)

    def _to_probs(self, logits: Tensor) -> Tensor:
        return logits.sigmoid()

    def _to_logits(self, probs: Tensor) -> Tensor:
        return probs.log() - (-probs).log1p()

    def __getattr__(self, name: str) -> Any:
        known = self.__dict__
        with enable_grad():
            if name == "probs" and "logits" in known:
                known[name] = self._to_probs(known["logits"])
            elif name == "logits" and "probs" in known:
                eps = finfo(known["probs"].dtype).eps
                known[name] = self._to_logits(known["probs"].clamp(min=eps, max=1 - eps))
        if name not in known:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return known[name]

    def enumerate_support(self, expand: bool = True) -> Tensor:
        values = self._values().view((-1, *[1] * len(self._batch_shape)))
        return values.expand((-1, *self._batch_shape)) if expand else values


class Bernoulli(Logits):
    """0 or 1: 1 has the probability `probs`, or the log odds `logits`."""

    support, has_enumerate_support = boolean, True
    mean = property(lambda self: self.probs)
    variance = property(lambda self: self.probs * (1 - self.probs))
    mode = property(lambda self: (self.probs >= 0.5).to(self.probs.dtype).masked_fill(self.probs == 0.5, math.nan))

    def sample(self, sample_shape: Sizes = ()) -> Tensor:
        with no_grad():
            return functions.bernoulli(self.probs.expand(self._extended_shape(sample_shape)))

    def _log_prob(self, value: Tensor) -> Tensor:
        return -F.binary_cross_entropy_with_logits(*broadcast_all(self.logits, value), reduction="none")

    def entropy(self) -> Tensor:
        return F.binary_cross_entropy_with_logits(self.logits, self.probs, reduction="none")

    def _values(self) -> Tensor:
        return creation.tensor([0.0, 1.0], dtype=self._param.dtype)


class Categorical(Logits):
    """The last dimension has the probabilities of the categories. They are normalised."""

    arg_constraints, has_enumerate_support = {"probs": simplex, "logits": real_vector}, True
    support = property(lambda self: interval(0, self._param.size(-1) - 1, _Integers))
    mean = variance = property(lambda self: functions.full(self._batch_shape, math.nan, dtype=self.probs.dtype))
    mode = property(lambda self: self.probs.argmax(-1))

    def _prepare(self, name: str, value: Tensor) -> Tensor:
        if value.dim() < 1:
            raise ValueError(f"`{name}` parameter must be at least one-dimensional.")
        return value / value.sum(-1, keepdim=True) if name == "probs" else value - value.logsumexp(-1, keepdim=True)

    def _shapes(self, shape: Sizes) -> tuple[Sizes, Sizes]:
        return shape[:-1], ()

    def _to_probs(self, logits: Tensor) -> Tensor:
        return logits.softmax(-1)

    def _to_logits(self, probs: Tensor) -> Tensor:
        return probs.log()

    def sample(self, sample_shape: Sizes = ()) -> Tensor:
        rows = self.probs.detach().reshape((-1, self._param.size(-1)))
        drawn = functions.multinomial(rows, math.prod(sample_shape), True)
        return drawn.t().reshape((*sample_shape, *self._batch_shape))

    def _log_prob(self, value: Tensor) -> Tensor:
        value, log_pmf = functions.broadcast_tensors([value.long().unsqueeze(-1), self.logits])
        return log_pmf.gather(-1, value[..., :1]).squeeze(-1)

    def entropy(self) -> Tensor:
        return -(self.logits.clamp(min=finfo(self.logits.dtype).min) * self.probs).sum(-1)

    def _values(self) -> Tensor:
        return functions.arange(self._param.size(-1))
