"""Batches that are taken for events. In PyTorch: `torch/distributions/independent.py`."""

from __future__ import annotations

from rushlight.aten.strided import Tensor
from rushlight.distributions import constraints
from rushlight.distributions.distribution import Distribution, Sizes, sum_rightmost


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
