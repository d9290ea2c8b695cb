"""Resizing images: each dimension on its own is a product with a matrix that has few elements in a row.

`taps` gives for each position of the result the positions of the input that it reads, and their weights. In PyTorch:
`aten/src/ATen/native/UpSample.h`, `cpu/UpSampleKernel.cpp`. Left out: antialiasing.
"""

from collections.abc import Sequence

import numpy as np

from rushlight.aten.native.pointwise import widened
from rushlight.aten.strided import Tensor, contiguous_strides
from rushlight.aten.structured import allocate, output_like
from rushlight.c10.dtypes import uint8


def taps(mode: str, size: int, count: int, align_corners: bool, scale: float | None, dtype: np.dtype) -> list[tuple]:
    """Pairs (positions, weights) of arrays of `count` numbers. Source: `UpSample.h`, `area_pixel_compute_source_index`."""
    real = np.float32 if mode.startswith("nearest") else dtype.type
    step = real(1 / scale if scale else size / count)
    if align_corners:
        step = real((size - 1) / (count - 1)) if count > 1 else real(0)
    places = np.arange(count, dtype=real)
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
    a = real(-0.75)
    near, far = (lambda x: ((a + 2) * x - (a + 3)) * x * x + 1), (lambda x: ((a * x - 5 * a) * x + 8 * a) * x - 4 * a)
    weights = far(t + 1), near(t), near(1 - t), far(2 - t)
    return [((first + i - 1).clip(0, size - 1), weight) for i, weight in enumerate(weights)]


def _output(self: Tensor, sizes: Sequence[int]) -> Tensor:
    output = output_like(self, sizes)
    if len(sizes) == 5 and self.stride(1) == 1 < self.size(1):
        first, _, *strides = contiguous_strides(sizes)
        output = output._replace(strides=(first, 1, *(stride * sizes[1] for stride in strides)))
    return allocate(output, self.device.type)


def _check(sizes: Sequence[int], counts: Sequence[int]) -> None:
    if len(sizes) != len(counts) + 2 or min(sizes[1:], default=0) <= 0 or min(counts) <= 0:
        expected = "Input and output sizes should be greater than 0, and non-empty"
        raise RuntimeError(f"{expected}, but got input {list(sizes)} and output {list(counts)}")


def upsample(mode: str, self: Tensor, counts: Sequence[int], align_corners: bool, scales: Sequence) -> Tensor:
    """(batch, channels, *sizes) as (batch, channels, *counts). Images of bytes are rounded to bytes after each dimension, the last
    one first. Source: `cpu/UpSampleKernelAVXAntialias.h`, `upsample_avx_bilinear_bicubic_uint8`."""
    _check(self.shape, counts)
    nearest = mode.startswith("nearest")
    if not (self.dtype.is_floating_point or self.dtype is uint8 and (nearest or len(counts) == 2)):
        name = f"compute_indices_weights_{'nearest' if nearest else 'cubic' if mode == 'bicubic' else 'linear'}"
        raise NotImplementedError(f"\"{name}\" not implemented for '{self.dtype.type_name}'")
    of_bytes = self.dtype is uint8 and not nearest
    out = _output(self, (*self.shape[:2], *counts))
    if not out.is_meta:
        array = self._array.astype(np.float32 if of_bytes else widened(self.dtype).numpy, copy=False)
        for dim, (count, scale) in list(enumerate(zip(counts, scales), 2))[:: -1 if of_bytes else 1]:
            parts = taps(mode, array.shape[dim], count, align_corners, scale, array.dtype)
            shape = [-1 if d == dim else 1 for d in range(array.ndim)]
            weighted = (array.take(at, dim) * weight.reshape(shape).astype(array.dtype) for at, weight in parts)
            array = array.take(parts[0][0], dim) if len(parts) == 1 else sum(weighted)
            array = np.floor(array + 0.5).clip(0, 255) if of_bytes else array
        out._array[...] = array
    return out


def upsample_backward(mode: str, grad: Tensor, sizes: Sequence[int], align_corners: bool, scales) -> Tensor:
    """Each element of the input gets the gradients of the positions that read it."""
    out = _output(grad, sizes)
    if not out.is_meta:
        array = grad._array.astype(widened(grad.dtype).numpy, copy=False)
        for dim, (size, scale) in enumerate(zip(sizes[2:], scales), 2):
            count = array.shape[dim]
            matrix = np.zeros((count, size), array.dtype)
            for at, weight in taps(mode, size, count, align_corners, scale, array.dtype):
                np.add.at(matrix, (np.arange(count), at), weight)
            array = np.moveaxis(np.moveaxis(array, dim, -1) @ matrix, -1, dim)
        out._array[...] = array
    return out
