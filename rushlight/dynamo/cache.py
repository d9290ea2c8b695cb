"""What was captured is kept here: for each function, and each place where it goes on after a break, a few entries.

An `CacheEntry` is one capture: its guards as one function, and `run`, which calls the compiled graph. A call looks for an entry whose
guards hold; if there is none it says why, and captures anew, up to a limit. In PyTorch: `torch/csrc/dynamo/cache_entry.cpp`,
`extra_state.cpp`, `torch/_dynamo/cache_size.py`, `guards.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from rushlight.dynamo import guards
from rushlight.dynamo.guards import Guard

__all__ = ["CacheEntry", "Region", "lookup", "recompile_reasons", "recompile_limit"]

recompile_limit = 8


@dataclass(eq=False)
class CacheEntry:
    """One capture: guards, the check made of them, and the function `run(L)` that does what was captured."""

    guards: list[Guard]
    scope: dict[str, Any]
    check: Callable[[dict[str, Any]], bool]
    run: Callable[[dict[str, Any]], Any] | None = None


@dataclass(eq=False)
class Region:
    """A function from its beginning, or from an instruction on: `name` is torch's, such as `0` for its first frame.

    `skip_reason`: why nothing is captured here, if so.
    """

    number: int
    entries: list[CacheEntry] = field(default_factory=list)
    skip_reason: str | None = None


def lookup(entries: list[CacheEntry], L: dict[str, Any]) -> CacheEntry | None:  # noqa: N803
    """The first entry whose `check` holds for these locals, None if there is none.

    It is moved to the front of `entries`, since it will be wanted again; the others keep their order. The checks of those after
    it are not called.

    Source: `torch/csrc/dynamo/extra_state.cpp`, `lookup`.
    """
    for place, entry in enumerate(entries):
        if entry.check(L):
            entries.insert(0, entries.pop(place))
            return entry


def recompile_reasons(entries: list[CacheEntry], L: dict[str, Any]) -> list[str]:  # noqa: N803
    """Why none of the entries fits: for each, in their order, the first of its guards that does not hold, in words.

    `guards.failing_guard(entry.guards, entry.scope, L)` finds it and `guards.explain_failure(guard, entry.scope, L)` puts it in
    words. An entry whose guards all hold gives nothing.

    Source: `torch/_dynamo/guards.py`, `get_and_maybe_log_recompilation_reasons`.
    """
    reasons = []
    for entry in entries:
        guard = guards.failing_guard(entry.guards, entry.scope, L)
        if guard is not None:
            reasons.append(guards.explain_failure(guard, entry.scope, L))
    return reasons
