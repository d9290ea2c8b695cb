"""Functions that are not traced through: `wrap`, and those of the module `math`.

While a tracer runs, the globals by which a program calls them name functions that record. In PyTorch:
`torch/fx/_symbolic_trace.py`; the tracer itself is in `tracer.py` here.
"""

from __future__ import annotations

import builtins
import functools
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from rushlight.fx.node import map_aggregate
from rushlight.fx.proxy import Proxy

__all__ = ["wrap"]

_wrapped: dict[tuple[int, str], dict[str, Any]] = {}  # by the module's globals and the name in them


@contextmanager
def patching() -> Iterator[list[tuple[Callable, Any]]]:
    """A list of what was changed, and how to change it back; that happens at the end."""
    patches: list[tuple[Callable, Any]] = []
    try:
        yield patches
    finally:
        while patches:
            restore, before = patches.pop()
            restore(before)


def wrap_in(patches: list[tuple], names: dict[str, Any], name: str) -> None:
    """Let a global name a function that records its calls with a proxy as one node, until the patches are undone."""
    if name in names:
        before = names[name]
        if hasattr(before, "_records_calls_of"):
            return
        patches.append((functools.partial(names.__setitem__, name), before))
    else:
        before = getattr(builtins, name)
        patches.append((lambda _: names.pop(name), None))
    names[name] = wrapped(before)


def wrapped(function: Callable) -> Callable:
    @functools.wraps(function)
    def call_or_record(*args: Any, **kwargs: Any) -> Any:
        proxies: list[Proxy] = []
        map_aggregate((args, kwargs), lambda a: proxies.append(a) if isinstance(a, Proxy) else None)
        if not proxies:
            return function(*args, **kwargs)
        result = proxies[-1].tracer.create_proxy("call_function", function, args, kwargs)
        result.node.meta["is_wrapped"] = True
        return result

    call_or_record._records_calls_of = function
    return call_or_record


def wrap(fn_or_name: str | Callable) -> str | Callable:
    """At the top level of a module: calls of this global function are recorded, not traced through. Also as a decorator.

    Raises:
        RuntimeError: it is neither a function nor a name.
        NotImplementedError: it is called elsewhere.
    """
    if not callable(fn_or_name) and not isinstance(fn_or_name, str):
        raise RuntimeError("Unsupported type for global function! Must be either a callable or string name")
    caller = sys._getframe(1)
    if caller.f_code.co_name != "<module>":
        raise NotImplementedError("wrap must be called at the top level of a module")
    name = fn_or_name if isinstance(fn_or_name, str) else fn_or_name.__name__
    _wrapped[id(caller.f_globals), name] = caller.f_globals
    return fn_or_name
