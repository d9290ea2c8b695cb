"""Learning management systems: marks written into the file that a system gave, feedback under the names that it gave.

Canvas, Moodle and Blackboard import a table whose rows and columns carry identifiers of their own. So the table that an instructor
has downloaded is filled in: a row belongs to a student if it has an identifier of that student, never a similar name, and of the
file only the cells with new marks change. A pack of feedback has a page for each student, under the name that the system reads.
"""

from __future__ import annotations

import re
import zipfile
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from nbgrader.api import Gradebook, Student, SubmittedAssignment

from ..course import replacing
from ..engine.observe import GradingError
from ..model import Lab, Submission
from ..text import printable
from .collect import DOWNLOADED, read_names
from .feedback import is_refused, shows_entries
from .grade import EARLIER, OTHER_POINTS, is_done, why_not_recorded
from .gradebook import mark_of
from .late import renew, submissions
from .table import Table, policy_of, read, value

# The columns that identify a student, in lower case. Moodle's `identifier` is "Participant 123", with the number of the download;
# Canvas' `id` is the number of the download, too.
BY_NUMBER = ("identifier", "id")
BY_NAME = ("sis user id", "sis login id", "integration id", "username", "student id", "id number", "email address")
UNMARKED = "answers wait to be marked"
KEPT = ("EX", "N/A")  # what Canvas has for a student who is excused, or to whom the lab is not assigned


def read_table(path: Path) -> Table:
    """A file as a system downloads it. Raises GradingError."""
    table = read(path)
    if not table.rows or len(table.head) < 2:
        raise GradingError(f"{path} is not a table that a learning management system has written: it has one column")
    for number, row in enumerate(table.rows, 1):
        if len(row) != len(table.head) and row != [""]:
            raise GradingError(f"{path}, row {number}: {len(row)} cells, and {len(table.head)} headings")
    return table


def _number(text: str) -> float | None:
    return float(text.replace(",", ".")) if re.fullmatch(r"-?\d+(?:[.,]\d+)?", text) else None


# Marks ---------------------------------------------------------------------------------------------------------------


@dataclass
class Filled:
    """The marks of a lab that were filled in, and those that were left."""

    lab: Lab
    column: str
    by: str
    new: int = 0
    same: int = 0
    changed: list[str] = field(default_factory=list)
    kept: list[str] = field(default_factory=list)
    doubled: dict[str, str] = field(default_factory=dict)
    not_in_file: list[str] = field(default_factory=list)
    not_handed_in: list[str] = field(default_factory=list)
    unmarked: list[str] = field(default_factory=list)
    outdated: list[str] = field(default_factory=list)
    with_other_points: list[str] = field(default_factory=list)

    def lines(self) -> Iterator[str]:
        yield f"{self.lab} into {self.column!r}, students found by {self.by!r}: {self.new} new, {self.same} as they were"
        for text, names in (
            ("other marks before", self.changed),
            ("left as they are", self.kept),
            ("NOT entered, an identifier occurs twice", [*self.doubled.values()]),
            ("NOT entered, no row in the file", self.not_in_file),
            ("rows without a submission here, left as they are", self.not_handed_in),
            (UNMARKED, self.unmarked),
            (EARLIER, self.outdated),
            (OTHER_POINTS, self.with_other_points),
        ):
            if names:
                yield f"  {listed(text, names)}"


def listed(text: str, names: list[str]) -> str:
    """A line that names students, or their rows."""
    return f"{text} ({len(names)}): {'; '.join(map(printable, names))}"


