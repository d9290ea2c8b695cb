"""Where tensors come from: sizes, Python numbers and lists, numpy arrays.

PyTorch's counterparts are `aten/src/ATen/native/TensorFactories.cpp` and, for what comes from Python,
`torch/csrc/utils/tensor_new.cpp` and `tensor_numpy.cpp`. Left out: devices, `requires_grad`, `out=`, random
tensors.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Sequence
from functools import reduce

import numpy as np

from rushlight.dtypes import (
    INTEGRAL,
    Scalar,
    dtype,
    from_numpy_dtype,
    get_default_dtype,
    int64,
    promote_types,
    scalar_type,
)
from rushlight.elementwise import convert
from rushlight.strided import (
    Tensor,
    UntypedStorage,
    alias,
    clone,
    contiguous_strides,
    empty_strided,
    int_list,
    preserve_format,
    storage_size,
    strides_for,
)

__all__ = [
    "tensor", "as_tensor", "from_numpy", "empty", "zeros", "ones", "full", "arange", "empty_like",
    "zeros_like", "ones_like",
]  # fmt: skip


def empty(*size, dtype: dtype | None = None) -> Tensor:
    """A contiguous tensor whose elements are whatever was in memory."""
    sizes = int_list(size)
    return empty_strided(sizes, contiguous_strides(sizes), dtype)


def zeros(*size, dtype: dtype | None = None) -> Tensor:
    return empty(*size, dtype=dtype).zero_()


def ones(*size, dtype: dtype | None = None) -> Tensor:
    return empty(*size, dtype=dtype).fill_(1)


def full(size: Sequence[int], fill_value: Scalar, *, dtype: dtype | None = None) -> Tensor:
    """A tensor of one value, which also decides the dtype."""
    return empty(size, dtype=dtype or scalar_type(fill_value)).fill_(fill_value)


def empty_like(input: Tensor, *, dtype: dtype | None = None, memory_format=preserve_format) -> Tensor:
    """An uninitialised tensor with the sizes and, unless told otherwise, the dtype and strides of `input`."""
    return empty_strided(input.shape, strides_for(input, memory_format), dtype or input.dtype)


def zeros_like(input: Tensor, *, dtype: dtype | None = None, memory_format=preserve_format) -> Tensor:
    return empty_like(input, dtype=dtype, memory_format=memory_format).zero_()


def ones_like(input: Tensor, *, dtype: dtype | None = None, memory_format=preserve_format) -> Tensor:
    return empty_like(input, dtype=dtype, memory_format=memory_format).fill_(1)


def arange(start: Scalar, end: Scalar | None = None, step: Scalar = 1, *, dtype: dtype | None = None) -> Tensor:
    """`start`, `start + step`, ... below `end`; `arange(end)` starts at 0."""
    if end is None:
        start, end = 0, start
    if step == 0:
        raise RuntimeError("step must be nonzero")
    if (end - start) * step < 0:
        raise RuntimeError("upper bound and lower bound inconsistent with step sign")
    if dtype is None:
        whole = all(scalar_type(number).category <= INTEGRAL for number in (start, end, step))
        dtype = int64 if whole else get_default_dtype()
    if dtype.category <= INTEGRAL:
        start, end, step = int(start), int(end), int(step)
    out = empty(math.ceil((end - start) / step), dtype=dtype)
    out._array[...] = start + np.arange(out.numel()) * step
    return out


# ------------------------------------------------------------------------------------------------------------
# From Python numbers and lists


def tensor(data, *, dtype: dtype | None = None) -> Tensor:
    """A new tensor with a copy of `data`: a number, nested sequences of numbers, a numpy array, or a tensor.

    The sizes are read off the first element of each level; the dtype is what all numbers promote to.

    Raises:
        ValueError: a list is longer or shorter than the first one of its level.
        TypeError: a number where a list should be, or the other way round.
        RuntimeError: a number does not fit the dtype, or something is no number.

    Source: `torch/csrc/utils/tensor_new.cpp`, `internal_new_from_data`.
    """
    if isinstance(data, np.ndarray):
        data = _share(data)
    if isinstance(data, Tensor):
        return clone(data) if dtype in (None, data.dtype) else data.to(dtype)
    sizes, first = [], data
    while _is_sequence(first):
        sizes.append(len(first))
        first = first[0] if len(first) else None
    dtype = dtype or _infer_dtype(data)
    numbers = [] if 0 in sizes else [convert(number, dtype) for number in _numbers(data, sizes, 0)]
    flat = empty(len(numbers), dtype=dtype)
    flat._array[...] = numbers
    return alias(flat, sizes, contiguous_strides(sizes), 0)


def as_tensor(data, *, dtype: dtype | None = None) -> Tensor:
    """Like `tensor`, but without a copy where memory can be shared."""
    data = from_numpy(data) if isinstance(data, np.ndarray) else data
    return data.to(dtype or data.dtype) if isinstance(data, Tensor) else tensor(data, dtype=dtype)


def _is_sequence(data) -> bool:
    if isinstance(data, (np.ndarray, Tensor)):
        return data.ndim > 0
    return isinstance(data, Sequence) and not isinstance(data, (str, bytes))


def _infer_dtype(data) -> dtype:
    if _is_sequence(data) and not isinstance(data, (np.ndarray, Tensor)):
        return reduce(promote_types, map(_infer_dtype, data)) if len(data) else get_default_dtype()
    if isinstance(data, (np.ndarray, np.generic)):
        return from_numpy_dtype(data.dtype)
    if isinstance(data, str):
        raise TypeError("a tensor holds numbers, not 'str'")
    if not isinstance(data, (Tensor, bool, int, float)):
        raise RuntimeError(f"Could not infer dtype of {type(data).__name__}; a tensor holds numbers")
    return data.dtype if isinstance(data, Tensor) else scalar_type(data)


def _numbers(data, sizes: Sequence[int], dim: int) -> Iterator[Scalar]:
    """The numbers in `data` in row-major order, while checking that it is as regular as `sizes` says."""
    if dim == len(sizes):
        if _is_sequence(data):
            raise TypeError(f"expected a number at dim {dim}, as before, but got a {type(data).__name__}")
        yield data.item() if isinstance(data, Tensor) else data
        return
    if not _is_sequence(data):
        raise TypeError(f"not a sequence: expected one of length {sizes[dim]} at dim {dim}, but got {data!r}")
    if len(data) != sizes[dim]:
        raise ValueError(f"expected sequence of length {sizes[dim]} at dim {dim} (got {len(data)})")
    for item in data:
        yield from _numbers(item, sizes, dim + 1)


# ------------------------------------------------------------------------------------------------------------
# From numpy


def from_numpy(array: np.ndarray) -> Tensor:
    """A tensor on the memory of a numpy array, with its sizes and strides. The array is kept alive.

    Raises:
        TypeError: not an array, or of a dtype that there is not.
        ValueError: negative strides, strides that are no multiple of the itemsize, or a foreign byte order.

    Source: `torch/csrc/utils/tensor_numpy.cpp`, `tensor_from_numpy`.
    """
    if not isinstance(array, np.ndarray):
        raise TypeError(f"expected np.ndarray (got {type(array).__name__})")
    if not array.flags.writeable:
        warnings.warn("The array is not writable, but the tensor on its memory is; .copy() it first", stacklevel=2)
    return _share(array)


def _share(array: np.ndarray) -> Tensor:
    if any(stride < 0 for stride in array.strides):
        raise ValueError("tensors with negative strides are not supported; make a copy of the array with .copy()")
    if any(stride % array.itemsize for stride in array.strides):
        raise ValueError("the strides of the array are no multiple of its itemsize; make a copy of it with .copy()")
    if not array.dtype.isnative:
        raise ValueError("the array has a foreign byte order; convert it with .astype(array.dtype.newbyteorder('='))")
    dtype = from_numpy_dtype(array.dtype)
    strides = [stride // array.itemsize for stride in array.strides]
    nbytes = storage_size(array.shape, strides) * array.itemsize
    storage = UntypedStorage.from_address(array.ctypes.data, nbytes, owner=array)
    return Tensor(storage, array.shape, strides, 0, dtype)
