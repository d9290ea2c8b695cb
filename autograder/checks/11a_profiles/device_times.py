"""Lab 11a, a trace with a device: which operator the work of the device belongs to. What is recorded has rows that torch made."""

from __future__ import annotations

import gzip
import json
from functools import cache
from importlib import import_module
from types import SimpleNamespace

from ...engine.check import program
from ..cases import drawn, listed, several
from ..listing import comments

NAMES = {"cpu_op": ["sum", "copy_", "add"], "user_annotation": ["step", "model", "loss"]}
CALLS = {  # the call that launches it; a kernel of Triton goes through the driver
    "kernel": ("cuda_runtime", "cudaLaunchKernel"),
    "triton": ("cuda_driver", "cuLaunchKernel"),
    "gpu_memcpy": ("cuda_runtime", "cudaMemcpyAsync"),
    "gpu_memset": ("cuda_runtime", "cudaMemsetAsync"),
    "wait": ("cuda_runtime", "cudaDeviceSynchronize"),
}
HOST = ("cpu_op", "user_annotation", "cuda_runtime", "cuda_driver")

# what begins, ends, is launched or waits; its name; its thread; the length of the work
STEP = listed(
    [*["cpu_op"] * 3, "user_annotation", "end", "end", "kernel", "kernel", *CALLS],
    (0, 2), [1, 1, 1, 2], (1, 9),
)  # fmt: skip


def _case(text, lost=0, backwards=False, at_once=False):
    """A case from a short text: `sum( add( k5 ) )`. Work has its length. What ends with 2, or has "@2", is in thread 2."""
    steps = []
    for word in text.split():
        if word[0] == ")":
            steps.append(["end", 0, int(word[1:] or 1), 1])
        elif word.endswith("("):
            name, thread = word[:-1].rstrip("2"), word[:-1].endswith("2") + 1
            kind = next(kind for kind in NAMES if name in NAMES[kind])
            steps.append([kind, NAMES[kind].index(name), thread, 1])
        else:
            kind = {"k": "kernel", "t": "triton", "c": "gpu_memcpy", "f": "gpu_memset", "w": "wait"}[word[0]]
            length, _, thread = word[1:].partition("@")
            steps.append([kind, 0, int(thread or 1), int(length)])
    return {"steps": steps, "lost": lost, "backwards": backwards, "at_once": at_once}


def _trace(steps, lost, backwards, at_once):
    """The events of a trace. Numbers of operators and correlation ids both begin at 1, so a mistake between them shows.

    If `at_once`, an operator begins at the same moment as the one around it. Number `lost` is missing in the trace."""
    events, around, blocks = [], {1: [], 2: []}, {}
    now, number, correlation, free = 0, 0, 0, 0
    gpu = {"pid": 0, "tid": 7}

    def add(kind, name, place, start, length, **arguments):
        event = {"ph": "X", "cat": kind, "name": name, **place, "ts": start, "dur": length, "args": arguments}
        events.append(event)
        return event

    for kind, name, thread, length in steps:
        inside, cpu = around[thread], {"pid": 50, "tid": thread}
        now += 0 if at_once and kind in NAMES else 2
        if kind in NAMES:
            number += 1
            inside.append(add(kind, NAMES[kind][name], cpu, now, 0, **{"External id": number}))
        elif kind == "end":
            if inside:
                event = inside.pop()
                event["dur"] = now - event["ts"]
        else:
            correlation += 1
            operators = [event["args"] for event in inside if event["cat"] == "cpu_op"]
            numbers = (operators[-1] if operators else {}) | {"correlation": correlation}
            add(*CALLS[kind], cpu, now, 1, **numbers)
            if kind == "wait":
                add(
                    "cuda_sync",
                    "Context Sync",
                    gpu,
                    now,
                    length,
                    **{"External id": correlation, "correlation": correlation},
                )
            else:
                start = max(now + 3, free)
                free = start + length
                arrow = {"id": correlation, "cat": "ac2g", "name": "ac2g"}
                events.append({"ph": "s", **arrow, **cpu, "ts": now})
                add("kernel" if kind == "triton" else kind, f"a {kind}", gpu, start, length, **numbers)
                events.append({"ph": "f", **arrow, **gpu, "ts": start, "bp": "e"})
                for block in inside:
                    blocks.setdefault(block["args"]["External id"], [block, start, free])[2] = free
        now += 0 if at_once and kind in NAMES else 1
    for event in [*reversed(around[1]), *reversed(around[2])]:  # what is open at the end
        now += 1
        event["dur"] = now - event["ts"]
    for number, (block, start, until) in blocks.items():
        if block["cat"] == "user_annotation":
            add("gpu_user_annotation", block["name"], gpu, start, until - start, **{"External id": number})
    events = [event for event in events if event["cat"] not in NAMES or event["args"]["External id"] != lost]
    events.insert(0, {"ph": "M", "name": "process_name", "pid": 50, "tid": 0, "ts": 0, "args": {"name": "python"}})
    events.append({"ph": "i", "s": "g", "name": "Record Window End", "pid": "", "tid": "", "ts": now + 9})
    return events[::-1] if backwards else events


