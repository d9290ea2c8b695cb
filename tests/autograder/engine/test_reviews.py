"""Reviews of a student: which changes are right, which cases prove a mistake, and what is no review."""

import ast
import inspect
import json
import math
import textwrap
from contextlib import closing
from itertools import product

import pytest
from hidden_texts import assert_hidden, verdicts_on
from sweep import sweep

from autograder.author.mutants import graded_checks
from autograder.checks.cases import reviewing
from autograder.engine import reviews
from autograder.engine.breaks import Runs
from autograder.engine.check import find, function_of, registry
from autograder.engine.observe import difference, observe
from autograder.engine.patients import PATIENTS, SEALED, sealed
from autograder.engine.subject import RushlightSide
from autograder.engine.verdict import DISAGREED, PASSED
from autograder.model import Lab, lab_names

NUMBERS = [f"{path.parent.name}.{path.stem}" for path in sorted(PATIENTS.glob("0*/review_*.py"))]
NUMBER = "02b.review_parse_argument"


def exercise_of(number):
    return reviews.EXERCISES + number.rpartition(".")[2]


def lab_of(number):
    return next(lab for lab in lab_names() if lab.startswith(number.partition(".")[0]))


def decided(judge, given, number=NUMBER, needed=5):
    """The verdict on what a student's function returns."""
    return reviewing(number, needed)(judge, observe(given, RushlightSide()), None)


def reference(number=NUMBER):
    return function_of(exercise_of(number))()


def texts():
    """Declarations of at most 12 characters, and texts that are none."""
    types = [
        "Tensor",
        "Tensor?",
        "Tensor(a!)",
        "int",
        "int?",
        "int[]",
        "int[2]",
        "int[1]?",
        "float",
        "bool",
        "str",
        "Scalar?",
    ]
    defaults = ["", "=0", "=1", "=-2", "=None", "=False", "=''", "=[]", "= 2.5", "=[3]", "=Mean", "=", "=]", "=(0)"]
    texts = {
        f"{type}{name}{default}" for type, name, default in product(types, ["", " x", "  y1", "x", " 1x"], defaults)
    }
    texts |= {"", " ", "(", "-x", "1 x", "int[ x", "int] x", "int x y", "Tensor(a x", "x=3=4", " int x", "int x ", "é"}
    return [{"text": text} for text in sorted(texts) if len(text) <= 12 and text.isascii()]


def graphs():
    """All graphs of at most three nodes with at most two edges from each, and all of their roots."""
    for first, second in product([[], [1], [2], [1, 1], [1, 2], [2, 1], [2, 2]], [[], [2], [2, 2]]):
        for count in (1, 2):
            for roots in product(range(3), repeat=count):
                yield {"edges": [first, second, []], "roots": [*roots]}
    yield {"edges": [[]], "roots": [0]}
    yield {"edges": [[]], "roots": []}


def small_tensors():
    """All sizes of at most four elements, with numbers that are equal, close, far apart, and beyond the range of float16."""
    for sizes in ([], [0], [1], [2], [4], [0, 3], [2, 0], [1, 3], [3, 1], [2, 2], [1, 1], [4, 1]):
        for start, step in ((0, 0), (1, 1), (-3, 2), (999, -999), (-9999, 6666), (9999, -1), (100, 0)):
            for dim, dtype in product(range(max(1, len(sizes))), ("float16", "float32", "float64")):
                values = [start + step * i for i in range(math.prod(sizes))]
                yield {"values": values, "sizes": sizes, "dim": dim, "dtype": dtype}


def indices():
    """Indices of one and two loop variables, forwards and backwards, with all rests."""
    for sizes, steps in (
        ([0], 1),
        ([1], 1),
        ([2], 1),
        ([3], 1),
        ([5], 2),
        ([2, 3], 3),
        ([3, 2], 3),
        ([1, 4], 5),
        ([], 1),
    ):
        for coefficients in product(range(-4, 13, steps), repeat=len(sizes)):
            for offset, divisor in product((-4, -1, 0, 1, 2, 3, 6), (1, 2, 3, 4)):
                yield {"sizes": sizes, "coefficients": [*coefficients], "offset": offset, "divisor": divisor}


def histories():
    """Gradients of one and two steps, of one and two parameters."""
    for parameters, steps in ((1, 1), (1, 2), (2, 1), (2, 2)):
        for grads in product((None, 0, 1, -9), repeat=parameters * steps):
            yield {"grads": [[*grads[i : i + parameters]] for i in range(0, len(grads), parameters)]}


