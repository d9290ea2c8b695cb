"""Late submissions: due dates and extensions as nbgrader keeps them, and the points that a policy takes off.

nbgrader knows the time of a submission, the due date of a lab and an extension of a student, and asks a plugin for the points that
a late submission loses. The plugin is here. `classroom/late.csv` has the policies, `classroom/extensions.csv` the extensions. A
penalty depends only on these and on the points, so it is computed anew wherever marks are read, and nothing is graded again.
"""

from __future__ import annotations

import csv
import math
import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import chain

from dateutil.tz import gettz
from nbgrader.api import Gradebook, MissingEntry, SubmittedAssignment
from nbgrader.plugins import LateSubmissionPlugin
from nbgrader.utils import parse_utc

from ..course import replacing
from ..engine.observe import GradingError
from ..model import YEARS, Course, Lab, Submission, reason_in_timestamp
from ..text import did_you_mean, printable
from .groups import share_marks
from .table import Row, read_rows

EVERY_LAB = "every lab"
_SECONDS = {"min": 60, "h": 3600, "hour": 3600, "d": 86400, "day": 86400}


@dataclass(frozen=True)
class Policy:
    """A share of the points for each day or hour, begun or complete, after the due date and a time of grace."""

    percent: float  # of the points that the student has
    unit: str
    grace: float  # seconds

    def penalty(self, points: float, seconds_late: float) -> float:
        units = math.ceil(max(0.0, seconds_late - self.grace) / _SECONDS[self.unit])
        return round(points * min(1.0, units * self.percent / 100), 2)


def read_policy(late: str, grace: str) -> Policy:
    """The policy that `10%/day` and `15min` mean. Raises GradingError."""
    rate = re.fullmatch(r"(\d+(?:\.\d+)?)%/(hour|day)", late) or re.fullmatch("none", late)
    wait = re.fullmatch(r"(\d+(?:\.\d+)?)(min|h|d)", grace) or re.fullmatch("", grace)
    if not rate:
        raise GradingError(
            f"a late policy is a percentage for each day or hour, such as 10%/day, or none; not {late!r}"
        )
    if not wait:
        raise GradingError(f"a time of grace has a unit, such as 15min, 2h or 1d; not {grace!r}")
    percent, unit = rate.groups() or ("0", "day")
    if float(percent) > 100:
        raise GradingError(f"{late} is more than all points: 100%/{unit} takes off all of them")
    seconds = float(wait[1]) * _SECONDS[wait[2]] if wait.groups() else 0.0
    return Policy(float(percent), unit, seconds)


