"""What the trained MiniGPT reads of a text in a reader's own words: a sentence of the kind that it has learned.

The model has learned sentences such as "(walk) yesterday she", and nothing else. `read` finds the first verb of a text with its
helpers ("has", "will", "estoy"), the subject, a negation, and a word such as "yesterday". It returns the beginning of a sentence
that says the same, as far as the model can, and all differences. There is one rule for each:

- a subject is read as the pronoun with the same forms: "the girls" as "they", "nobody" as "she";
- a negation is read as "not", in Spanish as "no": "never", "nobody", "nunca";
- a tense or mood that the model does not have is read as the nearest one: "has walked" as "yesterday";
- all other words are left out.

A verb that the model has not read is taken where its form is certain, as in "she will skateboard" and "close the door". Elsewhere
the text is not read, and there are proposals: "she tweets" can be "(tweet) every day she". A page of the site shows the result
(`docs/talk.md`). The words and the rules of the two languages are in `sentences.toml`.
"""

import difflib
import re
import tomllib
import unicodedata
from functools import cache
from itertools import chain, groupby, product
from pathlib import Path
from typing import Any, NamedTuple

from rushlight.course import corpus, grammar
from rushlight.course.grammar import ENDINGS, PRONOUNS, TENSES, TIMES

LANGUAGES: dict[str, Any] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))


class Reading(NamedTuple):
    """What the model reads of a text, and in what this is not the text.

    Attributes:
        beginning: of a sentence that the model knows: a verb in parentheses, when, and who. "" if the text is not read.
        left_out: the parts of the text that have no part in it.
        person: the subject of the text, and the pronoun that is read, which has the same forms.
        other: further words of the text, each with the word that is read: a negation, or a word with its accent.
        assumed: the words for when and who that the text does not say.
        absent: a form in a tense or mood that the model does not have, and the time that is read.
        reduced: a form of which the verb alone is read, because another word says the time.
        word: of a text that is not read, the word that should be its verb.
        proposals: of a text that is not read, beginnings that it could mean.
    """

    beginning: str = ""
    left_out: tuple[str, ...] = ()
    person: tuple[str, ...] = ()
    other: tuple[tuple[str, str], ...] = ()
    assumed: tuple[str, ...] = ()
    absent: tuple[str, ...] = ()
    reduced: str = ""
    word: str = ""
    proposals: tuple[str, ...] = ()


class Word(NamedTuple):
    """A word in small letters, where it is in the text, and whether a clause begins with it."""

    text: str
    start: int
    end: int
    first: bool


class Verb(NamedTuple):
    """The verb of a text: `used` are the indices of its words, the verb's own the last.

    `infinitive` is "" if the model has not read the verb. Then `guess` is the infinitive that it could have. `tense` is "" if the
    form does not say it. `persons` are those of the form, () for all, and `alone` is the person if there is no subject. `asked` is
    where the subject of a question begins and ends.
    """

    used: tuple[int, ...]
    infinitive: str = ""
    tense: str = ""
    persons: tuple[int, ...] = ()
    absent: bool = False
    alone: int = 2
    asked: tuple[int, int] = (0, 0)
    guess: str = ""


# The words of a language ---------------------------------------------------------------------------------------------


@cache
def _of(language: str, *kinds: str) -> set[str]:
    """The words of these kinds that are no verbs, or all."""
    closed = LANGUAGES[language]["closed"]
    return {word for kind in kinds or closed for word in closed[kind].split()}


def _is_adverb(word: str, language: str) -> bool:
    """Whether a word can be between a subject, the helpers and the verb: "never", "quickly", but not "supply" or "rally"."""
    made = r"(...[^p]|..[^lp])ly" if language == "en" else "....mente"
    return word in _of(language, "adverb", "negation") or re.fullmatch(f".*{made}", word) is not None


@cache
def _persons(language: str) -> dict[str, int]:
    """The person of each pronoun, also of those that the model has not read."""
    return {name.lower(): person for person, name in enumerate(PRONOUNS[language])} | LANGUAGES[language]["persons"]


@cache
def _helpers(language: str) -> set[str]:
    """The forms of helpers, also without their accents."""
    forms = {form for rule in LANGUAGES[language]["helped"] for form in rule["forms"].split()}
    return forms | {*map(_plain, forms)}


