"""Convolution: the same weights on every window of an image.

A convolution multiplies each window of the input, in all of its channels, with a matrix of weights. `windows` shows all windows
as a view of the padded input, without a copy: it has one dimension for the position of a window, and one for the position in the
window. A copy of this view is the matrix of *columns*, and the convolution is a matrix product for each group of channels. The
gradients are the two other products of the same matrices. A convolution over one dimension is one over two, with a height of 1.

In PyTorch: `aten/src/ATen/native/Convolution.cpp`, `ConvolutionMM2d.cpp`, `Unfold2d.cpp`. Left out: transposed convolutions, and
those over three dimensions.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.lib.stride_tricks import as_strided

from rushlight.aten.generated import functions
from rushlight.aten.native.pointwise import widened
from rushlight.aten.strided import Tensor, contiguous_strides, empty_strided, select, unsqueeze
from rushlight.c10.dtypes import bool_
from rushlight.c10.memory_formats import channels_last, channels_last_strides, suggest_memory_format

Ints = Sequence[int]
LARGEST = 1 << 19  # bytes of columns that are computed at once, so that they stay in the cache


# What is called --------------------------------------------------------------------------------------------------------


def conv1d(input: Tensor, weight: Tensor, bias: Tensor | None, stride, padding, dilation, groups: int) -> Tensor:
    """(batch, channels, length), or without the batch. The other arguments are those of `conv2d`."""
    return _batched(1, input, weight, bias, stride, padding, dilation, groups)


def conv2d(input: Tensor, weight: Tensor, bias: Tensor | None, stride, padding, dilation, groups: int) -> Tensor:
    """The convolution of images (batch, channels, height, width), or of one image without the batch.

    Args:
        weight: (output channels, channels / groups, height and width of a window).
        bias: (output channels,), or None.
        stride: the distance of two windows in each dimension; one number, or two.
        padding: the number of zeros on each side in each dimension. `"valid"` is none. `"same"` is as many as keep the size;
            the last dimension gets an odd one at its end.
        dilation: the distance of two elements of a window in each dimension.
        groups: the channels form as many groups. Each group of output channels is computed from one group of input channels.

    Source: `aten/src/ATen/native/Convolution.cpp`, `conv2d_symint` and `conv2d_padding_symint`.
    """
    return _batched(2, input, weight, bias, stride, padding, dilation, groups)


def _batched(ndim: int, input: Tensor, weight, bias, stride, padding, dilation, groups: int) -> Tensor:
    if input.dim() not in (ndim + 1, ndim + 2):
        expected = f"Expected {ndim + 1}D (unbatched) or {ndim + 2}D (batched) input to conv{ndim}d"
        raise RuntimeError(f"{expected}, but got input of size: {list(input.shape)}")
    batched = input if input.dim() == ndim + 2 else functions.unsqueeze(input, 0)
    if isinstance(padding, str):
        batched, padding = _pad_by_name(batched, weight, stride, padding, dilation)
    result = functions.convolution(batched, weight, bias, stride, padding, dilation, False, (0,) * ndim, groups)
    return result if batched.dim() == input.dim() else functions.squeeze(result, 0)


def _pad_by_name(input: Tensor, weight: Tensor, stride: Ints, padding: str, dilation: Ints) -> tuple[Tensor, list[int]]:
    """The input and the padding on both sides, for `"same"` and `"valid"`. An odd element of padding is added to the input.
    Source: `aten/src/ATen/native/Convolution.cpp`, `convolution_same`."""
    ndim = weight.dim() - 2
    if padding == "valid":
        return input, [0] * ndim
    if padding != "same":
        raise RuntimeError(f"Invalid padding string: '{padding}'")
    if any(step != 1 for step in stride):
        raise RuntimeError("padding='same' is not supported for strided convolutions")
    total = [step * (size - 1) for step, size in zip(_expanded("dilation", dilation, ndim), weight.shape[2:])]
    if any(length % 2 for length in total):
        reason = "even kernel lengths and odd dilation may require a zero-padded copy of the input be created"
        warnings.warn(f"Using padding='same' with {reason}", stacklevel=4)
        input = functions.constant_pad_nd(input, [end for length in reversed(total) for end in (0, length % 2)])
    return input, [length // 2 for length in total]


def _expanded(name: str, values: Ints, ndim: int) -> tuple[int, ...]:
    """One number for each dimension. Source: `aten/src/ATen/native/utils/ParamUtils.h`, `expand_param_if_needed`."""
    if len(values) not in (1, ndim):
        expected = f"a single integer value or a list of {ndim} values to match the convolution dimensions"
        raise RuntimeError(f"expected {name} to be {expected}, but got {name}={list(values)}")
    return tuple(values) * (ndim if len(values) == 1 else 1)


# The operators -------------------------------------------------------------------------------------------------------


class Settings(NamedTuple):
    """How the windows of a convolution are placed. The first three have a number for each dimension."""

    stride: Ints
    padding: Ints
    dilation: Ints
    groups: int


def convolution(
    input: Tensor, weight: Tensor, bias: Tensor | None, stride, padding, dilation, transposed, output_padding, groups
) -> Tensor:
    """The convolution of a batch. The result has the memory format `channels_last` if the input or the weight has it.
    Source: `aten/src/ATen/native/Convolution.cpp`, `convolution` and `_convolution`."""
    settings = _settings(weight, stride, padding, dilation, transposed, groups)
    _check(input, weight, bias, settings)
    images, kernels, settings = _as_images(input, weight, settings)
    channels = weight.size(0) if input.size(1) else 0  # as in PyTorch
    sizes = (input.size(0), channels, *_output_sizes(images, kernels, settings))
    out = empty_strided(sizes, _strides(sizes, images, kernels), input.dtype, input.device.type)
    if not out.is_meta and out.numel():
        result = out._array.reshape(len(images), groups, -1, sizes[2] * sizes[3])  # a view
        matrix = _matrix(kernels, groups)
        for some, columns in _columns(images, kernels, settings):
            np.matmul(matrix, columns, out=result[some])
        if bias is not None:
            out._array[...] += bias._array[:, None, None]
    return out if input.dim() == 4 else select(out, 2, 0)


def convolution_backward(
    grad_output: Tensor, input: Tensor, weight: Tensor, bias_sizes: Ints | None, stride, padding, dilation, transposed,
    output_padding, groups, output_mask,
) -> tuple[Tensor | None, ...]:  # fmt: skip
    """The gradients of the input, the weight and the bias, those that `output_mask` asks for. The others are None.
    Source: `aten/src/ATen/native/Convolution.cpp`, `convolution_backward`; `ConvolutionMM2d.cpp`."""
    settings = _settings(weight, stride, padding, dilation, transposed, groups)
    images, kernels, settings = _as_images(input, weight, settings)
    shapes = images.shape, kernels.shape, weight.shape[:1]
    grads = [
        empty_strided(sizes, _strides(sizes, images, kernels), input.dtype, input.device.type) if wanted else None
        for sizes, wanted in zip(shapes, output_mask)
    ]
    if input.numel() == 0 and not input.is_meta:
        for out in grads:
            if out is not None:
                out._array.fill(0)
    elif not input.is_meta:
        computed = widened(input.dtype).numpy
        grad = grad_output._array.astype(computed, copy=False)
        products = grad.reshape(len(images), groups, weight.size(0) // groups, -1)
        for compute, out in zip((_input_grad, _weight_grad), grads):
            if out is not None:
                out._array[...] = compute(products, images, kernels, settings)
        if (of_bias := grads[2]) is not None:
            of_bias._array[...] = products.sum((0, 3)).reshape(-1)
    return tuple(out if out is None or out.dim() == 1 or input.dim() == 4 else select(out, 2, 0) for out in grads)


def _input_grad(products: np.ndarray, images: Tensor, kernels: Tensor, settings: Settings) -> np.ndarray:
    """Each column gets its gradient, and each element the sum over the columns that it is in."""
    batch, channels, height, width = images.shape
    (top, left), groups = settings.padding, settings.groups
    padded = np.zeros((batch, channels, height + 2 * top, width + 2 * left), products.dtype)
    view = windows(padded, kernels.shape[2:], settings)
    matrix = _matrix(kernels, groups).swapaxes(1, 2)
    for some in _parts(view):
        into = view[some]
        columns = np.matmul(matrix, products[some]).reshape(into.shape)
        for row, column in np.ndindex(*kernels.shape[2:]):  # the elements of one position in the window do not overlap
            into[:, :, row, column] += columns[:, :, row, column]
    return padded[:, :, top : top + height, left : left + width]


def _weight_grad(products: np.ndarray, images: Tensor, kernels: Tensor, settings: Settings) -> np.ndarray:
    total = np.zeros_like(_matrix(kernels, settings.groups))
    for some, columns in _columns(images, kernels, settings):
        total += np.matmul(products[some], columns.swapaxes(2, 3)).sum(0)
    return total.reshape(kernels.shape)


# Windows and columns -------------------------------------------------------------------------------------------------


def windows(padded: np.ndarray, window: Ints, settings: Settings) -> np.ndarray:
    """All windows of padded images (batch, channels, height, width), as a view with overlaps: (batch, channels, rows and
    columns of a window, rows and columns of windows).
    Source: `aten/src/ATen/native/Unfold2d.cpp`, `unfolded2d_copy`, which copies them."""
    batch, channels, *sizes = padded.strides
    counts = _counts(padded.shape[2:], window, settings)
    inside = [stride * step for stride, step in zip(sizes, settings.dilation)]
    between = [stride * step for stride, step in zip(sizes, settings.stride)]
    return as_strided(padded, (*padded.shape[:2], *window, *counts), (batch, channels, *inside, *between))


def _columns(images: Tensor, kernels: Tensor, settings: Settings) -> Iterator[tuple[slice, np.ndarray]]:
    """The windows of some images at a time, copied to matrices: (images, groups, elements of a window in the channels of a
    group, windows). Windows of one element need no copy."""
    array, (top, left) = images._array.astype(widened(images.dtype).numpy, copy=False), settings.padding
    if top or left:
        batch, channels, height, width = array.shape
        padded = np.zeros((batch, channels, height + 2 * top, width + 2 * left), array.dtype)
        padded[:, :, top : top + height, left : left + width] = array
        array = padded
    view = windows(array, kernels.shape[2:], settings)
    positions = view.shape[4] * view.shape[5]
    for some in _parts(view):
        part = view[some]
        yield some, part.reshape(len(part), settings.groups, -1, positions)


def _parts(view: np.ndarray) -> Iterator[slice]:
    """Slices of the batch. The windows of a slice have at most `LARGEST` bytes, if it has more than one image."""
    step = max(LARGEST * len(view) // max(view.nbytes, 1), 1)
    return (slice(start, start + step) for start in range(0, len(view), step))


def _matrix(kernels: Tensor, groups: int) -> np.ndarray:
    """The weights: (groups, output channels of a group, elements of a window in the channels of a group)."""
    array = kernels._array.astype(widened(kernels.dtype).numpy, copy=False)
    return array.reshape(groups, kernels.size(0) // groups, -1)


# Sizes, strides and errors -------------------------------------------------------------------------------------------


def _settings(weight: Tensor, stride, padding, dilation, transposed: bool, groups: int) -> Settings:
    ndim = weight.dim() - 2
    if transposed:
        raise NotImplementedError("rushlight leaves out transposed convolutions")
    if ndim not in (1, 2):
        raise NotImplementedError(f"rushlight leaves out convolutions over {ndim} dimensions")
    named = {"stride": stride, "padding": padding, "dilation": dilation}
    return Settings(**{name: _expanded(name, values, ndim) for name, values in named.items()}, groups=groups)


def _check(input: Tensor, weight: Tensor, bias: Tensor | None, settings: Settings) -> None:
    """Source: `aten/src/ATen/native/Convolution.cpp`, `check_shape_forward` and `check_input_same_type_as_parameters`."""
    stride, padding, dilation, groups = settings
    kernel, channels = list(weight.shape), weight.size(1) * groups
    if min(padding) < 0:
        raise RuntimeError("negative padding is not supported")
    for name, values in (("stride", stride), ("dilation", dilation), ("groups", [groups])):
        if min(values) <= 0:
            raise RuntimeError(f"non-positive {name} is not supported")
    if input.dim() != weight.dim():
        expected = f"Expected {weight.dim()}-dimensional input for {weight.dim()}-dimensional weight {kernel}"
        raise RuntimeError(f"{expected}, but got {input.dim()}-dimensional input of size {list(input.shape)} instead")
    if weight.size(0) < groups or weight.size(0) % groups:
        expected = f"expected weight to have at dimension 0 a multiple of {groups}"
        raise RuntimeError(f"Given groups={groups}, {expected}, but got weight of size {kernel} instead")
    if input.size(1) != channels:
        expected = f"expected input{list(input.shape)} to have {channels} channels"
        raise RuntimeError(
            f"Given groups={groups}, weight of size {kernel}, {expected}, but got {input.size(1)} channels instead"
        )
    if bias is not None and tuple(bias.shape) != (weight.size(0),):
        expected = f"expected bias to be 1-dimensional with {weight.size(0)} elements"
        raise RuntimeError(
            f"Given weight of size {kernel}, {expected}, but got bias of size {list(bias.shape)} instead"
        )
    if 0 in input.shape[2:]:
        shape = list(input.shape)
        raise RuntimeError(f"Only zero batch or zero channel inputs are supported, but got input shape: {shape}")
    padded = [size + 2 * pad for size, pad in zip(input.shape[2:], padding)]
    reach = [step * (size - 1) + 1 for step, size in zip(dilation, kernel[2:])]
    if any(size < needed for size, needed in zip(padded, reach)):
        sizes = f"Calculated padded input size per channel: {tuple(padded)}. Kernel size: {tuple(reach)}"
        raise RuntimeError(f"{sizes}. Kernel size can't be greater than actual input size")
    for name, tensor in (("weight", weight), ("bias", bias)):
        if tensor is not None and tensor.dtype is not input.dtype:
            types = f"Input type ({input.dtype.name}) and {name} type ({tensor.dtype.name})"
            raise RuntimeError(f"{types} should be the same")
    if input.dtype is bool_:
        raise NotImplementedError("convolution is not implemented for 'Bool'")


def _as_images(input: Tensor, weight: Tensor, settings: Settings) -> tuple[Tensor, Tensor, Settings]:
    """With two dimensions: one dimension gets a height of 1. Source: `aten/src/ATen/native/Convolution.cpp`, `view4d`."""
    if input.dim() == 4:
        return input, weight, settings
    stride, padding, dilation, groups = settings
    return unsqueeze(input, 2), unsqueeze(weight, 2), Settings((1, *stride), (0, *padding), (1, *dilation), groups)


def _counts(sizes: Ints, window: Ints, settings: Settings) -> list[int]:
    """The number of windows in each dimension of a padded image."""
    parts = zip(sizes, window, settings.stride, settings.dilation)
    return [(size - dilation * (length - 1) - 1) // stride + 1 for size, length, stride, dilation in parts]


def _output_sizes(images: Tensor, kernels: Tensor, settings: Settings) -> list[int]:
    padded = [size + 2 * pad for size, pad in zip(images.shape[2:], settings.padding)]
    return _counts(padded, kernels.shape[2:], settings)


def _strides(sizes: Ints, images: Tensor, kernels: Tensor) -> tuple[int, ...]:
    """The strides of a result. Source: `aten/src/ATen/native/ConvUtils.h`, `mkldnn_conv_use_channels_last`."""
    formats = [suggest_memory_format(tensor.shape, tensor.stride()) for tensor in (images, kernels)]
    use_channels_last = channels_last in formats and len(sizes) == 4
    return channels_last_strides(sizes) if use_channels_last else contiguous_strides(sizes)
