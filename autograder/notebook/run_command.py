"""A program that was written for PyTorch: which functions it calls on rushlight, and what it prints on both.

Source of the program's run: `rushlight/course/as_torch.py`.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator, Mapping
from decimal import Decimal
from importlib.util import find_spec
from itertools import zip_longest
from types import CodeType, FrameType, FunctionType, ModuleType
from typing import Any

import rushlight
from rushlight.course import as_torch

from ..language import phrase, speak

NUMBER = re.compile(r"[-+]?\d+(?:\.\d*)?(?:[eE][-+]?\d+)?")
DIGITS = 6  # of a float32, which a program may print with more
ON_TORCH = """
import sys
from rushlight.course import as_torch

as_torch.execute(sys.argv[3:], sys.argv[1] == "-m", int(sys.argv[2]))
"""
SIMPLER = {"ATEN_CPU_CAPABILITY": "default", "ONEDNN_MAX_CPU_ISA": "SSE41", "MKL_ENABLE_INSTRUCTIONS": "SSE4_2"}
ONLY_HERE = ("aten", "c10", "course", "torchgen")  # rooms whose names are PyTorch's, but not their paths


# Who answers ---------------------------------------------------------------------------------------------------------


class Answers:
    """Counts, while a program runs, the functions that its own files call, and the names that it looks for in vain.

    `yours` has the names of the student's pieces by their code. These count, wherever they are called.
    """

    def __init__(self, yours: Mapping[CodeType, str]) -> None:
        self.yours = yours
        # in a piece's code, the file is a cell: `<01a_views, cell c3>`
        self.notebooks = {code.co_filename.partition(",")[0] for code in yours}
        self.calls: dict[str, Counter[str]] = {"yours": Counter(), "rushlight's": Counter()}
        self.missing: dict[str, tuple[int, str]] = {}  # by its name, how often, and where first
        # of rushlight's functions, by their code, the module and the name; of a method no module
        self.names: dict[CodeType, tuple[str, str]] = {}
        for path, module in sorted(sys.modules.items(), key=lambda item: item[0].count(".")):
            if path.startswith("rushlight") and f"{path}.".split(".")[1] not in ONLY_HERE:
                self._add_names(as_torch.torch_name(path), vars(module))
                for kind in [*vars(module).values()]:
                    if isinstance(kind, type) and as_torch.torch_name(kind.__module__):
                        self._add_names("", vars(kind))

    def _add_names(self, owner: str, members: Mapping[str, Any]) -> None:
        for name, value in members.items():
            function = getattr(value, "fget", None) or getattr(value, "func", value)  # of a property, of a partial
            if not isinstance(function, FunctionType) or not function.__code__.co_filename.startswith(as_torch.HERE):
                continue
            if name in ("__getattr__", "__setattr__") or owner and hasattr(function, "__wrapped__"):
                continue  # all that a decorator wraps has the same code
            self.names.setdefault(function.__code__, (owner, name))

    def start(self) -> None:
        def note(owner: Any, name: str) -> Any:
            self._note(as_torch.public_name(owner), name, sys._getframe(1))
            raise AttributeError(f"{owner!r} has no attribute {name!r}", name=name, obj=owner)

        noting: Any = type("Noting", (ModuleType,), {"__getattr__": note})
        as_torch.left_out, as_torch.not_theirs = (
            noting,
            (*as_torch.not_theirs, __file__),
        )  # the error is raised in this file
        for path, module in [*sys.modules.items()]:
            if path.partition(".")[0] == "rushlight":
                module.__class__ = noting
        tensor: Any = rushlight.Tensor
        tensor.__getattr__ = note  # slow, and so only here
        threading.setprofile(self._count)
        sys.setprofile(self._count)

    def _note(self, owner: str, name: str, frame: FrameType) -> None:
        file, line = frame.f_code.co_filename, frame.f_lineno
        if self._is_programs(file) and not name.startswith("__") and as_torch.torch_has(owner, name) is not False:
            count, where = self.missing.get(f"{owner}.{name}", (0, as_torch.place(file, line)))
            self.missing[f"{owner}.{name}"] = count + 1, where

    def _count(self, frame: FrameType, event: str, _: Any) -> None:
        code, caller = frame.f_code, frame.f_back
        if event != "call":
            return
        if code in self.yours:
            self.calls["yours"][self.yours[code]] += 1
        elif code in self.names and caller and self._is_programs(caller.f_code.co_filename):
            owner, name = self.names[code]
            if not owner:
                first = frame.f_locals[code.co_varnames[0]]
                owner = as_torch.public_name(first if code.co_argcount else first[0])
            self.calls["rushlight's"][f"{owner}.{name}".removesuffix(".__init__")] += 1

    def _is_programs(self, file: str) -> bool:
        return as_torch.is_theirs(file) and file.partition(",")[0] not in self.notebooks

    def lines(self) -> Iterator[str]:
        sys.setprofile(None)
        for whose, calls in self.calls.items():
            count, total = len(calls), calls.total()
            said = phrase("yours: {count} functions, {total:,} calls")
            said = said if whose == "yours" else phrase("rushlight's: {count} functions, {total:,} calls")
            yield speak(said, count=count, total=total)
            yield from (f"{count:10,}  {name}" for name, count in calls.most_common())
        yield speak("not there: {count} names", count=len(self.missing))
        for name, (count, where) in self.missing.items():
            yield f"{count:10,}  " + speak("{name}, first in {where}", name=name, where=where)


# What it prints ------------------------------------------------------------------------------------------------------


def compare(words: list[str], module: bool, ours: list[str], seed: int) -> tuple[bool, list[str]]:
    """Run a program on PyTorch and then on rushlight, by the command `ours`, in the same folder and with the same seed.

    If the outputs differ, PyTorch runs again with the kernels for a simpler processor. Where PyTorch's own output differs then, the
    program prints the noise of rounding, and what follows says nothing about rushlight.

    Returns whether both runs end alike and print the same, and lines that say how they differ.
    """
    if not find_spec("torch"):
        return False, [speak("there is no PyTorch here to compare with")]
    given = sys.stdin.read() if words[0] == "-" else None

    def printed(command: list[str], **settings: str) -> subprocess.CompletedProcess[str]:
        environment = os.environ | {"PYTHONHASHSEED": str(seed)} | settings
        options: Any = {
            "input": given,
            "stdout": subprocess.PIPE,
            "text": True,
            "errors": "replace",
            "env": environment,
        }
        return subprocess.run([*command, *words], **options)

    on_torch = [sys.executable, "-c", ON_TORCH, "-m" if module else "", str(seed)]
    theirs, own = printed(on_torch), printed([*ours, "--seed", str(seed), *["-m"] * module])
    how, line = difference(theirs.stdout, own.stdout)
    lines = [speak("the random numbers of Python, numpy and torch have seed {seed} on both", seed=seed)]
    if how == "equal":
        said = phrase("{line} lines of output are equal") if line != 1 else phrase("{line} line of output is equal")
        lines.append(speak(said, line=line))
    elif how == "last digit":
        lines.append(
            speak("the outputs differ only by 1 in the last digit of numbers, first in line {line}:", line=line)
        )
    else:
        how_torch, noisy = difference(theirs.stdout, printed(on_torch, **SIMPLER).stdout)
        if how_torch != "equal" and noisy <= line and theirs.returncode == own.returncode:
            said = phrase(
                "float noise from line {noisy} on: with kernels for a simpler processor PyTorch's own output differs there."
            )
            lines += [
                speak(said, noisy=noisy),
                speak("From PyTorch's usual output rushlight's differs first in line {line}:", line=line),
            ]
        else:
            lines.append(speak("the outputs differ, first in line {line}:", line=line))
    if how != "equal":
        for name, run in (("PyTorch", theirs), ("rushlight", own)):
            lines.append(f"  {name + ':':11}{[*run.stdout.splitlines(), *[speak('(none)')] * line][line - 1]}")
    if theirs.returncode != own.returncode:
        codes = {"theirs": theirs.returncode, "own": own.returncode}
        lines.append(speak("PyTorch's exit code is {theirs}, and rushlight's {own}", **codes))
    return how == "equal" and theirs.returncode == own.returncode, lines


def difference(theirs: str, ours: str) -> tuple[str, int]:
    """How two outputs differ (`equal`, `last digit`, `differs`) and in which line first, from 1.

    If the outputs are equal, the number is how many lines they have.
    """
    first = 0
    pairs = list(zip_longest(theirs.splitlines(), ours.splitlines()))
    for number, (left, right) in enumerate(pairs, 1):
        if left == right:
            continue
        if left is None or right is None or not _rounded_alike(left, right):
            return "differs", number
        first = first or number
    return ("last digit", first) if first else ("equal", len(pairs))


def _rounded_alike(left: str, right: str) -> bool:
    """Whether two lines differ at most by 1 in the last digit of numbers with a point, or in the sixth of longer numbers."""
    if NUMBER.split(left) != NUMBER.split(right):
        return False
    for one, other in zip(NUMBER.findall(left), NUMBER.findall(right)):
        a, b = Decimal(one), Decimal(other)
        last = min(int(a.as_tuple().exponent), int(b.as_tuple().exponent))
        is_whole = last >= 0 and "e" not in (one + other).lower()
        if a != b and (is_whole or abs(a - b) > Decimal(10) ** max(last, a.adjusted() - DIGITS + 1)):
            return False
    return True
