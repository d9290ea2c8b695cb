"""The text that the MiniGPT learns: sentences in English and Spanish, made by rule.

Each sentence names its verb in brackets, then uses a form of it, as a textbook does: "(open) the doors? yesterday she opened
them." Which form is right depends on words before it, some of them far away: the person, the number of a subject, the adverb that
tells the tense, an auxiliary, a question. Spanish articles, adjectives and pronouns agree in gender and number. The verbs are those
of `grammar`, irregular ones, and others, so that a rule is shorter than a list. The verbs of `HELD_OUT` are in no sentence for
training. A model that conjugates them has learned the rule.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator
from typing import NamedTuple

from rushlight.course import grammar
from rushlight.course.grammar import PRONOUNS, TENSES

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
        """The pronoun that stands for the noun as a direct object."""
        if language == "en":
            singular = {"m": "him", "f": "her"}[self.gender] if self in PEOPLE.values() else "it"
            return "them" if plural else singular
        return {"m": ("lo", "los"), "f": ("la", "las")}[self.gender][plural]


def _nouns(text: str) -> dict[str, Noun]:
    return {line.split()[0]: Noun(*line.split()) for line in text.strip().splitlines()}


PEOPLE = _nouns("""
    teacher teachers profesora profesoras f
    boy boys niño niños m
    doctor doctors médica médicas f
    friend friends amiga amigas f
""")
THINGS = _nouns("""
    letter letters carta cartas f
    book books libro libros m
    story stories historia historias f
    song songs canción canciones f
    door doors puerta puertas f
    box boxes caja cajas f
    car cars coche coches m
    piano pianos piano pianos m
    apple apples manzana manzanas f
    egg eggs huevo huevos m
    soup soups sopa sopas f
    garden gardens jardín jardines m
    house houses casa casas f
    city cities ciudad ciudades f
