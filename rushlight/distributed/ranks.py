"""Ranks: the processes of a distributed program, started from a notebook.

`run_ranks(fn, n)` calls a function in n processes that form a process group, and returns the n results. Importing torch takes
seconds, so one process, the *fork server*, imports it once. The ranks of a call are forks of the fork server, and end with
the call. The function is sent to the ranks with everything that it uses (cloudpickle), even if it was defined in a notebook.
The functions with which a student has replaced the framework's are sent too. Each call has its own process group, whose store
is a file: it needs no port and no network.

Under torchrun there is nothing to start: `torchrun --nproc-per-node 2 program.py` runs the same function on ranks that find
each other by the environment (`init_process_group()` without a store). In PyTorch: `torch/multiprocessing/spawn.py`,
`torch/distributed/run.py`; in Python: `multiprocessing/forkserver.py`.
"""

import atexit
import contextlib
import ctypes
import datetime
import faulthandler
import functools
import gc
import importlib
import io
import itertools
import os
import pkgutil
import re
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

from rushlight.distributed import failures
from rushlight.utils import _extensions as extensions

TIMEOUT = 60.0  # seconds for a call
STILL = 5.0  # seconds without a running rank after which a deadlock is reported
GRACE = 2.0  # seconds that the other ranks have after one rank has failed
START_TIMEOUT = 300.0  # seconds within which the fork server must have imported torch
POLL_INTERVAL = 0.1  # seconds between two checks whether ranks run
MAX_PRINTED = 100_000  # characters kept of the output of a rank


def device() -> Any:
    """The device of this rank, decided here for all modules: on a machine with GPUs `cuda:<local rank>`, or `cuda:0` if it has
    fewer GPUs than ranks, which then share one. Otherwise the CPU. So the type of the device does not depend on the number of
    ranks. With `RUSHLIGHT_DEVICE=cpu` in the environment it is always the CPU."""
    import torch

    rank, ranks = (int(os.environ.get(name, default)) for name, default in (("LOCAL_RANK", 0), ("LOCAL_WORLD_SIZE", 1)))
    return torch.device("cuda", rank if "nccl" in backend(ranks) else 0) if _count_gpus() else torch.device("cpu")


def backend(ranks: int) -> str:
    """The communication backend: NCCL for tensors on GPUs, and gloo for those on the CPU, if each rank has its own GPU. Otherwise
    "gloo", because NCCL refuses two ranks on one GPU. Gloo copies a GPU's tensors to the CPU and back, but cannot `send` them."""
    import torch.distributed as dist

    return "cpu:gloo,cuda:nccl" if _count_gpus() >= ranks and dist.is_nccl_available() else "gloo"


def describe_devices() -> str:
    """A line that says where the ranks of this call compute, and over which backend. Call it on a rank."""
    ranks = int(os.environ["LOCAL_WORLD_SIZE"])
    where = "over NCCL, a GPU each" if "nccl" in backend(ranks) else "share cuda:0 over gloo"
    if not _count_gpus():
        where = f"on the CPU over gloo: {'RUSHLIGHT_DEVICE is cpu' if _is_kept_on_cpu() else 'no GPU here'}"
    return f"{ranks} ranks {where}"


def _is_kept_on_cpu() -> bool:
    return os.environ.get("RUSHLIGHT_DEVICE") == "cpu"


def _count_gpus() -> int:
    """The number of GPUs that ranks may use. Only a rank may ask: after the question, PyTorch may refuse CUDA in a fork."""
    import torch

    return 0 if _is_kept_on_cpu() else torch.cuda.device_count()


