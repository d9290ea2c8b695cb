"""Convolution: the same weights on every window of an image.

A convolution multiplies each window of the input, in all of its channels, with a matrix of weights. `windows` shows all windows
as a view of the padded input, without a copy: it has one dimension for the position of a window, and one for the position in the
window. A copy of this view is the matrix of *columns*, and the convolution is a matrix product for each group of channels. The
gradients are the two other products of the same matrices. A convolution over one dimension is one over two, with a height of 1.

numpy copies runs of elements, which are as long as a row of windows. Where rows are short, the elements that several images have at
one position are put side by side, and the columns of all of these images are one matrix.

A transposed convolution is the gradient of the input of a convolution with the same weights.

In PyTorch: `aten/src/ATen/native/Convolution.cpp`, `ConvolutionMM2d.cpp`, `NaiveConvolutionTranspose2d.cpp`, `Unfold2d.cpp`.
"""

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.lib.stride_tricks import as_strided

from rushlight.aten.generated import functions
from rushlight.aten.native.pointwise import widened
from rushlight.aten.native.reductions import channel_sums
from rushlight.aten.strided import Tensor, contiguous_strides, empty_strided, select, unsqueeze
from rushlight.aten.structured import cpp_name
from rushlight.c10.dtypes import bool_
from rushlight.c10.exception import warn_once
from rushlight.c10.memory_formats import channels_last, channels_last_strides, suggest_memory_format

Ints = Sequence[int]
SHORT = 16  # windows in a row: of so many, images are put side by side
LARGEST = 1 << 17  # elements of columns that are computed at once, so that they stay in the cache


# What is called --------------------------------------------------------------------------------------------------------


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
    return batched(2, input, weight, bias, stride, padding, dilation, groups)


def batched(ndim: int, input: Tensor, weight, bias, stride, padding, dilation, groups, output_padding=None) -> Tensor:
    """The same over `ndim` dimensions. With `output_padding`, it is transposed."""
    if input.dim() not in (ndim + 1, ndim + 2):
        name = f"conv{ndim}d" if output_padding is None else f"conv_transpose{ndim}d"
        expected = f"Expected {ndim + 1}D (unbatched) or {ndim + 2}D (batched) input to {name}"
        raise RuntimeError(f"{expected}, but got input of size: {list(input.shape)}")
    one = input if input.dim() == ndim + 2 else functions.unsqueeze(input, 0)
    if isinstance(padding, str):
        one, padding = _pad_by_name(one, weight, stride, padding, dilation)
    transposed, output_padding = output_padding is not None, output_padding or (0,) * ndim
    result = functions.convolution(one, weight, bias, stride, padding, dilation, transposed, output_padding, groups)
    return result if one.dim() == input.dim() else functions.squeeze(result, 0)


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
        warn_once(f"Using padding='same' with {reason}")
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
    output_padding: Ints  # of a transposed convolution: how much longer its result is at the end


def convolution(
    input: Tensor, weight: Tensor, bias: Tensor | None, stride, padding, dilation, transposed, output_padding, groups
) -> Tensor:
    """The convolution of a batch. The result has the memory format `channels_last` if the input or the weight has it.
    Source: `aten/src/ATen/native/Convolution.cpp`, `convolution` and `_convolution`."""
    settings = _settings(weight, stride, padding, dilation, groups, output_padding)
    _check(input, weight, bias, settings, transposed)
    images, kernels, settings = _as_images(input, weight, settings)
    if transposed:
        channels, counts = weight.size(1) * groups, _transposed_sizes(images, kernels, settings)
    else:
        channels, counts = weight.size(0) if input.size(1) else 0, _output_sizes(images, kernels, settings)
    sizes = (input.size(0), channels, *counts)
    out = empty_strided(sizes, _strides(sizes, images, kernels), input.dtype, input.device.type)
    if not out.is_meta and out.numel():
        if transposed:
            _input_grad(images, kernels, settings, out)
            if bias is not None:
                out._array[...] += bias._array.reshape(-1, *(1 for _ in counts))
        else:
            _convolve(images, kernels, settings, out, bias)
    return out if input.dim() > 3 else select(out, 2, 0)


