"""A dask.distributed cluster as the engine of grading.

A worker of the cluster has a marker of its own, a process that runs nothing else: the judge forks, and a worker has threads that
a fork would lose. If a worker dies, the scheduler gives its submission to another one. If the scheduler dies, grading ends.

A program that reaches a scheduler can answer for its workers. So the connection is TLS, or does not leave this machine. A result
is JSON of bounded size, and dask may not unpickle a class or a function in this process. This machine marks a sample of the
submissions again, because a worker draws the cases and knows the seed: it could send any verdict.
"""

from __future__ import annotations

import inspect
import ipaddress
import json
import logging
import multiprocessing.util
import pickle
import random
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, Executor, Future
from contextlib import contextmanager
from functools import cache, partial
from typing import Any
from urllib.parse import urlsplit

from ..engine.observe import GradingError, Malformed, NotGraded
from ..model import Unreadable
from ..text import printable
from .grade import EngineLost, markers, verdicts_of

MAX_RESULT = 20 << 20  # characters of a marked submission: its outputs have 4 Mi, and a verdict is short
SAMPLED = 0.1  # of the submissions, besides the first, are marked on this machine too
CONNECT_SECONDS = 10  # until a scheduler is taken to be absent


@contextmanager
def cluster(address: str, insecure: bool = False) -> Iterator[Executor]:
    """Within: the workers of the scheduler at this address, as an executor. `insecure` permits a connection to another machine
    without TLS."""
    if not address:  # for dask, this would be a cluster on this machine
        raise GradingError("--scheduler needs the address of a scheduler, such as tls://HOST:8786")
    if not (insecure or is_protected(address)):
        raise GradingError(
            f"{address} is a connection without TLS, on which others can set every mark: docs/scale.md says how to use TLS"
            " (or add --insecure, in a network of your own)"
        )
    try:
        import distributed  # noqa: F401
    except ImportError:
        raise GradingError("--scheduler needs dask.distributed: pip install 'rushlight[cluster]'") from None
    for logger in ("distributed", "distributed.client"):  # which log a traceback for what is one line here
        logging.getLogger(logger).setLevel(logging.CRITICAL + 1)
    with _no_pickled_programs(), _connected_to(address) as client:
        if not client.scheduler_info()["workers"]:
            start = f"dask worker {address} --nworkers N --nthreads 1"
            raise GradingError(f"the scheduler at {address} has no workers: `{start}` starts N on a machine")
        yield _Cluster(client, address)


def _connected_to(address: str) -> Any:
    from distributed import Client, Security

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a table of versions that differ: `mark` looks at those that matter
            security = Security(require_encryption=True) if address.startswith("tls:") else None
            return Client(address, timeout=CONNECT_SECONDS, security=security)
    except (OSError, ValueError) as error:
        raise GradingError(f"no scheduler answers at {address}: {error}") from None
    except TypeError:  # dask's own
        raise GradingError(
            f"{address} needs TLS, and dask has no certificates here: docs/scale.md has the settings"
        ) from None


def is_protected(address: str) -> bool:
    """Whether a connection to this address is TLS, or stays on this machine."""
    try:
        parts = urlsplit(address if "://" in address else f"tcp://{address}")
        host = parts.hostname or ""
        return parts.scheme == "tls" or host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:  # the name of another machine
        return False


# What dask unpickles if a submission has ended all workers that had it. Results are text.
_NEEDED = {("distributed.scheduler", "KilledWorker"), ("distributed.scheduler", "WorkerState"), ("builtins", "int")}
_NEEDED |= {("distributed.core", "Status"), ("collections", "deque"), ("collections", "defaultdict")}
_connected = threading.Event()


@contextmanager
def _no_pickled_programs() -> Iterator[None]:
    """Within: a pickle from the cluster cannot name a function. All threads but those of this course's own processes are dask's."""
    _add_hook()
    _connected.set()
    try:
        yield
    finally:
        _connected.clear()


@cache
def _add_hook() -> None:
    sys.addaudithook(_refuse)


def _refuse(event: str, arguments: tuple) -> None:
    if event == "pickle.find_class" and _connected.is_set() and arguments not in _NEEDED:
        thread = threading.current_thread()
        if thread is not threading.main_thread() and type(thread).__name__ != "_ExecutorManagerThread":
            raise pickle.UnpicklingError(f"{'.'.join(arguments)} in a message of the cluster")


