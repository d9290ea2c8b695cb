"""Lab 11c, CUDA graphs: what a node depends on, whether a capture may end, and when the nodes of a replay start."""

from __future__ import annotations

from ...engine.check import program
from ..cases import drawn, first_apart, listed, rows, several, when
from ..listing import comments
from .device import Model, races

# Nodes ---------------------------------------------------------------------------------------------------------------

# a stream, and another one for whose work it is told to wait; the same one for a node on this stream
STEP = listed((0, 2), (0, 2))


def _captured(text):
    """`0 1<0 1`: a node on stream 0; stream 1 waits for stream 0; a node on stream 1."""
    words = [word.partition("<") for word in text.split()]
    return ([[int(word), int(other or word)] for word, _, other in words],)


@program(
    "cuda.graphs.add_node",
    cases=drawn(steps=several(STEP, 0, 12)),
    edges=rows("steps", *map(_captured, (
        "", "0", "0 0", "0 1", "0 1<0 1", "0 1<0 0 1", "1<0 1 0", "0 1 2<0 2<1 2", "0 1 2<1 2<0 2 2", "0 1<0 1 0 0<1 0",
        "0 1<0 1<0 1 1<0 1", "0 1 2 0<1 0<2 1<0 0 1 2", "2 1 0 0<1 0<2 0 0<1 0", "0 1<0 2<1 2 1", "0 0 0 1<0 1 2<1 2 0<2 0<1 0",
        "0 1 0<1 1<0 0 1 2<0 2<1 2", "2 2<0 2 0<2 1<0 1 1 0<1 0", "1 1 0 0 0 0 0 0 0 0<1 0",
    ))),
    hint=when(lambda case: any(a != b for a, b in case["steps"]), "a wait adds to what the stream's next work depends on"),
    show=lambda torch, steps: comments(
        f"a node on stream {a}" if a == b else f"stream {a} waits for stream {b}" for a, b in steps
    ),
)  # fmt: skip
def added(rl, steps):
    graphs, work = rl.cuda.graphs, rl.cuda.simulator.Work
    graph = graphs.CUDAGraph()
    graph.frontiers, given = {stream: frozenset() for stream in range(3)}, []
    for stream, other in steps:
        if stream == other:
            given.append(work(f"kernel {len(given)}", 1.0))
            graphs.add_node(graph, stream, given[-1])
        else:
            graph.frontiers[stream] |= graph.frontiers[other]
    assert all(type(frontier) is frozenset for frontier in graph.frontiers.values()), "a frontier is a frozenset"
    assert [node.work is expected for node, expected in zip(graph.nodes, given, strict=True)].count(False) == 0
    before = []
    for node in graph.nodes:
        assert isinstance(node.dependencies, tuple), "the dependencies of a node are a tuple"
        before.append({*node.dependencies}.union(*(before[i] for i in node.dependencies)))
    return {
        "nodes": [f"stream {node.stream}, after {[*node.dependencies]}" for node in graph.nodes],
        "frontiers": [sorted(graph.frontiers[stream]) for stream in range(3)],
        "must come before": [sorted(numbers) for numbers in before],
    }


@added.oracle
def _(torch, steps):
    """A node comes before another if PyTorch's sanitizer finds no race between two kernels there that write one tensor."""
    assert torch is not None
    nodes = [n for n, (stream, other) in enumerate(steps) if stream == other]
    before = [[j for j in range(i) if not _race(steps, nodes[j], nodes[i])] for i in range(len(nodes))]
    return {
        "nodes": [f"stream {steps[n][0]}, after {sorted(_last(steps[:n], steps[n][0]))}" for n in nodes],
        "frontiers": [sorted(_last(steps, stream)) for stream in range(3)],
        "must come before": before,
    }


def _last(steps, stream):
    """Go back from the end to find the nodes that a stream's next work must wait for."""
    lengths, wanted = set(), {stream}
    for n in reversed(range(len(steps))):
        one, other = steps[n]
        if one in wanted and one == other:
            lengths.add(sum(a == b for a, b in steps[:n]))
            wanted.remove(one)
        elif one in wanted:
            wanted.add(other)
    return lengths


