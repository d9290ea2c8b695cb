"""The labs under nbgrader as it is: check cells run in the student's kernel and raise."""

import shutil

import nbformat
import pytest
from nbgrader.api import Gradebook

from autograder.classroom import sample
from autograder.model import Lab, exercise_name, lab_names

LAB = "01a_views"


def graded(nbgrader, student, lab):
    """The notebook of a student, graded; and the student's score and page of feedback."""
    notebook = nbformat.read(nbgrader.place / "autograded" / student / lab / f"{lab}.ipynb", as_version=4)
    with Gradebook(f"sqlite:///{nbgrader.place / 'gradebook.db'}", "rushlight") as gradebook:
        score = gradebook.find_submission(lab, student).score
    return notebook, score, (nbgrader.place / "feedback" / student / lab / f"{lab}.html").read_text()


def test_an_answer_gets_its_points_and_an_exercise_that_is_not_written_none(
    nbgrader, released, answers, empty_gradebook
):
    shutil.copy(empty_gradebook, nbgrader.place / "gradebook.db")  # nbgrader takes a while to make its own
    (first, *others), worth = Lab(LAB).exercises, Lab(LAB).points
    (cell,) = (cell for cell in released.cells if exercise_name(cell) == first)
    cell.source = answers[cell.id]
    nbgrader.hand_in("ada", LAB, released)
    nbgrader("autograde", LAB, grader="stock")
    nbgrader("generate_feedback", LAB, grader="stock")
    notebook, score, page = graded(nbgrader, "ada", LAB)
    assert all(cell.execution_count for cell in notebook.cells if cell.cell_type == "code" and cell.source)
    assert score == worth[first] > 0
    assert f"{first}: not attempted" not in page and f"{others[0]}: not attempted" in page


@pytest.mark.sweep
@pytest.mark.parametrize("lab", lab_names())
def test_every_cell_of_the_reference_runs_and_gets_full_marks_and_an_untouched_lab_none(
    nbgrader, lab, released, answers, empty_gradebook
):
    shutil.copy(empty_gradebook, nbgrader.place / "gradebook.db")  # nbgrader takes a while to make its own
    nbgrader.hand_in("untouched", lab, released)
    sample.fill(released, answers)
    nbgrader.hand_in("all_right", lab, released)
    nbgrader("autograde", lab, grader="stock")
    nbgrader("generate_feedback", lab, grader="stock")

    notebook, score, page = graded(nbgrader, "all_right", lab)
    ran = [cell for cell in notebook.cells if cell.cell_type == "code" and cell.source]
    assert all(cell.execution_count for cell in ran)
    assert [o.evalue for cell in ran for o in cell.outputs if o.output_type == "error"] == []
    _, nothing, other = graded(nbgrader, "untouched", lab)
    assert (score, nothing) == (sum(Lab(lab).points.values()), 0)
    said = f"{Lab(lab).exercises[0]}: not attempted"
    assert said not in page and said in other
