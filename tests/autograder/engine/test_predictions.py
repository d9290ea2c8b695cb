"""Predictions whose programs are drawn for each student: the draw, the marks, and the first answers that count."""

import json
from importlib import import_module
from pathlib import Path

import pytest
from hidden_texts import verdicts_on
from sweep import in_one_test, sweep

from autograder.checks.cases import PARTS
from autograder.engine import practice
from autograder.engine.check import find, function_of, registry
from autograder.engine.exercise import fill, unplug
from autograder.engine.judge import Judge
from autograder.engine.observe import error_tree, is_error
from autograder.engine.subject import answer
from autograder.engine.verdict import DISAGREED
from autograder.exam.draw import VARIANTS, _other_programs
from autograder.model import Lab
from autograder.notebook.first_answers import first_answer, marked, remember
from rushlight.course import draws

PREDICTIONS = [check.exercise for check in registry().values() if check.is_drawn and check.name == check.exercise]
EXERCISE = "course.predictions.saved_tensors"
TRIED = 6  # programs of each grammar: Inductor compiles one in half a second


def name_of(exercise):
    return exercise.rpartition(".")[2]


def torchs(judge, exercise, student, letters):
    """Torch's answers to programs of a student."""
    numbers = draws.numbers(name_of(exercise), student)
    return dict(
        zip(letters, judge.answers(find(exercise), [{"number": numbers[letter]} for letter in letters]), strict=True)
    )


def points(judge, given, exercise=EXERCISE):
    """The points of an answer, and the verdict of the check of all of them."""
    slot = function_of(exercise)
    fill(slot, lambda: given)
    try:
        verdicts = [judge.verdict(exercise + part, answer) for part in PARTS]
    finally:
        unplug(slot)
    passed = [verdict.passed for verdict in verdicts]
    assert passed == sorted(passed, reverse=True)
    return sum(passed), verdicts[-1]


# The draw ------------------------------------------------------------------------------------------------------------


@in_one_test
@pytest.mark.parametrize("exercise", PREDICTIONS)
def test_a_students_programs_are_different_and_of_all_kinds_in_turn(exercise):
    prediction = name_of(exercise)
    _, kinds = draws.GRAMMARS[prediction]
    for student in ("Ada", "Bob", "Ægir", "x" * 100):
        numbers = draws.numbers(prediction, student)
        assert [*numbers] == [*"abcdefgh"] and numbers == draws.numbers(prediction, student)
        assert len({draws.program(prediction, number) for number in numbers.values()}) == len(numbers)
        assert len({numbers[letter] % len(kinds) for letter in draws.FIRST}) == min(len(kinds), len(draws.FIRST))


@pytest.mark.parametrize("exercise", sweep(PREDICTIONS, every=16))
def test_no_two_students_of_a_large_class_have_the_same_programs(exercise):
    students = [f"student{i:03}" for i in range(400)]
    drawn = {frozenset(draws.programs(name_of(exercise), student).values()) for student in students}
    assert len(drawn) == len(students)


@pytest.mark.parametrize("exercise", sweep(PREDICTIONS, every=16))
def test_torch_answers_the_programs_and_few_have_the_same_answer(judge, exercise):
    answers = judge.answers(find(exercise), [{"number": number} for number in range(TRIED)])
    assert all(isinstance(each, list) and each and not is_error(each) for each in answers)
    assert len({*map(str, answers)}) >= TRIED - 1


@pytest.mark.sweep
def test_programs_on_the_same_ranks_have_the_answers_that_they_have_alone(monkeypatch):
    ranks = import_module("autograder.checks.09c_fsdp.predictions")
    alone = {}
    for number in range(TRIED):
        monkeypatch.setattr(ranks, "_answers", {})
        alone |= ranks.answered([number])
    monkeypatch.setattr(ranks, "_answers", {})
    assert ranks.answered(range(TRIED)) == alone and len(alone) == TRIED


