"""Exams on paper: the sheets of a class, with a code for each student and no name, and the form of who types the answers."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import matplotlib
from fpdf import FPDF
from fpdf.enums import XPos, YPos

from ..course import replacing
from ..engine.observe import GradingError
from ..language import speak, speaking
from ..text import neutral, printable
from .desk import LONGEST_VALUE
from .paper import Item, Paper

FONTS = {"Sans": "DejaVuSans.ttf", "Bold": "DejaVuSans-Bold.ttf", "Mono": "DejaVuSansMono.ttf"}
COLUMNS = ("code", "field", "label", "answer")
WIDE, SMALL, LINE = 11.0, 7.5, 5.0  # points of a font, and millimetres
CODE_WIDTH = 110  # characters of a line of code
LARGEST_TABLE = 8 << 20  # bytes of the typed answers of a class
RULED = 8  # lines for some sentences


class _Sheets(FPDF):
    """A4 sheets that say at the foot whose they are, by the code."""

    code = ""

    def __init__(self) -> None:
        super().__init__(format="A4")
        for name, file in FONTS.items():
            self.add_font(name, fname=Path(matplotlib.get_data_path(), "fonts", "ttf", file))
        self.set_auto_page_break(True, margin=18)
        self.set_margins(15, 15)

    def footer(self) -> None:
        if self.code:
            self.set_y(-12)
            self.set_font("Mono", size=9)
            self.cell(0, 5, f"{self.code}    {self.page_no()}", align="R")

    def say(self, text: str, font: str = "Sans", size: float = WIDE, height: float = LINE) -> None:
        self.set_font(font, size=size)
        self.multi_cell(0, height, text, align="L", new_x=XPos.LMARGIN, new_y=YPos.NEXT)

    def item(self, item: Item) -> None:
        if self.get_y() > self.h - 80:  # a heading is not alone at the foot of a page
            self.add_page()
        self.ln(4)
        self.say(f"{item.key}. {_plain(item.title)} ({speak('{points:g} points', points=item.points)})", "Bold", 12, 6)
        for text in item.paragraphs:
            self.ln(1.5)
            if text.startswith(" "):
                self.code_block(text)
            else:
                self.say(_plain(text))
        self.ln(2)
        for each in item.fields:
            self.room(each.key, each.label, each.given, each.kind == "text")

    def code_block(self, text: str) -> None:
        lines = [part for line in text.split("\n") for part in _wrapped(printable(line[1:]))]
        if len(lines) < 50 and self.get_y() + 4 * len(lines) > self.h - 18:
            self.add_page()
        for line in lines:
            self.say(line or " ", "Mono", SMALL, 4)

    def room(self, key: str, label: str, given: str, is_long: bool) -> None:
        """Lines to write on."""
        if self.get_y() + (RULED * 9 if is_long else 12) > self.h - 18:
            self.add_page()
        shown = f"{key}  {_plain(label)}" + (f"   ({speak('in the form')} {given})" if given else "")
        self.say(shown, "Sans", 9, 5)
        for _ in range(RULED if is_long else 1):
            self.ln(8 if is_long else 7)
            self.line(self.l_margin, self.get_y(), self.w - self.r_margin, self.get_y())
        self.ln(2)


def _plain(text: str) -> str:
    return printable(text).replace("`", "")


def _wrapped(line: str) -> list[str]:
    """A line of code in parts that fit, each further one behind a mark."""
    parts = [line[:CODE_WIDTH]]
    for start in range(CODE_WIDTH, len(line), CODE_WIDTH - 8):
        parts.append(f"     ↳ {line[start : start + CODE_WIDTH - 8]}")
    return parts


def print_sheets(papers: Sequence[Paper], path: Path) -> Path:
    """Write the papers, each from a new sheet on, printed on one side or on both."""
    pdf = _Sheets()
    for paper in papers:
        with speaking(paper.language):
            if pdf.page_no() % 2:
                pdf.code = ""
                pdf.add_page()
            pdf.code = ""
            pdf.add_page()
            pdf.code = paper.code
            pdf.say(paper.code, "Mono", 30, 16)
            pdf.say(paper.exam.replace("_", " "), "Bold", 14, 8)
            pdf.say(speak("{minutes} minutes, {points:g} points", minutes=paper.minutes, points=paper.points))
            for item in paper.items:
                pdf.item(item)
    return _written(pdf, path)


def list_of_codes(papers: Sequence[Paper], path: Path) -> Path:
    """Write who has which code, with a place for the receipts of those who take it on a machine."""
    pdf = _Sheets()
    pdf.add_page()
    pdf.say(papers[0].exam.replace("_", " "), "Bold", 14, 9)
    for paper in sorted(papers, key=lambda paper: paper.student):
        pdf.say(f"{paper.code}   {printable(paper.student)[:50]:<52} ____-____  ____-____", "Mono", 9, 8)
    return _written(pdf, path)


def _written(pdf: FPDF, path: Path) -> Path:
    with replacing(path) as part:
        part.write_bytes(bytes(pdf.output()))
    return path


# Typed from paper ----------------------------------------------------------------------------------------------------


def write_form(papers: Sequence[Paper], path: Path) -> None:
    """Write the table for who types: a row for each field, with the code and no name. Raises FileExistsError."""
    with path.open("x", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        for paper in sorted(papers, key=lambda paper: paper.code):
            writer.writerows([paper.code, each.key, neutral(_plain(each.label)), ""] for each in paper.fields.values())


def read_typed(path: Path, papers: Sequence[Paper]) -> dict[str, dict[str, str]]:
    """The typed answers of each student who has one. Raises GradingError with the line for a code or a field that there is not, for
    two answers to one field, and for what a program has put in the place of an answer."""
    by_code = {paper.code: paper for paper in papers}
    if len(by_code) != len(papers):
        raise GradingError("two papers of this exam have the same code: mark them by hand")
    typed: dict[str, dict[str, str]] = {}
    for line, row in _rows(path):
        where = f"{path}, line {line}"
        code, key, answer = (row[name].strip() for name in ("code", "field", "answer"))
        paper = by_code.get(code.upper())
        if paper is None or key not in paper.fields:
            raise GradingError(f"{where}: there is no field {_named(key)} of a paper {_named(code)}")
        if len(answer) > LONGEST_VALUE:
            raise GradingError(f"{where}: the answer has more than {LONGEST_VALUE} characters")
        if answer.upper() in _OF_SPREADSHEETS:
            raise GradingError(
                f"{where}: a spreadsheet has put {answer} in place of the answer: type it again, as a text"
            )
        if inner := next((part for part in answer.splitlines()[1:] if _is_row(part, by_code)), ""):
            raise GradingError(
                f"{where}: the answer to {key} of {code} has another row in it, {_named(inner)}: a quote is open"
            )
        if answer:
            own = typed.setdefault(paper.student, {})
            if own.setdefault(key, answer) != answer:
                raise GradingError(f"{where}: a second answer to {key} of {code}: leave one")
    return typed


def _rows(path: Path) -> Iterator[tuple[int, dict[str, str]]]:
    """The rows of a table that are not empty, each with the number of its first line. Raises GradingError."""
    text = _text(path)
    first = text.partition("\n")[0]
    between = max(",;\t", key=first.count)  # some spreadsheets separate the columns by another sign
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=between, strict=True)
    columns = f"the columns are {', '.join(COLUMNS)}"
    names: list[str] = []
    line = 1
    try:
        for row in reader:
            where, line = line, reader.line_num + 1
            if not any(cell.strip() for cell in row):
                continue
            if not names:
                names = [name.strip().lower() for name in row]
                if any(names.count(name) != 1 for name in COLUMNS):
                    raise GradingError(f"{path}, line {where}: {columns}")
                continue
            if len(row) < len(names) or any(cell.strip() for cell in row[len(names) :]):
                raise GradingError(f"{path}, line {where}: {columns}, and this row has {len(row)} cells")
            yield where, dict(zip(names, row))
    except csv.Error as error:
        raise GradingError(f"{path}, line {line}: the row that begins here cannot be read: {error}") from None
    if not names:
        raise GradingError(f"{path}, line 1: {columns}")


def _text(path: Path) -> str:
    """The text of a table. Raises GradingError with the line that is no text."""
    try:
        with path.open("rb") as file:
            data = file.read(LARGEST_TABLE + 1)
    except OSError as error:
        raise GradingError(f"{path} cannot be read: {error}") from None
    if len(data) > LARGEST_TABLE:
        raise GradingError(f"{path} has more than {LARGEST_TABLE >> 20} MB")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise GradingError(f"{path}, line {line}: the text is not UTF-8: save the table as CSV in UTF-8") from None


_OF_SPREADSHEETS = {"#NAME?", "#REF!", "#VALUE!", "#DIV/0!", "#N/A", "#NUM!", "#NULL!", "#SPILL!", "#CALC!", "#ERROR!"}


def _named(text: str) -> str:
    return repr(printable(text[:40]))


def _is_row(text: str, by_code: Mapping[str, Paper]) -> bool:
    """Whether a line within an answer begins as a row of the table does."""
    code, *rest = re.split(r"[,;\t]", text.replace('"', ""), maxsplit=2)
    paper = by_code.get(code.strip().upper())
    return bool(rest) and paper is not None and rest[0].strip() in paper.fields
