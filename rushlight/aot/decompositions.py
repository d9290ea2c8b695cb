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
from rushlight.aten.native import attention
from rushlight.aten.strided import Tensor
from rushlight.c10.dispatch import Operator
from rushlight.c10.dtypes import dtype, float16, float32
from rushlight.c10.schema import bind
from rushlight.library import OpOverload, ops

aten = ops.aten
NONE, MEAN, SUM = 0, 1, 2
Dims = Sequence[int] | None
Scalar = int | float | bool

# Softmax -------------------------------------------------------------------------------------------------------------


def softmax(self: Tensor, dim: int, half_to_float: bool) -> Tensor:
    """`_softmax` in simpler operators: the exponential of each element, divided by the sum of the exponentials along `dim`.

    A float16 tensor is converted to float32 first, and only the result is converted back. Then the largest element along `dim` is
    subtracted. So no exponential overflows, and the quotient is the same. The tensor may have no dimensions; then `dim` is 0 or
    -1. A tensor without elements has no largest element, and its softmax has no elements. `half_to_float` is False.

    Allowed operators, as functions of `rl.functions` or as methods: `amax`, `sub`, `exp`, `sum`, `div`; and the method `to`.

    >>> softmax(rl.tensor([1000.0, 1000.0]), 0, False).tolist()
    [0.5, 0.5]

    Source: `torch/_decomp/decompositions.py`, `_softmax`.
    """
    x = self.to(float32) if self.dtype is float16 else self
    if x.numel():
        x = x - functions.amax(x, [dim], True)
    powers = functions.exp(x)
    return (powers / functions.sum(powers, [dim], True)).to(self.dtype)


def log_softmax(self: Tensor, dim: int, half_to_float: bool) -> Tensor:
    """`_log_softmax` as elementary operators. The largest element of each row is subtracted before `exp`.
    Source: `torch/_decomp/decompositions.py`, `_log_softmax`."""
    x = self.to(float32) if self.dtype is float16 else self
    if x.numel():
        x = x - functions.amax(x, [dim], True)
    return (x - functions.log(functions.sum(functions.exp(x), [dim], True))).to(self.dtype)


def softmax_backward_data(grad_output: Tensor, output: Tensor, dim: int, input_dtype: dtype) -> Tensor:
    """y * (g - s), with y = `output`, g = `grad_output`, and s the sum of g * y along `dim`.
    Source: `torch/_decomp/decompositions.py`, `_softmax_backward_data`."""
    weighted = grad_output * output
    grad = weighted - output * functions.sum(weighted, [dim], True)
    return grad.to(input_dtype).contiguous()


def log_softmax_backward_data(grad_output: Tensor, output: Tensor, dim: int, input_dtype: dtype) -> Tensor:
    """`_log_softmax_backward_data` as elementary operators: `grad - exp(output) * grad.sum(dim)`.
    Source: `torch/_decomp/decompositions.py`, `_log_softmax_backward_data`."""
    grad = grad_output - functions.exp(output) * functions.sum(grad_output, [dim], True)
    return grad.to(input_dtype)


# Pointwise, and functional forms of writes ---------------------------------------------------------------------------

SQRT_2_OVER_PI, CUBE = math.sqrt(2 / math.pi), 0.044715


def silu_backward(grad_output: Tensor, self: Tensor) -> Tensor:
    """`silu_backward` as elementary operators. Source: `torch/_decomp/decompositions.py`, `silu_backward`."""
    sigmoid = 1 / (1 + functions.exp(-self))
    return grad_output * sigmoid * (1 + self * (1 - sigmoid))


def gelu(self: Tensor, approximate: str) -> Tensor:
    """`gelu` as elementary operators: by `erf`, or by `tanh` if `approximate` says so.
    Source: `torch/_refs/nn/functional/__init__.py`, `gelu`."""
    if approximate == "tanh":
        return self * 0.5 * (1 + functions.tanh((self + self * self * self * CUBE) * SQRT_2_OVER_PI))
    return self * 0.5 * (1 + functions.erf(self * math.sqrt(0.5)))


def gelu_backward(grad_output: Tensor, self: Tensor, approximate: str) -> Tensor:
    """`gelu_backward` as elementary operators. Source: `torch/_decomp/decompositions.py`, `gelu_backward`."""
    if approximate == "tanh":
        squared = self * self
        inner = functions.tanh(self * (1 + squared * CUBE) * SQRT_2_OVER_PI)
        slope = (1 - inner * inner) * (1 + squared * (3 * CUBE)) * SQRT_2_OVER_PI
        return grad_output * ((1 + inner) * 0.5 + self * slope * 0.5)
    cdf = (1 + functions.erf(self * math.sqrt(0.5))) * 0.5
    density = functions.exp(self * self * -0.5) * (1 / math.sqrt(2 * math.pi))
    return grad_output * (cdf + self * density)


