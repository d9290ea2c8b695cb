"""Statistics of the exercises of a lab in a class, and warnings of exercises that may be at fault themselves.

An exercise warns if chance alone hardly explains what is seen: each rule needs a confidence interval to be beyond its threshold, so
in a small class only a strong effect warns. A student who has not attempted an exercise does not count for it. The notebook of a
group counts once.
`bench/early_warning.py` measures how often a bad exercise is found, and how often one is named that is not bad.
"""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ..engine.verdict import DIED, GRADER_ERROR, NOT_ATTEMPTED, PASSED, TIMED_OUT, UNSTABLE
from ..language import phrase
from .grade import Row

IN_EACH = 5  # students that pass, and that do not, before a negative correlation warns, and that share a case
HARD = 0.3  # an exercise warns if at most this share of those who attempted it can be expected to pass
ONE_CASE = 0.2  # and if more than this share fails with one smallest case, which is most of those who fail
STOPPED = 0.05  # and if more than this share times out, dies or is unstable
Z95, Z99 = 1.96, 2.33  # of the normal distribution: both sides 95 %, and one side 99 %


@dataclass(frozen=True)
class ItemWarning:
    """An exercise to look at, and why."""

    check: str
    why: str


def notebooks(rows: Iterable[Row]) -> list[Row]:
    """The rows that say something new: a copy of a group's notebook passes and fails as the notebook does."""
    return [row for row in rows if not row.copy_of]


def attempts(rows: Iterable[Row], check: str) -> list[Row]:
    return [row for row in rows if check in row.verdicts and row.outcome(check) != NOT_ATTEMPTED]


def discrimination(rows: Sequence[Row], check: str) -> float:
    """The correlation of passing a check (1 or 0) with the points of all other checks: near 1 if better students pass. It is
    0 if all have the same points there."""
    passed = [float(row.outcome(check) == PASSED) for row in rows]
    rest = [row.earned - row.scores.get(check, 0) for row in rows]
    return statistics.correlation(passed, rest) if len(set(rest)) > 1 else 0.0


def rank_correlation(pairs: Sequence[tuple[float, float]]) -> float | None:
    """Spearman's correlation: 1 if both numbers of the pairs have one order, and -1 if the orders are opposite. Equal numbers share
    the mean of their ranks. None if all are equal."""
    ranks = [_ranks(numbers) for numbers in zip(*pairs)]
    return statistics.correlation(*ranks) if all(len(set(each)) > 1 for each in ranks) else None


def _ranks(numbers: Sequence[float]) -> list[float]:
    return [sum(other < number for other in numbers) + numbers.count(number) / 2 for number in numbers]


def is_negative(value: float, count: int) -> bool:
    """Whether a correlation of so many students is below 0 at 99 %, by Fisher's transformation."""
    return math.atanh(max(-0.999999, value)) + Z99 / math.sqrt(count - 3) < 0


def share_interval(count: int, of: int, z: float = Z95) -> tuple[float, float]:
    """Wilson's interval of a share, which also holds for few students and for shares near 0 and 1."""
    if of == 0:
        return 0.0, 1.0
    share, square = count / of, z * z / of
    middle, half = share + square / 2, z * math.sqrt(share * (1 - share) / of + square / of / 4)
    return max(0.0, (middle - half) / (1 + square)), min(1.0, (middle + half) / (1 + square))


def cases(rows: Iterable[Row]) -> list[tuple[str, str, str, int]]:
    """Every minimal case, with its check, what differs, and the number of students who have it, the most frequent first."""
    counts = Counter(
        (check, verdict["case"], verdict["message"])
        for row in rows
        for check, verdict in row.verdicts.items()
        if "case" in verdict
    )
    return [(*key, count) for key, count in counts.most_common()]


def warnings(rows: Iterable[Row], worth: Iterable[str]) -> list[ItemWarning]:
    """The exercises that may be at fault themselves, in the order of the lab."""
    rows = [row for row in notebooks(rows) if row.verdicts]
    common: dict[str, tuple[str, int]] = {}
    for check, case, _, count in cases(rows):
        common.setdefault(check, (case, count))
    return [ItemWarning(check, why) for check in worth for why in _reasons(rows, check, *common.get(check, ("", 0)))]


def _reasons(rows: list[Row], check: str, case: str, alike: int) -> list[str]:
    tried = attempts(rows, check)
    counts = Counter(row.outcome(check) for row in tried)
    passed, failed, whole = counts[PASSED], len(tried) - counts[PASSED], len(tried)
    why: list[str] = []
    if count := counts[GRADER_ERROR]:
        why.append(phrase(f"the check itself failed for {count}: report it, and grade again after the correction"))
    if share_interval(passed, len(tried))[1] < HARD:
        why.append(phrase(f"nearly all fail: {passed} of the {whole} who attempted it pass"))
    if alike >= IN_EACH and 2 * alike > failed and share_interval(alike, len(tried))[0] > ONE_CASE:
        shown = " ".join(case.split())[:80]
        why.append(
            phrase(
                f"{alike} of the {whole} who attempted it fail with one smallest case: does the text mislead? ({shown})"
            )
        )
    for outcome in (TIMED_OUT, DIED, UNSTABLE):
        count = counts[outcome]
        if count >= 3 and share_interval(count, whole)[0] > STOPPED:
            why.append(phrase(f"{count} of {whole} are {outcome}"))
    if min(passed, failed) >= IN_EACH and is_negative(discrimination(tried, check), len(tried)):
        why.append(phrase("those who pass it have fewer points elsewhere than those who fail"))
    return why
