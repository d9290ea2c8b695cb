"""What a student reviews, and when it is due again: the questions of the readings, a schedule, and the file that keeps it.

The schedule is Anki's variant of SM-2 (P. A. Woźniak, 1990). `docs/javascripts/review.js` has the same rule for the page *Review*,
with the same ids of the questions. Nothing here imports the framework, torch or nbformat.
"""

from __future__ import annotations

import itertools
import json
import random
import re
import unicodedata
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import date, timedelta
from pathlib import Path

from ..course import READINGS, WORK, replacing
from ..language import ENGLISH, FOLDER, language, messages
from ..model import Course, Lab, Unreadable, exercise_name, phases, read_notebook

# The schedule --------------------------------------------------------------------------------------------------------

AGAIN, HARD, GOOD, EASY = 1, 2, 3, 4  # how an answer was
FIRST = 0, 1, 2, 4  # days after each of them, if the last answer was none of the last three
CHANGE_OF_EASE = -20, -15, 0, 15
LEAST_EASE = 130


@dataclass(frozen=True)
class Card:
    """When something is due, and how it was answered before."""

    passed: int = 0  # answers since the last one that was AGAIN
    ease: int = 250  # the growth of the interval, in hundredths
    days: int = 0  # the interval
    due: str = ""  # a date such as 2027-03-15

    @property
    def answered(self) -> str:
        """The date of the last answer."""
        return later(self.due, -self.days)


def later(day: str, days: int) -> str:
    return (date.fromisoformat(day) + timedelta(days)).isoformat()


