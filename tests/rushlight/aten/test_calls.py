"""Composite operators call what torch's call, in the same order: autograd's graphs are made of these calls."""

from functools import partial

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.utils._python_dispatch import TorchDispatchMode

import rushlight as rl

MODES = {rl: rl.dispatch.DispatchMode, torch: TorchDispatchMode}


def calls(program, xp):
    """The operators that get as far as the key `Python`, or the type of the error."""
    seen = []

    class Watch(MODES[xp]):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            seen.append(str(func))
            return func(*args, **(kwargs or {}))

    mode = Watch()

    def watched(function, *args, **kwargs):
        with mode:
            return function(*args, **kwargs)

    try:
        program(xp, watched)
    except Exception as error:
        return type(error).__name__
    return seen


def agree(program):
    assert calls(program, rl) == calls(program, torch)


batches = st.sampled_from([(), (1,), (2,), (3, 1), (0,), (2, 2)])


@given(batches, batches, st.booleans(), st.booleans(), st.booleans(), st.booleans())
def test_matmul(first, second, vector, other_vector, turned, other_turned):
    def program(xp, watched):
        a, b = xp.ones(4) if vector else xp.ones(*first, 4, 4), xp.ones(4) if other_vector else xp.ones(*second, 4, 4)
        a, b = a.transpose(0, -1) if turned else a, b.transpose(0, -1) if other_turned else b
        watched(xp.matmul, a, b)

    agree(program)


@given(
    st.sampled_from([(4,), (1, 4), (2, 4), (3, 2, 4), (0, 2, 4), (2, 1, 2, 4)]),
    st.sampled_from([None, (3,), (1,), (), (1, 3), (1, 1), (2, 3)]),
    st.booleans(),
)
def test_linear(sizes, bias, turned):
    def program(xp, watched):
        x = xp.ones(sizes[::-1]).permute(tuple(range(len(sizes)))[::-1]) if turned else xp.ones(sizes)
        watched(xp.nn.functional.linear, x, xp.ones(3, 4), None if bias is None else xp.ones(bias))

    agree(program)


@given(
    st.booleans(), st.sampled_from(["none", "mean", "sum"]), st.sampled_from([0.0, 0.1]), st.booleans(), st.booleans()
)
def test_cross_entropy(probabilities, reduction, smoothing, weighted, places):
    def program(xp, watched):
        sizes = (2, 3, 4) if places else (2, 3)
        target = xp.ones(sizes) if probabilities else xp.zeros(sizes[:1] + sizes[2:], dtype=xp.int64)
        weight = xp.ones(3) if weighted else None
        cross_entropy = partial(xp.nn.functional.cross_entropy, weight=weight, label_smoothing=smoothing)
        watched(cross_entropy, xp.ones(sizes), target, reduction=reduction)

    agree(program)


@pytest.mark.parametrize("name", ["l1_loss", "mse_loss", "smooth_l1_loss", "huber_loss"])
@pytest.mark.parametrize("sizes", [(2, 3), (3,)])
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_losses(name, sizes):
    agree(lambda xp, watched: watched(getattr(xp.nn.functional, name), xp.ones(2, 3), xp.zeros(sizes)))


@pytest.mark.parametrize(
    "call",
    [
        lambda x: x.reshape(6),
        lambda x: x.reshape(2, 3),
        lambda x: x.t().reshape(6),
        lambda x: x.flatten(),
        lambda x: x.softmax(0, dtype=x.dtype),
    ],
)
def test_others(call):
    agree(lambda xp, watched: watched(call, xp.ones(2, 3)))


keys = st.sampled_from(
    [0, -1, 5, None, ..., slice(None), slice(0, 2), slice(0, 9), slice(-9, None), slice(1, None), slice(None, None, 2)]
)


@given(keys | st.lists(keys, max_size=3).filter(lambda parts: parts.count(...) < 2).map(tuple))
def test_indexing(key):
    agree(lambda xp, watched: watched(xp.ones(2, 3).__getitem__, key))


@given(
    keys | st.lists(keys, max_size=3).filter(lambda parts: parts.count(...) < 2).map(tuple),
    st.sampled_from([(), (1,), (3,), (2, 3), (1, 3), (2, 1), (1, 1, 3), (1, 2, 3)]),
)
def test_writing_to_an_index(key, sizes):
    agree(lambda xp, watched: watched(xp.ones(2, 3).__setitem__, key, xp.zeros(sizes)))
