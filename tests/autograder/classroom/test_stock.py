"""The labs under nbgrader as it is: check cells run in the student's kernel and raise."""

import shutil

import nbformat
import pytest
from nbgrader.api import Gradebook
from sweep import sweep

from autograder.classroom import sample
from autograder.model import Lab, lab_names

LAB = "01a_views"


@pytest.mark.parametrize("lab", sweep(lab_names(), keep=[LAB]))
def test_every_cell_of_the_reference_runs_and_gets_full_marks_and_an_untouched_lab_none(
    nbgrader, lab, released, answers, empty_gradebook
):
    shutil.copy(empty_gradebook, nbgrader.place / "gradebook.db")  # nbgrader takes a while to make its own
    nbgrader.hand_in("untouched", lab, released)
    sample.fill(released, answers)
    nbgrader.hand_in("all_right", lab, released)
    nbgrader("autograde", lab, grader="stock")
    nbgrader("generate_feedback", lab, grader="stock")

    graded = nbformat.read(nbgrader.place / "autograded" / "all_right" / lab / f"{lab}.ipynb", as_version=4)
    ran = [cell for cell in graded.cells if cell.cell_type == "code" and cell.source]
    assert all(cell.execution_count for cell in ran)
    assert [o.evalue for cell in ran for o in cell.outputs if o.output_type == "error"] == []
    with Gradebook(f"sqlite:///{nbgrader.place / 'gradebook.db'}", "rushlight") as gradebook:
        scores = {submission.student.id: submission.score for submission in gradebook.assignment_submissions(lab)}
    assert scores == {"all_right": sum(Lab(lab).points.values()), "untouched": 0.0}
    for student in ("all_right", "untouched"):
        page = (nbgrader.place / "feedback" / student / lab / f"{lab}.html").read_text()
        assert (f"{Lab(lab).exercises[0]}: not attempted" in page) == (student == "untouched")
