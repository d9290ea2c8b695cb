"""The sandbox: one process for one submission, without access to this machine.

bubblewrap gives the subject its own process space, no network, an empty home, and a read-only view of Python, of the few
packages that a lab may import, and of the lab's edition. The kernel refuses system calls that lead out of that (`seccomp.py`).
One pair of pipes leads in and out. When the subject ends, by an exit, a crash or a time limit, all processes that it started
end too.
"""

from __future__ import annotations

import importlib.metadata
import os
import random
import re
import select
import shutil
import signal
import subprocess
import sys
import sysconfig
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import ExitStack, contextmanager, suppress
from functools import cache, partial
from pathlib import Path
from typing import IO, TYPE_CHECKING, TypeVar

with suppress(ImportError):  # a browser's Python has no processes
    import psutil

from ..language import phrase
from . import overlay, seccomp
from .check import packages_of
from .devices import ON_CPU
from .limits import WALL_CLOCK_FACTOR, WATCH_SECONDS, OwnTime, too_long
from .observe import MAX_LINE, Malformed, NotGraded, SubjectDied, SubjectTimedOut, Tree, clean, encode, receive

if TYPE_CHECKING:
    from ..model import Lab

T = TypeVar("T")

PATH = "/usr/bin:/bin"  # in the sandbox
PACKAGES = ("ipython", "matplotlib", "ml_dtypes", "numpy")  # and all that they require
TORCH_PACKAGES = (*PACKAGES, "cloudpickle", "pyyaml", "torch")
INDUCTOR = ("on_torch.custom_ops.register_",)  # exercises that a check compiles by torch's default backend
CUDA = "aten.native.cuda."  # exercises that a check compiles and runs on the host
TRITON = "triton"  # the package, which a lab may need
COMPILED = ("utils.cpp_extension.", CUDA, "on_torch.cpp_ops.", *INDUCTOR)
MEMORY = 2 << 30  # bytes of address space per process; with torch, of writable memory
TORCH_SPACE = 64 << 30  # bytes of address space with torch: the libraries of a CUDA build are files of several GiB
TOTAL_MEMORY = 3 << 30  # bytes that all its processes use together
PROCESSES = 64  # and threads
TORCH_PROCESSES = 128  # a rank of a distributed program has three threads for each of its groups
OPEN_FILES = 256
FILES = 64 << 20  # bytes: the largest file, and each of the two writable folders
INODES = 100_000  # files, folders and links in each of the two: they take memory of the kernel, as sockets do
SOCKETS = 500  # lab 09 takes 44
START_SECONDS = 60.0
GRACE_SECONDS = 1.0  # from the end of its pipe to its own end
MAX_PRINTED = 1 << 16  # bytes that are kept of what it prints
POSIX = hasattr(os, "killpg")  # on Windows there are no process groups, and `select` does not wait for pipes
KERNEL_FOLDER = "/kernels"  # in the sandbox, of kernels that Inductor has compiled
KERNEL_CHOICES = (
    "ATEN_CPU_CAPABILITY",
    "OPENBLAS_CORETYPE",
)  # which ones torch and numpy run: the judge's choice holds

# The kernel does not count the processes of root, so a subject that root starts becomes a user of its own. If the machine
# runs out of memory, the kernel ends the subject's processes first.
_BOOT = """
import os, resource, sys
with open("/proc/self/oom_score_adj", "w") as file:
    file.write("1000")
if {user}:
    os.setgroups([])
    os.setresgid({user}, {user}, {user})
    os.setresuid({user}, {user}, {user})
for limit, most in {limits}:
    resource.setrlimit(getattr(resource, limit), (most, most))
sys.path[:0] = {path}
{then}
"""
_BOOT_ELSEWHERE = "import sys; sys.path[:0] = {path}; {then}"  # not on Linux: nothing limits what a subject takes
_SERVE = "import gc; gc.disable(); from autograder.engine.subject import main; main()"  # nothing is garbage yet
_SERVE_TORCH = f"import gc; gc.disable(); import torch; {_SERVE}"  # so that the import takes none of a cell's time


def unavailable(lab: Lab, isolated: bool) -> str | None:
    """Why this machine cannot run submissions of a lab, with advice, or None. Without a sandbox they only need the compiler, and
    Triton."""
    return isolated and missing(lab.course.private_folders) or missing_compiler(lab) or missing_triton(lab)


