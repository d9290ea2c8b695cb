"""`ask` prints torch's answer for a case, and runs nothing of the student."""

import pytest

from autograder.engine.exercise import fill, unplug
from autograder.engine.judge import Judge
from autograder.notebook import kernel
from rushlight.aten import strided

EXPAND = "aten.strided.infer_size"


@pytest.fixture(autouse=True)
def judge_here(monkeypatch):
    judge = Judge(0)

    def decide(name, case):
        return judge.replay(name, case, lambda name, cases: kernel._answer(name, cases, {}))

    monkeypatch.setattr(kernel, "_decide", decide)


@pytest.mark.parametrize(
    ("sizes", "said"), [(([2, 1], [3]), "(2, 3)"), (([2], [3]), "RuntimeError: The size"), (([], []), "()")]
)
def test_torchs_answer_is_printed_whatever_the_student_has_written(sizes, said, capsys):
    def never(a, b):
        raise AssertionError("the student's code runs")

    kernel.ask(EXPAND, a=sizes[0], b=sizes[1])
    fill(strided.infer_size, never)
    try:
        kernel.ask(EXPAND, a=sizes[0], b=sizes[1])
    finally:
        unplug(strided.infer_size)
    first, second, *more = capsys.readouterr().out.splitlines()
    assert first == second and first.startswith(said) and not more


@pytest.mark.parametrize(
    ("name", "case", "error", "said"),
    [
        (EXPAND, {"a": [2]}, TypeError, "has a value for each of: a, b"),
        (EXPAND, {"a": [2], "b": [2], "c": 1}, TypeError, "a, b"),
        ("course.predictions.backward_order", {"program": "exp"}, LookupError, "your own answer"),
        ("course.breaks.breaks_is_contiguous", {}, LookupError, "your own answer"),
        ("aten.strided.nothing", {}, LookupError, "there is no check"),
    ],
)
def test_a_question_without_an_answer_is_refused(name, case, error, said, capsys):
    with pytest.raises(error, match=said):
        kernel.ask(name, **case)
    assert not capsys.readouterr().out


def test_a_check_runs_the_students_code_again_afterwards():
    kernel.ask(EXPAND, a=[2], b=[2])
    assert not kernel._is_asking


def test_the_name_alone_lists_cases_with_each_word_that_a_case_may_have(capsys):
    asked = []
    kernel.ask("nn.modules.module.set_attribute")
    exec(capsys.readouterr().out, {"ask": lambda name, **case: asked.append((name, case))})
    assert {name for name, _ in asked} == {"nn.modules.module.set_attribute"}
    assert len({case["statements"][1][2] for _, case in asked}) == len(asked) == kernel.MOST