def _convolve(images: Tensor, kernels: Tensor, settings: Settings, out: Tensor, bias: Tensor | None = None) -> None:
    matrix = _matrix(kernels, settings.groups)
    for some, columns in _columns(images, kernels, settings, out.shape):
        part = out._array[some]
        is_direct = part.dtype == matrix.dtype and not _is_short(out.shape)
        product = np.matmul(
            matrix, columns, part.reshape(*columns.shape[:2], -1, columns.shape[3]) if is_direct else None
        )
        if bias is not None:
            product += _widened(bias).reshape(settings.groups, -1, 1)
        if not is_direct:
            part[...] = _apart(product, out.shape)


def convolution_backward(
    grad_output: Tensor, input: Tensor, weight: Tensor, bias_sizes: Ints | None, stride, padding, dilation, transposed,
    output_padding, groups, output_mask,
) -> tuple[Tensor | None, ...]:  # fmt: skip
    """The gradients of the input, the weight and the bias, those that `output_mask` asks for. The others are None.
    Source: `aten/src/ATen/native/Convolution.cpp`, `convolution_backward`; `ConvolutionMM2d.cpp`."""
    settings = _settings(weight, stride, padding, dilation, groups, output_padding)
    images, kernels, settings = _as_images(input, weight, settings)
    shapes = images.shape, kernels.shape, bias_sizes or grad_output.shape[1:2]
    grads = [
        empty_strided(sizes, _strides(sizes, images, kernels), input.dtype, input.device.type) if wanted else None
        for sizes, wanted in zip(shapes, output_mask)
    ]
    if input.numel() == 0 and not input.is_meta:
        for out in grads:
            if out is not None:
                out._array.fill(0)
    elif not input.is_meta:
        grad = grad_output if input.dim() > 3 else unsqueeze(grad_output, 2)
        images, grad = (grad, images) if transposed else (images, grad)  # the input and the output of the convolution
        if (of_input := grads[0]) is not None and transposed:
            _convolve(images, kernels, settings, of_input)
        elif of_input is not None:
            _input_grad(grad, kernels, settings, of_input)
        if (of_weight := grads[1]) is not None:
            of_weight._array[...] = _weight_grad(grad, images, kernels, settings)
        if (of_bias := grads[2]) is not None:
            of_bias._array[...] = channel_sums(_widened(grad_output).reshape(*grad_output.shape[:2], -1))
    return tuple(out if out is None or out.dim() == 1 or input.dim() > 3 else select(out, 2, 0) for out in grads)


def _input_grad(grad: Tensor, kernels: Tensor, settings: Settings, out: Tensor) -> None:
    """Each column gets its gradient, and each element the sum over the columns that it is in."""
    matrix = _matrix(kernels, settings.groups).swapaxes(1, 2)
    for some in _parts(out.shape, grad.shape, kernels):
        padded = _zeros(out._array[some].shape, settings, matrix.dtype, _is_short(grad.shape))
        into = windows(padded, kernels.shape[2:], settings)
        columns = _apart(np.matmul(matrix, _channels(grad, some, settings.groups)), into.shape)
        for position in np.ndindex(*kernels.shape[2:]):  # the elements of one position in the window do not overlap
            into[:, :, *position] += columns[:, :, *position]
        out._array[some] = padded[_inside(padded.shape, settings)]


def _weight_grad(grad: Tensor, images: Tensor, kernels: Tensor, settings: Settings) -> np.ndarray:
    total = np.zeros_like(_matrix(kernels, settings.groups))
    for some, columns in _columns(images, kernels, settings, grad.shape):
        of_images = np.matmul(columns, _channels(grad, some, settings.groups).swapaxes(2, 3))
        total += of_images.sum(0).swapaxes(1, 2)
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