def missing(private: Sequence[Path] = ()) -> str | None:
    """Why no sandbox without these folders is available on this machine, with advice, or None. A process tries it once."""
    if sys.platform != "linux":
        return (
            "the sandbox needs Linux (on Windows, WSL 2): use one, or grade with --no-sandbox (the report will say so)"
        )
    if shutil.which("bwrap") is None:
        return "bubblewrap is not installed: `apt-get install bubblewrap`, or grade with --no-sandbox (the report will say so)"
    return _tried(tuple(path for path in private if path.is_relative_to("/usr")))  # no other is in a sandbox


@cache
def _tried(private: tuple[Path, ...]) -> str | None:
    """What is wrong with the sandbox of this machine, or None."""
    trial = _try(_user(), f"import numpy{_FIND_TORCH}", private)
    if trial.returncode != 0:
        reason = trial.stderr.strip().splitlines()[-1] if trial.stderr.strip() else f"exit code {trial.returncode}"
        return (
            f"bubblewrap cannot make a sandbox here ({reason}): allow user namespaces"
            " (`sysctl kernel.unprivileged_userns_clone=1`), or grade with --no-sandbox (the report will say so)"
        )
    if torch := trial.stdout.strip():
        return f"a submission could read torch on this machine, in {torch}: remove it, or move it out of /usr"
    return None


def missing_compiler(lab: Lab) -> str | None:
    """Why this machine cannot compile the C++ of a lab, with advice, or None."""
    compiles, inductor = (any(name.startswith(begins) for name in lab.exercises) for begins in (COMPILED, INDUCTOR))
    if compiles and not any(shutil.which(name, path=PATH) for name in ("g++", "clang++", "c++")):
        return f"lab {lab} compiles C++, and there is no compiler in {PATH}: `apt-get install g++`"
    if inductor and not Path(sysconfig.get_path("include"), "Python.h").exists():
        return f"lab {lab} compiles C++ for Python, and there is no Python.h: `apt-get install python3-dev`"
    return None


def missing_triton(lab: Lab) -> str | None:
    """Why this machine cannot run the Triton of a lab, with advice, or None."""
    if TRITON not in packages_of(lab.name):
        return None
    from rushlight.inductor import triton_heuristics  # a quarter of a second

    return (
        None
        if triton_heuristics.is_installed()
        else f"lab {lab} runs kernels in Triton: {triton_heuristics.NOT_INSTALLED}"
    )


