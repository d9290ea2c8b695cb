"""Wrong answers to lab 05b that a student might well give and that no mutant of the reference is: each fails on an edge.

A function's name is its exercise's, two underscores, and what is wrong.
"""

import itertools
import math
from collections.abc import Mapping, Sequence

import numpy as np

import rushlight as rl
from rushlight.aten.generated import functions as F
from rushlight.aten.native import losses
from rushlight.aten.native.losses import of_all_classes, of_probabilities
from rushlight.aten.strided import Tensor
from rushlight.course import breaks, predictions
from rushlight.nn.utils import clip_grad
from rushlight.optim import optimizer, rules
from rushlight.utils.data import collate, sampler
from rushlight.utils.data.collate import _sequence_like

from ..shared import copied, edited

# Layers and losses


def cross_entropy_loss__of_probabilities_in_place_of_scores(
    self, target, weight=None, reduction=1, ignore_index=-100, label_smoothing=0.0
):
    if label_smoothing > 1:
        raise RuntimeError(label_smoothing)
    if self.shape == target.shape:
        return of_probabilities(self, target, weight, reduction, label_smoothing)
    dim = min(self.dim() - 1, 1)
    return F.nll_loss_nd(F.log(F.softmax(self, dim)), target, weight, reduction, ignore_index)


def cross_entropy_loss__classes_last(self, target, weight=None, reduction=1, ignore_index=-100, label_smoothing=0.0):
    if label_smoothing > 1:
        raise RuntimeError(label_smoothing)
    if self.shape == target.shape:
        return of_probabilities(self, target, weight, reduction, label_smoothing)
    scores = F.log_softmax(self, -1)
    loss = F.nll_loss_nd(scores, target, weight, reduction, ignore_index)
    if label_smoothing <= 0:
        return loss
    smooth = of_all_classes(scores, target, weight, reduction, ignore_index)
    return loss * (1 - label_smoothing) + smooth * (label_smoothing / self.shape[-1])


def cross_entropy_loss__shares_with_the_other_classes_only(
    self, target, weight=None, reduction=1, ignore_index=-100, label_smoothing=0.0
):
    if label_smoothing > 1:
        raise RuntimeError(label_smoothing)
    if self.shape == target.shape:
        return of_probabilities(self, target, weight, reduction, label_smoothing)
    dim = min(self.dim() - 1, 1)
    scores = F.log_softmax(self, dim)
    loss = F.nll_loss_nd(scores, target, weight, reduction, ignore_index)
    if label_smoothing <= 0:
        return loss
    smooth = of_all_classes(scores, target, weight, reduction, ignore_index)
    share = label_smoothing / max(self.shape[dim] - 1, 1)
    return loss * (1 - label_smoothing - share) + smooth * share


def cross_entropy_loss__without_the_errors(
    self, target, weight=None, reduction=1, ignore_index=-100, label_smoothing=0.0
):
    if self.shape == target.shape:
        return of_probabilities(self, target.to(self.dtype), weight, reduction, label_smoothing)
    dim = min(self.dim() - 1, 1)
    scores = F.log_softmax(self, dim)
    loss = F.nll_loss_nd(scores, target, weight, reduction, ignore_index)
    smooth = of_all_classes(scores, target, weight, reduction, ignore_index)
    return loss * (1 - label_smoothing) + smooth * (label_smoothing / self.shape[dim])


# Optimisers


def add_param_group__adds_before_it_looks(optimizer, param_group):
    if not isinstance(param_group, dict):
        raise TypeError(param_group)
    known = {p for group in optimizer.param_groups for p in group["params"]}
    optimizer.param_groups.append(param_group)
    params = param_group["params"]
    param_group["params"] = [params] if isinstance(params, Tensor) else list(params)
    for name, default in optimizer.defaults.items():
        param_group.setdefault(name, default)
    if any(p in known for p in param_group["params"]):
        raise ValueError("known")


def add_param_group__overwrites_the_settings(optimizer, param_group):
    params = param_group["params"]
    param_group["params"] = [params] if isinstance(params, Tensor) else list(params)
    param_group.update(optimizer.defaults)
    optimizer.param_groups.append(param_group)


def add_param_group__copies_the_group(optimizer, param_group):
    if not isinstance(param_group, dict):
        raise TypeError(param_group)
    params = param_group["params"]
    if isinstance(params, set):
        raise TypeError(params)
    params = [params] if isinstance(params, Tensor) else list(params)
    if not all(isinstance(p, Tensor) for p in params):
        raise TypeError(params)
    optimizer.param_groups.append({**optimizer.defaults, **param_group, "params": params})


