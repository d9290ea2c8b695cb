"""`make_fx` where PyTorch has it. `aot/proxy_tensor.py` explains it."""

from rushlight.aot.proxy_tensor import make_fx

__all__ = ["make_fx"]
