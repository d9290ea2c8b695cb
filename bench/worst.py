"""The longest time that a class can take: every submission does all it can to take long.

Four kinds of submission take turns: cells that loop, cells that sleep, 64 processes that loop, and a loop in every exercise. All
limits are multiplied by `--scale`, so that this ends. Printed are the time of the class and, for comparison, what the manual
promises: the limit for a whole submission, times their number, divided by the number of jobs.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import platform
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import nbformat

from autograder.classroom import grade as grading
from autograder.course import RELEASED
from autograder.engine import limits
from autograder.engine.check import is_on_torch
from autograder.model import Lab, exercise_name

LAB = "01a_views"
KINDS = {
    "loops": ["while True: pass"] * 40,
    "sleeps": ["import time; time.sleep(3600)"] * 40,
    "processes": ["import os\nfor _ in range(6): os.fork()\nwhile True: pass"] * 40,
    "exercises": [],
}


def submission(kind: str) -> nbformat.NotebookNode:
    notebook = nbformat.read(RELEASED / LAB / f"{LAB}.ipynb", as_version=4)
    notebook.cells[:0] = [nbformat.v4.new_code_cell(source) for source in KINDS[kind]]
    for cell in notebook.cells:
        if exercise_name(cell) and kind == "exercises":
            cell.source = cell.source.replace("raise NotImplementedError()", "while True: pass")
    return notebook


def hand_in(classroom: Path, size: int) -> None:
    for number in range(size):
        kind = [*KINDS][number % len(KINDS)]
        folder = classroom / "submitted" / f"{number:03d}-{kind}" / LAB
        folder.mkdir(parents=True)
        nbformat.write(submission(kind), folder / f"{LAB}.ipynb")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", type=int, default=30, help="submissions in the class")
    parser.add_argument("--scale", type=float, default=0.05, help="of the limits of a real run")
    arguments = parser.parse_args()
    for limit in ("CELL_SECONDS", "CHECK_SECONDS", "TOTAL_SECONDS"):
        setattr(limits, limit, tuple(arguments.scale * seconds for seconds in getattr(limits, limit)))
    jobs = os.cpu_count() or 1
    with tempfile.TemporaryDirectory() as place:
        os.environ["RUSHLIGHT_CLASSROOM"] = place
        hand_in(Path(place), arguments.size)
        start = time.perf_counter()
        with ProcessPoolExecutor(jobs, multiprocessing.get_context("fork")) as executor:  # which keeps the limits
            rows = grading.grade(Lab(LAB), executor=executor)
        taken = time.perf_counter() - start
    print(f"Python {platform.python_version()}; {jobs} jobs; a class of {arguments.size}")
    for row in rows[: len(KINDS)]:
        print(f"  {row.student}: {row.problem or row.total}")
    graded = sum(not row.problem for row in rows)
    print(f"graded {graded}, not graded {len(rows) - graded}")
    seconds_each = limits.seconds(limits.TOTAL_SECONDS, is_on_torch(LAB))
    promised = arguments.size * seconds_each / jobs
    print(
        f"{taken:.0f} s; {seconds_each:.0f} s each over {jobs} jobs are {promised:.0f} s; ratio {taken / promised:.2f}"
    )


if __name__ == "__main__":
    main()
