"""A class repository: the labs work in it, and the answers are not there."""

import ast
import os
import subprocess
import sys

import nbformat
import pytest

from autograder import sample
from autograder.build import exercise_source
from autograder.course import ROOT, exercise_name, exercises
from autograder.release import release

LAB = "01a_views"


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    return release([LAB], tmp_path_factory.mktemp("class") / "course")


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
    for name in exercises(LAB):
        (function,) = ast.parse(exercise_source(name)).body
        body = "\n".join(exercise_source(name).split("### BEGIN SOLUTION\n")[1].split("\n")[:-1])
        assert body not in text, name
        assert function.name in text


def test_the_recordings_that_checks_and_readings_use_are_in_it(course):
    assert [*(course / "phases" / "recorded").rglob("*.json.gz")]


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


def test_a_student_can_take_the_lab_there(course, released, answers, isolated):
    assert "copied the lab" in rushlight(course, "lab", "01a", "--no-open")
    sample.fill(released, answers)
    nbformat.write(released, course / "work" / LAB / f"{LAB}.ipynb")
    assert "28 of 28 points" in rushlight(course, "check", "01a")
    assert "10 / 10" in rushlight(course, "status")


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
    assert said.splitlines()[-1] == "0 of 28 points, and up to 4 for your written answer"


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
        == "0 of 28 points, and up to 4 for your written answer"
    )


def test_a_folder_that_exists_is_left_alone(course):
    before = sorted(course.rglob("*"))
    with pytest.raises(FileExistsError, match="name a new folder"):
        release([LAB], course)
    assert sorted(course.rglob("*")) == before
