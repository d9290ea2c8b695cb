"""Architecture optimisation: quantisation and pruning. In PyTorch: `torch/ao/`."""

from rushlight.ao import quantization
from rushlight.c10.packages import names_of

__all__ = ["quantization"]
__getattr__ = names_of(__name__)
