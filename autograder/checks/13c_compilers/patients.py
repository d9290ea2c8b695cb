"""Checks of lab 13c: the patients of the framework."""

from ...engine.check import program
from ..shared_13 import examined, no_cases, text_of


@program(
    "clinic.compilers.narrow_1",
    cases=no_cases,
    edges=[{}],
    examine=examined("narrowed", "13c.1", statements=7, operators=7),
)
def narrow_1(rl):
    return text_of(rl.clinic.compilers.narrow_1)


@program("clinic.compilers.name_1.first", cases=no_cases, edges=[{}], examine=examined("named", "13c.1", guesses=1))
def name_1_first(rl):
    return rl.clinic.compilers.name_1()


@program("clinic.compilers.name_1", cases=no_cases, edges=[{}], examine=examined("named", "13c.1", guesses=2))
def name_1(rl):
    return rl.clinic.compilers.name_1()


@program("clinic.compilers.mend_1", cases=no_cases, edges=[{}], examine=examined("mended", "13c.1"))
def mend_1(rl):
    return text_of(rl.clinic.compilers.mend_1)


@program(
    "clinic.compilers.narrow_2",
    cases=no_cases,
    edges=[{}],
    examine=examined("narrowed", "13c.2", statements=5, operators=8),
)
def narrow_2(rl):
    return text_of(rl.clinic.compilers.narrow_2)


@program("clinic.compilers.name_2.first", cases=no_cases, edges=[{}], examine=examined("named", "13c.2", guesses=1))
def name_2_first(rl):
    return rl.clinic.compilers.name_2()


@program("clinic.compilers.name_2", cases=no_cases, edges=[{}], examine=examined("named", "13c.2", guesses=2))
def name_2(rl):
    return rl.clinic.compilers.name_2()


@program("clinic.compilers.mend_2", cases=no_cases, edges=[{}], examine=examined("mended", "13c.2"))
def mend_2(rl):
    return text_of(rl.clinic.compilers.mend_2)


@program(
    "clinic.compilers.narrow_3",
    cases=no_cases,
    edges=[{}],
    examine=examined("narrowed", "13c.3", statements=4, operators=6),
)
def narrow_3(rl):
    return text_of(rl.clinic.compilers.narrow_3)


@program("clinic.compilers.mend_3", cases=no_cases, edges=[{}], examine=examined("mended", "13c.3"))
def mend_3(rl):
    return text_of(rl.clinic.compilers.mend_3)


@program(
    "clinic.compilers.narrow_5",
    cases=no_cases,
    edges=[{}],
    examine=examined("narrowed", "13c.5", statements=5, operators=8),
)
def narrow_5(rl):
    return text_of(rl.clinic.compilers.narrow_5)


@program("clinic.compilers.name_5.first", cases=no_cases, edges=[{}], examine=examined("named", "13c.5", guesses=1))
def name_5_first(rl):
    return rl.clinic.compilers.name_5()


@program("clinic.compilers.name_5", cases=no_cases, edges=[{}], examine=examined("named", "13c.5", guesses=2))
def name_5(rl):
    return rl.clinic.compilers.name_5()


@program("clinic.compilers.mend_5", cases=no_cases, edges=[{}], examine=examined("mended", "13c.5"))
def mend_5(rl):
    return text_of(rl.clinic.compilers.mend_5)
