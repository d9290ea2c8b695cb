"""Restoring: a submission rebuilt on the released notebook.

Only a student's answers are taken from a submission, with the text of cells that the student added. Check cells, points,
metadata and the kernel are the release's. A submission that cannot be graded is `Unreadable`, with the reason in one line.
"""

from __future__ import annotations

import copy
import glob
import hashlib
import json
import os
import re
import stat
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from ..course import ADDED, check_name, core_labs, printable, released, released_path

MAX_NOTEBOOK = 10 << 20  # bytes
MAX_FOLDER = 50 << 20  # bytes of a submission
MAX_FILES = 100  # nbgrader compares each with all others
MAX_PATH = 400  # bytes of a file's path inside a submission, because nbgrader copies it to longer ones
MAX_TIMESTAMP = 100  # bytes
YEARS = range(1970, 3000)  # of a timestamp; near the ends of what datetime knows nbgrader cannot convert it
ACTIVE_IN_PAGES = frozenset('<>&"\\')  # nbgrader writes names into its pages and scripts as they are
MAX_CELL = 20_000  # characters of one cell that a student wrote; rendering takes quadratic time
MAX_WRITTEN = 100_000  # characters of all cells that a student wrote
MAX_ADDED = 200  # cells that a student added


class Unreadable(ValueError):
    """Raised for a submission that cannot be graded. The message is the reason, in one line."""


# Reading -------------------------------------------------------------------------------------------------------------


def read_released(lab: str) -> NotebookNode:
    """The students' notebook of a lab as this class has it."""
    return nbformat.reads(json.dumps(released(lab)), as_version=4)


def released_notebook(lab: str) -> NotebookNode:
    """The same, read once. It must be copied before it is changed."""
    path = released_path(lab)
    return _released_notebook(lab, path, path.stat().st_mtime_ns, lab in core_labs())


@cache
def _released_notebook(lab: str, path: Path, changed: int, core: bool) -> NotebookNode:
    return read_released(lab)


def rejection_reason(submission: Path) -> str:
    """Why the folder of a submission must not be opened, in one line, or an empty string.

    A link may lead to another submission, or to an instructor's file that nbgrader would copy into the feedback. A pipe or a
    device may never end. For nbgrader a student called `*` is the whole class.
    """
    student = submission.parent.name
    unfit = glob.escape(student) != student or student.strip() != student or not student.isprintable()
    if unfit or ACTIVE_IN_PAGES & {*student}:
        return (
            "the name of the student's folder is not one for nbgrader: without *, ?, [, <, >, &, \", \\, blanks at an end, line"
            " ends, and what cannot be shown"
        )
    if submission.parent.is_symlink():
        return "the student's folder is a link"
    try:
        return _reason_in_files(submission) or reason_in_timestamp(submission / "timestamp.txt")
    except OSError as error:
        return f"a file of the submission cannot be read: {error.strerror}"


def _reason_in_files(submission: Path) -> str:
    count = total = 0
    for path in _files(submission):
        status, name = path.lstat(), printable(path.name)
        count, total = count + 1, total + status.st_size
        if count > MAX_FILES or total > MAX_FOLDER:
            return f"more than {MAX_FILES} files, or than {MAX_FOLDER >> 20} MB"
        if not (stat.S_ISREG(status.st_mode) or stat.S_ISDIR(status.st_mode)):
            return f"{name} is a link, a pipe or a device, not an ordinary file"
        if not path.name.isprintable() or len(os.fsencode(path.relative_to(submission))) > MAX_PATH:
            return f"{name[:80]} has a name that cannot be shown, or a path of more than {MAX_PATH} bytes"
        if stat.S_ISDIR(status.st_mode) and path != submission and glob.escape(path.name) != path.name:
            return f"{name} is a folder with *, ? or [ in its name, which nbgrader takes for a pattern"
        if path.suffix == ".ipynb" and status.st_size > MAX_NOTEBOOK:
            return f"{name} has {status.st_size >> 20} MB; the limit is {MAX_NOTEBOOK >> 20}"
    return ""


def _files(submission: Path) -> Iterator[Path]:
    """The folder, and everything in it. Raises OSError for a folder that cannot be read."""

    def fail(error: OSError) -> None:
        raise error

    for folder, folders, files in os.walk(submission, onerror=fail):
        yield Path(folder)
        yield from (Path(folder, name) for name in folders + files)


