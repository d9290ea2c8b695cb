"""The grader: exercises that plug into rushlight, and checks that compare them with real torch.

A lab needs two names from here: `exercise`, a decorator, and `check`, a function. (Import from the module `autograder.check`
by `from autograder.check import ...`.) `use` plugs in a student's pieces of other labs, and `path` draws
which pieces a training step runs. Each is loaded when it is first used, because the command line needs none of them.
"""

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .exercise import exercise
    from .notebook import check
    from .work import path, use

__all__ = ["check", "exercise", "path", "use"]


def _from(module: str, name: str) -> property:
    """A name that its module defines. A setter is there, without effect, because an import of `autograder.check` sets `check`."""
    return property(lambda _: getattr(import_module(f".{module}", __name__), name), lambda _, value: None)


class _Package(ModuleType):
    check = _from("notebook", "check")
    exercise = _from("exercise", "exercise")
    path = _from("work", "path")
    use = _from("work", "use")


sys.modules[__name__].__class__ = _Package
