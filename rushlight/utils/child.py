"""A program in a child process, which may die: C++ can end its process. In PyTorch: `torch/multiprocessing/spawn.py`."""

from __future__ import annotations

import contextlib
import faulthandler
import io
import os
import pickle
import signal
import sys
import warnings
from collections.abc import Callable
from typing import Any

SECONDS = 60  # time limit of a child


def run_in_child(program: Callable, *args: Any, seconds: int = SECONDS) -> Any:
    """Return `program(*args)`, run in a forked child: C++ can end the process that it runs in, and a child changes nothing here.

    Raises:
        the exception of the program; ChildProcessError, with the name of the signal, if the child dies or takes longer than
        `seconds`.
    """
    if not hasattr(os, "fork"):
        return program(*args)
    reader, writer = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # forking with threads: the child uses none of them
        child = os.fork()
    if child == 0:
        _in_child(writer, program, args, seconds)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        answer = pipe.read()
    _, status = os.waitpid(child, 0)
    if not answer:
        code = os.waitstatus_to_exitcode(status)
        raise ChildProcessError(f"the child process died ({signal.Signals(-code).name if code < 0 else code})")
    printed, error, result = pickle.loads(answer)
    print(printed, end="")
    if error is not None:
        raise error
    return result


def _in_child(writer: int, program: Callable, args: tuple, seconds: int) -> None:
    """Run the program, send the answer, and end the process in any case. No code of the parent may run a second time here."""
    try:
        faulthandler.disable()  # the parent reports a death in one line
        signal.signal(signal.SIGALRM, signal.SIG_DFL)  # the parent may handle it
        signal.alarm(seconds)
        if torch := sys.modules.get("torch"):
            torch.set_num_threads(1)  # a fork does not have OpenMP's threads
        printed, error, result = io.StringIO(), None, None
        with contextlib.redirect_stdout(printed), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                result = program(*args)
            except Exception as raised:
                error = raised
        try:
            answer = pickle.dumps((printed.getvalue(), error, result))
            pickle.loads(answer)  # some exceptions can be pickled but not unpickled
        except Exception as raised:
            answer = pickle.dumps((printed.getvalue(), RuntimeError(f"cannot be sent: {raised}; {error!r}"), None))
        with os.fdopen(writer, "wb") as pipe:
            pipe.write(answer)
    finally:
        os._exit(0)
