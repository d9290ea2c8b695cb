"""PyTorch's other views, made from those of `strided.py` or by the same kind of arithmetic.

In PyTorch: `aten/src/ATen/native/TensorShape.cpp`. Left out: views of the real or imaginary part.

Composite views (`CompositeImplicitAutograd`) call other operators through the dispatcher, so that autograd and modes
record these operators. The other views compute the metadata directly.
"""

import math
from collections.abc import Callable, Sequence
from enum import IntEnum
from itertools import accumulate
from operator import index
from typing import Any

import numpy as np

from rushlight.aten import strided
from rushlight.aten.generated import functions
from rushlight.aten.iterator import cached
from rushlight.aten.strided import META, Size, Tensor, plain_alias, size_of, wrap_dim
from rushlight.c10 import dispatch
from rushlight.c10.dispatch import BIT, PYTHON, TENSOR_KEYS, local
from rushlight.c10.dtypes import INTEGRAL, dtype
from rushlight.c10.exception import warn_once
from rushlight.c10.fast_paths import Cache, fast_form_of, fastest
from rushlight.c10.memory_formats import contiguous_format
from rushlight.library import _registered, is_overridden, through_table

__all__ = ["broadcast_shapes"]


def alias(self: Tensor) -> Tensor:
    """A new view with the same metadata."""
    view = plain_alias(self, self._sizes, self._strides, self._storage_offset)
    view._has_plain_strides = self._has_plain_strides
    if not self._key_set & META:
        view._array = self._array
    return view


def planned(kernel: Callable, operators: tuple[str, ...] = (), key_of: Callable[..., tuple] | None = None) -> Callable:
    """The fast form of the kernel of a view, or of several views, with a plan: for the same sizes, strides and arguments, the
    metadata of a view are the same, and its storage offset is as much further.

    Args:
        operators: which a composite kernel calls. If nothing records these calls, the fast form leaves them out.
        key_of: returns numpy's key for the elements. Then a view of a base has its array already, because numpy indexes fast.
    """
    plans = Cache("aten")

    @fast_form_of(kernel)
    def view(self: Tensor, *args: int | tuple[int, ...]) -> Any:
        for arg in args:
            if arg.__class__ is not int and arg.__class__ is not tuple:  # 1.0 has the hash of 1, and a list has none
                return kernel(self, *args)
        if operators and not runs_unseen(operators, self):
            return kernel(self, *args)
        key = self._sizes, self._strides, args
        plan = plans.get(key)
        if plan is None:
            result = kernel(self, *args)
            views = result if result.__class__ is tuple else (result,)
            if all(view is not self and view._storage is self._storage for view in views):
                pieces = [(view._sizes, view._strides, view._storage_offset - self._storage_offset) for view in views]
                plans.add(key, pieces if views is result else (*pieces[0], key_of and key_of(self, *args)))
            return result
        start = self._storage_offset
        if plan.__class__ is list:
            views = tuple([plain_alias(self, sizes, strides, start + further) for sizes, strides, further in plan])
            return tuple([as_view(self, view) for view in views]) if operators else views
        sizes, strides, further, elements = plan
        view = plain_alias(self, sizes, strides, start + further)
        if elements is not None and self._base is None and not self._key_set & META:
            try:  # noqa: SIM105 - `suppress` is slow
                view._array = self._array[elements]
            except ValueError:  # the storage was made smaller than `self`
                pass
        return as_view(self, view) if operators else view

    return view


view = planned(strided.view)
"""The same elements with other sizes, without a copy: `strided.view` with a plan for each geometry (see `planned`).
Source: `aten/src/ATen/native/TensorShape.cpp`, `view`."""
expand = planned(strided.expand)
"""Dimensions of size 1 with other sizes, by a stride of 0: `strided.expand` with a plan for each geometry (see `planned`).
Source: `aten/src/ATen/native/TensorShape.cpp`, `expand`."""
transpose = planned(strided.transpose)
"""Two dimensions exchanged, with their strides: `strided.transpose` with a plan for each geometry (see `planned`).
Source: `aten/src/ATen/native/TensorShape.cpp`, `transpose`."""
_reshape = planned(strided.reshape)
planned(strided.permute)
planned(strided.unsqueeze)


