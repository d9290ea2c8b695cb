"""Lab 11a, a profile as data: the tree of events, the rows of its table, the operators that are recorded, and the steps that are
kept. The milestone runs programs under the profilers of both frameworks."""

from __future__ import annotations

import warnings
from importlib import import_module

from rushlight.course import draws
from rushlight.course.predictions import NOT_SHOWN

from ...engine.check import program
from ..cases import PARTS, drawn, is_torch, listed, predicting, rows, several, when

# The tree ------------------------------------------------------------------------------------------------------------

EVENT = listed((1, 2), (0, 8), (0, 6))  # thread, start, length


@program(
    "autograd.profiler_util.find_parents",
    cases=drawn(events=several(EVENT, 0, 8)),
    edges=rows("events", *(([*map(list, events)],) for events in (
        [], [(1, 0, 10)], [(1, 0, 10), (1, 2, 3)], [(1, 2, 3), (1, 0, 10)], [(1, 0, 10), (2, 2, 3)], [(1, 0, 10), (1, 0, 10)],
        [(1, 0, 4), (1, 4, 4)], [(1, 0, 4), (1, 4, 0)], [(1, 0, 10), (1, 10, 0)], [(1, 0, 10), (1, 4, 6)], [(1, 0, 6), (1, 3, 6)],
        [(1, 0, 6), (1, 3, 6), (1, 4, 1)], [(1, 0, 6), (1, 3, 6), (1, 4, 5)], [(1, 0, 3), (1, 0, 8), (1, 0, 5)],
        [(1, 5, 0), (1, 5, 0)], [(1, 0, 9), (1, 1, 3), (1, 2, 1), (1, 5, 3)], [(2, 0, 9), (1, 1, 3), (2, 2, 1), (1, 2, 1)],
        [(1, 0, 20), (1, 2, 6), (1, 4, 8), (1, 5, 2), (1, 13, 2)], [(1, 0, 10), (1, 0, 4), (1, 4, 6), (1, 5, 1)],
        [(1, 3, 0), (1, 3, 4), (1, 3, 0)], [(1, 0, 9), (1, 2, 2), (1, 4, 5), (1, 4, 0), (1, 8, 1)],
    ))),
    show=lambda torch, events: f"find_parents({_with_ends(events)})",
    hint=when(
        lambda case: any(a[0] == b[0] and a[1] < b[1] < a[1] + a[2] < b[1] + b[2] for a in case["events"] for b in case["events"]),
        "two events of a thread overlap in part: neither is the other's parent",
    ),
)  # fmt: skip
def parents(rl, events):
    return list(rl.autograd.profiler_util.find_parents(_with_ends(events)))


def _with_ends(events):
    return [(thread, start, start + length) for thread, start, length in events]


@parents.oracle
def _(torch, events):
    util = torch.autograd.profiler_util
    made = [util.FunctionEvent(i, "f", *event[:2], event[1] + event[2]) for i, event in enumerate(events)]
    util.EventList(made)._populate_cpu_children()
    return [event.cpu_parent and event.cpu_parent.id for event in made]


@program(
    "autograd.profiler_util.find_parents.deep",
    cases=drawn(depth=[4000, 6000], beside=[20000]),
    edges=rows("depth beside", (5000, 30000)),
    draws=1,
)
def deep_parents(rl, depth, beside):
    """A deep nest, and many events beside it."""
    events = [(1, i, 2 * depth - i) for i in range(depth)] + [
        (1, 2 * depth + 2 * i, 2 * depth + 2 * i + 1) for i in range(beside)
    ]
    parents = list(rl.autograd.profiler_util.find_parents(events))
    return [parents[:3], parents[depth - 1], parents[depth], len(parents)]


@deep_parents.oracle
def _(torch, depth, beside):
    return [[None, 0, 1], depth - 2, None, depth + beside]


# The rows of the table -----------------------------------------------------------------------------------------------

NAMES = ["sum", "mm", "add"]
SHAPES = [[[2, 3]], [[2, 3], []], []]


def _forest(st):
    event = st.tuples(st.integers(0, 2), st.integers(0, 2), st.integers(0, 9), st.integers(0, 6), st.booleans())
    return st.lists(event.map(list), max_size=7)


