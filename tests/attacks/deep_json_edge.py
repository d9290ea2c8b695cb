"""Nests metadata just as deep as one process can read and another, with a few more frames on its stack, cannot."""

import json

STUDENTS = [f"deep_{depth}" for depth in (300, 322)]
_depths = iter((300, 322))


def attack(notebook):
    notebook.metadata.deep = "DEEP"
    depth = next(_depths)
    return json.dumps(notebook).replace('"DEEP"', '{"a":' * depth + "1" + "}" * depth)
