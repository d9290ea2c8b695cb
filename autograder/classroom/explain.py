"""A regrade request: every verdict on a student's graded submission, and whether it holds now.

The notebook that was graded runs again as in grading, in a sandbox, and the judge decides each check again on the class's cases. A
case that the feedback shows is replayed too, by itself. Nothing is written: not the gradebook, not the graded notebook, not the
feedback.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from nbgrader.api import MissingEntry

from ..engine.card import card
from ..engine.check import exercise_of, short_name
from ..engine.edition import versions
from ..engine.judge import Ask, Judge, SecondChance
from ..engine.observe import GradingError
from ..engine.run import run
from ..engine.verdict import (
    DIED,
    DISAGREED,
    GRADER_ERROR,
    MALFORMED,
    NOT_ATTEMPTED,
    PASSED,
    TIMED_OUT,
    UNSTABLE,
    Verdict,
    outcome_of,
)
from ..model import Course, Submission, Unreadable, exercise_name
from ..text import did_you_mean, printable
from .by_hand import is_entered
from .gradebook import open_gradebook
from .join import parsed
from .pages import SCHEMES, escaped, write_page
from .restore import StudentNotebook, checks_in, verdict_in
from .seals import class_seed, name_of_seed, seal_of
from .walk import split_lines

WIDE = 56  # characters of a result: two that are no wider are shown side by side

_NEEDED = {
    NOT_ATTEMPTED: "the cell has to define the function, and to run without an error",
    TIMED_OUT: "the check has to end within its time limit",
    DIED: "the process has to live until the last case",
    UNSTABLE: "the same case has to give the same result twice",
    MALFORMED: "the result has to be tensors, numbers, texts or sequences of these",
    GRADER_ERROR: "the course has to be corrected: this is not the student's fault",
}
_NOT_SEALED = (
    "verdicts do not have the seal that the class's judge gives, in this version of the course, for this student, lab and notebook:"
    " nbgrader alone graded them, or an earlier version of the course, or the seed was another, or they are of another notebook."
    " The student may have written what the graded notebook says of them. They are compared with the points in the gradebook"
)
_NOT_ENTERED = (
    "the gradebook lacks what was entered for this notebook (is it from a backup?): the next grading enters it again"
)


def _told(verdict: Mapping) -> str:
    outcome, told = verdict["outcome"], outcome_of(verdict)
    return outcome if told == outcome else f"{outcome} ({told})"


@dataclass(frozen=True)
class Explained:
    """One check: the verdict in the feedback, the verdict now, and that of the case in the feedback by itself."""

    check: str
    worth: float
    entered: str  # the score in the gradebook
    then: dict
    now: Verdict
    on_case: Verdict | None
    source: str  # the student's cell
    points: float | None = None  # in the gradebook; None if it does not tell, or for a check without points
    sealed: bool = False  # whether the class's own judge decided what the feedback says
    is_there: bool = True  # whether the graded notebook has a cell of the check

    @property
    def earned(self) -> bool | None:
        """Whether the check earned points in the gradebook."""
        return None if self.points is None else self.points > 0

    @property
    def is_entered(self) -> bool:
        """Whether the gradebook has the points for a sealed verdict, as far as it tells."""
        return not self.sealed or self.points in (None, self.worth * (self.then["outcome"] == PASSED))

    @property
    def holds(self) -> bool:
        before = self.then["outcome"] == PASSED if self.sealed else self.earned
        return before in (None, self.now.passed) and self.is_entered

    @property
    def shown(self) -> Verdict:
        """The verdict that shows most: on the case of the feedback, if that fails."""
        return self.on_case if self.on_case is not None and not self.on_case.passed else self.now

    def ruling(self) -> str:
        before = self._former_outcome()
        agree = f"{self.now.agreed} of {self.now.cases} cases agree with {self.now.judged_by}"
        said = f"was {before}, and is now {_told(vars(self.now))}" + f" ({agree})" * bool(self.now.cases)
        if self.on_case is not None:
            said += "; the case of the feedback " + (
                "passes" if self.on_case.passed else f"{self.on_case.outcome} again"
            )
        if not self.is_entered:
            said += f"; but the gradebook has {self.points:g} of {self.worth:g} points for it"
        return ("holds: " if self.holds else "DOES NOT HOLD: ") + said

    def _former_outcome(self) -> str:
        if self.sealed:
            return _told(self.then)
        otherwise = "graded by nbgrader alone" if self.is_there else "not in the graded notebook"
        outcome = self.then.get("outcome", otherwise)
        earned = {None: "unknown", True: "points", False: "no points"}[self.earned]
        return f"{outcome} (NOT TO BE TRUSTED: without the seal of this class's judge; the gradebook has {earned})"

    def needed(self) -> str:
        """Say what must hold for the points, or nothing for a check that passes."""
        if self.now.passed:
            return ""
        if self.now.outcome == DISAGREED:
            return f"all {self.now.cases} cases have to agree with {self.now.judged_by}; {self.now.agreed} do"
        return _NEEDED.get(self.now.outcome, "")


@dataclass
class Explanation:
    student: str
    lab: str
    remarks: list[str]
    penalty: float = 0.0  # points taken off for being late
    checks: list[Explained] = field(default_factory=list)


class _Replaying(Judge):
    """Decides the `wanted` checks again, and replays the cases of the feedback. All other sealed verdicts stay as they were."""

    def __init__(self, seed: int, then: dict[str, dict], sealed: set[str], wanted: list[str]):
        super().__init__(seed)
        self.then, self.sealed, self.wanted = then, sealed, wanted
        self.on_case: dict[str, Verdict] = {}

    def verdict(self, name: str, ask: Ask, second_chance: SecondChance | None = None) -> Verdict:
        if name not in self.wanted and name in self.sealed:
            return Verdict(name, self.then[name]["outcome"])
        verdict = super().verdict(name, ask, second_chance)
        shown = name in self.wanted and "given" in self.then[name]
        if shown and verdict.outcome not in (TIMED_OUT, DIED):  # else its subject would end again
            self.on_case[name] = self.replay(name, json.loads(self.then[name]["given"]), ask)
        return verdict


def explain(
    submission: Submission,
    exercise: str | None = None,
    isolated: bool = True,
    progress: Callable[[str], None] = lambda check: None,
) -> Explanation:
    """Replay the verdicts on a graded submission, or those on one exercise. Raises LookupError with one line if there is nothing to
    replay."""
    lab, written = submission.lab, _read_graded(submission)
    notebook, seed = _restored(written, submission), seed_of_graded(lab.course)
    cells = checks_in(written, notebook)
    wanted = _wanted([*cells], exercise, lab.name)
    then = {name: verdict_in(cell) for name, (_, cell) in cells.items()}
    sealed = {name for name in cells if then[name].get("seal") == seal_of(then[name], submission, name, seed, written)}
    for name in cells.keys() - sealed:
        then[name].pop("given", None)  # it may be the student's own, and a case may hold a program
    entered, penalty, remarks = _scores(submission, written)
    explanation = Explanation(submission.student, lab.name, [*_remarks(submission, written, seed), *remarks], penalty)
    judge = _Replaying(seed, then, sealed, wanted)
    verdicts = run(notebook, lab, judge, isolated, progress)
    sources, worth = answers_of(notebook), lab.points
    for name in wanted:
        given, in_written = cells[name]
        text, auto = entered.get(given.metadata.nbgrader.grade_id, ("not in the gradebook", None))
        source, points_of = sources.get(_exercise(name), ""), worth.get(name, 0)
        has, now, on_case = auto if points_of else None, verdicts[name], judge.on_case.get(name)
        is_there = in_written is not None
        explanation.checks.append(
            Explained(name, points_of, text, then[name], now, on_case, source, has, name in sealed, is_there)
        )
    if missing := [check.check for check in explanation.checks if not check.is_there]:
        explanation.remarks.append(
            f"the graded notebook has no cell of {', '.join(missing)}: the cell of the lab is run now"
        )
    unsealed = [check.check for check in explanation.checks if not check.sealed]
    if unsealed:
        explanation.remarks.append(
            f"{len(unsealed)} of {len(explanation.checks)} {_NOT_SEALED} ({', '.join(unsealed)})"
        )
    return explanation


def seed_of_graded(course: Course) -> int:
    """The seed with which the class was graded. Raises LookupError if it is gone, and makes no other."""
    path = course.folder / "seed"
    if not path.exists():
        if not (book := course.folder / "gradebook.db").exists():
            raise LookupError(f"there is no {book}: `{course.command('rushlight grade')}` makes it")
        raise LookupError(f"{path} is missing, so nobody knows the cases of this class: grade again with --force")
    return class_seed(path)


def graded(submission: Submission) -> NotebookNode:
    """The notebook of a student as it was graded. Raises LookupError if it has not been graded.

    It is restored once more: where nbgrader alone has graded it, all that is not an answer may be the student's own.
    """
    return _restored(_read_graded(submission), submission)


def _restored(written: NotebookNode, submission: Submission) -> NotebookNode:
    try:
        return StudentNotebook(submission.lab, json.dumps(written)).restored()
    except Unreadable as error:
        raise _broken(submission.graded_path, error) from None


def _broken(path: Path, error: Exception) -> LookupError:
    first = next(iter(str(error).splitlines()), type(error).__name__)
    return LookupError(f"{path} cannot be read ({printable(first[:100])}): grade again with --force")


def _read_graded(submission: Submission) -> NotebookNode:
    """The graded notebook as it is on disk."""
    student, lab, path = submission.student, submission.lab, submission.graded_path
    if path.exists():
        try:
            return nbformat.reads(path.read_text(encoding="utf-8"), as_version=4)
        except Exception as error:  # nbformat raises many types
            raise _broken(path, error) from None
    handed_in = lab.submissions()
    if submission in handed_in:
        try:
            StudentNotebook(lab, submission.text).restored()
        except Unreadable as error:
            raise LookupError(f"the submission of {student} cannot be graded: {error}") from None
        command = lab.course.command(f"rushlight grade {lab.number}")
        raise LookupError(f"{student} has not been graded: `{command}` does it")
    everybody = {path.parent.name for path in (lab.course.folder / "autograded").glob(f"*/{lab}")}
    everybody = sorted(everybody | {submission.student for submission in handed_in})
    advice = did_you_mean(student, everybody) or f"{len(everybody)} students did"
    raise LookupError(f"no student {printable(student)!r} has handed in {lab}; {advice}")


def answers_of(notebook: NotebookNode) -> dict[str, str]:
    """The source of each exercise's cell."""
    return {name: cell.source for cell in notebook.cells if (name := exercise_name(cell))}


