"""Layers for quantised models: `torch.ao.nn`."""

from rushlight.c10.packages import names_of

__getattr__ = names_of(__name__)
