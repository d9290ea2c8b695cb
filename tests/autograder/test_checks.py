import pytest
from sweep import swept

from autograder.check import PASSED, is_milestone, registry
from autograder.observe import difference
from autograder.subject import answer

WITH_RANKS = [name for name, check in registry().items() if check.phase == "09_distributed"]  # these take long
WITH_INDUCTOR = ["custom_ops.register_fused_linear.inductor", "custom_ops.register_fused_linear.judged"]  # longer still
LONG = [
    "ao.quantization.observer.non_linear_search",
    "together.device",
    "together.broken",
]  # made of pieces that others try


def params(checks):
    """Of the checks that start ranks, `make test` tries one in nine, of those of opcheck and Inductor the one that is left, and
    none of the others that take long."""
    left = [name for position, name in enumerate(WITH_RANKS) if position % 9] + WITH_INDUCTOR + LONG
    return [swept(check, id=name) if name in left else pytest.param(check, id=name) for name, check in checks.items()]


ALL = params(registry())
GRADED = params({name: check for name, check in registry().items() if not is_milestone(name)})


@pytest.mark.parametrize("check", ALL)
def test_the_reference_agrees_with_torch(check, judge, plugged, recwarn):
    verdict = judge.verdict(check.name, answer)
    assert verdict.outcome == PASSED, str(verdict)
    assert not recwarn.list, "nbgrader by itself gives no points to a cell that wrote to stderr"


@pytest.mark.parametrize("check", GRADED)
def test_an_empty_slot_is_not_attempted(check, judge):
    assert judge.verdict(check.name, answer).outcome == "not attempted"


@pytest.mark.parametrize("check", ALL)
def test_edges_are_among_the_cases_and_torch_both_answers_and_refuses(check, judge):
    cases, answers = judge.drawn(check)
    shown = {repr(case) for case in cases}  # nan is equal to nothing, but is written alike
    assert all(repr(edge) in shown for edge in check.edges)
    assert len(cases) >= min(40, check.draws or 40)
    assert any(not (isinstance(a, dict) and "error" in a) for a in answers)


@pytest.mark.parametrize("check", [each for each in GRADED if each.id != "custom_ops.what_breaks"])
def test_a_table_of_the_edges_and_the_commonest_answer_for_the_rest_do_not_get_through(check, judge):
    """(What `what_breaks` can be asked is finite, and nearly all of it is edges: there a table is right.)"""
    cases, answers = judge.drawn(check)
    edges = [*map(repr, check.edges)]
    known = [answer for case, answer in zip(cases, answers) if repr(case) in edges]
    others = [answer for case, answer in zip(cases, answers) if repr(case) not in edges]
    commonest = max(known or [None], key=known.count)
    assert sum(bool(difference(commonest, answer)) for answer in others) >= min(3, len(others))
