"""The class's gradebook, which is nbgrader's."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import quote

from nbgrader.api import Gradebook, SubmittedAssignment
from sqlalchemy.exc import SQLAlchemyError

from ..course import classroom, set_environment
from ..engine.observe import GradingError

HELD = "another program holds the gradebook (a formgrader?): close it and run this again to go on"


def gradebook_url() -> str:
    """The gradebook, as SQLAlchemy names it."""
    return f"sqlite:///{classroom() / 'gradebook.db'}"


@contextmanager
def open_gradebook(read_only: bool = False) -> Iterator[Gradebook]:
    """Raises GradingError if it cannot be used, such as half of a file."""
    url = gradebook_url()
    if read_only:
        url = f"sqlite:///file:{quote(str(classroom() / 'gradebook.db'))}?mode=ro&uri=true"
    set_environment()
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


def mark_of(submission: SubmittedAssignment) -> float:
    """The points of a submission, written answers included, less those for handing it in late."""
    return max(0.0, round(submission.score - (submission.late_submission_penalty or 0.0), 2))


def seconds_late(submission: SubmittedAssignment) -> float:
    """nbgrader cannot say it of an extension of no due date."""
    return submission.total_seconds_late if submission.assignment.duedate else 0.0
