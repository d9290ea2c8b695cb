"""A class repository: the labs work in it, and the answers are not there."""

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from first_lab import ALL, BY_HAND, CHECKS, POINTS, of
from sweep import sweep

from autograder.author.build import exercise_source
from autograder.classroom import sample
from autograder.classroom.release import release, rooms
from autograder.course import ROOT
from autograder.engine import changes
from autograder.engine.edition import check_files
from autograder.model import Course, Lab, exercise_name, lab_names

LAB = "01a_views"


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    place = tmp_path_factory.mktemp("class")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RUSHLIGHT_CLASSROOM", str(place / "classroom"))
        return release(Course(), [Lab(LAB)], place / "course")


def rushlight(course, *arguments):
    """The command as a student runs it, in the class repository."""
    command = [sys.executable, "-m", "autograder.cli", *arguments]
    environment = os.environ | {"PYTHONPATH": str(course)}
    done = subprocess.run(command, cwd=course, env=environment, capture_output=True, text=True)
    return done.stdout + done.stderr


def test_no_answer_is_in_it(course):
    assert not (course / "solutions").exists() and not (course / "tests").exists()
    text = "".join(
        path.read_text() for path in course.rglob("*.*") if path.is_file() and path.suffix in (".py", ".md", ".ipynb")
    )
    for name in Lab(LAB).exercises:
        (function,) = ast.parse(exercise_source(name)).body
        body = "\n".join(exercise_source(name).split("### BEGIN SOLUTION\n")[1].split("\n")[:-1])
        assert body not in text, name
        assert function.name in text


def test_it_says_to_assistants_what_the_student_does_alone(course):
    assert "What the student does alone" in (course / "AGENTS.md").read_text(encoding="utf-8")


def test_the_recordings_that_checks_and_readings_use_are_in_it(course):
    assert [*(course / "phases" / "recorded").rglob("*.json.gz")]


@pytest.mark.sweep
def test_every_module_of_the_framework_has_the_files_that_it_reads(course):
    program = """
import importlib, pkgutil, rushlight
for module in pkgutil.walk_packages(rushlight.__path__, "rushlight."):
    if not module.name.startswith("rushlight.torchgen") and not module.name.endswith("__main__"):
        importlib.import_module(module.name)
print(rushlight.__file__)
"""
    environment = os.environ | {"PYTHONPATH": str(course)}
    done = subprocess.run([sys.executable, "-c", program], cwd=course, env=environment, capture_output=True, text=True)
    assert done.stdout.startswith(str(course)), done.stderr


def test_the_trained_weights_are_in_it(course):
    name = "rushlight/course/head.npz"
    assert (course / name).read_bytes() == (ROOT / name).read_bytes()


def test_a_piece_that_is_not_plugged_in_runs_and_shows_no_body(course):
    show = "print(rl.zeros(2, 3).transpose(0, 1).stride(), inspect.getsource(rl.strided.transpose))"
    source = f"import inspect, rushlight as rl; {show}"
    done = subprocess.run(
        [sys.executable, "-c", source],
        cwd=course,
        env=os.environ | {"PYTHONPATH": str(course)},
        capture_output=True,
        text=True,
    )
    assert done.stdout.startswith("(1, 3) ") and "unsealed" in done.stdout and "wrap_dim(dim0" not in done.stdout, done


def test_a_reading_has_no_link_to_a_phase_that_is_not_released(tmp_path, monkeypatch):
    monkeypatch.setenv("RUSHLIGHT_CLASSROOM", str(tmp_path / "classroom"))
    course = release(Course(), [Lab("07c_breaks"), Lab("13c_compilers")], tmp_path / "course")
    for name in ("reading.ipynb", "reading.md"):
        path = course / "phases" / "13_clinic" / name
        links = set(re.findall(r"\]\((\.\./[^)#]*)", path.read_text(encoding="utf-8")))
        assert links == {"../07_capture/reading.ipynb"}
        assert "](../01_strided/reading.ipynb" in (ROOT / "phases" / "13_clinic" / name).read_text(encoding="utf-8")
    nbformat.read(course / "phases" / "13_clinic" / "reading.ipynb", as_version=4)


def test_the_cases_about_pytorch_are_packed_and_found_there(tmp_path, monkeypatch):
    monkeypatch.setenv("RUSHLIGHT_CLASSROOM", str(tmp_path / "classroom"))
    course = release(Course(), [Lab("15a_mend")], tmp_path / "course")
    names = {
        path.relative_to(course / "autograder/changes").as_posix() for path in course.glob("autograder/changes/*/*")
    }
    own = [number.replace(".", "/") for number in changes.numbers() if number.startswith(("15.", "15a."))]
    assert names == {f"{name}.sealed" for name in own}
    fault = changes.find_case("15a.1").fault[0][2]
    monkeypatch.setattr(changes, "CASES", course / "autograder/changes")
    assert changes.find_case.__wrapped__("15a.1").fault[0][2] == fault
    assert not [path for path in course.rglob("*.py") if fault in path.read_text(encoding="utf-8")]


