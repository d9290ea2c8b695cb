"""Element types and promotion agree with torch."""

import copy
import itertools
import pickle

import pytest
import torch
from both import agree

import rushlight as rl
from rushlight.c10 import dtypes

NAMES = [each.name for each in dtypes.ALL]
NUMBERS = [True, 3, 2.5]


def test_every_dtype_describes_itself_as_in_torch():
    for name in NAMES:
        agree(lambda xp: [getattr(xp, name), getattr(xp, name).itemsize, getattr(xp, name).is_floating_point])
        agree(lambda xp: getattr(xp, name).is_signed)


def test_every_pair_of_dtypes_promotes_and_casts_as_in_torch():
    for a, b in itertools.product(NAMES, NAMES):
        agree(lambda xp: xp.promote_types(getattr(xp, a), getattr(xp, b)))
        ours, theirs = (
            dtypes.can_cast(getattr(rl, a), getattr(rl, b)),
            torch.can_cast(getattr(torch, a), getattr(torch, b)),
        )
        assert ours == theirs


def test_every_pair_of_dimensioned_0_dim_and_python_operands_has_the_result_type_of_torch():
    operands = [(name, shape) for name in NAMES for shape in ((2,), ())] + NUMBERS
    for a, b in itertools.product(operands, operands):
        agree(lambda xp: xp.result_type(*[make(xp, each) for each in (a, b)]))


def make(xp, operand):
    return xp.ones(operand[1], dtype=getattr(xp, operand[0])) if isinstance(operand, tuple) else operand


def test_a_number_that_is_none_has_no_result_type():
    with pytest.raises(TypeError):
        rl.result_type(rl.zeros(2), "a")


def test_a_dtype_survives_copying_and_pickling_as_the_same_object():
    for each in dtypes.ALL:
        assert copy.deepcopy(each) is each and pickle.loads(pickle.dumps(each)) is each


def test_aliases_name_the_same_dtypes_as_in_torch():
    for alias in ("half", "float", "double", "int", "long", "bool"):
        agree(lambda xp: getattr(xp, alias))
        agree(lambda xp: getattr(xp.ones(2), alias)())
