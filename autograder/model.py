"""The course as a class takes it, its labs, and what students hand in: objects that are made once and handed on.

A command, or a step of nbgrader, makes a `Course`. A *phase*, such as `04_autograd`, has one reading in `phases/` and one package
of checks. It has one lab with the phase's name, or several: `04a_history`, `04b_engine`. A lab's name is the name of its folder and
of its notebook wherever the lab occurs: as an instructor's source in `solutions/`, as the students' notebook in `labs/`, as a
student's copy in `work/`, and as a submission in the classroom. Nothing here imports nbgrader, torch or the framework.
"""

from __future__ import annotations

import difflib
import glob
import hashlib
import json
import os
import re
import shlex
import stat
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from . import course as folders
from .language import phrase
from .text import printable, question

if TYPE_CHECKING:
    from nbformat import NotebookNode

# The course ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Course:
    """The course as one class takes it. `folder` has the submissions, the gradebook and the records of this class."""

    folder: Path = field(default_factory=folders.classroom)

    @property
    def private_folders(self) -> tuple[Path, Path]:
        """The course with its solutions, and the class: a submission can read neither."""
        return folders.ROOT, self.folder

    @property
    def name(self) -> str:
        """The folder as a command names it from any folder. Empty for `classroom/`, which commands take without a name."""
        folder = self.folder.resolve()
        return "" if folder == folders.ROOT.resolve() / "classroom" else shlex.quote(str(folder))

    def command(self, words: str) -> str:
        """A command of the course or of nbgrader as it is pasted into a terminal: it names the class."""
        if not self.name:
            return words
        is_own = words.startswith("rushlight ")
        return f"{words} --class {self.name}" if is_own else f"RUSHLIGHT_CLASSROOM={self.name} {words}"

    def labs(self) -> list[Lab]:
        """All labs, in order. A class repository has labs without a source."""
        return [Lab(name, self) for name in lab_names()]

    def released_labs(self) -> list[Lab]:
        """The labs whose notebook for students has been built, in order."""
        return [lab for lab in self.labs() if lab.path.exists()]

    def find_labs(self, number: str) -> list[Lab]:
        """The labs that `04a`, `4a` or `04a_history` means: `04` means all labs of phase 04. Raises LookupError with similar names,
        or with the numbers of all labs."""
        wanted, names = _padded(number), lab_names()
        if labs := [Lab(name, self) for name in names if wanted in (name, number_of(name), name[:2])]:
            return labs
        raise LookupError(f"there is no lab {number!r}; {did_you_mean_lab(number, names) or _all_labs(names)}")

    def find_lab(self, number: str) -> Lab:
        """The lab that `04a`, `4a`, `04A` or `04a_history` means. Raises LookupError if there is none, or if there are several."""
        labs = self.find_labs(number)
        if len(labs) > 1:
            raise LookupError(f"phase {number} has several labs, so name one: {', '.join(map(str, labs))}")
        return labs[0]

    def find_released(self, number: str) -> Lab:
        """The lab that `04a`, `4a` or `04a_history` means. Raises LookupError if it does not exist or has not been built."""
        lab = self.find_lab(number)
        if not lab.path.exists():
            raise LookupError(
                f"labs/{lab}/{lab}.ipynb has not been built yet: `rushlight build {lab.number}` builds it"
            )
        return lab

    @property
    def core_path(self) -> Path:
        """The file with the names of the labs whose core alone this class takes, one in a line."""
        return self.folder / "core"

    def core_labs(self) -> list[str]:
        return self.core_path.read_text(encoding="utf-8").split() if self.core_path.exists() else []


def lab_names() -> list[str]:
    """The names of all labs, in order."""
    paths = [*folders.SOURCES.glob("*/*.md"), *folders.RELEASED.glob("*/*.ipynb")]
    return sorted({path.stem for path in paths if path.stem == path.parent.name})


def phases() -> list[str]:
    """All phases that have a reading, in order."""
    return sorted(path.parent.name for path in folders.READINGS.glob("*/reading.md"))


def number_of(name: str) -> str:
    """`04a` for the lab `04a_history`."""
    return name.partition("_")[0]


