"""Makes Python here like Python on Windows or macOS, as far as this course could notice: set RUSHLIGHT_TEST_SYSTEM to `win32` or
`darwin`, and PYTHONPATH to this folder.

What others wrote is imported first, because it chooses its own code for a system at import.
"""

import asyncio
import importlib
import multiprocessing
import multiprocessing.context
import os
import platform
import select
import signal
import subprocess
import sys
from contextlib import suppress

SYSTEM = os.environ.get("RUSHLIGHT_TEST_SYSTEM")
MODULES = ("fcntl", "grp", "pwd", "resource", "termios")
FUNCTIONS = (
    "fork forkpty killpg getpgid setsid geteuid getuid set_blocking mkfifo statvfs register_at_fork setresuid setresgid"
)
SIGNALS = "SIGALRM SIGKILL SIGCHLD SIGSTOP alarm setitimer pthread_kill"
OTHERS = "numpy psutil click rich.console rich.progress rich.table hypothesis cloudpickle yaml IPython nbformat nbclient ml_dtypes"
ALSO = {  # by a word of the command
    "--collect-only": "multiprocessing.connection pytest nbval torch torch._dynamo nbgrader.apps nbgrader.plugins sqlalchemy",
    "judge": "torch torch._dynamo",
    "cli": "torch torch._dynamo nbgrader.apps nbgrader.plugins sqlalchemy",
    "ipykernel": "ipykernel.kernelapp ipykernel.ipkernel ipykernel.debugger matplotlib_inline",
}


def _fail(*_):
    raise OSError("select waits for sockets only, on Windows")


def _crash():
    raise OSError("a library of macOS may end this fork")


def become(system):
    needed = (
        name for word, names in ALSO.items() if any(word in each for each in sys.orig_argv) for name in names.split()
    )
    for name in [*OTHERS.split(), *needed]:
        with suppress(ImportError):
            importlib.import_module(name)
    multiprocessing.context._default_context._actual_context = multiprocessing.get_context("spawn")
    sys.platform = system
    platform.mac_ver = lambda *_: ("10.0", ("", "", ""), "x86_64")  # before ipykernel asks the system to keep it awake
    if system == "darwin":
        os.fork = _crash
    if system == "win32":
        for method in ("fork", "forkserver"):
            del multiprocessing.context._concrete_contexts[method]
        kill = lambda self: os.kill(self.pid, 9)  # noqa: E731
        subprocess.Popen.kill = sys.modules["psutil"].Process.kill = kill
        select.select = _fail
        for module, names in ((os, FUNCTIONS), (signal, SIGNALS)):
            for name in names.split():
                if hasattr(module, name):
                    delattr(module, name)
        for name in MODULES:
            sys.modules[name] = None


if SYSTEM:
    asyncio.get_event_loop_policy()
    become(SYSTEM)
