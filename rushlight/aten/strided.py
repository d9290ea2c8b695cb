"""The strided tensor: a block of memory and the metadata to index it.

The memory is an `UntypedStorage`, a flat block of bytes. The metadata are `sizes`, `strides`, `storage_offset` and
`dtype`, as in PyTorch's `c10/core/TensorImpl.h`. Operations that change only the metadata return *views*, as in
`aten/src/ATen/native/TensorShape.cpp`. This module has the metadata, the few views that all others are made from
(`views.py`), broadcasting, and the copies for cases that no view can express.

Strides and offsets count elements, not bytes. Left out: other devices, other layouts (sparse, MKL-DNN), named
and symbolic dimensions, and resizing in place.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import lru_cache
from importlib import import_module
from operator import index
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from rushlight.c10 import fast_paths, memory_formats
from rushlight.c10.dispatch import BIT, PYTHON, call, local, operators, replacing
from rushlight.c10.dtypes import INT64_MAX, Scalar, bfloat16, dtype, float32, float64, get_default_dtype
from rushlight.c10.exception import warn_once
from rushlight.c10.memory_formats import channels_last, contiguous_format, is_channels_last, memory_format
from rushlight.c10.storage import Size, UntypedStorage, device, layout, lazy, size_of, strided_layout

if TYPE_CHECKING:  # the types of the attributes and methods that a tensor gets from other modules
    from rushlight.aten.generated.tensor_base import TensorBase
else:
    TensorBase = object

__all__ = ["Tensor"]

META = BIT["Meta"]
NO_DATA = META | PYTHON
BLAS_DTYPES = (float32, float64)

# Arithmetic on sizes and strides -------------------------------------------------------------------------------------


def contiguous_strides(sizes: Sequence[int]) -> tuple[int, ...]:
    """Row-major strides of a tensor with these `sizes`, in elements.

    The last dimension has stride 1. Each other one has the stride of the dimension after it times that
    dimension's size. A size 0 counts as 1 in this product, as in PyTorch, so that strides stay positive.
    `sizes` is a list or a tuple.

        >>> contiguous_strides((2, 3, 4))
        (12, 4, 1)

    Returns:
        a tuple or a list, one stride per size; `()` for no sizes.

    Source: `c10/util/strides.h`, `contiguous_strides`.
    """
    strides, step = [], 1
    for size in reversed(sizes):
        strides.append(step)
        step *= max(size, 1)
    return tuple(reversed(strides))


def element_offset(index: Sequence[int], strides: Sequence[int], storage_offset: int) -> int:
    """Position in the storage, counted in elements, of the element at a multi-index.

        >>> element_offset((1, 2), strides=(3, 1), storage_offset=10)
        15

    Args:
        index: a list or a tuple, one non-negative int per dimension, within the sizes (not checked).
        strides: a list or a tuple, one int per dimension: how many elements one step moves.
        storage_offset: the position of the element whose indices are all 0.

    Source: `torch/headeronly/core/TensorAccessor.h`, `TensorAccessor::operator[]`, one call per dimension.
    """
    offset = storage_offset
    for i, stride in zip(index, strides):
        offset += i * stride
    return offset


def is_contiguous(sizes: Sequence[int], strides: Sequence[int]) -> bool:
    """Whether the elements, in row-major order, have consecutive positions in memory.

    This is true if each dimension, from the last to the first, has the stride that `contiguous_strides` would
    give it. The stride of a dimension of size 1 is never used and may be anything. A tensor without elements
    is contiguous. `sizes` and `strides` are lists or tuples of the same length.

        >>> is_contiguous((2, 3), (3, 1)), is_contiguous((2, 3), (1, 2))
        (True, False)

    Source: `c10/core/Contiguity.h`, `_compute_contiguous`.
    """
    if 0 in sizes:
        return True
    expected = 1
    for size, stride in zip(reversed(sizes), reversed(strides)):
        if size == 1:
            continue
        if stride != expected:
            return False
        expected *= size
    return True


def non_overlapping_and_dense(sizes: Sequence[int], strides: Sequence[int]) -> bool:
    """Whether the elements fill a block of memory, each position once, in any order of the dimensions.
    Source: `c10/core/Contiguity.h`, `_compute_non_overlapping_and_dense`."""
    slowest_first = sorted(((stride, size) for size, stride in zip(sizes, strides) if size != 1), reverse=True)
    return is_contiguous([size for _, size in slowest_first], [stride for stride, _ in slowest_first])


def has_internal_overlap(sizes: Sequence[int], strides: Sequence[int]) -> bool:
    """Whether two indices are known to name the same position in memory, so that in-place writes must raise an error.

    PyTorch uses a cheap test rather than the exact one. A tensor that is `non_overlapping_and_dense` has no
    overlap (this includes every empty tensor). Any other tensor has an overlap if some dimension of size greater
    than 1 has stride 0. All remaining tensors are too hard to decide and count as without overlap, although
    there may be one (`unfold`). `sizes` and `strides` are lists or tuples of the same length.

        >>> has_internal_overlap((2, 3), (0, 1)), has_internal_overlap((2, 3), (4, 1))
        (True, False)

    Source: `aten/src/ATen/MemoryOverlap.cpp`, `has_internal_overlap`; true here means `MemOverlap::Yes`.
    """
    if non_overlapping_and_dense(sizes, strides):
        return False
    return any(size > 1 and stride == 0 for size, stride in zip(sizes, strides))


def storage_size(sizes: Sequence[int], strides: Sequence[int], storage_offset: int = 0) -> int:
    """The number of elements that a storage needs for this tensor: up to its last element, or 0 if it has none.
    Source: `aten/src/ATen/EmptyTensor.cpp`, `computeStorageNbytes`."""
    if 0 in sizes:
        return 0
    return element_offset([size - 1 for size in sizes], strides, storage_offset) + 1


def wrap_dim(dim: int, ndim: int) -> int:
    """`dim` counted from the front: -1 is the last of `ndim`. With no dimensions, 0 and -1 still give 0.
    Source: `c10/core/WrapDimMinimal.h`, `maybe_wrap_dim`."""
    ndim = max(ndim, 1)
    if not -ndim <= dim < ndim:
        raise IndexError(f"Dimension out of range (expected to be in range of [{-ndim}, {ndim - 1}], but got {dim})")
    return dim + ndim if dim < 0 else dim


@lru_cache(4096)
def _in_bytes(strides: tuple[int, ...], step: int) -> tuple[int, ...]:
    return tuple([stride * step for stride in strides])


def int_list(args: tuple, name: str = "", named: dict | None = None) -> tuple[int, ...]:
    """The ints of `f(2, 3)`, of `f((2, 3))` or, if `name` is "size", of `f(size=(2, 3))`."""
    if named:
        if args or set(named) != {name}:
            unexpected = ", ".join(sorted(set(named) - {name})) or f"{name} twice"
            raise TypeError(f"got an unexpected keyword argument: {unexpected}")
        args = (named[name],)
    if not args:
        raise TypeError("the sizes or dims are missing; write () for none")
    if len(args) == 1 and isinstance(args[0], (tuple, list, Sequence)):  # the check for tuple or list is fast
        args = args[0]
    return tuple(map(index, args))


# The tensor ----------------------------------------------------------------------------------------------------------


class Tensor(TensorBase):
    """A strided view of a storage.

    The element at index `(i, j, ...)` is at `storage_offset + i * strides[0] + j * strides[1] + ...`,
    counted in elements of `dtype` from the start of `storage`. The constructor checks nothing. `as_strided`
    checks its arguments.

    Source: `c10/core/TensorImpl.h`.
    """

    def __new__(cls, *args, **options) -> Tensor:
        """`Tensor(storage, sizes, strides, storage_offset, dtype)`. Other arguments are those of PyTorch's constructor, which the
        `__new__` of a subclass may call too."""
        self = object.__new__(cls)
        if len(args) != 5 or not isinstance(args[0], UntypedStorage):
            self._base_tensor_ctor(*args, **options)
        return self

    def __init__(self, *args, **options) -> None:
        if len(args) != 5 or not isinstance(args[0], UntypedStorage):  # PyTorch's constructor has made it
            return
        storage, sizes, strides, storage_offset, dtype = args
        self._storage = storage
        self._sizes = size_of(map(index, sizes))
        self._strides = tuple(map(index, strides))
        self._storage_offset = index(storage_offset)
        self.dtype = dtype
        self._key_set = local.tensor_keys[storage.device_type]

    @lazy
    def _array(self) -> np.ndarray:
        """This tensor as a numpy array on the same memory. Kernels compute with it."""
        if self._key_set & PYTHON and not self._storage.nbytes() and self.numel():
            raise RuntimeError("Cannot access data pointer of Tensor that doesn't have storage")
        sizes, step = tuple(self._sizes), self.dtype.itemsize  # numpy reads a plain tuple faster
        if 0 in sizes:  # numpy requires even an empty array to be within its buffer
            return np.empty(sizes, self.dtype.numpy)
        strides, offset = _in_bytes(self._strides, step), self._storage_offset * step
        try:
            return np.ndarray(sizes, self.dtype.numpy, self._storage._buffer, offset, strides)
        except ValueError:
            if len(strides) > 64:
                raise NotImplementedError("rushlight leaves out computing with more than 64 dimensions") from None
            # The stride of a dimension of size 1 is never used. It may be a number that is too large for numpy.
            strides = tuple([stride if size > 1 else 0 for size, stride in zip(sizes, strides)])
            return np.ndarray(sizes, self.dtype.numpy, self._storage._buffer, offset, strides)

    @lazy
    def _has_plain_strides(self) -> bool:
        """Whether the strides are those of a new tensor of these sizes."""
        return self._strides == plain_strides(self._sizes)

    def forget_metadata(self) -> None:
        """Clear cached values after an in-place change of sizes, strides or storage."""
        self.__dict__.pop("_array", None)
        self.__dict__.pop("_has_plain_strides", None)

    def __getstate__(self) -> dict[str, Any]:
        """For copies and pickles: without `_array`, whose copy would not share memory with the storage."""
        return {key: value for key, value in self.__dict__.items() if key != "_array"}

    # Metadata

    @property
    def shape(self) -> Size:
        return self._sizes

    @property
    def ndim(self) -> int:
        return len(self._sizes)

    @property
    def itemsize(self) -> int:
        """Bytes per element. Source: `torch/csrc/autograd/python_variable.cpp`."""
        return self.dtype.itemsize

    @property
    def nbytes(self) -> int:
        """Bytes of all elements. A position in memory counts once for each index that names it.
        Source: `torch/csrc/autograd/python_variable.cpp`."""
        return self.numel() * self.itemsize

    @property
    def device(self) -> device:
        return device(self._storage.device_type)

    @property
    def is_meta(self) -> bool:
        return bool(self._key_set & META)

    @property
    def layout(self) -> layout:
        return strided_layout

    @overload
    def size(self, dim: None = None) -> Size: ...

    @overload
    def size(self, dim: int) -> int: ...

    def size(self, dim: int | None = None) -> Size | int:
        if dim is None:
            return self._sizes
        sizes = self._sizes
        if dim.__class__ is int and -len(sizes) <= dim < len(sizes):
            return tuple.__getitem__(sizes, dim)
        return sizes[self._existing_dim(dim)]

    @overload
    def stride(self, dim: None = None) -> tuple[int, ...]: ...

    @overload
    def stride(self, dim: int) -> int: ...

    def stride(self, dim: int | None = None) -> tuple[int, ...] | int:
        """Distance between neighbours in each dimension, or in `dim`, in elements."""
        return self._strides if dim is None else self._strides[self._existing_dim(dim)]

    def _existing_dim(self, dim: int) -> int:
        if not self._sizes:
            raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
        return wrap_dim(dim, self.ndim)

    def storage_offset(self) -> int:
        """Position of the first element in the storage, in elements."""
        return self._storage_offset

    def dim(self) -> int:
        return len(self._sizes)

    def numel(self) -> int:
        return math.prod(self._sizes)

    def element_size(self) -> int:
        return self.dtype.itemsize

    def untyped_storage(self) -> UntypedStorage:
        return self._storage

    def data_ptr(self) -> int:
        """Address of the first element; 0 if there is none."""
        if self.numel() == 0:
            return 0
        first = element_offset((0,) * self.ndim, self._strides, self._storage_offset)
        return self._storage.data_ptr() + first * self.itemsize

    def is_contiguous(self, memory_format: memory_format = contiguous_format) -> bool:
        """Whether the elements are in memory in the order of this format, without holes."""
        if memory_format is channels_last:
            return is_channels_last(self._sizes, self._strides)
        return is_contiguous(self._sizes, self._strides)

    # Conversion to Python and numpy

    __array_priority__ = 1000  # numpy's operators, such as `np.float32(2) * x`, leave the operation to the tensor

    def numpy(self, *, force: bool = False) -> np.ndarray:
        """A numpy array on the same memory. With `force` or in `no_grad`, also if the tensor requires grad.
        Source: `torch/csrc/utils/tensor_numpy.cpp`, `tensor_to_numpy`."""
        if self._key_set & NO_DATA:
            if self._key_set & PYTHON:
                raise RuntimeError(".numpy() is not supported for tensor subclasses.")
            raise TypeError("can't convert meta device type tensor to numpy: it has no data")
        if self.requires_grad and local.grad_enabled and not force:
            raise RuntimeError("Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.")
        if self.dtype is bfloat16:
            raise TypeError("Got unsupported ScalarType BFloat16")
        self._storage._resizable = False  # the array stays on this memory
        return self._array

    def __array__(self, dtype=None, copy: bool | None = None) -> np.ndarray:
        """For numpy's functions. Source: `torch/_tensor.py`."""
        return np.array(self.numpy(), dtype) if copy else np.asarray(self.numpy(), dtype)

    def tolist(self) -> list | Scalar:
        return self._array.tolist()

    def item(self) -> Scalar:
        """The only element, as a Python number."""
        if self._key_set & NO_DATA:
            if self._key_set & PYTHON:
                return call(operators["aten::_local_scalar_dense"], self)
            raise RuntimeError("Tensor.item() cannot be called on meta tensors")
        if self.numel() != 1:
            raise RuntimeError(f"a Tensor with {self.numel()} elements cannot be converted to Scalar")
        return self._array.item()

    def __len__(self) -> int:
        if not self._sizes:
            raise TypeError("len() of a 0-d tensor")
        return self._sizes[0]

    def __iter__(self):
        if not self._sizes:
            raise TypeError("iteration over a 0-d tensor")
        return iter(self.unbind(0))

    def __bool__(self) -> bool:
        if self.numel() != 1:
            values = "more than one value" if self.numel() else "no values"
            raise RuntimeError(f"Boolean value of Tensor with {values} is ambiguous")
        return bool(self.item())

    def __int__(self) -> int:
        return int(self._number())

    def __float__(self) -> float:
        if self.requires_grad:
            converting = "Converting a tensor with requires_grad=True to a scalar may lead to unexpected behavior."
            warn_once(f"{converting}\nConsider using tensor.detach() first.")
        return float(self._number())

    def __index__(self) -> int:
        if self.numel() != 1 or self.dtype.is_floating_point:
            raise TypeError("only integer tensors of a single element can be converted to an index")
        return int(self.item())

    def _number(self) -> Scalar:
        if self.numel() != 1:
            raise ValueError("only one element tensors can be converted to Python scalars")
        return self.item()


