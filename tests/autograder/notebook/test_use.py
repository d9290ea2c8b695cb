"""`use`: a student's own pieces, from the notebooks in `work/`."""

from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook, new_output

import rushlight as rl
from autograder import use
from autograder.course import SOURCES
from autograder.engine.check import CLINIC, function_of, is_milestone, registry
from autograder.engine.edition import edition
from autograder.engine.exercise import fill_as, filled
from autograder.engine.sandbox import Sandbox
from autograder.model import Lab

START = "import rushlight as rl\nfrom autograder import check, exercise"
STRIDES = """
@exercise(rl.strided)
def contiguous_strides(sizes):
    strides, step = [], 1
    for size in reversed(sizes):
        strides.insert(0, step)
        step *= max(size, 1)
    return tuple(strides)
"""
STUB = """
@exercise(rl.strided)
def transpose(self, dim0, dim1):
    "Two dimensions swapped."
    # YOUR CODE HERE
    raise NotImplementedError()
"""


@pytest.fixture
def work(tmp_path, monkeypatch):
    """`work(*sources)`: a lab's notebook with these cells is all there is in work/, and the kernel runs in its folder."""

    def write(*cells):
        path = tmp_path / "work" / "01a_views" / "01a_views.ipynb"
        path.parent.mkdir(parents=True)
        cells = [cell if isinstance(cell, dict) else new_code_cell(cell) for cell in (START, *cells)]
        nbformat.write(new_notebook(cells=cells), path)
        monkeypatch.chdir(path.parent)

    yield write
    fill_as({})


def yours():
    return {name for _, name in filled()}


def test_what_is_written_is_plugged_in_and_named_and_what_is_not_is_the_references(work, capsys):
    work(STUB, STRIDES)
    use("work/")
    assert yours() == {"contiguous_strides"}
    said = capsys.readouterr().out
    assert "1 of 2 pieces" in said and "aten.strided.contiguous_strides" in said
    assert rl.ones(2, 3).transpose(0, 1).stride() == (1, 3)


def test_no_code_of_a_notebook_without_a_finished_piece_runs_and_the_message_says_that_code_runs(
    work, capsys, monkeypatch
):
    work("from trap import *", "1 / 0", STUB)
    monkeypatch.syspath_prepend(Path.cwd())
    Path("trap.py").write_text("raise SystemExit('it ran')")
    use("work/")
    said = capsys.readouterr().out
    assert "0 of 1 pieces" in said and "runs code of a notebook that you downloaded" in said and yours() == set()


def test_a_piece_brings_what_it_uses_and_nothing_else_of_the_notebook_runs(work):
    work(
        "from functools import cache\nfrom math import prod\nFACTOR = 1",
        "def step_of(sizes):\n    return FACTOR * prod(max(size, 1) for size in sizes)",
        "raise SystemExit('an experiment')",
        "%matplotlib inline\nFACTOR += 0",
        STUB,
        "@exercise(rl.strided)\n@cache\ndef contiguous_strides(sizes):\n    transpose\n"
        "    return tuple(step_of(sizes[i + 1 :]) for i in range(len(sizes)))",
    )
    use("work/")
    assert yours() == {"contiguous_strides"}
    assert rl.ones(2, 3).stride() == (3, 1)


def test_a_piece_whose_check_failed_last_is_not_finished(work, capsys):
    output = new_output("error", ename="CheckFailed", evalue="", traceback=[])
    check = new_code_cell(
        "check(...)", outputs=[output], metadata={"rushlight": {"check": "aten.strided.contiguous_strides"}}
    )
    work(STRIDES, check)
    use("work/")
    assert yours() == set()
    assert "not aten.strided.contiguous_strides" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("cell", "why"),
    [
        (STRIDES.replace(":\n    strides", "\n    strides"), "SyntaxError"),
        (STRIDES.replace("tuple(strides)", "as_tuple(strides)"), "as_tuple"),
        (STRIDES.replace("contiguous_strides", "contiguous_stride"), "did you mean contiguous_strides"),
    ],
)
def test_a_piece_that_cannot_be_used_is_named_with_the_reason_and_stops_no_other(work, capsys, cell, why):
    metadata = {"rushlight": {"exercise": "aten.strided.contiguous_strides"}}
    work(new_code_cell(cell, metadata=metadata), STUB.replace("raise NotImplementedError()", "return self"))
    use("work/")
    assert yours() == {"transpose"}
    assert why in capsys.readouterr().out


def test_the_definition_that_comes_last_counts(work):
    work(STRIDES.replace("max(size, 1)", "0"), STRIDES)
    use("work/")
    assert rl.ones(2, 3).stride() == (3, 1)


def test_all_solutions_together_are_a_framework(work):
    use(SOURCES)
    checks = [check for check in registry().values() if not is_milestone(check.name)]
    asked = [function_of(check.exercise) for check in checks if not check.lab.startswith(CLINIC)]
    assert filled().keys() == {(function.__module__, function.__name__) for function in asked}
    x = rl.ones(4, 3).requires_grad_()
    rl.nn.functional.cross_entropy(x.transpose(0, 1)[:, 1:], rl.tensor([0, 1, 2])).backward()
    assert x.grad.shape == (4, 3)


def test_a_folder_that_is_nowhere_is_named_with_what_makes_it(work):
    with pytest.raises(FileNotFoundError, match="rushlight lab"):
        use("nowhere/")


def test_while_a_lab_is_graded_it_does_nothing(isolated, said):
    box = Sandbox(edition(Lab("01a_views")))
    try:
        assert said(box, "from autograder import use\nuse('work/')\nprint('graded')") == "graded\n"
    finally:
        box.close()
