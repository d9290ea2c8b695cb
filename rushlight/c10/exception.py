"""Warnings. In PyTorch: `c10/util/Exception.h`, `TORCH_WARN` and `TORCH_WARN_ONCE`."""

import sys
import warnings
from functools import cache
from pathlib import Path

PACKAGE = str(Path(__file__).parents[1] / "_")[:-1]


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Give a warning of the program's line, which called rushlight. By default, Python shows a warning once for each line.

    Source: `torch/csrc/Exceptions.cpp`, `PyWarningHandler`: there, the kernels have no frames of Python.
    """
    frame, stacklevel = sys._getframe(), 1
    while frame.f_back and frame.f_code.co_filename.startswith(PACKAGE):
        frame, stacklevel = frame.f_back, stacklevel + 1
    warnings.warn(message, category, stacklevel=stacklevel)


@cache
def warn_once(message: str) -> None:
    """Give this warning if it was not given before in this process."""
    warn(message)
