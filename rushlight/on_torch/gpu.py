"""Kernels on an NVIDIA GPU: the texts that run on the host here, compiled for the device, launched there and timed.

Arrays are copied to the GPU before a launch, and back after it. In PyTorch: `torch.cuda._compile_kernel`, which compiles a text
with NVRTC and passes tensors and numbers, but no structs (`torch/cuda/_utils.py`). Times are those of a CUDA graph.
"""

from __future__ import annotations

import ctypes
import os
import statistics
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from rushlight.aten.native.cuda.loops import base_of
from rushlight.inductor import triton_heuristics

CALLS, ROUNDS = 20, 7
# What NVRTC lacks: it has no headers of the host, and knows `printf`, `assert` and the mathematical functions without them
PRELUDE = "#define INFINITY __int_as_float(0x7f800000)\n#define NAN __int_as_float(0x7fffffff)\n#line 1\n"
BUILT_IN = ["stdio.h", "cstdio", "assert.h", "cassert", "math.h", "cmath"]


@dataclass
class OnGPU:
    """What a launch on a GPU took. Without a GPU nothing has run, and `device` is empty."""

    device: str = ""
    microseconds: float = 0
    beside: float | None = None  # microseconds of the function that was given

    def __str__(self) -> str:
        if not self.device:
            hidden = ", or it is hidden: start JupyterLab with RUSHLIGHT_DEVICE=cuda to see it"
            return f"The kernel did not run: PyTorch sees no GPU here{hidden}"
        other = "" if self.beside is None else f", beside {self.beside:,.1f} µs by torch"
        return f"{self.microseconds:,.1f} µs{other} ({self.device})"


def is_available() -> bool:
    """Whether PyTorch can use a GPU, and `RUSHLIGHT_DEVICE` is not "cpu"."""
    return torch.cuda.is_available() and os.environ.get("RUSHLIGHT_DEVICE") != "cpu"


def timed(kernel: Callable[[], Any], beside: Callable[[], Any] | None) -> OnGPU:
    """The time of a launch, and that of a function of torch."""
    times = [microseconds(call) for call in (kernel, beside) if call is not None]
    return OnGPU(torch.cuda.get_device_name(), *times)


def microseconds(call: Callable[[], Any]) -> float:
    """The device's time of what a call launches: a CUDA graph of 20 calls is replayed, so the host's time is not in it. The median
    of 7 replays. Operands that fit into the L2 cache are there from the call before."""
    call()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(CALLS):
            call()
    times = []
    for _ in range(ROUNDS):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        graph.replay()
        end.record()
        end.synchronize()
        times.append(begin.elapsed_time(end) * 1000 / CALLS)
    return statistics.median(times)


class Memory:
    """Copies of arrays on the GPU. An array and its views share one."""

    def __init__(self, device: str = "cuda") -> None:
        self.device = device
        self.copies: dict[int, tuple[np.ndarray, torch.Tensor]] = {}  # by the address of the base

    def address(self, array: np.ndarray) -> int:
        """The address of an array's first element on the GPU."""
        copy, offset = self._place(array)
        return copy.data_ptr() + offset

    def tensor(self, array: np.ndarray) -> torch.Tensor:
        """An array as a tensor on the GPU, with its strides."""
        (copy, offset), dtype = self._place(array), torch.from_numpy(np.empty(0, array.dtype)).dtype
        if array.size == 0:
            return torch.empty(array.shape, dtype=dtype, device=self.device)
        elements = copy[: copy.numel() // array.itemsize * array.itemsize].view(dtype)
        return elements.as_strided(array.shape, [n // array.itemsize for n in array.strides], offset // array.itemsize)

    def _place(self, array: np.ndarray) -> tuple[torch.Tensor, int]:
        """The bytes of the copy that an array is in, and the number of the first one that is its own."""
        base, distance = base_of(array)
        first, end = np.lib.array_utils.byte_bounds(base)
        if first not in self.copies:
            raw = np.frombuffer((ctypes.c_char * (end - first)).from_address(first), np.uint8)
            self.copies[first] = base, torch.from_numpy(raw.copy()).to(self.device)
        return self.copies[first][1], distance

    def copy_back(self) -> None:
        """Copy what kernels have written to the arrays. This waits for the kernels."""
        for first, (base, copy) in self.copies.items():
            if base.flags.writeable:
                host = copy.cpu()
                ctypes.memmove(first, host.data_ptr(), host.numel())


class CudaKernel:
    """A kernel in CUDA C++, compiled for this GPU by NVRTC.

    Raises RuntimeError, with NVRTC's log, if the text does not compile.
    """

    def __init__(self, text: str, name: str):
        with tempfile.TemporaryDirectory() as folder:
            for header in BUILT_IN:
                Path(folder, header).touch()
            self.kernel = torch.cuda._compile_kernel(PRELUDE + text, name, None, [folder])

    def launch(self, grid: Sequence[int], block: Sequence[int], values: Sequence[Any], shared: int) -> None:
        """Launch it on the current stream. `values` are the arguments as ctypes has them."""
        from torch.cuda import _utils

        if shared >= 48 << 10:
            self.kernel.set_shared_memory_config(shared)
        pointers = (ctypes.c_void_p * max(len(values), 1))(*(ctypes.addressof(value) for value in values))
        stream = torch.cuda.current_stream()._as_parameter_
        driver = _utils._get_gpu_runtime_library()
        _utils._check_cuda(driver.cuLaunchKernel(self.kernel.func, *grid, *block, shared, stream, pointers, None))


triton_heuristics.hooks = sys.modules[__name__]  # so that the kernels of Inductor run here