def sgd__keeps_the_gradient_itself(
    params, grads, momentum_buffers, *, lr, momentum, dampening, weight_decay, nesterov, maximize
):
    for i, (p, g) in enumerate(zip(params, grads)):
        g = -g if maximize else g
        g = g.add(p, alpha=weight_decay) if weight_decay else g
        if momentum:
            if momentum_buffers[i] is None:
                momentum_buffers[i] = g
            else:
                momentum_buffers[i].mul_(momentum).add_(g, alpha=1 - dampening)
            g = g.add(momentum_buffers[i], alpha=momentum) if nesterov else momentum_buffers[i]
        p.add_(g, alpha=-lr)


def sgd__replaces_the_buffer(
    params, grads, momentum_buffers, *, lr, momentum, dampening, weight_decay, nesterov, maximize
):
    for i, (p, g) in enumerate(zip(params, grads)):
        g = -g if maximize else g
        g = g.add(p, alpha=weight_decay) if weight_decay else g
        if momentum:
            b = momentum_buffers[i]
            b = momentum_buffers[i] = g.clone() if b is None else b.mul(momentum).add(g, alpha=1 - dampening)
            g = g.add(b, alpha=momentum) if nesterov else b
        p.add_(g, alpha=-lr)


def sgd__damps_the_first_step(
    params, grads, momentum_buffers, *, lr, momentum, dampening, weight_decay, nesterov, maximize
):
    for i, (p, g) in enumerate(zip(params, grads)):
        g = -g if maximize else g
        g = g.add(p, alpha=weight_decay) if weight_decay else g
        if momentum:
            if momentum_buffers[i] is None:
                momentum_buffers[i] = F.zeros_like(p)
            momentum_buffers[i].mul_(momentum).add_(g, alpha=1 - dampening)
            g = g.add(momentum_buffers[i], alpha=momentum) if nesterov else momentum_buffers[i]
        p.add_(g, alpha=-lr)


def sgd__decays_in_the_gradient_itself(
    params, grads, momentum_buffers, *, lr, momentum, dampening, weight_decay, nesterov, maximize
):
    for i, (p, g) in enumerate(zip(params, grads)):
        if maximize:
            g.neg_()
        if weight_decay:
            g.add_(p, alpha=weight_decay)
        if momentum:
            b = momentum_buffers[i]
            b = momentum_buffers[i] = g.clone() if b is None else b.mul_(momentum).add_(g, alpha=1 - dampening)
            g = g.add(b, alpha=momentum) if nesterov else b
        p.add_(g, alpha=-lr)


def sgd__decays_the_parameter_and_not_the_gradient(
    params, grads, momentum_buffers, *, lr, momentum, dampening, weight_decay, nesterov, maximize
):
    for i, (p, g) in enumerate(zip(params, grads)):
        g = -g if maximize else g
        p.mul_(1 - lr * weight_decay)
        if momentum:
            b = momentum_buffers[i]
            b = momentum_buffers[i] = g.clone() if b is None else b.mul_(momentum).add_(g, alpha=1 - dampening)
            g = g.add(b, alpha=momentum) if nesterov else b
        p.add_(g, alpha=-lr)


def sgd__puts_the_rate_into_the_buffer(
    params, grads, momentum_buffers, *, lr, momentum, dampening, weight_decay, nesterov, maximize
):
    for i, (p, g) in enumerate(zip(params, grads)):
        g = -g if maximize else g
        g = g.add(p, alpha=weight_decay) if weight_decay else g
        step = g * lr
        if momentum:
            b = momentum_buffers[i]
            b = momentum_buffers[i] = step.clone() if b is None else b.mul_(momentum).add_(step, alpha=1 - dampening)
            step = step.add(b, alpha=momentum) if nesterov else b
        p.sub_(step)


