"""Worker processes that prefetch batches.

Each worker has a queue of indices, and one queue returns all results. Tasks are numbered and go to the workers in turn, a few
ahead of the batches that were consumed. A result that arrives too early waits (`in_order`). In PyTorch:
`torch/utils/data/dataloader.py`, `_MultiProcessingDataLoaderIter`, and `torch/utils/data/_utils/worker.py`. PyTorch sends
tensors through shared memory; here they are copied, as numpy arrays.

If processes are started by `fork`, the workers have all definitions of the program, also those of a notebook. Otherwise the
dataset and the functions must be importable.
"""

import atexit
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
from typing import Any, TypeVar

import numpy as np

from rushlight.aten.native import creation
from rushlight.aten.native.random import manual_seed
from rushlight.aten.strided import Tensor
from rushlight.utils.data.dataset import Fetch, WorkerInfo, _BaseDataLoaderIter, set_worker_info
from rushlight.utils.data.sampler import draw_seed

T = TypeVar("T")
MP_STATUS_CHECK_INTERVAL = 1.0  # seconds between checks that the other process is still alive


class Signal(Enum):
    """What a worker and the loader send each other besides batches."""

    END = "the iterable dataset is at its end"
    RESUME = "another epoch begins"


def _reduce(tensor: Tensor) -> tuple:
    """Pickle a tensor. Source: `torch/multiprocessing/reductions.py`, `reduce_tensor`."""
    if tensor.requires_grad and not tensor.is_leaf:
        raise RuntimeError("a tensor that requires grad and is not a leaf cannot go to another process: detach() it")
    return _rebuild, (np.asarray(tensor.detach()._array), tensor.requires_grad)


def _rebuild(array: np.ndarray, requires_grad: bool) -> Tensor:
    return creation.from_numpy(array).requires_grad_(requires_grad)


ForkingPickler.register(Tensor, _reduce)


class ExceptionWrapper:
    """An exception to send to the parent, with its traceback as text. Source: `torch/_utils.py`, `ExceptionWrapper`."""

    def __init__(self, error: Exception, where: str) -> None:
        self.type, self.where = type(error), where
        self.text = "".join(traceback.format_exception(error))

    def reraise(self) -> None:
        message = f"Caught {self.type.__name__} {self.where}.\nOriginal {self.text}"
        try:
            error = self.type(_Lines(message) if self.type is KeyError else message)
        except Exception:  # the type needs other arguments
            error = RuntimeError(message)
        try:
            raise error from None
        finally:
            del error  # the frame and the error would reference each other, and the frame keeps the iterator alive


class _Lines(str):
    """A message with a plain repr, because a KeyError shows its message's repr, without line breaks."""

    def __repr__(self) -> str:
        return str(self)


# In the worker -------------------------------------------------------------------------------------------------------


def worker_loop(
    fetch: Fetch, indices: Any, results: Any, done: Any, base_seed: int, worker_init_fn: Callable | None,
    worker_id: int, num_workers: int,
) -> None:  # fmt: skip
    """Answer each task (number, index) with (number, worker, batch). It ends at None, or if the parent died.
    Source: `torch/utils/data/_utils/worker.py`, `_worker_loop`."""
    where = f"in DataLoader worker process {worker_id}"
    seed = base_seed + worker_id
    random.seed(seed)
    manual_seed(seed)
    np.random.seed(np.random.SeedSequence([worker_id, base_seed % 2**32, base_seed >> 32]).generate_state(4))
    set_worker_info(WorkerInfo(worker_id, num_workers, seed, fetch.dataset))
    parent = multiprocessing.parent_process()

    def begin(init: Callable | None = None) -> Callable:
        try:
            if init is not None:
                init(worker_id)
            return fetch.begin()
        except Exception as error:
            failure = ExceptionWrapper(error, where)
            return lambda index: failure

    try:
        get = begin(worker_init_fn)
        while parent.is_alive():
            try:
                task = indices.get(timeout=MP_STATUS_CHECK_INTERVAL)
            except queue.Empty:
                continue
            if task is None:
                break
            number, index = task
            if number is Signal.RESUME:
                get = begin()
                results.put(_pickle((Signal.RESUME, worker_id, None), where))
            elif not done.is_set():
                try:
                    result = Signal.END if get is None else get(index)
                except StopIteration:
                    result = Signal.END
                except Exception as error:
                    result = ExceptionWrapper(error, where)
                get = None if result is Signal.END else get
                results.put(_pickle((number, worker_id, result), where))
    except KeyboardInterrupt:
        pass  # the parent got it too, and ends its workers
    results.cancel_join_thread()  # results that are still in the queue are not needed


def _pickle(answer: tuple, where: str) -> bytes:
    """Pickle here, because the thread of the queue would only print an error."""
    try:
        return bytes(ForkingPickler.dumps(answer))
    except Exception as error:
        if isinstance(answer[2], ExceptionWrapper):  # its type cannot be pickled
            answer[2].type = RuntimeError
            return bytes(ForkingPickler.dumps(answer))
        return _pickle((*answer[:2], ExceptionWrapper(error, where)), where)


# In the parent -------------------------------------------------------------------------------------------------------


def in_order(arrivals: Iterable[tuple[int, T]]) -> Iterator[T]:
    """The results from pairs (number of the task, result), in the order of the numbers 0, 1, 2, ... It never requests another
    arrival while it has the next result, because the caller may send more tasks after each result."""
    waiting: dict[int, T] = {}
    wanted = 0
    for number, result in arrivals:
        waiting[number] = result
        while wanted in waiting:
            yield waiting.pop(wanted)
            wanted += 1


