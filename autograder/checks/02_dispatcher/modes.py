"""Checks of lab 02: calls under dispatch modes."""

from __future__ import annotations

from contextlib import ExitStack

from ...check import program
from .operators import (
    EXPLICIT,
    FUNCTIONALITIES,
    IMPLICIT,
    arguments_text,
    attempt,
    is_torch,
    kernels_of,
    names,
    operators,
    stacks,
    unpack,
)


def mode(xp, overload, number, kind, log):
    """A mode that logs its calls.

    Its `kind`: call the operator ("on"), return a number ("answer"), raise ("raise"), return NotImplemented ("refuse"),
    call another operator first ("other"), or call the operator within itself the first time ("again").
    """
    base = xp.utils._python_dispatch.TorchDispatchMode if is_torch(xp) else xp.dispatch.DispatchMode

    class Mode(base):
        again = kind == "again"

        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            call = f"{str(func).partition('.')[2]}, types {list(types)}, {arguments_text(xp, args, kwargs)}"
            log.append(f"mode {number}: {call}, {thread(xp)}")
            if kind == "raise":
                raise KeyError("the mode's")
            if kind == "refuse":
                return NotImplemented
            if kind == "answer":
                return 1000 + number
            if kind == "other" and func is overload("f"):
                overload("g")(*args, **kwargs)
            if self.again:
                self.again = False
                with self:
                    return func(*args, **kwargs)
            return func(*args, **kwargs)

    return Mode()


def thread(xp):
    """The functionalities that the thread includes and excludes."""
    local = xp._C._dispatch_tls_local_include_set(), xp._C._dispatch_tls_local_exclude_set()
    included, excluded = (" ".join(name for name in names(xp, keys) if name in FUNCTIONALITIES) for keys in local)
    return f"included <{included}>, excluded <{excluded}>"


KINDS = ["on", "on", "other", "again", "answer", "raise", "refuse"]
_IN_MODES = ["CPU", "Meta", "AutogradCPU", "Autograd", "ADInplaceOrView", "BackendSelect", IMPLICIT, EXPLICIT]
_MODE_STACKS = [
    ["on"], ["on", "on"], ["on", "other"], ["other"], ["again"], ["on", "again", "on"], ["answer"], ["on", "answer"],
    ["raise"], ["on", "raise"], ["refuse"], ["on", "refuse"],
]  # fmt: skip
_LEAF = [["CPU", "keyset"]]
_CHAIN = [["CPU", "keyset"], ["AutogradCPU", "redispatch"], ["ADInplaceOrView", "redispatch"]]


@program(
    "dispatch.call_mode",
    cases=lambda st: st.fixed_dictionaries(
        {
            "kernels": kernels_of(st, _IN_MODES),
            "modes": st.lists(st.sampled_from(KINDS), min_size=1, max_size=3),
            "stack": stacks(st),
        }
    ),
    edges=[
        {"kernels": kernels, "modes": modes, "stack": [["cpu"], None, number]}
        for number, modes in enumerate(_MODE_STACKS)
        for kernels in (_LEAF, _CHAIN)
    ]
    + [
        {"kernels": [[IMPLICIT, "other"]], "modes": ["on"], "stack": [[], "cpu", 2]},
        {"kernels": [[EXPLICIT, "leaf"]], "modes": ["other"], "stack": [[], None, 2]},
    ],
    disposable=True,
)
def moded(xp, kernels, modes, stack):
    log, stack = [], unpack(xp, stack)
    with operators(xp, kernels, log) as overload:
        with ExitStack() as exits:
            for number, kind in enumerate(modes):
                exits.enter_context(mode(xp, overload, number, kind, log))
            first = attempt(lambda: overload("f")(*stack))
            within = thread(xp)
            second = attempt(lambda: overload("f")(*stack))
        after = thread(xp)
        third = attempt(lambda: overload("f")(*stack))
    return {"log": log, "results": [first, second, third], "within": within, "after": after}
