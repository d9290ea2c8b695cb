"""torch's answers to public cases: recorded where torch is, and the judge's source of cases where it is not.

A student without torch practises on these cases. They are the same for everybody, and no class is marked on them. Cells that run
torch show outputs that were recorded too.
"""

from __future__ import annotations

import hashlib
import importlib.util
import io
import json
import platform
import zipfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ..course import COURSE, SOURCES, replacing
from ..language import phrase
from ..model import check_name
from .check import Check, find, is_on_torch, registry
from .check import source as text_of
from .edition import check_files
from .limits import IN_BROWSER
from .observe import Tree, encode, receive
from .source import NotRecorded, PendingCases, Source, key_of, other_torch

if TYPE_CHECKING:
    from nbformat import NotebookNode

FOLDER = COURSE / "recordings"  # for each lab a zip file, with an entry for each check
ABOUT = "about.json"  # the entry that says which torch answered, and the digest of the text that it answered for
OUTPUTS = "outputs.json"  # the entry with the outputs of a lab's cells that run torch
PUBLIC_SEED = 0
NEEDED = ("check", "observe", "torch_dumps", "torch_side", "torch_source")  # modules here that make cases or answers
BUDGET = 1 << 18  # bytes for a check: beyond, a drawn case is not kept
INSTALL = (
    phrase("on your own machine the course asks torch itself")
    if IN_BROWSER
    else phrase("`make -B setup` in the course's folder installs torch")
)


class Recorded(NamedTuple):
    """The recorded cases of a check, edges first, torch's answers, and the cases as code if the check shows them so."""

    cases: list[dict]
    answers: list[Tree]
    listings: list[str]
    edges: int
    exact: bool


class Outputs(NamedTuple):
    """The outputs of a lab's cells that run torch, by the cell's text, and the digest of the solution that gave them."""

    digest: str
    torch: str
    cells: dict[str, list[dict]]


class Practice:
    """Cases of the public seed with torch's answers, from the files that `record` wrote."""

    def __init__(self) -> None:
        self.note = ""

    def reseed(self) -> None:
        """The cases stay the same."""

    def edges(self, check: Check) -> list[dict]:
        """The recorded edges of a check."""
        if check.is_drawn:  # its answers are recorded with those of another part
            return check.edges
        known = recorded(check.name)
        return known.cases[: known.edges]

    def draw(self, check: Check) -> list[dict]:
        """The recorded cases of a check that are not edges."""
        known = recorded(check.name)
        return known.cases[known.edges :]

    def begin(self, check: Check) -> PendingCases:
        """The recorded cases of a check, with torch's answers."""
        known = recorded(check.name)
        version = torch_of(check.lab)
        self.note = phrase(
            f"practice: these cases are public, their answers recorded from torch {version}; in a class, points are for other cases"
        )
        if known.exact:
            self.note = phrase("practice: these cases are public; in a class, points are for other cases")
        return PendingCases(known.cases, lambda: known.answers, known.edges)

    def ask(self, check: Check, cases: list[dict]) -> Callable[[], list[Tree]]:
        """Return a function that gives torch's answers. Raises NotRecorded for a case without one."""
        known = recorded(check.name)
        answers = dict(zip(map(key_of, known.cases), known.answers))
        if not answers.keys() >= {*map(key_of, cases)}:
            raise NotRecorded(f"there is no torch here, and its answer to this case was not recorded; {INSTALL}")
        return lambda: [answers[key_of(case)] for case in cases]

    def rounded(self, check: Check, case: dict) -> Iterator[Tree]:
        """Return none: torch is not here."""
        return iter(())

    def search(self, check: Check, differs: Callable[[dict], bool]) -> None:
        """Propose nothing: the smallest of the recorded cases is shown."""

    def is_exact(self, check: Check) -> bool:
        """Whether the answers are those of an exact calculation without torch."""
        return recorded(check.name).exact

    def listing(self, check: Check, case: dict) -> str:
        """The case as code, if the check shows it so."""
        known = recorded(check.name)
        return known.listings[[*map(key_of, known.cases)].index(key_of(case))] if known.listings else ""


