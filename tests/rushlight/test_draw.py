"""The pictures fit on their paper and say what they show."""

import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

import rushlight as rl

x = rl.arange(24).view(4, 6)
PICTURES = {
    "scalar": lambda: rl.draw.strides(rl.tensor(3.25)),
    "vector": lambda: rl.draw.strides(rl.arange(8)[1::3], "x[1::3]"),
    "matrix": lambda: rl.draw.strides(x.t()),
    "slices": lambda: rl.draw.strides(x.view(2, 3, 4) * -1.5),
    "expanded": lambda: rl.draw.strides(rl.arange(3).view(3, 1).expand(3, 4)),
    "empty": lambda: rl.draw.strides(rl.zeros(0, 3)),
    "several": lambda: rl.draw.compare([("x", x), ("x.t()", x.t()), ("x[1:3, ::2]", x[1:3, ::2])]),
}


@pytest.mark.parametrize("name", PICTURES)
def test_no_text_is_cut_off(name):
    figure = PICTURES[name]()
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
