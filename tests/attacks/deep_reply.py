"""Sends observations nested as deeply as JSON can carry them: past every limit, and just below some."""

from attacks import impersonate


def attack(notebook):
    impersonate(notebook, reply)


def reply(request):
    import struct

    depth = [10, 20, 60, 200, 450, 900, 100_000][len(request.get("check", "")) % 7]
    one = b"[" * depth + b"]" * depth
    count = len(request.get("cases", ()))
    text = b'{"outputs": [], "observed": [' + b",".join([one] * (count if depth < 1000 else 1)) + b"]}"
    return struct.pack(">II", len(text), 0) + text