def add_attributes(**attributes: Any) -> None:
    """Give `Tensor` methods and properties that other modules define. Their types are in `generated/tensor_base.pyi`."""
    for name, attribute in attributes.items():
        setattr(Tensor, name, attribute)


def disabled_torch_function_impl(func: Callable, types: Sequence[type], args: tuple = (), kwargs: dict | None = None):
    """The `__torch_function__` of a subclass of Tensor whose operators return plain tensors.
    Source: `torch/csrc/utils/disable_torch_function.cpp`."""
    with replacing(local, torch_function_disabled=True):
        return func(*args, **(kwargs or {}))


def torch_function(
    cls: type[Tensor], func: Callable, types: Sequence[type], args: tuple = (), kwargs: dict | None = None
):
    """The `__torch_function__` that a subclass of Tensor inherits: the tensors among the results are of the subclass too.
    Source: `torch/_tensor.py`, `Tensor.__torch_function__`."""
    if not all(issubclass(cls, kind) for kind in types):
        return NotImplemented
    return _convert(disabled_torch_function_impl(func, types, args, kwargs), cls)


def _convert(result: Any, cls: type[Tensor]) -> Any:
    """Source: `torch/_tensor.py`, `_convert`."""
    if isinstance(result, Tensor):
        return result if isinstance(result, cls) else result.as_subclass(cls)
    if isinstance(result, (tuple, list)):
        converted = [_convert(item, cls) for item in result]
        return type(result)(*converted) if hasattr(result, "_fields") else type(result)(converted)
    return result


