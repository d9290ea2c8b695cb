"""Losses: the distance of a prediction from the target, as a number to minimise.

A loss compares element by element, and then *reduces*: 0 keeps every element, 1 takes the mean, 2 the sum. In PyTorch:
`aten/src/ATen/native/Loss.cpp`, `LossNLL.cpp`, `LossNLL2d.cpp`. Cross-entropy has no kernel of its own: it calls
`log_softmax` and `nll_loss`. Losses in one line are formulas in `native_functions.yaml`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from typing import Any

import numpy as np

from rushlight.aten.generated import functions
from rushlight.aten.iterator import Output, common_sizes, for_each, output_of
from rushlight.aten.native.pointwise import choose, fits_fast_path, widened
from rushlight.aten.strided import META, Size, Tensor, strides_for, wrap_like, wrap_plain
from rushlight.aten.structured import Structured, allocate, check_floating
from rushlight.c10.dispatch import TENSOR_KEYS
from rushlight.c10.dtypes import FLOATING, Scalar, can_cast, common_dtype, int64, uint8
from rushlight.c10.fast_paths import fast_form_of

NONE, MEAN, SUM = range(3)
NO_SIZES = Size()


def reduce(loss: Tensor, reduction: int) -> Tensor:
    """The loss, reduced according to `reduction`. Source: `aten/src/ATen/native/Loss.cpp`, `apply_loss_reduction`."""
    if reduction == MEAN:
        return functions.mean(loss)
    return functions.sum(loss) if reduction == SUM else loss


def _sum(losses: np.ndarray) -> np.floating:
    """The sum of all elements. float16 and bfloat16 are summed in float32."""
    return losses.sum(dtype=np.promote_types(losses.dtype, np.float32))


# Classes -------------------------------------------------------------------------------------------------------------


def nll_loss_nd(self: Tensor, target: Tensor, weight: Tensor | None, reduction: int, ignore_index: int) -> Tensor:
    """The negative log likelihood of scores (batch, classes, \\*positions) and targets (batch, \\*positions), or (classes,) and
    ().
    Source: `aten/src/ATen/native/LossNLL.cpp`, `nll_loss_nd_symint`."""
    ndim, (batch, *_) = self.dim(), target.shape or (0,)
    if ndim < 1:
        raise ValueError(f"Expected 1 or more dimensions (got {ndim})")
    if ndim == 1 and target.dim() == 1:
        if batch != 1:
            raise ValueError(f"For 1D input, 1D target must have size 1, but got target size: {batch}")
        target = functions.squeeze(target, 0)
    if ndim > 1 and self.shape[0] != batch:
        raise ValueError(f"Expected input batch_size ({self.size(0)}) to match target batch_size ({batch}).")
    if ndim <= 2:
        return functions.nll_loss(self, target, weight, reduction, ignore_index)
    if ndim == 4:
        return functions.nll_loss2d(self, target, weight, reduction, ignore_index)
    classes, positions = self.size(1), tuple(self.shape[2:])
    if tuple(target.shape[1:]) != positions:
        raise RuntimeError(f"Expected target size {[batch, *positions]}, got {list(target.shape)}")
    flat = -1 if self.numel() and target.numel() else 0
    scores, targets = self.reshape((batch, classes, 1, flat)), target.reshape((batch, 1, flat))
    loss = functions.nll_loss2d(scores, targets, weight, reduction, ignore_index)
    return loss.view((batch, *positions)) if reduction == NONE else loss


def nll_loss_forward(self, target, weight, reduction, ignore_index) -> tuple[Tensor, Tensor]:
    """The loss, and the total weight of the targets that are not ignored (0 without reduction). The gradient of a mean needs
    it.
    Source: `aten/src/ATen/native/LossNLL.cpp`, `TORCH_META_FUNC(nll_loss_forward)` and `nll_loss_out_frame`."""
    _check_rows(self, target)
    return _nll(self, target, weight, reduction, ignore_index, () if self.dim() == 1 else target.shape)


def _check_rows(self: Tensor, target: Tensor) -> None:
    if self.dim() not in (1, 2):
        raise RuntimeError("input tensor should be 1D or 2D")
    if target.dim() > 1:
        raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
    if (self.dim(), target.dim()) != (1, 0) and self.size(0) != target.size(0):
        raise RuntimeError(f"size mismatch (got input: {list(self.shape)}, target: {list(target.shape)})")


@fast_form_of(nll_loss_forward)
def nll_of_rows(self, target, weight, reduction, ignore_index) -> tuple[Tensor, Tensor]:
    """`nll_loss_forward` for the most frequent call: a contiguous matrix and targets that are not ignored."""
    if not fits_fast_path(self) or self._key_set & META or weight is not None or reduction == NONE:
        return nll_loss_forward(self, target, weight, reduction, ignore_index)
    scores, targets = self._array, target._array
    if scores.ndim != 2 or not _none_ignored(targets, scores.shape, ignore_index):
        return nll_loss_forward(self, target, weight, reduction, ignore_index)
    positions = _row_starts(*scores.shape) + targets
    total = np.add.reduce(scores.take(positions.astype(np.intp, copy=False)))
    count = np.array(len(targets), scores.dtype)
    loss = np.asarray(-total / count if reduction == MEAN else -total)
    return wrap_plain(loss, NO_SIZES, self.dtype), wrap_plain(count, NO_SIZES, self.dtype)


def _none_ignored(targets: np.ndarray, sizes: tuple[int, int], ignore_index: int) -> bool:
    """Whether there is one target for each row of scores of these sizes, each target is a class, and none is ignored."""
    rows, classes = sizes
    if targets.shape != (rows,) or rows == 0 or 0 <= ignore_index < classes or targets.dtype != np.int64:
        return False
    unsigned = targets.view(np.uint64)  # a negative target becomes large
    return unsigned[unsigned.argmax()] < classes


@lru_cache(8)
def _row_starts(rows: int, columns: int) -> np.ndarray:
    """The position of each row's first element in a contiguous matrix. numpy reads and writes positions faster than pairs."""
    return np.arange(rows, dtype=np.int64) * columns


