"""Classes that began with a lab that is not given out any more."""

import nbformat
import pytest
from nbgrader.api import Gradebook

from autograder import course, plugin
from autograder.check import find, is_milestone
from autograder.course import RETIRED, SOURCES, check_name, exercises, find_labs, find_released, points, retired_labs
from autograder.instructor import sample
from autograder.instructor.gradebook import gradebook_url

LAB = "01_strided"


@pytest.mark.parametrize("lab", retired_labs())
def test_every_check_of_it_is_still_there(lab):
    cells = nbformat.read(RETIRED / f"{lab}.ipynb", as_version=4).cells
    names = [name for cell in cells if (name := check_name(cell))]
    assert names and [find(name).name for name in names] == names
    assert [name for name in names if not is_milestone(name)] == list(points(lab))


@pytest.mark.parametrize("lab", [LAB])
def test_its_class_is_graded_as_before(lab, quick_grade, tmp_path, monkeypatch, isolated):
    monkeypatch.setenv("RUSHLIGHT_CLASSROOM", str(tmp_path))
    (tmp_path / "seed").write_text("1")
    course.set_environment()
    untouched = nbformat.read(RETIRED / f"{lab}.ipynb", as_version=4)
    solved = nbformat.read(RETIRED / f"{lab}.ipynb", as_version=4)
    for part in find_labs(lab[:2]):
        sample.fill(solved, sample.answers(nbformat.read(SOURCES / part / f"{part}.ipynb", as_version=4)))
    for student, notebook in {"ada": solved, "ben": untouched}.items():
        folder = tmp_path / "submitted" / student / lab
        folder.mkdir(parents=True)
        nbformat.write(notebook, folder / f"{lab}.ipynb")
    plugin.register(gradebook_url(), lab)  # the gradebook of a class that has begun
    with Gradebook(gradebook_url(), "rushlight") as gradebook:
        gradebook.update_or_create_student("ada")
        gradebook.update_or_create_submission(lab, "ada")
    assert find_released(lab) == lab and len(exercises(lab)) == 16
    assert {row.student: row.total for row in quick_grade(lab)} == {"ada": 40, "ben": 0}
