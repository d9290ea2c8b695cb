"""`QConfig`: which observer, or fake quantisation, a layer gets for its activations, and which for its weight.

It holds classes, or `with_args` of classes, because each layer makes its own observers. In PyTorch:
`torch/ao/quantization/qconfig.py`. Left out: the settings for other backends than x86, and for float16.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from rushlight.ao.quantization import fake_quantize, observer
from rushlight.nn.modules.module import Module

__all__ = [
    "QConfig", "default_dynamic_qconfig", "default_per_channel_qconfig", "default_qat_qconfig", "default_qconfig",
    "get_default_qat_qconfig", "get_default_qconfig", "per_channel_dynamic_qconfig",
]  # fmt: skip


class _Observers(NamedTuple):
    activation: Any
    weight: Any


class QConfig(_Observers):
    """The observers of a layer. Observers themselves are refused: pass their class, or `MyObserver.with_args(...)`."""

    __slots__ = ()

    def __new__(cls, activation: Any, weight: Any) -> QConfig:
        if isinstance(activation, Module) or isinstance(weight, Module):
            raise ValueError(
                "QConfig received observer instance, please pass observer class instead. "
                "Use MyObserver.with_args(x=1) to override arguments to constructor if needed"
            )
        return super().__new__(cls, activation, weight)


default_qconfig = QConfig(observer.default_observer, observer.default_weight_observer)
"""Activations by `default_observer`, weights by `default_weight_observer`. Source: `torch/ao/quantization/qconfig.py`,
`default_qconfig`."""
default_per_channel_qconfig = QConfig(observer.default_observer, observer.default_per_channel_weight_observer)
"""As `default_qconfig`, but one scale for each channel of a weight. Source: `torch/ao/quantization/qconfig.py`,
`default_per_channel_qconfig`."""
default_dynamic_qconfig = QConfig(observer.default_dynamic_quant_observer, observer.default_weight_observer)
"""Dynamic quantisation of activations, and weights by `default_weight_observer`.
Source: `torch/ao/quantization/qconfig.py`, `default_dynamic_qconfig`."""
per_channel_dynamic_qconfig = QConfig(
    observer.default_dynamic_quant_observer, observer.default_per_channel_weight_observer
)
"""As `default_dynamic_qconfig`, but one scale for each channel of a weight. Source: `torch/ao/quantization/qconfig.py`,
`per_channel_dynamic_qconfig`."""
default_qat_qconfig = QConfig(fake_quantize.default_fake_quant, fake_quantize.default_weight_fake_quant)
"""Fake quantisation of activations and weights in training. Source: `torch/ao/quantization/qconfig.py`,
`default_qat_qconfig`."""


def get_default_qconfig(backend: str = "x86", version: int = 0) -> QConfig:
    """PyTorch's choice for quantisation after training. `reduce_range` leaves the activations 7 bits."""
    _check(backend, version)
    activation = observer.HistogramObserver.with_args(reduce_range=True)
    return QConfig(activation, observer.default_per_channel_weight_observer)


def get_default_qat_qconfig(backend: str = "x86", version: int = 0) -> QConfig:
    """PyTorch's choice for quantisation-aware training, in version 0."""
    _check(backend, version)
    activation = fake_quantize.FakeQuantize.with_args(
        observer=observer.MovingAverageMinMaxObserver, quant_min=0, quant_max=255, reduce_range=True
    )
    return QConfig(activation, fake_quantize.default_per_channel_weight_fake_quant)


def _check(backend: str, version: int) -> None:
    if backend not in ("x86", "fbgemm"):
        raise AssertionError(f"backend: {backend} not supported. backend must be x86 or fbgemm")
    if version != 0:
        raise AssertionError(f"Version number: {version} is not supported. Version number must be 0")
