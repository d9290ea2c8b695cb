"""Adds five thousand cells. The grader must run, show and render each of them."""

import nbformat


def attack(notebook):
    notebook.cells += [nbformat.v4.new_code_cell(f"print({n})", id=f"cell-{n}") for n in range(5000)]
