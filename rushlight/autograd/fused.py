"""Pairs of nodes that a backward pass runs in one step, because one formula for both takes fewer passes over the memory.

PyTorch's engine runs each node alone. Here this is a fast path of `engine.execute_whole`: the nodes of the graph, their saved
tensors and their errors stay as in PyTorch. A function of this module returns None for a pair that the nodes must run themselves.
"""

from __future__ import annotations

from rushlight.aten.native.losses import MEAN, nll_log_softmax_backward
from rushlight.aten.strided import Tensor
from rushlight.autograd.generated.variable_type import LogSoftmaxBackward0, NllLossBackward0
from rushlight.autograd.graph import SavedTensor
from rushlight.library import is_overridden


def can_read(saved: SavedTensor | None) -> bool:
    """Whether a saved tensor can be read without a hook and without an error."""
    return saved is not None and saved.unpack_hook is None and saved.tensor._storage.version == saved.version


def cross_entropy(nll: NllLossBackward0, log_softmax: LogSoftmaxBackward0, grad: Tensor | None) -> tuple[Tensor] | None:
    """The gradient of the scores, where `nll_loss` takes the mean over the rows that `log_softmax` returned."""
    target, total, result = nll.saved_target, nll.saved_total_weight, log_softmax.saved_result
    if grad is None or nll.reduction != MEAN or nll.saved_weight is not None or log_softmax.dim not in (1, -1):
        return None
    if not (can_read(nll.saved_self) and can_read(target) and can_read(total) and can_read(result)):
        return None
    if is_overridden("aten::nll_loss_backward", "aten::_log_softmax_backward_data"):
        return None
    found = nll_log_softmax_backward(grad, result.tensor, target.tensor, total.tensor)
    return None if found is None else (found,)


# By the first node: the next node, and the function of both.
FUSED = {NllLossBackward0: (LogSoftmaxBackward0, cross_entropy)}
