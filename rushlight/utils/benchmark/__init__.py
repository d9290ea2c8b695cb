"""Timings that can be compared. In PyTorch: `torch/utils/benchmark/`. Left out: `Fuzzer`."""

from rushlight.utils.benchmark.utils.common import Measurement, TaskSpec
from rushlight.utils.benchmark.utils.compare import Compare
from rushlight.utils.benchmark.utils.timer import Timer

__all__ = ["Compare", "Measurement", "TaskSpec", "Timer"]
