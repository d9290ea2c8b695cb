"""Streams and events: the order of work on a device.

Work on one stream is done in order. Between two streams there is no order, until an *event* is recorded on one and the other waits
for it. A stream waits on the device: the host goes on. To wait itself, the host synchronises.

PyTorch's streams are *non-blocking* ones. So the default stream is a stream like any other: it waits for no other stream, and none
waits for it. In PyTorch: `torch/cuda/streams.py`, over `c10/cuda/CUDAStream.h` and `c10/cuda/CUDAEvent.h`. Left out: priorities,
other devices, events of other processes.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from itertools import count

from rushlight.c10.dispatch import replacing
from rushlight.cuda.simulator import DEFAULT_STREAM, Capture, Device, current

__all__ = ["Event", "Stream", "current_stream", "default_stream", "stream", "synchronize"]


_event_ids = count(1)


class Event:
    """A mark in a stream's queue. Source: `torch/cuda/streams.py`, `Event`."""

    def __init__(self, enable_timing: bool = False) -> None:
        self.device = current("Tried to instantiate dummy base class Event")
        self.enable_timing, self.event_id = enable_timing, next(_event_ids)
        self.time: float | None = None  # microseconds; None if it was never recorded
        self.graph: Capture | None = None  # the graph in whose capture it was recorded last,
        self.frontier: frozenset[int] = frozenset()  # and the nodes that were the last ones of its stream

    def record(self, stream: Stream | None = None) -> None:
        """Put the event at the end of a stream's queue: it is complete as soon as all work that is on the stream now is done.

        Recording it again replaces its earlier mark. Source: `c10/cuda/CUDAEvent.h`, `CUDAEvent::record`.

        >>> with Device(launch_overhead=1.0) as device:
        ...     event, side = Event(), Stream()
        ...     device.ready[side.stream_id] = 30.0
        ...     event.record(side)
        ...     event.time
        30.0
        """
        stream = stream or current_stream()
        self.graph = stream.device.capture_on(stream.stream_id)
        if self.graph is not None:
            self.frontier = self.graph.frontiers[stream.stream_id]
        else:
            self.time = max(stream.device.now, stream.device.ready.get(stream.stream_id, 0.0))
            self.device.trace.append(("record", self.event_id, stream.stream_id))

    def wait(self, stream: Stream | None = None) -> None:
        """Let all work that is queued on a stream, by default the current one, from now on wait for this event.

        The stream waits for the mark that the event has *now*, also if the event is recorded again later. An event that was
        never recorded delays nothing. Source: `c10/cuda/CUDAEvent.h`, `CUDAEvent::block`; CUDA's `cudaStreamWaitEvent`.

        >>> with Device(launch_overhead=1.0) as device:
        ...     event, side = Event(), Stream()
        ...     event.time = 30.0
        ...     event.wait(side)
        ...     device.ready[side.stream_id]
        30.0
        """
        stream = stream or current_stream()
        capture, ready = stream.device.capture_on(stream.stream_id), stream.device.ready
        if self.graph is not None:
            self.graph.join(stream.stream_id, self.frontier)
        elif capture is not None and self.time is not None:
            capture.invalidate("Isolation")
        else:
            if self.time is not None:
                ready[stream.stream_id] = max(ready.get(stream.stream_id, 0.0), self.time)
            self.device.trace.append(("wait", self.event_id, stream.stream_id))

    def query(self) -> bool:
        """Whether it is complete. One that was never recorded is."""
        self._check()
        if self.time is None:
            return True
        self.device.forbid_capture("Unsupported")
        return self.time <= self.device.now

    def synchronize(self) -> None:
        """Let the host wait for this event."""
        self._check()
        if self.time is not None:
            self.device.wait(self.time)
            self.device.trace.append(("synchronize event", self.event_id))

    def elapsed_time(self, end_event: Event) -> float:
        """The milliseconds from this event to the other, on the device's clock. It is negative if `end_event` was recorded first.

        Raises:
            ValueError: one of them was made without `enable_timing`; else, one of them was never recorded.
            RuntimeError: else, one of them is not complete: `query()` is False.

        >>> with Device() as device:
        ...     start, end = Event(enable_timing=True), Event(enable_timing=True)
        ...     start.record()
        ...     device.busy(1500.0)
        ...     end.record()
        ...     start.elapsed_time(end)
        1.5

        Source: `c10/cuda/CUDAEvent.h`, `CUDAEvent::elapsed_time`.
        """
        if not (self.enable_timing and end_event.enable_timing):
            raise ValueError("Both events must be created with argument 'enable_timing=True'.")
        if self.time is None or end_event.time is None:
            raise ValueError("Both events must be recorded before calculating elapsed time.")
        if not (self.query() and end_event.query()):
            raise RuntimeError("Both events must be completed before calculating elapsed time.")
        return (end_event.time - self.time) / 1000

    def _check(self) -> None:
        if self.graph is not None:
            self.graph.invalidate("CapturedEvent")


class Stream:
    """A queue of work. Each `Stream()` is a new one. Source: `torch/cuda/streams.py`, `Stream`."""

    def __init__(self, device: Device | None = None, *, stream_id: int | None = None) -> None:
        self.device = device or current("torch.cuda.Stream requires CUDA support")
        if stream_id is None:
            stream_id, self.device.streams = self.device.streams, self.device.streams + 1
        self.stream_id = stream_id

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Stream) and (self.device, self.stream_id) == (other.device, other.stream_id)

    def __hash__(self) -> int:
        return hash((id(self.device), self.stream_id))

    def __repr__(self) -> str:
        return f"<torch.cuda.Stream {self.stream_id}>"

    def record_event(self, event: Event | None = None) -> Event:
        """Record an event on this stream, by default a new one, and return it."""
        event = event or Event()
        event.record(self)
        return event

    def wait_event(self, event: Event) -> None:
        event.wait(self)

    def wait_stream(self, stream: Stream) -> None:
        """Let the work that is queued here from now on wait for all work that is on the other stream now."""
        self.wait_event(stream.record_event())

    def query(self) -> bool:
        """Whether it has nothing to do."""
        self.device.forbid_capture("Unsupported")
        return self.device.ready.get(self.stream_id, 0.0) <= self.device.now

    def synchronize(self) -> None:
        """Let the host wait until this stream has nothing to do."""
        self.device.wait(self.device.ready.get(self.stream_id, 0.0))
        self.device.trace.append(("synchronize stream", self.stream_id))


def default_stream() -> Stream:
    """The default stream of a device."""
    return Stream(current(), stream_id=DEFAULT_STREAM)


def current_stream() -> Stream:
    """The stream to which operators are queued now."""
    return Stream(stream_id=current().current_stream)


def stream(stream: Stream | None) -> AbstractContextManager:
    """`with stream(side):` queues work on `side`. None changes nothing. It makes no stream wait.
    Source: `torch/cuda/__init__.py`, `StreamContext`."""
    return nullcontext() if stream is None else replacing(stream.device, current_stream=stream.stream_id)


def synchronize() -> None:
    """Let the host wait until the device has nothing to do."""
    current().synchronize()
