"""Which function of PyTorch writes a line of a log, by the records of its loggers."""

from __future__ import annotations

import contextlib
import io
import logging
import os
from collections.abc import Iterator


def place(torch, path: str, function: str) -> str:
    """A file from `torch/` on, and the name of a function in it."""
    return f"{os.path.relpath(path, os.path.dirname(os.path.dirname(torch.__file__))).replace(os.sep, '/')} {function}"


@contextlib.contextmanager
def messages(torch, *artifacts: str, **levels: int) -> Iterator[list[tuple[str, str, str]]]:
    """For each message that torch logs within: the log, the text, and the file and the function that logged it."""
    found = []

    class Keep(logging.Handler):
        def emit(self, record):
            log = record.name.rpartition(".__")[2] if ".__" in record.name else "dynamic"
            found.append((log, record.getMessage().lstrip(), place(torch, record.pathname, record.funcName)))

    torch._dynamo.reset()
    torch._logging.set_logs(**levels, **dict.fromkeys(artifacts, True))
    names = [name for name in logging.root.manager.loggerDict if name.startswith("torch")]
    kept = [(logger, logger.handlers, logger.propagate) for logger in map(logging.getLogger, names)]
    try:
        for logger, _, _ in kept:
            logger.handlers, logger.propagate = [Keep()], False
        with contextlib.redirect_stdout(io.StringIO()):
            yield found
    finally:
        for logger, handlers, propagates in kept:
            logger.handlers, logger.propagate = handlers, propagates
        torch._logging.set_logs()
        torch._dynamo.reset()
