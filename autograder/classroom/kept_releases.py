"""The releases of a lab that a class has had, and the release that a submission was made from.

A released notebook says in its metadata which release it is: a digest of its cells, and the version of the course in which it
became that. `classroom/releases/LAB/` keeps every release that a class got or was graded on, in order. `classroom/editions/LAB/`
has them in other languages.

nbgrader's gradebook has one set of graded cells and one maximum for each lab, and a class cannot change them when it has grades. So
a class goes on with the exercises and questions with which it began, whatever the course has today. All releases that it keeps ask
for the same ones. They differ in texts, and in points, of which the newest count for everybody. That is why it earns nothing to
claim another release.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from .. import translation
from ..course import replacing
from ..engine.check import find
from ..engine.observe import GradingError
from ..model import Course, Lab, check_name, core_of, is_further
from .restore import names_only_in

if TYPE_CHECKING:
    from nbformat import NotebookNode


def keep_release(lab: Lab) -> str:
    """Keep today's release of a lab for this class, and its editions in other languages, unless it asks for other exercises than
    the class began with. Then the class goes on with what it has, and the result is a line that says so."""
    if not (line := _keep_todays(lab)):
        for language in translation.languages():
            edition = _edition(lab, language)
            path = lab.editions_folder / f"{edition['metadata']['rushlight']['release']}.ipynb"
            if not path.exists():
                path.parent.mkdir(parents=True, exist_ok=True)
                with replacing(path) as part:
                    part.write_text(_text(edition), encoding="utf-8")
    return line


def _keep_todays(lab: Lab) -> str:
    release, kept = lab.release_at(lab.todays_path), lab.kept_releases()
    if release.digest in {earlier.digest for earlier in kept}:
        return ""
    today, began = release.names, lab.release.names
    if today.keys() != began.keys():
        more, less = names_only_in(today, began), names_only_in(began, today)
        parts = ([f"it does not get {more}"] if more else []) + ([f"it keeps {less}"] if less else [])
        return f"{lab}: this class goes on with the exercises of version {_version(lab)}: {', and '.join(parts)}"
    if not kept and (added := today.keys() - _in_gradebook(lab, today.keys())):
        more = names_only_in(today, today.keys() - added)
        raise GradingError(
            f"the gradebook has points for {lab} from before it had {more}: put the notebook of that time into {lab.kept_folder},"
            " and the class goes on with it"
        )
    folder, number = lab.kept_folder, 1 + len(kept)
    folder.mkdir(parents=True, exist_ok=True)
    with replacing(folder / f"{number}-{release.digest}.ipynb") as part:
        part.write_bytes(release.path.read_bytes())
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


def text_for_students(lab: Lab, language: str = "") -> str:
    """The text of the notebook that this class releases to its students, in a language of the course, or in English."""
    if language:
        edition = _edition(lab, language)
        return _text(core_of(edition) if lab.takes_core else edition)
    return _text(lab.released) if lab.takes_core else lab.path.read_text(encoding="utf-8")


def _edition(lab: Lab, language: str) -> NotebookNode:
    return copy.deepcopy(_translated(lab.name, lab.path.read_text(encoding="utf-8"), language))


@lru_cache(8)  # each grading of a watched class asks for it
def _translated(lab: str, released: str, language: str) -> NotebookNode:
    import nbformat

    return translation.edition(Lab(lab), nbformat.reads(released, as_version=4), language)


def _text(notebook: Mapping) -> str:
    return json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"


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
