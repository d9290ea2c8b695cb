"""Cells of the site's pages run in the reader's browser, on a Python that the site brings.

A lab's page has its exercises as editors (`docs/browser/tab.js`), if what this needs could be had when the site was built: the
parts that others have made (`docs/browser/parts.py`), and torch's recorded answers to the lab's cases (`rushlight record`).
"""

from __future__ import annotations

import hashlib
import io
import json
import logging
import sys
import zipfile
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page
from mkdocs.utils import get_relative_url
from nbformat import NotebookNode

from autograder.course import COURSE
from autograder.engine import practice
from autograder.engine.check import exercise_of, global_names, is_bench, is_milestone
from autograder.model import check_name, exercise_name

sys.path.insert(0, str(Path(__file__).parents[1] / "browser"))
import parts  # noqa: E402

log = logging.getLogger("mkdocs.hooks.tab")

PLACE = "browser"  # in the site
MINIGPT = "12"  # the phase whose labs use the trained model
RANKS = "09"  # the phase whose programs start processes, which a browser does not
COURSE_FILES = (
    "rushlight/**/*",
    "autograder/*.py",
    "autograder/engine/*.py",
    "autograder/notebook/*.py",
    "autograder/checks/*.py",
    "autograder/checks/shared*/*.py",
)
LEFT_OUT = {"__pycache__", "stub"}
GPT = COURSE / "rushlight/course/gpt.npz"  # only pages that use the trained model load it
HERE = (
    "**Or do it here.** Each exercise below is an editor. *Check* runs it in this page, on a Python that the first press loads "
    "(12 MB), and compares it with recorded answers of torch to public cases: this is practice. Your answers stay in this browser. "
    "*Download* gives you the notebook with your answers, to go on in JupyterLab or to hand in."
)
HOME: dict = {  # an exercise that is wrong, with its check
    "lab": "01a_views",
    "key": "home",
    "before": "import rushlight as rl\nfrom autograder import check, exercise",
    "cells": {
        "home-exercise": {"kind": "exercise", "exercise": "aten.strided.contiguous_strides", "binds": []},
        "home-check": {
            "kind": "check",
            "check": "aten.strided.contiguous_strides",
            "of": "aten.strided.contiguous_strides",
            "points": 0,
            "binds": [],
        },
    },
}


def on_files(files: Files, config: MkDocsConfig) -> None:
    place = config.extra["browser"] = parts.fetch()
    if place is None:
        log.info("the cells of this site cannot be run in it")
        return
    for name in (part["file"] for part in parts.PARTS if part["group"] in ("core", "matplotlib")):
        files.append(File.generated(config, f"{PLACE}/pyodide/{name}", abs_src_path=str(place / name)))
    for path in place.glob("codemirror/*.js"):
        files.append(File.generated(config, f"{PLACE}/codemirror/{path.name}", abs_src_path=str(path)))
    course = packed(_course())
    config.extra["version"] = hashlib.sha256(course).hexdigest()[:16]
    files.append(File.generated(config, f"{PLACE}/course.zip", content=course))
    files.append(File.generated(config, f"{PLACE}/{GPT.name}", abs_src_path=str(GPT)))
    for lab in labs(config):
        files.append(File.generated(config, f"{PLACE}/labs/{lab}.zip", content=packed(_of_lab(lab))))


def labs(config: MkDocsConfig) -> list[str]:
    """The labs whose pages run."""
    return [name for phase in config.extra["phases"] for lab in phase.labs if runs(name := lab.path.stem)]


def runs(lab: str) -> bool:
    """Whether a lab runs in a browser: its answers are recorded, and its programs start no processes."""
    return lab[:2] != RANKS and not is_bench(lab) and practice.fresh(lab) is not None


def packed(paths: Iterator[tuple[str, Path]]) -> bytes:
    """Files by name in a zip file, the same each time."""
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w") as file:
        for name, path in sorted(paths):
            file.writestr(zipfile.ZipInfo(name), path.read_bytes(), zipfile.ZIP_DEFLATED, 9)
    return written.getvalue()


def _course() -> Iterator[tuple[str, Path]]:
    """The framework, the grader's part of a notebook, the checks that labs share, and PyYAML."""
    for pattern in COURSE_FILES:
        for path in COURSE.glob(pattern):
            if path.is_file() and path.parent.name not in LEFT_OUT and path.name != GPT.name:
                yield path.relative_to(COURSE).as_posix(), path
    spec = find_spec("yaml")
    assert spec is not None and spec.origin is not None
    for path in Path(spec.origin).parent.glob("*.py"):
        yield f"yaml/{path.name}", path


def _of_lab(lab: str) -> Iterator[tuple[str, Path]]:
    """A lab's checks, and torch's recorded answers."""
    for path in [*(COURSE / "autograder/checks" / lab).glob("*.py"), practice.FOLDER / f"{lab}.zip"]:
        yield path.relative_to(COURSE).as_posix(), path


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """A page whose cells run has a script, and what this needs to know of them."""
    running = labs(config) if config.extra["browser"] else []
    pages = {lab.page: lab for phase in config.extra["phases"] for lab in phase.labs if lab.path.stem in running}
    if page.is_homepage and HOME["lab"] in running:
        about = HOME
    elif lab := pages.get(page.file.src_uri):
        about = {"lab": lab.path.stem, "notebook": lab.path.name, "cells": cells(lab.read())}
        about |= {"gpt": True} if lab.path.stem[:2] == MINIGPT else {}
        markdown = markdown.replace("<div data-tab-bar></div>", f"{HERE}\n\n<div data-tab-bar></div>")
    else:
        return markdown
    base = get_relative_url(f"{PLACE}/", page.url)
    text = json.dumps({"base": base, "version": config.extra["version"], **about}, separators=(",", ":")).replace(
        "<", "\\u003c"
    )
    return (
        f'{markdown}\n\n<script type="application/json" id="tab">{text}</script>\n'
        f'<script src="{base}tab.js" defer></script>\n'
    )


def cells(nb: NotebookNode) -> dict[str, dict]:
    """What the page must know of each cell of code and each written answer, by its id: its kind, the names that it binds, and what
    it is for."""
    told, from_torch = {}, set[str]()
    for cell in nb.cells:
        if cell.cell_type == "markdown":
            told |= {cell.id: {"kind": "written", "own": cell.source}} if cell.metadata.get("nbgrader") else {}
        if cell.cell_type != "code":
            continue
        bound, used = global_names(cell.source)
        tags = {*cell.metadata.get("tags", [])}
        if "torch" in tags or used & from_torch:
            from_torch |= bound
            told[cell.id] = {"kind": "torch"}
            continue
        from_torch -= bound
        about = told[cell.id] = {"kind": "drawing" if "figure" in tags else "plain", "binds": sorted(bound)}
        if exercise := exercise_name(cell):
            about |= {"kind": "exercise", "exercise": exercise}
        if check := check_name(cell):
            points = cell.metadata.get("nbgrader", {}).get("points", 0)
            about |= {"kind": "check", "check": check, "points": points}
            about |= {} if is_milestone(check) else {"of": exercise_of(check)}
    return told
