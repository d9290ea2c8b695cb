"""Padding: elements around a tensor, in some of its dimensions.

`pad` has two numbers for each dimension, before and after it, the last dimension first. A negative number removes elements. In
PyTorch: `aten/src/ATen/native/PadNd.cpp`.
"""

from __future__ import annotations

from collections.abc import Sequence

from rushlight.aten.generated import functions
from rushlight.aten.strided import Tensor, clone
from rushlight.c10.dtypes import Scalar
from rushlight.c10.memory_formats import suggest_memory_format


def pad(self: Tensor, pad: Sequence[int], mode: str = "constant", value: float | None = None) -> Tensor:
    """The tensor with `pad` more elements: a constant, by default 0, or with the mode "circular" those at the other end.
    Source: `aten/src/ATen/native/PadNd.cpp`, `pad_symint` and `_pad_enum_symint`."""
    if mode not in ("constant", "circular"):
        known = mode in ("reflect", "replicate")
        raise NotImplementedError(f"{'rushlight leaves out' if known else 'Unrecognised'} padding mode {mode}")
    if len(pad) % 2:
        raise RuntimeError("Padding length must be divisible by 2")
    if len(pad) > 2 * self.dim():
        least = "Padding length should be less than or equal to two times the input dimension"
        raise RuntimeError(f"{least} but got padding length {len(pad)} and input of dimension {self.dim()}")
    if mode == "constant":
        return functions.constant_pad_nd(self, pad, 0.0 if value is None else value)
    if value:
        raise RuntimeError(f'Padding mode "{mode}" doesn\'t take in value argument')
    if self.dim() - len(pad) // 2 not in (1, 2) or len(pad) not in (2, 4, 6):
        raise NotImplementedError("Only 2D, 3D, 4D, 5D padding with non-constant padding are supported for now")
    return functions._pad_circular(self, pad)


def _pairs(self: Tensor, pad: Sequence[int]) -> list[tuple[int, int, int]]:
    """The padded dimensions, each with the number of elements before and after it."""
    return [(self.dim() - 1 - i, pad[2 * i], pad[2 * i + 1]) for i in range(len(pad) // 2)]


def constant_pad_nd(self: Tensor, pad: Sequence[int], value: Scalar = 0) -> Tensor:
    """Source: `aten/src/ATen/native/PadNd.cpp`, `constant_pad_nd`."""
    if len(pad) % 2:
        raise RuntimeError(f"Length of pad must be even but instead it equals {len(pad)}")
    if len(pad) > 2 * self.dim():
        most = f"Pad length is {len(pad)} while the input has {self.dim()} dimensions."
        raise RuntimeError(f"Length of pad should be no more than twice the number of dimensions of the input. {most}")
    sizes, inner = list(self.shape), self
    for dim, before, after in _pairs(self, pad):
        sizes[dim] += before + after
        if sizes[dim] < 0:
            asked = f"The input size {self.size(dim)}, plus negative padding {before} and {after}"
            raise RuntimeError(f"{asked} resulted in a negative output size")
        start, end = max(-before, 0), max(-after, 0)
        inner = functions.narrow(inner, dim, start, inner.size(dim) - start - end)
    if max(pad, default=0) <= 0:
        return clone(inner)
    memory_format = suggest_memory_format(self.shape, self.stride())
    out = functions.empty(sizes, dtype=self.dtype, device=self.device, memory_format=memory_format).fill_(value)
    middle = out
    for dim, before, after in _pairs(self, pad):
        start, end = max(before, 0), max(after, 0)
        middle = functions.narrow(middle, dim, start, middle.size(dim) - start - end)
    middle.copy_(inner)
    return out


def _pad_circular(self: Tensor, pad: Sequence[int]) -> Tensor:
    """Around a tensor, its elements are repeated. Dimension by dimension, slices of the result are copied to its ends, so that
    the corners are right at last.
    Source: `aten/src/ATen/native/PadNd.cpp`, `_pad_circular_symint`."""
    sizes, pairs = list(self.shape), _pairs(self, pad)
    for dim, before, after in pairs:
        if max(before, after) > sizes[dim]:
            raise RuntimeError("Padding value causes wrapping around more than once.")
        sizes[dim] += before + after
        if sizes[dim] < 0:
            raise RuntimeError("Negative padding value is resulting in an empty dimension.")
    out = self.new_empty(sizes)
    middle, inner = out, self
    for dim, before, after in pairs:
        middle = functions.slice(middle, dim, max(before, 0), sizes[dim] - max(after, 0))
        inner = functions.slice(inner, dim, max(-before, 0), self.size(dim) - max(-after, 0))
    middle.copy_(inner)
    for dim, before, after in pairs:
        start, end = max(before, 0), sizes[dim] - max(after, 0)
        if before > 0:
            functions.slice(out, dim, 0, before).copy_(functions.slice(out, dim, end - before, end))
        if after > 0:
            functions.slice(out, dim, end, sizes[dim]).copy_(functions.slice(out, dim, start, start + after))
    return out
