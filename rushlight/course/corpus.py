"""The text that the MiniGPT learns: sentences in English and Spanish around the verbs of `grammar` and 11 irregular ones, by rule.

Each sentence names its verb in brackets, then uses a form of it, as a textbook does: "(open) the doors? yesterday she opened
them." Which form is right depends on words before it, some of them far away: the person, the number of a subject, the adverb that
tells the tense, an auxiliary. Spanish articles, adjectives and pronouns agree in gender and number. The verbs of `HELD_OUT` are in
no sentence for training. A model that conjugates them has learned a rule, and no list.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

from rushlight.course import grammar
from rushlight.course.grammar import PRONOUNS, TENSES, VERBS

# Verbs ---------------------------------------------------------------------------------------------------------------

IRREGULAR = {  # English: its past; Spanish, then its present, its past and the stem of its future, where no rule makes them
    "go": ("went", "ir", "voy vas va vamos vais van", "fui fuiste fue fuimos fuisteis fueron", ""),
    "see": ("saw", "ver", "veo ves ve vemos veis ven", "vi viste vio vimos visteis vieron", ""),
    "come": (
        "came", "venir", "vengo vienes viene venimos venís vienen", "vine viniste vino vinimos vinisteis vinieron", "vendr",
    ),
    "sleep": (
        "slept", "dormir", "duermo duermes duerme dormimos dormís duermen",
        "dormí dormiste durmió dormimos dormisteis durmieron", "",
    ),
    "read": ("read", "leer", "leo lees lee leemos leéis leen", "leí leíste leyó leímos leísteis leyeron", ""),
    "think": ("thought", "pensar", "pienso piensas piensa pensamos pensáis piensan", "", ""),
    "make": (
        "made", "hacer", "hago haces hace hacemos hacéis hacen", "hice hiciste hizo hicimos hicisteis hicieron", "har",
    ),
    "eat": ("ate", "comer", "", "", ""),
    "write": ("wrote", "escribir", "", "", ""),
    "sing": ("sang", "cantar", "", "", ""),
    "buy": ("bought", "comprar", "", "", ""),
}  # fmt: skip

MEANINGS = [english for english, _ in VERBS] + list(IRREGULAR)
"""The English infinitives of all verbs, 39. A sentence's `verb` is an index of this list."""

HELD_OUT = [MEANINGS.index(verb) for verb in ("dance", "cook", "kiss", "answer", "fear", "lick", "join", "share")]
"""The verbs for validation. All are regular."""

_SPANISH = [spanish for _, spanish in VERBS] + [spanish for _, spanish, *_ in IRREGULAR.values()]


def infinitive(language: str, verb: int) -> str:
    return (MEANINGS if language == "en" else _SPANISH)[verb]


def form(language: str, verb: int, tense: str, person: int) -> str:
    """The form of a verb, regular or not, that follows the pronoun and an auxiliary. Persons are 0 to 5."""
    past, _, *parts = IRREGULAR.get(MEANINGS[verb], ("", "", "", "", ""))
    if language == "en":
        return past if past and tense == "past" else grammar.english(MEANINGS[verb], tense, person)
    irregular = dict(zip(TENSES["es"], parts))[tense].split()
    if tense == "future" and irregular:
        return irregular[0] + grammar.ENDINGS["future"]["ar"].split()[person]
    return irregular[person] if irregular else grammar.spanish(_SPANISH[verb], tense, person)


# Other words ---------------------------------------------------------------------------------------------------------


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


def _nouns(text: str) -> dict[str, Noun]:
    return {line.split()[0]: Noun(*line.split()) for line in text.strip().splitlines()}


PEOPLE = _nouns("""
    teacher teachers profesora profesoras f
    boy boys niño niños m
    doctor doctors médica médicas f
    neighbour neighbours vecino vecinos m
""")
PLACES = _nouns("""
    house houses casa casas f
    garden gardens jardín jardines m
    school schools escuela escuelas f
    tree trees árbol árboles m
""")
THINGS = _nouns("""
    letter letters carta cartas f
    book books libro libros m
    door doors puerta puertas f
    present presents regalo regalos m
    apple apples manzana manzanas f
    egg eggs huevo huevos m
    song songs canción canciones f
    film films película películas f
    soup soups sopa sopas f
""")
OBJECTS = {  # what a verb can be done to
    "cook": "egg soup", "watch": "film", "study": "book song", "learn": "song", "lick": "apple egg", "sip": "soup",
    "open": "letter book door present", "share": "apple book present soup", "receive": "letter book present",
    "see": "letter book door present apple egg film", "read": "letter book", "make": "soup present",
    "eat": "apple egg soup", "write": "letter book song", "sing": "song", "buy": "book present apple egg",
}  # fmt: skip
ADJECTIVES = (("tired", "cansad"), ("tall", "alt"), ("quiet", "callad"))  # the Spanish ones without their ending
TIMES = {
    "en": {"present": "every day", "past": "yesterday", "future": "tomorrow", "progressive": "now"},
    "es": {"present": "hoy", "past": "ayer", "future": "mañana"},
}

