"""A call, from the key set of its arguments to the kernels that run."""

import re
from contextlib import contextmanager, nullcontext

from ...engine.check import program
from ..cases import drawn, explained, is_torch, rows, several, words
from ..shared_02.keys import (
    BACKEND_BITS,
    BACKENDS,
    EXPLICIT,
    IMPLICIT,
    RUNTIME,
    SINGLE_BITS,
    bits_of,
    names,
    subsets,
    union,
)
from ..shared_02.operators import (
    MASK,
    arguments_as_code,
    attempt,
    guards,
    kernels_of,
    library,
    operators,
    operators_as_code,
    stacks,
    threaded,
    unpack,
)
from .keys import highest_name


def _item(st):
    one = st.sampled_from(["cpu", "cpu", "meta", None])
    return st.one_of(one, st.lists(one, max_size=3), st.integers(0, 3))


_NUMBERS = {bool: "bool", int: "int", float: "float"}


def _refused(case):
    def is_argument(value):
        return value in ("cpu", "meta", None)

    stack = [value for value in case["stack"] if type(value) not in _NUMBERS]
    if not all(all(map(is_argument, value)) if isinstance(value, list) else is_argument(value) for value in stack):
        return "a stack has 'cpu' and 'meta' for tensors, None, numbers, and lists of the first three"
    if unknown := {*case["included"], *case["excluded"]} - {*RUNTIME}:
        name, known = min(unknown), ", ".join(RUNTIME)
        return f"there is no key {name}, only {known}"
    return None


def _about_excluded(case, mine, theirs):
    if not case["excluded"] or not isinstance(mine, dict) or not isinstance(mine.get("of a list"), list):
        return None
    own, right = ({*map(str, given["of a list"])} for given in (mine, theirs))
    if case["included"] and own - right:
        return "what is excluded leaves the set last, also if it is included"
    return "to exclude a key excludes its functionality; the backends stay"


@program(
    "c10.dispatch.dispatch_key_set",
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
    refuses=_refused,
    disposable=True,
    hint=_about_excluded,
)  # fmt: skip
def key_set_of_a_call(xp, stack, included=(), excluded=()):
    stacks, keys = [unpack(xp, stack, kind) for kind in (list, tuple)], (bits_of(xp, included), bits_of(xp, excluded))
    of_list, of_tuple = (names(xp, xp.dispatch.dispatch_key_set(stack, *keys)) for stack in stacks)
    return {"of a list": of_list, "of a tuple": of_tuple}


@key_set_of_a_call.oracle
def _(torch, stack, included, excluded):
    """The key set that the first kernel receives from an operator with a kernel for every key."""
    types = ["Tensor?[]" if isinstance(x, (list, tuple)) else _NUMBERS.get(type(x), "Tensor?") for x in stack]
    got = []
    with library(torch) as (namespace, made):
        made.define(f"f({', '.join(f'{type} x{i}' for i, type in enumerate(types))}) -> ()")
        for key in (*RUNTIME, EXPLICIT):
            made.impl("f", lambda key_set, *args: got.append(key_set), key, with_keyset=True)
        stack = unpack(torch, stack)
        with torch._C._ForceDispatchKeyGuard(bits_of(torch, included), bits_of(torch, excluded)):
            getattr(torch.ops, namespace).f(*stack)
    return dict.fromkeys(["of a list", "of a tuple"], names(torch, got[0]))


_ALWAYS = [
    "BackendSelect",
    "ADInplaceOrView",
    "AutocastCPU",
    "AutocastCUDA",
]  # these fall through if nothing is registered
_BACKEND = ["CPU", EXPLICIT]


def _about_fallthroughs(case, mine, theirs):
    if not isinstance(mine, list):
        return None
    backends = [name for name in BACKENDS if f"{name}Bit" in case["bits"]]
    if {*case["bits"]} & {*BACKEND_BITS} - {*mine}:
        return "the backends stay: only the functionality of a key is removed"
    differs = {*mine} ^ {*theirs}
    for functionality, prefix in (("Dense", ""), ("AutogradFunctionality", "Autograd")):
        if functionality in differs and len({prefix + backend in case["fallthroughs"] for backend in backends}) > 1:
            return "of several backends, only the entries of the highest count"
    if {*theirs} - {*mine}:
        return "a functionality stays if its entry is not `FALLTHROUGH`: a kernel, a fallback, or `MISSING`"
    return "each functionality in the set is looked up, not only the highest, and also one without a backend"


