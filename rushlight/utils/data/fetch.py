"""Fetching: from one index of the sampler, or a list of indices, to one batch. The main process and the workers use it.

In PyTorch: `torch/utils/data/_utils/fetch.py` and, for `get_worker_info`, `torch/utils/data/_utils/worker.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from typing import Any, NamedTuple

from rushlight.utils.data.dataset import Dataset, IterableDataset, fetch_samples


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
        return self.collate_fn(fetch_samples(self.dataset, index) if self.batched else self.dataset[index])

    def _next(self, samples: Iterator, index: Any) -> Any:
        if not self.batched:
            return self.collate_fn(next(samples))
        data = list(islice(samples, len(index)))
        if not data or (self.drop_last and len(data) < len(index)):
            raise StopIteration
        return self.collate_fn(data)


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
