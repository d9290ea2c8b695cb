"""The tests that `make test` leaves out, and trials of many small cases in one test.

A test that is marked `sweep` runs in `make test-all` only, which is `pytest -m ""`. What takes long is represented in
`make test` by a choice that is the same at every commit: by names, or by a rule. Hundreds of cases that take less time than
pytest needs for a test are one test, which names each case that fails.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from inspect import Parameter, Signature, signature
from itertools import product
from typing import Any

import pytest


def sweep(items: Sequence, keep: Collection = (), every: int = 1) -> list:
    """Parameters of a test: `make test` tries those in `keep`, or else the first and one in `every`; the others are marked."""
    stay = [item in keep if keep else position % every == 0 for position, item in enumerate(items)]
    return [item if stays else _left_out(item) for item, stays in zip(items, stay)]


def _left_out(item: Any):
    if hasattr(item, "marks"):  # of `pytest.param`
        return item._replace(marks=[*item.marks, pytest.mark.sweep])
    return swept(*item) if isinstance(item, tuple) else swept(item)


def swept(*values, id: str | None = None):
    """A parameter that only `make test-all` tries."""
    return pytest.param(*values, id=id, marks=pytest.mark.sweep)


def in_one_test(test: Callable[..., None]) -> Callable[..., None]:
    """Try the cases of a test, which `parametrize` gives, in one test. It names each case that fails. They share the fixtures."""
    marks = [mark for mark in test.pytestmark if mark.name == "parametrize"]
    choices = [[*_cases(*mark.args)] for mark in marks]
    cases = [dict(item for part in parts for item in part) for parts in product(*choices)]
    fixtures = [each for name, each in signature(test).parameters.items() if not cases or name not in cases[0]]

    def tried(seeded, **given):
        named = ((f"{number}: {case}", case) for number, case in enumerate(cases))
        hold_each(lambda case: test(**case, **given), named, seeded)

    tried.__name__, tried.__doc__, tried.place_as = test.__name__, test.__doc__, test
    tried.__signature__ = Signature([*fixtures, Parameter("seeded", Parameter.KEYWORD_ONLY)])
    tried.pytestmark = [mark for mark in test.pytestmark if mark not in marks]
    return tried


def _cases(names: str | Sequence[str], values: Iterable) -> Iterable[list[tuple[str, Any]]]:
    names = names.replace(" ", "").split(",") if isinstance(names, str) else names
    for value in values:
        yield [*zip(names, value if len(names) > 1 else [value], strict=True)]


def hold_each(hold: Callable[..., None], cases: Iterable[tuple[str, Any]], seeded: Callable[[], None]) -> None:
    """Assert that `hold(case)` raises for no case, each after a call of the fixture `seeded`. It names each case that fails."""

    def seeded_first(case):
        seeded()
        hold(case)

    found = failures(seeded_first, cases)
    assert not found, "\n".join(map(": ".join, found.items()))


def failures(hold: Callable[..., None], cases: Iterable[tuple[str, Any]]) -> dict[str, str]:
    """Try every case. Return the names of the cases whose `hold(case)` raises, each with the error."""
    found = {}
    for name, case in cases:
        try:
            hold(case)
        except Exception as error:
            found[name] = f"{type(error).__name__}: {error}"
    return found
