"""`python -m rushlight train.py`: run a program that was written for PyTorch on rushlight."""

from __future__ import annotations

import argparse
import sys

from rushlight.course import as_torch

if __name__ == "__main__":
    parser = argparse.ArgumentParser("python -m rushlight", description=__doc__)
    parser.add_argument("-m", dest="module", action="store_true", help="the program is a module")
    parser.add_argument("--answers", action="store_true", help="print at the end which functions the program called")
    parser.add_argument(
        "--compare", action="store_true", help="run it on PyTorch, too, and print how the outputs differ"
    )
    parser.add_argument("program", help="a script, a notebook or a module")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help="the program's own arguments")
    options = parser.parse_args()
    words = [options.program, *options.arguments]
    if options.compare:
        sys.exit(as_torch.compare(words, options.module, [sys.executable, "-m", "rushlight"]))
    as_torch.run(words, options.module, options.answers)
