"""Descriptions of failed ranks: which rank failed first, with a traceback that begins at the student's function; which ranks
lost a connection because of it; and where the ranks that still run are waiting.

A rank sends only the parts of an exception that can be copied: the files and lines of its frames. The text of the lines is
looked up where the message is made, because only its kernel knows the cells of a notebook.
"""

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

from rushlight.utils import _extensions as extensions

RUNNING, DONE, RAISED, DIED = "running", "done", "raised", "died"
DEADLOCK = "a deadlock"

# One exception of a chain: its relation to the one before, its frames, and its message.
_Part = tuple[str, list[dict[str, Any]], list[str]]


class RanksFailed(RuntimeError):  # noqa: N818
    """A rank raised an exception, died, or did not finish. `errors` has the reason for each of these ranks, by rank."""

    def __init__(self, message: str, errors: dict[int, str] | None = None) -> None:
        super().__init__(message)
        self.errors = errors or {}

    def _render_traceback_(self) -> list[str]:
        return f"RanksFailed: {self}".splitlines()  # for IPython: the frames that started the ranks do not help


class RankOutcome:
    """The outcome of one rank."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.state = RUNNING
        self.when = 0.0  # time of the last change of state
        self.on_gpu = False
        self.result = b""  # of a rank that is done
        self.raised: list[_Part] = []
        self.status: int | None = None  # of a rank that died, from `waitpid`
        self.stack = ""  # of a rank that still runs, from faulthandler
        self.printed = ""
        self.native_output = ""  # the output of C++ and, for a rank that died, of faulthandler

    def set_state(self, state: str, content: Any = None) -> None:
        self.state, self.when = state, time.monotonic()
        if state == DONE:
            self.result = content
        elif state == RAISED:
            self.raised = content

    @property
    def lost_connection(self) -> bool:
        """Return whether the rank raised only because it could not reach another rank."""
        return self.state == RAISED and bool(_DISCONNECTED.search("".join(self.raised[-1][2])))


_DISCONNECTED = re.compile(r"[Cc]onnection (was )?(closed|reset|refused)|Broken pipe|connectFullMesh|failed to connect")


def build_error(ranks: Sequence[RankOutcome], why: str, torch: str) -> RanksFailed:
    """The error for a call in which not every rank is done. `torch` is the folder of that package."""
    failed = sorted((rank for rank in ranks if rank.state in (RAISED, DIED)), key=lambda rank: rank.when)
    first = [rank for rank in failed if not rank.lost_connection] or failed
    descriptions = {}
    linecache.checkcache()  # files may have changed
    for rank in ranks:
        if rank.state == DONE:
            descriptions[rank.number] = "is done"
        elif rank in first:
            died = rank.state == DIED
            descriptions[rank.number] = _describe_death(rank, torch) if died else _format_exception(rank.raised)
        elif rank.state == RAISED:
            descriptions[rank.number] = f"lost its connection when {_list_ranks(first)} failed"
        else:
            called, own_lines = _find_caller(rank.stack, torch)
            if first:
                descriptions[rank.number] = f"waited{' in ' * bool(called)}{called} when {_list_ranks(first)} failed"
            else:
                is_there = f"{'waits' if why == DEADLOCK else 'is'} {f'in {called}' if called else 'here:'}"
                descriptions[rank.number] = f"{is_there}\n{own_lines}".rstrip()
    if first:
        error = first[0].raised[-1][2][-1].splitlines()[0] if first[0].state == RAISED else ""
        what = f"failed: {error}" if error else f"died: {_describe_exit(first[0].status)}"
        head = f"{_list_ranks(first)} of {len(ranks)} {what}"
    else:
        head = f"{why}: {_list_ranks([rank for rank in ranks if rank.state == RUNNING])} of {len(ranks)}"
    lines = [head, *(f"[rank {number}] {line}" for number, text in descriptions.items() for line in text.splitlines())]
    errors = {rank.number: descriptions[rank.number] for rank in ranks if rank.state != DONE}
    return RanksFailed("\n".join(lines), errors)


def _describe_death(rank: RankOutcome, torch: str) -> str:
    """Describe the end of a process, with the last lines that C++ printed, and the stack if a signal ended it."""
    said, _, fatal = rank.native_output.partition("Fatal Python error:")
    called, own_lines = _find_caller(fatal.rpartition("hread 0x")[2], torch)  # the main thread is the last
    lines = [f"died: {_describe_exit(rank.status)}", *said.strip().splitlines()[-3:]]
    return "\n".join(lines + [f"it was {f'in {called}' if called else 'here:'}\n{own_lines}"] * bool(own_lines))


def _list_ranks(ranks: Sequence[RankOutcome]) -> str:
    *most, last = map(str, sorted(rank.number for rank in ranks))
    return f"ranks {', '.join(most)} and {last}" if most else f"rank {last}"


def _describe_exit(status: int | None) -> str:
    """Describe the end of a process by the status that `waitpid` returns."""
    code = None if status is None else os.waitstatus_to_exitcode(status)
    if code is None:
        return "it could not be started"
    return f"exit code {code}" if code >= 0 else signal.Signals(-code).name


# Exceptions ----------------------------------------------------------------------------------------------------------


def flatten_exception(error: BaseException, own: str) -> list[_Part]:
    """An exception, after its causes, in parts that can be copied. Frames of the file `own` are left out."""
    parts, chain = [], traceback.TracebackException.from_exception(error, lookup_lines=False, compact=True)
    while chain is not None:
        frames = [{name: getattr(frame, name) for name in _FRAME} for frame in chain.stack if frame.filename != own]
        frames = _without_extensions(frames, "filename")
        cause, context = chain.__cause__, None if chain.__suppress_context__ else chain.__context__
        began = _BECAUSE if cause is not None else _DURING if context is not None else ""
        parts.insert(0, (began, frames, [*chain.format_exception_only()]))
        chain = cause if cause is not None else context
    return parts


_FRAME = ("filename", "lineno", "name", "end_lineno", "colno", "end_colno")
_BECAUSE = "\nThe above exception was the direct cause of the following exception:\n\n"
_DURING = "\nDuring handling of the above exception, another exception occurred:\n\n"


def _format_exception(chain: list[_Part]) -> str:
    """The text of an exception as Python prints it."""
    text = ""
    for began, frames, exception in chain:
        summary = [traceback.FrameSummary(lookup_line=False, **frame) for frame in frames]
        text += began + ("Traceback (most recent call last):\n" if summary else "")
        text += "".join([*traceback.StackSummary.from_list(summary).format(), *exception])
    return text.rstrip()


# Stacks --------------------------------------------------------------------------------------------------------------


def _find_caller(stack: str, torch: str) -> tuple[str, str]:
    """The function of torch in which a rank waits, and the lines of a traceback in the student's own code."""
    frames = [(file, int(line), name) for file, line, name in re.findall(r'File "(.*)", line (\d+) in (.*)', stack)]
    frames = [*itertools.takewhile(lambda frame: frame[0] != _RANKS, frames)]  # the innermost is the first
    libraries = (torch + os.sep, os.path.dirname(linecache.__file__) + os.sep)
    mine = [(*frame, None) for frame in reversed(_without_extensions(frames, 0)) if not frame[0].startswith(libraries)]
    inside = [*itertools.takewhile(lambda frame: frame[0].startswith(libraries), frames)]
    names = [(file, name) for file, _, name in reversed(inside) if name not in ("wrapper", "inner")]
    called = [name for file, name in names if file.endswith("distributed_c10d.py")] or [name for _, name in names]
    return called[0] if called else "", "".join(traceback.format_list(mine)).rstrip()


def _without_extensions(frames: list, file: Any) -> list:
    """The frames without those of extensions, such as a grader that calls an exercise in a check; all of them if none is
    left."""
    folders = tuple(extension.folder + os.sep for extension in extensions.registered())
    return [frame for frame in frames if not frame[file].startswith(folders)] or frames


_RANKS = str(Path(__file__).with_name("ranks.py"))
