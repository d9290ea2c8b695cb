"""A tensor prints as in torch."""

import pytest
import torch
from both import FRAMEWORKS
from hypothesis import given
from hypothesis import strategies as st

import rushlight as rl
from rushlight.c10 import dtypes


def printed(program):
    return [repr(program(xp)).replace("rushlight.", "torch.") for xp in FRAMEWORKS]


numbers = st.one_of(
    st.integers(-1000, 1000),
    st.floats(-1000, 1000, width=32),
    st.floats(width=32),
    st.sampled_from([0.0, -0.0, 1e-5, 1e9, float("nan"), float("inf")]),
)


@given(st.lists(st.tuples(numbers, numbers, numbers), min_size=1, max_size=4))
def test_any_floats_print_as_in_torch(rows):
    ours, theirs = printed(lambda xp: xp.tensor(rows, dtype=xp.float32))
    assert ours == theirs


@given(st.lists(st.integers(0, 9), max_size=3).map(tuple), st.sampled_from([each.name for each in dtypes.ALL]))
def test_any_sizes_and_dtypes_print_as_in_torch(sizes, name):
    numel = rl.Size(sizes).numel()
    ours, theirs = (
        "".join(text.split()) for text in printed(lambda xp: xp.arange(numel).view(sizes).to(getattr(xp, name)))
    )
    assert ours == theirs


def test_large_tensors_are_summarised_as_in_torch():
    for sizes in ((1001,), (2, 600), (11, 10, 11), (500, 3)):
        ours, theirs = printed(lambda xp: xp.arange(rl.Size(sizes).numel()).view(sizes))
        assert ours == theirs
        ours, theirs = printed(lambda xp: xp.arange(rl.Size(sizes).numel()).view(sizes).float())
        assert ours == theirs


def test_sizes_print_like_those_of_torch():
    assert repr(rl.zeros(2, 3).shape).replace("rushlight", "torch") == repr(torch.zeros(2, 3).shape)


@pytest.mark.parametrize("sizes", [(), (0,), (2, 3)])
@pytest.mark.parametrize("dtype", ["float32", "float64", "int64", "bool"])
def test_a_tensor_without_memory_shows_its_metadata(sizes, dtype):
    ours, theirs = printed(lambda xp: xp.ones(sizes, dtype=getattr(xp, dtype), device="meta"))
    assert ours == theirs


def test_the_node_of_a_written_view_prints_without_its_namespace():
    def written(xp):
        x = xp.ones(3, requires_grad=True) * 1
        x[0] = 2
        return x

    ours, theirs = printed(written)
    assert ours == theirs and "grad_fn=<CopySlices>" in ours
