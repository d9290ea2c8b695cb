"""The cost of marking: CPU seconds and memory of a right submission of each lab, one submission at a time.

For each lab a marker starts, as `rushlight grade` starts them, and marks the same right submission again and again. The first
time torch's answers are computed; after that the judge has them. Then nbgrader records the submission and writes its
feedback. CPU seconds are those of all processes, which other work of the machine changes little; memory is the highest sum of
the proportional set sizes of the marker and its sandboxes. Last, stock `nbgrader autograde` marks the same submission. Each lab
is written into the table of a page as soon as it has been measured, and a lab that is in the table is not measured again. From
the table follows a second one: what a class takes.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import platform
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import partial
from importlib.metadata import version
from multiprocessing.connection import Connection
from pathlib import Path

import nbformat
import psutil

from autograder.classroom import sample
from autograder.course import RELEASED, ROOT, SOURCES
from autograder.engine.sandbox import Sandbox
from autograder.model import Lab, Submission, lab_names

COLUMNS = ("lab", "checks", "start", "first", "later", "record", "feedback", "clock", "stock", "marker", "peak", "load")
CLASS = ("cores", "hours", "CPU hours", "labs that wait for the writer", "GiB at most", "times stock", "labs below 10")
CORES, SIZE = (2, 4, 8, 16, 64), 200
STUDENTS = "01"
BEGIN, END = "<!-- bench/marking.py writes from here -->", "<!-- to here -->"


def right(lab: str) -> str:
    """A submission with the reference's answers."""
    notebook, solved = (nbformat.read(place / lab / f"{lab}.ipynb", as_version=4) for place in (RELEASED, SOURCES))
    sample.fill(notebook, sample.answers(solved))
    return nbformat.writes(notebook)


def hand_in(text: str, lab: str, classroom: str) -> None:
    for student in STUDENTS:
        path = Path(classroom, "submitted", student, lab, f"{lab}.ipynb")
        path.parent.mkdir(parents=True)
        path.write_text(text, encoding="utf-8")


in_sandboxes = (
    0.0  # CPU seconds in those that have been closed: the system forgets the times of what dies with a sandbox
)


def count_sandboxes() -> None:
    """From now on, look at the times of a sandbox's processes before it is closed."""
    close = Sandbox.close

    def counted(sandbox: Sandbox) -> None:
        global in_sandboxes
        with suppress(psutil.NoSuchProcess):
            for process in psutil.Process(sandbox.process.pid).children(recursive=True):
                with suppress(psutil.NoSuchProcess):
                    in_sandboxes += sum(process.cpu_times()[:4])
        close(sandbox)

    Sandbox.close = counted


def cpu_seconds() -> float:
    """Of this process and of all that it started and that has ended."""
    multiprocessing.active_children()  # which waits for those that have ended
    return sum(os.times()[:4]) + in_sandboxes


def timed(step: Callable[[], object]) -> tuple[float, float]:
    """CPU seconds and seconds by the clock of a step."""
    before, start = cpu_seconds(), time.perf_counter()
    step()
    clock = time.perf_counter() - start
    return cpu_seconds() - before, clock


def measure(lab: str, again: int, classroom: str, results: Connection) -> None:
    """In a process of its own: all figures of a lab but those of memory, which the parent looks at."""
    count_sandboxes()
    os.environ["RUSHLIGHT_CLASSROOM"] = classroom
    from nbgrader.apps import NbGraderAPI
    from nbgrader.preprocessors import CheckCellMetadata
    from traitlets.config import Config

    from autograder.classroom import grade as grading
    from autograder.classroom.plugin import TakeMarked, configure, judge_of
    from autograder.engine.edition import edition

    config, text = Config(), right(lab)
    configure(config)
    config.Autograde.sanitize_preprocessors = [TakeMarked, CheckCellMetadata]
    hand_in(text, lab, classroom)
    edition(Lab(lab))  # made once on a machine
    judge_of(1)
    figures = {"lab": lab, "start": cpu_seconds()}
    results.send(("ready", None))
    submissions = [Submission(Lab(lab), student) for student in STUDENTS]
    marked, given = "", grading.packed(submissions[0])

    def mark() -> None:
        nonlocal marked
        marked = grading.mark(given, 1, True)

    figures["first"], _ = timed(mark)
    figures["later"], figures["clock"] = min(timed(mark) for _ in range(again))
    verdicts = grading.verdicts_of(marked).values()
    if failed := [verdict.check for verdict in verdicts if not verdict.passed]:
        raise RuntimeError(f"{lab}: not passed: {', '.join(failed)}")
    figures["checks"] = len(verdicts)
    results.send(("marked", None))
    writer = NbGraderAPI(config=config)
    for submission in submissions:  # the first enters the lab into the gradebook
        notebook = grading.assembled(given, marked, 1)
        record = partial(grading._let_record, writer, submission, notebook)
        figures["record"], _ = timed(record)
        figures["feedback"], _ = timed(partial(grading.write_feedback, submission))
    results.send(("done", figures))


