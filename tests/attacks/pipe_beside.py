"""A named pipe and a link to an endless device lie beside the notebook, one of them as its time stamp."""

import os


def hand_in(folder):
    os.mkfifo(folder / "timestamp.txt")
    (folder / "data.bin").symlink_to("/dev/zero")
