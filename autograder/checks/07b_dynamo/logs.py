"""Lab 07b, the source: which function of PyTorch writes a line of a log."""

from __future__ import annotations

import contextlib
import io
import logging
import os
from functools import cache

from rushlight.course.predictions import LOGGED

from ...engine.check import program
from ..cases import define, predicted

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
    found = {place for log, message, place in _messages(torch) if log in setting and message.startswith(beginning)}
    (place,) = found
    return place


@cache
def _messages(torch):
    """The log, the text, and the file and function, of each message while a small program is compiled twice."""
    root, found = os.path.dirname(os.path.dirname(torch.__file__)), []

    class Keep(logging.Handler):
        def emit(self, record):
            file = os.path.relpath(record.pathname, root).replace(os.sep, "/")
            log = record.name.rpartition(".__")[2] if ".__" in record.name else "dynamic"
            found.append((log, record.getMessage().lstrip(), f"{file} {record.funcName}"))

    logs = {text.split("=")[1].split("\n")[0] for text in LOGGED.values()} - {"+dynamic"}
    torch._dynamo.reset()
    torch._logging.set_logs(dynamic=logging.DEBUG, **dict.fromkeys(logs, True))
    names = [name for name in logging.root.manager.loggerDict if name.startswith("torch")]
    kept = [(logger, logger.handlers, logger.propagate) for logger in map(logging.getLogger, names)]
    try:
        for logger, _, _ in kept:
            logger.handlers, logger.propagate = [Keep()], False
        function = define(torch, _PROGRAM)
        compiled = torch.compile(function, backend="eager")
        with contextlib.redirect_stdout(io.StringIO()):
            for args in function.__globals__["calls"]:
                compiled(*args)
    finally:
        for logger, handlers, propagates in kept:
            logger.handlers, logger.propagate = handlers, propagates
        torch._logging.set_logs()
        torch._dynamo.reset()
    return tuple(found)
