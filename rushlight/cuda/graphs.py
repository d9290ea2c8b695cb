"""CUDA graphs: a sequence of launches, recorded once and launched again as one.

While a stream is capturing, work that is queued on it does not run. It becomes a *node* of a graph, with edges to the nodes that
it must wait for. Another stream joins the capture when it waits for an event that was recorded in the capture. A replay costs the
host one launch. It does the same work on the same memory, and no Python runs. So the numbers, decisions and addresses of the
capture are part of the graph.

In PyTorch: `torch/cuda/graphs.py`, over `aten/src/ATen/cuda/CUDAGraph.cpp`. Left out: captures by several threads, the modes that
allow more (`capture_error_mode`), pools that graphs share, random numbers, conditional nodes, `make_graphed_callables`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import NoReturn

from rushlight.c10.cuda.caching_allocator import CachingAllocator
from rushlight.cuda.simulator import CAPTURE_ERRORS, DEFAULT_STREAM, AcceleratorError, Device, Work, current
from rushlight.cuda.streams import Stream
from rushlight.cuda.streams import stream as on_stream

__all__ = ["CUDAGraph", "Node", "graph", "is_current_stream_capturing"]


@dataclass(eq=False)
class Node:
    """Work of a graph, the stream on which it was captured, and the indices of the nodes that it depends on, in order."""

    work: Work
    stream: int
    dependencies: tuple[int, ...]


def add_node(graph: CUDAGraph, stream: int, work: Work) -> None:
    """Make work that is queued on a capturing stream a node of the graph.

    `graph.frontiers[stream]` is a frozenset with the indices in `graph.nodes` of all nodes that the stream's next work must wait
    for: the last node of the stream, and those that it has been made to wait for since. These are the new node's dependencies,
    in ascending order. After that, the stream's next work depends on the new node alone.

    >>> graph = CUDAGraph()
    >>> graph.frontiers = {1: frozenset({0, 3})}
    >>> graph.nodes = [Node(Work("copy", 1.0), 1, ())] * 4
    >>> add_node(graph, 1, Work("relu", 2.0))
    >>> graph.nodes[-1].dependencies, graph.frontiers
    ((0, 3), {1: frozenset({4})})

    Source: CUDA's `cudaStreamBeginCapture`; PyTorch reads the same set with `cudaStreamGetCaptureInfo`.
    """
    graph.nodes.append(Node(work, stream, tuple(sorted(graph.frontiers[stream]))))
    graph.frontiers[stream] = frozenset({len(graph.nodes) - 1})


def joined(nodes: list[Node], frontier: frozenset[int]) -> bool:
    """Whether every node of a graph is among those of `frontier`, or must come before one of them.

    A capture may end only so. `frontier` is that of the stream on which the capture began. Otherwise a fork was not joined, and
    the work after a replay would not wait for it. Every node comes after the nodes that it depends on in `nodes`.

    >>> fork = [Node(Work("a", 1.0), 1, ()), Node(Work("b", 1.0), 2, (0,)), Node(Work("c", 1.0), 1, (0,))]
    >>> joined(fork, frozenset({2})), joined(fork, frozenset({1, 2}))
    (False, True)

    Source: CUDA's `cudaStreamEndCapture`, `cudaErrorStreamCaptureUnjoined`.
    """
    before = set(frontier)
    for i in reversed(range(len(nodes))):
        if i in before:
            before.update(nodes[i].dependencies)
    return len(before) == len(nodes)


def replay_times(device: Device, stream: int, nodes: list[Node]) -> list[tuple[float, float]]:
    """When the nodes of a graph start and end, if it is launched on a stream now.

    The host needs one `device.launch_overhead` for the whole graph. The graph then starts as work on this stream does: when it is
    launched, and `device.ready[stream]` has come. A node starts when the graph has started, all nodes that it depends on have
    ended, and, for a copy, its engine is free, as in `schedule`. Engines serve the nodes in the order of `nodes`, and each node
    comes after those that it depends on. The streams of the capture do not matter any more.

    `device.now`, `device.engines` and `device.ready[stream]` are brought up to date: the stream's next work waits until all
    nodes have ended. A graph without nodes takes the device no time, and no later work waits for it.

    Returns:
        a list with a tuple (start, end) for each node.

    >>> nodes = [Node(Work("a", 10.0), 1, ()), Node(Work("b", 20.0), 1, ()), Node(Work("c", 5.0), 1, (0,))]
    >>> device = Device(launch_overhead=1.0)
    >>> replay_times(device, 1, nodes), device.ready[1]
    ([(1.0, 11.0), (1.0, 21.0), (11.0, 16.0)], 21.0)

    Source: `aten/src/ATen/cuda/CUDAGraph.cpp`, `CUDAGraph::replay`; CUDA's `cudaGraphLaunch`.
    """
    device.now += device.launch_overhead
    begin = max(device.now, device.ready.get(stream, 0.0))
    times: list[tuple[float, float]] = []
    for node in nodes:
        engine = node.work.engine
        start = max([begin, device.engines.get(engine, 0.0), *(times[i][1] for i in node.dependencies)])
        times.append((start, start + node.work.duration))
        if engine is not None:
            device.engines[engine] = times[-1][1]
    device.ready[stream] = max([begin, *(end for _, end in times)])
    return times


class CUDAGraph:
    """A graph of work on the current device. Source: `torch/cuda/graphs.py`, `CUDAGraph`.

    Memory that is allocated during the capture comes from a pool of the graph's own, so that nothing else ever gets it. Memory of
    tensors from outside is used at its address, whatever is there when the graph is replayed.
    """

    def __init__(self) -> None:
        self.nodes: list[Node] = []
        self.frontiers: dict[int, frozenset[int]] = {}  # by capturing stream: what its next work depends on
        self.captured = self.invalid = False
        self.device: Device | None = None
        self.allocator: CachingAllocator | None = None

    def capture_begin(self) -> None:
        """Begin to capture the current stream."""
        device = current()
        if self.captured:
            raise RuntimeError(
                "This CUDAGraph instance already owns a captured graph. To capture a new graph, create a new instance."
            )
        if device.current_stream == DEFAULT_STREAM:
            raise RuntimeError(
                "CUDA graphs must be captured on a non-default stream. (However, after capture, it's ok to replay them on "
                "the default stream.)"
            )
        if device.capture is not None:
            raise RuntimeError("only one capture may be under way at a time")
        self.device, self.stream = device, device.current_stream
        self.nodes, self.frontiers = [], {self.stream: frozenset()}
        self.allocator = CachingAllocator(device.runtime)
        device.capture = self

    def capture_end(self) -> None:
        """End the capture, on the stream on which it began. If it went wrong, there is no graph."""
        device = current()
        if device.capture is not self or device.current_stream != self.stream:
            raise RuntimeError("Capture must end on the same stream it began on.")
        device.capture = None
        invalid, self.invalid = self.invalid, False
        frontier, self.frontiers = self.frontiers[self.stream], {}
        if invalid:
            raise _error("Invalidated")
        if not joined(self.nodes, frontier):
            raise _error("Unjoined")
        self.captured = True

    def replay(self) -> None:
        """Launch the graph on the current stream."""
        if not self.captured:
            raise RuntimeError("Called CUDAGraph::replay without a preceding successful capture.")
        device = self.device
        stream = device.current_stream
        if (capture := device.capture_on(stream)) is not None:
            capture.invalidate("Unsupported")  # in CUDA, a node that is a graph
        times = replay_times(device, stream, self.nodes)
        writes = {ptr for node in self.nodes for ptr in node.work.writes()}
        reads = {ptr for node in self.nodes for ptr in node.work.reads()} - writes
        device.trace.append(("launch", stream, reads, writes, "graph"))
        for node, (start, end) in zip(self.nodes, times, strict=True):
            device.perform(node.stream, node.work, start, end)
        device.advance(device.now)

    def reset(self) -> None:
        """Give up the graph, and the memory of its pool that no tensor has."""
        self.nodes, self.captured = [], False
        if self.allocator is not None:
            self.allocator.empty_cache()

    # While it captures

    def add(self, stream: int, work: Work) -> None:
        if self.invalid:
            raise _error("Invalidated")
        add_node(self, stream, work)

    def join(self, stream: int, frontier: frozenset[int]) -> None:
        """Let a stream capture too from now on, because it waits for an event that this capture recorded at `frontier`."""
        if self.device.capture is not self:
            raise _error("CapturedEvent")
        if stream == DEFAULT_STREAM:
            self.invalidate("Implicit")
        self.frontiers[stream] = self.frontiers.get(stream, frozenset()) | frontier

    def invalidate(self, error: str) -> NoReturn:
        """Refuse a call that breaks a rule. There will be no graph."""
        self.invalid = self.device.capture is self
        raise _error(error)


def _error(error: str) -> AcceleratorError:
    return AcceleratorError(f"CUDA error: {CAPTURE_ERRORS[error]}")


@contextmanager
def graph(cuda_graph: CUDAGraph, stream: Stream | None = None) -> Iterator[None]:
    """`with graph(g):` captures into `g` what is launched inside. Source: `torch/cuda/graphs.py`, `graph`."""
    device = current()
    device.synchronize()
    device.allocator.empty_cache()  # as much memory as possible for the graph's own pool
    with on_stream(stream or Stream()):
        cuda_graph.capture_begin()
        try:
            yield
        finally:
            cuda_graph.capture_end()


def is_current_stream_capturing() -> bool:
    """Whether the current stream records a graph now."""
    device = current("Tried to instantiate dummy base class _cuda_isCurrentStreamCapturing")
    return device.capture_on(device.current_stream) is not None
