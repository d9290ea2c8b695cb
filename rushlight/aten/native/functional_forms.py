"""Functional forms of in-place operators, with which functionalisation replaces them.

`copy` and `zero` return a new tensor, while `copy_` and `zero_` change one. Each `..._scatter` is the inverse of a view: it
returns a copy of `self` in which the elements of that view are those of `src`.

In PyTorch: `aten/src/ATen/native/Copy.cpp`, `TensorShape.cpp`.
"""

from collections.abc import Callable

from rushlight.aten.generated import functions
from rushlight.aten.strided import Tensor
from rushlight.library import OpOverload, invoke


def clone_preserve_strides(self: Tensor) -> Tensor:
    """A copy with the strides of `self`, including gaps. The copy of an expanded tensor is dense, so that it can be written.
    Source: `aten/src/ATen/native/TensorShape.cpp`."""
    if any(stride == 0 and size > 1 for size, stride in zip(self.shape, self.stride())):
        return self.clone()
    return functions.empty_strided(self.shape, self.stride(), dtype=self.dtype, device=self.device).copy_(self)


def scatter_form(view: OpOverload) -> Callable:
    """The kernel of `..._scatter(self, src, *args)`: a copy of `self` in which `src` is written to `view(copy, *args)`."""

    def scatter(self: Tensor, src: Tensor, *args) -> Tensor:
        result = clone_preserve_strides(self)
        part = invoke(view, result, *args)
        if part.shape != src.shape:
            sizes = f"src size = {list(src.shape)}, slice size = {list(part.shape)}"
            raise RuntimeError(f"expected src to have a size equal to the slice of self. {sizes}")
        part.copy_(src)
        return result

    return scatter


select_scatter, slice_scatter = scatter_form(functions.select_int_op), scatter_form(functions.slice_Tensor_op)
diagonal_scatter, as_strided_scatter = scatter_form(functions.diagonal_op), scatter_form(functions.as_strided_op)