def run_ranks(fn: Callable, n: int = 2, *args: Any, timeout: float = TIMEOUT, still: float = STILL) -> list[Any]:
    """Call `fn(*args)` on `n` ranks, each in its own process, and return the list of results by rank.

    Within `fn` the default process group is initialised: `torch.distributed.get_rank()` returns the number of the rank, and
    the environment has the variables of torchrun (`RANK`, `LOCAL_RANK`, `WORLD_SIZE`, `LOCAL_WORLD_SIZE`). The output of all
    ranks is printed here at the end, with the rank's number before each line. Tensors are returned as copies.

    If there is a GPU for the ranks (see `device`), it is their default device. The tensors in `args` are moved to the GPU, and
    those in the result to the CPU. Otherwise a rank sees no GPU. A rank has a copy of the environment of this process, but sees
    the GPUs that `RUSHLIGHT_VISIBLE_DEVICES` names, because a notebook's own process may be kept from all of them.

    Args:
        fn: a function; it may be defined in a notebook. It and `args` are copied to the ranks.
        n: the number of ranks.
        timeout: seconds within which all ranks must finish.
        still: seconds after which ranks that all wait are assumed to wait forever (a rank must not sleep longer). On Linux
            and the CPU only: the threads of CUDA and NCCL poll.

    Raises:
        RanksFailed: a rank raised (the message has its traceback), died, or waits forever (the message says where). No
            process is left running.
        TypeError: `fn` or an argument cannot be copied.
        ValueError: `n` is not positive.

    Counterpart: `torch.multiprocessing.spawn`, which starts new processes.
    """
    if n < 1:
        raise ValueError(f"run_ranks: there must be at least one rank, not {n}")
    task = _pack(fn, args)
    with _fork_server.lock, _fork_server.ranks(n, fn) as ranks:
        why = _run_task(ranks, task, timeout, still)
    for rank in ranks:
        for line in rank.printed.splitlines():
            print(f"[rank {rank.number}] {line}")
        if rank.state != failures.DIED:  # otherwise the error contains it
            sys.stderr.write(rank.native_output)
    if any(rank.state != failures.DONE for rank in ranks):
        raise failures.build_error(ranks, why, _fork_server.torch)
    return [_unpack(rank) for rank in ranks]


class _Pickler(cloudpickle.CloudPickler):
    """Also copies a cached function of a notebook (`functools.cache`), without what it has cached. cloudpickle knows only its name,
    which the ranks do not have."""

    def reducer_override(self, value: Any) -> Any:
        if isinstance(value, _CachedFunction) and value.__module__ == "__main__":
            return _make_cached, (value.__wrapped__, value.cache_parameters())
        return super().reducer_override(value)


_CachedFunction = type(functools.cache(abs))


def _make_cached(function: Callable, parameters: dict[str, Any]) -> Callable:
    return functools.lru_cache(**parameters)(function)


def dumps(value: Any) -> bytes:
    """A copy of a value for ranks, which `cloudpickle.loads` reads there, with the functions and classes that it uses."""
    with io.BytesIO() as file:
        _Pickler(file).dump(value)
        return file.getvalue()


def _pack(fn: Callable, args: tuple) -> bytes:
    """The task of the ranks: a function, its arguments, and the functions that extensions have replaced here. An error names
    the part that cannot be copied."""
    filled = ((extension.replace, extension.replacements()) for extension in extensions.registered())
    replaced = [(replace, functions) for replace, functions in filled if functions]
    try:
        return dumps((fn, args, replaced))
    except Exception:
        copied = [("the function", fn)]
        copied += [(f"argument {i}, a {type(arg).__name__},", arg) for i, arg in enumerate(args)]
        names = itertools.chain(*(functions.items() for _, functions in replaced))
        copied += [(f"what fills {'.'.join(name)}", function) for name, function in names]
        for what, part in copied:
            try:
                dumps(part)
            except Exception as error:
                raise TypeError(f"run_ranks: {what} cannot be copied to the ranks: {error}") from None
        raise


def _unpack(rank: "_Rank") -> Any:
    try:
        return cloudpickle.loads(rank.result)
    except Exception as error:
        message = f"what rank {rank.number} returned cannot be copied to here: {type(error).__name__}: {error}"
        raise failures.RanksFailed(message, {rank.number: message}) from None


# A call, in the notebook's process -----------------------------------------------------------------------------------


