"""Leaves out the number of the format, on which nbformat stumbles over a variable of its own."""

import json


def attack(notebook):
    plain = json.loads(json.dumps(notebook))
    del plain["nbformat"]
    return json.dumps(plain)
