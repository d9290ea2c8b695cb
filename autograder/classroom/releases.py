"""The releases of a lab that a class has had, and the release that a submission was made from.

A released notebook says in its metadata which release it is: a digest of its cells, and the version of the course in which it
became that. `classroom/releases/LAB/` keeps every release that a class has given out or has been graded on, in order.

nbgrader's gradebook has one set of graded cells and one maximum for each lab, and a class cannot change them when it has grades. So
a class goes on with the exercises and questions with which it began, whatever the course has today. All releases that it keeps ask
for the same ones. They differ in texts, and in points, of which the newest count for everybody. That is why it earns nothing to
claim another release.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Collection, Mapping, Sequence

import nbformat
from nbformat import NotebookNode

from ..course import replacing
from ..engine.check import find
from ..engine.observe import GradingError
from ..model import Course, Lab, check_name, digest_at, is_further, names_by_grade_id
from ..text import printable
from .restore import released_notebook


def keep_release(lab: Lab) -> str:
    """Keep today's release of a lab for this class, unless it asks for other exercises than the class began with. Then the class
    goes on with what it has, and the result is a line that says so."""
    path, kept = lab.todays_path, lab.kept_releases()
    if (name := digest_at(path)) in kept:
        return ""
    today, began = names_by_grade_id(lab.released_at(path)), names_by_grade_id(lab.released)
    if today.keys() != began.keys():
        more, less = _names(today, began), _names(began, today)
        parts = ([f"it does not get {more}"] if more else []) + ([f"it keeps {less}"] if less else [])
        return f"{lab}: this class goes on with the exercises of version {_version(lab)}: {', and '.join(parts)}"
    if not kept and (added := today.keys() - _in_gradebook(lab, today.keys())):
        raise GradingError(
            f"the gradebook has grades of {lab} from before it had {_names(today, today.keys() - added)}: put the notebook of that"
            f" time into {lab.kept_folder}, and the class goes on with it"
        )
    folder, number = lab.kept_folder, 1 + len(kept)
    folder.mkdir(parents=True, exist_ok=True)
    with replacing(folder / f"{number}-{name}.ipynb") as part:
        part.write_bytes(path.read_bytes())
    return ""


def take_only_core(course: Course, labs: Sequence[Lab]) -> list[Lab]:
    """From now on, the further exercises of these labs carry no points in this class. Returns the labs as the class has them now.

    Raises LookupError, and changes nothing, if the gradebook has points for one of them."""
    from nbgrader.api import MissingEntry

    from .gradebook import open_gradebook

    for lab in labs if (course.folder / "gradebook.db").exists() else ():
        further = {cell["metadata"]["nbgrader"]["grade_id"] for cell in filter(is_further, lab.released["cells"])}
        try:
            with open_gradebook() as gradebook:
                graded = {cell.name for cell in gradebook.find_notebook(lab.name, lab.name).grade_cells}
        except MissingEntry:
            continue
        if further & graded:
            raise LookupError(f"the gradebook of {course.folder} has {lab} with the points of its further exercises")
    course.core_path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(course.core_path) as part:
        names = sorted({*course.core_labs(), *map(str, labs)})
        part.write_text("".join(f"{name}\n" for name in names), encoding="utf-8")
    return [Lab(lab.name, course) for lab in labs]


def text_for_students(lab: Lab) -> str:
    """The text of the notebook that this class gives to its students."""
    if lab.takes_core:
        return json.dumps(lab.released, indent=1, ensure_ascii=False) + "\n"
    return lab.path.read_text(encoding="utf-8")


def _in_gradebook(lab: Lab, wanted: Collection[str]) -> set[str]:
    """The cells of a lab to which nbgrader holds a class that has grades, or all `wanted` ones if it has none."""
    if not (lab.course.folder / "gradebook.db").exists():
        return {*wanted}
    from nbgrader.api import MissingEntry

    from .gradebook import open_gradebook

    try:
        with open_gradebook() as gradebook:
            notebook = gradebook.find_notebook(lab.name, lab.name)
            return {cell.name for cell in notebook.source_cells} if notebook.submissions else {*wanted}
    except MissingEntry:
        return {*wanted}


def expect_checks(lab: Lab) -> None:
    """Raises GradingError if this class's lab has a check that this version of the course does not have."""
    gone = []
    for name in filter(None, map(check_name, lab.released["cells"])):
        try:
            find(name)
        except LookupError:
            gone.append(name)
    if gone:
        raise GradingError(
            f"{lab}, as this class has it, needs checks that this version of the course does not have ({', '.join(gone[:4])}):"
            f" grade this class with version {_version(lab)}"
        )


def _version(lab: Lab) -> str:
    """The version of the course from which this class has a lab."""
    return lab.released["metadata"].get("rushlight", {}).get("version", "unknown")


def release_of(lab: Lab, text: str) -> NotebookNode:
    """The release on which a submission is restored: the one that it was made from if this class has had it, with the points that
    count today, and otherwise this class's lab."""
    path = lab.kept_releases().get(claimed(text).get("release", ""))
    if path is None or digest_at(path) == digest_at(lab.path):
        return released_notebook(lab)
    release = nbformat.reads(json.dumps(lab.released_at(path)), as_version=4)
    if names_by_grade_id(release).keys() != names_by_grade_id(released_notebook(lab)).keys():
        return released_notebook(lab)
    given = {
        cell.metadata.nbgrader.grade_id: cell for cell in released_notebook(lab).cells if "nbgrader" in cell.metadata
    }
    for cell in release.cells:
        if "nbgrader" in cell.metadata and cell.metadata.nbgrader.grade_id in given:
            cell.metadata = copy.deepcopy(given[cell.metadata.nbgrader.grade_id].metadata)
    return release


def claimed(text: str) -> dict[str, str]:
    """What a student's notebook says about its release: `lab`, `release` and `version`, as far as they are there. A student can
    write anything there."""
    try:
        found = json.loads(text)["metadata"]["rushlight"]
        return {key: found[key] for key in ("lab", "release", "version") if isinstance(found.get(key), str)}
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return {}


def remark(lab: Lab, text: str) -> str:
    """A line about a submission with answers to exercises that this class's lab does not have. Otherwise nothing."""
    try:
        answered = names_by_grade_id(json.loads(text))
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return ""
    wanted = names_by_grade_id(released_notebook(lab))
    more, less = _names(answered, wanted), _names(wanted, answered)
    if not more:
        return ""
    version = claimed(text).get("version", "unknown")[:20]
    line = f"made from another release of the lab (version {version}): no points here for its {more}"
    return printable(line + (f", and it lacks {less}" if less else ""))


def _names(some: Mapping[str, str], others: Collection[str]) -> str:
    """The names of the cells that are here and not there, in words."""
    names = list(dict.fromkeys(name[:60] for key, name in some.items() if key not in others))
    return ", ".join(names[:4]) + (f" and {len(names) - 4} more" if names[4:] else "")
