"""Grading a class: many submissions marked at once, one writer to the gradebook.

A *marker*, a process of its own with torch and a judge in it, runs a submission and decides its checks. This process
alone gives the marked notebooks to `nbgrader autograde`, one after the other, and nbgrader records them. Markers belong to a
`concurrent.futures` executor: a pool of processes here, or an engine that distributes them over machines.

A submission is done when its feedback exists, which is written last. After an interrupt at any moment, grading runs again and
continues with the submissions that are not done. Times, penalties and marks of groups are entered for all submissions in every run,
and then every page of feedback is written again that shows something else than the gradebook has.
"""

from __future__ import annotations

import csv
import errno
import json
import logging
import math
import multiprocessing
import os
import signal
import socket
import sqlite3
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, ProcessPoolExecutor, wait
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import nbformat
import psutil
from nbgrader.api import Gradebook, MissingEntry
from nbgrader.apps import NbGraderAPI
from nbgrader.preprocessors import CheckCellMetadata
from sqlalchemy.exc import SQLAlchemyError
from traitlets.config import Config

from ..course import classroom, replacing
from ..engine import sandbox
from ..engine.check import is_on_torch, short_name
from ..engine.edition import versions
from ..engine.observe import GradingError, Malformed, NotGraded, clean
from ..engine.practice import INSTALL
from ..engine.run import outputs_of, run, safe_output
from ..engine.source import other_torch
from ..engine.verdict import PASSED, Verdict, outcome_of, verdict_from
from ..language import language_of, phrase, speaking
from ..model import Course, Lab, Submission, Unreadable, check_name
from ..text import did_you_mean, neutral, printable
from . import groups, late
from .by_hand import is_entered
from .collect import name_as_handed_in, take_renamed
from .feedback import outdated_pages, write_refusal
from .gradebook import HELD, mark_of, open_gradebook, seconds_late
from .kept_releases import expect_checks, keep_release
from .plugin import TakeMarked, configure, judge_of
from .restore import StudentNotebook, aliases, checks_in, edited_checks, verdict_in
from .seals import class_seed, seal
from .table import Rules

FEEDBACK_SECONDS = 60
LOCKED_SECONDS = 30.0  # how long another program may hold the gradebook
# bytes of a marker with its sandbox, in a lab on rushlight and in one on torch: docs/scale.md has each lab
JOB_MEMORY = (3 << 28, 3 << 29)
FEW = 8  # students of whom a line has the names
CONTAINER_MEMORY = Path("/sys/fs/cgroup/memory.max")
log = logging.getLogger("rushlight.grade")  # a line for each submission: the student, the lab, the outcome, the seconds


class EngineLost(GradingError):
    """Raised if the executor that marks submissions has ended. No other lab can be graded on it either."""


