"""A notebook in which cells, metadata and ids are null, numbers or lists."""

import json


def attack(notebook):
    plain = json.loads(json.dumps(notebook))
    plain["cells"][5:8] = [None, 7, "text"]
    plain["cells"][9]["metadata"] = None
    plain["metadata"] = []
    plain["nbformat_minor"] = None
    return json.dumps(plain)
