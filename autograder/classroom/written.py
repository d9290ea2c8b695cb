"""Written answers to one question of a lab, as an instructor marks them: with the rubric, in groups, without names.

All that is kept is in nbgrader's gradebook, as its own scores and comments. For each item of the rubric a comment has a line,
`- 0.5 of 1: the text of the item`, which the student reads too. The other lines are the instructor's own. So the comment says
what was pressed, and under which form of the rubric.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cache, cached_property, lru_cache
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from nbgrader.api import Gradebook
from sqlalchemy import text

from ..author import BuildError
from ..author.build import solution
from ..model import RUBRIC, Lab, Submission, digest, is_added
from .formulas import markdown2html
from .groups import source_of
from .restore import deactivate_markup

ALIKE = 0.8  # two answers are nearly equal if so much of their pairs of words is in both
REWORDED = 0.6  # a line belongs to an item if so much of the item's letters is in it, in order
DIFFERENCES = 12  # of an answer that is nearly equal to another
COMPARED = 500  # words of an answer: `difflib` takes minutes for thousands that repeat
UNTOUCHED = "YOUR ANSWER HERE"

# The rubric ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Item:
    """An item of a rubric, or the line of a comment about it, which says what the answer has `earned`."""

    text: str
    points: float
    earned: float = 0.0

    def __str__(self) -> str:
        return f"- {self.earned:g} of {self.points:g}: {self.text}"


@dataclass(frozen=True)
class Question:
    """A written question, as the lab's source has it at this moment."""

    lab: Lab
    key: str  # in the gradebook
    points: float
    text: str = ""
    model_answer: str = ""
    items: tuple[Item, ...] = ()
    remarks: str = ""  # of the rubric

    @cached_property
    def digest(self) -> str:
        return digest(repr((self.points, self.items)))


def question_of(lab: Lab, key: str) -> Question:
    """The question with an id in the gradebook. Without the lab's source it has no rubric. Raises LookupError."""
    worth = {
        cell["metadata"]["nbgrader"]["grade_id"]: cell["metadata"]["nbgrader"]["points"]
        for cell in lab.released["cells"]
        if cell["cell_type"] == "markdown" and "points" in cell["metadata"].get("nbgrader", {})
    }
    if key not in worth:
        raise LookupError(f"{lab} has no written question {key!r}")
    try:
        cells = _source_cells(lab, lab.source.stat().st_mtime_ns)
        index = next(i for i, cell in enumerate(cells) if cell.id == key)
    except (OSError, BuildError, StopIteration):
        return Question(lab, key, worth[key])
    answer, _, rubric = cells[index].source.partition(RUBRIC)
    rubric = re.sub(r"^\.?\*\*", "", rubric)
    items, remarks = parse_rubric(rubric, worth[key])
    return Question(lab, key, worth[key], cells[index - 1].source, answer.strip(), items, remarks)


@cache
def _source_cells(lab: Lab, changed: int) -> list[NotebookNode]:
    return solution(lab).cells


def parse_rubric(rubric: str, worth: float) -> tuple[tuple[Item, ...], str]:
    """The items of a rubric, and what else it says.

    An item begins with its points, or counts one. If the points of the question are a multiple of those of all items, the rubric
    is for each of several parts.
    """
    items = []
    for bullet in re.findall(r"^- (.+(?:\n  .+)*)", rubric, re.MULTILINE):
        line = " ".join(bullet.split())
        head = re.match(r"(half a point|[\d.]+ points?)(?::| for) (?=\S)", line)
        points = 1.0 if not head else 0.5 if head[1] == "half a point" else float(head[1].split()[0])
        items.append(Item(line[head.end() if head else 0 :], points))
    remarks = re.sub(r"^- .+(?:\n  .+)*", "", rubric, flags=re.MULTILINE).strip()
    parts = worth / (sum(item.points for item in items) or worth)
    if parts.is_integer():
        items = [Item(item.text, item.points * parts) for item in items]
    return tuple(items), remarks


_LINE = re.compile(r"- (\d+(?:\.\d+)?) of (\d+(?:\.\d+)?): (.+)")


def split_comment(comment: str) -> tuple[list[Item], str]:
    """The lines of a comment about items of a rubric, and the instructor's own text."""
    found = [(line, _LINE.fullmatch(line.strip())) for line in comment.splitlines()]
    lines = [Item(match[3], float(match[2]), float(match[1])) for _, match in found if match]
    return lines, "\n".join(line for line, match in found if not match).strip()


