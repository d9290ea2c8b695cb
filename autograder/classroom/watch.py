"""Watching labs: what students hand in is graded as it arrives, feedback goes back, and a page shows the class.

Each submission that arrives, from nbgrader's exchange or from a folder, becomes a numbered *attempt* in
`classroom/attempts/STUDENT/LAB/`, which nothing changes again. The attempt that counts is in `classroom/submitted/`, where
`grade` finds it. If the last one counts, it is put there and graded. If the best one counts, a further attempt is first tried in
a copy of the class, with a copy of its gradebook. So the class never has the points of an attempt that does not count, and marks
by hand are left alone unless a better attempt takes the place of the one that they are for.

The result of an attempt is written last. After a stop at any moment, the attempts without a result are graded.
"""

from __future__ import annotations

import json
import logging
import os
import shutil
import sqlite3
import stat
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, Future
from contextlib import closing, contextmanager
from dataclasses import dataclass
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import Any

from nbgrader.apps import NbGrader, NbGraderAPI
from traitlets.config import Application, Config

from ..course import COURSE, replacing
from ..engine import board
from ..engine.check import short_name
from ..engine.observe import GradingError, NotGraded
from ..engine.verdict import PASSED
from ..model import BESIDE, MAX_FILES, MAX_FOLDER, Course, Lab, Submission, Unreadable, digest
from ..text import in_one_line, printable
from . import groups
from .collect import Exchanged, _Copy, take_renamed
from .grade import EngineLost, Row, grade, jobs_here, markers, uninterrupted
from .items import attempts as tried
from .items import notebooks
from .pages import MARKS, OTHER, SCHEMES, UNGRADED, escaped, write_page
from .plugin import configure

SETTLED = 2.0  # seconds in which the files of a folder must not change
BATCH = 4  # submissions for each job in one pass, so that the feedback of the first does not wait for the last
LONGEST = 160  # characters of a case on the page


# Attempts ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Attempt:
    """A submission as it arrived, and what it was graded with."""

    lab: Lab
    student: str
    number: int

    @property
    def folder(self) -> Path:
        return _attempts_of(self.lab, self.student) / f"{self.number:04}"

    @property
    def result_path(self) -> Path:
        return self.folder.with_suffix(".json")

    @property
    def points(self) -> float | None:
        """The points of the checks, less those for handing it in late. None if it has no result, or could not be graded."""
        return json.loads(self.result_path.read_text(encoding="utf-8"))["points"] if self.result_path.exists() else None

    def finish(self, row: Row, page: Path) -> None:
        """Keep the page of feedback, and then the result."""
        if not row.problem and page.exists():
            shutil.copyfile(page, self.folder.with_suffix(".html"))
        with replacing(self.result_path) as part:
            result = {"points": None if row.problem else row.total, "remark": row.remark()}
            part.write_text(json.dumps(result), encoding="utf-8")


def _attempts_of(lab: Lab, student: str) -> Path:
    return lab.course.folder / "attempts" / student / lab.name


def attempts(lab: Lab, student: str) -> list[Attempt]:
    """The attempts of a student, in the order in which they arrived."""
    folders = [path for path in _attempts_of(lab, student).glob("[0-9]*") if path.is_dir()]
    return [Attempt(lab, student, number) for number in sorted(int(path.name) for path in folders)]


def counting(lab: Lab, student: str, keep: str) -> Attempt | None:
    """The attempt that counts: the last one, or of those with most points the last one."""
    known = attempts(lab, student)
    if keep == "best":
        known = [attempt for attempt in known if attempt.result_path.exists()]
        graded = [(points, attempt.number, attempt) for attempt in known if (points := attempt.points) is not None]
        if graded:
            return max(graded)[2]
    return known[-1] if known else None


