"""What does another torch do differently? The checks and the readings of the course, run on it.

The framework does what the torch of `constraints.txt` does. Each check on which its own bodies no longer agree is about something
that torch has changed. So is each marked cell of a reading with another output. Run it with the Python of an environment that has
the other torch, and the course's packages:

    python -m venv other && other/bin/pip install -e '.[dev]'
    other/bin/pip install torch==2.12.1
    other/bin/python bench/versions.py

It prints each of these checks with its first difference, and each of these cells. Some are about the build and not the version: a
build for CUDA has kernels that a build for CPUs has not.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import types
from collections.abc import Iterator, Sequence
from pathlib import Path

import torch

from autograder.engine.check import function_of
from autograder.engine.exercise import fill
from autograder.engine.judge import Judge
from autograder.engine.subject import answer
from autograder.engine.verdict import PASSED
from autograder.model import Lab, lab_names

ROOT = Path(__file__).parents[1]
READINGS = {f"phases/{path.parent.name}": path for path in sorted(ROOT.glob("phases/*/reading.ipynb"))}


def checks_apart(name: str, seed: int) -> Iterator[str]:
    """A line for each check of a lab on which the framework and torch differ."""
    lab, judge = Lab(name), Judge(seed)
    for exercise in lab.exercises:
        fill(function_of(exercise), _copied(function_of(exercise)))
    for check in lab.points:
        verdict = judge.verdict(check, answer)
        if verdict.outcome != PASSED:
            yield f"{name}: {check}: {verdict.message.strip().splitlines()[0]} {verdict.case or ''}"


def _copied(slot: types.FunctionType) -> types.FunctionType:
    """The framework's own body, which counts as an answer."""
    copy = types.FunctionType(slot.__code__, slot.__globals__, slot.__name__, slot.__defaults__, slot.__closure__)
    copy.__kwdefaults__ = slot.__kwdefaults__
    return copy


def cells_apart(phase: str) -> Iterator[str]:
    """A line for each cell of a reading that fails, or has another output than the stored one."""
    command = [sys.executable, "-m", "pytest", "-q", "-n", "0", "-m", "", READINGS[phase]]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    for cell in re.findall(r"^FAILED .*::(Cell \d+)", ended.stdout, re.MULTILINE):
        yield f"{phase}: {cell}"


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])  # type: ignore[union-attr]
    parser.add_argument("names", nargs="*", help="labs and phases: all of them by default")
    parser.add_argument("--seed", type=int, default=1, help="of the cases that are drawn")
    options = parser.parse_args(arguments)
    known = [*lab_names(), *READINGS]
    if unknown := {*options.names} - {*known}:
        parser.error(f"no lab or phase: {', '.join(sorted(unknown))}")
    print(f"torch {torch.__version__}")
    for name in options.names or known:
        if name in READINGS:
            apart = [*cells_apart(name)]
        elif len(options.names) == 1:
            apart = [*checks_apart(name, options.seed)]
        else:  # each lab in a process of its own
            command = [sys.executable, "-W", "ignore", __file__, name, "--seed", f"{options.seed}"]
            ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
            apart = ended.stdout.splitlines()[1:] or ended.stderr.splitlines()[-1:]
        print(*apart, sep="\n", end="\n" * bool(apart), flush=True)


if __name__ == "__main__":
    main()
