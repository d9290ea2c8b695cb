"""Gives cells types that do not exist, sources that are no text, and answers in raw cells."""

from attacks import exercise_cells


def attack(notebook):
    kinds = ["raw", "markdown", "code", "heading"]
    for number, cell in enumerate(exercise_cells(notebook)):
        cell.cell_type = kinds[number % 4]
        cell.source = [["a", "b"], None, 7, {"x": 1}, "ok", [1, None]][number % 6]
        cell.outputs = [None, 7, {}]
        cell.execution_count = "first"
