"""Layers that compute with integers: `torch.ao.nn.quantized`.

functional   the arithmetic of one linear layer
operators    the layers as operators, which the compiler and a file know by name
linear       the layer, static and dynamic
reference    layers that compute with the numbers that integer weights stand for
"""

# ruff: noqa: F401
from rushlight.ao.nn.quantized import dynamic
from rushlight.ao.nn.quantized.linear import Linear

__all__ = ["Linear", "dynamic"]
