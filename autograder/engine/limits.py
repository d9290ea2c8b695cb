"""How long a student's code may take, the same in a notebook and in grading, on every machine.

What is counted is the code's *own time*: the CPU time of all its processes, and the time in which all of them wait for
something other than a CPU. So a busy machine takes nothing from it, and a sleep is no way around it. Only a part of the time in
which they wait for a disk is counted, because the disk may be slow. A machine that is slower than the one on which the limits were
chosen gives more.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Collection, Iterator
from functools import cache
from pathlib import Path
from typing import TypeVar

with contextlib.suppress(ImportError):  # a browser's Python has no processes
    import psutil

from ..language import phrase
from .observe import NotGraded, SubjectTimedOut

T = TypeVar("T")

# in seconds of own time: in a lab on rushlight, and in one on torch, where a C++ compiler takes long
CELL_SECONDS = (30.0, 60.0)
CHECK_SECONDS = (
    6.0,
    60.0,
)  # for a case, the longer if it compiles or has ranks: a reference takes 0.1 s, or 1.2 s for one
RETRY_SECONDS = (1.5, 15.0)  # for a case that took too long, on the reference in the place of the other pieces
PROGRAM_SECONDS = (6.0, 15.0)  # for a program of the clinic, the longer on torch: it may be the first to compile there
TOTAL_SECONDS = (600.0, 1800.0)  # for a submission: the references take 9 and 48 at most
WALL_CLOCK_FACTOR = 10  # if a limit has passed so many times by the clock, the machine is too busy
WATCH_SECONDS = 0.25  # between two measurements
DISK = 0.25  # of a wait for a disk counts: a disk may be slow, but code can make any wait look so, by a vfork
IN_BROWSER = sys.platform == "emscripten"
LOOP_SECONDS = 0.02  # CPU time of `_loop` where those were measured


def seconds(limit: tuple[float, float], with_torch: bool) -> float:
    """One of the limits above, on this machine. (A browser's Python is always slower, and its reader waits by the clock.)"""
    return limit[with_torch] * (1 if IN_BROWSER else _slowness())


@cache
def _slowness() -> float:
    """How many times as long as there this machine takes; at least 1."""
    return max(1.0, min(_loop() for _ in range(5)) / LOOP_SECONDS)


def _loop() -> float:
    """Seconds of CPU time for a fixed piece of Python."""
    start = time.process_time()
    table: dict[int, int] = {}
    for i in range(200_000):
        table[i % 1009] = table.get(i % 1009, 0) + i
    return time.process_time() - start


class OwnTime:
    """Measures the own time of a process and its descendants, without those in `besides` and the thread `watcher`."""

    def __init__(self, pid: int, besides: Collection[int] = (), watcher: int = 0):
        self.pid, self.besides, self.watcher = pid, besides, watcher
        self.measured, self.measured_seconds = time.monotonic(), 0.0
        self.cpu: float | None = None  # most of what is timed ends before the first measurement, which takes long

    def measure(self) -> list[psutil.Process]:
        """Measure, once in `WATCH_SECONDS`. If a measurement is late, it is not known what the processes waited for.

        Returns the process and its descendants: to find them costs most, and more with each process of the machine.
        """
        family = _family(self.pid)
        (cpu, waiting), now = self._usage(family), time.monotonic()
        if self.cpu is None:
            self.measured_seconds = self.seconds()
        else:
            waited = waiting * min(now - self.measured, 2 * WATCH_SECONDS)
            self.measured_seconds += max(0.0, cpu - self.cpu, waited)
        self.cpu, self.measured = cpu, now
        return family

    def seconds(self) -> float:
        """The own time since this object was made, as last measured; before the first measurement, one interval at most."""
        if self.cpu is None:
            return min(time.monotonic() - self.measured, WATCH_SECONDS)
        return self.measured_seconds

    def _usage(self, family: list[psutil.Process]) -> tuple[float, float]:
        """The CPU time of all processes, and how much of the time counts as waiting: none while one runs or waits for a CPU."""
        cpu = 0.0
        states: set[str] = set()
        for process in family:
            if process.pid not in self.besides:
                with contextlib.suppress(psutil.NoSuchProcess, ProcessLookupError, FileNotFoundError):
                    cpu += sum(process.cpu_times()[:4])  # its own, and of the children that it has waited for
                    states.update(self._states(process.pid))
        return cpu, 0.0 if "R" in states else DISK if "D" in states else 1.0

    def _states(self, pid: int) -> Iterator[str]:
        """The state of each thread, as in `ps`. (Of a system that does not say, none: all time is counted there.)"""
        for task in Path(f"/proc/{pid}/task").glob("*"):
            if task.name != str(self.watcher):
                yield (task / "stat").read_text().rpartition(") ")[2][0]


def _family(pid: int) -> list[psutil.Process]:
    """A process and its descendants, a child first. The list is empty if the process has ended."""
    with contextlib.suppress(psutil.NoSuchProcess):
        whole = psutil.Process(pid)
        return [whole, *whole.children(recursive=True)]
    return []


class Allowance:
    """The time that is left to a submission."""

    def __init__(self, with_torch: bool):
        self.left = self.total = seconds(TOTAL_SECONDS, with_torch)
        self.deadline = time.monotonic() + WALL_CLOCK_FACTOR * self.total

    def check(self) -> None:
        """Raises NotGraded if nothing is left."""
        if self.left <= 0 or time.monotonic() > self.deadline:
            raise NotGraded(f"it takes more than the {self.total:.0f} s that a submission may take")


# In a notebook -------------------------------------------------------------------------------------------------------


def limited(function: Callable[[], T], limit: float, besides: Collection[int] = ()) -> T:
    """The function's result. Raises SubjectTimedOut if it takes more than `limit` seconds of this process's own time, or in a
    browser by the clock.

    Code that catches everything is interrupted again and again. On Windows, and outside the main thread, there is no limit.
    """
    has_signals = IN_BROWSER or hasattr(signal, "pthread_kill")
    if not has_signals or threading.current_thread() is not threading.main_thread():
        return function()
    main, interrupted, ended = threading.get_ident(), threading.Event(), threading.Event()
    cause: Interrupted | None = None

    def interrupt(*_: object) -> None:
        if not ended.is_set():
            interrupted.set()
            raise Interrupted

    def watch() -> None:
        clock = OwnTime(os.getpid(), besides, threading.get_native_id())
        while not ended.wait(WATCH_SECONDS):
            clock.measure()
            if clock.seconds() > limit:
                signal.pthread_kill(main, signal.SIGALRM)

    before = signal.signal(signal.SIGALRM, interrupt)
    watcher = _PageLimit(limit) if IN_BROWSER else threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        try:
            result = function()
        finally:
            ended.set()
    except Interrupted as error:
        cause = error  # it knows where the code was
    finally:
        ended.set()
        watcher.join()
        signal.signal(signal.SIGALRM, before)
    if interrupted.is_set():
        raise SubjectTimedOut(too_long(limit)) from cause
    return result


_PAGE_ALARM = """(pyodide, first, interval, number) => {
    let due = performance.now() + 1000 * first;
    pyodide.setInterruptBuffer({
        get 0() {
            if (performance.now() < due) return 0;
            due = performance.now() + 1000 * interval;
            return number;
        },
        set 0(_) {},
    });
}"""


class PageAlarm:
    """Sends a signal after `first` seconds, and again and again, in a browser's Python, which has no threads: every few
    instructions Pyodide looks into a buffer for a signal, and this buffer looks at the clock. C code is not interrupted. There is
    one alarm at a time."""

    def __init__(self, number: int, first: float, interval: float):
        self.arguments = first, interval, int(number)

    def start(self) -> None:
        import pyodide_js  # type: ignore[import-not-found]
        from pyodide.code import run_js  # type: ignore[import-not-found]

        run_js(_PAGE_ALARM)(pyodide_js, *self.arguments)

    def join(self) -> None:
        import pyodide_js

        pyodide_js.setInterruptBuffer(None)


class _PageLimit(PageAlarm):
    """The alarm of a limit in seconds. The page, which is told of each limit, ends a Python that is in C code."""

    def __init__(self, limit: float):
        super().__init__(signal.SIGALRM, limit, WATCH_SECONDS)

    def start(self) -> None:
        super().start()
        tell_page(limit=self.arguments[0])

    def join(self) -> None:
        super().join()
        tell_page(limit=0)


def tell_page(**message: float | str) -> None:
    """Tell the page whose Python this is the limit of the code that runs now, or which case it is."""
    if IN_BROWSER:
        from pyodide.code import run_js

        run_js("text => globalThis.postMessage?.(JSON.parse(text))")(json.dumps(message))


class Interrupted(BaseException):
    """Raised within code that has taken too long. It is no Exception, so that a program's `except Exception` lets it through."""


def too_long(limit: float) -> str:
    seconds = f"{limit:.0f}"
    return phrase(f"no answer within {seconds} s: an endless loop, perhaps, or more work than this time allows")
