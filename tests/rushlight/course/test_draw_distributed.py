"""The pictures of distributed training fit on their paper, and show what is sent, what is padding, and what was not measured."""

import pytest
from pictures import is_legible, is_whole
from sweep import sweep

import rushlight as rl

EVENTS = [
    [("forward", "layer 0", 0.0, 1.0), ("backward", "layer 0", 1.0, 3.0), ("send", "bucket 0", 2.0, 4.0)],
    [("forward", "layer 0", 0.5, 1.0), ("send", "bucket 0", 2.0, 4.0), ("send", "bucket 1", 3.0, 5.0)],
]
ORDERS, STARTS = [[("F", 0), ("B", 0)], [("F", 0), ("B", 0)]], [[0, 4], [1, 2]]
POINTS = {"2 ranks": [(1e3, 1e-4), (1e6, 1e-3)]}
MODEL = {"2 ranks": lambda nbytes: 1e-4 + nbytes / 1e9, "16,384 ranks": lambda nbytes: 1e-2 + nbytes / 1e9}

PICTURES = {
    "a run": lambda: rl.draw.rank_timeline(EVENTS),
    "a ring of two": lambda: rl.draw.ring_steps(2),
    "a ring of four": lambda: rl.draw.ring_steps(4),
    "shards": lambda: rl.draw.shards({"weight": (600, 64), "bias": (3,)}, 4),
    "a pipeline": lambda: rl.draw.pipeline([("one", ORDERS, STARTS), ("two", ORDERS, STARTS)], [1, 1], [2, 2]),
    "what it costs": lambda: rl.draw.cost(POINTS, {"2 ranks": MODEL["2 ranks"]}),
    "what it might cost": lambda: rl.draw.cost(POINTS, MODEL, until=1e9),
}


@pytest.mark.parametrize("name", sweep([*PICTURES], every=6))
def test_nothing_is_cut_off(name):
    figure = PICTURES[name]()
    assert is_whole(figure) and is_legible(figure)


def written(figure):
    return [text.get_text() for axes in figure.axes for text in axes.texts]


def test_a_ring_ends_with_all_parts_of_all_ranks():
    said = written(rl.draw.ring_steps(3))
    assert said.index("gathered") == len(said) - 10 and said[-9:] == ["3"] * 9


def test_a_part_that_a_rank_does_not_have_is_said_to_be_nothing():
    said = written(rl.draw.shards({"bias": (3,)}, 4))
    assert said[-4:] == ["0:1", "1:2", "2:3", "nothing"]


def test_events_of_a_rank_that_overlap_stand_on_lines_of_their_own():
    texts = {
        (text.get_text(), text.get_position()[1])
        for text in rl.draw.rank_timeline(EVENTS).axes[0].texts
        if text.get_text()
    }
    assert len({at for name, at in texts if name.startswith("bucket")}) == 3


def test_only_what_goes_beyond_the_measurements_is_called_projected():
    assert "projected" in written(rl.draw.cost(POINTS, MODEL, until=1e9))
    assert "projected" not in written(rl.draw.cost(POINTS, MODEL))
