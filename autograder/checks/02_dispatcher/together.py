"""The check of lab 02 that runs all pieces together."""

from contextlib import ExitStack

from ...check import program
from .keys import EXPLICIT, IMPLICIT, subsets
from .operators import (
    MASK,
    MODES,
    NAMESPACE,
    arguments_text,
    attempt,
    guards,
    in_order,
    kernel,
    kernels_of,
    key_set_text,
    mode,
    operators,
    stacks,
    unpack,
)


def _programs(st):
    include = ["AutocastCUDA", "BackendSelect", "Meta", "AutogradCPU", "PrivateUse1"]
    call = {"stack": stacks(st), "include": subsets(st, include, most=2), "exclude": subsets(st, MASK, most=2)}
    call |= {"autocast": st.booleans(), "modes": st.lists(st.sampled_from(MODES), max_size=2)}
    calls = st.lists(st.fixed_dictionaries(call), min_size=1, max_size=3)
    fallbacks = st.sampled_from([[], [], ["CPU"], ["PrivateUse1"], ["CPU", "PrivateUse1"]])

    def in_order_of_torch(case):
        """No explicit composite kernel is registered after an implicit one, or removed before it: see `in_order`."""
        first, later = ([key for key, _ in case[stage]] for stage in ("kernels", "later"))
        return EXPLICIT not in later or IMPLICIT not in first + later

    case = {"kernels": kernels_of(st), "later": kernels_of(st), "fallbacks": fallbacks, "calls": calls}
    return st.fixed_dictionaries(case).filter(in_order_of_torch)


@program("together.dispatcher", cases=_programs, disposable=True)
def dispatcher(xp, kernels, later, fallbacks, calls):
    """Register kernels and call. Register more kernels and call again. Remove those, and call once more."""
    log, results = [], []

    def fallback(key_set, operator, *args, **kwargs):
        name = str(operator).partition(".")[2]
        log.append(f"fallback for {name}: {key_set_text(xp, key_set)}, {arguments_text(xp, args, kwargs)}")
        return 5000

    def call(overload, stack, include, exclude, autocast, modes):
        with ExitStack() as exits:
            exits.enter_context(guards(xp, include, exclude))
            if autocast:
                exits.enter_context(xp.autocast("cpu", dtype=xp.float16))
            for number, kind in enumerate(modes):
                exits.enter_context(mode(xp, overload, number, kind, log))
            return overload("f")(*stack)

    calls = [case | {"stack": unpack(xp, case["stack"])} for case in calls]
    with ExitStack() as exits:
        everywhere = xp.library.Library("_", "IMPL")
        exits.callback(everywhere._destroy)
        for key in fallbacks:
            everywhere.fallback(fallback, key, with_keyset=True)
        overload = exits.enter_context(operators(xp, kernels, log))
        more = xp.library.Library(NAMESPACE, "IMPL")
        for stage in ("first", "more", "less"):
            if stage == "more":
                for key, kind in in_order(later):
                    function, keyset = kernel(xp, overload, key, kind, log)
                    results.append([stage, key, attempt(lambda: more.impl("f", function, key, with_keyset=keyset))])  # noqa: B023
            elif stage == "less":
                more._destroy()
            for case in calls:
                if stage == "less":  # under a mode torch would still run removed kernels in Python
                    case = case | {"modes": []}
                results.append([stage, attempt(lambda: call(overload, **case))])  # noqa: B023
    return {"kernels": log, "results": results}
