"""Building notebooks from their sources.

A lab's source, `solutions/NNx_name/NNx_name.md`, is Markdown with cells. A cell that names an exercise is empty. The
builder takes its decorator, signature and docstring from the framework, puts the body between nbgrader's solution marks, and
adds the check in a locked cell. The section `Rules:` of a docstring becomes a fold below the check, and a call of `ask` is
above it. The builder adds up the
minutes and points of the lab below its title. nbgrader makes the students' notebook in `labs/` from that. A reading,
`phases/NN_name/reading.md`, becomes a notebook and is executed. Notebooks are built, never edited.
"""

from __future__ import annotations

import ast
import inspect
import os
import re
import tempfile
import textwrap
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import jupytext
import nbformat
from jupytext.cell_metadata import parse_key_equal_value
from nbformat import NotebookNode

import rushlight
from rushlight.course.short_names import short_form

from ..course import COURSE, READINGS, set_environment
from ..engine.asking import call_of_ask, complete
from ..engine.check import find, function_of, is_milestone
from ..engine.edition import RULES, body_lines
from ..language import ENGLISH
from ..model import Course, Lab, digest_of, lab_names, phases
from ..paths import in_words
from . import BuildError
from .errors import error_index

_METADATA = {
    "kernelspec": {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}

FOLDED_TAGS = {"setup", "figure"}  # cells whose source JupyterLab and the site fold
ASK = """\
Find the rules by experiment: ask torch about cases of your own, as often as you like. With the name alone, `ask` lists some.

```python
from autograder import ask

{call}
```
"""
FOLD = """\
<details><summary>Rules</summary>

{rules}

</details>
"""
ATTRIBUTES = re.compile(r"^(?:```python|<!-- #region) (.+?)(?: -->)?$", re.MULTILINE)  # of a cell, in a Markdown source
NEEDED = re.compile(r"(?m)(?<=^\*\*)(Needs\.\*\* .*?)([Rr]eading (\d\d))")  # what a lab begins with
LAYERS = ("Python", "dispatcher", "autograd", "ATen/c10", "compiler", "distributed")


# The solution notebook -----------------------------------------------------------------------------------------------


def solution(lab: Lab) -> NotebookNode:
    """The instructor's notebook of a lab, built from its Markdown. Raises BuildError."""
    path = lab.source
    if not path.exists():
        raise BuildError(f"{lab} came without its source: there is nothing to build it from")
    cells, effort, rules = [], Effort(), ""
    for cell in _read(path):
        given = cell.metadata
        effort.add(given, path)
        if rules:
            if cell.cell_type != "markdown" or given:
                raise BuildError(f"{path.name}: the hints must follow the exercise that has rules")
            cell.source, rules = rules + cell.source, ""
        if "exercise" in given:
            _expect_empty(cell, path)
            rules, asking = _rules(given)
            cells += [_exercise_cell(given), *asking]
            cells.append(_check_cell(given["exercise"], given.get("points"), effort.is_further))
        elif "check" in given:
            _expect_empty(cell, path)
            cells.append(_check_cell(given["check"], given.get("points"), effort.is_further))
        elif "question" in given:
            cells.append(_question_cell(given["question"], given["points"], cell.source))
        else:
            cells.append(cell)
    cells[0].source = NEEDED.sub(_linked, cells[0].source)
    if any(effort.minutes):
        cells[0].source += f"\n\n{effort.in_words()}"
    return _notebook(cells)


def _linked(needed: re.Match) -> str:
    """What a lab needs, with a link to the reading."""
    phase = next(name for name in phases() if name[:2] == needed[3])
    return f"{needed[1]}[{needed[2]}](../../phases/{phase}/reading.ipynb)"


@dataclass
class Effort:
    """The minutes and the points of a lab, (core, further), added up while its cells are read."""

    exercises: list[int] = field(default_factory=lambda: [0, 0])
    minutes: list[int] = field(default_factory=lambda: [0, 0])
    points: list[float] = field(default_factory=lambda: [0, 0])
    questions: int = 0
    is_further: bool = False  # of the exercise that was read last

    def add(self, given: dict, path: Path) -> None:
        """Add a cell, by its attributes. Raises BuildError."""
        if "exercise" in given:
            if not {"minutes", "stars"} <= given.keys():
                raise BuildError(f"{path.name}: the exercise {given['exercise']} has no `minutes` or no `stars`")
            self.is_further = given.get("further", False)
            self.exercises[self.is_further] += 1
        self.questions += "question" in given
        if "question" in given or is_milestone(given.get("check", "")):
            self.is_further = False
        self.minutes[self.is_further] += given.get("minutes", 0)
        self.points[self.is_further] += given.get("points", 0)

    def in_words(self) -> str:
        """The time below a lab's title: that of the core in half hours, and that of the further exercises in steps of 5 minutes."""
        times = in_words(self.minutes[False]), f"{5 * round(self.minutes[True] / 5)} minutes"
        core, further = (
            f"about {time} for {count} {kind}exercise{'s' * (count != 1)} ({worth:g} points)"
            for time, count, worth, kind in zip(times, self.exercises, self.points, ("", "further "), strict=True)
        )
        rest = f", and {further} that your class may leave out" if self.exercises[True] else ""
        apart = "the milestone and the written question" if self.questions else "the milestone"
        return f"**Time.** {core[0].upper()}{core[1:]}, {apart} included{rest}."


def effort_of(lab: Lab) -> Effort:
    """The minutes and the points of a lab. Raises BuildError."""
    effort = Effort()
    for attributes in ATTRIBUTES.findall(lab.source.read_text(encoding="utf-8")):  # to read all cells takes longer
        effort.add(parse_key_equal_value(attributes), lab.source)
    return effort


def _read(path: Path) -> list[NotebookNode]:
    """The cells of a Markdown source. A heading begins a new cell."""
    cells = []
    for cell in jupytext.read(path, fmt="md").cells:
        if cell.cell_type == "markdown" and not cell.metadata:
            cells += [nbformat.v4.new_markdown_cell(part) for part in _at_headings(cell.source)]
        else:
            cells.append(cell)
    return cells


def _at_headings(text: str) -> list[str]:
    """Markdown, split before each heading. A `#` inside a fence is no heading."""
    parts: list[list[str]] = [[]]
    fenced = False
    for line in text.splitlines():
        fenced ^= line.startswith("```")
        if re.match(r"#+ ", line) and not fenced and parts[-1]:
            parts.append([])
        parts[-1].append(line)
    return ["\n".join(part).strip() for part in parts]


def _expect_empty(cell: NotebookNode, path: Path) -> None:
    if cell.source.strip():
        raise BuildError(
            f"{path.name}: a cell that names an exercise or a check is filled in by the builder and must be empty"
        )


def _exercise_cell(given: dict) -> NotebookNode:
    name, further = given["exercise"], given.get("further", False)
    module = short_form(name.rpartition(".")[0])
    stars = "★" * given["stars"] + "☆" * (3 - given["stars"])
    effort = f"# {stars} · about {given['minutes']} minutes{' · further' * further}"
    source = f"{effort}\n@exercise(rl.{module})\n{exercise_source(name)}"
    metadata = {"rushlight": _about("exercise", name, further), "nbgrader": _nbgrader(_id(name), solution=True)}
    return nbformat.v4.new_code_cell(source, id=_id(name), metadata=metadata)


def _about(kind: str, name: str, further: bool) -> dict:
    return {kind: name} | ({"further": True} if further else {})


def _rules(given: dict) -> tuple[str, list[NotebookNode]]:
    """The fold with the rules of an exercise, before its hints, and the cell with a call of `ask`, above its check. Nothing and no
    cell for an exercise without rules."""
    name, case = given["exercise"], given.get("case")
    rules = rules_of(name)
    if bool(rules) != bool(case):
        raise BuildError(f"{name}: a docstring with `Rules:` and an exercise with `case` belong together")
    if not case:
        return "", []
    call = call_of_ask(find(name), complete(find(name), case))
    return FOLD.format(rules=rules), [nbformat.v4.new_markdown_cell(ASK.format(call=call).strip())]


def rules_of(name: str) -> str:
    """The section `Rules:` of an exercise's docstring, which its lab folds. Empty for most exercises."""
    found = RULES.search(inspect.getdoc(_function(name)) or "")
    return textwrap.dedent(found[2]).strip() if found else ""


def _function(name: str) -> Callable:
    try:
        return function_of(name)
    except LookupError:
        raise BuildError(f"there is no function {name} in the framework") from None


def exercise_source(name: str) -> str:
    """An exercise's definition with the body between solution marks, and without the rules of its docstring.

    Annotations are left out, because their names belong to the module. Annotations that are data and not text stay, because
    torch reads them.
    """
    function = _function(name)
    text = textwrap.dedent(inspect.getsource(function))
    node = ast.parse(text).body[0]
    assert isinstance(node, ast.FunctionDef)
    first, last = body_lines(node)
    body = text.splitlines()[first - 1 : last]
    doc = "\n".join(text.splitlines()[node.body[0].lineno - 1 : node.body[0].end_lineno])
    arguments, returns = node.args, ""
    if any(not isinstance(annotation, str) for annotation in function.__annotations__.values()):
        returns = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    else:
        named = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]
        for argument in filter(None, named):
            argument.annotation = None
    head = f"def {node.name}({ast.unparse(arguments)}){returns}:"
    return "\n".join([head, RULES.sub("", doc), "    ### BEGIN SOLUTION", *body, "    ### END SOLUTION"])


