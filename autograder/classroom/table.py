"""Files of separated values: those of learning systems, and the small tables that an instructor keeps beside the gradebook.

Spreadsheets write UTF-8 with a byte order mark, or UTF-16, with commas, semicolons or tabs, depending on the country.
All of them are read. A cell that cannot be read is an error with its file and line, and is never left out.

`classroom/late.csv` has the policies for late submissions, `extensions.csv` the extensions, and `groups.csv` the groups: the rules
of a lab.
"""

from __future__ import annotations

import csv
import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from itertools import chain
from pathlib import Path

from ..course import replacing
from ..engine.observe import GradingError
from ..model import Course, Lab, read_time
from ..text import printable

EVERY_LAB = "every lab"
_SECONDS = {"min": 60, "h": 3600, "hour": 3600, "d": 86400, "day": 86400}


@dataclass
class Table:
    """A file of separated values, whose cells are kept as they are written, with quotes."""

    encoding: str
    delimiter: str
    rows: list[list[str]]
    ends: list[str]  # of the lines

    @property
    def head(self) -> list[str]:
        return [value(cell) for cell in self.rows[0]]

    def column(self, *names: str) -> int | None:
        """The first column with one of these headings, in any case."""
        heads = [head.lower() for head in self.head]
        return next((heads.index(name) for name in names if name in heads), None)

    def to_bytes(self) -> bytes:
        lines = zip(self.rows, self.ends, strict=True)
        return "".join(self.delimiter.join(row) + end for row, end in lines).encode(self.encoding)


def read(path: Path) -> Table:
    """A file of separated values. Raises GradingError if it is no text."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        raise GradingError(f"there is no file {path}") from None
    except OSError as error:
        raise GradingError(f"{path} cannot be read: {error.strerror}") from None
    if data.startswith((b"PK", b"\xd0\xcf\x11\xe0")):
        raise GradingError(f"{path} is a spreadsheet: download a CSV file (or save it as one, in UTF-8)")
    encoding = _encoding(data)
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError:
        raise GradingError(f"{path} is not text in UTF-8 or UTF-16: save it as CSV in UTF-8") from None
    first = text.lstrip("\ufeff\r\n")
    delimiter = max(
        "\t;,", key=lambda character: len(_split(first.partition("\n")[0], character)[0][0]) if first else 0
    )
    lines = _split(text, delimiter)
    return Table(encoding, delimiter, [row for row, _ in lines], [end for _, end in lines])


def _encoding(data: bytes) -> str:
    """The byte order mark stays in the text, so that it is written again."""
    if data.startswith(b"\xff\xfe") or data[1:2] == b"\0":
        return "utf-16-le"
    if data.startswith(b"\xfe\xff") or data[:1] == b"\0":
        return "utf-16-be"
    return "utf-8"


def _split(text: str, delimiter: str) -> list[tuple[list[str], str]]:
    """The lines of a text: the cells of each as they are written, and its end. A quoted cell may have several lines."""
    cell = re.compile(rf'(\ufeff?(?:"(?:[^"]|"")*")?[^{delimiter}\r\n]*)({delimiter}|\r\n|\n|\r|$)')
    lines, row, position = [], [], 0
    while position < len(text):
        match = cell.match(text, position)
        assert match is not None, "a cell may be empty"
        row.append(match[1])
        position = match.end()
        if match[2] != delimiter:
            lines.append((row, match[2]))
            row = []
    return lines + ([([*row, ""], "")] if row else [])


def value(cell: str) -> str:
    """The text of a cell, without its quotes and without blanks around it."""
    cell = cell.removeprefix("\ufeff")
    return (cell[1:].rpartition('"')[0].replace('""', '"') if cell.startswith('"') else cell).strip()


# An instructor's own tables ------------------------------------------------------------------------------------------


class Row(dict[str, str]):
    """The cells of a row by their headings, and where the row is: in which line, and in which file."""

    def __init__(self, cells: dict[str, str], path: Path, line: int):
        super().__init__(cells)
        self.line, self.where = f"line {line}", f"{path}, line {line}"


def read_rows(path: Path, columns: tuple[str, ...], more: tuple[str, ...] = ()) -> Iterator[Row]:
    """The rows of a table with these columns; none if there is no file. A column of `more` may be missing.

    Raises GradingError, with the file and the line, if the table is something else or if a cell has no heading.
    """
    if not path.exists() and not path.is_symlink():
        return
    rows = [(line, row) for line, row in _numbered(read(path)) if any(map(value, row))]
    known, head = {name.lower(): name for name in (*columns, *more)}, []
    for line, row in rows[:1]:
        head = [known.get(cell.lower(), cell) for cell in _cells(row, f"{path}, line {line}")]
    if not {*columns} <= {*head}:
        has = printable(", ".join(head)) or "none"
        raise GradingError(f"{path} needs the columns {', '.join(columns)}; it has: {has}")
    if twice := next((name for name, count in Counter(head).items() if count > 1), None):
        raise GradingError(f"{path}: the heading {printable(twice)} is there twice")
    for line, row in rows[1:]:
        cells, where = _cells(row, f"{path}, line {line}"), f"{path}, line {line}"
        if len(cells) > len(head):
            raise GradingError(f"{where}: {len(cells)} cells, and {len(head)} headings")
        yield Row(dict.fromkeys([*columns, *more], "") | dict(zip(head, cells)), path, line)


def _numbered(table: Table) -> Iterator[tuple[int, list[str]]]:
    """The rows, each with the number of its first line. A quoted cell may have several lines."""
    line = 1
    for row in table.rows:
        yield line, row
        line += 1 + sum(len(re.findall(r"\r\n|\r|\n", cell)) for cell in row)


def _cells(row: list[str], where: str) -> list[str]:
    """The texts of a row, without the empty cells at its end. Raises GradingError if a quote does not end where its cell ends."""
    for cell in row:
        text = cell.removeprefix("\ufeff").strip()
        if text.startswith('"') and not re.fullmatch(r'"(?:[^"]|"")*"', text):
            raise GradingError(f"{where}: a quote in {printable(text[:40])} has no end, or something after it")
    cells = [value(cell) for cell in row]
    while cells and not cells[-1]:
        cells.pop()
    return cells


# The rules of a lab --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Rules:
    """The rules of a class for one lab, as its instructor's three tables have them. They are read once, and all together."""

    policy: Policy | None
    extensions: dict[str, datetime] | None
    groups: dict[str, list[str]]

    @classmethod
    def of(cls, lab: Lab) -> Rules:
        """Raises GradingError if there is a mistake in one of the tables."""
        return cls(policy_of(lab), read_extensions(lab), read_groups(lab))


