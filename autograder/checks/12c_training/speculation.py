"""Lab 12c: a small model guesses, and a large one decides."""

from __future__ import annotations

from fractions import Fraction

from ...engine.check import program
from ..cases import drawing, rows

WHOLE = 16


@drawing
def _guessing(draw, st):
    size, count = draw(st.integers(1, 5)), draw(st.integers(0, 4))

    def distribution():
        cuts = sorted(draw(st.lists(st.integers(0, WHOLE), min_size=size - 1, max_size=size - 1)))
        return [b - a for a, b in zip([0, *cuts], [*cuts, WHOLE])]

    guessed = [distribution() for _ in range(count)]
    guesses = [draw(st.sampled_from([token for token in range(size) if row[token]])) for row in guessed]
    wanted = [distribution() for _ in range(count + 1)]
    return {
        "guesses": guesses,
        "guessed": guessed,
        "wanted": wanted,
        "draws": [draw(st.integers(0, 31)) for _ in range(count + 1)],
    }


_EVEN, _FIRST = [4, 4, 4, 4], [8, 4, 4, 0]


@program(
    "course.sampling.speculate",
    cases=_guessing,
    edges=rows(
        "guesses guessed wanted draws",
        ([], [], [_EVEN], [0]), ([], [], [_FIRST], [17]), ([0], [_EVEN], [_FIRST, _EVEN], [31, 31]),
        ([3], [_EVEN], [_FIRST, _EVEN], [0, 31]),
        ([3], [_EVEN], [_FIRST, _EVEN], [0, 0]), ([0], [_FIRST], [_EVEN, [0, 16, 0, 0]], [15, 5]),
        ([0], [_FIRST], [_EVEN, [0, 16, 0, 0]], [16, 5]), ([0], [_FIRST], [[0, 2, 6, 8], _EVEN], [1, 20]),
        ([1, 2, 0], [_EVEN, _EVEN, _FIRST], [_FIRST, [2, 6, 8, 0], [4, 4, 0, 8], _EVEN], [9, 3, 29, 12]),
        ([1, 2, 0], [_EVEN, _EVEN, _FIRST], [_FIRST, [2, 6, 1, 7], [4, 4, 0, 8], _EVEN], [9, 30, 2, 30]),
        ([1, 1], [_EVEN] * 2, [_EVEN, _EVEN, [0, 0, 8, 8]], [31, 31, 16]), ([0], [_FIRST], [_EVEN, _EVEN], [20, 0]),
        ([0], [[10, 2, 2, 2]], [[2, 2, 6, 6], _EVEN], [20, 16]),
        ([0], [[6, 10]], [[16, 0], [9, 7]], [5, 25]),
        ([1, 1, 0], [[1, 8, 2, 5, 0], [0, 1, 6, 1, 8], [4, 5, 1, 2, 4]],
         [[0, 6, 1, 6, 3], [1, 9, 4, 1, 1], [0, 6, 8, 1, 1], [4, 0, 3, 6, 3]], [9, 22, 12, 19]),
        ([2, 1, 0], [[1, 0, 10, 5, 0], [0, 1, 6, 1, 8], [4, 5, 1, 2, 4]],
         [[0, 6, 1, 6, 3], [1, 9, 4, 1, 1], [0, 6, 8, 1, 1], [4, 0, 3, 6, 3]], [9, 22, 12, 19]),
    ),
    hint="only what the large model gives more probability than the small one may replace a guess",
)  # fmt: skip
def speculated(rl, guesses, guessed, wanted, draws):
    size = len(wanted[0])
    arguments = [rl.tensor(rows, dtype=rl.float64).reshape(-1, size) / WHOLE for rows in (guessed, wanted)]
    kept, given, numbers = [tensor.clone() for tensor in arguments], [*guesses], [number / 32 for number in draws]
    said = rl.course.sampling.speculate(given, *arguments, numbers)
    assert all(map(rl.equal, kept, arguments)), "the probabilities that were given have changed"
    assert [given, numbers] == [[*guesses], [number / 32 for number in draws]], "a list that was given has changed"
    return said


@speculated.oracle
def _(_, guesses, guessed, wanted, draws):
    """With fractions, token by token."""
    draws = [Fraction(number, 32) for number in draws]
    for i, token in enumerate(guesses):
        if draws[i] * guessed[i][token] >= wanted[i][token]:
            weights = [max(0, more - less) for more, less in zip(wanted[i], guessed[i])]
            return [*guesses[:i], _drawn(weights, draws[-1])]
    return [*guesses, _drawn(wanted[-1], draws[-1])]


def _drawn(weights, u):
    return next(token for token in range(len(weights)) if Fraction(sum(weights[: token + 1]), sum(weights)) > u)
