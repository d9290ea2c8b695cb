"""The folders, phases and labs of a course.

A *phase*, such as `04_autograd`, has one reading in `phases/` and one package of checks. It has one lab with the phase's name, or
several: `04a_history`, `04b_engine`. A lab's name is the name of its folder and of its notebook wherever the lab occurs: as an
instructor's source in `solutions/`, as the students' notebook in `labs/`, as a student's copy in `work/`, and as a
submission in the classroom. Nothing here imports nbgrader or torch.
"""

from __future__ import annotations

import difflib
import hashlib
import json
import os
import re
import sysconfig
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path

_GRADER = Path(__file__).resolve().parent
_IS_WHEEL = (_GRADER / "shipped").exists()
COURSE = _GRADER / "shipped" if _IS_WHEEL else _GRADER.parent  # the course's files, only to be read
ROOT = Path.cwd() if _IS_WHEEL else COURSE  # where work and classes are
RELEASED, SOURCES, READINGS = COURSE / "labs", COURSE / "solutions", COURSE / "phases"
WORK = ROOT / "work"
ADDED = "added-"  # the beginning of the ids that restoring gives to the cells that a student added


class BuildError(Exception):
    """Raised for a source that cannot be built. The message has the position and the reason."""


def classroom() -> Path:
    """The folder of the running class: `classroom/`, or the value of RUSHLIGHT_CLASSROOM."""
    path = Path(os.environ.get("RUSHLIGHT_CLASSROOM", ROOT / "classroom")).resolve()
    if path.is_file():
        raise NotADirectoryError(f"{path} is a file, and a class is a folder: RUSHLIGHT_CLASSROOM names another one")
    return path


def cache_folder() -> Path:
    """The folder for files of this user that can be made again at any time."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "rushlight"


# Labs ----------------------------------------------------------------------------------------------------------------


def submitted_path(lab: str, student: str) -> Path:
    """The notebook that a student has handed in, if there is one."""
    return classroom() / "submitted" / student / lab / f"{lab}.ipynb"


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Within: a new file to write, in the same folder, which then takes the place of the file, or of the link, at `path`. If an
    exception is raised, `path` stays as it is. Raises FileNotFoundError if there is no such folder."""
    if not path.parent.is_dir():
        raise FileNotFoundError(f"there is no folder {path.parent}")
    part = path.with_name(f".{path.name}.part")
    part.unlink(missing_ok=True)  # from a run that was killed; or a link that leads elsewhere
    try:
        yield part
    except BaseException:
        part.unlink(missing_ok=True)
        raise
    part.replace(path)


def todays_path(lab: str) -> Path:
    """The students' notebook of a lab, as this version of the course has it."""
    return RELEASED / lab / f"{lab}.ipynb"


def released_path(lab: str) -> Path:
    """The students' notebook of a lab, as this class has it. (`releases` says how a class comes to have another than today's.)"""
    path, kept, core = todays_path(lab), [*kept_releases(lab).values()], lab in core_labs()
    return path if not kept or path.exists() and asked_at(path, core) == asked_at(kept[-1], core) else kept[-1]


def kept_releases(lab: str) -> dict[str, Path]:
    """The releases of a lab that this class has had, by their digests, in order: `classroom/releases/LAB/1-DIGEST.ipynb`."""

    def number(path: Path) -> tuple[int, str]:
        return int(re.split(r"\D", path.stem, maxsplit=1)[0] or 0), path.stem

    return {digest_at(path): path for path in sorted(kept_folder(lab).glob("*.ipynb"), key=number)}


def kept_folder(lab: str) -> Path:
    return classroom() / "releases" / lab


def digest_of(notebook: Mapping) -> str:
    """What names a release of a lab: a digest of its cells without their outputs."""
    cells = [
        [cell.get("id"), cell["cell_type"], "".join(cell["source"]), cell["metadata"]] for cell in notebook["cells"]
    ]
    return hashlib.sha256(json.dumps(cells, sort_keys=True).encode()).hexdigest()[:12]


def digest_at(path: Path) -> str:
    """The digest of a notebook of the course or of the class, or nothing if there is none."""
    return _known(path, path.stat().st_mtime_ns)[0] if path.exists() else ""


def asked(notebook: Mapping) -> dict[str, str]:
    """What a notebook asks for: the name of each exercise and question by its id in the gradebook, and of each graded check."""
    found = {}
    for cell in notebook["cells"]:
        given = cell["metadata"].get("nbgrader", {})
        if given.get("solution") or given.get("grade"):
            found[str(given["grade_id"])] = str(exercise_name(cell) or check_name(cell) or given["grade_id"])
    return found


