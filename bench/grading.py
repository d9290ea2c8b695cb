"""Seconds per submission: rushlight's grader against stock nbgrader, on the same submissions, in alternation.

Each round autogrades the same small class twice, each time into a classroom of its own: once with nbgrader as it is and
once with the plugin, both without feedback pages. Start-up (Python, imports, the judge's cases) is
counted, since it is part of the wait; it is also what a larger class spreads over more submissions, so the second table
gives the time of one more submission.
"""

from __future__ import annotations

import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from importlib.metadata import version
from pathlib import Path

from autograder import sample
from autograder.plugin import ROOT

STUDENTS = ("all_right", "half_done", "untouched", "syntax_error")
SIZES = (2, 10)  # submissions in a class
ROUNDS = 3


def seconds(grader: str, submissions: Path, size: int) -> float:
    """Wall-clock seconds that `nbgrader autograde` takes for a class of `size`."""
    with tempfile.TemporaryDirectory() as place:
        for number in range(size):
            student = STUDENTS[number % len(STUDENTS)]
            shutil.copytree(submissions / student, Path(place) / "submitted" / f"student{number:03d}")
        environment = os.environ | {"RUSHLIGHT_CLASSROOM": place, "RUSHLIGHT_GRADER": grader}
        command = [sys.executable, "-m", "nbgrader", "autograde", sample.LAB]
        start = time.perf_counter()
        subprocess.run(command, cwd=ROOT, env=environment, check=True, capture_output=True)
        return time.perf_counter() - start


def main() -> None:
    times: dict[tuple[str, int], list[float]] = {}
    with tempfile.TemporaryDirectory() as place:
        sample.make(Path(place))
        for round_number in range(1, ROUNDS + 1):
            for size in SIZES:
                for grader in ("stock", "rushlight"):
                    took = seconds(grader, Path(place) / "submitted", size)
                    times.setdefault((grader, size), []).append(took)
                    print(f"round {round_number}: {grader:9} {size:3} submissions {took:7.2f} s", file=sys.stderr)

    print(
        f"grading lab {sample.LAB}: nbgrader {version('nbgrader')}, torch {version('torch')}, Python {platform.python_version()}"
    )
    print(f"{os.cpu_count()} cores, one submission at a time; medians of {ROUNDS} rounds in alternation\n")
    print(f"{'':34}{'stock':>8}{'rushlight':>11}{'ratio':>8}")
    median = {key: statistics.median(values) for key, values in times.items()}
    for size in SIZES:
        row = [median[grader, size] / size for grader in ("stock", "rushlight")]
        print(f"s/submission, class of {size:<11}{row[0]:8.2f}{row[1]:11.2f}{row[0] / row[1]:8.1f}")
    small, large = SIZES
    more = [(median[g, large] - median[g, small]) / (large - small) for g in ("stock", "rushlight")]
    print(f"{'s for one more submission':34}{more[0]:8.2f}{more[1]:11.2f}{more[0] / more[1]:8.1f}")


if __name__ == "__main__":
    main()
