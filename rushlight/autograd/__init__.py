"""Reverse-mode automatic differentiation, and the namespace `torch.autograd`.

While operators run, their kernels for the key `Autograd` record a graph. `backward` runs this graph from its end.

    graph       nodes, edges, the accumulators at the ends of a graph, and the tensors that nodes save
    anomaly_mode  which operator's backward fails or computes NaN
    grad_mode   whether a graph is recorded: `no_grad`, `enable_grad`, `inference_mode`
    engine      `backward`: runs each node once, after all nodes that lead to it
    history     helpers of the kernels: histories, views, in-place writes
    variable    the attributes of a tensor: `requires_grad`, `grad`, `grad_fn`, hooks
    function    `Function`: a forward and a backward that you write yourself
    functional  Jacobians and Hessians
    gradcheck   derivatives compared with finite differences

The formulas are in `derivatives.yaml` and `derivatives.py`. `torchgen/gen_autograd.py` writes `generated/variable_type.py`
from them, and `register` registers its kernels. In PyTorch: `torch/csrc/autograd/`, `torch/autograd/`. Left out: forward mode.
"""

# ruff: noqa: F403
from rushlight.autograd import anomaly_mode, function, functional, grad_mode, graph, register, variable
from rushlight.autograd.anomaly_mode import detect_anomaly, set_detect_anomaly
from rushlight.autograd.engine import backward, grad
from rushlight.autograd.function import Function
from rushlight.autograd.grad_mode import *
from rushlight.autograd.gradcheck import GradcheckError, gradcheck, gradgradcheck
from rushlight.autograd.variable import Variable
from rushlight.c10.packages import names_of

__all__ = [
    "Function", "GradcheckError", "Variable", "anomaly_mode", "backward", "detect_anomaly", "function", "functional", "grad",
    "grad_mode", "gradcheck", "gradgradcheck", "graph", "register", "set_detect_anomaly", "variable", *grad_mode.__all__,
]  # fmt: skip
__getattr__ = names_of(__name__)
