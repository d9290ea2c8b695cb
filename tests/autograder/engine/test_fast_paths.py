"""A student's piece runs wherever the framework would run its own, whatever fast paths the framework takes."""

import functools
import sys
from collections import Counter
from types import FunctionType

import pytest
from sweep import sweep

from autograder.engine import subject
from autograder.engine.check import find, function_of, is_on_torch
from autograder.engine.exercise import fill, unplug
from autograder.engine.observe import difference, result_of
from autograder.model import Lab, check_name, lab_names
from rushlight.c10 import fast_paths

CASES = 12  # of the edges of a check


def counted(slot, calls):
    """A copy of a framework's function that counts its calls."""
    copy = FunctionType(slot.__code__, slot.__globals__, slot.__name__, slot.__defaults__, slot.__closure__)
    copy.__kwdefaults__ = slot.__kwdefaults__

    @functools.wraps(slot)
    def piece(*args, **kwargs):
        calls[slot.__name__] += 1
        return copy(*args, **kwargs)

    return piece


def observed(checks, calls):
    """Return the observations of each check, and how often each piece ran."""
    found = {}
    for name in checks:
        calls.clear()
        observations = subject.answer(name, find(name).edges[:CASES])
        found[name] = [result_of(each) for each in observations], dict(calls)
    return found


def passed_by(names, checks):
    """The checks in which a piece does not run as often, or something else is observed, as without any fast path."""
    calls, slots = Counter(), [function_of(name) for name in names]
    try:
        for slot in slots:
            fill(slot, counted(slot, calls))
        observed(checks, calls)  # what is made once, such as the schemas of a module, is made now
        disabled = fast_paths.disabled_from()
        fast_paths.clear_caches()
        with_fast_paths = observed(checks, calls)
        fast_paths.disable("c10")
        without = observed(checks, calls)
    finally:
        for slot in slots:
            unplug(slot)
    differences = {name: differs(with_fast_paths[name], without[name]) for name in checks}
    return {name: (disabled, found) for name, found in differences.items() if found}


def differs(given, wanted):
    """How two answers of `observed` differ; None if they do not."""
    if given[1] != wanted[1]:
        return given[1], wanted[1]
    return next(
        (found for pair in zip(*(each[0] for each in (given, wanted)), strict=True) if (found := difference(*pair))),
        None,
    )


BUILD_LABS = [lab for lab in lab_names() if not is_on_torch(lab)]


@pytest.mark.parametrize("lab", sweep(BUILD_LABS, keep=["01a_views", "04b_engine"]))
def test_no_fast_path_passes_by_a_piece(lab):
    checks = [name for cell in Lab(lab).released["cells"] if (name := check_name(cell))]
    assert not passed_by(Lab(lab).exercises, checks)
    for exercise in Lab(lab).exercises:
        own = [name for name in checks if name.startswith((f"{exercise}.", "together.")) or name == exercise]
        assert not passed_by([exercise], own)


@pytest.mark.parametrize("check", sweep(["together.attention", "together.everything"], keep=["together.attention"]))
def test_no_fast_path_passes_by_a_piece_of_autograd_in_a_program_of_another_lab(check):
    named = [name for lab in BUILD_LABS for name in Lab(lab).exercises]
    pieces = [name for name in named if function_of(name).__module__.startswith("rushlight.autograd.")]
    assert pieces and not passed_by(pieces, [check])


def test_a_fast_path_that_passes_by_a_piece_would_be_seen(monkeypatch):
    monkeypatch.setattr(sys.modules[fill.__module__], "_lowest_filled", lambda: None)
    assert passed_by(["optim.optimizer.adam"], ["optim.optimizer.adam"])
