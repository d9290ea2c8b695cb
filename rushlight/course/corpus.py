"""The text that the MiniGPT learns: sentences in English and Spanish, made by rule from the words in `words.toml`.

Each sentence names its verb in brackets, then uses a form of it, as a textbook does: "(open) the doors? yesterday she opened
them." Which form is right depends on words before it, some of them far away: the person, the number of a subject, the adverb that
tells the tense, an auxiliary, a question. Spanish articles, adjectives and pronouns agree in gender and number. The verbs are those
of `grammar`, irregular ones, and others, so that a rule is shorter than a list. The verbs of `HELD_OUT` are in no sentence for
training. A model that conjugates them has learned the rule.

`invented` makes sentences with verbs that do not exist: "(zlig) yesterday she zligged." Each sentence has a verb of its own, so
the model must copy the stem from the brackets. Jean Berko asked children for the plural of "wug" in 1958, for the same reason.
"""

import math
import random
from collections.abc import Iterator
from typing import NamedTuple

from rushlight.course import grammar
from rushlight.course.grammar import BE, PRONOUNS, TENSES, TIMES, WORDS

# Nouns ---------------------------------------------------------------------------------------------------------------


class Noun(NamedTuple):
    """A noun in both languages, singular and plural, and its Spanish gender, "m" or "f"."""

    english: str
    english_plural: str
    spanish: str
    spanish_plural: str
    gender: str

    def phrase(self, language: str, plural: bool) -> str:
        """The noun with its definite article."""
        if language == "en":
            return f"the {self.english_plural if plural else self.english}"
        article = {"m": ("el", "los"), "f": ("la", "las")}[self.gender][plural]
        return f"{article} {self.spanish_plural if plural else self.spanish}"

    def pronoun(self, language: str, plural: bool) -> str:
        """The pronoun that replaces the noun as a direct object."""
        if language == "en":
            singular = {"m": "him", "f": "her"}[self.gender] if self in PEOPLE.values() else "it"
            return "them" if plural else singular
        return {"m": ("lo", "los"), "f": ("la", "las")}[self.gender][plural]


PEOPLE, THINGS = ({row[0]: Noun(*row) for row in WORDS[kind]} for kind in ("people", "things"))

# Verbs ---------------------------------------------------------------------------------------------------------------


class Use(NamedTuple):
    """The objects of some verbs: one of these nouns, or none. `english` and `spanish` are the prepositions before it."""

    nouns: str
    english: str
    spanish: str
    verbs: str  # English and Spanish in turn


USES = tuple(Use(**use) for use in WORDS["uses"])
IRREGULAR: dict[str, list[str]] = WORDS["irregular"]
"""English: its past. Spanish: its present, its past and the stem of its future, where no rule makes them."""

STATES = {"depend", "fear", "owe", "need", "love", "hate", "envy"}
"""The English verbs without a progressive."""


class Verb(NamedTuple):
    """A verb in both languages and what follows it. `number` is its index in `VERBS`, or -1 for one that is invented."""

    number: int
    english: str
    spanish: str
    use: Use

    def infinitive(self, language: str) -> str:
        return self.english if language == "en" else self.spanish

    def form(self, language: str, tense: str, person: int) -> str:
        """The form that follows the pronoun and an auxiliary. Persons are 0 to 5."""
        past, *parts = IRREGULAR.get(self.english if self.number >= 0 else "", ("", "", "", ""))
        if language == "en":
            return past if past and tense == "past" else grammar.english(self.english, tense, person)
        irregular = dict(zip(TENSES["es"], parts))[tense].split()
        if tense == "future" and irregular:
            return irregular[0] + grammar.ENDINGS["future"]["ar"].split()[person]
        return irregular[person] if irregular else grammar.spanish(self.spanish, tense, person)


def _verbs() -> Iterator[Verb]:
    uses = {pair: use for use in USES for pair in zip(*[iter(use.verbs.split())] * 2)}
    for number, pair in enumerate([*grammar.VERBS, *(pair for pair in uses if pair not in grammar.VERBS)]):
        yield Verb(number, *pair, uses[pair])


VERBS = list(_verbs())
"""All verbs that exist, 205, those of `grammar` first."""

HELD_OUT = [verb.number for verb in VERBS if verb.english in WORDS["held_out"]]
"""The verbs for validation, as indices of `VERBS`. All are regular."""

