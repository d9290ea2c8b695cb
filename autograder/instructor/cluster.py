"""A dask.distributed cluster as the engine of grading.

A worker of the cluster has a marker of its own, a process that runs nothing else: the judge forks, and a worker has threads that
a fork would lose. If a worker dies, the scheduler gives its submission to another one. If the scheduler dies, grading ends.
"""

from __future__ import annotations

import logging
import multiprocessing
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, Executor, Future
from contextlib import contextmanager
from functools import cache, partial
from typing import Any

from ..observe import GradingError, NotGraded
from .grade import EngineLost, markers


@contextmanager
def cluster(address: str) -> Iterator[Executor]:
    """Within: the workers of the scheduler at this address, as an executor."""
    try:
        from distributed import Client
    except ImportError:
        raise GradingError("--scheduler needs dask.distributed: pip install 'rushlight[cluster]'") from None
    for logger in ("distributed", "distributed.client"):  # which log a traceback for what is one line here
        logging.getLogger(logger).setLevel(logging.CRITICAL)
    try:
        client = Client(address, timeout="10s")
    except (OSError, ValueError) as error:
        raise GradingError(f"no scheduler answers at {address}: {error}") from None
    with client:
        if not client.scheduler_info()["workers"]:
            start = f"dask worker {address} --nworkers N --nthreads 1"
            raise GradingError(f"the scheduler at {address} has no workers: `{start}` starts N on a machine")
        yield _Cluster(client, address)


class _Cluster(Executor):
    def __init__(self, client: Any, address: str) -> None:
        self.engine, self.address = client.get_executor(pure=False), address

    def submit(self, step: Callable, /, *arguments: Any) -> Future:
        future = Future()
        self.engine.submit(_in_marker, step, *arguments).add_done_callback(partial(self._finish, future))
        return future

    def _finish(self, future: Future, dask: Future) -> None:
        from distributed import KilledWorker

        if dask.cancelled():
            future.set_exception(
                EngineLost(f"the scheduler at {self.address} does not answer any more: run this again to go on")
            )
        elif isinstance(error := dask.exception(), KilledWorker):
            future.set_exception(NotGraded("every worker that had it has ended (out of memory?)"))
        elif error:
            future.set_exception(error)
        else:
            future.set_result(dask.result())


# In a worker ---------------------------------------------------------------------------------------------------------


@cache
def _marker() -> Executor:
    # The worker's nanny has made it a daemon, which may not start processes. This one ends with the worker all the same.
    multiprocessing.current_process()._config["daemon"] = False
    return markers(1)


def _in_marker(step: Callable, *arguments: Any) -> Any:
    try:
        return _marker().submit(step, *arguments).result()
    except BrokenExecutor:
        _marker.cache_clear()
        raise NotGraded("it ended the process that marks it (out of memory?)") from None
