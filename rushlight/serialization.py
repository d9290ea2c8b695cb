"""`save` and `load`, in torch's file format: either framework reads what the other wrote.

A file is a zip archive whose entries are not compressed. `data.pkl` is a pickle of everything except the numbers. In the place
of a storage it has a persistent id, which names the entry `data/0`, `data/1`, … with the bytes. So tensors that share memory
share it again when they are loaded. A pickle names classes and functions by module and name: for a tensor `save` writes
torch's names, `torch._utils._rebuild_tensor_v2` and `torch.FloatStorage`, and `load` puts rushlight's in their place.

A pickle is a program, and Python's unpickler calls whatever it names. By default `load` calls only what is in `_ALLOWED`, and
what the program added with `add_safe_globals`. With `weights_only=False` it calls everything, so that a file can hold a whole
module. Then a name of torch's in a file means rushlight's of the same name.

In PyTorch this is `torch/serialization.py`, `torch/_weights_only_unpickler.py` and `caffe2/serialize/inline_container.cc`.
Left out: the format before version 1.6, `mmap`, other devices, and attributes of tensors.
"""

from __future__ import annotations

import io
import os
import pickle
import sys
from collections import Counter, OrderedDict
from collections.abc import Callable
from importlib import import_module
from operator import attrgetter
from types import FunctionType
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

import numpy as np

from rushlight.aten.generated import functions
from rushlight.aten.strided import Tensor, storage_size
from rushlight.c10 import dtypes
from rushlight.c10.storage import Size, TypedStorage, UntypedStorage, device
from rushlight.nn.parameter import Parameter

if TYPE_CHECKING:
    from zipfile import ZipFile

__all__ = ["add_safe_globals", "clear_safe_globals", "get_safe_globals", "load", "safe_globals", "save"]


# What a file names ----------------------------------------------------------------------------------------------------


class StorageType(NamedTuple):
    """A class of torch's, such as `FloatStorage`: the name of a dtype in a file."""

    dtype: dtypes.dtype

    @property
    def name(self) -> str:
        return f"{self.dtype.type_name}Storage"


def _rebuild_tensor_v2(
    storage: TypedStorage, storage_offset: int, size: tuple, stride: tuple, requires_grad: bool, *hooks: object
) -> Tensor:
    bytes_needed = storage_size(size, stride, storage_offset) * storage.dtype.itemsize
    if (
        len(size) != len(stride)
        or min((storage_offset, *size, *stride)) < 0
        or bytes_needed > storage._untyped_storage.nbytes()
    ):
        raise pickle.UnpicklingError(
            f"a tensor of sizes {size}, strides {stride} and storage offset {storage_offset} is not within its storage of"
            f" {storage._untyped_storage.nbytes()} bytes"
        )
    return Tensor(storage._untyped_storage, size, stride, storage_offset, storage.dtype).requires_grad_(requires_grad)


def _rebuild_parameter(data: Tensor, requires_grad: bool, *hooks: object) -> Parameter:
    return Parameter(data, requires_grad)


def _rebuild_meta_tensor_no_storage(dtype: dtypes.dtype, size: tuple, stride: tuple, requires_grad: bool) -> Tensor:
    return functions.empty_strided(size, stride, dtype=dtype, device="meta", requires_grad=requires_grad)


_NAMES = {function: ("torch._utils", function.__name__)
          for function in (_rebuild_tensor_v2, _rebuild_parameter, _rebuild_meta_tensor_no_storage)}  # fmt: skip
_NAMES |= {dtype: ("torch", dtype.name) for dtype in dtypes.ALL}
_NAMES |= {StorageType(dtype): ("torch", StorageType(dtype).name) for dtype in dtypes.ALL}
_NAMES |= {Size: ("torch", "Size"), device: ("torch", "device")}

