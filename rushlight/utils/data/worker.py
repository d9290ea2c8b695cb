"""Worker processes that fetch batches ahead.

Each worker has a queue of indices; one queue brings all results back. Tasks are numbered and go to the workers in turn, a few
ahead of what was consumed; what arrives too early waits (`in_order`). In PyTorch: `torch/utils/data/dataloader.py`,
`_MultiProcessingDataLoaderIter`, and `torch/utils/data/_utils/worker.py`. There tensors travel in shared memory; here as numpy
arrays, copied.

Where processes are started by `fork`, the workers have all that the program has defined, also in a notebook. Elsewhere the dataset
and the functions must be importable.
"""

from __future__ import annotations

import multiprocessing
import os
import queue
import random
import sys
import traceback
import weakref
from collections.abc import Callable, Iterable, Iterator
from enum import Enum
from itertools import cycle
from multiprocessing.reduction import ForkingPickler
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from rushlight.aten.native import creation
from rushlight.aten.native.random import manual_seed
from rushlight.aten.strided import Tensor
from rushlight.utils.data.fetch import Fetch, WorkerInfo, set_worker_info
from rushlight.utils.data.sampler import draw_seed

if TYPE_CHECKING:
    from rushlight.utils.data.dataloader import DataLoader

T = TypeVar("T")
INTERVAL = 1.0  # seconds, after which one looks whether the other side is still alive


class Signal(Enum):
    END = "the iterable dataset is at its end"
    RESUME = "another epoch begins"


def _reduce(tensor: Tensor) -> tuple:
    """How a tensor travels. Source: `torch/multiprocessing/reductions.py`, `reduce_tensor`."""
    if tensor.requires_grad and not tensor.is_leaf:
        raise RuntimeError("a tensor that requires grad and is not a leaf cannot go to another process: detach() it")
    return _rebuild, (np.asarray(tensor.detach()._array), tensor.requires_grad)


def _rebuild(array: np.ndarray, requires_grad: bool) -> Tensor:
    return creation.from_numpy(array).requires_grad_(requires_grad)


ForkingPickler.register(Tensor, _reduce)


class ExceptionWrapper:
    """An exception on its way to the parent, with its traceback as text. Source: `torch/_utils.py`, `ExceptionWrapper`."""

    def __init__(self, error: Exception, where: str) -> None:
        self.type, self.where = type(error), where
        self.text = "".join(traceback.format_exception(error))

    def reraise(self) -> None:
        message = f"Caught {self.type.__name__} {self.where}.\nOriginal {self.text}"
        try:
            error = self.type(_Lines(message) if self.type is KeyError else message)
        except Exception:  # it needs other arguments
            error = RuntimeError(message)
        try:
            raise error from None
        finally:
            del (
                error
            )  # the frame and the error would hold each other, and the frame the iterator whose workers are to end


class _Lines(str):
    """A KeyError shows the repr of its message, in which line breaks would be lost."""

    def __repr__(self) -> str:
        return str(self)


# ------------------------------------------------------------------------------------------------------------
# In the worker


def worker_loop(
    fetch: Fetch, indices: Any, results: Any, done: Any, base_seed: int, worker_init_fn: Callable | None,
    worker_id: int, num_workers: int,
) -> None:  # fmt: skip
    """Answer each task (number, index) by (number, worker, what was fetched); None ends it, and so does the parent's death.

    Source: `torch/utils/data/_utils/worker.py`, `_worker_loop`.
    """
    where = f"in DataLoader worker process {worker_id}"
    seed = base_seed + worker_id
    random.seed(seed)
    manual_seed(seed)
    np.random.seed(np.random.SeedSequence([base_seed, worker_id]).generate_state(4))
    set_worker_info(WorkerInfo(worker_id, num_workers, seed, fetch.dataset))
    parent, failure, get = multiprocessing.parent_process(), None, None
    try:
        try:
            if worker_init_fn is not None:
                worker_init_fn(worker_id)
            get = fetch.begin()
        except Exception as error:
            failure = ExceptionWrapper(error, where)
        while parent.is_alive():
            try:
                task = indices.get(timeout=INTERVAL)
            except queue.Empty:
                continue
            if task is None:
                break
            number, index = task
            if number is Signal.RESUME:
                try:
                    get = fetch.begin()
                except Exception as error:
                    failure = ExceptionWrapper(error, where)
                results.put(_packed((Signal.RESUME, worker_id, None), where))
            elif not done.is_set():
                result, get = (failure, get) if failure else _fetched(get, index, where)
                results.put(_packed((number, worker_id, result), where))
    except KeyboardInterrupt:
        pass  # the parent got it too, and ends its workers
    results.cancel_join_thread()  # nobody waits for what is still in it


def _fetched(get: Callable | None, index: Any, where: str) -> tuple[Any, Callable | None]:
    """What was fetched, or how it went wrong; and the function for the next time, None after the end."""
    if get is None:
        return Signal.END, None
    try:
        return get(index), get
    except StopIteration:
        return Signal.END, None
    except Exception as error:
        return ExceptionWrapper(error, where), get


