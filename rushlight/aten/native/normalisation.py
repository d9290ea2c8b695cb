"""Normalisation: values with mean 0 and variance 1, at any scale of the input.

Normalisation subtracts the mean and divides by the standard deviation: over the features of each sample (`layer_norm`,
`rms_norm`), over groups of them (`group_norm`), or over the samples of each feature (`batch_norm`). All are composites here:
autograd differentiates the operators that they call. `layer_norm` and `batch_norm` also have a kernel and a formula of their own
(`native_layer_norm`, `native_batch_norm`), as their fast path. In PyTorch: `aten/src/ATen/native/layer_norm.cpp`, `group_norm.cpp`,
`Normalization.cpp`, with kernels and formulas of their own.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from rushlight.aten.generated import functions
from rushlight.aten.native.pointwise import SIMPLE_DTYPES, fits_fast_path
from rushlight.aten.native.reductions import channel_sums, line_sums
from rushlight.aten.native.views import runs_unseen
from rushlight.aten.strided import META, Tensor, wrap_contiguous, wrap_like, wrap_plain
from rushlight.aten.structured import check_floating as _check_floating
from rushlight.c10.dispatch import local
from rushlight.c10.dtypes import REDUCED_FLOATING, float32
from rushlight.c10.fast_paths import fast_form_of
from rushlight.c10.memory_formats import suggest_memory_format
from rushlight.c10.storage import Size


def layer_norm(
    input: Tensor,
    normalized_shape: Sequence[int],
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
    cudnn_enable: bool = True,
) -> Tensor:
    """(x - mean) / sqrt(variance + eps) of each sample, then times `weight`, then plus `bias`, if they are given.

    The last dimensions of `input`, as many as `normalized_shape` has, are a sample: mean and variance are computed over them,
    for each index of the other dimensions. The variance is the mean of the squares of x - mean (divided by n, not by n - 1).

    A composite kernel: it calls operators (`rl.functions`, or methods), so that autograd records them.

    Args:
        input: of a floating-point dtype, (\\*, \\*normalized_shape). float16 and bfloat16 are computed in float32, and the
            result is converted. `widened(input)` is the dtype for the computation.
        normalized_shape: a tuple or a list.
        weight, bias: of the shape `normalized_shape`. Both have the same dtype: that of `input`, or float32 for an `input` of
            float16 or bfloat16.
        cudnn_enable: has no effect.

    Returns:
        a contiguous tensor with the sizes and the dtype of `input`.

    Raises:
        RuntimeError: `normalized_shape` is empty, is not equal to the last sizes of `input`, or is not the shape of `weight` or
            of `bias` (`check_normalized_shape(input, normalized_shape, weight, bias)` raises these); or the dtypes of `input`,
            `weight` and `bias` differ from those above (no helper compares them).
        NotImplementedError: the dtype of `input` is not floating-point, and there is no other error
            (`_check_floating("layer_norm", input)` raises this; the name is for the message).

    >>> layer_norm(rl.tensor([[1.0, 3.0], [5.0, 5.0]]), (2,), eps=3.0).tolist()
    [[-0.5, 0.5], [0.0, 0.0]]

    Source: `aten/src/ATen/native/layer_norm.cpp`, `layer_norm` and `native_layer_norm`.
    """
    check_normalized_shape(input, normalized_shape, weight, bias)
    given = {parameter.dtype for parameter in (weight, bias) if parameter is not None}
    if len(given) > 1 or not given <= {input.dtype, widened(input)}:
        raise RuntimeError(f"mixed dtype (CPU): {input.dtype.type_name} with parameters of another one")
    _check_floating("layer_norm", input)
    dims = tuple(range(-len(normalized_shape), 0))
    x = input.contiguous().to(widened(input))
    centred = x - functions.mean(x, dims, True)
    variance = functions.mean(functions.square(centred), dims, True)
    result = centred * functions.rsqrt(variance + eps)
    if weight is not None:
        result = result * weight
    if bias is not None:
        result = result + bias
    return result.to(input.dtype)


@fast_form_of(layer_norm, "autograd")
def fast_layer_norm(input: Tensor, normalized_shape, weight, bias, eps: float, cudnn_enable: bool) -> Tensor:
    """`layer_norm` of a contiguous input, which calls only one operator, as in PyTorch. Autograd then records one node, so this is
    a fast form of autograd too."""
    is_plain = fits_fast_path(input) and 0 not in input._sizes and not input._key_set & META
    if is_plain and not local.modes:
        is_seen = not runs_unseen(("aten::native_layer_norm",), input, weight, bias)
        if not is_seen and fits_sample(input, tuple(normalized_shape), weight, bias):
            x = input._array
            if x.size > weight._array.size:
                result = _normalised(x.reshape(-1, weight._array.size), weight, bias, eps)[0]
            else:
                result = _normalised_row(x.reshape(-1), weight._array.reshape(-1), bias._array.reshape(-1), eps)
            return wrap_like(result.reshape(x.shape), input)
        return functions.native_layer_norm(input, normalized_shape, weight, bias, eps)[0]
    return layer_norm(input, normalized_shape, weight, bias, eps, cudnn_enable)


def fits_sample(input: Tensor, sizes: tuple[int, ...], weight: Tensor, bias: Tensor) -> bool:
    """Whether weight and bias have the dtype and the sizes of a sample of the input."""
    if not weight.dtype is input.dtype is bias.dtype or not sizes:
        return False
    return weight._sizes == sizes == bias._sizes and tuple(input._sizes)[-len(sizes) :] == sizes


def native_layer_norm(input: Tensor, normalized_shape, weight, bias, eps: float) -> tuple[Tensor, Tensor, Tensor]:
    """`layer_norm` of float32 and float64, and the mean and 1 / sqrt(variance + eps) of each sample, which its gradient needs.
    Source: `aten/src/ATen/native/layer_norm.cpp`, `layer_norm_cpu`."""
    check_normalized_shape(input, normalized_shape, weight, bias)
    if weight is not None and weight.dtype is not input.dtype or bias is not None and bias.dtype is not input.dtype:
        raise RuntimeError(f"mixed dtype (CPU): {input.dtype.type_name} with parameters of another one")
    if input.dtype not in SIMPLE_DTYPES:
        raise NotImplementedError(f"native_layer_norm is left out for '{input.dtype.type_name}': call layer_norm")
    result, mean, rstd = _normalised(_samples(input, normalized_shape), weight, bias, eps)
    sizes = Size((*input._sizes[: -len(normalized_shape)], *(1,) * len(normalized_shape)))
    of_samples = [wrap_plain(statistic.reshape(sizes), sizes, input.dtype) for statistic in (mean, rstd)]
    return wrap_plain(result.reshape(input._sizes), input._sizes, input.dtype), of_samples[0], of_samples[1]


def _normalised(x: np.ndarray, weight: Tensor | None, bias: Tensor | None, eps: float) -> tuple[np.ndarray, ...]:
    """The result, mean and 1 / sqrt(variance + eps) of samples, which are rows."""
    count = x.shape[1]
    mean = line_sums(x, 1) / count
    result = x - mean
    rstd = line_sums(result * result, 1) / count
    rstd += eps
    rstd = 1 / np.sqrt(rstd, rstd)
    result *= rstd
    if weight is not None:
        result *= weight._array.reshape(count)
    if bias is not None:
        result += bias._array.reshape(count)
    return result, mean, rstd


def _normalised_row(x: np.ndarray, weight: np.ndarray, bias: np.ndarray, eps: float) -> np.ndarray:
    """The result of a single sample, whose mean is a number. numpy takes less time for numbers than for arrays of one element."""
    result = x - np.add.reduce(x) / len(x)
    result *= 1 / np.sqrt(result.dot(result) / len(x) + eps)
    result *= weight
    result += bias
    return result


def native_layer_norm_backward(grad_out, input, normalized_shape, mean, rstd, weight, bias, output_mask) -> tuple:
    """The gradients of `input`, `weight` and `bias`, those of `output_mask`.
    Source: `aten/src/ATen/native/layer_norm.cpp`, `layer_norm_backward_cpu`."""
    grad, x = (_samples(tensor, normalized_shape) for tensor in (grad_out, input))
    count, dtype = math.prod(normalized_shape), input.dtype
    rstd = rstd._array.reshape(-1, 1)
    normal = x - mean._array.reshape(-1, 1)
    normal *= rstd
    results: list[Tensor | None] = [None, None, None]
    if output_mask[2]:
        results[2] = wrap_contiguous(np.add.reduce(grad, 0).reshape(normalized_shape), dtype)
    if output_mask[1]:
        results[1] = wrap_contiguous(np.add.reduce(grad * normal, 0).reshape(normalized_shape), dtype)
    if output_mask[0]:
        slope = grad if weight is None else grad * weight._array.reshape(count)
        normal *= line_sums(slope * normal, 1) / count
        normal += line_sums(slope, 1) / count
        result = slope - normal
        result *= rstd
        results[0] = wrap_contiguous(result.reshape(input.shape), dtype)
    return tuple(results)


def _samples(self: Tensor, normalized_shape: Sequence[int]) -> np.ndarray:
    """The samples as contiguous rows."""
    return np.ascontiguousarray(self._array).reshape(-1, math.prod(normalized_shape))


def rms_norm(input: Tensor, normalized_shape: Sequence[int], weight: Tensor | None, eps: float | None) -> Tensor:
    """x / sqrt(mean of the squares + eps) of each sample, then times `weight`, if it is given: `layer_norm` without the mean.
    `eps` is by default the distance from 1 to the next number in the dtype of the computation.
    Source: `aten/src/ATen/native/layer_norm.cpp`, `rms_norm`."""
    check_normalized_shape(input, normalized_shape, weight, None)
    _check_floating("rms_norm", input)
    dims = tuple(range(-len(normalized_shape), 0))
    x = input.to(widened(input))
    eps = float(np.finfo(x.dtype.numpy).eps) if eps is None else eps
    result = x * functions.rsqrt(functions.mean(functions.square(x), dims, True) + eps)
    if weight is not None:
        result = result * weight
    return result.to(input.dtype)


def instance_norm(input, weight, bias, running_mean, running_var, use_input_stats, momentum, eps, cudnn) -> Tensor:
    """`batch_norm` of each sample: the channels of all samples become the channels of one.
    Source: `aten/src/ATen/native/Normalization.cpp`, `instance_norm`."""
    if not use_input_stats and (running_mean is None or running_var is None):
        raise RuntimeError("Expected running_mean and running_var to be defined when use_input_stats is false")
    batch, channels = input.shape[:2]
    mean, var, scale, shift = (x if x is None else x.repeat(batch) for x in (running_mean, running_var, weight, bias))
    mean, var = (x if x is None else x.to(input.dtype) for x in (mean, var))
    one = input.contiguous().view((1, batch * channels, *input.shape[2:]))
    out = functions.batch_norm(one, scale, shift, mean, var, use_input_stats, momentum, eps, cudnn)
    for running, repeated in ((running_mean, mean), (running_var, var)):
        if running is not None and repeated is not None:
            functions.alias(running).copy_(repeated.view((batch, channels)).mean(0))
    return out.view(input.shape)


def group_norm(input: Tensor, num_groups: int, weight, bias, eps: float = 1e-5, cudnn_enabled: bool = True) -> Tensor:
    """`layer_norm` of each group of channels of (batch, channels, \\*), then times `weight`, then plus `bias`, of sizes
    (channels,), if they are given. The channels form `num_groups` groups of equal size.
    Source: `aten/src/ATen/native/group_norm.cpp`, `group_norm` and `check_group_norm_inputs`."""
    if num_groups <= 0:
        raise RuntimeError(f"Expected num groups to be greater than 0, got {num_groups}")
    channels = input.size(1)
    if channels % num_groups:
        got = f"but got input of shape {list(input.shape)} and num_groups={num_groups}"
        raise RuntimeError(f"Expected number of channels in input to be divisible by num_groups, {got}")
    for name, parameter in (("weight", weight), ("bias", bias)):
        if parameter is not None and tuple(parameter.shape) != (channels,):
            got = f"{name} of shape {list(parameter.shape)} and input of shape {list(input.shape)}"
            raise RuntimeError(f"Expected {name} to be a vector of size equal to the number of channels, but got {got}")
        if parameter is not None and parameter.dtype not in (input.dtype, widened(input)):
            raise RuntimeError(f"mixed dtype (CPU): {input.dtype.type_name} with parameters of another one")
    _check_floating("group_norm", input)
    grouped = (input.size(0), num_groups, input.numel() // max(input.size(0) * num_groups, 1))
    result = functions.layer_norm(input.to(widened(input)).reshape(grouped), grouped[2:], None, None, eps)
    result, shape = result.view(input.shape), (channels,) + (1,) * (input.dim() - 2)
    if weight is not None:
        result = result * weight.view(shape)
    if bias is not None:
        result = result + bias.view(shape)
    return result.to(input.dtype).contiguous(memory_format=suggest_memory_format(input.shape, input.stride()))


def check_normalized_shape(input: Tensor, normalized_shape: Sequence[int], weight, bias) -> None:
    """Raise a `RuntimeError` unless the input ends with `normalized_shape`, and weight and bias have this shape.
    Source: `aten/src/ATen/native/layer_norm.h`, `_check_layer_norm_inputs`."""
    shape = tuple(normalized_shape)
    if not shape:
        raise RuntimeError("Expected normalized_shape to be at least 1-dimensional, but got normalized_shape = []")
    for name, parameter in (("weight", weight), ("bias", bias)):
        if parameter is not None and parameter.shape != shape:
            got = f"{name} of shape {list(parameter.shape)} and normalized_shape = {list(shape)}"
            raise RuntimeError(f"Expected {name} to be of same shape as normalized_shape, but got {got}")
    if tuple(input.shape[-len(shape) :]) != shape:
        expected = f"expected input with these last sizes, but got input of size {list(input.shape)}"
        raise RuntimeError(f"Given normalized_shape={list(shape)}, {expected}")


def widened(input: Tensor):
    """The dtype of the computation."""
    return float32 if input.dtype in REDUCED_FLOATING else input.dtype


def batch_norm(input: Tensor, weight, bias, running_mean, running_var, training, momentum, eps, cudnn) -> Tensor:
    """(x - mean) / sqrt(variance + eps) of each feature, then times `weight`, then plus `bias`, if they are given.

    `input` is (batch, features, \\*). In training, mean and variance are those of the batch: for each feature over all other
    dimensions, n numbers, and the variance is the mean of the squares of x - mean (divided by n). Training also updates the
    running estimates in place, if they are given: `running = (1 - momentum) * running + momentum * new`, where the new
    variance is divided by n - 1. Autograd does not record this update. In evaluation, mean and variance are the running
    estimates, which do not change.

    float16 and bfloat16 are computed in float32. The four other tensors have the sizes (features,), and the dtype of `input`
    or of the computation. An `input` without elements is copied, and the running estimates stay as they are.

    Source: `aten/src/ATen/native/Normalization.cpp`, `batch_norm`, `batch_norm_cpu_update_stats_template` and
    `batch_norm_cpu_transform_input_template`.
    """
    if not input.numel():  # the factors only keep the parameters in the graph
        result = input.clone()
        result = result if weight is None else result * weight[0]
        return result if bias is None else result + bias[0]
    features = input.size(1)
    given = {"running_mean": running_mean, "running_var": running_var, "weight": weight, "bias": bias}
    for name, tensor in given.items():
        if tensor is None and not training and name.startswith("running"):
            raise RuntimeError(f"{name} must be defined in evaluation mode")
        if tensor is not None and tensor.numel() != features:
            raise RuntimeError(f"{name} should contain {features} elements not {tensor.numel()}")
    _check_floating("batch_norm", input)
    if any(x is not None and x.dtype not in (input.dtype, widened(input)) for x in given.values()):
        raise RuntimeError("mixed dtype (CPU): all inputs must share same datatype.")
    for name in ("running_mean", "running_var"):
        if given[name] is not None and local.grad_enabled and given[name].requires_grad:
            problem = f"The function 'native_batch_norm' is not differentiable with respect to argument '{name}'."
            raise RuntimeError(f"{problem} This input cannot have requires_grad True.")
    x = input.to(widened(input))
    shape = (1, features) + (1,) * (input.dim() - 2)  # broadcasts over all but the features
    if training:
        dims = tuple(dim for dim in range(input.dim()) if dim != 1)
        mean = functions.mean(x, dims)
        centred = x - mean.view(shape)
        variance = functions.mean(functions.square(centred), dims)
        count = input.numel() // max(features, 1)
        if running_mean is not None:
            running_mean.mul_(1 - momentum).add_(momentum * mean.detach())
        if running_var is not None:
            unbiased = variance.detach() * (count / max(count - 1, 1))
            running_var.mul_(1 - momentum).add_(momentum * unbiased)
    else:
        centred, variance = x - running_mean.view(shape), running_var
    result = centred * functions.rsqrt(variance.view(shape) + eps)
    if weight is not None:
        result = result * weight.view(shape)
    if bias is not None:
        result = result + bias.view(shape)
    return result.to(input.dtype)


@fast_form_of(batch_norm, "autograd")
def fast_batch_norm(input: Tensor, weight, bias, running_mean, running_var, training, momentum, eps, cudnn) -> Tensor:
    """`batch_norm` of a contiguous input, which calls only one operator, as `fast_layer_norm` does."""
    given = (input, weight, bias, running_mean, running_var)
    has_statistics = training or running_mean is not None and running_var is not None
    if has_statistics and not local.modes and input.dim() > 1 and 0 not in input._sizes and _fit_features(*given):
        return functions.native_batch_norm(*given, training, momentum, eps)[0]
    return batch_norm(*given, training, momentum, eps, cudnn)


def _fit_features(input: Tensor, *of_features: Tensor | None) -> bool:
    """Whether the arrays of all tensors are as numpy needs them, and autograd does not record the two running estimates."""
    sizes = (input._sizes[1],)
    for tensor in of_features:
        if tensor is not None and (tensor.dtype is not input.dtype or tensor._sizes != sizes):
            return False
    given = [tensor for tensor in (input, *of_features) if tensor is not None]
    is_recorded = local.grad_enabled and any(x is not None and x.requires_grad for x in of_features[2:])
    return not is_recorded and all(fits_fast_path(tensor) and not tensor._key_set & META for tensor in given)


def native_batch_norm(
    input: Tensor, weight, bias, running_mean, running_var, training: bool, momentum: float, eps: float
) -> tuple[Tensor, Tensor, Tensor]:
    """`batch_norm` of float32 and float64, and in training the mean and 1 / sqrt(variance + eps) of each feature. The new running
    estimates are written without a new version, as in PyTorch.
    Source: `aten/src/ATen/native/Normalization.cpp`, `batch_norm_cpu`."""
    x = _by_feature(input)
    count = x.shape[0] * x.shape[2]
    if training:
        mean = channel_sums(x) / count
        centred = x - mean[:, None]
        variance = channel_sums(centred * centred) / count
        unbiased = variance * (count / max(count - 1, 1))
        for running, new in ((running_mean, mean), (running_var, unbiased)):
            if running is not None:
                running._array[...] = momentum * new + (1 - momentum) * running._array
    else:
        mean, variance = running_mean._array, running_var._array
    invstd = 1 / np.sqrt(variance + variance.dtype.type(eps))
    scale = invstd if weight is None else invstd * weight._array
    shift = -mean * scale if bias is None else bias._array - mean * scale
    result = x * scale[:, None]
    result += shift[:, None]
    saved = (mean, invstd) if training else (np.empty(0, x.dtype), np.empty(0, x.dtype))
    save_mean, save_invstd = (wrap_contiguous(one, input.dtype) for one in saved)
    return wrap_like(result.reshape(input._sizes), input), save_mean, save_invstd


def native_batch_norm_backward(
    grad_out, input, weight, running_mean, running_var, save_mean, save_invstd, train: bool, eps: float, output_mask
) -> tuple:
    """The gradients of `input`, `weight` and `bias`, those of `output_mask`.
    Source: `aten/src/ATen/native/Normalization.cpp`, `batch_norm_backward_cpu`."""
    grad, x = _by_feature(grad_out), _by_feature(input)
    mean = (save_mean if train else running_mean)._array
    invstd = save_invstd._array if train else 1 / np.sqrt(running_var._array + x.dtype.type(eps))
    scale = invstd if weight is None else invstd * weight._array
    centred = x - mean[:, None]
    sums, products = channel_sums(grad), channel_sums(grad * centred)
    results: list[Tensor | None] = [None, None, None]
    if output_mask[0]:
        result = grad * scale[:, None]
        if train:
            count = x.shape[0] * x.shape[2]
            centred *= (products * invstd * invstd * scale / count)[:, None]
            centred += (sums * scale / count)[:, None]
            result -= centred
        results[0] = wrap_like(result.reshape(input._sizes), input)
    if output_mask[1]:
        results[1] = wrap_contiguous(products * invstd, input.dtype)
    if output_mask[2]:
        results[2] = wrap_contiguous(sums, input.dtype)
    return tuple(results)


def _by_feature(self: Tensor) -> np.ndarray:
    """(batch, features, places), contiguous."""
    return np.ascontiguousarray(self._array).reshape(*self._sizes[:2], -1)
