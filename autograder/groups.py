"""Group work: one notebook for all members of a group, each of whom gets the marks and the feedback.

nbgrader knows no groups. So the members in `classroom/groups.csv` who have handed in nothing get a copy of the notebook of the
member who has, and a file beside it says whose it is. From then on nbgrader sees a submission of each. Marks that were given by
hand for the notebook are entered for its copies. A member's own notebook always comes first.
"""

from __future__ import annotations

from collections import defaultdict

from nbgrader.api import Gradebook, SubmittedAssignment

from .course import classroom, find_lab, printable
from .observe import GradingError
from .restore import Unreadable, read_submission
from .table import read_rows

MARK = "copied-from.txt"  # beside a copy


def groups(lab: str) -> dict[str, list[str]]:
    """The members of each group for a lab. A row of `groups.csv` without a lab is for all labs. Raises GradingError."""
    found, path = defaultdict(list), classroom() / "groups.csv"
    for line, row in enumerate(read_rows(path, ("group", "student"), ("lab",)), 2):
        try:
            if not row["lab"] or find_lab(row["lab"]) == lab:
                found[row["group"]].append(row["student"])
        except LookupError as error:
            raise GradingError(f"{path}, line {line}: {error}") from None
    members = [member for group in found.values() for member in group]
    if twice := sorted({member for member in members if members.count(member) > 1}):
        raise GradingError(f"{path}: {', '.join(map(printable, twice))} twice for {lab}: a student is in one group")
    return found


def source_of(student: str, lab: str) -> str:
    """Whose notebook a student's submission is a copy of, or an empty string. A student can forge the mark, but no group."""
    mark = classroom() / "submitted" / student / lab / MARK
    if not mark.is_file() or mark.is_symlink():
        return ""
    source = mark.read_text(encoding="utf-8", errors="replace").strip()
    return (
        source if any({student, source} <= {*members} for members in groups(lab).values()) and source != student else ""
    )


def share(gradebook: Gradebook, lab: str) -> dict[str, str]:
    """Give the notebook of a group to those members who have none of their own. Returns who gets none, with the reason."""
    left, known = {}, {student.id for student in gradebook.students}
    submitted = classroom() / "submitted"
    for group, members in groups(lab).items():
        own = [each for each in members if (submitted / each / lab).is_dir() and not source_of(each, lab)]
        for member in [each for each in members if own and each not in own]:
            source = next((each for each in own if len(own) == 1 or each == source_of(member, lab)), None)
            if member not in known:
                left[member] = (
                    f"in group {group}, but not in the gradebook: add the student with nbgrader, or correct groups.csv"
                )
            elif source is None:
                left[member] = (
                    f"group {group} has the notebooks of {', '.join(own)}: copy the one that counts into this folder"
                )
            elif reason := _copy(lab, source, member):
                left[member] = f"the notebook of {source} cannot be shared: {reason}"
    return left


def _copy(lab: str, source: str, member: str) -> str:
    """Copy a notebook and its time. Returns why that is not possible, or an empty string."""
    given, folder = classroom() / "submitted" / source / lab, classroom() / "submitted" / member / lab
    try:
        text = read_submission(given / f"{lab}.ipynb")
    except Unreadable as error:
        return str(error)
    files = {
        MARK: f"{source}\n",
        f"{lab}.ipynb": text,
    }  # the mark first, so that half a copy is no submission of their own
    if (given / "timestamp.txt").is_file():
        files["timestamp.txt"] = (given / "timestamp.txt").read_text(encoding="utf-8")
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        if not (folder / name).exists() or (folder / name).read_text(encoding="utf-8") != content:
            (folder / name).write_text(content, encoding="utf-8")
    return ""


def share_marks(gradebook: Gradebook, found: list[SubmittedAssignment]) -> list[str]:
    """Enter the scores and comments that were given by hand for a notebook for its copies, where a copy has none.

    Returns the students whose score differs from that of the notebook.
    """
    by_student, differ = {each.student_id: each for each in found}, []
    for student, submission in by_student.items():
        lab = submission.assignment.name
        if not (source := by_student.get(source_of(student, lab))):
            continue
        for mine, theirs in zip(submission.notebooks, source.notebooks, strict=True):
            scores = {grade.name: grade for grade in theirs.grades}
            for grade in mine.grades:
                other = scores[grade.name].manual_score
                if other is not None and grade.manual_score is None:
                    grade.manual_score, grade.needs_manual_grade = other, False
                elif grade.manual_score is not None and grade.manual_score != other:
                    differ.append(student)
            comments = {comment.name: comment for comment in theirs.comments}
            for comment in mine.comments:
                if comment.manual_comment is None and comments[comment.name].manual_comment is not None:
                    comment.manual_comment = comments[comment.name].manual_comment
    gradebook.db.commit()
    return differ
