"""Lab 11c, further: the streams of a backward pass, as PyTorch's own engine queued them, in a recording."""

from __future__ import annotations

import gzip
import json
from functools import cache
from importlib import import_module
from itertools import permutations

from ...engine.check import program
from ..cases import explained
from ..listing import comments

LABELS = (0, 1, 300, 1000)  # of the four streams of a program, in any order
SHOWN = [
    "one stream",
    "a side stream",
    "backward on the side stream",
    "there and back",
    "three streams",
    "two uses on one other stream",
    "the node's own stream first",
    "the node's own stream last",
    "a tensor by itself",
    "two inputs of one node",
    "two roots",
    "a root inside the graph",
    "a leaf on two streams",
    "drawn 0",
    "drawn 2",
    "drawn 8",
    "drawn 9",
    "drawn 10",
    "drawn 37",
    "drawn 46",
]


@cache
def recordings():
    """The recorded programs without CPU tensors, by name. Only the judge reads the file."""
    path = import_module("autograder.course").READINGS / "recorded" / "stand_in" / "streams.json.gz"
    programs = json.loads(gzip.decompress(path.read_bytes()))["programs"]
    return {
        program["name"]: program for program in programs if all(node["stream"] is not None for node in program["nodes"])
    }


def _case(name, order=(0, 1, 2, 3), inputs=None):
    """A recorded program whose streams are numbered in another order. `inputs`: other numbers for a node's inputs 0, 1, ..., that
    ascend, so that the steps stay."""
    given = recordings()[name]
    return {
        "name": name,
        "order": [*order],
        "nodes": [
            [order[node["stream"]], [[to, inputs[i] if inputs else i] for to, i in node["edges"]]]
            for node in given["nodes"]
        ],
        "roots": given["root inputs"],
        "caller": order[given["caller"]],
    }


def _shown(torch, name, order, nodes, roots, caller):
    first = f"{name}; backward is called on stream {caller}, gradients go to {roots}"
    return comments([first, *(f"node {i}: stream {stream}, edges {edges}" for i, (stream, edges) in enumerate(nodes))])


@program(
    "autograd.input_buffer.backward_steps",
    cases=lambda st: st.builds(
        _case, st.sampled_from([*recordings()]), st.sampled_from([*permutations(LABELS)])
    ),
    edges=lambda: [
        *map(_case, SHOWN), *(_case(name, LABELS[::-1]) for name in SHOWN[-7:]), 
        *(_case("two roots", order) for order in ((0, 300, 1, 1000), (1, 300, 1000, 0), LABELS)),
        _case("two inputs of one node", inputs=(2, 10)),
    ],
    draws=30,
    show=_shown,
    hint=explained(
        nodes="which events must a node's stream wait for before it runs, in which order?",
        end="at the end the caller's stream waits for the streams of the leaves: nodes without edges",
    ),
)  # fmt: skip
def queued(rl, name, order, nodes, roots, caller):
    names = import_module(f"{rl.__name__}.autograd.input_buffer")
    given = [names.StreamNode(stream, tuple(map(tuple, edges))) for stream, edges in nodes]
    steps = names.backward_steps(given, [tuple(edge) for edge in roots], caller)
    assert isinstance(steps, list | tuple), "the result is a list"
    return _parts(steps)


@queued.oracle
def recorded(torch, name, order, nodes, roots, caller):
    """The steps of PyTorch's engine, from a recording."""
    assert torch is not None
    return _parts(_recorded_steps(name, order, caller))


def _recorded_steps(name, order, caller):
    """The recorded steps with other streams. The order of the waits at the end is that of a hash table, so they are sorted."""
    steps = [list(step) for step in recordings()[name]["steps"]]
    for step in steps:
        if step[0] != "run":
            step[-1] = order[step[-1]]
    end = _end(steps)
    streams = sorted(stream for kind, _, stream in steps[end:] if kind == "record")
    first = sum(step[0] == "record" for step in steps[:end])
    tail = [[["record", first + i, stream], ["wait", first + i, caller]] for i, stream in enumerate(streams)]
    return [*steps[:end], *(step for pair in tail for step in pair)]


def _end(steps):
    return 1 + max((i for i, step in enumerate(steps) if step[0] == "run"), default=-1)


def _parts(steps):
    """The steps up to the last node, and those after it."""
    return {"nodes": steps[: _end(steps)], "end": steps[_end(steps) :]}
