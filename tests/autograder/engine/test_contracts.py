"""The docstring of an exercise is its contract: its example is true."""

import doctest
import sys

import pytest
import torch
from sweep import sweep

import rushlight as rl
from autograder.engine.check import function_of, is_on_torch
from autograder.model import Lab, lab_names


@pytest.mark.parametrize("lab", sweep(lab_names(), every=4))
def test_the_example_of_an_exercise_gives_what_it_says(lab):
    said = []
    for exercise in Lab(lab).exercises:
        function = function_of(exercise)
        names = vars(sys.modules[function.__module__]) | {"rl": rl} | ({"torch": torch} if is_on_torch(lab) else {})
        example = doctest.DocTestParser().get_doctest(function.__doc__, names, exercise, None, None)
        doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(example, out=said.append)
    assert said == []
