"""Programs that run all pieces of a lab together: operators, and calls of them."""

from contextlib import ExitStack
from functools import partial

from ..cases import drawn, several
from . import operators as lab
from .keys import EXPLICIT, IMPLICIT, subsets


def _programs(st, intercepted):
    """Registrations and calls. If `intercepted`, calls may be made under autocast and within modes."""
    include = ["AutocastCUDA", "BackendSelect", "Meta", "AutogradCPU", "PrivateUse1"]
    keys = {"include": subsets(include, most=2), "exclude": subsets(lab.MASK, most=2)}
    more = {"autocast": bool if intercepted else [False], "modes": several(lab.MODES, 0, 2 if intercepted else 0)}
    call = drawn(stack=lab.stacks, **keys, **more)
    fallbacks = [[], [], ["CPU"], ["PrivateUse1"], ["CPU", "PrivateUse1"]]

    def in_order_of_torch(case):
        """No explicit composite kernel is registered after an implicit one, or removed before it: see `in_order`."""
        first, later = ([key for key, _ in case[stage]] for stage in ("kernels", "later"))
        return EXPLICIT not in later or IMPLICIT not in first + later

    cases = drawn(kernels=lab.kernels_of, later=lab.kernels_of, fallbacks=fallbacks, calls=several(call, 1, 3))
    return cases(st).filter(in_order_of_torch)


def _run(xp, kernels, later, fallbacks, calls):
    """Register kernels and call. Register more kernels and call again. Remove those, and call once more."""
    log, results = [], []

    def fallback(key_set, operator, *args, **kwargs):
        name = str(operator).partition(".")[2]
        log.append(f"fallback for {name}: {lab.key_set_text(xp, key_set)}, {lab.arguments_text(xp, args, kwargs)}")
        return 5000

    def call(overload, stack, include, exclude, autocast, modes):
        with ExitStack() as exits:
            exits.enter_context(lab.guards(xp, include, exclude))
            if autocast:
                exits.enter_context(xp.autocast("cpu", dtype=xp.float16))
            for number, kind in enumerate(modes):
                exits.enter_context(lab.mode(xp, overload, number, kind, log))
            return overload("f")(*stack)

    calls = [case | {"stack": lab.unpack(xp, case["stack"])} for case in calls]
    with ExitStack() as exits:
        everywhere = xp.library.Library("_", "IMPL")
        exits.callback(everywhere._destroy)
        for key in fallbacks:
            everywhere.fallback(fallback, key, with_keyset=True)
        overload = exits.enter_context(lab.operators(xp, kernels, log))
        more = xp.library.Library(lab.NAMESPACE, "IMPL")
        for stage in ("first", "more", "less"):
            if stage == "more":
                for key, kind in lab.in_order(later):
                    function, keyset = lab.kernel(xp, overload, key, kind, log)
                    made = partial(more.impl, "f.xs", function, key, with_keyset=keyset)
                    results.append([stage, key, lab.attempt(made)])
            elif stage == "less":
                more._destroy()
            for case in calls:
                if stage == "less":  # under a mode torch would still run removed kernels in Python
                    case = case | {"modes": []}
                results.append([stage, lab.attempt(lambda: call(overload, **case))])  # noqa: B023
    return {"kernels": log, "results": results}