def did_you_mean_lab(wanted: str, names: Sequence[str]) -> str:
    """A question with the names such as `04a_history` that are similar to a mistyped one or to a part of it. If none is similar,
    it has all of the phase."""
    same_phase = [name for name in names if name[:2] == wanted[:2]]
    known = {part: name for name in same_phase or names for part in (name, name.partition("_")[2], number_of(name))}
    return question([known[part] for part in difflib.get_close_matches(wanted, known, n=3, cutoff=0.65)] or same_phase)


def _all_labs(names: Sequence[str]) -> str:
    *first, last = map(number_of, names)
    labs = ", ".join([*first[:3], "…", last] if len(first) > 3 else [*first, last])
    return phrase(f"the labs are {labs}; `rushlight status` lists all")


def _padded(number: str) -> str:
    number = number.lower()
    wanted = number.zfill(2) if number.isdigit() else number
    return wanted.zfill(3) if re.fullmatch(r"\d[a-z]", wanted) else wanted


# A lab ---------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Lab:
    """A lab as a class has it: the notebook that its students get, and what this asks for. The notebook is read once."""

    name: str
    course: Course = field(default_factory=Course)

    @classmethod
    def with_release(cls, name: str, released: Mapping) -> Lab:
        """A lab by its released notebook, where the class's folder is not."""
        lab = cls(name)
        vars(lab)["released"] = released
        return lab

    def __str__(self) -> str:
        return self.name

    def __reduce__(self) -> tuple:
        return Lab, (self.name, self.course)  # without what has been read

    @property
    def number(self) -> str:
        """`04a` for the lab `04a_history`."""
        return number_of(self.name)

    @property
    def phase(self) -> str:
        """`04` for the lab `04a_history`."""
        return self.name[:2]

    @property
    def source(self) -> Path:
        """The author's text, from which the lab is built."""
        return folders.SOURCES / self.name / f"{self.name}.md"

    @property
    def todays_path(self) -> Path:
        """The students' notebook as this version of the course has it."""
        return folders.RELEASED / self.name / f"{self.name}.ipynb"

    @property
    def work_path(self) -> Path:
        """The copy in which a student works."""
        return folders.WORK / self.name / f"{self.name}.ipynb"

    @property
    def kept_folder(self) -> Path:
        """The folder with the releases that this class has had."""
        return self.course.folder / "releases" / self.name

    @property
    def editions_folder(self) -> Path:
        """The folder with these releases in other languages."""
        return self.course.folder / "editions" / self.name

    def kept_releases(self) -> list[Release]:
        """The releases that this class has had, in order: `classroom/releases/LAB/1-DIGEST.ipynb`."""

        def number(path: Path) -> tuple[int, str]:
            return int(re.split(r"\D", path.stem, maxsplit=1)[0] or 0), path.stem

        return [self.release_at(path) for path in sorted(self.kept_folder.glob("*.ipynb"), key=number)]

    def kept_editions(self) -> dict[str, Release]:
        """The releases in other languages that this class has had, by their digests: `classroom/editions/LAB/DIGEST.ipynb`."""
        return {path.stem: self.release_at(path) for path in self.editions_folder.glob("*.ipynb")}

    def release_at(self, path: Path) -> Release:
        """The release in a file, with the points that count in this class."""
        return _release_at(path, path.stat().st_mtime_ns, self.takes_core)

    @property
    def path(self) -> Path:
        """The students' notebook as this class has it. (`kept_releases` says how a class comes to have another than today's.)"""
        path, kept = self.todays_path, self.kept_releases()
        if not kept or path.exists() and self.release_at(path).names.keys() == kept[-1].names.keys():
            return path
        return kept[-1].path

    @property
    def takes_core(self) -> bool:
        """Whether this class takes only the core: a further exercise has no points then."""
        return self.name in self.course.core_labs()

    @cached_property
    def release(self) -> Release:
        """The release that this class has."""
        return self.release_at(self.path)

    @cached_property
    def released(self) -> Mapping:
        """The students' notebook as this class has it, with the points that count in this class."""
        return self.release.notebook

    @cached_property
    def points(self) -> dict[str, float]:
        """The points of each graded check, in the notebook's order."""
        graded = [
            cell for cell in self.released["cells"] if check_name(cell) and cell["metadata"]["nbgrader"].get("grade")
        ]
        return {str(check_name(cell)): cell["metadata"]["nbgrader"]["points"] for cell in graded}

    @property
    def all_points(self) -> float:
        """The points that a student can get: those of the checks, and those by hand."""
        return sum(self.points.values()) + self.written_points

    @cached_property
    def written_points(self) -> float:
        """The points that an instructor gives: those of the written questions."""
        by_hand = [
            cell
            for cell in self.released["cells"]
            if cell["cell_type"] == "markdown" and "nbgrader" in cell["metadata"]
        ]
        return sum(cell["metadata"]["nbgrader"].get("points", 0) for cell in by_hand)

    @cached_property
    def exercises(self) -> list[str]:
        """The exercises, paths of attributes from `rl`, in the notebook's order."""
        return [*filter(None, map(exercise_name, self.released["cells"]))]

    @cached_property
    def core(self) -> list[str]:
        """The exercises that are not further ones."""
        return [name for cell in self.released["cells"] if (name := exercise_name(cell)) and not is_further(cell)]

    @cached_property
    def required(self) -> list[str]:
        """The exercises that this class has to write. If it takes only the core, the further checks have no points."""
        checks = [cell for cell in self.released["cells"] if check_name(cell) and is_further(cell)]
        return self.core if any("points" not in cell["metadata"]["nbgrader"] for cell in checks) else self.exercises

    def is_called(self, number: str) -> bool:
        """Whether `04a`, `4a` or `04a_history` in a table means this lab.

        Raises LookupError if the cell may be a mistake for this lab: a mistake in another phase must not stop this lab.
        """
        wanted = _padded(number)
        if wanted in (self.name, self.number):
            return True
        return (wanted[:2] == self.phase or not wanted[:2].isdigit()) and self.course.find_lab(number) == self

    def submissions(self) -> list[Submission]:
        """The submissions of all students, in the order of their names."""
        folders_of_lab = (self.course.folder / "submitted").glob(f"*/{self.name}")
        return [Submission(self, name) for name in sorted(path.parent.name for path in folders_of_lab if path.is_dir())]


