"""Copies of a function with one place changed, tried on 200 cases of its check: what an exam asks about.

The function is alone in its sandbox, on the course's own pieces, as in `classroom/oral.py`. A change is asked about if the function
then differs from torch on some of the cases, and not on most: neither an empty question, nor one that any input answers.
"""

from __future__ import annotations

import ast
import builtins
import copy
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
from ..engine.limits import Allowance, seconds
from ..engine.observe import Malformed, NotGraded, Tree, difference, is_error, result_of
from ..engine.run import FAILURES
from ..engine.torch_source import TorchSource
from ..model import Lab, exercise_name
from .values import MOST_TEXT, NotAsked, as_text, plain, read_value

CASES = 200
FEW = 60  # cases: a change that shows on none of them is not tried on the others
LEAST, MOST = 0.03, 0.60  # the share of the cases on which a change must show
SHORTEST = 3  # statements of a function that is asked about: in a shorter one the line is no question
LONGEST = 45  # lines of it
ROUNDS = 12  # of draws, for so many different cases
LONGER = 30  # letters by which a mended line may be longer
LETTERS = 4000  # of the code that is shown
SECONDS = (20.0, 120.0)  # of own time for all cases at once, in a lab on rushlight and in one on torch
OWN_SECONDS = (120.0, 600.0)  # for all that is tried of one student's code: then the course's own takes its place

# A function that looks at itself, at its caller or at the time may do otherwise in an exam than on the cases that it was tried on
PLAIN_MODULES = {
    "__future__", "bisect", "builtins", "cmath", "collections", "contextlib", "copy", "dataclasses", "enum", "fractions",
    "functools", "heapq", "itertools", "math", "numbers", "numpy", "operator", "re", "rushlight", "statistics", "string", "struct",
    "torch", "triton", "types", "typing", "warnings",
}  # fmt: skip
OF_OTHERS = {  # modules that a module has as names
    "ctypes", "gc", "importlib", "inspect", "os", "random", "subprocess", "sys", "threading", "time",
}  # fmt: skip
NOT_PLAIN = {
    "__import__", "breakpoint", "compile", "eval", "exec", "exit", "globals", "input", "locals", "open", "quit",
}  # fmt: skip
_OF_PYTHON = re.compile(
    r"__(?:base|bases|builtins|closure|code|defaults|globals|kwdefaults|loader|module|mro|spec|subclasses|traceback|wrapped)__"
    r"|(?:cr|f|gi|tb|ag)_(?:back|builtins|code|frame|globals|locals|next)"
)

# `if True:`, `x = x`, `== -1`, `x - 0`, `1 * x`: nobody writes that, and it needs no contract to see it
_AT_ONCE = re.compile(
    r"\b(?:if|while|and|or) (?:not )?(?:True|False)\b|\b(\w+) (?:[-+*/%<>=!]+|is|in) \1\b(?![.(\[])|[=<>]= -1\b"
    r"|[-+] ?0\b(?!\.)|\b1 \*| (?:\*\*?|//?) 1\b"
)


def is_seen_at_once(line: str) -> bool:
    """Whether a changed line is seen without the contract: `if True:`, or a part that is there twice, as in `f(x, x)`."""
    return bool(_AT_ONCE.search(line)) or any(map(_has_part_twice, _nodes_of_line(line)))


def _nodes_of_line(line: str) -> list[ast.AST]:
    """What is in a line, which may be the first one of a block."""
    for text in (line, f"{line} pass", f"if True: pass\n{line} pass"):
        if nodes := _nodes(text):
            return nodes
    return []


def _has_part_twice(node: ast.AST) -> bool:
    parts: list[ast.expr | None] = []
    match node:
        case ast.Call():
            parts = [*node.args]
        case ast.Tuple() | ast.List() | ast.Set():
            parts = [*node.elts]
        case ast.Dict():
            parts = [*node.keys]
        case ast.BinOp(
            op=ast.Sub() | ast.Div() | ast.FloorDiv() | ast.Mod() | ast.BitOr() | ast.BitAnd() | ast.BitXor()
        ):
            parts = [node.left, node.right]
        case ast.Compare():
            parts = [node.left, *node.comparators]
        case ast.BoolOp():
            parts = [*node.values]
        case ast.IfExp():
            parts = [node.body, node.orelse]
    texts = [ast.dump(part) for part in parts if part is not None and not isinstance(part, ast.Constant)]
    return len({*texts}) < len(texts)


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
    """The code of a cell in one layout, without remarks, docstrings and bare texts, so that no change is seen by its looks."""
    tree = parsed(cell, commands=False)
    assert tree is not None
    for node in ast.walk(tree):
        for part in ("body", "orelse", "finalbody"):
            if isinstance(statements := getattr(node, part, None), list):
                left = [one for one in statements if not _is_remark(one)]
                setattr(node, part, left if left or part != "body" else [ast.Pass()] * bool(statements))
        if isinstance(node, ast.FunctionDef) and node.name == name:
            node.decorator_list = [one for one in node.decorator_list if not ast.unparse(one).startswith("exercise(")]
    return ast.unparse(tree)


