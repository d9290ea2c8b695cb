"""Warnings that are given once in a process. In PyTorch: `c10/util/Exception.h`, `TORCH_WARN_ONCE`."""

import warnings
from functools import cache


@cache
def warn_once(message: str, stacklevel: int = 2) -> None:
    """Give this warning if it was not given before. `stacklevel` counts frames as in `warnings.warn`, from the caller."""
    warnings.warn(message, stacklevel=stacklevel + 1)
