"""What an exam measures: how many points somebody gets who reads the code, who guesses, and who knows only the reference.

    python bench/exam.py 01a 03a 04a --write DIR      the papers of 20 made-up students, as texts
    python bench/exam.py 01a 03a 04a --answers DIR    the points of what readers wrote, STUDENT.json: {"1.line": "5", ...}

Fourteen students have right answers of the course in odd styles, three have copied the first of these, and three have the
reference. Written answers, which a person marks, are left out. Every item's input differs on 3 to 60 of 100 drawn ones.
"""

from __future__ import annotations

import argparse
import ast
import json
import random
import re
import statistics
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

from autograder.course import SOURCES
from autograder.engine.check import Check, find
from autograder.engine.observe import is_error
from autograder.exam.draw import FIND, LETTERED, PREDICT, REASON, RESULTS, WHICH, Exam, Material, exam_in_limits
from autograder.exam.marking import mark
from autograder.exam.paper import Item
from autograder.exam.trials import Function, reference_cell
from autograder.exam.values import NotAsked, as_text, plain
from autograder.model import Course, Lab, exercise_name

SEED, STUDENTS, COPIES, REFERENCES = 20, 20, 3, 3


def styles(lab: Lab) -> dict[str, list[str]]:
    """For each exercise of a lab, the cells with the course's right answers in other styles."""
    path = SOURCES / lab.name / "right.py"
    tree = ast.parse(path.read_text(encoding="utf-8"))
    imports = [
        node for node in tree.body if isinstance(node, (ast.Import, ast.ImportFrom)) and not getattr(node, "level", 0)
    ]
    shared = ast.parse((SOURCES / "shared.py").read_text(encoding="utf-8"))
    helpers = {
        node.name: node
        for node in [*shared.body, *tree.body]
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and "__" not in node.name
    }
    found: dict[str, list[str]] = {}
    for cell in lab.released["cells"]:
        exercise = exercise_name(cell)
        if not exercise:
            continue
        given = ast.parse("".join(cell["source"]))
        name = exercise.rpartition(".")[2]
        (slot,) = [node for node in given.body if isinstance(node, ast.FunctionDef) and node.name == name]
        for node in tree.body:
            if isinstance(node, ast.FunctionDef) and node.name.startswith(f"{name}__"):
                used = {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}
                function = ast.parse(ast.unparse(node).replace(node.name, name)).body[0]
                function.decorator_list = slot.decorator_list
                helping = [helpers[each] for each in helpers if each in used]
                used |= {each.id for node in helping for each in ast.walk(node) if isinstance(each, ast.Name)}
                parts = [*(one for one in imports if used & _bound(one)), *helping, function]
                found.setdefault(exercise, []).append("\n".join(map(ast.unparse, parts)))
    return found


def _bound(imported: ast.Import | ast.ImportFrom) -> set[str]:
    return {(alias.asname or alias.name).partition(".")[0] for alias in imported.names}


def classroom(labs: list[Lab], draw: random.Random) -> dict[str, dict[str, dict[str, str]]]:
    """The cells of each made-up student, by lab and exercise."""
    known = {lab.name: styles(lab) for lab in labs}
    own = {
        f"student{i:02}": {
            lab: {exercise: draw.choice(cells) for exercise, cells in exercises.items()}
            for lab, exercises in known.items()
        }
        for i in range(STUDENTS - COPIES - REFERENCES)
    }
    first = next(iter(own.values()))
    own |= {f"copied{i}": first for i in range(COPIES)}
    return own | {f"reference{i}": {} for i in range(REFERENCES)}


# Who answers ---------------------------------------------------------------------------------------------------------


def guesses(exam: Exam, material: Material, draw: random.Random) -> Iterator[tuple[str, str]]:
    """Draws an input of the check and a line by chance, takes torch's result of another case, and another prediction."""
    for item in exam.paper.items:
        key, check = exam.keys[item.key], find(exam.keys[item.key].check)
        if key.kind == PREDICT:
            others = [v for v in material.variants if v.check == key.check and v.answer not in key.expected]
            yield item.fields[0].key, as_text(plain(draw.choice(others).answer))
        elif key.kind == FIND:
            yield from _input(item.key, draw.choice(material.known.of(check)[0]))
            yield f"{item.key}.line", str(draw.randint(1, _lines(item)))
        elif key.kind == RESULTS:
            for field in item.fields:
                yield field.key, _text(draw.choice(material.known.of(check)[1]))
        elif key.kind == WHICH:
            yield item.fields[0].key, " ".join(draw.sample(LETTERED, 3))


