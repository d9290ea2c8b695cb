"""The base class of distributions, and what they share. In PyTorch: `torch/distributions/distribution.py` and `utils.py`."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from typing import Any

from rushlight.aten.generated import functions
from rushlight.aten.native import creation
from rushlight.aten.strided import Size, Tensor
from rushlight.autograd.grad_mode import no_grad
from rushlight.distributions import constraints

Sizes = Sequence[int]


class Distribution:
    """A subclass defines `arg_constraints`, `support`, and `rsample` or `sample`, `_log_prob`, `mean` and so on.

    The sizes of a sample are those that are asked for, those of the batch (one distribution for each element), and those of an
    event.
    """

    has_rsample = has_enumerate_support = False
    _validate_args = __debug__
    arg_constraints: dict[str, constraints.Constraint] = {}
    support: constraints.Constraint
    batch_shape: Size = property(lambda self: self._batch_shape)
    event_shape: Size = property(lambda self: self._event_shape)
    variance: Tensor = property(lambda self: self.stddev.pow(2))
    stddev: Tensor = property(lambda self: self.variance.sqrt())

    def __init__(self, batch_shape: Sizes = (), event_shape: Sizes = (), validate_args: bool | None = None) -> None:
        self._batch_shape, self._event_shape = Size(batch_shape), Size(event_shape)
        if validate_args is not None:
            self._validate_args = validate_args
        for name, constraint in self.arg_constraints.items():
            if self._validate_args and name in self.__dict__:
                rule = f"of distribution {self!r} to satisfy the constraint {constraint!r}"
                _check(constraint, self.__dict__[name], f"parameter {name}", rule)

    @staticmethod
    def set_default_validate_args(value: bool) -> None:
        Distribution._validate_args = value

    def expand(self, batch_shape: Sizes) -> Distribution:
        """The same distribution with a larger batch."""
        new = copy(self)
        new._batch_shape = Size(batch_shape)
        for name, value in self.__dict__.items():
            if isinstance(value, Tensor):
                event = value.shape[len(self._batch_shape) :]
                new.__dict__[name] = value.expand((*batch_shape, *event))
        return new

    def sample(self, sample_shape: Sizes = ()) -> Tensor:
        with no_grad():
            return self.rsample(sample_shape)

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        return self._log_prob(value)

    def cdf(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        return self._cdf(value)

    def _left_out(self, *args: Any, **kwargs: Any) -> Tensor:
        raise NotImplementedError

    _log_prob = _cdf = icdf = entropy = enumerate_support = rsample = _left_out
    mean: Tensor = property(_left_out)
    mode: Tensor = property(_left_out)

    def perplexity(self) -> Tensor:
        return self.entropy().exp()

    def _extended_shape(self, sample_shape: Sizes = ()) -> Size:
        return Size((*sample_shape, *self._batch_shape, *self._event_shape))

    def _validate_sample(self, value: Tensor) -> None:
        if not isinstance(value, Tensor):
            raise ValueError("The value argument to log_prob must be a Tensor")
        sizes, expected = value.shape, self._batch_shape + self._event_shape
        if sizes[len(sizes) - len(self._event_shape) :] != self._event_shape:
            raise ValueError(f"The right-most size of value must match event_shape: {sizes} vs {self._event_shape}.")
        if any(a != b and 1 not in (a, b) for a, b in zip(reversed(sizes), reversed(expected))):
            raise ValueError(f"Value is not broadcastable with batch_shape+event_shape: {sizes} vs {expected}.")
        rule = f"to be within the support ({self.support!r}) of the distribution {self!r}"
        _check(self.support, value, "value argument", rule)

    def __repr__(self) -> str:
        values = {name: self.__dict__[name] for name in self.arg_constraints if name in self.__dict__}
        shown = (f"{name}: {value if value.numel() == 1 else value.shape}" for name, value in values.items())
        return f"{type(self).__name__}({', '.join(shown)})"


def _check(constraint: constraints.Constraint, value: Tensor, what: str, rule: str) -> None:
    if not constraint.check(value).all():
        kind = f"{type(value).__name__} of shape {tuple(value.shape)}"
        raise ValueError(f"Expected {what} ({kind}) {rule}, but found invalid values:\n{value}")


def broadcast_all(*values: Any) -> tuple[Tensor, ...]:
    """The values as tensors of the same sizes. Numbers get the dtype of the first tensor, or the default dtype."""
    first = next((value for value in values if isinstance(value, Tensor)), creation.tensor(0.0))
    tensors = [v if isinstance(v, Tensor) else creation.tensor(v, dtype=first.dtype) for v in values]
    return tuple(functions.broadcast_tensors(tensors))


def sum_rightmost(value: Tensor, dims: int) -> Tensor:
    """The sum over the last `dims` dimensions."""
    return value.flatten(-dims).sum(-1) if dims else value
