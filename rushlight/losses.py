"""How far is a prediction from the truth, as one number to be made smaller.

A loss compares element by element, and then *reduces*: 0 keeps every element, 1 takes the mean, 2 the sum. In PyTorch:
`aten/src/ATen/native/Loss.cpp`, `LossNLL.cpp`, `LossNLL2d.cpp`. Cross-entropy is not an operator of its own: it is
`log_softmax` and `nll_loss`. Left out: the losses of ranking, of margins, of pairs, and CTC.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from rushlight import functions
from rushlight.dtypes import FLOATING, Scalar, can_cast, int64, result_type, uint8
from rushlight.iterator import for_each
from rushlight.pointwise import output_of, widened
from rushlight.strided import Tensor, strides_for
from rushlight.structured import Output, Structured, allocate

NONE, MEAN, SUM = range(3)


def reduce(loss: Tensor, reduction: int) -> Tensor:
    """The loss as `reduction` says. Source: `aten/src/ATen/native/Loss.cpp`, `apply_loss_reduction`."""
    if reduction == MEAN:
        return functions.mean(loss)
    return functions.sum(loss) if reduction == SUM else loss


def _sum(losses: np.ndarray) -> np.floating:
    """Of all; float16 is summed in float32."""
    return losses.sum(dtype=np.promote_types(losses.dtype, np.float32))


# ------------------------------------------------------------------------------------------------------------
# Classes


def nll_loss_nd(
    self: Tensor, target: Tensor, weight: Tensor | None = None, reduction: int = MEAN, ignore_index: int = -100
) -> Tensor:
    """Negative log likelihood of (batch, classes, \\*places) given the classes (batch, \\*places); or of (classes,) and ().

    Source: `aten/src/ATen/native/LossNLL.cpp`, `nll_loss_nd_symint`.
    """
    if self.dim() < 1:
        raise ValueError(f"Expected 1 or more dimensions (got {self.dim()})")
    if self.dim() == 1 and target.dim() == 1 and target.size(0) != 1:
        raise ValueError(f"For 1D input, 1D target must have size 1, but got target size: {target.size(0)}")
    batch = target.size(0) if target.dim() else 0
    if self.dim() > 1 and self.size(0) != batch:
        raise ValueError(f"Expected input batch_size ({self.size(0)}) to match target batch_size ({batch}).")
    if self.dim() == 1 and target.dim() == 1:
        target = functions.squeeze(target, 0)
    if self.dim() <= 2:
        return functions.nll_loss(self, target, weight, reduction, ignore_index)
    if self.dim() == 4:
        return functions.nll_loss2d(self, target, weight, reduction, ignore_index)
    classes, places = self.size(1), tuple(self.shape[2:])
    if tuple(target.shape[1:]) != places:
        raise RuntimeError(f"Expected target size {[batch, *places]}, got {list(target.shape)}")
    flat = -1 if self.numel() and target.numel() else 0
    picture, classes_of = self.reshape((batch, classes, 1, flat)), target.reshape((batch, 1, flat))
    loss = functions.nll_loss2d(picture, classes_of, weight, reduction, ignore_index)
    return loss.view((batch, *places)) if reduction == NONE else loss


def nll_loss(self: Tensor, target: Tensor, weight: Tensor | None, reduction: int, ignore_index: int) -> Tensor:
    return functions.nll_loss_forward(self, target, weight, reduction, ignore_index)[0]


def nll_loss2d(self: Tensor, target: Tensor, weight: Tensor | None, reduction: int, ignore_index: int) -> Tensor:
    return functions.nll_loss2d_forward(self, target, weight, reduction, ignore_index)[0]


def nll_loss_forward(
    self: Tensor, target: Tensor, weight: Tensor | None, reduction: int, ignore_index: int
) -> tuple[Tensor, Tensor]:
    """The loss, and the total weight of the targets that count, which the gradient of a mean needs (0 without reduction).

    Source: `aten/src/ATen/native/LossNLL.cpp`, `TORCH_META_FUNC(nll_loss_forward)` and `nll_loss_out_frame`.
    """
    if self.dim() not in (1, 2):
        raise RuntimeError("input tensor should be 1D or 2D")
    if target.dim() > 1:
        raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
    if (self.dim(), target.dim()) != (1, 0) and self.size(0) != target.size(0):
        sizes = f"(got input: {list(self.shape)}, target: {list(target.shape)})"
        raise RuntimeError(f"size mismatch {sizes}")
    return _nll(self, target, weight, reduction, ignore_index, () if self.dim() == 1 else target.shape)


def nll_loss2d_forward(
    self: Tensor, target: Tensor, weight: Tensor | None, reduction: int, ignore_index: int
) -> tuple[Tensor, Tensor]:
    """The same for pictures: (batch, classes, height, width) and (batch, height, width).

    Source: `aten/src/ATen/native/LossNLL2d.cpp`, `nll_loss2d_forward_out_frame`.
    """
    if target.dim() != 3:
        raise RuntimeError(f"only batches of spatial targets supported (3D tensors) but got {target.dim()} dimensions")
    if self.dim() != 4:
        raise RuntimeError(f"only batches of spatial inputs supported (4D tensors), but got {self.dim()} dimensions")
    if (self.size(0), *self.shape[2:]) != tuple(target.shape):
        raise RuntimeError(f"size mismatch (got input: {list(self.shape)}, target: {list(target.shape)})")
    return _nll(self, target, weight, reduction, ignore_index, target.shape)


def _nll(
    self: Tensor, target: Tensor, weight: Tensor | None, reduction: int, ignore_index: int, sizes: Sequence[int]
) -> tuple[Tensor, Tensor]:
    classes = self.size(1 if self.dim() > 1 else 0)
    if weight is not None and tuple(weight.shape) != (classes,):
        raise RuntimeError(
            f"weight tensor should be defined either for all {classes} classes or no classes but got weight tensor of shape: "
            f"{list(weight.shape)}"
        )
    if self.dtype.category != FLOATING:
        raise NotImplementedError(f"nll_loss is not implemented for '{self.dtype.type_name}'")
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
    """Cross-entropy of the scores (batch, classes, \\*places) and the truth: classes (batch, \\*places), or their
    probabilities, of the shape of the scores.

    Source: `aten/src/ATen/native/LossNLL.cpp`, `cross_entropy_loss_symint`.
    """
    if self.shape == target.shape:
        if target.dtype.category != FLOATING:
            raise RuntimeError(
                f"Expected floating point type for target with class probabilities, got {target.dtype.type_name}"
            )
        if ignore_index >= 0:
            raise RuntimeError("ignore_index is not supported for floating point target")
        return _of_probabilities(self, target, weight, reduction, label_smoothing)
    if label_smoothing > 1:
        raise RuntimeError(f"label_smoothing must be between 0.0 and 1.0. Got: {label_smoothing}")
    scores = functions.log_softmax(self, _class_dim(self), self.dtype)
    loss = functions.nll_loss_nd(scores, target, weight, reduction, ignore_index)
    if label_smoothing <= 0:
        return loss
    smooth = _of_all_classes(scores, target, weight, reduction, ignore_index)
    share = label_smoothing / max(self.size(_class_dim(self)), 1)
    return functions.add(functions.mul_Scalar_op(loss, 1 - label_smoothing), functions.mul_Scalar_op(smooth, share))


def _class_dim(self: Tensor) -> int:
    return 0 if self.dim() == 1 else 1


def _along_classes(weight: Tensor, self: Tensor) -> Tensor:
    """The weight of each class, to be broadcast over the places."""
    class_dim = _class_dim(self)
    return weight.view([weight.size(0) if dim == class_dim else 1 for dim in range(self.dim())])


def _of_probabilities(
    self: Tensor, target: Tensor, weight: Tensor | None, reduction: int, label_smoothing: float
) -> Tensor:
    """Source: `aten/src/ATen/native/LossNLL.cpp`, `cross_entropy_loss_prob_target`."""
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


def _of_all_classes(scores: Tensor, target: Tensor, weight: Tensor | None, reduction: int, ignore_index: int) -> Tensor:
    """The loss if every class were the true one a little: what smoothing mixes in.

    Source: `aten/src/ATen/native/LossNLL.cpp`, `cross_entropy_loss_label_smoothing`.
    """
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


# ------------------------------------------------------------------------------------------------------------
# Numbers


def _elementwise(name: str, function: Callable, wide: bool = True) -> Structured:
    """The structured kernel of `function(self - target, *parameters)`, reduced. The reduction is the argument after the
    target. `wide` says that float16 is computed in float32."""

    def meta(self: Tensor, target: Tensor, reduction: int, *parameters: Scalar) -> Output:
        common = result_type(self, target)
        output = output_of(common, self, target)
        return output if reduction == NONE else Output((), None, common)

    def impl(self: Tensor, target: Tensor, reduction: int, *rest: Scalar | Tensor) -> None:
        *parameters, out = rest
        common = result_type(self, target)
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
    """A parabola up to `beta`, then a line."""
    distance = np.abs(distance)
    return np.where(distance < beta, 0.5 * distance * distance / (beta or 1), distance - 0.5 * beta)


def _huber(distance: np.ndarray, delta: float) -> np.ndarray:
    distance = np.abs(distance)
    return np.where(distance < delta, 0.5 * distance * distance, delta * (distance - 0.5 * delta))


mse = _elementwise("mse_loss", np.square, wide=False)
smooth_l1 = _elementwise("smooth_l1_loss", _smooth_absolute)
huber = _elementwise("huber_loss", _huber)


def smooth_l1_meta(self: Tensor, target: Tensor, reduction: int, beta: float) -> Output:
    if beta < 0:
        raise RuntimeError("smooth_l1_loss does not support negative values for beta.")
    return mse.meta(self, target, reduction)


def huber_meta(self: Tensor, target: Tensor, reduction: int, delta: float) -> Output:
    if delta <= 0:
        raise RuntimeError("huber_loss does not support non-positive values for delta.")
    common = result_type(self, target)
    if not can_cast(common, self.dtype):  # here the result has the dtype of `self`, not the common one
        raise RuntimeError(
            f"result type {common.type_name} can't be cast to the desired output type {self.dtype.type_name}"
        )
    return (
        Output(self.shape, strides_for(self, None), self.dtype) if reduction == NONE else Output((), None, self.dtype)
    )


smooth_l1.meta, huber.meta = smooth_l1_meta, huber_meta


def l1_loss(self: Tensor, target: Tensor, reduction: int = MEAN) -> Tensor:
    """The absolute difference. Source: `aten/src/ATen/native/Loss.cpp`, `l1_loss`."""
    return reduce(functions.abs(self - target), reduction)


def binary_cross_entropy_with_logits(
    self: Tensor, target: Tensor, weight: Tensor | None, pos_weight: Tensor | None, reduction: int = MEAN
) -> Tensor:
    """Of scores that a sigmoid would make probabilities of, and of their truth, element by element; both steps in one, for
    the logarithm of a sigmoid is exact where the sigmoid alone has rounded to 0.

    Source: `aten/src/ATen/native/Loss.cpp`, `binary_cross_entropy_with_logits`.
    """
    log_sigmoid = _log_sigmoid(self)
    if pos_weight is not None:
        log_sigmoid.mul_((pos_weight - 1) * target + 1)
    loss = (1 - target).mul_(self).sub_(log_sigmoid)
    if weight is not None:
        loss.mul_(weight)
    return reduce(loss, reduction)


def _log_sigmoid(self: Tensor) -> Tensor:
    if self.dtype.category != FLOATING:
        raise NotImplementedError(f"log_sigmoid is not implemented for '{self.dtype.type_name}'")
    out = allocate(Output(self.shape, strides_for(self, None), self.dtype), self.device.type)
    if not self.is_meta:
        x = self._array
        out._array[...] = np.minimum(x, 0) - np.log1p(np.exp(-np.abs(x)))
    return out
