"""Ranks: the processes of a distributed program, started from a notebook.

`run_ranks(fn, n)` calls a function in n processes that are joined in a process group, and returns what each returned. Importing
torch takes seconds, so one process, the *nursery*, does that once; the ranks of a call are forks of it, and end with the call.
What a function uses, also one that was defined in a notebook, is sent along (cloudpickle), and so are the functions with which
a student has filled the framework's. Each call has a group of its own, whose store is a file: nothing needs a port or a network.

Under torchrun there is nothing to start: `torchrun --nproc-per-node 2 program.py` runs the same function on ranks that find
each other by the environment (`init_process_group()` without a store). In PyTorch: `torch/multiprocessing/spawn.py`,
`torch/distributed/run.py`.
"""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import datetime
import faulthandler
import gc
import importlib
import itertools
import os
import pkgutil
import re
import resource
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

import cloudpickle

from rushlight.course import extensions
from rushlight.distributed.failures import DEADLOCK, DIED, DONE, RAISED, RUNNING, Fate, RanksFailed, failure, parts

__all__ = ["run_ranks", "device", "backend", "RanksFailed", "stop"]

TIMEOUT = 60.0  # seconds for a call
STILL = 5.0  # seconds in which not one of the ranks has run, until that is called a deadlock
GRACE = 2.0  # seconds that the others have when one rank has failed
START = 60.0  # seconds in which the nursery must have imported torch
LOOK = 0.1  # seconds between two looks at whether ranks run
MAX_PRINTED = 100_000  # characters kept of what a rank prints


def device() -> Any:
    """The device on which this rank computes: the one place where that is decided. `cuda:<local rank>` if there are enough GPUs
    for all ranks of this machine, otherwise the CPU."""
    import torch

    rank, ranks = (int(os.environ.get(name, default)) for name, default in (("LOCAL_RANK", 0), ("LOCAL_WORLD_SIZE", 1)))
    return torch.device("cuda", rank) if torch.cuda.device_count() >= ranks else torch.device("cpu")


def backend(ranks: int) -> str:
    """What the ranks talk by: "nccl" if each has a GPU of its own, otherwise "gloo"."""
    import torch

    return "nccl" if torch.cuda.device_count() >= ranks else "gloo"


def run_ranks(fn: Callable, n: int = 2, *args: Any, timeout: float = TIMEOUT, still: float = STILL) -> list[Any]:
    """Call `fn(*args)` on `n` ranks, each a process of its own; a list of what they returned, by rank.

    Within `fn` the default process group is there: `torch.distributed.get_rank()` says which rank this is, and the environment
    has what torchrun puts there (`RANK`, `LOCAL_RANK`, `WORLD_SIZE`, `LOCAL_WORLD_SIZE`). What a rank prints is printed here at
    the end, each line after the rank's number. Tensors come back as copies.

    Args:
        fn: a function; it may be defined in a notebook. It and `args` are copied to the ranks.
        n: how many ranks.
        timeout: seconds until all must be done.
        still: seconds after which ranks that all wait are taken to wait for ever (so long may a rank sleep). On Linux only.

    Raises:
        RanksFailed: a rank raised (its traceback is in the message), died, or waits for ever (with the place where). No process
            is left over.
        TypeError: `fn` or an argument cannot be copied.
        ValueError: `n` is not positive.

    Counterpart: `torch.multiprocessing.spawn`, which starts processes from nothing.
    """
    if n < 1:
        raise ValueError(f"run_ranks: there must be at least one rank, not {n}")
    task = _packed(fn, args)
    with _nursery.lock, _nursery.ranks(n, fn) as ranks:
        why = _work(ranks, task, timeout, still)
    for rank in ranks:
        for line in rank.printed.splitlines():
            print(f"[rank {rank.number}] {line}")
        if rank.state != DIED:  # otherwise it says of what
            sys.stderr.write(rank.noise)
    if any(rank.state != DONE for rank in ranks):
        raise failure(ranks, why, _nursery.torch)
    return [_unpacked(rank) for rank in ranks]


