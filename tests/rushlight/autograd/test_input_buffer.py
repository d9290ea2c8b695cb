"""The streams of a backward pass, against a recording of PyTorch's own engine."""

import gzip
import json
from pathlib import Path

import pytest
from sweep import in_one_test

import rushlight
from rushlight.autograd.input_buffer import StreamNode, backward_steps, run_backward
from rushlight.cuda import Device, Stream, stream
from rushlight.cuda._sanitizer import find_races
from rushlight.cuda.memory import launch

RECORDING = Path(rushlight.__file__).parents[1] / "phases/recorded/stand_in/streams.json.gz"
PROGRAMS = [
    program
    for program in json.loads(gzip.decompress(RECORDING.read_bytes()))["programs"]
    if all(node["stream"] is not None for node in program["nodes"])
]


def graph_of(program):
    nodes = [
        StreamNode(node["stream"], tuple(map(tuple, node["edges"])), node["name"].partition("Backward")[0])
        for node in program["nodes"]
    ]
    return nodes, [*map(tuple, program["root inputs"])]


def in_order(steps, caller):
    """The steps, where the streams of the leaves are waited for in ascending order: PyTorch's order is that of a hash table."""
    end = 1 + max(i for i, step in enumerate(steps) if step[0] == "run")
    records = [step for step in steps[end:] if step[0] == "record"]
    first = min((event for _, event, _ in records), default=0)
    streams = sorted(stream for *_, stream in records)
    tail = [[["record", first + i, each], ["wait", first + i, caller]] for i, each in enumerate(streams)]
    return [*steps[:end], *(step for pair in tail for step in pair)]


@in_one_test
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program["name"])
def test_the_steps_are_those_of_pytorchs_engine(program):
    nodes, roots = graph_of(program)
    found = backward_steps(nodes, roots, program["caller"])
    assert [[*step] for step in found] == in_order(program["steps"], program["caller"])


@in_one_test
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program["name"])
def test_a_backward_pass_with_these_waits_has_no_race_and_the_caller_may_read_every_gradient(program):
    nodes, roots = graph_of(program)
    with Device() as device:
        streams = [Stream(stream_id=0), *(Stream() for _ in range(3))]
        with stream(streams[program["caller"]]):
            made = run_backward(nodes, roots)
            launch("optimizer", 1.0, inputs=[gradient for gradient, node in zip(made, nodes) if not node.edges])
    assert find_races(device.trace) == []


def test_without_the_waits_it_races():
    [program] = [each for each in PROGRAMS if each["name"] == "three streams"]
    nodes, roots = graph_of(program)
    with Device() as device:
        for _ in range(3):
            Stream()
        made = run_backward(nodes, roots, waits=False)
        launch("optimizer", 1.0, inputs=made[-1:])
    assert find_races(device.trace)