_ALLOWED = {name: value for value, name in _NAMES.items()}
_ALLOWED |= {
    ("collections", "OrderedDict"): OrderedDict,
    ("collections", "Counter"): Counter,
    ("_codecs", "encode"): str.encode,
}
_ALLOWED |= {("__builtin__", cls.__name__): cls for cls in (set, complex, bytearray)}  # protocol 2 has Python 2's names
_CALLABLE = {value for value in _ALLOWED.values() if callable(value)}
_safe_globals: list[
    Any
] = []  # what the program allows: classes and functions, or pairs of one and its name in the file


def add_safe_globals(safe_globals: list[Any]) -> None:
    """Allow these classes and functions in files that are loaded with `weights_only=True`."""
    _safe_globals.extend(safe_globals)


def get_safe_globals() -> list[Any]:
    """The classes that `load(weights_only=True)` accepts besides its own."""
    return list(_safe_globals)


def clear_safe_globals() -> None:
    """Forget the classes that `add_safe_globals` has added."""
    _safe_globals.clear()


class safe_globals:
    """Allow these classes and functions within a block."""

    def __init__(self, safe_globals: list[Any]) -> None:
        self.safe_globals = safe_globals

    def __enter__(self) -> None:
        self.before = get_safe_globals()
        add_safe_globals(self.safe_globals)

    def __exit__(self, *error: object) -> None:
        _safe_globals[:] = self.before


_ELSEWHERE = {("torch.nn.modules.linear", "NonDynamicallyQuantizableLinear"): "rushlight.nn.modules.transformer"}


def _find(module: str, name: str) -> Any:
    """What a name of torch's means in rushlight. Its module there has the name, or the nearest package around the module."""
    if (module, name) in _ELSEWHERE:
        return getattr(import_module(_ELSEWHERE[module, name]), name)
    path = ["torch", "nn", "functional"] if module == "torch._C._nn" else module.split(".")
    for count in range(len(path), 0, -1):
        try:
            owner = import_module(".".join(["rushlight", *path[1:count]]))
        except ModuleNotFoundError:
            continue
        if hasattr(owner, name.partition(".")[0]):
            return attrgetter(name)(owner)
    raise AttributeError(f"rushlight has no {module}.{name}, which the file names")


def _torch_name(obj: Any) -> tuple[str, str] | None:
    """The name in torch of a class or a function of rushlight, in the first package that has it, or in its own module."""
    path, name = str(getattr(obj, "__module__", "")).split("."), obj.__qualname__
    if path[0] != "rushlight":
        return None
    for named, home in _ELSEWHERE.items():
        if (obj.__module__, name) == (home, named[1]):
            return named
    homes = [".".join(path[:count]) for count in range(1, len(path))] + ["rushlight.nn.functional", obj.__module__]
    return next((("torch" + home[9:], name) for home in homes if vars(sys.modules[home]).get(name) is obj), None)


# save -----------------------------------------------------------------------------------------------------------------


class _Pickler(pickle._Pickler):  # Python's other pickler, written in C, writes no names but those that it can import
    def __init__(self, file: BinaryIO) -> None:
        super().__init__(file, protocol=2)
        self.storages: dict[tuple[int, int], tuple[str, TypedStorage]] = {}

    def reducer_override(self, obj: Any) -> Any:
        kind = type(obj)
        if kind in (FunctionType, type, StorageType) and obj in _NAMES:
            return _NAMES[obj][1]
        if kind is FunctionType and _torch_name(obj):
            return obj.__qualname__
        if kind is Parameter:
            return _rebuild_parameter, (obj.detach(), obj.requires_grad, OrderedDict())
        if kind is Tensor and obj.is_meta:
            return _rebuild_meta_tensor_no_storage, (obj.dtype, tuple(obj.shape), obj.stride(), obj.requires_grad)
        if kind is Tensor:
            place = obj.storage_offset(), tuple(obj.shape), obj.stride()
            return _rebuild_tensor_v2, (
                TypedStorage(wrap_storage=obj._storage, dtype=obj.dtype),
                *place,
                obj.requires_grad,
                OrderedDict(),
            )
        if kind is Size:
            return Size, (tuple(obj),)
        if kind is device:
            return device, (obj.type,)
        return NotImplemented

    def persistent_id(self, obj: Any) -> tuple | None:
        if type(obj) is not TypedStorage:
            return None
        storage = obj._untyped_storage  # `x.data` has another storage on it
        memory = storage.data_ptr() or id(storage), storage.nbytes()
        key, first = self.storages.setdefault(memory, (str(len(self.storages)), obj))
        if first.dtype is not obj.dtype:
            raise RuntimeError("Cannot save multiple tensors or storages that view the same data as different types")
        return "storage", StorageType(obj.dtype), key, "cpu", obj._untyped_storage.nbytes() // obj.dtype.itemsize

    def save_global(self, obj: Any, name: str | None = None) -> None:
        names = _NAMES.get(obj) or _torch_name(obj)
        if names is None:
            return super().save_global(obj, name)
        self.write(pickle.GLOBAL + "{}\n{}\n".format(*names).encode())
        self.memoize(obj)


