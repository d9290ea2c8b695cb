"""What networks are made of. In PyTorch: `torch/nn`."""

from rushlight.nn import functional

__all__ = ["functional"]
