"""Correct answers to lab 05b in other styles than the reference's: every check must accept them.

A function's name is its exercise's, two underscores, and the style.
"""

import itertools
import math
import warnings
from collections.abc import Mapping, MutableMapping, MutableSequence, Sequence
from copy import copy
from types import GeneratorType

import numpy as np

import rushlight as rl
from rushlight.aten.generated import functions as F
from rushlight.aten.native.losses import of_all_classes, of_probabilities
from rushlight.aten.strided import Tensor
from rushlight.course import predictions

from ..shared import OwnTypeError, copied

# Layers and losses


def cross_entropy_loss__in_two_branches(self, target, weight=None, reduction=1, ignore_index=-100, label_smoothing=0.0):
    if label_smoothing > 1.0:
        raise RuntimeError("too smooth")
    if tuple(self.shape) == tuple(target.shape):
        if not target.dtype.is_floating_point or ignore_index >= 0:
            raise RuntimeError("probabilities")
        return of_probabilities(self, target, weight, reduction, label_smoothing)
    logarithms = self.log_softmax(1 if self.dim() > 1 else 0)
    hard = F.nll_loss_nd(logarithms, target, weight, reduction, ignore_index)
    if label_smoothing > 0:
        classes = self.shape[1] if self.dim() > 1 else self.shape[0]
        soft = of_all_classes(logarithms, target, weight, reduction, ignore_index)
        return hard * (1 - label_smoothing) + soft * (label_smoothing / classes)
    return hard


def cross_entropy_loss__with_probabilities_by_hand(
    self, target, weight=None, reduction=1, ignore_index=-100, label_smoothing=0.0
):
    if label_smoothing > 1.0:
        raise RuntimeError("too smooth")
    dim = min(self.dim() - 1, 1)
    if self.shape == target.shape:
        if not target.dtype.is_floating_point:
            raise RuntimeError("probabilities")
        if ignore_index >= 0:
            raise RuntimeError("nothing to ignore")
        if weight is not None and tuple(weight.shape) != (self.shape[dim],):
            raise RuntimeError("weights")
        scores = F.log_softmax(self, dim)
        if label_smoothing > 0:
            target = target * (1 - label_smoothing) + label_smoothing / max(self.shape[dim], 1)
        terms = scores * target
        if weight is not None:
            terms = terms * weight.reshape([-1 if d == dim else 1 for d in range(self.dim())])
        losses = -terms.sum(dim)
        if reduction == 0:
            return losses
        return losses.sum() if reduction == 2 else losses.sum() / losses.numel()
    scores = F.log_softmax(self, dim)
    loss = F.nll_loss_nd(scores, target, weight, reduction, ignore_index)
    if not label_smoothing > 0:
        return loss
    all_classes = of_all_classes(scores, target, weight, reduction, ignore_index)
    return loss + label_smoothing * (all_classes / self.shape[dim] - loss)


# Optimisers


def add_param_group__with_all_checks_in_a_row(optimizer, param_group):
    if not isinstance(param_group, dict):
        raise OwnTypeError("a dict")
    given = param_group["params"]
    if isinstance(given, set):
        raise OwnTypeError("no order")
    given = [given] if isinstance(given, Tensor) else [*given]
    param_group["params"] = given
    if not all(isinstance(each, Tensor) for each in given):
        raise OwnTypeError("tensors")
    if not all(each.is_leaf or each.retains_grad for each in given):
        raise ValueError("leaves")
    param_group.update({k: v for k, v in optimizer.defaults.items() if k not in param_group})
    ids = [id(each) for each in given]
    if len(ids) > len({*ids}):
        warnings.warn("twice", stacklevel=2)
    if any(id(each) in ids for group in optimizer.param_groups for each in group["params"]):
        raise ValueError("known")
    optimizer.param_groups += [param_group]


