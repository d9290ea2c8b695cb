"""Nests the notebook's metadata a hundred thousand deep."""

import json


def attack(notebook):
    notebook.metadata.deep = "DEEP"
    return json.dumps(notebook).replace('"DEEP"', "[" * 100_000 + "]" * 100_000)
