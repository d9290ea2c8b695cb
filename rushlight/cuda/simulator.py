"""A device that works while the program goes on: streams of work, copy engines, and one clock.

The program on the *host* queues work and does not wait. The device does the work of one stream in order, and that of different
streams at the same time. It computes with numpy: work reads its inputs at its simulated start and writes its output at its
simulated end. So a missing wait gives wrong numbers, as on a GPU, but the same wrong numbers each time. All times are microseconds.

In PyTorch: `c10/cuda/CUDAStream.h`, over the CUDA runtime. Left out: a second device, priorities, kernels that fill the device
(here any number of them runs at the same time), and kernels that slow each other down.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NoReturn, Protocol

import numpy as np

from rushlight.c10.cuda.caching_allocator import CachingAllocator, Runtime

__all__ = ["AcceleratorError", "Buffer", "Device", "Span", "Work", "current", "schedule"]

DEFAULT_STREAM = 0

# What CUDA says when a rule of capturing is broken. In CUDA: `cudaErrorStreamCapture...` and `cudaErrorCapturedEvent`.
CAPTURE_ERRORS = {
    "Unsupported": "operation not permitted when stream is capturing",
    "Invalidated": "operation failed due to a previous error during capture",
    "Unjoined": "capturing stream has unjoined work",
    "Isolation": "dependency created on uncaptured work in another stream",
    "Implicit": "operation would make the legacy stream depend on a capturing blocking stream",
    "CapturedEvent": "operation not permitted on an event last recorded in a capturing stream",
}


class AcceleratorError(RuntimeError):
    """An operation that the device refuses. In PyTorch: `torch.AcceleratorError`."""


# Work ----------------------------------------------------------------------------------------------------------------


@dataclass(eq=False)
class Buffer:
    """Memory of the device or of the host, seen as an array. `ptr` is its address on the device, or None on the host."""

    data: np.ndarray
    ptr: int | None = None


@dataclass(eq=False)
class Work:
    """One kernel or one copy: `output` becomes `compute(*inputs)`. Without `compute` it only takes time."""

    name: str
    duration: float
    compute: Callable[..., Any] | None = None
    inputs: tuple[Buffer, ...] = ()
    output: Buffer | None = None
    engine: str | None = None  # the copy engine, "HtoD" or "DtoH"; None for a kernel

    def reads(self) -> set[int]:
        """Addresses on the device that it only reads."""
        return {buffer.ptr for buffer in self.inputs if buffer.ptr is not None} - self.writes()

    def writes(self) -> set[int]:
        return set() if self.output is None or self.output.ptr is None else {self.output.ptr}


@dataclass(frozen=True)
class Span:
    """Work that has its time: `queued` is when the host had launched it."""

    name: str
    stream: int
    queued: float
    start: float
    end: float
    engine: str | None = None


def schedule(device: Device, stream: int, duration: float, engine: str | None = None) -> tuple[float, float]:
    """Queue work on a stream now, and return when it starts and ends.

    The launch itself takes the host `device.launch_overhead`: `device.now` grows by so much. The host does not wait for the work.
    The work starts as soon as all of these hold: it is launched, and all work that was queued on this stream before is done,
    and everything that the stream was told to wait for is done. `device.ready[stream]` is the time from which the latter two hold.

    A copy also needs its engine, `"HtoD"` or `"DtoH"`. An engine does one copy at a time, in the order in which the host queued
    them, whatever their streams are. `device.engines[engine]` is the time from which the engine is free. A kernel has no engine,
    and kernels of different streams do not disturb each other.

    `device.ready` and `device.engines` are brought up to date. A stream or an engine that has no entry in these dicts was not
    used until now.

    Args:
        device: `now`, `launch_overhead`, `ready` and `engines` are what matters here.
        stream: the id of the stream.
        duration: microseconds.
        engine: None for a kernel.

    Returns:
        a tuple (start, end).

    >>> device = Device(launch_overhead=1.0)
    >>> schedule(device, 1, 10.0), schedule(device, 2, 10.0), schedule(device, 1, 10.0)
    ((1.0, 11.0), (2.0, 12.0), (11.0, 21.0))

    Source: CUDA's programming guide, "Asynchronous Concurrent Execution".
    """
    device.now += device.launch_overhead
    start = max(device.now, device.ready.get(stream, 0.0), device.engines.get(engine, 0.0))
    end = start + duration
    device.ready[stream] = end
    if engine is not None:
        device.engines[engine] = end
    return start, end


# The device ----------------------------------------------------------------------------------------------------------


class Capture(Protocol):
    """The part of a `CUDAGraph` that the device and its events use during a capture."""

    frontiers: dict[int, frozenset[int]]

    def add(self, stream: int, work: Work) -> None: ...

    def join(self, stream: int, frontier: frozenset[int]) -> None: ...

    def invalidate(self, error: str) -> NoReturn: ...


_current: list[Device] = []


def current(refused: str | None = None) -> Device:
    """The device of the innermost `with Device():`. Without one, raises an AssertionError or, with the message `refused`, the
    RuntimeError of PyTorch's build for CPUs."""
    if not _current:
        simulated = "a simulated device works inside `with rushlight.cuda.Device():`"
        if refused is not None:
            raise RuntimeError(f"{refused}: {simulated}")
        raise AssertionError(f"Torch not compiled with CUDA enabled: {simulated}")
    return _current[-1]


