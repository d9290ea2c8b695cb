"""Neural networks.

    parameter     tensors that a module registers
    modules       the class `Module`, containers, layers and losses
    functional    the functions of the layers; the kernels are in `aten/native/normalisation` and `aten/native/losses`
    init          initial values of parameters
    utils         gradient clipping, parameters as one vector

In PyTorch: `torch/nn`.
"""

# ruff: noqa: F403
from rushlight.nn import functional, init, modules, parallel, parameter, utils
from rushlight.nn.modules import *
from rushlight.nn.parallel import DataParallel
from rushlight.nn.parameter import Buffer, Parameter, UninitializedBuffer, UninitializedParameter

__all__ = ["Buffer", "DataParallel", "Parameter", "UninitializedBuffer", "UninitializedParameter"]
__all__ += ["functional", "init", "modules", "parallel", "parameter", "utils", *modules.__all__]
