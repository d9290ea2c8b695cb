"""Ends the process: in a cell, in each answer, by exit codes and by signals."""


def cell():
    import os

    os._exit(0)


def answer():
    import os
    import random

    random.choice([lambda: os._exit(0), os.abort, lambda: os.kill(os.getpid(), 11), lambda: os.kill(os.getpid(), 9)])()
