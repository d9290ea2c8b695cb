"""Distributions of vectors, and batches that are taken for vectors.

In PyTorch: the modules of `torch/distributions/` with the names of the classes. Left out: the gradient of a covariance matrix
(`scale_tril` has one), `precision_matrix`, and gradients of samples of `Dirichlet` and `Beta`.
"""

from __future__ import annotations

import math

import numpy as np

from rushlight.aten.generated import functions
from rushlight.aten.native import creation
from rushlight.aten.strided import Tensor
from rushlight.c10.dtypes import numpy_finfo
from rushlight.distributions import constraints
from rushlight.distributions.distribution import Distribution, Sizes, broadcast_all, standard_normal, sum_rightmost
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


class MultivariateNormal(Distribution):
    arg_constraints = {
        "loc": constraints.real_vector,
        "covariance_matrix": constraints.positive_definite,
        "scale_tril": constraints.lower_cholesky,
    }
    support, has_rsample = constraints.real_vector, True
    mean = mode = property(lambda self: self.loc)
    variance = property(lambda self: self.scale_tril.pow(2).sum(-1))
    scale_tril = property(lambda self: self._root)
    covariance_matrix = property(lambda self: functions.matmul(self._root, self._root.mT))

    def __init__(
        self, loc: Tensor, covariance_matrix: Tensor | None = None, precision_matrix: Tensor | None = None,
        scale_tril: Tensor | None = None, validate_args: bool | None = None,
    ) -> None:  # fmt: skip
        if precision_matrix is not None or covariance_matrix is not None and covariance_matrix.requires_grad:
            what = "precision_matrix, and the gradient of covariance_matrix"
            raise NotImplementedError(f"rushlight leaves out {what}: give scale_tril")
        if (covariance_matrix is None) == (scale_tril is None):
            raise ValueError("Exactly one of covariance_matrix or precision_matrix or scale_tril may be specified.")
        name = "scale_tril" if covariance_matrix is None else "covariance_matrix"
        matrix = scale_tril if covariance_matrix is None else covariance_matrix
        if loc.dim() < 1 or matrix.dim() < 2:
            raise ValueError(f"loc must be at least one-dimensional, and {name} at least two-dimensional")
        batch = np.broadcast_shapes(matrix.shape[:-2], loc.shape[:-1])
        self.loc = loc.expand((*batch, -1))
        self.__dict__[name] = matrix = matrix.expand((*batch, -1, -1))
        super().__init__(batch, self.loc.shape[-1:], validate_args)
        self._root = matrix if scale_tril is not None else creation.from_numpy(np.linalg.cholesky(matrix.numpy()))

    def rsample(self, sample_shape: Sizes = ()) -> Tensor:
        noise = standard_normal(self.loc, self._extended_shape(sample_shape))
        return self.loc + functions.matmul(self._root, noise.unsqueeze(-1)).squeeze(-1)

    def _half_log_det(self) -> Tensor:
        return self._root.diagonal(dim1=-2, dim2=-1).log().sum(-1)

    def _log_prob(self, value: Tensor) -> Tensor:
        squares = solve_lower(self._root, value - self.loc).pow(2).sum(-1)
        return -0.5 * (self._event_shape[0] * math.log(2 * math.pi) + squares) - self._half_log_det()

    def entropy(self) -> Tensor:
        return 0.5 * self._event_shape[0] * (1.0 + math.log(2 * math.pi)) + self._half_log_det()


def solve_lower(matrix: Tensor, b: Tensor) -> Tensor:
    """x in `matrix @ x = b`, for a lower triangular matrix: each element from the ones before it."""
    solved: list[Tensor] = []
    for i in range(b.size(-1)):
        known = sum((matrix[..., i, j] * x for j, x in enumerate(solved)), 0.0)
        solved.append((b[..., i] - known) / matrix[..., i, i])
    return functions.stack(solved, -1)


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
