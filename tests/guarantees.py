"""The lock: the exercises whose mutants, alternatives and wrong answers were all tried, each with a hash of the tried text.

`tests/guarantees.lock` has a line for each exercise: its name, a hash, and the seconds that its trials took. The hash is over
the reference, the checks, the alternatives and wrong answers and the mutants that are listed as equivalent. An answer that is
an edit of the reference counts as the function that the edit makes. The hash is made of syntax trees, so docstrings, comments, line
breaks, names of local variables and the file's own path are no part of it. The lock begins with torch's version and a hash over
the rules that mutants are made by. A rare rule (`mutants.RARE`) is part of an exercise's hash instead, if it makes a mutant there.
The last word of a line is a hash over the bytes of all files that the first hash is made from. If these are the same, so is that.
A trial is a test marked `guarantee`. `pytest --lock` runs the trials of the exercises whose line is missing or stale.
"""

from __future__ import annotations

import ast
import copy
import dis
import hashlib
import inspect
import os
import sys
import textwrap
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import version
from pathlib import Path
from types import CodeType

import pytest

from autograder import checks
from autograder.author import mutants
from autograder.course import SOURCES
from autograder.engine import torch_dumps
from autograder.engine.check import Check, every_exercise, function_of

HERE = Path(__file__).parent
LOCK = HERE / "guarantees.lock"
CHECKS = Path(checks.__file__).parent
FUTURE = annotations.compiler_flag
UNKNOWN_SECONDS = 60  # of an exercise that was never tried, if no other one was


Place = tuple[str, ast.stmt]  # a file, and a statement of it


# Source, without its prose -------------------------------------------------------------------------------------------


def canonical(node: ast.AST) -> str:
    """A syntax tree as a text without docstrings, hints and listings, the same in every version of Python.

    A function's local variables are numbered in the order in which they appear, because a new name for one changes no trial.
    Parameters and imports keep their names, and so do the local variables of a function that looks names up at run time.
    """
    writer = _Writer()
    writer.write(node, {})
    return " ".join(writer.pieces)


_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_LOOKS_NAMES_UP = {"locals", "vars", "dir", "eval", "exec"}

Locals = dict[str, object]  # by name: an object for each local variable, None for other names that a function binds


class _Writer:
    def __init__(self):
        self.pieces: list[str] = []
        self.numbers: dict[object, int] = {}  # of the local variables, in the order in which they appear

    def write(self, node: object, names: Locals) -> None:
        if isinstance(node, list):
            self.pieces.append("[")
            for item in node:
                if not _is_prose(item):
                    self.write(item, names)
            self.pieces.append("]")
        elif not isinstance(node, ast.AST):
            self.pieces.append(repr(node))
        elif isinstance(node, ast.Name) and names.get(node.id):
            self.pieces.append(f"(local {self.numbers.setdefault(names[node.id], len(self.numbers))})")
        else:
            self._write_fields(node, names)

    def _write_fields(self, node: ast.AST, names: Locals) -> None:
        self.pieces.append(f"({type(node).__name__}")
        own = _locals_of(node)
        inner = names | own if own else names
        for name in node._fields:
            value = getattr(node, name, None)
            if name == "ctx" or value is None or value == []:
                continue
            self.pieces.append(name)
            if isinstance(node, _COMPREHENSIONS) and name == "generators":
                self._write_generators(value, names, inner)
            else:
                outside = isinstance(node, _FUNCTIONS) and name != "body"  # decorators, defaults and annotations
                self.write(value, names if outside else inner)
        self.pieces.append(")")

    def _write_generators(self, generators: list[ast.comprehension], names: Locals, inner: Locals) -> None:
        """The first iterable of a comprehension belongs to the scope around it."""
        self.write(generators[0].iter, names)
        for generator in generators:
            self.write(generator, inner)