@dataclass(eq=False)
class Device:
    """A device, and the clock of the host that uses it. In `with Device():` it is the current device.

    `timeline` has all work that was launched, in the order of launching, and of the nodes of a graph. `host_timeline` has what the
    host did other than launching: ("busy", "wait" or "capture", start, end). `trace` has what `rushlight.cuda._sanitizer` reads:
    launches, events, waits, allocations.
    """

    launch_overhead: float = 5.0  # microseconds of the host, for each launch
    bandwidth: float = 16_000.0  # bytes in a microsecond, for each copy engine
    staging_bandwidth: float = 8_000.0  # bytes in a microsecond, from pageable to pinned memory on the host
    memory_bandwidth: float = 1_000_000.0  # bytes in a microsecond, for a copy within the device
    total: int = 1 << 30  # bytes of memory
    now: float = 0.0
    current_stream: int = DEFAULT_STREAM
    streams: int = 1  # how many there are
    ready: dict[int, float] = field(default_factory=dict)  # by stream: from when on it has nothing to do or to wait for
    engines: dict[str, float] = field(default_factory=dict)
    timeline: list[Span] = field(default_factory=list)
    host_timeline: list[tuple[str, float, float]] = field(default_factory=list)
    trace: list[tuple] = field(default_factory=list)
    capture: Capture | None = None  # the capture that is under way

    def __post_init__(self) -> None:
        self.runtime = DeviceRuntime(self)
        self.allocator = CachingAllocator(self.runtime)
        self._effects: list[tuple[float, int, bool, Work, list]] = []
        self._count = 0

    def __enter__(self) -> Device:
        _current.append(self)
        return self

    def __exit__(self, *_) -> None:
        _current.remove(self)

    def launch(self, stream: int, work: Work) -> None:
        """Queue work on a stream; or, if the stream is capturing, make it a node of the graph."""
        if (capture := self.capture_on(stream)) is not None:
            self.spend("capture", self.now + self.launch_overhead)
            capture.add(stream, work)
            return
        start, end = schedule(self, stream, work.duration, work.engine)
        self.trace.append(("launch", stream, work.reads(), work.writes(), work.name))
        self.perform(stream, work, start, end)
        self.advance(self.now)

    def perform(self, stream: int, work: Work, start: float, end: float) -> None:
        """Let work read at its start and write at its end."""
        self.timeline.append(Span(work.name, stream, self.now, start, end, work.engine))
        if work.compute is not None:
            result: list = []  # from the start to the end
            for time, ends in ((start, False), (end, True)):
                # Of two effects at one time, that of the work queued first comes first: the other may depend on it.
                heapq.heappush(self._effects, (time, self._count, ends, work, result))
            self._count += 1

    def advance(self, time: float) -> None:
        """Let the host's clock pass until `time`. The device works meanwhile."""
        self.now = max(self.now, time)
        while self._effects and self._effects[0][0] <= self.now:
            _, _, ends, work, result = heapq.heappop(self._effects)
            if ends:
                work.output.data[...] = result[0]
            else:
                result.append(np.array(work.compute(*(buffer.data for buffer in work.inputs))))

    def busy(self, duration: float) -> None:
        """The host does something else."""
        self.spend("busy", self.now + duration)

    def wait(self, time: float) -> None:
        """Let the host wait until `time`, which no host may do while it captures.

        CUDA refuses some of these waits only in the strict modes of capturing; here the host may wait for nothing at all.
        """
        self.forbid_capture("Unsupported")
        self.spend("wait", time)

    def spend(self, what: str, until: float) -> None:
        """Let the host's clock pass until then, and note why."""
        if until > self.now:
            self.host_timeline.append((what, self.now, until))
        self.advance(until)

    def capture_on(self, stream: int) -> Capture | None:
        """The capture that this stream takes part in."""
        return self.capture if self.capture is not None and stream in self.capture.frontiers else None

    def forbid_capture(self, error: str) -> None:
        if self.capture is not None:
            self.capture.invalidate(error)

    def synchronize(self) -> None:
        """Wait until all streams have nothing to do."""
        self.wait(max(self.ready.values(), default=self.now))
        self.trace.append(("synchronize",))


# Memory --------------------------------------------------------------------------------------------------------------


class DeviceRuntime(Runtime):
    """The runtime that the caching allocator calls, with memory behind the addresses and events on the device's clock."""

    def __init__(self, device: Device) -> None:
        super().__init__(device.total)
        self.device, self.memory = device, {}

    def malloc(self, size: int) -> int | None:
        ptr = super().malloc(size)
        if ptr is not None:
            self.memory[ptr] = np.zeros(size, np.uint8)
        return ptr

    def free(self, ptr: int) -> None:
        super().free(ptr)
        del self.memory[ptr]

    def at(self, ptr: int, nbytes: int) -> np.ndarray:
        """The bytes at an address."""
        segment = max(start for start in self.memory if start <= ptr)
        return self.memory[segment][ptr - segment : ptr - segment + nbytes]

    def record_event(self, stream: int) -> Any:
        if (
            self.device.capture_on(stream) is not None
        ):  # this work has no time: the block waits until the allocator gives up
            return super().record_event(stream)
        return RuntimeEvent(self.device, max(self.device.now, self.device.ready.get(stream, 0.0)))

    def synchronize(self, streams: Any = None) -> None:
        self.device.synchronize()


@dataclass(eq=False)
class RuntimeEvent:
    """An event of the allocator: it asks whether it is complete, or sets it to complete by waiting for it."""

    device: Device
    time: float

    @property
    def complete(self) -> bool:
        return self.device.now >= self.time

    @complete.setter
    def complete(self, value: bool) -> None:
        self.device.wait(self.time)
