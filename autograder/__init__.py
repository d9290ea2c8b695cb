"""The grader: exercises that plug into rushlight, and checks that compare them with real torch.

A lab needs two names from here: `exercise`, a decorator, and `check`, a function. `ask` prints torch's answer for a case. `use`
plugs in a student's pieces of other labs, `path` draws which pieces a training step runs, and `patient` shows the symptom of a
patient of the clinic. Each is loaded when it is first used, because the command line needs none of them. `engine` runs checks of
a subject, `notebook` is a student's side, `classroom` an instructor's, and `author` an author's.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .engine.exercise import exercise
    from .notebook.clinic import patient
    from .notebook.kernel import ask, check
    from .notebook.work import path, use

__all__ = ["ask", "check", "exercise", "path", "patient", "use"]

_MODULES = {
    "ask": "notebook.kernel",
    "check": "notebook.kernel",
    "exercise": "engine.exercise",
    "patient": "notebook.clinic",
}
_MODULES |= {"path": "notebook.work", "use": "notebook.work"}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_MODULES[name]}", __name__), name)
