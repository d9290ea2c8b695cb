"""Lab 11c, all together: programs with streams, events, copies in chunks and graphs, and the races in them."""

from __future__ import annotations

from importlib import import_module

from ...engine.check import program
from ..cases import explained, rows
from ..listing import comments
from .device import Model, races, timed

EVENTS, TENSORS, SIZE, BANDWIDTH = 2, 3, 5, 8.0
COPY = SIZE * 8 / BANDWIDTH  # microseconds


def _steps(st):
    stream, event, tensor, time = st.integers(0, 2), st.integers(0, 1), st.integers(0, 2), st.integers(0, 30)
    kernel = [time, tensor, tensor]
    node = st.tuples(st.integers(0, 1), st.booleans(), *kernel).map(list)
    parts = [
        *[("launch", stream, *kernel)] * 4,
        *[("record", event, stream), ("wait", event, stream)] * 3,
        ("copy in", stream, tensor),
        ("copy out", stream, tensor),
        ("busy", time),
        ("synchronize",),
        ("synchronize stream", stream),
        ("synchronize event", event),
        ("graph", stream, st.lists(node, min_size=1, max_size=5), st.integers(1, 2)),
        ("chunks", st.integers(1, 4), st.integers(1, 3), time),
    ]
    step = st.one_of(*[st.tuples(st.just(kind), *rest).map(list) for kind, *rest in parts])
    return st.fixed_dictionaries(
        {"steps": st.lists(step, min_size=1, max_size=12), "overhead": st.sampled_from([1.0, 5.0])}
    )


def _shown(torch, steps, overhead):
    return comments([f"a launch takes the host {overhead:g} µs", *(" ".join(map(str, step)) for step in steps)])


FORK = [[0, False, 10, 0, 1], [1, True, 20, 1, 0], [0, False, 5, 2, 2], [0, True, 1, 0, 2]]
PREFETCH = [["copy in", 1, 0], ["launch", 0, 20, 1, 0]]
HINTS = {
    "work": "`schedule`, `replay_times` and `compute_in_chunks` decide when work starts, and `add_node` what a node waits for",
    "tensors": "the times agree, but the numbers do not: which work reads, and which one writes?",
    "races": "`update_clocks` and `check_access` find the races, with the numbers of the two launches and the tensor",
}


@program(
    "together.race_free",
    cases=_steps,
    edges=rows("steps overhead", *((steps, 1.0) for steps in (
        [], [["launch", 1, 10, 0, 1], ["launch", 2, 10, 0, 1], ["launch", 1, 10, 2, 0]],
        PREFETCH, [PREFETCH[0], ["record", 0, 1], ["wait", 0, 0], PREFETCH[1]],
        [PREFETCH[0], ["synchronize stream", 1], PREFETCH[1]],
        [["launch", 1, 30, 0, 1], ["record", 0, 1], ["launch", 1, 30, 0, 1], ["synchronize event", 0], ["launch", 2, 5, 1, 0]],
        [["graph", 1, FORK, 2], ["launch", 1, 3, 0, 0]], [["graph", 0, FORK, 1], ["launch", 1, 3, 0, 0], ["synchronize"]],
        [["chunks", 4, 2, 20], ["launch", 0, 5, 0, 1]], [["launch", 1, 30, 0, 1], ["chunks", 3, 3, 7], ["copy out", 2, 0]],
        [["launch", 1, 10, 0, 2], ["launch", 2, 10, 1, 2], ["launch", 0, 10, 2, 2]],
        [["launch", 1, 10, 0, 0], ["record", 0, 1], ["record", 0, 2], ["wait", 0, 0], ["launch", 0, 10, 1, 0]],
        [*PREFETCH, ["busy", 30], ["record", 1, 0], ["wait", 1, 1], *PREFETCH, ["copy out", 0, 1], ["synchronize"], *PREFETCH],
    ))),
    draws=40,
    show=_shown,
    hint=explained(**HINTS),
)  # fmt: skip
def ran(rl, steps, overhead):
    cuda, memory = rl.cuda, import_module(f"{rl.__name__}.cuda.memory")
    overlap, sanitizer = (import_module(f"{rl.__name__}.cuda.{name}") for name in ("overlap", "_sanitizer"))
    with cuda.Device(launch_overhead=overhead, bandwidth=BANDWIDTH) as device:
        streams, lanes = [cuda.default_stream(), cuda.Stream(), cuda.Stream()], [cuda.Stream(), cuda.Stream()]
        events, out = [cuda.Event() for _ in range(EVENTS)], []
        tensors = [memory.empty([SIZE], float).copy_(_pinned(memory, i)) for i in range(TENSORS)]

        def kernel(n, duration, i, j):
            memory.launch("kernel", float(duration), _mixed(n), [tensors[i], tensors[j]], tensors[i])

        for n, (kind, *rest) in enumerate(steps):
            if kind in ("record", "wait"):
                getattr(events[rest[0]], kind)(streams[rest[1]])
            elif kind == "graph":
                graph = cuda.CUDAGraph()
                with cuda.graph(graph, lanes[0]):
                    lanes[1].wait_stream(lanes[0])
                    for k, (lane, waits, *accesses) in enumerate(rest[1]):
                        if waits:
                            lanes[lane].wait_stream(lanes[1 - lane])
                        with cuda.stream(lanes[lane]):
                            kernel(n + k, *accesses)
                    lanes[0].wait_stream(lanes[1])
                with cuda.stream(streams[rest[0]]):
                    for _ in range(rest[2]):
                        graph.replay()
            elif kind == "chunks":
                count, buffers, duration = rest
                given, made = ([_pinned(memory, i) for i in range(count)] for _ in range(2))
                overlap.compute_in_chunks(given, made, _mixed_alone, float(duration), buffers)
                cuda.synchronize()
                out += made
            elif kind == "busy":
                device.busy(float(rest[0]))
            elif kind.startswith("synchronize"):
                what = {"synchronize stream": streams, "synchronize event": events}.get(kind)
                what[rest[0]].synchronize() if what else cuda.synchronize()
            else:
                with cuda.stream(streams[rest[0]]):
                    if kind == "launch":
                        kernel(n, *rest[1:])
                    elif kind == "copy in":
                        tensors[rest[1]].copy_(_pinned(memory, n), non_blocking=True)
                    else:
                        out.append(_pinned(memory, -1).copy_(tensors[rest[1]], non_blocking=True))
        now, numbers = device.now, {tensor.data_ptr(): i for i, tensor in enumerate(tensors)}
        races = [[race.current, race.previous, numbers.get(race.tensor)] for race in sanitizer.find_races(device.trace)]
        work = [timed(span.engine or "kernel", span) for span in device.timeline]
        cuda.synchronize()
        values, copied = [int(tensor.cpu().data[0]) for tensor in tensors], [int(copy.data[0]) for copy in out]
    return {"work": work, "now": now, "tensors": values, "copied to the host": copied, "races": races}