def source() -> Source | None:
    """What a judge in this process asks in the place of torch, or None if torch is here."""
    return None if has_torch() else Practice()


def has_torch() -> bool:
    """Whether this Python has torch."""
    return importlib.util.find_spec("torch") is not None


def about_judge() -> str:
    """A line that says who answers in the place of the course's torch, or nothing if that is here."""
    if needs := other_torch():
        return phrase(
            f"the course {needs}: some checks and cells give other results here, and no class is marked; {INSTALL}"
        )
    if has_torch():
        return ""
    return phrase(
        f"there is no torch here: checks compare with its recorded answers to public cases, which is practice; {INSTALL}"
    )


# Files ---------------------------------------------------------------------------------------------------------------


@cache
def recorded(name: str) -> Recorded:
    """The recorded cases of a check. Raises NotRecorded if there are none, or those of another version of the course."""
    check = find(name)
    lab = check.lab
    if check.examine is not None and not check.is_drawn:
        raise NotRecorded(f"this check runs your answer on torch, which is not here; {INSTALL}")
    if is_on_torch(lab):
        raise NotRecorded(f"lab {lab} works on torch itself, which is not here; {INSTALL}")
    if not _path(lab).exists():
        raise NotRecorded(f"there is no torch here, and nothing recorded of it for lab {lab}; {INSTALL}")
    if not fresh(lab):
        raise NotRecorded(
            f"what was recorded of torch for lab {lab} belongs to another version of the course; {INSTALL}"
        )
    python = _about(lab).get("python", _python())
    if python != _python() and check.torch_program and "import dis\n" in text_of(check.torch_program):
        raise NotRecorded(
            f"torch's answers about bytecode are those of Python {python}, and this is {_python()}; {INSTALL}"
        )
    with zipfile.ZipFile(_path(lab)) as file:
        known = Recorded(**receive(io.BytesIO(file.read(name))))
    return known if importlib.util.find_spec("ml_dtypes") else without_bfloat16(known)


def without_bfloat16(known: Recorded) -> Recorded:
    """What is left for a Python without the package ml_dtypes, which has no bfloat16."""
    kept = [i for i, case in enumerate(known.cases) if '"bfloat16"' not in key_of(case)]
    cases, answers = [known.cases[i] for i in kept], [known.answers[i] for i in kept]
    listings = [known.listings[i] for i in kept] if known.listings else []
    return Recorded(cases, answers, listings, sum(i < known.edges for i in kept), known.exact)


def fresh(lab: str) -> Path | None:
    """The file of a lab, if there is one, and if it was recorded for the present text of the lab's checks."""
    return _path(lab) if _about(lab).get("digest") == digest(lab) else None


def torch_of(lab: str) -> str:
    """The version of torch whose answers were recorded for a lab."""
    return _about(lab)["torch"]


def outputs(lab: str) -> Outputs | None:
    """The recorded outputs of a lab's cells, or None if there are none, or only those of another text of the lab.

    A class repository and a wheel have no solution: there the text of a cell alone decides.
    """
    with suppress(LookupError, ValueError, TypeError):
        kept = Outputs(**json.loads(_entries(lab)[OUTPUTS]))
        if not _solution(lab).exists() or kept.digest == _digest_of([_solution(lab)]):
            return kept
    return None


def record(lab: str) -> bool:
    """Record torch's answers for a lab, unless those for the present text of its checks are there. Returns whether it did."""
    if fresh(lab):
        return False
    from .torch_source import TorchSource

    asked = TorchSource(PUBLIC_SEED)
    about = {"digest": digest(lab), "torch": _version(), "python": _python()}
    compared = (check for check in registry().values() if check.examine is None or check.is_drawn and check.show)
    checks = [check for check in compared if check.lab == lab]
    entries = {check.name: encode(_ask(asked, check)) for check in checks}
    shown = {name: data for name, data in _entries(lab).items() if name == OUTPUTS}
    _write(lab, entries | {ABOUT: json.dumps(about).encode()} | shown)
    return True


