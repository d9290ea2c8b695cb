"""Adds cells that lack everything but a type."""

import json


def attack(notebook):
    plain = json.loads(json.dumps(notebook))
    plain["cells"] += [{"cell_type": "nope"}] * 50 + [{}]
    return json.dumps(plain)
