"""A call: a kernel bound to its schema, and the modes on the stack."""

from contextlib import ExitStack
from functools import partial

from ...engine.check import program
from ..cases import defaults, drawing, drawn, field, first_apart, several
from ..shared_02.keys import EXPLICIT, IMPLICIT, names, subsets, union
from ..shared_02.operators import (
    MODES,
    attempt,
    guards,
    kernels_of,
    library,
    mode,
    operators,
    pack,
    stacks,
    thread,
    threaded,
    unpack,
)
from .schemas import CALLED, PASSED, arguments_of, split, with_defaults

_RESULTS = {  # for each return type: results of a kernel, and how many of them have this type
    "int": ([3, True, "q", None], 1), "float": ([2.5, 3, "q"], 1), "()": ([None, 3], 1), "int[]": ([[1, 2], [], 3], 2),
    "(int, float)": ([[1, 2.5], [1, 2], 3], 1),
}  # fmt: skip
_BOUND = [schema.removesuffix(" -> ()") for schema in CALLED]


@drawing
def _bindings(draw, st):
    schema = draw(st.sampled_from(_BOUND))
    returns = draw(st.sampled_from(sorted(_RESULTS)))
    kind = draw(st.sampled_from(["unboxed", "pythonic", "boxed"]))
    results, fitting = _RESULTS[returns]
    backends = [["CPUBit"], ["PrivateUse1Bit"], ["CPUBit", "PrivateUse1Bit"], ["CPUBit", "CUDABit", "PrivateUse1Bit"]]
    case = {"schema": f"{schema} -> {returns}", "kind": kind, "with_key_set": draw(st.booleans())}
    return case | {
        "bits": ["Dense", *draw(st.sampled_from(backends))],
        "stack": [draw(st.sampled_from(PASSED[type])) for _, type, _, _ in arguments_of(schema)],
        "result": draw(st.sampled_from(results[:fitting] if kind == "unboxed" else results)),
    }


_KINDS = ["unboxed", "pythonic", "boxed"]
_ON_CPU = [["Dense", "CPUBit"], ["Dense", "CPUBit", "PrivateUse1Bit"]]
_BINDINGS = [
    ("f(Tensor x, int a=2, *, float b=1.0) -> int", ["cpu", 2, 1.0], 3),
    ("f(Tensor x, int a=2, *, float b=1.0) -> ()", ["cpu", 3, 2.5], None),
    ("f(int a, int b=2, int c=3, *, int d, int e=5) -> (int, float)", [1, 2, 4, 7, 5], [1, 2.5]),
    ("f() -> int[]", [], [1, 2]),
]
_WRONG = [("int", "q"), ("float", 3), ("()", 3), ("int", True), ("(int, float)", [1, 2])]
_WRONG = [(f"f(int a, int b) -> {returns}", [1, 2], result) for returns, result in _WRONG]
_BINDINGS = [
    (k, with_set, bits, *row) for k in _KINDS for with_set in (False, True) for bits in _ON_CPU for row in _BINDINGS
]


_BINDINGS += [(kind, False, _ON_CPU[0], *row) for kind in _KINDS[1:] for row in _WRONG]
_BINDINGS += [(kind, True, [], "f() -> int", [], 3) for kind in _KINDS[:2]]  # a boxed one is never for an empty set


@program(
    "c10.dispatch.bind_kernel",
    cases=_bindings,
    edges=[
        {"schema": schema, "kind": kind, "with_key_set": with_set, "bits": bits, "stack": stack, "result": result}
        for kind, with_set, bits, schema, stack, result in _BINDINGS
    ],
    disposable=True,
)
def bound(xp, schema, kind, with_key_set, bits, stack, result):
    function, received = _recording_kernel(xp, kind, with_key_set, result)
    with library(xp) as (namespace, made):
        made.define(schema)
        kinds = {"pythonic": kind == "pythonic", "boxed": kind == "boxed", "with_key_set": with_key_set}
        kernel = xp.dispatch.Kernel(function, **kinds)
        callable = xp.dispatch.bind_kernel(kernel, getattr(xp.ops, namespace).f.default, union(xp, bits))
        returned = [callable(*unpack(xp, stack)) for _ in range(2)]  # a table keeps it for many calls
    as_it_is = returned[0] is result if kind == "unboxed" else None
    return {"received": [_packed(xp, call) for call in received], "returned": returned, "the kernel's object": as_it_is}


@bound.oracle
def _(torch, schema, kind, with_key_set, bits, stack, result):
    """A kernel of a namespace, or a fallback of all, called by redispatch with this key set.

    An unboxed kernel receives the arguments of a kernel in Python, and its defaults.
    """
    function, received = _recording_kernel(torch, kind, with_key_set, result)
    args, kwargs = split(schema, unpack(torch, stack))
    key = next((key for key in ("PrivateUse1", "CPU") if f"{key}Bit" in bits), "Undefined")
    with ExitStack() as exits:
        namespace, made = exits.enter_context(library(torch))
        made.define(schema)
        if kind == "boxed":
            everywhere = torch.library.Library("_", "IMPL")
            exits.callback(everywhere._destroy)
            everywhere.fallback(function, key, with_keyset=with_key_set)
        else:
            made.impl("f", function, key, with_keyset=with_key_set)
        returned = getattr(torch.ops, namespace).f.default.redispatch(union(torch, bits), *args, **kwargs)
    call, unboxed = received[0], kind == "unboxed"
    if unboxed:
        call |= {"args": with_defaults(torch, schema, call["args"], call["kwargs"]), "kwargs": {}}
    return {"received": [_packed(torch, call)] * 2, "returned": [returned] * 2, "the kernel's object": unboxed or None}


