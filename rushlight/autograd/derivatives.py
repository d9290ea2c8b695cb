"""Functions for the formulas of `derivatives.yaml` that are longer than a line.

In PyTorch: `torch/csrc/autograd/FunctionsManual.cpp`. They call operators, so that they can be differentiated again.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from rushlight.aten.generated import functions
from rushlight.aten.generated.functions import softplus, where, zeros_like  # noqa: F401
from rushlight.aten.native import rnn, views
from rushlight.aten.native.losses import MEAN, rows_of_labels
from rushlight.aten.native.views import as_view, runs_unseen
from rushlight.aten.strided import Tensor, is_blas_matrix, storage_size, wrap_contiguous, wrap_dim
from rushlight.autograd.engine import grad as grad_of
from rushlight.autograd.grad_mode import enable_grad
from rushlight.autograd.graph import Node, gradient_edge
from rushlight.autograd.history import set_history
from rushlight.c10.dispatch import AUTOCAST_KEYS, DispatchKey, local
from rushlight.c10.dtypes import INT64_MAX, REDUCED_FLOATING, Scalar, dtype, float32  # noqa: F401
from rushlight.c10.fast_paths import fast_form_of, fastest  # noqa: F401
from rushlight.c10.memory_formats import contiguous_format  # noqa: F401
from rushlight.library import OpOverload, through_table


def not_implemented(name: str) -> NoReturn:
    """Raise a `NotImplementedError` for a derivative that no formula gives."""
    raise NotImplementedError(f"the derivative for '{name}' is not implemented.")


def backward_of(op: OpOverload, grad: Tensor, inputs: Sequence[Tensor], *stack: Any) -> list[Tensor | None]:
    """The gradients of an operator that is a formula of others, by differentiating this formula."""
    kernel, needed = op.kernels[DispatchKey.CompositeExplicitAutograd].function, [x for x in inputs if x.requires_grad]
    with enable_grad():
        result = kernel(*stack)
    grads = iter(grad_of(result, needed, grad, create_graph=local.grad_enabled, materialize_grads=True))
    return [next(grads) if x.requires_grad else None for x in inputs]


def maybe_multiply(grad: Tensor, factor: Scalar) -> Tensor:
    """`grad * factor`, or `grad` itself if the factor is 1. Source: `torch/csrc/autograd/FunctionsManual.cpp`,
    `maybe_multiply`."""
    return grad if factor == 1 else mul_scalar(grad, factor)


def scalar_form(overload: OpOverload, plain: Callable) -> Callable:
    """`x * number` by `mul.Scalar`, as PyTorch's C++ does, and so on. Without a graph or a mode, the operator is not visible."""

    def combine(x: Tensor, number: Scalar) -> Tensor:
        return overload(x, number) if local.grad_enabled or local.modes else plain(x, number)

    return combine


mul_scalar = scalar_form(functions.mul_Scalar_op, operator.mul)
"""`x * number`: see `scalar_form`."""
div_scalar = scalar_form(functions.div_Scalar_op, operator.truediv)
"""`x / number`: see `scalar_form`."""
add_scalar = scalar_form(functions.add_Scalar_op, operator.add)
"""`x + number`: see `scalar_form`."""


def neg_mul(grad: Tensor, other: Tensor) -> Tensor:
    """`-grad * other`, with `other` computed first, as in PyTorch's C++."""
    return -grad * other


def sub_scalar(x: Tensor, number: Scalar) -> Tensor:
    """`x - number`. With a graph of the backward pass, it calls the operator `sub.Scalar`."""
    return functions.sub_Scalar_op(x, number) if local.grad_enabled else x - number


def rsub_scalar(number: Scalar, x: Tensor) -> Tensor:
    """`number - x`. PyTorch's C++ has no operator for it and fills a tensor with the number."""
    return functions.full_like(x, number) - x if local.grad_enabled else number - x


def atan2_backward(grad: Tensor, self: Tensor, other: Tensor) -> tuple[Tensor, Tensor]:
    """Both gradients are 0 at the origin. Source: `torch/csrc/autograd/FunctionsManual.cpp`, `atan2_backward`."""
    square = self * self + other * other
    recip = functions.masked_fill(square.reciprocal(), square.eq(0), 0.0)
    return grad * other * recip, grad * -self * recip


def detach_result(result: Tensor) -> Tensor:
    """A saved result that is not differentiated, without the node that `unpack` gave it."""
    return result.detach() if local.grad_enabled else result


# Views: elements outside the view get 0 ------------------------------------------------------------------------------


def unsqueeze_to(grad: Tensor, dims: int | Sequence[int] | None, sizes: Sequence[int]) -> Tensor:
    """Insert the squeezed dimensions of size 1 again: all of them, or those among `dims`."""
    given = [dims] if isinstance(dims, int) else dims
    squeezed = None if given is None else [wrap_dim(dim, len(sizes)) for dim in given]
    for dim, size in enumerate(sizes):
        if size == 1 and (squeezed is None or dim in squeezed):
            grad = grad.unsqueeze(dim)
    return grad


def replace_none_by_zeros(grads: Sequence[Tensor | None], sizes: Sequence, dtype: dtype) -> list[Tensor]:
    """The gradients of several results, with zeros for the results that were not used."""
    given = next(grad for grad in grads if grad is not None)
    return [given.new_zeros(size, dtype=dtype) if grad is None else grad for grad, size in zip(grads, sizes)]


def split_with_sizes_backward(grads, split_sizes: Sequence[int], dim: int, sizes, dtype: dtype) -> Tensor:
    """The gradient of `split_with_sizes`: the gradients of the parts, joined, with zeros for a part without one.
    Source: `torch/csrc/autograd/FunctionsManual.cpp`, `split_with_sizes_backward`."""
    dim = wrap_dim(dim, len(sizes))
    if any(grad is None for grad in grads):
        parts = [[*sizes[:dim], size, *sizes[dim + 1 :]] for size in split_sizes]
        grads = replace_none_by_zeros(grads, parts, dtype)
    return through_table(functions.cat_op, (grads, dim))


