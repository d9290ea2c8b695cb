"""A term's table: a line for each student with the marks of all labs, the lowest of which may be dropped, and the sum.

It is an exporter for `nbgrader export --exporter=autograder.classroom.term.Term`, which `rushlight marks` runs.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator

from nbgrader.api import Gradebook
from nbgrader.plugins import ExportPlugin
from traitlets import Integer

from ..course import classroom
from ..model import Course, Lab, Submission
from ..text import neutral
from .grade import EARLIER, OTHER_POINTS, why_not_recorded
from .gradebook import mark_of
from .late import renew, submissions
from .lms import UNMARKED, listed
from .table import policy_of

EXAM = "exam_"  # how the name of an exam begins, which is an assignment like a lab


class Term(ExportPlugin):
    """Labs and exams with marks, one in a column. A lab that a student has not handed in is empty, and counts 0."""

    drop = Integer(
        0, help="How many labs of each student do not count: those with the smallest share of their points."
    ).tag(config=True)

    def export(self, gradebook: Gradebook) -> None:
        labs = sorted(assignment.name for assignment in gradebook.assignments if assignment.submissions)
        marks: dict[tuple[str, str], float] = {}
        worth: dict[str, float] = {}
        exams = {name for name in labs if name.startswith(EXAM)}
        for name in exams:
            worth[name] = gradebook.find_assignment(name).max_score
            marks |= {(name, entry.student_id): mark_of(entry) for entry in gradebook.assignment_submissions(name)}
        for lab in (Lab(name) for name in labs if name not in exams):
            renew(gradebook, lab, policy_of(lab))
            worth[lab.name] = gradebook.find_assignment(lab.name).max_score
            marks |= {(lab.name, entry.student_id): mark_of(entry) for entry in submissions(gradebook, lab)}
        with open(self.to or classroom() / "marks.csv", "w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(["id", "last_name", "first_name", "email", *labs, "dropped", "sum", "maximum", "percent"])
            for student in sorted(gradebook.students, key=lambda student: student.id):
                own = {lab: marks.get((lab, student.id), 0.0) for lab in labs if worth[lab]}
                lowest = sorted((lab for lab in own if lab not in exams), key=lambda lab: own[lab] / worth[lab])
                dropped = lowest[: min(self.drop, len(own) - 1)]
                total = round(sum(own.values()) - sum(own[lab] for lab in dropped), 2)
                most = sum(worth[lab] for lab in own if lab not in dropped)
                who = [student.id, student.last_name, student.first_name, student.email]
                scores = [marks.get((lab, student.id), _without_mark(lab, student.id)) for lab in labs]
                percent = round(100 * total / most, 2) if most else ""
                cells = [*who, *scores, " ".join(dropped), total, most, percent]
                writer.writerow([neutral(cell) if isinstance(cell, str) else cell for cell in cells])


def _without_mark(lab: str, student: str) -> str:
    return "not graded" if not lab.startswith(EXAM) and Submission(Lab(lab), student).folder.is_dir() else ""


def remarks(gradebook: Gradebook, progress: Callable[[int, int, str], None]) -> Iterator[str]:
    """Yield what the table does not say of the marks, a line each: which are those of an earlier submission, which are missing, and
    which written answers wait for marks. `progress(done, total, lab)` is called before each lab."""
    handed_in = {lab: [submission.student for submission in lab.submissions()] for lab in Course().released_labs()}
    for done, lab in enumerate(handed_in):
        progress(done, len(handed_in), lab.name)
        entered = {entry.student_id: entry for entry in submissions(gradebook, lab)}
        there = [submission for name in entered if (submission := Submission(lab, name)).path.exists()]
        for text, names in (
            (UNMARKED, [student for student, entry in entered.items() if entry.needs_manual_grade]),
            *((why, [one.student for one in there if why_not_recorded(one) == why]) for why in (EARLIER, OTHER_POINTS)),
            ("handed in and NOT graded", [student for student in handed_in[lab] if student not in entered]),
        ):
            if names:
                yield f"{lab}: {listed(text, sorted(names))}"
