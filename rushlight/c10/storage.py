"""Storage, device, layout, and `Size`, the tuple that counts elements.

In PyTorch these are `c10/core/StorageImpl.h`, `c10/core/Device.h` and `torch/csrc/Size.cpp`. Left out:
allocators, and devices with memory of their own.
"""

from __future__ import annotations

import ctypes
import gc
import math
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from operator import index
from types import SimpleNamespace
from typing import Any, Generic, SupportsIndex, TypeVar, cast, overload

import numpy as np

from rushlight.c10 import dtypes
from rushlight.c10.dispatch import DispatchKey, local
from rushlight.c10.exception import warn_once

__all__ = ["Size", "TypedStorage", "UntypedStorage", "device", "layout"]

Value = TypeVar("Value")

# glibc returns freed memory to the system above a limit. The next step of training allocates it again, with a page fault for each
# page. Freeing a large block raises the limit to twice the block's size (`man mallopt`, `M_MMAP_THRESHOLD`). The block is never
# written, so it needs no memory.
if sys.platform == "linux":
    np.empty(1 << 24, np.uint8)


class Size(tuple[int, ...]):
    """The sizes of a tensor: a tuple that can count elements. Slices, sums and multiples of it are `Size` too.
    Source: `torch/csrc/Size.cpp`."""

    def __new__(cls, iterable: Iterable[SupportsIndex] = (), /) -> Size:
        """Raises TypeError if a size is no integer. Source: `torch/csrc/Size.cpp`, `THPSize_pynew`."""
        self = tuple.__new__(cls, iterable)
        if all(type(size) is int for size in self):
            return self
        for i, size in enumerate(self):
            if not hasattr(size, "__index__"):
                problem = f"torch.Size() takes an iterable of 'int' (item {i} is '{type(size).__name__}')"
                raise TypeError(problem)
        return tuple.__new__(cls, [size if isinstance(size, np.integer) else int(index(size)) for size in self])

    def numel(self) -> int:
        return math.prod(self)

    def __getitem__(self, key):
        item = tuple.__getitem__(self, key)
        return size_of(item) if isinstance(item, tuple) else item

    def __reversed__(self):
        return reversed(tuple(self))  # faster than through `__getitem__`

    def __add__(self, other: tuple) -> Size:
        if not isinstance(other, tuple):
            if hasattr(other, "__radd__"):
                return NotImplemented
            raise TypeError(f"can only concatenate tuple (not {type(other).__name__}) to torch.Size")
        return size_of(tuple.__add__(self, other))

    def __radd__(self, other: tuple) -> Size:
        return Size(tuple.__add__(other, self)) if isinstance(other, tuple) else NotImplemented

    def __mul__(self, times: SupportsIndex) -> Size:
        return size_of(tuple.__mul__(self, times))

    __rmul__ = __mul__

    def __repr__(self) -> str:
        return f"rushlight.Size({list(self)})"


size_of = partial(tuple.__new__, Size)  # a `Size` of numbers that are integers


class lazy(Generic[Value]):
    """An attribute that is computed when it is first read: `functools.cached_property` without its lock."""

    def __init__(self, compute: Callable[[Any], Value]) -> None:
        self.compute, self.name, self.__doc__ = compute, compute.__name__, compute.__doc__

    @overload
    def __get__(self, instance: None, owner: type) -> lazy[Value]: ...

    @overload
    def __get__(self, instance: object, owner: type) -> Value: ...

    def __get__(self, instance: object | None, owner: type) -> lazy[Value] | Value:
        if instance is None:
            return self
        value = self.compute(instance)
        setattr(instance, self.name, value)  # reading an object's `__dict__` makes Python slower with it
        return value


_ONE_TENSOR = 3  # references: a tensor's, that of `grow`, and getrefcount's own argument


