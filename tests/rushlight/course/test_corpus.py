import collections
import hashlib
import os
import re
import subprocess
import sys

import pytest

from rushlight.course import corpus, grammar

TRAINING, VALIDATION = corpus.split("train"), corpus.split("validation")


def words(text):
    return re.findall(r"\w+", text)


# Forms ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "verb, forms",
    [
        ("go", "goes went going"),
        ("see", "sees saw seeing"),
        ("come", "comes came coming"),
        ("sleep", "sleeps slept sleeping"),
        ("read", "reads read reading"),
        ("think", "thinks thought thinking"),
        ("make", "makes made making"),
        ("eat", "eats ate eating"),
        ("write", "writes wrote writing"),
        ("sing", "sings sang singing"),
        ("buy", "buys bought buying"),
        ("run", "runs ran running"),
        ("swim", "swims swam swimming"),
        ("win", "wins won winning"),
        ("sell", "sells sold selling"),
        ("break", "breaks broke breaking"),
        ("hide", "hides hid hiding"),
        ("hit", "hits hit hitting"),
        ("leave", "leaves left leaving"),
        ("shake", "shakes shook shaking"),
        ("chat", "chats chatted chatting"),
        ("drag", "drags dragged dragging"),
        ("hum", "hums hummed humming"),
        ("knit", "knits knitted knitting"),
        ("sip", "sips sipped sipping"),
        ("stop", "stops stopped stopping"),
        ("envy", "envies envied envying"),
        ("carry", "carries carried carrying"),
        ("accompany", "accompanies accompanied accompanying"),
        ("betray", "betrays betrayed betraying"),
        ("argue", "argues argued arguing"),
        ("rescue", "rescues rescued rescuing"),
        ("discuss", "discusses discussed discussing"),
        ("polish", "polishes polished polishing"),
        ("march", "marches marched marching"),
        ("weigh", "weighs weighed weighing"),
        ("row", "rows rowed rowing"),
        ("sew", "sews sewed sewing"),
        ("visit", "visits visited visiting"),
        ("gallop", "gallops galloped galloping"),
        ("murmur", "murmurs murmured murmuring"),
        ("shriek", "shrieks shrieked shrieking"),
        ("install", "installs installed installing"),
    ],
)
def test_english_forms_are_those_of_a_dictionary(verb, forms):
    number = corpus.MEANINGS.index(verb)
    cells = (("present", 2), ("past", 3), ("progressive", 1))
    assert " ".join(corpus.form("en", number, *cell) for cell in cells) == forms
    assert corpus.form("en", number, "present", 0) == corpus.form("en", number, "future", 2) == verb


@pytest.mark.parametrize(
    "verb, tense, forms",
    [
        ("ir", "present", "voy vas va vamos vais van"),
        ("ir", "past", "fui fuiste fue fuimos fuisteis fueron"),
        ("ir", "future", "iré irás irá iremos iréis irán"),
        ("ver", "present", "veo ves ve vemos veis ven"),
        ("ver", "past", "vi viste vio vimos visteis vieron"),
        ("ver", "future", "veré verás verá veremos veréis verán"),
        ("venir", "present", "vengo vienes viene venimos venís vienen"),
        ("venir", "past", "vine viniste vino vinimos vinisteis vinieron"),
        ("venir", "future", "vendré vendrás vendrá vendremos vendréis vendrán"),
        ("dormir", "present", "duermo duermes duerme dormimos dormís duermen"),
        ("dormir", "past", "dormí dormiste durmió dormimos dormisteis durmieron"),
        ("dormir", "future", "dormiré dormirás dormirá dormiremos dormiréis dormirán"),
        ("leer", "present", "leo lees lee leemos leéis leen"),
        ("leer", "past", "leí leíste leyó leímos leísteis leyeron"),
        ("leer", "future", "leeré leerás leerá leeremos leeréis leerán"),
        ("pensar", "present", "pienso piensas piensa pensamos pensáis piensan"),
        ("pensar", "past", "pensé pensaste pensó pensamos pensasteis pensaron"),
        ("pensar", "future", "pensaré pensarás pensará pensaremos pensaréis pensarán"),
        ("hacer", "present", "hago haces hace hacemos hacéis hacen"),
        ("hacer", "past", "hice hiciste hizo hicimos hicisteis hicieron"),
        ("hacer", "future", "haré harás hará haremos haréis harán"),
        ("comer", "past", "comí comiste comió comimos comisteis comieron"),
        ("escribir", "present", "escribo escribes escribe escribimos escribís escriben"),
        ("bloquear", "past", "bloqueé bloqueaste bloqueó bloqueamos bloqueasteis bloquearon"),
        ("envidiar", "present", "envidio envidias envidia envidiamos envidiáis envidian"),
    ],
)
def test_spanish_forms_are_those_of_a_dictionary(verb, tense, forms):
    number = next(n for n in range(len(corpus.MEANINGS)) if corpus.infinitive("es", n) == verb)
    assert " ".join(corpus.form("es", number, tense, person) for person in range(6)) == forms


