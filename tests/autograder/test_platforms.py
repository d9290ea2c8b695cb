"""The student's side runs on macOS and on Windows.

On Linux, Python is made like theirs (`elsewhere/sitecustomize.py`). On the systems themselves, the same tests run as they are.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
import yaml
from commands import run_each
from first_lab import ALL, BY_HAND, POINTS, of
from nbclient import NotebookClient
from sweep import sweep, swept

from autograder.classroom import sample
from autograder.classroom.release import release
from autograder.course import ROOT, SOURCES
from autograder.model import Course, Lab

LAB = "01a_views"
SYSTEMS = sweep(["win32", "darwin"], keep=["win32"]) if sys.platform == "linux" else [sys.platform]
# a Python that is made like that of Windows cannot give a lock to a process, nor import Inductor
as_compiling = pytest.mark.parametrize("system", [swept("darwin")] if sys.platform == "linux" else [sys.platform])
# the workflow runs these on the systems themselves at every push; on Linux `make test` has similar ones for its own system
on_its_system = pytest.mark.sweep if sys.platform == "linux" else lambda test: test
MODULES = """course engine.card engine.check engine.edition engine.exercise engine.judge engine.limits engine.observe engine.run
    engine.sandbox engine.subject notebook.kernel notebook.work classroom.kept_releases classroom.restore classroom.verdicts"""


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    """A class repository with a student's copy of a lab: one exercise right, one wrong."""
    place = tmp_path_factory.mktemp("elsewhere")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RUSHLIGHT_CLASSROOM", str(place / "classroom"))
        course = release(Course(), [Lab(LAB)], place / "course")
    notebook = nbformat.read(course / "labs" / LAB / f"{LAB}.ipynb", as_version=4)
    answers = sample.answers(nbformat.read(SOURCES / LAB / f"{LAB}.ipynb", as_version=4))
    _, wrong = sample.fill(notebook, answers, until=2 / len(answers))
    wrong.source = wrong.source.replace("return ", "return not ", 1)
    (course / "work" / LAB).mkdir(parents=True)
    nbformat.write(notebook, course / "work" / LAB / f"{LAB}.ipynb")
    return course


@pytest.fixture(params=SYSTEMS)
def system(request):
    return request.param


@pytest.fixture
def python(course, system):
    """`python(argument, …)` runs Python as on a system, in the class repository. A pipe has the encoding of Windows."""

    environment = {"PYTHONPATH": str(course), "PYTHONIOENCODING": "cp1252", "PYTHONUTF8": "0"}
    if sys.platform == "linux":
        environment["PYTHONPATH"] += os.pathsep + str(Path(__file__).parent / "elsewhere")
        environment |= {"RUSHLIGHT_TEST_SYSTEM": system, "LC_ALL": "C"}

    def python(*arguments, cwd=course):
        return subprocess.run(
            [sys.executable, *arguments],
            cwd=cwd,
            env=os.environ | environment,
            capture_output=True,
            encoding="cp1252",
        )

    python.environment = environment
    return python


def rushlight(python, *arguments):
    return python("-m", "autograder.cli", *arguments)


def steps():
    """Return the tests that the workflow runs on these systems."""
    workflow = yaml.safe_load((ROOT / ".github/workflows/tests.yml").read_text(encoding="utf-8"))
    return [step["run"] for step in workflow["jobs"]["elsewhere"]["steps"] if "run" in step]


@pytest.mark.sweep
def test_every_module_that_a_student_needs_can_be_imported(python):
    names = ", ".join(f"autograder.{name}" for name in MODULES.split())
    done = python("-c", f"import rushlight as rl, {names}; rl.distributed; rl.cpp; rl.inductor; print('imported')")
    assert done.stdout.strip() == "imported", done.stderr


@on_its_system
def test_check_compares_a_copy_with_torch(python):
    done = rushlight(python, "check", "01a")
    assert done.returncode == 1 and "Traceback" not in done.stderr, done.stderr
    assert "this system has no sandbox" in done.stdout and f"\n{of(2, ALL)}, {BY_HAND:g} of them" in done.stdout
    assert "aten.strided.element_offset: all" in done.stdout and "aten.strided.contiguous_strides:" in done.stdout


@on_its_system
def test_check_prints_json_and_nothing_else(python):
    done = rushlight(python, "check", "01a", "--json", "--no-sandbox")
    assert (json.loads(done.stdout)["points"], done.returncode) == (2, 1), done.stderr


