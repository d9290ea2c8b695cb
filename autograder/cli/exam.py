"""The command `rushlight exam`: draw, take, print and grade exams from each student's own code, and practise them."""

from __future__ import annotations

import webbrowser
from pathlib import Path

import click

from ..course import WORK
from ..language import speak, speaking
from ..model import Course, Lab
from ..text import printable
from .base import InOrder, app, lang, need_command, need_language, out, progress_bar, short
from .instructors import _class, _need_sandbox, _released

PRACTICE = "practice"  # the folder, and the student of its papers


class _Exam(InOrder):
    """`exam LAB...` draws: a first word that is no command of the group is a lab."""

    def resolve_command(
        self, context: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in self.commands:
            args = ["draw", *args]
        return super().resolve_command(context, args)


@app.group(
    cls=_Exam,
    invoke_without_command=True,
    context_settings={"ignore_unknown_options": True},
    subcommand_metavar="LAB... | COMMAND ...",
)
@click.pass_context
def exam(context: click.Context) -> None:
    """Examine students on their own code, and mark it by running.

    `rushlight exam 01a 02b` draws a paper for each student of the class from what they handed in. `rushlight exam --practice 01a`
    is for a student: new items from one's own work, marked at once.
    """
    need_command(context)


@exam.command()
@click.argument("labs", metavar="LAB...", nargs=-1, required=True)
@_class
@click.option("--practice", is_flag=True, help="Draw from your own work, take it in the browser, and see the marks.")
@click.option("--no-sandbox", is_flag=True, help="Run submissions as ordinary processes: only if you trust them.")
@lang
def draw(labs: tuple[str, ...], practice: bool, no_sandbox: bool, language: str) -> int:
    """Draw a paper for each student who has none yet."""
    need_language(language)
    wanted = _released(labs)
    with speaking(language):
        return _practise(wanted) if practice else _draw(wanted, no_sandbox)


def _draw(labs: list[Lab], no_sandbox: bool) -> int:
    from ..classroom.grade import jobs_here
    from ..exam.class_exams import draw as draw_papers

    for lab in labs:
        _need_sandbox(no_sandbox, lab)
    with progress_bar() as progress:
        drawn = draw_papers(labs, min(map(jobs_here, labs)), not no_sandbox, progress)
    for student, reason in drawn.failed.items():
        out.print(printable(f"{student}: NO paper, {reason}"), markup=False, style="yellow")
    for student, said in drawn.borrowed.items():
        out.print(printable(f"{student}: {said}"), markup=False)
    if drawn.kept:
        out.print(f"{len(drawn.kept)} papers were there before, and stay", markup=False)
    exam, number = drawn.exam, drawn.exam.name.removeprefix("exam_")
    out.print(
        f"{len(drawn.new)} papers: {short(exam.paper('').parent)}/STUDENT.exam, one for each student", markup=False
    )
    out.print(f"the word of the room, which opens them: {exam.word}", markup=False)
    on_paper, afterwards = (Course().command(f"rushlight exam {step} {number}") for step in ("print", "grade"))
    out.print(f"on paper: {on_paper}; afterwards: {afterwards}", markup=False)
    return 1 if drawn.failed else 0


@exam.command()
@click.argument("paper", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--no-open", is_flag=True, help="Do not open a browser, only print the address.")
def take(paper: Path, no_open: bool) -> int:
    """Take an exam in the browser.

    PAPER is the file that you were given, STUDENT.exam. The answers are sealed as you give them, in a file beside the paper, which
    you hand in. If anything stops, start it again: it goes on where it was.
    """
    from ..exam.desk import SUFFIX as ANSWERS
    from ..exam.desk import serve

    serve(paper, paper.parent, open_browser=not no_open)
    out.print(speak("hand in {path}", path=short(paper.with_suffix(ANSWERS))), markup=False)
    return 0


@exam.command("print")
@click.argument("name", metavar="EXAM")
@_class
def print_(name: str) -> int:
    """Write the papers of a class as a PDF.

    Each sheet has a code and no name. A form for the person who types the answers is beside it.
    """
    from ..exam.class_exams import find_exam, print_sheets

    for path in print_sheets(find_exam(name, Course())):
        out.print(short(path), markup=False)
    return 0


@exam.command()
@click.argument("name", metavar="EXAM")
@_class
@click.option("--no-sandbox", is_flag=True, help="Run submissions as ordinary processes: only if you trust them.")
def grade(name: str, no_sandbox: bool) -> int:
    """Mark the answers, and enter them in the gradebook beside the labs.

    The files of answers are in `exams/EXAM/answers`, and what was typed from paper is in `exams/EXAM/typed.csv`. Grading again
    marks what is new, and keeps every mark that was given by hand for an answer that is the same.
    """
    from ..exam.class_exams import find_exam, labs_of, stray_answers
    from ..exam.class_exams import grade as grade_exam

    course = Course()
    exam = find_exam(name, course)
    for lab in labs_of(exam, course):
        _need_sandbox(no_sandbox, lab)
    complete = True
    for path in stray_answers(exam):
        out.print(
            printable(f"{path} belongs to no student of this exam, and is left alone"), markup=False, style="yellow"
        )
    with progress_bar() as progress:
        for line in [*grade_exam(exam, not no_sandbox, progress)]:
            is_missing = "NOT marked" in line
            complete &= not is_missing
            out.print(printable(line), markup=False, style="yellow" if is_missing else None)
    return 0 if complete else 1


def _practise(labs: list[Lab]) -> int:
    """An exam on one's own work. It needs no sandbox: one's own code runs here in the notebook too."""
    import secrets

    from ..exam.book import Marked, write_feedback
    from ..exam.class_exams import exam_on
    from ..exam.desk import SUFFIX as ANSWERS
    from ..exam.desk import read, serve
    from ..exam.draw import Material, cells_of_file, exam_of
    from ..exam.marking import mark
    from ..exam.paper import SUFFIX, new_word, seal

    cells = {
        lab.name: cells_of_file(lab, lab.work_path.read_text(encoding="utf-8"))
        for lab in labs
        if lab.work_path.exists()
    }
    name = exam_on(labs, labs[0].course).name
    folders = (WORK / PRACTICE / f"{name}-{number}" for number in range(1, 10_000))
    folder = next(each for each in folders if not each.exists())
    path, seed, word = folder / f"{PRACTICE}{SUFFIX}", secrets.randbits(64), new_word()
    with progress_bar() as progress:
        drawn = exam_of(name, PRACTICE, Material(labs, seed, progress), cells, False, seed)
    folder.mkdir(parents=True)
    seal(drawn.paper, word, path)
    out.print(speak("The word that opens it is {word}. Ctrl-C shows the marks.", word=word), markup=False)
    serve(path, folder)
    if not (answers := path.with_suffix(ANSWERS)).exists():
        out.print(speak("The paper was not opened."))
        return 0
    taken = read(answers, drawn.paper)
    marks = mark(drawn, taken.answers, isolated=False)
    rubric = {each: key.rubric for each, key in drawn.keys.items() if key.rubric}
    page = write_feedback(
        Marked(drawn.paper, taken.answers, marks.earned, marks.right, rubric, []), path.with_suffix(".html")
    )
    earned = sum(points or 0.0 for points in marks.earned.values())
    most = sum(each.points for each in drawn.paper.fields.values() if marks.earned[each.key] is not None)
    out.print(speak("{earned:g} of {most:g} points: {path}", earned=earned, most=most, path=short(page)), markup=False)
    webbrowser.open(page.as_uri())
    return 0
