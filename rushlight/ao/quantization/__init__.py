"""Quantisation: smaller numbers for weights and activations.

    affine                      integers with a scale and a zero point
    observer                    choosing the scale and the zero point from the values
    fake_quantize               rounding in training
    qconfig, qconfig_mapping    which layer gets which observers
    quantize, quantize_fx       a model becomes a quantised one, layer by layer or as a graph
    pt2e                        annotations of an exported graph, and the observers that they ask for

In PyTorch: `torch/ao/quantization/`. There, calling the functions that change a model prints a deprecation warning: eager mode
and FX graph mode move to torchao (`quantize_`, PT2E).
"""

from importlib import import_module

# ruff: noqa: F403
from rushlight.ao.quantization import affine, fake_quantize, observer, qconfig, qconfig_mapping
from rushlight.ao.quantization.fake_quantize import *
from rushlight.ao.quantization.observer import *
from rushlight.ao.quantization.qconfig import *
from rushlight.ao.quantization.qconfig_mapping import *

__all__ = ["affine", "fake_quantize", "observer", "qconfig", "qconfig_mapping"]
__all__ += [*fake_quantize.__all__, *observer.__all__, *qconfig.__all__, *qconfig_mapping.__all__]


def __getattr__(name: str):  # these import `rushlight.fx`, and not every program needs it
    fx = ("fuse_fx", "prepare_fx", "convert_fx", "quantize_dynamic")
    if name in fx or name in ("quantize", "quantize_fx", "backend_config", "fx", "pt2e"):
        module = {"fuse_fx": "quantize_fx", "prepare_fx": "quantize_fx", "convert_fx": "quantize_fx"}
        module = import_module(f"rushlight.ao.quantization.{module.get(name, 'quantize' if name in fx else name)}")
        return getattr(module, name) if name in fx else module
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}: rushlight leaves it out")
