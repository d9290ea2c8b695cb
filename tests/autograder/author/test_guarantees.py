"""The trials of every exercise: its mutants, right and wrong answers to it, and a piece that raises or returns nothing.

All of them take more than an hour of one core. `make guarantees` runs those of the exercises that have changed, and writes into
`tests/guarantees.lock` of which text they held; `make test` runs those of five exercises, and asks whether the lock is fresh.
"""

from functools import lru_cache

import guarantees
import pytest
from answers import answers, hint_of, over_the_wire

from autograder.author import mutants as m
from autograder.author.mutants import graded_checks
from autograder.engine.check import every_exercise, find, function_of
from autograder.engine.exercise import fill, unplug
from autograder.engine.judge import Disagreement, Judge, hinted
from autograder.engine.observe import difference, result_of
from autograder.engine.subject import answer
from autograder.model import Lab, lab_names
from solutions.shared import copied

SMALL_LABS = ("00_trace", "01a_views", "02a_keys")  # the trials of the later labs take longer
REPRESENTATIVES = [Lab(lab).exercises[0] for lab in SMALL_LABS]
EXERCISES = every_exercise()


def trials(params):
    """Parameters whose first value is an exercise, marked as trials of it."""
    return [pytest.param(*each, id=name, marks=marks_of(each[0])) for *each, name in params]


def pytest_generate_tests(metafunc):
    """The trials of answers, with the reference among the right ones. `make test` imports the answers to a few labs only."""
    if "function" in metafunc.fixturenames:
        labs = SMALL_LABS if metafunc.config.option.markexpr == "not sweep" else lab_names()
        found = [*answers("wrong" if "wrong" in metafunc.function.__name__ else "right", labs)]
        if "wrong" not in metafunc.function.__name__:
            named = ((name, function_of(name)) for lab in labs for name in Lab(lab).exercises)
            found += [(f"{slot.__name__}__reference", name, copied(slot)) for name, slot in named]
        metafunc.parametrize(("exercise", "function"), trials((exercise, each, name) for name, exercise, each in found))


def marks_of(exercise):
    """Those of a trial: all but a few are left out of `make test`."""
    return [pytest.mark.guarantee(exercise), *([] if exercise in REPRESENTATIVES else [pytest.mark.sweep])]


def test_every_exercise_has_a_line_in_the_lock_and_none_is_stale():
    lock = guarantees.read()
    assert lock.basis == guarantees.basis(), (
        "with another torch or other rules for mutants, `make guarantees` tries everything"
    )
    assert not lock.missing(), "these were never tried: run `make guarantees`"
    assert not lock.stale(), "these have changed since their trials held: run `make guarantees`"


@pytest.fixture(autouse=True)
def headers(request):
    """Compile PyTorch's headers before an exercise that builds C++ is tried."""
    if "exercise" in request.fixturenames:
        exercise = request.getfixturevalue("exercise")
        if graded_checks(exercise)[0].lab.startswith("06"):
            request.getfixturevalue("precompiled")


@pytest.fixture(scope="module")
def drawn(drawn_once, pytestconfig):
    """`drawn(check)`: the edges, then the drawn cases of `--seeds` classes, each once, with torch's answers."""
    judges = [Judge(seed) for seed in range(1, pytestconfig.option.seeds + 1)]

    @lru_cache(maxsize=4)
    def drawn(name):
        found = {}
        for judge in judges:
            judge.source._on_edges = judges[0].source._on_edges  # which are the same for all
            for case, theirs in zip(*judge.drawn(find(name))):
                found.setdefault(repr(case), (case, theirs))
            del judge.source._pending[name]
        return [*found.values()]

    return lambda check: drawn(check.name)


@pytest.fixture
def slot(exercise):
    """The exercise's slot, emptied afterwards."""
    yield function_of(exercise)
    unplug(function_of(exercise))


@pytest.mark.parametrize("exercise", trials((name, name) for name in EXERCISES))
def test_every_mutant_fails_on_an_edge_or_is_listed_and_agrees_in_everything(exercise, drawn_once):
    listed = {key: why for key, why in m.equivalents(graded_checks(exercise)[0].lab).items() if key[0] == exercise}
    outcomes = list(m.run([exercise]))
    through = m.unexpected(outcomes, listed)
    assert not through, "\n\n".join(f"{o.mutant.exercise}: {o.what}\n{o.mutant.diff()}" for o in through)
    assert listed.keys() == {o.mutant.key for o in outcomes if o.what == m.SURVIVED}


def compared(exercise):
    """The graded checks of an exercise that compare its results with torch's. The others examine an answer as it is."""
    return [check for check in graded_checks(exercise) if check.examine is None]


def test_a_correct_answer_is_accepted(exercise, function, drawn, judge, slot):
    fill(slot, function)
    for check in graded_checks(exercise):
        if check.examine is not None:
            verdict = judge.verdict(check.name, over_the_wire)
            assert verdict.passed, verdict
    for check in compared(exercise):
        pairs = drawn(check)
        for start in range(0, len(pairs), 100):  # what many classes drew is more than one message may hold
            cases, theirs = zip(*pairs[start : start + 100])
            apart = [*map(difference, over_the_wire(check.name, [*cases]), theirs)]
            assert not any(apart), next((case, words) for case, words in zip(cases, apart) if words)


@pytest.fixture
def hint(request, exercise):
    return hint_of(request.node.callspec.id, exercise)


def test_a_wrong_answer_fails_on_an_edge_which_every_seed_has_and_gets_its_hint(
    exercise, function, hint, drawn, judge, slot
):
    fill(slot, function)
    examined = [judge.verdict(check.name, over_the_wire) for check in graded_checks(exercise) if check.examine]
    edges = [(check.name, *pair) for check in compared(exercise) for pair in drawn(check)[: len(check.edges)]]
    failing = apart(edges)
    if hint is not None:
        failing = [*failing]
        _, name = min(failing, key=lambda pair: pair[0].order())
        of_check = [disagreement for disagreement, check in failing if check == name]
        is_special = hinted(find(name), of_check)
        simplest = min((each for each in of_check if not is_special(each)), key=Disagreement.order)
        shown = judge.replay(name, simplest.case, over_the_wire).hint
        assert hint in shown if hint else not shown
    else:
        assert any(verdict.outcome == "disagreed" for verdict in examined) or any(failing)


def apart(edges):
    """The disagreements on edges, each with the name of its check."""
    for name, edge, theirs in edges:
        mine = over_the_wire(name, [edge])[0]
        if difference(mine, theirs):
            yield Disagreement(edge, result_of(mine), theirs), name


PIECES = [(check.exercise, check, check.name) for name in EXERCISES for check in graded_checks(name)]


def unexplained(judge, check):
    """Return a verdict without a search for the smallest case."""
    return judge.verdict(check.name, answer, second_chance=lambda verdict: verdict)


@pytest.mark.parametrize(("exercise", "check"), trials(PIECES))
def test_an_exercise_that_raises_fails_its_check(exercise, check, judge, plugged):
    def poisoned(*args, **kwargs):
        raise ArithmeticError("poisoned")

    fill(function_of(exercise), poisoned)
    assert not unexplained(judge, check).passed


@pytest.mark.parametrize(("exercise", "check"), trials(PIECES))
def test_an_exercise_that_returns_nothing_fails_its_check(exercise, check, judge, plugged):
    fill(function_of(exercise), lambda *args, **kwargs: None)
    assert not unexplained(judge, check).passed
