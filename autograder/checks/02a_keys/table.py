"""Checks of lab 02: the dispatch table of an operator."""

import re
from contextlib import ExitStack

from ...engine.check import program
from ..cases import breaking, drawn, field, first_apart, no_cases, rows
from ..shared_02.keys import ALIASES, AUTOGRAD, EXPLICIT, IMPLICIT, NON_FUNCTIONAL, RUNTIME, subsets
from ..shared_02.operators import library


def _kernels(st):
    usual = ["CPU", "Meta", *AUTOGRAD[:1], *AUTOGRAD[3:], *ALIASES]
    return st.one_of(subsets(usual, most=5)(st), subsets([*RUNTIME, *ALIASES], most=6)(st))


MORE_FALLBACKS = ["CPU", "CUDA", "PrivateUse1"]  # torch itself registers the others


def _refused(case):
    allowed, possible = ", ".join(MORE_FALLBACKS), ", ".join([*RUNTIME, *ALIASES])
    if {*case["more_fallbacks"]} - {*MORE_FALLBACKS}:
        return f"torch registers the other fallbacks itself: `more_fallbacks` may have {allowed}"
    if {*case["kernels"]} - {*RUNTIME, *ALIASES}:
        return f"`kernels` may have {possible}"
    return None


def _about_entries(case, mine, theirs):
    """About the first entry that differs, if it is that of an autograd key."""
    key, kernels = first_apart(mine, theirs), case["kernels"]
    if key not in AUTOGRAD or IMPLICIT not in kernels:
        return None
    took, takes = (field(tree, key)[-1:] == ["math kernel"] for tree in (mine, theirs))
    if took and key.removeprefix("Autograd") in kernels:
        return "an operator with a kernel for the backend itself does not use the composite kernel at its autograd key"
    if took and EXPLICIT in kernels:
        return (
            "a kernel for CompositeExplicitAutograd serves every backend, so no autograd key uses the one for "
            "CompositeImplicitAutograd"
        )
    if takes and NON_FUNCTIONAL in kernels:
        return (
            "CompositeExplicitAutogradNonFunctional does not block CompositeImplicitAutograd at an autograd key: only "
            "CompositeExplicitAutograd and the backend itself do"
        )
    return None


@program(
    "c10.dispatch.compute_table_entry",
    cases=drawn(kernels=_kernels, more_fallbacks=subsets(["CPU", "PrivateUse1"]), fallthroughs=subsets(RUNTIME, most=2)),
    edges=rows(
        "kernels more_fallbacks fallthroughs",
        (["AutogradCPU", "Autograd"], [], ["AutogradCPU"]), (["CPU", EXPLICIT, IMPLICIT], ["CPU"], ["CPU", "AutogradMeta"]),
        (["BackendSelect", "PrivateUse1", IMPLICIT], ["PrivateUse1"], ["BackendSelect", "PrivateUse1"]),
        ([EXPLICIT, IMPLICIT], [], [EXPLICIT]),
        ([NON_FUNCTIONAL, EXPLICIT, "Autograd"], [], [NON_FUNCTIONAL, "Autograd"]), ([IMPLICIT, "Autograd"], [], [IMPLICIT]),
    ) + [case | {"fallthroughs": []} for case in rows(
        "kernels more_fallbacks",
        ([], []), ([], ["CPU"]), ([], ["CPU", "PrivateUse1"]), (["CPU"], ["CPU"]), (["CPU"], []), (["CPU", "Meta"], []),
        ([IMPLICIT], []), ([IMPLICIT], ["CPU"]), ([EXPLICIT], []), ([EXPLICIT], ["PrivateUse1"]),
        ([NON_FUNCTIONAL], []), (["Autograd"], []), (["AutogradCPU"], []), (["AutogradCPU", "Autograd"], []),
        (["CPU", IMPLICIT], []), (["Meta", IMPLICIT], []), (["CPU", IMPLICIT, "Autograd"], []), (["CPU", EXPLICIT], []),
        (["CPU", "Autograd", EXPLICIT], []), ([IMPLICIT, EXPLICIT], []), ([IMPLICIT, EXPLICIT, "Autograd"], []),
        ([IMPLICIT, NON_FUNCTIONAL], []), ([IMPLICIT, NON_FUNCTIONAL, "Autograd"], []),
        ([EXPLICIT, NON_FUNCTIONAL], []), ([EXPLICIT, NON_FUNCTIONAL, IMPLICIT, "Autograd"], []),
        (["AutogradCPU", IMPLICIT], []), (["AutogradCPU", "CPU", IMPLICIT], []), (["BackendSelect", IMPLICIT], []),
        (["ADInplaceOrView", "AutocastCPU", "Python"], []), ([*RUNTIME, *ALIASES], ["CPU"]),
    )],
    asked=[case | {"more_fallbacks": [], "fallthroughs": []} for case in rows(
        "kernels",
        ([],), (["CPU"],), ([IMPLICIT],), ([EXPLICIT],), (["CPU", IMPLICIT],), ([IMPLICIT, EXPLICIT],),
        ([IMPLICIT, NON_FUNCTIONAL],), (["CPU", IMPLICIT, "Autograd"],), ([EXPLICIT, NON_FUNCTIONAL],),
    )] + rows("kernels more_fallbacks fallthroughs", ([], ["CPU"], []), (["AutogradCPU", "Autograd"], [], ["AutogradCPU"])),
    refuses=_refused,
    disposable=True,
    hint=_about_entries,
)  # fmt: skip
def table(xp, kernels, more_fallbacks=(), fallthroughs=()):
    """The entries of an operator with these kernels, where these fallbacks are added to those that always exist. A kernel may
    be a fallthrough."""
    return _entries(xp, kernels, more_fallbacks, fallthroughs, ["Undefined", *RUNTIME])


