"""The board of counts: what finished answers ask for, beside the reference's and the smallest possible.

Only a check with a program that counts (`Check.counted`) is on it. The numbers are the same on every machine, and no points depend
on them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import NamedTuple

import rushlight

from .check import find, short_name


class Line(NamedTuple):
    """One number of one exercise."""

    exercise: str
    what: str
    answers: str  # each number that an answer has, and how many have it if there are several answers
    reference: int
    best: int | None  # the smallest possible, where it is known


def lines(checks: Iterable[str], answers: Sequence[Mapping[str, dict[str, int]]]) -> list[Line]:
    """The lines of a board, in the order of the checks. An answer has the counts of each check that it passes."""
    found = []
    for name in checks:
        counted = [counts for each in answers if (counts := each.get(name))]
        for what, reference in reference_counts(name).items() if counted else ():
            numbers = Counter(counts.get(what, 0) for counts in counted)
            texts = [f"{n:,}" if len(counted) == 1 else f"{n:,} ({count})" for n, count in sorted(numbers.items())]
            found.append(Line(short_name(name), what, ", ".join(texts), reference, find(name).best.get(what)))
    return found


@cache
def reference_counts(name: str) -> dict[str, int]:
    """The counts of the reference, as long as the slot of the exercise is empty."""
    return find(name).count(rushlight)