def add_attempt(lab: Lab, student: str, source: Path) -> list[str]:
    """Copy a submission, unless it is an attempt already. Returns what could not be copied of it, a line each.

    A submission with a time is an attempt once. Without a time it may be an earlier one that is handed in again.
    """
    known = attempts(lab, student)
    part = _attempts_of(lab, student) / ".part"
    shutil.rmtree(part, ignore_errors=True)
    part.parent.mkdir(parents=True, exist_ok=True)
    if shutil.disk_usage(part.parent).free < 2 * MAX_FOLDER:
        raise GradingError(f"the disk of {lab.course.folder} is full: nothing more is taken until there is room")
    copy = _Copy(source.lstat().st_uid)
    try:
        copy.folder(source, part)
    except (OSError, Unreadable) as error:
        copy.problems.append(str(error))
    take_renamed(lab, part)
    is_timed = (part / "timestamp.txt").exists() or source == Submission(lab, student).folder
    if _content(lab, part) in [_content(lab, attempt.folder) for attempt in (known if is_timed else known[-1:])]:
        shutil.rmtree(part)
        return []
    part.rename(Attempt(lab, student, known[-1].number + 1 if known else 1).folder)
    return copy.problems


def put(attempt: Attempt) -> bool:
    """Make an attempt the student's submission. Returns whether it was not."""
    submission = Submission(attempt.lab, attempt.student)
    if submission.folder.is_dir() and _content(attempt.lab, submission.folder) == _content(attempt.lab, attempt.folder):
        return False
    if submission.folder.parent.is_symlink():
        raise GradingError(f"{submission.folder.parent} is a link")
    new, old = (submission.folder.with_name(f".{attempt.lab}.{name}") for name in ("new", "old"))
    for path in (new, old):
        shutil.rmtree(path, ignore_errors=True)
    shutil.copytree(attempt.folder, new)
    with uninterrupted():
        if submission.folder.exists():
            submission.folder.rename(old)
        new.rename(submission.folder)
    shutil.rmtree(old, ignore_errors=True)
    return True


def _content(lab: Lab, folder: Path) -> str:
    """A digest of a submission: the notebook, also in other languages, its time, and the secret that names its feedback."""
    whole, editions = sha256(), sorted(path.name for path in folder.glob(f"{lab}.*.ipynb"))
    for name in (f"{lab}.ipynb", *editions, "timestamp.txt", "submission_secret.txt"):
        path, data = folder / name, b"none"
        if path.is_file() and not path.is_symlink():
            with path.open("rb") as file:
                data = file.read(MAX_FOLDER + 1)
        whole.update(sha256(data).digest())
    return whole.hexdigest()


# The exchange --------------------------------------------------------------------------------------------------------


class Arriving(Exchanged):
    """Takes the newest submission of each student that `nbgrader submit` has finished: it writes the secret last."""

    def _path_to_record(self, path: str) -> dict:
        record = super()._path_to_record(path)
        try:
            is_complete = all(os.lstat(Path(path, name)).st_size for name in ("timestamp.txt", "submission_secret.txt"))
        except OSError:
            is_complete = False
        return record if is_complete else record | {"username": ""}


class EachArriving(Arriving):
    """Takes the submission of each student that follows the collected one, so that none is left out."""

    def _sort_by_timestamp(self, records: list[dict]) -> list[dict]:
        newest_first = super()._sort_by_timestamp(records)
        if self.before_duedate and self.duedate:
            newest_first = [record for record in newest_first if record["timestamp"] <= self.duedate] or newest_first
        course = self.coursedir
        place = course.format_path(course.submitted_directory, records[0]["username"], course.assignment_id)
        collected = course.get_existing_timestamp(place)
        later = [record for record in newest_first if collected is None or record["timestamp"] > collected]
        return later[::-1] or newest_first


def _exchange(course: Course, keep: str) -> NbGraderAPI:
    """nbgrader as it is configured for this machine. It collects into `classroom/arrived`."""
    app = NbGrader(log_level=logging.CRITICAL)
    app.load_cwd_config = False  # this folder may be a student's
    app.load_config_file()
    Application.load_config_file(app, "nbgrader_config", str(COURSE))
    config = Config(app.config)
    config.CourseDirectory.submitted_directory = str(course.folder / "arrived")
    config.ExchangeFactory.collect = EachArriving if keep == "best" else Arriving
    return NbGraderAPI(config=config)


# Grading -------------------------------------------------------------------------------------------------------------