@pytest.mark.sweep  # test_platforms.py checks a copy in a class repository
def test_a_student_can_take_the_lab_there(course, released, answers, isolated):
    assert "copied the lab" in rushlight(course, "lab", "01a", "--no-open")
    sample.fill(released, answers)
    nbformat.write(released, course / "work" / LAB / f"{LAB}.ipynb")
    assert of(POINTS) in rushlight(course, "check", "01a")
    assert f"{CHECKS} / {CHECKS}" in rushlight(course, "status")


OPENED = """
import zlib
from base64 import b85decode

import rushlight as rl
from rushlight import sealed


def opened(name):
    packed = next(text for (module, function), text in sealed.PACKED.items() if function == name)
    found = {}
    exec(zlib.decompress(b85decode(packed)), vars(rl.strided), found)
    return found[name]
"""


@pytest.mark.sweep
def test_an_untouched_lab_earns_nothing_there(course, isolated):
    said = rushlight(course, "check", "01a", "--notebook", f"labs/{LAB}/{LAB}.ipynb")
    assert said.splitlines()[-1] == f"{of(0, ALL)}, {BY_HAND:g} of them for your written answer"


@pytest.mark.sweep
def test_whoever_grades_there_does_not_hand_out_the_sealed_bodies(course, released, isolated):
    for exercise in filter(exercise_name, released.cells):
        stub = exercise.source.index("    # YOUR CODE HERE")
        name = exercise_name(exercise).rpartition(".")[2]
        exercise.source = f"{exercise.source[:stub]}    return opened({name!r})(*locals().values())\n"
    released.cells.insert(1, nbformat.v4.new_code_cell(OPENED))
    nbformat.write(released, course / "work" / "hostile.ipynb")
    assert (
        rushlight(course, "check", "01a", "--notebook", "work/hostile.ipynb").splitlines()[-1]
        == f"{of(0, ALL)}, {BY_HAND:g} of them for your written answer"
    )


def test_a_folder_that_exists_is_left_alone(course):
    before = sorted(course.rglob("*"))
    with pytest.raises(FileExistsError, match="name a new folder"):
        release(Course(), [Lab(LAB)], course)
    assert sorted(course.rglob("*")) == before


def named_modules(source, package):
    """The modules of the grader that a text imports, also within functions, or names in a string that `import_module` may get.
    `package` is the list of names of the package that it is in. What is imported from a package may be a module."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            start = package[: len(package) - node.level + 1] if node.level else []
            module = ".".join([*start, *(node.module or "").split(".")]).rstrip(".")
            yield module
            yield from (f"{module}.{alias.name}?" for alias in node.names)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield from re.findall(r"^autograder(?:\.\w+)+(?=\.?$)", node.value)


def not_released(labs, texts):
    """The modules of the grader that these files of checks need, and that a class repository with these labs does not have."""
    released = [*(path for room in rooms(ROOT / "autograder") for path in room.glob("*.py")), *check_files(labs)]
    files = {path.relative_to(ROOT).as_posix() for path in released}
    there = lambda name: not {f"{name.replace('.', '/')}{end}" for end in (".py", "/__init__.py")}.isdisjoint(files)  # noqa: E731
    exists = lambda name: any((ROOT / f"{name.replace('.', '/')}{end}").exists() for end in (".py", "/__init__.py"))  # noqa: E731
    for path, source in texts.items():
        for name in named_modules(source, list(path.parent.parts)):
            name, attribute = name.removesuffix("?"), name.endswith("?")
            if name.startswith("autograder") and not there(name) and (exists(name) or not attribute):
                yield f"{path}: {name}"


@pytest.mark.parametrize("lab", sweep(lab_names(), every=8))
def test_the_checks_of_a_lab_need_no_file_that_a_class_with_this_lab_alone_does_not_have(lab):
    texts = {path.relative_to(ROOT): path.read_text(encoding="utf-8") for path in check_files([lab])}
    assert not [*not_released([lab], texts)]


@pytest.mark.parametrize(
    "text",
    [
        "from importlib import import_module\n\n\ndef f():\n    import_module('autograder.checks.07b_dynamo.calls')\n",
        "def f(topic):\n    return import_module('autograder.checks.07b_dynamo.' + topic)\n",
        "def f(torch):\n    from .missing import found\n",
        "from ..no_such_file import found\n",
    ],
)
def test_such_a_file_is_found_however_it_is_imported(text):
    assert [*not_released(["12c_training"], {Path("autograder/checks/12c_training/text.py"): text})]