def fill_in(
    table: Table, gradebook: Gradebook, lab: Lab, column: str | None = None, by: str | None = None, scale: bool = False
) -> Filled:
    """Write the marks of a lab into a table. Raises GradingError, with the table unchanged, if it is not clear where."""
    renew(gradebook, lab, policy_of(lab))
    entries = submissions(gradebook, lab)
    if not entries:
        raise GradingError(f"{lab} has no marks: `{lab.course.command(f'rushlight grade {lab.number}')}` makes them")
    target = _grade_column(table, lab, column)
    identifying, rows_of, doubled = _match(table, lab, entries, by)
    result = Filled(lab, table.head[target], table.head[identifying], doubled=doubled)
    maxima = {row: _maximum(table, target, row) for row in rows_of.values()}
    worth = entries[0].assignment.max_score
    if other := next(
        (maximum for maximum in maxima.values() if maximum is not None and maximum != worth and not scale), None
    ):
        raise GradingError(
            f"{lab} has {worth:g} points here and {other:g} in {result.column!r}: change them there, or use --scale"
        )
    for entry in entries:
        submission = Submission(lab, entry.student_id)
        if submission.student not in rows_of:
            if submission.student not in doubled:
                result.not_in_file.append(submission.student)
            continue
        row = rows_of[submission.student]
        mark = mark_of(entry) * (maxima[row] / worth if scale and maxima[row] and worth else 1)
        _enter(table, row, target, mark, submission, result)
        if entry.needs_manual_grade:
            result.unmarked.append(submission.student)
        if submission.path.exists() and (why := why_not_recorded(submission)):
            (result.outdated if why == EARLIER else result.with_other_points).append(submission.student)
    taken = {*rows_of.values()}
    result.not_handed_in = [_name(row) for position, row in _people(table, target) if position not in taken]
    return result


def _grade_column(table: Table, lab: Lab, wanted: str | None) -> int:
    """The column for the marks of a lab: the one that is named, or whose heading has the lab's number, or Moodle's `Grade`."""
    heads = [head.lower() for head in table.head]
    if wanted is not None:
        columns = [i for i, head in enumerate(heads) if head == wanted.strip().lower()]
    else:
        titles = [re.sub(r"\(\d+\)$|\[total pts.*$", "", head) for head in heads]
        columns = [i for i, title in enumerate(titles) if re.search(rf"(?<![0-9a-z]){lab.number}(?![0-9a-z])", title)]
        if not columns and "identifier" in heads:
            columns = [i for i, head in enumerate(heads) if head == "grade"]
    if len(columns) != 1:
        which = "no column" if not columns else f"{len(columns)} columns"
        raise GradingError(
            f"{which} for {lab} in the file: name one with --column; it has {', '.join(map(printable, table.head))}"
        )
    if any("read only" in value(row[columns[0]]) for row in table.rows[1:3] if row != [""]):
        raise GradingError(f"{table.head[columns[0]]!r} is read only in Canvas")
    values = [text for _, row in _people(table, columns[0]) if (text := _entered(row[columns[0]]))]
    texts = [text for text in values if _number(text) is None and text.upper() not in KEPT]
    if heads[columns[0]] in (*BY_NUMBER, *BY_NAME) or 2 * len(texts) > len(values) > 1:
        raise GradingError(f"{table.head[columns[0]]!r} is no column for marks: {printable(values[0])!r} is there")
    return columns[0]


