"""Byte-pair encoding: text as the numbers that a language model reads.

A text is bytes, which are the tokens 0 to 255. Each *merge* joins two tokens that are often neighbours, and is a token of its own:
merge k is token 256 + k. The merges are learned once, from a corpus, and then applied to any text in the same order.
PyTorch has no tokenizer. Models for it use tiktoken, SentencePiece or Hugging Face's tokenizers.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, MutableSequence, Sequence
from itertools import pairwise

Pair = tuple[int, int]

# Learning ------------------------------------------------------------------------------------------------------------


def pieces(text: str) -> list[str]:
    """The words and marks of a text, each with the space before it. No merge crosses from one piece into the next.

    Letters and digits are the characters c with `c.isalnum()`, white space is those with `c.isspace()`, and marks are all others.
    Joined, the pieces are the text. A piece is one of these, as long as possible:

    - letters and digits, and the space " " before them, if there is one,
    - marks, and the space " " before them, if there is one,
    - white space that belongs to no such piece. So only the last space before a word or a mark is part of its piece.

    >>> pieces("(talk) yesterday  she\\ttalked.")
    ['(', 'talk', ')', ' yesterday', ' ', ' she', '\\t', 'talked', '.']

    Args:
        text: a str.

    Returns:
        a list of str, in the order of the text.

    Source: `tiktoken_ext/openai_public.py` of tiktoken, `r50k_pat_str`.
    """
    return re.findall(r" ?[^\W_]+| ?(?:[^\w\s]|_)+|\s+(?= \S)|\s+", text)


def count_pairs(words: Mapping[tuple[int, ...], int]) -> Counter[Pair]:
    """How often two tokens are neighbours, in all pieces together.

    Each two neighbours of a piece are a pair, so pairs overlap: `(7, 7, 7)` has the pair `(7, 7)` twice. The last token of a
    piece and the first of the next one are no pair.

    >>> count_pairs({(1, 2, 1, 2): 10, (2, 1): 1})
    Counter({(1, 2): 20, (2, 1): 11})

    Args:
        words: pieces, tuples of tokens, each with how often it occurs, 1 or more. It does not change.

    Returns:
        a `Counter`: pairs, tuples of two tokens, with how often they occur. Pairs that do not occur are not in it.

    Source: `minbpe/base.py` of minBPE, `get_stats`.
    """
    counts = Counter()
    for word, times in words.items():
        for pair in pairwise(word):
            counts[pair] += times
    return counts


def merge(ids: Sequence[int], pair: Pair, new: int) -> tuple[int, ...]:
    """The tokens of a piece with `new` in the place of each `pair`.

    Pairs are joined from left to right, and a token is part of one pair at most. A `new` that was written by this call is not
    joined again.

    >>> merge((5, 5, 5, 6), (5, 5), 256)
    (256, 5, 6)

    Args:
        ids: tokens, a list or a tuple, which stays as it is.
        pair: a tuple of two tokens. Both may be the same.
        new: the token for the pair. It may be one of the two tokens.

    Returns:
        a tuple of tokens.

    Source: `minbpe/base.py` of minBPE, `merge`.
    """
    merged, i = [], 0
    while i < len(ids):
        is_pair = tuple(ids[i : i + 2]) == pair
        merged.append(new if is_pair else ids[i])
        i += 2 if is_pair else 1
    return tuple(merged)


def train(text: str, count: int) -> list[Pair]:
    """The merges that are learned from a text.

    At first the tokens of each piece of the text are its UTF-8 bytes. Then each round counts the pairs of all pieces, takes
    the most frequent pair, and merges it in all pieces. The pair of round k, counted from 0, becomes token 256 + k. If several
    pairs are equally frequent, the smallest is taken, as tuples compare. A pair that occurs only once is not merged: then, and
    after `count` rounds, the learning ends.

    >>> train("low lower lowest", 3)
    [(108, 111), (256, 119), (32, 257)]

    Here 108, 111, 119 and 32 are l, o, w and the space, so the new tokens are "lo", "low" and " low".

    Args:
        text: a str.
        count: the most merges, 0 or more.

    Returns:
        a list of pairs, tuples of two tokens, in the order of their rounds.

    Source: `tiktoken/_educational.py` of tiktoken, `bpe_train`.
    """
    words = Counter(tuple(piece.encode()) for piece in pieces(text))
    merges = []
    for new in range(256, 256 + count):
        counts = count_pairs(words)
        repeated = [pair for pair in counts if counts[pair] > 1]
        if not repeated:
            break
        pair = min(repeated, key=lambda candidate: (-counts[candidate], candidate))
        merges.append(pair)
        words = {merge(word, pair, new): times for word, times in words.items()}
    return merges


# Text to tokens and back ---------------------------------------------------------------------------------------------


def apply_merges(ids: Sequence[int], ranks: Mapping[Pair, int]) -> tuple[int, ...]:
    """The tokens of one piece after all merges, applied in the order in which they were learned.

    As long as two neighbours are a pair of `ranks`, the earliest merge of those that fit, which has the smallest token, is applied:
    everywhere in the piece.

    >>> ranks = {(104, 101): 256, (116, 104): 257, (101, 114): 258}  # h e, then t h, then e r
    >>> apply_merges(b"there", ranks)
    (116, 256, 114, 101)

    Args:
        ids: tokens, a list, a tuple or `bytes`. They do not change.
        ranks: for each pair its token, in any order. A token is greater than the two that it joins. It does not change.

    Returns:
        a tuple of tokens.

    Source: `tiktoken/_educational.py` of tiktoken, `bpe_encode`.
    """
    ids = tuple(ids)
    while fitting := [pair for pair in pairwise(ids) if pair in ranks]:
        pair = min(fitting, key=lambda candidate: ranks[candidate])
        ids = merge(ids, pair, ranks[pair])
    return ids


def decode(ids: Iterable[int], table: Sequence[bytes]) -> str:
    """The text of tokens.

    A token is bytes, and need not be whole characters: a character may begin in one token and end in the next. A model may choose
    any tokens, so that all bytes together may be no UTF-8 either. Then each part that is no character becomes U+FFFD, as
    `errors="replace"` does it.

    >>> decode([2, 0, 1, 0], [b"\\xc3", b"\\xb1", b"ni"])
    'niñ\N{REPLACEMENT CHARACTER}'

    Args:
        ids: tokens, any iterable of int.
        table: the bytes of each token.

    Returns:
        a str.

    Source: `tiktoken/core.py` of tiktoken, `Encoding.decode`.
    """
    return b"".join(table[token] for token in ids).decode(errors="replace")


class Tokenizer:
    """Text to tokens and back. The last token, `end`, ends a text; no text encodes to it. Its byte is a new line."""

    def __init__(self, merges: Iterable[Pair]):
        self.merges = [(int(a), int(b)) for a, b in merges]
        self.ranks = {pair: 256 + k for k, pair in enumerate(self.merges)}
        self.bytes = [bytes([byte]) for byte in range(256)]
        for a, b in self.merges:
            self.bytes.append(self.bytes[a] + self.bytes[b])
        self.end = len(self.bytes)
        self.bytes.append(b"\n")
        self._known: dict[str, tuple[int, ...]] = {}

    def __len__(self) -> int:
        return len(self.bytes)

    def encode(self, text: str) -> list[int]:
        """The tokens of a text, piece after piece."""
        return [token for piece in pieces(text) for token in self._piece(piece)]

    def _piece(self, piece: str) -> tuple[int, ...]:
        if piece not in self._known:
            self._known[piece] = apply_merges(piece.encode(), self.ranks)
        return self._known[piece]

    def decode(self, ids: Iterable[int]) -> str:
        """The text of tokens. `end` is a new line. Bytes that are no UTF-8 become U+FFFD, as a model may choose any token."""
        return decode(ids, self.bytes)


# Words as tokens -----------------------------------------------------------------------------------------------------


def encode_words(text: str, ids: Mapping[str, int]) -> list[int]:
    """The tokens of a text whose words and marks are whole tokens, such as the 600 verb forms of `grammar.ids`.

    A word or a mark is a piece of the text, as `pieces` makes them, without the space at its front. White space is no token. All
    words and marks that are not in `ids` become the same token, `len(ids)`.

    >>> encode_words("yesterday she walked", {"she": 0, "walked": 1})
    [2, 0, 1]

    Args:
        text: a str.
        ids: the tokens of the known words, 0 to `len(ids)` - 1, in any order. It does not change.

    Returns:
        a list of tokens.

    Source: `torchtext/vocab/vocab.py` of torchtext, `Vocab.lookup_indices`.
    """
    words = [piece.strip() for piece in pieces(text)]
    return [ids.get(word, len(ids)) for word in words if word]


# How good a model of these tokens is ---------------------------------------------------------------------------------


def perplexity_and_bits(
    losses: Sequence[float], targets: Sequence[int], table: Sequence[bytes], ignore_index: int = -100
) -> tuple[float, float]:
    """The perplexity of a model, and the bits that it needs for a byte of the text.

    The perplexity is e to the power of the mean loss. It depends on the tokens: of two equally good models, the one with the
    longer tokens has the greater perplexity. The bits per byte do not depend on them: they are the sum of the losses, in bits
    instead of nats, divided by the number of bytes of all targets. A bit is ln 2 nats. Positions whose target is `ignore_index`
    do not count, whatever their loss.

    >>> perplexity_and_bits([math.log(2), math.log(8), 9.0], [1, 0, -100], [b"a", b"she"])
    (4.0, 1.0)

    Args:
        losses: for each position the loss in nats: minus the natural logarithm of the target's probability.
        targets: for each position its target, a token or `ignore_index`. At least one is a token.
        table: the bytes of each token.

    Returns:
        a tuple of two floats.

    Source: `torch/nn/functional.py`, `cross_entropy`.
    """
    counted = [(loss, len(table[target])) for loss, target in zip(losses, targets) if target != ignore_index]
    total = sum(loss for loss, _ in counted)
    return math.exp(total / len(counted)), total / math.log(2) / sum(length for _, length in counted)


# Further -------------------------------------------------------------------------------------------------------------


def train_incremental(words: MutableSequence[tuple[int, ...]], times: Sequence[int], count: int) -> list[Pair]:
    """The merges of `train`, without counting all pairs again in each round.

    A merge changes only the pieces that have its pair. So keep the counts, and for each pair the positions of the pieces that have
    it. In a round, take out the pairs of these pieces, merge, and add their new pairs. The choice of a pair is as in `train`.

    There is a promise of cost: `words[i]` is read at most once at the start, and at most once for each merge that changes
    piece i. The check counts the reads, also those of a loop or a copy.

    >>> words = [(1, 2, 3), (1, 2), (2, 3)]
    >>> train_incremental(words, [1, 2, 3], 2)
    [(2, 3), (1, 2)]
    >>> words
    [(1, 256), (257,), (256,)]

    Args:
        words: the pieces, tuples of tokens. Afterwards it has the merged pieces, at the same positions.
        times: how often each piece occurs, 1 or more.
        count: the most merges, 0 or more.

    Returns:
        a list of pairs, tuples of two tokens, in the order of their rounds.

    Source: `tokenizers/src/models/bpe/trainer.rs` of tokenizers, `BpeTrainer::do_train`.
    """
    counts, places = Counter(), {}
    for i, word in enumerate(words):
        for pair in pairwise(word):
            counts[pair] += times[i]
            places.setdefault(pair, set()).add(i)
    merges = []
    for new in range(256, 256 + count):
        repeated = [pair for pair in counts if counts[pair] > 1]
        if not repeated:
            break
        best = min(repeated, key=lambda candidate: (-counts[candidate], candidate))
        merges.append(best)
        for i in places[best].copy():
            word = words[i]
            merged = words[i] = merge(word, best, new)
            for pair in pairwise(word):
                counts[pair] -= times[i]
                places[pair].discard(i)
            for pair in pairwise(merged):
                counts[pair] += times[i]
                places.setdefault(pair, set()).add(i)
    return merges


def encode_special(
    text: str,
    encode: Callable[[str], Iterable[int]],
    special_tokens: Mapping[str, int],
    allowed_special: Collection[str] = (),
    disallowed_special: Collection[str] | str = "all",
) -> list[int]:
    """The tokens of a text in which some special tokens may be written out, such as `<|endoftext|>`.

    A special token that is allowed becomes its one token wherever its name is in the text. All else goes through `encode`, part by
    part, and empty parts do not. Of two names that overlap, the one that begins first counts, and of two that begin at the same
    position the longer one. A text of a user must not contain the name of a special token by mistake, or by intent. So a name that
    is disallowed is an error. A name that is neither allowed nor disallowed is text like any other.

    >>> encode_special("hi<|end|>", str.encode, {"<|end|>": 300}, allowed_special={"<|end|>"})
    [104, 105, 300]
    >>> encode_special("hi<|end|>", str.encode, {"<|end|>": 300})
    Traceback (most recent call last):
    ValueError: the text has the special token '<|end|>', which is not allowed here

    Args:
        text: a str.
        encode: a function from a text to its tokens, any iterable of int.
        special_tokens: names, which are not empty, with their tokens.
        allowed_special: the names that become tokens, a set, a list or a tuple. It does not change.
        disallowed_special: the names that are errors, or "all": all names that are not allowed.

    Returns:
        a list of tokens.

    Raises:
        ValueError: the text has a name that is disallowed, even one that is also allowed.

    Source: `tiktoken/core.py` of tiktoken, `Encoding.encode`.
    """
    if disallowed_special == "all":
        disallowed_special = special_tokens.keys() - allowed_special
    for name in disallowed_special:
        if name in text:
            raise ValueError(f"the text has the special token {name!r}, which is not allowed here")
    names = sorted(allowed_special, key=len, reverse=True)
    ids = []
    for part in re.split(f"({'|'.join(map(re.escape, names))})", text) if names else [text]:
        ids += [special_tokens[part]] if part in allowed_special else encode(part) if part else []
    return ids


def batches_by_length(lengths: Sequence[int], budget: int) -> list[list[int]]:
    """The positions of rows in batches, so that rows of similar lengths are together and little is padded.

    Rows are taken by length, the shortest first, and of equal lengths the earlier one. In a batch all rows are padded to the
    longest. A batch takes the next row if the tokens of all its rows, padding included, are then still at most `budget`.
    Otherwise the row begins the next batch. A row that is longer than `budget` is a batch of its own.

    >>> batches_by_length([5, 2, 3, 2], budget=6)
    [[1, 3], [2], [0]]

    Args:
        lengths: how many tokens each row has, 1 or more.
        budget: the most tokens of a batch of several rows.

    Returns:
        a list of lists of positions in `lengths`.

    Source: `fairseq/data/data_utils_fast.pyx` of fairseq, `batch_by_size_vec`.
    """
    batches = []
    for i in sorted(range(len(lengths)), key=lambda i: lengths[i]):
        if batches and (len(batches[-1]) + 1) * lengths[i] <= budget:
            batches[-1].append(i)
        else:
            batches.append([i])
    return batches
