"""Group work: one notebook for all members of a group, each of whom gets the marks and the feedback.

nbgrader knows no groups. So the members in `classroom/groups.csv` who have handed in nothing get a copy of the notebook of the
member who has. From then on nbgrader sees a submission of each. `classroom/copies/STUDENT/LAB.json` remembers what was copied,
where no student can write: only a notebook with a remembered digest is a copy. Marks that were given by hand for the notebook are
entered for its copies. A member's own notebook always comes first.
"""

from __future__ import annotations

import json
import shutil
from collections import defaultdict
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path

from nbgrader.api import Comment, Grade, Gradebook, MissingEntry, SubmittedAssignment, SubmittedNotebook

from ..course import classroom, did_you_mean, is_named, printable, replacing
from ..engine.observe import GradingError
from .by_hand import is_same_answer
from .restore import Unreadable, digest, read_submission, rejection_reason
from .table import Row, read_rows

_SCORES = ("manual_score", "extra_credit")


@dataclass
class Copy:
    """What a student's folder was given: whose notebook, and the marks that were entered for it."""

    source: str
    digests: list[str] = field(default_factory=list)  # of every notebook that was copied from the source
    marks: dict[str, float | str] = field(default_factory=dict)


def groups(lab: str) -> dict[str, list[str]]:
    """The members of each group for a lab. A row of `groups.csv` without a lab is for all labs. Raises GradingError."""
    found: defaultdict[str, list[str]] = defaultdict(list)
    rows: dict[str, Row] = {}
    is_for = cache(lambda number: not number or is_named(lab, number))
    for row in read_rows(classroom() / "groups.csv", ("group", "student"), ("lab",)):
        try:
            if not is_for(row["lab"]):
                continue
        except LookupError as error:
            raise GradingError(f"{row.where}: {error}") from None
        if not (row["student"] and row["group"]):
            raise GradingError(f"{row.where}: it names no {'group' if row['student'] else 'student'}")
        first = rows.setdefault(row["student"], row)
        if first is not row:
            student = printable(row["student"])
            raise GradingError(
                f"{row.where}: {student} twice for {lab}, also in {first.line}: a student is in one group"
            )
        found[row["group"]].append(row["student"])
    return found


# Copies --------------------------------------------------------------------------------------------------------------


def source_of(student: str, lab: str) -> str:
    """Whose notebook a student's submission is a copy of, or an empty string."""
    copy = _copy_of(student, lab)
    return copy.source if copy else ""


def _copy_of(student: str, lab: str) -> Copy | None:
    """What is remembered of a submission that is a copy."""
    copy = _remembered(student, lab)
    return copy if copy and _is_copied(student, lab, copy) else None