def _match(
    table: Table, lab: Lab, entries: list[SubmittedAssignment], by: str | None
) -> tuple[int, dict[str, int], dict[str, str]]:
    """The column that identifies most students, the row of each student, and what occurs twice, on either side."""
    heads = [head.lower() for head in table.head]
    wanted = [by.strip().lower()] if by else [*BY_NUMBER, *BY_NAME]
    columns = [heads.index(name) for name in wanted if name in heads]
    if not columns:
        raise GradingError(f"no column of the file identifies students; name one with --by: {', '.join(table.head)}")
    numbers = {student: number for student, (number, _) in downloads(lab).items()}
    own_names = {student.id.lower() for student in gradebook_students(entries)}

    def rows_by_key(column: int) -> dict[str, list[int]]:
        rows = defaultdict(list)
        for i, row in enumerate(table.rows[1:], 1):
            if row != [""] and (key := _key(value(row[column]), column)):
                rows[key].append(i)
        return rows

    def _key(text: str, column: int) -> str:
        if heads[column] not in BY_NUMBER or (by and text.lower() in own_names):
            return text.lower()
        number = re.search(r"\d+$", text)
        return number[0] if number else text.lower()

    def keys(student: Student, column: int) -> set[str]:
        own = {numbers.get(student.id), student.lms_user_id}
        if by or heads[column] not in BY_NUMBER:
            own |= {student.id, student.email}
        return {str(key).strip().lower() for key in own if key}

    students = [submission.student for submission in entries]
    best = max(
        columns, key=lambda column: sum(bool(keys(student, column) & {*rows_by_key(column)}) for student in students)
    )
    rows, owners = rows_by_key(best), defaultdict(set)
    for student in gradebook_students(entries):
        for key in keys(student, best):
            owners[key].add(student.id)
    rows_of, doubled = {}, {}
    for student in students:
        mine = {row for key in keys(student, best) for row in rows.get(key, ())}
        others = {other for key in keys(student, best) & {*rows} for other in owners[key]} - {student.id}
        if len(mine) > 1 or (mine and others):
            whose = f" (also {', '.join(sorted(others))})" if others else ""
            doubled[student.id] = f"{student.id} in the rows {', '.join(str(row + 1) for row in sorted(mine))}{whose}"
        elif mine:
            rows_of[student.id] = mine.pop()
    if not rows_of and not doubled:
        raise GradingError(
            f"no student of {lab} is in the file: {table.head[best]!r} has none of their identifiers"
            f" (`{lab.course.command('nbgrader db student list')}` shows them; --by names another column)"
        )
    return best, rows_of, doubled


def gradebook_students(entries: list[SubmittedAssignment]) -> Iterable[Student]:
    """All students of the gradebook: an identifier of one who did not hand in must not lead to another."""
    from sqlalchemy.orm import object_session

    session = object_session(entries[0])
    assert session is not None, "they were read from a gradebook"
    return session.query(Student).all()


def _maximum(table: Table, target: int, row: int) -> float | None:
    """The most that a student can have in the system, as the file says it."""
    if total := re.search(r"\[total pts: ([\d.,]+)", table.head[target], re.IGNORECASE):
        return _number(total[1])
    column = table.column("maximum grade")
    if column is not None:
        return _number(value(table.rows[row][column]))
    return next((_number(value(row[target])) for row in table.rows[1:4] if _is_possible(row)), None)


def _is_possible(row: list[str]) -> bool:
    return value(row[0]) == "Points Possible"


def _people(table: Table, target: int) -> Iterator[tuple[int, list[str]]]:
    """The rows of people. Of Canvas' first rows, one has the points, and one says which labs are posted by hand."""
    first = next((i for i, row in enumerate(table.rows[:4]) if _is_possible(row)), 0)
    for i, row in enumerate(table.rows):
        if i > first and row != [""]:
            yield i, row


def _entered(cell: str) -> str:
    """What a cell for a mark has. Moodle's table of the whole course has `-` where there is none."""
    return "" if (text := value(cell)) == "-" else text


def _name(row: list[str]) -> str:
    return " ".join(filter(None, map(value, row[:2])))


def _enter(table: Table, row: int, target: int, mark: float, submission: Submission, result: Filled) -> None:
    cell = table.rows[row][target]
    before, locked = _entered(cell), table.column("grade can be changed")
    if before.upper() in KEPT or (locked is not None and value(table.rows[row][locked]).lower() == "no"):
        result.kept.append(f"{submission.student} {before or 'locked'}")
        return
    text = f"{mark:.2f}".rstrip("0").rstrip(".")
    number = _number(before)
    if number is not None and abs(number - float(text)) < 0.005:
        result.same += 1
        return
    if before:
        result.changed.append(f"{submission.student} {before}")
    else:
        result.new += 1
    text = text.replace(".", ",") if _has_decimal_commas(table) else text
    quoted = cell.startswith('"') or (not cell and table.rows[0][target].startswith('"')) or table.delimiter in text
    table.rows[row][target] = f'"{text}"' if quoted else text


