"""The subject's half of the checks: complete, and without what the judge knows."""

import ast
import json
import os
import subprocess
import sys
from itertools import groupby
from pathlib import Path

import pytest
from sweep import sweep

from autograder import course
from autograder.engine.check import is_on_torch, registry
from autograder.engine.edition import SUBJECT_MODULES, TORCH_MODULES, edition
from autograder.engine.subject_half import subject_half
from autograder.model import Lab, lab_names

ONE_OF_EACH_PHASE = [next(group) for _, group in groupby(lab_names(), key=lambda lab: lab[:2])]

TINY = {
    "checks/cases.py": "def rows(st):\n    return st\n\ndef field(tree):\n    return tree\n",
    "checks/01_tiny/sums.py": """
'''A docstring of a module.'''
from ...check import program
from ..cases import field, rows
from . import words as said
from .words import greeting
LEFT = 2
RIGHT = 3
RIGHT += 1
FAULTS = []
FAULTS.append(LEFT)
for kind in ("a", "b"):
    @program(f"tiny.{kind}", cases=None)
    def registered(rl):
        answers = greeting
        return answers

@program("tiny.add", cases=lambda st: rows(st), edges=FAULTS, hint="no")
def added(rl, x):
    return field(doubled(rl.tiny.add(x, RIGHT))), said.hello

@added.oracle
def _(torch, x):
    return answer(x), said.goodbye

@added.counted(sums=LEFT)
def _(rl):
    return {"sums": doubled(1)}

def doubled(x):
    return x + x

def answer(x):
    return x + LEFT + WRONG
answers = [answer(1)]
WRONG = doubled(3)
""",
    "checks/01_tiny/words.py": "from .sums import answer, doubled\n"
    "from .deep import greeting, secret\n"
    "hello = 'hello'\ngoodbye = 'goodbye'\n",
    "checks/01_tiny/deep.py": "greeting = 'good morning'\nsecret = 42\n",
}


def test_a_program_and_what_it_uses_are_all_that_stays():
    kept = subject_half(TINY)
    assert kept["checks/cases.py"] == "def field(tree):\n    return tree\n"
    assert kept["checks/01_tiny/words.py"] == "from .sums import doubled\nfrom .deep import greeting\nhello = 'hello'\n"
    assert kept["checks/01_tiny/deep.py"] == "greeting = 'good morning'\n"
    assert kept["checks/01_tiny/sums.py"] == (
        '"""A docstring of a module."""\n'
        "from ...check import program\n"
        "from ..cases import field\n"
        "from . import words as said\n"
        "from .words import greeting\n"
        "RIGHT = 3\n"
        "RIGHT += 1\n"
        "for kind in ('a', 'b'):\n\n"
        "    @program(f'tiny.{kind}', cases=None)\n"
        "    def registered(rl):\n"
        "        answers = greeting\n"
        "        return answers\n\n"
        "@program('tiny.add', cases=None)\n"
        "def added(rl, x):\n"
        "    return (field(doubled(rl.tiny.add(x, RIGHT))), said.hello)\n\n"
        "@added.counted()\n"
        "def _(rl):\n"
        "    return {'sums': doubled(1)}\n\n"
        "def doubled(x):\n"
        "    return x + x\n"
    )


LOOK = """
import importlib, json, pathlib, sys
import autograder.engine.check
checks = importlib.import_module("autograder.engine.check").registry()
for path in pathlib.Path(autograder.__path__[0], "checks").rglob("*.py"):  # those that no TOPICS names, too
    importlib.import_module(".".join(["autograder", *path.relative_to(autograder.__path__[0]).with_suffix("").parts]))
known = [name for name, check in checks.items() if check.torch_program or check.edges or check.cases or check.hint]
print(json.dumps({"checks": sorted(checks), "known": known, "torch": "torch" in sys.modules}))
"""


@pytest.mark.parametrize("lab", sweep(ONE_OF_EACH_PHASE, every=9))
def test_an_edition_has_every_program_of_its_lab_and_nothing_of_the_judge(lab):
    place = edition(Lab(lab))
    found = subprocess.run(
        [sys.executable, "-c", LOOK],
        cwd="/",
        env=os.environ | {"PYTHONPATH": str(place)},
        capture_output=True,
        text=True,
    )
    assert found.stderr == ""
    seen = json.loads(found.stdout)
    assert seen["checks"] == sorted(name for name, check in registry().items() if check.lab == lab)
    assert seen["known"] == []
    assert is_on_torch(lab) or not seen["torch"]
    assert [path.name for path in place.rglob("checks/**/*.py") if ".oracle" in path.read_text(encoding="utf-8")] == []


def test_an_edition_has_each_module_that_its_modules_import_when_they_are_loaded():
    grader = Path(course.__file__).parent
    files = {path.relative_to(grader).as_posix() for path in grader.rglob("*.py")}

    def imported(name):
        for statement in ast.parse((grader / name).read_text(encoding="utf-8")).body:
            if isinstance(statement, ast.ImportFrom) and statement.level:
                folder = (grader / name).parents[statement.level - 1].relative_to(grader)
                module = folder.joinpath(*(statement.module or "").split("."))
                for inner in (module, *(module / alias.name for alias in statement.names)):
                    yield from {f"{inner.as_posix()}.py", f"{inner.as_posix()}/__init__.py"} & files

    for modules in (SUBJECT_MODULES, TORCH_MODULES):
        missing = {other for name in modules for other in imported(name)} - {*modules}
        assert {name for name in missing if not name.startswith("checks/")} == set()


def test_what_only_an_oracle_uses_is_gone():
    text = (edition(Lab("12a_tokens")) / "autograder/checks/12a_tokens/tokens.py").read_text(encoding="utf-8")
    assert "def merges_of" not in text
