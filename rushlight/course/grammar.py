"""Six hundred verb forms, English and Spanish, made by rule, and sentences whose next word is one of them.

28 meanings, each a regular verb of both languages. An English verb has 4 forms. A Spanish verb has 6 persons in 3 tenses, and
the -ar and -ir verbs have two equal forms (`hablamos`, `vivimos`): 28 x 4 + 16 x 17 + 12 x 18 = 600 tokens. A sentence gives
the verb and the words that determine its form, as a textbook does: "(walk) yesterday she", and "walked" comes next. Its 64
features are what a small transformer, trained on these and longer sentences, gives to its last layer, the head `Linear(64, 600)`.
They and the weights of the head are in `head.npz`, made by `rushlight.course.head`. Everything is numpy, so rushlight and torch get
the same arrays.
"""

import tomllib
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

FEATURES = 64

WORDS = tomllib.loads(Path(__file__).with_name("words.toml").read_text(encoding="utf-8"))
VERBS = tuple((english, spanish) for english, spanish in WORDS["verbs"])

PRONOUNS = {
    "en": ("I", "you", "she", "we", "you two", "they"),
    "es": ("yo", "tú", "ella", "nosotros", "vosotros", "ellas"),
}
TIMES = {
    "en": {"present": "every day", "past": "yesterday", "future": "tomorrow", "progressive": "now"},
    "es": {"present": "hoy", "past": "ayer", "future": "mañana"},
}
TENSES = {language: tuple(times) for language, times in TIMES.items()}
BE = ("am", "are", "is", "are", "are", "are")

# Conjugation ---------------------------------------------------------------------------------------------------------

ENDINGS = {  # Spanish, by tense and class of the verb: one for each person
    "present": {"ar": "o as a amos áis an", "er": "o es e emos éis en", "ir": "o es e imos ís en"},
    "past": {"ar": "é aste ó amos asteis aron"} | dict.fromkeys(("er", "ir"), "í iste ió imos isteis ieron"),
    "future": dict.fromkeys(("ar", "er", "ir"), "é ás á emos éis án"),
}


def spanish(verb: str, tense: str, person: int) -> str:
    """The form of a regular verb, person 0 to 5; the past is the preterite. The future is the infinitive with an ending."""
    stem = verb if tense == "future" else verb[:-2]
    return stem + ENDINGS[tense][verb[-2:]].split()[person]


def english(verb: str, tense: str, person: int) -> str:
    """The form of a regular verb that follows the pronoun and, in the future and the progressive, its auxiliary."""
    if tense in ("past", "progressive"):
        return _with_suffix(verb, "ed" if tense == "past" else "ing")
    if tense == "future" or person != 2:
        return verb
    if verb.endswith(("s", "x", "z", "ch", "sh", "o")):
        return verb + "es"
    return verb[:-1] + "ies" if _ends_in_consonant_and_y(verb) else verb + "s"


def _with_suffix(verb: str, suffix: str) -> str:
    """Append -ed or -ing. A silent e is dropped, y after a consonant becomes i, a short syllable doubles its consonant."""
    if verb.endswith("e") and not verb.endswith("ee"):
        return verb[:-1] + suffix
    if suffix == "ed" and _ends_in_consonant_and_y(verb):
        return verb[:-1] + "ied"
    vowels = [letter in "aeiou" for letter in verb]
    is_short = sum(vowels) == 1 and vowels[-2] and verb[-1] not in "wxy"  # stop, sip
    return verb + (verb[-1] if is_short else "") + suffix


def _ends_in_consonant_and_y(verb: str) -> bool:
    return verb[-1] == "y" and verb[-2] not in "aeiou"


# Sentences -----------------------------------------------------------------------------------------------------------


