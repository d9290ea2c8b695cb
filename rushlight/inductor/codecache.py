"""From generated C++ to a loaded library: compiled once for a text, a compiler and a machine, and cached on disk.

The key of the cache is a hash of everything that the library depends on, so that equal code is compiled once. In PyTorch:
`torch/_inductor/codecache.py` (`CppCodeCache`, `code_hash`), `torch/_inductor/cpp_builder.py`. Left out: compiling in worker
processes, caches of graphs and of autotuning, the remote cache, precompiled headers.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import platform
import subprocess
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import numpy as np

from rushlight.inductor.cpp_prelude import FLAGS, PRELUDE
from rushlight.utils.cpp_extension import compiled, compiler


def cache_key(texts: dict[str, str], command: Sequence[str], machine: str) -> str:
    """The key of the cache for the library made of these texts.

    Two keys are equal if and only if everything that the library depends on is equal: the texts and the names of their files, the
    words of the command and their order, the machine. The order of the texts in the dict does not matter. The boundaries between
    texts and words matter: `["-D", "A"]` is not `["-DA"]`. Every character matters: case, spaces, letters outside ASCII.
    UTF-8 can encode all of them.

    Args:
        texts: by file name.
        command: a list or tuple: the compiler and its options, one word each.
        machine: a description of the machine: one str.

    Returns:
        24 lower-case hexadecimal digits of a cryptographic hash, such as the first digits of `hashlib.sha256(data).hexdigest()`.
        They are the same in every process: Python's own `hash` of a str is not.

    >>> one, other = (cache_key({"a.cpp": text}, ["g++"], "x86_64") for text in ("int f();", "int g();"))
    >>> len(one), one == other
    (24, False)

    Source: `torch/_inductor/codecache.py`, `code_hash`, `get_hash`.
    """
    whole = f"{sorted(texts.items())} {list(command)} {machine!r}"
    return hashlib.sha256(whole.encode()).hexdigest()[:24]


@cache
def compiler_version() -> str:
    """The first line that the C++ compiler prints for `--version`. It is part of the key of compiled code."""
    return subprocess.run([compiler(), "--version"], capture_output=True, text=True).stdout.partition("\n")[0]


@cache
def instructions() -> str:
    """The instruction sets of this processor, as the system lists them."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next(line for line in lines if line.startswith(("flags", "Features")))
    except (OSError, StopIteration):
        return platform.processor()


@cache
def machine() -> str:
    """Everything on which `-march=native` and the system's libraries depend."""
    return "\n".join([compiler_version(), platform.platform(), instructions()])


def load(texts: dict[str, str]) -> ctypes.CDLL:
    """The library made of `graph.cpp`. `texts` has this file and the files that it includes, by name.

    Raises:
        RuntimeError: there is no compiler (one line, which says what to do), or the compiler reports an error.
    """
    parallel = ["-fopenmp"] if "#pragma omp parallel" in texts["graph.cpp"] else []
    command = [compiler(), *FLAGS, *parallel, "graph.cpp"]
    library = ctypes.CDLL(str(compiled(cache_key(texts, command, machine()), command, texts)))
    if parallel:
        _parallel.append(library)
        _notify_fork()
    return library


_parallel: list[ctypes.CDLL] = []  # libraries that have threads
_PROCESS = os.getpid()


def _notify_fork() -> None:
    """Tell all libraries if this is a forked process, which does not have their threads."""
    if os.getpid() != _PROCESS:
        for library in _parallel:
            ctypes.c_int.in_dll(library, "after_fork").value = 1


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_notify_fork)


# Access to numpy from generated code ---------------------------------------------------------------------------------
#
# C++ gets the address of an array object, which costs least: the pointer to the data is the first field after the head that all
# Python objects have. In the same way `np.matmul` has a pointer to its inner loops, which call numpy's BLAS. Both structs are in
# numpy's public headers (`ndarraytypes.h`, `ufuncobject.h`).

HEAD = object.__basicsize__


class _Ufunc(ctypes.Structure):
    """`PyUFuncObject`, up to the last field that is read here."""

    _fields_ = [("head", ctypes.c_char * HEAD)]
    _fields_ += [(name, ctypes.c_int) for name in ("nin", "nout", "nargs", "identity")]
    _fields_ += [(name, ctypes.POINTER(ctypes.c_void_p)) for name in ("functions", "data")]
    _fields_ += [("ntypes", ctypes.c_int)]


def load_kernels(source: str) -> ctypes.CDLL:
    """The library of a text that gets the addresses of arrays. `HEAD` is defined in it, and it may include `prelude.h`."""
    return load({"graph.cpp": f"#define HEAD {HEAD}\n{source}", "prelude.h": PRELUDE})


@cache
def matmul_loop(dtype: str) -> int:
    """The address of numpy's loop for matmul of one dtype: `void (*)(char** args, intptr_t* sizes, intptr_t* steps, void*)`.

    `args` are a, b and the result. `sizes` are the number of matrices and m, k, n. `steps` are in bytes: from matrix to matrix for
    each argument, then for the two dimensions of a, of b and of the result.
    """
    ufunc, character = _Ufunc.from_address(id(np.matmul)), np.dtype(dtype).char
    probe = np.empty(1)
    is_known = (ufunc.nin, ufunc.nout, ufunc.nargs, ufunc.ntypes) == (2, 1, 3, len(np.matmul.types))
    if not is_known or ctypes.c_void_p.from_address(id(probe) + HEAD).value != probe.ctypes.data:
        raise RuntimeError("compiled code does not know the object layout of this version of numpy")
    return ufunc.functions[np.matmul.types.index(f"{character}{character}->{character}")]