def save(obj: Any, f: str | os.PathLike | BinaryIO) -> None:
    """Write `obj` into a file that `load` and `torch.load` read.

    Tensors that share memory are written with one storage, the whole of it, also if they are small views of something large.
    An object that cannot be pickled raises its error before an older file is overwritten.

    Args:
        obj: tensors, modules, and what Python can pickle. `load` gives back what its own text names.
        f: a path, or an object with `write`.

    Source: `torch/serialization.py`, `save`.
    """
    data = io.BytesIO()
    pickler = _Pickler(data)
    pickler.dump(obj)
    name = os.path.splitext(os.path.basename(f))[0] if isinstance(f, (str, os.PathLike)) else "archive"
    entries = {"data.pkl": data.getvalue(), "byteorder": sys.byteorder.encode()}
    entries |= {f"data/{key}": tensor._untyped_storage._bytes for key, tensor in pickler.storages.values()}
    import zipfile  # slow to import

    with zipfile.ZipFile(f, "w") as archive:
        for entry, content in {**entries, "version": b"3\n"}.items():
            archive.writestr(zipfile.ZipInfo(f"{name}/{entry}"), bytes(content))


# load -----------------------------------------------------------------------------------------------------------------


class _Unpickler(pickle._Unpickler):
    def __init__(self, file: BinaryIO, storage: Callable[[str, str], UntypedStorage]) -> None:
        super().__init__(file, encoding="utf-8")
        self.storage = storage

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) in _ALLOWED:
            return _ALLOWED[module, name]
        if module.partition(".")[0] == "torch":
            return _find(module, name)
        return super().find_class(module, name)

    def persistent_load(self, pid: tuple) -> TypedStorage:
        _, kind, key, location, _ = pid
        return TypedStorage(wrap_storage=self.storage(key, location), dtype=kind.dtype)