def test_an_exam_asks_about_programs_that_no_student_has(judge):
    import random

    texts = {text for text, _ in _other_programs(find(EXERCISE), judge, random.Random(1), VARIANTS)}
    assert len(texts) > 50 and not texts & {draws.program("saved_tensors", number) for number in range(draws.POOL)}


# The marks -----------------------------------------------------------------------------------------------------------


def test_each_right_prediction_is_a_point_when_all_four_are_there(judge):
    right = torchs(judge, EXERCISE, "Bob", draws.FIRST)
    for count in range(5):
        given = {letter: right[letter] if place < count else [] for place, letter in enumerate(right)}
        earned, verdict = points(judge, {"name": "Bob"} | given)
        assert earned == count and f"{count} of 4" in verdict.message
        assert len([note for note in verdict.notes if note.startswith("program")]) == 4 - count


def test_nothing_is_said_of_a_draw_that_is_not_whole(judge):
    right = torchs(judge, EXERCISE, "Bob", draws.FIRST)
    for given in ({}, {"a": right["a"]}, right | {"d": None}, {"a": ["nonsense"], "b": right["b"], "c": right["c"]}):
        earned, verdict = points(judge, {"name": "Bob"} | given)
        assert earned == 0 and "marked together" in verdict.message
        assert not [note for note in verdict.notes if note.startswith("program")]


@pytest.mark.parametrize(("first", "second", "earned"), [(1, 4, 2), (3, 4, 3), (0, 3, 1), (0, 1, 0), (4, 0, 4)])
def test_the_second_draw_is_worth_half_and_the_better_draw_counts(judge, first, second, earned):
    given = {}
    for letters, count in ((draws.FIRST, first), (draws.SECOND, second)):
        right = torchs(judge, EXERCISE, "Bob", letters)
        given |= {letter: right[letter] if place < count else [] for place, letter in enumerate(letters)}
    assert points(judge, {"name": "Bob"} | given)[0] == earned


def test_another_students_answer_is_worth_nothing_under_ones_own_name_and_the_verdict_says_whose_it_is(judge):
    given = torchs(judge, EXERCISE, "Ada", draws.FIRST)
    earned, verdict = points(judge, {"name": "Ada"} | given)
    assert earned == 4 and "the programs are those of Ada" in str(verdict)
    assert points(judge, {"name": "Bob"} | given)[0] == 0


def test_a_submission_is_marked_in_the_sandbox(judge, isolated):
    given = {"name": "Bob"} | torchs(judge, EXERCISE, "Bob", draws.FIRST) | {"c": ["x"]}
    source = f"@exercise(rl.course.predictions)\ndef saved_tensors():\n    return {given}"
    verdicts = verdicts_on(judge, Lab(find(EXERCISE).lab), EXERCISE, source)
    assert sum(verdicts[EXERCISE + part].passed for part in PARTS) == 3
    assert verdicts[EXERCISE].drawn_for == "Bob"


def test_a_verdict_does_not_say_what_torch_answers(judge):
    right = torchs(judge, EXERCISE, "Bob", draws.FIRST)
    _, verdict = points(judge, {"name": "Bob"} | dict.fromkeys(draws.FIRST, ["x", "y"]))
    assert not [entry for entries in right.values() for entry in entries if entry in str(verdict)]


def own():
    return ["DivBackward0.other"]


HOSTILE = {
    "nothing": None,
    "a list": [["DivBackward0.other"]] * 4,
    "no name": dict.fromkeys("abcd", []),
    "an empty name": {"name": " "},
    "no text": {"name": ["Bob"]},
    "a long name": {"name": "x" * 101},
    "programs": {"name": "Bob"} | dict.fromkeys("abcd", own),
    "very many": {"name": "Bob"} | dict.fromkeys("abcd", ["x"] * 100_000),
    "numbers": {"name": "Bob"} | dict.fromkeys("abcd", 3),
    "lists in lists": {"name": "Bob"} | dict.fromkeys("abcd", [[[["x"]]]]),
    "what changed": {"name": "Bob", "changed": [[1], {}]} | dict.fromkeys("abcd", []),
}


