"""Predictions: what PyTorch does with small programs, written down before they run.

The programs are texts, because a lab shows them and a check runs them with `xp = torch`. The answers are data.
"""

from __future__ import annotations

BACKWARD = {
    "exp": """\
x = xp.ones(3).requires_grad_()
loss = (x * x.exp()).sum()""",
    "head": """\
x = xp.ones(2, 64)
weight = xp.ones(600, 64).requires_grad_()
bias = xp.ones(600).requires_grad_()
logits = xp.nn.functional.linear(x, weight, bias)
loss = xp.nn.functional.cross_entropy(logits, xp.tensor([1, 2]))""",
    "detach": """\
x = xp.ones(4).requires_grad_()
y = x[:2] * x[2:]
loss = (y.detach() * y).sum()""",
    "diamond": """\
x = xp.ones(3).requires_grad_()
y = x.sigmoid()
z = y + y.tanh()
z.mul_(2)
loss = z.sum()""",
    "no_grad": """\
x = xp.ones(2, 3).requires_grad_()
with xp.no_grad():
    scale = x.sum()
loss = (x / scale).relu().sum()""",
}
SAVED = {
    "constant": """\
x = xp.ones(3).requires_grad_()
c = xp.ones(3)
loss = (x * c + c).sum()""",
    "both": """\
x = xp.ones(3).requires_grad_()
y = xp.ones(3).requires_grad_()
loss = (x * y.exp()).sum()""",
    "result": """\
x = xp.ones(3).requires_grad_()
loss = (x - 1).relu().sigmoid().sum()""",
    "input": """\
x = xp.ones(2, 64)
weight = xp.ones(600, 64).requires_grad_()
loss = (x @ weight.t()).sum()""",
}


def backward_order(program: str) -> list[str]:
    """The nodes that `loss.backward()` runs in a program of `BACKWARD`, in the order in which the engine runs them.

    For `loss = x.exp().sum()` with a leaf `x` that is the list of "SumBackward0", "ExpBackward0" and "AccumulateGrad".

    Args:
        program: a key of `BACKWARD`.

    Returns:
        a list with the name of each node, a string. A node that runs for each of several leaves is listed for each.

    Source: `torch/csrc/autograd/engine.cpp`, `Engine::evaluate_function`.
    """
    return {
        "exp": ["SumBackward0", "MulBackward0", "ExpBackward0", "AccumulateGrad"],
        "head": [
            "NllLossBackward0",
            "LogSoftmaxBackward0",
            "AddmmBackward0",
            "AccumulateGrad",
            "TBackward0",
            "AccumulateGrad",
        ],
        "detach": [
            "SumBackward0",
            "MulBackward0",
            "MulBackward0",
            "SliceBackward0",
            "SliceBackward0",
            "AccumulateGrad",
        ],
        "diamond": [
            "SumBackward0",
            "MulBackward0",
            "AddBackward0",
            "TanhBackward0",
            "SigmoidBackward0",
            "AccumulateGrad",
        ],
        "no_grad": ["SumBackward0", "ReluBackward0", "DivBackward0", "AccumulateGrad"],
    }[program]


def saved_tensors(program: str) -> list[str]:
    """The tensors that the nodes of a program of `SAVED` have saved when `loss` has been computed.

    For `loss = x.exp().sum()` that is the list of "ExpBackward0.result" alone. `sum` saves sizes, which are not a tensor.

    Args:
        program: a key of `SAVED`.

    Returns:
        a list of strings: a node's name, a dot, and the name that `derivatives.yaml` has for the tensor: `self`, `other` or
        `result`, and for `mm` `self` or `mat2`. First those of the node that runs first in the backward pass. Those of one node
        are in alphabetical order.

    Source: `tools/autograd/derivatives.yaml`; `torch/csrc/autograd/saved_variable.cpp`.
    """
    return {
        "constant": ["MulBackward0.other"],
        "both": ["MulBackward0.other", "MulBackward0.self", "ExpBackward0.result"],
        "result": ["SigmoidBackward0.result", "ReluBackward0.result"],
        "input": ["MmBackward0.self"],
    }[program]