class Markers(Executor):
    """Markers that stay ready from one pass to the next. In one pass, they mark the same notebook once."""

    def __init__(self, jobs: int) -> None:
        self.pool = markers(jobs)
        self.marked: dict[str, Future] = {}

    def submit(self, step: Callable, /, *arguments: Any, **_: Any) -> Future:
        key = digest(json.dumps(arguments))
        if key not in self.marked:
            self.marked[key] = self.pool.submit(step, *arguments)
        return self.marked[key]

    def forget(self) -> None:
        """Forget the marked notebooks, but not those that take too long: each would stop the class again."""
        self.marked = {
            key: future
            for key, future in self.marked.items()
            if future.done() and not future.cancelled() and isinstance(future.exception(), NotGraded)
        }

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        self.pool.shutdown(wait, cancel_futures=cancel_futures)


@contextmanager
def _copy_of_class(course: Course) -> Iterator[Course]:
    """Within: a copy of the class is the running class. It has the rules and the gradebook, and no submissions."""
    folder = course.folder / "trial"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for name in ("seed", "core", "late.csv", "extensions.csv"):
        if (course.folder / name).exists():
            shutil.copyfile(course.folder / name, folder / name)
    for name in ("releases", "editions", "penalties", "zones", "handed_in"):
        if (course.folder / name).is_dir():
            shutil.copytree(course.folder / name, folder / name)
    with (
        closing(sqlite3.connect(course.folder / "gradebook.db")) as source,
        closing(sqlite3.connect(folder / "gradebook.db")) as target,
    ):
        source.backup(target)
    before = os.environ.get("RUSHLIGHT_CLASSROOM")
    os.environ["RUSHLIGHT_CLASSROOM"] = str(folder)
    try:
        yield Course(folder)
    finally:
        if before is None:
            del os.environ["RUSHLIGHT_CLASSROOM"]
        else:
            os.environ["RUSHLIGHT_CLASSROOM"] = before
        shutil.rmtree(folder, ignore_errors=True)