def _race(steps, first, second):
    trace = []
    for n, (stream, other) in enumerate(steps):
        if stream == other:
            trace.append(("launch", stream, set(), {7} if n in (first, second) else set()))
        else:
            trace += [("record", n, other), ("wait", n, stream)]
    return races(trace)


# The end of a capture ------------------------------------------------------------------------------------------------


def _nodes(st):
    return st.lists(st.lists(st.integers(0, 8), max_size=2), max_size=8).map(_earlier)


def _earlier(lists):
    """Each node depends on earlier ones only."""
    return [sorted({j % i for j in numbers}) if i else [] for i, numbers in enumerate(lists)]


@program(
    "cuda.graphs.joined",
    cases=drawn(nodes=_nodes, frontier=several((0, 7), 0, 3)),
    edges=rows("nodes frontier", *(
        ([], []), ([[]], []), ([[]], [0]), ([[], []], [1]), ([[], []], [0, 1]), ([[], [0]], [1]), ([[], [0]], [0]),
        ([[], [0], [0]], [2]), ([[], [0], [0]], [1, 2]), ([[], [0], [0], [1, 2]], [3]), ([[], [0], [0], [2]], [3]),
        ([[], [0], [1], [2], [3]], [4]), ([[], [0], [1], [2], [3]], [3]), ([[], [], [0, 1], [0]], [2, 3]),
        ([[], [], [0, 1], [0]], [2]),
        ([[], [0], [0], [1], [2], [3, 4]], [5]), ([[], [], [1], [0]], [3]), ([[], [0]], [0, 1]),
    )),
    hint=when(lambda case: case["nodes"], "the end of the first stream must come after each node, over any number of edges"),
)  # fmt: skip
def joined(rl, nodes, frontier):
    graphs, work = rl.cuda.graphs, rl.cuda.simulator.Work
    made = [graphs.Node(work("kernel", 1.0), 1, tuple(dependencies)) for dependencies in nodes]
    result = graphs.joined(made, frozenset(i for i in frontier if i < len(nodes)))
    assert [list(node.dependencies) for node in made] == [list(numbers) for numbers in nodes], "a node has changed"
    return [type(result).__name__, result]


@joined.oracle
def _(torch, nodes, frontier):
    """Each node has a stream of its own. At the end a kernel writes all that they have written: who races with it is not joined."""
    assert torch is not None
    trace = []
    for i, dependencies in enumerate([*nodes, [i for i in frontier if i < len(nodes)]]):
        trace += [("wait", j, i) for j in dependencies]
        trace += [("launch", i, set(), {i} if i < len(nodes) else {*range(i)}), ("record", i, i)]
    return ["bool", not races(trace)]


# A replay ------------------------------------------------------------------------------------------------------------

NODE = listed((0, 20), [None, None, None, "HtoD", "DtoH"], several((0, 8), 0, 2))  # duration, engine, dependencies
BEFORE = listed((0, 30), ["stream", "other stream", "HtoD", "DtoH"])  # until when they are not free


REPLAY_HINTS = {
    "nodes": "the whole graph is one launch, and only edges and engines order its nodes",
    "now": "the host launches the whole graph once",
    "ready": "the stream's next work waits for all nodes, and the last node need not be the last to end; other streams go on",
    "engines": "an engine is free when its last copy has ended",
}


def _replay_mistake(case, mine, theirs):
    """A hint for the first entry that differs in the first replay that does."""
    differences = (first_apart(*pair) for pair in zip(mine, theirs, strict=True))
    return REPLAY_HINTS.get(next(filter(None, differences), None))