class UntypedStorage:
    """`nbytes` bytes of memory, shared by every tensor that views it.

    The storage allocates its memory, or borrows it (`from_address`). It keeps the `owner` of borrowed memory alive as long
    as a tensor or a numpy array can reach the bytes.

    Source: `c10/core/StorageImpl.h`.
    """

    def __init__(self, nbytes: int | Sequence[int] = 0, device: Device = "cpu") -> None:
        """A new storage, or one with the given bytes."""
        values, nbytes = (None, nbytes) if isinstance(nbytes, int) else (nbytes, len(nbytes))
        device = device if device.__class__ is str else _type_of(device)
        self.device_type, self._nbytes = device, nbytes
        _refuse_overflow(nbytes)
        if device == "cpu":
            try:
                self._bytes = np.empty(nbytes, np.uint8)
            except (ValueError, OverflowError, MemoryError):
                raise RuntimeError(f"cannot allocate {nbytes} bytes") from None
            if values is not None:
                self._bytes[:] = values

    @classmethod
    def of(cls, array: np.ndarray) -> UntypedStorage:
        """The storage of a contiguous numpy array."""
        self = cls.__new__(cls)
        self._buffer = array
        return self

    device_type = "cpu"
    _resizable = True  # unless numpy has an array on the memory, or owns it
    version = 0  # the version counter: how often the memory was written to; in PyTorch it belongs to the TensorImpl

    @lazy
    def _bytes(self) -> np.ndarray:
        if self.device_type != "cpu":
            raise NotImplementedError("a tensor on the device 'meta' has no data")
        return self._buffer.reshape(-1).view(np.uint8)

    @lazy
    def _buffer(self) -> np.ndarray:
        """The `buffer` argument for numpy: the bytes, or the array that owns them."""
        return self._bytes

    @classmethod
    def from_address(cls, address: int, nbytes: int, owner: object) -> UntypedStorage:
        memory: Any = (ctypes.c_uint8 * nbytes).from_address(address)  # typeshed knows no attributes of it
        memory.owner = owner  # numpy arrays keep `memory` alive as their base, and so the owner
        self = cls.__new__(cls)
        self._resizable = False
        self._bytes = np.ndarray((nbytes,), np.uint8, buffer=memory)
        return self

    def data_ptr(self) -> int:
        """Address of the first byte; 0 if there is none."""
        if self.device_type != "cpu" or not self.nbytes():
            return 0
        return self._bytes.__array_interface__["data"][0]  # faster than `ctypes.data`

    def nbytes(self) -> int:
        return self._bytes.size if self.device_type == "cpu" else self._nbytes

    def grow(self, nbytes: int) -> None:
        """Enlarge the memory to `nbytes` bytes, if it is smaller. The old bytes are kept."""
        _refuse_overflow(nbytes)
        if self.device_type != "cpu":
            self._nbytes = max(self._nbytes, nbytes)
        elif nbytes > self.nbytes():
            self._reallocate(nbytes)
            if sys.getrefcount(self) > _ONE_TENSOR:
                self._forget_arrays()

    def resize_(self, nbytes: int) -> UntypedStorage:
        """Give the memory another size. The bytes that fit are kept. Every tensor on this storage sees the new memory.
        Source: `torch/csrc/StorageMethods.cpp`, `THPStorage_resize_`; `aten/src/ATen/native/Resize.h`, `resize_bytes_cpu`."""
        if nbytes < 0:
            raise RuntimeError(f"a storage cannot have {nbytes} bytes")
        if self.device_type != "cpu":
            self._nbytes = nbytes
        else:
            self._reallocate(nbytes)
            self._forget_arrays()
        return self

    def _reallocate(self, nbytes: int) -> None:
        if not self._resizable:
            raise RuntimeError("Trying to resize storage that is not resizable")
        before, kept = self._bytes, min(nbytes, self.nbytes())
        self._bytes = np.empty(nbytes, np.uint8)
        self._bytes[:kept] = before[:kept]
        self._buffer = self._bytes if nbytes else np.empty(1, np.uint8)  # numpy checks no limits of an empty buffer

    def _forget_arrays(self) -> None:
        """Clear the arrays that tensors have cached over the old memory."""
        for holder in gc.get_referrers(self):  # tensors, or their attributes as a dict
            state = holder if isinstance(holder, dict) else getattr(holder, "__dict__", {})
            if state.get("_storage") is self:
                state.pop("_array", None)

    def __getstate__(self) -> dict[str, Any]:
        """For copies and pickles: the bytes, without the array that views the same memory."""
        state = {key: value for key, value in self.__dict__.items() if key != "_buffer"}
        return state | {"_bytes": self._bytes} if self.device_type == "cpu" else state

    def __len__(self) -> int:
        return self.nbytes()

    size = __len__
    is_cuda = property(lambda self: False)

    def __sizeof__(self) -> int:
        return object.__sizeof__(self) + self.nbytes()

    @property
    def device(self) -> device:
        return device(self.device_type)

    @property
    def _cdata(self) -> int:
        """The address of the C++ object, which tells whether two storages are one."""
        return id(self)

    def element_size(self) -> int:
        return 1

    def resizable(self) -> bool:
        return self._resizable

    def untyped(self) -> UntypedStorage:
        return self

    def clone(self) -> UntypedStorage:
        return (
            UntypedStorage(self._nbytes, self.device_type) if self.device_type != "cpu" else self.of(self._bytes.copy())
        )

    __copy__ = clone

    def copy_(self, source: UntypedStorage, non_blocking: bool | None = None) -> UntypedStorage:
        self._bytes[:] = source._bytes
        return self

    def fill_(self, value: int) -> UntypedStorage:
        self._bytes[:] = value
        return self

    def tolist(self) -> list[int]:
        return self._readable().tolist()

    def _readable(self) -> np.ndarray:
        if self.device_type != "cpu":
            raise NotImplementedError("Not available for 'meta' device type")
        return self._bytes

    def __getitem__(self, index: int | slice) -> Any:
        """A byte, or a storage on the memory of some of them."""
        return self.of(self._readable()[index]) if isinstance(index, slice) else int(self._readable()[index])

    def __setitem__(self, index: Any, value: Any) -> None:
        self._readable()[index] = value

    def byteswap(self, dtype: dtypes.dtype) -> None:
        """Reverse the bytes of each element."""
        elements = self._bytes.reshape(-1, dtype.itemsize)
        elements[:] = elements[:, ::-1].copy()

    def _swap_data_ptr_(self, other: UntypedStorage) -> None:
        """Exchange the memory of two storages, and so that of all tensors on them."""
        if self.device_type != other.device_type:
            raise RuntimeError("_swap_data_ptr_: both storages must be on the same device")
        if self.nbytes() and other.nbytes() and self.nbytes() != other.nbytes():
            raise RuntimeError("_swap_data_ptr_: both storages must have the same nbytes, or one must have none")
        mine, theirs = self._bytes, other._bytes
        for storage, memory in ((self, theirs), (other, mine)):
            storage._bytes = memory
            storage._buffer = memory if memory.size else np.empty(1, np.uint8)
            storage._forget_arrays()

    def __repr__(self) -> str:
        return f"<rushlight.UntypedStorage of {self.nbytes()} bytes at {self.data_ptr():#x}>"