class _Rank(failures.RankOutcome):
    """One rank of a call: its outcome, and the connections to it."""

    def __init__(self, number: int, connection: Connection, output: int) -> None:
        super().__init__(number)
        self.connection = connection
        self.output: int | None = output  # a pipe for the output of C++ and faulthandler
        self.pid = 0

    def receive(self) -> None:
        """Receive one message."""
        try:
            kind, content = cloudpickle.loads(self.connection.recv_bytes())
        except (EOFError, OSError):
            self.set_state(failures.DIED)
            return
        if kind in ("pid", "on_gpu"):
            setattr(self, kind, content)
        elif kind == "printed":
            self.printed += content
        else:
            self.set_state(kind, content)

    def read_output(self, seconds: float = 0.0) -> str:
        """The output of C++ or of faulthandler, waiting up to `seconds` for it."""
        text = b""
        while self.output is not None and wait([self.output], seconds if not text else min(seconds, 0.05)):
            part = os.read(self.output, 1 << 16)
            text += part
            if not part:
                self.close_output()
        return text.decode(errors="replace")

    def close_output(self) -> None:
        if self.output is not None:
            os.close(self.output)
            self.output = None

    def collect_output(self) -> None:
        self.native_output = (self.native_output + self.read_output())[-MAX_PRINTED:]


def _run_task(ranks: list[_Rank], task: bytes, timeout: float, still: float) -> str:
    """Run a task on ranks until each is done or one has failed. Return the reason if they did not end by themselves."""
    store = Path(_fork_server.folder, f"store-{time.monotonic_ns()}")
    settings = {"n": len(ranks), "store": str(store), "timeout": timeout, "path": sys.path, "environ": _environment()}
    settings["quiet"] = warnings.filters[:1] == [("ignore", None, Warning, None, 0)]
    with contextlib.suppress(FileNotFoundError):  # the current folder may have been deleted
        settings["folder"] = os.getcwd()
    for rank in ranks:
        with contextlib.suppress(OSError):  # the rank has died, which `receive` will detect
            rank.connection.send_bytes(cloudpickle.dumps(settings | {"rank": rank.number}))
            rank.connection.send_bytes(task)
    why = _wait_for_ranks(ranks, timeout, still)
    for rank in ranks:
        rank.collect_output()
        if rank.state == failures.RUNNING:
            with contextlib.suppress(ProcessLookupError):
                os.kill(rank.pid, signal.SIGUSR1)
                rank.stack = rank.read_output(1.0)
    store.unlink(missing_ok=True)
    return why


