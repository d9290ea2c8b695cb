"""The nbgrader plugin: the course's two steps in `nbgrader autograde`, and its directories.

`Restore` reads the submitted notebook and rebuilds it on the released one; nbgrader does not look at the student's file.
`RunInSubject`, right after it, does the work of nbgrader's `Execute`. All later steps, saving grades, late penalties, feedback
and the formgrader, are nbgrader's own. With `RUSHLIGHT_GRADER=stock` in the environment nbgrader is not changed.
"""

from __future__ import annotations

import copy
import csv
import itertools
import os
import sys
import warnings
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import nbformat
from nbconvert.exporters import NotebookExporter
from nbformat import NotebookNode
from nbformat.warnings import DuplicateCellId, MissingIDFieldWarning
from nbgrader.api import Assignment, Gradebook, MissingEntry, Student
from nbgrader.apps.dbapp import DbAssignmentAddApp
from nbgrader.converters import Autograde, GenerateAssignment
from nbgrader.converters.base import NbGraderException
from nbgrader.plugins import CsvExportPlugin
from nbgrader.preprocessors import CheckCellMetadata, Execute, NbGraderPreprocessor, SaveAutoGrades, SaveCells
from sqlalchemy.exc import SAWarning
from traitlets import Bool, Unicode

from ..course import ROOT, classroom, set_environment
from ..engine.observe import NotGraded
from ..engine.practice import INSTALL
from ..engine.run import run
from ..engine.sandbox import unavailable
from ..engine.source import other_torch
from ..model import AS_HANDED_IN, Lab, Submission, Unreadable, lab_names
from ..text import neutral
from .by_hand import SaveGrades
from .collect import DOWNLOADED, Collector, Exchanged, Extractor, HandedOut, Returned
from .feedback import FeedbackExporter, FeedbackPage
from .gradebook import gradebook_url
from .kept_releases import keep_release
from .late import LatePenalty, keep_zone, renew
from .restore import StudentNotebook
from .seals import class_seed, seal
from .table import policy_of

if TYPE_CHECKING:
    from ..engine.judge import Judge


# The kinds of files beside a notebook that nbgrader may copy on. A browser or a system may run others.
PASSIVE = {".csv", ".gif", ".ipynb", ".jpeg", ".jpg", ".json", ".png", ".tsv", ".txt", ".webp"}
MAX_BESIDE = 1 << 20  # bytes of all of them


def configure(c: Any) -> None:
    """Set nbgrader's configuration `c` for this course, and the environment of this process. `nbgrader_config.py` calls it."""
    set_environment()
    _silence_warnings()
    folder = classroom()
    for name in ("submitted", "autograded", "feedback"):
        (folder / name).mkdir(parents=True, exist_ok=True)  # nbgrader fails every command if one is missing
        setattr(c.CourseDirectory, f"{name}_directory", str(folder / name))
    c.CourseDirectory.course_id = "rushlight"
    c.CourseDirectory.root = str(ROOT)
    c.CourseDirectory.source_directory = "solutions"
    c.CourseDirectory.release_directory = "labs"
    c.CourseDirectory.db_url = gradebook_url()
    c.CourseDirectory.ignore = [".ipynb_checkpoints", "*.pyc", "__pycache__", "*.md", "*.py", "*.toml", AS_HANDED_IN]
    c.Autograde.pre_convert_hook = partial(register, c.CourseDirectory.db_url)
    c.ZipCollectApp.downloaded_directory = os.path.relpath(folder / "downloaded", ROOT)  # it accepts no absolute path
    c.ZipCollectApp.extractor_plugin, c.ZipCollectApp.collector_plugin = Extractor, Collector
    c.FileNameCollectorPlugin.named_regexp = DOWNLOADED
    c.ExchangeFactory.collect = Exchanged
    c.ExchangeFactory.release_assignment, c.ExchangeFactory.release_feedback = HandedOut, Returned
    DbAssignmentAddApp.start = _add_assignment  # no setting of nbgrader keeps the zone of a due date
    GenerateAssignment.init_destination = _init_destination  # no setting of nbgrader keeps what is there from `force`
    c.HTMLExporter.filters = {"markdown2html": "autograder.classroom.formulas.markdown2html"}
    c.ExportApp.plugin_class = Export
    c.AssignLatePenalties.plugin_class = LatePenalty
    c.NbGrader.logfile = str(folder / "nbgrader.log")
    if "nbgrader.server_extensions.formgrader.handlers" in sys.modules:  # the formgrader is reading its configuration
        from .formgrader import add_pages

        add_pages()
    if os.environ.get("RUSHLIGHT_GRADER") == "stock":
        c.Execute.timeout = 300  # by the clock, and a busy machine compiles slowly
        return
    steps = Autograde.autograde_preprocessors.default_args[0]
    # Restore does the work of nbgrader's own first steps. What it hands to RunInSubject does not reach nbgrader's second half.
    c.Autograde.exporter_class = SubmissionExporter
    c.Autograde.sanitize_preprocessors = [Restore, RunInSubject, CheckCellMetadata]
    ours = {SaveAutoGrades: SaveGrades}
    c.Autograde.autograde_preprocessors = [ours.get(step, step) for step in steps if step is not Execute]
    c.RunInSubject.seed_file = str(folder / "seed")
    c.GenerateFeedback.preprocessors = [FeedbackPage]
    c.GenerateFeedback.exporter_class = FeedbackExporter
    c.FeedbackExporter.template_name = "rushlight"


