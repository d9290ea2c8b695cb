"""Quantisation as a walk over a graph of `rl.fx`.

match_utils   which nodes are a pattern
fuse          the modules of a pattern become one module
prepare       observers in the graph
convert       observers become calls of quantise and dequantise

In PyTorch: `torch/ao/quantization/fx/`. PyTorch calls this mode deprecated: the same walk on a graph of `torch.export` (PT2E) is in
torchao.
"""

from importlib import import_module


def __getattr__(name: str):  # these import `rushlight.fx`
    if name in ("match_utils", "fuse", "prepare", "convert", "qconfig_mapping_utils"):
        return import_module(f"rushlight.ao.quantization.fx.{name}")
    raise AttributeError(f"module 'rushlight.ao.quantization.fx' has no {name!r}: rushlight leaves it out")
