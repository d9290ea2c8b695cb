"""The items of a student's exam, drawn from what this student handed in.

Two ask for an input on which a changed copy of the student's own function differs from torch, and for the line. One asks what
another copy gives in three cases, or on which of six it is wrong. One is a prediction of the labs in a variant, or else such an
item again. The last asks in words why a line is there. A function that fails, or was not handed in, is replaced by the course's
own.
"""

from __future__ import annotations

import ast
import inspect
import json
import random
import secrets
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from functools import cache
from itertools import combinations, islice
from pathlib import Path
from textwrap import dedent, indent
from typing import Any

from rushlight.course import draws

from ..author.mutants import arithmetic, constant, replaceable_nodes
from ..classroom import walk
from ..classroom.explain import answers_of, graded
from ..classroom.oral import limited
from ..classroom.restore import StudentNotebook
from ..engine.check import Check, find, function_of, registry, shown_source, source
from ..engine.edition import RULES
from ..engine.judge import Judge
from ..engine.observe import Tree, difference, is_error, result_of, show
from ..language import language, speak
from ..model import Lab, Submission, read_notebook
from .paper import Field, Item, Paper, as_paper
from .trials import (
    CASES,
    LONGEST,
    SHORTEST,
    Cases,
    Changed,
    Function,
    answerable,
    checks_of,
    own_allowance,
    reference_cell,
    shown,
)
from .values import TENSOR, NotAsked, as_text, plain

MINUTES = 40
NEXT = ":\n"
CHECKS = "autograder.checks."  # the package of the programs
ASKED = "abc"  # the cases whose results are asked for
LETTERED = "abcdef"  # the cases of which some are wrong
FIND, RESULTS, WHICH, PREDICT, REASON = "find", "results", "which", "predict", "reason"
TRIED = 14  # changes of a function for an item
FEWEST = 3  # functions for a paper: of fewer, one item would show the answer of another
WAYS = 12  # to choose the functions in which a change is to be found: more are not tried
VARIANTS = 30  # of the predictions of a lab, from which each student's is drawn
MOST_PARAMETERS = 5
PLAIN_PROGRAM = 6  # lines of the program of a check: a longer one is asked about last
LONGEST_CONTRACT = 24  # lines
LONGEST_HELPER = 40  # lines of a function of the check's program: of a longer one, only the docstring is shown

Progress = Callable[[int, int, str], None]


@dataclass
class Key:
    """What is right for an item: for a change the copies that decide an input, the line, and the results that are asked for."""

    kind: str
    lab: str
    check: str
    cell: str = ""
    changed: str = ""
    line: int = 0
    parameters: dict = field(default_factory=dict)  # a case: its values have the form of an answer
    expected: list[Tree] = field(default_factory=list)
    right: list[str] = field(default_factory=list)  # paragraphs of the feedback
    rubric: str = ""
    is_own: bool = True
    why: str = ""  # the item is about the course's own code


@dataclass
class Exam:
    """A paper and the keys of its items."""

    paper: Paper
    keys: dict[str, Key]

    def write(self, path: Path) -> None:
        text = json.dumps({"paper": asdict(self.paper), "keys": {name: asdict(key) for name, key in self.keys.items()}})
        path.write_text(text + "\n", encoding="utf-8")

    @classmethod
    def read(cls, path: Path) -> Exam:
        data = json.loads(path.read_text(encoding="utf-8"))
        return cls(as_paper(data["paper"]), {name: Key(**key) for name, key in data["keys"].items()})


Candidate = tuple[tuple[bool, ...], Changed, tuple[Item, Key]]  # what is against an item, its change, and the item


# What is there to be asked about -------------------------------------------------------------------------------------


def cells_of(submission: Submission) -> dict[str, str]:
    """What a student has written for each exercise. Empty if nothing was graded."""
    try:
        return answers_of(graded(submission))
    except LookupError:
        return {}


def cells_of_file(lab: Lab, text: str) -> dict[str, str]:
    """The same of a notebook that was not handed in."""
    return answers_of(StudentNotebook(lab, text).restored())


