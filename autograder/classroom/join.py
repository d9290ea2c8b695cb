"""Joining: the parts of an answer that an editor has taken apart or put elsewhere.

JupyterLab copies a cell's metadata when it splits or pastes the cell, VS Code leaves them out, and a merged cell has those of one
of its parts. What is marked is the code that the student's notebook ran before the check, whichever cells it is in: the parts
of an answer in the order in which they ran, if the notebook says so for each of them, otherwise in the order of the document. A
part that stands below the check counts if it ran before the check, as far as the notebook says so, or if there is no other.

A cell without metadata is a piece of an answer if the two together are a better program than apart: one that Python can read, and
that uses fewer names that nothing binds. So a word that was cut in two is whole again, halves that changed places come in the right
order, and a cell that only tries something out stays a cell of its own.
"""

from __future__ import annotations

import ast
import builtins
import itertools
import math
import re
import textwrap
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property

from ..engine.check import global_names
from ..language import phrase
from ..model import check_name, exercise_name

LONGEST = 20_000  # characters of a text that is parsed: a longer answer is not graded
# levels of a syntax tree, because code that walks one calls itself at each. Python lets parentheses nest as deep
DEEPEST = 200
TOO_DEEP = phrase("left out: it nests too deep to be graded")
MOST = 10  # pieces of an answer without metadata
MANY = 3  # pieces whose orders are all tried
OF_IPYTHON = {"get_ipython", "display", "In", "Out", "_", "__", "___"}
# the magics of a cell that still runs in the notebook
RUNNING = re.compile(r"\s*%%(?:time|timeit|capture|prun)\b.*\n?")


@dataclass(eq=False)
class Part:
    """A cell of a submission. `position` is that of the cell of the release that it stands for, if there is one."""

    index: int
    source: str
    is_code: bool
    position: int | None
    count: int | None  # its place in the order in which the cells ran, as far as the notebook says it

    @cached_property
    def defines(self) -> dict[str, str]:
        """By name, the text of each function that the cell plugs into the framework."""
        tree, lines = parsed(self.source) if self.is_code else None, self.source.split("\n")
        return {
            node.name: "\n".join(lines[node.decorator_list[0].lineno - 1 : node.end_lineno])
            for node in (tree.body if tree else ())
            if isinstance(node, ast.FunctionDef | ast.ClassDef) and any(map(_is_exercise, node.decorator_list))
        }

    def is_untouched(self, released: Sequence[Mapping]) -> bool:
        """Whether it says no more than the release does: nothing, the text of its cell there, or functions without a body."""
        if self.source.strip() == "" or self.position is not None and self.source == released[self.position]["source"]:
            return True
        plugged = [tree.body[0] for text in self.defines.values() if (tree := parsed(text))]
        return bool(plugged) and all(map(_is_stub, plugged))

    def ran_before(self, other: Part | None) -> bool:
        if other is None or self.index < other.index:
            return True
        return self.count is not None and other.count is not None and self.count < other.count


def join(parts: Sequence[Part], released: Sequence[Mapping]) -> tuple[dict[int, str], set[int], list[str]]:
    """The answers, by their positions in the release; the parts that went into them and are no cells of their own any more, by
    their indices; and a line on each answer that did not stand in its own cell alone."""
    answers: dict[int, str] = {}
    used: set[int] = set()
    lines: list[str] = []
    codes = [cell["source"] for cell in released if cell["cell_type"] == "code"]
    codes += [part.source for part in parts if part.is_code]
    known = {*dir(builtins), *OF_IPYTHON}.union(*(_names(code)[0] for code in dict.fromkeys(codes)))
    for position, cell in enumerate(released):
        about = cell["metadata"].get("nbgrader", {})
        if not about.get("solution"):
            continue
        own, name = [part for part in parts if part.position == position], exercise_name(cell)
        function, check = (name or "").rpartition(".")[2], _check_of(name, parts, released)
        if name:
            answer_parts = _parts_of(function, own, check, _Cells(parts, released, known, used))
        else:
            answer_parts = own or _written_at(position, parts)
        texts = list(dict.fromkeys(part.source for part in answer_parts if not part.is_untouched(released)))
        if name and not texts:  # two answers that were merged
            merged = [part for part in parts if part not in own and function in part.defines]
            texts = [part.defines[function] for part in merged if not part.is_untouched(released)][-1:]
        if texts or own:
            answers[position] = _joined(texts, known if name else None) if texts else cell["source"]
        if len(texts) > 1 or texts and texts[0] not in {part.source for part in own}:
            lines.append(f"{function or about.get('grade_id')}: {_said(len(texts))}")
        used |= {part.index for part in answer_parts if part not in own}
    return answers, used, lines


def _said(count: int) -> str:
    return (
        phrase(f"it was in {count} cells, which were joined")
        if count > 1
        else phrase("it was in another cell, and was taken from there")
    )