def split_backward(grads, split_size: int, dim: int, sizes: Sequence[int], dtype: dtype) -> Tensor:
    """The last part has the rest. Source: `torch/csrc/autograd/FunctionsManual.cpp`, `split_backward`."""
    before = [split_size] * (len(grads) - 1)
    return split_with_sizes_backward(grads, [*before, sizes[dim] - sum(before)], dim, sizes, dtype)


def as_strided_scatter_backward(grad, sizes, strides, size, stride, offset) -> Tensor:
    """PyTorch's result: the gradient where `src` was written, and 0 elsewhere. The correct gradient is the opposite:
    `gradcheck` fails in PyTorch and here.
    Source: `torch/csrc/autograd/FunctionsManual.cpp`, `as_strided_scatter_backward`."""
    part = grad.contiguous().as_strided(size, stride, offset)
    result = grad.new_zeros([storage_size(sizes, strides)]).as_strided(sizes, strides, 0)
    result.as_strided(size, stride, offset).copy_(part)
    return result


def as_strided_backward(grad, sizes, strides, storage_offset, size, stride, offset) -> Tensor:
    """The gradient of the base from the gradient of a view with `size`, `stride` and `offset`, on a new storage that holds
    both. An element that is in the view several times gets the sum. An element that is in the base several times gets an equal
    part.
    Source: `torch/csrc/autograd/FunctionsManual.cpp`, `as_strided_backward`."""
    offset = storage_offset if offset is None else offset
    if 0 in size or 0 in sizes:
        return grad.new_zeros(sizes)
    view: list[tuple[int, int]] = []
    for dim in reversed(range(len(size))):
        if size[dim] == 1:
            grad = grad.squeeze(dim)
        elif stride[dim] == 0:
            grad = grad.sum(dim)
        else:
            view.insert(0, (size[dim], stride[dim]))
    own = [pair for pair in zip(sizes, strides) if pair[0] != 1]
    lowest = min(storage_offset, offset)
    own_offset, offset = storage_offset - lowest, offset - lowest
    length = max(1 + at + sum((n - 1) * step for n, step in pairs) for pairs, at in ((own, own_offset), (view, offset)))
    storage = grad.new_zeros((length,))
    if may_overlap(view):
        storage.index_add_(0, storage_indices(length, view, offset), grad.reshape(-1))
    else:
        storage.as_strided(*_sizes_and_strides(view), offset).copy_(grad)
    if may_overlap(own):
        index = storage_indices(length, own, own_offset)
        count = functions.zeros_like(storage).index_add_(0, index, grad.new_ones((1,)).expand_as(index))
        storage.div_(count)
    return storage.as_strided(sizes, strides, own_offset)


def may_overlap(pairs: Sequence[tuple[int, int]]) -> bool:
    """Whether two elements of these sizes and strides may share memory.
    Source: `torch/csrc/autograd/FunctionsManual.cpp`, `_maybe_overlapping_memory`."""
    reach = 0
    for size, stride in sorted(pairs, key=lambda pair: pair[1]):
        if stride <= reach:
            return True
        reach += stride * (size - 1)
    return False


def storage_indices(length: int, pairs: Sequence[tuple[int, int]], offset: int) -> Tensor:
    """The storage index of each element of these sizes and strides, in one dimension."""
    return functions.arange(length).as_strided(*_sizes_and_strides(pairs), offset).reshape(-1)


def _sizes_and_strides(pairs: Sequence[tuple[int, int]]) -> tuple[list[int], list[int]]:
    return [size for size, _ in pairs], [stride for _, stride in pairs]


def cat_backward(grad: Tensor, sizes: Sequence, dtypes: Sequence[dtype], dim: int) -> list[Tensor]:
    """The part of the gradient for each tensor. An empty 1-d tensor, which `cat` accepts for old code, gets no elements."""
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
    """The gradients of the tensors that `stack` was given: a slice of `grad` for each, in the dtype of that tensor.
    Source: `torch/csrc/autograd/FunctionsManual.cpp`, `stack_tensors_backward`."""
    parts = [grad.select(dim, i) for i in range(len(dtypes))]
    return [part if part.dtype is dtype else part.to(dtype) for part, dtype in zip(parts, dtypes)]


def repeat_backward(grad: Tensor, repeats: Sequence[int], sizes: Sequence[int]) -> Tensor:
    """The gradient of `repeat`: the sum of `grad` over the copies.
    Source: `torch/csrc/autograd/FunctionsManual.cpp`, `repeat_backward`."""
    if 0 in repeats:
        return grad.new_zeros(sizes)
    new_dims = grad.dim() - len(sizes)
    for _ in range(new_dims):
        grad = grad.sum(0)
    split_sizes: list[int] = []  # each repeated dimension as two: the copies, and one copy
    copies: list[int] = []
    for times, size in zip(repeats[new_dims:], sizes):
        if times != 1:
            copies.append(len(split_sizes))
            split_sizes.append(times)
        split_sizes.append(size)
    return grad.reshape(split_sizes).sum(copies) if copies else grad


# Element by element --------------------------------------------------------------------------------------------------


def in_float32(formula: Callable, *tensors: Tensor) -> Tensor:
    """A gradient by a formula of several steps. For float16 and bfloat16 the steps are computed in float32, as PyTorch's kernels do
    it, and only the result is rounded."""
    dtype = tensors[-1].dtype
    if dtype not in REDUCED_FLOATING:
        return formula(*tensors)
    return formula(*(x.float() for x in tensors)).to(dtype)


def hardswish_backward(grad: Tensor, self: Tensor) -> Tensor:
    """The gradient of `hardswish`: 0 up to -3, `grad` from 3 on, and `grad * (x / 3 + 0.5)` between.
    Source: `aten/src/ATen/native/cpu/Activation.cpp`, `hardswish_backward_kernel`."""
    return functions.where(self <= -3, 0.0, functions.where(self < 3, grad * (self / 3 + 0.5), grad))


def mish_backward(grad: Tensor, self: Tensor) -> Tensor:
    """The gradient of `mish`, which is `x * tanh(softplus(x))`.
    Source: `aten/src/ATen/native/cpu/Activation.cpp`, `mish_backward_kernel`."""
    curve = functions.softplus(self).tanh()
    return grad * (curve + self * self.sigmoid() * (1 - curve.square()))