class Sandbox:
    """A running subject. `request` sends it one message and waits for the answer, as long as the subject may take.

    `seconds` is the own time that it has taken for its requests. If it is isolated, it can read `kernels`, which Inductor has
    compiled (their content by their names), or keeps its own in the folder `filling`. Nothing of the folders `private` is in it.
    It may import these `packages` too, and these files of packages are `replaced` by a text. Raises NotGraded if it does not start.
    """

    def __init__(
        self,
        edition: Path,
        isolated: bool = True,
        with_torch: bool = False,
        kernels: Mapping[str, bytes] | None = None,
        filling: Path | None = None,
        private: Sequence[Path] = (),
        packages: tuple[str, ...] = (),
        replaced: Mapping[str, str] | None = None,
    ):
        self.isolated, kernels, replaced = isolated, kernels or {}, replaced or {}
        with ExitStack() as stack:
            given = [seccomp.program(with_torch), *kernels.values()] if isolated else []
            given += [text.encode() for text in replaced.values()] if isolated else []
            files = [stack.enter_context(_file(content)) for content in given]
            self.process = subprocess.Popen(
                _isolated(edition, with_torch, files, kernels, filling, private, packages, replaced)
                if isolated
                else _bare(edition, with_torch, overlay.linked(replaced) if replaced else None),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,  # cells are captured: it has what the interpreter and libraries say as they end
                env={
                    **({} if POSIX else os.environ),  # Python does not start on Windows without some of it
                    "PATH": PATH if POSIX else os.environ["PATH"],
                    "LANG": "C.UTF-8",
                    "HOME": "/tmp",
                    "MPLBACKEND": "agg",
                    **ON_CPU,
                    "OPENBLAS_NUM_THREADS": "1",
                    "OMP_NUM_THREADS": "1",
                    "AOT_INDUCTOR_ENABLE_LINE_TABLES": "0",  # they take a third of the time in which g++ compiles a kernel
                    **({"RUSHLIGHT_KERNELS": KERNEL_FOLDER} if kernels or filling else {}),
                    **{name: os.environ[name] for name in KERNEL_CHOICES if name in os.environ},
                },
                cwd="/tmp" if POSIX else tempfile.gettempdir(),
                start_new_session=True,
                bufsize=0,
                pass_fds=files,
            )
        self.seconds, self.last_line, self.printed = 0.0, "", bytearray()
        self.reader = threading.Thread(target=_keep_end, args=(self.process.stderr, self.printed), daemon=True)
        self.reader.start()
        try:
            self._exchange(b"", START_SECONDS)
        except SubjectTimedOut:
            raise NotGraded("the sandbox does not start") from None
        except SubjectDied as error:  # no code of a student has run
            raise NotGraded(f"the sandbox does not start: {self.last_line or error}") from None

    def request(self, message: Tree, seconds: float) -> Tree:
        """The answer to a message, or with None the next answer to the last one. Raises SubjectDied, SubjectTimedOut (after
        `seconds` of own time), Malformed or NotGraded; after any of them the sandbox is closed."""
        return self._exchange(b"" if message is None else encode(message), seconds)

    def _exchange(self, data: bytes, seconds: float) -> Tree:
        pipes = _Pipes(self.process, seconds, self.isolated)
        try:
            pipes.write(data)
            return receive(pipes)
        except (EOFError, OSError):
            with suppress(subprocess.TimeoutExpired):  # its pipe closes a moment before it ends
                self.process.wait(GRACE_SECONDS)
            self.close()
            ending = _ending(self.process)
            said = phrase(f'{ending}; the last line that it printed is "{self.last_line}"')
            raise SubjectDied(said if self.last_line else ending) from None
        except (SubjectDied, SubjectTimedOut, Malformed, NotGraded):
            self.close()
            raise
        finally:
            self.seconds += pipes.clock.seconds()

    def close(self) -> None:
        """End the subject and all processes that it started."""
        if self.process.poll() is None:
            _kill(self.process)
        self.process.wait()
        self.reader.join(GRACE_SECONDS)  # a process that it started may still hold the pipe
        self.last_line = _plain(self.printed.decode(errors="replace").strip().rpartition("\n")[2])
        for pipe in (self.process.stdin, self.process.stdout, None if self.reader.is_alive() else self.process.stderr):
            if pipe is not None:
                pipe.close()


def _keep_end(pipe: IO[bytes], kept: bytearray) -> None:
    """Read a pipe until it is closed, so that no writer waits or fails, and keep the end of what was written."""
    while part := pipe.read(MAX_PRINTED):
        kept += part
        del kept[:-MAX_PRINTED]


def _plain(line: str) -> str:
    """A printed line without what is another one on another machine: the folders of paths, and addresses."""
    return clean(re.sub(r"(?<![\w.])/(?:[^\s/'\"]+/)+|(?<=\b0x)[0-9a-f]+", "", line), MAX_LINE)


def _kill(process: subprocess.Popen) -> None:
    if POSIX:
        return os.killpg(process.pid, signal.SIGKILL)
    with suppress(psutil.NoSuchProcess):
        whole = psutil.Process(process.pid)
        for member in [*whole.children(recursive=True), whole]:
            with suppress(psutil.NoSuchProcess):
                member.kill()


