"""Quantisation: smaller numbers for weights and activations.

    affine                      integers with a scale and a zero point
    observer                    choosing the scale and the zero point from the values
    fake_quantize               rounding in training
    qconfig, qconfig_mapping    which layer gets which observers
    quantize, quantize_fx       a model becomes a quantised one, layer by layer or as a graph

In PyTorch: `torch/ao/quantization/`. There, calling the functions that change a model prints a deprecation warning: eager mode
and FX graph mode move to torchao (`quantize_`, PT2E).
"""

from importlib import import_module

from rushlight.ao.quantization import affine, fake_quantize, observer, qconfig, qconfig_mapping
from rushlight.ao.quantization.fake_quantize import (
    FakeQuantize,
    FakeQuantizeBase,
    default_fake_quant,
    default_per_channel_weight_fake_quant,
    default_weight_fake_quant,
    disable_fake_quant,
    disable_observer,
    enable_fake_quant,
    enable_observer,
)
from rushlight.ao.quantization.observer import (
    HistogramObserver,
    MinMaxObserver,
    MovingAverageMinMaxObserver,
    MovingAveragePerChannelMinMaxObserver,
    ObserverBase,
    PerChannelMinMaxObserver,
    PlaceholderObserver,
    UniformQuantizationObserverBase,
    default_dynamic_quant_observer,
    default_histogram_observer,
    default_observer,
    default_per_channel_weight_observer,
    default_placeholder_observer,
    default_weight_observer,
)
from rushlight.ao.quantization.qconfig import (
    QConfig,
    default_dynamic_qconfig,
    default_per_channel_qconfig,
    default_qat_qconfig,
    default_qconfig,
    get_default_qat_qconfig,
    get_default_qconfig,
    per_channel_dynamic_qconfig,
)
from rushlight.ao.quantization.qconfig_mapping import (
    QConfigMapping,
    get_default_qat_qconfig_mapping,
    get_default_qconfig_mapping,
)

__all__ = [
    "FakeQuantize", "FakeQuantizeBase", "HistogramObserver", "MinMaxObserver", "MovingAverageMinMaxObserver",
    "MovingAveragePerChannelMinMaxObserver", "ObserverBase", "PerChannelMinMaxObserver", "PlaceholderObserver", "QConfig",
    "QConfigMapping", "UniformQuantizationObserverBase", "affine", "default_dynamic_qconfig",
    "default_dynamic_quant_observer", "default_fake_quant", "default_histogram_observer", "default_observer",
    "default_per_channel_qconfig", "default_per_channel_weight_fake_quant", "default_per_channel_weight_observer",
    "default_placeholder_observer", "default_qat_qconfig", "default_qconfig", "default_weight_fake_quant",
    "default_weight_observer", "disable_fake_quant", "disable_observer", "enable_fake_quant", "enable_observer",
    "fake_quantize", "get_default_qat_qconfig", "get_default_qat_qconfig_mapping", "get_default_qconfig",
    "get_default_qconfig_mapping", "observer", "per_channel_dynamic_qconfig", "qconfig", "qconfig_mapping",
]  # fmt: skip


def __getattr__(name: str):  # these import `rushlight.fx`, and not every program needs it
    fx = ("fuse_fx", "prepare_fx", "convert_fx", "quantize_dynamic")
    if name in fx or name in ("quantize", "quantize_fx", "backend_config", "fx"):
        module = {"fuse_fx": "quantize_fx", "prepare_fx": "quantize_fx", "convert_fx": "quantize_fx"}
        module = import_module(f"rushlight.ao.quantization.{module.get(name, 'quantize' if name in fx else name)}")
        return getattr(module, name) if name in fx else module
    raise AttributeError(f"module 'rushlight.ao.quantization' has no {name!r}: rushlight leaves it out")
