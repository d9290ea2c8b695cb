"""A sample class for lab 01a: one student for each thing that happens, made from the released lab.

Nothing is stored: answers come from the solution notebook, and a function of each student changes them.
"""

from __future__ import annotations

import copy
import hashlib
from collections.abc import Callable
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from ..course import RELEASED, SOURCES
from ..model import RUBRIC, check_name, exercise_name

LAB = "01a_views"


def make(folder: Path) -> list[str]:
    """Write `folder/submitted/STUDENT/01a_views/01a_views.ipynb` for each student and return their names.

    A class that exists already is not changed. Raises FileExistsError if it was made from another state of the lab.
    """
    released = nbformat.read(RELEASED / LAB / f"{LAB}.ipynb", as_version=4)
    solved = nbformat.read(SOURCES / LAB / f"{LAB}.ipynb", as_version=4)
    mark = hashlib.sha256(repr([(c.id, c.source) for c in released.cells + solved.cells]).encode()).hexdigest()
    stamp = folder / "made-from"
    if stamp.exists():
        if stamp.read_text() != mark:
            raise FileExistsError(
                f"{folder} was made from another release of the lab: move it away or delete it, and run this again"
            )
        return list(STUDENTS)
    for student, change in STUDENTS.items():
        path = folder / "submitted" / student / LAB / f"{LAB}.ipynb"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(change(copy.deepcopy(released), answers(solved)), encoding="utf-8")
    stamp.write_text(mark)
    return list(STUDENTS)


def answers(solved: NotebookNode) -> dict[str, str]:
    """The source of every answer cell, by cell id, without the solution marks and the rubric."""
    marks = ("### BEGIN SOLUTION", "### END SOLUTION")
    return {
        cell.id: "\n".join(line for line in cell.source.partition(RUBRIC)[0].splitlines() if line.strip() not in marks)
        for cell in solved.cells
        if cell.metadata.get("nbgrader", {}).get("solution")
    }


def fill(notebook: NotebookNode, answers: dict[str, str], until: float = 1.0) -> list[NotebookNode]:
    """Fill in the first part of the exercises; returns the cells that were filled in."""
    cells = [cell for cell in notebook.cells if cell.id in answers]
    cells = cells[: round(len(cells) * until)]
    for cell in cells:
        cell.source = answers[cell.id]
    return cells


def _cell(notebook: NotebookNode, exercise: str) -> NotebookNode:
    return next(cell for cell in notebook.cells if exercise_name(cell) == exercise)


def all_right(notebook: NotebookNode, answers: dict[str, str]) -> str:
    fill(notebook, answers)
    return nbformat.writes(notebook)


def half_done(notebook: NotebookNode, answers: dict[str, str]) -> str:
    fill(notebook, answers, until=0.5)
    return nbformat.writes(notebook)


def subtly_wrong_strides(notebook: NotebookNode, answers: dict[str, str]) -> str:
    """Right for every tensor that has elements: the strides of an empty one become 0."""
    fill(notebook, answers)
    cell = _cell(notebook, "aten.strided.contiguous_strides")
    cell.source = cell.source.replace("max(size, 1)", "size")
    return nbformat.writes(notebook)


def untouched(notebook: NotebookNode, answers: dict[str, str]) -> str:
    return nbformat.writes(notebook)


def syntax_error(notebook: NotebookNode, answers: dict[str, str]) -> str:
    fill(notebook, answers)
    _cell(notebook, "aten.strided.permute").source += "\n    return alias(self, sizes strides)"
    return nbformat.writes(notebook)


def endless_loop(notebook: NotebookNode, answers: dict[str, str]) -> str:
    fill(notebook, answers)
    cell = _cell(notebook, "aten.strided.element_offset")
    cell.source = cell.source.replace("    for ", "    while index:\n        pass\n    for ", 1)
    return nbformat.writes(notebook)


def meddled_with_checks(notebook: NotebookNode, answers: dict[str, str]) -> str:
    """Half the check cells deleted, the other half made to do nothing, the bodies left empty."""
    checks = [cell for cell in notebook.cells if check_name(cell)]
    for cell in checks[::2]:
        notebook.cells.remove(cell)
    for cell in checks[1::2]:
        cell.source = "pass"
    return nbformat.writes(notebook)


def corrupt_file(notebook: NotebookNode, answers: dict[str, str]) -> str:
    return nbformat.writes(notebook)[:2000]


STUDENTS: dict[str, Callable[[NotebookNode, dict[str, str]], str]] = {
    student.__name__: student
    for student in (
        all_right,
        half_done,
        subtly_wrong_strides,
        untouched,
        syntax_error,
        endless_loop,
        meddled_with_checks,
        corrupt_file,
    )
}
