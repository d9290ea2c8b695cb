"""The dispatcher: which kernels a call runs, and in which order.

An operator is a schema and a table. Every tensor carries a set of *dispatch keys*: bits that name the backend of its memory and
the features that must intercept the call, such as autograd, autocast or a mode. A call takes the union of its arguments' sets,
adds the keys that this thread includes, removes those that it excludes, and runs the kernel that the table has for the highest
key. That kernel can do its part and *redispatch* to the keys below it, down to the kernel that computes.

In PyTorch: `c10/core/DispatchKey.h`, `c10/core/DispatchKeySet.h`, `aten/src/ATen/core/dispatch/`. Key sets are plain
ints here. Left out: most keys (sparse, quantised, nested, named, conjugate, functorch's), their backends, `AutogradOther`, and
static dispatch.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace
from enum import IntEnum, auto
from functools import cached_property, partial, reduce
from operator import or_
from typing import Any

from rushlight.c10 import fast_paths
from rushlight.c10.schema import FunctionSchema, bind, cast_returns, parse_schema, unbind

# Keys ----------------------------------------------------------------------------------------------------------------

BACKENDS = ("CPU", "CUDA", "PrivateUse1", "Meta")  # one bit each, from bit 0
FUNCTIONALITIES = (  # one bit each, above the backends' bits; a later one has the higher priority
    "Dense", "BackendSelect", "Python", "ADInplaceOrView", "AutogradFunctionality", "AutocastCPU", "AutocastCUDA",
)  # fmt: skip
PER_BACKEND = {"Dense": "", "AutogradFunctionality": "Autograd"}  # have a key for each backend: CPU, AutogradCPU, ...
ALIASES = (
    "Autograd", "CompositeImplicitAutograd", "CompositeExplicitAutograd", "CompositeExplicitAutogradNonFunctional",
)  # fmt: skip


class DispatchKey(IntEnum):
    """A name for some bits of a key set, for an entry of the table, or, if it is an alias key, for many entries at once.
    Source: `c10/core/DispatchKey.h`."""

    Undefined = 0
    # The runtime keys, which have an entry in the table, from the lowest priority to the highest.
    CPU = auto()
    CUDA = auto()
    PrivateUse1 = auto()
    Meta = auto()
    BackendSelect = auto()
    Python = auto()
    ADInplaceOrView = auto()
    AutogradCPU = auto()
    AutogradCUDA = auto()
    AutogradPrivateUse1 = auto()
    AutogradMeta = auto()
    AutocastCPU = auto()
    AutocastCUDA = auto()
    # Functionalities that have a key for each backend.
    Dense = auto()
    AutogradFunctionality = auto()
    # The alias keys. Kernels are registered for them, and no tensor has their bits.
    Autograd = auto()
    CompositeImplicitAutograd = auto()
    CompositeExplicitAutograd = auto()
    CompositeExplicitAutogradNonFunctional = auto()

    def __str__(self) -> str:
        return self.name

    __repr__ = __str__


RUNTIME_KEYS = tuple(key for key in DispatchKey if 0 < key <= DispatchKey.AutocastCUDA)
BACKEND_KEYS = frozenset(DispatchKey[name] for name in BACKENDS)
AUTOGRAD_KEYS = frozenset(DispatchKey["Autograd" + name] for name in BACKENDS)
BIT = {name: 1 << i for i, name in enumerate((*BACKENDS, *FUNCTIONALITIES))}
BACKEND_MASK = (1 << len(BACKENDS)) - 1


def bits(key: DispatchKey) -> int:
    """The set that has just this key, as an int.

    `BIT` maps a backend or a functionality to its bit. A key of one backend, such as `CPU` (`Dense` on `CPU`)
    or `AutogradMeta` (`AutogradFunctionality` on `Meta`), has two bits. `PER_BACKEND` maps such a functionality to the
    prefix of the backend in the key's name. Any other functionality has one bit, also `Dense` and
    `AutogradFunctionality` by themselves. `Undefined` has no bits. An alias key has none either: kernels are registered
    for it, but no tensor has it.

        >>> f"{bits(DispatchKey.Python):b}", f"{bits(DispatchKey.AutogradMeta):b}"
        ('1000000', '100001000')

    Args:
        key: any `DispatchKey`, identified by its `name`.

    Source: `c10/core/DispatchKeySet.h`, the constructor `DispatchKeySet(DispatchKey)`.
    """
    if key.name in FUNCTIONALITIES:
        return BIT[key.name]
    for functionality, prefix in PER_BACKEND.items():
        for backend in BACKENDS:
            if key.name == prefix + backend:
                return BIT[backend] | BIT[functionality]
    return 0


def DispatchKeySet(*keys: DispatchKey) -> int:  # noqa: N802  (PyTorch's class; a set is an int here)
    """The set of all bits of these keys."""
    return reduce(or_, map(bits, keys), 0)


def highest_priority_key(key_set: int) -> DispatchKey:
    """The key whose kernel runs first: that of the highest functionality in the set.

    A functionality that is `PER_BACKEND` has a key for each backend. The set's highest backend bit decides, so {CPU, Meta}
    with `Dense` gives `Meta`. Without a backend the key is the functionality itself (`Dense`). The
    other functionalities do not depend on a backend.

        >>> highest_priority_key(BIT["CPU"] | BIT["Dense"] | BIT["AutocastCPU"])
        AutocastCPU

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
    """Every runtime key in a set, lowest first: those of `RUNTIME_KEYS` whose bits (`bits`) are all in the set.

    In a set with several backends, a functionality that is per backend has a key on each of them, even if the set was made
    from fewer keys: the bits are the same. Without a backend such a functionality gives no key.

        >>> keys_in(BIT["CPU"] | BIT["Dense"] | BIT["Python"])
        [CPU, Python]

    Returns:
        a list or a tuple.

    Source: `c10/core/DispatchKeySet.h`, `DispatchKeySet::iterator`.
    """
    return [key for key in RUNTIME_KEYS if not bits(key) & ~key_set]


