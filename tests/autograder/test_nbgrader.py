"""nbgrader's own commands, run by hand as its documentation says, on a class in a directory of its own."""

import csv
import os
import shutil
import sqlite3
import subprocess
import sys
import zipfile

import nbformat
import pytest

from autograder import sample
from autograder.build import labs, points
from autograder.check import exercises

LAB = "01_strided"


@pytest.fixture
def nbgrader(tmp_path, root, submissions, isolated):
    """`nbgrader(command, ...)` on a class with the students asked for; `nbgrader.place` is where it lies."""

    def call(*arguments, grader="rushlight", fails=False):
        environment = os.environ | {"RUSHLIGHT_CLASSROOM": str(tmp_path), "RUSHLIGHT_GRADER": grader}
        done = subprocess.run(
            [sys.executable, "-m", "nbgrader", *arguments], cwd=root, env=environment, capture_output=True, text=True
        )
        assert (done.returncode != 0) == fails, done.stderr
        return done.stdout + done.stderr

    def enrol(*students):
        for student in students:
            shutil.copytree(submissions / student, tmp_path / "submitted" / student)

    def hand_in(student, lab, notebook):
        path = tmp_path / "submitted" / student / lab / f"{lab}.ipynb"
        path.parent.mkdir(parents=True)
        nbformat.write(notebook, path)

    call.enrol, call.hand_in, call.place = enrol, hand_in, tmp_path
    return call


def grades(place):
    with (place / "grades.csv").open() as file:
        return {row["student_id"]: float(row["raw_score"]) for row in csv.DictReader(file)}


@pytest.mark.parametrize("lab", labs())
@pytest.mark.parametrize("grader", ["rushlight", "stock"])
def test_the_reference_gets_full_marks_and_an_untouched_lab_none(nbgrader, grader, lab, released, answers):
    nbgrader.hand_in("untouched", lab, released)
    sample.fill(released, answers)
    nbgrader.hand_in("all_right", lab, released)
    nbgrader("generate_assignment", lab, grader=grader)
    nbgrader("autograde", lab, grader=grader)
    nbgrader("generate_feedback", lab, grader=grader)
    nbgrader("export", "--to", str(nbgrader.place / "grades.csv"), grader=grader)
    assert grades(nbgrader.place) == {"all_right": sum(points(lab).values()), "untouched": 0.0}
    page = (nbgrader.place / "feedback" / "untouched" / lab / f"{lab}.html").read_text()
    assert f"{exercises(lab)[0]}: not attempted" in page


def test_a_file_that_is_no_notebook_does_not_stop_the_others(nbgrader):
    nbgrader.enrol("corrupt_file", "untouched")
    said = nbgrader("autograde", LAB, fails=True)
    assert "corrupt_file" in said
    assert (nbgrader.place / "autograded" / "untouched" / LAB / f"{LAB}.ipynb").exists()


def test_a_manual_score_survives_grading_again(nbgrader):
    nbgrader.enrol("half_done")
    nbgrader("autograde", LAB)
    with sqlite3.connect(nbgrader.place / "gradebook.db") as gradebook:
        changed = gradebook.execute(
            "update grade set manual_score = 1.5 where needs_manual_grade = 1 or auto_score = 0"
        )
        assert changed.rowcount > 0
        before = gradebook.execute("select id, manual_score from grade order by id").fetchall()
    nbgrader("autograde", LAB, "--force")
    with sqlite3.connect(nbgrader.place / "gradebook.db") as gradebook:
        assert gradebook.execute("select id, manual_score from grade order by id").fetchall() == before


def test_validate_passes_the_reference_and_fails_the_untouched_lab(nbgrader, root):
    assert "Success" in nbgrader("validate", f"solutions/{LAB}/{LAB}.ipynb")
    assert "VALIDATION FAILED" in nbgrader("validate", f"labs/{LAB}/{LAB}.ipynb")


def test_the_working_tree_is_left_as_it_was(nbgrader, root):
    nbgrader.enrol("untouched")
    before = {path: path.read_bytes() for path in (root / "labs").rglob("*.*")}
    nbgrader("generate_assignment", LAB)
    nbgrader("autograde", LAB)
    assert {path: path.read_bytes() for path in (root / "labs").rglob("*.*")} == before


def test_downloads_from_an_lms_are_collected_whatever_it_made_of_their_names(nbgrader, submissions):
    archive = nbgrader.place / "downloaded" / LAB / "archive"
    archive.mkdir(parents=True)
    lab = submissions / "half_done" / LAB / f"{LAB}.ipynb"
    shutil.copy(lab, archive / f"doejane_12345_678901_{LAB}.ipynb")
    shutil.copy(lab, archive / f"roejohn_LATE_12346_678902_{LAB}-1.ipynb")
    with zipfile.ZipFile(archive / "submissions.zip", "w") as bundle:
        bundle.write(lab, f"Ada Poe_77_assignsubmission_file_{LAB}.ipynb")
        bundle.write(lab, f"Ben Loe_78_assignsubmission_file/{LAB}.ipynb")
    nbgrader("zip_collect", LAB)
    for student in ("doejane", "roejohn", "Ada Poe", "Ben Loe"):
        assert (nbgrader.place / "submitted" / student / LAB / f"{LAB}.ipynb").read_text() == lab.read_text()


def test_a_roster_is_imported(nbgrader):
    (nbgrader.place / "roster.csv").write_text("id,last_name,first_name,email\ndoejane,Doe,Jane,jane@example.org\n")
    nbgrader("db", "student", "import", str(nbgrader.place / "roster.csv"))
    assert "doejane (Doe, Jane) -- jane@example.org" in nbgrader("db", "student", "list")