def _key_of_slice(self: Tensor, dim: int = 0, start: int | None = None, end: int | None = None, step: int = 1) -> tuple:
    return *[slice(None)] * wrap_dim(dim, self.dim()), slice(start, end, step)


slice_ = planned(strided.slice, key_of=_key_of_slice)
"""Every `step`-th index of a dimension, from `start` up to `end`: `strided.slice` with a plan for each geometry (see `planned`).
numpy makes the array of the view from a slice. Source: `aten/src/ATen/native/TensorShape.cpp`, `slice`."""


def is_watched(self: Tensor) -> bool:
    """Whether autograd, a mode, a `__torch_dispatch__` or a profiler sees the operators that a composite kernel calls.
    Source: `aten/src/ATen/TensorSubclassLikeUtils.h`, `isTensorSubclassLike`."""
    return bool(local.modes or self._key_set & PYTHON) or self.requires_grad or dispatch.observer is not None


CPU_TENSOR = TENSOR_KEYS["cpu"]


def runs_unseen(operators: tuple[str, ...], *tensors: Tensor | None) -> bool:
    """Whether a composite kernel may compute with the arrays of these tensors and leave out the calls of some operators. It may
    if nothing records these calls: autograd, a mode, a profiler, a kernel of a `Library`, or another key of a tensor."""
    if local.grad_enabled or local.modes or dispatch.observer is not None:
        return False
    for tensor in tensors:
        if tensor is None or tensor._key_set != CPU_TENSOR:
            return False
    return not _registered or not is_overridden(*operators)  # without a call if there is no `Library`


class CreationMeta(IntEnum):
    """How a view was made. A graph can represent an in-place write only to a view with `DEFAULT`.
    Source: `torch/csrc/autograd/variable.h`, `CreationMeta`."""

    DEFAULT = 0
    IN_CUSTOM_FUNCTION = 1
    MULTI_OUTPUT_NODE = 2  # by a call that returned several views
    NO_GRAD_MODE = 3
    INFERENCE_MODE = 4


DEFAULT, NO_GRAD_MODE, INFERENCE_MODE = CreationMeta.DEFAULT, CreationMeta.NO_GRAD_MODE, CreationMeta.INFERENCE_MODE
AD_INPLACE_OR_VIEW = BIT["ADInplaceOrView"]


def as_view(base: Tensor, view: Tensor, creation_meta: CreationMeta = DEFAULT) -> Tensor:
    """Record the base of a view: `base`, or, if `base` is a view itself, its base. A tensor on other memory and an inference
    tensor are not views. With `DEFAULT`, the creation meta of a view is that of `base`; that of inference mode always stays.
    Source: `torch/csrc/autograd/VariableTypeUtils.h`, `as_view`; `variable.h`, `propagate_creation_meta`."""
    storage = view._storage
    if view is not base and storage is base._storage and view._key_set & AD_INPLACE_OR_VIEW:
        view._base = base if base._base is None else base._base
        view._view_version = storage.version
        if not local.grad_enabled or local.inference:
            creation_meta = INFERENCE_MODE if local.inference else NO_GRAD_MODE
        before = base._creation_meta
        if before and (not creation_meta or before is INFERENCE_MODE):
            creation_meta = before
        if creation_meta:
            view._creation_meta = creation_meta
    return view


def call_view(self: Tensor, sizes: tuple[int, ...]) -> Tensor:
    """`self.view(sizes)`, without the search for the overload."""
    return functions.view_op.table[(self._key_set | local.included) & ~local.excluded](self, sizes)


def reshape(self: Tensor, shape: Sequence[int]) -> Tensor:
    """`strided.reshape`. If autograd or a mode records, `reshape` calls the operators that it is composed of.
    Source: `aten/src/ATen/native/TensorShape.cpp`, `reshape_symint`."""
    if not is_watched(self):
        return as_view(self, _reshape(self, tuple(shape)))
    sizes, strides = _reshaped(self._sizes, self._strides, tuple(shape))
    if strides is not None:
        whole = self._has_plain_strides or local.modes or self._key_set & PYTHON or self.is_contiguous()
        return call_view(self, tuple(shape)) if whole else functions._reshape_alias(self, sizes, strides)
    return functions._unsafe_view(functions.clone(self, memory_format=contiguous_format), sizes)


