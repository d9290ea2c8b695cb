"""Averages of a model's parameters during training, by a running mean or exponentially. In PyTorch: `torch/optim/swa_utils.py`.

Left out: `SWALR`, `update_bn`.
"""

from collections.abc import Callable, Sequence
from copy import deepcopy
from itertools import chain
from typing import Any

from rushlight.aten.native import creation
from rushlight.aten.strided import Tensor
from rushlight.autograd.grad_mode import no_grad
from rushlight.c10.dtypes import int64
from rushlight.nn.modules.module import Module
from rushlight.nn.parameter import Device

__all__ = ["AveragedModel", "get_ema_avg_fn", "get_ema_multi_avg_fn", "get_swa_avg_fn", "get_swa_multi_avg_fn"]


def get_ema_avg_fn(decay: float = 0.999) -> Callable:
    """The average is `decay` of the old average and the rest of the new parameter."""
    _check_decay(decay)
    return no_grad()(lambda averaged, current, count: decay * averaged + (1 - decay) * current)


def get_swa_avg_fn() -> Callable:
    """The average is the mean of all parameters so far."""
    return no_grad()(lambda averaged, current, count: averaged + (current - averaged) / (count + 1))


def get_ema_multi_avg_fn(decay: float = 0.999) -> Callable:
    """`get_ema_avg_fn` for lists of tensors, in place."""
    _check_decay(decay)
    return _multi_avg_fn(lambda count: 1 - decay)


def get_swa_multi_avg_fn() -> Callable:
    """`get_swa_avg_fn` for lists of tensors, in place."""
    return _multi_avg_fn(lambda count: 1 / (int(count) + 1))


def _multi_avg_fn(weight: Callable[[Any], float]) -> Callable:
    @no_grad()
    def update(averaged: Sequence[Tensor], current: Sequence[Tensor], count: Tensor | int) -> None:
        for mean, value in zip(averaged, current):
            if mean.dtype.is_floating_point:
                mean.lerp_(value, weight(count))
            else:
                mean.copy_(mean + (value - mean) * weight(count))

    return update


def _check_decay(decay: float) -> None:
    if not 0 <= decay <= 1:
        raise ValueError(f"Invalid decay value {decay} provided. Please provide a value in [0,1] range.")


class AveragedModel(Module):
    """A copy of a model whose parameters are averages of the model's. Each `update_parameters` adds the current parameters.
    Source: `torch/optim/swa_utils.py`, `AveragedModel`."""

    def __init__(
        self, model: Module, device: Device = None, avg_fn: Callable | None = None, multi_avg_fn: Callable | None = None,
        use_buffers: bool = False,
    ) -> None:  # fmt: skip
        super().__init__()
        if avg_fn is not None and multi_avg_fn is not None:
            raise AssertionError("Only one of avg_fn and multi_avg_fn should be provided")
        self.module = deepcopy(model)
        if device is not None:
            self.module = self.module.to(device)
        self.register_buffer("n_averaged", creation.tensor(0, dtype=int64, device=device))
        self.avg_fn, self.multi_avg_fn, self.use_buffers = avg_fn, multi_avg_fn, use_buffers

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        return self.module(*args, **kwargs)

    def update_parameters(self, model: Module) -> None:
        averaged, current = ([tensor.detach() for tensor in self._averaged(m)] for m in (self.module, model))
        if self.n_averaged == 0:
            for mean, value in zip(averaged, current):
                mean.copy_(value)
        elif self.avg_fn is not None:
            for mean, value in zip(averaged, current):
                mean.copy_(self.avg_fn(mean, value, self.n_averaged))
        else:
            (self.multi_avg_fn or get_swa_multi_avg_fn())(averaged, current, self.n_averaged)
        if not self.use_buffers:
            for ours, buffer in zip(self.module.buffers(), model.buffers()):
                ours.detach().copy_(buffer.detach())
        self.n_averaged += 1

    def _averaged(self, model: Module) -> chain:
        return chain(model.parameters(), model.buffers() if self.use_buffers else ())
