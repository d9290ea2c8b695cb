"""Files of separated values: those of learning systems, and the small tables that an instructor keeps beside the gradebook.

Spreadsheets write UTF-8 with a byte order mark, UTF-16 or a code page, with commas, semicolons or tabs, depending on the country.
All of them are read. A cell that cannot be read is an error with its file and line, and is never left out.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from ..engine.observe import GradingError
from ..text import printable


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
        raise GradingError(f"{path} is not text in UTF-8 or UTF-16") from None
    first = text.lstrip("\ufeff\r\n")
    delimiter = max("\t;,", key=lambda each: len(_split(first.partition("\n")[0], each)[0][0]) if first else 0)
    lines = _split(text, delimiter)
    return Table(encoding, delimiter, [row for row, _ in lines], [end for _, end in lines])


def _encoding(data: bytes) -> str:
    """The byte order mark stays in the text, so that it is written again."""
    if data.startswith(b"\xff\xfe") or data[1:2] == b"\0":
        return "utf-16-le"
    if data.startswith(b"\xfe\xff") or data[:1] == b"\0":
        return "utf-16-be"
    for encoding in ("utf-8", "cp1252"):
        with suppress(UnicodeDecodeError):
            data.decode(encoding)
            return encoding
    return "latin-1"  # every byte is written again as it was


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
