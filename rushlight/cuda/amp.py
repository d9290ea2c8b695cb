"""Mixed precision for CUDA by its older names, which warn and do nothing without a GPU. In PyTorch: `torch/cuda/amp/`."""

from functools import partial

from rushlight import amp

__all__ = ["GradScaler", "autocast"]

GradScaler, autocast = partial(amp.GradScaler, "cuda"), partial(amp.autocast, "cuda")
