"""Loops for ever in each answer."""


def answer():
    while True:
        pass