def _exercise(check: str) -> str:
    try:
        return exercise_of(check)
    except LookupError:  # a milestone, or an exercise that the course has no more
        return check


def _wanted(checks: list[str], exercise: str | None, of: str) -> list[str]:
    if exercise is None:
        return checks
    names = {
        check: {check, short_name(check), _exercise(check), _exercise(check).rpartition(".")[2]} for check in checks
    }
    if wanted := [check for check in checks if exercise in names[check]]:
        return wanted
    shorts = [check.rpartition(".")[2] for check in checks]
    raise LookupError(
        f"{of} has no exercise {exercise!r}; {did_you_mean(exercise, shorts) or 'it has ' + ', '.join(shorts)}"
    )


def _remarks(submission: Submission, notebook: NotebookNode, seed: int) -> list[str]:
    """Say what is not as it was when the submission was graded."""
    remarks = []
    try:
        if notebook.metadata.get("submission") not in (None, submission.digest):
            remarks.append(
                "the submission on disk is not the one that was graded: it has been replaced since. This is about the graded one"
            )
    except Unreadable as error:
        remarks.append(f"the submission on disk is gone or broken ({error}). This is about the one that was graded")
    before, now = notebook.metadata.get("graded_with"), versions(submission.lab)
    before = before if isinstance(before, dict) else {}
    if unknown := [name for name in now if name not in before]:
        remarks.append(f"the graded notebook does not say which {', '.join(unknown)} it was graded with")
    remarks += [
        f"graded with {name} {before[name]}; here is {now[name]}"
        for name in now
        if before.get(name, now[name]) != now[name]
    ]
    if "seed" not in before:
        remarks.append("the graded notebook does not say with which seed it was graded: the cases may have been others")
    elif before["seed"] != name_of_seed(seed):
        remarks.append(
            "the class has another seed since it was graded: the cases are others now, and the case of the feedback is not replayed"
        )
    return remarks


