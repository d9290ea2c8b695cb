"""`check` as a student meets it: in a real kernel."""

import ast
import json
import re
from contextlib import contextmanager

import nbformat
import pytest
import torch
from nbclient import NotebookClient
from sweep import sweep

from autograder.course import ROOT
from autograder.model import Lab, exercise_name, lab_names
from autograder.notebook import kernel as kernel_side
from autograder.notebook import last_check
from autograder.notebook.cells import exercises_in, uncommented

START = "import rushlight as rl\nfrom autograder import check, exercise"
WRONG = """
@exercise(rl.strided)
def contiguous_strides(sizes):
    strides, step = [], 1
    for size in reversed(sizes):
        strides.insert(0, step)
        step *= size
    return strides
"""
RIGHT = WRONG.replace("step *= size", "step *= max(size, 1)")


@contextmanager
def kernel():
    """Within: `outputs(source, ...)` runs cells in one kernel and gives each one's outputs. To start one takes two seconds."""
    notebook = nbformat.v4.new_notebook(metadata={"kernelspec": {"name": "python3", "display_name": "x"}})
    client = NotebookClient(notebook, timeout=600, allow_errors=True, resources={"metadata": {"path": str(ROOT)}})

    def outputs(*sources):
        cells = [nbformat.v4.new_code_cell(source) for source in sources]
        for cell in cells:
            notebook.cells.append(cell)
            client.execute_cell(cell, len(notebook.cells) - 1)
        return [cell.outputs for cell in cells]

    client.reset_execution_trackers()
    with client.setup_kernel():
        outputs(START)
        yield outputs


def by_type(outputs):
    """Outputs in the order display, error, stream: what is printed comes after the verdict if the check says that it runs."""
    return sorted(outputs, key=lambda output: output.output_type)


@pytest.fixture(scope="module")
def outputs():
    """The kernel of all tests that leave in it but other texts of a piece."""
    with kernel() as outputs:
        yield outputs


@pytest.fixture
def fresh():
    """The outputs of a kernel that no other test has used."""
    with kernel() as outputs:
        yield outputs


@pytest.mark.sweep  # `make test` does the same in JupyterLab
def test_a_wrong_answer_shows_the_smallest_case_and_a_right_one_passes(outputs):
    wrong, shown, replayed, fixed = outputs(
        WRONG,
        'check("aten.strided.contiguous_strides")',
        'check("aten.strided.contiguous_strides", case={"sizes": [2, 3]})',
        RIGHT + '\ncheck("aten.strided.contiguous_strides")',
    )
    assert wrong == []
    assert [output.output_type for output in shown] == ["display_data", "error"]
    for part in ("cases agree with torch", "yours", "torch&#x27;s", "hint", "replay"):
        assert part in shown[0].data["text/html"]
    assert "differs" in shown[0].data["text/plain"]
    assert shown[1].ename == "CheckFailed" and shown[1].traceback == ["CheckFailed: see above"]
    for passed in (replayed, fixed):
        assert [output.output_type for output in passed] == ["display_data"]
        assert passed[0].data["text/plain"].startswith("✓")


def test_an_exception_is_shown_with_its_line_in_the_cell(outputs):
    raising = WRONG.strip().replace("        strides.insert(0, step)", "        raise ValueError('mine')")
    _, (shown, _) = outputs(raising, 'check("aten.strided.contiguous_strides")')
    assert "contiguous_strides, line 5:  raise ValueError('mine')" in shown.data["text/plain"]
    assert "your cell" in shown.data["text/html"] and "→ contiguous_strides, line 5" in shown.data["text/html"]


TRANSPOSE = """
@exercise(rl.strided)
def transpose(self, dim0, dim1):
    return self
"""


