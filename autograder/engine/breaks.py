"""The examination of an exercise "Break it": a student gives cases for a function, and is graded by the wrong bodies that they
catch.

A file `autograder/patients/01a/is_contiguous.py` names the function (`AT`), has its body, and says how many cases are allowed
(`MOST`). `CASE` has the kind of each value of a case, such as `"list[int]"` or `{"some of": ["CPU", "Meta"]}`. `WRONG` has the
wrong bodies as small changes of the right one: what each is wrong about, and pairs of an old and a new text.

A case is data: a dict with a value for each parameter of the check's program. A process without any code of the student runs this
program on each case, with each body in its place. A case counts if the right body agrees with torch there. It catches the bodies
that do not.
"""

from __future__ import annotations

import ast
import json
import math
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

from ..language import phrase
from . import sandbox
from .check import Check, find, is_on_torch
from .edition import keep, patient_files
from .limits import CHECK_SECONDS, seconds
from .observe import Malformed, SubjectDied, SubjectTimedOut, Tree, accept, clean, difference, is_error, result_of, show
from .patients import read
from .student_checks import planting
from .verdict import DISAGREED, PASSED, Verdict, describe

if TYPE_CHECKING:
    from .judge import Judge

EXERCISES = "course.breaks.breaks_"  # the beginning of the names of these exercises
LONGEST, LARGEST = 8, 2**31  # of a case: items of a list, and the numbers


@dataclass(frozen=True)
class Bodies:
    """The function that cases are for, and its bodies as texts: the right one, and the wrong ones by what they are wrong about."""

    at: str
    most: int  # cases
    case: dict[str, str | dict[str, list[str]]]  # the kinds of its values, by their names
    right: str
    wrong: dict[str, str]


@cache
def find_bodies(number: str) -> Bodies:
    """The bodies of the file of this number, such as `01a.is_contiguous`."""
    text = read(number)
    statements = ast.parse(text).body
    values = {ast.unparse(node.targets[0]): node.value for node in statements if isinstance(node, ast.Assign)}
    at, most, case, wrong = (ast.literal_eval(values[name]) for name in ("AT", "MOST", "CASE", "WRONG"))
    (function,) = (node for node in statements if isinstance(node, ast.FunctionDef))
    right = ast.get_source_segment(text, function) or ""
    return Bodies(at, most, case, right, {about: changed(right, changes) for about, changes in wrong.items()})


def changed(text: str, changes: Sequence[tuple[str, str]]) -> str:
    """A body with changes, each of a text that stands in it once."""
    for old, new in changes:
        if text.count(old) != 1:
            raise ValueError(f"a change needs a text that stands in the body once: {old!r}")
        text = text.replace(old, new)
    return text


# Cases ---------------------------------------------------------------------------------------------------------------


Kind = tuple[str, Callable[[Tree], bool]]  # what a value of a case is, and the test


def _is_int(value: Tree) -> bool:
    return type(value) is int and abs(value) < LARGEST


def _are(test: Callable[[Tree], bool]) -> Callable[[Tree], bool]:
    return lambda value: isinstance(value, list) and len(value) <= LONGEST and all(map(test, value))


# No value makes a program that takes long
KINDS: dict[str, Kind] = {
    "bool": (phrase("True or False"), lambda value: isinstance(value, bool)),
    "int": (phrase("an int"), _is_int),
    "float": (phrase("a float"), lambda value: isinstance(value, float)),
    "list[bool]": (phrase("a list of a few bools"), _are(lambda value: isinstance(value, bool))),
    "list[int]": (phrase("a list of a few ints"), _are(_is_int)),
    "list[list[int]]": (phrase("a list of a few lists of ints"), _are(_are(_is_int))),
}


def kind_of(said: str | dict[str, list[str]]) -> Kind:
    """The kind that a file of bodies names: one of `KINDS`, or words: `{"one of": words}` or `{"some of": words}`, a list."""
    if isinstance(said, str):
        return KINDS[said]
    ((how, words),) = said.items()
    shown, is_word = ", ".join(words), words.__contains__
    if how == "one of":
        return phrase(f"one of these: {shown}"), lambda value: isinstance(value, str) and is_word(value)
    return phrase(f"a list of a few of these: {shown}"), _are(lambda item: isinstance(item, str) and is_word(item))


def cases_of(given: Tree, bodies: Bodies) -> list[dict]:
    """The cases that a student's function has returned, as those of a check. Raises ValueError with the reason if they are none."""
    if is_error(given):
        raise ValueError(show(given).partition("\n")[0])
    if not isinstance(given, list) or not given:
        raise ValueError(phrase("it returns no list of cases"))
    if (count := len(given)) > (most := bodies.most):
        raise ValueError(phrase(f"there are {count} cases, and at most {most} are allowed"))
    kinds = {name: kind_of(said) for name, said in bodies.case.items()}
    return [_case(tree, index, kinds) for index, tree in enumerate(given, start=1)]


