"""The first answers to the predictions of a draw: on a student's machine they are marked, and no later ones.

They are kept when all predictions of a draw are there for the first time. That is a habit and no lock: torch is on the same
machine, and a grader marks what is handed in.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress
from pathlib import Path

from rushlight.course import draws

from ..engine.check import exercise_of
from ..engine.observe import Tree
from ..engine.predictions import CHANGED, named


def first_answer(check: str, observed: Tree) -> Tree:
    """What is marked in the place of an answer: the predictions of each draw as they were when it was whole for the first time."""
    try:
        name, answer = named(observed)
        known, changed = _known(), []
        for letters in (draws.FIRST, draws.SECOND):
            given = {letter: answer.get(letter) for letter in letters}
            key = f"{exercise_of(check)} {letters} {name}"
            if key not in known and None not in given.values():
                known[key] = given
                _keep(json.dumps(known))
            if key in known:
                changed += [letter for letter in letters if known[key][letter] != given[letter]]
                answer |= known[key]
    except (ValueError, TypeError):  # it is no answer, or none of plain data
        return observed
    return {"dict": [*answer.items(), *([(CHANGED, changed)] if changed else [])]}


def marked(exercise: str) -> dict[str, dict[str, Tree]]:
    """The first answers to a prediction that were marked on this machine, by exercise, letters and name."""
    return {key: given for key, given in _known().items() if key.startswith(f"{exercise} ")}


def remember(answers: dict[str, dict[str, Tree]]) -> None:
    """Take first answers that were marked before: a page of the site keeps them in its browser."""
    _keep(json.dumps(answers | _known()))


def _known() -> dict[str, dict[str, Tree]]:
    with suppress(OSError):
        return json.loads(_file().read_text(encoding="utf-8"))
    return {}


def _keep(text: str) -> None:
    with suppress(OSError):  # where nothing can be written, later answers are marked too
        path = _file()
        path.parent.mkdir(parents=True, exist_ok=True)
        new = path.with_suffix(".new")
        new.write_text(text, encoding="utf-8")
        new.replace(path)


def _file() -> Path:
    folder = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(folder) / "rushlight" / "predictions.json"
