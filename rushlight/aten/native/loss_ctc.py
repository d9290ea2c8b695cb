"""Connectionist temporal classification: the loss of a sequence of labels, of which it is not known when each one occurs.

A path has a label, or a blank, for each step. It stands for the target if the target is left when repeated labels are merged and
blanks are removed. The loss is minus the logarithm of the probability of all such paths, which two recursions over the steps
compute: `alpha` from the first step and `beta` from the last one. In PyTorch: `aten/src/ATen/native/LossCTC.cpp`.
"""

from collections.abc import Sequence

import numpy as np

from rushlight.aten.generated import functions
from rushlight.aten.native.losses import reduce
from rushlight.aten.strided import Tensor, wrap_contiguous
from rushlight.c10.dtypes import INTEGRAL, float32, float64


def ctc_loss(
    log_probs: Tensor, targets: Tensor, input_lengths, target_lengths, blank: int, reduction: int, zero_infinity: bool
) -> Tensor:
    """The loss of (steps, batch, labels) log probabilities, or of (steps, labels) without a batch. The targets are (batch, longest
    target), or all of them in one vector. A mean is over the labels of a target, and then over the batch.
    Source: `aten/src/ATen/native/LossCTC.cpp`, `ctc_loss`."""
    for name, lengths in (("input_lengths", input_lengths), ("target_lengths", target_lengths)):
        if isinstance(lengths, Tensor) and lengths.dtype.category != INTEGRAL:
            raise RuntimeError(f"{name} must be integral")
    vectors = (x.reshape(-1) if isinstance(x, Tensor) else x for x in (input_lengths, target_lengths))
    inputs, counts = ([*map(int, x)] for x in vectors)
    is_batched = log_probs.dim() == 3
    given = (log_probs, targets) if is_batched else (log_probs.unsqueeze(1), targets.unsqueeze(0))
    loss = functions._ctc_loss(*given, inputs, counts, blank, zero_infinity)[0]
    if zero_infinity:
        loss = functions.where(loss == np.inf, 0.0, loss)
    if reduction == 1:
        return (loss / loss.new_tensor(counts).clamp_min(1)).mean()
    loss = reduce(loss, reduction)
    return loss if is_batched or not loss.dim() else loss.squeeze(0)


def _check(log_probs: Tensor, targets: Tensor, inputs: Sequence[int], counts: Sequence[int], blank: int) -> None:
    """Source: `aten/src/ATen/native/LossCTC.cpp`, `ctc_loss_allocate_outputs`."""
    if log_probs.dim() != 3:
        of = f"but got {log_probs.dim()}-dimensional tensor for argument #1 'log_probs'"
        raise RuntimeError(
            f"Expected 3-dimensional tensor, {of} (while checking arguments for ctc_loss_allocate_outputs)"
        )
    if not log_probs.numel():
        raise RuntimeError("log_probs tensor must not be empty")
    if log_probs.dtype not in (float32, float64):
        raise NotImplementedError(f"\"ctc_loss_cpu\" not implemented for '{log_probs.dtype.type_name}'")
    steps, batch, labels = log_probs.shape
    if not 0 <= blank < labels:
        raise RuntimeError("blank must be in label range")
    for name, lengths, most in (("input_lengths", inputs, steps), ("target_lengths", counts, None)):
        if len(lengths) != batch:
            raise RuntimeError(f"{name} must be of size batch_size")
        for length in lengths:
            if length < 0 or most is not None and length > most:
                bound = "at least 0" if length < 0 else f"at most {most}"
                where = "(while checking arguments for ctc_loss_allocate_outputs)"
                raise RuntimeError(f"Expected {name} to have value {bound}, but got value {length} {where}")
    wanted = [(0, sum(counts), "")] if targets.dim() == 1 else [(0, batch, ""), (1, max(counts), "at least ")]
    for dim, size, bound in wanted:
        if targets.size(dim) < size or not bound and targets.size(dim) != size:
            got = f"but got size {targets.size(dim)} for argument #2 'targets'"
            where = "(while checking arguments for ctc_loss_allocate_outputs)"
            raise RuntimeError(f"Expected tensor to have size {bound}{size} at dimension {dim}, {got} {where}")