def _pinned(memory, number):
    return memory.host([float(number)] * SIZE, pin_memory=True)


def _mixed(n):
    return lambda x, y: (2 * x + 3 * y + n) % 97


def _mixed_alone(x):
    return x + 1


@ran.oracle
def _(torch, steps, overhead):
    """The judge's own device, and PyTorch's sanitizer."""
    assert torch is not None
    model, marks, values, out = Model(overhead), {}, {}, []

    def copy(stream, source, target, engine):
        return model.launch(stream, COPY, engine, [source], target, lambda x: x)

    for i in range(TENSORS):
        values |= {i: 0, ("from", i): i}
        copy(0, ("from", i), i, "HtoD")
        _synchronize(model, "synchronize stream", 0)
    for n, (kind, *rest) in enumerate(steps):
        if kind == "record":
            marks[rest[0]] = max(model.now, model.free(rest[1]))
            model.trace.append((kind, *rest))
        elif kind == "wait":
            model.hold(rest[1], marks.get(rest[0], 0.0))
            model.trace.append((kind, *rest))
        elif kind == "graph":
            _synchronize(model, "synchronize")
            model.now += overhead * len(rest[1])
            for _ in range(rest[2]):
                model.replay(rest[0], _graph(n, rest[1]))
        elif kind == "chunks":
            count, buffers, duration = rest
            ends = []
            for i in range(count):
                lane, values = (n, i), values | {(n, i): i, (n, i, "buffer"): 0, (n, i, "out"): i}
                if i >= buffers:
                    model.hold(lane, ends[i - buffers])
                copy(lane, lane, (n, i, "buffer"), "HtoD")
                model.launch(lane, float(duration), None, [(n, i, "buffer")], (n, i, "buffer"), _mixed_alone)
                ends.append(copy(lane, (n, i, "buffer"), (n, i, "out"), "DtoH").end)
                out.append((n, i, "out"))
            _synchronize(model, "synchronize")
        elif kind == "busy":
            model.now += rest[0]
        elif kind == "synchronize event":
            if rest[0] in marks:
                model.now = max(model.now, marks[rest[0]])
                model.trace.append((kind, *rest))
        elif kind.startswith("synchronize"):
            _synchronize(model, kind, *rest)
        elif kind == "launch":
            stream, duration, i, j = rest
            model.launch(stream, float(duration), None, [i, j], i, _mixed(n))
        elif kind == "copy in":
            values[n, "in"] = n
            copy(rest[0], (n, "in"), rest[1], "HtoD")
        else:
            values[n, "out"] = -1
            out.append((n, "out"))
            copy(rest[0], rest[1], (n, "out"), "DtoH")
    work = [timed(piece.engine or "kernel", piece) for piece in model.pieces]
    values = model.values(values)
    tensors, copied = [values[i] for i in range(TENSORS)], [values[name] for name in out]
    return {
        "work": work,
        "now": model.now,
        "tensors": tensors,
        "copied to the host": copied,
        "races": races(model.trace),
    }


def _synchronize(model, kind, *streams):
    model.synchronize(*streams)
    model.trace.append((kind, *streams))


def _graph(n, nodes):
    """The nodes of a capture. Each waits for the last node of its lane, and for the nodes that the lane waits for."""
    made, last = [], {0: set(), 1: set()}
    for k, (lane, waits, duration, i, j) in enumerate(nodes):
        dependencies = last[lane] | (last[1 - lane] if waits else set())
        made.append((float(duration), None, dependencies, [i, j], i, _mixed(n + k)))
        last[lane] = {k}
    return made
