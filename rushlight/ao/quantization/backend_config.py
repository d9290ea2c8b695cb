"""The operations that a backend can compute with integers: a table from patterns of calls to their treatment.

A pattern is what a node calls, or a tuple: what the last node calls, then the patterns of its arguments. So `(nn.ReLU,
(nn.BatchNorm2d, nn.Conv2d))` is a convolution, then a batch norm, then a relu. In PyTorch:
`torch/ao/quantization/backend_config/native.py`, `_common_operator_config_utils.py`. Left out: dtypes and constraints on scales,
so operators with fixed scales (sigmoid, softmax), other norms than batch norms, other activations than relu and hardtanh,
embeddings and recurrent layers stay floating point; functional convolutions and linears, and methods that change their tensor.
"""

import operator
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Any

import rushlight as rl
from rushlight import nn
from rushlight.ao.nn import intrinsic
from rushlight.nn import functional as F
from rushlight.nn.utils.fusion import fuse_conv_bn_eval, fuse_linear_bn_eval

Pattern = Any  # a class of modules, a function, the name of a method, or a tuple of patterns


class ObservationType(Enum):
    """Where the values that a pattern returns get their scale from.

    Source: `torch/ao/quantization/backend_config/backend_config.py`, `ObservationType`."""

    OUTPUT_USE_DIFFERENT_OBSERVER_AS_INPUT = 0
    OUTPUT_SHARE_OBSERVER_WITH_INPUT = 1
    INPUT_OUTPUT_NOT_OBSERVED = 2


OWN, SHARED, NONE = ObservationType


@dataclass(frozen=True)
class BackendPatternConfig:
    """The entry of a pattern. `fuser_method` makes one module of the pattern's modules. An operator of one or two tensors has an
    observation type for each number of tensors."""

    observation_type: ObservationType = OWN
    fuser_method: Callable | None = None
    by_number_of_tensors: tuple[ObservationType, ...] = ()


def fuse_conv_bn_relu(conv: nn.Module, bn: nn.Module, relu: nn.Module) -> nn.Module:
    """A convolution, a batch norm and a ReLU in evaluation as one fused module: the weights of the convolution absorb
    the batch norm. Source: `torch/ao/quantization/fuser_method_mappings.py`, `fuse_conv_bn_relu`."""
    fused = intrinsic.ConvReLU1d if isinstance(conv, nn.Conv1d) else intrinsic.ConvReLU2d
    return fused(fuse_conv_bn_eval(conv, bn), relu)


RELUS = (nn.ReLU, F.relu)
BACKEND_CONFIG: dict[Pattern, BackendPatternConfig] = {}

WITH_RELU = {nn.Conv1d: intrinsic.ConvReLU1d, nn.Conv2d: intrinsic.ConvReLU2d, nn.Linear: intrinsic.LinearReLU}
for _layer, _fused in (WITH_RELU | {nn.BatchNorm2d: intrinsic.BNReLU2d}).items():
    BACKEND_CONFIG |= {_layer: BackendPatternConfig(), _fused: BackendPatternConfig()}
    BACKEND_CONFIG |= {(_relu, _layer): BackendPatternConfig(fuser_method=_fused) for _relu in RELUS}
for _conv, _bn in ((nn.Conv1d, nn.BatchNorm1d), (nn.Conv2d, nn.BatchNorm2d)):
    BACKEND_CONFIG[_bn, _conv] = BackendPatternConfig(fuser_method=fuse_conv_bn_eval)
    BACKEND_CONFIG |= {(_relu, (_bn, _conv)): BackendPatternConfig(fuser_method=fuse_conv_bn_relu) for _relu in RELUS}
BACKEND_CONFIG[nn.BatchNorm1d, nn.Linear] = BackendPatternConfig(fuser_method=fuse_linear_bn_eval)
for _binary in (operator.add, rl.add, operator.mul, rl.mul):
    for _pattern in (*((_relu, _binary) for _relu in (*RELUS, rl.relu)), _binary):
        BACKEND_CONFIG[_pattern] = BackendPatternConfig(by_number_of_tensors=(OWN, SHARED, OWN))
BACKEND_CONFIG |= {pattern: BackendPatternConfig() for pattern in (rl.matmul, nn.Dropout, F.dropout)}
BACKEND_CONFIG |= {
    pattern: BackendPatternConfig(SHARED)
    for pattern in (
        rl.cat, rl.stack, nn.AdaptiveAvgPool2d, nn.AvgPool2d, nn.Hardtanh, nn.Identity, nn.MaxPool2d, nn.ReLU, nn.ReLU6, F.relu,
        F.relu6, F.hardtanh, F.max_pool2d, F.avg_pool2d, F.adaptive_avg_pool2d, rl.clamp, rl.flatten, rl.mean, rl.narrow,
        rl.transpose, rl.squeeze, rl.unsqueeze, "clamp", "contiguous", "detach", "mean", "permute", "relu", "repeat", "reshape",
        "squeeze", "transpose", "unsqueeze", "view",
    )
}  # fmt: skip
BACKEND_CONFIG |= {method: BackendPatternConfig(NONE) for method in ("size", "shape")}


def fusion_patterns() -> dict[Pattern, Callable]:
    """The patterns whose modules become one module, and the function that makes it."""
    return {pattern: entry.fuser_method for pattern, entry in BACKEND_CONFIG.items() if entry.fuser_method is not None}


def observation_type(pattern: Pattern, number_of_tensors: int) -> ObservationType:
    """Return the table's entry for a pattern whose first node takes this number of tensors."""
    entry = BACKEND_CONFIG[pattern]
    return entry.by_number_of_tensors[number_of_tensors] if entry.by_number_of_tensors else entry.observation_type
