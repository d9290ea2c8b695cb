"""Closes, replaces and duplicates the descriptors of the channel, and lives on without it."""

import contextlib


def cell():
    import os
    import time

    for fd in range(3, 20):
        with contextlib.suppress(OSError):
            os.close(fd)
    for _ in range(10):
        os.open("/dev/zero", os.O_RDWR)
    time.sleep(60)
