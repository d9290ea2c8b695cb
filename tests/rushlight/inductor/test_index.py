"""Index expressions: sums of loop variables, and what views and merged loops make of them."""

import itertools

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from rushlight.inductor import index
from rushlight.inductor.index import Index, Quotient, Remainder, Symbol


def points(variables):
    return [dict(zip(variables, p)) for p in itertools.product(*(range(v.size) for v in variables))]


def numbers(one, variables):
    return [index.evaluate(one, point) for point in points(variables)]


i, j = Symbol("i", 3), Symbol("j", 4)


def test_two_indices_that_are_the_same_sum_are_equal_and_hash_alike():
    one, other = Index.of(i) * 4 + j + 2, 2 + Index.of(j) + Index.of(i) * 4
    assert one == other and hash(one) == hash(other)
    assert one - Index.of(j) == Index.of(i) * 4 + 2
    assert Index.of(i) - i == index.ZERO


def test_a_variable_of_a_loop_of_one_iteration_is_nothing():
    assert Index.of(Symbol("k", 1)) == index.ZERO


def test_a_quotient_and_its_remainder_are_put_together_again():
    base = Index.of(i) * 2 + j
    assert Index.of(Quotient(base, 3)) * 6 + Index.of(Remainder(base, 3)) * 2 == base * 2


@given(st.lists(st.tuples(st.integers(1, 4), st.integers(-6, 6)), max_size=3), st.integers(-6, 9), st.integers(1, 6))
def test_quotient_and_remainder_are_those_of_the_numbers(terms, offset, divisor):
    variables = index.symbols("i", [size for size, _ in terms])
    total = Index.of(offset)
    for variable, (_, coefficient) in zip(variables, terms):
        total = total + Index.of(variable) * coefficient
    values = numbers(total, variables)
    assert numbers(index.quotient(total, divisor), variables) == [value // divisor for value in values]
    assert numbers(index.remainder(total, divisor), variables) == [value % divisor for value in values]
    low, high = index.bounds(total)
    assert low == min(values) and high == max(values)


@pytest.mark.parametrize(
    ("sizes", "new_sizes"),
    [([4, 6], [24]), ([24], [4, 6]), ([2, 3, 4], [6, 4]), ([2, 12], [2, 3, 4]), ([4, 6], [1, 4, 1, 6])],
)
def test_a_reshape_that_splits_or_joins_dimensions_divides_at_most_where_they_are_joined(sizes, new_sizes):
    variables = index.symbols("i", new_sizes)
    found = index.reshaped_indices([Index.of(v) for v in variables], sizes, new_sizes)
    positions = torch.unravel_index(torch.arange(24), sizes)
    assert [numbers(one, variables) for one in found] == [each.tolist() for each in positions]
    assert all(one.is_affine for one in found) == (len(new_sizes) >= len(sizes))


def test_there_and_back_again_leaves_nothing_of_a_reshape():
    variables = [Index.of(v) for v in index.symbols("i", [6, 4])]
    between = index.reshaped_indices(variables, [4, 6], [6, 4])
    assert index.reshaped_indices(between, [6, 4], [4, 6]) == variables


def test_a_remainder_of_a_remainder_is_one_remainder():
    i, j = index.symbols("i", (4, 2))
    position = Index.of(i) * 2 + j
    assert index.remainder(index.remainder(position, 4), 2) == Index.of(j)
    assert str(index.remainder(index.remainder(Index.of(i), 3), 2)) == "((i0)%3)%2"


def test_substituting_simplifies():
    k = Symbol("k", 12)
    there = Index.of(Quotient(Index.of(k), 4)) + Index.of(Remainder(Index.of(k), 4)) * 10
    assert index.substitute(there, {k: Index.of(i) * 4 + j}) == Index.of(i) + Index.of(j) * 10


def test_loops_are_cut_into_the_fewest_that_fit_both():
    assert index.refinement([6, 4], [2, 12]) == [2, 3, 4]
    assert index.refinement([6, 4], [24]) == [6, 4]
    assert index.refinement([6, 4], [4, 6]) is None
    assert index.refinement([], [1]) == []


def test_a_stride_is_known_only_of_a_variable_that_is_in_no_quotient():
    both = Index.of(i) * 5 + Index.of(Quotient(Index.of(j) + i, 2))
    assert index.stride_of(Index.of(i) * 5 + j, i) == 5
    assert index.stride_of(Index.of(i) * 5, j) == 0
    assert index.stride_of(both, j) is None and index.stride_of(both, i) is None


def test_the_text_of_an_index_is_python_for_the_same_number():
    one = Index.of(Remainder(Index.of(i) + j, 2)) * 12 + Quotient(Index.of(j) * 3, 2) + Index.of(i) * 5 + 7
    for point in points([i, j]):
        assert eval(str(one), {symbol.name: value for symbol, value in point.items()}) == index.evaluate(one, point)
