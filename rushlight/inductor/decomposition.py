"""Operators that are made of simpler ones: a formula of each, and the rule that lowers it.

Most formulas are those of `aot/decompositions.py`, by which `make_fx` replaces operators. The rule traces a formula, and applies
the rules of the operators in it, one after the other. In PyTorch: `torch/_inductor/decomposition.py`. There the formulas replace
the operators before the lowering, so the graph has the simpler ones.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

from rushlight.aot.decompositions import MEAN, NONE, TABLE
from rushlight.aot.proxy_tensor import make_fx
from rushlight.aten.generated import functions
from rushlight.aten.strided import Tensor
from rushlight.c10.schema import bind
from rushlight.fx.node import map_arg
from rushlight.inductor.lowering import LOWERINGS, Unsupported, V

DECOMPOSED = """
    gelu gelu_backward silu silu_backward leaky_relu leaky_relu_backward elu softplus sigmoid_backward tanh_backward
    hardtanh_backward threshold_backward addcmul addcdiv lerp.Scalar square mean mean.dim var.correction std.correction
    slice_backward mse_loss logsumexp _log_softmax _softmax_backward_data _log_softmax_backward_data
"""


def softmax(x: Tensor, dim: int, half_to_float: bool) -> Tensor:
    """`_softmax` as elementary operators. The largest element of each row is subtracted before `exp`."""
    powers = functions.exp(x - functions.amax(x, [dim], True) if x.numel() else x)
    return powers * functions.reciprocal(functions.sum(powers, [dim], True))  # one division for each row


def classes_of(x: Tensor, target: Tensor, ignore_index: int) -> tuple[Tensor, Tensor]:
    """Whether a target is ignored, and its class: 0 for an ignored target. A negative class is made too large, because an index
    that is too large is an error."""
    if x.dim() != 2:
        raise Unsupported
    ignored = target == ignore_index
    return ignored, functions.where(ignored, 0, functions.where(target < 0, x.size(1), target))


def nll_loss(x: Tensor, target: Tensor, weight: Tensor | None, reduction: int, ignore_index: int) -> tuple[Tensor, ...]:
    """`nll_loss_forward` as elementary operators: the loss and the sum of the weights. An element with `ignore_index`
    counts neither way."""
    ignored, classes = classes_of(x, target, ignore_index)
    picked = -x.gather(1, classes.unsqueeze(1)).squeeze(1)
    weights = functions.logical_not(ignored).to(x.dtype)
    if weight is not None:
        weights = functions.where(ignored, 0.0, weight.index_select(0, classes))
        picked = picked * weights
    losses = functions.where(ignored, 0.0, picked)
    if reduction == NONE:
        return losses, x.new_zeros(())
    total, total_weight = losses.sum(), weights.sum()
    return total / total_weight if reduction == MEAN else total, total_weight


def nll_loss_backward(grad, x, target, weight, reduction, ignore_index, total_weight) -> Tensor:
    """`nll_loss_backward` as elementary operators, by a comparison of each class with the target. It needs no
    scatter."""
    ignored, classes = classes_of(x, target, ignore_index)
    value = -(grad / total_weight if reduction == MEAN else grad)
    value = functions.where(ignored, 0.0, value if weight is None else value * weight.index_select(0, classes))
    return functions.where(functions.arange(x.size(1)) == classes.unsqueeze(1), value.unsqueeze(1), 0.0)


def scatter_value(x: Tensor, dim: int, index: Tensor, value: float) -> Tensor:
    """One value for each row, at the position in `index`."""
    others = [1 if d == dim % x.dim() else size for d, size in enumerate(x.shape)]
    if not others or [*index.shape] != others:
        raise Unsupported
    positions = functions.arange(x.size(dim)).reshape([-1 if d == dim % x.dim() else 1 for d in range(x.dim())])
    return functions.where(index == positions, value, x).to(x.dtype)


def below(x: Tensor, diagonal: int) -> Tensor:
    """Whether an element of a matrix is on a diagonal or below it."""
    return functions.arange(x.size(-1)) <= functions.arange(x.size(-2)).unsqueeze(1) + diagonal


FORMULAS: dict[str, Callable] = {name: TABLE[name] for name in DECOMPOSED.split()}
FORMULAS |= dict.fromkeys(
    ("masked_fill.Scalar", "masked_fill.Tensor"),
    lambda self, mask, value: functions.where(mask, value, self).to(self.dtype),
)
FORMULAS |= {
    "_softmax": softmax,
    "nll_loss_forward": nll_loss,
    "nll_loss_backward": nll_loss_backward,
    "scatter.value": scatter_value,
    "tril": lambda self, diagonal: functions.where(below(self, diagonal), self, self.new_zeros(())),
    "triu": lambda self, diagonal: functions.where(below(self, diagonal - 1), self.new_zeros(()), self),
    "select_backward": lambda grad, sizes, dim, index: functions.slice_scatter(
        grad.new_zeros(sizes), grad.unsqueeze(dim), dim, index % sizes[dim], index % sizes[dim] + 1
    ),
    "threshold": lambda self, threshold, value: functions.where(self <= threshold, value, self),
    "lerp.Tensor": lambda self, end, w: functions.where(
        functions.abs(w) < 0.5, self + w * (end - self), end - (end - self) * (1 - w)
    ),
    "max.dim": lambda self, dim, keepdim: (functions.amax(self, [dim], keepdim), functions.argmax(self, dim, keepdim)),
    "min.dim": lambda self, dim, keepdim: (functions.amin(self, [dim], keepdim), functions.argmin(self, dim, keepdim)),
    "var.dim": lambda self, dim, unbiased, keepdim: TABLE["var.correction"](self, dim, int(unbiased), keepdim),
    "std.dim": lambda self, dim, unbiased, keepdim: TABLE["std.correction"](self, dim, int(unbiased), keepdim),
}


def decomposed(function: Callable, *args: Any) -> Any:
    """The result of an operator that `function` computes by simpler operators: that of their rules, one after the other. Their
    work belongs to the operator's node."""
    graph, node, rest = V.graph, V.graph.node, iter(args)
    given = map_arg((node.args, node.kwargs), lambda used: used.meta["val"])
    try:
        formula = make_fx(function)(*bind(node.target._schema, *given)).graph
    except RuntimeError:  # of a formula for other dtypes than these
        raise Unsupported from None
    for step in formula.nodes:
        if step.op == "output":
            graph.node = node
            return map_arg(step.args[0], graph.boxes.__getitem__)
        step.name, graph.node = node.name, step
        graph.boxes[step] = next(rest) if step.op == "placeholder" else graph.run_node(step)
    return None


LOWERINGS |= {f"aten::{name}": partial(decomposed, formula) for name, formula in FORMULAS.items()}
