"""Copies of a function with one place changed, tried on 200 cases of its check: what an exam asks about.

The function is alone in its sandbox, on the course's own pieces, as in `classroom/oral.py`. A change is asked about if the function
then differs from torch on some of the cases, and not on most: neither an empty question, nor one that any input answers.
"""

from __future__ import annotations

import ast
import difflib
import inspect
import json
import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ..classroom import walk
from ..classroom.join import parsed
from ..classroom.oral import Trials
from ..engine.check import Check, function_of, is_milestone, is_on_torch, registry
from ..engine.judge import Judge, complexity
from ..engine.limits import Allowance
from ..engine.observe import Malformed, Tree, difference, is_error, result_of
from ..engine.run import FAILURES
from ..engine.torch_source import TorchSource
from ..model import Lab, exercise_name
from .values import MOST_TEXT, NotAsked, as_text, plain, read_value

CASES = 200
FEW = 60  # cases: a change that shows on none of them is not tried on the others
LEAST, MOST = 0.03, 0.60  # the share of the cases on which a change must show
SHORTEST, LONGEST = 4, 45  # lines of a function that is asked about
ROUNDS = 12  # of draws, for so many different cases
SECONDS = (15.0, 45.0)  # for all cases at once, in a lab on rushlight and in one on torch


# `if True:`, `x = x`, `x - x`, `== -1`: nobody writes that, and it needs no contract to see it
_AT_ONCE = re.compile(
    r"\b(?:if|while|and|or) (?:not )?(?:True|False)\b|\b(\w+) (?:[-+*/%<>=!]+|is|in) \1\b(?![.(\[])|[=<>]= -1\b"
)


@dataclass(frozen=True)
class Changed:
    """A change, the number of its line in the code that is shown, and what the program gives on each case with it."""

    change: walk.Change
    line: int
    code: str
    results: list[Tree]
    differs: list[int]  # the positions of the cases on which it differs from torch


class Cases:
    """The cases that a check draws, and torch's answers. Each check is drawn once for a class."""

    def __init__(self, seed: int):
        self.seed, self._known, self.judge = seed, dict[str, tuple[list[dict], list[Tree]]](), Judge(seed)

    def of(self, check: Check) -> tuple[list[dict], list[Tree]]:
        if check.name not in self._known:
            cases: dict[str, dict] = {}
            for number in range(ROUNDS):
                cases |= {
                    json.dumps(case, sort_keys=True): case for case in TorchSource(self.seed + number).draw(check)
                }
                if len(cases) >= CASES:
                    break
            every = [*cases.values()][:CASES]
            self._known[check.name] = every, self.judge.answers(check, every)
        return self._known[check.name]


def can_be_asked_about(check: Check) -> bool:
    """Whether the cases of a check are values that somebody can write down, and its results are compared."""
    plain_check = not (check.examine or check.prediction or check.is_text or check.disposable or check.show)
    if not plain_check or is_milestone(check.name) or hasattr(check.program, "for_cases") or not check.edges:
        return False
    try:
        return all(len(as_text(value)) <= MOST_TEXT for value in check.edges[0].values())
    except NotAsked:
        return False


def checks_of(lab: Lab) -> dict[str, Check]:
    """For each exercise of a lab that can be asked about, the first of its checks that can."""
    found: dict[str, Check] = {}
    for check in registry().values():
        if check.lab == lab.name and can_be_asked_about(check):
            found.setdefault(check.exercise, check)
    return {name: found[name] for name in lab.exercises if name in found}


def reference_cell(lab: Lab, exercise: str) -> str:
    """The cell of an exercise with the course's own function."""
    given = next("".join(cell["source"]) for cell in lab.released["cells"] if exercise_name(cell) == exercise)
    return walk.with_body_of(given, exercise.rpartition(".")[2], inspect.getsource(function_of(exercise)))


def shown(cell: str, name: str) -> str:
    """The code of a cell in one layout, without remarks and docstrings, so that no change is seen by its looks."""
    tree = parsed(cell, commands=False)
    assert tree is not None
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and ast.get_docstring(node) is not None:
            node.body = node.body[1:] or [ast.Pass()]
        if isinstance(node, ast.FunctionDef) and node.name == name:
            node.decorator_list = []
    return ast.unparse(tree)


