"""The command `rushlight review`: five questions a day, each asked again when it is due."""

from __future__ import annotations

import importlib.util
import secrets
import sys
from datetime import date
from functools import cached_property
from typing import TYPE_CHECKING

import click
from rich.table import Table
from rich.text import Text

from ..language import speak, speaking
from ..model import Course, did_you_mean_lab, phases
from ..text import printable
from . import deck
from .base import app, lang, need, need_language, out
from .deck import AGAIN, CHANGE, EASY, GOOD, HARD, PREDICTION, QUESTION, Asked, Card
from .students import _isolated, _no_sandbox

if TYPE_CHECKING:
    from ..exam.draw import Exam

MOST = 5  # a day
TRIED = 6  # functions, or predictions, about which nothing can be asked: then none of the others is tried
CODE = r"`[^`]+`"


@app.command()
@click.option(
    "--phase", "wanted", multiple=True, metavar="PHASE", help="Ask about this phase, such as 01. Repeat it for more."
)
@click.option("--count", type=click.IntRange(1), default=MOST, metavar="N", show_default=True, help="How many a day.")
@click.option("--list", "lists", is_flag=True, help="Only say what is due.")
@_no_sandbox
@lang
def review(wanted: tuple[str, ...], count: int, lists: bool, no_sandbox: bool, language: str) -> int:
    """Ask five questions a day about the phases that you have begun.

    They are the questions of the readings, new programs of your predictions, and functions of yours with one change. Each comes
    again when it is due. The dates are in work/review.json.
    """
    need_language(language)
    with speaking(language):
        session = _Session(_numbers(wanted), count, no_sandbox)
        if lists:
            session.show()
        else:
            session.run()
    return 0


def _numbers(wanted: tuple[str, ...]) -> set[str]:
    """The numbers of phases such as `01`, `1` or `01_strided`. Raises LookupError."""
    names = phases()
    known = {form: name[:2] for name in names for form in (name, name[:2], str(int(name[:2])))}
    for each in wanted:
        if each not in known:
            advice = did_you_mean_lab(each, names) or f"the phases are {', '.join(names)}"
            raise LookupError(f"there is no phase {each!r}; {advice}")
    return {known[each] for each in wanted}