class _Pipes:
    """The pipes to and from a subject, for one request. While this process waits, the own time and the memory of the subject
    are measured, at times that vary, so that no code is in step with them."""

    def __init__(self, process: subprocess.Popen, limit: float, isolated: bool):
        self.process, self.limit, self.isolated, self.begun = process, limit, isolated, time.monotonic()
        self.clock = OwnTime(process.pid)

    def write(self, data: bytes) -> None:
        assert self.process.stdin is not None
        pipe = self.process.stdin.fileno()
        if POSIX:
            os.set_blocking(pipe, False)
        while data:
            data = data[self._wait(pipe, True, partial(os.write, pipe, data)) :]

    def read(self, count: int) -> bytes:
        assert self.process.stdout is not None
        data, pipe = bytearray(), self.process.stdout.fileno()
        while len(data) < count:
            part = self._wait(pipe, False, partial(os.read, pipe, min(count - len(data), 1 << 20)))
            if not part:
                break
            data += part
        return bytes(data)

    def _wait(self, pipe: int, writing: bool, then: Callable[[], T]) -> T:
        """Wait until the pipe is ready, and return `then()`."""
        if not POSIX:
            return self._wait_in_thread(then)
        reading, written = ([], [pipe]) if writing else ([pipe], [])
        while not any(select.select(reading, written, [], self._interval())):
            self._measure()
        return then()

    def _wait_in_thread(self, then: Callable[[], T]) -> T:
        thread = ThreadPoolExecutor(1)  # it ends when the subject does, at the latest
        future = thread.submit(then)
        thread.shutdown(wait=False)
        while not wait([future], self._interval()).done:
            self._measure()
        return future.result()

    def _interval(self) -> float:
        return random.uniform(0.5, 1.0) * WATCH_SECONDS

    def _measure(self) -> None:
        started = self.clock.measure()[1:]
        if self.clock.seconds() > self.limit:
            raise SubjectTimedOut(too_long(self.limit))
        if time.monotonic() - self.begun > WALL_CLOCK_FACTOR * self.limit:
            raise NotGraded("this machine is too busy to tell how long it takes")
        if _memory(started) > TOTAL_MEMORY:
            raise SubjectDied(f"its processes together took more than {TOTAL_MEMORY >> 30} GiB of memory")
        if self.isolated:
            _check_space(started)


def _memory(processes: list[psutil.Process]) -> int:
    """Bytes that these processes use. Shared memory counts for each of them."""
    total = 0
    for process in processes:
        with suppress(psutil.NoSuchProcess, ProcessLookupError):
            total += _in_use(process)
    return total


def _in_use(process: psutil.Process) -> int:
    """Bytes of memory that this process uses, without pages of files, which the kernel can take back (torch has large
    libraries), and with the tables of its pages."""
    try:
        status = Path(f"/proc/{process.pid}/status").read_text(errors="replace")
    except FileNotFoundError:  # it has ended, or this is not Linux
        return process.memory_info().rss
    return sum(
        int(size) << 10 for size in re.findall(r"^(?:RssAnon|RssShmem|VmPTE):\s*(\d+) kB$", status, re.MULTILINE)
    )


def _check_space(started: list[psutil.Process]) -> None:
    """Raise SubjectDied if there are too many files or sockets in the sandbox with these processes. Bubblewrap made the first
    process. (If the system does not report these numbers, there is no limit.)"""
    with suppress(IndexError, OSError):
        inside = Path(f"/proc/{started[0].pid}")
        for folder in ("tmp", "dev/shm"):
            if (inside / "root" / folder).stat().st_dev == Path("/", folder).stat().st_dev:
                return  # bubblewrap is still in this system's files
            space = os.statvfs(inside / "root" / folder)
            if space.f_files - space.f_ffree > INODES:
                raise SubjectDied(f"it made more than {INODES} files")
        if int((inside / "net/sockstat").read_text().split()[2]) > SOCKETS:  # "sockets: used 7"
            raise SubjectDied(f"it opened more than {SOCKETS} sockets")


def _ending(process: subprocess.Popen) -> str:
    code = process.wait()
    if code < 0 or code > 128:
        number = -code if code < 0 else code - 128
        names = {member.value: member.name for member in signal.Signals}
        name = names.get(number, f"signal {number}")
        return phrase(f"the process that ran this code was ended by {name}")
    return phrase(f"the process that ran this code ended (exit code {code})")


# The subject's surroundings ------------------------------------------------------------------------------------------


@cache
def _user() -> int:
    """The user of a subject: an unused id if root grades and may change users, otherwise 0 for the user that grades."""
    own = 1_000_000_000 + os.getpid()
    return own if os.geteuid() == 0 and _try(own).returncode == 0 else 0


_FIND_TORCH = """
left = ["/"]
for place in left:
    try:
        entries = [*os.scandir(place)]
    except OSError:
        continue
    inner = {entry.path for entry in entries if entry.is_dir(follow_symlinks=False)}
    left += inner - {"/proc", "/dev"}
    files = [entry.name for entry in entries if entry.path not in inner]
    found = [name for name in files if name.startswith("libtorch") and not os.path.isdir(f"{place}/{name}")]
    if found or place.endswith("/torch") and "__init__.py" in files:
        print(place)
        break
"""


