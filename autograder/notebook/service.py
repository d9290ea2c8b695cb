"""One judge for all notebooks of a machine: a process that has loaded torch and the checks, and forks a judge for each kernel.

The forks share the loaded pages, so a further notebook costs only what its own checks write. The parent reads nothing that a
client sends. The kernel of the machine says which user has connected, and the fork becomes that user, under limits, before it
reads the first byte. Messages are those of a notebook's own judge: plain data, of bounded size. A case from outside can hold a
program, so a fork replays only the cases that it has shown itself.

`connect` is the side of a notebook. It finds no service where there is none, where the service's code is another version, or
where the service refuses. The notebook then starts a judge of its own, and the verdicts are the same. (Linux only.)
"""

from __future__ import annotations

import contextlib
import gc
import os
import secrets
import shutil
import signal
import socket
import struct
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from importlib import import_module, metadata
from pathlib import Path
from typing import BinaryIO

from ..engine.observe import GradingError, Malformed, Tree, receive, send

with contextlib.suppress(ImportError):  # Windows has neither this nor such sockets
    import resource

PATH = "/run/rushlight/judge.sock"  # RUSHLIGHT_JUDGE names another; an empty value means none
MAX_NOTEBOOKS = 8  # of one user at the same time
MAX_STARTS = 30  # of one user in a minute
MEMORY = 2 << 30  # bytes that one judge may write, like the largest check needs three times over
CPU_SECONDS = 300  # of one judge, between two messages of its client
MOST_CPU_SECONDS = 3600  # of one judge: its user can lift the limit above, by `prlimit`, but not this one
SILENCE_SECONDS = 900  # between two messages of a client: a slow one, one that does not read, and one that is away
GRACE_SECONDS = 5  # until the service ends a fork that its alarm should have ended
LOOK_SECONDS = 0.5  # between two looks at all forks
QUEUE = 4096  # connections that wait for the service
ANSWER_SECONDS = 30  # until the service is taken to be out of order: on a busy machine a fork may wait
_CREDENTIALS = struct.Struct("3i")  # pid, uid, gid


def version() -> Tree:
    """Return what must be the same in a notebook and in the service: the folder of the code, its files, and torch."""
    folder = Path(__file__).resolve().parents[1]
    files = [path.stat() for path in folder.rglob("*.py")]
    newest = max(file.st_mtime_ns for file in files)
    return [str(folder), len(files), sum(file.st_size for file in files), newest, metadata.version("torch")]


def _peer(connection: socket.socket) -> tuple[int, int]:
    """The user and the group of the process at the other end."""
    sent = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
    return _CREDENTIALS.unpack(sent)[1:]


# A notebook's side ---------------------------------------------------------------------------------------------------


def connect() -> socket.socket | None:
    """A connection to a judge of the service, or None."""
    path = os.environ.get("RUSHLIGHT_JUDGE", PATH)
    if not path or not hasattr(socket, "SO_PEERCRED"):
        return None
    connection = socket.socket(socket.AF_UNIX)
    with contextlib.suppress(OSError, EOFError, Malformed, metadata.PackageNotFoundError):
        connection.settimeout(ANSWER_SECONDS)
        _wait_in_queue(connection, path)
        if _peer(connection)[0] in (0, os.geteuid()):  # another user's programs must not run in this kernel
            with connection.makefile("rb") as stream:
                if receive(stream) == {"version": version()}:
                    connection.settimeout(SILENCE_SECONDS)
                    return connection
    connection.close()
    return None


def _wait_in_queue(connection: socket.socket, path: str) -> None:
    """Connect. While the service's queue is full, which one user can bring about, try again."""
    deadline = time.monotonic() + ANSWER_SECONDS
    while True:
        try:
            return connection.connect(path)
        except BlockingIOError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)


# The service ---------------------------------------------------------------------------------------------------------


def serve(path: Path) -> None:
    """Serve until interrupted: as root all users of this machine, otherwise this user only."""
    listener = _listen(path)
    loaded = version()
    _load()
    print(f"rushlight: judging for {'all users' if os.geteuid() == 0 else 'this user'} at {path}", flush=True)
    judges: dict[int, int] = {}  # the user of each fork, by pid
    progress: dict[int, tuple[list[str], float]] = {}  # how often each fork has run, and since when it has not
    started: Counter[int] = Counter()  # in this minute, by user
    minute = looked = time.monotonic()
    while True:
        if (
            time.monotonic() > looked + LOOK_SECONDS
        ):  # a look takes longer than to refuse a connection: a flood must not wait for it
            _reap(judges)
            _end_stopped(judges, progress)
            looked = time.monotonic()
        if time.monotonic() > minute + 60:
            started.clear()
            minute = time.monotonic()
        try:
            connection, _ = listener.accept()
        except TimeoutError:
            continue
        except OSError:  # this machine has no room for another open file: the client still waits
            time.sleep(0.2)
            continue
        with connection, contextlib.suppress(OSError, MemoryError):  # or for another process
            user, group = _peer(connection)
            if os.geteuid() not in (0, user) or started[user] >= MAX_STARTS:
                continue
            _reap(judges)
            if Counter(judges.values())[user] < MAX_NOTEBOOKS:
                started[user] += 1
                judges[_fork(connection, listener, user, group, loaded)] = user


