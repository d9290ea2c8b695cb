"""GitHub Classroom's autograding: the verdicts of `rushlight check --json`, as its reporter reads them.

    rushlight check 01a --json | python -m autograder.classroom.github 01a >> "$GITHUB_OUTPUT"

The action `classroom-resources/autograding-grading-reporter` adds up the points of such results. `workflow` is the file that runs
all this after each push of a student. The student's own repository contains it, so a student can change it.
"""

from __future__ import annotations

import json
import sys
from base64 import b64encode

from ..model import Course, Lab

_HEAD = """\
# Runs the checks after each push and reports the points to GitHub Classroom. They are feedback: grades come from `rushlight grade`.
name: Autograding Tests
on: [push, workflow_dispatch]
permissions:
  checks: write
  actions: read
  contents: read
jobs:
  run-autograding-tests:
    runs-on: ubuntu-latest
    if: github.actor != 'github-classroom[bot]'
    steps:
      - uses: actions/checkout@v4
      - uses: actions/setup-python@v5
        with:
          python-version: "3.12"
          cache: pip
          cache-dependency-path: constraints.txt
      - run: pip install --extra-index-url https://download.pytorch.org/whl/cpu --constraint constraints.txt --editable .
"""

_LAB = """\
      - id: lab-NUMBER
        if: always()
        run: rushlight check NUMBER --json --no-sandbox | python -m autograder.classroom.github NUMBER >> "$GITHUB_OUTPUT"
"""

_REPORTER = """\
      - uses: classroom-resources/autograding-grading-reporter@v1
        if: always()
        env:
RESULTS
        with:
          runners: RUNNERS
"""


def workflow(labs: list[Lab]) -> str:
    """The text of `.github/workflows/classroom.yml` for these labs."""
    numbers = [lab.number for lab in labs]
    results = "\n".join(
        f'          LAB-{n.upper()}_RESULTS: "${{{{ steps.lab-{n}.outputs.result }}}}"' for n in numbers
    )
    reporter = _REPORTER.replace("RESULTS", results).replace("RUNNERS", ",".join(f"lab-{n}" for n in numbers))
    return _HEAD + "".join(_LAB.replace("NUMBER", number) for number in numbers) + reporter


def result(lab: Lab, verdicts: str) -> str:
    """The reporter's result for a lab: a test for each check with points. `verdicts` is empty if there is no copy of the lab."""
    worth = lab.points
    entries = {entry["check"]: entry for entry in json.loads(verdicts)["checks"]} if verdicts.strip() else {}
    tests = []
    for check in worth:
        passed = check in entries and entries[check]["passed"]
        tests.append(
            {
                "name": check,
                "status": "pass" if passed else "fail",
                "score": worth[check] if passed else 0,
                "message": entries[check]["text"]
                if check in entries
                else f"there is no work/{lab}/{lab}.ipynb that can be read",
                "test_code": "",
                "filename": "",
                "line_no": 0,
                "duration": 0,
            }
        )
    status = "pass" if all(test["status"] == "pass" for test in tests) else "fail"
    whole = {"version": 1, "status": status, "max_score": sum(worth.values()), "tests": tests}
    return b64encode(json.dumps(whole).encode()).decode()


if __name__ == "__main__":
    verdicts = sys.stdin.read()
    for entry in json.loads(verdicts)["checks"] if verdicts.strip() else []:
        print(entry["text"], file=sys.stderr)  # for the student, in the log
    print(f"result={result(Course().find_released(sys.argv[1]), verdicts)}")
