"""Kernels in CUDA C++ on a computer without a GPU: compiled by the system's compiler, run thread by thread, and counted.

A text is compiled with `-fsanitize=thread`, which calls a function before each access to memory. The functions are not that
sanitizer's but those of `accesses.cpp` here; `threads.cpp` runs each thread of a block as a fiber, and `device.h` has the
language. So the kernel's values are computed, and these are facts: what each warp asks of memory, in sectors of 32 bytes and in
wavefronts of shared memory, races, accesses outside of arrays, barriers that not all threads reach. In PyTorch: nothing; on a
GPU, Nsight Compute and compute-sanitizer tell these. What is modelled and what is not: `README.md`.
"""

from __future__ import annotations

import ctypes
import functools
import hashlib
import json
import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rushlight.aten.native.cuda import loops
from rushlight.aten.native.cuda.loops import base_of
from rushlight.utils.cpp_extension import CompileError, compiled, compiler

if TYPE_CHECKING:
    from rushlight.on_torch import gpu

__all__ = ["CompileError", "Counts", "Finding", "Module", "Result", "Traffic", "base_of", "shifted", "uninitialized"]

HERE = Path(__file__).parent
LARGEST_SHARED = 227 << 10  # bytes of a block, on a device of compute capability 9.0

# Optimisations that merge or split accesses are off, so that an access of the text is counted once. No fused multiply-add.
KERNEL_FLAGS = "-std=c++17 -O1 -g1 -fPIC -shared -w -ffp-contract=off -Wl,-Bsymbolic -nodefaultlibs"
KERNEL_FLAGS += " -fsanitize=thread -fsanitize-coverage=trace-pc"
# As nvcc does, functions are made part of their callers. A struct that a call takes from memory would not be counted.
KERNEL_FLAGS += " -finline-functions -fno-semantic-interposition -fno-delete-null-pointer-checks"
ONLY_GCC = (
    "-finline-small-functions -finline-limit=1000 -fno-gnu-unique -fno-tree-sra -fno-tree-cselim -fno-tree-loop-im"
)
ONLY_GCC += " -fno-tree-ch -fno-tree-sink -fmax-errors=5"
ONLY_GCC += " --param=tsan-instrument-func-entry-exit=0 --param=tsan-distinguish-volatile=1"
ONLY_CLANG = "-fsanitize-coverage=no-prune -fno-slp-vectorize -fno-vectorize -fno-unroll-loops"
# Its names are global, so it must not export those of a C++ library that a compiler has made part of it
RUNTIME_FLAGS = "-std=c++17 -O2 -fPIC -shared -U_FORTIFY_SOURCE -fvisibility=hidden -Wl,--exclude-libs,ALL"
HEADERS = {name: (HERE / name).read_text(encoding="utf-8") for name in ("device.h", "half.h")}
RUNTIME = {name: (HERE / name).read_text(encoding="utf-8") for name in ("runtime.h", "threads.cpp", "accesses.cpp")}
# Files whose content is in device.h
EMPTY = dict.fromkeys(
    ["cuda_fp16.h", "cuda_bf16.h", "cuda_runtime.h", "stdio.h", "cstdio", "assert.h", "cassert", "math_constants.h"], ""
)


# Results -------------------------------------------------------------------------------------------------------------


@functools.cache
def is_clang(compiler: str) -> bool:
    """Whether a compiler is clang, as it is on macOS under the name g++."""
    return "clang" in subprocess.run([compiler, "--version"], capture_output=True, text=True).stdout


@dataclass
class Traffic:
    """What threads asked of one kind of memory. A request is one instruction of a warp."""

    threads: int = 0  # accesses, each thread's counted
    requests: int = 0
    bytes: int = 0  # that the threads asked for
    sectors: int = 0  # of 32 bytes; global memory
    wavefronts: int = 0  # shared memory
    conflicts: int = 0  # wavefronts more than the least that accesses of this width need

    def add(self, other: Traffic) -> None:
        for name in (f.name for f in fields(self)):
            setattr(self, name, getattr(self, name) + getattr(other, name))