class Watch:
    """Grades what arrives for some labs. `look` is one pass. `say` is called with a line for each submission.

    Without a `source` folder, submissions come from nbgrader's exchange, and feedback goes back there.
    """

    def __init__(
        self,
        labs: list[Lab],
        source: Path | None = None,
        keep: str = "last",
        isolated: bool = True,
        jobs: int | None = None,
        names: bool = False,
        say: Callable[[str], None] = print,
    ) -> None:
        self.labs, self.source, self.keep, self.isolated = labs, source, keep, isolated
        self.names, self.say, self.course = names, say, labs[0].course
        if source and source.resolve().is_relative_to(self.course.folder):
            raise GradingError(f"{source} is in the class's folder: let submissions arrive in another one")
        configure(Config())  # makes the folders of a new class
        self.exchange = None if source else _exchange(self.course, keep)
        self.jobs = jobs or min(map(jobs_here, labs))
        self.markers: Markers | None = Markers(self.jobs)
        self.seen: dict[Path, tuple[list, float]] = {}  # the files of a folder, and when they were first seen so
        self.taken: dict[Path, list] = {}  # the files of a folder when it was copied
        self.reported: set[str] = set()  # the lines of nbgrader's log
        self.rows: dict[str, list[Row]] = {}
        self.settled: set[str] = set()  # the labs in which the attempts that count are the submissions

    def look(self) -> bool:
        """Take what has arrived, grade at most `BATCH` submissions for each job, and return their feedback. Returns whether there
        were any. Raises GradingError."""
        has_changed = False
        for lab in self.labs:
            self._receive(lab)
            changed = self._grade_new(lab)
            if self.markers:
                self.markers.forget()
            if changed:
                self.write_page()
            has_changed |= changed
        return has_changed

    def close(self) -> None:
        """Say on the page that nothing is graded any more."""
        if self.rows:
            self.write_page(has_ended=True)

    # What arrives

    def _receive(self, lab: Lab) -> None:
        if self.exchange:
            self._collect(self.exchange, lab)
        folder = self.source or self.course.folder / "arrived"
        for path in sorted(folder.glob(f"*/{lab.name}")):
            if path.parent.name.startswith(".") or path.parent.is_symlink() or path.is_symlink() or not path.is_dir():
                continue
            try:
                files = _files(path)
                if files != self.taken.get(path) and (self.exchange or self._is_settled(path, files)):
                    self._take(lab, path)
                    self.taken[path] = files
            except OSError as error:  # it is being replaced
                self._say_once(f"{path}: {error.strerror}")

    def _is_settled(self, path: Path, files: list) -> bool:
        """Whether a folder has a file of the student, and has had the same files for a while: they may still be written."""
        before, since = self.seen.get(path, ([], 0.0))
        if files != before:
            since = time.monotonic()
            self.seen[path] = files, since
        has_any = any(name not in BESIDE and not name.startswith(".") for name in os.listdir(path))
        return time.monotonic() - since >= SETTLED and has_any

    def _collect(self, exchange: NbGraderAPI, lab: Lab) -> None:
        result = exchange.collect(lab.name, update=True)
        for line in result.get("log", "").splitlines():
            if line.startswith(("[WARNING] Skipped", "[ERROR]")):
                self._say_once(line.partition("] ")[2])
        if not result["success"]:
            lines = [line for line in result.get("log", "").splitlines() if line.startswith("[ERROR]")]
            last = (lines or result["error"].rstrip().splitlines())[-1]
            raise GradingError(f"nothing can be collected: {printable(last.removeprefix('[ERROR] '))}")

    def _take(self, lab: Lab, path: Path) -> None:
        self._keep_present(lab, path.parent.name)
        for line in add_attempt(lab, path.parent.name, path):
            self.say(printable(f"{path}: not all of it could be copied: {line}"))

    def _keep_present(self, lab: Lab, student: str) -> None:
        """Make the present submission an attempt, if it is none, such as one that was put there by hand: nothing is lost."""
        present = Submission(lab, student)
        if present.folder.is_dir() and not groups.source_of(present):
            add_attempt(lab, student, present.folder)

    def _say_once(self, line: str) -> None:
        if line not in self.reported:
            self.reported.add(line)
            self.say(printable(line))

    # Its grading

    def _grade_new(self, lab: Lab) -> bool:
        """Grade attempts without a result. Returns whether anything has changed."""
        students, is_settled = self._students(lab), lab.name in self.settled
        unsettled = [] if is_settled else [name for name in students if Submission(lab, name).folder.is_dir()]
        self.settled.discard(lab.name)  # until all of this is done
        for name in unsettled:
            self._keep_present(lab, name)
        new = list(islice((attempt for name in students for attempt in self._waiting(lab, name)), BATCH * self.jobs))
        counted = {attempt.student: counting(lab, attempt.student, self.keep) for attempt in new}
        further = [
            one for one in new if self.keep == "best" and (best := counted[one.student]) and best.points is not None
        ]
        rows = self._try(lab, further)
        names = [attempt.student for attempt in further] + [name for name in unsettled if name not in counted]
        chosen = [one for name in names if (one := counting(lab, name, self.keep))]
        chosen += [attempt for attempt in new if attempt not in further]
        moved = [attempt for attempt in chosen if put(attempt) or (attempt in new and attempt not in further)]
        if (moved or not is_settled) and lab.submissions():
            self.rows[lab.name] = self._grade(lab)
            in_class = {row.student: row for row in self.rows[lab.name]}
            for attempt in moved:
                row = in_class[attempt.student]
                if not row.problem:
                    self._return(lab, attempt.student)
                attempt.finish(row, Submission(lab, attempt.student).page)
                rows[attempt.student] = row if attempt in new else rows.get(attempt.student, row)
        for attempt in new:
            self.say(self._line(attempt, rows[attempt.student]))
        self.settled.add(lab.name)
        return bool(moved or new)

    def _students(self, lab: Lab) -> list[str]:
        return sorted(path.parent.name for path in (self.course.folder / "attempts").glob(f"*/{lab.name}"))

    def _waiting(self, lab: Lab, student: str) -> list[Attempt]:
        """The attempt to be graded next, if there is one. If the last counts, that is the last."""
        known = attempts(lab, student)
        waiting = [attempt for attempt in known if not attempt.result_path.exists()]
        return waiting[:1] if self.keep == "best" else [attempt for attempt in waiting if attempt == known[-1]]

    def _try(self, lab: Lab, further: list[Attempt]) -> dict[str, Row]:
        """Grade attempts in a copy of the class. Returns the rows by student."""
        if not further:
            return {}
        with _copy_of_class(self.course) as course:
            there = Lab(lab.name, course)
            for attempt in further:
                shutil.copytree(attempt.folder, Submission(there, attempt.student).folder)
            rows = {row.student: row for row in self._grade(there)}
            for attempt in further:
                if not rows[attempt.student].problem:
                    self._return(there, attempt.student)
                attempt.finish(rows[attempt.student], Submission(there, attempt.student).page)
        return rows

    def _grade(self, lab: Lab) -> list[Row]:
        if self.markers:
            try:
                return grade(lab, isolated=self.isolated, jobs=1, executor=self.markers)
            except EngineLost:  # a process has ended: `grade` alone finds the submission that is the cause
                self.markers = None
        return grade(lab, isolated=self.isolated, jobs=self.jobs)

    def _return(self, lab: Lab, student: str) -> None:
        """Put a page of feedback into the exchange, if submissions come from there."""
        if self.exchange and Submission(lab, student).page.exists():
            self.exchange.coursedir.feedback_directory = str(lab.course.folder / "feedback")
            result = self.exchange.release_feedback(lab.name, student)
            if not result["success"]:
                why = result["error"].rstrip().splitlines()[-1]
                self.say(printable(f"{lab} {student}: the feedback could not be returned: {why}"))

    def _line(self, attempt: Attempt, row: Row) -> str:
        """What happened to an attempt, in one line."""
        points = f"{row.total:g} of {sum(attempt.lab.points.values()):g} points"
        said = "; ".join(filter(None, ["" if row.problem else points, row.remark()]))
        counts = counting(attempt.lab, attempt.student, self.keep)
        if counts and counts != attempt:
            said += f"; attempt {counts.number} counts, with {counts.points:g}"
        return (
            f"{time.strftime('%H:%M:%S')} {attempt.lab} {printable(attempt.student)}, attempt {attempt.number}: {said}"
        )

    # The page

    def write_page(self, has_ended: bool = False) -> Path:
        """Write `classroom/live.html`, which loads itself again. Without `names` it shows no name and nothing that a student
        wrote, because others in the room read it."""
        path = self.course.folder / "live.html"
        state = "nothing is graded any more" if has_ended else "the page renews itself"
        labs = [self._lab(lab, self.rows[lab.name]) for lab in self.labs if self.rows.get(lab.name)]
        body = f'<main>{"".join(labs)}<p class="note">{time.strftime("%H:%M:%S")}: {state}</p></main>'
        write_page(path, "The class now", _STYLE, body, 0 if has_ended else REFRESH)
        return path

    def _lab(self, lab: Lab, rows: list[Row]) -> str:
        graded = [row for row in rows if row.verdicts]
        own, worth = notebooks(graded), lab.points
        names = f", {len(rows) - len(graded)} could not be graded" if len(graded) < len(rows) else ""
        stops = [(count, check, case) for check in worth if (found := _common(own, check)) for count, case in [found]]
        most = max(stops, key=lambda stop: stop[0], default=None)
        worst = (
            f'<p class="fail most"><strong>{escaped(short_name(most[1]))}</strong> stops most: {most[0]} ×'
            f" <code>{escaped(most[2])}</code></p>"
            if most
            else ""
        )
        lines = []
        for number, check in enumerate(worth, 1):
            passed = sum(row.outcome(check) == PASSED for row in own)
            share = 100 * passed / len(own) if own else 0
            common = _common(own, check)
            case = f"{common[0]} × <code>{escaped(common[1])}</code>" if common else ""
            lines.append(
                f'<tr><th scope="row">{number} {escaped(short_name(check))}</th><td><span class="share" aria-hidden="true">'
                f'<span style="width:{share:.0f}%"></span></span></td><td>{passed} passed, {len(tried(own, check))} tried</td>'
                f"<td>{case}</td></tr>"
            )
        table = f'<table aria-label="Exercises">{"".join(lines)}</table>'
        body = f"{worst}{table}{_board(own, worth)}{self._map(rows, worth)}"
        return f"<h1>{lab}</h1><p>{len(rows)} handed in{names}</p>{body}"

    def _map(self, rows: list[Row], worth: dict[str, float]) -> str:
        """A line for each student. Without names they are in the order of their points, not of the alphabet."""
        if not self.names:
            rows = sorted(rows, key=lambda row: (-row.total, [row.outcome(check) for check in row.verdicts]))
        lines = []
        for row in rows:
            kinds = [MARKS.get(row.outcome(one), OTHER) if one in row.verdicts else UNGRADED for one in worth]
            marks = "".join(f'<td class="{kind}">{mark}</td>' for kind, mark in kinds)
            name = f'<th scope="row">{escaped(row.student)}</th>' if self.names else ""
            lines.append(f"<tr>{name}{marks}<td>{row.total:g}</td></tr>")
        heads = "".join(f"<td>{number}</td>" for number in range(1, len(worth) + 1))
        head = f"<tr>{'<td></td>' if self.names else ''}{heads}<td>total</td></tr>"
        return f'<table class="map" aria-label="Students">{head}{"".join(lines)}</table>'


