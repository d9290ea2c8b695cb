"""Where there is no torch, a judge decides by its recorded answers to public cases."""

import os
import subprocess
import sys

import pytest
from answers import over_the_wire
from click.testing import CliRunner
from sweep import sweep

from autograder import cli
from autograder.classroom.release import release
from autograder.engine import practice, torch_source
from autograder.engine.check import DISAGREED, GRADER_ERROR, PASSED, find, function_of, is_bench, registry
from autograder.engine.exercise import fill, restore
from autograder.engine.judge import Judge
from autograder.engine.observe import difference
from autograder.model import Course, Lab, lab_names

LAB, STRIDES = "01a_views", "aten.strided.contiguous_strides"
LABS = [lab for lab in lab_names() if not is_bench(lab)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Where recordings are, for the tests of this file. Each lab is recorded when a test asks for it."""
    place = tmp_path_factory.mktemp("practice") / "recordings"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(practice, "FOLDER", place)
        yield place


@pytest.fixture
def recorded(folder):
    practice.record(LAB)
    practice.recorded.cache_clear()


@pytest.mark.parametrize("lab", sweep(LABS, keep=[LAB]))
def test_what_was_recorded_is_what_torch_answers_and_the_reference_passes(folder, plugged, lab):
    practice.record(lab)
    judge = Judge(source=practice.Practice())
    for check in registry().values():
        if check.lab == lab:
            cases, answers = judge.drawn(check)
            live = torch_source.TorchSource(practice.PUBLIC_SEED)
            apart = map(difference, answers, live.ask(check, cases)())
            assert not [case for case, words in zip(cases, apart) if words], check.name
            assert len(cases) >= len(check.edges) and live.is_exact(check) == judge.source.is_exact(check)
            verdict = judge.verdict(check.name, over_the_wire)
            assert (verdict.outcome, verdict.cases) == (PASSED, len(cases)), str(verdict)


def test_a_wrong_piece_gets_the_card_of_the_smallest_recorded_case(recorded, request):
    judge, slot = Judge(source=practice.Practice()), function_of(STRIDES)
    request.addfinalizer(lambda: restore(slot))
    fill(slot, lambda sizes: tuple(1 for _ in sizes))
    verdict = judge.verdict(STRIDES, over_the_wire)
    assert verdict.outcome == DISAGREED and verdict.hint and verdict.mine != verdict.theirs
    assert verdict.notes == [
        "practice: public cases, and answers recorded from torch 2.13.0; a class is marked on others"
    ]
    assert verdict.case in judge.drawn(find(STRIDES))[0]
    assert judge.replay(STRIDES, verdict.case, over_the_wire).theirs == verdict.theirs
    other = judge.replay(STRIDES, {"sizes": [7, 9, 11]}, over_the_wire)
    assert other.outcome == GRADER_ERROR and "its answer to this case was not recorded" in other.message


def test_what_is_missing_or_of_another_version_is_said_in_a_line(recorded, folder, monkeypatch):
    judge = Judge(source=practice.Practice())
    monkeypatch.setattr(practice, "digest", lambda lab: "another")
    messages = [judge.verdict(name, over_the_wire).message for name in (STRIDES, "course.sampling.choose")]
    messages.append(judge.verdict("on_torch.custom_ops.schema_type", over_the_wire).message)
    assert [*map(message_ends, messages)] == [True] * 3
    assert "belongs to another version of the course" in messages[0]
    assert "nothing recorded of it for lab 12b" in messages[1] or "nothing recorded of it for lab 12" in messages[1]
    assert "lab 06a_operators works on torch itself" in messages[2]


def message_ends(message):
    return message.endswith("; `make -B setup` in the course's folder installs torch")


def test_a_lab_is_recorded_once_and_the_same_file_each_time(folder, monkeypatch):
    path = folder / f"{LAB}.zip"
    path.unlink(missing_ok=True)
    record = lambda: CliRunner().invoke(cli.app, ["record", "01a"], standalone_mode=False).output  # noqa: E731
    said, first = record(), path.read_bytes()
    assert (said, record()) == (f"{LAB}: recorded\n", f"{LAB}: nothing has changed\n")
    path.unlink()
    assert record() == f"{LAB}: recorded\n" and path.read_bytes() == first


def test_half_a_file_is_recorded_anew(recorded, folder):
    path = folder / f"{LAB}.zip"
    whole = path.read_bytes()
    path.write_bytes(whole[:1000])
    assert "belongs to another version" in Judge(source=practice.Practice()).verdict(STRIDES, over_the_wire).message
    assert practice.record(LAB) and path.read_bytes() == whole


def test_a_class_repository_has_what_was_recorded(recorded, classroom, tmp_path):
    course = release(Course(), [Lab(LAB), Lab("01b_reshape")], tmp_path / "course")
    assert [path.name for path in (course / "recordings").iterdir()] == [f"{LAB}.zip"]
    assert {"/recordings/", "/classroom/"} & {*(course / ".gitignore").read_text().split()} == {"/classroom/"}
    said = subprocess.run(
        [sys.executable, "-c", "from autograder.engine import practice; print(practice.fresh('01a_views'))"],
        cwd=course,
        env={**os.environ, "PYTHONPATH": str(course)},
        capture_output=True,
        text=True,
    )
    assert said.stdout.strip() == str(course / "recordings" / f"{LAB}.zip"), said.stderr


WITHOUT = """
import sys
sys.modules["torch"] = sys.modules["hypothesis"] = None
from pathlib import Path
from autograder.engine import practice, subject
from autograder.engine.check import function_of
from autograder.engine.exercise import fill
from autograder.engine.judge import Judge
practice.FOLDER = Path(sys.argv[1])
fill(function_of("aten.strided.permute"), lambda self, dims: self)
print(practice.about_judge())
for name in ("aten.strided.permute", "aten.strided.slice"):
    print(Judge(source=practice.source()).verdict(name, subject.answer))
"""


def test_a_judge_needs_neither_torch_nor_hypothesis(recorded, folder):
    done = subprocess.run([sys.executable, "-c", WITHOUT, str(folder)], capture_output=True, text=True)
    said = done.stdout.splitlines()
    assert said[0].startswith("there is no torch here: checks compare with its recorded answers"), done.stderr
    assert said[1].startswith("✗ aten.strided.permute: ") and "differs" in done.stdout
    assert said[-2] == "– aten.strided.slice: not attempted"
