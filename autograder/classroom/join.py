"""Joining: the parts of an answer that an editor has taken apart or put elsewhere.

JupyterLab copies a cell's metadata when it splits or pastes the cell, VS Code leaves them out, and a merged cell has those of one
of its parts. What is marked is the code that the student's notebook ran before the check, whichever cells it is in: the parts
of an answer in the order in which they ran, if the notebook says so for each of them, otherwise in the order of the document. A
part that stands below the check counts if it ran before the check, as far as the notebook says so, or if there is no other.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property

from ..model import check_name, exercise_name

LONGEST = 100_000  # characters of a text that is parsed, with which a parser does not take long
MOST = 10  # pieces of an answer without metadata


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
        tree, lines = parsed(self.source) if self.is_code else None, self.source.splitlines()
        return {
            node.name: "\n".join(lines[node.decorator_list[0].lineno - 1 : node.end_lineno])
            for node in (tree.body if tree else ())
            if isinstance(node, ast.FunctionDef) and any(map(_is_exercise, node.decorator_list))
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
    for position, cell in enumerate(released):
        about = cell["metadata"].get("nbgrader", {})
        if not about.get("solution"):
            continue
        own, name = [part for part in parts if part.position == position], exercise_name(cell)
        function, check = (name or "").rpartition(".")[2], _check_of(name, parts, released)
        answer_parts = [*_parts_of(function, own, check, parts, released)] if name else own
        texts = list(dict.fromkeys(part.source for part in answer_parts if not part.is_untouched(released)))
        if name and not texts:  # two answers that were merged
            merged = [part for part in parts if part not in own and function in part.defines]
            texts = [part.defines[function] for part in merged if not part.is_untouched(released)][-1:]
        if texts or own:
            answers[position] = _joined(texts, is_code=bool(name)) if texts else cell["source"]
        if len(texts) > 1 or texts and texts[0] not in {part.source for part in own}:
            lines.append(f"{function or about.get('grade_id')}: {_said(len(texts))}")
        used |= {part.index for part in answer_parts if part not in own}
    return answers, used, lines


def _said(count: int) -> str:
    return (
        f"it was in {count} cells, which were joined"
        if count > 1
        else "it was in another cell, and was taken from there"
    )


def _check_of(name: str | None, parts: Sequence[Part], released: Sequence[Mapping]) -> Part | None:
    """The cell of the submission with the first check of an exercise."""
    checks = {i for i, cell in enumerate(released) if name and f"{check_name(cell)}.".startswith(f"{name}.")}
    return next((part for part in parts if part.position in checks), None)


def _parts_of(
    function: str, own: list[Part], check: Part | None, parts: Sequence[Part], released: Sequence[Mapping]
) -> Iterator[Part]:
    """The parts of the answer to an exercise, in order: its own cells, and those that are nobody's and define its function alone or
    go on with the text of the one above."""

    def is_loose(part: Part) -> bool:
        if not part.is_code or part.position is None:
            return part.is_code
        is_answer = released[part.position]["metadata"].get("nbgrader", {}).get("solution")
        return not is_answer and not part.is_untouched(released)  # a check, with which an answer was merged

    named = [part for part in parts if is_loose(part) and [*part.defines] == [function]]
    before = [part for part in named if part.ran_before(check)]
    if not before and all(part.is_untouched(released) for part in own):
        before = named[-1:]
    chosen = {part.index: part for part in [*own, *before]}
    for part in before:
        above = part.index - 1  # helpers that ran before it, and would run after the check
        while check and above > check.index and is_loose(parts[above]) and above not in chosen:
            chosen[above] = parts[above]
            above -= 1
    run: list[Part] = []  # an answer, and what may go on with it below notes and empty cells
    for part in parts:
        if part.index in chosen:
            run = [part]
        elif run and part.is_code and part.source.strip():
            goes_on = is_loose(part) and len(run) < MOST and not parsed(part.source)
            run = [*run, part] if goes_on else []
            if goes_on and _whole([piece.source for piece in run]):
                chosen |= {piece.index: piece for piece in run}
    in_order = [chosen[index] for index in sorted(chosen)]
    if check and all(part.count is not None and part.count < (check.count or 0) for part in in_order):
        in_order.sort(key=lambda part: part.count or 0)
    yield from in_order


def _joined(texts: list[str], is_code: bool) -> str:
    """The parts as one text. Of code that is none as a whole, the parts that are, such as a second try below a first."""
    if not is_code:
        return "\n\n".join(texts)
    whole = "\n".join(texts)
    if len(texts) > 1 and not parsed(whole):
        whole = _whole(texts) or "\n".join(text for text in texts if parsed(text)) or whole
    return whole


def _whole(texts: list[str]) -> str | None:
    """The text that was split between its lines, or within one. None if there is no such code."""
    ways = ["\n".join(texts)] if parsed(texts[0]) else ["\n".join(texts), "".join(texts)]
    return next((text for text in ways if parsed(text)), None)


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


def parsed(source: str) -> ast.Module | None:
    """The syntax tree of a student's cell, in which commands to IPython are `pass`. None if there is none."""
    with suppress(SyntaxError, ValueError, RecursionError, MemoryError), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a student's text
        if len(source) <= LONGEST:
            return ast.parse(re.sub(r"^([^\S\n]*)[%!].*$", r"\1pass", source, flags=re.MULTILINE))
    return None