def _scores(
    submission: Submission, notebook: NotebookNode
) -> tuple[dict[str, tuple[str, float | None]], float, list[str]]:
    """The points of each cell in the gradebook in words, and before a change by hand; the late penalty; and what is wrong with the
    entry. The gradebook is opened to be read only."""
    lab, student = submission.lab.name, submission.student
    path = submission.lab.course.folder / "gradebook.db"
    if not path.exists():
        return {}, 0.0, [f"there is no gradebook at {path}"]
    try:
        with open_gradebook(read_only=True) as gradebook:
            late = gradebook.find_submission(lab, student).late_submission_penalty
            grades = gradebook.find_submission_notebook(lab, lab, student).grades
            scores = {
                grade.name: (_score(grade.auto_score, grade.manual_score, grade.extra_credit), grade.auto_score or 0.0)
                for grade in grades
            }
        remarks = [] if is_entered(notebook, submission) else [_NOT_ENTERED]
    except MissingEntry:
        return {}, 0.0, ["the gradebook has no entry for this submission"]
    except GradingError as error:
        return {}, 0.0, [str(error)]
    return scores, late or 0.0, remarks


def _score(auto: float | None, by_hand: float | None, extra: float | None) -> str:
    score = (auto if by_hand is None else by_hand) or 0.0
    text = f"{score + (extra or 0.0):g}"
    if by_hand is not None:
        text += f", CHANGED BY HAND from {auto or 0.0:g}"
    return text + (f", with {extra:g} extra" if extra else "")


# As text -------------------------------------------------------------------------------------------------------------