SPANISH_THAT_IS_SPELLED_OR_STRESSED_ANEW = ("car", "gar", "zar", "guar", "ger", "gir", "cer", "cir", "uir", "ñer", "ñir")


def test_each_spanish_verb_without_a_line_of_its_own_is_one_that_the_rules_spell_right():
    for number, english in enumerate(corpus.MEANINGS):
        spanish = corpus.infinitive("es", number)
        if not any(corpus.IRREGULAR.get(english, [""])[1:]):
            assert spanish[-2:] in ("ar", "er", "ir") and not spanish.endswith(SPANISH_THAT_IS_SPELLED_OR_STRESSED_ANEW)


def test_all_verbs_of_the_grammar_come_first_and_no_infinitive_comes_twice():
    pairs = [(corpus.infinitive("en", n), corpus.infinitive("es", n)) for n in range(len(corpus.MEANINGS))]
    assert tuple(pairs[:28]) == grammar.VERBS
    assert len({a for a, _ in pairs}) == len({b for _, b in pairs}) == len(pairs) == 205


# Sentences -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "verb, kind, text",
    [
        ("walk", "pronoun", "(walk) now I am walking."),
        ("walk", "pronoun", "(caminar) ayer yo caminé."),
        ("walk", "negation", "(walk) every day she does not walk."),
        ("walk", "negation", "(caminar) ayer vosotros no caminasteis."),
        ("walk", "question", "(walk) did you two walk yesterday? yes, we walked."),
        ("walk", "question", "(walk) are we walking now? yes, you two are walking."),
        ("walk", "question", "(caminar) ¿caminasteis ayer? sí, caminamos."),
        ("walk", "question", "(caminar) ¿camino hoy? sí, caminas."),
        ("go", "question", "(ir) ¿fueron ayer? sí, fueron."),
        ("open", "object", "(open) tomorrow they will open the box."),
        ("open", "reference", "(abrir) ¿la caja? mañana ellas la abrirán."),
        ("kiss", "object", "(besar) ayer nosotros besamos al niño."),
        ("kiss", "reference", "(kiss) the boy? yesterday you two kissed him."),
        ("kiss", "question", "(kiss) do we kiss the teacher every day? yes, you two kiss her."),
        ("depend", "reference", "(depend) on the boy? tomorrow you will depend on him."),
        ("depend", "reference", "(depender) ¿del niño? mañana tú dependerás de él."),
        ("live", "question", "(live) did I live in the city yesterday? yes, you lived there."),
        ("live", "question", "(vivir) ¿vives en la ciudad hoy? sí, vivo allí."),
    ],
)
def test_a_sentence_reads_as_a_person_would_write_it(verb, kind, text):
    lines = [line for g in ("en", "es") for line in corpus.lines_of(g, corpus.MEANINGS.index(verb))]
    assert text in [line.text for line in lines if line.kind == kind]


SPANISH = [line for line in TRAINING + VALIDATION if line.language == "es"]
ENGLISH = [line for line in TRAINING + VALIDATION if line.language == "en"]
NOUNS = [*corpus.PEOPLE.values(), *corpus.THINGS.values()]


def test_spanish_articles_agree_with_their_nouns_and_join_with_a_and_de():
    right = {noun.spanish: {"m": "el al del", "f": "la"}[noun.gender].split() for noun in NOUNS}
    right |= {noun.spanish_plural: {"m": ["los"], "f": ["las"]}[noun.gender] for noun in NOUNS}
    for line in SPANISH:
        found = words(line.text)
        assert not re.search(r"\b(a|de) el\b", line.text), line.text
        assert all(before in right[word] for before, word in zip(found, found[1:]) if word in right), line.text


def test_spanish_adjectives_agree_with_the_noun_before_them():
    gender = {word: noun.gender for noun in NOUNS for word in (noun.spanish, noun.spanish_plural)}
    plural = {noun.spanish_plural for noun in NOUNS}
    stems = [stem for _, stem in corpus.ADJECTIVES]
    seen = 0
    for line in SPANISH:
        for noun, word in re.findall(rf"(\w+) ((?:{'|'.join(stems)})[oa]s?)\b", line.text):
            assert word.endswith({"m": "o", "f": "a"}[gender[noun]] + ("s" if noun in plural else "")), line.text
            seen += 1
    assert seen == sum(line.kind == "subject" for line in SPANISH)


