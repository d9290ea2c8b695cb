"""Copies of a student's function: one that notes what it does, and some that are changed in one place.

A cell is parsed and never run here. A copy is the text of the cell with another function of the same name.
"""

from __future__ import annotations

import ast
import copy
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ..author.mutants import RULES, arithmetic, condition, replaceable_nodes
from .join import parsed

NAME = "_rushlight_probe"  # of the module `probe` in the notebook
OF_STATEMENTS = [arithmetic, condition]  # the rules that leave a statement where it is
SHORT = 3  # statements: in a function with no more, parts of expressions are noted too
LONGEST = 70  # characters of a label, or of a changed line


@dataclass(frozen=True)
class Change:
    """A cell with one place of its function changed: the line in the student's cell, and the text there before and after. Without
    `after`, the statement is missing."""

    line: int
    before: str
    after: str
    source: str


def split_lines(source: str) -> list[str]:
    """The lines of a cell as Python counts them: `str.splitlines` would end one at a form feed too."""
    return re.split(r"\r\n?|\n", source)


def function_in(source: str, name: str) -> ast.FunctionDef | None:
    """The last function of this name at the top of a cell, or None if the cell is no Python or has none."""
    body = tree.body if (tree := parsed(source, commands=False)) else []
    functions = [node for node in body if isinstance(node, ast.FunctionDef) and node.name == name]
    return functions[-1] if functions else None


def lines_of(source: str, name: str) -> list[int]:
    """The first line of each statement of the function, without its docstring."""
    function = function_in(source, name)
    return sorted({node.lineno for node in _statements(function)}) if function else []


def inner_lines(source: str, name: str) -> list[int]:
    """Those of its statements that belong to a condition, a loop or another statement of the function."""
    function = function_in(source, name)
    outer = {node.lineno for node in _body(function)} if function else set()
    return [line for line in lines_of(source, name) if line not in outer]


def with_notes(source: str, name: str) -> str:
    """The cell with a function that notes its arguments, the values at its lines, and its result."""

    def write(function: ast.FunctionDef) -> None:
        parts = sum(1 for _ in _statements(function)) <= SHORT
        body = [_Noting(parts).visit(statement) for statement in _body(function)]
        body = [statement for part in body for statement in (part if isinstance(part, list) else [part])]
        arguments = function.args
        names = [argument.arg for argument in [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]]
        names += [argument.arg for argument in (arguments.vararg, arguments.kwarg) if argument]
        enter = ast.parse(f"{NAME}.enter({{{', '.join(f'{name!r}: {name}' for name in names)}}})").body
        ways_out = ast.parse(
            f"try: pass\nexcept Exception as error: {NAME}.raised(error); raise\nfinally: {NAME}.leave()"
        ).body[0]
        assert isinstance(ways_out, ast.Try)
        ways_out.body = body
        function.body = [*enter, ways_out]

    return _rewritten(source, name, write)


def places(source: str, name: str) -> list[tuple[int, str]]:
    """The small changes of the function, each in one place, in the order of the text: a line, and its text after the change."""
    return [*dict.fromkeys((line, after) for line, _, after, _ in _each_change(source, name))]


def changes(source: str, name: str, chosen: Sequence[tuple[int, str]]) -> list[Change]:
    """The changes at these places, in their order. (Each is a text as long as the cell, so not all are made.)"""
    made: dict[tuple[int, str], Change] = {}
    for line, before, after, text in _each_change(source, name):
        if (line, after) in chosen and (line, after) not in made:
            made[line, after] = Change(line, before, after, text())
    return [made[place] for place in chosen]


def _each_change(source: str, name: str) -> Iterator[tuple[int, str, str, Callable[[], str]]]:
    """A line, its text before and after a change, and a function that gives the cell with this change until the next one."""
    function = function_in(source, name)
    if function is None:
        return
    parameters = [argument.arg for argument in [*function.args.args, *function.args.kwonlyargs]]
    body = ast.Module(_body(function), [])
    statement: ast.stmt | ast.ExceptHandler = function
    for node, put in replaceable_nodes(body):
        whole = isinstance(node, (ast.stmt, ast.ExceptHandler))
        if isinstance(node, (ast.stmt, ast.ExceptHandler)):
            statement = node  # a statement's expressions come before the statements in it
        before = _line(statement)
        for new in (new for rule in (OF_STATEMENTS if whole else RULES) for new in rule(node, parameters)):
            put(new)
            after = _line(new if whole else statement)
            if after != before and max(len(after), len(before)) <= LONGEST:
                yield statement.lineno, before, after, lambda: _with_function(source, name, function, body.body)
            put(node)


def without(source: str, name: str, line: int) -> Change | None:
    """The cell without the statement that begins at this line."""
    function = function_in(source, name)
    if function is None:
        return None
    body = ast.Module(_body(function), [])
    for node, put in replaceable_nodes(body):
        if isinstance(node, ast.stmt) and node.lineno == line:
            before = _line(node)
            put(ast.copy_location(ast.Pass(), node))
            return Change(line, before, "", _with_function(source, name, function, body.body))
    return None


def with_body_of(source: str, name: str, other: str) -> str:
    """The cell with the body of another function of this name."""
    function = copy.copy(_known_function(source, name))
    return _with_function(source, name, function, _known_function(other, name).body)


