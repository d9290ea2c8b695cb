"""Checks of lab 13b: the patients of the framework."""

from ...engine.check import program
from ..shared_13 import examined, no_cases, text_of


@program(
    "clinic.training.narrow_1",
    cases=no_cases,
    edges=[{}],
    examine=examined("narrowed", "13b.1", statements=6, operators=9),
)
def narrow_1(rl):
    return text_of(rl.clinic.training.narrow_1)


@program("clinic.training.name_1.first", cases=no_cases, edges=[{}], examine=examined("named", "13b.1", guesses=1))
def name_1_first(rl):
    return rl.clinic.training.name_1()


@program("clinic.training.name_1", cases=no_cases, edges=[{}], examine=examined("named", "13b.1", guesses=2))
def name_1(rl):
    return rl.clinic.training.name_1()


@program("clinic.training.mend_1", cases=no_cases, edges=[{}], examine=examined("mended", "13b.1"))
def mend_1(rl):
    return text_of(rl.clinic.training.mend_1)


@program(
    "clinic.training.narrow_2",
    cases=no_cases,
    edges=[{}],
    examine=examined("narrowed", "13b.2", statements=6, operators=6),
)
def narrow_2(rl):
    return text_of(rl.clinic.training.narrow_2)


@program("clinic.training.name_2.first", cases=no_cases, edges=[{}], examine=examined("named", "13b.2", guesses=1))
def name_2_first(rl):
    return rl.clinic.training.name_2()


@program("clinic.training.name_2", cases=no_cases, edges=[{}], examine=examined("named", "13b.2", guesses=2))
def name_2(rl):
    return rl.clinic.training.name_2()


@program("clinic.training.mend_2", cases=no_cases, edges=[{}], examine=examined("mended", "13b.2"))
def mend_2(rl):
    return text_of(rl.clinic.training.mend_2)


@program(
    "clinic.training.narrow_3",
    cases=no_cases,
    edges=[{}],
    examine=examined("narrowed", "13b.3", statements=7, operators=40),
)
def narrow_3(rl):
    return text_of(rl.clinic.training.narrow_3)


@program("clinic.training.name_3.first", cases=no_cases, edges=[{}], examine=examined("named", "13b.3", guesses=1))
def name_3_first(rl):
    return rl.clinic.training.name_3()


@program("clinic.training.name_3", cases=no_cases, edges=[{}], examine=examined("named", "13b.3", guesses=2))
def name_3(rl):
    return rl.clinic.training.name_3()


@program("clinic.training.mend_3", cases=no_cases, edges=[{}], examine=examined("mended", "13b.3"))
def mend_3(rl):
    return text_of(rl.clinic.training.mend_3)
