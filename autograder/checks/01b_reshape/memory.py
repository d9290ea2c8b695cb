"""Memory of other libraries, and a chain of views."""

from __future__ import annotations

import ctypes

from ...engine.check import program
from ..cases import DTYPES, drawn, rows, sizes, tensor, tensors, words
from ..shared_01 import _chained, _chains

# Memory of other libraries -------------------------------------------------------------------------------------------


class _DataType(ctypes.Structure):
    _fields_ = [("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16)]


class _DLTensor(ctypes.Structure):
    """DLPack's struct, as `dlpack.h` declares it."""

    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("dtype", _DataType),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


def _described(x, null_strides, lanes, bits):
    """A DLTensor of `x` on the CPU, whose `data` is the beginning of the storage. `bits` and `lanes` may be wrong."""
    code = {"b": 6, "u": 1, "i": 0, "f": 2}[str(x.dtype).rpartition(".")[2][0]]
    ints = ctypes.c_int64 * x.dim()
    return _DLTensor(
        data=x.untyped_storage().data_ptr(),
        device_type=1,
        ndim=x.dim(),
        dtype=_DataType(code, bits or 8 * x.element_size(), lanes),
        shape=ints(*x.shape),
        strides=None if null_strides else ints(*x.stride()),
        byte_offset=x.storage_offset() * x.element_size(),
    )


def _loans(st):
    of_any_dtype = st.tuples(sizes(st), st.integers(0, 3), st.sampled_from(DTYPES))
    contiguous = drawn(x=of_any_dtype.map(lambda t: tensor(t[0], None, t[1], t[2])), null_strides=bool)
    strided = drawn(x=tensors(st, dtypes=DTYPES), null_strides=[False])
    odd = drawn(lanes=[1] * 9 + [2], bits=[None] * 9 + [24])
    return st.tuples(contiguous(st) | strided(st), odd(st)).map(lambda parts: parts[0] | parts[1])


def _about_layouts(case, mine, theirs):
    if isinstance(theirs, dict):
        return "`lanes` other than 1, and a code and bits that are not in `DTYPES`, raise BufferError"
    if not isinstance(mine, list) or len(mine) != 4:
        return None
    if mine[3] != theirs[3]:
        return "the dtype depends on the code and on the bits"
    if mine[2] != theirs[2]:
        return "byte_offset counts bytes from `data`, the storage offset elements"
    if mine[1] == theirs[1]:
        return None
    return (
        "a null pointer means `contiguous_strides`, in which a size of 0 counts as 1"
        if case["null_strides"]
        else "the strides of the struct are in elements already"
    )


@program(
    "aten.dlpack.layout",
    cases=_loans,
    edges=[
        {"x": tensor([2, 3], None, 1, dtype), "null_strides": null, "lanes": 1, "bits": None}
        for dtype, null in (("int64", True), ("float32", False), ("bool", True), ("uint8", False), ("float16", True))
    ]
    + rows(
        "x null_strides lanes bits",
        (tensor([2, 3], [1, 2], 2, "float64"), False, 1, None), (tensor([], [], 1, "int32"), True, 1, None),
        (tensor([2, 0, 3], dtype="float32"), True, 1, None), (tensor([2, 0], [5, 7], 2, "int32"), False, 1, None),
        (tensor([2, 1, 3, 2, 2], [1, 7, 2, 9, 0], 1, "float16"), False, 1, None), (tensor([2]), False, 2, None),
        (tensor([2], dtype="int32"), False, 2, None),
        (tensor([2]), False, 0, None), (tensor([2]), False, 1, 24), (tensor([2], dtype="float32"), True, 1, 24),
        (tensor([0], None, 2**53 + 1, "float64", slack=-(2**53) - 1), False, 1, None),
    ),
    hint=_about_layouts,
)  # fmt: skip
def layout(xp, x, null_strides, lanes, bits):
    return xp.dlpack.layout(_described(x, null_strides, lanes, bits))


@layout.oracle
def _(torch, x, null_strides, lanes, bits):
    if lanes == 1 and bits is None:
        return x.shape, x.stride(), x.storage_offset(), x.dtype
    capsule = x.clone().__dlpack__()
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    struct = _DLTensor.from_address(pointer(capsule, b"dltensor"))
    struct.dtype = _DataType(struct.dtype.code, bits or struct.dtype.bits, lanes)
    return torch.from_dlpack(capsule)


# All together --------------------------------------------------------------------------------------------------------


_ANY = words("transpose select narrow unsqueeze squeeze flatten contiguous reshape view permute expand")


@program("together.chain_of_views", cases=lambda st: _chains(st, _ANY))
def chain_of_views(xp, x, steps):
    return _chained(x, steps)
