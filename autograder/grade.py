"""Grading a class: many submissions marked at once, one writer to the gradebook.

A *marker*, a process of its own with torch and a judge in it, runs a submission and decides its checks. This process
alone hands the marked notebooks to `nbgrader autograde`, one after the other, so that nbgrader records them. Markers come
from any `concurrent.futures` executor: a pool of processes here, or an engine that spreads them over machines.

A submission is done when its feedback is there, which is written last. Interrupted at any moment, grading is run again
and goes on with what is left.
"""

from __future__ import annotations

import csv
import multiprocessing
import os
import signal
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, ProcessPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import nbformat
from nbgrader.api import Gradebook, MissingEntry
from nbgrader.apps import NbGraderAPI
from traitlets.config import Config

from . import sandbox
from .check import PASSED
from .course import check_name, classroom, points
from .plugin import RunInSubject, class_seed, configure, gradebook_url
from .restore import Unreadable, parse_submission, read_submission, released_notebook
from .run import run

if TYPE_CHECKING:
    from .judge import Judge

FEEDBACK_SECONDS = 60
LOCKED_SECONDS = 30.0  # how long the gradebook may be held by somebody else


class GradingError(Exception):
    """Nothing, or nothing more, can be graded; the message says what to do."""


@dataclass
class Row:
    """One student's line: points per check, what each check came to, and a word on what went wrong."""

    student: str
    scores: dict[str, float] = field(default_factory=dict)
    verdicts: dict[str, dict] = field(default_factory=dict)  # what RunInSubject wrote into the check's cell
    problem: str = ""

    @property
    def total(self) -> float:
        return sum(self.scores.values())

    def outcome(self, check: str) -> str:
        return self.verdicts[check].get("outcome", "graded by nbgrader alone")

    def remark(self) -> str:
        if self.problem:
            return self.problem
        counts = Counter(outcome for check in self.verdicts if (outcome := self.outcome(check)) != PASSED)
        parts = []
        for outcome, count in counts.items():
            names = [check.partition(".")[2] for check in self.verdicts if self.outcome(check) == outcome]
            parts.append(f"{outcome}: {', '.join(names) if count <= 3 else count}")
        return "; ".join(parts)


def students(lab: str) -> list[str]:
    """Everybody who handed in a lab."""
    return sorted(path.parent.name for path in (classroom() / "submitted").glob(f"*/{lab}") if path.is_dir())


def grade(
    lab: str,
    force: bool = False,
    isolated: bool = True,
    jobs: int | None = None,
    executor: Executor | None = None,
    progress: Callable[[str], None] = lambda student: None,
) -> list[Row]:
    """Grade every submission of a lab that is new or has changed (with `force`, every one), and write its feedback.

    `jobs` submissions are marked at once, by default one per core, or as many as the given `executor` likes.
    `progress(student)` is called as each one is done. Raises GradingError before anything is written if there are no
    submissions, no sandbox can be had, or the class is being graded already. Manual scores and comments stay.
    """
    found = students(lab)
    if not found:
        place = f"{classroom()}/submitted/STUDENT/{lab}/{lab}.ipynb"
        raise GradingError(f"nobody has handed in {lab}: submissions go to {place}")
    if executor is None and (reason := isolated and sandbox.missing() or sandbox.missing_compiler(lab)):
        raise GradingError(reason)
    with _alone_in_the_class():
        rows = {student: Row(student, problem=_unreadable(lab, student)) for student in found}
        waiting = [s for s, row in rows.items() if not row.problem and (force or not _is_done(lab, s))]
        for student in set(found) - set(waiting):
            progress(student)
        if waiting:
            for student, problem in _grade(lab, waiting, isolated, jobs or os.cpu_count() or 1, executor):
                rows[student].problem = problem
                progress(student)
        for row in rows.values():
            if not row.problem:
                _read_grades(row, lab)
    return list(rows.values())


