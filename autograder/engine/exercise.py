"""Plugging a student's function into the framework.

`exercise` replaces a reference function by swapping the code *inside* its function object. A method, an alias, a dispatch
table or a partial that holds the object runs the student's function from then on, and so does the whole framework.

While a case of a check runs, the first exception that leaves a student's function is noted, with its frames in the student's
code, because the framework or the program may catch it.
"""

from __future__ import annotations

import difflib
import importlib
import inspect
import json
import linecache
import os
import secrets
import sys
import tempfile
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import CodeType, FrameType, FunctionType, ModuleType

from rushlight.c10 import fast_paths
from rushlight.utils._extensions import Extension, register

from ..language import speak
from .observe import MAX_FRAMES, MAX_LINE, Tree, error_tree

_BELOW = {"amp", "library", "torchgen"}  # beside those layers; what a table holds may depend on them
_references: dict[FunctionType, CodeType] = {}  # filled slots, and their code before


def exercise(module: ModuleType) -> Callable[[Callable], FunctionType]:
    """Decorator: from now on `module`'s function of the same name runs the decorated one, with the decorators below this one. It
    may be a class. A decorator above this one changes the notebook's name only, and a line says so.

    Returns the framework's own function object, so that the name in the notebook and the name in the framework are one.
    A body that only raises NotImplementedError, as every exercise does at first, leaves the slot as it is, because a piece
    that is not written yet must not stop the others. Raises NameError if the module has no such function.
    """

    def plug(function: Callable) -> FunctionType:
        name = getattr(function, "__name__", type(function).__name__)
        slot = vars(module).get(name)
        if not isinstance(slot, FunctionType) or not f"{slot.__module__}.".startswith(f"{module.__name__}."):
            close = difflib.get_close_matches(name, vars(module), n=1)
            hint = f"; did you mean {close[0]}?" if close else ""
            raise NameError(f"{module.__name__} has no function {name!r} to replace{hint}")
        if _is_decorated_above(function, sys._getframe(1)):
            print(speak("{name}: a check does not see a decorator above @exercise: put it below", name=name))
        if _is_stub(function):
            unplug(slot)
        elif function is not slot:
            fill(slot, function)
        return slot

    return plug


def fill(slot: FunctionType, function: Callable) -> None:
    """Make `slot` run `function` (its own signature and defaults included)."""
    _references.setdefault(slot, slot.__code__)
    name, note_name = _slot_globals(slot)
    slot.__globals__[name], slot.__globals__[note_name] = function, note
    if not getattr(function, "__annotations__", True):  # torch reads an operator's schema from them
        function.__annotations__ = slot.__annotations__
    names = tuple(
        {"function": name, "note": note_name}.get(name_used, name_used) for name_used in _template.__code__.co_names
    )
    slot.__code__ = _template.__code__.replace(co_names=names, co_name=slot.__name__, co_qualname=slot.__name__)
    vars(slot)["__wrapped__"] = function  # inspect and help read it
    _clear_dynamo_cache(slot)
    fast_paths.disable(_lowest_filled())


def unplug(slot: FunctionType) -> None:
    """Put the reference back. Does nothing if the slot is not filled."""
    if slot in _references:
        slot.__code__ = _references.pop(slot)
        del vars(slot)["__wrapped__"]
        for name in _slot_globals(slot):
            del slot.__globals__[name]
        _clear_dynamo_cache(slot)
        fast_paths.disable(_lowest_filled())


def _lowest_filled() -> str | None:
    """The lowest layer that has a filled slot: fast paths there and above would not call the student's piece."""
    layers = {slot.__module__.removeprefix("rushlight.").partition(".")[0] for slot in _references}
    if layers & _BELOW:
        return fast_paths.LAYERS[0]
    return next((layer for layer in fast_paths.LAYERS if layer in layers), None)


def is_filled(slot: FunctionType) -> bool:
    return slot in _references


def filled() -> dict[tuple[str, str], Callable]:
    """The functions that run instead of the framework's, by module and name."""
    return {(slot.__module__, slot.__name__): vars(slot)["__wrapped__"] for slot in _references}


def fill_as(functions: dict[tuple[str, str], Callable]) -> None:
    """Fill these slots, as in another process, and restore the reference in all others."""
    for slot in [*_references]:
        unplug(slot)
    for (module, name), function in functions.items():
        fill(getattr(importlib.import_module(module), name), function)


@contextmanager
def only(functions: dict[tuple[str, str], Callable]) -> Iterator[None]:
    """Within: these functions run instead of the framework's, and no others. Those before are filled in again afterwards."""
    before = filled()
    fill_as(functions)
    try:
        yield
    finally:
        fill_as(before)