@dataclass
class Counts:
    """The counts of a launch, or of one line of its text."""

    global_load: Traffic = field(default_factory=Traffic)
    global_store: Traffic = field(default_factory=Traffic)
    global_atomic: Traffic = field(default_factory=Traffic)
    shared_load: Traffic = field(default_factory=Traffic)
    shared_store: Traffic = field(default_factory=Traffic)
    shared_atomic: Traffic = field(default_factory=Traffic)
    barriers: int = 0  # each block's counted
    warp_operations: int = 0  # shuffles, votes and __syncwarp, each warp's counted


@dataclass
class Finding:
    """A defect of a kernel. The first occurrence is described, and `count` says how many there were.

    `kind` is `outside` (of all arrays), `misaligned`, `division` (of an integer by 0), `race`, `unwritten` (memory that is read and
    was never written), `barrier` (other threads of the block ended, or wait at another one), `deadlock`, `mask` (without the
    caller), `shuffle` (of a lane that does not take part), `endless` (too many steps) or `assert`.
    """

    kind: str
    line: int | None
    block: tuple[int, int, int]
    thread: tuple[int, int, int]
    other_line: int | None = None
    other_block: tuple[int, int, int] | None = None
    other_thread: tuple[int, int, int] | None = None
    memory: str | None = None  # the name of a parameter, or "shared memory"
    index: int | None = None  # of the element, counted from the beginning of that memory
    mask: int | None = None
    text: str = ""
    count: int = 1


@dataclass
class Result:
    """The result of a launch. Values are in the arrays that were given."""

    counts: Counts
    findings: list[Finding]
    printed: str
    shared: int  # bytes of shared memory of a block: the dynamic ones, and the arrays that the kernel itself declares
    find_lines: Callable[[], dict[int | None, Counts]] = field(repr=False)

    @functools.cached_property
    def lines(self) -> dict[int | None, Counts]:
        """The counts of each line of the text. binutils are asked for the lines when they are first used."""
        return self.find_lines()


_KINDS = ["load", "store", "atomic"]


@dataclass
class uninitialized:
    """An argument whose elements have no values before the kernel writes them."""

    array: np.ndarray


@dataclass
class shifted:
    """An argument that is a pointer to so many elements before the array, as for a kernel that works on a part of a large array."""

    array: np.ndarray
    elements: int


# Compiling -----------------------------------------------------------------------------------------------------------


class _Parameter(ctypes.Structure):
    _fields_ = [("kind", ctypes.c_char), ("bytes", ctypes.c_int)]


class _Kernel(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("call", ctypes.c_void_p)]
    _fields_ += [("parameters", ctypes.POINTER(_Parameter)), ("count", ctypes.c_int)]


class _Buffer(ctypes.Structure):
    _fields_ = [("first", ctypes.c_void_p), ("bytes", ctypes.c_int64)]
    _fields_ += [("element", ctypes.c_int32), ("memory", ctypes.c_int32)]


_UNWRITTEN, _WRITTEN, _DYNAMIC_SHARED, _STATIC_SHARED = range(4)


class _Launch(ctypes.Structure):
    _fields_ = [("kernel", ctypes.c_void_p), ("arguments", ctypes.POINTER(ctypes.c_void_p))]
    _fields_ += [("grid", ctypes.c_uint * 3), ("block", ctypes.c_uint * 3)]
    _fields_ += [(name, ctypes.c_int64) for name in ("shared", "seed", "steps", "buffer_count")]
    _fields_ += [("buffers", ctypes.POINTER(_Buffer)), ("touch", ctypes.c_void_p)]


def _key(*texts: str) -> str:
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()[:24]


def runtime_library() -> Path:
    """The library that all kernels call, compiled if it is not in the cache. That takes seconds."""
    command = [compiler(), *RUNTIME_FLAGS.split(), "threads.cpp", "accesses.cpp"]
    if sys.platform != "linux":
        raise RuntimeError("kernels in CUDA C++ run on Linux only: on Windows use WSL 2, elsewhere a container")
    return compiled(_key(*RUNTIME.values(), *command), command, RUNTIME)


