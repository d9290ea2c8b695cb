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


@program(
    "clinic.tensors.narrow_2",
    cases=no_cases,
    edges=[{}],
    examine=examined("narrowed", "13a.2", statements=2, operators=4),
)
def narrow_2(rl):
    return text_of(rl.clinic.tensors.narrow_2)


@program("clinic.tensors.name_2.first", cases=no_cases, edges=[{}], examine=examined("named", "13a.2", guesses=1))
def name_2_first(rl):
    return rl.clinic.tensors.name_2()


@program("clinic.tensors.name_2", cases=no_cases, edges=[{}], examine=examined("named", "13a.2", guesses=2))
def name_2(rl):
    return rl.clinic.tensors.name_2()


@program("clinic.tensors.mend_2", cases=no_cases, edges=[{}], examine=examined("mended", "13a.2"))
def mend_2(rl):
    return text_of(rl.clinic.tensors.mend_2)


@program(
    "clinic.tensors.narrow_3",
    cases=no_cases,
    edges=[{}],
    examine=examined("narrowed", "13a.3", statements=4, operators=5),
)
def narrow_3(rl):
    return text_of(rl.clinic.tensors.narrow_3)


@program("clinic.tensors.name_3.first", cases=no_cases, edges=[{}], examine=examined("named", "13a.3", guesses=1))
def name_3_first(rl):
    return rl.clinic.tensors.name_3()


@program("clinic.tensors.name_3", cases=no_cases, edges=[{}], examine=examined("named", "13a.3", guesses=2))
def name_3(rl):
    return rl.clinic.tensors.name_3()


@program("clinic.tensors.mend_3", cases=no_cases, edges=[{}], examine=examined("mended", "13a.3"))
def mend_3(rl):
    return text_of(rl.clinic.tensors.mend_3)


@program(
    "clinic.tensors.narrow_4",
    cases=no_cases,
    edges=[{}],
    examine=examined("narrowed", "13a.4", statements=4, operators=6),
)
def narrow_4(rl):
    return text_of(rl.clinic.tensors.narrow_4)


@program("clinic.tensors.name_4.first", cases=no_cases, edges=[{}], examine=examined("named", "13a.4", guesses=1))
def name_4_first(rl):
    return rl.clinic.tensors.name_4()


@program("clinic.tensors.name_4", cases=no_cases, edges=[{}], examine=examined("named", "13a.4", guesses=2))
def name_4(rl):
    return rl.clinic.tensors.name_4()


@program("clinic.tensors.mend_4", cases=no_cases, edges=[{}], examine=examined("mended", "13a.4"))
def mend_4(rl):
    return text_of(rl.clinic.tensors.mend_4)


@program(
    "clinic.tensors.narrow_5",
    cases=no_cases,
    edges=[{}],
    examine=examined("narrowed", "13a.5", statements=3, operators=5),
)
def narrow_5(rl):
    return text_of(rl.clinic.tensors.narrow_5)


@program("clinic.tensors.name_5.first", cases=no_cases, edges=[{}], examine=examined("named", "13a.5", guesses=1))
def name_5_first(rl):
    return rl.clinic.tensors.name_5()


@program("clinic.tensors.name_5", cases=no_cases, edges=[{}], examine=examined("named", "13a.5", guesses=2))
def name_5(rl):
    return rl.clinic.tensors.name_5()


@program("clinic.tensors.mend_5", cases=no_cases, edges=[{}], examine=examined("mended", "13a.5"))
def mend_5(rl):
    return text_of(rl.clinic.tensors.mend_5)


@program(
    "clinic.tensors.narrow_6",
    cases=no_cases,
    edges=[{}],
    examine=examined("narrowed", "13a.6", statements=2, operators=4),
)
def narrow_6(rl):
    return text_of(rl.clinic.tensors.narrow_6)


@program("clinic.tensors.name_6.first", cases=no_cases, edges=[{}], examine=examined("named", "13a.6", guesses=1))
def name_6_first(rl):
    return rl.clinic.tensors.name_6()


@program("clinic.tensors.name_6", cases=no_cases, edges=[{}], examine=examined("named", "13a.6", guesses=2))
def name_6(rl):
    return rl.clinic.tensors.name_6()


@program("clinic.tensors.mend_6", cases=no_cases, edges=[{}], examine=examined("mended", "13a.6"))
def mend_6(rl):
    return text_of(rl.clinic.tensors.mend_6)