# A release of a lab --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Release:
    """A release of a lab, read whole and once in this process. Its notebooks must be copied before they are changed."""

    path: Path
    digest: str  # which names it
    notebook: Mapping  # with the points that count in the class
    names: dict[str, str]  # of each exercise, question and graded check, by its id in the gradebook
    check_ids: dict[str, str]  # in the gradebook, of each check in the notebook's order

    @cached_property
    def nodes(self) -> NotebookNode:
        """The notebook as nbformat has it."""
        import nbformat  # which most commands do not need

        return nbformat.reads(json.dumps(self.notebook), as_version=4)


@cache
def _release_at(path: Path, changed: int, core: bool) -> Release:
    try:
        notebook = json.loads(path.read_text(encoding="utf-8"))
        digest = digest_of(notebook)
        notebook = core_of(notebook) if core else notebook
        checks = {name: cell for cell in notebook["cells"] if (name := check_name(cell))}
        ids = {name: cell["metadata"]["nbgrader"]["grade_id"] for name, cell in checks.items()}
        return Release(path, digest, notebook, names_by_grade_id(notebook), ids)
    except (ValueError, LookupError, TypeError, AttributeError):
        built = path.is_relative_to(folders.RELEASED) and folders.SOURCES.exists()
        way = "`rushlight build` makes it again" if built else "put its copy there again, or delete it"
        raise LookupError(f"{path} is not a notebook: {way}") from None


def digest_of(notebook: Mapping) -> str:
    """The digest that names a release of a lab: of its cells without their outputs."""
    cells = [
        [cell.get("id"), cell["cell_type"], "".join(cell["source"]), cell["metadata"]] for cell in notebook["cells"]
    ]
    return hashlib.sha256(json.dumps(cells, sort_keys=True).encode()).hexdigest()[:12]


def names_by_grade_id(notebook: Mapping) -> dict[str, str]:
    """The name of each exercise, question and graded check of a notebook, by its id in the gradebook."""
    names = {}
    for cell in notebook["cells"]:
        given = cell["metadata"].get("nbgrader", {})
        if given.get("solution") or given.get("grade"):
            names[str(given["grade_id"])] = str(exercise_name(cell) or check_name(cell) or given["grade_id"])
    return names


def core_of(notebook: dict) -> dict:
    """A released notebook, from which this removes the points of the further exercises."""
    for cell in filter(is_further, notebook["cells"]):
        if "points" in cell["metadata"]["nbgrader"]:
            cell["metadata"]["nbgrader"]["grade"] = False
            del cell["metadata"]["nbgrader"]["points"]
    return notebook


