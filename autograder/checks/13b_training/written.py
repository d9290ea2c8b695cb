"""Checks of lab 13b: checks that a student wrote, graded by what they catch."""

from ...engine.check import program
from ..shared_13 import examined, no_cases, text_of


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


@program(
    "clinic.training.check_clip_grad_norm.half",
    cases=no_cases,
    edges=[{}],
    examine=examined("caught", "13b.clip_grad_norm_", "1/2"),
)
def check_clip_grad_norm_half(rl):
    return text_of(rl.clinic.training.check_clip_grad_norm)


@program(
    "clinic.training.check_clip_grad_norm.most",
    cases=no_cases,
    edges=[{}],
    examine=examined("caught", "13b.clip_grad_norm_", "3/4"),
)
def check_clip_grad_norm_most(rl):
    return text_of(rl.clinic.training.check_clip_grad_norm)


@program(
    "clinic.training.check_clip_grad_norm",
    cases=no_cases,
    edges=[{}],
    examine=examined("caught", "13b.clip_grad_norm_", "1"),
)
def check_clip_grad_norm(rl):
    return text_of(rl.clinic.training.check_clip_grad_norm)
