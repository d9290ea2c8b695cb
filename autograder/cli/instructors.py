"""The commands of instructors, from `release` to `alike`, and of who looks after a hub: `judge`."""

from __future__ import annotations

import os
import shlex
import time
from contextlib import AbstractContextManager, nullcontext, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.core import ParameterSource

from ..course import ROOT, classroom, replacing
from ..language import ENGLISH, speaking
from ..model import Course, Lab, Submission
from ..text import printable
from .base import app, in_words, lang, need, need_repository, out, progress_bar, short
from .grading import grade_lab, logging_to

if TYPE_CHECKING:
    from nbgrader.api import Gradebook


def _set_class(context: click.Context, option: click.Parameter, folder: Path | None) -> None:
    """Let RUSHLIGHT_CLASSROOM name the folder until the command ends."""
    if folder:
        before = os.environ.get("RUSHLIGHT_CLASSROOM")
        os.environ["RUSHLIGHT_CLASSROOM"] = str(folder.resolve())
        context.call_on_close(
            partial(os.environ.__setitem__, "RUSHLIGHT_CLASSROOM", before)
            if before is not None
            else partial(os.environ.pop, "RUSHLIGHT_CLASSROOM", None)
        )


_class = click.option(
    "--class",
    is_eager=True,
    expose_value=False,
    callback=_set_class,
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    metavar="DIR",
    help="The folder of the class, which must exist (default: RUSHLIGHT_CLASSROOM, or classroom/).",
)


def _lab_and_students(*words: str) -> tuple[Lab, list[str]]:
    """The lab that one of the words means, and the other words. So `01a ada` and `ada 01a` are the same. Raises LookupError."""
    course = Course()
    for i, word in enumerate(words):
        with suppress(LookupError):
            course.find_lab(word)
            words = (word, *words[:i], *words[i + 1 :])
            break
    return course.find_released(words[0]), list(dict.fromkeys(words[1:]))


@app.command()
@click.argument("lab", required=False)
@click.argument("students", metavar="[STUDENT...]", nargs=-1)
@_class
@click.option(
    "--sample", is_flag=True, help="Grade a sample class in sample/ of the course's folder, not the one in classroom/."
)
@click.option("--force", is_flag=True, help="Grade all submissions again (points by hand stay).")
@click.option("--no-sandbox", is_flag=True, help="Run submissions as ordinary processes: only for code you trust.")
@click.option(
    "--jobs",
    type=click.IntRange(1),
    metavar="N",
    help="Submissions to grade at once (default: one per core, if the memory allows it).",
)
@click.option("--scheduler", metavar="ADDRESS", help="Grade on the workers of a dask.distributed scheduler instead.")
@click.option("--insecure", is_flag=True, help="Permit a scheduler on another machine without TLS.")
@click.option(
    "--log",
    "log_file",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Append a line for each submission to this file.",
)
@click.option(
    "--late", metavar="P%/day", help="From now on, take this share off the points of a late submission (none: nothing)."
)
@click.option("--grace", metavar="TIME", help="With --late: so long after the due date is not late, such as 15min.")
def grade(
    lab: str | None,
    students: tuple[str, ...],
    sample: bool,
    force: bool,
    no_sandbox: bool,
    jobs: int | None,
    scheduler: str | None,
    insecure: bool,
    log_file: Path | None,
    late: str | None,
    grace: str | None,
) -> int:
    """Grade what students handed in, and write the feedback pages.

    Each new or changed submission runs in a sandbox. Its points go into nbgrader's gradebook. The class gets a table and a report,
    and each student a page of feedback, which you return. Without LAB, every lab that a student has handed in is graded. With one
    STUDENT or several, only these are. The exit code is 1 if a submission could not be graded.
    """
    wanted_lab, only = _lab_and_students(lab, *students) if lab else (None, [])
    names = [wanted_lab.name] if wanted_lab else []
    from ..classroom import grade as grading  # imports nbgrader
    from ..engine.observe import GradingError

    if sample:
        if click.get_current_context().get_parameter_source("class") is ParameterSource.COMMANDLINE:
            raise click.UsageError("--sample has a class of its own, in sample/: leave --class out.")
        need_repository()
        from ..classroom.sample import make

        os.environ["RUSHLIGHT_CLASSROOM"] = str(ROOT / "sample")
        make(classroom())
    if grace and not late:
        raise click.UsageError("--grace belongs to --late.")
    course = Course()  # of the sample class, with --sample
    labs = [Lab(name, course) for name in names]
    if late:
        from ..classroom.table import set_policy

        kept = set_policy(course, labs[0] if labs else None, late, grace)
        if not any(wanted.submissions() for wanted in labs or course.released_labs()):
            subject = labs[0] if labs else "all labs without a policy of their own"
            out.print(f"late:     {kept} for {subject}, as soon as a student hands in", markup=False)
            return 0
    from ..classroom.cluster import cluster
    from ..classroom.collect import expect_own_exchange

    if course.folder.is_dir():
        expect_own_exchange()
    failed, complete = [], True
    with logging_to(log_file), nullcontext() if scheduler is None else cluster(scheduler, insecure) as executor:
        for wanted in labs or grading.labs_handed_in(course):
            try:
                complete &= grade_lab(wanted, force, no_sandbox, jobs, executor, *only)
            except GradingError as error:  # such as a compiler that is missing: the other labs may need none
                failed.append(f"{error}" if wanted in labs else f"{wanted}: {error}")
                if isinstance(error, grading.EngineLost):
                    break
    if failed:
        raise GradingError("\n".join(failed))
    return 0 if complete or sample else 1  # the sample class has a file that cannot be read


