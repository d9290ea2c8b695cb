"""An installed wheel: the labs are in it, and work outside the repository."""

import os
import re
import shutil
import subprocess
import sys
import zipfile
from functools import partial
from importlib.util import cache_from_source
from pathlib import Path

import nbformat
import pytest
from commands import run_each

from autograder.course import SOURCES
from autograder.model import Course

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """The command as a student runs it who has installed the wheel, in an empty folder."""
    place = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "-w", place, ROOT]
    subprocess.run(command, check=True, stdin=subprocess.DEVNULL)
    packages = place / "packages"
    zipfile.ZipFile(next(place.glob("*.whl"))).extractall(packages)
    for path in packages.rglob("*.py"):
        source = ROOT / path.relative_to(packages)
        if (compiled := Path(cache_from_source(source))).exists():  # to compile all again takes seconds
            path.with_name("__pycache__").mkdir(exist_ok=True)
            shutil.copy(compiled, cache_from_source(path))
            os.utime(path, ns=(0, source.stat().st_mtime_ns))
    (place / "home").mkdir()

    def python(*arguments):
        environment = os.environ | {"PYTHONPATH": str(packages)}
        command = [sys.executable, *arguments]
        return subprocess.run(command, cwd=place / "home", env=environment, capture_output=True, text=True)

    def run(*arguments):
        return python("-m", "autograder.cli", *arguments)

    run.home, run.packages, run.each = place / "home", packages, partial(run_each, python)
    return run


def test_a_lab_with_its_reading_is_copied_and_checked(run):
    lab = Course().find_lab("01a")
    said = run("lab", "01a", "--no-open")
    copy = run.home / "work" / lab.name / f"{lab.name}.ipynb"
    assert said.stdout.startswith("copied the lab to ") and said.stderr == ""
    assert (run.home / "phases/01_strided/reading.ipynb").exists()
    notebook, solved = (nbformat.read(path, as_version=4) for path in (copy, SOURCES / lab.name / f"{lab.name}.ipynb"))
    answers = {cell.id: cell.source for cell in solved.cells}
    exercise = next(cell for cell in notebook.cells if cell.metadata.get("rushlight", {}).get("exercise"))
    exercise.source = answers[exercise.id]
    nbformat.write(notebook, copy)
    checked = run("check", "01a")
    assert f"✓ {exercise.metadata.rushlight.exercise}: all" in checked.stdout
    assert checked.stdout.count("✓") == 1


def test_no_link_of_a_reading_is_dead(run):
    assert run("lab", "13c", "--no-open").returncode == 0
    reading = run.home / "phases/13_clinic/reading.ipynb"
    links = re.findall(r"\]\((\.\./\w+/reading\.ipynb)", reading.read_text(encoding="utf-8"))
    assert len(links) > 20 and not [link for link in links if not (reading.parent / link).exists()]


@pytest.mark.sweep
def test_a_class_repository_can_be_made_of_it(run):
    assert run("release", "--out", "class", "01a").returncode == 0
    made = {path.name for path in (run.home / "class").iterdir()}
    assert made >= {"Makefile", "autograder", "labs", "phases", "pyproject.toml", "rushlight"}
    assert made >= {".devcontainer", ".dockerignore", "binder", "container"}


def test_a_lab_that_is_opened_again_leaves_the_copies_alone(run):
    lab = Course().find_lab("01b")
    run("lab", "01b", "--no-open")
    copies = [run.home / "work" / lab.name / f"{lab.name}.ipynb", run.home / "phases/01_strided/reading.ipynb"]
    for path in copies:
        path.write_text("{}")
    (run.home / "phases/01_strided/reading.md").unlink()
    assert run("lab", "01b", "--no-open").returncode == 0
    assert [path.read_text() for path in copies] == ["{}", "{}"]
    assert (run.home / "phases/01_strided/reading.md").exists()


def test_what_needs_the_repository_says_so_and_changes_nothing(run):
    before = {path: path.stat().st_mtime_ns for path in run.packages.rglob("*.py")}
    for said in run.each(["build"], ["docs"], ["mutants"]):
        assert (said.returncode, said.stdout) == (1, ""), said.args
        assert "this needs the course's repository" in said.stderr, said.args
    assert {path: path.stat().st_mtime_ns for path in run.packages.rglob("*.py")} == before


def test_it_says_its_version(run):
    from rushlight import __version__

    assert run("--version").stdout == f"rushlight {__version__}\n"
    (metadata,) = run.packages.glob("rushlight-*.dist-info/METADATA")
    assert f"\nVersion: {__version__}\n" in metadata.read_text(encoding="utf-8")


def test_no_solution_of_a_lab_is_in_it(run):
    notebooks = [path.read_text(encoding="utf-8") for path in run.packages.rglob("labs/**/*.ipynb")]
    assert notebooks and not [text for text in notebooks if "BEGIN SOLUTION" in text]
    assert not [path for path in run.packages.rglob("*") if "solutions" in path.parts]
