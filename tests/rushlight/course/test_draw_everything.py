"""The pictures of the finished model fit on their paper."""

import pytest
from pictures import is_legible, is_whole
from sweep import sweep

import rushlight as rl

PICTURES = {
    "a lens": lambda: rl.draw.lens(
        ["⏎", "(", "·yesterday"],
        [
            ("before", [("⏎", 1.0), ("(", 0.4), ("·yesterday", 0.2)]),
            ("after block 0", [("(", 0.0), ("w", 0.1), ("·she", 0.9)]),
        ],
    ),
    "shares": lambda: rl.draw.part_shares(
        [("all", [("mlp", 8), ("head", 1)]), ("some", [("mlp", 3), ("attention", 40)])]
    ),
    "faults": lambda: rl.draw.slower(
        [("mask", [("attention", 12.5, 0), ("attention/triu", 1.0, 8)]), ("copies", [("attention/cat", 3.0, 248)])]
    ),
}


@pytest.mark.parametrize("name", sweep([*PICTURES], every=6))
def test_nothing_is_cut_off(name):
    figure = PICTURES[name]()
    assert is_whole(figure) and is_legible(figure)


def test_the_lens_is_drawn_with_the_first_row_lowest():
    [axes] = PICTURES["a lens"]().axes
    height = {text.get_text(): text.get_position()[1] for text in axes.texts}
    assert height["after block 0"] < height["before"] < height["input"]  # y grows downwards


def test_no_token_is_on_a_middle_grey():
    cells = [("a", step / 20) for step in range(21)]
    [axes] = rl.draw.lens(["a"] * 21, [("before", cells)]).axes
    shades = [patch.get_facecolor()[0] for patch in axes.patches]
    assert len(shades) == 21 and not any(0.465 < shade < 0.555 for shade in shades)


def test_a_column_of_the_lens_is_as_wide_as_its_longest_token():
    figure = rl.draw.lens(["a", "·tomorrow", "b"], [("before", [("a", 0.5), ("b", 0.5), ("·yesterday", 0.5)])])
    [axes] = figure.axes
    figure.canvas.draw()
    boxes = {text.get_text(): text.get_window_extent() for text in axes.texts}
    narrow, *wide = sorted({round(patch.get_window_extent().width, 3) for patch in axes.patches})
    assert narrow < boxes["·tomorrow"].width < wide[0] and boxes["·yesterday"].width < wide[1]
