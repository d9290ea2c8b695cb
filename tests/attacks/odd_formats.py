"""Claims formats that nbformat trips over in ways of its own."""

import json


def attack(notebook):
    plain = json.loads(json.dumps(notebook))
    plain["nbformat_minor"] = "x"
    return json.dumps(plain)
