"""Checks of lab 13d: the patients of the framework."""

from ...engine.check import program
from ..shared_13 import examined, no_cases, text_of


@program(
    "clinic.distributed.narrow_1",
    cases=no_cases,
    edges=[{}],
    examine=examined("narrowed", "13d.1", statements=13, operators=12),
)
def narrow_1(rl):
    return text_of(rl.clinic.distributed.narrow_1)


@program("clinic.distributed.name_1.first", cases=no_cases, edges=[{}], examine=examined("named", "13d.1", guesses=1))
def name_1_first(rl):
    return rl.clinic.distributed.name_1()


@program("clinic.distributed.name_1", cases=no_cases, edges=[{}], examine=examined("named", "13d.1", guesses=2))
def name_1(rl):
    return rl.clinic.distributed.name_1()


@program("clinic.distributed.mend_1", cases=no_cases, edges=[{}], examine=examined("mended", "13d.1"))
def mend_1(rl):
    return text_of(rl.clinic.distributed.mend_1)


@program(
    "clinic.distributed.narrow_2",
    cases=no_cases,
    edges=[{}],
    examine=examined("narrowed", "13d.2", statements=6, operators=4),
)
def narrow_2(rl):
    return text_of(rl.clinic.distributed.narrow_2)


@program("clinic.distributed.name_2.first", cases=no_cases, edges=[{}], examine=examined("named", "13d.2", guesses=1))
def name_2_first(rl):
    return rl.clinic.distributed.name_2()


@program("clinic.distributed.name_2", cases=no_cases, edges=[{}], examine=examined("named", "13d.2", guesses=2))
def name_2(rl):
    return rl.clinic.distributed.name_2()


@program("clinic.distributed.mend_2", cases=no_cases, edges=[{}], examine=examined("mended", "13d.2"))
def mend_2(rl):
    return text_of(rl.clinic.distributed.mend_2)


@program(
    "clinic.distributed.narrow_3",
    cases=no_cases,
    edges=[{}],
    examine=examined("narrowed", "13d.3", statements=7, operators=6),
)
def narrow_3(rl):
    return text_of(rl.clinic.distributed.narrow_3)


@program("clinic.distributed.name_3.first", cases=no_cases, edges=[{}], examine=examined("named", "13d.3", guesses=1))
def name_3_first(rl):
    return rl.clinic.distributed.name_3()


@program("clinic.distributed.name_3", cases=no_cases, edges=[{}], examine=examined("named", "13d.3", guesses=2))
def name_3(rl):
    return rl.clinic.distributed.name_3()


@program("clinic.distributed.mend_3", cases=no_cases, edges=[{}], examine=examined("mended", "13d.3"))
def mend_3(rl):
    return text_of(rl.clinic.distributed.mend_3)
