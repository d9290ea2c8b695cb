"""PyTorch's namespace `torch.utils`, of which there are `data`, `checkpoint` and `cpp_extension`."""

from rushlight.utils import checkpoint, data

__all__ = ["checkpoint", "data"]
