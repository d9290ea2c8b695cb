"""The programs of cases as code, for a student to read and run.

Some checks draw a program as a list of statements, each an operation and the indices of its operands. The file that runs them
has tables of the operations, as functions or texts of x and y. A listing runs the program on torch and writes each statement as a
line, with names for the values. It takes the branch of a condition that the program takes.
If the steps of a case are no statements, comments describe them.
"""

from __future__ import annotations

import ast
import copy
import inspect
import sys
from collections.abc import Iterable
from contextlib import suppress
from functools import cache
from string import ascii_lowercase
from types import FunctionType
from typing import Any

MAX_LINES = 60


def comments(lines: Iterable[str]) -> str:
    """Lines of prose as comments: all that a check shows is text that Python accepts."""
    return "\n".join(f"# {line}" for line in lines)


def literal(x: Any) -> str:
    """The call that makes one of torch's tensors with these elements. Each float has as few digits as tell it from others."""

    def text(part: Any) -> str:
        return f"[{', '.join(map(text, part))}]" if part.ndim else _SPECIAL.get(str(part), str(part))

    kind, x = str(x.dtype).removeprefix("torch."), x.detach()
    if x.numel() == 0:
        return f"torch.empty({list(x.shape)}, dtype=torch.{kind})"
    elements = text((x.float() if kind in ("float16", "bfloat16") else x).numpy())
    usual = "float32" if "." in elements else "bool" if elements.strip("[") in ("True", "False") else "int64"
    return f"torch.tensor({elements}{'' if kind == usual else f', dtype=torch.{kind}'})"


_SPECIAL = {"inf": "torch.inf", "-inf": "-torch.inf", "nan": "torch.nan"}


class Listing:
    """The lines of a program, and its values so far. `module` is the name of the file with the operations."""

    def __init__(self, torch: Any, module: str):
        self.space = vars(sys.modules[module]) | {"xp": torch}
        self.operations = _operations(module)
        self.values: list[Any] = []
        self.lines: list[str] = ["import torch", ""]
        self.in_list = False  # whether the values are those of a list, because they are too many for names

    def name(self, index: int) -> str:
        if self.in_list:
            return f"values[{index}]"
        index %= len(self.values)
        return ascii_lowercase[index] if index < 26 else f"v{index}"

    def names(self, indices: list[int]) -> str:
        return f"[{', '.join(map(self.name, indices))}]"

    def add(self, text: str, result: Any) -> None:
        """Add the line that makes a value, or several values."""
        if len(self.lines) >= MAX_LINES:
            raise ValueError("too long to read")
        several = isinstance(result, (list, tuple))
        first = len(self.values)
        self.values += result if several else [result]
        made = [self.name(index) for index in range(first, len(self.values))]
        self.lines.append(f"{', '.join(made)}{',' * (several and len(made) == 1)} = {text}")

    def operation(self, name: str, x: int, y: int) -> str:
        """An operation on the values of these indices, as code."""
        operands = {"x": self.values[x % len(self.values)], "y": self.values[y % len(self.values)]}
        names = {"xp": "torch", "x": self.name(x), "y": self.name(y)}
        return ast.unparse(_Applied(self.space | operands, names).visit(copy.deepcopy(self.operations[name])))

    def text(self, **others: Any) -> str:
        """The lines, and the other values of the case."""
        return "\n".join([*self.lines, *(f"{name} = {value!r}" for name, value in others.items())])


class _Applied(ast.NodeTransformer):
    """Replaces parameters by names, a condition by the branch that is taken, and a call of a helper by what it returns."""

    def __init__(self, space: dict, names: dict):
        self.space, self.names = space, names

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return ast.Name(self.names.get(node.id, node.id))

    def visit_IfExp(self, node: ast.IfExp) -> ast.AST:
        condition = compile(ast.fix_missing_locations(ast.Expression(node.test)), "<condition>", "eval")
        return self.visit(node.body if eval(condition, self.space) else node.orelse)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        helper = self.space.get(node.func.id) if isinstance(node.func, ast.Name) else None
        if isinstance(helper, FunctionType):  # its parameters have the names of its arguments, x and y
            return self.visit(ast.parse(inspect.getsource(helper)).body[0].body[-1].value)
        return self.generic_visit(node)


@cache
def _operations(module: str, table: str = "") -> dict[str, ast.expr]:
    """The expression of each operation in the tables of a file, or in one of them."""
    nodes = {}
    for statement in ast.parse(inspect.getsource(sys.modules[module])).body:
        names = [getattr(target, "id", "") for target in getattr(statement, "targets", [])]
        for node in ast.walk(statement) if not table or table in names else []:
            for key, value in zip(node.keys, node.values) if isinstance(node, ast.Dict) else []:
                value = value.elts[0] if isinstance(value, ast.Tuple) else value  # an operation, and what is said of it
                if isinstance(key, ast.Constant) and isinstance(value, ast.Lambda):
                    nodes[key.value] = value.body
                elif isinstance(key, ast.Constant) and isinstance(value, ast.Constant) and isinstance(value.value, str):
                    with suppress(SyntaxError):
                        nodes[key.value] = ast.parse(value.value, mode="eval").body
    return nodes


def expression(module: str, table: str, name: str) -> str:
    """The expression that a function of a table returns, as code."""
    return ast.unparse(_operations(module, table)[name])
