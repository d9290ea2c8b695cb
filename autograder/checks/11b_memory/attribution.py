"""Lab 11b, whose memory it is: categories over a graph of data flow, and their bytes over time."""

from __future__ import annotations

from importlib import import_module
from types import SimpleNamespace

from ...engine.check import program
from ..cases import drawing, drawn, rows, when

KNOWN = ["input", "parameter", "gradient", "temporary", "optimizer_state", "activation", "autograd_detail"]


@drawing
def _flow(draw, st):
    """Nodes, each with indices of the values that it reads, the number of values that it makes, those that it writes in place,
    and whether it is part of the backward pass."""
    node = st.tuples(
        st.lists(st.integers(0, 9), max_size=3),
        st.integers(0, 2),
        st.lists(st.integers(0, 9), max_size=1),
        st.booleans(),
    )
    return draw(st.lists(node.map(list), min_size=1, max_size=6))


X, W = "input", "parameter"


@program(
    "profiler._memory_profiler.propagate_categories",
    cases=drawn(
        first=lambda st: st.lists(st.sampled_from([*KNOWN, "input", "parameter", None]), min_size=1, max_size=4),
        nodes=_flow, later=lambda st: st.lists(st.tuples(st.integers(0, 9), st.sampled_from(KNOWN)).map(list), max_size=2),
    ),
    edges=rows("first nodes later", *(
        ([X, W], [[[0, 1], 1, [], False]], []), ([X, W], [[[0, 1], 2, [], False], [[2], 1, [], False]], []),
        ([W, W], [[[0, 1], 1, [], False]], []), ([X, None], [[[0, 1], 1, [], False]], []), ([X], [[[0], 1, [], True]], []),
        ([X, "gradient"], [[[0, 1], 1, [], False]], []), ([X, "temporary"], [[[0, 1], 1, [], False]], []),
        ([X, "optimizer_state"], [[[0, 1], 1, [], False]], []), ([X, "autograd_detail"], [[[0, 1], 1, [], False]], []),
        (["activation", W], [[[0, 1], 1, [], False]], []), (["temporary", W], [[[0, 1], 1, [], False]], []),
        ([X, W], [[[0, 1], 1, [], False], [[2, 1], 1, [], True]], []), ([X, W], [[[], 1, [], False], [[2, 0], 1, [], False]], []),
        ([X, W], [[[0, 1], 1, [], False]], [[2, "temporary"]]), ([X, W], [[[0, 1], 2, [], True], [[2], 0, [2], True]], []),
        ([X, W], [[[0], 1, [], False], [[2], 0, [2], True]], []), ([X, None], [[[0], 0, [1], True]], []),
        ([X, "gradient"], [[[0], 0, [1], True]], []), ([X, W], [[[0, 1], 0, [0], False]], []),
        ([X, W], [[[0, 1], 0, [1], False]], []),
        ([X], [[[0], 1, [], True]], [[1, "gradient"]]), ([X, W], [[[0, 1], 1, [], True], [[0], 0, [2], True]], [[2, "gradient"]]),
        ([X, W], [[[2], 1, [], False], [[0, 1], 1, [], False]], []), ([X, "autograd_detail"], [[[0], 0, [1], True]], []),
        ([X, W], [[[0], 1, [], True], [[2, 0], 1, [], False]], []), ([X, W, "activation"], [[[0, 2], 1, [], False]], []),
        ([X, W, W], [[[2, 7], 2, [0], False], [[4], 2, [5], True], [[9], 2, [0], False], [[3], 0, [], True], [[4, 4, 8], 0,
        [7], True]],
         [[6, "input"], [4, "autograd_detail"]]), (["temporary", X], [[[1], 0, [0], True]], []),
        ([W, X, "optimizer_state"], [[[0], 0, [1], True], [[0], 0, [2], True], [[1], 0, [0], True]], []),
        (["gradient"], [[[0], 0, [0], True], [[0], 0, [0], True]], []),
        ([W, "temporary", X], [[[0, 1, 2], 1, [], False], [[0, 1], 1, [], False]], []),
    )),
)  # fmt: skip
def propagated(rl, first, nodes, later):
    names = rl.profiler._memory_profiler
    known, flow = _graph(first, nodes, later)
    before = dict(known)
    categories = names.propagate_categories([names.FlowNode(*node) for node in flow], known)
    return {
        "categories": sorted([*value, category] for value, category in categories.items()),
        "known is as before": known == before,
        "a new dict": categories is not known,
    }


