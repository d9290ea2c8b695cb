"""Products of matrices and vectors, and norms.

`mm`, `bmm`, `addmm` and others are kernels. `matmul` and `linear` are composites: they check the number of dimensions of their
arguments and call the matching operator, so autograd needs only the derivatives of the kernels. In PyTorch:
`aten/src/ATen/native/LinearAlgebra.cpp`, `Linear.cpp`. numpy's BLAS multiplies. `blocked_mm` shows how a BLAS works. Left out:
results with another dtype than the operands, complex products, and the choice between several libraries.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from rushlight.aten.generated import functions
from rushlight.aten.iterator import cached, checked_convert
from rushlight.aten.native.pointwise import SIMPLE_DTYPES, fits_fast_path, widened
from rushlight.aten.native.reductions import Dims, accumulate_dtype, axes, reduced_sizes
from rushlight.aten.native.views import as_view, call_view, is_watched, runs_unseen
from rushlight.aten.strided import Tensor, infer_size, is_blas_matrix, plain_alias, plain_strides, wrap_dim, wrap_plain
from rushlight.aten.structured import Output, Structured, allocate, planned_by_value, resize_output, write_out
from rushlight.c10.dispatch import local
from rushlight.c10.dtypes import FLOATING, INTEGRAL, REDUCED_FLOATING, Scalar, bool_, dtype, float16, int32, promote_any
from rushlight.c10.exception import warn, warn_once
from rushlight.c10.fast_paths import fast_form_of
from rushlight.c10.storage import Size

# Checks --------------------------------------------------------------------------------------------------------------


def assert_dim(self: Tensor, ndim: int, message: str) -> None:
    """Raise a `RuntimeError` with this message if the tensor does not have `ndim` dimensions."""
    if self.dim() != ndim:
        raise RuntimeError(f"{message}, but got a tensor of {self.dim()} dimensions")


def assert_same_dtype(*tensors: Tensor) -> None:
    """Raise a `RuntimeError` if the tensors have several dtypes. A product does not promote types."""
    if len({tensor.dtype for tensor in tensors}) > 1:
        raise RuntimeError(f"expected tensors of the same dtype, but got {', '.join(t.dtype.name for t in tensors)}")


def assert_has_product(name: str, self: Tensor) -> None:
    """Raise a `NotImplementedError` for the dtype bool."""
    if self.dtype is bool_:
        raise NotImplementedError(f'"{name}" not implemented for {self.dtype.type_name!r}; convert to a number first')


def product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """`a @ b`. float16 and bfloat16 are computed in float32, and the result is float32."""
    if a.itemsize == 2:
        a, b = a.astype(np.float32), b.astype(np.float32)
    return np.matmul(a, b)


# Matrix times matrix -------------------------------------------------------------------------------------------------


def meta_mm(self: Tensor, mat2: Tensor) -> Output:
    """The geometry of `mm`: (n, k) and (k, m) give (n, m). Other shapes, or two dtypes, raise a `RuntimeError`."""
    assert_dim(self, 2, "self must be a matrix")
    assert_dim(mat2, 2, "mat2 must be a matrix")
    if self.size(1) != mat2.size(0):
        sizes = f"{self.size(0)}x{self.size(1)} and {mat2.size(0)}x{mat2.size(1)}"
        raise RuntimeError(f"mat1 and mat2 shapes cannot be multiplied ({sizes})")
    assert_same_dtype(self, mat2)
    return Output((self.size(0), mat2.size(1)), None, self.dtype)


def set_up_mm(self: Tensor, mat2: Tensor) -> Callable[..., np.ndarray]:
    """The function of numpy that multiplies these matrices. If all rows of `self` are one row with stride 0, it
    multiplies one row and repeats it."""
    assert_has_product("mm", self)
    rows = self.size(0)
    if self._strides[0] == 0 and rows > 1 and self.dtype in SIMPLE_DTYPES:  # an expanded gradient: all rows are equal
        return lambda a, b: np.matmul(a[:1], b).repeat(rows, 0)
    if self.dtype in REDUCED_FLOATING:
        return product
    return np.ndarray.dot if is_blas_matrix(self) and is_blas_matrix(mat2) else np.matmul


@partial(planned_by_value, set_up=set_up_mm, tensors=2)
@partial(Structured, meta_mm)
def mm(self: Tensor, mat2: Tensor, out: Tensor) -> None:
    if out.numel() == 0:
        return
    assert_has_product("mm", self)
    if out.dtype in REDUCED_FLOATING:
        out._array[...] = product(self._array, mat2._array)
    else:
        np.matmul(self._array, mat2._array, out._array)


def meta_addmm(self: Tensor, mat1: Tensor, mat2: Tensor, beta: Scalar, alpha: Scalar) -> Output:
    """The metadata of the result of `addmm`, beta * self + alpha * (mat1 @ mat2). Nothing is computed.

    Args:
        self: broadcasts to the sizes of the product, but never makes it larger.
        mat1, mat2: (rows, inner) and (inner, columns).
        beta, alpha: numbers, not used here.

    Returns:
        `Output` with the sizes (rows, columns), contiguous strides or None, which means the same, and the dtype of all three
        tensors.

    Raises:
        RuntimeError: `mat1` or `mat2` is not a matrix; they cannot be multiplied; `self` cannot be expanded to the sizes of
            the product; or the three dtypes are not equal.

    >>> meta_addmm(rl.ones(3), rl.ones(2, 4), rl.ones(4, 3), 1, 1)
    Output(sizes=(2, 3), strides=None, dtype=rushlight.float32)

    Source: `aten/src/ATen/native/LinearAlgebra.cpp`, `TORCH_META_FUNC(addmm)`.
    """
    if mat1.dim() != 2 or mat2.dim() != 2:
        raise RuntimeError(f"mat1 and mat2 must be matrices, got {mat1.dim()}-D and {mat2.dim()}-D tensors")
    (rows, inner), (inner2, columns) = mat1.shape, mat2.shape
    if inner != inner2:
        raise RuntimeError(f"mat1 and mat2 shapes cannot be multiplied ({rows}x{inner} and {inner2}x{columns})")
    if tuple(infer_size(self.shape, (rows, columns))) != (rows, columns):
        raise RuntimeError(f"self of shape {list(self.shape)} cannot be expanded to {[rows, columns]}")
    if len({self.dtype, mat1.dtype, mat2.dtype}) > 1:
        raise RuntimeError("self, mat1 and mat2 must have the same dtype")
    return Output((rows, columns), None, self.dtype)


def addmm_out(self: Tensor, mat1: Tensor, mat2: Tensor, beta: Scalar, alpha: Scalar, out: Tensor) -> None:
    """beta * self + alpha * (mat1 @ mat2), written into `out`.

    `meta_addmm` has checked the arguments. `self` may be `out` itself, in `addmm_`.

    Args:
        self: any sizes that broadcast to those of `out`. If beta is 0, `self` is not read, so that a NaN in it has no
            effect.
        mat1, mat2: matrices of any strides. Without an inner dimension (size 0) their product is 0.
        beta, alpha: numbers that the dtype can hold; for float16, numbers that float32 can hold, because everything is
            computed in float32 and rounded once, at the end. For integer tensors they are converted to integers: the
            fraction is dropped. If alpha is 0, a NaN in the matrices may or may not reach the result: PyTorch's kernels differ.
        out: of sizes (rows, columns) and any strides; its dtype is that of the others. Each tensor's `_array` is a numpy
            view of its memory.

    Raises:
        NotImplementedError: the dtype is bool (`rushlight.bool`), and `out` has elements.

    >>> out = rl.empty(1, 2)
    >>> addmm_out(rl.tensor([1.0, 2.0]), rl.ones(1, 3), rl.ones(3, 2), 10, 0.5, out)
    >>> out.tolist()
    [[11.5, 21.5]]

    Source: `aten/src/ATen/native/LinearAlgebra.cpp`, `addmm_impl_cpu_`.
    """
    if self.dtype is bool_ and out.numel():
        raise NotImplementedError("\"addmm\" not implemented for 'Bool'; convert to a number first")
    a, b = mat1._array, mat2._array
    if self.dtype is float16:
        a, b = a.astype(np.float32), b.astype(np.float32)
    result = a @ b
    result *= result.dtype.type(alpha)
    if beta != 0:
        result += result.dtype.type(beta) * self._array
    out._array[...] = result


def checked_addmm(self: Tensor, mat1: Tensor, mat2: Tensor, beta: Scalar, alpha: Scalar, out: Tensor) -> None:
    """`addmm_out` for any numbers: `checked_convert` raises RuntimeError for those that an integer dtype cannot hold."""
    if self.dtype.category == INTEGRAL and out.numel():
        beta, alpha = (checked_convert(number, self.dtype).item() for number in (beta, alpha))
    addmm_out(self, mat1, mat2, beta, alpha, out)


def set_up_addmm(self: Tensor, mat1: Tensor, mat2: Tensor, beta: Scalar, alpha: Scalar) -> Callable | None:
    """The most frequent call, that of `linear`."""
    if beta == alpha == 1 and self.dtype in SIMPLE_DTYPES and self.shape == mat2.shape[1:]:
        return add_to_dot if is_blas_matrix(mat1) and is_blas_matrix(mat2) else add_to_product
    return None


def add_to_dot(bias: np.ndarray, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """`bias + a @ b` by `ndarray.dot`, which calls the BLAS with less overhead."""
    product = a.dot(b)
    return np.add(product, bias, product)


def add_to_product(bias: np.ndarray, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """`bias + a @ b` by `np.matmul`."""
    product = np.matmul(a, b)
    return np.add(product, bias, product)


addmm = planned_by_value(Structured(meta_addmm, checked_addmm), set_up_addmm, tensors=3)


# Blocked matrix multiplication ---------------------------------------------------------------------------------------


def multiply_add(a: np.ndarray, b: np.ndarray, out: np.ndarray) -> None:
    """`out` += `a` @ `b`: the innermost kernel, which a BLAS has in assembler for each processor."""
    out += a @ b


def blocked_mm(
    a: np.ndarray,
    b: np.ndarray,
    out: np.ndarray,
    blocks: tuple[int, int, int] = (64, 256, 64),
    multiply: Callable[[np.ndarray, np.ndarray, np.ndarray], None] = multiply_add,
) -> None:
    """`out` = `a` @ `b`, block by block, so that the blocks in use stay in the cache.

    Memory is far slower than arithmetic. A product of whole matrices would fetch each element of `a` once for every column
    of `b`. A product of small blocks fetches a block once and uses every element of it as often as the block is wide. So
    the rows of `a`, the columns of `b` and the inner dimension are cut into runs that begin at 0. The last run of each may be
    shorter. `multiply` is called once for every combination of a run of rows, a run of the inner dimension and a run of
    columns, in any order.

    Args:
        a, b: numpy arrays of sizes (rows, inner) and (inner, columns), any strides, one dtype.
        out: (rows, columns), the same dtype, any strides. Its contents are overwritten. Without an inner dimension
            (size 0) the product is 0.
        blocks: a tuple or a list of three: the longest run of rows, of the inner dimension, of columns; each at least 1. By
            default (64, 256, 64).
        multiply: `multiply(a_block, b_block, out_block)` adds the product of two blocks to a block of `out`. All three are
            views, not copies, and never empty. By default `multiply_add`.

    >>> seen = []
    >>> blocked_mm(np.ones((3, 4)), np.ones((4, 2)), np.empty((3, 2)), (2, 4, 2), lambda *b: seen.append(b[2].shape))
    >>> sorted(seen)
    [(1, 2), (2, 2)]

    Source: the loops of GotoBLAS and its successors; in PyTorch, `aten/src/ATen/native/cpu/BlasKernel.cpp` and the BLAS that
    PyTorch was built with, if any.
    """
    (n, m), k = out.shape, len(b)
    rows, inner, columns = blocks
    out[...] = 0
    for i in range(0, n, rows):
        for p in range(0, k, inner):
            for j in range(0, m, columns):
                a_block, b_block = a[i : i + rows, p : p + inner], b[p : p + inner, j : j + columns]
                multiply(a_block, b_block, out[i : i + rows, j : j + columns])


# Batches of matrices -------------------------------------------------------------------------------------------------


def batched_product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """`a @ b`. Small matrices use a plain loop, as in PyTorch (`bmm_out_or_baddbmm_`), because a BLAS call costs more."""
    if a.shape[1] * a.shape[2] * b.shape[2] >= 400 or a.itemsize == 2:
        return product(a, b)
    return np.einsum("bij,bjk->bik", a, b)


def meta_bmm(self: Tensor, mat2: Tensor) -> Output:
    """The geometry of `bmm`: (batch, n, k) and (batch, k, m) give (batch, n, m). Other shapes, or two dtypes, raise a
    `RuntimeError`."""
    assert_dim(self, 3, "batch1 must be a 3D tensor")
    assert_dim(mat2, 3, "batch2 must be a 3D tensor")
    (batch, rows, inner), columns = self.shape, mat2.size(2)
    if mat2.shape[:2] != (batch, inner):
        expected = f"{[batch, inner]} but got: {list(mat2.shape[:2])}."
        raise RuntimeError(f"Expected size for first two dimensions of batch2 tensor to be: {expected}")
    assert_same_dtype(self, mat2)
    return Output((batch, rows, columns), None, self.dtype)


def set_up_bmm(self: Tensor, mat2: Tensor) -> Callable[..., np.ndarray]:
    """The loop of `bmm`, after a check of the dtype."""
    assert_has_product("bmm", self)
    return batched_product


@partial(planned_by_value, set_up=set_up_bmm, tensors=2)
@partial(Structured, meta_bmm)
def bmm(self: Tensor, mat2: Tensor, out: Tensor) -> None:
    if out.numel() == 0:
        return
    assert_has_product("bmm", self)
    out._array[...] = batched_product(self._array, mat2._array)


def meta_baddbmm(self: Tensor, batch1: Tensor, batch2: Tensor, beta: Scalar, alpha: Scalar) -> Output:
    """The geometry of `baddbmm`: that of `bmm`, if `self` can be expanded to it."""
    output = meta_bmm(batch1, batch2)
    if tuple(infer_size(self.shape, output.sizes)) != tuple(output.sizes):
        raise RuntimeError(f"self of shape {list(self.shape)} cannot be expanded to {list(output.sizes)}")
    assert_same_dtype(self, batch1)
    return output


@partial(Structured, meta_baddbmm)
def baddbmm(self: Tensor, batch1: Tensor, batch2: Tensor, beta: Scalar, alpha: Scalar, out: Tensor) -> None:
    if out.numel() == 0:
        return
    assert_has_product("baddbmm", self)
    if out.dtype.category != FLOATING:
        beta, alpha = (checked_convert(number, out.dtype).item() for number in (beta, alpha))
    result = batched_product(batch1._array, batch2._array)
    result = result if alpha == 1 else result * result.dtype.type(alpha)
    out._array[...] = result if beta == 0 else result + self._array.astype(result.dtype) * result.dtype.type(beta)


# With vectors --------------------------------------------------------------------------------------------------------


def meta_mv(self: Tensor, vec: Tensor) -> Output:
    """The geometry of `mv`: (n, k) and (k) give (n). Other shapes, or two dtypes, raise a `RuntimeError`."""
    if self.dim() != 2 or vec.dim() != 1:
        raise RuntimeError(f"vector + matrix @ vector expected, got {self.dim()}, {vec.dim()}")
    if self.size(1) != vec.size(0):
        raise RuntimeError(f"size mismatch, got mat ({self.size(0)}x{self.size(1)}), vec ({vec.size(0)})")
    assert_same_dtype(self, vec)
    return Output((self.size(0),), None, self.dtype)


def meta_dot(self: Tensor, tensor: Tensor) -> Output:
    """The geometry of `dot`: two vectors of one size give a tensor without dimensions. Other shapes, or two dtypes,
    raise a `RuntimeError`."""
    if self.dim() != 1 or tensor.dim() != 1:
        raise RuntimeError(f"1D tensors expected, but got {self.dim()}D and {tensor.dim()}D tensors")
    assert_same_dtype(self, tensor)
    if self.shape != tensor.shape:
        raise RuntimeError(f"expected two vectors of the same size, but got {self.numel()} and {tensor.numel()}")
    return Output((), None, self.dtype)


def vector_product_impl(name: str) -> Callable[[Tensor, Tensor, Tensor], None]:
    """The `impl` of a structured kernel for a product with a vector."""

    def impl(self: Tensor, vec: Tensor, out: Tensor) -> None:
        if out.numel():
            assert_has_product(name, self)
            out._array[...] = product(self._array, vec._array)

    return impl


matrix_vector = Structured(meta_mv, vector_product_impl("mv"))
dot = Structured(meta_dot, vector_product_impl("dot"))


def outer(self: Tensor, vec2: Tensor, out: Tensor | None = None) -> Tensor:
    """Every element of one vector times every element of the other."""
    for vector in self, vec2:
        if vector.dim() != 1:
            raise RuntimeError(f"outer: Expected 1-D arguments, but got a tensor of {vector.dim()} dimensions")
    return functions.mul(self.reshape(self.numel(), 1), vec2, out=out)


def kron(self: Tensor, other: Tensor) -> Tensor:
    """The Kronecker product: each element of `self` times the whole of `other`, as blocks."""
    count = max(self.dim(), other.dim())
    left, right = ((1,) * (count - x.dim()) + tuple(x.shape) for x in (self, other))
    blocks = (
        self.reshape([size for one in left for size in (one, 1)]),
        other.reshape([size for one in right for size in (1, one)]),
    )
    return (blocks[0] * blocks[1]).reshape([a * b for a, b in zip(left, right)])


def addbmm(self: Tensor, batch1: Tensor, batch2: Tensor, beta: Scalar, alpha: Scalar) -> Tensor:
    """The sum of the products of two batches is one product of longer matrices."""
    for name, batch in ("batch1", batch1), ("batch2", batch2):
        if batch.dim() != 3:
            raise RuntimeError(f"{name} must be a 3D tensor")
    if batch1.shape[0] != batch2.shape[0]:
        sizes = f"got {batch1.shape[0]} and {batch2.shape[0]}"
        raise RuntimeError(f"batch1 and batch2 must have same number of batches, {sizes}")
    if batch1.shape[2] != batch2.shape[1]:
        sizes = [f"{x.shape[1]}x{x.shape[2]}" for x in (batch1, batch2)]
        raise RuntimeError(f"Incompatible matrix sizes for bmm ({sizes[0]} and {sizes[1]})")
    return functions.addmm(self, batch1.transpose(0, 1).flatten(1), batch2.flatten(0, 1), beta=beta, alpha=alpha)


# Norms ---------------------------------------------------------------------------------------------------------------


def vector_norm_meta(self: Tensor, ord: Scalar, dim: Dims, keepdim: bool, dtype: dtype | None) -> Output:
    """The geometry of `linalg.vector_norm`. A dtype that is not floating point, and a norm of no elements that has no
    value, raise a `RuntimeError`.
    Source: `aten/src/ATen/native/LinearAlgebra.cpp`, `TORCH_META_FUNC(linalg_vector_norm)`."""
    name = "linalg.vector_norm"
    if self.dtype.category != FLOATING:
        expected = "Expected a floating point or complex tensor as input."
        raise RuntimeError(f"{name}: {expected} Got {self.dtype.type_name}")
    if self.numel() == 0 and (ord < 0 or ord == math.inf) and (not dim or any(self.size(d) == 0 for d in dim)):
        problem = "norm of no elements because the operation does not have an identity"
        raise RuntimeError(f"{name} cannot compute the {ord} {problem}")
    if dtype is not None and dtype.category != FLOATING:
        raise RuntimeError(f"{name}: dtype should be floating point or complex. Got {dtype.type_name}")
    if dtype is not None and promote_any(self.dtype, dtype) is not dtype:
        dtypes = f"input ({self.dtype.type_name}) should be convertible without narrowing to the specified dtype"
        raise RuntimeError(f"{name}: the dtype of the {dtypes} ({dtype.type_name})")
    return Output(reduced_sizes(self.shape, dim, keepdim), None, dtype or self.dtype)


def set_up_vector_norm(self: Tensor, ord: Scalar, dim: Dims, keepdim: bool, dtype: dtype | None) -> Callable | None:
    """The most frequent norm, over one dimension or all."""
    if ord == 2 and dtype is None and self.dtype in SIMPLE_DTYPES and (not dim or len(dim) == 1):
        over = axes(self, dim)
        return lambda array: euclidean_norm(array, over, keepdim)
    return None


@partial(planned_by_value, set_up=set_up_vector_norm)
@partial(Structured, vector_norm_meta)
def vector_norm(self: Tensor, ord: Scalar, dim: Dims, keepdim: bool, dtype: dtype | None, out: Tensor) -> None:
    """(sum of |x| ** ord) ** (1 / ord). For `inf` it is the largest |x|, for `-inf` the smallest, for 0 the number of elements
    that are not 0. float16 is computed in float32. Source: `aten/src/ATen/native/cpu/ReduceOpsKernel.cpp`, `norm_kernel`."""
    x, over = self._array.astype(accumulate_dtype(out.dtype), copy=False), axes(self, dim)
    if ord == 2:
        norm = euclidean_norm(x, over, keepdim)
    elif ord == 0:
        norm = (x != 0).sum(over, x.dtype, keepdims=keepdim)
    elif math.isinf(ord):
        norm = np.abs(x).max(over, keepdims=keepdim) if ord > 0 else np.abs(x).min(over, keepdims=keepdim)
    else:
        norm = (np.abs(x) ** ord).sum(over, keepdims=keepdim) ** (1 / ord)
    out._array[...] = norm


def euclidean_norm(x: np.ndarray, over: tuple[int, ...] | None, keepdim: bool) -> np.ndarray:
    """The square root of the sum of squares over these dimensions. Over all of them, it is a dot product."""
    if over is None and not keepdim:
        flat = x.reshape(-1)
        return np.sqrt(np.dot(flat, flat))
    squares: Any = np.add.reduce(x * x, over, keepdims=keepdim)  # type: ignore[call-overload]  # they want a literal bool
    return np.sqrt(squares)


class _LinAlgError(RuntimeError):
    """Source: `torch/csrc/Exceptions.h`, `LinAlgError`."""


def svd(A: Tensor, full_matrices: bool, compute_uv: bool, driver: str | None) -> tuple[Tensor, ...]:  # noqa: N803
    """Matrices U and Vh with orthogonal columns and rows, and the singular values S in descending order: A = U diag(S) Vh. Without
    `compute_uv`, U and Vh are empty. Source: `aten/src/ATen/native/BatchLinearAlgebra.cpp`, `_linalg_svd`."""
    if driver is not None:
        supported = "only supported on CUDA inputs with cuSOLVER backend."
        raise RuntimeError(f"linalg.svd: keyword argument `driver=` is {supported}")
    *batch, m, n = A.shape
    k = min(m, n)
    sizes = [(*batch, m, m if full_matrices else k), (*batch, k), (*batch, n if full_matrices else k, n)]
    if not compute_uv:
        sizes[0] = sizes[2] = (0,)
    outputs = [Output(shape, _column_major(shape) if len(shape) > len(batch) + 1 else None, A.dtype) for shape in sizes]
    results = tuple(allocate(output, A.device.type) for output in outputs)
    if A.is_meta:
        return results
    if not np.isfinite(A._array).all():
        cause = "because the input matrix contained non-finite values."
        raise _LinAlgError(f"linalg.svd: The algorithm failed to converge {cause}")
    if not compute_uv:
        results[1]._array[...] = np.linalg.svd(A._array, full_matrices, compute_uv=False)
        return results
    for out, array in zip(results, np.linalg.svd(A._array, full_matrices)):
        out._array[...] = array
    return results


def inv_ex(A: Tensor, check_errors: bool = False) -> tuple[Tensor, ...]:  # noqa: N803
    """The inverses of matrices, and for each an int32 that is 0. A singular matrix raises, also without `check_errors`.
    Source: `aten/src/ATen/native/BatchLinearAlgebra.cpp`, `linalg_inv_ex`."""
    _check_square("linalg.inv", A)
    inverse = allocate(Output(A.shape, _column_major(A.shape), A.dtype), A.device.type)
    if not A.is_meta:
        try:
            inverse._array[...] = np.linalg.inv(A._array)
        except np.linalg.LinAlgError:
            problem = "linalg.inv: The inversion could not be completed because the input matrix is singular."
            raise _LinAlgError(problem) from None
    return inverse, functions.zeros(A.shape[:-2], dtype=int32, device=A.device)


def det(A: Tensor) -> tuple[Tensor, ...]:  # noqa: N803
    """The determinants of matrices, and their LU decompositions, which the derivative takes.
    Source: `aten/src/ATen/native/BatchLinearAlgebra.cpp`, `_linalg_det`."""
    _check_square("linalg.det", A)
    out = allocate(Output(A.shape[:-2], None, A.dtype), A.device.type)
    if not A.is_meta:
        out._array[...] = np.linalg.det(A._array)
    return out, *lu_factors(A)


def lu_factors(A: Tensor) -> tuple[Tensor, Tensor]:  # noqa: N803
    """L below the diagonal and U, of A with rows exchanged, and for each row the one with which it was exchanged, from 1 on."""
    sizes, n = A.shape, A.shape[-1]
    factors = allocate(Output(sizes, _column_major(sizes), A.dtype), A.device.type)
    pivots = functions.zeros(sizes[:-1], dtype=int32, device=A.device)
    if A.is_meta:
        return factors, pivots
    lu = A._array.copy()
    for k in range(n):
        place = k + np.abs(lu[..., k:, k]).argmax(-1)[..., None, None]
        pivots._array[..., k] = place[..., 0, 0] + 1
        largest = np.take_along_axis(lu, place, -2)
        np.put_along_axis(lu, place, lu[..., k, None, :], -2)
        lu[..., k, None, :] = largest
        pivot = lu[..., k, None, k]
        lu[..., k + 1 :, k] = np.divide(lu[..., k + 1 :, k], pivot, where=pivot != 0, out=lu[..., k + 1 :, k])
        lu[..., k + 1 :, k + 1 :] -= lu[..., k + 1 :, k, None] * lu[..., k, None, k + 1 :]
    factors._array[...] = lu
    return factors, pivots


def solve_ex(A: Tensor, B: Tensor, left: bool, check_errors: bool = False) -> tuple[Tensor, ...]:  # noqa: N803
    """The solutions X of AX = B, or of XA = B unless `left`, the LU decompositions, and for each an int32 that is 0.

    B is a vector, or a batch of as many vectors as A has matrices, or matrices. A singular matrix raises, also without
    `check_errors`. Source: `aten/src/ATen/native/BatchLinearAlgebra.cpp`, `_linalg_solve_ex`."""
    _check_square("linalg.solve", A)
    is_vector = is_vector_of_solve(A, B)
    columns = B.unsqueeze(-1) if is_vector else B
    m, (p, q) = A.shape[-1], columns.shape[-2:]
    if m != (p if left else q):
        equation = f"{'AX' if left else 'XA'} = B ({m}x{m} and {p}x{q})"
        raise RuntimeError(f"linalg.solve: Incompatible shapes of A and B for the equation {equation}")
    batch = infer_size(A.shape[:-2], columns.shape[:-2])
    sizes = (*batch, p) if is_vector else (*batch, p, q)
    out = allocate(Output(sizes, _column_major(sizes) if left and len(sizes) > 1 else None, A.dtype), A.device.type)
    if not A.is_meta:
        matrix, given = (x._array if left else x.mT._array for x in (A, columns))
        try:
            found = np.linalg.solve(matrix, given)
        except np.linalg.LinAlgError:
            problem = "torch.linalg.solve: The solver failed because the input matrix is singular."
            raise _LinAlgError(problem) from None
        out._array[...] = found[..., 0] if is_vector else found if left else np.swapaxes(found, -1, -2)
    return out, *lu_factors(A), functions.zeros(batch, dtype=int32, device=A.device)


def is_vector_of_solve(A: Tensor, B: Tensor) -> bool:  # noqa: N803
    """Whether `B` in `linalg.solve(A, B)` is a vector, or a batch of vectors.
    Source: `aten/src/ATen/native/LinearAlgebraUtils.h`, `linalg_solve_is_vector_rhs`."""
    return B.dim() == 1 or A.dim() - 1 == B.dim() and B.shape == A.shape[:-1]


def cholesky_ex(self: Tensor, upper: bool = False, check_errors: bool = False) -> tuple[Tensor, ...]:
    """The lower triangular L of which `L @ L.mT` is the matrix, or its transpose if `upper`, and for each matrix the order of its
    first minor that is not positive-definite, or 0. Source: `aten/src/ATen/native/BatchLinearAlgebra.cpp`, `linalg_cholesky_ex`."""
    _check_square("linalg.cholesky", self)
    out = allocate(Output(self.shape, _column_major(self.shape), self.dtype), self.device.type)
    info = functions.zeros(self.shape[:-2], dtype=int32, device=self.device)
    if not self.is_meta:
        array = np.swapaxes(self._array, -1, -2) if upper else self._array  # only one triangle is read
        for place in np.ndindex(array.shape[:-2]):
            try:
                found = np.linalg.cholesky(array[place])
            except np.linalg.LinAlgError:
                orders = range(1, len(array[place]) + 1)
                symmetric = np.tril(array[place]) + np.tril(array[place], -1).T
                order = next((n for n in orders if np.linalg.det(symmetric[:n, :n]) <= 0), orders[-1])
                info._array[place] = order
                if not check_errors:
                    continue
                where = f" (Batch element {np.ravel_multi_index(place, array.shape[:-2])}):" if place else ""
                cause = "the input is not positive-definite"
                minor = f"(the leading minor of order {order} is not positive-definite)"
                problem = f"linalg.cholesky:{where} The factorization could not be completed because {cause} {minor}."
                raise _LinAlgError(problem) from None
            out._array[place] = found.T if upper else found
    return out, info


def cov(self: Tensor, correction: int, fweights: Tensor | None, aweights: Tensor | None) -> Tensor:
    """The covariances of variables, one in each row, whose columns are observations; `fweights` says how often each was made.
    Source: `aten/src/ATen/native/Correlation.cpp`, `cov`."""
    if self.dim() > 2:
        raise RuntimeError(
            f"cov(): expected input to have two or fewer dimensions but got an input with {self.dim()} dimensions"
        )
    x = self.view(1, -1) if self.dim() < 2 else self
    weights = [w for w in (fweights, aweights) if w is not None]
    w: Any = math.prod(weights) if weights else None
    total = x.shape[1] if w is None else w.sum()
    mean = (x if w is None else x * w).sum(1, keepdim=True) / total
    norm = total - correction
    if aweights is not None and correction:
        norm = total - correction * (w * aweights).sum() / total
    if norm <= 0:
        warn("cov(): degrees of freedom is <= 0. Correction should be strictly less than the number of observations.")
        norm = 0
    x = x - mean
    return (x @ (x if w is None else x * w).t() / norm).squeeze()


def corrcoef(self: Tensor) -> Tensor:
    """The correlations of variables, one in each row. Source: `aten/src/ATen/native/Correlation.cpp`, `corrcoef`."""
    c = functions.cov(self)
    if not c.dim():
        return c / c
    deviation = c.diagonal().sqrt()
    return (c / deviation.view(-1, 1) / deviation.view(1, -1)).clip(-1, 1)


def _check_square(name: str, A: Tensor) -> None:  # noqa: N803
    if A.dim() < 2:
        raise RuntimeError(f"{name}: The input tensor A must have at least 2 dimensions.")
    if A.shape[-1] != A.shape[-2]:
        sizes = f"{A.shape[-2]} by {A.shape[-1]} matrices"
        raise RuntimeError(f"{name}: A must be batches of square matrices, but they are {sizes}")
    _check_precision(name, A)


def cross(self: Tensor, other: Tensor, dim: int | None) -> Tensor:
    """The products of vectors along `dim`, by default the first dimension of size 3."""
    if dim is None:
        warn_once("cross without dim is deprecated: give dim, or use linalg.cross, whose default is the last one")
        dim = next(d for d in range(self.dim()) if self.size(d) == 3)
    return functions.linalg_cross(self, other, dim=dim)


def trace(self: Tensor) -> Tensor:
    assert_dim(self, 2, "trace: expected a matrix")
    return self.diagonal().sum()


def _column_major(sizes: Sequence[int]) -> tuple[int, ...]:
    """The strides of matrices as LAPACK leaves them. Source: `aten/src/ATen/native/BatchLinearAlgebra.h`."""
    *batch, rows, columns = sizes
    *strides, column, row = plain_strides((*batch, columns, rows))
    return (*strides, row, column)


def svdvals(A: Tensor, driver: str | None = None) -> Tensor:  # noqa: N803
    """The singular values. U and Vh are computed only for the gradient.
    Source: `aten/src/ATen/native/BatchLinearAlgebra.cpp`, `linalg_svdvals`."""
    if A.dim() < 2:
        raise RuntimeError("linalg.svd: The input tensor A must have at least 2 dimensions.")
    _check_precision("linalg.svd", A)
    return functions._linalg_svd(A, False, local.grad_enabled and A.requires_grad, driver=driver)[1]


def _check_precision(name: str, A: Tensor) -> None:  # noqa: N803
    if A.dtype.category != FLOATING:
        raise RuntimeError(f"{name}: Expected a floating point or complex tensor as input. Got {A.dtype.type_name}")
    if A.dtype in REDUCED_FLOATING:
        raise RuntimeError(f"{name}: Low precision dtypes not supported. Got {A.dtype.type_name}")


def matrix_norm(self: Tensor, ord: Scalar | str, dim: Sequence[int], keepdim: bool, dtype, out=None) -> Tensor:
    """The norm of the matrices of two dimensions: "fro", the largest (1, inf) or smallest (-1, -inf) sum of the absolute values
    of a column or a row, the largest (2) or smallest (-2) singular value, or the sum of the singular values ("nuc").
    Source: `aten/src/ATen/native/LinearAlgebra.cpp`, `linalg_matrix_norm`."""
    if self.dim() < 2 or len(dim) != 2:
        problem = f"The input tensor must have at least 2 dimensions, and dim 2 entries, but got {self.dim()} and {dim}"
        raise RuntimeError(f"linalg.matrix_norm: {problem}")
    if ord == "fro":
        return functions.linalg_vector_norm(self, 2, dim, keepdim, dtype=dtype, out=out)
    if ord != "nuc" and (isinstance(ord, str) or abs(ord) not in (1, 2, math.inf)):
        raise RuntimeError(f"linalg.matrix_norm: Order {ord} not supported.")
    rows, columns = (wrap_dim(axis, self.dim()) for axis in dim)
    if isinstance(ord, str) or ord in (2, -2):
        return _norm_of_singular_values(self, ord, rows, columns, keepdim, dtype, out)
    summed, other = (rows, columns) if abs(ord) == 1 else (columns, rows)
    sums = functions.linalg_vector_norm(self, 1, [summed], keepdim, dtype=dtype)
    other -= other > summed and not keepdim
    return _largest(sums, other, keepdim, out) if ord > 0 else functions.amin(sums, [other], keepdim, out=out)


def _largest(values: Tensor, dim: int, keepdim: bool, out: Tensor | None) -> Tensor:
    """The largest along a dimension. That of no values is 0."""
    if values.size(dim) == 0:
        return functions.zeros(reduced_sizes(values.shape, (dim,), keepdim), dtype=values.dtype, out=out)
    return functions.amax(values, [dim], keepdim, out=out)


def _norm_of_singular_values(self, ord, rows: int, columns: int, keepdim: bool, dtype, out: Tensor | None) -> Tensor:
    _check_precision("linalg.matrix_norm", self)
    others = [dim for dim in range(self.dim()) if dim not in (rows, columns)]
    order = [*others, rows, columns]
    values = functions.linalg_svdvals((self if dtype is None else self.to(dtype)).permute(order))
    if ord == "nuc":
        result = functions.sum(values, [-1], keepdim)
    else:
        result = _largest(values, -1, keepdim, None) if ord > 0 else functions.amin(values, [-1], keepdim)
    if keepdim:
        result = result.unsqueeze(-1).permute([order.index(dim) for dim in range(self.dim())])
    if out is None:
        return result
    return write_out(result, (self,), out, casts=False)


def renorm(self: Tensor, p: Scalar, dim: int, maxnorm: Scalar) -> Tensor:
    """The slices at each index of `dim`, scaled down to `maxnorm` where their norm of order `p` is larger.
    Source: `aten/src/ATen/native/Normalization.cpp`, `renorm`."""
    if p <= 0:
        raise RuntimeError("renorm: non-positive-norm not supported")
    if maxnorm < 0:
        raise RuntimeError(f"renorm: expected maxnorm to be >= 0 but got {maxnorm:g}")
    if self.dim() < 2:
        raise RuntimeError(f"renorm: input needs at least 2 dimensions, got {self.dim()} dimensions")
    dim = wrap_dim(dim, self.dim())
    others = [other for other in range(self.dim()) if other != dim]
    norm = functions.linalg_vector_norm(self, p, others, True, dtype=widened(self.dtype))
    return self * functions.where(norm > maxnorm, maxnorm / (norm + 1e-7), 1.0).to(self.dtype)


# Any number of dimensions. Autograd records the operators that are called, so they and their order are PyTorch's. ----


def matmul(self: Tensor, other: Tensor, out: Tensor | None = None) -> Tensor:
    """The matrix product, by the operator for operands of these dimensions.

    Two vectors give a number, a matrix and a vector give a vector. More dimensions are batch dimensions and are broadcast.
    A batch of matrices times one matrix is computed as one tall matrix times that matrix (`should_fold`).

    Source: `aten/src/ATen/native/LinearAlgebra.cpp`, `_matmul_impl`.
    """
    dims = self.dim(), other.dim()
    if 0 in dims:
        raise RuntimeError(f"both arguments to matmul need to be at least 1D, but they are {dims[0]}D and {dims[1]}D")
    match dims:
        case 1, 1:
            return functions.dot(self, other, out=out)
        case 2, 1:
            return functions.mv(self, other, out=out)
        case 1, 2:
            return functions.mm(self.unsqueeze(0), other, out=out).squeeze_(0)
        case 2, 2:
            return functions.mm(self, other, out=out)
    if should_fold(self, other, out is not None):
        return _matmul_folded(self, other, out)
    return _matmul_batched(self, other, out)


@fast_form_of(matmul)
def matmul_of_batches(self: Tensor, other: Tensor, out: Tensor | None = None) -> Tensor:
    """`matmul` of two batches of the same size, which need not be expanded."""
    is_plain = len(self._sizes) == len(other._sizes) == 3 and self._sizes[0] == other._sizes[0] and out is None
    if is_plain and not (is_watched(self) or is_watched(other)):
        return functions.bmm(self, other)
    return matmul(self, other, out)


def should_fold(self: Tensor, other: Tensor, has_out: bool = False) -> bool:
    """Whether one operand is a matrix or a vector, and the batch dimensions of the other should become rows. They do if this
    needs no copy, and always if the smaller operand requires a gradient, because its gradient would otherwise be computed for
    each matrix of the batch and then summed.
    Source: `aten/src/ATen/native/LinearAlgebra.cpp`, `should_fold`."""
    large, small = (self, other) if self.dim() >= other.dim() else (other.mT, self)
    if large.dim() < 3 or small.dim() > 2:
        return False
    if small.requires_grad and not has_out:
        return True
    if self.dim() == 2:  # the result would have to be transposed, and copied for that
        return False
    sizes, strides = large.shape, large.stride()
    return 0 in sizes or all(strides[i] == strides[i + 1] * sizes[i + 1] for i in range(large.dim() - 2))


def _matmul_folded(self: Tensor, other: Tensor, out: Tensor | None) -> Tensor:
    transposed = self.dim() < other.dim()
    large = other.mT if transposed else self
    small = other if not transposed else self.t() if self.dim() == 2 else self
    sizes, kept = [*large.shape[:-1], *small.shape[1:]], small.shape[1:]
    rows = large.reshape(math.prod(large.shape[:-1]), large.size(-1))
    multiply = functions.mm if kept else functions.mv
    if out is None:
        result = functions._unsafe_view(multiply(rows, small), sizes)
        return result.mT.contiguous() if transposed and kept else result
    return _write_flat(multiply, rows, small, out, sizes, (rows.size(0), *kept))


def _matmul_batched(self: Tensor, other: Tensor, out: Tensor | None) -> Tensor:
    # As in `should_fold`: one matrix for the whole batch must not be expanded if its gradient may be needed.
    if self.dim() == other.dim() == 3 and self.size(0) != other.size(0):
        if self.size(0) == 1 and is_watched(self):
            return matmul(self.squeeze(0), other, out)
        if other.size(0) == 1 and is_watched(other):
            return matmul(self, other.squeeze(0), out)
    is_vector = other.dim() == 1
    batch = infer_size(self.shape[:-2], other.shape[:-2])
    many, rows, inner = math.prod(batch), 1 if self.dim() == 1 else self.size(-2), self.size(-1)
    a = self.expand(*batch, rows, inner).reshape(many, rows, inner)
    columns = other.shape[-1 if is_vector else -2 :]
    b = other.expand(*batch, *columns).reshape(many, *columns)
    b = b.unsqueeze(2) if is_vector else b
    sizes = [*batch, *self.shape[-2:-1], *columns[1:]]
    if out is None:
        result = functions.bmm(a, b)
        return functions._unsafe_view(result.squeeze(-1) if is_vector else result, sizes)
    return _write_flat(functions.bmm, a, b, out, sizes, (many, rows, b.size(2)))


def _write_flat(multiply: Callable, a: Tensor, b: Tensor, out: Tensor, sizes: Sequence[int], flat: Sequence) -> Tensor:
    """Write a product into `out` of these sizes, by an operator whose result has other sizes, `flat`."""
    resize_output(out, sizes)
    result = out.reshape(flat)
    multiply(a, b, out=result)
    return out if result._storage is out._storage else out.copy_(result.view_as(out))


def linear(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """`input` @ the transpose of `weight`, plus `bias`: (..., features in), (features out, features in), (features out).
    Source: `aten/src/ATen/native/Linear.cpp`, `linear`."""
    dim = len(input._sizes)
    if dim == 0 or not weight._sizes:
        raise RuntimeError(f"both arguments to linear need to be at least 1D, but are {dim}D and {weight.dim()}D")
    if bias is None:
        return functions.matmul(input, weight.t())
    if dim == 2:
        return functions.addmm(bias, input, weight.t())
    is_row = bias.dim() == 1 or functions.squeeze(bias).dim() == 1
    if is_row and all([x._has_plain_strides or x.is_contiguous() for x in (bias, input)]):
        *batch, features = input.shape
        result = functions.addmm(bias, call_view(input, (math.prod(batch), features)), weight.t())
        return call_view(result, (*batch, result.size(1)))
    result = functions.matmul(input, weight.t())
    return functions.add(result, bias) if local.modes else result.add_(bias)


@fast_form_of(linear)
def linear_of_batches(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """`linear` of a contiguous input of three dimensions, without the calls of `view`, `t`, and `addmm` or `mm`."""
    dtype, added = input.dtype, weight if bias is None else bias
    if local.grad_enabled or not fits_fast_path(input) or not dtype is weight.dtype is added.dtype:
        return linear(input, weight, bias)
    plan = _plan_of_batches(input._sizes, weight._sizes, weight._sizes[:1] if bias is None else bias._sizes)
    if plan is None or not runs_unseen(_CALLED_BY_LINEAR, input, weight, added):
        return linear(input, weight, bias)
    given, computed, sizes = plan
    product = input._array.reshape(given).dot(weight._array.T)
    if bias is None:  # as from `matmul`, the result is no view
        return wrap_plain(product.reshape(sizes), sizes, dtype)
    flat = product[0] if len(product) == 1 else product  # numpy adds arrays of the same sizes faster
    flat += bias._array
    rows = wrap_plain(product, computed, dtype)
    view = plain_alias(rows, sizes, plain_strides(sizes), 0)
    view._array, view._has_plain_strides = product.reshape(tuple(sizes)), True
    return as_view(rows, view)


_CALLED_BY_LINEAR = "aten::view", "aten::t", "aten::addmm", "aten::matmul", "aten::mm", "aten::_unsafe_view"


@cached
def _plan_of_batches(input: Size, weight: Size, bias: Size) -> tuple[tuple[int, ...], Size, Size] | None:
    """The sizes of the input and of the result as matrices, and of the result. None if `linear_of_batches` is not for them."""
    if len(input) != 3 or 0 in input or len(bias) != 1 or weight != (*bias, input[2]):
        return None
    batch, length, features = input
    return (batch * length, features), Size((batch * length, *bias)), Size((batch, length, *bias))


def linear_out(input: Tensor, weight: Tensor, bias: Tensor | None, out: Tensor) -> Tensor:
    if input.dim() == 2 and bias is not None:
        return functions.addmm(bias, input, weight.t(), out=out)
    functions.matmul(input, weight.t(), out=out)
    return out if bias is None else out.add_(bias)