def test_a_pronoun_agrees_with_the_noun_that_it_replaces():
    people = {word for noun in corpus.PEOPLE.values() for word in (noun.english, noun.english_plural)}
    for line in ENGLISH:
        if line.kind == "reference" and "there" not in words(line.after):
            noun = words(line.before.split("?")[0])[-1]
            singular = "him" if noun == "boy" else "her" if noun in people else "it"
            plural = noun in {each.english_plural for each in NOUNS}
            assert words(line.after)[-1] == ("them" if plural else singular), line.text
    articles = {"la": "la", "el": "lo", "al": "lo", "los": "los", "las": "las"}
    for line in SPANISH:
        if line.kind == "reference" and not line.after.startswith((" allí", " de ")):
            article = words(line.before.split("?")[0])[-2]
            assert words(line.before)[-1] == articles[article], line.text


def test_the_form_of_each_sentence_agrees_with_its_words():
    """The person and the tense are read from the sentence again, by its words alone."""
    adverbs = {adverb: tense for g in ("en", "es") for tense, adverb in corpus.TIMES[g].items()}
    subjects = {"I": 0, "yo": 0, "you": 1, "tú": 1, "she": 2, "ella": 2, "we": 3, "nosotros": 3, "vosotros": 4}
    subjects |= {"they": 5, "ellas": 5}
    for line in ENGLISH:
        answer = line.before.split("? ")[-1]
        tense = next(adverbs[each] for each in adverbs if re.search(rf"\b{each}\b", line.before))
        if line.kind == "subject":
            person = 5 if words(answer.split(" of ")[0])[-1].endswith("s") else 2
        else:
            person = 4 if "you two" in answer else next(subjects[each] for each in words(answer) if each in subjects)
        bare = line.kind == "negation" and tense in ("present", "past")
        assert line.form == corpus.form("en", line.verb, "future" if bare else tense, person), line.text
    for line in SPANISH:
        tense = next(adverbs[each] for each in adverbs if re.search(rf"\b{each}\b", line.before))
        if line.kind == "question":
            asked = words(line.before.split("¿")[1])[0]
            persons = [p for p in range(6) if corpus.form("es", line.verb, tense, p) == asked]
            right = [corpus.form("es", line.verb, tense, (1, 0, 2, 4, 3, 5)[p]) for p in persons]
            assert right == [line.form], line.text
        else:
            spoken = line.before.split(") ")[1].split("? ")[-1]
            if line.kind == "subject":
                person = 5 if words(spoken)[1] in ("los", "las") else 2
            else:
                person = next(subjects[each] for each in words(spoken) if each in subjects)
            assert line.form == corpus.form("es", line.verb, tense, person), line.text


def test_what_comes_before_a_form_ends_with_a_space_and_the_sentence_with_a_full_stop():
    for line in TRAINING + VALIDATION:
        assert line.text == line.before + line.form + line.after
        assert line.before.endswith(" ") and line.text.endswith(".") and "  " not in line.text
        assert line.before.startswith(f"({corpus.infinitive(line.language, line.verb)}) ")


# The split -----------------------------------------------------------------------------------------------------------


def test_no_form_of_a_held_out_verb_is_in_a_text_for_training():
    seen = {word for line in TRAINING for word in words(line.text)}
    for verb in corpus.HELD_OUT:
        for language, tenses in corpus.TENSES.items():
            for tense in tenses:
                assert seen.isdisjoint(corpus.form(language, verb, tense, person) for person in range(6))
            assert corpus.infinitive(language, verb) not in seen


def test_the_counts():
    texts = {line.text for line in TRAINING} | {line.text for line in VALIDATION}
    assert len(texts) == len(TRAINING) + len(VALIDATION)
    assert (len(corpus.HELD_OUT), len(TRAINING), len(VALIDATION)) == COUNTS
    kinds = collections.Counter((line.language, line.kind) for line in VALIDATION)
    assert len(kinds) == 12 and min(kinds.values()) >= 90
    assert {line.verb for line in VALIDATION} == set(corpus.HELD_OUT)
    assert not any(corpus.MEANINGS[verb] in corpus.IRREGULAR for verb in corpus.HELD_OUT)


def test_every_process_makes_the_same_text_in_the_same_order():
    code = "from rushlight.course import corpus; print(corpus.digest())"
    for seed in ("1", "2"):
        done = subprocess.run([sys.executable, "-c", code], env=os.environ | {"PYTHONHASHSEED": seed}, capture_output=True)
        assert done.stdout.decode().strip() == corpus.digest(), done.stderr
    text = "\n".join(line.text for line in TRAINING)
    assert corpus.digest() == hashlib.sha256(text.encode()).hexdigest()
