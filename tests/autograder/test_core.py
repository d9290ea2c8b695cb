"""A class that takes only the core of a lab."""

import json
import os
import sqlite3
import subprocess
import sys

import nbformat
import pytest

from autograder import course, plugin
from autograder.course import check_name, exercises, is_further, points
from autograder.edition import edition
from autograder.gradebook import gradebook_url
from autograder.release import release

LAB = "01a_views"


@pytest.fixture
def further(released, tmp_path, monkeypatch):
    """The lab's further exercises. The class is a new one."""
    monkeypatch.setenv("RUSHLIGHT_CLASSROOM", str(tmp_path / "classroom"))
    return {name for cell in released.cells if is_further(cell) and (name := check_name(cell))}


def test_a_further_exercise_has_no_points_there_and_the_others_keep_theirs(further):
    before = points(LAB)
    plugin.take_core([LAB])
    assert points(LAB) == {name: worth for name, worth in before.items() if name not in further}
    assert further and further < before.keys()


def test_a_further_exercise_that_is_not_written_runs_as_the_reference(further):
    before = (edition(LAB) / "rushlight/aten/strided.py").read_text(encoding="utf-8")
    plugin.take_core([LAB])
    after = (edition(LAB) / "rushlight/aten/strided.py").read_text(encoding="utf-8")
    for name in exercises(LAB):
        stub = f'raise NotImplementedError("{name.partition(".")[2]} is this lab\'s exercise")'
        assert stub in before and (stub in after) == (name not in further)


def test_the_students_get_the_same_lab_as_the_grader(further, tmp_path):
    release([LAB], tmp_path / "repository", core=True)
    given = json.loads((tmp_path / "repository" / "labs" / LAB / f"{LAB}.ipynb").read_text(encoding="utf-8"))
    assert given == course.released(LAB)
    nbformat.validate(nbformat.from_dict(given))


def test_a_class_that_has_points_for_it_keeps_them(further, tmp_path):
    (tmp_path / "classroom").mkdir()
    course.set_environment()
    plugin.register(gradebook_url(), LAB)
    with pytest.raises(LookupError, match="has 01a_views with the points of its further exercises"):
        release([LAB], tmp_path / "repository", core=True)
    assert further < points(LAB).keys() and not (tmp_path / "repository").exists()


def test_a_new_gradebook_is_complete_without_the_courses_programs_on_the_path(tmp_path):
    script = "from autograder.gradebook import open_gradebook\nwith open_gradebook() as gradebook: print(len(gradebook.students))"
    environment = os.environ | {"PATH": os.defpath, "RUSHLIGHT_CLASSROOM": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True)
    assert done.stdout == "0\n", done.stderr
    with sqlite3.connect(tmp_path / "gradebook.db") as gradebook:
        assert gradebook.execute("SELECT version_num FROM alembic_version").fetchall()