@program(
    "c10.dispatch.skip_fallthrough",
    cases=drawn(bits=subsets(SINGLE_BITS), fallthroughs=subsets(RUNTIME), unregistered=subsets(_ALWAYS)),
    edges=rows(
        "bits fallthroughs unregistered",
        (SINGLE_BITS, [], []), (SINGLE_BITS, RUNTIME, []), ([], RUNTIME, []), (["CPUBit"], [], []),
        (["CPUBit", "Dense"], ["CPU"], []), (["CPUBit", "MetaBit", "Dense"], ["CPU"], []),
        (["CPUBit", "MetaBit", "Dense"], ["Meta"], []), (["CPUBit", "Dense", "AutogradFunctionality"], ["Meta"], []),
        (["CPUBit", "Dense", "AutogradFunctionality", "AutocastCPU"], ["AutogradCPU"], []),
        (["CPUBit", "MetaBit", "Dense", "AutogradFunctionality"], ["AutogradMeta"], []),
        (["CPUBit", "MetaBit", "Dense", "AutogradFunctionality"], ["AutogradCPU"], []),
        (["CPUBit", "Dense", "ADInplaceOrView", "AutogradFunctionality"], [], ["ADInplaceOrView"]),
        (["CPUBit", "Dense", "AutogradFunctionality", "AutocastCPU", "Python"], RUNTIME[1:], []),
        (["Dense"], ["CPU"], []), (["Dense"], ["CUDA"], []),
        (["CPUBit", "MetaBit", "Dense", "AutogradFunctionality"], ["CPU"], []),
        (["AutogradFunctionality", "BackendSelect"], ["AutogradCPU"], []),
        (["BackendSelect", "AutocastCPU", "Python"], [], ["BackendSelect", "AutocastCPU"]),
        (["PrivateUse1Bit", "Dense", "Python", "CPUBit"], ["Python", "PrivateUse1"], []),
        (["CPUBit", "Dense", "AutogradFunctionality", "AutocastCPU"], [], ["AutogradCPU"]),
        # the kernel for the backend is missing
        (["CPUBit", "Dense", "AutogradFunctionality"], [], _BACKEND),
        (["CPUBit", "Dense", "AutogradFunctionality", "BackendSelect"], RUNTIME[1:4] + RUNTIME[5:], _BACKEND),
    ),
    disposable=True,
    hint=_about_fallthroughs,
)  # fmt: skip
def without_fallthroughs(xp, bits, fallthroughs=(), unregistered=()):
    """What stays of these bits, for an operator with a kernel for every key but these, and a composite one."""
    with falling_through(xp, fallthroughs, unregistered, []) as overload:
        return names(xp, xp.dispatch.skip_fallthrough(overload, union(xp, bits)))


@without_fallthroughs.oracle
def _(torch, bits, fallthroughs, unregistered):
    """The key set of the first kernel that does not fall through, or of the kernel for no key at all."""
    got = []
    keys, empty = union(torch, bits), torch._C.DispatchKeySet(torch._C.DispatchKey.Undefined)
    operator = falling_through(torch, fallthroughs, unregistered, got)
    with operator as overload, torch._C._ForceDispatchKeyGuard(keys, empty):
        overload()
    return names(torch, got[0])


@contextmanager
def falling_through(xp, fallthroughs, unregistered, got):
    """An operator without arguments whose kernels append their key set to `got`, or fall through."""
    with library(xp) as (namespace, made):
        made.define("f() -> ()")
        for key in (EXPLICIT, *RUNTIME):
            if key in fallthroughs:
                made.impl("f", xp.library.fallthrough_kernel, key)
            elif key not in unregistered:
                made.impl("f", lambda key_set: got.append(key_set), key, with_keyset=True)
        yield getattr(xp.ops, namespace).f.default


def _leaves_out_fallbacks(case):
    """Whether the operator has its own kernel for autograd. Torch's fallback logs nothing."""
    backend = next((name for name in reversed(BACKENDS) if f"{name}Bit" in case["bits"]), "CPU")
    registered = [key for key, _ in case["kernels"]]
    return "AutogradFunctionality" not in case["bits"] or {"Autograd", f"Autograd{backend}"} & set(registered)


_CHAIN = [
    ["CPU", "keyset"], ["ADInplaceOrView", "redispatch"], ["AutogradCPU", "redispatch"], ["AutocastCPU", "redispatch"],
]  # fmt: skip
_ALL, _AUTOGRAD = ["CPUBit", "Dense", "AutogradFunctionality"], ["AutogradCPU", "redispatch"]
_LEAF = ["CPU", "leaf"]


