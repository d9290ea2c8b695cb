"""Marks by hand, as the formgrader enters them: what grading again does with them."""

import json
import shutil

import nbformat
import pytest
from marked import LAB, open_marked

from autograder.instructor import by_hand

ESSAY, CHECK, EXERCISE = "question-a-row-that-keeps-a-matrix", "check-strided-permute", "strided-permute"


@pytest.fixture
def classroom(tmp_path, monkeypatch, isolated):
    monkeypatch.setenv("RUSHLIGHT_CLASSROOM", str(tmp_path))
    (tmp_path / "seed").write_text("1")  # the same for all tests, so that the cases are drawn once
    return tmp_path


@pytest.fixture
def hand_in(classroom, released, answers):
    """`hand_in(student, essay)`: one exercise is right, and there is this written answer."""

    def hand_in(student, essay, code=""):
        notebook = nbformat.from_dict(json.loads(json.dumps(released)))
        cells = {cell.id: cell for cell in notebook.cells}
        cells[EXERCISE].source, cells[ESSAY].source = code + answers[EXERCISE], essay
        path = classroom / "submitted" / student / LAB / f"{LAB}.ipynb"
        path.parent.mkdir(parents=True, exist_ok=True)
        nbformat.write(notebook, path)

    return hand_in


def grade_of(gradebook, student, cell):
    return gradebook.find_grade(cell, LAB, LAB, student)


def put(student, score, cell=ESSAY):
    """What the formgrader does when a score is typed in."""
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


def test_points_by_hand_for_a_check_are_asked_for_again_if_the_check_decides_otherwise(hand_in, quick_grade):
    hand_in("ada", "Strides.")
    quick_grade(LAB)
    put("ada", 1, CHECK)
    with open_marked() as gradebook:
        grade_of(gradebook, "ada", CHECK).auto_score = 0.0  # as an earlier version of the check decided
        gradebook.db.commit()
    quick_grade(LAB, force=True)
    assert state("ada", CHECK) == (1, True)


def test_an_answer_that_was_marked_before_there_were_digests_is_asked_for_once(classroom, hand_in, quick_grade):
    hand_in("ada", "Strides.")
    quick_grade(LAB)
    put("ada", 3)
    shutil.rmtree(classroom / "answers")
    quick_grade(LAB, force=True)
    assert state("ada") == (3, True)
    put("ada", 3)
    quick_grade(LAB, force=True)
    assert state("ada") == (3, False)


@pytest.mark.parametrize("text", ["", "[]", '{"check'])
def test_a_broken_file_of_digests_asks_again_and_is_replaced(classroom, hand_in, quick_grade, text):
    hand_in("ada", "Strides.")
    quick_grade(LAB)
    path = by_hand.answers_path(LAB, "ada")
    before = path.read_text()
    put("ada", 3)
    path.write_text(text)
    quick_grade(LAB, force=True)
    assert state("ada") == (3, True) and path.read_text() == before


def test_a_copy_of_a_groups_notebook_is_asked_for_and_done_with_it(classroom, hand_in, quick_grade):
    (classroom / "groups.csv").write_text("group,student\nred,ada\nred,ben\n")
    with open_marked() as gradebook:
        for student in ("ada", "ben"):
            gradebook.update_or_create_student(student)
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
