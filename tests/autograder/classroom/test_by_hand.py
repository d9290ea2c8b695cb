"""Marks by hand, as the formgrader enters them: what grading again does with them."""

import json
import multiprocessing
import os
import shutil
import signal
import sqlite3
import sys
from concurrent.futures import Future
from contextlib import closing
from datetime import timedelta

import nbformat
import pytest
from at_once import AtOnce
from first_lab import ALL, of
from marked import LAB, open_marked
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell
from sweep import sweep

from autograder import course
from autograder.classroom import by_hand
from autograder.classroom.lms import pack_feedback
from autograder.engine.observe import NotGraded
from autograder.model import Lab

ESSAY, CHECK, EXERCISE = (
    "question-a-row-that-keeps-a-matrix",
    "check-aten-strided-permute",
    "aten-strided-permute",
)


@pytest.fixture
def classroom(classroom, isolated):
    return classroom


@pytest.fixture
def hand_in(classroom, released, answers):
    """`hand_in(student, essay)`: one exercise is right, and there is this written answer."""

    def hand_in(student, essay, code="", added=()):
        notebook = nbformat.from_dict(json.loads(json.dumps(released)))
        cells = {cell.id: cell for cell in notebook.cells}
        cells[EXERCISE].source, cells[ESSAY].source = code + answers[EXERCISE], essay
        notebook.cells += added
        path = classroom / "submitted" / student / LAB / f"{LAB}.ipynb"
        path.parent.mkdir(parents=True, exist_ok=True)
        nbformat.write(notebook, path)

    return hand_in


def grade_of(gradebook, student, cell):
    return gradebook.find_grade(cell, LAB, LAB, student)


def put(student, score, cell=ESSAY):
    """Enter a score as the formgrader does when it is typed in."""
    with open_marked() as gradebook:
        grade = grade_of(gradebook, student, cell)
        grade.manual_score = score
        grade.needs_manual_grade = score is None and grade.auto_score is None
        gradebook.db.commit()


def state(student, cell=ESSAY):
    with open_marked() as gradebook:
        grade = grade_of(gradebook, student, cell)
        return grade.manual_score, grade.needs_manual_grade


def test_a_marked_answer_stays_done_when_it_is_graded_again_and_waits_if_its_text_has_changed(hand_in, quick_grade):
    hand_in("ada", "Strides.")
    quick_grade(LAB)
    assert state("ada") == (None, True)
    quick_grade(LAB, force=True)
    assert state("ada") == (None, True)
    put("ada", 3)
    quick_grade(LAB, force=True)
    assert state("ada") == (3, False)
    hand_in("ada", "Strides.", code="# another style\n")  # the code has changed, and the text has not
    quick_grade(LAB)
    assert state("ada") == (3, False)
    hand_in("ada", "Strides, and sizes.")
    quick_grade(LAB)
    assert state("ada") == (3, True)
    quick_grade(LAB, force=True)
    assert state("ada") == (3, True)
    put("ada", 4)
    quick_grade(LAB, force=True)
    assert state("ada") == (4, False)


@pytest.mark.sweep  # in `make test` the code of an added cell changes
def test_points_by_hand_for_a_check_stay_done_until_the_code_changes(hand_in, quick_grade):
    hand_in("ada", "Strides.")
    quick_grade(LAB)
    put("ada", 1, CHECK)
    quick_grade(LAB, force=True)
    assert state("ada", CHECK) == (1, False)
    hand_in("ada", "Strides, and sizes.")
    quick_grade(LAB)
    assert state("ada", CHECK) == (1, False)
    hand_in("ada", "Strides, and sizes.", code="# another style\n")
    quick_grade(LAB)
    assert state("ada", CHECK) == (1, True)


@pytest.mark.sweep
def test_points_by_hand_for_a_check_are_asked_for_again_if_the_check_decides_otherwise(hand_in, quick_grade):
    hand_in("ada", "Strides.")
    quick_grade(LAB)
    put("ada", 1, CHECK)
    with open_marked() as gradebook:
        grade_of(gradebook, "ada", CHECK).auto_score = 0.0  # as an earlier version of the check decided
        gradebook.db.commit()
    quick_grade(LAB, force=True)
    assert state("ada", CHECK) == (1, True)


