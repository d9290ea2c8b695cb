"""`profile`: records a program, step by step if it has a schedule, and writes what it has seen as a Chrome trace.

In PyTorch: `torch/profiler/profiler.py`, and `output_json.cpp` of Kineto, the library that writes the trace. Left out: devices
besides the CPU, and Python functions as events of their own: a stack is text.
"""

from __future__ import annotations

import gzip
import json
import math
import os
import socket
import time
from collections.abc import Callable, Iterable, Sequence
from enum import Enum
from functools import partial
from pathlib import Path
from typing import Any

from rushlight.autograd.profiler import BACKWARD_FUNCTION, USER_SCOPE, Recorder
from rushlight.autograd.profiler_util import EventList
from rushlight.c10.dispatch import Operator
from rushlight.c10.exception import warn
from rushlight.utils.flop_counter import operator_flops

__all__ = ["ProfilerAction", "ProfilerActivity", "profile", "schedule", "schedule_action", "tensorboard_trace_handler"]


class ProfilerAction(Enum):
    """The action of a profiler in a step. Source: `torch/profiler/profiler.py`, `ProfilerAction`."""

    NONE = 0
    WARMUP = 1
    RECORD = 2
    RECORD_AND_SAVE = 3


class ProfilerActivity(Enum):
    """The kinds of events that a profiler can record.

    Source: `torch/csrc/profiler/orchestration/observer.h`, `ActivityType`.
    """

    CPU = 0
    CUDA = 2


def schedule_action(
    step: int, wait: int, warmup: int, active: int, repeat: int = 0, skip_first: int = 0, skip_first_wait: int = 0
) -> ProfilerAction:
    """Return the action of a profiler with this schedule in a step. Steps are counted from 0.

    The first `skip_first` steps are left out. Then there are cycles: `wait` steps in which it does nothing (NONE), `warmup`
    steps in which it records and forgets (WARMUP), and `active` steps that are kept (RECORD). At the end of the last one of
    these, the trace is saved (RECORD_AND_SAVE). After `repeat` cycles it does nothing any more. With `repeat` 0 it never
    stops. If `skip_first_wait` is not 0, the first cycle has no `wait` steps.

    Args:
        all are ints >= 0, and `active` is at least 1.

    >>> [schedule_action(step, wait=1, warmup=1, active=2, repeat=1).name for step in range(5)]
    ['NONE', 'WARMUP', 'RECORD', 'RECORD_AND_SAVE', 'NONE']

    Source: `torch/profiler/profiler.py`, `schedule`.
    """
    if step < skip_first:
        return ProfilerAction.NONE
    step += (wait if skip_first_wait else 0) - skip_first
    cycle, position = divmod(step, wait + warmup + active)
    if repeat and cycle >= repeat or position < wait:
        return ProfilerAction.NONE
    if position < wait + warmup:
        return ProfilerAction.WARMUP
    return ProfilerAction.RECORD if position < wait + warmup + active - 1 else ProfilerAction.RECORD_AND_SAVE


def schedule(
    *, wait: int, warmup: int, active: int, repeat: int = 0, skip_first: int = 0, skip_first_wait: int = 0
) -> Callable[[int], ProfilerAction]:
    """A function from the number of a step to a `ProfilerAction`, for `profile(schedule=...)`.
    Source: `torch/profiler/profiler.py`, `schedule`."""
    if min(wait, warmup, repeat, skip_first) < 0 or active <= 0:
        numbers = f"{wait=}, {warmup=}, {active=}, {repeat=}, {skip_first=}"
        problem = "active must be positive, the others not negative"
        raise AssertionError(f"Invalid profiler schedule arguments: {numbers}. {problem}")
    if warmup == 0:
        warn("Profiler won't be using warmup, this can skew profiler results")
    numbers = {"wait": wait, "warmup": warmup, "active": active, "repeat": repeat, "skip_first": skip_first}
    return partial(schedule_action, **numbers, skip_first_wait=skip_first_wait)


