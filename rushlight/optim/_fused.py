"""Adam's step as one loop over numpy arrays, without a call of an operator for each line of the formula.

In PyTorch: `_fused_adam` in `torch/optim/adam.py`, over `aten/src/ATen/native/cpu/FusedAdamKernel.cpp`. A program chooses it with
`fused=True`. Here Adam takes it whenever numpy computes what the operators compute, in the same order and so to the last digit,
and no mode, hook or filled slot would see the operators.
"""

from collections.abc import Iterable

import numpy as np

from rushlight.aten.native.pointwise import add_product, add_quotient, fits_fast_path, interpolated
from rushlight.aten.strided import Tensor
from rushlight.c10.dispatch import TENSOR_KEYS, local

SMALL = 4096  # elements: a call of numpy for so few takes longer than the computation


def adam(params, grads, exp_avgs, exp_avg_sqs, _, state_steps, *, amsgrad: bool, **settings) -> None:
    """Compute `optimizer.adam` without `amsgrad`, for tensors that `can_fuse` allows. Small parameters are computed together.
    Source: `aten/src/ATen/native/cpu/FusedAdamKernel.cpp`."""
    is_decayed = settings["decoupled_weight_decay"] and settings["weight_decay"] != 0
    rows = list(zip(params, grads, exp_avgs, exp_avg_sqs))
    share_memory = len({id(tensor._storage) for row in rows for tensor in row}) < 4 * len(rows)
    groups: dict[tuple, list[list[np.ndarray]]] = {}
    for i, (row, step) in enumerate(zip(rows, state_steps)):
        arrays, t = [tensor._array for tensor in row], step._array
        t.fill(t.item() + 1)  # faster than `+=`
        alone = share_memory or arrays[0].size > SMALL
        groups.setdefault((t.item(), arrays[0].dtype, alone and i), []).append(arrays)
        for tensor, writes in zip((*row, step), (1 + is_decayed, 0, 1, 2, 1)):
            tensor._storage.version += writes  # as many as the operators make
    for (t, *_), group in groups.items():
        if len(group) == 1:
            _update(*group[0], t, is_decayed, **settings)
            continue
        joined = [np.concatenate(arrays, None) for arrays in zip(*group)]
        _update(*joined, t, is_decayed, **settings)
        start = 0
        for p, _, m, v in group:
            end = start + p.size
            for array, whole in zip((p, m, v), (joined[0], joined[2], joined[3])):
                array.reshape(-1)[:] = whole[start:end]
            start = end


def _update(p, g, m, v, t, is_decayed, *, lr, beta1, beta2, eps, weight_decay, maximize, **_) -> None:
    """One step of Adam or AdamW on the array `p`, in place: the moments `m` and `v`, then the parameter. `is_decayed`
    means the decoupled weight decay of AdamW."""
    g = -g if maximize else g
    if is_decayed:
        p *= 1 - lr * weight_decay
    elif weight_decay != 0:
        g = g + p * weight_decay
    m[...] = interpolated(m, g, 1 - beta1)
    v *= beta2
    add_product(v, g, g, 1 - beta2, v)
    root = np.sqrt(v)
    root /= (1 - beta2**t) ** 0.5
    root += eps
    add_quotient(p, m, root, -lr / (1 - beta1**t), p)


def can_fuse(tensors: Iterable[tuple[Tensor, ...]], settings: Iterable) -> bool:
    """Return whether numpy can compute with the tensors of each parameter and with these settings as the operators do, while
    nothing observes the operators. The last tensor of a parameter is its number of steps, whose dtype and sizes are free."""
    if local.modes:
        return False
    if any(setting.__class__ not in (float, int, bool) for setting in settings):
        return False
    for param, *others, step in tensors:
        for tensor in others:
            if tensor.dtype is not param.dtype or tensor._sizes != param._sizes:
                return False
        for tensor in (param, *others, step):
            if tensor._key_set != TENSOR_KEYS["cpu"] or not fits_fast_path(tensor):
                return False
    return True
