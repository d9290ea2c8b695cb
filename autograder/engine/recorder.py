"""Helpers for the programs of checks: a record of the functions that an answer calls, and unused names.

A student could call the framework's own function for the answer, and in a lab on torch torch's. So a program records, inside the
subject, the operators and the named functions that are called, and returns those that the exercise does not allow. That keeps
an honest student to the task. A student's code can switch it off.
"""

from __future__ import annotations

import importlib
import itertools
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

# Operators that compute nothing are always allowed: these, and views.
_MOVES = {"clone", "copy", "_to_copy", "detach", "lift_fresh", "_unsafe_view"}
_MOVES |= {"empty", "empty_like", "empty_permuted", "empty_strided", "new_empty", "new_empty_strided"}


@contextmanager
def recorded(allowed: Iterable[str] = (), watched: Iterable[str] = ()) -> Iterator[list[str]]:
    """Within: records the operators and functions that are called and not allowed. The list is filled, in order, at the end.

    `allowed` names aten's operators, without overload ("mm", "add"; in-place forms count as the operator), and other
    operators with their namespace ("mine::op"). The record has the operators that reach a device, below autograd and vmap, so
    composite operators are decomposed. It does not have the operators that a custom operator calls. `watched` names functions
    that no code may call: "torch.library.infer_schema". torch.compile refuses to work within.
    """
    from torch.utils._python_dispatch import TorchDispatchMode

    allowed = {*allowed}
    beyond: list[str] = []
    called: set[str] = set()

    class Record(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            name = func.name().partition(".")[0].removeprefix("aten::")
            plain = name.rstrip("_")
            if not ({name, plain} & allowed or plain in _MOVES or _is_view(func)):
                called.add(name)
            return func(*args, **(kwargs or {}))

    with Record(), _watching({_identity(_named(name)): name for name in watched}, called):
        yield beyond
    beyond += sorted(called)


@contextmanager
def called(watched: Iterable[str]) -> Iterator[list[str]]:
    """Within: records which of the named functions this thread calls ("torch.library.infer_schema"). Filled at the end."""
    names: list[str] = []
    seen: set[str] = set()
    try:
        with _watching({_identity(_named(name)): name for name in watched}, seen):
            yield names
    finally:
        names += sorted(seen)


def _is_view(func: Any) -> bool:
    """Whether all of its results share an argument's memory and are not written to, or only its sizes and strides change."""
    returns = func._schema.returns if hasattr(func, "_schema") else []
    shares = bool(returns) and all(r.alias_info is not None and not r.alias_info.is_write for r in returns)
    return shares or any(tag.name == "inplace_view" for tag in func.tags)


def _named(name: str) -> Any:
    """The object that a dotted name refers to."""
    module, _, rest = name.partition(".")
    target = importlib.import_module(module)
    for part in rest.split("."):
        target = getattr(target, part)
    return target


def _identity(function: Any) -> int:
    """The identity by which a call is recognised: of the code of a Python function, and of any other function itself."""
    return id(getattr(function, "__code__", function))


@contextmanager
def _watching(watched: dict[int, str], called: set[str]) -> Iterator[None]:
    """Within: records which functions of `watched`, by their identities, this thread calls."""
    if not watched:
        yield
        return

    def note(frame: Any, event: str, argument: Any) -> None:
        function = frame.f_code if event == "call" else argument if event == "c_call" else None
        if id(function) in watched:
            called.add(watched[id(function)])

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        yield
    finally:
        sys.setprofile(before)


_numbers = itertools.count(1)


def fresh_namespace() -> str:
    """A namespace of torch's registry that this process has not used, because a registration cannot be undone."""
    return f"case{next(_numbers)}"