def _grade(
    lab: str, waiting: list[str], isolated: bool, jobs: int, executor: Executor | None
) -> Iterator[tuple[str, str]]:
    """Mark, record and give feedback; yields each student with what went wrong, if anything did."""
    config = Config()
    configure(config)
    config.RunInSubject.isolated = isolated
    writer, seed = NbGraderAPI(config=config), class_seed(Path(config.RunInSubject.seed_file))
    pool = _markers(jobs)
    ahead = 2 * jobs if executor is None else len(waiting)
    todo = deque((student, mark) for student in waiting)
    pending: dict[Future, tuple[str, Callable, Executor]] = {}
    suspects: set[str] = set()  # were in work when a marker died: from then on one at a time
    try:
        while todo or pending:
            while todo and (not pending if suspects else todo[0][1] is write_feedback or len(pending) < ahead):
                student, step = todo.popleft()
                where, given = (executor or pool, ()) if step is mark else (pool, (student,))
                if step is mark:
                    given = (_submitted(lab, student).read_text(encoding="utf-8"), seed, isolated)
                try:
                    pending[where.submit(step, lab, *given)] = (student, step, where)
                except BrokenExecutor:  # since it was last looked at
                    pool = _instead(where, pool, executor, jobs)
                    todo.appendleft((student, step))
            alone = len(pending) == 1
            for future in wait(pending, return_when=FIRST_COMPLETED).done:
                student, step, where = pending.pop(future)
                error = future.exception()
                if isinstance(error, GradingError):
                    raise error
                if isinstance(error, ModuleNotFoundError):  # the installation's fault: everybody would get the same
                    raise GradingError(str(error))
                if isinstance(error, BrokenExecutor):
                    pool = _instead(where, pool, executor, jobs)
                    if not (alone and student in suspects):
                        suspects.add(student)
                        todo.appendleft((student, step))
                        continue
                    problem = "ended the process that was to deal with it (out of memory?): the others were not touched"
                elif error:
                    done = "marked" if step is mark else "given feedback"
                    problem = f"could not be {done} ({type(error).__name__}: {error}): this is not the student's fault"
                else:
                    problem = _record(writer, lab, student, future.result()) if step is mark else future.result()
                if step is mark and not problem:
                    todo.appendleft((student, write_feedback))
                else:
                    suspects.discard(student)
                    yield student, problem
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


# In a marker ---------------------------------------------------------------------------------------------------------


def _instead(broken: Executor, pool: Executor, executor: Executor | None, jobs: int) -> Executor:
    """The pool to go on with when something that runs markers has broken: a new one, unless that was done already."""
    if broken is executor:
        raise GradingError("the engine that marks submissions has broken: run it again to go on")
    return _markers(jobs) if broken is pool else pool


def _markers(jobs: int) -> Executor:
    return ProcessPoolExecutor(jobs, multiprocessing.get_context("spawn"), _begin_marker, (os.getpid(),))


def _begin_marker(parent: int) -> None:
    """Leave interrupts to the process that grades, and end with it however it ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(0.5)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


@cache
def _judge(seed: int) -> Judge:
    from .judge import Judge  # and torch, which a process that only writes feedback need not wait for

    return Judge(seed)


def mark(lab: str, text: str, seed: int, isolated: bool) -> str:
    """Run a submission and decide its checks. Text in, text out, so that it can be done on another machine."""
    notebook = parse_submission(text.encode(), released_notebook(lab))
    run(notebook, lab, _judge(seed), isolated)
    return nbformat.writes(notebook)


def write_feedback(lab: str, student: str) -> str:
    """nbgrader's page for a graded submission; returns what went wrong, or nothing."""
    config = Config()
    configure(config)
    with _alarm(FEEDBACK_SECONDS):
        return _problem(NbGraderAPI(config=config).generate_feedback(lab, student, force=True))


@contextmanager
def _alarm(seconds: int) -> Iterator[None]:
    """Raise TimeoutError in what takes longer. (Alarms are for a process's main thread: a pool's tasks run there.)"""

    def ring(*_: object) -> None:
        raise TimeoutError(f"took longer than {seconds} s")

    signal.signal(signal.SIGALRM, ring)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)


# In the one process that writes --------------------------------------------------------------------------------------


