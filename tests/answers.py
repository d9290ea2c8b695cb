"""The answers that others might give, right ones in `alternatives/` and wrong ones in `alternatives/wrong/`, a file per phase."""

import importlib.util
import inspect
import io
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path

import cloudpickle

from autograder.engine import subject
from autograder.engine.check import phase_exercises
from autograder.engine.observe import Tree, receive, send

FOLDER = Path(__file__).parent / "alternatives"


def answers(folder: Path) -> Iterator[tuple[str, str, Callable]]:
    """The name of each answer, the exercise that the name begins with, and the function."""
    for path in sorted(folder.glob("[0-9][0-9]_*.py")):
        spec = importlib.util.spec_from_file_location(f"{folder.name}_{path.stem}", path)
        module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)  # Dynamo looks it up there
        spec.loader.exec_module(module)
        cloudpickle.register_pickle_by_value(module)  # other processes, such as ranks, do not find it
        names = {exercise.rpartition(".")[2]: exercise for exercise in phase_exercises(path.stem)}
        for name, function in vars(module).items():
            if "__" in name.strip("_"):  # the others are helpers; an exercise's own name may end in _
                yield name, names[name.rpartition("__")[0]], function


def edited(function: Callable, *changes: tuple[str, str]) -> Callable:
    """The reference with other text in some places: pairs of what stands there and what shall."""
    text, made = textwrap.dedent(inspect.getsource(function)), {}
    for old, new in changes:
        assert old in text, f"{function.__name__} has changed: {old}"
        text = text.replace(old, new)
    exec(f"from __future__ import annotations\n{text}", function.__globals__, made)
    return made.popitem()[1]


RIGHT, WRONG = list(answers(FOLDER)), list(answers(FOLDER / "wrong"))


def over_the_wire(check: str, cases: list[dict]) -> list[Tree]:
    """What the judge receives from a subject."""
    stream = io.BytesIO()
    send(stream, {"observed": subject.answer(check, cases)})
    stream.seek(0)
    return receive(stream)["observed"]
