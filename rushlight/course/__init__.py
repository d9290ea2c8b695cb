"""The course's own parts, which PyTorch does not have: the grammar of the running example, pictures, and formulas by hand."""

from importlib import import_module
from pkgutil import iter_modules


def __getattr__(name: str):
    if name in {module.name for module in iter_modules(__path__)}:  # matplotlib is slow to import
        return import_module(f"rushlight.course.{name}")
    raise AttributeError(f"module 'rushlight.course' has no {name!r}")
