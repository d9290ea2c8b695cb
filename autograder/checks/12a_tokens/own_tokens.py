"""Lab 12a, all pieces together: a tokenizer that is trained on sentences of the corpus, and encodes others."""

from __future__ import annotations

from ...engine.check import program
from ..cases import drawn, rows, several
from .tokens import _text, encoded, merges_of

STRANGE = [*"ab ñ¿.\n_", "é", "日", "🙂", "\u0301", "wug", " they"]


@program(
    "together.tokens",
    cases=drawn(first=(0, 4000), sentences=(1, 20), count=(1, 40), texts=several(_text(STRANGE), 1, 3), length=(4, 40)),
    edges=rows("first sentences count texts length", *(
        (0, 1, 3, ["they dance."], 8), (0, 12, 40, ["¿ellas bailan?", "🙂 wug"], 30), (700, 60, 120, ["the tired doctor", ""], 24),
    )),
    draws=12,
)  # fmt: skip
def own(rl, first, sentences, count, texts, length):
    """Merges from some sentences, and a tokenizer of them for others: its tokens, the way back, and rows."""
    tokens, corpus = rl.course.tokens, rl.course.corpus
    lines = [line.text for line in corpus.split("train")[first : first + sentences]]
    merges = tokens.train("\n".join(lines), count)
    tokenizer = tokens.Tokenizer(merges)
    unseen = [line.text for line in corpus.split("validation")[first % 300 :][:3]] + [*texts]
    known = {word: i for i, word in enumerate(dict.fromkeys(" ".join(lines).split()))}
    inputs, targets = rl.course.training.rows(unseen, tokenizer, length)
    return {
        "merges": merges,
        "size": len(tokenizer),
        "tokens": [tokenizer.encode(text) for text in unseen],
        "round trip": [tokenizer.decode(tokenizer.encode(text)) for text in unseen],
        "words": [tokens.encode_words(text, known) for text in unseen],
        "rows": [inputs.tolist(), targets.tolist()],
    }


@own.oracle
def _(torch, first, sentences, count, texts, length):
    import re

    from rushlight.course import corpus

    lines = [line.text for line in corpus.split("train")[first : first + sentences]]
    merges = merges_of("\n".join(lines), count)
    unseen = [line.text for line in corpus.split("validation")[first % 300 :][:3]] + [*texts]
    tokens, end = [encoded(text, merges) for text in unseen], 256 + len(merges)
    known = [*dict.fromkeys(" ".join(lines).split())]
    words = [re.findall(r"[^\W_]+|(?:[^\w\s]|_)+", text) for text in unseen]
    kept = [[*row, end] for row in tokens if len(row) < length]
    return {
        "merges": merges,
        "size": end + 1,
        "tokens": tokens,
        "round trip": unseen,
        "words": [[known.index(word) if word in known else len(known) for word in line] for line in words],
        "rows": [
            [[end, *row[:-1], *[end] * (length - len(row))] for row in kept],
            [[*row, *[-100] * (length - len(row))] for row in kept],
        ],
    }
