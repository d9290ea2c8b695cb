"""Streams, events and graphs on a simulated GPU; and what a script asks of `torch.cuda` before it chooses a device.

There is no GPU here, and `is_available()` says so. Inside `with Device():`, of `rushlight.cuda.simulator`, streams, events, copies
and graphs work on a device that computes with numpy and has a clock of its own. In PyTorch: `torch/cuda/__init__.py`.
"""

from __future__ import annotations

from rushlight.cuda import _sanitizer, memory, overlap, waves  # noqa: F401 - reached as attributes
from rushlight.cuda.graphs import CUDAGraph, graph, is_current_stream_capturing
from rushlight.cuda.simulator import AcceleratorError, Device
from rushlight.cuda.streams import Event, Stream, current_stream, default_stream, stream, synchronize

__all__ = [
    "AcceleratorError",
    "CUDAGraph",
    "Device",
    "Event",
    "Stream",
    "current_stream",
    "default_stream",
    "device_count",
    "graph",
    "is_available",
    "is_current_stream_capturing",
    "manual_seed",
    "manual_seed_all",
    "stream",
    "synchronize",
]


def is_available() -> bool:
    """False: a script cannot choose the simulated device."""
    return False


def device_count() -> int:
    return 0


def manual_seed(seed: int) -> None:
    """Nothing to do without a GPU, as in PyTorch."""


manual_seed_all = manual_seed


def __getattr__(name: str):
    raise AttributeError(f"rushlight leaves out cuda.{name}")
