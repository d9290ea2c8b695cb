"""The student's half of the examination of a check: it runs in the process that has the framework with one body, or torch."""

from __future__ import annotations

import contextlib
import io
import re
import traceback
import warnings
from collections.abc import Callable
from functools import partial
from itertools import islice
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import rushlight

from .check import function_of
from .exercise import unplug
from .observe import error_tree, observe, observe_call
from .patient_side import PatientSide, Public, program_runs, send_printed


def _side(with_torch: bool) -> Any:
    """The side of `observe` that has the framework, or torch, as `xp`."""
    if with_torch:
        import torch

        from .torch_side import TorchSide

        return TorchSide(Public(torch))
    side: Any = PatientSide()
    side.xp = Public(rushlight)
    return side


def report_cases(make: Callable, most: int, with_torch: bool) -> None:
    """Print the `cases` of a student's check and the `results` of its program on them: a line that `read_report` reads. `make()`
    returns the program and its cases. If it raises an error, or there are more cases than `most`, `cases` is that error."""
    side = _side(with_torch)
    try:
        with program_runs(not with_torch):
            program, cases = make()
            cases = [dict(case) for case in islice(cases, most + 1)]
        if len(cases) > most:
            raise ValueError(f"there are more than {most} cases")
    except Exception as error:
        send_printed({"result": error_tree(error), "cases": None})
        return
    seen = observe(cases, side)  # before a program changes them
    with program_runs(not with_torch):
        results = [observe_call(partial(_on_case, program, case), side, {}) for case in cases]
    send_printed({"result": results, "cases": seen})


def _on_case(program: Callable, case: dict, xp: Any) -> Any:
    return program(xp, **case)


def report_property(make: Callable, examples: int, with_torch: bool, shrink: bool = False) -> None:
    """Run the test of Hypothesis that `make(xp, given, st)` returns, on so many examples, which are the same each time. Print how
    it fails: the error with the example, in its smallest form if wanted, and the line of the student's text."""
    import hypothesis
    from hypothesis import strategies
    from hypothesis.internal.conjecture import providers

    providers._get_local_constants = providers.Constants  # else it draws constants of the modules that are imported
    public = SimpleNamespace(**{name: getattr(strategies, name) for name in strategies.__all__})
    settings = hypothesis.settings(
        max_examples=examples, database=None, deadline=None, print_blob=False, report_multiple_bugs=False,
        suppress_health_check=list(hypothesis.HealthCheck),
        phases=[hypothesis.Phase.generate, *[hypothesis.Phase.shrink] * shrink],
    )  # fmt: skip
    try:
        with program_runs(not with_torch):
            test = make(_side(with_torch).xp, hypothesis.given, public)
            if not hypothesis.is_hypothesis_test(test):
                raise TypeError("it returns no function that is decorated with given")
            settings(hypothesis.seed(0)(test))()
    except Exception as error:
        example = " ".join(" ".join(getattr(error, "__notes__", [])).split())
        told = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        send_printed({"result": f"{told}; {example}" if example else told, "cases": None, "line": _line(error, make)})
        return
    send_printed({"result": [], "cases": True})


def _line(error: Exception, make: Callable) -> int:
    """The last line of the student's text in the traceback of an error, or 0."""
    line, at = 0, error.__traceback__
    while at is not None:
        if at.tb_frame.f_code.co_filename == make.__code__.co_filename:
            line = at.tb_lineno
        at = at.tb_next
    return line


def report_dumps(programs: Callable, most: int | None, planted: str) -> None:
    """Print what rushlight's Inductor writes for these programs, or for the first ones: the kernels, and the call. Then put back
    the function that is `planted`."""
    from rushlight.inductor import graph, memory, scheduler, wrapper

    texts = {}
    for name, (function, inputs) in islice(programs(rushlight).items(), most):
        program = scheduler.schedule(graph.lower(rushlight.aot.make_fx(function)(*inputs)))
        cpp, python = wrapper.generate(program, memory.plan(program))
        texts[name] = f"{cpp}\n{python.text()}"
    send_printed({"result": observe(texts, _side(False)), "cases": True})
    if planted:
        unplug(function_of(planted))


def report_refusals(make: Callable, dumps: list[str]) -> None:
    """Print the error of the test that `make(FileCheck)` returns, in a line, for each dump, or an empty text if there is none."""
    from torch.testing import FileCheck

    try:
        test, words = make(FileCheck), []
        if not isinstance(test, FileCheck):
            raise TypeError(f"it returns no FileCheck, but {type(test).__name__}")
        for dump in dumps:
            try:
                test.run(dump)
                words.append("")
            except RuntimeError as error:
                words.append(f"{error}".partition("\n")[0])
    except Exception as error:
        return send_printed({"result": error_tree(error), "cases": None})
    send_printed({"result": words, "cases": True})


def report_failure(script: str, name: str, nonce: str) -> None:
    """Print the nonce, and if a program that knows torch by this name fails: the exception's type, the first line of its message,
    the file and the name of the function that raises it, and the node of the graph that anomaly mode names."""
    import torch

    torch.manual_seed(0)
    failure: list[str] = []
    with warnings.catch_warnings(record=True) as caught, contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("always")
        try:
            with torch.autograd.set_detect_anomaly(True, check_nan=False):
                exec(compile(script, "<program>", "exec"), {"__name__": "program", name: Public(torch)})
        except Exception as error:
            frame = traceback.extract_tb(error.__traceback__)[-1]
            file, root = Path(frame.filename), Path(torch.__file__).parents[1]
            place = file.relative_to(root).as_posix() if file.is_relative_to(root) else "the program"
            nodes = re.findall(r"Error detected in (\w+)\.", "\n".join(str(each.message) for each in caught))
            failure = [
                type(error).__name__,
                f"{error}".partition("\n")[0],
                f"{place}, {frame.name}",
                "".join(nodes[-1:]),
            ]
    send_printed({"result": [nonce, *failure], "cases": None})
