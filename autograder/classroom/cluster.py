"""A dask.distributed cluster as the engine of grading.

A worker of the cluster has a marker of its own, a process that runs nothing else: the judge forks, and a worker has threads that
a fork would lose. If a worker dies, the scheduler gives its submission to another one. If the scheduler dies, grading ends.
"""

from __future__ import annotations

import inspect
import logging
import multiprocessing.util
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, Executor, Future
from contextlib import contextmanager
from functools import cache, partial
from typing import Any

from ..engine.observe import GradingError, NotGraded
from .grade import EngineLost, markers


@contextmanager
def cluster(address: str) -> Iterator[Executor]:
    """Within: the workers of the scheduler at this address, as an executor."""
    if not address:  # for dask, this would be a cluster on this machine
        raise GradingError("--scheduler needs the address of a scheduler, such as tcp://HOST:8786")
    try:
        from distributed import Client
    except ImportError:
        raise GradingError("--scheduler needs dask.distributed: pip install 'rushlight[cluster]'") from None
    for logger in ("distributed", "distributed.client"):  # which log a traceback for what is one line here
        logging.getLogger(logger).setLevel(logging.CRITICAL)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a table of versions that differ: `mark` looks at those that matter
            client = Client(address, timeout="10s")
    except (OSError, ValueError) as error:
        raise GradingError(f"no scheduler answers at {address}: {error}") from None
    except TypeError:  # dask's own
        raise GradingError(
            f"{address} needs TLS, and dask has no certificates here: docs/scale.md has the settings"
        ) from None
    with client:
        if not client.scheduler_info()["workers"]:
            start = f"dask worker {address} --nworkers N --nthreads 1"
            raise GradingError(f"the scheduler at {address} has no workers: `{start}` starts N on a machine")
        yield _Cluster(client, address)


class _Cluster(Executor):
    def __init__(self, client: Any, address: str) -> None:
        self.engine, self.address = client.get_executor(pure=False), address

    def submit(self, step: Callable, /, *arguments: Any) -> Future:  # type: ignore[override]  # no step takes names
        future: Future[str] = Future()
        request = {"text": inspect.getsource(run_step), "names": {}, "arguments": [step.__name__, *arguments]}
        task = self.engine.submit(eval, "exec(text, names) or names['run_step'](*arguments)", request)
        task.add_done_callback(partial(self._finish, future))
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


def run_step(name: str, *arguments: object) -> str:
    """Run a step of grading in the marker of this worker.

    A worker gets this function as text, because it may have another version of the course, or none. Then this raises
    ModuleNotFoundError with a line that names the machine.
    """
    import inspect
    import socket

    try:
        from autograder.classroom import cluster, grade

        step = getattr(grade, name)
        inspect.signature(step).bind(*arguments)
        in_marker = cluster.in_marker
    except Exception as error:
        try:
            from rushlight import __version__ as version
        except ImportError:
            version = "none"
        differs = f"{socket.gethostname()} cannot mark for this version of the course, it has {version} ({error})"
        raise ModuleNotFoundError(f"{differs}: install the same version there, and start its workers again") from None
    return in_marker(step, *arguments)


@cache
def _marker() -> Executor:
    # The worker's nanny has made it a daemon, which may not start processes. This one ends with the worker all the same.
    vars(multiprocessing.current_process())["_config"]["daemon"] = False
    # A worker that ends waits for its processes, and an executor ends its own later.
    multiprocessing.util.Finalize(None, _end_processes, exitpriority=0)
    return markers(1)


def _end_processes() -> None:
    for process in multiprocessing.active_children():
        process.terminate()


def in_marker(step: Callable, *arguments: Any) -> Any:
    try:
        return _marker().submit(step, *arguments).result()
    except BrokenExecutor:
        _marker.cache_clear()
        raise NotGraded("it ended the process that marks it (out of memory?)") from None
