"""Ahead-of-time autograd: a program and its backward pass as graphs of functional operators.

`proxy_tensor` records operators, `functional` removes writes, `joint` puts forward and backward into one graph, `partition`
splits this graph in two and chooses the tensors to save, `runtime` runs both graphs. `decompositions` replaces operators by
simpler ones.

In PyTorch: `torch/_functorch/aot_autograd.py`, `torch/_functorch/_aot_autograd/`, `torch/_functorch/partitioners.py`.
"""

from rushlight.aot.decompositions import core_aten_decompositions, get_decompositions
from rushlight.aot.functional import functionalize
from rushlight.aot.partition import default_partition, min_cut_rematerialization_partition
from rushlight.aot.proxy_tensor import make_fx
from rushlight.aot.runtime import aot_autograd, aot_export_joint_simple, aot_function, nop

__all__ = [
    "aot_autograd", "aot_export_joint_simple", "aot_function", "core_aten_decompositions", "default_partition", "functionalize",
    "get_decompositions", "make_fx", "min_cut_rematerialization_partition", "nop",
]  # fmt: skip
