"""A whole notebook through subject and judge."""

import copy
import os
import re
import subprocess
import sys
from types import SimpleNamespace

import nbformat
import pytest
from sweep import sweep

from autograder.engine import judge as judging
from autograder.engine import limits, sandbox
from autograder.engine import run as running
from autograder.engine.check import exercise_of, is_milestone, is_on_torch, registry
from autograder.engine.observe import NotGraded, SubjectTimedOut
from autograder.engine.run import NOT_RUN, run
from autograder.engine.sandbox import Sandbox
from autograder.engine.verdict import (
    DIED,
    DISAGREED,
    MILESTONE_NOTE,
    NOT_ATTEMPTED,
    PASSED,
    SECOND_CHANCE_NOTE,
    TIMED_OUT,
    Verdict,
)
from autograder.model import Lab, check_name, exercise_name, lab_names
from autograder.notebook.work import global_names

LAB = "01a_views"


@pytest.fixture
def graded(judge, isolated, lab, monkeypatch):
    monkeypatch.setattr(judging, "SHRINK_SECONDS", 0.1)  # nothing here looks at how small a counterexample is
    return lambda notebook: run(notebook, Lab(lab), judge)


@pytest.fixture
def impatient(monkeypatch):
    """Limits that are short, since something loops."""
    for limit in ("CHECK_SECONDS", "CELL_SECONDS"):
        monkeypatch.setattr(limits, limit, (2.0, 20.0))


def cell(notebook, exercise):
    return next(c for c in notebook.cells if exercise_name(c) == exercise)


def outcomes(verdicts, *expected):
    """The outcomes that are not in `expected`, by check."""
    return {name: str(v) for name, v in verdicts.items() if v.outcome not in expected}


@pytest.mark.parametrize("lab", sweep(lab_names(), keep=["03a_loops"]))
def test_an_untouched_lab_earns_nothing(graded, released):
    assert outcomes(graded(released), NOT_ATTEMPTED) == {}


@pytest.mark.parametrize("lab", sweep(lab_names(), keep=["01a_views"]))
def test_the_reference_earns_everything_and_needs_no_second_chance(graded, solved):
    verdicts = graded(solved)
    assert outcomes(verdicts, PASSED) == {}
    second = {SECOND_CHANCE_NOTE, MILESTONE_NOTE}
    assert [name for name, v in verdicts.items() if second & {*v.notes}] == []  # no check runs on a later exercise


@pytest.mark.parametrize("lab", sweep(lab_names(), keep=["01a_views"]))
def test_a_lab_without_its_exercise_cells_earns_nothing(graded, solved):
    solved.cells = [c for c in solved.cells if not exercise_name(c)]
    assert not any(v.passed for v in graded(solved).values())


@pytest.mark.sweep
@pytest.mark.parametrize(
    ("lab", "exercise"),
    sweep(
        [(lab, name) for lab in lab_names() for name in Lab(lab).exercises],
        keep=[("01a_views", "aten.strided.permute")],
    ),
)
def test_a_piece_that_raises_costs_its_own_points_only(graded, solved, exercise):
    source = cell(solved, exercise).source
    head = source[: source.index('    """')]
    cell(solved, exercise).source = f"{head}    raise ArithmeticError"
    verdicts = graded(solved)
    lost = [name for name, v in verdicts.items() if not v.passed]
    assert lost and {exercise_of(name) for name in lost} == {exercise}
    assert {verdicts[name].outcome for name in lost} == {DISAGREED}


@pytest.mark.sweep
def test_a_piece_that_raises_is_shown_with_its_line(graded, solved):
    wrong = cell(solved, "aten.strided.permute")
    head = wrong.source[: wrong.source.index('    """')]
    wrong.source = f"{head}    return helper(dims)\n\ndef helper(dims):\n    raise ValueError('<mine>')"
    verdict = graded(solved)["aten.strided.permute"]
    line = head.count("\n") + 1
    assert dict(verdict.rows())["yours"].splitlines() == [
        "ValueError: <mine>",
        f"  permute, line {line}:  return helper(dims)",
        f"  helper, line {line + 3}:  raise ValueError('<mine>')",
    ]
    shown = next(c.outputs[0].data for c in solved.cells if check_name(c) == "aten.strided.permute")
    assert f"helper, line {line + 3}" in shown["text/plain"]
    assert f"helper, line {line + 3}" in shown["text/html"] and "<mine>" not in shown["text/html"]


