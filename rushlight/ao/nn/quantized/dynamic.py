"""Layers that find the scale of each input when it comes: `torch.ao.nn.quantized.dynamic`."""

from rushlight.ao.nn.quantized.linear import DynamicLinear as Linear

__all__ = ["Linear"]
