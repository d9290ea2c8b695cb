"""Helpers for the checks of the clinic."""

import inspect


def text_of(slot):
    """The text of the function that a student wrote for an exercise."""
    return inspect.getsource(inspect.unwrap(slot))


def examined(how, *about, **limits):
    """An examination of `autograder.engine`, by its name. A subject has none of them, so they are imported here."""
    from ..engine import patients, student_checks

    return getattr(student_checks if how == "caught" else patients, how)(*about, **limits)


def no_cases(st):
    """Nothing is drawn: an answer is examined as it is."""
    return st.nothing()


def tested(how, *about):
    """An examination of a test that a student wrote, by its name."""
    from ..engine import student_checks

    return getattr(student_checks, how)(*about)