def softplus(self: Tensor, beta: Scalar, threshold: Scalar) -> Tensor:
    """`softplus` as elementary operators. Above the threshold it is the input itself.
    Source: `torch/_refs/nn/functional/__init__.py`, `softplus`."""
    scaled = self * beta
    return functions.where(scaled > threshold, self, functions.log1p(functions.exp(scaled)) / beta)


def softplus_backward(grad_output: Tensor, self: Tensor, beta: Scalar, threshold: Scalar) -> Tensor:
    """`softplus_backward` as elementary operators. Source: `torch/_decomp/decompositions.py`, `softplus_backward`."""
    power = functions.exp(self * beta)
    return functions.where(self * beta > threshold, grad_output, grad_output * power / (power + 1))


def scaled(x: Tensor, factor: Scalar) -> Tensor:
    """`x * factor`, without a node in the graph if the factor is 1."""
    return x if factor == 1 else x * factor


def rsub(self: Tensor, other: Any, alpha: Scalar) -> Tensor:
    """`other - alpha * self` as elementary operators. Source: `torch/_refs/__init__.py`, `rsub`."""
    taken = scaled(self, alpha)
    return other - taken if isinstance(other, Tensor) else -taken + other


def copy(self: Tensor, src: Tensor, non_blocking: bool = False) -> Tensor:
    """The functional form of `copy_`: a new tensor with the elements of `src`, in the dtype and with the sizes of
    `self`."""
    if src.dtype is not self.dtype:
        src = src.to(self.dtype)
    return functions.clone(src.expand(self.shape)) if src.shape != self.shape else functions.clone(src)


def fill(self: Tensor, value: Any) -> Tensor:
    """The functional form of `fill_`: a new tensor with the sizes and dtype of `self`. The value may be a tensor
    without dimensions."""
    return functions.full_like(self, value) if not isinstance(value, Tensor) else copy(self, value)


# Reductions and losses -----------------------------------------------------------------------------------------------


def mean_dim(self: Tensor, dim: Dims, keepdim: bool, dtype: Any) -> Tensor:
    """`mean` as a sum that is divided by the number of elements."""
    count = math.prod(self.shape[d] for d in dim) if dim and self.dim() else self.numel()
    return functions.sum(self, dim, keepdim, dtype=dtype) / count


def var(self: Tensor, dim: Dims, correction: Scalar | None, keepdim: bool) -> Tensor:
    """`var` as a sum of squares, divided by `count - correction`. Source: `torch/_refs/__init__.py`, `var`."""
    dims = list(dim) if dim else list(range(self.dim()))
    count = math.prod(self.shape[d] for d in dims)
    away = self - functions.sum(self, dims, True) / count
    return functions.sum(away * away, dims, keepdim) / max(count - (1 if correction is None else correction), 0)


def logsumexp(self: Tensor, dim: Sequence[int], keepdim: bool) -> Tensor:
    """`logsumexp` as elementary operators. The largest element is subtracted before `exp`, unless it is infinite.
    Source: `torch/_refs/__init__.py`, `logsumexp`."""
    largest = functions.amax(self, dim, True)
    largest = functions.where(functions.abs(largest) == math.inf, 0.0, largest)
    result = functions.log(functions.sum(functions.exp(self - largest), dim, True)) + largest
    return result if keepdim else result.squeeze(dim)


def mse_loss(self: Tensor, target: Tensor, reduction: int) -> Tensor:
    """`mse_loss` as elementary operators. Source: `torch/_refs/nn/functional/__init__.py`, `mse_loss`."""
    away = self - target
    loss = away * away
    if reduction == NONE:
        return loss
    return functions.sum(loss) / loss.numel() if reduction == MEAN else functions.sum(loss)


def mse_loss_backward(grad_output: Tensor, self: Tensor, target: Tensor, reduction: int) -> Tensor:
    """`mse_loss_backward` as elementary operators. Source: `torch/_decomp/decompositions.py`, `mse_loss_backward`."""
    return (self - target) * (grad_output * (2 / self.numel() if reduction == MEAN else 2))


# The table. A rule takes all arguments of the operator's schema, in order. -------------------------------------------


def scatter(write: Callable) -> Callable:
    """The gradient of the base of a view: zeros, except where the view is. `write` is the operator that writes this part."""
    return lambda grad, sizes, *args: write(grad.new_zeros(sizes), grad, *args)


