"""Late submissions: due dates and extensions as nbgrader keeps them, and the points that a policy takes off.

nbgrader knows the time of a submission, the due date of a lab and an extension of a student, and asks a plugin for the points that
a late submission loses. The plugin is here. A penalty depends on times, policy and points alone, so it is computed wherever marks
are read, and nothing is graded again.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

from dateutil.tz import gettz
from nbgrader.api import Gradebook, MissingEntry, SubmittedAssignment
from nbgrader.plugins import LateSubmissionPlugin

from ..language import phrase
from ..model import Lab, Submission, Unreadable, read_time, read_timestamp, reason_in_timestamp
from ..text import did_you_mean, printable
from .collect import first_times, marked_late, remember_times
from .gradebook import seconds_late
from .groups import share_marks
from .table import Policy, Rules, policy_of


class LatePenalty(LateSubmissionPlugin):
    """The course's policy as nbgrader asks for it while it grades. Its `parent` is nbgrader's step, which knows the lab."""

    def late_submission_penalty(self, student_id: str, score: float, total_seconds_late: float) -> float | None:
        policy = policy_of(Lab(self.parent.assignment_id))
        if policy is None:
            return super().late_submission_penalty(student_id, score, total_seconds_late)
        return policy.penalty(score, total_seconds_late)


def renew(gradebook: Gradebook, lab: Lab, policy: Policy | None, only: Submission | None = None) -> None:
    """Bring the penalties of a lab (or of one submission `only`) up to date: points may have been given by hand since, and
    policy, due date and extension may have changed."""
    handed_in = submissions(gradebook, lab)
    share_marks(gradebook, lab, handed_in, only)
    ours = lab.course.folder / "penalties" / lab.name  # there if the penalties of the lab are by a policy of the course
    if policy and not ours.exists():
        ours.parent.mkdir(exist_ok=True)
        ours.touch()
    marked = only_marked_late(lab, handed_in)
    for submission in handed_in if ours.exists() else ():
        if only is None or only.student == submission.student_id:
            seconds = policy.grace + 1 if policy and submission in marked else seconds_late(submission)
            if policy and policy.unit == "day" and seconds > policy.grace:
                seconds = max(policy.grace + 1, seconds + _clock_change(submission, zone_of(lab)))
            for notebook in submission.notebooks:
                penalty = policy.penalty(notebook.score, seconds) if policy else 0.0
                if penalty != (notebook.late_submission_penalty or 0.0):
                    notebook.late_submission_penalty = penalty
    gradebook.db.commit()
    if not policy and only is None:  # from now on nbgrader's own configuration decides
        ours.unlink(missing_ok=True)


def _clock_change(submission: SubmittedAssignment, zone: str) -> float:
    """By how many seconds the clocks of a zone were put forward between the due date and a late submission. With these seconds, a
    late day ends at the hour of the due date, and may have 23 or 25 hours."""
    if not submission.total_seconds_late:
        return 0.0
    due, time = (
        each.replace(tzinfo=UTC).astimezone(gettz(zone)) for each in (submission.duedate, submission.timestamp)
    )
    return (time.utcoffset() - due.utcoffset()).total_seconds()


def zone_of(lab: Lab) -> str:
    """The zone in which the due date was entered, which nbgrader does not keep."""
    path = _zone_path(lab)
    return path.read_text(encoding="utf-8").strip() if path.exists() else "UTC"


def keep_zone(lab: Lab, due: str) -> None:
    """Keep the zone of a due date such as `2027-03-15 22:00:00 Europe/Berlin`. Raises ValueError if it is not clear."""
    read_time(due)
    _zone_path(lab).parent.mkdir(parents=True, exist_ok=True)
    _zone_path(lab).write_text("".join(due.split(" ")[2:]) or "UTC", encoding="utf-8")


def _zone_path(lab: Lab) -> Path:
    return lab.course.folder / "zones" / lab.name


def submissions(gradebook: Gradebook, lab: Lab) -> list[SubmittedAssignment]:
    """The entries of a lab's submissions in the gradebook."""
    try:
        return list(gradebook.find_assignment(lab.name).submissions)
    except MissingEntry:
        return []


def only_marked_late(lab: Lab, entries: list[SubmittedAssignment]) -> list[SubmittedAssignment]:
    """The submissions without a time that Canvas marks as late, and for which no extension is known here. They lose the least that
    a late submission loses: the share of one day or hour. A notebook that came before without this mark is not late."""
    late = _marked(lab)
    marked = [entry for entry in entries if entry.student_id in late and not (entry.timestamp or entry.extension)]
    first = first_times(lab) if marked else {}
    return [entry for entry in marked if _key(lab, entry) not in first]


