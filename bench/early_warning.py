"""How often does the class report warn of a bad exercise, and how often of one that is not bad?

    python bench/early_warning.py [LAB]

Classes are simulated at the level of verdicts. Each student has an ability and each exercise a difficulty, and a student who fails
has made one of the recorded mistakes of `solutions/`, some more often than others, with the simplest case of the
check that shows it. In each class one exercise is bad, in one of four ways.
"""

import importlib
import math
import random
import sys
from collections import defaultdict
from itertools import filterfalse

from autograder.classroom.grade import Row
from autograder.classroom.items import warnings
from autograder.engine.check import find, function_of, is_milestone
from autograder.engine.exercise import fill, unplug
from autograder.engine.judge import Judge, complexity
from autograder.engine.observe import difference
from autograder.engine.subject import answer
from autograder.engine.verdict import DISAGREED, NOT_ATTEMPTED, PASSED, TIMED_OUT, describe
from autograder.model import Course, Lab

CLASSES, SIZES = 200, (20, 40, 200)
STEEP = 1.2  # how much an exercise separates students, per standard deviation of their ability
KINDS = {
    "nobody can pass it": lambda ability, usual: (0.05 * usual, None),
    "its text misleads half": lambda ability, usual: (0.5 * usual, "misled"),
    "the good ones fail": lambda ability, usual: (1 / (1 + math.exp(STEEP * ability)), None),
    "a quarter times out": lambda ability, usual: (0.75 * usual, TIMED_OUT),
}


def mistakes(lab: Lab) -> dict[str, list[str]]:
    """By check, the simplest case on which each recorded mistake differs from torch, among the check's own cases."""
    module = importlib.import_module(f"solutions.{lab}.wrong")
    recorded = [attribute for attribute in vars(module).items() if "__" in attribute[0].strip("_")]
    judge, simplest = Judge(seed=1), defaultdict(list)
    for check in filterfalse(is_milestone, lab.points):
        slot, cases = function_of(find(check).exercise), find(check).edges
        theirs = judge.answers(find(check), cases)
        for name, function in recorded:
            if name.rpartition("__")[0] == slot.__name__:
                fill(slot, function)
                wrong = [
                    case for case, mine, real in zip(cases, answer(check, cases), theirs) if difference(mine, real)
                ]
                unplug(slot)
                simplest[check] += [describe(min(wrong, key=complexity))] if wrong else []
    return simplest


def simulated(size: int, worth: dict[str, float], cases: dict[str, list[str]], bad: str, kind: str, draw) -> list[Row]:
    easiness = {check: draw.gauss(1.0, 0.8) for check in worth}
    popular = {check: draw.sample(some, len(some)) for check, some in cases.items()}
    rows = []
    for number in range(size):
        ability, row = draw.gauss(0, 1), Row(f"s{number}")
        for check in worth:
            chance = 1 / (1 + math.exp(-STEEP * ability - easiness[check]))
            usual, how = (chance, None) if check != bad else KINDS[kind](ability, chance)
            row.verdicts[check] = verdict(
                popular.get(check), draw.random() < usual, how if draw.random() > 1 - chance else None, draw
            )
            row.scores[check] = worth[check] * (row.verdicts[check]["outcome"] == PASSED)
        rows.append(row)
    return rows


def verdict(cases: list[str] | None, passes: bool, how: str | None, draw) -> dict:
    """A pass, a failure in the manner of the bad exercise, or one of the mistakes, the k-th as often as 1/k."""
    if passes:
        return {"outcome": PASSED}
    if how == TIMED_OUT:
        return {"outcome": TIMED_OUT}
    if how is None and (not cases or draw.random() < 0.2):
        return {"outcome": NOT_ATTEMPTED}
    case = how or draw.choices(cases, [1 / k for k in range(1, len(cases) + 1)])[0]
    return {"outcome": DISAGREED, "message": "", "case": case}


def main(lab: Lab) -> None:
    worth, cases = lab.points, mistakes(lab)
    known = [check for check in worth if cases[check]]
    print(
        f"{lab}: {len(worth)} exercises; smallest cases of the recorded mistakes: {[len({*cases[c]}) for c in known]}"
    )
    for kind in KINDS:
        for size in SIZES:
            draw, detected, innocent = random.Random(f"{kind} {size}"), 0, 0
            for _ in range(CLASSES):
                bad = draw.choice(known)
                named = {warning.check for warning in warnings(simulated(size, worth, cases, bad, kind, draw), worth)}
                detected, innocent = detected + (bad in named), innocent + len(named - {bad})
            rate = innocent / CLASSES / (len(worth) - 1)
            print(
                f"{kind:24} {size:4} students: found in {detected / CLASSES:4.0%}, innocent ones named {rate:5.1%}",
                flush=True,
            )


if __name__ == "__main__":
    main(Course().find_released(sys.argv[1] if len(sys.argv) > 1 else "01a"))
