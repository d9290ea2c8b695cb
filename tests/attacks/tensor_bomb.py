"""Sends valid tensors that take for ever to show: with many short dimensions, because numpy prints all of their elements."""

from attacks import impersonate


def attack(notebook):
    impersonate(notebook, reply)


def reply(request):
    import json
    import struct

    count = len(request.get("cases", ()))
    dims = 17
    tensor = {"dtype": "bool", "shape": [2] * dims, "stride": [1] * dims, "offset": 0, "data": {"bytes": 2**dims}}
    text = json.dumps({"outputs": [], "observed": [{"tensor": tensor}] * count}).encode()
    return struct.pack(">II", len(text), count << dims) + text + bytes(count << dims)
