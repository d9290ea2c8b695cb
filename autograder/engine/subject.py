"""The sandbox's half of a check: the subject, in which a student's code runs and its results are observed.

In grading it is a process in a sandbox: an IPython shell without Jupyter, which runs the student's cells and observes the
programs of checks on request. In a notebook the kernel itself is the subject (`notebook/kernel.py`), and observes by the same
`answer`. What leaves a subject is observations. Nothing is decided here.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import sys
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy

import rushlight
from rushlight.c10 import dispatch

from . import devices
from .check import ON_BOARD, THE_TEXT, find, function_of, is_milestone, is_on_torch
from .exercise import is_filled, note, noted, watched
from .observe import (
    Side,
    Tree,
    error_tree,
    for_cases,
    kind_of_value,
    observe_call,
    raised_of,
    receive,
    send,
    tensor_tree,
    with_raised,
    with_returned,
    without_call,
)

MAX_OUTPUT = 100_000  # characters kept of what one cell prints
SHOWN = ("text/plain", "image/png")  # the formats of displays that are kept
MAX_DISPLAYED = 2_000_000  # characters of JSON kept of what one cell displays, pictures included


class RushlightSide:
    """rushlight, as `observe` uses it. Runs no exercise, because a case must not depend on the pieces that it tests."""

    xp: Any = rushlight

    def make(self, spec: dict) -> rushlight.Tensor:
        dtype = getattr(rushlight, spec["dtype"])
        storage = rushlight.UntypedStorage(spec["storage"] * dtype.itemsize)
        whole = rushlight.Tensor(storage, [spec["storage"]], [1], 0, dtype)
        whole._array[:] = numpy.arange(spec["storage"], dtype=numpy.int64) % {"bool": 2, "uint8": 256}.get(
            spec["dtype"], 1 << 62
        )
        return rushlight.Tensor(storage, spec["sizes"], spec["strides"], spec["offset"], dtype)

    def dtype(self, name: str) -> rushlight.dtype:
        return getattr(rushlight, name)

    def take(self, value: Any) -> Tree | None:
        if isinstance(value, rushlight.Tensor):
            if not _is_inside(value):
                return {"other": f"a view that reaches outside its storage: {_metadata(value)}"}
            dtype = str(value.dtype).removeprefix("rushlight.")
            values = value._array.astype("float32") if dtype == "bfloat16" else value.numpy()
            return tensor_tree(dtype, value.shape, value.stride(), value.storage_offset(), values.tobytes())
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


class StateLeft(RuntimeError):
    """The error that is observed if a mode, a key or a hook of the thread is not as it was before a student's function ran."""


class NotAttempted(NotImplementedError):
    """The error that is observed if the slot of an exercise is empty."""


_side = RushlightSide()


def answer(name: str, cases: list[dict], begin: Callable[[], None] = lambda: None) -> list[Tree]:
    """Observe a check's program on the student's framework, case by case, after a call of `begin` for each. An exercise with an
    empty slot is not attempted."""
    check = find(name)
    if not is_milestone(name) and not is_filled(function_of(check.exercise)):
        missing = NotAttempted(
            "its body is still to be written, or its cell has not been run: "
            "write the body in the place of `raise NotImplementedError()`, run the cell, and check again"
        )
        if sys.platform == "emscripten":  # a check of a page runs the exercise itself
            missing = NotAttempted(
                "the line above it that begins with `@exercise` is missing, "
                "or its body is still to be written in the place of `raise NotImplementedError()`"
            )
        return [error_tree(missing)] * len(cases)
    changed: list[str] = []
    returned: list[str] = []
    watching = contextlib.nullcontext()
    if is_watched := not is_on_torch(check.lab) and not is_milestone(name):
        watching = watched(function_of(check.exercise), lambda function: _watching(function, changed, returned))
    observed = []
    with devices.on_cpu(), watching:  # for the ranks of the programs
        special = [program for case, program in ((ON_BOARD, check.count), (THE_TEXT, check.text_of)) if cases == [case]]
        programs = special or for_cases(check.program, rushlight, cases)
        for program, case in zip(programs, cases):
            begin()
            if is_on_torch(check.lab):
                observed.append(_on_torch(program, case))
            else:
                tree = _on_rushlight(program, case, changed, returned)
                is_idle = is_watched and not returned and raised_of(tree) is None
                observed.append(without_call(tree) if is_idle else tree)
            if (raised := raised_of(observed[-1])) is not None and (returned or not is_watched):
                raised["returned"] = "".join(returned)  # another call's, which the result may come from
    return observed


def _watching(function: Callable, changed: list[str], returned: list[str]) -> Callable:
    """The function, which adds to `changed` the parts of the thread's state that a call does not leave as they were, and puts into
    `returned` what it is that the last call has returned. The value itself stays nowhere, because a check may count what lives."""

    def call(*args: Any, **kwargs: Any) -> Any:
        before = _thread_state()
        try:
            result = function(*args, **kwargs)
            returned[:] = [kind_of_value(result)]
            return result
        finally:
            after = _thread_state()
            changed.extend(name for name in before if after[name] != before[name])

    return call


