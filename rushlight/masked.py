"""Reductions and normalizations of the elements that a mask selects: `torch.masked`.

An element that the mask leaves out becomes the identity of the reduction, such as 0 for a sum, and then the plain function
runs. The result for a line without selected elements is undefined. In PyTorch: `torch/masked/_ops.py`. Left out: sparse
tensors, `MaskedTensor`.
"""

# ruff: noqa: A001, A002
from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf, nan

import rushlight as rl
from rushlight.aten.strided import Tensor
from rushlight.c10.dtypes import dtype as Dtype  # noqa: N812
from rushlight.linalg import vector_norm
from rushlight.nn import functional as F

__all__ = [
    "amax", "amin", "argmax", "argmin", "cumprod", "cumsum", "log_softmax", "logaddexp", "logsumexp", "mean", "median", "norm",
    "normalize", "prod", "softmax", "softmin", "std", "sum", "var",
]  # fmt: skip

Dims = int | Sequence[int] | None


def _canonical_dim(dim: Dims, ndim: int) -> tuple[int, ...]:
    """The dimensions in order, without negative ones. None and `()` are all dimensions."""
    if dim is None or dim == ():
        return tuple(range(ndim))
    dims: list[int] = []
    for d in (dim,) if isinstance(dim, int) else dim:
        if d in dims:
            raise RuntimeError(f"dim={d} appears multiple times in the list of dims")
        if not -(ndim or 1) <= d < (ndim or 1):
            expected = f"[{-(ndim or 1)}, {(ndim or 1) - 1}]"
            raise IndexError(f"Dimension out of range (expected to be in range of {expected}, but got {d})")
        dims.append(d % (ndim or 1))
    return tuple(sorted(dims))


def _input_mask(input: Tensor, *args, **kwargs) -> Tensor:
    """The argument `mask` in the shape of the input, with elements of type bool."""
    mask = kwargs.get("mask")
    if mask is None:
        raise ValueError("_input_mask requires explicit mask")
    if mask.dim() > input.dim():
        problem = "got mask dimensionality higher than of the input"
        raise IndexError(f"_input_mask expected broadcastable mask ({problem})")
    return mask.expand(input.shape).to(rl.bool)


def _output_mask(op: Callable, input: Tensor, *args, **kwargs) -> Tensor:
    """A mask of the elements of a result that are defined."""
    mask = _input_mask(input, *args, **kwargs)
    if op.__name__ in ("softmax", "log_softmax", "softmin", "normalize", "cumsum", "cumprod"):
        return mask
    args = args[1:] if op.__name__ == "norm" else args
    dims = _canonical_dim(args[0] if args else kwargs.get("dim"), input.dim())
    for dim in reversed(dims):
        mask = mask.any(dim, bool(kwargs.get("keepdim")))
    return mask


def _lowest(dtype: Dtype) -> float:
    return -inf if dtype.is_floating_point else rl.iinfo(dtype).min


def _highest(dtype: Dtype) -> float:
    return inf if dtype.is_floating_point else rl.iinfo(dtype).max


IDENTITIES: dict[str, float | Callable[[Dtype], float]] = {
    "sum": 0, "cumsum": 0, "norm": 0, "normalize": 0, "prod": 1, "cumprod": 1, "amax": _lowest, "argmax": _lowest,
    "logsumexp": _lowest, "logaddexp": _lowest, "softmax": _lowest, "log_softmax": _lowest, "amin": _highest,
    "argmin": _highest, "softmin": _highest, "median": nan,
}  # fmt: skip


def _reduction_identity(op_name: str, input: Tensor, *args) -> Tensor | None:
    """The element that does not change the result of a reduction. None if it depends on the other elements."""
    name = op_name.rpartition(".")[2]
    if name in ("mean", "var", "std"):
        return None
    identity = IDENTITIES[name]
    value = inf if name == "norm" and args[:1] == (-inf,) else identity(input.dtype) if callable(identity) else identity
    return rl.tensor(value, dtype=input.dtype, device=input.device)


def _filled(name: str, input: Tensor, mask: Tensor | None, *args) -> Tensor:
    """The input with the identity of a reduction in place of each element that the mask leaves out."""
    if mask is None:
        return input
    return rl.where(_input_mask(input, mask=mask), input, _reduction_identity(name, input, *args))


# Reductions ----------------------------------------------------------------------------------------------------------


def _reduction(name: str, reduce: Callable, integers: bool = False) -> Callable:
    """A reduction over several dimensions. Its result has the input's dtype, or int64 if it adds `integers`."""

    def masked(
        input: Tensor,
        dim: Dims = None,
        *,
        keepdim: bool | None = False,
        dtype: Dtype | None = None,
        mask: Tensor | None = None,
    ) -> Tensor:
        dtype = dtype or (rl.int64 if integers and not input.dtype.is_floating_point else input.dtype)
        x = _filled(name, input, mask)
        return reduce(x.to(dtype) if integers else x, dim, bool(keepdim)).to(dtype)

    masked.__name__ = masked.__qualname__ = name
    return masked


def _prod(x: Tensor, dim: Dims, keepdim: bool) -> Tensor:
    for d in reversed(_canonical_dim(dim, x.dim())):
        x = x.prod(d, keepdim)
    return x


def _over(function: Callable) -> Callable:
    return lambda x, dim, keepdim: function(x, _canonical_dim(dim, x.dim()), keepdim)