# Cells of a lab's notebook -------------------------------------------------------------------------------------------

ADDED = "added-"  # the beginning of the ids that restoring gives to the cells that a student added


def check_name(cell: Mapping) -> str | None:
    """The check that a cell runs, or None. The builder writes the name into the cell's metadata."""
    return _name_in(cell, "check")


def exercise_name(cell: Mapping) -> str | None:
    """The exercise that a cell asks for, or None."""
    return _name_in(cell, "exercise")


def _name_in(cell: Mapping, kind: str) -> str | None:
    """A name in a cell's metadata. In a student's notebook anything may be there."""
    about = cell["metadata"].get("rushlight")
    name = about.get(kind) if isinstance(about, Mapping) else None
    return name if isinstance(name, str) else None


RUBRIC = "**Rubric"  # begins the rubric below a model answer


def is_added(cell: Mapping) -> bool:
    """Whether a student added a cell of a restored notebook."""
    return cell["id"].startswith(ADDED)


def is_further(cell: Mapping) -> bool:
    """Whether a cell belongs to an exercise that a class can leave out."""
    return cell["metadata"].get("rushlight", {}).get("further", False)


# What a student hands in ---------------------------------------------------------------------------------------------

MAX_NOTEBOOK = 10 << 20  # bytes of a notebook without its outputs
MAX_FOLDER = 50 << 20  # bytes of a submission, and of any file that is read
MAX_TOKENS = 3_000_000  # strings and brackets of a file whose outputs are dropped; to look at so many takes 4 seconds
MAX_FILES = 100  # nbgrader compares each with all others
MAX_PATH = 400  # bytes of a file's path inside a submission, because nbgrader copies it to longer ones
MAX_TIMESTAMP = 100  # bytes
AS_HANDED_IN = "handed_in_as.txt"  # the name that a student's notebook had before it got the lab's
BESIDE = {AS_HANDED_IN, "submission_secret.txt", "timestamp.txt"}  # the files that no student wrote
YEARS = range(1970, 3000)  # of a timestamp; near the ends of what datetime knows nbgrader cannot convert it
ACTIVE_IN_PAGES = frozenset('<>&"\\')  # nbgrader writes names into its pages and scripts as they are


class Unreadable(ValueError):
    """Raised for a submission that cannot be graded. The message is the reason, in one line."""


@dataclass(frozen=True)
class Submission:
    """A student's submission for a lab, and the paths of what grading makes of it. The text is read once."""

    lab: Lab
    student: str

    def __reduce__(self) -> tuple:
        return Submission, (self.lab, self.student)  # without what has been read

    @property
    def folder(self) -> Path:
        return self.lab.course.folder / "submitted" / self.student / self.lab.name

    @property
    def path(self) -> Path:
        """The notebook that the student has handed in, if there is one."""
        return self.folder / f"{self.lab.name}.ipynb"

    @property
    def graded_path(self) -> Path:
        """The notebook as it was graded."""
        return self.lab.course.folder / "autograded" / self.student / self.lab.name / f"{self.lab.name}.ipynb"

    @property
    def page(self) -> Path:
        """The student's page of feedback."""
        return self.lab.course.folder / "feedback" / self.student / self.lab.name / f"{self.lab.name}.html"

    @cached_property
    def text(self) -> str:
        """The text of the notebook that counts. Raises Unreadable."""
        return text_in(self.folder, self.lab)

    def others(self) -> list[str]:
        """The names of the notebooks in the folder that do not count, without those of the lab with no cell of the student."""
        written = _written_in(self.folder, self.lab)
        settled = {counted_of(written), *(name for name, cells in written.items() if not cells)}
        return sorted({path.name for path in self.folder.glob("*.ipynb")} - settled)

    @property
    def digest(self) -> str:
        """The name of the content. The graded notebook has it, because a student can set the time of a file."""
        return digest(self.text)


def text_in(folder: Path, lab: Lab) -> str:
    """The text of the notebook that counts in the folder of a submission. Raises Unreadable.

    A class can have a lab in several languages, `01a_views.es.ipynb` beside `01a_views.ipynb`. The notebook in which the student
    wrote most cells counts, or `01a_views.ipynb` if the numbers are the same.
    """
    return read_submission(folder / counted_of(_written_in(folder, lab)))


def counted_of(written: Mapping[str, int]) -> str:
    return max(written, key=lambda name: written[name])


