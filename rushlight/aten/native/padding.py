"""Padding: elements around a tensor, in some of its dimensions.

`pad` has two numbers for each dimension, before and after it, the last dimension first. A negative number removes elements. In
PyTorch: `aten/src/ATen/native/PadNd.cpp`, `ReflectionPad.cpp`, `ReplicationPadding.cpp`.
"""

from collections.abc import Callable, Sequence

import numpy as np

from rushlight.aten.generated import functions
from rushlight.aten.native.pointwise import copy_, fill_, widened
from rushlight.aten.strided import Tensor, clone
from rushlight.aten.structured import Output, Structured, output_like
from rushlight.c10.dtypes import Scalar, bool_
from rushlight.c10.memory_formats import suggest_memory_format


def pad(self: Tensor, pad: Sequence[int], mode: str = "constant", value: float | None = None) -> Tensor:
    """The tensor with `pad` more elements.

    They are `value`, by default 0, with the mode "constant". With the others they come from the tensor: "reflect" reads it
    backwards from its end, "replicate" repeats the last element, and "circular" continues at the other end. These modes pad one to
    three dimensions, and there are one or two before them.

    Source: `aten/src/ATen/native/PadNd.cpp`, `pad_symint` and `_pad_enum_symint`.
    """
    if mode not in ("constant", "reflect", "replicate", "circular"):
        raise NotImplementedError(f"Unrecognised padding mode {mode}")
    if len(pad) % 2:
        raise RuntimeError("Padding length must be divisible by 2")
    if len(pad) > 2 * self.dim():
        least = "Padding length should be less than or equal to two times the input dimension"
        raise RuntimeError(f"{least} but got padding length {len(pad)} and input of dimension {self.dim()}")
    if mode == "constant":
        return functions.constant_pad_nd(self, pad, 0.0 if value is None else value)
    if value:
        raise RuntimeError(f'Padding mode "{mode}" doesn\'t take in value argument')
    ndim = len(pad) // 2
    if ndim not in (1, 2, 3) or self.dim() - ndim not in (1, 2):
        supported = "\n  - ".join(
            f"{n + 1}D or {n + 2}D input: padding size = {2 * n} (pads last {f'{n} dimensions' if n > 1 else 'dimension'})"
            for n in (1, 2, 3)
        )
        raise NotImplementedError(
            f"Padding size {len(pad)} is not supported for {self.dim()}D input tensor.\n"
            f"Supported combinations for non-constant padding:\n  - {supported}"
        )
    names = {"reflect": f"reflection_pad{ndim}d", "replicate": f"replication_pad{ndim}d", "circular": "_pad_circular"}
    return getattr(functions, names[mode])(self, pad)


def _pairs(self: Tensor, pad: Sequence[int]) -> list[tuple[int, int, int]]:
    """The padded dimensions, each with the number of elements before and after it."""
    return [(self.dim() - 1 - i, pad[2 * i], pad[2 * i + 1]) for i in range(len(pad) // 2)]


def constant_pad_nd(self: Tensor, pad: Sequence[int], value: Scalar = 0) -> Tensor:
    """Pad the last dimensions with one value. Negative padding cuts off elements.
    Source: `aten/src/ATen/native/PadNd.cpp`, `constant_pad_nd`."""
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
    out = fill_(functions.empty(sizes, dtype=self.dtype, device=self.device, memory_format=memory_format), value)
    middle = out
    for dim, before, after in _pairs(self, pad):
        start, end = max(before, 0), max(after, 0)
        middle = functions.narrow(middle, dim, start, middle.size(dim) - start - end)
    copy_(middle, inner)
    return out


# Elements of the tensor itself ---------------------------------------------------------------------------------------


def _gathered(name: str, ndim: int, index: Callable) -> tuple[Structured, Structured]:
    """The kernels of an operator that pads with elements of the tensor, and of its backward. `index(size, before, after)` says for
    each index of a padded dimension which element it has.
    Source: `aten/src/ATen/native/cpu/PaddingKernel.cpp`."""

    def output(self: Tensor, sizes: Sequence[int]) -> Output:
        return output_like(self, sizes) if ndim == 2 else Output(sizes, None, self.dtype)

    def padded_sizes(self: Tensor, padding: Sequence[int]) -> list[int]:
        if self.dim() - ndim not in (1, 2) or 0 in self.shape[-ndim - 1 :]:
            expected = f"Expected {ndim + 1}D or {ndim + 2}D (batch mode) tensor with possibly 0 batch size"
            raise RuntimeError(f"{expected} and other non-zero dimensions for input, but got: {list(self.shape)}")
        sizes = list(self.shape)
        for dim, before, after in _pairs(self, padding):
            if index is _reflected and max(before, after) >= self.size(dim):
                least = "Padding size should be less than the corresponding input dimension"
                raise RuntimeError(f"{least}, but got: padding ({before}, {after}) at dimension {dim} of {sizes}")
            sizes[dim] += before + after
        if max(sizes[-ndim:]) < 1:
            raise RuntimeError(f"input {list(self.shape)} is too small. Calculated output: {sizes}")
        return sizes

    def elements(self: Tensor, padding: Sequence[int]) -> tuple:
        indices = [index(self.size(dim), before, after) for dim, before, after in _pairs(self, padding)]
        return (..., *np.ix_(*reversed(indices)))

    def meta(self: Tensor, padding: Sequence[int]) -> Output:
        if self.dtype is bool_:
            raise NotImplementedError(f"{name} is not implemented for 'Bool'")
        return output(self, padded_sizes(self, padding))

    def impl(self: Tensor, padding: Sequence[int], out: Tensor) -> None:
        out._array[...] = self._array[elements(self, padding)]

    def backward_meta(grad_output: Tensor, self: Tensor, padding: Sequence[int]) -> Output:
        sizes = padded_sizes(self, padding)
        if list(grad_output.shape) != sizes:
            raise RuntimeError(f"grad_output has sizes {list(grad_output.shape)}, expected {sizes}")
        return output(self, self.shape)

    def backward(grad_output: Tensor, self: Tensor, padding: Sequence[int], out: Tensor) -> None:
        total = np.zeros(self.shape, widened(self.dtype).numpy)
        np.add.at(total, elements(self, padding), grad_output._array)
        out._array[...] = total

    return Structured(meta, impl), Structured(backward_meta, backward)


def _reflected(size: int, before: int, after: int) -> np.ndarray:
    """3 2 1 | 0 1 2 3 | 2 1 0. Source: `aten/src/ATen/native/cpu/PaddingKernel.cpp`, `ReflectionPad`."""
    index = np.abs(np.arange(-before, size + after))
    return np.where(index < size, index, 2 * (size - 1) - index)


def _replicated(size: int, before: int, after: int) -> np.ndarray:
    """0 0 0 | 0 1 2 3 | 3 3 3. Source: `aten/src/ATen/native/cpu/PaddingKernel.cpp`, `ReplicationPad`."""
    return np.arange(-before, size + after).clip(0, size - 1)


reflection_pad1d, reflection_pad1d_backward = _gathered("reflection_pad1d", 1, _reflected)
reflection_pad2d, reflection_pad2d_backward = _gathered("reflection_pad2d", 2, _reflected)
reflection_pad3d, reflection_pad3d_backward = _gathered("reflection_pad3d", 3, _reflected)
replication_pad1d, replication_pad1d_backward = _gathered("replication_pad1d", 1, _replicated)
replication_pad2d, replication_pad2d_backward = _gathered("replication_pad2d", 2, _replicated)
replication_pad3d, replication_pad3d_backward = _gathered("replication_pad3d", 3, _replicated)


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
