"""Automatic differentiation backwards, and the namespace `torch.autograd`.

While operators run, their kernels for the key `Autograd` leave a graph of what was computed; `backward` runs it from the end.

    graph       nodes, edges, the accumulators in which a graph ends, and the tensors that nodes keep
    grad_mode   whether a graph is recorded: `no_grad` and its like
    engine      `backward`: each node once, and not before all that lead to it
    history     what the kernels do: histories, views, writing in place
    variable    what a tensor has of all this: `requires_grad`, `grad`, `grad_fn`, hooks
    function    a forward and a backward of one's own; `checkpoint` and `gradcheck` are made of it

The formulas are in `derivatives.yaml` and `derivatives.py`; `codegen_autograd.py` makes `variable_type.py` of them. In PyTorch:
`torch/csrc/autograd/`, `torch/autograd/`. Left out: forward mode.
"""

# ruff: noqa: F401, F403
from rushlight import graph
from rushlight.engine import backward, grad
from rushlight.function import Function
from rushlight.grad_mode import *
from rushlight.gradcheck import GradcheckError, gradcheck, gradgradcheck
