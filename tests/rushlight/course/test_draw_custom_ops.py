"""The pictures of operators of one's own fit on their paper, and say who did what."""

import operator

import pytest
import torch
from matplotlib.colors import to_rgb
from pictures import is_legible, is_whole
from sweep import sweep

import rushlight as rl
from rushlight.course.draw.paper import MARK


def traced(function, *names):
    """A graph with the sizes that a compiler would note."""
    graph = torch.fx.Graph()
    inputs = [graph.placeholder(name) for name in names]
    graph.output(function(graph, *inputs))
    for node in graph.nodes:
        if node.op != "output":
            node.meta["val"] = torch.empty(3, 4, device="meta")
    return graph


def squared(graph, x, w):
    y = graph.call_function(torch.ops.aten.mm.default, (x, w))
    z = graph.call_function(torch.ops.prims.sin.default, (y,))
    return graph.call_function(operator.add, (z, y)), y


LINES = [
    "aten::empty.memory_format([32, 600], dtype=torch.float32)",
    "aten::addmm.out(rush float32[600], rush float32[32, 64])",
    "aten::_log_softmax.out, on the CPU: (rush float32[32, 600])",
    "  aten::_copy_from(rush float32[32, 600], cpu float32[32, 600])",
]
ROW = {"backward": "right", "vmap": "NotImplementedError", "jvp": "wrong"}
PICTURES = {
    "graph": lambda: rl.draw.captured([("captured", traced(squared, "x", "w"))], own={"prims"}),
    "graphs": lambda: rl.draw.captured([(name, traced(squared, "x", "w")) for name in "ab"]),
    "constant": lambda: rl.draw.captured([("", traced(lambda graph, x: x, "x"))]),
    "outcomes": lambda: rl.draw.outcomes({"a long way to say it": ROW, "b": ROW}, list(ROW)),
    "quantised": lambda: rl.draw.quantised(torch.randn(3, 4), torch.ones(3, 4, dtype=torch.int8), torch.rand(3)),
    "quantised zeros": lambda: rl.draw.quantised(torch.zeros(1, 2), torch.zeros(1, 2, dtype=torch.int8), torch.ones(1)),
    "trace": lambda: rl.draw.device_trace([("forward", LINES), ("backward, which is longer", LINES[:1])]),
    "no calls": lambda: rl.draw.device_trace([("nothing", [])]),
}


@pytest.mark.parametrize("name", sweep([*PICTURES], every=6))
def test_nothing_is_cut_off(name):
    figure = PICTURES[name]()
    assert is_whole(figure) and is_legible(figure)


def written(figure):
    return [text.get_text() for text in figure.axes[0].texts]


def test_a_captured_graph_shows_every_operator_and_the_sizes_between():
    said = written(PICTURES["graph"]())
    assert {"x", "w", "mm", "prims.sin", "add", "result", "(3, 4)"} <= set(said)


def test_operators_of_the_given_namespaces_are_purple():
    figure = PICTURES["graph"]()
    purple = [patch for patch in figure.axes[0].patches if patch.get_facecolor()[:3] == to_rgb(MARK)]
    assert len(purple) == 1


def test_an_argument_that_nobody_reads_is_left_out():
    assert "unread" not in written(rl.draw.captured([("", traced(lambda graph, x, unread: x, "x", "unread"))]))


def test_a_trace_tells_kernels_from_copies_and_from_the_fallback():
    from rushlight.course.draw.custom_ops import _parsed

    assert [_parsed(line) for line in LINES] == [
        (0, "empty.memory_format", "memory"),
        (0, "addmm.out", "kernel"),
        (0, "_log_softmax.out", "fallback"),
        (1, "_copy_from", "copy"),
    ]