def not_plain(cell: str, like: str) -> str:
    """What a cell uses that does not only compute, such as `os` or `exec`, and that the course's own cell does not use."""
    known = {*_not_plain(like)} | {node.id for node in _nodes(like) if isinstance(node, ast.Name)}
    return next((name for name in _not_plain(cell) if name not in known), "")


def _not_plain(cell: str) -> Iterator[str]:
    tree = parsed(cell, commands=False)
    for node in ast.walk(tree) if tree else ():
        match node:
            case ast.Import(names=names):
                yield from (one.name for one in names if one.name.partition(".")[0] not in PLAIN_MODULES)
            case ast.ImportFrom(module=module) if (module or "").partition(".")[0] not in PLAIN_MODULES:
                yield module or "."
            case ast.ImportFrom(names=names):
                yield from (one.name for one in names if one.name in NOT_PLAIN | OF_OTHERS)
            case ast.Name(id=name) | ast.Attribute(ast.Name("builtins"), name) if name in NOT_PLAIN:
                yield name
            case ast.Attribute(attr=name) if name in OF_OTHERS:
                yield name
            case ast.Attribute(attr=name) | ast.Constant(value=str(name)) if found := _OF_PYTHON.search(name):
                yield found[0]


def own_allowance(lab: Lab) -> Allowance:
    """The time for all that is tried of one student's code."""
    allowance = Allowance(is_on_torch(lab.name))
    allowance.left = seconds(OWN_SECONDS, is_on_torch(lab.name))
    return allowance