def _locals_of(scope: ast.AST) -> Locals:
    """The names that a function or a comprehension binds: its local variables, and those that keep their names."""
    if isinstance(scope, _COMPREHENSIONS):
        return {name: object() for generator in scope.generators for name in _stored(generator.target)}
    if not isinstance(scope, _FUNCTIONS):
        return {}
    arguments = {argument.arg for argument in _nodes(scope.args) if isinstance(argument, ast.arg)}
    stored, kept = set(), arguments
    for node in _of_own_scope(scope):
        match node:
            case ast.Name(id=name, ctx=ast.Store()):
                stored.add(name)
            case ast.Global(names=others) | ast.Nonlocal(names=others):
                kept.update(others)
            case ast.alias(name=name, asname=other):
                kept.add(other or name.partition(".")[0])
            case ast.ClassDef(name=name):
                kept.update({name}, _stored(node))  # its attributes are no local variables
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                kept.add(name)
            case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                kept.add(name)
            case ast.MatchMapping(rest=str(name)):
                kept.add(name)
    local = stored - kept
    if local and any(isinstance(node, ast.Name) and node.id in _LOOKS_NAMES_UP for node in _nodes(scope)):
        local = set()
    return dict.fromkeys(kept | stored) | {name: object() for name in local}


def _stored(node: ast.AST) -> set[str]:
    return {name.id for name in _nodes(node) if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Store)}


def _nodes(node: ast.AST) -> list[ast.AST]:
    """The nodes of a tree, as `ast.walk` gives them, in a quarter of the time."""
    nodes = [node]
    for node in nodes:
        nodes += _children(node)
    return nodes


def _children(node: ast.AST) -> list[ast.AST]:
    if isinstance(node, (ast.Name, ast.Constant)):
        return []
    children = []
    for name in node._fields:
        value = getattr(node, name, None)
        if isinstance(value, list):
            children += [item for item in value if isinstance(item, ast.AST)]
        elif isinstance(value, ast.AST):
            children.append(value)
    return children


