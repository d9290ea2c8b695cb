"""A student's working copy of PyTorch: its Python files, one of them with the fault of a case, in `work/15a/pytorch/`.

The folder has a package `torch`. Its texts are copies of the installed ones, and the rest of it is links: so what a student saves
is in the copy, and the installation stays as it is. There is one copy for a lab. The patch of each case that was begun is kept in
`work/15a/patches/`, and is there again when the case is.
"""

from __future__ import annotations

import itertools
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..course import WORK, replacing
from ..engine import changes, overlay
from ..engine.changes import Case, NotApplicable
from ..engine.observe import GradingError
from ..language import speak


def copy_of(number: str) -> WorkingCopy:
    """The copy of the lab of a case, such as `15a.1`."""
    return WorkingCopy(number.partition(".")[0])


def begun_last() -> str:
    """The lab in whose copy a case was started last, or else the first one."""
    begun = sorted(WORK.glob("*/pytorch/case.txt"), key=lambda path: path.stat().st_mtime)
    return begun[-1].parents[1].name if begun else "15a"


def told(case: Case) -> str:
    """What a student reads about a case: its report, the user's program, and how long an answer may be, or a pull request."""
    limits = speak(
        "a program that shows the fault has at most {statements} statements (a lambda counts), and a mend adds and removes at most"
        " {lines} lines",
        statements=case.statements, lines=case.lines,
    )  # fmt: skip
    if case.proposed:
        patch = changes.diff(case.patient, case.begun)
        limits = speak("a pull request:") + f"\n\n{case.pull}\n\n{patch}"
    return f"{case.title}\n\n{case.report}\n\n{case.symptom}\n\n{limits}"


@dataclass
class WorkingCopy:
    """The copy of a lab."""

    lab: str

    @property
    def folder(self) -> Path:
        return WORK / self.lab / "pytorch"

    @property
    def _says_which(self) -> Path:
        return self.folder / "case.txt"

    @property
    def case(self) -> Case:
        """The case that is in the copy. Raises GradingError if no case was begun, LookupError for a lab without cases."""
        if not self._says_which.exists():
            first = changes.find_case(f"{self.lab}.1").number
            raise GradingError(
                f"there is no working copy in {self.folder}: `rushlight pytorch start {first}` makes one"
            )
        return changes.find_case(self._says_which.read_text().strip())

    def patch_file(self, number: str) -> Path:
        return WORK / self.lab / "patches" / f"{number}.diff"

    def start(self, number: str) -> Case:
        """Put a case into the copy, with the patch that was kept for it. The patch of the case before is kept.

        Raises LookupError for a case that there is not, GradingError for another torch than the cases are for.
        """
        case = changes.find_case(number)
        if reason := changes.needs_torch():
            raise GradingError(reason)
        if self._says_which.exists():
            self.keep()
            self._restore(self.case)
        else:
            shutil.rmtree(partial := self.folder.with_name("pytorch.partial"), ignore_errors=True)
            overlay.copied(partial)
            partial.rename(self.folder)
        self._write(case.begun)
        self._says_which.write_text(f"{number}\n")
        if (kept := self.patch_file(number)).exists():
            try:
                self._write(changes.patched(self._before(case), kept.read_text(encoding="utf-8")))
            except NotApplicable as error:
                raise GradingError(f"the patch in {kept} does not fit, and is not applied: {error}") from None
        return case

    def is_of(self, number: str) -> bool:
        """Whether the copy has this case."""
        return self._says_which.exists() and self.case.number == number

    def diff(self) -> str:
        """The student's patch: the unified diff of the copy to the patient, all files considered."""
        case = self.case
        names = {name for name in self._names() if self._read(name) != self._original(name, case)}
        return changes.diff(
            {name: self._original(name, case) for name in names}, {name: self._read(name) for name in names}
        )

    def keep(self) -> Path | None:
        """Write the patch of the case in the copy to its file. Returns the file, or None if there is no patch. Then a file that was
        kept before has another name."""
        path, patch = self.patch_file(self.case.number), self.diff()
        if not patch:
            if path.exists():
                path.rename(_undone(path))
            return None
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(path) as new:
            new.write_text(patch, encoding="utf-8")
        return path

    def undo(self) -> Path | None:
        """Take all changes back. Returns the file with the patch that was taken back, or None if there was none."""
        kept = self.keep()
        self._restore(self.case)
        self._write(self.case.begun)
        return kept.rename(_undone(kept)) if kept else None

    def run(self, words: Sequence[str]) -> int:
        """Run Python with the PyTorch of the copy. Returns its exit code."""
        return subprocess.run([sys.executable, *words], env=self._environment()).returncode

    def output(self, cell: str, as_installed: bool = False) -> str:
        """What a cell prints, errors included, as a script with the PyTorch of the copy, or with the installed one."""
        script = self.folder.with_name("cell.py")
        script.write_text(cell, encoding="utf-8")
        environment = os.environ if as_installed else self._environment()
        ran = subprocess.run(
            [sys.executable, script], env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        if ran.returncode not in (0, 1):  # 1 has a traceback
            return ran.stdout + speak("(the script ended with exit code {code})", code=ran.returncode) + "\n"
        return ran.stdout

    def _environment(self) -> dict[str, str]:
        first = os.pathsep.join(filter(None, (str(self.folder), os.environ.get("PYTHONPATH"))))
        return os.environ | {"PYTHONPATH": first}

    def results(self) -> Iterator[tuple[str, str]]:
        """For the symptom, and for each program that was right before: the first difference from PyTorch as it is installed, or an
        empty text. Raises what a program can bring about."""
        case = self.case
        shown = {name: text for name, text in case.programs.items() if name.startswith(("symptom", "kept"))}
        names = {name for name in self._names() if self._read(name) != changes.installed(name)}
        with changes.processes({name: self._read(name) for name in names}) as (process,):
            found = dict(changes.apart(process, shown))
        yield from ((name, found.get(name, "")) for name in shown)

    def _names(self) -> list[str]:
        """The Python files of the copy, by names such as `torch/optim/sgd.py`."""
        return sorted(path.relative_to(self.folder).as_posix() for path in self.folder.glob("torch/**/*.py"))

    def _read(self, name: str) -> str:
        return (self.folder / name).read_text(encoding="utf-8")

    def _original(self, name: str, case: Case) -> str:
        if name not in case.needs and not (overlay.site() / name).exists():
            return ""  # a file that the student has added
        return case.begun.get(name) or changes.installed(name)

    def _before(self, case: Case) -> dict[str, str]:
        return {name: self._original(name, case) for name in self._names()}

    def _restore(self, case: Case) -> None:
        """Make the copy PyTorch as it is installed."""
        for name in self._names():
            if not (overlay.site() / name).exists():
                (self.folder / name).unlink()
            elif self._read(name) != (text := changes.installed(name)):
                (self.folder / name).write_text(text, encoding="utf-8")

    def _write(self, files: changes.Files) -> None:
        for name, text in files.items():
            if not (self.folder / name).exists() or self._read(name) != text:
                (self.folder / name).write_text(text, encoding="utf-8")


def _undone(path: Path) -> Path:
    """A name that no file has, for a patch that was taken back."""
    numbers = (path.with_suffix(f".undone{number}.diff") for number in itertools.count(1))
    return next(name for name in numbers if not name.exists())
