"""The ten predictions: what the page says that torch prints is what torch prints."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = (Path(__file__).resolve().parents[2] / "docs/placement.md").read_text(encoding="utf-8")
PREDICTIONS = dict(re.findall(r"^```python\n(.*?)^```.*?^```text\n(.*?)^```", PAGE, re.M | re.S))


def test_there_are_ten():
    assert len(PREDICTIONS) == 10 == PAGE.count("\n## ")


def test_a_phone_shows_each_line_in_one():
    assert not [
        line for program in PREDICTIONS for line in program.splitlines() if len(line) > 41
    ]  # beside the button *Copy*


@pytest.fixture(scope="module")
def printed():
    """What each program prints, run one after the other in one process of real torch."""
    run = "import sys\nfor program in sys.stdin.read().split('\\0'):\n    exec(program, {})\n    print('\\0', end='')"
    ended = subprocess.run([sys.executable, "-c", run], input="\0".join(PREDICTIONS), capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout.split("\0")[:-1]


@pytest.mark.sweep
@pytest.mark.parametrize("number", range(10))
def test_torch_prints_the_answer(number, printed):
    assert printed[number] == [*PREDICTIONS.values()][number]
