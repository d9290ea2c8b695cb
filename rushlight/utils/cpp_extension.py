"""Operators written in C++, on rushlight's own memory.

The system's compiler compiles a source text. The library is loaded, and its operators are registered with the dispatcher like
any other operator. The C++ code includes `HEADER`: a tensor as pointer, sizes and strides, a switch over dtypes, and a loop
over threads. In PyTorch: `torch/utils/cpp_extension.py` (`load_inline`), and for the header `ATen/ATen.h`,
`ATen/core/TensorAccessor.h`, `ATen/Dispatch.h`, `ATen/Parallel.h`, `torch/library.h`, `ATen/core/boxing/`. Left out: half precision
(C++17 has no such type), operators whose result is not one tensor, calls of rushlight's operators from C++.
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

# ------------------------------------------------------------------------------------------------------------
# The header

HEADER = r"""// rushlight.h: rushlight's interface for operators in C++. In PyTorch this is ATen.
#pragma once
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace rl {

enum class dtype : int32_t { bool_, uint8, int32, int64, float16, float32, float64 };

inline const char* name_of(dtype type) {
  const char* names[] = {"Bool", "Byte", "Int", "Long", "Half", "Float", "Double"};
  return names[static_cast<int>(type)];
}

// A tensor: a pointer to its first element, its sizes, and its strides in elements. It owns no memory.
struct Tensor {
  void* data;
  const int64_t* sizes;
  const int64_t* strides;
  int32_t ndim;
  rl::dtype type;
  int64_t id;  // the tensor's index on the Python side

  int64_t dim() const { return ndim; }
  rl::dtype dtype() const { return type; }
  int64_t size(int64_t dim) const { return sizes[wrap(dim)]; }
  int64_t stride(int64_t dim) const { return strides[wrap(dim)]; }
  int64_t numel() const {
    int64_t product = 1;
    for (int32_t d = 0; d < ndim; d++) product *= sizes[d];
    return product;
  }
  int64_t wrap(int64_t dim) const {
    if (dim < -ndim || dim >= ndim) throw std::out_of_range("Dimension out of range");
    return dim < 0 ? dim + ndim : dim;
  }
};

// Error checks. Python raises RuntimeError; NotImplemented becomes NotImplementedError, std::out_of_range IndexError.
struct NotImplemented : std::runtime_error {
  using std::runtime_error::runtime_error;
};
#define CHECK(condition, message) \
  if (!(condition)) throw std::runtime_error(message)

// A new tensor with contiguous strides. Python owns its memory, which is uninitialized.
using Allocate = void (*)(const int64_t* sizes, int64_t ndim, int32_t type, Tensor* out);
static thread_local Allocate allocate = nullptr;
inline Tensor empty(const std::vector<int64_t>& sizes, dtype type) {
  Tensor out;
  allocate(sizes.data(), static_cast<int64_t>(sizes.size()), static_cast<int32_t>(type), &out);
  CHECK(out.id >= 0, "empty: not enough memory for a tensor of these sizes");
  return out;
}
inline Tensor empty_like(const Tensor& x) { return empty({x.sizes, x.sizes + x.ndim}, x.type); }

// The elements of a tensor with N dimensions: x[i][j]. Indices are not checked.
template <class T, int N>
struct Accessor {
  T* data;
  const int64_t* sizes;
  const int64_t* strides;
  explicit Accessor(const Tensor& x) : Accessor(static_cast<T*>(x.data), x.sizes, x.strides) {
    CHECK(x.ndim == N, "Accessor: wrong number of dimensions");
  }
  Accessor(T* data, const int64_t* sizes, const int64_t* strides) : data(data), sizes(sizes), strides(strides) {}
  int64_t size(int64_t dim) const { return sizes[dim]; }
  int64_t stride(int64_t dim) const { return strides[dim]; }
  decltype(auto) operator[](int64_t i) const {
    if constexpr (N == 1) return (data[i * strides[0]]);
    else return Accessor<T, N - 1>(data + i * strides[0], sizes + 1, strides + 1);
  }
};

// A tensor with at least one dimension, as rows along the last dimension: element j of row i is at row(i)[j * stride].
// The rows are numbered in row-major order of the other dimensions.
template <class T>
struct Rows {
  const Tensor& x;
  int64_t count, size, stride;
  explicit Rows(const Tensor& x) : x(x), count(1), size(x.size(-1)), stride(x.stride(-1)) {
    for (int32_t d = 0; d + 1 < x.ndim; d++) count *= x.sizes[d];
  }
  int64_t grain() const { return 1 + 32768 / (size + 1); }  // the smallest number of rows worth a thread
  T* row(int64_t i) const {
    T* start = static_cast<T*>(x.data);
    for (int32_t d = x.ndim - 2; d >= 0; d--) {
      start += i % x.sizes[d] * x.strides[d];
      i /= x.sizes[d];
    }
    return start;
  }
};

// DISPATCH_FLOATING(x.dtype(), "name", [&] { ... scalar_t ... }): compile the body once per dtype, and run the one for x's.
#define CASE(TYPE, T, ...)      \
  case rl::dtype::TYPE: {       \
    using scalar_t = T;         \
    return __VA_ARGS__();       \
  }
#define SWITCH(TYPE, NAME, CASES)                                                                               \
  [&] {                                                                                                         \
    switch (TYPE) {                                                                                             \
      CASES default : throw rl::NotImplemented(std::string("\"") + NAME + "\" not implemented for '" +          \
                                               rl::name_of(TYPE) + "'");                                        \
    }                                                                                                           \
  }()
#define FLOATING_CASES(...) CASE(float32, float, __VA_ARGS__) CASE(float64, double, __VA_ARGS__)
#define INTEGRAL_CASES(...) \
  CASE(uint8, uint8_t, __VA_ARGS__) CASE(int32, int32_t, __VA_ARGS__) CASE(int64, int64_t, __VA_ARGS__)
#define DISPATCH_FLOATING(TYPE, NAME, ...) SWITCH(TYPE, NAME, FLOATING_CASES(__VA_ARGS__))
#define DISPATCH_ALL(TYPE, NAME, ...) SWITCH(TYPE, NAME, FLOATING_CASES(__VA_ARGS__) INTEGRAL_CASES(__VA_ARGS__))

// Call f(begin, end) on parts of the range, on several threads. A part smaller than `grain` gets no thread of its own.
template <class F>
void parallel_for(int64_t begin, int64_t end, int64_t grain, const F& f) {
  const int64_t most = std::thread::hardware_concurrency(), wanted = (end - begin) / (grain > 0 ? grain : 1);
  const int64_t threads = wanted < most ? wanted : most;
  if (threads <= 1) {
    if (begin < end) f(begin, end);
    return;
  }
  std::vector<std::thread> others;
  std::vector<std::exception_ptr> errors(threads);
  auto part = [&](int64_t t) {
    try {
      f(begin + (end - begin) * t / threads, begin + (end - begin) * (t + 1) / threads);
    } catch (...) {
      errors[t] = std::current_exception();
    }
  };
  for (int64_t t = 1; t < threads; t++) others.emplace_back(part, t);
  part(0);
  for (auto& other : others) other.join();
  for (auto& error : errors)
    if (error) std::rethrow_exception(error);
}

// Python calls every operator in the same way, boxed, with an array of values. OPERATOR unboxes them.
struct Value {
  Tensor tensor;
  double number;
  int64_t integer;
};
template <class T> struct Unbox;
template <> struct Unbox<Tensor> { static Tensor from(const Value& v) { return v.tensor; } };
template <> struct Unbox<double> { static double from(const Value& v) { return v.number; } };
template <> struct Unbox<int64_t> { static int64_t from(const Value& v) { return v.integer; } };
template <> struct Unbox<bool> { static bool from(const Value& v) { return v.integer != 0; } };

template <auto F> struct Boxed;
template <class... Args, Tensor (*F)(Args...)>
struct Boxed<F> {
  template <size_t... I>
  static Tensor unbox(const Value* stack, std::index_sequence<I...>) {
    return F(Unbox<std::decay_t<Args>>::from(stack[I])...);
  }
  static Tensor call(const Value* stack) { return unbox(stack, std::index_sequence_for<Args...>{}); }
};

struct Operator {
  const char* schema;
  Tensor (*call)(const Value*);
};
// static: each library has its own list, although all include this header
static std::vector<Operator>& operators() {
  static std::vector<Operator> all;
  return all;
}
#define OPERATOR(function, schema) \
  static const bool registered_##function = (rl::operators().push_back({schema, rl::Boxed<&function>::call}), true);

}  // namespace rl

