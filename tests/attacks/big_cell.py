"""One cell of thirty megabytes."""

from attacks import put


def attack(notebook):
    put(notebook, "x = '" + "a" * (30 << 20) + "'")
