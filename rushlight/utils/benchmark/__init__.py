"""Timings that can be compared. In PyTorch: `torch/utils/benchmark/`."""

from rushlight.utils.benchmark.utils.common import Measurement, TaskSpec
from rushlight.utils.benchmark.utils.compare import Compare
from rushlight.utils.benchmark.utils.fuzzer import FuzzedParameter, FuzzedTensor, Fuzzer
from rushlight.utils.benchmark.utils.timer import Timer

__all__ = ["Compare", "FuzzedParameter", "FuzzedTensor", "Fuzzer", "Measurement", "TaskSpec", "Timer"]
