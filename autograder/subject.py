"""The subject: the process in which a student's code runs.

In a notebook that is the kernel itself: `check(name)` starts the judge as a helper process and answers its questions.
In grading it is a process in a sandbox (`python -m autograder.subject`), an IPython shell without Jupyter around it, which
runs the student's cells and answers the same questions. Either way what leaves it is observations; nothing is decided here.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable
from typing import Any, BinaryIO

import numpy

import rushlight
from rushlight.c10 import dispatch

from .check import Verdict, find, function_of, is_bench, is_shown
from .exercise import is_filled
from .observe import Tree, error_tree, observe_call, receive, send, tensor_tree

MAX_OUTPUT = 100_000  # characters kept of what one cell prints
SHOWN = ("text/plain", "image/png")  # of what a cell displays
MAX_DISPLAYED = 2_000_000  # characters of JSON kept of what one cell displays, pictures included


class RushlightSide:
    """rushlight, as observing sees it. Runs no exercise: a case must not depend on the pieces it is there to test."""

    xp = rushlight

    def make(self, spec: dict) -> rushlight.Tensor:
        dtype = getattr(rushlight, spec["dtype"])
        storage = rushlight.UntypedStorage(spec["storage"] * dtype.itemsize)
        whole = rushlight.Tensor(storage, [spec["storage"]], [1], 0, dtype)
        whole.numpy()[:] = numpy.arange(spec["storage"]) % {"bool": 2, "uint8": 256}.get(spec["dtype"], 1 << 62)
        return rushlight.Tensor(storage, spec["sizes"], spec["strides"], spec["offset"], dtype)

    def dtype(self, name: str) -> rushlight.dtype:
        return getattr(rushlight, name)

    def take(self, value: Any) -> Tree | None:
        if isinstance(value, rushlight.Tensor):
            if not _is_inside(value):
                return {"other": f"a view that reaches outside its storage: {_metadata(value)}"}
            dtype = str(value.dtype).removeprefix("rushlight.")
            return tensor_tree(dtype, value.shape, value.stride(), value.storage_offset(), value.numpy().tobytes())
        if isinstance(value, rushlight.dtype):
            return {"dtype": str(value).removeprefix("rushlight.")}
        return None


def _is_inside(x: rushlight.Tensor) -> bool:
    reach = [(size - 1) * stride for size, stride in zip(x.shape, x.stride())]
    first = x.storage_offset() + sum(step for step in reach if step < 0)
    last = x.storage_offset() + sum(step for step in reach if step > 0)
    return 0 in x.shape or (first >= 0 and (last + 1) * x.itemsize <= x.untyped_storage().nbytes())


def _metadata(x: rushlight.Tensor) -> str:
    return f"shape {tuple(x.shape)}, stride {x.stride()}, offset {x.storage_offset()}"


class NotAttempted(NotImplementedError):
    """What is observed of an exercise whose slot is empty."""


_side = RushlightSide()


def answer(name: str, cases: list[dict]) -> list[Tree]:
    """Observe a check's program on the student's framework, case by case. An exercise that nobody has filled is not attempted."""
    check = find(name)
    if not is_shown(name) and not is_filled(function_of(check.exercise)):
        missing = NotAttempted("its body is still to be written, or its cell has not been run")
        return [error_tree(missing)] * len(cases)
    observe_case = _on_torch if is_bench(check.lab) else _on_rushlight
    return [observe_case(check.subject, case) for case in cases]


def _on_rushlight(program: Callable, case: dict) -> Tree:
    with numpy.errstate(all="ignore"), new_thread():  # torch does not speak of overflow either
        return observe_call(program, _side, case)


def _on_torch(program: Callable, case: dict) -> Tree:
    """In a bench lab the student's functions work on torch's tensors; the program reaches them through rushlight's modules."""
    from .torch_side import TorchSide, apart  # only here: a build lab is without torch

    return apart(observe_call, program, TorchSide(rushlight), case)


@contextlib.contextmanager
def new_thread():
    """Within: modes, keys and hooks as a new thread has them; afterwards as they were. So a wrong answer that leaves a mode
    behind spoils neither the other cases nor the kernel."""
    state = vars(dispatch.local)
    before = dict(state)
    state.update(vars(dispatch.LocalState()))
    try:
        yield
    finally:
        state.clear()
        state.update(before)


# In a notebook -------------------------------------------------------------------------------------------------------


class CheckFailed(Exception):
    """Raised by `check` where the student's piece and torch do not agree, so that nbgrader sees a failed cell."""

    def _render_traceback_(self) -> list[str]:
        return [f"{type(self).__name__}: {self}"]  # IPython shows this in place of a traceback


class NoJudge(CheckFailed):
    """Raised by `check` where nobody decides: the judge's process has ended."""


_judge: subprocess.Popen | None = None
_said: BinaryIO | None = None  # what it wrote to standard error
_grading = False  # in the sandbox the grader runs the checks; a student's own calls do nothing