@contextmanager
def watched(slot: FunctionType, watch: Callable[[Callable], Callable]) -> Iterator[None]:
    """Within: a filled slot runs `watch(function)` for its function."""
    name, _ = _slot_globals(slot)
    function = slot.__globals__[name]
    slot.__globals__[name] = watch(function)
    try:
        yield
    finally:
        slot.__globals__[name] = function


def definition(function: Callable) -> Callable:
    """The function or class below its decorators."""
    return inspect.unwrap(function, stop=lambda each: each in _references)


def _is_stub(function: Callable) -> bool:
    return getattr(definition(function), "__code__", _template.__code__).co_names == ("NotImplementedError",)


def _is_decorated_above(function: Callable, caller: FrameType) -> bool:
    """Whether the caller applies a decorator to a definition that has begun in a line before: with another decorator."""
    code = getattr(definition(function), "__code__", None)
    if code is None or code.co_filename != caller.f_code.co_filename:
        return False
    body = min((line for *_, line in code.co_lines() if line and line > code.co_firstlineno), default=0)
    return code.co_firstlineno < caller.f_lineno < body


def _template(*args, **kwargs):
    try:
        return function(*args, **kwargs)  # noqa: F821  (`fill` replaces the name)
    except Exception as error:
        note(error)
        raise


def _clear_dynamo_cache(slot: FunctionType) -> None:
    """Dynamo caches the parameters of each function that it has traced, and `reset` does not clear this cache."""
    functions = sys.modules.get("torch._dynamo.variables.functions")
    getattr(functions, "_spec_cache", {}).pop(slot, None)


def _slot_globals(slot: FunctionType) -> tuple[str, str]:
    """The globals of the slot's module that hold the function it runs, and `note`. No program can have a name with a space.

    They are globals, because torch's Dynamo follows a global and refuses a function among the constants of the code.
    """
    return f"{slot.__name__} as filled", f"{slot.__name__} raised"


# Exceptions of the student's functions -------------------------------------------------------------------------------

_NOTE = "RUSHLIGHT_NOTE"  # the environment variable with the file to which a child process writes the exception
_noted: list[Tree] | None = None  # while a case runs: the exception, if there was one
_noting = 0  # the process that runs the case


@contextmanager
def noted() -> Iterator[list[Tree]]:
    """Within: a list for the first exception that leaves a student's function, here or in a child process. Filled at the end."""
    global _noted, _noting
    file = Path(tempfile.gettempdir(), f"rushlight-{secrets.token_hex(8)}")
    _noted, _noting, os.environ[_NOTE] = [], os.getpid(), str(file)
    noted = _noted
    try:
        yield noted
    finally:
        _noted = None
        os.environ.pop(_NOTE, None)
        with suppress(Exception):  # there may be no file, and a student may have written it
            raised = json.loads(file.read_text())
            file.unlink()
            noted += [] if noted else [raised]
        for raised in noted:  # only this process knows the cells of a notebook
            with suppress(Exception):
                raised["frames"] = with_lines(raised["frames"])


def with_lines(frames: list[Tree]) -> list[Tree]:
    """Frames with the texts of their lines in the place of their files."""
    return [[name, line, linecache.getline(path, line).strip()[:MAX_LINE]] for name, line, path in frames]


def note(error: Exception, ends: bool = False) -> None:
    """Note an exception that has left a student's function. One that `ends` the program replaces another one."""
    if not ends and (_noted or _NOTE not in os.environ):
        return
    with suppress(Exception):  # its class is the student's
        if frames := student_frames(error):
            raised = error_tree(error) | {"frames": frames}
            if _noted is not None and _noting == os.getpid():
                _noted[:] = [raised]
            else:
                with open(os.environ[_NOTE], "x") as file:
                    json.dump(raised, file)


def student_frames(error: BaseException) -> list[Tree]:
    """The innermost frames of functions that were defined where those that fill the slots were, such as in the notebook: the
    function, the line's number in the cell, and the file."""
    inner = map(definition, filled().values())
    spaces = [getattr(function, "__globals__", vars(sys.modules.get(function.__module__, sys))) for function in inner]
    own = {id(space) for space in spaces if not str(space.get("__name__")).startswith(("rushlight.", "autograder."))}
    frames: deque[Tree] = deque(maxlen=MAX_FRAMES)
    step = error.__traceback__
    while step is not None:
        code = step.tb_frame.f_code
        if id(step.tb_frame.f_globals) in own:
            frames.append([code.co_qualname.rpartition("<locals>.")[2][:MAX_LINE], step.tb_lineno, code.co_filename])
        step = step.tb_next
    return [*frames]


register(Extension("autograder", str(Path(__file__).parents[1]), filled, fill_as))