@propagated.oracle
def _(torch, first, nodes, later):
    profiler = import_module("torch.profiler._memory_profiler")
    event_type, scopes = torch._C._profiler._EventType, torch._C._profiler.RecordScope
    known, flow = _graph(first, nodes, later)
    keys = {name: _key(torch, profiler, i) for i, name in enumerate(sorted({name for name, _ in _values(known, flow)}))}
    graph = []
    for inputs, outputs, is_backward in flow:
        scope = scopes.BACKWARD_FUNCTION if is_backward else scopes.FUNCTION
        event = SimpleNamespace(typed=(event_type.TorchOp, SimpleNamespace(scope=scope)), parent=None)
        graph.append(
            _Node(
                event,
                [(keys[key], version) for key, version in inputs],
                [(keys[key], version) for key, version in outputs],
            )
        )
    made = profiler.MemoryProfile.__new__(profiler.MemoryProfile)
    made._data_flow_graph, made._categories = SimpleNamespace(flow_nodes=graph), profiler.CategoryDict()
    for (key, version), category in known.items():
        made._categories.set_by_version(keys[key], version, profiler.Category[category.upper()])
    made._set_activations()
    made._set_autograd_detail()
    known_categories = {value: made._categories.get(keys[value[0]], value[1]) for value in _values(known, flow)}
    categories = sorted(
        [*value, category.name.lower()] for value, category in known_categories.items() if category is not None
    )
    return {"categories": categories, "known is as before": True, "a new dict": True}


class _Node:
    """Torch's `DataFlowNode` as far as the two rules look at it."""

    def __init__(self, event, inputs, outputs):
        self._event, self.outputs = event, dict(outputs)
        self.inputs = {key: (False, version) for key, version in inputs}


def _key(torch, profiler, i):
    return profiler.TensorKey(torch.device("cpu"), i, i)


def _graph(first, nodes, later):
    """The known categories, and the nodes with their values. An index is that of a tensor, modulo those that there are."""
    versions = {f"t{i}": 0 for i in range(len(first))}
    known = {(f"t{i}", 0): category for i, category in enumerate(first) if category}
    flow = []
    for reads, makes, writes, is_backward in nodes:
        names = [*versions]
        at = [names[i % len(names)] for i in (*reads, *writes)]
        inputs = list(dict.fromkeys((name, versions[name]) for name in at))
        outputs = []
        for i in writes:
            name = names[i % len(names)]
            versions[name] += 1
            outputs.append((name, versions[name]))
        for _ in range(makes):
            name = f"t{len(versions)}"
            versions[name] = 0
            outputs.append((name, 0))
        flow.append((inputs, outputs, is_backward))
    for i, category in later:
        known.setdefault(([*versions][i % len(versions)], 0), category)
    return known, flow


def _values(known, flow):
    return {*known, *(value for inputs, outputs, _ in flow for value in (*inputs, *outputs))}


# Over time -----------------------------------------------------------------------------------------------------------


@drawing
def _events(draw, st):
    """Draw events of tensors, and of memory that belongs to no tensor. That memory has number 0, and may have several pieces."""
    events, live, made = [], [], 0
    for _ in range(draw(st.integers(0, 2))):
        events.append([-1, "preexisting", *_made(draw, st, live, made := made + 1)])
    time = draw(st.sampled_from([1, 1000]))
    for _ in range(draw(st.integers(0, 6))):
        time += draw(st.integers(0, 2))
        action = draw(st.sampled_from(["create", "increment_version", "destroy"])) if live else "create"
        if action == "create":
            events.append([time, action, *_made(draw, st, live, made := made + 1)])
            continue
        at = draw(st.integers(0, len(live) - 1))
        if action == "destroy" or live[at][0] == 0:
            events.append([time, "destroy", *live.pop(at)])
        else:
            events.append([time, action, *live[at]])
            live[at][1] += 1
    return events