class Function:
    """One function of a student in a lab, or the course's own in its place."""

    def __init__(self, lab: Lab, exercise: str, check: Check, cell: str, is_own: bool, known: Cases, isolated: bool):
        self.lab, self.exercise, self.check, self.known, self.is_own = lab, exercise, check, known, is_own
        self.name = exercise.rpartition(".")[2]
        self.cell, self.isolated = cell, isolated
        self.trials: Trials | None = None
        self.usual: float | None = None  # seconds for all cases
        self.chosen: dict[str, list[Any]] = {}  # the places of changes that are tried, drawn once
        self.tried: dict[str, list[Tree]] = {}  # what changed copies give on the cases
        self.asked: set[str] = set()  # the copies that an item is about
        self.limit = SECONDS[is_on_torch(lab.name)]

    @cached_property
    def code(self) -> str:
        return shown(self.cell, self.name)

    @cached_property
    def lines(self) -> list[str]:
        return self.code.splitlines()

    @cached_property
    def is_like_reference(self) -> bool:
        return self.lines == self.lines_of_reference()

    def lines_of_reference(self) -> list[str]:
        return shown(reference_cell(self.lab, self.exercise), self.name).splitlines()

    @property
    def cases(self) -> list[dict]:
        return self.known.of(self.check)[0]

    @property
    def theirs(self) -> list[Tree]:
        return self.known.of(self.check)[1]

    @cached_property
    def is_right(self) -> bool:
        """Whether the function, as it is, agrees with torch on all cases."""
        return not any(self._differing(self.run(self.cell)) or [0] * (not self.cases))

    def run(self, cell: str, cases: list[dict] | None = None, limit: float | None = None) -> list[Tree]:
        """What the check's program gives on each case with this cell. Empty if one takes longer than `limit` seconds, or ends the
        process."""
        try:
            if self.trials is None:
                self.trials = Trials(self.lab, self.isolated, Allowance(is_on_torch(self.lab.name)))
                self.trials.prepare(self.exercise)
            if any(output.output_type == "error" for output in self.trials.session.try_cell(cell, self.limit)):
                return []
            return self.trials.observe(self.check.name, self.cases if cases is None else cases, limit)
        except (*FAILURES, RecursionError, ValueError):
            return []

    def is_mended(self, changed: str, line: int, text: str) -> bool:
        """Whether a changed copy agrees with torch on all cases once a line of the code that is shown reads so."""
        cell = self._with_line(changed, line, text)
        return bool(cell and self.cases) and not self._differing(self.run(cell))

    def _with_line(self, changed: str, line: int, text: str) -> str:
        """The cell with another line. Empty if this is no Python, is much longer, or brings other statements: a line is mended, and
        no function is written anew in it."""
        lines = shown(changed, self.name).splitlines()
        if not 1 <= line <= len(lines):
            return ""
        old, text = lines[line - 1], text.strip()
        if len(text) > 2 * len(old.strip()) + 20:
            return ""
        new = old[: len(old) - len(old.lstrip())] + text
        before, after = ("\n".join([*lines[: line - 1], each, *lines[line:]]) for each in (old, new))
        if _kinds(after) != _kinds(before) or walk.function_in(after, self.name) is None:
            return ""
        return walk.with_body_of(changed, self.name, after)

    def close(self) -> None:
        if self.trials is not None:
            self.trials.close()
            self.trials = None

    def _differing(self, results: list[Tree]) -> list[int]:
        if len(results) != len(self.cases):
            return [*range(len(self.cases))]
        return [i for i, (mine, other) in enumerate(zip(results, self.theirs)) if difference(mine, other)]

    def changed(self, places: Iterator[walk.Change]) -> Iterator[Changed]:
        """Those of the changes that can be asked about."""
        for change in places:
            try:
                code = shown(change.source, self.name)
            except (AssertionError, RecursionError, ValueError):
                continue
            line = self._only_line(code, is_missing=not change.after)
            if line is None:
                continue
            if change.source in self.asked:
                continue
            if change.source not in self.tried:
                self.tried[change.source] = self._results(change.source)
            results = self.tried[change.source]
            differs = self._differing(results)
            if results and LEAST * len(self.cases) <= len(differs) <= MOST * len(self.cases):
                yield Changed(change, line, code, results, differs)

    def _results(self, cell: str) -> list[Tree]:
        """What a changed copy gives on each case. Empty if one takes longer than all do with the function as it is, or if the
        first ones show no difference."""
        if self.usual is None:
            start = time.monotonic()
            self.run(self.cell)
            self.usual = time.monotonic() - start
        few, limit = self.cases[:FEW], 1 + self.usual
        first = self.run(cell, few, limit)
        if len(first) < len(few) or not any(map(difference, first, self.theirs)):
            return []
        rest = self.run(cell, self.cases[FEW:], limit)
        return first + rest if rest else []

    def _only_line(self, code: str, is_missing: bool) -> int | None:
        """The number of the only line that differs, or None if there are several. A missing one has its number before."""
        old, new = self.lines, code.splitlines()
        opcodes = [
            code for code in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes() if code[0] != "equal"
        ]
        if len(opcodes) != 1:
            return None
        _, start, end, _, new_end = opcodes[0]
        if is_missing:
            return start + 1
        return start + 1 if len(old) == len(new) and end - start == new_end - start == 1 else None

    def replaced(self, choose: Callable[[list[Any]], list[Any]]) -> Iterator[walk.Change]:
        """Changes of an expression, in an order of `choose`, without those that are seen at once."""
        if "replaced" not in self.chosen:
            places = [place for place in walk.places(self.cell, self.name) if not _AT_ONCE.search(place[1])]
            self.chosen["replaced"] = choose(places)
        for place in self.chosen["replaced"]:
            yield from walk.changes(self.cell, self.name, [place])

    def left_out(self, choose: Callable[[list[Any]], list[Any]]) -> Iterator[walk.Change]:
        """The function without one of its inner statements, in an order of `choose`."""
        if "left out" not in self.chosen:
            self.chosen["left out"] = choose(walk.inner_lines(self.cell, self.name))
        for line in self.chosen["left out"]:
            if change := walk.without(self.cell, self.name, line):
                yield change

    def simplest(self, positions: list[int]) -> list[int]:
        return sorted(positions, key=lambda i: (complexity(self.cases[i]), len(json.dumps(self.cases[i]))))


def _kinds(code: str) -> list[type] | None:
    tree = parsed(code, commands=False)
    return None if tree is None else [type(node) for node in ast.walk(tree) if isinstance(node, ast.stmt)]


def answerable(tree: Tree) -> bool:
    """Whether a result can be written down by hand."""
    try:
        return is_error(result_of(tree)) or len(as_text(plain(result_of(tree)))) <= 60
    except (NotAsked, Malformed):
        return False


def read_case(texts: dict[str, str], like: dict) -> dict:
    """The case that a student has written, a value for each parameter. Raises NotAsked with the reason."""
    return {name: read_value(texts.get(name, ""), like[name]) for name in like}
