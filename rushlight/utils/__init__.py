"""PyTorch's namespace `torch.utils`, with `data`, `checkpoint`, `benchmark`, `flop_counter` and `cpp_extension`."""

from rushlight.utils import benchmark, checkpoint, data, flop_counter

__all__ = ["benchmark", "checkpoint", "data", "flop_counter"]
