"""Adds check cells of its own worth a hundred points each, and gives the real ones more."""

import nbformat

from attacks import put
from autograder.model import check_name


def attack(notebook):
    for cell in notebook.cells:
        if check_name(cell):
            cell.metadata.nbgrader.points = 1000
            cell.source = "100.0"
    for number in range(10):
        cell = put(notebook, "100.0", nbformat.v4.new_code_cell)
        given = {"grade": True, "solution": False, "locked": True, "points": 100, "schema_version": 3, "task": False}
        cell.metadata.nbgrader = given | {"grade_id": f"mine-{number}"}
        cell.outputs = [nbformat.v4.new_output("execute_result", {"text/plain": "100.0"}, execution_count=1)]