def _case(tree: Tree, index: int, kinds: dict[str, Kind]) -> dict:
    case: dict[str, Any] = dict(tree["dict"]) if isinstance(tree, dict) and "dict" in tree else {}
    names = ", ".join(kinds)
    if case.keys() != kinds.keys():
        raise ValueError(phrase(f"case {index} is no dict with a value for each of: {names}"))
    for name, (kind, fits) in kinds.items():
        if not fits(case[name]):
            raise ValueError(phrase(f"case {index}: {name} is not {kind}"))
    return {name: case[name] for name in kinds}


# Bodies --------------------------------------------------------------------------------------------------------------


@cache
def _edition(lab: str) -> Any:
    """The folder of the framework with all bodies and the programs of a lab. No code of a student ever runs in it."""
    return keep("breaks", patient_files({lab}), lambda files: files)


class Runs:
    """A process in which the check's program runs with one body after another, and a new process if a body has ended it."""

    def __init__(self, check: Check, at: str):
        self.check, self.at = check, at
        self.opened = self._open()

    def _open(self) -> sandbox.Sandbox:
        lab = self.check.lab
        return sandbox.Sandbox(_edition(lab), sandbox.missing() is None, is_on_torch(lab))

    def results(self, body: str, cases: list[dict]) -> list[Tree] | None:
        """What the program gives with this body, or None if it does not end on one of the cases."""
        limit = seconds(CHECK_SECONDS, is_on_torch(self.check.lab))
        try:
            self.opened.request({"cell": self._cell(body)}, limit)
            observed = self.opened.request({"check": self.check.name, "cases": cases}, limit)["observed"]
            accept(observed)
        except (SubjectDied, SubjectTimedOut, Malformed):
            self.opened = self._open()
            return None
        return [*map(result_of, observed)]

    def _cell(self, body: str) -> str:
        """A cell that plants a body. The exercise is filled too, because the program of an empty one does not run."""
        (function,) = ast.parse(body).body
        assert isinstance(function, ast.FunctionDef)
        fill = f"fill(function_of({self.check.exercise!r}), lambda: [])"
        names = "from autograder.engine.check import function_of\nfrom autograder.engine.exercise import fill"
        return f"{planting(self.at, function)}\n{names}\n{fill}"

    def close(self) -> None:
        self.opened.close()


@dataclass(frozen=True)
class Tried:
    """The number of cases that count, why the others do not, and what the wrong bodies that are not caught are wrong about."""

    counted: int
    refused: list[str]
    left: list[str]


@lru_cache(16)  # the checks of one exercise ask for the same
def try_cases(judge: Judge, number: str, text: str) -> Tried:
    """What cases, as the text of a JSON list, catch."""
    cases = json.loads(text)
    bodies, check = find_bodies(number), find(EXERCISES + number.rpartition(".")[2])
    refused, counting = [], []
    with closing(Runs(check, bodies.at)) as runs:
        for case, theirs in zip(cases, judge.answers(check, cases)):
            if reason := why_it_does_not_count(runs.results(bodies.right, [case]), theirs):
                shown = describe(case).replace("\n", ", ")
                refused.append(phrase(f"a case does not count ({shown}): {reason}"))
            else:
                counting.append((case, theirs))
        tried = [case for case, _ in counting]
        left = []
        for about, body in bodies.wrong.items():
            results = runs.results(body, tried)
            if results is not None and not any(
                difference(mine, theirs) for mine, (_, theirs) in zip(results, counting)
            ):
                left.append(about)
    return Tried(len(counting), refused, left)


def why_it_does_not_count(mine: list[Tree] | None, theirs: Tree) -> str:
    """Why a case on which the right body gives this, and torch that, does not count, or nothing."""
    if mine is None:
        return phrase("the right body does not end on it")
    if not difference(mine[0], theirs):
        return ""
    shown, torchs = show(mine[0]).partition("\n")[0], show(theirs).partition("\n")[0]
    if is_error(theirs):
        return phrase(f"torch refuses it, {torchs}")
    return phrase(f"the right body gives {shown}, and torch {torchs}")


# The verdict ---------------------------------------------------------------------------------------------------------


def broken(judge: Judge, number: str, share: str, given: Tree) -> Verdict:
    """Decide whether cases catch at least this share of the wrong bodies of a file.

    Only the verdict on the whole exercise says why a case does not count, and what the bodies that are not caught are wrong about.
    """
    bodies, is_whole = find_bodies(number), Fraction(share) == 1
    try:
        tried = try_cases(judge, number, json.dumps(cases_of(given, bodies)))
    except ValueError as error:
        return Verdict("", DISAGREED, message=clean(error))
    whole = len(bodies.wrong)
    needed, caught = math.ceil(Fraction(share) * whole), whole - len(tried.left)
    count, passes = tried.counted, caught >= needed
    said = phrase(f"{count} cases catch {caught} of {whole} wrong bodies")
    if count == 1:
        said = phrase(f"1 case catches {caught} of {whole} wrong bodies")
    if not passes:
        said = phrase(f"{said}; {needed} are needed")
    elif not is_whole:
        said = phrase(f"{said}; {needed} are enough")
    notes = [*tried.refused, *(phrase(f"not caught: one is wrong about {about}") for about in tried.left)]
    return Verdict("", PASSED if passes else DISAGREED, message=clean(said), notes=notes if is_whole else [])
