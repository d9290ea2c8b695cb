"""Group work: one notebook for all members of a group, each of whom gets the marks and the feedback.

nbgrader knows no groups. So the members in `classroom/groups.csv` who have handed in nothing get a copy of the notebook of the
member who has. From then on nbgrader sees a submission of each. `classroom/copies/STUDENT/LAB.json` remembers what was copied,
where no student can write: only a notebook with a remembered digest is a copy. Marks that were given by hand for the notebook are
entered for its copies. A member's own notebook always comes first.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path

from nbgrader.api import Comment, Grade, Gradebook, MissingEntry, SubmittedAssignment, SubmittedNotebook

from ..course import replacing
from ..model import Lab, Submission, Unreadable, digest, rejection_reason
from ..text import did_you_mean, printable
from .by_hand import is_same_answer

_SCORES = ("manual_score", "extra_credit")


@dataclass
class Copy:
    """A copy in a student's folder: the owner of the notebook, and the marks that were entered for it."""

    source: str
    digests: list[str] = field(default_factory=list)  # of every notebook that was copied from the source
    marks: dict[str, float | str] = field(default_factory=dict)


# Copies --------------------------------------------------------------------------------------------------------------


def source_of(submission: Submission) -> str:
    """The student whose notebook a submission is a copy of, or an empty string."""
    copy = _copy_of(submission)
    return copy.source if copy else ""


def _copy_of(submission: Submission) -> Copy | None:
    """The record of a submission that is a copy."""
    copy = _recorded(submission)
    return copy if copy and _is_copied(submission, copy) else None


