"""Constraints on the parameters and the values of distributions: `check` says which elements, or events, satisfy one.

In PyTorch: `torch/distributions/constraints.py`. Left out: those that no distribution here has.
"""

from collections.abc import Callable
from typing import Any

from rushlight.aten.generated.functions import linalg_cholesky_ex
from rushlight.aten.strided import Tensor


class Constraint:
    """Which values an argument, or a sample, may have."""

    is_discrete, event_dim = False, 0

    def __init__(self, **bounds: Any) -> None:
        self.__dict__.update(bounds)

    def __repr__(self) -> str:
        return f"{type(self).__name__[1:]}({', '.join(f'{name}={value}' for name, value in self.__dict__.items())})"


def _kind(name: str, check: Callable, event_dim: int = 0, is_discrete: bool = False) -> type[Constraint]:
    members = {"check": check, "event_dim": event_dim, "is_discrete": is_discrete, "__module__": __name__}
    return type(f"_{name}", (Constraint,), members)


class _IndependentConstraint(Constraint):
    """The last `reinterpreted_batch_ndims` dimensions are one event."""

    def __init__(self, base_constraint: Constraint, reinterpreted_batch_ndims: int) -> None:
        self.base_constraint, self.reinterpreted_batch_ndims = base_constraint, reinterpreted_batch_ndims
        self.event_dim = base_constraint.event_dim + reinterpreted_batch_ndims

    def check(self, value: Tensor) -> Tensor:
        checked, dims = self.base_constraint.check(value), self.reinterpreted_batch_ndims
        return checked.flatten(-dims).all(-1) if dims else checked

    def __repr__(self) -> str:
        return f"IndependentConstraint({self.base_constraint!r}, {self.reinterpreted_batch_ndims})"


independent = _IndependentConstraint
"""A constraint on whole events: all elements of the last dimensions must satisfy the base constraint.
Source: `torch/distributions/constraints.py`, `independent`."""


_Above = _kind("GreaterThan", lambda self, x: self.lower_bound < x)
_AtLeast = _kind("GreaterThanEq", lambda self, x: self.lower_bound <= x)
_Interval = _kind("Interval", lambda self, x: (self.lower_bound <= x) & (x <= self.upper_bound))
_Integers = _kind("IntegerInterval", lambda self, x: (x % 1 == 0) & _Interval.check(self, x), is_discrete=True)


def interval(lower_bound: Any, upper_bound: Any, kind: type[Constraint] = _Interval) -> Constraint:
    """Numbers from a lower to an upper bound."""
    return kind(lower_bound=lower_bound, upper_bound=upper_bound)


dependent = _kind("Dependent", lambda self, x: x == x)()  # on parameters, so it is not checked
"""A constraint that depends on the distribution's parameters, so it is not checked."""
real = _kind("Real", lambda self, x: x == x)()
"""Numbers that are not NaN."""
real_vector, positive, nonnegative = independent(real, 1), _Above(lower_bound=0.0), _AtLeast(lower_bound=0.0)
"""Vectors of real numbers, as the last dimension; numbers above 0; numbers from 0 on."""
unit_interval = interval(0.0, 1.0)
"""Numbers from 0 to 1."""
boolean = _kind("Boolean", lambda self, x: (x == 0) | (x == 1), is_discrete=True)()
"""0 or 1."""
_is_symmetric = lambda x: x.isclose(x.mT, atol=1e-6).all(-1).all(-1)  # noqa: E731
positive_definite = _kind("PositiveDefinite", lambda self, x: _is_symmetric(x) & (linalg_cholesky_ex(x)[1] == 0), 2)()
"""Symmetric matrices whose eigenvalues are all positive, as the last two dimensions."""
lower_cholesky = _kind(
    "LowerCholesky", lambda self, x: (x.tril() == x).all(-1).all(-1) & (x.diagonal(dim1=-2, dim2=-1) > 0).all(-1), 2
)()
"""Lower triangular matrices with a positive diagonal, as the last two dimensions."""
simplex = _kind("Simplex", lambda self, x: (x >= 0).all(-1) & ((x.sum(-1) - 1).abs() < 1e-6), 1)()
"""Vectors, as the last dimension, of numbers that are not negative and add up to 1."""
