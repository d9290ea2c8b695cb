"""The functions of neural networks, without state. In PyTorch: `torch/nn/functional.py`.

Some are operators, declared with `python_module: nn`. Others are Python functions that call an operator: they take a string
(`reduction="mean"`) if the operator takes a number, or choose between its in-place and its functional form. Left out: the
warning for `size_average` and `reduce`, the deprecated forms of `reduction`.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence

from rushlight.aten.generated import functions
from rushlight.aten.iterator import common_sizes
from rushlight.aten.strided import Tensor
from rushlight.c10.dtypes import dtype

__all__ = [
    "batch_norm", "binary_cross_entropy", "binary_cross_entropy_with_logits", "cross_entropy", "dropout", "elu", "elu_",
    "embedding", "gelu", "hardtanh", "hardtanh_", "huber_loss", "kl_div", "l1_loss", "layer_norm", "leaky_relu",
    "leaky_relu_", "linear", "log_softmax", "mse_loss", "nll_loss", "one_hot", "relu", "relu6", "relu_", "rms_norm",
    "scaled_dot_product_attention", "sigmoid", "silu", "smooth_l1_loss", "softmax", "softmin", "softplus", "tanh",
]  # fmt: skip

# Operators that need no Python function.
gelu, linear, one_hot, softplus = functions.gelu, functions.linear, functions.one_hot, functions.softplus
scaled_dot_product_attention = functions.scaled_dot_product_attention
relu_, elu_, hardtanh_, leaky_relu_ = functions.relu_, functions.elu_, functions.hardtanh_, functions.leaky_relu_

# Activations ---------------------------------------------------------------------------------------------------------


def relu(input: Tensor, inplace: bool = False) -> Tensor:
    return input.relu_() if inplace else functions.relu(input)


def silu(input: Tensor, inplace: bool = False) -> Tensor:
    return functions.silu_(input) if inplace else functions.silu(input)


def elu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    return functions.elu_(input, alpha) if inplace else functions.elu(input, alpha)


def leaky_relu(input: Tensor, negative_slope: float = 0.01, inplace: bool = False) -> Tensor:
    return functions.leaky_relu_(input, negative_slope) if inplace else functions.leaky_relu(input, negative_slope)


def hardtanh(input: Tensor, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False) -> Tensor:
    if min_val > max_val:
        raise ValueError("min_val cannot be greater than max_val")
    return functions.hardtanh_(input, min_val, max_val) if inplace else functions.hardtanh(input, min_val, max_val)


def relu6(input: Tensor, inplace: bool = False) -> Tensor:
    return hardtanh(input, 0.0, 6.0, inplace)


def sigmoid(input: Tensor) -> Tensor:
    return input.sigmoid()


def tanh(input: Tensor) -> Tensor:
    return input.tanh()


def softmax(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: dtype | None = None) -> Tensor:
    dim = _softmax_dim("softmax", input, _stacklevel) if dim is None else dim
    return functions.softmax(input, dim, dtype)


def log_softmax(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: dtype | None = None) -> Tensor:
    dim = _softmax_dim("log_softmax", input, _stacklevel) if dim is None else dim
    return functions.log_softmax(input, dim, dtype)


def softmin(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: dtype | None = None) -> Tensor:
    """`softmax` of the negated input: the smallest element gets the largest probability."""
    dim = _softmax_dim("softmin", input, _stacklevel) if dim is None else dim
    return functions.softmax(functions.neg(input), dim, dtype)


def _softmax_dim(name: str, input: Tensor, stacklevel: int) -> int:
    """The default dimension if `dim` is None, which PyTorch deprecates."""
    warnings.warn(f"Implicit dimension choice for {name} has been deprecated. Pass dim=...", stacklevel=stacklevel)
    return 0 if input.dim() in (0, 1, 3) else 1


def dropout(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    if not 0 <= p <= 1:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
    return functions.dropout_(input, p, training) if inplace else functions.dropout(input, p, training)


# Functions with a weight ---------------------------------------------------------------------------------------------

Weight = Tensor | None  # a weight or a bias, if there is one


def embedding(
    input: Tensor,
    weight: Tensor,
    padding_idx: int | None = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Tensor:
    """The rows of `weight` at the indices in `input`. With `max_norm`, a selected row with a larger norm is first scaled down,
    in place. The row `padding_idx` gets no gradient."""
    if padding_idx is None:
        padding_idx = -1
    elif padding_idx:
        if not -weight.size(0) <= padding_idx < weight.size(0):
            raise AssertionError("Padding_idx must be within num_embeddings")
        padding_idx %= weight.size(0)
    if max_norm is not None:
        functions.embedding_renorm_(weight, input.contiguous(), max_norm, norm_type)
    return functions.embedding(weight, input, padding_idx, scale_grad_by_freq, sparse)


def layer_norm(
    input: Tensor, normalized_shape: Sequence[int], weight: Weight = None, bias: Weight = None, eps: float = 1e-5
) -> Tensor:
    return functions.layer_norm(input, normalized_shape, weight, bias, eps)


def rms_norm(input: Tensor, normalized_shape: Sequence[int], weight: Weight = None, eps: float | None = None) -> Tensor:
    return functions.rms_norm(input, normalized_shape, weight, eps)


def batch_norm(
    input: Tensor,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Tensor:
    if training and input.shape[:1].numel() * input.shape[2:].numel() == 1:  # one number has no variance
        raise ValueError(f"Expected more than 1 value per channel when training, got input size {input.shape}")
    return functions.batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps, False)


# Losses --------------------------------------------------------------------------------------------------------------

REDUCTIONS = {"none": 0, "mean": 1, "sum": 2}


def _reduction(reduction: str, size_average: bool | None = None, reduce: bool | None = None) -> int:
    """The number of a reduction. Source: `torch/nn/_reduction.py`."""
    if size_average is not None or reduce is not None:
        reduction = "none" if reduce is False else "sum" if size_average is False else "mean"
    if reduction not in REDUCTIONS:
        raise ValueError(f"{reduction} is not a valid value for reduction")
    return REDUCTIONS[reduction]


def nll_loss(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    ignore_index: int = -100,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    return functions.nll_loss_nd(input, target, weight, _reduction(reduction, size_average, reduce), ignore_index)


def cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    ignore_index: int = -100,
    reduce: bool | None = None,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Tensor:
    number = _reduction(reduction, size_average, reduce)
    return functions.cross_entropy_loss(input, target, weight, number, ignore_index, label_smoothing)


def binary_cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    number = _reduction(reduction, size_average, reduce)
    if target.shape != input.shape:
        sizes = f"Using a target size ({target.shape}) that is different to the input size ({input.shape})"
        raise ValueError(f"{sizes} is deprecated. Please ensure they have the same size.")
    if weight is not None:
        weight = weight.expand(common_sizes(target, weight))
    return functions.binary_cross_entropy(input, target, weight, number)


def kl_div(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    log_target: bool = False,
) -> Tensor:
    """With the reduction "batchmean", the sum is divided by the size of the batch: this is the Kullback-Leibler divergence."""
    if reduction == "mean" and size_average is None and reduce is None:
        warnings.warn("reduction: 'mean' divides by the number of elements, not of samples: 'batchmean'", stacklevel=2)
    of_batch = reduction == "batchmean"
    number = _reduction("sum" if of_batch else reduction, size_average, reduce)
    loss = functions.kl_div(input, target, number, log_target=log_target)
    return loss / input.size(0) if of_batch and input.dim() else loss


def binary_cross_entropy_with_logits(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    pos_weight: Tensor | None = None,
) -> Tensor:
    number = _reduction(reduction, size_average, reduce)
    if target.shape != input.shape:
        raise ValueError(f"Target size ({target.shape}) must be the same as input size ({input.shape})")
    return functions.binary_cross_entropy_with_logits(input, target, weight, pos_weight, number)


def mse_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    weight: Tensor | None = None,
) -> Tensor:
    number = _reduction(reduction, size_average, reduce)
    input, target = _pair(input, target, weight)
    if weight is None:
        return functions.mse_loss(input, target, number)
    return _weighted(functions.pow(input - target, 2), weight, number)


def l1_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    weight: Tensor | None = None,
) -> Tensor:
    number = _reduction(reduction, size_average, reduce)
    input, target = _pair(input, target, weight)
    if weight is None:
        return functions.l1_loss(input, target, number)
    return _weighted(functions.abs(input - target), weight, number)


def smooth_l1_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    beta: float = 1.0,
) -> Tensor:
    number = _reduction(reduction, size_average, reduce)
    input, target = _pair(input, target)
    if beta == 0:
        return functions.l1_loss(input, target, number)
    return functions.smooth_l1_loss(input, target, number, beta)


def huber_loss(
    input: Tensor, target: Tensor, reduction: str = "mean", delta: float = 1.0, weight: Tensor | None = None
) -> Tensor:
    number = _reduction(reduction)
    input, target = _pair(input, target, weight)
    if weight is None:
        return functions.huber_loss(input, target, number, delta)
    loss = functions.huber_loss(input, target, REDUCTIONS["none"], delta) * weight
    return loss if reduction == "none" else functions.mean(loss) if reduction == "mean" else functions.sum(loss)


def _pair(input: Tensor, target: Tensor, weight: Tensor | None = None) -> tuple[Tensor, Tensor]:
    """Broadcast both to one shape, with a warning, because different sizes are usually a mistake."""
    if target.shape != input.shape:
        sizes = f"target size ({target.shape}) that is different to the input size ({input.shape})"
        warnings.warn(f"Using a {sizes}: they are broadcast", stacklevel=3)
    if weight is not None and weight.shape != input.shape:
        raise ValueError("Weights and input must have the same size.")
    return functions.broadcast_tensors((input, target))


def _weighted(loss: Tensor, weight: Tensor, reduction: int) -> Tensor:
    loss = loss * weight
    if reduction == REDUCTIONS["none"]:
        return loss
    total = functions.sum(loss)
    return total / functions.sum(weight) if reduction == REDUCTIONS["mean"] else total
