"""Questions to a trace of a device: how many kernels wait in its queue, which kernels decide the time of the program, how long
the device works, and what to change first.

In PyTorch: `torch/profiler/_utils.py`; the critical path is that of the tool Holistic Trace Analysis.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import Any

__all__ = ["busy_and_gaps", "critical_path", "queue_depths", "what_to_change"]


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


def busy_and_gaps(events: Sequence[dict[str, Any]]) -> tuple[float, list[tuple[float, float]]]:
    """Return how long a device works, and the gaps between its work.

    The events are those of a trace file, its `traceEvents`. An event with `ph` equal to "X" begins at `ts` and takes `dur`,
    in microseconds. It is work of the device if its category `cat` is "kernel", "gpu_memcpy" or "gpu_memset". Each takes
    more than 0. Other events with "X" are calls on the CPU, or ranges such as "gpu_user_annotation", and are no work.
    Events with another `ph` have none of these categories, and may lack `cat`, `ts` and `dur`.

    Streams run at the same time, so work may overlap. The device is busy while one piece of work or more runs. A gap is a
    time between two pieces of work in which none runs. Nothing before the first piece of work or after the last is a gap.

    Args:
        events: a list of dicts, in any order. It is not changed.

    Returns:
        a tuple of the busy time in microseconds, and a list of the gaps (start, end) in the order of time. Without work of
        the device it is (0, []).

    >>> times = [("kernel", 0, 4), ("kernel", 3, 5), ("cpu_op", 5, 9), ("gpu_memcpy", 20, 2)]
    >>> busy_and_gaps([{"ph": "X", "cat": cat, "ts": start, "dur": length} for cat, start, length in times])
    (10, [(8, 20)])

    Source: `torch/_functorch/benchmark_utils.py`, `get_duration`.
    """
    work = sorted(
        (event["ts"], event["ts"] + event["dur"])
        for event in events
        if event["ph"] == "X" and event["cat"] in ("kernel", "gpu_memcpy", "gpu_memset")
    )
    busy, gaps, latest = 0, [], work[0][0] if work else 0
    for start, end in work:
        if start > latest:
            gaps.append((latest, start))
        busy += max(end - max(start, latest), 0)
        latest = max(end, latest)
    return busy, gaps


def what_to_change(events: Sequence[dict[str, Any]]) -> tuple[str, float, str | None]:
    """Return what to change first, the time that the change is for, and what the CPU does in the largest gap.

    The time from the start of the device's first work to the end of its last has three parts. For each part there is a
    change that makes it shorter:

    - "faster kernels": the time in which the device is busy.
    - "load ahead": the largest gap. The CPU does one long thing there, and could have done it earlier. Of equal gaps it is
      the first.
    - "CUDA graph": all other gaps together. The device waits for launches there, and a replay needs only one.

    The answer is the change for the largest part, because it can save the most. Of equal parts it is the first one in this
    list.

    What the CPU does is the name of an event, as specific as possible. Of all events on the CPU that run during half of the
    largest gap or more of it, it is the one with the smallest `dur`, because the events around it are longer. Of equally
    short ones it is the first in `events`. Events on the CPU have "X" as `ph` and the category "cpu_op", "user_annotation",
    "cuda_runtime" or "cuda_driver", on any thread.

    Args:
        events: the events of a trace, as `busy_and_gaps` gets them, in any order. It is not changed.

    Returns:
        a tuple (change, microseconds, name). The microseconds are those of the largest part. The name is None if no event
        runs during half of the gap, or if there is no gap. Without work of the device it is ("faster kernels", 0, None).

    >>> times = [("kernel", "mm", 0, 9), ("cpu_op", "aten::sort", 8, 40), ("kernel", "mm", 50, 9), ("kernel", "add", 60, 2)]
    >>> what_to_change([{"ph": "X", "cat": cat, "name": name, "ts": start, "dur": n} for cat, name, start, n in times])
    ('load ahead', 41, 'aten::sort')

    Source: `torch/profiler/_utils.py`, `BasicEvaluation.get_optimizable_events`, which ranks events in another way.
    """
    busy, gaps = busy_and_gaps(events)
    start, end = max(gaps, key=lambda gap: gap[1] - gap[0], default=(0, 0))
    idle = sum(gap[1] - gap[0] for gap in gaps)
    parts = {"faster kernels": busy, "load ahead": end - start, "CUDA graph": idle - (end - start)}
    during = [
        event
        for event in events
        if event["ph"] == "X" and event["cat"] in ("cpu_op", "user_annotation", "cuda_runtime", "cuda_driver")
        if 2 * (min(event["ts"] + event["dur"], end) - max(event["ts"], start)) >= end - start > 0
    ]
    change = max(parts, key=lambda change: parts[change])
    return change, parts[change], min(during, key=lambda event: event["dur"])["name"] if during else None
