"""The index of errors has whole messages, however the readings break their lines."""

import textwrap

import pytest

from autograder.author.errors import _errors

MESSAGE = "Trying to backward through reading10.int8_linear.default, a leaf-like operator. Please register one."


@pytest.mark.parametrize("width", [40, 46, 96, 300])
@pytest.mark.parametrize("name", ["torch", "torch, on a device that has no kernel of its own"])
def test_a_message_is_whole_wherever_its_lines_or_the_line_of_its_name_are_broken(name, width):
    text = textwrap.fill(f"{name}: RuntimeError: {MESSAGE}", width, subsequent_indent="    ", break_long_words=False)
    assert [*_errors(f"{text}\nnext: 3")] == [("RuntimeError", MESSAGE)]