def adopt(self: Tensor, cls: Any) -> Tensor:
    """Make a tensor one of a subclass, whose `__torch_dispatch__` and `__torch_function__` get calls with it. From the first one
    with a `__torch_function__` on, the functions look for it among their arguments."""
    if not issubclass(cls, Tensor):
        problem = "Creating a Tensor subclass from a class that does not inherit from Tensor is not possible."
        raise TypeError(f"{problem} Make sure your class inherits from Tensor.")
    try:
        self.__class__ = cls
    except TypeError:  # it has slots
        attributes, self = self.__dict__, object.__new__(cls)
        self.__dict__.update(attributes)
    if cls.__torch_dispatch__ is not disabled_torch_function_impl:
        self._key_set |= PYTHON
    if cls is not Tensor and cls.__torch_function__ is not disabled_torch_function_impl:
        import_module("rushlight.fx.overrides").intercept_subclasses()
    return self


add_attributes(__torch_function__=classmethod(torch_function), __torch_dispatch__=disabled_torch_function_impl)


def wrap_like(array: np.ndarray, like: Tensor) -> Tensor:
    """A tensor on the memory of a new array that has the sizes and the dtype of `like`. Both are contiguous. The array may be
    a number, because numpy returns numbers for results without dimensions."""
    self = object.__new__(Tensor)
    self._array = array if array.__class__ is np.ndarray else np.asarray(array)
    self._storage = storage = UntypedStorage.__new__(UntypedStorage)  # `UntypedStorage.of`, without a call
    storage._buffer = self._array
    self._sizes, self._strides, self._storage_offset, self.dtype = like._sizes, like._strides, 0, like.dtype
    self._key_set, self._has_plain_strides = local.tensor_keys["cpu"], True
    return self