def nll_loss2d_forward(self, target, weight, reduction, ignore_index) -> tuple[Tensor, Tensor]:
    """The same for images: (batch, classes, height, width) and (batch, height, width).
    Source: `aten/src/ATen/native/LossNLL2d.cpp`, `nll_loss2d_forward_out_frame`."""
    if target.dim() != 3:
        raise RuntimeError(f"only batches of spatial targets supported (3D tensors) but got {target.dim()} dimensions")
    if self.dim() != 4:
        raise RuntimeError(f"only batches of spatial inputs supported (4D tensors), but got {self.dim()} dimensions")
    if (self.size(0), *self.shape[2:]) != tuple(target.shape):
        raise RuntimeError(f"size mismatch (got input: {list(self.shape)}, target: {list(target.shape)})")
    return _nll(self, target, weight, reduction, ignore_index, target.shape)


def _nll(self, target, weight, reduction, ignore_index, sizes: Sequence[int]) -> tuple[Tensor, Tensor]:
    """The loss and the total weight. Without reduction, the loss has these sizes."""
    classes = self.size(1 if self.dim() > 1 else 0)
    if weight is not None and tuple(weight.shape) != (classes,):
        got = f"no classes but got weight tensor of shape: {list(weight.shape)}"
        raise RuntimeError(f"weight tensor should be defined either for all {classes} classes or {got}")
    check_floating("nll_loss", self)
    if target.dtype not in (int64, uint8):
        raise RuntimeError(f"expected target dtype to be Long or Byte, but got {target.dtype.type_name}")
    if weight is not None and weight.dtype is not self.dtype:
        raise RuntimeError(f"expected scalar type {self.dtype.type_name} but found {weight.dtype.type_name}")
    out = allocate(Output(sizes if reduction == NONE else (), None, self.dtype), self.device.type)
    total_weight = allocate(Output((), None, self.dtype), self.device.type)
    if self.is_meta:
        return out, total_weight
    # One row per target, one column per class.
    scores = np.moveaxis(self._array, 1, -1) if self.dim() > 1 else self._array
    targets = target._array.reshape(-1).astype(np.int64)
    scores = scores.reshape(targets.size, classes)
    counts = targets != ignore_index
    wrong = targets[counts & ((targets < 0) | (targets >= classes))]
    if wrong.size:
        raise IndexError(f"Target {wrong[0]} is out of bounds.")
    rows, chosen = np.flatnonzero(counts), targets[counts]
    weights = np.ones(rows.size, self.dtype.numpy) if weight is None else weight._array[chosen]
    losses = np.zeros(targets.size, self.dtype.numpy)
    losses[rows] = -scores[rows, chosen] * weights
    if reduction == NONE:
        out._array[...], total_weight._array[...] = losses.reshape(out.shape), 0
    else:
        total_weight._array[...] = _sum(weights)
        out._array[...] = _sum(losses) / _sum(weights) if reduction == MEAN else _sum(losses)
    return out, total_weight


