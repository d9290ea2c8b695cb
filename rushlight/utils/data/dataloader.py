"""The `DataLoader`: it combines dataset, sampler and collate function, with or without worker processes.

In PyTorch: `torch/utils/data/dataloader.py`. Left out: pinned memory, results out of order, data pipes, distributed samplers.
"""

import math
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from itertools import repeat
from typing import Any, Generic

from rushlight.aten.native.random import Generator
from rushlight.c10.exception import warn
from rushlight.utils.data.collate import default_collate, default_convert
from rushlight.utils.data.dataset import Dataset, Fetch, IterableDataset, T, _BaseDataLoaderIter
from rushlight.utils.data.sampler import BatchSampler, RandomSampler, SequentialSampler, draw_seed


class _SingleProcessDataLoaderIter(_BaseDataLoaderIter):
    """The batches of one epoch, fetched in the main process. Source: `torch/utils/data/dataloader.py`,
    `_SingleProcessDataLoaderIter`."""

    def __init__(self, loader: "DataLoader", fetch: Fetch) -> None:
        super().__init__(loader)
        if loader.timeout:
            raise AssertionError("a timeout needs num_workers > 0")
        draw_seed(loader.generator)  # unused, but with workers a seed is drawn too: the generator's state must agree
        self._fetch, self._indices = fetch.begin(), iter(self._sampler)
        self._reset(loader)

    def _next_data(self) -> Any:
        return self._fetch(next(self._indices))


class DataLoader(Generic[T]):
    """Batches of a dataset; every `iter` is an epoch. With `batch_size=None` there are no batches: each sample goes through
    `collate_fn` (by default `default_convert`). With `num_workers` > 0, that many processes prefetch `prefetch_factor`
    batches each; the order is still the sampler's. `pin_memory` has no effect but a warning."""

    def __init__(
        self, dataset: Dataset[T], batch_size: int | None = 1, shuffle: bool | None = None,
        sampler: Iterable | None = None, batch_sampler: Iterable | None = None, num_workers: int = 0,
        collate_fn: Callable | None = None, pin_memory: bool = False, drop_last: bool = False, timeout: float = 0,
        worker_init_fn: Callable[[int], None] | None = None, multiprocessing_context: Any = None,
        generator: Generator | None = None, *, prefetch_factor: int | None = None, persistent_workers: bool = False,
    ) -> None:  # fmt: skip
        for option, value in dict(num_workers=num_workers, timeout=timeout, prefetch_factor=prefetch_factor).items():
            if value is not None and value < 0:
                raise ValueError(f"{option} option should be non-negative")
        for_workers = prefetch_factor is not None, persistent_workers, multiprocessing_context is not None
        if num_workers == 0 and any(for_workers):
            raise ValueError("prefetch_factor, persistent_workers and multiprocessing_context need num_workers > 0")
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
            sampler = repeat(None)  # an iterable dataset takes no indices
        elif sampler is None:
            sampler = RandomSampler(dataset, generator=generator) if shuffle else SequentialSampler(dataset)
        if batch_size is not None:
            batch_sampler = BatchSampler(sampler, batch_size, drop_last)
        self._batched = batch_sampler is not None
        self.dataset, self.batch_size, self.sampler, self.batch_sampler = dataset, batch_size, sampler, batch_sampler
        self.num_workers = num_workers
        self.prefetch_factor = 2 if num_workers and prefetch_factor is None else prefetch_factor
        self.collate_fn = collate_fn or (default_collate if self._batched else default_convert)
        self.pin_memory, self.drop_last, self.timeout, self.generator = pin_memory, drop_last, timeout, generator
        self.worker_init_fn, self.multiprocessing_context = worker_init_fn, multiprocessing_context
        self.persistent_workers, self._iterator, self._IterableDataset_len_called = persistent_workers, None, None
        self.check_worker_number_rationality()
        self._fixed = ("batch_size", "batch_sampler", "sampler", "drop_last", "dataset", "persistent_workers")

    def __setattr__(self, name: str, value: Any) -> None:
        if name in self.__dict__.get("_fixed", ()):
            raise ValueError(f"{name} attribute should not be set after {type(self).__name__} is initialized")
        super().__setattr__(name, value)

    def check_worker_number_rationality(self) -> None:
        """Warn if there are more workers than processors that this process may use."""
        affinity = getattr(os, "sched_getaffinity", None)  # macOS and Windows have none
        most = len(affinity(0)) if affinity else os.cpu_count() or 0
        if self.num_workers > most:
            problem = f"This DataLoader will create {self.num_workers} worker processes, but this system has"
            warn(f"{problem} {most} processors for them: more workers can make it slow")

    @property
    def index_sampler(self) -> Iterable:
        return self.batch_sampler if self._batched else self.sampler

    def __iter__(self) -> Iterator[T]:
        fetch = Fetch(self.dataset, self._batched, self.collate_fn, self.drop_last)
        if self.num_workers == 0:
            return _SingleProcessDataLoaderIter(self, fetch)
        if self._iterator is not None:
            self._iterator.reset(self)
            return self._iterator
        if sys.platform == "emscripten":
            raise RuntimeError("DataLoader: a browser has no processes for workers; use num_workers=0")
        from rushlight.utils.data.worker import _MultiProcessingDataLoaderIter  # multiprocessing is slow to import

        self.check_worker_number_rationality()
        iterator = _MultiProcessingDataLoaderIter(self, fetch)
        if self.persistent_workers:
            self._iterator = iterator
        return iterator

    def __len__(self) -> int:
        if not self._is_iterable:
            return len(self.index_sampler)
        length = self._IterableDataset_len_called = len(self.dataset)
        if self.batch_size is None:
            return length
        return length // self.batch_size if self.drop_last else math.ceil(length / self.batch_size)
