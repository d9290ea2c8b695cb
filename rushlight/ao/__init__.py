"""Architecture optimisation: quantisation and pruning. In PyTorch: `torch/ao/`."""

from rushlight.ao import quantization

__all__ = ["quantization"]

from importlib import import_module


def __getattr__(name: str):
    if name in ("nn", "pruning", "quantization"):
        return import_module(f"rushlight.ao.{name}")
    raise AttributeError(f"module 'rushlight.ao' has no {name!r}: rushlight leaves it out, or PyTorch has no such name")
