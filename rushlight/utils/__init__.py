"""PyTorch's namespace `torch.utils`: `data`, `checkpoint`, `deterministic`, `benchmark`, `flop_counter`, `cpp_extension`."""

from rushlight.c10.packages import names_of
from rushlight.utils import checkpoint, data, deterministic

__all__ = ["checkpoint", "data", "deterministic"]
__getattr__ = names_of(__name__)