def _written_in(folder: Path, lab: Lab) -> dict[str, int]:
    """The notebooks of a lab in a folder, `01a_views.ipynb` first, each with the number of cells that no release has."""
    own, there = f"{lab}.ipynb", {path.name for path in folder.glob(f"{lab}.*.ipynb")}
    editions = [*lab.kept_editions().values()] if there else []
    languages = sorted({edition.notebook["metadata"]["rushlight"]["language"] for edition in editions})
    names = [own, *(name for language in languages if (name := f"{lab}.{language}.ipynb") in there)]
    releases = [lab.release, *lab.kept_releases(), *editions] if names[1:] else []
    given = {"".join(cell["source"]) for release in releases for cell in release.notebook["cells"]}
    return {name: _count_cells(folder / name, given) if releases else 1 for name in names}


def _count_cells(path: Path, given: Collection[str]) -> int:
    """The number of cells of a student's notebook whose text is not a given one; 0 if it cannot be read."""
    try:
        sources = ["".join(cell["source"]) for cell in json.loads(read_submission(path))["cells"]]
    except (Unreadable, ValueError, LookupError, TypeError, RecursionError):
        return 0
    return sum(source not in given for source in sources if source.strip())


def read_submission(path: Path) -> str:
    """The text of a submitted notebook. Raises Unreadable."""
    if reason := rejection_reason(path.parent):
        raise Unreadable(reason)
    try:
        return read_notebook(path)
    except FileNotFoundError:
        raise Unreadable(_missing(path)) from None
    except OSError as error:
        raise Unreadable(f"cannot be read: {error.strerror}") from None


def _missing(path: Path) -> str:
    """Say that there is no notebook of the lab's name, and which files are in its folder."""
    there = [other for other in sorted(path.parent.iterdir()) if other.name not in BESIDE]
    said, there = f"no {path.name} in the submission", notebooks_in(path.parent) or there
    return f"{said}, only {_names(there)}: rename the one that is this lab's" if there else said


def _names(paths: list[Path]) -> str:
    more = f" and {len(paths) - 3} more" if paths[3:] else ""
    return ", ".join(printable(path.name)[:80] for path in paths[:3]) + more


def notebooks_in(folder: Path) -> list[Path]:
    """The files of a folder that may be notebooks by their names, which a browser or a student can change."""
    files = [path for path in sorted(folder.iterdir()) if path.is_file() and not path.name.startswith(".")]
    return [path for path in files if ".ipynb" in path.name.lower()]


def read_notebook(path: Path) -> str:
    """The text of a student's notebook. If the file is large, its lists of outputs are empty. Raises Unreadable and OSError."""
    name = printable(path.name)
    with path.open("rb") as file:
        data = file.read(MAX_FOLDER + 1)
    if len(data) > MAX_FOLDER:
        raise Unreadable(f"{name} has more than {MAX_FOLDER >> 20} MB")
    try:
        text = data.decode(json.detect_encoding(data))
    except UnicodeDecodeError:
        raise Unreadable("not a notebook: the file is not text in UTF-8, UTF-16 or UTF-32") from None
    if len(data) > MAX_NOTEBOOK and len(text := _without_outputs(text)) > MAX_NOTEBOOK:
        raise Unreadable(f"{name} has {len(text) >> 20} MB without its outputs; the limit is {MAX_NOTEBOOK >> 20}")
    return text


_TOKEN = re.compile(
    r'"(?:[^"\\]++|\\.)*+(?:"(\s*+:\s*+\[)?|\Z)|[\[\]]', re.DOTALL
)  # a string, or a bracket outside strings


def _without_outputs(text: str) -> str:
    """The text of a notebook with empty lists of outputs. Raises Unreadable.

    The text is not parsed, because the objects of 50 MB of JSON can take a gigabyte.
    """
    kept, start, depth = [], 0, 0  # the depth inside a list of outputs
    for number, token in enumerate(_TOKEN.finditer(text)):
        if number > MAX_TOKENS:
            raise Unreadable(f"its outputs have more than {MAX_TOKENS:,} parts: clear them")
        opens = token[1] is not None or text[token.start()] == "["
        if depth:
            depth += opens - (text[token.start()] == "]")
            start = token.start()
        elif opens and text.startswith('"outputs"', token.start()):
            kept.append(text[start : token.end()])
            depth = 1
    return "".join([*kept, text[start:]])


