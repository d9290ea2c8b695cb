"""Every script in `bench/` runs, with the smallest arguments that it takes. What it measures is not looked at."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from sweep import sweep

BENCH = Path(__file__).parents[1] / "bench"
SMALLEST = {
    "accuracy_drop.py": ["--steps", "2"],
    "attacks.py": ["constants", "exchange", "cluster"],
    "attention.py": ["--seconds", "0.01"],
    "browser.py": ["--site", "docs/theme"],  # in which no lab runs
    "checks.py": ["00_trace"],
    "compile.py": ["--rounds", "1", "--only", "2^12"],
    "dispatch.py": ["--calls", "10", "--rounds", "1"],
    "early_warning.py": [],
    "exam.py": ["01a", "--students", "1"],
    "first_attempt.py": ["bench/first_attempt/assistant", "--labs", "01b"],
    "gpt.py": ["--rounds", "1", "--eager"],
    "gpu.py": ["--cpu", "--only", "6", "--out"],  # and a folder
    "gradients.py": ["--count", "1", "add"],
    "grading.py": ["--size", "1", "--rounds", "1"],
    "hub.py": ["--students", "1"],
    "marking.py": ["01a_views", "--out"],  # and a page
    "memory.py": ["--sizes", "1"],
    "parity.py": ["--count", "1", "add"],
    "programs.py": ["--count", "3"],
    "pytorch_tests.py": ["tests/rushlight/course/pytorch", "small.py"],
    "quantized.py": ["--rounds", "2"],
    "scaling.py": ["--seconds", "0.01"],
    "scripts.py": ["--steps", "2", "--rounds", "1", "mlp"],
    "search.py": ["--site", "docs/theme"],  # in which there is none
    "site.py": ["--site", "docs/theme", "404.html"],  # which has no page of its own
    "step.py": ["--rounds", "2"],
    "strangers.py": ["tests/rushlight/course/strangers"],
    "versions.py": ["01a_views"],
    "wanted.py": ["tests/rushlight/course/strangers"],
    "weight.py": [],
    "worst.py": ["--size", "1", "--scale", "0.02"],
}


def test_every_script_is_tried_and_has_its_question():
    scripts = sorted(path.name for path in BENCH.glob("*.py"))
    named = re.findall(r"^\| `(\w+\.py)` \|", (BENCH / "README.md").read_text(encoding="utf-8"), re.M)
    assert sorted(SMALLEST) == sorted([*named, "gpu.py"]) == scripts


@pytest.mark.parametrize("script", sweep(list(SMALLEST), keep=["dispatch.py"]))
def test_it_runs_to_its_end(script, tmp_path):
    more = [tmp_path / "recorded"] if SMALLEST[script][-1:] == ["--out"] else []
    run = subprocess.run([sys.executable, BENCH / script, *SMALLEST[script], *more], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    assert run.stdout
