"""Grading a class: nbgrader's autograde and feedback for every submission of a lab, one after the other, and the table.

Interrupted at any moment, it is run again and goes on where it stopped: what is graded already is not graded twice.
"""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import nbformat
from nbgrader.api import Gradebook, MissingEntry
from nbgrader.apps import NbGraderAPI
from traitlets.config import Config

from . import sandbox
from .build import points
from .check import PASSED
from .plugin import RELEASED, RunInSubject, classroom, configure, restore
from .run import check_name


class GradingError(Exception):
    """Nothing can be graded; the message says what to do."""


@dataclass
class Row:
    """One student's line: points per check, what each check came to, and a word on what went wrong."""

    student: str
    scores: dict[str, float] = field(default_factory=dict)
    outcomes: dict[str, str] = field(default_factory=dict)
    problem: str = ""
    seconds: float = 0.0

    @property
    def total(self) -> float:
        return sum(self.scores.values())

    def remark(self) -> str:
        if self.problem:
            return self.problem
        counts = Counter(outcome for outcome in self.outcomes.values() if outcome != PASSED)
        parts = []
        for outcome, count in counts.items():
            names = [name.partition(".")[2] for name, came in self.outcomes.items() if came == outcome]
            parts.append(f"{outcome}: {', '.join(names) if count <= 3 else count}")
        return "; ".join(parts)


def students(lab: str) -> list[str]:
    """Everybody who handed in a lab."""
    return sorted(path.parent.name for path in (classroom() / "submitted").glob(f"*/{lab}") if path.is_dir())


def grade(
    lab: str, force: bool = False, isolated: bool = True, progress: Callable[[str, str], None] = lambda *_: None
) -> list[Row]:
    """Grade every submission of a lab that is new or has changed (with `force`, every one), and write its feedback.

    `progress(student, check)` is called as each check is decided. Raises GradingError before anything is written if there
    are no submissions or no sandbox can be had. Manual scores and comments in the gradebook are nbgrader's and stay.
    """
    found = students(lab)
    if not found:
        raise GradingError(
            f"nobody has handed in {lab}: submissions go to {classroom()}/submitted/STUDENT/{lab}/{lab}.ipynb"
        )
    if isolated and (reason := sandbox.missing()):
        raise GradingError(reason)
    config = Config()
    configure(config)
    config.RunInSubject.isolated = isolated
    api = NbGraderAPI(config=config)
    rows = []
    for student in found:
        progress(student, "")
        RunInSubject.tick = lambda check, student=student: progress(student, check)
        rows.append(_grade_one(api, config.CourseDirectory.db_url, lab, student, force))
    return rows


def _grade_one(api: NbGraderAPI, db_url: str, lab: str, student: str, force: bool) -> Row:
    submitted = classroom() / "submitted" / student / lab / f"{lab}.ipynb"
    row = Row(student, problem=_unreadable(submitted, lab))
    if row.problem:
        return row
    if force or not _is_graded(submitted, lab, student):
        # with force: what an interrupted run has left of this submission is in the way
        for step in (api.autograde, api.generate_feedback):
            result = step(lab, student, force=True)
            error = (result.get("error") or "").strip()
            if "KeyboardInterrupt" in error:  # nbgrader catches it
                raise KeyboardInterrupt
            if not result["success"]:
                lines = (error or result["log"]).strip().splitlines()
                row.problem = f"nbgrader could not grade it: {lines[-1] if lines else 'no reason given'}"
                return row
    _read_grades(row, db_url, lab)
    return row


def _is_graded(submitted: Path, lab: str, student: str) -> bool:
    """Whether the submission, as it is now, has been graded to the end: the feedback is written last."""
    feedback = classroom() / "feedback" / student / lab / f"{lab}.html"
    return feedback.exists() and feedback.stat().st_mtime >= submitted.stat().st_mtime


def _unreadable(path: Path, lab: str) -> str:
    """Why a submission cannot be graded, in a line, or nothing."""
    if not path.exists():
        return f"no {path.name} in the submission"
    try:
        submitted = nbformat.read(path, as_version=4)
        restore(submitted, nbformat.read(RELEASED / lab / f"{lab}.ipynb", as_version=4))
    except nbformat.reader.NotJSONError:
        return "not a notebook: the file is not JSON"
    except (ValueError, AttributeError, KeyError, TypeError) as error:
        return f"not a notebook of this lab: {str(error).splitlines()[0] if str(error) else type(error).__name__}"
    except OSError as error:
        return f"cannot be read: {error.strerror}"
    return ""


def _autograded(lab: str, student: str) -> Path:
    return classroom() / "autograded" / student / lab / f"{lab}.ipynb"


def _read_grades(row: Row, db_url: str, lab: str) -> None:
    """Points from the gradebook, outcomes from the graded notebook."""
    notebook = nbformat.read(_autograded(lab, row.student), as_version=4)
    with Gradebook(db_url, "rushlight") as gradebook:
        try:
            grades = {
                grade.name: grade.auto_score
                for grade in gradebook.find_submission_notebook(lab, lab, row.student).grades
            }
        except MissingEntry:
            row.problem = "graded, but not in the gradebook: grade again with --force"
            return
    for cell in notebook.cells:
        if (name := check_name(cell)) and (key := cell.metadata.nbgrader.grade_id) in grades:
            row.scores[name] = grades[key] or 0.0
            row.outcomes[name] = (
                cell.outputs[0].metadata.get("rushlight", {}).get("outcome", "graded by nbgrader alone")
            )


def write_csv(lab: str, rows: list[Row]) -> Path:
    """The table as a file, moved into place when it is whole. Returns where it is."""
    path = classroom() / f"grades-{lab}.csv"
    aside = path.with_suffix(".part")
    worth = points(lab)
    with aside.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["student", *worth, "total", "maximum", "remark"])
        for row in rows:
            scores = [row.scores.get(name, "") for name in worth]
            writer.writerow([row.student, *scores, row.total, sum(worth.values()), row.remark()])
    aside.replace(path)
    return path
