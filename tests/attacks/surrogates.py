"""Puts lone surrogates, NULs and control characters into sources, ids, outputs and errors."""

from attacks import exercise_cells, put


def attack(notebook):
    odd = "\ud800 \udfff \x00 \x1b]0;title\x07 \x9b31m \u202e"
    put(notebook, f"# {odd}\nprint({odd!r})\nraise ValueError({odd!r})")
    for cell in exercise_cells(notebook)[::2]:
        cell.source += f"\n# {odd}"
    notebook.cells[0].source += odd
    notebook.metadata.odd = odd
