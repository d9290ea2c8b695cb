"""Learning rate schedulers: they change the learning rates of an optimizer during training.

Most rules are *chainable*: they compute the next learning rate from the current one, not from the number of steps. So several
schedulers can act on one optimizer, and each multiplies the current learning rate. The closed form computes it from the first
learning rate and the number of steps. In PyTorch: `torch/optim/lr_scheduler.py`. Left out: `CyclicLR`,
`CosineAnnealingWarmRestarts`, `PolynomialLR`, `ChainedScheduler`.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import wraps
from types import FunctionType
from typing import Any
from weakref import ref

from rushlight.aten.strided import Tensor
from rushlight.c10.exception import warn
from rushlight.optim.optimizer import Optimizer

EPOCH_DEPRECATION_WARNING = "The epoch parameter in `scheduler.step()` is deprecated"


class LRScheduler:
    """Sets the learning rate of each group when it is constructed, and again at each `step`, after the optimizer's step.

    A subclass defines `get_lr`, which returns the next learning rate of each group. The classes here define `_lrs`, and `get_lr`
    warns if `step` has not called it. `last_epoch` counts the steps. A scheduler that is constructed with a `last_epoch` other than
    -1 resumes a schedule, and the groups must have their `initial_lr`.

    Source: `torch/optim/lr_scheduler.py`, `LRScheduler`.
    """

    _is_initial = _get_lr_called_within_step = False

    def __init__(self, optimizer: Optimizer, last_epoch: int = -1) -> None:
        _check_optimizer(optimizer)
        self.optimizer = optimizer
        for i, group in enumerate(optimizer.param_groups):
            if last_epoch == -1:
                group.setdefault("initial_lr", _copy(group["lr"]))
            elif "initial_lr" not in group:
                raise KeyError(
                    f"param 'initial_lr' is not specified in param_groups[{i}] when resuming scheduler with last_epoch >= 0"
                )
        self.base_lrs = [_copy(group["initial_lr"]) for group in optimizer.param_groups]
        self.last_epoch = last_epoch
        _track_step(optimizer)
        self._initial_step()

    def _initial_step(self) -> None:
        self._step_count, self._is_initial = 0, True
        self.step()
        self._is_initial = False

    def get_lr(self) -> list[float]:
        """The next learning rates. Only `step` may call it."""
        if not self._get_lr_called_within_step:
            warn("To get the last learning rate computed by the scheduler, use `get_last_lr()`.")
        return self._lrs()

    def _lrs(self) -> list[float]:
        raise NotImplementedError

    def get_last_lr(self) -> list[float]:
        """The learning rates that this scheduler set last."""
        return self._last_lr

    def step(self, epoch: int | None = None) -> None:
        """Advance by one step, or (deprecated) to `epoch`, using the closed form if there is one."""
        if self._step_count == 1:
            see = "See https://docs.pytorch.org/docs/stable/optim.html#how-to-adjust-learning-rate"
            if not hasattr(self.optimizer.step, "_wrapped_by_lr_sched"):
                warn(f"`optimizer.step()` has been overridden after the scheduler was made. {see}")
            elif not getattr(self.optimizer, "_opt_called", False):
                warn(f"Detected call of `lr_scheduler.step()` before `optimizer.step()`. {see}")
        self._step_count += 1
        if epoch is not None:
            warn(EPOCH_DEPRECATION_WARNING)
        self._update_lr(epoch)

    def _update_lr(self, epoch: int | None = None) -> None:
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        closed = epoch is not None and hasattr(self, "_get_closed_form_lr")
        self._set_lrs(self._get_closed_form_lr if closed else self.get_lr)

    def _set_lrs(self, get_lr: Callable[[], list[float]]) -> None:
        self._get_lr_called_within_step = True
        values = get_lr()
        self._get_lr_called_within_step = False
        for group, lr in zip(self.optimizer.param_groups, values, strict=True):
            _set_lr(group, lr)
        self._last_lr = self._current()

    def _current(self) -> list[float]:
        return [_copy(group["lr"]) for group in self.optimizer.param_groups]

    def state_dict(self) -> dict[str, Any]:
        """All attributes except the optimizer."""
        return {key: value for key, value in self.__dict__.items() if key != "optimizer"}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        self.__dict__.update(state_dict)


_LRScheduler = LRScheduler  # its older name


def _copy(lr: Any) -> Any:
    """A learning rate that is a tensor is changed in place, so what must stay is a copy."""
    return lr.clone() if isinstance(lr, Tensor) else lr


def _set_lr(group: dict[str, Any], lr: Any) -> None:
    """Source: `torch/optim/lr_scheduler.py`, `_update_param_group_val`."""
    if isinstance(group["lr"], Tensor):
        group["lr"].fill_(lr.squeeze() if isinstance(lr, Tensor) else lr)
    else:
        group["lr"] = lr


def _check_optimizer(optimizer: Any) -> None:
    if not isinstance(optimizer, Optimizer):
        raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")


def _track_step(optimizer: Optimizer) -> None:
    """Make the optimizer's `step` record that it was called. Source: `LRScheduler.__init__`, `patch_track_step_called`."""
    if hasattr(optimizer.step, "_wrapped_by_lr_sched"):
        return
    step, owner = optimizer.step.__func__, ref(optimizer)

    @wraps(step)
    def run(*args, **kwargs):
        owner()._opt_called = True
        return step(owner(), *args, **kwargs)

    run._wrapped_by_lr_sched = True
    optimizer.step = run


