"""`Timer`: how often to run a statement so that the clock does not matter.

In PyTorch: `torch/utils/benchmark/utils/timer.py`. Left out: C++, threads, and counts of instructions.
"""

import time
import timeit
from collections.abc import Callable
from statistics import median

from rushlight.utils.benchmark.utils.common import Measurement, TaskSpec

__all__ = ["Timer"]

LARGEST_BLOCK = (1 << 31) - 1


class Timer:
    """Measure a statement. Source: `torch/utils/benchmark/utils/timer.py`, `Timer`."""

    def __init__(
        self,
        stmt: str = "pass",
        setup: str = "pass",
        timer: Callable[[], float] = time.perf_counter,
        globals: dict | None = None,  # noqa: A002
        label: str | None = None,
        sub_label: str | None = None,
        description: str | None = None,
        env: str | None = None,
        num_threads: int = 1,
    ) -> None:
        self._timer = timeit.Timer(stmt, setup, timer, globals)
        self._task_spec = TaskSpec(stmt, setup, label, sub_label, description, env, num_threads)

    def _timeit(self, number: int) -> float:
        return max(self._timer.timeit(number), 1e-9)

    def timeit(self, number: int = 1_000_000) -> Measurement:
        """One measurement, after a short warm-up."""
        self._timeit(max(number // 100, 2))
        return Measurement(number, [self._timeit(number)], self._task_spec)

    def _estimate_block_size(self, min_run_time: float) -> int:
        """How many runs to measure as one: as many as make the clock's own time negligible."""
        overhead, number = median(self._timeit(0) for _ in range(5)), 1
        while number * 10 <= LARGEST_BLOCK:
            taken = self._timeit(number)
            if overhead / taken <= 1e-4 and taken >= min_run_time / 1000 or taken > min_run_time:
                break
            number *= 10
        return number

    def blocked_autorange(self, callback: Callable | None = None, min_run_time: float = 0.2) -> Measurement:
        """Measure blocks of runs until they have taken `min_run_time` seconds."""
        number, times = self._estimate_block_size(min_run_time), []
        while sum(times) < min_run_time:
            times.append(self._timeit(number))
            if callback:
                callback(number, times[-1])
        return Measurement(number, times, self._task_spec)
