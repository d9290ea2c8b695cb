"""Operators written in C++, on rushlight's own memory.

The system's compiler compiles a source text. The library is loaded, and its operators are registered with the dispatcher like
any other operator. The C++ code includes the file `rushlight.h`: a tensor as pointer, sizes and strides, a switch over dtypes,
and a loop over threads. In PyTorch: `torch/utils/cpp_extension.py` (`load_inline`), and for the header `ATen/ATen.h`,
`ATen/core/TensorAccessor.h`, `ATen/Dispatch.h`, `ATen/Parallel.h`, `torch/library.h`, `ATen/core/boxing/`. Left out: half
precision (C++17 has no such type), operators whose result is not one tensor, calls of rushlight's operators from C++.
"""

from __future__ import annotations

import ctypes
import hashlib
import math
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from rushlight.aten.strided import Tensor, contiguous_strides
from rushlight.c10.dispatch import operators
from rushlight.c10.dtypes import ALL, dtype
from rushlight.c10.schema import FunctionSchema, bind, parse_schema
from rushlight.c10.storage import UntypedStorage
from rushlight.library import Library

HEADER = Path(__file__).with_name("rushlight.h").read_text(encoding="utf-8")


def rms_norm_source() -> str:
    """The C++ text of `rms_norm`, an operator that scales every row along the last dimension to the same length:

        y = x / sqrt(mean of x * x along the last dimension + eps) * weight

    The text includes `"rushlight.h"` (which is `HEADER`; everything in it except macros is in the namespace `rl`), and has a
    function and, after it, its registration:

        Tensor rms_norm(const Tensor& x, const Tensor& weight, double eps) { ... }
        OPERATOR(rms_norm, "rms_norm(Tensor x, Tensor weight, float eps=1e-5) -> Tensor")

    Args of the operator:
        x: at least one dimension, any sizes (including 0) and strides, float32 or float64.
        weight: one dimension with the size of the last dimension of `x`, any stride, the dtype of `x`.
        eps: added to the mean.

    Returns:
        a new tensor with the sizes and the dtype of `x` and contiguous strides. The rows are independent of each other, so
        `parallel_for` may distribute them.

    Raises:
        RuntimeError (`CHECK`): `x` has no dimensions, or `weight` has the wrong sizes or another dtype than `x`, which `Rows`
            and `Accessor` check too. (PyTorch's rms_norm promotes them.)
        NotImplementedError (`DISPATCH_FLOATING`): any other dtype of both.

    Source: `torch.nn.functional.rms_norm`; `aten/src/ATen/native/cpu/layer_norm_kernel.cpp`.
    """
    return r"""
#include "rushlight.h"
using namespace rl;

// One line. Called with strides that are the constant 1, it is compiled a second time, for vector registers.
template <class T>
inline void normalise(const T* x, int64_t x_stride, const T* weight, int64_t w_stride, T* out, int64_t size, double eps) {
  T sum = 0;
#pragma omp simd reduction(+ : sum)
  for (int64_t j = 0; j < size; j++) sum += x[j * x_stride] * x[j * x_stride];
  const T scale = static_cast<T>(1 / std::sqrt(sum / size + eps));
  for (int64_t j = 0; j < size; j++) out[j] = x[j * x_stride] * scale * weight[j * w_stride];
}

Tensor rms_norm(const Tensor& x, const Tensor& weight, double eps) {
  // error checks
  CHECK(x.dim() > 0, "rms_norm: x needs at least one dimension");
  CHECK(weight.dim() == 1 && weight.size(0) == x.size(-1), "rms_norm: weight needs the size of the last dimension of x");
  CHECK(weight.dtype() == x.dtype(), "rms_norm: weight needs the dtype of x");
  // output allocation
  Tensor out = empty_like(x);
  // dtype dispatch
  DISPATCH_FLOATING(x.dtype(), "rms_norm", [&] {
    // data access
    Rows<const scalar_t> from(x);
    Rows<scalar_t> to(out);
    const auto* w = static_cast<const scalar_t*>(weight.data);
    const int64_t w_stride = weight.stride(0), size = from.size;
    const bool plain = from.stride == 1 && w_stride == 1;
    // parallelisation
    parallel_for(0, from.count, from.grain(), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; i++) {
        if (plain) normalise(from.row(i), 1, w, 1, to.row(i), size, eps);
        else normalise(from.row(i), from.stride, w, w_stride, to.row(i), size, eps);
      }
    });
  });
  return out;
}

OPERATOR(rms_norm, "rms_norm(Tensor x, Tensor weight, float eps=1e-5) -> Tensor")
"""


