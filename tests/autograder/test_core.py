"""A class that takes only the core of a lab."""

import json
import os

import nbformat
import pytest

from autograder import course, plugin
from autograder.course import check_name, exercise_name, points
from autograder.release import release

LAB = "01_strided"
FURTHER = "strided.permute"


@pytest.fixture
def further(released, tmp_path, monkeypatch):
    """The lab with one exercise that a class can leave out, in a class of its own."""
    monkeypatch.setenv("RUSHLIGHT_CLASSROOM", str(tmp_path / "classroom"))
    monkeypatch.setattr(course, "RELEASED", tmp_path)
    for cell in released.cells:
        if FURTHER in (check_name(cell), exercise_name(cell)):
            cell.metadata.rushlight["further"] = True
    (tmp_path / LAB).mkdir()
    nbformat.write(released, tmp_path / LAB / f"{LAB}.ipynb")
    return points(LAB)


def test_a_further_exercise_has_no_points_there_and_the_others_keep_theirs(further):
    plugin.take_core([LAB])
    assert points(LAB) == {name: worth for name, worth in further.items() if name != FURTHER}
    assert FURTHER in further


def test_the_students_get_the_same_lab_as_the_grader(further, tmp_path):
    release([LAB], tmp_path / "repository", core=True)
    given = json.loads((tmp_path / "repository" / "labs" / LAB / f"{LAB}.ipynb").read_text(encoding="utf-8"))
    assert given == course.released(LAB)
    nbformat.validate(nbformat.from_dict(given))


def test_a_class_that_has_points_for_it_keeps_them(further, tmp_path):
    (tmp_path / "classroom").mkdir()
    course.set_environment()
    plugin.register(plugin.gradebook_url(), LAB)
    with pytest.raises(LookupError, match="has 01_strided with the points of its further exercises"):
        release([LAB], tmp_path / "repository", core=True)
    assert points(LAB) == further and not os.path.exists(tmp_path / "repository")