@program(
    "autograd.profiler_util.average_events",
    cases=drawn(events=_forest, by_shape=bool, backwards=bool),
    edges=rows("events by_shape backwards", *(
        ([], False, False), ([[0, 0, 5, 0, False]], False, False), ([[0, 0, 5, 0, False]], True, False),
        ([[0, 0, 5, 0, False], [1, 0, 3, 0, True]], False, False), ([[0, 0, 5, 0, False], [0, 1, 3, 0, True]], True, False),
        ([[0, 0, 5, 0, False], [0, 1, 3, 0, True], [1, 0, 2, 1, True]], False, False),
        ([[0, 0, 5, 0, False], [0, 1, 3, 0, True], [0, 2, 2, 1, True], [1, 1, 1, 2, True]], True, False),
        ([[0, 0, 9, 0, False], [0, 1, 3, 0, True], [0, 0, 2, 0, True]], False, False),
        ([[0, 0, 9, 0, False], [1, 1, 6, 0, True], [0, 0, 2, 1, True]], False, False),
        ([[0, 0, 9, 0, False], [0, 0, 4, 0, False], [0, 1, 2, 0, False]], True, False),
        ([[0, 0, 9, 0, False], [0, 0, 4, 0, False], [0, 1, 2, 0, False]], False, True),
        ([[0, 0, 9, 0, False], [0, 1, 5, 0, True], [0, 0, 3, 1, True], [1, 0, 1, 2, True], [2, 1, 1, 2, True]], True, True),
        ([[1, 0, 9, 0, False], [0, 1, 5, 0, True], [0, 0, 3, 1, True]], False, False),
        ([[0, 0, 8, 0, False], [0, 0, 6, 0, True], [0, 0, 3, 1, True], [0, 0, 2, 1, True]], False, False),
        ([[0, 0, 8, 0, False], [0, 0, 6, 0, True], [0, 0, 3, 1, True], [0, 0, 2, 1, True]], True, True),
        ([[0, 0, 8, 0, False], [0, 2, 8, 0, False]], True, False), ([[0, 0, 5, 0, False], [1, 0, 6, 0, True]], False, False),
    )),
    show=lambda torch, events, by_shape, backwards: (
        f"average_events({_with_parents(events, backwards)}{', True' * by_shape})"
    ),
    hint=when("by_shape", "the shapes of a row are those of the outermost of the events that become one"),
)  # fmt: skip
def averages(rl, events, by_shape, backwards):
    given = _with_parents(events, backwards)
    average = rl.autograd.profiler_util.average_events
    averages = average(given, True) if by_shape else average(given)
    assert given == _with_parents(events, backwards), "the events have changed"
    return sorted([list(key), list(row)] for key, row in averages.items())


@averages.oracle
def _(torch, events, by_shape, backwards):
    util, given = torch.autograd.profiler_util, _with_parents(events, backwards)
    made = [
        util.FunctionEvent(i, name, 1, 0, time, input_shapes=shapes, stack=[])
        for i, (name, shapes, time, _) in enumerate(given)
    ]
    for event, (*_, parent) in zip(made, given):
        if parent is not None:
            made[parent].append_cpu_child(event)
            event.set_cpu_parent(made[parent])
    event_list = util.EventList(made)
    event_list._remove_dup_nodes()
    event_list._tree_built = True
    return sorted(
        [
            [row.key, str(row.input_shapes)] if by_shape else [row.key],
            [row.count, row.self_cpu_time_total, row.cpu_time_total],
        ]
        for row in event_list.key_averages(group_by_input_shapes=by_shape)
    )


def _with_parents(events, backwards):
    """The events as tuples with the positions of their parents. Each row has an index of an event before it."""
    last = len(events) - 1
    at = [last - i if backwards else i for i in range(len(events))]
    made = []
    for i, (name, shapes, time, parent, is_child) in enumerate(events):
        made.append(("".join([*NAMES[name]]), SHAPES[shapes], time, at[parent % i] if is_child and i else None))
    return made[::-1] if backwards else made


# What is recorded ----------------------------------------------------------------------------------------------------


for part in PARTS:

    @program(f"course.predictions.recorded_operators{part}", **predicting("recorded_operators", part))
    def recorded_operators(rl, number=0):
        return rl.course.predictions.recorded_operators()


@recorded_operators.oracle
def operators_of_events(torch, number=0):
    names = {"xp": torch, "F": torch.nn.functional, "x": torch.ones(4, 8), "w": torch.ones(6, 8), "v": torch.ones(8, 6)}
    names |= {"bias": torch.ones(6), "batch": torch.ones(2, 4, 8)}
    with _quiet(torch).profile() as found, torch.profiler.record_function("program"):
        exec(draws.program("recorded_operators", number), names)
    shown = [event.name.removeprefix("aten::") for event in found.events() if event.name.startswith("aten::")]
    return [name for name in shown if name not in NOT_SHOWN]


def _quiet(torch):
    """torch's profiler without its warning."""
    warnings.filterwarnings("ignore", message=".*Profiler clears events")
    return torch.profiler


# Steps ---------------------------------------------------------------------------------------------------------------


