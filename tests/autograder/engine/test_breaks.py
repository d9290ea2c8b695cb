"""Cases of a student: which wrong bodies they catch, and what is no case."""

import ast
import inspect
import json
import math
import textwrap
from contextlib import closing
from itertools import accumulate, combinations, product
from types import SimpleNamespace

import pytest
from hidden_texts import assert_hidden, verdicts_on
from sweep import sweep

from autograder.checks.cases import breaking
from autograder.engine import breaks
from autograder.engine.check import find, function_of, registry
from autograder.engine.observe import difference, observe
from autograder.engine.patients import PATIENTS, SEALED, read, sealed
from autograder.engine.subject import RushlightSide
from autograder.engine.verdict import DISAGREED, PASSED
from autograder.model import Lab

SMALL = [300, pytest.param(3000, marks=pytest.mark.sweep)]  # cases of a file, of which each body runs on all
PATHS = [path for path in sorted(PATIENTS.glob("0*/*.py")) if not path.stem.startswith("review_")]
NUMBERS = [f"{path.parent.name}.{path.stem}" for path in PATHS]
NUMBER = "01a.is_contiguous"


@pytest.fixture(scope="module")
def processes():
    """The one process in which bodies run, by its check: to start one takes a second, and the tests of a file come together."""
    opened = {}
    yield opened
    for runs in opened.values():
        runs.close()


@pytest.fixture(autouse=True)
def one_process(processes, monkeypatch):
    started = breaks.Runs

    def start(check, at):
        if (check.name, at) not in processes:
            for runs in processes.values():
                runs.close()
            processes.clear()
            processes[check.name, at] = started(check, at)
        return SimpleNamespace(results=processes[check.name, at].results, close=lambda: None)

    monkeypatch.setattr(breaks, "Runs", start)


def usual(number):
    """The cases that the lab shows, in the file of the bodies."""
    (shown,) = (
        node.value
        for node in ast.parse(read(number)).body
        if isinstance(node, ast.Assign) and node.targets[0].id == "USUAL"
    )
    return ast.literal_eval(shown)


USUAL = usual(NUMBER)


def exercise_of(number):
    return breaks.EXERCISES + number.rpartition(".")[2]


def decided(judge, given, number=NUMBER, share="1"):
    """The verdict on what a student's function returns."""
    return breaking(number, share)(judge, observe(given, RushlightSide()), None)


def left(judge, number, cases):
    return breaks.try_cases(judge, number, json.dumps(cases)).left


def small_values(said, dims):
    """The small values of a kind. All lists of numbers or bools of a case have this length."""
    if isinstance(said, dict):
        ((how, words),) = said.items()
        return words if how == "one of" else [[*some] for count in range(3) for some in combinations(words, count)]
    ints = [[*some] for some in product(range(3), repeat=dims)]
    lists = [[*some] for count in (1, 2) for some in product(ints, repeat=count)]
    bools = [[*some] for some in product([False, True], repeat=dims)]
    numbers = {"int": range(4), "float": [0.0, 0.5], "list[int]": ints, "list[list[int]]": lists}
    return {"bool": [False, True], "list[bool]": bools, **numbers}[said]