def add_param_group__with_a_loop(optimizer, param_group):
    if not isinstance(param_group, dict):
        raise TypeError(type(param_group))
    if isinstance(param_group["params"], Tensor):
        param_group["params"] = (param_group["params"],)
    if isinstance(param_group["params"], set):
        raise TypeError(set)
    params, known = [], {p for group in optimizer.param_groups for p in group["params"]}
    param_group["params"], several, shared = list(param_group["params"]), False, False
    for each in param_group["params"]:
        if not isinstance(each, Tensor):
            raise TypeError(type(each))
        if not each.is_leaf and not each.retains_grad:
            raise ValueError("no leaf")
        several = several or any(each is other for other in params)
        shared = shared or each in known
        params.append(each)
    for name in optimizer.defaults:
        if name not in param_group:
            param_group[name] = optimizer.defaults[name]
    if several:
        warnings.warn("more than once", UserWarning, stacklevel=2)
    if shared:
        raise ValueError("in two groups")
    optimizer.param_groups.append(param_group)


def sgd__by_numbers(params, grads, momentum_buffers, *, lr, momentum, dampening, weight_decay, nesterov, maximize):
    for i in range(len(params)):
        g = grads[i] * (-1 if maximize else 1)
        if weight_decay:
            g = g + weight_decay * params[i]
        if momentum:
            if momentum_buffers[i] is None:
                momentum_buffers[i] = g.clone()
            else:
                momentum_buffers[i].copy_(momentum_buffers[i] * momentum + g * (1 - dampening))
            b = momentum_buffers[i]
            g = g + momentum * b if nesterov else b
        params[i].sub_(lr * g)


def sgd__with_new_buffers(
    params, grads, momentum_buffers, *, lr, momentum, dampening, weight_decay, nesterov, maximize
):
    for i, (p, g) in enumerate(zip(params, grads, strict=True)):
        d = F.neg(g) if maximize else g
        d = d if weight_decay == 0 else d + p * weight_decay
        if momentum != 0:
            old = momentum_buffers[i]
            new = d + 0 if old is None else old.mul_(momentum).add_(d, alpha=1 - dampening)
            momentum_buffers[i] = new
            d = d + new * momentum if nesterov else new
        p += d * -lr


def adam__by_the_formulas(
    params, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs, state_steps,
    *, lr, beta1, beta2, eps, weight_decay, amsgrad, maximize, decoupled_weight_decay,
):  # fmt: skip
    for i, p in enumerate(params):
        t = state_steps[i].add_(1).item()
        g = -grads[i] if maximize else grads[i]
        if weight_decay:
            if decoupled_weight_decay:
                p *= 1 - lr * weight_decay
            else:
                g = g + weight_decay * p
        m, v = exp_avgs[i], exp_avg_sqs[i]
        m.copy_(beta1 * m + (1 - beta1) * g)
        v.copy_(beta2 * v + (1 - beta2) * g * g)
        if amsgrad:
            max_exp_avg_sqs[i].copy_(F.maximum(max_exp_avg_sqs[i], v))
            v = max_exp_avg_sqs[i]
        corrected = v.sqrt() / math.sqrt(1 - beta2**t) + eps
        p -= lr / (1 - beta1**t) * m / corrected


def adam__as_the_paper_has_it(
    params, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs, state_steps,
    *, lr, beta1, beta2, eps, weight_decay, amsgrad, maximize, decoupled_weight_decay,
):  # fmt: skip
    largest = max_exp_avg_sqs if amsgrad else itertools.repeat(None)
    for p, g, m, v, w, step in zip(params, grads, exp_avgs, exp_avg_sqs, largest, state_steps):
        step += 1
        sign = -1.0 if maximize else 1.0
        g = g * sign
        if weight_decay != 0 and not decoupled_weight_decay:
            g = g + p * weight_decay
        elif weight_decay != 0:
            p.sub_(p * (lr * weight_decay))
        m.mul_(beta1).add_(g * (1 - beta1))
        v.mul_(beta2).add_(g.square() * (1 - beta2))
        if w is not None:
            w.copy_(F.maximum(v, w))
        t = float(step)
        m_hat = m / (1 - beta1**t)
        v_hat = (v if w is None else w) / (1 - beta2**t)
        p.sub_(lr * m_hat / (v_hat.sqrt() + eps))


# Clipping


