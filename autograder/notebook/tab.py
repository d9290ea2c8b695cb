"""A notebook on a page of the site: its cells run in the browser's Python, which has no Jupyter.

A worker of the page (`docs/browser/worker.js`) has one `Tab`, and asks it to run cells. Their outputs are those of a notebook
(nbformat), each handed to the page as it is made. What takes too long is stopped by the page, which ends the worker.
"""

from __future__ import annotations

import ast
import base64
import io
import linecache
import pprint
import signal
import sys
import time
import traceback
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from types import ModuleType
from typing import Any

from ..engine import judge, practice  # noqa: F401  (a first check then finds them loaded)
from ..engine.check import function_of
from ..engine.exercise import unplug
from ..engine.limits import IN_BROWSER, PageAlarm
from ..engine.source import NOT_IN_A_PAGE
from ..engine.subject import MAX_OUTPUT
from ..language import speak
from . import cells, kernel

Output = dict[str, Any]
FORMATS = {"text/html": "_repr_html_", "image/svg+xml": "_repr_svg_", "image/png": "_repr_png_"}
WIDTH = 79  # of a value that is shown
FLUSH_SECONDS = 0.1  # between two parts of what a cell prints
LINES_AT_ONCE = 200  # of what a cell prints, which are shown as they end
# Code says where it is from: in a browser `ast.__file__` is another name of the same file.
MACHINERY = cells.MACHINERY, ast.parse.__code__.co_filename


class Tab:
    """The cells of one page run here, one after another in one namespace. `show(output)` receives what they show."""

    def __init__(self, show: Callable[[Output], None]):
        self.show = show
        self.namespace = ModuleType("__main__")
        vars(self.namespace).update(input=_no_input)
        sys.modules["__main__"] = self.namespace
        if find_spec("IPython") is None:
            self._take_its_place()

    def _take_its_place(self) -> None:
        """Offer what the course uses of IPython: `display`."""
        shell, shown = ModuleType("IPython"), ModuleType("IPython.display")
        shell.__spec__ = ModuleSpec("IPython", None)  # so that a second tab finds it
        vars(shell).update(get_ipython=lambda: None, display=shown)
        vars(shown).update(display=self.display)
        sys.modules |= {"IPython": shell, "IPython.display": shown}

    def run(
        self, name: str, source: str, exercise: str = "", passed: Iterable[str] | None = (), too: Iterable[str] = ()
    ) -> bool:
        """Run a cell, and show the value of its last line. Returns whether it has ended without an error.

        The cell of an `exercise` first takes the function of an earlier run out, so that a check decides about this text. `passed`
        are the checks that have passed with the functions of now: the page knows this from one visit to the next. `too` are the
        milestones that count again if the check of this cell passes. With None, the answer is not the reader's, and its verdict has
        no points.
        """
        kernel.has_points = passed is not None
        if passed is not None:
            kernel.count_alone(passed, too)
        sys.modules["__main__"] = self.namespace  # a page may have several, each with names of its own
        if exercise:
            unplug(function_of(exercise))
        file = f"<{name}>"
        linecache.cache[file] = len(source), None, source.splitlines(keepends=True), file  # what tracebacks show
        out, errors = _Stream("stdout", self.show), _Stream("stderr", self.show)
        with redirect_stdout(out), redirect_stderr(errors), _flushing(out, errors):
            try:
                value = self._run(source, file)
                if value is not None and not source.rstrip().endswith(";"):
                    self._flush()
                    self.show({"output_type": "execute_result", "data": data_of(value), "metadata": {}})
            except BaseException as error:  # SystemExit too: the page goes on
                self._flush()
                self.show(_error(error))
                return False
            finally:
                self._flush()
        return True

    def _run(self, source: str, file: str) -> Any:
        tree = ast.parse(source, file)
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, file, "exec", dont_inherit=True), vars(self.namespace))
        if isinstance(last, ast.Expr):
            value = compile(ast.Expression(last.value), file, "eval", dont_inherit=True)
            return eval(value, vars(self.namespace))
        return None

    def display(self, *values: Any, raw: bool = False, metadata: dict | None = None) -> None:
        """IPython's `display`: show each of the values now."""
        self._flush()
        for value in values:
            data = value if raw else data_of(value)
            self.show({"output_type": "display_data", "data": data, "metadata": metadata or {}})

    def _flush(self) -> None:
        sys.stdout.flush()
        sys.stderr.flush()