def small_cases(kinds, most):
    """Cases of small values, evenly chosen if there are very many: for sizes and strides, all of at most three dimensions."""
    has_lists = any(isinstance(said, str) and said.startswith("list") for said in kinds.values())
    choices = [[small_values(said, dims) for said in kinds.values()] for dims in (range(4) if has_lists else [0])]
    sizes = [math.prod(map(len, values)) for values in choices]
    count, cases = sum(sizes), []
    for number in (i * count // min(most, count) for i in range(min(most, count))):
        number, place = _within(number, sizes)
        case = []
        for values in reversed(choices[place]):
            number, chosen = divmod(number, len(values))
            case.append(values[chosen])
        cases.append(dict(zip(kinds, reversed(case))))
    return cases


def _within(number, sizes):
    """Which of the parts of these sizes a number is in, and its number there."""
    place = next(i for i, end in enumerate(accumulate(sizes)) if number < end)
    return number - sum(sizes[:place]), place


def test_each_exercise_of_this_kind_has_its_bodies():
    assert {*map(exercise_of, NUMBERS)} == {
        check.exercise for check in registry().values() if "course.breaks." in check.name
    }


@pytest.mark.parametrize("number", NUMBERS, scope="module")
def test_the_right_body_is_the_frameworks_own(number):
    bodies = breaks.find_bodies(number)
    (mine,), (own,) = (
        ast.parse(text).body for text in (bodies.right, textwrap.dedent(inspect.getsource(function_of(bodies.at))))
    )
    assert [*map(ast.unparse, mine.body)] == [*map(ast.unparse, own.body[1:])]
    assert [argument.arg for argument in mine.args.args] == [argument.arg for argument in own.args.args]


@pytest.mark.parametrize("number", sweep(NUMBERS, keep=[NUMBER]), scope="module")
def test_the_cases_of_the_reference_catch_every_wrong_body_and_none_is_superfluous(judge, number):
    cases = function_of(exercise_of(number))()
    assert len(cases) <= breaks.find_bodies(number).most
    assert decided(judge, cases, number).outcome == PASSED
    assert all(left(judge, number, cases[:i] + cases[i + 1 :]) for i in range(len(cases)))


@pytest.mark.parametrize("number", sweep(NUMBERS, keep=[NUMBER]), scope="module")
@pytest.mark.parametrize("most", SMALL)
def test_usual_cases_catch_less_than_half_and_no_small_case_more_than_half(judge, number, most):
    """A small case that catches more is none that counts: torch is asked about these alone."""
    bodies, cases, check = (
        breaks.find_bodies(number),
        small_cases(breaks.find_bodies(number).case, most),
        exercise_of(number),
    )
    with closing(breaks.Runs(find(check), bodies.at)) as runs:
        right, *wrong = (runs.results(body, cases) for body in [bodies.right, *bodies.wrong.values()])
    assert right is not None and None not in wrong
    caught = [sum(difference(mine, theirs) is not None for mine in mines) for theirs, *mines in zip(right, *wrong)]
    above = [case for case, count in zip(cases, caught) if 2 * count > len(wrong)]
    assert not above or not breaks.try_cases(judge, number, json.dumps(above)).counted
    assert 2 * len(left(judge, number, usual(number))) > len(wrong)


@pytest.mark.parametrize("number", sweep(NUMBERS, keep=[NUMBER]), scope="module")
def test_points_are_by_the_share_that_is_caught(judge, number):
    cases = function_of(exercise_of(number))()
    whole = len(breaks.find_bodies(number).wrong)
    for count in range(1, len(cases) + 1):
        caught = whole - len(left(judge, number, cases[:count]))
        for share, needed in (("1/2", whole / 2), ("3/4", 3 * whole / 4), ("1", whole)):
            verdict = decided(judge, cases[:count], number, share)
            assert verdict.passed == (caught >= needed) and f"{caught} of {whole}" in verdict.message


def test_a_verdict_has_neither_a_body_nor_a_case_that_would_catch_it(judge):
    bodies = breaks.find_bodies(NUMBER)
    verdict = decided(judge, USUAL)
    assert len(verdict.notes) == len(bodies.wrong) and not decided(judge, USUAL, share="1/2").notes
    assert not [note for note in verdict.notes if set(note) & set("[]=*<>")]


@pytest.mark.parametrize(
    ("case", "reason"),
    [
        ({"sizes": [2, 3], "strides": [-3, 1]}, "torch refuses it"),
        ({"sizes": [-1], "strides": [1]}, "torch refuses it"),
        ({"sizes": [2, 3], "strides": [1]}, "torch refuses it"),
        ({"sizes": [2**31 - 1] * 8, "strides": [2**31 - 1] * 8}, "torch refuses it"),
    ],
)
def test_a_case_of_which_torch_makes_no_tensor_does_not_count_and_the_others_do(judge, case, reason):
    good = function_of(exercise_of(NUMBER))()[2]
    verdict = decided(judge, [case, good])
    assert verdict.outcome == DISAGREED and "1 case catches" in verdict.message
    assert "does not count" in verdict.notes[0] and reason in verdict.notes[0]
    assert left(judge, NUMBER, [case, good]) == left(judge, NUMBER, [good])


def program():
    return {"sizes": [2], "strides": [1]}


HOSTILE = {
    "a program": [program],
    "programs in a case": [{"sizes": program, "strides": program}],
    "a text": ["__import__('os')._exit(0)"],
    "a text for ints": [{"sizes": "__import__('os')._exit(0)", "strides": [1]}],
    "too many": [program()] * 1_000_000,
    "none": [],
    "nothing": None,
    "a dict": program(),
    "another name": [{"sizes": [2], "strides": [1], "storage_offset": 0}],
    "a missing name": [{"sizes": [2]}],
    "too large a number": [{"sizes": [2**62], "strides": [1]}],
    "a larger number": [{"sizes": [2**70], "strides": [1]}],
    "too many dimensions": [{"sizes": [1] * 9, "strides": [1] * 9}],
    "a bool": [{"sizes": [True], "strides": [1]}],
    "a float": [{"sizes": [2.0], "strides": [float("nan")]}],
    "lists in lists": [{"sizes": [[2]], "strides": [[1]]}],
    "keys that read alike": [{"1": [2], 1: [1]}],
}


@pytest.mark.parametrize("given", sweep(HOSTILE.values(), every=5), ids=[*HOSTILE])
def test_what_is_no_case_of_plain_ints_is_refused_and_no_body_runs_on_it(judge, monkeypatch, given):
    monkeypatch.setattr(breaks, "Runs", None)
    assert decided(judge, given).outcome == DISAGREED


@pytest.mark.parametrize(
    ("said", "good", "bad"),
    [
        ("bool", [True, False], [1, 0, None, "True"]),
        ("int", [0, -3, 2**31 - 1], [2**31, 1.0, True, [1]]),
        ("float", [0.5, -1e300], [1, True, "0.5"]),
        ("list[bool]", [[], [True, False] * 4], [[True] * 9, [1], ["True"], [None], [[True]], True]),
        ("list[list[int]]", [[], [[]], [[1] * 8] * 8], [[1], [[1] * 9], [[]] * 9, [[[1]]], [[True]], 1]),
        ({"one of": ["CPU", "Meta"]}, ["CPU"], ["CP", "", 0, None, ["CPU"]]),
        ({"some of": ["CPU", "Meta"]}, [[], ["Meta", "CPU", "CPU"]], ["CPU", [0], ["CUDA"], [["CPU"]], ["CPU"] * 9]),
    ],
)
def test_a_value_is_of_the_kind_that_the_file_of_the_bodies_says(said, good, bad):
    _, fits = breaks.kind_of(said)
    assert all(map(fits, good)) and not any(map(fits, bad))


@pytest.mark.sweep
def test_a_body_that_ends_its_process_is_caught_and_the_next_one_runs(judge, monkeypatch):
    known = breaks.find_bodies(NUMBER)
    ends = known.right.replace("    expected = 1\n", "    __import__('os')._exit(3)\n    expected = 1\n")

    def tried(right, **wrong):
        monkeypatch.setattr(breaks, "find_bodies", lambda number: breaks.Bodies(known.at, 5, known.case, right, wrong))
        return breaks.try_cases.__wrapped__(judge, NUMBER, json.dumps(USUAL))

    assert tried(known.right, a=ends, b=known.right).left == ["b"]
    assert tried(ends, b=known.right).counted == 0
    assert "does not end" in tried(ends).refused[0]


# A student's process -------------------------------------------------------------------------------------------------

WORDS = ["stride < expected", "strides[:-3:-1]", "repeated elements of one kind", '"strides": [7, 9]']


def test_no_body_and_no_answer_is_in_the_process_of_a_student(judge, isolated):
    assert_hidden(judge, Lab("01a_views"), exercise_of(NUMBER), WORDS)


def test_cases_that_change_with_each_call_earn_what_the_cases_of_each_check_catch(judge, isolated):
    lab = Lab("01a_views")
    answers = [function_of(exercise_of(NUMBER))(), *([USUAL] * 2)]
    source = f"left = {answers}\n@exercise(rl.breaks)\ndef breaks_is_contiguous():\n    return left.pop(0)"
    verdicts = verdicts_on(judge, lab, exercise_of(NUMBER), source)
    assert [verdict.passed for name, verdict in verdicts.items() if name.startswith(breaks.EXERCISES)] == [
        True,
        False,
        False,
    ]


@pytest.mark.parametrize("lab", ["01a_views", "01b_reshape"])
def test_a_class_repository_has_the_bodies_packed(lab):
    ((name, data),) = sealed(lab).items()
    assert name.removesuffix(SEALED).replace("/", ".") in NUMBERS and b"WRONG" not in data


def test_the_examined_program_runs_the_function_that_the_cases_are_for(judge):
    check = find(exercise_of(NUMBER))
    assert judge.answers(check, USUAL) == [True, True, False]
