"""Cases of a student for `unbind`."""

from __future__ import annotations

import ast

from ...engine.check import program
from ..cases import breaking, no_cases
from .schemas import received, split

BREAKS, BODIES = "course.breaks.breaks_unbind", "02b.unbind"


@program(f"{BREAKS}.half", cases=no_cases, edges=[{}], examine=breaking(BODIES, "1/2"))
def breaks_half(xp):
    return xp.breaks.breaks_unbind()


@program(BREAKS, cases=no_cases, edges=[{}], examine=breaking(BODIES, "1"), disposable=True)
def breaks_unbind(xp, **case):
    """The cases, or the args and kwargs that `unbind` gives for one of them."""
    if not case:
        return xp.breaks.breaks_unbind()
    assert not _problem(**case)
    schema, stack = _read(**case)
    args, kwargs = xp.schema.unbind(xp.schema.parse_schema(schema), stack)
    return {"args": [*args], "kwargs": kwargs}


@breaks_unbind.oracle
def _(torch, arguments, stack):
    if problem := _problem(arguments, stack):
        raise ValueError(problem)
    schema, values = _read(arguments, stack)
    try:
        args, kwargs = received(torch, schema, *split(schema, values))
    except RuntimeError as error:
        raise ValueError(str(error).partition("\n")[0]) from error
    return {"args": [*args], "kwargs": kwargs}


def _problem(arguments, stack):
    """Why these arguments and values are no call, or nothing."""
    named = [argument for argument in arguments if argument != "*"]
    if len({*arguments}) < len(arguments):
        return "an argument occurs twice"
    if len(named) != len(stack):
        return "the stack has not one value for each argument"
    return ""


def _read(arguments, stack):
    """The schema of the operator, and the values of the call."""
    return f"f({', '.join(arguments)}) -> ()", [ast.literal_eval(value) for value in stack]
