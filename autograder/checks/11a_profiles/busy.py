"""Lab 11a, a step that takes too long: how long the device works, and what to change first. Some traces are drawn, and an H100
recorded the others."""

from __future__ import annotations

import gzip
import json
from functools import cache
from importlib import import_module

from ...engine.check import program
from ..cases import drawing, explained, listed, several
from ..listing import comments

WORK = ("kernel", "gpu_memcpy", "gpu_memset")
HOST = ("cpu_op", "user_annotation", "cuda_runtime", "cuda_driver")
OTHERS = ("gpu_user_annotation", "cuda_sync", "overhead", "python_function")
NAMES = ["aten::sort", "aten::fill_", "backward", "make the batch"]

EVENT = listed([*WORK, "kernel", "kernel", *HOST, "cpu_op", *OTHERS], NAMES, [7, 8], (0, 40), (1, 14))
KINDS = dict(zip("kcfobrduwxp", [*WORK, *HOST, *OTHERS], strict=True))


@cache
def recordings():
    """The events with a length of each recorded trace, by its name. Only the judge reads the file.

    A time is a multiple of 1/1024 µs, so that sums are exact in any order."""
    path = import_module("autograder.course").READINGS / "recorded" / "h100" / "traces.json.gz"
    traces = {}
    for recorded in json.loads(gzip.decompress(path.read_bytes()))["programs"]:
        events = [event for event in recorded["trace"]["traceEvents"] if event["ph"] == "X"]
        traces[recorded["name"]] = sorted(map(_row, events), key=lambda row: (row[3], -row[4]))
    return traces


def _row(event):
    start, end = (round(1024 * time) / 1024 for time in (event["ts"], event["ts"] + event["dur"]))
    return [event["cat"], event["name"][:50], event["tid"], start, end - start]


def _recorded(name, first=0, count=None):
    """Some of the events of a recorded trace, or all of them."""
    rows = recordings()[name][first:][:count]
    return {"rows": rows, "of": f"{name}, {len(rows)} events from the number {first}, in the order of their starts"}


def _case(text):
    """A case from a short text: `k0-4 o3-9:sort`. Work in capitals is on another stream, an operator on another thread."""
    rows = []
    for word in text.split():
        span, _, name = word[1:].partition(":")
        start, end = map(int, span.split("-"))
        rows.append([KINDS[word[0].lower()], name, 7 + word[0].isupper(), start, end - start])
    return {"rows": rows, "of": ""}


@drawing
def _cases(draw, st):
    if draw(st.integers(0, 2)):
        return {"rows": draw(several(EVENT, 0, 9)(st)), "of": ""}
    name = draw(st.sampled_from(["small_step", "step", "starved"]))
    count = draw(st.sampled_from([40, 150, 400]))
    return _recorded(name, draw(st.integers(0, len(recordings()[name]) - count)), count)


def _trace(rows):
    """The events of a trace file. Some have no length."""
    events = [{"ph": "M", "name": "process_name", "pid": 1000, "tid": 0, "ts": 0, "args": {"name": "python"}}]
    for i, (category, name, thread, start, length) in enumerate(rows):
        place = {"pid": 0 if category in WORK or category in OTHERS[:2] else 1000, "tid": thread, "ts": start}
        events.append({"ph": "X", "cat": category, "name": name, **place, "dur": length, "args": {}})
        if category in WORK:
            events.append({"ph": "f", "cat": "ac2g", "name": "ac2g", "id": i, **place, "bp": "e"})
    return [*events, {"ph": "i", "s": "g", "name": "Record Window End", "pid": "", "tid": "", "ts": 10**6}]


def _shown(torch, rows, of):
    if of:
        return f"# phases/recorded/h100/traces.json.gz: {of}"
    lines = [f"ts={row[3]:<3} dur={row[4]:<3} tid={row[2]}  {row[0]:<20} {row[1]}" for row in rows]
    return comments([*lines, "and events without dur, one of them without cat"])


REAL = ("small_step", "step", "starved")


# How long the device works -------------------------------------------------------------------------------------------


@program(
    "profiler._utils.busy_and_gaps",
    cases=_cases,
    edges=lambda: [
        *map(_case, (
            "", "o0-9", "k5-9", "k0-4 k3-8 o5-14 c20-22", "k0-4 K0-4", "k0-9 K2-5 k12-14", "k0-9 K2-5 k7-12", "k0-5 k5-9",
            "K8-9 k0-3", "c0-2 f5-6 k9-10", "c3-5", "f3-5", "k0-2 u0-20 k10-12", "k0-2 w2-8 k9-12",
            "k0-2 x0-30 r3-4 b0-30 d5-6 k7-9", "k3-5 k0-9 K20-21 k10-11", "k0-2 K0-7 k9-10", "k4-6 k10-12 k20-21",
            "k0-10 K1-2 k3-4 K12-13", "o0-30 k10-12 k14-15 b20-40", "k0-7 K0-2 k9-10",
        )),
        *map(_recorded, REAL), _recorded("starved", 1000, 60),
    ],
    show=_shown,
    hint=explained(
        busy="a moment in which two pieces of work run counts once: work that began earlier may end later. All three categories"
        " are work, and ranges and calls are none",
        gaps="a gap begins at the latest end of all work before it, and ends where the next work begins: it has a length, and"
        " there is none before the first work",
    ),
)  # fmt: skip
def busy(rl, rows, of):
    given = _trace(rows)
    busy, gaps = rl.profiler._utils.busy_and_gaps(given)
    assert given == _trace(rows), "the events have changed"
    return {"busy": float(busy), "gaps": [[float(start), float(end)] for start, end in gaps]}