@pytest.mark.sweep
@pytest.mark.parametrize("lab", ["01b_reshape"])
def test_a_piece_that_passes_alone_says_so(graded, solved, lab):
    wrong = cell(solved, "aten.strided.compute_stride")
    wrong.source = wrong.source.replace("return tuple(reversed(new_strides))", "return tuple(new_strides)")
    verdicts = graded(solved)
    assert verdicts["aten.strided.reshape"].passed and verdicts["aten.strided.reshape"].notes == [SECOND_CHANCE_NOTE]
    assert verdicts["aten.strided.infer_size"].notes == []


@pytest.mark.sweep
@pytest.mark.parametrize("others", sweep(["written and right", "unwritten", "one wrong"], keep=["one wrong"]))
@pytest.mark.parametrize("lab", ["01b_reshape"])
def test_pieces_that_are_not_written_need_no_note_and_a_wrong_one_does(graded, released, solved, lab, others):
    infer_size, compute_stride, reshape = (
        f"aten.strided.{name}" for name in ("infer_size", "compute_stride", "reshape")
    )
    kept = {"unwritten": [reshape], "one wrong": [compute_stride, reshape]}.get(others, [infer_size, reshape])
    for name in kept:
        cell(released, name).source = cell(solved, name).source
    if others == "one wrong":
        wrong = cell(released, compute_stride)
        wrong.source = wrong.source.replace("return tuple(reversed(new_strides))", "return tuple(new_strides)")
    verdicts = graded(released)
    assert verdicts[reshape].passed
    assert verdicts[reshape].notes == [SECOND_CHANCE_NOTE] * (others == "one wrong")


@pytest.mark.parametrize("lab", ["01b_reshape"])
def test_a_wrong_piece_on_pieces_that_are_not_written_is_told_its_own_mistake(graded, released, solved, lab):
    name = "aten.strided.reshape"
    source = cell(solved, name).source
    cell(released, name).source = source.replace("compute_stride(", "compute_strides(")
    verdict = graded(released)[name]
    assert source != cell(released, name).source and "compute_strides" in verdict.message and verdict.frames


@pytest.mark.parametrize(
    ("lab", "exercise"),
    sweep(
        [(lab, name) for lab in lab_names() for name in Lab(lab).exercises], keep=[("02b_schemas", "c10.schema.unbind")]
    ),
)
def test_a_piece_alone_passes_without_a_note_about_others(graded, released, solved, exercise):
    cell(released, exercise).source = cell(solved, exercise).source
    verdicts = [v for name, v in graded(released).items() if not is_milestone(name) and exercise_of(name) == exercise]
    assert verdicts and not [v for v in verdicts if not v.passed or SECOND_CHANCE_NOTE in v.notes]


ENDS_WITHOUT_A_RESULT = {
    "it does not end": "while True: pass",
    "it ends the process": "import os; os._exit(3)",
    "it is another each time": "import itertools; new_strides[:] = [next(turns)] * len(new_strides)",
}


@pytest.mark.sweep
@pytest.mark.parametrize("does", sweep(ENDS_WITHOUT_A_RESULT, keep=["it is another each time"]))
@pytest.mark.parametrize("lab", ["01b_reshape"])
def test_a_piece_that_gives_no_result_or_another_each_time_costs_no_other_piece_nor_the_milestone(
    graded, solved, impatient, does
):
    wrong = cell(solved, "aten.strided.compute_stride")
    end = "    return tuple(reversed(new_strides))"
    assert end in wrong.source
    wrong.source = wrong.source.replace(end, f"    {ENDS_WITHOUT_A_RESULT[does]}\n{end}")
    solved.cells.insert(0, nbformat.v4.new_code_cell("import itertools\nturns = itertools.count()"))
    verdicts = graded(solved)
    assert {exercise_of(name) for name in outcomes(verdicts, PASSED)} == {"aten.strided.compute_stride"}
    assert verdicts["aten.strided.reshape"].notes == [SECOND_CHANCE_NOTE]
    assert verdicts["together.chain_of_views"].notes == [MILESTONE_NOTE]


