"""Drawn traces of a device, and their pictures."""

import json

import pytest

from rushlight.autograd.profiler_util import FunctionEvent
from rushlight.course import draw
from rushlight.course.traces import device_trace, gaps_by_cause, launches_and_kernels
from rushlight.profiler._utils import critical_path, queue_depths


def loop(duration):
    return device_trace([("kernel", 9, 0, duration, [])] * 5)


def test_a_trace_says_that_it_is_drawn_and_joins_launches_and_kernels():
    trace = json.loads(json.dumps(loop(3)))
    assert "drawn" in trace["provenance"]
    kinds = [(kind, number) for kind, _, _, number in launches_and_kernels(trace)]
    assert sorted(number for kind, number in kinds if kind == "launch") == sorted(n for k, n in kinds if k == "kernel")
    arrows = [event["id"] for event in trace["traceEvents"] if event["cat"] == "ac2g" and event["ph"] == "s"]
    assert arrows == [event["id"] for event in trace["traceEvents"] if event["cat"] == "ac2g" and event["ph"] == "f"]


@pytest.mark.parametrize(("duration", "idle"), [(3, True), (13, True), (14, False), (30, False)])
def test_a_device_waits_if_its_kernels_are_shorter_than_their_launches(duration, idle):
    trace = loop(duration)
    busy, late, other = gaps_by_cause(trace)
    assert (late > 0) == idle and other == 0 and busy == 5 * duration
    assert (max(depth for *_, depth in queue_depths(launches_and_kernels(trace))) > 1) == (duration > 23)


def test_a_kernel_waits_for_the_kernels_of_another_stream():
    trace = device_trace([("a", 0, 0, 50, []), ("b", 0, 1, 5, [0]), ("synchronize", 1, 0, 0, [])])
    starts = {event["name"]: event["ts"] for event in trace["traceEvents"] if event.get("cat") == "kernel"}
    assert starts == {"a": 9, "b": 59}
    [wait] = [event for event in trace["traceEvents"] if event["name"] == "cudaDeviceSynchronize"]
    assert wait["ts"] + wait["dur"] == 64
    assert gaps_by_cause(trace) == (55, 0, 0)


def test_pictures_show_the_program():
    path = critical_path([(0, 0, 30, [])] * 5)[0]
    figure = draw.device_timeline([("a loop", loop(30), path)])
    assert figure.axes[0].get_title(loc="left") == "a loop"
    event = FunctionEvent("aten::mm", 1, 0, 10)
    assert "mm" in [text.get_text() for text in draw.flame([event]).axes[0].texts]
    trace = loop(30)
    trace["traceEvents"].append(
        {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "tid": 1, "ts": 1, "dur": 60, "args": {}}
    )
    linked = draw.linked_timeline(trace, (0, 400)).axes[0]
    assert [label.get_text() for label in linked.get_yticklabels()] == ["operators", "calls", "stream 7"]
    assert len(linked.lines) == 5 and "mm" in [text.get_text() for text in linked.texts]  # a line for each launch
    roof = draw.roofline([("head", 2.0, 1e9)], 4e9, 1e9)
    assert [text.get_text() for text in roof.axes[0].texts] == ["head"]