@pytest.mark.sweep
@pytest.mark.parametrize(
    ("kind", "waits"),
    sweep([(new_code_cell, {ESSAY, CHECK}), (new_markdown_cell, {ESSAY})], every=2),
    ids=["code", "text"],
)
def test_an_answer_waits_again_if_a_cell_that_the_student_added_has_changed(hand_in, quick_grade, kind, waits):
    hand_in("ada", "Strides: see below.", added=[kind("nothing = 1")])
    quick_grade(LAB)
    put("ada", 0)
    put("ada", 1, CHECK)
    quick_grade(LAB, force=True)
    assert (state("ada"), state("ada", CHECK)) == ((0, False), (1, False))
    hand_in("ada", "Strides: see below.", added=[kind("everything = 2")])
    quick_grade(LAB)
    assert {cell for cell in (ESSAY, CHECK) if state("ada", cell)[1]} == waits


def notebook_of(*cells):
    """A restored notebook of these cells: (id, kind, source)."""
    made = []
    for key, kind, source in cells:
        cell = (new_markdown_cell if kind == "text" else new_code_cell)(source, id=key)
        if key[0] != "a":
            points = {"points": 2} if kind != "answer" else {}
            cell.metadata.nbgrader = {"grade_id": key, "grade": kind != "answer", "solution": kind != "check"} | points
        made.append(cell)
    return NotebookNode(cells=made, metadata={})


BEFORE = [
    ("one", "answer", "x"),
    ("added-1", "code", "y"),
    ("check-one", "check", "check()"),
    ("why", "text", "z"),
    ("added-2", "text", "w"),
]


@pytest.mark.parametrize(
    ("position", "after", "changed"),
    [
        (0, [("one", "answer", "X")], {"check-one"}),
        (0, [("one", "answer", "x\n\ny"), ("added-1", "code", "")], {"check-one", "why"}),
        (1, [("added-1", "code", "Y")], {"check-one", "why"}),
        (1, [("check-one", "check", "check()"), ("added-1", "code", "y")], {"check-one", "why"}),
        (1, [("added-1", "text", "y")], {"check-one", "why"}),
        (2, [("check-one", "check", "check(case=1)")], set()),
        (3, [("why", "text", "Z")], {"why"}),
        (4, [("added-2", "text", "W")], {"why"}),
        (4, [("added-9", "text", "w")], set()),
        (4, [("added-2", "text", "\nw \n"), ("added-3", "text", " "), ("added-4", "code", "\n")], set()),
        (0, [("one", "answer", "x  \r\n"), ("added-1", "code", "y\n")], set()),
        (0, [("one", "answer", " x")], {"check-one"}),
    ],
)
def test_a_digest_is_of_what_a_mark_is_for(position, after, changed):
    before, now = [*BEFORE], [*BEFORE]
    now[position : position + len(after)] = after
    before, now = (by_hand._entries(notebook_of(*cells)) for cells in (before, now))
    assert {key for key in before if before[key] != now[key]} == changed


def test_no_lookup_reads_the_grades_of_all_labs_and_students(classroom, hand_in, quick_grade):
    hand_in("ada", "Strides.")
    quick_grade(LAB)
    with closing(sqlite3.connect(classroom / "gradebook.db")) as gradebook:
        steps = gradebook.execute(f"EXPLAIN QUERY PLAN {by_hand._KEPT}", {"lab": LAB, "student": "ada"}).fetchall()
    read = {step[-1].split()[1] for step in steps if step[-1].startswith("SCAN")}
    assert len(steps) == 7 and read <= {"assignment", "notebook", "base_cell"}


@pytest.mark.sweep
def test_a_mark_waits_again_if_the_question_is_worth_other_points(
    released, hand_in, quick_grade, tmp_path, monkeypatch
):
    hand_in("ada", "Strides.")
    quick_grade(LAB)
    put("ada", 3)
    put("ada", 1, CHECK)
    for cell in released.cells:
        if cell.metadata.get("nbgrader", {}).get("grade_id") == ESSAY:
            cell.metadata.nbgrader.points += 1
    (tmp_path / "labs" / LAB).mkdir(parents=True)
    monkeypatch.setattr(course, "RELEASED", tmp_path / "labs")
    nbformat.write(released, tmp_path / "labs" / LAB / f"{LAB}.ipynb")
    quick_grade(LAB)
    assert (state("ada"), state("ada", CHECK)) == ((3, True), (1, False))


