"""Editions: copies of the framework without the answers.

A student's code is graded on an edition of `rushlight` without the bodies of the lab's exercises, together with the few
modules of `autograder` that a subject needs. It contains neither torch nor a solution, and of the checks only the programs.
Editions are made once, kept in the user's cache under a name that depends on their content, and mounted read-only.
"""

from __future__ import annotations

import ast
import hashlib
import importlib.metadata
import importlib.util
import inspect
import marshal
import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from functools import cache
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import CodeType
from typing import TYPE_CHECKING

import rushlight

from ..course import cache_folder
from .check import OF_CLINIC, every_exercise, function_of, is_on_torch
from .subject_half import subject_half

if TYPE_CHECKING:
    from ..model import Lab

IS_MISSING = "is this lab's exercise"  # how the error of a body that is not there ends
RULES = re.compile(r"^( *)Rules:\n((?:\1    .*\n|\n)+)", re.MULTILINE)  # the section of a docstring that a lab folds

SUBJECT_MODULES = (
    "__init__.py",
    "course.py",
    "language.py",
    "engine/__init__.py",
    "engine/check.py",
    "engine/devices.py",
    "engine/exercise.py",
    "engine/observe.py",
    "engine/probe.py",
    "engine/recorder.py",
    "engine/subject.py",
    "engine/verdict.py",
    "notebook/__init__.py",
    "notebook/cells.py",
    "notebook/clinic.py",
    "notebook/kernel.py",
    "notebook/work.py",
)
TORCH_MODULES = (*SUBJECT_MODULES, "engine/torch_side.py")


def edition(lab: Lab, missing: list[str] | None = None) -> Path:
    """The folder of an edition in which the exercises `missing` (by default all that this class has to write) have no body."""
    missing = tuple(lab.required if missing is None else missing)
    folder = cache_folder() / "editions" / _name(lab, missing)
    if not folder.exists():
        _write(folder, _files(lab, missing))
    return folder


def keep(kind: str, files: dict[str, str | bytes], compiled: Callable[[dict], dict[str, str | bytes]]) -> Path:
    """The folder with what `compiled(files)` returns. It is made once, and named after the kind, the content of `files`, the module
    that defines `compiled`, and the version of Python: another version cannot read what this one compiles."""
    named = sys.implementation.cache_tag, _text(Path(inspect.getfile(compiled))), sorted(files.items())
    digest = hashlib.sha256(repr(named).encode()).hexdigest()[:16]
    folder = cache_folder() / "editions" / f"{kind}-{digest}"
    if not folder.exists():
        _write(folder, compiled(files))
    return folder


def versions(lab: Lab, missing: list[str] | None = None) -> dict[str, str]:
    """Name the versions on which a verdict depends, besides the submission and the seed: of torch, of the course's own files, with
    the edition in which the exercises `missing` have no body, and of Python."""
    grader = Path(__file__).parents[1]
    files = [*grader.glob("*.py"), *grader.glob("engine/*.py"), *grader.glob("notebook/*.py")]
    files += [grader / "classroom" / name for name in ("grade.py", "plugin.py", "restore.py")]
    files = sorted({*files, *check_files([lab.name])})
    digest = hashlib.sha256(b"".join(_bytes(path) for path in files)).hexdigest()[:12]
    course = f"{rushlight.__version__} ({edition(lab, missing).name.rpartition('-')[2]}-{digest})"
    python = f"{sys.version_info.major}.{sys.version_info.minor}"
    torch = "none"
    with suppress(importlib.metadata.PackageNotFoundError):
        torch = importlib.metadata.version("torch")
    return {"torch": torch, "rushlight": course, "Python": python}


@cache  # every second chance needs one
def _name(lab: Lab, missing: tuple[str, ...]) -> str:
    return f"{lab}-{digest_of_files(_files(lab, missing))}"


