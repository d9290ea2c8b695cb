"""The command line as a person meets it."""

import os
import shutil
import subprocess
import sys
import tomllib

import pytest
import yaml

from autograder import cli


@pytest.fixture
def rushlight(root):
    def call(*arguments, code=0, **environment):
        command = [sys.executable, "-m", "autograder.cli", *arguments]
        done = subprocess.run(command, cwd=root, env=os.environ | environment, capture_output=True, text=True)
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout + done.stderr

    return call


def test_help_names_every_command(rushlight):
    said = rushlight("--help")
    for command in ("lab", "check", "status", "build", "grade", "release", "mutants", "docs"):
        assert command in said


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["grade", "99"], "there is no lab '99'; the labs are 00_trace"),
        (["lab", "strided", "--no-open"], "there is no lab 'strided'"),
        (["grade", "01a"], "no student has handed in 01a_views"),
        (["check", "01a", "--notebook", "/nowhere.ipynb"], "there is no /nowhere.ipynb"),
        (["check", "01a", "--notebook", "README.md"], "README.md is not a notebook of 01a_views"),
        (["check", "01a", "--notebook", "phases/01_strided/reading.ipynb"], "is it the notebook of another one?"),
    ],
)
def test_bad_input_gets_one_line_and_an_exit_code(root, tmp_path, monkeypatch, capsys, arguments, words):
    monkeypatch.chdir(root)
    monkeypatch.setenv("RUSHLIGHT_CLASSROOM", str(tmp_path))
    monkeypatch.setattr(sys, "argv", ["rushlight", *arguments])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    said = "".join(capsys.readouterr()) + ended.value.code  # which Python prints, and exits with 1
    assert words in said
    assert len(said.strip().splitlines()) == 1
    assert list(tmp_path.iterdir()) == []


def test_an_error_in_a_process_of_its_own_is_one_line_and_the_exit_code_is_1(rushlight):
    assert len(rushlight("grade", "99", code=1).strip().splitlines()) == 1


def test_a_lab_is_copied_once_and_never_overwritten(root, tmp_path):
    course = tmp_path / "course"
    for folder in ("autograder", "rushlight", "labs", "solutions"):
        shutil.copytree(root / folder, course / folder)
    command = [sys.executable, "-m", "autograder.cli", "lab", "01a", "--no-open"]
    copy = course / "work" / "01a_views" / "01a_views.ipynb"
    subprocess.run(command, cwd=course, check=True, capture_output=True)
    assert copy.read_text() == (root / "labs" / "01a_views" / "01a_views.ipynb").read_text()
    copy.write_text("mine")
    subprocess.run(command, cwd=course, check=True, capture_output=True)
    assert copy.read_text() == "mine"


@pytest.mark.sweep
def test_check_gives_the_solved_lab_all_its_points(rushlight, isolated):
    said = rushlight("check", "01a", "--notebook", "solutions/01a_views/01a_views.ipynb")
    assert "28 of 28 points" in said


@pytest.mark.sweep
def test_check_gives_the_untouched_lab_none(rushlight, isolated):
    assert "0 of 28 points" in rushlight("check", "01a", "--notebook", "labs/01a_views/01a_views.ipynb", code=1)


def test_conda_and_pip_install_the_same_packages(root):
    project = tomllib.loads((root / "pyproject.toml").read_text())["project"]
    by_pip = {*project["dependencies"], *project["optional-dependencies"]["dev"], f"python{project['requires-python']}"}
    *from_conda, rest = yaml.safe_load((root / "environment.yml").read_text())["dependencies"]
    by_conda = {line.replace("pytorch", "torch") for line in from_conda} | {*rest["pip"]}
    assert by_conda - {"pip", "--editable ."} == by_pip


def test_every_package_is_pinned(root):
    project = tomllib.loads((root / "pyproject.toml").read_text())["project"]
    pins = {line.partition("==")[0].lower() for line in (root / "constraints.txt").read_text().splitlines()}
    wanted = {line.partition(">=")[0] for line in [*project["dependencies"], *project["optional-dependencies"]["dev"]]}
    assert wanted <= pins
    assert "torch==2.13.0" in (root / "constraints.txt").read_text().splitlines()


@pytest.mark.parametrize(
    ("installed", "driver", "said"), [("2.13.0+cpu", True, True), ("2.13.0+cpu", False, False), ("2.13.0", True, False)]
)
def test_with_an_nvidia_driver_one_line_says_how_to_get_the_build_for_cuda(
    monkeypatch, tmp_path, installed, driver, said
):
    monkeypatch.setattr(cli, "version", lambda name: installed)
    monkeypatch.setattr(shutil, "which", lambda name: None)
    file = tmp_path / "version"
    if driver:
        file.touch()
    line = cli._other_build(file)
    assert bool(line) == said and "\n" not in line
    assert not said or "torch===2.13.0`" in line