def stock(lab: str) -> float:
    """Seconds by the clock in which stock nbgrader autogrades a right submission: those of its second one, without its start."""
    with tempfile.TemporaryDirectory() as place:
        hand_in(right(lab), lab, place)
        environment = os.environ | {"RUSHLIGHT_CLASSROOM": place, "RUSHLIGHT_GRADER": "stock"}
        command = [sys.executable, "-m", "nbgrader", "autograde", lab]
        process = subprocess.Popen(
            command, cwd=ROOT, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        begun = Path(place, "autograded", STUDENTS[1])
        while not begun.exists() and process.poll() is None:
            time.sleep(0.02)
        start = time.perf_counter()
        if process.wait() or not begun.exists():
            raise RuntimeError(f"{lab}: stock nbgrader does not autograde it")
        return time.perf_counter() - start


def memory(process: psutil.Process) -> float:
    """MiB of a process, without the share of others in what it shares. 0 if it has ended."""
    try:
        text = Path(f"/proc/{process.pid}/smaps_rollup").read_text()
        return int(re.search(r"^Pss:\s+(\d+) kB", text, re.MULTILINE)[1]) / 1024
    except (OSError, TypeError):
        return 0.0


def watched(lab: str, again: int) -> dict:
    """All figures of a lab, measured in a classroom of its own."""
    with tempfile.TemporaryDirectory() as classroom:
        ours, theirs = multiprocessing.Pipe()
        marker = multiprocessing.get_context("spawn").Process(target=measure, args=(lab, again, classroom, theirs))
        load = os.getloadavg()[0]
        marker.start()
        theirs.close()
        tree, alone, peak, state, took = psutil.Process(marker.pid), 0.0, 0.0, "", 0.0
        while state != "done":
            if ours.poll(max(0.1, 10 * took)):  # to look costs a tenth of a core at most
                try:
                    state, figures = ours.recv()
                except EOFError:
                    marker.join()
                    raise RuntimeError(f"{lab} could not be measured") from None
            elif state == "ready":
                start = time.perf_counter()
                alone = max(alone, memory(tree))
                peak = max(peak, sum(map(memory, [tree, *tree.children(recursive=True)])))
                took = time.perf_counter() - start
        marker.join()
    return figures | {"stock": stock(lab), "marker": alone, "peak": peak, "load": load}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("labs", nargs="*", help="the labs to measure (default: all)")
    parser.add_argument("--again", type=int, default=1, help="how often a submission is marked after the first time")
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "scale.md", help="the page with the tables")
    arguments = parser.parse_args()
    page = arguments.out.read_text(encoding="utf-8") if arguments.out.exists() else f"{BEGIN}\n{END}\n"
    rows = {row[0]: dict(zip(COLUMNS, row)) for row in cells(page) if row[0] in lab_names()}
    for lab in arguments.labs or lab_names():
        if lab in rows:
            continue
        figures = watched(lab, arguments.again)
        rows[lab] = {name: f"{v:.2f}" if isinstance(v := figures[name], float) else str(v) for name in COLUMNS}
        page = with_tables(page, dict(sorted(rows.items())))
        arguments.out.write_text(page, encoding="utf-8")
        print("  ".join(f"{name} {value}" for name, value in rows[lab].items()), file=sys.stderr, flush=True)
    print(f"{len(rows)} of {len(lab_names())} labs are in {arguments.out}")


def cells(page: str) -> list[list[str]]:
    """The cells of all rows of the page's tables."""
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in page.splitlines() if line[:1] == "|"]


def with_tables(page: str, rows: dict[str, dict[str, str]]) -> str:
    """The page with the two tables between its marks."""
    versions = f"nbgrader {version('nbgrader')}, torch {version('torch')}, Python {platform.python_version()}"
    said = f"Measured with {versions}, on {os.cpu_count()} cores, {len(rows)} of {len(lab_names())} labs."
    tables = [table(COLUMNS, [row.values() for row in rows.values()]), said, table(CLASS, map(a_class(rows), CORES))]
    before, _, rest = page.partition(BEGIN)
    return "\n\n".join([before + BEGIN, *tables, END + rest.partition(END)[2]])


def table(names: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    lines = [names, ["---", *["---:"] * (len([*names]) - 1)], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def a_class(rows: dict[str, dict[str, str]]) -> Callable[[int], list[str]]:
    """For a number of cores: the hours in which the labs of `rows` are graded for a class, what that takes, and how many times the
    submissions per hour of stock nbgrader that is: in the median lab, and in how many labs it is less than ten."""

    def on(cores: int) -> list[str]:
        hours = work = waiting = 0.0
        times = []
        for row in rows.values():
            start, first, later, record, feedback = (float(row[name]) for name in COLUMNS[2:7])
            jobs = min(cores, SIZE)
            marking = jobs * (start + first) + (SIZE - jobs) * later + SIZE * feedback
            alone = start + first + SIZE * record  # one process records, whatever the number of cores
            seconds = max((marking + SIZE * record) / cores, alone)
            hours += seconds / 3600
            times.append(SIZE * float(row["stock"]) / seconds)
            work += (marking + SIZE * record) / 3600
            waiting += alone > (marking + SIZE * record) / cores
        memory = cores * max(float(row["peak"]) for row in rows.values()) / 1024
        few = sum(ratio < 10 for ratio in times)
        shown = (
            f"{hours:.1f}",
            f"{work:.1f}",
            f"{waiting:.0f}",
            f"{memory:.0f}",
            f"{statistics.median(times):.0f}",
            f"{few}",
        )
        return [str(cores), *shown]

    return on


if __name__ == "__main__":
    main()
