"""The nbgrader plugin: two preprocessors in `nbgrader autograde`, and the course's directories.

`Restore` rebuilds the submitted notebook on the released one before nbgrader looks at it. `RunInSubject` stands in the
place of nbgrader's `Execute`. All that comes after, saving grades, late penalties, feedback and the formgrader, is nbgrader's
own. With `RUSHLIGHT_GRADER=stock` in the environment nbgrader runs as it is.
"""

from __future__ import annotations

import contextlib
import copy
import glob
import os
import re
import secrets
import stat
import sysconfig
import tempfile
import warnings
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import nbformat
from nbformat import NotebookNode
from nbformat.warnings import DuplicateCellId, MissingIDFieldWarning
from nbgrader.api import Gradebook, MissingEntry
from nbgrader.converters import Autograde
from nbgrader.converters.base import NbGraderException
from nbgrader.preprocessors import CheckCellMetadata, Execute, NbGraderPreprocessor, SaveCells
from nbgrader.utils import parse_utc
from sqlalchemy.exc import SAWarning
from traitlets import Bool, Unicode

from .run import check_name, run
from .sandbox import missing

if TYPE_CHECKING:
    from .judge import Judge

ROOT = Path(__file__).resolve().parent.parent
RELEASED, SOURCES = ROOT / "labs", ROOT / "solutions"

# What Canvas (doejane_LATE_123_456_01_strided-1.ipynb) and Moodle (Jane Doe_123_assignsubmission_file_01_strided.ipynb, or
# a folder of that name) make of a notebook's name
DOWNLOADED = (
    r"(?:.*/)?(?P<student_id>[^/_]+)_(?:late_|LATE_)?\d+_(?:\d+_|assignsubmission_file_?/?)"
    r"(?P<file_id>\d\d_[a-z]+)[^/]*\.ipynb$"
)

# nbgrader 0.9 on SQLAlchemy 2.1 warns at every submission about its own relations
warnings.filterwarnings("ignore", category=SAWarning, module="nbgrader")
# of ids that occur twice or are missing nbformat tells in a line for each; restoring gives cells ids of their own
for _category in (DuplicateCellId, MissingIDFieldWarning):
    warnings.filterwarnings("ignore", category=_category)

# nbgrader finds `alembic` by PATH, and without it leaves a half-made gradebook
os.environ["PATH"] = os.pathsep.join([sysconfig.get_path("scripts"), os.environ.get("PATH", os.defpath)])

# what Jupyter is to find here: templates without scripts from another host, and a JupyterLab that does not ask about news
for _variable in ("JUPYTER_PATH", "JUPYTER_CONFIG_PATH"):
    _others = filter(None, [os.environ.get(_variable)])
    os.environ[_variable] = os.pathsep.join([str(Path(__file__).parent / "jupyter"), *_others])


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
    # nbgrader copies what lies beside a notebook all the way into the feedback, and releases every page found there
    c.CourseDirectory.ignore = [".ipynb_checkpoints", "*.pyc", "__pycache__", "*.md", "*.html"]
    c.Autograde.pre_convert_hook = partial(register, c.CourseDirectory.db_url)
    c.ZipCollectApp.downloaded_directory = os.path.relpath(place / "downloaded", ROOT)  # it takes no absolute one
    c.FileNameCollectorPlugin.named_regexp = DOWNLOADED
    c.HTMLExporter.filters = {"markdown2html": "autograder.formulas.markdown2html"}
    c.NbGrader.logfile = str(place / "nbgrader.log")
    if os.environ.get("RUSHLIGHT_GRADER") == "stock":
        c.Execute.timeout = 60
        return
    grade = Autograde.autograde_preprocessors.default_args[0]
    c.Autograde.sanitize_preprocessors = [Restore, CheckCellMetadata]  # what nbgrader would mend there is mended
    c.Autograde.autograde_preprocessors = [RunInSubject if step is Execute else step for step in grade]
    c.RunInSubject.seed_file = str(place / "seed")


def register(db_url: str, assignment: str, student: str = "", notebooks: Any = ()) -> None:
    """Enter a lab into the gradebook if it is not there yet, or only half of it is, or with other points.

    `nbgrader generate_assignment` does that too, but skips where the released notebook exists already, as it does here.
    """
    released = nbformat.read(RELEASED / assignment / f"{assignment}.ipynb", as_version=4)
    given = [cell.metadata.nbgrader for cell in released.cells if "nbgrader" in cell.metadata]
    wanted = {cell.grade_id: cell.get("points") for cell in given}
    with Gradebook(db_url, "rushlight") as gradebook:
        try:
            notebook = gradebook.find_notebook(assignment, assignment)
            found = dict.fromkeys(cell.name for cell in notebook.source_cells)
            found |= {cell.name: cell.max_score for cell in notebook.grade_cells}
        except MissingEntry:
            found = {}
            gradebook.update_or_create_assignment(assignment)
    if not wanted.items() <= found.items():
        SaveCells().preprocess(
            released, {"nbgrader": {"notebook": assignment, "assignment": assignment, "db_url": db_url}}
        )


