"""CUDA graphs: the order in them against PyTorch's sanitizer, times worked out by hand, and what a capture refuses."""

import random

import numpy as np
import pytest
from sweep import sweep
from test_sanitizer import torchs

from rushlight.cuda import (
    AcceleratorError,
    CUDAGraph,
    Event,
    Stream,
    current_stream,
    default_stream,
    graph,
    is_current_stream_capturing,
    stream,
    synchronize,
)
from rushlight.cuda.memory import empty, host, launch


def shape(graph):
    return [(node.work.name, node.stream, node.dependencies) for node in graph.nodes]


def test_a_capture_records_and_does_not_run(device):
    x, g = host(np.float32([1])).cuda(), CUDAGraph()
    before = len(device.timeline)
    with graph(g):
        assert is_current_stream_capturing()
        launch("add", 10.0, lambda x: x + 1, [x], out=x)
    assert not is_current_stream_capturing()
    assert len(device.timeline) == before
    assert x.item() == 1
    for _ in range(3):
        g.replay()
    assert x.item() == 4


def test_a_replay_is_one_launch(device):
    side, g = Stream(), CUDAGraph()
    with graph(g):
        for _ in range(5):
            launch("a", 0.5)
    synchronize()
    begin = device.now
    with stream(side):
        g.replay()
    assert device.now == begin + 1
    synchronize()
    assert device.now == begin + 1 + 5 * 0.5
    begin = device.now
    for _ in range(5):
        launch("a", 0.5)
    synchronize()
    assert device.now == begin + 5 * 1 + 0.5  # the host is slower than the device


def test_a_fork_and_a_join(device):
    side, g, main = Stream(), CUDAGraph(), Stream()
    with graph(g, stream=main):
        launch("a", 10.0)
        side.wait_stream(current_stream())
        with stream(side):
            launch("b", 20.0)
        launch("c", 5.0)
        main.wait_stream(side)
        launch("d", 1.0)
    names = {main.stream_id: "main", side.stream_id: "side"}
    assert [(name, names[s], before) for name, s, before in shape(g)] == [
        ("a", "main", ()),
        ("b", "side", (0,)),
        ("c", "main", (0,)),
        ("d", "main", (1, 2)),
    ]
    begin = device.now
    g.replay()
    times = [(span.name, span.start - begin, span.end - begin) for span in device.timeline]
    assert times == [("a", 1, 11), ("b", 11, 31), ("c", 11, 16), ("d", 31, 32)]
    launch("after", 1.0)  # on the stream of the replay
    assert device.timeline[-1].start == begin + 32


def test_copies_in_a_graph_share_their_engine(device):
    source, g = host(np.zeros(10, np.float32), pin_memory=True), CUDAGraph()
    x, y, main, side = empty([10]), empty([10]), Stream(), Stream()
    with graph(g, main):
        side.wait_stream(main)
        x.copy_(source, non_blocking=True)
        with stream(side):
            y.copy_(source, non_blocking=True)
        main.wait_stream(side)
    begin = device.now
    g.replay()
    assert [span.end - begin for span in device.timeline] == [11, 21]


def before(nodes, i):
    found = {i}
    for j in nodes[i].dependencies:
        found |= before(nodes, j)
    return found


@pytest.mark.parametrize("seed", sweep(range(100), every=5))
def test_the_order_in_a_graph_is_that_of_torchs_sanitizer(device, seed):
    """Two kernels of a graph are ordered if and only if PyTorch's sanitizer sees no race between two that write the same tensor."""
    rng, g, trace = random.Random(seed), CUDAGraph(), []
    streams = [Stream() for _ in range(3)]
    captured = {0}
    with stream(streams[0]):
        g.capture_begin()
        for number in range(12):
            i, j = rng.choice([*captured]), rng.randrange(3)
            if rng.random() < 0.5:
                event = streams[i].record_event()
                streams[j].wait_event(event)
                captured.add(j)
                trace += [("record", number, i), ("wait", number, j)]
            else:
                with stream(streams[i]):
                    launch("kernel", 1.0)
                trace.append(("launch", i, set(), set(), "kernel"))
        for j in captured - {0}:
            streams[0].wait_stream(streams[j])
        g.capture_end()
    launches = [n for n, step in enumerate(trace) if step[0] == "launch"]
    for i in range(len(launches)):
        for j in range(i):
            pair = [*trace]
            for n in (i, j):
                kind, s, *_ = pair[launches[n]]
                pair[launches[n]] = (kind, s, set(), {7}, "kernel")
            assert (j in before(g.nodes, i)) is (not torchs(pair))


# Static addresses


def test_a_replay_uses_the_memory_of_the_capture(device):
    x, g = host(np.float32([1])).cuda(), CUDAGraph()
    with graph(g):
        y = empty([1])
        launch("double", 10.0, lambda x: 2 * x, [x], out=y)
    static = x
    x = host(np.float32([5])).cuda()  # another tensor: the graph does not know it
    g.replay()
    assert y.item() == 2
    static.copy_(x)
    g.replay()
    assert y.item() == 10


def test_an_input_that_is_deleted_is_read_all_the_same(device):
    x, g = host(np.float32([1])).cuda(), CUDAGraph()
    with graph(g):
        y = empty([1])
        launch("double", 10.0, lambda x: 2 * x, [x], out=y)
    del x
    z = host(np.float32([100])).cuda()  # the memory's next owner
    g.replay()
    assert (y.item(), z.item()) == (200, 100)


