"""Functions of `rl` that are written in Python, in front of the operators. In PyTorch: `torch/functional.py`."""

from __future__ import annotations

from rushlight import functions
from rushlight.strided import Tensor

__all__ = ["broadcast_tensors"]


def broadcast_tensors(*tensors: Tensor) -> tuple[Tensor, ...]:
    """The tensors, expanded to the sizes to which they broadcast."""
    return functions.broadcast_tensors(tensors)