@pytest.mark.parametrize("given", HOSTILE.values(), ids=HOSTILE)
def test_what_is_no_answer_is_a_wrong_one(judge, given):
    earned, verdict = points(judge, given)
    assert earned == 0 and verdict.outcome == DISAGREED and len(str(verdict)) < 3_000


def test_recorded_answers_give_the_same_marks(tmp_path, monkeypatch, judge):
    given = {"name": "Bob"} | torchs(judge, EXERCISE, "Bob", draws.FIRST) | {"b": []}
    monkeypatch.setattr(practice, "FOLDER", tmp_path)
    monkeypatch.setattr(draws, "POOL", draws.POOL)
    practice.record(find(EXERCISE).lab)
    assert points(Judge(source=practice.Practice()), given)[0] == 3 == points(judge, given)[0]


# The first answers ---------------------------------------------------------------------------------------------------


@pytest.fixture
def kept(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    return tmp_path / "rushlight" / "predictions.json"


def tree(**given):
    return {"dict": [[key, value] for key, value in given.items()]}


def first(**given):
    found = first_answer(EXERCISE, tree(**given))
    return dict(found["dict"]) if isinstance(found, dict) else found


WHOLE = {letter: [letter] for letter in draws.FIRST}


def test_what_is_changed_after_a_draw_was_whole_is_not_marked(kept):
    assert first(name="Bob", a=["x"]) == {"name": "Bob", "a": ["x"]} and not kept.exists()
    assert not marked(EXERCISE)
    assert first(name="Bob", **WHOLE) == {"name": "Bob"} | WHOLE
    assert marked(EXERCISE) and not marked(EXERCISE.removesuffix("s"))
    later = first(name="Bob", **WHOLE | {"b": ["x"]})
    assert later == {"name": "Bob", "changed": ["b"]} | WHOLE
    assert first(name="Bob") == {"name": "Bob", "changed": [*draws.FIRST]} | WHOLE
    second = dict.fromkeys(draws.SECOND, ["y"])
    assert first(name="Bob", **WHOLE, **second) == {"name": "Bob"} | WHOLE | second


def test_each_name_and_each_prediction_has_its_own_first_answers(kept):
    first(name="Bob", **WHOLE)
    other = WHOLE | {"a": ["x"]}
    assert first(name="Ada", **other) == {"name": "Ada"} | other
    found = first_answer("course.predictions.backward_order", tree(name="Bob", **other))
    assert dict(found["dict"]) == {"name": "Bob"} | other
    assert len(json.loads(kept.read_text())) == 3


def test_first_answers_that_a_page_remembers_are_marked_and_replace_none(kept):
    first(name="Bob", **WHOLE)
    known = marked(EXERCISE)
    kept.unlink()
    first(name="Ada", **WHOLE)
    remember(known | {key.replace("Bob", "Ada"): {} for key in known})
    assert first(name="Bob", **WHOLE | {"b": ["x"]})["changed"] == ["b"] and "changed" not in first(name="Ada", **WHOLE)


def test_where_nothing_can_be_kept_the_answer_is_marked_as_it_is(kept, monkeypatch):
    kept.parent.parent.joinpath("rushlight").write_text("a file, and no folder")
    assert first(name="Bob", **WHOLE) == {"name": "Bob"} | WHOLE
    monkeypatch.setenv("XDG_STATE_HOME", "")
    monkeypatch.setattr(Path, "home", lambda: kept)
    assert first(name="Bob", **WHOLE | {"a": [1]}) == {"name": "Bob"} | WHOLE | {"a": [1]}


def test_what_is_no_answer_stays_as_it_is(kept):
    for observed in (None, [1], error_tree(ValueError("no")), tree(a=[1]), tree(name=3)):
        assert first_answer(EXERCISE, observed) is observed
    assert not kept.exists()


def test_an_unreadable_file_is_left_as_it_is(kept):
    kept.parent.mkdir()
    kept.write_text("{")
    assert first(name="Bob", **WHOLE) == {"name": "Bob"} | WHOLE and kept.read_text() == "{"