@cache
def _closed(language: str) -> set[str]:
    """The words that are no verbs of their own."""
    times = " ".join(TIMES[language].values()).split()
    return {*_persons(language), *_of(language), *times, *LANGUAGES[language]["be"].split()}


@cache
def _pairs(language: str, name: str) -> dict[str, str]:
    """By form its verb, of a list with each form after its verb."""
    words = LANGUAGES[language][name].split()
    return dict(zip(words[1::2], words[::2]))


@cache
def _participles(language: str) -> dict[str, str]:
    """By participle the verb of the corpus, in Spanish also by gerund."""
    if language == "en":
        made = {verb.form("en", "past", 0): verb.english for verb in corpus.VERBS}
    else:
        pairs = product(corpus.VERBS, ("ando", "iendo", "ado", "ido"))
        made = {
            verb.spanish[:-2] + end: verb.spanish for verb, end in pairs if (end[0] == "a") == (verb.spanish[-2] == "a")
        }
    return made | _pairs(language, "participles")


@cache
def _forms(language: str) -> dict[str, tuple[str, str, tuple[int, ...], bool]]:
    """For a form of a verb of the corpus: the verb, the tense, the persons, and whether the model does not have the tense. Of equal
    forms, the infinitive and the present win. A form that makes an irregular verb regular, such as "goed", is one too."""
    forms: dict[str, tuple[str, str, tuple[int, ...], bool]] = {}
    for verb in corpus.VERBS:
        persons = (0, 1, 3, 4, 5) if language == "en" else ()
        forms[verb.infinitive(language)] = verb.infinitive(language), "", persons, False
    others = [(_regular, False)] if language == "en" else [(_spanish, True), (_subjunctive, True)]
    for (form_of, absent), tense, verb in product([(corpus.Verb.form, False), *others], TENSES[language], corpus.VERBS):
        conjugated = [form_of(verb, language, tense, person) for person in range(6)]
        for form in filter(None, conjugated):
            persons = tuple(person for person in range(6) if conjugated[person] == form)
            forms.setdefault(form, (verb.infinitive(language), tense, persons, absent))
    if language == "en":  # "I seen it"
        return {form: (verb, "past", (), True) for form, verb in _participles("en").items()} | forms
    return forms


def _regular(verb: corpus.Verb, language: str, tense: str, person: int) -> str:
    return verb._replace(number=-1).form(language, tense, person)


def _spanish(verb: corpus.Verb, language: str, tense: str, person: int) -> str:
    """The imperfect, the conditional, and the command "caminad", each as the tense that is nearest."""
    stem, kind = verb.spanish[:-2], verb.spanish[-2]
    if tense == "present":
        return verb.spanish[:-1] + "d" if person == 4 else ""
    endings = "aba abas aba ábamos abais aban" if tense == "past" and kind == "a" else "ía ías ía íamos íais ían"
    return (verb.spanish if tense == "future" else stem) + endings.split()[person]


def _subjunctive(verb: corpus.Verb, language: str, tense: str, person: int) -> str:
    """The form of a command that is not that of a statement: "no camines". Without an accent, "camine" is "caminé"."""
    stem = re.sub("oy$", "ayo", verb.form("es", "present", 0)).removesuffix("o")  # "vengo", so "no vengas"
    endings = ENDINGS["present"]["er" if verb.spanish[-2] == "a" else "ar"].split()
    return stem + endings[person] if tense == "present" and person not in (0, 2) else ""


@cache
def _without_accent(language: str) -> dict[str, str]:
    """By a form without its accents, the form."""
    return {_plain(form): form for form in reversed(_forms(language))}


def _plain(text: str) -> str:
    return "".join(letter for letter in unicodedata.normalize("NFD", text) if not unicodedata.combining(letter))


# The verb ------------------------------------------------------------------------------------------------------------


