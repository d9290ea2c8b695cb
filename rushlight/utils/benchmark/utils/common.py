"""A measurement: many times of one statement, their median, and how far it can be trusted.

The median and the quartiles do not see a few very slow runs, which another process on the machine has caused. The mean does.

In PyTorch: `torch/utils/benchmark/utils/common.py`.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import fmean, median, pstdev

import numpy as np

__all__ = ["Measurement", "TaskSpec", "quantile", "select_unit", "significant_figures", "trim_sigfig"]

MAX_SIGNIFICANT_FIGURES = 4
MIN_CONFIDENCE_INTERVAL = 25e-9  # seconds: no clock is better
IQR_WARN_THRESHOLD, IQR_GROSS_WARN_THRESHOLD = 0.1, 0.25


@dataclass(frozen=True)
class TaskSpec:
    """The measured statement and its labels. Source: `torch/utils/benchmark/utils/common.py`, `TaskSpec`."""

    stmt: str
    setup: str = "pass"
    label: str | None = None
    sub_label: str | None = None
    description: str | None = None
    env: str | None = None
    num_threads: int = 1

    @property
    def title(self) -> str:
        if self.label is not None:
            return self.label + (f": {self.sub_label}" if self.sub_label else "")
        return self.stmt if "\n" not in self.stmt else f"stmt:\n{self.stmt}"


def quantile(times: Sequence[float], q: float) -> float:
    """With linear interpolation between the two nearest."""
    return float(np.quantile(times, q))


def significant_figures(times: Sequence[float]) -> int:
    """How many digits of a median of times mean something.

    Only the middle half of the times counts: of n sorted times those from position ⌊n/4⌋ up to, but not including,
    ⌈3n/4⌉. Their median would vary by about 1.645 · std / √(how many they are), where std is their standard deviation (the
    root of the mean square, not divided by one less). This *interval* is never less than `MIN_CONFIDENCE_INTERVAL`, 25 ns.
    A median that is 100 times its interval has two digits, one that is 1000 times has three: ⌊log10(median / interval)⌋. There is
    always at least one digit, and never more than `MAX_SIGNIFICANT_FIGURES`, 4.

    Args:
        times: a list of floats in seconds, all positive, at least one, in any order. It is not changed.

    Returns:
        an int.

    >>> significant_figures([1.00, 1.02, 1.01, 1.01, 9.00])
    2

    Source: `torch/utils/benchmark/utils/common.py`, `Measurement.significant_figures`.
    """
    middle = sorted(times)[len(times) // 4 : math.ceil(3 * len(times) / 4)]
    interval = max(1.645 * pstdev(middle) / math.sqrt(len(middle)), MIN_CONFIDENCE_INTERVAL)
    return min(max(math.floor(math.log10(median(times) / interval)), 1), MAX_SIGNIFICANT_FIGURES)


@dataclass
class Measurement:
    """The times of a statement. Source: `torch/utils/benchmark/utils/common.py`, `Measurement`."""

    number_per_run: int
    raw_times: list[float]
    task_spec: TaskSpec
    metadata: dict | None = None

    @property
    def times(self) -> list[float]:
        return [time / self.number_per_run for time in self.raw_times]

    @cached_property
    def _sorted(self) -> list[float]:
        return sorted(self.times)

    @property
    def median(self) -> float:
        return quantile(self._sorted, 0.5)

    @property
    def mean(self) -> float:
        return fmean(self._sorted)

    @property
    def iqr(self) -> float:
        return quantile(self._sorted, 0.75) - quantile(self._sorted, 0.25)

    @property
    def significant_figures(self) -> int:
        return significant_figures(self.times)

    @property
    def has_warnings(self) -> bool:
        return not self.iqr / self.median < IQR_WARN_THRESHOLD

    @staticmethod
    def merge(measurements: Iterable[Measurement]) -> list[Measurement]:
        """One measurement for each task, with all of its times."""
        times = defaultdict(list)
        for measurement in measurements:
            times[measurement.task_spec] += measurement.times
        return [Measurement(1, seconds, task) for task, seconds in times.items()]

    def __repr__(self) -> str:
        unit, scale = select_unit(self.median)
        n, runs = len(self.raw_times), self.number_per_run
        lines = [
            f"<{type(self).__module__}.Measurement>",
            self.task_spec.title,
            f"  Median: {self.median / scale:.2f} {unit}",
        ]
        if n >= 4:
            low, high = quantile(self._sorted, 0.25), quantile(self._sorted, 0.75)
            lines.append(f"  IQR:    {self.iqr / scale:.2f} {unit} ({low / scale:.2f} to {high / scale:.2f})")
        lines.append(f"  {n} measurements, {runs} runs per measurement, {self.task_spec.num_threads} thread")
        if self.has_warnings:
            lines.append(f"  WARNING: Interquartile range is {self.iqr / self.median:.1%} of the median measurement.")
        return "\n".join(lines)


def select_unit(time: float) -> tuple[str, float]:
    """A unit in which a time is between 1 and 1000, and the unit in seconds."""
    for unit, scale in ("s", 1.0), ("ms", 1e-3), ("us", 1e-6):
        if time >= scale:
            return unit, scale
    return "ns", 1e-9


def trim_sigfig(x: float, n: int) -> float:
    """x rounded to n significant figures."""
    scale = 10 ** (math.ceil(math.log10(abs(x))) - n)
    return round(x / scale) * scale
