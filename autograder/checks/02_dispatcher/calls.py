"""Checks of lab 02: a call, from the key set of its arguments to the kernels that run."""

import re
from contextlib import ExitStack, contextmanager, nullcontext
from functools import partial

from ...engine.check import program
from ..cases import defaults, drawing, drawn, field, first_apart, is_torch, rows, several, when, words
from .keys import BACKENDS, EXPLICIT, FUNCTIONALITIES, IMPLICIT, RUNTIME, bits_of, highest_name, names, subsets, union
from .operators import (
    MASK,
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


def _item(st):
    one = st.sampled_from(["cpu", "cpu", "meta", None])
    return st.one_of(one, st.lists(one, max_size=3), st.integers(0, 3))


@program(
    "dispatch.dispatch_key_set",
    cases=drawn(
        stack=several(_item, 0, 4), included=subsets(RUNTIME, most=3), excluded=subsets(RUNTIME, most=3),
    ),
    edges=rows(
        "stack included excluded",
        ([], [], []), (["cpu"], [], []), (["meta"], [], []), (["cpu", "meta"], [], []), ([1, None, "cpu"], [], []),
        ([["cpu", "meta"]], [], []), ([[], [None, "meta"], 2], [], []), ([[], 1], ["BackendSelect"], []),
        ([], ["BackendSelect", "Meta"], []),
        (["cpu"], ["BackendSelect", "ADInplaceOrView"], ["AutocastCPU", "AutocastCUDA"]),
        (["cpu"], ["AutocastCPU"], ["AutocastCPU"]), (["cpu"], ["AutocastCUDA"], ["AutocastCPU"]),
        (["cpu"], [], ["AutogradCPU"]), (["cpu"], [], ["AutogradMeta"]),
        (["cpu", "meta"], [], ["AutogradCPU", "ADInplaceOrView"]), (["meta"], [], ["CPU"]),
        (["cpu"], ["Meta"], ["Meta"]), ([], ["CUDA"], ["CPU"]), ([], ["PrivateUse1", "Python"], ["Python"]),
    ),
    disposable=True,
    hint=when(lambda case: case["excluded"], "to exclude a key excludes its functionality; the backends stay"),
)  # fmt: skip
def key_set_of_a_call(xp, stack, included, excluded):
    stacks, keys = [unpack(xp, stack, kind) for kind in (list, tuple)], (bits_of(xp, included), bits_of(xp, excluded))
    return [names(xp, xp.dispatch.dispatch_key_set(stack, *keys)) for stack in stacks]


@key_set_of_a_call.oracle
def _(torch, stack, included, excluded):
    """The key set that the first kernel receives from an operator with a kernel for every key."""
    types = ["Tensor?[]" if isinstance(x, (list, tuple)) else "int" if isinstance(x, int) else "Tensor?" for x in stack]
    got = []
    with library(torch) as (namespace, made):
        made.define(f"f({', '.join(f'{type} x{i}' for i, type in enumerate(types))}) -> ()")
        for key in (*RUNTIME, EXPLICIT):
            made.impl("f", lambda key_set, *args: got.append(key_set), key, with_keyset=True)
        stack = unpack(torch, stack)
        with torch._C._ForceDispatchKeyGuard(bits_of(torch, included), bits_of(torch, excluded)):
            getattr(torch.ops, namespace).f(*stack)
    return [names(torch, got[0])] * 2


_FALL = ["kernel", "fallthrough"]
_ALWAYS = [
    "BackendSelect",
    "ADInplaceOrView",
    "AutocastCPU",
    "AutocastCUDA",
]  # these fall through if nothing is registered


def _all(kind, **others):
    return dict.fromkeys(RUNTIME, kind) | others


_NOTHING = {"CPU": "nothing", EXPLICIT: "nothing"}


@program(
    "dispatch.skip_fallthrough",
    cases=drawn(
        kernels=drawn(**{key: _FALL + ["nothing"] * (key in _ALWAYS) for key in RUNTIME}),
        bits=lambda st: st.sets(st.sampled_from([*BACKENDS, *FUNCTIONALITIES])).map(sorted),
    ),
    edges=rows(
        "kernels bits",
        (_all("kernel"), [*BACKENDS, *FUNCTIONALITIES]), (_all("fallthrough"), [*BACKENDS, *FUNCTIONALITIES]),
        (_all("fallthrough"), []), (_all("kernel"), ["CPU"]), (_all("kernel", CPU="fallthrough"), ["CPU", "Dense"]),
        (_all("kernel", CPU="fallthrough"), ["CPU", "Meta", "Dense"]),
        (_all("kernel", Meta="fallthrough"), ["CPU", "Meta", "Dense"]),
        (_all("kernel", Meta="fallthrough"), ["CPU", "Dense", "AutogradFunctionality"]),
        (_all("kernel", AutogradCPU="fallthrough"), ["CPU", "Dense", "AutogradFunctionality", "AutocastCPU"]),
        (_all("kernel", AutogradMeta="fallthrough"), ["CPU", "Meta", "Dense", "AutogradFunctionality"]),
        (_all("kernel", AutogradCPU="fallthrough"), ["CPU", "Meta", "Dense", "AutogradFunctionality"]),
        (_all("kernel", ADInplaceOrView="nothing"), ["CPU", "Dense", "ADInplaceOrView", "AutogradFunctionality"]),
        (_all("fallthrough", CPU="kernel"), ["CPU", "Dense", "AutogradFunctionality", "AutocastCPU", "Python"]),
        (_all("kernel", CPU="fallthrough"), ["Dense"]), (_all("kernel", CUDA="fallthrough"), ["Dense"]),
        (_all("kernel", AutogradCPU="fallthrough"), ["AutogradFunctionality", "BackendSelect"]),
        (_all("kernel", BackendSelect="nothing", AutocastCPU="nothing"), ["BackendSelect", "AutocastCPU", "Python"]),
        (_all("kernel", Python="fallthrough", PrivateUse1="fallthrough"), ["PrivateUse1", "Dense", "Python", "CPU"]),
        (_all("kernel", AutogradCPU="nothing"), ["CPU", "Dense", "AutogradFunctionality", "AutocastCPU"]),
        # the kernel for the backend is missing
        (_all("kernel", **_NOTHING), ["CPU", "Dense", "AutogradFunctionality"]),
        (_all("fallthrough", BackendSelect="kernel", **_NOTHING), ["CPU", "Dense", "AutogradFunctionality", "BackendSelect"]),
    ),
    disposable=True,
    hint="of several backends, only the entries of the highest count",
)  # fmt: skip
def without_fallthroughs(xp, kernels, bits):
    with falling_through(xp, kernels, []) as overload:
        return names(xp, xp.dispatch.skip_fallthrough(overload, union(xp, bits)))


@without_fallthroughs.oracle
def _(torch, kernels, bits):
    """The key set of the first kernel that does not fall through, or of the kernel for no key at all."""
    got = []
    empty = torch._C.DispatchKeySet(torch._C.DispatchKey.Undefined)
    with falling_through(torch, kernels, got) as overload, torch._C._ForceDispatchKeyGuard(union(torch, bits), empty):
        overload()
    return names(torch, got[0])


@contextmanager
def falling_through(xp, kernels, got):
    """An operator without arguments whose kernels append their key set to `got`, or fall through."""
    with library(xp) as (namespace, made):
        made.define("f() -> ()")
        for key, kind in ({EXPLICIT: "kernel"} | kernels).items():
            if kind == "kernel":
                made.impl("f", lambda key_set: got.append(key_set), key, with_keyset=True)
            elif kind == "fallthrough":
                made.impl("f", xp.library.fallthrough_kernel, key)
        yield getattr(xp.ops, namespace).f.default


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
    backends = [["CPU"], ["PrivateUse1"], ["CPU", "PrivateUse1"], ["CPU", "CUDA", "PrivateUse1"]]
    case = {"schema": f"{schema} -> {returns}", "kind": kind, "with_key_set": draw(st.booleans())}
    return case | {
        "bits": ["Dense", *draw(st.sampled_from(backends))],
        "stack": [draw(st.sampled_from(PASSED[type])) for _, type, _, _ in arguments_of(schema)],
        "result": draw(st.sampled_from(results[:fitting] if kind == "unboxed" else results)),
    }


_KINDS = ["unboxed", "pythonic", "boxed"]
_ON_CPU = [["Dense", "CPU"], ["Dense", "CPU", "PrivateUse1"]]
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


@program(
    "dispatch.bind_kernel",
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
    return {"received": [_packed(xp, each) for each in received], "returned": returned, "the kernel's object": as_it_is}


@bound.oracle
def _(torch, schema, kind, with_key_set, bits, stack, result):
    """A kernel of a namespace, or a fallback of all, called by redispatch with this key set.

    An unboxed kernel receives the arguments of a kernel in Python, and its defaults.
    """
    function, received = _recording_kernel(torch, kind, with_key_set, result)
    args, kwargs = split(schema, unpack(torch, stack))
    key = "PrivateUse1" if "PrivateUse1" in bits else "CPU"
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
    found, unboxed = received[0], kind == "unboxed"
    if unboxed:
        found |= {"args": with_defaults(torch, schema, found["args"], found["kwargs"]), "kwargs": {}}
    return {"received": [_packed(torch, found)] * 2, "returned": [returned] * 2, "the kernel's object": unboxed or None}


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


def _leaves_out_fallbacks(case):
    """Whether the operator has its own kernel for autograd. Torch's fallback logs nothing."""
    backend = next((name for name in reversed(BACKENDS) if name in case["bits"]), "CPU")
    registered = [key for key, _ in case["kernels"]]
    return "AutogradFunctionality" not in case["bits"] or {"Autograd", f"Autograd{backend}"} & set(registered)


_CHAIN = [
    ["CPU", "keyset"], ["ADInplaceOrView", "redispatch"], ["AutogradCPU", "redispatch"], ["AutocastCPU", "redispatch"],
]  # fmt: skip
_ALL, _AUTOGRAD = ["CPU", "Dense", "AutogradFunctionality"], ["AutogradCPU", "redispatch"]
_LEAF = ["CPU", "leaf"]


def _runs(st):
    bits = [*BACKENDS, *(name for name in FUNCTIONALITIES if name != "Python")]
    kernels = kernels_of(st, kinds=("keyset", "redispatch", "redispatch"))
    cases = drawn(kernels=kernels, bits=subsets(bits, 1, 5), stack=stacks, how=["call", "redispatch"])
    return cases(st).filter(_leaves_out_fallbacks)


@program(
    "dispatch.run",
    cases=_runs,
    edges=[
        {"kernels": kernels, "bits": bits, "stack": [["cpu"], None, 1], "how": how}
        for how in ("call", "redispatch")
        for bits, kernels in (
            (["CPU", "Dense"], [_LEAF]), (_ALL, [_LEAF, _AUTOGRAD]),
            ([*_ALL, "ADInplaceOrView", "AutocastCPU"], _CHAIN), ([*_ALL, "ADInplaceOrView"], _CHAIN),
            (["CPU", "Meta", "Dense", "AutogradFunctionality"], [["Meta", "leaf"], ["Autograd", "redispatch"]]),
            (_ALL, [_LEAF, ["Autograd", "keyset"]]), (["CPU", "Dense"], []), (["Meta", "Dense"], [_LEAF]),
            (_ALL, [_AUTOGRAD]), (["CPU", "Dense", "BackendSelect"], [_LEAF]), (["Dense"], [_LEAF]),
            (["AutogradFunctionality"], [["AutogradCPU", "leaf"], ["AutogradMeta", "keyset"]]),
            ([], [[EXPLICIT, "leaf"]]), ([], [_LEAF]), (_ALL, [[IMPLICIT, "leaf"]]),
            (["CPU", "Dense"], [["CPU", "raise"]]), (_ALL, [["CPU", "raise"], _AUTOGRAD]),
            (["PrivateUse1", "CUDA", "Dense"], [["PrivateUse1", "keyset"], ["CUDA", "keyset"]]),
        )
    ],
    disposable=True,
)  # fmt: skip
def run(xp, kernels, bits, stack, how):
    kernels = [[key, "keyset" if kind == "leaf" else kind] for key, kind in kernels]
    log, lines, explained = [], [], []

    def tried():
        try:
            return xp.dispatch.run(overload("f"), union(xp, bits), unpack(xp, stack), how)
        except NotImplementedError as error:
            explained.append(name in str(error) or error.args == ("of a kernel",))
            raise

    with operators(xp, kernels, log) as overload:
        name = overload("f")._schema.full_name
        with xp.dispatch.show_dispatch_trace(lines.append):
            result = attempt(tried)
    lines = [line.replace(name, "lab::f") for line in lines]
    found = {"kernels": log, "result": result, "trace": lines, "depth afterwards": xp.dispatch.local.depth}
    return found | {"explained": all(explained)}


@run.oracle
def _(torch, kernels, bits, stack, how):
    """Torch's release builds have no trace. Each line is written from the key set that torch gave to a kernel. A last kernel
    that logs nothing falls through, or is a fallback."""
    kernels = [[key, "keyset" if kind == "leaf" else kind] for key, kind in kernels]
    log, keys, on_cpu = [], [], {"Dense": "CPU", "AutogradFunctionality": "AutogradCPU"}
    with operators(torch, kernels, log) as overload:
        result = attempt(lambda: overload("f").redispatch(union(torch, bits), *unpack(torch, stack)))
        for entry in log:
            bits = re.findall(r"\w+", re.search("<(.*)>", entry)[1])
            keys.append(highest_name(torch, bits))
            key = getattr(torch._C.DispatchKey, on_cpu.get(keys[-1], keys[-1]))
            bits = names(torch, union(torch, bits) & torch._C._dispatch_keyset_full_after(key))
        if isinstance(result, str):
            last, name = highest_name(torch, bits), f"{overload('f')._schema.name}.xs"
            keys += [last] * torch._C._dispatch_has_computed_kernel_for_dispatch_key(name, on_cpu.get(last, last))
    hows = [how, *["redispatch"] * len(keys)]
    lines = [f"{' ' * i}[{how}] op=[lab::f], key=[{key}]" for i, (how, key) in enumerate(zip(hows, keys))]
    return {"kernels": log, "result": result, "trace": lines, "depth afterwards": 0, "explained": True}


_CALLS = [
    ([["cpu"], None, 1], [], []), ([[], None, 2], [], []), ([[None], "meta", 0], [], []),
    ([["cpu", "meta"], None, 0], [], ["ADInplaceOrView"]),
    ([["cpu"], None, 0], ["AutocastCUDA", "Meta"], ["AutogradCPU"]), ([[], None, 0], ["CPU"], []),
]  # fmt: skip


@program(
    "dispatch.call",
    cases=drawn(
        kernels=kernels_of, stack=stacks,
        include=subsets(words("BackendSelect AutogradCPU AutogradMeta AutocastCPU AutocastCUDA CPU Meta PrivateUse1"), most=2),
        exclude=subsets([*MASK, "AutocastCUDA"], most=2),
    ),
    edges=[
        {"kernels": kernels, "stack": stack, "include": include, "exclude": exclude}
        for stack, include, exclude in _CALLS
        for kernels in (
            [["CPU", "keyset"], ["Meta", "keyset"]], _CHAIN, [[IMPLICIT, "other"]],
            [[EXPLICIT, "keyset"], ["Autograd", "redispatch"]],
            [["CPU", "keyset"], ["AutogradCPU", "fallthrough"], ["AutogradMeta", "keyset"], ["BackendSelect", "redispatch"]],
            [["CPU", "fallthrough"], ["ADInplaceOrView", "redispatch"], ["Meta", "leaf"]],
        )
    ],
    disposable=True,
)  # fmt: skip
def called(xp, kernels, stack, include, exclude):
    log, lines, stack = [], ["[call]"] if is_torch(xp) else [], unpack(xp, stack)
    with operators(xp, kernels, log) as overload, guards(xp, include, exclude):
        with nullcontext() if is_torch(xp) else xp.dispatch.show_dispatch_trace(lines.append):
            result = attempt(lambda: overload("f")(*stack))
        how = lines[0].partition(" ")[0] if log else None  # torch's release builds have no trace
        log.append("on another thread, without the guards")
        elsewhere = threaded(lambda: attempt(lambda: overload("f")(*stack)))
    return {"kernels": log, "results": [result, elsewhere], "how": how}


_IN_MODES = ["CPU", "Meta", "AutogradCPU", "Autograd", "ADInplaceOrView", "BackendSelect", IMPLICIT, EXPLICIT]
_MODE_STACKS = [
    ["on"], ["on", "on"], ["on", "other"], ["other"], ["again"], ["on", "again", "on"], ["answer"], ["nothing"], ["on", "answer"],
    ["raise"], ["on", "raise"], ["refuse"], ["on", "refuse"], ["interrupt"], ["on", "interrupt"], ["raise", "again"],
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
    "dispatch.call_mode",
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
            for number, kind in enumerate(modes):
                exits.enter_context(mode(xp, overload, number, kind, log))
            first = attempt(lambda: overload("f")(*stack))
            within = thread(xp)
            second = attempt(lambda: overload("f")(*stack))
        after = thread(xp)
        third = attempt(lambda: overload("f")(*stack))
    return {"log": log, "results": [first, second, third], "within": within, "after": after}