def wrap_contiguous(array: np.ndarray, dtype: dtype) -> Tensor:
    """A tensor on the memory of a new C-contiguous array of any sizes."""
    return wrap_plain(array, size_of(array.shape), dtype)


def wrap_plain(array: np.ndarray, sizes: Size, dtype: dtype) -> Tensor:
    """`wrap_contiguous` for an array whose sizes are known."""
    self = object.__new__(Tensor)
    self._array, self._storage = array, UntypedStorage.__new__(UntypedStorage)
    self._storage._buffer = array
    self._sizes, self._storage_offset, self.dtype = sizes, 0, dtype
    self._strides = plain_strides(sizes)
    self._key_set, self._has_plain_strides = local.tensor_keys["cpu"], True
    return self


@lru_cache(4096)  # the same sizes occur often
def plain_strides(sizes: Sequence[int]) -> tuple[int, ...]:
    """`contiguous_strides` as a tuple. Source: `c10/core/TensorImpl.h`, `TensorImpl::empty_tensor_restride`."""
    strides = tuple(contiguous_strides(sizes))
    if strides and strides[0] > INT64_MAX and 0 in sizes:  # without a 0, it is the storage that is too large
        raise RuntimeError("Stride calculation overflowed")
    return strides


fast_paths.cache_clearers.append(plain_strides.cache_clear)


def empty_strided(
    sizes: Sequence[int], strides: Sequence[int], dtype: dtype | None = None, device: str = "cpu"
) -> Tensor:
    """A tensor with its own, uninitialised memory, just large enough for these sizes and strides."""
    sizes, strides = tuple(map(index, sizes)), tuple(map(index, strides))
    if len(sizes) != len(strides):
        numbers = f"({len(sizes)}) must match dimensionality of strides ({len(strides)})"
        raise RuntimeError(f"dimensionality of sizes {numbers}")
    if min(sizes, default=0) < 0:
        raise RuntimeError(f"Trying to create tensor with negative dimension: {list(sizes)}")
    if min(strides, default=0) < 0:
        raise RuntimeError(f"negative strides are not supported: {list(strides)}")
    dtype = dtype or get_default_dtype()
    if device == "cpu" and 0 < math.prod(sizes) <= 65536 and len(sizes) <= 64 and strides == plain_strides(sizes):
        return wrap_plain(np.empty(sizes, dtype.numpy), size_of(sizes), dtype)
    self = object.__new__(Tensor)
    self.dtype = dtype
    self._storage = UntypedStorage(storage_size(sizes, strides) * self.dtype.itemsize, device)
    self._sizes, self._strides, self._storage_offset = size_of(sizes), strides, 0
    self._key_set = local.tensor_keys[device]
    return self


