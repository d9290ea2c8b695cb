"""A captured graph depends on the keys of a dict that the function read, as in torch, and no key is lost when a dict is written."""

import pytest
import torch

import rushlight as rl

DICTS = [{"t": 2.0}, {"t": 2.0, "z": 1}, {"z": 1, "t": 2.0}, {"z": 1}, {}]


def count(xp, function):
    """The number of captures after a call with each dict."""
    made, counts = [], []

    def backend(graph, inputs):
        made.append(graph)
        return graph.forward

    if xp is torch:
        torch._dynamo.reset()
    compiled = xp.compile(function, backend=backend)
    for each in DICTS:
        compiled(xp.ones(2), dict(each))
        counts.append(len(made))
    return counts


@pytest.mark.parametrize(
    "function",
    [
        lambda x, d: x * (d["t"] if d is not None and "t" in d else 3.0),
        lambda x, d: x * 2 if "t" in d else x * 3,
        lambda x, d: x * d.get("t", 3.0),
        lambda x, d: x * 2,
        lambda x, d: x * sum(1 for _ in d),
        lambda x, d: x * 2 if list(d.keys()) == ["t"] else x * 3,
    ],
    ids=["item", "in", "get", "none", "iteration", "keys"],
)
def test_a_function_is_captured_again_when_torch_captures_it_again(function):
    assert count(rl, function) == count(torch, function)


@pytest.mark.parametrize(
    "write",
    [
        lambda d, y: d.__setitem__("n", y),
        lambda d, y: d.pop("t", y),
        lambda d, y: d.setdefault("t", y),
        lambda d, y: d.update(t=y),
        lambda d, y: d.clear(),
    ],
    ids=["setitem", "pop", "setdefault", "update", "clear"],
)
def test_a_write_changes_a_dict_as_python_does_whatever_else_is_in_it(write):
    """(torch 2.13 loses `z` after `pop`, because its guards ask for the key `t` alone.)"""

    def function(x, d):
        y = x * 2
        write(d, y)
        return y

    compiled = rl.compile(function, backend="eager")
    for _ in range(2):
        for each in DICTS:
            mine, theirs = dict(each), dict(each)
            compiled(rl.ones(1), mine)
            function(rl.ones(1), theirs)
            assert [(key, float(value)) for key, value in mine.items()] == [(k, float(v)) for k, v in theirs.items()]