def show_key_set(key_set: int) -> str:
    """The text of a key set, with its keys from the highest priority down.
    Source: `c10/core/DispatchKeySet.cpp`, `toString`."""
    return f"DispatchKeySet({', '.join(map(str, keys_in(key_set)))})"


def keys_below(key: DispatchKey) -> int:
    """All functionalities below that of a key, on every backend: the keys to redispatch to.
    Source: `c10/core/DispatchKeySet.h`, `DispatchKeySet(FULL_AFTER, key)`."""
    return BACKEND_MASK | (1 << bits(key).bit_length() - 1) - 1


# These sets are computed at import, so from `BIT` and not by `bits`: an import must not call an exercise.
AUTOCAST_KEYS = BIT["AutocastCPU"] | BIT["AutocastCUDA"]
PYTHON = BIT["Python"]
ABOVE_PYTHON = sum(bit for bit in BIT.values() if bit > PYTHON)


def tensor_key_set(backend: str) -> int:
    """The keys of a new tensor whose memory is on `backend`."""
    keys = BIT["Dense"] | BIT[backend] | BIT["AutogradFunctionality"] | BIT["ADInplaceOrView"]
    return keys | BIT.get(f"Autocast{backend}", 0)


TENSOR_KEYS = {"cpu": tensor_key_set("CPU"), "meta": tensor_key_set("Meta")}
"""For each type of device the dispatch keys of a plain tensor on it, with those of autograd and autocast."""
NOT_IN_INFERENCE = BIT["AutogradFunctionality"] | BIT["ADInplaceOrView"]
INFERENCE_KEYS = {device: keys & ~NOT_IN_INFERENCE for device, keys in TENSOR_KEYS.items()}

# The state of a thread -----------------------------------------------------------------------------------------------


class LocalState(threading.local):
    """What each thread has for itself: the included and excluded keys, the modes, and the settings of autograd.
    Source: `c10/core/impl/LocalDispatchKeySet.h`."""

    def __init__(self) -> None:
        self.included = BIT["BackendSelect"] | BIT["ADInplaceOrView"]
        self.excluded = AUTOCAST_KEYS
        self.modes: list[DispatchMode] = []
        self.on_meta = False  # whether a trace runs on fake tensors: without data, in the place of tensors of the CPU
        self.fakes_constants = False  # whether it makes fakes of constants too: the program may write fakes to them
        self.grad_enabled, self.inference = True, False
        self.tensor_keys = TENSOR_KEYS  # of new tensors
        self.saved_tensors_hooks: list[tuple[Callable, Callable]] = []
        self.saved_tensors_hooks_disabled: str | None = None  # the message of the error that they raise
        self.graph_task: Any = None  # the backward pass that is running: autograd's `GraphTask`
        self.reentrant_depth = 0  # of backward passes within backward passes
        self.depth = 0  # of calls, for the trace
        self.torch_function_disabled = False  # whether tensors' own `__torch_function__` do not run
        self.default_devices: list[Any] = []  # of the blocks `with device(...)`, the innermost last


