"""New tensors from sizes, numbers, lists and numpy arrays agree with torch."""

import gc
import weakref

import numpy as np
import pytest
from both import agree
from hypothesis import given
from hypothesis import strategies as st
from sweep import in_one_test

import rushlight as rl
from rushlight.c10 import dtypes, exception

NAMES = [None] + [each.name for each in dtypes.ALL]
numbers = st.one_of(st.booleans(), st.integers(-300, 300), st.floats(-100, 100, width=16), st.just(float("nan")))
nested = st.recursive(numbers, lambda inner: st.lists(inner, max_size=3), max_leaves=8)


def named(xp, name):
    return name and getattr(xp, name)


@given(nested, st.sampled_from(NAMES))
def test_nested_lists_become_the_tensor_or_the_error_of_torch(data, name):
    agree(lambda xp: xp.tensor(data, dtype=named(xp, name)))


@in_one_test
@pytest.mark.parametrize(
    "program",
    [
        lambda xp: xp.tensor([]),
        lambda xp: xp.tensor([[], []]),
        lambda xp: xp.tensor([[], [1]]),
        lambda xp: xp.tensor([[1], []]),
        lambda xp: xp.tensor([[1, 2], [3]]),
        lambda xp: xp.tensor([[1, 2], 3]),
        lambda xp: xp.tensor([1, [3]]),
        lambda xp: xp.tensor(((1, 2), [3, 4.0])),
        lambda xp: xp.tensor(range(3)),
        lambda xp: xp.tensor("a"),
        lambda xp: xp.tensor([1, "a"]),
        lambda xp: xp.tensor(None),
        lambda xp: xp.tensor({1, 2}),
        lambda xp: xp.tensor([xp.tensor(1.0), 2]),
        lambda xp: xp.tensor(xp.arange(4)[::2]),
        lambda xp: xp.tensor(np.float64(3)),
        lambda xp: xp.tensor([np.float64(3), 1]),
        lambda xp: xp.tensor(np.ones((2, 3)).T),
        lambda xp: xp.tensor(np.ones((2, 3))[:, 1:], dtype=xp.int32),
        lambda xp: xp.tensor([2**40], dtype=xp.int32),
        lambda xp: xp.tensor([-1, -255], dtype=xp.uint8),
        lambda xp: xp.tensor([-256], dtype=xp.uint8),
        lambda xp: xp.tensor([1e10], dtype=xp.int32),
        lambda xp: xp.tensor([1e30], dtype=xp.float16),
        lambda xp: xp.as_tensor([1, 2], dtype=xp.float32),
        lambda xp: xp.zeros(2, 3),
        lambda xp: xp.ones((2, 0, 3), dtype=xp.bool),
        lambda xp: xp.full((2,), 1),
        lambda xp: xp.full((2,), True),
        lambda xp: xp.full((2,), 1.5),
        lambda xp: xp.full((2,), 300, dtype=xp.uint8),
        lambda xp: xp.ones_like(xp.zeros(2, 3, 4).permute(2, 0, 1), dtype=xp.int64),
        lambda xp: xp.arange(5),
        lambda xp: xp.arange(1, 5.0),
        lambda xp: xp.arange(1, 5, 0.3),
        lambda xp: xp.arange(0, 1, 0.1, dtype=xp.float64),
        lambda xp: xp.arange(5, 1),
        lambda xp: xp.arange(1, 5, 0),
        lambda xp: xp.arange(5, 1, -2),
        lambda xp: xp.arange(3.7),
        lambda xp: xp.arange(3.7, dtype=xp.int64),
        lambda xp: xp.arange(3, dtype=xp.uint8),
    ],
)
def test_creation_agrees_with_torch(program):
    agree(program)


ARRAYS = [
    np.arange(6).reshape(2, 3),
    np.arange(6).reshape(2, 3).T,
    np.arange(6)[1:5:2],
    np.arange(6)[::-1],
    np.ones((2, 3), np.float32)[:, 1:],
    np.array(3.0),
    np.ones((1, 0, 3)),
    np.ones(2, ">f4"),
    np.array(["a"]),
    np.broadcast_to(np.ones(3), (2, 3)),
    np.ndarray((2,), "f4", buffer=np.zeros(20, "u1"), strides=(6,)),
    [1],
]


@pytest.mark.parametrize("array", ARRAYS, ids=range(len(ARRAYS)))
def test_a_numpy_array_becomes_the_tensor_or_the_error_of_torch(array):
    agree(lambda xp: xp.from_numpy(array))


def test_from_numpy_shares_memory_in_both_directions():
    array = np.arange(6)[1:]
    x = rl.from_numpy(array)
    x[0] = 10
    array[1] = 20
    assert array[0] == 10 and x[1].item() == 20 and x.data_ptr() == array.ctypes.data


def test_from_numpy_keeps_the_array_alive_and_lets_it_go():
    array = np.arange(6)
    alive = weakref.ref(array)
    x = rl.from_numpy(array)[2:]
    again = x.numpy()
    del array, x
    gc.collect()
    assert alive() is not None and again.tolist() == [2, 3, 4, 5]
    del again
    gc.collect()
    assert alive() is None


def test_from_numpy_warns_of_a_read_only_array(monkeypatch):
    array = np.arange(3)
    array.flags.writeable = False
    monkeypatch.setattr(exception, "_given", set())
    with pytest.warns(UserWarning):
        rl.from_numpy(array)


def test_numpy_sees_the_memory_of_a_tensor():
    x = rl.arange(6).view(2, 3).t()
    x.numpy()[0, 1] = 7
    assert x[0, 1].item() == 7 and np.asarray(x).strides == (8, 24) and np.array(x, copy=True).base is None


def test_numbers_keep_their_own_memory():
    array = np.arange(3)
    rl.tensor(array)[0] = 9
    assert array[0] == 0