@functools.cache
def _runtime() -> ctypes.CDLL:
    """The runtime, loaded. Its names are global, because a kernel's library does not name it."""
    library = ctypes.CDLL(str(runtime_library()), mode=ctypes.RTLD_GLOBAL)
    library.cuda_host_launch.restype = None
    library.cuda_host_result.restype = library.cuda_host_printed.restype = ctypes.c_char_p
    return library


_DYNAMIC = re.compile(
    r"\bextern\s+__shared__\s+((?:__align__\s*\(\s*\d+\s*\)\s*)?)([\w\s:]*?[\w>])\s+(\w+)\s*\[\s*\]\s*;"
)
_BOUNDS = r"(?:__launch_bounds__\s*\([^)]*\)\s*)?"
_GLOBAL = re.compile(
    r"(template\s*<[^>]*>\s*)?(?:extern\s+\"C\"\s+)?(?:__global__\s+"
    rf"{_BOUNDS}void|void\s+__global__)\s+{_BOUNDS}(\w+)\s*\(([^)]*)\)\s*\{{"
)
# An empty endless loop gets a statement, so that its steps are counted, on its line. `} while (1);` may be the end of a `do`.
_EMPTY_LOOP = re.compile(
    r"(\}\s*while\s*\([^{};]*\)\s*;)|(\b(?:while\s*\(\s*(?:1|true)\s*\)|for\s*\(\s*;\s*;\s*\))(?:\s|//.*\n)*)(?:;|\{(\s*)\})"
)