local = LocalState()


def numbers_of(function: str, **arguments: Any) -> list[Any]:
    """The values of numbers. A tensor stands for the number in it, unless it has no data or a mode may record it. Text is
    refused, and a tensor that has dimensions or requires grad."""
    for name, value in arguments.items():
        is_tensor = hasattr(value, "_key_set")
        if isinstance(value, str) or is_tensor and (value.dim() or value.requires_grad):
            raise TypeError(f"{function}(): argument '{name}' must be Number, not {type(value).__name__}")
        if is_tensor and not value.is_meta and not local.modes:
            arguments[name] = value.item()
    return [*arguments.values()]


@contextmanager
def replacing(owner: Any, **values: Any):
    """While active, attributes have these values, for example those of `local`."""
    before = {name: getattr(owner, name) for name in values}
    vars(owner).update(values)
    try:
        yield
    finally:
        vars(owner).update(before)


def including(key_set: int) -> AbstractContextManager:
    """While active, add these keys to the set of every call.
    Source: `c10/core/impl/LocalDispatchKeySet.h`, `IncludeDispatchKeyGuard`."""
    return replacing(local, included=local.included | key_set)


@contextmanager
def excluding(key_set: int):
    """While active, remove the functionalities of these keys from the set of every call, on any backend.
    Source: `c10/core/impl/LocalDispatchKeySet.h`, `ExcludeDispatchKeyGuard`."""
    before = local.excluded  # without `replacing`, which takes longer: each cast of autocast and each mode comes here
    local.excluded |= key_set & ~BACKEND_MASK
    try:
        yield
    finally:
        local.excluded = before


# Kernels and operators -----------------------------------------------------------------------------------------------


@dataclass(eq=False)
class Kernel:
    """A function that is registered for a key.

    The framework's own kernels are *unboxed*: they take one argument for each argument of the schema. A kernel from
    `Library.impl` takes them as Python passes them, without those that have their default (`pythonic`). A *boxed* kernel, such
    as a fallback, takes the operator first, so it works for any operator. With `with_key_set`, the key set of the call comes
    before all other arguments, so that the kernel can redispatch.
    """

    function: Callable
    origin: str = "rushlight"
    pythonic: bool = False
    boxed: bool = False
    with_key_set: bool = False


def fallthrough_kernel(*args: Any) -> None:
    """A kernel that is never called: a call skips the key that it is registered for."""
    raise RuntimeError("fallthrough_kernel was executed but it should have been skipped by the dispatcher")


FALLTHROUGH = Kernel(fallthrough_kernel, "fallthrough")
MISSING = Kernel(fallthrough_kernel, "missing")

fallbacks: dict[DispatchKey, Kernel] = {}  # for operators that have no kernel for a key


class Operator:
    """One overload of an operator: its schema, the kernels registered for it, and the table computed from them.
    Source: `aten/src/ATen/core/dispatch/OperatorEntry.h`; in Python, `torch._ops.OpOverload`."""

    def __init__(self, schema: str | FunctionSchema, defined_at: str = "rushlight"):
        self._schema_text, self.defined_at = schema, defined_at
        self.kernels: dict[DispatchKey, Kernel] = {}
        self.table, self.below = DispatchTable(self), RedispatchTable(self)
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
        """Set the kernel of a key, or remove it if `kernel` is None. Clears the tables."""
        if kernel is None:
            self.kernels.pop(key, None)
        else:
            self.kernels[key] = kernel
        self.table.clear()
        self.below.clear()
        _unobserved.pop(self, None)

    def entry(self, key: DispatchKey) -> tuple[Kernel, str]:
        """The kernel for a runtime key, and the reason. A functionality without a backend uses the first backend."""
        if key.name in PER_BACKEND:
            key = DispatchKey[PER_BACKEND[key.name] + BACKENDS[0]]
        return compute_table_entry(self.kernels, fallbacks, key)

    def __repr__(self) -> str:
        return f"<Operator(op='{self.full_name}')>"


operators: dict[str, Operator] = {}


