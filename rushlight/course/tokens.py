"""Byte-pair encoding: text as the numbers that a language model reads.

A text is bytes, which are the tokens 0 to 255. Each *merge* joins two tokens that often stand beside each other, and is a token of
its own: merge k is token 256 + k. The merges are learned once, from a corpus, and then applied to any text in the same order.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

Pair = tuple[int, int]

_PIECE = re.compile(r" ?[^\W_]+| ?[^\w\s]+|\s+|_+")


def pieces(text: str) -> list[str]:
    """The words and marks of a text, each with the space before it. No merge crosses from one into the next."""
    return _PIECE.findall(text)


def count_pairs(words: Mapping[tuple[int, ...], int]) -> Counter[Pair]:
    """How often two tokens stand beside each other. `words` are pieces as tokens, with how often each occurs."""
    counts: Counter[Pair] = Counter()
    for word, times in words.items():
        for pair in zip(word, word[1:]):
            counts[pair] += times
    return counts


def merge(ids: Sequence[int], pair: Pair, new: int) -> tuple[int, ...]:
    """The tokens with `new` in the place of each `pair`, from left to right: a token is part of one pair at most."""
    merged: list[int] = []
    for each in ids:
        if merged and (merged[-1], each) == pair:
            merged[-1] = new
        else:
            merged.append(each)
    return tuple(merged)


def train(text: str, count: int) -> list[Pair]:
    """The merges learned from a text: at most `count`, each the most frequent pair after those before it.

    Of several pairs that are equally frequent the smallest is taken. A pair that occurs only once is not merged.
    """
    words = Counter(tuple(piece.encode()) for piece in pieces(text))
    merges: list[Pair] = []
    for new in range(256, 256 + count):
        counts = count_pairs(words)
        pair = min(counts, key=lambda each: (-counts[each], each), default=None)
        if pair is None or counts[pair] < 2:
            break
        merges.append(pair)
        joined: Counter[tuple[int, ...]] = Counter()
        for word, times in words.items():
            joined[merge(word, pair, new)] += times
        words = joined
    return merges


class Tokenizer:
    """Text to tokens and back. The last token, `end`, ends a text; no text encodes to it."""

    def __init__(self, merges: Iterable[Pair]):
        self.merges = [(int(a), int(b)) for a, b in merges]
        self.ranks = {pair: 256 + k for k, pair in enumerate(self.merges)}
        self.bytes = [bytes([each]) for each in range(256)]
        for a, b in self.merges:
            self.bytes.append(self.bytes[a] + self.bytes[b])
        self.end = len(self.bytes)
        self._known: dict[str, tuple[int, ...]] = {}

    def __len__(self) -> int:
        return self.end + 1

    def encode(self, text: str) -> list[int]:
        """The tokens of a text. In each piece the earliest merge that fits is applied, until none fits."""
        return [each for piece in pieces(text) for each in self._piece(piece)]

    def _piece(self, piece: str) -> tuple[int, ...]:
        if piece not in self._known:
            ids = tuple(piece.encode())
            while fitting := [self.ranks[pair] for pair in zip(ids, ids[1:]) if pair in self.ranks]:
                new = min(fitting)
                ids = merge(ids, self.merges[new - 256], new)
            self._known[piece] = ids
        return self._known[piece]

    def decode(self, ids: Iterable[int]) -> str:
        """The text of tokens. `end` is a new line. Bytes that are no UTF-8 become U+FFFD, as a model may choose any token."""
        return b"".join(b"\n" if each == self.end else self.bytes[each] for each in ids).decode(errors="replace")
