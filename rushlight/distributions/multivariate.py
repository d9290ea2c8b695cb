"""Distributions of vectors, and batches that are taken for vectors.

In PyTorch: the modules of `torch/distributions/` with the names of the classes. Left out: `MultivariateNormal`, and gradients of
samples of `Dirichlet` and `Beta`.
"""

from __future__ import annotations

import numpy as np

from rushlight.aten.generated import functions
from rushlight.aten.native import creation
from rushlight.aten.strided import Tensor
from rushlight.c10.dtypes import numpy_finfo
from rushlight.distributions import constraints
from rushlight.distributions.distribution import Distribution, Sizes, broadcast_all, sum_rightmost
from rushlight.distributions.formulas import draw_gamma


class Dirichlet(Distribution):
    arg_constraints = {"concentration": constraints.independent(constraints.positive, 1)}
    support, has_rsample = constraints.simplex, True
    mean = property(lambda self: self.concentration / self.concentration.sum(-1, True))

    def __init__(self, concentration: Tensor, validate_args: bool | None = None) -> None:
        if concentration.dim() < 1:
            raise ValueError("`concentration` parameter must be at least one-dimensional.")
        self.concentration = concentration
        super().__init__(concentration.shape[:-1], concentration.shape[-1:], validate_args)

    @property
    def variance(self) -> Tensor:
        total = self.concentration.sum(-1, True)
        return self.concentration * (total - self.concentration) / (total.pow(2) * (total + 1))

    def rsample(self, sample_shape: Sizes = ()) -> Tensor:
        """Gamma variables, divided by their sum. Source: `aten/src/ATen/native/Distributions.cpp`, `_s_dirichlet_cpu`."""
        dtype, drawn = self.concentration.dtype, draw_gamma(self.concentration, self._extended_shape(sample_shape))
        largest = np.nextafter(np.float32(1), np.float32(0))
        parts = np.clip(drawn / drawn.sum(-1, keepdims=True), numpy_finfo(dtype).tiny, largest)
        return creation.from_numpy(parts).to(dtype)

    def _log_prob(self, value: Tensor) -> Tensor:
        a = self.concentration
        return functions.xlogy(a - 1, value).sum(-1) + a.sum(-1).lgamma() - a.lgamma().sum(-1)

    def entropy(self) -> Tensor:
        a, total = self.concentration, self.concentration.sum(-1)
        rest = (a.size(-1) - total) * total.digamma() + ((a - 1.0) * a.digamma()).sum(-1)
        return a.lgamma().sum(-1) - total.lgamma() - rest


class Beta(Distribution):
    """The first of two elements of a `Dirichlet`."""

    arg_constraints = {"concentration1": constraints.positive, "concentration0": constraints.positive}
    support, has_rsample = constraints.unit_interval, True
    concentration1 = property(lambda self: self._dirichlet.concentration[..., 0])
    concentration0 = property(lambda self: self._dirichlet.concentration[..., 1])
    mean = property(lambda self: self.concentration1 / (self.concentration1 + self.concentration0))
    variance = property(lambda self: self._dirichlet.variance[..., 0])

    def __init__(self, concentration1, concentration0, validate_args: bool | None = None) -> None:
        self._dirichlet = Dirichlet(functions.stack(broadcast_all(concentration1, concentration0), -1), validate_args)
        super().__init__(self._dirichlet._batch_shape, validate_args=validate_args)

    def expand(self, batch_shape: Sizes) -> Beta:
        return Beta(self.concentration1.expand(batch_shape), self.concentration0.expand(batch_shape))

    def rsample(self, sample_shape: Sizes = ()) -> Tensor:
        return self._dirichlet.rsample(sample_shape).select(-1, 0)

    def _log_prob(self, value: Tensor) -> Tensor:
        return self._dirichlet._log_prob(functions.stack([value, 1.0 - value], -1))

    def entropy(self) -> Tensor:
        return self._dirichlet.entropy()


class Independent(Distribution):
    """The last `reinterpreted_batch_ndims` dimensions of a batch as one event."""

    support = property(lambda self: constraints.independent(self.base_dist.support, self.reinterpreted_batch_ndims))
    mean, mode, variance, stddev, has_rsample = (
        property(lambda self, name=name: getattr(self.base_dist, name))
        for name in ("mean", "mode", "variance", "stddev", "has_rsample")
    )

    def __init__(
        self, base_distribution: Distribution, reinterpreted_batch_ndims: int, validate_args: bool | None = None
    ) -> None:
        batch, event = base_distribution.batch_shape, base_distribution.event_shape
        if reinterpreted_batch_ndims > len(batch):
            expected = "Expected reinterpreted_batch_ndims <= len(base_distribution.batch_shape)"
            raise ValueError(f"{expected}, actual {reinterpreted_batch_ndims} vs {len(batch)}")
        self.base_dist, self.reinterpreted_batch_ndims = base_distribution, reinterpreted_batch_ndims
        kept = len(batch) - reinterpreted_batch_ndims
        super().__init__(batch[:kept], batch[kept:] + event, validate_args)

    def expand(self, batch_shape: Sizes) -> Independent:
        shape = (*batch_shape, *self._event_shape[: self.reinterpreted_batch_ndims])
        return Independent(self.base_dist.expand(shape), self.reinterpreted_batch_ndims)

    def sample(self, sample_shape: Sizes = ()) -> Tensor:
        return self.base_dist.sample(sample_shape)

    def rsample(self, sample_shape: Sizes = ()) -> Tensor:
        return self.base_dist.rsample(sample_shape)

    def log_prob(self, value: Tensor) -> Tensor:
        return sum_rightmost(self.base_dist.log_prob(value), self.reinterpreted_batch_ndims)

    def entropy(self) -> Tensor:
        return sum_rightmost(self.base_dist.entropy(), self.reinterpreted_batch_ndims)

    def __repr__(self) -> str:
        return f"Independent({self.base_dist!r}, {self.reinterpreted_batch_ndims})"
