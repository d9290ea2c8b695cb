"""Adds five thousand cells, every one of which must be run, shown and rendered."""

import nbformat


def attack(notebook):
    notebook.cells += [nbformat.v4.new_code_cell(f"print({n})", id=f"cell-{n}") for n in range(5000)]
