"""The time that each check takes in a notebook: CPU seconds of a right answer, and of one that returns None and is made smaller.

Each lab has a process of its own, with torch and what its checks import of it loaded, as the judge of a machine has. The time of
all processes is counted, those in sandboxes too, so other work of the machine changes little. Printed are the checks that take
more than `--most` seconds, and the longest single case of the right answers, which the limit of a case must leave room for.

    python bench/checks.py 10c_export --most 2

Most that take more than five seconds are of two kinds. For each case of the checks of lab 06a that compile with Inductor, g++
reads PyTorch's headers, for 1.2 of the 1.4 seconds of a kernel. A program of lab 13 whose patient works on torch needs two
processes that import torch, one for each edition of the framework, of three seconds each.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor

from autograder.engine.check import find, function_of, is_milestone
from autograder.engine.exercise import fill, unplug
from autograder.engine.judge import Judge
from autograder.engine.observe import Tree
from autograder.engine.subject import answer
from autograder.model import Lab, lab_names
from autograder.notebook.service import ONE_THREAD, _load
from bench.marking import count_sandboxes, cpu_seconds
from bench.versions import _copied


def nothing(*given: object, **named: object) -> None:
    """The wrong answer."""


def measure(name: str) -> list[tuple[str, float, float, float]]:
    """Each check of a lab, with the CPU seconds of a right answer, of its longest case, and of a wrong answer."""
    multiprocessing.set_start_method("fork", force=True)  # for the workers of a check's `DataLoader`, as in a notebook
    count_sandboxes()
    _load()
    rows, judge = [], Judge(1)
    for check in Lab(name).points:
        slot = None if is_milestone(check) else function_of(find(check).exercise)
        longest = 0.0

        def ask(check: str, cases: list[dict]) -> list[Tree]:
            nonlocal longest
            before = cpu_seconds()
            observed = answer(check, cases)
            longest = max(longest, (cpu_seconds() - before) / len(cases))
            return observed

        def decided(body: Callable | None, check: str = check, slot: Callable | None = slot) -> float:
            """CPU seconds of the verdict on a body of the exercise."""
            before = cpu_seconds()
            if slot and body:
                fill(slot, body)
            verdict = judge.verdict(check, ask)
            if body is not nothing and not verdict.passed:
                print(f"{check}: the right answer does not pass here: {verdict.line()}", flush=True)
            if slot:
                unplug(slot)
            return cpu_seconds() - before

        right = decided(slot and _copied(slot))
        rows.append((check, right, longest, decided(nothing) if slot else 0.0))
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("labs", nargs="*", help="the labs to measure (default: all)")
    parser.add_argument(
        "--most", type=float, default=5.0, help="CPU seconds of a check; those that take more are printed"
    )
    arguments = parser.parse_args()
    os.environ.update(ONE_THREAD)  # of the processes of labs
    longest = ("", 0.0)
    for lab in arguments.labs or lab_names():
        # a lab leaves nothing behind for the next one, and may have processes of its own (a daemon of `Pool` may not)
        with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
            rows = pool.submit(measure, lab).result()
        longest = max([longest, *((check, case) for check, _, case, _ in rows)], key=lambda row: row[1])
        for check, right, _, wrong in rows:
            if max(right, wrong) > arguments.most:
                print(f"{check}: {right:.1f} s right, {wrong:.1f} s wrong", flush=True)
        print(f"{lab}: {len(rows)} checks, {sum(row[1] for row in rows):.1f} s", flush=True)
    print(f"the longest case: {longest[1]:.2f} s, {longest[0]}")


if __name__ == "__main__":
    main()
