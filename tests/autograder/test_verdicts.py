"""Verdicts for other programs: `rushlight check --json`, and GitHub Classroom's autograding."""

import io
import json
import subprocess
import sys
from base64 import b64decode

import nbformat
import pytest
import yaml

from autograder import cli
from autograder.classroom import github
from autograder.classroom.release import release
from autograder.engine.check import DISAGREED, Verdict
from autograder.model import Course, Lab

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
        cli.out.print("a remark")
        return verdicts

    def printed():
        monkeypatch.setattr(cli, "_run", run)
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
    assert (code, found["passed"], found["points"], found["maximum"]) == (1, False, 2, 28)
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


def total(result):
    """Return the points that GitHub Classroom reads from a result: `src/notify-classroom.js` of the reporter."""
    result = json.loads(b64decode(result))
    return sum(test["score"] for test in result["tests"]), result["max_score"]


def test_github_classroom_gets_the_points_of_the_checks_that_passed(printed):
    assert total(github.result(Lab(LAB), printed()[1])) == (2, 28)
    assert json.loads(b64decode(github.result(Lab(LAB), printed()[1])))["status"] == "fail"


def test_a_student_who_has_pushed_no_notebook_has_no_points(printed):
    assert total(github.result(Lab(LAB), "")) == (0, 28)


def test_every_step_of_the_workflow_is_reported_under_the_name_that_the_reporter_looks_for():
    labs = [LAB, "04a_history"]
    (job,) = yaml.safe_load(github.workflow([*map(Lab, labs)]))["jobs"].values()
    *_, reporter = job["steps"]
    ids = [step["id"] for step in job["steps"] if "id" in step]
    assert reporter["with"]["runners"].split(",") == ids == ["lab-01a", "lab-04a"]
    expected = {f"{name.upper()}_RESULTS": f"${{{{ steps.{name}.outputs.result }}}}" for name in ids}
    assert reporter["env"] == expected


def test_a_class_repository_for_github_classroom_has_the_workflow_and_lets_students_push_their_work(
    tmp_path, monkeypatch
):
    monkeypatch.setenv("RUSHLIGHT_CLASSROOM", str(tmp_path / "classroom"))
    course = release(Course(), [Lab(LAB)], tmp_path / "course", github=True)
    assert (course / ".github" / "workflows" / "classroom.yml").read_text() == github.workflow([Lab(LAB)])
    ignored = (course / ".gitignore").read_text().splitlines()
    assert "work/" not in ignored and "/classroom/" in ignored