def _has_decimal_commas(table: Table) -> bool:
    values = [value(cell) for row in table.rows[1:] for cell in row]
    commas = sum(bool(re.fullmatch(r"-?\d+,\d+", value)) for value in values)
    points = sum(bool(re.fullmatch(r"-?\d+\.\d+", value)) for value in values)
    return commas > points or (table.delimiter == ";" and commas == points)


# Feedback ------------------------------------------------------------------------------------------------------------


def downloads(lab: Lab) -> dict[str, tuple[str, str]]:
    """For each student whose file was downloaded from Canvas or Moodle: the system's number, and the file's name in the system."""
    downloaded = {}
    for student, name in read_names(lab.course.folder / "downloaded" / lab.name).items():
        if match := re.match(DOWNLOADED, name):
            downloaded[student] = match["number"], name[match.start("student_id") :]
    return downloaded


def pack_feedback(lab: Lab, gradebook: Gradebook) -> tuple[list[tuple[Path, int]], list[str]]:
    """Write an archive of all pages of feedback for each system from which files came.

    Returns the archives with the number of pages, and for each reason why students have no page in one, a line that names them.
    """
    renew(gradebook, lab, policy_of(lab))
    packs: dict[str, dict[str, Path]] = {"canvas": {}, "moodle": {}}
    left, names = defaultdict(list), downloads(lab)
    if not names and submissions(gradebook, lab):
        page = Submission(lab, "STUDENT").page
        return [], [f"no submission of {lab} came from Canvas or Moodle; a student's page is {page}"]
    for entry in submissions(gradebook, lab):
        submission = Submission(lab, entry.student_id)
        if submission.student not in names:
            left["the file did not come from Canvas or Moodle"].append(submission.student)
        elif reason := _not_to_be_packed(submission, entry):
            left[reason].append(submission.student)
        else:
            system, name = _name_in_system(submission, *names[submission.student])
            packs[system][name] = submission.page
    for submission in lab.submissions():  # that cannot be graded
        if submission.student in names and is_refused(submission):
            system, name = _name_in_system(submission, *names[submission.student])
            packs[system][name] = submission.page
    written = []
    for system, pages in packs.items():
        path = lab.course.folder / f"feedback-{lab}-{system}.zip"
        path.unlink(missing_ok=True)  # from another time
        if pages:
            with replacing(path) as part, zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED) as archive:
                for name, page in sorted(pages.items()):
                    archive.write(page, name)
            written.append((path, len(pages)))
    return written, [listed(reason, students) for reason, students in left.items()]


def _name_in_system(submission: Submission, number: str, name: str) -> tuple[str, str]:
    """Canvas reads the first two numbers between underscores, Moodle the four parts before the fourth underscore."""
    student, lab = submission.student, submission.lab
    if attachment := re.match(r"\d+(?=_)", name.partition(f"_{number}_")[2]):
        return "canvas", f"{student.replace('_', '')}_{number}_{attachment[0]}_{lab}.html"
    return "moodle", f"{student.replace('_', ' ')}_{number}_assignfeedback_file_{lab}.html"


def _not_to_be_packed(submission: Submission, entry: SubmittedAssignment) -> str:
    """Why a page is not the feedback on the present submission with its present mark, or an empty string."""
    if not is_done(submission):
        is_of_other_points = why_not_recorded(submission) == OTHER_POINTS
        return (
            "graded with the points that the lab had before"
            if is_of_other_points
            else "not graded in its present state"
        )
    if not shows_entries(submission, entry):
        command = submission.lab.course.command(f"rushlight grade {submission.lab.number}")
        advice = f"`{command}` writes it again"
        return f"marks or comments have changed since the page was written, and {advice}"
    return ""
