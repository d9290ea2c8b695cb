"""Memory of students at work on a JupyterHub: the server, the kernel and the judge of each, after all checks of lab 01a.

The hub is the one that `tests/browser/test_hub.py` starts, so this needs root. Printed is the proportional set size (PSS) of
each kind of process: a page that several processes share counts for a part in each. So the sum is what the machine needs.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter

import nbformat
import psutil

from autograder import sample
from autograder.course import COURSE

sys.path.insert(0, str(COURSE / "tests"))

KINDS = {"jupyterhub-singleuser": "server", "ipykernel_launcher": "kernel"}


def megabytes(first: int) -> Counter[str]:
    """PSS in MB of the students' processes, by kind. `first` is the process of the machine from which all others come."""
    from hub import FIRST_USER

    found: Counter[str] = Counter()
    for process in psutil.Process(first).children(recursive=True):
        if process.uids().real >= FIRST_USER:
            line = " ".join(process.cmdline())
            kind = next((kind for mark, kind in KINDS.items() if mark in line), "judge")
            found[kind] += process.memory_full_info().pss / 1e6
    return found


def main() -> None:
    from hub import ROOT, missing, running

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--students", type=int, nargs="+", default=[1, 2, 4], help="measure when so many are at work")
    counts: list[int] = parser.parse_args().students
    if reason := missing():
        print(f"not measured: {reason}")
        return
    lab = sample.LAB
    solved = nbformat.read(ROOT / "solutions" / lab / f"{lab}.ipynb", as_version=4)
    names = [f"student{number}" for number in range(1, max(counts) + 1)]
    print("students at work  server  kernel   judge  each (MB of PSS)")
    with running(names, [lab]) as hub:
        for number, name in enumerate(names, 1):
            student = hub.user(name)
            notebook = nbformat.read(ROOT / "labs" / lab / f"{lab}.ipynb", as_version=4)
            sample.fill(notebook, sample.answers(solved))
            student.write(f"{lab}.ipynb", notebook)
            student.run_all(f"{lab}.ipynb")
            if number in counts:
                found = megabytes(hub.machine.first)
                figures = [found[kind] / number for kind in ("server", "kernel", "judge")]
                print(f"{number:16d}" + "".join(f"{figure:8.0f}" for figure in [*figures, sum(figures)]), flush=True)


if __name__ == "__main__":
    main()
