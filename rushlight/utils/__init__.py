"""PyTorch's namespace `torch.utils`, of which there is `data` and `checkpoint`."""

from rushlight import checkpoint, data

__all__ = ["checkpoint", "data"]