def _environment() -> dict[str, str]:
    """The environment of ranks: this process's, but with all GPUs, which may be hidden from a notebook's own process."""
    environ = dict(os.environ)
    if (visible := environ.get("RUSHLIGHT_VISIBLE_DEVICES")) and not _is_kept_on_cpu():
        for name in ("CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "ONEAPI_DEVICE_SELECTOR"):
            environ.pop(name, None)
        environ |= {} if visible == "all" else {"CUDA_VISIBLE_DEVICES": visible}
    return environ


def _wait_for_ranks(ranks: list[_Rank], timeout: float, still: float) -> str:
    """Receive messages until all ranks have ended, a deadlock is found, or the time is over."""
    start = ran = time.monotonic()
    deadline, checked, failed = start + timeout, start, False
    switches, polls, polled = None, [], []
    while running := [rank for rank in ranks if rank.state == failures.RUNNING]:
        connections = {rank.connection: rank for rank in running}
        outputs = {rank.output: rank for rank in ranks if rank.output is not None}
        ready = wait([*connections, *outputs, _fork_server.control], POLL_INTERVAL)
        for source in ready:  # a rank's messages are handled before its exit status
            if source in connections:
                connections[source].receive()
            elif source in outputs:
                outputs[source].collect_output()
        if ready == [_fork_server.control]:
            _fork_server.record_exit(ranks)
            for rank in running:
                if rank.status is not None:
                    rank.set_state(failures.DIED)
        now = time.monotonic()
        if not failed and any(rank.state in (failures.RAISED, failures.DIED) for rank in ranks):
            failed, deadline, still = True, min(deadline, now + GRACE), min(still, 3 * POLL_INTERVAL)
        if now >= checked + POLL_INTERVAL:
            before, (switches, polls), checked = switches, _context_switches(running), now
            if switches is None or switches != before:
                ran, polled = now, polls
            elif now >= ran + still and all(last > first for first, last in zip(polled, polls)):
                return failures.DEADLOCK
        if now >= deadline:
            limits = " (on a GPU, a deadlock cannot be told from long work)" * any(rank.on_gpu for rank in ranks)
            return f"not done within {timeout:g} s{limits}"
    return ""


def _context_switches(ranks: Iterable[_Rank]) -> tuple[list | None, list[int]]:
    """The number of context switches of each thread of these processes. None if a thread is runnable, if a process is on a GPU, or
    if this system does not say. Threads that poll, such as gloo's in each process, are counted in the second list. A message may
    have arrived that they have not seen yet, until they have polled again."""
    switches, polls = [], []
    try:
        for rank in ranks:
            for task in sorted(Path(f"/proc/{rank.pid}/task").iterdir()):
                status = (task / "status").read_text()
                times = sum(map(int, re.findall(r"ctxt_switches:\s*(\d+)", status)))
                if status.startswith("Name:\tgloo_tcp_loop"):
                    polls.append(times)
                elif "State:\tS" in status and not rank.on_gpu and not (task / "children").read_text():
                    switches.append((task.name, times))
                else:  # the thread is runnable, may wait for a GPU or a disk, or has started another process such as a compiler
                    return None, []
    except OSError:
        return None, []
    return switches, polls


# The fork server, in the notebook's process --------------------------------------------------------------------------


class _ForkServer:
    """The process that forks ranks. It ends its ranks and itself when its connection to this process closes for any reason.
    So no process is left running when this process is killed."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.process: subprocess.Popen | None = None
        self.socket: socket.socket | None = None  # for passing file descriptors
        self.control: Connection | None = None  # the same socket, for messages
        self.folder = self.torch = ""

    def forget(self) -> None:
        """Forget the server in a fork of this process, because it belongs to the parent."""
        self.disconnect()
        self.__init__()

    def disconnect(self) -> None:
        for channel in (self.socket, self.control):
            if channel is not None:
                channel.close()
        self.socket = self.control = None

    @contextlib.contextmanager
    def ranks(self, n: int, fn: Callable) -> Iterator[list[_Rank]]:
        """A context with n new ranks. They have ended afterwards, also after an interrupt."""
        module = (getattr(fn, "__module__", None) or "").encode()
        importable = {b"rushlight", *(extension.package.encode() for extension in extensions.registered())}
        if module.partition(b".")[0] not in importable:  # a student's own modules may change between calls
            module = b"-"
        if self.process is None or self.process.poll() is not None:
            self.start()
        with self.stop_on_error():
            ranks = [self.fork(number, module) for number in range(n)]
        try:
            yield ranks
        finally:
            with self.stop_on_error():
                self.end(ranks)

    @contextlib.contextmanager
    def stop_on_error(self) -> Iterator[None]:
        """Stop the server, and with it its ranks, if an error or an interrupt leaves an operation half done."""
        try:
            yield
        except (EOFError, OSError):
            self.stop()
            raise RuntimeError("the process that starts ranks has ended; is torch installed here?") from None
        except BaseException:
            self.stop()
            raise

    def start(self) -> None:
        if not hasattr(os, "fork"):
            raise RuntimeError("ranks are forks of a process, so they need Linux or macOS: on Windows, use WSL 2")
        self.stop()
        here, there = socket.socketpair()
        self.socket, self.control = here, Connection(os.dup(here.fileno()))
        begin = f"import sys; sys.path[:] = {sys.path!r}; from rushlight.distributed.ranks import _run_server; _run_server()"
        with self.stop_on_error(), there:
            self.process = subprocess.Popen(
                [sys.executable, *subprocess._args_from_interpreter_flags(), "-c", begin],
                stdin=there,
                stdout=2,  # the output of C++ must not mix with the output of this process
                start_new_session=True,
            )
            there.close()
            if not self.control.poll(START_TIMEOUT):
                raise RuntimeError(f"the process that starts ranks was not ready within {START_TIMEOUT:g} s")
            self.folder, self.torch = cloudpickle.loads(self.control.recv_bytes())

    def fork(self, number: int, module: bytes) -> _Rank:
        """A new rank, which waits for its task."""
        here, there = socket.socketpair()
        output, write = os.pipe()
        rank = _Rank(number, Connection(here.detach()), output)
        socket.send_fds(self.socket, [module], [there.fileno(), write])
        there.close()
        os.close(write)
        rank.receive()
        return rank

    def end(self, ranks: list[_Rank]) -> None:
        """Kill ranks and the processes that they started. Wait until they have ended, and record the exit status of those
        that had died."""
        for rank in ranks:
            with contextlib.suppress(ProcessLookupError):
                if rank.pid:
                    os.killpg(rank.pid, signal.SIGKILL)
            rank.connection.close()
            rank.close_output()
        while any(rank.pid and rank.status is None for rank in ranks):
            self.record_exit(ranks)

    def record_exit(self, ranks: list[_Rank]) -> None:
        """Receive the exit status of one process, and record it if the process is one of these ranks."""
        pid, status = cloudpickle.loads(self.control.recv_bytes())
        for rank in ranks:
            if rank.pid == pid:
                rank.status = status

    def stop(self) -> None:
        """End the fork server. The next call starts a new one."""
        self.disconnect()  # this ends the server
        process, self.process = self.process, None
        if process is not None:
            try:
                process.wait(5.0)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            if self.folder:  # left over if the server was killed
                shutil.rmtree(self.folder, ignore_errors=True)


_fork_server = _ForkServer()
if hasattr(os, "fork"):
    os.register_at_fork(after_in_child=_fork_server.forget)
stop = _fork_server.stop
atexit.register(stop)


# The fork server's process, and a rank's -----------------------------------------------------------------------------


def _run_server() -> None:
    """Import torch, report that the server is ready, and fork ranks until standard input closes. Then end all ranks."""
    torch_folder = _prepare_forks()
    server = socket.socket(fileno=0)
    control = Connection(os.dup(0), readable=False)
    folder = tempfile.mkdtemp(prefix="ranks-")
    ranks: set[int] = set()

    def ended(*_: Any) -> None:
        with contextlib.suppress(ChildProcessError, OSError):
            while (exited := os.waitpid(-1, os.WNOHANG))[0]:
                ranks.discard(exited[0])
                control.send_bytes(cloudpickle.dumps(exited))

    signal.signal(signal.SIGCHLD, ended)
    import resource  # it does not exist on Windows, where no rank starts

    with contextlib.suppress(ValueError):
        hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
        resource.setrlimit(resource.RLIMIT_CPU, (hard, hard))  # the limit of the parent does not apply here
    control.send_bytes(cloudpickle.dumps((folder, torch_folder)))
    _fork_ranks(server, control, ranks)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    for pid in ranks:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(pid, signal.SIGKILL)
    shutil.rmtree(folder, ignore_errors=True)


def _prepare_forks() -> str:
    """Import torch and this package, and prepare their memory for forks. Return the folder of torch."""
    import torch
    import torch._dynamo  # DDP and fully_shard import it when they first run
    import torch.distributed.fsdp
    import torch.distributed.tensor

    for module in pkgutil.iter_modules([str(Path(__file__).parent)]):
        with contextlib.suppress(Exception):  # a rank that needs the module will raise the error
            importlib.import_module(f"rushlight.distributed.{module.name}")
    torch.set_num_threads(1)
    # Done once here for all ranks, because a fork copies each page that it writes to
    torch.manual_seed(0)
    torch._dynamo.trace_rules.clear_lru_cache()  # a new process group would do this
    gc.freeze()  # a collection in a fork would write to all objects, and so copy them
    _use_large_pages()
    return str(Path(torch.__file__).parent)


def _fork_ranks(server: socket.socket, control: Connection, ranks: set[int]) -> None:
    """Fork a rank for each message, and add its process id to `ranks`. Return when the socket closes."""
    while True:
        module, handles, _, _ = socket.recv_fds(server, 1000, 2)
        if not handles:
            return  # the notebook's process has ended
        with contextlib.suppress(Exception):
            importlib.import_module(module.decode())
        with contextlib.suppress(OSError):  # if no process can be started, the connection closes
            pid = os.fork()
            if pid == 0:
                control.close()
                _run_rank(*handles)
            ranks.add(pid)
        for handle in handles:
            os.close(handle)


def _use_large_pages() -> None:
    """Back the memory of this process by pages of 2 MiB, where Linux offers them. Most of the cost of a fork is copying the
    page table, and freeing it."""
    if sys.platform != "linux":
        return
    madvise, collapse, large = ctypes.CDLL(None).madvise, 25, 1 << 21  # MADV_COLLAPSE: a Linux without it refuses
    for line in Path("/proc/self/maps").read_text().splitlines():
        addresses, permissions, _, _, inode, *_ = line.split()
        if permissions == "rw-p" and inode == "0":  # not mapped from a file
            first, last = (int(address, 16) for address in addresses.split("-"))
            start = -(-first // large) * large
            if start + large <= last:
                length = (last - start) // large * large
                madvise(ctypes.c_void_p(start), ctypes.c_size_t(length), collapse)


def _run_rank(handle: int, output: int) -> None:
    """Run one rank: receive a task, send its outcome. The other process ends this one."""
    os.setpgid(0, 0)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(output, 1)
    os.dup2(output, 2)
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG: the rank ends when the server ends
    faulthandler.register(signal.SIGUSR1, output, all_threads=False)
    faulthandler.enable(output)
    connection = Connection(handle)
    try:
        connection.send_bytes(cloudpickle.dumps(("pid", os.getpid())))
        settings = cloudpickle.loads(connection.recv_bytes())
        task = connection.recv_bytes()
        printed = _Output(connection)
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
            outcome = _call(task, connection=connection, **settings)
        with printed.lock:
            connection.send_bytes(cloudpickle.dumps(outcome))
        connection.recv_bytes()
    finally:
        os._exit(0)


class _Output(io.TextIOBase):
    """Sends what a rank prints at once, so that the output of a rank that hangs or dies is complete."""

    def __init__(self, connection: Connection) -> None:
        self.connection, self.remaining, self.lock = connection, MAX_PRINTED, threading.RLock()

    def write(self, text: str) -> int:
        with self.lock:
            if text and self.remaining > 0:
                self.connection.send_bytes(cloudpickle.dumps(("printed", str(text[: self.remaining]))))
                self.remaining -= len(text)
        return len(text)


def _call(task: bytes, rank: int, n: int, store: str, timeout: float, **settings: Any) -> tuple[str, Any]:
    """Run a task as in the notebook's process. Return the rank's final state, and the pickled result or the exception."""
    import torch
    import torch.distributed as dist

    try:
        sys.path[:] = settings["path"]
        os.chdir(settings.get("folder", "/"))
        os.environ.clear()  # the fork server may have started within a check, which keeps its ranks on the CPU
        os.environ.update(settings["environ"])
        os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo0" if sys.platform == "darwin" else "lo")
        os.environ.update(RANK=str(rank), LOCAL_RANK=str(rank), WORLD_SIZE=str(n), LOCAL_WORLD_SIZE=str(n))
        if settings["quiet"]:
            warnings.simplefilter("ignore")
        fn, args, replaced = cloudpickle.loads(task)
        for replace, functions in replaced:
            replace(functions)
        place, chosen = device(), backend(n)
        if place.type == "cuda":
            settings["connection"].send_bytes(cloudpickle.dumps(("on_gpu", True)))
            torch.cuda.set_device(place)
            torch.set_default_device(place)
            args = _move(args, place)
        else:  # otherwise what asks torch for an accelerator, as `fully_shard` does, would be on a GPU
            os.environ["CUDA_VISIBLE_DEVICES"] = ""
        limit = datetime.timedelta(seconds=timeout + 60)  # run_ranks finds a deadlock first
        dist.init_process_group(chosen, store=dist.FileStore(store, n), rank=rank, world_size=n, timeout=limit)
        result = fn(*args)
        if place.type == "cuda":
            result = _move(result, torch.device("cpu"))
        try:
            return failures.DONE, cloudpickle.dumps(result)
        except Exception as error:
            raise TypeError(f"what rank {rank} returned cannot be copied: {error}") from None
    except BaseException as error:
        return failures.RAISED, failures.flatten_exception(error, __file__)


def _move(tree: Any, place: Any) -> Any:
    """Nested arguments or results with their tensors and modules on another device."""
    import torch
    from torch.utils._pytree import tree_map_only

    return tree_map_only((torch.Tensor, torch.nn.Module), lambda value: value.to(place), tree)