def _silence_warnings() -> None:
    # nbgrader 0.9 on SQLAlchemy 2.1 warns about its own relations at every submission
    warnings.filterwarnings("ignore", category=SAWarning, module="nbgrader")
    # nbformat writes a line about every id that occurs twice or is missing; restoring gives every cell an id
    for category in (DuplicateCellId, MissingIDFieldWarning):
        warnings.filterwarnings("ignore", category=category)


def register(db_url: str, assignment: str, student: str = "", notebooks: Any = ()) -> None:
    """Enter a lab into the gradebook unless all of it is there with the same points.

    `nbgrader generate_assignment` would do that too, but a lab that is built stays as it is.
    """
    lab = Lab(assignment)
    if db_url == gradebook_url():
        keep_release(lab)
    given = [cell.metadata.nbgrader for cell in lab.release.nodes.cells if "nbgrader" in cell.metadata]
    wanted = {cell.grade_id: cell.get("points") for cell in given}
    with Gradebook(db_url, "rushlight") as gradebook:
        try:
            notebook = gradebook.find_notebook(assignment, assignment)
            entered = dict.fromkeys(cell.name for cell in notebook.source_cells)
            entered |= {cell.name: cell.max_score for cell in notebook.grade_cells}
        except MissingEntry:
            entered = {}
            gradebook.update_or_create_assignment(assignment)
    if not wanted.items() <= entered.items():
        given = {"notebook": assignment, "assignment": assignment, "db_url": db_url}
        SaveCells().preprocess(copy.deepcopy(lab.release.nodes), {"nbgrader": given})


_nbgraders_init_destination = GenerateAssignment.init_destination


def _init_destination(step: GenerateAssignment, assignment: str, student: str) -> bool:
    """Whether nbgrader makes a released notebook. A lab that `rushlight build` has made stays as it is, with its figures and the
    name of its release, and is entered into the gradebook."""
    path = Path(step._format_dest(assignment, student), f"{assignment}.ipynb").resolve()
    if assignment not in lab_names() or not path.exists() or path != Lab(assignment).todays_path.resolve():
        return _nbgraders_init_destination(step, assignment, student)
    register(step.coursedir.db_url, assignment)
    step.log.info("%s is left as `rushlight build` has made it", path)
    return False


_nbgraders_start = DbAssignmentAddApp.start


def _add_assignment(app: DbAssignmentAddApp) -> None:
    """Enter a lab's due date, and keep its zone. nbgrader takes a zone that it does not know for UTC, and says nothing."""
    try:
        for name in app.extra_args[:1] if app.duedate else ():
            keep_zone(Lab(name), app.duedate)
    except ValueError as error:
        app.fail(str(error))
    _nbgraders_start(app)