def digest_of_files(files: Mapping[str, str | bytes]) -> str:
    """A digest of the names and contents of these files."""
    parts = [(name, _digest(text)) for name, text in sorted(files.items())]
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:16]


@cache  # editions share most of their files
def _digest(text: str | bytes) -> str:
    return hashlib.sha256(text if isinstance(text, bytes) else text.encode()).hexdigest()


def framework_files(missing: Sequence[str]) -> dict[str, str | bytes]:
    """The framework's files, by their names in the course, with the bodies of the exercises `missing` removed.

    Trained weights, `*.npz`, are bytes. All other files are text. Of the C++ only what runs CUDA is there: the other kernel has a
    form in numpy. The generator's templates are left out, because it does not run there.
    """
    files: dict[str, str] = {}
    for name, path in _in_framework(
        "*.py", "*.yaml", "*.h", "*.toml", "*.txt", "on_torch/cuda_on_host/*.cpp", "on_torch/cuda_on_host/*.md"
    ).items():
        names = [exercise.rpartition(".")[2] for exercise in missing if file_of(exercise) == name]
        files[name] = without_bodies(_text(path), names) if names else _text(path)
    if sealed := files.get("rushlight/sealed.py"):  # in a class repository
        files["rushlight/sealed.py"] = without_sealed(sealed, missing)
    return files | {name: _bytes(path) for name, path in _in_framework("*.npz").items()}


@cache
def _in_framework(*patterns: str) -> dict[str, Path]:
    """The framework's files of these names, by their names in the course, in order."""
    framework = Path(rushlight.__file__).parent
    paths = sorted(path for pattern in patterns for path in framework.rglob(pattern))
    return {f"rushlight/{path.relative_to(framework).as_posix()}": path for path in paths}


def without_sealed(source: str, names: Sequence[str]) -> str:
    """The text of `rushlight/sealed.py` without these exercises: each has a line that begins with its module and function."""
    keys = [(function_of(name).__module__, name.rpartition(".")[2]) for name in names]
    starts = tuple(f"    {key!r}: " for key in keys)
    return "".join(line for line in source.splitlines(keepends=True) if not line.startswith(starts))


@cache
def file_of(exercise: str) -> str:
    """The file of the framework that defines an exercise, by its name in the course."""
    return function_of(exercise).__module__.replace(".", "/") + ".py"


@cache  # a process works on the files as they were when it read them first
def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8")


@cache
def _bytes(path: Path) -> bytes:
    return path.read_bytes()


def _files(lab: Lab, missing: Sequence[str]) -> dict[str, str | bytes]:
    grader, files = Path(__file__).parents[1], framework_files(missing)
    for name in TORCH_MODULES if is_on_torch(lab.name) else SUBJECT_MODULES:
        files[f"autograder/{name}"] = _text(grader / name)
    return files | {f"autograder/{name}": text for name, text in _programs(lab.name).items()}


def patient_files(labs: Collection[str]) -> dict[str, str | bytes]:
    """The files of a patient's edition: the framework without the answers of the clinic, and the subject's half of the checks of
    these labs."""
    answers = [name for name in every_exercise() if name.startswith(OF_CLINIC)]
    grader, files = Path(__file__).parents[1], framework_files(answers)
    names = ("interpreter.py", "patient_side.py", "ranks_side.py", "student_side.py")
    for name in (*TORCH_MODULES, *(f"engine/{name}" for name in names)):
        files[f"autograder/{name}"] = _text(grader / name)
    texts = {path.relative_to(grader).as_posix(): _text(path) for path in check_files(sorted(labs))}
    return files | {f"autograder/{name}": text for name, text in subject_half(texts).items()}


@cache
def _programs(name: str) -> dict[str, str]:
    """The subject's half of the checks of a lab."""
    grader = Path(__file__).parents[1]
    return subject_half({path.relative_to(grader).as_posix(): _text(path) for path in check_files([name])})


