"""Lab 12a, text as tokens: byte-pair encoding, trained and applied."""

from __future__ import annotations

from ...check import program
from ..cases import drawn, listed, rows, several, when

WORD = listed(several((97, 99), 0, 6), (1, 4))  # few letters, so that pairs occur again


# Pairs ---------------------------------------------------------------------------------------------------------------


@program(
    "course.tokens.count_pairs",
    cases=drawn(words=several(WORD, 0, 5)),
    edges=rows("words", *((words,) for words in (
        [], [[[], 3]], [[[97], 2]], [[[97, 98], 1]], [[[97, 98], 4]], [[[97, 98, 97, 98], 3]], [[[97, 97, 97], 2]],
        [[[97, 98], 1], [[98, 97], 2]], [[[97, 98, 99], 2], [[98, 99], 3]], [[[99, 300, 99], 1], [[300, 99], 5]],
    ))),
    show=lambda torch, words: f"count_pairs({_as_words(words)})",
    hint=when(lambda case: any(times > 1 for _, times in case["words"]), "a piece counts as often as it occurs"),
)  # fmt: skip
def pairs(rl, words):
    found = rl.course.tokens.count_pairs(_as_words(words))
    return [type(found).__name__, sorted([list(pair), times] for pair, times in found.items())]


def _as_words(words):
    """A dict of pieces, each with how often it occurs. A piece that is listed twice occurs as often as its last entry says."""
    return {tuple(word): times for word, times in words}


@pairs.oracle
def _(torch, words):
    counts = {}
    for word, times in _as_words(words).items():
        for i in range(len(word) - 1):
            pair = (word[i], word[i + 1])
            counts[pair] = counts.get(pair, 0) + times
    return ["Counter", sorted([list(pair), times] for pair, times in counts.items())]