def stop() -> None:
    """End the nursery; the next call starts it again."""
    _nursery.stop()


def _packed(fn: Callable, args: tuple) -> bytes:
    """The task of the ranks: a function, its arguments, and the functions that extensions have replaced here. An error names
    the part that cannot be copied."""
    replaced = [(each.replace, each.replacements()) for each in extensions.registered() if each.replacements()]
    try:
        return cloudpickle.dumps((fn, args, replaced))
    except Exception:
        those = [("the function", fn), *((f"argument {i}, a {type(arg).__name__},", arg) for i, arg in enumerate(args))]
        names = itertools.chain(*(functions.items() for _, functions in replaced))
        those += [(f"what fills {'.'.join(name)}", function) for name, function in names]
        for what, part in those:
            try:
                cloudpickle.dumps(part)
            except Exception as error:
                raise TypeError(f"run_ranks: {what} cannot be copied to the ranks: {error}") from None
        raise


def _unpacked(rank: _Rank) -> Any:
    try:
        return cloudpickle.loads(rank.result)
    except Exception as error:
        message = f"what rank {rank.number} returned cannot be copied to here: {type(error).__name__}: {error}"
        raise RanksFailed(message, {rank.number: message}) from None


# ------------------------------------------------------------------------------------------------------------
# A call, seen from here


class _Rank(Fate):
    """One rank of a call: what became of it, and the ways to it."""

    def __init__(self, number: int, connection: Connection, aside: int) -> None:
        super().__init__(number)
        self.connection = connection
        self.aside: int | None = aside  # a pipe for what C++ prints, and for stacks
        self.pid = 0

    def send(self, message: bytes) -> None:
        with contextlib.suppress(OSError):  # it has died, which receiving will show
            self.connection.send_bytes(message)

    def receive(self) -> None:
        """Take in one message."""
        try:
            kind, content = cloudpickle.loads(self.connection.recv_bytes())
        except (EOFError, OSError):
            self.become(DIED)
            return
        if kind == "pid":
            self.pid = content
        elif kind == "printed":
            self.printed += content
        else:
            self.become(kind, content)

    def read(self, seconds: float = 0.0) -> str:
        """What C++ has printed there, or faulthandler, as soon as there is something."""
        text = b""
        while self.aside is not None and wait([self.aside], seconds if not text else min(seconds, 0.05)):
            part = os.read(self.aside, 1 << 16)
            text += part
            if not part:
                self.hang_up()
        return text.decode(errors="replace")

    def hang_up(self) -> None:
        if self.aside is not None:
            os.close(self.aside)
            self.aside = None

    def listen(self) -> None:
        self.noise = (self.noise + self.read())[-MAX_PRINTED:]

    def look(self) -> None:
        """Find out where it stands."""
        self.listen()
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGUSR1)
            self.stack = self.read(1.0)


def _work(ranks: list[_Rank], task: bytes, timeout: float, still: float) -> str:
    """Let ranks do a task until each is done or one has failed; otherwise a few words on how it ended."""
    store = Path(_nursery.folder, f"store-{time.monotonic_ns()}")
    place = {"n": len(ranks), "store": str(store), "timeout": timeout, "path": sys.path, "environ": dict(os.environ)}
    place["quiet"] = warnings.filters[:1] == [("ignore", None, Warning, None, 0)]
    with contextlib.suppress(FileNotFoundError):  # the folder that one is in may be gone
        place["folder"] = os.getcwd()
    for rank in ranks:
        rank.send(cloudpickle.dumps(place | {"rank": rank.number}))
        rank.send(task)
    why = _wait(ranks, timeout, still)
    for rank in ranks:
        rank.look() if rank.state == RUNNING else rank.listen()
    store.unlink(missing_ok=True)
    return why