def _thread_state() -> dict[str, Any]:
    return {name: [*value] if isinstance(value, list) else value for name, value in vars(dispatch.local).items()}


def _on_rushlight(program: Callable, case: dict, changed: list[str], returned: list[str]) -> Tree:
    changed.clear()
    returned.clear()
    with (
        numpy.errstate(all="ignore"),
        warnings.catch_warnings(),
        new_thread(),
    ):  # torch does not warn of overflow either
        warnings.simplefilter("ignore")  # stock nbgrader gives no points for a cell that wrote to stderr
        observed = _observe_noting(program, _side, case)
        changed += [
            name for name, value in vars(dispatch.LocalState()).items() if getattr(dispatch.local, name) != value
        ]
        if changed:
            names = ", ".join(dict.fromkeys(changed))
            return error_tree(StateLeft(f"after the call {names} is not as before"))
        return with_returned(observed, *returned)


def _on_torch(program: Callable, case: dict) -> Tree:
    """In a lab on torch the student's functions work on torch's tensors; the program reaches them through rushlight's modules."""
    from .torch_side import TorchSide, call_and_restore  # in a lab on rushlight there is no torch

    return call_and_restore(_observe_noting, program, TorchSide(rushlight), case)


def _observe_noting(program: Callable, side: Side, case: dict) -> Tree:
    """The observation of one case, with the exception that left a student's function, if one did."""

    def run(*args: Any, **kwargs: Any) -> Any:
        try:
            return program(*args, **kwargs)
        except Exception as error:
            note(error, ends=True)
            raise

    with noted() as raised:
        observed = observe_call(run, side, case)
    return with_raised(observed, *raised)


@contextlib.contextmanager
def new_thread():
    """Within: modes, keys and hooks as in a new thread. They are restored afterwards, so that a wrong answer that leaves a
    mode on affects neither the other cases nor the kernel."""
    state = vars(dispatch.local)
    before = dict(state)
    state.update(vars(dispatch.LocalState()))
    try:
        yield
    finally:
        state.clear()
        state.update(before)


# In the sandbox ------------------------------------------------------------------------------------------------------

_grading = False


def is_grading() -> bool:
    """Whether this process is a subject of the grader. There a student's own calls of `check` and `use` do nothing."""
    return _grading


def main() -> None:
    """Answer requests on the standard input and output of this process: run a cell, or observe a check's program.

    Both files are moved to other descriptors first, so that no output of a student can get between the messages.
    """
    global _grading
    _grading = True
    source, target = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    null = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1):
        os.dup2(null, standard)
    shell = Shell()  # if it cannot be made, the reason is printed
    gc.freeze()  # what was imported is not looked at again and again
    gc.enable()
    send(target, {"ready": True})
    while True:
        try:
            request = receive(source)
        except EOFError:
            return
        if "cell" in request:
            send(target, {"outputs": shell.run(request["cell"])})
        else:
            begin = [partial(send, target, {"begins": True})] * ("begins" in request)
            send(target, {"observed": answer(request["check"], request["cases"], *begin)})


class Shell:
    """An IPython shell that returns a cell's outputs as notebook outputs."""

    def __init__(self):
        from IPython.core.interactiveshell import InteractiveShell
        from traitlets.config import Config

        class Plain(InteractiveShell):
            def enable_matplotlib(self, gui=None):
                return None, "agg"  # `%matplotlib inline` is in many notebooks and has no effect here

            def init_completer(self) -> None:
                pass  # no one presses Tab here, and it is a tenth of the start

        config = Config()
        config.HistoryManager.enabled = False
        config.InteractiveShell.colors = "nocolor"
        config.InteractiveShell.xmode = "Plain"  # with context IPython parses every file in the traceback
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
        streams = [
            {"output_type": "stream", "name": name, "text": text[:MAX_OUTPUT]}
            for name, text in (("stdout", captured.stdout), ("stderr", captured.stderr))
            if text
        ]
        return streams + _fitting_displays(captured.outputs) + self.errors[:1]

    def _keep_error(self, etype: type, evalue: BaseException, lines: list[str]) -> None:
        text, said = "\n".join(lines)[-MAX_OUTPUT:], str(evalue)
        if isinstance(evalue, SyntaxError) and evalue.lineno:
            said = f"{evalue.msg} (line {evalue.lineno})"  # without the shell's name of the cell
        self.errors.append({"output_type": "error", "ename": etype.__name__, "evalue": said[:500], "traceback": [text]})


def _fitting_displays(shown: list[Any]) -> list[dict]:
    """The displays of a cell, as many as fit into a message: one that is too large must not cost the whole cell."""
    displays, left = [], MAX_DISPLAYED
    for rich in shown:
        data = {kind: rich.data[kind] for kind in SHOWN if isinstance(rich.data.get(kind), str)}
        left -= 100 + len(json.dumps(data))
        if left < 0:
            break
        displays.append({"output_type": "display_data", "data": data, "metadata": {}})
    return displays
