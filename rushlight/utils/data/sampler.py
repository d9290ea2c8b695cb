"""Samplers: the order of the samples of a dataset, and lists of indices for batches.

A sampler draws random numbers from its own generator if it has one. In PyTorch: `torch/utils/data/sampler.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Sized
from itertools import islice
from typing import Any, Generic, TypeVar

from rushlight.aten.generated import functions
from rushlight.aten.native import creation
from rushlight.aten.native.random import Generator
from rushlight.c10.dtypes import float64, int64

__all__ = [
    "BatchSampler", "RandomSampler", "Sampler", "SequentialSampler", "SubsetRandomSampler", "WeightedRandomSampler", "batches",
]  # fmt: skip

T = TypeVar("T", covariant=True)


class Sampler(Generic[T]):
    """Indices in some order: a subclass defines `__iter__`, and usually `__len__`."""

    def __iter__(self) -> Iterator[T]:
        raise NotImplementedError


class SequentialSampler(Sampler[int]):
    """All indices of a dataset, in their order."""

    def __init__(self, data_source: Sized) -> None:
        self.data_source = data_source

    def __iter__(self) -> Iterator[int]:
        return iter(range(len(self.data_source)))

    def __len__(self) -> int:
        return len(self.data_source)


class RandomSampler(Sampler[int]):
    """`num_samples` random indices: with `replacement`, each is independent; without, none repeats until all were drawn."""

    def __init__(
        self, data_source: Sized, replacement: bool = False, num_samples: int | None = None,
        generator: Generator | None = None,
    ) -> None:  # fmt: skip
        self.data_source, self.replacement, self.generator = data_source, replacement, generator
        self._num_samples = num_samples
        if not isinstance(replacement, bool):
            raise TypeError(f"replacement should be a boolean value, but got replacement={replacement}")
        _check_positive("num_samples", self.num_samples)

    @property
    def num_samples(self) -> int:
        return len(self.data_source) if self._num_samples is None else self._num_samples

    def __iter__(self) -> Iterator[int]:
        length = len(self.data_source)
        # One draw from the default generator seeds the epoch, so other draws from it do not change the order.
        generator = self.generator or Generator().manual_seed(draw_seed(None))
        if self.replacement:
            for count in [32] * (self.num_samples // 32) + [self.num_samples % 32]:
                yield from functions.randint(length, (count,), generator=generator).tolist()
            return
        for _ in range(self.num_samples // length):
            yield from functions.randperm(length, generator=generator).tolist()
        yield from functions.randperm(length, generator=generator).tolist()[: self.num_samples % length]  # also if none

    def __len__(self) -> int:
        return self.num_samples


class SubsetRandomSampler(Sampler[int]):
    """The given indices, in a random order."""

    def __init__(self, indices: Sequence[int], generator: Generator | None = None) -> None:
        self.indices, self.generator = indices, generator

    def __iter__(self) -> Iterator[int]:
        for i in functions.randperm(len(self.indices), generator=self.generator).tolist():
            yield self.indices[i]

    def __len__(self) -> int:
        return len(self.indices)


class WeightedRandomSampler(Sampler[int]):
    """`num_samples` random indices, each with a probability proportional to its weight."""

    def __init__(
        self, weights: Sequence[float], num_samples: int, replacement: bool = True, generator: Generator | None = None
    ) -> None:
        _check_positive("num_samples", num_samples, refuse_bool=True)
        if not isinstance(replacement, bool):
            raise ValueError(f"replacement should be a boolean value, but got replacement={replacement}")
        self.weights = creation.as_tensor(weights, dtype=float64)
        if self.weights.dim() != 1:
            raise ValueError(f"weights should be a 1d sequence but have shape {tuple(self.weights.shape)}")
        self.num_samples, self.replacement, self.generator = num_samples, replacement, generator

    def __iter__(self) -> Iterator[int]:
        drawn = functions.multinomial(self.weights, self.num_samples, self.replacement, generator=self.generator)
        yield from drawn.tolist()

    def __len__(self) -> int:
        return self.num_samples


def batches(sampler: Iterable[T], batch_size: int, drop_last: bool) -> Iterator[list[T]]:
    """Group the indices of `sampler` into lists of `batch_size`, in order. An index is any value, also None. If indices are
    left at the end and not `drop_last`, they form a shorter list.

    A generator: each request for a list takes exactly `batch_size` indices from the sampler, and none are taken earlier, so the
    sampler may be endless.

    Args:
        sampler: any iterable, also an iterator, which can be read only once. An error that it raises is not caught.

    >>> list(batches("abcde", 2, drop_last=False))
    [['a', 'b'], ['c', 'd'], ['e']]

    Source: `torch/utils/data/sampler.py`, `BatchSampler.__iter__`.
    """
    indices = iter(sampler)
    while batch := list(islice(indices, batch_size)):
        if len(batch) == batch_size or not drop_last:
            yield batch


class BatchSampler(Sampler[list[int]]):
    """Group the indices of another sampler into batches. Source: `torch/utils/data/sampler.py`, `BatchSampler`."""

    def __init__(self, sampler: Iterable[int], batch_size: int, drop_last: bool) -> None:
        _check_positive("batch_size", batch_size, refuse_bool=True)
        if not isinstance(drop_last, bool):
            raise ValueError(f"drop_last should be a boolean value, but got drop_last={drop_last}")
        self.sampler, self.batch_size, self.drop_last = sampler, batch_size, drop_last

    def __iter__(self) -> Iterator[list[int]]:
        return batches(self.sampler, self.batch_size, self.drop_last)

    def __len__(self) -> int:
        length = len(self.sampler) if self.drop_last else len(self.sampler) + self.batch_size - 1
        return length // self.batch_size


def _check_positive(name: str, value: Any, refuse_bool: bool = False) -> None:
    if not isinstance(value, int) or value <= 0 or (refuse_bool and isinstance(value, bool)):
        raise ValueError(f"{name} should be a positive integer value, but got {name}={value}")


def draw_seed(generator: Generator | None) -> int:
    """A seed for a generator of its own, drawn from `generator` or from the default one."""
    return functions.empty((), dtype=int64).random_(generator=generator).item()
