"""The dispatcher: which kernels a call runs, and in which order.

An operator is a schema and a table. Every tensor carries a set of *dispatch keys*, bits that say where its memory is and
what else wants to have a word: autograd, autocast, a mode. A call unites the sets of its arguments, adjusts them by what
this thread includes and excludes, and runs the kernel that the table has for the highest key. That kernel may do its part
and *redispatch* to the keys below it, down to the one that computes.

In PyTorch: `c10/core/DispatchKey.h`, `c10/core/DispatchKeySet.h`, `aten/src/ATen/core/dispatch/`. Key sets are plain
ints here. Left out: most keys (sparse, quantised, nested, named, conjugate, functorch's), their backends, `AutogradOther`,
and static dispatch.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property, partial
from typing import Any

from rushlight.schema import FunctionSchema, parse_schema, unbind

# ------------------------------------------------------------------------------------------------------------
# Keys

BACKENDS = ("CPU", "CUDA", "PrivateUse1", "Meta")  # one bit each, from bit 0
FUNCTIONALITIES = (  # one bit each, above the backends'; a higher one comes first
    "Dense",
    "BackendSelect",
    "Python",
    "ADInplaceOrView",
    "AutogradFunctionality",
    "AutocastCPU",
    "AutocastCUDA",
)
PER_BACKEND = {
    "Dense": "",
    "AutogradFunctionality": "Autograd",
}  # have a kernel for each backend: CPU, AutogradCPU, ...
ALIASES = (
    "Autograd",
    "CompositeImplicitAutograd",
    "CompositeExplicitAutograd",
    "CompositeExplicitAutogradNonFunctional",
)


def _runtime_keys() -> Iterable[str]:
    """The keys that a table has an entry for, lowest first."""
    for name in FUNCTIONALITIES:
        yield from (PER_BACKEND[name] + backend for backend in BACKENDS) if name in PER_BACKEND else (name,)


class DispatchKey(IntEnum):
    """A name for some bits, for an entry of the table, or, for the last four, for many entries at once.

    Source: `c10/core/DispatchKey.h`.
    """

    _ignore_ = ("names", "i", "name_")
    names = ("Undefined", *_runtime_keys(), *PER_BACKEND, *ALIASES)
    for i, name_ in enumerate(names):
        vars()[name_] = i

    def __str__(self) -> str:
        return self.name

    __repr__ = __str__


RUNTIME_KEYS = tuple(DispatchKey[name] for name in _runtime_keys())
BACKEND_KEYS = frozenset(DispatchKey[name] for name in BACKENDS)
AUTOGRAD_KEYS = frozenset(DispatchKey["Autograd" + name] for name in BACKENDS)
BACKEND_MASK = (1 << len(BACKENDS)) - 1


def bits(key: DispatchKey) -> int:
    """The set that has just this key, as an int.

    Bit `i` stands for `BACKENDS[i]`, and bit `len(BACKENDS) + i` for `FUNCTIONALITIES[i]`. A key of one backend, such as
    `CPU` (`Dense` on `CPU`) or `AutogradMeta` (`AutogradFunctionality` on `Meta`), has two bits; `PER_BACKEND` maps such a
    functionality to what stands before the backend in the key's name. Any other functionality has one bit, also
    `Dense` and `AutogradFunctionality` by themselves. `Undefined` has none.

    Args:
        key: `Undefined`, a functionality, or one of `RUNTIME_KEYS`; its `name` tells which.

    Raises:
        RuntimeError: `key` is an alias key, which is in no set.

    Source: `c10/core/DispatchKeySet.h`, the constructor `DispatchKeySet(DispatchKey)`.
    """
    if key == DispatchKey.Undefined:
        return 0
    if key.name in FUNCTIONALITIES:
        return 1 << len(BACKENDS) + FUNCTIONALITIES.index(key.name)
    for functionality, prefix in PER_BACKEND.items():
        if key.name.startswith(prefix) and key.name.removeprefix(prefix) in BACKENDS:
            backend = BACKENDS.index(key.name.removeprefix(prefix))
            return 1 << backend | 1 << len(BACKENDS) + FUNCTIONALITIES.index(functionality)
    raise RuntimeError(f"{key.name} is an alias key: it is registered to, but no tensor has it")


def key_set(*keys: DispatchKey) -> int:
    """The set of all bits of these keys."""
    united = 0
    for key in keys:
        united |= bits(key)
    return united


def highest_priority_key(key_set: int) -> DispatchKey:
    """The key whose kernel runs first: that of the highest functionality in the set.

    A functionality that is `PER_BACKEND` is one key for each backend; of the set's backends the highest bit counts, so
    that {CPU, Meta} with `Dense` gives `Meta`. Without a backend such a functionality stands for itself (`Dense`).

    Returns:
        a `DispatchKey`, `Undefined` if the set has no functionality.

    Source: `c10/core/DispatchKeySet.h`, `highestPriorityTypeId`.
    """
    functionality = key_set >> len(BACKENDS)
    if not functionality:
        return DispatchKey.Undefined
    name = FUNCTIONALITIES[functionality.bit_length() - 1]
    backends = key_set & BACKEND_MASK
    if name in PER_BACKEND and backends:
        name = PER_BACKEND[name] + BACKENDS[backends.bit_length() - 1]
    return DispatchKey[name]


def keys_in(key_set: int) -> list[DispatchKey]:
    """Every runtime key in a set, lowest first. With several backends, each functionality that is per backend is there
    for all of them, though the set was made of fewer keys: bits cannot tell.

    Source: `c10/core/DispatchKeySet.h`, `DispatchKeySet::iterator`.
    """
    return [key for key in RUNTIME_KEYS if bits(key) & key_set == bits(key)]


def show_key_set(key_set: int) -> str:
    return f"DispatchKeySet({', '.join(map(str, keys_in(key_set)))})"


def keys_below(key: DispatchKey) -> int:
    """All functionalities below a key's, on every backend: what is left to run when its kernel has done its part.

    Source: `c10/core/DispatchKeySet.h`, `DispatchKeySet(FULL_AFTER, key)`.
    """
    return BACKEND_MASK | (1 << bits(key).bit_length() - 1) - 1


AUTOCAST_KEYS = key_set(DispatchKey.AutocastCPU, DispatchKey.AutocastCUDA)
AUTOGRAD = bits(DispatchKey.AutogradFunctionality)
INPLACE_OR_VIEW = bits(DispatchKey.ADInplaceOrView)


def tensor_key_set(backend: str) -> int:
    """The keys of a new tensor whose memory is on `backend`."""
    keys = bits(DispatchKey[backend]) | AUTOGRAD | INPLACE_OR_VIEW
    autocast = f"Autocast{backend}"
    return keys | bits(DispatchKey[autocast]) if autocast in FUNCTIONALITIES else keys


# ------------------------------------------------------------------------------------------------------------
# What this thread adds and takes away


class LocalState(threading.local):
    """Source: `c10/core/impl/LocalDispatchKeySet.h`."""

    def __init__(self) -> None:
        self.included = key_set(DispatchKey.BackendSelect, DispatchKey.ADInplaceOrView)
        self.excluded = AUTOCAST_KEYS
        self.modes: list[DispatchMode] = []
        self.depth = 0  # of calls, for the trace


local = LocalState()


@contextmanager
def including(key_set: int):
    """Within: these keys are in the set of every call. Source: `c10::impl::IncludeDispatchKeyGuard`."""
    before = local.included
    local.included |= key_set
    try:
        yield
    finally:
        local.included = before


@contextmanager
def excluding(key_set: int):
    """Within: these keys are in the set of no call. Source: `c10::impl::ExcludeDispatchKeyGuard`."""
    before = local.excluded
    local.excluded |= key_set
    try:
        yield
    finally:
        local.excluded = before


# ------------------------------------------------------------------------------------------------------------
# Kernels and operators


@dataclass(eq=False)
class Kernel:
    """A function that is registered for a key.

    Ours are *unboxed*: they take one argument for each of the schema's. One from `Library.impl` takes them as Python
    passes them, less what has its default (`pythonic`). A *boxed* one, a fallback, takes the operator before them, and
    so serves any operator. `with_key_set` puts the key set of the call before all that, for redispatching.
    """

    function: Callable
    origin: str = "rushlight"
    pythonic: bool = False
    boxed: bool = False
    with_key_set: bool = False

    def bound(self, operator: Operator, key_set: int) -> Callable:
        """What the table holds: a callable that takes the stack, one argument for each of the schema's."""
        before = (key_set,) if self.with_key_set else ()
        before += (operator,) if self.boxed else ()
        if not (self.pythonic or self.boxed):
            return partial(self.function, *before) if before else self.function

        def call_boxed(*stack):
            args, kwargs = unbind(operator.schema, stack)
            return self.function(*before, *args, **kwargs)

        return call_boxed


