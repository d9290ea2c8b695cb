"""Helpers for the checks of the labs about a change to PyTorch."""

from operator import attrgetter

from ..engine.check import program
from .shared_13 import no_cases, text_of


def examined(how, *about):
    """An examination of `autograder.engine.changes`, by its name. A subject has none of them, so it is imported here."""
    from ..engine import changes

    return getattr(changes, how)(*about)


def case(topic, index):
    """Register the checks of a case, which are those of four exercises: a program that shows the fault, the place of the function
    at fault, a patch, and a regression test. `topic` is the module of the checks."""
    lab, _, module = topic.split(".")[-2].partition("_")
    number = f"{lab}.{index}"

    def named(exercise):
        return f"contribute.{module}.{exercise}_{index}"

    reproduce, locate, mend, test = (
        attrgetter(named(exercise)) for exercise in ("reproduce", "locate", "mend", "test")
    )

    @program(named("reproduce"), cases=no_cases, edges=[{}], examine=examined("reproduced", number))
    def reproduced(rl):
        return text_of(reproduce(rl))

    @program(f"{named('locate')}.first", cases=no_cases, edges=[{}], examine=examined("located", number, 1))
    def located_at_once(rl):
        return locate(rl)()

    @program(named("locate"), cases=no_cases, edges=[{}], examine=examined("located", number, 2))
    def located(rl):
        return locate(rl)()

    @program(named("mend"), cases=no_cases, edges=[{}], examine=examined("mended", number))
    def mended(rl):
        return mend(rl)()

    @program(named("test"), cases=no_cases, edges=[{}], examine=examined("tested", number))
    def tested(rl):
        return text_of(test(rl))

    for check in (reproduced, located_at_once, located, mended, tested):
        check.program.__module__ = topic  # whose lab has the check


def review(topic, index):
    """Register the check of a review: a test that decides about a patch, and the decision."""
    number = f"{topic.split('.')[-2].partition('_')[0]}.{index}"
    exercise = f"contribute.review.review_{index}"

    @program(exercise, cases=no_cases, edges=[{}], examine=examined("reviewed", number))
    def reviewed(rl):
        return text_of(attrgetter(exercise)(rl))

    reviewed.program.__module__ = topic