class Export(CsvExportPlugin):
    """nbgrader's table of all grades, in which a name with a comma is one cell and no name is a formula."""

    def export(self, gradebook: Gradebook) -> None:
        labs = [lab for lab in gradebook.assignments if not self.assignment or lab.name in map(str, self.assignment)]
        students = [
            student for student in gradebook.students if not self.student or student.id in map(str, self.student)
        ]
        for lab in labs:
            renew(gradebook, Lab(lab.name), policy_of(Lab(lab.name)))
        with open(self.to or classroom() / "export.csv", "w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(_COLUMNS)
            for lab, student in itertools.product(labs, students):
                cells = _grades(gradebook, lab, student)
                writer.writerow([neutral(cell) if isinstance(cell, str) else cell for cell in cells])


_COLUMNS = ("assignment", "duedate", "timestamp", "student_id", "last_name", "first_name", "email")
_COLUMNS += ("raw_score", "late_submission_penalty", "score", "max_score")


def _grades(gradebook: Gradebook, lab: Assignment, student: Student) -> list:
    try:
        submission = gradebook.find_submission(lab.name, student.id)
        raw, penalty = submission.score, submission.late_submission_penalty or 0.0
        timestamp, score = submission.timestamp, max(0.0, raw - penalty)
    except MissingEntry:
        is_there = Submission(Lab(lab.name), student.id).folder.is_dir()
        timestamp, (raw, penalty, score) = "", ["not graded"] * 3 if is_there else [0.0] * 3
    who = [student.id, student.last_name, student.first_name, student.email]
    return [lab.name, lab.duedate, timestamp, *who, raw, penalty, score, lab.max_score]


# The steps -----------------------------------------------------------------------------------------------------------


class SubmissionExporter(NotebookExporter):
    """Leaves a submission's file to `Restore`, because nbformat takes minutes and gigabytes for some files."""

    def from_filename(
        self, filename: str, resources: dict[str, Any] | None = None, **options: Any
    ) -> tuple[NotebookNode, dict]:
        if not any(isinstance(step, Restore) for step in self._preprocessors):
            return super().from_filename(filename, resources, **options)
        path = Path(filename)
        resources = resources if resources is not None else {}
        resources["metadata"] = {"name": path.stem, "path": str(path.parent)}
        return self.from_notebook_node(nbformat.v4.new_notebook(), resources, **options)


class Restore(NbGraderPreprocessor):
    """Rebuild a submitted notebook on the released one."""

    def preprocess(self, nb: NotebookNode, resources: dict) -> tuple[NotebookNode, dict]:
        submission = Submission(Lab(resources["nbgrader"]["notebook"]), resources["nbgrader"]["student"])
        remove_active(submission.graded_path.parent)
        try:
            return self.rebuilt(submission), resources
        except Unreadable as error:
            raise NbGraderException(str(error)) from None

    def rebuilt(self, submission: Submission) -> NotebookNode:
        return StudentNotebook(submission.lab, submission.text).restored()


class TakeMarked(Restore):
    """Take a notebook that was restored and marked before: the first step of `rushlight grade`, without `RunInSubject`."""

    marked = Unicode(help="The text of the marked notebook.").tag(config=True)

    def rebuilt(self, submission: Submission) -> NotebookNode:
        return nbformat.reads(self.marked, as_version=4)


def remove_active(folder: Path) -> None:
    """Remove the files of a kind that is not passive, and the largest of the others, until they have at most MAX_BESIDE bytes.

    nbgrader has copied the files beside a notebook here. It copies them from here into the feedback, where it releases pages. The
    smallest ones are the time and the secret of the submission.
    """
    left, files = MAX_BESIDE, [path for path in folder.rglob("*") if not path.is_dir()]
    for path in sorted(files, key=lambda path: path.lstat().st_size):
        left -= path.lstat().st_size * (path.suffix != ".ipynb")
        if path.suffix.lower() not in PASSIVE or left < 0 and path.suffix != ".ipynb":
            path.unlink()


class RunInSubject(NbGraderPreprocessor):
    """Run the student's cells in a subject, and let the judge decide each check."""

    isolated = Bool(True, help="Run submissions in a bubblewrap sandbox.").tag(config=True)
    seed_file = Unicode(help="The file with the seed of the class's cases; made on first use.").tag(config=True)

    def preprocess(self, nb: NotebookNode, resources: dict) -> tuple[NotebookNode, dict]:
        given, seed = resources["nbgrader"], class_seed(Path(self.seed_file))
        submission = Submission(Lab(given["notebook"]), given["student"])
        if reason := unavailable(submission.lab, self.isolated):
            raise NbGraderException(reason)
        try:
            run(nb, submission.lab, judge_of(seed), self.isolated)
        except NotGraded as error:
            raise NbGraderException(f"not graded: {error}") from None
        seal(nb, submission, seed)
        return nb, resources


@cache
def judge_of(seed: int) -> Judge:
    """The judge of this process for a class's seed. Raises NotGraded if torch is not of the course's version."""
    from ..engine.judge import Judge  # imports torch, which nbgrader's other commands do not need

    if needs := other_torch():
        raise NotGraded(f"grading {needs}; {INSTALL}")
    return Judge(seed)