def _marked(lab: Lab) -> set[str]:
    return marked_late(lab.course.folder / "downloaded" / lab.name)


# Times ---------------------------------------------------------------------------------------------------------------


def renew_times(gradebook: Gradebook, lab: Lab, extensions: dict[str, datetime] | None) -> None:
    """Enter the times beside the submissions, and the extensions. If there is a file of extensions, it has all of them.

    A notebook that was handed in again without a change has the time at which it came first.
    """
    handed_in, late = submissions(gradebook, lab), _marked(lab)
    beside = {entry.student_id: _time_beside(lab, entry) for entry in handed_in}
    keys = {name: key for entry in handed_in if (key := _key(lab, entry)) for name in [entry.student_id]}
    first = remember_times(lab, {key: beside[name] for name, key in keys.items() if beside[name] or name not in late})
    for submission in handed_in:
        name = submission.student_id
        if time := beside[name]:
            submission.timestamp = first[keys[name]] if name in keys else time
        due = submission.assignment.duedate
        if extensions is not None:
            until = extensions.get(name)
            submission.extension = max(until - due, timedelta(0)) if until and due else None
    gradebook.db.commit()


def _time_beside(lab: Lab, entry: SubmittedAssignment) -> datetime | None:
    """The time of a submission in its folder, or None if there is none that can be read."""
    path = Submission(lab, entry.student_id).folder / "timestamp.txt"
    is_told = path.is_file() and not path.is_symlink() and not reason_in_timestamp(path)
    return read_timestamp(path) if is_told else None


def _key(lab: Lab, entry: SubmittedAssignment) -> tuple[str, str] | None:
    """The student and the digest of the notebook, or None if it cannot be read."""
    try:
        return entry.student_id, Submission(lab, entry.student_id).digest
    except Unreadable:
        return None


def came_again(lab: Lab, entry: SubmittedAssignment) -> str:
    """A line about a notebook that came again when it was late, without a change. Otherwise nothing."""
    time, first = _time_beside(lab, entry), entry.timestamp
    if time and first and entry.assignment.duedate and first < time > entry.duedate:
        again, before = (f"{each:%Y-%m-%d %H:%M} UTC" for each in (time, first))
        return phrase(f"handed in again at {again}, unchanged: the first time counts, {before}")
    if not first and entry.student_id in _marked(lab) and _key(lab, entry) in first_times(lab):
        return phrase("handed in again, unchanged: the first time counts, which was not late in Canvas")
    return ""


def remarks(gradebook: Gradebook, lab: Lab, rules: Rules) -> list[str]:
    """Remarks on the times of a lab for its instructor, a line each; none if it has no due date, policy or extension."""
    try:
        due = gradebook.find_assignment(lab.name).duedate
    except MissingEntry:
        due = None
    policy, given, lines, zone = rules.policy, rules.extensions or {}, list[str](), zone_of(lab)
    handed_in = submissions(gradebook, lab)
    marked = only_marked_late(lab, handed_in)
    if due:
        late = sum(seconds_late(entry) > 0 for entry in handed_in)
        without_time = sum(entry.timestamp is None and entry not in marked for entry in handed_in)
        said = policy.text if policy else "no policy: --late 10%/day sets one"
        lines.append(
            f"due {due.replace(tzinfo=UTC).astimezone(gettz(zone)):%Y-%m-%d %H:%M} {zone}: {late} late ({said})"
            + (f", {without_time} without a time, which count as on time" if without_time else "")
        )
    elif given or (policy and policy.percent):
        lines.append(
            f"{lab} has no due date, so no submission is late" + (" but those that Canvas marks" if marked else "")
        )
    if marked:
        names = ", ".join(printable(entry.student_id) for entry in marked)
        least = (
            f"each loses the share of one {policy.unit}" if policy and policy.percent else "no policy takes points off"
        )
        lines.append(f"late in Canvas, which does not say how late ({len(marked)}): {names}; {least}")
    known = {student.id for student in gradebook.students}
    lines += [
        "; ".join(filter(None, [f"there is an extension for {printable(student)}, who is not in the gradebook", meant]))
        for student in given
        if student not in known
        for meant in [did_you_mean(student, known)]
    ]
    differ = dict.fromkeys(share_marks(gradebook, lab, handed_in))
    lines += [f"{printable(student)} has other points by hand than the group's notebook" for student in differ]
    lines += [
        f"the extension of {printable(student)} ends before {lab} is due"
        for student in given
        if due and given[student] < due
    ]
    return lines
