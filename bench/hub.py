"""Memory of students at work on a JupyterHub: the server, the kernel and the judge of each, after all checks of lab 01a.

The hub is the one that `tests/browser/test_hub.py` starts, so this needs root. Printed is the memory that a process has for
itself, in MB for each student, and then the pages of files, such as PyTorch's libraries, that are in memory once for all.
"""

from __future__ import annotations

import argparse
from collections import Counter

import nbformat
import psutil

from autograder.classroom import sample
from tests.hub import FIRST_USER, ROOT, missing, running

KINDS = {"jupyterhub-singleuser": "server", "ipykernel_launcher": "kernel"}


def megabytes() -> tuple[Counter[str], float]:
    """The memory of the students' processes, by kind, and the pages of files that they share."""
    by_kind: Counter[str] = Counter()
    files: dict[str, int] = {}
    for process in psutil.Process().children(recursive=True):
        if process.uids().real >= FIRST_USER:
            line = " ".join(process.cmdline())
            kind = next((kind for mark, kind in KINDS.items() if mark in line), "judge")
            for part in process.memory_maps():
                is_file = part.path.startswith("/")
                by_kind[kind] += (part.anonymous if is_file else part.pss) / 1e6
                files[part.path] = max(files.get(part.path, 0), part.rss - part.anonymous if is_file else 0)
    return by_kind, sum(files.values()) / 1e6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--students", type=int, nargs="+", default=[1, 2, 4], help="measure when so many are at work")
    counts: list[int] = parser.parse_args().students
    if reason := missing():
        print(f"not measured: {reason}")
        return
    lab = sample.LAB
    solved = nbformat.read(ROOT / "solutions" / lab / f"{lab}.ipynb", as_version=4)
    names = [f"student{number}" for number in range(1, max(counts) + 1)]
    print("students at work  server  kernel   judge    each    files for all (MB)")
    with running(names, [lab]) as hub:
        for number, name in enumerate(names, 1):
            student = hub.user(name)
            notebook = nbformat.read(ROOT / "labs" / lab / f"{lab}.ipynb", as_version=4)
            sample.fill(notebook, sample.answers(solved))
            student.write(f"{lab}.ipynb", notebook)
            student.run_all(f"{lab}.ipynb")
            if number in counts:
                sizes, files = megabytes()
                figures = [sizes[kind] / number for kind in ("server", "kernel", "judge")]
                print(
                    f"{number:16d}" + "".join(f"{figure:8.0f}" for figure in [*figures, sum(figures), files]),
                    flush=True,
                )


if __name__ == "__main__":
    main()