def check_files(labs: Sequence[str]) -> list[Path]:
    """The files with the checks of these labs, and what they share: `shared_07` with the other labs of the phase and with those
    that import it, the rest with all labs."""
    folder = Path(__file__).parents[1] / "checks"
    others = [path for path in sorted(folder.glob("*.py")) if not path.stem.startswith("shared_")]
    own = [path for lab in labs for path in sorted(folder.glob(f"{lab}/*.py"))]
    used = [number for path in own for number in re.findall(r"from \.\.shared_(\d\d) import", _text(path))]
    numbers = [*dict.fromkeys([*(lab[:2] for lab in labs), *used])]
    for number in numbers:  # it grows, because these files may share what others have
        shared = [*folder.glob(f"shared_{number}.py"), *sorted(folder.glob(f"shared_{number}/*.py"))]
        found = [number for path in shared for number in re.findall(r"from \.shared_(\d\d) import", _text(path))]
        numbers += [number for number in found if number not in numbers]
        others += shared
    return [*others, *own]


def without_bodies(source: str, names: Sequence[str]) -> str:
    """Source text with the bodies of these module-level functions replaced by `raise NotImplementedError`.

    Signatures and docstrings stay. Raises LookupError for a function that is not there.
    """
    lines = source.splitlines(keepends=True)
    functions = {node.name: node for node in ast.parse(source).body if isinstance(node, ast.FunctionDef)}
    for name in sorted(names, key=lambda name: functions[name].lineno if name in functions else 0, reverse=True):
        if name not in functions:
            raise LookupError(f"there is no module-level function {name!r}")
        first, last = body_lines(functions[name])
        lines[first - 1 : last] = [f'    raise NotImplementedError("{name} {IS_MISSING}")\n']
    return "".join(lines)


def body_lines(function: ast.FunctionDef) -> tuple[int, int]:
    """First and last line (from 1, both included) of a function's body after its docstring."""
    body = function.body[1:] if ast.get_docstring(function) is not None else function.body
    return body[0].lineno, function.end_lineno or 0  # which `ast.parse` always knows


def _write(folder: Path, files: dict[str, str | bytes]) -> None:
    """Write to a temporary folder and rename it, so that two graders may make the same edition at once."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    temporary = Path(tempfile.mkdtemp(dir=folder.parent, prefix="making-"))
    for name, text in files.items():
        path = temporary / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        if path.suffix == ".py":
            compiled = Path(importlib.util.cache_from_source(path))
            compiled.parent.mkdir(exist_ok=True)
            with suppress(SyntaxError, ValueError):  # an import shows the error
                compiled.write_bytes(_compiled(name, text))
    temporary.chmod(0o755)
    try:
        temporary.rename(folder)
    except OSError:  # another process was faster
        shutil.rmtree(temporary)


@cache  # editions share most of their files
def _compiled(name: str, text: str) -> bytes:
    """The content of a .pyc file that is never compared with its source."""
    code = _compiled_before(Path(__file__).parents[2] / name, text) or compile(text, name, "exec", dont_inherit=True)
    unchecked = (1).to_bytes(4, "little")
    hashed = importlib.util.source_hash(text.encode())
    return importlib.util.MAGIC_NUMBER + unchecked + hashed + marshal.dumps(_of_file(code, name))


def _compiled_before(path: Path, text: str) -> CodeType | None:
    """The code of a file of the course, from Python's own cache, if this is its text: to compile all of them takes seconds."""
    with suppress(OSError):
        code = SourceFileLoader(path.stem, str(path)).get_code(path.stem)
        return code if path.read_text(encoding="utf-8") == text else None
    return None


def _of_file(code: CodeType, name: str) -> CodeType:
    """The same code, compiled from a file of this name."""
    inner = (_of_file(each, name) if isinstance(each, CodeType) else each for each in code.co_consts)
    return code.replace(co_filename=name, co_consts=tuple(inner))