def _adam(bias=True, decay="as asked", eps="outside", largest="before", always=False):
    def adam(
        params, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs, state_steps,
        *, lr, beta1, beta2, eps, weight_decay, amsgrad, maximize, decoupled_weight_decay, inside=eps == "inside",
    ):  # fmt: skip
        for i, (p, g) in enumerate(zip(params, grads)):
            t = state_steps[i].add_(1).item()
            g = -g if maximize else g
            if weight_decay and decoupled_weight_decay and decay == "as asked":
                p.mul_(1 - lr * weight_decay)
            elif weight_decay or always:
                g = g + weight_decay * p
            m = exp_avgs[i].mul_(beta1).add_(g, alpha=1 - beta1)
            v = exp_avg_sqs[i].mul_(beta2).add_(g * g, alpha=1 - beta2)
            first, second = (1 - beta1**t, 1 - beta2**t) if bias else (1, 1)
            hat = v / second
            if amsgrad:
                compared = hat if largest == "after" else v
                max_exp_avg_sqs[i].copy_(F.maximum(max_exp_avg_sqs[i], compared))
                hat = max_exp_avg_sqs[i] / (1 if largest == "after" else second)
            root = (hat + eps).sqrt() if inside else hat.sqrt() + eps
            p.sub_(lr * (m / first) / root)

    return adam


adam__without_the_corrections = _adam(bias=False)
adam__always_decays_in_the_gradient = _adam(decay="in the gradient")
adam__decays_by_nothing = _adam(always=True)
adam__adds_eps_under_the_root = _adam(eps="inside")
adam__corrects_before_it_compares = _adam(largest="after")


def adam__counts_one_step_for_all(
    params, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs, state_steps,
    *, lr, beta1, beta2, eps, weight_decay, amsgrad, maximize, decoupled_weight_decay,
):  # fmt: skip
    t = max([step.item() for step in state_steps], default=0) + 1
    for i, (p, g) in enumerate(zip(params, grads)):
        state_steps[i].add_(1)
        g = -g if maximize else g
        if weight_decay and decoupled_weight_decay:
            p.mul_(1 - lr * weight_decay)
        elif weight_decay:
            g = g + weight_decay * p
        m = exp_avgs[i].lerp_(g, 1 - beta1)
        v = exp_avg_sqs[i].mul_(beta2).addcmul_(g, g, value=1 - beta2)
        if amsgrad:
            v = max_exp_avg_sqs[i].copy_(F.maximum(max_exp_avg_sqs[i], v))
        p.sub_(lr / (1 - beta1**t) * m / (v.sqrt() / math.sqrt(1 - beta2**t) + eps))


# Clipping


def clip_grad_norm___each_by_itself(parameters, max_norm, norm_type=2.0, error_if_nonfinite=False, foreach=None):
    parameters = [parameters] if isinstance(parameters, Tensor) else list(parameters)
    total = rl.nn.utils.get_total_norm([p.grad for p in parameters if p.grad is not None], norm_type)
    for p in parameters:
        if p.grad is not None:
            rl.nn.utils.clip_grads_with_norm_(p, max_norm, rl.nn.utils.get_total_norm(p.grad, norm_type))
    return total


def clip_grad_norm___reads_a_generator_twice(
    parameters, max_norm, norm_type=2.0, error_if_nonfinite=False, foreach=None
):
    given = [parameters] if isinstance(parameters, Tensor) else parameters
    grads = [p.grad for p in given if p.grad is not None]
    total = rl.nn.utils.get_total_norm(grads, norm_type, error_if_nonfinite)
    rl.nn.utils.clip_grads_with_norm_(given, max_norm, total)
    return total


def clip_grad_norm___makes_new_gradients(parameters, max_norm, norm_type=2.0, error_if_nonfinite=False, foreach=None):
    parameters = [parameters] if isinstance(parameters, Tensor) else list(parameters)
    grads = [p.grad for p in parameters if p.grad is not None]
    total = rl.nn.utils.get_total_norm(grads, norm_type, error_if_nonfinite)
    scale = (max_norm / (total + 1e-6)).clamp(max=1.0)
    for p in parameters:
        p.grad = None if p.grad is None else p.grad * scale
    return total


def clip_grad_norm___stretches_short_ones(parameters, max_norm, norm_type=2.0, error_if_nonfinite=False, foreach=None):
    parameters = [parameters] if isinstance(parameters, Tensor) else list(parameters)
    grads = [p.grad for p in parameters if p.grad is not None]
    total = rl.nn.utils.get_total_norm(grads, norm_type, error_if_nonfinite)
    for grad in grads:
        grad.mul_(max_norm / (total + 1e-6))
    return total


# Data