extern "C" int64_t rushlight_count() { return static_cast<int64_t>(rl::operators().size()); }
extern "C" const char* rushlight_schema(int64_t i) { return rl::operators()[i].schema; }
extern "C" int rushlight_call(int64_t i, const rl::Value* stack, rl::Allocate allocate, rl::Tensor* out, char* why) {
  rl::allocate = allocate;
  try {
    *out = rl::operators()[i].call(stack);
    return 0;
  } catch (const rl::NotImplemented& error) {
    std::snprintf(why, 500, "%s", error.what());
    return 2;
  } catch (const std::out_of_range& error) {
    std::snprintf(why, 500, "%s", error.what());
    return 3;
  } catch (const std::exception& error) {
    std::snprintf(why, 500, "%s", error.what());
    return 1;
  }
}
"""


def rms_norm_source() -> str:
    """The C++ text of `rms_norm`, an operator that scales every row along the last dimension to the same length:

        y = x / sqrt(mean of x * x along the last dimension + eps) * weight

    The text begins with `#include "rushlight.h"` (which is `HEADER`; everything in it except macros is in the namespace `rl`)
    and has a function and, after it, its registration:

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
        RuntimeError (`CHECK`): `x` has no dimensions, or `weight` has the wrong sizes.
        NotImplementedError (`DISPATCH_FLOATING`): any other dtype.

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