def _check_cell(name: str, worth: float | None, further: bool) -> NotebookNode:
    """A locked check cell. It is graded if it has points, and otherwise only shown."""
    try:
        find(name)
    except LookupError as error:
        raise BuildError(str(error)) from None
    key = f"check-{_id(name)}"
    metadata = {
        "rushlight": _about("check", name, further and worth is not None),
        "nbgrader": _nbgrader(key, points=worth),
    }
    return nbformat.v4.new_code_cell(
        f'check("{name}")', id=key, metadata=metadata | {"deletable": False, "editable": False}
    )


def _question_cell(name: str, worth: float, model_answer: str) -> NotebookNode:
    key = f"question-{_id(name)}"
    metadata = {"nbgrader": _nbgrader(key, points=worth, solution=True)}
    return nbformat.v4.new_markdown_cell(model_answer, id=key, metadata=metadata)


def _nbgrader(key: str, points: float | None = None, solution: bool = False) -> dict:
    metadata = {"grade": points is not None, "grade_id": key, "locked": not solution, "schema_version": 3}
    return metadata | {"solution": solution, "task": False} | ({} if points is None else {"points": points})


def _id(name: str) -> str:
    """A cell id made of a name, with the characters that both nbformat and nbgrader allow."""
    return re.sub(r"[^a-zA-Z0-9_-]+", "-", name).strip("-")[:56]


