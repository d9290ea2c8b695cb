"""`path`: which pieces a training step of the MiniGPT runs, whose they are, and which one breaks it."""

from functools import partial

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook

from autograder import path, use
from autograder.course import SOURCES
from autograder.engine.check import function_of
from autograder.engine.exercise import fill_as, filled, is_filled
from autograder.model import Lab
from autograder.notebook import pieces
from autograder.notebook.pieces import StepPath, find_path

START = "import time\nimport rushlight as rl\nfrom autograder import check, exercise"
STRIDES = """
@exercise(rl.strided)
def contiguous_strides(sizes):
    strides, step = [], 1
    for size in reversed(sizes):
        strides.insert(0, step)
        step *= max(size, 1)
    return tuple(strides)
"""
ADAM = """
from rushlight.optim.optimizer import adam as reference

@exercise(rl.optim.optimizer)
def adam(params, grads, *args, **kwargs):
    for param, grad in zip(params, grads):
        param.sub_(0.5 * grad)
"""


@pytest.fixture(scope="module", autouse=True)
def reference_once():
    """The reference's step is the same for all tests: it runs once."""
    kept = {}

    def once(step, *arguments):
        if filled():
            return step(*arguments)
        if step not in kept:
            kept[step] = step(*arguments)
        return kept[step]

    with pytest.MonkeyPatch.context() as patch:
        for name in ("_timed", "_recorded"):
            patch.setattr(pieces, name, partial(once, getattr(pieces, name)))
        yield


@pytest.fixture
def work(tmp_path):
    """`work(*sources)`: plug in the pieces of a notebook with these cells, as `use` does."""

    def plug(*cells):
        path = tmp_path / "work" / "01a_views" / "01a_views.ipynb"
        path.parent.mkdir(parents=True, exist_ok=True)
        nbformat.write(new_notebook(cells=[new_code_cell(cell) for cell in (START, *cells)]), path)
        use(path.parent.parent)

    yield plug
    fill_as({})


@pytest.mark.sweep
def test_the_path_is_found_by_running_and_needs_no_piece():
    found = find_path()
    assert found.yours == [] and found.broken == {} and found.slow == []
    assert "aten.native.linear_algebra.addmm_out" in found.stages["forward"]
    assert "aten.native.losses.cross_entropy_loss" in found.stages["loss"]
    assert (
        "autograd.engine.execute" in found.stages["backward"]
        and "autograd.engine.execute" not in found.stages["forward"]
    )
    assert "optim.optimizer.adam" in found.stages["update"] and "optim.optimizer.adam" not in found.stages["backward"]
    assert len(found.pieces()) > 40 and "aten.native.random.dropout" not in found.pieces()
    assert "0 are yours" in next(found.lines())


@pytest.mark.sweep
def test_the_solutions_of_all_labs_give_the_same_step_as_the_reference():
    try:
        use(SOURCES)
        found = find_path()
        assert found.broken == {} and {*found.pieces()} <= {*found.yours}
    finally:
        fill_as({})


@pytest.mark.sweep
def test_the_pieces_of_one_lab_are_yours_and_the_rest_the_references():
    try:
        use(SOURCES / "04b_engine")
        found = find_path()
        assert {*found.yours} == {*Lab("04b_engine").exercises}
        assert found.labs["autograd.engine.execute"] == "04b"
    finally:
        fill_as({})


@pytest.mark.sweep
@pytest.mark.parametrize(
    ("cell", "name", "why"),
    [
        (STRIDES.replace("max(size, 1)", "1"), "aten.strided.contiguous_strides", ""),
        (
            STRIDES.replace("return", "print(sizes.none)\n    return"),
            "aten.strided.contiguous_strides",
            "AttributeError",
        ),
        (ADAM, "optim.optimizer.adam", "the loss of step 2"),
    ],
    ids=["wrong", "raises", "learns otherwise"],
)
def test_a_piece_that_breaks_the_step_is_named_and_the_reference_takes_its_place(work, cell, name, why):
    right = STRIDES if "adam" in name else ADAM.partition("@")[0]
    work(right, cell)
    assert is_filled(function_of(name))
    found = find_path()
    assert [*found.broken] == [name] and why in found.broken[name]
    assert not is_filled(function_of(name)) and name not in found.yours
    assert f"{name} breaks the step" in "\n".join(found.lines())


@pytest.mark.sweep
def test_each_of_two_broken_pieces_is_named(work):
    work(STRIDES.replace("max(size, 1)", "1"), ADAM)
    found = find_path()
    assert {*found.broken} == {"aten.strided.contiguous_strides", "optim.optimizer.adam"}


@pytest.mark.sweep
def test_the_picture_says_how_many_pieces_are_yours(work, capsys):
    work(STRIDES)
    assert path().yours == ["aten.strided.contiguous_strides"]
    assert "1 are yours" in capsys.readouterr().out


@pytest.mark.sweep
def test_a_slow_piece_is_named(work):
    work(STRIDES.replace("return", "time.sleep(0.004)\n    return"))
    found = find_path()
    assert found.broken == {} and found.yours == ["aten.strided.contiguous_strides"]
    assert [name for name, _ in found.slow] == ["aten.strided.contiguous_strides"]
    assert "is slow" in "\n".join(found.lines())


def test_a_piece_that_the_step_does_not_run_is_not_counted_as_yours_on_the_path():
    found = StepPath({"forward": ["a.one", "a.two"], "update": ["a.one"]}, {}, ["a.one", "b.elsewhere"])
    assert found.own() == ["a.one"]
    assert [*found.lines()] == ["2 pieces of the course are on the path of a training step: 1 are yours"]
