"""The gradients of the head by hand: formulas instead of a graph.

In PyTorch each of these formulas is a line of `tools/autograd/derivatives.yaml`, and the engine passes their results along.
"""

from __future__ import annotations

from rushlight.aten.strided import Tensor


def head_gradients(x: Tensor, weight: Tensor, bias: Tensor, target: Tensor) -> dict[str, Tensor]:
    """The gradient that arrives at each node in the backward pass of `cross_entropy(linear(x, weight, bias), target)`.

    Compute each gradient by its formula, with matrix products, sums, maxima, `exp`, `log`, arithmetic, views and indexing. These
    are refused: an operator with `softmax`, `loss` or `backward` in its name, and a backward pass. All others are allowed,
    also `logsumexp`. The scores may be as large as 1,000.

    Args:
        x: the batch, (n, features), of dtype float32 or float64. Each of x, weight and bias is meant as a leaf that requires
            grad, but does not require grad here.
        weight: (classes, features), of the same dtype.
        bias: (classes,), of the same dtype.
        target: the class of each row, (n,), of dtype int64. The loss is the mean over the rows.

    Returns:
        a dict with a tensor for each node, in the dtype of `x` and in the sizes that arrive at the node. The keys are the
        names of the nodes, "NllLossBackward0", "LogSoftmaxBackward0", "AddmmBackward0" and "TBackward0", and for the
        `AccumulateGrad` of a leaf the name of the leaf, "x", "weight" or "bias".

    >>> gradients = head_gradients(rl.ones(1, 2), rl.zeros(4, 2), rl.zeros(4), rl.tensor([3]))
    >>> gradients["NllLossBackward0"].tolist(), gradients["bias"].tolist()
    (1.0, [0.25, 0.25, 0.25, -0.75])

    Source: `tools/autograd/derivatives.yaml`: `nll_loss_forward`, `_log_softmax`, `addmm` and `t`.
    """
    scores = x @ weight.t() + bias
    n, powers = len(scores), (scores - scores.amax(1, keepdim=True)).exp()
    log_softmax = scores.new_zeros(scores.shape)
    log_softmax[range(n), target] = -1 / n
    addmm = log_softmax + powers / powers.sum(1, True) / n
    t = x.t() @ addmm
    return {
        "NllLossBackward0": scores.new_ones(()),
        "LogSoftmaxBackward0": log_softmax,
        "AddmmBackward0": addmm,
        "x": addmm @ weight,
        "bias": addmm.sum(0),
        "TBackward0": t,
        "weight": t.t(),
    }