@pytest.mark.parametrize(
    ("first", "reason"),
    [(NOT_ATTEMPTED, "SyntaxError: x"), (TIMED_OUT, "course.anatomy.count_paths: timed out")],
)
def test_every_check_of_an_exercise_says_that_its_cell_did_not_run(first, reason):
    lab = Lab("12d_everything")
    whole, part = "course.anatomy.count_paths", "course.anatomy.count_paths.many"
    cells = [cell for cell in lab.release.nodes.cells if {exercise_name(cell), check_name(cell)} & {whole, part}]
    error = nbformat.v4.new_output("error", ename="SyntaxError", evalue="x", traceback=[])
    outcomes = iter([first, NOT_ATTEMPTED])
    session = running.Session(lab, False, limits.Allowance(False))
    session._request = lambda message, seconds: {"outputs": [error] * (first == NOT_ATTEMPTED)}
    judge = SimpleNamespace(verdict=lambda name, ask, retry: Verdict(name, next(outcomes)))
    verdicts = running._run_cells(
        nbformat.v4.new_notebook(cells=copy.deepcopy(cells)), session, judge, lambda check: None
    )
    said = f"the cell that defines it did not run: {reason}"
    assert {name: verdict.message for name, verdict in verdicts.items()} == {
        whole: said if first == NOT_ATTEMPTED else "",
        part: said,
    }


@pytest.mark.parametrize("written", sweep([3, 4], every=2))
def test_a_milestone_needs_half_of_the_core_exercises(graded, solved, written):
    core = Lab(LAB).core
    assert len(core) == 7
    for name in core[written:]:
        cell(
            solved, name
        ).source = f"@exercise(rl.strided)\ndef {name.partition('.')[2]}():\n    raise NotImplementedError"
    milestone = graded(solved)["together.strided_views"]
    if written == 3:
        assert milestone.outcome == NOT_ATTEMPTED and "3 of 7 are yours" in milestone.message
    else:
        assert milestone.passed and milestone.notes == [MILESTONE_NOTE]


@pytest.mark.sweep
def test_a_milestone_fails_if_pieces_pass_alone_and_not_together(graded, solved):
    permute = cell(solved, "aten.strided.permute")
    permute.source = permute.source.replace('    """', '    assert not late\n    """', 1)
    solved.cells.insert(0, nbformat.v4.new_code_cell("late = False"))
    milestone = next(i for i, c in enumerate(solved.cells) if check_name(c) == "together.strided_views")
    solved.cells.insert(milestone, nbformat.v4.new_code_cell("late = True"))
    assert outcomes(graded(solved), PASSED).keys() == {"together.strided_views"}


@pytest.mark.sweep
def test_an_endless_loop_costs_its_own_points_only_under_the_limits_of_a_class(graded, solved):
    wrong = cell(solved, "aten.strided.permute")
    wrong.source = wrong.source.replace("    if len(dims)", "    while True:\n        pass\n    if len(dims)", 1)
    verdicts = graded(solved)
    assert verdicts["aten.strided.permute"].outcome == TIMED_OUT
    assert outcomes(verdicts, PASSED).keys() == {"aten.strided.permute"}


LOOPS = """@exercise(rl.strided)
def contiguous_strides(sizes):
    while 0 in sizes:
        pass
    return []
"""


def test_the_limit_is_one_for_each_case_and_the_one_that_does_not_end_is_named(isolated, monkeypatch):
    monkeypatch.setattr(limits, "CHECK_SECONDS", (1.0, 1.0))
    session = running.Session(Lab(LAB), isolated, limits.Allowance(is_on_torch(LAB)))
    start = "import rushlight as rl\nfrom autograder import exercise\n"
    assert session.run_cell(nbformat.v4.new_code_cell(start + LOOPS)) == []
    cases = [{"sizes": sizes} for sizes in ([2], [3, 4], [2, 0], [0])]
    with pytest.raises(SubjectTimedOut) as stopped:
        session.observe("aten.strided.contiguous_strides", cases)
    assert stopped.value.case == cases[2]


@pytest.mark.sweep
def test_a_cell_that_ends_the_process_costs_itself_only(graded, solved, impatient):
    solved.cells.insert(2, nbformat.v4.new_code_cell("import os; os._exit(1)"))
    solved.cells.insert(2, nbformat.v4.new_code_cell("while True: pass"))
    assert outcomes(graded(solved), PASSED) == {}
    assert [c.outputs[0].ename for c in solved.cells[2:4]] == ["SubjectTimedOut", "SubjectDied"]


