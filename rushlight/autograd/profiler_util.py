"""A profile as data: events, the tree that their times make, and averages by name and shapes.

A profiler only notes when each event began and ended, in which thread. All else is computed afterwards: an event that ran within
another one is its child, and the time that belongs to an event alone is its own less that of its children.

In PyTorch: `torch/autograd/profiler_util.py`. Left out: asynchronous and remote events, and those of devices, which only
`device_times` reads.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

__all__ = ["EventList", "FunctionEvent", "FunctionEventAvg", "average_events", "device_times", "find_parents"]


@dataclass(eq=False)
class FunctionEvent:
    """An event of one thread, from `start` to `end` in microseconds. `scope` is 0 for an operator, 1 for a node of a backward
    pass, and 7 for a block of `record_function`. `input_shapes` has a list for each argument, `[]` for one that is no tensor.
    Source: `torch/autograd/profiler_util.py`, `FunctionEvent`."""

    name: str
    thread: int
    start: float
    end: float
    input_shapes: list = field(default_factory=list)
    sequence_nr: int = -1
    scope: int = 0
    stack: list[str] = field(default_factory=list)
    flops: int = 0
    cpu_memory_usage: int = 0
    trace_name: str | None = None  # in a trace, if it has another name there
    cpu_parent: FunctionEvent | None = None
    cpu_children: list[FunctionEvent] = field(default_factory=list)
    count = 1

    @property
    def cpu_time_total(self) -> float:
        return self.end - self.start

    @property
    def self_cpu_time_total(self) -> float:
        return self.cpu_time_total - sum(child.cpu_time_total for child in self.cpu_children)

    @property
    def self_cpu_memory_usage(self) -> int:
        return self.cpu_memory_usage - sum(child.cpu_memory_usage for child in self.cpu_children)

    @property
    def key(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return f"<FunctionEvent {self.name} thread={self.thread} start={self.start:g} end={self.end:g}>"


@dataclass(eq=False)
class FunctionEventAvg:
    """A row of `key_averages`: times in microseconds, memory in bytes.
    Source: `torch/autograd/profiler_util.py`, `FunctionEventAvg`."""

    key: str
    input_shapes: Any = ""
    stack: list[str] = field(default_factory=list)
    count: int = 0
    cpu_time_total: float = 0
    self_cpu_time_total: float = 0
    cpu_memory_usage: int = 0
    self_cpu_memory_usage: int = 0
    flops: int = 0

    @property
    def cpu_time(self) -> float:
        """Average of one call."""
        return self.cpu_time_total / self.count


def find_parents(events: Sequence[tuple[int, int, int]]) -> list[int | None]:
    """For each event the position of its parent, the innermost event around it, or None.

    An event is a tuple (thread, start, end), with start <= end, in microseconds. A profiler rounds times, and a block may
    begin in one call and end in another. So two rules decide what is around what:

    - Sort the events of a thread by start. Of equal starts, the longer event comes first. Of equal times, the event with the
      lower position comes first.
    - The parent of an event is the last one before it in this order that has not ended when the event begins, and does not end
      before the event ends. (One that ends at the very moment at which the event begins has ended.)

    Args:
        events: a list of tuples, in any order. There may be tens of thousands, nested a few thousand deep.

    Returns:
        a list, with a position in `events` or None for each event.

    >>> find_parents([(1, 2, 9), (1, 0, 10), (1, 9, 10), (2, 3, 4)])
    [1, None, 1, None]

    Source: `torch/autograd/profiler_util.py`, `EventList._populate_cpu_children`.
    """
    parents, stacks = [None] * len(events), {}
    order = sorted(range(len(events)), key=lambda i: (events[i][1], -events[i][2]))
    for i in order:
        thread, start, end = events[i]
        stack = stacks.setdefault(thread, [])
        while stack and (start >= events[stack[-1]][2] or end > events[stack[-1]][2]):
            stack.pop()
        if stack:
            parents[i] = stack[-1]
        stack.append(i)
    return parents


def average_events(
    events: Sequence[tuple[str, list, int, int | None]], group_by_input_shapes: bool = False
) -> dict[tuple, list[int]]:
    """The rows of a profile's table: for each key the number of its events, their self time and their total time.

    An event is a tuple (name, shapes, time, parent): `time` is its length in microseconds, and `parent` the position of its
    parent in `events`, or None. The self time of an event is its time less the times of its children. (It may be less than 0,
    because times are rounded.) The total time of a
    row is the sum of the times of its events. An event within another one of the same row is counted in both, so this total
    may be longer than the program.

    First, some events are removed. A composite operator may call its own overload with other arguments: `aten::sum` calls
    `aten::sum`. An event is removed if its parent has the same name and no other child. Its children become the parent's
    children. Such a parent may be removed too, for the same reason. The shapes of the outermost event stay, and so does its time.

    Args:
        events: a list of tuples. Parents may come before or after their children. It is not changed.
        group_by_input_shapes: if False, the key of an event is (name,). If True, it is (name, str(shapes)).

    Returns:
        a dict from the key, a tuple, to the list [count, self time, total time]. Its order does not matter.

    >>> events = [("mm", [[2, 3], [3, 4]], 8, 1), ("matmul", [[2, 3], [3, 4]], 10, None), ("mm", [[2, 2], [2, 2]], 5, None)]
    >>> sorted(average_events(events).items())
    [(('matmul',), [1, 2, 10]), (('mm',), [2, 13, 13])]

    Source: `torch/autograd/profiler_util.py`, `EventList._remove_dup_nodes` and `EventList.key_averages`.
    """
    children = defaultdict(list)
    for i, event in enumerate(events):
        children[event[3]].append(i)
    outermost, rows = children[None], {}
    for i in outermost:  # it grows
        name, shapes, time, _ = events[i]
        inside = children[i]
        while len(inside) == 1 and events[inside[0]][0] == name:
            inside = children[inside[0]]
        row = rows.setdefault((name, str(shapes)) if group_by_input_shapes else (name,), [0, 0, 0])
        row[0] += 1
        row[1] += time - sum(events[child][2] for child in inside)
        row[2] += time
        outermost += inside
    return rows


def device_times(events: Sequence[dict[str, Any]]) -> dict[str, list[float]]:
    """The columns *Self CUDA* and *CUDA total* of a profile's table, computed from the events of its trace.

    An event is a dict, as in the list `traceEvents` of a trace. Only events whose "ph" is "X" count. They have the keys "cat",
    "name", "tid" (the thread), "ts" (the start), "dur" (the length, in microseconds) and "args" (a dict). Other events may lack
    keys. The category "cat" says what an event is:

    - "cpu_op" is an operator. `args["External id"]` is its own number.
    - "user_annotation" is a block of `record_function`. It has a number too, but no work names it. No block has the name of an
      operator.
    - "cuda_runtime" and "cuda_driver" are calls of CUDA on the CPU.
    - "kernel", "gpu_memcpy" and "gpu_memset" are work of the device. `args["External id"]` is the number of the innermost operator
      that was running when the work was launched. The key is missing if none was. The trace may lack the operator with this
      number, because the operator began before the trace. Such work counts nowhere.
    - Events of other categories count nowhere. They, and calls, may have an "External id" too.

    Operators, blocks and calls have rows. `find_parents` makes their tree. The device time of an operator is the length of the work
    with its number, plus the device times of its children. That of a block is the sum over its children, and that of a call is 0.
    Rows are made as `average_events` makes them, with device times in place of the times on the CPU: the same events are
    removed first.

    Args:
        events: a list, in any order. It is not changed.

    Returns:
        a dict from each name to a list [self time, total time], in microseconds. Its order does not matter.

    >>> host = {"ph": "X", "tid": 1, "cat": "cpu_op"}
    >>> events = [{**host, "name": "relu", "ts": 0, "dur": 9, "args": {"External id": 1}}]
    >>> events += [{**host, "name": "clamp_min", "ts": 2, "dur": 6, "args": {"External id": 2}}]
    >>> work = {"ph": "X", "tid": 7, "cat": "kernel", "name": "void vectorized_elementwise_kernel<4, ...>", "ts": 8, "dur": 30}
    >>> device_times([*events, {**work, "args": {"External id": 2, "correlation": 5}}])
    {'relu': [0, 30], 'clamp_min': [30, 30]}

    Source: `torch/autograd/profiler.py`, `profile._parse_kineto_results`; `FunctionEvent.device_time_total`.
    """
    timed = [event for event in events if event["ph"] == "X"]
    host = [event for event in timed if event["cat"] in ("cpu_op", "user_annotation", "cuda_runtime", "cuda_driver")]
    host.sort(key=lambda event: (event["ts"], -event["dur"]))  # a parent is before its children
    work = defaultdict(int)
    for event in timed:
        if event["cat"] in ("kernel", "gpu_memcpy", "gpu_memset"):
            work[event["args"].get("External id")] += event["dur"]
    times = [work[event["args"]["External id"]] if event["cat"] == "cpu_op" else 0 for event in host]
    parents = find_parents([(event["tid"], event["ts"], event["ts"] + event["dur"]) for event in host])
    for i in reversed(range(len(host))):
        if parents[i] is not None:
            times[parents[i]] += times[i]
    rows = average_events([(event["name"], [], *pair) for event, *pair in zip(host, times, parents)])
    return {name: [self_time, total] for (name,), (_, self_time, total) in rows.items()}


class EventList(list):
    """The events of a profile, in order. Source: `torch/autograd/profiler_util.py`, `EventList`."""

    def _build_tree(self) -> None:
        """Set `cpu_parent` and `cpu_children`, and remove an event that is alone within another one of its name."""
        for event, parent in zip(self, find_parents([(event.thread, event.start, event.end) for event in self])):
            if parent is not None:
                event.cpu_parent = self[parent]
                self[parent].cpu_children.append(event)
        removed = set()
        for event in self:
            while len(event.cpu_children) == 1 and event.cpu_children[0].name == event.name:
                [same] = event.cpu_children
                event.cpu_children, same.cpu_children = same.cpu_children, []
                for child in event.cpu_children:
                    child.cpu_parent = event
                removed.add(same)
        self[:] = [event for event in self if event not in removed]

    def key_averages(self, group_by_input_shapes: bool = False, group_by_stack_n: int = 0) -> EventList:
        """The events grouped by name, and by input shapes or lines of the stack if asked, with their times added up.
        Source: `torch/autograd/profiler_util.py`, `EventList.key_averages`."""
        position = {event: i for i, event in enumerate(self)}
        stacks = [event.stack[:group_by_stack_n] for event in self]
        plain = [
            (event.name, [event.input_shapes, *stack], event.cpu_time_total, position.get(event.cpu_parent))
            for event, stack in zip(self, stacks)
        ]
        times = average_events(plain, group_by_input_shapes or group_by_stack_n > 0)
        rows: dict[tuple, FunctionEventAvg] = {}
        for event, (name, shapes, _, _), stack in zip(self, plain, stacks):
            key = (name, str(shapes)) if group_by_input_shapes or group_by_stack_n else (name,)
            row = rows.get(key)
            if row is None:
                count, self_time, total = times[key]
                row = rows[key] = FunctionEventAvg(name, "", stack, count, total, self_time)
                row.input_shapes = event.input_shapes if group_by_input_shapes else ""
            row.cpu_memory_usage += event.cpu_memory_usage
            row.self_cpu_memory_usage += event.self_cpu_memory_usage
            row.flops += event.flops
        return EventList(rows.values())

    @property
    def self_cpu_time_total(self) -> float:
        return sum(event.self_cpu_time_total for event in self)

    def table(self, sort_by: str | None = None, row_limit: int = 100, max_name_column_width: int = 55) -> str:
        """The rows as text, the largest value of `sort_by` first. Source: `torch/autograd/profiler_util.py`, `_build_table`."""
        rows = sorted(self, key=lambda row: -getattr(row, sort_by)) if sort_by else [*self]
        whole = self.self_cpu_time_total
        columns: list[tuple[str, Callable[[Any], str]]] = [
            ("Name", lambda row: _shortened(row.key, max_name_column_width)),
            ("Self CPU %", lambda row: f"{row.self_cpu_time_total / (whole or 1):.2%}"),
            ("Self CPU", lambda row: _format_time(row.self_cpu_time_total)),
            ("CPU total %", lambda row: f"{row.cpu_time_total / (whole or 1):.2%}"),
            ("CPU total", lambda row: _format_time(row.cpu_time_total)),
            ("CPU time avg", lambda row: _format_time(row.cpu_time_total / row.count)),
        ]
        if any(row.cpu_memory_usage or row.self_cpu_memory_usage for row in self):
            columns.append(("CPU Mem", lambda row: _format_memory(row.cpu_memory_usage)))
            columns.append(("Self CPU Mem", lambda row: _format_memory(row.self_cpu_memory_usage)))
        columns.append(("# of Calls", lambda row: str(row.count)))
        if any(row.input_shapes for row in self):
            columns.append(("Input Shapes", lambda row: str(row.input_shapes)))
        if any(row.flops for row in self):
            columns.append(("Total MFLOPs", lambda row: f"{row.flops / 1e6:.3f}" if row.flops else "--"))
        if any(row.stack for row in self):
            columns.append(("Source Location", lambda row: _tail(row.stack[0]) if row.stack else ""))
        cells = [[name for name, _ in columns]]
        for row in rows[:row_limit]:
            cells.append([show(row) for _, show in columns])
            cells += [[""] * (len(columns) - 1) + [_tail(line)] for line in row.stack[1:]]
        widths = [max(map(len, column)) for column in zip(*cells)]
        line = "  ".join("-" * width for width in widths)
        lines = ["  ".join(cell.rjust(width) for cell, width in zip(row, widths)) for row in cells]
        return "\n".join([line, lines[0], line, *lines[1:], line, f"Self CPU time total: {_format_time(whole)}"])


def _shortened(name: str, width: int) -> str:
    return name if len(name) <= width else name[: width - 3] + "..."


def _tail(line: str, width: int = 75) -> str:
    return line if len(line) <= width else "..." + line[3 - width :]


def _format_time(microseconds: float) -> str:
    units = {"s": 1e6, "ms": 1e3, "us": 1}
    unit = next((unit for unit, scale in units.items() if microseconds >= scale), "us")
    return f"{microseconds / units[unit]:.3f}{unit}"


def _format_memory(nbytes: int) -> str:
    for unit, scale in ("GB", 1 << 30), ("MB", 1 << 20), ("KB", 1 << 10):
        if abs(nbytes) >= scale:
            return f"{nbytes / scale:.2f} {unit}"
    return f"{nbytes} B"
