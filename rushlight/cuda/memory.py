"""Tensors on the device and on the host, kernels that compute with them, and copies between the two.

A tensor here has just enough methods for programs with streams: `copy_`, `record_stream`, `item`. Its memory comes from the caching
allocator, which gets it back when the tensor is deleted. A copy between device and host is direct memory access (DMA), and this
needs *pinned* memory on the host: memory that is not paged out meanwhile. The host first copies pageable memory into pinned memory.

In PyTorch: `aten/src/ATen/native/cuda/Copy.cu`, over CUDA's "API synchronization behavior". Left out: views, dtypes that a copy
converts, and the time that the driver needs for each copy.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from rushlight.cuda.simulator import Buffer, Work, current
from rushlight.cuda.streams import Stream

__all__ = ["DeviceTensor", "HostTensor", "copy_", "empty", "host", "launch"]


class HostTensor:
    """A tensor of the host. `data` is a numpy array that the program may use at once; so may a copy that is under way."""

    def __init__(self, data: Any, pin_memory: bool = False) -> None:
        self.data, self._pinned = np.array(data), pin_memory
        self.buffer = Buffer(self.data)

    def is_pinned(self) -> bool:
        return self._pinned

    def pin_memory(self) -> HostTensor:
        """A copy in pinned memory; or itself, if it is pinned."""
        return self if self._pinned else HostTensor(self.data, pin_memory=True)

    def cuda(self, non_blocking: bool = False) -> DeviceTensor:
        """A copy on the device, by the current stream."""
        return empty(self.data.shape, self.data.dtype).copy_(self, non_blocking)

    def copy_(self, source: DeviceTensor, non_blocking: bool = False) -> HostTensor:
        copy_(self, source, non_blocking)
        return self


class DeviceTensor:
    """A tensor of the device. Only work on the device reads or writes it. Deleting it frees its memory at once, for the stream on
    which it was allocated, although work that the host has queued still uses it."""

    def __init__(self, shape: Sequence[int], dtype: Any = np.float32) -> None:
        device = current()
        self.shape, self.dtype = tuple(shape), np.dtype(dtype)
        nbytes = int(np.prod(self.shape)) * self.dtype.itemsize
        self.allocator = (device.capture_on(device.current_stream) or device).allocator
        self.block = self.allocator.malloc(max(nbytes, 1), device.current_stream)
        data = device.runtime.at(self.block.ptr, nbytes).view(self.dtype).reshape(self.shape)
        self.buffer = Buffer(data, self.block.ptr)
        device.trace.append(("alloc", self.block.ptr))
        weakref.finalize(self, _free, device.trace, self.allocator, self.block).atexit = False

    def data_ptr(self) -> int:
        return self.block.ptr

    def copy_(self, source: HostTensor | DeviceTensor, non_blocking: bool = False) -> DeviceTensor:
        copy_(self, source, non_blocking)
        return self

    def record_stream(self, stream: Stream) -> None:
        """Another stream uses it too: when it is deleted, its memory is free only after what is on that stream then."""
        self.allocator.record_stream(self.block, stream.stream_id)

    def cpu(self) -> HostTensor:
        """A copy on the host. The host waits for it."""
        return HostTensor(np.zeros(self.shape, self.dtype)).copy_(self)

    def item(self) -> Any:
        """Return the only element. The host waits for it, and the copy goes through pinned memory."""
        return HostTensor(np.zeros(self.shape, self.dtype), pin_memory=True).copy_(self).data.item()


def _free(trace: list, allocator: Any, block: Any) -> None:
    trace.append(("free", block.ptr))
    allocator.free(block)


empty = DeviceTensor
"""A tensor on the device. Its elements are those of the memory's last owner."""

host = HostTensor
"""A tensor on the host, a copy of its `data`."""


def launch(
    name: str,
    duration: float,
    compute: Callable[..., Any] | None = None,
    inputs: Sequence[DeviceTensor] = (),
    out: DeviceTensor | None = None,
) -> None:
    """Launch a kernel on the current stream: `out` becomes `compute(*inputs)`, of numpy arrays, after `duration` microseconds.

    Without `compute` the kernel reads and writes as it says, and changes nothing.
    """
    device = current()
    output = None if out is None else out.buffer
    device.launch(
        device.current_stream, Work(name, duration, compute, tuple(tensor.buffer for tensor in inputs), output)
    )


def copy_(target: HostTensor | DeviceTensor, source: HostTensor | DeviceTensor, non_blocking: bool = False) -> None:
    """Copy between the device and the host, or within the device, on the current stream.

    When does the host go on?

    - Within the device: at once, after the launch.
    - From and to pinned memory: with `non_blocking`, at once. The DMA takes bytes / `device.bandwidth`; it reads the source when
      it starts, and not when `copy_` is called. Otherwise, when the stream has done everything.
    - From pageable memory: first the host copies all bytes to pinned memory, which takes bytes / `device.staging_bandwidth`. Then
      as above. So the source may change after the call.
    - To pageable memory: when the copy is done, whatever `non_blocking` says. Then the host copies it from pinned memory.

    Raises:
        RuntimeError: the current stream is capturing, and the host's memory is pageable.

    Source: `aten/src/ATen/native/cuda/Copy.cu`, `copy_kernel_cuda`; CUDA's "API synchronization behavior".
    """
    device, nbytes = current(), source.buffer.data.nbytes
    stream = Stream(stream_id=device.current_stream)
    kinds = {(HostTensor, DeviceTensor): "HtoD", (DeviceTensor, HostTensor): "DtoH", (DeviceTensor, DeviceTensor): None}
    engine = kinds[type(source), type(target)]
    on_host = {"HtoD": source, "DtoH": target}.get(engine)
    pageable = on_host is not None and not on_host.is_pinned()
    if pageable and device.capture_on(stream.stream_id) is not None:
        raise RuntimeError(
            "Cannot copy between CPU and CUDA tensors during CUDA graph capture unless the CPU tensor is pinned. "
            "Please use tensor.pin_memory() or allocate the tensor with pin_memory=True."
        )
    bandwidth = device.memory_bandwidth if engine is None else device.bandwidth
    given = source.buffer
    if pageable and engine == "HtoD":
        device.busy(nbytes / device.staging_bandwidth)
        given = Buffer(source.data.copy())
    name = f"Memcpy {engine or 'DtoD'}"
    device.launch(stream.stream_id, Work(name, nbytes / bandwidth, np.copy, (given,), target.buffer, engine))
    if engine is not None and not non_blocking or pageable and engine == "DtoH":
        stream.synchronize()
    if pageable and engine == "DtoH":
        device.busy(nbytes / device.staging_bandwidth)
