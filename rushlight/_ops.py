"""The operators where PyTorch has them. `library.py` explains them."""

from rushlight.library import OpOverload, OpOverloadPacket, ops

__all__ = ["OpOverload", "OpOverloadPacket", "ops"]