def _verb(words: list[Word], language: str) -> Verb | None:
    """The first verb of a text."""
    forms, be = _forms(language), LANGUAGES[language]["be"].split()
    for i, (word, *_) in enumerate(words):
        if helped := _helped(words, i, language):
            return helped
        if word in be and not (word in forms and _text(words, i + 1) in ("a", "al")):  # "fui" is of "ser" and of "ir"
            return Verb((i,))
        if word in _pairs(language, "common"):
            return _unread(words, i, language)
        if word in _persons(language) and (unread := _after_person(words, i, language)):
            return unread
        accented = language == "es" and word not in _closed("es") and word not in forms
        form = _without_accent("es").get(_plain(word), "") if accented else word
        if form not in forms or _is_noun(words, i, language, forms[form][2]):
            continue
        infinitive, tense, persons, absent = forms[form]
        if tense == "progressive" and {word.text for word in words[i:]} & _helpers(language):
            continue  # "writing code is fun"
        bare = not tense and (language == "es" or i == 1 and words[0].text == "to")
        new = [k for k in range(i) if bare and not _is_known(words[k].text)]
        if new and _before(words, new[-1]) not in _of(language, "article"):  # "necesito caminar"
            return _unread(words, new[-1], language)
        return Verb((i,), infinitive, tense, () if bare else persons, absent, alone=1 if not tense and not bare else 2)
    return None


def _is_known(word: str) -> bool:
    return any(word in _closed(language) | _helpers(language) for language in PRONOUNS)


def _before(words: list[Word], i: int) -> str:
    """The word before, of the same clause, or ""."""
    return words[i - 1].text if i and not words[i].first else ""


def _text(words: list[Word], i: int) -> str:
    """A word with which no clause begins, or ""."""
    return words[i].text if i < len(words) and not words[i].first else ""


def _is_noun(words: list[Word], i: int, language: str, persons: tuple[int, ...]) -> bool:
    """Whether a form of a verb is another word here: "the answer", "love is", "el camino"."""
    before, after, own = _before(words, i), _text(words, i + 1), _persons(language)
    nominal = _of(language, "article", "preposition")
    if language == "en":
        noun = before in nominal or before in LANGUAGES["en"]["be"].split() or after in _helpers("en")
        learners = before == "no" and _before(words, i - 1) in own  # "I no walk"
        return noun and before not in own and not learners and not (before == "to" and i == 1)
    if before in own or {"tu": 1, "el": 2}.get(before) in persons:  # "tu caminas"
        return False
    beside = (
        {before, after} & {"no", *TIMES["es"].values()} or words[i].first and re.fullmatch("el|l[ao]s?|una?", after)
    )
    if words[i].text in LANGUAGES["es"]["homographs"].split() and not beside:
        return True
    return before in nominal - {"la", "las", "los"} or before in nominal and after in LANGUAGES["es"]["be"].split()


def _helped(words: list[Word], i: int, language: str) -> Verb | None:
    """The verb after the helper `i`, by the rule that fits."""
    helper = _plain(words[i].text)
    if helper not in _helpers(language):
        return None
    negation, texts = LANGUAGES[language]["not"], [word.text for word in words]
    verbs = {verb.infinitive(language) for verb in corpus.VERBS}
    first = max(k for k in range(i + 1) if words[k].first)
    inverted = {*texts[first:i]} <= _of(language, "question", "joint")
    for rule in LANGUAGES[language]["helped"]:
        forms, between = rule["forms"].split(), rule.get("between", "").split()
        if helper not in map(_plain, forms):
            continue
        used, asked, j = [i], (0, 0), i + 1
        while word := _text(words, j):
            if between[:1] == [word]:
                del between[0]
            elif word in _persons(language) and inverted and not asked[1]:
                asked = j, j + 1 + (word == "you" and _text(words, j + 1) == "two")
                j = asked[1] - 1
            elif word != negation and not _is_adverb(word, language):
                break
            used += [j] * (word == negation or word in rule.get("between", "").split())
            j += 1
        command = helper in ("let", "used", "going") or helper == "do" and negation in texts
        if language == "en" and inverted and not asked[1] and not command:
            fits = [k for k in range(j, len(words)) if _main(language, rule["verb"], _text(words, k))[0] in verbs]
            known = min(fits, default=j + 1 + (word in _of(language, "article")))
            if known > j and _text(words, known) not in {"", *_closed(language)}:  # "did the boys play"
                asked, j = (j, known), known
        infinitive, guess = _main(language, rule["verb"], _text(words, j))
        if (infinitive or guess) and not between:
            persons = tuple(k for k in range(6) if _plain(forms[k]) == helper) if len(forms) == 6 else ()
            alone = {"do": 1, "let": 3}.get(helper, 2)
            return Verb((*used, j), infinitive, rule["tense"], persons, rule.get("absent", False), alone, asked, guess)
    return None


