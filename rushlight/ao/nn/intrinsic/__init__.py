"""Two modules that a backend runs as one: `torch.ao.nn.intrinsic`. Left out: the classes for quantisation-aware training."""

from rushlight import nn

__all__ = ["BNReLU2d", "ConvReLU1d", "ConvReLU2d", "LinearReLU"]


class _FusedModule(nn.Sequential):
    """Its first module has the weight."""


class BNReLU2d(_FusedModule):
    """A `BatchNorm2d` and a `ReLU`."""


class LinearReLU(_FusedModule):
    """A `Linear` and a `ReLU`. Source: `torch/ao/nn/intrinsic/modules/fused.py`."""


class ConvReLU1d(_FusedModule):
    """A `Conv1d` and a `ReLU`."""


class ConvReLU2d(_FusedModule):
    """A `Conv2d` and a `ReLU`."""