@dataclass
class Row:
    """One student's line: the points and the verdict of each check, and a remark if something went wrong."""

    student: str
    scores: dict[str, float] = field(default_factory=dict)
    verdicts: dict[str, dict] = field(default_factory=dict)  # the summary that RunInSubject wrote into the check's cell
    problem: str = ""
    edited: list[str] = field(default_factory=list)  # the checks whose cells the student changed, and grading put back
    copy_of: str = ""  # the member of the group whose notebook this is a copy of
    in_group: str = ""  # a line about a submission of a group's member, such as one that was handed in alone later
    release: str = ""  # a line about a submission from a release of the lab with other exercises than this class has
    joined: list[str] = field(default_factory=list)  # a line for each answer that was joined, or left out
    aliases: dict[str, str] = field(
        default_factory=dict
    )  # by exercise, the function of the course that is all its body calls
    name: str = ""  # of the notebook as it was handed in, if that is not the lab's
    others: list[str] = field(default_factory=list)  # other notebooks in the folder of the submission
    again: str = ""  # a line about a notebook that came again when it was late, without a change
    seconds_late: float = 0.0
    marked_late: bool = False  # by Canvas, which does not say how late it is
    penalty: float = 0.0  # points taken off the checks' points for that
    mark: float | None = None  # in the gradebook: with points by hand, and less nbgrader's penalty
    waiting: int = 0  # answers that wait for a mark by hand
    is_rewritten: bool = False  # whether the page of feedback was written again without grading

    @property
    def earned(self) -> float:
        return sum(self.scores.values())

    @property
    def total(self) -> float:
        """The points of the checks, less the late penalty."""
        return max(0.0, round(self.earned - self.penalty, 2))

    def outcome(self, check: str) -> str:
        return outcome_of(self.verdicts[check]) or "graded by nbgrader alone"

    def late(self) -> str:
        """How late it is and what it loses, such as `late by 26:05 h: 2.8 points off`. Otherwise nothing."""
        minutes = math.ceil(self.seconds_late / 60)
        off = phrase(f"{self.penalty:g} points off") if self.penalty else phrase("no points off")
        if self.marked_late:
            return phrase(f"late in Canvas: {off}")
        time = f"{minutes // 60}:{minutes % 60:02}"
        return phrase(f"late by {time} h: {off}") if minutes else ""

    def borrowed(self) -> list[str]:
        """A line for each answer that may be an alias. It keeps its points: a person decides."""
        pairs = self.aliases.items()
        return [phrase(f"{name} only calls {other}, which the lab does not name") for name, other in pairs]

    def drawn_for_others(self) -> list[str]:
        """A line for each prediction about programs of another name. It keeps its points: a person decides."""
        names = {check: verdict.get("drawn_for", "") for check, verdict in self.verdicts.items()}
        others = [check for check, name in names.items() if name and name.strip().casefold() != self.student.casefold()]
        return [phrase(f"{short_name(check)} is about the programs of {printable(names[check])}") for check in others]

    def remark(self) -> str:
        if self.problem:
            return printable("; ".join(filter(None, [self.problem, self.in_group])))
        outcomes = dict.fromkeys(outcome for check in self.verdicts if (outcome := self.outcome(check)) != PASSED)
        about = (self.release, printable(self.in_group), self.again, self.late())
        parts = [part for part in about if part]
        parts += [f"handed in as {self.name}"] if self.name else []
        parts += [f"changed check cells, put back: {_listed(self.edited)}"] if self.edited else []
        for outcome in outcomes:
            names = [check for check in self.verdicts if self.outcome(check) == outcome]
            parts.append(f"{outcome}: {_listed(names)}")
        parts += [*self.joined, *self.borrowed(), *self.drawn_for_others()]
        if self.others:
            parts.append(f"not graded, beside the submission: {', '.join(map(printable, self.others[:3]))}")
        return "; ".join(parts)


def _listed(checks: list[str]) -> str:
    """The short names of a few checks, or the number of many."""
    return ", ".join(map(short_name, checks)) if len(checks) <= 3 else str(len(checks))


def has_other_marks(rows: list[Row]) -> bool:
    """Whether the mark of a student is not the total: it has points by hand, for example."""
    return any(row.mark not in (None, row.total) for row in rows)


def labs_handed_in(course: Course) -> list[Lab]:
    """The labs that a student handed in, in order. Raises GradingError if there are none."""
    labs = [lab for lab in course.released_labs() if lab.submissions()]
    if not labs:
        raise GradingError(
            f"no student has handed in a lab: submissions go to {course.folder}/submitted/STUDENT/LAB/LAB.ipynb"
        )
    return labs


