"""Datasets: samples by index or from an iterator, concatenations of datasets, and subsets. `Fetch` gets the batches, and
`_BaseDataLoaderIter` counts them.

The main process and the workers fetch in the same way. In PyTorch: `torch/utils/data/dataset.py`,
`torch/utils/data/_utils/fetch.py` and, for `get_worker_info`, `torch/utils/data/_utils/worker.py`. Left out: `StackDataset`.
"""

import math
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import accumulate, islice
from typing import Any, Generic, NamedTuple, TypeVar

from rushlight.aten.generated import functions
from rushlight.aten.native.random import Generator, default_generator
from rushlight.aten.native.views import CPU_TENSOR, is_watched
from rushlight.aten.strided import Tensor, wrap_contiguous
from rushlight.c10.exception import warn
from rushlight.c10.fast_paths import fast_form_of, fastest
from rushlight.library import is_overridden
from rushlight.utils.data.collate import default_collate

__all__ = [
    "ChainDataset", "ConcatDataset", "Dataset", "IterableDataset", "Subset", "TensorDataset", "get_worker_info", "random_split",
]  # fmt: skip

T = TypeVar("T", covariant=True)


class Dataset(Generic[T]):
    """Samples by index. A subclass defines `__getitem__`, usually `__len__`, and optionally `__getitems__`, which takes a list of
    indices and returns a list of samples."""

    def __getitem__(self, index: Any) -> T:
        raise NotImplementedError("Subclasses of Dataset should implement __getitem__.")

    def __add__(self, other: "Dataset") -> "ConcatDataset":
        return ConcatDataset([self, other])


class IterableDataset(Dataset[T], Iterable[T]):
    """Samples from an iterator: a subclass defines `__iter__`."""

    def __add__(self, other: Dataset) -> "ChainDataset":
        return ChainDataset([self, other])


class TensorDataset(Dataset[tuple[Tensor, ...]]):
    """Sample i is the tuple of the i-th elements of tensors with equal lengths."""

    def __init__(self, *tensors: Tensor) -> None:
        if any(tensor.size(0) != tensors[0].size(0) for tensor in tensors):
            raise AssertionError("Size mismatch between tensors")
        self.tensors = tensors

    def __getitem__(self, index: Any) -> tuple[Tensor, ...]:
        return tuple(tensor[index] for tensor in self.tensors)

    def __len__(self) -> int:
        return self.tensors[0].size(0)


class ConcatDataset(Dataset[T]):
    """Concatenated datasets, by index."""

    def __init__(self, datasets: Iterable[Dataset]) -> None:
        self.datasets = list(datasets)
        if not self.datasets:
            raise AssertionError("datasets should not be an empty iterable")
        if any(isinstance(dataset, IterableDataset) for dataset in self.datasets):
            raise AssertionError("ConcatDataset does not support IterableDataset")
        self.cumulative_sizes = list(accumulate(len(dataset) for dataset in self.datasets))

    def __getitem__(self, idx: int) -> T:
        length = len(self)
        if idx < -length:
            raise ValueError("absolute value of index should not exceed dataset length")
        if idx >= length:
            raise IndexError(f"index {idx} is out of range for a dataset of {length} samples")
        idx %= length
        number = bisect_right(self.cumulative_sizes, idx)
        return self.datasets[number][idx - (self.cumulative_sizes[number - 1] if number else 0)]

    def __len__(self) -> int:
        return self.cumulative_sizes[-1]


class ChainDataset(IterableDataset):
    """Concatenated iterable datasets."""

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
    """The samples of a dataset at `indices`, in that order."""

    def __init__(self, dataset: Dataset[T], indices: Sequence[int]) -> None:
        self.dataset, self.indices = dataset, indices

    def __getitem__(self, idx: Any) -> T:
        if isinstance(idx, list):
            return self.dataset[[self.indices[i] for i in idx]]
        return self.dataset[self.indices[idx]]

    def __getitems__(self, indices: list[int]) -> list[T]:
        return fetch_samples(self.dataset, [self.indices[i] for i in indices])

    def __len__(self) -> int:
        return len(self.indices)


def fetch_samples(dataset: Dataset, indices: Sequence) -> list:
    """The samples at these indices. They are fetched in one call if the dataset has `__getitems__`."""
    if callable(getattr(dataset, "__getitems__", None)):
        return dataset.__getitems__(indices)
    return [dataset[index] for index in indices]


def fetch_batch(dataset: Dataset, indices: Sequence, collate_fn: Callable) -> Any:
    """The samples at these indices, collated."""
    return collate_fn(fetch_samples(dataset, indices))