def glu_backward(grad: Tensor, self: Tensor, dim: int) -> Tensor:
    """The gradient of `glu`, for both halves of the input.
    Source: `aten/src/ATen/native/GatedLinearUnit.cpp`, `glu_backward_cpu_out`."""
    first, second = self.chunk(2, dim)
    gate = second.sigmoid()
    of_second = in_float32(lambda grad, x, gate: functions.sigmoid_backward(grad * x, gate), grad, first, gate)
    return functions.cat([grad * gate, of_second], dim)


def clamp_mask(self: Tensor, min, max) -> Tensor:
    """Whether each element is within the bounds that are given."""
    if min is None:
        return self <= max
    return self >= min if max is None else (self >= min).logical_and(self <= max)


def halve_grad_of_ties(grad: Tensor, equal: Tensor, passed_over: Tensor) -> Tensor:
    """The gradient of one argument of `maximum` or `minimum`: halved where both are equal, 0 where the other was selected."""
    return where(equal, div_scalar(grad, 2), grad).masked_fill(passed_over, 0)


def sgn_backward(self: Tensor, grad: Tensor, result: Tensor) -> Tensor:
    """Only complex numbers have another gradient. Source: `torch/csrc/autograd/FunctionsManual.cpp`, `sgn_backward`."""
    return zeros_like(grad)


def pow_backward_exponent(grad: Tensor, self: Tensor | Scalar, exponent: Tensor, result: Tensor) -> Tensor:
    """The gradient of `self ** exponent` with respect to the exponent: `grad * result * log(self)`, and 0 where `self`
    is 0 and the exponent is not negative. Source: `torch/csrc/autograd/FunctionsManual.cpp`,
    `pow_backward_exponent`."""
    if isinstance(self, Tensor):
        flat = (self == 0).logical_and(exponent >= 0)
        return grad * where(flat, 0.0, result * self.log())
    logarithm = math.log(self) if self > 0 else float("nan" if self else "-inf")
    slope = mul_scalar(result, logarithm)
    return grad * where(exponent >= 0, 0.0, slope) if self == 0 else grad * slope


def gelu_double_backward(grad: Tensor, grad_output: Tensor, self: Tensor, approximate: str) -> Tensor:
    """The derivative of `gelu_backward` with respect to `self`: `grad * grad_output` times the second derivative of
    `gelu`. Source: `torch/csrc/autograd/FunctionsManual.cpp`, `gelu_double_backward`."""
    if approximate == "tanh":
        scale = math.sqrt(2 / math.pi)
        t = (scale * (self + 0.044715 * self.pow(3))).tanh()
        slope, bend = scale * (1 + 3 * 0.044715 * self * self), scale * 6 * 0.044715 * self
        second = (1 - t * t) * (slope + 0.5 * self * (bend - 2 * t * slope * slope))
    else:
        second = (self * self * -0.5).exp() * (2 - self * self) * (1 / math.sqrt(2 * math.pi))
    return grad * grad_output * second


def layer_norm_backward(grad: Tensor, input: Tensor, normalized_shape, mean, rstd, weight, bias, mask) -> Sequence:
    """Call `native_layer_norm_backward`. If this backward pass is recorded, call simpler operators instead. They compute the mean
    and 1 / sqrt(variance + eps) again, because the gradient goes through them too.
    Source: `torch/csrc/autograd/FunctionsManual.cpp`, `layer_norm_double_backward`."""
    if not (local.grad_enabled or local.modes):
        return functions.native_layer_norm_backward(grad, input, normalized_shape, mean, rstd, weight, bias, mask)
    dims = tuple(range(-len(normalized_shape), 0))
    centred = input - input.mean(dims, True)
    variance = (centred * centred).mean(dims, True)
    eps = (rstd**-2 - variance).detach()
    rstd = (variance + eps).rsqrt()
    normal = centred * rstd
    slope = grad if weight is None else grad * weight
    of_input = (slope - slope.mean(dims, True) - normal * (slope * normal).mean(dims, True)) * rstd
    return of_input, grad * normal, grad


class _InEvaluation(Node):
    """The history of a gradient in evaluation mode: it is no function of the input, but it requires grad as in PyTorch."""

    def name(self) -> str:
        return "NativeBatchNormBackwardBackward0"

    def apply(self, *grads: Tensor | None) -> tuple[None]:
        return (None,)


def batch_norm_backward(
    grad: Tensor, input: Tensor, weight, running_mean, running_var, mean, invstd, training: bool, eps: float, mask
) -> Sequence:
    """The same of `native_batch_norm_backward`. Source: `torch/csrc/autograd/FunctionsManual.cpp`, `batchnorm_double_backward`."""
    if not (local.grad_enabled or local.modes):
        return functions.native_batch_norm_backward(
            grad, input, weight, running_mean, running_var, mean, invstd, training, eps, mask
        )
    dims, shape = (0, *range(2, input.dim())), (-1, *(1,) * (input.dim() - 2))
    centre = input.mean(dims, True) if training else running_mean.view(shape)
    centred = input - centre
    variance = centred.square().mean(dims, True) if training else running_var.view(shape)
    rstd = (variance + eps).rsqrt()
    normal = centred * rstd
    slope = grad if weight is None else grad * weight.view(shape)
    of_input = slope
    if training:
        of_input = slope - slope.mean(dims, True) - normal * (slope * normal).mean(dims, True)
    of_input = of_input * rstd
    if local.grad_enabled and input.requires_grad and not of_input.requires_grad:
        node = _InEvaluation()
        node.next_edges = [gradient_edge(input)]
        set_history(of_input, node)
    return of_input, (grad * normal).sum(dims), grad.sum(dims)


def lstm_cell_backward(
    grad_hy, grad_cy, input_gates, hidden_gates, cx, input_bias, hidden_bias, cy, workspace
) -> Sequence:
    """Call `_thnn_fused_lstm_cell_backward`. If this backward pass is recorded, compute the gates again by simpler operators.
    Source: `aten/src/ATen/native/RNN.cpp`, `_thnn_differentiable_lstm_cell_backward`."""
    if not (local.grad_enabled or local.modes):
        return functions._thnn_fused_lstm_cell_backward(grad_hy, grad_cy, cx, cy, workspace, input_bias is not None)
    sums = (hidden_gates if hidden_bias is None else hidden_gates + hidden_bias) + input_gates
    sums = sums if input_bias is None else sums + input_bias
    _, cy, *gates = rnn.lstm_gates(sums.chunk(4, 1), cx, functions.sigmoid, functions.tanh)
    grad_hy, grad_cy = (functions.zeros_like(cx) if grad is None else grad for grad in (grad_hy, grad_cy))
    parts, to_cx = rnn.lstm_gradients(grad_hy, grad_cy, cx, cy.tanh(), *gates)
    to_gates = functions.cat(parts, 1)
    return to_gates, to_gates, to_cx, to_gates.sum(0), to_gates.sum(0)


