"""A student's page of feedback: the points, what to fix first, every exercise by name, and then verdicts with code.

nbgrader makes the page, from this preprocessor and the template `rushlight` in `jupyter/`. The lab's own text, its set-up and
its outputs are left out, and a passed check is folded. The template escapes all text. The page has no script, and forbids
all scripts and all requests.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import bleach
from bleach.css_sanitizer import ALLOWED_CSS_PROPERTIES, CSSSanitizer
from jinja2 import BytecodeCache, Environment
from jinja2.bccache import Bucket
from markupsafe import Markup
from nbconvert.exporters import HTMLExporter, TemplateExporter
from nbconvert.filters import Highlight2HTML
from nbformat import NotebookNode
from nbgrader.api import Gradebook, SubmittedAssignment
from nbgrader.preprocessors import GetGrades

from ..engine.check import short_name
from ..engine.verdict import DID_NOT_RUN, GRADER_ERROR, NOT_ATTEMPTED, PASSED, outcome_of
from ..language import language, language_of, phrase, speak, speaking
from ..model import Lab, Submission, check_name, digest, exercise_name, is_added
from ..text import printable
from .formulas import markdown2html
from .late import renew, submissions
from .pages import MARKS, OTHER, SCHEMES, breakable, escaped, write_page
from .restore import StudentNotebook, edited_checks
from .table import policy_of

LONGEST = 240  # characters of a counterexample in one line
NO_RESPONSE = "No response."  # nbgrader's comment on a cell that is as it was released, which the page says itself


@dataclass
class Cell:
    """A cell of the notebook as the page shows it."""

    title: str  # its first line
    html: Markup
    outputs: list[NotebookNode]
    comment: Markup | str


@dataclass
class Section:
    """One check of a submission, and the answer that it decides."""

    name: str
    key: str  # nbgrader's, to which the class report links
    kind: str
    mark: str
    result: str  # in a few words
    score: float
    points: float
    why: tuple[str, str] = ("", "")
    notes: list[str] = field(default_factory=list)
    verdict: Markup | str = ""
    answer: Cell | None = None


class _Templates(BytecodeCache):
    """The compiled templates of this process, which has an exporter for each page."""

    def __init__(self) -> None:
        self.compiled: dict[str, bytes] = {}

    def load_bytecode(self, bucket: Bucket) -> None:
        if bucket.key in self.compiled:
            bucket.bytecode_from_string(self.compiled[bucket.key])

    def dump_bytecode(self, bucket: Bucket) -> None:
        self.compiled[bucket.key] = bucket.bytecode_to_string()


_templates = _Templates()


class FeedbackExporter(HTMLExporter):
    """nbgrader's exporter of feedback, whose template the course's configuration sets."""

    def _create_environment(self) -> Environment:
        environment = super()._create_environment()
        environment.bytecode_cache = _templates
        return environment

    def from_notebook_node(  # type: ignore[override]  # as nbconvert's own
        self, nb: NotebookNode, resources: dict | None = None, **kw: Any
    ) -> tuple[str, dict]:
        """The page as the template writes it. nbconvert would parse it, for pictures without a text and for its own cells, and the
        template has neither."""
        return TemplateExporter.from_notebook_node(self, nb, resources, **kw)


class FeedbackPage(GetGrades):
    """nbgrader's step, which reads points and comments from the gradebook. It also puts what the page shows into the resources."""

    def preprocess(self, nb: NotebookNode, resources: dict) -> tuple[NotebookNode, dict]:
        given = resources["nbgrader"]
        with Gradebook(given["db_url"], "rushlight") as gradebook:
            lab = Lab(given["assignment"])
            renew(gradebook, lab, policy_of(lab), Submission(lab, given["student"]))  # points may be by hand since
        with Gradebook(
            given["db_url"], "rushlight"
        ) as gradebook:  # before the page: what comes later makes it outdated
            entries = entries_digest(gradebook.find_submission(given["assignment"], given["student"]))
        nb, resources = super().preprocess(nb, resources)
        with speaking(language_of(nb)):
            checks, written = _checks(nb), [*_written(nb, *_waiting(given))]
            joined = [speak(printable(str(line))) for line in nb.metadata.get("joined", [])]
            joined += _put_back(Submission(lab, given["student"]))
        resources["feedback"] = {
            "language": language_of(nb),
            "speak": partial(_speak_in, language_of(nb)),
            "style": Markup(SCHEMES),
            "breakable": lambda name: Markup(breakable(name)),
            "entries": entries,
            "lab": printable(given["assignment"]),
            "student": printable(given["student"]),
            "checks": checks,
            "joined": joined,
            "first": next((section for section in checks if section.kind == "fail"), None),
            "next": next((section for section in checks if section.kind == "none"), None),
            "written": written,
            "added": [_cell(cell) for cell in nb.cells if is_added(cell)],
        }
        return nb, resources


