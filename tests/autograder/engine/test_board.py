"""The board of counts: what an answer that passes asks for, beside the reference's and the smallest possible."""

import types

import pytest

from autograder.classroom.grade import Row
from autograder.classroom.watch import _board
from autograder.engine import board
from autograder.engine.check import ON_BOARD, find, function_of
from autograder.engine.exercise import fill, unplug
from autograder.engine.subject import answer

STRIDES = "aten.strided.contiguous_strides"


@pytest.fixture
def counted(monkeypatch):
    """The check of `contiguous_strides` counts the numbers that the answer returns."""
    board.reference_counts.cache_clear()
    monkeypatch.setattr(
        find(STRIDES), "counts", lambda xp: {"numbers": len(xp.aten.strided.contiguous_strides((2, 3)))}
    )
    monkeypatch.setattr(find(STRIDES), "best", {"numbers": 1})
    yield
    board.reference_counts.cache_clear()


@pytest.fixture
def strides():
    slot = function_of(STRIDES)
    yield slot
    unplug(slot)


def copied(slot):
    return types.FunctionType(slot.__code__, slot.__globals__, slot.__name__)


def test_only_an_answer_that_passes_is_counted(judge, counted, strides):
    reference = copied(strides)
    fill(strides, reference)
    assert judge.verdict(STRIDES, answer).counts == {"numbers": 2}
    fill(strides, lambda sizes: [])
    assert judge.verdict(STRIDES, answer).counts == {}


@pytest.mark.parametrize(
    "made_up", [None, 5, {"dict": [["numbers", -1]]}, {"dict": [["numbers", "0"]]}, {"dict": 3}, []]
)
def test_a_subject_that_makes_up_its_counts_gets_its_verdict_and_no_place(judge, counted, strides, made_up):
    fill(strides, copied(strides))

    def ask(name, cases):
        return [made_up] if cases == [ON_BOARD] else answer(name, cases)

    verdict = judge.verdict(STRIDES, ask)
    assert verdict.passed and verdict.counts == {}


def test_the_board_has_the_reference_and_the_smallest_possible(counted):
    [line] = board.lines([STRIDES], [{STRIDES: {"numbers": 7000}}])
    assert line == ("contiguous_strides", "numbers", "7,000", 2, 1)
    assert board.lines([STRIDES], [{}]) == board.lines(["aten.strided.permute"], [{}]) == []


def test_a_class_sees_how_many_have_each_number_and_no_name(counted):
    rows = [Row(f"student {i}", verdicts={STRIDES: {"counts": {"numbers": n}}}) for i, n in enumerate([4, 2, 4])]
    page = _board([*rows, Row("another", verdicts={STRIDES: {}})], [STRIDES])
    assert "<td>2 (1), 4 (2)</td><td>2</td><td>1</td>" in page and "student" not in page
    assert _board([], [STRIDES]) == ""