def asked_at(path: Path, core: bool) -> frozenset[str]:
    """The ids of what a notebook asks for, in a class that takes only the `core` or all of it."""
    _, whole, of_core = _known(path, path.stat().st_mtime_ns)
    return of_core if core else whole


@cache
def _known(path: Path, changed: int) -> tuple[str, frozenset[str], frozenset[str]]:
    """The digest of a notebook, the ids of what it asks for, and the ids of what its core asks for."""
    try:
        notebook = json.loads(path.read_text(encoding="utf-8"))
        return digest_of(notebook), frozenset(asked(notebook)), frozenset(asked(core_of(notebook)))
    except (ValueError, LookupError, TypeError, AttributeError):
        raise LookupError(f"{path} is not a notebook: put its copy there again, or delete it") from None


def labs() -> list[str]:
    """All labs, in order. A class repository has labs without a source."""
    found = [*SOURCES.glob("*/*.md"), *RELEASED.glob("*/*.ipynb")]
    return sorted({path.stem for path in found if path.stem == path.parent.name})


def phases() -> list[str]:
    """All phases that have a reading, in order."""
    return sorted(path.parent.name for path in READINGS.glob("*/reading.md"))


def released_labs() -> list[str]:
    """The labs whose notebook for students has been built, in order."""
    return [lab for lab in labs() if released_path(lab).exists()]


def number_of(lab: str) -> str:
    """`04a` for the lab `04a_history`."""
    return lab.partition("_")[0]


def find_labs(number: str) -> list[str]:
    """The labs that `04a`, `4a` or `04a_history` means: `04` means all labs of phase 04. Raises LookupError with similar names, or
    with the names of all labs."""
    wanted = _padded(number)
    found = [lab for lab in labs() if wanted in (lab, number_of(lab), lab[:2])]
    if not found:
        advice = did_you_mean_lab(number, labs()) or f"the labs are {', '.join(labs())}"
        raise LookupError(f"there is no lab {number!r}; {advice}")
    return found


def _padded(number: str) -> str:
    wanted = number.zfill(2) if number.isdigit() else number
    return wanted.zfill(3) if re.fullmatch(r"\d[a-z]", wanted) else wanted


def did_you_mean(wanted: str, names: Iterable[str]) -> str:
    """A question with the names that are similar to a mistyped one; empty if none is."""
    known = {name.lower(): name for name in names}
    return _question(known[name] for name in difflib.get_close_matches(wanted.lower(), known, n=3, cutoff=0.65))


def did_you_mean_lab(wanted: str, names: Sequence[str]) -> str:
    """The same for names such as `04a_history`, of which a part is enough. If none is similar, it has all of the phase."""
    same_phase = [name for name in names if name[:2] == wanted[:2]]
    known = {part: name for name in same_phase or names for part in (name, name.partition("_")[2], number_of(name))}
    return _question([known[part] for part in difflib.get_close_matches(wanted, known, n=3, cutoff=0.65)] or same_phase)


def _question(names: Iterable[str]) -> str:
    unique = dict.fromkeys(names)
    return f"did you mean {' or '.join(unique)}?" if unique else ""


def find_lab(number: str) -> str:
    """The lab that `04a`, `4a` or `04a_history` means. Raises LookupError if there is none, or if there are several."""
    found = find_labs(number)
    if len(found) > 1:
        raise LookupError(f"phase {number} has several labs, so name one: {', '.join(found)}")
    return found[0]


def is_named(lab: str, number: str) -> bool:
    """Whether `04a`, `4a` or `04a_history` in a table means this lab.

    Raises LookupError if the cell may be a mistake for this lab: a mistake in another phase must not stop this lab.
    """
    wanted = _padded(number)
    if wanted in (lab, number_of(lab)):
        return True
    return (wanted[:2] == lab[:2] or not wanted[:2].isdigit()) and find_lab(number) == lab


def find_released(number: str) -> str:
    """The lab that `04a`, `4a` or `04a_history` means. Raises LookupError if it does not exist or has not been built."""
    lab = find_lab(number)
    if not released_path(lab).exists():
        raise LookupError(
            f"labs/{lab}/{lab}.ipynb has not been built yet: `rushlight build {number_of(lab)}` builds it"
        )
    return lab


def released(lab: str, path: Path | None = None) -> dict:
    """The students' notebook of a lab (or its release at a `path`), as this class has it: in a class that takes only the core, a
    further exercise has no points."""
    notebook = json.loads((path or released_path(lab)).read_text(encoding="utf-8"))
    return core_of(notebook) if lab in core_labs() else notebook


def core_of(notebook: dict) -> dict:
    """A released notebook, from which this removes the points of the further exercises."""
    for cell in filter(is_further, notebook["cells"]):
        if "points" in cell["metadata"]["nbgrader"]:
            cell["metadata"]["nbgrader"]["grade"] = False
            del cell["metadata"]["nbgrader"]["points"]
    return notebook


