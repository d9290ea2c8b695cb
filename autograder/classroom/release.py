"""A class repository: the course that an instructor gives to students, without the answers.

It contains some labs, their readings and their checks, the grader's code, and the framework. It has no solutions, and the
bodies of these labs' exercises are *sealed*: packed in a file that students do not read by accident. The framework runs on the
sealed bodies until a student plugs in others, because nothing runs without a dispatcher. The exercises of later labs are not
changed.
"""

from __future__ import annotations

import ast
import re
import shutil
import tempfile
import tomllib
import zlib
from base64 import b85encode
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import nbformat

from .. import translation
from ..course import COURSE, FOR_ASSISTANTS, READINGS, RELEASED, replacing
from ..engine import changes, patients, practice
from ..engine.check import CLINIC, find, function_of
from ..engine.edition import body_lines, check_files, file_of, framework_files
from ..model import Course, Lab, phases
from . import kept_releases

_README = Path(__file__).with_name("readme.md")  # of a class repository


def release(course: Course, labs: list[Lab], folder: Path, core: bool = False, language: str = "") -> Path:
    """Write a class repository for some labs into `folder`, which must not exist yet. Returns `folder`.

    With `core`, the further exercises of these labs carry no points in this class, from now on. With `language`, the labs and the
    readings are in it, as far as they are translated. Raises FileExistsError if the folder exists, and LookupError if the gradebook
    already has points for the further exercises, or if the course is not in this language. Whatever fails, nothing is left.
    """
    if language:
        translation.expect(language)
    if folder.exists():
        raise FileExistsError(f"{folder} exists already: name a new folder")
    with _restoring_on_failure(course, labs, folder):
        if core:
            labs = kept_releases.take_only_core(course, labs)
        for lab in labs:
            kept_releases.keep_release(lab)
            kept_releases.expect_checks(lab)
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent, prefix="releasing-") as temporary:
            copy = Path(temporary) / "course"
            for name, text in sealed_files([name for lab in labs for name in lab.exercises]).items():
                _write(copy / name, text)
            grader = Path(__file__).parents[1]
            checked = {name for lab in labs for name in (lab.name, *patients.labs_with_checks(lab.name))}
            for path in [
                *(path for room in rooms(grader) for path in [*room.glob("*.py"), *room.glob("desk.html")]),
                *check_files(sorted(checked)),
            ]:
                _write(copy / "autograder" / path.relative_to(grader), path.read_text(encoding="utf-8"))
            for place, packed in ("patients", patients.sealed), ("changes", changes.sealed):
                for name, text in (pair for lab in labs for pair in packed(lab.name).items()):
                    _write(copy / "autograder" / place / name, text)
            shutil.copytree(grader / "jupyter", copy / "autograder" / "jupyter")
            for name in _project_files():
                (copy / name).parent.mkdir(exist_ok=True)
                shutil.copy(COURSE / name, copy / name)
            readings = [READINGS / phase for phase in phases() if any(lab.phase == phase[:2] for lab in labs)]
            for path in [*(RELEASED / lab.name for lab in labs), *readings, READINGS / "recorded"]:
                shutil.copytree(path, copy / path.relative_to(COURSE), ignore=shutil.ignore_patterns(".*"))
            for path in readings if language else ():
                text = nbformat.writes(translation.reading(path.name, language))
                _write(copy / path.relative_to(COURSE) / "reading.ipynb", text + "\n")
            for path in (copy / READINGS.relative_to(COURSE)).glob("*/reading.*"):
                _write(path, _without_dead_links(path))
            for lab in labs:
                _write(copy / "labs" / lab.name / f"{lab}.ipynb", kept_releases.text_for_students(lab, language))
            for path in translation.catalogues(
                [*(f"labs/{lab}" for lab in labs), *(f"phases/{path.name}" for path in readings)]
            ):
                (copy / path.relative_to(COURSE).parent).mkdir(parents=True, exist_ok=True)
                shutil.copy(path, copy / path.relative_to(COURSE))
            readme = translation.markdown(
                _README.read_text(encoding="utf-8"), translation.say(language, "class/readme")
            )
            _write(copy / "README.md", readme.format(labs=", ".join(map(str, labs)), last=labs[-1].number))
            shutil.copy(FOR_ASSISTANTS, copy / "AGENTS.md")
            for path in filter(None, (practice.fresh(lab.name) for lab in labs)):
                (copy / practice.FOLDER.name).mkdir(exist_ok=True)
                shutil.copy(path, copy / practice.FOLDER.name)
            ignored = (COURSE / ".gitignore").read_text(encoding="utf-8")
            _write(copy / ".gitignore", ignored.replace(f"/{practice.FOLDER.name}/\n", ""))
            _write(copy / ".gitattributes", "* text=auto eol=lf\n")  # on Windows, too
            copy.rename(folder)
    return folder