@on_its_system
def test_status_counts_the_checks(python):
    done = rushlight(python, "status")
    assert (done.returncode, f"2 / {POINTS:g}" in done.stdout) == (0, True), done.stderr


@as_compiling
def test_torch_compiles_in_a_process_of_its_own(python):
    code = "from autograder.engine import judge, torch_dumps as dumps; print(len(dumps._in_a_child(dumps.EDGES[:1])))"
    done = python("-c", code)
    assert done.stdout.strip() == "1", done.stderr


@on_its_system
def test_check_in_a_kernel_shows_a_verdict(python, course, monkeypatch):
    cells = [
        "import rushlight as rl\nfrom autograder import check, exercise",
        "@exercise(rl.strided)\ndef contiguous_strides(sizes):\n    return ()",
        'check("aten.strided.contiguous_strides")',
    ]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    for name, value in python.environment.items():  # the kernel inherits them
        monkeypatch.setenv(name, value)
    where = {"metadata": {"path": str(course)}}
    NotebookClient(notebook, allow_errors=True, timeout=300, kernel_name="python3", resources=where).execute()
    shown, error = notebook.cells[-1].outputs
    assert error.ename == "CheckFailed"
    assert "contiguous_strides" in shown.data["text/plain"] and "replay" in shown.data["text/plain"]


@on_its_system
def test_check_in_a_script_prints_a_verdict(python, tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "if __name__ == '__main__':\n"
        "    import rushlight as rl\n    from autograder import check, exercise\n"
        "    @exercise(rl.strided)\n    def element_offset(index, strides, storage_offset):\n"
        "        return storage_offset + sum(i * s for i, s in zip(index, strides))\n"
        "    check('aten.strided.element_offset')\n"
    )
    done = python(str(script))
    assert done.returncode == 0 and "? aten.strided.element_offset: all" in done.stdout, done.stderr


@pytest.mark.sweep
def test_lab_makes_no_second_copy_and_grade_says_in_one_line_what_it_needs(python, course, system):
    copy, folder = course / "work" / LAB / f"{LAB}.ipynb", course / "classroom" / "submitted" / "ada" / LAB
    before = copy.read_bytes()
    folder.mkdir(parents=True, exist_ok=True)
    (folder / copy.name).write_bytes(before)
    without = [("grade", "01a", "--no-sandbox")] if system == "win32" else []
    lab, grade, *others = run_each(python, ("lab", "01a", "--no-open"), ("grade", "01a"), *without)
    assert (lab.returncode, lab.stderr) == (0, "") and "your copy is" in lab.stdout
    assert copy.read_bytes() == before
    assert grade.returncode == 1 and grade.stderr.count("\n") == 1 and "the sandbox needs Linux" in grade.stderr
    assert all("grading needs Linux or macOS" in other.stderr for other in others)


@on_its_system
def test_the_tests_that_run_there_can_be_collected(python, monkeypatch):
    monkeypatch.delenv("SHARD", raising=False)  # which part of all tests this is
    paths = [word for word in steps()[-1].split() if word.startswith("tests/")]
    done = python("-X", "utf8", "-m", "pytest", "--collect-only", "--capture=sys", "-n", "0", *paths, cwd=ROOT)
    assert paths and done.returncode == 0, done.stdout + done.stderr
    for path in paths:
        assert f"\n{path}" in f"\n{done.stdout}"


@as_compiling
def test_the_solutions_that_are_checked_there_pass(python):
    checked = [line.split()[1:] for step in steps() for line in step.splitlines() if line.startswith("rushlight check")]
    assert len(checked) == 2
    for words in checked:
        # torch reads its templates in the system's encoding, and here that is ASCII
        done = python("-X", "utf8", "-m", "autograder.cli", *words, cwd=ROOT)
        assert done.returncode == 0, done.stdout + done.stderr


def test_no_path_of_the_course_is_one_that_windows_cannot_hold():
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, encoding="utf-8").stdout.split(
        "\0"
    )
    paths = list(filter(None, listed))
    if not paths:
        pytest.skip("no git")
    reserved = {"con", "prn", "aux", "nul", *(f"{device}{n}" for device in ("com", "lpt") for n in range(1, 10))}
    for path in paths:
        assert not {*'<>:"|?*\\'} & {*path} and len(path) < 150, path
        for part in path.split("/"):
            assert part.partition(".")[0].lower() not in reserved and part[-1] not in ". ", path
    assert len({path.lower() for path in paths}) == len(paths)
