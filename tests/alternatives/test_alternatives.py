"""Answers that others might give: the right ones are accepted in any style, the wrong ones refused under every seed."""

import importlib.util
import io
import sys
from functools import cache
from pathlib import Path
from types import FunctionType

import cloudpickle
import pytest
from turns import EVERYTHING, turn

from autograder import subject
from autograder.check import exercises, function_of, is_shown, registry
from autograder.course import labs
from autograder.exercise import fill, restore
from autograder.judge import Judge
from autograder.observe import difference, receive, send
from rushlight.aten.strided import Tensor

HERE = Path(__file__).parent
SEEDS = (1, 2, 3) if EVERYTHING else (1,)  # the seed of all tests, for which torch has been asked already


def answers(folder):
    """The answers in the files of a folder, one file per lab, each with the exercise that its name begins with."""
    for path in sorted(folder.glob("[0-9][0-9]_*.py")):
        spec = importlib.util.spec_from_file_location(f"{folder.name}_{path.stem}", path)
        module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)  # Dynamo looks it up there
        spec.loader.exec_module(module)
        cloudpickle.register_pickle_by_value(module)  # other processes, such as ranks, do not find it
        names = {exercise.rpartition(".")[2]: exercise for exercise in exercises(path.stem)}
        for name, function in vars(module).items():
            if "__" in name.strip("_"):  # the others are helpers; an exercise's own name may end in _
                yield pytest.param(names[name.rpartition("__")[0]], function, id=name)


def checks(exercise):
    return [check for check in registry().values() if check.exercise == exercise and not is_shown(check.name)]


def over_the_wire(name, cases):
    """What the judge receives from a subject."""
    stream = io.BytesIO()
    send(stream, {"observed": subject.answer(name, cases)})
    stream.seek(0)
    return receive(stream)["observed"]


@pytest.fixture(scope="module")
def judges(drawn_once):
    judges = [Judge(seed) for seed in SEEDS]
    for judge in judges:
        judge._on_edges = judges[0]._on_edges  # which are the same for all
    return judges


@pytest.fixture(scope="module")
def answered(judges):
    """The cases of a check that the classes of all seeds get, each once, edges first, with torch's answers."""

    @cache
    def answered(check):
        pairs = [pair for judge in judges for pair in zip(*judge.drawn(check))]
        found = {}
        for case, theirs in pairs:
            found.setdefault(repr(case), (case, theirs))
        return [*found.values()]

    return answered


@pytest.fixture
def slot_of():
    """Slots to fill, emptied afterwards."""
    used = []

    def slot_of(exercise):
        used.append(function_of(exercise))
        return used[-1]

    yield slot_of
    for slot in used:
        restore(slot)


@pytest.fixture(autouse=True)
def quick_builds(request):
    given = request.node.callspec.params if hasattr(request.node, "callspec") else {}
    if given.get("exercise", "").startswith("cpp_ops."):
        request.getfixturevalue("precompiled")


RIGHT, WRONG = list(answers(HERE)), list(answers(HERE / "wrong"))


@pytest.mark.parametrize(("exercise", "function"), turn(RIGHT, 12))
def test_a_correct_answer_is_accepted(exercise, function, answered, slot_of):
    fill(slot_of(exercise), function)
    for check in checks(exercise):
        cases, theirs = zip(*answered(check))
        apart = [*map(difference, over_the_wire(check.name, [*cases]), theirs)]
        assert not any(apart), next((case, words) for case, words in zip(cases, apart) if words)


@pytest.mark.parametrize(("exercise", "function"), turn(WRONG, 12))
def test_a_wrong_answer_fails_on_an_edge_which_every_seed_has(exercise, function, answered, slot_of):
    fill(slot_of(exercise), function)
    edges = [(check.name, *pair) for check in checks(exercise) for pair in answered(check)[: len(check.edges)]]
    assert any(difference(over_the_wire(name, [edge])[0], theirs) for name, edge, theirs in edges)


@pytest.mark.parametrize("exercise", [exercise for exercise in exercises("01_strided") if "promote" not in exercise])
def test_a_table_of_the_edges_which_everybody_can_read_is_refused(exercise, judges, slot_of):
    """(What `promote_types` can be asked is finite: there the table is right.)"""
    slot = slot_of(exercise)
    reference = FunctionType(slot.__code__, slot.__globals__, slot.__name__, slot.__defaults__)
    known = set()

    def asked(*args):
        return repr([(a.shape, a.stride(), a.storage_offset(), a.dtype) if isinstance(a, Tensor) else a for a in args])

    def learn(*args):
        known.add(asked(*args))
        return reference(*args)

    fill(slot, learn)
    for check in checks(exercise):
        over_the_wire(check.name, check.edges)
    fill(slot, lambda *args: reference(*args) if asked(*args) in known else None)
    for judge in judges:
        assert not any(judge.verdict(c.name, over_the_wire, otherwise=lambda v: v).passed for c in checks(exercise))


@pytest.mark.parametrize("lab", labs())
def test_every_exercise_has_two_other_right_answers_and_a_wrong_one(lab):
    for exercise in exercises(lab):
        assert sum(answer.values[0] == exercise for answer in RIGHT) >= 2, exercise
        assert any(answer.values[0] == exercise for answer in WRONG), exercise
