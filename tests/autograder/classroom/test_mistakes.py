"""The likeliest mistakes, made: what is said names the cause and the way out."""

import json
import os
import shutil
import socket
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient
from sweep import swept

from autograder.course import RELEASED
from autograder.model import lab_names

START = "import rushlight as rl\nfrom autograder import check, exercise"
UNTOUCHED = ("--notebook", "labs/01a_views/01a_views.ipynb")


@pytest.fixture(scope="module")
def course(root, tmp_path_factory):
    """A copy of the course, in which nothing is to be changed."""
    place = tmp_path_factory.mktemp("mistakes") / "course"
    for folder in ("autograder", "rushlight", "labs", "solutions"):
        shutil.copytree(root / folder, place / folder, ignore=shutil.ignore_patterns("*.pyc.*"))  # being written
    for file in ("Makefile", "constraints.txt", "mkdocs.yml", "nbgrader_config.py", "pyproject.toml", "system.sh"):
        shutil.copy(root / file, place)
    return place


@pytest.fixture
def spoilt(course, tmp_path):
    """A copy that a test may change."""
    return shutil.copytree(course, tmp_path / "spoilt")


@pytest.fixture(scope="module")
def python_without(tmp_path_factory):
    """Pythons that have all that this one has, except rushlight and what begins with these names."""

    def make(*packages):
        place = tmp_path_factory.mktemp("python")
        venv.create(place, symlinks=True, with_pip=False)
        site = Path(sysconfig.get_path("purelib", vars={"base": place}))
        for entry in Path(sysconfig.get_path("purelib")).iterdir():
            if not entry.name.startswith(packages) and "rushlight" not in entry.name:
                (site / entry.name).symlink_to(entry)
        return str(place / "bin" / "python")

    return make


@pytest.fixture
def path_without(tmp_path):
    """A PATH on which everything is but one program."""

    def make(missing):
        for program in Path("/usr/bin").iterdir():
            if program.name != missing:
                (tmp_path / program.name).symlink_to(program)
        return str(tmp_path)

    return make


@pytest.fixture
def shown(tmp_path, monkeypatch):
    """Return the output of the last of some cells in a kernel of a Python, by default this one."""

    def run(*sources, python=sys.executable, path=""):
        place = tmp_path / "kernels" / "another"
        place.mkdir(parents=True)
        start = [python, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
        spec = {"argv": start, "display_name": "another", "env": {"PYTHONPATH": str(path)}}
        (place / "kernel.json").write_text(json.dumps(spec))
        monkeypatch.setenv("JUPYTER_PATH", str(tmp_path))
        here = {"metadata": {"path": str(tmp_path)}}
        notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in sources])
        NotebookClient(notebook, timeout=600, allow_errors=True, kernel_name="another", resources=here).execute()
        return json.dumps(notebook.cells[-1].outputs)

    return run


def said(command, place, code=1, **environment):
    """Return the output of a command that ends with this exit code."""
    own = {"PYTHONPATH": str(place), "RUSHLIGHT_CLASSROOM": str(place / "classroom"), "PYTHONDONTWRITEBYTECODE": ""}
    environment = os.environ | own | environment
    done = subprocess.run(command, cwd=place, env=environment, capture_output=True, text=True)
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout + done.stderr


def rushlight(place, *arguments, python=sys.executable, **options):
    return said([python, "-m", "autograder.cli", *arguments], place, **options)


def test_no_python_of_that_name(course):
    words = said(["make", "lab", "PYTHON=python9"], course, code=2)
    assert "there is no python9" in words and "make lab PYTHON=" in words


def test_wrong_python(course, tmp_path):
    old = tmp_path / "python3"
    old.write_text(
        f"#!/bin/sh\nexec {sys.executable} -c 'import sys; sys.version_info = (3, 9, 1); exec(sys.argv[1])' \"$2\"\n"
    )
    old.chmod(0o755)
    words = said(["make", "lab", f"PYTHON={old}"], course, code=2)
    assert "3.11 to 3.13" in words and "this is 3.9" in words and "make lab PYTHON=" in words
    assert not (course / ".venv").exists()
    words = said([str(old), "-c", "import rushlight"], course)
    assert "3.11 to 3.13" in words and "make lab" in words


def test_no_compiler(course):
    words = said(
        [sys.executable, "-c", "from rushlight.utils import cpp_extension as cpp; cpp.compiler()"],
        course,
        PATH="/nowhere",
        CXX="",
    )
    assert "no C++ compiler" in words and "apt-get install g++" in words


@pytest.mark.sweep
def test_no_compiler_where_a_class_is_graded(spoilt):
    shutil.copytree(spoilt / "labs" / "06b_transforms", spoilt / "classroom" / "submitted" / "ann" / "06b_transforms")
    without = "from autograder import cli; from autograder.engine import sandbox"
    without += "; sandbox.PATH = '/nowhere'; sandbox.missing = lambda *_: None; cli.main()"
    words = said([sys.executable, "-c", without, "grade", "06b"], spoilt)
    assert "no compiler" in words and "apt-get install g++" in words
    assert not (spoilt / "classroom" / "gradebook.db").exists()