# ------------------------------------------------------------------------------------------------------------
# Compiling


class CompileError(RuntimeError):
    """The compiler rejected a text. The message is the compiler's."""


def compiler() -> str:
    """The C++ compiler: `$CXX`, or the first one that is found. If there is none, a RuntimeError says how to install one."""
    for name in (os.environ.get("CXX"), "g++", "clang++", "c++"):
        if name and (path := shutil.which(name)):
            return path
    raise RuntimeError(
        "there is no C++ compiler: install one (Debian, Ubuntu: `apt-get install g++`; macOS: `xcode-select --install`; "
        "conda: `conda install cxx-compiler`), or name one in $CXX"
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
    found = _extensions[source]
    if isinstance(found, CompileError):
        raise found
    return found


def _build_library(source: str) -> Path:
    if not isinstance(source, str):
        raise TypeError(f"a C++ source is a str, not {type(source).__name__}")
    command = [compiler(), *FLAGS]
    key = hashlib.sha256("\0".join([HEADER, source, *command]).encode()).hexdigest()[:24]
    return compiled(key, [*command, "operator.cpp"], {"rushlight.h": HEADER, "operator.cpp": source})


def compiled(name: str, command: Sequence[str], texts: dict[str, str]) -> Path:
    """The library `name` in `build_folder()`. If it does not exist, the command compiles it from `texts`, a dict by file name.

    Raises CompileError, with the compiler's message.
    """
    library = build_folder() / f"{name}.so"
    if library.exists():
        return library
    with tempfile.TemporaryDirectory(dir=build_folder()) as folder:
        for file, text in texts.items():
            Path(folder, file).write_text(text, encoding="utf-8")
        done = subprocess.run([*command, "-o", "operator.so"], cwd=folder, capture_output=True, text=True)
        if done.returncode != 0:
            raise CompileError(done.stderr.strip() or f"{command[0]} ended with {done.returncode}")
        os.replace(Path(folder, "operator.so"), library)  # atomic, because another process may build the same library
    return library


# ------------------------------------------------------------------------------------------------------------
# Calling


class _Tensor(ctypes.Structure):
    """`rl::Tensor`."""

    _fields_ = [
        ("data", ctypes.c_void_p),
        ("sizes", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("ndim", ctypes.c_int32),
        ("type", ctypes.c_int32),
        ("id", ctypes.c_int64),
    ]


class _Value(ctypes.Structure):
    """`rl::Value`."""

    _fields_ = [("tensor", _Tensor), ("number", ctypes.c_double), ("integer", ctypes.c_int64)]


_ALLOCATE = ctypes.CFUNCTYPE(
    None, ctypes.POINTER(ctypes.c_int64), ctypes.c_int64, ctypes.c_int32, ctypes.POINTER(_Tensor)
)
_ERRORS = {1: RuntimeError, 2: NotImplementedError, 3: IndexError}


class Extension:
    """A loaded library. Its operators are in `schemas`, by name, and are attributes: `extension.rms_norm(x, weight)`."""

    def __init__(self, path: Path):
        self._library = ctypes.CDLL(str(path))
        self._library.rushlight_schema.restype = ctypes.c_char_p
        texts = [self._library.rushlight_schema(ctypes.c_int64(i)) for i in range(self._library.rushlight_count())]
        self.schemas: dict[str, FunctionSchema] = {}
        for text in texts:
            schema = parse_schema(text.decode())
            self.schemas[schema.name] = schema

    def __getattr__(self, name: str) -> Callable:
        if name.startswith("_") or name not in self.schemas:
            raise AttributeError(f"the C++ text registers no operator {name!r} (OPERATOR), only {[*self.schemas]}")
        schema, index = self.schemas[name], [*self.schemas].index(name)

        def operator(*args: Any, **kwargs: Any) -> Tensor:
            return self._call(index, bind(schema, args, kwargs))

        return operator

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
        code = self._library.rushlight_call(
            ctypes.c_int64(index), values, _ALLOCATE(allocate), ctypes.byref(result), why
        )
        if code:
            raise _ERRORS[code](why.value.decode(errors="replace"))
        if any((guard != _UNTOUCHED).any() for guard in guards):
            raise RuntimeError(
                f"{[*self.schemas][index]} wrote beyond the end, or before the beginning, of a new tensor"
            )
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
    sizes, strides = (
        ctypes.cast(ints(*each), ctypes.POINTER(ctypes.c_int64)) for each in (tensor.shape, tensor.stride())
    )
    return _Tensor(tensor.data_ptr(), sizes, strides, tensor.dim(), ALL.index(tensor.dtype), len(known) - 1)


# ------------------------------------------------------------------------------------------------------------
# Registering

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
