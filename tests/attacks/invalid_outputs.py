"""Half a million outputs of no kind: to say what is wrong with them takes nbformat minutes and gigabytes."""

import json

from attacks import exercise_cells


def attack(notebook):
    exercise_cells(notebook)[0].outputs = ["HERE"]
    return json.dumps(notebook).replace('"HERE"', ",".join(['{"output_type":"x"}'] * 450_000))