# Sentences -----------------------------------------------------------------------------------------------------------

ADJECTIVES = (("kind", "simpátic"), ("tall", "alt"), ("quiet", "callad"))  # the Spanish ones without their ending
KINDS = ("pronoun", "object", "negation", "reference", "question", "subject")
# The person who is asked about, when person 0 to 5 is in the answer: "did you walk? yes, I walked".
_ANSWERS = (1, 0, 2, 4, 3, 5)


class Line(NamedTuple):
    """A sentence in three parts: what comes before a form of its verb, the form, and the rest.

    `verb` is the verb's `number`, and `kind`, one of `KINDS`, says how the sentence is built.
    """

    language: str
    verb: int
    kind: str
    before: str
    form: str
    after: str

    @property
    def text(self) -> str:
        return self.before + self.form + self.after


class Object(NamedTuple):
    """The object of a verb: the phrase, or the pronoun that replaces it, before the verb (a Spanish clitic) or after it."""

    phrase: str = ""
    clitic: str = ""
    pronoun: str = ""


def _object(language: str, use: Use, choice: int) -> Object:
    """The object of a verb, one of its nouns in one of the two numbers. It is empty for a verb that takes none."""
    if not use.nouns:
        return Object()
    names = use.nouns.split()
    name = names[choice % len(names)]
    nouns = PEOPLE | THINGS
    noun = nouns.get(name) or next(noun for noun in nouns.values() if noun.english_plural == name)
    plural = name == noun.english_plural or choice // len(names) % 2 == 1
    preposition = use.english if language == "en" else use.spanish
    phrase = _words(preposition, noun.phrase(language, plural))
    if use.english == "in":
        return Object(phrase, "", "there" if language == "en" else "allí")
    if language == "en":
        return Object(phrase, "", _words(preposition, noun.pronoun("en", plural)))
    if use.spanish == "de":
        return Object(phrase, "", "de " + {"m": ("él", "ellos"), "f": ("ella", "ellas")}[noun.gender][plural])
    return Object(phrase, noun.pronoun("es", plural))


def _words(*words: str) -> str:
    """The words with spaces between them. Spanish joins two of its prepositions with the article `el`."""
    text = " " + " ".join(filter(None, words))
    return text.replace(" a el ", " al ").replace(" de el ", " del ")[1:]


def auxiliary(tense: str, person: int) -> str:
    """The English word that a question begins with, and that a negation has before "not"."""
    if tense == "present":
        return "does" if person == 2 else "do"
    return {"past": "did", "future": "will"}.get(tense) or BE[person]


def _english(verb: Verb, kind: str, tense: str, person: int, subject: str, thing: Object) -> Line:
    shape, base, helper = verb.form("en", tense, person), verb.english, auxiliary(tense, person)
    time, said, last = TIMES["en"][tense], "" if tense in ("present", "past") else helper, thing.phrase
    if kind == "question":
        asked = _ANSWERS[person]
        inner = shape if tense == "progressive" else base
        question = _words(auxiliary(tense, asked), PRONOUNS["en"][asked], inner, thing.phrase, time)
        before, last = _words(f"{question}? yes,", subject, said), thing.pronoun
    elif kind == "negation":
        before = _words(time, subject, helper, "not")
        shape = shape if said else base
    elif kind == "reference":
        before, last = _words(f"{thing.phrase}?", time, subject, said), thing.pronoun
    else:
        before = _words(time, subject, said)
    return Line("en", verb.number, kind, f"({base}) {before} ", shape, f" {last}." if last else ".")


def _spanish(verb: Verb, kind: str, tense: str, person: int, subject: str, thing: Object) -> Line:
    shape, base, time, last = verb.form("es", tense, person), verb.spanish, TIMES["es"][tense], thing.phrase
    if kind == "question":  # the forms say who it is
        question = _words(verb.form("es", tense, _ANSWERS[person]), thing.phrase, time)
        before, last = _words(f"¿{question}? sí,", thing.clitic), thing.pronoun
    elif kind == "reference":
        before, last = _words(f"¿{thing.phrase}?", time, subject, thing.clitic), thing.pronoun
    else:
        before = _words(time, subject, "no" if kind == "negation" else "")
    return Line("es", verb.number, kind, f"({base}) {before} ", shape, f" {last}." if last else ".")