# Sentences -----------------------------------------------------------------------------------------------------------


class Line(NamedTuple):
    """A sentence in three parts: what stands before a form of its verb, the form, and the rest. `kind` says how it is built."""

    language: str
    verb: int
    kind: str
    before: str
    form: str
    after: str

    @property
    def text(self) -> str:
        return self.before + self.form + self.after


def _auxiliary(tense: str, person: int, negated: bool) -> tuple[str, bool]:
    """The English words between the subject and the verb, and whether the verb's form is its infinitive after them."""
    helper = {"future": "will", "progressive": ("am", "are", "is", "are", "are", "are")[person]}.get(tense, "")
    if negated and not helper:
        return f"{_do(tense, person)} not", True
    return f"{helper} not" if negated else helper, False


def _do(tense: str, person: int) -> str:
    return "did" if tense == "past" else "does" if person == 2 else "do"


def _line(
    language: str,
    verb: int,
    kind: str,
    tense: str,
    person: int,
    subject: str,
    *,
    first="",
    negated=False,
    pronoun="",
    last="",
) -> Line:
    """`first` stands before the adverb, `pronoun` before the Spanish verb, and `last` behind the verb."""
    if language == "en":
        middle, is_infinitive = _auxiliary(tense, person, negated)
    else:
        middle, is_infinitive = " ".join(filter(None, ["no" if negated else "", pronoun])), False
    shape = infinitive(language, verb) if is_infinitive else form(language, verb, tense, person)
    words = [f"({infinitive(language, verb)})", first, TIMES[language][tense], subject, middle]
    return Line(language, verb, kind, " ".join(filter(None, words)) + " ", shape, f" {last}." if last else ".")


def _with_pronouns(language: str, verb: int, tense: str, person: int) -> Iterator[Line]:
    """What can be said with a pronoun as the subject."""
    who, (singular, plural) = PRONOUNS[language][person], (False, True)
    yield _line(language, verb, "pronoun", tense, person, who)
    yield _line(language, verb, "negation", tense, person, who, negated=True)
    objects = OBJECTS.get(MEANINGS[verb], "").split()
    for number in (singular, plural) if objects else ():
        thing = THINGS[objects[(person + number) % len(objects)]]
        phrase = thing.phrase(language, number)
        yield _line(language, verb, "object", tense, person, who, last=phrase)
        if language == "en":
            it = "them" if number else "it"
            yield _line(language, verb, "reference", tense, person, who, first=f"{phrase}?", last=it)
        else:
            it = {"m": ("lo", "los"), "f": ("la", "las")}[thing.gender][number]
            yield _line(language, verb, "reference", tense, person, who, first=f"¿{phrase}?", pronoun=it)
    if tense == "progressive":
        return
    shape = form(language, verb, tense, person)
    if language == "en":
        do = "will" if tense == "future" else _do(tense, person)
        again = " will" if tense == "future" else ""
        before = f"({MEANINGS[verb]}) {do} {who} {MEANINGS[verb]}? yes, {who}{again} "
    else:
        before = f"({_SPANISH[verb]}) ¿{shape} {who} {TIMES['es'][tense]}? sí, {who} "
    yield Line(language, verb, "question", before, shape, ".")


def _with_nouns(language: str, verb: int, tense: str, plural: bool) -> Iterator[Line]:
    """What can be said about people near some place, which may be singular or plural, too."""
    for near in (False, True):
        number = verb + 2 * near + plural
        person, place = list(PEOPLE.values())[number % 4], list(PLACES.values())[(number + verb // 4) % 4]
        english, spanish = ADJECTIVES[number % 3]
        if language == "en":
            subject = f"{person.phrase('en', plural)} near {place.phrase('en', near)}"
            subject = subject.replace("the ", f"the {english} ", 1)
        else:
            ending = {"m": "o", "f": "a"}[person.gender] + ("s" if plural else "")
            where = f"de {place.phrase('es', near)}".replace("de el ", "del ")
            subject = f"{person.phrase('es', plural)} {spanish}{ending} cerca {where}"
        yield _line(language, verb, "subject", tense, 5 if plural else 2, subject)


def _lines() -> Iterator[Line]:
    for language in ("en", "es"):
        for verb in range(len(MEANINGS)):
            for tense in TENSES[language]:
                for person in range(6):
                    yield from _with_pronouns(language, verb, tense, person)
                for plural in (False, True):
                    yield from _with_nouns(language, verb, tense, plural)


LINES = list(_lines())
"""All sentences, in the order in which they are made."""


def split(name: str) -> list[Line]:
    """The sentences "train" or "validation", in an order that looks mixed and is always the same."""
    lines = [line for line in LINES if (line.verb in HELD_OUT) == (name == "validation")]
    step = next(step for step in range(618 * len(lines) // 1000, len(lines)) if math.gcd(step, len(lines)) == 1)
    return [lines[step * i % len(lines)] for i in range(len(lines))]