@cached
def _reshaped(sizes: tuple[int, ...], strides: tuple[int, ...], shape: tuple[int, ...]) -> tuple[Size, Any]:
    """The sizes that `shape` means, and the strides of a view with them, if there is one."""
    wanted = size_of(strided.infer_view_size(shape, math.prod(sizes)))
    return wanted, strided.compute_stride(sizes, strides, wanted)


def t(self: Tensor) -> Tensor:
    """The transpose of a matrix. A tensor with fewer dimensions stays as it is."""
    if len(self._sizes) == 2:
        (rows, columns), (down, across) = self._sizes, self._strides
        view = plain_alias(self, size_of((columns, rows)), (across, down), self._storage_offset)
        if not self._key_set & META:
            view._array = self._array.T
        return view
    if self.dim() > 2:
        raise RuntimeError(f"t() expects a tensor with <= 2 dimensions, but self is {self.dim()}D")
    return alias(self)


def view_dtype(self: Tensor, dtype: dtype) -> Tensor:
    """The same bytes as elements of another type. If its size in bytes differs, the last size does too.
    Source: `aten/src/ATen/native/TensorConversions.cpp`, `view_dtype`."""
    sizes, strides, offset = [*self._sizes], [*self._strides], self._storage_offset
    old, new = self.dtype.itemsize, dtype.itemsize
    if old != new:
        to_view = f"to view {self.dtype.type_name} as {dtype.type_name} (different element sizes)"
        if not sizes:
            raise RuntimeError(f"self.dim() cannot be 0 {to_view}")
        if strides[-1] != 1:
            raise RuntimeError(f"self.stride(-1) must be 1 {to_view}, but got {strides[-1]}")
        ratio = max(old, new) // min(old, new)
        parts = {"self.size(-1)": sizes[-1], "self.storage_offset()": offset}
        parts |= {f"self.stride({dim})": stride for dim, stride in enumerate(strides[:-1])}
        for part, value in parts.items():
            if new > old and value % ratio:
                raise RuntimeError(f"{part} must be divisible by {ratio} {to_view}, but got {value}")
        sizes[-1], offset = sizes[-1] * old // new, offset * old // new
        strides[:-1] = [stride * old // new for stride in strides[:-1]]
    view = plain_alias(self, size_of(sizes), tuple(strides), offset)
    view.dtype = dtype
    return view


def movedim(self: Tensor, source: int | Sequence[int], destination: int | Sequence[int]) -> Tensor:
    """Dimensions moved from `source` to `destination`. The others keep their order."""
    source, destination = _dims(source), _dims(destination)
    if len(source) != len(destination):
        dims = f"source ({list(source)} dims) should contain the same number of dims as"
        raise RuntimeError(
            f"movedim: Invalid source or destination dims: {dims} destination ({list(destination)} dims)"
        )
    source = [wrap_dim(dim, self.dim()) for dim in source]
    destination = [wrap_dim(dim, self.dim()) for dim in destination]
    for name, dims in ("source", source), ("destination", destination):
        if len(set(dims)) < len(dims):
            raise RuntimeError(f"movedim: repeated dim in `{name}` ({dims})")
    if not self.dim():
        return functions.alias(self)
    order = [dim for dim in range(self.dim()) if dim not in source]
    for to, dim in sorted(zip(destination, source)):
        order.insert(to, dim)
    return functions.permute(self, order)


def _dims(dims: int | Sequence[int]) -> Sequence[int]:
    return dims if isinstance(dims, Sequence) else [dims]


def narrow_tensor(self: Tensor, dim: int, start: Tensor, length: int) -> Tensor:
    if start.dim() or start.dtype.category != INTEGRAL:
        raise RuntimeError("start must be an 0-dim integral Tensor.")
    return functions.narrow(self, dim, int(start.item()), length)


def narrow(self: Tensor, dim: int, start: int, length: int) -> Tensor:
    """`length` indices of a dimension, beginning at `start`, which may be negative.

    Raises:
        IndexError: `dim` or `start` is out of range.
        RuntimeError: the tensor has no dimensions; `length` is negative; the indices go beyond the end. `slice` cuts them off.
    """
    if self.dim() == 0:
        raise RuntimeError("narrow() cannot be applied to a 0-dim tensor.")
    if length < 0:
        raise RuntimeError("narrow(): length must be non-negative.")
    size = self.size(dim)
    if not -size <= start <= size:
        raise IndexError(f"start out of range (expected to be in range of [{-size}, {size}], but got {start})")
    start = start + size if start < 0 else start
    if start + length > size:
        raise RuntimeError(f"start ({start}) + length ({length}) exceeds dimension size ({size}).")
    return functions.slice(self, dim, start, start + length)


def squeeze(self: Tensor, dim: int | Sequence[int] | None = None) -> Tensor:
    """A view without the dimensions of size 1: all of them, or those in `dim`."""
    dims = set()
    for d in range(self.dim()) if dim is None else _dims(dim):
        d = wrap_dim(d, self.dim())
        if d in dims:
            raise RuntimeError(f"dim {d} appears multiple times in the list of dims")
        dims.add(d)
    kept = [d for d in range(self.dim()) if d not in dims or self.size(d) != 1]
    return strided.alias(self, [self.size(d) for d in kept], [self.stride(d) for d in kept], self.storage_offset())


planned(squeeze)


def flatten(self: Tensor, start_dim: int = 0, end_dim: int = -1) -> Tensor:
    """The dimensions from `start_dim` to `end_dim` as one: a view if possible, else a copy."""
    sizes = tuple(self._sizes)
    start_dim, end_dim = wrap_dim(start_dim, len(sizes)), wrap_dim(end_dim, len(sizes))
    if start_dim > end_dim:
        raise RuntimeError("flatten() has invalid args: start_dim cannot come after end_dim")
    if start_dim == end_dim and sizes:
        return self
    joined = math.prod(sizes[start_dim : end_dim + 1])
    return functions.reshape(self, (*sizes[:start_dim], joined, *sizes[end_dim + 1 :]))


planned(flatten, ("aten::reshape", "aten::view"))


def unflatten(self: Tensor, dim: int, sizes: Sequence[int]) -> Tensor:
    """One dimension as several, with these sizes. One of them may be -1."""
    if not sizes:
        raise RuntimeError("unflatten: sizes must be non-empty")
    sizes = _unflattened(self._sizes, dim, tuple(map(index, sizes)))
    return call_view(self, sizes)


@cached
def _unflattened(before: Size, dim: int, sizes: tuple[int, ...]) -> tuple[int, ...]:
    dim = wrap_dim(dim, len(before))
    if not before:
        raise RuntimeError("unflatten: the tensor has no dimensions")
    return *before[:dim], *strided.infer_view_size(sizes, before[dim]), *before[dim + 1 :]


planned(unflatten, ("aten::view",))


def unfold(self: Tensor, dimension: int, size: int, step: int) -> Tensor:
    """All windows of `size` neighbours along a dimension, `step` apart. The window becomes the last
    dimension.

    Windows that overlap share their elements, like the windows of a convolution.
    """
    dim = wrap_dim(dimension, self.dim())
    length, stride = (self.size(dim), self.stride(dim)) if self.dim() else (1, 1)
    if size < 0:
        raise RuntimeError(f"size is {size} but must be >= 0")
    if size > length:
        raise RuntimeError(f"maximum size for tensor at dimension {dim} is {length} but size is {size}")
    if step <= 0:
        raise RuntimeError(f"step is {step} but must be > 0")
    sizes, strides = [*self.shape, size], [*self.stride(), stride]
    if self.dim():
        sizes[dim], strides[dim] = (length - size) // step + 1, stride * step
    return strided.alias(self, sizes, strides, self.storage_offset())


def diagonal(self: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
    """The elements at (i, i + offset) of two dimensions, in a new last dimension."""
    d1, d2 = wrap_dim(dim1, self.dim()), wrap_dim(dim2, self.dim())
    if d1 == d2:
        raise RuntimeError(f"diagonal dimensions cannot be identical {dim1}, {dim2}")
    rows, columns = self.size(d1) + min(offset, 0), self.size(d2) - max(offset, 0)
    size = max(min(rows, columns), 0)
    storage_offset = self.storage_offset()
    if size:  # an empty diagonal keeps the offset
        storage_offset += offset * self.stride(d2) if offset >= 0 else -offset * self.stride(d1)
    kept = [d for d in range(self.dim()) if d not in (d1, d2)]
    sizes = [self.size(d) for d in kept] + [size]
    strides = [self.stride(d) for d in kept] + [self.stride(d1) + self.stride(d2)]
    return strided.alias(self, sizes, strides, storage_offset)


planned(diagonal)


def split(self: Tensor, split_size: int, dim: int = 0) -> tuple[Tensor, ...]:
    """Pieces of `split_size` along a dimension. The last piece may be smaller."""
    if self.dim() == 0:
        raise RuntimeError("split expects at least a 1-dimensional tensor")
    if split_size < 0 or split_size == 0 < self.size(dim):
        raise RuntimeError(f"split expects a positive split_size, but got {split_size}")
    length = self.size(dim)
    starts = range(0, length, split_size) if length else [0]
    return _pieces(self, dim, [(start, min(start + split_size, length)) for start in starts])


planned(split)


def split_with_sizes(self: Tensor, split_sizes: Sequence[int], dim: int = 0) -> tuple[Tensor, ...]:
    """Pieces of these sizes along a dimension."""
    if self.dim() == 0:
        raise RuntimeError("split expects at least a 1-dimensional tensor")
    if min(split_sizes, default=0) < 0 or sum(split_sizes) != self.size(dim):
        raise RuntimeError(f"split expects sizes >= 0 that sum to {self.size(dim)}, but got {list(split_sizes)}")
    ends = list(accumulate(split_sizes))
    return _pieces(self, dim, [(end - size, end) for size, end in zip(split_sizes, ends)])


def _pieces(self: Tensor, dim: int, limits: Sequence[tuple[int, int]]) -> tuple[Tensor, ...]:
    """The slices from one limit to the other, which are known to be in range."""
    return tuple([slice_(self, dim, start, end) for start, end in limits])


def chunk(self: Tensor, chunks: int, dim: int = 0) -> tuple[Tensor, ...]:
    """At most `chunks` equal pieces along a dimension. The last piece may be smaller."""
    if self.dim() == 0:
        raise RuntimeError("chunk expects at least a 1-dimensional tensor")
    if chunks <= 0:
        raise RuntimeError(f"chunk expects `chunks` to be greater than 0, got: {chunks}")
    length = self.size(dim)
    if length == 0:
        return functions.split_with_sizes(self, [0] * chunks, dim)
    return through_table(functions.split_Tensor_op, (self, -(-length // chunks), dim))


planned(chunk, ("aten::split.Tensor", "aten::split_with_sizes"))


@cached
def _without(sizes: Size, strides: tuple[int, ...], dim: int) -> tuple[Size, tuple[int, ...], int, int]:
    """The sizes and strides without one dimension, and the size and the stride of that dimension."""
    left, apart = [*sizes], [*strides]
    size, step = left.pop(dim), apart.pop(dim)
    return size_of(left), tuple(apart), size, step


@fast_form_of(strided.select)
def select(self: Tensor, dim: int, index: int) -> Tensor:
    """`strided.select` with cached sizes and strides. If `dim` is 0, the view has its array already."""
    if not -len(self._sizes) <= dim < len(self._sizes) or index.__class__ is not int:
        return strided.select(self, dim, index)
    sizes, strides, size, step = _without(self._sizes, self._strides, dim)
    if not -size <= index < size:
        return strided.select(self, dim, index)
    view = plain_alias(self, sizes, strides, self._storage_offset + index % size * step)
    if dim == 0 and not self.is_meta:
        view._array = self._array[index, ...]
    return view


def unbind(self: Tensor, dim: int = 0) -> tuple[Tensor, ...]:
    """One view for each index of a dimension."""
    select = fastest[strided.select]
    return tuple(select(self, dim, i) for i in range(self.size(dim)))


def broadcast_shapes(*shapes: int | Sequence[int]) -> Size:
    """The sizes to which tensors of these shapes broadcast."""
    for shape in shapes:
        if not isinstance(shape, (tuple, list, type(None))) and not hasattr(shape, "__index__"):
            raise RuntimeError(f"Input shapes should be of type ints, a tuple of ints, or a list of ints, got {shape}")
    given = [() if shape is None else tuple(Size(_dims(shape))) for shape in shapes]  # PyTorch skips a None
    sizes: tuple[int, ...] = (1,) * max(map(len, given), default=0)
    for number, shape in enumerate(given):
        for dim in range(-1, -len(shape) - 1, -1):
            if shape[dim] not in (1, sizes[dim]) and sizes[dim] != 1:
                fits = f"at index {number} had {shape}; but expected shape should be broadcastable to {list(sizes)}"
                raise RuntimeError(
                    f"Attempting to broadcast a dimension of length {shape[dim]} at {dim}! Mismatching argument {fits}"
                )
        if min(shape, default=0) < 0:
            raise ValueError(f"Attempting to broadcast a dimension with negative length! The shape is {shape}")
        sizes = strided.infer_size(sizes, shape)
    return size_of(sizes)


def broadcast_tensors(tensors: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """The tensors, expanded to the sizes to which they broadcast."""
    sizes: Sequence[int] = ()
    for tensor in tensors:
        sizes = strided.infer_size(sizes, tensor.shape)
    return tuple(tensor if tensor.shape == tuple(sizes) else tensor.expand(sizes) for tensor in tensors)


def numpy_T(self: Tensor) -> Tensor:
    """All dimensions in reverse order."""
    if self.dim() != 2:
        which = "other than 2 dimensions: use x.mT for batches of matrices" if self.dim() else "no dimensions"
        warn_once(f"`x.T` is deprecated for tensors with {which}")
    return functions.permute(self, tuple(range(self.dim()))[::-1])


def mT(self: Tensor) -> Tensor:
    """The last two dimensions exchanged: the transpose of every matrix in a batch."""
    if self.dim() == 1:
        raise RuntimeError("tensor.mT is only supported on matrices or batches of matrices. Got 1-D tensor.")
    if self.dim() == 0:
        warn_once("`x.mT` is deprecated for tensors without dimensions, which it returns unchanged")
        return self
    return functions.transpose(self, -2, -1)


# Derivatives that are operators of their own: elements outside the view get 0 ----------------------------------------


def embed_in_zeros(view: Callable) -> Callable:
    """The kernel of the derivative of a view: zeros of `input_sizes`, except the elements of the view, which are the gradient."""

    def backward(grad: Tensor, input_sizes: Sequence[int], *args: int) -> Tensor:
        out = zeros_for(grad, input_sizes)
        if not out.is_meta:
            view(out, *args)._array[...] = grad._array
        return out

    return backward


def zeros_for(grad: Tensor, sizes: Sequence[int]) -> Tensor:
    """A contiguous tensor of zeros with these sizes, and the dtype and device of `grad`. On the device `meta` it has no
    elements to fill."""
    out = strided.empty_strided(sizes, strided.contiguous_strides(sizes), grad.dtype, grad.device.type)
    if not out.is_meta:
        out._array.fill(0)
    return out


select_backward, slice_backward = embed_in_zeros(strided.select), embed_in_zeros(strided.slice)
diagonal_backward = embed_in_zeros(diagonal)


def unfold_backward(grad_in: Tensor, input_sizes: Sequence[int], dim: int, size: int, step: int) -> Tensor:
    """The gradient of an element: the sum over all windows that contain it. Source: `aten/src/ATen/native/UnfoldBackward.cpp`."""
    if size < 0:
        raise RuntimeError(f"size is {size} but must be >= 0")
    if step <= 0:
        raise ValueError(f"step is {step} but must be > 0")
    out = zeros_for(grad_in, input_sizes)
    if out.is_meta:
        return out
    for position in reversed(range(size)):  # PyTorch adds the windows of an element in their order
        grad = strided.select(grad_in, -1, position)
        end = position + (grad.size(dim) - 1) * step + 1 if grad.dim() else None
        target = strided.slice(out, dim, position, end, step) if grad.dim() else out
        np.add(target._array, grad._array, target._array)
    return out


# In-place views: the tensor itself becomes the view ------------------------------------------------------------------


def in_place(kernel: Callable) -> Callable:
    """The kernel that gives a tensor the sizes, strides and offset of a view of it, made by another kernel."""

    def become_view(self: Tensor, *args) -> Tensor:
        view = kernel(self, *args)
        self._sizes, self._strides, self._storage_offset = view.shape, view.stride(), view.storage_offset()
        self.forget_metadata()
        return self

    return become_view


as_strided_, squeeze_, t_ = in_place(strided.as_strided), in_place(squeeze), in_place(t)
transpose_, unsqueeze_ = in_place(strided.transpose), in_place(strided.unsqueeze)
