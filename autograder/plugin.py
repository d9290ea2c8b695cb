"""The nbgrader plugin: two preprocessors in `nbgrader autograde`, and the course's directories.

`Restore` rebuilds the submitted notebook on the released one before nbgrader looks at it. `RunInSubject` stands in the
place of nbgrader's `Execute`. All that comes after, saving grades, late penalties, feedback and the formgrader, is nbgrader's
own. With `RUSHLIGHT_GRADER=stock` in the environment nbgrader runs as it is.
"""

from __future__ import annotations

import contextlib
import copy
import os
import secrets
import sysconfig
import tempfile
import warnings
from functools import cache, partial
from pathlib import Path
from typing import Any, ClassVar

import nbformat
from nbformat import NotebookNode
from nbgrader.api import Gradebook, MissingEntry
from nbgrader.converters import Autograde
from nbgrader.converters.base import NbGraderException
from nbgrader.preprocessors import Execute, NbGraderPreprocessor, SaveCells
from sqlalchemy.exc import SAWarning
from traitlets import Bool, Unicode

from .judge import Judge
from .run import run
from .sandbox import missing

ROOT = Path(__file__).resolve().parent.parent
RELEASED, SOURCES = ROOT / "labs", ROOT / "solutions"

# nbgrader 0.9 on SQLAlchemy 2.1 warns at every submission about its own relations
warnings.filterwarnings("ignore", category=SAWarning, module="nbgrader")

# nbgrader finds `alembic` by PATH, and without it leaves a half-made gradebook
os.environ["PATH"] = os.pathsep.join([sysconfig.get_path("scripts"), os.environ.get("PATH", os.defpath)])


def classroom() -> Path:
    """Where the running class is: `classroom/`, or what RUSHLIGHT_CLASSROOM says."""
    return Path(os.environ.get("RUSHLIGHT_CLASSROOM", ROOT / "classroom")).resolve()


def configure(c: Any) -> None:
    """Set nbgrader's configuration `c` for this course; called by `nbgrader_config.py`."""
    place = classroom()
    for folder in ("submitted", "autograded", "feedback"):
        (place / folder).mkdir(parents=True, exist_ok=True)  # nbgrader fails every command where one is missing
        setattr(c.CourseDirectory, f"{folder}_directory", str(place / folder))
    c.CourseDirectory.course_id = "rushlight"
    c.CourseDirectory.root = str(ROOT)
    c.CourseDirectory.source_directory = "solutions"
    c.CourseDirectory.release_directory = "labs"
    c.CourseDirectory.db_url = f"sqlite:///{place / 'gradebook.db'}"
    c.CourseDirectory.ignore = [".ipynb_checkpoints", "*.pyc", "__pycache__", "*.md"]
    c.Autograde.pre_convert_hook = partial(register, c.CourseDirectory.db_url)
    c.NbGrader.logfile = str(place / "nbgrader.log")
    if os.environ.get("RUSHLIGHT_GRADER") == "stock":
        c.Execute.timeout = 60
        return
    sanitize = Autograde.sanitize_preprocessors.default_args[0]
    grade = Autograde.autograde_preprocessors.default_args[0]
    c.Autograde.sanitize_preprocessors = [Restore, *sanitize]
    c.Autograde.autograde_preprocessors = [RunInSubject if step is Execute else step for step in grade]
    c.RunInSubject.seed_file = str(place / "seed")


def register(db_url: str, assignment: str, student: str = "", notebooks: Any = ()) -> None:
    """Enter a lab into the gradebook if it is not there yet, or only half of it is.

    `nbgrader generate_assignment` does that too, but skips where the released notebook exists already, as it does here.
    """
    released = nbformat.read(RELEASED / assignment / f"{assignment}.ipynb", as_version=4)
    wanted = {cell.metadata.nbgrader.grade_id for cell in released.cells if "nbgrader" in cell.metadata}
    with Gradebook(db_url, "rushlight") as gradebook:
        try:
            found = {cell.name for cell in gradebook.find_notebook(assignment, assignment).source_cells}
        except MissingEntry:
            found = set()
            gradebook.update_or_create_assignment(assignment)
    if not wanted <= found:
        SaveCells().preprocess(
            released, {"nbgrader": {"notebook": assignment, "assignment": assignment, "db_url": db_url}}
        )


# Restoring -----------------------------------------------------------------------------------------------------------


