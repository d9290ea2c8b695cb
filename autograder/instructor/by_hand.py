"""Marks by hand: which of them still count as done after a submission is graded again.

nbgrader asks again for every mark that was given by hand whenever it grades a submission, also if the answer is the same. Here a
mark stays done if the answer and the points of the check are those for which it was given. If one of them has changed, the old
score stays in the gradebook, and the answer waits for a mark again.
"""

from __future__ import annotations

import json
from pathlib import Path

from nbformat import NotebookNode
from nbgrader.preprocessors import SaveAutoGrades
from nbgrader.utils import determine_grade, is_grade, is_solution

from ..course import classroom, replacing
from .restore import digest


def answers_path(lab: str, student: str) -> Path:
    """The file with a digest of each answer that the gradebook has marks for."""
    return classroom() / "answers" / student / f"{lab}.json"


class SaveGrades(SaveAutoGrades):
    """nbgrader's step that enters points in the gradebook.

    The digests are written after the points. If a kill comes in between, the gradebook already asks for the answers that have
    changed, and the next run compares with the old digests again. A notebook has the digest of its submission only if its points
    are entered.
    """

    def preprocess(self, nb: NotebookNode, resources: dict) -> tuple[NotebookNode, dict]:
        path = answers_path(resources["nbgrader"]["assignment"], resources["nbgrader"]["student"])
        self.before, self.now = _read(path), _digests(nb)
        nb, resources = super().preprocess(nb, resources)
        if self.now != self.before:
            path.parent.mkdir(parents=True, exist_ok=True)
            with replacing(path) as part:
                part.write_text(json.dumps(self.now, indent=1), encoding="utf-8")
        nb.metadata["submission"] = nb.metadata.pop("restored")
        return nb, resources

    def _add_score(self, cell: NotebookNode, resources: dict) -> None:
        if not self._is_done(cell):
            super()._add_score(cell, resources)

    def _is_done(self, cell: NotebookNode) -> bool:
        """Whether the gradebook has all that there is to enter for a cell, and nobody has to mark it."""
        key = cell.metadata.nbgrader.grade_id
        grade = self.gradebook.find_grade(key, self.notebook_id, self.assignment_id, self.student_id)
        points, _ = determine_grade(cell, self.log)
        return not grade.needs_manual_grade and grade.auto_score == points and self.before.get(key) == self.now[key]


def _read(path: Path) -> dict[str, str]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):  # it was not graded yet, or a power cut left half of the file
        return {}
    return found if isinstance(found, dict) else {}


def _digests(nb: NotebookNode) -> dict[str, str]:
    """For each graded cell, a digest of what a mark by hand is for: the text of a written answer, or all code for a check."""
    code = "\n\n".join(cell.source for cell in nb.cells if is_solution(cell) and cell.cell_type == "code")
    graded = [cell for cell in nb.cells if is_grade(cell)]
    return {cell.metadata.nbgrader.grade_id: digest(cell.source if is_solution(cell) else code) for cell in graded}