def _subject(language: str, choice: int, plural: bool, near: bool) -> str:
    """A person or several, described by another or several others, whose number is that of no verb."""
    people = [*PEOPLE.values()]
    who, other = people[choice % 4], people[(choice + 1 + choice // 4 % 3) % 4]
    english, spanish = ADJECTIVES[choice % 3]
    if language == "en":
        return f"{who.phrase('en', plural).replace('the', f'the {english}')} of {other.phrase('en', near)}"
    ending = {"m": "o", "f": "a"}[who.gender] + ("s" if plural else "")
    return _words(who.phrase("es", plural), spanish + ending, "de", other.phrase("es", near))


_KINDS = {False: ("pronoun",) * 3, True: ("object",) * 3 + ("reference",) * 2}


def _sentence(language: str, verb: Verb, kind: str, tense: str, person: int, choice: int) -> Line:
    """The sentence of a kind. `choice`, at least 0, chooses the nouns. A long subject has person 2 or 5."""
    subject = PRONOUNS[language][person]
    if kind == "subject":
        subject = _subject(language, choice, person == 5, choice % 2 == 1)
    sentence = _english if language == "en" else _spanish
    return sentence(verb, kind, tense, person, subject, _object(language, verb.use, choice))


def lines_of(language: str, verb: Verb) -> Iterator[Line]:
    """All sentences of a verb."""
    kinds = ("object", "negation", "reference", "question") if verb.use.nouns else ("pronoun", "negation", "question")
    for number, tense in enumerate(TENSES[language][: 3 if verb.english in STATES else None]):
        for person in range(6):
            for k, kind in enumerate(kinds):
                choice = verb.number + person + 3 * number
                # a third of the negations, so that after a subject a form is likelier than "not"
                if kind != "negation" or (verb.number + person + number) % 3 == 0:
                    yield _sentence(language, verb, kind, tense, person, choice + k)
            for near in (0, 1) if person in (2, 5) else ():
                choice = 2 * (verb.number + person + 3 * number) + near
                yield _sentence(language, verb, "subject", tense, person, choice)


LINES = [line for language in TENSES for verb in VERBS for line in lines_of(language, verb)]
"""All sentences of the verbs that exist, in the order in which they are made."""


def split(name: str) -> list[Line]:
    """The sentences "train" or "validation", in an order that looks mixed and is always the same."""
    lines = [line for line in LINES if (line.verb in HELD_OUT) == (name == "validation")]
    return [lines[i] for i in mixed(len(lines))]


def mixed(count: int) -> list[int]:
    """The numbers below `count` in an order that looks mixed: with a step that has no common divisor with `count`."""
    step = next(step for step in range(618 * count // 1000, count) if math.gcd(step, count) == 1)
    return [step * i % count for i in range(count)]


# Invented verbs ------------------------------------------------------------------------------------------------------


def _stem(language: str, numbers: random.Random) -> str:
    one, more = [[part.split() for part in parts] for parts in WORDS["sounds"][language]]
    pick = lambda items: items[int(numbers.random() * len(items))]  # noqa: E731
    if numbers.random() < 0.3:
        return "".join(map(pick, one))
    first, vowels, inside, last = more
    middle = [pick(inside) + pick(vowels[:5]) for _ in range(1 + int(numbers.random() * 1.5))]
    return "".join([pick(first), pick(vowels), *middle, pick(last)])


def invented(count: int, seed: int = 0) -> list[Line]:
    """Sentences in English and Spanish in turn, each with another verb that does not exist. They are always the same."""
    numbers, known = random.Random(seed), {word for verb in VERBS for word in (verb.english, verb.spanish)}
    below = lambda end: int(numbers.random() * end)  # noqa: E731
    lines: list[Line] = []
    while len(lines) < count:
        language = ("en", "es")[len(lines) % 2]
        infinitive = _stem(language, numbers) + ("" if language == "en" else ("ar", "ar", "er", "ir")[below(4)])
        if infinitive in known:
            continue
        known.add(infinitive)
        use = USES[below(len(USES)) * below(2)]
        verb = Verb(-1, infinitive, infinitive, use)
        kinds = (*_KINDS[bool(use.nouns)], "question", "question", "subject", "subject", "negation")
        kind = kinds[below(len(kinds))]
        tense = TENSES[language][below(len(TENSES[language]))]
        person = (2, 5)[below(2)] if kind == "subject" else below(6)
        lines.append(_sentence(language, verb, kind, tense, person, below(1000)))
    return lines
