"""Profiles of programs. In PyTorch: `torch/profiler/`."""
