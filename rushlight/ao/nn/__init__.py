"""Layers for quantised models: `torch.ao.nn`."""

from importlib import import_module


def __getattr__(name: str):
    if name in ("intrinsic", "quantized"):
        return import_module(f"rushlight.ao.nn.{name}")
    raise AttributeError(
        f"module 'rushlight.ao.nn' has no {name!r}: rushlight leaves it out, or PyTorch has no such name"
    )
