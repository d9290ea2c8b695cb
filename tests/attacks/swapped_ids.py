"""Exchanges, repeats and forges cell ids and grade ids, so that a check stands where an answer was and the reverse."""

import copy

from attacks import exercise_cells
from autograder.model import check_name


def attack(notebook):
    checks = [cell for cell in notebook.cells if check_name(cell)]
    answers = exercise_cells(notebook)
    for check, answer in zip(checks, answers):
        check.id, answer.id = answer.id, check.id
        check.metadata.nbgrader.grade_id, answer.metadata.nbgrader.grade_id = answer.id, check.id
    notebook.cells += copy.deepcopy(checks + answers) * 2
    for cell in notebook.cells[::3]:
        cell.id = notebook.cells[0].id