class profile:  # noqa: N801
    """Record what runs in a `with` block, or between `start` and `stop`.

    With a `schedule`, the program says `step()` at the end of each of its steps, and `on_trace_ready` is called with the
    profiler at the end of each cycle.

    Source: `torch/profiler/profiler.py`, `profile`.
    """

    def __init__(
        self,
        *,
        activities: Iterable[ProfilerActivity] | None = None,
        schedule: Callable[[int], ProfilerAction] | None = None,
        on_trace_ready: Callable[[profile], Any] | None = None,
        record_shapes: bool = False,
        profile_memory: bool = False,
        with_stack: bool = False,
        with_flops: bool = False,
    ) -> None:
        self.activities = set(activities or [ProfilerActivity.CPU])
        self.schedule, self.on_trace_ready = schedule or (lambda step: ProfilerAction.RECORD), on_trace_ready
        self.has_schedule = schedule is not None
        self.options = {"record_shapes": record_shapes or with_flops, "flops": compute_flops if with_flops else None}
        self.options |= {"profile_memory": profile_memory, "with_stack": with_stack}
        self.step_num, self.recorder, self._is_on, self._tree = 0, None, False, None

    def __enter__(self) -> profile:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def start(self) -> None:
        self._do(self.schedule(0))

    def stop(self) -> None:
        was_on, action = self._is_on, self.schedule(self.step_num)
        self._off()
        if was_on and action in (ProfilerAction.RECORD, ProfilerAction.RECORD_AND_SAVE):
            self._ready()

    def step(self) -> None:
        """A step of the program is over, and the next one begins."""
        before = self.schedule(self.step_num)
        if self._is_on and self.has_schedule and self._step_event is not None:
            self.recorder.end(self._step_event)
        self.step_num += 1
        action = self.schedule(self.step_num)
        if before is ProfilerAction.RECORD_AND_SAVE:
            self._off()
            self._ready()
        self._do(action, before)

    def _do(self, action: ProfilerAction, before: ProfilerAction = ProfilerAction.NONE) -> None:
        """Begin a step. What the warm-up recorded is forgotten when the recording begins."""
        if action is ProfilerAction.NONE:
            self._off()
        elif not self._is_on or before is ProfilerAction.WARMUP and action is not ProfilerAction.WARMUP:
            self._off()
            self.recorder, self._tree = Recorder(**self.options), None
            self.recorder.__enter__()
            self._is_on = True
        self._step_event = None
        if self._is_on and self.has_schedule:
            self._step_event = self.recorder.begin("ProfilerStep*", scope=USER_SCOPE)
            self._step_event.trace_name = f"ProfilerStep#{self.step_num}"

    def _off(self) -> None:
        if self._is_on:
            self.recorder.__exit__(None, None, None)
            self._is_on = False

    def _ready(self) -> None:
        if self.on_trace_ready is not None:
            self.on_trace_ready(self)

    def events(self) -> EventList:
        """The events, with their tree."""
        if self._tree is None:
            self._tree = EventList(self.recorder.events)
            self._tree._build_tree()
        return self._tree

    def key_averages(self, group_by_input_shape: bool = False, group_by_stack_n: int = 0) -> EventList:
        return self.events().key_averages(group_by_input_shape, group_by_stack_n)

    def export_chrome_trace(self, path: str | os.PathLike) -> None:
        """Write the trace, compressed if the name ends in .gz."""
        data = json.dumps(chrome_trace(self.recorder)).encode()
        Path(path).write_bytes(gzip.compress(data) if str(path).endswith(".gz") else data)


def chrome_trace(recorder: Recorder) -> dict[str, Any]:
    """A trace as `chrome://tracing` and Perfetto read it: a dict for JSON. An event has the phase "X", with a start and a
    duration. "s" and "f" are the ends of an arrow: from an operator to its node in the backward pass. "i" is an instant.
    Source: Kineto, `libkineto/src/output_json.cpp`."""
    process = os.getpid()
    name_of_process = {"ph": "M", "name": "process_name", "ts": 0, "pid": process, "tid": 0, "args": {"name": "python"}}
    made: list[dict[str, Any]] = [name_of_process]
    starts: dict[int, dict[str, Any]] = {}
    for index, (event, given) in enumerate(zip(recorder.events, recorder.arguments)):
        place = {"pid": process, "tid": event.thread, "ts": event.start}
        category = "user_annotation" if event.scope == USER_SCOPE else "cpu_op"
        arguments = {"External id": index + 1, "Record function id": 0, **given, "Ev Idx": index}
        if event.stack:
            arguments["Call stack"] = ";".join(event.stack)
        about = {"ph": "X", "cat": category, "name": event.trace_name or event.name, **place}
        made.append(about | {"dur": event.end - event.start, "args": arguments})
        arrow = {"cat": "fwdbwd", "name": "fwdbwd", "id": event.sequence_nr + 1, **place}
        if event.sequence_nr >= 0 and event.scope != BACKWARD_FUNCTION:
            starts[event.sequence_nr] = {"ph": "s", **arrow}  # of several, the innermost one makes the node
        elif event.sequence_nr in starts and not event.name.startswith("autograd::engine"):
            made += [starts.pop(event.sequence_nr), {"ph": "f", **arrow, "bp": "e"}]
    for moment, nbytes, address, allocated in recorder.memory:
        numbers = {"Total Reserved": 0, "Total Allocated": allocated, "Bytes": nbytes, "Addr": address}
        place = {"pid": process, "tid": process, "ts": moment, "s": "t"}
        about = {"ph": "i", "cat": "cpu_instant_event", "name": "[memory]", **place}
        made.append(about | {"args": numbers | {"Device Type": 0, "Device Id": -1}})
    return {"schemaVersion": 1, "deviceProperties": [], "displayTimeUnit": "ms", "traceEvents": made}


def compute_flops(operator: Operator, stack: Sequence) -> int:
    """The FLOPs of a call as the profiler counts them: of products of matrices, sums and products of elements.
    Source: `torch/csrc/profiler/util.cpp`, `computeFlops`."""
    name, shapes = operator.schema.name, [list(value.shape) for value in stack if hasattr(value, "shape")]
    if name in ("add", "mul"):
        return math.prod(shapes[0])
    return operator_flops(name, shapes, []) if name in ("mm", "addmm", "bmm", "baddbmm") else 0


def tensorboard_trace_handler(
    dir_name: str, worker_name: str | None = None, use_gzip: bool = False
) -> Callable[[profile], None]:
    """For `profile(on_trace_ready=...)`: write each trace into a folder, under the name that TensorBoard expects.
    Source: `torch/profiler/profiler.py`, `tensorboard_trace_handler`."""
    name = worker_name or f"{socket.gethostname()}_{os.getpid()}"

    def write(profiler: profile) -> None:
        folder = Path(dir_name)
        folder.mkdir(parents=True, exist_ok=True)
        profiler.export_chrome_trace(folder / f"{name}.{time.time_ns()}.pt.trace.json{'.gz' if use_gzip else ''}")

    return write
