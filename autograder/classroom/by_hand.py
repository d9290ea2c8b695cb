"""Marks by hand: which of them still count as done after a submission is graded again.

nbgrader asks again for every mark that was given by hand whenever it grades a submission, also if the answer is the same. Here a
mark stays done if the answer and the points of the check are the same as when it was given. If one of them has changed, the old
score stays in the gradebook, and the answer waits for a mark again.

A digest of each answer is in a table of the gradebook, in the same transaction as its points. So a copy of the gradebook has the
digests of its own marks.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Sequence
from contextlib import closing
from urllib.parse import quote

from nbformat import NotebookNode
from nbgrader.api import Grade, Gradebook
from nbgrader.preprocessors import SaveAutoGrades
from nbgrader.utils import determine_grade, is_grade, is_solution
from sqlalchemy import text

from ..model import Submission, digest, is_added
from .gradebook import unusable

# nbgrader knows its own tables by name, and leaves this one alone
TABLE = "CREATE TABLE IF NOT EXISTS rushlight_answer (grade_id VARCHAR(32) PRIMARY KEY, digest VARCHAR(64) NOT NULL)"
KEEP = "INSERT OR REPLACE INTO rushlight_answer VALUES (:grade, :digest)"
_TWO = "SELECT digest FROM rushlight_answer WHERE grade_id IN (:one, :other)"
# in this order no step reads a table in which all students are
_KEPT = """
SELECT base_cell.name, rushlight_answer.digest, grade.auto_score FROM assignment
CROSS JOIN submitted_assignment ON submitted_assignment.assignment_id = assignment.id
CROSS JOIN notebook ON notebook.assignment_id = assignment.id
CROSS JOIN submitted_notebook ON submitted_notebook.notebook_id = notebook.id
    AND submitted_notebook.assignment_id = submitted_assignment.id
CROSS JOIN base_cell ON base_cell.notebook_id = notebook.id
CROSS JOIN grade ON grade.cell_id = base_cell.id AND grade.notebook_id = submitted_notebook.id
CROSS JOIN rushlight_answer ON rushlight_answer.grade_id = grade.id
WHERE assignment.name = :lab AND submitted_assignment.student_id = :student
"""

Entries = dict[str, tuple[str, float | None]]  # by the cell: the digest of the answer, and the points of the check


class SaveGrades(SaveAutoGrades):
    """nbgrader's step that enters points in the gradebook.

    The digest of an answer is entered together with its points. A notebook names its submission, and what was entered for it,
    only if all of it is entered.
    """

    def preprocess(self, nb: NotebookNode, resources: dict) -> tuple[NotebookNode, dict]:
        given = resources["nbgrader"]
        with Gradebook(given["db_url"], "rushlight") as gradebook:
            gradebook.db.execute(text(TABLE))
            rows = gradebook.db.execute(text(_KEPT), {"lab": given["assignment"], "student": given["student"]})
            self.before, self.now = _by_cell(rows), _entries(nb)
            gradebook.db.commit()
        nb, resources = super().preprocess(nb, resources)
        nb.metadata["entered"] = _name(self.now)
        nb.metadata["submission"] = nb.metadata.pop("restored")
        return nb, resources

    def _add_score(self, cell: NotebookNode, resources: dict) -> None:
        key = cell.metadata.nbgrader.grade_id
        grade = self.gradebook.find_grade(key, self.notebook_id, self.assignment_id, self.student_id)
        if grade.needs_manual_grade or self.before.get(key) != self.now[key]:
            self.gradebook.db.execute(text(KEEP), {"grade": grade.id, "digest": self.now[key][0]})
            super()._add_score(cell, resources)  # commits


def is_same_answer(gradebook: Gradebook, one: Grade, other: Grade) -> bool:
    """Whether the answers to which two grades belong are the same, as far as the gradebook tells."""
    gradebook.db.execute(text(TABLE))
    rows = gradebook.db.execute(text(_TWO), {"one": one.id, "other": other.id})
    return len({kept for (kept,) in rows}) < 2


def kept_digest(gradebook: Gradebook, grade: str) -> str | None:
    """The digest of the answer for which a grade was entered, if one is kept."""
    return gradebook.db.execute(
        text("SELECT digest FROM rushlight_answer WHERE grade_id = :grade"), {"grade": grade}
    ).scalar()


def is_entered(nb: dict, submission: Submission) -> bool:
    """Whether the gradebook has what was entered when this notebook was graded. It has not if another copy of the gradebook has
    taken its place since. Raises GradingError."""
    if "entered" not in nb["metadata"]:  # an earlier version of this course has graded it, or nbgrader alone
        return True
    path = submission.lab.course.folder / "gradebook.db"
    try:
        with closing(sqlite3.connect(f"file:{quote(str(path))}?mode=ro", uri=True)) as gradebook:
            if not gradebook.execute("SELECT 1 FROM sqlite_master WHERE name = 'rushlight_answer'").fetchone():
                return False
            given = {"lab": submission.lab.name, "student": submission.student}
            rows = gradebook.execute(_KEPT, given).fetchall()
    except sqlite3.Error as error:
        raise unusable(error) from None
    return nb["metadata"]["entered"] == _name(_by_cell(rows))


def _by_cell(rows: Iterable[Sequence]) -> Entries:
    return {name: (kept, points) for name, kept, points in rows}


def _name(entries: Entries) -> str:
    return digest(json.dumps(sorted(entries.items())))


def _entries(nb: NotebookNode) -> Entries:
    """Return the entries for each graded cell, besides marks by hand."""
    return {cell.metadata.nbgrader.grade_id: (_digest(nb, cell), _points(cell)) for cell in nb.cells if is_grade(cell)}


def _points(cell: NotebookNode) -> float | None:
    points, _ = determine_grade(cell)
    return None if points is None else float(points)


def _digest(nb: NotebookNode, question: NotebookNode) -> str:
    """A digest of what a mark by hand is for: the points that can be had, and what the student has written for it.

    For a written answer that is its text and every cell that the student added, because an answer may continue in one of these.
    For a check it is all code of the student. The ids of the other graded cells tell where a cell was added. Spaces at the ends of
    lines and empty lines at the ends of a cell are no part of it, and neither is an added cell with nothing else.
    """
    written: list[tuple[str, str | None]] = []
    for cell in nb.cells:
        counts = cell.cell_type == "code" if question.cell_type == "code" else is_added(cell) or cell is question
        said = "\n".join(line.rstrip() for line in cell.source.splitlines()).strip("\n")
        if is_added(cell) and counts and said:
            written.append((f"added {cell.cell_type}", said))
        elif is_solution(cell) or is_grade(cell):
            written.append((cell.metadata.nbgrader.grade_id, said if counts and is_solution(cell) else None))
    return digest(json.dumps([float(question.metadata.nbgrader.points), written]))