@program(
    "autograd.profiler_util.device_times",
    cases=drawn(steps=several(STEP, 0, 14), lost=(0, 3), backwards=bool, at_once=bool),
    edges=lambda: [
        *map(_case, (
            "", "sum( )", "sum( k5 )", "k5", "sum( ) k5", "sum( add( k5 ) )", "sum( k2 add( k5 c3 ) f4 )",
            "step( add( k5 ) add( k4 ) )", "step( copy_( c5 ) k2 )", "add( step( k3 sum( f4 ) ) )", "step( step( add( k3 ) ) )",
            "sum( t5 add( t3 ) )", "sum( w4 ) add( w3 k5 )", "sum( sum( k5 ) )", "sum( sum( k5 ) add( ) )", "sum( k1 sum( k5 ) )",
            "sum( sum( sum( k5 ) add( k3 ) ) )", "model( sum2( k5@2 )2 k3 )", "sum( sum2( k5@2 )2 k3@2 )",
            "sum( k1 ) add( w3 ) copy_( k2 )", "sum( add( copy_( c6 ) ) copy_( c6 f2 ) ) copy_( k1 )", "sum( t5 sum( k3 ) )",
        )),
        _case("sum( k2 add( k5 ) )", backwards=True), _case("sum( sum( sum( k5 ) ) )", backwards=True),
        _case("add( ) sum( k5 )", lost=1), _case("add( sum( k5 ) )", lost=1), _case("add( sum( k5 ) )", lost=2),
        _case("add( sum( copy_( k5 ) k3 ) )", lost=2, backwards=True), _case("add( k5 ) k3 sum( k4 )", backwards=True),
        _case("step( sum( add( k5 ) ) )", at_once=True), _case("sum( add( copy_( k5 ) k3 ) )", backwards=True, at_once=True),
    ],
    show=lambda torch, **case: comments(map(_line, _trace(**case))),
)  # fmt: skip
def times(rl, **case):
    given = _trace(**case)
    times = rl.autograd.profiler_util.device_times(given)
    assert given == _trace(**case), "the events have changed"
    return _rounded(times)


def _rounded(found):
    """The rows by name, to the nanosecond: a sum of floats depends on its order."""
    return sorted([name, *(round(float(time), 3) + 0.0 for time in pair)] for name, pair in found.items())


def _line(event):
    """An event, short."""
    if event["ph"] != "X":
        return f"ph={event['ph']}  {event['name']}"
    numbers = {name: event["args"][name] for name in ("External id", "correlation") if name in event["args"]}
    span = f"ts={event['ts']:<5} dur={event['dur']:<5}"
    return f"ph=X  {event['cat']:<20} tid={event['tid']}  {span} {event['name']:<22} {numbers}"


@times.oracle
def _(torch, **case):
    """torch's own parsing of what Kineto gives, and torch's own table."""
    profiler = import_module("torch.autograd.profiler")
    device = torch.autograd.DeviceType
    timed = [event for event in _trace(**case) if event["ph"] == "X"]
    made = [_Event(event, device) for event in timed if event["cat"] != "gpu_user_annotation"]
    parser = profiler.profile.__new__(profiler.profile)
    parser.use_device = "cuda"
    result = SimpleNamespace(events=lambda: made, trace_start_ns=lambda: 0)
    events = torch.autograd.profiler_util.EventList(parser._parse_kineto_results(result), use_device="cuda")
    events._build_tree()
    kept = [row for row in events.key_averages() if row.device_type == device.CPU]
    return _rounded({row.key: [row.self_device_time_total, row.device_time_total] for row in kept})


class _Event:
    """An event as Kineto gives it to torch: an operator has a number, and what it launched is linked to this number."""

    def __init__(self, event, device):
        is_host, is_own = event["cat"] in HOST, event["cat"] in NAMES
        number = event["args"].get("External id", 0)
        self.given = {
            "name": event["name"], "device_type": device.CPU if is_host else device.CUDA, "is_async": False,
            "start_ns": 1000 * event["ts"], "end_ns": 1000 * (event["ts"] + event["dur"]),
            "start_thread_id": event["tid"], "end_thread_id": event["tid"], "stack": [], "is_hidden_event": False,
            "correlation_id": number if is_own else 1000 + event["args"]["correlation"],  # torch has one range for both
            "linked_correlation_id": 0 if is_own or event["cat"] == "cuda_sync" else number,
            "is_user_annotation": event["cat"] == "user_annotation", "shapes": [], "overload_name": "", "sequence_nr": -1,
        }  # fmt: skip

    def __getattr__(self, name):
        return lambda: self.given.get(name, 0)


# Recorded traces ----------------------------------------------------------------------------------------------------


@cache
def recordings():
    """The recorded traces by name. Only the judge reads the file."""
    path = import_module("autograder.course").READINGS / "recorded" / "stand_in" / "traces.json.gz"
    return {program["name"]: program for program in json.loads(gzip.decompress(path.read_bytes()))["programs"]}


def _recorded(name):
    """The program's trace, with the long names of kernels cut."""
    events = recordings()[name]["trace"]["traceEvents"]
    return {
        "name": name,
        "events": [event | {"name": event["name"][:80]} if event["pid"] == 0 else event for event in events],
    }


SHOWN = ["small tensors", "nested operators", "copies", "mask", "two streams", "item", "backward", "Adam, foreach"]


@program(
    "autograd.profiler_util.device_times.recorded",
    cases=lambda st: st.sampled_from(SHOWN).map(_recorded),
    edges=lambda: [_recorded(name) for name in SHOWN],
    draws=1,
    hint="this trace is recorded, and what torch computed is from its `key_averages`",
    show=lambda torch, name, events: f"# the recorded trace of this program\n{recordings()[name]['source']}",
)
def recorded(rl, name, events):
    return _rounded(rl.autograd.profiler_util.device_times(events))


@recorded.oracle
def _(torch, name, events):
    """The rows that torch computed when the trace was recorded: no GPU is needed to grade."""
    assert torch is not None
    host = {event["name"] for event in events if event["ph"] == "X" and event["cat"] in HOST}
    kept = [row for row in recordings()[name]["rows"] if row["device"] == "CPU" and row["key"] in host]
    return _rounded({row["key"]: [row["self device time"], row["device time"]] for row in kept})
