"""Every exercise has right answers in other styles and a wrong one; no table of the edges is an answer. (`test_guarantees.py`
tries the answers.)"""

from types import FunctionType

import pytest
from answers import answers, hints_of, hints_of_wrong, over_the_wire
from sweep import sweep

from autograder.author.mutants import graded_checks
from autograder.engine.check import function_of
from autograder.engine.exercise import fill, unplug
from autograder.engine.judge import Judge
from autograder.model import Course, Lab, lab_names
from rushlight.aten.strided import Tensor


@pytest.fixture
def slot(exercise):
    yield function_of(exercise)
    unplug(function_of(exercise))


@pytest.mark.parametrize("seed", sweep((1, 2, 3), keep=[1]))
@pytest.mark.parametrize(
    "exercise",
    sweep(
        [name for lab in Course().find_labs("01") for name in lab.exercises if graded_checks(name)[0].examine is None],
        every=4,
    ),
)
def test_a_table_of_the_edges_which_everybody_can_read_is_refused(exercise, seed, drawn_once, slot):
    """(Cases of a student have no edges, and a prediction has none but its programs.)"""
    reference = FunctionType(slot.__code__, slot.__globals__, slot.__name__, slot.__defaults__)
    known = set()

    def asked(*args):
        return repr([(a.shape, a.stride(), a.storage_offset(), a.dtype) if isinstance(a, Tensor) else a for a in args])

    def learn(*args):
        known.add(asked(*args))
        return reference(*args)

    fill(slot, learn)
    for check in graded_checks(exercise):
        over_the_wire(check.name, check.edges)
    fill(slot, lambda *args: reference(*args) if asked(*args) in known else None)
    judge = Judge(seed)
    verdicts = [judge.verdict(c.name, over_the_wire, second_chance=lambda v: v) for c in graded_checks(exercise)]
    assert not any(verdict.passed for verdict in verdicts)


@pytest.mark.parametrize("lab", sweep(lab_names(), every=10))
def test_each_hint_of_an_exercise_is_that_of_a_wrong_answer(lab):
    """For the exercises in `hints.toml`, which names each hint by a part of its text. A hint of the judge itself is any check's."""
    wrong = {exercise: set() for exercise in Lab(lab).exercises}
    for name, exercise, _ in answers("wrong", [lab]):
        wrong[exercise].add(name.rpartition("__")[2])
    for exercise, named in hints_of_wrong(lab).items():
        hints = {hint for check in graded_checks(exercise) for hint in hints_of(check)}
        fits = {part: [hint for hint in hints if part in hint] for part in named.values() if part not in OF_THE_JUDGE}
        assert named.keys() <= wrong[exercise], f"there is no such wrong answer to {exercise}"
        assert all(len(found) == 1 for found in fits.values()), f"a part of no hint, or of several: {fits}"
        assert {hint for [hint] in fits.values()} == {*hints} - UNSHOWN.keys(), exercise


OF_THE_JUDGE = ("", "a tuple never equals a list")
UNSHOWN = {
    **dict.fromkeys(
        [
            "do all ranks call the same?",
            "do all ranks call the same collectives?",
            "do all ranks call the same collective, also one without tokens?",
        ],
        "Ranks that wait take as long as their limit, on every edge.",
    ),
    "a mode is still on after an error of the function": "It would be on in the tests that follow, too.",
    "the order of the guards does not matter": "The edges have each guard in both orders.",
    "zero_point_corrections gives wrong corrections: first let its own check pass": "Another answer is wrong then.",
    "this machine cannot compile what Inductor generates: your operator was not tried; tell the person who grades": (
        "The machine that runs the trials can."
    ),
    "the machine that ran this has no C++ compiler: your text was not tried; tell the person who grades": "A test has one.",
    "do all ranks call the same collectives, in the same order?": "Ranks that wait take as long as their limit, on every edge.",
}


@pytest.mark.parametrize("lab", sweep(lab_names(), every=5))
def test_every_exercise_has_two_other_right_answers_and_a_wrong_one(lab):
    right, wrong = ([answered for _, answered, _ in answers(kind, [lab])] for kind in ("right", "wrong"))
    for exercise in Lab(lab).exercises:
        assert right.count(exercise) >= 2, exercise
        assert exercise in wrong, exercise