def fallthrough_kernel(*args: Any) -> None:
    """Registered for a key, it makes calls pass by as if they did not have this key."""
    raise RuntimeError("fallthrough_kernel was executed but it should have been skipped by the dispatcher")


FALLTHROUGH = Kernel(fallthrough_kernel, "fallthrough")
MISSING = Kernel(fallthrough_kernel, "missing")

fallbacks: dict[DispatchKey, Kernel] = {}  # for operators that have nothing else for a key


class Operator:
    """One overload of an operator: its schema, the kernels that were registered, and the table made of them.

    Source: `aten/src/ATen/core/dispatch/OperatorEntry.h`; in Python, `torch._ops.OpOverload`.
    """

    def __init__(self, schema: str | FunctionSchema, defined_at: str = "rushlight"):
        self._schema_text, self.defined_at = schema, defined_at
        self.kernels: dict[DispatchKey, Kernel] = {}
        self.table = Table(self)
        operators[self.full_name] = self

    @cached_property
    def schema(self) -> FunctionSchema:
        return parse_schema(self._schema_text) if isinstance(self._schema_text, str) else self._schema_text

    @cached_property
    def full_name(self) -> str:
        text = self._schema_text
        if not isinstance(text, str):
            return text.full_name
        name = text.partition("(")[0].strip()
        return name if "::" in name else f"aten::{name}"

    def register(self, key: DispatchKey, kernel: Kernel | None) -> None:
        """Put a kernel in the place of this key's, or, with None, take it away."""
        if kernel is None:
            self.kernels.pop(key, None)
        else:
            self.kernels[key] = kernel
        self.table.clear()

    def entry(self, key: DispatchKey) -> tuple[Kernel, str]:
        return compute_table_entry(self.kernels, fallbacks, key)

    def __repr__(self) -> str:
        return f"<Operator(op='{self.full_name}')>"


