"""The kernels that Inductor compiled for the reference serve all submissions of a class, and change no verdict."""

import pytest
from nbformat import v4
from sweep import swept

from autograder.engine import run as running
from autograder.engine.observe import NotGraded
from autograder.engine.run import run
from autograder.engine.sandbox import Sandbox
from autograder.engine.source import PendingCases
from autograder.engine.verdict import DIED, DISAGREED, PASSED, SECOND_CHANCE_NOTE, Verdict
from autograder.model import Lab, check_name, exercise_name

FUSED, STEP, LAST = (
    f"on_torch.custom_ops.{name}"
    for name in ("register_fused_linear.inductor", "register_momentum_step.judged", "momentum_step")
)
COUNTING = """
from torch._inductor.cpp_builder import CppBuilder
built, build = [], CppBuilder.build
def counted(self):
    built.append(self)
    return build(self)
CppBuilder.build = counted
"""
LOOKING = """
import os
folder = os.environ.get("RUSHLIGHT_KERNELS")
try:
    print(open(f"{folder}/mine", "w"))
except OSError as error:
    print(error.strerror)
print(len(built), "compiled")
"""


@pytest.fixture
def lab(isolated):
    return "06a_operators"


@pytest.fixture
def graded(solved, lab, judge, compiling):
    """Grades the answers that `changed` may change by checks with Inductor. Returns the verdicts, and what a cell says before
    the last check."""

    def grade(changed=lambda source: source):
        for cell in filter(exercise_name, solved.cells):
            cell.source = changed(cell.source)
        counting, looking = v4.new_code_cell(COUNTING), v4.new_code_cell(LOOKING)
        kept = [cell for cell in solved.cells if check_name(cell) in (None, *compiling)]
        last = [cell for cell in solved.cells if check_name(cell) == LAST]
        verdicts = run(v4.new_notebook(cells=[counting, *kept, looking, *last]), Lab(lab), judge)
        return verdicts, looking.outputs[0].text

    return grade


@pytest.fixture
def judge(pytestconfig, judge, monkeypatch):
    """Of the cases of these checks, on which g++ works for half a minute, `make test` tries the first one."""
    begin = judge.source.begin

    def begin_few(check):
        pending = begin(check)
        return PendingCases(pending.cases[:1], lambda: pending.answers()[:1], 1)

    if pytestconfig.option.markexpr == "not sweep":
        monkeypatch.setattr(judge.source, "begin", begin_few)
    return judge


@pytest.fixture(params=[(FUSED,), swept((FUSED, STEP))], ids=len)
def compiling(request):
    """Checks whose answers Inductor compiles."""
    return request.param


@pytest.mark.sweep
def test_a_right_submission_compiles_nothing_and_cannot_write_what_others_read(graded, compiling):
    verdicts, said = graded()
    assert {verdicts[name].outcome for name in (*compiling, LAST)} == {PASSED}
    assert said == "Read-only file system\n0 compiled\n"


@pytest.mark.sweep
def test_a_wrong_derivative_compiles_its_own_kernels_and_needs_the_reference(graded, compiling):
    verdicts, said = graded(lambda source: source.replace("output > 0", "output >= 0"))
    assert {verdicts[name].outcome for name in (*compiling, LAST)} == {PASSED}
    assert verdicts[FUSED].notes == [SECOND_CHANCE_NOTE]  # on the reference's derivative
    assert not said.endswith("\n0 compiled\n")


@pytest.mark.sweep
def test_without_kernels_a_submission_is_graded_all_the_same(graded, compiling, monkeypatch):
    def busy(edition, isolated, with_torch, kernels, filling, private):
        if filling:
            raise NotGraded("this machine is too busy")
        return Sandbox(edition, isolated, with_torch, kernels, filling, private)

    monkeypatch.setattr(running, "Sandbox", busy)
    monkeypatch.setattr(running, "_kernels", running._kernels.__wrapped__)
    verdicts, said = graded()
    assert {verdicts[name].outcome for name in (*compiling, LAST)} == {PASSED}
    assert not said.endswith("\n0 compiled\n")


@pytest.mark.parametrize("ending", [NotGraded("busy"), DIED, DISAGREED])
def test_kernels_of_a_reference_that_did_not_pass_are_not_kept(lab, judge, monkeypatch, ending):
    def failed(lab, judge, names, folder):
        (folder / "ab").mkdir()
        (folder / "ab" / "half.so").write_bytes(b"")
        if isinstance(ending, NotGraded):
            raise ending
        yield Verdict(FUSED, ending)

    monkeypatch.setattr(running, "_reference_verdicts", failed)
    assert running._kernels.__wrapped__(lab, judge, (FUSED,)) == {}