@app.command()
@click.argument("labs", metavar="LAB...", nargs=-1, required=True)
@_class
@click.option(
    "--from",
    "source",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Where submissions arrive, as STUDENT/LAB/LAB.ipynb (default: nbgrader's exchange).",
)
@click.option(
    "--keep",
    type=click.Choice(["last", "best"]),
    default="last",
    show_default=True,
    help="Which of a student's attempts counts.",
)
@click.option("--names", is_flag=True, help="Show names on the page of the class.")
@click.option("--every", type=click.FloatRange(1), default=5, metavar="SECONDS", help="How often to look (default: 5).")
@click.option(
    "--jobs", type=click.IntRange(1), metavar="N", help="Submissions to grade at once (default: as of grade)."
)
@click.option("--no-sandbox", is_flag=True, help="Run submissions as ordinary processes: only for code you trust.")
def watch(
    labs: tuple[str, ...],
    source: Path | None,
    keep: str,
    names: bool,
    every: float,
    jobs: int | None,
    no_sandbox: bool,
) -> int:
    """Grade each submission as it arrives, and return its feedback.

    It runs until Ctrl-C, prints a line for each submission, and shows the class on a page that renews itself. Feedback goes back
    through nbgrader's exchange. With --from there is none, and the pages are in feedback/ as after `rushlight grade`.
    """
    import multiprocessing

    wanted = _released(labs)
    if source and not source.is_dir():
        raise LookupError(f"there is no folder {source}: submissions arrive there as STUDENT/LAB/LAB.ipynb")
    from ..classroom.watch import Watch  # imports nbgrader
    from ..engine.observe import GradingError

    for lab in wanted:
        _need_sandbox(no_sandbox, lab)
    trouble = ""
    watching = Watch(wanted, source, keep, not no_sandbox, jobs, names, partial(out.print, markup=False))
    try:
        out.print(f"waiting for submissions in {source or 'the exchange'}; the class: {short(watching.write_page())}")
        while True:
            wait = every
            try:
                if watching.look():
                    wait = 0
                trouble = ""
            except (GradingError, OSError) as error:  # such as a gradebook that another program holds
                if in_words(error) != trouble:
                    out.print(in_words(error), markup=False, style="yellow")
                trouble = in_words(error)
            time.sleep(wait)
    except KeyboardInterrupt:
        watching.close()
        for process in multiprocessing.active_children():  # they ignore an interrupt
            process.kill()
        out.print("stopped; what is not graded yet will be when this runs again")
        return 130


@app.command()
@click.argument("labs", metavar="[LAB...]", nargs=-1)
@_class
@click.option(
    "--into", type=click.Path(path_type=Path), metavar="FILE", help="The downloaded table, which stays as it is."
)
@click.option(
    "--out",
    "target",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="The new file (default: marks.csv in the folder of the class).",
)
@click.option(
    "--column", metavar="HEADING", help="The heading of the column for the marks (default: by the number of the lab)."
)
@click.option(
    "--by",
    metavar="HEADING",
    help="The heading of the column that identifies students (default: the one that fits most).",
)
@click.option("--scale", is_flag=True, help="Fit marks to the points that the lab has in the table.")
@click.option(
    "--drop", type=click.IntRange(0), default=0, metavar="N", help="Leave each student's N lowest labs out of the sum."
)
def marks(
    labs: tuple[str, ...],
    into: Path | None,
    target: Path | None,
    column: str | None,
    by: str | None,
    scale: bool,
    drop: int,
) -> int:
    """Write a table of all marks, or fill in one of Canvas or Moodle.

    Without --into, the marks of all labs go into one file, with their sum. With --into, the marks of each LAB go into a table that
    you downloaded from Canvas, Moodle or Blackboard. Nothing is graded.
    """
    named = _released(labs)
    if into and not (named and target):
        raise click.UsageError("--into needs a LAB and --out.")
    if not into and (named or column or by or scale):
        raise click.UsageError("A LAB, --column, --by and --scale belong to --into.")
    if into and drop:
        raise click.UsageError("--drop is for the marks of the term, without --into.")
    if column and len(named) != 1:
        raise click.UsageError("--column is for one LAB.")
    if target and target.exists():
        raise FileExistsError(f"{short(target)} exists: name a new file with --out")
    target = target or classroom() / "marks.csv"
    with _gradebook() as gradebook, replacing(target) as part:
        if not into:
            from ..classroom.term import Term, remarks

            Term(to=str(part), drop=drop).export(gradebook)
            with progress_bar() as progress:
                lines = [*remarks(gradebook, progress)]
            for line in lines:
                out.print(line, markup=False, style="yellow")
        else:
            from ..classroom.lms import fill_in, read_table

            table = read_table(into)
            for lab in named:
                for line in fill_in(table, gradebook, lab, column, by, scale).lines():
                    out.print(line, markup=False)
            part.write_bytes(table.to_bytes())
    out.print(f"marks:    {short(target)}")
    return 0


def _released(numbers: tuple[str, ...]) -> list[Lab]:
    """The labs that these numbers mean, each once. Raises LookupError if one does not exist or has not been built."""
    course = Course()
    return list(dict.fromkeys(course.find_released(lab.name) for number in numbers for lab in course.find_labs(number)))


@app.command()
@click.argument("lab")
@_class
def feedback(lab: str) -> int:
    """Pack the feedback pages into a zip file for Canvas or Moodle.

    The pages are those that `rushlight grade` wrote. This command writes no page again and sends nothing: students get their pages
    when you upload the file. It names each student whose page is not in it, and the reason.
    """
    from ..classroom.lms import pack_feedback

    wanted = Course().find_released(lab)
    with _gradebook() as gradebook:
        written, left = pack_feedback(wanted, gradebook)
    if not written and not left:
        command = wanted.course.command(f"rushlight grade {wanted.number}")
        raise LookupError(f"{wanted} has no marks: `{command}` makes them")
    for line in left:
        out.print(f"not packed: {line}", markup=False, style="yellow")
    for path, count in written:
        out.print(f"{count} page{'s' * (count > 1)} packed: {short(path)}")
    if written:
        out.print("students get them when you upload the file: docs/lms.md says where")
    return 0 if written else 1


def _gradebook() -> AbstractContextManager[Gradebook]:
    """The class's gradebook. There must be one."""
    from ..classroom.gradebook import open_gradebook

    if not (path := classroom() / "gradebook.db").exists():
        raise FileNotFoundError(f"there is no {short(path)}: `{Course().command('rushlight grade')}` makes it")
    return open_gradebook()


@app.command()
@click.argument("lab")
@_class
@click.option(
    "--published",
    multiple=True,
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="NOTEBOOK",
    help="Compare the class with this notebook, too, which students may have found (may be repeated).",
)
def alike(lab: str, published: tuple[Path, ...]) -> int:
    """Find answers to a lab that are unusually alike.

    It writes a page with the pairs of students who share what few others wrote, side by side. No mark depends on it."""
    from ..classroom.alike import write_alike
    from ..classroom.winnowing import outlier_bits

    page, pairs, unreadable = write_alike(Course().find_released(lab), published)
    for line in unreadable:
        out.print(f"not compared: {printable(line)}", markup=False, style="yellow")
    for pair in pairs[:5]:
        out.print(f"{pair.bits:6.0f} bits  {'  '.join(map(printable, pair.students))}", markup=False)
    beyond = sum(pair.bits > outlier_bits(pairs) for pair in pairs)
    out.print(
        f"{beyond} of {len(pairs):,} pairs are far out: far more alike than the others of this class. Side by side: {short(page)}"
    )
    return 0


@app.command()
@click.argument("lab")
@click.argument("student")
@click.argument("exercise", required=False)
@_class
@click.option(
    "--out", "page", type=click.Path(path_type=Path), metavar="FILE.html", help="Also write a page that you can send."
)
@click.option("--no-sandbox", is_flag=True, help="Run the submission as an ordinary process: only if you trust it.")
def explain(lab: str, student: str, exercise: str | None, page: Path | None, no_sandbox: bool) -> int:
    """Run the checks of a graded submission again, after an appeal.

    It says which verdicts hold, and why. Nothing is entered in the gradebook. The exit code is 1 if a verdict does not hold.
    """
    from ..classroom.explain import explain, text, write

    wanted, (student,) = _lab_and_students(lab, student)
    if page and page.suffix != ".html":
        raise LookupError(f"{page} is no page: its name has to end in .html")
    _need_sandbox(no_sandbox, wanted)
    with progress_bar() as progress:
        names = [*wanted.points]

        def before(check: str) -> None:
            progress(names.index(check) if check in names else len(names), len(names), check)

        explained = explain(Submission(wanted, student), exercise, not no_sandbox, before)
    with speaking(ENGLISH):  # as the rest of it is
        out.print(text(explained), markup=False)
        if page:
            write(explained, page)
    if page:
        out.print(f"page: {short(page)}", markup=False)
    return 0 if all(check.holds for check in explained.checks) else 1


@app.command()
@click.argument("lab")
@click.argument("students", metavar="[STUDENT...]", nargs=-1)
@_class
@click.option("--no-sandbox", is_flag=True, help="Run submissions as ordinary processes: only if you trust them.")
def oral(lab: str, students: tuple[str, ...], no_sandbox: bool) -> int:
    """Write questions for an oral examination on a student's answers.

    A student gets three questions, and you the right answers on another sheet. Several students get one file to be printed. Without
    a STUDENT, it lists the exercises of each student that can be asked about. The same student and class give the same questions.
    """
    from ..classroom.oral import write

    wanted, named = _lab_and_students(lab, *students)
    if not named:
        return _print_askable(wanted)
    _need_sandbox(no_sandbox, wanted)
    with progress_bar() as progress:
        submissions = [Submission(wanted, student) for student in named]
        paper = write(wanted, submissions, not no_sandbox, progress)
    for student, remarks in paper.remarks.items():
        for number, question in enumerate(paper.questions.get(student, ()), 1):
            out.print(f"{printable(student)} {number} {question.exercise}: {question.title}", markup=False)
        for line in remarks:
            out.print(printable(line), markup=False, style="yellow")
    if paper.path:
        count = sum(map(len, paper.questions.values()))
        out.print(f"{count} questions, and the answers: {short(paper.path)}", markup=False)
    return 0 if len(paper.questions) == len(paper.remarks) else 1


def _print_askable(lab: Lab) -> int:
    """A line for each student who handed in the lab, with the exercises that can be asked about, and the command for all."""
    from ..classroom.oral import askable

    by_student: dict[str, list[str]] = {}
    for submission in lab.submissions():
        student = submission.student
        try:
            by_student[student] = askable(submission)
            said = (
                ", ".join(name.rpartition(".")[2] for name in by_student[student])
                or "no function that can be asked about"
            )
        except LookupError as error:
            said = error.args[0]
        out.print(f"{printable(student)}: {printable(said)}", markup=False)
    can = [student for student, names in by_student.items() if names]
    if not can:
        raise LookupError(f"no student has an answer to {lab} that can be asked about")
    command = lab.course.command(f"rushlight oral {lab.number} {shlex.join(can)}")
    out.print(f"all of them: {command}", markup=False)
    return 0


def _need_sandbox(no_sandbox: bool, lab: Lab) -> None:
    from ..engine import sandbox

    need(sandbox.unavailable(lab, not no_sandbox))


@app.command()
@click.argument("labs", metavar="LAB...", nargs=-1, required=True)
@_class
@click.option(
    "--out",
    "folder",
    type=click.Path(path_type=Path),
    required=True,
    metavar="DIR",
    help="A folder that does not exist yet.",
)
@click.option("--core", is_flag=True, help="Further exercises of these labs have no points in this class.")
@lang
def release(labs: tuple[str, ...], folder: Path, core: bool, language: str) -> int:
    """Write a class repository: labs for students, without the answers.

    LAB is a lab, or a phase, which means all its labs. Nothing is sent: you publish the folder. A class may have repositories in
    several languages: their submissions are graded together.
    """
    named = _released(labs)
    from ..classroom import kept_releases
    from ..classroom.release import release

    written = release(Course(), named, folder.resolve(), core, language)
    for line in filter(None, (kept_releases.keep_release(lab) for lab in _released(labs))):
        out.print(line, markup=False, style="yellow")
    out.print(f"the class repository is {short(written)}: `git init` there, or give it to students as it is")
    return 0


@app.command()
@click.option(
    "--socket", "path", default=os.environ.get("RUSHLIGHT_JUDGE"), metavar="FILE", help="Where notebooks find it."
)
def judge(path: str | None) -> None:
    """Load torch once for the checks of all notebooks of this machine.

    Started by root, it serves all users, and otherwise only you. Notebooks look for it at the same place: in RUSHLIGHT_JUDGE,
    or else in /run/rushlight/judge.sock.
    """
    from ..notebook import service  # it exists on Linux only

    service.main(path or service.PATH)
