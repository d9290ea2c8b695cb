"""The pictures of quantised and pruned numbers fit on their paper, and the names of points cover nothing."""

from itertools import combinations

import numpy as np
import pytest
from pictures import is_legible, is_whole
from sweep import sweep

import rushlight as rl

WEIGHT = np.linspace(-1, 1, 16 * 32).reshape(16, 32)
PLACES = (
    (19, 1.0),
    (24, 1.0),
    (26, 0.99),
    (29, 1.0),
    (38, 1.0),
    (41, 1.0),
    (26, 0.91),
    (19, 0.77),
    (14, 0.91),
    (14, 0.95),
)
CLOSE = [(f"scheme of {i}", *place) for i, place in enumerate(PLACES)]
FAMILIES = [("float", [("float32", 150, 1.0), ("float16", 75, 1.0), ("bfloat16", 75, 1.0)]), ("rounded", CLOSE)]
PICTURES = {
    "histogram": lambda: rl.draw.histogram([1, 5000, 20], -1, 2, [("all", -1, 2), ("best", 0, 1)]),
    "sizes": lambda: rl.draw.sizes_and_scores([("float32", 153_600, 1.0), ("int8", 38_400, 0.5)]),
    "steps": lambda: rl.draw.steps([0, 1, 2], [("x", [0, 1, 2]), ("y", [0, 0, 2])], [1]),
    "masks": lambda: rl.draw.masks(WEIGHT, [(f"mask {i}", np.abs(WEIGHT) > i / 4) for i in range(3)]),
    "trade off": lambda: rl.draw.trade_off([*FAMILIES, ("pruned", [("half", 80, 0.4)])], "kilobytes", "right"),
    "one point": lambda: rl.draw.trade_off([("float", [("float32", 150, 0.0)])], "kilobytes", "right"),
}


@pytest.mark.parametrize("name", sweep([*PICTURES], every=6))
def test_nothing_is_cut_off(name):
    figure = PICTURES[name]()
    assert is_whole(figure) and is_legible(figure)


def test_points_that_look_like_one_share_a_text_and_others_do_not():
    near = [("3 bits", 14.408, 1.0), ("2 bits", 14.4, 1.0), ("worse", 14.4, 0.98), ("larger", 14.8, 1.0)]
    [axes] = rl.draw.trade_off([("rounded", near)], "kilobytes", "right").axes
    assert {each.get_text() for each in axes.texts if each.get_text()} == {"3 bits\n2 bits", "worse", "larger"}


@pytest.mark.sweep
def test_names_of_points_cover_no_point_and_no_other_name():
    figure = rl.draw.trade_off(FAMILIES, "kilobytes", "right")
    figure.draw_without_rendering()
    axes = figure.axes[0]
    texts = [each for each in axes.texts if each.get_text()]
    assert sorted(name for each in texts for name in each.get_text().split("\n")) == sorted(
        name for _, points in FAMILIES for name, *_ in points
    )
    boxes = [each.get_window_extent() for each in texts]
    assert not any(a.overlaps(b) for a, b in combinations(boxes, 2))
    at = axes.transData.transform([place for _, points in FAMILIES for _, *place in points])
    assert not any(box.contains(*place) for box in boxes for place in at)
