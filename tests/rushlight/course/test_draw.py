"""The pictures fit on their paper and say what they show."""

import itertools

import pytest
import torch
from matplotlib.backends.backend_agg import FigureCanvasAgg
from sweep import sweep

import rushlight as rl

x = rl.arange(24).view(4, 6)
KEYS = [key.name for key in rl.dispatch.RUNTIME_KEYS]
TABLE = {"empty.memory_format": {"CPU": "kernel", "Meta": "default backend kernel", "Python": "backend fallback"}}
TRACE = ["[call] op=[aten::linear], key=[AutocastCPU]", " [redispatch] op=[aten::linear], key=[AutogradPrivateUse1]"]


def head(xp):
    """The loss of a small head, and the names of what has a part in it."""
    weight, bias = xp.ones(5, 3).requires_grad_(), xp.zeros(5).requires_grad_()
    logits = xp.nn.functional.linear(xp.ones(2, 3), weight, bias)
    loss = xp.nn.functional.cross_entropy(logits, xp.zeros(2, dtype=xp.int64))
    return loss, {"weight": weight, "bias": bias, "logits": logits, "loss": loss}


def tangle(xp):
    """Long edges, several edges between two nodes, a node with several inputs, a write in place."""
    x, y = xp.ones(4, 3).requires_grad_(), xp.ones(3).requires_grad_()
    a = x * y
    first, second = a.split(2)
    a = a + 1
    a[0] = y.exp() * y
    total = (xp.exp(first) + first * second).sum(0) * y + x.mean(0)
    return total.sum() + (a.t() @ a).sum(), {"x": x, "y": y, "a": a}


def backward_pass():
    x = rl.ones(3).requires_grad_()
    y = x * 3
    total, order = (y.exp() + y * y).sum(), []
    waiting, seen = [total.grad_fn], {total.grad_fn}
    while waiting:
        node = waiting.pop()
        node.register_prehook(lambda grads, node=node: order.append(node))
        new = {other for other, _ in node.next_functions if other is not None} - seen
        seen |= new
        waiting += new
    total.backward()
    return rl.draw.engine(total, order, {"x": x})


GRAPHS = {
    "graph": lambda: rl.draw.graph(*head(rl)),
    "graph of torch": lambda: rl.draw.graph(*tangle(torch)),
    "graphs": lambda: rl.draw.graphs([(xp.__name__, *tangle(xp)) for xp in (torch, rl)]),
    "graph without sizes": lambda: rl.draw.graph(*tangle(rl), saved=False, sizes=False),
    "engine": backward_pass,
}
PICTURES = GRAPHS | {
    "scalar": lambda: rl.draw.strides(rl.tensor(3.25)),
    "vector": lambda: rl.draw.strides(rl.arange(8)[1::3], "x[1::3]"),
    "matrix": lambda: rl.draw.strides(x.t()),
    "slices": lambda: rl.draw.strides(x.view(2, 3, 4) * -1.5),
    "expanded": lambda: rl.draw.strides(rl.arange(3).view(3, 1).expand(3, 4)),
    "empty": lambda: rl.draw.strides(rl.zeros(0, 3)),
    "several": lambda: rl.draw.compare([("x", x), ("x.t()", x.t()), ("x[1:3, ::2]", x[1:3, ::2])]),
    "walks": lambda: rl.draw.walks([("as given", (4, 6), (1, 4)), ("reordered", (6, 4), (4, 1))], line=4),
    "loop nests": lambda: rl.draw.loop_nests(
        [("as given", (8, 5, 600), ((3000, 600, 1), (0, 0, 1))), ("joined", (40, 600), ((600, 1), (0, 1)))],
        ["product", "bias"],
        "steps in elements",
    ),
    "chunks": lambda: rl.draw.chunks((3, 4, 2), (4, 1, 12), [(12, 1), (2, 12)], [(12, 2), (1, 24), (24,)]),
    "blocks": lambda: rl.draw.blocks(40, 56, 48, 16, (1, 1, 2)),
    "key sets": lambda: rl.draw.key_sets(
        [("a tensor", x._key_set), ("included", rl.dispatch.local.included), ("none", 0)]
    ),
    "ladder": lambda: rl.draw.ladder(
        [(rl.ops.aten.linear.default, x._key_set), (rl.ops.aten.empty.memory_format, 2**11 - 1)]
    ),
    "table": lambda: rl.draw.tables([("rushlight", TABLE)], KEYS),
    "tables": lambda: rl.draw.tables([("torch", TABLE), ("rushlight", TABLE | {"t": {}})], KEYS),
    "trace": lambda: rl.draw.trace(TRACE),
    "ratios": lambda: rl.draw.ratios([("a slow one", [310, 320, 390]), ("a fast one", [0.2, 0.3, 0.4])], "torch's"),
}


@pytest.mark.parametrize("name", sweep([*PICTURES], every=6))
def test_no_text_is_cut_off(name):
    figure = PICTURES[name]()
    figure.draw_without_rendering()  # where there is a layout, it is made now
    renderer = FigureCanvasAgg(figure).get_renderer()
    paper = figure.bbox
    for text in figure.axes[0].texts:
        box = text.get_window_extent(renderer)
        assert paper.x0 <= box.x0 and box.x1 <= paper.x1 and paper.y0 <= box.y0 and box.y1 <= paper.y1, text


@pytest.mark.parametrize("name", GRAPHS)
def test_no_text_of_a_graph_meets_another(name):
    figure = GRAPHS[name]()
    renderer = FigureCanvasAgg(figure).get_renderer()
    boxes = [text.get_window_extent(renderer) for text in figure.axes[0].texts if text.get_text()]
    assert not any(a.overlaps(b) for a, b in itertools.combinations(boxes, 2))


@pytest.mark.parametrize("program", [head, tangle])
def test_a_graph_of_torch_reads_like_one_of_rushlight(program):
    assert rl.draw.nodes(*program(rl)) == rl.draw.nodes(*program(torch))


@pytest.mark.parametrize("xp", [rl, torch], ids=["rushlight", "torch"])
def test_a_graph_that_has_run_keeps_nothing(xp):
    x = xp.ones(3).requires_grad_()
    total = (x * x).sum()
    assert "keeps other (3,), self (3,)" in rl.draw.nodes(total)[1]
    total.backward()
    assert "keeps (freed)" in rl.draw.nodes(total)[1]


def test_a_tensor_without_a_history_is_refused():
    with pytest.raises(ValueError):
        rl.draw.graph(rl.ones(3))


def test_only_views_of_one_storage_are_compared():
    with pytest.raises(ValueError):
        rl.draw.compare([("a", rl.zeros(2)), ("b", rl.zeros(2))])


def test_more_than_three_dimensions_are_refused():
    with pytest.raises(ValueError):
        rl.draw.strides(rl.zeros(1, 1, 1, 1))


def test_a_table_is_aligned_in_text_and_markdown_in_a_notebook():
    table = rl.draw.Table(["name", "size"], [("a|b", 3), ("c", 10)])
    assert repr(table) == "name  size\na|b   3\nc     10"
    assert table._repr_markdown_() == "| name | size |\n|---|---|\n| a\\|b | 3 |\n| c | 10 |"
    names = rl.draw.Table(["`x._y`"], [("aten::_fused_adamw_",), ("is_leaf",)])
    assert names._repr_markdown_() == "| `x._y` |\n|---|\n| aten::\\_fused_adamw_ |\n| is_leaf |"