def empty_dense(sizes: Size, strides: tuple[int, ...], dtype: dtype) -> Tensor:
    """`empty_strided` for strides that leave no holes and do not overlap, and metadata that are known to be ints."""
    self = object.__new__(Tensor)
    self._storage = storage = UntypedStorage.__new__(UntypedStorage)
    storage._buffer = np.empty(math.prod(sizes), dtype.numpy)
    self._sizes, self._strides, self._storage_offset, self.dtype = sizes, strides, 0, dtype
    self._key_set = local.tensor_keys["cpu"]
    return self


def is_blas_matrix(self: Tensor) -> bool:
    """Whether its rows, or its columns, are in memory one after the other, in a dtype of the BLAS. numpy's `dot` gives these to it
    as `matmul` does, with fewer checks."""
    return self.dtype in BLAS_DTYPES and (self._has_plain_strides or self._strides == (1, self._sizes[0]))


def alias(self: Tensor, sizes: Sequence[int], strides: Sequence[int], storage_offset: int) -> Tensor:
    """A view: a tensor on the storage of `self`, with its dtype and these metadata, unchecked.
    Source: `aten/src/ATen/native/TensorShape.cpp`, `alias_with_sizes_and_strides`."""
    return plain_alias(self, size_of(map(index, sizes)), tuple(map(index, strides)), index(storage_offset))


def plain_alias(self: Tensor, sizes: Size, strides: tuple[int, ...], storage_offset: int) -> Tensor:
    """`alias` for metadata that are known to be ints."""
    view = object.__new__(Tensor)
    view._storage, view.dtype, view._key_set = self._storage, self.dtype, self._key_set
    view._sizes, view._strides, view._storage_offset = sizes, strides, storage_offset
    return view


# Views: the same storage, other metadata -----------------------------------------------------------------------------


def transpose(self: Tensor, dim0: int, dim1: int) -> Tensor:
    """A view with two dimensions exchanged: their sizes are swapped, and so are their strides. No element moves.

        >>> y = transpose(rl.zeros(2, 3, 4), 0, -1)
        >>> list(y.shape), y.stride()
        ([4, 3, 2], (1, 4, 12))

    Args:
        dim0, dim1: from -ndim to ndim - 1; negative ones count from the end (`wrap_dim`). They may be equal.
            A 0-dim tensor accepts 0 and -1, and the view of it has no dimensions either.

    Returns:
        a view (`alias`) with the same storage offset.

    Raises:
        IndexError: `dim0` or `dim1` out of range.

    Source: `aten/src/ATen/native/TensorShape.cpp`, `transpose`.
    """
    dim0, dim1 = wrap_dim(dim0, self.dim()), wrap_dim(dim1, self.dim())
    sizes, strides = list(self.shape), list(self.stride())
    if sizes:
        sizes[dim0], sizes[dim1] = sizes[dim1], sizes[dim0]
        strides[dim0], strides[dim1] = strides[dim1], strides[dim0]
    return alias(self, sizes, strides, self.storage_offset())


def permute(self: Tensor, dims: Sequence[int]) -> Tensor:
    """A view whose dimension `i` is dimension `dims[i]` of `self`, with that dimension's size and stride.

        >>> permute(rl.zeros(4, 6, 3), (2, 0, 1)).stride()
        (1, 18, 3)

    Args:
        dims: a list or a tuple with every dimension of `self` once; negative ones count from the end (`wrap_dim`). `()` for a 0-dim
            tensor.

    Returns:
        a view (`alias`) with the same storage offset.

    Raises:
        RuntimeError: `len(dims)` is not the number of dimensions (checked first), or a dimension appears twice.
        IndexError: a dimension is out of range. If `dims` has both errors, the first one from left to right is raised.

    Source: `aten/src/ATen/native/TensorShape.cpp`, `permute`.
    """
    if len(dims) != self.dim():
        raise RuntimeError(
            f"permute(): the tensor has {self.dim()} dimensions, but {len(dims)} were given: {list(dims)}"
        )
    order = []
    for dim in dims:
        dim = wrap_dim(dim, self.dim())
        if dim in order:
            raise RuntimeError("permute(): duplicate dims are not allowed.")
        order.append(dim)
    sizes = [self.size(dim) for dim in order]
    strides = [self.stride(dim) for dim in order]
    return alias(self, sizes, strides, self.storage_offset())


def select(self: Tensor, dim: int, index: int) -> Tensor:
    """A view of one index of a dimension. The dimension disappears.

    The storage offset grows by `index` strides of `dim`, in elements. The other sizes and strides stay.

        >>> select(rl.tensor([[0, 1, 2], [3, 4, 5]]), 1, -1).tolist()
        [2, 5]

    Args:
        dim: negative counts from the end (`wrap_dim`).
        index: from -size to size - 1 where size is the size of `dim`; negative counts from the end.

    Returns:
        a view (`alias`) with one dimension fewer.

    Raises:
        IndexError: `self` has no dimensions, or `dim` or `index` is out of range.

    Source: `aten/src/ATen/native/TensorShape.cpp`, `select`.
    """
    if self.dim() == 0:
        raise IndexError("select() cannot be applied to a 0-dim tensor; item() gives its number")
    dim = wrap_dim(dim, self.dim())
    sizes, strides = list(self.shape), list(self.stride())
    size, stride = sizes.pop(dim), strides.pop(dim)
    if not -size <= index < size:
        raise IndexError(
            f"select(): index {index} out of range for tensor of size {list(self.shape)} at dimension {dim}"
        )
    return alias(self, sizes, strides, self.storage_offset() + index % size * stride)


