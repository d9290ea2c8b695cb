"""Plugging a student's function into the framework.

A reference function is replaced by swapping the code *inside* its function object. Whoever already holds the object, a
method, an alias, a dispatch table, a partial, runs the student's function from then on, and the whole framework with it.
"""

from __future__ import annotations

import difflib
import importlib
import sys
from collections.abc import Callable
from types import CodeType, FunctionType, ModuleType

from rushlight.c10.dispatch import disable_fast_path

_references: dict[FunctionType, CodeType] = {}  # filled slots, and the code that was there before


def exercise(module: ModuleType) -> Callable[[FunctionType], FunctionType]:
    """Decorator: from now on `module`'s function of the same name runs the decorated one.

    Returns the framework's own function object, so that the name in the notebook and the name in the framework are one.
    A body that only raises NotImplementedError, as every exercise begins, leaves the slot as it is: a piece that is not
    written yet must not stop the others. Raises NameError if the module has no such function.
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
    name = _hidden(slot)
    slot.__globals__[name] = function
    if not getattr(function, "__annotations__", True):  # torch reads an operator's schema from them
        function.__annotations__ = slot.__annotations__
    slot.__code__ = _template.__code__.replace(co_names=(name,), co_name=slot.__name__, co_qualname=slot.__name__)
    slot.__wrapped__ = function  # what inspect and help look at
    _let_dynamo_forget(slot)
    disable_fast_path(True)  # short ways of the framework would pass the student's piece by


def restore(slot: FunctionType) -> None:
    """Put the reference back. Does nothing where the slot is not filled."""
    if slot in _references:
        slot.__code__ = _references.pop(slot)
        del slot.__wrapped__, slot.__globals__[_hidden(slot)]
        _let_dynamo_forget(slot)
        disable_fast_path(bool(_references))


def is_filled(slot: FunctionType) -> bool:
    return slot in _references


def filled() -> dict[tuple[str, str], Callable]:
    """What runs in the place of the framework's functions, by module and name."""
    return {(slot.__module__, slot.__name__): slot.__wrapped__ for slot in _references}


def fill_as(functions: dict[tuple[str, str], Callable]) -> None:
    """Fill just these slots, as they are filled in another process; what else is filled here becomes the reference again."""
    for slot in [*_references]:
        restore(slot)
    for (module, name), function in functions.items():
        fill(getattr(importlib.import_module(module), name), function)


def _is_stub(function: FunctionType) -> bool:
    return function.__code__.co_names == ("NotImplementedError",)


def _template(*args, **kwargs):
    return function(*args, **kwargs)  # noqa: F821  (`fill` puts another name there)


def _let_dynamo_forget(slot: FunctionType) -> None:
    """Of each function that it has traced Dynamo remembers which parameters its code has, and `reset` does not clear it."""
    functions = sys.modules.get("torch._dynamo.variables.functions")
    getattr(functions, "_spec_cache", {}).pop(slot, None)


def _hidden(slot: FunctionType) -> str:
    """The global of the slot's module by which it finds what it runs: no program can have a name with a space in it.

    A global, since torch's Dynamo follows one, and refuses a function among the constants of the code.
    """
    return f"{slot.__name__} as filled"