def restore(submitted: NotebookNode, released: NotebookNode) -> NotebookNode:
    """The released notebook with the student's answers in it, and the cells that the student added at their places.

    Only answers, the sources of cells that the lab asks to be filled in, are taken from the submission: everything else,
    check cells, points, text, kernel, metadata, is the release's. An answer that occurs twice counts as it stood last.
    Raises ValueError where the submission has no answer cell of this lab at all.
    """
    answers: dict[str, str] = {}
    added: dict[str | None, list[NotebookNode]] = {}
    known = {key for cell in released.cells for key in _keys(cell)}
    before = None
    for cell in submitted.cells:
        key = next((key for key in _keys(cell) if key in known), None)
        if key is None:
            added.setdefault(before, []).append(cell)
        else:
            answers[key], before = _source(cell), key
    result = copy.deepcopy(released)
    wanted = [cell for cell in result.cells if _is_answer(cell)]
    if not any(key in answers for cell in wanted for key in _keys(cell)):
        raise ValueError("none of its cells belongs to this lab: is it the notebook of another one?")
    for cell in wanted:
        cell.source = next((answers[key] for key in _keys(cell) if key in answers), cell.source)
    result.cells = _plain(added.get(None, []), "first")
    for number, cell in enumerate(copy.deepcopy(released).cells):
        mine = next((other for other in wanted if other.id == cell.id), cell)
        result.cells.append(mine)
        result.cells += [extra for key in _keys(cell) for extra in _plain(added.get(key, []), str(number))]
    return result


def _keys(cell: NotebookNode) -> list[str]:
    """What a cell may be known by: nbgrader's id, and the notebook's."""
    metadata = cell.get("metadata") or {}
    nbgrader = metadata.get("nbgrader") or {}
    grade_id = nbgrader.get("grade_id") if isinstance(nbgrader, dict) else None
    return [f"{kind} {key}" for kind, key in (("grade", grade_id), ("cell", cell.get("id"))) if isinstance(key, str)]


def _is_answer(cell: NotebookNode) -> bool:
    return cell.metadata.get("nbgrader", {}).get("solution", False)


def _source(cell: NotebookNode) -> str:
    source = cell.get("source", "")
    return "".join(source) if isinstance(source, list) else str(source)


def _plain(cells: list[NotebookNode], place: str) -> list[NotebookNode]:
    """Cells that a student added, with nothing but their text."""
    make = {"code": nbformat.v4.new_code_cell, "markdown": nbformat.v4.new_markdown_cell}
    return [
        make[cell.get("cell_type")](_source(cell), id=f"added-{place}-{number}")
        for number, cell in enumerate(cells)
        if cell.get("cell_type") in make
    ]


class Restore(NbGraderPreprocessor):
    """Rebuild a submitted notebook on the released one."""

    def preprocess(self, nb: NotebookNode, resources: dict) -> tuple[NotebookNode, dict]:
        lab = resources["nbgrader"]["notebook"]
        released = nbformat.read(RELEASED / lab / f"{lab}.ipynb", as_version=4)
        try:
            return restore(nb, released), resources
        except ValueError as error:
            raise NbGraderException(str(error)) from None


# Running -------------------------------------------------------------------------------------------------------------


class RunInSubject(NbGraderPreprocessor):
    """Run the student's cells in a subject, and let the judge decide each check."""

    isolated = Bool(True, help="Run submissions in a bubblewrap sandbox.").tag(config=True)
    seed_file = Unicode(help="Where the seed of the class's cases is kept; made on first use.").tag(config=True)
    marked: ClassVar[dict[str, NotebookNode]] = {}  # by student: notebooks that have been run already, elsewhere

    def preprocess(self, nb: NotebookNode, resources: dict) -> tuple[NotebookNode, dict]:
        marked = self.marked.get(resources["nbgrader"]["student"])
        if marked is not None and [(c.id, c.source) for c in marked.cells] == [(c.id, c.source) for c in nb.cells]:
            nb.cells = marked.cells
            return nb, resources
        if self.isolated and (reason := _missing()):
            raise NbGraderException(reason)
        run(nb, resources["nbgrader"]["notebook"], judge(Path(self.seed_file)), self.isolated)
        return nb, resources


_missing = cache(missing)


def class_seed(seed_file: Path) -> int:
    """The seed of a class: drawn once, kept beside the gradebook, and readable by its owner only."""
    if not seed_file.exists():
        with tempfile.NamedTemporaryFile("w", dir=seed_file.parent) as aside:  # its mode is 0600
            aside.write(str(secrets.randbits(64)))
            aside.flush()
            with contextlib.suppress(FileExistsError):  # somebody else was quicker
                os.link(aside.name, seed_file)
    return int(seed_file.read_text())


@cache
def judge(seed_file: Path) -> Judge:
    return Judge(class_seed(seed_file))