""")

# Verbs ---------------------------------------------------------------------------------------------------------------


class Use(NamedTuple):
    """What some verbs are followed by: one of these nouns, or nothing. `english` and `spanish` are the prepositions before it."""

    nouns: str
    english: str
    spanish: str
    verbs: str  # English and Spanish in turn


USES = (
    Use("", "", "", """
        talk hablar  work trabajar  walk caminar  dance bailar  stop parar  cry llorar  cough toser  answer responder
        promise prometer  go ir  come venir  sleep dormir  think pensar  run correr  swim nadar  win ganar
        jump saltar  shout gritar  rest descansar  return regresar  march marchar  improve mejorar  fail fallar
        breathe respirar  whistle silbar  sigh suspirar  sneeze estornudar  camp acampar  float flotar  chat charlar
        escape escapar  protest protestar  smoke fumar  vote votar  row remar  skate patinar  stroll pasear  sweat sudar
        whisper susurrar  murmur murmurar  stammer tartamudear  blink parpadear  dine cenar  argue discutir  suffer sufrir
        insist insistir  resist resistir  persist persistir  climb trepar  applaud aplaudir  boast presumir  joke bromear
        triumph triunfar  meditate meditar  react reaccionar  progress progresar  collaborate colaborar
        participate participar  fast ayunar  limp cojear  crawl gatear  shriek chillar  pant jadear  hesitate dudar
        emigrate emigrar  gallop galopar  debate debatir  decide decidir  resign dimitir  survive sobrevivir
        proceed proceder  yield ceder  sew coser  knit tejer"""),
    Use("house garden city", "in", "en", """
        live vivir  wait esperar"""),
    Use("house garden city", "", "", """
        abandon abandonar  explore explorar  decorate decorar  occupy ocupar  invade invadir"""),
    Use("teacher boy doctor friend", "on", "de", """
        depend depender"""),
    Use("teacher boy doctor friend", "", "a", """
        kiss besar  surprise sorprender  offend ofender  fear temer
        help ayudar  visit visitar  call llamar  greet saludar  invite invitar  insult insultar  deceive engañar
        rescue rescatar  respect respetar  accompany acompañar  consult consultar  interview entrevistar  scold regañar
        frighten asustar  bother molestar  bore aburrir  worry preocupar  cure curar  advise aconsejar  calm calmar
        accuse acusar  betray traicionar  support apoyar  congratulate felicitar  hire contratar  confuse confundir
        fascinate fascinar  impress impresionar  disappoint decepcionar  envy envidiar  tolerate tolerar  love amar
        hate odiar  admire admirar  ignore ignorar  imitate imitar  cheer animar  persuade persuadir  rebuke reprender
        evade eludir"""),
    Use("apple egg soup", "", "", """
        cook cocinar  share compartir  eat comer  prepare preparar  devour devorar  taste degustar"""),
    Use("apple egg", "", "", """
        lick lamer  peel pelar  grate rallar  weigh pesar"""),
    Use("soup", "", "", """
        sip sorber"""),
    Use("letter book story song", "", "", """
        study estudiar  write escribir  copy copiar  describe describir  mention mencionar  quote citar  finish terminar
        edit editar  discover descubrir  adore adorar  censor censurar  discuss comentar  revise revisar
        interpret interpretar  complete completar"""),
    Use("letter book story", "", "", """
        read leer  print imprimir  absorb absorber  narrate narrar  summarise resumir  dictate dictar"""),
    Use("story song", "", "", """
        learn aprender  allow permitir  interrupt interrumpir"""),
    Use("song", "", "", """
        sing cantar  hum tararear"""),
    Use("letters stories songs", "", "", """
        join unir"""),
    Use("letter book box", "", "", """
        receive recibir  owe deber  hide esconder  leave dejar  save guardar  perceive percibir"""),
    Use("box soup", "", "", """
        make hacer"""),
    Use("door box car piano", "", "", """
        open abrir  watch mirar  see ver  buy comprar  sell vender  break romper
        paint pintar  clean limpiar  wash lavar  push empujar  lift levantar  use usar  repair reparar  examine examinar
        observe observar  hit golpear  kick patear  polish pulir  sand lijar  accept aceptar  cover cubrir
        inspect inspeccionar  select seleccionar  guard vigilar  damage dañar  block bloquear  drag arrastrar
        design diseñar  need necesitar  install instalar  transport transportar  burn quemar  carry llevar
        exhibit exhibir  shake sacudir"""),
)  # fmt: skip

IRREGULAR = {  # English: its past; Spanish: its present, its past and the stem of its future, where no rule makes them
    "go": ("went", "voy vas va vamos vais van", "fui fuiste fue fuimos fuisteis fueron", ""),
    "see": ("saw", "veo ves ve vemos veis ven", "vi viste vio vimos visteis vieron", ""),
    "come": (
        "came", "vengo vienes viene venimos venís vienen", "vine viniste vino vinimos vinisteis vinieron", "vendr",
    ),
    "sleep": (
        "slept", "duermo duermes duerme dormimos dormís duermen",
        "dormí dormiste durmió dormimos dormisteis durmieron", "",
    ),
    "read": ("read", "leo lees lee leemos leéis leen", "leí leíste leyó leímos leísteis leyeron", ""),
    "think": ("thought", "pienso piensas piensa pensamos pensáis piensan", "", ""),
    "make": ("made", "hago haces hace hacemos hacéis hacen", "hice hiciste hizo hicimos hicisteis hicieron", "har"),
    "eat": ("ate", "", "", ""), "write": ("wrote", "", "", ""), "sing": ("sang", "", "", ""),
    "buy": ("bought", "", "", ""), "run": ("ran", "", "", ""), "swim": ("swam", "", "", ""), "win": ("won", "", "", ""),
    "sell": ("sold", "", "", ""), "break": ("broke", "", "", ""), "hide": ("hid", "", "", ""), "hit": ("hit", "", "", ""),
    "leave": ("left", "", "", ""), "shake": ("shook", "", "", ""),
}  # fmt: skip

_USE = {english: use for use in USES for english in use.verbs.split()[::2]}
_PAIRS = [*zip(*[iter(" ".join(use.verbs for use in USES).split())] * 2)]
_PAIRS = [*grammar.VERBS, *(pair for pair in _PAIRS if pair not in grammar.VERBS)]

MEANINGS = [english for english, _ in _PAIRS]
"""The English infinitives of all verbs, those of `grammar` first. A sentence's `verb` is an index of this list."""

HELD_OUT = [
    MEANINGS.index(verb)
    for verb in (
        "dance cook kiss answer fear lick join share paint jump help clean invite explore copy decide drag climb worry print "
        "sew proceed describe whisper"
    ).split()
]
"""The verbs for validation. All are regular."""

STATES = {"depend", "fear", "owe", "need", "love", "hate", "envy"}
"""The verbs without a progressive."""


def infinitive(language: str, verb: int) -> str:
    return _PAIRS[verb][language == "es"]


def form(language: str, verb: int, tense: str, person: int) -> str:
    """The form of a verb, regular or not, that follows the pronoun and an auxiliary. Persons are 0 to 5."""
    english, spanish = _PAIRS[verb]
    past, *parts = IRREGULAR.get(english, ("", "", "", ""))
    if language == "en":
        return past if past and tense == "past" else grammar.english(english, tense, person)
    irregular = dict(zip(TENSES["es"], parts))[tense].split()
    if tense == "future" and irregular:
        return irregular[0] + grammar.ENDINGS["future"]["ar"].split()[person]
    return irregular[person] if irregular else grammar.spanish(spanish, tense, person)


# Sentences -----------------------------------------------------------------------------------------------------------

ADJECTIVES = (("kind", "simpátic"), ("tall", "alt"), ("quiet", "callad"))  # the Spanish ones without their ending
TIMES = {
    "en": {"present": "every day", "past": "yesterday", "future": "tomorrow", "progressive": "now"},
    "es": {"present": "hoy", "past": "ayer", "future": "mañana"},
}
KINDS = ("pronoun", "object", "negation", "reference", "question", "subject")
_ANSWERS = (1, 0, 2, 4, 3, 5)  # the person who is asked about, when person 0 to 5 is in the answer: "did you walk? yes, I walked"