def gru_cell_backward(grad, input_gates, hidden_gates, hx, input_bias, hidden_bias, workspace) -> Sequence:
    """The same of `_thnn_fused_gru_cell_backward`. Source: `aten/src/ATen/native/RNN.cpp`,
    `_thnn_differentiable_gru_cell_backward`."""
    if not (local.grad_enabled or local.modes):
        return functions._thnn_fused_gru_cell_backward(grad, workspace, input_bias is not None)
    input, hidden = (
        (gates if bias is None else gates + bias).chunk(3, 1)
        for gates, bias in ((input_gates, input_bias), (hidden_gates, hidden_bias))
    )
    _, reset, update, new = rnn.gru_gates(input, hidden, hx, functions.sigmoid, functions.tanh)
    *parts, to_hx = rnn.gru_gradients(grad, reset, update, new, hx, hidden[2])
    to_input, to_hidden = (functions.cat(gates, 1) for gates in parts)
    return to_input, to_hidden, to_hx, to_input.sum(0), to_hidden.sum(0)


# Gathering -----------------------------------------------------------------------------------------------------------


def index_backward(grad: Tensor, sizes: Sequence[int], indices: Sequence[Tensor | None]) -> Tensor:
    """The gradient of indexing with tensors: `grad` is added to zeros at the indices.
    Source: `torch/csrc/autograd/FunctionsManual.cpp`, `index_backward`."""
    zeros = grad.new_zeros(sizes)
    if local.modes:  # a captured graph must not write in place
        return functions.index_put_op(zeros, indices, grad, True)
    return through_table(functions._index_put_impl__op, (zeros, indices, grad, True, True))


def gather_backward(grad: Tensor, self: Tensor, dim: int, index: Tensor, sparse_grad: bool) -> Tensor:
    """The gradient of `gather`: `grad` is added to zeros at the indices.
    Source: `torch/csrc/autograd/FunctionsManual.cpp`, `gather_backward`."""
    if sparse_grad:
        raise NotImplementedError("gather: rushlight leaves out sparse gradients (sparse_grad=True)")
    return grad.new_zeros(self.shape).scatter_add(dim, index, grad)


def embedding_dense_double_backward(grad: Tensor, indices: Tensor, padding_idx: int) -> Tensor:
    """As in PyTorch, `scale_grad_by_freq` is ignored."""
    rows = grad.index_select(0, indices.reshape(-1))
    if padding_idx >= 0:
        rows = rows.masked_fill((indices == padding_idx).reshape(-1, 1), 0)
    return rows.view((*indices.shape, grad.shape[1]))


def scatter_reduce_backward_self(grad, self, dim, index, src, reduce: str, include_self: bool, result) -> Tensor:
    """The gradient of `scatter_reduce` with respect to `self`, by the kind of reduction.
    Source: `torch/csrc/autograd/FunctionsManual.cpp`, `scatter_reduce_backward`."""
    if reduce == "sum":
        into_self = grad
    elif reduce == "prod":
        masked = self.masked_fill(self == 0, 1)
        into_self = grad * masked.scatter_reduce(dim, index, src, reduce, include_self=include_self) / masked
    elif reduce == "mean":
        into_self = grad / mean_counts(grad, dim, index, src, include_self)
    else:
        into_self = (self == result) * distributed(grad, self, dim, index, src, result)
    return into_self if include_self else into_self.scatter(dim, index, 0)


def scatter_reduce_backward_src(grad, self, dim, index, src, reduce: str, include_self: bool, result) -> Tensor:
    """The gradient of `scatter_reduce` with respect to `src`, by the kind of reduction.
    Source: `torch/csrc/autograd/FunctionsManual.cpp`, `scatter_reduce_backward`."""
    if reduce == "sum":
        return grad.gather(dim, index)
    if reduce == "mean":
        return grad.gather(dim, index) / mean_counts(grad, dim, index, src, include_self).gather(dim, index)
    if reduce != "prod":
        return (src == result.gather(dim, index)) * distributed(grad, self, dim, index, src, result).gather(dim, index)
    zero = src == 0
    zeros = zeros_like(self).scatter_add(dim, index, zero.to(self.dtype)).gather(dim, index)
    only_zero = zero.bitwise_and(zeros == 1)
    without = self.scatter_reduce(dim, index, src.masked_fill(only_zero, 1), reduce, include_self=include_self)
    rest = (grad * result).gather(dim, index) / src.masked_fill(zero, 1)
    into_src = where(only_zero, (grad * without).gather(dim, index), rest)
    if into_src.requires_grad and not local.modes and (zeros > 1).any().item():
        into_src.register_hook(refuse_double_backward_of_zeros)
    return into_src


def logcumsumexp_backward(grad: Tensor, self: Tensor, result: Tensor, dim: int) -> Tensor:
    """In logarithms, for positive and for negative gradients: exp(self - result) could be 0 / 0.
    Source: `torch/csrc/autograd/FunctionsManual.cpp`, `logcumsumexp_backward`."""
    if grad.dim() == 0 or grad.numel() == 0:
        return grad
    parts = []
    for sign in 1, -1:
        logs = where(grad * sign > 0, (grad * sign).clamp(min=0).log(), -math.inf) - result
        parts.append((logs.flip(dim).logcumsumexp(dim).flip(dim) + self).exp())
    return parts[0] - parts[1]


def refuse_double_backward_of_zeros(grad: Tensor) -> NoReturn:
    """Raise the `RuntimeError` of the double backward of `scatter_reduce` with "prod", for several zeros at one
    position."""
    problem = "Double backward is unsupported for src when >1 zeros in src are scattered to the same position in self"
    raise RuntimeError(f"scatter_reduce(): {problem}")


