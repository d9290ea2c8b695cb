"""The text that the MiniGPT learns: sentences in English and Spanish, made by rule.

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
from collections.abc import Iterator, Sequence
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
        """The pronoun that replaces the noun as a direct object."""
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
    spoon spoons cuchara cucharas f
    garden gardens jardín jardines m
    house houses casa casas f
    city cities ciudad ciudades f
""")

# Verbs ---------------------------------------------------------------------------------------------------------------


class Use(NamedTuple):
    """The objects of some verbs: one of these nouns, or none. `english` and `spanish` are the prepositions before it."""

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
        peel pelar  grate rallar  weigh pesar"""),
    Use("apple spoon", "", "", """
        lick lamer"""),
    Use("soup", "", "", """
        sip sorber"""),
    Use("letter book story song", "", "", """
        study estudiar  write escribir  copy copiar  describe describir  mention mencionar  quote citar  finish terminar
        edit editar  discover descubrir  adore adorar  censor censurar  discuss comentar  revise revisar
        interpret interpretar  complete completar"""),
    Use("letter book story", "", "", """
        read leer  print imprimir  absorb absorber  summarise resumir  dictate dictar"""),
    Use("story song", "", "", """
        learn aprender  allow permitir  interrupt interrumpir  narrate narrar"""),
    Use("song", "", "", """
        sing cantar  hum tararear"""),
    Use("letters stories songs", "", "", """
        join unir"""),
    Use("letter book box", "", "", """
        receive recibir  owe deber  hide esconder  leave dejar  save guardar  accept aceptar  select seleccionar
        carry llevar"""),
    Use("box soup", "", "", """
        make hacer"""),
    Use("box piano", "", "", """
        lift levantar  drag arrastrar"""),
    Use("door car", "", "", """
        wash lavar  block bloquear"""),
    Use("door box", "", "", """
        sand lijar  shake sacudir  install instalar"""),
    Use("door box car piano", "", "", """
        open abrir  watch mirar  see ver  buy comprar  sell vender  break romper
        paint pintar  clean limpiar  push empujar  use usar  repair reparar  examine examinar  observe observar
        hit golpear  kick patear  polish pulir  cover cubrir  inspect inspeccionar  guard vigilar  damage dañar
        design diseñar  need necesitar  transport transportar  burn quemar  exhibit exhibir"""),
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

_HELD_OUT = (
    "dance cook kiss answer fear lick join share paint jump help clean invite explore copy decide drag climb worry print sew "
    "proceed describe whisper"
)

HELD_OUT = [verb.number for verb in VERBS if verb.english in _HELD_OUT.split()]
"""The verbs for validation, as indices of `VERBS`. All are regular."""

# Sentences -----------------------------------------------------------------------------------------------------------

ADJECTIVES = (("kind", "simpátic"), ("tall", "alt"), ("quiet", "callad"))  # the Spanish ones without their ending
TIMES = {
    "en": {"present": "every day", "past": "yesterday", "future": "tomorrow", "progressive": "now"},
    "es": {"present": "hoy", "past": "ayer", "future": "mañana"},
}
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


def _auxiliary(tense: str, person: int) -> str:
    """The English word that a question begins with."""
    if tense == "present":
        return "does" if person == 2 else "do"
    return {"past": "did", "future": "will"}.get(tense) or ("am", "are", "is", "are", "are", "are")[person]


def _english(verb: Verb, kind: str, tense: str, person: int, subject: str, thing: Object) -> Line:
    shape, base, helper = verb.form("en", tense, person), verb.english, _auxiliary(tense, person)
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


def _tenses(language: str, verb: Verb) -> Sequence[str]:
    return TENSES[language][:3] if verb.english in STATES else TENSES[language]


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
    for number, tense in enumerate(_tenses(language, verb)):
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

_SOUNDS = {  # one syllable, which is none of a word that exists, and more syllables: first, inside, last
    "en": (
        ("dw gw pw shr skr thr vl vr zl zw", "a e i o u", "b ck d g m n p sh lt ft rn rk mp nd nt x ne ke ve se"),
        ("b bl br c cl d dr f fl fr g gl gr h j k l m n p pl pr r s sm sn sp st t tr v w", "a e i o u ea oo ai ou ee",
         "b d f l m n p r s t v mp nd pl rr st tt",
         "b d ft l lt m nd nk nt p rk sh sk st ch ce de ge ke le ne se te ve dy ly ny rry"),
    ),
    "es": (
        ("br cl dr fl fr gl gr pl pr tr ll v y", "a e i o u", "lb lm mb mp nd pt rb rm rt st"),
        ("b bl br ch cl cr d dr f fl fr gr h l ll m n p pl pr r s t tr v y al en es in or re", "a e i o u",
         "b br ch d f l ll m mp n nd nt p pr r rr rt s st t tr v",
         "b br ch cl d j l m mb mp n nd nt p pl r rd rm rr rt s st t tr v"),
    ),
}  # fmt: skip


def _stem(language: str, numbers: random.Random) -> str:
    one, more = [[part.split() for part in parts] for parts in _SOUNDS[language]]
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
