"""Hostile submissions, one per file, and what they may not achieve.

An attack begins with the untouched released lab: the first one, unless its file names another, `LAB`. Its file says in its
docstring what it tries, and holds any of these:

- `cell`: a function whose body is put into a code cell before the first exercise;
- `answer`: a function whose body takes the place of every exercise's body, or of those whose names are in `EXERCISES`;
- `attack(notebook)`: changes the notebook, or returns the text of the file to hand in instead;
- `hand_in(folder)`: changes the submission's folder, after the notebook has been written into it;
- `STUDENTS`: the names of the folders under which it is handed in, else the name of the file.

A whole class of attackers and two honest students is graded by `rushlight grade`'s own function, and measured.
"""

from __future__ import annotations

import copy
import hashlib
import importlib.util
import inspect
import json
import multiprocessing
import os
import re
import subprocess
import textwrap
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from types import ModuleType

import nbformat
import nbgrader
from nbconvert.exporters import HTMLExporter
from nbformat import NotebookNode
from traitlets.config import Config

from autograder.classroom import grade as grading
from autograder.classroom import sample
from autograder.classroom.seals import class_seed
from autograder.course import RELEASED, ROOT, SOURCES
from autograder.engine import judge as judging
from autograder.engine import limits
from autograder.engine.check import registry
from autograder.engine.edition import digest_of_files, patient_files
from autograder.model import Lab, exercise_name

LABS = ("01a_views", "06a_operators", "09a_collectives")  # without torch in the sandbox, with it, and with ranks
LAB = LABS[0]
HERE = Path(__file__).parent
HONEST = ("honest_right", "honest_untouched")
SECONDS = {"CELL_SECONDS": 1.2, "CHECK_SECONDS": 1.2, "TOTAL_SECONDS": 6.0}  # in a lab on rushlight


# Making the class ----------------------------------------------------------------------------------------------------


def corpus(lab: str = "") -> dict[str, ModuleType]:
    """Every attack, or those on one lab, by the name of its file."""
    attacks = {path.stem: _load(path) for path in sorted(HERE.glob("*.py")) if path.stem != "__init__"}
    return {name: attack for name, attack in attacks.items() if lab in ("", lab_of(attack))}


def lab_of(attack: ModuleType) -> str:
    return getattr(attack, "LAB", LAB)