def _main(language: str, kind: str, word: str) -> tuple[str, str]:
    """The infinitive of a verb after its helpers, and a guess if the model has not read it."""
    done = _participles(language).get(word, "")
    if language == "es":
        ending = {"base": "(ar|er|ir)", "ing": "ndo", "done": "(do|to|cho)"}[kind]
        if not re.search(f"{ending}$", word):
            return "", ""
        stem = re.sub("(a|ie|i)n?do$", "", word)
        return (word, "") if kind == "base" else (done, "" if done else stem + ("ar" if f"{stem}a" in word else "er"))
    infinitive, tense, *_ = _forms("en").get(word, ("", ""))
    if kind == "done":
        guess = _guess("en", word)[0] if word.endswith("ed") or word in _pairs("en", "common") else ""
        return done, "" if done else guess
    if kind == "ing":
        return (
            (infinitive, "")
            if tense == "progressive"
            else ("", _guess("en", word)[0] if re.search("..ing$", word) else "")
        )
    if infinitive or not word.isalpha() or _is_known(word) or word in _forms("es"):
        return infinitive, ""
    if word in _pairs("en", "common") or re.search("(ed|ing|[^s]s)$", word):
        return "", _guess("en", word)[0]
    return word, ""  # also a verb that the model has not read is certain here


def _after_person(words: list[Word], i: int, language: str) -> Verb | None:
    """The word after the pronoun `i`, if it can only be a verb that the model has not read."""
    forms, times = _forms(language), " ".join(TIMES[language].values()).split()
    skipped, j = {*_of(language, "preposition"), *times}, i + 1
    while (word := _text(words, j)) not in forms and (word in skipped or _is_adverb(word, language)):
        j += 1
    taken = word in forms or _is_known(word) or word in _pairs(language, "common") or word in ("'s", "two", "dos")
    return (
        None
        if not word or taken or language == "es" and _plain(word) in _without_accent("es")
        else _unread(words, j, language)
    )


def _unread(words: list[Word], i: int, language: str) -> Verb:
    """A word as a verb that the model has not read."""
    guess, tense, persons = _guess(language, words[i].text)
    command = all(_is_adverb(word.text, language) or word.text in _of(language, "joint") for word in words[:i])
    return Verb((i,), "", tense, persons, alone=1 if command else 2, guess=guess)


def _candidate(words: list[Word], language: str) -> Verb | None:
    """The word that could be the verb of a text in which there is none that is certain."""
    other = _closed(language) | {*LANGUAGES[language]["homographs"].split()}
    nominal = _of(language, "article", "preposition").union(LANGUAGES[language]["plural"].split())
    free = [i for i, word in enumerate(words) if re.fullmatch("[a-zñáéíóúü]+", word.text) and word.text not in other]
    free = [i for i in free if _before(words, i) not in nominal and not _is_adverb(words[i].text, language)]
    while len(free) > 1 and (words[free[0]].first or _before(words, free[0]) in ("and", "or")):
        own, after = (_guess(language, words[i].text)[1] for i in free[:2])
        if own in ("past", "future") or words[free[0]].text[-1] != "s" and not after:  # "llegué tarde"
            break
        del free[0]  # "cats and dogs bark", "time flies"
    inflected = [i for i in free if _guess(language, words[i].text)[1]]
    return _unread(words, (inflected or free)[0], language) if free else None


def _guess(language: str, form: str) -> tuple[str, str, tuple[int, ...]]:
    """The infinitive that a form could have, its tense and its persons, of a verb that the model has not read."""
    known = _pairs(language, "common").get(form, "")
    return _guess_en(form, known) if language == "en" else _guess_es(form, known)


def _guess_en(form: str, known: str) -> tuple[str, str, tuple[int, ...]]:
    if known:
        return known, "" if form[:2] == known[:2] and form[-1:] in "eso" else "past", (2,) if form[-1] == "s" else ()
    for ending, tense in (("ed", "past"), ("ing", "progressive"), ("s", "present")):
        stem = form.removesuffix(ending)
        if stem == form or not re.search("[aeiouy]", stem):
            continue
        silent = re.search("([cvzu]|[^gn]g|[aeiou]s|[^aeioul]l)$", stem) is not None  # "changed", "used", "handled"
        double = re.search(r"([^lsfz])\1$", stem) is not None  # "vlogging"
        stems = [stem[:-1]] * double + [stem + "e"] * silent + [stem, stem + "e", stem.removesuffix("e")]
        stems.sort(key=lambda each: each not in _pairs("en", "common").values())  # "taking"
        for infinitive in (stem.removesuffix("e")[:-1] + "y", *stems):
            likely = len(infinitive) > 2 or infinitive in ("do", "go")
            if likely and grammar.english(infinitive, tense, 2) == form:
                return infinitive, tense, (2,) if tense == "present" else ()
    return form, "", ()


