"""Written by `rushlight/torchgen/gen_autograd.py`, as PyTorch's `tools/autograd` writes `VariableType.cpp` and `Functions.cpp`."""
