"""Grading that is killed, disturbed, or in the way of somebody else."""

import fcntl
import multiprocessing
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import pytest
from first_lab import POINTS
from nbgrader.preprocessors import SaveAutoGrades
from sweep import sweep

from autograder.classroom import grade as grading
from autograder.classroom import plugin
from autograder.classroom.grade import GradingError, grade, mark, write_csv
from autograder.model import Lab

LAB = "01a_views"
KINDS = ("all_right", "half_done", "untouched", "syntax_error", "subtly_wrong_strides")


@pytest.fixture
def classroom(classroom, isolated):
    return classroom


def enrol(classroom, submissions, size):
    for number in range(size):
        shutil.copytree(submissions / KINDS[number % len(KINDS)], classroom / "submitted" / f"student{number:02d}")


def grader(classroom, root):
    return subprocess.Popen(
        [sys.executable, "-m", "autograder.cli", "grade", "01a"],
        cwd=root,
        env=os.environ | {"RUSHLIGHT_CLASSROOM": str(classroom)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def recorded(classroom):
    """Every grade in the gradebook, by student and cell."""
    with sqlite3.connect(classroom / "gradebook.db") as gradebook:
        return dict(
            gradebook.execute(
                "select student.id || ' ' || base_cell.name, grade.auto_score from grade"
                " join base_cell on base_cell.id = grade.cell_id"
                " join submitted_notebook on submitted_notebook.id = grade.notebook_id"
                " join submitted_assignment on submitted_assignment.id = submitted_notebook.assignment_id"
                " join student on student.id = submitted_assignment.student_id"
            ).fetchall()
        )


def descendants():
    """Command lines of all processes that mark submissions."""
    lines = []
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                with open(f"/proc/{entry}/cmdline") as file:
                    lines.append(file.read().replace("\0", " "))
            except OSError:
                continue
    return [line for line in lines if "autograder.engine.subject" in line]


@pytest.mark.sweep
@pytest.mark.parametrize("size", (2, 8))
def test_a_grader_that_is_killed_again_and_again_ends_with_the_same_grades(
    classroom, submissions, root, tmp_path_factory, monkeypatch, quick_grade, size
):
    enrol(classroom, submissions, size)
    undisturbed = tmp_path_factory.mktemp("undisturbed")
    shutil.copytree(classroom / "submitted", undisturbed / "submitted")

    kills, moments = 0, random.Random(4)
    while kills < size // 2:
        process = grader(classroom, root)
        try:
            process.wait(moments.uniform(1.0, 8.0 + kills))
            break
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            process.wait()
            kills += 1
    assert kills
    last = grader(classroom, root)
    said, _ = last.communicate()
    assert last.returncode == 0, said

    shutil.copy(classroom / "seed", undisturbed / "seed")
    monkeypatch.setenv("RUSHLIGHT_CLASSROOM", str(undisturbed))
    write_csv(Lab(LAB), quick_grade(LAB))

    assert recorded(classroom) == recorded(undisturbed)
    assert (classroom / f"marks-{LAB}.csv").read_text() == (undisturbed / f"marks-{LAB}.csv").read_text()


@pytest.mark.sweep
@pytest.mark.parametrize("size", sweep([1, 2], every=2))
def test_a_killed_grader_leaves_no_process_behind(classroom, submissions, root, size):
    enrol(classroom, submissions, size)
    before = len(descendants())
    process = grader(classroom, root)
    deadline = time.monotonic() + 600
    while len(descendants()) <= before and time.monotonic() < deadline:
        time.sleep(0.05)
    process.kill()
    process.wait()
    deadline = time.monotonic() + 300
    while len(descendants()) > before:
        assert time.monotonic() < deadline, descendants()
        time.sleep(0.1)


def test_a_second_grader_is_told_that_there_is_a_first(classroom, submissions, quick_grade):
    enrol(classroom, submissions, 1)
    with (classroom / "grading.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(GradingError, match="is being graded already"):
            quick_grade(LAB)
    assert not (classroom / "gradebook.db").exists()


def test_a_gradebook_that_somebody_holds_stops_grading_with_what_to_do(
    classroom, submissions, monkeypatch, quick_grade
):
    enrol(classroom, submissions, 1)
    quick_grade(LAB)
    before = recorded(classroom)
    monkeypatch.setattr(grading, "LOCKED_SECONDS", 0.0)
    holder = sqlite3.connect(classroom / "gradebook.db", isolation_level=None)
    holder.execute("begin exclusive")
    try:
        with pytest.raises(GradingError, match="another program holds the gradebook"):
            quick_grade(LAB, force=True)
    finally:
        holder.execute("rollback")
        holder.close()
    assert recorded(classroom) == before
    assert [row.total for row in quick_grade(LAB)] == [POINTS]


@pytest.mark.sweep
def test_a_full_disk_stops_grading_and_loses_nothing(classroom, submissions, monkeypatch, quick_grade):
    enrol(classroom, submissions, 1)
    quick_grade(LAB)
    before = recorded(classroom)

    def full(*arguments, **options):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("nbconvert.writers.FilesWriter.write", full)
        with pytest.raises(GradingError, match="no space left on device"):
            quick_grade(LAB, force=True)
    assert recorded(classroom) == before
    assert [row.total for row in quick_grade(LAB)] == [POINTS]


@pytest.mark.sweep  # an error costs one submission in `test_grade.py` too
@pytest.mark.parametrize(
    "words", ["database is locked", "No space left on device", "readonly database", "x\nKeyboardInterrupt"]
)
def test_words_in_an_error_do_not_stop_the_class(classroom, submissions, monkeypatch, quick_grade, words):
    enrol(classroom, submissions, 2)
    save = SaveAutoGrades.preprocess

    def fail_for_the_first(self, nb, resources):
        if resources["nbgrader"]["student"] == "student00":
            raise FileNotFoundError(2, "no such file", words)
        return save(self, nb, resources)

    monkeypatch.setattr(SaveAutoGrades, "preprocess", fail_for_the_first)
    first, second = quick_grade(LAB)
    assert "FileNotFoundError" in first.remark() and second.total == 14


def test_a_classroom_that_cannot_be_written_is_refused(classroom, submissions, monkeypatch, quick_grade):
    enrol(classroom, submissions, 1)
    can_open = Path.open

    def read_only(self, mode="r", *arguments, **options):
        if "r" in mode:
            return can_open(self, mode, *arguments, **options)
        raise OSError(30, "Read-only file system", str(self))

    monkeypatch.setattr("pathlib.Path.open", read_only)
    with pytest.raises(OSError, match="Read-only"):
        quick_grade(LAB)


@pytest.mark.sweep  # `test_by_hand.py` has this in detail
def test_manual_scores_and_comments_survive_grading_again(classroom, submissions, quick_grade):
    enrol(classroom, submissions, 1)
    quick_grade(LAB)
    with sqlite3.connect(classroom / "gradebook.db") as gradebook:
        gradebook.execute("update grade set manual_score = 1.5")
        gradebook.execute("update comment set manual_comment = 'see me'")
    quick_grade(LAB, force=True)
    with sqlite3.connect(classroom / "gradebook.db") as gradebook:
        assert {score for (score,) in gradebook.execute("select manual_score from grade")} == {1.5}
        assert {text for (text,) in gradebook.execute("select manual_comment from comment")} == {"see me"}


@pytest.mark.sweep  # `test_late.py` grades one too
def test_a_late_submission_is_graded_and_nbgrader_knows_how_late(classroom, submissions, quick_grade):
    enrol(classroom, submissions, 1)
    (classroom / "submitted" / "student00" / LAB / "timestamp.txt").write_text("2027-03-02 12:00:00 UTC")
    from nbgrader.api import Gradebook

    plugin.register(f"sqlite:///{classroom / 'gradebook.db'}", LAB)
    with Gradebook(f"sqlite:///{classroom / 'gradebook.db'}", "rushlight") as gradebook:
        gradebook.update_or_create_assignment(LAB, duedate="2027-03-01 12:00:00 UTC")
    assert [row.total for row in quick_grade(LAB)] == [POINTS]
    with Gradebook(f"sqlite:///{classroom / 'gradebook.db'}", "rushlight") as gradebook:
        assert gradebook.find_submission(LAB, "student00").total_seconds_late == 24 * 3600


def mark_or_die(given, *more):
    if "fatal" in given["notebook"]:
        os.kill(os.getpid(), signal.SIGKILL)
    return mark(given, *more)


def mark_and_die(given, *more):
    os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.sweep
def test_a_submission_that_ends_every_marker_costs_itself_only(classroom, submissions, monkeypatch, forked_markers):
    enrol(classroom, submissions, 3)
    file = classroom / "submitted" / "student01" / LAB / f"{LAB}.ipynb"
    file.write_text(
        file.read_text().replace(
            '"cells": [', '"cells": [{"cell_type": "markdown", "id": "fatal", "metadata": {}, "source": "fatal"},', 1
        )
    )
    monkeypatch.setattr(grading, "mark", mark_or_die)
    rows = {row.student: row for row in grade(Lab(LAB), jobs=2)}
    assert {s for s, row in rows.items() if row.problem} == {"student01"}
    assert "ended the process" in rows["student01"].remark()
    assert rows["student00"].total == POINTS and rows["student02"].total == 0
    assert not (classroom / "feedback" / "student01").exists()  # so that the next run tries it again


def test_an_engine_that_breaks_stops_grading_with_what_to_do(classroom, submissions, monkeypatch, quick_grade):
    enrol(classroom, submissions, 2)
    monkeypatch.setattr(grading, "mark", mark_and_die)
    engine = ProcessPoolExecutor(1, multiprocessing.get_context("fork"))
    with pytest.raises(GradingError, match="run it again"):
        grade(Lab(LAB), jobs=1, executor=engine)
    monkeypatch.undo()
    monkeypatch.setenv("RUSHLIGHT_CLASSROOM", str(classroom))
    assert all(not row.problem for row in quick_grade(LAB))
