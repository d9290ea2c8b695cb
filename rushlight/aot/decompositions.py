"""Operators in terms of simpler ones, so that a compiler has fewer operators to know.

`core_aten_decompositions()` has a function for each operator that is made of simpler ones. `make_fx` and `aot_autograd` run the
function instead of the operator, so the graph has the simpler operators. A compiler that fuses loops does not know softmax: it
sees a maximum, a subtraction, an exponential, a sum and a division.

In PyTorch: `torch/_decomp/decompositions.py`, `torch/_inductor/decomposition.py`. Left out: operators that rushlight lacks.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from rushlight.aten.generated import functions
from rushlight.aten.strided import Tensor
from rushlight.c10.dispatch import Operator
from rushlight.c10.dtypes import dtype, float16, float32
from rushlight.c10.schema import bind
from rushlight.library import OpOverload, ops

aten = ops.aten
Scalar = int | float | bool
NONE, MEAN, SUM = 0, 1, 2

# ------------------------------------------------------------------------------------------------------------
# Softmax


def softmax(self: Tensor, dim: int, half_to_float: bool) -> Tensor:
    """`_softmax` in simpler operators: the exponential of each element, divided by the sum of the exponentials along `dim`.

    The largest element along `dim` is subtracted first. So no exponential overflows, and the quotient is the same. A float16
    tensor is converted to float32, and only the result is converted back. The tensor may have no dimensions; then `dim` is 0 or
    -1. A tensor without elements has no largest element, and its softmax has no elements. `half_to_float` is False.

    Allowed operators, as functions of `rl.functions` or as methods: `amax`, `sub`, `exp`, `sum`, `div`, and `to`.

    Source: `torch/_decomp/decompositions.py`, `_softmax`.
    """
    x = self.to(float32) if self.dtype is float16 else self
    if x.numel():
        x = x - functions.amax(x, [dim], True)
    powers = functions.exp(x)
    return (powers / functions.sum(powers, [dim], True)).to(self.dtype)


def log_softmax(self: Tensor, dim: int, half_to_float: bool) -> Tensor:
    """Source: `torch/_decomp/decompositions.py`, `_log_softmax`."""
    x = self.to(float32) if self.dtype is float16 else self
    if x.numel():
        x = x - functions.amax(x, [dim], True)
    return (x - functions.log(functions.sum(functions.exp(x), [dim], True))).to(self.dtype)


def softmax_backward_data(grad_output: Tensor, output: Tensor, dim: int, input_dtype: dtype) -> Tensor:
    """`_softmax_backward_data` in simpler operators: the gradient of the input of a softmax along `dim`.

    With y = `output`, the result of the softmax, and g = `grad_output`, it is y * (g - s), where s is the sum of g * y along
    `dim`. It has the dtype `input_dtype`, and is contiguous.

    Source: `torch/_decomp/decompositions.py`, `_softmax_backward_data`.
    """
    weighted = grad_output * output
    grad = weighted - output * functions.sum(weighted, [dim], True)
    return grad.to(input_dtype).contiguous()


def log_softmax_backward_data(grad_output: Tensor, output: Tensor, dim: int, input_dtype: dtype) -> Tensor:
    """Source: `torch/_decomp/decompositions.py`, `_log_softmax_backward_data`."""
    grad = grad_output - functions.exp(output) * functions.sum(grad_output, [dim], True)
    return grad.to(input_dtype)


# ------------------------------------------------------------------------------------------------------------
# Pointwise


def threshold_backward(grad_output: Tensor, self: Tensor, threshold: Scalar) -> Tensor:
    return functions.where(self <= threshold, 0.0, grad_output)


def sigmoid_backward(grad_output: Tensor, output: Tensor) -> Tensor:
    return grad_output * (output * (1 - output))


def tanh_backward(grad_output: Tensor, output: Tensor) -> Tensor:
    return grad_output * (1 - output * output)


def silu(self: Tensor) -> Tensor:
    return self / (1 + functions.exp(-self))


def silu_backward(grad_output: Tensor, self: Tensor) -> Tensor:
    sigmoid = 1 / (1 + functions.exp(-self))
    return grad_output * sigmoid * (1 + self * (1 - sigmoid))


SQRT_2_OVER_PI, CUBE = math.sqrt(2 / math.pi), 0.044715


def gelu(self: Tensor, approximate: str = "none") -> Tensor:
    if approximate == "tanh":
        return self * 0.5 * (1 + functions.tanh((self + self * self * self * CUBE) * SQRT_2_OVER_PI))
    return self * 0.5 * (1 + functions.erf(self * math.sqrt(0.5)))


def gelu_backward(grad_output: Tensor, self: Tensor, approximate: str = "none") -> Tensor:
    if approximate == "tanh":
        squared = self * self
        inner = functions.tanh(self * (1 + squared * CUBE) * SQRT_2_OVER_PI)
        slope = (1 - inner * inner) * (1 + squared * (3 * CUBE)) * SQRT_2_OVER_PI
        return grad_output * ((1 + inner) * 0.5 + self * slope * 0.5)
    cdf = (1 + functions.erf(self * math.sqrt(0.5))) * 0.5
    density = functions.exp(self * self * -0.5) * (1 / math.sqrt(2 * math.pi))
    return grad_output * (cdf + self * density)


def elu(self: Tensor, alpha: Scalar = 1, scale: Scalar = 1, input_scale: Scalar = 1) -> Tensor:
    return functions.where(self > 0, self * scale, functions.expm1(self * input_scale) * (alpha * scale))


def leaky_relu(self: Tensor, negative_slope: Scalar = 0.01) -> Tensor:
    return functions.where(self > 0, self, self * negative_slope)


def leaky_relu_backward(grad_output: Tensor, self: Tensor, negative_slope: Scalar, self_is_result: bool) -> Tensor:
    return functions.where(self > 0, grad_output, grad_output * negative_slope)


def hardtanh(self: Tensor, min_val: Scalar = -1, max_val: Scalar = 1) -> Tensor:
    return functions.clamp(self, min_val, max_val)


def hardtanh_backward(grad_output: Tensor, self: Tensor, min_val: Scalar, max_val: Scalar) -> Tensor:
    outside = functions.logical_or(self <= min_val, self >= max_val)
    return functions.where(outside, 0.0, grad_output)


def softplus(self: Tensor, beta: Scalar = 1, threshold: Scalar = 20) -> Tensor:
    scaled = self * beta
    return functions.where(scaled > threshold, self, functions.log1p(functions.exp(scaled)) / beta)


def softplus_backward(grad_output: Tensor, self: Tensor, beta: Scalar, threshold: Scalar) -> Tensor:
    power = functions.exp(self * beta)
    return functions.where(self * beta > threshold, grad_output, grad_output * power / (power + 1))


def addcmul(self: Tensor, tensor1: Tensor, tensor2: Tensor, value: Scalar = 1) -> Tensor:
    product = tensor1 * tensor2
    return self + (product if value == 1 else product * value)


def addcdiv(self: Tensor, tensor1: Tensor, tensor2: Tensor, value: Scalar = 1) -> Tensor:
    quotient = tensor1 / tensor2
    return self + (quotient if value == 1 else quotient * value)


def lerp_scalar(self: Tensor, end: Tensor, weight: Scalar) -> Tensor:
    return self + (end - self) * weight if weight < 0.5 else end - (end - self) * (1 - weight)


def rsub(self: Tensor, other: Any, alpha: Scalar = 1) -> Tensor:
    taken = self if alpha == 1 else self * alpha
    return other - taken if isinstance(other, Tensor) else -taken + other


def square(self: Tensor) -> Tensor:
    return self * self


def add_scalar(self: Tensor, other: Scalar, alpha: Scalar = 1) -> Tensor:
    return self + other * alpha


def mul_scalar(self: Tensor, other: Scalar) -> Tensor:
    return self * other


def div_scalar(self: Tensor, other: Scalar) -> Tensor:
    return self / other


def sub_scalar(self: Tensor, other: Scalar, alpha: Scalar = 1) -> Tensor:
    return self - other * alpha


def masked_fill(self: Tensor, mask: Tensor, value: Any) -> Tensor:
    return functions.where(mask, value, self)


def detach(self: Tensor) -> Tensor:
    """A graph has no autograd, so `detach` only makes an alias."""
    return functions.alias(self)


# ------------------------------------------------------------------------------------------------------------
# Functional forms of writes


def zero(self: Tensor) -> Tensor:
    return functions.full_like(self, 0)


def copy(self: Tensor, src: Tensor, non_blocking: bool = False) -> Tensor:
    if src.dtype is not self.dtype:
        src = src.to(self.dtype)
    return functions.clone(src.expand(self.shape)) if src.shape != self.shape else functions.clone(src)


def fill(self: Tensor, value: Any) -> Tensor:
    return functions.full_like(self, value) if not isinstance(value, Tensor) else copy(self, value)


# ------------------------------------------------------------------------------------------------------------
# Reductions


def mean(self: Tensor, dtype: dtype | None = None) -> Tensor:
    return functions.sum(self, dtype=dtype) / self.numel()


def mean_dim(self: Tensor, dim: Sequence[int] | None, keepdim: bool = False, dtype: dtype | None = None) -> Tensor:
    count = math.prod(self.shape[d] for d in dim) if dim else self.numel()
    return functions.sum(self, dim, keepdim, dtype=dtype) / count


def var(
    self: Tensor, dim: Sequence[int] | None = None, correction: Scalar | None = None, keepdim: bool = False
) -> Tensor:
    """Source: `torch/_refs/__init__.py`, `var`."""
    dims = list(dim) if dim else list(range(self.dim()))
    count = math.prod(self.shape[d] for d in dims)
    away = self - functions.sum(self, dims, True) / count
    return functions.sum(away * away, dims, keepdim) / max(count - (1 if correction is None else correction), 0)


def std(
    self: Tensor, dim: Sequence[int] | None = None, correction: Scalar | None = None, keepdim: bool = False
) -> Tensor:
    return functions.sqrt(var(self, dim, correction, keepdim))


def logsumexp(self: Tensor, dim: Sequence[int], keepdim: bool = False) -> Tensor:
    largest = functions.amax(self, dim, True)
    largest = functions.where(functions.abs(largest) == math.inf, 0.0, largest)
    found = functions.log(functions.sum(functions.exp(self - largest), dim, True)) + largest
    return found if keepdim else found.squeeze(dim)


# ------------------------------------------------------------------------------------------------------------
# Parts of a gradient


def select_backward(grad_output: Tensor, input_sizes: Sequence[int], dim: int, index: int) -> Tensor:
    return functions.select_scatter(grad_output.new_zeros(input_sizes), grad_output, dim, index)


def slice_backward(
    grad_output: Tensor, input_sizes: Sequence[int], dim: int, start: int, end: int, step: int
) -> Tensor:
    return functions.slice_scatter(grad_output.new_zeros(input_sizes), grad_output, dim, start, end, step)


def diagonal_backward(grad_output: Tensor, input_sizes: Sequence[int], offset: int, dim1: int, dim2: int) -> Tensor:
    return functions.diagonal_scatter(grad_output.new_zeros(input_sizes), grad_output, offset, dim1, dim2)


# ------------------------------------------------------------------------------------------------------------
# Losses


def reduced(loss: Tensor, reduction: int) -> Tensor:
    if reduction == NONE:
        return loss
    return functions.sum(loss) / loss.numel() if reduction == MEAN else functions.sum(loss)


def mse_loss(self: Tensor, target: Tensor, reduction: int = MEAN) -> Tensor:
    away = self - target
    return reduced(away * away, reduction)


def mse_loss_backward(grad_output: Tensor, self: Tensor, target: Tensor, reduction: int) -> Tensor:
    return (self - target) * (grad_output * (2 / self.numel() if reduction == MEAN else 2))


# ------------------------------------------------------------------------------------------------------------
# The table

_PRIVATE = (softmax, log_softmax, softmax_backward_data, log_softmax_backward_data)
_DEFAULT = (
    threshold_backward, sigmoid_backward, tanh_backward, silu, silu_backward, gelu, gelu_backward, elu, leaky_relu,
    leaky_relu_backward, hardtanh, hardtanh_backward, softplus, softplus_backward, addcmul, addcdiv, square, detach, zero, copy,
    mean, logsumexp, select_backward, slice_backward, diagonal_backward, mse_loss, mse_loss_backward,
)  # fmt: skip
_TABLE: dict[str, Callable] = {f"_{function.__name__}": function for function in _PRIVATE}
_TABLE |= {function.__name__: function for function in _DEFAULT}
_TABLE |= {
    "lerp.Scalar": lerp_scalar, "rsub.Tensor": rsub, "rsub.Scalar": rsub, "add.Scalar": add_scalar, "sub.Scalar": sub_scalar,
    "mul.Scalar": mul_scalar, "div.Scalar": div_scalar, "masked_fill.Scalar": masked_fill, "masked_fill.Tensor": masked_fill,
    "fill.Scalar": fill, "fill.Tensor": fill, "mean.dim": mean_dim, "var.correction": var, "std.correction": std,
}  # fmt: skip


def get_decompositions(names: Sequence[Operator | str]) -> dict[Operator, Callable]:
    """The decompositions of some operators, which are given as operators or by name. Operators without one are left out.

    Source: `torch/_decomp/__init__.py`, `get_decompositions`.
    """
    wanted = {name if isinstance(name, str) else name.full_name.removeprefix("aten::") for name in names}
    return {overload(name): by_schema(overload(name), function) for name, function in _TABLE.items() if name in wanted}


def core_aten_decompositions() -> dict[Operator, Callable]:
    """Source: `torch/_decomp/__init__.py`, `core_aten_decompositions`; `torch/_inductor/decomposition.py`."""
    return get_decompositions(list(_TABLE))


def overload(name: str) -> OpOverload:
    packet, _, which = name.partition(".")
    return getattr(getattr(aten, packet), which or "default")


def by_schema(operator: OpOverload, function: Callable) -> Callable:
    """A function that binds its arguments by the schema, because its arguments after a `*` may be given by keyword."""
    return lambda *args, **kwargs: function(*bind(operator.schema, args, kwargs))
