"""The generators, which write Python code from the tables of operators and derivatives: at build time, never at import.

`rushlight build` runs them. In PyTorch: `torchgen/` and `tools/autograd/`.
"""