@busy.oracle
def _(torch, rows, of):
    """torch's own busy time. A gap ends where work begins, if all work that began earlier has ended before."""
    work = sorted((event for event in _trace(rows) if event.get("cat") in WORK), key=lambda event: event["ts"])
    spans = [(event["ts"], event["ts"] + event["dur"]) for event in work]
    utils = import_module(f"{torch.__name__}._functorch.benchmark_utils")
    return {"busy": float(utils.get_duration(work)), "gaps": _gaps(spans)}


def _gaps(spans):
    gaps = []
    for start in sorted({span[0] for span in spans}):
        end = max((span[1] for span in spans if span[0] < start), default=start)
        gaps += [[float(end), float(start)]] if end < start else []
    return gaps


# What to change first ------------------------------------------------------------------------------------------------


@program(
    "profiler._utils.what_to_change",
    cases=_cases,
    edges=lambda: [
        *map(_case, (
            "", "o0-9:sort", "k5-9", "k5-9 o0-20:sort", "k0-2 k10-12", "k0-2 o3-9:sort k10-12", "k0-2 o2-6:sort k10-12",
            "k0-2 o2-5:sort k10-12", "k0-2 o2-5:sort o5-8:sort k10-12", "k0-2 b1-11:backward o2-9:sort r3-4:launch k10-12",
            "k0-2 o0-7:sort k10-12", "k0-2 o5-15:sort k10-12", "k0-2 o7-20:sort k10-12", "k0-2 o3-8:sort o3-8:fill_ k10-12",
            "k0-2 o4-9:sort o3-8:fill_ k10-12", "k0-2 O3-9:sort b0-12:step k10-12", "k0-2 o0-9:sort o4-9:fill_ k10-12",
            "k0-2 r3-9:wait k10-12", "k0-2 d3-9:load k10-12", "k0-2 b3-9:batch k10-12", "k0-2 u3-9:x w2-10:y x2-10:z k10-12",
            "k0-2 k7-9 k14-16 o2-7:sort o9-14:fill_", "k0-3 k8-10 o3-8:sort", "k0-1 k7-8 k14-15 o8-14:sort o1-7:fill_",
            "k0-1 k4-5 k8-9 k12-13 o5-8:sort o1-4:fill_", "k0-4 K0-4 k10-11", "k0-1 c4-5 f8-9 k12-13", "k0-8 K2-4 k11-12 o5-9:sort",
            "k9-11 o3-9:sort k0-2", "o0-40:sort k20-22 k24-26 o41-90:fill_", "k0-4 k6-8 k9-13 o6-7:sort",
            "k0-1 k2-3 k10-11 o1-2:sort o3-9:fill_", "k0-2 o2-12:sort o4-9:fill_ b0-14:step k12-14", "o0-3:fill_ k2-4 k6-8",
            "k0-2 o2-3:sort k3-9", "k0-2 o3-8:sort o4-11:fill_ k10-12", "k0-2 o3-8:sort o4-9:fill_ k10-12",
            "k0-2 o1-6:sort o3-8:fill_ k10-12", "k0-2 o3-8:sort o1-6:fill_ k10-12", "k0-1 k3-4 k6-7 k9-10", "k0-1 k4-5 k8-9",
            "k0-2 o3-8:sort O2-10:sort o3-9:fill_ k10-12", "k0-2 p3-9:f k10-12", "k0-2 o0-6:sort o3-8:fill_ k10-12",
            "k0-2 o2-10:sort B3-8:batch k10-12",
        )),
        *map(_recorded, REAL), _recorded("starved", 1000, 60),
    ],
    show=_shown,
    hint=explained(
        change="the change is for the largest part: the largest gap is one part, and all other gaps together are another. Of"
        " equal parts it is the first one in the list",
        microseconds="this is the largest of the three parts: the busy time, the largest gap, or all other gaps together",
        name="only the time within the gap counts, and of equal gaps the first one: of the events on the CPU that run during half"
        " of it or more, it is the one with the smallest `dur`, and of equally short ones the first in `events`",
    ),
)  # fmt: skip
def change(rl, rows, of):
    given = _trace(rows)
    change, part, name = rl.profiler._utils.what_to_change(given)
    assert given == _trace(rows), "the events have changed"
    return {"change": change, "microseconds": float(part), "name": name}


@change.oracle
def _(torch, rows, of):
    """All pieces of time between two moments at which work begins or ends: in a piece, the device works or it does not."""
    work = [(row[3], row[3] + row[4]) for row in rows if row[0] in WORK]
    moments = sorted({moment for span in work for moment in span})
    pieces = {False: [], True: []}
    for start, end in zip(moments, moments[1:]):  # noqa: B905
        pieces[any(span[0] <= start and end <= span[1] for span in work)].append([end - start, start])
    idle = pieces[False]
    largest, start = next((piece for piece in idle if piece[0] == max(idle)[0]), [0, 0])
    parts = [sum(piece[0] for piece in pieces[True]), largest, sum(piece[0] for piece in idle) - largest]
    name, shortest = None, float("inf")
    for category, own, _, begin, length in rows:
        inside = min(begin + length - start, largest) - max(begin - start, 0)
        if idle and category in HOST and inside >= largest / 2 and length < shortest:
            name, shortest = own, length
    change = ["faster kernels", "load ahead", "CUDA graph"][parts.index(max(parts))]
    return {"change": change, "microseconds": float(max(parts)), "name": name}
