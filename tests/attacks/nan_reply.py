"""Sends numbers that no honest subject has: NaN, infinities, integers of a million digits."""

from attacks import impersonate


def attack(notebook):
    impersonate(notebook, reply)


def reply(request):
    import struct

    count = len(request.get("cases", ()))
    kinds = [b"NaN", b"-Infinity", b"1e999999", b"9" * 4000, b"9" * 10**6, b"-9223372036854775809"]
    one = kinds[len(request.get("check", "")) % len(kinds)]
    text = b'{"outputs": [], "observed": [' + b",".join([one] * (count if len(one) < 5000 else 1)) + b"]}"
    return struct.pack(">II", len(text), 0) + text