class Module:
    """The kernels of a text, compiled once for each text. Templates are named: `Module(text, "transpose<1>")`.

    Raises:
        CompileError: the text does not compile; the message has the compiler's lines, and numbers of the text's lines.
        RuntimeError: there is no compiler.
    """

    def __init__(self, text: str, *instances: str):
        declared = list(_GLOBAL.finditer(re.sub(r"//[^\n]*|/\*.*?\*/", " ", text, flags=re.DOTALL)))
        names = [m[2] for m in declared if not m[1]] + list(instances)
        self._parameter_names = {m[2]: re.findall(r"(\w+)\s*(?:,|$)", m[3]) for m in declared}
        table = ", ".join(f'cuda_host::entry<{name}>("{name}", {name})' for name in names)
        self._text, self._has_shared = text, "__shared__" in text
        written = _EMPTY_LOOP.sub(lambda m: m[1] or f'{m[2]}{{ asm volatile(""); {m[3] or ""}}}', text)
        source = (
            _DYNAMIC.sub(r"CUDA_DYNAMIC_SHARED(\2, \3);", written) + "\n"
            f'extern "C" cuda_host::Kernel cuda_host_kernels[] = {{{table}}};\n'
            f'extern "C" int cuda_host_count = {len(names)};\n'
            'extern "C" void* cuda_host_touch() { static __thread char cuda_host_any; return &cuda_host_any; }\n'
        )
        name = compiler()
        flags = KERNEL_FLAGS.split() + (ONLY_CLANG if is_clang(name) else ONLY_GCC).split()
        command = [name, *flags, "-I.", "-include", "device.h", "-x", "c++", "kernel.cu", "-lm", "-lc"]
        texts = {**HEADERS, **EMPTY, "kernel.cu": source}
        self._runtime = _runtime()
        self.path = compiled(_key(*texts.values(), *command), command, texts)
        library = ctypes.CDLL(str(self.path))
        count = ctypes.c_int.in_dll(library, "cuda_host_count").value
        table_type = _Kernel * count
        self.kernels = {k.name.decode(): k for k in table_type.in_dll(library, "cuda_host_kernels")}
        self._touch = ctypes.cast(library.cuda_host_touch, ctypes.c_void_p)
        self._lines: dict[int, int | None] = {}

    def launch(
        self,
        name: str,
        grid: int | Sequence[int],
        block: int | Sequence[int],
        *arguments: Any,
        shared: int = 0,
        seed: int = 0,
        steps: int = 1 << 22,
    ) -> Result:
        """Run a kernel on a grid of blocks.

        Args:
            grid, block: their sizes, one to three numbers.
            arguments: an array for each pointer (a view is a pointer into its base, and all of its base may be accessed), a
                number for each number, a tuple of its fields (or its bytes) for a struct. Arrays are changed in place.
            shared: bytes of dynamic shared memory.
            seed: draws the order of blocks, of the block's warps and of a warp's lanes; 0 is the natural order.
            steps: the largest number of basic blocks that a thread may run.

        Raises:
            ValueError: a size that no device allows, or other arguments than the kernel has.
        """
        grid, block = _launchable(grid, block)
        memory = _Memory()
        kernel, values = self._pass(name, arguments, memory)
        arrays = self._arrays_of(name)
        used = shared + sum(size for _, size, _ in arrays)
        if used > LARGEST_SHARED:
            raise ValueError(f"a block has at most {LARGEST_SHARED:,} bytes of shared memory, not {used:,}")
        for first, size, array in [*arrays, *([(0, shared, "shared memory")] if shared else [])]:
            memory.add(array, first, size, 4, _STATIC_SHARED if array != "shared memory" else _DYNAMIC_SHARED)
        pointers = (ctypes.c_void_p * max(len(values), 1))(*(ctypes.addressof(value) for value in values))
        launch = _Launch(
            kernel.call, pointers, (ctypes.c_uint * 3)(*grid), (ctypes.c_uint * 3)(*block),
            shared, seed, steps, len(memory.buffers), memory.table(), self._touch,
        )  # fmt: skip
        self._runtime.cuda_host_launch(ctypes.byref(launch))
        memory.copy_back()
        return self._result(json.loads(self._runtime.cuda_host_result()), grid, block, memory, used)

    def on_gpu(
        self,
        name: str,
        grid: int | Sequence[int],
        block: int | Sequence[int],
        *arguments: Any,
        shared: int = 0,
        beside: Callable[..., Any] | None = None,
    ) -> gpu.OnGPU:
        """Run a kernel of the same text on a GPU, and time it there: nothing is counted. Arrays are changed as by one launch.

        Args:
            grid, block, arguments, shared: as for `launch`.
            beside: a function of torch that computes the same. It gets the arguments, with tensors on the GPU for arrays.

        Returns:
            the times, to be printed. Without a GPU nothing runs.

        Raises:
            RuntimeError: NVRTC does not compile the text, or CUDA reports an error.
        """
        from rushlight.on_torch import gpu

        if not gpu.is_available():
            return gpu.OnGPU()
        sizes, memory = _launchable(grid, block), _DeviceMemory(gpu.Memory())
        _, values = self._pass(name, arguments, memory)
        kernel = functools.partial(gpu.CudaKernel(self._text, name).launch, *sizes, values, shared)

        kernel()
        memory.device.copy_back()
        tensors = [memory.device.tensor(_array(value)) if _array(value) is not None else value for value in arguments]
        return gpu.timed(kernel, beside and functools.partial(beside, *tensors))

    def _pass(self, name: str, arguments: Sequence[Any], memory: _Memory) -> tuple[_Kernel, list[Any]]:
        """A kernel, and the values of its arguments, as ctypes has them."""
        if name not in self.kernels:
            raise ValueError(f"the text has no `__global__ void {name}(...)`: its kernels are {list(self.kernels)}")
        kernel = self.kernels[name]
        if len(arguments) != kernel.count:
            raise ValueError(f"{name} has {kernel.count} parameters, not {len(arguments)}")
        names = self._parameter_names.get(name.partition("<")[0], [])
        names = names if len(names) == kernel.count else [f"argument {i}" for i in range(kernel.count)]
        return kernel, [memory.pass_(value, kernel.parameters[i], names[i]) for i, value in enumerate(arguments)]

    def _result(self, told: dict, grid: tuple, block: tuple, memory: _Memory, shared: int) -> Result:
        self._find_lines([pc for f in told["findings"] for pc in f[2:4]])
        findings = []
        for kind, text, pc, other_pc, at, thread, other_at, other, region, offset, _, mask, count in told["findings"]:
            name, element = memory.names[region] if 0 <= region < len(memory.names) else (None, 1)
            kind, _, detail = kind.partition(", ")
            if detail == "other" and self._line(pc) == self._line(other_pc):
                continue  # the compiler has made two calls of one
            others = (_index(other_at, grid), _index(other, block)) if other >= 0 else (None, None)
            findings.append(Finding(
                kind, self._line(pc), _index(at, grid), _index(thread, block),
                self._line(other_pc) if other_pc >= 0 else None, *others,
                name, offset // element if name else None, mask or None, text, count,
            ))  # fmt: skip
        printed = self._runtime.cuda_host_printed().decode(errors="replace")
        total = Counts()
        for _, kind, *numbers in told["sites"]:
            _add(total, kind, numbers)
        return Result(total, findings, printed, shared, functools.partial(self._counts_of_lines, told["sites"]))

    def _counts_of_lines(self, sites: list) -> dict[int | None, Counts]:
        self._find_lines([site[0] for site in sites])
        lines: dict[int | None, Counts] = {}
        for pc, kind, *numbers in sites:
            _add(lines.setdefault(self._line(pc), Counts()), kind, numbers)
        return dict(sorted(lines.items(), key=lambda item: item[0] or 0))

    def _arrays_of(self, kernel: str) -> list[tuple[int, int, str]]:
        """The static shared arrays of a kernel and of what it may call: place, bytes, and name. Not those of other kernels."""
        others = {name.replace(" ", "") for name in self.kernels if name != kernel}
        return [(at, size, name) for owner, at, size, name in self._shared_arrays if owner not in others]

    @functools.cached_property
    def _shared_arrays(self) -> list[tuple[str, int, int, str]]:
        """The static shared arrays of the text: function, place, bytes, name. They are the library's thread-local symbols."""
        if not self._has_shared:
            return []
        told = subprocess.run(
            ["nm", "-C", "-f", "sysv", str(self.path)], capture_output=True, text=True, check=True
        ).stdout
        symbols = re.findall(r"^(?:void )?(?:(.*)::)?(\w+) *\|(\w+)\|[^|]*\| *TLS\|(\w+)\|", told, flags=re.MULTILINE)
        return [
            (owner.partition("(")[0].replace(" ", ""), int(at, 16), int(size, 16), name)
            for owner, name, at, size in symbols
            if name != "cuda_host_any"
        ]

    def _line(self, pc: int) -> int | None:
        return self._lines.get(pc & (1 << 56) - 1)

    def _find_lines(self, pcs: Sequence[int]) -> None:
        """Ask binutils for the lines of return addresses. Of functions that are inlined, the line in the text is told."""
        new = sorted({pc & (1 << 56) - 1 for pc in pcs if pc >= 0} - self._lines.keys())
        if not new:
            return
        command = ["addr2line", "-a", "-i", "-e", str(self.path), *(hex(pc - 1) for pc in new)]
        told = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        for pc, frames in zip(new, re.split(r"^0x\w+\n", told, flags=re.MULTILINE)[1:], strict=True):
            line = re.search(r"kernel\.cu:(\d+)", frames)
            self._lines[pc] = int(line[1]) if line else None


