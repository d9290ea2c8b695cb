"""`Fuzzer`: shapes of tensors drawn at random, so that a comparison does not only hold for one shape.

In PyTorch: `torch/utils/benchmark/utils/fuzzer.py`. Left out: constraints, and the order of dimensions in memory.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Sequence
from typing import Any

from rushlight.aten.generated import functions
from rushlight.aten.strided import Tensor

__all__ = ["FuzzedParameter", "FuzzedTensor", "Fuzzer"]


class FuzzedParameter:
    """An int between two bounds. With "loguniform", 1 to 10 is as likely as 10 to 100.
    Source: `torch/utils/benchmark/utils/fuzzer.py`, `FuzzedParameter`."""

    def __init__(self, name: str, minval: int, maxval: int, distribution: str = "uniform") -> None:
        self.name, self.minval, self.maxval, self.distribution = name, minval, maxval, distribution

    def sample(self, state: random.Random) -> int:
        if self.distribution == "loguniform":
            return int(round(math.exp(state.uniform(math.log(self.minval), math.log(self.maxval)))))
        return state.randint(self.minval, self.maxval)


class FuzzedTensor:
    """A tensor whose sizes are names of parameters, or numbers.
    Source: `torch/utils/benchmark/utils/fuzzer.py`, `FuzzedTensor`."""

    def __init__(
        self, name: str, size: Sequence[int | str], max_elements: int | None = None, dtype: Any = None
    ) -> None:
        self.name, self.size, self.max_elements, self.dtype = name, size, max_elements, dtype

    def sizes(self, parameters: dict[str, int]) -> tuple[int, ...]:
        return tuple(parameters.get(size, size) for size in self.size)

    def sample(self, parameters: dict[str, int]) -> Tensor:
        return functions.randn(self.sizes(parameters), dtype=self.dtype)


class Fuzzer:
    """Source: `torch/utils/benchmark/utils/fuzzer.py`, `Fuzzer`."""

    def __init__(
        self, parameters: Sequence[FuzzedParameter], tensors: Sequence[FuzzedTensor], seed: int | None = None
    ) -> None:
        self._parameters, self._tensors, self._state = parameters, tensors, random.Random(seed)

    def take(self, n: int) -> Iterator[tuple[dict[str, Tensor], dict[str, dict], dict[str, int]]]:
        """n times: the tensors by name, what is known about each, and the parameters."""
        while n:
            parameters = {parameter.name: parameter.sample(self._state) for parameter in self._parameters}
            sizes = {tensor.name: tensor.sizes(parameters) for tensor in self._tensors}
            if any(
                tensor.max_elements and math.prod(sizes[tensor.name]) > tensor.max_elements for tensor in self._tensors
            ):
                continue
            tensors = {tensor.name: tensor.sample(parameters) for tensor in self._tensors}
            facts = {name: {"numel": tensor.numel(), "shape": sizes[name]} for name, tensor in tensors.items()}
            yield tensors, facts, parameters
            n -= 1
