"""Lab 11a, a trace with a device: which operator the work of the device belongs to. What is recorded has rows that torch made."""

from __future__ import annotations

import gzip
import json
from functools import cache
from importlib import import_module
from types import SimpleNamespace

from ...check import program
from ..cases import drawn, listed, rows, several, when

NAMES = {"cpu_op": ["sum", "copy_", "add"], "user_annotation": ["step", "model", "loss"]}
CALLS = {"kernel": "cudaLaunchKernel", "gpu_memcpy": "cudaMemcpyAsync", "gpu_memset": "cudaMemsetAsync"}
WORK = [*CALLS]
HOST = ("cpu_op", "user_annotation", "cuda_runtime")

# what begins, ends, is launched or waits; its name; its thread; the length of the work
STEP = listed(
    [*["cpu_op"] * 3, "user_annotation", "end", "end", "kernel", "kernel", "gpu_memcpy", "gpu_memset", "wait"],
    (0, 2), [1, 1, 1, 2], (1, 9),
)  # fmt: skip


def _steps(text):
    """Steps from a short text: `sum( add( k5 ) )`. Work has its length. What ends with 2, or has "@2", is in the second thread."""
    found = []
    for word in text.split():
        if word[0] == ")":
            found.append(["end", 0, int(word[1:] or 1), 1])
        elif word.endswith("("):
            name, thread = word[:-1].rstrip("2"), word[:-1].endswith("2") + 1
            kind = next(kind for kind in NAMES if name in NAMES[kind])
            found.append([kind, NAMES[kind].index(name), thread, 1])
        else:
            kind = {"k": "kernel", "c": "gpu_memcpy", "f": "gpu_memset", "w": "wait"}[word[0]]
            length, _, thread = word[1:].partition("@")
            found.append([kind, 0, int(thread or 1), int(length or 1)])
    return found


def _trace(steps, lost, backwards):
    """The events of a trace. Numbers of operators and correlation ids both begin at 1, so a mistake between them shows."""
    events, around, blocks = [], {1: [], 2: []}, {}
    now, number, correlation, free = 0, 0, 0, 0

    def end(thread):
        event = around[thread].pop()
        event["dur"] = now - event["ts"]

    for kind, name, thread, length in steps:
        now += 2
        inside = around[thread]
        if kind in HOST:
            number += 1
            event = {"ph": "X", "cat": kind, "name": NAMES[kind][name], "pid": 50, "tid": thread, "ts": now, "dur": 0}
            event["args"] = {"External id": number}
            events.append(event)
            inside.append(event)
        elif kind == "end":
            if inside:
                end(thread)
        else:
            correlation += 1
            operators = [each for each in inside if each["cat"] == "cpu_op"]
            arguments = (operators[-1]["args"] if operators else {}) | {"correlation": correlation}
            event = {
                "ph": "X",
                "cat": "cuda_runtime",
                "name": CALLS.get(kind, "cudaDeviceSynchronize"),
                "pid": 50,
                "tid": thread,
            }
            events.append(event | {"ts": now, "dur": 1, "args": arguments})
            place, start = {"pid": 0, "tid": 7}, max(now + 3, free)
            if kind == "wait":
                arguments = {"External id": correlation, "correlation": correlation, "stream": -1}
                sync = {"ph": "X", "cat": "cuda_sync", "name": "Context Sync", **place, "ts": now, "dur": length}
                events.append(sync | {"args": arguments})
            else:
                free = start + length
                work = {
                    "ph": "X",
                    "cat": kind,
                    "name": f"a {kind}",
                    **place,
                    "ts": start,
                    "dur": length,
                    "args": arguments,
                }
                arrow = {"id": correlation, "cat": "ac2g", "name": "ac2g"}
                events += [{"ph": "s", **arrow, "pid": 50, "tid": thread, "ts": now}, work]
                events.append({"ph": "f", **arrow, **place, "ts": start, "bp": "e"})
                for block in inside:
                    if block["cat"] == "user_annotation":
                        blocks.setdefault(block["args"]["External id"], [block["name"], start, free])[2] = free
        now += 1
    for thread in around:
        while around[thread]:
            now += 1
            end(thread)
    for number, (name, start, until) in blocks.items():
        place = {"pid": 0, "tid": 7, "ts": start, "dur": until - start}
        events.append({"ph": "X", "cat": "gpu_user_annotation", "name": name, **place, "args": {"External id": number}})
    events = [event for event in events if event["cat"] not in HOST[:2] or event["args"]["External id"] != lost]
    events.insert(0, {"ph": "M", "name": "process_name", "pid": 50, "tid": 0, "ts": 0, "args": {"name": "python"}})
    return events[::-1] if backwards else events