def _notebook(cells: list[NotebookNode]) -> NotebookNode:
    """A notebook whose ids depend on the content alone. The id of a plain cell is its heading and its position under it."""
    heading, count = "top", 0
    for cell in cells:
        title = re.search(r"^#+ +(.+)$", cell.source, re.MULTILINE) if cell.cell_type == "markdown" else None
        if title:
            heading, count = _id(title[1].lower())[:50], 0
        if "nbgrader" not in cell.metadata:
            cell.id = f"{heading}-{count}"
            count += 1
            cell.metadata = _metadata(cell)
    ids = [cell.id for cell in cells]
    if len(set(ids)) < len(ids):
        raise BuildError(
            f"two cells would have the id {next(i for i in ids if ids.count(i) > 1)!r}: give the headings different names"
        )
    notebook = nbformat.v4.new_notebook(cells=cells, metadata=_METADATA)
    nbformat.validate(notebook)
    return notebook


def _metadata(cell: NotebookNode) -> dict:
    """The tags of a plain cell. JupyterLab folds the source of a cell that only prepares something or draws."""
    tags = cell.metadata.get("tags", [])
    folded = {"jupyter": {"source_hidden": True}} if FOLDED_TAGS.intersection(tags) else {}
    return ({"tags": tags} if tags else {}) | folded


