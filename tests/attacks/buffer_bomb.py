"""Sends one large buffer and refers to it ten thousand times, so that the judge would need terabytes."""

from attacks import impersonate


def attack(notebook):
    impersonate(notebook, reply)


def reply(request):
    import json
    import struct

    size = 15 << 20
    kinds = [{"bytes": [0, size - 1]}, {"bytes": size - 1}, {"bytes": -1}, {"bytes": 1e300}, {"bytes": True}]
    text = json.dumps({"outputs": [], "observed": [kinds[len(request.get("check", "")) % 5]] * 10_000}).encode()
    return struct.pack(">II", len(text), size) + text + bytes(size)
