"""The command line as a person meets it."""

import io
import json
import multiprocessing
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import tomllib
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from importlib import metadata
from types import SimpleNamespace

import pytest
import yaml
from first_lab import ALL, POINTS, of
from rich.console import Console

from autograder import cli, course
from autograder.cli import app, instructors, students
from autograder.engine.verdict import Verdict
from autograder.model import Course


@pytest.fixture
def rushlight(root):
    def call(*arguments, code=0, **environment):
        command = [sys.executable, "-m", "autograder.cli", *arguments]
        done = subprocess.run(command, cwd=root, env=os.environ | environment, capture_output=True, text=True)
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout + done.stderr

    return call


@pytest.mark.parametrize("arguments", [["--help"], ["-h"], []])
def test_help_names_every_command(rushlight, arguments):
    said = rushlight(*arguments)
    for command in cli.app.commands:
        assert re.search(rf"^  {command}  ", said, re.M)


def test_help_loads_neither_the_framework_nor_what_single_commands_need(root):
    shown = [["--help"], [], *([name, "--help"] for name in cli.app.commands)]
    source = f"""
import sys
from autograder import cli
for arguments in {shown}:
    cli.app.main(arguments, prog_name="rushlight", standalone_mode=False)
print(*sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", source], cwd=root, capture_output=True, text=True, check=True)
    loaded = {*done.stdout.splitlines()[-1].split()}
    assert "autograder.course" in loaded
    assert not loaded & {"numpy", "torch", "rushlight", "nbformat", "jupytext", "nbgrader", "matplotlib", "psutil"}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["chekc"], "Did you mean 'check'?"),
        (["check", "--notebok", "x"], "Did you mean '--notebook'? `"),
        (["grade", "--clas", "x"], "Did you mean '--class' or '--late'? `"),
        (["exam"], "name one of its commands: draw, take"),
        (["pytorch"], "name one of its commands: start, diff"),
        (["release", "01"], "Missing option '--out'"),
        (["release", "--out", "x"], "Missing argument 'LAB...'"),
        (["grade", "01a", "--jobs", "many"], "'many' is not a valid integer"),
        (["grade", "01a", "--jobs", "-1"], "-1 is not in the range x>=1"),
        (["grade", "01a", "--grace", "15min"], "--grace belongs to --late"),
        (["grade", "01a", "--sample", "--class", "."], "--sample has a class of its own"),
        (["marks", "01a"], "A LAB, --column, --by and --scale belong to --into"),
        (["marks", "01a", "--into", "x.csv"], "--into needs a LAB and --out"),
        (["lab", "--lang"], "rushlight lab: Option '--lang' requires an argument. `rushlight lab --help`"),
        (["lab", "01a", "01b"], "name one lab: '01b' is no option of JupyterLab"),
    ],
)
def test_a_command_that_cannot_be_understood_gets_one_line_and_exit_code_2(monkeypatch, capsys, arguments, words):
    monkeypatch.setattr(sys, "argv", ["rushlight", *arguments])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert ended.value.code == 2
    said, wrong = capsys.readouterr()
    assert words in wrong and "--help` says more" in wrong
    assert not said and len(wrong.splitlines()) == 1


def test_an_interrupt_is_one_line_and_the_exit_code_is_130(monkeypatch, capsys):
    def interrupted(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(Course, "find_released", interrupted)
    monkeypatch.setattr(sys, "argv", ["rushlight", "check"])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert ended.value.code == 130
    assert capsys.readouterr().err.strip() == "rushlight: interrupted; run it again to go on"


def test_a_policy_can_be_set_before_a_student_hands_in(root, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(root)
    monkeypatch.setenv("RUSHLIGHT_CLASSROOM", str(tmp_path / "class"))
    monkeypatch.setattr(sys, "argv", ["rushlight", "grade", "01a", "--late", "10%/day", "--grace", "15min"])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    said = capsys.readouterr().out
    assert ended.value.code == 0 and "10%/day, grace 15min for 01a_views, as soon as a student hands in" in said
    assert "01a_views,10%/day,15min" in (tmp_path / "class" / "late.csv").read_text()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["grade", "99"], "there is no lab '99'; the labs are 00, 01a, 01b, …, 15d; `rushlight status` lists all"),
        (["lab", "strided", "--no-open"], "there is no lab 'strided'"),
        (["check", "01_views"], "there is no lab '01_views'; did you mean 01a_views?"),
        (["check", "veiws"], "there is no lab 'veiws'; did you mean 01a_views?"),
        (["check", "03x"], "did you mean 03b_reductions or 03a_loops?"),
        (["mutants", "99"], "there is no lab '99'; the labs are 00, 01a, 01b, …, 15d; `rushlight status` lists all"),
        (["lab", "01a", "--lang", "xx"], "the course is not in 'xx': it has es besides English"),
        (["translate", "99"], "'99' is no code of a language"),
        (["pytorch", "diff", "--lab", "01a"], "there is no case '01a.1'; the cases are"),
        (["exam", "01a"], "gradebook.db: `rushlight grade --class "),
        (
            ["status", "--record", "x.html", "--path", "kernels", "--student", "ada"],
            "no student 'ada' has handed in a lab",
        ),
        (["mutants", "01_views"], "did you mean 01a_views?"),
        (["grade", "01a"], "no student has handed in 01a_views"),
        (["grade"], "no student has handed in a lab: submissions go to"),
        (["grade", "01"], "phase 01 has several labs, so name one: 01a_views"),
        (["grade", "01a", "--late", "10"], "a late policy is a percentage for each day or hour"),
        (["watch", "01a", "--from", "nowhere"], "there is no folder nowhere: submissions arrive there"),
        (["marks"], "gradebook.db: `rushlight grade --class "),
        (["feedback", "01a"], "gradebook.db: `rushlight grade --class "),
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


def test_a_lab_that_a_full_disk_cuts_off_is_copied_again(tmp_path, monkeypatch):
    """`copytree` writes what has room, and then lists what has none."""

    def copytree(source, target, **_):
        target.mkdir(parents=True)
        (target / "01a_views.ipynb").touch()
        raise shutil.Error([("01a", "work/01a", f"{OSError(28, 'No space left on device', '01a', None, 'work/01a')}")])

    copy = tmp_path / "work/01a_views/01a_views.ipynb"
    monkeypatch.setattr(course, "WORK", tmp_path / "work")
    monkeypatch.setattr(sys, "argv", ["rushlight", "lab", "01a", "--no-open"])
    with (
        monkeypatch.context() as full,
        pytest.raises(SystemExit, match=r"^rushlight: work/01a: no space left on device$"),
    ):
        full.setattr(shutil, "copytree", copytree)
        cli.main()
    assert not copy.exists()
    with pytest.raises(SystemExit, match="0"):
        cli.main()
    assert copy.exists()


def test_options_of_jupyterlab_need_no_lab_before_them(monkeypatch, root):
    monkeypatch.setattr(course, "WORK", root / "labs")
    monkeypatch.setattr(students, "_running", lambda: None)
    monkeypatch.setattr(students, "_open", lambda page, said, more, turn: (page.split("/")[-2], more))
    parsed = [
        cli.app.main(["lab", *arguments], standalone_mode=False)
        for arguments in (["--", "--port", "1"], ["02a", "--", "--debug"], ["01b"])
    ]
    assert parsed == [("01a_views", ("--port", "1")), ("02a_keys", ("--debug",)), ("01b_reshape", ())]


def test_a_copy_in_another_language_is_opened_as_it_is_and_the_way_to_a_new_one_is_said(monkeypatch, root):
    monkeypatch.setattr(course, "WORK", root / "labs")  # in English
    monkeypatch.setattr(students, "_open", lambda copy, said, *_: said)
    before = (root / "labs/01a_views/01a_views.ipynb").read_bytes()
    said = cli.app.main(["lab", "01a", "--lang", "es"], standalone_mode=False)
    assert "está en otro idioma" in said and "cambia antes el nombre de labs/01a_views" in said
    assert (root / "labs/01a_views/01a_views.ipynb").read_bytes() == before
    with pytest.raises(LookupError, match="not in 'xx'"):
        cli.app.main(["lab", "01a", "--lang", "xx"], standalone_mode=False)


@pytest.mark.parametrize(
    ("more", "quiet"), [(("--port", "1"), True), (("--log-level=INFO",), False), (("--debug",), False)]
)
def test_a_level_of_jupyterlabs_log_is_given_to_it_once(monkeypatch, root, more, quiet):
    started = []
    monkeypatch.setattr(students, "_start", lambda command: started.append(command) or subprocess.Popen(["true"]))
    assert students._open("lab/tree/x.ipynb", "", more, nullcontext()) == 0
    levels = [option for option in started[0] if "level" in option or option == "--debug"]
    assert levels == (["--log-level=ERROR", "--LabApp.log_level=ERROR"] if quiet else [*more])


def test_an_interrupt_while_jupyterlab_starts_ends_it(monkeypatch, root):
    def interrupted(*arguments):
        raise KeyboardInterrupt

    started = subprocess.Popen(["sleep", "600"])
    monkeypatch.setattr(students, "_start", lambda command: started)
    monkeypatch.setattr(students, "_address_of_new", interrupted)
    with pytest.raises(KeyboardInterrupt):
        students._open("lab/tree/x.ipynb", "", (), nullcontext())
    assert started.poll() is not None


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_without_a_terminal_ends_jupyterlab(monkeypatch, root, number):
    started = subprocess.Popen(["sleep", "600"])
    monkeypatch.setattr(students, "_start", lambda command: started)
    monkeypatch.setattr(students, "_address_of_new", lambda *_: "")
    monkeypatch.setattr(sys, "stdin", io.StringIO())
    threading.Timer(0.2, os.kill, (os.getpid(), number)).start()
    assert students._open("lab/tree/x.ipynb", "", (), nullcontext()) == -signal.SIGTERM


def test_of_two_commands_that_start_jupyterlab_at_once_one_waits(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with ThreadPoolExecutor(1) as other:
        with students._turn():
            second = other.submit(students._turn)
            with pytest.raises(TimeoutError):
                second.result(0.3)
        second.result().close()


def test_a_lab_opens_in_the_jupyterlab_that_runs_in_this_folder_already(monkeypatch, root, tmp_path, capsys):
    monkeypatch.setenv("JUPYTER_RUNTIME_DIR", str(tmp_path))
    monkeypatch.setattr(course, "WORK", root / "labs")
    monkeypatch.setattr(students, "_open", lambda *_: print("JupyterLab's own") or 3)
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    with socket.create_server(("localhost", 0)) as other:
        port = other.getsockname()[1]
        server = {"url": f"http://localhost:{port}/", "hostname": "localhost", "port": port, "token": "t"}
        server |= {"pid": os.getpid(), "root_dir": str(root)}
        (tmp_path / "jpserver-1.json").write_text(json.dumps(server))
        assert app.main(["lab", "01b", "--lang", "es"], standalone_mode=False) == 0
    address = f"http://localhost:{port}/lab/tree/labs/01b_reshape/01b_reshape.ipynb?token=t"
    assert f"JupyterLab ya está en marcha, en {address}" in capsys.readouterr().out
    assert app.main(["lab", "01b"], standalone_mode=False) == 3  # its process has another port now
    assert capsys.readouterr().out.startswith("JupyterLab's own\nroot must allow JupyterLab to start: `")


def test_a_command_that_is_proposed_names_the_class(tmp_path):
    here, other = Course(course.ROOT / "classroom"), Course(tmp_path / "a class")
    assert here.command("rushlight grade 01a") == "rushlight grade 01a"
    assert other.command("rushlight grade 01a") == f"rushlight grade 01a --class '{tmp_path}/a class'"
    assert other.command("nbgrader export") == f"RUSHLIGHT_CLASSROOM='{tmp_path}/a class' nbgrader export"


def test_without_a_lab_all_that_were_handed_in_are_graded(monkeypatch, tmp_path):
    monkeypatch.setenv("RUSHLIGHT_CLASSROOM", str(tmp_path))
    for folder in ("ada/02a_keys", "ben/02a_keys", "ben/01a_views", "ben/another_course"):
        (tmp_path / "submitted" / folder).mkdir(parents=True)
    graded = []
    monkeypatch.setattr(instructors, "grade_lab", lambda lab, *options: graded.append((lab.name, *options)) is None)
    assert cli.app.main(["grade", "--jobs", "3"], standalone_mode=False) == 0
    assert graded == [("01a_views", False, False, 3, None), ("02a_keys", False, False, 3, None)]


@pytest.mark.parametrize("words", [["01a", "ada", "ben"], ["ada", "1a", "ben", "ada"]])
def test_students_are_graded_by_name_in_a_class_that_is_named(monkeypatch, tmp_path, words):
    monkeypatch.delenv("RUSHLIGHT_CLASSROOM", raising=False)
    graded = []
    monkeypatch.setattr(
        instructors, "grade_lab", lambda lab, *options: graded.append((lab.name, lab.course.folder, *options)) is None
    )
    assert cli.app.main(["grade", *words, "--class", str(tmp_path)], standalone_mode=False) == 0
    assert graded == [("01a_views", tmp_path, False, False, None, None, "ada", "ben")]
    assert "RUSHLIGHT_CLASSROOM" not in os.environ


@pytest.mark.parametrize("command", ["explain", "oral"])
@pytest.mark.parametrize("words", [["01a", "ada"], ["ada", "01a"]])
def test_a_student_can_be_named_before_or_after_the_lab(monkeypatch, capsys, tmp_path, command, words):
    monkeypatch.setattr(sys, "argv", ["rushlight", command, *words, "--class", str(tmp_path), "--no-sandbox"])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert "no student 'ada' has handed in 01a_views" in "".join(capsys.readouterr()) + str(ended.value.code)


def test_pieces_that_are_not_attempted_are_one_line_at_the_end(monkeypatch, root, capsys):
    lines = {
        "aten.strided.permute": Verdict("aten.strided.permute", "passed", cases=3),
        "aten.strided.select": Verdict("aten.strided.select", "not attempted"),
        "aten.strided.slice": Verdict(
            "aten.strided.slice", "not attempted", message="the cell that defines it did not run: E: x"
        ),
        "aten.strided.as_strided": Verdict(
            "aten.strided.as_strided", "disagreed", 3, 2, message="yours 0, torch's 1", case={}
        ),
        "together.strided_views": Verdict("together.strided_views", "not attempted", message="a milestone needs half"),
    }
    monkeypatch.setattr(students, "_run", lambda *arguments: lines)
    code = cli.app.main(["check", "--notebook", str(root / "README.md")], standalone_mode=False)
    said = capsys.readouterr().out
    assert code == 1 and of(3, ALL) in said
    marks = [line for line in said.splitlines() if line[:1] in [*"✓✗–"]]
    assert [mark[0] for mark in marks] == [*"✓–✗–"]
    assert "slice: its cell did not run" in said and "did not run: E: x" in said and "torch's" in said
    assert "– not attempted:\n  select\n  strided_views\n" in said


@pytest.mark.parametrize(
    ("terminal", "variables", "coloured"), [(False, {}, False), (True, {}, True), (True, {"NO_COLOR": "1"}, False)]
)
def test_colour_is_for_a_terminal_that_wants_it(monkeypatch, root, terminal, variables, coloured):
    written = io.StringIO()
    environment = {"TERM": "xterm-256color", "COLUMNS": "80"} | variables
    console = Console(highlight=False, soft_wrap=True, file=written, force_terminal=terminal, _environ=environment)
    monkeypatch.setattr(students, "out", console)
    monkeypatch.setattr(
        students, "_run", lambda *arguments: {"aten.strided.permute": Verdict("aten.strided.permute", "passed")}
    )
    cli.app.main(["check", "--notebook", str(root / "README.md")], standalone_mode=False)
    assert ("\x1b[1;32m✓\x1b[0m" in written.getvalue()) == coloured
    assert ("\x1b" in written.getvalue()) <= terminal


@pytest.mark.sweep
def test_what_is_printed_into_a_file_has_no_bar_and_no_escape(tmp_path):
    """(In a fork: this process has imported what the command needs.)"""

    def build():
        sys.stdout = sys.stderr = (tmp_path / "said").open("w", encoding="utf-8")
        sys.argv = ["rushlight", "build", "01a", "--check"]
        cli.main()

    process = multiprocessing.get_context("fork").Process(target=build)
    process.start()
    process.join()
    said = (tmp_path / "said").read_text(encoding="utf-8")
    assert process.exitcode == 0 and said == "nothing differs from a rebuild\n"


def test_an_error_in_a_process_of_its_own_is_one_line_and_the_exit_code_is_1(rushlight):
    assert len(rushlight("grade", "99", code=1).strip().splitlines()) == 1


def test_a_lab_is_copied_once_and_never_overwritten(root, tmp_path):
    course = tmp_path / "course"
    for folder in ("autograder", "rushlight", "labs", "solutions"):
        shutil.copytree(root / folder, course / folder, ignore=shutil.ignore_patterns("*.pyc.*"))  # being written
    command = [sys.executable, "-m", "autograder.cli", "lab", "01a", "--no-open"]
    copy = course / "work" / "01a_views" / "01a_views.ipynb"
    subprocess.run(command, cwd=course, check=True, capture_output=True)
    mine, released = (json.loads(path.read_text()) for path in (copy, root / "labs" / "01a_views" / "01a_views.ipynb"))
    released["metadata"]["language_info"] |= mine["metadata"]["language_info"]  # what JupyterLab would write
    assert mine == released and mine["metadata"]["language_info"]["pygments_lexer"] == "ipython3"
    rules = course / "work" / "AGENTS.md"
    assert "What the student does alone" in rules.read_text()
    for path in (copy, rules):
        path.write_text("mine")
    subprocess.run(command, cwd=course, check=True, capture_output=True)
    assert copy.read_text() == rules.read_text() == "mine"


@pytest.mark.sweep
def test_check_gives_the_solved_lab_all_its_points(rushlight, isolated):
    said = rushlight("check", "01a", "--notebook", "solutions/01a_views/01a_views.ipynb")
    assert of(POINTS, ALL) in said


@pytest.mark.sweep
def test_check_gives_the_untouched_lab_none(rushlight, isolated):
    assert of(0, ALL) in rushlight("check", "01a", "--notebook", "labs/01a_views/01a_views.ipynb", code=1)


def test_conda_and_pip_install_the_same_packages(root):
    project = tomllib.loads((root / "pyproject.toml").read_text())["project"]
    by_pip = {*project["dependencies"], *project["optional-dependencies"]["dev"], f"python{project['requires-python']}"}
    *from_conda, rest = yaml.safe_load((root / "environment.yml").read_text())["dependencies"]
    by_conda = {line.replace("pytorch", "torch") for line in from_conda} | {*rest["pip"]}
    assert by_conda - {"pip", "--editable ."} == by_pip


def test_every_package_is_pinned(root):
    project = tomllib.loads((root / "pyproject.toml").read_text())["project"]
    pins = {line.partition("==")[0].lower() for line in (root / "constraints.txt").read_text().splitlines()}
    lines = [*project["dependencies"], *project["optional-dependencies"]["dev"]]
    wanted = {re.split("[=>]=", line)[0] for line in lines}
    assert wanted <= pins
    assert "torch==2.13.0" in (root / "constraints.txt").read_text().splitlines()


@pytest.mark.parametrize(
    ("installed", "driver", "said"), [("2.13.0+cpu", True, True), ("2.13.0+cpu", False, False), ("2.13.0", True, False)]
)
def test_with_an_nvidia_driver_one_line_says_how_to_get_the_build_for_cuda(
    monkeypatch, tmp_path, installed, driver, said
):
    monkeypatch.setattr(metadata, "version", lambda name: installed)
    monkeypatch.setattr(shutil, "which", lambda name: None)
    file = tmp_path / "version"
    if driver:
        file.touch()
    line = students._other_build(file)
    assert bool(line) == said and "\n" not in line
    assert not said or "torch===2.13.0`" in line


def test_status_runs_a_notebook_again_only_if_something_has_changed(tmp_path, monkeypatch):
    notebook, released, module = (tmp_path / name for name in ("mine.ipynb", "lab.ipynb", "code/check.py"))
    module.parent.mkdir()
    for path in (notebook, released, module):
        path.write_text("1")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(students, "__file__", str(module.parent / "cli" / "students.py"))
    lab, runs = SimpleNamespace(name="01a_views", path=released, required=[]), []
    verdict = SimpleNamespace(passed=True, outcome="passed")

    def run(*arguments):
        runs.append(arguments)
        return {"a": verdict}

    monkeypatch.setattr(students, "_run", run)

    def has_run(isolated=True):
        before = len(runs)
        assert students._passed(lab, notebook, isolated, None) == ["a"] * verdict.passed
        return len(runs) > before

    assert has_run() and not has_run() and has_run(isolated=False) and has_run()
    for path in (notebook, released, module):
        path.write_text("2")
        assert has_run() and not has_run(), path
    module.with_name("another_check.py").write_text("3")
    assert has_run() and not has_run()
    (next((tmp_path / "cache").rglob("*.json"))).write_text("half of")
    assert has_run() and not has_run()
    verdict.outcome, verdict.passed = "grader error", False
    notebook.write_text("4")
    assert has_run() and has_run()


MALFORMED = ["[]", "{}", "{", '{"cells": 3}', '{"cells": [7]}', '{"cells": [{"cell_type": "code"}]}', "[" * 9000]


@pytest.mark.parametrize("text", MALFORMED, ids=range(len(MALFORMED)))
def test_checking_a_file_that_is_no_notebook_is_one_line(tmp_path, text):
    path = tmp_path / "x.ipynb"
    path.write_text(
        text.replace("}", ', "metadata": {}, "nbformat": 4, "nbformat_minor": 5}') if "cells" in text else text
    )
    with pytest.raises(LookupError, match="is not a notebook of 01a_views: ") as error:
        app.main(["check", "01a", "--notebook", str(path), "--no-sandbox"], standalone_mode=False)
    assert "\n" not in str(error.value) and "copies the lab again" not in str(error.value)


def test_a_copy_that_is_no_notebook_has_a_way_out(monkeypatch, tmp_path):
    monkeypatch.setattr(course, "WORK", tmp_path)
    path = Course().find_lab("01a").work_path
    path.parent.mkdir()
    path.write_text("{")
    with pytest.raises(LookupError, match="keeps your work, and `rushlight lab 01a` copies the lab again"):
        app.main(["check", "01a", "--no-sandbox"], standalone_mode=False)