def clip_grad_norm___by_hand(parameters, max_norm, norm_type=2.0, error_if_nonfinite=False, foreach=None):
    if isinstance(parameters, GeneratorType):
        parameters = tuple(parameters)
        if len(parameters) == 0:
            warnings.warn("no parameters", stacklevel=2)
    parameters = [parameters] if isinstance(parameters, Tensor) else list(parameters)
    grads = [p.grad for p in parameters if p.grad is not None]
    total = rl.nn.utils.get_total_norm(grads, norm_type, error_if_nonfinite)
    scale = max_norm / (total + 1e-6)
    with rl.no_grad():
        for grad in grads:
            grad *= scale.clamp(max=1)
    return total


def clip_grad_norm___with_one_list(parameters, max_norm, norm_type=2.0, error_if_nonfinite=False, foreach=None):
    once = isinstance(parameters, GeneratorType)
    parameters = [parameters] if isinstance(parameters, Tensor) else [*parameters]
    if once and not parameters:
        warnings.warn("an empty generator", stacklevel=2)
    norm = rl.nn.utils.get_total_norm((p.grad for p in parameters if p.grad is not None), norm_type, error_if_nonfinite)
    rl.nn.utils.clip_grads_with_norm_(parameters, max_norm, norm)
    return norm


# Data


def batches__by_counting(sampler, batch_size, drop_last):
    batch = []
    for index in sampler:
        batch.append(index)
        if len(batch) == batch_size:
            yield batch
            batch = []
    if batch and not drop_last:
        yield batch


def batches__with_the_sentinel_of_iter(sampler, batch_size, drop_last):
    taken = iter(sampler)
    for batch in iter(lambda: list(itertools.islice(taken, batch_size)), []):
        if drop_last and len(batch) < batch_size:
            return
        yield batch


def default_collate__with_match(batch):
    match batch[0]:
        case Tensor():
            return F.stack(batch)
        case np.ndarray() as first:
            if first.dtype.kind not in "biuf":
                raise TypeError(first.dtype)
            return F.stack([rl.as_tensor(each) for each in batch])
        case np.bool_() | np.number() as first:
            return rl.as_tensor(np.array(batch, first.dtype))
        case float():
            return rl.tensor(batch, dtype=rl.float64)
        case int():
            return rl.tensor(batch)
        case str() | bytes():
            return batch
        case Mapping() as first:
            values = {key: default_collate__with_match([each[key] for each in batch]) for key in first}
            try:
                if not isinstance(first, MutableMapping):
                    return type(first)(values)
                new = copy(first)
                for key, value in values.items():
                    new[key] = value
                return new
            except TypeError:
                return values
        case tuple() as first if hasattr(first, "_fields"):
            return type(first)._make(map(default_collate__with_match, zip(*batch)))
        case Sequence() as first:
            if {len(each) for each in batch} != {len(first)}:
                raise RuntimeError("lengths")
            values = [default_collate__with_match(part) for part in zip(*batch)]
            if isinstance(first, tuple):
                return values
            try:
                if not isinstance(first, MutableSequence):
                    return type(first)(values)
                new = copy(first)
                new[:] = values
                return new
            except TypeError:
                return values
    raise TypeError(type(batch[0]))


def default_collate__through_the_framework(batch):
    first = batch[0]
    kinds = [
        (Tensor, lambda: F.stack(batch, 0)),
        (np.ndarray, lambda: F.stack(list(map(rl.as_tensor, batch)), 0)),
        ((np.number, np.bool_), lambda: rl.as_tensor(batch)),
        (float, lambda: rl.tensor(batch, dtype=rl.float64)),
        (int, lambda: rl.tensor(batch)),
        ((str, bytes), lambda: batch),
    ]
    for kind, make in kinds:
        if isinstance(first, kind):
            return make()
    collate = rl.utils.data.default_collate
    if isinstance(first, Mapping):
        values = {key: collate([sample[key] for sample in batch]) for key in first}
        if isinstance(first, MutableMapping):
            new = copy(first)
            new.update(values)
            return new
        try:
            return type(first)(values)
        except TypeError:
            return values
    if isinstance(first, tuple) and hasattr(first, "_fields"):
        return type(first)(*[collate(column) for column in zip(*batch)])
    if not isinstance(first, Sequence):
        raise TypeError("nothing to make a batch of")
    if any(len(sample) != len(first) for sample in batch[1:]):
        raise RuntimeError("different lengths")
    columns = [collate(column) for column in zip(*batch)]
    if isinstance(first, tuple):
        return columns
    try:
        new = copy(first) if isinstance(first, MutableSequence) else type(first)(columns)
        for i, column in enumerate(columns):
            if isinstance(first, MutableSequence):
                new[i] = column
        return new
    except TypeError:
        return columns