def _add(counts: Counts, kind: int, numbers: Sequence[int]) -> None:
    """Add what the runtime tells of one instruction."""
    if kind == 3:
        counts.barriers += numbers[1]
    elif kind == 4:
        counts.warp_operations += numbers[1]
    else:
        getattr(counts, f"global_{_KINDS[kind]}").add(Traffic(*numbers[:6]))
        getattr(counts, f"shared_{_KINDS[kind]}").add(Traffic(*numbers[6:]))


def _launchable(
    grid: int | Sequence[int], block: int | Sequence[int]
) -> tuple[tuple[int, int, int], tuple[int, int, int]]:
    """The sizes of a grid and of a block, each as three numbers that a device allows."""
    (x, y, z), (a, b, c) = _sizes(grid), _sizes(block)
    if not 1 <= a * b * c <= 1024 or c > 64:
        raise ValueError(f"a block has 1 to 1,024 threads, not {a * b * c}")
    if min(x, y, z) < 1 or max(y, z) > 65535 or x >= 2**31:
        raise ValueError(f"no device runs a grid of {(x, y, z)} blocks")
    return (x, y, z), (a, b, c)


def _sizes(given: int | Sequence[int]) -> tuple[int, int, int]:
    x, y, z = (given, 1, 1) if isinstance(given, int) else [*given, 1, 1][:3]
    return x, y, z


