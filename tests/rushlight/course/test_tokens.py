"""The course's tokenizer: 600 tokens, any text there and back, and what the corpus becomes."""

import random
from collections import Counter

import numpy as np
import pytest
import torch

from rushlight.course import corpus, tokens
from rushlight.course.training import IGNORED, rows


@pytest.fixture(scope="module")
def text():
    return "\n".join(line.text for line in corpus.split("train"))


@pytest.fixture(scope="module")
def learned(text):
    """The merges that the corpus gives, by the trainer that keeps its counts."""
    times = Counter(tuple(piece.encode()) for piece in tokens.pieces(text))
    return tokens.train_incremental([*times], [*times.values()], 343)


@pytest.fixture(scope="module")
def tokenizer(learned):
    return tokens.Tokenizer(learned)


def random_texts(count):
    chosen = random.Random(5)
    alphabet = [*"abcxyz ñé¿?.,_\n\t0159", "日", "本", "🙂", "\u0301", "\u00a0", "\x00", " they", "walked"]
    return ["".join(chosen.choices(alphabet, k=chosen.randrange(30))) for _ in range(count)]


def test_the_corpus_gives_600_tokens(tokenizer):
    assert len(tokenizer) == len(tokenizer.bytes) == 600
    assert len(set(tokenizer.bytes[:-1])) == 599  # the end of a text has the byte of a new line
    assert tokenizer.end == 599


def test_any_text_comes_back(tokenizer):
    lines = [line.text for line in corpus.LINES]
    for text in [*random_texts(500), *lines[::7]]:
        assert tokenizer.decode(tokenizer.encode(text)) == text
        assert tokenizer.end not in tokenizer.encode(text)


def test_the_pieces_of_any_text_are_the_text():
    for text in random_texts(2000):
        found = tokens.pieces(text)
        assert "".join(found) == text
        assert all(found)


def test_no_token_crosses_from_one_piece_into_the_next(tokenizer):
    assert all(len(tokens.pieces(each.decode(errors="ignore"))) <= 1 for each in tokenizer.bytes)


def test_merges_in_their_order_are_those_of_the_earliest_that_fits(tokenizer):
    for piece in {piece for line in corpus.split("validation") for piece in tokens.pieces(line.text)}:
        ids = tuple(piece.encode())
        for pair, new in tokenizer.ranks.items():
            ids = tokens.merge(ids, pair, new)
        assert tokens.apply_merges(piece.encode(), tokenizer.ranks) == ids


@pytest.mark.sweep
@pytest.mark.parametrize("count", [343, 40])
def test_a_trainer_that_keeps_its_counts_learns_the_same_merges(text, learned, count):
    assert tokens.train(text, count) == learned[:count]  # a merge depends on those before it alone


def test_a_position_has_seen_nothing_of_its_target(tokenizer):
    texts = [line.text for line in corpus.split("validation")[:50]]
    inputs, targets = rows(texts, tokenizer, 48)
    assert inputs.shape == targets.shape == (50, 48)
    for row, aims, text in zip(inputs, targets, texts):
        kept = aims[aims != IGNORED]
        assert tokenizer.decode(kept) == text + "\n"
        assert row[0] == tokenizer.end
        np.testing.assert_array_equal(row[1 : len(kept)], kept[:-1])


def test_bits_per_byte_do_not_depend_on_the_tokens():
    """A model to which all bytes are equally likely, of bytes and of pairs of bytes."""
    log = torch.tensor(256.0, dtype=torch.float64).log().item()
    single = tokens.perplexity_and_bits([log] * 6, [97] * 6, [bytes([i]) for i in range(256)])
    double = tokens.perplexity_and_bits([2 * log] * 3, [0] * 3, [b"aa"])
    assert single == pytest.approx((256, 8))
    assert double == pytest.approx((65536, 8))


def test_ordinary_text_cannot_become_a_special_token(tokenizer):
    names = {"<|end|>": tokenizer.end}
    with pytest.raises(ValueError, match=r"<\|end\|>"):
        tokens.encode_special("yes <|end|>", tokenizer.encode, names)
    found = tokens.encode_special("yes <|end|>", tokenizer.encode, names, disallowed_special=())
    assert tokenizer.end not in found
    assert tokenizer.decode(found) == "yes <|end|>"
