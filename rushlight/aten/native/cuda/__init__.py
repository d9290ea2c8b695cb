"""Kernels for a GPU, in CUDA C++. In PyTorch: `aten/src/ATen/native/cuda/`. `loops.py` has those that work element by element."""
