"""Warnings. In PyTorch: `c10/util/Exception.h`, `TORCH_WARN` and `TORCH_WARN_ONCE`."""

import sys
import warnings
from pathlib import Path

__all__ = ["is_warn_always_enabled", "set_warn_always"]

PACKAGE = str(Path(__file__).parents[1] / "_")[:-1]
_given: set[str] = set()
_always = False


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Give a warning of the program's line, which called rushlight. By default, Python shows a warning once for each line.

    Source: `torch/csrc/Exceptions.cpp`, `PyWarningHandler`: there, the kernels have no frames of Python.
    """
    frame, stacklevel = sys._getframe(), 1
    while frame.f_back and frame.f_code.co_filename.startswith(PACKAGE):
        frame, stacklevel = frame.f_back, stacklevel + 1
    warnings.warn(message, category, stacklevel=stacklevel)


def warn_once(message: str) -> None:
    """Give this warning if it was not given before in this process."""
    if _always or message not in _given:
        _given.add(message)
        warn(message)


def set_warn_always(b: bool, /) -> None:
    """Give each warning of `warn_once` every time, or once. Source: `torch/__init__.py`, `set_warn_always`."""
    global _always
    _always = b


def is_warn_always_enabled() -> bool:
    """Whether warnings that appear once by default appear each time, as `set_warn_always(True)` asks."""
    return _always