def check(name: str, case: dict | None = None) -> None:
    """Hold the student's piece against torch and show what was found; `case` replays one case.

    Raises CheckFailed where they differ and LookupError for a name that does not exist.
    """
    find(name)
    if _grading:
        return
    verdict = _verdict(name, case)
    _display(verdict)
    if not verdict.passed:
        raise CheckFailed(verdict.line())


def _verdict(name: str, case: dict | None) -> Verdict:
    global _judge, _said
    if _judge is None or _judge.poll() is not None:
        _said = tempfile.TemporaryFile()  # noqa: SIM115  (open as long as the judge lives)
        _judge = subprocess.Popen(
            [sys.executable, "-m", "autograder.judge"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=_said,
            start_new_session=True,
        )
    printed = io.StringIO()
    try:
        send(_judge.stdin, {"check": name, "case": case})
        while True:
            message = receive(_judge.stdout)
            if "verdict" in message:
                break
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                observed = answer(name, message["ask"])
            send(_judge.stdin, {"observed": observed})
    except KeyboardInterrupt:
        raise CheckFailed(f"{name}: interrupted") from None
    except (EOFError, BrokenPipeError):
        raise NoJudge(_why(_judge.wait(), _said)) from None
    finally:
        if sys.exc_info()[0] is not None:  # an interrupt in mid-conversation: the next check begins a new one
            _judge.kill()
            _judge = None
    verdict = Verdict(**message["verdict"])
    if verdict.case is not None:  # which was asked last: what it printed helps, what a hundred others printed does not
        print(printed.getvalue()[:MAX_OUTPUT], end="")
    return verdict


def _why(code: int, said: BinaryIO) -> str:
    """Why there is no judge any more, and what to do."""
    said.seek(0)
    last = said.read().decode(errors="replace").strip().rpartition("\n")[2]
    error, _, message = last.partition(": ")
    if error == "ModuleNotFoundError":
        return message
    reason = f"{signal.Signals(-code).name}, out of memory perhaps" if code < 0 else last or f"exit code {code}"
    return (
        f"the process that holds torch has ended ({reason}): run the cell again; if it ends again,"
        " `python -m autograder.judge` in a terminal shows more"
    )


def _display(verdict: Verdict) -> None:
    try:
        from IPython import get_ipython
        from IPython.display import display
    except ImportError:
        print(verdict)
        return
    if get_ipython() is None:
        print(verdict)
    else:
        display({"text/html": verdict.html(), "text/plain": str(verdict)}, raw=True)


def is_grading() -> bool:
    """Whether this is a process of the grader's."""
    return _grading


# In the sandbox ------------------------------------------------------------------------------------------------------


def main() -> None:
    """Answer requests on what were standard input and output: run a cell, or observe a check's program.

    The two are moved elsewhere first, so that nothing a student prints can end up between the messages.
    """
    global _grading
    _grading = True
    source, target = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    null = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1, 2):
        os.dup2(null, standard)
    shell = Shell()
    send(target, {"ready": True})
    while True:
        try:
            request = receive(source)
        except EOFError:
            return
        if "cell" in request:
            send(target, {"outputs": shell.run(request["cell"])})
        else:
            send(target, {"observed": answer(request["check"], request["cases"])})


class Shell:
    """An IPython shell that gives back what a cell showed as notebook outputs."""

    def __init__(self):
        from IPython.core.interactiveshell import InteractiveShell
        from traitlets.config import Config

        class Plain(InteractiveShell):
            def enable_matplotlib(self, gui=None):
                return None, "agg"  # `%matplotlib inline` is in many notebooks, and means nothing here

        config = Config()
        config.HistoryManager.enabled = False
        config.InteractiveShell.colors = "nocolor"
        config.InteractiveShell.xmode = "Plain"  # with context it parses every file that the error came through
        self.shell = Plain.instance(config=config)
        self.shell._showtraceback = self._keep_error
        self.errors: list[dict] = []

    def run(self, source: str) -> list[dict]:
        from IPython.core.displayhook import CapturingDisplayHook
        from IPython.utils.capture import capture_output

        self.errors = []
        with capture_output() as captured:
            self.shell.display_trap.hook = CapturingDisplayHook(shell=self.shell, outputs=captured._outputs)
            self.shell.run_cell(source, store_history=False)
        outputs = [
            {"output_type": "stream", "name": name, "text": text[:MAX_OUTPUT]}
            for name, text in (("stdout", captured.stdout), ("stderr", captured.stderr))
            if text
        ]
        room = MAX_DISPLAYED  # a message has a limit, and a display too much must not cost the whole cell
        for rich in captured.outputs:
            data = {kind: rich.data[kind] for kind in SHOWN if isinstance(rich.data.get(kind), str)}
            room -= 100 + len(json.dumps(data))
            if room < 0:
                break
            outputs.append({"output_type": "display_data", "data": data, "metadata": {}})
        return outputs + self.errors[:1]

    def _keep_error(self, etype: type, evalue: BaseException, lines: list[str]) -> None:
        text = "\n".join(lines)[-MAX_OUTPUT:]
        self.errors.append(
            {"output_type": "error", "ename": etype.__name__, "evalue": str(evalue)[:500], "traceback": [text]}
        )


if __name__ == "__main__":
    main()