@program(
    "cuda.graphs.replay_times",
    cases=drawn(nodes=several(NODE, 0, 7), overhead=[0.0, 1.0, 2.5], before=several(BEFORE, 0, 2), replays=(1, 2)),
    edges=rows("nodes overhead before replays", *(
        ([], 1.0, [], 1), ([], 1.0, [[9, "stream"]], 2), ([[10, None, []]], 1.0, [], 1),
        ([[10, None, []]], 1.0, [[9, "stream"]], 2),
        ([[10, None, []]], 2.5, [[9, "other stream"]], 2), ([[10, None, []], [20, None, []], [5, None, [0]]], 1.0, [], 2),
        ([[10, None, []], [20, None, [0]], [5, None, [0]], [1, None, [1, 2]]], 1.0, [], 1),
        ([[10, None, []], [2, None, [0]], [20, None, [0]], [1, None, [1, 2]], [3, None, [0]]], 1.0, [], 2),
        ([[10, "HtoD", []], [10, "HtoD", []], [10, "DtoH", []], [10, None, []]], 1.0, [], 2),
        ([[3, "HtoD", []]], 1.0, [[20, "HtoD"]], 1), ([[3, "DtoH", []], [4, None, []]], 1.0, [[20, "HtoD"], [15, "DtoH"]], 1),
        ([[12, None, []], [3, "HtoD", [0]], [4, "HtoD", []]], 1.0, [], 1), ([[1, None, []], [0, None, [0]]], 0.0, [], 2),
        ([[20, None, []], [1, None, []]], 1.0, [[30, "stream"], [5, "DtoH"]], 2),
        ([[4, None, []], [6, "DtoH", [0]], [2, None, [1, 0]], [9, "DtoH", [2]]], 2.5, [[7, "DtoH"]], 2),
        ([[7, "HtoD", []]], 2.5, [[30, "DtoH"]], 2), ([[20, None, []], [5, None, []], [3, None, [1]]], 1.0, [], 1),
    )),
    hint=_replay_mistake,
)  # fmt: skip
def replayed(rl, nodes, overhead, before, replays):
    graphs, work, device = rl.cuda.graphs, rl.cuda.simulator.Work, rl.cuda.Device(launch_overhead=overhead)
    made = [
        graphs.Node(work("work", float(node[0]), engine=node[1]), i % 2, _before(i, node))
        for i, node in enumerate(nodes)
    ]
    names = {"stream": (device.ready, 5), "other stream": (device.ready, 1)}
    for time, name in before:
        table, key = names.get(name, (device.engines, name))
        table[key] = float(time)
    shown = []
    for _ in range(replays):
        times = graphs.replay_times(device, 5, made)
        assert isinstance(times, list | tuple), "the result is a list"
        engines = [device.engines.get(engine, 0.0) for engine in ("HtoD", "DtoH")]
        ready = {
            "stream": max(device.now, device.ready.get(5, 0.0)),
            "other": device.ready.get(1, 0.0),
        }  # no work starts earlier
        spans = [f"from {float(start)} to {float(end)}" for start, end in times]
        shown.append({"nodes": spans, "now": device.now, "ready": ready, "engines": engines})
    assert [node.dependencies for node in made] == [_before(i, given) for i, given in enumerate(nodes)], (
        "a node has changed"
    )
    return shown


@replayed.oracle
def _(torch, nodes, overhead, before, replays):
    """The judge's device, which has neither clocks of streams nor of engines."""
    model, shown = Model(overhead), []
    first = {name: float(time) for time, name in before}  # the last one counts
    model.hold("stream", first.get("stream", 0.0))
    for engine in ("HtoD", "DtoH"):
        if engine in first:
            model.busy_engine(engine, first[engine])
    other = first.get("other stream", 0.0)
    for _ in range(replays):
        made = model.replay("stream", [(float(node[0]), node[1], _before(i, node)) for i, node in enumerate(nodes)])
        engines = [model.engine_free("HtoD"), model.engine_free("DtoH")]
        times = [f"from {piece.start} to {piece.end}" for piece in made]
        shown.append(
            {
                "nodes": times,
                "now": model.now,
                "ready": {"stream": max(model.now, model.free("stream")), "other": other},
                "engines": engines,
            }
        )
    return shown


def _before(i, node):
    return tuple(sorted({j % i for j in node[2]})) if i else ()