class _MultiProcessingDataLoaderIter(_BaseDataLoaderIter):
    """The batches of an epoch, fetched by processes. With `persistent_workers` it serves one epoch after the other.
    Source: `torch/utils/data/dataloader.py`, `_MultiProcessingDataLoaderIter`."""

    def __init__(self, loader: Any, fetch: Fetch) -> None:
        super().__init__(loader)
        context = loader.multiprocessing_context or multiprocessing
        if isinstance(context, str):
            context = multiprocessing.get_context(context)
        self._timeout, self._persistent = loader.timeout, loader.persistent_workers
        self._prefetch_factor = loader.prefetch_factor
        self._owner, self._shutdown, self._workers = os.getpid(), False, []
        self._results, self._done = context.Queue(), context.Event()
        self._queues = [context.Queue() for _ in range(loader.num_workers)]
        self.seed = draw_seed(loader.generator)
        for worker_id, indices in enumerate(self._queues):
            indices.cancel_join_thread()  # indices that are still in the queue at the end are not needed
            args = (fetch, indices, self._results, self._done, self.seed, loader.worker_init_fn, worker_id)
            worker = context.Process(target=worker_loop, args=(*args, loader.num_workers), daemon=True)
            worker.start()
            self._workers.append(worker)
        _living.add(self)
        atexit.unregister(_shutdown_all)
        atexit.register(_shutdown_all)  # once, and after multiprocessing's own function, so that it is called before it
        self._reset(loader)

    def reset(self, loader: Any) -> None:
        """Start another epoch with the same workers. Late results of the previous epoch are discarded."""
        for indices in self._queues:
            indices.put((Signal.RESUME, None))
        waiting = set(range(len(self._workers)))
        while waiting:
            number, worker_id, _ = self._get_data()
            if number is Signal.RESUME:
                waiting.remove(worker_id)
        self._reset(loader)

    def _reset(self, loader: Any) -> None:
        super()._reset(loader)
        self._indices = iter(self._sampler)
        self._sent = self._outstanding = 0
        self._workers_active = [True] * len(self._workers)
        self._worker_cycle = cycle(range(len(self._workers)))
        self._in_order = in_order(_arrivals(weakref.ref(self)))
        for _ in range(self._prefetch_factor * len(self._workers)):
            self._try_put_index()

    def _try_put_index(self) -> None:
        """Send the next task to the next worker whose dataset is not at its end."""
        index = next(self._indices, Signal.END) if any(self._workers_active) else Signal.END
        if index is Signal.END:
            return
        worker_id = next(i for i in self._worker_cycle if self._workers_active[i])
        self._queues[worker_id].put((self._sent, index))
        self._sent += 1
        self._outstanding += 1

    def _receive(self) -> tuple[int, Any]:
        number, worker_id, result = self._get_data()
        self._outstanding -= 1
        if result is Signal.END and self._workers_active[worker_id]:
            self._workers_active[worker_id] = False
            self._try_put_index()
        return number, result

    def _get_data(self) -> tuple[Any, int, Any]:
        """The next answer of any worker. Raises RuntimeError if a worker died, or after the timeout."""
        while True:
            try:
                return ForkingPickler.loads(self._results.get(timeout=self._timeout or MP_STATUS_CHECK_INTERVAL))
            except queue.Empty:
                died = ", ".join(str(worker.pid) for worker in self._workers if not worker.is_alive())
                if died:
                    self._shutdown_workers()
                    raise RuntimeError(f"DataLoader worker (pid(s) {died}) exited unexpectedly") from None
                if self._timeout:
                    raise RuntimeError(f"DataLoader timed out after {self._timeout} seconds") from None

    def _next_data(self) -> Any:
        for result in self._in_order:
            if result is Signal.END:
                continue
            self._try_put_index()
            if isinstance(result, ExceptionWrapper):
                result.reraise()
            return result
        if not self._persistent:
            self._shutdown_workers()
        raise StopIteration

    def _shutdown_workers(self) -> None:
        """End the workers, and terminate those that do not end. Only the process that started them may do this."""
        if self._shutdown or os.getpid() != self._owner:
            return
        self._shutdown = True
        self._done.set()
        try:
            for indices in self._queues:
                indices.put(None)
            for worker in self._workers:
                worker.join(timeout=MP_STATUS_CHECK_INTERVAL)
        finally:
            for worker in self._workers:
                if worker.is_alive():
                    worker.terminate()
                    worker.join()
            for channel in (*self._queues, self._results):
                channel.cancel_join_thread()
                channel.close()

    def __del__(self) -> None:
        if not sys.is_finalizing():
            self._shutdown_workers()


_living: weakref.WeakSet[_MultiProcessingDataLoaderIter] = weakref.WeakSet()


def _shutdown_all() -> None:
    """At exit, end all workers while multiprocessing can still be used: a worker that is starting needs its semaphores.
    Source: `torch/utils/data/dataloader.py`, `_clean_up_persistent_workers_atexit`."""
    for iterator in tuple(_living):
        iterator._shutdown_workers()


def _arrivals(workers: weakref.ref[_MultiProcessingDataLoaderIter]) -> Iterator[tuple[int, Any]]:
    """The results until no task is outstanding. A strong reference here would keep the iterator and its processes alive."""
    while workers()._outstanding:
        yield workers()._receive()
