"""How parameters begin. In PyTorch: `torch/nn/init.py`; the code is in `rushlight/initialisation.py`."""

from rushlight.initialisation import calculate_fan_in_and_fan_out as _calculate_fan_in_and_fan_out  # noqa: F401
from rushlight.initialisation import (
    calculate_gain,
    constant_,
    eye_,
    kaiming_normal_,
    kaiming_uniform_,
    normal_,
    ones_,
    trunc_normal_,
    uniform_,
    xavier_normal_,
    xavier_uniform_,
    zeros_,
)

__all__ = [
    "calculate_gain", "constant_", "eye_", "kaiming_normal_", "kaiming_uniform_", "normal_", "ones_", "trunc_normal_",
    "uniform_", "xavier_normal_", "xavier_uniform_", "zeros_",
]  # fmt: skip
