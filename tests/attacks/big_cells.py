"""Cells just large enough to be read, in Markdown on which renderers and highlighters are slow."""

import nbformat

from attacks import exercise_cells, put


def attack(notebook):
    for text in ("\\begin{a}", "\\\\[", "[a](", "*a _b ", "`a``b", "|a", "> "):
        put(notebook, text * (49_000 // len(text)), nbformat.v4.new_markdown_cell)
    exercise_cells(notebook)[0].source = "(" * 200_000
    exercise_cells(notebook)[1].source = "x = " + "-" * 49_000 + "1"
