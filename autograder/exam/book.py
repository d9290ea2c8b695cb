"""The marks of an exam in nbgrader's gradebook, beside the labs, and a page of feedback for each student.

For nbgrader an exam is an assignment with a notebook: a cell for each item, with the answer. What a person marks waits in the
formgrader like any written answer. Entering again renews what is marked by running, and keeps each mark by hand, unless the answer
that it was for has changed: then the old mark stays, and the item waits again.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from nbgrader.api import Gradebook, MissingEntry
from sqlalchemy import text as sql

from ..classroom.by_hand import KEEP, TABLE, kept_digest
from ..classroom.gradebook import open_gradebook
from ..classroom.pages import SCHEMES, escaped, write_page
from ..classroom.restore import deactivate_markup
from ..course import classroom, replacing
from ..language import speak, speaking
from ..model import Lab, digest
from .paper import Item, Paper


@dataclass
class Marked:
    """A student's answers, the points of each field (None for one that a person marks), and what is right for each item."""

    paper: Paper
    answers: Mapping[str, str]
    earned: Mapping[str, float | None]
    right: Mapping[str, list[str]]
    rubric: Mapping[str, str]
    remarks: list[str] = field(default_factory=list)

    def points(self, item: Item) -> float:
        return sum(self.earned[each.key] or 0.0 for each in item.fields)

    def waits(self, item: Item) -> bool:
        return any(self.earned[each.key] is None for each in item.fields)


def enter(exam: str, marked: Sequence[Marked]) -> Iterator[str]:
    """Enter the marks of an exam, and write the pages of feedback. Yields a line for each student."""
    with open_gradebook() as gradebook:
        _enter_exam(gradebook, exam, marked[0].paper)
        for each in marked:
            student = each.paper.student
            with speaking(each.paper.language):
                _write_notebook(each, classroom() / "autograded" / student / exam / f"{exam}.ipynb")
                by_hand = _enter_student(gradebook, each)
                path = classroom() / "feedback" / student / exam / f"{exam}.html"
                path.parent.mkdir(parents=True, exist_ok=True)
                write_feedback(each, path, by_hand)
            score = sum(each.points(item) for item in each.paper.items) + sum(by_hand.values())
            waiting = sum(each.waits(item) and item.key not in by_hand for item in each.paper.items)
            yield f"{student}: {score:g} of {each.paper.points:g} points" + f", {waiting} to be marked by hand" * bool(
                waiting
            )


def shares_by_exam(lab: Lab) -> dict[str, float]:
    """The share of the points that each student has in the exams on a lab, without the items that wait for a mark. Without an exam
    on it, the gradebook is not opened."""
    exams = [path.name for path in (lab.course.folder / "exams").glob("exam_*") if lab.number in path.name.split("_")]
    points: dict[str, list[tuple[float, float]]] = {}
    if exams and (lab.course.folder / "gradebook.db").exists():
        with open_gradebook(read_only=True) as gradebook:
            for submission in chain(*map(gradebook.assignment_submissions, exams)):
                for grade in chain(*(notebook.grades for notebook in submission.notebooks)):
                    if not grade.needs_manual_grade:
                        points.setdefault(submission.student.id, []).append((grade.score, grade.max_score))
    sums = {student: tuple(map(sum, zip(*grades))) for student, grades in points.items()}
    return {student: earned / most for student, (earned, most) in sums.items() if most}


def _key(item: Item) -> str:
    return f"item-{item.key}"


def _is_written(item: Item) -> bool:
    return any(each.kind == "text" for each in item.fields)


def _enter_exam(gradebook: Gradebook, exam: str, paper: Paper) -> None:
    gradebook.update_or_create_assignment(exam)
    gradebook.update_or_create_notebook(exam, exam)
    for item in paper.items:
        gradebook.update_or_create_grade_cell(
            _key(item), exam, exam, max_score=item.points, cell_type="markdown" if _is_written(item) else "code"
        )
        gradebook.update_or_create_solution_cell(_key(item), exam, exam)


def _enter_student(gradebook: Gradebook, marked: Marked) -> dict[str, float]:
    """Returns the marks by hand that count, by item."""
    exam, student = marked.paper.exam, marked.paper.student
    gradebook.db.execute(sql(TABLE))
    try:
        gradebook.find_student(student)
    except MissingEntry:
        gradebook.add_student(student)
    with gradebook.db.no_autoflush:
        gradebook.update_or_create_submission(exam, student)
    by_hand: dict[str, float] = {}
    for item in marked.paper.items:
        grade = gradebook.find_grade(_key(item), exam, exam, student)
        said = digest("\n".join(marked.answers.get(each.key, "").strip() for each in item.fields))
        before = kept_digest(gradebook, grade.id)
        waits = marked.waits(item)
        grade.auto_score = None if waits else marked.points(item)
        if waits and (grade.manual_score is None or before != said):
            grade.needs_manual_grade = True
        elif waits and grade.manual_score is not None and not grade.needs_manual_grade:
            by_hand[item.key] = grade.manual_score
        if not waits:
            grade.needs_manual_grade = False
        gradebook.db.execute(sql(KEEP), {"grade": grade.id, "digest": said})
    gradebook.db.commit()
    return by_hand


