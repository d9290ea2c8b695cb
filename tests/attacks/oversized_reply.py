"""Announces messages of four gigabytes, and then sends them."""

from attacks import impersonate


def attack(notebook):
    impersonate(notebook, reply)


def reply(request):
    return b"\xff" * 8 + b"x" * (1 << 20)