def _format_param(name: str, optimizer: Optimizer, value: Any) -> list:
    """A list with `value` for every group, or `value` itself if it already has one entry for each group."""
    groups = len(optimizer.param_groups)
    if not isinstance(value, (list, tuple)):
        return [value] * groups
    if len(value) != groups:
        raise ValueError(f"{name} has {len(value)} values, and there are {groups} parameter groups")
    return list(value)


class LambdaLR(LRScheduler):
    """The first learning rate times a function of the number of steps, or one such function for each group."""

    def __init__(self, optimizer: Optimizer, lr_lambda: Callable | Sequence[Callable], last_epoch: int = -1) -> None:
        self.lr_lambdas = _format_param("lr_lambda", optimizer, lr_lambda)
        super().__init__(optimizer, last_epoch)

    def _lrs(self) -> list[float]:
        return [base_lr * factor(self.last_epoch) for factor, base_lr in zip(self.lr_lambdas, self.base_lrs)]

    def state_dict(self) -> dict[str, Any]:
        """A function cannot be saved: of the lambdas, only the attributes of callable objects are saved."""
        lambdas = [
            None if isinstance(function, FunctionType) else function.__dict__.copy() for function in self.lr_lambdas
        ]
        return {**super().state_dict(), "lr_lambdas": lambdas}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        self.__dict__.update({key: value for key, value in state_dict.items() if key != "lr_lambdas"})
        for ours, saved in zip(self.lr_lambdas, state_dict["lr_lambdas"]):
            if saved is not None:
                ours.__dict__.update(saved)


class MultiplicativeLR(LambdaLR):
    """Multiplies the learning rate by a function of the number of steps, or by one such function for each group."""

    def __init__(self, optimizer: Optimizer, lr_lambda: Callable | Sequence[Callable], last_epoch: int = -1) -> None:
        for function in lr_lambda if isinstance(lr_lambda, (list, tuple)) else [lr_lambda]:
            if not callable(function):
                raise TypeError(f"lr_lambda should be a function, but got {type(function).__name__}")
        super().__init__(optimizer, lr_lambda, last_epoch)

    def _lrs(self) -> list[float]:
        if self._is_initial:
            return self._current()
        return [lr * factor(self.last_epoch) for factor, lr in zip(self.lr_lambdas, self._current())]


class _FactorLR(LRScheduler):
    """Multiplies the learning rates of all groups by the same factor, which depends only on the number of steps. A subclass
    defines the factor of this step, and the product of all factors up to this step."""

    def _lrs(self) -> list[float]:
        factor = self._factor()
        return [lr * factor for lr in self._current()]

    def _get_closed_form_lr(self) -> list[float]:
        product = self._product()
        return [base_lr * product for base_lr in self.base_lrs]