def _check_of(name: str | None, parts: Sequence[Part], released: Sequence[Mapping]) -> Part | None:
    """The cell of the submission with the first check of an exercise."""
    checks = {i for i, cell in enumerate(released) if name and f"{check_name(cell)}.".startswith(f"{name}.")}
    return next((part for part in parts if part.position in checks), None)


def _written_at(position: int, parts: Sequence[Part]) -> list[Part]:
    """The notes in the place of a written answer whose cell is gone: between the cells of the lab above and below it."""
    above = [part.index for part in parts if part.position is not None and part.position < position]
    below = itertools.takewhile(lambda part: part.position is None, parts[above[-1] + 1 :] if above else ())
    return [part for part in below if not part.is_code and part.source.strip()]


@dataclass
class _Cells:
    """The cells of a submission, among which the parts of one answer are looked for."""

    parts: Sequence[Part]
    released: Sequence[Mapping]
    known: set[str]  # the names that a cell binds, or Python
    used: set[int]  # the parts of earlier answers, by their indices

    def is_loose(self, part: Part) -> bool:
        """Whether it is code that is no answer's, such as a check with which an answer was merged."""
        if not part.is_code or part.position is None:
            return part.is_code
        is_answer = self.released[part.position]["metadata"].get("nbgrader", {}).get("solution")
        return not is_answer and not part.is_untouched(self.released)

    def is_piece(self, part: Part) -> bool:
        """Whether it may be a piece of the answer beside it: it is no program, or uses a name that nothing binds."""
        may = self.is_loose(part) and part.index not in self.used and not part.defines
        return may and (parsed(part.source) is None or _missing(part.source, self.known) > 0)

    def below(self, answer: Part, chosen: Mapping[int, Part]) -> tuple[list[Part], str]:
        """The pieces that go on with the text of a part, below notes and empty cells; and the text with them."""
        pieces, run, text = [], [answer], answer.source
        for part in self.parts[answer.index + 1 :]:
            if not part.is_code or not part.source.strip():
                continue
            if part.index in chosen or len(run) == MOST or not self.is_piece(part):
                break
            run.append(part)
            if (longer := self.text_of(run, text)) is not None:
                pieces, text = run[1:], longer
        return pieces, text

    def above(self, answer: Part, text: str, chosen: Mapping[int, Part]) -> Iterator[Part]:
        """The pieces that were moved above the beginning of their answer."""
        for part in reversed(self.parts[: answer.index]):
            if not part.is_code or not part.source.strip():
                continue
            if part.index in chosen or not self.is_piece(part) or self.is_complete(text):
                return
            apart = _missing(text, self.known) + _missing(part.source, self.known)
            text = _best([[text, part.source]], self.known)
            if not _missing(text, self.known) < apart:
                return
            yield part

    def text_of(self, run: Sequence[Part], text: str) -> str | None:
        """The text of an answer and what may go on with it. None if the last part is a cell of its own."""
        *_, last = sources = [part.source for part in run]
        whole = self.is_complete(text)
        if whole and _ends_in_comment(text):
            return None
        joined = text + last if whole else _best([sources], self.known)
        apart, together = (_missing(text, self.known) + _missing(last, self.known)), _missing(joined, self.known)
        goes_on = together < apart or together == apart < math.inf and not whole and parsed(last) is None
        return joined if goes_on else None

    def is_complete(self, text: str) -> bool:
        """Whether a text ends with a function that has its end, and binds all that it uses."""
        tree = parsed(text)
        last = tree.body[-1] if tree and tree.body else None
        return isinstance(last, ast.FunctionDef) and _leaves(last.body) and _missing(text, self.known) == 0


def _parts_of(function: str, own: list[Part], check: Part | None, cells: _Cells) -> list[Part]:
    """The parts of the answer to an exercise, in order: its own cells, and those that are nobody's and define its function alone or
    are a piece of the text beside them."""
    parts = cells.parts
    named = [part for part in parts if cells.is_loose(part) and [*part.defines] == [function]]
    before = [part for part in named if part.ran_before(check)]
    if not before and all(part.is_untouched(cells.released) for part in own):
        before = named[-1:]
    chosen = {part.index: part for part in [*own, *before]}
    for part in before:
        above = part.index - 1  # helpers that ran before it, and would run after the check
        while check and above > check.index and cells.is_loose(parts[above]) and above not in chosen:
            chosen[above] = parts[above]
            above -= 1
    for part in [part for part in chosen.values() if not part.is_untouched(cells.released)]:
        pieces, text = cells.below(part, chosen)
        chosen |= {piece.index: piece for piece in pieces}
        chosen |= {piece.index: piece for piece in [*cells.above(part, text, chosen)]}
    in_order = [chosen[index] for index in sorted(chosen)]
    if check and all(part.count is not None and part.count < (check.count or 0) for part in in_order):
        in_order.sort(key=lambda part: part.count or 0)
    return in_order