operators: dict[str, Operator] = {}


def compute_table_entry(
    kernels: dict[DispatchKey, Kernel], fallbacks: dict[DispatchKey, Kernel], key: DispatchKey
) -> tuple[Kernel, str]:
    """What an operator's table holds for one runtime key, and why.

    The first of these that there is:

    1. the kernel registered for this very key: "kernel";
    2. for a backend key (`BACKEND_KEYS`) or `Undefined`: the one for `CompositeExplicitAutogradNonFunctional`, else the
       one for `CompositeExplicitAutograd`: "default backend kernel";
    3. for a backend key, an autograd key (`AUTOGRAD_KEYS`) or `Undefined`: the one for `CompositeImplicitAutograd`, "math
       kernel". An autograd key takes it only if the operator has no kernel of its own for this key's backend and none
       for `CompositeExplicitAutograd`;
    4. for an autograd key: the one for `Autograd`: "autograd kernel";
    5. the fallback for this key: "backend fallback";
    6. `MISSING`: "missing".

    Args:
        kernels: what was registered for the operator; alias keys are among the keys.
        fallbacks: what was registered for all operators, by runtime key.
        key: one of `RUNTIME_KEYS`, or `Undefined`.

    Returns:
        the kernel, and the reason in the words above.

    Source: `aten/src/ATen/core/dispatch/OperatorEntry.cpp`, `computeDispatchTableEntryWithDebug`.
    """
    if key in kernels:
        return kernels[key], "kernel"
    backend, autograd = key in BACKEND_KEYS or key == DispatchKey.Undefined, key in AUTOGRAD_KEYS
    explicit = DispatchKey.CompositeExplicitAutograd
    if backend:
        for alias in DispatchKey.CompositeExplicitAutogradNonFunctional, explicit:
            if alias in kernels:
                return kernels[alias], "default backend kernel"
    if (backend or autograd) and DispatchKey.CompositeImplicitAutograd in kernels:
        own = autograd and (explicit in kernels or DispatchKey[key.name.removeprefix("Autograd")] in kernels)
        if not own:
            return kernels[DispatchKey.CompositeImplicitAutograd], "math kernel"
    if autograd and DispatchKey.Autograd in kernels:
        return kernels[DispatchKey.Autograd], "autograd kernel"
    if key in fallbacks:
        return fallbacks[key], "backend fallback"
    return MISSING, "missing"