def _wait(ranks: list[_Rank], timeout: float, still: float) -> str:
    """Take in what ranks say, until there is no more to come of it."""
    start = ran = time.monotonic()
    deadline, looked, failed = start + timeout, start, False
    signs, polls, polled = None, [], []
    while running := [rank for rank in ranks if rank.state == RUNNING]:
        ways = {rank.connection: rank for rank in running}
        aside = {rank.aside: rank for rank in ranks if rank.aside is not None}
        ready = wait([*ways, *aside, _nursery.control], LOOK)
        for way in ready:  # what a rank has said comes before its end
            if way in ways:
                ways[way].receive()
            elif way in aside:
                aside[way].listen()
        if ready == [_nursery.control]:
            _nursery.note(ranks)
            for rank in running:
                if rank.status is not None:
                    rank.become(DIED)
        now = time.monotonic()
        if not failed and any(rank.state in (RAISED, DIED) for rank in ranks):
            failed, deadline, still = True, min(deadline, now + GRACE), min(still, 3 * LOOK)
        if now >= looked + LOOK:
            before, (signs, polls), looked = signs, _signs(running), now
            if signs is None or signs != before:
                ran, polled = now, polls
            elif now >= ran + still and all(last > first for first, last in zip(polled, polls)):
                return DEADLOCK
        if now >= deadline:
            return f"not done within {timeout:g} s"
    return ""


def _signs(ranks: Iterable[_Rank]) -> tuple[list | None, list[int]]:
    """How often each thread of these processes has run; None where one is about to, or this system does not say.

    Apart, how often those have that look all the time whether something has come: gloo has one in each process. Until they
    have looked, something may have come.
    """
    signs, polls = [], []
    try:
        for rank in ranks:
            for task in sorted(Path(f"/proc/{rank.pid}/task").iterdir()):
                status = (task / "status").read_text()
                times = sum(map(int, re.findall(r"ctxt_switches:\s*(\d+)", status)))
                if status.startswith("Name:\tgloo_tcp_loop"):
                    polls.append(times)
                elif "State:\tS" in status and not (task / "children").read_text():
                    signs.append((task.name, times))
                else:  # it runs, wants to, or reads from a disk; or it has started another, a compiler say
                    return None, []
    except OSError:
        return None, []
    return signs, polls


# ------------------------------------------------------------------------------------------------------------
# The nursery, seen from here