def _with_blanks(targets: Tensor, counts: Sequence[int], blank: int) -> np.ndarray:
    """The targets, (batch, 2 * longest + 1), with a blank before and after each label."""
    padded = np.full((len(counts), 2 * max(counts) + 1), blank)
    starts = np.cumsum([0, *counts])
    for n, count in enumerate(counts):
        rows = targets._array[n, :count] if targets.dim() == 2 else targets._array[starts[n] : starts[n + 1]]
        padded[n, 1 : 2 * count : 2] = rows
    return padded


def _alpha(log_probs: np.ndarray, labels: np.ndarray, blank: int) -> np.ndarray:
    """The log probability of the paths up to each step that end at each label, (steps, batch, labels with blanks). A path stays,
    or goes to the next label, or to the one after it if that skips a blank between two different labels."""
    emitted = np.take_along_axis(log_probs, labels[None].repeat(len(log_probs), 0), 2)
    alpha = np.full_like(emitted, -np.inf)
    alpha[0, :, :2] = emitted[0, :, :2]
    may_skip = (labels[:, 2:] != blank) & (labels[:, 2:] != labels[:, :-2])
    for before, now, emission in zip(alpha, alpha[1:], emitted[1:]):
        now[:] = before
        now[:, 1:] = np.logaddexp(now[:, 1:], before[:, :-1])
        now[:, 2:] = np.logaddexp(now[:, 2:], np.where(may_skip, before[:, :-2], -np.inf))
        now += emission
    return alpha


def _ctc_loss(
    log_probs: Tensor, targets: Tensor, inputs, counts, blank: int, zero_infinity: bool
) -> tuple[Tensor, Tensor]:
    """The loss of each sequence, and `alpha`, (batch, steps, labels with blanks)."""
    _check(log_probs, targets, inputs, counts, blank)
    alpha = _alpha(log_probs._array, _with_blanks(targets, counts, blank), blank)
    loss = np.zeros(len(inputs), alpha.dtype)
    for n, (steps, count) in enumerate(zip(inputs, counts)):  # the last label, or the blank after it
        ends = alpha[steps - 1, n, max(2 * count - 1, 0) : 2 * count + 1]
        loss[n] = -np.logaddexp.reduce(ends) if steps else np.inf if count else 0
    return wrap_contiguous(loss, log_probs.dtype), wrap_contiguous(alpha.transpose(1, 0, 2).copy(), log_probs.dtype)


def _ctc_loss_backward(
    grad, log_probs, targets, inputs, counts, loss, log_alpha, blank: int, zero_infinity: bool
) -> Tensor:
    """The gradient for the input of `log_softmax`: the probability of each label, minus its share of the paths of the target.
    `beta` is `alpha` of the reversed sequence. Source: `aten/src/ATen/native/LossCTC.cpp`, `ctc_loss_backward_cpu_template`."""
    result, labels = np.zeros_like(log_probs._array), _with_blanks(targets, counts, blank)
    for n, (steps, count, of_loss) in enumerate(zip(inputs, counts, loss._array)):
        if not steps or of_loss == np.inf and zero_infinity:
            continue
        probs, row = log_probs._array[:steps, n], labels[n, : 2 * count + 1]
        beta = _alpha(probs[::-1, None], row[None, ::-1], blank)[::-1, 0, ::-1]
        shares = np.full_like(probs, -np.inf)
        for place, label in enumerate(row):
            shares[:, label] = np.logaddexp(shares[:, label], log_alpha._array[n, :steps, place] + beta[:, place])
        result[:steps, n] = (np.exp(probs) - np.exp(shares + of_loss - probs)) * grad._array[n]
    return wrap_contiguous(result, log_probs.dtype)
