"""Questions to a trace of a device: how many kernels wait in its queue, when it has nothing to do, and which kernels decide the
time of the program.

In PyTorch: `torch/profiler/_utils.py`; the critical path is that of the tool Holistic Trace Analysis.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

__all__ = ["critical_path", "queue_depths"]


def queue_depths(events: Sequence[tuple[str, int, int, int]]) -> list[tuple[int, int, int]]:
    """How many kernels have been launched and have not begun, at the start of each event.

    An event is a tuple (kind, start, duration, correlation). "launch" is a call of `cudaLaunchKernel` on the CPU, and
    "kernel" is a kernel on the device. A launch and its kernel have the same correlation id. There is one stream, so kernels
    begin in the order of their launches. No two events of one kind begin at the same time. A launch that begins at the very
    moment of the event has launched its kernel, and a kernel that begins at this moment has begun.

    A trace is a piece of a program, so events may be missing in it:

    - A launch whose kernel is missing launches nothing that counts. It has a depth, like all events.
    - A kernel whose launch is missing has been launched when a later kernel has been launched, or when it has begun itself.

    Args:
        events: a list of tuples, in any order. It is not changed.

    Returns:
        a list with a tuple (start, end, depth) for each event, in the order of starts. Of equal starts the launch comes first.

    >>> queue_depths([("launch", 0, 2, 7), ("launch", 2, 2, 8), ("kernel", 3, 10, 7), ("kernel", 13, 5, 8)])
    [(0, 2, 1), (2, 4, 2), (3, 13, 1), (13, 18, 0)]

    Source: `torch/profiler/_utils.py`, `BasicEvaluation.compute_queue_depth`.
    """
    ordered = sorted(events, key=lambda event: (event[1], event[0] == "kernel"))
    starts = [start for kind, start, _, _ in ordered if kind == "kernel"]
    number = {}
    for kind, _, _, correlation in ordered:
        if kind == "kernel":
            number[correlation] = len(number)
    launched, depths = -1, []
    for kind, start, duration, correlation in ordered:
        if kind == "launch":
            launched = number.get(correlation, launched)
        waiting = launched - bisect_right(starts, start) + 1
        depths.append((start, start + duration, max(waiting, 0)))
    return depths


def critical_path(kernels: Sequence[tuple[int, int, int, list[int]]]) -> tuple[list[int], int]:
    """The kernels that decide when a program ends, and when it does.

    A kernel is a tuple (stream, launched, duration, waits). It is on a stream, the CPU has launched it at the time
    `launched`, and it takes `duration`. `waits` has the positions of earlier kernels, of any stream, that it waits for: an
    event was recorded after each, and its stream waits for the event (`Stream.wait_event`). The kernels are given in the
    order of their launches. A stream runs its kernels in this order, and streams run at the same time. A kernel starts as
    soon as it is launched, the kernel before it on its stream has ended, and all that it waits for have ended.

    The path ends with the kernel that ends last. The kernel before it on the path is the one whose end let it start: that of
    the kernels that it had to wait for which ended last. The path begins with a kernel whose launch let it start: there is
    no kernel that it had to wait for, or all of them had ended before its launch. (If one ended just at that time, it is on
    the path.) If kernels end at the same time, the one with the lowest position is on the path.

    Args:
        kernels: a list of tuples, maybe thousands. Times are ints. It is not changed.

    Returns:
        a tuple of the path, a list of positions in the order of time, and the time at which the last kernel ends. Without
        kernels it is ([], 0).

    >>> critical_path([(0, 1, 10, []), (1, 2, 4, []), (1, 3, 6, [0]), (0, 4, 3, [])])
    ([0, 2], 17)

    Source: `hta/analyzers/critical_path_analysis.py` of Holistic Trace Analysis.
    """
    ends, before, last = [], [], {}
    for i, (stream, launched, duration, waits) in enumerate(kernels):
        needed = [*waits, last[stream]] if stream in last else [*waits]
        latest = min(needed, key=lambda j: (-ends[j], j), default=None)
        waited = latest is not None and ends[latest] >= launched
        before.append(latest if waited else None)
        ends.append((ends[latest] if waited else launched) + duration)
        last[stream] = i
    if not ends:
        return [], 0
    at, path = ends.index(max(ends)), []
    while at is not None:
        path.append(at)
        at = before[at]
    return path[::-1], max(ends)