@pytest.mark.sweep
def test_a_card_has_the_points_and_what_of_the_lab_has_passed_in_this_kernel(fresh):
    lab = Lab("01a_views")
    worth, pieces = lab.points, lab.exercises
    mine, whole = worth["aten.strided.contiguous_strides"], sum(worth.values()) + lab.written_points

    def tally(count, earned):
        parts = f"{len(lab.core)} core and {len(pieces) - len(lab.core)} further"
        return f"lab 01a: {count} of {len(pieces)} exercises ({parts}) · {earned:g} of {whole:g} points"

    strides, again = 'check("aten.strided.contiguous_strides")', WRONG
    _, before, first, replayed, failed, _, late = fresh(
        TRANSPOSE + RIGHT,
        'check("aten.strided.transpose")',
        strides,
        'check("aten.strided.contiguous_strides", case={"sizes": [2, 3]})',
        'check("aten.strided.transpose")',
        again,
        'check("aten.strided.transpose")',
    )
    assert tally(0, 0) in before[0].data["text/html"] and "0 of" in before[0].data["text/html"]
    assert tally(1, mine) in first[0].data["text/html"] and f"{mine} of {mine} points" in first[0].data["text/html"]
    assert "points" not in replayed[0].data["text/html"] and tally(1, mine) in failed[0].data["text/html"]
    assert tally(0, 0) in late[0].data["text/html"]  # the piece that passed is not there any more
    assert not any("points" in shown[0].data["text/plain"] for shown in (before, first, replayed, failed, late))


def test_what_a_piece_prints_and_raises_is_shown_without_what_no_page_can_show(outputs):
    hostile = WRONG.replace(
        "    strides, step = [], 1", "    print('\\ud800 said')\n    raise ValueError('\\ud800 \\x1b[31mraised')"
    )
    shown, _, printed = by_type(outputs(hostile + '\ncheck("aten.strided.contiguous_strides")')[0])
    assert printed.text == "? said\n"
    for kind in ("text/plain", "text/html"):
        assert "? raised" in shown.data[kind] and "\x1b" not in shown.data[kind]


def test_a_piece_that_would_end_python_gets_a_verdict(outputs):
    ending = WRONG.replace("    strides, step = [], 1", "    raise SystemExit(3)")
    shown = outputs(ending + '\ncheck("aten.strided.contiguous_strides")')[0][0].data["text/plain"]
    assert "your code ended Python" in shown and "it raises SystemExit(3)" in shown


def test_a_piece_that_asks_for_input_gets_a_verdict_at_once(outputs):
    asking = RIGHT.replace("    strides, step = [], 1", "    strides, step = [], int(input('step? '))")
    shown = outputs(asking + '\ncheck("aten.strided.contiguous_strides")')[0][0].data["text/plain"]
    assert "EOFError: a check cannot wait for input" in shown


