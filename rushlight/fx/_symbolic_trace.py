"""Functions that are not traced through: `wrap`, and those of the module `math`.

While a tracer runs, the globals with these functions have recording functions in their place. In PyTorch:
`torch/fx/_symbolic_trace.py`. Here the tracer is in `tracer.py`.
"""

from __future__ import annotations

import builtins
import functools
import sys
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

from rushlight.fx.node import map_aggregate
from rushlight.fx.proxy import Proxy

__all__ = ["wrap"]

_wrapped: dict[tuple[int, str], dict[str, Any]] = {}  # by the module's globals and the name in them


def wrap_in(patches: ExitStack, names: dict[str, Any], name: str) -> None:
    """Replace a global function by one that records calls with a proxy as one node, until the patches are undone."""
    function = names[name] if name in names else getattr(builtins, name)
    if hasattr(function, "_records_calls_of"):
        return
    patches.callback(*((names.__setitem__, name, function) if name in names else (names.pop, name)))

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
    names[name] = call_or_record


def wrap(fn_or_name: str | Callable) -> str | Callable:
    """Record calls of this global function, and do not trace through it. For the top level of a module, also as a decorator.

    Raises:
        RuntimeError: the argument is neither a function nor a name.
        NotImplementedError: `wrap` is not called at the top level of a module.
    """
    if not callable(fn_or_name) and not isinstance(fn_or_name, str):
        raise RuntimeError("Unsupported type for global function! Must be either a callable or string name")
    caller = sys._getframe(1)
    if caller.f_code.co_name != "<module>":
        raise NotImplementedError("wrap must be called at the top level of a module")
    name = fn_or_name if isinstance(fn_or_name, str) else fn_or_name.__name__
    _wrapped[id(caller.f_globals), name] = caller.f_globals
    return fn_or_name
