"""Data: from single samples to batches of tensors. It is `rl.utils.data`.

A *dataset* gives samples, by index or one after the other; a *sampler* says in which order; `batches` cuts the order into pieces; a
*collate* function makes one batch of the samples of a piece; a `DataLoader` puts them together, and can let worker processes do
the fetching (`workers.py`). In PyTorch: `torch/utils/data/` (`dataset.py`, `sampler.py`, `dataloader.py`, `_utils/`). Left
out: pinned memory, results out of order, data pipes, distributed samplers.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping, MutableSequence, Sequence, Sized
from copy import copy
from itertools import accumulate, islice, repeat
from typing import Any, Generic, NamedTuple, TypeVar
from warnings import warn

import numpy as np

from rushlight import creation, functions
from rushlight.dtypes import float64, int64
from rushlight.random import Generator, default_generator
from rushlight.strided import Tensor

__all__ = [
    "BatchSampler", "ChainDataset", "ConcatDataset", "DataLoader", "Dataset", "IterableDataset", "RandomSampler", "Sampler",
    "SequentialSampler", "Subset", "SubsetRandomSampler", "TensorDataset", "WeightedRandomSampler", "default_collate",
    "default_convert", "get_worker_info", "random_split",
]  # fmt: skip

T = TypeVar("T", covariant=True)

# ------------------------------------------------------------------------------------------------------------
# Datasets. Source: `torch/utils/data/dataset.py`


class Dataset(Generic[T]):
    """Samples by index. A subclass has `__getitem__`, mostly `__len__`, and perhaps `__getitems__`: a list of indices to a list
    of samples."""

    def __getitem__(self, index: Any) -> T:
        raise NotImplementedError("Subclasses of Dataset should implement __getitem__.")

    def __add__(self, other: Dataset) -> ConcatDataset:
        return ConcatDataset([self, other])


class IterableDataset(Dataset[T], Iterable[T]):
    """Samples one after the other: a subclass has `__iter__`."""

    def __add__(self, other: Dataset) -> ChainDataset:
        return ChainDataset([self, other])


class TensorDataset(Dataset[tuple[Tensor, ...]]):
    """Sample i is the tuple of the i-th elements of tensors that are equally long."""

    def __init__(self, *tensors: Tensor) -> None:
        if any(tensor.size(0) != tensors[0].size(0) for tensor in tensors):
            raise AssertionError("Size mismatch between tensors")
        self.tensors = tensors

    def __getitem__(self, index: Any) -> tuple[Tensor, ...]:
        return tuple(tensor[index] for tensor in self.tensors)

    def __len__(self) -> int:
        return self.tensors[0].size(0)


def locate(cumulative_sizes: Sequence[int], index: int) -> tuple[int, int]:
    """Where a sample of datasets put one behind the other is: the number of its dataset, and its index in it.

    Args:
        cumulative_sizes: at i, how many samples the datasets 0 to i have together. A dataset may be empty.
        index: from 0; or negative, counted from the end.

    Raises:
        ValueError: a negative index is before the first sample.
        IndexError: an index is behind the last sample.

    Source: `torch/utils/data/dataset.py`, `ConcatDataset.__getitem__`.
    """
    length = cumulative_sizes[-1]
    if index < -length:
        raise ValueError("absolute value of index should not exceed dataset length")
    if index >= length:
        raise IndexError(f"index {index} is out of range for a dataset of {length} samples")
    index %= length
    number = bisect_right(cumulative_sizes, index)
    return number, index - (cumulative_sizes[number - 1] if number else 0)


class ConcatDataset(Dataset[T]):
    """Datasets one behind the other, by index."""

    def __init__(self, datasets: Iterable[Dataset]) -> None:
        self.datasets = list(datasets)
        if not self.datasets:
            raise AssertionError("datasets should not be an empty iterable")
        if any(isinstance(dataset, IterableDataset) for dataset in self.datasets):
            raise AssertionError("ConcatDataset does not support IterableDataset")
        self.cumulative_sizes = list(accumulate(len(dataset) for dataset in self.datasets))

    def __getitem__(self, index: int) -> T:
        number, index = locate(self.cumulative_sizes, index)
        return self.datasets[number][index]

    def __len__(self) -> int:
        return self.cumulative_sizes[-1]


class ChainDataset(IterableDataset):
    """Iterable datasets one after the other."""

    def __init__(self, datasets: Iterable[Dataset]) -> None:
        self.datasets = datasets

    def __iter__(self) -> Iterator:
        for dataset in self.datasets:
            if not isinstance(dataset, IterableDataset):
                raise AssertionError("ChainDataset only supports IterableDataset")
            yield from dataset

    def __len__(self) -> int:
        return sum(len(dataset) for dataset in self.datasets)


class Subset(Dataset[T]):
    """The samples of a dataset that `indices` names, in that order."""

    def __init__(self, dataset: Dataset[T], indices: Sequence[int]) -> None:
        self.dataset, self.indices = dataset, indices

    def __getitem__(self, index: Any) -> T:
        if isinstance(index, list):
            return self.dataset[[self.indices[i] for i in index]]
        return self.dataset[self.indices[index]]

    def __getitems__(self, indices: list[int]) -> list[T]:
        return _samples(self.dataset, [self.indices[i] for i in indices])

    def __len__(self) -> int:
        return len(self.indices)


def _samples(dataset: Dataset, indices: Sequence) -> list:
    if callable(getattr(dataset, "__getitems__", None)):
        return dataset.__getitems__(indices)
    return [dataset[index] for index in indices]


def split_lengths(length: int, lengths: Sequence[int | float]) -> list[int]:
    """How long the parts are into which `length` samples are split.

    `lengths` are numbers of samples, and then are the result. Or they are fractions: so they are taken if their sum is 1
    within the tolerance of `math.isclose` and not above 1. Each part then has that fraction of `length`, rounded down, and what
    is left over goes to the parts from the first on, one sample to each, round and round. A UserWarning for each of these parts
    that is empty after that.

    Raises:
        ValueError: a fraction is not between 0 and 1; the lengths do not add up to `length`.

    Source: `torch/utils/data/dataset.py`, `random_split`.
    """
    total = sum(lengths)
    if math.isclose(total, 1) and total <= 1:
        for i, fraction in enumerate(lengths):
            if not 0 <= fraction <= 1:
                raise ValueError(f"Fraction at index {i} is not between 0 and 1")
        lengths = [math.floor(length * fraction) for fraction in lengths]
        for i in range(length - sum(lengths)):
            lengths[i % len(lengths)] += 1
        for i, part in enumerate(lengths):
            if part == 0:
                warn(f"Length of split at index {i} is 0. This might result in an empty dataset.", stacklevel=2)
    if sum(lengths) != length:
        raise ValueError("Sum of input lengths does not equal the length of the input dataset!")
    return list(lengths)


def random_split(
    dataset: Dataset[T], lengths: Sequence[int | float], generator: Generator | None = default_generator
) -> list[Subset[T]]:
    """Parts of these lengths, or fractions of the whole, at random. Source: `torch/utils/data/dataset.py`, `random_split`."""
    lengths = split_lengths(len(dataset), lengths)
    order = functions.randperm(sum(lengths), generator=generator).tolist()
    return [Subset(dataset, order[end - length : end]) for end, length in zip(accumulate(lengths), lengths)]


# ------------------------------------------------------------------------------------------------------------
# Samplers. Source: `torch/utils/data/sampler.py`


class Sampler(Generic[T]):
    """Indices in some order: a subclass has `__iter__`, and mostly `__len__`."""

    def __iter__(self) -> Iterator[T]:
        raise NotImplementedError


class SequentialSampler(Sampler[int]):
    def __init__(self, data_source: Sized) -> None:
        self.data_source = data_source

    def __iter__(self) -> Iterator[int]:
        return iter(range(len(self.data_source)))

    def __len__(self) -> int:
        return len(self.data_source)


class RandomSampler(Sampler[int]):
    """`num_samples` indices at random: with `replacement` each by itself; without, each comes once before one comes again."""

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
        length, remaining = len(self.data_source), self.num_samples
        # The default generator is asked once: what else draws from it during an epoch does not change the order.
        generator = self.generator or Generator().manual_seed(draw_seed(None))
        while remaining > 0:
            if self.replacement:
                drawn = functions.randint(length, (min(remaining, 32),), generator=generator)
            else:
                drawn = functions.randperm(length, generator=generator)
            yield from drawn.tolist()[:remaining]
            remaining -= len(drawn)

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
    """`num_samples` indices at random, each as probable as its weight is large."""

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
    """The indices of `sampler` in lists of `batch_size`, in order; at the end a shorter list of those that are left, if there are
    any and not `drop_last`.

    A generator: for each list exactly `batch_size` indices are taken from the sampler, and none before the list is asked for, so
    that the sampler may be endless.

    Source: `torch/utils/data/sampler.py`, `BatchSampler.__iter__`.
    """
    indices = iter(sampler)
    while batch := list(islice(indices, batch_size)):
        if len(batch) == batch_size or not drop_last:
            yield batch


class BatchSampler(Sampler[list[int]]):
    """Source: `torch/utils/data/sampler.py`, `BatchSampler`."""

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
    return functions.empty((), dtype=int64).random_(generator=generator).item()


# ------------------------------------------------------------------------------------------------------------
# From samples to a batch. Source: `torch/utils/data/_utils/collate.py`


def default_collate(batch: Sequence) -> Any:
    """The samples of a batch, put together as what the first sample is:

    - tensors: stacked along a new first dimension;
    - numpy arrays: the same, as tensors of their dtype;
    - numpy's numbers and booleans (`np.number`, `np.bool_`): a tensor of their dtype, of one dimension;
    - floats: a tensor of one dimension, float64; integers and booleans: of the dtype that `tensor` gives them;
    - strings and bytes: `batch` itself;
    - mappings: for each key of the first sample, the values of all samples under it, collated;
    - named tuples: field by field, collated, as that named tuple;
    - other sequences: place by place, collated; the samples must be equally long.

    A mapping becomes one of the type of the first sample: a copy of that sample with other values, or, where it cannot be
    changed, what its type makes of a dict of the values. A sequence becomes one of the type of the first sample in the same way,
    but a tuple becomes a list. Where the type refuses this with a TypeError, the result is a plain dict or list. All of
    this paragraph is what `_mapping_like(first, values)` and `_sequence_like(first, values)` do.

    Raises:
        RuntimeError: sequences of different lengths; tensors of different sizes.
        KeyError: a mapping lacks a key of the first one.
        TypeError: anything else, and numpy arrays of strings or objects.

    Source: `torch/utils/data/_utils/collate.py`, `default_collate`.
    """
    first = batch[0]
    if isinstance(first, Tensor):
        return functions.stack(batch, 0)
    if isinstance(first, np.ndarray):
        return functions.stack([creation.as_tensor(each) for each in batch], 0)
    if isinstance(first, (np.bool_, np.number)):
        return creation.as_tensor(batch)
    if isinstance(first, float):
        return creation.tensor(batch, dtype=float64)
    if isinstance(first, int):
        return creation.tensor(batch)
    if isinstance(first, (str, bytes)):
        return batch
    if isinstance(first, Mapping):
        return _mapping_like(first, {key: default_collate([each[key] for each in batch]) for key in first})
    if isinstance(first, tuple) and hasattr(first, "_fields"):
        return type(first)(*(default_collate(values) for values in zip(*batch)))
    if isinstance(first, Sequence):
        if any(len(each) != len(first) for each in batch):
            raise RuntimeError("each element in list of batch should be of equal size")
        return _sequence_like(first, [default_collate(values) for values in zip(*batch)])
    raise TypeError(
        f"default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; found {type(first)}"
    )


def default_convert(data: Any) -> Any:
    """One sample with its numpy arrays and numbers as tensors, in mappings and sequences too; all else as it is.

    Mappings and sequences keep their types as in `default_collate`. Arrays of strings or objects stay arrays.

    Source: `torch/utils/data/_utils/collate.py`, `default_convert`.
    """
    if isinstance(data, np.ndarray):
        return data if data.dtype.kind in "SaUO" else creation.as_tensor(data)
    if isinstance(data, (np.bool_, np.number)):
        return creation.as_tensor(data)
    if isinstance(data, Mapping):
        return _mapping_like(data, {key: default_convert(data[key]) for key in data})
    if isinstance(data, tuple) and hasattr(data, "_fields"):
        return type(data)(*(default_convert(each) for each in data))
    if isinstance(data, Sequence) and not isinstance(data, (str, bytes)):
        return _sequence_like(data, [default_convert(each) for each in data])
    return data


def _mapping_like(original: Mapping, values: dict) -> Mapping:
    """`values` as what `original` is: a subclass may hold more than its items, so it is copied where it can be."""
    try:
        if not isinstance(original, MutableMapping):
            return type(original)(values)
        out = copy(original)
        out.update(values)
        return out
    except TypeError:
        return values


def _sequence_like(original: Sequence, values: list) -> Sequence:
    if isinstance(original, tuple):
        return values
    try:
        if not isinstance(original, MutableSequence):
            return type(original)(values)
        out = copy(original)
        for i, value in enumerate(values):
            out[i] = value
        return out
    except TypeError:
        return values


# ------------------------------------------------------------------------------------------------------------
# Fetching. Source: `torch/utils/data/_utils/fetch.py`


class Fetch(NamedTuple):
    """What is done for one index of the sampler, or for one list of indices if `batched`."""

    dataset: Dataset
    batched: bool
    collate_fn: Callable
    drop_last: bool

    def begin(self) -> Callable[[Any], Any]:
        """The function of the index, for one epoch. StopIteration: an iterable dataset is at its end."""
        if not isinstance(self.dataset, IterableDataset):
            return self._by_index
        samples = iter(self.dataset)
        return lambda index: self._next(samples, index)

    def _by_index(self, index: Any) -> Any:
        return self.collate_fn(_samples(self.dataset, index) if self.batched else self.dataset[index])

    def _next(self, samples: Iterator, index: Any) -> Any:
        if not self.batched:
            return self.collate_fn(next(samples))
        data = list(islice(samples, len(index)))
        if not data or (self.drop_last and len(data) < len(index)):
            raise StopIteration
        return self.collate_fn(data)


def in_order(arrivals: Iterable[tuple[int, T]]) -> Iterator[T]:
    """The results of several workers, in the order of their tasks rather than the order in which they arrive.

    Args:
        arrivals: pairs (number of the task, result). The tasks are numbered 0, 1, 2, ...; each arrives once, at any place.

    A generator of the results alone, by number. It never asks for another arrival while the result that is next is already
    there: what it yields may be the cause of further arrivals.

    Source: `torch/utils/data/dataloader.py`, `_MultiProcessingDataLoaderIter._next_data`.
    """
    waiting: dict[int, T] = {}
    wanted = 0
    for number, result in arrivals:
        waiting[number] = result
        while wanted in waiting:
            yield waiting.pop(wanted)
            wanted += 1


class WorkerInfo(NamedTuple):
    """In a worker process: which one it is, of how many, its seed, and its copy of the dataset."""

    id: int
    num_workers: int
    seed: int
    dataset: Dataset


worker_info: WorkerInfo | None = None


def get_worker_info() -> WorkerInfo | None:
    """None in the main process. Source: `torch/utils/data/_utils/worker.py`, `get_worker_info`."""
    return worker_info


class Epoch:
    """The batches of one epoch, fetched where they are asked for.

    Source: `torch/utils/data/dataloader.py`, `_SingleProcessDataLoaderIter`.
    """

    def __init__(self, loader: DataLoader, fetch: Fetch) -> None:
        if loader.timeout:
            raise AssertionError("a timeout needs num_workers > 0")
        draw_seed(loader.generator)  # for nobody; but so the generator goes on as it does with workers
        self._sampler, self._fetch = loader.index_sampler, fetch.begin()
        self._indices = iter(self._sampler)

    def __iter__(self) -> Epoch:
        return self

    def __next__(self) -> Any:
        return self._fetch(next(self._indices))

    def __len__(self) -> int:
        return len(self._sampler)


# ------------------------------------------------------------------------------------------------------------
# All together. Source: `torch/utils/data/dataloader.py`


class DataLoader(Generic[T]):
    """Batches of a dataset; every `iter` is an epoch.

    `batch_size=None`: no batches; each sample goes through `collate_fn` (then `default_convert` unless said). With `num_workers`
    processes fetch ahead, `prefetch_factor` batches each, in the order of the sampler. `pin_memory` has no effect.
    """

    def __init__(
        self, dataset: Dataset[T], batch_size: int | None = 1, shuffle: bool | None = None,
        sampler: Iterable | None = None, batch_sampler: Iterable | None = None, num_workers: int = 0,
        collate_fn: Callable | None = None, pin_memory: bool = False, drop_last: bool = False, timeout: float = 0,
        worker_init_fn: Callable[[int], None] | None = None, multiprocessing_context: Any = None,
        generator: Generator | None = None, *, prefetch_factor: int | None = None, persistent_workers: bool = False,
    ) -> None:  # fmt: skip
        if num_workers < 0:
            raise ValueError("num_workers option should be non-negative; use num_workers=0 for no worker processes")
        if timeout < 0:
            raise ValueError("timeout option should be non-negative")
        if prefetch_factor is not None and (num_workers == 0 or prefetch_factor < 0):
            raise ValueError("prefetch_factor option should be non-negative, and needs num_workers > 0")
        if persistent_workers and num_workers == 0:
            raise ValueError("persistent_workers option needs num_workers > 0")
        if multiprocessing_context is not None and num_workers == 0:
            raise ValueError("multiprocessing_context option needs num_workers > 0")
        self._is_iterable = isinstance(dataset, IterableDataset)
        if self._is_iterable and (shuffle not in (None, False) or sampler is not None or batch_sampler is not None):
            raise ValueError("DataLoader with IterableDataset: shuffle, sampler and batch_sampler stay unspecified")
        if sampler is not None and shuffle:
            raise ValueError("sampler option is mutually exclusive with shuffle")
        if batch_sampler is not None:
            if batch_size != 1 or shuffle or sampler is not None or drop_last:
                raise ValueError("batch_sampler excludes batch_size, shuffle, sampler and drop_last")
            batch_size = None
        elif batch_size is None and drop_last:
            raise ValueError("batch_size=None option disables auto-batching and is mutually exclusive with drop_last")
        if sampler is None and self._is_iterable:
            sampler = repeat(None)  # there is nothing to choose
        elif sampler is None:
            sampler = RandomSampler(dataset, generator=generator) if shuffle else SequentialSampler(dataset)
        if batch_size is not None:
            batch_sampler = BatchSampler(sampler, batch_size, drop_last)
        self._batched = batch_sampler is not None
        self.dataset, self.batch_size, self.sampler, self.batch_sampler = dataset, batch_size, sampler, batch_sampler
        self.num_workers, self.prefetch_factor = (
            num_workers,
            2 if num_workers and prefetch_factor is None else prefetch_factor,
        )
        self.collate_fn = collate_fn or (default_collate if self._batched else default_convert)
        self.pin_memory, self.drop_last, self.timeout, self.generator = pin_memory, drop_last, timeout, generator
        self.worker_init_fn, self.multiprocessing_context = worker_init_fn, multiprocessing_context
        self.persistent_workers, self._iterator = persistent_workers, None
        self._fixed = ("batch_size", "batch_sampler", "sampler", "drop_last", "dataset", "persistent_workers")

    def __setattr__(self, name: str, value: Any) -> None:
        if name in self.__dict__.get("_fixed", ()):
            raise ValueError(f"{name} attribute should not be set after {type(self).__name__} is initialized")
        super().__setattr__(name, value)

    @property
    def index_sampler(self) -> Iterable:
        return self.batch_sampler if self._batched else self.sampler

    def __iter__(self) -> Iterator[T]:
        fetch = Fetch(self.dataset, self._batched, self.collate_fn, self.drop_last)
        if self.num_workers == 0:
            return Epoch(self, fetch)
        if self._iterator is not None:
            self._iterator.reset()
            return self._iterator
        from rushlight.workers import Workers  # multiprocessing is slow to import

        iterator = Workers(self, fetch)
        if self.persistent_workers:
            self._iterator = iterator
        return iterator

    def __len__(self) -> int:
        if not self._is_iterable:
            return len(self.index_sampler)
        length = len(self.dataset)
        if self.batch_size is None:
            return length
        return length // self.batch_size if self.drop_last else math.ceil(length / self.batch_size)