def _write_notebook(marked: Marked, path: Path) -> None:
    """The exam as nbgrader's formgrader shows it."""
    cells = []
    for item in marked.paper.items:
        question = [f"### {item.key}. {item.title} ({item.points:g})", *map(_markdown, item.paragraphs)]
        if item.key in marked.rubric:
            question += [f"**{speak('Rubric')}**", marked.rubric[item.key]]
        answer = "\n\n".join(
            f"**{each.label}**: {deactivate_markup(marked.answers.get(each.key, ''))}" for each in item.fields
        )
        cells.append(_cell("\n\n".join(question), {"grade_id": f"question-{item.key}", "locked": True}))
        cells.append(_cell(answer, {"grade_id": _key(item), "grade": True, "solution": True, "points": item.points}))
        if not marked.waits(item):
            cells.append(
                _cell(
                    "\n\n".join(map(_markdown, marked.right[item.key])),
                    {"grade_id": f"right-{item.key}", "locked": True},
                )
            )
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as part:
        part.write_text(nbformat.writes(nbformat.v4.new_notebook(cells=cells)) + "\n", encoding="utf-8")


def _cell(source: str, about: dict) -> NotebookNode:
    usual = {
        "grade": False,
        "solution": False,
        "locked": False,
        "task": False,
        "schema_version": 3,
        "cell_type": "markdown",
    }
    return nbformat.v4.new_markdown_cell(source, id=about["grade_id"], metadata={"nbgrader": usual | about})


def _markdown(text: str) -> str:
    """A paragraph of an item, in which a student's code is nothing but code."""
    if text.startswith(" "):
        return "\n".join(f"    {line[1:]}" for line in text.split("\n"))
    return deactivate_markup(text)


# Feedback ------------------------------------------------------------------------------------------------------------

_STYLE = f"""
{SCHEMES}
body {{ font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 1.5rem auto; padding: 0 1rem;
  color: var(--page); background: var(--page-b); overflow-wrap: anywhere; }}
pre {{ overflow-x: auto; font-size: .85rem; padding: .4rem .6rem; color: var(--code); background: var(--code-b); }}
code {{ color: var(--code); background: var(--code-b); }} .note {{ color: var(--muted); }}
table {{ border-collapse: collapse; }} th p {{ margin: 0; }}
th, td {{ text-align: left; padding: .2rem .8rem .2rem 0; vertical-align: top; }}
td {{ white-space: pre-wrap; }}
"""


def write_feedback(marked: Marked, path: Path, by_hand: Mapping[str, float] = {}) -> Path:  # noqa: B006
    """Write a student's page: each question, the answer, its points, and what is right."""
    paper = marked.paper
    title = f"{escaped(paper.exam.replace('_', ' '))}, {escaped(paper.student)}"
    with speaking(paper.language):
        body = f"<h1>{title}</h1>" + "".join(_item_html(item, marked, by_hand) for item in paper.items)
    write_page(path, title, _STYLE, f"<main>{body}</main>", language=paper.language)
    return path


def paragraph_html(text: str) -> str:
    """A paragraph of an item. One that begins with a blank is code."""
    if text.startswith(" "):
        return f"<pre>{escaped(text[1:].replace(chr(10) + ' ', chr(10)))}</pre>"
    return "<p>" + re.sub(r"`([^`]*)`", r"<code>\1</code>", escaped(text)) + "</p>"


def _item_html(item: Item, marked: Marked, by_hand: Mapping[str, float]) -> str:
    waits = marked.waits(item) and item.key not in by_hand
    points = speak("waits for a mark") if waits else f"{by_hand.get(item.key, marked.points(item)):g}"
    said = speak("{score} of {points}", score=points, points=f"{item.points:g}")
    rows = "".join(
        f'<tr><th scope="row">{paragraph_html(each.label)}</th><td>{escaped(marked.answers.get(each.key, ""))}</td></tr>'
        for each in item.fields
    )
    answer = f"<h3>{speak('Your answer')}</h3><table>{rows}</table>"
    right = f"<h3>{speak('What is right')}</h3>{''.join(map(paragraph_html, marked.right[item.key]))}"
    right = "" if waits else right  # it belongs to the rubric
    question = "".join(map(paragraph_html, item.paragraphs))
    heading = f"<h2>{escaped(item.key)}. {escaped(item.title).replace('`', '')}: {said}</h2>"
    return f"<section>{heading}<details><summary>{speak('The question')}</summary>{question}</details>{answer}{right}</section>"