class _Session:
    """What is asked today."""

    def __init__(self, wanted: set[str], most: int, no_sandbox: bool):
        self.most, self.no_sandbox, self.course = most, no_sandbox, Course()
        self.path, self.today = deck.path_of_cards(), date.today().isoformat()
        self.cards = deck.read_cards(self.path)
        runs = importlib.util.find_spec("torch") is not None
        self.deck = {each.name: each for each in deck.deck(wanted, self.course, runs, self.today)}
        self.failed = {PREDICTION: 0, CHANGE: 0}
        if not self.deck:
            raise LookupError(
                "work/ has no lab with an exercise that is written: `rushlight lab 01a` begins one, and"
                " `rushlight review --phase 01` asks about a phase that you name"
            )

    def left(self, day: str = "") -> list[Asked]:
        names = deck.todays([*self.deck], self.cards, day or self.today, self.most)
        return [self.deck[name] for name in names]

    # What is due

    def show(self) -> None:
        table = Table(box=None, pad_edge=False, show_header=False)
        kinds = {QUESTION: speak("reading"), PREDICTION: speak("a new program"), CHANGE: speak("your code, changed")}
        for each in self.left():
            when = speak("due since {day}", day=self.cards[each.name].due) if each.name in self.cards else speak("new")
            table.add_row(each.lab, each.place, kinds[each.kind], when)
        if table.row_count:
            out.print(table)
        self.say_when()

    def say_when(self) -> None:
        """Say how many are left for today, and how many there are tomorrow."""
        if not (left := self.left()):
            out.print(speak("Today: none is left. `--count {more}` asks more.", more=self.most + MOST), markup=False)
        else:
            out.print(speak("Today: {count}, of which {due} come again.", count=len(left), due=self.again(left)))
        tomorrow = self.left(deck.later(self.today, 1))
        due = self.again(tomorrow)
        out.print(speak("Tomorrow: {count}, of which {due} come again.", count=len(tomorrow), due=due))

    def again(self, asked: list[Asked]) -> int:
        return sum(each.name in self.cards for each in asked)

    # The dialogue

    def run(self) -> None:
        answered = 0
        if self.left():
            out.print(
                speak("Write your answer, then Enter. Ctrl-D stops, and what you have answered is kept."), style="dim"
            )
        try:
            while left := self.left():
                first = left[0]
                number = speak("{number} of {count}", number=answered + 1, count=answered + len(left))
                grade = self.ask(first, f"\n{number} · {first.lab} · {first.place}")
                if grade:
                    self.keep(first, grade)
                    answered += 1
                else:
                    self.leave_out(first)
        except EOFError:
            out.print()
        self.say_when()

    def keep(self, asked: Asked, grade: int) -> None:
        card = deck.scheduled(self.cards.get(asked.name, Card()), grade, self.today)
        deck.keep_card(self.path, asked.name, card)
        self.cards.pop(asked.name, None)
        self.cards[asked.name] = card
        again = (
            speak("It comes again on {day}.", day=card.due) if card.days else speak("It comes again in this sitting.")
        )
        out.print(again, style="dim")

    def leave_out(self, asked: Asked) -> None:
        """Put another of the same kind in the place of one about which nothing can be asked: a function may be wrong, or short."""
        self.failed[asked.kind] += 1

        def stays(each: Asked) -> bool:
            if each.kind != asked.kind:
                return True
            is_tried = each.name != asked.name and self.failed[each.kind] < TRIED
            return is_tried and (each.kind != CHANGE or each.name in self.changeable)

        place = [*self.deck].index(asked.name)
        left = [each for each in self.deck.values() if stays(each)]
        if other := next((each for each in left if each.kind == asked.kind and each.name not in self.cards), None):
            left.remove(other)
            left.insert(place, other)
        self.deck = {each.name: each for each in left}

    @cached_property
    def changeable(self) -> set[str]:
        """The functions whose checks have results that can be written down."""
        from ..exam.trials import checks_of

        labs = {each.lab for each in self.deck.values() if each.kind == CHANGE}
        return {f"{lab}/{name}" for lab in labs for name in checks_of(self.course.find_released(lab))}

    def ask(self, asked: Asked, title: str) -> int:
        """The grade of an answer, or 0 if nothing could be asked."""
        if asked.kind == QUESTION:
            out.print(title, style="bold", markup=False)
            _paragraph(asked.text)
            _typed("> ")
            _paragraph(asked.answer)
            return _own_grade()
        from ..engine.observe import GradingError

        if not self.failed[asked.kind]:
            said = {PREDICTION: speak("drawing a program ..."), CHANGE: speak("changing a function of yours ...")}
            out.print(said[asked.kind], style="dim", markup=False)
        try:
            exam = self.drawn(asked)
        except GradingError as error:  # there is no sandbox
            out.print(speak(str(error)), markup=False)
            self.failed[asked.kind] = TRIED
            return 0
        if exam is None:
            return 0
        out.print(title, style="bold", markup=False)
        return self.taken(exam)

    @cached_property
    def isolated(self) -> bool:
        """Whether the student's code runs in a sandbox. Raises GradingError if it should, and there is none."""
        from ..engine import sandbox

        isolated = _isolated(self.no_sandbox)
        need(isolated and sandbox.missing(self.course.private_folders))
        return isolated

    def drawn(self, asked: Asked) -> Exam | None:
        from ..exam.draw import change_of, prediction_of

        seed, (number, _, exercise) = secrets.randbits(32), asked.name.partition("/")
        if asked.kind == PREDICTION:
            return prediction_of(exercise, seed)
        return change_of(self.course.find_released(number), exercise, self.isolated, seed)

    def taken(self, exam: Exam) -> int:
        from ..exam.marking import mark

        (item,) = exam.paper.items
        for paragraph in [item.title, *item.paragraphs]:
            _paragraph(paragraph)
        marks = mark(exam, {each.key: _typed(f"{each.label}: ") for each in item.fields})
        are_right = [marks.earned[each.key] == each.points for each in item.fields]
        out.print(speak("✓ So it is:") if all(are_right) else speak("It is:"), markup=False)
        for paragraph in marks.right[item.key]:
            _paragraph(paragraph)
        return GOOD if all(are_right) else HARD if any(marks.earned.values()) else AGAIN


def _paragraph(text: str) -> None:
    """Print a paragraph of Markdown, or code that begins with a blank, as in an exam."""
    is_code = text.startswith(" ")
    shown = Text(text)
    if not is_code:
        shown.highlight_regex(CODE, "cyan")
    out.print(shown, soft_wrap=is_code)


def _typed(prompt: str) -> str:
    """A line that is typed, or piped: then it is printed as it would be on a terminal. Raises EOFError at the end."""
    text = input(prompt)
    if not sys.stdin.isatty():
        out.print(printable(text), markup=False)
    return text


def _own_grade() -> int:
    words = {AGAIN: speak("again"), HARD: speak("hard"), GOOD: speak("good"), EASY: speak("easy")}
    choices = {text: grade for grade, word in words.items() for text in (str(grade), word)}
    asked = ", ".join(f"{grade} {word}" for grade, word in words.items())
    while (given := _typed(f"{asked}: ").strip().lower()) not in choices:
        pass
    return choices[given]