def _made(draw, st, live, number):
    live.append([draw(st.sampled_from([number, number, number, 0])), 0, draw(st.integers(1, 4))])
    return live[-1]


@program(
    "profiler._memory_profiler.coalesce_timeline",
    cases=drawn(
        events=_events,
        categories=lambda st: st.lists(st.tuples(st.integers(1, 4), st.integers(0, 3), st.sampled_from(KNOWN)).map(list),
        max_size=6),
    ),
    edges=rows("events categories", *(
        ([], []), ([[0, "create", 1, 0, 4]], []), ([[-1, "preexisting", 1, 0, 4]], []),
        ([[-1, "preexisting", 1, 0, 4]], [[1, 0, "parameter"]]),
        ([[-1, "preexisting", 1, 0, 4], [7, "create", 2, 0, 3], [8, "create", 3, 0, 2]], [[1, 0, "parameter"], [2, 0, "input"]]),
        ([[1000, "create", 1, 0, 4], [1000, "create", 2, 0, 3], [1002, "destroy", 1, 0, 4]], [[1, 0, "activation"]]),
        ([[1000, "create", 1, 0, 4], [1001, "increment_version", 1, 0, 4]], [[1, 0, "activation"], [1, 1, "gradient"]]),
        ([[9, "create", 1, 0, 4], [9, "increment_version", 1, 0, 4], [10, "increment_version", 1, 1, 4], [10, "destroy", 1, 2, 4]],
         [[1, 1, "temporary"], [1, 2, "gradient"]]),
        ([[9, "create", 1, 0, 4], [10, "increment_version", 1, 0, 4]], [[1, 1, "optimizer_state"]]),
        ([[9, "create", 1, 0, 4], [10, "increment_version", 1, 0, 4]], [[1, 0, "input"]]),
        ([[9, "create", 0, 0, 4], [9, "create", 0, 0, 3], [10, "create", 0, 0, 1], [10, "destroy", 0, 0, 4]], []),
        ([[9, "create", 0, 0, 4], [9, "create", 0, 0, 3], [10, "destroy", 0, 0, 4], [11, "destroy", 0, 0, 3]], []),
        ([[9, "create", 1, 0, 4], [9, "create", 2, 0, 3]], [[1, 0, "autograd_detail"], [2, 0, "autograd_detail"]]),
        ([[-1, "preexisting", 1, 0, 1], [-1, "preexisting", 2, 0, 2], [1, "destroy", 2, 0, 2]], [[2, 0, "optimizer_state"]]),
        ([[-1, "preexisting", 1, 0, 1], [7, "create", 2, 0, 2], [7, "create", 3, 0, 3]], [[1, 0, "input"], [2, 0, "input"]]),
    )),
    hint=when(lambda case: [event[2] for event in case["events"]].count(0) > 1, "several pieces of memory may have one key"),
)  # fmt: skip
def timeline(rl, events, categories):
    given = {(f"t{key}", version): category for key, version, category in categories}
    made = [
        (time, action, (f"t{key}" if key else "unknown", version), size) for time, action, key, version, size in events
    ]
    before = [*made], dict(given)
    times, sizes = rl.profiler._memory_profiler.coalesce_timeline(made, given)
    assert (made, given) == before, "the arguments have changed"
    return [times, sizes]


@timeline.oracle
def _(torch, events, categories):
    profiler = import_module("torch.profiler._memory_profiler")
    given, made = profiler.CategoryDict(), []
    for key, version, category in categories:
        given.set_by_version(_key(torch, profiler, key), version, profiler.Category[category.upper()])
    for time, action, key, version, size in events:
        value = (_key(torch, profiler, key) if key else profiler.Key(torch.device("cpu")), version)
        made.append((time if time == -1 else 1000 * time, profiler.Action[action.upper()], value, size))
    profile = SimpleNamespace(timeline=made, _categories=given)
    times, sizes = profiler.MemoryProfileTimeline(profile)._coalesce_timeline("cpu")
    return [times, [size[1:] for size in sizes]]  # torch's first number is always 0