def test_a_kernel_says_in_which_check_the_one_before_it_ended(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("JPY_SESSION_NAME", "/work/01a_views.ipynb")
    with last_check.noted("aten.strided.expand"):
        assert "ended while aten.strided.expand ran" in last_check.why_ended()
        assert last_check.why_ended() == ""
    with last_check.noted("aten.strided.expand"):
        pass
    assert last_check.why_ended() == ""


def test_what_a_piece_prints_is_shown_for_the_case_that_is_shown(outputs):
    loud = WRONG.replace("    strides, step = [], 1", "    print('sizes', sizes)\n    strides, step = [], 1")
    wrong, right = outputs(
        loud + '\ncheck("aten.strided.contiguous_strides")',
        loud.replace("step *= size", "step *= max(size, 1)") + '\ncheck("aten.strided.contiguous_strides")',
    )
    verdict, _, printed = by_type(wrong)
    (case,) = re.findall(r'case={"sizes": (.*)}', str(verdict.data["text/plain"]).replace("'", '"'))
    shown = [line for line in printed.text.splitlines() if line.startswith("sizes")]
    assert shown and {json.dumps([*ast.literal_eval(line.removeprefix("sizes "))]) for line in shown} == {case}
    assert [output.output_type for output in right] == ["display_data"]


def test_a_piece_that_is_not_written_yet_is_not_attempted_and_stops_no_other(outputs):
    _, first, second = outputs(
        "@exercise(rl.strided)\ndef contiguous_strides(sizes):\n    # YOUR CODE HERE\n    raise NotImplementedError()",
        'check("aten.strided.contiguous_strides")',
        "print(rl.arange(3).tolist())",
    )
    assert "not attempted" in first[0].data["text/plain"]
    assert second[0].text == "[0, 1, 2]\n"


WRITE_TWO = """
from autograder.engine.exercise import fill
for slot in rl.strided.compute_stride, rl.strided.infer_size:
    fill(slot, type(slot)(slot.__code__, slot.__globals__))
"""


def test_a_milestone_is_decided_once_half_of_the_core_exercises_are_written(outputs):
    """(Lab 01b has four.)"""
    early, _, decided = outputs('check("together.chain_of_views")', WRITE_TWO, 'check("together.chain_of_views")')
    assert "0 of 4 are yours" in early[0].data["text/plain"] and early[1].ename == "CheckFailed"
    said = decided[0].data["text/plain"]
    assert said.startswith("✓ together.chain_of_views: passes, with 2 of 3 pieces yours: all")
    assert "the reference's run in the place of expand" in said


FAILING = """
@exercise(rl.strided)
def compute_stride(oldshape, oldstride, newshape):
    print("asked")
    return (7,)
"""


@pytest.mark.sweep
def test_a_piece_that_has_failed_is_none_of_those_that_a_milestone_needs_and_its_output_is_shown_once(fresh):
    """As in grading, where it has not passed."""
    _, _, failed, early = fresh(
        WRITE_TWO, FAILING, 'check("aten.strided.compute_stride")', 'check("together.chain_of_views")'
    )
    (printed,) = [output.text for output in failed if output.output_type == "stream"]
    assert printed == 2 * "asked\n"  # the program of one case calls it twice
    assert "1 of 4 are yours" in early[0].data["text/plain"]


AT_FAULT = """
from autograder.engine import limits
limits.CHECK_SECONDS = (1.0, 1.0)

right = rl.strided.compute_stride
right = type(right)(right.__code__, right.__globals__)

@exercise(rl.strided)
def compute_stride(oldshape, oldstride, newshape):
    {mistake}
"""


@pytest.mark.sweep
@pytest.mark.parametrize(
    "mistake",
    sweep(["return right(oldshape, oldstride, newshape) and (7,) * len(newshape)", "while True: pass"], every=2),
)
def test_a_piece_that_fails_because_of_another_passes_and_the_other_is_named(fresh, mistake):
    _, _, _, shown, wrong = fresh(
        WRITE_TWO,
        AT_FAULT.format(mistake=mistake),
        "slot = rl.strided.reshape\nfill(slot, type(slot)(slot.__code__, slot.__globals__))",
        'check("aten.strided.reshape")',
        'check("aten.strided.compute_stride")',
    )
    text = shown[0].data["text/plain"]
    assert text.startswith("✓") and "on top of your other pieces it fails" in text
    assert "compute_stride is at fault: check(" in text and len(shown) == 1
    assert wrong[1].ename == "CheckFailed" and "at fault" not in wrong[0].data["text/plain"]


def test_a_cell_that_ended_with_an_error_gets_no_verdict_on_the_code_before(outputs):
    check = 'check("aten.strided.contiguous_strides")'
    for broken in (RIGHT.replace("max(", "max(("), f"1 / 0\n{WRONG}"):
        *_, before, _, (shown, error), _, (after,) = outputs(RIGHT, check, broken, check, RIGHT, check)
        assert before[0].data["text/plain"].startswith("✓") and after.data["text/plain"].startswith("✓")
        assert "its cell ended with an error: " in shown.data["text/plain"] and error.ename == "CheckFailed"
    *_, (shown, _) = outputs(f"{WRONG}\n1 / 0", check)
    assert "cases agree with torch" in shown.data["text/plain"]  # the piece is the one in the cell


def test_code_that_stands_in_its_cell_and_has_not_run_gets_no_verdict(fresh):
    def see(running, source):  # as JupyterLab does before it runs a cell
        told = json.dumps({"running": running, "language": "en", "cells": [["exercise", source], ["check", ""]]})
        return f"from autograder.notebook import cells; cells.see({told!r})"

    check, commented = 'check("aten.strided.contiguous_strides")', RIGHT.replace("return", "# why\n    return")
    bare = WRONG.replace("@exercise(rl.strided)\n", "")
    _, (unrun, _), _, _, _, (passed,), _, (changed, _), _, (stripped, _) = fresh(
        *(see("check", RIGHT), check),
        *(see("exercise", RIGHT), RIGHT, see("check", commented), check),
        *(see("check", WRONG), check, see("check", bare), check),
    )
    assert "its cell has not run in this kernel" in unrun.data["text/plain"]
    assert passed.data["text/plain"].startswith("✓")
    for shown in changed, stripped:
        assert "its cell has changed since you ran it" in shown.data["text/plain"]


def test_a_cell_that_does_not_define_its_exercise_any_more_gets_no_verdict_on_the_code_before(outputs):
    def run(source, cell="exercise"):  # as JupyterLab does
        return f"get_ipython().run_cell({source!r}, cell_id={cell!r})"

    check, bare = 'check("aten.strided.contiguous_strides")', WRONG.replace("@exercise(rl.strided)\n", "")
    renamed = RIGHT.replace("def contiguous", "def contigous")
    for text, cell, said in (
        (bare, "exercise", "its cell ran without the line `@exercise`"),
        (renamed, "exercise", "its cell ended with an error: NameError: "),
        ("1 + 1", "exercise", "its cell ran without the line `@exercise`"),
        (bare, "another", "✓"),
        ("%%time" + WRONG, "exercise", "cases agree with torch"),
    ):
        *_, shown = outputs(run(RIGHT), run(text, cell), check)
        assert said in shown[0].data["text/plain"], text
    (error,) = outputs(renamed)[0]
    said = "".join(error.traceback)
    assert "exercise(" in said and "plug" not in said  # the student's lines alone
    *_, shown = outputs(RIGHT, bare, check)  # in a program that gives cells no ids
    assert "its cell ran without the line `@exercise`" in shown[0].data["text/plain"]


def test_cells_that_differ_in_comments_and_docstrings_have_the_same_code():
    cell = 'class A:\n    """One."""\n    def f(self):\n        """Two."""\n        return "Two."  # why'
    other = cell.replace("One.", "Uno.").replace('"""Two.', '"""Dos.').replace("why", "por qué")
    assert uncommented(cell) == uncommented(other)
    assert uncommented(cell) != uncommented(cell.replace('return "Two."', 'return "Dos."'))


def test_the_exercises_of_a_cell_are_known_by_its_text():
    texts = {
        exercise_name(cell): "".join(cell["source"]) for name in lab_names() for cell in Lab(name).released["cells"]
    }
    assert [name for name, text in texts.items() if name and exercises_in(text) != [name]] == []


def test_a_name_that_is_no_check_is_refused_with_the_names_that_are(outputs):
    ((error,),) = outputs('check("strided.nothing")')
    assert error.ename == "LookupError" and "aten.strided.permute" in error.evalue


@pytest.mark.sweep
def test_after_an_interrupt_nothing_says_that_a_check_runs_and_the_next_one_works(outputs):
    interrupted, shown = outputs(
        """
import time
from autograder.notebook import kernel

@exercise(rl.strided)
def contiguous_strides(sizes):
    while not kernel._place:  # it says that it runs
        time.sleep(0.1)
    raise KeyboardInterrupt

check("aten.strided.contiguous_strides")
""",
        WRONG + '\ncheck("aten.strided.contiguous_strides")',
    )
    said, error = interrupted
    assert said.data["text/plain"] == ""
    assert error.evalue == "aten.strided.contiguous_strides: interrupted" and error.evalue in error.traceback[0]
    assert "cases agree with torch" in shown[0].data["text/plain"]


@pytest.mark.parametrize("body", sweep(["import time; time.sleep(3600)", "while True: pass"], every=2))
def test_a_piece_that_does_not_end_is_stopped_and_the_next_check_works(fresh, body):
    looping = f"""
from autograder.engine import limits
limits.CHECK_SECONDS = (1.0, 1.0)

@exercise(rl.strided)
def contiguous_strides(sizes):
    try:
        {body}
    except Exception:
        return []

check("aten.strided.contiguous_strides")
"""
    stopped, shown = fresh(looping, WRONG + '\ncheck("aten.strided.contiguous_strides")')
    assert (
        stopped[0].data["text/plain"].startswith("✗ aten.strided.contiguous_strides")
        and "timed out" in stopped[-1].evalue
    )
    assert "an endless loop, perhaps" in stopped[0].data["text/plain"]
    assert f"contiguous_strides, line 7:  {body}" in stopped[0].data["text/plain"]
    assert "cases agree with torch" in shown[0].data["text/plain"]


def test_a_case_runs_on_one_thread_of_torch_as_in_the_sandbox(monkeypatch):
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        monkeypatch.setattr(kernel_side, "answer", lambda name, cases: [torch.get_num_threads() for _ in cases])
        assert kernel_side._answer("aten.strided.contiguous_strides", [{}, {"n": 1}], {}) == [1, 1]
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)
