"""What programs of bench labs use besides the framework: a record of what a function called, and names that are free.

Where torch is at hand an answer could be had by calling torch's own. So a program notes, inside the subject, which operators
and which named functions were called, and shows those that the exercise does not allow. That keeps an honest student to the task;
whoever wants to can switch it off from within.
"""

from __future__ import annotations

import importlib
import itertools
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

# What computes nothing is allowed in any case: these, and views.
_MOVES = {"clone", "copy", "_to_copy", "detach", "lift_fresh", "_unsafe_view"}
_MOVES |= {"empty", "empty_like", "empty_permuted", "empty_strided", "new_empty", "new_empty_strided"}


@contextmanager
def recorded(allowed: Iterable[str] = (), watched: Iterable[str] = ()) -> Iterator[list[str]]:
    """Within: notes what is called of torch beyond what is allowed. The list is filled, in order, when it ends.

    `allowed` names aten's operators, without overload ("mm", "add"; forms that write in place count as the operator), and
    others' with their namespace ("mine::op"). It sees what arrives at a device, so below autograd and vmap, when composite
    operators are in pieces, but not what a custom operator calls. `watched` names functions that are not to be called, by
    whomever: "torch.library.infer_schema". torch.compile refuses to work within.
    """
    from torch.utils._python_dispatch import TorchDispatchMode

    allowed, beyond, called = {*allowed}, [], set()

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
    """Within: notes which of the named functions this thread calls ("torch.library.infer_schema"). Filled when it ends."""
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
    """What a dotted name stands for."""
    module, _, rest = name.partition(".")
    found = importlib.import_module(module)
    for part in rest.split("."):
        found = getattr(found, part)
    return found


def _identity(function: Any) -> int:
    """By what a call of it is known: its code, whatever name it is called by, or itself if it is not Python's."""
    return id(getattr(function, "__code__", function))


@contextmanager
def _watching(watched: dict[int, str], called: set[str]) -> Iterator[None]:
    """Within: notes which functions of `watched`, by their identities, this thread calls."""
    if not watched:
        yield
        return

    def note(frame: Any, event: str, argument: Any) -> None:
        what = frame.f_code if event == "call" else argument if event == "c_call" else None
        if id(what) in watched:
            called.add(watched[id(what)])

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        yield
    finally:
        sys.setprofile(before)


_numbers = itertools.count(1)


def fresh_namespace() -> str:
    """A namespace for torch's registry that nothing in this process has used: what is registered there stays for good."""
    return f"case{next(_numbers)}"