# Compiling -----------------------------------------------------------------------------------------------------------


class CompileError(RuntimeError):
    """The compiler rejected a text. The message is the compiler's."""


def compiler() -> str:
    """The C++ compiler: `$CXX`, or the first one that is found. If there is none, a RuntimeError says how to install one."""
    for name in (os.environ.get("CXX"), "g++", "clang++", "c++"):
        if name and (path := shutil.which(name)):
            return path
    if sys.platform == "emscripten":
        raise RuntimeError("there is no C++ compiler in a browser")
    raise RuntimeError(
        "there is no C++ compiler: install one (Debian, Ubuntu: `apt-get install g++`; macOS: `xcode-select --install`; "
        "Windows: in WSL 2; conda: `conda install cxx-compiler`), or name one in $CXX"
    )


# No -march=native: a library in the cache may be loaded on another machine. No -ffast-math: linking with it makes the whole
# process flush denormal numbers to zero. `#pragma omp simd` allows a sum in another order where the code requests it.
FLAGS = ["-std=c++17", "-O3", "-fPIC", "-shared", "-pthread"] + (["-fopenmp-simd"] if sys.platform == "linux" else [])


@cache
def build_folder() -> Path:
    """The folder of compiled libraries: in the user's cache or, if that cannot be written, a folder for this process."""
    folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "rushlight" / "cpp"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return folder
    except OSError:
        return Path(tempfile.mkdtemp(prefix="rushlight-"))


_extensions: dict[str, Extension | CompileError] = {}  # by source, for this process


def build(source: str) -> Extension:
    """The library of a C++ text, compiled if it is not in the cache.

    Raises:
        CompileError (a RuntimeError): the text does not compile.
        RuntimeError: there is no compiler.

    Source: `torch/utils/cpp_extension.py`, `load_inline`.
    """
    if source not in _extensions:
        try:
            _extensions[source] = Extension(_build_library(source))
        except CompileError as error:
            _extensions[source] = error
    extension = _extensions[source]
    if isinstance(extension, CompileError):
        raise extension
    return extension


def _build_library(source: str) -> Path:
    if not isinstance(source, str):
        raise TypeError(f"a C++ source is a str, not {type(source).__name__}")
    command = [compiler(), *FLAGS]
    key = hashlib.sha256("\0".join([HEADER, source, *command]).encode()).hexdigest()[:24]
    return compiled(key, [*command, "operator.cpp"], {"rushlight.h": HEADER, "operator.cpp": source})


def compiled(name: str, command: Sequence[str], texts: dict[str, str]) -> Path:
    """The library `name` in `build_folder()`. If it does not exist, the command compiles it from `texts`, a dict by file name.

    In grading, `RUSHLIGHT_KERNELS` names a folder of libraries that have been compiled. Raises CompileError, with the compiler's
    message.
    """
    library = build_folder() / f"{name}.so"
    for path in (library, Path(os.environ.get("RUSHLIGHT_KERNELS", ""), library.name)):
        if path.is_file():
            return path
    with tempfile.TemporaryDirectory(dir=build_folder()) as folder:
        for file, text in texts.items():
            Path(folder, file).write_text(text, encoding="utf-8")
        done = subprocess.run([*command, "-o", "operator.so"], cwd=folder, capture_output=True, text=True)
        if done.returncode != 0:
            raise CompileError(done.stderr.strip() or f"{command[0]} ended with {done.returncode}")
        os.replace(Path(folder, "operator.so"), library)  # atomic, because another process may build the same library
    return library


# Calling -------------------------------------------------------------------------------------------------------------


_INTS = ctypes.POINTER(ctypes.c_int64)


class _Tensor(ctypes.Structure):
    """`rl::Tensor`."""

    _fields_ = [("data", ctypes.c_void_p), ("sizes", _INTS), ("strides", _INTS)]
    _fields_ += [("ndim", ctypes.c_int32), ("type", ctypes.c_int32), ("id", ctypes.c_int64)]


class _Value(ctypes.Structure):
    """`rl::Value`."""

    _fields_ = [("tensor", _Tensor), ("number", ctypes.c_double), ("integer", ctypes.c_int64)]


_ALLOCATE = ctypes.CFUNCTYPE(None, _INTS, ctypes.c_int64, ctypes.c_int32, ctypes.POINTER(_Tensor))
_ERRORS = {1: RuntimeError, 2: NotImplementedError, 3: IndexError}