def join_comment(lines: Iterable[Item], own: str) -> str:
    return "\n\n".join(filter(None, ["\n".join(map(str, lines)), own.strip()]))


def match(lines: Sequence[Item], items: Sequence[Item]) -> tuple[list[Item | None], list[Item]]:
    """The line for each item, or None, and the lines that belong to no item.

    A line may have an earlier form of its item. A line without a similar item belongs to none, because the answer was not judged
    by any of the present items then.
    """
    same = {line.text: line for line in lines}
    matched = [same.get(item.text) for item in items]
    rest = [line for line in lines if line not in matched]
    alike = [
        (SequenceMatcher(None, line.text, item.text, autojunk=False).ratio(), i, line)
        for i, item in enumerate(items)
        for line in rest
        if matched[i] is None
    ]
    for ratio, i, line in sorted(alike, key=lambda pair: -pair[0]):
        if ratio >= REWORDED and matched[i] is None and line in rest:
            matched[i] = line
            rest.remove(line)
    return matched, rest


def regraded(lines: Sequence[Item], items: Sequence[Item]) -> list[Item]:
    """The lines of a comment under the present form of the rubric: the same share of each item's points, and its present text.

    A new item has no line, because the answer has not been judged by it. A line without an item is left out.
    """
    return [
        Item(item.text, item.points, round(line.earned / line.points * item.points, 2) if line.points else 0.0)
        for line, item in zip(match(lines, items)[0], items)
        if line
    ]


# Answers -------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Answer:
    """A student's answer, and what the gradebook has for it."""

    grade: str  # its id in the gradebook, which tells no name
    submission: str  # in nbgrader's formgrader
    source: str
    added: tuple[
        tuple[str, str, bool], ...
    ]  # the type and the text of each cell that the student added, and whether it is next
    pictures: dict[str, dict]  # of all these cells, by the names that the texts have
    score: float | None
    waiting: bool
    comment_id: str
    comment: str

    @cached_property
    def version(self) -> str:
        """The digest of all that the instructor sees. It differs if a mark was given, or the answer was graded, in the meantime."""
        return digest(json.dumps([self.source, self.added, self.score, self.waiting, self.comment]))

    @property
    def equality(self) -> tuple:
        """What equal answers have in common: the words, and the mark and the comment too, so that one press is for all of them."""
        return words(self.source), self.added, self.score, self.waiting, self.comment


_ANSWERS = """
SELECT submitted_assignment.student_id, grade.id, submitted_notebook.id, grade.manual_score, grade.needs_manual_grade,
    comment.id, coalesce(comment.manual_comment, '')
FROM assignment
JOIN submitted_assignment ON submitted_assignment.assignment_id = assignment.id
JOIN submitted_notebook ON submitted_notebook.assignment_id = submitted_assignment.id
JOIN grade ON grade.notebook_id = submitted_notebook.id
JOIN base_cell ON base_cell.id = grade.cell_id
JOIN base_cell AS written ON written.notebook_id = base_cell.notebook_id AND written.name = base_cell.name
    AND written.type = 'SolutionCell'
JOIN comment ON comment.notebook_id = submitted_notebook.id AND comment.cell_id = written.id
WHERE assignment.name = :lab AND base_cell.name = :question
"""


def answers_to(question: Question, gradebook: Gradebook) -> tuple[list[Answer], int]:
    """The answers of a class, in an order that tells no names, and the number of students who have not answered.

    The notebook of a group counts once: grading enters its marks for its copies.
    """
    given, untouched = [], 0
    rows = gradebook.db.execute(text(_ANSWERS), {"lab": question.lab.name, "question": question.key}).all()
    for student, grade, notebook, score, waiting, comment_id, comment in rows:
        submission = Submission(question.lab, student)
        if source_of(submission) or not submission.graded_path.exists():
            continue
        source, added, pictures = _texts(
            submission.graded_path, submission.graded_path.stat().st_mtime_ns, question.key
        )
        if source.strip() == UNTOUCHED and score is None and not waiting:
            untouched += 1
        else:
            given.append(Answer(grade, notebook, source, added, pictures, score, bool(waiting), comment_id, comment))
    return sorted(given, key=lambda answer: (digest(" ".join(words(answer.source))), answer.grade)), untouched