class Sentence(NamedTuple):
    """A sentence without its last word: `language` is "en" or "es", `verb` an index of `VERBS`, `person` 0 to 5."""

    language: str
    verb: int
    tense: str
    person: int

    @property
    def text(self) -> str:
        """The text: the verb in brackets, an adverb of time, the pronoun, an auxiliary where English has one."""
        english, spanish = VERBS[self.verb]
        time, pronoun = TIMES[self.language][self.tense], PRONOUNS[self.language][self.person]
        if self.language == "es":
            return f"({spanish}) {time} {pronoun}"
        auxiliary = {"future": " will", "progressive": f" {BE[self.person]}"}.get(self.tense, "")
        return f"({english}) {time} {pronoun}{auxiliary}"

    @property
    def next_token(self) -> str:
        """The word that comes next."""
        conjugate, verb = (english, 0) if self.language == "en" else (spanish, 1)
        return conjugate(VERBS[self.verb][verb], self.tense, self.person)


SENTENCES = [
    Sentence(language, verb, tense, person)
    for language in ("en", "es")
    for verb in range(len(VERBS))
    for tense in TENSES[language]
    for person in range(6)
]  # 28 x 4 x 6 English ones and 28 x 3 x 6 Spanish ones: 1176

tokens: list[str] = list(dict.fromkeys(sentence.next_token for sentence in SENTENCES))
"""The vocabulary: a token's id is its index. English first, then Spanish, verb after verb."""

ids: dict[str, int] = {token: i for i, token in enumerate(tokens)}

EXAMPLES = [
    Sentence("en", 2, "past", 2), Sentence("en", 6, "present", 2), Sentence("en", 7, "progressive", 5),
    Sentence("es", 0, "past", 0), Sentence("es", 10, "present", 3), Sentence("es", 22, "future", 5),
]  # fmt: skip
"""Sentences to show before and after training."""

# Arrays --------------------------------------------------------------------------------------------------------------


@cache  # the file is read when it is first needed, and not by `import rushlight`
def _trained() -> dict[str, np.ndarray]:
    """The arrays of `head.npz` in float32: `weight` (600, 64), `bias` (600,), and `hidden` (1176, 64), a row for each sentence."""
    with np.load(Path(__file__).with_name("head.npz")) as file:
        return {name: file[name].astype(np.float32) for name in ("weight", "bias", "hidden")}


@cache
def _rows() -> dict[Sentence, int]:
    return {sentence: i for i, sentence in enumerate(SENTENCES)}


def features(sentences: Sequence[Sentence]) -> np.ndarray:
    """(sentences, 64), float32: the hidden states of a trained transformer at the last word of each sentence, one of `SENTENCES`.

    They are the result of its last LayerNorm, so the 64 numbers of a sentence have mean 0 and variance 1. No single one has a
    meaning, but a linear map of all of them, the head, finds the next word. Each has 11 significant bits, as in float16.
    """
    return _trained()["hidden"][[_rows()[sentence] for sentence in sentences]]


def targets(sentences: Sequence[Sentence]) -> np.ndarray:
    """(sentences,), int64: the id of the token that comes next."""
    return np.array([ids[sentence.next_token] for sentence in sentences], dtype=np.int64)


def corpus() -> tuple[np.ndarray, np.ndarray]:
    """Features and targets of all sentences: (1176, 64) and (1176,)."""
    return features(SENTENCES), targets(SENTENCES)


def batches(steps: int, batch_size: int = 32) -> tuple[np.ndarray, np.ndarray]:
    """The batches of a training run: features (steps, batch_size, 64) and targets (steps, batch_size).

    The order of the sentences looks mixed and is always the same: the next index is 605 further, modulo 1176. 605 and 1176
    have no common divisor, so each sentence comes once before one comes again.
    """
    order = np.arange(steps * batch_size) * 605 % len(SENTENCES)
    all_features, all_targets = corpus()
    return all_features[order].reshape(steps, batch_size, FEATURES), all_targets[order].reshape(steps, batch_size)


def likeliest(scores: np.ndarray, count: int = 3) -> list[list[str]]:
    """For each row of scores (sentences, 600): the tokens of the `count` highest scores, the highest first."""
    best = np.argsort(-np.asarray(scores), axis=-1, kind="stable")[:, :count]
    return [[tokens[i] for i in row] for row in best]


def trained_head(xp):
    """The head `Linear(64, 600)` of the transformer that made the features, with its weights. `xp` is rushlight or torch."""
    head = xp.nn.Linear(FEATURES, len(tokens))
    head.load_state_dict({name: xp.from_numpy(_trained()[name]) for name in ("weight", "bias")})
    return head