def set_policy(course: Course, lab: Lab | None, late: str, grace: str) -> None:
    """Keep the policy of a lab, or of all labs that have none of their own. Raises GradingError."""
    read_policy(late, grace)
    kept = read_policies(course)
    replaced = _row_of(lab, kept) if lab else _row_for_all(kept)
    rows: list[dict[str, str]] = [row for row in kept if row is not replaced]
    rows.append((replaced or {}) | {"lab": str(lab or EVERY_LAB), "late": late, "grace": grace})
    path = course.folder / "late.csv"
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as part, part.open("w", newline="", encoding="utf-8") as file:
        columns = dict.fromkeys(
            ["lab", "late", "grace", *chain.from_iterable(rows)]
        )  # an instructor may have added some
        writer = csv.DictWriter(file, [*columns], lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def read_policies(course: Course) -> list[Row]:
    return [*read_rows(course.folder / "late.csv", ("lab", "late", "grace"))]


def _row_of(lab: Lab, rows: list[Row]) -> Row | None:
    """The row of a lab, which a row may name in short. Raises GradingError if there are two."""

    def is_for(row: Row) -> bool:
        try:
            return row["lab"] != EVERY_LAB and lab.is_called(row["lab"])
        except LookupError as error:
            raise GradingError(f"{row.where}: {error}") from None

    return _only(lab.name, [*filter(is_for, rows)])


def _row_for_all(rows: list[Row]) -> Row | None:
    return _only(EVERY_LAB, [row for row in rows if row["lab"] == EVERY_LAB])


def _only(subject: str, rows: list[Row]) -> Row | None:
    if len(rows) > 1:
        raise GradingError(f"{rows[1].where}: a second policy for {subject}, after {rows[0].line}: leave one")
    return rows[0] if rows else None


def policy_of(lab: Lab) -> tuple[Policy, str] | None:
    """The policy of a lab and its text, or None if nbgrader's own configuration decides. Raises GradingError."""
    kept = read_policies(lab.course)
    row = _row_of(lab, kept) or _row_for_all(kept)
    if row is None:
        return None
    try:
        policy = read_policy(row["late"], row["grace"])
    except GradingError as error:
        raise GradingError(f"{row.where}: {error}") from None
    return policy, row["late"] + (f", grace {row['grace']}" if row["grace"] else "")


class LatePenalty(LateSubmissionPlugin):
    """The course's policy as nbgrader asks for it while it grades. Its `parent` is nbgrader's step, which knows the lab."""

    def late_submission_penalty(self, student_id: str, score: float, total_seconds_late: float) -> float | None:
        found = policy_of(Lab(self.parent.assignment_id))
        if found is None:
            return super().late_submission_penalty(student_id, score, total_seconds_late)
        return found[0].penalty(score, total_seconds_late)


def renew(gradebook: Gradebook, lab: Lab, only: Submission | None = None) -> None:
    """Bring the penalties of a lab (or of one submission `only`) up to date: points may have been given by hand since, and
    policy, due date and extension may have changed."""
    found, handed_in = policy_of(lab), submissions(gradebook, lab)
    share_marks(gradebook, lab, handed_in, only)
    ours = lab.course.folder / "penalties" / lab.name  # there if the penalties of the lab are by a policy of the course
    if found and not ours.exists():
        ours.parent.mkdir(exist_ok=True)
        ours.touch()
    for submission in handed_in if ours.exists() else ():
        if only is None or only.student == submission.student_id:
            for notebook in submission.notebooks:
                penalty = found[0].penalty(notebook.score, seconds_late(submission)) if found else 0.0
                if penalty != (notebook.late_submission_penalty or 0.0):
                    notebook.late_submission_penalty = penalty
    gradebook.db.commit()
    if not found and only is None:  # from now on nbgrader's own configuration decides
        ours.unlink(missing_ok=True)


def submissions(gradebook: Gradebook, lab: Lab) -> list[SubmittedAssignment]:
    """The entries of a lab's submissions in the gradebook."""
    try:
        return list(gradebook.find_assignment(lab.name).submissions)
    except MissingEntry:
        return []


# Times ---------------------------------------------------------------------------------------------------------------


def renew_times(gradebook: Gradebook, lab: Lab) -> None:
    """Enter the times beside the submissions, and the extensions. If there is a file of extensions, it has all of them."""
    given = read_extensions(lab)
    for submission in submissions(gradebook, lab):
        path = Submission(lab, submission.student_id).folder / "timestamp.txt"
        if path.is_file() and not path.is_symlink() and not reason_in_timestamp(path):
            submission.timestamp = parse_utc(path.read_text(encoding="utf-8").strip() or None)
        due = submission.assignment.duedate
        if given is not None:
            until = given.get(submission.student_id)
            submission.extension = max(until - due, timedelta(0)) if until and due else None
    gradebook.db.commit()


def remarks(gradebook: Gradebook, lab: Lab) -> list[str]:
    """Remarks on the times of a lab for its instructor, a line each; none if it has no due date, policy or extension."""
    try:
        due = gradebook.find_assignment(lab.name).duedate
    except MissingEntry:
        due = None
    found, given, lines = policy_of(lab), read_extensions(lab) or {}, []
    if due:
        handed_in = submissions(gradebook, lab)
        late = sum(seconds_late(each) > 0 for each in handed_in)
        without_time = sum(each.timestamp is None for each in handed_in)
        policy = found[1] if found else "no policy: --late 10%/day sets one"
        lines.append(
            f"due {due:%Y-%m-%d %H:%M} UTC: {late} late ({policy})"
            + (f", {without_time} without a time, which count as on time" if without_time else "")
        )
    elif given or (found and found[0].percent):
        lines.append(f"{lab} has no due date, so no submission is late")
    known = {student.id for student in gradebook.students}
    lines += [
        "; ".join(filter(None, [f"there is an extension for {printable(each)}, who is not in the gradebook", meant]))
        for each in given
        if each not in known
        for meant in [did_you_mean(each, known)]
    ]
    differ = dict.fromkeys(share_marks(gradebook, lab, submissions(gradebook, lab)))
    lines += [f"{printable(each)} has other points by hand than the group's notebook" for each in differ]
    lines += [
        f"the extension of {printable(each)} ends before {lab} is due" for each in given if due and given[each] < due
    ]
    return lines


def seconds_late(submission: SubmittedAssignment) -> float:
    """nbgrader cannot say it of an extension of no due date."""
    return submission.total_seconds_late if submission.assignment.duedate else 0.0


def read_extensions(lab: Lab) -> dict[str, datetime] | None:
    """Until when each student with an extension may hand in a lab (UTC), or None without a file. Raises GradingError."""
    path = lab.course.folder / "extensions.csv"
    found: dict[str, datetime] = {}
    rows: dict[str, Row] = {}
    if not path.exists():
        return None
    for row in read_rows(path, ("student", "lab", "until")):
        try:
            if not lab.is_called(row["lab"]):
                continue
            until = read_time(row["until"])
        except (LookupError, ValueError) as error:
            raise GradingError(f"{row.where}: {error}") from None
        student = row["student"]
        if not student:
            raise GradingError(f"{row.where}: it names no student")
        if found.setdefault(student, until) != until:
            raise GradingError(f"{row.where}: {printable(student)} has another time in {rows[student].line}: leave one")
        rows[student] = row
    return found


def read_time(text: str) -> datetime:
    """A time in UTC, as nbgrader reads it: `2027-03-15 22:00:00 Europe/Berlin`. Raises ValueError.

    nbgrader takes a time zone that it does not know for UTC, and +0100 for a hundred seconds, and says nothing. It takes 05.03.2027
    for the third of May, and a time without a date for one of today, so a date has to begin with its year.
    """
    zone = text.split(" ")[2:]
    if zone and not gettz(zone[0]):
        raise ValueError(f"there is no time zone {printable(zone[0])!r}; write UTC or a name such as Europe/Berlin")
    try:
        time = parse_utc(text) if re.match(r"\d{4}-\d\d-\d\d", text) else None
    except (ValueError, OverflowError):
        time = None
    if time is None or time.year not in YEARS:
        raise ValueError(f"{printable(text)!r} is not a time such as 2027-03-15 22:00:00 Europe/Berlin")
    return time
