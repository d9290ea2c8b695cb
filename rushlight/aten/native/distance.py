"""How far vectors are from one another. In PyTorch: `aten/src/ATen/native/Distance.cpp`. Left out: `pairwise_distance`, `cdist`
and `pdist`."""

from __future__ import annotations

from rushlight.aten.generated import functions
from rushlight.aten.strided import Tensor
from rushlight.c10.dtypes import FLOATING, common_dtype


def cosine_similarity(x1: Tensor, x2: Tensor, dim: int = 1, eps: float = 1e-8) -> Tensor:
    """The sum along `dim` of x1 * x2, each divided by its norm along `dim`, which is at least `eps`: the cosine of the angle
    between two vectors, from -1 to 1. The gradient is that of the norm without this bound.
    Source: `aten/src/ATen/native/Distance.cpp`, `cosine_similarity`."""
    common = common_dtype(x1, x2)
    if common.category != FLOATING:
        raise RuntimeError(f"expected common dtype to be floating point, yet common dtype is {common.type_name}")
    x1, x2 = functions.broadcast_tensors([x if x.dtype.is_floating_point else x.to(common) for x in (x1, x2)])
    norms = _norm(x1, dim), _norm(x2, dim)
    norm1, norm2 = (norm + (norm.clamp_min(eps) - norm).detach() for norm in norms)
    return ((x1 / norm1) * (x2 / norm2)).sum(dim)


def _norm(x: Tensor, dim: int) -> Tensor:
    """The root of the sum of squares along `dim`, which stays. At 0 its gradient is 0."""
    squares = functions.sum(functions.square(x), dim, True)
    is_zero = squares == 0
    return squares.masked_fill(is_zero, 1).sqrt().masked_fill(is_zero, 0)