def bind_kernel(kernel: Kernel, operator: Operator, key_set: int) -> Callable:
    """A kernel in the form that a table holds: a callable that takes the stack, one argument for each argument of the schema.

    The callable runs `kernel.function` with, in this order:

    1. `key_set`, if the kernel is `with_key_set`;
    2. `operator`, if the kernel is `boxed`;
    3. the arguments: unchanged from the stack, or, if the kernel is `pythonic` or `boxed`, the args and kwargs that
       `unbind(operator.schema, stack)` returns.

        >>> kernel = Kernel(lambda key_set, x, y, alpha: [key_set, x, y, alpha], with_key_set=True)
        >>> bind_kernel(kernel, operators["aten::add.Tensor"], 17)("x", "y", 1)
        [17, 'x', 'y', 1]

    Args:
        kernel: its flags say how its function is called; see `Kernel`.
        operator: the owner of the table.
        key_set: the key set of the calls that the kernel will run for.

    Returns:
        the callable. It returns the function's result; for a kernel that is `pythonic` or `boxed`, the result of
        `cast_returns(operator.schema, result)`. For a kernel that takes only the stack it may be the function itself. It can
        be called many times.

    Source: `aten/src/ATen/core/boxing/KernelFunction_impl.h`, `KernelFunction::call`; for kernels in Python
    `torch/csrc/utils/python_dispatch.cpp`, `PythonKernelHolder`.
    """
    before = (key_set,) if kernel.with_key_set else ()
    before += (operator,) if kernel.boxed else ()
    if not (kernel.pythonic or kernel.boxed):
        return partial(kernel.function, *before) if before else kernel.function

    def call_boxed(*stack):
        args, kwargs = unbind(operator.schema, stack)
        return cast_returns(operator.schema, kernel.function(*before, *args, **kwargs))

    return call_boxed


def compute_table_entry(
    kernels: dict[DispatchKey, Kernel], fallbacks: dict[DispatchKey, Kernel], key: DispatchKey
) -> tuple[Kernel, str]:
    """The kernel that an operator's table holds for one runtime key, and the reason.

    An operator has kernels for runtime keys and for alias keys: `CompositeExplicitAutogradNonFunctional`,
    `CompositeExplicitAutograd`, `CompositeImplicitAutograd` and `Autograd`. An alias key stands for several runtime keys, and
    the first kernel in a fixed order is taken. If none serves the key, a fallback of all operators does.

        >>> kernels = {DispatchKey.CompositeExplicitAutograd: Kernel(abs, "for all backends")}
        >>> kernel, reason = compute_table_entry(kernels, {}, DispatchKey.Meta)
        >>> kernel.origin, reason
        ('for all backends', 'default backend kernel')
        >>> compute_table_entry(kernels, {}, DispatchKey.AutogradMeta) == (MISSING, "missing")
        True

    Args:
        kernels: a dict: the kernels registered for the operator, by runtime key or alias key. `FALLTHROUGH` is one of them.
        fallbacks: a dict: the kernels registered for all operators, by runtime key.
        key: one of `RUNTIME_KEYS`, or `Undefined`. `BACKEND_KEYS` and `AUTOGRAD_KEYS` are two kinds of them, without an order.
            The name of an autograd key is "Autograd" and the name of its backend, and `DispatchKey["CPU"]` is the key `CPU`.

    Returns:
        the kernel, `MISSING` if there is none, and the reason, a string: "kernel" for one of the key itself, "default backend
        kernel" for one of the first two alias keys, "math kernel" and "autograd kernel" for one of the third and the fourth,
        "backend fallback", or "missing".

    Rules:
        The kernel is the first of these that exists:

        1. the kernel registered for the key itself: "kernel";
        2. for a backend key (`BACKEND_KEYS`) or `Undefined`: the one for `CompositeExplicitAutogradNonFunctional`, else the
           one for `CompositeExplicitAutograd`: "default backend kernel";
        3. for a backend key, an autograd key (`AUTOGRAD_KEYS`) or `Undefined`: the one for `CompositeImplicitAutograd`, "math
           kernel". An autograd key takes it only if the operator has no kernel of its own for this key's backend and none
           for `CompositeExplicitAutograd`;
        4. for an autograd key: the one for `Autograd`: "autograd kernel";
        5. the fallback for this key: "backend fallback";
        6. `MISSING`: "missing".

    Source: `aten/src/ATen/core/dispatch/OperatorEntry.cpp`, `computeDispatchTableEntryWithDebug`.
    """
    if key in kernels:
        return kernels[key], "kernel"
    backend, autograd = key in BACKEND_KEYS | {DispatchKey.Undefined}, key in AUTOGRAD_KEYS
    explicit = DispatchKey.CompositeExplicitAutograd
    if backend:
        for alias in DispatchKey.CompositeExplicitAutogradNonFunctional, explicit:
            if alias in kernels:
                return kernels[alias], "default backend kernel"
    if (backend or autograd) and DispatchKey.CompositeImplicitAutograd in kernels:
        own = DispatchKey[key.name.removeprefix("Autograd")]  # a backend key is known to have no kernel at this point
        if own not in kernels and explicit not in kernels:
            return kernels[DispatchKey.CompositeImplicitAutograd], "math kernel"
    if autograd and DispatchKey.Autograd in kernels:
        return kernels[DispatchKey.Autograd], "autograd kernel"
    if key in fallbacks:
        return fallbacks[key], "backend fallback"
    return MISSING, "missing"


