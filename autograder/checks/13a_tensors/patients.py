"""Checks of lab 13a: the patients of the framework."""

from ...engine.check import program
from ..shared_13 import examined, no_cases, text_of


@program(
    "clinic.tensors.narrow_1",
    cases=no_cases,
    edges=[{}],
    examine=examined("narrowed", "13a.1", statements=4, operators=5),
)
def narrow_1(rl):
    return text_of(rl.clinic.tensors.narrow_1)


@program("clinic.tensors.name_1.first", cases=no_cases, edges=[{}], examine=examined("named", "13a.1", guesses=1))
def name_1_first(rl):
    return rl.clinic.tensors.name_1()


@program("clinic.tensors.name_1", cases=no_cases, edges=[{}], examine=examined("named", "13a.1", guesses=2))
def name_1(rl):
    return rl.clinic.tensors.name_1()


@program("clinic.tensors.mend_1", cases=no_cases, edges=[{}], examine=examined("mended", "13a.1"))
def mend_1(rl):
    return text_of(rl.clinic.tensors.mend_1)
