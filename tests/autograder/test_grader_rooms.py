"""The rooms of the grader know those below them: an engine that runs checks, and above it the sides of its users."""

import ast
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import autograder

PACKAGE = Path(autograder.__file__).parent
# A room, and the rooms that it may import from. (The registry of the engine imports the checks, by their names.)
KNOWS = {
    "course": "",
    "language": "course",
    "text": "language",
    "model": "course language text",
    "paths": "course model",
    "translation": "course language model",
    "checks": "engine",
    "engine": "course language model checks",
    "notebook": "course language model engine",
    "author": "course language model engine paths translation",
    "classroom": "course language text model engine author translation",
    "exam": "course language text model engine checks author classroom",
    "cli": "course language text model engine notebook author classroom exam paths translation",
}


def name_of(path):
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


# A patient of the clinic, and a case about PyTorch, is read as text and never imported.
MODULES = {name_of(path): path for path in sorted(PACKAGE.rglob("*.py")) if not {"changes", "patients"} & {*path.parts}}


@cache
def imported(name):
    """The modules of the grader that a module imports, at any time, but for the types."""
    package = name if MODULES[name].name == "__init__.py" else name.rpartition(".")[0]
    found = []
    for node in import_froms(ast.parse(MODULES[name].read_text(encoding="utf-8"))):
        up = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
        source = ".".join([*up, *([node.module] if node.module else [])])
        if source in MODULES:
            inner = [f"{source}.{alias.name}" for alias in node.names]
            found += [each if each in MODULES else source for each in inner]
    return found


def import_froms(node):
    """The statements `from … import …` below a node, but for the types."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.ImportFrom):
            yield child
        elif not (isinstance(child, ast.expr) or is_for_types(child)):
            yield from import_froms(child)


def is_for_types(node):
    return isinstance(node, ast.If) and getattr(node.test, "id", "") == "TYPE_CHECKING"


def room(name):
    return name.split(".")[1] if "." in name else None


def test_a_module_imports_from_its_own_room_and_from_those_that_it_knows():
    pairs = [(name, other) for name in MODULES if room(name) for other in imported(name) if room(other)]
    assert len(pairs) > 300 and {room(name) for name in MODULES} - {None} == KNOWS.keys()
    assert [(a, b) for a, b in pairs if room(a) != room(b) and room(b) not in KNOWS[room(a)].split()] == []


def test_no_modules_import_each_other_in_a_circle():
    """(A package's `__init__` hands on what its modules define, so a module that imports its package by name is left out.)"""
    graph = {name: {other for other in imported(name) if not f"{name}.".startswith(f"{other}.")} for name in MODULES}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        raise AssertionError(" -> ".join(reversed(error.args[1]))) from None


def test_a_sandbox_gets_nothing_of_a_class():
    from autograder.engine.edition import TORCH_MODULES

    inside = {f"autograder.{name.removesuffix('.py').replace('/', '.')}" for name in TORCH_MODULES}
    known = {room(other) for name in inside & MODULES.keys() for other in imported(name)}
    assert "classroom" not in known and not any(room(name) == "classroom" for name in inside)


def test_what_checks_share_is_named_after_a_phase_because_an_edition_has_it_by_this_name():
    names = [path.name for path in PACKAGE.glob("checks/shared_*") if path.suffix in ("", ".py")]
    assert [name for name in names if not name.removesuffix(".py").removeprefix("shared_").isdigit()] == []
