"""Resizing images: each dimension on its own is a product with a matrix that has few elements in a row.

`taps` gives for each position of the result the positions of the input that it reads, and their weights. In PyTorch:
`aten/src/ATen/native/UpSample.h`, `cpu/UpSampleKernel.cpp`.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from rushlight.aten.generated import functions
from rushlight.aten.native.pointwise import widened
from rushlight.aten.strided import Tensor, contiguous_strides
from rushlight.aten.structured import allocate, output_like
from rushlight.c10.dtypes import REDUCED_FLOATING, uint8


def linear(x: np.ndarray) -> np.ndarray:
    """The weight of linear interpolation at a distance of `x` pixels: 1 at 0, and 0 from 1 on."""
    return (1 - np.abs(x)).clip(0)


def cubic(x: np.ndarray, a: float = -0.5) -> np.ndarray:
    """The weight of cubic interpolation at a distance of `x` pixels: 1 at 0, and 0 from 2 on.
    Source: `aten/src/ATen/native/UpSample.h`, `cubic_convolution1` up to a distance of 1, and `cubic_convolution2`."""
    x = np.abs(x)
    near, far = ((a + 2) * x - (a + 3)) * x * x + 1, ((a * x - 5 * a) * x + 8 * a) * x - 4 * a
    return np.where(x < 1, near, np.where(x < 2, far, 0))


def lanczos(x: np.ndarray) -> np.ndarray:
    """The weight of Lanczos interpolation at a distance of `x` pixels: `sinc(x) * sinc(x / 3)`, and 0 from 3 on."""
    return np.where(np.abs(x) < 3, np.sinc(x) * np.sinc(x / 3), 0)


FILTERS = {
    "linear-aa": (1, linear),
    "bicubic-aa": (2, cubic),
    "lanczos-aa": (3, lanczos),
}  # with the distance that they reach


def taps(mode: str, size: int, count: int, align_corners: bool, scale: float | None, dtype: np.dtype) -> list[tuple]:
    """Pairs (positions, weights) of arrays of `count` numbers.
    Source: `aten/src/ATen/native/UpSample.h`, `area_pixel_compute_source_index`."""
    real = np.float32 if mode.startswith("nearest") else dtype.type
    step = real(1 / scale if scale else size / count)
    if align_corners:
        step = real((size - 1) / (count - 1)) if count > 1 else real(0)
    places = np.arange(count, dtype=real)
    if mode in FILTERS:
        return antialiased_taps(mode, size, (places + real(0.5)) * step, step)
    if mode.startswith("nearest"):
        places = np.floor((places + real(0.5)) * step if mode == "nearest-exact" else places * step)
        return [(places.astype(int).clip(0, size - 1), np.ones(count))]
    source = places * step if align_corners else (places + real(0.5)) * step - real(0.5)
    source = source if mode == "bicubic" else source.clip(0)
    first = np.floor(source).astype(int)
    t = (source - first).clip(0, 1)
    if mode == "linear":
        first = first.clip(0, size - 1)
        return [(first, 1 - t), ((first + 1).clip(0, size - 1), t)]
    return [((first + i).clip(0, size - 1), cubic(t - i, -0.75)) for i in (-1, 0, 1, 2)]


def antialiased_taps(mode: str, size: int, centres: np.ndarray, step: Any) -> list[tuple]:
    """A smaller image has means over more positions: the filter is as wide as `step` in the input.
    Source: `aten/src/ATen/native/cpu/UpSampleKernel.cpp`, `_compute_indices_min_size_weights_aa`."""
    reach, function = FILTERS[mode]
    stretch = max(step, 1)
    first, last = ((centres + side * reach * stretch + 0.5).astype(int).clip(0, size) for side in (-1, 1))
    at = first[:, None] + np.arange(2 * int(np.ceil(reach * stretch)) + 1)
    weights = function((at - centres[:, None] + 0.5).astype(centres.dtype) / stretch) * (at < last[:, None])
    totals = weights.sum(1, keepdims=True)
    weights = weights / np.where(totals == 0, 1, totals)
    return list(zip(at.T.clip(0, size - 1), weights.T))


def matrix_of(parts: list[tuple], size: int, dtype: np.dtype) -> np.ndarray:
    """The taps as a matrix, (count, size)."""
    rows = np.arange(len(parts[0][0]))
    matrix = np.zeros((len(rows), size), dtype)
    for at, weight in parts:
        np.add.at(matrix, (rows, at), weight)
    return matrix


def resized_bytes(array: np.ndarray, dim: int, matrix: np.ndarray) -> np.ndarray:
    """Weights of 16 bits: integers, divided by the largest power of two with which they fit. The result is rounded to bytes.
    Source: `aten/src/ATen/native/cpu/UpSampleKernel.cpp`, `_compute_index_ranges_int16_weights`."""
    precision = 0
    while precision < 22 and int(0.5 + matrix.max() * 2 ** (precision + 1)) < 2**15:
        precision += 1
    weights = np.trunc(matrix * 2**precision + np.copysign(0.5, matrix))
    sums = np.moveaxis(np.moveaxis(array, dim, -1) @ weights.T, -1, dim)
    return np.floor((sums + 2 ** (precision - 1)) / 2**precision).clip(0, 255)


def base_grid(like: Tensor, size: Sequence[int], align_corners: bool) -> Tensor:
    """For each element of an image of this size, its position from -1 to 1 in each dimension, the last one first, and a 1: (1,
    elements, ndim + 1). Source: `aten/src/ATen/native/AffineGridGenerator.cpp`, `make_base_grid_4D`."""
    options = {"dtype": like.dtype, "device": like.device}
    steps = [
        functions.linspace(-1 if n > 1 else 0, 1, n, **options) * (1 if align_corners else (n - 1) / n)
        for n in size[2:]
    ]
    axes = functions.meshgrid(steps, indexing="ij")
    return functions.stack([*reversed(axes), functions.ones_like(axes[0])], -1).flatten(0, -2).unsqueeze(0)


def _output(self: Tensor, sizes: Sequence[int]) -> Tensor:
    output = output_like(self, sizes)
    if len(sizes) == 5 and self.stride(1) == 1 < self.size(1):
        first, _, *strides = contiguous_strides(sizes)
        output = output._replace(strides=(first, 1, *(stride * sizes[1] for stride in strides)))
    return allocate(output, self.device.type)


def _check(sizes: Sequence[int], counts: Sequence[int]) -> None:
    if len(sizes) != len(counts) + 2 or min(sizes[1:], default=0) <= 0:
        raise RuntimeError(
            f"Non-empty {len(counts) + 2}D data tensor expected but got a tensor with sizes {list(sizes)}"
        )
    if min(counts) <= 0:
        given, wanted = (", ".join(map("{}: {}".format, "DHW"[-len(counts) :], n)) for n in (sizes[2:], counts))
        raise RuntimeError(
            f"Input and output sizes should be greater than 0, but got input ({given}) output ({wanted})"
        )


def upsample(mode: str, self: Tensor, counts: Sequence[int], align_corners: bool, scales: Sequence) -> Tensor:
    """(batch, channels, *sizes) as (batch, channels, *counts), the last dimension first. Images of bytes are rounded to bytes after
    each dimension."""
    _check(self.shape, counts)
    nearest, antialias = mode.startswith("nearest"), mode in FILTERS
    is_real = self.dtype.is_floating_point and not (antialias and self.dtype in REDUCED_FLOATING)
    if not (is_real or self.dtype is uint8 and (nearest or len(counts) == 2)):
        kind = "nearest" if nearest else "cubic" if mode == "bicubic" else "linear"
        name = "compute_index_ranges_weights" if antialias else f"compute_indices_weights_{kind}"
        raise NotImplementedError(f"\"{name}\" not implemented for '{self.dtype.type_name}'")
    of_bytes = self.dtype is uint8 and not nearest
    out = _output(self, (*self.shape[:2], *counts))
    if not out.is_meta:
        array = self._array.astype(np.float64 if of_bytes else widened(self.dtype).numpy, copy=False)
        for dim, (count, scale) in reversed([*enumerate(zip(counts, scales), 2)]):
            parts = taps(mode, array.shape[dim], count, align_corners, scale, array.dtype)
            if of_bytes:
                array = resized_bytes(array, dim, matrix_of(parts, array.shape[dim], array.dtype))
                continue
            shape = [-1 if d == dim else 1 for d in range(array.ndim)]
            weighted = (array.take(at, dim) * weight.reshape(shape).astype(array.dtype) for at, weight in parts)
            array = array.take(parts[0][0], dim) if len(parts) == 1 else sum(weighted)
        out._array[...] = array
    return out


def upsample_backward(mode: str, grad: Tensor, sizes: Sequence[int], align_corners: bool, scales) -> Tensor:
    """Each element of the input gets the gradients of the positions that read it."""
    out = _output(grad, sizes)
    if not out.is_meta:
        array = grad._array.astype(widened(grad.dtype).numpy, copy=False)
        for dim, (size, scale) in enumerate(zip(sizes[2:], scales), 2):
            matrix = matrix_of(taps(mode, size, array.shape[dim], align_corners, scale, array.dtype), size, array.dtype)
            array = np.moveaxis(np.moveaxis(array, dim, -1) @ matrix, -1, dim)
        out._array[...] = array
    return out
