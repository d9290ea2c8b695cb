"""The examination of a review: a student accepts or refuses changes to a body, and shows by a case why a change is refused.

A file `autograder/patients/02b/review_parse_argument.py` names the function (`AT`) and has its body, which is the framework's own.
`CASE` says what a case is: for each parameter of the check's program a kind and its limit. `RIGHT` and `WRONG` have the changes by
their letters, as pairs of an old and a new text. The lab shows all of them as diffs, and no student sees which ones are right.

A right change is decided right if it is accepted. A wrong one needs a case on which the changed body differs from torch and the
unchanged body agrees. The bodies run in a process without any code of the student, as those of `breaks`.
"""

from __future__ import annotations

import ast
import difflib
import json
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

from ..language import phrase
from .breaks import Runs, changed, why_it_does_not_count
from .check import find, function_of
from .observe import Tree, clean, difference, is_error, show
from .patients import read
from .verdict import DISAGREED, PASSED, Verdict

if TYPE_CHECKING:
    from .judge import Judge

EXERCISES = "course.reviews."  # the module of these exercises
AROUND = 2  # lines of a diff before and after a change
LARGEST = 9  # of the numbers in a list, which may be sizes


@dataclass(frozen=True)
class Review:
    """The function that is changed, its body and the changed bodies by their letters as texts, the letters of the right ones, and
    what a case is: the kind and the limit of each parameter."""

    at: str
    body: str
    changed: dict[str, str]
    right: frozenset[str]
    case: dict[str, tuple[str, Any]]


@cache
def find_review(number: str) -> Review:
    """The review of the file of this number, such as `02b.review_parse_argument`."""
    text = read(number)
    statements = ast.parse(text).body
    values = {ast.unparse(node.targets[0]): node.value for node in statements if isinstance(node, ast.Assign)}
    at, case, right, wrong = (ast.literal_eval(values[name]) for name in ("AT", "CASE", "RIGHT", "WRONG"))
    (function,) = (node for node in statements if isinstance(node, ast.FunctionDef))
    body = ast.get_source_segment(text, function) or ""
    bodies = {letter: changed(body, changes) for letter, changes in sorted((right | wrong).items())}
    return Review(at, body, bodies, frozenset(right), case)


def diff_of(review: Review, letter: str) -> str:
    """A change as a unified diff. Its lines are numbered from the function's first one."""
    file = f"{function_of(review.at).__module__.replace('.', '/')}.py"
    before, after = (f"{text}\n".splitlines(keepends=True) for text in (review.body, review.changed[letter]))
    return "".join(difflib.unified_diff(before, after, f"a/{file}", f"b/{file}", n=AROUND))


# Cases ---------------------------------------------------------------------------------------------------------------


def _are_numbers(value: Tree, most: int) -> bool:
    return (
        isinstance(value, list)
        and len(value) <= most
        and all(type(each) is int and 0 <= each <= LARGEST for each in value)
    )


def _are_values(value: Tree, most: int) -> bool:
    return (
        isinstance(value, list)
        and len(value) <= most
        and all(type(each) is int and abs(each) < 10_000 for each in value)
    )


def _are_steps(value: Tree, most: int) -> bool:
    return (
        isinstance(value, list)
        and 0 < len(value) <= most
        and all(isinstance(row, list) and len(row) <= most for row in value)
        and all(each is None or type(each) is int and abs(each) <= LARGEST for row in value for each in row)
    )


# The kinds of values in a case: what a value of a limit is, and the test
KINDS: dict[str, tuple[Callable[[Any], str], Callable[[Tree, Any], bool]]] = {
    "text": (
        lambda most: phrase(f"a text of at most {most} ASCII characters"),
        lambda value, most: isinstance(value, str) and len(value) <= most and value.isascii(),
    ),
    "number": (
        lambda most: phrase(f"a whole number from 0 to {most}"),
        lambda value, most: type(value) is int and 0 <= value <= most,
    ),
    "value": (
        lambda most: phrase(f"a whole number from -{most} to {most}"),
        lambda value, most: type(value) is int and abs(value) <= most,
    ),
    "values": (lambda most: phrase(f"a list of at most {most} whole numbers from -9999 to 9999"), _are_values),
    "dtype": (
        lambda names: phrase(f"one of {', '.join(names)}"),
        lambda value, names: isinstance(value, str) and value in names,
    ),
    "steps": (
        lambda most: phrase(
            f"a list of one to {most} lists, each of at most {most} whole numbers from -9 to 9, or None"
        ),
        _are_steps,
    ),
    "numbers": (lambda most: phrase(f"a list of at most {most} whole numbers from 0 to 9"), _are_numbers),
    "lists": (
        lambda most: phrase(f"a list of at most {most} lists, each of at most {most} whole numbers from 0 to 9"),
        lambda value, most: (
            isinstance(value, list) and len(value) <= most and all(_are_numbers(each, most) for each in value)
        ),
    ),
}


