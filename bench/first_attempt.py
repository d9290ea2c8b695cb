"""How much of what an assistant writes at the first attempt is right, by kind of exercise.

    python bench/first_attempt.py bench/first_attempt/assistant                              the table
    python bench/first_attempt.py bench/first_attempt/assistant --out docs/evaluation.md     the table, written into the page

A folder has what one solver wrote who had the text of a lab and its reading, and ran nothing: `01b.txt` with the cell of each
answer below a line `# %% EXERCISE`, or a notebook of the lab that was filled in. In `exam` are answers to papers of an exam,
`student00.answers.json`, each beside its paper with the key, `student00.exam.json`. Each lab is judged as `rushlight check` judges
it. Milestones, written answers and what was left empty are not counted.
"""

from __future__ import annotations

import argparse
import copy
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from autograder.classroom.items import share_interval
from autograder.classroom.restore import restore
from autograder.engine import sandbox
from autograder.engine.check import BODY, BREAK_IT, DIAGNOSIS, PREDICTION, REVIEW, find, is_milestone, kind_of
from autograder.engine.judge import Judge
from autograder.engine.run import run
from autograder.engine.verdict import NOT_ATTEMPTED
from autograder.exam.draw import REASON, Exam
from autograder.exam.marking import mark
from autograder.model import Course, Lab, exercise_name

SEED = 20
EXAM = "exam"
KINDS = {
    BODY: "body of a function",
    PREDICTION: "prediction",
    BREAK_IT: "cases of *Break it*",
    DIAGNOSIS: "step of a diagnosis",
    REVIEW: "review of a patch",
    EXAM: "item of an exam",
}
HEADS = ("kind", "exercises", "right at the first attempt", "95 % interval", "points")
BEGIN, END = "<!-- bench/first_attempt.py writes from here -->", "<!-- to here -->"


@dataclass(frozen=True)
class Attempt:
    """An exercise or an item of an exam, and what its first answer earned."""

    name: str
    kind: str
    earned: float
    worth: float

    @property
    def is_right(self) -> bool:
        return self.earned == self.worth


def filled_in(lab: Lab, path: Path) -> NotebookNode:
    """The lab's notebook with the answers of a file."""
    if path.suffix == ".ipynb":
        return restore(nbformat.read(path, as_version=4), lab.release.nodes)
    notebook = copy.deepcopy(lab.release.nodes)
    parts = re.split(r"^# %% (\S+)\n", path.read_text(encoding="utf-8"), flags=re.M)[1:]
    answers = dict(zip(parts[::2], parts[1::2]))
    for cell in notebook.cells:
        if exercise := exercise_name(cell):
            cell.source = answers.pop(exercise, cell.source)
    if answers:
        raise LookupError(f"{path}: {lab} has no exercise {', '.join(answers)}")
    return notebook


def of_lab(path: Path) -> Iterator[Attempt]:
    lab = Course().find_released(path.stem)
    isolated = not sandbox.missing(lab.course.private_folders)
    verdicts = run(filled_in(lab, path), lab, Judge(SEED), isolated)
    by_exercise: dict[str, list[str]] = {}
    for check in lab.points:
        if not is_milestone(check) and verdicts[check].outcome != NOT_ATTEMPTED:
            by_exercise.setdefault(find(check).exercise, []).append(check)
    for exercise, checks in by_exercise.items():
        earned = sum(lab.points[check] for check in checks if verdicts[check].passed)
        yield Attempt(exercise, kind_of(exercise), earned, sum(lab.points[check] for check in checks))


def of_paper(path: Path) -> Iterator[Attempt]:
    """The items of a paper that are marked by running."""
    exam = Exam.read(path)
    answers = json.loads(path.with_name(path.name.replace(".exam.", ".answers.")).read_text(encoding="utf-8"))
    earned = mark(exam, answers).earned
    for item in exam.paper.items:
        if exam.keys[item.key].kind != REASON:
            points = sum(earned[field.key] or 0.0 for field in item.fields)
            yield Attempt(f"{exam.paper.code}, item {item.key}", EXAM, points, item.points)


def attempts(folder: Path, labs: list[str]) -> Iterator[Attempt]:
    for path in sorted(folder.iterdir()):
        if path.suffix in (".txt", ".ipynb") and (not labs or path.stem in labs):
            yield from of_lab(path)
    for path in sorted(folder.glob("exam/*.exam.json")):
        if not labs or EXAM in labs:
            yield from of_paper(path)


def table(found: list[Attempt]) -> str:
    lines: list[tuple[str, ...]] = [HEADS, ("---", *["---:"] * (len(HEADS) - 1))]
    for kind, said in KINDS.items():
        if own := [each for each in found if each.kind == kind]:
            right, earned = sum(each.is_right for each in own), sum(each.earned for each in own)
            low, high = (f"{100 * share:.0f}" for share in share_interval(right, len(own)))
            points = f"{earned:g} of {sum(each.worth for each in own):g}"
            lines.append((said, f"{len(own)}", f"{right}", f"{low} to {high} %", points))
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--labs", nargs="+", default=[], help="only these, such as 01b; the papers are `exam`")
    parser.add_argument("--out", type=Path, help="a page with the marks between which the table stands")
    given = parser.parse_args()
    found = [each for folder in given.folders for each in attempts(folder, given.labs)]
    for each in found:
        if not each.is_right:
            print(f"not right: {each.name}, {each.earned:g} of {each.worth:g} points")
    print(table(found))
    if given.out:
        before, _, rest = given.out.read_text(encoding="utf-8").partition(BEGIN)
        text = "\n\n".join([before + BEGIN, table(found), END + rest.partition(END)[2]])
        given.out.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
