"""A class that hands in a lab as classes do: right, wrong, late, doubled and broken submissions, made of the recorded answers.

    python tests/classroom.py FOLDER [LAB [SIZE]]

writes FOLDER/submitted and FOLDER/roster.csv. The same arguments give the same class.
"""

import ast
import csv
import json
import random
import re
import shutil
import sys
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path

import nbformat

from autograder.classroom import sample
from autograder.course import RELEASED, SOURCES
from autograder.model import Lab, exercise_name

DUE = datetime(2027, 3, 15, 22, tzinfo=UTC)
NAMES = [
    "Ada",
    "Chloé",
    "Dmitri",
    "Eun",
    "Fatima",
    "Gaël",
    "Hana",
    "Imre",
    "José",
    "Kofi",
    "Lucía",
    "Nils",
    "Olu",
    "Søren",
]
FAMILIES = ["Abbot", "de Vries", "García, Jr.", "Kowalska", "Li", "Nguyễn", "O'Neil", "Smith", "Smith", "Žák"]
BROKEN = (
    sample.untouched,
    sample.half_done,
    sample.syntax_error,
    sample.endless_loop,
    sample.meddled_with_checks,
    sample.corrupt_file,
)


@cache
def written(lab: str) -> dict[str, dict[bool, list[str]]]:
    """Of each exercise the code of its recorded answers, right ones under True and wrong ones under False."""
    names_of = {name.rpartition(".")[2]: name for name in Lab(lab).exercises}
    found = {name: {True: [], False: []} for name in names_of.values()}
    shared = ast.parse((SOURCES / "shared.py").read_text(encoding="utf-8")).body
    for kind in ("right", "wrong"):
        body = shared + ast.parse((SOURCES / lab / f"{kind}.py").read_text(encoding="utf-8")).body
        body = [node for node in body if not (isinstance(node, ast.ImportFrom) and node.level)]
        names = {name: node for node in body for name in _bound(node)}
        for node in body:
            exercise, mark, _ = getattr(node, "name", "").partition("__")
            if isinstance(node, ast.FunctionDef) and mark and exercise in names_of:
                code = "\n".join(ast.unparse(each) for each in body if each in _needed(node, names))
                found[names_of[exercise]][kind == "right"].append(code.replace(node.name, exercise))
    return found


def _bound(node: ast.stmt) -> list[str]:
    if isinstance(node, ast.Import | ast.ImportFrom):
        return [each.asname or each.name.partition(".")[0] for each in node.names]
    if isinstance(node, ast.Assign):
        return [each.id for target in node.targets for each in ast.walk(target) if isinstance(each, ast.Name)]
    return [node.name] if hasattr(node, "name") else []


def _needed(node: ast.stmt, names: dict[str, ast.stmt]) -> set[ast.stmt]:
    needed, waiting = set(), [node]
    while waiting:
        needed.add(each := waiting.pop())
        used = {names.get(name.id) for name in ast.walk(each) if isinstance(name, ast.Name)}
        waiting += used - needed - {None}
    return needed


def make(folder: Path, lab: str = sample.LAB, size: int = 40, seed: int = 0) -> dict[str, str]:
    """Write `folder/submitted/STUDENT/LAB/LAB.ipynb`, with times around `DUE`, and `folder/roster.csv`.

    Returns each student's kind: "right"; "wrong", with answers as good as the student is; "late", up to four days; "doubled", who
    has a second notebook beside the first; "broken", in the ways of `sample`; and "absent", whose folder is empty.
    """
    draw = random.Random(f"{lab} {size} {seed}")
    released = nbformat.read(RELEASED / lab / f"{lab}.ipynb", as_version=4)
    given = sample.answers(nbformat.read(SOURCES / lab / f"{lab}.ipynb", as_version=4))
    others = written(lab)
    kinds = ["right", "wrong", "wrong", "wrong", "late", "right", "wrong", "doubled", "broken", "wrong"]
    students = [f"s{number:04}" for number in sorted(draw.sample(range(10_000), size))]
    people = {}
    for i, student in enumerate(students):
        kind = "absent" if i == size - 1 else kinds[i % len(kinds)]
        people[student] = kind
        place = folder / "submitted" / student / lab
        place.mkdir(parents=True)
        if kind == "absent":
            continue
        handed_in = DUE - timedelta(minutes=draw.randrange(1, 4000))
        if kind == "late":
            handed_in = DUE + timedelta(hours=draw.choice([0.1, 1, 20, 30, 50, 90]))
        (place / "timestamp.txt").write_text(f"{handed_in:%Y-%m-%d %H:%M:%S} UTC\n")
        notebook = place / f"{lab}.ipynb"
        if kind == "broken":
            change = BROKEN[i // len(kinds) % len(BROKEN)] if lab == sample.LAB else sample.half_done
            notebook.write_text(change(nbformat.from_dict(json.loads(json.dumps(released))), given), encoding="utf-8")
            continue
        good = 1.0 if kind == "right" else draw.uniform(0.4, 1)
        notebook.write_text(_answered(released, given, others, good, draw), encoding="utf-8")
        if kind == "doubled":
            shutil.copy(notebook, place / f"{lab}-1.ipynb")
            notebook.write_text(_answered(released, given, others, good / 2, draw), encoding="utf-8")
    with (folder / "roster.csv").open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(["id", "first_name", "last_name", "email"])
        for student in students:
            rows.writerow([student, draw.choice(NAMES), draw.choice(FAMILIES), f"{student}@example.edu"])
    return people


def _answered(released, given: dict[str, str], others: dict, good: float, draw: random.Random) -> str:
    """The lab, filled in by a student who has an exercise right with probability `good`, in the course's words or in others'."""
    notebook = nbformat.from_dict(json.loads(json.dumps(released)))
    for cell in notebook.cells:
        if cell.id in given:
            name, right = exercise_name(cell) or "", draw.random() < good
            start = re.compile(rf"^def {name.rpartition('.')[2]}\(", re.M)
            codes = others.get(name, {}).get(right, [])
            decorated = re.search(r"^@exercise.*\ndef \w+\(", given[cell.id], re.M)
            choices = [start.sub(decorated[0], code) for code in codes] if decorated else []
            if right or choices:
                cell.source = draw.choice([*choices, *[given[cell.id]] * (2 if right else 0)])
    return nbformat.writes(notebook)


if __name__ == "__main__":
    folder, *rest = sys.argv[1:]
    people = make(Path(folder), *rest[:1], *map(int, rest[1:]))
    print(", ".join(f"{list(people.values()).count(kind)} {kind}" for kind in dict.fromkeys(people.values())))