def _guess_es(form: str, known: str) -> tuple[str, str, tuple[int, ...]]:
    if known and re.search("(uv|ud|ij|up|us|aj|i)o$", form):
        return known, "past", (2,)
    longest: tuple[int, str, str, tuple[int, ...]] = 0, known, "", ()
    for (tense, kinds), person in product(ENDINGS.items(), range(6)):
        for kind in kinds:
            ending = kinds[kind].split()[person]
            verb = form.removesuffix(ending) + (kind if tense != "future" else "")
            fits = form.endswith(ending) and len(verb) > 3 and verb.endswith(kind) and not re.search("[áéíóú]", verb)
            if fits and len(ending) > longest[0]:
                for spelled, infinitive in (("car", "zar"), ("qu[ae]r", "car"), ("gu[ae]r", "gar")):
                    verb = (
                        re.sub(f"{spelled}$", infinitive, verb) if ending[0] in "eé" else verb
                    )  # "busqué", "no toques"
                longest = len(ending), known or verb, tense, (person,)
    return longest[1:]


# The text ------------------------------------------------------------------------------------------------------------


def read(text: str) -> Reading:
    """Return a text as the beginning of a sentence that the model knows.

    With a verb in parentheses, it is the text itself in small letters, and with a person that the model knows.

    >>> reading = read("The girls walked to the city")
    >>> reading.beginning, reading.person, reading.left_out
    ('(walk) yesterday they', ('The girls', 'they'), ('to the city',))
    >>> read("she tweets").proposals
    ('(tweet) every day she',)
    """
    if re.fullmatch(r"\s*\((\w+)\) (.+)", text):
        return Reading() if mixed(text) or unread(text) else _with_known_person(text)
    both = {language: _words(text, language) for language in PRONOUNS}
    scores = {language: _spoken(words, language) for language, words in both.items()}
    if {word.text for word in both["en"]} & {*LANGUAGES["others"].split()}:
        return Reading()
    best = {language: words for language, words in both.items() if scores[language] == max(scores.values())}
    verbs = {language: _verb(words, language) or _candidate(words, language) for language, words in best.items()}
    negated = "no" in {word.text for word in both["es"]}  # "no me toques"

    def certainty(language: str) -> tuple[bool, ...]:
        verb = verbs[language]
        return (verb.infinitive != "", negated and language == "es" and verb.tense != "") if verb else ()

    language = max(verbs, key=certainty)
    verb = verbs[language]
    if not verb:
        return Reading()
    return (_reading if verb.infinitive else _refused)(text, both[language], language, verb)


def _spoken(words: list[Word], language: str) -> int:
    """How much of a text is of a language."""
    known = _closed(language) | _forms(language).keys() | _pairs(language, "common").keys() | _helpers(language)
    return sum(
        (word.text in known)
        + (language == "es" and re.search("[ñáéíóú]|..([ai]d|nd)o$|...([ai]ste|aron|ieron)$", word.text) is not None)
        for word in words
    )


