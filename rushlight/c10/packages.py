"""The modules of a package that not every program needs."""

import sys
from importlib import import_module
from importlib.machinery import PathFinder


def names_of(package: str):
    """The `__getattr__` of a package: it imports the modules that are asked for."""

    def find(name: str):
        module = sys.modules[package]  # its name may be PyTorch's: see `course/as_torch.py`
        if PathFinder.find_spec(f"{package}.{name}", module.__path__):
            return import_module(f"{module.__name__}.{name}")
        named = f"module {module.__name__!r} has no attribute {name!r}"
        raise AttributeError(f"{named}: rushlight leaves it out, or PyTorch has no such name")

    return find
