"""What networks are made of.

    parameter       tensors that a module takes notice of
    modules         registration, listing, calling, converting; `state_dict`: saving and loading
    containers      modules in lists and dicts
    layers, lazy    the layers and the losses
    functional      what they compute; `normalisation` and `losses` are behind it
    init            how parameters begin: `initialisation`
    utils           what is done to gradients: `clip_grad`

In PyTorch: `torch/nn`.
"""

# ruff: noqa: F401, F403
from rushlight import containers, layers, lazy, modules, parameter
from rushlight.containers import *
from rushlight.layers import *
from rushlight.lazy import *
from rushlight.modules import *
from rushlight.nn import functional, init, utils
from rushlight.parameter import Buffer, Parameter, UninitializedBuffer, UninitializedParameter

__all__ = [
    "Buffer",
    "Parameter",
    "UninitializedBuffer",
    "UninitializedParameter",
    "functional",
    "init",
    "parameter",
    "utils",
]
for _module in (containers, layers, lazy, modules):
    __all__ += _module.__all__