def batches__takes_all_first(sampler, batch_size, drop_last):
    indices = list(itertools.islice(sampler, 1000))  # or for ever
    pieces = [indices[i : i + batch_size] for i in range(0, len(indices), batch_size)]
    return iter([piece for piece in pieces if len(piece) == batch_size or not drop_last])


def batches__asks_for_one_too_many(sampler, batch_size, drop_last):
    batch = []
    for index in sampler:
        if len(batch) == batch_size:
            yield batch
            batch = []
        batch.append(index)
    if batch and not (drop_last and len(batch) < batch_size):
        yield batch


def batches__ends_with_an_empty_list(sampler, batch_size, drop_last):
    batch = []
    for index in sampler:
        batch.append(index)
        if len(batch) == batch_size:
            yield batch
            batch = []
    if not drop_last:
        yield batch


def batches__yields_one_list_again(sampler, batch_size, drop_last):
    batch = []
    for index in sampler:
        batch.append(index)
        if len(batch) == batch_size:
            yield batch
            batch.clear()
    if batch and not drop_last:
        yield batch


def _collate(floats=rl.float64, tuples=list, named=True, strict=True, numbers=(np.number, np.bool_)):
    def collate(batch):
        first = batch[0]
        if isinstance(first, Tensor):
            return F.stack(batch, 0)
        if isinstance(first, np.ndarray):
            return F.stack([rl.as_tensor(each) for each in batch], 0)
        if isinstance(first, numbers):
            return rl.as_tensor(batch)
        if isinstance(first, (int, float)):
            return rl.tensor(batch, dtype=floats) if isinstance(first, float) else rl.tensor(batch)
        if isinstance(first, (str, bytes)):
            return batch
        if hasattr(first, "items"):
            return type(first)({key: collate([each[key] for each in batch]) for key in first})
        if named and isinstance(first, tuple) and hasattr(first, "_fields"):
            return type(first)(*[collate(values) for values in zip(*batch)])
        if not isinstance(first, (list, tuple)) and not hasattr(first, "__getitem__"):
            raise TypeError(type(first))
        if strict and any(len(each) != len(first) for each in batch):
            raise RuntimeError("lengths")
        values = [collate(values) for values in zip(*batch)]
        return tuples(values) if isinstance(first, tuple) else values

    return collate


def default_collate__floats_in_float32(batch):
    return _collate(floats=rl.float32)(batch)


def default_collate__knows_no_booleans_of_numpy(batch):
    return _collate(numbers=np.number)(batch)


def default_collate__of_tuples_tuples(batch):
    return _collate(tuples=tuple)(batch)


def default_collate__forgets_named_tuples(batch):
    return _collate(named=False)(batch)


def default_collate__cuts_to_the_shortest(batch):
    return _collate(strict=False)(batch)


def default_collate__calls_the_type_of_the_mapping(batch):
    first, again = batch[0], default_collate__calls_the_type_of_the_mapping
    if isinstance(first, Tensor):
        return F.stack(batch, 0)
    if isinstance(first, np.ndarray):
        return F.stack([rl.as_tensor(each) for each in batch], 0)
    if isinstance(first, (np.bool_, np.number)):
        return rl.as_tensor(batch)
    if isinstance(first, float):
        return rl.tensor(batch, dtype=rl.float64)
    if isinstance(first, int):
        return rl.tensor(batch)
    if isinstance(first, (str, bytes)):
        return batch
    if isinstance(first, Mapping):
        values = {key: again([each[key] for each in batch]) for key in first}
        try:
            return type(first)(values)
        except TypeError:
            return values
    if isinstance(first, tuple) and hasattr(first, "_fields"):
        return type(first)(*(again(values) for values in zip(*batch)))
    if isinstance(first, Sequence):
        if any(len(each) != len(first) for each in batch):
            raise RuntimeError("each element in list of batch should be of equal size")
        return _sequence_like(first, [again(values) for values in zip(*batch)])
    raise TypeError(f"default_collate: found {type(first)}")


# Sentences that are easily passed over


_batches = copied(sampler.batches)
_default_collate = copied(rl.utils.data.collate.default_collate)


def default_collate__looks_at_the_length_of_the_last_sample_only(batch):
    first, again = batch[0], default_collate__looks_at_the_length_of_the_last_sample_only
    if not isinstance(first, (list, tuple)) or hasattr(first, "_fields"):
        return _default_collate(batch)
    if len(batch[-1]) != len(first):
        raise RuntimeError("each element in list of batch should be of equal size")
    return [again(values) for values in zip(*batch)]


