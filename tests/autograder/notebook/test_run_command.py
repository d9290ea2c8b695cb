"""`rushlight run`: a program for PyTorch on rushlight. Who answers it, and does it print the same?"""

import os
import re
import subprocess
import sys
from types import SimpleNamespace

import pytest
from test_use import STRIDES, STUB, work  # noqa: F401 - a fixture

from autograder.notebook import run_command
from autograder.notebook.run_command import difference

PROGRAM = """
import sys, torch, torch.onnx
from torch import nn
torch.manual_seed(0)
model = nn.Linear(2, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(3):
    torch.relu(model(torch.ones(2))).sum().backward()
    optimizer.step()
print(sys.argv[1:], model.weight)
hasattr(torch.onnx, "export"), hasattr(torch.ones(1), "to_mkldnn"), hasattr(torch, "nothing")
"""


@pytest.fixture
def run(tmp_path):
    (tmp_path / "one.py").write_text(PROGRAM)

    def run(*words, code=0):
        command = [sys.executable, "-m", "autograder.cli", "run", *words]
        environment = os.environ | {"OMP_NUM_THREADS": "1"}
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, env=environment)
        assert done.returncode == code, done.stdout + done.stderr
        return done

    return run


def test_a_program_runs_on_a_students_pieces_and_says_at_its_end_who_answered(run, work):  # noqa: F811
    work(STUB, STRIDES)
    done = run("--mine", "work/", "--answers", "one.py", "--mine", "x")
    assert done.stdout.startswith("['--mine', 'x'] Parameter containing:")
    counts = {name: count for count, name in re.findall(r"^ +([\d,]+)  (\S+)$", done.stderr, re.M)}
    assert int(counts["strided.contiguous_strides"].replace(",", "")) > 10
    assert counts["torch.nn.Linear"] == "1" and counts["torch.relu"] == counts["torch.optim.SGD.step"] == "3"
    assert counts["torch.nn.Linear.__call__"] == counts["torch.Tensor.sum"] == counts["torch.Tensor.backward"] == "3"
    assert done.stderr.endswith(
        "not there: 2 names\n"
        "         1  torch.onnx.export, first in one.py, line 11\n"
        "         1  torch.Tensor.to_mkldnn, first in one.py, line 11\n"
    )


def test_a_missing_name_that_ends_a_program_is_placed_in_it(run, tmp_path):
    (tmp_path / "two.py").write_text("import torch.onnx\ntorch.onnx.export()\n")
    done = run("--answers", "two.py", code=1)
    assert done.stderr.startswith("rushlight: two.py, line 2: torch.onnx.export is not in rushlight\n")


@pytest.mark.sweep
def test_a_comparison_names_the_first_line_that_differs(run, tmp_path):
    (tmp_path / "two.py").write_text("import torch\nprint('a')\nprint(torch.__file__.count('rushlight/__init__'))\n")
    seeded = "the random numbers of Python, numpy and torch have seed {} on both"
    assert run("--compare", "one.py").stdout.splitlines() == [seeded.format(0), "3 lines of output are equal"]
    said = run("--compare", "--seed", "7", "two.py", code=1).stdout.splitlines()
    assert said == [seeded.format(7), "the outputs differ, first in line 2:", "  PyTorch:   0", "  rushlight: 1"]


@pytest.mark.sweep
def test_a_comparison_gives_both_the_same_random_numbers(run, tmp_path):
    text = "import random, sys, numpy, torch\nprint(random.random(), numpy.random.rand(2), torch.rand(2), [*{'a', 'b', 'c'}])\n"
    (tmp_path / "drawn.py").write_text(text)
    assert run("--compare", "drawn.py").stdout.endswith("1 line of output is equal\n")
    assert run("--compare", "-m", "drawn").stdout.endswith("1 line of output is equal\n")
    (tmp_path / "drawn.py").write_text(text.replace(", [*{'a', 'b', 'c'}]", ""))  # Python chose the order when it began
    first, again, other = (run(*words, "drawn.py").stdout for words in (["--seed", "3"], ["--seed", "3"], []))
    assert first == again != other


def test_a_comparison_says_where_pytorch_differs_from_itself(monkeypatch):
    def on_both(theirs, ours, simpler):
        outputs = iter([theirs, ours, simpler])
        done = lambda *_, **given: SimpleNamespace(stdout=next(outputs), returncode=0)  # noqa: E731
        monkeypatch.setattr(run_command.subprocess, "run", done)
        return run_command.compare(["x.py"], False, ["rushlight"], 0)[1][1].partition(":")[0]

    assert on_both("1.5\n2.5\n", "1.5\n2.7\n", "1.5\n2.6\n") == "float noise from line 2 on"
    assert on_both("1.5\n2.51\n3\n", "1.5\n2.51\n4\n", "1.5\n2.52\n3\n") == "float noise from line 2 on"
    assert on_both("1.5\n2.5\n3\n", "1.5\n2.7\n3\n", "1.5\n2.5\n4\n") == "the outputs differ, first in line 2"
    assert on_both("1.5\n2.5\n", "1.5\n2.7\n", "1.5\n2.5\n") == "the outputs differ, first in line 2"


def test_two_outputs_differ_in_a_line_or_in_the_last_digit_or_not_at_all():
    assert difference("a\nb\n", "a\nb\n") == ("equal", 2)
    assert difference("a\nb\n", "a\n") == ("differs", 2)
    assert difference("loss 0.123\nb\n", "loss 0.124\nb\n") == ("last digit", 1)
    assert difference("loss 0.123\nstep 3\n", "loss 0.124\nstep 4\n") == ("differs", 2)
    assert difference("loss 0.123\n", "loss 0.125\n") == ("differs", 1)
    assert difference("1.2345e-05", "1.2346e-05") == ("last digit", 1)
    assert difference("0.7534009218215942", "0.7534008026123047") == ("last digit", 1)
    assert difference("0.7534009218215942", "0.7534109218215942") == ("differs", 1)
