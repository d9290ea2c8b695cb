"""Marks its own cells as checks, as exercises and as skipped ones by the metadata that the builder writes."""

from attacks import exercise_cells, put
from autograder.model import check_name


def attack(notebook):
    names = [check_name(cell) for cell in notebook.cells if check_name(cell)]
    for name in names:
        put(notebook, "print(1)").metadata.rushlight = {"check": "together.chain_of_views", "exercise": name}
        put(notebook, "print(1)").metadata = {"rushlight": {"check": name}, "tags": ["torch"]}
    for cell, name in zip(exercise_cells(notebook), reversed(names)):
        cell.metadata.rushlight = {"exercise": name, "check": name}