@program(
    "autograd.profiler_util.device_times",
    cases=drawn(steps=several(STEP, 0, 14), lost=(0, 3), backwards=bool),
    edges=lambda: rows("steps lost backwards", *((_steps(text), lost, backwards) for text, lost, backwards in (
        ("", 0, False), ("sum( )", 0, False), ("sum( k5 )", 0, False), ("k5", 0, False), ("sum( ) k5", 0, False),
        ("sum( add( k5 ) )", 0, False), ("sum( k2 add( k5 ) )", 0, True), ("sum( k2 add( k5 c3 ) f4 )", 0, False),
        ("step( add( k5 ) add( k4 ) )", 0, False), ("step( copy_( c5 ) k2 )", 0, True),
        ("add( step( k3 sum( f4 ) ) )", 0, False), ("step( step( add( k3 ) ) )", 0, False), ("sum( w4 ) add( w3 k5 )", 0, False),
        ("sum( sum( k5 ) )", 0, False), ("sum( sum( k5 ) add( ) )", 0, False), ("sum( k1 sum( k5 ) )", 0, False),
        ("sum( sum( sum( k5 ) ) )", 0, True), ("sum( sum( sum( k5 ) add( k3 ) ) )", 0, False),
        ("add( ) sum( k5 )", 1, False), ("add( sum( k5 ) )", 1, False), ("add( sum( k5 ) )", 2, False),
        ("add( sum( copy_( k5 ) k3 ) )", 2, True), ("model( sum2( k5@2 )2 k3 )", 0, False),
        ("sum( sum2( k5@2 )2 k3@2 )", 0, False), ("add( k5 ) k3 sum( k4 )", 0, True), ("sum( k1 ) add( w3 ) copy_( k2 )", 0, False),
        ("sum( add( copy_( c6 ) ) copy_( c6 f2 ) ) copy_( k1 )", 0, False),
    ))),
    hint=when("lost", "work whose operator the trace lacks counts nowhere, also not for what is around the operator"),
    show=lambda torch, steps, lost, backwards: "\n".join(map(_line, _trace(steps, lost, backwards))),
)  # fmt: skip
def times(rl, steps, lost, backwards):
    given = _trace(steps, lost, backwards)
    found = rl.autograd.profiler_util.device_times(given)
    assert given == _trace(steps, lost, backwards), "the events have changed"
    return _rounded(found)


def _rounded(found):
    """The rows by name, to the nanosecond: a sum of floats depends on its order."""
    return sorted([name, *(round(float(each), 3) + 0.0 for each in pair)] for name, pair in found.items())


def _line(event):
    """An event, short."""
    if event["ph"] != "X":
        return f"ph={event['ph']}  {event['name']}"
    numbers = {name: event["args"][name] for name in ("External id", "correlation") if name in event["args"]}
    span = f"ts={event['ts']:<5} dur={event['dur']:<5}"
    return f"ph=X  {event['cat']:<20} tid={event['tid']}  {span} {event['name']:<22} {numbers}"


@times.oracle
def _(torch, steps, lost, backwards):
    """torch's own parsing of what Kineto gives, and torch's own table."""
    profiler = import_module("torch.autograd.profiler")
    device = torch.autograd.DeviceType
    timed = [event for event in _trace(steps, lost, backwards) if event["ph"] == "X"]
    made = [_Event(event, device) for event in timed if event["cat"] != "gpu_user_annotation"]
    parser = profiler.profile.__new__(profiler.profile)
    parser.use_device = "cuda"
    result = SimpleNamespace(events=lambda: made, trace_start_ns=lambda: 0)
    found = torch.autograd.profiler_util.EventList(parser._parse_kineto_results(result), use_device="cuda")
    found._build_tree()
    kept = [row for row in found.key_averages() if row.device_type == device.CPU]
    return _rounded({row.key: [row.self_device_time_total, row.device_time_total] for row in kept})


class _Event:
    """An event as Kineto gives it to torch: an operator has a number, and what it launched is linked to this number."""

    def __init__(self, event, device):
        is_host, is_own = event["cat"] in HOST, event["cat"] in HOST[:2]
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
    return {each["name"]: each for each in json.loads(gzip.decompress(path.read_bytes()))["programs"]}


def _case(name):
    """The program's trace, with the long names of kernels cut."""
    events = recordings()[name]["trace"]["traceEvents"]
    return {
        "name": name,
        "events": [each | {"name": each["name"][:80]} if each["pid"] == 0 else each for each in events],
    }


SHOWN = ["small tensors", "nested operators", "copies", "mask", "two streams", "item", "backward", "Adam, foreach"]


@program(
    "autograd.profiler_util.device_times.recorded",
    cases=lambda st: st.sampled_from(SHOWN).map(_case),
    edges=lambda: [_case(name) for name in SHOWN],
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
