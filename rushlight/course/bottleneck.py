"""Two profiles of the same program, one before it became slow, and what became slow.

`slow_scores` is a forward pass of the MiniGPT with one of four faults that are common in real programs. Each leaves a trace
in the profile, and no fault changes a result. In PyTorch: `torch/profiler/_pattern_matcher.py` looks for some known faults.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

from rushlight.autograd import profiler
from rushlight.autograd.profiler_util import find_parents
from rushlight.c10.dispatch import replacing
from rushlight.profiler import profile

try:
    from time import thread_time_ns
except ImportError:  # WebAssembly has no clock of a thread
    from time import perf_counter_ns as thread_time_ns

Event = tuple[str, int, int]
"""A name, a start and an end, in microseconds, all of one thread."""


def find_bottleneck(before: Sequence[Event], after: Sequence[Event]) -> list[tuple[str, int, int]]:
    """Find the paths that take longer in the second profile than in the first one, the worst first.

    The path of an event is the names of all events around it, the outermost first, then its own name, with "/" between them.
    An event is around another one if `find_parents` says so. The self time of an event is its length less the lengths of its
    children, the events directly inside of it. The self time of a path is the sum over all of its events in the profile. A
    path that a profile does not have has 0 events, which took 0 microseconds.

    Args:
        before, after: lists of events (name, start, end), in any order. No list changes.

    Returns:
        a list with a tuple (path, microseconds, calls) for each path of either profile whose self time has changed: how much
        more self time it has in `after`, and how many more events. Both may be negative. Paths with more additional time come
        first, and those with equal times are in the order of their texts.

    >>> before = [("attention", 0, 30), ("softmax", 10, 20)]
    >>> after = [("attention", 0, 95), ("softmax", 10, 20), ("to", 20, 80)]
    >>> find_bottleneck(before, after)
    [('attention/to', 60, 1), ('attention', 5, 0)]

    Source: `torch/autograd/profiler_util.py`, `FunctionEvent.self_cpu_time_total` and `cpu_parent`.
    """
    times = {}
    for sign, events in ((-1, before), (1, after)):
        parents = find_parents([(0, start, end) for _, start, end in events])
        own = [end - start for _, start, end in events]
        paths = [[name] for name, _, _ in events]
        for i, parent in enumerate(parents):
            if parent is not None:
                own[parent] -= events[i][2] - events[i][1]
            while parent is not None:
                paths[i].append(events[parent][0])
                parent = parents[parent]
        for path, time in zip(paths, own):
            row = times.setdefault("/".join(reversed(path)), [0, 0])
            row[0] += sign * time
            row[1] += sign
    rows = [(path, time, calls) for path, (time, calls) in times.items() if time]
    return sorted(rows, key=lambda row: (-row[1], row[0]))


# Four faults ---------------------------------------------------------------------------------------------------------

FAULTS = ("mask", "float64", "copies", "items")


def slow_scores(xp: ModuleType, model: Any, heads: int, tokens: Any, fault: str = "") -> Any:
    """The scores of a MiniGPT, (batch, n, vocabulary), computed with one of `FAULTS`, or with none. Its parts are ranges of the
    profiler."""
    part = xp.profiler.record_function
    with part("embedding"):
        x = model.token(tokens) + model.position(xp.arange(tokens.shape[1]))
    for block in model.blocks:
        with part("attention"):
            x = x + _attention(xp, block, heads, x, fault)
        with part("mlp"):
            x = x + _mlp(xp, block, x, fault)
    with part("head"):
        scores = model.head(model.norm(x))
        if fault == "items":
            for row in scores.flatten(0, 1):
                if row.max().item() != row.max().item():
                    raise ValueError("a score is nan")
    return scores


def _attention(xp: ModuleType, block: Any, heads: int, x: Any, fault: str) -> Any:
    n, width = x.shape[1:]
    q, k, v = (
        part.unflatten(2, (heads, width // heads)).transpose(1, 2)
        for part in block.attention(block.norm_1(x)).split(width, 2)
    )
    if fault == "copies":
        k, v = (_one_by_one(xp, tensor) for tensor in (k, v))
    scores = (q @ k.transpose(2, 3)) * (width // heads) ** -0.5
    mask = xp.ones(n, n, dtype=xp.bool).triu(1)
    if fault == "mask":
        mask = xp.tensor([[float(j > i) for j in range(n)] for i in range(n)]) > 0
    mixed = xp.softmax(scores.masked_fill(mask, float("-inf")), -1) @ v
    return block.projection(mixed.transpose(1, 2).flatten(2))


def _one_by_one(xp: ModuleType, x: Any) -> Any:
    """A copy of (batch, heads, n, features), made as a cache that grows by a position at a time."""
    cache = x[:, :, :1]
    for i in range(1, x.shape[2]):
        cache = xp.cat([cache, x[:, :, i : i + 1]], 2)
    return cache


def _mlp(xp: ModuleType, block: Any, x: Any, fault: str) -> Any:
    F, y = xp.nn.functional, block.norm_2(x)
    if fault != "float64":
        return block.down(F.gelu(block.up(y), approximate="tanh"))
    up, down = ((layer.weight.double(), layer.bias.double()) for layer in (block.up, block.down))
    return F.linear(F.gelu(F.linear(y.double(), *up), approximate="tanh"), *down).float()


def profiled(run: Callable[[], object], times: int = 10) -> list[Event]:
    """The events of the fastest of some runs under rushlight's profiler. Its clock is the processor time of this thread: other
    programs do not make it longer. The events begin at 0."""
    fastest, least = [], math.inf
    run()
    for _ in range(times):
        with replacing(profiler, now=lambda: thread_time_ns() / 1000), profile() as recorded:
            run()
        events = [(event.name, event.start, event.end) for event in recorded.events()]
        first = min(start for _, start, _ in events)
        if (length := max(end for *_, end in events) - first) < least:
            fastest, least = [(name, round(start - first), round(end - first)) for name, start, end in events], length
    return fastest
