"""Gradient clipping: limit gradients before an optimizer step. In PyTorch: `torch/nn/utils/clip_grad.py`.

`foreach` has no effect: in PyTorch it chooses between two implementations with the same result.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from types import GeneratorType

from rushlight.aten.generated import functions
from rushlight.aten.native import creation
from rushlight.aten.strided import Tensor
from rushlight.autograd.grad_mode import no_grad
from rushlight.c10.exception import warn

Tensors = Tensor | Iterable[Tensor]


def get_total_norm(
    tensors: Tensors, norm_type: float = 2.0, error_if_nonfinite: bool = False, foreach: bool | None = None
) -> Tensor:
    """The norm of all elements of all tensors, as if they were one vector: the norm of the norms of the tensors. The result
    is a float32 0 if there are no tensors. With `error_if_nonfinite`, a norm that is nan or infinite is a RuntimeError. Nothing
    is recorded for autograd (`no_grad`). Source: `torch/nn/utils/clip_grad.py`, `_get_total_norm`."""
    tensors = [tensors] if isinstance(tensors, Tensor) else list(tensors)
    norm_type = float(norm_type)
    if not tensors:
        return creation.tensor(0.0)
    with no_grad():
        norms = [functions.linalg_vector_norm(tensor, norm_type) for tensor in tensors]
        total_norm = functions.linalg_vector_norm(functions.stack(norms), norm_type)
    if error_if_nonfinite and not math.isfinite(total_norm.item()):
        what = f"The total norm of order {norm_type} for gradients from `parameters` is non-finite, so it cannot be clipped"
        raise RuntimeError(f"{what}. To scale the gradients by it anyway, set `error_if_nonfinite=False`")
    return total_norm


def clip_grads_with_norm_(
    parameters: Tensors, max_norm: float, total_norm: Tensor, foreach: bool | None = None
) -> None:
    """Multiply the gradients of the parameters, in place, by `max_norm / (total_norm + 1e-6)`, or by 1 if that is larger than 1.
    They are multiplied even if the factor is 1 or nan. The factor stays a tensor, so no code waits for its value. Nothing is
    recorded for autograd (`no_grad`). Source: `torch/nn/utils/clip_grad.py`, `_clip_grads_with_norm_`."""
    scale = (float(max_norm) / (total_norm + 1e-6)).clamp(max=1.0)
    with no_grad():
        for grad in _grads(parameters):
            grad.mul_(scale)


def clip_grad_norm_(
    parameters: Tensor | Iterable[Tensor],
    max_norm: float,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:
    """Limit the norm of the gradients of the parameters, taken as one vector, to `max_norm`, in place.

    All gradients are multiplied by the same number, so that their direction does not change: `get_total_norm` of the gradients,
    then `clip_grads_with_norm_`. Nothing is recorded for autograd.

    Args:
        parameters: one parameter, or an iterable of any number of them; those whose `grad` is None are skipped, and one that
            is given twice counts twice. A generator (such as `parameters()` of a module) can be read only once. An empty
            generator (`GeneratorType`, no other empty iterable) is a UserWarning, because it may have been read before.
        norm_type, error_if_nonfinite: as for `get_total_norm`.

    Returns:
        the norm of the gradients before clipping, as `get_total_norm` returns it.

    Raises:
        RuntimeError: the norm is nan or infinite, and `error_if_nonfinite`. The gradients are unchanged then.

    >>> p = rl.nn.Parameter(rl.zeros(2))
    >>> p.grad = rl.tensor([3.0, 4.0])
    >>> clip_grad_norm_([p], 1.0).item(), [round(x, 3) for x in p.grad.tolist()]
    (5.0, [0.6, 0.8])

    Source: `torch/nn/utils/clip_grad.py`, `clip_grad_norm_`.
    """
    is_generator = isinstance(parameters, GeneratorType)
    parameters = [parameters] if isinstance(parameters, Tensor) else list(parameters)
    if is_generator and not parameters:
        _warn_of_nothing()
    total_norm = get_total_norm(_grads(parameters), norm_type, error_if_nonfinite)
    clip_grads_with_norm_(parameters, max_norm, total_norm)
    return total_norm


def _warn_of_nothing() -> None:
    warn("`parameters` is an empty generator, no gradient clipping will occur.")


def clip_grad_norm(*args, **kwargs) -> Tensor:
    """The older name of `clip_grad_norm_`."""
    new = "`torch.nn.utils.clip_grad_norm_`"
    warn(f"`torch.nn.utils.clip_grad_norm` is now deprecated in favor of {new}.", FutureWarning)
    return clip_grad_norm_(*args, **kwargs)


def clip_grad_value_(parameters: Tensor | Iterable[Tensor], clip_value: float, foreach: bool | None = None) -> None:
    """Move each element of the gradients into the range from `-clip_value` to `clip_value`, in place.
    Source: `torch/nn/utils/clip_grad.py`, `clip_grad_value_`."""
    with no_grad():
        for grad in _grads(parameters):
            grad.clamp_(-float(clip_value), float(clip_value))


def _grads(parameters: Tensor | Iterable[Tensor]) -> list[Tensor]:
    parameters = [parameters] if isinstance(parameters, Tensor) else parameters
    return [parameter.grad for parameter in parameters if parameter.grad is not None]