def _packed(answer: tuple, where: str) -> bytes:
    """Pickled here and not by the queue, whose thread would only print what goes wrong."""
    try:
        return bytes(ForkingPickler.dumps(answer))
    except Exception as error:
        if isinstance(answer[2], ExceptionWrapper):  # of a type that is known here only
            answer[2].type = RuntimeError
            return bytes(ForkingPickler.dumps(answer))
        return _packed((*answer[:2], ExceptionWrapper(error, where)), where)


# ------------------------------------------------------------------------------------------------------------
# In the parent


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


class Workers:
    """The batches of an epoch, fetched by processes; with `persistent_workers` of one epoch after the other.

    Source: `torch/utils/data/dataloader.py`, `_MultiProcessingDataLoaderIter`.
    """

    def __init__(self, loader: DataLoader, fetch: Fetch) -> None:
        context = loader.multiprocessing_context or multiprocessing
        if isinstance(context, str):
            context = multiprocessing.get_context(context)
        self._timeout, self._persistent = loader.timeout, loader.persistent_workers
        self._sampler, self._ahead = loader.index_sampler, loader.prefetch_factor
        self._owner, self._is_shut_down, self._workers = os.getpid(), False, []
        self._results, self._done = context.Queue(), context.Event()
        self._queues = [context.Queue() for _ in range(loader.num_workers)]
        self.seed = draw_seed(loader.generator)
        for worker_id, indices in enumerate(self._queues):
            indices.cancel_join_thread()  # at the end nobody reads what is still in it
            args = (fetch, indices, self._results, self._done, self.seed, loader.worker_init_fn, worker_id)
            worker = context.Process(target=worker_loop, args=(*args, loader.num_workers), daemon=True)
            worker.start()
            self._workers.append(worker)
        self._begin()

    def reset(self) -> None:
        """Another epoch with the same workers: what they still answer for the last one is thrown away."""
        for indices in self._queues:
            indices.put((Signal.RESUME, None))
        waiting = set(range(len(self._workers)))
        while waiting:
            number, worker_id, _ = self._get()
            if number is Signal.RESUME:
                waiting.remove(worker_id)
        self._begin()

    def _begin(self) -> None:
        self._indices = iter(self._sampler)
        self._sent = self._outstanding = 0
        self._has_more = [True] * len(self._workers)
        self._turns = cycle(range(len(self._workers)))
        self._in_order = in_order(_arrivals(weakref.ref(self)))
        for _ in range(self._ahead * len(self._workers)):
            self._put()

    def _put(self) -> None:
        """The next task to the next worker that has more to give."""
        if not any(self._has_more):
            return
        try:
            index = next(self._indices)
        except StopIteration:
            return
        worker_id = next(turn for turn in self._turns if self._has_more[turn])
        self._queues[worker_id].put((self._sent, index))
        self._sent += 1
        self._outstanding += 1

    def _receive(self) -> tuple[int, Any]:
        number, worker_id, result = self._get()
        self._outstanding -= 1
        if result is Signal.END and self._has_more[worker_id]:
            self._has_more[worker_id] = False
            self._put()
        return number, result

    def _get(self) -> tuple[Any, int, Any]:
        """The next answer of any worker. RuntimeError if one has died, or nothing came in time."""
        while True:
            try:
                return ForkingPickler.loads(self._results.get(timeout=self._timeout or INTERVAL))
            except queue.Empty:
                died = ", ".join(str(worker.pid) for worker in self._workers if not worker.is_alive())
                if died:
                    self.shut_down()
                    raise RuntimeError(f"DataLoader worker (pid(s) {died}) exited unexpectedly") from None
                if self._timeout:
                    raise RuntimeError(f"DataLoader timed out after {self._timeout} seconds") from None

    def __iter__(self) -> Workers:
        return self

    def __next__(self) -> Any:
        for result in self._in_order:
            if result is Signal.END:
                continue
            self._put()
            if isinstance(result, ExceptionWrapper):
                result.reraise()
            return result
        if not self._persistent:
            self.shut_down()
        raise StopIteration

    def __len__(self) -> int:
        return len(self._sampler)

    def shut_down(self) -> None:
        """End the workers: those that do not come to their end are terminated. Only the process that made them may do it."""
        if self._is_shut_down or os.getpid() != self._owner:
            return
        self._is_shut_down = True
        self._done.set()
        try:
            for indices in self._queues:
                indices.put(None)
            for worker in self._workers:
                worker.join(timeout=INTERVAL)
        finally:
            for worker in self._workers:
                if worker.is_alive():
                    worker.terminate()
                    worker.join()
            for each in (*self._queues, self._results):
                each.cancel_join_thread()
                each.close()

    def __del__(self) -> None:
        if not sys.is_finalizing():  # then the workers, being daemons, are ended by multiprocessing
            self.shut_down()


def _arrivals(workers: weakref.ref[Workers]) -> Iterator[tuple[int, Any]]:
    """Until no task is outstanding. A generator that held the iterator itself would keep it, and its processes, alive."""
    while workers()._outstanding:
        yield workers()._receive()