@dataclass(frozen=True)
class Policy:
    """A share of the points for each day or hour, begun or complete, after the due date and a time of grace."""

    percent: float  # of the points that the student has
    unit: str
    grace: float  # seconds
    text: str  # as the table has it

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
    text = late + (f", grace {grace}" if grace else "")
    return Policy(float(percent), unit, seconds, text)


def set_policy(course: Course, lab: Lab | None, late: str, grace: str | None = None) -> str:
    """Keep the policy of a lab, or of all labs that have none of their own, and return its text. Without a `grace`, that of the
    policy before stays. Raises GradingError."""
    kept = read_policies(course)
    replaced = _row_of(lab, kept) if lab else _row_for_all(kept)
    if grace is None:
        before = replaced or _row_for_all(kept)
        grace = before["grace"] if before else ""
    text = read_policy(late, grace).text
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
    return text


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


def policy_of(lab: Lab) -> Policy | None:
    """The policy of a lab, or None if nbgrader's own configuration decides. Raises GradingError."""
    kept = read_policies(lab.course)
    row = _row_of(lab, kept) or _row_for_all(kept)
    if row is None:
        return None
    try:
        return read_policy(row["late"], row["grace"])
    except GradingError as error:
        raise GradingError(f"{row.where}: {error}") from None


def read_extensions(lab: Lab) -> dict[str, datetime] | None:
    """Until when each student with an extension may hand in a lab (UTC), or None without a file. Raises GradingError."""
    path = lab.course.folder / "extensions.csv"
    extensions: dict[str, datetime] = {}
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
        if extensions.setdefault(student, until) != until:
            raise GradingError(f"{row.where}: {printable(student)} has another time in {rows[student].line}: leave one")
        rows[student] = row
    return extensions


def read_groups(lab: Lab) -> dict[str, list[str]]:
    """The members of each group for a lab. A row of `groups.csv` without a lab is for all labs. Raises GradingError."""
    groups: defaultdict[str, list[str]] = defaultdict(list)
    rows: dict[str, Row] = {}
    is_for = cache(lambda number: not number or lab.is_called(number))
    for row in read_rows(lab.course.folder / "groups.csv", ("group", "student"), ("lab",)):
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
        groups[row["group"]].append(row["student"])
    return groups
