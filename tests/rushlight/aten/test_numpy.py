"""Tensors among numpy's numbers, arrays and functions: a tensor stays a tensor, and keeps its graph or raises."""

import numpy as np
import pytest
from both import agree, written
from sweep import in_one_test

import rushlight as rl

NUMBERS = [
    f"{number} {operator} {tensor}"
    for number in ("np.float64(2)", "np.float32(2)", "np.int64(2)")
    for operator in ("+", "-", "*", "/", "**", "//", "%", "<", "==")
    for tensor in ("x", "y", "i", "xp.tensor(2.)")
]
ARRAYS = [
    text
    for operator in ("+", "-", "*", "/", "**", "//", "%", "<", "==", "!=", "@")
    for text in (f"np.ones(2) {operator} y", f"y {operator} np.ones(2)", f"x {operator} np.ones(2)")
]
OTHERS = """
np.sqrt(2.0) * x
x @ np.ones((2, 2))
m @ np.ones(2)
np.ones(3) == y
y == np.array(1.0)
y == np.array(["a", "b"])
i & np.ones(2, dtype=int)
np.ones(2, dtype=int) << i
i << np.int64(1)
np.int64(1) << i
y += np.ones(2); y
y *= np.float64(2); y
a = np.zeros(2); a += y; a
np.asarray(x)
np.array(x)
np.asarray(x.detach())
np.asarray(y, dtype=np.float64)
np.asarray(xp.zeros(2, device="meta"))
np.sqrt(y)
np.sqrt(x)
np.exp(i)
np.equal(y, y)
np.isnan(y)
np.modf(y)
np.maximum(y, 1.5)
np.add.reduce(y)
np.add(np.ones(2), x)
np.add(np.ones(2), y)
np.matmul(m, m)
np.sum(x)
np.mean(m)
np.concatenate([y, y])
np.multiply.outer(y, y)
y.__array_priority__
y.__array_wrap__(np.ones(2))
y.__array_wrap__(np.array([True, False]))
y.__array_wrap__(np.float64(3.0))
y.__array__(np.float64)
x.__array__()
x.numpy()
x.numpy(force=True)
y.numpy(force=True)
xp.zeros(2, device="meta").numpy()
np.ones(2) in y
np.float32(1) in y
""".strip().splitlines()


@in_one_test
@pytest.mark.parametrize("text", [*NUMBERS, *ARRAYS, *OTHERS])
def test_numpy_and_a_tensor_give_what_they_give_with_torch(text):
    agree(written(text))


def test_an_array_of_a_tensor_is_a_copy_or_its_memory():
    y = rl.zeros(2)
    assert np.shares_memory(np.asarray(y), y.numpy()) and not np.shares_memory(np.array(y), y.numpy())
    np.add(np.ones(2, np.float32), 1, out=y.numpy())
    assert y.tolist() == [2.0, 2.0]