def _recorded(submission: Submission) -> Copy | None:
    """The record of what a student's folder was given, whatever is there now."""
    try:
        return Copy(**json.loads(_record_path(submission).read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):  # there is none, or a power cut left half of it
        return None


def _is_copied(submission: Submission, copy: Copy) -> bool | None:
    """Whether a student's notebook was copied; None if it cannot be read."""
    with suppress(Unreadable):
        return submission.digest in copy.digests
    return None


def _record_path(submission: Submission) -> Path:
    return submission.lab.course.folder / "copies" / submission.student / f"{submission.lab.name}.json"


def _record(submission: Submission, copy: Copy) -> None:
    path = _record_path(submission)
    path.parent.mkdir(parents=True, exist_ok=True)
    _write(path, json.dumps(asdict(copy), indent=1).encode())


def _write(path: Path, data: bytes) -> None:
    with replacing(path) as part, part.open("xb") as file:
        file.write(data)


def share_notebooks(gradebook: Gradebook, lab: Lab, groups: dict[str, list[str]]) -> dict[str, str]:
    """Give the notebook of each group to those members who have none of their own. Returns what is to be said of a student: why one
    gets none, and which marks by hand are another's now.

    A student who is in the group no longer loses the copy, and its marks.
    """
    known = {student.id for student in gradebook.students}
    left = dict(_take_back(gradebook, lab, groups)) | dict(_remove_shared_marks(gradebook, lab))
    for group, members in groups.items():
        handed_in = {name: Submission(lab, name) for name in members}
        own = [
            name for name, submission in handed_in.items() if submission.folder.is_dir() and not source_of(submission)
        ]
        for member in [name for name in members if own and name in known and name not in own]:
            source = next((name for name in own if len(own) == 1 or name == source_of(handed_in[member])), None)
            if source is None:
                left[member] = (
                    f"group {group} has the notebooks of {', '.join(own)}: copy the one that counts into this folder"
                )
            elif reason := _give(Submission(lab, source), Submission(lab, member)):
                left[member] = f"the notebook of {source} cannot be shared: {reason}"
            else:
                left.pop(member, None)  # it has the notebook of the present group
    return left


def remarks(gradebook: Gradebook, groups: dict[str, list[str]]) -> list[str]:
    """The names in the groups that no student of the class has, a line each."""
    known = {student.id for student in gradebook.students}
    named = [member for members in groups.values() for member in members]
    return [
        f"groups.csv names {printable(student)}, whom the class does not have; "
        + (did_you_mean(student, known) or "import the roster")
        for student in named
        if student not in known
    ]


def _take_back(gradebook: Gradebook, lab: Lab, groups: dict[str, list[str]]) -> Iterator[tuple[str, str]]:
    """Remove the copies for students who are not in the group of the source any more. Yields each, with the reason."""
    for submission in _given(lab):
        student, folder, copy = submission.student, submission.folder, _copy_of(submission)
        if not copy or any({student, copy.source} <= {*members} for members in groups.values()):
            continue
        said = f"not in the group of {copy.source} any more"
        if _has_own_marks(gradebook, submission, copy):
            yield student, f"{said}, but the copy of that notebook has points by hand: delete {folder} if it is to go"
            continue
        with suppress(MissingEntry):
            gradebook.remove_submission(lab.name, student)
        for path in (submission.graded_path, submission.page):
            shutil.rmtree(path.parent, ignore_errors=True)
        for name in (f"{lab}.ipynb", "timestamp.txt"):
            (folder / name).unlink(missing_ok=True)
        with suppress(OSError):  # something else is in it
            folder.rmdir()
        _record_path(submission).unlink()
        yield student, f"{said}: the copy of that notebook and its points are removed"


def _given(lab: Lab) -> list[Submission]:
    """The submissions with a record of a copy, in the order of the students' names."""
    paths = sorted((lab.course.folder / "copies").glob(f"*/{lab.name}.json"))
    return [Submission(lab, path.parent.name) for path in paths]


def _has_own_marks(gradebook: Gradebook, submission: Submission, copy: Copy) -> bool:
    """Whether somebody gave marks or comments to the copy itself, and not to the notebook."""
    return any(value != copy.marks.get(key) for key, value, *_ in _by_hand(gradebook, submission))


def _by_hand(gradebook: Gradebook, submission: Submission) -> list[tuple[str, float | str, Grade | Comment, str]]:
    """The marks and comments by hand for a submission: the key in `Copy.marks`, the value, the entry, and its attribute."""
    try:
        notebooks = gradebook.find_submission(submission.lab.name, submission.student).notebooks
    except MissingEntry:
        return []
    given = [(one, grade, name) for one in notebooks for grade in one.grades for name in _SCORES]
    given += [(one, comment, "manual_comment") for one in notebooks for comment in one.comments]
    return [
        (f"{one.name} {entry.name} {name}", value, entry, name)
        for one, entry, name in given
        if (value := getattr(entry, name)) is not None
    ]


def _remove_shared_marks(gradebook: Gradebook, lab: Lab) -> Iterator[tuple[str, str]]:
    """Remove the marks for the group's notebook from a member who has handed in alone since. Yields the members of
    whom that is to be said."""
    for submission in _given(lab):
        copy = _recorded(submission)
        if copy is None or _is_copied(submission, copy) is not False:
            continue
        removed, kept = False, []
        for key, value, given, name in _by_hand(gradebook, submission):
            if value != copy.marks.get(key):
                kept.append(given.name)
                continue
            setattr(given, name, None)
            removed = True
            if name == "manual_score":
                given.needs_manual_grade = given.auto_score is None
        gradebook.db.commit()
        _record_path(submission).unlink()
        said = [f"the points and comments by hand for the notebook of {copy.source} are removed"] if removed else []
        said += [f"those that were given to the copy stay: look at {', '.join(dict.fromkeys(kept))}"] if kept else []
        if said:
            yield submission.student, f"handed in alone since: {'; '.join(said)}"


def _give(source: Submission, member: Submission) -> str:
    """Copy a notebook and its time. Returns why that is not possible, or an empty string."""
    given, folder = source.folder, member.folder
    copy = _copy_of(member) or Copy(source.student)
    copy.source = source.student
    if folder.parent.is_symlink():
        return f"the folder of {member.student} is a link"
    try:
        text = source.text
        folder.mkdir(parents=True, exist_ok=True)
        if reason := rejection_reason(folder):
            return reason
        if digest(text) not in copy.digests:  # before the notebook, so that a copy is never one of the student's own
            copy.digests.append(digest(text))
        _record(member, copy)
        for name in ("timestamp.txt", source.path.name):
            content = (given / name).read_bytes() if (given / name).exists() else None
            content = text.encode() if name == source.path.name else content  # which may be in another language
            if content is None:
                (folder / name).unlink(missing_ok=True)
            elif not (folder / name).is_file() or (folder / name).read_bytes() != content:
                _write(folder / name, content)
    except Unreadable as error:
        return str(error)
    except OSError as error:
        return f"{type(error).__name__}: {error}"
    return ""


# Marks ---------------------------------------------------------------------------------------------------------------


def share_marks(
    gradebook: Gradebook, lab: Lab, entries: list[SubmittedAssignment], only: Submission | None = None
) -> list[str]:
    """Enter the scores and comments that were given by hand for a notebook for its copies, or for one copy `only`.

    What was entered in this way follows the notebook. What was given to a copy itself stays. Returns the students whose score
    differs from that of the notebook.
    """
    by_student, differ = {entry.student_id: entry for entry in entries}, []
    for name in [only.student] if only else by_student:
        submission, handed_in = by_student.get(name), Submission(lab, name)
        copy = _copy_of(handed_in) if submission else None
        source = by_student.get(copy.source) if copy else None
        if submission is None or copy is None or source is None:
            continue
        theirs = {notebook.name: notebook for notebook in source.notebooks}
        entered: dict[str, float | str] = {}
        for notebook in submission.notebooks:
            if notebook.name in theirs and _enter(gradebook, notebook, theirs[notebook.name], copy.marks, entered):
                differ.append(name)
        gradebook.db.commit()
        if entered != copy.marks:
            copy.marks = entered
            _record(handed_in, copy)
    return differ


def _enter(
    gradebook: Gradebook, mine: SubmittedNotebook, theirs: SubmittedNotebook, before: dict, entered: dict
) -> bool:
    """Enter what was given by hand, and note it in `entered`. Returns whether a score differs now. A score for another answer is
    not entered: one of the two notebooks could not be graded in its present state."""
    grades = {grade.name: grade for grade in theirs.grades}
    comments = {comment.name: comment for comment in theirs.comments}
    pairs = [(grade, grades.get(grade.name), name) for grade in mine.grades for name in _SCORES]
    pairs += [(comment, comments.get(comment.name), "manual_comment") for comment in mine.comments]
    differs = False
    for own, other, name in pairs:
        if other is None or (getattr(own, name), getattr(other, name)) == (None, None):
            continue
        key, value, given = f"{mine.name} {own.name} {name}", getattr(own, name), getattr(other, name)
        follows = value is None or value == before.get(key)
        if follows and (name not in _SCORES or is_same_answer(gradebook, own, other)):
            if value != given:
                setattr(own, name, given)
            if name == "manual_score":
                own.needs_manual_grade = other.needs_manual_grade
            value = given
        if value is not None and (follows or value == given):
            entered[key] = value
        differs |= value != given and name in _SCORES
    return differs