def _index(number: int, sizes: tuple[int, int, int]) -> tuple[int, int, int]:
    return number % sizes[0], number // sizes[0] % sizes[1], number // sizes[0] // sizes[1]


def _array(argument: Any) -> np.ndarray | None:
    """The array of an argument that is one."""
    array = argument.array if isinstance(argument, uninitialized | shifted) else argument
    return array if isinstance(array, np.ndarray) else None


class _Memory:
    """The device's memory: a copy of each array, aligned to 256 bytes as by cudaMalloc, and far from the next."""

    GAP = 1 << 22

    def __init__(self) -> None:
        self.buffers: list[_Buffer] = []
        self.copies: dict[int, tuple[np.ndarray, np.ndarray, int, int]] = {}  # by the id of the base
        self.names: list[tuple[str, int]] = []

    def add(self, name: str, first: int, size: int, element: int, memory: int) -> None:
        self.buffers.append(_Buffer(first, size, element, memory))
        self.names.append((name, element))

    def pass_(self, argument: Any, parameter: _Parameter, name: str) -> Any:
        """The value of an argument, as ctypes has it."""
        kind, size = parameter.kind.decode(), parameter.bytes
        if kind in "pc":
            before = argument.elements if isinstance(argument, shifted) else 0
            is_written = not isinstance(argument, uninitialized)
            array = _array(argument)
            if array is None:
                raise ValueError(f"{name} is a pointer: pass an array, not {argument!r}")
            return ctypes.c_void_p(self._copy(array, is_written, name) - before * array.itemsize)
        if kind == "s":
            is_named = isinstance(argument, tuple)
            if not is_named and len(bytes(argument)) != size:
                raise ValueError(f"{name} has {size} bytes in the text, not {len(bytes(argument))}")
            return self._struct(argument, name) if is_named else ctypes.create_string_buffer(bytes(argument), size)
        types: dict[str, Any] = {"f4": ctypes.c_float, "f8": ctypes.c_double}
        types |= {
            f"{sign}{n}": getattr(ctypes, f"c_{'u' * (sign == 'u')}int{8 * n}") for sign in "iu" for n in (1, 2, 4, 8)
        }
        return types[f"{kind}{size}"](argument)

    def _struct(self, argument: tuple, name: str) -> ctypes.Structure:
        """A struct by its fields: arrays for pointers, int, float, and numbers of numpy for other types."""
        types: dict[type, type] = {np.ndarray: ctypes.c_void_p, int: ctypes.c_int, float: ctypes.c_float}
        values = [self._copy(value, True, name) if isinstance(value, np.ndarray) else value for value in argument]
        fields = [(f"f{i}", types.get(type(v)) or np.ctypeslib.as_ctypes_type(type(v))) for i, v in enumerate(argument)]
        return type("_Struct", (ctypes.Structure,), {"_fields_": fields})(*values)

    def _copy(self, array: np.ndarray, is_written: bool, name: str) -> int:
        base, distance = base_of(array)
        first, end = np.lib.array_utils.byte_bounds(base)
        if id(base) not in self.copies:
            room = np.zeros(end - first + 2 * self.GAP + 256, np.uint8)
            at = -(-(room.ctypes.data + self.GAP) // 256) * 256
            ctypes.memmove(at, first, end - first)
            self.copies[id(base)] = (base, room, first, at)
            self.add(name, at, end - first, base.itemsize, is_written)
        return self.copies[id(base)][3] + distance

    def table(self) -> Any:
        return (_Buffer * max(len(self.buffers), 1))(*self.buffers)

    def copy_back(self) -> None:
        for (base, _, first, at), buffer in zip(self.copies.values(), self.buffers, strict=False):
            if base.flags.writeable:
                ctypes.memmove(first, at, buffer.bytes)


class _DeviceMemory(_Memory):
    """The memory of a real device."""

    def __init__(self, device: gpu.Memory) -> None:
        super().__init__()
        self.device = device

    def _copy(self, array: np.ndarray, is_written: bool, name: str) -> int:
        return self.device.address(array)


loops.hooks = sys.modules[__name__]  # so that ATen's kernels run here
