"""The milestone of lab 13b: all mends at once."""

from ...engine.check import program
from ..shared_13 import examined, no_cases, text_of


@program(
    "together.mended_training", cases=no_cases, edges=[{}], examine=examined("together", "13b.1", "13b.2", "13b.3")
)
def mended_training(rl):
    answers = rl.clinic.training
    return [text_of(mend) for mend in (answers.mend_1, answers.mend_2, answers.mend_3)]
