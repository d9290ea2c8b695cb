"""Innocent differences: a text of Python with other names of local variables and exchanged branches.

A patient of PyTorch differs from the installed files in such places too, so that a comparison of the files does not tell which
difference is the fault. Comments stay. The text means the same: a variable is renamed only if it belongs to one function and no
text names it.
"""

from __future__ import annotations

import ast
import builtins
import random
from collections.abc import Iterator

BY_NAME = {
    "locals",
    "vars",
    "eval",
    "exec",
    "globals",
    "dir",
    "f_locals",
}  # a function that uses these may name a variable by a text
RENAMED = ("cur_{}", "this_{}", "{}_val", "{}_res")
Edit = tuple[int, int, str]  # from, to, text instead: in bytes of the text


def disguised(text: str, sound: frozenset[str], seed: str, count: int = 10) -> str:
    """The text with so many innocent differences, or as many as it has room for. The functions `sound`, by their names, stay."""
    lines, found = _Lines(text), dict(_functions(ast.parse(text)))
    # Each function has a chance of its own, so that a mend of one leaves the others as they are
    chances = {name: random.Random(f"{seed} {name}") for name in found}
    edits: list[Edit] = []
    for name in sorted(found, key=lambda name: chances[name].random()):
        function, chance = found[name], chances[name]
        if function.name in sound or _by_name(function):
            continue
        own = _exchanged(function, lines, chance) or _renamed(function, lines, chance)
        if own and not any(a < d and c < b for a, b, _ in own for c, d, _ in edits):
            edits += own
            count -= 1
        if not count:
            break
    data = text.encode()
    for begin, end, instead in sorted(edits, reverse=True):
        data = data[:begin] + instead.encode() + data[end:]
    return data.decode()


def _functions(tree: ast.Module) -> Iterator[tuple[str, ast.FunctionDef]]:
    """The functions of a module and the methods of its classes, by name, without those that contain others or a class."""
    others = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
    for node in tree.body:
        for each in node.body if isinstance(node, ast.ClassDef) else [node]:
            if isinstance(each, ast.FunctionDef) and not any(isinstance(n, others) for n in [*ast.walk(each)][1:]):
                yield (f"{node.name}.{each.name}" if isinstance(node, ast.ClassDef) else each.name), each


def _by_name(function: ast.FunctionDef) -> bool:
    names = (getattr(node, "id", getattr(node, "attr", "")) for node in ast.walk(function))
    return not BY_NAME.isdisjoint(names)


class _Lines:
    """Where the lines of a text begin, in bytes: ast counts columns in bytes too."""

    def __init__(self, text: str):
        self.lines = text.encode().splitlines(keepends=True)
        self.begins = [0]
        for line in self.lines:
            self.begins.append(self.begins[-1] + len(line))

    def span(self, node: ast.expr) -> tuple[int, int]:
        """The first byte of an expression, and the one behind it."""
        assert node.end_lineno is not None and node.end_col_offset is not None
        return self.begins[node.lineno - 1] + node.col_offset, self.begins[node.end_lineno - 1] + node.end_col_offset

    def text(self, begin: int, end: int) -> str:
        return b"".join(self.lines)[begin:end].decode()


def _renamed(function: ast.FunctionDef, lines: _Lines, chance: random.Random) -> list[Edit]:
    """Another name for one local variable."""
    names = _local_names(function)
    if not names:
        return []
    name = chance.choice(names)
    new = chance.choice(RENAMED).format(name)
    if any(
        isinstance(node, ast.Name | ast.arg) and getattr(node, "id", getattr(node, "arg", "")) == new
        for node in ast.walk(function)
    ):
        return []
    return [(*lines.span(node), new) for node in ast.walk(function) if isinstance(node, ast.Name) and node.id == name]


def _local_names(function: ast.FunctionDef) -> list[str]:
    """Variables of a function that only its own text names: no parameter, none of a comprehension or in a formatted text."""
    found = {node.id for node in ast.walk(function) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    scopes = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.JoinedStr)
    elsewhere = {
        each.id
        for node in ast.walk(function)
        if isinstance(node, scopes)
        for each in ast.walk(node)
        if isinstance(each, ast.Name)
    }
    for node in ast.walk(function):
        elsewhere |= {node.arg} if isinstance(node, ast.arg) else set()
        elsewhere |= {*node.names} if isinstance(node, ast.Global | ast.Nonlocal) else set()
        elsewhere |= (
            {alias.asname or alias.name.partition(".")[0] for alias in node.names}
            if isinstance(node, ast.Import | ast.ImportFrom)
            else set()
        )
        elsewhere |= {str(node.name)} if isinstance(node, ast.ExceptHandler | ast.MatchAs) else set()
    return sorted(
        name
        for name in found - elsewhere
        if not hasattr(builtins, name) and not name.startswith("__") and len(name) > 1
    )


def _exchanged(function: ast.FunctionDef, lines: _Lines, chance: random.Random) -> list[Edit]:
    """`if not (c): B else: A` instead of `if c: A else: B`, or the other way round."""
    found = [node for node in ast.walk(function) if isinstance(node, ast.If) and _has_else(node, lines)]
    if not found:
        return []
    node = chance.choice(found)
    begin, end = lines.span(node.test)
    if isinstance(node.test, ast.UnaryOp) and isinstance(node.test.op, ast.Not):
        new = lines.text(*lines.span(node.test.operand))
    else:
        new = f"not ({lines.text(begin, end)})"
    first, middle = node.test.lineno, _line_of_else(node, lines)  # the line of `if`, whose test has one line
    assert node.end_lineno is not None
    a = lines.begins[first], lines.begins[middle - 1]
    b = lines.begins[middle], lines.begins[node.end_lineno]
    return [(begin, end, new), (*a, lines.text(*b)), (*b, lines.text(*a))]


def _line_of_else(node: ast.If, lines: _Lines) -> int:
    """The number of the line with `else:`, or 0."""
    wanted = b" " * node.col_offset + b"else:"
    between = range((node.body[-1].end_lineno or 0) + 1, node.orelse[0].lineno)
    return next((number for number in between if lines.lines[number - 1].rstrip() == wanted), 0)


def _has_else(node: ast.If, lines: _Lines) -> bool:
    """Whether the node is an `if` on one line with an `else` on its own, without an `elif` before or behind."""
    if not node.orelse or not _line_of_else(node, lines) or node.test.lineno != node.test.end_lineno:
        return False
    line = lines.lines[node.lineno - 1].rstrip()
    plain = node.test.lineno == node.lineno and line.lstrip().startswith(b"if ") and line.endswith(b":")
    return plain and node.body[0].lineno > node.lineno and _same_scope(node)


def _same_scope(node: ast.If) -> bool:
    """Whether all lines of both branches end with the node: no text of several lines ends at another indentation."""
    return not any(
        isinstance(each, ast.Constant) and isinstance(each.value, str) and each.lineno != each.end_lineno
        for each in ast.walk(node)
    )
