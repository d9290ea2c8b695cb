"""The cache of captures: a few entries for each function, and for each instruction at which it resumes after a break.

A `CacheEntry` is one capture: its guards as one function, and `run`, which calls the compiled graph. A call looks for an entry
whose guards hold. If there is none, it logs why and captures again, up to a limit. In PyTorch: `torch/csrc/dynamo/cache_entry.cpp`,
`extra_state.cpp`, `torch/_dynamo/cache_size.py`, `guards.py`. Left out: entries that are dropped when an object dies.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from rushlight.dynamo import guards
from rushlight.dynamo.guards import Guard

recompile_limit = 8


@dataclass(eq=False)
class CacheEntry:
    """One capture: guards, the check made of them, and the function `run(L)`, which runs what was captured."""

    guards: list[Guard]
    scope: dict[str, Any]
    check: Callable[[dict[str, Any]], bool]
    run: Callable[[dict[str, Any]], Any] | None = None


@dataclass(eq=False)
class Region:
    """A function from its beginning, or from an instruction on. `skip_reason`: why nothing is captured here; None if it is."""

    entries: list[CacheEntry] = field(default_factory=list)
    skip_reason: str | None = None


def lookup(entries: list[CacheEntry], L: dict[str, Any]) -> CacheEntry | None:
    """The first entry whose `check` holds for these locals, None if there is none.

    It moves to the front of the list `entries`, because the next call probably needs it again. The others keep their order. The
    checks of the entries after it are not called.

    >>> entries = [rl.dynamo.cache.CacheEntry([], {}, lambda L, k=k: L["k"] == k) for k in (1, 2, 3)]
    >>> second = entries[1]
    >>> lookup(entries, {"k": 2}) is second, entries.index(second), lookup(entries, {"k": 9})
    (True, 0, None)

    Source: `torch/csrc/dynamo/extra_state.cpp`, `lookup`.
    """
    for index, entry in enumerate(entries):
        if entry.check(L):
            entries.insert(0, entries.pop(index))
            return entry


def recompile_reasons(entries: list[CacheEntry], L: dict[str, Any]) -> list[str]:
    """Explain why none of the entries fits: a list with a message per entry, in order, about its first guard that does not hold.

    `guards.failing_guard(entry.guards, entry.scope, L)` finds this guard and `guards.explain_failure(guard, entry.scope, L)` gives
    the message. An entry whose guards all hold gives none.

    >>> entry = rl.dynamo.cache.CacheEntry([rl.dynamo.guards.Guard("L['k']", "L['k'] == 3")], {}, None)
    >>> recompile_reasons([entry], {"k": 4}), recompile_reasons([entry], {"k": 3})
    (["L['k'] == 3"], [])

    Source: `torch/_dynamo/guards.py`, `get_and_maybe_log_recompilation_reasons`.
    """
    reasons = []
    for entry in entries:
        guard = guards.failing_guard(entry.guards, entry.scope, L)
        if guard is not None:
            reasons.append(guards.explain_failure(guard, entry.scope, L))
    return reasons
