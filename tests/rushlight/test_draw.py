"""The pictures fit on their paper and say what they show."""

import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

import rushlight as rl

x = rl.arange(24).view(4, 6)
KEYS = [key.name for key in rl.dispatch.RUNTIME_KEYS]
TABLE = {"empty.memory_format": {"CPU": "kernel", "Meta": "default backend kernel", "Python": "backend fallback"}}
TRACE = ["[call] op=[aten::linear], key=[AutocastCPU]", " [redispatch] op=[aten::linear], key=[AutogradPrivateUse1]"]
PICTURES = {
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


@pytest.mark.parametrize("name", PICTURES)
def test_no_text_is_cut_off(name):
    figure = PICTURES[name]()
    figure.draw_without_rendering()  # where there is a layout, it is made now
    renderer = FigureCanvasAgg(figure).get_renderer()
    paper = figure.bbox
    for text in figure.axes[0].texts:
        box = text.get_window_extent(renderer)
        assert paper.x0 <= box.x0 and box.x1 <= paper.x1 and paper.y0 <= box.y0 and box.y1 <= paper.y1, text


def test_only_views_of_one_storage_are_compared():
    with pytest.raises(ValueError):
        rl.draw.compare([("a", rl.zeros(2)), ("b", rl.zeros(2))])


def test_more_than_three_dimensions_are_refused():
    with pytest.raises(ValueError):
        rl.draw.strides(rl.zeros(1, 1, 1, 1))
