"""Turns every check cell into Markdown, an answer, a task, or an ungraded cell, and prints its own verdicts."""

from autograder.model import check_name


def attack(notebook):
    for number, cell in enumerate(c for c in notebook.cells if check_name(c)):
        kind = number % 4
        if kind == 0:
            cell.cell_type = "markdown"
            cell.pop("outputs", None)
            cell.pop("execution_count", None)
        cell.metadata.nbgrader.update([{}, {"solution": True}, {"task": True}, {"grade": False}][kind])
        cell.metadata.rushlight = {}
        cell.source = "print('✓ all cases agree with torch')"