class _Cluster(Executor):
    def __init__(self, client: Any, address: str) -> None:
        self.client, self.address, self.sampled = client, address, 0

    def submit(self, step: Callable, /, *arguments: Any) -> Future:  # type: ignore[override]  # no step takes names
        future: Future[str] = Future()
        request = {"text": inspect.getsource(run_step), "names": {}, "arguments": [step.__name__, *arguments]}
        task = self.client.submit(eval, "exec(text, names) or names['run_step'](*arguments)", request, pure=False)
        task.add_done_callback(partial(self._finish, future, step, arguments))
        return future

    def _finish(self, future: Future, step: Callable, arguments: tuple, task: Any) -> None:
        from distributed import KilledWorker

        try:
            if task.cancelled():
                raise EngineLost(f"the scheduler at {self.address} does not answer any more: run this again to go on")
            self._expect_same(future, step, arguments, text_of(task.result()))
        except KilledWorker:
            future.set_exception(NotGraded("every worker that had it has ended (out of memory?)"))
        except (GradingError, ModuleNotFoundError, NotGraded, Malformed, Unreadable) as problem:
            future.set_exception(problem)
        except Exception as error:  # such as a pickle that was refused
            about = f"a worker sent something else than a result, and none of it ran ({type(error).__name__})"
            future.set_exception(EngineLost(about))

    def _expect_same(self, future: Future, step: Callable, arguments: tuple, text: str) -> None:
        """Finish with a worker's result, for a sample after the step has passed the same checks on this machine."""
        passed = _passed(text)
        if self.sampled and random.SystemRandom().random() >= SAMPLED:
            future.set_result(text)
            return
        self.sampled += 1

        def compare(own: Future) -> None:
            error = own.exception()
            if isinstance(error, BrokenExecutor):
                _marker.cache_clear()
                error = NotGraded("it ended the process that grades it (out of memory?)")
            elif not error and (differs := sorted(_passed(own.result()) ^ passed)):
                error = EngineLost(
                    f"a worker's verdicts on {printable(arguments[0]['student'])} are not this machine's"
                    f" ({', '.join(differs)}): grade again without --scheduler, with --force"
                )
            future.set_exception(error) if error else future.set_result(own.result())

        _marker().submit(step, *arguments).add_done_callback(compare)


def _passed(text: str) -> set[str]:
    return {name for name, verdict in verdicts_of(text).items() if verdict.passed}


def text_of(result: object) -> str:
    """The result of a step on a worker, from what `run_step` returned there, or from anything else. Raises what the step raised."""
    if not isinstance(result, str) or len(result) > MAX_RESULT:
        raise NotGraded(f"a worker sent no text, or more than {MAX_RESULT >> 20} Mi characters")
    try:
        said = json.loads(result)
        done, kind, about = said.get("done"), said.get("error", ""), printable(str(said.get("about")))[:500]
    except (ValueError, AttributeError, RecursionError):
        raise NotGraded("a worker sent no JSON") from None
    if isinstance(done, str):
        return done
    for expected in (GradingError, ModuleNotFoundError, NotGraded, Unreadable):
        if kind == expected.__name__:
            raise expected(about)
    raise NotGraded(f"{printable(str(kind))[:50]}: {about}")


# In a worker ---------------------------------------------------------------------------------------------------------


def run_step(name: str, *arguments: object) -> str:
    """Run a step of grading in the marker of this worker. Returns JSON: what is `done`, or the `error` and what it is `about`.

    A worker gets this function as text, because it may have another version of the course, or none. Then the error is a
    ModuleNotFoundError with a line that names the machine.
    """
    import inspect
    import json
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
        differs = f"{socket.gethostname()} cannot grade for this version of the course, it has {version} ({error})"
        about = f"{differs}: install the same version there, and start its workers again"
        return json.dumps({"error": "ModuleNotFoundError", "about": about})
    try:
        return json.dumps({"done": in_marker(step, *arguments)})
    except Exception as error:
        return json.dumps({"error": type(error).__name__, "about": str(error)})


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
        raise NotGraded("it ended the process that grades it (out of memory?)") from None