def _is_remark(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


class Function:
    """One function of a student in a lab, or the course's own in its place. An `allowance` is shared with others of the student."""

    def __init__(
        self,
        lab: Lab,
        exercise: str,
        check: Check,
        cell: str,
        is_own: bool,
        known: Cases,
        isolated: bool,
        allowance: Allowance | None = None,
    ):
        self.lab, self.exercise, self.check, self.known, self.is_own = lab, exercise, check, known, is_own
        self.name = exercise.rpartition(".")[2]
        self.cell, self.isolated = cell, isolated
        self.trials: Trials | None = None
        self.usual: float | None = None  # seconds for all cases
        self.chosen: dict[str, list[Any]] = {}  # the places of changes that are tried, drawn once
        self.tried: dict[str, list[Tree]] = {}  # what changed copies give on the cases
        self.asked: set[str] = set()  # the copies that an item is about
        self.steady: dict[str, bool] = {}  # whether a copy has the same results in a new process
        self.allowance = allowance or Allowance(is_on_torch(lab.name))
        self.limit = seconds(SECONDS, is_on_torch(lab.name))

    @cached_property
    def code(self) -> str:
        return shown(self.cell, self.name)

    @cached_property
    def lines(self) -> list[str]:
        return self.code.splitlines()

    @cached_property
    def defined(self) -> set[str]:
        """The names of the functions that are shown with it."""
        return {node.name for node in _nodes(self.code) if isinstance(node, ast.FunctionDef)} | {self.name}

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

    def why_not(self) -> str:
        """Why a student's function is not asked about, in some words for the instructor. Empty if it can be."""
        if self.allowance.left <= 0:
            return "the student's code takes too long"
        try:
            if len(self.lines) > LONGEST or len(self.code) > LETTERS:
                return "it is too long"
        except (AssertionError, RecursionError, ValueError):
            return "it cannot be read"
        if name := not_plain(self.cell, reference_cell(self.lab, self.exercise)):
            return f"it uses {name}"
        results = self.run(self.cell)
        if not results:
            return "it takes too long, or does not run"
        if differs := self._differing(results):
            return f"it differs from torch in {len(differs)} of {len(self.cases)} cases"
        return "" if self.cases else "there are no cases"

    @cached_property
    def is_right_again(self) -> bool:
        """Whether the function is right in a new process: it may count its calls, or draw by chance."""
        self.close()
        again = self.run(self.cell)
        return bool(again) and not self._differing(again)

    def gives_again(self, changed: Changed) -> bool:
        """Whether the changed copy has the same results in a new process. It may read memory that nobody has written."""
        source = changed.change.source
        if source not in self.steady:
            self.close()
            again = self.run(source)
            pairs = zip(again, map(result_of, changed.results))
            self.steady[source] = len(again) == len(changed.results) and not any(difference(*pair) for pair in pairs)
        return self.steady[source]

    def run(self, cell: str, cases: list[dict] | None = None, limit: float | None = None) -> list[Tree]:
        """What the check's program gives on each case with this cell. Empty if one takes longer than `limit` seconds, or all of
        them too long, or if one ends the process."""
        allowance = copy.copy(self.allowance)
        allowance.left = before = min(self.limit, self.allowance.left)
        try:
            if self.trials is None:
                self.trials = Trials(self.lab, self.isolated, Allowance(is_on_torch(self.lab.name)))
                self.trials.prepare(self.exercise)
            self.trials.session.allowance = allowance
            if any(output.output_type == "error" for output in self.trials.session.try_cell(cell, self.trials.limit)):
                return []
            return self.trials.observe(self.check.name, self.cases if cases is None else cases, limit)
        except NotGraded:
            self.close()
            return []
        except (*FAILURES, RecursionError, ValueError):
            return []
        finally:
            self.allowance.left -= before - allowance.left

    def is_mended(self, changed: str, line: int, text: str) -> bool:
        """Whether a changed copy agrees with torch on all cases once a line of the code that is shown reads so."""
        cell = self._with_line(changed, line, text)
        return bool(cell and self.cases) and not self._differing(self.run(cell))

    def _with_line(self, changed: str, line: int, text: str) -> str:
        """The cell with another line. Empty if this is no Python, is much longer, or brings other statements, names or functions: a
        line is mended, and no function is written anew in it."""
        code = shown(changed, self.name)
        lines, text = code.splitlines(), text.strip()
        if not 1 <= line <= len(lines) or len(text) > len(lines[line - 1].strip()) + LONGER:
            return ""
        old = lines[line - 1]
        new = old[: len(old) - len(old.lstrip())] + text
        after = "\n".join([*lines[: line - 1], new, *lines[line:]])
        is_small = _kinds(after) == _kinds(code) and _names(after) <= _names(code) | _BUILTINS
        if not is_small or _inner(after) > _inner(code) + 1 or walk.function_in(after, self.name) is None:
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
            if self.allowance.left <= 0:
                return
            if change.source in self.asked:
                continue
            if change.source not in self.tried:
                self.tried[change.source] = self._results(change.source)
            results = self.tried[change.source]
            if any(results == self.tried.get(source) for source in self.asked):
                continue  # the same change, written otherwise
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
            places = [place for place in walk.places(self.cell, self.name) if not is_seen_at_once(place[1])]
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


_BUILTINS = {name for name in dir(builtins) if name.islower()} - NOT_PLAIN - {"getattr", "setattr", "delattr", "type"}


def _nodes(code: str) -> list[ast.AST]:
    tree = parsed(code, commands=False)
    return [*ast.walk(tree)] if tree else []


def _kinds(code: str) -> list[type]:
    return [type(node) for node in _nodes(code) if isinstance(node, ast.stmt)]


def _inner(code: str) -> int:
    """How many comprehensions and functions there are in expressions."""
    return sum(isinstance(node, (ast.comprehension, ast.Lambda, ast.NamedExpr)) for node in _nodes(code))


def _names(code: str) -> set[str]:
    """The names that are used, and not bound in a comprehension."""
    names = {node.id for node in _nodes(code) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
    bound = {node.id for node in _nodes(code) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    attributes = {f".{node.attr}" for node in _nodes(code) if isinstance(node, ast.Attribute)}
    return names - bound | attributes


def answerable(tree: Tree) -> bool:
    """Whether a result can be written down by hand."""
    try:
        return is_error(result_of(tree)) or len(as_text(plain(result_of(tree)))) <= 60
    except (NotAsked, Malformed):
        return False


def read_case(texts: dict[str, str], like: dict) -> dict:
    """The case that a student has written, a value for each parameter, with its name before it or without. Raises NotAsked with the
    reason."""
    return {name: read_value(re.sub(rf"^\s*{name}\s*=", "", texts.get(name, "")), like[name]) for name in like}
