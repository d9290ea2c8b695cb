"""Linear algebra, by torch's names: norms and singular values.

In PyTorch: `torch/linalg/__init__.py`, `aten/src/ATen/native/LinearAlgebra.cpp`. Left out: other decompositions.
"""

from collections.abc import Sequence

from rushlight.aten.generated import functions
from rushlight.aten.native.linear_algebra import _LinAlgError as LinAlgError
from rushlight.aten.strided import Tensor
from rushlight.c10.dtypes import Scalar, dtype

__all__ = [
    "LinAlgError", "cholesky", "cholesky_ex", "cross", "det", "inv", "matrix_norm", "norm", "solve", "svdvals",
    "vector_norm",
]  # fmt: skip

inv, det, cross, svdvals = functions.linalg_inv, functions.linalg_det, functions.linalg_cross, functions.linalg_svdvals
solve = functions.linalg_solve
cholesky, cholesky_ex = functions.linalg_cholesky, functions.linalg_cholesky_ex
vector_norm, matrix_norm = functions.linalg_vector_norm, functions.linalg_matrix_norm


def norm(
    A: Tensor,  # noqa: N803
    ord: Scalar | str | None = None,
    dim: int | Sequence[int] | None = None,
    keepdim: bool = False,
    *,
    out: Tensor | None = None,
    dtype: dtype | None = None,
) -> Tensor:
    """The norm of vectors, or, if `ord` is given and there are two dimensions, of matrices.
    Source: `aten/src/ATen/native/LinearAlgebra.cpp`, `linalg_norm`."""
    dim = [dim] if isinstance(dim, int) else dim
    if ord is None or dim is None and A.dim() == 1 and not isinstance(ord, str):
        return vector_norm(A, 2 if ord is None else ord, dim, keepdim, dtype=dtype, out=out)
    if dim is None and A.dim() not in (1, 2):
        raise RuntimeError("linalg.norm: If dim is not specified but ord is, the input must be 1D or 2D.")
    if dim is not None and len(dim) not in (1, 2):
        raise RuntimeError(f"linalg.norm: If dim is specified, it must be of length 1 or 2. Got {list(dim)}")
    dim = list(range(A.dim())) if dim is None else dim
    if len(dim) == 1 and not isinstance(ord, str):
        return vector_norm(A, ord, dim, keepdim, dtype=dtype, out=out)
    return matrix_norm(A, ord, dim, keepdim, dtype=dtype, **({} if out is None else {"out": out}))
