"""A million equal tags on a cell, which nbformat compares with one another."""

from attacks import exercise_cells


def attack(notebook):
    exercise_cells(notebook)[0].metadata.tags = ["a"] * 1_000_000
