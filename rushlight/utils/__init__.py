"""PyTorch's namespace `torch.utils`, with `data`, `checkpoint` and `cpp_extension`."""

from rushlight.utils import checkpoint, data

__all__ = ["checkpoint", "data"]