class _Nursery:
    """The process from which ranks are forked. It ends its ranks, and itself, when the connection to here is gone, however that
    comes about: so nothing is left over when this process is killed."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.process: subprocess.Popen | None = None
        self.socket: socket.socket | None = None  # for what forks are given
        self.control: Connection | None = None  # the same one, for messages
        self.folder = self.torch = ""

    def forget(self) -> None:
        """In a fork of this process: it is the other's."""
        self.disconnect()
        self.__init__()

    def disconnect(self) -> None:
        for way in (self.socket, self.control):
            if way is not None:
                way.close()
        self.socket = self.control = None

    @contextlib.contextmanager
    def ranks(self, n: int, fn: Callable) -> Iterator[list[_Rank]]:
        """Within: n new ranks. Afterwards they are gone, also when interrupted."""
        home = (getattr(fn, "__module__", None) or "").encode()
        lasting = {b"rushlight", *(each.package.encode() for each in extensions.registered())}
        if home.partition(b".")[0] not in lasting:  # a student's own modules may change meanwhile
            home = b"-"
        if self.process is None or self.process.poll() is not None:
            self.start()
        with self.or_stopped():
            ranks = [self.fork(number, home) for number in range(n)]
        try:
            yield ranks
        finally:
            with self.or_stopped():
                self.end(ranks)

    @contextlib.contextmanager
    def or_stopped(self) -> Iterator[None]:
        """Within: nothing is left half done, by an interrupt for example. Then the nursery ends, and with it its ranks."""
        try:
            yield
        except (EOFError, OSError):
            self.stop()
            raise RuntimeError("the process that starts ranks has ended; is torch installed here?") from None
        except BaseException:
            self.stop()
            raise

    def start(self) -> None:
        self.stop()
        here, there = socket.socketpair()
        self.socket, self.control = here, Connection(os.dup(here.fileno()))
        begin = f"import sys; sys.path[:] = {sys.path!r}; from rushlight.distributed.ranks import _nurse; _nurse()"
        with self.or_stopped(), there:
            self.process = subprocess.Popen(
                [sys.executable, *subprocess._args_from_interpreter_flags(), "-c", begin],
                stdin=there,
                stdout=2,  # what C++ prints is not for whoever reads this process's output
                start_new_session=True,
            )
            there.close()
            if not self.control.poll(START):
                raise RuntimeError(f"the process that starts ranks was not ready within {START:g} s")
            self.folder, self.torch = cloudpickle.loads(self.control.recv_bytes())

    def fork(self, number: int, home: bytes) -> _Rank:
        """A new rank, which waits for its task."""
        here, there = socket.socketpair()
        aside, write = os.pipe()
        rank = _Rank(number, Connection(here.detach()), aside)
        socket.send_fds(self.socket, [home], [there.fileno(), write])
        there.close()
        os.close(write)
        rank.receive()
        return rank

    def end(self, ranks: list[_Rank]) -> None:
        """Kill ranks, and all that they started; wait until they are gone, and note how those ended that had died."""
        for rank in ranks:
            with contextlib.suppress(ProcessLookupError):
                if rank.pid:
                    os.killpg(rank.pid, signal.SIGKILL)
            rank.connection.close()
            rank.hang_up()
        while any(rank.pid and rank.status is None for rank in ranks):
            self.note(ranks)

    def note(self, ranks: list[_Rank]) -> None:
        """Take in how a process ended, and if it is one of these ranks' note it there."""
        pid, status = cloudpickle.loads(self.control.recv_bytes())
        for rank in ranks:
            if rank.pid == pid:
                rank.status = status

    def stop(self) -> None:
        process = self.process
        self.disconnect()  # and so it ends
        self.process = None
        if process is not None:
            try:
                process.wait(5.0)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            if self.folder:  # of one that was killed
                shutil.rmtree(self.folder, ignore_errors=True)


_nursery = _Nursery()
os.register_at_fork(after_in_child=_nursery.forget)
atexit.register(stop)


# ------------------------------------------------------------------------------------------------------------
# The other side: the nursery, and a rank


def _nurse() -> None:
    """Import torch, say so, and fork a rank for each message on standard input, until it ends."""
    import torch
    import torch._dynamo  # DDP and fully_shard import it when they first run
    import torch.distributed.fsdp
    import torch.distributed.tensor

    for module in pkgutil.iter_modules([str(Path(__file__).parent)]):
        with contextlib.suppress(Exception):  # whoever needs it will see why
            importlib.import_module(f"rushlight.distributed.{module.name}")
    torch.set_num_threads(1)
    # Done here for all ranks: what a fork writes to is copied, page by page
    torch.manual_seed(0)
    torch._dynamo.trace_rules.clear_lru_cache()  # which a new process group does
    gc.freeze()  # a collection in a fork would touch, and so copy, all that there is
    _use_large_pages()
    ways = socket.socket(fileno=0)
    control = Connection(os.dup(0), readable=False)
    folder = tempfile.mkdtemp(prefix="ranks-")
    ranks: set[int] = set()

    def ended(*_: Any) -> None:
        with contextlib.suppress(ChildProcessError, OSError):
            while (found := os.waitpid(-1, os.WNOHANG))[0]:
                ranks.discard(found[0])
                control.send_bytes(cloudpickle.dumps(found))

    signal.signal(signal.SIGCHLD, ended)
    with contextlib.suppress(ValueError):
        hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
        resource.setrlimit(resource.RLIMIT_CPU, (hard, hard))  # a limit for who started this is none for this
    control.send_bytes(cloudpickle.dumps((folder, str(Path(torch.__file__).parent))))
    while True:
        home, handles, _, _ = socket.recv_fds(ways, 1000, 2)
        if not handles:
            break  # whoever wanted ranks is gone
        with contextlib.suppress(Exception):
            importlib.import_module(home.decode())
        with contextlib.suppress(OSError):  # no more processes: the connection that closes says so
            pid = os.fork()
            if pid == 0:
                control.close()
                _rank(*handles)
            ranks.add(pid)
        for handle in handles:
            os.close(handle)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    for pid in ranks:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(pid, signal.SIGKILL)
    shutil.rmtree(folder, ignore_errors=True)