# Calling -------------------------------------------------------------------------------------------------------------


def tensors_in(stack: Sequence) -> Iterable[Any]:
    """The tensors among the arguments of a call, including those in lists."""
    for value in stack:
        if isinstance(value, (list, tuple)):
            yield from tensors_in(value)
        elif hasattr(value, "_key_set"):
            yield value


def dispatch_key_set(stack: Sequence, included: int, excluded: int) -> int:
    """The key set of a call: the keys of its tensor arguments, with the keys that the thread includes and without those that
    it excludes.

        >>> keys_in(dispatch_key_set([rl.ones(2), 2.5], BIT["Python"], BIT["AutocastCPU"] | BIT["AutogradFunctionality"]))
        [CPU, Python, ADInplaceOrView]
        >>> keys_in(dispatch_key_set([], bits(DispatchKey.CPU), 0))
        [CPU]

    Args:
        stack: the arguments, a list or a tuple; `tensors_in` finds the tensors, whose sets are in `_key_set`.
        included, excluded: key sets of the thread, ints.

    Returns:
        a key set, an int.

    Rules:
        The key set has the keys of all tensor arguments, including those in lists and tuples, and the keys that the
        thread includes, without the functionalities that the thread excludes. Exclusion wins over inclusion. Exclusion removes
        functionalities only (bits above `BACKEND_MASK`): excluding `AutogradCPU` excludes autograd on every backend, and the
        backend `CPU` stays.

    Source: `aten/src/ATen/core/dispatch/DispatchKeyExtractor.h`, `getDispatchKeySetUnboxed` and `computeDispatchKeySet`;
    `c10/core/DispatchKeySet.h`, `operator-`.
    """
    keys = included
    for tensor in tensors_in(stack):
        keys |= tensor._key_set
    return keys & (~excluded | BACKEND_MASK)


def skip_fallthrough(operator: Operator, key_set: int) -> int:
    """Remove the functionalities with the entry `FALLTHROUGH` of the operator from the set. The backends stay.

    `operator.entry(key)` returns a kernel and a reason. The key for a functionality is the one on the highest backend of `key_set`:
    with CPU and Meta, `AutogradMeta` decides, not `AutogradCPU`. Without a backend it is the functionality itself (`Dense`).

        >>> key_set = rl.ones(2)._key_set
        >>> keys_in(key_set), keys_in(skip_fallthrough(operators["aten::add.Tensor"], key_set))
        ([CPU, ADInplaceOrView, AutogradCPU, AutocastCPU], [CPU, AutogradCPU])

    Source: `aten/src/ATen/core/dispatch/DispatchKeyExtractor.h`, `nonFallthroughKeys_`.
    """
    kept = rest = key_set
    while key := highest_priority_key(rest):  # Undefined is 0
        functionality = bits(key) & ~BACKEND_MASK
        rest &= ~functionality
        if operator.entry(key)[0] is FALLTHROUGH:
            kept &= ~functionality
    return kept


def call(operator: Operator, *stack: Any) -> Any:
    """Call an operator with one argument for each argument of its schema.

    `dispatch_key_set` computes the key set of the arguments, with the keys that `local` includes and excludes.
    `skip_fallthrough` removes the fallthroughs. Then `run` runs the kernel, with "call" as its `how`.

        >>> call(operators["aten::add.Tensor"], rl.ones(2), rl.ones(2), 3).tolist()
        [4.0, 4.0]

    Source: `aten/src/ATen/core/dispatch/Dispatcher.h`, `Dispatcher::call`.
    """
    key_set = dispatch_key_set(stack, local.included, local.excluded)
    return run(operator, skip_fallthrough(operator, key_set), stack, "call")


def redispatch(operator: Operator, key_set: int, *stack: Any) -> Any:
    """Continue a call at the highest key of `key_set`. The keys of the arguments and of the thread are not read again, and
    fallthroughs are not skipped. The `how` of `run` is "redispatch".
    Source: `aten/src/ATen/core/dispatch/Dispatcher.h`, `Dispatcher::redispatch`."""
    return run(operator, key_set, stack, "redispatch")