def grade(
    lab: Lab,
    force: bool = False,
    isolated: bool = True,
    jobs: int | None = None,
    executor: Executor | None = None,
    progress: Callable[[int, int, str], None] = lambda done, total, student: None,
    only: Collection[str] = (),
) -> list[Row]:
    """Grade every submission of a lab that is new or has changed (with `force`, every one), and write its feedback. The feedback
    on other submissions is written again if their marks, comments or penalties have changed.

    With `only`, this is done for the submissions of these students. The rows are those of all students in any case.
    `jobs` submissions are marked at once, by default one per core if the memory allows it, or as many as the given `executor`
    runs. The instructor's tables count as they are when grading begins.
    `progress(done, total, student)` is called after each student. Raises GradingError before anything is written if there are no
    submissions, torch is another version than the course's, no sandbox is available, or the class is being graded already. Manual
    scores and comments stay.
    """
    rules = Rules.of(lab)  # a mistake in them is told before all else
    if not lab.submissions():
        raise GradingError(f"no student has handed in {lab}: submissions go to {Submission(lab, 'STUDENT').path}")
    if needs := other_torch():
        raise GradingError(f"grading {needs}; {INSTALL}")
    if executor is None and (reason := sandbox.unavailable(lab, isolated)):
        raise GradingError(reason)
    with _class_lock(lab.course):
        expect_checks(lab)
        keep_release(lab)
        for submission in lab.submissions():
            take_renamed(lab, submission.folder)
        with open_gradebook() as gradebook:
            said = groups.share_notebooks(gradebook, lab, rules.groups)
        rows = {
            submission.student: Row(submission.student, copy_of=groups.source_of(submission))
            for submission in lab.submissions()
        }
        names = [*rows]  # without the members of groups who have no notebook
        for member, line in said.items():
            if member in rows:
                rows[member].in_group = line
            else:
                rows[member] = Row(member, problem=line)
        if only:
            names = _named(only, names, lab)
        waiting = [Submission(lab, name) for name in names if force or not is_done(Submission(lab, name))]
        jobs, total = jobs or jobs_here(lab), len(names)
        done = total - len(waiting)
        progress(done, total, "")
        if waiting:
            for submission, problem in _ClassRun(lab, isolated, jobs, executor).run(waiting, mark):
                rows[submission.student].problem = problem
                done += 1
                progress(done, total, submission.student)
        failed = {row.student for row in rows.values() if row.problem}
        with open_gradebook() as gradebook:
            late.renew_times(gradebook, lab, rules.extensions)
            late.renew(gradebook, lab, rules.policy)
            outdated = [
                submission
                for submission in outdated_pages(gradebook, lab)
                if submission.student not in failed and (not only or submission.student in only)
            ]
        total += len(outdated)
        if outdated:
            for submission, problem in _ClassRun(lab, isolated, jobs, None).run(outdated, write_feedback):
                if row := rows.get(submission.student):
                    row.problem, row.is_rewritten = problem, submission not in waiting
                done += 1
                progress(done, total, submission.student)
        with open_gradebook() as gradebook:
            for row in rows.values():
                if only and row.student not in only and not Submission(lab, row.student).graded_path.exists():
                    row.problem = row.problem or "not graded yet"
                if not row.problem:
                    try:
                        _read_grades(row, Submission(lab, row.student), gradebook)
                    except Exception as error:
                        row.problem = _problem_of(error, "read")
    return sorted(rows.values(), key=lambda row: row.student)


def _named(only: Collection[str], names: list[str], lab: Lab) -> list[str]:
    """The students to grade. Raises GradingError for a name that no submission has."""
    for name in only:
        if name not in names:
            advice = did_you_mean(name, names) or f"{len(names)} students did"
            raise GradingError(f"no student {printable(name)!r} has handed in {lab}; {advice}")
    return [name for name in names if name in only]