def _words(text: str, language: str) -> list[Word]:
    """The words of a text, those of "won't" and "I'll" in full."""
    words: list[Word] = []
    end, joints = 0, _of(language, "joint")
    for match in re.finditer(r"\w[\w']*(?<!')", text.lower().replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")):
        full = match[0]
        for short, long in LANGUAGES[language]["short"].items():
            full = re.sub(f"^(?:{short})$", long, full)
        first = (
            not words or re.search(r"[^\s\w'()\"]", text[end : match.start()]) is not None or words[-1].text in joints
        )
        end = match.start()
        for part in full.split():  # of "we're", the first two letters are "we"
            start, end = end, end + len(part) if match[0][end - match.start() :].startswith(part) else match.end()
            words.append(Word(part, start, end, first))
            first = False
        end = match.end()
    return [_in_full(words, i) for i in range(len(words))]


def _in_full(words: list[Word], i: int) -> Word:
    """An "'s" or "'d" as "is", "has", "would" or "had", if it is one."""
    word, before, j = words[i], words[i - 1].text, i + 1
    while _is_adverb(after := _text(words, j), "en"):
        j += 1
    done = after in _participles("en") and _forms("en")[after][1] == "past"
    if word.text == "'d":
        return word._replace(text="had" if done else "would")
    subject = before in {*_persons("en"), *_of("en", "question"), "that", "there", "here"}
    if word.text == "'s" and (done or subject or after.endswith("ing")):
        return word._replace(text="has" if done else "is")
    return word


def _refused(text: str, words: list[Word], language: str, verb: Verb) -> Reading:
    """A text whose verb the model has not read, with what it could mean."""
    word = words[verb.used[-1]]
    if not verb.guess and word.text in _closed(language):
        return Reading(word=word.text)
    forms = {_plain(form): form for form in sorted(_forms(language), reverse=True)}
    plain, near = _plain(word.text), []
    if len(plain) > 3 and word.text not in _pairs(language, "common"):
        near = [form for form in forms if _is_slip(plain, form)] or difflib.get_close_matches(
            plain, forms, 1, cutoff=0.8
        )
    meant = [verb._replace(infinitive=verb.guess)] * bool(verb.guess)
    has_object = _text(words, verb.used[-1] + 1) in _of("en", "article") | LANGUAGES["en"]["objects"].keys() | {"it"}
    if language == "en" and not near and verb.alone == 1 and verb.guess == word.text and has_object:
        return _reading(text, words, language, *meant)  # "close the door"
    for form in near[:1]:
        infinitive, tense, persons, _ = _forms(language)[forms[form]]
        known = verb._replace(infinitive=infinitive, tense=tense or verb.tense, persons=persons)
        meant.insert(0 if _is_slip(plain, form) and verb.guess not in _pairs(language, "common").values() else 1, known)
    beginnings = (_reading(text, words, language, each).beginning for each in meant)
    return Reading(word=text[word.start : word.end], proposals=tuple(dict.fromkeys(beginnings)))


def _is_slip(word: str, other: str) -> bool:
    """Whether one of two words has a letter more, or two letters in another order."""
    while word and other and word[0] == other[0]:
        word, other = word[1:], other[1:]
    while word and other and word[-1] == other[-1]:
        word, other = word[:-1], other[:-1]
    return len(word) + len(other) == 1 or len(word) == 2 and word == other[::-1]


def _reading(text: str, words: list[Word], language: str, verb: Verb) -> Reading:
    """The beginning that a verb and the words around it make."""

    def cut(first: int, last: int) -> str:
        return text[words[first].start : words[last].end]

    texts, last = [word.text for word in words], verb.used[-1]
    times = _times(texts, language)
    start, end, person = _subject(texts, words, language, verb, {*chain(*times.values())})
    pronoun, subject = PRONOUNS[language][person], cut(start, end - 1) if start < end else ""
    said = next(iter(times), "")
    if person == 2 and not (verb.tense or said) and right_form(f"({texts[last]}) yesterday I")[0] == texts[last]:
        verb = verb._replace(tense="past")  # "she hit"
    yields = said in ("past", "future") and verb.tense in ("", "present", "progressive")
    tense = said if yields else verb.tense or "present"
    nots, negative = _negations(texts, words, language, verb)
    same = _plain(subject.lower()) == _plain(pronoun.lower())
    other = [(cut(i, i), LANGUAGES[language]["not"]) for i in negative]
    other += [(subject, pronoun)] * (same and subject.lower() != pronoun.lower())  # "tu"
    known = _without_accent("es").get(_plain(texts[last]), "") if texts[last] not in _forms(language) else ""
    other += [(cut(last, last), known)] * (language == "es" and _forms("es").get(known, ("",))[0] == verb.infinitive)
    implied = not subject and verb.alone != 3 and (language == "en" or verb.persons not in ((0,), (1,), (3,), (4,)))
    untold = (implied or language == "es") and not verb.tense and tense not in times
    left = {*range(len(words))} - {*verb.used, *range(start, end), *times.get(tense, ()), *nots, *negative}
    runs = [[i for _, i in run] for _, run in groupby(enumerate(sorted(left)), lambda pair: pair[1] - pair[0])]
    time = TIMES[language][tense]
    return Reading(
        _beginning(language, verb.infinitive, tense, person, bool(nots or negative)),
        tuple(cut(run[0], run[-1]) for run in runs),
        (subject, pronoun) if subject and not same else (),
        tuple(other),
        (*[time] * untold, *[pronoun] * implied),
        (" ".join(texts[i] for i in sorted(verb.used)), time) if verb.absent else (),
        cut(last, last) if verb.tense and not verb.absent and tense != verb.tense else "",
    )


def _negations(texts: list[str], words: list[Word], language: str, verb: Verb) -> tuple[list[int], list[int]]:
    """Where the word is that the model has for a negation, and where others are, in the clause of the verb."""
    begins, last, own = verb.used[0], verb.used[-1], LANGUAGES[language]
    first = max(i for i in range(begins + 1) if words[i].first)
    beyond = _of(language, "question") | {own["and"], "or", "o"}
    stop = next((i for i in range(last + 1, len(words)) if words[i].first or texts[i] in beyond), len(words))
    nots = [i for i in range(first if language == "es" else max(first, begins - 1), last) if texts[i] == own["not"]]
    others = [i for i in range(first, stop) if texts[i] in _of(language, "negation") and i not in verb.used]
    if language == "en":  # "no dogs bark", but not "no she walks"
        others += [i for i in range(first, begins) if texts[i] == "no" and texts[i + 1] not in _persons("en")]
    return nots, others


def _times(texts: list[str], language: str) -> dict[str, range]:
    """By tense, where the words are that say it."""
    times = {}
    for tense, time in TIMES[language].items():
        size = len(time.split())
        for i in range(len(texts) - size, -1, -1):
            if texts[i : i + size] == time.split():
                times[tense] = range(i, i + size)
    return times


def _subject(texts: list[str], words: list[Word], language: str, verb: Verb, times: set[int]) -> tuple[int, int, int]:
    """Where the subject begins and ends, and its person. Without one, it ends where it begins."""
    own, objects, agrees = _persons(language), LANGUAGES[language]["objects"], verb.persons
    conjunction, joints = LANGUAGES[language]["and"], _of(language, "joint")
    adverbs = {word for word in texts if _is_adverb(word, language)} - _of(language, "negation") - {"la", "las", "los"}
    skipped = adverbs | {"never", "nunca", "jamás", conjunction, "or", "to"}
    (start, end), after = verb.asked, verb.used[-1] + 1
    if not end:
        start = end = verb.used[0]
        while start and not words[start].first and start - 1 not in times and texts[start - 1] not in joints:
            start -= 1
        while start < end and texts[end - 1] in skipped | {"who", "which", "que"} and texts[start:end] != ["who"]:
            end -= 1
        while start < end and texts[start] in skipped:
            start += 1
    if language == "es" and start == end and own.get(_text(words, after)) in agrees:
        start, end = after, after + 1  # "¿comes tú?"
    group = texts[start:end]
    alone = agrees[0] if agrees and language == "es" else verb.alone
    if not group or group[-1] in _of(language, "question") - {"what", "who", "qué", "quién"}:
        return start, start, alone
    clause = language == "es" and group[0] not in _of("es", "article") and group[-1] not in own
    if clause and re.search(r"(ó|ie(ra|se)[ns]?|[ai]ste|ieron|...aron)\b", " ".join(group)):
        return start, start, alone  # "si tuviera dinero compraría"
    if conjunction in group:
        people = {own.get(word, objects.get(word)) for word in group}
        return start, end, 3 if people & {0, 3} else 4 if people & {1, 4} else 5
    if group[-2:] == ["you", "two"]:
        return end - 2, end, 4
    for i in range(end - 1, start - 1, -1):
        if texts[i] in own:
            return i, i + 1, own[texts[i]]
    if language == "es" and group[-1] in ("tu", "el"):
        return end - 1, end, {"tu": 1, "el": 2}[group[-1]]
    if {*agrees} & {2, 5} in ({2}, {5}):
        return start, end, 5 if 5 in agrees else 2
    if language == "es" and agrees and 2 not in agrees:
        return start, start, alone  # "Ana, llamo"
    head = " ".join(group)
    for word in _of(language, "preposition"):
        head = head.partition(f" {word} ")[0]
    several = re.search("(?<![sui])s$", head) or {*head.split()} & {*LANGUAGES[language]["plural"].split()}
    return start, end, 5 if several else 2


def _beginning(language: str, verb: str, tense: str, person: int, negated: bool = False) -> str:
    helped = language == "en" and (negated or tense in ("future", "progressive"))
    auxiliary = f" {corpus.auxiliary(tense, person)}" if helped else ""
    negation = f" {LANGUAGES[language]['not']}" if negated else ""
    return f"({verb}) {TIMES[language][tense]} {PRONOUNS[language][person]}{auxiliary}{negation}"


# A verb in parentheses -----------------------------------------------------------------------------------------------


def right_form(beginning: str) -> tuple[str, bool]:
    """Return the form that comes next in such a sentence, or "", and whether it is certain. Of a verb that is none of the corpus,
    it is the form of a regular verb.

    >>> right_form("(go) yesterday they")
    ('went', True)
    >>> right_form("(glork) the door? yesterday she")
    ('glorked', False)
    """
    stem, _, rest = beginning.partition(") ")
    infinitive, rest = stem[1:], re.sub(" (lo|la)s?$", "", rest.rpartition("? ")[2])
    cells = [(*cell, language) for language in PRONOUNS for cell in product(TENSES[language], range(6), (False, True))]
    for tense, person, negated, language in cells if beginning + " " not in _next() else ():
        if _beginning(language, infinitive, tense, person, negated) != f"({infinitive}) {rest}":
            continue
        base = tense == "future" or negated and tense != "progressive" or tense == "present" and person != 2
        if language == "en" and base:
            return infinitive, True  # "she did not walk"
        known = next((verb for verb in corpus.VERBS if verb.infinitive(language) == infinitive), None)
        # The rule does not know which syllable has the stress: "visited", but "preferred".
        unsure = ".*[aeiou].*[^aeiou][aeiou][^aeiouwxy]|." if language == "en" else "(?!.*[aei]r$).*"
        if known or language == "en" and tense == "present" or not re.fullmatch(unsure, infinitive):
            verb = known or corpus.Verb(-1, infinitive, infinitive, corpus.USES[0])
            return verb.form(language, tense, person), bool(known)
    return _next().get(beginning + " ", ""), True


@cache
def _next() -> dict[str, str]:
    """By what comes before it, the form of each sentence of the corpus."""
    return {line.before: line.form for line in corpus.LINES}


def mixed(text: str) -> bool:
    """Whether a text such as "(walk) ayer ella" has its verb in one language, and the person or the time in another."""
    words = [word.text for word in _words(text, "en")]
    if not text.startswith("(") or not words:
        return False
    own = {code for code in PRONOUNS if words[0] in {verb.infinitive(code) for verb in corpus.VERBS}} or {*PRONOUNS}
    spoken = [{code for code in PRONOUNS if word in _markers(code)} for word in words[1:]]
    return not own.intersection(*filter(None, spoken))


def unread(text: str) -> str:
    """The first word that the model has not read beside a verb in parentheses, or "". Another verb is one."""
    verb, *words = [word.text for word in _words(text, "en")]
    return next(
        (word for word in words if word not in _vocabulary() and not word.startswith(verb[: max(2, len(verb) - 2)])), ""
    )


def _with_known_person(text: str) -> Reading:
    """The text in small letters, with a person of the corpus, such as "she" for "he". An "it" beside a person is an object, and
    stays."""
    text = re.sub(r"\bi\b", "I", " ".join(text.lower().split()))
    own = {word for names in PRONOUNS.values() for name in names for word in name.lower().split()}
    words = {word.text for word in _words(text, "en")}
    for language in PRONOUNS if not words & own else ():
        for word in words & LANGUAGES[language]["persons"].keys():
            known = PRONOUNS[language][_persons(language)[word]]
            return Reading(re.sub(rf"\b{word}\b", known, text), person=(word, known))
    return Reading(text)


@cache
def _markers(language: str) -> set[str]:
    """The words that say who and when, in a language."""
    texts = (
        *PRONOUNS[language],
        *TIMES[language].values(),
        *_persons(language),
        *(_helpers("en") if language == "en" else ()),
    )
    return {word for text in texts for word in text.lower().split()}


@cache
def _vocabulary() -> set[str]:
    """The words of the corpus besides its verbs."""
    text = " ".join(f"{line.before} {line.after}" for line in corpus.LINES).lower()
    verbs = _forms("en").keys() | _forms("es").keys()
    return ({*re.findall(r"\w+", text)} - verbs) | _markers("en") | _markers("es")
