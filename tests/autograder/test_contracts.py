"""The docstring of an exercise is its contract: its example is true."""

import doctest
import sys

import pytest
import torch

import rushlight as rl
from autograder.course import exercises, labs
from autograder.engine.check import function_of, is_bench


@pytest.mark.parametrize(("lab", "exercise"), [(lab, name) for lab in labs() for name in exercises(lab)])
def test_the_example_of_an_exercise_gives_what_it_says(lab, exercise):
    function = function_of(exercise)
    names = vars(sys.modules[function.__module__]) | {"rl": rl} | ({"torch": torch} if is_bench(lab) else {})
    example = doctest.DocTestParser().get_doctest(function.__doc__, names, exercise, None, None)
    said = []
    doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(example, out=said.append)
    assert said == []