# The students' notebook ----------------------------------------------------------------------------------------------


def release(lab: Lab, source: NotebookNode) -> NotebookNode:
    """The notebook that `nbgrader generate_assignment` makes of a solution notebook."""
    from nbgrader.apps import NbGraderAPI
    from traitlets.config import Config

    set_environment()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "source" / lab.name / f"{lab}.ipynb"
        path.parent.mkdir(parents=True)
        nbformat.write(source, path)
        config = Config()
        config.CourseDirectory.root = folder
        config.GenerateAssignment.no_database = True  # a gradebook of its own would take most of the time
        config.SaveCells.enabled = False
        result = NbGraderAPI(config=config).generate_assignment(lab.name)
        if not result["success"]:
            raise BuildError(f"nbgrader cannot release {lab}: {result.get('error') or result['log']}")
        return nbformat.read(Path(folder) / "release" / lab.name / f"{lab}.ipynb", as_version=4)


def stamped(notebook: NotebookNode, lab: Lab, path: Path) -> NotebookNode:
    """A released notebook that says which release of the lab it is, and in which version of the course the lab became that."""
    release, before = digest_of(notebook), _stamp(old) if (old := _read_built(path)) else {}
    version = before["version"] if before.get("release") == release else rushlight.__version__
    notebook.metadata["rushlight"] = {"lab": lab.name, "release": release, "version": version}
    return notebook


def _read_built(path: Path) -> NotebookNode | None:
    """The notebook of an earlier build. None if there is none, or if git has left a conflict in it."""
    try:
        return nbformat.read(path, as_version=4)
    except (FileNotFoundError, ValueError):
        return None


def _stamp(notebook: NotebookNode) -> dict:
    return notebook.metadata.get("rushlight", {})


# The reading ---------------------------------------------------------------------------------------------------------


def reading(phase: str) -> NotebookNode:
    """A reading as a notebook, not executed yet. `<!-- here: autograd -->` becomes the strip of layers, and `<!-- errors -->` the
    index of the errors in the stored outputs of the readings before."""
    cells = _read(READINGS / phase / "reading.md")
    for cell in cells:
        if cell.cell_type == "markdown":
            cell.source = re.sub(r"<!-- here: (.+) -->", lambda found: strip(found[1].split(", ")), cell.source)
            if "<!-- errors -->" in cell.source:
                cell.source = cell.source.replace("<!-- errors -->", error_index())
    return _notebook(cells)


def strip(here: list[str]) -> str:
    """The layers of PyTorch in a line of HTML, with those `here` marked. Raises BuildError for a layer that there is not."""
    if unknown := set(here) - set(LAYERS):
        raise BuildError(f"there is no layer {min(unknown)!r}, only {', '.join(LAYERS)}")
    layers = (f"<mark><b>{layer}</b></mark>" if layer in here else layer for layer in LAYERS)
    return f'<p class="layers">{" · ".join(layers)}</p>'


def execute(notebook: NotebookNode) -> NotebookNode:
    """Run a notebook from its first cell in a fresh kernel and keep the outputs, without times. Raises BuildError."""
    from nbclient import NotebookClient
    from nbclient.exceptions import CellExecutionError

    try:
        NotebookClient(
            notebook,
            timeout=120,
            kernel_name="python3",
            resources={"metadata": {"path": str(COURSE)}},
            coalesce_streams=True,  # a line arrives in a random number of parts
            extra_arguments=["--log-level=ERROR"],
        ).execute(env=os.environ | {"LANGUAGE": ENGLISH, "XDG_STATE_HOME": os.devnull})  # no first answers are kept
    except CellExecutionError as error:
        raise BuildError(f"a cell fails with {error.ename}: {error.evalue}") from None
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)
    notebook.metadata = NotebookNode(_METADATA)
    return notebook


