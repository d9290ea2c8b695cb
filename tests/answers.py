"""The answers that others might give to a lab: `right.py` and `wrong.py` in its folder of `solutions/`."""

import ast
import importlib
import inspect
import io
import tomllib
from collections.abc import Callable, Collection, Iterator
from pathlib import Path

import cloudpickle

from autograder.author.mutants import graded_checks
from autograder.author.translate import WORDS
from autograder.author.translate import _bound as bound_names
from autograder.author.translate import _constants as texts_of
from autograder.course import SOURCES
from autograder.engine import subject
from autograder.engine.check import Check
from autograder.engine.observe import Tree, receive, send
from autograder.model import Lab
from solutions import shared

cloudpickle.register_pickle_by_value(shared)  # other processes, such as ranks, do not find it


def answers(kind: str, labs: Collection[str]) -> Iterator[tuple[str, str, Callable]]:
    """The name of each answer to these labs, `right` or `wrong`, the exercise that the name begins with, and the function."""
    for lab in sorted(labs):
        module = importlib.import_module(f"solutions.{lab}.{kind}")
        cloudpickle.register_pickle_by_value(module)
        names = {exercise.rpartition(".")[2]: exercise for exercise in Lab(lab).exercises}
        for name, function in vars(module).items():
            if "__" in name.strip("_"):  # the others are helpers; an exercise's own name may end in _
                yield name, names[name.rpartition("__")[0]], function


def hint_of(name: str, exercise: str) -> str | None:
    """A part of the hint that the verdict on a wrong answer shows, "" for no hint, or None where `hints.toml` does not name it."""
    return hints_of_wrong(graded_checks(exercise)[0].lab).get(exercise, {}).get(name.rpartition("__")[2])


def hints_of_wrong(lab: str) -> dict[str, dict[str, str]]:
    """For exercises of a lab, which hint wrong answers get: what is wrong, and a part of the hint, or "" for no hint."""
    path = SOURCES / lab / "hints.toml"
    return tomllib.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def hints_of(check: Check) -> list[str]:
    """The hints of a check, as the catalogue of hints has them: `{name}` for each value."""
    module = ast.parse(Path(inspect.getfile(inspect.unwrap(check.program))).read_text(encoding="utf-8"))
    defined = {name: node for node in module.body for name in bound_names(node)}
    decorators = (call for call in ast.walk(module) if isinstance(call, ast.Call) and call.args)
    [call] = (call for call in decorators if getattr(call.args[0], "value", "") == check.name and call.keywords)
    texts = (texts_of(keyword.value, defined) for keyword in call.keywords if keyword.arg == "hint")
    return [*dict.fromkeys(text for found in texts for text in found if len(text.split()) >= WORDS)]


def over_the_wire(check: str, cases: list[dict]) -> list[Tree]:
    """Return the observations that the judge receives from a subject."""
    stream = io.BytesIO()
    send(stream, {"observed": subject.answer(check, cases)})
    stream.seek(0)
    return receive(stream)["observed"]
