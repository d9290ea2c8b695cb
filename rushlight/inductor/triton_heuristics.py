"""The launch of a kernel in Triton: the sizes of its blocks, and the grid, which is the number of its instances.

PyTorch tries several sizes and measures which is fastest. Here the sizes follow from those of the axes. Kernels run in Triton's
interpreter, which runs each instance with numpy on the CPU, one after the other. With the environment variable `TRITON_INTERPRET=0`
they are compiled for a GPU, and tensors are copied to it and back (`rushlight/on_torch/gpu.py`). In PyTorch:
`torch/_inductor/runtime/triton_heuristics.py` (`pointwise`, `reduction`, `CachingAutotuner`, `Grid1D`),
`torch/_inductor/async_compile.py`. Left out: autotuning, numbers of warps.
"""

from __future__ import annotations

import hashlib
import linecache
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from types import ModuleType
from typing import Any

NOT_INSTALLED = "Triton is not installed: `pip install triton==3.7.1` (Linux only)"

hooks: Any = None  # of a GPU. In PyTorch: `aten/src/ATen/detail/CUDAHooksInterface.h`
ELEMENTS = {"pointwise": 256, "tiles": 1024, "reduction": 1024}  # of a block


def is_installed() -> bool:
    """Whether Triton can be imported, without importing it."""
    return find_spec("triton") is not None


def require() -> ModuleType:
    """The module `triton_helpers`, which imports Triton. Raises RuntimeError, with a way out, if Triton is not installed."""
    if not is_installed():
        raise RuntimeError(NOT_INSTALLED)
    from rushlight.inductor import triton_helpers

    return triton_helpers