def _use_large_pages() -> None:
    """Have the memory of this process in pages of 2 MiB, where Linux offers that: most of what a fork costs is a copy of the
    table of pages, and its end."""
    if sys.platform != "linux":
        return
    madvise, collapse, large = ctypes.CDLL(None).madvise, 25, 1 << 21  # MADV_COLLAPSE: a Linux without it refuses
    for line in Path("/proc/self/maps").read_text().splitlines():
        place, allowed, _, _, inode, *_ = line.split()
        if allowed == "rw-p" and inode == "0":  # no file's
            first, last = (int(address, 16) for address in place.split("-"))
            start = -(-first // large) * large
            if start + large <= last:
                length = (last - start) // large * large
                madvise(ctypes.c_void_p(start), ctypes.c_size_t(length), collapse)


def _rank(handle: int, aside: int) -> None:
    """One rank: a task comes in, what becomes of it goes out. The other side ends it."""
    os.setpgid(0, 0)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(aside, 1)
    os.dup2(aside, 2)
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG: it ends when the nursery does
    faulthandler.register(signal.SIGUSR1, aside, all_threads=False)
    faulthandler.enable(aside)
    connection = Connection(handle)
    try:
        connection.send_bytes(cloudpickle.dumps(("pid", os.getpid())))
        place = cloudpickle.loads(connection.recv_bytes())
        task = connection.recv_bytes()
        printed = _Printed(connection)
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
            outcome = _run(task, **place)
        with printed.lock:
            connection.send_bytes(cloudpickle.dumps(outcome))
        connection.recv_bytes()
    finally:
        os._exit(0)


class _Printed:
    """What a rank prints, sent at once: a rank that hangs or dies has said it too."""

    def __init__(self, connection: Connection) -> None:
        self.connection, self.room, self.lock = connection, MAX_PRINTED, threading.RLock()

    def write(self, text: str) -> int:
        with self.lock:
            if text and self.room > 0:
                self.connection.send_bytes(cloudpickle.dumps(("printed", str(text[: self.room]))))
                self.room -= len(text)
        return len(text)

    def flush(self) -> None:
        pass

    def isatty(self) -> bool:
        return False


def _settle(rank: int, n: int, path: list[str], environ: dict[str, str], quiet: bool, folder: str = "/") -> None:
    """Make what surrounds a rank as it is on the other side, and as torchrun would make it."""
    sys.path[:] = path
    os.chdir(folder)
    os.environ.update(environ)
    os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo0" if sys.platform == "darwin" else "lo")
    os.environ.update(RANK=str(rank), LOCAL_RANK=str(rank), WORLD_SIZE=str(n), LOCAL_WORLD_SIZE=str(n))
    if quiet:
        warnings.simplefilter("ignore")


def _run(task: bytes, rank: int, n: int, store: str, timeout: float, **surroundings: Any) -> tuple[str, Any]:
    """How it ended, and the pickled result, or what was raised."""
    import torch
    import torch.distributed as dist

    try:
        _settle(rank, n, **surroundings)
        fn, args, replaced = cloudpickle.loads(task)
        for replace, functions in replaced:
            replace(functions)
        if backend(n) == "nccl":
            torch.cuda.set_device(rank)
        patience = datetime.timedelta(seconds=timeout + 60)  # who waits for ever is found out here first
        dist.init_process_group(backend(n), store=dist.FileStore(store, n), rank=rank, world_size=n, timeout=patience)
        result = fn(*args)
        try:
            return DONE, cloudpickle.dumps(result)
        except Exception as error:
            raise TypeError(f"what rank {rank} returned cannot be copied: {error}") from None
    except BaseException as error:
        return RAISED, parts(error, __file__)