# ------------------------------------------------------------------------------------------------------------
# Calling


def tensors_in(stack: Sequence) -> Iterable[Any]:
    """The tensors among the arguments of a call, and in lists among them."""
    for value in stack:
        if isinstance(value, (list, tuple)):
            yield from tensors_in(value)
        elif hasattr(value, "_key_set"):
            yield value


def dispatch_key_set(stack: Sequence, included: int, excluded: int) -> int:
    """The key set of a call: the keys of all tensor arguments, those in lists included, and the keys that the thread
    includes, less the ones that it excludes. Excluding wins.

    Args:
        stack: the arguments; `tensors_in` finds the tensors, whose sets are in `_key_set`.
        included, excluded: key sets of the thread.

    Source: `aten/src/ATen/core/dispatch/DispatchKeyExtractor.h`, `getDispatchKeySetUnboxed` and `computeDispatchKeySet`.
    """
    keys = included
    for tensor in tensors_in(stack):
        keys |= tensor._key_set
    return keys & ~excluded


def skip_fallthrough(operator: Operator, key_set: int) -> int:
    """The set without the functionalities for which the operator's entry is `FALLTHROUGH`; the backends stay.

    Each functionality is looked at on the set's highest backend, with `operator.entry(key)`, which gives a kernel and a
    reason.

    Source: `aten/src/ATen/core/dispatch/DispatchKeyExtractor.h`, `nonFallthroughKeys_`.
    """
    kept = rest = key_set
    while (key := highest_priority_key(rest)) != DispatchKey.Undefined:
        functionality = bits(key) & ~BACKEND_MASK
        rest &= ~functionality
        if operator.entry(key)[0] is FALLTHROUGH:
            kept &= ~functionality
    return kept


def call(operator: Operator, *stack: Any) -> Any:
    """Call an operator with one argument for each of its schema's.

    The key set of the arguments (`dispatch_key_set`, with what `local` includes and excludes), less the fallthroughs
    (`skip_fallthrough`), goes to `run`.

    Source: `aten/src/ATen/core/dispatch/Dispatcher.h`, `Dispatcher::call`.
    """
    key_set = dispatch_key_set(stack, local.included, local.excluded)
    return run(operator, skip_fallthrough(operator, key_set), stack, "call")


def redispatch(operator: Operator, key_set: int, *stack: Any) -> Any:
    """Go on with a call at the highest key of `key_set`: neither the arguments nor the thread are asked again.

    Source: `aten/src/ATen/core/dispatch/Dispatcher.h`, `Dispatcher::redispatch`.
    """
    return run(operator, key_set, stack, "redispatch")


def run(operator: Operator, key_set: int, stack: Sequence, how: str) -> Any:
    """Run the kernel for the highest key of a set: the end of every call."""
    key = highest_priority_key(key_set)
    kernel, _ = operator.entry(key)
    if kernel is MISSING:
        raise NotImplementedError(explain_missing(operator, key))
    if _trace is None:
        return kernel.bound(operator, key_set)(*stack)
    _trace(f"{' ' * local.depth}[{how}] op=[{operator.full_name}], key=[{key.name}]")
    local.depth += 1
    try:
        return kernel.bound(operator, key_set)(*stack)
    finally:
        local.depth -= 1