class Extension:
    """A loaded library. Its operators are in `schemas`, by name, and are attributes: `extension.rms_norm(x, weight)`."""

    def __init__(self, path: Path):
        self._library = ctypes.CDLL(str(path))
        self._library.rushlight_schema.restype = ctypes.c_char_p
        texts = [self._library.rushlight_schema(ctypes.c_int64(i)) for i in range(self._library.rushlight_count())]
        schemas = [parse_schema(text.decode()) for text in texts]
        self.schemas: dict[str, FunctionSchema] = {schema.name: schema for schema in schemas}

    def __getattr__(self, name: str) -> Callable:
        if name.startswith("_") or name not in self.schemas:
            raise AttributeError(f"the C++ text registers no operator {name!r} (OPERATOR), only {[*self.schemas]}")
        schema, index = self.schemas[name], [*self.schemas].index(name)
        return lambda *args, **kwargs: self._call(index, bind(schema, args, kwargs))

    def _call(self, index: int, stack: list) -> Tensor:
        """Box the arguments, call the operator, and find the returned tensor: an argument, or an allocated tensor."""
        known: list[Tensor] = []
        guards: list[np.ndarray] = []

        def allocate(sizes: Any, ndim: int, code: int, out: Any) -> None:
            try:
                out[0] = _describe_tensor(_allocate_guarded(sizes[:ndim], ALL[code], guards), known)
            except (RuntimeError, MemoryError, ValueError):
                out[0] = _Tensor(id=-1)

        values = (_Value * len(stack))(*(_box(value, known) for value in stack))
        result, why = _Tensor(), ctypes.create_string_buffer(500)
        call = self._library.rushlight_call
        code = call(ctypes.c_int64(index), values, _ALLOCATE(allocate), ctypes.byref(result), why)
        if code:
            raise _ERRORS[code](why.value.decode(errors="replace"))
        if any((guard != _UNTOUCHED).any() for guard in guards):
            name = [*self.schemas][index]
            raise RuntimeError(f"{name} wrote beyond the end, or before the beginning, of a new tensor")
        return known[result.id]


_GUARD, _UNTOUCHED = 1024, 0xA5  # number of guard bytes on either side of a new tensor, and the value of each


def _allocate_guarded(sizes: Sequence[int], dtype: dtype, guards: list[np.ndarray]) -> Tensor:
    """A new tensor between two guard regions, which are checked after the call, because C++ does not check indices."""
    nbytes = math.prod(sizes) * dtype.itemsize
    memory = np.empty(nbytes + 2 * _GUARD, np.uint8)
    guards += [memory[:_GUARD], memory[_GUARD + nbytes :]]
    for guard in guards[-2:]:
        guard[:] = _UNTOUCHED
    storage = UntypedStorage.of(memory[_GUARD : _GUARD + nbytes])
    return Tensor(storage, sizes, contiguous_strides(sizes), 0, dtype)


def _box(value: Any, known: list[Tensor]) -> _Value:
    if isinstance(value, Tensor):
        return _Value(tensor=_describe_tensor(value, known))
    return _Value(number=value, integer=int(value))


def _describe_tensor(tensor: Tensor, known: list[Tensor]) -> _Tensor:
    """The `rl::Tensor` of a tensor. `known` keeps the tensor alive during the call, and ctypes its sizes and strides."""
    ints = ctypes.c_int64 * tensor.dim()
    known.append(tensor)
    sizes, strides = (ctypes.cast(ints(*numbers), _INTS) for numbers in (tensor.shape, tensor.stride()))
    return _Tensor(tensor.data_ptr(), sizes, strides, tensor.dim(), ALL.index(tensor.dtype), len(known) - 1)


# Registering ---------------------------------------------------------------------------------------------------------

_registered: dict[tuple[str, str], tuple[Extension, Library]] = {}


def load(source: str, namespace: str = "rushlight_cpp") -> Extension:
    """Build a C++ text and register its operators for the key `CPU`. Then `rl.ops.<namespace>.<name>` calls them. An operator
    with the same name from another text is replaced."""
    extension = build(source)
    for name, schema in extension.schemas.items():
        known, library = _registered.get((namespace, name), (None, None))
        if known is extension:
            continue
        if library is not None:
            library._destroy()
        library = Library(namespace, "FRAGMENT")
        library.define(str(schema).partition("::")[2])
        library.impl(name, getattr(extension, name), "CPU")
        _registered[namespace, name] = extension, library
    return extension


def rms_norm(x: Tensor, weight: Tensor, eps: float = 1e-5) -> Tensor:
    """The operator that `rms_norm_source` defines, called through the dispatcher."""
    load(rms_norm_source())
    return operators["rushlight_cpp::rms_norm"](x, weight, eps)
