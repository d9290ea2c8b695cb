"""The grader: exercises that plug into rushlight, and checks that hold them against real torch.

A lab needs two names from here: `exercise`, a decorator, and `check`, a function. (The module `autograder.check` is
reached as `from autograder.check import ...`.) `use` plugs in what other labs have been solved with.
"""

from .exercise import exercise
from .subject import check
from .work import use

__all__ = ["check", "exercise", "use"]