@program(
    "profiler.profiler.schedule_action",
    cases=drawn(step=(0, 20), wait=(0, 3), warmup=(0, 3), active=(1, 3), repeat=(0, 2), skip_first=(0, 4), skip_first_wait=(0, 2)),
    edges=rows("step wait warmup active repeat skip_first skip_first_wait", *(
        *((step, 1, 1, 2, 0, 0, 0) for step in range(6)), *((step, 2, 1, 1, 1, 1, 1) for step in range(6)),
        *((step, 0, 0, 1, 2, 0, 0) for step in range(3)), *((step, 1, 2, 3, 2, 3, 0) for step in (2, 3, 4, 6, 8, 9, 14, 15)),
        (5, 3, 1, 1, 1, 2, 2), (3, 0, 1, 2, 1, 0, 1), (0, 2, 0, 2, 0, 0, 1), (1, 2, 0, 2, 0, 0, 1), (0, 0, 0, 3, 1, 0, 0),
        (2, 1, 1, 1, 1, 0, 5), (1, 1, 1, 1, 1, 0, 5), *((step, 2, 0, 1, 2, 0, 1) for step in range(5)),
    )),
    show=lambda torch, **case: f"schedule_action({', '.join(f'{name}={case[name]}' for name in case)})",
    hint=when("skip_first_wait", "`skip_first_wait` is a switch, not a number of steps: only the first cycle has no waiting steps"),
)  # fmt: skip
def action(rl, step, wait, warmup, active, repeat, skip_first, skip_first_wait):
    function = rl.profiler.profiler.schedule_action
    action = function(step, wait, warmup, active, repeat, skip_first, skip_first_wait)
    if not (repeat or skip_first or skip_first_wait):
        assert function(step, wait=wait, warmup=warmup, active=active) is action, "the others are 0 by default"
    return [type(action).__name__, action.name]


@action.oracle
def _(torch, step, **numbers):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ["ProfilerAction", torch.profiler.schedule(**numbers)(step).name]


# Together ------------------------------------------------------------------------------------------------------------

LINES = {  # x and y are 4 by 6, w is 6 by 6, b has 6 elements
    "linear": "F.linear(x, w, b)", "mm": "xp.mm(x, w)", "add": "x + y", "mul": "x * y", "relu": "F.relu(x)", "tanh": "x.tanh()",
    "bias": "x * b", "exp": "(x * 0.125).exp()", "block": "block(x)", "sum": "x + x.sum()",
}  # fmt: skip
INSIDE = {*NOT_SHOWN, "clone", "clamp_min", "to", "_to_copy", "zeros", "new_empty_strided", "as_strided_", "lift_fresh"}


@program(
    "together.profile",
    cases=drawn(
        lines=several(list(LINES), 1, 4), steps=(2, 6), wait=(0, 1), warmup=(1, 2), active=(1, 2),
    ),
    edges=rows("lines steps wait warmup active", *(
        (["linear"], 2, 0, 1, 1), (["linear", "relu", "mm", "sum"], 4, 0, 1, 2), (["block", "add"], 6, 1, 1, 1),
        (["bias", "tanh", "exp"], 3, 0, 2, 1), (["mul", "mul"], 5, 1, 1, 2),
    )),
    draws=12,
    show=lambda torch, lines, steps, wait, warmup, active: "\n".join(
        [
            f"with profile(schedule=schedule(wait={wait}, warmup={warmup}, active={active})) as found:",
            f"    for _ in range({steps}):",
            *(f"        x, y = {LINES[line]}, x" for line in lines),
            "        (x.sum() + b.sum()).backward()",
            "        found.step()",
        ]
    ),
)  # fmt: skip
def profiled(xp, lines, steps, wait, warmup, active):
    """The rows of each cycle's table, and the tree of its events: what is inside of a kernel is left out."""
    profiler = _quiet(xp) if is_torch(xp) else xp.profiler
    functional, kept = xp.nn.functional, []
    w, b = xp.ones(6, 6, requires_grad=True), xp.ones(6, requires_grad=True)

    def block(x):
        with profiler.record_function("block"):
            return xp.mm(x, w).relu() * b

    def step():
        names = {"x": xp.ones(4, 6), "y": xp.ones(4, 6), "w": w, "b": b, "xp": xp, "F": functional, "block": block}
        for line in lines:
            names["x"], names["y"] = eval(LINES[line], names), names["x"]
        (names["x"].sum() + b.sum()).backward()

    def keep(found):
        seen = [event for event in found.events() if event.name.removeprefix("aten::") not in INSIDE]
        tree = [[event.name.removesuffix("_"), _outer(event)] for event in seen if "Accumulate" not in _outer(event)]
        shapes = {row.key: row.count for row in found.key_averages(group_by_input_shape=True) if "mm" in row.key}
        table = sorted([row.key, row.count] for row in found.key_averages() if "aten::" not in row.key)
        kept.append({"tree": tree, "table": table, "products": shapes})

    settings = {"schedule": profiler.schedule(wait=wait, warmup=warmup, active=active), "record_shapes": True}
    with profiler.profile(on_trace_ready=keep, **settings) as found:
        for _ in range(steps):
            step()
            found.step()
    with import_module(f"{xp.__name__}.utils.flop_counter").FlopCounterMode(display=False) as counter:
        step()
    return [kept, counter.get_total_flops()]


def _outer(event):
    """The name of the nearest event around it that is no detail of a kernel."""
    parent = event.cpu_parent
    while parent is not None and parent.name.removeprefix("aten::") in INSIDE:
        parent = parent.cpu_parent
    return "" if parent is None else parent.name
