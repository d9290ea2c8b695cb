"""Functional forms of in-place operators, with which functionalisation replaces them.

`copy` and `zero` return a new tensor, while `copy_` and `zero_` change one. Each `..._scatter` is the inverse of a view: it
returns a copy of `self` in which the elements of that view are those of `src`.

In PyTorch: `aten/src/ATen/native/Copy.cpp`, `TensorShape.cpp`.
"""

from __future__ import annotations

from collections.abc import Sequence

from rushlight.aten.generated import functions
from rushlight.aten.strided import Tensor


def clone_preserve_strides(self: Tensor) -> Tensor:
    """A copy with the strides of `self`, including gaps. The copy of an expanded tensor is dense, so that it can be written.

    Source: `aten/src/ATen/native/TensorShape.cpp`.
    """
    if any(stride == 0 and size > 1 for size, stride in zip(self.shape, self.stride())):
        return self.clone()
    return functions.empty_strided(self.shape, self.stride(), dtype=self.dtype, device=self.device).copy_(self)


def copy(self: Tensor, src: Tensor, non_blocking: bool = False) -> Tensor:
    return clone_preserve_strides(self).copy_(src)


def zero(self: Tensor) -> Tensor:
    return clone_preserve_strides(self).zero_()


def _copy_into_view(result: Tensor, view: Tensor, src: Tensor) -> Tensor:
    if view.shape != src.shape:
        raise RuntimeError(
            f"expected src to have a size equal to the slice of self. src size = {list(src.shape)}, slice size = "
            f"{list(view.shape)}"
        )
    view.copy_(src)
    return result


def select_scatter(self: Tensor, src: Tensor, dim: int, index: int) -> Tensor:
    result = clone_preserve_strides(self)
    return _copy_into_view(result, result.select(dim, index), src)


def slice_scatter(
    self: Tensor, src: Tensor, dim: int = 0, start: int | None = None, end: int | None = None, step: int = 1
) -> Tensor:
    result = clone_preserve_strides(self)
    return _copy_into_view(result, functions.slice_Tensor_op(result, dim, start, end, step), src)


def diagonal_scatter(self: Tensor, src: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
    result = clone_preserve_strides(self)
    return _copy_into_view(result, result.diagonal(offset, dim1, dim2), src)


def as_strided_scatter(
    self: Tensor, src: Tensor, size: Sequence[int], stride: Sequence[int], storage_offset: int | None = None
) -> Tensor:
    result = clone_preserve_strides(self)
    return _copy_into_view(result, result.as_strided(size, stride, storage_offset), src)
