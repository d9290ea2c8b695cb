"""Lab 11a, a trace of a device: its queue, and the kernels that decide how long the program takes."""

from __future__ import annotations

from importlib import import_module
from types import SimpleNamespace

from ...engine.check import program
from ..cases import drawn, listed, rows, several, when

# How many kernels wait -----------------------------------------------------------------------------------------------

# gap before the launch, delay of the kernel, duration of the kernel, and whether the trace lacks the launch or the kernel
LAUNCH = listed((1, 6), (0, 5), (1, 9), ["both", "both", "both", "launch", "kernel"])


@program(
    "profiler._utils.queue_depths",
    cases=drawn(launches=several(LAUNCH, 0, 6), backwards=bool),
    edges=rows("launches backwards", *(
        ([], False), ([[1, 3, 4, "both"]], False), ([[1, 1, 4, "both"]], False), ([[1, 0, 4, "both"]], False),
        ([[1, 3, 4, "launch"]], False), ([[1, 3, 4, "kernel"]], False),
        ([[1, 2, 9, "both"], [2, 2, 9, "both"], [2, 2, 9, "both"]], False),
        ([[1, 2, 1, "both"], [6, 2, 1, "both"], [6, 2, 1, "both"]], True), ([[1, 2, 9, "both"], [2, 2, 9, "launch"]], False),
        ([[1, 2, 9, "kernel"], [2, 2, 9, "kernel"], [2, 2, 9, "both"]], False), ([[1, 2, 9, "kernel"], [2, 0, 3, "launch"]], True),
        ([[1, 5, 9, "both"], [1, 5, 9, "both"], [1, 5, 9, "both"], [1, 5, 9, "launch"], [6, 0, 1, "both"]], True),
        ([[1, 5, 5, "both"], [5, 0, 5, "both"], [5, 0, 5, "both"]], False), ([[3, 0, 3, "both"], [3, 0, 2, "kernel"]], False),
        ([[1, 3, 4, "kernel"], [1, 3, 4, "launch"], [6, 0, 4, "kernel"], [1, 1, 4, "both"]], False),
    )),
    show=lambda torch, launches, backwards: f"queue_depths({_events(launches)[:: -1 if backwards else 1]})",
    hint=when(
        lambda case: any(launch[3] == "launch" for launch in case["launches"]),
        "a launch whose kernel is missing changes nothing: the last launch that has one counts",
    ),
)  # fmt: skip
def depths(rl, launches, backwards):
    given = _events(launches)[:: -1 if backwards else 1]
    before = [*given]
    depths = [list(row) for row in rl.profiler._utils.queue_depths(given)]
    assert given == before, "the events have changed"
    return depths


@depths.oracle
def _(torch, launches, backwards):
    utils = import_module("torch.profiler._utils")
    device = torch.autograd.DeviceType
    made = [_Event(device.CUDA if kind == "kernel" else device.CPU, *rest) for kind, *rest in _events(launches)]
    evaluation = utils.BasicEvaluation.__new__(utils.BasicEvaluation)
    evaluation.profile = SimpleNamespace(kineto_results=SimpleNamespace(events=lambda: made))
    evaluation.events, evaluation.metrics = [], {}
    return [[event.start, event.end, event.queue_depth] for event in evaluation.compute_queue_depth()]


class _Event:
    """An event as Kineto gives it."""

    def __init__(self, device, start, duration, correlation):
        self.name = "gemm" if str(device).endswith("CUDA") else "cudaLaunchKernel"
        self.device_type, self.start_ns, self.duration_ns = lambda: device, lambda: start, lambda: duration
        self.linked_correlation_id = lambda: correlation


def _events(launches):
    """One stream: a kernel begins after its launch, and after the kernel before it. What the trace lacks is left out."""
    made, now, free = [], 0, 0
    for i, (gap, delay, duration, seen) in enumerate(launches):
        now += gap
        start = max(free, now + delay)
        free = start + duration
        correlation = 40 + 3 * i % 7  # in no order
        made += [("launch", now, 1, correlation)] if seen != "kernel" else []
        made += [("kernel", start, duration, correlation)] if seen != "launch" else []
    return made


# The critical path ---------------------------------------------------------------------------------------------------

KERNEL = listed((0, 2), (0, 4), (1, 7), several((0, 6), 0, 2))  # stream, gap before the launch, duration, waits


