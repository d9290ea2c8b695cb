"""One place says which torch the course needs. On another torch each check, `rushlight grade` and a notebook's start say so."""

import subprocess
import sys
import tomllib
from importlib.metadata import version

import pytest

from autograder.classroom import plugin, sample
from autograder.classroom.grade import GradingError, grade
from autograder.cli import authors
from autograder.engine import source, torch_source
from autograder.engine.card import GREY, card
from autograder.engine.check import function_of
from autograder.engine.exercise import fill, unplug
from autograder.engine.judge import Judge
from autograder.engine.observe import NotGraded
from autograder.engine.practice import about_judge
from autograder.engine.subject import answer
from autograder.engine.verdict import DISAGREED, NEEDS_TORCH
from autograder.model import Lab
from rushlight.backends import PYTORCH

STRIDES = "aten.strided.contiguous_strides"
SHELL = """
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()
for cell in {cells!r}:
    shell.run_cell(cell).raise_error()
"""
COMPILED = """
import torch

def f(x):
    return len([x]) + x

kept = []
torch._dynamo.convert_frame.register_bytecode_hook(lambda code, compiled: kept.append(compiled))
torch.compile(f, backend="eager")(torch.ones(2))
print(*(name for name in globals() if name.startswith("__builtins_dict_")))
"""


def in_shell(*cells):
    """What a Python prints that runs cells in an IPython shell and ends."""
    return subprocess.run(
        [sys.executable, "-c", SHELL.format(cells=cells)], capture_output=True, text=True, timeout=300
    )


@pytest.fixture
def needs(monkeypatch):
    """The words about a torch that is another one than the course's."""
    monkeypatch.setattr(source, "PYTORCH", "9.1.0")
    return f"needs torch 9.1 ({'.'.join(version('torch').split('.')[:2])} is here)"


@pytest.fixture
def filled():
    """Fills the exercise of the strides."""
    yield lambda body: fill(function_of(STRIDES), body)
    unplug(function_of(STRIDES))


def test_what_is_installed_is_what_is_graded_against(root):
    major, minor, _ = PYTORCH.split(".")
    needed = tomllib.loads((root / "pyproject.toml").read_text())["project"]["dependencies"]
    assert f"torch>={major}.{minor},<{major}.{int(minor) + 1}" in needed
    assert f"torch=={PYTORCH}" in (root / "constraints.txt").read_text().splitlines()
    said = {"docs/versions.md": "teaches and grades PyTorch {}.{}", "docs/upgrading.md": "needs PyTorch {}.{}"}
    said |= {
        "docs/gpu.md": "torch==={}.{}.",
        "docs/anywhere.md": "torch=={}.{}.*",
        "phases/00_trace/reading.md": "v{}.{}.",
    }
    for page, words in said.items():
        assert words.format(major, minor) in (root / page).read_text(encoding="utf-8"), page


def test_the_torch_of_the_course_needs_no_word():
    assert not source.other_torch() and not about_judge()


def test_a_check_that_cannot_run_on_another_torch_is_undecided(needs, filled, monkeypatch):
    def lacking(name, cases):
        raise AttributeError("module 'torch.distributed' has no attribute 'all_gather_single'")

    monkeypatch.setattr(torch_source, "answers", lacking)
    filled(lambda sizes: ())
    verdict = Judge(4).verdict(STRIDES, answer)
    assert verdict.outcome == NEEDS_TORCH and verdict.line() == f"{STRIDES}: {needs}"
    assert str(verdict).startswith(f"– {STRIDES}: {needs}\n") and "has no attribute 'all_gather_single'" in str(verdict)
    assert GREY in card(verdict) and "error" not in verdict.headline()


def test_a_difference_on_another_torch_has_a_note_and_an_agreement_has_none(needs, filled):
    assert Judge(4).verdict(STRIDES, answer).notes == []  # not attempted
    filled(lambda sizes: tuple(1 for _ in sizes))
    verdict = Judge(4).verdict(STRIDES, answer)
    assert verdict.outcome == DISAGREED and verdict.notes == [f"this check {needs}, and that may be the reason"]
    filled(lambda sizes: torch_source.torch.empty(tuple(sizes), device="meta").stride())
    verdict = Judge(4).verdict(STRIDES, answer)
    assert verdict.passed and verdict.notes == []


def test_marks_are_not_given_on_another_torch(needs, classroom):
    sample.make(classroom)
    before = sorted(classroom.rglob("*"))
    with pytest.raises(GradingError) as raised:
        grade(Lab("01a_views"), isolated=False)
    assert str(raised.value).startswith(f"grading {needs}; ") and sorted(classroom.rglob("*")) == before
    with pytest.raises(NotGraded):  # as nbgrader's own commands
        plugin.judge_of(3)


def test_recordings_are_not_made_of_another_torch(needs, monkeypatch):
    monkeypatch.setattr(authors, "_record", lambda labs: pytest.fail("recorded"))
    with pytest.raises(LookupError, match=r"the course needs torch 9\.1"):
        authors.record.callback(("01a",))


def test_a_notebook_begins_with_the_version_that_it_needs():
    done = in_shell("from autograder.engine import source; source.PYTORCH = '9.1.0'", "from autograder import check")
    assert done.stdout.startswith("the course needs torch 9.1 ("), done.stderr
    assert in_shell("from autograder import check").stdout == ""


@pytest.mark.sweep
def test_a_shell_with_compiled_code_ends_without_a_word():
    done = in_shell("from autograder import check", COMPILED)
    assert done.stdout.startswith("__builtins_dict_") and done.stderr == ""
