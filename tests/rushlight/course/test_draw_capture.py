"""The pictures of captured programs fit on their paper, and show what was captured, kept and refused."""

import copy
import operator

import pytest
import torch
from matplotlib.colors import to_rgb
from pictures import is_legible, is_whole
from sweep import sweep

import rushlight as rl
from rushlight.course.draw.paper import MARK

PURPLE, GREY = to_rgb(MARK), (0.72, 0.72, 0.72)


def joint():
    """The joint graph of the sum of x * w, in words: forward is mul and sum_1, backward expand and mul_1."""
    graph = torch.fx.Graph()
    x, w, tangent = (graph.placeholder(name) for name in ("primals_1", "primals_2", "tangents_1"))

    def call(target, args, name):
        return graph.create_node("call_function", target, args, name=name)

    total = call(torch.ops.aten.sum.default, (call(torch.ops.aten.mul.Tensor, (x, w), "mul"),), "sum_1")
    spread = call(torch.ops.aten.expand.default, (tangent, [3, 4]), "expand")
    graph.output((total, call(torch.ops.aten.mul.Tensor, (spread, x), "mul_1")))
    for node in graph.nodes:
        if node.op != "output":
            sizes = () if node.name in ("tangents_1", "sum_1") else (3, 4)
            node.meta["val"] = torch.empty(sizes, device="meta")
    return graph


def function(x):
    y = x.relu() * 2
    return y + y.sum()


ENTRIES = [
    ("graph 1", [("n == 3", False), ("x: float32 (3, 4)", None)]),
    ("graph 0", [("n == 2", True), ("x: float32 (3, 4)", True)]),
]
EDGES = [
    ("source", "x in", float("inf")),
    ("x in", "x out", 16),
    ("x out", "y in", float("inf")),
    ("y in", "y out", 8),
    ("y out", "backward", float("inf")),
]
PICTURES = {
    "a graph of torch": lambda: rl.draw.fx_graph(torch.fx.symbolic_trace(function)),
    "a graph of rushlight": lambda: rl.draw.fx_graph(rl.fx.symbolic_trace(function)),
    "marked": lambda: rl.draw.fx_graph(torch.fx.symbolic_trace(function), marks={"relu": "a rather long remark on it"}),
    "joint": lambda: rl.draw.fx_graph(joint(), saved=["primals_1"]),
    "several": lambda: rl.draw.fx_graphs([(f"number {i}", joint()) for i in range(6)], columns=3),
    "without nodes between": lambda: rl.draw.fx_graph(torch.fx.symbolic_trace(lambda x, unread: x)),
    "network": lambda: rl.draw.flow(EDGES, [("y in", "y out")], "B", sink="backward"),
    "bytecode": lambda: rl.draw.bytecode([("LOAD_FAST x", ["x"], ""), ("RETURN_VALUE", [], "return (x,)")], {"x"}),
    "bytecode with an empty stack": lambda: rl.draw.bytecode([("RESUME", [], "")]),
    "guards": lambda: rl.draw.guards(ENTRIES),
    "guards of which none hold": lambda: rl.draw.guards(ENTRIES[:1], otherwise="compile once more"),
    "breaks": lambda: rl.draw.breaks(
        [("y = x + 1", "graph 0"), ("print()", "Python")], {"Python": ["print", "is not"]}
    ),
}


@pytest.mark.parametrize("name", sweep([*PICTURES], every=6))
def test_nothing_is_cut_off(name):
    figure = PICTURES[name]()
    assert is_whole(figure) and is_legible(figure)


def written(figure):
    return [text.get_text() for text in figure.axes[0].texts]


def filled(figure, shade):
    return [patch for patch in figure.axes[0].patches if patch.get_fill() and patch.get_facecolor()[:3] == shade]


def test_a_graph_shows_what_each_node_calls_and_leaves_holes_for_arrows():
    assert {"x", "relu", ".relu", "mul(·, 2)", "output"} <= set(written(PICTURES["a graph of torch"]()))


def test_graphs_of_rushlight_and_of_torch_read_alike():
    ours, theirs = rl.fx.symbolic_trace(function), torch.fx.symbolic_trace(function)
    assert rl.draw.fx_nodes(ours) == rl.draw.fx_nodes(theirs)
    assert rl.draw.fx_nodes(theirs)[1:3] == ["relu = .relu(x)", "mul = mul(relu, 2)"]


def test_constants_are_written_as_in_a_program():
    graph = torch.fx.Graph()
    x = graph.placeholder("x")
    graph.call_function(torch.ops.aten.view.default, (x, [2, 3]), {"dtype": torch.float32})
    graph.call_function(operator.getitem, (x, (slice(None), ...)))
    _, view, getitem = rl.draw.fx_nodes(graph)
    assert view == "view_default = aten.view(x, [2, 3], dtype=float32)"
    assert getitem.startswith("getitem = getitem(x, (slice(None, None, None), Ellipsis))")


def test_what_needs_a_tangent_is_grey_unless_said_otherwise():
    assert len(filled(PICTURES["joint"](), GREY)) == 2
    assert len(filled(rl.draw.fx_graph(joint(), backward=["mul_1"]), GREY)) == 1


def test_what_is_kept_has_its_bytes_on_a_thick_arrow():
    figure = PICTURES["joint"]()
    assert "(3, 4)  48 B" in written(figure)
    assert {patch.get_linewidth() for patch in figure.axes[0].patches if patch.get_linewidth() > 2} == {2.6}


def test_backward_stands_below_forward():
    axes = PICTURES["joint"]().axes[0]
    heights = {text.get_text(): text.get_position()[1] for text in axes.texts}
    assert max(heights["mul"], heights["sum_1"]) < min(heights["expand"], heights["mul_1"])


def test_marked_nodes_are_purple():
    assert len(filled(PICTURES["marked"](), PURPLE)) == 1


def test_what_the_cut_leaves_of_a_network_is_grey():
    figure = PICTURES["network"]()
    assert len(filled(figure, GREY)) == 2 and {"16 B", "8 B"} <= set(written(figure))


def test_a_network_with_a_cycle_is_refused():
    with pytest.raises(ValueError, match="without cycles"):
        rl.draw.flow([*EDGES, ("y out", "x in", 1)], sink="backward")


def test_what_is_on_no_way_from_source_to_sink_is_left_out():
    assert "z" not in written(rl.draw.flow([*EDGES, ("x out", "z", 3)], sink="backward"))


def test_the_guard_that_failed_is_purple():
    assert len(filled(PICTURES["guards"](), PURPLE)) == 1
    assert "compile" not in written(PICTURES["guards"]())


def test_a_call_that_fits_no_entry_is_compiled():
    assert "compile once more" in written(PICTURES["guards of which none hold"]())


def test_drawing_leaves_the_graph_as_it_was():
    graph = joint()
    before = copy.copy(rl.draw.fx_nodes(graph))
    rl.draw.fx_graph(graph, saved=["primals_1"])
    assert rl.draw.fx_nodes(graph) == before