@pytest.mark.sweep
def test_a_gradebook_from_a_backup_has_its_marks_for_its_own_answers(classroom, hand_in, quick_grade):
    gradebook, backup = classroom / "gradebook.db", classroom / "backup.db"
    hand_in("ada", "Strides.")
    quick_grade(LAB)
    put("ada", 3)
    put("ada", 1, CHECK)
    shutil.copy(gradebook, backup)
    hand_in("ada", "Strides, and sizes.", code="# another style\n")
    quick_grade(LAB)
    put("ada", 4)
    put("ada", 2, CHECK)
    shutil.copy(backup, gradebook)
    assert (state("ada"), state("ada", CHECK)) == ((3, False), (1, False))
    quick_grade(LAB)
    assert (state("ada"), state("ada", CHECK)) == ((3, True), (1, True))
    hand_in("ada", "Strides.")
    shutil.copy(backup, gradebook)
    quick_grade(LAB)
    assert (state("ada"), state("ada", CHECK)) == ((3, False), (1, False))


@pytest.mark.sweep
@pytest.mark.parametrize("statement", ["DROP TABLE rushlight_answer", "DELETE FROM rushlight_answer"])
def test_an_answer_that_was_marked_before_there_were_digests_is_asked_for_once(
    classroom, hand_in, quick_grade, statement
):
    hand_in("ada", "Strides.")
    quick_grade(LAB)
    put("ada", 3)
    with closing(sqlite3.connect(classroom / "gradebook.db")) as gradebook, gradebook:
        gradebook.execute(statement)
    quick_grade(LAB)
    assert state("ada") == (3, True)
    put("ada", 3)
    quick_grade(LAB, force=True)
    assert state("ada") == (3, False)


@pytest.mark.sweep
def test_what_an_earlier_version_of_this_course_has_graded_stays_as_it_is(classroom, hand_in, quick_grade):
    hand_in("ada", "Strides.")
    quick_grade(LAB)
    put("ada", 3)
    with closing(sqlite3.connect(classroom / "gradebook.db")) as gradebook, gradebook:
        gradebook.execute("DROP TABLE rushlight_answer")
    path = classroom / "autograded" / "ada" / LAB / f"{LAB}.ipynb"
    notebook = nbformat.read(path, as_version=4)
    del notebook.metadata["entered"]
    nbformat.write(notebook, path)
    os.utime(path, (1, 1))
    quick_grade(LAB)
    assert state("ada") == (3, False) and path.stat().st_mtime == 1


@pytest.fixture
def red(classroom):
    """A group of two in the class. Ada hands in for both."""
    (classroom / "groups.csv").write_text("group,student\nred,ada\nred,ben\n")
    with open_marked() as gradebook:
        for student in ("ada", "ben"):
            gradebook.update_or_create_student(student)


@pytest.mark.sweep
def test_a_copy_of_a_groups_notebook_is_asked_for_and_done_with_it(red, hand_in, quick_grade):
    hand_in("ada", "Strides.")
    quick_grade(LAB)
    put("ada", 3)
    quick_grade(LAB, force=True)
    assert state("ada") == state("ben") == (3, False)
    hand_in("ada", "Strides, and sizes.")
    quick_grade(LAB)
    assert state("ada") == state("ben") == (3, True)
    put("ada", 3)  # the same score for another text
    quick_grade(LAB)
    assert state("ada") == state("ben") == (3, False)


@pytest.mark.sweep
def test_a_copy_that_is_graded_alone_waits_until_the_groups_notebook_is_graded_too(red, hand_in, quick_grade):
    hand_in("ada", "Strides.")
    quick_grade(LAB)
    put("ada", 3)
    quick_grade(LAB)
    hand_in("ada", "Strides, and sizes.")
    ada, ben = quick_grade(LAB, executor=FailsOnce())
    assert "not graded" in ada.problem and not ben.problem
    assert (state("ada"), state("ben")) == ((3, False), (3, True))
    put("ben", 3)
    quick_grade(LAB, executor=FailsOnce())
    assert (state("ada"), state("ben")) == ((3, False), (3, False))  # it was marked itself
    quick_grade(LAB)
    assert (state("ada"), state("ben")) == ((3, True), (3, True))
    put("ada", 4)
    quick_grade(LAB)
    assert state("ada") == state("ben") == (4, False)


class FailsOnce(AtOnce):
    """The first submission takes too long."""

    def submit(self, step, *arguments):
        self.submit = super().submit
        future = Future()
        future.set_exception(NotGraded("it took too long"))
        return future


# Pages of feedback ---------------------------------------------------------------------------------------------------


def page(classroom, student):
    return classroom / "feedback" / student / LAB / f"{LAB}.html"


