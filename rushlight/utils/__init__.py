"""PyTorch's namespace `torch.utils`, with `data`, `checkpoint`, `benchmark`, `flop_counter` and `cpp_extension`."""

from rushlight.c10.packages import names_of
from rushlight.utils import checkpoint, data

__all__ = ["checkpoint", "data"]
__getattr__ = names_of(__name__)