def _load(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"attacks.{path.stem}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def make(classroom: Path, attacks: dict[str, ModuleType], lab: str) -> dict[str, str]:
    """Hand in every attack, and the work of two honest students. Returns which attack each student is."""
    released = nbformat.read(RELEASED / lab / f"{lab}.ipynb", as_version=4)
    solved = copy.deepcopy(released)
    sample.fill(solved, sample.answers(nbformat.read(SOURCES / lab / f"{lab}.ipynb", as_version=4)))
    for student, notebook in zip(HONEST, (solved, released)):
        _write(classroom / "submitted" / student / lab, nbformat.writes(notebook))
    handed_in = {}
    for name, attack in attacks.items():
        for student in getattr(attack, "STUDENTS", [name]):
            folder = _write(classroom / "submitted" / student / lab, text_of(attack, released))
            if hasattr(attack, "hand_in"):
                attack.hand_in(folder)
            handed_in[student] = name
    return handed_in


def text_of(attack: ModuleType, released: NotebookNode) -> str:
    """The file that an attacker hands in."""
    notebook = copy.deepcopy(released)
    if hasattr(attack, "answer"):
        for exercise in exercise_cells(notebook):
            if exercise_name(exercise) not in getattr(attack, "EXERCISES", [exercise_name(exercise)]):
                continue
            stub = exercise.source.index("    # YOUR CODE HERE")
            exercise.source = exercise.source[:stub] + textwrap.indent(body(attack.answer), "    ")
    if hasattr(attack, "cell"):
        put(notebook, body(attack.cell))
    changed = attack.attack(notebook) if hasattr(attack, "attack") else None
    return changed if isinstance(changed, str) else json.dumps(notebook)  # nbformat would object to some


def _write(folder: Path, text: str) -> Path:
    folder.mkdir(parents=True)
    (folder / f"{folder.name}.ipynb").write_text(text, encoding="utf-8")
    return folder


# For attacks to use --------------------------------------------------------------------------------------------------


def exercise_cells(notebook: NotebookNode) -> list[NotebookNode]:
    return [cell for cell in notebook.cells if exercise_name(cell)]


def put(notebook: NotebookNode, source: str, make: Callable = nbformat.v4.new_code_cell) -> NotebookNode:
    """Put a cell before the first exercise."""
    cell = make(source)
    notebook.cells.insert(notebook.cells.index(exercise_cells(notebook)[0]), cell)
    return cell


def body(function: Callable) -> str:
    """The source of a function's body."""
    lines = textwrap.dedent(inspect.getsource(function)).splitlines(keepends=True)
    start = next(i for i, line in enumerate(lines) if line.rstrip().endswith(":"))
    return textwrap.dedent("".join(lines[start + 1 :]))


def impersonate(
    notebook: NotebookNode, reply: Callable[[dict], bytes | dict | None], to: tuple[str, ...] = ("check",)
) -> None:
    """Let a cell take the subject's place on the channel: it answers requests itself.

    Those of a kind in `to`, "check" and "cell", it answers by `reply(request)`: a message, its bytes, or never (None).
    """
    call = f"serve({reply.__name__}, {to})"
    put(notebook, "\n\n".join([inspect.getsource(serve), inspect.getsource(reply), call]))


def serve(reply, to):
    import json
    import os
    import stat
    import struct
    import time

    pipes = [fd for fd in range(3, 64) if os.path.exists(f"/proc/self/fd/{fd}") and stat.S_ISFIFO(os.fstat(fd).st_mode)]
    request = {"cell": ""}
    while True:
        answer = reply(request) if any(kind in request for kind in to) else {"outputs": []}
        if answer is None:
            time.sleep(3600)
        if isinstance(answer, dict):
            text = json.dumps(answer).encode()
            answer = struct.pack(">II", len(text), 0) + text
        while answer:
            answer = answer[os.write(pipes[1], answer) :]
        lengths = struct.unpack(">II", os.read(pipes[0], 8))
        data = b""
        while len(data) < sum(lengths):
            data += os.read(pipes[0], sum(lengths) - len(data))
        request = json.loads(data[: lengths[0]])


# Grading and measuring -----------------------------------------------------------------------------------------------


@dataclass
class Figures:
    """The result of a class of attackers. Everything but the first two numbers must be empty."""

    attacks: int
    students: int
    seconds: float
    undeserved: dict[str, float] = field(default_factory=dict)  # points, by student, if no line says what they are for
    lost: dict[str, str] = field(default_factory=dict)  # students without the grade they deserve or a word about it
    changed: list[str] = field(default_factory=list)  # files outside the classroom
    left: list[str] = field(default_factory=list)  # processes
    active: dict[str, list[str]] = field(default_factory=dict)  # markup by page
    remarks: dict[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        rows = [
            ("attacks, and submissions made of them", f"{self.attacks}, {self.students}"),
            ("undeserved points", f"{sum(self.undeserved.values()):g}"),
            ("grades lost", len(self.lost)),
            ("files changed outside the classroom", len(self.changed)),
            ("processes left", len(self.left)),
            ("active markup in pages", sum(map(len, self.active.values()))),
            ("seconds", f"{self.seconds:.0f}"),
        ]
        return "\n".join(f"{what:<40}{figure:>10}" for what, figure in rows)


def measure(
    classroom: Path, attacks: dict[str, ModuleType], lab: str = LAB, jobs: int = 2, method: str = "spawn"
) -> Figures:
    """Grade a class of these attackers of a lab in an empty folder, and look at what is left behind.

    Expects RUSHLIGHT_CLASSROOM to be that folder, and XDG_CACHE_HOME one of its own. With `method="fork"` the markers have
    what this process has imported and drawn.
    """
    canary = classroom.parent / "canary"
    canary.mkdir(mode=0o777)
    (canary / "note").write_text("untouched")
    os.environ["RUSHLIGHT_CANARY"] = str(canary / "note")
    students = make(classroom, attacks, lab)
    before, start = _files(canary), time.perf_counter()
    seed = class_seed(classroom / "seed")
    with ProcessPoolExecutor(jobs, multiprocessing.get_context(method), _begin, (seed, os.getpid(), lab)) as markers:
        rows = {row.student: row for row in grading.grade(Lab(lab), executor=markers, jobs=jobs)}
        active = _active_markup(classroom, markers, lab)
    figures = Figures(len(attacks), len(students), time.perf_counter() - start)
    figures.remarks = {student: row.remark() for student, row in rows.items()}
    told = {student: getattr(attacks[name], "TOLD", None) for student, name in students.items()}
    figures.undeserved = {
        student: rows[student].total
        for student in [*students, HONEST[1]]
        if student in rows and rows[student].total and (told.get(student) or "\0") not in figures.remarks[student]
    }
    figures.lost = {s: figures.remarks.get(s, "no line") for s in students if not _is_settled(rows.get(s), lab)}
    for student, points in zip(HONEST, (sum(Lab(lab).points.values()), 0)):
        if rows[student].problem or rows[student].total < points:
            figures.lost[student] = f"{rows[student].total} {figures.remarks[student]}"
    after = _files(canary)
    figures.changed = sorted(path for path in before.keys() | after.keys() if before.get(path) != after.get(path))
    figures.changed += _poisoned(lab)
    figures.left = list(_processes())
    figures.active = active
    return figures


def _begin(seed: int, parent: int, lab: str) -> None:
    """Short limits for a marker, and the cases drawn, so that drawing takes no submission's time."""
    judging.SHRINK_SECONDS = 0.1
    judge = grading.judge_of(seed)
    for check in registry().values():
        if check.lab == lab and not check.examine:
            judge.drawn(check)
    for name, seconds in SECONDS.items():
        setattr(limits, name, (seconds, getattr(limits, name)[1]))
    grading._begin_marker(parent)


def _is_settled(row: grading.Row | None, lab: str) -> bool:
    return row is not None and (bool(row.problem) or row.scores.keys() == Lab(lab).points.keys())


def _files(canary: Path) -> dict[str, str]:
    """Return the contents of every file of the repository, and of the canary."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    files = [ROOT / name for name in listed.split("\0") if name] + [*canary.rglob("*")]
    return {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in files if path.is_file()}


def _poisoned(lab: str) -> list[str]:
    """Editions in the cache that are not what their names say."""
    wrong, given = [], patient_files({lab})
    for folder in Path(os.environ["XDG_CACHE_HOME"], "rushlight", "editions").iterdir():
        texts = {
            str(path.relative_to(folder)): path.read_bytes()
            if path.suffix == ".npz"
            else path.read_text(encoding="utf-8")
            for path in folder.rglob("*")
            if path.suffix in (".py", ".yaml", ".toml", ".h", ".txt", ".cpp", ".md", ".npz")
        }
        is_sound = texts == given if folder.name.startswith("breaks-") else folder.name.endswith(digest_of_files(texts))
        wrong += [] if is_sound else [str(folder)]
    return wrong


def _processes() -> Iterator[str]:
    """Processes that still see an edition in our cache: whatever a subject started does."""
    time.sleep(0.2)
    mark = os.environ["XDG_CACHE_HOME"].encode()
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            if mark in (entry / "mountinfo").read_bytes():
                yield (entry / "cmdline").read_text().replace("\0", " ")[:80]
        except OSError:  # it ended meanwhile
            continue


# Markup --------------------------------------------------------------------------------------------------------------

_DANGEROUS = {"script", "iframe", "object", "embed", "form", "meta", "base", "link", "style", "svg", "math", "frame"}
_DANGEROUS |= {"frameset", "applet", "video", "audio", "input", "button", "textarea", "template", "portal"}


class _Markup(HTMLParser):
    """Collects what in a page does something."""

    def __init__(self, page: str):
        super().__init__()
        self.found: Counter[str] = Counter()
        self.feed(page)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        if tag in _DANGEROUS:
            self.found[f"<{tag}> {dict(attributes)}"] += 1
        for name, value in attributes:
            address = re.sub(r"[\x00-\x20]", "", value or "").lower()
            if name.startswith("on") or address.startswith(("javascript:", "vbscript:", "data:text", "data:image/svg")):
                self.found[f"<{tag} {name}={value!r}>"] += 1

    handle_startendtag = handle_starttag


def _active_markup(classroom: Path, workers: Executor, lab: str) -> dict[str, list[str]]:
    """Pages with more in them than the page of the honest student who wrote nothing, as nbgrader and formgrader make them."""
    notebooks = sorted((classroom / "autograded").glob(f"*/{lab}/{lab}.ipynb"))
    pages = sorted((classroom / "feedback").glob(f"*/{lab}/{lab}.html"))
    found = dict(zip([*notebooks, *pages], [*workers.map(_in_formgrader, notebooks), *workers.map(_in_page, pages)]))
    usual = {path.suffix: markup for path, markup in found.items() if HONEST[1] in path.parts}
    active = {
        str(path): [*(markup - usual[path.suffix]).elements()]
        for path, markup in found.items()
        if path.suffix in usual  # otherwise that student's grade is lost
    }
    files = {path for name in ("autograded", "feedback") for path in (classroom / name).rglob("*") if path.is_file()}
    others = {path for path in files if path.suffix not in (".ipynb", ".txt", ".png", ".csv")} - {*pages}
    active |= {str(path): ["a file that nbgrader did not make"] for path in others}
    return {path: markup for path, markup in active.items() if markup}


def _in_page(path: Path) -> Counter[str]:
    return _Markup(path.read_text(encoding="utf-8")).found


def _in_formgrader(path: Path) -> Counter[str]:
    return _Markup(_formgrader_page(path)).found


@cache
def _formgrader() -> HTMLExporter:
    config = Config()
    config.HTMLExporter.template_name = "formgrade"
    templates = Path(nbgrader.__file__).parent / "server_extensions" / "formgrader" / "templates"
    config.HTMLExporter.extra_template_basedirs = [str(templates)]
    return HTMLExporter(config=config)


def _formgrader_page(path: Path) -> str:
    """An autograded notebook as nbgrader's formgrader shows it."""
    shown = {
        "assignment_id": path.stem,
        "notebook_id": path.stem,
        "submission_id": "1",
        "index": 0,
        "total": 1,
        "base_url": "",
    }
    shown |= {
        "my_submission_id": "1",
        "prev": None,
        "next": None,
        "mathjax_url": "",
        "mathjax_config": "",
        "student": "s",
    }
    shown |= {"last_name": "", "first_name": "", "notebook_path": "", "student_id": "s"}
    return _formgrader().from_filename(str(path), resources=shown)[0]
