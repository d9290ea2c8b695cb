"""The grader: exercises that plug into rushlight, and checks that compare them with real torch.

A lab needs two names from here: `exercise`, a decorator, and `check`, a function. (Import from the module `autograder.check`
by `from autograder.check import ...`.) `use` plugs in a student's pieces of other labs, and `path` draws
which pieces a training step runs.
"""

from .exercise import exercise
from .notebook import check
from .work import path, use

__all__ = ["check", "exercise", "path", "use"]
