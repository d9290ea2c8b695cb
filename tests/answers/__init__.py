"""The answers that others might give. A lab has a folder with `right.py`, `wrong.py`, and mutants that are no mistakes."""

import importlib
import io
from collections.abc import Callable, Collection, Iterator
from pathlib import Path

import cloudpickle

from autograder.engine import subject
from autograder.engine.observe import Tree, receive, send
from autograder.model import Lab

from . import shared

FOLDER = Path(__file__).parent

cloudpickle.register_pickle_by_value(shared)  # other processes, such as ranks, do not find it


def answers(kind: str, labs: Collection[str]) -> Iterator[tuple[str, str, Callable]]:
    """The name of each answer to these labs, `right` or `wrong`, the exercise that the name begins with, and the function."""
    for lab in sorted(labs):
        module = importlib.import_module(f"{__name__}.{lab}.{kind}")
        cloudpickle.register_pickle_by_value(module)
        names = {exercise.rpartition(".")[2]: exercise for exercise in Lab(lab).exercises}
        for name, function in vars(module).items():
            if "__" in name.strip("_"):  # the others are helpers; an exercise's own name may end in _
                yield name, names[name.rpartition("__")[0]], function


def over_the_wire(check: str, cases: list[dict]) -> list[Tree]:
    """Return the observations that the judge receives from a subject."""
    stream = io.BytesIO()
    send(stream, {"observed": subject.answer(check, cases)})
    stream.seek(0)
    return receive(stream)["observed"]