def reason_in_timestamp(path: Path) -> str:
    from nbgrader.utils import parse_utc  # imports all of nbgrader, which most commands do not need

    try:
        if path.stat().st_size > MAX_TIMESTAMP:
            return f"{path.name} has more than {MAX_TIMESTAMP} bytes"
        time = parse_utc(path.read_text(encoding="utf-8").strip() or None)
        told = time is None or time.year in YEARS
    except FileNotFoundError:
        return ""
    except Exception:  # the parser raises many types
        told = False
    return "" if told else f"{path.name} does not tell a time, and with it the formgrader cannot list submissions"


def read_submission(path: Path) -> str:
    """The text of a submitted notebook. Raises Unreadable."""
    if reason := rejection_reason(path.parent):
        raise Unreadable(reason)
    try:
        return path.read_bytes().decode()
    except FileNotFoundError:
        raise Unreadable(f"no {path.name} in the submission") from None
    except OSError as error:
        raise Unreadable(f"cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise Unreadable(f"not a notebook of this lab: {error}") from None


def digest(text: str) -> str:
    """What names the content of a submission. The graded notebook keeps it, because a student can set the time of a file."""
    return hashlib.sha256(text.encode()).hexdigest()


def restore_text(text: str, released: NotebookNode) -> NotebookNode:
    """Restore a submission from the text of its file. Raises Unreadable, whatever is wrong with the text.

    nbformat does not see the text: to say what is wrong with a notebook takes it minutes and gigabytes.
    """
    try:
        return restore(json.loads(text), released)
    except json.JSONDecodeError:
        raise Unreadable("not a notebook: the file is not JSON") from None
    except Exception as error:  # RecursionError, and others for cells that are none
        first = next(iter(str(error).splitlines()), "") or type(error).__name__
        raise Unreadable(f"not a notebook of this lab: {printable(first[:200])}") from None


# Restoring -----------------------------------------------------------------------------------------------------------


def restore(submitted: dict, released: NotebookNode) -> NotebookNode:
    """The released notebook with the student's answers, and with the cells that the student added where they were added.

    An answer is the source of a cell that the lab asks to be filled in. Of an answer that occurs twice the last one counts.
    Raises Unreadable if the submission has no answer cell of this lab, or is not made of cells.
    """
    positions = {key: position for position, cell in enumerate(released.cells) for key in _cell_keys(cell)}
    answers: dict[int, str] = {}
    added: dict[int, list[dict]] = {}  # by the position of the released cell before them
    before, left = -1, MAX_ADDED
    for cell in _cells(submitted):
        position = next((positions[key] for key in _cell_keys(cell) if key in positions), None)
        if position is None:
            if cell.get("cell_type") in ("code", "markdown") and left > 0:
                added.setdefault(before, []).append(cell)
                left -= 1
        else:
            answers[position], before = _source(cell), position
    if not any(_is_answer(released.cells[position]) for position in answers):
        raise Unreadable("none of its cells belongs to this lab: is it the notebook of another one?")
    result = copy.deepcopy(released)
    result.cells = _plain_cells(added.get(-1, []), "first")
    for position, cell in enumerate(copy.deepcopy(released).cells):
        if _is_answer(cell) and answers.get(position, cell.source) != cell.source:
            answer = answers[position]
            cell.source = deactivate_markup(answer) if cell.cell_type == "markdown" else answer
        result.cells += [cell, *_plain_cells(added.get(position, []), str(position))]
    _limit_length(result.cells, released)
    return result


def edited_checks(submitted: dict, released: NotebookNode) -> list[str]:
    """The checks whose cells a submission has changed or lost. Raises Unreadable if it is not made of cells."""
    pairs = checks_in(submitted, released).items()
    return [name for name, (given, found) in pairs if found is None or _source(found) != given.source]


def checks_in(submitted: dict, released: NotebookNode) -> dict[str, tuple[NotebookNode, dict | None]]:
    """The cell of each check in a released notebook, and that in a submission, if it is there. Raises Unreadable if the submission
    is not made of cells."""
    cells = {key: cell for cell in _cells(submitted) for key in _cell_keys(cell)}
    return {
        str(check_name(cell)): (cell, next((cells[key] for key in _cell_keys(cell) if key in cells), None))
        for cell in released.cells
        if check_name(cell)
    }


def differences(submitted: NotebookNode, released: NotebookNode) -> list[str]:
    """How a student's copy differs from the released lab in cells that are not answers: a line for each kind, with advice."""
    cells = {key: cell for cell in _cells(submitted) for key in _cell_keys(cell)}
    checks, lost = edited_checks(submitted, released), []
    for cell in released.cells:
        if "nbgrader" in cell.metadata and _is_answer(cell) and not cells.keys() & {*_cell_keys(cell)}:
            lost.append(cell.metadata.nbgrader.grade_id)
    given = {key for cell in released.cells for key in _cell_keys(cell)}
    unknown = [cell for cell in _cells(submitted) if _is_answer(cell) and not given & {*_cell_keys(cell)}]
    lines = []
    if checks:
        lines.append(f"not the lab's own check cells any more, and put back for grading: {', '.join(checks)}")
    if lost or unknown:
        names = ", ".join(lost + [cell["metadata"]["nbgrader"]["grade_id"] for cell in unknown])
        lines.append(
            f"made from another version of the lab, or cells were deleted ({names}): "
            "rename its folder, let `rushlight lab` make a new copy, and paste your answers"
        )
    return lines


# Cells ---------------------------------------------------------------------------------------------------------------


def _cells(submitted: dict) -> list[dict]:
    cells = submitted.get("cells") if isinstance(submitted, dict) else None
    if not isinstance(cells, list) or not all(isinstance(cell, dict) for cell in cells):
        raise Unreadable("it is not made of cells")
    return cells


def _cell_keys(cell: dict) -> list[str]:
    """The ids by which a cell can be recognised: nbgrader's and the notebook's."""
    grade_id = cell
    for name in ("metadata", "nbgrader", "grade_id"):
        grade_id = grade_id.get(name) if isinstance(grade_id, dict) else None
    return [f"{kind} {key}" for kind, key in (("grade", grade_id), ("cell", cell.get("id"))) if isinstance(key, str)]


def _is_answer(cell: dict) -> bool:
    return cell["metadata"].get("nbgrader", {}).get("solution", False)


def _source(cell: dict) -> str:
    source = cell.get("source", "")
    text = "".join(map(str, source)) if isinstance(source, list) else str(source)
    text = re.sub(r"^[^\S\n]+$", "", text, flags=re.MULTILINE)  # pygments takes minutes for lines of blanks
    text = re.sub("[\u202a-\u202e\u2066-\u2069]", "\ufffd", text)  # code that reads in another order than it runs
    return text.encode("utf-8", "replace").decode()  # a lone surrogate cannot be written to a file


_NEW = {"code": nbformat.v4.new_code_cell, "markdown": nbformat.v4.new_markdown_cell}


def _plain_cells(cells: list[dict], position: str) -> list[NotebookNode]:
    """Cells that a student added, with their text alone."""
    plain = []
    for number, cell in enumerate(cells):
        kind, source = cell["cell_type"], _source(cell)
        source = deactivate_markup(source) if kind == "markdown" else source
        plain.append(_NEW[kind](source, id=f"{ADDED}{position}-{number}"))
    return plain


_JOINER = "\u2060"  # a word joiner: invisible, and with it a text is no tag, no character reference and no URL scheme
_ACTIVE = re.compile(
    r"<(?=[a-z/!?])|&(?=#|[a-z][a-z0-9]*;)|\b(?:javascript|vbscript|data|file|attachment)(?=[\\\s]*:)"
    r"|(?:```|~~~)(?=[ \t]*[^\s`~])(?![ \t]*python\s)",
    re.IGNORECASE,
)


def deactivate_markup(markdown: str) -> str:
    """Markdown that is shown but does nothing, because nbgrader copies the HTML in it into its pages unescaped.

    Tags and character references appear as the student typed them, and links to scripts lead nowhere. Code is coloured as
    Python or not at all, because pygments takes minutes for some languages.
    """
    return _ACTIVE.sub(lambda match: match[0] + _JOINER, markdown)


def _limit_length(cells: list[NotebookNode], released: NotebookNode) -> None:
    """Replace the sources that are too long to run, to render and to read by a remark."""
    given = {cell.id: cell.source for cell in released.cells}
    left = MAX_WRITTEN
    for cell in cells:
        if cell.source != given.get(cell.id):
            left -= len(cell.source)
            if len(cell.source) > MAX_CELL or left < 0:
                cell.source = f"# left out: {len(cell.source)} characters, too long to be graded"
