"""DLPack: sharing memory with another framework, without a copy.

DLPack is a small C struct that describes an array in memory: the same four pieces of metadata as in `strided.py`, and
a function that the consumer calls when it needs the array no longer. A Python capsule, which is a pointer with a name,
carries the struct. Its name is `"dltensor"` until a consumer takes the struct, and `"used_dltensor"` afterwards, so
that no other consumer takes it again. `ATen/dlpack.h` declares the struct. PyTorch fills and reads it in
`aten/src/ATen/DLConvertor.cpp`. Left out: devices other than the CPU, streams, and the versioned struct of
DLPack 1.0, which adds a read-only flag.
"""

from __future__ import annotations

import ctypes
from ctypes import POINTER, c_char_p, c_int32, c_int64, c_uint8, c_uint16, c_uint64, c_void_p, py_object
from typing import Any

from rushlight.aten.strided import Tensor, UntypedStorage, add_attributes, contiguous_strides, storage_size
from rushlight.c10.dtypes import ALL, bfloat16, dtype
from rushlight.c10.storage import Device

__all__ = ["from_dlpack"]

# The struct ----------------------------------------------------------------------------------------------------------

CPU = 1
INT, UINT, FLOAT, BFLOAT, BOOL = 0, 1, 2, 4, 6


class DLDevice(ctypes.Structure):
    """The struct of DLPack that names a device: the kind of device, and its index among those of this kind."""

    _fields_ = [("device_type", c_int32), ("device_id", c_int32)]


class DLDataType(ctypes.Structure):
    """A kind of number (`INT`, `UINT`, `FLOAT`, `BFLOAT`, `BOOL`), its width in bits, and how many make one element."""

    _fields_ = [("code", c_uint8), ("bits", c_uint8), ("lanes", c_uint16)]


class DLTensor(ctypes.Structure):
    """The description of an array in memory. `shape` and `strides` point to `ndim` ints each."""

    _fields_ = [
        ("data", c_void_p), ("device", DLDevice), ("ndim", c_int32), ("dtype", DLDataType),
        ("shape", POINTER(c_int64)), ("strides", POINTER(c_int64)), ("byte_offset", c_uint64),
    ]  # fmt: skip


class DLManagedTensor(ctypes.Structure):
    """A `DLTensor` with the function that its consumer calls, once, to release it."""


Deleter = ctypes.CFUNCTYPE(None, POINTER(DLManagedTensor))
DLManagedTensor._fields_ = [("dl_tensor", DLTensor), ("manager_ctx", c_void_p), ("deleter", Deleter)]

_CODES = {"b": BOOL, "i": INT, "u": UINT, "f": FLOAT, "V": BFLOAT}
DTYPES = {(_CODES[dtype.numpy.kind], 8 * dtype.itemsize): dtype for dtype in ALL if dtype is not bfloat16}
DTYPES[BFLOAT, 16] = bfloat16

# The capsule. Its name is compared by content, but must stay in memory, so the names are constants. ------------------

UNUSED, USED = b"dltensor", b"used_dltensor"


def _capsule_function(name: str, result: type, *arguments: type):
    return ctypes.PYFUNCTYPE(result, *arguments)((name, ctypes.pythonapi))


Destructor = ctypes.PYFUNCTYPE(None, c_void_p)  # a capsule that is deleted is passed as an address, not as an object
_new = _capsule_function("PyCapsule_New", py_object, c_void_p, c_char_p, Destructor)
_is_valid = _capsule_function("PyCapsule_IsValid", ctypes.c_int, py_object, c_char_p)
_get_pointer = _capsule_function("PyCapsule_GetPointer", c_void_p, py_object, c_char_p)
_set_name = _capsule_function("PyCapsule_SetName", ctypes.c_int, py_object, c_char_p)
_is_valid_address = _capsule_function("PyCapsule_IsValid", ctypes.c_int, c_void_p, c_char_p)
_get_pointer_address = _capsule_function("PyCapsule_GetPointer", c_void_p, c_void_p, c_char_p)

# Export --------------------------------------------------------------------------------------------------------------

_exported: dict[int, tuple] = {}  # by the address of a struct, the objects that must live until it is released


@Deleter
def _release(managed) -> None:
    _exported.pop(ctypes.addressof(managed.contents), None)


@Destructor
def _drop_capsule(capsule: int) -> None:
    if _is_valid_address(capsule, UNUSED):  # it was not taken, so no consumer will release it
        _exported.pop(_get_pointer_address(capsule, UNUSED), None)


for _callback in _release, _drop_capsule:  # a consumer may outlive this module, and calls them at exit
    ctypes.pythonapi.Py_IncRef(py_object(_callback))