# Restoring -----------------------------------------------------------------------------------------------------------

MAX_NOTEBOOK = 10 << 20  # bytes
MAX_FOLDER = 200 << 20  # bytes of a submission
MAX_FILES = 1000
MAX_CELL = 20_000  # characters of one cell that a student wrote; what renders them takes quadratic time
MAX_WRITTEN = 100_000  # characters of all of them
MAX_ADDED = 200  # cells that a student added


def unfit(submission: Path) -> str:
    """Why a submission's folder is not to be opened, in a line, or nothing.

    A link may lead to another submission, or to a file of the instructor's that nbgrader would copy into the feedback; a
    pipe or a device may never end; and a student called `*` is the whole class to nbgrader.
    """
    student = submission.parent.name
    if glob.escape(student) != student or student.strip() != student or not student.isprintable():
        return (
            "the name of the student's folder is not one for nbgrader: without *, ?, [, blanks at an end or line ends"
        )
    count = total = 0
    for place, folders, files in os.walk(submission):
        for path in (Path(place), *(Path(place, name) for name in folders + files)):
            status = path.lstat()
            count, total = count + 1, total + status.st_size
            if not (stat.S_ISREG(status.st_mode) or stat.S_ISDIR(status.st_mode)):
                return f"{path.name} is a link, a pipe or a device, not an ordinary file"
            if path.suffix == ".ipynb" and status.st_size > MAX_NOTEBOOK:
                return f"{path.name} has {status.st_size >> 20} MB; the limit is {MAX_NOTEBOOK >> 20}"
        if count > MAX_FILES or total > MAX_FOLDER:
            return f"more than {MAX_FILES} files, or than {MAX_FOLDER >> 20} MB"
    stamp = submission / "timestamp.txt"
    try:
        parse_utc(stamp.read_text(encoding="utf-8").strip() or None)
    except FileNotFoundError:
        pass
    except Exception:
        return f"{stamp.name} does not tell a time"
    return ""


def open_submission(path: Path, released: NotebookNode) -> NotebookNode:
    """Read a submitted notebook and restore it. Raises ValueError, with the reason in a line, whatever is wrong with it."""
    if reason := unfit(path.parent):
        raise ValueError(reason)
    try:
        return restore(nbformat.read(path, as_version=4), released)
    except FileNotFoundError:
        raise ValueError(f"no {path.name} in the submission") from None
    except nbformat.reader.NotJSONError:
        raise ValueError("not a notebook: the file is not JSON") from None
    except OSError as error:
        raise ValueError(f"cannot be read: {error.strerror}") from None
    except (
        Exception
    ) as error:  # of what it reads, nbformat raises nearly everything, from AssertionError to RecursionError
        first = next(iter(str(error).splitlines()), "") or type(error).__name__
        reason = "".join(letter for letter in first[:200] if letter.isprintable())
        raise ValueError(f"not a notebook of this lab: {reason}") from None


def restore(submitted: NotebookNode, released: NotebookNode) -> NotebookNode:
    """The released notebook with the student's answers in it, and the cells that the student added at their places.

    Only answers, the sources of cells that the lab asks to be filled in, are taken from the submission: everything else,
    check cells, points, text, kernel, metadata, is the release's. An answer that occurs twice counts as it stood last.
    Raises ValueError where the submission has no answer cell of this lab at all, or is not made of cells.
    """
    places = {key: place for place, cell in enumerate(released.cells) for key in _keys(cell)}
    answers: dict[int, str] = {}
    added: dict[int, list[NotebookNode]] = {}
    before = -1
    for cell in _cells(submitted):
        place = next((places[key] for key in _keys(cell) if key in places), None)
        if place is None:
            added.setdefault(before, []).append(cell)
        else:
            answers[place], before = _source(cell), place
    if not any(_is_answer(released.cells[place]) for place in answers):
        raise ValueError("none of its cells belongs to this lab: is it the notebook of another one?")
    result = copy.deepcopy(released)
    result.cells = _plain(added.get(-1, []), "first")
    for place, cell in enumerate(copy.deepcopy(released).cells):
        if _is_answer(cell) and answers.get(place, cell.source) != cell.source:
            cell.source = inert(answers[place]) if cell.cell_type == "markdown" else answers[place]
        result.cells += [cell, *_plain(added.get(place, []), str(place))]
    _limit(result.cells, released)
    return result


