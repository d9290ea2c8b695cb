"""The modules of a package that not every program needs."""

import sys
from importlib import import_module
from importlib.machinery import PathFinder


def names_of(package: str):
    """The `__getattr__` of a package: it imports the modules that are asked for."""

    def find(name: str):
        if PathFinder.find_spec(f"{package}.{name}", sys.modules[package].__path__):
            return import_module(f"{package}.{name}")
        raise AttributeError(
            f"module {package!r} has no {name!r}: rushlight leaves it out, or PyTorch has no such name"
        )

    return find