def jobs_here(lab: Lab) -> int:
    """One job per core, or fewer if the free memory of this machine, or of its container, is not enough for so many."""
    memory = psutil.virtual_memory().available
    with suppress(OSError, ValueError):  # not in a container, or in one without a limit: "max"
        memory = min(memory, int(CONTAINER_MEMORY.read_text()))
    return max(1, min(os.cpu_count() or 1, memory // JOB_MEMORY[is_on_torch(lab.name)]))


Step = Callable[..., str]  # `mark` or `write_feedback`


@dataclass
class _Task:
    """A step of one submission, and the executor that runs it."""

    submission: Submission
    step: Step
    executor: Executor
    given: dict[str, Any] | None = None  # what `mark` gets


class _ClassRun:
    """Marks submissions at the same time, records them one after the other, and writes their feedback.

    If a process ends while it runs tasks, any of them may be the cause. They become suspects and run again one at a time. A
    suspect that runs alone when a process ends is the cause.
    """

    def __init__(self, lab: Lab, isolated: bool, jobs: int, engine: Executor | None) -> None:
        config = Config()
        configure(config)
        config.RunInSubject.isolated = isolated
        config.Autograde.sanitize_preprocessors = [TakeMarked, CheckCellMetadata]
        self.lab, self.isolated, self.jobs, self.engine = lab, isolated, jobs, engine
        self.seed = class_seed(Path(config.RunInSubject.seed_file))
        self.writer, self.pool = NbGraderAPI(config=config), markers(jobs)
        self.todo: deque[tuple[Submission, Step]] = deque()
        self.pending: dict[Future, _Task] = {}
        self.suspects: set[Submission] = set()
        self.begun: dict[Submission, float] = {}
        self.outcome = ""  # of a submission if nothing goes wrong

    def run(self, submissions: list[Submission], step: Step) -> Iterator[tuple[Submission, str]]:
        """Run a step, and those that follow from it. Yields each submission with what went wrong, or an empty string."""
        self.todo.extend((submission, step) for submission in submissions)
        self.outcome = "graded" if step is mark else "feedback written again"
        try:
            while self.todo or self.pending:
                yield from self._submit_steps()
                alone = len(self.pending) == 1
                for future in wait(self.pending, return_when=FIRST_COMPLETED).done:
                    yield from self._finish(self.pending.pop(future), future, alone)
        finally:
            self.pool.shutdown(wait=False, cancel_futures=True)

    def _submit_steps(self) -> Iterator[tuple[Submission, str]]:
        """Submit as many steps as may run now. Yields the submissions that cannot be read."""
        while self.todo and self._may_submit(self.todo[0][1]):
            submission, step = self.todo.popleft()
            try:
                self.begun.setdefault(submission, time.monotonic())
                self._submit(submission, step)
            except Exception as error:
                problem = _problem_of(error, "read")
                if isinstance(error, Unreadable):
                    write_refusal(submission, problem)
                yield self._end(submission, problem)

    def _may_submit(self, step: Step) -> bool:
        if self.suspects:
            return not self.pending
        return step is write_feedback or self.engine is not None or len(self.pending) < 2 * self.jobs

    def _submit(self, submission: Submission, step: Step) -> None:
        task, arguments = _Task(submission, step, self.pool), [submission]
        if step is mark:
            task.given = packed(replace(submission))  # its text is read now, and not kept
            task.executor, arguments = self.engine or self.pool, [task.given, self.seed, self.isolated]
        try:
            self.pending[task.executor.submit(step, *arguments)] = task
        except BrokenExecutor:  # it broke after the last task
            self._replace(task.executor)
            self.todo.appendleft((submission, step))

    def _finish(self, task: _Task, future: Future, alone: bool) -> Iterator[tuple[Submission, str]]:
        """Record a marked submission, then let its feedback be written. Yields the submission if nothing is left to do."""
        submission = task.submission
        if isinstance(future.exception(), BrokenExecutor):
            self._replace(task.executor)
            if not (alone and submission in self.suspects):
                self.suspects.add(submission)
                self.todo.appendleft((submission, task.step))
                return
        try:
            problem = result = future.result()
            if task.given is not None:
                problem = _let_record(self.writer, submission, assembled(task.given, result, self.seed))
                if not problem:
                    self.writer.config.Autograde.pre_convert_hook = None  # it has entered the lab, once for all
        except Exception as error:
            problem = _problem_of(error, "marked" if task.step is mark else "given feedback")
        if task.step is mark and not problem:
            self.todo.appendleft((submission, write_feedback))
        else:
            yield self._end(submission, problem)

    def _end(self, submission: Submission, problem: str) -> tuple[Submission, str]:
        """Log that nothing is left to do for a submission. Returns the submission with what went wrong."""
        self.suspects.discard(submission)
        seconds = time.monotonic() - self.begun.pop(submission)
        fields = (submission.student, submission.lab.name, problem or self.outcome, f"{seconds:.1f}")
        log.info("\t".join(map(printable, fields)))
        return submission, problem

    def _replace(self, broken: Executor) -> None:
        """Go on with a new pool if the present one has broken."""
        if broken is self.engine:
            raise EngineLost("the engine that grades submissions has broken: run it again to go on")
        if broken is self.pool:
            self.pool = markers(self.jobs)


def _problem_of(error: Exception, step: str) -> str:
    """Say what went wrong in a step of one submission, in one line. Raises the errors that must end the whole run."""
    if isinstance(error, GradingError | SQLAlchemyError):
        raise error
    if isinstance(error, ModuleNotFoundError):  # the installation is at fault: every submission would fail
        raise GradingError(str(error))
    if isinstance(error, Unreadable):
        return str(error)
    if isinstance(error, NotGraded | Malformed):
        return f"not graded: {error}; look at it, and run this again"
    if isinstance(error, BrokenExecutor):
        return "ended the process that was to deal with it (out of memory?): the others were not touched"
    return f"could not be {step} ({type(error).__name__}: {error}): this is not the student's fault"


def packed(submission: Submission) -> dict[str, Any]:
    """A submission as `mark` gets it, plain data: its notebook, restored, the release of it, and the versions to expect. Raises
    Unreadable."""
    lab, handed_in = submission.lab, StudentNotebook(submission.lab, submission.text)
    notebooks = {"notebook": json.dumps(handed_in.restored()), "release": json.dumps(handed_in.released)}
    return {"lab": lab.name, "student": submission.student, **notebooks, "versions": versions(lab)}


# In a marker ---------------------------------------------------------------------------------------------------------


def markers(jobs: int) -> Executor:
    """So many markers on this machine. They end with this process."""
    return ProcessPoolExecutor(jobs, multiprocessing.get_context("spawn"), _begin_marker, (os.getpid(),))


def _begin_marker(parent: int) -> None:
    """Ignore interrupts, which the grading process handles, and end when that process ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(0.5)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def mark(given: dict[str, Any], seed: int, isolated: bool) -> str:
    """Run a `packed` submission and decide its checks. Takes and returns plain data, so that another machine can do it, without the
    class's folder. `assembled` makes a notebook of the result, which is JSON.

    Raises NotGraded, and GradingError if this machine has other versions than the class, no sandbox or no compiler.
    """
    lab = Lab.with_release(given["lab"], json.loads(given["release"]))
    notebook = nbformat.from_dict(json.loads(given["notebook"]))
    _expect_versions(lab, given["versions"])
    if reason := sandbox.unavailable(lab, isolated):
        raise GradingError(f"{socket.gethostname()}: {reason}")
    verdicts = run(notebook, lab, judge_of(seed), isolated)
    outputs = [cell.outputs for cell in notebook.cells if cell.cell_type == "code" and not check_name(cell)]
    decided = [verdict.as_dict() for verdict in verdicts.values()]
    return json.dumps({"verdicts": decided, "outputs": outputs, "graded_with": notebook.metadata["graded_with"]})


def verdicts_of(marked: str) -> dict[str, Verdict]:
    """The verdicts in what `mark` returns, by check. Raises Malformed."""
    try:
        return {verdict.check: verdict for verdict in map(verdict_from, json.loads(marked)["verdicts"])}
    except (LookupError, TypeError, ValueError, RecursionError):
        raise Malformed("a mark in another form") from None


def assembled(given: dict[str, Any], marked: str, seed: int) -> str:
    """The notebook of a `packed` submission with what `mark` returned, sealed. Only verdicts and outputs are taken from the marker,
    and no markup, because it may be another machine. Raises Malformed."""
    notebook, verdicts = nbformat.from_dict(json.loads(given["notebook"])), verdicts_of(marked)
    try:
        outputs = iter(json.loads(marked)["outputs"])
        for cell in notebook.cells:
            if name := check_name(cell):
                with speaking(language_of(notebook)):
                    cell.outputs, cell.execution_count = outputs_of(verdicts[name]), None
            elif cell.cell_type == "code":
                cell.outputs, cell.execution_count = [*map(safe_output, next(outputs))], None
        graded_with = json.loads(marked)["graded_with"]
        notebook.metadata["graded_with"] = {clean(name): clean(version) for name, version in graded_with.items()}
    except (LookupError, TypeError, ValueError, AttributeError, StopIteration, RecursionError, OverflowError):
        raise Malformed("a mark in another form") from None
    seal(notebook, Submission(Lab(given["lab"]), given["student"]), seed)
    return nbformat.writes(notebook).encode(errors="replace").decode()


def _expect_versions(lab: Lab, expected: dict[str, str]) -> None:
    host = socket.gethostname()
    try:
        installed = versions(lab)
    except (LookupError, ImportError):  # of an exercise, or of torch
        raise GradingError(f"{host} lacks exercises of {lab}, or torch: install the same version there") from None
    for name, version in expected.items():
        if installed[name] != version:
            differs = f"{host} has {name} {installed[name]}, and this class is graded with {version}"
            raise GradingError(f"{differs}: install the same version there, and start its workers again")


def write_feedback(submission: Submission) -> str:
    """Write nbgrader's page for a graded submission. Returns what went wrong, or an empty string."""
    config = Config()
    configure(config)
    writer = NbGraderAPI(config=config)
    with _alarm(FEEDBACK_SECONDS):
        return _problem_in_nbgrader(
            writer, lambda: writer.generate_feedback(submission.lab.name, submission.student, force=True)
        )


@contextmanager
def _alarm(seconds: int) -> Iterator[None]:
    """Within: raises TimeoutError after `seconds`. (An alarm needs the main thread of a process, where a pool runs its tasks.)"""

    def ring(*_: object) -> None:
        raise TimeoutError(f"took longer than {seconds} s")

    before = signal.signal(signal.SIGALRM, ring)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


# In the one process that writes --------------------------------------------------------------------------------------


def _let_record(writer: NbGraderAPI, submission: Submission, marked: str) -> str:
    """Let nbgrader record a submission that has been marked. Returns what went wrong, or an empty string.

    nbgrader is forced, because it skips what an interrupted run has left of a submission. It keeps manual scores.

    This is no transaction: nbgrader commits each score by itself. But the next run repairs what a kill leaves. nbgrader first
    removes the graded notebook, and the new one names its submission only when all scores are in the gradebook. It is also newer
    than the page of feedback. So until the new page is written, the submission is not done. `grade` enters the rest (times,
    extensions, penalties, marks of a group) in every run, for all submissions and from files and scores alone.
    """
    writer.config.TakeMarked.marked = marked
    deadline = time.monotonic() + LOCKED_SECONDS
    while True:
        with uninterrupted():
            problem = _problem_in_nbgrader(
                writer, lambda: writer.autograde(submission.lab.name, submission.student, force=True)
            )
        if problem != HELD:
            return problem
        if time.monotonic() > deadline:
            raise GradingError(HELD)


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Within: an interrupt waits for the end, so that no submission is half recorded."""
    if threading.current_thread() is not threading.main_thread():  # only that one gets interrupts
        yield
        return
    waiting: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, _: waiting.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if waiting:
        raise KeyboardInterrupt


_FATAL = (errno.ENOSPC, errno.EROFS, errno.EDQUOT)
_FATAL_IN_GRADEBOOK = ("SQLITE_FULL", "SQLITE_READONLY", "SQLITE_CANTOPEN", "SQLITE_IOERR")


class _Errors(logging.Handler):
    """Keeps the exceptions that nbgrader catches and logs. In its text there may be words of a student."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.caught: list[BaseException] = []

    def emit(self, record: logging.LogRecord) -> None:
        error = sys.exc_info()[1]
        while error is not None and error not in self.caught:
            self.caught.append(error)
            error = error.__cause__ or error.__context__


def _problem_in_nbgrader(writer: NbGraderAPI, step: Callable[[], dict]) -> str:
    """Say what went wrong in one of nbgrader's steps, in one line. Raises the errors that must end the whole run."""
    errors = _Errors()
    writer.log.addHandler(errors)
    try:
        result = step()
    finally:
        writer.log.removeHandler(errors)
    if result["success"]:
        return ""
    last = (result.get("error") or "no reason given").rstrip().splitlines()[-1]
    if last == "KeyboardInterrupt":  # nbgrader catches it
        raise KeyboardInterrupt
    for error in errors.caught:
        if isinstance(error, OSError) and error.errno in _FATAL:
            raise _cannot_write(error.strerror or str(error))
        if isinstance(error, sqlite3.OperationalError):
            name = getattr(error, "sqlite_errorname", "")
            if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
                return HELD
            if name.startswith(_FATAL_IN_GRADEBOOK):
                raise _cannot_write(str(error))
    if errors.caught:
        last = f"{type(errors.caught[0]).__name__}: {next(iter(str(errors.caught[0]).splitlines()), '')}"
    return f"nbgrader could not grade it: {last}"


def _cannot_write(reason: str) -> GradingError:
    where = f"cannot write to {classroom()}: {reason.lower()}"
    return GradingError(f"{where}; nothing recorded is lost, run it again to go on")


@contextmanager
def _class_lock(course: Course) -> Iterator[None]:
    """Hold the class's lock, so that a second grader is refused. The system releases it however this process ends."""
    try:
        import fcntl
    except ImportError:
        raise GradingError("grading needs Linux or macOS: on Windows, run it in WSL 2") from None
    with (course.folder / "grading.lock").open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise GradingError(f"{course.folder} is being graded already: wait until that is done") from None
        yield


def remarks(lab: Lab) -> list[str]:
    """Remarks on the class, a line each: who has not handed in, groups, due date, policy and extensions."""
    rules = Rules.of(lab)
    with open_gradebook() as gradebook:
        roster = {student.id for student in gradebook.students}
        missing = sorted(roster - {submission.student for submission in lab.submissions()})
        lines = groups.remarks(gradebook, rules.groups) + late.remarks(gradebook, lab, rules)
    if not missing:
        return lines
    names = f": {', '.join(map(printable, missing))}" if len(missing) <= FEW else ""
    have = "has" if len(missing) == 1 else "have"
    return [f"{len(missing)} of the {len(roster)} students of the roster {have} not handed in {lab}{names}", *lines]


def is_done(submission: Submission) -> bool:
    """Whether the submission, in its present state, has been graded completely."""
    graded, page = submission.graded_path, submission.page
    return (
        graded.exists()  # nbgrader removes it if grading again fails
        and page.exists()
        and page.stat().st_mtime >= graded.stat().st_mtime
        and page.read_text(encoding="utf-8").rstrip().endswith("</html>")
        and is_recorded(submission)
    )


def is_recorded(submission: Submission) -> bool:
    """Whether the gradebook has the points of the submission in its present state."""
    return why_not_recorded(submission) == ""


EARLIER = "the mark of an EARLIER submission, because the present one has not been graded"
OTHER_POINTS = "the mark with the points that the lab had before: the next grading gives today's"


def why_not_recorded(submission: Submission) -> str:
    """What the gradebook has instead of the points of the submission in its present state, or an empty string."""
    if not submission.graded_path.exists():
        return EARLIER
    graded = json.loads(submission.graded_path.read_text(encoding="utf-8"))
    if not (_is_of(graded, submission) and is_entered(graded, submission)):
        return EARLIER
    has_present_points = _worth(submission.lab.released).items() <= _worth(graded).items()  # as all students of a class
    return "" if has_present_points else OTHER_POINTS


def _worth(notebook: Mapping) -> dict[str, float]:
    given = [cell["metadata"].get("nbgrader", {}) for cell in notebook["cells"]]
    return {about.get("grade_id", ""): about.get("points") for about in given if about.get("grade")}


def _is_of(graded: dict, submission: Submission) -> bool:
    """Whether a graded notebook was made of this submission, by its content. A student can set the time of a file."""
    try:
        digest = submission.digest
    except Unreadable:
        return False
    of = graded["metadata"].get("submission")
    if of is None and "restored" not in graded["metadata"]:  # nbgrader graded it without the course's steps
        return submission.graded_path.stat().st_mtime >= submission.path.stat().st_mtime
    return of == digest


def _read_grades(row: Row, submission: Submission, gradebook: Gradebook) -> None:
    """Read the points from the gradebook, and the verdicts from the graded notebook."""
    lab = submission.lab
    try:
        entered = gradebook.find_submission_notebook(lab.name, lab.name, submission.student)
    except MissingEntry:
        row.problem = "graded, but not in the gradebook: grade again with --force"
        return
    grades = {grade.name: grade.auto_score or 0.0 for grade in entered.grades}
    row.scores = {check: grades[key] for check, key in lab.release.check_ids.items() if key in grades}
    if entered.score:
        row.penalty = round((entered.late_submission_penalty or 0.0) * row.earned / entered.score, 2)
    row.waiting = sum(grade.needs_manual_grade for grade in entered.grades)
    row.seconds_late, row.mark = seconds_late(entered.assignment), mark_of(entered.assignment)
    row.again = late.came_again(lab, entered.assignment)
    row.marked_late = entered.assignment in late.only_marked_late(lab, [entered.assignment])
    notebook = nbformat.read(submission.graded_path, as_version=4)
    checks = checks_in(notebook, lab.release.nodes)
    row.verdicts = {name: verdict_in(checks[name][1]) for name in row.scores}
    row.joined = [printable(str(line)) for line in notebook.metadata.get("joined", [])]
    row.aliases = aliases(notebook, lab.released)
    row.others = submission.others()
    with suppress(ValueError, RecursionError):  # it has been replaced since it was graded
        handed_in = StudentNotebook(lab, submission.text)
        row.name = name_as_handed_in(submission.folder)
        row.edited, row.release = edited_checks(handed_in.content, handed_in.released), handed_in.remark()


def write_csv(lab: Lab, rows: list[Row]) -> Path:
    """Write the table to a file, which is renamed when it is complete. Returns its path."""
    path = lab.course.folder / f"marks-{lab}.csv"
    worth = lab.points
    with replacing(path) as part, part.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["student", *worth, "hours late", "late penalty", "total", "maximum", "mark", "remark"])
        for row in rows:
            scores = [row.scores.get(name, "") for name in worth]
            times = [round(row.seconds_late / 3600, 2), row.penalty]
            mark = "" if row.mark is None else row.mark
            total = "not graded" if row.problem else row.total
            cells = [row.student, *scores, *times, total, sum(worth.values()), mark, row.remark()]
            writer.writerow([neutral(cell) if isinstance(cell, str) else cell for cell in cells])
    return path