def scheduled(card: Card, grade: int, today: str) -> Card:
    """The card after an answer. All numbers are whole, so that two languages round alike.

    After AGAIN it is due in the same sitting. A better answer always has a longer interval. The ease changes from the second answer
    on, and by a first one that is AGAIN, but not by answers that repeat an AGAIN.
    """
    days, ease = FIRST[grade - 1], card.ease
    if card.passed or (grade == AGAIN and not card.due):
        ease = max(card.ease + CHANGE_OF_EASE[grade - 1], LEAST_EASE)
    if card.passed:
        days = 0
        for growth in (120, card.ease, card.ease * 13 // 10)[: grade - 1]:
            days = max(-(-card.days * growth // 100), days + 1)
    return Card(card.passed + 1 if grade > AGAIN else 0, ease, days, later(today, days))


def todays(deck: Sequence[str], cards: Mapping[str, Card], today: str, most: int) -> list[str]:
    """What is left to ask today, of at most so many a day: first what is due, the longest due first, then what is new.

    What was answered AGAIN today comes at the end, in the order of the answers, and does not count a second time.
    """
    answered = {name for name, card in cards.items() if card.answered == today}
    due = sorted(
        (name for name in deck if name in cards and name not in answered and cards[name].due <= today),
        key=lambda name: cards[name].due,
    )
    new = [name for name in deck if name not in cards]
    again = [name for name in cards if name in answered and name in deck and cards[name].due == today]
    return [*[*due, *new][: max(most - len(answered), 0)], *again]


# The file ------------------------------------------------------------------------------------------------------------

VERSION = 1


def path_of_cards() -> Path:
    return WORK / "review.json"


def read_cards(path: Path) -> dict[str, Card]:
    """The cards of a file, or none if there is no file. Raises LookupError, and changes nothing, if it is not such a file."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        if data["version"] == VERSION:
            return {str(name): _card(**card) for name, card in data["cards"].items()}
        reason = f"it is of version {data['version']!r} of this file, and this course reads version {VERSION}"
    except FileNotFoundError:
        return {}
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        reason = f"line {error.lineno}" if isinstance(error, json.JSONDecodeError) else f"{error}"
    raise LookupError(f"{path} is no record of reviews ({reason}): mend it, or move it away to begin a new one")


def _card(passed: int, ease: int, days: int, due: str) -> Card:
    if not all(type(number) is int and number >= 0 for number in (passed, ease, days)):
        raise ValueError("a number is not one")
    return Card(passed, ease, days, date.fromisoformat(due).isoformat())


def keep_card(path: Path, name: str, card: Card) -> None:
    """Write a card into the file behind the others that are there by now. Raises LookupError."""
    cards = read_cards(path)
    cards.pop(name, None)
    cards[name] = card
    path.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps({"version": VERSION, "cards": {name: asdict(card) for name, card in cards.items()}}, indent=1)
    with replacing(path) as part:
        part.write_text(text + "\n", encoding="utf-8")


# What is asked -------------------------------------------------------------------------------------------------------

QUESTION, PREDICTION, CHANGE = "question", "prediction", "change"
PREDICTIONS = "course.predictions."  # the module of these exercises
# Exercises that are not the body of a function of rushlight: predictions, cases, reviews, the clinic, and programs on torch
OTHERS = (PREDICTIONS, "clinic.", "contribute.", "course.breaks.", "course.reviews.", "distributed.", "on_torch.")
IN_TURN = (QUESTION, QUESTION, QUESTION, PREDICTION, CHANGE)  # of what is new, while there is any

PART = re.compile(
    r"^(?P<fence>`{3,}).*?^(?P=fence)`*$"
    r"|^(?P<level>#+) (?P<heading>[^\n]+)$"
    r"|^\*\*In the lab:\*\*(?P<lab>.+?)(?=\n\n|\Z)"
    r"|^(?P<label>\*\*\w+ yourself\.\*\*) (?P<question>.+?)\n\n<details><summary>Answer</summary>\n\n(?P<answer>.+?)\n\n</details>",
    re.MULTILINE | re.DOTALL,
)
LABEL = re.compile(r"\A\*\*[^*]+\*\* ")
LINK = re.compile(r"\[([^]]*)\]\([^)]*\)")
EXERCISE = re.compile(r"`\w+((?:\.\w+)+)`")  # without the first part of its name, which may be a short form
UNWRITTEN = "raise NotImplementedError()"  # the last line of an exercise as the lab has it


@dataclass(frozen=True)
class Asked:
    """Something that can be asked. A question has its text and its answer, which are Markdown."""

    name: str  # in the file
    kind: str
    phase: str  # `01`
    place: str  # the section of the reading, or the exercise
    text: str = ""
    answer: str = ""
    explains: frozenset[str] = (
        frozenset()
    )  # the ends of the names of the exercises that its section is the first to name

    @property
    def lab(self) -> str:
        """`01a` of what is about a lab."""
        return self.name.partition("/")[0]


def questions(phase: str) -> list[Asked]:
    """The questions *Test yourself* of a reading, such as that of `01_strided`, in the language that is spoken."""
    text, spoken = (READINGS / phase / "reading.md").read_text(encoding="utf-8"), language()
    known = messages(FOLDER / spoken / "phases" / f"{phase}.po") if spoken != ENGLISH else {}

    def said(markdown: str) -> str:
        paragraphs = (" ".join(each.split("\n")) for each in markdown.split("\n\n"))
        return LINK.sub(r"\1", "\n\n".join(known.get(each, each) for each in paragraphs))

    found: dict[str, Asked] = {}
    sections: dict[str, int] = {}  # by question
    explained: dict[str, int] = {}  # by exercise, the first section that names it
    heading, section = "", 0
    for part in PART.finditer(text):
        level = len(part["level"] or "")
        section += level in (1, 2)
        heading = part["heading"] if level > 1 else heading
        for exercise in EXERCISE.findall(part["lab"] or ""):
            explained.setdefault(exercise, section)
        if part["question"]:
            name = named(phase[:2], _slug(heading), found)
            asked = LABEL.sub("", said(f"{part['label']} {part['question']}"))
            place = re.sub(r"[`*]", "", said(heading))
            found[name] = Asked(name, QUESTION, phase[:2], place, asked, said(part["answer"]))
            sections[name] = section
    of_section = {at: frozenset(name for name, first in explained.items() if first == at) for at in sections.values()}
    return [replace(asked, explains=of_section[sections[name]]) for name, asked in found.items()]


def questions_of(exercises: Collection[str], lab: Lab, asked: Sequence[Asked]) -> list[Asked]:
    """Of the questions of its phase, those of the sections that explain these exercises of a lab.

    They are all if no section explains an exercise of the lab: a lab of bugs asks about the whole phase.
    """

    def about(names: Collection[str]) -> list[Asked]:
        return [each for each in asked if any(name.endswith(tuple(each.explains)) for name in names)]

    return about(exercises) if about(lab.exercises) else [*asked]


def named(phase: str, anchor: str, others: Collection[str]) -> str:
    """The name of a question, of its phase and its section. A second one of a section has a number."""
    names = [f"{phase}/{anchor}", *(f"{phase}/{anchor}-{number}" for number in range(2, 99))]
    return next(name for name in names if name not in others)


def _slug(heading: str) -> str:
    """The anchor of a heading on the site."""
    plain = unicodedata.normalize("NFKD", re.sub(r"[`*]", "", heading)).encode("ascii", "ignore").decode()
    return re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", plain).strip().lower())


def written(lab: Lab) -> list[str]:
    """The exercises of a lab that have a body in the student's copy. Empty if there is none that can be read."""
    try:
        cells = json.loads(read_notebook(lab.work_path))["cells"]
        sources = [(exercise_name(cell), "".join(cell["source"])) for cell in cells]
    except (OSError, Unreadable, ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return []
    return [name for name, source in sources if name and not source.rstrip().endswith(UNWRITTEN)]


def deck(wanted: Collection[str], course: Course, runs: bool, today: str) -> list[Asked]:
    """All that can be asked, in the order in which it is asked for the first time.

    It is about the phases that are `wanted`, or else about the sections that explain an exercise that is written, of the phase
    first in whose lab something was written last. Predictions and changes are about such exercises alone, and need torch, which
    `runs`.
    """
    begun = {lab: names for lab in course.released_labs() if (names := written(lab))}
    newest = sorted(begun, key=lambda lab: lab.work_path.stat().st_mtime, reverse=True)
    numbers = {*wanted} or {lab.phase for lab in begun}
    of_kind: dict[str, list[Asked]] = {QUESTION: [], PREDICTION: [], CHANGE: []}
    asked = {phase[:2]: questions(phase) for phase in phases() if phase[:2] in numbers}
    for number in asked if wanted else dict.fromkeys(lab.phase for lab in newest):
        of_labs = (questions_of(names, lab, asked[number]) for lab, names in begun.items() if lab.phase == number)
        known = asked[number] if wanted else {*itertools.chain(*of_labs)}
        of_kind[QUESTION] += [each for each in asked[number] if each in known]
    for lab, names in begun.items() if runs else ():
        drawn = _drawn(lab)
        for name in names if lab.phase in numbers else ():
            kind = PREDICTION if name in drawn else "" if name.startswith(OTHERS) else CHANGE
            if kind:
                of_kind[kind].append(Asked(f"{lab.number}/{name}", kind, lab.phase, name.rpartition(".")[2]))
    for kind in (PREDICTION, CHANGE):  # not all of them can be asked about, and each day begins with others
        random.Random(f"{today} {kind}").shuffle(of_kind[kind])
    left, found = {kind: iter(some) for kind, some in of_kind.items()}, list[Asked]()
    kinds = itertools.cycle(IN_TURN)
    while len(found) < sum(map(len, of_kind.values())):
        found += itertools.islice(left[next(kinds)], 1)
    return found


def _drawn(lab: Lab) -> set[str]:
    """The predictions of a lab whose programs are drawn."""
    cells = [(exercise_name(cell) or "", "".join(cell["source"])) for cell in lab.released["cells"]]
    return {name for name, source in cells if f'draws.programs("{name.removeprefix(PREDICTIONS)}"' in source}