def _board(rows: list[Row], checks: Iterable[str]) -> str:
    """What finished answers ask for, in counts. It has no names, also where the page has them."""
    answers = [{check: shown["counts"] for check, shown in row.verdicts.items() if "counts" in shown} for row in rows]
    lines = board.lines(checks, answers)
    cells = "".join(
        f'<tr><th scope="row">{escaped(line.exercise)}</th><td>{escaped(line.what)}</td><td>{line.answers}</td>'
        f"<td>{line.reference:,}</td><td>{'' if line.best is None else f'{line.best:,}'}</td></tr>"
        for line in lines
    )
    heads = "exercise", "asks for", "answers (how many)", "reference", "smallest possible"
    head = "".join(f"<td>{head}</td>" for head in heads)
    return f'<table aria-label="Board of counts"><tr>{head}</tr>{cells}</table>' if lines else ""


def _files(folder: Path) -> list:
    """The names, sizes and times of the files in a folder, as many as a submission may have."""
    paths = islice((Path(place, name) for place, _, names in os.walk(folder) for name in names), MAX_FILES + 1)
    found = [(path, path.lstat()) for path in paths]
    return sorted(
        (str(path), status.st_size, status.st_mtime_ns, stat.S_IFMT(status.st_mode)) for path, status in found
    )