def changes(submitted: NotebookNode, released: NotebookNode) -> list[str]:
    """What of a lab is not in a student's copy as it was given out, a line for each kind, with what to do."""
    cells = {key: cell for cell in _cells(submitted) for key in _keys(cell)}
    checks, lost = [], []
    for cell in released.cells:
        if "nbgrader" in cell.metadata:
            found = next((cells[key] for key in _keys(cell) if key in cells), None)
            if not _is_answer(cell) and (found is None or _source(found) != cell.source):
                checks.append(check_name(cell))
            elif found is None:
                lost.append(cell.metadata.nbgrader.grade_id)
    given = {key for cell in released.cells for key in _keys(cell)}
    unknown = [cell for cell in _cells(submitted) if _is_answer(cell) and not given & {*_keys(cell)}]
    lines = []
    if checks:
        lines.append(f"not the lab's own check cells any more, and put back for grading: {', '.join(checks)}")
    if lost or unknown:
        names = ", ".join(lost + [cell.metadata.nbgrader.grade_id for cell in unknown])
        lines.append(
            f"made from another version of the lab, or cells were deleted ({names}): "
            "rename its folder, let `rushlight lab` make a new copy, and paste your answers"
        )
    return lines


def _cells(submitted: NotebookNode) -> list[NotebookNode]:
    cells = submitted.get("cells")
    if not isinstance(cells, list) or not all(isinstance(cell, dict) for cell in cells):
        raise ValueError("it is not made of cells")
    return cells


def _keys(cell: NotebookNode) -> list[str]:
    """What a cell may be known by: nbgrader's id, and the notebook's."""
    grade_id = cell
    for name in ("metadata", "nbgrader", "grade_id"):
        grade_id = grade_id.get(name) if isinstance(grade_id, dict) else None
    return [f"{kind} {key}" for kind, key in (("grade", grade_id), ("cell", cell.get("id"))) if isinstance(key, str)]


def _is_answer(cell: NotebookNode) -> bool:
    return cell.metadata.get("nbgrader", {}).get("solution", False)


def _source(cell: NotebookNode) -> str:
    source = cell.get("source", "")
    text = "".join(map(str, source)) if isinstance(source, list) else str(source)
    text = re.sub(r"^[^\S\n]+$", "", text, flags=re.MULTILINE)  # on lines of blanks pygments takes minutes
    return text.encode("utf-8", "replace").decode()  # a lone surrogate cannot be written to a file


def _plain(cells: list[NotebookNode], place: str) -> list[NotebookNode]:
    """Cells that a student added, with nothing but their text."""
    plain = []
    for number, cell in enumerate(cells):
        name = f"added-{place}-{number}"
        if cell.get("cell_type") == "code":
            plain.append(nbformat.v4.new_code_cell(_source(cell), id=name))
        elif cell.get("cell_type") == "markdown":
            plain.append(nbformat.v4.new_markdown_cell(inert(_source(cell)), id=name))
    return plain


_JOINER = "\u2060"  # a word joiner: not seen, and what it stands in is no tag, no character reference, no scheme
_ACTIVE = re.compile(
    r"<(?=[a-z/!?])|&(?=#|[a-z][a-z0-9]*;)|\b(?:javascript|vbscript|data|file|attachment)(?=[\\\s]*:)"
    r"|(?:```|~~~)(?=[ \t]*[^\s`~])(?![ \t]*python\s)",
    re.IGNORECASE,
)


def inert(markdown: str) -> str:
    """Markdown that shows what it says and does nothing: nbgrader puts the HTML in it into its pages as it is.

    Tags and character references appear as they were typed, links to scripts lead nowhere, and code is coloured as Python
    or not at all, since pygments takes minutes for some languages.
    """
    return _ACTIVE.sub(lambda match: match[0] + _JOINER, markdown)


def _limit(cells: list[NotebookNode], released: NotebookNode) -> None:
    """Leave out what is too long to run, to render and to read, each with a word in its place."""
    given = {cell.id: cell.source for cell in released.cells}
    room = MAX_WRITTEN
    for cell in cells:
        if cell.source != given.get(cell.id):
            room -= len(cell.source)
            if len(cell.source) > MAX_CELL or room < 0:
                cell.source = f"# left out: {len(cell.source)} characters, too long to be graded"
    beyond = {cell.id for cell in [cell for cell in cells if cell.id not in given][MAX_ADDED:]}
    cells[:] = [cell for cell in cells if cell.id not in beyond]


class Restore(NbGraderPreprocessor):
    """Rebuild a submitted notebook on the released one."""

    def preprocess(self, nb: NotebookNode, resources: dict) -> tuple[NotebookNode, dict]:
        lab = resources["nbgrader"]["notebook"]
        released = nbformat.read(RELEASED / lab / f"{lab}.ipynb", as_version=4)
        if reason := unfit(Path(resources["metadata"]["path"])):
            raise NbGraderException(reason)
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
    from .judge import Judge  # and torch, which nbgrader's other commands need not wait for

    return Judge(class_seed(seed_file))
