"""Late submissions: due dates and extensions as nbgrader keeps them, and the points that a policy takes off.

nbgrader knows the time of a submission, the due date of a lab and an extension of a student, and asks a plugin for the points that
a late submission loses. The plugin is here. A penalty depends on times, policy and points alone, so it is computed wherever marks
are read, and nothing is graded again.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from nbgrader.api import Gradebook, MissingEntry, SubmittedAssignment
from nbgrader.plugins import LateSubmissionPlugin
from nbgrader.utils import parse_utc

from ..model import Lab, Submission, reason_in_timestamp
from ..text import did_you_mean, printable
from .collect import marked_late
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
            for notebook in submission.notebooks:
                penalty = policy.penalty(notebook.score, seconds) if policy else 0.0
                if penalty != (notebook.late_submission_penalty or 0.0):
                    notebook.late_submission_penalty = penalty
    gradebook.db.commit()
    if not policy and only is None:  # from now on nbgrader's own configuration decides
        ours.unlink(missing_ok=True)


def submissions(gradebook: Gradebook, lab: Lab) -> list[SubmittedAssignment]:
    """The entries of a lab's submissions in the gradebook."""
    try:
        return list(gradebook.find_assignment(lab.name).submissions)
    except MissingEntry:
        return []


def only_marked_late(lab: Lab, entries: list[SubmittedAssignment]) -> list[SubmittedAssignment]:
    """The submissions without a time that Canvas marks as late, and for which no extension is known here. They lose the least that
    a late submission loses: the share of one day or hour."""
    late = marked_late(lab.course.folder / "downloaded" / lab.name)
    return [entry for entry in entries if entry.student_id in late and not (entry.timestamp or entry.extension)]


# Times ---------------------------------------------------------------------------------------------------------------


def renew_times(gradebook: Gradebook, lab: Lab, extensions: dict[str, datetime] | None) -> None:
    """Enter the times beside the submissions, and the extensions. If there is a file of extensions, it has all of them."""
    for submission in submissions(gradebook, lab):
        path = Submission(lab, submission.student_id).folder / "timestamp.txt"
        if path.is_file() and not path.is_symlink() and not reason_in_timestamp(path):
            submission.timestamp = parse_utc(path.read_text(encoding="utf-8").strip() or None)
        due = submission.assignment.duedate
        if extensions is not None:
            until = extensions.get(submission.student_id)
            submission.extension = max(until - due, timedelta(0)) if until and due else None
    gradebook.db.commit()


def remarks(gradebook: Gradebook, lab: Lab, rules: Rules) -> list[str]:
    """Remarks on the times of a lab for its instructor, a line each; none if it has no due date, policy or extension."""
    try:
        due = gradebook.find_assignment(lab.name).duedate
    except MissingEntry:
        due = None
    policy, given, lines = rules.policy, rules.extensions or {}, []
    handed_in = submissions(gradebook, lab)
    marked = only_marked_late(lab, handed_in)
    if due:
        late = sum(seconds_late(entry) > 0 for entry in handed_in)
        without_time = sum(entry.timestamp is None and entry not in marked for entry in handed_in)
        said = policy.text if policy else "no policy: --late 10%/day sets one"
        lines.append(
            f"due {due:%Y-%m-%d %H:%M} UTC: {late} late ({said})"
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