def _try(user: int, then: str = "import numpy", private: Sequence[Path] = ()) -> subprocess.CompletedProcess:
    with _file(seccomp.program(False)) as filter:
        command = _inside(user, False, filter, private, [], then)
        return subprocess.run(command, pass_fds=[filter], capture_output=True, text=True)


@contextmanager
def _file(content: bytes) -> Iterator[int]:
    """Within: the number of an open file without a name, at its beginning."""
    with tempfile.TemporaryFile(buffering=0) as file:
        file.write(content)
        file.seek(0)
        yield file.fileno()


def _isolated(
    edition: Path,
    with_torch: bool,
    files: list[int],
    kernels: Iterable[str],
    filling: Path | None,
    private: Sequence[Path],
    packages: tuple[str, ...],
    replaced: Iterable[str],
) -> list[str]:
    """The command for a subject. The open files are the filter of system calls, the kernels and the texts of what is replaced."""
    user, more = _user(), ["--ro-bind", str(edition), "/edition"]
    filter, *contents = files
    texts = [contents.pop() for _ in replaced][::-1]
    others = [
        word
        for name, file in zip(replaced, texts)
        for word in ("--perms", "0444", "--ro-bind-data", str(file), f"/packages/{name}")
    ]
    for path in (overlay.site() / name for name in replaced):  # the bytecode beside a file is the installed text's
        compiled = (path.parent / "__pycache__").glob(f"{path.stem}.*.pyc")
        others += [
            word
            for found in compiled
            for word in ("--ro-bind", "/dev/null", f"/packages/{found.relative_to(overlay.site()).as_posix()}")
        ]
    for name, file in zip(kernels, contents, strict=True):  # bubblewrap copies them: no two sandboxes share a file
        more += ["--perms", "0444", "--ro-bind-data", str(file), f"{KERNEL_FOLDER}/{name}"]
    if filling:
        more += ["--bind", str(filling), KERNEL_FOLDER]
        if user:
            os.chown(filling, user, user)
    return _inside(user, with_torch, filter, private, more, _SERVE_TORCH if with_torch else _SERVE, packages, others)


def _inside(
    user: int,
    with_torch: bool,
    filter: int,
    private: Sequence[Path],
    more: list[str],
    then: str,
    packages: tuple[str, ...] = (),
    others: Sequence[str] = (),
) -> list[str]:
    """The command that makes a sandbox and runs Python in it. Only two folders of a fixed size are writable."""
    entries = _entries((*(TORCH_PACKAGES if with_torch else PACKAGES), *packages))
    binds = [word for entry in entries for word in ("--ro-bind", str(entry), f"/packages/{entry.name}")]
    writable = ("--perms", "1777", "--size", str(FILES), "--tmpfs")
    return [
        *("bwrap", *_isolation(user), "--seccomp", str(filter), *_system(private), *more),
        *("--tmpfs", "/packages", *binds, *others, "--remount-ro", "/packages"),
        *("--proc", "/proc", "--dev", "/dev"),
        *("--ro-bind", "/dev/null", "/dev/zero"),  # a shared mapping of it would be memory that no process has
        *("--tmpfs", "/dev/pts", "--remount-ro", "/dev/pts"),  # the host has a number of pseudo-terminals
        *(*writable, "/dev/shm", "--remount-ro", "/dev", *writable, "/tmp"),
        *("--remount-ro", "/", "--chdir", "/tmp", "--", *_python(["/edition", "/packages"], with_torch, user, then)),
    ]


def _isolation(user: int) -> list[str]:
    own = ("user",) if user == 0 else ()
    kept = ("--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID") if user else ()
    spaces = [f"--unshare-{space}" for space in (*own, "ipc", "pid", "net", "uts", "cgroup-try")]
    return [*spaces, "--die-with-parent", "--new-session", "--cap-drop", "ALL", *kept, "--hostname", "rushlight"]