def mean_counts(grad: Tensor, dim: int, index: Tensor, src: Tensor, include_self: bool) -> Tensor:
    """How many elements each mean is of."""
    counts = functions.ones_like(grad) if include_self else zeros_like(grad)
    counts = counts.scatter_add(dim, index, functions.ones_like(src))
    return counts.masked_fill(counts == 0, 1)


def distributed(grad: Tensor, self: Tensor, dim: int, index: Tensor, src: Tensor, result: Tensor) -> Tensor:
    """The gradient of an extreme, divided by the number of elements that are the extreme."""
    is_result = (self == result).to(self.dtype)
    return grad / is_result.scatter_add(dim, index, (src == result.gather(dim, index)).to(self.dtype))


# Reductions ----------------------------------------------------------------------------------------------------------


def restore_dims(x: Tensor, ndim: int, dims: Sequence[int] | None, keepdim: bool) -> Tensor:
    """Insert the reduced dimensions again, with size 1. Source: `FunctionsManual.cpp`, `unsqueeze_multiple`."""
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
    """Expand `grad` to the sizes of the tensor that was summed. Source: `torch/csrc/autograd/FunctionsManual.cpp`,
    `sum_backward`."""
    return restore_dims(grad, len(sizes), dim, keepdim).expand(sizes)


def mean_backward(grad: Tensor, sizes: Sequence[int], dim, numel: int, keepdim: bool) -> Tensor:
    """Expand `grad` to the sizes of the tensor whose mean was taken, divided by the number of elements in the mean.
    Source: `torch/csrc/autograd/FunctionsManual.cpp`, `mean_backward`."""
    return div_scalar(sum_backward(grad, sizes, dim, keepdim), _count(sizes, _dims(dim)) if dim else numel)


def scale_grad_by_count(grad: Tensor, self: Tensor, result: Tensor, dims: Sequence[int], keepdim: bool) -> Tensor:
    """Distribute the gradient equally among all elements that have the maximum or minimum.
    Source: `torch/csrc/autograd/FunctionsManual.cpp`, `scale_grad_by_count` and `restore_reduced_dims`."""
    mask = restore_reduced_dims(result, dims, keepdim) == self
    return restore_reduced_dims(grad, dims, keepdim) / mask.sum(dims, True) * mask


def restore_reduced_dims(x: Tensor, dims: Sequence[int], keepdim: bool) -> Tensor:
    """Reshape `x` so that it has the reduced dimensions again, with size 1. With `keepdim` it has them.
    Source: `torch/csrc/autograd/FunctionsManual.cpp`, `restore_reduced_dims`."""
    if keepdim:
        return x
    ndim, left = x.dim() + len(dims), list(x.shape)
    reduced = [dim % ndim for dim in dims] if ndim else []
    return x.reshape([1 if dim in reduced else left.pop(0) for dim in range(ndim)])


def evenly_distribute_backward(grad: Tensor, self: Tensor, result: Tensor) -> Tensor:
    """The gradient of `max()`, `min()` and `median()` without a dimension. All elements that equal the result have an
    equal share. Source: `torch/csrc/autograd/FunctionsManual.cpp`, `evenly_distribute_backward`."""
    if local.modes:  # a captured graph has no value of the result
        mask = result.isnan().logical_and(self.isnan()).logical_or(self == result)
        return mask * (grad / mask.sum())
    mask = self.isnan() if result.isnan().item() else self == result
    return grad.new_zeros(self.shape).masked_fill_(mask, grad / mask.sum())


def cumprod_backward(grad: Tensor, self: Tensor, dim: int, result: Tensor) -> Tensor:
    """Up to the first 0, the sum of the later results times their gradients, divided by the element. The first 0 gets the
    products without it. Source: `torch/csrc/autograd/FunctionsManual.cpp`, `cumprod_backward`."""
    if not self.dim() or self.size(dim) == 1 or not self.numel():
        return grad
    if local.grad_enabled and (self == 0).any():
        raise NotImplementedError("rushlight leaves out the second gradient of products with zeros")
    zeros = (self == 0).cumsum(dim)
    first = (zeros == 1) & (self == 0)
    without = self.masked_fill(first, 1)
    of_first = (grad * without.cumprod(dim)).masked_fill(zeros < 1, 0).sum(dim, True)
    later = (grad * result).flip(dim).cumsum(dim).flip(dim)
    return where(first, of_first, (later / self.masked_fill(self == 0, 1)).masked_fill(zeros > 0, 0))


def softmax_double_backward(grad: Tensor, grad_output: Tensor, dim: int, output: Tensor) -> Tensor:
    """The derivative of `_softmax_backward_data` with respect to the output of `softmax`.
    Source: `torch/csrc/autograd/FunctionsManual.cpp`, `softmax_double_backward`."""
    first = grad_output * grad - (output * grad_output).sum(dim, True) * grad
    return first - grad_output * (output * grad).sum(dim, True)


def logsumexp_backward(grad: Tensor, self: Tensor, result: Tensor, dim, keepdim: bool) -> Tensor:
    """The gradient of `self` for `self.logsumexp(dim, keepdim)`, computed from `grad`, `self` and `result`.

    Every step is an operator, so the result can be differentiated again, with respect to `grad`, `self` and `result`. No
    logit may overflow: the argument of `exp` is never above 0 (if all elements are finite).

    Args:
        grad, result: the gradient of the result, and the result, both with the result's sizes. `restore_dims` inserts the
            reduced dimensions again.
        self: the argument, with any sizes; it may have no dimensions.
        dim: one dimension, or a list or a tuple of them, in any order, counted from either end. An empty one means all. Then
            `keepdim` is True, unless `self` has no dimensions, because torch's `logsumexp` raises otherwise.
        keepdim: whether the result has the reduced dimensions, with size 1.

    >>> x = rl.zeros(2, 4)
    >>> logsumexp_backward(rl.tensor([1.0, 8.0]), x, x.logsumexp(1), 1, False).tolist()
    [[0.25, 0.25, 0.25, 0.25], [2.0, 2.0, 2.0, 2.0]]

    Source: `torch/csrc/autograd/FunctionsManual.cpp`, `logsumexp_backward`.
    """
    dims = _dims(dim)
    grad, result = (restore_dims(x, self.dim(), dims, keepdim) for x in (grad, result))
    return grad * (self - result).exp()


