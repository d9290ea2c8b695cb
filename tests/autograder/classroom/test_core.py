"""A class that takes only the core of a lab."""

import json
import os
import shutil
import sqlite3
import subprocess
import sys
from concurrent.futures import Executor, Future

import nbformat
import pytest
from sweep import sweep

from autograder import course
from autograder.author import build
from autograder.classroom import grade as grading
from autograder.classroom import kept_releases, plugin
from autograder.classroom.gradebook import gradebook_url, open_gradebook
from autograder.classroom.release import release
from autograder.engine.edition import edition, versions
from autograder.engine.observe import GradingError
from autograder.model import Course, Lab, Submission, check_name, exercise_name, is_further

LAB = "01a_views"


@pytest.fixture
def further(released, tmp_path, monkeypatch):
    """The lab's further exercises. The class is a new one."""
    monkeypatch.setenv("RUSHLIGHT_CLASSROOM", str(tmp_path / "classroom"))
    return {name for cell in released.cells if is_further(cell) and (name := check_name(cell))}


def test_a_further_exercise_has_no_points_there_and_the_others_keep_theirs(further):
    before = Lab(LAB).points
    kept_releases.take_only_core(Course(), [Lab(LAB)])
    assert Lab(LAB).points == {name: worth for name, worth in before.items() if name not in further}
    assert further and further < before.keys()


def _modules():
    """The text of the modules of the lab's exercises, in the edition that runs them."""
    paths = {name.rpartition(".")[0].replace(".", "/") for name in Lab(LAB).exercises}
    return "".join((edition(Lab(LAB)) / f"rushlight/{path}.py").read_text(encoding="utf-8") for path in sorted(paths))


def test_a_further_exercise_that_is_not_written_runs_as_the_reference(further):
    before = _modules()
    kept_releases.take_only_core(Course(), [Lab(LAB)])
    after = _modules()
    for name in Lab(LAB).exercises:
        stub = f'raise NotImplementedError("{name.rpartition(".")[2]} is this lab\'s exercise")'
        assert stub in before and (stub in after) == (name not in further)


def test_the_students_get_the_same_lab_as_the_grader(further, tmp_path):
    release(Course(), [Lab(LAB)], tmp_path / "repository", core=True)
    given = json.loads((tmp_path / "repository" / "labs" / LAB / f"{LAB}.ipynb").read_text(encoding="utf-8"))
    assert given == Lab(LAB).released
    nbformat.validate(nbformat.from_dict(given))


def test_a_class_that_has_points_for_it_keeps_them(further, tmp_path):
    (tmp_path / "classroom").mkdir()
    course.set_environment()
    plugin.register(gradebook_url(), LAB)
    with pytest.raises(LookupError, match="has 01a_views with the points of its further exercises"):
        release(Course(), [Lab(LAB)], tmp_path / "repository", core=True)
    assert further < Lab(LAB).points.keys() and not (tmp_path / "repository").exists()


@pytest.mark.parametrize("has_records", [False, True])
@pytest.mark.parametrize(
    "fails",
    sweep(["_write", "shutil.copytree", "kept_releases.expect_checks", "kept_releases.text_for_students"], every=4),
)
def test_a_release_that_fails_leaves_no_trace(further, tmp_path, monkeypatch, fails, has_records):
    def fail(*_, **__):
        raise OSError("no space left")

    if has_records:
        release(Course(), [Lab("01b_reshape")], tmp_path / "earlier", core=True)
    before = contents(tmp_path)
    monkeypatch.setattr(f"autograder.classroom.release.{fails}", fail)
    with pytest.raises(OSError, match="no space left"):
        release(Course(), [Lab(LAB), Lab("01b_reshape")], tmp_path / "new" / "repository", core=True)
    assert contents(tmp_path) == before and further < Lab(LAB).points.keys()


def contents(place):
    """The files below a folder, and the folders."""
    return {path: path.read_bytes() if path.is_file() else None for path in place.rglob("*")}