def test_a_piece_that_ends_the_process_has_died(graded, solved):
    wrong = cell(solved, "aten.strided.as_strided")
    wrong.source = wrong.source.replace('    """', '    __import__("os")._exit(3)\n    """', 1)
    verdicts = graded(solved)
    assert verdicts["aten.strided.as_strided"].outcome == DIED
    assert "exit code 3" in verdicts["aten.strided.as_strided"].message


def test_a_first_cell_that_fails_by_itself_leaves_a_lab_ungraded_and_one_that_a_student_broke_does_not(judge, released):
    setup = next(c for c in released.cells if "from autograder import" in c.source)
    setup.source = f"import missing_here\n{setup.source}"
    with pytest.raises(NotGraded, match=r"own first cell does not run here \(ModuleNotFoundError: .*missing_here"):
        run(released, Lab.with_release(LAB, released), judge)
    assert not outcomes(run(released, Lab(LAB), judge), NOT_ATTEMPTED)


@pytest.mark.sweep
@pytest.mark.parametrize("source", sweep(["import time; time.sleep(3600)", "while True: pass"], every=2))
def test_a_submission_has_a_total_time_and_no_marks_beyond_it(graded, solved, impatient, monkeypatch, source):
    monkeypatch.setattr(limits, "TOTAL_SECONDS", (5.0, 5.0))
    monkeypatch.setattr(sandbox, "WALL_CLOCK_FACTOR", 1000)  # other work of the machine does not end the test
    solved.cells[:0] = [nbformat.v4.new_code_cell(source)] * 3
    with pytest.raises(NotGraded, match=r"more than the \d+ s that a submission may take"):
        graded(solved)


@pytest.mark.sweep
def test_cells_that_take_long_take_nothing_from_a_check(graded, solved, impatient):
    """(1.5 s each time, and again in each process that replaces another.)"""
    solved.cells[:0] = [nbformat.v4.new_code_cell("import time; time.sleep(1.5)")] * 3
    wrong = cell(solved, "aten.strided.permute")
    wrong.source = wrong.source.replace("    if len(dims)", "    while True:\n        pass\n    if len(dims)", 1)
    assert outcomes(graded(solved), PASSED).keys() == {"aten.strided.permute"}


@pytest.mark.sweep
@pytest.mark.parametrize("lab", ["01a_views", "07a_graphs"])
def test_a_busy_machine_takes_no_point(graded, solved, monkeypatch, judge, lab):
    for check in registry().values():
        if check.lab == lab:
            judge.drawn(check)
    for limit in ("CHECK_SECONDS", "CELL_SECONDS"):
        monkeypatch.setattr(limits, limit, (3.0, 3.0))
    hogs = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(8 * os.cpu_count())]
    try:
        assert outcomes(graded(solved), PASSED) == {}
    finally:
        for hog in hogs:
            hog.kill()


@pytest.mark.sweep
def test_a_restart_takes_from_the_total_and_the_first_start_does_not(isolated, monkeypatch):
    started = []

    class Noted(Sandbox):
        def __init__(self, *arguments):
            super().__init__(*arguments)
            started.append((self, self.seconds))

    monkeypatch.setattr(running, "Sandbox", Noted)
    allowance = limits.Allowance(is_on_torch(LAB))
    session = running.Session(Lab(LAB), isolated, allowance)
    for _ in range(3):
        session.run_cell(nbformat.v4.new_code_cell("import os; os._exit(1)"))
    first = started[0][1]
    taken = sum(sandbox.seconds for sandbox, _ in started) - first
    assert len(started) == 3 and first > 0 and allowance.total - allowance.left == pytest.approx(taken)


@pytest.mark.parametrize("lab", [LAB])
def test_cells_on_which_no_check_depends_are_not_run_and_say_so(graded, solved):
    first, last = (nbformat.v4.new_code_cell(f"print({name!r})") for name in ("first", "last"))
    after = 1 + max(i for i, each in enumerate(solved.cells) if check_name(each))
    solved.cells[after:after] = [last]
    solved.cells[:0] = [first]
    assert outcomes(graded(solved), PASSED) == {}
    assert [output.text for output in first.outputs] == ["first\n"]
    skipped = [each for each in solved.cells if {"torch", "figure"} & {*each.metadata.get("tags", [])}]
    skipped += [each for each in solved.cells[after + 1 :] if each.cell_type == "code"]
    assert len(skipped) > 2 and all([output.text for output in each.outputs] == [NOT_RUN] for each in skipped)