def _runs(st):
    bits = [name for name in SINGLE_BITS if name != "Python"]
    kernels = kernels_of(st, kinds=("keyset", "redispatch", "redispatch"))
    cases = drawn(kernels=kernels, bits=subsets(bits, 1, 5), stack=stacks, how=["call", "redispatch"])
    return cases(st).filter(_leaves_out_fallbacks)


def _run_as_code(torch, kernels, bits, stack, how):
    given = f"f, key_set, [{arguments_as_code(stack)}], {how!r}"
    return operators_as_code(kernels, [f"# key_set: {' | '.join(bits) or 'empty'}", f"run({given})"])


@program(
    "c10.dispatch.run",
    cases=_runs,
    show=_run_as_code,
    edges=[
        {"kernels": kernels, "bits": bits, "stack": [["cpu"], None, 1], "how": how}
        for how in ("call", "redispatch")
        for bits, kernels in (
            (["CPUBit", "Dense"], [_LEAF]), (_ALL, [_LEAF, _AUTOGRAD]),
            ([*_ALL, "ADInplaceOrView", "AutocastCPU"], _CHAIN), ([*_ALL, "ADInplaceOrView"], _CHAIN),
            (["CPUBit", "MetaBit", "Dense", "AutogradFunctionality"], [["Meta", "leaf"], ["Autograd", "redispatch"]]),
            (_ALL, [_LEAF, ["Autograd", "keyset"]]), (["CPUBit", "Dense"], []), (["MetaBit", "Dense"], [_LEAF]),
            (_ALL, [_AUTOGRAD]), (["CPUBit", "Dense", "BackendSelect"], [_LEAF]), (["Dense"], [_LEAF]),
            (["AutogradFunctionality"], [["AutogradCPU", "leaf"], ["AutogradMeta", "keyset"]]),
            ([], [[EXPLICIT, "leaf"]]), ([], [_LEAF]), (_ALL, [[IMPLICIT, "leaf"]]),
            (["CPUBit", "Dense"], [["CPU", "raise"]]), (_ALL, [["CPU", "raise"], _AUTOGRAD]),
            (["PrivateUse1Bit", "CUDABit", "Dense"], [["PrivateUse1", "keyset"], ["CUDA", "keyset"]]),
        )
    ],
    hint=explained(
        each_error_is_explained="if a kernel is missing, the error's message is the result of `explain_missing(operator, key)`",
    ),
    disposable=True,
)  # fmt: skip
def run(xp, kernels, bits, stack, how):
    kernels = [[key, "keyset" if kind == "leaf" else kind] for key, kind in kernels]
    log, lines, told = [], [], []

    def tried():
        try:
            return xp.dispatch.run(overload("f"), union(xp, bits), unpack(xp, stack), how)
        except NotImplementedError as error:
            told.append(name in str(error) or error.args == ("of a kernel",))
            raise

    with operators(xp, kernels, log) as overload:
        name = overload("f")._schema.full_name
        with xp.dispatch.show_dispatch_trace(lines.append):
            result = attempt(tried)
    lines = [line.replace(name, "lab::f") for line in lines]
    shown = {"kernels": log, "result": result, "trace": lines, "depth afterwards": xp.dispatch.local.depth}
    return shown | {"each error is explained": all(told)}


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
    shown = {"kernels": log, "result": result, "trace": lines, "depth afterwards": 0}
    return shown | {"each error is explained": True}


_CALLS = [
    ([["cpu"], None, 1], [], []), ([[], None, 2], [], []), ([[None], "meta", 0], [], []),
    ([["cpu", "meta"], None, 0], [], ["ADInplaceOrView"]),
    ([["cpu"], None, 0], ["AutocastCUDA", "Meta"], ["AutogradCPU"]), ([[], None, 0], ["CPU"], []),
]  # fmt: skip


def _call_as_code(torch, kernels, stack, include, exclude):
    guards = [f"torch._C._IncludeDispatchKeyGuard(torch._C.DispatchKey.{key})" for key in include]
    guards += [
        f"torch._C._ExcludeDispatchKeyGuard(torch._C.DispatchKeySet(torch._C.DispatchKey.{key}))" for key in exclude
    ]
    lines = [f"{'    ' * depth}with {guard}:" for depth, guard in enumerate(guards)]
    return operators_as_code(kernels, [*lines, f"{'    ' * len(guards)}f({arguments_as_code(stack)})"])


@program(
    "c10.dispatch.call",
    show=_call_as_code,
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