def _system(private: Sequence[Path]) -> list[str]:
    """The system's libraries, and Python without the packages that are installed there, because torch may be among them.

    The folders that modern systems link into /usr are links here too. In a container the `private` folders, and this process's own
    packages, may be under /usr.
    """
    binds = ["--ro-bind", "/usr", "/usr"]
    for folder in ("/bin", "/lib", "/lib64"):
        if os.path.islink(folder):
            binds += ["--symlink", os.readlink(folder), folder]
        elif os.path.isdir(folder):
            binds += ["--ro-bind", folder, folder]
    if not Path(sys.base_prefix).is_relative_to("/usr"):
        for path in [*reversed(Path(sys.base_prefix, "bin").parents)][1:]:
            binds += ["--perms", "0755", "--dir", str(path)]  # otherwise closed, as a home folder is
        for name in ("bin", "lib"):
            binds += ["--ro-bind", f"{sys.base_prefix}/{name}", f"{sys.base_prefix}/{name}"]
        include = f"{sys.base_prefix}/include"  # with Python.h, for what Inductor generates
        binds += ["--ro-bind-try", include, include]
    folders, libraries = _installed(("/usr", f"{sys.base_prefix}/lib"))
    own = [Path(__file__).resolve().parents[2], *([Path(sys.prefix)] if sys.prefix != sys.base_prefix else [])]
    folders = folders | {str(path) for path in (*private, *own) if path.is_dir() and path.is_relative_to("/usr")}
    folders = {path for path in folders if folders.isdisjoint(map(str, Path(path).parents))}  # in an empty one is none
    binds += [word for path in sorted(folders) for word in ("--tmpfs", path, "--remount-ro", path)]
    return [*binds, *(word for path in sorted(libraries) for word in ("--ro-bind", "/dev/null", path))]


@cache
def _installed(roots: tuple[str, ...]) -> tuple[set[str], set[str]]:
    """The folders of packages of any Python below these, and torch's libraries elsewhere, such as those of Debian."""
    folders, libraries, left = set(), set(), [*roots]
    while left:  # `os.walk` takes half as long again
        with suppress(OSError), os.scandir(left.pop()) as entries:
            for entry in entries:
                if entry.name.endswith(("site-packages", "dist-packages")) and os.path.isdir(entry.path):
                    folders.add(entry.path)
                elif entry.is_dir(follow_symlinks=False):
                    left.append(entry.path)
                elif entry.name.startswith("libtorch") and not entry.is_symlink():
                    libraries.add(entry.path)
    return folders, libraries


def _bare(edition: Path, with_torch: bool, first: Path | None) -> list[str]:
    path = [str(edition), *([str(first)] if first else []), sysconfig.get_paths()["purelib"]]
    return _python(path, with_torch, 0, _SERVE_TORCH if with_torch else _SERVE)


def _python(path: list[str], with_torch: bool, user: int, then: str) -> list[str]:
    """Base Python without site-packages and environment: it finds `path` and the standard library only."""
    limits = [
        ("RLIMIT_AS", TORCH_SPACE if with_torch else MEMORY),
        ("RLIMIT_DATA", MEMORY),
        ("RLIMIT_NPROC", TORCH_PROCESSES if with_torch else PROCESSES),
        ("RLIMIT_NOFILE", OPEN_FILES),
        ("RLIMIT_FSIZE", FILES),
        ("RLIMIT_CORE", 0),
    ]
    boot = (_BOOT if sys.platform == "linux" else _BOOT_ELSEWHERE).format(
        user=user, limits=limits, path=path, then=then
    )
    return [os.path.realpath(sys.executable), "-I", "-S", "-B", "-c", boot]


@cache
def _entries(packages: tuple[str, ...]) -> list[Path]:
    """The files and folders in site-packages of these packages and of their requirements."""
    site = Path(sysconfig.get_paths()["purelib"])
    entries, waiting, seen = set(), list(packages), set()
    while waiting:
        name = waiting.pop().lower().replace("_", "-")
        if name in seen:
            continue
        seen.add(name)
        # only there, because some packages contain others and put them on the path
        distribution = next(iter(importlib.metadata.distributions(name=name, path=[str(site)])), None)
        if distribution is None:
            continue  # required on other systems or Pythons only
        entries |= {file.parts[0] for file in distribution.files or [] if file.parts[0] not in ("..", "__pycache__")}
        waiting += [_requirement(line) for line in distribution.requires or [] if "extra ==" not in line]
    return sorted(site / entry for entry in entries)


def _requirement(line: str) -> str:
    end = next((i for i, letter in enumerate(line) if letter in " ;<>=!~[("), len(line))
    return line[:end]
