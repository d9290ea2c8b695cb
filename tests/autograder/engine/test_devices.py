"""The accelerators of the machine are hidden from what judges and from what is judged."""

import contextlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

from autograder.engine import subject
from autograder.engine.check import find
from autograder.engine.devices import HIDING, ON_CPU
from autograder.engine.edition import edition
from autograder.engine.observe import NotGraded, SubjectDied
from autograder.engine.sandbox import Sandbox
from autograder.model import Lab

VISIBLE = {"CUDA_VISIBLE_DEVICES": "1", "HIP_VISIBLE_DEVICES": "0", "ONEAPI_DEVICE_SELECTOR": "level_zero:0"}
SHOW = f"import os; print({{name: os.environ.get(name) for name in {[*ON_CPU, 'RUSHLIGHT_VISIBLE_DEVICES']}}})"


def environment_after(program, **variables):
    """These variables in a new process after a program, which runs on a machine whose user chose a device."""
    given = {name: value for name, value in os.environ.items() if name not in (*ON_CPU, "RUSHLIGHT_VISIBLE_DEVICES")}
    command = [sys.executable, "-c", f"{program}\n{SHOW}"]
    completed = subprocess.run(command, env=given | VISIBLE | variables, capture_output=True, text=True, check=True)
    return eval(completed.stdout.splitlines()[-1])


@pytest.mark.sweep
def test_the_judge_sees_no_device():
    seen = environment_after("import autograder.engine.torch_source")
    assert {name: seen[name] for name in ON_CPU} == ON_CPU


def test_a_kernel_sees_no_device_and_keeps_the_choice_of_its_user_for_ranks():
    seen = environment_after("from autograder import check")
    assert {name: seen[name] for name in HIDING} == HIDING
    assert seen["RUSHLIGHT_VISIBLE_DEVICES"] == "1" and seen["RUSHLIGHT_DEVICE"] is None


def test_a_kernel_sees_the_device_that_its_user_asks_for():
    seen = environment_after("from autograder import check", RUSHLIGHT_DEVICE="cuda")
    assert {name: seen[name] for name in VISIBLE} == VISIBLE


@pytest.mark.parametrize("inside", [True, False])
def test_a_subject_sees_no_device(inside, isolated, monkeypatch):
    for name, value in VISIBLE.items():
        monkeypatch.setenv(name, value)
    box = Sandbox(edition(Lab("01a_views")), inside)
    try:
        (printed,) = box.request({"cell": SHOW}, 20)["outputs"]
    finally:
        box.close()
    assert {name: eval(printed["text"])[name] for name in ON_CPU} == ON_CPU


def test_a_program_of_a_check_sees_no_device_and_gives_the_environment_back(monkeypatch):
    for name, value in VISIBLE.items():
        monkeypatch.setenv(name, value)
    seen = []
    check = find("aten.strided.contiguous_strides")
    monkeypatch.setattr(subject, "is_filled", lambda path: True)
    monkeypatch.setattr(subject, "watched", lambda *_: contextlib.nullcontext())
    monkeypatch.setattr(subject, "_on_rushlight", lambda *_: seen.append({name: os.environ[name] for name in ON_CPU}))
    subject.answer(check.name, check.edges[:1])
    assert seen == [ON_CPU]
    assert {name: os.environ[name] for name in VISIBLE} == VISIBLE


def test_a_subject_that_cannot_start_says_why(tmp_path):
    (tmp_path / "autograder").mkdir()
    with pytest.raises(NotGraded, match="No module named 'autograder.engine'"):
        Sandbox(Path(tmp_path), isolated=False)


def test_a_process_that_ends_by_itself_is_not_said_to_be_killed():
    box = Sandbox(edition(Lab("01a_views")), isolated=False)
    end = "import os, time; os.closerange(3, 20); time.sleep(0.2); os._exit(3)"  # the pipe closes first
    with pytest.raises(SubjectDied, match="exit code 3"):
        box.request({"cell": end}, 20)