def run(operator: Operator, key_set: int, stack: Sequence, how: str) -> Any:
    """Run the kernel for the highest key of a set: the last step of every call.

    `operator.entry(key)` returns the kernel and a reason. `bind_kernel(kernel, operator, key_set)` makes the kernel callable
    with the stack. The kernel runs within `traced(line)`, where the line is, for example,
    `[call] op=[aten::add.Tensor], key=[AutogradCPU]`: `how`, `operator.full_name`, the key's name.

        >>> x, cpu = rl.ones(2), DispatchKeySet(DispatchKey.CPU)
        >>> with show_dispatch_trace(): run(operators["aten::add.Tensor"], cpu, [x, x, 3], "call").tolist()
        [call] op=[aten::add.Tensor], key=[CPU]
        [4.0, 4.0]

    Args:
        operator: the operator that is called.
        key_set: its highest key selects the kernel. A kernel may take the whole set.
        stack: a list or a tuple, one argument for each argument of the schema.
        how: "call" or "redispatch".

    Returns:
        the kernel's result.

    Raises:
        NotImplementedError: the entry is `MISSING`; `explain_missing(operator, key)` returns the message, which has the operator's
            full name. Nothing is traced then.

    Source: `aten/src/ATen/core/dispatch/Dispatcher.h`, `Dispatcher::call`; `OperatorEntry.h`, `OperatorEntry::lookup`.
    """
    key = highest_priority_key(key_set)
    kernel, _ = operator.entry(key)
    if kernel is MISSING:
        raise NotImplementedError(explain_missing(operator, key))
    with traced(f"[{how}] op=[{operator.full_name}], key=[{key.name}]"):
        return bind_kernel(kernel, operator, key_set)(*stack)


def traced(line: str) -> AbstractContextManager:
    """Write a line of the trace if a trace is on (`show_dispatch_trace`). Lines of nested calls are indented below it."""
    return nullcontext() if _trace is None else _indented(_trace, line)


@contextmanager
def _indented(write: Callable[[str], Any], line: str):
    write(" " * local.depth + line)
    local.depth += 1
    try:
        yield
    finally:
        local.depth -= 1


def explain_missing(operator: Operator, key: DispatchKey) -> str:
    """The text of the error that an operator has no kernel for a key, with the keys for which it has one.
    Source: `aten/src/ATen/core/dispatch/OperatorEntry.cpp`, `reportError`."""
    entries = {k.name: operator.entry(k)[0] for k in RUNTIME_KEYS}
    nowhere = (python_fallback, autograd_fallback, meta_fallback)  # they pass the call on, or raise an error
    keys = [
        k for k, kernel in entries.items() if kernel not in (MISSING, FALLTHROUGH) and kernel.function not in nowhere
    ]
    served = f"It is available for these keys: {keys}" if keys else "It has no kernel for any key"
    if key == DispatchKey.Undefined:
        problem = f"There were no tensor arguments to {operator.full_name} (an empty list of Tensors, perhaps)"
        return f"{problem}, and it has no kernel for calls without tensors. {served}"
    problem = f"Could not run '{operator.full_name}' with arguments from the '{key.name}' backend"
    remedy = f"Library('{operator.full_name.partition('::')[0]}', 'IMPL').impl(..., '{key.name}')."
    return f"{problem}: there is no kernel for it. {served}. To add one: {remedy}"


# The fast path: a call looks up its key set in a dict of bound kernels, which fills itself ---------------------------


class DispatchTable(dict):
    """An operator's kernels by the key set of a call, which `dispatch_key_set` computes.

    The functions in `functions.py` compute that set inline and look it up here. While the tables are disabled, for a trace
    or because a function of this module may have been replaced, nothing is cached, and every call takes the slow path.
    """

    def __init__(self, operator: Operator):
        self.operator = operator

    def __missing__(self, key_set: int) -> Callable:
        if observer is not None:
            return partial(_observed, self.operator, key_set)
        return self.find(key_set)

    def find(self, key_set: int) -> Callable:
        if fast_paths.slow_from_layer == fast_paths.C10:
            return partial(call, self.operator)
        return _cache(self, key_set, skip_fallthrough(self.operator, key_set)) or partial(call, self.operator)


class UnobservedTable(DispatchTable):
    """An operator's kernels while a profiler is on."""

    __missing__ = DispatchTable.find


