"""The course's own parts, which PyTorch does not have: the grammar of the running example, pictures, and formulas by hand."""

from importlib import import_module

_MODULES = (
    "anatomy",
    "attention",
    "bottleneck",
    "by_hand",
    "corpus",
    "costs",
    "draw",
    "gpt",
    "grammar",
    "serving",
    "sharding",
    "stream",
    "tokens",
    "training",
)


def __getattr__(name: str):
    if name in _MODULES:  # matplotlib is slow to import
        return import_module(f"rushlight.course.{name}")
    raise AttributeError(f"module 'rushlight.course' has no {name!r}")
