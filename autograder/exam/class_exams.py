"""The exams of a class: `classroom/exams/EXAM`, with the papers for the students and what only the instructor has.

A paper that is there is never drawn again or replaced, and neither is a student's file of answers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from ..classroom.explain import seed_of_graded
from ..classroom.gradebook import open_gradebook
from ..course import replacing
from ..model import Course, Lab, Submission, Unreadable
from . import sheets
from .book import Marked, enter
from .desk import SUFFIX as ANSWERS
from .desk import read
from .draw import Exam, Material, cells_of, exam_in_limits
from .marking import mark
from .paper import SUFFIX, new_word, seal

Progress = Callable[[int, int, str], None]


@dataclass(frozen=True)
class ClassExam:
    """An exam of a class, and where its files are."""

    name: str  # such as exam_01a_02b
    course: Course

    @property
    def folder(self) -> Path:
        return self.course.folder / "exams" / self.name

    @property
    def word_path(self) -> Path:
        return self.folder / "word.txt"

    @property
    def word(self) -> str:
        """The word that is said in the room. It is drawn once."""
        if not self.word_path.exists():
            with replacing(self.word_path) as part:
                part.touch(mode=0o600)
                part.write_text(f"{new_word()}\n", encoding="utf-8")
        return self.word_path.read_text(encoding="utf-8").strip()

    @property
    def typed(self) -> Path:
        return self.folder / "typed.csv"

    def paper(self, student: str) -> Path:
        return self.folder / "papers" / f"{student}{SUFFIX}"

    def key(self, student: str) -> Path:
        return self.folder / "keys" / f"{student}.json"

    def answers(self, student: str) -> Path:
        return self.folder / "answers" / f"{student}{ANSWERS}"

    @property
    def exams(self) -> list[Exam]:
        """The papers that were drawn, with their keys, by student."""
        return [Exam.read(path) for path in sorted((self.folder / "keys").glob("*.json"))]


def exam_on(labs: Sequence[Lab], course: Course) -> ClassExam:
    return ClassExam("_".join(["exam", *(lab.number for lab in labs)]), course)


def find_exam(name: str, course: Course) -> ClassExam:
    """The exam of this name. Raises LookupError with those that there are."""
    there = sorted(path.parent.name for path in (course.folder / "exams").glob("*/word.txt"))
    for each in there:
        if name in (each, each.removeprefix("exam_")):
            return ClassExam(each, course)
    command = course.command("rushlight exam LAB")
    known = f"there are {', '.join(there)}" if there else f"there is none: `{command}` draws one"
    raise LookupError(f"no exam {name!r} in this class; {known}")


def students_of(labs: Sequence[Lab]) -> list[str]:
    """The students of the class, and those who handed in one of the labs."""
    found = {submission.student for lab in labs for submission in lab.submissions()}
    if (labs[0].course.folder / "gradebook.db").exists():
        with open_gradebook(read_only=True) as gradebook:
            found |= {student.id for student in gradebook.students}
    return sorted(found)


@dataclass
class Drawn:
    exam: ClassExam
    new: list[str] = field(default_factory=list)
    kept: list[str] = field(default_factory=list)
    failed: dict[str, str] = field(default_factory=dict)
    borrowed: dict[str, str] = field(default_factory=dict)  # which items are about the course's own code, and why


def draw(labs: Sequence[Lab], jobs: int, isolated: bool = True, progress: Progress = lambda *_: None) -> Drawn:
    """Draw a paper for each student who has none yet. Raises LookupError if the labs have nothing to ask about."""
    course = labs[0].course
    drawn, seed, students = Drawn(exam_on(labs, course)), seed_of_graded(course), students_of(labs)
    exam = drawn.exam
    drawn.kept = [student for student in students if exam.paper(student).exists() or exam.key(student).exists()]
    waiting = [student for student in students if student not in drawn.kept]
    if not students:
        command = course.command("rushlight grade")
        raise LookupError(f"the class has no students yet: `{command}` enters those who hand in")
    material = Material(labs, seed, progress) if waiting else None
    for path in (exam.paper(""), exam.key(""), exam.answers("")):
        path.parent.mkdir(parents=True, exist_ok=True)
    (exam.folder / "keys").chmod(0o700)
    hopeless: list[str] = []  # why there is no paper from the course's own functions either

    def one(student: str) -> Exam | str:
        cells = {lab.name: cells_of(Submission(lab, student)) for lab in labs}
        if hopeless and not any(cells.values()):
            return hopeless[0]
        try:
            return exam_in_limits(exam.name, student, material, cells, isolated, seed)
        except LookupError as error:
            why = str(error.args[0]).removeprefix(f"no questions for {student}: ")
        if not any(cells.values()):
            hopeless.append(why)
            return why
        if hopeless:
            return hopeless[0]
        try:  # whatever this student's code has brought about
            without = exam_in_limits(exam.name, student, material, {}, isolated, seed)
        except LookupError as error:
            hopeless.append(str(error.args[0]).removeprefix(f"no questions for {student}: "))
            return hopeless[0]
        for key in without.keys.values():
            key.why = key.why and why
        return without

    with ThreadPoolExecutor(jobs) as pool:
        for number, (student, made) in enumerate(zip(waiting, pool.map(one, waiting)), 1):
            progress(number, len(waiting), student)
            if isinstance(made, str):
                drawn.failed[student] = made
                continue
            made.write(exam.key(student))  # first: without it a paper cannot be marked
            seal(made.paper, exam.word, exam.paper(student))
            drawn.new.append(student)
            if said := borrowed(made):
                drawn.borrowed[student] = said
    if waiting and {*drawn.failed.values()} == {*hopeless} and len(drawn.failed) == len(students):
        raise LookupError(hopeless[0])
    return drawn


def borrowed(exam: Exam) -> str:
    """Which items are about the course's own code, with the reasons. Empty if there are none."""
    names: dict[str, list[str]] = {}
    own = [key for key in exam.keys.values() if not key.is_own]
    for key in own:
        name = key.check.rpartition(".")[2]
        if name not in names.setdefault(key.why or "it is the student's too", []):
            names[key.why or "it is the student's too"].append(name)
    parts = [f"{', '.join(each)} ({why})" for why, each in names.items()]
    return f"{len(own)} of {len(exam.keys)} items are about the course's own code: {'; '.join(parts)}" if own else ""


