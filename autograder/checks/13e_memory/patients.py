"""Checks of lab 13e: the patients of the framework."""

from ...engine.check import program
from ..shared_13 import examined, no_cases, text_of


@program(
    "clinic.memory.narrow_1",
    cases=no_cases,
    edges=[{}],
    examine=examined("narrowed", "13e.1", statements=5, operators=8),
)
def narrow_1(rl):
    return text_of(rl.clinic.memory.narrow_1)


@program("clinic.memory.name_1.first", cases=no_cases, edges=[{}], examine=examined("named", "13e.1", guesses=1))
def name_1_first(rl):
    return rl.clinic.memory.name_1()


@program("clinic.memory.name_1", cases=no_cases, edges=[{}], examine=examined("named", "13e.1", guesses=2))
def name_1(rl):
    return rl.clinic.memory.name_1()


@program("clinic.memory.mend_1", cases=no_cases, edges=[{}], examine=examined("mended", "13e.1"))
def mend_1(rl):
    return text_of(rl.clinic.memory.mend_1)


@program(
    "clinic.memory.narrow_2",
    cases=no_cases,
    edges=[{}],
    examine=examined("narrowed", "13e.2", statements=9, operators=24),
)
def narrow_2(rl):
    return text_of(rl.clinic.memory.narrow_2)


@program("clinic.memory.name_2.first", cases=no_cases, edges=[{}], examine=examined("named", "13e.2", guesses=1))
def name_2_first(rl):
    return rl.clinic.memory.name_2()


@program("clinic.memory.name_2", cases=no_cases, edges=[{}], examine=examined("named", "13e.2", guesses=2))
def name_2(rl):
    return rl.clinic.memory.name_2()


@program("clinic.memory.mend_2", cases=no_cases, edges=[{}], examine=examined("mended", "13e.2"))
def mend_2(rl):
    return text_of(rl.clinic.memory.mend_2)


@program(
    "clinic.memory.narrow_3",
    cases=no_cases,
    edges=[{}],
    examine=examined("narrowed", "13e.3", statements=6, operators=10),
)
def narrow_3(rl):
    return text_of(rl.clinic.memory.narrow_3)


@program("clinic.memory.name_3.first", cases=no_cases, edges=[{}], examine=examined("named", "13e.3", guesses=1))
def name_3_first(rl):
    return rl.clinic.memory.name_3()


@program("clinic.memory.name_3", cases=no_cases, edges=[{}], examine=examined("named", "13e.3", guesses=2))
def name_3(rl):
    return rl.clinic.memory.name_3()


@program("clinic.memory.mend_3", cases=no_cases, edges=[{}], examine=examined("mended", "13e.3"))
def mend_3(rl):
    return text_of(rl.clinic.memory.mend_3)