@pytest.mark.sweep
def test_a_new_gradebook_is_complete_without_the_courses_programs_on_the_path(tmp_path):
    script = (
        "from autograder.classroom.gradebook import open_gradebook\n"
        "with open_gradebook() as gradebook: print(len(gradebook.students))"
    )
    environment = os.environ | {"PATH": os.defpath, "RUSHLIGHT_CLASSROOM": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True)
    assert done.stdout == "0\n", done.stderr
    with sqlite3.connect(tmp_path / "gradebook.db") as gradebook:
        assert gradebook.execute("SELECT version_num FROM alembic_version").fetchall()


class Worker(Executor):
    """Marks as another machine does, which has nothing of the class's folder."""

    def __init__(self, place, versions=None):
        self.place, self.versions = place, versions

    def submit(self, step, *arguments):
        future = Future()
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("RUSHLIGHT_CLASSROOM", str(self.place))
            if self.versions:  # all that the worker finds out itself
                patch.setattr(grading, "versions", lambda lab: self.versions)
            try:
                future.set_result(step(*arguments))
            except Exception as error:
                future.set_exception(error)
        return future


@pytest.fixture
def grade_there(further, tmp_path, submissions, quick_grade, isolated):
    """`grade_there(…)` grades a class that takes only the core, with such a worker."""
    kept_releases.take_only_core(Course(), [Lab(LAB)])
    shutil.copytree(submissions / "all_right", tmp_path / "classroom" / "submitted" / "ada")
    return lambda **there: quick_grade(LAB, executor=Worker(tmp_path / "another machine", **there))


@pytest.mark.sweep
def test_a_worker_needs_nothing_of_the_class(grade_there):
    (row,) = grade_there()
    assert (row.problem, row.scores) == ("", Lab(LAB).points)


@pytest.mark.sweep
def test_an_older_submission_is_restored_there_on_the_release_from_which_it_was_made(
    grade_there, monkeypatch, tmp_path
):
    kept_releases.keep_release(Lab(LAB))
    path = tmp_path / "newer" / LAB / f"{LAB}.ipynb"
    path.parent.mkdir(parents=True)
    notebook = nbformat.read(Lab(LAB).path, as_version=4)
    before = notebook.cells[0].source
    notebook.cells[0].source = "A new title"
    monkeypatch.setattr(course, "RELEASED", tmp_path / "newer")
    nbformat.write(build.stamped(notebook, Lab(LAB), path), path)
    (row,) = grade_there()
    graded = nbformat.read(Submission(Lab(LAB), "ada").graded_path, as_version=4)
    assert (row.scores, graded.cells[0].source) == (Lab(LAB).points, before)


@pytest.mark.parametrize("name", sweep(["torch", "rushlight", "Python"], keep=["rushlight"]))
def test_a_worker_with_other_versions_ends_grading_before_anything_is_recorded(grade_there, name):
    with pytest.raises(GradingError, match=f"has {name} 0.0, and this class is graded with .*: install") as raised:
        grade_there(versions=versions(Lab(LAB)) | {name: "0.0"})
    assert "\n" not in str(raised.value)
    with open_gradebook() as gradebook:
        assert LAB not in [lab.name for lab in gradebook.assignments]


def test_an_exercise_that_becomes_a_further_one_keeps_its_points_in_a_class_that_began_with_it(
    further, tmp_path, monkeypatch
):
    kept_releases.take_only_core(Course(), [Lab(LAB)])
    kept_releases.keep_release(Lab(LAB))
    before, name = Lab(LAB).points, next(iter(Lab(LAB).points))
    path = tmp_path / "newer" / LAB / f"{LAB}.ipynb"
    path.parent.mkdir(parents=True)
    notebook = nbformat.read(Lab(LAB).path, as_version=4)
    for cell in notebook.cells:
        if name in (exercise_name(cell), check_name(cell)):
            cell.metadata.rushlight["further"] = True
    monkeypatch.setattr(course, "RELEASED", tmp_path / "newer")
    nbformat.write(build.stamped(notebook, Lab(LAB), path), path)
    assert Lab(LAB).points == before
    assert (
        "goes on with the exercises of version" in kept_releases.keep_release(Lab(LAB))
        and len(Lab(LAB).kept_releases()) == 1
    )