def _type_of(on: Device) -> str:
    return "cpu" if on is None else device(on).here().type


def _refuse_overflow(nbytes: int) -> None:
    """Source: `aten/src/ATen/EmptyTensor.cpp`, `computeStorageNbytes`."""
    if nbytes > dtypes.INT64_MAX:
        raise RuntimeError(f"Storage size calculation overflowed: {nbytes} bytes")


class TypedStorage:
    """A storage as a vector of elements of a dtype: that of a tensor, a new one of a size, or one with a sequence's numbers.
    Source: `torch/storage.py`, `TypedStorage`."""

    dtype: dtypes.dtype

    def __init__(
        self,
        *args: Any,
        wrap_storage: UntypedStorage | None = None,
        dtype: dtypes.dtype | None = None,
        device: Device = None,
        _internal: bool = False,
    ) -> None:
        if wrap_storage is not None and dtype is None:
            raise RuntimeError("TypedStorage: Argument 'dtype' must be specified")
        if len(args) > 1 or args and wrap_storage is not None:
            problem = (
                "Too many positional arguments" if wrap_storage is None else "No positional arguments should be given"
            )
            raise RuntimeError(f"TypedStorage: {problem}")
        self.dtype = dtypes.get_default_dtype() if dtype is None else dtype
        length = args[0] if args else 0
        if wrap_storage is None:
            if not isinstance(length, (int, Sequence, np.ndarray)):
                raise TypeError(f"TypedStorage: Argument type not recognized: {type(length)}")
            size = length if isinstance(length, int) else len(length)
            wrap_storage = UntypedStorage(size * self.dtype.itemsize, _type_of(device))
        self._untyped_storage = wrap_storage
        if not isinstance(length, int) and self.device.type == "cpu":
            self.elements[:] = np.asarray(length).astype(self.dtype.numpy)

    @classmethod
    def from_buffer(
        cls, buffer: Any, byte_order: str = "native", count: int = -1, offset: int = 0, dtype: Any = None
    ) -> TypedStorage:
        """The elements in the bytes of a buffer, which are copied."""
        elements = np.frombuffer(buffer, np.uint8, -1, offset).copy()
        dtype = cls.dtype if dtype is None else dtype
        size = dtype.itemsize
        if (sys.byteorder if byte_order == "native" else byte_order) != sys.byteorder:
            elements = elements[: elements.size // size * size].reshape(-1, size)[:, ::-1].reshape(-1)
        elements = (elements != 0).view(np.uint8) if dtype is dtypes.bool_ else elements
        elements = elements[: elements.size // size * size if count < 0 else count * size]
        return TypedStorage(wrap_storage=UntypedStorage.of(np.ascontiguousarray(elements)), dtype=dtype)

    @property
    def elements(self) -> np.ndarray:
        if self.device.type != "cpu":
            raise NotImplementedError("Not available for 'meta' device type: Cannot copy out of meta tensor; no data!")
        return self._untyped_storage._bytes.view(self.dtype.numpy)

    def untyped(self) -> UntypedStorage:
        return self._untyped_storage

    device = property(lambda self: self._untyped_storage.device)
    _cdata = property(lambda self: self._untyped_storage._cdata)
    is_cuda = property(lambda self: False)

    def data_ptr(self) -> int:
        return self._untyped_storage.data_ptr()

    def nbytes(self) -> int:
        return self._untyped_storage.nbytes()

    def element_size(self) -> int:
        return self.dtype.itemsize

    def resizable(self) -> bool:
        return self._untyped_storage.resizable()

    def resize_(self, size: int) -> TypedStorage:
        self._untyped_storage.resize_(size * self.dtype.itemsize)
        return self

    def tolist(self) -> list:
        return self.elements.tolist()

    def __iter__(self) -> Iterator:
        return iter(self.tolist())

    def __len__(self) -> int:
        return self.nbytes() // self.dtype.itemsize

    size = __len__

    def __sizeof__(self) -> int:
        return object.__sizeof__(self) + self.nbytes()

    def __getitem__(self, idx: int) -> Any:
        if isinstance(idx, slice):
            raise RuntimeError("slices are only supported in UntypedStorage.__getitem__")
        return self.elements[idx].item()

    def __setitem__(self, idx: Any, value: Any) -> None:
        if isinstance(value, TypedStorage):
            raise RuntimeError(f"cannot set item with value type {type(value)}")
        self.elements[idx] = value

    def fill_(self, value: Any) -> TypedStorage:
        self[:] = value
        return self

    def copy_(self, source: TypedStorage, non_blocking: bool | None = None) -> TypedStorage:
        self[:] = source.elements
        return self

    def to_dtype(self, dtype: dtypes.dtype) -> TypedStorage:
        """The elements converted, in a new storage."""
        return TypedStorage(self.elements, dtype=dtype)

    def clone(self) -> TypedStorage:
        return TypedStorage(wrap_storage=self._untyped_storage.clone(), dtype=self.dtype)

    __copy__ = clone

    def cpu(self) -> TypedStorage:
        return self.to_dtype(self.dtype) if self.device.type != "cpu" else self

    def type(self, dtype: Any = None, non_blocking: bool = False) -> Any:
        return f"torch.{self.pickle_storage_type()}" if dtype is None else self.to_dtype(dtype)

    def pickle_storage_type(self) -> str:
        return f"{self.dtype.type_name}Storage"

    def __repr__(self) -> str:
        kind = f"[torch.storage.TypedStorage(dtype={self.dtype}, device={self.device}) of size {len(self)}]"
        return "".join(f" {value}\n" for value in self.tolist()) + kind


def warn_of_typed_storage() -> None:
    """Warn once that `TypedStorage` is deprecated. Source: `torch/storage.py`, `_warn_typed_storage_removal`."""
    warn_once("TypedStorage is deprecated: use x.untyped_storage()")


class _LegacyStorageMeta(type):
    """The class of `FloatStorage` and its siblings, whose objects are typed storages of one dtype.
    Source: `torch/storage.py`, `_LegacyStorageMeta`."""

    dtype = property(lambda cls: cls._dtype)

    def __call__(cls, *args: Any, wrap_storage: UntypedStorage | None = None) -> TypedStorage:
        warn_of_typed_storage()
        return TypedStorage(*args, wrap_storage=wrap_storage, dtype=cls.dtype)

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, TypedStorage) and instance.dtype is cls.dtype


def _conversion(dtype: dtypes.dtype) -> Callable[[TypedStorage], TypedStorage]:
    return lambda self: self.to_dtype(dtype)


_storage_classes = {
    dtype: _LegacyStorageMeta(f"{dtype.type_name}Storage", (TypedStorage,), {"_dtype": dtype, "__module__": "torch"})
    for dtype in dtypes.ALL
}
for _dtype, _class in _storage_classes.items():
    setattr(TypedStorage, _dtype.type_name.lower(), _conversion(_dtype))
    globals()[_class.__name__] = _class
__all__ += [_class.__name__ for _class in _storage_classes.values()]


def _dtype_to_storage_type_map() -> dict[dtypes.dtype, str]:
    """Source: `torch/storage.py`, `_dtype_to_storage_type_map`."""
    return {dtype: kind.__name__ for dtype, kind in _storage_classes.items()}


class SharedVersionStorage(UntypedStorage):
    """A storage that shares its version counter with another one: `x.data = y` moves `x` to the memory of `y`, but `x` and the
    views of its old memory still have one counter. Source: `c10/core/TensorImpl.h`, `VariableVersion`."""

    counter: SimpleNamespace

    @property
    def version(self) -> int:
        return self.counter.version

    @version.setter
    def version(self, version: int) -> None:
        self.counter.version = version


def share_version(storage: UntypedStorage, other: UntypedStorage) -> None:
    """Make `other` count its versions with the counter of `storage`."""
    if not isinstance(storage, SharedVersionStorage):
        counter = SimpleNamespace(version=storage.version)
        storage.__dict__.pop("version", None)
        storage = _share(storage, counter)
    _share(other, storage.counter)


def _share(storage: UntypedStorage, counter: SimpleNamespace) -> SharedVersionStorage:
    storage.__class__ = SharedVersionStorage
    shared = cast(SharedVersionStorage, storage)  # a type checker does not follow the change of its class
    shared.counter = counter
    return shared


class device:
    """The device of the memory: `cpu`, or `meta`, which has no memory, so that a tensor has metadata only. A device that PyTorch's
    build for CPUs lacks has a name here too, but no tensors. Source: `torch/csrc/Device.cpp`; `c10/core/Device.h`, `Device`."""

    type: str
    index: int | None

    def __init__(self, type: str | device = "cpu", index: int | None = None) -> None:
        """`device("cpu")`, `device("cpu:0")` or `device("cpu", 0)`. The last two are equal. A tensor's device has no index.
        Source: `c10/core/Device.cpp`, `parse_type`; `torch/csrc/Device.cpp`, `THPDevice_pynew`."""
        if isinstance(type, device):
            index, type = type.index, type.type
        if type not in _TYPES:
            if isinstance(type, int):
                raise RuntimeError("Cannot access accelerator device when none is available.")
            if not isinstance(type, str):
                raise TypeError(f"device(): argument 'type' must be str or device, not {type.__class__.__name__}")
            parts = re.fullmatch(r"([^:]*):(0|[1-9]\d*)", type)
            if parts is None or parts[1] not in _TYPES:
                raise RuntimeError(f"Expected one of {', '.join(_TYPES)}, and an index after a colon, but got: {type}")
            if index is not None:
                raise RuntimeError(f"type (string) must not include an index, which was passed explicitly: {type}")
            type, index = parts[1], int(parts[2])
        if index is not None and index < 0:
            raise RuntimeError("Device index must not be negative")
        self.type, self.index = type, index

    @property
    def backend(self) -> DispatchKey:
        """The dispatch key of kernels for this device."""
        return _BACKENDS[self.here().type]

    def here(self) -> device:
        """Return the device, or raise the error of PyTorch's build for CPUs for a device that it lacks."""
        if self.type in ("cuda", "xpu"):
            raise AssertionError(f"Torch not compiled with {self.type.upper()} enabled")
        if self.type not in _BACKENDS:
            raise RuntimeError(f"PyTorch is not linked with support for {self.type} devices")
        return self

    def __enter__(self) -> device:
        """In the block, tensors are made on this device by default. Source: `torch/utils/_device.py`, `DeviceContext`."""
        local.default_devices.append(self)
        return self

    def __exit__(self, *_: object) -> None:
        local.default_devices.pop()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, device) and (other.type, other.index) == (self.type, self.index)

    def __hash__(self) -> int:
        return hash((self.type, self.index))

    def __str__(self) -> str:
        return self.type if self.index is None else f"{self.type}:{self.index}"

    def __repr__(self) -> str:
        return f"device(type={self.type!r}{'' if self.index is None else f', index={self.index}'})"


Device = device | str | None  # as an argument
_BACKENDS = {"cpu": DispatchKey.CPU, "meta": DispatchKey.Meta}
_TYPES = (*_BACKENDS, "cuda", "xpu", "mps", "mtia", "hpu", "xla", "ipu", "hip", "vulkan", "privateuseone")


class layout:
    """How a tensor finds its elements. Rushlight has one layout, `strided`. Source: `torch/csrc/Layout.cpp`."""

    def __repr__(self) -> str:
        return "rushlight.strided"


strided_layout = layout()
"""The layout of all tensors here: elements are found by sizes and strides. Source: `c10/core/Layout.h`."""
