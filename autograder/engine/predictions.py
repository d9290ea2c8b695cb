"""The examination of predictions whose programs are drawn for each student: `rushlight/course/draws.py` has their grammars.

An answer has a student's name and a prediction for each of the programs that this name draws. The first four are marked when all of
them are there, and each that is right is worth a point. Four others are a second draw, each worth half a point. The better draw
counts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rushlight.course import draws

from ..language import phrase
from .check import find
from .observe import Tree, agreement, clean, difference, is_error, show
from .verdict import DISAGREED, PASSED, Verdict

if TYPE_CHECKING:
    from .judge import Judge

EXERCISES = "course.predictions."  # the module of these exercises
CHANGED = "changed"  # in an answer, the letters of predictions that were changed after they were marked
LONGEST = 100  # characters of a name


def named(given: Tree) -> tuple[str, dict[str, Tree]]:
    """The name and the predictions, by their letters, in what a student's function has returned. Raises ValueError with the reason
    if it is no answer."""
    if is_error(given):
        raise ValueError(show(given).partition("\n")[0])
    answer: dict[str, Tree] = dict(given["dict"]) if isinstance(given, dict) and "dict" in given else {}
    name = answer.get("name")
    if not isinstance(name, str) or not name.strip() or len(name) > LONGEST:
        raise ValueError(phrase("it returns no dict with your name under the key 'name'"))
    return name, answer


def points(judge: Judge, prediction: str, name: str, answer: dict[str, Tree], letters: str) -> tuple[int, list[str]]:
    """How many predictions of a draw are right, and what to say of the others."""
    check, numbers = find(EXERCISES + prediction), draws.numbers(prediction, name)
    theirs = judge.answers(check, [{"number": numbers[letter]} for letter in letters])
    right, notes = 0, list[str]()
    for letter, torchs in zip(letters, theirs, strict=True):
        if difference(answer[letter], torchs) is None:
            right += 1
        else:
            said = agreement(answer[letter], torchs).words
            notes.append(phrase(f"program {letter}: {said}"))
    return right, notes


def marked(judge: Judge, prediction: str, needed: int, given: Tree) -> Verdict:
    """Decide whether an answer to a prediction is worth at least so many points. Only the verdict on all of them says more."""
    try:
        name, answer = named(given)
    except ValueError as error:
        return Verdict("", DISAGREED, message=clean(error))
    most, earned, said, notes = len(draws.FIRST), 0, list[str](), list[str]()
    for letters, price in ((draws.FIRST, 1), (draws.SECOND, 2)):
        there = [letter for letter in letters if answer.get(letter) is not None]
        first, last, count = letters[0], letters[-1], len(there)
        if count == most:
            right, wrong = points(judge, prediction, name, answer, letters)
            earned, notes = max(earned, right // price), notes + wrong
            said.append(phrase(f"{right} of {most} predictions {first} to {last} are right"))
        elif letters == draws.FIRST or there:
            said.append(phrase(f"predictions {first} to {last} are marked together, and {count} of {most} are there"))
    if isinstance(changed := answer.get(CHANGED), list) and all(isinstance(letter, str) for letter in changed):
        notes.append(phrase(f"changed after they were marked, so the first ones count: {', '.join(changed)}"))
    passes = earned >= needed
    verdict = Verdict("", PASSED if passes else DISAGREED, message=clean("; ".join(said)))
    if needed == most:
        verdict.notes, verdict.drawn_for = notes, clean(name)
    return verdict