def cross_entropy_loss(
    self: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    reduction: int = MEAN,
    ignore_index: int = -100,
    label_smoothing: float = 0.0,
) -> Tensor:
    """Cross-entropy: minus the logarithm of the probability that the scores `self` give to the true class.

    `self` is (batch, classes, \\*positions), or (classes,) for a single sample. The logarithms of the probabilities are its
    `log_softmax` along the classes: dimension 1, or 0 for a single sample. A *position* has one target: it is an element of
    (batch, \\*positions).

    If the shape of `target` differs from that of `self`, it holds classes: int64, (batch, \\*positions), or () for a single
    sample. Then the loss is `nll_loss_nd` of the logarithms, with `target`, `weight`, `reduction` and `ignore_index`. With a
    `label_smoothing` s > 0, the loss is 1 - s times that, plus s / classes times the loss with all classes as targets. At each
    position, the loss with all classes as targets is minus the sum of the logarithms of all classes, each times its weight, if
    there are weights. Here too, a position whose target is `ignore_index` is 0, and `reduction` is applied. The mean is the sum
    divided by the number of positions that are not ignored, or, if there are weights, by the sum of the weights of their target
    classes. `of_all_classes(logarithms, target, weight, reduction, ignore_index)` computes this loss with all classes as targets.

    If `target` has the shape of `self`, it holds the probabilities of the classes. With s > 0, it is first mixed with equal
    probabilities: 1 - s times `target`, plus s / classes. At each position, the loss is minus the sum over the classes of
    logarithm times probability times weight, if there are weights. The mean is the sum divided by the number of positions, also
    with weights. It is nan if there are no elements. `of_probabilities(self, target, weight, reduction, label_smoothing)` does
    all of this.

    A composite kernel: it calls operators (`rl.functions`, or methods), so that autograd can follow.

    Args:
        weight: (classes,), or None.
        reduction: 0 keeps the loss of each position, 1 takes the mean, 2 the sum.
        ignore_index: a target class that is ignored, in or out of range.
        label_smoothing: up to 1; 0, less or nan for none.

    Raises:
        RuntimeError: `label_smoothing` is greater than 1; or, if `target` has the shape of `self`, its dtype is not
            floating-point (`target.dtype.category` is not `FLOATING`), `ignore_index` is not negative, or `weight` has
            another shape (`of_probabilities` raises this).

    >>> logits = rl.tensor([[2.0, 0.0, 0.0], [0.0, 0.0, 9.0]])
    >>> [round(loss, 3) for loss in cross_entropy_loss(logits, rl.tensor([0, -100]), reduction=0).tolist()]
    [0.24, 0.0]

    Source: `aten/src/ATen/native/LossNLL.cpp`, `cross_entropy_loss_symint`, `cross_entropy_loss_prob_target` and
    `cross_entropy_loss_label_smoothing`.
    """
    if label_smoothing > 1:
        raise RuntimeError(f"label_smoothing must be between 0.0 and 1.0. Got: {label_smoothing}")
    if self.shape == target.shape:
        if target.dtype.category != FLOATING:
            raise RuntimeError(
                f"Expected floating point type for target with class probabilities, got {target.dtype.type_name}"
            )
        if ignore_index >= 0:
            raise RuntimeError("ignore_index is not supported for floating point target")
        return of_probabilities(self, target, weight, reduction, label_smoothing)
    scores = functions.log_softmax(self, _class_dim(self), self.dtype)
    loss = functions.nll_loss_nd(scores, target, weight, reduction, ignore_index)
    if not label_smoothing > 0:  # also if it is nan
        return loss
    smooth = of_all_classes(scores, target, weight, reduction, ignore_index)
    classes = self.size(_class_dim(self))
    share = label_smoothing / classes if classes else math.inf  # as in C
    return functions.add(functions.mul_Scalar_op(loss, 1 - label_smoothing), functions.mul_Scalar_op(smooth, share))