def prod_backward(grad: Tensor, self: Tensor, result: Tensor, dim: int | None = None, keepdim: bool = True) -> Tensor:
    """`grad` times the product of all other elements: `result / self`, or exclusive products if an element is 0.
    Source: `torch/csrc/autograd/FunctionsManual.cpp`, `prod_backward`."""
    if self.dim() == 0:
        return grad
    if dim is not None and not keepdim:
        grad, result = grad.unsqueeze(dim), result.unsqueeze(dim)
    if (self == 0).sum().item() == 0:
        return grad * (result / self)
    if dim is None:
        return (grad * _exclusive_products(self.reshape(-1), 0)).reshape(self.shape)
    return grad * _exclusive_products(self, wrap_dim(dim, self.dim()))


def _exclusive_products(self: Tensor, dim: int) -> Tensor:
    """For each element, the product of all others along a dimension: the product before it times the product after it."""
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
    """The gradient of `var`: `grad * 2 * (self - mean) / (count - correction)`.
    Source: `torch/csrc/autograd/FunctionsManual.cpp`, `var_backward`."""
    correction = 1 if correction is None else correction
    if self.dim() == 0 or dim is None:
        freedom = self.numel() - correction
        if freedom <= 0:
            return grad * where(self == self.mean(), float("nan"), float("inf"))
        return mul_scalar(grad, 2 / freedom) * (self - self.mean())
    dims = _dims(dim)
    if not keepdim and self.dim() > 1:
        grad = restore_dims(grad, self.dim(), dims, keepdim)
    freedom = _count(self.shape, dims) - correction
    scale = 2 / freedom if freedom else float("inf")
    return mul_scalar(grad, scale) * (self - self.mean(list(dims), True))


def std_backward(grad: Tensor, self: Tensor, result: Tensor, dim, correction: Scalar | None, keepdim: bool) -> Tensor:
    """The gradient of `std` by that of `var`. Where the result is 0, it is 0.
    Source: `torch/csrc/autograd/FunctionsManual.cpp`, `std_backward`."""
    return var_backward((grad / mul_scalar(result, 2)).masked_fill(result == 0, 0), self, dim, correction, keepdim)


def add_gradient_of_mean(of_std: Tensor | None, grad: Tensor | None, self: Tensor, dim, keepdim: bool) -> Tensor | None:
    """The gradient of a variance or a deviation and the mean together. One of the two may be None."""
    if grad is None:
        return of_std
    sizes, count = self.shape, self.numel()
    of_mean = mean_backward(grad, sizes, dim, count, keepdim) if dim else div_scalar(grad.expand(sizes), count)
    return of_mean if of_std is None else of_std + of_mean


def multilabel_margin_loss_backward(
    grad: Tensor, self: Tensor, target: Tensor, reduction: int, is_target: Tensor
) -> Tensor:
    """The gradient of `multilabel_margin_loss` with respect to the scores.
    Source: `aten/src/ATen/native/LossMultiLabelMargin.cpp`, `multilabel_margin_loss_backward_out_frame`."""
    scores, named, index = rows_of_labels(self, target)
    counted = named.unsqueeze(2) & (is_target.reshape(scores.shape) == 0).unsqueeze(1)
    is_near = counted & (1 - scores.gather(1, index).unsqueeze(2) + scores.unsqueeze(1) > 0)
    shares = is_near * (grad.reshape(-1, 1, 1) / scores.size(1))
    shares = shares / scores.size(0) if reduction == MEAN else shares
    return shares.sum(1).scatter_add(1, index, -shares.sum(2)).reshape(self.shape)


def linalg_det_backward(grad: Tensor, A: Tensor, result: Tensor, LU: Tensor, pivots: Tensor) -> Tensor:  # noqa: N803
    """The gradient for a matrix whose determinant is 0 is 0. PyTorch solves with the decomposition, which is saved.
    Source: `torch/csrc/autograd/FunctionsManual.cpp`, `linalg_det_backward`."""
    is_singular = (result == 0)[..., None, None]
    inverse = functions.where(is_singular, functions.eye(A.shape[-1], dtype=A.dtype), A).inverse()
    return (grad * result)[..., None, None] * inverse.mT


def linalg_solve_backward(grad: Tensor, A: Tensor, X: Tensor, LU: Tensor, pivots: Tensor, left: bool) -> Tensor:  # noqa: N803
    """The gradient of the matrices. PyTorch solves with the decomposition, which is saved.
    Source: `torch/csrc/autograd/FunctionsManual.cpp`, `linalg_solve_backward`."""
    of_B = functions.linalg_solve(A.mT, grad, left=left)  # noqa: N806
    if X.dim() == 1 or A.dim() - 1 == X.dim() and X.shape == A.shape[:-1]:  # vectors
        of_B, X = of_B.unsqueeze(-1), X.unsqueeze(-1)  # noqa: N806
    return -(of_B @ X.mT if left else X.mT @ of_B)


def cholesky_backward(grad: Tensor, L: Tensor, upper: bool) -> Tensor:  # noqa: N803
    """The gradient of the Cholesky factor with respect to the matrix. It is symmetric.
    Source: `torch/csrc/autograd/FunctionsManual.cpp`, `cholesky_backward`."""
    grad, L = (grad.mT, L.mT) if upper else (grad, L)  # noqa: N806
    phi = (L.mT @ grad).tril()
    phi = phi - 0.5 * phi.diagonal(dim1=-2, dim2=-1).diag_embed()
    both = functions.linalg_solve(L, functions.linalg_solve(L.mT, phi), left=False)
    return 0.5 * (both + both.mT)