def _put_back(submission: Submission) -> list[str]:
    """A line with the checks whose cells the student changed, if there are any."""
    with suppress(OSError, ValueError, RecursionError):  # it has been replaced since it was graded
        handed_in = StudentNotebook(submission.lab, submission.text)
        if edited := edited_checks(handed_in.content, handed_in.released):
            said = speak("changed check cells, put back for grading")
            advice = speak("Leave the check cells as they are, and try things out in cells that you add")
            return [f"{said[:1].upper()}{said[1:]}: {', '.join(map(short_name, edited))}. {advice}"]
    return []


_STYLE = f"""
{SCHEMES}
body {{ font: 16px/1.5 system-ui, sans-serif; max-width: 48rem; margin: 1.5rem auto; padding: 0 1rem;
  color: var(--page); background: var(--page-b); overflow-wrap: anywhere; }}
h1 {{ font-size: 1.6rem; margin: 0; }} .who {{ color: var(--muted); margin: .5rem 0; }}
.first {{ border: 1px solid var(--line); border-left: .3rem solid var(--fail); border-radius: .25rem; padding: .75rem 1rem; }}
.first h2 {{ font-size: 1.25rem; margin: 0; }} .first p {{ margin: .5rem 0 0; }}
"""


def write_refusal(submission: Submission, reason: str) -> None:
    """Write the page of a submission that cannot be graded, with the reason. Once one was graded, its page stays."""
    if submission.graded_path.exists():
        return
    title, name = speak("Lab {name}", name=submission.lab), f"{submission.lab}.ipynb"
    said = speak("Your submission could not be graded")
    advice = speak("Make sure that JupyterLab opens {name}, and hand it in again. Then it is graded.", name=name)
    reason = speak(reason)
    body = (
        f'<main><h1>{title}</h1><p class="who">{escaped(submission.student)}</p><section class="first"><h2>{said}</h2>'
        f"<p>{escaped(reason[:1].upper() + reason[1:])}.</p></section><p>{advice}</p></main>"
    )
    submission.page.parent.mkdir(parents=True, exist_ok=True)
    write_page(submission.page, f"{title}: {escaped(submission.student)}", _STYLE, body, language=language())


def is_refused(submission: Submission) -> bool:
    """Whether the page of a submission says why it cannot be graded."""
    return submission.page.exists() and not submission.graded_path.exists()


def _speak_in(language: str, *text: Any, **named: Any) -> str:
    with speaking(language):
        return speak(*text, **named)


def entries_digest(submission: SubmittedAssignment) -> str:
    """The digest of all points, comments and penalties of a submission. A page of feedback has that of those which it shows."""
    entries: list[list] = []
    for notebook in submission.notebooks:
        entries.append([notebook.name, notebook.late_submission_penalty or 0.0])
        entries += sorted(
            [grade.name, grade.auto_score, grade.manual_score, grade.extra_credit, grade.needs_manual_grade]
            for grade in notebook.grades
        )
        entries += sorted([comment.name, comment.auto_comment, comment.manual_comment] for comment in notebook.comments)
    return digest(json.dumps(entries))


def outdated_pages(gradebook: Gradebook, lab: Lab) -> Iterator[Submission]:
    """The submissions whose page of feedback does not show what the gradebook has: points or comments were given by hand since."""
    for entry in submissions(gradebook, lab):
        submission = Submission(lab, entry.student_id)
        if submission.graded_path.exists() and not shows_entries(submission, entry):
            yield submission


def shows_entries(submission: Submission, entry: SubmittedAssignment) -> bool:
    """Whether there is a page of feedback that shows the `entry` of a submission in the gradebook."""
    page = submission.page
    return page.exists() and _entries_shown(page.read_text(encoding="utf-8")) == entries_digest(entry)


def _entries_shown(page: str) -> str:
    """The digest of the entries of the gradebook that a page shows. Empty if an earlier version of this course wrote the page."""
    match = re.search(r'<main data-gradebook="(\w+)"', page)  # before all text of a student
    return match[1] if match else ""


def _nbgrader(cell: NotebookNode) -> dict:
    return cell.metadata.get("nbgrader", {})


def _checks(nb: NotebookNode) -> list[Section]:
    """A section for each check, in order. An answer is in the section of its first check that is to be fixed, or of its first."""
    answers = {exercise_name(cell): cell for cell in nb.cells if exercise_name(cell)}
    sections: list[Section] = []
    of_exercise: dict[str, list[Section]] = {}
    for cell in filter(check_name, nb.cells):
        name, grade = str(check_name(cell)), _nbgrader(cell)
        exercise = next((candidate for candidate in answers if f"{name}.".startswith(f"{candidate}.")), None)
        score, points = grade.get("score") or 0.0, grade.get("points") or 0.0
        said = next((output for output in cell.outputs if "rushlight" in output.get("metadata", {})), None)
        verdict = said.metadata.rushlight if said else {}
        sections.append(
            Section(
                short_name(name),
                grade.get("grade_id", cell.id),
                *_result(cell, verdict, score == points),
                score,
                points,
                why(verdict),
                [speak(str(note)) for note in verdict.get("notes", [])],
                _card(said.data if said else {}),
            )
        )
        if exercise:
            of_exercise.setdefault(exercise, []).append(sections[-1])
    for exercise, given in of_exercise.items():
        shown = next((section for section in given if section.kind == "fail"), given[0])
        shown.answer = _cell(answers[exercise])
    return sections


