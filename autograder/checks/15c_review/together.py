"""The milestone of lab 15c: all accepted patches in one PyTorch."""

from ...engine.check import program
from ..shared_13 import no_cases, text_of
from ..shared_15 import examined


@program(
    "together.merged_patches",
    cases=no_cases,
    edges=[{}],
    examine=examined("merged", "15c.1", "15c.2", "15c.3", "15c.4", "15c.5"),
)
def merged_patches(rl):
    answers = rl.contribute.review
    reviews = (answers.review_1, answers.review_2, answers.review_3, answers.review_4, answers.review_5)
    return [text_of(review) for review in reviews]