def _recording_kernel(xp, kind, with_key_set, result):
    """A kernel with this result, and the list of what it received, in parts."""
    received = []

    def function(*args, **kwargs):
        args, parts = list(args), {}
        if with_key_set:
            parts["key set"] = names(xp, args.pop(0))
        if kind == "boxed":
            parts["operator"] = str(args.pop(0)).partition(".")[2]
        received.append(parts | {"args": args, "kwargs": kwargs})
        return result

    return function, received


def _packed(xp, received):
    return received | {name: pack(xp, received[name]) for name in ("args", "kwargs")}


_IN_MODES = ["CPU", "Meta", "AutogradCPU", "Autograd", "ADInplaceOrView", "BackendSelect", IMPLICIT, EXPLICIT]
_MODE_STACKS = [
    ["on"], ["on", "on"], ["on", "other"], ["other"], ["again"], ["on", "again", "on"], ["answer"], ["nothing"],
    ["on", "answer"], ["on", "on", "first"], ["other", "on", "first"], ["raise"], ["on", "raise"], ["refuse"],
    ["on", "refuse"], ["interrupt"], ["on", "interrupt"], ["raise", "again"],
]  # fmt: skip
_moded = defaults(kernels=[], modes=[], stack=[["cpu"], None, 0], include=[], exclude=[], elsewhere=False)
_ONE_KERNEL = [["CPU", "keyset"]]
_MODE_HINTS = {
    "included": "while the method runs, the key `Python` is included only if another mode is active",
    "excluded": "while the method runs, the keys above `Python` are excluded",
    "after": "afterwards, also if a method raises, the modes and the keys are as before",
}


def _hint_for_modes(case, mine, theirs):
    """Which promise of the contract the first difference breaks, as far as the log says it."""
    if first_apart(mine, theirs) in ("within", "after"):
        return _MODE_HINTS["after"]
    logs = zip(field(mine, "log") or [], field(theirs, "log"))
    pair = next((pair for pair in logs if pair[0] != pair[1]), ("", ""))
    if not all(isinstance(line, str) and "while its method runs" in line for line in pair):
        return None
    same = len({line.partition(", excluded ")[0] for line in pair}) == 1
    return _MODE_HINTS["excluded" if same else "included"]


_THREE_KERNELS = [*_ONE_KERNEL, ["AutogradCPU", "redispatch"], ["ADInplaceOrView", "redispatch"]]


@program(
    "c10.dispatch.call_mode",
    cases=drawn(
        kernels=lambda st: kernels_of(st, _IN_MODES), modes=several(MODES, 1, 3), stack=stacks,
        include=subsets(["AutogradCPU", "AutocastCUDA"]), exclude=subsets(["BackendSelect", "ADInplaceOrView"]),
        elsewhere=bool,
    ),
    edges=[
        _moded(kernels, modes, [["cpu"], None, number])
        for number, modes in enumerate(_MODE_STACKS)
        for kernels in (_ONE_KERNEL, _THREE_KERNELS)
    ]
    + [
        _moded([[IMPLICIT, "other"]], ["on"], [[], "cpu", 2]), _moded([[EXPLICIT, "leaf"]], ["other"], [[], None, 2]),
        _moded(_ONE_KERNEL, ["on", "raise"], elsewhere=True), _moded([], ["on", "on"]),
    ]
    + [
        _moded(_ONE_KERNEL, modes, include=["AutocastCUDA"], exclude=["BackendSelect", "ADInplaceOrView"])
        for modes in (["on"], ["on", "other"], ["interrupt"])
    ],
    disposable=True,
    hint=_hint_for_modes,
)  # fmt: skip
def moded(xp, kernels, modes, stack, include, exclude, elsewhere):
    run = partial(_in_modes, xp, kernels, modes, unpack(xp, stack), include, exclude)
    return threaded(run) if elsewhere else run()


def _in_modes(xp, kernels, modes, stack, include, exclude):
    log = []
    with operators(xp, kernels, log) as overload, guards(xp, include, exclude):
        with ExitStack() as exits:
            made = []
            for number, kind in enumerate(modes):  # a mode may be entered again, while it is active
                made.append(made[0] if kind == "first" and made else mode(xp, overload, number, kind, log))
                exits.enter_context(made[-1])
            first = attempt(lambda: overload("f")(*stack))
            within = thread(xp)
            second = attempt(lambda: overload("f")(*stack))
        after = thread(xp)
        third = attempt(lambda: overload("f")(*stack))
    return {"log": log, "results": [first, second, third], "within": within, "after": after}