@fast_form_of(fetch_batch, "utils")
def index_tensors(dataset: Dataset, indices: Sequence, collate_fn: Callable) -> Any:
    """`fetch_batch` of a `TensorDataset` that indexes each tensor once, in the place of a view for each sample and a stack."""
    if type(dataset) is not TensorDataset or collate_fn is not default_collate or {*map(type, indices)} != {int}:
        return fetch_batch(dataset, indices, collate_fn)
    are_plain = all(tensor._key_set == CPU_TENSOR and tensor._has_plain_strides for tensor in dataset.tensors)
    if not are_plain or any(map(is_watched, dataset.tensors)) or is_overridden("aten::select.int", "aten::stack"):
        return fetch_batch(dataset, indices, collate_fn)
    try:
        return [wrap_contiguous(tensor._array[indices], tensor.dtype) for tensor in dataset.tensors]
    except IndexError:
        return fetch_batch(dataset, indices, collate_fn)  # raises PyTorch's error


class Fetch(NamedTuple):
    """Fetches and collates the sample at one index or, if `batched`, the samples at a list of indices."""

    dataset: Dataset
    batched: bool
    collate_fn: Callable
    drop_last: bool

    def begin(self) -> Callable[[Any], Any]:
        """The function that fetches by index, for one epoch. It raises StopIteration at the end of an iterable dataset."""
        return partial(self._next, iter(self.dataset)) if isinstance(self.dataset, IterableDataset) else self._by_index

    def _by_index(self, index: Any) -> Any:
        if self.batched:
            return fastest[fetch_batch](self.dataset, index, self.collate_fn)
        return self.collate_fn(self.dataset[index])

    def _next(self, samples: Iterator, index: Any) -> Any:
        if not self.batched:
            return self.collate_fn(next(samples))
        data = list(islice(samples, len(index)))
        if not data or (self.drop_last and len(data) < len(index)):
            raise StopIteration
        return self.collate_fn(data)


class _BaseDataLoaderIter(Iterator):
    """The base of both iterators. It counts the batches, and warns if an iterable dataset has more samples than the length that
    `len(loader)` has returned. Source: `torch/utils/data/dataloader.py`, `_BaseDataLoaderIter`."""

    def __init__(self, loader: Any) -> None:
        if loader.pin_memory:
            problem = "'pin_memory' argument is set as true but no accelerator is found"
            warn(f"{problem}: the batches are in ordinary memory")
        self._dataset, self._sampler, self._num_workers = loader.dataset, loader.index_sampler, loader.num_workers

    def _reset(self, loader: Any) -> None:
        self._num_yielded, self._length = 0, loader._IterableDataset_len_called

    def __next__(self) -> Any:
        data = self._next_data()
        self._num_yielded += 1
        if self._length is not None and self._num_yielded > self._length:
            problem = f"The length of the IterableDataset {self._dataset} was {self._length}"
            replica = " For multiprocessing data-loading, this happens if each worker yields all samples."
            warn(
                f"{problem}, but {self._num_yielded} samples have been fetched.{replica if self._num_workers else ''}",
            )
        return data

    def __len__(self) -> int:
        return len(self._sampler)

    def __getstate__(self) -> None:
        raise NotImplementedError(f"{type(self).__name__} cannot be pickled")


class WorkerInfo(NamedTuple):
    """A worker process's number, the number of workers, its seed, and its copy of the dataset."""

    id: int
    num_workers: int
    seed: int
    dataset: Dataset


_worker_info: WorkerInfo | None = None


def get_worker_info() -> WorkerInfo | None:
    """The worker's information, or None in the main process. Source: `torch/utils/data/_utils/worker.py`, `get_worker_info`."""
    return _worker_info


def set_worker_info(info: WorkerInfo) -> None:
    """Called once in each worker process, before it fetches."""
    global _worker_info
    _worker_info = info


def random_split(
    dataset: Dataset[T], lengths: Sequence[int | float], generator: Generator | None = default_generator
) -> list[Subset[T]]:
    """Random parts of these lengths. They are fractions if their sum is 1: then each part has that fraction of the samples,
    rounded down, and the remaining samples go to the parts in turn, one each. Source: `torch/utils/data/dataset.py`,
    `random_split`."""
    total, length = sum(lengths), len(dataset)
    if math.isclose(total, 1) and total <= 1:
        if not all(0 <= fraction <= 1 for fraction in lengths):
            raise ValueError(f"a fraction is not between 0 and 1: {lengths}")
        lengths = [math.floor(length * fraction) for fraction in lengths]
        for i in range(length - sum(lengths)):
            lengths[i % len(lengths)] += 1
        if 0 in lengths:
            warn(f"a part is empty: the lengths are {lengths}")
    if sum(lengths) != length:
        raise ValueError("Sum of input lengths does not equal the length of the input dataset!")
    order = functions.randperm(sum(lengths), generator=generator).tolist()
    return [Subset(dataset, order[end - length : end]) for end, length in zip(accumulate(lengths), lengths)]
