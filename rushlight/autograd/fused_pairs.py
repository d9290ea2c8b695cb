"""Pairs of nodes that one step of a backward pass can run (`fused.fuse`). A function of this module returns None for a pair that
the nodes must run themselves."""

from typing import Any

from rushlight.aten.generated import functions
from rushlight.aten.native import views
from rushlight.aten.native.losses import MEAN, nll_log_softmax_backward
from rushlight.aten.strided import Tensor
from rushlight.autograd.derivatives import maybe_multiply, mm_backward_mat1
from rushlight.autograd.generated.variable_type import AddmmBackward0, LogSoftmaxBackward0, NllLossBackward0, TBackward0
from rushlight.autograd.graph import SavedTensor
from rushlight.c10.dispatch import INFERENCE_KEYS, TENSOR_KEYS, local
from rushlight.c10.fast_paths import fastest
from rushlight.library import is_overridden

Generated = Any  # a node of the generated classes, whose attributes have no types


def can_read(saved: SavedTensor | None) -> bool:
    """Whether a saved tensor can be read without a hook and without an error."""
    return saved is not None and saved.unpack_hook is None and saved.tensor._storage.version == saved.version


def cross_entropy(nll: Generated, log_softmax: Generated, grad: Tensor | None) -> tuple[Tensor] | None:
    """The gradient of the scores, where `nll_loss` takes the mean over the rows that `log_softmax` returned."""
    target, total, result = nll.saved_target, nll.saved_total_weight, log_softmax.saved_result
    if grad is None or nll.reduction != MEAN or nll.saved_weight is not None or log_softmax.dim not in (1, -1):
        return None
    if not (can_read(nll.saved_self) and can_read(target) and can_read(total) and can_read(result)):
        return None
    if is_overridden("aten::nll_loss_backward", "aten::_log_softmax_backward_data"):
        return None
    to_scores = nll_log_softmax_backward(grad, result.tensor, target.tensor, total.tensor)
    return None if to_scores is None else (to_scores,)


def linear(addmm: Generated, t: Generated, grad: Tensor | None) -> tuple[Tensor | None, ...] | None:
    """The gradients of a bias, of an input and of the weight, where `addmm` has multiplied by the transpose of the weight. The
    gradient of that transpose would be a product transposed, and the gradient of the weight the product transposed twice."""
    to_bias, to_input, _ = addmm.next_edges
    saved, (inner, columns) = addmm.saved_mat1, addmm.mat2_shape
    if grad is None or addmm.alpha != 1 or addmm.mat2_stride != (1, inner) or 0 in (inner, columns):
        return None
    if not can_read(saved) or to_input.node is not None and not can_read(addmm.saved_mat2):
        return None
    if is_overridden("aten::mm", "aten::t", "aten::sum.dim_IntList"):
        return None
    if not TENSOR_KEYS["cpu"] == grad._key_set == saved.tensor._key_set:
        return None
    key_set = INFERENCE_KEYS["cpu"] & ~local.excluded  # of the kernels below autograd
    weight = functions.mm_op.table[key_set](views.t(grad), saved.tensor)
    bias = maybe_multiply(grad, addmm.beta) if to_bias.node is not None else None
    if bias is grad and to_bias.node.input_metadata[to_bias.input_nr][0] == (columns,):
        bias = functions.sum_dim_IntList_op.table[key_set](grad, (0,), False, None)
    if to_input.node is None:
        return bias, None, weight
    to_mat1 = fastest[mm_backward_mat1](grad, addmm.saved_mat2.tensor, addmm.mat1_shape, addmm.mat1_stride, 1)
    return bias, to_mat1, weight


# By the first node: the number of the edge to the next node, the type of that node, and the function of both. The function returns
# the gradients for the edges of the first node, and in the place of the edge to the next node those for the edges of that node.
FUSED = {NllLossBackward0: (0, LogSoftmaxBackward0, cross_entropy), AddmmBackward0: (2, TBackward0, linear)}