sum, prod = _reduction("sum", _over(rl.sum), integers=True), _reduction("prod", _prod, integers=True)
"""The sum, or the product, over `dim` of the elements for which the mask is True."""
amax, amin = _reduction("amax", _over(rl.amax)), _reduction("amin", _over(rl.amin))
"""The greatest, or the least, of the elements for which the mask is True."""
argmax, argmin = _reduction("argmax", rl.argmax), _reduction("argmin", rl.argmin)
"""The index of the greatest, or of the least, of the elements for which the mask is True."""
logsumexp = _reduction("logsumexp", _over(rl.logsumexp))
"""The logarithm of the sum of the exponentials of the elements for which the mask is True."""


def norm(
    input: Tensor, ord: float | None = 2.0, dim: Dims = None, *, keepdim: bool | None = False, dtype: Dtype | None = None,
    mask: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """The `ord`-norm of the elements for which the mask is True."""
    x = _filled("norm", input, mask, ord)
    return vector_norm(x, ord, _canonical_dim(dim, x.dim()), bool(keepdim), dtype=dtype or input.dtype)


def _count(input: Tensor, dim: Dims, keepdim: bool | None, mask: Tensor | None) -> Tensor:
    """The number of selected elements."""
    return sum(rl.ones(input.shape, dtype=rl.int64, device=input.device), dim, keepdim=keepdim, mask=mask)


def mean(
    input: Tensor,
    dim: Dims = None,
    *,
    keepdim: bool | None = False,
    dtype: Dtype | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """The mean, NaN for a line without selected elements."""
    if not (dtype or input.dtype).is_floating_point:
        source = "Input" if dtype is None else "Optional"
        raise ValueError(
            f"mean(): Could not infer output dtype. {source} dtype must be either a floating point or complex dtype. "
            f"Got: {dtype or input.dtype}"
        )
    total = sum(input, dim, keepdim=keepdim, dtype=dtype or input.dtype, mask=mask)
    return total / _count(input, dim, keepdim, mask)


def median(
    input: Tensor, dim: int = -1, *, keepdim: bool = False, dtype: Dtype | None = None, mask: Tensor | None = None
) -> Tensor:
    """The median, NaN for a line without selected elements."""
    (dim,) = _canonical_dim(dim, input.dim())
    x = input if input.dtype.is_floating_point else input.to(rl.float32)
    result = rl.nanmedian(_filled("median", x, mask), dim, keepdim).values
    if x is input:
        return result
    if result.isnan().any():
        raise ValueError("masked median expects no fully masked out rows if dtype is not floating point")
    return result.to(dtype or input.dtype)


def var(
    input: Tensor, dim: Dims = None, unbiased: bool | None = None, *, correction: float | None = None,
    keepdim: bool | None = False, dtype: Dtype | None = None, mask: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """The variance of the elements for which the mask is True."""
    assert unbiased is None or correction is None, "Only one of unbiased and correction may be given"
    correction = float(unbiased is not False) if correction is None else float(correction)
    dtype = dtype or (input.dtype if input.dtype.is_floating_point else rl.float32)
    computed_in = dtype if dtype.is_floating_point else rl.float32
    count = _count(input, dim, True, mask)
    x = input - sum(input, dim, keepdim=True, dtype=dtype, mask=mask) / count
    total = sum(x * x, dim, keepdim=keepdim, dtype=computed_in, mask=mask)
    degrees = count.reshape(total.shape)
    if correction:
        degrees = (degrees.to(computed_in) - correction).clamp(min=0)
    return (total / degrees).to(dtype)


def std(input: Tensor, dim: Dims = None, unbiased: bool | None = None, **options) -> Tensor:
    """The standard deviation of the elements for which the mask is True."""
    return var(input, dim, unbiased, **options).sqrt()


# Normalizations ------------------------------------------------------------------------------------------------------


def _along(name: str, function: Callable) -> Callable:
    """A function along one dimension, with a result of the input's shape."""

    def masked(input: Tensor, dim: int, *, dtype: Dtype | None = None, mask: Tensor | None = None) -> Tensor:
        (dim,) = _canonical_dim(dim, input.dim())
        return function(_filled(name, input, mask), dim, dtype=dtype or input.dtype)

    masked.__name__ = masked.__qualname__ = name
    return masked


cumsum, cumprod = _along("cumsum", rl.cumsum), _along("cumprod", rl.cumprod)
"""The sums, or the products, along `dim` up to each element: an element for which the mask is False changes none."""
softmax, log_softmax, softmin = (_along(name, getattr(F, name)) for name in ("softmax", "log_softmax", "softmin"))
"""The function of this name, along `dim`, of the elements for which the mask is True. The others do not count."""


def normalize(
    input: Tensor, ord: float, dim: int, *, eps: float = 1e-12, dtype: Dtype | None = None, mask: Tensor | None = None
) -> Tensor:
    """The vectors along `dim`, divided by the norm of their elements for which the mask is True."""
    return _filled("normalize", input, mask) / norm(input, ord, dim, keepdim=True, dtype=dtype, mask=mask).clamp(
        min=eps
    )


def logaddexp(
    input: Tensor,
    other: Tensor,
    *,
    dtype: Dtype | None = None,
    input_mask: Tensor | None = None,
    other_mask: Tensor | None = None,
) -> Tensor:
    """`log(exp(input) + exp(other))`. An element for which a mask is False counts as minus infinity."""
    x, y = _filled("logaddexp", input, input_mask), _filled("logaddexp", other, other_mask)
    return rl.logaddexp(x, y).to(dtype or input.dtype)