@pytest.mark.sweep
def test_a_page_is_written_again_if_marks_or_comments_have_changed_and_no_other_page_is(
    classroom, hand_in, quick_grade
):
    hand_in("ada", "Strides.")
    hand_in("ben", "Sizes.")
    quick_grade(LAB)
    before = {student: page(classroom, student).stat().st_mtime_ns for student in ("ada", "ben")}
    graded = (classroom / "autograded" / "ada" / LAB / f"{LAB}.ipynb").stat().st_mtime_ns
    put("ada", 3)
    ada, ben = quick_grade(LAB)
    assert (ada.is_rewritten, ada.waiting, ada.mark, ada.total) == (True, 0, 6, 3)
    assert (ben.is_rewritten, ben.waiting, ben.mark, ben.total) == (False, 1, 3, 3)
    assert f">{of(6, ALL)}<" in page(classroom, "ada").read_text()
    with open_marked() as gradebook:
        gradebook.find_comment(ESSAY, LAB, LAB, "ada").manual_comment = "say more"
        gradebook.db.commit()
    assert [row.is_rewritten for row in quick_grade(LAB)] == [True, False]
    assert "say more" in page(classroom, "ada").read_text()
    after = page(classroom, "ada").stat().st_mtime_ns
    assert [row.is_rewritten for row in quick_grade(LAB)] == [False, False]
    assert page(classroom, "ada").stat().st_mtime_ns == after > before["ada"]
    assert page(classroom, "ben").stat().st_mtime_ns == before["ben"]
    assert (classroom / "autograded" / "ada" / LAB / f"{LAB}.ipynb").stat().st_mtime_ns == graded


@pytest.mark.sweep
def test_a_page_says_that_an_answer_has_changed_since_it_was_marked(classroom, hand_in, quick_grade):
    hand_in("ada", "Strides.")
    quick_grade(LAB)
    assert "not marked yet" in page(classroom, "ada").read_text()
    put("ada", 3)
    hand_in("ada", "Strides, and sizes.")
    quick_grade(LAB)
    assert "to be marked again" in page(classroom, "ada").read_text()
    put("ada", 3)
    quick_grade(LAB)
    text = page(classroom, "ada").read_text()
    assert "to be marked again" not in text and "not marked yet" not in text


@pytest.mark.sweep
def test_a_page_says_of_a_cell_that_the_student_added_that_it_was_not_run(classroom, hand_in, quick_grade):
    hand_in("ada", "Strides.", added=[new_code_cell("print(1 + 1)"), new_code_cell(" ")])
    quick_grade(LAB)
    assert page(classroom, "ada").read_text().count("not run in grading") == 1


@pytest.mark.sweep
def test_a_page_from_before_the_present_marks_is_not_packed_and_named(classroom, hand_in, quick_grade):
    hand_in("ada", "Strides.")
    quick_grade(LAB)
    (classroom / "downloaded" / LAB).mkdir(parents=True)
    (classroom / "downloaded" / LAB / "names.json").write_text(
        json.dumps({"ada": f"ada_77_assignsubmission_file_{LAB}.ipynb"})
    )
    with open_marked() as gradebook:
        assert [count for _, count in pack_feedback(Lab(LAB), gradebook)[0]] == [1]
        gradebook.find_comment(ESSAY, LAB, LAB, "ada").manual_comment = "say more"  # the points are the same
        gradebook.db.commit()
        written, (line,) = pack_feedback(Lab(LAB), gradebook)
        assert not written and line.endswith("(1): ada")
    quick_grade(LAB)
    with open_marked() as gradebook:
        assert [count for _, count in pack_feedback(Lab(LAB), gradebook)[0]] == [1]


# Kills ---------------------------------------------------------------------------------------------------------------