@pytest.mark.parametrize("lab", [LAB])
@pytest.mark.parametrize(
    ("demonstration", "own", "runs"),
    [
        ("most = 3\nprint(most)", "", False),
        ("most = 3\nprint(most)", "def least(most):\n    return most", False),
        ("most = 3\nprint(most)", "def least():\n    return most - 3", True),
        ("most = 3\nprint(most)", "%time most", True),
        ("most = 3\nprint(most)", "\x00", True),
        ("def helper():\n    global most\n    most = 3", "print(most)", True),
        ("import math as most\nprint(3)", "most.pi", True),
        ("most = 3\nprint(most)", "~" * 10_000 + "1", True),
        ("most = 3\nprint(most)", "a = 1\n" * 100_000, True),
        ("most = 3\nprint(most)", r"'\d'", False),
    ],
)
def test_a_demonstration_runs_if_the_students_own_cells_use_a_name_of_it(solved, demonstration, own, runs):
    shown, added = map(nbformat.v4.new_code_cell, (demonstration, own))
    lab = Lab.with_release(LAB, copy.deepcopy(Lab(LAB).released))
    lab.released["cells"].append(nbformat.v4.new_code_cell(demonstration, metadata={"tags": ["demonstration"]}))
    solved.cells[:0] = [shown, added]
    assert any(each is shown for each in running._to_run(solved, lab)) == runs
    shown.source += "  # changed"
    assert any(each is shown for each in running._to_run(solved, lab))


@pytest.mark.parametrize("lab", [LAB])
@pytest.mark.parametrize("tags", ["figure", 5, None, {"figure": 1}, [["figure"], 1]])
def test_odd_tags_of_a_student_are_no_tags(solved, tags):
    solved.cells[:0] = [nbformat.v4.new_code_cell("print(3)")]
    solved.cells[0].metadata["tags"] = tags
    assert running._to_run(solved, Lab(LAB))[0] is solved.cells[0]


@pytest.mark.parametrize("lab", sweep(lab_names(), every=5))
def test_no_cell_of_a_lab_depends_on_one_that_grading_does_not_run(solved, lab):
    runs, before, missing = running._to_run(solved, Lab(lab)), set(), set()
    for each in solved.cells[: solved.cells.index(runs[-1])]:
        if each.cell_type != "code" or check_name(each) or each.source.startswith("%%"):  # on a patient, elsewhere
            continue
        bound, used = global_names(each.source)
        if any(each is other for other in runs):
            assert not (used - bound) & missing, each.source
            before |= bound
            missing -= bound
        else:  # a demonstration may change nothing either
            missing |= bound if "demonstration" in each.metadata.tags else bound - before


@pytest.mark.sweep
def test_a_cell_that_does_not_parse_says_why_its_piece_is_missing(graded, solved):
    select = cell(solved, "aten.strided.select")
    select.source += "\n    return ]"
    verdict, line = graded(solved)["aten.strided.select"], select.source.count("\n") + 1
    assert verdict.outcome == NOT_ATTEMPTED
    assert verdict.message == f"the cell that defines it did not run: SyntaxError: unmatched ']' (line {line})"


def test_every_check_cell_shows_its_verdict_and_stays_a_valid_notebook(graded, solved):
    cell(solved, "aten.strided.slice").source += "\n\nprint('\\ud800 lone surrogate')\nraise ValueError('\\udfff')"
    graded(solved)
    nbformat.validate(solved)
    nbformat.writes(solved).encode()
    for c in solved.cells:
        if check_name(c):
            assert "text/html" in c.outputs[0].data


def test_the_checks_of_a_lab_and_the_points_in_its_notebook_are_those_of_its_source(released):
    cells = re.findall(r'^```python (?:exercise|check)="(\S+)" points=(\d+)', Lab(LAB).source.read_text("utf-8"), re.M)
    assert [name for c in released.cells if (name := check_name(c))] == [name for name, _ in cells]
    assert Lab(LAB).points == {name: int(points) for name, points in cells}
