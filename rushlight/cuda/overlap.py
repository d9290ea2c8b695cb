"""Copies that overlap with computing: the program that a DataLoader with pinned memory, or FSDP with offloaded parameters, runs.

In PyTorch: `tensor.copy_(..., non_blocking=True)` under `torch.cuda.stream`, as in `torch/distributed/fsdp/` for offloading.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rushlight.cuda.memory import HostTensor, empty, launch
from rushlight.cuda.streams import Stream, stream, synchronize

__all__ = ["compute_in_chunks"]


def compute_in_chunks(
    inputs: Sequence[HostTensor], outputs: Sequence[HostTensor], compute: Callable, duration: float, buffers: int = 2
) -> None:
    """Let each of `outputs` become `compute(input)`: copy to the device, launch a kernel, copy back, chunk after chunk.

    Chunk i uses the buffer i % `buffers`, a tensor on the device, which takes the result too. So there are never more than
    `buffers` tensors. A chunk waits for the chunk before it in its buffer. Chunks in different buffers wait only for the copy
    engines: while the kernel works at one chunk, an engine copies the next one in. The host queues copy in, kernel, copy out of
    chunk 0, then those of chunk 1, and so on. It waits only at the end, until all of this is done.

    Args:
        inputs, outputs: pinned, and all of one shape and dtype, those of the numpy array `inputs[0].data`. There is at least one.
        compute: a function of numpy arrays, for `launch`.
        duration: of each kernel, in microseconds.
        buffers: 1 or more.

    >>> from rushlight.cuda import Device
    >>> from rushlight.cuda.memory import host
    >>> with Device(launch_overhead=0.0, bandwidth=4.0) as device:
    ...     inputs, outputs = ([host([float(i)] * 5, pin_memory=True) for i in range(4)] for _ in range(2))
    ...     compute_in_chunks(inputs, outputs, lambda x: 10 * x, 40.0)
    ...     [output.data.max().item() for output in outputs], device.now
    ([0.0, 10.0, 20.0, 30.0], 130.0)
    """
    lanes = []
    for _ in range(min(buffers, len(inputs))):
        side = Stream()
        with stream(side):
            lanes.append((side, empty(inputs[0].data.shape, inputs[0].data.dtype)))
    for i, (given, result) in enumerate(zip(inputs, outputs, strict=True)):
        side, buffer = lanes[i % len(lanes)]
        with stream(side):
            buffer.copy_(given, non_blocking=True)
            launch("kernel", duration, compute, [buffer], out=buffer)
            result.copy_(buffer, non_blocking=True)
    synchronize()