TABLE: dict[str, Callable] = {
    "_softmax": softmax,
    "_log_softmax": log_softmax,
    "_safe_softmax": attention.safe_softmax,
    "_softmax_backward_data": softmax_backward_data,
    "_log_softmax_backward_data": log_softmax_backward_data,
    "threshold_backward": lambda grad, self, threshold: functions.where(self <= threshold, 0.0, grad),
    "sigmoid_backward": lambda grad, output: grad * (output * (1 - output)),
    "tanh_backward": lambda grad, output: grad * (1 - output * output),
    "silu": lambda self: self / (1 + functions.exp(-self)),
    "silu_backward": silu_backward,
    "gelu": gelu,
    "gelu_backward": gelu_backward,
    "elu": lambda self, alpha, scale, input_scale: functions.where(
        self > 0, self * scale, functions.expm1(self * input_scale) * (alpha * scale)
    ),
    "leaky_relu": lambda self, slope: functions.where(self > 0, self, self * slope),
    "leaky_relu_backward": lambda grad, self, slope, is_result: functions.where(self > 0, grad, grad * slope),
    "hardtanh": functions.clamp,
    "hardtanh_backward": lambda grad, self, low, high: functions.where(
        functions.logical_or(self <= low, self >= high), 0.0, grad
    ),
    "softplus": softplus,
    "softplus_backward": softplus_backward,
    "log_sigmoid_backward": lambda grad, self, buffer: grad * functions.where(self < 0, 1.0, buffer) / (1 + buffer),
    "addcmul": lambda self, tensor1, tensor2, value: self + scaled(tensor1 * tensor2, value),
    "addcdiv": lambda self, tensor1, tensor2, value: self + scaled(tensor1 / tensor2, value),
    "lerp.Scalar": lambda self, end, w: self + (end - self) * w if w < 0.5 else end - (end - self) * (1 - w),
    "rsub.Tensor": rsub,
    "rsub.Scalar": rsub,
    "add.Scalar": lambda self, other, alpha: self + other * alpha,
    "sub.Scalar": lambda self, other, alpha: self - other * alpha,
    "mul.Scalar": lambda self, other: self * other,
    "div.Scalar": lambda self, other: self / other,
    "square": lambda self: self * self,
    "masked_fill.Scalar": lambda self, mask, value: functions.where(mask, value, self),
    "masked_fill.Tensor": lambda self, mask, value: functions.where(mask, value, self),
    "detach": functions.alias,  # a graph has no autograd, so `detach` only makes an alias
    "zero": lambda self: functions.full_like(self, 0),
    "copy": copy,
    "fill.Scalar": fill,
    "fill.Tensor": fill,
    "mean": lambda self, dtype: functions.sum(self, dtype=dtype) / self.numel(),
    "mean.dim": mean_dim,
    "var.correction": var,
    "std.correction": lambda *args: functions.sqrt(var(*args)),
    "logsumexp": logsumexp,
    "select_backward": scatter(functions.select_scatter),
    "slice_backward": scatter(functions.slice_scatter),
    "diagonal_backward": scatter(functions.diagonal_scatter),
    "mse_loss": mse_loss,
    "mse_loss_backward": mse_loss_backward,
}
"""The decompositions of the backend, by the names of operators with their overloads."""


def get_decompositions(names: Sequence[Operator | str]) -> dict[Operator, Callable]:
    """The decompositions of some operators, which are given as operators or by name. Operators without one are left out.
    Source: `torch/_decomp/__init__.py`, `get_decompositions`."""
    wanted = {name if isinstance(name, str) else name.full_name.removeprefix("aten::") for name in names}
    return {overload(name): by_schema(overload(name), function) for name, function in TABLE.items() if name in wanted}


def core_aten_decompositions() -> dict[Operator, Callable]:
    """The table of all decompositions that the backend has, by overload.
    Source: `torch/_decomp/__init__.py`, `core_aten_decompositions`; `torch/_inductor/decomposition.py`."""
    return get_decompositions(list(TABLE))


def overload(name: str) -> OpOverload:
    """The overload of `aten` with a name such as `add.Tensor`. Without an overload's name it is the default one."""
    packet, _, which = name.partition(".")
    return getattr(getattr(aten, packet), which or "default")


def by_schema(operator: OpOverload, function: Callable) -> Callable:
    """A function that binds its arguments by the schema, because its arguments after a `*` may be given by keyword."""
    return lambda *args, **kwargs: function(*bind(operator.schema, args, kwargs))
