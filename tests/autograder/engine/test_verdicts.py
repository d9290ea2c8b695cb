"""Verdicts for other programs: `rushlight check --json`, and the workflow that runs it."""

import io
import json
import re
import subprocess
import sys

import nbformat
import pytest
import yaml
from first_lab import POINTS

from autograder import cli
from autograder.cli import students
from autograder.course import ROOT
from autograder.engine.verdict import DISAGREED, Verdict

LAB = "01a_views"
RIGHT, WRONG = "aten.strided.element_offset", "aten.strided.contiguous_strides"


@pytest.fixture
def printed(released, tmp_path, monkeypatch):
    """`printed()` is the exit code of `rushlight check 01a --json` on a notebook with one right and one wrong answer, and what it
    prints on standard output."""
    nbformat.write(released, tmp_path / "mine.ipynb")
    verdicts = {
        RIGHT: Verdict(RIGHT, "passed", cases=9, agreed=9),
        WRONG: Verdict(WRONG, DISAGREED, cases=9, agreed=8, case={"sizes": [1, 0]}, message="[0]: yours 0, torch's 1"),
    }

    def run(name, path, isolated, progress):
        progress(0, 2, "a bar")
        students.out.print("a remark")
        return verdicts

    def printed():
        monkeypatch.setattr(students, "_run", run)
        monkeypatch.setattr(sys, "stdout", io.StringIO())
        monkeypatch.setattr(sys, "stderr", io.StringIO())
        code = cli.app.main(
            ["check", "01a", "--notebook", str(tmp_path / "mine.ipynb"), "--json"], standalone_mode=False
        )
        assert "a remark" in sys.stderr.getvalue()
        return code, sys.stdout.getvalue()

    return printed


def test_json_has_each_verdict_and_its_points_and_nothing_else_is_printed(printed):
    code, text = printed()
    found = json.loads(text)
    assert (code, found["passed"], found["points"], found["maximum"]) == (1, False, 2, POINTS)
    assert found["made_from"]["lab"] == found["lab"] == LAB
    right, wrong = found["checks"]
    assert (right["passed"], right["points"], right["case"]) == (True, 2, None)
    assert (wrong["passed"], wrong["points"], wrong["maximum"], wrong["outcome"]) == (False, 0, 2, "disagreed")
    assert "sizes = [1, 0]" in wrong["case"] and "yours 0" in wrong["message"]
    assert [(each["exercise"], each["passed"]) for each in found["exercises"]] == [(RIGHT, True), (WRONG, False)]


def test_a_lab_that_is_not_there_prints_one_line_on_standard_error_only(tmp_path):
    arguments = ["check", "01a", "--json", "--notebook", str(tmp_path / "none.ipynb")]
    done = subprocess.run([sys.executable, "-m", "autograder.cli", *arguments], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1)


def test_the_workflow_of_the_page_names_an_action_an_index_and_a_command_that_the_course_uses():
    (text,) = re.findall(r"^```yaml\n(.*?)^```", (ROOT / "docs/releasing.md").read_text(encoding="utf-8"), re.M | re.S)
    tests = (ROOT / ".github/workflows/tests.yml").read_text()
    (job,) = yaml.safe_load(text)["jobs"].values()
    actions, runs = ([step[key] for step in job["steps"] if key in step] for key in ("uses", "run"))
    assert actions and all(f"uses: {action}\n" in tests for action in actions)
    assert re.search(r"--extra-index-url (\S+)", runs[0])[1] in tests
    command, *options = runs[1].removeprefix("rushlight ").split()
    assert cli.app.commands[command].make_context(command, options).params["as_json"]
