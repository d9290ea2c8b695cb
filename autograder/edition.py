"""Editions: copies of the framework without the answers.

A student's code is graded on an edition of `rushlight` in which the bodies of the lab's exercises are gone, next to the
few modules of `autograder` that a subject needs. Neither torch nor a solution is in it. Editions are made once, kept in the
user's cache under a name that depends on their content, and mounted read-only. In a bench lab, where torch is at hand, the
judge's half of the checks is missing too.
"""

from __future__ import annotations

import ast
import compileall
import hashlib
import os
import py_compile
import shutil
import tempfile
from pathlib import Path

import rushlight

from .check import exercises, is_bench

BENCH_MODULES = ("recorder.py", "torch_side.py")
SUBJECT_MODULES = ("__init__.py", "cases.py", "check.py", "exercise.py", "observe.py", "subject.py")


def edition(lab: str, missing: list[str] | None = None) -> Path:
    """The folder of an edition in which the exercises `missing` (all of the lab's, unless said) have no body."""
    files = _files(lab, exercises(lab) if missing is None else missing)
    digest = hashlib.sha256(repr(sorted(files.items())).encode()).hexdigest()[:16]
    folder = cache_folder() / "editions" / f"{lab}-{digest}"
    if not folder.exists():
        _write(folder, files)
    return folder


def cache_folder() -> Path:
    """Where this user keeps what can be made again at any time."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "rushlight"


def framework_files(missing: list[str]) -> dict[str, str]:
    """The framework's files, by their names in the course, with the bodies of the exercises `missing` removed."""
    framework = Path(rushlight.__file__).parent
    files = {}
    for path in sorted([*framework.rglob("*.py"), *framework.rglob("*.yaml")]):
        relative = path.relative_to(framework)
        module = ".".join(relative.with_suffix("").parts)
        names = [name.rpartition(".")[2] for name in missing if name.rpartition(".")[0] == module]
        text = path.read_text(encoding="utf-8")
        has_bodies = names and path.suffix == ".py"  # derivatives.yaml has the name of a module too
        files[f"rushlight/{relative}"] = without_bodies(text, names) if has_bodies else text
    return files


def _files(lab: str, missing: list[str]) -> dict[str, str]:
    grader, files = Path(__file__).parent, framework_files(missing)
    for name in [*SUBJECT_MODULES, *(BENCH_MODULES if is_bench(lab) else ()), "checks/__init__.py", f"checks/{lab}.py"]:
        files[f"autograder/{name}"] = (grader / name).read_text(encoding="utf-8")
    if is_bench(lab):
        files[f"autograder/checks/{lab}.py"] = without_oracles(files[f"autograder/checks/{lab}.py"])
    return files


def without_bodies(source: str, names: list[str]) -> str:
    """Source text with the bodies of these module-level functions replaced by `raise NotImplementedError`.

    Signatures and docstrings stay. Raises LookupError for a function that is not there.
    """
    lines = source.splitlines(keepends=True)
    functions = {node.name: node for node in ast.parse(source).body if isinstance(node, ast.FunctionDef)}
    for name in sorted(names, key=lambda name: functions[name].lineno if name in functions else 0, reverse=True):
        if name not in functions:
            raise LookupError(f"there is no module-level function {name!r}")
        first, last = body_lines(functions[name])
        lines[first - 1 : last] = [f'    raise NotImplementedError("{name} is this lab\'s exercise")\n']
    return "".join(lines)


def without_oracles(source: str) -> str:
    """The text of a file of checks without what only the judge runs: where torch is at hand, those are the answers."""
    lines = source.splitlines(keepends=True)
    for node in reversed(ast.parse(source).body):
        marks = [mark for mark in getattr(node, "decorator_list", []) if isinstance(mark, ast.Attribute)]
        if any(mark.attr == "oracle" for mark in marks):
            lines[node.decorator_list[0].lineno - 1 : node.end_lineno] = []
    return "".join(lines)


def body_lines(function: ast.FunctionDef) -> tuple[int, int]:
    """First and last line (from 1, both included) of a function's body, its docstring not counted."""
    body = function.body[1:] if ast.get_docstring(function) is not None else function.body
    return body[0].lineno, function.end_lineno


def _write(folder: Path, files: dict[str, str]) -> None:
    """Write aside and move into place, so that two graders may make the same edition at once."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    aside = Path(tempfile.mkdtemp(dir=folder.parent, prefix="making-"))
    for name, text in files.items():
        path = aside / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    compileall.compile_dir(
        aside, quiet=2, stripdir=aside, invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH
    )
    aside.chmod(0o755)
    try:
        aside.rename(folder)
    except OSError:  # somebody else was quicker
        shutil.rmtree(aside)
