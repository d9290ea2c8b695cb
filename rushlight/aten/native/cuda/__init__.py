"""Kernels for a GPU, in CUDA C++. In PyTorch: `aten/src/ATen/native/cuda/`.

`loops.py` has those that work element by element, `reduce.py` those whose threads work together, and `softmax.py` three of softmax.
"""

from rushlight.aten.native.cuda import loops, reduce, softmax

__all__ = ["loops", "reduce", "softmax"]