def _record(writer: NbGraderAPI, lab: str, student: str, marked: str) -> str:
    """Let nbgrader record a marked submission; returns what went wrong, or nothing.

    Forced, since what an interrupted run has left of it would be in the way; nbgrader keeps manual scores.
    """
    RunInSubject.marked = {student: nbformat.reads(marked, as_version=4)}
    deadline = time.monotonic() + LOCKED_SECONDS
    while True:
        problem = _problem(writer.autograde(lab, student, force=True))
        if "database is locked" not in problem:
            return problem
        if time.monotonic() > deadline:
            raise GradingError(
                "another program holds the gradebook (a formgrader?): close it and run this again to go on"
            )


_FATAL = ("No space left on device", "Read-only file system", "Disk quota exceeded", "readonly database")


def _problem(result: dict) -> str:
    """What went wrong in one of nbgrader's steps, in a line. Raises what must end the whole run."""
    if result["success"]:
        return ""
    said = (result.get("error") or "") + (result.get("log") or "")
    if (result.get("error") or "").rstrip().endswith("KeyboardInterrupt"):  # nbgrader catches it
        raise KeyboardInterrupt
    if reason := next((reason for reason in _FATAL if reason in said), None):
        raise GradingError(
            f"cannot write to {classroom()}: {reason.lower()}; nothing recorded is lost, run it again to go on"
        )
    if "database is locked" in said:
        return "database is locked"
    errors = [line for line in said.splitlines() if "Error: " in line or "Exception: " in line]
    return f"nbgrader could not grade it: {errors[-1].strip() if errors else 'no reason given'}"


@contextmanager
def _alone_in_the_class() -> Iterator[None]:
    """Hold the class's lock: a second grader is told so. The system lets go of it however this process ends."""
    import fcntl  # not on Windows, where students work but nobody grades

    with (classroom() / "grading.lock").open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise GradingError(f"somebody is grading {classroom()} already: wait until that is done") from None
        yield


def _submitted(lab: str, student: str) -> Path:
    return classroom() / "submitted" / student / lab / f"{lab}.ipynb"


def _autograded(lab: str, student: str) -> Path:
    return classroom() / "autograded" / student / lab / f"{lab}.ipynb"


def _unreadable(lab: str, student: str) -> str:
    """Why a submission cannot be graded, in a line, or nothing."""
    try:
        parse_submission(read_submission(_submitted(lab, student)), released_notebook(lab))
    except Unreadable as error:
        return str(error)
    return ""


def _is_done(lab: str, student: str) -> bool:
    """Whether the submission, as it is now, has been graded to the end."""
    page = classroom() / "feedback" / student / lab / f"{lab}.html"
    return (
        _autograded(lab, student).exists()  # nbgrader removes it where grading again has failed
        and page.exists()
        and page.stat().st_mtime >= _submitted(lab, student).stat().st_mtime
        and page.read_text(encoding="utf-8").rstrip().endswith("</html>")
    )


def _read_grades(row: Row, lab: str) -> None:
    """Points from the gradebook, verdicts from the graded notebook."""
    notebook = nbformat.read(_autograded(lab, row.student), as_version=4)
    with Gradebook(gradebook_url(), "rushlight") as gradebook:
        try:
            found = gradebook.find_submission_notebook(lab, lab, row.student).grades
        except MissingEntry:
            row.problem = "graded, but not in the gradebook: grade again with --force"
            return
        grades = {grade.name: grade.auto_score for grade in found}
    for cell in notebook.cells:
        if (name := check_name(cell)) and (key := cell.metadata.nbgrader.grade_id) in grades:
            row.scores[name] = grades[key] or 0.0
            row.verdicts[name] = dict(cell.outputs[0].metadata.get("rushlight", {}) if cell.outputs else {})


def write_csv(lab: str, rows: list[Row]) -> Path:
    """The table as a file, moved into place when it is whole. Returns where it is."""
    path = classroom() / f"grades-{lab}.csv"
    aside = path.with_suffix(".part")
    worth = points(lab)
    with aside.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["student", *worth, "total", "maximum", "remark"])
        for row in rows:
            scores = [row.scores.get(name, "") for name in worth]
            writer.writerow([row.student, *scores, row.total, sum(worth.values()), row.remark()])
    aside.replace(path)
    return path
