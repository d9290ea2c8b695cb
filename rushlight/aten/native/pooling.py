"""Pooling: one number for each window of an image.

The windows are placed as those of a convolution are. A kernel goes through the positions inside a window, and at each of them
through all windows at once: `_at` is the slice of the padded image that has this element of every window. So the largest of them,
or their sum, is found in as many steps as a window has elements, and the backward goes the same way.

In PyTorch: `aten/src/ATen/native/Pool.h`, `DilatedMaxPool2d.cpp`, `AveragePool2d.cpp`, `AdaptiveAveragePooling.cpp`, with kernels
in `cpu/`. Left out: pooling over one and three dimensions, unpooling, and adaptive maxima.
"""

import math
from collections.abc import Iterator, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from rushlight.aten.generated import functions
from rushlight.aten.native.pointwise import widened
from rushlight.aten.strided import Tensor
from rushlight.aten.structured import Output, Structured, allocate, output_like
from rushlight.c10.dtypes import FLOATING, bool_, int64
from rushlight.c10.memory_formats import channels_last, suggest_memory_format

Ints = Sequence[int]


class Windows(NamedTuple):
    """How windows are placed, and how many there are. Each has a number for the height and one for the width."""

    kernel: Ints
    stride: Ints
    padding: Ints
    dilation: Ints
    counts: Ints


def _windows(name: str, self: Tensor, kernel, stride, padding, dilation, ceil_mode: bool) -> Windows:
    """Source: `aten/src/ATen/native/Pool.h`, `pool2d_shape_check` and `pooling_output_shape`."""
    given = {"kernel_size": kernel, "stride": stride or kernel, "padding": padding, "dilation": dilation}
    for argument, values in given.items():
        if len(values) not in (1, 2):
            raise RuntimeError(f"{name}: {argument} must either be a single int, or a tuple of two ints")
    kernel, stride, padding, dilation = (tuple(values) * (3 - len(values)) for values in given.values())
    for argument, values in {"kernel_size": kernel, "stride": stride, "dilation": dilation}.items():
        if min(values) <= 0:
            raise RuntimeError(f"{name}: {argument} should be greater than zero, but got {values}")
    for size, pad, step in zip(kernel, padding, dilation):
        if pad < 0 or pad > ((size - 1) * step + 1) // 2:
            limits = "not negative, and at most half of the effective kernel size"
            raise RuntimeError(f"{name}: padding should be {limits}, but got padding={pad} and kernel_size={size}")
    if self.dim() not in (3, 4) or 0 in self.shape[-3:]:
        expected = "Expected 3D or 4D (batch mode) tensor with optional 0 dim batch size"
        raise RuntimeError(f"{name}: {expected} for input, but got {list(self.shape)}")
    counts = []
    for size, length, step, pad, inside in zip(self.shape[-2:], kernel, stride, padding, dilation):
        count = (size + 2 * pad - inside * (length - 1) - 1 + (step - 1 if ceil_mode else 0)) // step + 1
        if ceil_mode and (count - 1) * step >= size + pad:
            count -= 1  # the last window begins inside the image or the padding before it
        counts.append(count)
    if min(counts) < 1:
        raise RuntimeError(f"{name}: Given input size {list(self.shape)}. Output size {counts} is too small")
    return Windows(kernel, stride, padding, dilation, counts)


def _padded(self: np.ndarray, windows: Windows, value: float) -> np.ndarray:
    """The image with `value` around it, so that it has all windows. The last ones may reach beyond the padding."""
    sizes = list(self.shape)
    for dim, size, length, step, pad, inside, count in zip((-2, -1), self.shape[-2:], *windows):
        sizes[dim] = max(size + 2 * pad, (count - 1) * step + inside * (length - 1) + 1)
    padded = _full(sizes, value, self.dtype)
    _image(padded, self, windows)[...] = self
    return padded


def _full(sizes: Ints, value: float, dtype: np.dtype) -> np.ndarray:
    """`np.full`. If there are more images than pixels in a row, the same pixel of all images is together in memory, so that numpy's
    innermost loop is over the images."""
    if math.prod(sizes[:-2]) <= sizes[-1]:
        return np.full(sizes, value, dtype)
    return np.moveaxis(np.full((*sizes[-2:], *sizes[:-2]), value, dtype), (0, 1), (-2, -1))