def slice(self: Tensor, dim: int = 0, start: int | None = None, end: int | None = None, step: int = 1) -> Tensor:
    """A view of the indices `start`, `start + step`, ... below `end` of a dimension.

    As in Python, `None` means from the beginning or to the end, and a negative `start` or `end` counts from
    the end. A value that is then still out of range is moved to the nearer limit: first `start` into 0 to size,
    then `end` into `start` to size. So `end` before `start` makes an empty dimension. The offset grows by
    `start` strides even then.

        >>> slice(rl.arange(6), 0, start=1, end=9, step=2).tolist()
        [1, 3, 5]

    Args:
        dim: negative counts from the end (`wrap_dim`).
        step: at least 1.

    Returns:
        a view (`alias`): `dim` has size (end - start) / step, rounded up, and its stride is multiplied by
        `step`.

    Raises:
        IndexError: `self` has no dimensions, or `dim` is out of range (checked first).
        RuntimeError: `step` is not positive.

    Source: `aten/src/ATen/native/TensorShape.cpp`, `slice`.
    """
    if self.dim() == 0:
        raise IndexError("slice() cannot be applied to a 0-dim tensor.")
    dim = wrap_dim(dim, self.dim())
    if step <= 0:
        raise RuntimeError("slice step must be positive")
    sizes, strides = list(self.shape), list(self.stride())
    size = sizes[dim]
    start = 0 if start is None else start + size if start < 0 else start
    end = size if end is None else end + size if end < 0 else end
    start = min(max(start, 0), size)
    end = min(max(end, start), size)
    storage_offset = self.storage_offset() + start * strides[dim]
    sizes[dim] = (end - start + step - 1) // step
    strides[dim] *= step
    return alias(self, sizes, strides, storage_offset)


def unsqueeze(self: Tensor, dim: int) -> Tensor:
    """A view with a new dimension of size 1 at position `dim`.

    The stride of a size-1 dimension is never used, but it has a value: the size times the stride of the
    dimension that now follows, or 1 at the end. So the strides of a contiguous tensor with elements still equal
    `contiguous_strides`.

        >>> y = unsqueeze(rl.zeros(3, 4), 1)
        >>> y.size(1), y.stride()
        (1, (4, 4, 1))

    Args:
        dim: from -(ndim + 1) to ndim; negative counts from the end of the *result* (`wrap_dim`).

    Returns:
        a view (`alias`) with one more dimension and the same storage offset.

    Raises:
        IndexError: `dim` out of range.

    Source: `aten/src/ATen/native/TensorShape.cpp`, `unsqueeze` and `inferUnsqueezeGeometry`.
    """
    dim = wrap_dim(dim, self.dim() + 1)
    sizes, strides = list(self.shape), list(self.stride())
    strides.insert(dim, sizes[dim] * strides[dim] if dim < self.dim() else 1)
    sizes.insert(dim, 1)
    return alias(self, sizes, strides, self.storage_offset())


def as_strided(self: Tensor, sizes: Sequence[int], strides: Sequence[int], storage_offset: int | None = None) -> Tensor:
    """A view with any sizes, strides and offset, as long as it stays inside the storage of `self`.

    The sizes and strides of `self` do not matter, only its storage, dtype and, by default, its storage
    offset.

        >>> as_strided(rl.arange(6), (4, 3), (1, 1)).tolist()
        [[0, 1, 2], [1, 2, 3], [2, 3, 4], [3, 4, 5]]

    Args:
        sizes, strides: lists or tuples of the same length; strides in elements.
        storage_offset: in elements; `None` for that of `self`.

    Returns:
        a view (`alias`).

    Raises:
        RuntimeError: `sizes` and `strides` differ in length; a size, a stride or the offset is negative; or
            the last element would be outside the storage (`storage_size` elements are needed, the storage has
            `untyped_storage().nbytes()` bytes). A tensor with no elements needs no storage.

    Source: `aten/src/ATen/native/TensorShape.cpp`, `as_strided_tensorimpl`; `aten/src/ATen/native/Resize.h`,
    `checkInBoundsForStorage`.
    """
    if len(sizes) != len(strides):
        raise RuntimeError(f"mismatch in length of strides ({len(strides)}) and shape ({len(sizes)})")
    if storage_offset is None:
        storage_offset = self.storage_offset()
    if min([*sizes, *strides, storage_offset]) < 0:
        raise RuntimeError(
            f"as_strided: negative sizes, strides and offsets are not supported, got sizes {list(sizes)}, "
            f"strides {list(strides)}, storage offset {storage_offset}"
        )
    needed, there = (
        storage_size(sizes, strides, storage_offset) * self.itemsize,
        self.untyped_storage().nbytes(),
    )
    if needed > there:
        raise RuntimeError(
            f"as_strided: sizes {list(sizes)}, strides {list(strides)}, storage offset {storage_offset} need "
            f"{needed} bytes, but the storage has {there}"
        )
    return alias(self, sizes, strides, storage_offset)


# Broadcasting: a dimension of size 1 fits any size -------------------------------------------------------------------


