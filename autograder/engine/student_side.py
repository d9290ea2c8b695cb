"""The student's half of the examination of a check: it runs in the process that has the framework with one body, or torch."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial
from itertools import islice
from typing import Any

import numpy as np

import rushlight

from .observe import error_tree, observe, observe_call
from .patient_side import PatientSide, Public, send_printed


def report_cases(make_check: Callable, most: int, with_torch: bool) -> None:
    """Print the `cases` of a student's check, at most so many, and the `results` of its program on them: a line that `read_report`
    reads. `make_check()` returns the program and its cases. If it raises an error, `cases` is that error."""
    side: Any = PatientSide()
    side.xp = Public(rushlight)
    if with_torch:
        import torch

        from .torch_side import TorchSide

        side = TorchSide(Public(torch))
    try:
        program, cases = make_check()
        cases = [dict(case) for case in islice(cases, most)]
    except Exception as error:
        send_printed({"result": error_tree(error), "cases": None})
        return
    seen = observe(cases, side)  # before a program changes them
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        results = [observe_call(partial(_on_case, program, case), side, {}) for case in cases]
    send_printed({"result": results, "cases": seen})


def _on_case(program: Callable, case: dict, xp: Any) -> Any:
    return program(xp, **case)
