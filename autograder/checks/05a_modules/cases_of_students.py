"""Cases of a student for `named_members`."""

from __future__ import annotations

from ...engine.check import program
from ..cases import breaking, no_cases

BREAKS, BODIES = "course.breaks.breaks_named_members", "05a.named_members"


@program(f"{BREAKS}.half", cases=no_cases, edges=[{}], examine=breaking(BODIES, "1/2"))
def breaks_half(xp):
    return xp.breaks.breaks_named_members()


@program(BREAKS, cases=no_cases, edges=[{}], examine=breaking(BODIES, "1"))
def breaks_named_members(xp, **case):
    """The cases, or what `named_members` lists for one of them."""
    if not case:
        return xp.breaks.breaks_named_members()
    assert _describes_modules(case["members"], case["children"])
    return _listed(xp, **case)


@breaks_named_members.oracle
def _(torch, members, children, prefix, recurse, remove_duplicate):
    if not _describes_modules(members, children):
        raise ValueError("it describes no modules")
    return _listed(torch, members, children, prefix, recurse, remove_duplicate)


def _describes_modules(members, children):
    count = len(members)
    larger = all(i < child < count for i, some in enumerate(children) for child in some)
    return 0 < count == len(children) and larger and sum(map(len, children)) <= 8


def _listed(xp, members, children, prefix, recurse, remove_duplicate):
    """The names of the parameters in the first of these modules, and their numbers."""
    modules = [xp.nn.Module() for _ in members]
    known = {number: xp.nn.Parameter(xp.zeros(1)) for some in members for number in some if number >= 0}
    for module, some, inner in zip(modules, members, children):
        for name, number in zip("abcdefgh", some):
            module.register_parameter(name, known.get(number))
        for name, child in enumerate(inner):
            module.add_module(str(name), modules[child])
    numbers = {parameter: number for number, parameter in known.items()}
    listed = modules[0]._named_members(lambda part: part._parameters.items(), prefix, recurse, remove_duplicate)
    return [[name, numbers.get(parameter)] for name, parameter in listed]