clip_grad_norm___each_parameter_once = edited(
    clip_grad.clip_grad_norm_, ("else list(parameters)", "else list(dict.fromkeys(parameters))")
)


clip_grad_norm___records_again_afterwards = edited(
    clip_grad.clip_grad_norm_,
    (
        "    return total_norm\n",
        "    from rushlight.c10.dispatch import local\n\n    local.grad_enabled = True\n    return total_norm\n",
    ),
)


adam__keeps_the_largest_number = edited(
    optimizer.adam,
    (
        "functions.maximum(max_exp_avg_sqs[i], exp_avg_sq)",
        "functions.where(exp_avg_sq > max_exp_avg_sqs[i], exp_avg_sq, max_exp_avg_sqs[i])",
    ),
)


rmsprop__eps_under_the_root = edited(rules.rmsprop, ("average.sqrt().add_(eps)", "average.add(eps).sqrt()"))
rmsprop__the_average_itself_is_centred = edited(
    rules.rmsprop, ("average = average.addcmul(mean", "average = average.addcmul_(mean")
)
rmsprop__momentum_of_the_gradient = edited(
    rules.rmsprop,
    (
        "            param.add_(momentum_buffers[i].mul_(momentum).addcdiv_(grad, root), alpha=-lr)\n",
        "            param.addcdiv_(momentum_buffers[i].mul_(momentum).add_(grad), root, value=-lr)\n",
    ),
)
rmsprop__corrected_as_in_adam = edited(rules.rmsprop, ("average.sqrt()", "average.div(1 - alpha + 1e-30).sqrt()"))
rmsprop__average_of_the_distance = edited(
    rules.rmsprop,
    (
        "        average.mul_(alpha).addcmul_(grad, grad, value=1 - alpha)\n        if centered:\n"
        "            mean = grad_avgs[i].lerp_(grad, 1 - alpha)\n            average = average.addcmul(mean, mean, value=-1)\n",
        "        distance = grad\n        if centered:\n            distance = grad - grad_avgs[i].lerp_(grad, 1 - alpha)\n"
        "        average.mul_(alpha).addcmul_(distance, distance, value=1 - alpha)\n",
    ),
)
rmsprop__decay_of_zero = edited(rules.rmsprop, ("        if weight_decay != 0:\n    ", "        if True:\n    "))
rmsprop__rate_in_the_buffer = edited(
    rules.rmsprop, ("addcdiv_(grad, root), alpha=-lr)", "addcdiv_(grad, root, value=lr), alpha=-1)")
)
rmsprop__decays_the_parameter = edited(
    rules.rmsprop, ("grad = grad.add(param, alpha=weight_decay)", "param.mul_(1 - lr * weight_decay)")
)
cross_entropy_loss__smooths_by_nothing = edited(
    losses.cross_entropy_loss, ("if not label_smoothing > 0:", "if not label_smoothing >= 0:")
)
cross_entropy_loss__classes_in_the_last_dimension = edited(
    losses.cross_entropy_loss,
    ("log_softmax(self, _class_dim(self), self.dtype)", "log_softmax(self, -1, self.dtype)"),
)
cross_entropy_loss__shares_with_other_classes = edited(
    losses.cross_entropy_loss,
    ("label_smoothing / classes if classes", "label_smoothing / (classes - 1) if classes > 1"),
)
cross_entropy_loss__takes_the_logarithm_afterwards = edited(
    losses.cross_entropy_loss,
    ("log_softmax(self, _class_dim(self), self.dtype)", "softmax(self, _class_dim(self), self.dtype).log()"),
)
cross_entropy_loss__compares_dimensions = edited(
    losses.cross_entropy_loss, ("self.shape == target.shape", "self.dim() == target.dim()")
)
cross_entropy_loss__goes_by_the_dtype = edited(
    losses.cross_entropy_loss, ("self.shape == target.shape", "target.dtype.category == FLOATING")
)
cross_entropy_loss__whole_numbers_are_classes = edited(
    losses.cross_entropy_loss,
    ("self.shape == target.shape", "self.shape == target.shape and target.dtype.category == FLOATING"),
)
default_collate__takes_a_bytearray_for_bytes = edited(
    collate.default_collate, ("(str, bytes)", "(str, bytes, bytearray)")
)
default_collate__gives_an_array_a_dimension = edited(
    collate.default_collate, ("as_tensor(sample)", "as_tensor(np.atleast_1d(sample))")
)
default_collate__floats_as_numbers = edited(collate.default_collate, ("tensor(batch, dtype=float64)", "tensor(batch)"))
default_collate__a_tuple_of_tuples = edited(
    collate.default_collate,
    (
        "    return _sequence_like(",
        "    if type(first) is tuple:\n            return tuple(map(default_collate, zip(*batch)))\n        return _sequence_like(",
    ),
)
default_collate__named_tuples_are_sequences = edited(
    collate.default_collate, ('isinstance(first, tuple) and hasattr(first, "_fields")', "False")
)
default_collate__keys_of_the_last_sample = edited(
    collate.default_collate, ("for key in first}", "for key in batch[-1]}")
)
add_param_group__writes_the_defaults = edited(
    optimizer.add_param_group,
    (
        "param_group.setdefault(name, default)",
        "param_group.setdefault(name, default)\n    optimizer.defaults.update(param_group)",
    ),
)
sgd__decay_of_zero = edited(optimizer.sgd, ("if weight_decay != 0:", "if True:"))
adam__decays_in_the_gradient_itself = edited(optimizer.adam, ("grad = grad.add(param", "grad = grad.add_(param"))
rmsprop__decays_in_the_gradient_itself = edited(rules.rmsprop, ("grad = grad.add(param", "grad = grad.add_(param"))
batches__always_gives_the_rest = edited(sampler.batches, (" or not drop_last", " or batch_size > 1"))