class Line(NamedTuple):
    """A sentence in three parts: what comes before a form of its verb, the form, and the rest. `kind` says how it is built."""

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
    """What follows a verb: the phrase, or what replaces it, before the verb (a Spanish clitic) or after it."""

    phrase: str = ""
    clitic: str = ""
    pronoun: str = ""


def _object(language: str, verb: int, choice: int) -> Object:
    """The object of a verb, one of its nouns in one of the two numbers. It is empty for a verb that takes none."""
    use = _USE[MEANINGS[verb]]
    if not use.nouns:
        return Object()
    names = use.nouns.split()
    name = names[choice % len(names)]
    nouns = PEOPLE | THINGS
    noun = nouns.get(name) or next(each for each in nouns.values() if each.english_plural == name)
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


def _auxiliary(tense: str, person: int) -> str:
    """The English word that a question begins with."""
    if tense == "present":
        return "does" if person == 2 else "do"
    return {"past": "did", "future": "will"}.get(tense) or ("am", "are", "is", "are", "are", "are")[person]


def _english(verb: int, kind: str, tense: str, person: int, subject: str, thing: Object) -> Line:
    shape, base, helper = form("en", verb, tense, person), infinitive("en", verb), _auxiliary(tense, person)
    time, said, last = TIMES["en"][tense], "" if tense in ("present", "past") else helper, thing.phrase
    if kind == "question":
        asked = _ANSWERS[person]
        inner = shape if tense == "progressive" else base
        question = _words(_auxiliary(tense, asked), PRONOUNS["en"][asked], inner, thing.phrase, time)
        before, last = _words(f"{question}? yes,", subject, said), thing.pronoun
    elif kind == "negation":
        before = _words(time, subject, helper, "not")
        shape = shape if said else base
    elif kind == "reference":
        before, last = _words(f"{thing.phrase}?", time, subject, said), thing.pronoun
    else:
        before = _words(time, subject, said)
    return Line("en", verb, kind, f"({base}) {before} ", shape, f" {last}." if last else ".")


def _spanish(verb: int, kind: str, tense: str, person: int, subject: str, thing: Object) -> Line:
    shape, base, time = form("es", verb, tense, person), infinitive("es", verb), TIMES["es"][tense]
    last = thing.phrase
    if kind == "question":  # the forms say who it is
        question = _words(form("es", verb, tense, _ANSWERS[person]), thing.phrase, time)
        before, last = _words(f"¿{question}? sí,", thing.clitic), thing.pronoun
    elif kind == "reference":
        before, last = _words(f"¿{thing.phrase}?", time, subject, thing.clitic), thing.pronoun
    else:
        before = _words(time, subject, "no" if kind == "negation" else "")
    return Line("es", verb, kind, f"({base}) {before} ", shape, f" {last}." if last else ".")


def _subject(language: str, choice: int, plural: bool, near: bool) -> str:
    """A person or several, described by another or several others, whose number is that of no verb."""
    people = [*PEOPLE.values()]
    who, other = people[choice % 4], people[(choice + 1 + choice // 4 % 3) % 4]
    english, spanish = ADJECTIVES[choice % 3]
    if language == "en":
        return f"{who.phrase('en', plural).replace('the', f'the {english}')} of {other.phrase('en', near)}"
    ending = {"m": "o", "f": "a"}[who.gender] + ("s" if plural else "")
    return _words(who.phrase("es", plural), spanish + ending, "de", other.phrase("es", near))


def lines_of(language: str, verb: int) -> Iterator[Line]:
    """All sentences of a verb."""
    sentence = _english if language == "en" else _spanish
    for tense in TENSES[language]:
        if tense == "progressive" and MEANINGS[verb] in STATES:
            continue
        for person, who in enumerate(PRONOUNS[language]):
            for number, kind in enumerate(KINDS[:-1]):
                thing = _object(language, verb, verb + person + number)
                if kind != ("pronoun" if thing.phrase else "object") and (kind != "reference" or thing.phrase):
                    yield sentence(verb, kind, tense, person, who, thing)
        for plural in (False, True):
            for near in (False, True):
                choice = verb + 2 * plural + near + TENSES[language].index(tense)
                subject = _subject(language, choice, plural, near)
                yield sentence(verb, "subject", tense, 5 if plural else 2, subject, _object(language, verb, choice))


@functools.cache
def split(name: str) -> list[Line]:
    """The sentences "train" or "validation", in an order that looks mixed and is always the same."""
    verbs = [verb for verb in range(len(MEANINGS)) if (verb in HELD_OUT) == (name == "validation")]
    lines = [line for language in TENSES for verb in verbs for line in lines_of(language, verb)]
    step = next(step for step in range(618 * len(lines) // 1000, len(lines)) if math.gcd(step, len(lines)) == 1)
    return [lines[step * i % len(lines)] for i in range(len(lines))]
