"""The class's gradebook, which is nbgrader's."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import quote

from nbgrader.api import Gradebook, SubmittedAssignment
from sqlalchemy.exc import SQLAlchemyError

from ..course import classroom, set_environment
from ..engine.observe import GradingError
from ..model import digest

HELD = "another program holds the gradebook (a formgrader?): close it and run this again to go on"


def gradebook_url() -> str:
    """The gradebook, as SQLAlchemy names it."""
    return f"sqlite:///{classroom() / 'gradebook.db'}"


@contextmanager
def open_gradebook(read_only: bool = False) -> Iterator[Gradebook]:
    """Raises GradingError if it cannot be used, such as half of a file."""
    set_environment()
    path = classroom() / "gradebook.db"
    url = f"sqlite:///file:{quote(str(path))}?mode=ro&uri=true" if read_only else gradebook_url()
    try:
        with Gradebook(url, "rushlight") as gradebook:
            yield gradebook
    except SQLAlchemyError as error:
        raise unusable(getattr(error, "orig", error)) from None


def unusable(reason: Exception) -> GradingError:
    """Return the error that says why the gradebook cannot be used."""
    name = getattr(reason, "sqlite_errorname", "")
    if name in ("SQLITE_BUSY", "SQLITE_LOCKED"):
        return GradingError(HELD)
    advice = ": put your last copy of it in its place" if name in ("SQLITE_CORRUPT", "SQLITE_NOTADB") else ""
    return GradingError(f"{classroom() / 'gradebook.db'} cannot be used ({reason}){advice}")


def entries_digest(submission: SubmittedAssignment) -> str:
    """The digest of all points, comments and penalties of a submission. A page of feedback has that of those which it shows."""
    entries: list[list] = []
    for notebook in submission.notebooks:
        entries.append([notebook.name, notebook.late_submission_penalty or 0.0])
        entries += sorted(
            [grade.name, grade.auto_score, grade.manual_score, grade.extra_credit, grade.needs_manual_grade]
            for grade in notebook.grades
        )
        entries += sorted([comment.name, comment.auto_comment, comment.manual_comment] for comment in notebook.comments)
    return digest(json.dumps(entries))


def mark_of(submission: SubmittedAssignment) -> float:
    """The points of a submission, written answers included, less those for handing it in late."""
    return max(0.0, round(submission.score - (submission.late_submission_penalty or 0.0), 2))