def batches__takes_an_index_early(sampler, batch_size, drop_last):
    indices = iter(sampler)
    first = [*itertools.islice(indices, 1)]
    return _batches(itertools.chain(first, indices), batch_size, drop_last)


clip_grad_norm___into_new_gradients = edited(
    clip_grad.clip_grad_norm_,
    (
        "    clip_grads_with_norm_(parameters, max_norm, total_norm)",
        "    for p in parameters:\n        p.grad = None if p.grad is None else p.grad.clone()\n"
        "    clip_grads_with_norm_(parameters, max_norm, total_norm)",
    ),
)
clip_grad_norm___to_this_length = edited(
    clip_grad.clip_grad_norm_,
    (
        "    clip_grads_with_norm_(parameters, max_norm, total_norm)",
        "    for grad in _grads(parameters):\n        grad.mul_(max_norm / (total_norm + 1e-6))",
    ),
)
clip_grad_norm___refuses_too_late = edited(
    clip_grad.clip_grad_norm_,
    ("norm_type, error_if_nonfinite)\n", "norm_type)\n"),
    ("    return", "    if error_if_nonfinite:\n        get_total_norm(total_norm, 2.0, True)\n    return"),
)


cross_entropy_loss__asks_for_probabilities_of_the_same_dtype = edited(
    losses.cross_entropy_loss, ("target.dtype.category != FLOATING", "target.dtype != self.dtype")
)
adam__a_number_replaces_nan_as_the_largest = edited(
    optimizer.adam,
    (
        "functions.maximum(max_exp_avg_sqs[i], exp_avg_sq)",
        "functions.where(max_exp_avg_sqs[i] > exp_avg_sq, max_exp_avg_sqs[i], exp_avg_sq)",
    ),
)
add_param_group__takes_the_same_memory_for_the_same_parameter = edited(
    optimizer.add_param_group, ("len(set(params))", "len({param.data_ptr() for param in params})")
)
add_param_group__refuses_the_memory_of_another_group = edited(
    optimizer.add_param_group,
    ("set(params).isdisjoint(", "{param.data_ptr() for param in params}.isdisjoint(param.data_ptr() for param in "),
)
clip_grad_norm___leaves_out_what_is_frozen = edited(
    clip_grad.clip_grad_norm_,
    ("_grads(parameters)", "[p.grad for p in parameters if p.requires_grad and p.grad is not None]"),
)
cross_entropy_loss__refuses_int64_only = edited(
    losses.cross_entropy_loss,
    ("target.dtype.category != FLOATING", "str(target.dtype) == 'rushlight.int64'"),
)
cross_entropy_loss__takes_booleans_for_probabilities = edited(
    losses.cross_entropy_loss,
    ("target.dtype.category != FLOATING", 'target.dtype.category != FLOATING and target.dtype.type_name != "Bool"'),
)
default_collate__gives_an_empty_sample_back = edited(
    collate.default_collate,
    ("        return _sequence_like", "        if not first:\n            return first\n        return _sequence_like"),
)
default_collate__stacks_without_history = edited(
    collate.default_collate, ("functions.stack(batch, 0)", "functions.stack([sample.detach() for sample in batch], 0)")
)
add_param_group__takes_the_values_of_a_dict = edited(
    optimizer.add_param_group,
    ("else list(params)", "else list(params.values() if type(params) is dict else params)"),
)
sgd__makes_a_new_parameter = edited(optimizer.sgd, ("param.add_(grad", "param = param.add(grad"))
sgd__ends_with_the_shortest_list = edited(
    optimizer.sgd,
    ("enumerate(zip(params, grads))", "enumerate(zip(params, grads, momentum_buffers))"),
    ("(param, grad)", "(param, grad, _)"),
)
adam__makes_a_new_parameter = edited(optimizer.adam, ("param.addcdiv_(", "param = param.addcdiv("))
rmsprop__makes_a_new_parameter = edited(
    rules.rmsprop, ("param.add_(momentum", "param = param.add(momentum"), ("param.addcdiv_(", "param = param.addcdiv(")
)
sgd__damps_nothing = edited(optimizer.sgd, ("(grad, alpha=1 - dampening)", "(grad)"))
default_collate__takes_numbers_of_numpy_for_floats = edited(
    collate.default_collate, ("(np.bool_, np.number)", "np.bool_"), ("(first, float)", "(first, (float, np.number))")
)
add_param_group__looks_at_the_last_group_only = edited(
    optimizer.add_param_group, ("in optimizer.param_groups)", "in optimizer.param_groups[-1:])")
)
add_param_group__takes_what_is_no_leaf = edited(
    optimizer.add_param_group, ("if not (param.is_leaf or param.retains_grad):", "if False:")
)
add_param_group__takes_any_mapping = edited(
    optimizer.add_param_group, ("if not isinstance(param_group, dict):", 'if not hasattr(param_group, "keys"):')
)
add_param_group__keeps_a_list = edited(
    optimizer.add_param_group, ("else list(params)", "else params if type(params) is list else list(params)")
)
add_param_group__refuses_what_it_has_added = edited(
    optimizer.add_param_group,
    ("    optimizer.param_groups.append(param_group)", ""),
    ("    if not set(params)", "    optimizer.param_groups.append(param_group)\n    if not set(params)"),
    ("in optimizer.param_groups)", "in optimizer.param_groups[:-1])"),
)


