"""`ask` prints torch's answer for a case, and runs nothing of the student."""

import pytest

from autograder.checks.cases import tensor
from autograder.engine import asking
from autograder.engine.check import find
from autograder.engine.exercise import fill, unplug
from autograder.engine.judge import Judge
from autograder.engine.verdict import GRADER_ERROR, NOT_THEIR_FAULT, Verdict
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


OF_SIZES = {"tensor": {"sizes": [2, 3], "strides": [1, 2]}}
OF_STRIDES = "aten.strided.compute_stride"
ENTRY, SUM, RESULT = "c10.dispatch.compute_table_entry", "autograd.engine.sum_to", "c10.dtypes.result_type"


@pytest.mark.parametrize(
    ("name", "case", "error", "said"),
    [
        (OF_STRIDES, {"x": strided.Tensor, "sizes": [6]}, TypeError, "a case is plain data"),
        (
            OF_STRIDES,
            {"x": {"tensor": {"strides": [1]}}, "sizes": [6]},
            TypeError,
            "it has sizes, and may have strides",
        ),
        (OF_STRIDES, {"x": {"tensor": {"sizes": [6], "shape": 1}}, "sizes": [6]}, TypeError, "it has sizes"),
        (OF_STRIDES, {"x": {"tensor": {"sizes": [6], "storage": 5}}, "sizes": [6]}, ValueError, "it needs 6"),
        (
            OF_STRIDES,
            {"x": {"tensor": {"sizes": [6], "strides": []}}, "sizes": [6]},
            ValueError,
            "a stride for each size",
        ),
        (OF_STRIDES, {"x": {"tensor": {"sizes": [-6]}}, "sizes": [6]}, ValueError, "whole numbers from 0"),
        (OF_STRIDES, {"x": {"tensor": {"sizes": [6], "dtype": "int"}}, "sizes": [6]}, ValueError, "no dtype 'int'"),
        (SUM, {"sizes": [6]}, TypeError, "each of: grad, sizes; and it may have: recorded"),
        (ENTRY, {"kernels": ["Undefined"]}, ValueError, "`kernels` may have CPU"),
        (ENTRY, {"kernels": [], "more_fallbacks": ["Python"]}, ValueError, "may have CPU, CUDA, PrivateUse1"),
        ("c10.dispatch.dispatch_key_set", {"stack": ["x"]}, ValueError, "for tensors, None, numbers"),
        (RESULT, {"operands": ["a"]}, ValueError, "takes two operands"),
    ],
)
def test_a_students_own_slip_is_named(name, case, error, said, capsys):
    with pytest.raises(error, match=said):
        kernel.ask(name, **case)
    assert not capsys.readouterr().out


def test_in_a_page_a_case_that_is_not_recorded_is_refused_with_the_way_to_one_that_is(monkeypatch):
    refused = Verdict(EXPAND, GRADER_ERROR, message="its answer to this case was not recorded")
    monkeypatch.setattr(kernel, "_decide", lambda name, case: refused)
    monkeypatch.setattr(kernel.sys, "platform", "emscripten")
    with pytest.raises(kernel.CheckFailed) as raised:
        kernel.ask(EXPAND, a=[2], b=[2])
    assert str(raised.value) == f'in this page you can ask recorded cases: ask("{EXPAND}") lists some'


def test_an_error_of_the_judge_is_shown_without_a_word_about_fault(monkeypatch):
    failed = Verdict(EXPAND, GRADER_ERROR, message=f"OSError: no memory{NOT_THEIR_FAULT}")
    monkeypatch.setattr(kernel, "_decide", lambda name, case: failed)
    with pytest.raises(kernel.CheckFailed) as raised:
        kernel.ask(EXPAND, a=[2], b=[2])
    assert str(raised.value) == f"{EXPAND}: torch has no answer to this case: OSError: no memory"


@pytest.mark.parametrize(
    ("name", "short", "whole"),
    [
        (
            SUM,
            {"grad": OF_SIZES, "sizes": (3,)},
            {"grad": tensor([2, 3], [1, 2], 0, "float64"), "sizes": [3], "recorded": False},
        ),
        (OF_STRIDES, {"x": {"tensor": {"sizes": [2, 3]}}, "sizes": [6]}, {"x": tensor([2, 3]), "sizes": [6]}),
        (ENTRY, {"kernels": ["CPU"]}, {"kernels": ["CPU"], "more_fallbacks": [], "fallthroughs": []}),
    ],
)
def test_what_a_case_leaves_out_has_its_usual_value(name, short, whole, capsys):
    kernel.ask(name, **short)
    kernel.ask(name, **whole)
    lines = capsys.readouterr().out
    half = len(lines) // 2
    assert lines[:half] == lines[half:] and lines and asking.complete(find(name), short) == whole


def test_numbers_of_a_stack_may_be_floats(capsys):
    kernel.ask("c10.dispatch.dispatch_key_set", stack=["cpu", 2.5])
    assert capsys.readouterr().out.startswith("of a list: ('CPUBit', ")


def test_a_check_runs_the_students_code_again_afterwards():
    kernel.ask(EXPAND, a=[2], b=[2])
    assert not kernel._is_asking


def test_the_name_alone_lists_cases_with_each_word_that_a_case_may_have(capsys):
    asked = []
    kernel.ask("nn.modules.module.set_attribute")
    exec(capsys.readouterr().out, {"ask": lambda name, **case: asked.append((name, case))})
    assert {name for name, _ in asked} == {"nn.modules.module.set_attribute"}
    assert len({case["statements"][-1][2] for _, case in asked}) == len(asked) == asking.MOST