# Grades again, with the notebook that was marked before, and ends at once where it is told to.
KILLED = """
import os, signal, sys
from concurrent.futures import Executor, Future
from nbgrader.preprocessors import AssignLatePenalties
from autograder.classroom import by_hand, grade, late
from autograder.model import Lab

def die(*_):
    os.kill(os.getpid(), signal.SIGKILL)

def die_at_call(number):
    def patched(function, count=[]):
        def call_or_die(*arguments):
            count.append(function)
            return die() if len(count) == number else function(*arguments)
        return call_or_die
    return patched

def die_after(function):
    return lambda *arguments: die(function(*arguments))

class Marked(Executor):
    def submit(self, *_):
        future = Future()
        future.set_result(open(sys.argv[2], encoding="utf-8").read())
        return future

where, name, how = {
    "before the scores": (by_hand.SaveGrades, "preprocess", die_at_call(1)),
    "amid the scores": (by_hand.SaveGrades, "_add_score", die_at_call(5)),
    "before the notebook": (by_hand, "_name", die_at_call(1)),
    "before the penalty": (AssignLatePenalties, "preprocess", die_at_call(1)),
    "before the feedback": (grade, "_let_record", die_after),
    "before the times": (late, "renew_times", die_at_call(1)),
    "before the penalties": (late, "renew", die_at_call(1)),
    "before the pages": (grade, "outdated_pages", die_at_call(1)),
}[sys.argv[1]]
setattr(where, name, how(getattr(where, name)))
grade.grade(Lab("01a_views"), force=True, jobs=1, executor=Marked())
"""


def grade_killed(moment, marked):
    sys.argv = ["-c", moment, marked]
    exec(KILLED, {})


MOMENTS = ["before the scores", "before the feedback", "before the penalties", "amid the scores", "before the times"]
MOMENTS += ["before the notebook", "before the pages", "before the penalty"]


class Keeper(AtOnce):
    """Keeps the last notebook that was marked in a file."""

    def __init__(self, path):
        self.path = path

    def submit(self, step, *arguments):
        future = super().submit(step, *arguments)
        self.path.write_text(future.result(), encoding="utf-8")
        return future


def everything(classroom):
    """All that is recorded of a student."""
    with open_marked() as gradebook:
        submission = gradebook.find_submission(LAB, "ada")
        scores = {grade.name: grade.to_dict() for grade in submission.notebooks[0].grades}
        for each in scores.values():
            del each["id"]
        return scores, submission.late_submission_penalty, submission.extension, page(classroom, "ada").read_text()


@pytest.mark.sweep
@pytest.mark.parametrize("moment", sweep(MOMENTS, keep=["before the feedback"]))
def test_what_a_kill_between_nbgraders_entries_and_ours_leaves_is_repaired_by_the_next_run(
    classroom, hand_in, quick_grade, monkeypatch, tmp_path_factory, moment
):
    aside = tmp_path_factory.mktemp("aside")
    hand_in("ada", "Strides.")
    (classroom / "submitted" / "ada" / LAB / "timestamp.txt").write_text("2027-03-17 12:00:00 UTC")
    with open_marked() as gradebook:
        gradebook.update_or_create_assignment(LAB, duedate="2027-03-15 22:00:00 UTC")
    quick_grade(LAB, executor=Keeper(aside / "marked.ipynb"))
    put("ada", 3)
    put("ada", 1.5, CHECK)
    (classroom / "late.csv").write_text("lab,late,grace\nevery lab,10%/day,\n")
    (classroom / "extensions.csv").write_text("student,lab,until\nada,01a,2027-03-16 22:00:00 UTC\n")
    if moment == "before the notebook":
        hand_in("ada", "Strides, and sizes.")
        marked = (aside / "marked.ipynb").read_text(encoding="utf-8")
        (aside / "marked.ipynb").write_text(marked.replace('"Strides."', '"Strides, and sizes."'), encoding="utf-8")
    shutil.copytree(classroom, aside / "class")

    process = multiprocessing.get_context("fork").Process(target=grade_killed, args=(moment, aside / "marked.ipynb"))
    process.start()
    process.join()
    assert process.exitcode == -signal.SIGKILL
    (row,) = quick_grade(LAB)
    found = everything(classroom)
    monkeypatch.setenv("RUSHLIGHT_CLASSROOM", str(aside / "class"))
    (undisturbed,) = quick_grade(LAB, force=True)
    assert found == everything(aside / "class") and found[1:3] == (0.45, timedelta(days=1))
    assert (row.mark, row.waiting) == (undisturbed.mark, undisturbed.waiting)
    assert (row.mark, row.waiting) == (4.05, int(moment == "before the notebook"))


@pytest.mark.sweep
def test_a_notebook_that_a_kill_left_without_scores_is_graded_also_if_it_has_a_page(classroom, hand_in, quick_grade):
    hand_in("ada", "Strides.")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(by_hand.SaveGrades, "preprocess", lambda self, nb, resources: (nb, resources))
        quick_grade(LAB)
    (row,) = quick_grade(LAB)
    assert row.total == 3 and state("ada") == (None, True)