# The parts of a function ---------------------------------------------------------------------------------------------


def _body(function: ast.FunctionDef) -> list[ast.stmt]:
    return function.body[1:] if ast.get_docstring(function) is not None else function.body


def _statements(function: ast.FunctionDef) -> Iterator[ast.stmt]:
    for statement in _body(function):
        yield from (node for node in ast.walk(statement) if isinstance(node, ast.stmt))


def _line(statement: ast.AST) -> str:
    """The text of a statement, or the first line of a block's."""
    head = copy.copy(statement)
    for part in ("body", "orelse", "finalbody", "handlers", "cases"):
        if isinstance(getattr(head, part, None), list):
            setattr(head, part, [ast.Pass()] if part == "body" else [])
    return ast.unparse(ast.fix_missing_locations(head)).strip().splitlines()[0]


def _rewritten(source: str, name: str, write: Callable[[ast.FunctionDef], None]) -> str:
    function = copy.deepcopy(_known_function(source, name))
    write(function)
    return _with_function(source, name, function, function.body)


def _known_function(source: str, name: str) -> ast.FunctionDef:
    function = function_in(source, name)
    assert function is not None
    return function


def _with_function(source: str, name: str, function: ast.FunctionDef, body: list[ast.stmt]) -> str:
    """The cell with this function, with another body, in place of its own. The other lines keep their numbers."""
    original = _known_function(source, name)
    start = min([original.lineno, *(decorator.lineno for decorator in original.decorator_list)])
    lines = split_lines(source)
    made = copy.copy(function)
    made.body = body
    text = ast.unparse(ast.fix_missing_locations(made))
    return "\n".join([*lines[: start - 1], text, *lines[original.end_lineno :]])


# Noting --------------------------------------------------------------------------------------------------------------


def _note(line: int, label: str, value: ast.expr) -> ast.expr:
    call = ast.parse(f"{NAME}.note({line}, {label[:LONGEST]!r}, 0)", mode="eval").body
    assert isinstance(call, ast.Call)
    call.args[2] = value
    return call


class _Noting(ast.NodeTransformer):
    """Statements that note: that they run, what they assign, the truth of a condition, and the value that is returned."""

    def __init__(self, parts: bool):
        self.parts = _Parts() if parts else None

    def visit(self, node: ast.AST) -> Any:  # as of any NodeTransformer
        if not isinstance(node, ast.stmt):
            return self.generic_visit(node) if isinstance(node, (ast.ExceptHandler, ast.match_case)) else node
        if isinstance(node, (ast.Global, ast.Nonlocal, ast.Import, ast.ImportFrom)):
            return node
        line, after = node.lineno, []
        if self.parts is not None:
            self._note_parts(node, self.parts)
        match node:
            case ast.Assign(targets=[target, *_]) | ast.AnnAssign(target=target) if node.value is not None:
                node.value = _note(line, ast.unparse(target), node.value)
            case ast.AugAssign(target=ast.Name(id=name)):
                after = [ast.Expr(_note(line, name, ast.Name(name, ast.Load())))]
            case ast.Return(value=ast.expr() as value):
                node.value = _note(line, "return", value)
            case ast.If() | ast.While():
                node.test = _note(line, "?", node.test)
            case ast.Expr() if not isinstance(node.value, (ast.Yield, ast.YieldFrom, ast.Await)):
                node.value = _note(line, "", node.value)
        self.generic_visit(node)
        if isinstance(node, ast.For) and (name := _readable(node.target)):
            node.body.insert(0, ast.Expr(_note(line, name, ast.parse(name, mode="eval").body)))
        return [*ast.parse(f"{NAME}.ran({line})").body, node, *after]

    def _note_parts(self, node: ast.stmt, parts: _Parts) -> None:
        parts.line = node.lineno
        for name in ("value", "test", "iter"):
            if isinstance(getattr(node, name, None), ast.expr):
                setattr(node, name, parts.below(getattr(node, name)))


class _Parts(ast.NodeTransformer):
    """Notes the value of each call, operation, comparison and index in an expression."""

    line = 0

    def below(self, node: ast.expr) -> ast.AST:
        """The parts of an expression, and not all of it, which its statement notes."""
        return self.generic_visit(node)

    def visit(self, node: ast.AST) -> Any:  # as of any NodeTransformer
        if isinstance(node, (ast.Lambda, ast.JoinedStr, ast.NamedExpr)):
            return node
        label = ast.unparse(node) if isinstance(node, ast.expr) else ""
        if isinstance(node, ast.Call):  # the function that is called is no value of interest
            node.args = [self.visit(argument) for argument in node.args]
            node.keywords = [self.visit(keyword) for keyword in node.keywords]
        else:
            self.generic_visit(node)
        noted = ast.Call, ast.BinOp, ast.Compare, ast.Subscript, ast.BoolOp
        if isinstance(node, noted) and isinstance(getattr(node, "ctx", ast.Load()), ast.Load):
            return _note(self.line, label, node)
        return node


def _readable(target: ast.expr) -> str:
    """The names that a loop assigns, as an expression."""
    names = [node for node in ast.walk(target) if isinstance(node, ast.expr)]
    return ast.unparse(target) if all(isinstance(node, (ast.Name, ast.Tuple)) for node in names) else ""