def block_sizes(size_hints: Mapping[str, int], hint: str | None = None) -> dict[str, int]:
    """The size of the block on each axis, as large as the rules allow. Each size is a power of two, and no larger than the axis.

    - A kernel with one axis x has up to 256 positions in a block.
    - A kernel with the axes y and x has up to 32 on y, and then so many on x that a block has up to 1,024 in all.
    - In a reduction, "XBLOCK" is the number of rows and "R0_BLOCK" that of positions in a row, with up to 1,024 positions in a
      block. A block has as much of a row as it can, and then as many rows as it can. With the hint "OUTER", neighbours in memory
      are in different rows, so a block has up to 64 rows, and then as much of each as it can.

    >>> block_sizes({"x": 32768}), block_sizes({"x": 32, "r0_": 128}), block_sizes({"x": 32, "r0_": 2048})
    ({'XBLOCK': 256}, {'XBLOCK': 8, 'R0_BLOCK': 128}, {'XBLOCK': 1, 'R0_BLOCK': 1024})

    Args:
        size_hints: for each axis ("x", "y" and "x", or "x" and "r0_"), its number of positions, rounded up to a power of two.
        hint: "INNER" or "OUTER" for a reduction, otherwise None.

    Source: `torch/_inductor/runtime/triton_heuristics.py`, which measures several sizes instead.
    """
    x = size_hints["x"]
    if "y" in size_hints:
        y = min(size_hints["y"], 32)
        return {"YBLOCK": y, "XBLOCK": min(x, ELEMENTS["tiles"] // y)}
    if "r0_" in size_hints:
        elements, r0 = ELEMENTS["reduction"], size_hints["r0_"]
        rows = min(x, 64) if hint == "OUTER" else min(x, max(1, elements // r0))
        return {"XBLOCK": rows, "R0_BLOCK": min(r0, elements // rows)}
    return {"XBLOCK": min(x, ELEMENTS["pointwise"])}


def grid(numels: Mapping[str, int], blocks: Mapping[str, int]) -> tuple[int, int, int]:
    """The number of instances along x, along y, and 1: so many that their blocks have each position.

    >>> grid({"x": 32, "r0_": 600}, {"XBLOCK": 8}), grid({"y": 33, "x": 100}, {"YBLOCK": 16, "XBLOCK": 64})
    ((4, 1, 1), (2, 3, 1))

    Args:
        numels: the number of positions of each axis of the kernel: "x", perhaps "y" before it or "r0_" after it.
        blocks: the positions in a block, "XBLOCK" and perhaps "YBLOCK" and "R0_BLOCK". An instance goes through all of r0.

    Source: `torch/_inductor/runtime/triton_heuristics.py`, `Grid1D`, `Grid2D`.
    """
    x, y = (math.ceil(numels[axis] / blocks[f"{axis.upper()}BLOCK"]) if axis in numels else 1 for axis in "xy")
    return x, y, 1


class Pointer:
    """A tensor of rushlight, as Triton's interpreter wants it: it reads the address and the dtype. The other methods belong to the
    copies that the interpreter would make of tensors on a GPU."""

    def __init__(self, tensor: Any, address: int | None = None) -> None:
        self.tensor, self.dtype = tensor, tensor.dtype.name
        self.address = tensor.data_ptr() if address is None else address  # of the first element

    def data_ptr(self) -> int:
        return self.address

    def untyped_storage(self) -> Pointer:
        return self

    cpu = untyped_storage

    def new_empty(self, *sizes: int, device: str) -> Pointer:
        return Pointer(self.tensor, self.address)

    def storage_offset(self) -> int:
        return 0

    size = stride = storage_offset

    def set_(self, *view: Any) -> None:
        pass

    copy_ = set_


@dataclass
class Launcher:
    """A kernel that a wrapper can call. `size_hints` has an upper bound of each axis, a power of two."""

    function: Any
    size_hints: dict[str, int]
    hint: str | None

    def block_sizes(self) -> dict[str, int]:
        """The sizes of blocks that are parameters of the kernel."""
        sizes = block_sizes(self.size_hints, self.hint)
        return {name: size for name, size in sizes.items() if name in self.function.arg_names}

    def run(self, *arguments: Any) -> None:
        """Launch all instances. The arguments are the kernel's tensors, and then the number of positions on each axis.

        Raises IndexError if an index that the kernel has read from memory is out of range."""
        numels = dict(zip(self.size_hints, arguments[-len(self.size_hints) :]))
        blocks = self.block_sizes()
        helpers, memory, options = require(), None, {}
        if not helpers.INTERPRETED:
            if hooks is None:
                raise RuntimeError("no device runs compiled kernels: import rushlight.on_torch.gpu")
            memory = hooks.Memory()
            options = {"debug": True, "sanitize_overflow": False}  # assertions of indices are compiled, and no others

        def on_device(tensor: Any) -> Any:
            return Pointer(tensor) if memory is None else memory.tensor(tensor.detach().numpy())

        values = [on_device(value) if hasattr(value, "data_ptr") else value for value in arguments]
        try:
            with helpers.interpreted():
                self.function[grid(numels, blocks)](*values, **blocks, **options)
            if memory is not None:
                memory.copy_back()
        except Exception as error:
            if isinstance(error.__cause__, AssertionError):
                raise IndexError("index out of range") from error
            raise


def pointwise(size_hints: dict[str, int], triton_meta: dict[str, Any], reduction_hint: str | None = None) -> Callable:
    """Decorator of a kernel: its launcher. `triton_meta` has the types of the arguments, for the reader."""
    return partial(Launcher, size_hints=size_hints, hint=reduction_hint)


reduction = persistent_reduction = pointwise


def triton(name: str, source: str, device_str: str) -> Launcher:
    """The launcher of the kernel in a module's text. Source: `torch/_inductor/async_compile.py`, `AsyncCompile.triton`."""
    return loaded(name, source)[1][name]


def loaded(name: str, source: str) -> tuple[str, dict[str, Any]]:
    """The path under which Python knows a module's text, and the module's names. Raises RuntimeError if Triton is not installed."""
    path, space = f"<{name} {hashlib.sha256(source.encode()).hexdigest()[:16]}>", {}
    linecache.cache[path] = (len(source), None, source.splitlines(keepends=True), path)  # Triton reads the text again
    with require().interpreted():
        exec(compile(source, path, "exec"), space)
    return path, space