def _listen(path: Path) -> socket.socket:
    """The socket, open to all users of the machine if root serves them, with an address that no living service has."""
    listener = socket.socket(socket.AF_UNIX)
    with contextlib.closing(socket.socket(socket.AF_UNIX)) as other, contextlib.suppress(OSError):
        other.connect(str(path))
        raise GradingError(f"there is a judge at {path} already")
    before = os.umask(0o022)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.is_socket():  # of a service that has ended
            path.unlink()
        os.umask(0 if os.geteuid() == 0 else 0o177)
        listener.bind(str(path))
    except PermissionError:
        raise GradingError(f"{path.parent} is not yours to write to: name another place by --socket") from None
    finally:
        os.umask(before)
    listener.listen(QUEUE)
    listener.settimeout(1.0)
    return listener


def _load() -> None:
    """Import torch, the parts of it that checks use, and the checks; a fork then shares all of this."""
    for module in (
        "autograder.engine.torch_source",
        "torch._dynamo",
        "torch._inductor.compile_fx",
        "torch.distributed",
    ):
        import_module(module)
    import torch

    from ..engine.check import registry

    torch.set_num_threads(1)
    for check in registry().values():
        _ = check.edges
    gc.collect()
    gc.freeze()  # a collection in a fork would write to all of these objects
    threads = len(os.listdir("/proc/self/task"))
    if threads > 1:
        raise GradingError(f"{threads} threads run in the judge, and a fork would have only one of them")


def _reap(judges: dict[int, int]) -> None:
    """Forget the forks that have ended, with all processes that they started."""
    for pid in [*judges]:
        if os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(pid, signal.SIGKILL)  # while no other process can have the number
            os.waitpid(pid, 0)
            del judges[pid]


def _end_stopped(judges: dict[int, int], progress: dict[int, tuple[list[str], float]]) -> None:
    """End the forks that have not run for longer than their own alarm allows. A user can stop a fork, and its alarm with it."""
    now = time.monotonic()
    for pid in progress.keys() - judges.keys():
        del progress[pid]
    for pid in judges:
        with contextlib.suppress(OSError):  # no room for another open file: the next look will do
            lines = Path(f"/proc/{pid}/status").read_text().splitlines()
            switches = [line for line in lines if "ctxt_switches" in line]
            last, since = progress.get(pid, ([], now))
            progress[pid] = switches, now if switches != last else since
            if now - progress[pid][1] > SILENCE_SECONDS + GRACE_SECONDS:
                os.kill(pid, signal.SIGKILL)


def _fork(connection: socket.socket, listener: socket.socket, user: int, group: int, loaded: Tree) -> int:
    """Start a judge for one connection, and return its pid."""
    pid = os.fork()
    if pid:
        return pid
    try:
        listener.close()
        _become(user, group)
        with _own_cache(), connection.makefile("rb") as source, connection.makefile("wb") as target:
            from ..engine.judge import serve

            send(target, {"version": loaded})
            serve(_Limited(source), target, any_case=False)
    finally:
        os._exit(0)  # without what the parent would do at its end


def _become(user: int, group: int) -> None:
    """Make this process one of the user's, with a session of its own and limits, and without a terminal or a log."""
    os.setsid()
    null = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1, 2):
        os.dup2(null, standard)
    Path("/proc/self/oom_score_adj").write_text("500")  # a judge ends before the service does
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, MOST_CPU_SECONDS))
    if os.geteuid() == 0:
        os.setgroups([])
        os.setresgid(group, group, group)
        os.setresuid(user, user, user)
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@contextlib.contextmanager
def _own_cache() -> Iterator[None]:
    """Within: Inductor's folder is this process's own. Inductor makes it when it needs it, and has had its parent's until now."""
    folder = os.environ["TORCHINDUCTOR_CACHE_DIR"] = f"{tempfile.gettempdir()}/judge-{secrets.token_hex(8)}"
    try:
        yield
    finally:
        shutil.rmtree(folder, ignore_errors=True)


class _Limited:
    """A stream from a client. The process ends if the next bytes do not come, or take too much of its time to judge."""

    def __init__(self, source: BinaryIO):
        self.source = source

    def read(self, count: int) -> bytes:
        signal.alarm(SILENCE_SECONDS)
        used = sum(resource.getrusage(resource.RUSAGE_SELF)[:2])
        _, most = resource.getrlimit(resource.RLIMIT_CPU)
        resource.setrlimit(resource.RLIMIT_CPU, (min(int(used) + CPU_SECONDS, most), most))
        return self.source.read(count)


ONE_THREAD = {f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "MKL")}


def main(path: str) -> None:
    """Serve, in a Python in which no library starts a thread, because a fork would not have that thread."""
    if not hasattr(socket, "SO_PEERCRED"):
        raise GradingError("one judge for several notebooks needs Linux; here each notebook starts its own")
    if not ONE_THREAD.items() <= os.environ.items():
        command = [sys.executable, "-m", "autograder.cli", "judge", "--socket", path]
        os.execve(sys.executable, command, os.environ | ONE_THREAD)
    serve(Path(path).absolute())
