"""`python -m rushlight train.py`: run a program that was written for PyTorch on rushlight."""

import argparse

from rushlight.course import as_torch

if __name__ == "__main__":
    parser = argparse.ArgumentParser("python -m rushlight", description=__doc__)
    parser.add_argument("-m", dest="module", action="store_true", help="the program is a module")
    parser.add_argument("program", help="a script, a notebook or a module")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help="the program's own arguments")
    options = parser.parse_args()
    as_torch.run([options.program, *options.arguments], options.module)