def core_path() -> Path:
    """The file with the names of the labs of which this class takes only the core, one in a line."""
    return classroom() / "core"


def core_labs() -> list[str]:
    return core_path().read_text(encoding="utf-8").split() if core_path().exists() else []


def points(lab: str) -> dict[str, float]:
    """The points of each graded check of a lab, in the notebook's order."""
    graded = [cell for cell in released(lab)["cells"] if check_name(cell) and cell["metadata"]["nbgrader"].get("grade")]
    return {str(check_name(cell)): cell["metadata"]["nbgrader"]["points"] for cell in graded}


def written_points(lab: str) -> float:
    """The points of a lab that an instructor gives: those of its written questions."""
    by_hand = [
        cell for cell in released(lab)["cells"] if cell["cell_type"] == "markdown" and "nbgrader" in cell["metadata"]
    ]
    return sum(cell["metadata"]["nbgrader"].get("points", 0) for cell in by_hand)


def exercises(lab: str) -> list[str]:
    """The exercises of a lab, paths of attributes from `rl`, in the notebook's order."""
    return list(_exercises(released_path(lab), released_path(lab).stat().st_mtime_ns))


def core_exercises(lab: str) -> list[str]:
    """The exercises of a lab that are not further ones."""
    return core_in(released(lab))


def core_in(notebook: Mapping) -> list[str]:
    return [name for cell in notebook["cells"] if (name := exercise_name(cell)) and not is_further(cell)]


def required_exercises(lab: str) -> list[str]:
    """The exercises that this class has to write: without the further ones in a class that takes only the core."""
    return required_in(released(lab))


def required_in(notebook: Mapping) -> list[str]:
    """The same, by the released notebook of a class: if it takes only the core, the further checks have no points there."""
    checks = [cell for cell in notebook["cells"] if check_name(cell) and is_further(cell)]
    if any("points" not in cell["metadata"]["nbgrader"] for cell in checks):
        return core_in(notebook)
    return [*filter(None, map(exercise_name, notebook["cells"]))]


def missing_for_milestone(core: Sequence[str], is_done: Callable[[str], bool]) -> str:
    """Why a lab's milestone is not decided yet: it needs half of the core exercises. Empty if that many are done."""
    count = sum(map(is_done, core))
    if 2 * count >= len(core):
        return ""
    return f"a milestone needs half of the lab's core exercises: {count} of {len(core)} are yours so far"


@cache
def _exercises(path: Path, changed: int) -> tuple[str, ...]:
    return tuple(filter(None, map(exercise_name, json.loads(path.read_text(encoding="utf-8"))["cells"])))


# Text of others ------------------------------------------------------------------------------------------------------


def printable(text: str) -> str:
    """Text to be shown in a line on a terminal, in a log or on a page: what would not appear as itself appears as its number.

    So do line ends, escape codes of a terminal, letters that reverse the order of others, and bytes of a name that are no UTF-8.
    """
    return "".join(letter if letter.isprintable() else f"\\u{ord(letter):04x}" for letter in text)


def neutral(text: str) -> str:
    """Text for a cell of a spreadsheet. What would be a formula begins with an apostrophe.

    A program that splits a line at `;`, as in countries with a decimal comma, finds cells inside this one, quotes or not.
    """
    return _FORMULA.sub("'", printable(text))


_FORMULA = re.compile(r"""(?:^|(?<=;))(?=[\s"']*[=+\-@＝＋－＠])""")


# Cells of a lab's notebook -------------------------------------------------------------------------------------------


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


def is_added(cell: Mapping) -> bool:
    """Whether a student added a cell of a restored notebook."""
    return cell["id"].startswith(ADDED)


def is_further(cell: Mapping) -> bool:
    """Whether a cell belongs to an exercise that a class can leave out."""
    return cell["metadata"].get("rushlight", {}).get("further", False)


# The environment -----------------------------------------------------------------------------------------------------


def set_environment() -> None:
    """Let nbgrader find `alembic`, and Jupyter this course's templates and settings. A second call changes nothing.

    nbgrader looks for alembic on PATH and leaves an incomplete gradebook without it. The templates load no script from
    another host, and the settings keep JupyterLab from asking about news.
    """
    jupyter = str(Path(__file__).parent / "jupyter")
    folders = {"PATH": sysconfig.get_path("scripts"), "JUPYTER_PATH": jupyter, "JUPYTER_CONFIG_PATH": jupyter}
    for variable, folder in folders.items():
        before = os.environ.get(variable, os.defpath if variable == "PATH" else "")
        if folder not in before.split(os.pathsep):
            os.environ[variable] = os.pathsep.join([folder, *filter(None, [before])])
