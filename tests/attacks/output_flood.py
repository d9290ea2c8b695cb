"""Prints, displays and raises more than a page can hold, on every way out."""


def cell():
    import os
    import sys

    from IPython.display import display

    for _ in range(50_000):
        display("x" * 50)
    sys.stdout.write("x" * 30_000_000)
    sys.stderr.write("y\n" * 1_000_000)
    os.write(1, b"z" * 1_000_000)
    os.system("yes | head -c 1000000 >&2")
    raise ValueError("e" * 10_000_000)