def to_dlpack(self: Tensor, *, stream=None, max_version=None, dl_device=None, copy=None):
    """A capsule with a `DLManagedTensor` that describes this tensor. The storage lives until the consumer releases the
    struct.

    The `data` pointer includes the storage offset, and `byte_offset` is 0, as in PyTorch, because not every consumer
    reads `byte_offset`. The arguments of the protocol concern only other devices and copies.

    Source: `aten/src/ATen/DLConvertor.cpp`, `toDLPack`.
    """
    if stream not in (None, -1) or dl_device not in (None, (CPU, 0)) or copy:
        raise BufferError("rushlight exports memory on the CPU only, without a stream and without a copy")
    ints = c_int64 * self.dim()
    shape, strides = ints(*self.shape), ints(*self.stride())
    dtype = DLDataType(_CODES[self.dtype.numpy.kind], 8 * self.itemsize, 1)
    dl_tensor = DLTensor(self.data_ptr(), DLDevice(CPU, 0), self.dim(), dtype, shape, strides, 0)
    managed = DLManagedTensor(dl_tensor, None, _release)
    _exported[ctypes.addressof(managed)] = (managed, shape, strides, self.untyped_storage())
    return _new(ctypes.addressof(managed), UNUSED, _drop_capsule)


# Import --------------------------------------------------------------------------------------------------------------


def layout(dl_tensor: DLTensor) -> tuple[tuple[int, ...], tuple[int, ...], int, dtype]:
    """Sizes, strides, storage offset and dtype of the array that a `DLTensor` describes.

        >>> struct = DLTensor(ndim=1, dtype=(INT, 64, 1), shape=(c_int64 * 1)(3), byte_offset=16)
        >>> layout(struct)
        ((3,), (1,), 2, rushlight.int64)

    Fields of `dl_tensor`:
        ndim: the number of dimensions.
        shape: a C array of `ndim` sizes; index it with `[i]`.
        strides: a C array of `ndim` strides in elements; or a null pointer (its truth value is false), which
            means that the array is contiguous (`contiguous_strides`).
        byte_offset: from `data` to the first element, in *bytes*.
        dtype: `dtype.code` is the kind of number, `dtype.bits` the width of one in bits, and `dtype.lanes` how
            many make one element. `DTYPES[code, bits]` is rushlight's dtype, if there is one.

    Returns:
        (sizes, strides, storage_offset, dtype): two tuples or lists of ints, strides in elements; the storage offset
        in *elements* from `data`; a rushlight dtype.

    Raises:
        BufferError: no rushlight dtype has this code and these bits, or `lanes` is not 1.

    Source: `aten/src/ATen/DLConvertor.cpp`, `toScalarType` and `fromDLPack`.
    """
    code, bits, lanes = dl_tensor.dtype.code, dl_tensor.dtype.bits, dl_tensor.dtype.lanes
    if lanes != 1 or (code, bits) not in DTYPES:
        raise BufferError(f"rushlight has no dtype for DLPack's code {code} with {bits} bits and {lanes} lanes")
    dtype = DTYPES[code, bits]
    sizes = tuple(dl_tensor.shape[i] for i in range(dl_tensor.ndim))
    strides = contiguous_strides(sizes)
    if dl_tensor.strides:
        strides = tuple(dl_tensor.strides[i] for i in range(dl_tensor.ndim))
    return sizes, strides, dl_tensor.byte_offset // dtype.itemsize, dtype


class Loan:
    """A struct taken from a capsule. The memory lives as long as this object, which then releases the struct."""

    def __init__(self, capsule) -> None:
        address = _get_pointer(capsule, UNUSED)
        _set_name(capsule, USED)
        self.managed = DLManagedTensor.from_address(address)

    def __del__(self) -> None:
        if self.managed.deleter:
            self.managed.deleter(ctypes.byref(self.managed))


def from_dlpack(ext_tensor: Any, *, device: Device = None, copy: bool | None = None) -> Tensor:
    """A tensor on the memory of `ext_tensor`: a tensor or array of any framework that has `__dlpack__`, or a
    capsule. With `copy`, or for another `device`, it is a copy.

    Raises:
        RuntimeError: not a capsule, or one that has been taken already.
        BufferError: not on the CPU, with a dtype that `layout` refuses, with a negative stride, or with a first
            element whose distance from `data` is not a whole number of elements.

    Source: `torch/utils/dlpack.py`, `from_dlpack`.
    """
    if hasattr(ext_tensor, "__dlpack_device__") and ext_tensor.__dlpack_device__()[0] != CPU:
        raise BufferError(f"the array is on device {ext_tensor.__dlpack_device__()}; copy it to the CPU first")
    capsule = ext_tensor.__dlpack__() if hasattr(ext_tensor, "__dlpack__") else ext_tensor
    if not _is_valid(capsule, UNUSED):
        raise RuntimeError("from_dlpack needs an array with __dlpack__, or a capsule that has not been taken yet")
    loan = Loan(capsule)
    dl_tensor = loan.managed.dl_tensor
    sizes, strides, storage_offset, dtype = layout(dl_tensor)
    if min(strides, default=0) < 0:
        raise BufferError(f"negative strides are not supported, got {strides}; make a copy first")
    if dl_tensor.byte_offset % dtype.itemsize:
        raise BufferError(f"byte_offset {dl_tensor.byte_offset} is not a multiple of the itemsize {dtype.itemsize}")
    nbytes = storage_size(sizes, strides, storage_offset) * dtype.itemsize
    storage = UntypedStorage.from_address(dl_tensor.data, nbytes, owner=loan) if nbytes else UntypedStorage(0)
    tensor = Tensor(storage, sizes, strides, storage_offset, dtype)
    return tensor.to(tensor.device if device is None else device, copy=bool(copy))


add_attributes(__dlpack__=to_dlpack, __dlpack_device__=lambda self: (CPU, 0))