@pytest.mark.parametrize("command", [("check", "01a", *UNTOUCHED), swept(("grade", "01a", "--sample"))])
def test_no_bubblewrap(spoilt, path_without, command):
    words = rushlight(spoilt, *command, PATH=path_without("bwrap"))
    assert "bubblewrap is not installed" in words and "apt-get install bubblewrap" in words and "--no-sandbox" in words


def test_port_taken(course):
    (course / "mkdocs.yml").write_text("site_name: Rushlight\n")
    with socket.socket() as server:
        server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if server.connect_ex(("127.0.0.1", 8000)):
            server.bind(("127.0.0.1", 8000))
            server.listen()
        words = rushlight(course, "docs", "--serve")  # there are no pages here, so that it ends by itself
    assert "port 8000 is taken" in words and "127.0.0.1:8001" in words


@pytest.mark.sweep
def test_notebook_run_out_of_order(shown, course):
    answer = f"{START}\n@exercise(rl.strided)\ndef contiguous_strides(sizes):\n    return from_a_cell_above(sizes)"
    words = shown(answer, 'check("aten.strided.contiguous_strides")', path=course)
    assert "from_a_cell_above" in words and "run that first" in words


@pytest.mark.sweep
def test_check_run_before_its_exercise(shown, course):
    words = shown(START, 'check("aten.strided.contiguous_strides")', path=course)
    assert "not attempted" in words and "its cell has not been run" in words


FIRST_CELLS = """
import runpy, sys, traceback
for path in sys.argv[1:]:
    try:
        runpy.run_path(path)
    except ModuleNotFoundError:
        traceback.print_exc(file=sys.stdout)
    print("=====")
"""


def test_kernel_without_rushlight(python_without, shown, tmp_path):
    python, paths = python_without("torch"), []
    for lab in lab_names():
        released = nbformat.read(RELEASED / lab / f"{lab}.ipynb", as_version=4)
        first = next(cell.source for cell in released.cells if cell.cell_type == "code")
        paths.append(tmp_path / f"{lab}.py")
        paths[-1].write_text(first)
    *each, end = said([python, "-c", FIRST_CELLS, *map(str, paths)], tmp_path, code=0).split("=====\n")
    assert len(each) == len(paths) and end == ""
    for path, words in zip(paths, each):
        assert "ModuleNotFoundError" in words and "make lab" in words, path
    assert "make lab" in shown(first, python=python)


@pytest.mark.sweep
def test_torch_missing(python_without, shown, spoilt):
    python = python_without("torch")
    answer = f"{START}\n@exercise(rl.strided)\ndef permute(self, dims):\n    return self"
    for words in (
        rushlight(spoilt, "grade", "01a", "--sample", "--jobs", "1", python=python),
        shown(answer, 'check("aten.strided.permute")', python=python, path=spoilt),
    ):
        assert "no torch" in words and "make -B setup" in words


@pytest.mark.sweep
def test_edited_check_cell_and_copy_of_another_version_of_the_lab(course, released, tmp_path, isolated):
    released.cells = [cell for cell in released.cells if cell.id != "aten-strided-permute"]
    next(cell for cell in released.cells if cell.id == "check-aten-strided-select").source = "pass"
    nbformat.write(released, tmp_path / "mine.ipynb")
    words = rushlight(course, "check", "01a", "--notebook", str(tmp_path / "mine.ipynb"))
    edited, another = (line for line in words.splitlines() if "mine.ipynb: " in line)
    assert "not the lab's own check cells" in edited and "aten.strided.select" in edited and "put back" in edited
    assert "another release of the lab" in another and "aten-strided-permute" in another and "rushlight lab" in another


@pytest.mark.sweep
def test_misspelt_check(shown, course):
    words = shown(START, 'check("strided.contiguous_stride")', path=course)
    assert "there is no check" in words and "aten.strided.contiguous_strides" in words


@pytest.mark.parametrize("command", [("lab", "01a", "--no-open"), swept(("grade", "01a", "--sample"))])
def test_lab_not_built(spoilt, command):
    shutil.rmtree(spoilt / "labs" / "01a_views")
    words = rushlight(spoilt, *command)
    assert "has not been built" in words and "rushlight build 01a" in words


@pytest.mark.sweep
def test_stale_notebook(spoilt):
    source = spoilt / "solutions" / "01a_views" / "01a_views.md"
    source.write_text(source.read_text().replace("# Lab 01", "# Lab one"))
    words = rushlight(spoilt, "build", "01a", "--check")
    assert "differs from a rebuild" in words and "rushlight build" in words
