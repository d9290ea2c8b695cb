"""Cases of a student for `infer_schema`."""

from __future__ import annotations

from ...engine.check import program
from ..cases import breaking, no_cases
from .schemas import _types, _without_warnings

BREAKS, BODIES = "course.breaks.breaks_infer_schema", "06a.infer_schema"


@program(f"{BREAKS}.half", cases=no_cases, edges=[{}], examine=breaking(BODIES, "1/2"))
def breaks_half(xp):
    return xp.breaks.breaks_infer_schema()


@program(BREAKS, cases=no_cases, edges=[{}], examine=breaking(BODIES, "1"))
def breaks_infer_schema(xp, **case):
    """The cases, or the schema of one of them."""
    if not case:
        return xp.breaks.breaks_infer_schema()
    function = _function_of_case(xp.custom_ops.torch, case["parameters"], case["returns"])
    assert function is not None
    return xp.custom_ops.infer_schema(function, case["mutates_args"])


@breaks_infer_schema.oracle
def _(torch, parameters, mutates_args, returns):
    function = _function_of_case(torch, parameters, returns)
    if function is None:
        raise TypeError("a function of at most three parameters is needed")
    with _without_warnings():
        return torch.library.infer_schema(function, mutates_args=mutates_args)


def _function_of_case(torch, parameters, returns):
    """The function with these parameters, or None if Python refuses the parameters or they are more than three."""
    result = "" if returns == "no annotation" else f" -> {returns}"
    names = _types(torch)
    text = f"def function({', '.join(parameters)}){result}: ..."
    try:
        exec(compile(text, "<case>", "exec", dont_inherit=True), names)
    except SyntaxError:
        return None
    return names["function"] if len({*parameters} - {"*", "/"}) <= 3 else None
