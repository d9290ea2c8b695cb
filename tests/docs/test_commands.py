"""The commands on the pages are run, in a copy of the course with a made-up class; those in running text are looked up.

What is not run is named above its block or table, in a comment: `<!-- not run: make test (it runs this); make bench -->`.
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest
from nbgrader.apps.nbgraderapp import NbGraderApp
from sweep import in_one_test, sweep

from autograder import cli
from autograder.classroom import sample
from autograder.engine import sandbox

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), ROOT / "CONTRIBUTING.md"]
PART = re.compile(
    r"(?:^ *<!-- not run: ([^\n]*) -->\n+)?(?:^ *```(?:sh|console)\n(.*?)^ *```|((?:^\|[^\n]*\n)+))", re.M | re.S
)
IN_TABLE = re.compile(r"^\| `((?:rushlight|nbgrader|make|jupyter) [^`]+)` \|", re.M)
IN_TEXT = re.compile(r"(?<!`)`(?:\.venv/bin/)?((?:rushlight|nbgrader|make) [^`]+)`(?!`)")


def commands(page):
    """The commands in a page's blocks and tables, and whether each is to be run."""
    for unrun, block, table in PART.findall(page.read_text(encoding="utf-8")):
        lines = [line.strip() for line in block.replace("\\\n", " ").splitlines()]
        if any(line.startswith("$ ") for line in lines):  # the others are output
            lines = [line.removeprefix("$ ") for line in lines if line.startswith("$ ")]
        found = [re.sub(r"\s+#.*", "", line) for line in lines if line and line[0] != "#"] + IN_TABLE.findall(table)
        not_run = [re.sub(r" \(.*\)$", "", each) for each in unrun.split("; ") if each]
        assert {*not_run} <= {*found}, f"{page.name} says what is not run of commands that are not there: {not_run}"
        yield from ((command, command not in not_run) for command in found)


RUN = dict.fromkeys(command for page in PAGES for command, run in commands(page) if run)
NOT_RUN = {command for page in PAGES for command, run in commands(page) if not run}
TEXTS = [*PAGES, *ROOT.glob("phases/*/*.md"), *ROOT.glob("solutions/*/*.md")]
NAMED = {command for page in TEXTS for command in IN_TEXT.findall(page.read_text(encoding="utf-8"))}


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    """A copy of the course, installed, with two small classes, and a home folder in which nothing else is."""
    if (reason := sandbox.missing()) and os.environ.get("CI") != "true":
        pytest.skip(reason)
    place = tmp_path_factory.mktemp("pages")
    ours = [line.rstrip("/") for line in (ROOT / ".gitignore").read_text().splitlines()]
    course = shutil.copytree(ROOT, place / "course", ignore=shutil.ignore_patterns(".git", *ours))
    (course / ".venv").mkdir()
    for entry in Path(sys.prefix).iterdir():
        if entry.name != "installed":
            (course / ".venv" / entry.name).symlink_to(entry)
    (course / ".venv" / "installed").touch()
    sample.make(place / "made-up")
    hand_in = partial(_hand_in, place / "made-up" / "submitted")
    for student in ("all_right", "half_done", "subtly_wrong_strides"):  # `alike` compares three at least
        hand_in(student, course / "classroom" / "submitted" / student / sample.LAB)
    hand_in("all_right", course / "work" / sample.LAB)
    hand_in("untouched", place / "home" / "classes" / "2027" / "submitted" / "untouched" / sample.LAB)
    downloaded = course / "classroom" / "downloaded" / sample.LAB / "archive"
    hand_in("untouched", downloaded, f"doejane_LATE_12345_678901_{sample.LAB}-1.ipynb")
    (course / "classroom" / "roster.csv").write_text(
        "id,first_name,last_name,email\ndoejane,Jane,Doe,jane@example.org\n"
    )
    return course


def _hand_in(submitted, student, place, name=f"{sample.LAB}.ipynb"):
    place.mkdir(parents=True)
    shutil.copy(submitted / student / sample.LAB / f"{sample.LAB}.ipynb", place / name)


IN_MAKE_TEST = [  # these need no other command before them
    "make setup",
    "nbgrader export",
]


def test_the_commands_that_stand_for_all_are_on_the_pages():
    assert {*IN_MAKE_TEST} <= RUN.keys()


@pytest.mark.parametrize("command", sweep([*RUN], keep=IN_MAKE_TEST))
def test_a_command_in_a_block_works(course, command):
    path = os.pathsep.join([str(course / ".venv" / "bin"), os.environ["PATH"]])
    home = {"HOME": str(course.parent / "home"), "PATH": path, "PYTHONPATH": str(course)}
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=course,
        env=os.environ | home,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=3600,  # of one that opens a window, and is not said to
    )
    assert done.returncode == 0, done.stdout + done.stderr


@in_one_test
@pytest.mark.parametrize("command", sorted(NOT_RUN | NAMED - {*RUN}))
def test_a_command_that_is_only_named_exists(command):
    program, *words = shlex.split(command)
    if program == "make":
        targets = [word for word in words if "=" not in word and not word.startswith("-")]
        assert targets[-1] in re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.M)
    elif program == "nbgrader":
        assert words[0] in NbGraderApp().subcommands
    elif program == "rushlight" and words != ["--help"]:
        cli.app.commands[words[0]].make_context(
            words[0], words[1:]
        )  # raises UsageError for an option that is not there
