"""Marks an exam by running: the changed function on the input that a student gave, beside torch and the function as it was.

Each student's answers are read in a process of its own under limits, like the drawing of the items. In it the functions run in a
sandbox, and nothing of an answer runs: it is read as data.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from ..classroom.oral import limited
from ..engine.check import find
from ..engine.judge import Judge
from ..engine.observe import Tree, difference, show
from ..language import speak, speaking
from ..model import Lab
from .draw import FIND, LETTERED, REASON, WHICH, Exam, Key
from .paper import Item
from .trials import Cases, Function, read_case
from .values import NotAsked, is_answer, tidied

LARGE = 64  # a number of an input may be so large, or four times the largest of the check's own cases


@dataclass
class Marks:
    """The points of each field, None for one that a person marks, and what is right, in paragraphs for the feedback."""

    earned: dict[str, float | None] = field(default_factory=dict)
    right: dict[str, list[str]] = field(default_factory=dict)


def mark(exam: Exam, answers: Mapping[str, str], isolated: bool = True) -> Marks:
    """The marks of a student's answers. Raises LookupError if they cannot be worked out, which is not the student's fault."""
    return limited(lambda _: _marks(exam, answers, isolated), exam.paper.student)


def _marks(exam: Exam, answers: Mapping[str, str], isolated: bool) -> Marks:
    marks = Marks()
    with speaking(exam.paper.language):
        for item in exam.paper.items:
            key = exam.keys[item.key]
            given = {each.key.partition(".")[2]: answers.get(each.key, "") for each in item.fields}
            marks.right[item.key] = [*key.right]
            points = {each.key.partition(".")[2]: each.points for each in item.fields}
            earned: dict[str, float | None] = {}
            if key.kind == FIND:
                earned = _found(item, key, given, isolated, marks.right[item.key])
            elif key.kind == WHICH:
                earned = {"letters": points["letters"] * _share_of_letters(given["letters"], {*key.expected})}
            elif key.kind == REASON:
                earned = {name: None if text.strip() else 0.0 for name, text in given.items()}
            else:
                earned = _compared(given, key, points)
            marks.earned |= {f"{item.key}.{name}": value for name, value in earned.items()}
    return marks


def _compared(given: dict[str, str], key: Key, points: dict[str, float]) -> dict[str, float | None]:
    """The points for results that were worked out when the item was drawn."""
    pairs = zip(given.items(), key.expected, strict=True)
    return {name: points[name] * is_answer(text, right) for (name, text), right in pairs}


_LETTERS = re.compile(rf"(?:[\s,;.&()\[\]{{}}'\"/+-]|\b[{LETTERED}]+\b)*")


def _share_of_letters(text: str, right: set[str]) -> float:
    """All for the letters that are right, a third if one is too many or missing."""
    said = re.sub(r"\b(?:and|y)\b", " ", tidied(text).lower())
    letters = {*re.findall(f"[{LETTERED}]", said)} if _LETTERS.fullmatch(said) else set()
    apart = len(letters ^ right) if letters else len(LETTERED)
    return 1.0 if not apart else 1 / 3 if apart == 1 else 0.0


def _found(item: Item, key: Key, given: dict[str, str], isolated: bool, right: list[str]) -> dict[str, float | None]:
    """The points for an input and the line. The first paragraphs of `right` say what became of the input."""
    names = [name for name in given if name != "line"]
    points = {each.key.partition(".")[2]: each.points for each in item.fields}
    said, is_line = _line(key, given["line"], isolated)
    right[:0] = said
    earned: dict[str, float | None] = {**dict.fromkeys(names, 0.0), "line": points["line"] * is_line}
    if all(given[name].strip() == each.given for name, each in zip(names, item.fields)):
        return earned
    try:
        case = read_case({name: given[name] for name in names}, {name: key.parameters[name] for name in names})
        said, differs = _tried(key, case, isolated)
    except NotAsked as error:
        said, differs = [speak("Your input cannot be read: {reason}", reason=error)], False
    right[:0] = said
    if differs and is_line:
        earned |= {name: points[name] for name in names}
    return earned


_LINE = re.compile(
    r"(?:the |la )?(?:(?:l|line|l[ií]nea|n|no|nr)(?![a-z])|#)?[.:#\s]*(\d{1,3})(?:\s*[.)])?\s*(?:(?::|->|→)(.*))?",
    re.DOTALL | re.IGNORECASE,
)


def _line(key: Key, text: str, isolated: bool) -> tuple[list[str], bool]:
    """Whether the line is the changed one, or another that mends the function: then what became of it, too."""
    found = _LINE.fullmatch(tidied(text))
    if found is None:
        return [], False
    line, new = int(found[1]), tidied(found[2] or "")
    if line == key.line or not new:
        return [], line == key.line
    check = find(key.check)
    function = Function(Lab(key.lab), check.exercise, check, key.cell, key.is_own, Cases(0), isolated)
    try:
        is_mended = function.is_mended(key.changed, line, new)
    finally:
        function.close()
    if is_mended:
        return [speak("With your line {line} the function gives what torch gives, too.", line=line)], True
    return [speak("With your line {line} the function does not give what torch gives.", line=line)], False


def _tried(key: Key, case: dict, isolated: bool) -> tuple[list[str], bool]:
    """What an input brings about, and whether the changed function differs on it from torch, and the function before does not."""
    check = find(key.check)
    if _largest(case) > max(LARGE, 4 * max(map(_largest, check.edges))):
        raise NotAsked("a number that is larger than those of the check")
    function = Function(Lab(key.lab), check.exercise, check, key.cell, key.is_own, Cases(0), isolated)
    try:
        theirs = Judge(0).answers(check, [case])[0]
        before = function.run(key.cell, [case])
        function.close()  # what the one leaves behind is nothing to the other
        after = function.run(key.changed, [case])
    except Exception as error:  # torch's side refuses to make the case
        raise NotAsked(f"it is no input of this program ({type(error).__name__})") from None
    finally:
        function.close()
    if not before or difference(before[0], theirs):
        return [speak("On your input the function before the change does not give what torch gives either.")], False
    said = [speak("On your input torch gives"), _code(show(theirs))]
    if after and not difference(after[0], theirs):
        return [*said, speak("and so does the changed function.")], False
    now = show(after[0]) if after else speak("no result: it takes too long, or ends its process")
    return [*said, speak("and the changed function"), _code(now)], True


def _code(text: str) -> str:
    return "\n".join(f" {line}" for line in text.splitlines())


def _largest(value: Tree) -> float:
    if isinstance(value, dict):
        return max(map(_largest, value.values()), default=0)
    if isinstance(value, list | tuple):
        return max(map(_largest, value), default=0)
    return abs(value) if isinstance(value, int | float) and not isinstance(value, bool) else 0
