"""Which implementation of attention may run. Here it is one, with the results of two. In PyTorch: `torch/nn/attention/`."""

from collections.abc import Iterator
from contextlib import contextmanager
from enum import IntEnum

__all__ = ["SDPBackend", "sdpa_kernel"]

NAMES = ("ERROR", "MATH", "FLASH_ATTENTION", "EFFICIENT_ATTENTION", "CUDNN_ATTENTION", "OVERRIDEABLE")
SDPBackend = IntEnum("SDPBackend", NAMES, start=-1)
"""The implementations of `scaled_dot_product_attention` that `sdpa_kernel` can choose.
Source: `torch/nn/attention/__init__.py`, `SDPBackend`."""


@contextmanager
def sdpa_kernel(backends: SDPBackend | list[SDPBackend], set_priority: bool = False) -> Iterator[None]:
    """A block in which attention may use only these backends."""
    allowed = backends if isinstance(backends, list) else [backends]
    if not {SDPBackend.MATH, SDPBackend.FLASH_ATTENTION} & {*allowed}:
        raise RuntimeError("No viable backend for scaled_dot_product_attention was found on the CPU")
    yield