def _columns(images: Tensor, kernels: Tensor, settings: Settings, out: Ints) -> Iterator[tuple[slice, np.ndarray]]:
    """The windows of some images at a time, copied to matrices: (images, groups, elements of a window in the channels of a group,
    windows). Windows of one element need no copy. The convolution has the sizes `out`."""
    array, is_short = _widened(images), _is_short(out)
    for some in _parts(images.shape, out, kernels):
        padded = array[some]
        if any(settings.padding) or is_short:
            padded = _zeros(padded.shape, settings, array.dtype, is_short)
            padded[_inside(padded.shape, settings)] = array[some]
        view = windows(padded, kernels.shape[2:], settings)
        yield some, _together(view, settings.groups, math.prod(kernels.shape[1:]), is_short)


def _channels(tensor: Tensor, some: slice, groups: int) -> np.ndarray:
    """The values of some results of convolutions, beside the columns: (images, groups, channels of a group, windows)."""
    return _together(_widened(tensor)[some], groups, tensor.size(1) // groups, _is_short(tensor.shape))


def _is_short(out: Ints) -> bool:
    return out[-1] < SHORT


def _together(array: np.ndarray, groups: int, rows: int, is_short: bool) -> np.ndarray:
    """(images, \\*) as (images, groups, rows, windows). Images with short rows of windows become one image."""
    if is_short:
        return array.transpose(*range(1, array.ndim), 0).reshape(1, groups, rows, -1)
    return array.reshape(len(array), groups, rows, -1)


def _apart(array: np.ndarray, sizes: Ints) -> np.ndarray:
    """The opposite of `_together`, without a copy: (images, \\*sizes[1:])."""
    return _batch_first(array.reshape(*sizes[1:], -1)) if _is_short(sizes) else array.reshape(-1, *sizes[1:])


def _batch_first(array: np.ndarray) -> np.ndarray:
    return array.transpose(-1, *range(array.ndim - 1))


def _zeros(sizes: Ints, settings: Settings, dtype: np.dtype, is_short: bool) -> np.ndarray:
    """Padded images of these sizes."""
    padded = (sizes[1], *(size + 2 * pad for size, pad in zip(sizes[2:], settings.padding)))
    return _batch_first(np.zeros((*padded, sizes[0]), dtype)) if is_short else np.zeros((sizes[0], *padded), dtype)


def _inside(padded: Ints, settings: Settings) -> tuple:
    """The part of padded images that is not padding."""
    return (..., *(slice(pad, size - pad) for size, pad in zip(padded[2:], settings.padding)))


def _parts(images: Ints, out: Ints, kernels: Tensor) -> Iterator[slice]:
    """Slices of the batch. The columns of a slice have at most `LARGEST` elements, if it has more than one image."""
    step = max(LARGEST // max(images[1] * math.prod((*kernels.shape[2:], *out[2:])), 1), 1)
    return (slice(start, start + step) for start in range(0, images[0], step))


def _widened(tensor: Tensor) -> np.ndarray:
    return tensor._array.astype(widened(tensor.dtype).numpy, copy=False)


def _matrix(kernels: Tensor, groups: int) -> np.ndarray:
    """The weights: (groups, output channels of a group, elements of a window in the channels of a group)."""
    return _widened(kernels).reshape(groups, kernels.size(0) // groups, -1)


# Sizes, strides and errors -------------------------------------------------------------------------------------------


def _settings(weight: Tensor, stride, padding, dilation, groups: int, output_padding: Ints) -> Settings:
    ndim = weight.dim() - 2
    named = {"stride": stride, "padding": padding, "dilation": dilation, "output_padding": output_padding}
    return Settings(**{name: _expanded(name, values, ndim) for name, values in named.items()}, groups=groups)


def _check(input: Tensor, weight: Tensor, bias: Tensor | None, settings: Settings, transposed: bool) -> None:
    """Source: `aten/src/ATen/native/Convolution.cpp`, `check_shape_forward` and `check_input_same_type_as_parameters`."""
    stride, padding, dilation, groups, _ = settings
    kernel, sizes = list(weight.shape), (weight.size(1) * groups, weight.size(0))
    channels, out_channels = sizes[::-1] if transposed else sizes
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
        got = f"but got {input.size(1)} channels instead"
        raise RuntimeError(f"Given groups={groups}, weight of size {kernel}, {expected}, {got}")
    if bias is not None and tuple(bias.shape) != (out_channels,):
        expected = f"expected bias to be 1-dimensional with {out_channels} elements"
        got = f"but got bias of size {list(bias.shape)} instead"
        raise RuntimeError(f"Given weight of size {kernel}, {expected}, {got}")
    if 0 in input.shape[2:]:
        shape = list(input.shape)
        raise RuntimeError(f"Only zero batch or zero channel inputs are supported, but got input shape: {shape}")
    padded = [size + 2 * pad for size, pad in zip(input.shape[2:], padding)]
    reach = [step * (size - 1) + 1 for step, size in zip(dilation, kernel[2:])]
    if not transposed and any(size < needed for size, needed in zip(padded, reach)):
        problem = f"Calculated padded input size per channel: {tuple(padded)}. Kernel size: {tuple(reach)}"
        raise RuntimeError(f"{problem}. Kernel size can't be greater than actual input size")
    if bias is not None and bias.dtype is not input.dtype:
        types = f"Input type ({cpp_name(input.dtype)}) and bias type ({cpp_name(bias.dtype)})"
        raise RuntimeError(f"{types} should be the same")
    if weight.dtype is not input.dtype:
        raise RuntimeError(f"expected scalar type {input.dtype.type_name} but found {weight.dtype.type_name}")
    if input.dtype is bool_:
        raise NotImplementedError("convolution is not implemented for 'Bool'")


def _as_images(input: Tensor, weight: Tensor, settings: Settings) -> tuple[Tensor, Tensor, Settings]:
    """With two dimensions: one dimension gets a height of 1. Source: `aten/src/ATen/native/Convolution.cpp`, `view4d`."""
    if input.dim() > 3:
        return input, weight, settings
    stride, padding, dilation, groups, more = settings
    settings = Settings((1, *stride), (0, *padding), (1, *dilation), groups, (0, *more))
    return unsqueeze(input, 2), unsqueeze(weight, 2), settings


def _counts(sizes: Ints, window: Ints, settings: Settings) -> list[int]:
    """The number of windows in each dimension of a padded image."""
    parts = zip(sizes, window, settings.stride, settings.dilation, settings.output_padding)
    return [(size - more - step * (length - 1) - 1) // stride + 1 for size, length, stride, step, more in parts]


def _output_sizes(images: Tensor, kernels: Tensor, settings: Settings) -> list[int]:
    padded = [size + 2 * pad for size, pad in zip(images.shape[2:], settings.padding)]
    return _counts(padded, kernels.shape[2:], settings)


def _transposed_sizes(images: Tensor, kernels: Tensor, settings: Settings) -> list[int]:
    *placed, _, more = settings
    if any(extra >= max(step, inside) for extra, step, _, inside in zip(more, *placed)):
        raise RuntimeError(f"output padding must be smaller than either stride or dilation, but got {list(more)}")
    parts = zip(images.shape[2:], kernels.shape[2:], *placed, more)
    return [
        (size - 1) * step - 2 * pad + inside * (length - 1) + extra + 1
        for size, length, step, pad, inside, extra in parts
    ]


def _strides(sizes: Ints, images: Tensor, kernels: Tensor) -> tuple[int, ...]:
    """The strides of a result. Source: `aten/src/ATen/native/ConvUtils.h`, `mkldnn_conv_use_channels_last`."""
    formats = [suggest_memory_format(tensor.shape, tensor.stride()) for tensor in (images, kernels)]
    use_channels_last = channels_last in formats and len(sizes) == 4
    return channels_last_strides(sizes) if use_channels_last else contiguous_strides(sizes)