def svd_backward(grads, full_matrices: bool, U: Tensor, S: Tensor, Vh: Tensor, k: int) -> Tensor:  # noqa: N803
    """Return the gradient of A = U diag(S) Vh from those of U, S and Vh. Some of these may be None. Without gradients of U and
    Vh, which exist only if the singular values differ, it is U diag(grad of S) Vh.
    Source: `torch/csrc/autograd/FunctionsManual.cpp`, `svd_backward`."""
    gU, gS, gVh = grads  # noqa: N806
    if full_matrices:  # only the first k columns of U and rows of Vh depend on A
        U, Vh = U.narrow(-1, 0, k), Vh.narrow(-2, 0, k)  # noqa: N806
        gU = None if gU is None else gU.narrow(-1, 0, k)  # noqa: N806
        gVh = None if gVh is None else gVh.narrow(-2, 0, k)  # noqa: N806
    rows, columns = U.shape[-2], Vh.shape[-1]
    if gU is gVh is None:
        return U @ (gS.unsqueeze(-1) * Vh) if rows >= columns else (U * gS.unsqueeze(-2)) @ Vh
    squares = S * S
    gaps = squares.unsqueeze(-2) - squares.unsqueeze(-1)
    gaps.diagonal(0, -2, -1).fill_(1)
    parts = []
    if gU is not None:
        turn = U.mT @ gU
        parts.append((turn - turn.mT) / gaps * S.unsqueeze(-2))
    if gVh is not None:
        turn = Vh @ gVh.mT
        parts.append(S.unsqueeze(-1) * ((turn - turn.mT) / gaps))
    inner = sum(parts[1:], parts[0])
    if gS is not None:
        inner = inner + functions.diagonal_backward(gS, inner.shape, 0, -2, -1)
    if rows > k and gU is not None:  # what turns U out of the space of its columns
        scaled = gU / S.unsqueeze(-2)
        return (U @ inner + scaled - U @ (U.mT @ scaled)) @ Vh
    if columns > k and gVh is not None:
        scaled = gVh / S.unsqueeze(-1)
        return U @ (inner @ Vh + scaled - (scaled @ Vh.mT) @ Vh)
    return U @ (inner @ Vh) if rows >= columns else (U @ inner) @ Vh


def norm_backward(grad: Tensor, self: Tensor, p: float, norm: Tensor, dim, keepdim: bool) -> Tensor | None:
    """The gradient of a vector norm: 0 where it is not defined. None for the 0-norm, which counts.
    Source: `torch/csrc/autograd/FunctionsManual.cpp`, `norm_backward`."""
    if p == 0:
        return None
    if dim:
        grad, norm = (restore_dims(x, self.dim(), dim, keepdim) for x in (grad, norm))
    if p == 1:
        return self.sgn() * grad
    if p == 2:
        return grad * (self / norm).masked_fill(norm == 0, 0)
    if math.isinf(p):
        magnitude = self.abs()
        mask = magnitude.eq(norm).logical_or(magnitude.isnan())
        return self.sgn() * ((grad / mask.sum(_dims(dim), True)) * mask)
    if p < 1:
        scaled = self.sgn() * self.abs().pow(p - 1).masked_fill(self == 0, 0)
        return scaled * grad * norm.pow(1 - p)
    scaled = self.sgn() * self.abs().pow(p - 1) if p < 2 else self * self.abs().pow(p - 2)
    return scaled * (grad / norm.pow(p - 1)).masked_fill(norm == 0, 0)


def renorm_backward(grad: Tensor, self: Tensor, p: float, dim: int, maxnorm: float) -> Tensor:
    """The gradient of `renorm`. Rows that are not above the norm pass `grad` on.
    Source: `torch/csrc/autograd/FunctionsManual.cpp`, `renorm_backward`."""
    dims = [other for other in range(self.dim()) if other != wrap_dim(dim, self.dim())]
    computed = float32 if self.dtype in REDUCED_FLOATING else self.dtype
    norm = functions.linalg_vector_norm(self, p, dims, True, dtype=computed)
    of_norm = norm_backward((self * grad).sum(dims, True, dtype=computed), self, p, norm, dims, True)
    assert of_norm is not None  # the order is larger than 0
    inverse = (norm + 1e-7).reciprocal()
    of_scaled = maxnorm * inverse * (grad - inverse * of_norm)
    return where(norm > maxnorm, of_scaled.to(grad.dtype), grad)


# Matrix products -----------------------------------------------------------------------------------------------------


def mm_backward_mat1(grad: Tensor, mat2: Tensor, sizes, strides, alpha: Scalar) -> Tensor:
    """The gradient of the first factor of `alpha * (mat1 @ mat2)`, in (n, k) @ (k, m).

    Every step is an operator, including `mm` and `t`, so the result can be differentiated again. The result has the layout of
    the factor, so that a parameter and its gradient have the same strides: column-major, as the transpose of another product,
    if the factor's strides are exactly (1, n), otherwise row-major. The strides of an empty result, and of dimensions of size
    1, do not matter.

    Args:
        grad: the gradient of the product, (n, m), with any strides.
        mat2: the second factor, (k, m), with any strides.
        sizes, strides: those of the first factor, tuples. Its sizes are (n, k).
        alpha: a number; `maybe_multiply` multiplies by it.

    >>> G, M = rl.tensor([[1.0, 0.0, -1.0]]), rl.tensor([[1.0, 0.0, 2.0], [0.0, 3.0, 1.0]])
    >>> mm_backward_mat1(G, M, (1, 2), (2, 1), 10).tolist()
    [[-10.0, -10.0]]

    Source: `torch/csrc/autograd/FunctionsManual.cpp`, `mm_mat1_backward`.
    """
    if strides[0] == 1 and strides[1] == sizes[0]:  # column-major
        return maybe_multiply(mat2.mm(grad.t()).t(), alpha)
    return maybe_multiply(grad.mm(mat2.t()), alpha)


def mm_backward_mat2(grad: Tensor, mat1: Tensor, sizes, strides, alpha: Scalar) -> Tensor:
    """The gradient of the second factor of `alpha * (mat1 @ mat2)`, in (n, k) @ (k, m). It has the layout of that factor:
    column-major if the factor's strides are exactly (1, k), otherwise row-major. As for the first factor, every step is an
    operator, and the strides of an empty result, and of dimensions of size 1, do not matter.

    Args:
        grad: the gradient of the product, (n, m), with any strides.
        mat1: the first factor, (n, k), with any strides.
        sizes, strides: those of the second factor, tuples. Its sizes are (k, m).
        alpha: a number; `maybe_multiply` multiplies by it.

    >>> G, X = rl.tensor([[1.0, 0.0, -1.0]]), rl.tensor([[1.0, 2.0]])
    >>> result = mm_backward_mat2(G, X, (2, 3), (1, 2), 1)
    >>> result.tolist(), result.stride()
    ([[1.0, 0.0, -1.0], [2.0, 0.0, -2.0]], (1, 2))

    Source: `torch/csrc/autograd/FunctionsManual.cpp`, `mm_mat2_backward`.
    """
    if strides[0] == 1 and strides[1] == sizes[0]:
        return maybe_multiply(grad.t().mm(mat1).t(), alpha)
    return maybe_multiply(mat1.t().mm(grad), alpha)


