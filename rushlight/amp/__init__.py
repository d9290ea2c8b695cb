"""Automatic mixed precision. In PyTorch: `torch/amp/`."""

from rushlight.amp.autocast_mode import autocast
from rushlight.amp.grad_scaler import GradScaler

__all__ = ["GradScaler", "autocast"]