def record_outputs(lab: str, execute: Callable[[NotebookNode], NotebookNode]) -> bool:
    """Record the outputs of a lab's cells that run torch, unless those of the present text are there. Returns whether it did."""
    if outputs(lab) or not _solution(lab).exists():
        return False
    import nbformat

    notebook = nbformat.read(_solution(lab), as_version=4)
    last = max((i for i, cell in enumerate(notebook.cells) if _runs_torch(cell)), default=-1)
    notebook.cells = [c for c in notebook.cells[: last + 1] if c.cell_type == "code" and not check_name(c)]
    ran = filter(_runs_torch, execute(notebook).cells if notebook.cells else [])
    cells = {cell.source: [_smaller(output) for output in cell.outputs] for cell in ran}
    kept = Outputs(_digest_of([_solution(lab)]), _version(), cells)
    _write(lab, _entries(lab) | {OUTPUTS: json.dumps(kept._asdict()).encode()})
    return True


def _runs_torch(cell: NotebookNode) -> bool:
    return "torch" in cell.metadata.get("tags", ())


def _smaller(output: NotebookNode) -> dict:
    """An output without the number of its cell, and with the smaller one of two forms of a picture."""
    if output.output_type == "execute_result":
        output.execution_count = None
    if {"image/png", "image/svg+xml"} <= (data := output.get("data", {})).keys():
        del data[max("image/png", "image/svg+xml", key=lambda kind: len(data[kind]))]
    return output


def _python() -> str:
    """The version of Python that decides what bytecode looks like."""
    return platform.python_version().rpartition(".")[0]


def _ask(asked: Source, check: Check) -> Tree:
    cases, wait, edges = asked.begin(check)
    answers = wait()
    sizes = [len(encode([case, answer])) for case, answer in zip(cases, answers)]
    kept = [i for i, size in enumerate(accumulate(sizes)) if i < edges or size < BUDGET]
    listings = [_listing(asked, check, cases[i]) for i in kept] if check.show else []
    return Recorded(
        [cases[i] for i in kept], [answers[i] for i in kept], listings, edges, asked.is_exact(check)
    )._asdict()


def _listing(asked: Source, check: Check, case: dict) -> str:
    with suppress(Exception):  # as in a verdict: the case is shown as data
        return asked.listing(check, case)
    return ""


def _path(lab: str) -> Path:
    return FOLDER / f"{lab}.zip"


def _solution(lab: str) -> Path:
    return SOURCES / lab / f"{lab}.ipynb"


def _version() -> str:
    import torch

    return torch.__version__.partition("+")[0]


def _write(lab: str, entries: dict[str, bytes]) -> None:
    """Write a lab's file, without times, so that it is the same each time."""
    FOLDER.mkdir(exist_ok=True)
    with replacing(_path(lab)) as part, zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as file:
        for name, data in entries.items():
            file.writestr(zipfile.ZipInfo(name), data, zipfile.ZIP_DEFLATED)


def _entries(lab: str) -> dict[str, bytes]:
    """All entries of a lab's file. Empty if there is none, or only a part of one."""
    with suppress(OSError, zipfile.BadZipFile), zipfile.ZipFile(_path(lab)) as file:
        return {name: file.read(name) for name in file.namelist()}
    return {}


def _about(lab: str) -> dict:
    with suppress(OSError, zipfile.BadZipFile, KeyError, ValueError), zipfile.ZipFile(_path(lab)) as file:
        return json.loads(file.read(ABOUT))
    return {}  # there is none, or only a part of one


@cache
def digest(lab: str) -> str:
    """A hash of the text that the cases of a lab's checks and torch's answers follow from."""
    return _digest_of([*(Path(__file__).with_name(f"{name}.py") for name in NEEDED), *check_files([lab])])


def _digest_of(paths: list[Path]) -> str:
    return hashlib.sha256(b"".join(path.read_bytes() for path in paths)).hexdigest()[:16]
