"""The verdicts on a notebook as data for other programs: what `rushlight check --json` prints.

    {"version": "0.1.0", "lab": "01a_views", "notebook": "work/01a_views/01a_views.ipynb", "made_from": {"release": …},
     "passed": false, "points": 2, "maximum": 28, "written": 2,
     "exercises": [{"exercise": "aten.strided.permute", "passed": false, "points": 0, "maximum": 3}, …],
     "checks": [{"check": "aten.strided.permute", "exercise": "aten.strided.permute", "outcome": "disagreed", "passed": false,
                 "points": 0, "maximum": 3, "case": "sizes = [2, 0], …", "message": …, "text": …}, …]}

`case` is the smallest case that does not agree, and `text` is what the command prints about the check without `--json`.
"""

from __future__ import annotations

from pathlib import Path

import rushlight

from ..engine.check import exercise_of, is_milestone
from ..engine.verdict import Verdict, describe
from ..model import Lab, read_notebook
from .restore import StudentNotebook


def as_data(lab: Lab, notebook: Path, verdicts: dict[str, Verdict]) -> dict:
    worth = lab.points
    checks = [_check(verdict, worth.get(name, 0)) for name, verdict in verdicts.items()]
    exercises: dict[str, dict] = {}
    for check in checks:
        if check["exercise"]:
            whole = exercises.setdefault(
                check["exercise"], {"exercise": check["exercise"], "passed": True, "points": 0, "maximum": 0}
            )
            whole["passed"] &= check["passed"]
            whole["points"] += check["points"]
            whole["maximum"] += check["maximum"]
    return {
        "version": rushlight.__version__,
        "lab": lab.name,
        "notebook": str(notebook),
        "made_from": StudentNotebook(lab, read_notebook(notebook)).claimed,
        "passed": all(check["passed"] for check in checks),
        "points": sum(check["points"] for check in checks),
        "maximum": sum(worth.values()),
        "written": lab.written_points,
        "exercises": [*exercises.values()],
        "checks": checks,
    }


def _check(verdict: Verdict, worth: float) -> dict:
    case = None if verdict.case is None else verdict.listing or describe(verdict.case)
    return {
        "check": verdict.check,
        "exercise": None if is_milestone(verdict.check) else exercise_of(verdict.check),
        "outcome": verdict.outcome,
        "passed": verdict.passed,
        "points": worth if verdict.passed else 0,
        "maximum": worth,
        "cases": verdict.cases,
        "agreed": verdict.agreed,
        "case": case,
        "message": verdict.message,
        "text": str(verdict),
    }