def sgd__in_the_operators_of_arithmetic(
    params, grads, momentum_buffers, *, lr, momentum, dampening, weight_decay, nesterov, maximize
):
    for i, (p, g) in enumerate(zip(params, grads)):
        d = -g if maximize else g
        if weight_decay:
            d = d + p * weight_decay
        if momentum:
            b = momentum_buffers[i]
            if b is None:
                b = momentum_buffers[i] = d.clone()
            else:
                b.copy_(b * momentum + d * (1 - dampening))
            d = d + b * momentum if nesterov else b
        p.copy_(p - d * lr)


def rmsprop__in_the_operators_of_arithmetic(
    params,
    grads,
    square_avgs,
    grad_avgs,
    momentum_buffers,
    *,
    lr,
    alpha,
    eps,
    weight_decay,
    momentum,
    centered,
    maximize,
):
    sign = -1 if maximize else 1
    for i, p in enumerate(params):
        g = grads[i] * sign + (p * weight_decay if weight_decay else 0)
        v = square_avgs[i]
        v.copy_(alpha * v + (1 - alpha) * g**2)
        under = v
        if centered:
            m = grad_avgs[i]
            m += (1 - alpha) * (g - m)
            under = v - m * m
        quotient = g / (under**0.5 + eps)
        if momentum > 0:
            momentum_buffers[i].copy_(momentum * momentum_buffers[i] + quotient)
            quotient = momentum_buffers[i]
        p -= lr * quotient


def rmsprop__all_lists_in_a_row(
    params,
    grads,
    square_avgs,
    grad_avgs,
    momentum_buffers,
    *,
    lr,
    alpha,
    eps,
    weight_decay,
    momentum,
    centered,
    maximize,
):
    nothing = [None] * len(params)
    for p, g, v, m, b in zip(
        params, grads, square_avgs, grad_avgs if centered else nothing, momentum_buffers if momentum > 0 else nothing
    ):
        g = g.neg() if maximize else g
        if weight_decay != 0:
            g = g + weight_decay * p
        v.lerp_(g.square(), 1 - alpha)
        variance = v
        if m is not None:
            m.mul_(alpha).add_(g, alpha=1 - alpha)
            variance = v - m.square()
        step = g.div(variance.sqrt() + eps)
        step = step if b is None else b.mul_(momentum).add_(step)
        p.sub_(lr * step)


# Cases


def breaks_cosine_annealing__one_unusual_thing_at_a_time():
    usual = {"lr": 0.5, "base_lr": 1.0, "eta_min": 0.125, "T_max": 5}
    return (
        usual | {"last_epoch": 16, "base_lr": 0.0},
        usual | {"last_epoch": 11},
        usual | {"last_epoch": 4, "lr": 4.0},
        usual | {"last_epoch": 10_003, "T_max": 10_000, "lr": 0.0},
    )


def breaks_cosine_annealing__as_a_table():
    names = ["lr", "base_lr", "last_epoch", "T_max", "eta_min"]
    rows = (2.0, 0.5, 6, 1, 1.0), (3.0, 1.0, 7, 3, 0.5), (0.0, -1.0, 5_001, 5_000, 0.5), (0.0, -1.0, 5_002, 5_000, 0.5)
    return [dict(zip(names, row)) for row in rows]


# Predictions

_parameters_after = copied(predictions.parameters_after)


def parameters_after__with_a_second_draw():
    right = _parameters_after()
    return {"h": [], "g": [], "f": [], "e": []} | {key: right[key] for key in reversed(right)}


def parameters_after__in_tuples():
    right = _parameters_after()
    return {key: value if key == "name" else tuple(value) for key, value in right.items()}
