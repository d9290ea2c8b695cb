"""Formulas of `derivatives.yaml` that are longer than a line.

In PyTorch: `torch/csrc/autograd/FunctionsManual.cpp`. They are programs of operators, so that they can be differentiated again.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from rushlight import functions
from rushlight.dtypes import Scalar, dtype, int64
from rushlight.functions import softplus, where, zeros_like  # noqa: F401
from rushlight.strided import Tensor, wrap_dim


def maybe_multiply(grad: Tensor, factor: Scalar) -> Tensor:
    return grad if factor == 1 else grad * factor


# ------------------------------------------------------------------------------------------------------------
# Views: what was not seen gets 0


def select_backward(grad: Tensor, sizes: Sequence[int], dim: int, index: int) -> Tensor:
    """Source: `aten/src/ATen/native/TensorShape.cpp`, `select_backward`."""
    result = grad.new_zeros(sizes)
    result.select(dim, index).copy_(grad)
    return result


def slice_backward(grad: Tensor, sizes: Sequence[int], dim: int, start, end, step: int) -> Tensor:
    result = grad.new_zeros(sizes)
    functions.slice(result, dim, start, end, step).copy_(grad)
    return result


def diagonal_backward(grad: Tensor, sizes: Sequence[int], offset: int, dim1: int, dim2: int) -> Tensor:
    result = grad.new_zeros(sizes)
    result.diagonal(offset, dim1, dim2).copy_(grad)
    return result


def permute_backward(grad: Tensor, dims: Sequence[int]) -> Tensor:
    order = [wrap_dim(dim, len(dims)) for dim in dims]
    return grad.permute([order.index(dim) for dim in range(len(dims))])


def cat_backward_of_split(grads: Sequence[Tensor | None], sizes: Sequence, dim: int, dtype: dtype) -> Tensor:
    return functions.cat(_with_zeros(grads, sizes, dtype), dim)


def unbind_backward(grads: Sequence[Tensor | None], sizes: Sequence, dim: int, dtype: dtype) -> Tensor:
    return functions.stack(_with_zeros(grads, sizes, dtype), dim)


def _with_zeros(grads: Sequence[Tensor | None], sizes: Sequence, dtype: dtype) -> list[Tensor]:
    """The gradients of several results, 0 for those that nobody used."""
    given = next(grad for grad in grads if grad is not None)
    return [given.new_zeros(size, dtype=dtype) if grad is None else grad for grad, size in zip(grads, sizes)]


def unfold_backward(grad: Tensor, sizes: Sequence[int], dimension: int, size: int, step: int) -> Tensor:
    """Windows overlap: an element collects from all that show it."""
    if not sizes:
        return grad.sum().reshape(())
    dim = wrap_dim(dimension, len(sizes))
    grad = grad.movedim(-1, 0)  # the place in the window first
    result = grad.new_zeros(sizes)
    for place in range(size):
        end = place + (grad.shape[dim + 1] - 1) * step + 1

        window = functions.slice(result, dim, place, end, step)
        window.add_(grad.select(0, place))
    return result


def as_strided_backward(grad, sizes, strides, storage_offset, size, stride, offset) -> Tensor:
    """Elements that the view shows several times collect from all, on a storage that is made for it.

    Source: `torch/csrc/autograd/FunctionsManual.cpp`, `as_strided_backward`.
    """
    offset = storage_offset if offset is None else offset
    lowest = min(storage_offset, offset)
    reach = [
        (0 if 0 in s else 1 + at - lowest + sum((n - 1) * step for n, step in zip(s, t)))
        for s, t, at in ((sizes, strides, storage_offset), (size, stride, offset))
    ]
    storage = grad.new_zeros((max(reach),))
    places = functions.arange(max(reach)).as_strided(tuple(size), tuple(stride), offset - lowest)
    storage = storage.scatter_add(0, places.reshape(-1), grad.reshape(-1))
    seen = storage.new_zeros((max(reach),))
    own = functions.arange(max(reach)).as_strided(tuple(sizes), tuple(strides), storage_offset - lowest).reshape(-1)
    seen = seen.scatter_add(0, own, grad.new_ones(own.shape)).clamp_min(1)
    return (storage / seen).as_strided(tuple(sizes), tuple(strides), storage_offset - lowest)


def cat_backward(grad: Tensor, sizes: Sequence, dtypes: Sequence[dtype], dim: int) -> list[Tensor]:
    """Each part of the gradient, for the tensor that it came from; the old exception, an empty 1-d tensor, gets nothing."""
    parts, start = [], 0
    dim = wrap_dim(dim, grad.dim())
    for size, wanted in zip(sizes, dtypes):
        if tuple(size) == (0,) and grad.dim() != 1:
            parts.append(grad.new_zeros((0,), dtype=wanted))
            continue
        part = grad.narrow(dim, start, size[dim])
        parts.append(part if part.dtype is wanted else part.to(wanted))
        start += size[dim]
    return parts


def stack_backward(grad: Tensor, dtypes: Sequence[dtype], dim: int) -> list[Tensor]:
    return [part if part.dtype is dtype else part.to(dtype) for part, dtype in zip(grad.unbind(dim), dtypes)]


def repeat_backward(grad: Tensor, repeats: Sequence[int], sizes: Sequence[int]) -> Tensor:
    """Source: `torch/csrc/autograd/FunctionsManual.cpp`, `repeat_backward`."""
    if 0 in repeats:
        return grad.new_zeros(sizes)
    new_dims = len(repeats) - len(sizes)
    if new_dims:
        grad = grad.sum(list(range(new_dims)))
    apart = [part for times, size in zip(repeats[new_dims:], sizes) for part in (times, size)]
    times = list(range(0, len(apart), 2))
    return grad.reshape(apart).sum(times) if apart else grad


# ------------------------------------------------------------------------------------------------------------
# Element by element


def clamp_mask(self: Tensor, min, max) -> Tensor:
    """Where an element is within the borders, or they say nothing."""
    if min is None:
        return self <= max
    return self >= min if max is None else (self >= min).logical_and(self <= max)


def clamp_backward_min(grad: Tensor, self: Tensor, min: Tensor, max: Tensor | None) -> Tensor:
    low = self < min
    return where(low if max is None else low.logical_and(min < max), grad, 0.0)


def clamp_backward_max(grad: Tensor, self: Tensor, min: Tensor | None, max: Tensor) -> Tensor:
    high = self > max
    return where(high if min is None else high.logical_or(max < min), grad, 0.0)


def grad_of_the_larger(grad: Tensor, self: Tensor, other: Tensor) -> Tensor:
    """Half of it where both are equal."""
    return where(self == other, grad / 2, where(self < other, 0.0, grad))


def pow_backward(grad: Tensor, self: Tensor, exponent: Scalar) -> Tensor:
    return zeros_like(grad) if exponent == 0 else grad * (exponent * self.pow(exponent - 1))


def pow_backward_self(grad: Tensor, self: Tensor, exponent: Tensor) -> Tensor:
    return where(exponent == 0.0, 0.0, grad * (exponent * self.pow(exponent - 1)))


def pow_backward_exponent(grad: Tensor, self: Tensor | Scalar, exponent: Tensor, result: Tensor) -> Tensor:
    if not isinstance(self, Tensor):
        if self == 0:
            return where(exponent >= 0, 0.0, grad * (result * float("-inf")))
        return grad * (result * math.log(self)) if self > 0 else grad * (result * float("nan"))
    flat = (self == 0).logical_and(exponent >= 0)
    return where(flat, 0.0, grad * (result * self.log()))


def elu_backward(grad: Tensor, self: Tensor, alpha: Scalar, scale: Scalar, input_scale: Scalar) -> Tensor:
    curve = grad * (input_scale * alpha * scale) * (self * input_scale).exp()
    return where(self <= 0, curve, grad * scale)


def elu_backward_from_result(grad: Tensor, result: Tensor, alpha: Scalar, scale: Scalar, input_scale: Scalar) -> Tensor:
    """What was there has been overwritten: its exponential is read off the result."""
    return where(result <= 0, grad * input_scale * (result + alpha * scale), grad * scale)


def gelu_backward(grad: Tensor, self: Tensor, approximate: str) -> Tensor:
    """Source: `aten/src/ATen/native/Activation.cpp`, `gelu_backward`."""
    if approximate == "tanh":
        inner = math.sqrt(2 / math.pi) * (self + 0.044715 * self * self * self)
        slope = math.sqrt(2 / math.pi) * (1 + 3 * 0.044715 * self * self)
        t = inner.tanh()
        return grad * (0.5 * (1 + t) + 0.5 * self * (1 - t * t) * slope)
    below = 0.5 * (1 + (self * math.sqrt(0.5)).erf())
    density = (self * self * -0.5).exp() * (1 / math.sqrt(2 * math.pi))
    return grad * (below + self * density)


def silu_backward(grad: Tensor, self: Tensor) -> Tensor:
    sigmoid = self.sigmoid()
    return grad * sigmoid * (1 + self * (1 - sigmoid))


# ------------------------------------------------------------------------------------------------------------
# Gathering


def gather_backward(grad: Tensor, sizes: Sequence[int], dim: int, index: Tensor) -> Tensor:
    return grad.new_zeros(sizes).scatter_add(dim, index, grad)


def index_backward(grad: Tensor, sizes: Sequence[int], indices: Sequence[Tensor | None]) -> Tensor:
    """Source: `torch/csrc/autograd/FunctionsManual.cpp`, `index_backward`."""
    return functions.index_put_op(grad.new_zeros(sizes), indices, grad, True)


def index_put_backward(grad: Tensor, indices: Sequence[Tensor | None], accumulate: bool) -> Tensor:
    """What was written over gets 0."""
    return grad if accumulate else functions.index_put_op(grad, indices, grad.new_zeros(()))


def index_of_gradient(grad: Tensor, indices: Sequence[Tensor | None]) -> Tensor:
    return functions.index_Tensor_op(grad, indices)


def index_select_backward(grad: Tensor, sizes: Sequence[int], dim: int, index: Tensor) -> Tensor:
    if not sizes:
        return grad.sum().reshape(())
    dim = wrap_dim(dim, len(sizes))
    shape = [1] * len(sizes)
    shape[dim] = -1
    return grad.new_zeros(sizes).scatter_add(dim, index.to(int64).reshape(shape).expand(grad.shape), grad)


def embedding_backward(
    grad: Tensor, indices: Tensor, sizes: Sequence[int], padding_idx: int, scale_grad_by_freq: bool
) -> Tensor:
    """Each row collects from every place where it was looked up. Source: `aten/src/ATen/native/Embedding.cpp`."""
    width = sizes[1]
    flat = indices.reshape(-1).to(int64)
    rows = grad.reshape((flat.numel(), width))
    if padding_idx >= 0:
        rows = rows.masked_fill((flat == padding_idx).unsqueeze(1), 0)
    if scale_grad_by_freq:
        ones = rows.new_ones((flat.numel(),))
        counts = rows.new_zeros((sizes[0],)).scatter_add(0, flat, ones)
        rows = rows / counts.gather(0, flat).unsqueeze(1)
    return rows.new_zeros(sizes).scatter_add(0, flat.unsqueeze(1).expand((flat.numel(), width)), rows)


# ------------------------------------------------------------------------------------------------------------
# Reductions


def restore_dims(x: Tensor, ndim: int, dims: Sequence[int] | None, keepdim: bool) -> Tensor:
    """A reduced tensor with its reduced dimensions put back, of size 1. Source: `FunctionsManual.cpp`, `unsqueeze_multiple`."""
    if keepdim or ndim == 0:
        return x
    reduced = range(ndim) if not dims else sorted(wrap_dim(dim, ndim) for dim in dims)
    for dim in reduced:
        x = x.unsqueeze(dim)
    return x


def _dims(dim: int | Sequence[int] | None) -> Sequence[int]:
    return [] if dim is None else [dim] if isinstance(dim, int) else dim


def _count(sizes: Sequence[int], dims: Sequence[int]) -> int:
    return math.prod(sizes[wrap_dim(dim, len(sizes))] for dim in dims) if dims and sizes else math.prod(sizes)


def sum_backward(grad: Tensor, sizes: Sequence[int], dim, keepdim: bool) -> Tensor:
    return restore_dims(grad, len(sizes), dim, keepdim).expand(sizes)


def mean_backward(grad: Tensor, sizes: Sequence[int], dim, keepdim: bool) -> Tensor:
    return sum_backward(grad, sizes, dim, keepdim) / _count(sizes, _dims(dim))


def grad_to_equal_elements(grad: Tensor, self: Tensor, result: Tensor, dim, keepdim: bool) -> Tensor:
    """In equal parts to all elements that have the extreme value. Source: `scale_grad_by_count`, `evenly_distribute_backward`."""
    dims = _dims(dim)
    mask = (self == restore_dims(result, self.dim(), dims, keepdim)).to(grad.dtype)
    count = mask.sum(list(dims) if dims else list(range(self.dim())), True) if self.dim() else mask
    return mask * (restore_dims(grad, self.dim(), dims, keepdim) / count)


def value_selecting_backward(grad: Tensor, dim: int, indices: Tensor, sizes: Sequence[int], keepdim: bool) -> Tensor:
    """Source: `aten/src/ATen/native/TensorShape.cpp`, `value_selecting_reduction_backward`."""
    if not sizes:
        return grad
    if not keepdim:
        grad, indices = grad.unsqueeze(dim), indices.unsqueeze(dim)
    return grad.new_zeros(sizes).scatter_add(dim, indices, grad)


def cumsum_backward(grad: Tensor, dim: int) -> Tensor:
    if grad.dim() == 0 or grad.numel() <= 1:
        return grad
    return grad.flip([dim]).cumsum(dim).flip([dim])


def softmax_backward(grad: Tensor, result: Tensor, dim: int, dtype: dtype) -> Tensor:
    """Source: `aten/src/ATen/native/SoftMax.cpp`, `_softmax_backward_data`."""
    product = grad * result
    return (product - result * product.sum([dim], True)).to(dtype)


def log_softmax_backward(grad: Tensor, result: Tensor, dim: int, dtype: dtype) -> Tensor:
    """Source: `aten/src/ATen/native/SoftMax.cpp`, `_log_softmax_backward_data`."""
    return (grad - result.exp() * grad.sum([dim], True)).to(dtype)


def logsumexp_backward(grad: Tensor, self: Tensor, result: Tensor, dim, keepdim: bool) -> Tensor:
    dims = _dims(dim)
    grad, result = (restore_dims(x, self.dim(), dims, keepdim) for x in (grad, result))
    return grad * (self - result.masked_fill(result.isinf(), 0)).exp()


def prod_backward(grad: Tensor, self: Tensor) -> Tensor:
    if self.dim() == 0:
        return grad.clone()
    flat = self.reshape(-1)
    return (grad * _products_of_the_others(flat, 0)).reshape(self.shape)


def prod_dim_backward(grad: Tensor, self: Tensor, dim: int, keepdim: bool) -> Tensor:
    if self.dim() == 0:
        return grad.clone()
    grad = grad if keepdim else grad.unsqueeze(dim)
    return grad * _products_of_the_others(self, wrap_dim(dim, self.dim()))


def _products_of_the_others(self: Tensor, dim: int) -> Tensor:
    """For each element the product of all others along a dimension: of those before it times of those after it."""
    size = self.shape[dim]
    if size == 0:
        return self.clone()
    parts = list(self.split(1, dim))
    before, after = [functions.ones_like(parts[0])], [functions.ones_like(parts[0])]
    for part in parts[:-1]:
        before.append(before[-1] * part)
    for part in parts[:0:-1]:
        after.append(after[-1] * part)
    return functions.cat([left * right for left, right in zip(before, reversed(after))], dim)


def var_backward(grad: Tensor, self: Tensor, dim, correction: Scalar | None, keepdim: bool) -> Tensor:
    dims = _dims(dim)
    correction = 1 if correction is None else correction
    if self.dim() == 0 or not dims:
        count, mean = self.numel(), self.mean()
        scale = 2 / (count - correction) if count != correction else float("nan")
        return scale * restore_dims(grad, self.dim(), None, keepdim) * (self - mean)
    count = _count(self.shape, dims)
    scale = 2 / (count - correction) if count != correction else float("nan")
    return scale * restore_dims(grad, self.dim(), dims, keepdim) * (self - self.mean(list(dims), True))


def std_backward(grad: Tensor, self: Tensor, result: Tensor, dim, correction: Scalar | None, keepdim: bool) -> Tensor:
    return var_backward((grad / (result * 2)).masked_fill(result == 0, 0), self, dim, correction, keepdim)


# ------------------------------------------------------------------------------------------------------------
# Matrix products


def mm_backward_mat1(grad: Tensor, mat2: Tensor, sizes, strides, alpha: Scalar) -> Tensor:
    """The gradient of the first factor of a product: grad times the second one, transposed.

    Laid out as that factor is, so that a parameter and its gradient have the same strides.

    Source: `torch/csrc/autograd/FunctionsManual.cpp`, `mm_mat1_backward`.
    """
    if strides[0] == 1 and strides[1] == sizes[0]:  # column by column
        return maybe_multiply(mat2.mm(grad.t()).t(), alpha)
    return maybe_multiply(grad.mm(mat2.t()), alpha)


def mm_backward_mat2(grad: Tensor, mat1: Tensor, sizes, strides, alpha: Scalar) -> Tensor:
    """The gradient of the second factor: the first one, transposed, times grad. Source: `mm_mat2_backward`."""
    if strides[0] == 1 and strides[1] == sizes[0]:
        return maybe_multiply(grad.t().mm(mat1).t(), alpha)
    return maybe_multiply(mat1.t().mm(grad), alpha)


# ------------------------------------------------------------------------------------------------------------
# Losses. A reduction is 0 for none, 1 for the mean, 2 for the sum


def _per_element(grad: Tensor, count: int, reduction: int) -> Tensor:
    return grad / count if reduction == 1 else grad


def mse_loss_backward(grad: Tensor, self: Tensor, target: Tensor, reduction: int) -> Tensor:
    return _per_element(grad, (self - target).numel(), reduction) * (2 * (self - target))


def smooth_l1_loss_backward(grad: Tensor, self: Tensor, target: Tensor, reduction: int, beta: float) -> Tensor:
    x = self - target
    slope = where(x.abs() < beta, x / beta if beta else x, x.sign())
    return _per_element(grad, x.numel(), reduction) * slope


def huber_loss_backward(grad: Tensor, self: Tensor, target: Tensor, reduction: int, delta: float) -> Tensor:
    x = self - target
    return _per_element(grad, x.numel(), reduction) * x.clamp(-delta, delta)


def binary_cross_entropy_with_logits_backward(grad, self, target, weight, pos_weight, reduction: int) -> Tensor:
    if pos_weight is None:
        slope = self.sigmoid() - target
    else:
        positive = pos_weight * target
        slope = (positive + 1 - target) * self.sigmoid() - positive
    slope = slope if weight is None else slope * weight
    return _per_element(grad, slope.numel(), reduction) * slope


def binary_cross_entropy_with_logits_backward_target(grad, self, target, weight, pos_weight, reduction: int) -> Tensor:
    slope = -self if pos_weight is None else (pos_weight - 1) * softplus(-self) - self
    slope = slope if weight is None else slope * weight
    return _per_element(grad, self.numel(), reduction) * slope


def nll_loss_backward(grad, sizes, target, weight, reduction: int, ignore_index: int, total_weight: Tensor) -> Tensor:
    """Minus the weight at the place of the target, where it counts. Classes are dimension 1, or 0 without a batch.

    Source: `aten/src/ATen/native/LossNLL.cpp`, `nll_loss_backward`.
    """
    dim = 0 if len(sizes) == 1 else 1
    kept = target != ignore_index
    index = where(kept, target, 0).to(int64)
    factor = kept.to(grad.dtype)
    if weight is not None:
        factor = factor * weight.gather(0, index.reshape(-1)).reshape(index.shape)
    value = -factor * (grad / total_weight if reduction == 1 else grad)
    return grad.new_zeros(sizes).scatter(dim, index.unsqueeze(dim), value.unsqueeze(dim))
