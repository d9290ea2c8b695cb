"""The notebook is a named pipe that nobody writes to: who opens it waits for ever."""

import os

from attacks import LAB


def hand_in(folder):
    (folder / f"{LAB}.ipynb").unlink()
    os.mkfifo(folder / f"{LAB}.ipynb")