def _class_dim(self: Tensor) -> int:
    return 0 if self.dim() == 1 else 1


def _along_classes(weight: Tensor, self: Tensor) -> Tensor:
    """The weight of each class, with sizes that broadcast over the positions."""
    class_dim = _class_dim(self)
    return weight.view([weight.size(0) if dim == class_dim else 1 for dim in range(self.dim())])


def of_probabilities(self: Tensor, target: Tensor, weight: Tensor | None, reduction: int, label_smoothing) -> Tensor:
    """The cross entropy with a target of probabilities, of the shape of the scores.
    Source: `aten/src/ATen/native/LossNLL.cpp`, `cross_entropy_loss_prob_target`."""
    class_dim = _class_dim(self)
    classes = self.size(class_dim)
    if weight is not None and tuple(weight.shape) != (classes,):
        raise RuntimeError(f"cross_entropy: weight tensor should be defined either for all {classes} classes or none")
    scores = functions.log_softmax(self, class_dim, self.dtype)
    if label_smoothing > 0:
        target = functions.mul_Scalar_op(target, 1 - label_smoothing)
        target = functions.add_Scalar_op(target, label_smoothing / max(classes, 1))
    if weight is not None:
        weight = _along_classes(weight, self)
    loss = scores * target
    if weight is not None:
        loss = loss * weight
    if reduction == NONE:
        return functions.neg(functions.sum(loss, class_dim))
    total = functions.sum(loss)
    if reduction == SUM:
        return functions.neg(total)
    if self.numel() == 0:
        return functions.neg(total.fill_(float("nan")))
    return functions.div_Scalar_op(functions.neg(total), self.numel() // classes)


def of_all_classes(scores: Tensor, target: Tensor, weight: Tensor | None, reduction: int, ignore_index: int) -> Tensor:
    """The loss with all classes as targets, which label smoothing adds.
    Source: `aten/src/ATen/native/LossNLL.cpp`, `cross_entropy_loss_label_smoothing`."""
    if weight is not None:
        scores = scores * _along_classes(weight, scores)
    loss = functions.neg(functions.sum(scores, _class_dim(scores)))
    ignored = functions.eq_Scalar_op(target, ignore_index)
    loss.masked_fill_(ignored, 0)
    if reduction == NONE:
        return loss
    if reduction == SUM:
        return functions.sum(loss)
    if weight is None:
        counts = functions.bitwise_not(ignored)
    else:
        counts = functions.gather(weight, 0, functions.flatten(target.masked_fill(ignored, 0)))
        counts.masked_fill_(functions.flatten(ignored), 0)
    return functions.sum(loss) / functions.sum(counts)


# Regression ----------------------------------------------------------------------------------------------------------


def _elementwise(name: str, function: Callable, wide: bool = True) -> Structured:
    """The structured kernel of `function(self - target, *parameters)`, reduced. The reduction is the argument after the
    target. If `wide` is true, float16 and bfloat16 are computed in float32."""

    def meta(self: Tensor, target: Tensor, reduction: int, *parameters: Scalar) -> Output:
        common = common_dtype(self, target)
        output = output_of(common, self, target)
        return output if reduction == NONE else Output((), None, common)

    def impl(self: Tensor, target: Tensor, reduction: int, *rest: Any) -> None:
        *parameters, out = rest
        common = common_dtype(self, target)
        if common.category != FLOATING:
            raise NotImplementedError(f"{name} is not implemented for '{common.type_name}'")
        computed = widened(common) if wide else common
        if reduction == NONE:
            for_each(lambda a, b: function(a - b, *parameters), out, (self, target), computed)
            return
        losses = function(np.subtract(self._array, target._array, dtype=computed.numpy), *parameters)
        out._array[...] = _sum(losses) if reduction == SUM else _sum(losses) / losses.size

    return Structured(meta, impl, casts=True)


def _smooth_absolute(distance: np.ndarray, beta: float) -> np.ndarray:
    """A parabola below `beta`, and a line above."""
    distance = np.abs(distance)
    return choose(distance < beta, 0.5 * distance * distance / (beta or 1), distance - 0.5 * beta)


def _huber(distance: np.ndarray, delta: float) -> np.ndarray:
    distance = np.abs(distance)
    return choose(distance < delta, 0.5 * distance * distance, delta * (distance - 0.5 * delta))


mse = _elementwise("mse_loss", np.square, wide=False)
smooth_l1 = _elementwise("smooth_l1_loss", _smooth_absolute)
huber = _elementwise("huber_loss", _huber)


def smooth_l1_meta(self: Tensor, target: Tensor, reduction: int, beta: float) -> Output:
    """The geometry of `smooth_l1_loss`. A negative `beta` raises a `RuntimeError`."""
    if beta < 0:
        raise RuntimeError("smooth_l1_loss does not support negative values for beta.")
    return mse.meta(self, target, reduction)


def huber_meta(self: Tensor, target: Tensor, reduction: int, delta: float) -> Output:
    """The geometry of `huber_loss`. A `delta` that is not positive, or a `target` whose dtype cannot be cast to that of
    `self`, raises a `RuntimeError`."""
    if delta <= 0:
        raise RuntimeError("huber_loss does not support non-positive values for delta.")
    common = common_dtype(self, target)
    if not can_cast(common, self.dtype):  # here the result has the dtype of `self`, not the common one
        refusal = f"can't be cast to the desired output type {self.dtype.type_name}"
        raise RuntimeError(f"result type {common.type_name} {refusal}")
    strides = strides_for(self, None) if reduction == NONE else None
    return Output(self.shape if reduction == NONE else (), strides, self.dtype)


smooth_l1.meta, huber.meta = smooth_l1_meta, huber_meta


def binary_cross_entropy_with_logits(
    self: Tensor, target: Tensor, weight: Tensor | None, pos_weight: Tensor | None, reduction: int = MEAN
) -> Tensor:
    """Cross-entropy of the probabilities sigmoid(x) of scores x, and of targets t from 0 to 1, element by element:
    -(t * log(sigmoid(x)) + (1 - t) * log(1 - sigmoid(x))).

    Sigmoid and logarithm are one step, because this is exact also where the sigmoid alone would be rounded to 0 or 1:

        log(sigmoid(x)) = min(x, 0) - log(1 + exp(-|x|))
        loss            = (1 - t) * x - log(sigmoid(x))

    The argument of exp is never large. `log1p` computes log(1 + y) without rounding 1 + y. `pos_weight` multiplies the term
    with t: log(sigmoid(x)) is multiplied by (pos_weight - 1) * t + 1. `weight` multiplies the loss. Then the loss is reduced.
    None of the arguments is written to.

    Args:
        self, target: of the same sizes and floating-point dtype.
        weight, pos_weight: of that dtype, broadcast to these sizes, or None.
        reduction: 0 keeps the loss of each element, 1 takes the mean, 2 the sum.

    Raises:
        NotImplementedError: the dtype of `self` is not floating-point.

    >>> binary_cross_entropy_with_logits(rl.tensor([100.0, -100.0]), rl.zeros(2), None, None, 0).tolist()
    [100.0, 0.0]

    Source: `aten/src/ATen/native/Loss.cpp`, `binary_cross_entropy_with_logits`.
    """
    log_sigmoid = _log_sigmoid(self)
    if pos_weight is not None:
        log_sigmoid.mul_((pos_weight - 1) * target + 1)
    loss = (1 - target).mul_(self).sub_(log_sigmoid)
    if weight is not None:
        loss.mul_(weight)
    return reduce(loss, reduction)


def binary_cross_entropy_meta(self: Tensor, target: Tensor, weight: Tensor | None, reduction: int) -> Output:
    """The geometry of `binary_cross_entropy`. A `target` of another dtype, or a weight that is not broadcastable to
    `self`, raises a `RuntimeError`."""
    if target.dtype is not self.dtype:
        raise RuntimeError(f"Found dtype {target.dtype.type_name} but expected {self.dtype.type_name}")
    if weight is not None and common_sizes(self, weight) != self.shape:
        raise RuntimeError(f"a weight with shape {list(weight.shape)} doesn't match the shape {list(self.shape)}")
    if reduction != NONE:
        return Output((), None, self.dtype)
    return Output(self.shape, strides_for(self, None), self.dtype)


@partial(Structured, binary_cross_entropy_meta)
def binary_cross_entropy(self: Tensor, target: Tensor, weight: Tensor | None, reduction: int, out: Tensor) -> None:
    """-weight * (t * log(x) + (1 - t) * log(1 - x)) of probabilities x and targets t from 0 to 1, reduced.

    A logarithm is never below -100, so that a probability of 0 has a finite loss.

    Source: `aten/src/ATen/native/Loss.cpp`, `binary_cross_entropy_out_cpu`.
    """
    check_floating("binary_cross_entropy", self)
    for name, array in (("input", self._array), ("target", target._array)):
        if not ((array >= 0) & (array <= 1)).all():
            raise RuntimeError(f"all elements of {name} should be between 0 and 1")
    x, t = (tensor._array.astype(widened(self.dtype).numpy, copy=False) for tensor in (self, target))
    losses = (t - 1) * np.maximum(np.log1p(-x), -100) - t * np.maximum(np.log(x), -100)
    losses = losses if weight is None else losses * weight._array
    out._array[...] = losses if reduction == NONE else _sum(losses) / (losses.size if reduction == MEAN else 1)


def kl_div(self: Tensor, target: Tensor, reduction: int = MEAN, log_target: bool = False) -> Tensor:
    """Kullback-Leibler divergence: t * (log(t) - x), element by element, of logarithms x of probabilities, and targets t. With
    `log_target`, the targets are logarithms, too.
    Source: `aten/src/ATen/native/Loss.cpp`, `kl_div`."""
    if log_target:
        distance = target - self
        return reduce(functions.exp(target) * distance, reduction)
    product = target * self
    return reduce(functions.xlogy(target, target) - product, reduction)


def poisson_nll_loss(input, target, log_input: bool, full: bool, eps: float, reduction: int) -> Tensor:
    """Without a constant, which `full` adds by Stirling's formula."""
    loss = functions.exp(input) - target * input if log_input else input - target * functions.log(input + eps)
    if full:
        stirling = target * functions.log(target) - target + 0.5 * functions.log(2 * math.pi * target)
        loss = loss + stirling.masked_fill(target <= 1, 0)
    return reduce(loss, reduction)


# Margins -------------------------------------------------------------------------------------------------------------


def cosine_embedding_loss(input1: Tensor, input2: Tensor, target: Tensor, margin: float, reduction: int) -> Tensor:
    dim, shapes = target.dim(), f"found inputs with sizes {list(input1.shape)} and {list(input2.shape)}."
    if dim > 1:
        raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
    if input1.dim() != dim + 1 or input2.dim() != dim + 1:
        raise RuntimeError(f"{dim}D target tensor expects {dim + 1}D input tensors, but {shapes}")
    product = (input1 * input2).sum(dim)
    squares = [(x * x).sum(dim) + 1e-12 for x in (input1, input2)]
    cosine = product / (squares[0] * squares[1]).sqrt_()
    near, far, zeros = 1 - cosine, (cosine - margin).clamp_min_(0), functions.zeros_like(cosine)
    return reduce(functions.where(target == 1, near, zeros) + functions.where(target == -1, far, zeros), reduction)


def triplet_margin_loss(anchor, positive, negative, margin, p, eps, swap: bool, reduction: int) -> Tensor:
    near, far = (functions.pairwise_distance(anchor, x, p, eps) for x in (positive, negative))
    if swap:
        far = functions.min(far, functions.pairwise_distance(positive, negative, p, eps))
    return reduce((margin + near - far).clamp_min(0), reduction)


def multi_margin_loss(self: Tensor, target: Tensor, p, margin, weight: Tensor | None, reduction: int) -> Tensor:
    """How far the score of each other class is within `margin` of that of the target."""
    _check_scores(self)
    self = self if self.dim() else self.unsqueeze(0)
    scores, classes = self.reshape((-1, self.size(-1))), target.reshape((-1, 1))
    distance = (margin - scores.gather(1, classes) + scores).clamp_min(0) ** p
    distance = distance if weight is None else distance * weight[classes]
    loss = distance.scatter(1, classes, 0).sum(1) / self.size(-1)
    return reduce(loss.reshape(target.shape) if reduction == NONE else loss, reduction)


def _check_scores(self: Tensor) -> None:
    """Source: `aten/src/ATen/native/LossMulti.h`."""
    if self.dim() > 2 or not self.shape[-1:].numel():
        expected = "Expected non-empty vector or matrix with optional 0-dim batch size"
        raise RuntimeError(f"{expected}, but got: {list(self.shape)}")


def multilabel_margin_loss_forward(self: Tensor, target: Tensor, reduction: int) -> tuple[Tensor, Tensor]:
    """How far the score of each other class is within 1 of that of each target. The targets of a row end before its first -1.
    Source: `aten/src/ATen/native/LossMultiLabelMargin.cpp`, `multilabel_margin_loss_forward_out_cpu_template`."""
    _check_scores(self)
    if target.shape != self.shape:
        raise RuntimeError(f"inconsistent target size: {list(target.shape)} for input of size: {list(self.shape)}")
    if target.numel() and not -1 <= int(target.min()) <= int(target.max()) < self.shape[-1:].numel():
        raise RuntimeError("argument #2 'target' is out of range")
    scores, named, index = rows_of_labels(self, target)
    is_target = functions.zeros_like(scores).scatter_add(1, index, named.to(self.dtype)).clamp_max(1)
    distance = (1 - scores.gather(1, index).unsqueeze(2) + scores.unsqueeze(1)).clamp_min(0)
    loss = (distance * (named.unsqueeze(2) & (is_target == 0).unsqueeze(1))).sum((1, 2)) / scores.size(1)
    loss = reduce(loss.reshape(target.shape[:-1]) if reduction == NONE else loss, reduction)
    return loss, is_target.reshape(target.shape)


def rows_of_labels(self: Tensor, target: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """The scores, which of the targets are there, and their classes, or 0, as matrices."""
    scores, classes = (x.reshape((-1, self.shape[-1:].numel())) for x in (self, target))
    named = functions.cumsum((classes < 0).long(), 1) == 0
    return scores, named, classes * named


def _log_sigmoid(self: Tensor) -> Tensor:
    check_floating("log_sigmoid", self)
    out = allocate(Output(self.shape, strides_for(self, None), self.dtype), self.device.type)
    if not self.is_meta:
        x = self._array
        out._array[...] = np.minimum(x, 0) - np.log1p(np.exp(-np.abs(x)))
    return out


# Derivatives that are operators of their own -------------------------------------------------------------------------


def nll_backward_meta(grad_output, self, target, weight, reduction, ignore_index, total_weight) -> Output:
    """The geometry of the gradient of `nll_loss`: that of `self`. A `grad_output` of another shape than the loss raises
    a `RuntimeError`. Source: `aten/src/ATen/native/LossNLL.cpp`, `TORCH_META_FUNC(nll_loss_backward)`."""
    _check_rows(self, target)
    if total_weight.numel() != 1:
        raise RuntimeError(f"expected total_weight to be a single element tensor, got: {list(total_weight.shape)}")
    wanted = (self.size(0),) if reduction == NONE and self.dim() == 2 else ()
    if tuple(grad_output.shape) != wanted and (wanted or grad_output.dim() > 1 or grad_output.numel() != 1):
        raise RuntimeError(f"Expected a grad_output of shape {list(wanted)}, but got {list(grad_output.shape)}")
    return Output(self.shape, None, self.dtype)


@partial(Structured, nll_backward_meta)
def nll_backward(grad_output, self, target, weight, reduction, ignore_index, total_weight, out) -> None:
    """Minus the weight of the class times the gradient at each target that is not ignored, and 0 elsewhere.
    Source: `aten/src/ATen/native/LossNLL.cpp`, `nll_loss_backward_out_frame`."""
    array = out._array
    array.fill(0)
    grad = grad_output._array / total_weight._array if reduction == MEAN else grad_output._array
    if array.ndim == 1:
        array, grad = array[None], np.reshape(grad, -1)
    _scatter_slope(array, np.reshape(target._array, -1), np.negative(grad), weight, ignore_index)


def _scatter_slope(array: np.ndarray, targets: np.ndarray, slope: np.ndarray, weight, ignore_index: int) -> None:
    """Write the slope into rows of zeros: one row per target, one column per class."""
    rows = np.arange(len(targets))
    counts = targets != ignore_index
    if not counts.all():
        rows, targets = rows[counts], targets[counts]
        slope = slope[counts] if slope.ndim and len(slope) > 1 else slope
    array[rows, targets] = slope if weight is None else slope * weight._array[targets]


def nll_log_softmax_backward(grad_output, output, target, total_weight) -> Tensor | None:
    """The gradient of the scores x in the mean of `nll_loss(log_softmax(x, 1))` without weights: the probabilities, minus 1 at
    each target, times the gradient of a row. `output` is that of `log_softmax`, and `total_weight` that of `nll_loss`. None if
    a row is ignored, or if numpy must convert a tensor."""
    if not TENSOR_KEYS["cpu"] == output._key_set == grad_output._key_set == target._key_set == total_weight._key_set:
        return None
    if grad_output._sizes or total_weight._sizes or not fits_fast_path(output) or len(output._sizes) != 2:
        return None
    targets, (rows, columns) = target._array, output._sizes
    if targets.shape != (rows,) or total_weight._array.item() != rows:  # a row is ignored
        return None
    slope = grad_output._array / total_weight._array
    array = np.exp(output._array)
    array *= slope
    array.reshape(-1)[_row_starts(rows, columns) + targets] -= slope
    return wrap_like(array, output)


def nll_loss2d_backward(grad_output, self, target, weight, reduction, ignore_index, total_weight) -> Tensor:
    """The same for images. Source: `aten/src/ATen/native/LossNLL2d.cpp`, `nll_loss2d_backward_out_frame`."""
    if target.dim() != 3 or self.dim() != 4 or (self.size(0), *self.shape[2:]) != tuple(target.shape):
        raise RuntimeError(f"size mismatch (got input: {list(self.shape)}, target: {list(target.shape)})")
    out = allocate(Output(self.shape, strides_for(self, None), self.dtype), self.device.type)
    if out.is_meta or not out.numel():
        return out
    classes = self.size(1)
    slope = np.negative(grad_output._array / total_weight._array if reduction == MEAN else grad_output._array)
    rows = np.zeros((target.numel(), classes), self.dtype.numpy)
    _scatter_slope(rows, target._array.reshape(-1), slope.reshape(-1), weight, ignore_index)
    out._array[...] = np.moveaxis(rows.reshape((*target.shape, classes)), -1, 1)
    return out


@partial(Structured, lambda grad, self, *rest: Output(self.shape, strides_for(self, None), self.dtype))
def binary_cross_entropy_backward(grad_output, self, target, weight, reduction: int, out: Tensor) -> None:
    """weight * (x - t) / (x * (1 - x)) times the gradient. The divisor is at least 1e-12.
    Source: `aten/src/ATen/native/Loss.cpp`, `binary_cross_entropy_backward_out_cpu`."""
    grad, x, t = (tensor._array.astype(widened(self.dtype).numpy, copy=False) for tensor in (grad_output, self, target))
    slope = grad * (x - t) / np.maximum((1 - x) * x, 1e-12)
    slope = slope if weight is None else slope * weight._array
    out._array[...] = slope / max(self.numel(), 1) if reduction == MEAN else slope


def _slope(function: Callable, factor: int = 1) -> Structured:
    """The structured kernel of `factor * function(self - target, *parameters) * grad_output`, divided by the number of elements
    for a mean.
    Source: `aten/src/ATen/native/BinaryOps.cpp`, `mse_loss_backward_out`."""

    def meta(grad_output: Tensor, self: Tensor, target: Tensor, reduction: int, *parameters: Scalar) -> Output:
        return Output(common_sizes(grad_output, self, target), None, self.dtype)

    def impl(grad_output: Tensor, self: Tensor, target: Tensor, reduction: int, *rest: Any) -> None:
        *parameters, out = rest
        norm = factor / max(self.numel(), 1) if reduction == MEAN else factor
        slope = np.asarray(function(self._array - target._array, *parameters))
        out._array[...] = slope * slope.dtype.type(norm) * grad_output._array

    return Structured(meta, impl)


def _smooth_slope(distance: np.ndarray, beta: float) -> np.ndarray:
    return np.clip(distance / beta, -1, 1) if beta else np.sign(distance)


mse_backward = _slope(lambda distance: distance, factor=2)
smooth_l1_backward = _slope(_smooth_slope)
huber_backward = _slope(lambda distance, delta: np.clip(distance, -delta, delta))