def _of_own_scope(scope: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a function's body, without what functions, classes and comprehensions in it bind for themselves."""
    waiting = [*scope.body] if isinstance(scope.body, list) else [scope.body]
    for node in waiting:
        yield node
        if isinstance(node, _COMPREHENSIONS):  # `:=` in a comprehension binds a name of the function
            waiting += [walrus.target for walrus in _nodes(node) if isinstance(walrus, ast.NamedExpr)]
        elif not isinstance(node, (*_FUNCTIONS, ast.ClassDef)):
            waiting += _children(node)


def _is_prose(node: object) -> bool:
    is_text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
    return is_text or isinstance(node, ast.keyword) and node.arg in ("hint", "show", "asked", "refuses")


class Source:
    """The statements of a file, and which of them define a name."""

    def __init__(self, path: Path):
        self.path = path
        self.statements = ast.parse(path.read_text(encoding="utf-8")).body
        self.defining: dict[str, list[ast.stmt]] = {}
        self.imported: dict[str, tuple[str, str]] = {}  # the file and the name there, for what checks or answers share
        for statement in self.statements:
            if isinstance(statement, ast.ImportFrom) and statement.level:
                self.imported |= {alias.asname or alias.name: place for alias, place in self._shared(statement)}
            for name in _defined(statement):
                self.defining.setdefault(name, []).append(statement)

    def _shared(self, statement: ast.ImportFrom) -> Iterator[tuple[ast.alias, tuple[str, str]]]:
        folder = self.path.parents[statement.level - 1].joinpath(*(statement.module or "").split("."))
        for alias in statement.names:
            for path, name in ((folder.with_suffix(".py"), alias.name), (folder / f"{alias.name}.py", "")):
                if (path.is_relative_to(CHECKS) or path.is_relative_to(SOURCES)) and path.exists():
                    yield alias, (str(path), name)

    def at(self, line: int) -> ast.stmt:
        """The statement that this line belongs to."""
        return next(statement for statement in self.statements if line <= statement.end_lineno)


@cache
def source_of(path: str) -> Source:
    return Source(Path(path))


def _defined(statement: ast.stmt) -> set[str]:
    """The names that a statement of a module binds or changes."""
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return {statement.name}
    if isinstance(statement, (ast.Import, ast.ImportFrom)):
        return set()
    changed = [*getattr(statement, "targets", []), getattr(getattr(statement, "value", None), "func", None)]
    roots = {root.id for target in changed if (root := _root(target)) is not target and isinstance(root, ast.Name)}
    return _stored(statement) | roots


def _root(node: ast.AST | None) -> ast.AST | None:
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        node = node.value
    return node


@cache
def _mentioned(statement: ast.stmt) -> set[tuple[str, str]]:
    """The global names that a statement loads, each with the attribute that it then loads."""
    plain = _without_prose(statement)
    waiting = [compile(ast.Module([plain], []), "", "exec", FUTURE, dont_inherit=True)]
    mentioned: set[tuple[str, str]] = set()
    for code in waiting:
        waiting += [constant for constant in code.co_consts if isinstance(constant, CodeType)]
        steps = [*dis.get_instructions(code)]
        for step, following in zip(steps, [*steps[1:], steps[-1]]):
            if step.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
                attribute = following.argval if following.opname in ("LOAD_ATTR", "LOAD_METHOD") else ""
                mentioned |= {(step.argval, ""), (step.argval, attribute)}
    if ("globals", "") in mentioned:  # it may look up a name that is a text
        texts = (constant.value for constant in ast.walk(statement) if isinstance(constant, ast.Constant))
        mentioned |= {(text, "") for text in texts if isinstance(text, str)}
    return mentioned


def _without_prose(statement: ast.stmt) -> ast.stmt:
    """A statement without the hint and the listing of its check, which nothing else is reached by."""
    decorators = getattr(statement, "decorator_list", [])
    if not any(isinstance(decorator, ast.Call) for decorator in decorators):
        return statement
    plain = copy.copy(statement)
    plain.decorator_list = [copy.copy(decorator) for decorator in decorators]
    for decorator in plain.decorator_list:
        if isinstance(decorator, ast.Call):
            decorator.keywords = [keyword for keyword in decorator.keywords if not _is_prose(keyword)]
    return plain


@cache
def _used(path: str, statement: ast.stmt) -> set[Place]:
    """The statements that define what a statement mentions, in its own file and in those of checks or answers that it imports."""
    source, places = source_of(path), set()
    for name, attribute in _mentioned(statement):
        there, imported = source.imported.get(name, (path, name))
        places |= {(there, definition) for definition in source_of(there).defining.get(imported or attribute, [])}
    return places


def reached(roots: Iterable[Place], steps: int | None = None) -> set[Place]:
    """These statements and the definitions that they reach, in so many steps."""
    known = waiting = set(roots)
    while waiting and steps != 0:
        waiting = {used for place in waiting for used in _used(*place)} - known
        known = known | waiting
        steps = None if steps is None else steps - 1
    return known


def where(function: Callable) -> Place:
    """The file that defines a function, and the statement there, which may have made it."""
    code = inspect.unwrap(function).__code__
    return code.co_filename, source_of(code.co_filename).at(code.co_firstlineno)


# The hash of an exercise ---------------------------------------------------------------------------------------------


def digest(exercise: str) -> str:
    """The hash over all that the trials of an exercise depend on."""
    texts = [sorted(_text(statement) for _, statement in part) for part in parts(exercise)]
    lab = mutants.graded_checks(exercise)[0].lab
    listed = sorted(change for name, change in mutants.equivalents(lab) if name == exercise)
    return hashlib.sha256(repr((texts, listed)).encode()).hexdigest()[:16]


def parts(exercise: str) -> list[set[Place]]:
    """The statements that the trials of an exercise depend on: its reference's, its checks', its answers' and others."""
    graded = mutants.graded_checks(exercise)
    programs = [program for check in graded for program in (check.program, check.torch_program) if program]
    found = [
        reached([where(function_of(exercise))], steps=1),
        reached([*map(where, programs), *_making(graded)]),  # their decorators name the cases and the edges
        reached(_answers(exercise, graded[0].lab)),
    ]
    if any("_torch_dumps" in name for _, statement in found[1] for name, _ in _mentioned(statement)):
        found.append(reached([where(torch_dumps.known), where(torch_dumps._make)]))
    if rare := [rule for rule in mutants.RARE if mutants.mutants(exercise, [rule])]:
        found.append(reached(map(where, rare)))
    return found


def digest_of_files(exercise: str) -> str:
    """A hash over the bytes of all files that `digest` may read. It takes a tenth of the time."""
    return hashlib.sha256(repr([*map(_digest_of_file, files(exercise))]).encode()).hexdigest()[:16]


@cache
def _digest_of_file(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def files(exercise: str) -> list[Path]:
    """The files of `parts(exercise)`, some that they could import, the list of equivalent mutants, and this file."""
    lab = mutants.graded_checks(exercise)[0].lab
    own = inspect.getfile(inspect.unwrap(function_of(exercise)))
    return [*_of_lab(lab), *map(Path, (own, mutants.__file__, torch_dumps.__file__, __file__))]


@cache
def _of_lab(lab: str) -> list[Path]:
    folders = [CHECKS / lab, SOURCES / lab, *CHECKS.glob("shared_*")]
    return sorted(
        {
            *CHECKS.glob("*.py"),
            *SOURCES.glob("*.py"),
            *(p for f in folders for p in f.rglob("*.py")),
            SOURCES / lab / "equivalent.toml",
        }
    )


def _making(graded: Collection[Check]) -> Iterator[Place]:
    """The statements of a module of checks that calls a function to make them, as `patient` does."""
    for path in {inspect.getfile(sys.modules[check.program.__module__]) for check in graded}:
        if path not in {where(check.program)[0] for check in graded}:
            yield from ((path, statement) for statement in source_of(path).statements)


@cache
def basis() -> str:
    """Torch's version, and a hash over the rules that mutants are made by, without the rare ones."""
    rules = sorted(_text(statement) for _, statement in reached([where(mutants.mutants)]))
    return f"torch {version('torch').partition('+')[0]} mutants {hashlib.sha256(repr(rules).encode()).hexdigest()[:16]}"


@cache
def _text(statement: ast.stmt) -> str:
    return hashlib.sha256(canonical(statement).encode()).hexdigest()


def _answers(exercise: str, lab: str) -> Iterator[Place]:
    for path in (str(SOURCES / lab / name) for name in ("right.py", "wrong.py")):
        for name, statements in source_of(path).defining.items():
            if "__" in name.strip("_") and name.rpartition("__")[0] == exercise.rpartition(".")[2]:
                yield from ((path, written_out(statement, exercise)) for statement in statements)


def written_out(statement: ast.stmt, exercise: str) -> ast.stmt:
    """An answer that is written as an edit of the exercise's reference, as the function that the edit makes."""
    match statement:
        case ast.Assign([ast.Name(name)], ast.Call(ast.Name("edited"), [_, *changes])) if _literal(changes):
            text = textwrap.dedent(inspect.getsource(function_of(exercise)))
            for old, new in map(ast.literal_eval, changes):
                text = text.replace(old, new)
            function = ast.parse(text).body[0]
            function.name = name
            return function
    return statement


def _literal(changes: list[ast.expr]) -> bool:
    return all(isinstance(node, (ast.Tuple, ast.Constant, ast.Load)) for change in changes for node in ast.walk(change))


# The lock ------------------------------------------------------------------------------------------------------------


@dataclass
class Lock:
    basis: str = field(default_factory=basis)  # what the trials of all exercises depend on
    lines: dict[str, tuple[str, int, str]] = field(default_factory=dict)  # by exercise: hash, seconds, hash of files

    def missing(self) -> list[str]:
        """The exercises that were never tried."""
        return [name for name in every_exercise() if name not in self.lines]

    def stale(self) -> list[str]:
        """The exercises that were tried in another form, with another torch, or by mutants of other rules."""
        known = [name for name in every_exercise() if name in self.lines]
        return [name for name in known if self.basis != basis() or not self._is_fresh(name)]

    def _is_fresh(self, name: str) -> bool:
        text, _, files = self.lines[name]
        return files == digest_of_files(name) or text == digest(name)

    def seconds(self, names: Iterable[str]) -> float:
        """How long the trials of these exercises may take, going by those that were timed."""
        timed = [seconds for _, seconds, _ in self.lines.values()]
        guess = sum(timed) / len(timed) if timed else UNKNOWN_SECONDS
        return sum(self.lines[name][1] if name in self.lines else guess for name in names)

    def write(self, path: Path = LOCK) -> None:
        order = {name: position for position, name in enumerate(every_exercise())}
        lines = [" ".join(map(str, (name, *self.lines[name]))) + "\n" for name in order if name in self.lines]
        new = path.with_suffix(".new")
        new.write_text(f"{self.basis}\n{''.join(lines)}", encoding="utf-8")
        os.replace(new, path)


def read(path: Path = LOCK) -> Lock:
    if not path.exists():
        return Lock()
    basis, *lines = path.read_text(encoding="utf-8").splitlines()
    return Lock(basis, {name: (text, int(seconds), files) for name, text, seconds, files in map(str.split, lines)})


# Writing it ----------------------------------------------------------------------------------------------------------


class Recorder:
    """A plugin of pytest: runs the trials of the exercises that are missing or stale, and writes the line of an exercise as soon
    as all of its trials have held. With workers (`-n 2`), each worker selects the trials, and this process records them."""

    def __init__(self, config: pytest.Config, only: Collection[str] = ()):
        self.is_worker = hasattr(config, "workerinput")
        self.lock, known = read(), every_exercise()
        self.lock.lines = {name: line for name, line in self.lock.lines.items() if name in known}
        wanted = {*self.lock.missing(), *self.lock.stale()}
        self.plan = [name for name in known if name in wanted and (not only or name in only)]
        self.waiting = [*self.plan]
        self.digests = {name: (digest(name), digest_of_files(name)) for name in self.plan}  # before they are imported
        if self.lock.basis != basis():  # no line of it is true any more, but the seconds are a guess
            self.lock = Lock(lines={name: ("other-basis", line[1], "-") for name, line in self.lock.lines.items()})
        for name in self.lock.lines.keys() - wanted:
            self.lock.lines[name] = *self.lock.lines[name][:2], digest_of_files(name)
        if not self.is_worker:
            self.lock.write()
        self.reported: Counter[str] = Counter()  # by exercise: its trials that have ended
        self.failed: set[str] = set()
        self.seconds: Counter[str] = Counter()

    def pytest_sessionstart(self, session: pytest.Session) -> None:
        if not self.is_worker:
            self.say = session.config.pluginmanager.get_plugin("terminalreporter").write_line
            self.say(f"{len(self.plan)} exercises to try, {in_words(self.lock.seconds(self.plan))} of one core")

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        config.hook.pytest_deselected(items=[item for item in items if trial_of(item) not in self.plan])
        items[:] = sorted((item for item in items if trial_of(item) in self.plan), key=_position)
        trials = Counter(map(trial_of, items))
        for item in items:
            item.user_properties.append(("trial", (trial_of(item), trials[trial_of(item)])))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if self.is_worker:
            return
        name, trials = dict(report.user_properties)["trial"]
        self.seconds[name] += report.duration
        if not report.passed:
            self.failed.add(name)
        if report.when == "teardown":
            self.reported[name] += 1
            if self.reported[name] == trials:
                self._finish(name)

    def _finish(self, name: str) -> None:
        holds = name not in self.failed
        if holds:
            text, files = self.digests[name]
            self.lock.lines[name] = text, round(self.seconds[name]), files
            self.lock.write()
        self.waiting.remove(name)
        left = in_words(self.lock.seconds(self.waiting))
        done = f"[{len(self.plan) - len(self.waiting)}/{len(self.plan)}]"
        said = "holds" if holds else "DOES NOT HOLD"
        self.say(f"\n{done} {name} {said}, {self.seconds[name]:.0f} s; what is left takes {left} of one core")


def trial_of(item: pytest.Item) -> str:
    """The exercise whose trial a test is, or nothing."""
    marker = item.get_closest_marker("guarantee")
    return marker.args[0] if marker else ""


def _position(item: pytest.Item) -> int:
    return every_exercise().index(trial_of(item))


def in_words(seconds: float) -> str:
    return f"about {seconds / 60:.0f} min" if seconds > 90 else f"about {seconds:.0f} s"