@cache
def _texts(path: Path, changed: int, key: str) -> tuple[str, tuple[tuple[str, str, bool], ...], dict[str, dict]]:
    """The text of an answer, the cells that the student added, and the pictures of all of them. A cell is next if only added cells
    are between."""
    cells = nbformat.read(path, as_version=4).cells
    index = next((i for i, cell in enumerate(cells) if cell.metadata.get("nbgrader", {}).get("grade_id") == key), None)
    if index is None:
        return "", (), {}
    end = next((i for i in range(index + 1, len(cells)) if not is_added(cells[i])), len(cells))
    added = [(cell.cell_type, cell.source, index < i < end) for i, cell in enumerate(cells) if is_added(cell)]
    own = [cells[index], *filter(is_added, cells)]
    return cells[index].source, tuple(added), dict(pair for cell in own for pair in cell.get("attachments", {}).items())


def words(source: str) -> tuple[str, ...]:
    """The words and signs of a text, without what does not change its meaning: case, emphasis, and the end of a sentence."""
    plain = re.sub(r"[*_`]|[.,;:!?]+(?=\s|$)", "", source.casefold())
    return tuple(re.findall(r"\w+(?:[.,]\d+)*|[^\w\s]", plain))


@lru_cache(16)  # of the questions that are being marked
def groups_of(sources: tuple[str, ...]) -> list[list[int]]:
    """The positions of texts in groups, the largest group first. The texts of a group are nearly equal to its first."""
    groups: list[list[int]] = []
    pairs = [Counter(zip(("", *words(source)), (*words(source), ""))) for source in sources]

    def likeness(one: int, other: int) -> float:
        """The share of the pairs of neighbouring words that two texts have in common."""
        return 2 * (pairs[one] & pairs[other]).total() / (pairs[one].total() + pairs[other].total())

    for i in range(len(sources)):
        best = max(groups, key=lambda group: likeness(group[0], i), default=[])
        if best and likeness(best[0], i) >= ALIKE:
            best.append(i)
        else:
            groups.append([i])
    return sorted(groups, key=lambda group: -len(group))


def entries_of(answers: Sequence[Answer]) -> Iterator[tuple[int, Answer, list[Answer]]]:
    """Equal answers, each time with the number and the first answer of their group. Marking moves no answer to another group."""
    for number, group in enumerate(groups_of(tuple(answer.source for answer in answers))):
        equal: dict[tuple, list[Answer]] = {}
        for i in group:
            equal.setdefault(answers[i].equality, []).append(answers[i])
        yield from ((number, answers[group[0]], entry) for entry in equal.values())


def differences(one: Answer, other: Answer) -> list[tuple[str, str]]:
    """What `other` has in place of words of `one`, besides what does not change their meaning."""
    a, b = one.source.split()[:COMPARED], other.source.split()[:COMPARED]
    parts = SequenceMatcher(None, [*map(words, a)], [*map(words, b)], autojunk=False).get_opcodes()
    return [(" ".join(a[i:j]), " ".join(b[k:m])) for tag, i, j, k, m in parts if tag != "equal"][:DIFFERENCES]


# What the page shows, and what it enters -----------------------------------------------------------------------------


class Conflict(Exception):
    """Raised if something that the instructor sees has changed. Nothing has been entered then."""


def state(question: Question, gradebook: Gradebook) -> dict:
    """All that the page about a question shows, as data for JSON."""
    answers, untouched = answers_to(question, gradebook)
    own = Counter(part for answer in answers for part in _paragraphs(split_comment(answer.comment)[1]))
    return {
        "lab": question.lab.name,
        "title": question.key.removeprefix("question-").replace("-", " "),
        "question": _given(question.text),
        "model_answer": _given(question.model_answer),
        "points": question.points,
        "rubric": question.digest,
        "items": [{"html": _inline(item.text), "points": item.points} for item in question.items],
        "remarks": _given(question.remarks),
        "comments": [comment for comment, _ in own.most_common()],
        "untouched": untouched,
        "entries": [_entry(*found, question) for found in entries_of(answers)],
    }


