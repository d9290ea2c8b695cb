"""A gradebook with marks, made without grading."""

from nbgrader.api import Gradebook

from autograder.classroom.gradebook import gradebook_url
from autograder.classroom.plugin import register
from autograder.course import classroom

LAB = "01a_views"
_new = {}  # a new gradebook with a lab, as bytes: nbgrader takes long to make one


def open_marked(lab=LAB):
    file = classroom() / "gradebook.db"
    if is_new := not file.exists():
        file.write_bytes(_new.get(lab, b""))
    register(gradebook_url(), lab)
    if is_new:
        _new[lab] = file.read_bytes()
    return Gradebook(gradebook_url(), "rushlight")


def enter(gradebook, student, points, time=None, lab=LAB, **who):
    """A submission with these points by checks, of a student who is made if there is none."""
    gradebook.update_or_create_student(student, **who)
    submission = gradebook.update_or_create_submission(lab, student, **({"timestamp": time} if time else {}))
    (notebook,) = submission.notebooks
    for grade in notebook.grades:
        grade.auto_score, grade.needs_manual_grade = 0.0, False
    automatic = [grade for grade in notebook.grades if grade.cell.cell_type == "code"]
    automatic[0].auto_score = points
    gradebook.db.commit()
    gradebook.db.expire_all()
    return submission


def mark_by_hand(gradebook, student, points, lab=LAB):
    submission = gradebook.find_submission(lab, student)
    (grade,) = [each for each in submission.notebooks[0].grades if each.cell.cell_type == "markdown"]
    grade.manual_score = points
    gradebook.db.commit()
    gradebook.db.expire_all()
