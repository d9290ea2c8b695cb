"""Lab 07b, the source: which function of PyTorch writes a line of a log."""

from __future__ import annotations

import logging
from functools import cache

from rushlight.course.predictions import LOGGED

from ...engine.check import program
from ..cases import define, predicted
from ..shared_07 import messages

_PROGRAM = """
def f(x):
    y = x * 2
    print("here")
    return y.relu()
calls = [(xp.ones(size),) for size in (2, 3)]"""


@program("course.predictions.logged_by", **predicted(LOGGED))
def writers(rl, program):
    return rl.course.predictions.logged_by(program)


@writers.oracle
def torch_writers(torch, program):
    setting, beginning = LOGGED[program].strip().split("\n")
    (place,) = {place for log, message, place in _messages(torch) if log in setting and message.startswith(beginning)}
    return place


@cache
def _messages(torch):
    logs = {text.strip().split("\n")[0].removeprefix("TORCH_LOGS=") for text in LOGGED.values()} - {"+dynamic"}
    with messages(torch, *logs, dynamic=logging.DEBUG) as found:
        function = define(torch, _PROGRAM)
        compiled = torch.compile(function, backend="eager")
        for args in function.__globals__["calls"]:
            compiled(*args)
    return found
