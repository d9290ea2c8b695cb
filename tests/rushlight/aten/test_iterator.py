"""The loop reads its operands in one pass, in the order of memory, over the same elements."""

import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st

import rushlight as rl
from rushlight.aten.iterator import broadcast_strides, coalesce_dimensions, loop_geometry, output_strides
from rushlight.c10.memory_formats import dense_strides, reorder_dimensions

loops = st.lists(st.integers(1, 3), max_size=4).flatmap(
    lambda sizes: st.tuples(
        st.just(tuple(sizes)),
        st.lists(st.tuples(*[st.sampled_from([0, 1, 2, 3, 6, 12])] * len(sizes)), min_size=1, max_size=3),
    )
)


def places(sizes, strides):
    """Where a walk sets foot, in its order."""
    return [sum(i * s for i, s in zip(at, strides)) for at in np.ndindex(*sizes)]


@given(loops)
def test_joined_dimensions_walk_the_same_places_in_the_same_order(loop):
    sizes, operands = loop
    new_sizes, new_strides = coalesce_dimensions(sizes[::-1], [strides[::-1] for strides in operands])
    for before, after in zip(operands, new_strides):
        assert places(new_sizes[::-1], after[::-1]) == places(sizes, before)
    again, _ = coalesce_dimensions(new_sizes, new_strides)
    assert again == new_sizes


@given(loops)
def test_a_loop_visits_the_same_tuples_of_places_in_another_order(loop):
    sizes, operands = loop
    new_sizes, new_strides = loop_geometry(sizes, tuple((sizes, strides) for strides in operands))
    before = zip(*(places(sizes, strides) for strides in operands))
    after = zip(*(places(new_sizes, strides) for strides in new_strides))
    assert sorted(before) == sorted(after)


@given(loops)
def test_a_result_has_its_dimensions_in_the_order_that_torch_gives_it(loop):
    sizes, operands = loop
    tensors = [torch.empty_strided(sizes, strides) for strides in operands]
    theirs = torch.addcmul(*(tensors * 3)[:3]).stride() if len(tensors) != 2 else torch.add(*tensors).stride()
    assert output_strides(sizes, tuple((sizes, strides) for strides in operands)) == theirs


def test_contiguous_operands_are_one_dimension():
    sizes, strides = loop_geometry((2, 3, 4), (((2, 3, 4), (12, 4, 1)), ((2, 3, 4), (12, 4, 1))))
    assert (sizes, strides) == ((24,), ((1,), (1,)))


def test_a_transposed_operand_alone_is_walked_in_its_own_order():
    assert loop_geometry((3, 2), (((3, 2), (1, 3)),)) == ((6,), ((1,),))
    assert reorder_dimensions((3, 2), [(1, 3)]) == (0, 1)
    assert dense_strides((3, 2), (1, 3)) == (1, 3)


def test_a_repeated_operand_has_stride_zero():
    assert broadcast_strides((3, 1), (1, 1), (4, 3, 5)) == (0, 1, 0)
    x = rl.arange(3).view(3, 1)
    assert (x + rl.zeros(4, 3, 5, dtype=rl.int64)).select(2, 4).select(0, 3).tolist() == [0, 1, 2]