def decisions_of(given: Tree, review: Review) -> dict[str, Tree]:
    """What a student's function has returned: for each letter None, or the case of a refusal. Raises ValueError with the reason if
    it is no review."""
    if is_error(given):
        raise ValueError(show(given).partition("\n")[0])
    decisions: dict[str, Tree] = dict(given["dict"]) if isinstance(given, dict) and "dict" in given else {}
    if decisions.keys() != review.changed.keys():
        raise ValueError(phrase(f"it returns no dict with a decision on each of: {', '.join(review.changed)}"))
    if len({decision is None for decision in decisions.values()}) == 1:
        raise ValueError(phrase("a review that accepts all changes, or refuses all, decides nothing"))
    return {letter: decisions[letter] for letter in review.changed}


def _case(tree: Tree, review: Review) -> dict:
    case: dict[str, Any] = dict(tree["dict"]) if isinstance(tree, dict) and "dict" in tree else {}
    if case.keys() != review.case.keys():
        raise ValueError(phrase(f"its case is no dict with a value for each of: {', '.join(review.case)}"))
    for name, (kind, most) in review.case.items():
        described, fits = KINDS[kind]
        if not fits(case[name], most):
            raise ValueError(phrase(f"in its case, {name} is not {described(most)}"))
    return {name: case[name] for name in review.case}


@lru_cache(16)  # the checks of one exercise ask for the same
def unproved(judge: Judge, number: str, text: str) -> dict[str, str]:
    """For the refusals, a JSON dict of cases by letter: why a case proves nothing, or an empty text if it proves a mistake."""
    review, check = find_review(number), find(EXERCISES + number.rpartition(".")[2])
    reasons, cases = {}, {}
    for letter, tree in json.loads(text).items():
        try:
            cases[letter] = _case(tree, review)
        except ValueError as error:
            reasons[letter] = str(error)
    with closing(Runs(check, review.at)) as runs:
        for (letter, case), theirs in zip(cases.items(), judge.answers(check, [*cases.values()])):
            reasons[letter] = why_it_does_not_count(runs.results(review.body, [case]), theirs)
            if not reasons[letter]:
                mine = runs.results(review.changed[letter], [case])
                agrees = mine is not None and not difference(mine[0], theirs)
                reasons[letter] = phrase("the changed body agrees with torch there") if agrees else ""
    return reasons


# The verdict ---------------------------------------------------------------------------------------------------------


def reviewed(judge: Judge, number: str, needed: int, given: Tree) -> Verdict:
    """Decide whether a review is right about at least so many changes of a file.

    Only the verdict on the whole exercise says why a refusal proves nothing.
    """
    review = find_review(number)
    whole = len(review.changed)
    try:
        decisions = decisions_of(given, review)
    except ValueError as error:
        return Verdict("", DISAGREED, message=clean(error))
    refused = {letter: case for letter, case in decisions.items() if case is not None}
    reasons = unproved(judge, number, json.dumps(refused))
    right = sum(not reasons[letter] if letter in refused else letter in review.right for letter in decisions)
    said, passes = phrase(f"{right} of {whole} changes are decided right"), right >= needed
    if not passes:
        said = phrase(f"{said}; {needed} are needed")
    elif needed < whole:
        said = phrase(f"{said}; {needed} are enough")
    notes = [phrase(f"the refusal of {letter} proves nothing: {why}") for letter, why in sorted(reasons.items()) if why]
    return Verdict("", PASSED if passes else DISAGREED, message=said, notes=notes if needed == whole else [])