def _entry(number: int, of_group: Answer, entry: list[Answer], question: Question) -> dict:
    first = entry[0]
    lines, own = split_comment(first.comment)
    matched, gone = match(lines, question.items)
    forms = [
        {"earned": line.earned, "was": _form(line, item)} if line else None
        for line, item in zip(matched, question.items)
    ]
    return {
        "ids": {answer.grade: answer.version for answer in entry},
        "submissions": [answer.submission for answer in entry],
        "group": number,
        "html": _student(first.source, first.pictures),
        "added": [
            {"html": _student(source, first.pictures) if kind == "markdown" else None, "code": source, "next": is_next}
            for kind, source, is_next in first.added
        ],
        "differs": differences(of_group, first),
        "score": first.score,
        "waiting": first.waiting,
        "lines": forms,
        "gone": [str(line)[2:] for line in gone],
        "changed": bool(lines) and bool(gone or any(form is None or form["was"] for form in forms)),
        "comment": own,
    }


def _form(line: Item, item: Item) -> str:
    """The earlier form of an item that a line has, or an empty string."""
    return "" if (line.text, line.points) == (item.text, item.points) else f"of {line.points:g}: {line.text}"


def _paragraphs(own: str) -> list[str]:
    return [part.strip() for part in re.split(r"\n\s*\n", own) if part.strip()]


def _student(source: str, pictures: dict[str, dict]) -> str:
    cell = nbformat.v4.new_markdown_cell(metadata={"nbgrader": {"solution": True}}, attachments=pictures)
    return markdown2html({"cell": cell}, deactivate_markup(source))


_LAB = nbformat.v4.new_markdown_cell()


def _given(source: str) -> str:
    """The lab's own text."""
    return markdown2html({"cell": _LAB}, source)


def _inline(source: str) -> str:
    return re.sub(r"^<p>|</p>\s*$", "", _given(source))


def enter(question: Question, gradebook: Gradebook, wanted: dict) -> None:
    """Enter what was pressed on the page for one or several entries, all or nothing.

    Raises Conflict, and ValueError for what no page asks for. `wanted` has the `rubric` of the page, and `changes`: each has the
    `ids` of answers with their versions, and either the `score`, the `earned` points of each item (or None) and the `comment`, or
    nothing, which brings the answers to the present form of the rubric.
    """
    if wanted["rubric"] != question.digest:
        raise Conflict("the rubric has changed")
    gradebook.db.rollback()
    gradebook.db.execute(text("BEGIN IMMEDIATE"))
    try:
        known = {answer.grade: answer for answer in answers_to(question, gradebook)[0]}
        for change in wanted["changes"]:
            for grade, version in change["ids"].items():
                answer = known.get(grade)
                if answer is None or answer.version != version:
                    raise Conflict("the points, a comment or the answer have changed in the meantime")
                waits = answer.waiting and "score" not in change
                score, comment = _marked(change, question) if "score" in change else _regraded(answer, question)
                gradebook.db.execute(text(_SCORE), {"score": score, "waits": waits, "id": answer.grade})
                gradebook.db.execute(text(_COMMENT), {"comment": comment or None, "id": answer.comment_id})
        gradebook.db.commit()
    finally:
        gradebook.db.rollback()


_SCORE = "UPDATE grade SET manual_score = :score, needs_manual_grade = :waits WHERE id = :id"
_COMMENT = "UPDATE comment SET manual_comment = :comment WHERE id = :id"


def _marked(change: dict, question: Question) -> tuple[float, str]:
    score, earned = _number(change["score"], question.points), change["earned"]
    lines = []
    if earned is not None:
        if len(earned) != len(question.items):
            raise ValueError("not a number for each item")
        lines = [
            Item(item.text, item.points, _number(value, item.points)) for item, value in zip(question.items, earned)
        ]
    return score, join_comment(lines, str(change["comment"]))


def _regraded(answer: Answer, question: Question) -> tuple[float | None, str]:
    """What the instructor gave besides the items stays: the difference of the score and the sum of the items."""
    lines, own = split_comment(answer.comment)
    new = regraded(lines, question.items)
    if answer.score is None:
        return None, join_comment(new, own)
    score = answer.score + sum(line.earned for line in new) - sum(line.earned for line in lines)
    return round(min(max(score, 0.0), question.points), 2), join_comment(new, own)


def _number(value: object, largest: float) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ValueError(f"{value!r} is no number")
    if not 0 <= value <= largest:
        raise ValueError(f"{value} is not between 0 and {largest:g}")
    return float(value)
