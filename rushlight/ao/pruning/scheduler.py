"""The level of sparsity, step by step. In PyTorch: `torch/ao/pruning/scheduler/`. Left out: printing, state dicts."""

from __future__ import annotations

from typing import Any

from rushlight.ao.pruning.sparsifier import BaseSparsifier

Level = float


def cubic_sparsity(s_0: float, s_f: float, t: int, t_0: int, dt: int, n: int, initially_zero: bool = False) -> float:
    """The level of sparsity at step `t`. It begins at `s_0` at step `t_0` and reaches `s_f` after n · dt steps.

    The distance to `s_f` is its distance at `t_0` times the third power of the share of these steps that remains, and changes at
    each step. So most weights are pruned early, when a network still has many weights that it does not need. Before and after these
    steps the formula goes beyond the levels. So limit its result: from above by `s_f`, and then from below by `s_0`. (If `s_0` is
    above `s_f`, the result is always `s_0`.) Before `t_0`, the level is the integer 0 if `initially_zero`.

    Args:
        s_0, s_f: levels, 0 ... 1. Either may be the larger one.
        t, t_0: steps; t may be before t_0 and after the end.
        dt, n: at least 1.

    >>> [cubic_sparsity(0.0, 0.8, t, 10, 5, 4) for t in (0, 10, 20, 30, 99)]
    [0.0, 0.0, 0.7000000000000001, 0.8, 0.8]

    Source: `torch/ao/pruning/scheduler/cubic_scheduler.py`, `CubicSL.sparsity_compute_fn`.
    """
    if initially_zero and t < t_0:
        return 0
    level = s_f + (s_0 - s_f) * (1.0 - (t - t_0) / (dt * n)) ** 3
    return max(s_0, min(s_f, level))


class BaseScheduler:
    """It sets `sparsity_level` in each group of a sparsifier. A subclass has `get_sl`, which returns a level for each group.

    The first step runs at once. Source: `torch/ao/pruning/scheduler/base_scheduler.py`, `BaseScheduler`."""

    def __init__(self, sparsifier: BaseSparsifier, last_epoch: int = -1) -> None:
        if not isinstance(sparsifier, BaseSparsifier):
            raise TypeError(f"{type(sparsifier).__name__} is not an instance of torch.ao.pruning.BaseSparsifier")
        self.sparsifier, self.last_epoch = sparsifier, last_epoch
        self.base_sl = [group["sparsity_level"] for group in sparsifier.groups]
        self.step()

    def get_sl(self) -> list[Level]:
        raise NotImplementedError

    def step(self) -> None:
        self.last_epoch += 1
        for group, level in zip(self.sparsifier.groups, self.get_sl()):
            group["sparsity_level"] = level
        self._last_sl = [group["sparsity_level"] for group in self.sparsifier.groups]
        self.sparsifier.enable_mask_update = True

    def get_last_sl(self) -> list[Level]:
        return self._last_sl

    def _for_each_group(self, value: Any) -> list[Any]:
        count = len(self.sparsifier.groups)
        if not isinstance(value, (list, tuple)):
            return [value] * count
        if len(value) != count:
            raise ValueError(f"Expected variable of length {count}, but got {len(value)}")
        return list(value)


class CubicSL(BaseScheduler):
    """Each group's level by `cubic_sparsity`. Source: `torch/ao/pruning/scheduler/cubic_scheduler.py`, `CubicSL`."""

    def __init__(
        self,
        sparsifier: BaseSparsifier,
        init_sl: Any = 0.0,
        init_t: Any = 0,
        delta_t: Any = 10,
        total_t: Any = 100,
        initially_zero: Any = False,
        last_epoch: int = -1,
    ) -> None:
        self.sparsifier = sparsifier
        self.init_sl, self.init_t, self.delta_t, self.total_t, self.initially_zero = (
            self._for_each_group(values) for values in (init_sl, init_t, delta_t, total_t, initially_zero)
        )
        super().__init__(sparsifier, last_epoch)

    def get_sl(self) -> list[Level]:
        rows = zip(self.init_sl, self.base_sl, self.init_t, self.delta_t, self.total_t, self.initially_zero)
        return [cubic_sparsity(s_0, s_f, self.last_epoch, t_0, dt, n, zero) for s_0, s_f, t_0, dt, n, zero in rows]