def infer_size(a: Sequence[int], b: Sequence[int]) -> tuple[int, ...]:
    """The sizes to which tensors with sizes `a` and `b` broadcast: each tensor is repeated until both have these sizes.

        >>> infer_size((2, 1), (4, 1, 3))
        (4, 2, 3)
        >>> infer_size((5, 3), ())
        (5, 3)

    Args:
        a, b: lists or tuples of non-negative ints, one per dimension; one may be longer than the other.

    Returns:
        a tuple or a list as long as the longer of `a` and `b`.

    Raises:
        RuntimeError: no repetition makes the sizes equal.

    Rules:
        The sizes are compared from the last dimension to the first. A missing dimension counts as 1. Two equal
        sizes stay. A size 1 becomes the other size, which may also be 0. If two sizes differ and neither is 1, it is an error.

    Source: `aten/src/ATen/ExpandUtils.cpp`, `infer_size`.
    """
    ndim = max(len(a), len(b))
    a_sizes, b_sizes = (1,) * (ndim - len(a)) + tuple(a), (1,) * (ndim - len(b)) + tuple(b)
    for dim, (size_a, size_b) in enumerate(zip(a_sizes, b_sizes)):
        if size_a != size_b and size_a != 1 and size_b != 1:
            raise RuntimeError(
                f"The size of tensor a ({size_a}) must match the size of tensor b ({size_b}) "
                f"at non-singleton dimension {dim}"
            )
    return tuple(size_b if size_a == 1 else size_a for size_a, size_b in zip(a_sizes, b_sizes))


def expand(self: Tensor, sizes: Sequence[int]) -> Tensor:
    """A view in which dimensions of size 1 are repeated, without copying, by giving them stride 0.

    The last size belongs to the last dimension of `self`, and so on. Additional sizes at the front make new
    dimensions.

        >>> y = expand(rl.tensor([10, 20]), (3, -1))
        >>> y.tolist(), y.stride()
        ([[10, 20], [10, 20], [10, 20]], (0, 1))
        >>> expand(rl.ones(3, 1), (1, 3, 1)).stride()
        (3, 1, 1)

    Args:
        sizes: a list or a tuple, at least as many as `self` has dimensions. -1 keeps the size of a dimension of `self`.

    Returns:
        a view (`alias`) with the same storage offset. All strides are torch's, also the unused one of a size of 1.

    Raises:
        RuntimeError: fewer sizes than dimensions; a dimension whose size is neither 1 nor the requested size;
            -1 for a new dimension; or any other negative size.

    Rules:
        A dimension that already has the requested size keeps its stride, also if this size is 1. A
        dimension of size 1 that gets another size has stride 0. A new dimension has stride 0, unless its requested
        size is 1. Then, similar to `unsqueeze`, its stride is the size times the stride of the next dimension of the
        result, and 0 if it is the last.

    Source: `aten/src/ATen/native/TensorShape.cpp`, `expand`; `aten/src/ATen/ExpandUtils.cpp`,
        `inferExpandGeometry`.
    """
    new_dims = len(sizes) - self.dim()
    if new_dims < 0:
        raise RuntimeError(f"expand: {list(sizes)} has fewer sizes than the tensor has dimensions ({self.dim()})")
    new_sizes, new_strides = list(sizes), [0] * len(sizes)
    for i in reversed(range(len(sizes))):
        if i >= new_dims:
            old_size, old_stride = self.size(i - new_dims), self.stride(i - new_dims)
            new_sizes[i] = old_size if sizes[i] == -1 else sizes[i]
        else:
            old_size, old_stride = 1, new_sizes[i + 1] * new_strides[i + 1] if i + 1 < len(sizes) else 0
        if new_sizes[i] < 0 or old_size not in (1, new_sizes[i]):
            raise RuntimeError(
                f"The expanded size of the tensor ({sizes[i]}) must match the existing size ({old_size}) at "
                f"non-singleton dimension {i}. Target sizes: {list(sizes)}. Tensor sizes: {list(self.shape)}"
            )
        new_strides[i] = old_stride if new_sizes[i] == old_size else 0
    return alias(self, new_sizes, new_strides, self.storage_offset())


# Other sizes for the same elements: view if the strides allow it, else copy ------------------------------------------


