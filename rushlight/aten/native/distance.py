"""How far vectors are from one another. In PyTorch: `aten/src/ATen/native/Distance.cpp`. `pairwise_distance` and `cdist`
are formulas in `native_functions.yaml`."""

from rushlight.aten.generated import functions
from rushlight.aten.strided import Tensor
from rushlight.c10.dispatch import BIT, excluding
from rushlight.c10.dtypes import FLOATING, common_dtype


def pdist(self: Tensor, p: float = 2) -> Tensor:
    """The distances of each two rows, in the order of the elements above the diagonal of `cdist`.
    Source: `aten/src/ATen/native/Distance.cpp`, `pdist`."""
    if self.dim() != 2:
        raise RuntimeError(f"pdist only supports 2D tensors, got: {self.dim()}D")
    if self.dtype.category != FLOATING:
        raise RuntimeError("pdist only supports floating-point dtypes")
    if p < 0:
        raise RuntimeError("pdist only supports non-negative p values")
    first, second = functions.triu_indices(self.size(0), self.size(0), 1).unbind()
    if p == 0:
        return (self[first] - self[second]).abs().ceil().clamp_max(1).sum(1)  # NaN stays NaN
    return functions.pairwise_distance(self[first], self[second], p, 0.0)


def cosine_similarity(x1: Tensor, x2: Tensor, dim: int = 1, eps: float = 1e-8) -> Tensor:
    """The sum along `dim` of x1 * x2, each divided by its norm along `dim`, which is at least `eps`: the cosine of the angle
    between two vectors, from -1 to 1. The gradient is that of the norm without this bound.
    Source: `aten/src/ATen/native/Distance.cpp`, `cosine_similarity`."""
    if eps < 0:
        raise RuntimeError(f"eps must be non-negative, got: {eps}")
    common = common_dtype(x1, x2)
    if common.category != FLOATING:
        raise RuntimeError(f"expected common dtype to be floating point, yet common dtype is {common.type_name}")
    x1, x2 = functions.broadcast_tensors([x if x.dtype.is_floating_point else x.to(common) for x in (x1, x2)])
    norm1, norm2 = (functions.linalg_vector_norm(x, 2, [dim], True).clone() for x in (x1, x2))
    with excluding(BIT["AutogradFunctionality"]):  # the bound has no gradient
        norm1.clamp_min_(eps)
        norm2.clamp_min_(eps)
    return ((x1 / norm1) * (x2 / norm2)).sum(dim)