def _entries(xp, kernels, more_fallbacks, fallthroughs, names):
    key, kernel = xp._C.DispatchKey, xp.dispatch.Kernel
    registered = {
        key[name]: xp.dispatch.FALLTHROUGH if name in fallthroughs else kernel(print, name) for name in kernels
    }
    fallbacks = xp.dispatch.fallbacks | {key[name]: print for name in more_fallbacks}
    falls = xp.dispatch.FALLTHROUGH
    fallbacks = {key: falls if given is falls else kernel(print, "fallback") for key, given in fallbacks.items()}
    entry = xp.dispatch.compute_table_entry
    entries = {name: entry(registered, fallbacks, key[name]) for name in names}
    return {name: [chosen.origin, reason] for name, (chosen, reason) in entries.items()}


@table.oracle
def _(torch, kernels, more_fallbacks, fallthroughs):
    return _entries_of_torch(torch, kernels, more_fallbacks, fallthroughs)


def _entries_of_torch(torch, kernels, more_fallbacks, fallthroughs):
    """Registers for each key from a file of its own. Torch's dump shows the file's name beside the reason."""
    with ExitStack() as stack:
        namespace, made = stack.enter_context(library(torch))
        made.define("f(Tensor x) -> Tensor")
        for name in [*kernels, *(f"fallback {name}" for name in more_fallbacks)]:
            of = "_" if name.startswith("fallback") else namespace
            registered = torch._C._dispatch_library("IMPL", of, "", name, 0)
            stack.callback(registered.reset)
            if of == "_":
                registered.fallback(name.removeprefix("fallback "), print, False)
            else:
                function = torch.library.fallthrough_kernel if name in fallthroughs else print
                registered.impl("f", name, function, False)
        dump = torch._C._dispatch_dump_table(f"{namespace}::f")
    entries = {name: ["missing", "missing"] for name in ["Undefined", *RUNTIME]}
    for name, where, reason in re.findall(r"^(\w+): (.*) \[(.*)\]$", dump, re.MULTILINE):
        if name in entries:
            kind, _, place = where.rpartition("registered at ")
            file = kind.strip() or place.rpartition(":")[0]
            entries[name] = ["fallback" if reason == "backend fallback" and not kind.strip() else file, reason]
    return entries


# Cases of a student --------------------------------------------------------------------------------------------------

BREAKS, BODIES = "course.breaks.breaks_compute_table_entry", "02a.compute_table_entry"


@program(f"{BREAKS}.half", cases=no_cases, edges=[{}], examine=breaking(BODIES, "1/2"))
def breaks_half(xp):
    return xp.breaks.breaks_compute_table_entry()


@program(BREAKS, cases=no_cases, edges=[{}], examine=breaking(BODIES, "1"), disposable=True)
def breaks_compute_table_entry(xp, **case):
    """The cases, or the entry for the key of one of them."""
    if not case:
        return xp.breaks.breaks_compute_table_entry()
    return _entries(xp, case["kernels"], [], case["fallthroughs"], [case["key"]])[case["key"]]


@breaks_compute_table_entry.oracle
def _(torch, kernels, fallthroughs, key):
    return _entries_of_torch(torch, dict.fromkeys(kernels), [], fallthroughs)[key]
