"""Checks of lab 13b: checks that a student wrote, graded by what they catch."""

from ...engine.check import program
from ..shared_13 import examined, no_cases, tested, text_of


@program(
    "clinic.training.check_sum_to.half", cases=no_cases, edges=[{}], examine=examined("caught", "13b.sum_to", "1/2")
)
def check_sum_to_half(rl):
    return text_of(rl.clinic.training.check_sum_to)


@program(
    "clinic.training.check_sum_to.most", cases=no_cases, edges=[{}], examine=examined("caught", "13b.sum_to", "3/4")
)
def check_sum_to_most(rl):
    return text_of(rl.clinic.training.check_sum_to)


@program("clinic.training.check_sum_to", cases=no_cases, edges=[{}], examine=examined("caught", "13b.sum_to", "1"))
def check_sum_to(rl):
    return text_of(rl.clinic.training.check_sum_to)


CLIP, BODIES = "clinic.training.clip_property", "13b.clip_grad_norm_"


@program(f"{CLIP}.half", cases=no_cases, edges=[{}], examine=tested("falsified", BODIES, "1/2"))
def clip_property_half(rl):
    return text_of(rl.clinic.training.clip_property)


@program(f"{CLIP}.most", cases=no_cases, edges=[{}], examine=tested("falsified", BODIES, "3/4"))
def clip_property_most(rl):
    return text_of(rl.clinic.training.clip_property)


@program(CLIP, cases=no_cases, edges=[{}], examine=tested("falsified", BODIES, "1"))
def clip_property(rl):
    return text_of(rl.clinic.training.clip_property)
