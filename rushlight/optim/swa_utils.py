"""Averages of a model's parameters during training, by a running mean or exponentially. In PyTorch: `torch/optim/swa_utils.py`."""

import math
from collections.abc import Callable, Iterable, Sequence
from copy import deepcopy
from itertools import chain
from typing import Any

from rushlight.aten.native import creation
from rushlight.aten.strided import Tensor
from rushlight.autograd.grad_mode import no_grad
from rushlight.c10.dtypes import int64
from rushlight.nn.modules.layers import _BatchNorm
from rushlight.nn.modules.module import Module
from rushlight.nn.parameter import Device
from rushlight.optim.lr_scheduler import LRScheduler, _format_param
from rushlight.optim.optimizer import Optimizer

__all__ = [
    "AveragedModel", "SWALR", "get_ema_avg_fn", "get_ema_multi_avg_fn", "get_swa_avg_fn", "get_swa_multi_avg_fn", "update_bn",
]  # fmt: skip


def get_ema_avg_fn(decay: float = 0.999) -> Callable:
    """The average is `decay` of the old average and the rest of the new parameter. A `decay` outside [0, 1] is a ValueError."""
    _check_decay(decay)
    return no_grad()(lambda averaged, current, count: decay * averaged + (1 - decay) * current)


def get_swa_avg_fn() -> Callable:
    """The average is the mean of all parameters so far."""
    return no_grad()(lambda averaged, current, count: averaged + (current - averaged) / (count + 1))


def get_ema_multi_avg_fn(decay: float = 0.999) -> Callable:
    """`get_ema_avg_fn` for lists of tensors, in place."""
    _check_decay(decay)
    return _multi_avg_fn(lambda count: 1 - decay, lambda mean, value, count: mean * decay + value * (1 - decay))


def get_swa_multi_avg_fn() -> Callable:
    """`get_swa_avg_fn` for lists of tensors, in place."""
    return _multi_avg_fn(lambda count: float(1 / (count + 1)), get_swa_avg_fn())


def _multi_avg_fn(weight: Callable[[Any], float], of_integers: Callable) -> Callable:
    @no_grad()
    def update(averaged: Sequence[Tensor], current: Sequence[Tensor], count: Tensor | int) -> None:
        for mean, value in zip(averaged, current, strict=True):
            if mean.dtype.is_floating_point:
                mean.lerp_(value, weight(count))
            else:
                mean.copy_(of_integers(mean, value, count))

    return update


def _check_decay(decay: float) -> None:
    if not 0 <= decay <= 1:
        raise ValueError(f"Invalid decay value {decay} provided. Please provide a value in [0,1] range.")


class AveragedModel(Module):
    """A copy of a model whose parameters are averages of the model's. Each `update_parameters` adds the current parameters.

    `avg_fn(averaged, current, count)` returns a new average. `multi_avg_fn` gets lists of tensors of one dtype and device, and
    changes the first in place. With neither of them, the average is the mean. With both, there is an AssertionError.

    Source: `torch/optim/swa_utils.py`, `AveragedModel`.
    """

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
        """Copy the parameters the first time, and average them each other time. Buffers are copied, unless `use_buffers`."""
        averaged, current = ([tensor.detach() for tensor in self._averaged(m)] for m in (self.module, model))
        current = [value.to(mean.device) for mean, value in zip(averaged, current)]
        if self.n_averaged == 0:
            for mean, value in zip(averaged, current):
                mean.copy_(value)
        elif self.avg_fn is not None:
            for mean, value in zip(averaged, current):
                mean.copy_(self.avg_fn(mean, value, self.n_averaged.to(mean.device)))
        else:
            pairs: dict[Any, list[tuple[Tensor, Tensor]]] = {}
            for mean, value in zip(averaged, current):
                pairs.setdefault((mean.device, mean.dtype), []).append((mean, value))
            for (device, _), same in pairs.items():
                (self.multi_avg_fn or get_swa_multi_avg_fn())(*map(list, zip(*same)), self.n_averaged.to(device))
        if not self.use_buffers:
            for ours, buffer in zip(self.module.buffers(), model.buffers(), strict=True):
                ours.detach().copy_(buffer.detach())
        self.n_averaged += 1

    def _averaged(self, model: Module) -> chain:
        return chain(model.parameters(), model.buffers() if self.use_buffers else ())


@no_grad()
def update_bn(loader: Iterable[Any], model: Module, device: Device = None) -> None:
    """Compute the running mean and variance of each batch norm of a model again, as averages over the batches of a loader. Of a
    batch that is a list or tuple, the first entry is the input. Source: `torch/optim/swa_utils.py`, `update_bn`."""
    momenta = {module: module.momentum for module in model.modules() if isinstance(module, _BatchNorm)}
    if not momenta:
        return
    was_training = model.training
    model.train()
    for module in momenta:
        module.reset_running_stats()
        module.momentum = None
    for batch in loader:
        batch = batch[0] if isinstance(batch, (list, tuple)) else batch
        model(batch if device is None else batch.to(device))
    for module, momentum in momenta.items():
        module.momentum = momentum
    model.train(was_training)


class SWALR(LRScheduler):
    """From the learning rate of each group to `swa_lr` in `anneal_epochs` steps, along half a cosine or linearly.

    Raises:
        ValueError: another `anneal_strategy` than "cos" and "linear", or a number of steps that is no integer or is negative.

    Source: `torch/optim/swa_utils.py`, `SWALR`.
    """

    def __init__(
        self, optimizer: Optimizer, swa_lr: float, anneal_epochs: int = 10, anneal_strategy: str = "cos", last_epoch: int = -1
    ) -> None:  # fmt: skip
        for group, lr in zip(optimizer.param_groups, _format_param("swa_lr", optimizer, swa_lr)):
            group["swa_lr"] = lr
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(f"anneal_strategy must be one of 'cos' or 'linear', instead got {anneal_strategy}")
        self._anneal_strategy = anneal_strategy
        if not isinstance(anneal_epochs, int) or anneal_epochs < 0:
            raise ValueError(f"anneal_epochs must be equal or greater than 0, got {anneal_epochs}")
        self.anneal_epochs = anneal_epochs
        super().__init__(optimizer, last_epoch)

    def anneal_func(self, t: float) -> float:
        """The part of the way to `swa_lr` after the part `t` of the steps."""
        return (1 - math.cos(math.pi * t)) / 2 if self._anneal_strategy == "cos" else t

    def _lrs(self) -> list[float]:
        step = self._step_count - 1
        if self.anneal_epochs == 0:
            step = max(1, step)
        before, now = (self.anneal_func(max(0, min(1, n / max(1, self.anneal_epochs)))) for n in (step - 1, step))
        lrs = []
        for group in self.optimizer.param_groups:
            swa_lr = group["swa_lr"]
            first = swa_lr if before == 1 else (group["lr"] - before * swa_lr) / (1 - before)
            lrs.append(swa_lr * now + first * (1 - now))
        return lrs
