"""Checks of lab 13c: tests that a student wrote, graded by what they catch."""

from ...engine.check import program
from ..shared_13 import examined, no_cases, tested, text_of

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


DUMP_TEST, DUMPS = "clinic.compilers.dump_test", "13c.chain_dump"


@program(f"{DUMP_TEST}.half", cases=no_cases, edges=[{}], examine=tested("refused", DUMPS, "1/2"))
def dump_test_half(rl):
    return text_of(rl.clinic.compilers.dump_test)


@program(DUMP_TEST, cases=no_cases, edges=[{}], examine=tested("refused", DUMPS, "1"))
def dump_test(rl):
    return text_of(rl.clinic.compilers.dump_test)
