"""Architecture optimisation: quantisation and pruning. In PyTorch: `torch/ao/`."""

from rushlight.ao import quantization

__all__ = ["quantization"]