class RedispatchTable(DispatchTable):
    """An operator's kernels by the key set of a call whose highest key's kernel is running: the kernel for the other keys."""

    def __missing__(self, key_set: int) -> Callable:
        rest = key_set & keys_below(highest_priority_key(key_set))
        kernel = None if fast_paths.slow_from_layer == fast_paths.C10 else _cache(self, key_set, rest)
        return kernel or partial(redispatch, self.operator, rest)


def _cache(table: DispatchTable, key_set: int, rest: int) -> Callable | None:
    """Cache the kernel for the highest key of `rest` under `key_set`, in its fast form if it has one. None if it is missing: the
    slow path raises the error."""
    kernel, _ = table.operator.entry(highest_priority_key(rest))
    if kernel is MISSING:
        return None
    fastest = replace(kernel, function=fast_paths.fastest[kernel.function])
    table[key_set] = function = bind_kernel(fastest, table.operator, rest)
    return function


@fast_paths.cache_clearers.append
def _clear_tables() -> None:
    for operator in operators.values():
        operator.table.clear()
        operator.below.clear()
        vars(operator).pop("schema", None)
    _unobserved.clear()


# Observers: a profiler sees every call, and a trace prints it ---------------------------------------------------------

_trace: Callable[[str], Any] | None = None
observer: Callable[[Operator, tuple, Callable], Any] | None = None  # a profiler's; in PyTorch a `RecordFunction`
_unobserved: dict[Operator, DispatchTable] = {}  # the tables while a profiler is on


@contextmanager
def observing(new: Callable[[Operator, tuple, Callable], Any]):
    """While active, every call is `new(operator, stack, function)`, which must return `function(*stack)`. A redispatch
    is not observed. While nobody observes, the tables hold the kernels themselves.
    Source: `aten/src/ATen/record_function.h`, `addGlobalCallback`."""
    global observer
    before, observer = observer, new
    fast_paths.clear_caches()
    try:
        yield
    finally:
        observer = before
        fast_paths.clear_caches()


def _observed(operator: Operator, key_set: int, *stack: Any) -> Any:
    assert observer is not None
    table = _unobserved.get(operator)
    if table is None:
        table = _unobserved[operator] = UnobservedTable(operator)
    return observer(operator, stack, table[key_set])


@contextmanager
def show_dispatch_trace(write: Callable[[str], Any] = print):
    """While active, write a line for every call and redispatch, indented by depth, as `TORCH_SHOW_DISPATCH_TRACE=1` does in a
    debug build of PyTorch."""
    global _trace
    before, _trace = _trace, write
    try:
        with fast_paths.disabled("c10"):
            yield
    finally:
        _trace = before


# Modes: Python code that intercepts every call that reaches the key `Python` -----------------------------------------


class DispatchMode:
    """While a mode is active (`with`), calls that reach the key `Python` go to its `__torch_dispatch__`.
    Source: `torch/utils/_python_dispatch.py`, `TorchDispatchMode`."""

    def __torch_dispatch__(self, func: Operator, types: Sequence[type], args: tuple = (), kwargs: dict | None = None):
        raise NotImplementedError

    def __enter__(self):
        local.modes.append(self)
        local.included |= PYTHON
        return self

    def __exit__(self, *_: object) -> None:
        local.modes.pop()
        if not local.modes:
            local.included &= ~PYTHON


def call_mode(operator: Operator, *args: Any, **kwargs: Any) -> Any:
    """The boxed kernel for the key `Python` of every operator: pass the call to the innermost mode, the last of
    `local.modes`.

    While that mode handles the call, it is not among the modes. The calls that it makes go to the next outer mode. If there
    is none, the key `Python` is no longer included. The keys above `Python` (`ABOVE_PYTHON`) are excluded, because their
    kernels have run already. Afterwards, also if the mode raises, modes and keys are as before. (A mode exits every mode
    that it enters.)

        >>> class Echo(DispatchMode):
        ...     def __torch_dispatch__(self, func, types, args=(), kwargs=None): return args, len(local.modes)
        >>> with Echo(): call_mode(operators["aten::add.Tensor"], 1, 2)
        ((1, 2), 0)

    Args:
        operator, args, kwargs: of the call. The mode's `__torch_dispatch__` takes the operator, the types of the tensors
            that are subclasses (`()`: there are none here), the args as a tuple and the kwargs as a dict.

    Returns:
        the mode's result.

    Raises:
        TypeError: the mode returns `NotImplemented`.

    Source: `aten/src/ATen/core/PythonFallbackKernel.cpp`, `pythonFallback`; `torch/csrc/autograd/python_variable.cpp`,
    `ConcretePyInterpreterVTable::dispatch`.
    """
    mode, included = local.modes.pop(), local.included
    if not local.modes:
        local.included &= ~PYTHON
    try:
        with excluding(ABOVE_PYTHON):
            result = mode.__torch_dispatch__(operator, (), args, kwargs)
    finally:
        local.modes.append(mode)
        local.included = included
    if result is NotImplemented:
        raise TypeError(f"{operator.full_name}: the __torch_dispatch__ of {mode!r} returned NotImplemented")
    return result


