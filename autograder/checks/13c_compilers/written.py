"""Checks of lab 13c: a check that a student wrote, graded by what it catches."""

from ...engine.check import program
from ..shared_13 import examined, no_cases, text_of

NAME, BODIES = "clinic.compilers.check_eliminate_dead_code", "13c.eliminate_dead_code"


@program(f"{NAME}.half", cases=no_cases, edges=[{}], examine=examined("caught", BODIES, "1/2"))
def check_eliminate_dead_code_half(rl):
    return text_of(rl.clinic.compilers.check_eliminate_dead_code)


@program(f"{NAME}.most", cases=no_cases, edges=[{}], examine=examined("caught", BODIES, "3/4"))
def check_eliminate_dead_code_most(rl):
    return text_of(rl.clinic.compilers.check_eliminate_dead_code)


@program(NAME, cases=no_cases, edges=[{}], examine=examined("caught", BODIES, "1"))
def check_eliminate_dead_code(rl):
    return text_of(rl.clinic.compilers.check_eliminate_dead_code)