def print_sheets(exam: ClassExam) -> list[Path]:
    """The sheets of all students, the list of their codes, and the form for who types the answers, which is never overwritten."""
    papers = [each.paper for each in exam.exams]
    folder = exam.folder / "sheets"
    folder.mkdir(exist_ok=True)
    paths = [
        sheets.print_sheets(papers, folder / f"{exam.name}.pdf"),
        sheets.list_of_codes(papers, folder / "codes.pdf"),
    ]
    if not exam.typed.exists():
        sheets.write_form(papers, exam.typed)
    return [*paths, exam.typed]


def grade(exam: ClassExam, isolated: bool = True, progress: Progress = lambda *_: None) -> Iterator[str]:
    """Mark what was handed in, on the machine or typed from paper, and enter it. Yields a line for each thing to be known."""
    drawn = exam.exams
    typed = sheets.read_typed(exam.typed, [each.paper for each in drawn]) if exam.typed.exists() else {}
    marked: list[Marked] = []
    for number, each in enumerate(drawn):
        student = each.paper.student
        progress(number, len(drawn), student)
        answers, remarks = typed.get(student, {}), list[str]()
        if any(text.strip() for text in answers.values()) and exam.answers(student).exists():
            yield f"{student}: NOT marked, there are typed answers and a file of answers: leave one"
            continue
        if exam.answers(student).exists():
            try:
                taken = read(exam.answers(student), each.paper)
            except Unreadable as error:
                yield f"{student}: NOT marked, {error}"
                continue
            answers, remarks = taken.answers, [*taken.remarks]
            yield f"{student}: {taken.minutes:.0f} minutes, receipts {taken.begun_receipt} and {taken.receipt}"
            yield from (f"{student}: {remark}" for remark in remarks)
        elif not any(text.strip() for text in answers.values()):
            yield f"{student}: no answers"
            continue
        try:
            marks = mark(each, answers, isolated)
        except LookupError as error:
            yield f"{student}: NOT marked, {error.args[0]}"
            continue
        rubric = {name: key.rubric for name, key in each.keys.items() if key.rubric}
        marked.append(Marked(each.paper, answers, marks.earned, marks.right, rubric, remarks))
    yield from enter(exam.name, marked) if marked else []


def labs_of(exam: ClassExam, course: Course) -> list[Lab]:
    return [course.find_released(number) for number in exam.name.split("_")[1:]]


def stray_answers(exam: ClassExam) -> list[str]:
    """The files of answers that belong to no student of the exam."""
    known = {each.paper.student for each in exam.exams}
    return sorted(path.name for path in (exam.folder / "answers").glob(f"*{ANSWERS}") if path.stem not in known)
