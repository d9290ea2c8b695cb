"""Submissions per minute: `rushlight grade` against stock `nbgrader autograde`, same class, same machine, in alternation.

Stock nbgrader autogrades one submission at a time and writes no feedback. `rushlight grade` marks as many as there are
cores, records them through nbgrader, and writes the feedback too; all of that is counted, and so is every start-up. The class
of lab 01a has right and wrong submissions, and a second table says where rushlight's time goes, step by step, for one
submission at a time. The class of another lab has right submissions only.
"""

from __future__ import annotations

import argparse
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from importlib.metadata import version
from pathlib import Path

from nbgrader.apps import NbGraderAPI
from nbgrader.preprocessors import CheckCellMetadata
from traitlets.config import Config

from autograder.classroom import grade as grading
from autograder.classroom import sample
from autograder.classroom.plugin import TakeMarked, configure
from autograder.course import ROOT
from autograder.model import Lab, Submission, lab_names
from bench.marking import right

STUDENTS = ("all_right", "all_right", "subtly_wrong_strides", "half_done", "untouched", "syntax_error")
COMMANDS = {
    "stock": [sys.executable, "-m", "nbgrader", "autograde"],
    "rushlight": [sys.executable, "-m", "autograder.cli", "grade"],
}


def enrol(lab: str, submissions: Path, place: str, size: int) -> None:
    for number in range(size):
        student = Path(place) / "submitted" / f"student{number:03d}"
        if lab == sample.LAB:
            shutil.copytree(submissions / STUDENTS[number % len(STUDENTS)], student)
        else:
            (student / lab).mkdir(parents=True)
            (student / lab / f"{lab}.ipynb").write_text(right(lab), encoding="utf-8")


def seconds(grader: str, lab: str, submissions: Path, size: int) -> float:
    """Wall-clock seconds for a class of `size` in a classroom of its own."""
    with tempfile.TemporaryDirectory() as place:
        enrol(lab, submissions, place, size)
        environment = os.environ | {"RUSHLIGHT_CLASSROOM": place, "RUSHLIGHT_GRADER": grader}
        start = time.perf_counter()
        subprocess.run([*COMMANDS[grader], lab], cwd=ROOT, env=environment, check=True, capture_output=True)
        return time.perf_counter() - start


def steps(submissions: Path) -> dict[str, dict[str, float]]:
    """Seconds of each step for each kind of student, after a first one has warmed everything up."""
    with tempfile.TemporaryDirectory() as place:
        os.environ["RUSHLIGHT_CLASSROOM"] = place
        kinds = list(dict.fromkeys(STUDENTS))
        for number, student in enumerate([kinds[0], *kinds]):
            shutil.copytree(submissions / student, Path(place) / "submitted" / f"{number}-{student}")
        config = Config()
        configure(config)
        config.Autograde.sanitize_preprocessors = [TakeMarked, CheckCellMetadata]
        writer, table = NbGraderAPI(config=config), {}
        for student in sorted(os.listdir(Path(place) / "submitted")):
            submission = Submission(Lab(sample.LAB), student)
            given = grading.packed(submission)
            start = time.perf_counter()
            marked = grading.mark(given, 0, True)
            middle = time.perf_counter()
            grading._let_record(writer, submission, grading.assembled(given, marked, 0))
            end = time.perf_counter()
            grading.write_feedback(submission)
            table[student] = {"mark": middle - start, "record": end - middle, "feedback": time.perf_counter() - end}
        return table


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--lab", default=sample.LAB, choices=lab_names(), metavar="LAB")
    parser.add_argument("--size", type=int, default=30, help="submissions in the class")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--workers", type=int, default=0, help="also a dask cluster of so many workers on this machine")
    arguments = parser.parse_args()
    with cluster(arguments.workers) if arguments.workers else nullcontext():
        compare(arguments)


@contextmanager
def cluster(workers: int) -> Iterator[None]:
    """Within: a cluster on this machine, which is compared too."""
    from distributed import LocalCluster

    with LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=None) as here:
        COMMANDS["cluster"] = [*COMMANDS["rushlight"], "--scheduler", here.scheduler_address]
        yield


def compare(arguments: argparse.Namespace) -> None:
    times: dict[str, list[float]] = {grader: [] for grader in COMMANDS}
    with tempfile.TemporaryDirectory() as place:
        sample.make(Path(place))
        for number in range(1, arguments.rounds + 1):
            for grader in COMMANDS:
                times[grader].append(seconds(grader, arguments.lab, Path(place) / "submitted", arguments.size))
                print(f"round {number}: {grader:9} {times[grader][-1]:7.1f} s", file=sys.stderr, flush=True)
        table = steps(Path(place) / "submitted") if arguments.lab == sample.LAB else {}

    versions = f"nbgrader {version('nbgrader')}, torch {version('torch')}, Python {platform.python_version()}"
    print(
        f"lab {arguments.lab}, a class of {arguments.size}; {versions}; {os.cpu_count()} cores; {arguments.rounds} rounds\n"
    )
    per_minute = {grader: 60 * arguments.size / statistics.median(values) for grader, values in times.items()}
    for grader, value in per_minute.items():
        print(f"{grader:12}{value:8.1f} submissions per minute")
    print(f"{'ratio':12}{per_minute['rushlight'] / per_minute['stock']:8.1f}\n")
    if table:
        print(f"{'seconds, one at a time':28}{'mark':>8}{'record':>8}{'feedback':>10}")
    for student, row in list(table.items())[1:]:
        print(f"{student[2:]:28}{row['mark']:8.2f}{row['record']:8.2f}{row['feedback']:10.2f}")


if __name__ == "__main__":
    main()