def rejection_reason(folder: Path) -> str:
    """Why the folder of a submission must not be opened, in one line, or an empty string.

    A link may lead to another submission, or to an instructor's file that nbgrader would copy into the feedback. A pipe or a
    device may never end. For nbgrader a student called `*` is the whole class.
    """
    name = folder.parent.name
    unfit = glob.escape(name) != name or name.strip() != name or not name.isprintable()
    if unfit or ACTIVE_IN_PAGES & {*name}:
        return (
            "the name of the student's folder is not one for nbgrader: without *, ?, [, <, >, &, \", \\, blanks at an end, line"
            " ends, and what cannot be shown"
        )
    if folder.parent.is_symlink():
        return "the student's folder is a link"
    try:
        return _reason_in_files(folder) or reason_in_timestamp(folder / "timestamp.txt")
    except OSError as error:
        return f"a file of the submission cannot be read: {error.strerror}"


def digest(text: str) -> str:
    """The digest of a text, such as that of a submission."""
    return hashlib.sha256(text.encode()).hexdigest()


def _reason_in_files(folder: Path) -> str:
    count = total = 0
    for path in _files(folder):
        status = path.lstat()
        count, total = count + 1, total + status.st_size
        if count > MAX_FILES or total > MAX_FOLDER:
            return f"more than {MAX_FILES} files, or than {MAX_FOLDER >> 20} MB"
        if not (stat.S_ISREG(status.st_mode) or stat.S_ISDIR(status.st_mode)):
            return f"{printable(path.name)} is a link, a pipe or a device, not an ordinary file"
        if not path.name.isprintable() or len(os.fsencode(path.relative_to(folder))) > MAX_PATH:
            return (
                f"{printable(path.name)[:80]} has a name that cannot be shown, or a path of more than {MAX_PATH} bytes"
            )
        if stat.S_ISDIR(status.st_mode) and path != folder and glob.escape(path.name) != path.name:
            return f"{printable(path.name)} is a folder with *, ? or [ in its name, which nbgrader takes for a pattern"
    return ""


def _files(folder: Path) -> Iterator[Path]:
    """A folder, and everything in it. Raises OSError for a folder that cannot be read."""

    def fail(error: OSError) -> None:
        raise error

    for place, inner, files in os.walk(folder, onerror=fail):
        yield Path(place)
        yield from (Path(place, name) for name in inner + files)


def reason_in_timestamp(path: Path) -> str:
    """Why the file with the time of a submission must not be read, in one line, or an empty string."""
    try:
        if path.stat().st_size > MAX_TIMESTAMP:
            return f"{path.name} has more than {MAX_TIMESTAMP} bytes"
        read_timestamp(path)
    except FileNotFoundError:
        return ""
    except (OSError, UnicodeDecodeError):
        return f"{path.name} does not tell a time"
    except ValueError as error:
        return f"{path.name}: {error}"
    return ""


def read_timestamp(path: Path) -> datetime | None:
    """The time in the file beside a submission (UTC), or None if the file is empty. Raises OSError and ValueError."""
    text = path.read_text(encoding="utf-8").strip()
    return read_time(text) if text else None


def read_time(text: str) -> datetime:
    """A time in UTC, as nbgrader reads it: `2027-03-15 22:00:00 Europe/Berlin`. Raises ValueError.

    nbgrader takes a time zone that it does not know for UTC, and +0100 for a hundred seconds, and says nothing. It takes 05.03.2027
    for the third of May, and a time without a date for one of today, so a date has to begin with its year.
    """
    from nbgrader.utils import gettz, parse_utc  # imports all of nbgrader, which most commands do not need

    parts = text.split(" ")
    zone = parts[2:] or re.findall("[A-Za-z]{2}.*", text)
    if zone and not gettz(zone[0]):
        raise ValueError(f"there is no time zone {printable(zone[0])!r}; write UTC or a name such as Europe/Berlin")
    is_clear = re.match(r"\d{4}-\d\d-\d\d", text) and (len(parts) == 3 or not zone)
    try:
        time = parse_utc(text) if is_clear else None
    except Exception:  # the parser raises many types
        time = None
    if time is None or time.year not in YEARS:
        raise ValueError(f"{printable(text)!r} is not a time such as 2027-03-15 22:00:00 Europe/Berlin")
    return time