class StepLR(_FactorLR):
    """Multiplies by `gamma` every `step_size` steps."""

    def __init__(self, optimizer: Optimizer, step_size: int, gamma: float = 0.1, last_epoch: int = -1) -> None:
        self.step_size, self.gamma = step_size, gamma
        super().__init__(optimizer, last_epoch)

    def _factor(self) -> float:
        return 1 if self.last_epoch == 0 or self.last_epoch % self.step_size else self.gamma

    def _product(self) -> float:
        return self.gamma ** (self.last_epoch // self.step_size)


class MultiStepLR(_FactorLR):
    """Multiplies by `gamma` at each milestone, a number of steps; twice at a milestone that occurs twice."""

    def __init__(
        self, optimizer: Optimizer, milestones: Iterable[int], gamma: float = 0.1, last_epoch: int = -1
    ) -> None:
        self.milestones, self.gamma = Counter(milestones), gamma
        super().__init__(optimizer, last_epoch)

    def _factor(self) -> float:
        return self.gamma ** self.milestones[self.last_epoch] if self.last_epoch in self.milestones else 1

    def _product(self) -> float:
        return self.gamma ** bisect_right(sorted(self.milestones.elements()), self.last_epoch)


class ConstantLR(_FactorLR):
    """Multiplies by `factor` for the first `total_iters` steps."""

    def __init__(self, optimizer: Optimizer, factor: float = 1 / 3, total_iters: int = 5, last_epoch: int = -1) -> None:
        if not 0 <= factor <= 1:
            raise ValueError("Constant multiplicative factor expected to be between 0 and 1.")
        self.factor, self.total_iters = factor, total_iters
        super().__init__(optimizer, last_epoch)

    def _factor(self) -> float:
        if self.last_epoch == 0:
            return self.factor
        return 1 / self.factor if self.last_epoch == self.total_iters else 1

    def _product(self) -> float:
        return self.factor + (self.last_epoch >= self.total_iters) * (1 - self.factor)


class LinearLR(_FactorLR):
    """Multiplies by a factor that changes linearly from `start_factor` to `end_factor` in `total_iters` steps."""

    def __init__(
        self, optimizer: Optimizer, start_factor: float = 1 / 3, end_factor: float = 1.0, total_iters: int = 5,
        last_epoch: int = -1,
    ) -> None:  # fmt: skip
        if not 0 < start_factor <= 1:
            raise ValueError("Starting multiplicative factor expected to be greater than 0 and less or equal to 1.")
        if not 0 <= end_factor <= 1:
            raise ValueError("Ending multiplicative factor expected to be between 0 and 1.")
        self.start_factor, self.end_factor, self.total_iters = start_factor, end_factor, total_iters
        super().__init__(optimizer, last_epoch)

    def _factor(self) -> float:
        """The quotient of the linear factor now and that of the previous step."""
        if self.last_epoch == 0:
            return self.start_factor
        if self._is_initial or self.last_epoch > self.total_iters:
            return 1
        rise = self.end_factor - self.start_factor
        return 1 + rise / (self.total_iters * self.start_factor + (self.last_epoch - 1) * rise)

    def _product(self) -> float:
        steps = min(self.total_iters, self.last_epoch)
        return self.start_factor + (self.end_factor - self.start_factor) * steps / self.total_iters


class ExponentialLR(_FactorLR):
    """Multiplies by `gamma` at each step."""

    def __init__(self, optimizer: Optimizer, gamma: float, last_epoch: int = -1) -> None:
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def _factor(self) -> float:
        return 1 if self._is_initial else self.gamma

    def _product(self) -> float:
        return self.gamma**self.last_epoch


def cosine_annealing(lr: float, base_lr: float, last_epoch: int, T_max: int, eta_min: float) -> float:
    """The learning rate after `last_epoch` steps (1 or more), from the previous one, `lr`: along a cosine, down and up again.

    With n = `last_epoch` and c(n) = 1 + cos(pi n / T_max), the distance from `eta_min` is proportional to c(n):

        eta_min + (lr - eta_min) c(n) / c(n - 1)

    If the previous step was at the minimum, which means that n - 1 is an odd multiple of `T_max`, this is 0 / 0. Then the
    result is

        lr + (base_lr - eta_min) (1 - cos(pi / T_max)) / 2

    `base_lr` is the learning rate at the maximum, at the start of the schedule.

    >>> cosine_annealing(1.0, 1.0, 1, 2, 0.0)
    0.5

    Source: `torch/optim/lr_scheduler.py`, `CosineAnnealingLR.get_lr`.
    """
    if (last_epoch - 1 - T_max) % (2 * T_max) == 0:
        return lr + (base_lr - eta_min) * (1 - math.cos(math.pi / T_max)) / 2
    now, before = (1 + math.cos(math.pi * n / T_max) for n in (last_epoch, last_epoch - 1))
    return now / before * (lr - eta_min) + eta_min


class CosineAnnealingLR(LRScheduler):
    """From the first learning rate to `eta_min` in `T_max` steps, along half a cosine, and back up again."""

    def __init__(self, optimizer: Optimizer, T_max: int, eta_min: float = 0.0, last_epoch: int = -1) -> None:
        self.T_max, self.eta_min = T_max, eta_min
        super().__init__(optimizer, last_epoch)

    def _lrs(self) -> list[float]:
        if self._is_initial:
            return self._current()
        if self._step_count == 1 and self.last_epoch > 0:  # the step count was reset: there is no previous step
            return self._get_closed_form_lr()
        settings = self.last_epoch, self.T_max, self.eta_min
        return [cosine_annealing(lr, base_lr, *settings) for lr, base_lr in zip(self._current(), self.base_lrs)]

    def _get_closed_form_lr(self) -> list[float]:
        height = 1 + math.cos(math.pi * self.last_epoch / self.T_max)
        return [self.eta_min + (base_lr - self.eta_min) * height / 2 for base_lr in self.base_lrs]


class SequentialLR(LRScheduler):
    """Schedulers in sequence: at each milestone, a number of steps, the next scheduler starts from its step 0."""

    def __init__(
        self, optimizer: Optimizer, schedulers: list[LRScheduler], milestones: list[int], last_epoch: int = -1
    ) -> None:
        if not schedulers:
            raise ValueError("SequentialLR expects at least one scheduler, but got no scheduler.")
        for i, scheduler in enumerate(schedulers):
            if not hasattr(scheduler, "optimizer"):
                raise TypeError(f"SequentialLR: the scheduler at index {i} has no `optimizer`")
            if isinstance(scheduler, ReduceLROnPlateau):
                raise ValueError(f"SequentialLR: ReduceLROnPlateau at index {i} needs a metric at each step")
            if scheduler.optimizer is not optimizer:
                raise ValueError(f"SequentialLR: the scheduler at index {i} belongs to another optimizer")
        if len(milestones) != len(schedulers) - 1:
            raise ValueError(f"SequentialLR: {len(schedulers)} schedulers need {len(schedulers) - 1} milestones")
        self._schedulers, self.optimizer = schedulers, optimizer
        self._milestones, self.last_epoch = milestones, last_epoch + 1
        # Each scheduler took its first step when it was constructed. Undo all of them, and let only the active one repeat it.
        for group in optimizer.param_groups:
            group["lr"] = group["initial_lr"]
        self.recursive_undo()
        first = schedulers[bisect_right(milestones, 0)]
        first._initial_step()
        self._last_lr = first.get_last_lr()

    def recursive_undo(self, sched: LRScheduler | None = None) -> None:
        sched = sched or self
        for inner in getattr(sched, "_schedulers", ()):
            self.recursive_undo(inner)
        if not hasattr(sched, "_schedulers"):
            sched.last_epoch -= 1

    def step(self) -> None:
        self.last_epoch += 1
        passed = bisect_right(self._milestones, self.last_epoch)
        scheduler = self._schedulers[passed]
        if passed > 0 and self._milestones[passed - 1] == self.last_epoch:
            scheduler._update_lr(0)
        else:
            scheduler.step()
        self._last_lr = scheduler.get_last_lr()

    def state_dict(self) -> dict[str, Any]:
        return {**super().state_dict(), "_schedulers": [scheduler.state_dict() for scheduler in self._schedulers]}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        self.__dict__.update({key: value for key, value in state_dict.items() if key != "_schedulers"})
        for ours, saved in zip(self._schedulers, state_dict["_schedulers"]):
            ours.load_state_dict(saved)


class OneCycleLR(LRScheduler):
    """Up to `max_lr` and down to almost 0 in `total_steps`. Momentum (or the first beta) changes in the opposite direction. It
    is not chainable: every learning rate is computed from the number of steps."""

    def __init__(
        self, optimizer: Optimizer, max_lr: float | Sequence[float], total_steps: int | None = None,
        epochs: int | None = None, steps_per_epoch: int | None = None, pct_start: float = 0.3, anneal_strategy: str = "cos",
        cycle_momentum: bool = True, base_momentum: float | Sequence[float] = 0.85,
        max_momentum: float | Sequence[float] = 0.95, div_factor: float = 25.0, final_div_factor: float = 1e4,
        three_phase: bool = False, last_epoch: int = -1,
    ) -> None:  # fmt: skip
        _check_optimizer(optimizer)
        self.total_steps = _count_total_steps(total_steps, epochs, steps_per_epoch)
        if not isinstance(pct_start, float) or not 0 <= pct_start <= 1:
            raise ValueError(f"Expected float between 0 and 1 pct_start, but got {pct_start}")
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(f"anneal_strategy must be one of 'cos' or 'linear', instead got {anneal_strategy}")
        self._anneal_func_type, self.cycle_momentum = anneal_strategy, cycle_momentum
        self._schedule_phases = _one_cycle_phases(self.total_steps, pct_start, three_phase)
        self.use_beta1 = "betas" in optimizer.defaults
        if cycle_momentum and not self.use_beta1 and "momentum" not in optimizer.defaults:
            raise ValueError("optimizer must support momentum or beta1 with `cycle_momentum` option enabled")
        bounds = {"max_lr": max_lr, "max_momentum": max_momentum, "base_momentum": base_momentum}
        bounds = zip(*(_format_param(name, optimizer, value) for name, value in bounds.items()))
        if last_epoch == -1:
            for group, (peak, high, low) in zip(optimizer.param_groups, bounds):
                group.update(initial_lr=peak / div_factor, max_lr=_copy(peak))
                group["min_lr"] = group["initial_lr"] / final_div_factor
                if cycle_momentum:
                    group.update(max_momentum=_copy(high), base_momentum=_copy(low))
                    self._set_momentum(group, _copy(high))
        super().__init__(optimizer, last_epoch)

    def _set_momentum(self, group: dict[str, Any], momentum: float) -> None:
        if self.use_beta1:
            group["betas"] = (momentum, *group["betas"][1:])
        else:
            group["momentum"] = momentum

    def _anneal(self, start: float, end: float, fraction: float) -> float:
        if self._anneal_func_type == "linear":
            return (end - start) * fraction + start
        return end + (start - end) / 2 * (math.cos(math.pi * fraction) + 1)

    def _lrs(self) -> list[float]:
        if self.last_epoch > self.total_steps:
            raise ValueError(f"Tried to step {self.last_epoch} times. There are {self.total_steps} steps in total")
        phases = self._schedule_phases
        number = next((i for i, phase in enumerate(phases) if self.last_epoch <= phase[0]), len(phases) - 1)
        end_step, *names = phases[number]
        start_step = phases[number - 1][0] if number else 0.0
        fraction = (self.last_epoch - start_step) / (end_step - start_step)
        learning_rates = []
        for group in self.optimizer.param_groups:
            learning_rates.append(self._anneal(group[names[0]], group[names[1]], fraction))
            if self.cycle_momentum:
                self._set_momentum(group, self._anneal(group[names[2]], group[names[3]], fraction))
        return learning_rates


def _count_total_steps(total_steps: int | None, epochs: int | None, steps_per_epoch: int | None) -> int:
    if total_steps is None and (epochs is None or steps_per_epoch is None):
        raise ValueError("You must define either total_steps OR (epochs AND steps_per_epoch)")
    for name, count in dict(total_steps=total_steps, epochs=epochs, steps_per_epoch=steps_per_epoch).items():
        if count is not None and (count <= 0 or not isinstance(count, int)):
            raise ValueError(f"Expected positive integer {name}, but got {count}")
    return total_steps or epochs * steps_per_epoch


def _one_cycle_phases(total_steps: int, pct_start: float, three_phase: bool) -> list[tuple]:
    """For each phase, its last step, and the group's settings at its start and end: learning rate, then momentum."""
    up, last = pct_start * total_steps - 1, total_steps - 1
    rising = (up, "initial_lr", "max_lr", "max_momentum", "base_momentum")
    if not three_phase:
        return [rising, (last, "max_lr", "min_lr", "base_momentum", "max_momentum")]
    back = (2 * pct_start * total_steps - 2, "max_lr", "initial_lr", "base_momentum", "max_momentum")
    return [rising, back, (last, "initial_lr", "min_lr", "max_momentum", "max_momentum")]


class ReduceLROnPlateau(LRScheduler):
    """Multiplies by `factor` when a metric, passed to each `step`, has not improved for more than `patience` steps. After that,
    `cooldown` steps are not counted. The learning rate does not fall below `min_lr`, or change by `eps` or less."""

    def __init__(
        self, optimizer: Optimizer, mode: str = "min", factor: float = 0.1, patience: int = 10, threshold: float = 1e-4,
        threshold_mode: str = "rel", cooldown: int = 0, min_lr: float | Sequence[float] = 0, eps: float = 1e-8,
    ) -> None:  # fmt: skip
        if factor >= 1.0:
            raise ValueError("Factor should be < 1.0.")
        _check_optimizer(optimizer)
        if mode not in ("min", "max"):
            raise ValueError(f"mode {mode} is unknown!")
        if threshold_mode not in ("rel", "abs"):
            raise ValueError(f"threshold mode {threshold_mode} is unknown!")
        self.optimizer, self.factor, self.patience, self.cooldown, self.eps = optimizer, factor, patience, cooldown, eps
        self.min_lrs = _format_param("min_lr", optimizer, min_lr)
        self.default_min_lr = None if isinstance(min_lr, (list, tuple)) else min_lr
        self.mode, self.threshold, self.threshold_mode = mode, threshold, threshold_mode
        self.mode_worse = math.inf if mode == "min" else -math.inf
        self.last_epoch, self._last_lr = 0, self._current()
        self.best, self.cooldown_counter, self.num_bad_epochs = self.mode_worse, 0, 0

    in_cooldown: bool = property(lambda self: self.cooldown_counter > 0)

    def step(self, metrics: Any, epoch: int | None = None) -> None:
        value = float(metrics)
        if epoch is not None:
            warn(EPOCH_DEPRECATION_WARNING)
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        if self._is_better(value):
            self.best, self.num_bad_epochs = value, 0
        else:
            self.num_bad_epochs += 1
        if self.in_cooldown:
            self.cooldown_counter -= 1
            self.num_bad_epochs = 0
        if self.num_bad_epochs > self.patience:
            self._reduce_lr()
            self.cooldown_counter, self.num_bad_epochs = self.cooldown, 0
        self._last_lr = self._current()

    def _is_better(self, value: float) -> bool:
        """Whether a metric improves on the best one by more than the threshold, an amount or a fraction of the best one."""
        margin = -self.threshold if self.mode == "min" else self.threshold
        bound = self.best * (1 + margin) if self.threshold_mode == "rel" else self.best + margin
        return value < bound if self.mode == "min" else value > bound

    def _reduce_lr(self) -> None:
        groups = self.optimizer.param_groups
        if len(groups) != len(self.min_lrs):
            if self.default_min_lr is None:
                counts = f"({len(groups)}) differs from the number of `min_lrs` ({len(self.min_lrs)})"
                raise RuntimeError(f"The number of param groups in the `optimizer` {counts}")
            self.min_lrs = [self.default_min_lr] * len(groups)
        for group, min_lr in zip(groups, self.min_lrs):
            lr = max(group["lr"] * self.factor, min_lr)
            if group["lr"] - lr > self.eps:
                _set_lr(group, lr)
