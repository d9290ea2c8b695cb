"""Automatic mixed precision. In PyTorch: `torch/amp/`."""

from rushlight.amp.autocast_mode import autocast

__all__ = ["autocast"]
