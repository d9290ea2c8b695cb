"""Composite kernels that arrange whole tensors: next to each other, on top of each other, repeated, as a grid.

In PyTorch: `aten/src/ATen/native/TensorShape.cpp` (`hstack`, `meshgrid`), `TensorTransformations.cpp` (`atleast_1d`),
`Repeat.cpp`.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from rushlight.aten.generated import functions
from rushlight.aten.native.creation import from_numpy
from rushlight.aten.strided import Tensor, wrap_dim
from rushlight.c10.dtypes import int32, int64
from rushlight.c10.exception import warn_once
from rushlight.c10.memory_formats import contiguous_format, memory_format, suggest_memory_format

# At least so many dimensions -----------------------------------------------------------------------------------------


def suggested(self: Tensor) -> memory_format:
    """The memory format that a result takes from `self`: `channels_last` or `contiguous_format`."""
    return suggest_memory_format(self._sizes, self._strides)


def copies(views: Any) -> Any:
    """A copy of a view, or of each of several views."""
    if isinstance(views, (list, tuple)):
        return [copies(view) for view in views]
    return functions.clone(views, memory_format=contiguous_format)


def pixel_shuffle(self: Tensor, upscale_factor: int) -> Tensor:
    """Channels as more pixels: each group of `upscale_factor` squared becomes a square.
    Source: `aten/src/ATen/native/PixelShuffle.cpp`, `pixel_shuffle_cpu`."""
    _check_pixels("pixel_shuffle", "upscale_factor", self, upscale_factor)
    area, channels = upscale_factor**2, self.size(-3)
    if area >= 2**63:
        raise ValueError(f"upscale factor is too large, (upscale_factor)^2 overflowed: upscale_factor={upscale_factor}")
    if channels % area:
        sizes = f"input.size(-3)={channels} is not divisible by {area}"
        rule = "its input's 'channel' dimension to be divisible by the square of upscale_factor"
        raise RuntimeError(f"pixel_shuffle expects {rule}, but {sizes}")
    squares = self.unflatten(-3, (channels // area, upscale_factor, upscale_factor)).movedim((-4, -3), (-3, -1))
    return squares.flatten(-4, -3).flatten(-2, -1).clone(memory_format=suggested(self))


def pixel_unshuffle(self: Tensor, downscale_factor: int) -> Tensor:
    """The inverse of `pixel_shuffle`. Source: `aten/src/ATen/native/PixelShuffle.cpp`."""
    _check_pixels("pixel_unshuffle", "downscale_factor", self, downscale_factor)
    for dim, name in ((-2, "height"), (-1, "width")):
        if self.size(dim) % downscale_factor:
            sizes = f"input.size({dim})={self.size(dim)} is not divisible by {downscale_factor}"
            raise RuntimeError(f"pixel_unshuffle expects {name} to be divisible by downscale_factor, but {sizes}")
    if not self.numel() and not self.is_meta:
        return self.clone()  # with the sizes of the input, as in PyTorch
    height, width = (size // downscale_factor for size in self.shape[-2:])
    squares = self.unflatten(-1, (width, downscale_factor)).unflatten(-3, (height, downscale_factor))
    return squares.movedim((-3, -1), (-4, -3)).flatten(-5, -3).clone(memory_format=suggested(self))


def channel_shuffle(self: Tensor, groups: int) -> Tensor:
    """The channels of (batch, channels, \\*), those of each group after one another, as all first ones, all second ones, …
    Source: `aten/src/ATen/native/ChanelShuffle.cpp`, `channel_shuffle`."""
    if self.dim() <= 2:
        raise RuntimeError(f"channel_shuffle expects input with > 2 dims, but got input with sizes {list(self.shape)}")
    if groups <= 0:
        raise RuntimeError(f"Number of groups to divide channels in must be positive. Value of groups:{groups}")
    if self.size(1) % groups:
        given = f"Got {self.size(1)} channels and {groups} groups."
        raise RuntimeError(f"Number of channels must be divisible by groups. {given}")
    grouped = self.unflatten(1, (groups, self.size(1) // groups)).transpose(1, 2)
    return grouped.flatten(1, 2).contiguous(memory_format=suggested(self))


def _check_pixels(name: str, factor_name: str, self: Tensor, factor: int) -> None:
    if self.dim() < 3:
        given = f"input with {self.dim()} dimension(s)"
        raise RuntimeError(f"{name} expects input to have at least 3 dimensions, but got {given}")
    if factor <= 0:
        raise RuntimeError(f"{name} expects a positive {factor_name}, but got {factor}")


def atleast_1d(self: Tensor) -> Tensor:
    return self if self.dim() else self.reshape(1)


def atleast_2d(self: Tensor) -> Tensor:
    """A vector becomes a row."""
    return self.reshape(1, 1) if not self.dim() else self.unsqueeze(0) if self.dim() == 1 else self


def atleast_3d(self: Tensor) -> Tensor:
    """A vector becomes the row of a matrix, a matrix a stack of columns: (1, n, 1) and (n, m, 1)."""
    if self.dim() < 2:
        return self.unsqueeze(0).unsqueeze(-1) if self.dim() else self.reshape(1, 1, 1)
    return self.unsqueeze(-1) if self.dim() == 2 else self


# Stacks --------------------------------------------------------------------------------------------------------------


def stacked(name: str, at_least: Callable[[Tensor], Tensor], dim: int) -> Callable[..., Tensor]:
    """The kernel that joins tensors along a dimension, or along the last one that they have."""

    def stack(tensors: Sequence[Tensor], out: Tensor | None = None) -> Tensor:
        if not tensors:
            raise RuntimeError(f"{name} expects a non-empty TensorList")
        parts = [at_least(tensor) for tensor in tensors]
        return functions.cat(parts, min(dim, parts[0].dim() - 1), out=out)

    return stack


def column(self: Tensor) -> Tensor:
    """A tensor with less than two dimensions as a column of shape (numel, 1), as `column_stack` needs it. Other tensors
    stay as they are."""
    return self.reshape(self.numel(), 1) if self.dim() < 2 else self


hstack, vstack = stacked("hstack", atleast_1d, 1), stacked("vstack", atleast_2d, 0)
dstack, column_stack = stacked("dstack", atleast_3d, 2), stacked("column_stack", column, 1)

# Grids ---------------------------------------------------------------------------------------------------------------


def meshgrid(tensors: Sequence[Tensor]) -> tuple[Tensor, ...]:
    problem = "torch.meshgrid: in an upcoming release, it will be required to pass the indexing argument."
    warn_once(problem)
    return meshgrid_indexing(tensors, "ij")


def meshgrid_indexing(tensors: Sequence[Tensor], indexing: str) -> tuple[Tensor, ...]:
    """For each vector, a view of the sizes of all of them. In the i-th view, the i-th dimension has the elements of the i-th
    vector. With `indexing="xy"`, the first two dimensions are exchanged.
    Source: `aten/src/ATen/native/TensorShape.cpp`, `meshgrid`."""
    if not tensors:
        raise RuntimeError("meshgrid expects a non-empty TensorList")
    if len({tensor.dtype for tensor in tensors}) > 1:
        raise RuntimeError("torch.meshgrid expects all tensors to have the same dtype")
    if len({tensor.device.type for tensor in tensors}) > 1:
        raise RuntimeError("torch.meshgrid expects all tensors to have the same device")
    if indexing not in ("ij", "xy"):
        raise RuntimeError(f'torch.meshgrid: indexing must be one of "xy" or "ij", but received: {indexing}')
    tensors, is_xy = [*tensors], indexing == "xy" and len(tensors) > 1
    if is_xy:
        tensors[:2] = tensors[1::-1]
    for tensor in tensors:
        if tensor.dim() > 1:
            raise RuntimeError(f"torch.meshgrid: Expected 0D or 1D tensor in the tensor list but got: {tensor}")
    sizes, grids = [tensor.numel() for tensor in tensors], []
    for dim, tensor in enumerate(tensors):
        grids.append(tensor.view([-1 if d == dim else 1 for d in range(len(tensors))]).expand(sizes))
    if is_xy:
        grids[:2] = grids[1::-1]
    return tuple(grids)


# Repeated elements ---------------------------------------------------------------------------------------------------


def repeat_interleave(repeats: Tensor, output_size: int | None = None) -> Tensor:
    """The index of each element, as often as the element says: (1, 0, 2) gives (0, 2, 2).
    Source: `aten/src/ATen/native/Repeat.cpp`, `repeat_interleave_common`."""
    if repeats.dim() != 1:
        raise RuntimeError("repeat_interleave only accept 1D vector as repeat")
    if repeats.dtype not in (int32, int64):
        raise NotImplementedError(f"\"repeat_interleave_cpu\" not implemented for '{repeats.dtype.type_name}'")
    times = repeats._array
    if (times < 0).any():
        raise RuntimeError("repeats can not be negative")
    if output_size is not None and times.size and times.sum() != output_size:
        raise RuntimeError("allocated size does not match required size")
    return from_numpy(np.repeat(np.arange(times.size, dtype=times.dtype), times.astype(np.intp, copy=False)))


def repeat_interleave_tensor(self: Tensor, repeats: Tensor, dim: int | None, output_size: int | None) -> Tensor:
    """Each slice along `dim` as often as `repeats` says. Without `dim`, the elements of the flattened tensor.
    Source: `aten/src/ATen/native/Repeat.cpp`, `repeat_interleave_symint`."""
    if dim is None:
        self, dim = self.flatten(), 0
    size = self.size(dim)
    if repeats.dim() > 1:
        raise RuntimeError("repeats must be 0-dim or 1-dim tensor")
    if repeats.numel() == 1 or repeats.dim() == 0:
        repeats = repeats.reshape(1).expand(size)
    elif repeats.size(0) != size:
        given = f"repeats.size(0) = {repeats.size(0)} and input.size({dim}) = {size}"
        raise RuntimeError(f"repeats must have the same size as input along dim, but got {given}")
    return self.index_select(dim, functions.repeat_interleave_Tensor_op(repeats, output_size=output_size))


def repeat_interleave_int(self: Tensor, repeats: int, dim: int | None, output_size: int | None) -> Tensor:
    """Each slice along `dim` so often. Source: `aten/src/ATen/native/Repeat.cpp`, `repeat_interleave_symint`."""
    dims = self.dim()
    if dim is None:
        self, dim = self.flatten(), 0
    dim = wrap_dim(dim, dims)
    if repeats < 0:
        raise RuntimeError("Repeats must be non-negative")
    sizes = [*self.shape]
    if output_size not in (None, repeats * sizes[dim]):
        expected = f"expected {repeats * sizes[dim]} but got {output_size}"
        raise RuntimeError(f"repeat_interleave: Invalid output_size, {expected}")
    sizes.insert(dim + 1, repeats)
    copies = self.unsqueeze(dim + 1).expand(sizes)
    return functions.clone(copies, memory_format=contiguous_format).flatten(dim, dim + 1)


# Diagonals, pieces and products --------------------------------------------------------------------------------------


def diag_embed(self: Tensor, offset: int, dim1: int, dim2: int) -> Tensor:
    """A matrix of zeros with each row as its diagonal, in two new dimensions."""
    size, ndim = self.size(-1) + abs(offset), self.dim() + 1
    dims = sorted(wrap_dim(dim, ndim) for dim in (dim1, dim2))
    if dims[0] == dims[1]:
        raise RuntimeError(f"diagonal dimensions cannot be identical {dim1}, {dim2}")
    sizes = [*self.shape[:-1]]
    for dim in dims:
        sizes.insert(dim, size)
    out = self.new_zeros(sizes)
    out.diagonal(offset, dim1, dim2).copy_(self)
    return out


def tensor_split(self: Tensor, parts: int | Sequence[int], dim: int) -> tuple[Tensor, ...]:
    """So many pieces of almost equal sizes, or pieces between these indices. Source: `TensorShape.cpp`, `tensor_split`."""
    if not self.dim():
        raise RuntimeError("tensor_split expected at least a 1-dimensional tensor, but got a tensor with 0 dims")
    length = self.size(dim)
    if isinstance(parts, int):
        if parts <= 0:
            raise RuntimeError(f"number of sections must be larger than 0, got {parts}")
        parts = [i * (length // parts) + min(i, length % parts) for i in range(1, parts)]
    return tuple(functions.slice(self, dim, start, end) for start, end in zip([0, *parts], [*parts, length]))


def split_along(self: Tensor, parts: int | Sequence[int], name: str) -> tuple[Tensor, ...]:
    """`hsplit`, `vsplit` and `dsplit`: pieces of equal sizes, or between indices, along columns, rows or the third dimension.
    Source: `TensorShape.cpp`, `hsplit`."""
    least = "hvd".index(name[0]) + 1
    if self.dim() < least:
        got = f"but got a tensor with {self.dim()} dimensions!"
        raise RuntimeError(f"torch.{name} requires a tensor with at least {least} dimension, {got}")
    dim = {"hsplit": min(self.dim() - 1, 1), "vsplit": 0, "dsplit": 2}[name]
    if isinstance(parts, int) and (parts < 1 or self.size(dim) % parts):
        size = f"the size of the dimension {self.size(dim)} is not divisible by the split_size {parts}!"
        raise RuntimeError(f"torch.{name} attempted to split along dimension {dim}, but {size}")
    return functions.tensor_split(self, parts, dim)