def _result(cell: NotebookNode, verdict: dict, has_all: bool) -> tuple[str, str, str]:
    """A verdict's kind, mark and words. Where nbgrader graded alone, the points decide."""
    if "outcome" not in verdict:
        return (*(MARKS[PASSED] if has_all else ("fail", "✗")), speak("graded by nbgrader alone"))
    outcome = outcome_of(verdict)
    if outcome == DID_NOT_RUN:
        return "fail", "✗", speak(outcome)
    kind, mark = OTHER if outcome == GRADER_ERROR else MARKS.get(outcome, ("fail", "✗"))
    errors = [output.evalue for output in cell.outputs if output.output_type == "error"]
    words = errors[0].partition(": ")[2] if errors else outcome  # "3 of 100 cases agree with torch"
    return kind, mark, speak(words)


def why(verdict: dict) -> tuple[str, str]:
    """Why a check did not pass: the smallest case, and the difference or what happened, each in one line."""
    if verdict.get("outcome") == PASSED:
        return "", ""
    lines = str(verdict.get("case", "")).splitlines() or [""]
    are_short = len(lines) < 4 and all(" = " in line for line in lines)
    case = ", ".join(lines) if are_short or len(lines) == 1 else f"{lines[0]} …"
    message = str(verdict.get("message", ""))
    message = message.partition("did not run: ")[2] or message
    return _line(case), _line(speak(message))


def _line(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= LONGEST else f"{line[:LONGEST]} …"


# What a verdict's card consists of. bleach escapes all other tags, and drops all other attributes and properties.
_TAGS = {
    *("b", "code", "details", "div", "em", "i", "p", "pre", "span", "strong", "summary"),
    *("table", "tbody", "td", "th", "tr"),
}
_PROPERTIES = {
    *ALLOWED_CSS_PROPERTIES,
    *("align-items", "background", "border", "border-left", "border-radius", "column-gap", "flex", "flex-wrap", "gap"),
    *(
        "margin",
        "margin-bottom",
        "max-width",
        "min-width",
        "opacity",
        "overflow-wrap",
        "overflow-x",
        "padding",
        "word-break",
    ),
}


def _is_plain(tag: str, name: str, value: str) -> bool:
    """Whether an attribute is a style that loads nothing."""
    return name == "style" and "\\" not in value and not re.search(r"(?<!rgb)(?<!rgba)\(", value, re.IGNORECASE)


def _card(data: dict) -> Markup | str:
    """A verdict's card as it is in the notebook. Where nbgrader graded alone, a student's process may have made it."""
    if "text/html" not in data:
        return str(data.get("text/plain", ""))
    styles = CSSSanitizer(allowed_css_properties=_PROPERTIES)
    return Markup(bleach.clean(data["text/html"], tags=_TAGS, attributes=_is_plain, css_sanitizer=styles))


# Cells ---------------------------------------------------------------------------------------------------------------

_highlight = Highlight2HTML(pygments_lexer="python", extra_formatter_options={"linenos": "inline"})


def _cell(cell: NotebookNode) -> Cell:
    title = next(iter(cell.source.splitlines()), "")
    is_code = cell.cell_type == "code"
    shown = _highlight(cell.source) if is_code else markdown2html({"cell": cell}, cell.source)
    comment = _comment(cell)
    return Cell(title, Markup(shown), cell.get("outputs", []), Markup(markdown2html({}, comment)) if comment else "")


def _comment(cell: NotebookNode) -> str:
    """What a person has written about a cell."""
    comment = _nbgrader(cell).get("comment")
    return comment if comment and comment != NO_RESPONSE else ""


def _is_written(cell: NotebookNode) -> bool:
    return cell.cell_type == "markdown" and _nbgrader(cell).get("solution", False)


def _written(nb: NotebookNode, unmarked: set[str], changed: set[str]) -> Iterator[dict]:
    """The written answers, each with the lab's text above it."""
    question = None
    for cell in nb.cells:
        if _is_written(cell):
            grade = _nbgrader(cell)
            state = phrase("to be marked again") if grade["grade_id"] in changed else phrase("marked")
            state = phrase("not marked yet") if grade["grade_id"] in unmarked else state
            state = NOT_ATTEMPTED if cell.source.strip() == "YOUR ANSWER HERE" else state
            answer = _cell(cell) if state != NOT_ATTEMPTED or _comment(cell) else None
            yield {"grade": grade, "state": state, "answer": answer, "question": question and _cell(question).html}
        elif cell.cell_type == "markdown" and not is_added(cell):
            question = cell


def _waiting(given: dict) -> tuple[set[str], set[str]]:
    """The cells that still have to be marked by hand: those without a mark, and those with the mark of an earlier text."""
    with Gradebook(given["db_url"], "rushlight") as gradebook:
        notebook = gradebook.find_submission_notebook(given["notebook"], given["assignment"], given["student"])
        waiting = [grade for grade in notebook.grades if grade.needs_manual_grade]
        unmarked = {grade.name for grade in waiting if grade.manual_score is None}
        return unmarked, {grade.name for grade in waiting} - unmarked