class Material:
    """What all papers of an exam share: the checks, their cases, torch's answers, and the variants of predictions. It is worked out
    before the first paper, because no torch runs where a student's code is looked at."""

    def __init__(self, labs: Sequence[Lab], seed: int, progress: Progress = lambda *_: None):
        self.labs, self.seed, self.known = labs, seed, Cases(seed)
        self.checks = {lab.name: checks_of(lab) for lab in labs}
        every = [check for checks in self.checks.values() for check in checks.values()]
        if len(every) < FEWEST:
            raise LookupError(too_little_to_ask_about(labs))
        for number, check in enumerate(every):
            progress(number, len(every), check.name)
            self.known.of(check)
        self.ways = [*islice(self._to_be_searched(every, random.Random(f"{seed}/searched")), WAYS)]
        self.variants = [*_variants(labs, self.known.judge, random.Random(f"{seed}/variants"))]

    @property
    def kinds(self) -> list[str]:
        return [FIND, FIND, RESULTS, PREDICT if self.variants else RESULTS, REASON]

    def _to_be_searched(self, checks: Sequence[Check], draw: random.Random) -> Iterator[set[str]]:
        """The exercises in which students look for the change, in the order in which papers try them: first half of those that are
        long enough, beginning with those whose results nobody can write down; then any two, any one, and none. They are drawn for
        the class, and the papers ask other things about the other exercises, because those show the code without the change, or
        inputs on which it matters."""
        long_enough = [check for check in checks if _is_long(check)]
        draw.shuffle(long_enough)
        long_enough.sort(key=self._has_results)
        names = [check.exercise for check in long_enough]
        yield {*names[: min((len(names) + 1) // 2, len(checks) - 1)]}
        for count in (2, 1, 0):
            yield from map(set, islice(combinations(names, count), WAYS // 2 - 1))

    def _has_results(self, check: Check) -> bool:
        return len({_result_text(tree) for tree in self.known.of(check)[1] if answerable(tree)}) >= len(ASKED)


def too_little_to_ask_about(labs: Sequence[Lab]) -> str:
    """What is said of labs whose functions do not suffice for a paper, with what to do."""
    numbers = [lab.number for lab in labs]
    named, other = " ".join(numbers), "03a" if "01a" in numbers else "01a"
    if len(numbers) == 1:
        return speak(
            "lab {lab} has too few functions for an exam: name another lab as well, such as `rushlight exam {lab} {other}`",
            lab=named,
            other=other,
        )
    return speak(
        "labs {labs} have too few functions for an exam: name another lab as well, such as `rushlight exam {labs} {other}`",
        labs=named,
        other=other,
    )


def _is_long(check: Check) -> bool:
    lines = walk.lines_of(reference_cell(Lab(check.lab), check.exercise), check.exercise.rpartition(".")[2])
    return len(lines) >= SHORTEST and 0 < len(check.edges[0]) <= MOST_PARAMETERS


class Drawing:
    """Draws the items of one student."""

    def __init__(self, material: Material, cells: dict[str, dict[str, str]], isolated: bool, draw: random.Random):
        self.material, self.cells, self.isolated, self.draw = material, cells, isolated, draw
        self.used: dict[str, int] = {}  # how many items ask about a function, or a lab
        self.searched: set[str] = set()  # the functions in which a change is to be found
        self.shown: set[str] = set()  # those of other items
        self.to_be_searched = material.ways[0]
        self.functions: dict[str, Function] = {}
        self.why: dict[str, str] = {}  # for each function that is the course's own
        self.allowance = own_allowance(material.labs[0])

    def own(self, lab: Lab, exercise: str) -> str:
        """The cell of the student's own function, as far as it can be read. Empty if there is none."""
        cell = self.cells.get(lab.name, {}).get(exercise, "")
        function = walk.function_in(cell, exercise.rpartition(".")[2])
        return cell if function and cell != reference_cell(lab, exercise) and walk.lines_of(cell, function.name) else ""

    def function(self, lab: Lab, exercise: str) -> Function:
        """The student's function if it is right, or else the course's own."""
        if exercise not in self.functions:
            check, known, why = self.material.checks[lab.name][exercise], self.material.known, ""
            if own := self.own(lab, exercise):
                mine = Function(lab, exercise, check, own, True, known, self.isolated, self.allowance)
                if not (why := mine.why_not()):
                    self.functions[exercise] = mine
                mine.close()
            elif not self.cells.get(lab.name):
                why = "the lab was not handed in"
            elif self.cells[lab.name].get(exercise, "") != reference_cell(lab, exercise):
                why = "the cell has no function that can be read"
            if exercise not in self.functions:
                self._take_reference(lab, exercise, why)
        return self.functions[exercise]

    def _take_reference(self, lab: Lab, exercise: str, why: str) -> None:
        check, given = self.material.checks[lab.name][exercise], reference_cell(lab, exercise)
        self.functions[exercise] = Function(lab, exercise, check, given, False, self.material.known, self.isolated)
        self.why[exercise] = why

    def is_steady(self, function: Function, changed: Changed) -> bool:
        """Whether a new process has the same results of a change again. The course's own function takes the place of one that is
        not right there without the change."""
        if not function.is_own:
            return True
        if self.functions[function.exercise] is not function:
            return False
        if not function.is_right_again:
            self._take_reference(function.lab, function.exercise, "it does not give the same each time")
            return False
        return function.gives_again(changed)

    def begin(self, to_be_searched: set[str]) -> None:
        """Forget the items that were drawn. What was tried is known."""
        self.used, self.searched, self.shown, self.to_be_searched = {}, set(), set(), to_be_searched
        for function in self.functions.values():
            function.asked.clear()

    def may_show(self, names: set[str], is_searched: bool) -> bool:
        """Whether an item that shows functions of these names gives no other item away. A student who sees a function elsewhere on
        the paper, as it is or with another change, sees which line was changed."""
        return not names & (self.searched | self.shown if is_searched else self.searched)

    def order(self, is_searched: bool) -> Iterator[Function]:
        """The functions for an item in which a change is to be found, or for another one: first those that were asked about
        least, of a lab that was asked about least, that the student has written, and otherwise than the course; last those that
        are short, or whose program is long."""
        pairs = [(lab, exercise) for lab in self.material.labs for exercise in self.material.checks[lab.name]]
        self.draw.shuffle(pairs)
        pairs = [pair for pair in pairs if (pair[1] in self.to_be_searched) == is_searched]
        pairs = [pair for pair in pairs if self.may_show({pair[1].rpartition(".")[2]}, is_searched)]

        def weight(pair: tuple[Lab, str]) -> tuple:
            (lab, exercise), name = pair, pair[1].rpartition(".")[2]
            given = shown(reference_cell(lab, exercise), name)
            cell = self.own(lab, exercise)
            with suppress(AssertionError, RecursionError, ValueError):
                cell = cell and shown(cell, name)
            return (
                self.used.get(exercise, 0),
                len(walk.lines_of(cell or given, name)) < SHORTEST,
                len(program_of(self.material.checks[lab.name][exercise]).splitlines()) > PLAIN_PROGRAM,
                self.used.get(lab.name, 0),
                not cell,
                cell == given,
            )

        later = []
        for pair in sorted(pairs, key=weight):
            function = self.function(*pair)
            if len(function.lines) > LONGEST or len(function.cases) < CASES // 4:
                continue
            if not self.may_show(function.defined, is_searched):
                continue
            if function.is_own or not self.own(*pair):
                yield function
            else:  # the student's own one fails
                later.append(function)
        yield from later

    def items(self) -> list[tuple[Item, Key]]:
        """The items of a paper. Raises LookupError if there are too few functions for it, whichever of them are to be searched."""
        for to_be_searched in self.material.ways:
            self.begin(to_be_searched)
            with suppress(LookupError):
                return [self.item(kind, number) for number, kind in enumerate(self.material.kinds, 1)]
        raise LookupError(too_little_to_ask_about(self.material.labs))

    def item(self, kind: str, number: int) -> tuple[Item, Key]:
        if kind == PREDICT:
            return _prediction(str(number), self.draw.choice(self.material.variants))
        for make in MAKERS[kind]:
            is_searched = make is Drawing._find
            for function in self.order(is_searched):
                try:
                    made = make(self, function, str(number))
                except (NotAsked, RecursionError):
                    made = None
                finally:
                    function.close()
                if made:
                    function.asked.add(made[1].changed)
                    (self.searched if is_searched else self.shown).update(function.defined)
                    made[1].why = self.why.get(function.exercise, "")
                    self.used[function.exercise] = self.used.get(function.exercise, 0) + 1
                    self.used[function.lab.name] = self.used.get(function.lab.name, 0) + 1
                    return made
        raise LookupError(too_little_to_ask_about(self.material.labs))

    def _some(self, places: list[Any]) -> list[Any]:
        functions = sum(map(len, self.material.checks.values()))
        tried = max(TRIED, TRIED * len(self.material.kinds) // functions)  # more of each where there are few functions
        return self.draw.sample(places, min(len(places), tried))

    # The kinds of items

    def _find(self, function: Function, number: str) -> tuple[Item, Key] | None:
        if (
            not 0 < len(function.cases[0]) <= MOST_PARAMETERS
            or len(walk.lines_of(function.cell, function.name)) < SHORTEST
        ):
            return None

        def items() -> Iterator[Candidate]:
            for changed in function.changed(function.replaced(self._some)):
                short, differs = [i for i, case in enumerate(function.cases) if _is_short(case)], {*changed.differs}
                same, apart = [i for i in short if i not in differs], [i for i in short if i in differs]
                if same and apart:
                    form, example = (function.cases[function.simplest(some)[0]] for some in (same, apart))
                    item = self._find_item(function, number, changed, form, function.check.in_order(example))
                    yield (_raising(changed) > 0.5,), changed, item

        return self._first(function, items())

    def _first(self, function: Function, items: Iterator[Candidate]) -> tuple[Item, Key] | None:
        """The first item in whose order nothing is against it, or else the best one, if its change is steady."""
        later = []
        for order, changed, item in items:
            if any(order):
                later.append((order, changed, item))
            elif self.is_steady(function, changed):
                return item
        later.sort(key=lambda each: each[0])
        return next((item for _, changed, item in later if self.is_steady(function, changed)), None)

    def _find_item(
        self, function: Function, number: str, changed: Changed, form: dict, example: dict
    ) -> tuple[Item, Key]:
        names = [*function.check.in_order(form)]
        paragraphs = [
            *_beside_contract(function, changed),
            speak(
                "Give an input of this program on which it no longer gives what is right, and the number of the changed line."
                " Any such input counts, if the line is right too. The form of an input is there already: on this one, nothing is"
                " wrong. If you would mend another line instead, write in place of the number how that line"
                " should read: `7: return x`, for line 7."
            ),
        ]
        others = [case for i, case in enumerate(function.cases) if i not in {*changed.differs} and _is_short(case)]
        paragraphs += _other_forms(form, others)
        paragraphs += _choices(function)
        points = dict.fromkeys(names, 0.0) | {names[0]: 2.0}
        fields = [Field(f"{number}.{name}", f"`{name}`", "value", points[name], as_text(form[name])) for name in names]
        fields.append(Field(f"{number}.line", speak("The line"), "value", 1.0))
        title = speak("`{name}`, changed: where, and for which input?", name=function.name)
        right = [
            speak("Line {line} was", line=changed.line),
            _code(changed.change.before),
            speak("It differs on {count} of {all} drawn inputs, for example on", **_counted(function, changed)),
            _case(example),
            speak("Torch gives"),
            _code(show(function.theirs[function.cases.index(example)])),
        ]  # fmt: skip
        key = Key(
            FIND, function.lab.name, function.check.name, function.cell, changed.change.source, changed.line,
            form, right=right, is_own=function.is_own,
        )  # fmt: skip
        return Item(number, title, paragraphs, fields), key

    def _results(self, function: Function, number: str) -> tuple[Item, Key] | None:
        for changed in function.changed(function.replaced(self._some)):
            fit = [i for i in changed.differs if _is_short(function.cases[i]) and answerable(changed.results[i])]
            by_text: dict[str, int] = {}
            fit = [i for i in fit if not _is_seen(changed.results[i], function.cases[i])]
            for i in function.simplest(fit):
                by_text.setdefault(_result_text(changed.results[i]), i)
            errors = [text for text in by_text if is_error(result_of(changed.results[by_text[text]]))]
            for text in errors[1:]:
                del by_text[text]
            if len(by_text) < len(ASKED):
                continue
            if not self.is_steady(function, changed):
                continue
            positions = self.draw.sample([*by_text.values()][:8], len(ASKED))
            return self._results_item(function, number, changed, positions)
        return None

    def _results_item(
        self, function: Function, number: str, changed: Changed, positions: list[int]
    ) -> tuple[Item, Key]:
        paragraphs = [
            _whose(function),
            _numbered(changed.code),
            speak("One place of it was changed. The check calls it in this program:"),
            _code(program_of(function.check)),
            speak(
                "What does the program give in these three cases, with the function as it is above? It is not what is right."
                " Write a tensor as a list of its sizes, strides and storage offset, a tuple as a list, and for an exception the"
                " name of its class."
            ),
        ]
        fields, expected, right = [], [], []
        for letter, i in zip(ASKED, positions):
            case = function.check.in_order(function.cases[i])
            paragraphs += [f"({letter})", _case(case)]
            fields.append(Field(f"{number}.{letter}", f"({letter})", "value", 1.0))
            expected.append(result_of(changed.results[i]))
            right.append(f"({letter}) `{_result_text(changed.results[i])}`")
        if any("tensor(" in part for part in paragraphs[6::2]):
            paragraphs.insert(5, speak(TENSOR))
        if any("{" in _result_text(one) for one in expected):
            paragraphs.insert(5, speak("A dictionary is written as in Python, with the names that the program gives."))
        title = speak("`{name}`, changed: what does it give?", name=function.name)
        right.append(speak("Line {line} was", line=changed.line))
        right.append(_code(changed.change.before))
        key = Key(
            RESULTS, function.lab.name, function.check.name, function.cell, changed.change.source, changed.line,
            expected=expected, right=right, is_own=function.is_own,
        )  # fmt: skip
        return Item(number, title, paragraphs, fields), key

    def _which(self, function: Function, number: str) -> tuple[Item, Key] | None:
        """For results that nobody can write down."""
        for changed in function.changed(function.replaced(self._some)):
            short, differs = [i for i, case in enumerate(function.cases) if _is_short(case)], {*changed.differs}
            wrong = self.draw.randint(2, len(LETTERED) - 2)
            simple = {is_wrong: [i for i in short if (i in differs) == is_wrong] for is_wrong in (True, False)}
            simple = {is_wrong: function.simplest(some)[: 2 * len(LETTERED)] for is_wrong, some in simple.items()}
            counts = {True: wrong, False: len(LETTERED) - wrong}
            if all(len(simple[one]) >= counts[one] for one in counts) and self.is_steady(function, changed):
                positions = [i for one in counts for i in self.draw.sample(simple[one], counts[one])]
                self.draw.shuffle(positions)
                return self._which_item(function, number, changed, positions)
        return None

    def _which_item(self, function: Function, number: str, changed: Changed, positions: list[int]) -> tuple[Item, Key]:
        cases = [function.check.in_order(function.cases[i]) for i in positions]
        paragraphs = [
            *_beside_contract(function, changed),
            speak(
                "In which of these six cases does it no longer give what is right? Write their letters, such as `b e`. There are"
                " two to four. One letter too many or too few leaves one point of three."
            ),
        ]
        if any("tensor(" in as_text(value) for case in cases for value in case.values()):
            paragraphs.append(speak(TENSOR))
        for letter, case in zip(LETTERED, cases):
            paragraphs += [f"({letter})", _case(case)]
        wrong = [(letter, i) for letter, i in zip(LETTERED, positions) if i in {*changed.differs}]
        right = [speak("Line {line} was", line=changed.line), _code(changed.change.before)]
        for letter, i in wrong:
            now, then = show(function.theirs[i]), show(result_of(changed.results[i]))
            right.append(f"({letter}) " + speak("{then} instead of {now}", then=_short(then), now=_short(now)))
        key = Key(
            WHICH, function.lab.name, function.check.name, function.cell, changed.change.source, changed.line,
            expected=[letter for letter, _ in wrong], right=right, is_own=function.is_own,
        )  # fmt: skip
        fields = [Field(f"{number}.letters", speak("The letters"), "value", 3.0)]
        title = speak("`{name}`, changed: in which cases is it wrong?", name=function.name)
        return Item(number, title, paragraphs, fields), key

    def _reason(self, function: Function, number: str) -> tuple[Item, Key] | None:
        given = {line.strip() for line in function.lines_of_reference()}
        for changes in (function.left_out, function.replaced):
            if item := self._first(function, self._reasons(function, number, changes, given)):
                return item
        return None

    def _reasons(
        self, function: Function, number: str, changes: Callable[..., Iterator[Any]], given: set[str]
    ) -> Iterator[Candidate]:
        for changed in function.changed(changes(self._some)):
            if apart := [i for i in changed.differs if _is_short(function.cases[i])]:
                order = (changed.change.before in given, _raising(changed) > 0.5)
                yield order, changed, self._reason_item(function, number, changed, function.simplest(apart)[0])

    def _reason_item(self, function: Function, number: str, changed: Changed, i: int) -> tuple[Item, Key]:
        line = changed.line
        paragraphs = [_whose(function), _numbered(function.code)]
        if changed.change.after:
            paragraphs += [speak("Suppose that line {line} were", line=line), _code(changed.change.after)]
            paragraphs.append(speak("For which inputs would that matter, what would go wrong there, and why?"))
        else:
            paragraphs.append(
                speak(
                    "Why is line {line} there, with what belongs to it? For which inputs does it matter, and what would go wrong"
                    " with `pass` in its place?",
                    line=line,
                )
            )  # fmt: skip
        case = function.check.in_order(function.cases[i])
        said = "; ".join(f"{name} = {as_text(value)}" for name, value in case.items())
        now, then = show(function.theirs[i]), show(result_of(changed.results[i]))
        found = speak(
            "It matters for {count} of {all} drawn inputs, such as {case}: {then} instead of {now}",
            **_counted(function, changed), case=said, then=_short(then), now=_short(now),
        )  # fmt: skip
        rubric = "\n".join(
            [
                f"- 1 point: {speak('says for which inputs the line matters')}",
                f"- 1 point: {speak('says what the function would do there')}",
                f"- 1 point: {speak('says why the contract asks for the line')}",
                "",
                found,
            ]
        )
        fields = [Field(f"{number}.why", speak("In a few sentences"), "text", 3.0)]
        title = speak("`{name}`: why line {line}?", name=function.name, line=line)
        key = Key(
            REASON, function.lab.name, function.check.name, function.cell, changed.change.source, line,
            right=[found], rubric=rubric, is_own=function.is_own,
        )  # fmt: skip
        return Item(number, title, paragraphs, fields), key


def _counted(function: Function, changed: Changed) -> dict[str, int]:
    return {"count": len(changed.differs), "all": len(function.cases)}


def _raising(changed: Changed) -> float:
    """The share of the results that differ which are exceptions."""
    return sum(is_error(result_of(changed.results[i])) for i in changed.differs) / len(changed.differs)


def _is_short(case: dict) -> bool:
    try:
        return sum(len(as_text(value)) for value in case.values()) <= 160
    except NotAsked:
        return False


def _is_seen(tree: Tree, case: dict) -> bool:
    """Whether a result is a value of its case, or a part of one: who repeats what is on the paper has it."""
    parts = [part for value in case.values() for part in (value, *(value if isinstance(value, list) else ()))]
    result = result_of(tree)
    return not is_error(result) and _is_among(as_text(plain(result)), parts)


def _is_among(text: str, values: list[Tree]) -> bool:
    for value in values:
        with suppress(NotAsked):
            if as_text(value) == text:
                return True
    return False


def _is_written(tree: Tree) -> bool:
    with suppress(NotAsked):
        return bool(as_text(plain(tree)))
    return False


def _result_text(tree: Tree) -> str:
    tree = result_of(tree)
    return str(tree["type"]) if is_error(tree) else as_text(plain(tree))


def _short(text: str, most: int = 120) -> str:
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[:most]} ..."


def _other_forms(form: dict, others: list[dict]) -> Iterator[str]:
    """How a tensor is written, and for each parameter the simplest values that have what its form has not."""
    if any("tensor(" in as_text(value) for case in [form, *others] for value in case.values()):
        yield speak(TENSOR)
    for name, value in form.items():
        texts, seen = (
            sorted({as_text(case[name]) for case in others}, key=lambda text: (len(text), text)),
            as_text(value),
        )
        found = []
        for sign in ("tensor(", "{", "[", "None"):
            if sign not in seen and (text := next((text for text in texts if sign in text), "")):
                found.append(f"`{text}`")
                seen += text
        if found:
            yield speak("`{name}` may also be such as {texts}.", name=name, texts=", ".join(found))


def _choices(function: Function) -> Iterator[str]:
    """For each parameter that is a word, or a list of words, the words that may be there."""
    for name in function.check.in_order(function.cases[0]):
        values = [case[name] for case in function.cases]
        words = [word for value in values for word in (value if isinstance(value, list) else [value])]
        if words and all(isinstance(word, str) for word in words) and len({*words}) <= 20:
            said = ", ".join(f"`{word!r}`" for word in sorted({*words}))
            yield speak("In `{name}` may be {words}.", name=name, words=said)


def _whose(function: Function) -> str:
    values = {"name": function.name, "lab": function.lab.number}
    if function.is_own:
        return speak("Your `{name}` of lab {lab}, without remarks, in a layout of its own:", **values)
    return speak("The course's own `{name}` of lab {lab}:", **values)


def _beside_contract(function: Function, changed: Changed) -> list[str]:
    return [
        _whose(function),
        _numbered(changed.code),
        speak("One place of it was changed. What it should do, as in the lab:"),
        _contract(function.exercise),
        speak("The check calls it in this program:"),
        _code(program_of(function.check)),
    ]


def _contract(exercise: str) -> str:
    text = function_of(exercise).__doc__ or ""
    if rules := RULES.search(text):  # the last section, which would be cut
        idea, _, rest = RULES.sub("", text).partition("\n\n")
        text = "\n\n".join([idea, rules[0].strip("\n"), rest])
    lines = text.split("\n")[:LONGEST_CONTRACT]
    return _code("\n".join(line.removeprefix("    ") for line in lines).strip())


@cache
def program_of(check: Check) -> str:
    """The program of a check as a reader sees it, with the functions and the short values of the checks that it uses."""
    found: dict[str, str] = {}
    _add_used(ast.parse(text := shown_source(check.program)), inspect.unwrap(check.program).__globals__, found)
    return "\n\n".join([*reversed(found.values()), text])


def _add_used(tree: ast.AST, names: dict[str, Any], found: dict[str, str]) -> None:
    every = [*ast.walk(tree)]
    bound = {node.arg for node in every if isinstance(node, ast.arg)}
    bound |= {node.id for node in every if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    for node in every:
        if not isinstance(node, ast.Name) or node.id in bound or node.id in found or node.id not in names:
            continue
        value = names[node.id]
        if isinstance(value, (bool, int, float, str, list, tuple, set, dict)) and _is_shown(repr(value)):
            found[node.id] = f"{node.id} = {value!r}"
        elif isinstance(value, dict) and all(isinstance(key, str) for key in value):
            found[node.id] = f"{node.id} = {{{', '.join(f'{key!r}: ...' for key in value)}}}"
        elif inspect.isfunction(value) and value.__module__.startswith(CHECKS):
            found[node.id] = text = _source_of(value)
            if len(text.splitlines()) > LONGEST_HELPER:
                said = indent(f'"""{inspect.getdoc(value) or ""}"""', "    ")
                found[node.id] = f"{text.partition(NEXT)[0]}{NEXT}{said}"
            else:
                _add_used(ast.parse(text), value.__globals__, found)


def _is_shown(text: str) -> bool:
    return len(text) <= 100 and " at 0x" not in text


def _source_of(function: Callable) -> str:
    try:
        return source(function)
    except StopIteration:  # a lambda, or a function that another one has made
        return dedent(inspect.getsource(function)).strip()


def _numbered(code: str) -> str:
    return _code("\n".join(f"{number:>3}  {line}" for number, line in enumerate(code.splitlines(), 1)))


def _case(case: dict) -> str:
    return _code("\n".join(f"{name} = {as_text(value)}" for name, value in case.items()))


def _code(text: str) -> str:
    return "\n".join(f" {line}" for line in text.splitlines())


# Of the same points, if no function has one of the first kind
MAKERS: dict[str, list[Callable[[Drawing, Function, str], tuple[Item, Key] | None]]] = {
    FIND: [Drawing._find, Drawing._results, Drawing._which],
    RESULTS: [Drawing._results, Drawing._which, Drawing._find],
    REASON: [Drawing._reason],
}

# Predictions ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Variant:
    """A program of a lab's prediction that is none of the lab's own, and torch's answer."""

    check: str
    lab: str
    program: str
    answer: Tree


def _variants(labs: Sequence[Lab], judge: Judge, draw: random.Random) -> Iterator[Variant]:
    """Variants whose answers are not those of any program in the lab."""
    for check in registry().values():
        if check.prediction and check.show and any(check.lab == lab.name for lab in labs):
            yield from _variants_of(check, judge, draw)


def _variants_of(check: Check, judge: Judge, draw: random.Random, most: int = VARIANTS) -> Iterator[Variant]:
    if check.is_drawn:
        known, programs = list[Tree](), _other_programs(check, judge, draw, most)
    else:
        names = [name for name in _table(check) if name != "example"]
        known = judge.answers(check, [{"program": name} for name in _table(check)]) if names else []
        programs = _programs_nearby(check, names, judge, draw)
    made = 0
    for text, answer in programs:
        if not answer or is_error(answer) or any(difference(answer, other) is None for other in known):
            continue
        if len(json.dumps(answer)) > 400 or not _is_written(answer):
            continue
        known.append(answer)
        yield Variant(check.name, check.lab, text, answer)
        made += 1
        if made == most:
            return


def _other_programs(check: Check, judge: Judge, draw: random.Random, most: int) -> Iterator[tuple[str, Tree]]:
    """Programs of a prediction's grammar that no student has in the lab, and torch's answers. Torch is asked about many of them
    together, because some predictions need ranks."""
    assert check.show is not None
    sample = draw.sample(range(draws.POOL, 10 * draws.POOL), 2 * most)
    for numbers in (sample[:most], sample[most:]):
        answers = judge.answers(check, [{"number": number} for number in numbers])
        for number, answer in zip(numbers, answers, strict=True):
            yield check.show(None, number), answer


def _programs_nearby(check: Check, names: list[str], judge: Judge, draw: random.Random) -> Iterator[tuple[str, Tree]]:
    """The programs of a lab's prediction with one place changed, and torch's answers."""
    programs = _table(check)
    texts = {text: name for name in names for text in _changed_programs(programs[name])}
    for text in draw.sample([*texts], min(len(texts), 2 * VARIANTS)):
        programs["variant"] = text
        try:
            answer = judge.answer(check, {"program": "variant"})
        except Exception:  # a program that does not run, or an oracle that reads no text
            continue
        finally:
            del programs["variant"]
        yield text, answer


def _table(check: Check) -> dict[str, str]:
    """The programs of a prediction by their names. (`predicted` closes over them.)"""
    for cell in getattr(check.show, "__closure__", None) or ():
        if isinstance(cell.cell_contents, dict):
            return cell.cell_contents
    return {}


_OTHER_METHOD = {
    "exp": "sin",
    "sin": "cos",
    "relu": "sigmoid",
    "mul": "add",
    "sum": "mean",
    "add_": "mul_",
    "tanh": "exp",
}


def _changed_programs(text: str) -> Iterator[str]:
    """The program with one constant, operator or method changed. Its remarks and its layout stay."""
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return
    lines = text.encode().splitlines(keepends=True)
    for node, _ in replaceable_nodes(tree):
        if not isinstance(node, ast.expr) or node.lineno != node.end_lineno:
            continue
        others = [*arithmetic(node, []), *constant(node, [])]
        if isinstance(node, ast.Attribute) and node.attr in _OTHER_METHOD:
            others.append(ast.Attribute(node.value, _OTHER_METHOD[node.attr], ast.Load()))
        line = lines[node.lineno - 1]
        for other in others:
            new = ast.unparse(other).encode()
            changed = line[: node.col_offset] + new + line[node.end_col_offset :]
            yield b"".join([*lines[: node.lineno - 1], changed, *lines[node.lineno :]]).decode()


def _prediction(number: str, variant: Variant) -> tuple[Item, Key]:
    exercise = variant.check.rpartition(".")[2]
    paragraphs = [
        speak("As in the prediction `{name}` of lab {lab}:", name=exercise, lab=Lab(variant.lab).number),
        _contract(variant.check),
        speak("What is it for this program?"),
        _code(variant.program),
        *([speak("Your answer is what the lab has under one letter.")] if find(variant.check).is_drawn else []),
    ]
    fields = [Field(f"{number}.a", speak("The whole answer"), "value", 2.0)]
    right = [f"`{as_text(plain(variant.answer))}`"]
    key = Key(PREDICT, variant.lab, variant.check, expected=[variant.answer], right=right)
    return Item(number, speak("Predict: `{name}`", name=exercise), paragraphs, fields), key


# A paper -------------------------------------------------------------------------------------------------------------


def exam_of(
    name: str, student: str, material: Material, cells: dict[str, dict[str, str]], isolated: bool, seed: object
) -> Exam:
    """The exam of one student. The same seed gives the same one. Raises LookupError if the labs have too little to ask about."""
    draw = random.Random(f"{seed}/{name}/{student}")
    drawing = Drawing(material, cells, isolated, draw)
    pairs = drawing.items()
    letters = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"
    code = "".join(draw.choice(letters) for _ in range(6))
    secret = secrets.token_hex(32)
    paper = Paper(name, student, f"{code[:3]}-{code[3:]}", MINUTES, language(), [item for item, _ in pairs], secret)
    return Exam(paper, {item.key: key for item, key in pairs})


def exam_in_limits(*given: Any) -> Exam:
    """The same, in a process under limits: the student's text is looked at there."""
    return limited(lambda _: exam_of(*given), given[1])


# One item, for a review ----------------------------------------------------------------------------------------------


ONE_SECONDS = 15.0  # of own time for what is tried of the function


class _OneFunction(Material):
    """One function of a student, and nothing else, to be asked about."""

    def __init__(self, lab: Lab, exercise: str, seed: int):
        checks = {name: check for name, check in checks_of(lab).items() if name == exercise}
        self.labs, self.seed, self.known, self.checks = [lab], seed, Cases(seed), {lab.name: checks}
        self.ways, self.variants = [set()], []


def change_of(lab: Lab, exercise: str, isolated: bool, seed: int) -> Exam | None:
    """An exam of one item: what a student's function in `work/` gives with one change, or in which cases it is then wrong. None if
    the function is not right, or if it has no such item."""
    material = _OneFunction(lab, exercise, seed)
    cells = {lab.name: cells_of_file(lab, read_notebook(lab.work_path))}
    drawing = Drawing(material, cells, isolated, random.Random(seed))
    drawing.allowance.left = ONE_SECONDS
    if not material.checks[lab.name] or not drawing.function(lab, exercise).is_own:
        return None
    with suppress(LookupError):
        return _of_one_item(*drawing.item(RESULTS, 1))
    return None


def prediction_of(check: str, seed: int) -> Exam | None:
    """An exam of one item: a prediction of a lab, for a program that no student has there. None if no answer can be written."""
    variant = next(_variants_of(find(check), Judge(seed), random.Random(seed), 4), None)
    return _of_one_item(*_prediction("1", variant)) if variant else None


def _of_one_item(item: Item, key: Key) -> Exam:
    return Exam(Paper("", "", "", 0, language(), [item], ""), {item.key: key})