def _image(padded: np.ndarray, image: np.ndarray, windows: Windows) -> np.ndarray:
    """The part of a padded image that is not padding."""
    (height, width), (top, left) = image.shape[-2:], windows.padding
    return padded[..., top : top + height, left : left + width]


def _positions(windows: Windows) -> Iterator[tuple[int, int]]:
    """The positions inside a window, as distances from its first element."""
    return ((i * windows.dilation[0], j * windows.dilation[1]) for i, j in np.ndindex(*windows.kernel))


def _starts(windows: Windows) -> list[np.ndarray]:
    """Where the windows begin in the image, in each dimension."""
    parts = zip(windows.stride, windows.padding, windows.counts)
    return [np.arange(count) * step - pad for step, pad, count in parts]


def _at(padded: np.ndarray, position: tuple[int, int], windows: Windows) -> np.ndarray:
    """The element of every window at one position, as a view."""
    parts = zip(position, windows.stride, windows.counts)
    rows, columns = (slice(start, start + (count - 1) * step + 1, step) for start, step, count in parts)
    return padded[..., rows, columns]


# Maxima --------------------------------------------------------------------------------------------------------------


def max_pool2d_with_indices(self: Tensor, kernel_size, stride, padding, dilation, ceil_mode) -> tuple[Tensor, Tensor]:
    """The largest element of each window of (batch, channels, height, width), or of one image without the batch, and its index,
    as a number in height times width. Of several the first one counts. Of NaN the last one counts. The padding counts as minus
    infinity.

    Args:
        kernel_size, stride, padding, dilation: one number for both dimensions, or two. An empty `stride` is `kernel_size`.
        ceil_mode: whether windows may reach beyond the padding, as long as they begin before it.

    Source: `aten/src/ATen/native/cpu/MaxPoolKernel.cpp`, `cpu_max_pool`.
    """
    if self.dtype is bool_:
        raise NotImplementedError("max_pool2d is not implemented for 'Bool'")
    windows = _windows("max_pool2d", self, kernel_size, stride, padding, dilation, ceil_mode)
    sizes = (*self.shape[:-2], *windows.counts)
    result = allocate(output_like(self, sizes), self.device.type)
    indices = allocate(output_like(self, sizes, int64), self.device.type)
    if self.is_meta:
        return result, indices
    is_floating = self.dtype.category == FLOATING
    least = -np.inf if is_floating else np.iinfo(self.dtype.numpy).min
    padded = _padded(self._array, windows, least)
    candidates = [_at(padded, position, windows) for position in _positions(windows)]
    largest = candidates[0].copy()
    for candidate in candidates[1:]:
        np.maximum(largest, candidate, out=largest)  # NaN if there is one
    which = np.zeros_like(largest, np.min_scalar_type(len(candidates)))  # of the candidates
    for number, candidate in reversed([*enumerate(candidates)]):
        which += (candidate == largest) * (which.dtype.type(number) - which)  # modulo 2^n
    if is_floating:
        _take_nans_and_zeros(largest, which, candidates)
    width = self.size(-1)
    positions = np.array([row * width + column for row, column in _positions(windows)])[which]
    positions += _index((0, 0), windows, width)
    np.copyto(positions, _first_index(windows, width), where=largest == least)
    result._array[...], indices._array[...] = largest, positions
    return result, indices


def _take_nans_and_zeros(largest: np.ndarray, which: np.ndarray, candidates: Sequence[np.ndarray]) -> None:
    """Of NaN the last one counts, and of 0 and -0 the first one."""
    if (is_nan := largest != largest).any():
        for number, candidate in enumerate(candidates):
            np.copyto(which, number, where=is_nan & (candidate != candidate))
    if any((np.signbit(candidate) & (candidate == 0)).any() for candidate in candidates):
        for number, candidate in enumerate(candidates):
            np.copyto(largest, candidate, where=which == number)


def _index(position: tuple[int, int], windows: Windows, width: int) -> np.ndarray:
    """The index of every window's element at one position: its row times the width plus its column."""
    row, column = (first + start for first, start in zip(_starts(windows), position))
    return row[:, None] * width + column


