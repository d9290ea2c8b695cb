"""Learning rate schedulers: they change the learning rates of an optimizer during training.

Most rules are *chainable*: they compute the next learning rate from the current one, not from the number of steps. So several
schedulers can act on one optimizer, and each multiplies the current learning rate. The closed form computes it from the first
learning rate and the number of steps. In PyTorch: `torch/optim/lr_scheduler.py`.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import partial, wraps
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
            warn("To get the last learning rate computed by the scheduler, please use `get_last_lr()`.")
        return self._lrs()

    def _lrs(self) -> list[float]:
        raise NotImplementedError

    def get_last_lr(self) -> list[float]:
        """The learning rates that this scheduler set last."""
        return self._last_lr

    def step(self, epoch: int | None = None) -> None:
        """Advance by one step, or (deprecated) to `epoch`, using the closed form if there is one."""
        if self._step_count == 1:
            see = "See more details at https://pytorch.org/docs/stable/optim.html#how-to-adjust-learning-rate"
            if not hasattr(self.optimizer.step, "_wrapped_by_lr_sched"):
                warn(
                    "Seems like `optimizer.step()` has been overridden after learning rate scheduler initialization. Please, "
                    f"make sure to call `optimizer.step()` before `lr_scheduler.step()`. {see}"
                )
            elif not getattr(self.optimizer, "_opt_called", False):
                warn(
                    "Detected call of `lr_scheduler.step()` before `optimizer.step()`. In PyTorch 1.1.0 and later, you should "
                    "call them in the opposite order: `optimizer.step()` before `lr_scheduler.step()`.  Failure to do this will "
                    f"result in PyTorch skipping the first value of the learning rate schedule. {see}"
                )
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


def _format_param(name: str, optimizer: Optimizer, value: Any, text: str = "") -> list:
    """A list with `value` for every group, or `value` itself if it already has one entry for each group. `text` is that of the
    error otherwise, with the number of groups and that of entries."""
    groups = len(optimizer.param_groups)
    if not isinstance(value, (list, tuple)):
        return [_copy(value) for _ in range(groups)]
    if len(value) != groups:
        text = text or (
            f"{name} must have the same length as optimizer.param_groups. {name} has {{1}} values, param_groups has {{0}}."
        )
        raise ValueError(text.format(groups, len(value)))
    return [_copy(each) for each in value]


def _attributes(function: Callable | None) -> dict[str, Any] | None:
    """What a state dict has of a function: the attributes of an object that can be called."""
    return None if function is None or isinstance(function, FunctionType) else function.__dict__.copy()


class LambdaLR(LRScheduler):
    """The first learning rate times a function of the number of steps, or one such function for each group."""

    def __init__(self, optimizer: Optimizer, lr_lambda: Callable | Sequence[Callable], last_epoch: int = -1) -> None:
        self.lr_lambdas = _format_param("", optimizer, lr_lambda, "Expected {0} lr_lambdas, but got {1}")
        super().__init__(optimizer, last_epoch)

    def _lrs(self) -> list[float]:
        return [base_lr * factor(self.last_epoch) for factor, base_lr in zip(self.lr_lambdas, self.base_lrs)]

    def state_dict(self) -> dict[str, Any]:
        """A function cannot be saved: of the lambdas, only the attributes of callable objects are saved."""
        return {**super().state_dict(), "lr_lambdas": [_attributes(function) for function in self.lr_lambdas]}

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


class PolynomialLR(_FactorLR):
    """From the first learning rate to 0 in `total_iters` steps, along a polynomial."""

    def __init__(self, optimizer: Optimizer, total_iters: int = 5, power: float = 1.0, last_epoch: int = -1) -> None:
        self.total_iters, self.power = total_iters, power
        super().__init__(optimizer, last_epoch)

    def _factor(self) -> float:
        if self._is_initial or self.last_epoch > self.total_iters:
            return 1
        left = 1.0 - self.last_epoch / self.total_iters
        return (left / (1.0 - (self.last_epoch - 1) / self.total_iters)) ** self.power

    def _product(self) -> float:
        return (1.0 - min(self.total_iters, self.last_epoch) / self.total_iters) ** self.power


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


class CosineAnnealingWarmRestarts(LRScheduler):
    """From the first learning rate to `eta_min` in `T_0` steps, along half a cosine, and again from the first learning rate.
    Each time takes `T_mult` times as many steps."""

    def __init__(
        self, optimizer: Optimizer, T_0: int, T_mult: int = 1, eta_min: float = 0.0, last_epoch: int = -1
    ) -> None:
        if not isinstance(T_0, int) or T_0 <= 0:
            raise ValueError(f"Expected positive integer T_0, but got {T_0}")
        if not isinstance(T_mult, int) or T_mult < 1:
            raise ValueError(f"Expected integer T_mult >= 1, but got {T_mult}")
        if not isinstance(eta_min, (float, int)):
            raise ValueError(f"Expected float or int eta_min, but got {eta_min} of type {type(eta_min)}")
        self.T_0 = self.T_i = T_0
        self.T_mult, self.eta_min, self.T_cur = T_mult, eta_min, last_epoch
        super().__init__(optimizer, last_epoch)

    def _lrs(self) -> list[float]:
        height = 1 + math.cos(math.pi * self.T_cur / self.T_i)
        return [self.eta_min + (base_lr - self.eta_min) * height / 2 for base_lr in self.base_lrs]

    def step(self, epoch: float | None = None) -> None:
        """Advance by one step, or to `epoch`, which may be a fraction."""
        if epoch is None and self.last_epoch >= 0:
            epoch = self.last_epoch + 1
            self.T_cur += 1
            if self.T_cur >= self.T_i:
                self.T_cur, self.T_i = self.T_cur % self.T_i, self.T_i * self.T_mult
        else:
            epoch = 0 if epoch is None else epoch
            if epoch < 0:
                raise ValueError(f"Expected non-negative epoch, but got {epoch}")
            if epoch < self.T_0:
                self.T_i, self.T_cur = self.T_0, epoch
            elif self.T_mult == 1:
                self.T_cur = epoch % self.T_0
            else:
                restarts = int(math.log(epoch / self.T_0 * (self.T_mult - 1) + 1, self.T_mult))
                self.T_cur = epoch - self.T_0 * (self.T_mult**restarts - 1) / (self.T_mult - 1)
                self.T_i = self.T_0 * self.T_mult**restarts
        self._update_lr(math.floor(epoch))


class _OfSchedulers(LRScheduler):
    """A scheduler that consists of others."""

    _schedulers: Sequence[LRScheduler]

    def _take(self, schedulers: Sequence[LRScheduler], optimizer: Optimizer) -> None:
        name = type(self).__name__
        for i, scheduler in enumerate(schedulers):
            if not hasattr(scheduler, "optimizer"):
                raise TypeError(f"{name} at index {i} should have `optimizer` as its attribute.")
            if isinstance(scheduler, ReduceLROnPlateau):
                raise ValueError(
                    f"{name} does not support `ReduceLROnPlateau` scheduler as it requires additional kwargs to be specified "
                    f"when calling `step`, but got one at index {i} in the given schedulers sequence."
                )
            if scheduler.optimizer is not optimizer:
                raise ValueError(
                    f"{name} expects all schedulers to belong to the same optimizer, but got scheduler "
                    f"{type(scheduler).__name__} at index {i} has {scheduler.optimizer}, which is different from "
                    f"{type(optimizer).__name__}."
                )
        self._schedulers, self.optimizer = schedulers, optimizer

    def state_dict(self) -> dict[str, Any]:
        return {**super().state_dict(), "_schedulers": [scheduler.state_dict() for scheduler in self._schedulers]}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        self.__dict__.update({key: value for key, value in state_dict.items() if key != "_schedulers"})
        for ours, saved in zip(self._schedulers, state_dict["_schedulers"]):
            ours.load_state_dict(saved)


class ChainedScheduler(_OfSchedulers):
    """Several chainable schedulers, all of which act at each step."""

    def __init__(self, schedulers: Sequence[LRScheduler], optimizer: Optimizer | None = None) -> None:
        if not schedulers:
            raise ValueError("ChainedScheduler expects at least one scheduler to be chained, but got no scheduler.")
        self._take(schedulers, optimizer or schedulers[0].optimizer)
        self._last_lr = self._current()

    def step(self) -> None:
        for scheduler in self._schedulers:
            scheduler.step()
        self._last_lr = self._current()


class SequentialLR(_OfSchedulers):
    """Schedulers in sequence: at each milestone, a number of steps, the next scheduler starts from its step 0."""

    def __init__(
        self, optimizer: Optimizer, schedulers: list[LRScheduler], milestones: list[int], last_epoch: int = -1
    ) -> None:
        if not schedulers:
            raise ValueError("SequentialLR expects at least one scheduler, but got no scheduler.")
        self._take(schedulers, optimizer)
        if len(milestones) != len(schedulers) - 1:
            raise ValueError(
                "Sequential Schedulers expects number of schedulers provided to be one more than the number of milestone "
                f"points, but got number of schedulers {len(schedulers)} and the number of milestones to be equal to "
                f"{len(milestones)}"
            )
        self._milestones, self.last_epoch = milestones, last_epoch + 1
        # Each scheduler took its first step when it was constructed. Undo all of them, and let only the active one repeat it.
        for group in optimizer.param_groups:
            _set_lr(group, group["initial_lr"])
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


class _MomentumLR(LRScheduler):
    """A scheduler that, with `cycle_momentum`, also sets the momentum, or the first beta, of each group."""

    def _start_momentum(self, base: float | Sequence[float], high: float | Sequence[float], last_epoch: int) -> tuple:
        """Set the momentum of each group to its highest value. Return the lowest and the highest values of all groups."""
        optimizer = self.optimizer
        self.use_beta1 = "betas" in optimizer.defaults
        if not self.use_beta1 and "momentum" not in optimizer.defaults:
            raise ValueError("optimizer must support momentum or beta1 with `cycle_momentum` option enabled")
        highs, bases = _format_param("max_momentum", optimizer, high), _format_param("base_momentum", optimizer, base)
        if last_epoch == -1:
            for group, low, high in zip(optimizer.param_groups, bases, highs):
                self._set_momentum(group, high)
                group.update(max_momentum=high, base_momentum=low)
        return bases, highs

    def _set_momentum(self, group: dict[str, Any], momentum: float) -> None:
        if self.use_beta1:
            group["betas"] = (momentum, *group["betas"][1:])
        else:
            group["momentum"] = momentum


def _triangular(x: float) -> float:
    return 1.0


def _triangular2(x: float) -> float:
    return 1 / (2.0 ** (x - 1))


class CyclicLR(_MomentumLR):
    """Linearly from `base_lr` to `max_lr` in `step_size_up` steps and back in `step_size_down` steps, again and again. The height
    of a cycle is multiplied by `scale_fn` of its number (from 1), or of the number of steps if `scale_mode` is "iterations". By
    `mode`, the factor is 1 ("triangular"), half of the previous one ("triangular2"), or `gamma` to the steps ("exp_range")."""

    def __init__(
        self, optimizer: Optimizer, base_lr: float | Sequence[float], max_lr: float | Sequence[float],
        step_size_up: int = 2000, step_size_down: int | None = None, mode: str = "triangular", gamma: float = 1.0,
        scale_fn: Callable[[float], float] | None = None, scale_mode: str = "cycle", cycle_momentum: bool = True,
        base_momentum: float = 0.8, max_momentum: float = 0.9, last_epoch: int = -1,
    ) -> None:  # fmt: skip
        _check_optimizer(optimizer)
        self.optimizer, base_lrs = optimizer, _format_param("base_lr", optimizer, base_lr)
        for group, lr in zip(optimizer.param_groups, base_lrs if last_epoch == -1 else ()):
            _set_lr(group, lr)
        self.max_lrs = _format_param("max_lr", optimizer, max_lr)
        self.total_size = float(step_size_up) + float(step_size_up if step_size_down is None else step_size_down)
        self.step_ratio = float(step_size_up) / self.total_size
        if mode not in ("triangular", "triangular2", "exp_range") and scale_fn is None:
            raise ValueError("mode is invalid and scale_fn is None")
        self.mode, self.gamma, self._scale_fn_custom, self.scale_mode = mode, gamma, scale_fn, scale_mode
        self._init_scale_fn()
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            momenta = self._start_momentum(base_momentum, max_momentum, last_epoch)
            self.base_momentums, self.max_momentums = momenta
        super().__init__(optimizer, last_epoch)
        self.base_lrs = base_lrs

    def _init_scale_fn(self) -> None:
        if self._scale_fn_custom is None:
            functions = {"triangular": _triangular, "triangular2": _triangular2, "exp_range": partial(pow, self.gamma)}
            self._scale_fn_ref = functions[self.mode]
            self.scale_mode = "iterations" if self.mode == "exp_range" else "cycle"

    def scale_fn(self, x: float) -> float:
        """The factor of the height of a cycle."""
        return (self._scale_fn_custom or self._scale_fn_ref)(x)

    def _lrs(self) -> list[float]:
        cycle = math.floor(1 + self.last_epoch / self.total_size)
        x = 1.0 + self.last_epoch / self.total_size - cycle
        height = x / self.step_ratio if x <= self.step_ratio else (x - 1) / (self.step_ratio - 1)
        scale = self.scale_fn(cycle if self.scale_mode == "cycle" else self.last_epoch)
        if self.cycle_momentum:
            for group, low, high in zip(self.optimizer.param_groups, self.base_momentums, self.max_momentums):
                self._set_momentum(group, high - (high - low) * height * scale)
        return [low + (high - low) * height * scale for low, high in zip(self.base_lrs, self.max_lrs)]

    def state_dict(self) -> dict[str, Any]:
        """All attributes except the optimizer and functions: of `scale_fn`, only the attributes of an object are saved."""
        state = {**super().state_dict(), "_scale_fn_custom": _attributes(self._scale_fn_custom)}
        state.pop("_scale_fn_ref", None)
        return state

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        super().load_state_dict({key: value for key, value in state_dict.items() if key != "_scale_fn_custom"})
        if state_dict["_scale_fn_custom"] is not None:
            self._scale_fn_custom.__dict__.update(state_dict["_scale_fn_custom"])
        self._init_scale_fn()


class OneCycleLR(_MomentumLR):
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
        self.optimizer, self._anneal_func_type, self.cycle_momentum = optimizer, anneal_strategy, cycle_momentum
        self._schedule_phases = _one_cycle_phases(self.total_steps, pct_start, three_phase)
        peaks = _format_param("max_lr", optimizer, max_lr)
        for group, peak in zip(optimizer.param_groups, peaks if last_epoch == -1 else ()):
            group.update(initial_lr=peak / div_factor, max_lr=peak)
            group["min_lr"] = group["initial_lr"] / final_div_factor
        if cycle_momentum:
            self._start_momentum(base_momentum, max_momentum, last_epoch)
        super().__init__(optimizer, last_epoch)

    @staticmethod
    def _annealing_cos(start: float, end: float, pct: float) -> float:
        return end + (start - end) / 2.0 * (math.cos(math.pi * pct) + 1)

    @staticmethod
    def _annealing_linear(start: float, end: float, pct: float) -> float:
        return (end - start) * pct + start

    def _anneal_func(self, start: float, end: float, pct: float) -> float:
        kind = getattr(self, "_anneal_func_type", None)  # a state of an older version has the function itself
        return (getattr(self, f"_annealing_{kind}") if kind else self.anneal_func)(start, end, pct)

    def _lrs(self) -> list[float]:
        if self.last_epoch > self.total_steps:
            problem = f"Tried to step {self.last_epoch} times."
            raise ValueError(f"{problem} The specified number of total steps is {self.total_steps}")
        phases = self._schedule_phases
        last = len(phases) - 1
        number = next((i for i, phase in enumerate(phases) if self.last_epoch <= phase["end_step"]), last)
        start_step, end_step = phases[number - 1]["end_step"] if number else 0.0, phases[number]["end_step"]
        fraction = (self.last_epoch - start_step) / (end_step - start_step)

        def value_of(group: dict[str, Any], name: str) -> float:
            start, end = (group[phases[number][f"{moment}_{name}"]] for moment in ("start", "end"))
            return self._anneal_func(start, end, fraction)

        learning_rates = []
        for group in self.optimizer.param_groups:
            learning_rates.append(value_of(group, "lr"))
            if self.cycle_momentum:
                self._set_momentum(group, value_of(group, "momentum"))
        return learning_rates


def _count_total_steps(total_steps: int | None, epochs: int | None, steps_per_epoch: int | None) -> int:
    if total_steps is None and (epochs is None or steps_per_epoch is None):
        raise ValueError("You must define either total_steps OR (epochs AND steps_per_epoch)")
    for name, count in dict(total_steps=total_steps, epochs=epochs, steps_per_epoch=steps_per_epoch).items():
        if count is not None and (count <= 0 or not isinstance(count, int)):
            raise ValueError(f"Expected positive integer {name}, but got {count}")
    return total_steps or epochs * steps_per_epoch


def _one_cycle_phases(total_steps: int, pct_start: float, three_phase: bool) -> list[dict[str, Any]]:
    """For each phase, its last step, and the group's settings at its start and end: learning rate, then momentum."""
    up, last = pct_start * total_steps - 1, total_steps - 1
    phases = [(up, "initial_lr", "max_lr", "max_momentum", "base_momentum")]
    if three_phase:
        phases.append((2 * pct_start * total_steps - 2, "max_lr", "initial_lr", "base_momentum", "max_momentum"))
        phases.append((last, "initial_lr", "min_lr", "max_momentum", "max_momentum"))
    else:
        phases.append((last, "max_lr", "min_lr", "base_momentum", "max_momentum"))
    names = ("end_step", "start_lr", "end_lr", "start_momentum", "end_momentum")
    return [dict(zip(names, phase)) for phase in phases]


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
        self.min_lrs = _format_param("", optimizer, min_lr, "expected {0} min_lrs, got {1}")
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
