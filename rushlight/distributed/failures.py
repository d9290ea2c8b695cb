"""What became of ranks, in words: who failed first, with a traceback that begins at the student's function; who lost a
connection by that; and where each rank stands that does not go on.

A rank sends of an exception what can be copied, the files and lines it came through. The lines' text is looked up where the
message is made: a notebook's cells are known in its kernel only.
"""

from __future__ import annotations

import itertools
import linecache
import os
import re
import signal
import time
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rushlight.course import extensions

__all__ = ["RanksFailed", "Fate", "failure"]

RUNNING, DONE, RAISED, DIED = "running", "done", "raised", "died"
DEADLOCK = "a deadlock"

# Of a chain of exceptions one: how it came of the one before, its frames, and what it is.
_Part = tuple[str, list[dict[str, Any]], list[str]]


class RanksFailed(RuntimeError):  # noqa: N818
    """A rank raised an exception, died, or did not come to its end. `errors` says of each that did not why, by rank."""

    def __init__(self, message: str, errors: dict[int, str] | None = None) -> None:
        super().__init__(message)
        self.errors = errors or {}

    def _render_traceback_(self) -> list[str]:
        return f"RanksFailed: {self}".splitlines()  # IPython shows it: by what ways ranks were started says nothing


class Fate:
    """What became of one rank."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.state = RUNNING
        self.when = 0.0  # it became something else
        self.result = b""  # of one that is done
        self.raised: list[_Part] = []
        self.status: int | None = None  # of one that died, as `waitpid` has it
        self.stack = ""  # of one that is running still, as faulthandler has it
        self.printed = ""
        self.noise = ""  # what C++ printed, and where one that died stood

    def become(self, state: str, content: Any = None) -> None:
        self.state, self.when = state, time.monotonic()
        if state == DONE:
            self.result = content
        elif state == RAISED:
            self.raised = content

    @property
    def lost(self) -> bool:
        """Whether it raised only because it could not reach another."""
        return self.state == RAISED and bool(_BROKEN.search("".join(self.raised[-1][2])))


_BROKEN = re.compile(r"[Cc]onnection (was )?(closed|reset|refused)|Broken pipe|connectFullMesh|failed to connect")


def failure(ranks: Sequence[Fate], why: str, torch: str) -> RanksFailed:
    """The error for a call of which not every rank is done. `torch` is the folder of that package."""
    fell = sorted((rank for rank in ranks if rank.state in (RAISED, DIED)), key=lambda rank: rank.when)
    first = [rank for rank in fell if not rank.lost] or fell
    words = {}
    linecache.checkcache()  # a file may have been written since
    for rank in ranks:
        if rank.state == DONE:
            words[rank.number] = "is done"
        elif rank in first:
            words[rank.number] = _death(rank, torch) if rank.state == DIED else _traceback(rank.raised)
        elif rank.state == RAISED:
            words[rank.number] = f"lost its connection when {_numbers(first)} failed"
        else:
            called, place = _place(rank.stack, torch)
            if first:
                words[rank.number] = f"waited{' in ' * bool(called)}{called} when {_numbers(first)} failed"
            else:
                is_there = f"{'waits' if why == DEADLOCK else 'is'} {f'in {called}' if called else 'here:'}"
                words[rank.number] = f"{is_there}\n{place}".rstrip()
    if first:
        reason = _ending(first[0].status) if first[0].state == DIED else first[0].raised[-1][2][-1].splitlines()[0]
        head = f"{_numbers(first)} of {len(ranks)} {'died' if first[0].state == DIED else 'failed'}: {reason}"
    else:
        head = f"{why}: {_numbers([rank for rank in ranks if rank.state == RUNNING])} of {len(ranks)}"
    lines = [head, *(f"[rank {number}] {line}" for number, text in words.items() for line in text.splitlines())]
    return RanksFailed("\n".join(lines), {rank.number: words[rank.number] for rank in ranks if rank.state != DONE})


def _death(rank: Fate, torch: str) -> str:
    """How a process ended, the last that C++ had to say, and where it stood if a signal ended it."""
    said, _, fatal = rank.noise.partition("Fatal Python error:")
    called, place = _place(fatal.rpartition("hread 0x")[2], torch)  # the main thread is the last
    lines = [f"died: {_ending(rank.status)}", *said.strip().splitlines()[-3:]]
    return "\n".join(lines + [f"it was {f'in {called}' if called else 'here:'}\n{place}"] * bool(place))


def _numbers(ranks: Sequence[Fate]) -> str:
    *most, last = map(str, sorted(rank.number for rank in ranks))
    return f"ranks {', '.join(most)} and {last}" if most else f"rank {last}"


def _ending(status: int | None) -> str:
    """How a process ended, by its status as `waitpid` has it."""
    code = None if status is None else os.waitstatus_to_exitcode(status)
    if code is None:
        return "it could not be started"
    return f"exit code {code}" if code >= 0 else signal.Signals(-code).name


# Exceptions ----------------------------------------------------------------------------------------------------------


def parts(error: BaseException, own: str) -> list[_Part]:
    """An exception, after those that it came of, as what can be copied. Frames of the file `own` are left out."""
    found, chain = [], traceback.TracebackException.from_exception(error, lookup_lines=False, compact=True)
    while chain is not None:
        frames = [{name: getattr(frame, name) for name in _FRAME} for frame in chain.stack if frame.filename != own]
        frames = _without_extensions(frames, "filename")
        cause, context = chain.__cause__, None if chain.__suppress_context__ else chain.__context__
        began = _BECAUSE if cause is not None else _DURING if context is not None else ""
        found.insert(0, (began, frames, [*chain.format_exception_only()]))
        chain = cause if cause is not None else context
    return found


_FRAME = ("filename", "lineno", "name", "end_lineno", "colno", "end_colno")
_BECAUSE = "\nThe above exception was the direct cause of the following exception:\n\n"
_DURING = "\nDuring handling of the above exception, another exception occurred:\n\n"


def _traceback(chain: list[_Part]) -> str:
    """The text of an exception as Python prints it."""
    text = ""
    for began, frames, exception in chain:
        summary = [traceback.FrameSummary(lookup_line=False, **frame) for frame in frames]
        text += began + ("Traceback (most recent call last):\n" if summary else "")
        text += "".join([*traceback.StackSummary.from_list(summary).format(), *exception])
    return text.rstrip()


# Places --------------------------------------------------------------------------------------------------------------


def _place(stack: str, torch: str) -> tuple[str, str]:
    """In what of torch's a rank waits, and the lines of a traceback that are the student's own."""
    frames = [(file, int(line), name) for file, line, name in re.findall(r'File "(.*)", line (\d+) in (.*)', stack)]
    frames = [*itertools.takewhile(lambda frame: frame[0] != _RANKS, frames)]  # the innermost is the first
    libraries = (torch + os.sep, os.path.dirname(linecache.__file__) + os.sep)
    mine = [(*frame, None) for frame in reversed(_without_extensions(frames, 0)) if not frame[0].startswith(libraries)]
    inside = [*itertools.takewhile(lambda frame: frame[0].startswith(libraries), frames)]
    names = [(file, name) for file, _, name in reversed(inside) if name not in ("wrapper", "inner")]
    called = [name for file, name in names if file.endswith("distributed_c10d.py")] or [name for _, name in names]
    return called[0] if called else "", "".join(traceback.format_list(mine)).rstrip()


def _without_extensions(frames: list, file: Any) -> list:
    """The frames without those of extensions, such as a grader that calls an exercise in a check; all of them if none is left."""
    folders = tuple(each.folder + os.sep for each in extensions.registered())
    return [frame for frame in frames if not frame[file].startswith(folders)] or frames


_RANKS = str(Path(__file__).with_name("ranks.py"))