MANY = {  # cases of each review, on which all of its changes are tried
    "02b.review_parse_argument": texts,
    "04b.review_count_dependencies": graphs,
    "07d.review_softmax": small_tensors,
    "08b.review_quotient": indices,
    "09c.review_adamw_step": histories,
}


def test_each_review_has_its_changes():
    assert {*map(exercise_of, NUMBERS)} == {c.exercise for c in registry().values() if reviews.EXERCISES in c.name}
    assert {*NUMBERS} == {*MANY}


@pytest.mark.parametrize("number", NUMBERS)
def test_the_body_is_the_frameworks_own(number):
    review = reviews.find_review(number)
    (mine,), (own,) = (
        ast.parse(text).body for text in (review.body, textwrap.dedent(inspect.getsource(function_of(review.at))))
    )
    assert [*map(ast.unparse, mine.body)] == [*map(ast.unparse, own.body[1:])]
    assert [argument.arg for argument in mine.args.args] == [argument.arg for argument in own.args.args]


@pytest.mark.parametrize("number", NUMBERS)
def test_the_lab_shows_the_changes(number):
    lab = lab_of(number)
    review, text = reviews.find_review(number), Lab(lab).source.read_text(encoding="utf-8")
    shown = [f"```diff\n{reviews.diff_of(review, letter)}```\n" for letter in review.changed]
    assert [*review.changed] == [*"abcde"] and 2 <= len(review.right) <= 3
    places = [text.index(diff) for diff in shown]
    assert places == sorted(places) and text.count("```diff") == len(shown)


@pytest.mark.parametrize("number", sweep(NUMBERS, keep=[NUMBER]))
def test_the_reference_decides_all_and_each_of_its_refusals_is_needed(judge, number):
    decisions = reference(number)
    assert decided(judge, decisions, number).outcome == PASSED
    for letter in decisions:
        fewer = decisions | {letter: None if decisions[letter] else next(filter(None, decisions.values()))}
        assert "4 of 5" in (verdict := decided(judge, fewer, number)).message and not verdict.passed
        assert decided(judge, fewer, number, 4).passed


@pytest.mark.parametrize("number", sweep(NUMBERS, keep=[NUMBER]))
def test_the_right_changes_agree_with_torch_wherever_the_body_does_and_the_wrong_ones_do_not(judge, number):
    review, check, cases = reviews.find_review(number), find(exercise_of(number)), [*MANY[number]()]
    theirs = judge.answers(check, cases)
    with closing(Runs(check, review.at)) as runs:
        mine = runs.results(review.body, cases)
        kept = [i for i, (own, torchs) in enumerate(zip(mine, theirs)) if not difference(own, torchs)]
        assert len(kept) > 100
        for letter, body in review.changed.items():
            results = runs.results(body, [cases[i] for i in kept])
            apart = [i for i, result in zip(kept, results) if difference(result, theirs[i])]
            assert bool(apart) == (letter not in review.right), (letter, [cases[i] for i in apart[:3]])


def earned(judge, given, number):
    """The checks that such an answer passes."""
    observed = observe(given, RushlightSide())
    return [check.name for check in graded_checks(exercise_of(number)) if check.examine(judge, observed, None).passed]


@pytest.mark.parametrize("number", NUMBERS)
def test_a_review_that_decides_all_alike_earns_nothing(judge, number):
    decisions = reference(number)
    cases = [*filter(None, decisions.values())]
    proved = {letter: case or cases[0] for letter, case in decisions.items()}
    for alike in (dict.fromkeys(decisions), proved, *(dict.fromkeys(decisions, case) for case in cases)):
        assert not earned(judge, alike, number)


@pytest.mark.parametrize("number", sweep(NUMBERS, keep=[NUMBER]))
def test_a_review_that_proves_no_mistake_earns_nothing(judge, number):
    """Not even if it accepts what is right, and nothing else."""
    without = {letter: case and {} for letter, case in reference(number).items()}
    assert not earned(judge, without, number)
    assert len(earned(judge, reference(number), number)) == len(graded_checks(exercise_of(number))) > 1


def test_a_verdict_does_not_tell_which_decision_is_wrong(judge):
    swapped = reference() | {"b": None, "a": {"text": "int x=0"}}
    verdict = decided(judge, swapped)
    assert verdict.notes == ["the refusal of a proves nothing: the changed body agrees with torch there"]
    assert not decided(judge, swapped, needed=4).notes and "3 of 5" in verdict.message


