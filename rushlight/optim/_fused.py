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


def adam(params, grads, exp_avgs, exp_avg_sqs, _, state_steps, *, amsgrad: bool, **settings) -> None:
    """Compute `optimizer.adam` without `amsgrad`, for tensors that `can_fuse` allows.
    Source: `aten/src/ATen/native/cpu/FusedAdamKernel.cpp`."""
    lr, beta1, beta2, weight_decay = (settings[name] for name in ("lr", "beta1", "beta2", "weight_decay"))
    is_decayed = settings["decoupled_weight_decay"] and weight_decay != 0
    for tensors in zip(params, grads, exp_avgs, exp_avg_sqs, state_steps):
        p, g, m, v, t = (tensor._array for tensor in tensors)
        t += 1
        g = -g if settings["maximize"] else g
        if is_decayed:
            p *= 1 - lr * weight_decay
        elif weight_decay != 0:
            g = g + p * weight_decay
        m[...] = interpolated(m, g, 1 - beta1)
        v *= beta2
        v[...] = add_product(v, g, g, 1 - beta2)
        root = np.sqrt(v)
        root /= (1 - beta2 ** t.item()) ** 0.5
        root += settings["eps"]
        p[...] = add_quotient(p, m, root, -lr / (1 - beta1 ** t.item()))
        for tensor, writes in zip(tensors, (1 + is_decayed, 0, 1, 2, 1)):
            tensor._storage.version += writes  # as many as the operators make


def can_fuse(tensors: Iterable[tuple[Tensor, ...]], settings: Iterable) -> bool:
    """Return whether numpy can compute with the tensors of each parameter and with these settings as the operators do, while
    nothing observes the operators. The last tensor of a parameter is its number of steps, whose dtype and sizes are free."""
    if local.modes:
        return False
    if any(setting.__class__ not in (float, int, bool) for setting in settings):
        return False
    for param, *others, step in tensors:
        if any(tensor.dtype is not param.dtype or tensor._sizes != param._sizes for tensor in others):
            return False
        if not all(
            fits_fast_path(tensor) and tensor._key_set == TENSOR_KEYS["cpu"] for tensor in (param, *others, step)
        ):
            return False
    return True