def of_reference(exam: Exam, material: Material, draw: random.Random) -> Iterator[tuple[str, str]]:
    """Answers as if the code were the reference's: torch's results, and a change that could have been made there."""
    for item in exam.paper.items:
        key, check = exam.keys[item.key], find(exam.keys[item.key].check)
        if key.kind in (FIND, WHICH):
            lab = next(lab for lab in material.labs if lab.name == key.lab)
            function = Function(
                lab, check.exercise, check, reference_cell(lab, check.exercise), False, material.known, True
            )
            changed = next(function.changed(function.replaced(lambda places: draw.sample(places, len(places)))), None)
            function.close()
            if changed and key.kind == WHICH:
                shown = zip(LETTERED, _positions(item, check, material), strict=True)
                yield item.fields[0].key, " ".join(letter for letter, i in shown if i in {*changed.differs})
            elif changed:
                yield from _input(item.key, function.cases[draw.choice(changed.differs)])
                yield f"{item.key}.line", str(changed.line)
        elif key.kind == RESULTS:
            for field, i in zip(item.fields, _positions(item, check, material), strict=True):
                yield field.key, _text(material.known.of(check)[1][i])


def _positions(item: Item, check: Check, material: Material) -> list[int]:
    """Those of the cases that an item shows, each below its letter."""
    cases = {_said(check.in_order(case)): i for i, case in enumerate(material.known.of(check)[0])}
    lettered = [after for before, after in pairwise(item.paragraphs) if re.fullmatch(r"\([a-f]\)", before)]
    return [cases[text] for text in lettered]


def _said(case: dict) -> str:
    try:
        return "\n".join(f" {name} = {as_text(value)}" for name, value in case.items())
    except NotAsked:
        return ""


def _input(item: str, case: dict) -> Iterator[tuple[str, str]]:
    for name, value in case.items():
        try:
            yield f"{item}.{name}", as_text(value)
        except NotAsked:
            yield f"{item}.{name}", "None"


def _text(tree: object) -> str:
    try:
        return tree["type"] if is_error(tree) else as_text(plain(tree))
    except NotAsked:
        return "None"


def _lines(item: object) -> int:
    return len(next(part for part in item.paragraphs if part.startswith("   1  ")).splitlines())


# The table -----------------------------------------------------------------------------------------------------------


def share(exam: Exam, answers: dict[str, str], by_kind: dict[str, list[float]]) -> float:
    """The share of the points that are marked by running."""
    marks = mark(exam, answers)
    earned = most = 0.0
    for item in exam.paper.items:
        kind = exam.keys[item.key].kind
        if kind != REASON:
            points = sum(marks.earned[field.key] or 0.0 for field in item.fields)
            by_kind.setdefault(kind, []).append(points / item.points)
            earned, most = earned + points, most + item.points
    return earned / most


def as_markdown(exam: Exam) -> str:
    """A paper as a text, with nothing of its keys."""
    lines = [f"# {exam.paper.exam}, {exam.paper.code}, {exam.paper.minutes} minutes, {exam.paper.points:g} points"]
    for item in exam.paper.items:
        lines.append(f"\n## {item.key}. {item.title} ({item.points:g} points)\n")
        lines += [f"```\n{part}\n```" if part.startswith(" ") else f"{part}\n" for part in item.paragraphs]
        lines += [
            f"- field `{each.key}`: {each.label} {f'(now: {each.given})' if each.given else ''}" for each in item.fields
        ]
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("labs", nargs="+")
    parser.add_argument("--students", type=int, default=STUDENTS, help="only so many of them")
    parser.add_argument("--write", type=Path)
    parser.add_argument("--answers", type=Path)
    given = parser.parse_args()
    labs, draw = [Course().find_released(each) for each in given.labs], random.Random(SEED)
    material = Material(labs, SEED)
    exams = {
        student: exam_in_limits("exam", student, material, cells, True, SEED)
        for student, cells in [*classroom(labs, draw).items()][: given.students]
    }
    own = [key.is_own for exam in exams.values() for key in exam.keys.values() if key.kind != PREDICT]
    print(
        f"{len(exams)} papers on {' '.join(given.labs)}; {sum(own)} of {len(own)} items about code are about the student's own"
    )
    if given.write:
        given.write.mkdir(parents=True, exist_ok=True)
        for student, exam in exams.items():
            (given.write / f"{student}.md").write_text(as_markdown(exam), encoding="utf-8")
        return
    who = {"guesses": guesses, "of the reference": of_reference}
    for name, answer in who.items():
        kinds: dict[str, list[float]] = {}
        shares = [share(exam, dict(answer(exam, material, draw)), kinds) for exam in exams.values()]
        report(name, shares, kinds)
    if given.answers:
        kinds = {}
        files = {
            path.stem: json.loads(path.read_text(encoding="utf-8")) for path in sorted(given.answers.glob("*.json"))
        }
        report("who reads", [share(exams[student], answers, kinds) for student, answers in files.items()], kinds)


def report(name: str, shares: list[float], kinds: dict[str, list[float]]) -> None:
    parts = ", ".join(f"{kind} {100 * statistics.mean(values):.0f} %" for kind, values in kinds.items())
    print(
        f"{name:<17} {100 * statistics.mean(shares):3.0f} % of the points ({len(shares)} papers, from"
        f" {100 * min(shares):.0f} to {100 * max(shares):.0f} %): {parts}"
    )


if __name__ == "__main__":
    main()