@pytest.mark.parametrize(
    ("case", "reason"),
    sweep(
        [
            ({"text": "int[2] stride=1"}, "at most 12"),
            ({"text": 3}, "at most 12"),
            ({"text": None}, "at most 12"),
            ({"text": "é"}, "ASCII"),
            ({"text": " int[2] x=1"}, "the right body gives"),
            ({"text": "int x"}, "agrees with torch there"),
            ({"text": "int[2] x=1", "kwarg_only": True}, "no dict with a value for each of: text"),
            ({}, "no dict"),
            ([], "no dict"),
            ("int[2] x=1", "no dict"),
            (0, "no dict"),
            (False, "no dict"),
        ],
        every=4,
    ),
)
def test_a_refusal_needs_a_small_case_on_which_only_the_changed_body_differs(judge, case, reason):
    verdict = decided(judge, reference() | {"b": case})
    assert "4 of 5" in verdict.message and reason in verdict.notes[0] and "refusal of b" in verdict.notes[0]


def program():
    return {"text": "int x"}


HOSTILE = {
    "nothing": None,
    "a program": program,
    "a text": "abcde",
    "letters": [*"abcde"],
    "a case": program(),
    "a list": [None] * 5,
    "too few": {"a": None, "b": {"text": "int[2] x=1"}},
    "too many": dict.fromkeys("abcdef") | {"b": program()},
    "a million": {str(i): None for i in range(100_000)},
    "all accepted": dict.fromkeys("abcde"),
    "all refused": dict.fromkeys("abcde", program()),
    "programs": dict.fromkeys("abcde", program),
}


@pytest.mark.parametrize("given", HOSTILE.values(), ids=HOSTILE)
def test_what_is_no_review_is_refused_and_no_body_runs_on_it(judge, monkeypatch, given):
    monkeypatch.setattr(reviews, "Runs", None)
    assert decided(judge, given).outcome == DISAGREED


@pytest.mark.sweep
def test_programs_and_huge_values_in_a_case_prove_nothing(judge):
    for case in ({"text": program}, program, {"text": "x" * 50_000}, {"text": ["int[2] x=1"]}, {program: "int[2] x=1"}):
        assert "4 of 5" in decided(judge, reference() | {"b": case}).message


def test_a_changed_body_that_ends_its_process_differs(judge, monkeypatch):
    known = reviews.find_review(NUMBER)
    ends = known.body.replace("    match =", "    __import__('os')._exit(3)\n    match =", 1)

    def tried(body, changed):
        made = reviews.Review(known.at, body, {"a": changed, "b": body}, known.right, known.case)
        monkeypatch.setattr(reviews, "find_review", lambda number: made)
        cases = json.dumps(dict.fromkeys("ab", {"dict": [["text", "int x"]]}))
        return reviews.unproved.__wrapped__(judge, NUMBER, cases)

    assert tried(known.body, ends) == {"a": "", "b": "the changed body agrees with torch there"}
    assert {*tried(ends, known.body).values()} == {"the right body does not end on it"}


# A student's process -------------------------------------------------------------------------------------------------

WORDS = ["_ARGUMENT.search", "ask for forgiveness", "takes part in every match", '{"text": "-x"}', "WRONG = {"]


def test_no_change_and_no_answer_is_in_the_process_of_a_student(judge, isolated):
    assert_hidden(judge, Lab(lab_of(NUMBER)), exercise_of(NUMBER), WORDS)


def test_a_review_that_changes_with_each_call_earns_what_each_check_gets(judge, isolated):
    lab = Lab(lab_of(NUMBER))
    answers = [reference(), *([dict.fromkeys("abcde")] * 2)]
    source = f"left = {answers}\n@exercise(rl.reviews)\ndef review_parse_argument():\n    return left.pop(0)"
    verdicts = verdicts_on(judge, lab, exercise_of(NUMBER), source)
    passed = [verdict.passed for name, verdict in verdicts.items() if name.startswith(reviews.EXERCISES)]
    assert passed == [True, *[False] * (len(passed) - 1)]


@pytest.mark.parametrize("number", NUMBERS)
def test_a_class_repository_has_the_changes_packed(number):
    packed = {name.removesuffix(SEALED).replace("/", "."): data for name, data in sealed(lab_of(number)).items()}
    assert b"WRONG" not in packed[number] and b"RIGHT" not in packed[number]