def infer_view_size(sizes: Sequence[int], numel: int) -> tuple[int, ...]:
    """`sizes` with a -1 replaced by the size that makes `numel` elements in all.
    Source: `aten/src/ATen/InferSize.h`, `infer_size`."""
    if -1 not in sizes and min(sizes, default=0) >= 0 and math.prod(sizes) == numel:
        return tuple(sizes)
    known = math.prod(size for size in sizes if size != -1)
    if min(sizes, default=0) < -1:
        dim = next(dim for dim, size in enumerate(sizes) if size < -1)
        raise RuntimeError(f"invalid shape dimension {sizes[dim]} at index {dim} of shape {list(sizes)}")
    if sizes.count(-1) > 1:
        raise RuntimeError("only one dimension can be inferred")
    if -1 not in sizes or known and numel % known or not known and numel:
        raise RuntimeError(f"shape '{list(sizes)}' is invalid for input of size {numel}")
    if not known:
        any_size = "because the unspecified dimension size -1 can be any value and is ambiguous"
        raise RuntimeError(f"cannot reshape tensor of 0 elements into shape {list(sizes)} {any_size}")
    return tuple(numel // known if size == -1 else size for size in sizes)


def compute_stride(
    old_sizes: Sequence[int], old_strides: Sequence[int], new_sizes: Sequence[int]
) -> tuple[int, ...] | None:
    """The strides with which a view of `new_sizes` has the elements in the same row-major order, or `None`.

    From the last dimension to the first, the old dimensions form *chunks*. The elements of a chunk have constant
    distances in memory. The new sizes, from the last to the first, must fill these chunks one after the other exactly.
    Otherwise the result is `None`. A tensor without elements and a 0-dim tensor are cases of their own.

        >>> compute_stride((2, 3), (3, 1), (6,)), compute_stride((3, 2), (1, 3), (6,))
        ((1,), None)
        >>> compute_stride((2, 4), (8, 2), (2, 2, 2))
        (8, 4, 2)

    Args:
        old_sizes, old_strides: of the tensor, lists or tuples; strides in elements.
        new_sizes: a list or a tuple, non-negative, with as many elements as `old_sizes`.

    Returns:
        a tuple or a list, one stride per new size, or `None` if the new sizes need a copy.

    Rules:
        The last dimension begins a chunk. Each dimension before it joins the chunk if its size is 1, or if its stride is the
        number of elements that the chunk has so far times the chunk's stride, which is the stride of the dimension that
        began the chunk. Otherwise it begins a new chunk.

        The stride of a new size is the number of elements filled in its chunk before it, times the chunk's stride. Sizes of
        1 that follow when a chunk is full still belong to that chunk.

        Without elements there is no order: if 0 is in `old_sizes`, equal `new_sizes` keep the old strides, and others
        get their `contiguous_strides`. For a 0-dim tensor all new strides are 1.

    Source: `aten/src/ATen/TensorUtils.cpp`, `computeStride`.
    """
    if 0 in old_sizes:
        return tuple(old_strides) if list(old_sizes) == list(new_sizes) else contiguous_strides(new_sizes)
    chunks = [] if old_sizes else [(1, 1)]  # (elements, stride) of each chunk, the last chunk first
    for size, stride in zip(reversed(old_sizes), reversed(old_strides)):
        if chunks and (size == 1 or stride == chunks[-1][0] * chunks[-1][1]):
            chunks[-1] = (chunks[-1][0] * size, chunks[-1][1])
        else:
            chunks.append((size, stride))
    new_strides, remaining = [], list(new_sizes)
    for numel, stride in chunks:
        filled = 1
        while remaining and (filled < numel or remaining[-1] == 1):
            new_strides.append(filled * stride)
            filled *= remaining.pop()
        if filled != numel:
            return None
    return tuple(reversed(new_strides))


def view(self: Tensor, shape: Sequence[int]) -> Tensor:
    """A view with other sizes and the same elements in the same order. One size may be -1 for "the rest".
    Source: `aten/src/ATen/native/TensorShape.cpp`, `view`."""
    sizes = infer_view_size(shape, self.numel())
    strides = compute_stride(self.shape, self.stride(), sizes)
    if strides is None:
        old = f"size {list(self.shape)} and stride {list(self.stride())}: a dimension would span two that are apart"
        problem = f"view size {list(sizes)} is not compatible with the tensor's {old}"
        raise RuntimeError(f"{problem}. Use .reshape(...) instead.")
    return alias(self, sizes, strides, self.storage_offset())


def reshape(self: Tensor, shape: Sequence[int]) -> Tensor:
    """The same elements in the same row-major order with other sizes: a view when possible, else a copy.

        >>> reshape(rl.arange(6), (2, -1)).tolist()
        [[0, 1, 2], [3, 4, 5]]

    Args:
        shape: the new sizes, a list or a tuple; one of them may be -1 for "the rest" (`infer_view_size` replaces it, and raises
            the errors below).

    Returns:
        a view (`alias`, same storage offset) if `compute_stride` finds strides for it; else a copy in new memory,
        with contiguous strides and storage offset 0.

    Raises:
        RuntimeError: the sizes hold another number of elements, or are negative, or -1 appears twice or could be
            any size.

    Source: `aten/src/ATen/native/TensorShape.cpp`, `reshape`.
    """
    sizes = infer_view_size(shape, self.numel())
    strides = compute_stride(self.shape, self.stride(), sizes)
    if strides is not None:
        return alias(self, sizes, strides, self.storage_offset())
    copy = clone(self, memory_format=contiguous_format)
    return alias(copy, sizes, contiguous_strides(sizes), 0)


# Copies --------------------------------------------------------------------------------------------------------------


def clone(self: Tensor, memory_format: memory_format | None = None) -> Tensor:
    """A copy in new memory with the layout of `memory_format`, by default `preserve_format`.
    Source: `aten/src/ATen/native/TensorFactories.cpp`, `clone`."""
    if (memory_format is contiguous_format or memory_format is None and self._has_plain_strides) and not self.is_meta:
        return wrap_contiguous(np.array(self._array, order="C"), self.dtype)
    out = empty_strided(self.shape, strides_for(self, memory_format), self.dtype, self.device.type)
    if not self.is_meta:
        out._array[...] = self._array
    return out


def strides_for(self: Tensor, memory_format: memory_format | None) -> tuple[int, ...]:
    """The strides of a new tensor like this one. `preserve_format` gives the same strides if they leave no holes and do not
    overlap, else dense strides in the same order.
    Source: `aten/src/ATen/native/TensorFactories.cpp`, `empty_like`."""
    if memory_format is channels_last:
        return memory_formats.channels_last_strides(self.shape)
    if memory_format is contiguous_format:
        return contiguous_strides(self.shape)
    if self._has_plain_strides or non_overlapping_and_dense(self.shape, self.stride()):
        return self._strides
    return memory_formats.dense_strides(self.shape, self.stride())
