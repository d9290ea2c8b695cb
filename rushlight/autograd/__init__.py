"""Automatic differentiation backwards, and the namespace `torch.autograd`.

While operators run, their kernels for the key `Autograd` leave a graph of what was computed; `backward` runs it from the end.

    graph       nodes, edges, the accumulators in which a graph ends, and the tensors that nodes keep
    grad_mode   whether a graph is recorded: `no_grad` and its like
    engine      `backward`: each node once, and not before all that lead to it
    history     what the kernels do: histories, views, writing in place
    variable    what a tensor has of all this: `requires_grad`, `grad`, `grad_fn`, hooks
    function    a forward and a backward of one's own; `checkpoint` and `gradcheck` are made of it

The formulas are in `derivatives.yaml` and `derivatives.py`. `torchgen/gen_autograd.py` writes `generated/variable_type.py`
from them, and `register` registers its kernels. In PyTorch: `torch/csrc/autograd/`, `torch/autograd/`. Left out: forward mode.
"""

# ruff: noqa: F403
from rushlight.autograd import function, grad_mode, graph, register, variable
from rushlight.autograd.engine import backward, grad
from rushlight.autograd.function import Function
from rushlight.autograd.grad_mode import *
from rushlight.autograd.gradcheck import GradcheckError, gradcheck, gradgradcheck

__all__ = [
    "Function",
    "GradcheckError",
    "backward",
    "function",
    "grad",
    "grad_mode",
    "gradcheck",
    "gradgradcheck",
    "graph",
]
__all__ += ["register", "variable", *grad_mode.__all__]
