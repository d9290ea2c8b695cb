"""The cells of a student's notebook: what stands in them, and what of it has run in this kernel.

JupyterLab says what stands in them before it runs one (`autograder/jupyter/labextensions/rushlight`). So `check` gives no verdict
on code that the student does not see any more, and an error about a missing name says which cell makes it. Other programs than
JupyterLab say nothing: there this module only knows which cells failed.
"""

from __future__ import annotations

import ast
import json
import os
import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from ..language import phrase, speak, speaking

if TYPE_CHECKING:
    from IPython.core.interactiveshell import ExecutionInfo, ExecutionResult, InteractiveShell

MACHINERY = f"{Path(__file__).parents[1]}{os.sep}"  # files whose lines no student wrote
_EXERCISE = re.compile(r"^@exercise\(([\w.]+)\)\s*\n(?:@.*\n)*def (\w+)", re.MULTILINE)


@dataclass
class Run:
    """The last run of a cell that defines an exercise, or did when it ran before."""

    cell: str | None  # its id
    source: str
    before: Callable | None  # the function that ran in the exercise's place until then
    error: str = ""  # in a line, if the cell raised one


_running: str | None = None  # the id of the cell that runs
_runs: dict[str, Run] = {}  # by exercise
_have_run: set[str | None] = set()  # the ids of cells
_cells: dict[str, str] = {}  # what stands in them, by id, in the notebook's order
_language = ""  # of the notebook


def see(told: str) -> None:
    """Take in what JupyterLab says of the notebook: the cell that it is about to run, and what stands in all of them."""
    global _running, _cells, _language
    from IPython import get_ipython

    seen = json.loads(told)
    _running, _cells, _language = seen["running"], dict(seen["cells"]), seen["language"]
    install(get_ipython())


def install(shell: InteractiveShell) -> None:
    """Watch the cells that run. A second call changes nothing."""
    if _begin not in shell.events.callbacks["pre_run_cell"]:
        shell.events.register("pre_run_cell", _begin)
        shell.events.register("post_run_cell", _end)
        if not shell.custom_exceptions:
            shell.set_custom_exc((NameError,), _show_error)


def uncommented(source: str) -> str:
    """The code of a cell without its comments and docstrings. That of a magic is its text."""
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return source.strip()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and ast.get_docstring(node) is not None:
            node.body[0] = ast.Expr(ast.Constant(""))
    return ast.unparse(tree)


# What has run --------------------------------------------------------------------------------------------------------


def _begin(info: ExecutionInfo) -> None:
    global _running
    _running = info.cell_id or _running  # a magic runs a cell without an id
    for exercise in {*exercises_in(info.raw_cell), *_defined_before(info)}:
        _runs[exercise] = Run(_running, info.raw_cell, _function(exercise))


def _end(result: ExecutionResult) -> None:
    error = result.error_before_exec or result.error_in_exec
    if error is None:
        _have_run.add(result.info.cell_id)
    else:
        for run in _runs.values():
            if run.source == result.info.raw_cell:
                run.error = _in_a_line(error)


def _defined_before(info: ExecutionInfo) -> list[str]:
    """The exercises that this cell defined when it ran before. A program that gives cells no ids is asked for their names."""
    return [
        exercise
        for exercise, run in _runs.items()
        if run.cell == _running and (info.cell_id or _defines(info.raw_cell, exercise))
    ]


def _defines(source: str, exercise: str) -> bool:
    """Whether a cell defines a function or class of an exercise's name, with or without the exercise's line."""
    return bool(re.search(rf"^(?:def|class) {exercise.rpartition('.')[2]}\b", source, re.MULTILINE))


def exercises_in(source: str) -> list[str]:
    """The exercises that a cell defines, also where it is no Python. Not those of a cell with a magic, which runs another one."""
    if source.startswith("%%") or "@exercise" not in source:
        return []
    from rushlight.course.short_names import long_form

    names = (".".join(match.groups()) for match in _EXERCISE.finditer(source))
    return [long_form(name.removeprefix("rushlight.").removeprefix("rl.")) for name in names]


def _function(exercise: str) -> Callable | None:
    """The function of the student that runs in the place of an exercise now."""
    from ..engine.check import function_of

    try:
        return getattr(function_of(exercise), "__wrapped__", None)
    except (LookupError, ImportError):  # a student's own decorator
        return None


def _in_a_line(error: BaseException) -> str:
    if isinstance(error, SyntaxError):
        return f"{type(error).__name__}: {error.msg} ({speak('line {number}', number=error.lineno)})"
    return f"{type(error).__name__}: {error}".partition("\n")[0]


def why_not_run(exercise: str) -> str:
    """Why the function that runs in the place of an exercise is not the one that stands in its cell, or nothing."""
    run = _runs.get(exercise)
    shown = {cell: source for cell, source in _cells.items() if exercise in exercises_in(source)}
    now = _cells.get(run.cell or "", "").strip() if run else ""
    if run and now and not now.startswith("%%") and uncommented(now) != uncommented(run.source):  # a magic runs another
        return phrase("its cell has changed since you ran it. Run the cell, and then this check")
    if run and run.error and _function(exercise) is run.before:
        return phrase(f"its cell ended with an error: {run.error}. Run it again without one, and then this check")
    if run and exercise not in exercises_in(run.source) and not run.source.startswith("%%"):
        return phrase(
            "its cell ran without the line `@exercise`, so your function from before still runs here."
            " Put the line back above the function, run the cell, and then this check"
        )
    if (
        not run
        and not _function(exercise)
        and any("raise NotImplementedError" not in source for source in shown.values())
    ):
        return phrase("its cell has not run in this kernel. Run it and the cells above, and then this check")
    return ""


# A missing name ------------------------------------------------------------------------------------------------------


def _show_error(
    shell: InteractiveShell, kind: type, error: NameError, where: TracebackType, tb_offset: int | None
) -> None:
    """Show an error, up to the student's last line. If a cell above makes the name and has not run, a line says so."""
    if _is_made_above(error.name):
        with speaking(_language):
            error.add_note(
                speak(
                    "{name} is made in a cell above that has not run in this kernel. After a restart none has: in the menu Run,"
                    " choose Run All Above Selected Cell",
                    name=error.name,
                )
            )
    end_with_student(where)
    shell.showtraceback((kind, error, where), tb_offset=tb_offset, running_compiled_code=True)


def end_with_student(where: TracebackType) -> None:
    """Cut a traceback after its last frame that is not of the course's machinery."""
    last, step = where, where.tb_next
    while step is not None:
        last = last if step.tb_frame.f_code.co_filename.startswith(MACHINERY) else step
        step = step.tb_next
    last.tb_next = None


def _is_made_above(name: str | None) -> bool:
    """Whether a cell above the one that runs makes a name, and no such cell has run."""
    from ..engine.check import global_names

    makers = []
    for cell, source in _cells.items():
        if cell == _running:
            break
        with suppress(SyntaxError):
            makers += [cell] if name in global_names(source)[0] else []
    return bool(makers) and _have_run.isdisjoint(makers)
