"""Kernels for a GPU, in CUDA C++. In PyTorch: `aten/src/ATen/native/cuda/`.

`loops.py` has those that work element by element, `reduce.py` those whose threads work together, `softmax.py` three of softmax, and
`blas.py` products of matrices.
"""

from rushlight.aten.native.cuda import blas, loops, reduce, softmax

__all__ = ["blas", "loops", "reduce", "softmax"]
