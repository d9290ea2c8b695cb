"""Quantisation as a walk over a graph of `rl.fx`.

match_utils   which nodes are a pattern
fuse          the modules of a pattern become one module
prepare       observers in the graph
convert       observers become calls of quantise and dequantise

In PyTorch: `torch/ao/quantization/fx/`. PyTorch calls this mode deprecated: the same walk on a graph of `torch.export` (PT2E) is in
torchao.
"""

from rushlight.c10.packages import names_of

__getattr__ = names_of(__name__)  # they import `rushlight.fx`
