"""Each example has the same losses on both frameworks, over its first 20 steps, and ends with a picture."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"
SHARED = {"digits", "framework", "text"}
NAMES = sorted({path.stem for path in EXAMPLES.glob("*.py")} - SHARED)


def losses(name, framework, picture):
    command = [sys.executable, EXAMPLES / f"{name}.py", "--framework", framework, "--steps", "20", "--picture", picture]
    run = subprocess.run(command, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    assert picture.read_bytes().startswith(b"\x89PNG")
    return [float(each) for each in re.findall(r"^step +\d+  loss (\S+)$", run.stdout, re.M)]


def test_there_are_as_many_as_the_readme_says():
    assert len(NAMES) == 12 and "twelve training scripts" in (EXAMPLES.parent / "README.md").read_text(encoding="utf-8")


@pytest.mark.sweep
@pytest.mark.parametrize("name", NAMES)
def test_both_frameworks_learn_the_same(name, tmp_path):
    ours, theirs = (losses(name, framework, tmp_path / f"{framework}.png") for framework in ("rushlight", "torch"))
    assert len(ours) >= 20
    assert ours == pytest.approx(theirs, rel=1e-4, abs=1e-4)