def text(explanation: Explanation) -> str:
    lines = [
        f"{printable(explanation.student)}, {explanation.lab}{_late(explanation)}",
        *(f"! {printable(line)}" for line in explanation.remarks),
        "",
    ]
    for check in explanation.checks:
        lines.append(f"{check.now.mark} {check.check}: {check.entered} (of {check.worth:g} points)")
        if not (check.sealed and check.holds and check.now.passed):
            lines.append(f"  {check.ruling()}")
        if not check.now.passed or not check.holds:
            lines += [f"  {line}" for line in [*_evidence(check), ""]]
    broken = [check.check for check in explanation.checks if not check.holds]
    lines.append(_conclusion(explanation, broken))
    return "\n".join(lines)


def _late(explanation: Explanation) -> str:
    return f": {explanation.penalty:g} points off for being late" * bool(explanation.penalty)


def _conclusion(explanation: Explanation, broken: list[str]) -> str:
    if not broken:
        return "every verdict holds; nothing was entered in the gradebook"
    number = explanation.lab.partition("_")[0]
    command = Course().command(f"rushlight grade {number} --force")
    return (
        f"does not hold: {', '.join(broken)}; nothing was entered in the gradebook: `{command}` grades everybody again,"
        " and the formgrader takes points by hand"
    )


def _evidence(check: Explained) -> list[str]:
    shown = check.shown
    lines = [f"for the points: {check.needed()}"] if check.needed() else []
    for name, body in shown.rows():
        if name == "yours" and shown.theirs:
            lines += _side_by_side(body, shown.theirs, "expected" if shown.exact else "torch's")
        elif name not in ("torch's", "expected") or not shown.theirs:
            first, *rest = body.splitlines() or [""]
            lines += [f"{name:<8} {first}"] + [f"{'':<8} {line}" for line in rest]
    return lines + ["the cell that was graded:", *numbered(check.source).splitlines()] if check.source else lines


def _side_by_side(mine: str, theirs: str, name: str) -> list[str]:
    left, right = (["yours", *mine.splitlines()], [name, *theirs.splitlines()])
    width = max(map(len, left))
    if max(width, *map(len, right)) > WIDE:
        return [f"{left[0]}:", *left[1:], f"{right[0]}:", *right[1:]]
    return [f"{one:<{width}}  │  {other}".rstrip() for one, other in zip_longest(left, right, fillvalue="")]


def numbered(source: str) -> str:
    """The lines of a cell with their numbers, without docstrings."""
    left_out = docstring_lines(source)
    lines = [(i, line) for i, line in enumerate(split_lines(source), 1) if i not in left_out]
    return "\n".join(f"{i:>4}  {printable(line)}" for i, line in lines if line.strip())


def docstring_lines(source: str) -> set[int]:
    nodes = ast.walk(tree) if (tree := parsed(source)) else ()
    functions = [node for node in nodes if isinstance(node, ast.FunctionDef)]
    texts = [node.body[0] for node in functions if ast.get_docstring(node) is not None]
    return {line for node in texts for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)}


# As a page -----------------------------------------------------------------------------------------------------------

_STYLE = f"""
{SCHEMES}
body {{ font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 1.5rem auto; padding: 0 1rem;
  color: var(--page); background: var(--page-b); overflow-wrap: anywhere; }}
pre {{ overflow-x: auto; font-size: .85rem; }} .note {{ color: var(--muted); }}
.not {{ color: var(--fail); background: var(--fail-b); padding: .2rem .5rem; }}
"""


def body_of(explanation: Explanation) -> str:
    """The same in HTML, with the cards of the notebook."""
    broken = [check.check for check in explanation.checks if not check.holds]
    body = [
        f"<h1>{escaped(explanation.student)}, lab {escaped(explanation.lab)}{_late(explanation)}</h1>",
        *(f'<p class="not">{escaped(line)}</p>' for line in explanation.remarks),
    ]
    body.append(f"<p>{escaped(_conclusion(explanation, broken))}</p>")
    for check in explanation.checks:
        kind = "note" if check.holds else "not"
        body.append(f"<h2>{escaped(check.check)}: {escaped(check.entered)} of {check.worth:g} points</h2>")
        body.append(f'<p class="{kind}">{escaped(check.ruling())}</p>')
        if not check.now.passed or not check.holds:
            body.append(f"<p>For the points: {escaped(check.needed())}.</p>" if check.needed() else "")
            body.append(card(check.shown))
            body.append(
                f"<details open><summary>the cell that was graded</summary><pre>{escaped(numbered(check.source))}</pre></details>"
            )
    return f"<main>{''.join(body)}</main>"


def write(explanation: Explanation, path: Path) -> None:
    write_page(path, f"{escaped(explanation.student)}, lab {explanation.lab}", _STYLE, body_of(explanation))