def rooms(grader: Path) -> list[Path]:
    """The folders of the grader's code, without the checks: a class has those of its labs."""
    return [grader, *(file.parent for file in sorted(grader.glob("*/__init__.py")) if file.parent.name != "checks")]


@contextmanager
def _restoring_on_failure(course: Course, labs: list[Lab], folder: Path) -> Iterator[None]:
    """If an exception is raised within, the class's records are as before, and there are no new folders."""
    kept = [folder for lab in labs for folder in (lab.kept_folder, lab.editions_folder)]
    core_path = course.core_path
    core = core_path.read_bytes() if core_path.exists() else None
    releases_before = {path for place in kept for path in place.glob("*")}
    folders = {parent for path in [folder, core_path, *kept] for parent in [path, *path.parents] if not parent.exists()}
    try:
        yield
    except BaseException:
        for path in {path for place in kept for path in place.glob("*")} - releases_before:
            path.unlink()
        if core is None:
            core_path.unlink(missing_ok=True)
        elif core_path.read_bytes() != core:
            with replacing(core_path) as part:
                part.write_bytes(core)
        for made in sorted(folders, reverse=True):  # a folder after those in it
            with suppress(OSError):
                made.rmdir()
        raise


def _project_files() -> list[str]:
    """The files of the project that students get too. A wheel has the same ones."""
    project = tomllib.loads((COURSE / "pyproject.toml").read_text(encoding="utf-8"))
    return project["tool"]["hatch"]["build"]["targets"]["wheel"]["hooks"]["custom"]["class-repository"]


def _without_dead_links(reading: Path) -> str:
    """The text of a reading, in which a link to the reading of a phase that is not released is the words of the link."""

    def linked(link: re.Match) -> str:
        return link[0] if (reading.parent / link[2]).exists() else link[1]

    return re.sub(r"\[([^][]+)\]\((\.\./\w+/reading\.ipynb)[#\w-]*\)", linked, reading.read_text(encoding="utf-8"))


# Sealing -------------------------------------------------------------------------------------------------------------

_SEALED = '''"""The answers to the exercises of the labs, packed: the framework runs on them until you plug in your pieces."""

import zlib
from base64 import b85decode

unsealed = {}  # filled before anything runs, because torch's compiler follows a call of an answer, but not its unpacking


def unseal(namespace):
    for (module, function), packed in PACKED.items():
        if module == namespace["__name__"]:
            found = {}
            exec(zlib.decompress(b85decode(packed)), namespace, found)
            unsealed[module, function] = found[function]


PACKED = {
'''


_UNSEAL = "\n\nfrom rushlight.sealed import unseal\n\nunseal(globals())\n"


def sealed_files(names: list[str]) -> dict[str, str | bytes]:
    """The framework's files, by their names in the course, with the bodies of these exercises sealed.

    The answers of the clinic are left out, because nothing runs on them: a student would only have to print one.
    """
    answers = [name for name in names if find(name).lab.startswith(CLINIC)]
    files, packed = framework_files(answers), ""
    for name in (name for name in names if name not in answers):
        path, function = file_of(name), function_of(name)
        key = function.__module__, function.__name__
        whole = files[path]
        assert isinstance(whole, str)
        definition, text = seal(whole, key)
        files[path] = text.removesuffix(_UNSEAL) + _UNSEAL
        packed += f"    {key!r}: {b85encode(zlib.compress(definition.encode(), 9)).decode()!r},\n"
    return files | {"rushlight/sealed.py": _SEALED + packed + "}\n"}


def seal(source: str, key: tuple[str, str]) -> tuple[str, str]:
    """The definition of a function, whose key is its module and its name, and the module with a call of the sealed one."""
    lines = source.splitlines(keepends=True)
    functions = (node for node in ast.parse(source).body if isinstance(node, ast.FunctionDef))
    function = next(node for node in functions if node.name == key[1])
    first, last = body_lines(function)
    given = function.args
    arguments = [argument.arg for argument in [*given.posonlyargs, *given.args]]
    arguments += [f"*{given.vararg.arg}"] if given.vararg else []
    arguments += [f"{argument.arg}={argument.arg}" for argument in given.kwonlyargs]
    arguments += [f"**{given.kwarg.arg}"] if given.kwarg else []
    body = ["    from rushlight.sealed import unsealed\n\n", f"    return unsealed[{key!r}]({', '.join(arguments)})\n"]
    definition = "".join(lines[function.lineno - 1 : last])
    return "from __future__ import annotations\n" + definition, "".join(lines[: first - 1] + body + lines[last:])


def _write(path: Path, text: str | bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
