"""Plugging a student's function into the framework.

`exercise` replaces a reference function by swapping the code *inside* its function object. A method, an alias, a dispatch
table or a partial that holds the object runs the student's function from then on, and so does the whole framework.
"""

from __future__ import annotations

import difflib
import importlib
import sys
from collections.abc import Callable
from pathlib import Path
from types import CodeType, FunctionType, ModuleType

from rushlight.c10.dispatch import disable_fast_path
from rushlight.utils._extensions import Extension, register

_references: dict[FunctionType, CodeType] = {}  # filled slots, and their code before


def exercise(module: ModuleType) -> Callable[[FunctionType], FunctionType]:
    """Decorator: from now on `module`'s function of the same name runs the decorated one.

    Returns the framework's own function object, so that the name in the notebook and the name in the framework are one.
    A body that only raises NotImplementedError, as every exercise does at first, leaves the slot as it is, because a piece
    that is not written yet must not stop the others. Raises NameError if the module has no such function.
    """

    def plug(function: FunctionType) -> FunctionType:
        slot = vars(module).get(function.__name__)
        if not isinstance(slot, FunctionType) or not f"{slot.__module__}.".startswith(f"{module.__name__}."):
            close = difflib.get_close_matches(function.__name__, vars(module), n=1)
            hint = f"; did you mean {close[0]}?" if close else ""
            raise NameError(f"{module.__name__} has no function {function.__name__!r} to replace{hint}")
        if _is_stub(function):
            restore(slot)
        elif function is not slot:
            fill(slot, function)
        return slot

    return plug


def fill(slot: FunctionType, function: Callable) -> None:
    """Make `slot` run `function` (its own signature and defaults included)."""
    _references.setdefault(slot, slot.__code__)
    name = _slot_global(slot)
    slot.__globals__[name] = function
    if not getattr(function, "__annotations__", True):  # torch reads an operator's schema from them
        function.__annotations__ = slot.__annotations__
    slot.__code__ = _template.__code__.replace(co_names=(name,), co_name=slot.__name__, co_qualname=slot.__name__)
    slot.__wrapped__ = function  # inspect and help read it
    _clear_dynamo_cache(slot)
    disable_fast_path(True)  # fast paths of the framework do not call the student's piece


def restore(slot: FunctionType) -> None:
    """Put the reference back. Does nothing if the slot is not filled."""
    if slot in _references:
        slot.__code__ = _references.pop(slot)
        del slot.__wrapped__, slot.__globals__[_slot_global(slot)]
        _clear_dynamo_cache(slot)
        disable_fast_path(bool(_references))


def is_filled(slot: FunctionType) -> bool:
    return slot in _references


def filled() -> dict[tuple[str, str], Callable]:
    """The functions that run instead of the framework's, by module and name."""
    return {(slot.__module__, slot.__name__): slot.__wrapped__ for slot in _references}


def fill_as(functions: dict[tuple[str, str], Callable]) -> None:
    """Fill these slots, as in another process, and restore the reference in all others."""
    for slot in [*_references]:
        restore(slot)
    for (module, name), function in functions.items():
        fill(getattr(importlib.import_module(module), name), function)


def _is_stub(function: FunctionType) -> bool:
    return function.__code__.co_names == ("NotImplementedError",)


def _template(*args, **kwargs):
    return function(*args, **kwargs)  # noqa: F821  (`fill` replaces the name)


def _clear_dynamo_cache(slot: FunctionType) -> None:
    """Dynamo caches the parameters of each function that it has traced, and `reset` does not clear this cache."""
    functions = sys.modules.get("torch._dynamo.variables.functions")
    getattr(functions, "_spec_cache", {}).pop(slot, None)


def _slot_global(slot: FunctionType) -> str:
    """The global of the slot's module that holds the function it runs. No program can have a name with a space in it.

    It is a global, because torch's Dynamo follows a global and refuses a function among the constants of the code.
    """
    return f"{slot.__name__} as filled"


register(Extension("autograder", str(Path(__file__).parent), filled, fill_as))