# All of it -----------------------------------------------------------------------------------------------------------


def sources() -> list[str]:
    """The names of everything that is built: phases, whose reading is built, and labs."""
    return sorted({*phases(), *lab_names()})


def find_sources(number: str) -> list[str]:
    """Return the names that `04`, `04a` or `04a_history` means: a phase has the reading and all labs. Raises LookupError."""
    labs = map(str, Course().find_labs(number))
    return sorted({*labs, *(phase for phase in phases() if phase[:2] == number.zfill(2) or phase == number)})


def built(name: str) -> dict[Path, NotebookNode]:
    """Every notebook of a phase or a lab, by its path. Readings are not executed."""
    notebooks, lab, has_reading = {}, Lab(name), (READINGS / name / "reading.md").exists()
    if not has_reading or lab.source.exists():
        source = notebooks[lab.source.with_suffix(".ipynb")] = solution(lab)
        notebooks[lab.todays_path] = stamped(release(lab, source), lab, lab.todays_path)
    if has_reading:
        notebooks[READINGS / name / "reading.ipynb"] = reading(name)
    return notebooks


def stale(name: str) -> list[Path]:
    """The notebooks of a phase or a lab that differ from a rebuild in anything but outputs."""
    return [path for path, notebook in built(name).items() if not _same(path, notebook)]


def build(name: str, force: bool = False) -> list[Path]:
    """Rebuild the notebooks of a phase or a lab and return the paths that were written.

    A notebook is written only if its cells have changed, or with `force`. A reading is executed, and the students' notebook gets
    the outputs of cells that only draw, from a run of the solutions. If only text has changed, the outputs stay.
    """
    written = []
    for path, notebook in built(name).items():
        if _same(path, notebook) and not force:
            continue
        if path.exists() and _read_built(path) is None:
            path.unlink()  # a check that is executed here reads the lab
        if not force and _take_outputs(notebook, path):
            pass
        elif path.name == "reading.ipynb":
            execute(notebook)
        elif path == Lab(name).todays_path:
            _illustrate(notebook, execute(solution(Lab(name))))
        path.parent.mkdir(parents=True, exist_ok=True)
        nbformat.write(notebook, path)
        written.append(path)
    return written


def _take_outputs(notebook: NotebookNode, path: Path) -> bool:
    """Give a notebook the outputs of the one at `path`, if their cells of code are the same. Returns whether they are."""
    if (earlier := _read_built(path)) is None:
        return False
    new, old = ([cell for cell in version.cells if cell.cell_type == "code"] for version in (notebook, earlier))
    if [(cell.source, cell.metadata) for cell in new] != [(cell.source, cell.metadata) for cell in old]:
        return False
    for cell, before in zip(new, old):
        cell.outputs, cell.execution_count = before.outputs, before.execution_count
    return True


def _illustrate(released: NotebookNode, executed: NotebookNode) -> None:
    shown = {cell.id: cell.outputs for cell in executed.cells if "figure" in cell.metadata.get("tags", [])}
    for cell in released.cells:
        if cell.id in shown:
            cell.outputs = shown[cell.id]
            for output in cell.outputs:
                if output.output_type == "execute_result":
                    output.execution_count = None


def _same(path: Path, notebook: NotebookNode) -> bool:
    earlier = _read_built(path)
    return earlier is not None and _bare(earlier) == _bare(notebook)


def _bare(notebook: NotebookNode) -> dict:
    return {
        "cells": [(c.id, c.cell_type, c.source, c.metadata) for c in notebook.cells],
        "metadata": (notebook.metadata.kernelspec, _stamp(notebook)),
    }
