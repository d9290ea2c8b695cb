"""Answers every request with bytes that are no message."""

from attacks import impersonate


def attack(notebook):
    impersonate(notebook, reply)


def reply(request):
    import random

    return random.choice(
        [b"\x00\x00\x00\x04\x00\x00\x00\x00nope", b"\x00\x00\x00\x02\x00\x00\x00\x00\xff\xfe", b"GET / HTTP/1.1\r\n"]
    )