def _no_input(prompt: object = "") -> str:
    raise RuntimeError(speak("a cell of a page cannot ask for input: write the value into the cell"))


def data_of(value: Any) -> dict[str, str]:
    """A value in the formats in which a page can show it, by MIME type."""
    kinds = {kind: getattr(value, name)() for kind, name in FORMATS.items() if hasattr(type(value), name)}
    data = {
        kind: base64.b64encode(shown).decode() if isinstance(shown, bytes) else shown
        for kind, shown in kinds.items()
        if shown is not None
    }
    return data | {"text/plain": _plain(value)}


def _plain(value: Any) -> str:
    if isinstance(value, (list, tuple, dict, set)):
        return pprint.pformat(value, width=WIDTH, sort_dicts=False)
    return repr(value)


def _error(error: BaseException) -> Output:
    """The error of a cell, with the frames of the cells and of what they call, but none of the course's own machinery."""
    if isinstance(error, (ModuleNotFoundError, NameError)) and error.name == "torch":
        error.add_note(speak(NOT_IN_A_PAGE))
    if hasattr(error, "_render_traceback_"):
        lines = error._render_traceback_()
    else:
        told = traceback.TracebackException.from_exception(error)
        inner: traceback.TracebackException | None = told
        while inner is not None:
            inner.stack[:] = [frame for frame in inner.stack if not frame.filename.startswith(MACHINERY)]
            inner = inner.__cause__ or inner.__context__
        lines = "".join(told.format()).splitlines()
    text = "\n".join(lines)[-MAX_OUTPUT:]
    return {"output_type": "error", "ename": type(error).__name__, "evalue": str(error), "traceback": [text]}


class _Stream(io.TextIOBase):
    """What a cell prints, handed on in parts: its first lines at once, then a few parts a second, and no more than a page can hold.

    A page that stops a cell ends its Python with all that was not handed on. So the first lines are there also if C code runs on.
    """

    def __init__(self, name: str, show: Callable[[Output], None]):
        self.name, self.show = name, show
        self.parts: list[str] = []
        self.lines, self.left, self.flushed = LINES_AT_ONCE, MAX_OUTPUT, time.monotonic()

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        self.parts.append(text)
        ended = text.count("\n")
        if ended and self.lines > 0 or time.monotonic() > self.flushed + FLUSH_SECONDS:
            self.flush()
        self.lines -= ended
        return len(text)

    def flush(self) -> None:
        parts, self.parts = self.parts, []  # first, because a signal may flush at each call
        whole, self.flushed = "".join(parts), time.monotonic()
        text = whole[: self.left]
        self.left -= len(text)
        if text:
            more = speak("the cell prints more: {count:,} characters are shown", count=MAX_OUTPUT)
            text += "" if text == whole else f"\n… {more}\n"
            self.show({"output_type": "stream", "name": self.name, "text": text})


@contextmanager
def _flushing(*streams: _Stream) -> Iterator[None]:
    """In a browser, hand on what the streams have every `FLUSH_SECONDS`, also while the cell is in a loop that prints no more."""
    if not IN_BROWSER:
        yield
        return

    def flush(*_: object) -> None:
        for stream in streams:
            stream.flush()

    alarm = PageAlarm(signal.SIGUSR1, FLUSH_SECONDS, FLUSH_SECONDS)
    before = signal.signal(signal.SIGUSR1, flush)
    alarm.start()
    try:
        yield
    finally:
        alarm.join()
        signal.signal(signal.SIGUSR1, before)