def python_fallback(operator: Operator, *args: Any, **kwargs: Any) -> Any:
    """The boxed kernel for `Python` of every operator: `call_mode` if there is a mode, otherwise the `__torch_dispatch__` of the
    tensors that are subclasses. The class of the first of these comes first, but a subclass comes before its own base.
    Source: `aten/src/ATen/core/PythonFallbackKernel.cpp`, `pythonFallback`; `torch/csrc/utils/python_arg_parser.cpp`,
    `append_overloaded_arg` and `handle_torch_function_no_python_arg_parser`."""
    if local.modes:
        return call_mode(operator, *args, **kwargs)
    kinds = overloaded_types(type(x) for x in tensors_in((*args, *kwargs.values())) if x._key_set & PYTHON)
    with excluding(ABOVE_PYTHON):
        for kind in kinds:
            result = kind.__torch_dispatch__(operator, kinds, args, kwargs)
            if result is not NotImplemented:
                in_place = operator.schema.is_mutable and len(operator.schema.returns) == 1
                return args[0] if in_place and operator.schema.arguments[0].is_written else result
    raise TypeError(multiple_dispatch_failed(operator, "__torch_dispatch__", kinds))


def overloaded_types(kinds: Iterable[type]) -> tuple[Any, ...]:
    """The classes in the order in which they are asked to handle a call: each once, and before its bases.
    Source: `torch/csrc/utils/python_arg_parser.cpp`, `append_overloaded_arg`."""
    ordered: list[type] = []
    for kind in kinds:
        if kind not in ordered:
            bases = (i for i, other in enumerate(ordered) if issubclass(kind, other))
            ordered.insert(next(bases, len(ordered)), kind)
    return tuple(ordered)


def multiple_dispatch_failed(function: Any, method: str, kinds: Iterable[type]) -> str:
    """The text of the error when each `__torch_function__` or `__torch_dispatch__` has returned `NotImplemented`."""
    refused = "\n".join(f"  - tensor subclass {kind}" for kind in kinds)
    return f"Multiple dispatch failed for '{function}'; all {method} handlers returned NotImplemented:\n\n{refused}"


def autograd_fallback(key_set: int, operator: Operator, *args: Any, **kwargs: Any) -> Any:
    """The boxed kernel for the autograd keys of every operator that has no other: redispatch below autograd. In PyTorch, if an
    argument requires a gradient, the result also warns when the backward pass reaches it.
    Source: `torch/csrc/autograd/autograd_not_implemented_fallback.cpp`, `basicAutogradNotImplementedFallbackImpl`."""
    below = key_set & keys_below(DispatchKey.AutogradFunctionality)
    return redispatch(operator, below, *bind(operator.schema, args, kwargs))


def meta_fallback(operator: Operator, *args: Any, **kwargs: Any) -> Any:
    """The boxed kernel for `Meta` of every operator that has no other. Source: `aten/src/ATen/core/MetaFallbackKernel.cpp`."""
    problem = f"{operator.full_name}: attempted to run this operator with Meta tensors, but it has no kernel for Meta"
    remedy = f"Library('{operator.full_name.partition('::')[0]}', 'IMPL').impl(..., 'Meta')"
    raise NotImplementedError(f"{problem}; to add one: {remedy}")


# The fallbacks of all operators --------------------------------------------------------------------------------------

fallbacks[DispatchKey.Python] = Kernel(python_fallback, boxed=True)
fallbacks[DispatchKey.Meta] = Kernel(meta_fallback, boxed=True)
for _key in AUTOGRAD_KEYS:
    fallbacks[_key] = Kernel(autograd_fallback, boxed=True, with_key_set=True)
for _name in ("BackendSelect", "ADInplaceOrView", "AutocastCPU", "AutocastCUDA"):
    fallbacks[DispatchKey[_name]] = FALLTHROUGH