def explain_missing(operator: Operator, key: DispatchKey) -> str:
    """Source: `aten/src/ATen/core/dispatch/OperatorEntry.cpp`, `reportError`."""
    served = [k.name for k in RUNTIME_KEYS if operator.entry(k)[0] not in (MISSING, FALLTHROUGH)]
    if key == DispatchKey.Undefined:
        return (
            f"There were no tensor arguments to {operator.full_name} (an empty list of Tensors, perhaps), and it has no "
            f"kernel that does without. It is available for these keys: {served}"
        )
    return (
        f"Could not run '{operator.full_name}' with arguments from the '{key.name}' backend: there is no kernel for it. "
        f"It is available for these keys: {served}. To add one: Library('{operator.full_name.partition('::')[0]}', "
        f"'IMPL').impl(..., '{key.name}')."
    )


# ------------------------------------------------------------------------------------------------------------
# The same, fast: a call looks up its key set in a dict of bound kernels, which fills itself


class Table(dict):
    """An operator's kernels by the key set of a call, as `dispatch_key_set` gives it.

    The functions in `functions.py` compute that set in line and look here. While fast paths stand aside, for a trace or
    because somebody has put another piece into this machinery, nothing is kept, and every call takes the long way.
    """

    def __init__(self, operator: Operator):
        self.operator = operator

    def __missing__(self, key_set: int) -> Callable:
        if aside:
            return partial(call, self.operator)
        masked = skip_fallthrough(self.operator, key_set)
        kernel, _ = self.operator.entry(highest_priority_key(masked))
        if kernel is MISSING:
            return partial(call, self.operator)
        function = kernel.bound(self.operator, masked)
        self[key_set] = function
        return function


aside = False  # whether the short ways are closed
_trace: Callable[[str], Any] | None = None
memos: list[Callable[[], Any]] = []  # what empties the other memories of what a function said before


def stand_aside(wanted: bool) -> None:
    """Whether calls take the long way. Either way, forget what is known: the tables and all `memos`."""
    global aside
    aside = wanted
    for operator in operators.values():
        operator.table.clear()
    for forget in memos:
        forget()


@contextmanager
def show_dispatch_trace(write: Callable[[str], Any] = print):
    """Within: a line for every call and redispatch, indented by depth, as `TORCH_SHOW_DISPATCH_TRACE=1` shows in a debug
    build of PyTorch."""
    global _trace
    before, closed, _trace = _trace, aside, write
    stand_aside(True)
    try:
        yield
    finally:
        _trace = before
        stand_aside(closed)


# ------------------------------------------------------------------------------------------------------------
# Modes: Python code that sees every call that gets as far as the key `Python`


class DispatchMode:
    """While a mode is active (`with`), calls that reach the key `Python` go to its `__torch_dispatch__`.

    Source: `torch/utils/_python_dispatch.py`, `TorchDispatchMode`.
    """

    def __torch_dispatch__(self, func: Operator, types: Sequence[type], args: tuple = (), kwargs: dict | None = None):
        raise NotImplementedError

    def __enter__(self):
        local.modes.append(self)
        local.included |= _PYTHON
        return self

    def __exit__(self, *_: object) -> None:
        local.modes.pop()
        if not local.modes:
            local.included &= ~_PYTHON


_PYTHON = bits(DispatchKey.Python)


def call_mode(operator: Operator, *args: Any, **kwargs: Any) -> Any:
    """The kernel for the key `Python` of every operator: hand the call to the innermost mode.

    That mode is not active while it handles the call: what it calls goes to the modes outside it, and if there are none,
    the key `Python` is no longer included. Afterwards, and if it raises, everything is as before.

    Args:
        operator, args, kwargs: of the call; the mode's `__torch_dispatch__` takes the operator, the types of the tensors
            (`()` here), the args as a tuple and the kwargs as a dict.

    Returns:
        what the mode returns.

    Source: `torch/csrc/PyInterpreter.cpp`, `dispatch`; `aten/src/ATen/core/PythonFallbackKernel.cpp`, `pythonFallback`.
    """
    mode, included = local.modes.pop(), local.included
    if not local.modes:
        local.included &= ~_PYTHON
    try:
        return mode.__torch_dispatch__(operator, (), args, kwargs)
    finally:
        local.modes.append(mode)
        local.included = included


fallbacks[DispatchKey.Python] = Kernel(call_mode, boxed=True)
for _name in ("BackendSelect", "ADInplaceOrView", "AutocastCPU", "AutocastCUDA", *("Autograd" + b for b in BACKENDS)):
    fallbacks[DispatchKey[_name]] = FALLTHROUGH