@fast_form_of(mm_backward_mat1, "autograd")
def mat1_gradient_of_arrays(grad: Tensor, mat2: Tensor, sizes, strides, alpha: Scalar) -> Tensor:
    """The fast form of `mm_backward_mat1`: numpy multiplies the arrays if nothing records `mm` and `t`. The result has
    the layout of the first matrix, row by row or column by column."""
    if alpha != 1 or not can_multiply_unseen(grad, mat2):
        return mm_backward_mat1(grad, mat2, sizes, strides, alpha)
    if strides[0] == 1 and strides[1] == sizes[0]:
        rows = wrap_contiguous(mat2._array.dot(grad._array.T), grad.dtype)
        return as_view(rows, views.t(rows))
    return wrap_contiguous(grad._array.dot(mat2._array.T), grad.dtype)


@fast_form_of(mm_backward_mat2, "autograd")
def mat2_gradient_of_arrays(grad: Tensor, mat1: Tensor, sizes, strides, alpha: Scalar) -> Tensor:
    """The fast form of `mm_backward_mat2`: numpy multiplies the arrays if nothing records `mm` and `t`. The result has
    the layout of the second matrix, row by row or column by column."""
    if alpha != 1 or not can_multiply_unseen(grad, mat1):
        return mm_backward_mat2(grad, mat1, sizes, strides, alpha)
    if strides[0] == 1 and strides[1] == sizes[0]:
        rows = wrap_contiguous(grad._array.T.dot(mat1._array), grad.dtype)
        return as_view(rows, views.t(rows))
    return wrap_contiguous(mat1._array.T.dot(grad._array), grad.dtype)


def can_multiply_unseen(a: Tensor, b: Tensor) -> bool:
    """Whether numpy may multiply these matrices, or their transposes, without the calls of `mm` and `t`."""
    if a.dtype is not b.dtype or not (is_blas_matrix(a) and is_blas_matrix(b)) or 0 in a._sizes or 0 in b._sizes:
        return False
    return local.excluded & AUTOCAST_KEYS == AUTOCAST_KEYS and runs_unseen(("aten::mm", "aten::t"), a, b)


# Convolution ---------------------------------------------------------------------------------------------------------


def convolution_double_backward(
    grads: Sequence[Tensor | None], output_mask: Sequence[bool], grad_output: Tensor, input: Tensor, weight: Tensor,
    settings: tuple[Sequence[int], Sequence[int], Sequence[int], bool, Sequence[int], int], grad_input_mask: Sequence[bool],
) -> list[Tensor | None]:  # fmt: skip
    """Return the gradients of `grad_output`, `input` and `weight` from those of the gradients of the input, the weight and the
    bias, which exist where `output_mask` is True. A convolution is linear in each of its arguments, so each result is a
    convolution, or one of its gradients, with the new gradient in place of the argument.
    Source: `aten/src/ATen/native/Convolution.cpp`, `_convolution_double_backward`."""
    given = iter(grads)
    input_grad, weight_grad, bias_grad = (next(given) if wanted else None for wanted in output_mask)
    parts, for_input, for_weight = [], None, None
    if input_grad is not None:
        parts.append(functions.convolution(input_grad, weight, None, *settings))
        masks = False, grad_input_mask[2], False
        for_weight = functions.convolution_backward(grad_output, input_grad, weight, None, *settings, masks)[1]
    if weight_grad is not None:
        parts.append(functions.convolution(input, weight_grad, None, *settings))
        masks = grad_input_mask[1], False, False
        for_input = functions.convolution_backward(grad_output, input, weight_grad, None, *settings, masks)[0]
    if bias_grad is not None:
        parts.append(bias_grad.view((-1, *(1 for _ in grad_output.shape[2:]))).expand(grad_output.shape))
    return [sum(parts[1:], parts[0]) if grad_input_mask[0] else None, for_input, for_weight]


# Pooling -------------------------------------------------------------------------------------------------------------


def max_pool_double_backward(grad: Tensor, indices: Tensor, dim: int) -> Tensor:
    """The double backward of a max pooling: `grad` gathered at the indices of the greatest elements.
    Source: `torch/csrc/autograd/FunctionsManual.cpp`, `max_pool_double_backward`."""
    positions = (*indices.shape[:-dim], -1)
    if 0 in indices.shape:
        return functions.empty_like(indices, dtype=grad.dtype)
    flat = grad.contiguous().view(positions)
    return flat.gather(-1, indices.contiguous().view(positions)).view(indices.shape)


# Losses. A reduction of 0 is none, 1 the mean, 2 the sum -------------------------------------------------------------


def divide_for_mean(grad: Tensor, self: Tensor, reduction: int) -> Tensor:
    """`grad` divided by the number of elements if the reduction of a loss is the mean."""
    return div_scalar(grad, self.numel()) if reduction == 1 else grad


def binary_cross_entropy_with_logits_backward(grad, self, target, weight, pos_weight, reduction: int) -> Tensor:
    """The gradient of the loss with respect to the logits: `grad * (sigmoid(x) - target)`, with `pos_weight` at
    positive targets, and `weight` on each element."""
    if pos_weight is None:
        slope = self.sigmoid() - target
    else:
        positive = pos_weight * target
        slope = (add_scalar(positive, 1) - target) * self.sigmoid() - positive
    return apply_weight(slope * grad, weight, self, reduction)


def apply_weight(grad: Tensor, weight: Tensor | None, self: Tensor, reduction: int) -> Tensor:
    """`grad` times the weight of a loss, if it has one, and divided by the number of elements if its reduction is the
    mean."""
    return divide_for_mean(grad if weight is None else grad * weight, self, reduction)
