"""The index of errors has whole messages of torch, and nothing else, however the readings break their lines."""

import textwrap

import nbformat
import pytest

from autograder.author import errors

MESSAGE = "Trying to backward through reading10.int8_linear.default, a leaf-like operator. Please register one."


@pytest.mark.parametrize("width", [40, 44, 96, 300])
@pytest.mark.parametrize("name", ["torch", "torch, on a device that has no kernel of its own"])
@pytest.mark.parametrize("following", ["next: 3", "   users of matmul now: [sum_1, mean]"])
def test_a_message_is_whole_wherever_its_lines_or_the_line_of_its_name_are_broken(name, width, following):
    text = textwrap.fill(f"{name}: RuntimeError: {MESSAGE}", width, subsequent_indent="    ", break_long_words=False)
    assert [*errors._errors(f"{text}\n{following}")] == [("RuntimeError", MESSAGE)]


def test_source_code_that_handles_an_error_is_no_message():
    assert [*errors._errors("    except AttributeError:\n        return invoke(op, input)")] == []


@pytest.mark.parametrize(
    ("source", "printed", "messages"),
    [
        ('attempt("sizes", torch.add)', "sizes: RuntimeError: sizes differ", ["sizes differ"]),
        ('attempt("sizes", rl.add)', "sizes: RuntimeError: sizes differ", []),
        ("compare(torch, rl)", "torch: IndexError: no row\nrushlight: IndexError: no such row", ["no row"]),
        (
            'TORCH_CHECK(x.dim() > 0, "lowered: x needs at least ", 1)',
            "a: RuntimeError: lowered: x needs at least 1",
            [],
        ),
    ],
)
def test_messages_of_the_course_are_left_out(tmp_path, monkeypatch, source, printed, messages):
    output = nbformat.v4.new_output("stream", text=printed)
    cell = nbformat.v4.new_code_cell(source, outputs=[output])
    (tmp_path / "00").mkdir()
    nbformat.write(nbformat.v4.new_notebook(cells=[cell]), tmp_path / "00" / "reading.ipynb")
    monkeypatch.setattr(errors, "READINGS", tmp_path)
    assert [error.message for error in errors._provoked("00")] == messages
