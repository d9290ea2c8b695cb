"""Announces a message, sends half of it, and waits; or sends it a byte at a time."""

from attacks import impersonate


def attack(notebook):
    impersonate(notebook, reply)


def reply(request):
    import time

    if "check" in request:
        time.sleep(0.5)
    return b"\x00\x00\x01\x00\x00\x00\x00\x00" + b'{"observed": ['
