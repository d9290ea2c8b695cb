"""The normal distribution of vectors. In PyTorch: `torch/distributions/multivariate_normal.py`."""

from __future__ import annotations

import math

from rushlight.aten.generated import functions
from rushlight.aten.strided import Tensor, infer_size
from rushlight.distributions import constraints
from rushlight.distributions.distribution import Distribution, Sizes


class MultivariateNormal(Distribution):
    """Vectors with the mean `loc`, of sizes (…, n), and one of a covariance matrix, its inverse `precision_matrix`, and its lower
    factor `scale_tril`, of sizes (…, n, n). Raises ValueError for another number of matrices, or one that is not allowed."""

    arg_constraints = {
        "loc": constraints.real_vector,
        "covariance_matrix": constraints.positive_definite,
        "precision_matrix": constraints.positive_definite,
        "scale_tril": constraints.lower_cholesky,
    }
    support = constraints.real_vector
    has_rsample = True
    mean = mode = property(lambda self: self.loc)
    variance = property(lambda self: self._tril.pow(2).sum(-1))

    def __init__(
        self,
        loc: Tensor,
        covariance_matrix: Tensor | None = None,
        precision_matrix: Tensor | None = None,
        scale_tril: Tensor | None = None,
        validate_args: bool | None = None,
    ) -> None:
        if loc.dim() < 1:
            raise ValueError("loc must be at least one-dimensional.")
        matrices = dict(zip([*self.arg_constraints][1:], (covariance_matrix, precision_matrix, scale_tril)))
        given = [(name, matrix) for name, matrix in matrices.items() if matrix is not None]
        if len(given) != 1:
            raise ValueError("Exactly one of covariance_matrix or precision_matrix or scale_tril may be specified.")
        ((name, matrix),) = given
        if matrix.dim() < 2:
            what = "scale_tril matrix" if name == "scale_tril" else name
            raise ValueError(f"{what} must be at least two-dimensional, with optional leading batch dimensions")
        batch = infer_size(matrix.shape[:-2], loc.shape[:-1])
        self.loc, matrix = loc.expand((*batch, -1)), matrix.expand((*batch, -1, -1))
        self.__dict__[name] = matrix
        super().__init__(batch, loc.shape[-1:], validate_args)
        if name == "precision_matrix":  # the factor of the inverse, from that of the matrix with its rows in reverse
            self._tril = functions.linalg_cholesky(matrix.flip(-2, -1)).flip(-2, -1).mT.inverse()
        else:
            self._tril = matrix if name == "scale_tril" else functions.linalg_cholesky(matrix)

    def __getattr__(self, name: str) -> Tensor:
        """The matrices that were not given."""
        if name == "scale_tril":
            return self._tril
        if name in ("covariance_matrix", "precision_matrix"):
            covariance = self._tril @ self._tril.mT
            return covariance if name == "covariance_matrix" else covariance.inverse()
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def rsample(self, sample_shape: Sizes = ()) -> Tensor:
        noise = functions.empty(self._extended_shape(sample_shape), dtype=self.loc.dtype).normal_()
        return self.loc + (self._tril @ noise.unsqueeze(-1)).squeeze(-1)

    def _log_prob(self, value: Tensor) -> Tensor:
        difference = (value - self.loc).unsqueeze(-1)
        distance = functions.linalg_solve(self._tril, difference).squeeze(-1).pow(2).sum(-1)
        return -0.5 * (self._event_shape[0] * math.log(2 * math.pi) + distance) - self._half_log_det()

    def entropy(self) -> Tensor:
        return 0.5 * self._event_shape[0] * (1.0 + math.log(2 * math.pi)) + self._half_log_det()

    def _half_log_det(self) -> Tensor:
        return self._tril.diagonal(dim1=-2, dim2=-1).log().sum(-1)
