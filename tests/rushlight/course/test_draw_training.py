"""The pictures of training fit on their paper, and show modules of both frameworks alike."""

import numpy as np
import pytest
import torch
from pictures import is_legible, is_whole
from sweep import sweep

import rushlight as rl


def tied(xp):
    """A model with a shared weight, buffers of both kinds, and a parameter that is None."""
    model = xp.nn.Module()
    model.embed = xp.nn.Embedding(5, 2)
    model.body = xp.nn.Sequential(xp.nn.Linear(2, 2, bias=False), xp.nn.BatchNorm1d(2), xp.nn.ReLU())
    model.head = xp.nn.Linear(2, 5)
    model.head.weight = model.embed.weight
    model.register_buffer("frequency_of_each_of_the_tokens", xp.zeros(5), persistent=False)
    model.register_module("missing", None)
    return model


STEPS = range(10)
NAMED = ("a", [1.0, 2.0, 3.0, 4.0])
PICTURES = {
    "module": lambda: rl.draw.module_tree(tied(rl)),
    "empty module": lambda: rl.draw.module_tree(rl.nn.ReLU(), "relu"),
    "lockstep": lambda: rl.draw.lockstep([("torch", [3.0, 2.0, 1.0]), ("rushlight", [3.0, 2.000001, 1.0])]),
    "equal": lambda: rl.draw.lockstep([("torch", [3.0, 2.0]), ("rushlight", [3.0, 2.0])]),
    "panels": lambda: rl.draw.panels([(str(i), [("line", STEPS, STEPS)] * (i + 1)) for i in range(4)], "x", "y"),
    "logarithmic": lambda: rl.draw.panels([("one", [("", [1, 2], [1e-9, 1.0])])], "x", "y", log=True),
    "paths": lambda: rl.draw.paths([("sgd", lambda x, y: x * x + y * y, [(1, 1), (0, 0)])] * 4, (-2, 2, -2, 2)),
    "spreads": lambda: rl.draw.spreads([("one", [np.zeros(9), np.linspace(-3, 3, 50)])] * 2, -1, 1, "activation"),
    "timeline": lambda: rl.draw.timeline([("worker 0", [("0", 0.0, 1.0), ("2", 1.0, 3.0)]), ("nobody", [])]),
    "stacks": lambda: rl.draw.stacks([NAMED, NAMED], ["w", "x", "y", "z"], "kB"),
}


@pytest.mark.parametrize("name", sweep([*PICTURES], every=6))
def test_nothing_is_cut_off(name):
    figure = PICTURES[name]()
    assert is_whole(figure) and is_legible(figure)


def written(figure):
    return [text.get_text() for text in figure.axes[0].texts]


def test_a_module_is_drawn_alike_on_both_frameworks():
    assert written(rl.draw.module_tree(tied(rl))) == written(rl.draw.module_tree(tied(torch)))


def test_a_module_names_what_named_parameters_names():
    said = written(rl.draw.module_tree(tied(rl)))
    assert [name for name, _ in tied(rl).named_parameters()] == [
        name for name, _ in tied(rl).named_parameters(remove_duplicate=False) if name in said
    ]
    assert "is embed.weight" in said


def test_where_two_curves_are_equal_there_is_no_point():
    figure = rl.draw.lockstep([("torch", [3.0, 2.0, 1.0]), ("rushlight", [3.0, 2.5, 1.0])])
    assert figure.axes[1].lines[0].get_xydata().tolist() == [[1.0, 0.5]]
