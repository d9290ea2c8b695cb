"""The generators: Python text from the tables of operators and derivatives, at build time and never at import.

In PyTorch: `torchgen/` and `tools/autograd/`.
"""