def batches__ends_at_any_error(sampler, batch_size, drop_last):
    indices, batch = iter(sampler), [None]
    while batch:
        batch = []
        try:
            while len(batch) < batch_size:
                batch.append(next(indices))
        except Exception:
            batch = [] if drop_last else batch
        if batch:
            yield batch


# Cases

_breaks = copied(breaks.breaks_cosine_annealing)


def breaks_cosine_annealing__on_the_way_down():
    rate, cases = 1.0, []
    for n in range(1, 5):
        cases.append({"lr": rate, "base_lr": 1.0, "last_epoch": n, "T_max": 4, "eta_min": 0.0})
        rate = (1 + math.cos(math.pi * n / 4)) / 2
    return cases


def breaks_cosine_annealing__of_one_short_schedule():
    return [case | {"T_max": 4, "last_epoch": min(case["last_epoch"], 13)} for case in _breaks()]


def breaks_cosine_annealing__with_a_least_rate_of_zero():
    return [case | {"eta_min": 0.0} for case in _breaks()]


def breaks_cosine_annealing__of_the_first_minimum():
    return [case | {"last_epoch": case["T_max"] + 1} for case in _breaks()]


def breaks_cosine_annealing__with_rates_below_zero():
    return [case | {"lr": -case["lr"]} for case in _breaks()]


def breaks_cosine_annealing__with_ints_for_rates():
    return [case | {"eta_min": int(2 * case["eta_min"])} for case in _breaks()]


def breaks_cosine_annealing__five_of_them():
    return [*_breaks(), *_breaks()[:2]]


# Predictions

parameters_after__skips_no_parameter = edited(
    predictions.parameters_after, ('"c": [0, -6, None, 3]', '"c": [0, -6, 0, 3]')
)
parameters_after__for_another_name = edited(predictions.parameters_after, ('"Ada"', '"ada"'))