def _joined(texts: list[str], known: set[str] | None) -> str:
    """The parts as one text. Of code that is none as a whole, the parts that are, such as a second try below a first."""
    if known is None:
        return "\n\n".join(texts)
    texts = [RUNNING.sub("", text, count=1) if RUNNING.match(text) else text for text in texts]
    if len(texts) == 1:
        return texts[0]
    orders = itertools.permutations(texts) if len(texts) <= MANY else [texts]
    whole = _best(orders, known)
    return whole if parsed(whole) else "\n".join(text for text in texts if parsed(text)) or "\n".join(texts)


def _best(orders: Iterable[Sequence[str]], known: set[str]) -> str:
    """The first of the texts that misses the fewest names, if pieces in one of these orders were cut between lines, or within."""
    best, least = "", math.inf
    for texts in orders:
        cuts = len(texts) - 1
        for ends in itertools.product(("\n", ""), repeat=cuts) if cuts < MANY else [["\n"] * cuts, [""] * cuts]:
            if any(end == "" and _ends_in_comment(text) for text, end in zip(texts, ends)):
                continue
            text = "".join(itertools.chain(*zip(texts, [*ends, ""])))
            missing = _missing(text, known)
            if missing < least or not best:
                best, least = text, missing
            if not least:
                return best
    return best


def _missing(source: str, known: set[str]) -> float:
    """How many names a cell uses that nothing binds. Infinite if it is no program."""
    tree = parsed(textwrap.dedent(source))
    if tree is None or any(isinstance(node, ast.Return | ast.Yield) for node in _outside_functions(tree)):
        return math.inf
    bound, used = _names(textwrap.dedent(source))
    return len(used - bound - known)


def _ends_in_comment(text: str) -> bool:
    """Whether what follows on the last line of a program would be lost in a comment."""
    return parsed(text) is not None and parsed(text + "(") is not None


def _names(source: str) -> tuple[set[str], set[str]]:
    """The names that a cell binds, and those that it uses."""
    for text in (source, _plain(source)) if parsed(source) else ():
        with suppress(SyntaxError, ValueError, RecursionError, MemoryError):
            return global_names(text)
    return set(), set()


def _outside_functions(tree: ast.AST) -> Iterator[ast.AST]:
    nodes = [tree]
    while nodes:
        yield (node := nodes.pop())
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            nodes += ast.iter_child_nodes(node)


def _leaves(body: Sequence[ast.stmt]) -> bool:
    """Whether a function never goes on below these statements."""
    match body[-1]:
        case ast.Return() | ast.Raise():
            return True
        case ast.If(body=first, orelse=[_, *_] as second):
            return _leaves(first) and _leaves(second)
        case ast.With(body=first):
            return _leaves(first)
        case ast.Try(body=first, handlers=handlers, finalbody=[]):
            return _leaves(first) and all(_leaves(handler.body) for handler in handlers)
    return False


def _is_stub(function: ast.stmt) -> bool:
    if isinstance(function, ast.FunctionDef):
        match function.body[ast.get_docstring(function) is not None :]:
            case [ast.Raise(ast.Name("NotImplementedError") | ast.Call(ast.Name("NotImplementedError")))]:
                return True
    return False


def _is_exercise(decorator: ast.expr) -> bool:
    match decorator:
        case ast.Call(func=ast.Name(id="exercise") | ast.Attribute(attr="exercise")):
            return True
    return False


def parsed(source: str, commands: bool = True) -> ast.Module | None:
    """The syntax tree of a student's cell, in which commands to IPython are `pass`. None if there is none, or none to be read, or
    if the cell has commands and must not."""
    return _read(source, commands)[0]


def reason_left_out(source: str, is_code: bool) -> str:
    """Why a cell is not graded, in a line: it is too long, or it is code that nests too deep. Otherwise nothing."""
    return _read(source)[1] if is_code or len(source) > LONGEST else ""


def _read(source: str, commands: bool = True) -> tuple[ast.Module | None, str]:
    """All code of students that is parsed outside the sandbox is parsed here: of no text this takes long, and of no tree that this
    returns a walk goes deeper than `DEEPEST`."""
    if len(source) > LONGEST:
        count = len(source)
        return None, phrase(f"left out: {count} characters, too long to be graded")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a student's text
        for text in (source, _plain(source))[: 1 + commands]:
            try:
                nodes: list[ast.AST] = [tree := ast.parse(text)]
            except (SyntaxError, ValueError):
                continue
            except (RecursionError, MemoryError):
                return None, TOO_DEEP
            for _ in range(DEEPEST):
                nodes = [child for node in nodes for child in ast.iter_child_nodes(node)]
            return (None, TOO_DEEP) if nodes else (tree, "")
    return None, ""


def _plain(source: str) -> str:
    """A cell without IPython's commands. A cell that is not Python, such as one of `%%bash`, is empty."""
    if re.match(r"\s*%%", source) and not RUNNING.match(source):
        return ""
    return re.sub(r"^([^\S\n]*)[%!].*$", r"\1pass", source, flags=re.MULTILINE)
