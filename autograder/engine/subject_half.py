"""The subject's half of the checks: their programs, and the functions and constants that these use.

A module of checks has both halves. The judge's half is the cases, the edges, the hints, and the oracles, which a student's code
could run for the answers. A subject in a sandbox gets the subject's half only.
"""

from __future__ import annotations

import ast
import symtable
from collections.abc import Collection, Iterator, Mapping
from pathlib import PurePosixPath


def subject_half(sources: Mapping[str, str]) -> dict[str, str]:
    """The texts of modules of checks, by the paths of their files below `autograder`, without what only the judge uses.

    `sources` has all modules that import each other, `checks/cases.py` among them.
    """
    modules = {path: _Module(path, text, sources) for path, text in sources.items()}
    waiting = [
        (module, statement) for module in modules.values() for statement in module.tree.body if module.stays(statement)
    ]
    while waiting:
        module, statement = waiting.pop()
        if statement in module.kept:
            continue
        module.kept.add(statement)
        for path, name in module.uses(statement):
            path, name = _origin(modules, path, name)
            waiting += (
                [(modules[path], statement) for statement in modules[path].statements(name)] if path in modules else []
            )
    return {path: module.text(modules) for path, module in modules.items()}


def _origin(modules: Mapping[str, _Module], path: str, name: str | None) -> tuple[str, str | None]:
    """The module that defines a name which another one only imports, and the name there."""
    while path in modules and name in modules[path].imported:
        path, name = modules[path].imported[name]
    return path, name


class _Module:
    """A module of checks without its oracles, and the statements of it that are kept."""

    def __init__(self, path: str, text: str, sources: Collection[str]):
        self.path, self.sources = path, sources
        self.tree = _WithoutJudge().visit(ast.parse(text))
        self.kept: set[ast.stmt] = set()
        self.imported = {
            bound: (source, name) for node in ast.walk(self.tree) for bound, source, name in self._imports(node)
        }

    def stays(self, statement: ast.stmt) -> bool:
        """Whether a statement is kept even if nothing uses it: a program, an import, a docstring."""
        functions = (node for node in ast.walk(statement) if isinstance(node, ast.FunctionDef))
        if any(_registers(decorator) for function in functions for decorator in function.decorator_list):
            return True
        return not _binds(statement) or not _binds(statement).isdisjoint({"TOPICS", "ON_TORCH"})

    def statements(self, name: str | None) -> list[ast.stmt]:
        """The statements that define or change a name of this module. All statements for None."""
        return [statement for statement in self.tree.body if name is None or name in _binds(statement)]

    def uses(self, statement: ast.stmt) -> Iterator[tuple[str, str | None]]:
        """The modules and names that a statement uses. The name is None for a whole module."""
        if isinstance(statement, ast.Import | ast.ImportFrom):
            return
        used = _globals(statement)
        names = _names(statement) & used
        parts = {name: attributes for name, attributes in _parts(statement).items() if name in used}
        if "globals" in names:
            yield self.path, None
        for name in {*names, *parts}:
            source, original = self.imported.get(name, (self.path, name))
            if original is not None:
                yield source, original
            elif name in names:
                yield source, None
            else:
                yield from ((source, part) for part in parts[name])

    def text(self, modules: Mapping[str, _Module]) -> str:
        body = [self._filtered(statement, modules) for statement in self.tree.body if statement in self.kept]
        return ast.unparse(ast.Module([statement for statement in body if statement is not None], [])) + "\n"

    def _filtered(self, statement: ast.stmt, modules: Mapping[str, _Module]) -> ast.stmt | None:
        """An import without the names that its module no longer has."""
        if not isinstance(statement, ast.ImportFrom):
            return statement
        origins = {bound: _origin(modules, source, name) for bound, source, name in self._imports(statement)}
        gone = {bound for bound, (path, name) in origins.items() if path in modules and not modules[path].has(name)}
        names = [alias for alias in statement.names if (alias.asname or alias.name) not in gone]
        return ast.ImportFrom(statement.module, names, statement.level) if names else None

    def has(self, name: str | None) -> bool:
        return name is None or any(name in _binds(statement) for statement in self.kept)

    def _imports(self, node: ast.AST) -> Iterator[tuple[str, str, str | None]]:
        """For each name that a relative import binds: the file of the module, and the name there, None for the module itself."""
        if not isinstance(node, ast.ImportFrom) or not node.level:
            return
        folder = PurePosixPath(self.path).parents[node.level - 1].joinpath(*(node.module or "").split("."))
        for alias in node.names:
            bound, module = alias.asname or alias.name, str(folder / f"{alias.name}.py")
            if node.module is None or module in self.sources:
                yield bound, module, None
            else:
                yield bound, f"{folder}.py", alias.name


class _WithoutJudge(ast.NodeTransformer):
    """Removes oracles, and the arguments of `program` that only the judge reads."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef | None:
        if any(getattr(decorator, "attr", "") == "oracle" for decorator in node.decorator_list):
            return None
        self.generic_visit(node)
        for decorator in node.decorator_list:
            if isinstance(decorator, ast.Call) and _registers(decorator):
                decorator.keywords = [] if _counts(decorator) else [ast.keyword("cases", ast.Constant(None))]
        return node

    def visit_For(self, node: ast.For) -> ast.For | None:
        self.generic_visit(node)
        return node if node.body else None

    def visit_Expr(self, node: ast.Expr) -> ast.Expr | None:
        return None if getattr(getattr(node.value, "func", None), "attr", "") == "oracle" else node


def _registers(decorator: ast.expr) -> bool:
    """Whether a decorator is `program(...)` or `CHECK.counted(...)`."""
    return getattr(getattr(decorator, "func", None), "id", "") == "program" or _counts(decorator)


def _counts(decorator: ast.expr) -> bool:
    return getattr(getattr(decorator, "func", None), "attr", "") == "counted"


def _binds(statement: ast.stmt) -> set[str]:
    """The names that a statement of a module defines or changes. Empty for imports, which are always kept."""
    if isinstance(statement, ast.FunctionDef | ast.ClassDef):
        return {statement.name}
    if isinstance(statement, ast.Assign):
        return set().union(*map(_names, statement.targets))
    if isinstance(statement, ast.AugAssign | ast.AnnAssign):
        return _names(statement.target)
    if isinstance(statement, ast.For):
        return set().union(*map(_binds, statement.body))
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        return _names(getattr(statement.value.func, "value", ast.Tuple([])))  # a method changes its object
    return set()


def _globals(statement: ast.stmt) -> set[str]:
    """The names of the module that a statement uses, and not those of the functions in it."""

    def walk(table: symtable.SymbolTable) -> Iterator[str]:
        is_module = table.get_type() == "module"
        yield from (
            symbol.get_name()
            for symbol in table.get_symbols()
            if (symbol.is_referenced() if is_module else symbol.is_global())
        )
        for child in table.get_children():
            yield from walk(child)

    return set(walk(symtable.symtable(ast.unparse(statement), "<statement>", "exec")))


def _parts(tree: ast.AST) -> dict[str, set[str]]:
    """Return the attributes that are taken of a name, for each name."""
    attributes: dict[str, set[str]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            attributes.setdefault(node.value.id, set()).add(node.attr)
    return attributes


def _names(tree: ast.AST) -> set[str]:
    """The names in a piece of code, without those that only give attributes."""
    inside = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and id(node) not in inside}