def test_memory_of_the_graph_is_for_nothing_else(device):
    g = CUDAGraph()
    with graph(g):
        x = empty([1])
        first = x.data_ptr()
        del x
        y = empty([1])
        assert y.data_ptr() == first  # within the capture, it may be used again
        del y
    others = [empty([1]) for _ in range(5)]
    assert first not in [each.data_ptr() for each in others]
    reserved = device.runtime.free_bytes
    g.reset()
    assert device.runtime.free_bytes > reserved
    with pytest.raises(RuntimeError, match="without a preceding successful capture"):
        g.replay()


def test_a_number_of_python_is_as_it_was(device):
    x, g, scale = host(np.float32([1])).cuda(), CUDAGraph(), 2
    with graph(g):
        factor = scale
        launch("scale", 10.0, lambda x: factor * x, [x], out=x)
        scale = 1000
    g.replay()
    assert x.item() == 2


# What a capture refuses

UNSUPPORTED = "not permitted when stream is capturing"


@pytest.mark.parametrize(
    ("action", "message"),
    [
        (lambda x: synchronize(), UNSUPPORTED),
        (lambda x: current_stream().synchronize(), UNSUPPORTED),
        (lambda x: current_stream().query(), UNSUPPORTED),
        (lambda x: current_stream().record_event().query(), "last recorded in a capturing stream"),
        (lambda x: current_stream().record_event().synchronize(), "last recorded in a capturing stream"),
        (lambda x: default_stream().wait_stream(current_stream()), "would make the legacy stream depend"),
        (lambda x: current_stream().wait_stream(default_stream()), "uncaptured work in another stream"),
        (lambda x: host(np.zeros(1, np.float32), pin_memory=True).copy_(x), UNSUPPORTED),
        (lambda x: x.item(), UNSUPPORTED),
    ],
)
def test_what_ends_a_capture(device, action, message):
    """The messages are CUDA's. Afterwards nothing can be captured, and the device works again when the capture has ended."""
    x, g, side = empty([1]), CUDAGraph(), Stream()
    with stream(side):
        g.capture_begin()
        launch("a", 1.0)
        with pytest.raises(AcceleratorError, match=message):
            action(x)
        with pytest.raises(AcceleratorError, match="due to a previous error during capture"):
            launch("b", 1.0)
        with pytest.raises(AcceleratorError, match="due to a previous error during capture"):
            g.capture_end()
    with pytest.raises(RuntimeError, match="without a preceding successful capture"):
        g.replay()
    synchronize()
    launch("c", 1.0)
    assert device.timeline[-1].name == "c"


@pytest.mark.parametrize("action", [lambda x: x.copy_(host(np.zeros(1, np.float32))), lambda x: x.cpu()])
def test_pageable_memory_cannot_be_captured(device, action):
    x, g = empty([1]), CUDAGraph()
    with graph(g):
        with pytest.raises(RuntimeError, match="unless the CPU tensor is pinned"):
            action(x)
        launch("a", 1.0)  # PyTorch refuses before it asks CUDA, so the capture goes on
    assert len(g.nodes) == 1


def test_what_is_allowed_while_it_captures(device):
    x, pinned, g = empty([1]), host(np.float32([3]), pin_memory=True), CUDAGraph()
    with graph(g):
        x.copy_(pinned, non_blocking=True)
        current_stream().wait_event(Event())  # never recorded
        assert Event().query()  # PyTorch does not ask CUDA about such an event
        device.busy(10.0)
        with stream(default_stream()):
            launch("not captured", 1.0)  # runs at once: it is on another stream
    assert [node.work.name for node in g.nodes] == ["Memcpy HtoD"]
    assert [span.name for span in device.timeline] == ["not captured"]


def test_a_fork_that_is_not_joined_is_no_graph(device):
    side, g = Stream(), CUDAGraph()
    with pytest.raises(AcceleratorError, match="unjoined work"), graph(g):
        side.wait_stream(current_stream())
        with stream(side):
            launch("a", 1.0)
    assert current_stream() == default_stream()


def test_an_event_of_a_capture_that_has_ended_cannot_be_waited_for(device):
    event, g = Event(), CUDAGraph()
    with graph(g):
        launch("a", 1.0)
        event.record()
    with pytest.raises(AcceleratorError, match="last recorded in a capturing stream"):
        event.wait()
    event.record()
    event.wait()
    assert event.query()


def test_what_pytorch_refuses_itself(device):
    """The messages are those of PyTorch's CUDA build, `aten/src/ATen/cuda/CUDAGraph.cpp`."""
    g = CUDAGraph()
    with pytest.raises(RuntimeError, match="must be captured on a non-default stream"):
        g.capture_begin()
    with pytest.raises(RuntimeError, match="without a preceding successful capture"):
        g.replay()
    with stream(Stream()):
        g.capture_begin()
        with stream(Stream()), pytest.raises(RuntimeError, match="same stream it began on"):
            g.capture_end()
        with stream(Stream()), pytest.raises(RuntimeError, match="one capture"):
            CUDAGraph().capture_begin()
        g.capture_end()
        with pytest.raises(RuntimeError, match="already owns a captured graph"):
            g.capture_begin()
    g.replay()  # nothing
    assert device.timeline == []


def test_memory_that_two_streams_of_a_capture_use_is_not_used_again_in_it(device):
    main, side, g = Stream(), Stream(), CUDAGraph()
    with graph(g, main):
        x = empty([1])
        ptr = x.data_ptr()
        side.wait_stream(main)
        with stream(side):
            launch("read", 10.0, np.copy, [x], out=empty([1]))
        x.record_stream(side)
        del x
        assert empty([1]).data_ptr() != ptr
        main.wait_stream(side)