def _first_index(windows: Windows, width: int) -> np.ndarray:
    """The index of every window's first element that is not padding."""
    placed = zip(_starts(windows), windows.dilation)
    row, column = (start + np.maximum(-(start // step), 0) * step for start, step in placed)
    return row[:, None] * width + column


def max_pool2d_backward_meta(grad_output, self, kernel_size, stride, padding, dilation, ceil_mode, indices) -> Output:
    """The geometry of the gradient of `max_pool2d`: the sizes of `self`. A `grad_output` of other sizes than the pooled
    ones raises a `RuntimeError`."""
    windows = _windows("max_pool2d", self, kernel_size, stride, padding, dilation, ceil_mode)
    sizes = (*self.shape[:-2], *windows.counts)
    if tuple(grad_output.shape) != sizes or tuple(indices.shape) != sizes:
        raise RuntimeError(f"Expected a grad_output of shape {list(sizes)}, but got {list(grad_output.shape)}")
    return output_like(self, self.shape)


@partial(Structured, max_pool2d_backward_meta)
def max_pool2d_backward(grad_output, self, kernel_size, stride, padding, dilation, ceil_mode, indices, out) -> None:
    """Each element gets the gradients of the windows in which it is the largest one.
    Source: `aten/src/ATen/native/cpu/MaxPoolKernel.cpp`, `cpu_max_pool_backward`."""
    firsts = np.arange(0, self.numel(), self.size(-2) * self.size(-1)).reshape(*self.shape[:-2], 1, 1)  # of each image
    total = np.zeros(self.numel(), widened(self.dtype).numpy)
    np.add.at(total, (indices._array + firsts).reshape(-1), grad_output._array.astype(total.dtype).reshape(-1))
    out._array[...] = total.reshape(self.shape)


# Averages ------------------------------------------------------------------------------------------------------------


def _avg_windows(self, kernel_size, stride, padding, ceil_mode, divisor_override) -> Windows:
    if divisor_override == 0:
        raise RuntimeError("avg_pool2d: divisor must be not zero")
    return _windows("avg_pool2d", self, kernel_size, stride, padding, (1,), ceil_mode)


def avg_pool2d_meta(self, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override) -> Output:
    """The geometry of `avg_pool2d`: the last two dimensions are the numbers of windows. The dtype bool raises a
    `NotImplementedError`."""
    windows = _avg_windows(self, kernel_size, stride, padding, ceil_mode, divisor_override)
    if self.dtype is bool_:
        raise NotImplementedError("avg_pool2d is not implemented for 'Bool'")
    return output_like(self, (*self.shape[:-2], *windows.counts))


@partial(Structured, avg_pool2d_meta)
def avg_pool2d(self, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override, out) -> None:
    """The sum of each window, divided by the number of its elements, with or without the padding, or by another number.
    Source: `aten/src/ATen/native/cpu/AvgPoolKernel.cpp`, `cpu_avg_pool2d`."""
    windows = _avg_windows(self, kernel_size, stride, padding, ceil_mode, divisor_override)
    padded = _padded(self._array.astype(widened(self.dtype).numpy, copy=False), windows, 0)
    total = np.zeros(out.shape, padded.dtype)
    for position in _positions(windows):
        total += _at(padded, position, windows)
    divisor = divisor_override or _divisors(windows, self.shape[-2:], count_include_pad)
    if self.dtype.category == FLOATING:
        np.divide(total, divisor, out=out._array, casting="same_kind")
    else:
        out._array[...] = (total - np.fmod(total, divisor)) // divisor  # towards 0, as in C++


def _divisors(windows: Windows, sizes: Ints, count_include_pad: bool) -> np.ndarray:
    """The number of elements of each window. What a window has beyond the padding never counts."""
    lengths = []
    for start, length, pad, size in zip(_starts(windows), windows.kernel, windows.padding, sizes):
        end = np.minimum(start + length, size + (pad if count_include_pad else 0))
        lengths.append(end - (start if count_include_pad else start.clip(0)))
    return lengths[0][:, None] * lengths[1]


def avg_pool2d_backward_meta(grad, self, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor) -> Output:
    """The geometry of the gradient of `avg_pool2d`: the sizes of `self`. A gradient of other sizes than the pooled ones
    raises a `RuntimeError`."""
    windows = _avg_windows(self, kernel_size, stride, padding, ceil_mode, divisor)
    if tuple(grad.shape) != (*self.shape[:-2], *windows.counts):
        raise RuntimeError(f"avg_pool2d_backward: got a grad_output of shape {list(grad.shape)}")
    return output_like(self, self.shape)


@partial(Structured, avg_pool2d_backward_meta)
def avg_pool2d_backward(grad, self, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor, out) -> None:
    """Each element gets an equal part of the gradient of every window that it is in.
    Source: `aten/src/ATen/native/cpu/AvgPoolKernel.cpp`, `cpu_avg_pool2d_backward`."""
    windows = _avg_windows(self, kernel_size, stride, padding, ceil_mode, divisor)
    computed = widened(self.dtype).numpy
    divisor = divisor or _divisors(windows, self.shape[-2:], count_include_pad)
    part = (grad._array.astype(computed, copy=False) / divisor).astype(computed, copy=False)
    padded = _padded(np.zeros(self.shape, computed), windows, 0)
    for position in _positions(windows):
        view = _at(padded, position, windows)
        view += part
    out._array[...] = _image(padded, out._array, windows)


# Averages of as many windows as are wanted ---------------------------------------------------------------------------


def adaptive_avg_pool2d(self: Tensor, output_size: Ints) -> Tensor:
    """The average of windows that together cover the image. One window is a `mean`.
    Source: `aten/src/ATen/native/AdaptiveAveragePooling.cpp`, `adaptive_avg_pool2d_symint`."""
    sizes = _adaptive_sizes(output_size)
    if sizes != (1, 1):
        return functions._adaptive_avg_pool2d(self, sizes)
    out = functions.mean(self, (-1, -2), True)
    if suggest_memory_format(self.shape, self.stride()) is channels_last:
        batch, channels = self.shape[:2]
        out = out.as_strided((batch, channels, 1, 1), (channels, 1, channels, channels))
    return out


def _adaptive_sizes(output_size: Ints) -> tuple[int, int]:
    sizes = tuple(output_size) * (2 if len(output_size) == 1 else 1)
    if len(sizes) != 2 or min(sizes) < 0:
        expected = "output_size must be 2 numbers, greater than or equal to 0"
        raise RuntimeError(f"adaptive_avg_pool2d: {expected}, but got {list(output_size)}")
    return sizes


def _adaptive_windows(size: int, count: int) -> list[slice]:
    """`count` windows along a dimension. They overlap if `size` is not a multiple.
    Source: `aten/src/ATen/native/AdaptivePooling.h`, `start_index` and `end_index`."""
    return [slice(i * size // count, math.ceil((i + 1) * size / count)) for i in range(count)]


def _cells(sizes: Ints, counts: Ints) -> Iterator[tuple[tuple, tuple, int]]:
    """For each window its index in the result, its part of the image, and its number of elements."""
    rows, columns = map(_adaptive_windows, sizes, counts)
    for (i, row), (j, column) in ((a, b) for a in enumerate(rows) for b in enumerate(columns)):
        yield (..., i, j), (..., row, column), (row.stop - row.start) * (column.stop - column.start)


def _adaptive_avg_pool2d(self: Tensor, output_size: Ints) -> Tensor:
    """Source: `aten/src/ATen/native/cpu/AdaptiveAvgPoolKernel.cpp`, `cpu_adaptive_avg_pool2d`."""
    if self.dim() not in (3, 4) or 0 in self.shape[-2:]:
        raise RuntimeError(f"adaptive_avg_pool2d(): Expected 3D or 4D tensor, but got {list(self.shape)}")
    if self.dtype.category != FLOATING:
        raise NotImplementedError(f"adaptive_avg_pool2d is not implemented for '{self.dtype.type_name}'")
    sizes = _adaptive_sizes(output_size)
    out = allocate(output_like(self, (*self.shape[:-2], *sizes)), self.device.type)
    if not out.is_meta:
        computed = widened(self.dtype).numpy
        array, means = _full(self.shape, 0, computed), _full(out.shape, 0, computed)
        array[...] = self._array
        for cell, window, count in _cells(self.shape[-2:], sizes):
            means[cell] = array[window].sum((-2, -1)) / count
        out._array[...] = means
    return out


def _adaptive_avg_pool2d_backward(grad_output: Tensor, self: Tensor) -> Tensor:
    if 0 in grad_output.shape[1:]:
        expected = "Expected grad_output to have non-zero size for non-batch dimensions"
        raise RuntimeError(f"adaptive_avg_pool2d_backward(): {expected}, but got {list(grad_output.shape)}")
    out = allocate(output_like(self, self.shape), self.device.type)
    if not out.is_meta:
        total = _full(self.shape, 0, widened(self.dtype).numpy)
        for cell, window, count in _cells(self.shape[-2:], grad_output.shape[-2:]):
            total[window] += (grad_output._array[cell] / total.dtype.type(count))[..., None, None]
        out._array[...] = total
    return out
