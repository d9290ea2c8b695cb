"""Count the points that hostile submissions gain: a class of attackers (`tests/attacks`) graded as `rushlight grade` does.

    python bench/attacks.py [ATTACK...] [DOOR...]

A door is beside the sandbox: the exchange, the cluster, the questions for an examination (oral), the service of judges. Each prints
what got through, which must be 0. The service prints the seconds that a notebook waits while another user floods it.
"""

from __future__ import annotations

import multiprocessing
import os
import socket
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import ModuleType

from autograder.course import ROOT
from autograder.model import lab_names

sys.path.insert(0, str(ROOT / "tests"))  # as pytest has it, because tests import each other from there


def main() -> None:
    from attacks import LABS, corpus

    for name, door in DOORS.items():
        if name in sys.argv[1:] or not sys.argv[1:]:
            with tempfile.TemporaryDirectory() as place:
                os.environ["RUSHLIGHT_CLASSROOM"] = place
                print(f"{name}: {door(Path(place))}")
    for lab in LABS:
        attacks = corpus(lab)
        chosen = {name: attack for name, attack in attacks.items() if not sys.argv[1:] or name in sys.argv[1:]}
        if chosen and lab in lab_names():
            print(lab)
            show(lab, chosen)


def show(lab: str, chosen: dict[str, ModuleType]) -> None:
    from attacks import measure

    with tempfile.TemporaryDirectory() as place:
        os.environ["XDG_CACHE_HOME"] = str(Path(place, "cache"))
        os.environ["RUSHLIGHT_CLASSROOM"] = str(Path(place, "class"))
        Path(place, "class").mkdir()
        figures = measure(Path(place, "class"), chosen, lab)
    for student, remark in figures.remarks.items():
        print(f"{student!r:40} {remark}", file=sys.stderr)
    for finding in (figures.undeserved, figures.lost, figures.changed, figures.left, figures.active):
        if finding:
            print(finding, file=sys.stderr)
    print(figures)


# Doors beside the sandbox --------------------------------------------------------------------------------------------


def exchange(place: Path) -> str:
    from autograder.classroom.collect import exchange_problem

    course = place / "exchange" / "rushlight"
    (course / "outbound").mkdir(parents=True)
    modes = [(course.parent, 0o777), (course, 0o777), (course / "outbound", 0o777)]
    for folder, _ in modes:
        folder.chmod(0o755)
    passed = []
    for folder, mode in modes:
        folder.chmod(mode)
        passed += [] if exchange_problem(course.parent, course.name) else [folder.name]
        folder.chmod(0o755)
    return f"{len(passed)} of {len(modes)} that others can write to were taken"


def cluster(place: Path) -> str:
    from autograder.classroom.cluster import text_of
    from autograder.engine.observe import NotGraded

    answers = [
        b"",
        None,
        "",
        "[" * 99_999,
        "x" * (21 << 20),
        "{}",
        '{"done": 7}',
        '{"error": "SystemExit", "about": 1}',
    ]
    taken = 0
    for answer in answers:
        with suppress(NotGraded):
            text_of(answer)
            taken += 1
    return f"{taken} of {len(answers)} answers of a hostile worker were taken"


LIES = """
import json
from autograder.engine import probe
true_trace = probe.trace
def trace(check, cases):
    lies = [record | {"arguments": {"x": "A LIE"}} for record in json.loads(true_trace(check, cases))]
    return json.dumps(lies)
probe.trace = trace
"""


def oral(place: Path) -> str:
    import nbformat

    from autograder.classroom import sample
    from autograder.classroom.oral import write
    from autograder.course import RELEASED, SOURCES
    from autograder.engine.sandbox import missing
    from autograder.model import Lab, Submission

    lab, students = Lab("01a_views"), ("liar", "long_number", "honest")
    (place / "seed").write_text("7")
    for student in students:
        notebook = nbformat.read(RELEASED / lab.name / f"{lab}.ipynb", as_version=4)
        sample.fill(notebook, sample.answers(nbformat.read(SOURCES / lab.name / f"{lab}.ipynb", as_version=4)))
        if student == "liar":
            notebook.cells.insert(1, nbformat.v4.new_code_cell(LIES))
        for cell in notebook.cells if student == "long_number" else ():
            cell.source = cell.source.replace("\n    return ", f"\n    big = 0x{'f' * 5000}\n    return ", 1)
        for kind in ("submitted", "autograded"):
            path = place / kind / student / lab.name / f"{lab}.ipynb"
            path.parent.mkdir(parents=True)
            path.write_text(nbformat.writes(notebook), encoding="utf-8")
    paper = write(lab, [Submission(lab, student) for student in students], not missing())
    lies = sum("A LIE" in str(question) for asked in paper.questions.values() for question in asked)
    return f"{lies} lies on the paper, {'honest' not in paper.questions:d} papers of others lost"


def service(place: Path) -> str:
    if not hasattr(os, "geteuid") or os.geteuid() != 0:
        return "only root serves several users"
    from autograder.notebook.service import connect
    from tests.autograder.notebook.test_service import WITHOUT_TORCH, dial, running

    limits = "service.MAX_NOTEBOOKS, service.MAX_STARTS, service.SILENCE_SECONDS = 8, 30, 900"
    with running("-c", WITHOUT_TORCH, "PATH", limits) as (path, _):
        os.environ["RUSHLIGHT_JUDGE"] = str(path)
        processes = [multiprocessing.Process(target=_as_user, args=(20_000 + i, _hold, dial, path)) for i in range(30)]
        processes += [multiprocessing.Process(target=_as_user, args=(12_345, _flood, dial, path)) for _ in range(2)]
        for process in processes:
            process.start()
        time.sleep(8)
        waits = []
        for _ in range(4):
            start = time.monotonic()
            connection = connect()
            waits.append(f"{time.monotonic() - start:.1f} s" if connection else "no judge")
        for process in processes:
            process.kill()
    return ", ".join(waits)


def _as_user(user: int, work: Callable, *arguments: object) -> None:
    os.setgroups([])
    os.setresgid(user, user, user)
    os.setresuid(user, user, user)
    work(*arguments)


def _hold(dial: Callable, path: Path) -> None:
    connections = [dial(path) for _ in range(4)]
    time.sleep(600)
    del connections


def _flood(dial: Callable, path: Path) -> None:
    held: list[socket.socket] = []
    while True:
        connection = socket.socket(socket.AF_UNIX)
        connection.setblocking(False)
        with suppress(OSError):
            connection.connect(str(path))
            held.append(connection)
        while len(held) > 400:
            held.pop(0).close()


DOORS = {"exchange": exchange, "cluster": cluster, "oral": oral, "service": service}


if __name__ == "__main__":
    main()