def _common(rows: list[Row], check: str) -> tuple[int, str] | None:
    """How many have the most common smallest case of a check, and the case in a line. A message may be a student's words."""
    counts = Counter(row.verdicts[check]["case"] for row in rows if "case" in row.verdicts.get(check, {}))
    for case, count in counts.most_common(1):
        return count, in_one_line(case, LONGEST)
    return None


REFRESH = 5  # seconds
_STYLE = f"""
{SCHEMES}
body {{ font: 20px/1.4 system-ui, sans-serif; margin: 1rem 2rem; color: var(--page); background: var(--page-b); }}
h1 {{ margin: .5rem 0 0; }} .note {{ color: var(--muted); }} code {{ overflow-wrap: anywhere; }}
.most {{ padding: .4rem .8rem; border-radius: .3rem; }} 
table {{ border-collapse: collapse; margin: 1rem 0; font-variant-numeric: tabular-nums; }}
th, td {{ text-align: left; padding: .15rem .7rem .15rem 0; border-bottom: 1px solid var(--line); }}
th, td:nth-child(3) {{ white-space: nowrap; }} td code {{ font-size: .8em; }}
.share {{ display: inline-block; width: 14rem; height: 1rem; border: 1px solid var(--line); }}
.share span {{ display: block; height: 100%; background: var(--bar); }}
.map td {{ padding: .1rem .6rem; text-align: center; }}
.pass {{ color: var(--pass); background: var(--pass-b); }} .fail {{ color: var(--fail); background: var(--fail-b); }}
.none {{ color: var(--none); background: var(--none-b); }} .other {{ color: var(--other); background: var(--other-b); }}
"""