def _remembered(student: str, lab: str) -> Copy | None:
    """What a student's folder was given, whatever is there now."""
    try:
        return Copy(**json.loads(_memory(student, lab).read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):  # there is none, or a power cut left half of it
        return None


def _is_copied(student: str, lab: str, copy: Copy) -> bool | None:
    """Whether a student's notebook was copied; None if it cannot be read."""
    with suppress(Unreadable):
        return digest(read_submission(_folder(student, lab) / f"{lab}.ipynb")) in copy.digests
    return None


def _folder(student: str, lab: str) -> Path:
    return classroom() / "submitted" / student / lab


def _memory(student: str, lab: str) -> Path:
    return classroom() / "copies" / student / f"{lab}.json"


def _remember(student: str, lab: str, copy: Copy) -> None:
    path = _memory(student, lab)
    path.parent.mkdir(parents=True, exist_ok=True)
    _write(path, json.dumps(asdict(copy), indent=1))


def _write(path: Path, text: str) -> None:
    with replacing(path) as part, part.open("x", encoding="utf-8", newline="") as file:
        file.write(text)


def share(gradebook: Gradebook, lab: str) -> dict[str, str]:
    """Give the notebook of a group to those members who have none of their own. Returns what is to be said of a student: why one
    gets none, and which marks by hand are another's now.

    A student who is in the group no longer loses the copy, and its marks.
    """
    found, known = groups(lab), {student.id for student in gradebook.students}
    left = dict(_take_back(gradebook, lab, found)) | dict(_remove_shared_marks(gradebook, lab))
    for group, members in found.items():
        own = [each for each in members if _folder(each, lab).is_dir() and not source_of(each, lab)]
        for member in [each for each in members if own and each in known and each not in own]:
            source = next((each for each in own if len(own) == 1 or each == source_of(member, lab)), None)
            if source is None:
                left[member] = (
                    f"group {group} has the notebooks of {', '.join(own)}: copy the one that counts into this folder"
                )
            elif reason := _give(lab, source, member):
                left[member] = f"the notebook of {source} cannot be shared: {reason}"
            else:
                left.pop(member, None)  # it has the notebook of the present group
    return left


def remarks(gradebook: Gradebook, lab: str) -> list[str]:
    """The names in the groups that no student of the class has, a line each."""
    known = {student.id for student in gradebook.students}
    named = [member for members in groups(lab).values() for member in members]
    return [
        f"groups.csv names {printable(each)}, whom the class does not have; {did_you_mean(each, known) or 'import the roster'}"
        for each in named
        if each not in known
    ]


def _take_back(gradebook: Gradebook, lab: str, found: dict[str, list[str]]) -> Iterator[tuple[str, str]]:
    """Remove the copies for students who are not in the group of the source any more. Yields each, with the reason."""
    for path in sorted((classroom() / "copies").glob(f"*/{lab}.json")):
        student = path.parent.name
        copy = _copy_of(student, lab)
        if not copy or any({student, copy.source} <= {*members} for members in found.values()):
            continue
        folder, said = _folder(student, lab), f"not in the group of {copy.source} any more"
        if _has_own_marks(gradebook, lab, student, copy):
            yield student, f"{said}, but the copy of that notebook has marks by hand: delete {folder} if it is to go"
            continue
        with suppress(MissingEntry):
            gradebook.remove_submission(lab, student)
        for stage in ("autograded", "feedback"):
            shutil.rmtree(classroom() / stage / student / lab, ignore_errors=True)
        for name in (f"{lab}.ipynb", "timestamp.txt"):
            (folder / name).unlink(missing_ok=True)
        with suppress(OSError):  # something else is in it
            folder.rmdir()
        path.unlink()
        yield student, f"{said}: the copy of that notebook and its marks are removed"


def _has_own_marks(gradebook: Gradebook, lab: str, student: str, copy: Copy) -> bool:
    """Whether somebody gave marks or comments to the copy itself, and not to the notebook."""
    return any(value != copy.marks.get(key) for key, value, *_ in _by_hand(gradebook, lab, student))


def _by_hand(gradebook: Gradebook, lab: str, student: str) -> list[tuple[str, float | str, Grade | Comment, str]]:
    """What was given by hand for a submission: its key in `Copy.marks`, the value, and of what it is which attribute."""
    try:
        notebooks = gradebook.find_submission(lab, student).notebooks
    except MissingEntry:
        return []
    given = [(one, each, name) for one in notebooks for each in one.grades for name in _SCORES]
    given += [(one, each, "manual_comment") for one in notebooks for each in one.comments]
    return [
        (f"{one.name} {each.name} {name}", value, each, name)
        for one, each, name in given
        if (value := getattr(each, name)) is not None
    ]


def _remove_shared_marks(gradebook: Gradebook, lab: str) -> Iterator[tuple[str, str]]:
    """Of a member who has handed in alone since, remove the marks that were entered for the group's notebook. Yields the members of
    whom that is to be said."""
    for path in sorted((classroom() / "copies").glob(f"*/{lab}.json")):
        student = path.parent.name
        copy = _remembered(student, lab)
        if copy is None or _is_copied(student, lab, copy) is not False:
            continue
        removed, kept = False, []
        for key, value, given, name in _by_hand(gradebook, lab, student):
            if value != copy.marks.get(key):
                kept.append(given.name)
                continue
            setattr(given, name, None)
            removed = True
            if name == "manual_score":
                given.needs_manual_grade = given.auto_score is None
        gradebook.db.commit()
        path.unlink()
        said = [f"the marks and comments by hand for the notebook of {copy.source} are removed"] if removed else []
        said += [f"those that were given to the copy stay: look at {', '.join(dict.fromkeys(kept))}"] if kept else []
        if said:
            yield student, f"handed in alone since: {'; '.join(said)}"


def _give(lab: str, source: str, member: str) -> str:
    """Copy a notebook and its time. Returns why that is not possible, or an empty string."""
    given, folder = _folder(source, lab), _folder(member, lab)
    copy = _copy_of(member, lab) or Copy(source)
    copy.source = source
    if folder.parent.is_symlink():
        return f"the folder of {member} is a link"
    try:
        text = read_submission(given / f"{lab}.ipynb")
        folder.mkdir(parents=True, exist_ok=True)
        if reason := rejection_reason(folder):
            return reason
        if digest(text) not in copy.digests:  # before the notebook, so that a copy is never one of the student's own
            copy.digests.append(digest(text))
        _remember(member, lab, copy)
        for name in ("timestamp.txt", f"{lab}.ipynb"):
            content = (given / name).read_bytes() if (given / name).exists() else None
            if content is None:
                (folder / name).unlink(missing_ok=True)
            elif not (folder / name).is_file() or (folder / name).read_bytes() != content:
                _write(folder / name, content.decode())
    except Unreadable as error:
        return str(error)
    except (OSError, UnicodeDecodeError) as error:
        return f"{type(error).__name__}: {error}"
    return ""


# Marks ---------------------------------------------------------------------------------------------------------------


def share_marks(gradebook: Gradebook, found: list[SubmittedAssignment], student: str | None = None) -> list[str]:
    """Enter the scores and comments that were given by hand for a notebook for its copies, or for one student's copy.

    What was entered in this way follows the notebook. What was given to a copy itself stays. Returns the students whose score
    differs from that of the notebook.
    """
    by_student, differ = {each.student_id: each for each in found}, []
    for name in [student] if student else by_student:
        submission = by_student.get(name)
        copy = _copy_of(name, submission.assignment.name) if submission else None
        source = by_student.get(copy.source) if copy else None
        if submission is None or copy is None or source is None:
            continue
        theirs = {each.name: each for each in source.notebooks}
        entered: dict[str, float | str] = {}
        for notebook in submission.notebooks:
            if notebook.name in theirs and _enter(gradebook, notebook, theirs[notebook.name], copy.marks, entered):
                differ.append(name)
        gradebook.db.commit()
        if entered != copy.marks:
            copy.marks = entered
            _remember(name, submission.assignment.name, copy)
    return differ


def _enter(
    gradebook: Gradebook, mine: SubmittedNotebook, theirs: SubmittedNotebook, before: dict, entered: dict
) -> bool:
    """Enter what was given by hand, and note it in `entered`. Returns whether a score differs now. A score for another answer is
    not entered: one of the two notebooks could not be graded in its present state."""
    grades, comments = {each.name: each for each in theirs.grades}, {each.name: each for each in theirs.comments}
    pairs = [(each, grades.get(each.name), name) for each in mine.grades for name in _SCORES]
    pairs += [(each, comments.get(each.name), "manual_comment") for each in mine.comments]
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