def _about_paths(case, mine, theirs):
    if not case["kernels"]:
        return "without kernels nothing ends"
    if not isinstance(mine, list) or len(mine) != 2 or not isinstance(mine[0], list):
        return None
    if mine[1] != theirs[1]:
        return "a kernel starts after its launch, after the kernel before it on its stream, and after all that it waits for"
    own, right = mine[0], theirs[0]
    if own == right[len(right) - len(own) :]:
        return "a kernel that ended just at the launch of the next one is on the path"
    if right == own[len(own) - len(right) :]:
        return "the path begins with a kernel whose launch let it start: all that it had to wait for had ended before"
    if sorted(own) == sorted(right):
        return None  # `critical_path.long` says it
    return "of the kernels that one had to wait for, the one that ended last is on the path; of several, the lowest position"


@program(
    "profiler._utils.critical_path",
    cases=drawn(kernels=several(KERNEL, 0, 7)),
    edges=rows("kernels", *((kernels,) for kernels in (
        [], [[0, 3, 5, []]], [[0, 1, 5, []], [0, 1, 3, []]], [[0, 0, 5, []], [0, 9, 3, []]], [[0, 0, 5, []], [0, 5, 3, []]],
        [[0, 0, 5, []], [1, 0, 7, []]], [[0, 0, 7, []], [1, 0, 5, []]], [[0, 1, 5, []], [1, 0, 5, []]],
        [[0, 0, 5, []], [1, 1, 2, [0]]], [[0, 0, 2, []], [1, 4, 2, [0]]], [[0, 0, 5, []], [1, 0, 5, []], [2, 0, 1, [0, 1]]],
        [[0, 0, 5, []], [1, 0, 5, []], [2, 0, 1, [1, 0]]], [[0, 0, 4, []], [1, 0, 6, []], [0, 1, 3, [1]]],
        [[0, 0, 6, []], [1, 0, 4, []], [0, 1, 3, [1]]], [[0, 0, 6, []], [1, 0, 6, []], [1, 1, 3, [0]]],
        [[0, 0, 7, []], [1, 1, 2, [0]], [0, 0, 1, []], [1, 0, 4, [2]], [2, 1, 9, []], [0, 3, 1, [4]]],
        [[0, 2, 1, []], [1, 4, 1, [0]], [0, 0, 6, [1]], [0, 0, 2, []], [1, 0, 3, [3]]],
        [[0, 0, 3, []], [1, 0, 3, []], [0, 0, 2, []], [1, 0, 2, []]], [[0, 0, 5, []], [0, 0, 1, [0]], [1, 0, 1, [0, 0]]],
    ))),
    show=lambda torch, kernels: f"critical_path({_kernels(kernels)})",
    hint=_about_paths,
)  # fmt: skip
def path(rl, kernels):
    given = _kernels(kernels)
    path, end = rl.profiler._utils.critical_path(given)
    assert given == _kernels(kernels), "the kernels have changed"
    return [list(path), end]


@path.oracle
def _(torch, kernels):
    """Every kernel starts when the last of its causes is over. Then the causes are followed back."""
    given = _kernels(kernels)
    causes = [
        [*waits, *[j for j in range(i) if given[j][0] == stream][-1:]] for i, (stream, _, _, waits) in enumerate(given)
    ]
    start = [launched for _, launched, _, _ in given]
    for _ in given:  # until nothing changes
        start = [max([given[i][1], *(start[j] + given[j][2] for j in causes[i])]) for i in range(len(given))]
    end = [begin + given[i][2] for i, begin in enumerate(start)]
    if not end:
        return [[], 0]
    path = [end.index(max(end))]
    while before := sorted(j for j in causes[path[0]] if end[j] == start[path[0]]):
        path.insert(0, before[0])
    return [path, max(end)]


def _kernels(kernels):
    """The kernels as tuples with the times of their launches. A kernel waits for earlier ones only."""
    made, now = [], 0
    for i, (stream, gap, duration, waits) in enumerate(kernels):
        now += gap
        made.append((stream, now, duration, [number % i for number in waits] if i else []))
    return made


@program(
    "profiler._utils.critical_path.long", cases=drawn(count=[3000]), edges=rows("count", (4000,)), draws=1,
    hint=when(lambda case, mine, theirs: mine[1] == theirs[1][::-1] or mine[1][0], "the path is in the order of time"),
)  # fmt: skip
def long_path(rl, count):
    """Thousands of kernels, one after the other, on two streams."""
    kernels = [(i % 2, i, 10, [i - 1] if i else []) for i in range(count)]
    path, end = rl.profiler._utils.critical_path(kernels)
    return [len(path), list(path[:3]), end]


@long_path.oracle
def _(torch, count):
    return [count, [0, 1, 2], 10 * count]
