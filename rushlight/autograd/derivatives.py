"""Formulas of `derivatives.yaml` that are longer than a line.

In PyTorch: `torch/csrc/autograd/FunctionsManual.cpp`. They are programs of operators, so that they can be differentiated again.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence

from rushlight.aten.generated import functions
from rushlight.aten.generated.functions import softplus, where, zeros_like  # noqa: F401
from rushlight.aten.strided import Tensor, storage_size, wrap_dim
from rushlight.c10.dispatch import local
from rushlight.c10.dtypes import Scalar, dtype
from rushlight.c10.memory_formats import contiguous_format


def maybe_multiply(grad: Tensor, factor: Scalar) -> Tensor:
    return grad if factor == 1 else times(grad, factor)


def times(x: Tensor, number: Scalar) -> Tensor:
    """As C++ multiplies: by an operator of its own, for which a number has no gradient. Without a graph or a mode nobody sees
    which."""
    return functions.mul_Scalar_op(x, number) if local.grad_enabled or local.modes else x * number


def zeros_in_rows(grad: Tensor) -> Tensor:
    return functions.zeros_like(grad, memory_format=contiguous_format)


def minus_times(grad: Tensor, other: Tensor) -> Tensor:
    """`-grad * other`, of which C++ works out `other` first."""
    return -grad * other


def over(x: Tensor, number: Scalar) -> Tensor:
    return functions.div_Scalar_op(x, number) if local.grad_enabled or local.modes else x / number


def plus(x: Tensor, number: Scalar) -> Tensor:
    return functions.add_Scalar_op(x, number) if local.grad_enabled or local.modes else x + number


def minus(x: Tensor, number: Scalar) -> Tensor:
    return functions.sub_Scalar_op(x, number) if local.grad_enabled else x - number


def number_minus(number: Scalar, x: Tensor) -> Tensor:
    """For a number on the left there is no operator: C++ fills a tensor with it."""
    return functions.full_like(x, number) - x if local.grad_enabled else number - x


def number_over(number: Scalar, x: Tensor) -> Tensor:
    return functions.full_like(x, number) / x


def constant(result: Tensor) -> Tensor:
    """A saved result that has no derivative, without the node that it comes back with."""
    return result.detach() if local.grad_enabled else result


# ------------------------------------------------------------------------------------------------------------
# Views: what was not seen gets 0


def slice_backward_wrapper(
    grad: Tensor, sizes: Sequence[int], dim: int, start: int | None, end: int | None, step: int
) -> Tensor:
    """Source: `torch/csrc/autograd/FunctionsManual.cpp`, `slice_backward_wrapper`."""
    start, end = 0 if start is None else start, sys.maxsize if end is None else end
    return functions.slice_backward(grad, sizes, dim, start, end, step)


def permute_backward(grad: Tensor, dims: Sequence[int]) -> Tensor:
    order = [wrap_dim(dim, len(dims)) for dim in dims]
    return grad.permute([order.index(dim) for dim in range(len(dims))])


def cat_backward_of_split(grads: Sequence[Tensor | None], sizes: Sequence, dim: int, dtype: dtype) -> Tensor:
    return functions.cat(_with_zeros(grads, sizes, dtype), dim)


def unsqueeze_to(grad: Tensor, dims: int | Sequence[int] | None, sizes: Sequence[int]) -> Tensor:
    """The dimensions of size 1 put back that were squeezed out: all of them, or those among `dims`."""
    if dims is not None and sizes:
        dims = [wrap_dim(dim, len(sizes)) for dim in ([dims] if isinstance(dims, int) else dims)]
    for dim, size in enumerate(sizes):
        if size == 1 and (dims is None or dim in dims):
            grad = grad.unsqueeze(dim)
    return grad


def unbind_backward(grads: Sequence[Tensor | None], sizes: Sequence, dim: int, dtype: dtype) -> Tensor:
    return functions.stack(_with_zeros(grads, sizes, dtype), dim)


def _with_zeros(grads: Sequence[Tensor | None], sizes: Sequence, dtype: dtype) -> list[Tensor]:
    """The gradients of several results, 0 for those that nobody used."""
    given = next(grad for grad in grads if grad is not None)
    return [given.new_zeros(size, dtype=dtype) if grad is None else grad for grad, size in zip(grads, sizes)]


def as_strided_scatter_backward(grad, sizes, strides, size, stride, offset) -> Tensor:
    """What PyTorch gives: the gradient where `src` went, 0 elsewhere. The true one is the opposite, as `gradcheck` says of both.

    Source: `torch/csrc/autograd/FunctionsManual.cpp`, `as_strided_scatter_backward`.
    """
    shown = grad.contiguous().as_strided(size, stride, offset)
    result = grad.new_zeros([storage_size(sizes, strides)]).as_strided(sizes, strides, 0)
    result.as_strided(size, stride, offset).copy_(shown)
    return result


def as_strided_backward(grad, sizes, strides, storage_offset, size, stride, offset) -> Tensor:
    """The gradient of a view of these `size`, `stride`, `offset` as that of the tensor that was viewed, on a storage made for
    both. An element that is shown several times collects from all; one that is in the tensor several times divides.

    Source: `torch/csrc/autograd/FunctionsManual.cpp`, `as_strided_backward`.
    """
    offset = storage_offset if offset is None else offset
    if 0 in size or 0 in sizes:
        return grad.new_zeros(sizes)
    shown = []
    for dim in reversed(range(len(size))):
        if size[dim] == 1:
            grad = grad.squeeze(dim)
        elif stride[dim] == 0:
            grad = grad.sum(dim)
        else:
            shown.insert(0, (size[dim], stride[dim]))
    own = [pair for pair in zip(sizes, strides) if pair[0] != 1 and pair[1] != 0]
    lowest = min(storage_offset, offset)
    own_offset, offset = storage_offset - lowest, offset - lowest
    length = max(
        1 + at + sum((n - 1) * step for n, step in pairs) for pairs, at in ((own, own_offset), (shown, offset))
    )
    storage = grad.new_zeros((length,))
    if may_overlap(shown):
        storage.index_add_(0, places(length, shown, offset), grad.reshape(-1))
    else:
        storage.as_strided(*_apart(shown), offset).copy_(grad)
    if may_overlap(own):
        index = places(length, own, own_offset)
        count = functions.zeros_like(storage).index_add_(0, index, grad.new_ones((1,)).expand_as(index))
        storage.div_(count)
    return storage.as_strided(sizes, strides, own_offset)


def may_overlap(pairs: Sequence[tuple[int, int]]) -> bool:
    """Whether elements of these sizes and strides may lie on one another. Source: `_maybe_overlapping_memory`."""
    reach = 0
    for size, stride in sorted(pairs, key=lambda pair: pair[1]):
        if stride <= reach:
            return True
        reach += stride * (size - 1)
    return False


def places(length: int, pairs: Sequence[tuple[int, int]], offset: int) -> Tensor:
    """Where on a storage the elements of these sizes and strides lie, one after the other."""
    return functions.arange(length).as_strided(*_apart(pairs), offset).reshape(-1)


def _apart(pairs: Sequence[tuple[int, int]]) -> tuple[list[int], list[int]]:
    return [size for size, _ in pairs], [stride for _, stride in pairs]


def cat_backward(grad: Tensor, sizes: Sequence, dtypes: Sequence[dtype], dim: int) -> list[Tensor]:
    """Each part of the gradient, for the tensor that it came from; the old exception, an empty 1-d tensor, gets nothing."""
    parts, start = [], 0
    dim = wrap_dim(dim, grad.dim())
    for size, wanted in zip(sizes, dtypes):
        if tuple(size) == (0,):
            parts.append(grad.new_zeros((0,), dtype=wanted))
            continue
        part = grad.narrow(dim, start, size[dim])
        parts.append(part if part.dtype is wanted else part.to(wanted))
        start += size[dim]
    return parts


def stack_backward(grad: Tensor, dtypes: Sequence[dtype], dim: int) -> list[Tensor]:
    parts = [grad.select(dim, i) for i in range(len(dtypes))]
    return [part if part.dtype is dtype else part.to(dtype) for part, dtype in zip(parts, dtypes)]


def repeat_backward(grad: Tensor, repeats: Sequence[int], sizes: Sequence[int]) -> Tensor:
    """Source: `torch/csrc/autograd/FunctionsManual.cpp`, `repeat_backward`."""
    if 0 in repeats:
        return grad.new_zeros(sizes)
    new_dims = grad.dim() - len(sizes)
    for _ in range(new_dims):
        grad = grad.sum(0)
    apart, copies = [], []
    for times, size in zip(repeats[new_dims:], sizes):
        if times != 1:
            copies.append(len(apart))
            apart.append(times)
        apart.append(size)
    return grad.reshape(apart).sum(copies) if copies else grad


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


def grad_of_the_extreme(grad: Tensor, equal: Tensor, passed_over: Tensor) -> Tensor:
    """Half of it where both are equal, nothing where the other one was taken."""
    return where(equal, over(grad, 2), grad).masked_fill(passed_over, 0)


def pow_backward(grad: Tensor, self: Tensor, exponent: Scalar) -> Tensor:
    return zeros_like(self) if exponent == 0 else grad * times(self.pow(exponent - 1), exponent)


def pow_backward_self(grad: Tensor, self: Tensor, exponent: Tensor) -> Tensor:
    return where(exponent == 0.0, 0.0, grad * (exponent * self.pow(minus(exponent, 1))))


def pow_backward_exponent(grad: Tensor, self: Tensor | Scalar, exponent: Tensor, result: Tensor) -> Tensor:
    if isinstance(self, Tensor):
        flat = (self == 0).logical_and(exponent >= 0)
        return grad * where(flat, 0.0, result * self.log())
    logarithm = math.log(self) if self > 0 else float("nan" if self else "-inf")
    slope = times(result, logarithm)
    return grad * where(exponent >= 0, 0.0, slope) if self == 0 else grad * slope


def elu_double_backward(
    grad: Tensor,
    grad_output: Tensor,
    alpha: Scalar,
    scale: Scalar,
    input_scale: Scalar,
    is_result: bool,
    self_or_result: Tensor,
) -> Tensor:
    if is_result:
        return grad * grad_output * input_scale * (self_or_result < 0)
    slope = functions.elu_backward(grad * grad_output * input_scale, alpha, scale, input_scale, False, self_or_result)
    return slope * (self_or_result < 0)


def gelu_double_backward(grad: Tensor, grad_output: Tensor, self: Tensor, approximate: str) -> Tensor:
    if approximate == "tanh":
        scale = math.sqrt(2 / math.pi)
        t = (scale * (self + 0.044715 * self.pow(3))).tanh()
        slope, bend = scale * (1 + 3 * 0.044715 * self * self), scale * 6 * 0.044715 * self
        second = (1 - t * t) * (slope + 0.5 * self * (bend - 2 * t * slope * slope))
    else:
        second = (self * self * -0.5).exp() * (2 - self * self) * (1 / math.sqrt(2 * math.pi))
    return grad * grad_output * second


def infinitely_differentiable_silu_backward(grad: Tensor, self: Tensor) -> Tensor:
    sigmoid = self.sigmoid()
    return grad * sigmoid * plus(self * number_minus(1.0, sigmoid), 1.0)


def softplus_double_backward(grad: Tensor, self: Tensor, beta: Scalar, threshold: Scalar) -> Tensor:
    x = self * beta
    return functions.sigmoid_backward(grad, x.sigmoid()) * (x < threshold) * beta


# ------------------------------------------------------------------------------------------------------------
# Gathering


def gather_backward(grad: Tensor, sizes: Sequence[int], dim: int, index: Tensor) -> Tensor:
    return grad.new_zeros(sizes).scatter_add(dim, index, grad)


def index_backward(grad: Tensor, sizes: Sequence[int], indices: Sequence[Tensor | None]) -> Tensor:
    """Source: `torch/csrc/autograd/FunctionsManual.cpp`, `index_backward`."""
    return functions._index_put_impl__op(grad.new_zeros(sizes), indices, grad, True, True)


def index_add_backward_source(grad: Tensor, dim: int, index: Tensor, sizes: Sequence[int], alpha: Scalar) -> Tensor:
    if not sizes:
        return maybe_multiply(grad.index_select(dim, index.squeeze(0)), alpha)
    return maybe_multiply(grad.index_select(dim, index).expand(sizes), alpha)


def index_put_backward(grad: Tensor, indices: Sequence[Tensor | None], accumulate: bool) -> Tensor:
    """What was written over gets 0."""
    return grad if accumulate else functions.index_put_op(grad, indices, grad.new_zeros(()))


def index_of_gradient(grad: Tensor, indices: Sequence[Tensor | None]) -> Tensor:
    return functions.index_Tensor_op(grad, indices)


def embedding_dense_double_backward(grad: Tensor, indices: Tensor, padding_idx: int) -> Tensor:
    """As in PyTorch not divided by how often a row was looked up."""
    rows = grad.index_select(0, indices.reshape(-1))
    if padding_idx >= 0:
        rows = rows.masked_fill((indices == padding_idx).reshape(-1, 1), 0)
    return rows.view((*indices.shape, grad.shape[1]))


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
    return over(sum_backward(grad, sizes, dim, keepdim), _count(sizes, _dims(dim)))


def scale_grad_by_count(grad: Tensor, self: Tensor, result: Tensor, dims: Sequence[int], keepdim: bool) -> Tensor:
    """In equal parts to all elements that have the extreme value.

    Source: `torch/csrc/autograd/FunctionsManual.cpp`, `scale_grad_by_count` and `restore_reduced_dims`.
    """
    mask = restore_reduced_dims(result, dims, keepdim) == self
    return restore_reduced_dims(grad, dims, keepdim) / mask.sum(dims, True) * mask


def restore_reduced_dims(x: Tensor, dims: Sequence[int], keepdim: bool) -> Tensor:
    if keepdim:
        return x
    ndim, left = x.dim() + len(dims), list(x.shape)
    reduced = [dim % ndim for dim in dims] if ndim else []
    return x.reshape([1 if dim in reduced else left.pop(0) for dim in range(ndim)])


def evenly_distribute_backward(grad: Tensor, self: Tensor, result: Tensor) -> Tensor:
    mask = self.isnan() if result.isnan().item() else self == result
    return grad.new_zeros(self.shape).masked_fill_(mask, grad / mask.sum())


def cumsum_backward(grad: Tensor, dim: int) -> Tensor:
    if grad.dim() == 0 or grad.numel() <= 1:
        return grad
    return grad.flip([dim]).cumsum(dim).flip([dim])


def softmax_double_backward(grad: Tensor, grad_output: Tensor, dim: int, output: Tensor) -> Tensor:
    return (
        grad_output * grad - (output * grad_output).sum(dim, True) * grad - grad_output * (output * grad).sum(dim, True)
    )


def logsumexp_backward(grad: Tensor, self: Tensor, result: Tensor, dim, keepdim: bool) -> Tensor:
    """The gradient of `self.logsumexp(dim, keepdim)`: each element's share, exp(self - result), of what arrives.

    Made of operators, so that it can be differentiated again, with respect to `grad` and to `self` and `result`. No logit may
    overflow: what is exponentiated is never above 0 (where all is finite).

    Args:
        grad, result: the gradient of the result, and the result, both of its sizes. `restore_dims` puts the dimensions back
            that were reduced.
        self: the argument, of any sizes, none included.
        dim: one dimension, or a sequence of several, from either end; an empty one means all.
        keepdim: whether the result has the reduced dimensions, with size 1.

    Source: `torch/csrc/autograd/FunctionsManual.cpp`, `logsumexp_backward`.
    """
    dims = _dims(dim)
    grad, result = (restore_dims(x, self.dim(), dims, keepdim) for x in (grad, result))
    return grad * (self - result).exp()


def prod_backward(grad: Tensor, self: Tensor, result: Tensor) -> Tensor:
    """The product of the others is the quotient of all and one, unless that is 0.

    Source: `torch/csrc/autograd/FunctionsManual.cpp`, `prod_backward`.
    """
    if self.dim() == 0:
        return grad
    if (self == 0).sum().item() == 0:
        return grad * (result / self)
    return (grad * _products_of_the_others(self.reshape(-1), 0)).reshape(self.shape)


def prod_dim_backward(grad: Tensor, self: Tensor, result: Tensor, dim: int, keepdim: bool) -> Tensor:
    if self.dim() == 0:
        return grad
    if not keepdim:
        grad, result = grad.unsqueeze(dim), result.unsqueeze(dim)
    if (self == 0).sum().item() == 0:
        return grad * (result / self)
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
    """Source: `torch/csrc/autograd/FunctionsManual.cpp`, `var_backward`."""
    correction = 1 if correction is None else correction
    if self.dim() == 0 or dim is None:
        freedom = self.numel() - correction
        if freedom <= 0:
            return grad * where(self == self.mean(), float("nan"), float("inf"))
        return times(grad, 2 / freedom) * (self - self.mean())
    dims = _dims(dim)
    if not keepdim and self.dim() > 1:
        grad = restore_dims(grad, self.dim(), dims, keepdim)
    freedom = _count(self.shape, dims) - correction
    scale = 2 / freedom if freedom else float("inf")
    return times(grad, scale) * (self - self.mean(list(dims), True))


def std_backward(grad: Tensor, self: Tensor, result: Tensor, dim, correction: Scalar | None, keepdim: bool) -> Tensor:
    return var_backward((grad / times(result, 2)).masked_fill(result == 0, 0), self, dim, correction, keepdim)


# ------------------------------------------------------------------------------------------------------------
# Matrix products


def mm_backward_mat1(grad: Tensor, mat2: Tensor, sizes, strides, alpha: Scalar) -> Tensor:
    """The gradient of the first factor of `alpha * (mat1 @ mat2)`, in (n, k) @ (k, m).

    Made of operators, `mm` and `t` among them, so that it can be differentiated again. Laid out as the factor is, so that a
    parameter and its gradient have the same strides: column by column, as the transpose of another product, if the factor's
    strides are exactly (1, n), and otherwise row by row.

    Args:
        grad: the gradient of the product, (n, m), of any strides.
        mat2: the second factor, (k, m), of any strides.
        sizes, strides: those of the first factor: its sizes are (n, k).
        alpha: a number; `maybe_multiply` multiplies by it.

    Source: `torch/csrc/autograd/FunctionsManual.cpp`, `mm_mat1_backward`.
    """
    if strides[0] == 1 and strides[1] == sizes[0]:  # column by column
        return maybe_multiply(mat2.mm(grad.t()).t(), alpha)
    return maybe_multiply(grad.mm(mat2.t()), alpha)


def mm_backward_mat2(grad: Tensor, mat1: Tensor, sizes, strides, alpha: Scalar) -> Tensor:
    """The gradient of the second factor of `alpha * (mat1 @ mat2)`, in (n, k) @ (k, m), laid out as that factor is: column by
    column if its strides are exactly (1, k), and otherwise row by row.

    Args:
        grad: the gradient of the product, (n, m), of any strides.
        mat1: the first factor, (n, k), of any strides.
        sizes, strides: those of the second factor: its sizes are (k, m).
        alpha: a number; `maybe_multiply` multiplies by it.

    Source: `torch/csrc/autograd/FunctionsManual.cpp`, `mm_mat2_backward`.
    """
    if strides[0] == 1 and strides[1] == sizes[0]:
        return maybe_multiply(grad.t().mm(mat1).t(), alpha)
    return maybe_multiply(mat1.t().mm(grad), alpha)


# ------------------------------------------------------------------------------------------------------------
# Losses. A reduction is 0 for none, 1 for the mean, 2 for the sum


def _per_element(grad: Tensor, count: int, reduction: int) -> Tensor:
    return over(grad, count) if reduction == 1 else grad


def mse_loss_double_backward(grad: Tensor, self: Tensor, reduction: int) -> Tensor:
    return _per_element(times(grad, 2), self.numel(), reduction)


def smooth_l1_loss_double_backward(grad: Tensor, self: Tensor, target: Tensor, reduction: int, beta: float) -> Tensor:
    """There is no curve where the parabola has no width."""
    if beta == 0:
        return zeros_like(grad)
    distance = (self - target).abs()
    return _per_element(grad * (distance < beta) / beta, self.numel(), reduction)


def huber_loss_double_backward(grad: Tensor, self: Tensor, target: Tensor, reduction: int, delta: float) -> Tensor:
    distance = (self - target).abs()
    return _per_element(grad * (distance < delta), self.numel(), reduction)


def huber_loss_double_backward_grad_output(
    grad: Tensor, grad_output: Tensor, self: Tensor, target: Tensor, reduction: int, delta: float
) -> Tensor:
    if reduction == 0:
        return functions.huber_loss_backward(grad, self, target, reduction, delta)
    return (
        functions.huber_loss_backward(functions.ones_like(grad_output), self, target, reduction, delta) * grad
    ).sum()


def binary_cross_entropy_with_logits_backward(grad, self, target, weight, pos_weight, reduction: int) -> Tensor:
    if pos_weight is None:
        slope = self.sigmoid() - target
    else:
        positive = pos_weight * target
        slope = (plus(positive, 1) - target) * self.sigmoid() - positive
    return _weighted(slope * grad, weight, self.numel(), reduction)


def binary_cross_entropy_with_logits_backward_target(grad, self, target, weight, pos_weight, reduction: int) -> Tensor:
    slope = -self if pos_weight is None else minus(pos_weight, 1) * softplus(-self) - self
    return _weighted(slope * grad, weight, self.numel(), reduction)


def _weighted(grad: Tensor, weight: Tensor | None, count: int, reduction: int) -> Tensor:
    return _per_element(grad if weight is None else grad * weight, count, reduction)