class _WeightsUnpickler(_Unpickler):
    """Only the opcodes that build containers, and calls of what is allowed. Source: `torch/_weights_only_unpickler.py`."""

    def find_class(self, module: str, name: str) -> Any:
        for given in _safe_globals:
            value, named = given if isinstance(given, tuple) else (given, f"{given.__module__}.{given.__qualname__}")
            is_named = (
                module.partition(".")[0] == "torch" and name == value.__qualname__ and _find(module, name) is value
            )
            if f"{module}.{name}" == named or is_named:
                return value
        if (module, name) not in _ALLOWED:
            raise pickle.UnpicklingError(
                f"Weights only load failed. Unsupported global: GLOBAL {module}.{name} was not an allowed global by default."
                f" If you trust it, call `torch.serialization.add_safe_globals([{name}])`. If you trust the whole file, load it"
                " with `weights_only=False`, which runs code from it."
            )
        return _ALLOWED[module, name]

    def is_safe(self, value: Any) -> bool:
        return any(value is (given[0] if isinstance(given, tuple) else given) for given in _safe_globals)

    def refuse(self) -> None:
        raise pickle.UnpicklingError(
            "Weights only load failed: data.pkl has an opcode that plain containers do not need"
        )

    def reduce(self) -> None:
        if not (self.is_safe(self.stack[-2]) or any(self.stack[-2] is allowed for allowed in _CALLABLE)):
            self.refuse()
        self.load_reduce()

    def new(self) -> None:
        return self.load_newobj() if self.is_safe(self.stack[-2]) else self.reduce()

    def build(self) -> None:
        is_plain = type(self.stack[-2]) is OrderedDict and type(self.stack[-1]) is dict
        if not is_plain and not self.is_safe(type(self.stack[-2])):
            self.refuse()
        self.load_build()

    plain = """PROTO STOP MARK NONE NEWTRUE NEWFALSE BININT BININT1 BININT2 LONG1 BINFLOAT BINUNICODE SHORT_BINSTRING EMPTY_DICT
        EMPTY_LIST EMPTY_SET EMPTY_TUPLE TUPLE TUPLE1 TUPLE2 TUPLE3 APPEND APPENDS SETITEM SETITEMS BINGET LONG_BINGET BINPUT
        LONG_BINPUT GLOBAL BINPERSID"""
    dispatch = dict.fromkeys(range(256), refuse)
    dispatch |= {
        code: pickle._Unpickler.dispatch[code] for code in (getattr(pickle, name)[0] for name in plain.split())
    }
    dispatch |= {pickle.REDUCE[0]: reduce, pickle.NEWOBJ[0]: new, pickle.BUILD[0]: build}


def load(
    f: str | os.PathLike | BinaryIO, map_location: Any = None, pickle_module: Any = None, *, weights_only: bool = True
) -> Any:
    """Read what `save` or `torch.save` wrote: tensors, parameters, numbers, texts, and lists, tuples, sets and dicts of them, or,
    with `weights_only=False`, anything.

    Args:
        f: a path, or an object with `read` and `seek`.
        map_location: "cpu" for tensors that were saved from another device, which raise an error otherwise. A dict or a function
            also gives tensors on the CPU.
        weights_only: False runs the code that the file names. Give it only for a file that you trust.

    Raises:
        pickle.UnpicklingError: the file is damaged, or names a class or a function that is not allowed.

    Source: `torch/serialization.py`, `load`.
    """
    if isinstance(map_location, (str, device)) and device(map_location).type != "cpu":
        raise RuntimeError(f"rushlight loads to the CPU, not to {map_location!r}")
    import zipfile  # slow to import

    try:
        with zipfile.ZipFile(f) as archive:
            return _load(archive, map_location, _WeightsUnpickler if weights_only in (True, None) else _Unpickler)
    except zipfile.BadZipFile as error:
        raise pickle.UnpicklingError(f"this is not a file of torch.save, version 1.6 or later: {error}") from error


def _load(archive: ZipFile, map_location: Any, unpickler: type[_Unpickler]) -> Any:
    entries = {entry.filename.partition("/")[2]: entry for entry in archive.infolist()}
    storages: dict[str, UntypedStorage] = {}

    def read(name: str) -> bytes:
        if name not in entries or entries[name].compress_type:
            raise pickle.UnpicklingError(
                f"the archive has no entry {name}, or it is compressed, which torch.save never does"
            )
        return archive.read(entries[name])

    def storage(key: str, location: str) -> UntypedStorage:
        if location != "cpu" and map_location is None:
            raise RuntimeError(f"a tensor was saved from the device {location!r}: give map_location='cpu'")
        if key not in storages:
            storages[key] = UntypedStorage.of(np.frombuffer(bytearray(read(f"data/{key}")), np.uint8))
        return storages[key]

    if "byteorder" in entries and read("byteorder").decode() != sys.byteorder:
        raise ValueError(f"the file has another order of bytes than this machine: {read('byteorder').decode()}")
    content = unpickler(io.BytesIO(read("data.pkl")), storage)
    if unpickler is _Unpickler:
        return content.load()
    try:
        return content.load()
    except (pickle.UnpicklingError, RuntimeError, MemoryError):
        raise
    except Exception as error:
        raise pickle.UnpicklingError(f"data.pkl is damaged: {type(error).__name__}: {error}") from error
